"""Loops of `dense` for much work, compiled.

numba is imported here only, and this file only when there is enough work.
"""

import numba
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


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
def pull_back(
    kinds: IntArray, trust: FloatArray, against: FloatArray, weights: FloatArray
) -> FloatArray:
    """Slopes (n, k) in the trust from slopes in logarithms of commonalities (n, 2^K)."""
    n, k = kinds.shape
    n_sets = against.shape[1]
    found = np.empty((n, k))
    for i in range(n):
        row = weights[i]
        for j in range(k):
            degree = trust[i, j]
            label = against[kinds[i, j]]
            total = 0.0
            for s in range(n_sets):
                total += row[s] * label[s] / (1.0 - degree * label[s])
            found[i, j] = -total
    return found
