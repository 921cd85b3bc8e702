r"""How good a model is, in numbers, with intervals.

Rows are put into at most 200 groups at random. A score is a mean of the scores of the groups by
their weights, :math:`s = \sum_g w_g s_g / \sum_g w_g`, and groups are drawn with replacement: with
one row in each group this is the bootstrap, with more it costs no more.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.labels import Labels
from plausible.metrics import (
    ConfidenceRows,
    curve_of,
    read_confidence,
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
    rows = read_confidence(labels, answers, None, None)
    curve = rejection_curve(labels, answers.probability, classes=answers.classes)
    return {
        "n_items": len(truth),
        "n_counted": len(counted),
        "n_bootstrap": n_bootstrap,
        "scores": [
            *(_with_interval(name, labels, answers, groups, draws) for name in SCORES),
            _calibration_error(rows, groups, draws),
        ],
        "by_class": scores_by_class(labels, answers),
        "calibration": calibration(rows),
        "rejection": thinned(curve.rejected, curve.accuracy)
        | {"area": curve.area, "chosen": _chosen_refusal(answers, rows, reject)},
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
    rows: ConfidenceRows, groups: list[NDArray[np.int64]], draws: NDArray[np.int64]
) -> dict[str, Any]:
    parts = [rows.take(group) for group in groups]
    gaps = np.array([part.gaps(N_BINS) for part in parts])
    weight = np.array([part.weight.sum() for part in parts])
    resampled = np.abs(draws @ gaps).sum(axis=1) / (draws @ weight)
    found = curve_of(rows, N_BINS).error
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


def calibration(rows: ConfidenceRows) -> list[dict[str, Any]]:
    """Mean confidence and share of right answers of each bin that is not empty."""
    curve = curve_of(rows, N_BINS)
    columns = {
        "from": curve.low,
        "to": curve.high,
        "weight": curve.weight,
        "confidence": curve.confidence,
        "right": curve.right,
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _chosen_refusal(beliefs: Beliefs, rows: ConfidenceRows, reject: float) -> dict[str, Any]:
    """What refusing at this loss gains: the point of the curve that was chosen."""
    kept = ~refusals(beliefs, reject)
    weight = rows.weight[kept].sum()
    right = (rows.weight * rows.right)[kept].sum()
    return {
        "reject": reject,
        "n_refused": int((~kept).sum()),
        "rejected": 1 - weight / rows.weight.sum(),
        "accuracy": right / weight if weight > 0 else None,
    }


def thinned(rejected: FloatArray, accuracy: FloatArray) -> dict[str, Any]:
    """Some points of a curve, evenly along the share that is refused."""
    wanted = np.linspace(0.0, rejected[-1], MOST_POINTS)
    kept = np.unique(np.minimum(np.searchsorted(rejected, wanted), len(rejected) - 1))
    return {"rejected": rejected[kept], "accuracy": accuracy[kept]}
