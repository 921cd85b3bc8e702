r"""Evidential c-means: clusters with doubt between them, and outliers.

.. math:: J(M, V) = \sum_i \sum_{A \neq \emptyset} |A|^\alpha \, m_{iA}^\beta \,
          \lVert x_i - \bar v_A \rVert^2 + \sum_i \delta^2 \, m_{i\emptyset}^\beta

is minimized over masses and centers in turns; :math:`\bar v_A` is the mean of the centers of the
clusters in A.

References
----------
M.-H. Masson, T. Denoeux, ECM: an evidential version of the fuzzy c-means algorithm, Pattern
Recognition 41 (2008) 1384-1397.
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.base import Clustered, remember_features
from plausible.belief import SparseMasses
from plausible.checks import check_option, counted, random_from
from plausible.cluster.focal_sets import FocalSets
from plausible.cluster.kernels import (
    Focal,
    Prototypes,
    Sums,
    blocks,
    lifted,
    make_focal,
    masses_of,
    solve_prototypes,
    summarize,
)
from plausible.cluster.prototypes import (
    Problem,
    PrototypeClustering,
    Spread,
    largest_first,
    sparse_masses,
)
from plausible.cluster.starts import canonical_order, check_init, draw_items
from plausible.cluster.streams import (
    SAMPLE,
    as_rows,
    features_of,
    is_stream,
    look_over,
    summarize_stream,
)
from plausible.engine import ArrayRows, Callback, Columns, Rows
from plausible.errors import InputError

FloatArray = NDArray[np.float64]


RIDGE = 1e-10  # of the variance: keeps metrics of clusters on a line finite


def summarize_chunk(columns: Columns, starts: list[Prototypes], focal: Focal) -> list[Sums]:
    """Sums of a chunk of lifted items (and what is added to their distances) for each start."""
    rows, offset = columns
    assert rows is not None
    return [summarize(rows, offset, prototypes, focal) for prototypes in starts]


class State(NamedTuple):
    """Sums of a pass, and the prototypes that they were made with."""

    criterion: float
    sums: Sums
    prototypes: Prototypes


def with_ridge(sums: Sums, prototypes: Prototypes, ridge: float) -> State:
    """The criterion of a pass, with what keeps metrics finite."""
    metrics = prototypes.metrics
    cost = 0.0 if metrics is None else ridge * float(np.trace(metrics, axis1=1, axis2=2).sum())
    return State(sums.criterion - cost, sums, prototypes)


def solved(state: State, focal: Focal, ridge: float) -> Prototypes:
    """The next prototypes."""
    return solve_prototypes(state.sums, state.prototypes.metrics, focal, ridge)


class Items(NamedTuple):
    """Features (n, d), and what is added to all squared distances of an item (n,), if anything."""

    X: FloatArray
    offset: FloatArray | None


def ordered_rows(items: Items, middle: FloatArray) -> ArrayRows:
    """Items around their mean, lifted, in an order that does not depend on that of rows."""
    n_items, n_features = items.X.shape
    spread = np.empty(n_items)
    lifts = np.empty((n_items, n_features + 2))
    for block in blocks(n_items, n_features):
        centered = items.X[block] - middle
        np.einsum("ij,ij->i", centered, centered, out=spread[block])
    order = canonical_order(spread, tuple(items.X.T))
    offset = None if items.offset is None else items.offset[order]
    for block in blocks(n_items, n_features):
        part = None if offset is None else offset[block]
        lifts[block] = lifted(items.X[order[block]] - middle, part, None)
    return ArrayRows(lifts, offset)


class ECM(PrototypeClustering):
    r"""Evidential c-means.

    Each item has a mass function on sets of clusters: mass on one cluster says that it is there,
    mass on several that it lies between them, mass on none that it is far from all.

    Parameters
    ----------
    n_clusters : int
    cardinality_weight : float
        Alpha: the larger, the less mass goes to sets of several clusters.
    fuzzifier : float
        Beta, greater than 1: the nearer to 1, the nearer masses are to 0 and 1.
    outlier_distance : float or "auto"
        Delta: an item farther than this from all centers is rather an outlier. "auto" is twice the
        root of the total variance of the items; `outlier_distance_` is what was used.
    focal_sets : {"all", "pairs", "singletons"} or list of sets
        Sets of clusters that may have mass; see `focal_sets_of`. "all" is for at most 12 clusters.
    n_init : int
        Number of starts; the best result is kept.
    init : {"k-means++", "random"}, row numbers (n_clusters,) or centers (n_clusters, d)
        Where clusters start: at items far from each other, at any, or at those that are given, of
        which there is one start.
    tol : float
        Stop when the criterion falls by less than this part of the variance for each item.
    max_iter : int
    random_state : int, RandomState or None
    metric : {"euclidean", "adaptive"}
        "adaptive" learns a metric of determinant one for each cluster, as Gustafson and Kessel do,
        for clusters that are not round; that of a set is the mean of those of its clusters.
    verbose : int
        1 reports about once a second, 2 every iteration.
    callback : function of Progress, optional
        Called after each iteration, with the objective as `criterion`; a true answer stops the fit.

    Attributes
    ----------
    cluster_centers_ : array (n_clusters, d)
        The largest cluster first, unless `init` or `focal_sets` name clusters.
    metrics_ : array (n_clusters, d, d), None if Euclidean
    partition_ : CredalPartition
    masses_ : array (n, F), and focal_sets_ : int array (F,)
    labels_ : int array (n,)
    objective_ : float
        The criterion J.
    history_ : array (n_iter_ + 1,), n_iter_ : int, converged_ : bool
    outlier_distance_ : float

    Examples
    --------
    >>> X = [[0.0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [4.5, 4.5], [14, -4]]
    >>> model = ECM(2, outlier_distance=5, random_state=0).fit(X)
    >>> model.labels_[-1]
    np.int64(-1)
    >>> model.partition_.rough().upper[7]  # between the two
    array([ True,  True])
    >>> model.predict_mass([[3.0, 3.0]]).values.round(2)  # none, first, second, either
    array([[0.15, 0.31, 0.07, 0.47]])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        cardinality_weight: float = 1.0,
        fuzzifier: float = 2.0,
        outlier_distance: float | str = "auto",
        focal_sets: FocalSets = "all",
        n_init: int = 10,
        init: str | ArrayLike = "k-means++",
        tol: float = 1e-8,
        max_iter: int = 1000,
        random_state: Any = None,
        metric: str = "euclidean",
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.cardinality_weight = cardinality_weight
        self.fuzzifier = fuzzifier
        self.outlier_distance = outlier_distance
        self.focal_sets = focal_sets
        self.n_init = n_init
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.metric = metric
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like (n, d), `Rows` of the engine, or Dask collection
            Of rows that are not in memory, only what does not grow with their number is kept:
            there are no `masses_`, `partition_` and `labels_`; ask `predict_partition` for chunks.
        y : ignored

        Returns
        -------
        self
        """
        return self._fit_rows(as_rows(X)) if is_stream(X) else super().fit(X, y)

    def _fit_rows(self, rows: Rows) -> Self:
        """Centers of rows, wherever they are."""
        self._check_options()
        names, rows = rows.feature_names, rows.kept()
        seen = look_over(rows)
        remember_features(self, names, len(seen.middle))
        spread = Spread(seen.n_items, seen.variance)
        self._check_count(spread)
        focal = self._focal(spread)
        random = random_from(self.random_state)
        sample = Items(features_of(rows.sample(SAMPLE, random)), None)
        ridge = self._ridge(sample, spread)

        def summaries(starts: list[Prototypes]) -> list[State]:
            sums = rows.reduce(summarize_stream, starts, focal, seen.middle)
            return [with_ridge(*pair, ridge) for pair in zip(sums, starts, strict=True)]

        drawn = self._starts(sample.X, ordered_rows(sample, seen.middle), seen.middle, random)
        solve = partial(solved, focal=focal, ridge=ridge)
        found = self._minimized(Problem(summaries, solve, drawn, lambda best: best), spread)
        best = found.parameters
        if self._may_reorder:
            best = reordered(best, summaries([best])[0].sums, focal)
        self._forget()
        self.cluster_centers_, self.metrics_ = best.centers + seen.middle, best.metrics
        self.focal_sets_, self.objective_ = focal.sets, -found.criterion
        self.history_, self.n_iter_, self.converged_ = -found.history, found.n_iter, found.converged
        self._warn_if_unfinished(found.converged or self._was_stopped(found))
        return self

    def _forget(self) -> None:
        """What an earlier fit of items in memory left behind."""
        for name in ("partition_", "masses_", "labels_"):
            self.__dict__.pop(name, None)

    def _read(self, X: ArrayLike, reset: bool) -> Items:
        return Items(super()._read(X, reset), None)

    def _spread(self, data: Items) -> Spread:
        variance = float(data.X.var(axis=0).sum())
        return Spread(len(data.X), variance + (0.0 if data.offset is None else data.offset.mean()))

    def _problem(
        self, data: Items, focal: Focal, spread: Spread, random: np.random.RandomState
    ) -> Problem:
        middle = data.X.mean(axis=0)
        rows = ordered_rows(data, middle)
        ridge = self._ridge(data, spread)

        def summaries(starts: list[Prototypes]) -> list[State]:
            sums = rows.reduce(summarize_chunk, starts, focal)
            return [with_ridge(*pair, ridge) for pair in zip(sums, starts, strict=True)]

        return Problem(
            summarize=summaries,
            solve=partial(solved, focal=focal, ridge=ridge),
            starts=self._starts(data.X, rows, middle, random),
            conclude=lambda found: self._run(
                data, middle, self._reordered(found, rows, focal), focal
            ),
        )

    def _ridge(self, data: Items, spread: Spread) -> float:
        """What keeps metrics finite; refuses features of which metrics cannot be learned."""
        if self.metric == "euclidean":
            return 0.0
        n_items, n_features = data.X.shape
        rank = int(np.linalg.matrix_rank(data.X - data.X.mean(axis=0)))
        if rank < n_features:
            raise InputError(
                f"metric='adaptive' needs {n_features} features that do not follow from each other",
                f"they span {counted(rank, 'dimension')}",
                "leave out constant columns and sums of others, or use metric='euclidean'",
                parameter="metric",
                value=self.metric,
            )
        return RIDGE * n_items * spread.variance / n_features

    def _starts(
        self, X: FloatArray, rows: ArrayRows, middle: FloatArray, random: np.random.RandomState
    ) -> list[Prototypes]:
        """Prototypes to start from, around the mean of items."""
        init = check_init(self.init, self.n_clusters, *X.shape)
        if not isinstance(init, str):
            centers = [(X[init] if init.ndim == 1 else init) - middle]
        else:
            centers = drawn_centers(rows, self.n_clusters, init, self.n_init, random)
        if self.metric == "euclidean":
            return [Prototypes(one) for one in centers]
        round_ones = np.stack([np.eye(X.shape[1])] * self.n_clusters)
        return [Prototypes(one, round_ones) for one in centers]

    def _reordered(self, found: Prototypes, rows: ArrayRows, focal: Focal) -> Prototypes:
        """The largest cluster first, where numbers mean nothing yet."""
        if not self._may_reorder:
            return found
        (sums,) = rows.reduce(summarize_chunk, [found], focal)
        return reordered(found, sums, focal)

    def _run(self, data: Items, middle: FloatArray, found: Prototypes, focal: Focal) -> Clustered:
        """Masses of the items at the best prototypes."""
        values = masses_of(data.X, data.offset, found, focal, middle)
        learned = {"cluster_centers_": found.centers + middle, "metrics_": found.metrics}
        return Clustered(sparse_masses(values, focal), 0.0, learned=learned)

    def _masses(self, X: Items) -> SparseMasses:
        """Masses of new items at the centers that were found."""
        focal = make_focal(
            self.focal_sets_,
            len(self.cluster_centers_),
            self.cardinality_weight,
            self.fuzzifier,
            self.outlier_distance_,
        )
        middle = self.cluster_centers_.mean(axis=0)
        found = Prototypes(self.cluster_centers_ - middle, self.metrics_)
        return sparse_masses(masses_of(X.X, X.offset, found, focal, middle), focal)

    def _check_options(self) -> None:
        super()._check_options()
        check_option(self.metric, ("euclidean", "adaptive"), "metric")


def reordered(found: Prototypes, sums: Sums, focal: Focal) -> Prototypes:
    """The same clusters, the largest first."""
    order = largest_first(sums.weights, focal.averages)
    return Prototypes(found.centers[order], None if found.metrics is None else found.metrics[order])


def drawn_centers(
    rows: ArrayRows, n_clusters: int, kind: str, n_starts: int, random: np.random.RandomState
) -> list[FloatArray]:
    """Items to start at, as many times as there are starts."""
    lifts = rows.columns[0]
    assert lifts is not None
    items = lifts[:, 1:-1]

    def distances_to(item: int) -> FloatArray:
        apart = items - items[item]
        return np.asarray(np.einsum("ij,ij->i", apart, apart))

    return [
        items[draw_items(len(items), n_clusters, distances_to, kind, random)]
        for _ in range(n_starts)
    ]
