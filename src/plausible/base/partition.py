r"""Credal partitions: what is believed about the cluster of each item.

An item has a mass function on the sets of clusters. Mass on several clusters says "one of these";
mass on the empty set says "none of them": the item is an outlier.

References
----------
M.-H. Masson, T. Denoeux, ECM: an evidential version of the fuzzy c-means algorithm, Pattern
Recognition 41 (2008) 1384-1397.
"""

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.base.notebooks import partition_page
from plausible.base.partition_tools import (
    PartitionSummary,
    combined_partitions,
    summarized,
    with_outliers,
)
from plausible.base.warnings import OutlierWarning
from plausible.belief import (
    SparseMasses,
    cardinality,
    check_masses,
    full_set,
    membership,
    sparse_form,
)
from plausible.checks import as_list, check_option, counted, name_rows, shown
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.metrics import co_membership, credal_nonspecificity

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

OUTLIER = -1  # in hard answers, as the noise of scikit-learn's clusterings
_AT_ONCE = 1 << 18  # masses that are compared at once


class RoughPartition(NamedTuple):
    """Items (n, c) that surely are in each cluster, and that may be.

    Examples
    --------
    >>> RoughPartition(np.eye(2, dtype=bool), np.ones((2, 2), dtype=bool)).upper.all()
    np.True_
    """

    lower: BoolArray
    upper: BoolArray


class Relations(NamedTuple):
    """Masses (n, n) about pairs of items, which sum to one.

    Attributes
    ----------
    nothing : that one of them belongs nowhere
    same, different : that they are in one cluster, in two
    unknown : that nothing is known

    Examples
    --------
    >>> masses = SparseMasses([[0.0, 1.0], [0.5, 0.5]], focal_sets=[0, 3], n_classes=2)
    >>> CredalPartition(masses).relations().nothing[0]
    array([0. , 0.5])
    """

    nothing: FloatArray
    same: FloatArray
    different: FloatArray
    unknown: FloatArray


@dataclass(frozen=True, eq=False)
class CredalPartition:
    """What is believed about the cluster of each of n items.

    Parameters
    ----------
    given : SparseMasses (n, F), or dense array (n, 2^c)
        On the clusters; mass on the empty set says that an item is an outlier.
    names : sequence of c names, optional
        Of the clusters; by default 0, 1, ...

    Examples
    --------
    >>> masses = SparseMasses([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.1, 0.1, 0.8]], [1, 3, 0], 2)
    >>> partition = CredalPartition(masses)
    >>> partition.hard()
    array([ 0,  0, -1])
    >>> partition.rough().upper.astype(int)  # clusters that may be those of the item
    array([[1, 0],
           [1, 1],
           [0, 0]])
    """

    given: SparseMasses
    names: Sequence[Hashable] | None = None

    def __post_init__(self) -> None:
        masses = check_masses(self.given)
        if not isinstance(masses, SparseMasses):
            masses = sparse_form(masses)
        object.__setattr__(self, "given", masses)
        if masses.values.ndim != 2:
            raise InputError(
                "A credal partition should have a mass function for each item",
                f"the masses have shape {masses.shape}",
                "write masses[None] for a single item",
                value=masses.shape,
            )
        if self.names is not None:
            object.__setattr__(self, "names", _different(self.names, masses.n_classes))

    def __len__(self) -> int:
        return len(self.given)

    def __getitem__(self, rows: Any) -> "CredalPartition":
        """Some of the items, by a slice, numbers or a mask."""
        return CredalPartition(self.given[np.atleast_1d(np.arange(len(self))[rows])], self.names)

    def __repr__(self) -> str:
        return (
            f"<CredalPartition: {counted(len(self), 'item')} in "
            f"{counted(self.n_clusters, 'cluster')}, "
            f"{counted(int(self.outliers().sum()), 'outlier')}>"
        )

    def _repr_html_(self) -> str:
        return partition_page(self)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.given.n_classes

    @property
    def classes(self) -> NDArray[Any]:
        """Names of the clusters."""
        return np.arange(self.n_clusters) if self.names is None else np.asarray(list(self.names))

    @property
    def focal_sets(self) -> IntArray:
        """Sets (F,) of clusters that may have mass, as bit masks."""
        return self.given.focal_sets

    def masses(self) -> SparseMasses:
        """Mass functions (n, F) on the clusters."""
        return self.given

    @cached_property
    def outlier_mass(self) -> FloatArray:
        """Mass (n,) on the empty set."""
        return np.asarray(self.given.values[:, self.given.focal_sets == 0].sum(axis=1))

    @cached_property
    def contour(self) -> FloatArray:
        """Plausibility (n, c) of each cluster; low in a whole row for an outlier."""
        return self.given.values @ self._members.astype(np.float64)

    @cached_property
    def probability(self) -> FloatArray:
        """Bets (n, c) on the clusters, given that the item is in one of them."""
        share = self._members / np.maximum(self._members.sum(axis=1, keepdims=True), 1)
        bets = self.given.values @ share
        total = bets.sum(axis=1, keepdims=True)
        nowhere = total[:, 0] == 0.0  # nothing is known of its cluster, if it had one
        bets[nowhere], total[nowhere] = 1.0, self.n_clusters
        return np.asarray(bets / total)

    @property
    def _members(self) -> BoolArray:
        return membership(self.given.focal_sets, self.n_clusters)

    @cached_property
    def _largest(self) -> IntArray:
        """Set (n,) with the largest mass; found in blocks, without a copy of all masses."""
        order = np.argsort(cardinality(self.focal_sets), kind="stable")
        place = np.empty(len(self), dtype=np.int64)
        size = max(_AT_ONCE // len(order), 1)
        for start in range(0, len(self), size):
            block = slice(start, start + size)
            place[block] = self.given.values[block, order].argmax(axis=1)
        return self.focal_sets[order][place]

    def credal(self) -> IntArray:
        """Set (n,) of clusters with the largest mass, as a bit mask; the smaller set of equals.

        Examples
        --------
        >>> masses = SparseMasses([[0.9, 0.1], [0.2, 0.8]], focal_sets=[1, 3], n_classes=2)
        >>> CredalPartition(masses).credal()  # {0}, {0, 1}
        array([1, 3])
        """
        return self._largest.copy()

    def outliers(self) -> BoolArray:
        """Items (n,) whose largest mass says that they belong nowhere.

        Examples
        --------
        >>> masses = SparseMasses([[0.9, 0.1], [0.2, 0.8]], focal_sets=[1, 0], n_classes=2)
        >>> CredalPartition(masses).outliers()
        array([False,  True])
        """
        return np.asarray(self._largest == 0)

    def hard(self) -> NDArray[Any]:
        """Cluster (n,) with the best bet, as its number; -1 for outliers.

        Examples
        --------
        >>> masses = SparseMasses([[0.9, 0.1, 0], [0.2, 0.1, 0.7]], [1, 2, 0], n_classes=2)
        >>> CredalPartition(masses).hard()
        array([ 0, -1])
        """
        return np.where(self.outliers(), OUTLIER, self.probability.argmax(axis=1))

    def fuzzy(self) -> FloatArray:
        """Degrees (n, c) of membership that sum to one: the bets on the clusters.

        Examples
        --------
        >>> masses = SparseMasses([[0.5, 0.5], [1.0, 0.0]], focal_sets=[1, 3], n_classes=2)
        >>> CredalPartition(masses).fuzzy()
        array([[0.75, 0.25],
               [1.  , 0.  ]])
        """
        return self.probability.copy()

    def possibilistic(self) -> FloatArray:
        """Degrees (n, c) of possibility: the plausibility of each cluster, low for outliers.

        Examples
        --------
        >>> masses = SparseMasses([[0.5, 0.5], [0.9, 0.1]], focal_sets=[1, 3], n_classes=2)
        >>> CredalPartition(masses).possibilistic()
        array([[1. , 0.5],
               [1. , 0.1]])
        """
        return self.contour.copy()

    def rough(self) -> "RoughPartition":
        """Items (n, c) that surely are in each cluster (`lower`), and that may be (`upper`).

        An item is in the upper approximations of the clusters in its set of largest mass, and in
        the lower one if that is a single cluster.

        Examples
        --------
        >>> masses = SparseMasses([[0.9, 0.1], [0.2, 0.8]], focal_sets=[1, 3], n_classes=2)
        >>> lower, upper = CredalPartition(masses).rough()
        >>> lower.astype(int)
        array([[1, 0],
               [0, 0]])
        """
        upper = membership(self._largest, self.n_clusters)
        lower = upper & (cardinality(self._largest) == 1)[:, None]
        return RoughPartition(lower, upper)

    def nonspecificity(self) -> float:
        """How imprecise the partition is: 0 if all is on single clusters, 1 if nothing is known.

        The mean over items of ``m(A) log2 |A| / log2 c``; mass on the empty set counts as mass on
        all clusters. The number of clusters with the lowest value is one way to choose it.

        Examples
        --------
        >>> masses = SparseMasses([[1.0, 0.0], [0.0, 1.0]], focal_sets=[1, 3], n_classes=2)
        >>> CredalPartition(masses).nonspecificity()
        0.5
        """
        return credal_nonspecificity(self.given)

    def relations(self) -> "Relations":
        """Masses (n, n) about each pair of items: that they are in one cluster, or are not.

        Examples
        --------
        >>> masses = SparseMasses([[1.0, 0.0], [0.5, 0.5]], focal_sets=[1, 3], n_classes=2)
        >>> CredalPartition(masses).relations().same
        array([[1.  , 0.5 ],
               [0.5 , 0.25]])
        """
        return Relations(*np.moveaxis(co_membership(self.given), -1, 0))

    def summary(self) -> "PartitionSummary":
        """A row for each set of clusters: how many items have their largest mass there.

        Examples
        --------
        >>> masses = SparseMasses([[0.9, 0.1, 0], [0.2, 0.8, 0], [0, 0, 1]], [1, 3, 0], 2)
        >>> print(CredalPartition(masses).summary())
        set        items  mean mass
        none           1      0.333
        {0}            1      0.367
        {0, 1}         1      0.300
        nonspecificity 0.633, 3 items, 1 outlier
        """
        return summarized(self)

    def combine(
        self, *others: "CredalPartition", rule: str = "mean", match: bool = True
    ) -> "CredalPartition":
        """One partition from several of the same items, with the names of this one.

        Parameters
        ----------
        *others : CredalPartition
            As many clusters, in any order.
        rule : {"mean", "dempster"}
            "mean" of the masses, for runs on the same data; "dempster" for independent evidence,
            such as other features. Belonging nowhere is a cluster like any other here.
        match : bool
            Whether to number the clusters of the others as those of this one that they overlap
            most; else clusters of one number are the same.

        Examples
        --------
        >>> one = CredalPartition(SparseMasses([[0.8, 0.2], [0.1, 0.9]], [1, 2], 2))
        >>> two = CredalPartition(SparseMasses([[0.0, 1.0], [0.7, 0.3]], [1, 2], 2))
        >>> one.combine(two).fuzzy()
        array([[0.9, 0.1],
               [0.2, 0.8]])
        """
        return combined_partitions(self, others, rule, match)

    def labels(self, outliers: str = "unknown") -> Labels:
        """The partition as labels.

        Parameters
        ----------
        outliers : {"unknown", "class"}
            What mass on the empty set becomes, which labels cannot hold. "unknown": it goes to all
            clusters, and an `OutlierWarning` names the outliers; the labels keep it as `conflict`.
            "class": it goes to a class of its own, called -1, or "outlier" among names.

        Examples
        --------
        >>> masses = SparseMasses([[0.9, 0.1], [0.2, 0.8]], focal_sets=[1, 0], n_classes=2)
        >>> CredalPartition(masses).labels(outliers="class").classes
        array([ 0,  1, -1])
        """
        check_option(outliers, ("unknown", "class"), "outliers")
        names = self.classes.tolist()
        if outliers == "class":
            extended = with_outliers(self.given)
            last = "outlier" if isinstance(names[0], str) else OUTLIER
            return Labels.from_masses(extended, [*names, last])
        if self.outliers().any():
            warnings.warn(
                "Labels cannot say that an item belongs to no cluster, but most mass does in "
                f"{name_rows(self.outliers())}; they count as unknown: leave them out, or use "
                "labels(outliers='class').",
                OutlierWarning,
                stacklevel=2,
            )
        return Labels.from_masses(_to_all(self.given), names, conflict=self.outlier_mass)


def _different(names: Any, n_clusters: int) -> list[Hashable]:
    """Names of clusters, each another one."""
    given = as_list(names, "names", "names of clusters")
    try:
        n_different = len(set(given))
    except TypeError:  # something that has no hash
        n_different = 0
    if len(given) != n_clusters or n_different != n_clusters:
        raise InputError(
            f"names should be {n_clusters} different names of the clusters",
            f"are {shown(given)}",
            "name each once",
            parameter="names",
        )
    return given


def _to_all(masses: SparseMasses) -> SparseMasses:
    """Masses with that of the empty set given to all clusters."""
    everything = full_set(masses.n_classes)
    sets = np.where(masses.focal_sets == 0, everything, masses.focal_sets)
    focal, place = np.unique(sets, return_inverse=True)
    values = np.zeros((len(masses), len(focal)))
    np.add.at(values.T, place, masses.values.T)
    return SparseMasses(values, focal, masses.n_classes)
