"""Clusterings whose answer is a credal partition: mass functions on sets of clusters."""

from plausible.base import CredalPartition
from plausible.cluster.ecm import ECM
from plausible.cluster.eknnclus import EKNNClus
from plausible.cluster.evclus import EVCLUS
from plausible.cluster.focal_sets import focal_sets_of
from plausible.cluster.sparse_partition import SparsePartition

__all__ = [
    "ECM",
    "EVCLUS",
    "CredalPartition",
    "EKNNClus",
    "SparsePartition",
    "focal_sets_of",
]
