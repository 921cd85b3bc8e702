"""Starts of prototype clusterings: items that are far from each other, or any.

Items are drawn by their places in an order that does not depend on the order of rows, from
distances alone: the same numbers give the same start for points and for their dissimilarities.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.checks import as_array, check_option
from plausible.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

STARTS = ("k-means++", "random")


def canonical_order(spread: FloatArray, ties: tuple[FloatArray, ...]) -> IntArray:
    """Row numbers by distance from the middle, then by what tells equals apart."""
    scale = spread.max(initial=0.0)
    coarse = np.round(spread / scale, 10) if scale > 0 else spread
    return np.lexsort((*ties, coarse))


def draw_items(
    n_items: int,
    n_clusters: int,
    distances_to: Callable[[int], FloatArray],
    kind: str,
    random: np.random.RandomState,
) -> IntArray:
    """Numbers of items at which the clusters start.

    "k-means++" draws items with a probability that is proportional to the squared distance from
    those that were drawn before, "random" draws any.
    """
    if kind == "random":
        return random.choice(n_items, n_clusters, replace=False)
    drawn = [int(random.randint(n_items))]
    nearest = distances_to(drawn[0])
    for _ in range(n_clusters - 1):
        reached = np.cumsum(nearest)
        u = random.uniform()
        if reached[-1] > 0:
            # Sums are rounded: what is a hair beyond the end is the end.
            item = min(int(np.searchsorted(reached, u * reached[-1], side="right")), n_items - 1)
        else:  # all items are where one was drawn
            item = int(u * n_items)
        drawn.append(item)
        nearest = np.minimum(nearest, distances_to(item))
    return np.array(drawn)


def check_init(init: Any, n_clusters: int, n_items: int, n_features: int | None) -> Any:
    """The name of a way to start, numbers of items (c,), or centers (c, p) where there are any."""
    if isinstance(init, str):
        check_option(init, STARTS, "init")
        return init
    given = as_array(init, "init")
    if given.ndim == 1 and given.dtype.kind in "iu" and len(given) == n_clusters:
        if len(np.unique(given)) == n_clusters and given.min() >= 0 and given.max() < n_items:
            return given.astype(np.int64)
    elif n_features is not None and given.shape == (n_clusters, n_features):
        centers = given.astype(np.float64)
        if np.isfinite(centers).all():
            return centers
    centers_too = "" if n_features is None else f", or centers ({n_clusters}, {n_features})"
    raise InputError(
        f"init should be 'k-means++', 'random', {n_clusters} different row numbers{centers_too}",
        f"has shape {given.shape} and type {given.dtype}",
        "give one start for each cluster",
        parameter="init",
        value=init,
    )
