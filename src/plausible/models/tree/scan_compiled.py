"""The best cut of sorted rows, compiled: the inner loops of `growth_compiled`.

Masses and bets are added up, value by value, in blocks of `BLOCK` values. A block has one line for
each focal set that occurs in the node, so that the logarithms of all its cuts are taken at once:
O(F) work for each value.

The parts of a node travel together: `known` is labels (starts, columns and values of the masses,
and bets), classes of the focal sets (starts and members), weights and options (`Settings`); `node`
is sums of masses on its own sets, sums of bets, its weight, these sets, and the place of every set
among them.
"""

from typing import Any

import numba
import numpy as np

from plausible.models.tree.growth import TIE

BLOCK = 64
TINY = 1e-290

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
# Parts that only compiled code calls: without ways in for others they compile twice as fast.
_inner: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
part = numba.njit(**_inner, **OPTIONS)


@part
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


@part
def add_up(row, first, last, known, local, sums, bets):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add masses and bets of rows to sums on local sets; gives their weight."""
    (start, column, value, own_bets), _, weight, _ = known
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


@part
def impurity_of(node, known):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Impurity of a node from its sums on its sets, of which the last is the frame."""
    sums, bets, held, sets, _ = node
    member_start, member = known[1]
    discord, vacuous = known[3][0], known[3][1]
    n_classes = len(bets)
    total = held + vacuous
    result = (1.0 - discord) * np.log2(float(n_classes)) * (sums[len(sets) - 1] + vacuous)
    for a in range(len(sets) - 1):
        first, last = member_start[sets[a]], member_start[sets[a] + 1]
        betting = vacuous * (last - first) / n_classes
        for e in range(first, last):
            betting += bets[member[e]]
        surprise = -np.log2(min(max(betting, sums[a]) / total, 1.0))
        size = np.log2(float(last - first))
        result += sums[a] * ((1.0 - discord) * size + discord * surprise)
    return result / total


@part
def _side(masses, bets, held, side, n, sets, known, work):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Weighted impurity of one side of n cuts, added to the last line of work."""
    member_start, member = known[1]
    discord, vacuous = known[3][0], known[3][1]
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


@part
def _cut_costs(masses, bets, held, n, node, known, work):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Weighted impurity of both sides of n cuts; the right side is what the left leaves."""
    sums, all_bets, total, sets, _ = node
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
        _side(masses, bets, held, side, n, sets, known, work)


@part
def _run_up(tables, n_lines, n, running):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Running sums along the lines of a block, from where the last block ended."""
    for a in range(n_lines):
        total = running[a]
        for j in range(n):
            total += tables[0, a, j]
            tables[0, a, j] = total
        running[a] = total


@part
def _fill(key, row, m, i, held, count, node, known, block):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add rows from i on to a new block: the next row, places filled, weight and count so far."""
    masses, bets, block_held, _, _, counts, last_code, _ = block
    (start, column, value, own_bets), _, weight, _ = known
    _, sum_of_bets, _, sets, local = node
    masses[0, : len(sets)] = 0.0
    bets[0] = 0.0
    n = 0
    while i < m and n < BLOCK:  # one place for each value
        code = key[i]
        while i < m and key[i] == code:
            r = row[i]
            w = weight[r]
            for e in range(start[r], start[r + 1]):
                masses[0, local[column[e]], n] += w * value[e]
            for k in range(len(sum_of_bets)):
                bets[0, k, n] += w * own_bets[r, k]
            held += w
            count += 1
            i += 1
        block_held[0, n] = held
        counts[n] = count
        last_code[n] = code
        n += 1
    return i, n, held, count


@part
def scan(key, row, m, n_missing, missing_left, node, known, block):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The best cut of sorted rows: cost, last code on the left and first code on the right.

    The rows from m on have no value, and go left all together, or right.
    """
    masses, bets, block_held, running, running_bets, counts, last_code, work = block
    options, total, n_sets = known[3], node[2], len(node[3])
    min_leaf, min_weight = options[4], options[5]
    running[:] = 0.0
    running_bets[:] = 0.0
    held, count, n_rows, i = 0.0, 0, m + n_missing, 0
    if missing_left:
        count = n_missing
        held = add_up(row, m, n_rows, known, node[4], running, running_bets)
    best, best_low, best_high = np.inf, -1, -1
    while i < m:
        i, n, held, count = _fill(key, row, m, i, held, count, node, known, block)
        _run_up(masses, n_sets, n, running)
        _run_up(bets, len(running_bets), n, running_bets)
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
