"""Clusterings whose answer is a credal partition: mass functions on sets of clusters."""

from plausible.base import CredalPartition
from plausible.cluster.cecm import CECM
from plausible.cluster.cevclus import CEVCLUS
from plausible.cluster.ecm import ECM
from plausible.cluster.eknnclus import EKNNClus
from plausible.cluster.evclus import EVCLUS
from plausible.cluster.focal_sets import focal_sets_of
from plausible.cluster.neighborhoods import image_weights
from plausible.cluster.recm import RECM
from plausible.cluster.secm import SECM
from plausible.cluster.selection import ClusterCounts, select_n_clusters
from plausible.cluster.sparse_partition import SparsePartition

__all__ = [
    "CECM",
    "CEVCLUS",
    "ECM",
    "EVCLUS",
    "RECM",
    "SECM",
    "ClusterCounts",
    "CredalPartition",
    "EKNNClus",
    "SparsePartition",
    "focal_sets_of",
    "image_weights",
    "select_n_clusters",
]
