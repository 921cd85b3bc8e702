r"""How far a rate of being right is known, when people may err together.

Agreement shows how often annotator r answers as the consensus does, :math:`a_r`, and nothing of the
items on which the consensus itself is wrong. If these are a share e, r is right at the rate

.. math:: p_r = (1 - e) \, a_r + e \, u_r, \qquad 0 \le u_r \le 1,

since they may be wrong with the others on all of these items, or see through all of them. The
interval holds every such rate, for every :math:`a_r` that the number of answers leaves open.

Without items whose class is known, e cannot be learned: people who make the same error agree. It
is assumed that at most a share c of all errors is made by everybody. Those that are seen as
disagreement, :math:`\delta = 1 - \bar a`, are the others, so that :math:`e = \delta c / (1 - c)`.
Items of known class bound e, and may narrow the interval or widen it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta as beta_distribution

from plausible.experts.annotations import Annotations

FloatArray = NDArray[np.float64]

SHARED_ERRORS = 0.6  # errors of the consensus of real crowds were 0.39 to 0.90 of all errors
OUTSIDE = 0.025  # probability on each side of an interval


class Interval(NamedTuple):
    """Limits (R,) of rates of being right, of rates of agreement, and the share e of items."""

    low: FloatArray
    high: FloatArray
    agreement_low: FloatArray
    agreement_high: FloatArray
    consensus_error: float


class Tally(NamedTuple):
    """Expected numbers (R,): how often right, out of how many answers, and these on gold items.

    Only answers count that somebody else, or gold, can confirm.
    """

    right: FloatArray
    total: FloatArray
    gold: FloatArray


def binomial_limits(right: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Clopper and Pearson's limits of a rate; numbers between whole ones go to the worse side.

    Examples
    --------
    >>> low, high = binomial_limits(np.array([8.4]), np.array([10.0]))
    >>> low.round(2), high.round(2)
    (array([0.44]), array([1.]))
    """
    hits = np.floor(right + 1e-9)
    misses = np.floor(np.maximum(total - right, 0.0) + 1e-9)
    low = beta_distribution.ppf(OUTSIDE, np.maximum(hits, 1.0), total - hits + 1)
    high = beta_distribution.ppf(1 - OUTSIDE, total - misses + 1, np.maximum(misses, 1.0))
    return np.where(hits < 1, 0.0, low), np.where(misses < 1, 1.0, high)


def _error_of_consensus(tally: Tally, shared_errors: float, known: tuple[int, int]) -> float:
    """Share of items on which the consensus is allowed to be wrong.

    `known` are the gold items on which it is wrong, and how many gold items it speaks about.
    """
    total = float(tally.total.sum())
    if not total or shared_errors == 1:
        return 1.0  # nobody can confirm anything
    visible = 1 - float(tally.right.sum()) / total
    error = min(max(visible, 0.0) * shared_errors / (1 - shared_errors), 1.0)
    wrong, n_known = known
    if n_known:
        low, high = binomial_limits(np.array([float(wrong)]), np.array([float(n_known)]))
        if not low[0] <= error <= high[0]:  # gold contradicts what was assumed
            error = float(high[0])
    return error


def intervals(
    tally: Tally,
    accuracy: FloatArray,
    shared_errors: float,
    known: tuple[int, int],
    resampled: FloatArray | None = None,
) -> Interval:
    """Rates of being right that answers, and errors that people share, leave open.

    `resampled` are rates (B, R) of fits to resampled items, NaN without answers, of which the
    middle 95 % is held, too.
    """
    error = _error_of_consensus(tally, shared_errors, known)
    low, high = binomial_limits(tally.right, tally.total)
    if resampled is not None:
        full = np.where(np.isnan(resampled).all(axis=0), accuracy, resampled)
        low = np.minimum(low, np.nanquantile(full, OUTSIDE, axis=0))
        high = np.maximum(high, np.nanquantile(full, 1 - OUTSIDE, axis=0))
    low, high = np.minimum(low, accuracy), np.maximum(high, accuracy)
    each = error * (1 - tally.gold / np.maximum(tally.total, 1e-300))
    return Interval((1 - each) * low, (1 - each) * high + each, low, high, error)


def confirmed_items(annotations: Annotations) -> NDArray[np.bool_]:
    """Items (n,) about which at least two answers say something."""
    says = annotations.facts.says_something[annotations.statement]
    if annotations.doubt is not None:
        says &= annotations.doubt < 1
    return np.bincount(annotations.item[says], minlength=len(annotations.items)) > 1


def gold_items(gold: FloatArray | None, n_items: int) -> NDArray[np.bool_]:
    """Items (n,) whose class is known for sure, from log plausibilities (n, K)."""
    if gold is None:
        return np.zeros(n_items, dtype=bool)
    return np.asarray(np.isfinite(gold).sum(axis=1) == 1)


def errors_on_gold(
    evidence: FloatArray, prior: FloatArray, gold: FloatArray | None
) -> tuple[int, int]:
    """On how many gold items the answers alone name a wrong class, and on how many they speak."""
    rows = np.flatnonzero(gold_items(gold, len(evidence)))
    if gold is None or not len(rows):
        return 0, 0
    rows = rows[evidence[rows].min(axis=1) < evidence[rows].max(axis=1)]
    named = (evidence[rows] * prior).argmax(axis=1)
    return int((named != gold[rows].argmax(axis=1)).sum()), len(rows)


def resample_items(
    annotations: Annotations, random: np.random.RandomState
) -> tuple[Annotations, NDArray[np.int64]]:
    """As many items as there are, drawn with all their answers, and which they are."""
    n_items = len(annotations.items)
    drawn = random.randint(n_items, size=n_items)
    order = np.argsort(annotations.item, kind="stable")
    counts = np.bincount(annotations.item, minlength=n_items)
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    size = counts[drawn]
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    answers = annotations.select(order[np.repeat(first[drawn], size) + within])
    return answers._with(item=np.repeat(np.arange(n_items), size)), drawn
