r"""Neighbors combined after contextual discounting: one degree of trust for each class.

Let :math:`\beta_{jk}` be the trust in neighbor j if the class is k. Discounting adds each class k
to the sets of the label with probability :math:`1 - \beta_{jk}` (Mercier, Quost, Denoeux 2008), so

.. math::
    pl'_j(k) = 1 - \beta_{jk} (1 - pl_j(k)), \qquad
    q'_j(A) = \sum_B m_j(B) \prod_{k \in A \setminus B} (1 - \beta_{jk}),

and commonalities of neighbors multiply. One pass for each class makes q' of m.
"""

import numpy as np
from numpy.typing import NDArray

from plausible.belief import SparseMasses, consonant, superset_difference
from plausible.neighbors.dense import BLOCK, FAR, MAX_DENSE, relative_products, share_of_sets
from plausible.neighbors.evidence import LabelEvidence, bets_of_contour

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def log_contours(excluded: FloatArray, neighbors: IntArray, trust: FloatArray) -> FloatArray:
    """Logarithms (n, K) of products of discounted plausibilities; `excluded` is 1 - pl."""
    logs = np.zeros((len(neighbors), excluded.shape[1]))
    for j in range(neighbors.shape[1]):
        logs += np.log1p(-trust[:, j] * excluded[neighbors[:, j]])
    return logs


def discounted(masses: FloatArray, trust: FloatArray) -> FloatArray:
    """Commonalities (n, 2^K) of masses (n, 2^K) after discounting by trust (n, K)."""
    values = masses.copy()
    for k in range(trust.shape[1]):
        pairs = values.reshape(len(values), -1, 2, 1 << k)
        without, inside = pairs[:, :, 0], pairs[:, :, 1]
        inside_after = inside + (1.0 - trust[:, k, None, None]) * without
        without += inside
        inside[...] = inside_after
    return values


def _discounted_less_one(masses: FloatArray, trust: FloatArray) -> FloatArray:
    """The same less one, exact where trust is tiny."""
    total, change = masses.copy(), np.zeros_like(masses)
    for k in range(trust.shape[1]):
        sums = total.reshape(len(total), -1, 2, 1 << k)
        pairs = change.reshape(sums.shape)
        value = pairs[:, :, 0] + sums[:, :, 0]
        both = pairs[:, :, 0] + pairs[:, :, 1]
        pairs[:, :, 1] = both - trust[:, k, None, None] * value
        pairs[:, :, 0] = both
        sums[...] = sums.sum(axis=2, keepdims=True)
    return change


class ContextualCombiner:
    """Combines neighbors after contextual discounting; exactly on frames of few classes.

    On larger frames, plausibilities are combined, and masses are the least committed ones.
    """

    def __init__(self, evidence: LabelEvidence) -> None:
        self.n_classes = evidence.n_classes
        self.excluded = 1.0 - evidence.contour
        self.is_exact = evidence.masses is not None and self.n_classes <= MAX_DENSE
        self.labels = evidence.masses

    @property
    def focal_sets(self) -> IntArray:
        """All sets on small frames; on larger ones they differ from item to item."""
        if self.n_classes > 62:
            return np.zeros(0, dtype=np.int64)
        frame = (1 << self.n_classes) - 1
        return np.arange(1, frame + 1) if self.is_exact else np.array([frame])

    def _commonalities(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Commonalities (n, 2^K) up to a factor, or q - 1 where neighbors are all far."""
        q = np.empty((len(neighbors), 1 << self.n_classes))
        is_far = far_rows(trust)
        rows = max(1, BLOCK >> self.n_classes)
        for numbers in (np.flatnonzero(is_far), np.flatnonzero(~is_far)):
            for start in range(0, len(numbers), rows):
                part = numbers[start : start + rows]
                compute = self._far_product if is_far[part[0]] else self._product
                q[part] = compute(neighbors[part], trust[part])
        return q

    def _product(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        assert self.labels is not None
        logs = np.zeros((len(neighbors), 1 << self.n_classes))
        for j in range(neighbors.shape[1]):
            masses = self.labels[neighbors[:, j]].to_dense()
            logs += np.log(discounted(masses, trust[:, j]))
        return relative_products(logs, self.n_classes)

    def _far_product(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        assert self.labels is not None
        change = np.zeros((len(neighbors), 1 << self.n_classes))
        for j in range(neighbors.shape[1]):
            step = _discounted_less_one(self.labels[neighbors[:, j]].to_dense(), trust[:, j])
            change += step + change * step
        return change

    def masses(self, neighbors: IntArray, trust: FloatArray) -> SparseMasses:
        """Masses (n, F)."""
        if not self.is_exact:
            return consonant(self.contour(neighbors, trust))
        values = superset_difference(self._commonalities(neighbors, trust))[:, 1:]
        values[far_rows(trust), -1] += 1.0
        np.maximum(values, 0.0, out=values)
        values /= values.sum(axis=1, keepdims=True)
        return SparseMasses(values, self.focal_sets, self.n_classes)

    def contour(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Plausibilities (n, K); on large frames relative to the highest."""
        if self.is_exact:
            return np.minimum(self._normalized(neighbors, trust, 1 << np.arange(self.n_classes)), 1)
        logs = log_contours(self.excluded, neighbors, trust)
        return np.exp(logs - logs.max(axis=1, keepdims=True))

    def ignorance(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Mass (n,) of the frame."""
        if not self.is_exact:
            return self.contour(neighbors, trust).min(axis=1)
        return self._normalized(neighbors, trust, np.array([-1]))[:, 0]

    def _normalized(self, neighbors: IntArray, trust: FloatArray, sets: IntArray) -> FloatArray:
        q = self._commonalities(neighbors, trust)
        q[far_rows(trust)] += 1.0
        return q[:, sets] / (q @ share_of_sets(self.n_classes)).sum(axis=1, keepdims=True)

    def bets(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Pignistic probabilities (n, K)."""
        if not self.is_exact:
            return bets_of_contour(self.contour(neighbors, trust))
        bets = self._commonalities(neighbors, trust) @ share_of_sets(self.n_classes)
        bets[far_rows(trust)] += 1.0 / self.n_classes
        np.maximum(bets, 0.0, out=bets)
        bets /= bets.sum(axis=1, keepdims=True)
        return bets


def far_rows(trust: FloatArray) -> NDArray[np.bool_]:
    """Items whose neighbors are all far."""
    return np.asarray(trust.max(axis=2).sum(axis=1) < FAR)
