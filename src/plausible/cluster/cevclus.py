r"""CEVCLUS: EVCLUS with pairs of items that must be in one cluster, or cannot be.

For a pair of items, masses say how plausible it is that they are in one cluster, pl(same), and that
they are not, pl(different). What is minimized is the stress and, with n constraints and a weight
:math:`\xi` in [0, 1),

.. math:: \frac{\xi}{1 - \xi} \frac{1}{2 n} \Big[
          \sum_{\text{must}} pl(\text{different}) + 1 - pl(\text{same})
          + \sum_{\text{cannot}} pl(\text{same}) + 1 - pl(\text{different})\Big],

which is 0 where all are kept for sure. Both plausibilities are bilinear in the masses of the two
items, so that each row still has its exact minimum.

References
----------
V. Antoine, B. Quost, M.-H. Masson, T. Denoeux, CEVCLUS: evidential clustering with instance-level
constraints for relational data, Soft Computing 18 (2014) 1321-1335.
F. Li, S. Li, T. Denoeux, k-CEVCLUS: constrained evidential clustering of large dissimilarity data,
Knowledge-Based Systems 142 (2018) 29-44.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from plausible.base import CredalPartition
from plausible.belief import SparseMasses, cardinality
from plausible.checks import check_flag
from plausible.cluster.constraints import Constraints, closed, read_constraints
from plausible.cluster.evclus import EVCLUS, disjoint
from plausible.cluster.evclus_pairs import Wanted
from plausible.cluster.evclus_rows import Fitted, Links
from plausible.cluster.focal_sets import FocalSets
from plausible.cluster.links import LinkedClustering

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

EASE, ROUGHLY = 0.2, 1e-2  # weight and tolerance at first


def together_table(sets: IntArray) -> FloatArray:
    """Q (F, F) with m_i' Q m_j = pl(different) - pl(same)."""
    some = (sets != 0).astype(np.float64)
    meet = 1.0 - disjoint(sets)
    same_single = np.diag((cardinality(sets) == 1).astype(np.float64))
    different = np.outer(some, some) - same_single
    return different - meet


def links_of(constraints: Constraints, n: int, strength: float, Q: FloatArray) -> Links:
    """The constraints as terms of each row, of both items of a pair."""
    must, cannot = constraints
    pairs = np.concatenate([must, cannot])
    signs = np.concatenate([np.full(len(must), strength), np.full(len(cannot), -strength)])
    rows, others = np.concatenate([pairs, pairs[:, ::-1]]).T
    table = sparse.csr_array((np.concatenate([signs, signs]), (rows, others)), shape=(n, n))
    return Links(table.indptr.astype(np.int64), table.indices.astype(np.int64), table.data, Q)


class CEVCLUS(LinkedClustering, EVCLUS):
    """EVCLUS with pairs of items that must, or cannot, be in one cluster.

    Without constraints it is `EVCLUS`. Constraints may also be given to `fit`.

    Parameters
    ----------
    n_clusters : int
    must_link, cannot_link : array-like (m, 2), optional
        Pairs of row numbers, counted from 0. Contradictory ones are refused.
    constraint_weight : float
        Share of the constraints in what is minimized, at least 0 and less than 1. Random starts
        begin with less of it.
    closure : bool
        Whether to add the constraints that follow from the given ones: chains of linked items are
        one to all others.
    outliers : bool, optional
        Whether items may have mass on the empty set, and so belong nowhere, where `focal_sets` is
        not a list. By default only without constraints: with them, all items are in clusters.
    focal_sets, n_dissimilarities, scale, quantile, metric, metric_params, init, n_init, solver, \
tol, max_iter, random_state
        As in `EVCLUS`.

    Attributes
    ----------
    objective_ : float
        The stress and what constraints cost.
    stress_ : float, constraint_cost_ : float
        The two parts.
    n_violated_ : int
        Constraints that the clusters with the best bets violate.
    labels_, partition_, masses_, focal_sets_, scale_, shepard_, history_, n_iter_, converged_
        As in `EVCLUS`.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0], [9.0], [9.5]]
    >>> free = EVCLUS(2, "singletons", random_state=0).fit(X)
    >>> bool(free.labels_[0] == free.labels_[3])
    True
    >>> bound = CEVCLUS(2, cannot_link=[(0, 3)], focal_sets="singletons", random_state=0).fit(X)
    >>> bool(bound.labels_[0] == bound.labels_[3])
    False
    """

    def __init__(
        self,
        n_clusters: int = 2,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
        constraint_weight: float = 0.7,
        closure: bool = False,
        outliers: bool | None = None,
        focal_sets: FocalSets = "pairs",
        n_dissimilarities: Any = "all",
        scale: float | None = None,
        quantile: float = 0.9,
        metric: Any = "euclidean",
        metric_params: dict[str, Any] | None = None,
        init: Any = "random",
        n_init: int = 3,
        solver: str = "row",
        tol: float = 1e-6,
        max_iter: int = 5000,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_clusters,
            focal_sets,
            n_dissimilarities,
            scale,
            quantile,
            metric,
            metric_params,
            init,
            n_init,
            solver,
            tol,
            max_iter,
            random_state,
        )
        self.must_link = must_link
        self.cannot_link = cannot_link
        self.constraint_weight = constraint_weight
        self.closure = closure
        self.outliers = outliers

    def _check_parameters(self, n: int) -> None:
        super()._check_parameters(n)
        self._check_weight()
        check_flag(self.closure, "closure")
        if self.outliers is not None:
            check_flag(self.outliers, "outliers")
        found = read_constraints(*self._given, n)
        self._constraints = tuple(closed(found, n) if self.closure else found)

    def _sets(self) -> IntArray:
        sets = super()._sets()
        allowed = not self._n_constraints() if self.outliers is None else self.outliers
        return sets if allowed or not isinstance(self.focal_sets, str) else sets[sets != 0]

    def _n_constraints(self) -> int:
        must, cannot = self._constraints
        return len(must) + len(cannot)

    def _links(self, wanted: Wanted) -> Links:
        if not self._n_constraints():
            return super()._links(wanted)
        strength = wanted.total * self._price()
        return links_of(
            Constraints(*self._constraints),
            wanted.n_items,
            strength,
            together_table(self.focal_sets_),
        )

    def _run(self, wanted: Wanted, links: Links, random: np.random.RandomState) -> Fitted:
        """First with a fraction of the weight: at once, constraints would freeze a random start."""
        start = self._start(wanted.n_items, random)
        if len(links.others) and isinstance(self.init, str):
            weak = links._replace(strengths=EASE * links.strengths)
            start = self._minimized(start, wanted, weak, random, max(ROUGHLY, self.tol)).masses
        return self._minimized(start, wanted, links, random, float(self.tol))

    def _price(self) -> float:
        """Of one constraint that is not kept at all, halved."""
        weight = float(self.constraint_weight) / (1.0 - float(self.constraint_weight))
        return weight / (2.0 * max(self._n_constraints(), 1))

    def _offset(self) -> float:
        return self._price() * self._n_constraints()

    def _learned(
        self, masses: FloatArray, wanted: Wanted, random: np.random.RandomState
    ) -> dict[str, Any]:
        must, cannot = self._constraints
        Q = together_table(self.focal_sets_)
        cost = self._offset()
        for pairs, sign in ((must, 1.0), (cannot, -1.0)):
            first, second = masses[pairs[:, 0]], masses[pairs[:, 1]]
            cost += sign * self._price() * float(np.einsum("pf,fg,pg->", first, Q, second))
        learned = {"constraint_cost_": cost, "n_violated_": self._n_violated(masses)}
        return super()._learned(masses, wanted, random) | learned

    def _n_violated(self, masses: FloatArray) -> int:
        """Constraints that the clusters with the best bets violate."""
        partition = CredalPartition(SparseMasses(masses, self.focal_sets_, self.n_clusters))
        cluster = partition.probability.argmax(axis=1)
        must, cannot = (cluster[pairs] for pairs in self._constraints)
        split, joined = must[:, 0] != must[:, 1], cannot[:, 0] == cannot[:, 1]
        return int(split.sum() + joined.sum())
