"""The inner loop of growth, compiled: the best cut of each node, of sorted rows.

What judges a side of a cut is a sum over its rows. Each row has a few numbers, in `column` and
`value`: its weight, its mass on the frame, and those on sets of classes, lines `HELD`, `FRAME` and
from `SETS` on. Rows are added up in the order of a feature until a block of `BLOCK` cuts is full, a
column of the `table` for each, so that the logarithms of all are taken at once: O(F) work for each
value. Only sets that occur in a node have lines in its table: `own` has which, `place` where.
Behind them come bets on the classes, and at the end three lines to work in.

Compiling is what a first fit waits for, and nearly all of it is in proportion to what is written
here, 2 to 5 ms for an access to an array and 15 to 30 for a loop; a part in a function of its own
is compiled once more in all that call it. So this is one function, which gets sorted rows and does
nothing but add and judge. What tells where a number is has no sign, as compiled code would look
whether it is negative.
"""

from typing import Any

import numba
from numba import types
from numba.extending import intrinsic

from plausible.models.tree.growth import TIE

BLOCK = 64
TINY = 1e-290

HELD, FRAME, SETS = range(3)  # lines
FIRST, LAST, N_LINES, SLOT, CUT = range(5)  # of nodes
WIDTH = 5  # numbers of a node, whole and real
WEIGHT, COST, LEAST_COST = range(3)  # of nodes, real numbers
DISCORD, VACUOUS, MIN_LEAF, MIN_WEIGHT = range(4)  # of limits

_options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
_options["no_cfunc_wrapper"] = True  # a way in for C would be compiled as well

HALF_ROOT = 0x3FE6A09E667F3BCD  # the square root of one half, in bits


def _log2(context: Any, x: Any) -> Any:
    """Logarithm to base 2 of a number, at least `TINY`, written out so that loops run on vectors.

    With x = 2^e m and m in [sqrt(1/2), sqrt(2)), log m is twice the artanh of (m - 1) / (m + 1),
    whose series to the power of 15 is exact to 1e-13.
    """

    def written_out(context: Any, b: Any, signature: Any, given: Any) -> Any:
        real, whole = map(context.get_value_type, (types.float64, types.int64))
        fused, one = ("contract",), real(1.0)
        x = b.select(b.fcmp_ordered(">", given[0], real(TINY)), given[0], real(TINY))
        bits = b.add(b.bitcast(x, whole), whole(0x3FF0000000000000 - HALF_ROOT))
        # A whole number in the last bits of 2^52 becomes a float without a conversion.
        power = b.bitcast(b.or_(b.lshr(bits, whole(52)), whole(0x4330000000000000)), real)
        m = b.bitcast(b.add(b.and_(bits, whole(0x000FFFFFFFFFFFFF)), whole(HALF_ROOT)), real)
        s = b.fdiv(b.fsub(m, one), b.fadd(m, one))
        z, p = b.fmul(s, s), real(1.0 / 15.0)
        for odd in (13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0):
            p = b.fadd(b.fmul(p, z, fused), real(1.0 / odd), fused)
        p = b.fmul(b.fmul(s, p), real(2.8853900817779268), fused)  # 2 / log(2)
        return b.fadd(b.fsub(power, real(4503599627371519.0)), p, fused)  # 2^52 + 1023

    return types.float64(types.float64), written_out


log2: Any = intrinsic(_log2)


@numba.njit(cache=True, **_options)
def scan(  # type: ignore[no-untyped-def]  # pragma: no cover
    pairs, fresh, bits, n_classes, rows, start, column, value, begin, members, loose, limits, own,
    place, current, whole, table, ends, nodes, reals
):  # fmt: skip
    """Write down the cut of each node that costs least, if it is better than what it has.

    A line of `pairs`, a slot, has the rows of one node after the other, each as its code above the
    last `bits`, and its place in `rows` in these. If `fresh` is 1, the first slot has equal codes
    in a node: it tells what is in the node; if 0, this is still there from the call before.
    """
    n_all = len(own)
    bet, cost, both = n_all + n_classes, n_all + n_classes + 1, n_all + n_classes + 2
    mask, discord, vacuous = (1 << bits) - 1, limits[DISCORD], limits[VACUOUS]
    frame_loose, fewest, lightest = loose[FRAME], limits[MIN_LEAF], limits[MIN_WEIGHT]
    for node in range(0, len(nodes), WIDTH):
        first, last, n_lines = nodes[node], nodes[node + LAST], nodes[node + N_LINES]
        for slot in range(len(pairs)):
            if slot < fresh:
                for a in range(n_all):
                    place[a] = a
            elif (pairs[slot, first] ^ pairs[slot, last - 1]) >> bits == 0:
                continue
            for line in range(n_lines):
                current[line] = 0.0
            at = first
            while at < last:
                n = 0
                while at < last and n < BLOCK:
                    pair = pairs[slot, at]
                    r = rows[pair & mask]
                    for e in range(start[r], start[r + 1]):
                        current[place[column[e]]] += value[e]
                    at += 1
                    if (pair ^ pairs[slot, at]) >> bits:
                        for line in range(n_lines):
                            table[line, n] = current[line]
                        ends[n] = at
                        n += 1
                if slot < fresh:
                    n_lines = 0
                    for a in range(n_all):
                        mass = current[a]
                        if a < SETS or mass > 0.0:
                            own[n_lines], place[a], table[n_lines, 0] = a, n_lines, mass
                            n_lines += 1
                    nodes[node + N_LINES] = n_lines
                full = (n + 3) & -4  # loops without a rest
                for k in range(n_lines, n_lines + n_classes):
                    for j in range(full):
                        table[k, j] = table[FRAME, j] / n_classes
                for line in range(SETS, n_lines):
                    a = own[line]
                    share = 1.0 / (begin[a + 1] - begin[a])
                    for e in range(begin[a], begin[a + 1]):
                        k = n_lines + members[e]
                        for j in range(full):
                            table[k, j] += share * table[line, j]
                if slot < fresh:
                    for line in range(n_lines + n_classes):
                        whole[line] = table[line, 0]
                for side in range(1 + (slot >= fresh)):
                    any_cost = 0.0
                    for line in range(SETS, n_lines):
                        a = own[line]
                        base, any_bet = vacuous * (begin[a + 1] - begin[a]) / n_classes, 0.0
                        for e in range(begin[a], begin[a + 1]):
                            k = n_lines + members[e]
                            for j in range(full):
                                table[bet, j] = any_bet * table[bet, j] + table[k, j]
                            any_bet = 1.0
                        own_loose = loose[a]
                        for j in range(full):
                            mass, most = table[line, j], table[bet, j] + base
                            most = most if most > mass else mass  # at least, but for rounding
                            mass *= own_loose - discord * log2(most)
                            table[cost, j] = any_cost * table[cost, j] + mass
                        any_cost = 1.0
                    for j in range(full):
                        held, mass = table[HELD, j], table[FRAME, j]
                        apart = discord * (held - mass) * log2(held + vacuous)
                        mass = frame_loose * (mass + vacuous) + apart + any_cost * table[cost, j]
                        mass = held * mass / (held + vacuous) if held > 0.0 < mass else 0.0
                        table[both, j] = side * table[both, j] + mass
                    for line in range((n_lines + n_classes) * (1 - side)):  # what is left over
                        total = whole[line]
                        for j in range(full):
                            mass = total - table[line, j]
                            table[line, j] = mass if mass > 0.0 else 0.0
                if slot < fresh:
                    reals[node], reals[node + COST] = whole[HELD], table[both, 0]
                for j in range(n):
                    cut, held = ends[j], table[HELD, j]
                    if (
                        first + fewest <= cut <= last - fewest
                        and lightest <= held <= whole[HELD] - lightest
                        and table[both, j] < reals[node + LEAST_COST] - TIE * whole[HELD]
                    ):
                        reals[node + LEAST_COST] = table[both, j]
                        nodes[node + SLOT], nodes[node + CUT] = slot, cut
