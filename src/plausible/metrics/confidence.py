r"""Confidence against truth: whether a share c of the answers of confidence c is right.

The confidence of an answer is the probability :math:`p_i = \max_k p_{ik}` of its class, and it is
right by the credit :math:`c_i` that the truth gives to this class (see `plausible.metrics.truth`),
with the weight :math:`w_i` of the row. In a bin B of confidences

.. math:: \bar p_B = \frac{\sum_{i \in B} w_i p_i}{\sum_{i \in B} w_i}, \qquad
          \bar c_B = \frac{\sum_{i \in B} w_i c_i}{\sum_{i \in B} w_i},

which are the same where confidence is calibrated; the expected calibration error is the mean of
their differences :math:`|\bar p_B - \bar c_B|` by weight.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.checks import check_option, check_whole
from plausible.errors import InputError
from plausible.metrics.truth import (
    Classes,
    Credits,
    FloatArray,
    Prediction,
    Truth,
    classes_of,
    read_probabilities,
    read_truth,
)
from plausible.short_rows import row_max

MAX_BINS = 1 << 20
STRATEGIES = ("uniform", "quantile")


class ConfidenceRows(NamedTuple):
    """Of each row (n,) the confidence of its answer, how far it is right, and its weight."""

    confidence: FloatArray
    right: FloatArray
    weight: FloatArray

    def take(self, rows: NDArray[np.int64]) -> "ConfidenceRows":
        """Some of the rows."""
        return ConfidenceRows(*(column[rows] for column in self))

    def bins(self, n_bins: int) -> NDArray[np.int64]:
        """Which of the bins of equal width, closed to the right, each row is in."""
        places = np.ceil(self.confidence * n_bins).astype(np.int64) - 1
        return np.clip(places, 0, n_bins - 1)

    def gaps(self, n_bins: int) -> FloatArray:
        """Confidence less credit, summed by weight over each bin of equal width."""
        apart = self.weight * (self.confidence - self.right)
        return np.bincount(self.bins(n_bins), apart, minlength=n_bins).astype(np.float64)


def read_confidence(
    y_true: Truth, prediction: Prediction, sample_weight: ArrayLike | None, classes: Classes
) -> ConfidenceRows:
    """Confidence and credit of the most probable classes."""
    truth = read_truth(y_true, sample_weight, classes_of(prediction, classes))
    return confidence_of(truth, read_probabilities(prediction, truth.labels, classes))


def confidence_of(truth: Credits, p: FloatArray) -> ConfidenceRows:
    """The same of probabilities (n, K) in the order of the labels' classes."""
    right = np.take_along_axis(truth.credit, p.argmax(axis=1)[:, None], axis=1)[:, 0]
    return ConfidenceRows(row_max(p), right, truth.weight * truth.sample_weight)


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """How often answers are right, by how sure they are; bins without any are left out.

    Attributes
    ----------
    confidence : array (b,), mean confidence in each bin
    right : array (b,), mean credit of the answers in it
    weight : array (b,), of its rows
    low, high : arrays (b,), between which the confidences of the bin are

    Examples
    --------
    >>> curve = calibration_curve(["a", "b", "b"], [[0.9, 0.1], [0.7, 0.3], [0.1, 0.9]])
    >>> round(curve.error, 3)
    0.3
    """

    confidence: FloatArray
    right: FloatArray
    weight: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def error(self) -> float:
        """Mean gap by weight; with bins of equal width the `expected_calibration_error`."""
        return float(np.average(np.abs(self.confidence - self.right), weights=self.weight))


def calibration_curve(
    y_true: Truth,
    prediction: Prediction,
    n_bins: int = 10,
    sample_weight: ArrayLike | None = None,
    classes: Classes = None,
    strategy: str = "uniform",
) -> CalibrationCurve:
    """Share of right answers against their confidence, where the truth may be imprecise.

    Parameters
    ----------
    y_true : Labels, or all that `as_labels` takes
    prediction : as for `soft_log_loss`
    n_bins : int
    sample_weight, classes
        As for `soft_log_loss`. Rows that say nothing are left out.
    strategy : {"uniform", "quantile"}
        Bins of equal width, or of about equal weight.

    Returns
    -------
    CalibrationCurve

    Examples
    --------
    Four items, of which one is doubted; all answers are "a".

    >>> from plausible.labels import Labels
    >>> truth = Labels.from_doubt(["a", "a", "b", "b"], doubt=[0, 0, 0, 0.5])
    >>> curve = calibration_curve(truth, [[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.6, 0.4]])
    >>> curve.confidence, curve.right, curve.weight
    (array([0.6, 0.9]), array([0.        , 0.66666667]), array([0.5, 3. ]))
    """
    check_whole(n_bins, "n_bins", 1, MAX_BINS)
    check_option(strategy, STRATEGIES, "strategy")
    rows = read_confidence(y_true, prediction, sample_weight, classes)
    return curve_of(rows, n_bins, strategy)


def curve_of(rows: ConfidenceRows, n_bins: int, strategy: str = "uniform") -> CalibrationCurve:
    """The calibration curve of rows of which at least one counts."""
    if rows.weight.sum() == 0.0:
        raise InputError(
            "A calibration curve needs labels that say something",
            "none does",
            "label some items",
        )
    rows = rows.take(np.flatnonzero(rows.weight))
    if strategy == "uniform":
        edges = np.arange(n_bins + 1) / n_bins
        place = rows.bins(n_bins)
    else:
        edges = equal_shares(rows, n_bins)
        place = np.searchsorted(edges[1:-1], rows.confidence, side="left")
    size = len(edges) - 1
    weight, confidence, right = (
        np.bincount(place, values, minlength=size).astype(np.float64)
        for values in (rows.weight, rows.weight * rows.confidence, rows.weight * rows.right)
    )
    here = np.flatnonzero(weight)
    weight = weight[here]
    return CalibrationCurve(
        confidence[here] / weight, right[here] / weight, weight, edges[here], edges[here + 1]
    )


def equal_shares(rows: ConfidenceRows, n_bins: int) -> FloatArray:
    """Edges of bins of about equal weight; equal confidences stay together."""
    order = np.argsort(rows.confidence, kind="stable")
    reached = rows.weight[order].cumsum()
    wanted = reached[-1] * np.arange(1, n_bins) / n_bins
    place = np.minimum(np.searchsorted(reached, wanted * (1 - 1e-12)), len(order) - 1)
    inner = np.unique(rows.confidence[order][place])
    top = rows.confidence.max()
    return np.concatenate([[rows.confidence.min()], inner[inner < top], [top]])
