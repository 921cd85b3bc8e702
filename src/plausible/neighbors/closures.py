r"""Dempster's rule for labels of every kind on large frames, set by set.

Masses of combined neighbors can only lie on intersections of their focal sets. For an item, these
are listed, and

.. math:: m(A) = \sum_{B \cap C = A} m_1(B) m_2(C)

is summed neighbor by neighbor: no terms cancel. To learn gamma, the sets of each training item are
found once, with the commonalities of its neighbors' labels on them and the linear map from
commonalities to bets; then bets and slopes for any gamma are products of arrays.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from plausible.belief import SparseMasses, cardinality, full_set, membership
from plausible.errors import InputError
from plausible.neighbors.evidence import LabelEvidence
from plausible.neighbors.losses import Back, Differentiable

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Label = tuple[FloatArray, IntArray]

MAX_SETS = 1 << 16
MAX_PLANNED = 1 << 12  # sets of a training item, whose square is solved with
ENOUGH = 1e-290  # products below are as good as nothing


class Combined(NamedTuple):
    """Mass functions of n items one after the other: values, sets, and where each item starts."""

    values: FloatArray
    sets: IntArray
    starts: IntArray

    def sums(self, columns: FloatArray) -> FloatArray:
        """Sum of values times columns (number of values, c), for each item."""
        return np.add.reduceat(self.values[:, None] * columns, self.starts, axis=0)


class Plan(NamedTuple):
    """What does not depend on gamma, for every set of every item.

    Attributes
    ----------
    against : array (k, T)
        1 - q_j of the labels of the item's neighbors.
    shares : array (T, K)
        How its commonality counts in the bets.
    item : int array (T,)
    starts : int array (n,)
        Where the sets of each item start.
    """

    against: FloatArray
    shares: FloatArray
    item: IntArray
    starts: IntArray


class SparseCombiner(Differentiable):
    """Combines neighbors with labels of any kind on a frame of many classes."""

    def __init__(self, evidence: LabelEvidence) -> None:
        assert evidence.masses is not None
        self.n_classes = evidence.n_classes
        self.masses_of_labels = evidence.masses
        frame = full_set(self.n_classes)
        self.focal_sets = np.union1d(evidence.masses.focal_sets, [frame])
        self.plans: dict[int, tuple[IntArray, Plan]] = {}

    def _label(self, number: int) -> Label:
        row = self.masses_of_labels.values[number]
        held = np.flatnonzero(row)
        return row[held], self.masses_of_labels.focal_sets[held]

    def _combined(self, neighbors: IntArray, trust: FloatArray) -> Combined:
        """Masses of all items."""
        labels = {int(j): self._label(j) for j in np.unique(neighbors)}
        parts = [
            _combine_row([labels[j] for j in row], degrees, self.n_classes, number)
            for number, (row, degrees) in enumerate(zip(neighbors.tolist(), trust, strict=True))
        ]
        sizes = np.array([len(sets) for _, sets in parts])
        return Combined(
            np.concatenate([values for values, _ in parts]),
            np.concatenate([sets for _, sets in parts]),
            np.append(0, np.cumsum(sizes)[:-1]),
        )

    def masses(self, neighbors: IntArray, trust: FloatArray) -> SparseMasses:
        """Masses (n, F) on all sets that occur."""
        found = self._combined(neighbors, trust)
        sets, column = np.unique(found.sets, return_inverse=True)
        values = np.zeros((len(neighbors), len(sets)))
        sizes = np.diff(found.starts, append=len(found.values))
        values[np.repeat(np.arange(len(neighbors)), sizes), column] = found.values
        return SparseMasses(values, sets, self.n_classes)

    def contour(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Plausibilities (n, K)."""
        found = self._combined(neighbors, trust)
        inside = membership(found.sets, self.n_classes).astype(np.float64)
        return np.minimum(found.sums(inside), 1.0)

    def ignorance(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Mass (n,) of the frame."""
        found = self._combined(neighbors, trust)
        is_frame = found.sets == full_set(self.n_classes)
        return found.sums(is_frame[:, None].astype(np.float64))[:, 0]

    def bets(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Pignistic probabilities (n, K)."""
        found = self._combined(neighbors, trust)
        inside = membership(found.sets, self.n_classes)
        return found.sums(inside / cardinality(found.sets)[:, None])

    def linearize(self, neighbors: IntArray, trust: FloatArray) -> tuple[FloatArray, Back]:
        """Bets, and the function from slopes in the bets (n, K) to slopes in the trust (n, k)."""
        plan = self._plan(neighbors)
        degrees = trust.T[:, plan.item]
        factors = 1.0 - degrees * plan.against
        logs = np.log(factors).sum(axis=0)
        logs -= np.maximum.reduceat(logs, plan.starts)[plan.item]
        q = np.exp(logs)
        sums = np.add.reduceat(q[:, None] * plan.shares, plan.starts, axis=0)
        total = sums.sum(axis=1, keepdims=True)
        bets = sums / total

        def back(slopes: FloatArray) -> FloatArray:
            inner = (slopes - (slopes * bets).sum(axis=1, keepdims=True)) / total
            weights = (inner[plan.item] * plan.shares).sum(axis=1) * q
            change = -weights * plan.against / factors
            return np.ascontiguousarray(np.add.reduceat(change, plan.starts, axis=1).T)

        return bets, back

    def _plan(self, neighbors: IntArray) -> Plan:
        """The plan of these items, made once for each number of neighbors."""
        k = neighbors.shape[1]
        made = self.plans.get(k)
        if made is None or not np.array_equal(made[0], neighbors):
            made = self.plans[k] = neighbors.copy(), self._make_plan(neighbors)
        return made[1]

    def _make_plan(self, neighbors: IntArray) -> Plan:
        labels = {int(j): self._label(j) for j in np.unique(neighbors)}
        rows = [
            _plan_row([labels[j] for j in row], self.n_classes, number)
            for number, row in enumerate(neighbors.tolist())
        ]
        sizes = np.array([against.shape[1] for against, _ in rows])
        return Plan(
            np.concatenate([against for against, _ in rows], axis=1),
            np.concatenate([shares for _, shares in rows]),
            np.repeat(np.arange(len(rows)), sizes),
            np.append(0, np.cumsum(sizes)[:-1]),
        )


def _combine_row(labels: list[Label], trust: FloatArray, n_classes: int, number: int) -> Label:
    """Normalized masses of one item, and their sets."""
    frame = full_set(n_classes)
    values, sets = np.ones(1), np.array([frame])
    for (masses, focal), degree in zip(labels, trust, strict=True):
        weights = np.append(degree * masses, 1.0 - degree)
        products = np.multiply.outer(values, weights).ravel()
        common = np.bitwise_and.outer(sets, np.append(focal, frame)).ravel()
        kept = (products > ENOUGH) & (common > 0)
        sets, place = np.unique(common[kept], return_inverse=True)
        check_sets(len(sets), MAX_SETS, number)
        values = np.bincount(place, products[kept], len(sets)).astype(np.float64, copy=False)
        values /= values.sum()
    return values, sets


def _plan_row(labels: list[Label], n_classes: int, number: int) -> tuple[FloatArray, FloatArray]:
    """1 - q_j (k, c) on the sets of one item, and how each counts in the bets (c, K)."""
    frame = full_set(n_classes)
    sets = np.array([frame])
    for _, focal in labels:
        met = np.bitwise_and.outer(sets, np.append(focal, frame)).ravel()
        sets = np.unique(met[met > 0])
        check_sets(len(sets), MAX_PLANNED, number)
    sets = sets[np.argsort(-cardinality(sets), kind="stable")]
    against = np.array([1.0 - masses @ holds(focal, sets) for masses, focal in labels])
    # q = above @ m, with larger sets first; bets = m @ share = q @ shares.
    above = holds(sets, sets).T
    share = membership(sets, n_classes) / cardinality(sets)[:, None]
    return against, solve_triangular(above, share, trans="T", lower=True, unit_diagonal=True)


def holds(larger: IntArray, smaller: IntArray) -> FloatArray:
    """One where a set (row) holds another (column), else zero."""
    return (smaller & ~larger[:, None] == 0).astype(np.float64)


def check_sets(found: int, most: int, number: int) -> None:
    """Refuse to go on where the intersections of focal sets are too many."""
    if found > most:
        raise InputError(
            f"The labels of an item's neighbors should have at most {most} intersections",
            f"there are {found} for item {number}",
            "ask for fewer neighbors, combine by plausibilities with {combination}, or give labels "
            "with fewer sets",
            parameter="n_neighbors",
            settings={"combination": "contours"},
        )
