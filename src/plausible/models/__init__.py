"""Estimators that learn from labels of any kind."""

from plausible.models.answers import FarPointWarning
from plausible.models.beliefs import Beliefs, believe
from plausible.models.calibration import EvidentialCalibratedClassifier
from plausible.models.centroid import SoftNearestCentroid
from plausible.models.comparison import ComparedModel, Comparison, compare_models, log_density
from plausible.models.criteria import partial_label_loss
from plausible.models.discriminant import DiscriminantClassifier
from plausible.models.estimation import EmptyClassWarning, SingularCovarianceWarning
from plausible.models.evidence import Evidence, weights_of_evidence
from plausible.models.logistic import PartialLogisticRegression
from plausible.models.mixture import GaussianMixtureClassifier
from plausible.models.stochastic import StochasticSupervisionClassifier
from plausible.models.supervision_checks import SupervisionWarning

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
    "SoftNearestCentroid",
    "StochasticSupervisionClassifier",
    "SupervisionWarning",
    "believe",
    "compare_models",
    "log_density",
    "partial_label_loss",
    "weights_of_evidence",
]
