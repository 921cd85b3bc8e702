r"""How good a model is, in numbers, with intervals.

Rows are put into at most 200 groups at random, and groups are drawn with replacement: with one row
in each group this is the bootstrap, with more it costs no more (see `metrics.by_row`).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.labels import Labels
from plausible.metrics import (
    N_BINS,
    N_GROUPS,
    ConfidenceRows,
    curve_of,
    estimates,
    read_confidence,
    rejection_curve,
    sum_scores,
)
from plausible.models import Beliefs
from plausible.report.of_confusion import scores_by_class
from plausible.report.of_models import refusals

FloatArray = NDArray[np.float64]

MOST_POINTS = 60  # of the curve of rejection


def summarize_scores(
    truth: Labels, beliefs: Beliefs, n_bootstrap: int, seed: int, reject: float
) -> dict[str, Any]:
    """Scores with intervals, the calibration and what refusing gains, on test items.

    Rows that say nothing are left out; at least one row should say something.
    """
    counted = np.flatnonzero(truth.informativeness > 0)
    labels, answers = truth[counted], beliefs[counted]
    rng = np.random.default_rng(seed)
    groups = rng.permutation(len(counted)) % N_GROUPS
    found = estimates(sum_scores(labels, answers, groups), n_bootstrap, seed)
    rows = read_confidence(labels, answers, None, None)
    curve = rejection_curve(labels, answers.probability, classes=answers.classes)
    return {
        "n_items": len(truth),
        "n_counted": len(counted),
        "n_bootstrap": n_bootstrap,
        "scores": [{"score": name, **one._asdict()} for name, one in found.items()],
        "by_class": scores_by_class(labels, answers),
        "calibration": calibration(rows),
        "rejection": thinned(curve.rejected, curve.accuracy)
        | {"area": curve.area, "chosen": _chosen_refusal(answers, rows, reject)},
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
