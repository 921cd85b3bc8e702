"""The best splits of all nodes of a level: rows sorted in NumPy, cuts judged by `growth_kernels`.

The rows of many nodes are sorted at once by numbers that have, from above, the node, the code of a
value, and the place of the row, so that rows of equal values keep their order.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from plausible.models.tree.growth import MODULUS, MULTIPLIER, Settings
from plausible.models.tree.growth_kernels import (
    BLOCK,
    COST,
    CUT,
    FIRST,
    LANES,
    LAST,
    LEAST_COST,
    SLOT,
    WEIGHT,
    WIDTH,
    scan,
)
from plausible.models.tree.problem import Features, Knowledge
from plausible.models.tree.structure import LEAF

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

ENTRIES = 1 << 19  # rows times slots that are sorted at once
KEY_BITS = 62


class Level(NamedTuple):
    """Nodes of a level, from left to right: where their rows are, and their best splits so far.

    missing_left is -1 where no value is missing.
    """

    first: IntArray
    last: IntArray
    state: IntArray
    weight: FloatArray
    cost: FloatArray
    least_cost: FloatArray
    feature: IntArray
    low: IntArray
    high: IntArray
    missing_left: IntArray

    @classmethod
    def begin(cls, first: IntArray, last: IntArray, state: IntArray) -> "Level":
        """Nodes that are not looked at yet."""
        n = len(first)
        reals, wholes = np.full((3, n), np.inf), np.full((4, n), LEAF)
        return cls(first, last, state, *reals, *wholes)


class Slots(NamedTuple):
    """Features to look at, those with missing values twice.

    feature : int (s,), or (s, m) if each of m nodes has features of its own
    missing_left : bool (s,)
        Whether missing values come before all others, or else behind.
    """

    feature: IntArray
    missing_left: BoolArray


class Sums(NamedTuple):
    """What `scan` adds up, and room to work in; the names are those of its arguments."""

    start: NDArray[np.uint64]
    column: NDArray[np.uint32]
    value: FloatArray
    begin: NDArray[np.uint64]
    members: IntArray
    traits: FloatArray
    limits: FloatArray
    own: IntArray
    place: NDArray[np.uint64]
    current: FloatArray
    whole: FloatArray
    table: FloatArray
    ends: IntArray
    slots: IntArray


class Search(NamedTuple):
    """All that is the same for each level.

    item : int (r,)
        Which of the items of `codes` each row of each tree is.
    weight : float (r,)
    """

    item: IntArray
    weight: FloatArray
    codes: NDArray[np.int32]
    n_levels: IntArray
    has_missing: BoolArray
    n_classes: int
    sums: Sums
    settings: Settings


def begin_search(
    features: Features,
    knowledge: Knowledge,
    item: IntArray,
    weight: FloatArray,
    settings: Settings,
) -> Search:
    """Prepare the search in rows, each with its item and weight."""
    return Search(
        item,
        weight,
        features.codes,
        features.n_levels,
        features.has_missing,
        knowledge.inside.shape[1],
        _sums_of(knowledge, item, weight, settings),
        settings,
    )


def _sums_of(knowledge: Knowledge, item: IntArray, weight: FloatArray, settings: Settings) -> Sums:
    """Rows as numbers that add up; see `growth_kernels`."""
    masses, discord = knowledge.masses, settings.discord_weight
    parts = [np.ones((masses.shape[0], 1)), masses[:, [-1]], masses[:, :-1]]
    rows = sparse.hstack([sparse.csr_array(part) for part in parts], format="csr")[item]
    sizes, n_classes = np.append([0, 0], knowledge.sizes[:-1]), knowledge.inside.shape[1]
    n, n_all = rows.shape[1], rows.shape[1] + n_classes
    full = np.append(knowledge.sizes[[-1, -1]], knowledge.sizes[:-1])
    base, loose = settings.vacuous_weight * full / n_classes, (1.0 - discord) * np.log2(full)
    limits = discord, settings.vacuous_weight, settings.min_samples_leaf, settings.min_weight_leaf
    return Sums(
        start=rows.indptr.astype(np.uint64),
        column=rows.indices.astype(np.uint32),
        value=rows.data * np.repeat(weight, np.diff(rows.indptr)),
        begin=np.append(0, np.cumsum(sizes)).astype(np.uint64),
        members=np.nonzero(knowledge.inside)[1].copy(),  # without gaps
        traits=np.stack([1.0 / full, base, loose], axis=1).reshape(-1),
        limits=np.array([*limits, 1.0]),
        own=np.empty(n, np.int64),
        place=np.empty(n, np.uint64),
        current=np.empty(n),
        whole=np.empty(n_all),
        table=np.zeros((BLOCK // LANES, n_all + 1, LANES)),
        ends=np.empty(BLOCK, np.int64),
        slots=np.empty(BLOCK, np.int64),
    )


def bring_near(search: Search, rows: IntArray) -> Search:
    """The same with rows numbered in this order, so that those of a node are near in memory."""
    start: IntArray = search.sums.start.astype(np.int64)
    begin, end = start[rows], start[rows + 1]
    at, ends = places_of(begin, end), np.append(0, np.cumsum(end - begin))
    column, value, places = search.sums.column[at], search.sums.value[at], ends.astype(np.uint64)
    sums = search.sums._replace(start=places, column=column, value=value)
    return search._replace(item=search.item[rows], weight=search.weight[rows], sums=sums)


def find_splits(search: Search, rows: IntArray, level: Level, is_deep: bool) -> None:
    """Write down weights, impurities and best splits of all nodes; see `growth.can_be_split`."""
    settings, d = search.settings, len(search.codes)
    fewest = max(settings.min_samples_split, 2 * settings.min_samples_leaf)
    small = (level.last - level.first < fewest) | is_deep
    if fewest == 2 and not is_deep:
        small[:] = False  # in single rows nothing varies: not worth a call of their own
    nothing = Slots(np.zeros(0, np.int64), np.zeros(0, bool))
    for some in _portions(search, level, np.flatnonzero(small), 1):
        _judge(search, rows, level, some, nothing)
    large = np.flatnonzero(~small)
    if settings.max_features < d:
        for some in _portions(search, level, large, 2 * settings.max_features):
            _judge_by_chance(search, rows, level, some)
        return
    slots = _slots_of(search, np.arange(d))
    for some in _portions(search, level, large, len(slots.feature)):
        _judge(search, rows, level, some, slots)


def _portions(search: Search, level: Level, nodes: IntArray, n_slots: int) -> Iterator[IntArray]:
    """Nodes that are sorted together: one, or as many as numbers and memory have room for."""
    most = min(ENTRIES // n_slots, 1 << (KEY_BITS - _code_bits(search)) // 2)
    most_nodes = 4 * ENTRIES // len(search.codes)  # which draw an order of all features
    ends, at = np.cumsum((level.last - level.first)[nodes]), 0
    while at < len(nodes):
        before = ends[at - 1] if at else 0
        end = int(np.searchsorted(ends, before + most, "right"))
        end = max(min(end, at + most_nodes), at + 1)
        yield nodes[at:end]
        at = end


def _code_bits(search: Search) -> int:
    return int(search.n_levels.max() + 1).bit_length()


def _slots_of(search: Search, feature: IntArray) -> Slots:
    """Slots of features (s,), or (s, m) of m nodes."""
    twice = search.has_missing[feature]
    repeats = 1 + (twice if twice.ndim == 1 else twice.any(axis=1))
    feature = np.repeat(feature, repeats, axis=0)
    missing_left = np.arange(len(feature)) == np.repeat(np.cumsum(repeats), repeats) - 1
    return Slots(feature, missing_left & (np.repeat(repeats, repeats) == 2))


def _judge_by_chance(search: Search, rows: IntArray, level: Level, nodes: IntArray) -> None:
    """Judge features drawn as by `growth.draw_order`; more if all so far are constant in a node."""
    d, most = len(search.codes), search.settings.max_features
    order = np.repeat(np.arange(d)[:, None], len(nodes), axis=1)
    state, begin = level.state[nodes].copy(), 0
    while begin < d and len(nodes):
        end = min(max(most, 2 * begin), d)
        each = np.arange(len(nodes))
        for i in range(begin, end):
            state = state * MULTIPLIER % MODULUS
            j = i + ((d - i) * (state / MODULUS)).astype(np.int64)
            order[i], order[j, each] = order[j, each], order[i].copy()
        slots = _slots_of(search, order[begin:end])
        constant = ~_judge(search, rows, level, nodes, slots, one_is_enough=begin > 0)
        constant &= (level.last - level.first)[nodes] > 1
        nodes, state, order, begin = nodes[constant], state[constant], order[:, constant], end


def places_of(first: IntArray, last: IntArray) -> IntArray:
    """The numbers from each first up to each last, one range after the other."""
    sizes = last - first
    end = np.cumsum(sizes)
    return np.arange(end[-1] if len(end) else 0) + np.repeat(first - end + sizes, sizes)


class Together(NamedTuple):
    """Nodes that are sorted together: their rows, one node after the other.

    plain : what is in the sorted numbers beside the codes, which come above `bits`
    """

    rows: IntArray
    items: IntArray
    sizes: IntArray
    begin: IntArray
    end: IntArray
    plain: IntArray
    bits: int
    code_bits: int


def _put_together(search: Search, rows: IntArray, first: IntArray, last: IntArray) -> Together:
    sizes = last - first
    end = np.cumsum(sizes)
    begin = end - sizes
    bits, code_bits = int(end[-1]).bit_length(), _code_bits(search)
    plain = np.repeat(np.arange(len(sizes)) << (bits + code_bits), sizes) + np.arange(end[-1])
    here = rows[places_of(first, last)]
    return Together(here, search.item[here], sizes, begin, end, plain, bits, code_bits)


def _judge(
    search: Search,
    rows: IntArray,
    level: Level,
    chosen: IntArray,
    slots: Slots,
    one_is_enough: bool = False,
) -> BoolArray:
    """Look for better splits of some nodes; in which of them features vary.

    one_is_enough : look only at the first feature that varies
    """
    those = _put_together(search, rows, level.first[chosen], level.last[chosen])
    n = len(chosen)
    nodes, reals = np.full((n, WIDTH), LEAF), np.full((n, WIDTH), np.inf)
    nodes[:, FIRST], nodes[:, LAST] = those.begin, those.end
    reals[:, LEAST_COST] = level.least_cost[chosen]
    varies, picked = np.zeros(n, bool), np.full(n, LEAF)
    step = max(ENTRIES // len(those.rows), 1)  # fewer slots than all only of a single node
    for i in range(0, max(len(slots.feature), 1), step):
        part = Slots(slots.feature[i : i + step], slots.missing_left[i : i + step])
        pairs = _sort(search, those, part)
        vary = (pairs[:, those.begin] ^ pairs[:, those.end - 1]) >> those.bits != 0
        if one_is_enough:
            new = vary & ~part.missing_left[:, None] & (picked == LEAF)
            place = new.argmax(axis=0), np.arange(n)
            picked = np.where(new[place], part.feature[place], picked)
            others = part.feature != picked
            np.copyto(pairs[:, :-1], those.plain, where=np.repeat(others, those.sizes, axis=1))
        varies |= vary.any(axis=0)
        nodes[:, SLOT] = LEAF
        flat = nodes.reshape(-1), reals.reshape(-1)
        scan(pairs, those.bits, search.n_classes, those.rows, *search.sums, *flat)
        _write_down(search, those, part, pairs, nodes, level, chosen)
    level.weight[chosen], level.cost[chosen] = reals[:, WEIGHT], reals[:, COST]
    level.least_cost[chosen] = reals[:, LEAST_COST]
    return varies


def _sort(search: Search, those: Together, slots: Slots) -> IntArray:
    """Sorted numbers of each slot, and an end to each line."""
    pairs = np.empty((len(slots.feature), len(those.rows) + 1), np.int64)
    pairs[:, -1] = -1
    lines = pairs[:, :-1]
    if slots.feature.ndim == 1:
        for line, feature in zip(lines, slots.feature.tolist(), strict=True):
            line[:] = search.codes[feature].take(those.items)
    else:
        place = np.repeat(slots.feature * search.codes.shape[1], those.sizes, axis=1)
        lines[:] = search.codes.reshape(-1).take(place + those.items)
    for i in np.flatnonzero(slots.missing_left):
        missing = search.n_levels[slots.feature[i]]
        is_missing = lines[i] == (missing if missing.ndim == 0 else np.repeat(missing, those.sizes))
        lines[i][is_missing] = -1
        # Without missing values there is nothing new.
        none = ~np.logical_or.reduceat(is_missing, those.begin)
        lines[i][np.repeat(none, those.sizes)] = -1
    lines <<= those.bits
    lines += those.plain + (1 << those.bits)  # codes from 0 on, also of what comes before all
    lines.sort(axis=1)
    return pairs


def _write_down(
    search: Search,
    those: Together,
    slots: Slots,
    pairs: IntArray,
    nodes: IntArray,
    level: Level,
    chosen: IntArray,
) -> None:
    """Write down the splits that `scan` found."""
    hit = np.flatnonzero(nodes[:, SLOT] >= 0)
    slot, cut, to = nodes[hit, SLOT], nodes[hit, CUT], chosen[hit]
    feature = slots.feature[slot] if slots.feature.ndim == 1 else slots.feature[slot, hit]

    def code(at: IntArray) -> IntArray:
        return (pairs[slot, at] >> those.bits & ((1 << those.code_bits) - 1)) - 1

    level.feature[to], level.low[to], level.high[to] = feature, code(cut - 1), code(cut)
    is_left = slots.missing_left[slot]
    has_missing = is_left | (code(those.end[hit] - 1) == search.n_levels[feature])
    level.missing_left[to] = np.where(has_missing, is_left, LEAF)
