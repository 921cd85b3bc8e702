r"""Who errs together with whom, and who changes with time.

With the probability :math:`p_{ik}` of each class of item i, and one rate c of being right for each
person, two people who err on their own give the same wrong answer about an item with probability
:math:`(1 - c_a) (1 - c_b) / (K - 1)`. What they have in common beyond that,

.. math:: O_{ab} - E_{ab} = \sum_{i: s_{ia} = s_{ib}} (1 - p_{i s_{ia}})
   - n_{ab} \, \frac{(1 - c_a) (1 - c_b)}{K - 1},

over the :math:`n_{ab}` items that both answered, is compared with the spread of a Poisson number.
Of all pairs, those are told of which a share `level` at most is expected to be chance (Benjamini
and Hochberg, 1995). Errors that everybody makes are not seen, since the consensus makes them, too.

For time, the probability that an answer was right is regressed on its place among the answers of
its author, from 0 for the first to 1 for the last.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.sparse import coo_array, csr_array, triu
from scipy.sparse.csgraph import connected_components

from plausible.checks import as_floats, check_kind, check_number
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.reliability import Reliability, fit_reliability

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LEAST_ITEMS = 10  # that both people of a pair answered
LEAST_ANSWERS = 10  # of a person, to speak of time


class SharedErrors(NamedTuple):
    """Pairs of people who give the same wrong answers more often than chance, the clearest first.

    Attributes
    ----------
    pairs : list of two annotators each
    observed, expected : arrays (P,)
        Same wrong answers, as far as the consensus tells, and how many chance would give.
    p_value : array (P,)
    groups : list of tuples of annotators that such pairs connect

    Examples
    --------
    >>> SharedErrors([("ann", "bob")], np.array([9.0]), np.array([2.0]), np.array([1e-4]), [])
    SharedErrors(1 pair: ann and bob 9.0 (2.0 by chance))
    """

    pairs: list[tuple[Any, Any]]
    observed: FloatArray
    expected: FloatArray
    p_value: FloatArray
    groups: list[tuple[Any, ...]]

    def __repr__(self) -> str:
        told = [
            f"{one} and {other} {seen:.1f} ({chance:.1f} by chance)"
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
    annotations: Annotations, reliability: Reliability | None = None, *, level: float = 0.05
) -> SharedErrors:
    """Pairs and groups of people who make the same errors more often than chance.

    Parameters
    ----------
    annotations : Annotations
        Only answers that name one class count.
    reliability : Reliability, optional
        Of the same annotations; that of "one_coin" by default.
    level : float
        Share of the pairs found that may be chance.

    Returns
    -------
    SharedErrors

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(3, size=300)
    >>> said = np.where(rng.random((300, 6)) < 0.7, truth[:, None], rng.integers(3, size=(300, 6)))
    >>> said[:150, 1] = said[:150, 0]  # the second looks at the first for half of the time
    >>> find_shared_errors(Annotations.from_answers(said, annotators=list("abcdef"))).groups
    [('a', 'b')]
    """
    item, who, column, found = _known_answers(annotations, reliability)
    check_number(level, "level", 0.0, 1.0)
    n_items, n_people, n_classes = (
        len(annotations.items), len(annotations.annotators), annotations.n_classes,
    )  # fmt: skip
    wrong = 1 - found.posterior[item, column]
    cell = item * n_classes + column
    same = _products(cell, who, np.sqrt(wrong), (n_items * n_classes, n_people))
    both = _products(item, who, np.ones(len(item)), (n_items, n_people))
    first, second = both.coords
    n_both = both.data
    observed = np.asarray(same.tocsr()[first, second]).ravel()
    error = 1 - found.accuracy
    expected = n_both * error[first] * error[second] / max(n_classes - 1, 1)
    kept = n_both >= LEAST_ITEMS
    first, second, observed, expected = (x[kept] for x in (first, second, observed, expected))
    p_value = stats.gamma.cdf(np.maximum(expected, 1e-12), np.maximum(observed, 1e-12))
    told = _discoveries(p_value, level)
    order = np.flatnonzero(told)[np.argsort(p_value[told], kind="stable")]
    names = annotations.annotators.tolist()
    pairs = [(names[first[k]], names[second[k]]) for k in order]
    links = csr_array((np.ones(len(order)), (first[order], second[order])), (n_people, n_people))
    _, group = connected_components(links, directed=False)
    members = [np.flatnonzero(group == g) for g in np.flatnonzero(np.bincount(group) > 1)]
    groups = [tuple(names[k] for k in some) for some in members]
    return SharedErrors(pairs, observed[order], expected[order], p_value[order], groups)


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
    changed[enough] = _discoveries(p_value[enough], level)
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


def _products(row: IntArray, who: IntArray, value: FloatArray, shape: tuple[int, int]) -> Any:
    """Sums (R, R) over rows of the products of two people's values; pairs of different people."""
    table = coo_array((value, (row, who)), shape).tocsr()
    return triu(coo_array(table.T @ table), k=1, format="coo")


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


def _discoveries(p_value: FloatArray, level: float) -> NDArray[np.bool_]:
    """Which of several tests succeed, with a false discovery rate of at most `level`.

    Examples
    --------
    >>> _discoveries(np.array([0.001, 0.2, 0.02, 0.9]), 0.05)
    array([ True, False,  True, False])
    """
    order = np.argsort(p_value, kind="stable")
    limits = level * np.arange(1, len(order) + 1) / max(len(order), 1)
    below = np.flatnonzero(p_value[order] <= limits)
    found = np.zeros(len(order), dtype=bool)
    if len(below):
        found[order[: below[-1] + 1]] = True
    return found
