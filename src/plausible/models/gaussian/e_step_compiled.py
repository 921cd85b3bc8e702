"""The passes of `e_step` compiled: the same sums, faster, and on all cores at once.

numba is imported here and in `compiled_profile` only, and this file only when there is enough work
(see `FAST_WORK`): the first use on a machine compiles for some seconds, later ones load from the
cache of numba.
"""

import threading
from typing import Any

import numba
import numpy as np
import scipy.linalg  # noqa: F401  numba's matrix products are scipy's BLAS
from numpy.typing import NDArray

from plausible.models.gaussian.e_step import n_features_of_map
from plausible.models.gaussian.parameters import KINDS, FloatArray

FULL, TIED, DIAG, SPHERICAL = range(4)
FEW = 3  # components up to which loops beat matrix products
BLOCK = 200  # rows at a time: the products are small enough for BLAS's quickest path

_NOTHING = np.ones((1, 1))


def aligned(*shape: int, dtype: type = np.float64) -> NDArray[np.float64]:
    """An empty array that starts at a cache line: products run a quarter faster."""
    size = int(np.prod(shape))
    raw: NDArray[np.float64] = np.empty(size + 8, dtype)
    start = (-raw.ctypes.data % 64) // 8
    return raw[start : start + size].reshape(shape)


_local = threading.local()


def workspace(n_features: int, n_components: int) -> tuple[NDArray[Any], ...]:
    """Arrays to work in, kept from one call of a thread to the next."""
    sizes = n_features, n_components
    if getattr(_local, "sizes", None) != sizes:
        _local.sizes = sizes
        _local.arrays = (
            aligned(n_features, BLOCK),
            aligned(n_components, BLOCK),
            aligned(n_components, BLOCK),
            aligned(3, BLOCK),
            aligned(BLOCK, dtype=np.int64),
        )
    return _local.arrays


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
    n_components, n_features = W.shape
    sums = np.zeros((n_features, n_components))
    criterion = _expect(
        X.T,
        _NOTHING if plausibility is None else plausibility,
        _NOTHING[0] if weight is None else weight,
        plausibility is not None,
        weight is not None,
        owner,
        np.ascontiguousarray(W),
        center,
        KINDS.index(kind),
        sums,
        *workspace(n_features, n_components),
    )
    return sums, criterion


def compiled_sums(X: NDArray[Any], given: FloatArray, center: FloatArray, kind: str) -> FloatArray:
    """Sums of given responsibilities (n, M) times phi(x): (P, M)."""
    n_features = n_features_of_map(kind, X.shape[1])
    sums = np.zeros((n_features, given.shape[1]))
    phi = workspace(n_features, given.shape[1])[0]
    _sum_given(X.T, given, center, KINDS.index(kind), sums, phi)
    return sums


@numba.njit(nogil=True, cache=True, fastmath={"contract"})
def _fill(XT, start, size, center, kind, phi):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write phi(x - center) of the rows from start on into the columns of phi."""
    d = len(XT)
    phi[0] = 1.0
    for i in range(d):
        x = XT[i, start : start + size]
        z = phi[1 + i]
        c = center[i]
        for j in range(size):
            z[j] = x[j] - c
    row = d + 1
    if kind == FULL:
        for i in range(d):
            x = phi[1 + i]
            for k in range(i, d):
                y = phi[1 + k]
                z = phi[row]
                for j in range(size):
                    z[j] = x[j] * y[j]
                row += 1
    elif kind == DIAG:
        for i in range(d):
            x = phi[1 + i]
            z = phi[row + i]
            for j in range(size):
                z[j] = x[j] * x[j]
    elif kind == SPHERICAL:
        z = phi[row]
        z[:] = 0.0
        for i in range(d):
            x = phi[1 + i]
            for j in range(size):
                z[j] += x[j] * x[j]


@numba.njit(nogil=True, cache=True, fastmath={"contract"})
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


@numba.njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def _score_few(W, active, phi, score):  # type: ignore[no-untyped-def]  # pragma: no cover
    """W[active] @ phi for few components, where a matrix product does not pay."""
    n_features, size = phi.shape
    in_fours = n_features - n_features % 4
    score[:] = 0.0
    for p in range(0, in_fours, 4):  # four rows at a time stay in the first-level cache
        x0, x1, x2, x3 = phi[p], phi[p + 1], phi[p + 2], phi[p + 3]
        for a in range(len(active)):
            w = W[active[a], p : p + 4]
            w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
            target = score[a]
            for j in range(size):
                target[j] += (w0 * x0[j] + w1 * x1[j]) + (w2 * x2[j] + w3 * x3[j])
    for p in range(in_fours, n_features):
        x0 = phi[p]
        for a in range(len(active)):
            w0 = W[active[a], p]
            target = score[a]
            for j in range(size):
                target[j] += w0 * x0[j]


@numba.njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def _sum_few(phi, responsibility, active, sums):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add phi @ responsibility.T to the columns of the active components, if they are few."""
    n_features, size = phi.shape
    in_fours = n_features - n_features % 4
    for p in range(0, in_fours, 4):
        x0, x1, x2, x3 = phi[p], phi[p + 1], phi[p + 2], phi[p + 3]
        for a in range(len(active)):
            r = responsibility[a]
            t0 = t1 = t2 = t3 = 0.0
            for j in range(size):
                t0 += x0[j] * r[j]
                t1 += x1[j] * r[j]
                t2 += x2[j] * r[j]
                t3 += x3[j] * r[j]
            k = active[a]
            sums[p, k] += t0
            sums[p + 1, k] += t1
            sums[p + 2, k] += t2
            sums[p + 3, k] += t3
    for p in range(in_fours, n_features):
        x0 = phi[p]
        for a in range(len(active)):
            r = responsibility[a]
            t0 = 0.0
            for j in range(size):
                t0 += x0[j] * r[j]
            sums[p, active[a]] += t0


@numba.njit(nogil=True, cache=True, fastmath={"contract"})
def _load(block, labeled, owner, pl, active):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write the plausibilities of the active components into the first rows of pl.

    Returns how many components are plausible for some row, and whether all of them are for all.
    """
    size = pl.shape[1]
    n_active = 0
    complete = True
    for k in range(len(owner)):
        row = pl[n_active]
        n_zero = 0
        if labeled:
            c = owner[k]
            for j in range(size):
                row[j] = block[j, c]
            for j in range(size):
                n_zero += row[j] == 0.0
        else:
            row[:] = 1.0
        if n_zero < size:
            active[n_active] = k
            n_active += 1
            complete = complete and n_zero == 0
    return n_active, complete


@numba.njit(nogil=True, cache=True, fastmath={"contract"})
def _raise_peak(score, plausibility, complete, peak):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Raise the peaks to the scores of a component where it is plausible."""
    if complete:
        for j in range(len(score)):
            peak[j] = max(peak[j], score[j])
    else:
        for j in range(len(score)):
            peak[j] = max(peak[j], score[j] if plausibility[j] > 0 else -np.inf)


@numba.njit(nogil=True, cache=True, fastmath={"contract"})
def _expect(  # type: ignore[no-untyped-def]  # pragma: no cover
    XT, PL, weight, labeled, weighted, owner, W, center, kind, sums, phi, score, pl, scratch, bits
):
    n = XT.shape[1]
    n_components, n_features = W.shape
    active = np.empty(n_components, np.int64)
    criterion = 0.0
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        if size < BLOCK:  # the last block: arrays without a gap
            phi = np.empty((n_features, size))
            score = np.empty((n_components, size))
            pl = np.empty((n_components, size))
            scratch = np.empty((3, size))
            bits = np.empty(size, np.int64)
        _fill(XT, start, size, center, kind, phi)
        block = PL[start : start + size] if labeled else PL
        n_active, complete = _load(block, labeled, owner, pl, active)
        part = score[:n_active]
        few = n_active <= FEW
        if few:
            _score_few(W, active[:n_active], phi, part)
        elif n_active == n_components:
            np.dot(W, phi, part)
        else:
            np.dot(W[active[:n_active]], phi, part)
        peak, total, power = scratch[0], scratch[1], bits.view(np.float64)
        peak[:] = -np.inf
        total[:] = 0.0
        for a in range(n_active):
            _raise_peak(part[a], pl[a], complete, peak)
        for a in range(n_active):
            _weigh(part[a], peak, pl[a], total, power, bits)
        factor = scratch[2]
        for j in range(size):
            w = weight[start + j] if weighted else 1.0
            criterion += w * (np.log(total[j]) + peak[j])
            factor[j] = w / total[j]
        if few:
            for a in range(n_active):
                for j in range(size):
                    part[a, j] *= factor[j]
            _sum_few(phi, part, active[:n_active], sums)
            continue
        responsibility = np.empty((size, n_active))
        for a in range(n_active):
            for j in range(size):
                responsibility[j, a] = part[a, j] * factor[j]
        product = np.dot(phi, responsibility)
        for p in range(n_features):
            for a in range(n_active):
                sums[p, active[a]] += product[p, a]
    return criterion


@numba.njit(nogil=True, cache=True, fastmath={"contract"})
def _sum_given(XT, given, center, kind, sums, phi):  # type: ignore[no-untyped-def]  # pragma: no cover
    n = XT.shape[1]
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        if size < BLOCK:
            phi = np.empty((phi.shape[0], size))
        _fill(XT, start, size, center, kind, phi)
        sums += np.dot(phi, given[start : start + size])
