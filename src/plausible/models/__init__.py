"""Estimators that learn from labels of any kind."""

from plausible.models.centroid import SoftNearestCentroid
from plausible.models.mixture import (
    EmptyClassWarning,
    GaussianMixtureClassifier,
    SmallClassWarning,
)

__all__ = [
    "EmptyClassWarning",
    "GaussianMixtureClassifier",
    "SmallClassWarning",
    "SoftNearestCentroid",
]
