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
N_REAL, N_WHOLE = 4, 5  # numbers of a node: real ones and whole ones

_compile = numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})


def grow_compiled(
    features: Features, knowledge: Knowledge, weight: FloatArray, settings: Settings, seed: int
) -> Grown:
    """Grow a tree; see `growth.grow_numpy`."""
    masses = knowledge.masses
    members = np.nonzero(knowledge.inside)[1]
    member_start = np.concatenate([[0], np.cumsum(knowledge.sizes)])
    rows = np.flatnonzero(weight > 0.0)
    whole, real, leaf = _grow(
        (features.codes, features.levels, features.start),
        (
            masses.indptr.astype(np.int64),
            masses.indices.astype(np.int64),
            masses.data.astype(np.float64),
            np.ascontiguousarray(knowledge.bets),
        ),
        (member_start.astype(np.int64), members.astype(np.int64)),
        np.ascontiguousarray(weight),
        rows.astype(np.int64),
        tuple(map(float, settings)),
        seed,
    )
    left, right, feature, missing_left, n_rows = whole.T.copy()
    threshold, impurity, held, _ = real.T.copy()
    return Grown(
        left, right, feature, threshold, missing_left.astype(bool), impurity, n_rows, held, leaf
    )


@_compile
def _log2(x, n, out, bits, power, power_bits):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Logarithms to base 2 of positive normal numbers, written out so that it runs on vectors.

    With x = 2^e m and m in [sqrt(1/2), sqrt(2)), log m is twice the artanh of (m - 1) / (m + 1),
    whose series to the power of 19 is exact to double precision.
    """
    root = np.uint64(0x3FE6A09E667F3BCD)  # of one half
    ones = np.uint64(0x000FFFFFFFFFFFFF)
    shift = np.uint64(0x3FF0000000000000) - root
    magic = np.uint64(0x4330000000000000)  # 2^52: a whole number in its last bits
    for j in range(n):
        out[j] = x[j]
    for j in range(n):
        b = bits[j] + shift
        power_bits[j] = (b >> np.uint64(52)) | magic
        bits[j] = (b & ones) + root
    for j in range(n):
        s = (out[j] - 1.0) / (out[j] + 1.0)
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
        out[j] = (power[j] - 4503599627371519.0) + s * p * 2.8853900817779268  # 2 / log(2)


@_compile
def _sort(key, row, m, other_key, other_row, n_codes):  # type: ignore[no-untyped-def]  # pragma: no cover
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
    place = np.empty(257, np.int64)
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
        key[:m] = other_key[:m]
        row[:m] = other_row[:m]
        shift += 8


@_compile
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


@_compile
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


@_compile
def _side(masses, bets, held, n, sets, members, options, work, bits):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Weighted impurity of one side of n cuts, added to the last line of work."""
    discord, vacuous = options[0], options[1]
    n_classes = len(bets)
    betting, logs, power, total, cost = work[0], work[1], work[2], work[3], work[4]
    frame = masses[len(sets) - 1]
    whole = (1.0 - discord) * np.log2(float(n_classes))
    for j in range(n):
        betting[j] = max(held[j] + vacuous, TINY)
    _log2(betting, n, logs, bits[1], power, bits[2])
    for j in range(n):
        total[j] = whole * (frame[j] + vacuous) + discord * (held[j] - frame[j]) * logs[j]
    for a in range(len(sets) - 1):
        first, last = members[0][sets[a]], members[0][sets[a] + 1]
        own = masses[a]
        size = (1.0 - discord) * np.log2(float(last - first))
        base = vacuous * (last - first) / n_classes
        one = bets[members[1][first]]
        for j in range(n):
            betting[j] = one[j] + base
        for e in range(first + 1, last):
            one = bets[members[1][e]]
            for j in range(n):
                betting[j] += one[j]
        if discord > 0.0:
            for j in range(n):
                betting[j] = max(betting[j], max(own[j], TINY))
            _log2(betting, n, logs, bits[1], power, bits[2])
            for j in range(n):
                total[j] += own[j] * (size - discord * logs[j])
        else:
            for j in range(n):
                total[j] += own[j] * size
    for j in range(n):
        cost[j] += held[j] * max(total[j], 0.0) / max(held[j] + vacuous, TINY)


@_compile
def _cut_costs(block, other, whole, n, sets, members, options, work, bits):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Weighted impurity of both sides of n cuts; the right side is what the left leaves."""
    masses, bets, held = block
    masses_right, bets_right, held_right = other
    sums, all_bets, total = whole
    work[4, :n] = 0.0
    for a in range(len(sets)):
        for j in range(n):
            masses_right[a, j] = max(sums[a] - masses[a, j], 0.0)
    for k in range(len(bets)):
        for j in range(n):
            bets_right[k, j] = max(all_bets[k] - bets[k, j], 0.0)
    for j in range(n):
        held_right[j] = max(total - held[j], 0.0)
    _side(masses, bets, held, n, sets, members, options, work, bits)
    _side(masses_right, bets_right, held_right, n, sets, members, options, work, bits)


@_compile
def _run_up(table, n, running):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Running sums along the lines of a block, from where the last block ended."""
    for a in range(len(running)):
        line, total = table[a], running[a]
        for j in range(n):
            total += line[j]
            line[j] = total
        running[a] = total


@_compile
def _scan(
    key, row, m, n_before, missing_left, labels, weight, local, whole, sets, members, options, space
):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The best cut of sorted rows: cost, last code on the left and first code on the right.

    The rows from m on have no value. They go left if `n_before` of them do, and were added to the
    running sums in that case.
    """
    block, other, running, running_bets, counts, last_code, work, bits = space
    masses, bets, held = block
    start, column, value, own_bets = labels
    n_sets, n_classes = len(sets), len(whole[1])
    n_rows = n_before + m if missing_left else m + n_before
    total = whole[2]
    min_leaf, min_weight = options[4], options[5]
    best, best_low, best_high = np.inf, -1, -1
    running_held, running_count = 0.0, 0
    if missing_left:
        running_count = n_before
        running_held = _add_up(row, m, m + n_before, labels, weight, local, running, running_bets)
    i = 0
    while i < m:
        masses[:n_sets] = 0.0
        bets[:n_classes] = 0.0
        n = 0
        while i < m and n < BLOCK:  # one place in the block for each value
            code = key[i]
            while i < m and key[i] == code:
                r = row[i]
                w = weight[r]
                for e in range(start[r], start[r + 1]):
                    masses[local[column[e]], n] += w * value[e]
                for k in range(n_classes):
                    bets[k, n] += w * own_bets[r, k]
                running_held += w
                running_count += 1
                i += 1
            held[n] = running_held
            counts[n] = running_count
            last_code[n] = code
            n += 1
        following = key[i] if i < m else -1
        _run_up(masses, n, running)
        _run_up(bets, n, running_bets)
        _cut_costs(block, other, whole, n, sets, members, options, work, bits)
        for j in range(n):
            high = last_code[j + 1] if j + 1 < n else following
            if counts[j] == n_rows or counts[j] < min_leaf or n_rows - counts[j] < min_leaf:
                continue
            if held[j] < min_weight or total - held[j] < min_weight:
                continue
            if work[4, j] < best - TIE * total:
                best, best_low, best_high = work[4, j], last_code[j], high
    return best, best_low, best_high


@_compile
def _local_sets(rows, first, last, labels, local, n_sets):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Focal sets that occur in a node, in order, the frame last; `local` gets their places."""
    start, column = labels[0], labels[1]
    local[:] = -1
    for i in range(first, last):
        for e in range(start[rows[i]], start[rows[i] + 1]):
            local[column[e]] = 0
    local[n_sets - 1] = 0
    sets = np.empty(n_sets, np.int64)
    n = 0
    for a in range(n_sets):
        if local[a] == 0:
            local[a] = n
            sets[n] = a
            n += 1
    return sets[:n]


@_compile
def _shuffle(order, state):  # type: ignore[no-untyped-def]  # pragma: no cover
    """See `growth.draw_order`."""
    for i in range(len(order) - 1):
        state = (state * MULTIPLIER) % MODULUS
        j = i + int((len(order) - i) * (state / MODULUS))
        order[i], order[j] = order[j], order[i]
    return state


@_compile
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


@_compile
def _best_split(
    data, labels, members, weight, rows, first, last, order, local, sets, whole, options, space, sorting
):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The best split of a node: cost, feature, codes beside the cut, where missing values go."""
    codes, _, level_start = data
    key, row, other_key, other_row = sorting
    running, running_bets = space[2], space[3]
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
        _sort(key, row, m, other_key, other_row, n_codes)
        for missing_left in range(2 if m < n_all else 1):
            running[:] = 0.0
            running_bets[:] = 0.0
            cost, low, high = _scan(
                key, row, m, n_all - m, missing_left == 1, labels, weight, local, whole, sets,
                members, options, space,
            )
            if cost < best - TIE * whole[2]:
                best, best_feature, best_low, best_high = cost, j, low, high
                best_missing = missing_left == 1
    return best, best_feature, best_low, best_high, best_missing


@_compile
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


@_compile
def _threshold(levels, n_levels, low, high):  # type: ignore[no-untyped-def]  # pragma: no cover
    """See `growth.threshold_of`."""
    if high < 0 or high >= n_levels:
        return np.inf
    middle = 0.5 * levels[low] + 0.5 * levels[high]
    return middle if levels[low] <= middle < levels[high] else levels[low]


@_compile
def _space(n_sets, n_classes):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Arrays to work in."""
    block = (np.empty((n_sets, BLOCK)), np.empty((n_classes, BLOCK)), np.empty(BLOCK))
    other = (np.empty((n_sets, BLOCK)), np.empty((n_classes, BLOCK)), np.empty(BLOCK))
    work = np.empty((5, BLOCK))
    counts, last_code = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    running, running_bets = np.empty(n_sets), np.empty(n_classes)
    return block, other, running, running_bets, counts, last_code, work, work.view(np.uint64)


@_compile
def _grow(data, labels, members, weight, rows, options, seed):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Grow a tree depth first, from left to right; see `growth.grow_numpy`."""
    codes, levels, level_start = data
    n_sets, n_classes, n = len(members[0]) - 1, labels[3].shape[1], len(rows)
    max_depth, min_split = options[2], max(options[3], 2.0 * options[4])
    min_decrease, all_weight = options[6], options[7]
    space = _space(n_sets, n_classes)
    spare = np.empty(n, np.int64)
    sorting = (np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), spare)
    local = np.empty(n_sets, np.int64)
    order = np.arange(len(codes))
    state = np.int64(seed)
    leaf = np.full(codes.shape[1], LEAF, np.int64)
    whole_numbers = np.empty((max(2 * n - 1, 1), N_WHOLE), np.int64)
    real_numbers = np.empty((max(2 * n - 1, 1), N_REAL))
    stack = [(np.int64(0), np.int64(n), np.int64(0), np.int64(-1), np.int64(0))]
    n_nodes = 0
    while len(stack):
        first, last, depth, parent, side = stack.pop()
        node = n_nodes
        n_nodes += 1
        if parent >= 0:
            whole_numbers[parent, side] = node
        sets = _local_sets(rows, first, last, labels, local, n_sets)
        sums, bets = np.zeros(len(sets)), np.zeros(n_classes)
        held = _add_up(rows, first, last, labels, weight, local, sums, bets)
        impurity = _impurity(sums, bets, held, sets, members, options)
        whole_numbers[node] = LEAF
        whole_numbers[node, 3], whole_numbers[node, 4] = 0, last - first
        real_numbers[node] = np.nan
        real_numbers[node, 1], real_numbers[node, 2] = impurity, held
        for i in range(first, last):
            leaf[rows[i]] = node
        if depth >= max_depth or last - first < min_split or held < 2.0 * options[5]:
            continue
        if options[8] < len(order):
            state = _shuffle(order, state)
        cost, feature, low, high, missing_left = _best_split(
            data, labels, members, weight, rows, first, last, order, local, sets,
            (sums, bets, held), options, space, sorting,
        )
        decrease = impurity - cost / held
        if feature < 0 or decrease * held / all_weight < min_decrease:
            continue
        if min_decrease >= 0.0 and decrease <= TIE:
            continue
        n_levels = level_start[feature + 1] - level_start[feature]
        middle = _partition(
            codes[feature], n_levels, low, missing_left, rows, first, last, spare
        )
        has_missing, held_left = False, 0.0
        for i in range(first, last):
            has_missing |= codes[feature, rows[i]] == n_levels
            held_left += weight[rows[i]] if i < middle else 0.0
        goes_left = missing_left if has_missing else held_left > held - held_left
        own_levels = levels[level_start[feature] : level_start[feature + 1]]
        whole_numbers[node, 2], whole_numbers[node, 3] = feature, goes_left
        real_numbers[node, 0] = _threshold(own_levels, n_levels, low, high)
        stack.append((middle, last, depth + 1, np.int64(node), np.int64(1)))
        stack.append((first, middle, depth + 1, np.int64(node), np.int64(0)))
    return whole_numbers[:n_nodes].copy(), real_numbers[:n_nodes].copy(), leaf
