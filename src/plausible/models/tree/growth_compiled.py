"""The growth of `growth` compiled: the same splits, and one core for each tree.

numba is imported in `growth_kernels` and `walk_compiled` only, and they only when there is enough
work: the first use on a machine compiles for some seconds, later ones load from the cache of
numba.
"""

import numpy as np
from numpy.typing import NDArray

from plausible.models.tree.growth import Grown, Settings
from plausible.models.tree.growth_kernels import BETS, BLOCK, DEPTH, FIRST, LAST, MEMBERS, grow
from plausible.models.tree.problem import Features, Knowledge
from plausible.models.tree.structure import LEAF

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

N_WHOLE, N_REAL = 10, 3  # numbers of a node: whole ones and real ones


def grow_compiled(
    features: Features, knowledge: Knowledge, weight: FloatArray, settings: Settings, seed: int
) -> Grown:
    """Grow a tree; see `growth.grow_numpy`."""
    masses, (n_sets, n_classes) = knowledge.masses, knowledge.inside.shape
    start = masses.indptr.astype(np.int64)
    sets = np.zeros((3, n_sets + 1), np.int64)
    sets[MEMBERS, 1:] = np.cumsum(knowledge.sizes)
    rows = np.flatnonzero(weight > 0.0).astype(np.int32)
    n_most = max(2 * len(rows) - 1, 1)
    nodes, reals = np.empty((n_most, N_WHOLE), np.int64), np.empty((n_most, N_REAL))
    n_nodes = grow(
        features.codes,
        features.n_levels,
        rows,
        seed,
        start,
        masses.indices.astype(np.int64),
        masses.data * np.repeat(weight, np.diff(start)),
        np.ascontiguousarray(weight),
        sets,
        np.nonzero(knowledge.inside)[1].astype(np.int64),
        np.array(settings, np.float64),
        (1.0 - settings.discord_weight) * np.log2(knowledge.sizes),
        np.empty(len(features.codes), np.int64),
        np.empty((2, len(rows)), np.int64),
        np.empty(257, np.int64),
        np.empty((3, BETS + n_classes + n_sets, BLOCK)),
        np.empty((2, BLOCK + 1), np.int64),
        nodes,
        reals,
        np.empty(len(rows) + 1, np.int64),
    )
    return _in_preorder(features, rows, len(weight), nodes[:n_nodes], reals[:n_nodes])


def _in_preorder(
    features: Features, rows: NDArray[np.int32], n_rows: int, nodes: IntArray, reals: FloatArray
) -> Grown:
    """The nodes from left to right and from above; `rows` are in the order of leaves."""
    order = np.lexsort((nodes[:, DEPTH], nodes[:, FIRST]))
    number = np.empty(len(order) + 1, np.int64)
    number[order], number[LEAF] = np.arange(len(order)), LEAF
    left, right, feature, low, high, missing, first, last = nodes[order, : LAST + 1].T.copy()
    held, impurity, _ = reals[order].T.copy()
    left, right = number[left], number[right]
    inner, outer = np.flatnonzero(feature >= 0), np.flatnonzero(feature < 0)
    threshold, missing_left = np.full(len(order), np.nan), np.zeros(len(order), bool)
    threshold[inner] = thresholds(features, feature[inner], low[inner], high[inner])
    # As learned, or else to the heavier side.
    heavier = held[left[inner]] > held[right[inner]]
    missing_left[inner] = np.where(missing[inner] >= 0, missing[inner] > 0, heavier)
    leaf = np.full(n_rows, LEAF, np.int64)
    leaf[rows] = np.repeat(outer, (last - first)[outer])
    return Grown(left, right, feature, threshold, missing_left, impurity, last - first, held, leaf)


def thresholds(features: Features, feature: IntArray, low: IntArray, high: IntArray) -> FloatArray:
    """Thresholds between the last values on the left and the first on the right, by code.

    Infinite where only missing values go right; see `growth.threshold_of`.
    """
    start, end = features.start[feature], features.start[feature + 1]
    below = features.levels[start + low]
    above = features.levels[np.minimum(start + high, end - 1)]
    middle = 0.5 * below + 0.5 * above
    found = np.where((below <= middle) & (middle < above), middle, below)
    return np.where(start + high < end, found, np.inf)
