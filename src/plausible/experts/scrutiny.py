r"""Who errs together with whom, and who changes with time.

People who err on their own agree by how far each of them is right; `plausible.experts.pairs` says
how often. Pairs and groups that agree more often than that give the same wrong answers
(`plausible.experts.groups`). Errors that everybody makes are not seen: they look like agreement.

For time, the probability that an answer was right is regressed on its place among the answers of
its author, from 0 for the first to 1 for the last.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from plausible.checks import as_floats, check_kind, check_number
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.groups import LEVEL, discoveries, find_groups
from plausible.experts.judged_pairs import judged_pairs, truth_of
from plausible.experts.pairs import MOST_MEETINGS, count_pairs
from plausible.experts.reliability import Reliability
from plausible.experts.reliability_fit import fit_reliability

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LEAST_ANSWERS = 10  # of a person, to speak of time


class SharedErrors(NamedTuple):
    """Pairs of people who agree more often than people who err on their own, the clearest first.

    Attributes
    ----------
    pairs : list of two annotators each
    observed, expected : arrays (P,)
        Items about which they gave the same answer, and how many it would be if each of them erred
        on their own.
    p_value : array (P,)
    shared : array (P,)
        Share of the items about which one of them follows the other: 1 of copies.
    groups : list of tuples of annotators that such pairs connect
    group_shared : array (G,)
        The same share of each group, over all of its pairs: m of them about one item are worth
        m / (1 + (m - 1) shared) answers.

    Examples
    --------
    >>> one = np.array([1.0])
    >>> SharedErrors([("ann", "bob")], 90 * one, 62 * one, one / 1e4, 0.7 * one, [], one[:0])
    SharedErrors(1 pair: ann and bob 90 (62 if they erred on their own))
    """

    pairs: list[tuple[Any, Any]]
    observed: FloatArray
    expected: FloatArray
    p_value: FloatArray
    shared: FloatArray
    groups: list[tuple[Any, ...]]
    group_shared: FloatArray

    def __repr__(self) -> str:
        told = [
            f"{one} and {other} {seen:.0f} ({chance:.0f} if they erred on their own)"
            for (one, other), seen, chance in zip(
                self.pairs[:5], self.observed, self.expected, strict=False
            )
        ]
        more = ", ..." if len(self.pairs) > 5 else ""
        count = f"{len(self.pairs)} pair{'s' * (len(self.pairs) != 1)}"
        return f"SharedErrors({count}{': ' * bool(told)}{', '.join(told)}{more})"


class Drift(NamedTuple):
    """How far people change from their first answers to their last.

    Attributes
    ----------
    annotators : array (R,)
    change : array (R,)
        Of how often they are right; NaN for those with fewer than 10 answers.
    standard_error, p_value : arrays (R,)
    changed : array (R,)
        Of whom it is clear: a share `level` of them at most is expected to be chance.

    Examples
    --------
    >>> answers = Annotations.from_answers([["a", "a", "b"], ["b", "b", "b"]])
    >>> find_drift(answers).changed.tolist()
    [False, False, False]
    """

    annotators: NDArray[Any]
    change: FloatArray
    standard_error: FloatArray
    p_value: FloatArray
    changed: NDArray[np.bool_]


def find_shared_errors(
    annotations: Annotations, *, level: float = LEVEL, gold: Any = None, probabilities: Any = None
) -> SharedErrors:
    """Pairs and groups of people who make the same errors more often than others do.

    Parameters
    ----------
    annotations : Annotations
        Only answers that name one class count. With fewer than four people nobody is left to
        compare a pair with, and pairs with fewer than 10 items in common are not judged.
    level : float
        Share of the pairs found that may be chance.
    gold : Labels or dict of items, optional
        Classes that are known. If most pairs have 10 such items in common, these tell who errs
        together, and only they count.
    probabilities : array (n, K) or Labels, optional
        Of the classes of all items, from a classifier that has learned from other items
        (cross-fitted), in the same place.

    Returns
    -------
    SharedErrors

    Notes
    -----
    `Annotations.pool` lets the answers of such groups count less where it allows for people who err
    together. By agreement alone, a group that is most of the people cannot be told from people who
    are right; with `gold` or `probabilities` it can. Errors that everybody makes are not told.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(3, size=300)
    >>> said = np.where(rng.random((300, 6)) < 0.7, truth[:, None], rng.integers(3, size=(300, 6)))
    >>> said[:150, 1] = said[:150, 0]  # the second looks at the first for half of the time
    >>> find_shared_errors(Annotations.from_answers(said, annotators=list("abcdef"))).groups
    [('a', 'b')]
    """
    check_kind(annotations, Annotations, "annotations", "make them with Annotations.from_long")
    check_number(level, "level", 0.0, 1.0)
    pairs = count_pairs(annotations)
    if pairs is None:
        raise InputError(
            f"Answers about the same item should meet at most {MOST_MEETINGS:,} times",
            "they meet more often, so that pairs of people cannot be counted",
            "select some of the items or people",
            parameter="annotations",
        )
    names = annotations.annotators.tolist()
    truth = truth_of(annotations, gold, probabilities)
    judged = None if truth is None else judged_pairs(annotations, truth, pairs)
    pairs, expected = (pairs, None) if judged is None else judged
    found = find_groups(pairs, len(names), level, expected)
    first, second, both, same, _ = found.pairs
    return SharedErrors(
        [(names[a], names[b]) for a, b in zip(first, second, strict=True)],
        same,
        both * found.expected,
        found.p_value,
        found.shared,
        [tuple(names[k] for k in some) for some in found.members],
        found.worth,
    )


def find_drift(
    annotations: Annotations,
    order: ArrayLike | None = None,
    reliability: Reliability | None = None,
    *,
    level: float = 0.05,
) -> Drift:
    """Who gets better or worse from their first answers to their last.

    Parameters
    ----------
    annotations : Annotations
        Only answers that name one class count.
    order : array-like (A,), optional
        Time of each answer, or any number that rises with it; the order of the answers by default.
    reliability : Reliability, optional
        Of the same annotations; that of "one_coin" by default.
    level : float
        Share of the people found who may have changed by chance.

    Returns
    -------
    Drift

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth, tired = rng.integers(3, size=600), np.linspace(0.95, 0.4, 600)
    >>> rate = np.column_stack([tired, *[np.full(600, 0.8)] * 5])
    >>> said = np.where(rng.random((600, 6)) < rate, truth[:, None], rng.integers(3, size=(600, 6)))
    >>> found = find_drift(Annotations.from_answers(said))
    >>> found.changed.tolist()
    [True, False, False, False, False, False]
    >>> bool(abs(found.change[0] + 0.37) < 0.15)  # two thirds of 0.55
    True
    """
    item, who, column, found = _known_answers(annotations, reliability)
    check_number(level, "level", 0.0, 1.0)
    time = _times(annotations, order)
    n_people = len(annotations.annotators)
    right = found.posterior[item, column]
    place = _places(who, time, n_people)
    count = np.bincount(who, minlength=n_people)
    n = np.maximum(count, 1)
    mean_right = np.bincount(who, right, n_people) / n
    mean_place = np.bincount(who, place, n_people) / n
    x, y = place - mean_place[who], right - mean_right[who]
    spread = np.bincount(who, x * x, n_people)
    enough = (count >= LEAST_ANSWERS) & (spread > 0)
    safe = np.where(enough, spread, 1.0)
    change = np.bincount(who, x * y, n_people) / safe
    rest = np.bincount(who, (y - change[who] * x) ** 2, n_people)
    error = np.sqrt(np.maximum(rest, 1e-12) / np.maximum(count - 2, 1) / safe)
    p_value = 2 * stats.t.sf(np.abs(change) / error, np.maximum(count - 2, 1))
    changed = np.zeros(n_people, dtype=bool)
    changed[enough] = discoveries(p_value[enough], level)
    change, error, p_value = (np.where(enough, x, np.nan) for x in (change, error, p_value))
    return Drift(annotations.annotators, change, error, p_value, changed)


def _known_answers(
    annotations: Any, reliability: Any
) -> tuple[IntArray, IntArray, IntArray, Reliability]:
    """Item, annotator and class of all answers that name one class, and what is known of people."""
    check_kind(annotations, Annotations, "annotations", "make them with Annotations.from_long")
    if reliability is None:
        reliability = fit_reliability(annotations)
    check_kind(reliability, Reliability, "reliability", "make it with fit_reliability")
    if len(reliability.posterior) != len(annotations.items):
        raise InputError(
            f"reliability should be of these {len(annotations.items)} items",
            f"is of {len(reliability.posterior)}",
            "fit it to the same annotations",
            parameter="reliability",
        )
    hard = annotations.is_hard[annotations.statement]
    column = annotations.facts.chosen[annotations.statement[hard]]
    return annotations.item[hard], annotations.annotator[hard], column, reliability


def _times(annotations: Annotations, order: ArrayLike | None) -> FloatArray:
    """Times of the answers that name one class."""
    if order is None:
        time = np.arange(len(annotations), dtype=np.float64)
    else:
        time = as_floats(order, "order")
    if time.shape != (len(annotations),) or not np.isfinite(time).all():
        raise InputError(
            f"order should be a number for each of the {len(annotations)} answers",
            f"has shape {time.shape}, or some are not finite",
            "give the time of each answer, or leave it out",
            parameter="order",
        )
    return time[annotations.is_hard[annotations.statement]]


def _places(who: IntArray, time: FloatArray, n_people: int) -> FloatArray:
    """Places of answers among those of the same person, from 0 to 1; equal times share one."""
    order = np.lexsort((time, who))
    count = np.bincount(who, minlength=n_people)
    first = np.concatenate([[0], np.cumsum(count)[:-1]])
    rank = np.empty(len(who))
    rank[order] = np.arange(len(who)) - first[who[order]]
    same = np.unique(np.column_stack([who, time]), axis=0, return_inverse=True)[1].ravel()
    rank = (np.bincount(same, rank) / np.bincount(same))[same]
    return np.asarray(rank / np.maximum(count[who] - 1, 1))
