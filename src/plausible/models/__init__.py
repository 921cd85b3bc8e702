"""Estimators that learn from labels of any kind."""

from plausible.models.centroid import SoftNearestCentroid
from plausible.models.discriminant import DiscriminantClassifier
from plausible.models.estimation import EmptyClassWarning, SingularCovarianceWarning
from plausible.models.mixture import GaussianMixtureClassifier

__all__ = [
    "DiscriminantClassifier",
    "EmptyClassWarning",
    "GaussianMixtureClassifier",
    "SingularCovarianceWarning",
    "SoftNearestCentroid",
]
