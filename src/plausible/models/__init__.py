"""Estimators that learn from labels of any kind."""

from plausible.models.centroid import SoftNearestCentroid
from plausible.models.discriminant import DiscriminantClassifier
from plausible.models.estimation import EmptyClassWarning, SingularCovarianceWarning
from plausible.models.evidence import Evidence, weights_of_evidence
from plausible.models.mixture import GaussianMixtureClassifier

__all__ = [
    "DiscriminantClassifier",
    "EmptyClassWarning",
    "Evidence",
    "GaussianMixtureClassifier",
    "SingularCovarianceWarning",
    "SoftNearestCentroid",
    "weights_of_evidence",
]
