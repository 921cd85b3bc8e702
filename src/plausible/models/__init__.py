"""Estimators that learn from labels of any kind."""

from plausible.models.centroid import SoftNearestCentroid

__all__ = ["SoftNearestCentroid"]
