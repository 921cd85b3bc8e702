"""The inner loops of growth, compiled; all in one file, whose time numba's cache looks at.

In a node, the rows are sorted by the codes of a feature. Their masses are added up, value by value,
in blocks of `BLOCK` values, so that the logarithms of all cuts of a block are taken at once: O(F)
work for each value.

A `table` (3, 3 + K + F, BLOCK) holds a block: what is left of its cuts, right of them, and, in the
first columns, the sums of the whole node and those of all blocks so far. Its lines are scratch
(`BETTING`), costs, weights, bets on the K classes, and masses on the sets that occur in the node.
`sets` (3, F + 1) has where the `members` of each set begin, the sets that occur in the node, of
which the frame is the last, and the place of each set among these. A row and its code are one
number, a pair.

Compiling is what costs a first fit: kernels get arrays rather than tuples of them, of which they
would copy and count each, make no arrays or slices, and call each other in few levels, as a part
is optimized once more in all that call it.
"""

from typing import Any

import numba
import numpy as np

from plausible.models.tree.growth import MODULUS, MULTIPLIER, TIE
from plausible.models.tree.structure import LEAF

BLOCK = 64
FEW = 40  # rows up to which sorting by insertion is quickest
TINY = 1e-290
CODE, ROW = 32, 0xFFFFFFFF  # of a pair: the code is above these bits, the row within them

LEFT_SIDE, RIGHT_SIDE, NODE = range(3)  # of a table
WHOLE, RUNNING = 0, 1  # columns of the node
BETTING, COST, HELD, BETS = range(4)  # lines
MEMBERS, OCCURRING, PLACE = range(3)  # of sets
LEFT, RIGHT, FEATURE, LOW, HIGH, MISSING_LEFT, FIRST, LAST, DEPTH, STATE = range(10)  # of nodes
WEIGHT, IMPURITY, LEAST_COST = range(3)  # of nodes, real numbers
DISCORD, VACUOUS, MAX_DEPTH, MIN_SPLIT, MIN_LEAF, MIN_WEIGHT, MIN_DECREASE, TOTAL, MOST = range(9)

_options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
# Parts that only compiled code calls: without ways in for others they compile twice as fast.
_inner: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_part = numba.njit(**_inner, **_options)


@_part
def _log2(x):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Logarithm to base 2 of a number, at least `TINY`, written out so that loops run on vectors.

    With x = 2^e m and m in [sqrt(1/2), sqrt(2)), log m is twice the artanh of (m - 1) / (m + 1),
    whose series to the power of 15 is exact to 1e-13.
    """
    x = x if x > TINY else TINY
    root = np.uint64(0x3FE6A09E667F3BCD)  # of one half
    bits = np.float64(x).view(np.uint64) + (np.uint64(0x3FF0000000000000) - root)
    # A whole number in the last bits of 2^52 becomes a float without a conversion.
    power = np.uint64((bits >> np.uint64(52)) | np.uint64(0x4330000000000000)).view(np.float64)
    m = np.uint64((bits & np.uint64(0x000FFFFFFFFFFFFF)) + root).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = ((((z / 15.0 + 1.0 / 13.0) * z + 1.0 / 11.0) * z + 1.0 / 9.0) * z + 1.0 / 7.0) * z
    p = ((p + 1.0 / 5.0) * z + 1.0 / 3.0) * z + 1.0
    return (power - 4503599627371519.0) + s * p * 2.8853900817779268  # 2^52 + 1023, 2 / log(2)


@_part
def _gather(rows, first, last, start, column, value, weight, sets, table):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Find the sets that occur in a node and sum up its masses and weights; the number of sets."""
    n_all = sets.shape[1] - 1
    n_lines = table.shape[1]
    masses = n_lines - n_all
    for a in range(n_all):
        sets[PLACE, a] = -1
    for line in range(n_lines):
        table[NODE, line, WHOLE] = 0.0
    for i in range(first, last):
        r = rows[i]
        table[NODE, HELD, WHOLE] += weight[r]
        for e in range(start[r], start[r + 1]):
            a = column[e]
            sets[PLACE, a] = 0
            table[NODE, masses + a, WHOLE] += value[e]
    sets[PLACE, n_all - 1] = 0
    n = 0
    for a in range(n_all):
        if sets[PLACE, a] == 0:
            sets[PLACE, a] = n
            sets[OCCURRING, n] = a
            table[NODE, masses + n, WHOLE] = table[NODE, masses + a, WHOLE]
            n += 1
    return n


@_part
def _bet(side, n, n_sets, sets, members, table):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Bets of n sums of masses: each is shared by the classes of its set."""
    masses = table.shape[1] - sets.shape[1] + 1
    for k in range(BETS, masses):
        for j in range(n):
            table[side, k, j] = 0.0
    for a in range(n_sets):
        own = sets[OCCURRING, a]
        first, last = sets[MEMBERS, own], sets[MEMBERS, own + 1]
        share = 1.0 / (last - first)
        for e in range(first, last):
            k = BETS + members[e]
            for j in range(n):
                table[side, k, j] += share * table[side, masses + a, j]


@_part
def _judge(side, n, n_sets, sets, members, options, spread, table):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Weighted impurity of n sums of masses, from these and their bets."""
    discord, vacuous = options[DISCORD], options[VACUOUS]
    masses = table.shape[1] - sets.shape[1] + 1
    frame = masses + n_sets - 1
    all_spread, n_classes = spread[len(spread) - 1], masses - BETS
    for j in range(n):
        apart = table[side, HELD, j] - table[side, frame, j]
        total = discord * apart * _log2(table[side, HELD, j] + vacuous)
        table[side, COST, j] = all_spread * (table[side, frame, j] + vacuous) + total
    for a in range(n_sets - 1):
        own = sets[OCCURRING, a]
        first, last = sets[MEMBERS, own], sets[MEMBERS, own + 1]
        base = vacuous * (last - first) / n_classes
        for j in range(n):
            table[side, BETTING, j] = base
        for e in range(first, last):
            k = BETS + members[e]
            for j in range(n):
                table[side, BETTING, j] += table[side, k, j]
        for j in range(n):
            mass, betting = table[side, masses + a, j], table[side, BETTING, j]
            betting = betting if betting > mass else mass  # at least, but for rounding
            table[side, COST, j] += mass * (spread[own] - discord * _log2(betting))
    for j in range(n):
        cost, held = table[side, COST, j], table[side, HELD, j]
        table[side, COST, j] = held * cost / (held + vacuous) if cost > 0.0 and held > 0.0 else 0.0


@_part
def _run_up(n, n_sets, sets, table):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Running sums along the masses of a block, from where the last block ended.

    Four lines at a time: a single sum would wait for each of its additions.
    """
    masses = table.shape[1] - sets.shape[1] + 1
    most = masses + n_sets - 1
    for a in range(masses, most + 1, 4):
        b, c, d = min(a + 1, most), min(a + 2, most), min(a + 3, most)
        t0, t1 = table[NODE, a, RUNNING], table[NODE, b, RUNNING]
        t2, t3 = table[NODE, c, RUNNING], table[NODE, d, RUNNING]
        for j in range(n):
            t0 += table[LEFT_SIDE, a, j]
            t1 += table[LEFT_SIDE, b, j]
            t2 += table[LEFT_SIDE, c, j]
            t3 += table[LEFT_SIDE, d, j]
            table[LEFT_SIDE, a, j], table[LEFT_SIDE, b, j] = t0, t1
            table[LEFT_SIDE, c, j], table[LEFT_SIDE, d, j] = t2, t3
        table[NODE, a, RUNNING], table[NODE, b, RUNNING] = t0, t1
        table[NODE, c, RUNNING], table[NODE, d, RUNNING] = t2, t3


@_part
def _fill(pairs, form, i, n_rows, shift, start, column, value, weight, n_sets, sets, table, ends):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add rows from i on to a new block, a place for each value; how many places are filled.

    `ends` gets the number of rows up to each place, and its code, also that of the place behind.
    """
    masses = table.shape[1] - sets.shape[1] + 1
    for a in range(masses, masses + n_sets):
        for j in range(min(BLOCK, n_rows - i)):
            table[LEFT_SIDE, a, j] = 0.0
    held = table[NODE, HELD, RUNNING]
    n, last_code = -1, -1
    while i < n_rows:
        at = i + shift
        pair = pairs[form, at if at < n_rows else at - n_rows]
        code, r = pair >> CODE, pair & ROW
        if code != last_code:
            n += 1
            ends[1, n] = last_code = code
            if n == BLOCK:
                break
        held += weight[r]
        for e in range(start[r], start[r + 1]):
            table[LEFT_SIDE, masses + sets[PLACE, column[e]], n] += value[e]
        i += 1
        table[LEFT_SIDE, HELD, n] = held
        ends[0, n] = i
    table[NODE, HELD, RUNNING] = held
    return n if n == BLOCK else n + 1


@_part
def _take_rest(n, n_sets, table, first_mass):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The right side is what the left leaves of the node."""
    for line in range(HELD, first_mass + n_sets):
        total = table[NODE, line, WHOLE]
        for j in range(n):
            left_over = total - table[LEFT_SIDE, line, j]
            table[RIGHT_SIDE, line, j] = left_over if left_over > 0.0 else 0.0


@_part
def _choose(n, n_rows, feature, missing, number, options, table, ends, nodes, reals):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write the best cut of a block down, if it is better than all before."""
    tie = TIE * table[NODE, HELD, WHOLE]
    for j in range(n):
        n_left = ends[0, j]
        fewest = min(n_left, n_rows - n_left)
        lightest = min(table[LEFT_SIDE, HELD, j], table[RIGHT_SIDE, HELD, j])
        cost = table[LEFT_SIDE, COST, j] + table[RIGHT_SIDE, COST, j]
        if fewest < options[MIN_LEAF] or lightest < options[MIN_WEIGHT] or fewest == 0:
            continue
        # With missing values on the left, they against all others was judged before.
        if cost < reals[number, LEAST_COST] - tie and ends[1, j] < ends[1, j + 1]:
            reals[number, LEAST_COST] = cost
            nodes[number, FEATURE], nodes[number, MISSING_LEFT] = feature, missing
            nodes[number, LOW], nodes[number, HIGH] = ends[1, j], ends[1, j + 1]


@_part
def _load(codes, feature, rows, first, last, n_levels, pairs):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Pairs of a node's rows: how many have a value; -1 if the codes do not vary."""
    n_known, varies = 0, 0
    code = codes[feature, rows[first]]
    for i in range(first, last):
        r = np.int64(rows[i])
        other = np.int64(codes[feature, r])
        pairs[0, i - first] = other << CODE | r
        n_known += other != n_levels
        varies |= other != code
    return n_known if varies else -1


@_part
def _sort(pairs, n, n_codes, place):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Sort pairs, in one of both lines: in which they are then.

    By insertion, or byte by byte of the codes, where equal ones keep their order, as in the node.
    """
    form, shift = 0, 0
    if n <= FEW:
        for i in range(1, n):
            pair, j = pairs[0, i], i - 1
            while j >= 0 and pairs[0, j] > pair:
                pairs[0, j + 1] = pairs[0, j]
                j -= 1
            pairs[0, j + 1] = pair
        return form
    while n_codes > 1 << shift:
        for b in range(257):
            place[b] = 0
        for i in range(n):
            place[((pairs[form, i] >> (CODE + shift)) & 255) + 1] += 1
        for b in range(256):
            place[b + 1] += place[b]
        for i in range(n):
            b = (pairs[form, i] >> (CODE + shift)) & 255
            pairs[1 - form, place[b]] = pairs[form, i]
            place[b] += 1
        form = 1 - form
        shift += 8
    return form


@_part
def _partition(codes, n_levels, number, rows, nodes, spare):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Bring the rows that go left to the front, in their order; where the others begin."""
    feature, low = nodes[number, FEATURE], nodes[number, LOW]
    missing = n_levels[feature] if nodes[number, MISSING_LEFT] == 1 else low
    at, n_right = nodes[number, FIRST], 0
    for i in range(nodes[number, FIRST], nodes[number, LAST]):
        r = rows[i]
        code = codes[feature, r]
        if code <= low or code == missing:
            rows[at] = r
            at += 1
        else:
            spare[0, n_right] = r
            n_right += 1
    for i in range(n_right):
        rows[at + i] = spare[0, i]
    return at


@_part
def _begin(number, first, last, depth, state, nodes):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write a new node down as a leaf."""
    nodes[number, FIRST], nodes[number, LAST] = first, last
    nodes[number, DEPTH], nodes[number, STATE] = depth, state
    nodes[number, LEFT] = nodes[number, RIGHT] = nodes[number, FEATURE] = LEAF


@_part
def _split(  # type: ignore[no-untyped-def]  # pragma: no cover
    number, n_sets, codes, n_levels, rows, start, column, value, weight, sets, members, options,
    spread, order, pairs, place, table, ends, nodes, reals
):  # fmt: skip
    """Write the best split of a node down; the features are drawn as by `growth.draw_order`."""
    first, last, state = nodes[number, FIRST], nodes[number, LAST], nodes[number, STATE]
    zero, d, n_rows, n_varying = np.int64(LEFT_SIDE), len(order), last - first, 0
    first_mass = table.shape[1] - sets.shape[1] + 1
    for i in range(d):
        order[i] = i
    for i in range(d):
        if i >= options[MOST] and n_varying > 0:
            break
        if options[MOST] < d:
            state = (state * MULTIPLIER) % MODULUS
            j = i + np.int64((d - i) * (state / MODULUS))
            order[i], order[j] = order[j], order[i]
        feature = order[i]
        n_known = _load(codes, feature, rows, first, last, n_levels[feature], pairs)
        if n_known < 0:
            continue
        n_varying += 1
        form = _sort(pairs, n_rows, n_levels[feature] + 1, place)
        for missing_left in range(2 if n_known < n_rows else 1):
            shift = n_known * missing_left
            missing = missing_left if n_known < n_rows else LEAF
            for line in range(HELD, table.shape[1]):
                table[NODE, line, RUNNING] = 0.0
            at = zero
            while at < n_rows:
                n = _fill(
                    pairs, form, at, n_rows, shift, start, column, value, weight, n_sets, sets,
                    table, ends
                )  # fmt: skip
                _run_up(n, n_sets, sets, table)
                _bet(zero, n, n_sets, sets, members, table)
                _take_rest(n, n_sets, table, first_mass)
                for side in range(2):
                    _judge(side, n, n_sets, sets, members, options, spread, table)
                _choose(n, n_rows, feature, missing, number, options, table, ends, nodes, reals)
                at = ends[0, n - 1]


@numba.njit(cache=True, **_options)
def grow(  # type: ignore[no-untyped-def]  # pragma: no cover
    codes, n_levels, rows, seed, start, column, value, weight, sets, members, options, spread,
    order, pairs, place, table, ends, nodes, reals, stack
):  # fmt: skip
    """Grow a tree depth first, from left to right; see `growth.grow_numpy`."""
    zero, one, node = np.int64(0), np.int64(1), np.int64(NODE)  # plain ones compile parts for each
    _begin(zero, zero, np.int64(len(rows)), zero, seed, nodes)
    n_nodes, height = one, one
    stack[0] = 0
    while height > 0:
        height -= 1
        number = stack[height]
        first, last, depth = nodes[number, FIRST], nodes[number, LAST], nodes[number, DEPTH]
        n_sets = _gather(rows, first, last, start, column, value, weight, sets, table)
        _bet(node, one, n_sets, sets, members, table)
        _judge(node, one, n_sets, sets, members, options, spread, table)
        held, cost, n_rows = table[NODE, HELD, WHOLE], table[NODE, COST, WHOLE], last - first
        reals[number, WEIGHT], reals[number, IMPURITY] = held, cost / held
        reals[number, LEAST_COST] = np.inf
        # See `growth.can_be_split`.
        many = n_rows >= options[MIN_SPLIT] and n_rows >= 2.0 * options[MIN_LEAF]
        if depth >= options[MAX_DEPTH] or not many or held < 2.0 * options[MIN_WEIGHT]:
            continue
        _split(
            number, n_sets, codes, n_levels, rows, start, column, value, weight, sets, members,
            options, spread, order, pairs, place, table, ends, nodes, reals
        )  # fmt: skip
        least = options[MIN_DECREASE]
        gain = cost - reals[number, LEAST_COST]  # see `growth.is_enough`
        if gain / options[TOTAL] < least or (least >= 0.0 and gain <= TIE * held):
            nodes[number, FEATURE] = LEAF
            continue
        if nodes[number, FEATURE] < 0:
            continue
        middle = _partition(codes, n_levels, number, rows, nodes, pairs)
        state = nodes[number, STATE]
        other = (state * 69621 + 1) % MODULUS
        nodes[number, LEFT], nodes[number, RIGHT] = n_nodes, n_nodes + 1
        _begin(n_nodes, first, middle, depth + 1, (state * 16807) % MODULUS, nodes)
        _begin(n_nodes + 1, middle, last, depth + 1, max(other, 1), nodes)
        stack[height], stack[height + 1] = n_nodes + 1, n_nodes
        height += 2
        n_nodes += 2
    return n_nodes
