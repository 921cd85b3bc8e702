r"""Credal partitions on any number of clusters, whose masses are on single clusters and on all.

Evidence that always points to one cluster, combined by Dempster's rule, leaves mass on single
clusters and on the whole frame only. With the evidence :math:`u_k` for cluster k, on the scale of
logarithms of plausibility,

.. math:: m(\{k\}) \propto e^{u_k} - 1, \qquad m(\Omega) \propto 1.

Few clusters have evidence for an item, so the table of masses has few entries, and there may be
many more clusters than the 62 whose sets fit into a bit mask.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from plausible.base import CredalPartition, PartitionSummary, Relations, RoughPartition
from plausible.belief import MAX_CLASSES, SparseMasses
from plausible.checks import row_numbers
from plausible.errors import InputError
from plausible.labels import Labels

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SingleMasses:
    """Masses of n items on c single clusters and on all of them, with few entries.

    Parameters
    ----------
    data, indices, indptr : arrays
        Masses on single clusters, (n, c), in the compressed form of `scipy.sparse.csr_array`.
    ignorance : array (n,)
        Mass of all clusters together.
    best : int array (n,)
        Cluster with the best bet; whoever makes the masses says which of equals.
    n_classes : int
        Number c of clusters.
    """

    data: FloatArray
    indices: IntArray
    indptr: IntArray
    ignorance: FloatArray
    best: IntArray
    n_classes: int

    @property
    def singles(self) -> Any:
        """Masses of single clusters, csr array (n, c)."""
        return sparse.csr_array((self.data, self.indices, self.indptr), self._shape)

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self.ignorance), self.n_classes

    @property
    def values(self) -> Any:
        """Masses, csr array (n, F): of single clusters, and of all of them in the last column."""
        if self.n_classes == 1:  # the only cluster is all of them
            return sparse.csr_array(np.ones(self._shape))
        return sparse.hstack([self.singles, self.ignorance[:, None]], format="csr")

    @property
    def focal_sets(self) -> NDArray[Any]:
        """Bit masks (F,) of the sets; beyond 62 clusters they are whole numbers of Python."""
        sets = [1 << k for k in range(self.n_classes)]
        if self.n_classes > 1:
            sets.append((1 << self.n_classes) - 1)
        return np.array(sets, dtype=np.int64 if self.n_classes <= MAX_CLASSES else object)

    def __len__(self) -> int:
        return len(self.ignorance)

    def __getitem__(self, rows: Any) -> "SingleMasses":
        chosen = np.atleast_1d(np.arange(len(self))[row_numbers(rows, len(self), "rows")])
        part = self.singles[chosen]
        return SingleMasses(
            part.data,
            part.indices,
            part.indptr,
            self.ignorance[chosen],
            self.best[chosen],
            self.n_classes,
        )


def masses_of_evidence(evidence: Any, best: IntArray) -> SingleMasses:
    """Masses of items from their positive log evidence for clusters, csr (n, c)."""
    n, n_clusters = evidence.shape
    row = np.repeat(np.arange(n), np.diff(evidence.indptr))
    top = strongest(evidence)
    odds = np.exp(evidence.data - top[row]) * -np.expm1(-evidence.data)
    rest = np.exp(-top)
    total = rest + np.bincount(row, weights=odds, minlength=n)
    return SingleMasses(
        odds / total[row],
        evidence.indices.astype(np.int64),
        evidence.indptr.astype(np.int64),
        rest / total,
        best,
        n_clusters,
    )


def strongest(evidence: Any) -> FloatArray:
    """Evidence (n,) for the cluster that has most; zero where no cluster has any."""
    top = np.zeros(evidence.shape[0])
    filled = np.diff(evidence.indptr) > 0
    top[filled] = np.maximum.reduceat(evidence.data, evidence.indptr[:-1][filled])
    return top


def best_of_evidence(evidence: Any, fallback: IntArray) -> IntArray:
    """Cluster (n,) with most evidence, the first of equals; `fallback` where there is none."""
    row = np.repeat(np.arange(len(fallback)), np.diff(evidence.indptr))
    leading = np.flatnonzero(evidence.data == strongest(evidence)[row])[::-1]
    best = fallback.copy()
    best[row[leading]] = evidence.indices[leading]
    return best


@dataclass(frozen=True, eq=False)
class SparsePartition(CredalPartition):
    """A credal partition on any number of clusters, with mass on single clusters and on all.

    It is a `CredalPartition`, and gives every answer of one. Tables (n, c) are made when they are
    asked for; `given` has the masses with few entries. Beyond 62 clusters, sets have no bit masks,
    and `masses`, `credal` and what needs them is refused.

    Parameters
    ----------
    given : SingleMasses
    names : sequence of c names, optional

    Examples
    --------
    >>> from plausible.cluster import EKNNClus
    >>> partition = EKNNClus(2).fit([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]]).partition_
    >>> partition
    <SparsePartition: 6 items in 2 clusters, 0 outliers>
    >>> partition.given.singles.nnz  # masses on single clusters: one for each item
    6
    >>> partition.masses().focal_sets
    array([1, 2, 3])
    """

    given: Any  # of other masses than the base; otherwise the same
    names: Sequence[Hashable] | None = None

    def __post_init__(self) -> None:
        if self.names is not None and len(set(self.names)) != self.n_clusters:
            raise InputError(
                f"names should be {self.n_clusters} different names of the clusters",
                f"there are {len(set(self.names))}",
                "name each once",
                parameter="names",
            )

    def __getitem__(self, rows: Any) -> "SparsePartition":
        """Some of the items, by a slice, numbers or a mask."""
        return SparsePartition(self.given[rows], self.names)

    def __repr__(self) -> str:
        return super().__repr__().replace("CredalPartition", "SparsePartition")

    def masses(self) -> SparseMasses:
        """Mass functions (n, F) on the clusters, for up to 62 of them."""
        self._check_sets()
        given = self.given
        return SparseMasses(given.values.toarray(), given.focal_sets, given.n_classes)

    def _check_sets(self) -> None:
        if self.n_clusters > MAX_CLASSES:
            raise InputError(
                f"Sets of clusters should be of at most {MAX_CLASSES} clusters",
                f"there are {self.n_clusters}",
                "take the masses on single clusters from the partition's given.singles, and those "
                "on all of them from given.ignorance",
                value=self.n_clusters,
            )

    def _on_sets(self) -> CredalPartition:
        """The same partition with its masses written out."""
        return CredalPartition(self.masses(), self.names)

    @property
    def focal_sets(self) -> NDArray[Any]:
        """Sets (F,) of clusters that may have mass, as bit masks."""
        return self.given.focal_sets

    @property
    def outlier_mass(self) -> FloatArray:
        """Mass (n,) on the empty set: none."""
        return np.zeros(len(self))

    @property
    def contour(self) -> FloatArray:
        """Plausibility (n, c) of each cluster."""
        table: FloatArray = self.given.singles.toarray()
        return np.minimum(table + self.given.ignorance[:, None], 1.0)

    @property
    def probability(self) -> FloatArray:
        """Bets (n, c) on the clusters."""
        table: FloatArray = self.given.singles.toarray()
        return table + self.given.ignorance[:, None] / self.n_clusters

    @property
    def _knows(self) -> BoolArray:
        """Items with more mass on their best cluster than on all."""
        if self.n_clusters == 1:
            return np.ones(len(self), dtype=bool)
        return strongest(self.given.singles) >= self.given.ignorance

    @property
    def _largest(self) -> IntArray:
        self._check_sets()
        return np.where(self._knows, self.focal_sets[self.given.best], self.focal_sets[-1])

    def outliers(self) -> BoolArray:
        """Items (n,) whose largest mass says that they belong nowhere: none."""
        return np.zeros(len(self), dtype=bool)

    def hard(self) -> IntArray:
        """Cluster (n,) with the best bet, as its number."""
        return self.given.best.copy()

    def rough(self) -> RoughPartition:
        """Items (n, c) that surely are in each cluster (`lower`), and that may be (`upper`)."""
        lower = np.zeros((len(self), self.n_clusters), dtype=bool)
        lower[np.arange(len(self)), self.given.best] = self._knows
        return RoughPartition(lower, lower | ~self._knows[:, None])

    def nonspecificity(self) -> float:
        """How imprecise the partition is: the mean mass of all clusters together."""
        return float(self.given.ignorance.mean()) if self.n_clusters > 1 else 0.0

    def relations(self) -> Relations:
        """Masses (n, n) about each pair of items: that they are in one cluster, or are not."""
        singles, known = self.given.singles, 1.0 - self.given.ignorance
        same = (singles @ singles.T).toarray()
        different = np.maximum(np.outer(known, known) - same, 0.0)
        if self.n_clusters == 1:
            same, different = np.ones_like(same), np.zeros_like(same)
        unknown = np.maximum(1.0 - same - different, 0.0)
        return Relations(np.zeros_like(same), same, different, unknown)

    def summary(self) -> PartitionSummary:
        """A row for each set of clusters, for up to 62: how many items have most mass there."""
        return self._on_sets().summary()

    def combine(
        self, *others: CredalPartition, rule: str = "mean", match: bool = True
    ) -> CredalPartition:
        """One partition from several of the same items, as `CredalPartition.combine`."""
        plain = [one._on_sets() if isinstance(one, SparsePartition) else one for one in others]
        return self._on_sets().combine(*plain, rule=rule, match=match)

    def labels(self, outliers: str = "unknown") -> Labels:
        """The partition as labels; beyond 62 clusters, without masses.

        Parameters
        ----------
        outliers : {"unknown", "class"}
            As in `CredalPartition`; no item is one here.
        """
        if self.n_clusters <= MAX_CLASSES:
            return self._on_sets().labels(outliers)
        return Labels.from_plausibility(self.contour, self.classes.tolist())
