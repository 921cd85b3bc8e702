"""The compiled passes of an E step, for all kinds of covariances.

What compiles slowly is left out. Most of that time goes into numba's own handling of each
operation, and what a compiled function calls is compiled once for itself and once more within its
caller. So one function does both passes, over blocks of one fixed length, and the functions that it
uses give LLVM their instructions directly.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic

FULL, TIED, DIAG, SPHERICAL = range(4)
BLOCK = 192  # rows at a time, whose feature map stays in a core's second-level cache
TILE = 16  # components at a time, whose scores stay in its first
DEPTH = 64  # features at a time, of which those of a strip of rows stay there
LINE = 64  # bytes that come near together
ROUND = 4  # feature maps are padded to a multiple of this, so that loops have no rest

DOUBLE, LONG = ir.DoubleType(), ir.IntType(64)
INT = ir.IntType(32)
FOUR, PLACES = ir.VectorType(DOUBLE, 4), ir.VectorType(INT, 4)
_features: str = get_host_cpu_features()  # type: ignore[no-untyped-call]
LANES = 8 if "+avx512f" in _features else 4  # numbers in a register
VECTOR = ir.VectorType(DOUBLE, LANES)
STRIP = 4 * LANES  # rows whose scores are summed at once; BLOCK is a multiple of it
LOG_2 = 0.6931471805599453
# Added to a whole number n, it leaves n + 1023, the exponent of 2^n, in the lowest bits.
EXPONENT = 1.5 * 2.0**52 + 1023.0
LEAST = -709.0  # the exponential of less is zero: 2^-1023 is not a number that this finds
# Close to the coefficients of Taylor, and as exact with one less: to 2e-17 where |r| < log(2) / 2.
EXP_SERIES = (
    1.0, 1.0, 0.5000000000000001, 0.16666666666666669, 0.041666666666624164, 0.008333333333330065,
    0.0013888888917196719, 0.00019841269863040545, 2.4801521322368905e-05, 2.755726848031019e-06,
    2.7620075879881866e-07, 2.5100375832483178e-08,
)  # fmt: skip
LOG_SERIES = tuple(2 / k for k in range(1, 22, 2))
ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
ONE = 1023 << 52  # those of 1.0
SMALLEST = 2.0**-1022  # of numbers with all their digits
_options: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"contract", "reassoc", "nsz"},
    "error_model": "numpy",
}


class _Formula:
    """Writes instructions on doubles, which may be fused, but not reordered as other sums may be.

    Python's numbers stand for constants.
    """

    def __init__(self, builder: ir.IRBuilder) -> None:
        self.builder = builder

    def write(self, operation: str, *operands: Any) -> Any:
        """One operation of LLVM, of its name."""
        values = (DOUBLE(each) if isinstance(each, float) else each for each in operands)
        return getattr(self.builder, operation)(*values, flags=("contract",))

    def times_plus(self, a: Any, b: Any, c: Any) -> Any:
        """Write a b + c."""
        return self.write("fadd", self.write("fmul", a, b), c)

    def polynomial(self, x: Any, coefficients: tuple[float, ...]) -> Any:
        """Write c0 + c1 x + ... by halves, which a processor can do at once."""
        if len(coefficients) == 1:
            return coefficients[0]
        square = self.write("fmul", x, x)
        low, high = (self.polynomial(square, coefficients[k::2]) for k in (0, 1))
        return self.times_plus(x, high, low)

    def bits(self, x: Any) -> Any:
        """The bits of a double as a whole number."""
        return self.builder.bitcast(x, LONG)

    def number(self, bits: Any) -> Any:
        """The double that has these bits."""
        return self.builder.bitcast(bits, DOUBLE)


def _vectorized(formula: Callable[[Any, Any], Any]) -> Any:
    """A function of a double for compiled loops, such that they run on vectors."""

    def typed(typing_context: Any, number: Any) -> Any:
        def lowered(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return formula(builder, arguments[0])

        return types.float64(types.float64), lowered

    typed.__name__ = formula.__name__
    return intrinsic(typed)


@_vectorized
def _exp(builder: ir.IRBuilder, v: Any) -> Any:
    """exp(v) for v that is not positive.

    exp(v) = 2^n exp(r) with |r| < log(2) / 2. To find n as a number and 2^n as bits takes no
    conversion, which most processors have not for vectors. One rounding of log 2 is enough: it
    costs less than that of v.
    """
    do = _Formula(builder)
    v = builder.select(do.write("fcmp_ordered", ">", v, LEAST), v, DOUBLE(LEAST))
    shifted = do.times_plus(v, 1 / LOG_2, EXPONENT)
    r = do.times_plus(do.write("fsub", shifted, EXPONENT), -LOG_2, v)
    power = do.number(builder.shl(do.bits(shifted), LONG(52)))
    return do.write("fmul", do.polynomial(r, EXP_SERIES), power)


@_vectorized
def _log(builder: ir.IRBuilder, x: Any) -> Any:
    """log(x) for x that is positive and finite.

    log(x) = n log(2) + log(m) with m between the roots of 1/2 and 2, and, where s = (m-1) / (m+1),
    log(m) = 2 s (1 + s^2 / 3 + s^4 / 5 + ...).
    """
    do = _Formula(builder)
    tiny = do.write("fcmp_ordered", "<", x, SMALLEST)
    bits = do.bits(builder.select(tiny, do.write("fmul", x, 2.0**54), x))
    exponent = builder.lshr(builder.add(bits, LONG(ONE - ROOT_HALF)), LONG(52))
    m = do.number(builder.sub(builder.add(bits, LONG(ONE)), builder.shl(exponent, LONG(52))))
    n = do.number(builder.or_(exponent, LONG(1075 << 52)))  # 2^52 more, and 1023
    n = do.write("fsub", n, builder.select(tiny, DOUBLE(2.0**52 + 1077), DOUBLE(2.0**52 + 1023)))
    s = do.write("fdiv", do.write("fsub", m, 1.0), do.write("fadd", m, 1.0))
    series = do.polynomial(do.write("fmul", s, s), LOG_SERIES)
    return do.times_plus(n, LOG_2, do.write("fmul", s, series))


def _instruction(write: Any) -> Any:
    """A function for compiled loops that writes instructions of LLVM; to others, of any type."""
    return intrinsic(write)


@_instruction
def _use_whole_registers(typing_context: Any) -> Any:
    """Ask for vectors as long as the registers; LLVM takes half of those of AVX-512 otherwise."""

    def lowered(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # llvmlite knows no attributes with values, and writes those that it is given.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), lowered


class _Entries:
    """Places of the entries of arrays, which are called by their number among the arguments."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.context, self.builder, self.kinds = context, builder, signature.args
        self.arrays = {
            k: context.make_array(kind)(context, builder, value)
            for k, (kind, value) in enumerate(zip(self.kinds, arguments, strict=True))
            if isinstance(kind, types.Array)
        }

    def __call__(self, array: int, *index: Any) -> Any:
        """Where an entry is."""
        return cgutils.get_item_pointer(  # type: ignore[no-untyped-call]
            self.context, self.builder, self.kinds[array], self.arrays[array], index
        )

    def vector(self, array: int, *index: Any) -> Any:
        """Where an entry and those behind it are, as many as a register holds."""
        return self.builder.bitcast(self(array, *index), VECTOR.as_pointer())


@_instruction
def _turn(
    typing_context: Any,
    table: Any,
    row: Any,
    step: Any,
    last: Any,
    column: Any,
    center: Any,
    out: Any,
    place: Any,
) -> Any:
    """out[column + i, place + j] = table[row + j, column + i] - center[column + i] for i, j < 4.

    Rows from the `last` on are that one, and a step of 0 takes the first for all. Numbers that are
    moved one by one take half as long again.
    """

    def lowered(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at, kinds = _Entries(context, builder, signature, arguments), signature.args
        row, step, last, column, place = (arguments[k] for k in (1, 2, 3, 4, 7))

        def four(array: int, *index: Any) -> Any:
            """Four numbers side by side."""
            kind = context.get_value_type(kinds[array].dtype)
            vector = ir.VectorType(kind, 4)
            if kinds[array].layout == "C":
                start = builder.bitcast(at(array, *index), vector.as_pointer())
                found = builder.load(start, align=kinds[array].dtype.bitwidth // 8)
            else:
                found = vector(ir.Undefined)
                for k in range(4):
                    one = at(array, *index[:-1], builder.add(index[-1], LONG(k)))
                    found = builder.insert_element(found, builder.load(one), INT(k))
            return found if kind == DOUBLE else builder.fpext(found, FOUR)

        middle, rows = four(5, column), []
        for j in range(4):
            there = builder.add(row, LONG(j))
            there = builder.select(builder.icmp_signed("<", there, last), there, last)
            rows.append(builder.fsub(four(0, builder.mul(there, step), column), middle))
        pairs = [
            builder.shuffle_vector(*rows[k : k + 2], ir.Constant(PLACES, places))
            for k in (0, 2)
            for places in ([0, 4, 2, 6], [1, 5, 3, 7])
        ]
        for i in range(4):
            places = [0, 1, 4, 5] if i < 2 else [2, 3, 6, 7]
            turned = builder.shuffle_vector(
                pairs[i % 2], pairs[2 + i % 2], ir.Constant(PLACES, places)
            )
            target = at(6, builder.add(column, LONG(i)), place)
            builder.store(turned, builder.bitcast(target, FOUR.as_pointer()), align=8)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(table, whole, whole, whole, whole, center, out, whole), lowered


@_instruction
def _add_scores(
    typing_context: Any, phi: Any, W: Any, score: Any, active: Any, a: Any, p: Any, end: Any, j: Any
) -> Any:
    """score[a + i] += W[active[a + i], p + 1 : end + 1] @ phi[p : end] for i < 2, in a strip.

    Two rows of four registers each are as many sums as keep a core's multipliers busy, where the
    product of a long and a narrow matrix in BLAS keeps half of them so.
    """

    def lowered(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at = _Entries(context, builder, signature, arguments)
        first, begin, end, j = arguments[4:]
        rows = [builder.add(first, LONG(i)) for i in range(2)]
        components = [builder.load(at(3, row)) for row in rows]
        places = [builder.add(j, LONG(LANES * k)) for k in range(4)]
        kept = {(row, x): at.vector(2, row, x) for row in rows for x in places}
        sums = {key: _register(builder) for key in kept}
        for key, place in kept.items():
            builder.store(builder.load(place, align=8), sums[key])
        with cgutils.for_range_slice(builder, begin, end, LONG(1), LONG) as (p, _):
            xs = [builder.load(at.vector(0, p, x), align=8) for x in places]
            for row, component in zip(rows, components, strict=True):
                w = _spread(builder, builder.load(at(1, component, builder.add(p, LONG(1)))))
                for x, place in zip(xs, places, strict=True):
                    _add_product(builder, sums[row, place], w, x)
        for key, place in kept.items():
            builder.store(builder.load(sums[key]), place, align=8)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(phi, W, score, active, whole, whole, whole, whole), lowered


@_instruction
def _add_sums(
    typing_context: Any, phi: Any, score: Any, sums: Any, active: Any, a: Any, p: Any
) -> Any:
    """sums[active[a + i], p + k + 1] += score[a + i] @ phi[p + k] for i < 2 and k < 4."""

    def lowered(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at = _Entries(context, builder, signature, arguments)
        rows = [builder.add(arguments[4], LONG(i)) for i in range(2)]
        features = [builder.add(arguments[5], LONG(k)) for k in range(ROUND)]
        kept = {(row, k): _register(builder) for row in rows for k in features}
        for place in kept.values():
            builder.store(VECTOR([0.0] * LANES), place)
        with cgutils.for_range_slice(builder, LONG(0), LONG(BLOCK), LONG(LANES), LONG) as (j, _):
            xs = [builder.load(at.vector(0, k, j), align=8) for k in features]
            for row in rows:
                r = builder.load(at.vector(1, row, j), align=8)
                for k, x in zip(features, xs, strict=True):
                    _add_product(builder, kept[row, k], r, x)
        for (row, k), place in kept.items():
            target = at(2, builder.load(at(3, row)), builder.add(k, LONG(1)))
            more = _total(builder, builder.load(place))
            builder.store(builder.fadd(builder.load(target), more), target)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(phi, score, sums, active, whole, whole), lowered


@_instruction
def _fetch(typing_context: Any, table: Any, row: Any, n_bytes: Any) -> Any:
    """Have bytes of a table come near that are needed soon, if its rows lie side by side.

    Some at a time between products, this hides a tenth of a pass; many at once hide nothing.
    """

    def lowered(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if signature.args[0].layout == "C":
            byte = ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.VoidType(), [byte, INT, INT, INT])
            fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
            at = _Entries(context, builder, signature, arguments)
            start = builder.bitcast(at(0, arguments[1], LONG(0)), byte)
            lines = cgutils.for_range_slice(builder, LONG(0), arguments[2], LONG(LINE), LONG)
            with lines as (k, _):
                # to read it, into the second-level cache, and no instructions
                builder.call(fetch, [builder.gep(start, [k]), INT(0), INT(2), INT(1)])
        return context.get_dummy_value()

    return types.void(table, types.int64, types.int64), lowered


def _register(builder: Any) -> Any:
    """Room for a vector, which LLVM keeps in a register."""
    return cgutils.alloca_once(builder, VECTOR)  # type: ignore[no-untyped-call]


def _spread(builder: Any, number: Any) -> Any:
    """A vector that holds a number in each place."""
    one = builder.insert_element(VECTOR(ir.Undefined), number, INT(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(INT, LANES), [0] * LANES))


def _add_product(builder: Any, place: Any, x: Any, y: Any) -> None:
    """Add the products of two vectors to one."""
    product = builder.fmul(x, y, flags=("contract",))
    builder.store(builder.fadd(product, builder.load(place), flags=("contract",)), place)


def _total(builder: Any, vector: Any) -> Any:
    """The sum of the numbers of a vector, by halves."""
    while vector.type.count > 1:
        half = vector.type.count // 2
        low, high = (
            ir.Constant(ir.VectorType(INT, half), list(range(start, start + half)))
            for start in (0, half)
        )
        vector = builder.fadd(
            builder.shuffle_vector(vector, vector, low),
            builder.shuffle_vector(vector, vector, high),
        )
    return builder.extract_element(vector, INT(0))


@numba.njit(cache=True, **_options)
def expect(  # type: ignore[no-untyped-def]  # pragma: no cover
    X, PL, step, weight, given, kind, owner, W, center, origin, sums,
    phi, score, pl, rows, active
):  # fmt: skip
    """Add the sums (M + 1, P) of whole blocks, the last row for nothing; gives the criterion.

    The first column is for the constant, which phi leaves out. Rows of `score` are components that
    are plausible for some row of a block; two at a time, of which the last one may be none. Of
    `rows`, the first is the peak of the scores, the second the total likelihood of each row, and
    the third what makes it a share of its weight.
    """
    _use_whole_registers()
    criterion, d, end = 0.0, X.shape[1], len(X) - 1
    n_components, n_classes = len(owner) - 1, PL.shape[1]
    for start in range(0, len(X), BLOCK):
        # phi(x - center), whose rows are features, and the plausibility of each class, which
        # stays as it is without labels
        n_new = n_classes if step > 0 or start == 0 else 0
        for j in range(0, BLOCK, 4):
            for i in range(0, d - 3, 4):
                _turn(X, start + j, 1, end, i, center, phi, j)
            for i in range(0, n_new - 3, 4):
                _turn(PL, start + j, step, end, i, origin, pl, j)
        for j in range(BLOCK):
            row = start + j if start + j < end else end
            for i in range(d // 4 * 4, d):
                phi[i, j] = X[row, i] - center[i]
            for i in range(n_new // 4 * 4, n_new):
                pl[i, j] = PL[row * step, i]
        if kind == SPHERICAL:
            for j in range(BLOCK):
                phi[d, j] = 0.0
            for i in range(d):
                for j in range(BLOCK):
                    phi[d, j] += phi[i, j] * phi[i, j]
        elif kind != TIED:
            place = d
            for i in range(d):
                for k in range(i, d if kind == FULL else i + 1):
                    for j in range(BLOCK):
                        phi[place, j] = phi[i, j] * phi[k, j]
                    place += 1
        # Components that are plausible for some row
        n_active = 0
        for k in range(n_components):
            n_zero, c = 0, owner[k]
            for j in range(BLOCK):
                n_zero += pl[c, j] == 0.0
            if n_zero < BLOCK:
                active[n_active] = k
                n_active += 1
        active[n_active] = n_components
        # Scores
        for a in range(n_active + n_active % 2):
            k = active[a]
            constant, c = W[k, 0], owner[k]
            for j in range(BLOCK):
                score[a, j] = constant if pl[c, j] > 0.0 else -np.inf
        for p in range(0, 0 if given else len(phi), DEPTH):
            last = p + DEPTH if p + DEPTH < len(phi) else len(phi)
            for j in range(0, BLOCK, STRIP):
                for a in range(0, n_active, 2):
                    _add_scores(phi, W, score, active, a, p, last, j)
        # likelihoods, and then responsibilities, in their place
        for a in range(0, n_active, 2):
            for j in range(BLOCK):
                peak, one, other = rows[0, j], score[a, j], score[a + 1, j]
                one = one if one > other else other
                rows[0, j] = one if one > peak else peak
        for a in range(n_active):
            c = owner[active[a]]
            for j in range(BLOCK):
                likelihood = _exp(score[a, j] - rows[0, j]) * pl[c, j]
                score[a, j] = likelihood
                rows[1, j] += likelihood
        for j in range(BLOCK):
            w = weight[start + j]
            criterion += w * (_log(rows[1, j]) + rows[0, j])
            rows[2, j] = w if given else w / rows[1, j]
            rows[0, j], rows[1, j] = -np.inf, 0.0  # for the next block
        for a in range(n_active):
            count = 0.0
            for j in range(BLOCK):
                score[a, j] *= rows[2, j]
                count += score[a, j]
            sums[active[a], 0] += count
        # While sums are taken, rows of the next block come near, each time as many.
        n_times = max(1, (n_active + 1) // 2 * len(phi) // ROUND)
        following, some = start + BLOCK, (BLOCK + n_times - 1) // n_times
        for first in range(0, n_active, TILE):
            last = first + TILE if first + TILE < n_active else n_active
            for p in range(0, len(phi), ROUND):
                for a in range(first, last, 2):
                    if following + some <= end and following < start + 2 * BLOCK:
                        _fetch(X, following, some * d * X.itemsize)
                        _fetch(PL, following * step, some * step * n_classes * 8)
                        following += some
                    _add_sums(phi, score, sums, active, a, p)
    return criterion
