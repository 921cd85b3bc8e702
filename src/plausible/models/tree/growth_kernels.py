"""The inner loops of growth, compiled; all in one file, whose time numba's cache looks at.

In a node, the rows are sorted by the codes of a feature. Their masses are added up, value by value,
in blocks of `BLOCK` values. A block has one line for each focal set that occurs in the node,
so that the logarithms of all its cuts are taken at once: O(F) work for each value.

The parts of a node travel together: `known` is labels (starts, columns and values of the masses),
classes of the focal sets (starts and members), weights and options (`Settings`); `node`
is sums of masses on its own sets, sums of bets, its weight, these sets, and the place of every set
among them.
"""

import math
from typing import Any

import numba
import numpy as np

from plausible.models.tree.growth import MODULUS, MULTIPLIER, TIE
from plausible.models.tree.structure import LEAF

BLOCK = 64
FEW = 40  # rows up to which sorting by insertion is quickest
TINY = 1e-290

_options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
# Parts that only compiled code calls: without ways in for others they compile twice as fast.
_inner: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_part = numba.njit(**_inner, **_options)


@_part
def _log2(x):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Logarithm to base 2 of a positive normal number, written out so that loops run on vectors.

    With x = 2^e m and m in [sqrt(1/2), sqrt(2)), log m is twice the artanh of (m - 1) / (m + 1),
    whose series to the power of 15 is exact to 1e-13.
    """
    root = np.uint64(0x3FE6A09E667F3BCD)  # of one half
    bits = np.float64(x).view(np.uint64) + (np.uint64(0x3FF0000000000000) - root)
    # A whole number in the last bits of 2^52 becomes a float without a conversion.
    power = np.uint64((bits >> np.uint64(52)) | np.uint64(0x4330000000000000)).view(np.float64)
    m = np.uint64((bits & np.uint64(0x000FFFFFFFFFFFFF)) + root).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 1.0 / 15.0
    p = p * z + 1.0 / 13.0
    p = p * z + 1.0 / 11.0
    p = p * z + 1.0 / 9.0
    p = p * z + 1.0 / 7.0
    p = p * z + 1.0 / 5.0
    p = p * z + 1.0 / 3.0
    p = p * z + 1.0
    return (power - 4503599627371519.0) + s * p * 2.8853900817779268  # 2^52 + 1023, 2 / log(2)


@_part
def _positive(x):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The number, or the least that `_log2` takes."""
    return x if x > TINY else TINY


@_part
def _left(x):  # type: ignore[no-untyped-def]  # pragma: no cover
    """What is left of a sum: nothing rather than less than nothing by rounding."""
    return x if x > 0.0 else 0.0


@_part
def _add_up(row, first, last, known, local, sums):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add masses of rows to sums on local sets; gives their weight."""
    (start, column, value), _, weight, _ = known
    total = 0.0
    for i in range(first, last):
        r = row[i]
        w = weight[r]
        total += w
        for e in range(start[r], start[r + 1]):
            sums[local[column[e]]] += w * value[e]
    return total


@_part
def _bet(sums, sets, known, bets):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Bets of sums of masses: each is shared by the classes of its set."""
    member_start, member = known[1]
    for k in range(len(bets)):
        bets[k] = 0.0
    for a in range(len(sets)):
        first, last = member_start[sets[a]], member_start[sets[a] + 1]
        for e in range(first, last):
            bets[member[e]] += sums[a] / (last - first)


@_part
def _impurity(node, known):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Impurity of a node from its sums on its sets, of which the last is the frame."""
    sums, bets, held, sets, _ = node
    member_start, member = known[1]
    discord, vacuous = known[3][0], known[3][1]
    n_classes = len(bets)
    total = held + vacuous
    result = (1.0 - discord) * math.log2(float(n_classes)) * (sums[len(sets) - 1] + vacuous)
    for a in range(len(sets) - 1):
        first, last = member_start[sets[a]], member_start[sets[a] + 1]
        betting = vacuous * (last - first) / n_classes
        for e in range(first, last):
            betting += bets[member[e]]
        betting = betting if betting > sums[a] else sums[a]
        surprise = -math.log2(betting / total) if betting < total else 0.0
        size = math.log2(float(last - first))
        result += sums[a] * ((1.0 - discord) * size + discord * surprise)
    return result / total


@_part
def _side(masses, bets, held, side, n, sets, known, work):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Weighted impurity of one side of n cuts, added to the last line of work."""
    member_start, member = known[1]
    discord, vacuous = known[3][0], known[3][1]
    n_classes, frame = bets.shape[1], len(sets) - 1
    whole = (1.0 - discord) * math.log2(float(n_classes))
    for j in range(n):
        apart = held[side, j] - masses[side, frame, j]
        total = discord * apart * _log2(_positive(held[side, j] + vacuous))
        work[1, j] = whole * (masses[side, frame, j] + vacuous) + total
    for a in range(frame):
        first, last = member_start[sets[a]], member_start[sets[a] + 1]
        size = (1.0 - discord) * math.log2(float(last - first))
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
            betting = work[0, j] if work[0, j] > mass else mass  # at least, but for rounding
            work[1, j] += mass * (size - discord * _log2(_positive(betting)))
    for j in range(n):
        work[2, j] += held[side, j] * _left(work[1, j]) / _positive(held[side, j] + vacuous)


@_part
def _cut_costs(masses, bets, held, n, node, known, work):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Weighted impurity of both sides of n cuts; the right side is what the left leaves."""
    sums, all_bets, total, sets, _ = node
    member_start, member = known[1]
    for j in range(n):
        work[2, j] = 0.0
    for k in range(len(all_bets)):
        for j in range(n):
            bets[0, k, j] = 0.0
    for a in range(len(sets)):
        first, last = member_start[sets[a]], member_start[sets[a] + 1]
        share = 1.0 / (last - first)
        for e in range(first, last):
            k = member[e]
            for j in range(n):
                bets[0, k, j] += share * masses[0, a, j]
    for a in range(len(sets)):
        for j in range(n):
            masses[1, a, j] = _left(sums[a] - masses[0, a, j])
    for k in range(len(all_bets)):
        for j in range(n):
            bets[1, k, j] = _left(all_bets[k] - bets[0, k, j])
    for j in range(n):
        held[1, j] = _left(total - held[0, j])
    for side in range(2):
        _side(masses, bets, held, side, n, sets, known, work)


@_part
def _run_up(tables, n_lines, n, running):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Running sums along the lines of a block, from where the last block ended.

    Four lines at a time: a single sum would wait for each of its additions.
    """
    most = n_lines - 1
    for a in range(0, n_lines, 4):
        b = a + 1 if a + 1 < most else most
        c = a + 2 if a + 2 < most else most
        d = a + 3 if a + 3 < most else most
        t0, t1, t2, t3 = running[a], running[b], running[c], running[d]
        for j in range(n):
            t0 += tables[0, a, j]
            t1 += tables[0, b, j]
            t2 += tables[0, c, j]
            t3 += tables[0, d, j]
            tables[0, a, j], tables[0, b, j], tables[0, c, j], tables[0, d, j] = t0, t1, t2, t3
        running[a], running[b], running[c], running[d] = t0, t1, t2, t3


@_part
def _fill(key, row, m, i, held, count, node, known, block):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add rows from i on to a new block: the next row, places filled, weight and count so far."""
    masses, _, block_held, _, counts, last_code, _ = block
    (start, column, value), _, weight, _ = known
    _, _, _, sets, local = node
    most = BLOCK if m - i > BLOCK else m - i
    for a in range(len(sets)):
        for j in range(most):
            masses[0, a, j] = 0.0
    n = 0
    while i < m and n < BLOCK:  # one place for each value
        code = key[i]
        while i < m and key[i] == code:
            r = row[i]
            w = weight[r]
            for e in range(start[r], start[r + 1]):
                masses[0, local[column[e]], n] += w * value[e]
            held += w
            count += 1
            i += 1
        block_held[0, n] = held
        counts[n] = count
        last_code[n] = code
        n += 1
    return i, n, held, count


@_part
def _scan(key, row, m, n_missing, missing_left, node, known, block):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The best cut of sorted rows: cost, last code on the left and first code on the right.

    The rows from m on have no value, and go left all together, or right.
    """
    masses, bets, block_held, running, counts, last_code, work = block
    options, total, n_sets = known[3], node[2], len(node[3])
    min_leaf, min_weight = options[4], options[5]
    for a in range(n_sets):
        running[a] = 0.0
    zero = np.int64(0)  # a plain zero would have parts compiled for zeros alone, too
    held, count, n_rows, i = 0.0, zero, m + n_missing, zero
    if missing_left:
        count = n_missing
        held = _add_up(row, m, n_rows, known, node[4], running)
    best, best_low, best_high = np.inf, -1, -1
    while i < m:
        i, n, held, count = _fill(key, row, m, i, held, count, node, known, block)
        _run_up(masses, n_sets, n, running)
        _cut_costs(masses, bets, block_held, n, node, known, work)
        for j in range(n):
            if counts[j] == n_rows or counts[j] < min_leaf or n_rows - counts[j] < min_leaf:
                continue
            if block_held[0, j] < min_weight or block_held[1, j] < min_weight:
                continue
            if work[2, j] < best - TIE * total:
                best, best_low = work[2, j], last_code[j]
                following = key[i] if i < m else -1
                best_high = last_code[j + 1] if j + 1 < n else following
    return best, best_low, best_high


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
        for b in range(257):
            place[b] = 0
        for i in range(m):
            place[((key[i] >> shift) & 255) + 1] += 1
        for b in range(256):
            place[b + 1] += place[b]
        for i in range(m):
            b = (key[i] >> shift) & 255
            other_key[place[b]] = key[i]
            other_row[place[b]] = row[i]
            place[b] += 1
        key, other_key = other_key, key
        row, other_row = other_row, row
        shift += 8
    if shift // 8 % 2:
        for i in range(m):  # back; loops, as assigning slices takes seconds to compile
            other_key[i] = key[i]
            other_row[i] = row[i]


@_part
def _local_sets(rows, first, last, known, local, sets):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Focal sets that occur in a node, in order, the frame last; `local` gets their places."""
    start, column = known[0][0], known[0][1]
    n_sets = len(local)
    for a in range(n_sets):
        local[a] = -1
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
            cost, low, high = _scan(key, row, m, n_all - m, missing_left == 1, node, known, block)
            if cost < best - TIE * node[2]:
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


@_part
def _divide(data, known, rows, first, last, split, spare, whole_numbers, real_numbers):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Send the rows of a node to both sides, and write its split down; where the right begins."""
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


@_part
def _may_be_split(depth, n_rows, held, options):  # type: ignore[no-untyped-def]  # pragma: no cover
    """See `growth.can_be_split`."""
    enough = n_rows >= options[3] and n_rows >= 2.0 * options[4] and held >= 2.0 * options[5]
    return depth < options[2] and enough


@_part
def _is_enough(decrease, held, options):  # type: ignore[no-untyped-def]  # pragma: no cover
    """See `growth.is_enough`."""
    return decrease * held / options[7] >= options[6] and (options[6] < 0.0 or decrease > TIE)


@_part
def _begin(rows, first, last, node, whole_numbers, real_numbers, leaf, impurity, held):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write a node down as a leaf."""
    whole_numbers[0] = whole_numbers[1] = whole_numbers[2] = LEAF
    whole_numbers[3], whole_numbers[4] = 0, last - first
    real_numbers[0], real_numbers[1], real_numbers[2] = np.nan, impurity, held
    for i in range(first, last):
        leaf[rows[i]] = node


@numba.njit(cache=True, **_options)
def grow(data, known, rows, seed, space, sorting, walk, nodes):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Grow a tree depth first, from left to right; see `growth.grow_numpy`."""
    block, (local, all_sets, all_sums, bets, place) = space
    order, stack = walk
    whole, real, leaf = nodes
    # Plain numbers would have parts compiled for these numbers alone, too.
    zero, one = np.int64(0), np.int64(1)
    options, n_nodes = known[3], zero
    height = _push(stack, zero, zero, np.int64(len(rows)), zero, -one, zero, seed)
    while height > 0:
        height -= 1
        first, last, depth = stack[height, 0], stack[height, 1], stack[height, 2]
        parent, state, number = stack[height, 3], stack[height, 5], n_nodes
        n_nodes += 1
        if parent >= 0:
            whole[parent, stack[height, 4]] = number
        n_sets = _local_sets(rows, first, last, known, local, all_sets)
        sums = all_sums[:n_sets]
        for a in range(n_sets):
            sums[a] = 0.0
        held = _add_up(rows, first, last, known, local, sums)
        node = (sums, bets, held, all_sets[:n_sets], local)
        _bet(sums, node[3], known, bets)
        impurity = _impurity(node, known)
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
        other = (state * 69621 + 1) % MODULUS
        other = other if other > 1 else one
        height = _push(stack, height, middle, last, depth + 1, number, one, other)
        other = (state * 16807) % MODULUS
        height = _push(stack, height, first, middle, depth + 1, number, zero, other)
    return n_nodes
