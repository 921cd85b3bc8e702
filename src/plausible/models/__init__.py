"""Estimators that learn from labels of any kind."""

from plausible.base.beliefs import Beliefs, believe
from plausible.models.calibration.classifier import EvidentialCalibratedClassifier
from plausible.models.centroid import SoftNearestCentroid
from plausible.models.gaussian.discriminant import DiscriminantClassifier
from plausible.models.gaussian.estimator import EmptyClassWarning, SingularCovarianceWarning
from plausible.models.gaussian.mixture import GaussianMixtureClassifier
from plausible.models.logistic.criteria import partial_label_loss
from plausible.models.logistic.evidence import Evidence, weights_of_evidence
from plausible.models.logistic.regression import PartialLogisticRegression
from plausible.models.supervision.classifier import StochasticSupervisionClassifier
from plausible.models.supervision.comparison import (
    ComparedModel,
    Comparison,
    compare_models,
    log_density,
)
from plausible.models.supervision.weak_points import SupervisionWarning

__all__ = [
    "Beliefs",
    "ComparedModel",
    "Comparison",
    "DiscriminantClassifier",
    "EmptyClassWarning",
    "Evidence",
    "EvidentialCalibratedClassifier",
    "GaussianMixtureClassifier",
    "PartialLogisticRegression",
    "SingularCovarianceWarning",
    "SoftNearestCentroid",
    "StochasticSupervisionClassifier",
    "SupervisionWarning",
    "believe",
    "compare_models",
    "log_density",
    "partial_label_loss",
    "weights_of_evidence",
]
