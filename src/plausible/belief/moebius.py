r"""Fast Moebius transforms on the lattice of sets, O(K 2^K) for each row.

.. math:: (Z f)(A) = \sum_{B \subseteq A} f(B), \qquad
          (Z^{-1} f)(A) = \sum_{B \subseteq A} (-1)^{|A| - |B|} f(B)

and the same with supersets, or with the sets that meet A. Each class contributes one pass in which
the columns without it and with it meet. The lowest passes run together as one product with a small
matrix, since their strides are too short for vector instructions; the rows are taken in blocks that
stay in cache.

References
----------
R. Kennes, Computational aspects of the Moebius transformation of graphs, IEEE Transactions on
Systems, Man and Cybernetics 22 (1992) 201-223.
"""

import numpy as np

from plausible.belief.sets import FloatArray

_PASSES_TOGETHER = 6
_BLOCK = 1 << 16  # doubles in a block of rows: half a megabyte


def subset_sum(values: FloatArray) -> FloatArray:
    """Sum over the subsets of each set; columns are sets, as in dense form.

    Examples
    --------
    >>> subset_sum(np.array([0.0, 0.7, 0.0, 0.3]))
    array([0. , 0.7, 0. , 1. ])
    """
    return _transform(values, np.array([[1.0, 1.0], [0.0, 1.0]]))


def subset_difference(values: FloatArray) -> FloatArray:
    """Inverse of `subset_sum`."""
    return _transform(values, np.array([[1.0, -1.0], [0.0, 1.0]]))


def superset_sum(values: FloatArray) -> FloatArray:
    """Sum over the supersets of each set.

    Examples
    --------
    >>> superset_sum(np.array([0.0, 0.7, 0.0, 0.3]))
    array([1. , 1. , 0.3, 0.3])
    """
    return _transform(values, np.array([[1.0, 0.0], [1.0, 1.0]]))


def superset_difference(values: FloatArray) -> FloatArray:
    """Inverse of `superset_sum`."""
    return _transform(values, np.array([[1.0, 0.0], [-1.0, 1.0]]))


def meeting_sum(values: FloatArray) -> FloatArray:
    """Sum over the sets that meet each set, without subtracting: small sums keep their digits.

    Examples
    --------
    >>> meeting_sum(np.array([0.0, 1.0, 1e-20, 0.0]))
    array([0.e+00, 1.e+00, 1.e-20, 1.e+00])
    """
    n_sets = values.shape[-1]
    n_classes = n_sets.bit_length() - 1
    low = min(_PASSES_TOGETHER, n_classes)
    sets = np.arange(1 << low)
    meets = (sets[:, None] & sets != 0).astype(np.float64)
    out = np.empty(values.shape)
    source, target = values.reshape(-1, n_sets), out.reshape(-1, n_sets)
    rows = max(1, _BLOCK // n_sets)
    for start in range(0, len(source), rows):
        block = source[start : start + rows].reshape(-1, 1 << low)
        # What meets A, and what does not, within the classes seen so far.
        met, missed = block @ meets, block @ (1.0 - meets)
        for k in range(low, n_classes):
            m0, m1 = met.reshape(-1, 2, 1 << k).swapaxes(0, 1)
            x0, x1 = missed.reshape(-1, 2, 1 << k).swapaxes(0, 1)
            met = np.stack([m0 + m1, m0 + m1 + x1], axis=1)
            missed = np.stack([x0 + x1, x0], axis=1)
        target[start : start + rows] = met.reshape(-1, n_sets)
    return out


def _transform(values: FloatArray, step: FloatArray) -> FloatArray:
    """Apply ``(without, with) @ step`` along every class; `step` has a unit diagonal."""
    n_sets = values.shape[-1]
    n_classes = n_sets.bit_length() - 1
    low = min(_PASSES_TOGETHER, n_classes)
    together: FloatArray = np.ones((1, 1))
    for _ in range(low):
        together = np.kron(together, step).astype(np.float64, copy=False)
    out = np.empty(values.shape)
    source, target = values.reshape(-1, n_sets), out.reshape(-1, n_sets)
    rows = max(1, _BLOCK // n_sets)
    for start in range(0, len(source), rows):
        block = target[start : start + rows]
        lowest = source[start : start + rows].reshape(-1, 1 << low) @ together
        block[...] = lowest.reshape(block.shape)
        for k in range(low, n_classes):
            pair = block.reshape(-1, 2, 1 << k)
            if step[0, 1]:
                pair[:, 1] += step[0, 1] * pair[:, 0]
            else:
                pair[:, 0] += step[1, 0] * pair[:, 1]
    return out
