"""Sets for clusterings, with the clusters that their authors made, or that experts know.

They are read from the folder that PLAUSIBLE_DATA names. sipu/<name>.npz: points X (n, 2) and true
clusters y (n,), of P. Franti's group and others; evclust/fourclass.npz: the same;
evclust/protein.npz: dissimilarities D (213, 213) of proteins and their families y.
"""

from dataclasses import dataclass

from plausible.checks import check_option
from plausible.datasets.real import FloatArray, IntArray, read_arrays

SIPU_NAMES = (
    "a1", "a2", "a3", "aggregation", "birch1", "birch2", "d31", "r15", "s1", "s2", "s3", "s4",
    "unbalance",
)  # fmt: skip
CLUSTER_NAMES = (*SIPU_NAMES, "fourclass", "protein")


@dataclass(frozen=True)
class ClusterData:
    """What `load_clusters` returns: items, and the cluster of each.

    Attributes
    ----------
    metric : "euclidean" for points, "precomputed" where X are dissimilarities (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> ClusterData("two points", np.zeros((2, 2)), np.array([0, 1])).n_clusters
    2
    """

    name: str
    X: FloatArray
    y: IntArray
    metric: str = "euclidean"

    @property
    def n_clusters(self) -> int:
        """Number of true clusters."""
        return len(set(self.y.tolist()))


def load_clusters(name: str) -> ClusterData:
    """Load a set for clusterings.

    Parameters
    ----------
    name : {"a1", "a2", "a3", "aggregation", "birch1", "birch2", "d31", "r15", "s1", "s2", "s3", \
"s4", "unbalance", "fourclass", "protein"}

    Returns
    -------
    ClusterData

    Raises
    ------
    MissingDataError
        If the environment variable PLAUSIBLE_DATA is not set, or the file is not there.

    Examples
    --------
    >>> import os
    >>> from plausible.datasets import MissingDataError
    >>> folder = os.environ.pop("PLAUSIBLE_DATA", None)
    >>> try:
    ...     load_clusters("a1")
    ... except MissingDataError as error:
    ...     print(error)                         # doctest: +ELLIPSIS
    The set 'a1' should be in the file sipu/a1.npz of the folder that ...
    >>> if folder is not None:
    ...     os.environ["PLAUSIBLE_DATA"] = folder
    """
    check_option(name, CLUSTER_NAMES, "name")
    if name == "protein":
        given = read_arrays(name, "evclust/protein.npz", ("D", "y"))
        return ClusterData(name, given["D"].astype(float), given["y"].astype(int), "precomputed")
    folder = "evclust" if name == "fourclass" else "sipu"
    given = read_arrays(name, f"{folder}/{name}.npz", ("X", "y"))
    return ClusterData(name, given["X"].astype(float), given["y"].astype(int))
