"""The growth of `growth` compiled: the same splits, and one core for each tree.

In a node, the rows are sorted by the codes of a feature, and their masses and bets added up, value
by value, in blocks of `BLOCK` values: a block has one line for each focal set of the node, so that
the logarithms of all its cuts are taken at once. O(F) work for each value.

numba is imported here only, and this file only when there is enough work: the first use on a
machine compiles for some seconds, later ones load from the cache of numba.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from plausible.models.tree.growth import LEAF, MODULUS, MULTIPLIER, TIE, Grown, Settings
from plausible.models.tree.problem import Features, Knowledge

FloatArray = NDArray[np.float64]

BLOCK = 64
FEW = 40  # rows up to which sorting by insertion is quickest
TINY = 1e-290
N_REAL, N_WHOLE = 3, 5  # numbers of a node: real ones and whole ones

_options = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
# Parts that only compiled code calls: without ways in for others they compile twice as fast.
_part = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_options)
_entry = numba.njit(cache=True, **_options)


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
            masses.indptr.astype(np.int64),
            masses.indices.astype(np.int64),
            masses.data.astype(np.float64),
            bets,
        ),
        (member_start.astype(np.int64), np.nonzero(knowledge.inside)[1].astype(np.int64)),
        np.ascontiguousarray(weight),
        rows,
        tuple(map(float, settings)),
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


@_part
def _log2(x):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Logarithm to base 2 of a positive normal number, written out so that loops run on vectors.

    With x = 2^e m and m in [sqrt(1/2), sqrt(2)), log m is twice the artanh of (m - 1) / (m + 1),
    whose series to the power of 19 is exact to double precision.
    """
    root = np.uint64(0x3FE6A09E667F3BCD)  # of one half
    bits = np.float64(x).view(np.uint64) + (np.uint64(0x3FF0000000000000) - root)
    # A whole number in the last bits of 2^52 becomes a float without a conversion.
    power = np.uint64((bits >> np.uint64(52)) | np.uint64(0x4330000000000000)).view(np.float64)
    m = np.uint64((bits & np.uint64(0x000FFFFFFFFFFFFF)) + root).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 1.0 / 19.0
    p = p * z + 1.0 / 17.0
    p = p * z + 1.0 / 15.0
    p = p * z + 1.0 / 13.0
    p = p * z + 1.0 / 11.0
    p = p * z + 1.0 / 9.0
    p = p * z + 1.0 / 7.0
    p = p * z + 1.0 / 5.0
    p = p * z + 1.0 / 3.0
    p = p * z + 1.0
    return (power - 4503599627371519.0) + s * p * 2.8853900817779268  # 2^52 + 1023, 2 / log(2)


@_part
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


@_part
def _add_up(row, first, last, labels, weight, local, sums, bets):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add masses and bets of rows to sums on local sets; gives their weight."""
    start, column, value, own_bets = labels
    total = 0.0
    for i in range(first, last):
        r = row[i]
        w = weight[r]
        total += w
        for e in range(start[r], start[r + 1]):
            sums[local[column[e]]] += w * value[e]
        for k in range(len(bets)):
            bets[k] += w * own_bets[r, k]
    return total


@_part
def _impurity(sums, bets, held, sets, members, options):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Impurity of a node from its sums on local sets, of which the last is the frame."""
    discord, vacuous = options[0], options[1]
    n_classes = len(bets)
    total = held + vacuous
    result = (1.0 - discord) * np.log2(float(n_classes)) * (sums[len(sets) - 1] + vacuous)
    for a in range(len(sets) - 1):
        first, last = members[0][sets[a]], members[0][sets[a] + 1]
        betting = vacuous * (last - first) / n_classes
        for e in range(first, last):
            betting += bets[members[1][e]]
        surprise = -np.log2(min(max(betting, sums[a]) / total, 1.0))
        size = np.log2(float(last - first))
        result += sums[a] * ((1.0 - discord) * size + discord * surprise)
    return result / total


@_part
def _side(masses, bets, held, side, n, sets, members, options, work):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Weighted impurity of one side of n cuts, added to the last line of work."""
    member_start, member = members
    discord, vacuous = options[0], options[1]
    n_classes, frame = bets.shape[1], len(sets) - 1
    whole = (1.0 - discord) * np.log2(float(n_classes))
    for j in range(n):
        apart = held[side, j] - masses[side, frame, j]
        total = discord * apart * _log2(max(held[side, j] + vacuous, TINY))
        work[1, j] = whole * (masses[side, frame, j] + vacuous) + total
    for a in range(frame):
        first, last = member_start[sets[a]], member_start[sets[a] + 1]
        size = (1.0 - discord) * np.log2(float(last - first))
        base = vacuous * (last - first) / n_classes
        k = member[first]
        for j in range(n):
            work[0, j] = bets[side, k, j] + base
        for e in range(first + 1, last):
            k = member[e]
            for j in range(n):
                work[0, j] += bets[side, k, j]
        for j in range(n):
            mass = masses[side, a, j]
            betting = max(work[0, j], max(mass, TINY))  # bets are at least masses, but for rounding
            work[1, j] += mass * (size - discord * _log2(betting))
    for j in range(n):
        work[2, j] += held[side, j] * max(work[1, j], 0.0) / max(held[side, j] + vacuous, TINY)


@_part
def _cut_costs(masses, bets, held, whole, n, sets, members, options, work):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Weighted impurity of both sides of n cuts; the right side is what the left leaves."""
    sums, all_bets, total = whole
    work[2, :n] = 0.0
    for a in range(len(sets)):
        for j in range(n):
            masses[1, a, j] = max(sums[a] - masses[0, a, j], 0.0)
    for k in range(len(all_bets)):
        for j in range(n):
            bets[1, k, j] = max(all_bets[k] - bets[0, k, j], 0.0)
    for j in range(n):
        held[1, j] = max(total - held[0, j], 0.0)
    for side in range(2):
        _side(masses, bets, held, side, n, sets, members, options, work)


@_part
def _run_up(tables, n_lines, n, running):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Running sums along the lines of a block, from where the last block ended."""
    for a in range(n_lines):
        total = running[a]
        for j in range(n):
            total += tables[0, a, j]
            tables[0, a, j] = total
        running[a] = total


@_part
def _scan(
    key,
    row,
    m,
    n_missing,
    missing_left,
    labels,
    weight,
    local,
    whole,
    sets,
    members,
    options,
    block,
):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The best cut of sorted rows: cost, last code on the left and first code on the right.

    The rows from m on have no value, and go left all together, or right.
    """
    masses, bets, held, running, running_bets, counts, last_code, work = block
    running[:] = 0.0
    running_bets[:] = 0.0
    start, column, value, own_bets = labels
    n_sets, n_classes = len(sets), len(whole[1])
    n_rows = m + n_missing
    total = whole[2]
    min_leaf, min_weight = options[4], options[5]
    best, best_low, best_high = np.inf, -1, -1
    running_held, running_count = 0.0, 0
    if missing_left:
        running_count = n_missing
        running_held = _add_up(row, m, n_rows, labels, weight, local, running, running_bets)
    i = 0
    while i < m:
        masses[0, :n_sets] = 0.0
        bets[0] = 0.0
        n = 0
        while i < m and n < BLOCK:  # one place in the block for each value
            code = key[i]
            while i < m and key[i] == code:
                r = row[i]
                w = weight[r]
                for e in range(start[r], start[r + 1]):
                    masses[0, local[column[e]], n] += w * value[e]
                for k in range(n_classes):
                    bets[0, k, n] += w * own_bets[r, k]
                running_held += w
                running_count += 1
                i += 1
            held[0, n] = running_held
            counts[n] = running_count
            last_code[n] = code
            n += 1
        following = key[i] if i < m else -1
        _run_up(masses, n_sets, n, running)
        _run_up(bets, n_classes, n, running_bets)
        _cut_costs(masses, bets, held, whole, n, sets, members, options, work)
        for j in range(n):
            high = last_code[j + 1] if j + 1 < n else following
            if counts[j] == n_rows or counts[j] < min_leaf or n_rows - counts[j] < min_leaf:
                continue
            if held[0, j] < min_weight or held[1, j] < min_weight:
                continue
            if work[2, j] < best - TIE * total:
                best, best_low, best_high = work[2, j], last_code[j], high
    return best, best_low, best_high


@_part
def _local_sets(rows, first, last, labels, local, sets):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Focal sets that occur in a node, in order, the frame last; `local` gets their places."""
    start, column = labels[0], labels[1]
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


@_part
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


@_part
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


@_part
def _best_split(
    data,
    labels,
    members,
    weight,
    rows,
    first,
    last,
    order,
    local,
    sets,
    whole,
    options,
    block,
    sorting,
    place,
):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The best split of a node: cost, feature, codes beside the cut, where missing values go."""
    codes, _, level_start = data
    key, row, other_key, other_row = sorting
    best, best_feature, best_low, best_high, best_missing = np.inf, -1, -1, -1, False
    most, n_seen, n_varying = int(options[8]), 0, 0
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
            cost, low, high = _scan(
                key,
                row,
                m,
                n_all - m,
                missing_left == 1,
                labels,
                weight,
                local,
                whole,
                sets,
                members,
                options,
                block,
            )
            if cost < best - TIE * whole[2]:
                best, best_feature, best_low, best_high = cost, j, low, high
                best_missing = missing_left == 1
    return best, best_feature, best_low, best_high, best_missing


@_part
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


@_part
def _threshold(levels, n_levels, low, high):  # type: ignore[no-untyped-def]  # pragma: no cover
    """See `growth.threshold_of`."""
    if high < 0 or high >= n_levels:
        return np.inf
    middle = 0.5 * levels[low] + 0.5 * levels[high]
    return middle if levels[low] <= middle < levels[high] else levels[low]


@_part
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


@_part
def _push(stack, n, first, last, depth, parent, side, state):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Put a node on the stack, and give its new height."""
    stack[n, 0], stack[n, 1], stack[n, 2] = first, last, depth
    stack[n, 3], stack[n, 4], stack[n, 5] = parent, side, state
    return n + 1


@_entry
def _grow(data, labels, members, weight, rows, options, seed, space, sorting, walk, nodes):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Grow a tree depth first, from left to right; see `growth.grow_numpy`."""
    codes, levels, level_start = data
    block, (local, all_sets, all_sums, bets, place) = space
    order, stack = walk
    whole_numbers, real_numbers, leaf = nodes
    max_depth, min_split = options[2], max(options[3], 2.0 * options[4])
    n_nodes = 0
    height = _push(stack, 0, 0, len(rows), 0, -1, 0, seed)
    while height > 0:
        height -= 1
        first, last, depth = stack[height, 0], stack[height, 1], stack[height, 2]
        parent, state, node = stack[height, 3], stack[height, 5], n_nodes
        n_nodes += 1
        if parent >= 0:
            whole_numbers[parent, stack[height, 4]] = node
        n_sets = _local_sets(rows, first, last, labels, local, all_sets)
        sets, sums = all_sets[:n_sets], all_sums[:n_sets]
        sums[:] = 0.0
        bets[:] = 0.0
        held = _add_up(rows, first, last, labels, weight, local, sums, bets)
        impurity = _impurity(sums, bets, held, sets, members, options)
        whole_numbers[node, 0] = whole_numbers[node, 1] = whole_numbers[node, 2] = LEAF
        whole_numbers[node, 3], whole_numbers[node, 4] = 0, last - first
        real_numbers[node, 0], real_numbers[node, 1], real_numbers[node, 2] = np.nan, impurity, held
        for i in range(first, last):
            leaf[rows[i]] = node
        if depth >= max_depth or last - first < min_split or held < 2.0 * options[5]:
            continue
        _set_order(order, state, options[8] < len(order))
        cost, feature, low, high, missing_left = _best_split(
            data,
            labels,
            members,
            weight,
            rows,
            first,
            last,
            order,
            local,
            sets,
            (sums, bets, held),
            options,
            block,
            sorting,
            place,
        )
        decrease = impurity - cost / held
        if feature < 0 or decrease * held / options[7] < options[6]:
            continue
        if options[6] >= 0.0 and decrease <= TIE:
            continue
        own, start = codes[feature], level_start[feature]
        n_levels = level_start[feature + 1] - start
        middle = _partition(own, n_levels, low, missing_left, rows, first, last, sorting[3])
        whole_numbers[node, 2] = feature
        whole_numbers[node, 3] = _sides_of_missing(
            own, n_levels, missing_left, weight, rows, first, middle, last
        )
        real_numbers[node, 0] = _threshold(levels[start : start + n_levels], n_levels, low, high)
        other = max((state * 69621 + 1) % MODULUS, 1)
        height = _push(stack, height, middle, last, depth + 1, node, 1, other)
        other = (state * 16807) % MODULUS
        height = _push(stack, height, first, middle, depth + 1, node, 0, other)
    return n_nodes
