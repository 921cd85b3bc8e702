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
from plausible.metrics.sets import credit_of_sets, sizes, utilities
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
    tops, bottoms : arrays (groups, scores), numerators and denominators
    gaps, weights : arrays (groups, bins) of confidence less credit, and (groups,)
    """

    n_items: int
    n_counted: int
    tops: FloatArray
    bottoms: FloatArray
    gaps: FloatArray
    weights: FloatArray


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
    counted = truth.weight * truth.sample_weight > 0.0
    n_counted = int(counted.sum())
    if n_counted == 0:
        return _nothing(len(labels))
    if n_counted < len(labels):  # the others add nothing to any sum
        rows = np.flatnonzero(counted)
        truth, beliefs, groups = truth.take(rows), beliefs[rows], groups[rows]
    p = read_probabilities(beliefs, truth.labels, beliefs.classes)
    tops, bottoms = _parts(
        truth,
        p,
        read_answers(beliefs.predicted, truth.labels, beliefs.classes),
        read_answers(beliefs.sets, truth.labels, beliefs.classes),
    )
    weight = truth.weight * truth.sample_weight
    found = confidence_of(truth, p)
    cells = groups * N_BINS + found.bins(N_BINS)
    gaps = _sums(cells, weight * (found.confidence - found.right), N_GROUPS * N_BINS)
    return ScoreSums(
        len(labels),
        n_counted,
        _by_group(groups, tops),
        _by_group(groups, bottoms),
        gaps.reshape(N_GROUPS, N_BINS),
        _sums(groups, weight, N_GROUPS),
    )


def _nothing(n_items: int) -> ScoreSums:
    """Sums of rows that say nothing."""
    ratios, gaps = np.zeros((N_GROUPS, len(RATIOS))), np.zeros((N_GROUPS, N_BINS))
    return ScoreSums(n_items, 0, ratios, ratios.copy(), gaps, np.zeros(N_GROUPS))


def _parts(
    truth: Credits, p: FloatArray, best: NDArray[np.bool_], sets: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray]:
    """Numerators and denominators (scores, n) of the rows, in the order of `RATIOS`."""
    weight = truth.weight
    some = row_any(sets) & (weight > 0)  # as for all scores, rows that say nothing do not count
    tops = [
        weight * accuracies(truth, best),
        log_losses(truth, p),
        weight * brier_scores(truth, p),
        weight * credit_of_sets(truth, sets),
        weight * utilities(truth, sets, 0.65),
        some * sizes(sets),
    ]
    bottoms = [weight] * 5 + [some.astype(np.float64)]
    return np.array(tops) * truth.sample_weight, np.array(bottoms) * truth.sample_weight


def _by_group(groups: NDArray[np.int64], values: FloatArray) -> FloatArray:
    """Sums (groups, scores) of values (scores, n)."""
    return np.stack([_sums(groups, row, N_GROUPS) for row in values], axis=1)


def _sums(places: NDArray[np.int64], values: FloatArray, length: int) -> FloatArray:
    """Sums of values by their places."""
    return np.bincount(places, values, length).astype(np.float64)


def estimates(sums: ScoreSums, n_bootstrap: int = 1000, seed: int = 0) -> dict[str, Estimate]:
    """Scores with intervals from groups that are drawn with replacement."""
    used = np.flatnonzero(row_any(sums.bottoms > 0))
    used = used if len(used) else np.array([0])  # nothing is said: every score is NaN
    parts = [sums.tops[used], sums.bottoms[used], sums.gaps[used], sums.weights[used, None]]
    columns = np.concatenate(parts, axis=1)
    stops = np.cumsum([part.shape[1] for part in parts])[:-1]
    once = np.split(columns.sum(axis=0), stops)
    drawn = np.split(_times_drawn(len(used), n_bootstrap, seed) @ columns, stops, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        (whole, error), (resampled, errors) = _scores_of(*once), _scores_of(*drawn)
    found = {name: _estimate(whole[k], resampled[:, k]) for k, name in enumerate(RATIOS)}
    return found | {CALIBRATION: _estimate(float(error), errors)}


def _times_drawn(n_groups: int, n_draws: int, seed: int) -> FloatArray:
    """How often (draws, groups) each group is drawn, with replacement, as many as there are."""
    drawn = np.random.default_rng(seed).integers(n_groups, size=(n_draws, n_groups))
    places = drawn + n_groups * np.arange(n_draws)[:, None]
    counts = np.bincount(places.ravel(), minlength=n_draws * n_groups)
    return counts.reshape(n_draws, n_groups).astype(np.float64)


def _scores_of(
    tops: FloatArray, bottoms: FloatArray, gaps: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The scores (..., scores) of sums over groups, and the calibration error (...,)."""
    return tops / bottoms, np.abs(gaps).sum(axis=-1) / weight[..., 0]


def _estimate(value: float, resampled: FloatArray) -> Estimate:
    """The middle 95 % of the resamples, widened to hold the estimate."""
    finite = resampled[np.isfinite(resampled)]
    low, high = np.quantile(finite, [0.025, 0.975]) if len(finite) else (value, value)
    return Estimate(float(value), float(min(low, value)), float(max(high, value)))
