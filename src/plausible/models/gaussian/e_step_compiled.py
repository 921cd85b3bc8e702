"""The passes of `e_step` compiled: the same sums, faster, and on all cores at once.

numba is imported only when there is enough work (see `FAST_WORK`): the first use on a machine
compiles for some seconds, later ones load from the cache of numba. What compiles slowly is left
out: kernels allocate nothing, call no matrix products, and one of them does both passes.
"""

import threading
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from plausible.models.gaussian.e_step import n_features_of_map
from plausible.models.gaussian.parameters import KINDS, FloatArray

FULL, TIED, DIAG, SPHERICAL = range(4)
BLOCK = 200  # rows at a time, whose feature map stays in a core's second-level cache
TILE = 16  # components at a time, whose scores stay in its first
ROUND = 4  # feature maps are padded to a multiple of this, so that loops have no rest

_NOTHING = np.ones((1, 1))
_options: dict[str, Any] = {"nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}
_sums_in_any_order = {**_options, "fastmath": {"contract", "reassoc", "nsz"}}
# Parts that only compiled code calls: without ways in for others they compile faster.
_inner: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


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


def workspace(n_features: int, n_components: int, size: int) -> tuple[NDArray[Any], ...]:
    """Arrays to work in, kept from one call of a thread to the next."""
    kept = getattr(_local, "kept", None)
    if kept is None or _local.sizes != (n_features, n_components):
        _local.sizes, _local.kept = (n_features, n_components), {}
        kept = _local.kept
    if size not in kept:
        if len(kept) > 1:  # that of whole blocks, and one of a shorter last block
            kept.pop(next(other for other in kept if other != BLOCK))
        bits = aligned(size, dtype=np.int64)
        kept[size] = (
            aligned(n_features, size),
            aligned(n_components, size),
            aligned(n_components, size),
            aligned(3, size),
            bits,
            bits.view(np.float64),
            np.empty(n_components, np.int64),
        )
        for table in kept[size][:2]:  # rows that only pad
            table[:] = 0.0
    return kept[size]


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
    return _both_parts(X, plausibility, weight, W, center, kind, owner, given=False)


def compiled_sums(X: NDArray[Any], given: FloatArray, center: FloatArray, kind: str) -> FloatArray:
    """Sums of given responsibilities (n, M) times phi(x): (P, M)."""
    n_components = given.shape[1]
    W, owner = (
        np.zeros((n_components, n_features_of_map(kind, X.shape[1]))),
        np.arange(n_components),
    )
    return _both_parts(X, given, None, W, center, kind, owner, given=True)[0]


def _both_parts(
    X: NDArray[Any],
    plausibility: FloatArray | None,
    weight: FloatArray | None,
    W: FloatArray,
    center: FloatArray,
    kind: str,
    owner: NDArray[np.int64],
    given: bool,
) -> tuple[FloatArray, float]:
    """The sums over all whole blocks, and over the rows that are left."""
    n_components, n_features = W.shape
    padded = np.zeros((n_components + 1, -(-n_features // ROUND) * ROUND))
    padded[:-1, :n_features] = W
    sums, criterion = np.zeros_like(padded), 0.0
    whole = len(X) - len(X) % BLOCK
    for part, size in ((slice(whole), BLOCK), (slice(whole, None), len(X) - whole)):
        if len(X[part]) == 0:
            continue
        criterion += _expect(
            frozen(X[part].T),
            frozen(_NOTHING if plausibility is None else plausibility[part]),
            frozen(_NOTHING[0] if weight is None else weight[part]),
            plausibility is not None,
            weight is not None,
            given,
            KINDS.index(kind),
            frozen(owner),
            padded,
            frozen(center),
            sums,
            *workspace(padded.shape[1], n_components + 1, size),
        )
    return sums[:-1, :n_features].T, criterion


@numba.njit(**_inner, **_options)
def _fill(XT, start, center, kind, phi):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write phi(x - center) of the rows from start on into the columns of phi."""
    d, size = len(XT), phi.shape[1]
    for j in range(size):
        phi[0, j] = 1.0
    for i in range(d):
        for j in range(size):
            phi[1 + i, j] = XT[i, start + j] - center[i]
    row = d + 1
    if kind == SPHERICAL:
        for j in range(size):
            phi[row, j] = 0.0
    for i in range(d if kind != TIED else 0):
        for k in range(i, d if kind == FULL else i + 1):
            x, y, z = phi[1 + i], phi[1 + k], phi[row]
            if kind == SPHERICAL:
                for j in range(size):
                    z[j] += x[j] * y[j]
            else:
                for j in range(size):
                    z[j] = x[j] * y[j]
                row += 1


@numba.njit(**_inner, **_options)
def _weigh(score, peak, plausibility, total, power, power_bits):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Turn scores into plausibility * exp(score - peak) in place, and add them to total.

    exp is written out, so that the compiler can run it on vectors: exp(v) = 2^n exp(r) with
    |r| < log(2) / 2, and the series to r^12 is exact to double precision there.
    """
    for j in range(len(score)):
        v = min(score[j] - peak[j], 0.0)
        inside = max(v, -708.0)
        n = np.floor(inside * 1.4426950408889634 + 0.5)
        r = inside - n * 6.93147180369123816490e-01
        r = r - n * 1.90821492927058770002e-10
        p = 1.0 / 479001600
        p = p * r + 1.0 / 39916800
        p = p * r + 1.0 / 3628800
        p = p * r + 1.0 / 362880
        p = p * r + 1.0 / 40320
        p = p * r + 1.0 / 5040
        p = p * r + 1.0 / 720
        p = p * r + 1.0 / 120
        p = p * r + 1.0 / 24
        p = p * r + 1.0 / 6
        p = p * r + 0.5
        p = p * r + 1.0
        p = p * r + 1.0
        power_bits[j] = (np.int64(n) + 1023) << 52
        score[j] = p if v >= -708.0 else 0.0
    for j in range(len(score)):
        score[j] *= power[j] * plausibility[j]
        total[j] += score[j]


@numba.njit(**_inner, **_sums_in_any_order)
def _score(W, active, first, last, phi, score):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Scores W[active] @ phi of an even number of components.

    Four rows of phi for two components at a time keep a core's multipliers busy, where the
    product of a long and a narrow matrix in BLAS keeps half of them so.
    """
    n_features, size = phi.shape
    for a in range(first, last):
        for j in range(size):
            score[a, j] = 0.0
    for p in range(0, n_features, ROUND):
        for a in range(first, last, 2):
            w, v = W[active[a]], W[active[a + 1]]
            w0, w1, w2, w3 = w[p], w[p + 1], w[p + 2], w[p + 3]
            v0, v1, v2, v3 = v[p], v[p + 1], v[p + 2], v[p + 3]
            for j in range(size):
                x0, x1, x2, x3 = phi[p, j], phi[p + 1, j], phi[p + 2, j], phi[p + 3, j]
                score[a, j] += (w0 * x0 + w1 * x1) + (w2 * x2 + w3 * x3)
                score[a + 1, j] += (v0 * x0 + v1 * x1) + (v2 * x2 + v3 * x3)


@numba.njit(**_inner, **_sums_in_any_order)
def _sum(phi, responsibility, active, first, last, sums):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add responsibility @ phi.T to the rows of an even number of components."""
    n_features, size = phi.shape
    for p in range(0, n_features, ROUND):
        for a in range(first, last, 2):
            s0 = s1 = s2 = s3 = t0 = t1 = t2 = t3 = 0.0
            for j in range(size):
                x0, x1, x2, x3 = phi[p, j], phi[p + 1, j], phi[p + 2, j], phi[p + 3, j]
                r, q = responsibility[a, j], responsibility[a + 1, j]
                s0 += x0 * r
                s1 += x1 * r
                s2 += x2 * r
                s3 += x3 * r
                t0 += x0 * q
                t1 += x1 * q
                t2 += x2 * q
                t3 += x3 * q
            s, t = sums[active[a]], sums[active[a + 1]]
            s[p] += s0
            s[p + 1] += s1
            s[p + 2] += s2
            s[p + 3] += s3
            t[p] += t0
            t[p + 1] += t1
            t[p + 2] += t2
            t[p + 3] += t3


@numba.njit(**_inner, **_options)
def _load(PL, start, labeled, owner, pl, active):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write the plausibilities of the active components into the first rows of pl.

    Returns how many components are plausible for some row.
    """
    size = pl.shape[1]
    n_active = 0
    for k in range(len(owner)):
        row = pl[n_active]
        n_zero, c = 0, owner[k]
        for j in range(size):
            row[j] = PL[start + j, c] if labeled else 1.0
        for j in range(size):
            n_zero += row[j] == 0.0
        if n_zero < size:
            active[n_active] = k
            n_active += 1
    return n_active


@numba.njit(**_inner, **_options)
def _respond(score, n_active, start, weight, weighted, pl, scratch, power, bits):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Weighted responsibilities in place of the scores of active components, and the criterion."""
    peak, total, criterion = scratch[0], scratch[1], 0.0
    for j in range(len(peak)):
        peak[j], total[j] = -np.inf, 0.0
    for a in range(n_active):
        one, plausibility = score[a], pl[a]
        for j in range(len(peak)):
            peak[j] = max(peak[j], one[j] if plausibility[j] > 0.0 else -np.inf)
    for a in range(n_active):
        _weigh(score[a], peak, pl[a], total, power, bits)
    for j in range(len(peak)):
        w = weight[start + j] if weighted else 1.0
        criterion += w * (np.log(total[j]) + peak[j])
        scratch[2, j] = w / total[j]
    for a in range(n_active):
        for j in range(len(peak)):
            score[a, j] *= scratch[2, j]
    return criterion


@numba.njit(cache=True, **_options)
def _expect(  # type: ignore[no-untyped-def]  # pragma: no cover
    XT, PL, weight, labeled, weighted, given, kind, owner, W, center, sums,
    phi, score, pl, scratch, bits, power, active
):  # fmt: skip
    """Add the sums (M + 1, P) of whole blocks, the last row for nothing; gives the criterion."""
    criterion = 0.0
    for start in range(0, XT.shape[1], phi.shape[1]):
        _fill(XT, start, center, kind, phi)
        n_active = _load(PL, start, labeled, owner, score if given else pl, active)
        active[n_active] = len(owner)  # which makes them even
        if not given:
            for first in range(0, n_active, TILE):
                _score(W, active, first, min(first + TILE, n_active + n_active % 2), phi, score)
            criterion += _respond(
                score, n_active, start, weight, weighted, pl, scratch, power, bits
            )
        for first in range(0, n_active, TILE):
            _sum(phi, score, active, first, min(first + TILE, n_active + n_active % 2), sums)
    return criterion
