"""Loops of `dense` for much work, compiled: a row of all sets stays in cache.

numba is imported here only, and this file only when there is enough work. Rows are shared among
threads; nothing holds the interpreter. What compiles slowly is left out: kernels make no arrays,
and no slices of them.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from plausible.engine import in_order, one_blas_thread

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MANY_ROWS = 1000  # for each thread
BETS, SLOPES = range(2)  # rows of a workspace

# Only Python and compiled code call them: without a way in for C they compile faster.
_options: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract"},
    "no_cfunc_wrapper": True,
}
_sums_in_any_order = {**_options, "fastmath": {"contract", "reassoc", "nsz"}}
# Parts that only compiled code calls need none for Python, either.
_inner: dict[str, Any] = {"no_cpython_wrapper": True}


def on_threads(
    kernel: Callable[..., Any], by_row: tuple[Any, ...], shared: tuple[Any, ...]
) -> FloatArray:
    """What a kernel gives for all rows, which are divided among threads."""
    n = len(by_row[0])
    with one_blas_thread() as n_threads:
        n_parts = max(1, min(n_threads, n // MANY_ROWS))
        cuts = np.linspace(0, n, n_parts + 1).astype(int)
        parts = [[one[a:b] for one in by_row] for a, b in pairwise(cuts)]
        found = list(in_order(lambda part: kernel(*part, *shared), parts, n_parts))
    return found[0] if n_parts == 1 else np.concatenate(found)


def _aligned(*shape: int) -> FloatArray:
    """An empty array that starts at a cache line: loops run a tenth faster."""
    size = int(np.prod(shape))
    raw: FloatArray = np.empty(size + 8)
    start = (-raw.ctypes.data % 64) // 8
    return raw[start : start + size].reshape(shape)


def products(
    kinds: IntArray, trust: FloatArray, is_far: BoolArray, against: FloatArray
) -> FloatArray:
    """Commonalities (n, 2^K), as `_commonalities` and `_far_commonalities` of `DenseCombiner`."""
    found = _aligned(len(kinds), against.shape[1])
    _multiply(kinds, trust, is_far, against, found)
    return found


def sums(
    kinds: IntArray, trust: FloatArray, is_far: BoolArray, against: FloatArray, shares: FloatArray
) -> FloatArray:
    """Bets before normalization (n, K), from signed shares (K, 2^K)."""
    n_classes, n_sets = shares.shape
    found, space = np.empty((len(kinds), n_classes)), _aligned(n_sets)
    _sum_up(kinds, trust, is_far, against, shares, space, found)
    return found


def squared_costs(
    kinds: IntArray,
    trust: FloatArray,
    is_far: BoolArray,
    contour: FloatArray,
    together: FloatArray,
    against: FloatArray,
    shares: FloatArray,
) -> FloatArray:
    """Squared costs (n,) in the first column, and their slopes (n, k) in the trust."""
    (n, k), (n_classes, n_sets) = kinds.shape, shares.shape
    found, before, space = np.empty((n, 1 + k)), _aligned(k + 2, n_sets), np.empty((2, n_classes))
    before[0] = 1.0
    _squared_costs(kinds, trust, is_far, contour, together, against, shares, before, space, found)
    return found


@numba.njit(**_inner, **_options)
def _fill(kinds, trust, i, is_far, against, row):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Commonalities of item i in a row, or these less one if all its neighbors are far."""
    for s in range(len(row)):
        row[s] = 0.0 if is_far else 1.0
    for j in range(kinds.shape[1]):
        label, degree = against[kinds[i, j]], trust[i, j]
        if is_far:
            for s in range(len(row)):
                row[s] -= degree * label[s] * (1.0 + row[s])
        else:
            for s in range(len(row)):
                row[s] *= 1.0 - degree * label[s]


@numba.njit(cache=True, **_options)
def _multiply(kinds, trust, is_far, against, found):  # type: ignore[no-untyped-def]  # pragma: no cover
    for i in range(len(kinds)):
        _fill(kinds, trust, i, is_far[i], against, found[i])


@numba.njit(**_inner, **_sums_in_any_order)
def _bet(row, shares, is_far, bets):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Bets before normalization of the commonalities in a row; gives their sum."""
    n_classes, n_sets = shares.shape
    total = 0.0
    for c in range(n_classes):
        bet = 1.0 / n_classes if is_far else 0.0  # of the one in q = 1 + (q - 1)
        share = shares[c]
        for s in range(n_sets):
            bet += row[s] * share[s]
        bet = bet if bet > 0.0 else 0.0
        bets[c] = bet
        total += bet
    return total


@numba.njit(cache=True, **_sums_in_any_order)
def _sum_up(kinds, trust, is_far, against, shares, row, found):  # type: ignore[no-untyped-def]  # pragma: no cover
    for i in range(len(kinds)):
        _fill(kinds, trust, i, is_far[i], against, row)
        _bet(row, shares, is_far[i], found[i])


@numba.njit(**_inner, **_sums_in_any_order)
def _judge(i, total, contour, together, space):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Squared cost of item i; its slopes in the bets before normalization are written."""
    n_classes = contour.shape[1]
    cost, along = 1.0, 0.0
    for c in range(n_classes):
        held = 0.0
        for d in range(n_classes):
            held += together[i, c, d] * space[BETS, d]
        held /= total
        bet = space[BETS, c] / total
        slope = 2.0 * (held - contour[i, c]) / total
        space[SLOPES, c] = slope
        along += slope * bet
        cost += (held - 2.0 * contour[i, c]) * bet
    for c in range(n_classes):
        space[SLOPES, c] -= along
    return cost


@numba.njit(cache=True, **_sums_in_any_order)
def _squared_costs(  # type: ignore[no-untyped-def]  # pragma: no cover
    kinds, trust, is_far, contour, together, against, shares, before, space, found
):
    """The product of all other factors comes from the left and from the right, without division.

    The rows of `before` are products of the first factors; what comes after is in the last.
    """
    n_classes, n_sets = shares.shape
    k = kinds.shape[1]
    after = before[k + 1]
    for i in range(len(kinds)):
        for j in range(k):
            degree, label = trust[i, j], against[kinds[i, j]]
            left, right = before[j], before[j + 1]
            for s in range(n_sets):
                right[s] = left[s] * (1.0 - degree * label[s])
        if is_far[i]:
            _fill(kinds, trust, i, is_far[i], against, before[k])
        total = _bet(before[k], shares, is_far[i], space[BETS])
        found[i, 0] = _judge(i, total, contour, together, space)
        for s in range(n_sets):
            after[s] = 0.0
        for c in range(n_classes):
            inner = space[SLOPES, c]
            for s in range(n_sets):
                after[s] += inner * shares[c, s]
        for j in range(k - 1, -1, -1):
            degree, label, left, slope = trust[i, j], against[kinds[i, j]], before[j], 0.0
            for s in range(n_sets):  # two loops, each of which becomes vector instructions
                slope -= left[s] * after[s] * label[s]
            for s in range(n_sets):
                after[s] *= 1.0 - degree * label[s]
            found[i, 1 + j] = slope
