"""Scores against imprecise truth, and scorers for scikit-learn's model selection.

Every score takes `Labels` (or all that `as_labels` takes) as truth, and is the classical one on
hard labels. See `plausible.metrics.truth` for how imprecise truth counts.

Examples
--------
Six items in ten were never labeled. scikit-learn's accuracy counts their answers as wrong:

>>> import numpy as np
>>> from sklearn.metrics import accuracy_score
>>> from plausible.labels import Labels
>>> truth = Labels.from_crisp(["a", "b", "a", "b"] + [None] * 6, missing=None)
>>> answers = np.array(["a", "b", "a", "a"] + ["a", "b"] * 3)
>>> soft_accuracy(truth, answers), accuracy_score(truth, answers)
(0.75, 0.3)
"""

from plausible.metrics.by_row import Estimate
from plausible.metrics.confidence import CalibrationCurve, calibration_curve
from plausible.metrics.confusion import soft_confusion_matrix
from plausible.metrics.partitions import co_membership, credal_nonspecificity, credal_rand_index
from plausible.metrics.scorers import SCORERS, Scorer, get_scorer
from plausible.metrics.scores import (
    c1_loss,
    c1_losses,
    expected_calibration_error,
    generalized_log_likelihood,
    soft_accuracy,
    soft_brier_score,
    soft_log_loss,
)
from plausible.metrics.sets import (
    RejectionCurve,
    SetSizes,
    rejection_curve,
    set_coverage,
    set_imprecision,
    set_sizes,
    utility_discounted_accuracy,
)

# isort: split
# For the rooms above; not part of the public interface.
from plausible.metrics.by_row import CALIBRATION as CALIBRATION
from plausible.metrics.by_row import N_BINS as N_BINS
from plausible.metrics.by_row import N_GROUPS as N_GROUPS
from plausible.metrics.by_row import ScoreSums as ScoreSums
from plausible.metrics.by_row import estimates as estimates
from plausible.metrics.by_row import sum_scores as sum_scores
from plausible.metrics.confidence import ConfidenceRows as ConfidenceRows
from plausible.metrics.confidence import curve_of as curve_of
from plausible.metrics.confidence import read_confidence as read_confidence
from plausible.metrics.confusion import divided as divided
from plausible.metrics.confusion import expected_counts as expected_counts
from plausible.metrics.confusion import most_confused as most_confused
from plausible.metrics.confusion import normalized_counts as normalized_counts
from plausible.metrics.truth import read_probabilities as read_probabilities
from plausible.metrics.truth import read_truth as read_truth
from plausible.metrics.truth import read_weights as read_weights

__all__ = [
    "SCORERS",
    "CalibrationCurve",
    "Estimate",
    "RejectionCurve",
    "Scorer",
    "SetSizes",
    "c1_loss",
    "c1_losses",
    "calibration_curve",
    "co_membership",
    "credal_nonspecificity",
    "credal_rand_index",
    "expected_calibration_error",
    "generalized_log_likelihood",
    "get_scorer",
    "rejection_curve",
    "set_coverage",
    "set_imprecision",
    "set_sizes",
    "soft_accuracy",
    "soft_brier_score",
    "soft_confusion_matrix",
    "soft_log_loss",
    "utility_discounted_accuracy",
]
