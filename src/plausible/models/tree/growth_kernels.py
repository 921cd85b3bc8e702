"""The inner loops of growth, compiled: the best cut of each node, of sorted rows.

What judges a side of a cut is a sum over its rows. Each row has a few numbers, in `column` and
`value`: its weight, its mass on the frame, and those on sets of classes, lines `HELD`, `FRAME` and
from `SETS` on. Rows are added up in the order of one feature after the other until a block of
`BLOCK` cuts is full, so that the logarithms of `LANES` of them are taken at once: O(F) work for
each value. Only sets that occur in a node have lines in its table: `own` has which, `place` where.
Behind them come bets on the classes, and at the end of the table the cost.

Compiling is what a first fit waits for, and nearly all of it is in proportion to what numba
handles, 2 to 5 ms for an access to an array and 15 to 30 for a loop; a part in a function of its
own is compiled once more in all that call it. So this is one function, which gets sorted rows and
does nothing but add, and what judges gives LLVM its instructions directly. What tells where a
number is has no sign, as compiled code would look whether it is negative.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from plausible.models.tree.growth import TIE

BLOCK, LANE_BITS = 64, 3
LANES = 1 << LANE_BITS
TINY = 1e-290

HELD, FRAME, SETS = range(3)  # lines
FIRST, LAST, SLOT, CUT = range(4)  # of nodes
WIDTH = 4  # numbers of a node, whole and real
WEIGHT, COST, LEAST_COST = range(3)  # of nodes, real numbers
DISCORD, VACUOUS, MIN_LEAF, MIN_WEIGHT, ONE = range(5)  # of limits
SHARE, BASE, LOOSE = range(3)  # of each set: share of its mass that a class has, bet on it, cost

_options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
_options["no_cfunc_wrapper"] = True  # a way in for C would be compiled as well

HALF_ROOT = 0x3FE6A09E667F3BCD  # the square root of one half, in bits
INT, WHOLE, REAL = ir.IntType(32), ir.IntType(64), ir.DoubleType()
WHOLES, REALS = ir.VectorType(WHOLE, LANES), ir.VectorType(REAL, LANES)


def constant(kind: Any, x: float) -> Any:
    """A number in all lanes."""
    return ir.Constant(kind, [x] * LANES)


def in_all_lanes(b: Any, x: Any) -> Any:
    """A number that is known later, in all lanes."""
    nothing = ir.Constant(REALS, ir.Undefined)
    one = b.insert_element(nothing, x, INT(0))
    return b.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(INT, LANES), [0] * LANES))


def larger(b: Any, x: Any, other: Any) -> Any:
    """The larger of two numbers, in each lane."""
    return b.select(b.fcmp_ordered(">", x, other), x, other)


def log2(b: Any, x: Any) -> Any:
    """Logarithms to base 2 of numbers, at least `TINY`.

    With x = 2^e m and m in [sqrt(1/2), sqrt(2)), log m is twice the artanh of (m - 1) / (m + 1),
    whose series to the power of 15 is exact to 1e-13.
    """
    one = constant(REALS, 1.0)
    bits = b.add(
        b.bitcast(larger(b, x, constant(REALS, TINY)), WHOLES),
        constant(WHOLES, (1023 << 52) - HALF_ROOT),
    )
    # A whole number in the last bits of 2^52 becomes a float without a conversion.
    power = b.bitcast(
        b.or_(b.lshr(bits, constant(WHOLES, 52)), constant(WHOLES, 0x433 << 52)), REALS
    )
    m = b.bitcast(
        b.add(b.and_(bits, constant(WHOLES, (1 << 52) - 1)), constant(WHOLES, HALF_ROOT)), REALS
    )
    s = b.fdiv(b.fsub(m, one), b.fadd(m, one))
    z, p = b.fmul(s, s), constant(REALS, 1.0 / 15.0)
    for odd in (13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0):
        p = b.fadd(b.fmul(p, z), constant(REALS, 1.0 / odd))
    p = b.fmul(b.fmul(s, p), constant(REALS, 2.8853900817779268))  # 2 / log(2)
    return b.fadd(b.fsub(power, constant(REALS, 2.0**52 + 1023.0)), p)


@contextmanager
def each(b: Any, begin: Any, end: Any) -> Iterator[Any]:
    """Repeat what is written inside for all whole numbers from `begin` until before `end`."""
    before, head = b.block, b.append_basic_block()
    body, after = b.append_basic_block(), b.append_basic_block()
    b.branch(head)
    b.position_at_end(head)
    i = b.phi(WHOLE)
    i.add_incoming(begin, before)
    b.cbranch(b.icmp_signed("<", i, end), body, after)
    b.position_at_end(body)
    yield i
    i.add_incoming(b.add(i, WHOLE(1)), b.block)
    b.branch(head)
    b.position_at_end(after)


class _Judge:
    """Writes down what judges some cuts at once: each line of `here` has a number for each."""

    def __init__(self, b: Any, *given: Any) -> None:
        self.b = b
        (
            self.n_lines, self.n_classes, self.own, self.begin, self.members, self.traits,
            self.limits, self.whole, self.here,
        ) = given  # fmt: skip
        with b.goto_entry_block():
            self.cost, self.bet = b.alloca(REALS), b.alloca(REALS)

    def number(self, array: Any, i: Any) -> Any:
        """A number of an array."""
        return self.b.load(self.b.gep(array, [i]))

    def limit(self, i: int) -> Any:
        """A limit, in all lanes."""
        return in_all_lanes(self.b, self.number(self.limits, WHOLE(i)))

    def left(self, i: Any) -> Any:
        """What is on the left side of each cut."""
        return self.b.load(self.b.gep(self.here, [i]), align=8)

    def right(self, i: Any) -> Any:
        """What is left over."""
        total = in_all_lanes(self.b, self.number(self.whole, i))
        return larger(self.b, self.b.fsub(total, self.left(i)), constant(REALS, 0.0))

    def write(self, i: Any, x: Any) -> None:
        """Write a line."""
        self.b.store(x, self.b.gep(self.here, [i]), align=8)

    def add_to(self, pointer: Any, x: Any) -> None:
        """Add to a sum what is rounded before; LLVM, which does not know the one, fuses that."""
        one = self.limit(ONE)
        self.b.store(self.b.fadd(self.b.fmul(one, self.b.load(pointer)), x), pointer)

    @contextmanager
    def each_set(self) -> Iterator[Any]:
        """For each set of the node: its line, its three traits, and where its classes are."""
        b = self.b
        with each(b, WHOLE(SETS), self.n_lines) as line:
            a = self.number(self.own, line)
            first = b.mul(a, WHOLE(3))
            traits = [
                in_all_lanes(b, self.number(self.traits, b.add(first, WHOLE(i)))) for i in range(3)
            ]
            ends = self.number(self.begin, a), self.number(self.begin, b.add(a, WHOLE(1)))
            yield line, traits, ends

    def class_line(self, e: Any) -> Any:
        """The line of a class, which is a member of a set."""
        return self.b.add(self.n_lines, self.number(self.members, e))

    def spread_bets(self) -> None:
        """Masses of the left side, shared among the classes of each set."""
        b = self.b
        count = in_all_lanes(b, b.sitofp(self.n_classes, REAL))
        of_frame = b.fdiv(self.left(WHOLE(FRAME)), count)
        with each(b, self.n_lines, b.add(self.n_lines, self.n_classes)) as k:
            self.write(k, of_frame)
        with self.each_set() as (line, traits, ends), each(b, *ends) as e:
            k = self.class_line(e)
            share = b.fmul(traits[SHARE], self.left(line))
            self.write(k, b.fadd(self.left(k), share))

    def cost_of(self, line_of: Any) -> Any:
        """Impurity times weight of one side."""
        b, discord, vacuous = self.b, self.limit(DISCORD), self.limit(VACUOUS)
        b.store(constant(REALS, 0.0), self.cost)
        with self.each_set() as (line, traits, ends):
            mass = line_of(line)
            b.store(constant(REALS, 0.0), self.bet)
            with each(b, *ends) as e:
                self.add_to(self.bet, line_of(self.class_line(e)))
            # The bet on a set is at least its mass, but for rounding.
            bet = larger(b, b.fadd(b.load(self.bet), traits[BASE]), mass)
            surprise = b.fmul(discord, log2(b, bet))
            self.add_to(self.cost, b.fmul(mass, b.fsub(traits[LOOSE], surprise)))
        held, mass = line_of(WHOLE(HELD)), line_of(WHOLE(FRAME))
        loose = in_all_lanes(b, self.number(self.traits, WHOLE(3 * FRAME + LOOSE)))
        total = b.fadd(held, vacuous)
        apart = b.fmul(b.fmul(discord, b.fsub(held, mass)), log2(b, total))
        cost = b.fmul(loose, b.fadd(mass, vacuous))
        cost = b.fadd(b.fadd(cost, apart), b.load(self.cost))
        is_some = b.and_(*(b.fcmp_ordered(">", x, constant(REALS, 0.0)) for x in (held, cost)))
        return b.select(is_some, b.fdiv(b.fmul(held, cost), total), constant(REALS, 0.0))


def _judge(  # type: ignore[no-untyped-def]
    context, table, stride, n, n_whole, n_lines, n_classes, own, begin, members, traits, limits,
    whole
):  # fmt: skip
    """Write the costs of the first n cuts of a table into its last line.

    If `n_whole` is 1, the first of them has all rows on its left side, which are written down.
    """

    def written_out(context: Any, b: Any, signature: Any, given: Any) -> Any:
        table, stride, n, n_whole, *others = (
            context.make_array(kind)(context, b, x).data if isinstance(kind, types.Array) else x
            for kind, x in zip(signature.args, given, strict=True)
        )
        lines = b.bitcast(table, REALS.as_pointer())
        with each(b, WHOLE(0), b.ashr(b.add(n, WHOLE(LANES - 1)), WHOLE(LANE_BITS))) as group:
            judge = _Judge(b, *others, b.gep(lines, [b.mul(group, stride)]))
            judge.spread_bets()
            end = b.add(judge.n_lines, judge.n_classes)
            is_whole = b.icmp_signed("<", group, n_whole)
            with each(b, WHOLE(0), b.select(is_whole, end, WHOLE(0))) as i:
                first = b.extract_element(judge.left(i), INT(0))
                b.store(first, b.gep(judge.whole, [i]))
            both = b.fadd(judge.cost_of(judge.left), judge.cost_of(judge.right))
            judge.write(b.sub(stride, WHOLE(1)), both)
        return context.get_dummy_value()

    given = (
        table, stride, n, n_whole, n_lines, n_classes, own, begin, members, traits, limits, whole
    )  # fmt: skip
    if any(isinstance(kind, types.Array) and kind.layout != "C" for kind in given):
        raise numba.TypingError("Arrays should have no gaps, which instructions do not look for.")
    return types.void(*given), written_out


judge: Any = intrinsic(_judge)


@numba.njit(cache=True, **_options)
def scan(  # type: ignore[no-untyped-def]  # pragma: no cover
    pairs, bits, n_classes, rows, start, column, value, begin, members, traits, limits, own, place,
    current, whole, table, ends, slots, nodes, reals
):  # fmt: skip
    """Write down the cut of each node that costs least, if it is better than what it has.

    A line of `pairs`, a slot, has the rows of one node after the other, each as its code above the
    last `bits`, and its place in `rows` in these. The first cut of a node has all rows on the left.
    """
    n_all, stride = len(own), len(own) + n_classes + 1
    mask, fewest, lightest = (1 << bits) - 1, limits[MIN_LEAF], limits[MIN_WEIGHT]
    for node in range(0, len(nodes), WIDTH):
        first, last, n_lines = nodes[node], nodes[node + LAST], 0
        for a in range(n_all):
            current[a] = 0.0
        for at in range(first, last):
            r = rows[at]
            for e in range(start[r], start[r + 1]):
                current[column[e]] += value[e]
        for a in range(n_all):
            mass = current[a]
            if a < SETS or mass > 0.0:
                own[n_lines], place[a], table[0, n_lines, 0] = a, n_lines, mass
                n_lines += 1
        slot, at, n, n_whole = 0, first, 1, 1
        while slot < len(pairs) or n_whole:
            while slot < len(pairs) and n < BLOCK:
                if at == first:
                    if (pairs[slot, at] ^ pairs[slot, last - 1]) >> bits == 0:
                        slot += 1
                        continue
                    for line in range(n_lines):
                        current[line] = 0.0
                pair = pairs[slot, at]
                r = rows[pair & mask]
                for e in range(start[r], start[r + 1]):
                    current[place[column[e]]] += value[e]
                at += 1
                if (pair ^ pairs[slot, at]) >> bits:
                    if first + fewest <= at <= last - fewest:
                        for line in range(n_lines):
                            table[n >> LANE_BITS, line, n & LANES - 1] = current[line]
                        ends[n], slots[n] = at, slot
                        n += 1
                    if at == last:
                        slot, at = slot + 1, first
            judge(
                table, stride, n, n_whole, n_lines, n_classes, own, begin, members, traits, limits,
                whole
            )  # fmt: skip
            if n_whole:
                reals[node], reals[node + COST] = whole[HELD], table[0, stride - 1, 0]
            for j in range(n_whole, n):
                cost, held = table[j >> LANE_BITS, stride - 1, j & LANES - 1], whole[HELD]
                right = held - table[j >> LANE_BITS, HELD, j & LANES - 1]
                if (
                    lightest <= right <= held - lightest
                    and cost < reals[node + LEAST_COST] - TIE * held
                ):
                    reals[node + LEAST_COST] = cost
                    nodes[node + SLOT], nodes[node + CUT] = slots[j], ends[j]
            n, n_whole = 0, 0


@numba.njit(cache=True, **_options)
def partition(  # type: ignore[no-untyped-def]  # pragma: no cover
    rows, spare, codes, item, first, last, feature, low, missing, middle
):
    """Bring the rows that go left to the front of each node, in their order.

    Those with codes up to `low` go left, and those with the code `missing`; the others begin at
    `middle`.
    """
    for node in range(len(first)):
        n_left, n_right = first[node], 0
        for at in range(n_left, last[node]):
            row = rows[at]
            code = codes[feature[node], item[row]]
            is_left = int(code <= low[node] or code == missing[node])
            rows[n_left], spare[n_right] = row, row  # both, as a wrong guess would take longer
            n_left += is_left
            n_right += 1 - is_left
        for i in range(n_right):
            rows[n_left + i] = spare[i]
        middle[node] = n_left
