r"""How often two people would agree if they erred on their own, where classes of items are known.

Agreement alone cannot tell a group that shares its errors and is most of the people from people who
are right: it is the others who then seem to err together. Classes that are known tell, for sure
(gold) or by probabilities of a classifier that has learned from other items. With the probabilities
:math:`t_{ik}` of the classes of item i, and people who say l of class k with
:math:`\theta_{r k l}`, learned from each person's answers alone, a and b agree on

.. math:: \sum_i \sum_k t_{ik} \sum_l \theta_{a k l} \theta_{b k l}

items if they err on their own. Items that are difficult for everybody raise the agreement of all
pairs; a pair is told by what it has beyond a pair of those who have least in common. That is the
10 % quantile over pairs, each drawn to the mean as far as its excess may be chance.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from plausible.checks import as_floats
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.known_classes import gold_logs
from plausible.experts.pairs import LEAST_CHANCE, Pairs, count_pairs, hard_answers
from plausible.labels import Labels

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LEAST_ITEMS = 10  # of known class that both people of a pair answered
LEAST_PAIRS = 0.5  # of the pairs that could be judged by agreement; else classes are not enough
LEAST_IN_COMMON = 0.1  # quantile of pairs that stand for what everybody shares
STEPS = 50  # of EM, for each person alone
MOST_TABLES = 50_000_000  # probabilities of all people


class Truth(NamedTuple):
    """Probabilities (n, K) of the classes of items, and of which items they are known."""

    chances: FloatArray
    is_known: NDArray[np.bool_]


def truth_of(annotations: Annotations, gold: Any, probabilities: Any = None) -> Truth | None:
    """Classes that are known, for sure or by probabilities; None if none are."""
    n_items, n_classes = len(annotations.items), annotations.n_classes
    chances, is_known = np.zeros((n_items, n_classes)), np.zeros(n_items, dtype=bool)
    if probabilities is not None:
        chances, is_known = _given(annotations, probabilities), np.ones(n_items, dtype=bool)
    logs = gold_logs(annotations, gold)
    if logs is not None:
        speaks = logs.min(axis=1) < logs.max(axis=1)
        chances[speaks] = np.exp(logs[speaks] - logs[speaks].max(axis=1, keepdims=True))
        is_known |= speaks
    if not is_known.any():
        return None
    chances /= np.where(is_known, chances.sum(axis=1), 1.0)[:, None]
    return Truth(chances, is_known)


def _given(annotations: Annotations, probabilities: Any) -> FloatArray:
    """Probabilities (n, K) as they were given, in the order of the answers' classes."""
    if isinstance(probabilities, Labels):
        names = probabilities.classes.tolist()
        if set(names) == set(annotations.classes.tolist()):
            order = [names.index(name) for name in annotations.classes.tolist()]
            probabilities = probabilities.scaled()[:, order]
    table = as_floats(probabilities, "probabilities")
    wanted = len(annotations.items), annotations.n_classes
    if table.shape != wanted or (table < 0).any() or not (table.sum(axis=1) > 0).all():
        raise InputError(
            f"probabilities should have a row for each of the {wanted[0]} items and a column for "
            f"each of the {wanted[1]} classes, none of them negative, and not all zero",
            f"have shape {table.shape}" if table.shape != wanted else "some are",
            "give cross-fitted probabilities in the order of `items` and `classes`",
            parameter="probabilities",
        )
    return table / table.sum(axis=1, keepdims=True)


def judged_pairs(
    annotations: Annotations, truth: Truth, by_agreement: Pairs | None
) -> tuple[Pairs, FloatArray] | None:
    """Pairs on items of known class, and how often (P,) they would agree if they erred alone.

    None if there are too few such items to judge most of the pairs that agreement could judge.
    """
    n_people, n_classes = len(annotations.annotators), annotations.n_classes
    if n_people * n_classes**2 > MOST_TABLES:
        return None
    known = annotations.select(truth.is_known[annotations.item])
    pairs = count_pairs(known)
    if pairs is None or by_agreement is None:
        return None
    often = pairs.both >= LEAST_ITEMS
    if often.sum() < LEAST_PAIRS * (by_agreement.both >= LEAST_ITEMS).sum() or not often.any():
        return None
    expected = _expected(known, truth.chances, pairs)
    shared = _in_common(pairs.take(often), expected[often])
    return pairs, np.clip(expected + shared * (1 - expected), LEAST_CHANCE, 1 - LEAST_CHANCE)


def _expected(annotations: Annotations, chances: FloatArray, pairs: Pairs) -> FloatArray:
    """How often (P,) pairs agree if each of them errs alone, and items are equally difficult."""
    item, who, column = hard_answers(annotations)
    n_items, n_people = len(annotations.items), len(annotations.annotators)
    confusion = alone(item, who, column, chances, n_people)
    there = csr_array((np.ones(len(item)), (item, who)), shape=(n_items, n_people))
    there.data[:] = 1.0
    found = np.zeros(len(pairs.both))
    for k in range(annotations.n_classes):
        met = csr_array(there.T @ there.multiply(chances[:, k : k + 1]).tocsr())
        both = np.asarray(met[pairs.first, pairs.second]).ravel()
        alike = np.einsum("pl,pl->p", confusion[pairs.first, k], confusion[pairs.second, k])
        found += both * alike
    return found / pairs.both


def alone(
    item: IntArray, who: IntArray, column: IntArray, chances: FloatArray, n_people: int
) -> FloatArray:
    """Confusions (R, K, K) of each person from their own answers and the classes of the items."""
    n_classes = chances.shape[1]
    imagined = (np.eye(n_classes) + 1 / n_classes) / 2
    confusion = np.tile(imagined, (n_people, 1, 1))
    cell = who * n_classes + column
    adder = csr_array(
        (np.ones(len(cell)), (cell, np.arange(len(cell)))), (n_people * n_classes, len(cell))
    )
    prior = chances[item]
    for _ in range(STEPS):
        held = prior * confusion[who, :, column]
        held /= np.maximum(held.sum(axis=1, keepdims=True), 1e-300)
        counts = np.asarray(adder @ held).reshape(n_people, n_classes, n_classes)
        better = counts.transpose(0, 2, 1) + imagined
        better /= better.sum(axis=2, keepdims=True)
        step = np.abs(better - confusion).max()
        confusion = better
        if step < 1e-6:
            break
    return confusion


def _in_common(pairs: Pairs, expected: FloatArray) -> float:
    """The share that even pairs with little in common share: what is difficult for everybody."""
    room = np.maximum(1 - expected, LEAST_CHANCE)
    excess = (pairs.same / pairs.both - expected) / room
    noise = expected * (1 - expected) / pairs.both / room**2
    mean = float(np.average(excess, weights=1 / (noise + 1e-12)))
    true = max(float(np.average((excess - mean) ** 2 - noise)), 0.0)
    drawn = mean + (excess - mean) * true / (true + noise)
    return float(np.clip(np.quantile(drawn, LEAST_IN_COMMON), 0.0, 0.95))
