"""Estimators that learn from labels of any kind."""

from plausible.models.centroid import SoftNearestCentroid
from plausible.models.criteria import partial_label_loss
from plausible.models.discriminant import DiscriminantClassifier
from plausible.models.estimation import EmptyClassWarning, SingularCovarianceWarning
from plausible.models.logistic import PartialLogisticRegression
from plausible.models.mixture import GaussianMixtureClassifier

__all__ = [
    "DiscriminantClassifier",
    "EmptyClassWarning",
    "GaussianMixtureClassifier",
    "PartialLogisticRegression",
    "SingularCovarianceWarning",
    "SoftNearestCentroid",
    "partial_label_loss",
]
