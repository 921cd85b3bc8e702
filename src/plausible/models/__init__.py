"""Estimators that learn from labels of any kind, in families."""

from plausible.base import (
    Beliefs,
    EmptyClassWarning,
    FarPointWarning,
    SharpenedLabelsWarning,
    believe,
)
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
    UnlabeledRowsWarning,
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
    "SharpenedLabelsWarning",
    "SingularCovarianceWarning",
    "SoftBaggingClassifier",
    "SoftNearestCentroid",
    "SoftStackingClassifier",
    "SoftVotingClassifier",
    "StochasticSupervisionClassifier",
    "SupervisionWarning",
    "UnlabeledRowsWarning",
    "believe",
    "compare_models",
    "cross_val_beliefs",
    "log_density",
    "partial_label_loss",
    "weights_of_evidence",
]
