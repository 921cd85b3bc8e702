"""Data of the papers: generators, and loaders of sets that are not bundled.

Examples
--------
>>> from plausible.datasets import make_doubtful_expert
>>> data = make_doubtful_expert(n=2000, doubt=0.6, random_state=0)
>>> float((data.expert != data.y).mean().round(2))     # doubt * (K - 1) / K = 0.3
0.29
"""

from plausible.datasets.crowds import CROWD_NAMES, CrowdData, load_crowd
from plausible.datasets.elicited import load_elicited
from plausible.datasets.graded import GRADED_NAMES, GradedData, load_graded
from plausible.datasets.images import IMAGE_NAMES, ImageData, load_images
from plausible.datasets.partial import PARTIAL_NAMES, PartialData, load_partial
from plausible.datasets.points import CLUSTER_NAMES, ClusterData, load_clusters
from plausible.datasets.pooling import (
    estimate_doubt,
    majority_vote,
    pool_plausibilities,
    pool_votes,
)
from plausible.datasets.real import NAMES, MissingDataError, RealData, load
from plausible.datasets.simulated import (
    Annotators,
    DoubtfulExpert,
    MissingLabels,
    make_annotators,
    make_doubtful_expert,
    make_missing_labels,
)
from plausible.datasets.split import SPLIT_NAMES, SplitData, load_split

# isort: split
# For the rooms above; not part of the public interface.
from plausible.datasets.real import VARIABLE as VARIABLE
from plausible.datasets.real import locate as locate

__all__ = [
    "CLUSTER_NAMES",
    "CROWD_NAMES",
    "GRADED_NAMES",
    "IMAGE_NAMES",
    "NAMES",
    "PARTIAL_NAMES",
    "SPLIT_NAMES",
    "Annotators",
    "ClusterData",
    "CrowdData",
    "DoubtfulExpert",
    "GradedData",
    "ImageData",
    "MissingDataError",
    "MissingLabels",
    "PartialData",
    "RealData",
    "SplitData",
    "estimate_doubt",
    "load",
    "load_clusters",
    "load_crowd",
    "load_elicited",
    "load_graded",
    "load_images",
    "load_partial",
    "load_split",
    "majority_vote",
    "make_annotators",
    "make_doubtful_expert",
    "make_missing_labels",
    "pool_plausibilities",
    "pool_votes",
]
