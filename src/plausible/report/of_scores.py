r"""How good a model is, in numbers, with intervals.

Rows are put into at most 200 groups at random. A score is a mean of the scores of the groups by
their weights, :math:`s = \sum_g w_g s_g / \sum_g w_g`, and groups are drawn with replacement: with
one row in each group this is the bootstrap, with more it costs no more.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.labels import Labels
from plausible.metrics import (
    expected_calibration_error,
    read_probabilities,
    read_truth,
    rejection_curve,
    set_coverage,
    set_imprecision,
    soft_accuracy,
    soft_brier_score,
    soft_log_loss,
    utility_discounted_accuracy,
)
from plausible.models import Beliefs
from plausible.report.of_confusion import scores_by_class
from plausible.report.of_models import refusals

FloatArray = NDArray[np.float64]
Score = Callable[[Labels, Beliefs], float]

MOST_GROUPS = 200
N_BINS = 10  # of confidence
MOST_POINTS = 60  # of the curve of rejection


def _accuracy(truth: Labels, beliefs: Beliefs) -> float:
    best = beliefs.classes[beliefs.probability.argmax(axis=1)]
    return soft_accuracy(truth, best)


def _log_loss(truth: Labels, beliefs: Beliefs) -> float:
    return soft_log_loss(truth, beliefs.probability, classes=beliefs.classes)


def _brier(truth: Labels, beliefs: Beliefs) -> float:
    return soft_brier_score(truth, beliefs.probability, classes=beliefs.classes)


def _coverage(truth: Labels, beliefs: Beliefs) -> float:
    return set_coverage(truth, beliefs.sets, classes=beliefs.classes)


def _utility(truth: Labels, beliefs: Beliefs) -> float:
    return utility_discounted_accuracy(truth, beliefs.sets, classes=beliefs.classes)


def _imprecision(truth: Labels, beliefs: Beliefs) -> float:
    return set_imprecision(beliefs.sets)


SCORES: dict[str, Score] = {
    "soft_accuracy": _accuracy,
    "soft_log_loss": _log_loss,
    "soft_brier_score": _brier,
    "set_coverage": _coverage,
    "utility_discounted_accuracy": _utility,
    "set_imprecision": _imprecision,
}


class Bins(NamedTuple):
    """Rows by confidence: bin (n,), confidence (n,), how right (n,) and weight (n,)."""

    place: NDArray[np.int64]
    confidence: FloatArray
    right: FloatArray
    weight: FloatArray

    def sums(self, values: FloatArray) -> FloatArray:
        """Weighted sums (N_BINS,) by bin."""
        sums = np.bincount(self.place, self.weight * values, minlength=N_BINS)
        return sums.astype(np.float64)

    def rows(self, chosen: NDArray[np.int64]) -> "Bins":
        """Some of the rows."""
        floats = (self.confidence, self.right, self.weight)
        return Bins(self.place[chosen], *(column[chosen] for column in floats))


def _bin_rows(truth: Labels, beliefs: Beliefs) -> Bins:
    """Bins of confidence, as `expected_calibration_error` has them."""
    told = read_truth(truth, None, beliefs.classes)
    p = read_probabilities(beliefs.probability, told.labels, beliefs.classes)
    confidence = p.max(axis=1)
    right = np.take_along_axis(told.credit, p.argmax(axis=1)[:, None], axis=1)[:, 0]
    place = np.clip(np.ceil(confidence * N_BINS).astype(np.int64) - 1, 0, N_BINS - 1)
    return Bins(place, confidence, right, told.weight)


def summarize_scores(
    truth: Labels, beliefs: Beliefs, n_bootstrap: int, seed: int, reject: float
) -> dict[str, Any]:
    """Scores with intervals, the calibration and what refusing gains, on test items.

    Rows that say nothing are left out; at least one row should say something.
    """
    counted = np.flatnonzero(truth.informativeness > 0)
    labels, answers = truth[counted], beliefs[counted]
    rng = np.random.default_rng(seed)
    groups = np.array_split(rng.permutation(len(counted)), min(len(counted), MOST_GROUPS))
    draws = rng.multinomial(len(groups), np.full(len(groups), 1 / len(groups)), size=n_bootstrap)
    bins = _bin_rows(labels, answers)
    curve = rejection_curve(labels, answers.probability, classes=answers.classes)
    return {
        "n_items": len(truth),
        "n_counted": len(counted),
        "n_bootstrap": n_bootstrap,
        "scores": [
            *(_with_interval(name, labels, answers, groups, draws) for name in SCORES),
            _calibration_error(labels, answers, bins, groups, draws),
        ],
        "by_class": scores_by_class(labels, answers),
        "calibration": calibration(bins),
        "rejection": thinned(curve.rejected, curve.accuracy)
        | {"area": curve.area, "chosen": _chosen_refusal(answers, bins, reject)},
    }


def _with_interval(
    name: str,
    labels: Labels,
    beliefs: Beliefs,
    groups: list[NDArray[np.int64]],
    draws: NDArray[np.int64],
) -> dict[str, Any]:
    """A score and the interval of its resamples."""
    score = SCORES[name]
    parts = np.array([score(labels[rows], beliefs[rows]) for rows in groups])
    says = labels.informativeness
    if name == "set_imprecision":
        says = (beliefs.sets.sum(axis=1) > 0).astype(np.float64)
    weight = np.array([says[rows].sum() for rows in groups])
    with np.errstate(invalid="ignore"):
        resampled = draws @ (weight * parts) / (draws @ weight)
    return _interval(name, score(labels, beliefs), resampled)


def _calibration_error(
    labels: Labels,
    beliefs: Beliefs,
    bins: Bins,
    groups: list[NDArray[np.int64]],
    draws: NDArray[np.int64],
) -> dict[str, Any]:
    parts = [bins.rows(rows) for rows in groups]
    gaps = np.array([part.sums(part.confidence - part.right) for part in parts])
    weight = np.array([part.weight.sum() for part in parts])
    resampled = np.abs(draws @ gaps).sum(axis=1) / (draws @ weight)
    found = expected_calibration_error(labels, beliefs.probability, N_BINS, classes=beliefs.classes)
    return _interval("expected_calibration_error", found, resampled)


def _interval(name: str, estimate: float, resampled: FloatArray) -> dict[str, Any]:
    """The middle 95 % of the resamples, widened to hold the estimate."""
    finite = resampled[np.isfinite(resampled)]
    low, high = np.quantile(finite, [0.025, 0.975]) if len(finite) else (estimate, estimate)
    return {
        "score": name,
        "estimate": estimate,
        "low": min(low, estimate),
        "high": max(high, estimate),
    }


def calibration(bins: Bins) -> list[dict[str, Any]]:
    """Mean confidence and share of right answers of each bin that is not empty."""
    weight = bins.sums(np.ones(len(bins.place)))
    confidence, right = bins.sums(bins.confidence), bins.sums(bins.right)
    return [
        {
            "from": k / N_BINS,
            "to": (k + 1) / N_BINS,
            "weight": weight[k],
            "confidence": confidence[k] / weight[k],
            "right": right[k] / weight[k],
        }
        for k in range(N_BINS)
        if weight[k] > 0
    ]


def _chosen_refusal(beliefs: Beliefs, bins: Bins, reject: float) -> dict[str, Any]:
    """What refusing at this loss gains: the point of the curve that was chosen."""
    kept = ~refusals(beliefs, reject)
    weight = bins.weight[kept].sum()
    right = (bins.weight * bins.right)[kept].sum()
    return {
        "reject": reject,
        "n_refused": int((~kept).sum()),
        "rejected": 1 - weight / bins.weight.sum(),
        "accuracy": right / weight if weight > 0 else None,
    }


def thinned(rejected: FloatArray, accuracy: FloatArray) -> dict[str, Any]:
    """Some points of a curve, evenly along the share that is refused."""
    wanted = np.linspace(0.0, rejected[-1], MOST_POINTS)
    kept = np.unique(np.minimum(np.searchsorted(rejected, wanted), len(rejected) - 1))
    return {"rejected": rejected[kept], "accuracy": accuracy[kept]}
