"""Clusterings whose answer is a credal partition: mass functions on sets of clusters."""

from plausible.base import CredalPartition
from plausible.cluster.focal_sets import focal_sets_of

__all__ = [
    "CredalPartition",
    "focal_sets_of",
]
