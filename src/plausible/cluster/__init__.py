"""Clusterings whose answer is a credal partition: mass functions on sets of clusters."""

from plausible.base import CredalPartition
from plausible.cluster.cecm import CECM
from plausible.cluster.ecm import ECM
from plausible.cluster.focal_sets import focal_sets_of
from plausible.cluster.neighborhoods import image_weights
from plausible.cluster.recm import RECM
from plausible.cluster.secm import SECM
from plausible.cluster.selection import ClusterCounts, select_n_clusters

__all__ = [
    "CECM",
    "ECM",
    "RECM",
    "SECM",
    "ClusterCounts",
    "CredalPartition",
    "focal_sets_of",
    "image_weights",
    "select_n_clusters",
]
