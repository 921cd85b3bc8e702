r"""EK-NNclus: clusters by the evidence of neighbors, as many as there are.

Each of the K nearest neighbors of an item says that both are in one cluster, with mass
:math:`\alpha_{ij} = e^{-\gamma d_{ij}^2}`. Under all that is said, a partition with relation R (who
is with whom) has the plausibility

.. math:: \ln pl(R) = -\sum_{i < j} v_{ij} (1 - r_{ij}) = -E(S) + C, \qquad
          E(S) = -\sum_{i < j} v_{ij} r_{ij}, \quad v_{ij} = -\ln(1 - \alpha_{ij}).

Items move, one after the other, to the cluster that their neighbors make most plausible; the energy
E falls with every move, until no item wants to move. Clusters that lose all items are gone, so that
the number of clusters is found on the way. One cluster for all is always most plausible: what is
found is a local optimum near the start, at which every item has a cluster of its own.

References
----------
T. Denoeux, O. Kanjanatarakul, S. Sriboonchitta, EK-NNclus: a clustering procedure based on the
evidential K-nearest neighbor rule, Knowledge-Based Systems 88 (2015) 57-69.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags

from plausible.base import Clustered, CredalClustering, check_features
from plausible.checks import as_array, check_number, check_option, check_whole, is_whole, shown
from plausible.cluster.dissimilarities import (
    check_metric,
    check_not_negative,
    check_square,
    is_given,
)
from plausible.cluster.eknnclus_graph import (
    connected_parts,
    evidence_for_clusters,
    gamma_of_quantile,
    lists_as_table,
    rule_of_thumb,
    symmetric_graph,
)
from plausible.cluster.eknnclus_visits import settle
from plausible.cluster.sparse_partition import (
    SingleMasses,
    SparsePartition,
    best_of_evidence,
    masses_of_evidence,
)
from plausible.errors import InputError
from plausible.neighbors import Search, check_search

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class EKNNClus(CredalClustering):
    """Clusters by the evidence of neighbors; how many, the data say (EK-NNclus).

    Parameters
    ----------
    n_neighbors : int, optional
        Neighbors of each item that are asked, K in the paper; all others where there are fewer.
        More of them make fewer clusters. By default three times the square root of the number of
        items (the paper says two to three times), which suits clusters of at least as many.
    quantile : float in (0, 1]
        Without `gamma`, it is one over this quantile of the squared distances to the neighbors. A
        smaller one trusts near neighbors only, and makes more clusters.
    gamma : float, optional
        How fast trust in a neighbor falls with the squared distance.
    init : "n", int or array-like (n,)
        Clusters at the start: one for each item, a number of them at random, or given labels.
    n_init : int
        Runs, each with visits in another order; that with the lowest energy is kept. As one cluster
        for all has the lowest of all, several runs tend to find fewer clusters.
    metric : str or function
        As in scikit-learn's `NearestNeighbors`; "precomputed" for a table (n, n) of
        dissimilarities.
    metric_params : dict, optional
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "hnsw"}
        How neighbors are searched; "hnsw" finds nearly all of them, quickly, in many dimensions (it
        needs the package hnswlib).
    ann_options : dict, optional
        Of "hnsw": "M", "ef_construction", "ef".
    n_jobs : int, optional
    max_iter : int
        Most rounds of visits; some ten are enough.
    random_state : int, RandomState or None
        Draws the order of visits, and the start if it is random.

    Attributes
    ----------
    labels_ : int array (n,)
        Clusters, numbered as they first appear.
    n_clusters_ : int
    partition_ : SparsePartition
        What is believed about the items, each by its neighbors: mass on single clusters and on all.
    masses_ : csr array (n, c + 1)
        The same; few entries are not zero. The last column is the mass of all clusters.
    focal_sets_ : array (c + 1,)
        Bit masks of the sets; beyond 62 clusters they are whole numbers of Python.
    objective_ : float
        Energy E of the partition.
    log_plausibility_ : float
        Logarithm of its plausibility, -E + C.
    history_ : array
        Energy at the start and after each round.
    n_neighbors_ : int, gamma_ : float
    n_iter_ : int, converged_ : bool

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs([40, 60, 30], cluster_std=0.8, random_state=1)
    >>> found = EKNNClus(random_state=0).fit(X)
    >>> found.n_clusters_, np.bincount(found.labels_)
    (3, array([60, 30, 40]))
    >>> found.predict(X[:4]) == found.labels_[:4]
    array([ True,  True,  True,  True])
    """

    def __init__(
        self,
        n_neighbors: int | None = None,
        quantile: float = 0.9,
        gamma: float | None = None,
        init: Any = "n",
        n_init: int = 1,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        algorithm: str = "auto",
        ann_options: dict[str, Any] | None = None,
        n_jobs: int | None = None,
        max_iter: int = 500,
        random_state: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.quantile = quantile
        self.gamma = gamma
        self.init = init
        self.n_init = n_init
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.ann_options = ann_options
        self.n_jobs = n_jobs
        self.max_iter = max_iter
        self.random_state = random_state

    # -- Fitting -----------------------------------------------------------------------------------

    def _read(self, X: ArrayLike, reset: bool) -> Any:
        """Features or dissimilarities, checked; in fit, the graph of the items."""
        least = 2 if reset else 1
        data = check_features(self, X, dtype=np.float64, reset=reset, ensure_min_samples=least)
        if not reset:
            if is_given(self.metric):
                check_not_negative(data)
            return data
        self._check_parameters()
        data = check_square(data) if is_given(self.metric) else data
        return self._graph(data)

    def _check_parameters(self) -> None:
        check_search(self.algorithm, self.ann_options, self.n_jobs)
        check_metric(self.metric, self.metric_params)
        check_whole(self.max_iter, "max_iter", 1)
        if self.n_neighbors is not None:
            check_whole(self.n_neighbors, "n_neighbors", 1)
        if self.gamma is not None and check_number(self.gamma, "gamma", 0.0) == 0.0:
            raise InputError(
                "gamma should be a positive number, or None to take it from a quantile",
                "0 was given",
                "choose one over a typical squared distance",
                parameter="gamma",
                value=self.gamma,
            )
        if check_number(self.quantile, "quantile", 0.0, 1.0) == 0.0:
            raise InputError(
                "quantile should be positive, at most 1",
                "0 was given",
                "choose 0.9, or 0.5 for more clusters",
                parameter="quantile",
                value=self.quantile,
            )

    def _graph(self, data: FloatArray) -> Any:
        options = {
            "algorithm": self.algorithm,
            "metric": self.metric,
            "p": 2,
            "metric_params": self.metric_params,
            "n_jobs": self.n_jobs,
        }
        n = len(data)
        self._search = Search(data, options, self.ann_options or {})
        wanted = rule_of_thumb(n) if self.n_neighbors is None else int(self.n_neighbors)
        self.n_neighbors_ = min(wanted, n - 1)
        lists = self._search.others(self.n_neighbors_)
        self.gamma_ = (
            gamma_of_quantile(lists.squares, float(self.quantile))
            if self.gamma is None
            else float(self.gamma)
        )
        return symmetric_graph(lists, self.gamma_)

    def _start(self, n: int, random: np.random.RandomState) -> IntArray:
        """Labels at which visits begin."""
        if is_whole(self.init):
            return random.randint(check_whole(self.init, "init", 1), size=n).astype(np.int64)
        if isinstance(self.init, str):
            check_option(self.init, ("n",), "init")
            return np.arange(n)
        given = as_array(self.init, "init")
        if given.shape != (n,) or given.dtype.kind not in "biufU":
            raise InputError(
                f"init should be 'n', a number of clusters, or labels of the {n} items",
                f"{shown(self.init)} was given",
                "give a number or a text for each item",
                parameter="init",
                value=self.init,
            )
        return np.unique(given, return_inverse=True)[1].astype(np.int64)

    def _cluster(self, X: Any, random: np.random.RandomState) -> Clustered:
        settled = settle(X, self._start(X.shape[0], random), random, int(self.max_iter))
        labels = connected_parts(X, settled.labels)
        n_clusters = int(labels.max()) + 1
        masses: Any = masses_of_evidence(evidence_for_clusters(X, labels, n_clusters), labels)
        learned = {
            "n_clusters_": n_clusters,
            "log_plausibility_": -settled.history[-1] - 0.5 * float(X.data.sum()),
        }
        last = float(settled.history[-1])
        return Clustered(masses, last, settled.history, settled.converged, learned)

    # -- Answers -----------------------------------------------------------------------------------

    def _partition(self, masses: Any) -> SparsePartition:
        return SparsePartition(masses)

    def _keep_masses(self, masses: Any) -> None:
        """Nothing: they are in the partition, and made into tables when they are asked for."""

    @property
    def masses_(self) -> Any:
        """Masses, csr array (n, c + 1), of the items."""
        return self._fitted_partition("masses_").given.values

    @property
    def focal_sets_(self) -> NDArray[Any]:
        """Bit masks of the sets of clusters that masses are on."""
        return self._fitted_partition("focal_sets_").given.focal_sets

    def _fitted_partition(self, name: str) -> Any:
        if not hasattr(self, "partition_"):
            raise AttributeError(f"{name} is there after fit")
        return self.partition_

    def _masses(self, X: FloatArray) -> Any:
        k = min(self.n_neighbors_, len(self._search))
        lists = self._search.nearest(X, k)
        table = lists_as_table(lists, self.gamma_, len(self._search))
        evidence = evidence_for_clusters(table, self.labels_, self.n_clusters_)
        best = best_of_evidence(evidence, self.labels_[lists.neighbors[:, 0]])
        made: SingleMasses = masses_of_evidence(evidence, best)
        return made

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_given(self.metric)
        return tags
