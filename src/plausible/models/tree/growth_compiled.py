"""The growth of `growth` level by level, with `growth_search`: the same splits, for large data.

numba is imported in `growth_kernels` and `walk_compiled` only, and they only when there is enough
work: the first use on a machine compiles for a second or two, later ones load from the cache of
numba.
"""

import numpy as np
from numpy.typing import NDArray

from plausible.models.tree.growth import MODULUS, TIE, Grown, Settings
from plausible.models.tree.growth_search import Level, Search, begin_search, find_splits
from plausible.models.tree.problem import Features, Knowledge
from plausible.models.tree.structure import LEAF

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def grow_compiled(
    features: Features, knowledge: Knowledge, weight: FloatArray, settings: Settings, seed: int
) -> Grown:
    """Grow a tree; see `growth.grow_numpy`."""
    rows = np.flatnonzero(weight > 0.0)
    search = begin_search(features, knowledge, weight, settings)
    level = Level.begin(np.zeros(1, np.int64), np.array([len(rows)]), np.array([seed]))
    levels: list[Level] = []
    while len(level.first):
        find_splits(search, rows, level, len(levels) >= settings.max_depth)
        levels.append(level)
        level = _split(search, rows, level)
    return _in_preorder(features, rows, len(weight), levels)


def _split(search: Search, rows: IntArray, level: Level) -> Level:
    """The next level: bring the rows that go left to the front of their node, in their order."""
    settings = search.settings
    least, gain = settings.min_impurity_decrease, level.cost - level.least_cost
    enough = gain / settings.total >= least  # see `growth.is_enough`
    if least >= 0.0:
        enough &= gain > TIE * level.weight
    level.feature[~enough] = LEAF
    inner = np.flatnonzero(level.feature >= 0)
    first, last, feature = level.first[inner], level.last[inner], level.feature[inner]
    sizes = last - first
    begin = np.cumsum(sizes) - sizes
    within = np.arange(sizes.sum()) - np.repeat(begin, sizes)
    at = within + np.repeat(first, sizes)
    here = rows[at]
    code = search.codes.reshape(-1).take(np.repeat(feature * search.codes.shape[1], sizes) + here)
    left = code <= np.repeat(level.low[inner], sizes)
    if (level.missing_left[inner] == 1).any():
        missing = np.where(level.missing_left[inner] == 1, search.n_levels[feature], LEAF)
        left |= code == np.repeat(missing, sizes)
    n_left = np.add.reduceat(left, begin, dtype=np.int64) if len(inner) else sizes
    front = within < np.repeat(n_left, sizes)
    here[front], here[~front] = here[left], here[~left]
    rows[at] = here
    state, middle = level.state[inner], first + n_left
    states = state * 16807 % MODULUS, np.maximum((state * 69621 + 1) % MODULUS, 1)
    pairs = ([first, middle], [middle, last], states)
    return Level.begin(*(np.stack(pair, axis=1).reshape(-1) for pair in pairs))


def _in_preorder(features: Features, rows: IntArray, n_rows: int, levels: list[Level]) -> Grown:
    """The nodes from left to right and from above; `rows` are in the order of leaves."""
    nodes = Level._make([np.concatenate(each) for each in zip(*levels, strict=True)])
    depth = np.repeat(np.arange(len(levels)), [len(level.first) for level in levels])
    order = np.lexsort((depth, nodes.first))
    nodes = Level._make([each[order] for each in nodes])
    inner, outer = np.flatnonzero(nodes.feature >= 0), np.flatnonzero(nodes.feature < 0)
    left, right = np.full((2, len(order)), LEAF)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    # In each level, two children follow in the next one for each inner node.
    is_inner = np.empty(len(order), bool)
    is_inner[order] = nodes.feature >= 0
    parents = np.flatnonzero(is_inner)
    children = np.arange(1, 1 + 2 * len(parents)).reshape(-1, 2)
    left[number[parents]], right[number[parents]] = number[children].T
    threshold, missing_left = np.full(len(order), np.nan), np.zeros(len(order), bool)
    threshold[inner] = thresholds(
        features, nodes.feature[inner], nodes.low[inner], nodes.high[inner]
    )
    # As learned, or else to the heavier side.
    held, missing = nodes.weight, nodes.missing_left[inner]
    heavier = held[left[inner]] > held[right[inner]]
    missing_left[inner] = np.where(missing >= 0, missing > 0, heavier)
    sizes = nodes.last - nodes.first
    leaf = np.full(n_rows, LEAF, np.int64)
    leaf[rows] = np.repeat(outer, sizes[outer])
    return Grown(
        left, right, nodes.feature, threshold, missing_left, nodes.cost / held, sizes, held, leaf
    )


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
