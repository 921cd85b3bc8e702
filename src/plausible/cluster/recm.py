r"""Relational evidential c-means: ECM for items of which only dissimilarities are known.

If dissimilarities :math:`\Delta_{ij}` are squared distances of points, centers need no coordinates:
each is a weighted mean of items, :math:`v_k = \sum_i w_{ki} x_i`, and

.. math:: \lVert x_i - \bar v_A \rVert^2 = (\Delta \bar w_A)_i - \tfrac12 \bar w_A' \Delta \bar w_A,
          \qquad \bar w_A = \frac{1}{|A|} \sum_{k \in A} w_k,

so that all steps of ECM are taken as they are. Dissimilarities that belong to no points at all are
raised by the smallest constant that makes points of them; on these the criterion never rises.

References
----------
M.-H. Masson, T. Denoeux, RECM: relational evidential c-means algorithm, Pattern Recognition Letters
30 (2009) 1015-1026. V. Roth, J. Laub, M. Kawanabe, J. Buhmann, Optimal cluster preserving embedding
of nonmetric proximity data, IEEE PAMI 25 (2003) 1540-1551.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cholesky, eigh
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from plausible.base import Clustered, check_features, check_reach
from plausible.belief import SparseMasses
from plausible.checks import check_flag, check_option
from plausible.cluster.dissimilarities import check_not_negative, check_square
from plausible.cluster.focal_sets import FocalSets
from plausible.cluster.kernels import (
    TINY,
    Focal,
    blocks,
    gram_of,
    make_focal,
    masses_from,
    memberships_from,
    solve_symmetric,
    spent_weights,
)
from plausible.cluster.prototypes import (
    Problem,
    PrototypeClustering,
    Spread,
    largest_first,
    sparse_masses,
)
from plausible.cluster.starts import canonical_order, check_init, draw_items
from plausible.engine import Callback

FloatArray = NDArray[np.float64]

ENOUGH = 1e-9  # of the mean dissimilarity: a negative part below this is rounding


class Shares(NamedTuple):
    """Of a pass: the criterion with its sign turned, sums of weights, and each item's own.

    weights : (G,), sums of m^beta |A|^alpha, and items : (n, c), these in each cluster's center
    """

    criterion: float
    weights: FloatArray
    items: FloatArray


def squared_distances(D: FloatArray, mixed: FloatArray, level: FloatArray) -> FloatArray:
    """Distances (b, G) to weighted means of items, from dissimilarities to the centers."""
    return np.maximum(D @ mixed - level, TINY)


def half_spreads(to_centers: FloatArray, centers: FloatArray, averages: FloatArray) -> FloatArray:
    """Half of w' D w for the mean w of each set (G,); `to_centers` is D w for each center."""
    inner = centers @ to_centers
    return 0.5 * np.asarray(np.einsum("gk,kl,gl->g", averages, inner, averages))


def summarize_starts(D: FloatArray, starts: list[FloatArray], focal: Focal) -> list[Shares]:
    """Sums for each start; dissimilarities, which fill no cache, are read once for all of them."""
    to_centers = np.split(D @ np.concatenate(starts).T, len(starts), axis=1)
    return [
        summarize_relations(np.ascontiguousarray(part), centers, focal)
        for part, centers in zip(to_centers, starts, strict=True)
    ]


def summarize_relations(to_centers: FloatArray, centers: FloatArray, focal: Focal) -> Shares:
    """Criterion and weights of all items, block by block.

    `centers` (c, n) are means of items, `to_centers` (n, c) dissimilarities times these.
    """
    level = half_spreads(to_centers, centers, focal.averages)
    cost, weights = 0.0, np.zeros(len(focal.penalty))
    items = np.empty_like(to_centers)
    for block in blocks(len(to_centers), len(focal.penalty)):
        apart = squared_distances(to_centers[block], focal.averages.T, level)
        found = memberships_from(apart * focal.penalty, focal)
        cost += float(found.costs.sum())
        scale = found.costs / found.totals
        part = spent_weights(found, focal)
        part *= focal.penalty
        weights += scale @ part
        items[block] = scale[:, None] * (part @ focal.averages)
    return Shares(-cost, weights, items)


def next_means(shares: Shares, focal: Focal) -> FloatArray:
    """The next centers (c, n), as means of items."""
    return solve_symmetric(gram_of(shares.weights, focal.averages), shares.items.T)


def least_shift(D: FloatArray) -> float:
    """What must be added to squared dissimilarities of different items to make points of them."""
    n = len(D)
    means = D.mean(axis=0)
    inner = -0.5 * (D - means - means[:, None] + means.mean())
    slack = ENOUGH * max(float(means.mean()), TINY)
    lifted = inner.copy()
    lifted[np.diag_indices(n)] += slack
    try:
        cholesky(lifted, check_finite=False)
        return 0.0
    except LinAlgError:
        lowest = float(eigh(inner, eigvals_only=True, subset_by_index=[0, 0])[0])
        return max(-2.0 * lowest, 0.0) if lowest < -slack else 0.0


class RECM(PrototypeClustering):
    r"""Evidential c-means of items that are known by their dissimilarities.

    Parameters
    ----------
    n_clusters : int
    cardinality_weight : float
        Alpha: the larger, the less mass goes to sets of several clusters.
    fuzzifier : float
        Beta, greater than 1: the nearer to 1, the nearer masses are to 0 and 1.
    outlier_distance : float or "auto"
        Delta, a distance: its square is compared with squared dissimilarities. "auto" is twice the
        root of the total variance, half of their mean.
    focal_sets : {"all", "pairs", "singletons"} or list of sets
        Sets of clusters that may have mass; see `focal_sets_of`.
    metric : {"precomputed", "euclidean"}
        Whether dissimilarities (n, n) are given, or features (n, d), of which squared Euclidean
        distances are taken.
    squared : bool
        Whether given dissimilarities are squares, as squared Euclidean distances are (RECM is then
        ECM); else they are squared first. Neither need be a metric.
    n_init : int
        Number of starts; the best result is kept.
    init : {"k-means++", "random"} or row numbers (n_clusters,)
        Items at which clusters start.
    tol : float
        Stop when the criterion falls by less than this part of the variance for each item, however
        many there are.
    max_iter : int
    random_state : int, RandomState or None
    verbose : int
        1 reports about once a second, 2 every iteration.
    callback : function of Progress, optional
        Called after each iteration, with the objective as `criterion`; a true answer stops the fit.

    Attributes
    ----------
    center_weights_ : array (n_clusters, n)
        Centers as weighted means of the items.
    shift_ : float
        What was added to squared dissimilarities of different items that belong to no points; 0 if
        they do.
    partition_ : CredalPartition
    masses_ : array (n, F), and focal_sets_ : int array (F,)
    labels_ : int array (n,)
    objective_ : float
    history_ : array (n_iter_ + 1,), n_iter_ : int, converged_ : bool
    outlier_distance_ : float

    Examples
    --------
    >>> from scipy.spatial.distance import cdist
    >>> X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [8, 8], [8, 9], [9, 8], [14, -4]])
    >>> model = RECM(2, outlier_distance=5, random_state=0).fit(cdist(X, X, "sqeuclidean"))
    >>> model.labels_
    array([ 0,  0,  0,  0,  1,  1,  1, -1])
    >>> model.predict(cdist([[0.5, 2.0]], X, "sqeuclidean"))  # dissimilarities to the items
    array([0])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        cardinality_weight: float = 1.0,
        fuzzifier: float = 2.0,
        outlier_distance: float | str = "auto",
        focal_sets: FocalSets = "all",
        metric: str = "precomputed",
        squared: bool = True,
        n_init: int = 10,
        init: str | ArrayLike = "k-means++",
        tol: float = 1e-8,
        max_iter: int = 1000,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.cardinality_weight = cardinality_weight
        self.fuzzifier = fuzzifier
        self.outlier_distance = outlier_distance
        self.focal_sets = focal_sets
        self.metric = metric
        self.squared = squared
        self.n_init = n_init
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _read(self, X: ArrayLike, reset: bool) -> FloatArray:
        """Squared dissimilarities of items to those that were there (in fit, to each other)."""
        check_option(self.metric, ("precomputed", "euclidean"), "metric")
        check_flag(self.squared, "squared")
        least = 2 if reset else 1
        data = check_features(self, X, dtype=np.float64, reset=reset, ensure_min_samples=least)
        if reset:
            check_reach(data)
        if self.metric == "euclidean":
            if reset:
                self._items = data
            return cdist(data, self._items, "sqeuclidean")
        if reset:
            data = check_square(data)
        else:
            check_not_negative(data)
        return data if self.squared else data**2

    def _spread(self, data: FloatArray) -> Spread:
        return Spread(len(data), 0.5 * float(data.mean()))

    def _problem(
        self, data: FloatArray, focal: Focal, spread: Spread, random: np.random.RandomState
    ) -> Problem:
        init = check_init(self.init, self.n_clusters, len(data), None)
        self.shift_ = least_shift(data)
        far = data.sum(axis=0)
        order = canonical_order(far, (np.sqrt(data).sum(axis=0), (data**2).sum(axis=0)))
        D = data[np.ix_(order, order)]
        if self.shift_:
            D += self.shift_
            np.fill_diagonal(D, 0.0)
        items = np.eye(len(D))
        if isinstance(init, str):
            drawn = [
                draw_items(len(D), self.n_clusters, lambda item: D[item], init, random)
                for _ in range(self.n_init)
            ]
        else:
            drawn = [np.argsort(order)[init]]
        return Problem(
            summarize=lambda starts: summarize_starts(D, starts, focal),
            solve=partial(next_means, focal=focal),
            starts=[items[one] for one in drawn],
            conclude=lambda centers: self._run(D, np.argsort(order), centers, focal),
        )

    def _run(
        self, D: FloatArray, place: NDArray[np.int64], centers: FloatArray, focal: Focal
    ) -> Clustered:
        """Masses of the items at the best centers, in the order in which items came."""
        if self._may_reorder:
            (found,) = summarize_starts(D, [centers], focal)
            centers = centers[largest_first(found.weights, focal.averages)]
        level = half_spreads(D @ centers.T, centers, focal.averages)
        values = masses_of_relations(D, centers, level, focal)[place]
        learned = {"center_weights_": centers[:, place], "half_spreads_": level}
        return Clustered(sparse_masses(values, focal), 0.0, learned=learned)

    def _masses(self, X: FloatArray) -> SparseMasses:
        """Masses of new items; one that is no different from an item that was there is it."""
        check_is_fitted(self)
        focal = make_focal(
            self.focal_sets_,
            len(self.center_weights_),
            self.cardinality_weight,
            self.fuzzifier,
            self.outlier_distance_,
        )
        D = np.where(X > 0.0, X + self.shift_, 0.0) if self.shift_ else X
        values = masses_of_relations(D, self.center_weights_, self.half_spreads_, focal)
        return sparse_masses(values, focal)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def masses_of_relations(
    D: FloatArray, centers: FloatArray, level: FloatArray, focal: Focal
) -> FloatArray:
    """Masses (m, F) of items with dissimilarities (m, n) to the items that centers are means of."""
    to_centers = D @ centers.T
    out = np.empty((len(D), len(focal.sets)))
    for block in blocks(len(D), len(focal.penalty)):
        apart = squared_distances(to_centers[block], focal.averages.T, level)
        masses_from(memberships_from(apart * focal.penalty, focal), focal, out[block])
    return out
