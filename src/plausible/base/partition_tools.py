"""Credal partitions as a table, and several of them as one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from plausible.belief import SparseMasses, combine, decode_sets, membership, to_sparse
from plausible.checks import check_flag, check_kind, check_option, counted
from plausible.errors import InputError

if TYPE_CHECKING:
    from plausible.base.partition import CredalPartition

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class PartitionSummary:
    """A credal partition in numbers; printed, it is a table.

    Attributes
    ----------
    sets : list of tuples of clusters, the empty one for outliers
    items : list of int
        Items whose largest mass is on the set.
    mean_masses : list of float
    nonspecificity : float
    n_outliers : int

    Examples
    --------
    >>> print(PartitionSummary([(), (0,), (0, 1)], [0, 3, 1], [0.1, 0.6, 0.3], 0.4, 0))
    set        items  mean mass
    none           0      0.100
    {0}            3      0.600
    {0, 1}         1      0.300
    nonspecificity 0.400, 4 items, 0 outliers
    """

    sets: list[tuple[Any, ...]]
    items: list[int]
    mean_masses: list[float]
    nonspecificity: float
    n_outliers: int

    def __str__(self) -> str:
        names = ["{" + ", ".join(map(str, one)) + "}" if one else "none" for one in self.sets]
        width = max(10, *map(len, names))
        lines = [f"{'set':<{width}} items  mean mass"]
        lines += [
            f"{name:<{width}} {count:>5}  {mass:>9.3f}"
            for name, count, mass in zip(names, self.items, self.mean_masses, strict=True)
        ]
        lines.append(
            f"nonspecificity {self.nonspecificity:.3f}, {counted(sum(self.items), 'item')}, "
            f"{counted(self.n_outliers, 'outlier')}"
        )
        return "\n".join(lines)


def summarized(partition: "CredalPartition") -> PartitionSummary:
    """A partition in numbers, sets in the order of their sizes."""
    sets = partition.focal_sets
    order = np.lexsort((sets, np.bitwise_count(sets)))
    largest = partition.credal()
    means = partition.masses().values.mean(axis=0)
    return PartitionSummary(
        decode_sets(sets[order], partition.classes.tolist()),
        [int((largest == one).sum()) for one in sets[order]],
        means[order].tolist(),
        partition.nonspecificity(),
        int(partition.outliers().sum()),
    )


def with_outliers(masses: SparseMasses) -> SparseMasses:
    """Masses with one more class, which takes that of the empty set."""
    last = 1 << masses.n_classes
    sets = np.where(masses.focal_sets == 0, last, masses.focal_sets)
    return SparseMasses(masses.values, sets, masses.n_classes + 1)


def without_outliers(masses: SparseMasses) -> SparseMasses:
    """The inverse of `with_outliers`."""
    n_clusters = masses.n_classes - 1
    sets = np.where(masses.focal_sets == 1 << n_clusters, 0, masses.focal_sets)
    return SparseMasses(masses.values, sets, n_clusters)


def combined_partitions(
    first: "CredalPartition", others: tuple["CredalPartition", ...], rule: str, match: bool
) -> "CredalPartition":
    """One partition from several; see `CredalPartition.combine`."""
    check_option(rule, ("mean", "dempster"), "rule")
    check_flag(match, "match")
    for other in others:
        check_kind(other, type(first), "A partition", "give partition_ of a clustering")
        if len(other) != len(first) or other.n_clusters != first.n_clusters:
            raise InputError(
                f"Partitions should be of the same {counted(len(first), 'item')} in "
                f"{counted(first.n_clusters, 'cluster')}",
                f"one is of {counted(len(other), 'item')} in "
                f"{counted(other.n_clusters, 'cluster')}",
                "cluster the same items, with the same n_clusters",
            )
    if not others:
        return first
    sources = [first.masses()]
    for other in others:
        sources.append(renamed(other.masses(), matching(first, other)) if match else other.masses())
    together = to_sparse(combine([with_outliers(source) for source in sources], rule=rule))
    return type(first)(without_outliers(together), first.names)


def matching(first: "CredalPartition", other: "CredalPartition") -> IntArray:
    """The number that each cluster of the other has in the first: the greatest overlap in all."""
    overlap = other.contour.T @ first.contour
    return np.asarray(linear_sum_assignment(overlap, maximize=True)[1])


def renamed(masses: SparseMasses, numbers: IntArray) -> SparseMasses:
    """Masses whose cluster k is now cluster numbers[k]."""
    sets = membership(masses.focal_sets, masses.n_classes) @ (1 << numbers)
    return SparseMasses(masses.values, sets, masses.n_classes)
