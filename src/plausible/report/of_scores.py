r"""How good a model is, in numbers, with intervals.

Rows are put into at most 200 groups at random, and groups are drawn with replacement: with one row
in each group this is the bootstrap, with more it costs no more (see `metrics.by_row`).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.labels import Labels
from plausible.metrics import (
    N_BINS,
    N_GROUPS,
    confidences,
    estimates,
    read_probabilities,
    read_truth,
    rejection_curve,
    sum_scores,
)
from plausible.models import Beliefs
from plausible.report.of_confusion import scores_by_class
from plausible.report.of_models import refusals

FloatArray = NDArray[np.float64]

MOST_POINTS = 60  # of the curve of rejection


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
    found = confidences(told, p, N_BINS)
    return Bins(found.bin, found.confidence, found.right, told.weight)


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
    bins = _bin_rows(labels, answers)
    curve = rejection_curve(labels, answers.probability, classes=answers.classes)
    return {
        "n_items": len(truth),
        "n_counted": len(counted),
        "n_bootstrap": n_bootstrap,
        "scores": [{"score": name, **one._asdict()} for name, one in found.items()],
        "by_class": scores_by_class(labels, answers),
        "calibration": calibration(bins),
        "rejection": thinned(curve.rejected, curve.accuracy)
        | {"area": curve.area, "chosen": _chosen_refusal(answers, bins, reject)},
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
