"""How a tree grows: the best split of a node, then that of its children, from left to right.

A split sends the items with values up to a threshold to the left and the others to the right; those
whose value is missing go to the side where the split is better. It is judged by the mean impurity
of both sides, weighted by their items. Here in NumPy, feature by feature at once, which is quicker
for small data and the reference of `growth_compiled`, which takes over from `FAST_SECONDS` on and
grows many trees at once.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from plausible.models.tree.problem import Features, Knowledge, impurity_of_sums
from plausible.models.tree.structure import LEAF, Tree

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# What NumPy takes for a row in each tree, and for a value and focal set in each level of one.
NODE_SECONDS, VALUE_SECONDS = 2e-4, 2e-8
FAST_SECONDS = 2.0  # of NumPy from which compiled kernels pay
TIE = 1e-11  # bits: splits that are better by less are not better
MULTIPLIER, MODULUS = 48271, 2147483647  # of the generator that draws features


class Settings(NamedTuple):
    """How far a tree grows; all in numbers.

    total : weight of all rows
    max_features : features that are looked at in each node
    """

    discord_weight: float
    vacuous_weight: float
    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    min_impurity_decrease: float
    total: float
    max_features: int


class Grown(NamedTuple):
    """Nodes in preorder, and the leaf of every row that has weight (-1 for the others)."""

    children_left: IntArray
    children_right: IntArray
    feature: IntArray
    threshold: FloatArray
    missing_go_to_left: NDArray[np.bool_]
    impurity: FloatArray
    n_node_samples: IntArray
    weighted_n_node_samples: FloatArray
    leaf: IntArray


class Split(NamedTuple):
    """A split: rows with codes up to `code` go left, and the weighted impurity that is left."""

    feature: int
    code: int
    following: int
    missing_left: bool
    cost: float


def is_enough(decrease: float, weight: float, settings: Settings) -> bool:
    """Whether a split of a node of some weight gains enough to be made."""
    least = settings.min_impurity_decrease
    return decrease * weight / settings.total >= least and (least < 0.0 or decrease > TIE)


def midpoint(low: float, high: float) -> float:
    """A threshold with low <= threshold < high."""
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low


def child_states(state: int) -> tuple[int, int]:
    """States of both children of a node: they depend on its place, and on nothing in others."""
    return (state * 16807) % MODULUS, max((state * 69621 + 1) % MODULUS, 1)


def draw_order(d: int, state: int) -> IntArray:
    """The numbers of d features in random order: the same in both forms of growth."""
    order = np.arange(d)
    for i in range(d - 1):
        state = (state * MULTIPLIER) % MODULUS
        j = i + int((d - i) * (state / MODULUS))
        order[i], order[j] = order[j], order[i]
    return order


def _split_costs(
    codes: NDArray[np.int32],
    knowledge: Knowledge,
    dense: FloatArray,
    weight: FloatArray,
    settings: Settings,
) -> tuple[FloatArray, NDArray[np.int32]]:
    """Weighted impurity (f, m - 1) left by each cut of m rows in the order of codes (f, m).

    Infinite where two codes are equal or a side has too few rows. Also the codes in order.
    """
    m = codes.shape[1]
    order = np.argsort(codes, axis=1, kind="stable")
    ranked = np.take_along_axis(codes, order, axis=1)
    numbers = np.arange(1, m)
    few = np.minimum(numbers, m - numbers) < settings.min_samples_leaf
    allowed = (ranked[:, 1:] > ranked[:, :-1]) & ~few

    def sums(table: FloatArray) -> tuple[FloatArray, FloatArray]:
        left = np.cumsum((table * weight[:, None])[order], axis=1)
        return left[:, :-1], left[:, -1:] - left[:, :-1]

    cost = np.zeros(allowed.shape)
    sides = zip(sums(dense), sums(knowledge.bets), sums(np.ones((m, 1))), strict=True)
    for masses, bets, weights in sides:
        held = weights[..., 0]
        impurity = impurity_of_sums(
            masses, bets, knowledge.inside, settings.discord_weight, settings.vacuous_weight
        )
        cost += held * impurity
        allowed &= held >= settings.min_weight_leaf
    return np.where(allowed, cost, np.inf), ranked


def _best_split(
    features: Features,
    knowledge: Knowledge,
    dense: FloatArray,
    weight: FloatArray,
    candidates: IntArray,
    settings: Settings,
) -> Split | None:
    """The split of some rows that leaves the least impurity; the first of equal ones."""
    codes, missing = features.codes[candidates], features.n_levels[candidates]
    cost, ranked = _split_costs(codes, knowledge, dense, weight, settings)
    costs, forms = [cost], [ranked]
    has_missing = (codes == missing[:, None]).any(axis=1)
    if has_missing.any():  # the same with missing values before all others
        first = np.where(codes == missing[:, None], -1, codes).astype(np.int32)
        other, ranked = _split_costs(first, knowledge, dense, weight, settings)
        # Missing values against all others was judged above.
        other[~has_missing[:, None] | (ranked[:, :-1] == -1)] = np.inf
        costs, forms = [cost, other], [forms[0], ranked]
    table = np.stack(costs, axis=1).reshape(-1)  # feature by feature
    least = table.min(initial=np.inf)
    if not np.isfinite(least):
        return None
    place = int(np.argmax(table <= least + TIE * weight.sum()))
    row, form, at = np.unravel_index(place, (len(candidates), len(costs), cost.shape[1]))
    low, high = forms[form][row, at], forms[form][row, at + 1]
    return Split(int(candidates[row]), int(low), int(high), bool(form), float(table[place]))


def _features_of_node(codes: NDArray[np.int32], most: int, state: int) -> IntArray:
    """Features to look at: some by chance, and one that is not constant, if there is one."""
    d = len(codes)
    order = draw_order(d, state) if most < d else np.arange(d)
    varies = (codes != codes[:, :1]).any(axis=1)[order]
    seen = np.arange(d) < most
    if not (seen & varies).any():
        seen |= np.cumsum(varies) <= 1
    return order[seen & varies]


def grow_numpy(
    features: Features, knowledge: Knowledge, weight: FloatArray, settings: Settings, seed: int
) -> Grown:
    """Grow a tree; `seed` is a state of the generator, 1 to 2147483646."""
    masses = knowledge.masses.toarray()
    leaf = np.full(len(weight), LEAF, dtype=np.int64)
    nodes: list[list[float]] = []
    stack = [(np.flatnonzero(weight > 0.0), 0, -1, 0, seed)]
    while stack:
        rows, depth, parent, side, state = stack.pop()
        number, own, held = len(nodes), masses[rows], weight[rows]
        if parent >= 0:
            nodes[parent][side] = number
        here = features._replace(codes=features.codes[:, rows])
        part = knowledge._replace(bets=knowledge.bets[rows])
        sums = held @ own, held @ part.bets
        impurity = float(
            impurity_of_sums(*sums, part.inside, settings.discord_weight, settings.vacuous_weight)
        )
        nodes.append([LEAF, LEAF, LEAF, np.nan, False, impurity, len(rows), held.sum()])
        leaf[rows] = number
        split = None
        if depth < settings.max_depth and can_be_split(len(rows), held.sum(), settings):
            looked_at = _features_of_node(here.codes, settings.max_features, state)
            split = _best_split(here, part, own, held, looked_at, settings)
        if split is None or not is_enough(impurity - split.cost / held.sum(), held.sum(), settings):
            continue
        left = _go_left(here, split)
        goes_left = _side_of_missing(here, split, held, left)
        nodes[number][2:5] = [split.feature, threshold_of(features, split), goes_left]
        states = child_states(state)
        stack.append((rows[~left], depth + 1, number, 1, states[1]))
        stack.append((rows[left], depth + 1, number, 0, states[0]))
    return _as_arrays(nodes, leaf)


def _as_arrays(nodes: list[list[float]], leaf: IntArray) -> Grown:
    """Nodes as arrays, each of its own type."""
    columns = [np.array(column) for column in zip(*nodes, strict=True)]
    kinds = (np.int64, np.int64, np.int64, float, bool, float, np.int64, float)
    return Grown._make([*(c.astype(k) for c, k in zip(columns, kinds, strict=True)), leaf])


def _side_of_missing(
    features: Features, split: Split, weight: FloatArray, left: NDArray[np.bool_]
) -> bool:
    """Whether a missing value goes left: as learned, or else to the heavier side."""
    if (features.codes[split.feature] == features.n_levels[split.feature]).any():
        return split.missing_left
    return bool(weight[left].sum() > weight[~left].sum())


def can_be_split(n_rows: int, weight: float, settings: Settings) -> bool:
    """Whether a node has enough rows and weight for two children."""
    return (
        n_rows >= max(settings.min_samples_split, 2 * settings.min_samples_leaf)
        and weight >= 2.0 * settings.min_weight_leaf
    )


def _go_left(features: Features, split: Split) -> NDArray[np.bool_]:
    """Rows that a split sends to the left."""
    codes = features.codes[split.feature]
    is_missing = codes == features.n_levels[split.feature]
    return np.where(is_missing, split.missing_left, codes <= split.code)


def threshold_of(features: Features, split: Split) -> float:
    """Threshold between the last value on the left and the first one on the right."""
    start, end = features.start[split.feature], features.start[split.feature + 1]
    if start + split.following >= end:
        return np.inf  # only missing values go right
    levels = features.levels[start:end]
    return midpoint(float(levels[split.code]), float(levels[split.following]))


def use_compiled(features: Features, knowledge: Knowledge, n_trees: int = 1) -> bool:
    """Whether growing is enough work for compiled kernels; decided by sizes alone."""
    d, n = features.codes.shape
    each = NODE_SECONDS + VALUE_SECONDS * d * len(knowledge.inside) * np.log2(n + 1)
    return bool(n_trees * n * each > FAST_SECONDS)


def grow(
    features: Features,
    knowledge: Knowledge,
    weights: FloatArray,
    settings: Settings,
    seeds: Sequence[int],
    fast: bool,
) -> list[Tree]:
    """Grow trees in one of two forms, each on rows with weights (n,) of its own.

    weights : float (T, n), all with the sum `settings.total`
    """
    if fast:
        from plausible.models.tree.growth_compiled import grow_compiled

        return grow_compiled(features, knowledge, weights, settings, seeds)
    trees = []
    for weight, seed in zip(weights, seeds, strict=True):
        grown = grow_numpy(features, knowledge, weight, settings, seed)
        sums = _sums_of_masses(grown, knowledge, weight)
        held = grown.weighted_n_node_samples
        trees.append(Tree(*grown[:-1], *node_masses(sums, held, settings.vacuous_weight)))
    return trees


def _sums_of_masses(grown: Grown, knowledge: Knowledge, weight: FloatArray) -> Any:
    """Weighted sums of masses, sparse (N, F), of the rows below each node."""
    node, who = under(grown, np.flatnonzero(weight > 0.0))
    shape = len(grown.feature), len(weight)
    return sparse.csr_array((weight[who], (node, who)), shape=shape) @ knowledge.masses


def node_masses(
    sums: Any, held: FloatArray, vacuous_weight: float
) -> tuple[IntArray, IntArray, FloatArray]:
    """Mass functions of nodes that hold some weight, as rows without zeros: see `Tree`."""
    n_nodes, n_sets = sums.shape
    extra = (np.full(n_nodes, vacuous_weight), (np.arange(n_nodes), np.full(n_nodes, n_sets - 1)))
    masses = sparse.csr_array(sums + sparse.csr_array(extra, shape=(n_nodes, n_sets)))
    masses.data /= np.repeat(held + vacuous_weight, np.diff(masses.indptr))
    masses.sort_indices()
    masses.eliminate_zeros()
    return (
        masses.indptr.astype(np.int64),
        masses.indices.astype(np.int64),
        masses.data.astype(np.float64),
    )


def under(grown: Grown, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs of a node and a row below it, the row's leaf and all above it."""
    parent = np.full(len(grown.feature), -1, dtype=np.int64)
    inner = np.flatnonzero(grown.feature != LEAF)
    parent[grown.children_left[inner]] = parent[grown.children_right[inner]] = inner
    node, who = [], []
    at = grown.leaf[rows]
    while len(rows):
        node.append(at)
        who.append(rows)
        at = parent[at]
        rows, at = rows[at >= 0], at[at >= 0]
    return np.concatenate(node), np.concatenate(who)
