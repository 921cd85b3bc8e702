r"""Scores as sums over rows, for data that are read in pieces.

A score is a ratio of two sums over rows, :math:`s = \sum_i a_i / \sum_i b_i`; the expected
calibration error is one of sums over bins of confidence. Rows are dealt out to `N_GROUPS` groups,
and the sums are kept for each group: so they can be added over pieces, and groups drawn with
replacement give an interval.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.labels import Labels
from plausible.metrics.confidence import confidence_of
from plausible.metrics.scores import accuracies, brier_scores, log_losses
from plausible.metrics.sets import credit_of_sets, sizes, worths
from plausible.metrics.truth import (
    Credits,
    FloatArray,
    read_answers,
    read_probabilities,
    read_truth,
)
from plausible.short_rows import row_any

N_GROUPS = 200
N_BINS = 10  # of confidence, as expected_calibration_error has them
RATIOS = (
    "soft_accuracy",
    "soft_log_loss",
    "soft_brier_score",
    "set_coverage",
    "utility_discounted_accuracy",
    "set_imprecision",
)
CALIBRATION = "expected_calibration_error"


class ScoreSums(NamedTuple):
    """Sums of scores over rows, which can be added.

    n_items, n_counted : number of rows, and of those whose labels say something
    tops : array (groups, scores), numerators in the order of `RATIOS`
    weights : array (groups, 2), denominators: of all rows, and of those with a set of classes
    gaps : array (groups, bins) of confidence less credit
    """

    n_items: int
    n_counted: int
    tops: FloatArray
    weights: FloatArray
    gaps: FloatArray


class Estimate(NamedTuple):
    """A score and the interval that holds the middle 95 % of its resamples.

    Examples
    --------
    >>> Estimate(0.9, 0.85, 0.93).low
    0.85
    """

    estimate: float
    low: float
    high: float


def sum_scores(
    labels: Labels, beliefs: Any, groups: NDArray[np.int64], sample_weight: ArrayLike | None = None
) -> ScoreSums:
    """Sums of all scores of some rows, each in its group."""
    truth = read_truth(labels, sample_weight, beliefs.classes)
    rows = np.flatnonzero(truth.weight * truth.sample_weight)
    if len(rows) == 0:
        shapes = ((N_GROUPS, columns) for columns in (len(RATIOS), 2, N_BINS))
        return ScoreSums(len(labels), 0, *(np.zeros(shape) for shape in shapes))
    if len(rows) < len(labels):  # the others add nothing to any sum
        truth, beliefs, groups = truth.take(rows), beliefs[rows], groups[rows]
    p = read_probabilities(beliefs, truth.labels, beliefs.classes)
    best = beliefs.best[:, None] == np.arange(len(beliefs.classes))
    tops, weights = _parts(
        truth,
        p,
        read_answers(best, truth.labels, beliefs.classes),
        read_answers(beliefs.sets, truth.labels, beliefs.classes),
    )
    found = confidence_of(truth, p)
    cells = groups * N_BINS + found.bins(N_BINS)
    gaps = _sums(cells, found.weight * (found.confidence - found.right), N_GROUPS * N_BINS)
    return ScoreSums(
        len(labels),
        len(rows),
        _by_group(groups, tops),
        _by_group(groups, weights),
        gaps.reshape(N_GROUPS, N_BINS),
    )


def _parts(
    truth: Credits, p: FloatArray, best: NDArray[np.bool_], sets: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray]:
    """Numerators (scores, n) of the rows, in the order of `RATIOS`, and their two weights."""
    weight = truth.weight
    some = row_any(sets) & (weight > 0)  # as for all scores, rows that say nothing do not count
    held = weight * credit_of_sets(truth, sets)
    tops = [
        weight * accuracies(truth, best),
        log_losses(truth, p),
        weight * brier_scores(truth, p),
        held,
        held * worths(sets, 0.65),
        some * sizes(sets),
    ]
    return np.array(tops) * truth.sample_weight, np.array([weight, some]) * truth.sample_weight


def _by_group(groups: NDArray[np.int64], values: FloatArray) -> FloatArray:
    """Sums (groups, scores) of values (scores, n)."""
    return np.stack([_sums(groups, row, N_GROUPS) for row in values], axis=1)


def _sums(places: NDArray[np.int64], values: FloatArray, length: int) -> FloatArray:
    """Sums of values by their places."""
    return np.bincount(places, values, length).astype(np.float64)


def estimates(sums: ScoreSums, n_bootstrap: int = 1000, seed: int = 0) -> dict[str, Estimate]:
    """Scores with intervals from groups that are drawn with replacement."""
    used = np.flatnonzero(sums.weights[:, 0])
    used = used if len(used) else np.array([0])  # nothing is said: every score is NaN
    columns = np.concatenate([sums.tops, sums.weights, sums.gaps], axis=1)[used]
    drawn = _times_drawn(len(used), n_bootstrap, seed) @ columns
    with np.errstate(invalid="ignore", divide="ignore"):
        (whole, error), (resampled, errors) = map(_scores_of, (columns.sum(axis=0), drawn))
    found = {name: _estimate(whole[k], resampled[:, k]) for k, name in enumerate(RATIOS)}
    return found | {CALIBRATION: _estimate(float(error), errors)}


def _times_drawn(n_groups: int, n_draws: int, seed: int) -> FloatArray:
    """How often (draws, groups) each group is drawn, with replacement, as many as there are."""
    drawn = np.random.default_rng(seed).integers(n_groups, size=(n_draws, n_groups))
    places = drawn + n_groups * np.arange(n_draws)[:, None]
    counts = np.bincount(places.ravel(), minlength=n_draws * n_groups)
    return counts.reshape(n_draws, n_groups).astype(np.float64)


def _scores_of(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The ratios (..., scores) of sums over groups (..., columns), and calibration errors (...)."""
    tops, weights, gaps = np.split(sums, [len(RATIOS), len(RATIOS) + 2], axis=-1)
    bottoms = weights[..., [1 if name == "set_imprecision" else 0 for name in RATIOS]]
    return tops / bottoms, np.abs(gaps).sum(axis=-1) / weights[..., 0]


def _estimate(value: float, resampled: FloatArray) -> Estimate:
    """The middle 95 % of the resamples, widened to hold the estimate."""
    finite = resampled[np.isfinite(resampled)]
    low, high = np.quantile(finite, [0.025, 0.975]) if len(finite) else (value, value)
    return Estimate(float(value), float(min(low, value)), float(max(high, value)))
