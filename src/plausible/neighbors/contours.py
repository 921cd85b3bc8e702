r"""Neighbors combined by their plausibilities alone, in O(k K) on frames of any size.

.. math:: pl(k) \propto \prod_j (1 - \varphi_j (1 - pl_{jk}))

are, up to a factor, the plausibilities under Dempster's rule (Denoeux 2015). The factor cannot be
known from plausibilities of classes, so the most plausible class is given 1, and the belief behind
it is the least committed one: consonant masses, and their bets.
"""

import numpy as np
from numpy.typing import NDArray

from plausible.belief import SparseMasses, consonant
from plausible.neighbors.evidence import LabelEvidence, bets_of_contour
from plausible.neighbors.losses import Back, Differentiable

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def _consonant_slopes(contour: FloatArray, slopes: FloatArray) -> FloatArray:
    """From slopes in the bets of a contour to slopes in its logarithms."""
    order = np.argsort(-contour, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(slopes, order, axis=1), axis=1)
    means = sums / np.arange(1, contour.shape[1] + 1)
    ranked = np.diff(means, axis=1, prepend=0.0)
    found = np.empty_like(contour)
    np.put_along_axis(found, order, ranked, axis=1)
    found *= contour
    # The largest is one by division: what it would gain, all lose.
    found[np.arange(len(found)), order[:, 0]] -= found.sum(axis=1)
    return found


class ContourCombiner(Differentiable):
    """Combines neighbors by the plausibilities of their labels."""

    def __init__(self, evidence: LabelEvidence) -> None:
        self.n_classes = evidence.n_classes
        self.excluded = 1.0 - evidence.contour

    @property
    def focal_sets(self) -> IntArray:
        """None is known before items are: the nested sets differ from item to item."""
        return np.array([(1 << self.n_classes) - 1] if self.n_classes <= 62 else [], dtype=np.int64)

    def contour(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Plausibilities (n, K) relative to the highest."""
        logs = np.zeros((len(neighbors), self.n_classes))
        for j in range(neighbors.shape[1]):
            logs += np.log1p(-trust[:, j, None] * self.excluded[neighbors[:, j]])
        return np.exp(logs - logs.max(axis=1, keepdims=True))

    def masses(self, neighbors: IntArray, trust: FloatArray) -> SparseMasses:
        """Consonant masses."""
        return consonant(self.contour(neighbors, trust))

    def ignorance(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Mass (n,) of the frame."""
        return self.contour(neighbors, trust).min(axis=1)

    def bets(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Pignistic probabilities (n, K) of the consonant masses."""
        return bets_of_contour(self.contour(neighbors, trust))

    def linearize(self, neighbors: IntArray, trust: FloatArray) -> tuple[FloatArray, Back]:
        """Bets, and the function from slopes in the bets (n, K) to slopes in the trust (n, k)."""
        contour = self.contour(neighbors, trust)

        def back(slopes: FloatArray) -> FloatArray:
            inner = _consonant_slopes(contour, slopes)
            found = np.empty(trust.shape)
            for j in range(neighbors.shape[1]):
                excluded = self.excluded[neighbors[:, j]]
                change = excluded / (1.0 - trust[:, j, None] * excluded)
                found[:, j] = -(inner * change).sum(axis=1)
            return found

        return bets_of_contour(contour), back
