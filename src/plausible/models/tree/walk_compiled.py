"""The way of rows down a tree, compiled; imported only when there are many rows and trees."""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray


def apply_compiled(tree: Any, X: NDArray[np.float64]) -> NDArray[np.int64]:
    """Leaf (n,) in which each row ends; see `Tree.apply`, which checks the tree first."""
    leaf = np.empty(len(X), dtype=np.int64)
    _apply(
        X,
        tree.children_left,
        tree.children_right,
        tree.feature,
        tree.threshold,
        tree.missing_go_to_left,
        leaf,
    )
    return leaf


_options: dict[str, Any] = {"no_cfunc_wrapper": True}  # a way in for C would be compiled too


@numba.njit(nogil=True, cache=True, **_options)
def _apply(X, left, right, feature, threshold, missing_left, leaf):  # type: ignore[no-untyped-def]  # pragma: no cover
    for i in range(len(X)):
        node = 0
        while feature[node] >= 0:
            value = X[i, feature[node]]
            if value <= threshold[node] or (value != value and missing_left[node]):
                node = left[node]
            else:
                node = right[node]
        leaf[i] = node
