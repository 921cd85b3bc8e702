r"""What EVCLUS wants: a conflict for each pair of items whose dissimilarity is used.

.. math:: \delta_{ij} = 1 - e^{-\gamma d_{ij}^2}, \qquad e^{-\gamma d_0^2} = 0.05,

with all pairs, or with k items drawn at random for each. A pair that both of its items drew counts
twice.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import pairwise_distances

from plausible.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CONFLICT_AT_SCALE = 0.95
ENTRIES_AT_ONCE = 1 << 22


class Proximity:
    """Items with a metric, or a table of dissimilarities between them.

    Parameters
    ----------
    items : array (n, d), or (n, n) if the metric is "precomputed"
    """

    def __init__(self, items: FloatArray, metric: Any, options: dict[str, Any] | None) -> None:
        self.items, self.metric, self.options = items, metric, options or {}

    def __len__(self) -> int:
        return len(self.items)

    @property
    def _is_table(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def all(self) -> FloatArray:
        """Dissimilarities (n, n) between all items."""
        if self._is_table:
            return self.items
        table = checked(pairwise_distances(self.items, metric=self.metric, **self.options))
        np.fill_diagonal(table, 0.0)
        return table

    def some(self, drawn: IntArray) -> FloatArray:
        """Dissimilarities (n, k) of each item to those that were drawn for it."""
        if self._is_table:
            return np.take_along_axis(self.items, drawn, axis=1)
        if self.metric == "euclidean" and not self.options:
            return euclidean(self.items, drawn)
        rows = [
            pairwise_distances(
                self.items[i : i + 1], self.items[near], metric=self.metric, **self.options
            )[0]
            for i, near in enumerate(drawn)
        ]
        return checked(np.array(rows))

    def to(self, i: int) -> FloatArray:
        """Dissimilarities (n,) of all items to one."""
        if self._is_table:
            return self.items[:, i]
        return self.of_new(self.items, self.items[i : i + 1])[:, 0]

    def of_new(self, X: FloatArray, items: FloatArray | None = None) -> FloatArray:
        """Dissimilarities (m, n) of new items to all."""
        if self._is_table:
            return X
        old = self.items if items is None else items
        return checked(pairwise_distances(X, old, metric=self.metric, **self.options))


def checked(distances: FloatArray) -> FloatArray:
    """Distances, unless a metric of somebody's own makes them negative or no numbers."""
    if not (distances >= 0.0).all():
        worst = distances[~(distances >= 0.0)].flat[0]
        raise InputError(
            "The metric should give dissimilarities that are not negative",
            f"it gave {worst:.6g}",
            "correct it",
            parameter="metric",
            value=worst,
        )
    return np.asarray(distances, dtype=np.float64)


def euclidean(X: FloatArray, drawn: IntArray) -> FloatArray:
    """Euclidean distances (n, k) of each row to those that were drawn for it."""
    distances = np.empty(drawn.shape)
    size = max(1, ENTRIES_AT_ONCE // max(drawn.shape[1] * X.shape[1], 1))
    for start in range(0, len(X), size):
        rows = slice(start, start + size)
        apart = X[drawn[rows]] - X[rows, None]
        distances[rows] = np.sqrt(np.square(apart).sum(axis=2))
    return distances


def draw_others(n: int, k: int, random: np.random.RandomState) -> IntArray:
    """For each of n items, k different others at random (n, k)."""
    drawn = np.sort(random.randint(n - 1, size=(n, k)), axis=1)
    repeated = np.flatnonzero((np.diff(drawn, axis=1) == 0).any(axis=1))
    for i in repeated:
        drawn[i] = np.sort(random.choice(n - 1, size=k, replace=False))
    return drawn + (drawn >= np.arange(n)[:, None])


def scale_of(distances: FloatArray, quantile: float) -> float:
    """A quantile of dissimilarities; where that is zero, the smallest that is not."""
    typical = float(np.quantile(distances, quantile))
    if typical > 0.0:
        return typical
    positive = distances[distances > 0.0]
    return float(positive.min()) if positive.size else 1.0


def wanted_conflict(distances: FloatArray, scale: float) -> FloatArray:
    """Conflict that items should have, by their dissimilarity: 0.95 at the scale."""
    with np.errstate(over="ignore"):
        return -np.expm1(np.log(1.0 - CONFLICT_AT_SCALE) * np.square(distances / scale))


class Wanted(NamedTuple):
    """Conflicts that pairs of items should have, each pair in both of its rows.

    table : array (n, n) of conflicts, or csr array of those that are used
    counts : how often each entry counts; None where every pair counts once
    total : sum of squares, by which the stress is divided
    """

    table: Any
    counts: FloatArray | None
    total: float

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self.table.shape[0])


def wanted_of_all(conflict: FloatArray) -> Wanted:
    """Conflicts (n, n) of all pairs."""
    np.fill_diagonal(conflict, 0.0)
    return Wanted(conflict, None, 0.5 * float(np.square(conflict).sum()) or 1.0)


def wanted_of_some(conflict: FloatArray, drawn: IntArray) -> Wanted:
    """Conflicts (n, k) of pairs that were drawn, in the rows of both items."""
    n, k = drawn.shape
    rows = np.repeat(np.arange(n), k)
    shape = (n, n)
    ones = np.ones(n * k)
    both = (np.concatenate([rows, drawn.ravel()]), np.concatenate([drawn.ravel(), rows]))
    counts = sparse.csr_array((np.concatenate([ones, ones]), both), shape=shape)
    values = np.concatenate([conflict.ravel(), conflict.ravel()])
    table = sparse.csr_array((values, both), shape=shape)
    for made in (counts, table):  # the same places in both: entries that are zero stay
        made.sum_duplicates()
    table.data /= counts.data
    total = float(np.square(conflict).sum()) or 1.0
    return Wanted(table, counts.data, total)
