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
def products(kinds: IntArray, trust: FloatArray, against: FloatArray) -> FloatArray:
    """Commonalities (n, 2^K), as `DenseCombiner._commonalities`."""
    n, k = kinds.shape
    n_sets = against.shape[1]
    found = np.empty((n, n_sets))
    for i in range(n):
        row = found[i]
        row[:] = 1.0
        for j in range(k):
            degree = trust[i, j]
            label = against[kinds[i, j]]
            for s in range(n_sets):
                row[s] *= 1.0 - degree * label[s]
    return found


@numba.njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def sums(kinds: IntArray, trust: FloatArray, against: FloatArray, shares: FloatArray) -> FloatArray:
    """Bets before normalization (n, K), from signed shares (K, 2^K)."""
    n, k = kinds.shape
    n_classes, n_sets = shares.shape
    found = np.empty((n, n_classes))
    row = np.empty(n_sets)
    for i in range(n):
        row[:] = 1.0
        for j in range(k):
            degree = trust[i, j]
            label = against[kinds[i, j]]
            for s in range(n_sets):
                row[s] *= 1.0 - degree * label[s]
        for c in range(n_classes):
            share = shares[c]
            total = 0.0
            for s in range(n_sets):
                total += row[s] * share[s]
            found[i, c] = total
    return found


@numba.njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def pull_back(
    kinds: IntArray,
    trust: FloatArray,
    inner: FloatArray,
    against: FloatArray,
    shares: FloatArray,
) -> FloatArray:
    """Slopes (n, k) in the trust, from those (n, K) in the bets before normalization.

    The product of all other factors comes from the left and from the right, without division.
    """
    n, k = kinds.shape
    n_classes, n_sets = shares.shape
    found = np.empty((n, k))
    before = np.empty((k, n_sets))
    after = np.empty(n_sets)
    for i in range(n):
        before[0, :] = 1.0
        for j in range(k - 1):
            degree = trust[i, j]
            label = against[kinds[i, j]]
            left, right = before[j], before[j + 1]
            for s in range(n_sets):
                right[s] = left[s] * (1.0 - degree * label[s])
        after[:] = 0.0
        for c in range(n_classes):
            slope = inner[i, c]
            for s in range(n_sets):
                after[s] += slope * shares[c, s]
        for j in range(k - 1, -1, -1):
            degree = trust[i, j]
            label = against[kinds[i, j]]
            total = 0.0
            left = before[j]
            for s in range(n_sets):  # two loops, each of which becomes vector instructions
                total += left[s] * after[s] * label[s]
            for s in range(n_sets):
                after[s] *= 1.0 - degree * label[s]
            found[i, j] = -total
    return found
