r"""EVCLUS: masses on sets of clusters whose conflicts follow the dissimilarities of items.

The more two items differ, the more their masses should contradict each other. With the degree of
conflict :math:`\kappa_{ij} = \sum_{A \cap B = \emptyset} m_i(A) m_j(B)`, what is minimized is the
stress

.. math:: S = \sum_{i,j} (\kappa_{ij} - \delta_{ij})^2 \Big/ \sum_{i,j} \delta_{ij}^2, \qquad
          \delta_{ij} = 1 - e^{-\gamma d_{ij}^2},

over all pairs, or over k items drawn at random for each (k-EVCLUS), which is nearly as good and
takes a time in proportion to n k instead of n^2. Dissimilarities need not be a metric.

References
----------
T. Denoeux, M.-H. Masson, EVCLUS: evidential clustering of proximity data, IEEE Transactions on
Systems, Man and Cybernetics B 34 (2004) 95-109.
T. Denoeux, S. Sriboonchitta, O. Kanjanatarakul, Evidential clustering of large dissimilarity data,
Knowledge-Based Systems 106 (2016) 179-195.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags

from plausible.base import Clustered, CredalClustering, check_features, check_reach
from plausible.belief import SparseMasses
from plausible.checks import as_floats, check_number, check_option, check_whole, is_whole, shown
from plausible.cluster.dissimilarities import (
    check_metric,
    check_not_negative,
    check_square,
    is_given,
)
from plausible.cluster.evclus_gradient import fit_gradient
from plausible.cluster.evclus_pairs import (
    Proximity,
    Wanted,
    draw_others,
    scale_of,
    wanted_conflict,
    wanted_of_all,
    wanted_of_some,
)
from plausible.cluster.evclus_rows import (
    Fitted,
    Links,
    fit_rows,
    no_links,
    simplex_minimum,
    stress,
)
from plausible.cluster.focal_sets import FocalSets, focal_sets_of
from plausible.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SOLVERS = ("row", "gradient")
SHOWN_PAIRS = 10_000  # in a Shepard diagram
ENTRIES_AT_ONCE = 1 << 22
SAME_PLACE = 1e-6  # of the scale: distances below are rounding


def disjoint(sets: IntArray) -> FloatArray:
    """Table (F, F) that is one for sets with no cluster in common."""
    return ((sets[:, None] & sets) == 0).astype(np.float64)


def place(distances: FloatArray, against: FloatArray, scale: float) -> FloatArray:
    """Masses (m, F) of new items, by their dissimilarities (m, n) to the old."""
    everything = against.T @ against
    n_sets = len(everything)
    start = np.full(n_sets, 1.0 / n_sets)
    nearest = distances.argmin(axis=1)
    is_same = distances[np.arange(len(distances)), nearest] <= SAME_PLACE * scale
    masses = np.empty((len(distances), n_sets))
    for i, h in enumerate(wanted_conflict(distances, scale) @ against):
        own = against[nearest[i]]
        G = everything - np.outer(own, own) if is_same[i] else everything
        masses[i] = simplex_minimum(G, h, start)
    return masses


class EVCLUS(CredalClustering):
    """Masses whose conflicts follow the dissimilarities of items (EVCLUS, k-EVCLUS).

    Parameters
    ----------
    n_clusters : int
    focal_sets : {"pairs", "singletons", "all"} or list of sets
        Sets of clusters that items may have mass on; see `focal_sets_of`.
    n_dissimilarities : "all" or int
        All pairs of items, or this many others, drawn at random, for each item.
    scale : float, optional
        Dissimilarity d0 of two items whose conflict should be 0.95.
    quantile : float in (0, 1]
        Without `scale`, it is this quantile of the dissimilarities that are used.
    metric : str or function
        As in scikit-learn's `pairwise_distances`; "precomputed" for a table (n, n) of
        dissimilarities.
    metric_params : dict, optional
    init : "random", or array-like (n, F)
        Masses at the start.
    n_init : int
        Random starts, of which the one with the lowest stress is kept.
    solver : {"row", "gradient"}
        Row after row, each at its exact minimum; or L-BFGS on all masses at once, which is slower.
    tol : float
        A run ends when the stress falls by less than this share of it in a pass (or of 0.001, where
        it is lower than that).
    max_iter : int
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : int array (n,)
    partition_ : CredalPartition
    masses_ : array (n, F), focal_sets_ : int array (F,)
    objective_ : float
        The stress, and what constraints cost if there are any.
    stress_ : float
    scale_ : float
        The dissimilarity whose conflict should be 0.95.
    shepard_ : array (m, 3)
        For a Shepard diagram: dissimilarity, conflict that is wanted, and conflict of the masses,
        of at most 10,000 pairs, in order of their dissimilarity.
    history_ : array
        The objective at the start and after each pass. It never rises.
    n_iter_ : int, converged_ : bool

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [8.0], [9.0], [10.0], [5.0]]
    >>> found = EVCLUS(2, random_state=0).fit(X)
    >>> partition = found.partition_
    >>> partition.hard()[:3] == partition.hard()[0], partition.hard()[3:6] == partition.hard()[3]
    (array([ True,  True,  True]), array([ True,  True,  True]))
    >>> bool(partition.contour[6].min() > 0.4)  # both clusters are plausible for 5.0
    True
    """

    def __init__(
        self,
        n_clusters: int = 2,
        focal_sets: FocalSets = "pairs",
        n_dissimilarities: Any = "all",
        scale: float | None = None,
        quantile: float = 0.9,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        init: Any = "random",
        n_init: int = 3,
        solver: str = "row",
        tol: float = 1e-6,
        max_iter: int = 5000,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.focal_sets = focal_sets
        self.n_dissimilarities = n_dissimilarities
        self.scale = scale
        self.quantile = quantile
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    # -- Fitting -----------------------------------------------------------------------------------

    def _read(self, X: ArrayLike, reset: bool) -> Any:
        least = 2 if reset else 1
        data = check_features(self, X, dtype=np.float64, reset=reset, ensure_min_samples=least)
        if not reset:
            if is_given(self.metric):
                check_not_negative(data)
            return data
        self._check_parameters(len(data))
        check_reach(data)
        return check_square(data) if is_given(self.metric) else data

    def _check_parameters(self, n: int) -> None:
        check_whole(self.n_clusters, "n_clusters", 1)
        if n < self.n_clusters:
            raise InputError(
                f"There should be at least n_clusters={self.n_clusters} items",
                f"n_samples={n}",
                "give more items, or ask for fewer clusters",
                parameter="n_clusters",
                value=self.n_clusters,
            )
        check_option(self.solver, SOLVERS, "solver")
        check_metric(self.metric, self.metric_params)
        check_number(self.tol, "tol", 0.0)
        check_whole(self.max_iter, "max_iter", 1)
        for name, value in (("scale", self.scale), ("quantile", self.quantile)):
            high = 1.0 if name == "quantile" else np.inf
            is_given = value is not None or name == "quantile"
            if is_given and check_number(value, name, 0.0, high) == 0.0:
                raise InputError(
                    f"{name} should be positive",
                    "0 was given",
                    "leave it out, or give more",
                    parameter=name,
                    value=value,
                )
        k = self.n_dissimilarities
        if not (is_whole(k) or (isinstance(k, str) and k == "all")):
            raise InputError(
                "n_dissimilarities should be 'all', or a whole number of at least 1",
                f"{shown(self.n_dissimilarities)} was given",
                "give how many other items each is compared with",
                parameter="n_dissimilarities",
                value=self.n_dissimilarities,
            )

    def _best(self, data: Any, random: np.random.RandomState) -> Clustered:
        self.focal_sets_ = self._sets()
        self._items = Proximity(data, self.metric, self.metric_params)
        wanted = self._wanted(random)
        links = self._links(wanted)
        fits = [self._run(wanted, links, random) for _ in range(self._n_runs())]
        best = min(fits, key=lambda fit: float(fit.history[-1]))
        masses = SparseMasses(best.masses, self.focal_sets_, self.n_clusters)
        learned = self._learned(best.masses, wanted, random)
        offset = self._offset()
        history = best.history + offset
        return Clustered(masses, float(history[-1]), history, best.converged, learned)

    def _sets(self) -> IntArray:
        return focal_sets_of(self.focal_sets, self.n_clusters)

    def _n_runs(self) -> int:
        """Runs from given masses differ by the order of visits only: one is enough."""
        return int(self.n_init) if isinstance(self.init, str) else 1

    def _wanted(self, random: np.random.RandomState) -> Wanted:
        n = len(self._items)
        k = self.n_dissimilarities
        if isinstance(k, str) or check_whole(k, "n_dissimilarities", 1) >= n - 1:
            table = self._items.all()
            outside = table[~np.eye(n, dtype=bool)] if self.scale is None else table
            self.scale_ = self._scale(outside)
            return wanted_of_all(wanted_conflict(table, self.scale_))
        drawn = draw_others(n, int(k), random)
        distances = self._items.some(drawn)
        self.scale_ = self._scale(distances)
        return wanted_of_some(wanted_conflict(distances, self.scale_), drawn)

    def _scale(self, distances: FloatArray) -> float:
        return scale_of(distances, self.quantile) if self.scale is None else float(self.scale)

    def _links(self, wanted: Wanted) -> Links:
        """Linear terms beside the stress."""
        return no_links(wanted.n_items, len(self.focal_sets_))

    def _offset(self) -> float:
        """What the linear terms leave out."""
        return 0.0

    def _run(self, wanted: Wanted, links: Links, random: np.random.RandomState) -> Fitted:
        start = self._start(wanted.n_items, random)
        return self._minimized(start, wanted, links, random, float(self.tol))

    def _minimized(
        self,
        start: FloatArray,
        wanted: Wanted,
        links: Links,
        random: np.random.RandomState,
        tol: float,
    ) -> Fitted:
        C, most = disjoint(self.focal_sets_), int(self.max_iter)
        if self.solver == "gradient":
            return fit_gradient(start, C, wanted, links, tol, most)
        return fit_rows(start, C, wanted, links, random, tol, most)

    def _start(self, n: int, random: np.random.RandomState) -> FloatArray:
        n_sets = len(self.focal_sets_)
        if isinstance(self.init, str):
            check_option(self.init, ("random",), "init")
            return random.dirichlet(np.ones(n_sets), size=n)
        given = as_floats(self.init, "init")
        good = given.shape == (n, n_sets) and bool((given >= 0.0).all())
        if not (good and (np.abs(given.sum(axis=1) - 1.0) < 1e-6).all()):
            raise InputError(
                f"init should be 'random', or masses ({n}, {n_sets}) whose rows sum to one",
                f"{shown(self.init)} was given",
                "give a mass for each item and set of clusters",
                parameter="init",
            )
        return given / given.sum(axis=1, keepdims=True)

    def _learned(
        self, masses: FloatArray, wanted: Wanted, random: np.random.RandomState
    ) -> dict[str, Any]:
        C = disjoint(self.focal_sets_)
        against = masses @ C
        shepard = self._shepard(masses, against, wanted, random)
        return {
            "stress_": stress(masses, C, wanted),
            "shepard_": shepard,
            "_against": against,
        }

    def _shepard(
        self,
        masses: FloatArray,
        against: FloatArray,
        wanted: Wanted,
        random: np.random.RandomState,
    ) -> FloatArray:
        """Some of the pairs: dissimilarity, wanted conflict, conflict."""
        n = wanted.n_items
        if wanted.counts is None:
            row, column = np.triu_indices(n, 1)
        else:
            row = np.repeat(np.arange(n), np.diff(wanted.table.indptr))
            column = wanted.table.indices
            row, column = row[row < column], column[row < column]
        if len(row) > SHOWN_PAIRS:
            some = random.choice(len(row), SHOWN_PAIRS, replace=False)
            row, column = row[some], column[some]
        target = np.asarray(wanted.table[row, column]).ravel()
        conflict = np.einsum("pf,pf->p", against[row], masses[column])
        with np.errstate(divide="ignore"):
            apart = self.scale_ * np.sqrt(np.log1p(-target) / np.log(0.05))
        order = np.argsort(target, kind="stable")
        return np.column_stack([apart, target, conflict])[order]

    # -- New items ---------------------------------------------------------------------------------

    def _masses(self, X: FloatArray) -> SparseMasses:
        """Masses that would fit best, if the items that were there kept theirs.

        An item at the place of an old one is that one: it is not compared with itself.
        """
        size = max(1, ENTRIES_AT_ONCE // len(self._against))
        parts = [
            place(self._items.of_new(X[first : first + size]), self._against, self.scale_)
            for first in range(0, len(X), size)
        ]
        return SparseMasses(np.concatenate(parts), self.focal_sets_, self.n_clusters)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_given(self.metric)
        return tags
