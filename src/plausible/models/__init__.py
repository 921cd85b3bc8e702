"""Estimators that learn from labels of any kind, in families."""

from plausible.base import Beliefs, EmptyClassWarning, FarPointWarning, believe
from plausible.models.calibration import EvidentialCalibratedClassifier
from plausible.models.centroid import SoftNearestCentroid
from plausible.models.ensemble import (
    SoftBaggingClassifier,
    SoftStackingClassifier,
    SoftVotingClassifier,
    cross_val_beliefs,
)
from plausible.models.gaussian import (
    DiscriminantClassifier,
    GaussianMixtureClassifier,
    SingularCovarianceWarning,
)
from plausible.models.logistic import (
    Evidence,
    PartialLogisticRegression,
    partial_label_loss,
    weights_of_evidence,
)
from plausible.models.supervision import (
    ComparedModel,
    Comparison,
    StochasticSupervisionClassifier,
    SupervisionWarning,
    compare_models,
    log_density,
)

# isort: split
# For the rooms above; not part of the public interface.
from plausible.models.learners import weighting as weighting

__all__ = [
    "Beliefs",
    "ComparedModel",
    "Comparison",
    "DiscriminantClassifier",
    "EmptyClassWarning",
    "Evidence",
    "EvidentialCalibratedClassifier",
    "FarPointWarning",
    "GaussianMixtureClassifier",
    "PartialLogisticRegression",
    "SingularCovarianceWarning",
    "SoftBaggingClassifier",
    "SoftNearestCentroid",
    "SoftStackingClassifier",
    "SoftVotingClassifier",
    "StochasticSupervisionClassifier",
    "SupervisionWarning",
    "believe",
    "compare_models",
    "cross_val_beliefs",
    "log_density",
    "partial_label_loss",
    "weights_of_evidence",
]
