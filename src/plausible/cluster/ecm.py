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
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from plausible.base import Clustered
from plausible.belief import SparseMasses
from plausible.cluster.focal_sets import FocalSets
from plausible.cluster.kernels import Focal, Sums, make_focal, masses_of, solve_centers, summarize
from plausible.cluster.prototypes import (
    Problem,
    PrototypeClustering,
    Spread,
    largest_first,
    sparse_masses,
)
from plausible.cluster.starts import canonical_order, check_init, draw_items
from plausible.engine import ArrayRows, Columns

FloatArray = NDArray[np.float64]


def summarize_chunk(columns: Columns, starts: list[FloatArray], focal: Focal) -> list[Sums]:
    """Sums of a chunk of items (and what is added to their squared distances) for each start."""
    X, offset = columns
    assert X is not None
    return [summarize(X, offset, centers, focal) for centers in starts]


def solved(sums: Sums, focal: Focal) -> FloatArray:
    """The next centers."""
    return solve_centers(sums.weights, sums.points, focal.averages)


def ordered_rows(X: FloatArray, middle: FloatArray, offset: FloatArray | None) -> ArrayRows:
    """Items around their mean, in an order that does not depend on that of rows."""
    centered = X - middle
    spread = np.einsum("ij,ij->i", centered, centered)
    order = canonical_order(spread, tuple(X.T))
    return ArrayRows(centered[order], None if offset is None else offset[order])


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
        Delta: an item farther than this from all centers is rather an outlier. "auto" is the root
        of the mean squared distance of two items; `outlier_distance_` is what was used.
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

    Attributes
    ----------
    cluster_centers_ : array (n_clusters, d)
        The largest cluster first, unless `init` or `focal_sets` name clusters.
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

    def _offset(self, X: FloatArray) -> FloatArray | None:
        """What is added to the squared distances of each item."""
        return None

    def _spread(self, data: FloatArray) -> Spread:
        return Spread(len(data), float(data.var(axis=0).sum()))

    def _problem(
        self, data: FloatArray, focal: Focal, spread: Spread, random: np.random.RandomState
    ) -> Problem:
        middle = data.mean(axis=0)
        rows = ordered_rows(data, middle, self._offset(data))
        return Problem(
            summarize=lambda starts: rows.reduce(summarize_chunk, starts, focal),
            solve=partial(solved, focal=focal),
            starts=self._starts(data, rows, middle, random),
            conclude=lambda centers: self._run(data, rows, middle, centers, focal),
        )

    def _starts(
        self, data: FloatArray, rows: ArrayRows, middle: FloatArray, random: np.random.RandomState
    ) -> list[FloatArray]:
        """Centers to start from, around the mean of items."""
        init = check_init(self.init, self.n_clusters, *data.shape)
        if not isinstance(init, str):
            return [(data[init] if init.ndim == 1 else init) - middle]
        items = rows.columns[0]
        assert items is not None

        def distances_to(item: int) -> FloatArray:
            apart = items - items[item]
            return np.asarray(np.einsum("ij,ij->i", apart, apart))

        return [
            items[draw_items(len(items), self.n_clusters, distances_to, init, random)]
            for _ in range(self.n_init)
        ]

    def _run(
        self,
        data: FloatArray,
        rows: ArrayRows,
        middle: FloatArray,
        centers: FloatArray,
        focal: Focal,
    ) -> Clustered:
        """Masses of the items at the best centers."""
        if self._may_reorder:
            (sums,) = rows.reduce(summarize_chunk, [centers], focal)
            centers = centers[largest_first(sums.weights, focal.averages)]
        offset = self._offset(data)
        masses = sparse_masses(masses_of(data - middle, offset, centers, focal), focal)
        learned = {"cluster_centers_": centers + middle}
        return Clustered(masses, 0.0, learned=learned)

    def _masses(self, X: FloatArray) -> SparseMasses:
        """Masses of new items at the centers that were found."""
        check_is_fitted(self)
        focal = make_focal(
            self.focal_sets_,
            len(self.cluster_centers_),
            self.cardinality_weight,
            self.fuzzifier,
            self.outlier_distance_,
        )
        middle = self.cluster_centers_.mean(axis=0)
        return sparse_masses(
            masses_of(X - middle, self._offset(X), self.cluster_centers_ - middle, focal), focal
        )
