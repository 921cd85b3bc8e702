"""Loops of `dense` for much work, compiled: a row of all sets stays in cache.

numba is imported here only, and this file only when there is enough work. Rows are shared among
threads; nothing holds the interpreter.
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


@numba.njit(nogil=True, cache=True, fastmath={"contract"})
def fill(
    row: FloatArray, kinds: IntArray, trust: FloatArray, against: FloatArray, is_far: bool
) -> None:
    """Commonalities (2^K,) of one item, or these less one if all its neighbors are far."""
    row[:] = 0.0 if is_far else 1.0
    for j in range(len(kinds)):
        degree = trust[j]
        label = against[kinds[j]]
        if is_far:
            for s in range(len(row)):
                row[s] -= degree * label[s] * (1.0 + row[s])
        else:
            for s in range(len(row)):
                row[s] *= 1.0 - degree * label[s]


@numba.njit(nogil=True, cache=True, fastmath={"contract"})
def products(
    kinds: IntArray, trust: FloatArray, is_far: BoolArray, against: FloatArray
) -> FloatArray:
    """Commonalities (n, 2^K), as `_commonalities` and `_far_commonalities` of `DenseCombiner`."""
    found = np.empty((len(kinds), against.shape[1]))
    for i in range(len(kinds)):
        fill(found[i], kinds[i], trust[i], against, is_far[i])
    return found


@numba.njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def bets_of(row: FloatArray, shares: FloatArray, is_far: bool, found: FloatArray) -> None:
    """Bets before normalization (K,) of commonalities, from signed shares (K, 2^K)."""
    n_classes, n_sets = shares.shape
    for c in range(n_classes):
        share = shares[c]
        total = 1.0 / n_classes if is_far else 0.0  # of the one in q = 1 + (q - 1)
        for s in range(n_sets):
            total += row[s] * share[s]
        found[c] = max(total, 0.0)


@numba.njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def sums(
    kinds: IntArray, trust: FloatArray, is_far: BoolArray, against: FloatArray, shares: FloatArray
) -> FloatArray:
    """Bets before normalization (n, K)."""
    found = np.empty((len(kinds), len(shares)))
    row = np.empty(shares.shape[1])
    for i in range(len(kinds)):
        fill(row, kinds[i], trust[i], against, is_far[i])
        bets_of(row, shares, is_far[i], found[i])
    return found


@numba.njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def _inner_slopes(
    sums: FloatArray, contour: FloatArray, together: FloatArray, inner: FloatArray
) -> float:
    """Squared cost of one item, and its slopes (K,) in the bets before normalization."""
    total = sums.sum()
    cost, along = 1.0, 0.0
    for c in range(len(sums)):
        held = 0.0
        for d in range(len(sums)):
            held += together[c, d] * sums[d]
        held /= total
        bet = sums[c] / total
        inner[c] = 2.0 * (held - contour[c]) / total
        along += inner[c] * bet
        cost += (held - 2.0 * contour[c]) * bet
    inner -= along
    return cost


@numba.njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def squared_costs(
    kinds: IntArray,
    trust: FloatArray,
    is_far: BoolArray,
    contour: FloatArray,
    together: FloatArray,
    against: FloatArray,
    shares: FloatArray,
) -> FloatArray:
    """Squared costs (n,) in the first column, and their slopes (n, k) in the trust.

    The product of all other factors comes from the left and from the right, without division.
    """
    n, k = kinds.shape
    n_classes, n_sets = shares.shape
    found = np.empty((n, 1 + k))
    before, after = np.empty((k + 1, n_sets)), np.empty(n_sets)
    bets, inner = np.empty(n_classes), np.empty(n_classes)
    before[0, :] = 1.0
    for i in range(n):
        for j in range(k):
            degree, label = trust[i, j], against[kinds[i, j]]
            left, right = before[j], before[j + 1]
            for s in range(n_sets):
                right[s] = left[s] * (1.0 - degree * label[s])
        if is_far[i]:
            fill(before[k], kinds[i], trust[i], against, True)
        bets_of(before[k], shares, is_far[i], bets)
        found[i, 0] = _inner_slopes(bets, contour[i], together[i], inner)
        after[:] = 0.0
        for c in range(n_classes):
            for s in range(n_sets):
                after[s] += inner[c] * shares[c, s]
        for j in range(k - 1, -1, -1):
            degree, label, left = trust[i, j], against[kinds[i, j]], before[j]
            slope = 0.0
            for s in range(n_sets):  # two loops, each of which becomes vector instructions
                slope -= left[s] * after[s] * label[s]
            for s in range(n_sets):
                after[s] *= 1.0 - degree * label[s]
            found[i, 1 + j] = slope
    return found
