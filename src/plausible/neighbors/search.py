r"""The nearest items, and those of an item among the others.

Exact search is scikit-learn's; ``"hnsw"`` is approximate (see `approximate`).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from plausible.checks import check_n_jobs, check_number, check_option, check_whole, shown
from plausible.errors import InputError
from plausible.neighbors.approximate import (
    HNSW_OPTIONS,
    SPACES,
    ask_index,
    exact_squares,
    hnsw_index,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ALGORITHMS = ("auto", "brute", "kd_tree", "ball_tree", "hnsw")
SHIFTABLE = ("minkowski", "euclidean", "l2")
FAR = 1e3  # from this many standard deviations off zero, squares of features lose digits
LARGEST_FEATURE, SMALLEST_SPREAD = 1e140, 1e-140
LARGEST_SINGLE = 1e15  # in single precision


class Lists(NamedTuple):
    """Neighbors of n items: numbers of training items, and squared distances, (n, k) each.

    Nearest first.
    """

    neighbors: IntArray
    squares: FloatArray

    def first(self, k: int) -> "Lists":
        """The k nearest of them."""
        return Lists(self.neighbors[:, :k], self.squares[:, :k])


class Search:
    """Training items in which neighbors are looked up.

    Parameters
    ----------
    options : dict
        Of scikit-learn's `NearestNeighbors`; its algorithm may also be "hnsw".
    hnsw : dict
        Options of the approximate index, which take the place of `HNSW_OPTIONS`.
    """

    def __init__(self, X: FloatArray, options: dict[str, Any], hnsw: dict[str, Any]) -> None:
        _check_scale(X)
        X = _in_safe_precision(X)
        self.options, self.hnsw = options, HNSW_OPTIONS | hnsw
        self.shift = _far_center(X, options)
        self.items = X if self.shift is None else (X - self.shift).astype(X.dtype, copy=False)
        self.index: Any = None
        self._built()

    def _built(self) -> Any:
        """The index of the items."""
        if self.index is None and self.options["algorithm"] == "hnsw":
            self.index = hnsw_index(self.items, self.options, self.hnsw)
        elif self.index is None:
            self.index = NearestNeighbors(**self.options).fit(self.items)
        return self.index

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"index": None}  # which is built again when it is needed

    def __len__(self) -> int:
        return len(self.items)

    def nearest(self, X: FloatArray, k: int) -> Lists:
        """The k nearest training items of each row."""
        X = _within_scale(X if self.shift is None else X - self.shift, self.items.dtype)
        if self.options["algorithm"] == "hnsw":
            return self._nearest_hnsw(X, k)
        distances, neighbors = self._built().kneighbors(X, k)
        return Lists(np.asarray(neighbors, dtype=np.int64), squared(distances))

    def others(self, k: int) -> Lists:
        """The k nearest other items of each training item."""
        if self.options["algorithm"] == "hnsw":
            return _without_self(self._nearest_hnsw(self.items, k + 1))
        distances, neighbors = self._built().kneighbors(None, k)
        return Lists(np.asarray(neighbors, dtype=np.int64), squared(distances))

    def _nearest_hnsw(self, X: FloatArray, k: int) -> Lists:
        neighbors = ask_index(self._built(), X, k, self.options, self.hnsw)
        squares = exact_squares(X, self.items, neighbors, SPACES[self.options["metric"]])
        order = np.argsort(squares, axis=1, kind="stable")
        return Lists(np.take_along_axis(neighbors, order, 1), np.take_along_axis(squares, order, 1))


def check_search(algorithm: Any, ann_options: Any, n_jobs: Any) -> None:
    """Refuse what no search could be made with."""
    check_option(algorithm, ALGORITHMS, "algorithm")
    check_n_jobs(n_jobs)
    if not (ann_options is None or isinstance(ann_options, dict)):
        raise InputError(
            "ann_options should be a dictionary of options of hnswlib, or None",
            f"{shown(ann_options)} was given",
            "leave it out, or write dict(ef=200)",
            parameter="ann_options",
            value=ann_options,
        )
    strange = sorted(set(ann_options or {}) - set(HNSW_OPTIONS), key=str)
    if strange:
        raise InputError(
            f"ann_options should be among {', '.join(HNSW_OPTIONS)}",
            f"{strange[0]!r} came",
            "leave it out",
            parameter="ann_options",
        )
    for name, value in (ann_options or {}).items():
        check_whole(value, name, 2 if name == "M" else 1)


def _check_scale(X: FloatArray) -> None:
    """Refuse features whose squared differences are beyond all numbers, or vanish."""
    spread = float(np.ptp(X, axis=0).max()) if float(np.abs(X).max()) <= LARGEST_FEATURE else np.inf
    if 0.0 < spread < SMALLEST_SPREAD or spread > LARGEST_FEATURE:
        raise InputError(
            f"Features should differ by {SMALLEST_SPREAD:g} to {LARGEST_FEATURE:g}, or squares of "
            "distances are no numbers",
            f"they reach {np.abs(X).max():.3g} and differ by at most {spread:.3g}",
            "scale them, with sklearn.preprocessing.StandardScaler",
            parameter="X",
        )


def _in_safe_precision(X: NDArray[Any]) -> NDArray[Any]:
    """Features in single precision as they are, unless squares of them would leave its range."""
    if X.dtype == np.float32 and float(np.abs(X).max()) > LARGEST_SINGLE:
        return X.astype(np.float64)
    return X


def _within_scale(X: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """New items in the precision of all items, or the search would leave its fast path.

    What lies beyond all items is moved to where distances are still numbers.
    """
    largest = LARGEST_SINGLE if dtype == np.float32 else LARGEST_FEATURE
    if float(np.abs(X).max()) > largest:
        X = np.clip(X, -largest, largest)
    return X.astype(dtype, copy=False)


def check_measure(metric: Any, p: Any) -> None:
    """Refuse what is no measure of distances; scikit-learn knows which names it has."""
    if not (isinstance(metric, str) or callable(metric)):
        raise InputError(
            "metric should be the name of a metric, or a function of two rows",
            f"{shown(metric)} was given",
            "leave it out, or write metric='manhattan'",
            parameter="metric",
            value=metric,
        )
    check_number(p, "p", 0.0)


def squared(distances: NDArray[Any]) -> FloatArray:
    """Squares of distances; beyond all numbers, infinite."""
    with np.errstate(over="ignore"):
        return np.square(distances, dtype=np.float64)


def _far_center(X: FloatArray, options: dict[str, Any]) -> FloatArray | None:
    """Mean of items that lie far from zero, where products of features lose digits."""
    if options["metric"] not in SHIFTABLE or options["p"] != 2:
        return None
    center = X.mean(axis=0, dtype=np.float64)
    spread = np.square(X - center).sum(axis=1).mean()
    return center if np.square(center).sum() > FAR**2 * spread else None


def _without_self(found: Lists) -> Lists:
    """Drop each item from its own list, or the last one where it was not found."""
    n, k = found.neighbors.shape
    own = found.neighbors == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True
    return Lists(found.neighbors[~own].reshape(n, k - 1), found.squares[~own].reshape(n, k - 1))
