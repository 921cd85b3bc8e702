r"""How often two people agree, and how often they would if they erred on their own.

Beyond the luck of two people with their habits, :math:`\sum_l p_{al} p_{bl}` with the shares p of
the classes that each of them names, people who err on their own agree by

.. math:: P(s_a = s_b) - \sum_l p_{al} p_{bl} = v_a v_b

with one number v for each (C. Spearman's single factor, 1904): exactly so for two classes, and for
more if errors go to all classes alike. That some items are difficult for everybody changes v, and
not that it is a product. So the v are fitted to all pairs together, and pairs that agree more than
that are weighed the less, the more they do (P. Rousseeuw and A. Leroy, Robust Regression, 1987):
people who copy, or were trained together, do not make each other look right.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, triu

from plausible.experts.annotations import Annotations
from plausible.experts.statements import add_up

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOST_MEETINGS = 60_000_000  # of two answers about one item: some seconds, and a gigabyte
MOST_FITTED = 200_000  # pairs from which v are fitted: those with most items in common
STARTS = (0.1, 0.5)  # quantiles of the agreement of pairs, from which v start
TOLERATED = 2.0  # standard errors of agreement from which a pair counts less
ROUGH = 0.02  # standard error that the product has for people whose errors are not even
HABITS = 2.0  # imagined answers of a person, as all people answer together
PULL = 20.0  # imagined common items of a person with usual others
LEAST_CHANCE = 1e-3  # that two people agree, or that they do not


class Pairs(NamedTuple):
    """Pairs (P,) of people who met on some item.

    first, second : their numbers, the lower one first
    both : items that both answered
    same : items about which they gave the same answer
    luck : how often they would by their habits
    """

    first: IntArray
    second: IntArray
    both: FloatArray
    same: FloatArray
    luck: FloatArray

    def take(self, rows: NDArray[np.bool_] | IntArray) -> "Pairs":
        """Some of the pairs."""
        a, b, both, same, luck = self
        return Pairs(a[rows], b[rows], both[rows], same[rows], luck[rows])


def count_pairs(annotations: Annotations) -> Pairs | None:
    """All pairs of people who met, by answers that name one class; None if they are too many.

    Who answered about an item twice counts once with each answer.
    """
    item, who, column = hard_answers(annotations)
    counts = np.bincount(item, minlength=1).astype(np.float64)
    if (counts**2).sum() > MOST_MEETINGS:
        return None
    n_items, n_people = len(annotations.items), len(annotations.annotators)
    n_classes = annotations.n_classes
    both = _meetings(item, who, (n_items, n_people))
    same = _meetings(item * n_classes + column, who, (n_items * n_classes, n_people))
    first, second = (place.astype(np.int64) for place in both.coords)
    agreed = np.zeros(len(first))
    key = first * n_people + second
    agreed[np.searchsorted(key, same.coords[0] * np.int64(n_people) + same.coords[1])] = same.data
    said = np.bincount(who * n_classes + column, minlength=n_people * n_classes)
    shares = said.reshape(n_people, n_classes) + HABITS * np.bincount(
        column, minlength=n_classes
    ) / max(len(column), 1)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    luck = np.zeros(len(first))
    for k in range(n_classes):
        luck += shares[first, k] * shares[second, k]
    return Pairs(first, second, np.maximum(both.data, agreed), agreed, luck)


def hard_answers(annotations: Annotations) -> tuple[IntArray, IntArray, IntArray]:
    """Item, annotator and class of answers that name one class."""
    rows = annotations.facts.rows
    names_one = np.diff(rows.indptr) == 1
    first = np.zeros(rows.shape[0], dtype=np.int64)
    first[names_one] = rows.indices[rows.indptr[:-1][names_one]]
    kept = names_one[annotations.statement]
    return (
        annotations.item[kept].astype(np.int64),
        annotations.annotator[kept].astype(np.int64),
        first[annotations.statement[kept]],
    )


def _meetings(row: IntArray, who: IntArray, shape: tuple[int, int]) -> coo_array:
    """In how many rows two different people stand, ordered by the first and the second."""
    table = coo_array((np.ones(len(row)), (row, who)), shape).tocsr()
    table.data[:] = 1.0
    met = (table.T @ table).tocsr()
    met.sort_indices()
    return triu(met, k=1, format="csr").tocoo()


def fit_factor(pairs: Pairs, n_people: int) -> FloatArray:
    """Numbers v (R,) of the people, whose products are the agreement of most pairs beyond luck."""
    if len(pairs.both) > MOST_FITTED:
        pairs = pairs.take(np.sort(np.argsort(-pairs.both, kind="stable")[:MOST_FITTED]))
    beyond = pairs.same / pairs.both - pairs.luck
    order = np.argsort(beyond, kind="stable")
    reached = np.cumsum(pairs.both[order])
    found = []
    for quantile in STARTS:
        place = np.searchsorted(reached, quantile * reached[-1])
        start = np.sqrt(max(beyond[order[place]], 0.05**2))
        found.append(_climb_factor(pairs, beyond, np.full(n_people, start)))
    return min(found, key=lambda v: _misfit(pairs, v))


def _climb_factor(pairs: Pairs, beyond: FloatArray, v: FloatArray) -> FloatArray:
    """Least squares in each v in turn, with weights that fall where pairs agree too much."""
    a, b, n_people = pairs.first, pairs.second, len(v)
    for _ in range(100):
        expected = agreement_expected(pairs, v)
        excess = np.maximum(_deviation(pairs, expected), 0.0) / TOLERATED
        spread = expected * (1 - expected) / pairs.both + ROUGH**2
        weight = 1 / spread / (1 + excess**2)
        usual = v.mean()
        top = add_up(a, weight * beyond * v[b], n_people)
        top += add_up(b, weight * beyond * v[a], n_people) + PULL * usual**3
        bottom = add_up(a, weight * v[b] ** 2, n_people)
        bottom += add_up(b, weight * v[a] ** 2, n_people) + PULL * usual**2
        better = np.maximum(top / np.maximum(bottom, 1e-300), 0.0)
        step = np.abs(better - v).max()
        v = (v + better) / 2
        if step < 1e-5:
            break
    return v


def agreement_expected(pairs: Pairs, v: FloatArray) -> FloatArray:
    """How often (P,) pairs would agree if they erred on their own."""
    expected = pairs.luck + v[pairs.first] * v[pairs.second]
    return np.clip(expected, LEAST_CHANCE, 1 - LEAST_CHANCE)


def _deviation(pairs: Pairs, expected: FloatArray) -> FloatArray:
    """Agreement beyond what is expected, in standard errors."""
    spread = np.sqrt(expected * (1 - expected) / pairs.both + ROUGH**2)
    return np.asarray((pairs.same / pairs.both - expected) / spread)


def _misfit(pairs: Pairs, v: FloatArray) -> float:
    """What the weights make small: squares, but logarithms where pairs agree too much."""
    z = _deviation(pairs, agreement_expected(pairs, v))
    tolerant = TOLERATED**2 * np.log1p((np.maximum(z, 0.0) / TOLERATED) ** 2)
    return float(np.where(z > 0, tolerant, z**2).sum())
