"""The passes of `e_step` compiled: the same sums, faster, and on all cores at once.

numba is imported only when there is enough work (see `FAST_WORK`): the first use on a machine
compiles for a second or two, later ones load from the cache of numba. What compiles slowly is left
out. Most of that time goes into numba's own handling of each operation, and what a compiled
function calls is compiled once for itself and once more within its caller. So one function does
both passes for all kinds of covariances, over blocks of one fixed length, and the functions that
it uses give LLVM their instructions directly.
"""

import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core.cgutils import get_item_pointer
from numba.extending import intrinsic
from numpy.typing import NDArray

from plausible.models.gaussian.e_step import n_features_of_map
from plausible.models.gaussian.parameters import KINDS, FloatArray

FULL, TIED, DIAG, SPHERICAL = range(4)
BLOCK = 192  # rows at a time, whose feature map stays in a core's second-level cache
TILE = 16  # components at a time, whose scores stay in its first
ROUND = 4  # feature maps are padded to a multiple of this, so that loops have no rest

DOUBLE, LONG = ir.DoubleType(), ir.IntType(64)
INT = ir.IntType(32)
FOUR, PLACES = ir.VectorType(DOUBLE, 4), ir.VectorType(INT, 4)
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


def aligned(*shape: int, dtype: type = np.float64) -> NDArray[np.float64]:
    """An empty array that starts at a cache line: products run a quarter faster."""
    size = int(np.prod(shape))
    raw: NDArray[np.float64] = np.empty(size + 8, dtype)
    start = (-raw.ctypes.data % 64) // 8
    return raw[start : start + size].reshape(shape)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, not to be written to: kernels are compiled anew for arrays that may be."""
    view = array.view()
    view.flags.writeable = False
    return view


_local = threading.local()


def workspace(n_features: int, n_components: int, n_classes: int) -> tuple[NDArray[Any], ...]:
    """Arrays to work in, kept from one call of a thread to the next."""
    sizes = n_features, n_components, n_classes
    if getattr(_local, "sizes", None) != sizes:
        _local.sizes = sizes
        _local.kept = (
            aligned(n_features, BLOCK),
            aligned(n_components + 1, BLOCK),
            aligned(n_classes + 1, BLOCK),
            aligned(3, BLOCK),
            np.empty(n_components + 1, np.int64),
        )
        for table in _local.kept[:3]:  # rows that only pad
            table[:] = 0.0
    _local.kept[3][:2] = [[-np.inf], [0.0]]
    kept: tuple[NDArray[Any], ...] = _local.kept
    return kept


def compiled_pass(
    X: NDArray[Any],
    plausibility: FloatArray | None,
    weight: FloatArray | None,
    W: FloatArray,
    center: FloatArray,
    kind: str,
    owner: NDArray[np.int64],
) -> tuple[FloatArray, float]:
    """Sums of responsibility times phi(x) (P, M), and the criterion, of one chunk."""
    return _sum_over_blocks(X, plausibility, weight, W, center, kind, owner, given=False)


def compiled_sums(X: NDArray[Any], given: FloatArray, center: FloatArray, kind: str) -> FloatArray:
    """Sums of given responsibilities (n, M) times phi(x): (P, M)."""
    n_components = given.shape[1]
    W, owner = (
        np.zeros((n_components, n_features_of_map(kind, X.shape[1]))),
        np.arange(n_components),
    )
    return _sum_over_blocks(X, given, None, W, center, kind, owner, given=True)[0]


@lru_cache(maxsize=4)
def _equal_weights(n_rows: int) -> NDArray[np.float64]:
    """Ones, and zeros for rows that fill the last block: the last one again, for nothing."""
    weights = np.zeros(-(-n_rows // BLOCK) * BLOCK)
    weights[:n_rows] = 1.0
    return frozen(weights)


def _sum_over_blocks(
    X: NDArray[Any],
    plausibility: FloatArray | None,
    weight: FloatArray | None,
    W: FloatArray,
    center: FloatArray,
    kind: str,
    owner: NDArray[np.int64],
    given: bool,
) -> tuple[FloatArray, float]:
    """Sums of phi(x) times responsibilities, or `given` ones, and the criterion."""
    n_components, n_features = W.shape
    padded = np.zeros((n_components + 1, 1 - (1 - n_features) // ROUND * ROUND))
    padded[:-1, :n_features] = W
    sums = np.zeros_like(padded)
    weights = _equal_weights(len(X))
    if weight is not None:
        weights = np.zeros_like(weights)
        weights[: len(X)] = weight
    has_labels = plausibility is not None
    labels = plausibility if plausibility is not None else np.ones((1, owner.max() + 1))
    n_classes = labels.shape[1]
    criterion = _expect(
        frozen(X),
        frozen(labels),
        int(has_labels),
        frozen(weights),
        given,
        KINDS.index(kind),
        frozen(np.append(owner, n_classes)),
        padded,
        frozen(center),
        frozen(np.zeros(n_classes)),
        sums,
        *workspace(padded.shape[1] - 1, n_components, n_classes),
    )
    return sums[:-1, :n_features].T, criterion


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
        kinds = signature.args
        row, step, last, column, place = (arguments[k] for k in (1, 2, 3, 4, 7))

        arrays = {
            k: context.make_array(kinds[k])(context, builder, arguments[k]) for k in (0, 5, 6)
        }

        def at(array: int, *index: Any) -> Any:
            return get_item_pointer(  # type: ignore[no-untyped-call]
                context, builder, kinds[array], arrays[array], index
            )

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


@numba.njit(cache=True, **_options)
def _expect(  # type: ignore[no-untyped-def]  # pragma: no cover
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
        # Scores. Four features of two components at a time keep a core's multipliers busy, where
        # the product of a long and a narrow matrix in BLAS keeps half of them so.
        for a in range(n_active + n_active % 2):
            k = active[a]
            constant, c = W[k, 0], owner[k]
            for j in range(BLOCK):
                score[a, j] = constant if pl[c, j] > 0.0 else -np.inf
        for first in range(0, 0 if given else n_active, TILE):
            last = first + TILE if first + TILE < n_active else n_active
            for p in range(0, len(phi), ROUND):
                p1, p2, p3, p4 = p + 1, p + 2, p + 3, p + 4
                for a in range(first, last, 2):
                    k, m = active[a], active[a + 1]
                    w0, w1, w2, w3 = W[k, p1], W[k, p2], W[k, p3], W[k, p4]
                    v0, v1, v2, v3 = W[m, p1], W[m, p2], W[m, p3], W[m, p4]
                    for j in range(BLOCK):
                        x0, x1, x2, x3 = phi[p, j], phi[p1, j], phi[p2, j], phi[p3, j]
                        score[a, j] += w0 * x0 + w1 * x1 + w2 * x2 + w3 * x3
                        score[a + 1, j] += v0 * x0 + v1 * x1 + v2 * x2 + v3 * x3
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
        for first in range(0, n_active, TILE):
            last = first + TILE if first + TILE < n_active else n_active
            for p in range(0, len(phi), ROUND):
                p1, p2, p3, p4 = p + 1, p + 2, p + 3, p + 4
                for a in range(first, last, 2):
                    s0 = s1 = s2 = s3 = t0 = t1 = t2 = t3 = 0.0
                    for j in range(BLOCK):
                        x0, x1, x2, x3 = phi[p, j], phi[p1, j], phi[p2, j], phi[p3, j]
                        r, q = score[a, j], score[a + 1, j]
                        s0 += x0 * r
                        s1 += x1 * r
                        s2 += x2 * r
                        s3 += x3 * r
                        t0 += x0 * q
                        t1 += x1 * q
                        t2 += x2 * q
                        t3 += x3 * q
                    k, m = active[a], active[a + 1]
                    sums[k, p1] += s0
                    sums[k, p2] += s1
                    sums[k, p3] += s2
                    sums[k, p4] += s3
                    sums[m, p1] += t0
                    sums[m, p2] += t1
                    sums[m, p3] += t2
                    sums[m, p4] += t3
    return criterion
