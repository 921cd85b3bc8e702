r"""Approximate search for large data, by an index of the package hnswlib.

The index links each item to near ones in a few layers. It is filled in an order in which near items
follow each other, so that a walk along the links stays within few pages of memory, and new items
are looked up in such an order, too. Items drawn at random go first: filled cluster by cluster, an
index has no links between those that are far apart. The distances to what is found are computed
again in full precision, so that only the choice of neighbors is approximate.

References
----------
Y. Malkov, D. Yashunin, Efficient and robust approximate nearest neighbor search using hierarchical
navigable small world graphs, IEEE Transactions on Pattern Analysis and Machine Intelligence 42
(2020) 824-836.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.checks import shown
from plausible.engine import one_blas_thread
from plausible.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SPACES = {"minkowski": "l2", "euclidean": "l2", "l2": "l2", "cosine": "cosine"}
HNSW_OPTIONS = {"M": 24, "ef_construction": 150, "ef": 50, "build_threads": 1}
LEAST_CANDIDATES = 3  # for each neighbor that is asked for, whatever ef is
TOGETHER = 32  # items that are left in any order
ENTRIES_AT_ONCE = 1 << 16


def hnsw_index(X: FloatArray, options: dict[str, Any], hnsw: dict[str, Any]) -> Any:
    """An index of hnswlib; the same at any time if one thread builds it."""
    metric = options["metric"]
    if metric not in SPACES or options["p"] != 2:
        raise InputError(
            "algorithm='hnsw' should have the metric 'euclidean' or 'cosine'",
            f"metric={shown(metric)} with p={shown(options['p'])} was given",
            "choose {algorithm} for exact search",
            parameter="algorithm",
            value=metric,
            settings={"algorithm": "auto"},
        )
    try:
        import hnswlib
    except ImportError:
        raise ImportError(
            "algorithm='hnsw' needs the package hnswlib, which is not installed; run pip install "
            "'plausible[ann]', or choose algorithm='auto'."
        ) from None
    index = hnswlib.Index(SPACES[metric], X.shape[1])
    index.init_index(
        len(X), M=int(hnsw["M"]), ef_construction=int(hnsw["ef_construction"]), random_seed=0
    )
    order = order_of_entry(X)
    index.add_items(X[order], order, num_threads=int(hnsw["build_threads"]))
    return index


def ask_index(
    index: Any, X: FloatArray, k: int, options: dict[str, Any], hnsw: dict[str, Any]
) -> IntArray:
    """Numbers (n, k) of the items that the index takes for the nearest of each row."""
    index.set_ef(max(int(hnsw["ef"]), LEAST_CANDIDATES * k))
    order = near_together(X)
    neighbors = np.empty((len(X), k), dtype=np.int64)
    with one_blas_thread() as n_threads:  # as many as exact search takes
        n_threads = n_threads if options["n_jobs"] is None else int(options["n_jobs"])
        try:
            neighbors[order] = index.knn_query(X[order], k, num_threads=n_threads)[0]
        except RuntimeError:  # many copies of an item link to nothing but each other
            raise InputError(
                f"The approximate index should find {k} neighbors of each item",
                "it found fewer of some",
                "ask for fewer, raise M and ef of ann_options, or choose {algorithm} for exact "
                "search",
                parameter="n_neighbors",
                settings={"algorithm": "auto"},
            ) from None
    return neighbors


def order_of_entry(X: FloatArray) -> IntArray:
    """An order (n,) in which a tenth of the rows comes at random, and the others by nearness."""
    first = np.random.default_rng(0).permutation(len(X))[: -(-len(X) // 10)]
    others = near_together(X)
    return np.concatenate([first, others[~np.isin(others, first)]])


def near_together(X: FloatArray) -> IntArray:
    """An order (n,) in which near rows follow each other: halves along the widest feature."""
    parts = [np.arange(len(X))]
    found = []
    while parts:
        rows = parts.pop()
        if len(rows) <= TOGETHER:
            found.append(rows)
            continue
        near = X[rows]
        widest = near[:, np.ptp(near, axis=0).argmax()]
        half = len(rows) // 2
        split = rows[np.argpartition(widest, half)]
        parts += [split[half:], split[:half]]
    return np.concatenate(found)


def exact_squares(X: FloatArray, items: FloatArray, neighbors: IntArray, space: str) -> FloatArray:
    """Squared distances (n, k) of rows to their neighbors, in full precision."""
    squares = np.empty(neighbors.shape)
    rows = max(1, ENTRIES_AT_ONCE // (neighbors.shape[1] * X.shape[1]))
    if space == "cosine":
        X, items = _unit_length(X), _unit_length(items)
    for start in range(0, len(X), rows):
        part = slice(start, start + rows)
        near = items[neighbors[part]]
        if space == "cosine":
            squares[part] = np.square(1.0 - np.einsum("nd,nkd->nk", X[part], near))
        else:
            near -= X[part, None]
            squares[part] = np.einsum("nkd,nkd->nk", near, near)
    return squares


def _unit_length(X: FloatArray) -> FloatArray:
    """Rows divided by their length; zero stays zero."""
    length = np.sqrt(np.square(X).sum(axis=1, keepdims=True))
    return X / np.where(length > 0.0, length, 1.0)
