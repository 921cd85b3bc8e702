r"""Dempster's rule for labels of every kind on small frames, by commonalities of all sets.

With :math:`u_j(A) = 1 - q_j(A)` of the label of neighbor j,

.. math:: q(A) = \prod_j (1 - \varphi_j u_j(A)), \qquad
          m(A) = \sum_{B \supseteq A} (-1)^{|B| - |A|} q(B),

and the bets before normalization are linear in q, without a Moebius transform:

.. math:: S_k = \sum_{A \ni k} m(A) / |A| = \sum_{B \ni k} (-1)^{|B| + 1} q(B) / |B|.

Where all neighbors are far, q is close to one everywhere, and the differences of interest would
drown in rounding; there q - 1 is multiplied out instead. O(k 2^K) for each item.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from plausible.belief import (
    SparseMasses,
    cardinality,
    commonality,
    membership,
    superset_difference,
)
from plausible.neighbors.evidence import LabelEvidence
from plausible.neighbors.losses import Back, Differentiable, Loss

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MAX_DENSE = 10  # classes
MAX_TABLE = 1 << 27  # entries: 1 GB
BLOCK = 1 << 16  # doubles that stay in cache
MUCH_WORK = 1 << 24  # products from which a compiled loop pays for its start
FAR = 1e-2  # total trust below which q - 1 is multiplied out
STRONG = 300.0  # exponent from which products could vanish, and their logarithms are added


def _closed_under_intersection(sets: IntArray) -> IntArray:
    """The non-empty intersections of sets, sorted."""
    found = np.unique(sets)
    while True:
        more = np.unique(found[:, None] & found)
        if len(more) == len(found):
            return more[more > 0]
        found = more


def share_of_sets(n_classes: int) -> FloatArray:
    """Signed shares (2^K, K) that make bets of commonalities; none of the empty set."""
    sets = np.arange(1 << n_classes)
    sizes = cardinality(sets)
    signs = np.where(sizes % 2 == 1, 1.0, -1.0) / np.maximum(sizes, 1)
    return membership(sets, n_classes) * signs[:, None]


def distinct_rows(values: FloatArray) -> tuple[IntArray, IntArray]:
    """First row of each kind, and the kind of each row."""
    n = len(values)
    mixed = values @ np.random.default_rng(0).uniform(1.0, 2.0, values.shape[1])
    _, first, kind = np.unique(mixed, return_index=True, return_inverse=True)
    if len(first) > n // 2 or not np.array_equal(values[first][kind], values):
        return np.arange(n), np.arange(n)
    return first, kind


def far_rows(trust: FloatArray) -> BoolArray:
    """Items whose neighbors are all far."""
    return np.asarray(trust.sum(axis=1) < FAR)


def _strong_rows(trust: FloatArray) -> BoolArray:
    """Items with neighbors so near that products may vanish."""
    return np.asarray(-np.log1p(-trust.max(axis=1)) * trust.shape[1] > STRONG)


def relative_products(logs: FloatArray, n_classes: int) -> FloatArray:
    """Commonalities from their logarithms (n, 2^K), the most plausible class at one."""
    logs[:, 0] = -np.inf  # of no interest
    return np.exp(logs - logs[:, 1 << np.arange(n_classes)].max(axis=1, keepdims=True))


class DenseCombiner(Differentiable):
    """Combines neighbors with labels of any kind on a frame of few classes."""

    def __init__(self, evidence: LabelEvidence) -> None:
        assert evidence.masses is not None
        self.n_classes = evidence.n_classes
        masses = evidence.masses
        first, self.kind = distinct_rows(masses.values)
        self.against = 1.0 - commonality(masses[first])
        self.against[:, 0] = 0.0
        frame = (1 << self.n_classes) - 1
        self.focal_sets = _closed_under_intersection(np.append(masses.focal_sets, frame))

    @staticmethod
    def fits(evidence: LabelEvidence) -> bool:
        """Whether the frame and the number of labels are small enough."""
        n_classes = evidence.n_classes
        return n_classes <= MAX_DENSE and len(evidence) << n_classes <= MAX_TABLE

    # -- Commonalities -----------------------------------------------------------------------------

    def _commonalities(self, kinds: IntArray, trust: FloatArray) -> FloatArray:
        """Commonalities q (n, 2^K) of a block of items, up to a factor for each row."""
        product = np.ones((len(kinds), self.against.shape[1]))
        for j in range(kinds.shape[1]):
            product *= 1.0 - trust[:, j, None] * self.against[kinds[:, j]]
        return product

    def _strong_commonalities(self, kinds: IntArray, trust: FloatArray) -> FloatArray:
        """The same where products would vanish, relative to the most plausible class."""
        logs = np.zeros((len(kinds), self.against.shape[1]))
        for j in range(kinds.shape[1]):
            logs += np.log1p(-trust[:, j, None] * self.against[kinds[:, j]])
        return relative_products(logs, self.n_classes)

    def _far_commonalities(self, kinds: IntArray, trust: FloatArray) -> FloatArray:
        """Commonalities less one, (n, 2^K), for items whose neighbors are all far."""
        change = np.zeros((len(kinds), self.against.shape[1]))
        for j in range(kinds.shape[1]):
            step = -trust[:, j, None] * self.against[kinds[:, j]]
            change += step + change * step
        return change

    def _blocks(self, n: int) -> list[slice]:
        rows = max(1, BLOCK >> self.n_classes)
        return [slice(start, start + rows) for start in range(0, n, rows)]

    def _much(self, kinds: IntArray) -> bool:
        return bool(kinds.size << self.n_classes > MUCH_WORK)

    def _corrections(
        self, kinds: IntArray, trust: FloatArray
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Rows whose neighbors are so near that products vanish, with their q."""
        rows = np.flatnonzero(_strong_rows(trust))
        for part in self._blocks(len(rows)):
            some = rows[part]
            yield some, self._strong_commonalities(kinds[some], trust[some])

    def _near_or_far(self, kinds: IntArray, trust: FloatArray) -> FloatArray:
        """Commonalities q (n, 2^K) of a block, or q - 1 for items whose neighbors are all far."""
        q = self._commonalities(kinds, trust)
        is_far = far_rows(trust)
        q[is_far] = self._far_commonalities(kinds[is_far], trust[is_far])
        return q

    def _all_commonalities(self, kinds: IntArray, trust: FloatArray) -> FloatArray:
        """Commonalities q (n, 2^K), or q - 1 for items whose neighbors are all far."""
        if self._much(kinds):
            from plausible.neighbors.dense_compiled import on_threads, products

            q = on_threads(products, (kinds, trust, far_rows(trust)), (self.against,))
        else:
            q = np.empty((len(kinds), self.against.shape[1]))
            for part in self._blocks(len(kinds)):
                q[part] = self._near_or_far(kinds[part], trust[part])
        for rows, values in self._corrections(kinds, trust):
            q[rows] = values
        return q

    def _sums(self, kinds: IntArray, trust: FloatArray) -> FloatArray:
        """Bets (n, K) before normalization, without the commonalities of all items at once."""
        shares = share_of_sets(self.n_classes)
        if self._much(kinds):
            from plausible.neighbors.dense_compiled import on_threads, sums

            by_row = kinds, trust, far_rows(trust)
            found = on_threads(sums, by_row, (self.against, shares.T.copy()))
        else:
            found = np.empty((len(kinds), self.n_classes))
            for part in self._blocks(len(kinds)):
                found[part] = self._near_or_far(kinds[part], trust[part]) @ shares
            found[far_rows(trust)] += 1.0 / self.n_classes  # of the one in q = 1 + (q - 1)
        for rows, values in self._corrections(kinds, trust):
            found[rows] = values @ shares
        return np.maximum(found, 0.0, out=found)

    # -- Answers -----------------------------------------------------------------------------------

    def _sets_of(self, q: FloatArray, trust: FloatArray) -> FloatArray:
        """Normalized masses (n, F) of the focal sets."""
        rows = superset_difference(q)[:, self.focal_sets]
        rows[far_rows(trust), -1] += 1.0  # the frame, last of all sets
        np.maximum(rows, 0.0, out=rows)
        rows /= rows.sum(axis=1, keepdims=True)
        return rows

    def masses(self, neighbors: IntArray, trust: FloatArray) -> SparseMasses:
        """Masses (n, F) on `focal_sets`."""
        q = self._all_commonalities(self.kind[neighbors], trust)
        return SparseMasses(self._sets_of(q, trust), self.focal_sets, self.n_classes)

    def contour(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Plausibilities (n, K)."""
        return np.minimum(self._normalized(neighbors, trust, 1 << np.arange(self.n_classes)), 1.0)

    def ignorance(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Mass (n,) of the frame."""
        return self._normalized(neighbors, trust, np.array([-1]))[:, 0]

    def _normalized(self, neighbors: IntArray, trust: FloatArray, sets: IntArray) -> FloatArray:
        """Commonalities of some sets, divided by the mass that is not in conflict."""
        q = self._all_commonalities(self.kind[neighbors], trust)
        q[far_rows(trust)] += 1.0
        total = (q @ share_of_sets(self.n_classes)).sum(axis=1, keepdims=True)
        return q[:, sets] / total

    def bets(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Pignistic probabilities (n, K)."""
        sums = self._sums(self.kind[neighbors], trust)
        return sums / sums.sum(axis=1, keepdims=True)

    def linearize(self, neighbors: IntArray, trust: FloatArray) -> tuple[FloatArray, Back]:
        """Bets, and the function from slopes in the bets (n, K) to slopes in the trust (n, k)."""
        kinds = self.kind[neighbors]
        sums = self._sums(kinds, trust)
        total = sums.sum(axis=1, keepdims=True)
        bets = sums / total

        def back(slopes: FloatArray) -> FloatArray:
            inner = (slopes - (slopes * bets).sum(axis=1, keepdims=True)) / total
            return self._back(kinds, trust, inner)

        return bets, back

    def _back(self, kinds: IntArray, trust: FloatArray, inner: FloatArray) -> FloatArray:
        """From slopes in the bets before normalization to slopes in the trust."""
        shares = share_of_sets(self.n_classes)
        found = np.empty(trust.shape)
        for part in self._blocks(len(kinds)):
            strong = _strong_rows(trust[part])
            q = self._commonalities(kinds[part], trust[part])
            q[strong] = self._strong_commonalities(kinds[part][strong], trust[part][strong])
            weights = (inner[part] @ shares.T) * q
            for j in range(kinds.shape[1]):
                against = self.against[kinds[part, j]]
                change = against / (1.0 - trust[part, j, None] * against)
                found[part, j] = -(weights * change).sum(axis=1)
        return found

    def cost(self, neighbors: IntArray, trust: FloatArray, loss: Loss) -> tuple[float, FloatArray]:
        """Mean cost of the bets, and its slopes (n, k) in the trust."""
        kinds = self.kind[neighbors]
        if loss.together is None or not self._much(kinds):
            return super().cost(neighbors, trust, loss)
        from plausible.neighbors.dense_compiled import on_threads, squared_costs

        by_row = kinds, trust, far_rows(trust), loss.contour, loss.together
        shares = share_of_sets(self.n_classes)
        found = on_threads(squared_costs, by_row, (self.against, shares.T.copy()))
        found[~loss.counted] = 0.0
        rows = np.flatnonzero(_strong_rows(trust))
        if len(rows) > 0:
            part = loss.some(rows)
            cost, slopes = super().cost(neighbors[rows], trust[rows], part)
            found[rows, 0] = cost * part.n_counted / len(rows)
            found[rows, 1:] = slopes * part.n_counted
        found /= loss.n_counted
        return float(found[:, 0].sum()), found[:, 1:]
