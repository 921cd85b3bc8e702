"""Sets of clusters that items may have mass on: all of them, or few enough for many clusters."""

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.belief import full_set
from plausible.checks import as_list, check_option, check_whole, is_whole, shown
from plausible.errors import InputError

IntArray = NDArray[np.int64]
FocalSets = str | Iterable[int] | Iterable[Iterable[int]]

MOST_FOR_ALL = 12  # clusters of which all sets are taken; 2^12 masses for each item are many
MOST_CLUSTERS = 62  # a set must fit a signed 64-bit integer
KINDS = ("all", "pairs", "singletons")


def focal_sets_of(given: Any, n_clusters: int) -> IntArray:
    """Sets of clusters as bit masks: the empty set first, then by their sizes.

    Parameters
    ----------
    given : {"all", "pairs", "singletons"} or list of sets
        "all": every set of clusters. "pairs": the empty set, single clusters, pairs, and all
        clusters together. "singletons": the same without the pairs. A list names sets by the
        numbers of their clusters or as bit masks.
    n_clusters : int

    Examples
    --------
    >>> focal_sets_of("pairs", 3)
    array([0, 1, 2, 4, 3, 5, 6, 7])
    >>> focal_sets_of([[], [0], [1], [2], [0, 2]], 3)
    array([0, 1, 2, 4, 5])
    """
    check_whole(n_clusters, "n_clusters", 1, MOST_CLUSTERS)
    if not isinstance(given, str):
        return _listed(given, n_clusters)
    check_option(given, KINDS, "focal_sets")
    if given == "all":
        if n_clusters > MOST_FOR_ALL:
            raise InputError(
                f"focal_sets='all' should be used for at most {MOST_FOR_ALL} clusters",
                f"{n_clusters} clusters would need 2^{n_clusters} masses for each item",
                "use focal_sets='pairs' or 'singletons', or list the sets",
                parameter="focal_sets",
                value=given,
            )
        return _ordered(range(1 << n_clusters))
    singles = [1 << k for k in range(n_clusters)]
    pairs = [a | b for a, b in combinations(singles, 2)] if given == "pairs" else []
    return _ordered({0, *singles, *pairs, full_set(n_clusters)})


def _listed(given: Any, n_clusters: int) -> IntArray:
    """Sets that were listed, each once; every cluster must be in one."""
    masks = [_mask(one, n_clusters) for one in as_list(given, "focal_sets", "sets of clusters")]
    if len(set(masks)) < len(masks):
        raise InputError(
            "focal_sets should be different sets of clusters",
            "one is listed twice",
            "list each once",
            parameter="focal_sets",
        )
    union = int(np.bitwise_or.reduce(masks)) if masks else 0
    absent = [k for k in range(n_clusters) if not union >> k & 1]
    if absent:
        raise InputError(
            "Every cluster should be in one of the focal_sets",
            f"cluster {absent[0]} is in none",
            f"add [{absent[0]}], or ask for fewer clusters",
            parameter="focal_sets",
        )
    return _ordered(masks)


def _mask(one: Any, n_clusters: int) -> int:
    """A set of clusters, given as a bit mask or by the numbers of its clusters."""
    members: list[Any] = [one] if is_whole(one) else [None]
    if isinstance(one, Iterable) and not isinstance(one, str):
        members = list(one)
    limit = 1 << n_clusters if is_whole(one) else n_clusters
    if not all(is_whole(k) and 0 <= k < limit for k in members):
        raise InputError(
            f"focal_sets should hold sets of the clusters 0 to {n_clusters - 1}",
            f"{shown(one)} was found",
            "write [0, 1] for the first two clusters, [] for none of them",
            parameter="focal_sets",
            value=one,
        )
    if is_whole(one):
        return int(one)
    return int(sum({1 << int(k) for k in members}))


def _ordered(masks: Iterable[int]) -> IntArray:
    """Sets by size, then by number."""
    return np.array(sorted(masks, key=lambda mask: (mask.bit_count(), mask)), dtype=np.int64)
