r"""Comparing credal partitions: mass functions over clusters, one for each item.

For a pair of items, a credal partition says whether they are together: the masses on {same},
{different}, both (no idea) and nothing are

.. math:: m_{ij}(same) = \sum_k m_i(\{k\})\, m_j(\{k\}), \qquad
          m_{ij}(different) = \sum_{A \cap B = \emptyset} m_i(A)\, m_j(B).

The credal Rand index is one minus the mean distance of these masses over all pairs: the Rand index
for hard partitions, and one for a partition with itself, whatever its kind.

References
----------
T. Denoeux, S. Li, S. Sriboonchitta, Evaluating and comparing soft partitions: an approach based on
Dempster-Shafer theory, IEEE Transactions on Fuzzy Systems 26 (2018) 1231-1244.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from plausible.belief import SparseMasses, jousselme_distance, nonspecificity, to_sparse
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.metrics.truth import FloatArray

Partition = ArrayLike | SparseMasses | Labels | Any

_ROWS_AT_ONCE = 256


def co_membership(masses: Partition, others: Partition | None = None) -> FloatArray:
    """Masses (n, m, 4) about whether items i and j are in one cluster.

    Parameters
    ----------
    masses : CredalPartition, Labels, SparseMasses, or dense array (n, 2^K)
    others : the same for m other items; by default the same items

    Returns
    -------
    array (n, m, 4)
        Columns: nothing, same, different, no idea; a mass function on (same, different) in dense
        form.

    Examples
    --------
    >>> co_membership([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])[0]
    array([[0., 1., 0., 0.],
           [0., 0., 0., 1.]])
    """
    first = _read_partition(masses)
    second = first if others is None else _read_partition(others)
    if first.n_classes != second.n_classes:
        raise InputError(
            "Both partitions should have the same clusters",
            f"have {first.n_classes} and {second.n_classes}",
            "refine or coarsen one of them",
        )
    a, b = first.focal_sets[:, None], second.focal_sets
    single = (a == b) & (np.bitwise_count(a) == 1)
    disjoint = (a & b == 0) & (a != 0) & (b != 0)
    some_first = first.values @ (first.focal_sets != 0)
    some_second = second.values @ (second.focal_sets != 0)
    out = np.empty((len(first), len(second), 4))
    out[..., 0] = 1.0 - some_first[:, None] * some_second
    out[..., 1] = first.values @ single @ second.values.T
    out[..., 2] = first.values @ disjoint @ second.values.T
    out[..., 3] = np.maximum(1.0 - out[..., :3].sum(axis=-1), 0.0)
    return out


def credal_rand_index(masses: Partition, other: Partition) -> float:
    """Agreement of two credal partitions of the same items, in [0, 1].

    Parameters
    ----------
    masses, other : CredalPartition, Labels, SparseMasses, or dense array (n, 2^K)
        The numbers of clusters may differ.

    Examples
    --------
    >>> hard = [[0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    >>> vague = [[0.0, 0.5, 0.0, 0.5]] * 3
    >>> credal_rand_index(hard, hard), credal_rand_index(vague, vague)
    (1.0, 1.0)
    """
    one, two = _read_partition(masses), _read_partition(other)
    if len(one) != len(two) or len(one) < 2:
        raise InputError(
            "Both partitions should be of the same items, at least two",
            f"have {len(one)} and {len(two)}",
            "give one row for each item",
        )
    n, distance = len(one), 0.0
    for start in range(0, n, _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        block = jousselme_distance(co_membership(one[rows], one), co_membership(two[rows], two))
        later = np.arange(n) > np.arange(n)[rows, None]
        distance += float(block[later].sum())
    return 1.0 - distance / (n * (n - 1) / 2)


def credal_nonspecificity(masses: Partition) -> float:
    """Mean nonspecificity of a credal partition: 0 if all is precise, 1 if nothing is known.

    Mass on the empty set (an outlier) counts as mass on all clusters.

    Examples
    --------
    >>> credal_nonspecificity([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    0.5
    """
    m = _read_partition(masses)
    if m.n_classes == 1:
        return 0.0
    empty = m.values[:, m.focal_sets == 0].sum(axis=1)
    return float(np.mean(nonspecificity(m) / np.log2(m.n_classes) + empty))


def _read_partition(partition: Partition) -> SparseMasses:
    """Masses (n, F) of a partition; labels and credal partitions give their own."""
    masses = to_sparse(partition)
    if masses.values.ndim != 2:
        raise InputError(
            "A partition should have one row of masses for each item",
            f"has shape {masses.shape}",
            "give an array (n, 2^K), SparseMasses or Labels",
            value=masses.shape,
        )
    return masses
