"""The growth of `growth` level by level, with `growth_search`: the same splits, for large data.

The trees of a forest grow together: the rows of each are a segment of one long list, and the nodes
of all trees that have the same depth are one level, so that a level of many trees costs hardly more
calls than that of one. What is found for a node depends on its rows alone, so that trees are the
same, to the last bit, whatever grows beside them.

numba is imported in `growth_kernels` and `walk_compiled` only, and they only when there is enough
work: the first use on a machine compiles for a second or two, later ones load from the cache of
numba.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from plausible.models.tree.growth import MODULUS, TIE, Settings, node_masses
from plausible.models.tree.growth_kernels import partition
from plausible.models.tree.growth_search import (
    Level,
    Search,
    begin_search,
    bring_near,
    find_splits,
    places_of,
)
from plausible.models.tree.problem import Features, Knowledge
from plausible.models.tree.structure import LEAF, NODE_ARRAYS, Tree

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

NEAR = 1 << 10  # rows of a node that a core's first-level cache has room for


def grow_compiled(
    features: Features,
    knowledge: Knowledge,
    weights: FloatArray,
    settings: Settings,
    seeds: Sequence[int],
) -> list[Tree]:
    """Grow trees on rows with weights (T, n); see `growth.grow`."""
    # Copies without gaps: for arrays with gaps, loops would be compiled once more.
    tree, item = (part.copy() for part in np.nonzero(weights > 0.0))
    search = begin_search(features, knowledge, item, weights[tree, item], settings)
    ends = np.cumsum(np.bincount(tree, minlength=len(weights)))
    starts = np.append(0, ends[:-1])
    rows = np.arange(len(item))
    levels: list[Level] = []
    sums: list[Any] = []
    is_near = False
    level = Level.begin(starts, ends, np.asarray(seeds, dtype=np.int64))
    while len(level.first):
        if levels and not is_near and len(rows) < NEAR * len(level.first):
            search, rows, is_near = bring_near(search, rows), np.arange(len(rows)), True
        find_splits(search, rows, level, len(levels) >= settings.max_depth)
        levels.append(level)
        sums.append(_sums_of_masses(search, knowledge, rows, level))
        level = _split(search, rows, level)
    sums_of_all = sparse.vstack(sums, format="csr")
    return _apart(*_in_preorder(features, levels, sums_of_all, settings), starts)


def _sums_of_masses(search: Search, knowledge: Knowledge, rows: IntArray, level: Level) -> Any:
    """Weighted sums of masses, sparse (N, F), of the rows of each node, added in their order."""
    here = rows[places_of(level.first, level.last)]
    start = np.append(0, np.cumsum(level.last - level.first))
    shape = len(level.first), len(knowledge.bets)
    shares = sparse.csr_array((search.weight[here], search.item[here], start), shape=shape)
    return shares @ knowledge.masses


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
    missing = np.where(level.missing_left[inner] == 1, search.n_levels[feature], LEAF)
    middle, state, spare = np.empty_like(first), level.state[inner], np.empty_like(rows)
    ends = first, last, feature, level.low[inner], missing, middle
    partition(rows, spare, search.codes, search.item, *ends)
    states = state * 16807 % MODULUS, np.maximum((state * 69621 + 1) % MODULUS, 1)
    pairs = ([first, middle], [middle, last], states)
    return Level.begin(*(np.stack(pair, axis=1).reshape(-1) for pair in pairs))


def _in_preorder(
    features: Features, levels: list[Level], sums: Any, settings: Settings
) -> tuple[Tree, IntArray]:
    """Nodes of all trees as if of one, from left to right and from above; their first rows."""
    nodes = Level._make([np.concatenate(each) for each in zip(*levels, strict=True)])
    depth = np.repeat(np.arange(len(levels)), [len(level.first) for level in levels])
    order = np.lexsort((depth, nodes.first))
    left, right = _children(nodes.feature >= 0, order, len(levels[0].first))
    nodes, held = Level._make([each[order] for each in nodes]), nodes.weight[order]
    inner = np.flatnonzero(nodes.feature >= 0)
    threshold, missing_left = np.full(len(order), np.nan), np.zeros(len(order), bool)
    threshold[inner] = thresholds(
        features, nodes.feature[inner], nodes.low[inner], nodes.high[inner]
    )
    # As learned, or else to the heavier side.
    missing, heavier = nodes.missing_left[inner], held[left[inner]] > held[right[inner]]
    missing_left[inner] = np.where(missing >= 0, missing > 0, heavier)
    sizes, impurity = nodes.last - nodes.first, nodes.cost / held
    masses = node_masses(sums[order], held, settings.vacuous_weight)
    asked = left, right, nodes.feature, threshold, missing_left
    return Tree(*asked, impurity, sizes, held, *masses), nodes.first


def _children(
    is_inner: NDArray[np.bool_], order: IntArray, n_roots: int
) -> tuple[IntArray, IntArray]:
    """Numbers of the children of nodes that are put in order from level after level."""
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    # For each inner node of a level, two children follow in the next one.
    parents = np.flatnonzero(is_inner)
    children = np.arange(n_roots, n_roots + 2 * len(parents)).reshape(-1, 2)
    left, right = np.full((2, len(order)), LEAF)
    left[number[parents]], right[number[parents]] = number[children].T
    return left, right


def _apart(together: Tree, first: IntArray, starts: IntArray) -> list[Tree]:
    """The trees, one by one, whose nodes have first rows, and whose segments start somewhere."""
    ends = np.append(np.searchsorted(first, starts), len(first)).tolist()
    trees = []
    for begin, end in pairwise(ends):
        arrays = {name: getattr(together, name)[begin:end].copy() for name in NODE_ARRAYS}
        for name in ("children_left", "children_right"):
            arrays[name][arrays[name] >= 0] -= begin
        start = together.mass_start[begin : end + 1]
        held = slice(start[0], start[-1])
        column, value = together.mass_column[held].copy(), together.mass_value[held].copy()
        masses = {"mass_start": start - start[0], "mass_column": column, "mass_value": value}
        trees.append(Tree(**arrays, **masses))
    return trees


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
