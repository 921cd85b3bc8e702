r"""Dempster's rule in closed form, where labels have mass on single classes and on the frame alone.

Neighbor j, with masses :math:`a_{jk}` of the classes and :math:`\omega_j` of the frame, is trusted
to the degree :math:`\varphi_j`. Its part on the frame is :math:`r_j = 1 - \varphi_j (1 -
\omega_j)`, and all neighbors together give, up to a common factor,

.. math:: m(\{k\}) \propto E_k, \qquad m(\Omega) \propto 1, \qquad
          1 + E_k = \prod_j (1 + \varphi_j a_{jk} / r_j).

For hard labels :math:`1 + E_k` is the product of :math:`1 / (1 - \varphi_j)` over the neighbors of
class k (Denoeux 1995). O(k K) for each item. Each neighbor takes :math:`E` to :math:`E + (1 + E)
\varphi a / r`, by which no digits are lost however far the neighbors are; where they are so near
that products would leave all numbers, logarithms are added instead.
"""

import numpy as np
from numpy.typing import NDArray

from plausible.belief import MAX_CLASSES, SparseMasses, full_set
from plausible.neighbors.evidence import LabelEvidence
from plausible.neighbors.losses import Back, Differentiable

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

STRONG = 600.0  # logarithm from which products could leave all numbers


class SingleCombiner(Differentiable):
    """Combines neighbors whose labels have mass on single classes and the frame alone."""

    def __init__(self, evidence: LabelEvidence) -> None:
        self.n_classes = evidence.n_classes
        self.single, self.whole = evidence.single, evidence.whole
        self.best = self.single.argmax(axis=1)
        self.strength = self.single.max(axis=1)
        self.is_sure = bool((self.strength == 1.0).all())
        self.is_simple = bool((np.count_nonzero(self.single, axis=1) <= 1).all())

    @property
    def focal_sets(self) -> IntArray:
        """The classes, and the frame; none where there are too many to be written as sets."""
        if self.n_classes > MAX_CLASSES:
            return np.zeros(0, dtype=np.int64)
        singles = 1 << np.arange(self.n_classes, dtype=np.int64)
        return np.append(singles, full_set(self.n_classes)) if self.n_classes > 1 else singles

    def _logs(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Logarithms of 1 + E, (n, K)."""
        n, K = len(neighbors), self.n_classes
        if self.is_simple:
            logs = -np.log1p(-trust * self.strength[neighbors])
            cells = (np.arange(n)[:, None] * K + self.best[neighbors]).ravel()
            sums = np.bincount(cells, logs.ravel(), n * K).astype(np.float64, copy=False)
            return sums.reshape(n, K)
        total = np.zeros((n, K))
        rest = 1.0 - trust * (1.0 - self.whole[neighbors])
        for j in range(neighbors.shape[1]):
            near = neighbors[:, j]
            total += np.log1p(self.single[near] * (trust[:, j] / rest[:, j])[:, None])
        return total

    def _products(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """E (n, K)."""
        n, K = len(neighbors), self.n_classes
        if self.is_simple:
            by_place = np.ascontiguousarray(neighbors.T)
            degree = trust.T.copy()
            if not self.is_sure:
                degree *= self.strength[by_place]
            odds = degree / (1.0 - degree)
            cells = self.best[by_place]
            cells += np.arange(0, n * K, K)
            flat = np.zeros(n * K)
            for cell, rho in zip(cells, odds, strict=True):
                before = flat[cell]
                flat[cell] = before + (1.0 + before) * rho
            return flat.reshape(n, K)
        total = np.zeros((n, K))
        odds = trust / (1.0 - trust * (1.0 - self.whole[neighbors]))
        for j in range(neighbors.shape[1]):
            total += (1.0 + total) * (self.single[neighbors[:, j]] * odds[:, j, None])
        return total

    def _relative(self, neighbors: IntArray, trust: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Masses (n, K) of the classes and (n, 1) of the frame, up to a factor for each item."""
        n, k = neighbors.shape
        if -np.log1p(-trust.max(initial=0.0)) * k <= STRONG:
            return self._products(neighbors, trust), np.ones((n, 1))
        logs = self._logs(neighbors, trust)
        most = logs.max(axis=1, keepdims=True, initial=0.0)
        return np.exp(logs - most) * -np.expm1(-logs), np.exp(-most)

    def _parts(self, neighbors: IntArray, trust: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Normalized masses (n, K) of the classes and (n, 1) of the frame."""
        parts, whole = self._relative(neighbors, trust)
        total = parts @ np.ones((self.n_classes, 1)) + whole  # quicker than sum for few classes
        return parts / total, whole / total

    def masses(self, neighbors: IntArray, trust: FloatArray) -> SparseMasses:
        """Masses (n, K + 1) of the classes and of the frame."""
        values = np.hstack(self._parts(neighbors, trust))
        if self.n_classes == 1:
            values = np.ones((len(values), 1))
        return SparseMasses(values, self.focal_sets, self.n_classes)

    def contour(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Plausibilities (n, K)."""
        parts, whole = self._parts(neighbors, trust)
        return parts + whole

    def ignorance(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Mass (n,) of the frame."""
        return self._parts(neighbors, trust)[1][:, 0]

    def bets(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Pignistic probabilities (n, K)."""
        parts, whole = self._parts(neighbors, trust)
        return parts + whole / self.n_classes

    def linearize(self, neighbors: IntArray, trust: FloatArray) -> tuple[FloatArray, Back]:
        """Bets, and the function from slopes in the bets (n, K) to slopes in the trust (n, k)."""
        parts, whole = self._parts(neighbors, trust)
        bets = parts + whole / self.n_classes

        def back(slopes: FloatArray) -> FloatArray:
            centered = slopes - (slopes * bets).sum(axis=1, keepdims=True)
            return self._back(neighbors, trust, centered * (parts + whole))

        return bets, back

    def _back(self, neighbors: IntArray, trust: FloatArray, slopes: FloatArray) -> FloatArray:
        """From slopes in the logarithms of 1 + E to slopes in the trust."""
        if self.is_simple:
            strength = self.strength[neighbors]
            per_neighbor = np.take_along_axis(slopes, self.best[neighbors], axis=1)
            return per_neighbor * strength / (1.0 - trust * strength)
        found = np.empty(trust.shape)
        rest = 1.0 - trust * (1.0 - self.whole[neighbors])
        for j in range(neighbors.shape[1]):
            single, left = self.single[neighbors[:, j]], rest[:, j, None]
            change = single / (left * (left + trust[:, j, None] * single))
            found[:, j] = (slopes * change).sum(axis=1)
        return found
