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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.base.warnings import OutlierWarning
from plausible.belief import (
    SparseMasses,
    cardinality,
    contour,
    full_set,
    membership,
    normalize,
    pignistic,
    to_sparse,
)
from plausible.checks import check_option, counted, name_rows
from plausible.errors import InputError
from plausible.labels import Labels

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

OUTLIER = -1  # in hard answers, as the noise of scikit-learn's clusterings


@dataclass(frozen=True, eq=False)
class CredalPartition:
    """What is believed about the cluster of each of n items.

    Parameters
    ----------
    given : SparseMasses (n, F)
        On the clusters; mass on the empty set says that an item is an outlier.
    names : sequence of c names, optional
        Of the clusters; by default 0, 1, ...

    Examples
    --------
    >>> masses = SparseMasses([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.1, 0.1, 0.8]], [1, 3, 0], 2)
    >>> partition = CredalPartition(masses)
    >>> partition.hard
    array([ 0,  0, -1])
    >>> partition.is_outlier
    array([False, False,  True])
    >>> partition.upper.astype(int)  # clusters that may be those of the item
    array([[1, 0],
           [1, 1],
           [0, 0]])
    """

    given: SparseMasses
    names: Sequence[Hashable] | None = None

    def __post_init__(self) -> None:
        masses = to_sparse(self.given)
        if masses.values.ndim != 2:
            raise InputError(
                "A credal partition should have a mass function for each item",
                f"the masses have shape {masses.shape}",
                "write masses[None] for a single item",
                value=masses.shape,
            )
        if self.names is not None and len(set(self.names)) != masses.n_classes:
            raise InputError(
                f"names should be {masses.n_classes} different names of the clusters",
                f"are {list(self.names)}",
                "name each once",
                parameter="names",
            )

    def __len__(self) -> int:
        return len(self.given)

    def __getitem__(self, rows: Any) -> "CredalPartition":
        """Some of the items, by a slice, numbers or a mask."""
        return CredalPartition(self.given[np.atleast_1d(np.arange(len(self))[rows])], self.names)

    def __repr__(self) -> str:
        return (
            f"<CredalPartition: {counted(len(self), 'item')} in "
            f"{counted(self.n_clusters, 'cluster')}, "
            f"{counted(int(self.is_outlier.sum()), 'outlier')}>"
        )

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.given.n_classes

    @property
    def classes(self) -> NDArray[Any]:
        """Names of the clusters."""
        return np.arange(self.n_clusters) if self.names is None else np.asarray(list(self.names))

    def masses(self) -> SparseMasses:
        """Mass functions (n, F) on the clusters."""
        return self.given

    @cached_property
    def outlier_mass(self) -> FloatArray:
        """Mass (n,) on the empty set."""
        return np.asarray(self.given.values[:, self.given.focal_sets == 0].sum(axis=1))

    @cached_property
    def largest(self) -> IntArray:
        """Set (n,) of clusters with the largest mass, as a bit mask; the smaller set of equals."""
        order = np.argsort(cardinality(self.given.focal_sets), kind="stable")
        return self.given.focal_sets[order][self.given.values[:, order].argmax(axis=1)]

    @property
    def is_outlier(self) -> BoolArray:
        """Items (n,) most of whose mass says that they belong nowhere."""
        return np.asarray(self.largest == 0)

    @property
    def lower(self) -> BoolArray:
        """Items that surely are in each cluster (n, c): their largest mass is on it alone."""
        return self.upper & (cardinality(self.largest) == 1)[:, None]

    @property
    def upper(self) -> BoolArray:
        """Items that may be in each cluster (n, c): their largest mass is on a set with it."""
        return membership(self.largest, self.n_clusters)

    @cached_property
    def contour(self) -> FloatArray:
        """Plausibility (n, c) of each cluster; low in a whole row for an outlier."""
        return contour(self.given)

    @cached_property
    def probability(self) -> FloatArray:
        """Bets (n, c) on the clusters, given that the item is in one of them."""
        return pignistic(normalize(self.given, on_conflict="vacuous"))

    @cached_property
    def hard(self) -> NDArray[Any]:
        """Cluster (n,) with the best bet, as its number; -1 for outliers."""
        return np.where(self.is_outlier, OUTLIER, self.probability.argmax(axis=1))

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
            extended = _with_outliers(self.given)
            last = "outlier" if isinstance(names[0], str) else OUTLIER
            return Labels.from_masses(extended, [*names, last])
        if self.is_outlier.any():
            warnings.warn(
                "Labels cannot say that an item belongs to no cluster, but most mass does in "
                f"{name_rows(self.is_outlier)}; they count as unknown: leave them out, or use "
                "labels(outliers='class').",
                OutlierWarning,
                stacklevel=2,
            )
        return Labels.from_masses(_to_all(self.given), names, conflict=self.outlier_mass)


def _to_all(masses: SparseMasses) -> SparseMasses:
    """Masses with that of the empty set given to all clusters."""
    everything = full_set(masses.n_classes)
    sets = np.where(masses.focal_sets == 0, everything, masses.focal_sets)
    focal, place = np.unique(sets, return_inverse=True)
    values = np.zeros((len(masses), len(focal)))
    np.add.at(values.T, place, masses.values.T)
    return SparseMasses(values, focal, masses.n_classes)


def _with_outliers(masses: SparseMasses) -> SparseMasses:
    """Masses with one more class, which takes that of the empty set."""
    last = 1 << masses.n_classes
    sets = np.where(masses.focal_sets == 0, last, masses.focal_sets)
    return SparseMasses(masses.values, sets, masses.n_classes + 1)
