"""The growth of `growth` compiled: the same splits, and one core for each tree.

In a node, the rows are sorted by the codes of a feature, and `scan_compiled` finds the best cut.
numba is imported in these files and in `walk_compiled` only, and they only when there is enough
work: the first use on a machine compiles for about ten seconds, later ones load from the cache of
numba (which looks at this file: touch it after a change in `scan_compiled`).
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from plausible.models.tree.growth import MODULUS, MULTIPLIER, TIE, Grown, Settings
from plausible.models.tree.problem import Features, Knowledge
from plausible.models.tree.scan_compiled import BLOCK, OPTIONS, add_up, impurity_of, part, scan
from plausible.models.tree.structure import LEAF

FloatArray = NDArray[np.float64]

FEW = 40  # rows up to which sorting by insertion is quickest
N_REAL, N_WHOLE = 3, 5  # numbers of a node: real ones and whole ones


def grow_compiled(
    features: Features, knowledge: Knowledge, weight: FloatArray, settings: Settings, seed: int
) -> Grown:
    """Grow a tree; see `growth.grow_numpy`."""
    masses, bets = knowledge.masses, np.ascontiguousarray(knowledge.bets)
    member_start = np.concatenate([[0], np.cumsum(knowledge.sizes)])
    rows = np.flatnonzero(weight > 0.0).astype(np.int64)
    n_most = max(2 * len(rows) - 1, 1)
    whole, real = np.empty((n_most, N_WHOLE), np.int64), np.empty((n_most, N_REAL))
    leaf = np.full(len(weight), LEAF, np.int64)
    n_nodes = _grow(
        (features.codes, features.levels, features.start),
        (
            (
                masses.indptr.astype(np.int64),
                masses.indices.astype(np.int64),
                masses.data.astype(np.float64),
                bets,
            ),
            (member_start.astype(np.int64), np.nonzero(knowledge.inside)[1].astype(np.int64)),
            np.ascontiguousarray(weight),
            tuple(map(float, settings)),
        ),
        rows,
        seed,
        workspace(*knowledge.inside.shape),
        tuple(np.empty(len(rows), np.int64) for _ in range(4)),
        (np.arange(len(features.codes)), np.empty((len(rows) + 1, 6), np.int64)),
        (whole, real, leaf),
    )
    left, right, feature, missing_left, n_rows = whole[:n_nodes].T.copy()
    threshold, impurity, held = real[:n_nodes].T.copy()
    return Grown(
        left, right, feature, threshold, missing_left.astype(bool), impurity, n_rows, held, leaf
    )


def workspace(n_sets: int, n_classes: int) -> tuple[Any, ...]:
    """Arrays to work in: compiled code makes none, which keeps it small."""
    masses, bets = np.empty((2, n_sets, BLOCK)), np.empty((2, n_classes, BLOCK))
    held, work = np.empty((2, BLOCK)), np.empty((3, BLOCK))
    counts, last_code = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    running, running_bets = np.empty(n_sets), np.empty(n_classes)
    local, sets = np.empty(n_sets, np.int64), np.empty(n_sets, np.int64)
    sums, all_bets = np.empty(n_sets), np.empty(n_classes)
    place = np.empty(257, np.int64)
    block = (masses, bets, held, running, running_bets, counts, last_code, work)
    return block, (local, sets, sums, all_bets, place)


@part
def _sort(key, row, m, other_key, other_row, n_codes, place):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Sort keys in [0, n_codes), and rows with them; equal keys keep their order."""
    if m <= FEW:
        for i in range(1, m):
            k, r = key[i], row[i]
            j = i - 1
            while j >= 0 and key[j] > k:
                key[j + 1] = key[j]
                row[j + 1] = row[j]
                j -= 1
            key[j + 1] = k
            row[j + 1] = r
        return
    shift = 0
    while n_codes > 1 << shift:
        place[:] = 0
        for i in range(m):
            place[((key[i] >> shift) & 255) + 1] += 1
        for b in range(256):
            place[b + 1] += place[b]
        for i in range(m):
            b = (key[i] >> shift) & 255
            other_key[place[b]] = key[i]
            other_row[place[b]] = row[i]
            place[b] += 1
        for i in range(m):  # loops: assigning slices takes seconds to compile
            key[i] = other_key[i]
            row[i] = other_row[i]
        shift += 8


@part
def _local_sets(rows, first, last, known, local, sets):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Focal sets that occur in a node, in order, the frame last; `local` gets their places."""
    start, column = known[0][0], known[0][1]
    n_sets = len(local)
    local[:] = -1
    for i in range(first, last):
        for e in range(start[rows[i]], start[rows[i] + 1]):
            local[column[e]] = 0
    local[n_sets - 1] = 0
    n = 0
    for a in range(n_sets):
        if local[a] == 0:
            local[a] = n
            sets[n] = a
            n += 1
    return n


@part
def _set_order(order, state, is_random):  # type: ignore[no-untyped-def]  # pragma: no cover
    """See `growth.draw_order`; without chance, the features as they are."""
    d = len(order)
    for i in range(d):
        order[i] = i
    if is_random:
        for i in range(d - 1):
            state = (state * MULTIPLIER) % MODULUS
            j = i + int((d - i) * (state / MODULUS))
            order[i], order[j] = order[j], order[i]


@part
def _load(codes, rows, first, last, missing, key, row):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Codes of a node's rows, missing ones last: how many are known, and whether they vary."""
    m = 0
    varies = False
    n_missing = 0
    for i in range(first, last):
        r = rows[i]
        code = codes[r]
        if code == missing:
            n_missing += 1
        else:
            key[m] = code
            row[m] = r
            varies |= code != key[0]
            m += 1
    at = m
    if n_missing:
        for i in range(first, last):
            if codes[rows[i]] == missing:
                row[at] = rows[i]
                at += 1
    return m, varies or (n_missing > 0 and m > 0)


@part
def _best_split(data, known, rows, first, last, order, node, block, sorting, place):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The best split of a node: cost, feature, codes beside the cut, where missing values go."""
    codes, _, level_start = data
    key, row, other_key, other_row = sorting
    best, best_feature, best_low, best_high, best_missing = np.inf, -1, -1, -1, False
    most, n_seen, n_varying = int(known[3][8]), 0, 0
    n_all = last - first
    for j in order:
        if n_seen >= most and n_varying > 0:
            break
        n_seen += 1
        n_codes = level_start[j + 1] - level_start[j]
        m, varies = _load(codes[j], rows, first, last, n_codes, key, row)
        if not varies:
            continue
        n_varying += 1
        _sort(key, row, m, other_key, other_row, n_codes, place)
        for missing_left in range(2 if m < n_all else 1):
            cost, low, high = scan(key, row, m, n_all - m, missing_left == 1, node, known, block)
            if cost < best - TIE * node[2]:
                best, best_feature, best_low, best_high = cost, j, low, high
                best_missing = missing_left == 1
    return best, best_feature, best_low, best_high, best_missing


@part
def _partition(codes, missing, low, missing_left, rows, first, last, spare):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Bring the rows that go left to the front, in their order; where the others begin."""
    at, n_right = first, 0
    for i in range(first, last):
        code = codes[rows[i]]
        if missing_left if code == missing else code <= low:
            rows[at] = rows[i]
            at += 1
        else:
            spare[n_right] = rows[i]
            n_right += 1
    for i in range(n_right):
        rows[at + i] = spare[i]
    return at


@part
def _threshold(levels, n_levels, low, high):  # type: ignore[no-untyped-def]  # pragma: no cover
    """See `growth.threshold_of`."""
    if high < 0 or high >= n_levels:
        return np.inf
    middle = 0.5 * levels[low] + 0.5 * levels[high]
    return middle if levels[low] <= middle < levels[high] else levels[low]


@part
def _sides_of_missing(codes, n_levels, missing_left, weight, rows, first, middle, last):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Whether a missing value goes left: as learned, or else to the heavier side."""
    held_left, held_right = 0.0, 0.0
    for i in range(first, last):
        if codes[rows[i]] == n_levels:
            return missing_left
        if i < middle:
            held_left += weight[rows[i]]
        else:
            held_right += weight[rows[i]]
    return held_left > held_right


@part
def _push(stack, n, first, last, depth, parent, side, state):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Put a node on the stack, and give its new height."""
    stack[n, 0], stack[n, 1], stack[n, 2] = first, last, depth
    stack[n, 3], stack[n, 4], stack[n, 5] = parent, side, state
    return n + 1


@part
def _divide(data, known, rows, first, last, split, spare, whole_numbers, real_numbers):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Send the rows of a node to both sides; where those of the right one begin."""
    codes, levels, level_start = data
    feature, low, high, missing_left = split
    own, start = codes[feature], level_start[feature]
    n_levels = level_start[feature + 1] - start
    middle = _partition(own, n_levels, low, missing_left, rows, first, last, spare)
    whole_numbers[2] = feature
    whole_numbers[3] = _sides_of_missing(
        own, n_levels, missing_left, known[2], rows, first, middle, last
    )
    real_numbers[0] = _threshold(levels[start : start + n_levels], n_levels, low, high)
    return middle


@part
def _may_be_split(depth, n_rows, held, options):  # type: ignore[no-untyped-def]  # pragma: no cover
    """See `growth.can_be_split`."""
    enough = n_rows >= options[3] and n_rows >= 2.0 * options[4] and held >= 2.0 * options[5]
    return depth < options[2] and enough


@part
def _is_enough(decrease, held, options):  # type: ignore[no-untyped-def]  # pragma: no cover
    """See `growth.is_enough`."""
    return decrease * held / options[7] >= options[6] and (options[6] < 0.0 or decrease > TIE)


@part
def _begin(rows, first, last, node, whole_numbers, real_numbers, leaf, impurity, held):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write a node down as a leaf."""
    whole_numbers[0] = whole_numbers[1] = whole_numbers[2] = LEAF
    whole_numbers[3], whole_numbers[4] = 0, last - first
    real_numbers[0], real_numbers[1], real_numbers[2] = np.nan, impurity, held
    for i in range(first, last):
        leaf[rows[i]] = node


@numba.njit(cache=True, **OPTIONS)
def _grow(data, known, rows, seed, space, sorting, walk, nodes):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Grow a tree depth first, from left to right; see `growth.grow_numpy`."""
    block, (local, all_sets, all_sums, bets, place) = space
    order, stack = walk
    whole, real, leaf = nodes
    options, n_nodes = known[3], 0
    height = _push(stack, 0, 0, len(rows), 0, -1, 0, seed)
    while height > 0:
        height -= 1
        first, last, depth = stack[height, 0], stack[height, 1], stack[height, 2]
        parent, state, number = stack[height, 3], stack[height, 5], n_nodes
        n_nodes += 1
        if parent >= 0:
            whole[parent, stack[height, 4]] = number
        n_sets = _local_sets(rows, first, last, known, local, all_sets)
        sums = all_sums[:n_sets]
        sums[:] = 0.0
        bets[:] = 0.0
        held = add_up(rows, first, last, known, local, sums, bets)
        node = (sums, bets, held, all_sets[:n_sets], local)
        impurity = impurity_of(node, known)
        _begin(rows, first, last, number, whole[number], real[number], leaf, impurity, held)
        if not _may_be_split(depth, last - first, held, options):
            continue
        _set_order(order, state, options[8] < len(order))
        cost, feature, low, high, missing_left = _best_split(
            data, known, rows, first, last, order, node, block, sorting, place
        )
        if feature < 0 or not _is_enough(impurity - cost / held, held, options):
            continue
        split = (feature, low, high, missing_left)
        middle = _divide(
            data, known, rows, first, last, split, sorting[3], whole[number], real[number]
        )
        other = max((state * 69621 + 1) % MODULUS, 1)
        height = _push(stack, height, middle, last, depth + 1, number, 1, other)
        other = (state * 16807) % MODULUS
        height = _push(stack, height, first, middle, depth + 1, number, 0, other)
    return n_nodes
