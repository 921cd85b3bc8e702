r"""What bets cost against labels of every kind.

With the bets P of an item, and the plausibilities pl and commonalities q of its label,

.. math::
    \text{squared} = \sum_A m(A) \Big[(1 - P(A))^2 + \sum_{k \notin A} P_k^2\Big]
                   = 1 - 2 \sum_k pl_k P_k + \sum_k P_k^2 + \sum_{k \ne l} q_{\{k, l\}} P_k P_l

takes the classes of a set that the label holds to for one. It is the squared error of Zouhal and
Denoeux (1998) for a hard label, that times 1 - doubt for a doubted one, the squared distance to
probabilities plus a constant, and nothing for a label that says nothing.

.. math:: \text{c1} = 1 - \sum_k pl_k P_k

(Vannoorenberghe, eq. 14) is linear in the bets, so not a proper score; labels that say nothing cost
nothing here, too.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy

import numpy as np
from numpy.typing import NDArray

from plausible.neighbors.evidence import BoolArray, LabelEvidence

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Back = Callable[[FloatArray], FloatArray]

LOSSES = ("squared", "c1")


class Loss:
    """Cost of bets on items, and its slopes; the mean is over the items whose labels say something.

    Parameters
    ----------
    name : {"squared", "c1"}
    evidence : LabelEvidence
        Of the items.
    """

    def __init__(self, name: str, evidence: LabelEvidence) -> None:
        self.name = name
        self.counted: BoolArray = ~evidence.is_unknown
        self.contour = evidence.contour
        self.whole = evidence.whole
        self.together: FloatArray | None = None
        if name == "squared" and not evidence.is_single:
            self.together = evidence.together.copy()
            K = evidence.n_classes
            self.together[:, np.arange(K), np.arange(K)] = 1.0

    def some(self, rows: IntArray) -> "Loss":
        """The cost of bets on some of the items."""
        part = copy(self)
        part.counted, part.contour = self.counted[rows], self.contour[rows]
        part.whole = self.whole[rows]
        part.together = None if self.together is None else self.together[rows]
        return part

    @property
    def n_counted(self) -> int:
        """Items whose labels say something; at least one."""
        return max(1, int(self.counted.sum()))

    def __call__(self, bets: FloatArray) -> tuple[float, FloatArray]:
        """Mean cost, and its slopes (n, K) in the bets."""
        agreed = (self.contour * bets).sum(axis=1)
        if self.name == "c1":
            costs, slopes = 1.0 - agreed, -self.contour
        elif self.together is None:  # q of any two classes is the mass of the frame
            squares = np.square(bets).sum(axis=1)
            costs = 1.0 - 2.0 * agreed + squares + self.whole * (1.0 - squares)
            # Slopes along the bets, whose sum stays one.
            slopes = 2.0 * (bets * (1.0 - self.whole[:, None]) - self.contour)
        else:
            held = np.matmul(self.together, bets[:, :, None])[:, :, 0]
            costs = 1.0 - 2.0 * agreed + (held * bets).sum(axis=1)
            slopes = 2.0 * (held - self.contour)
        cost = float(costs[self.counted].sum() / self.n_counted)
        return cost, np.where(self.counted[:, None], slopes / self.n_counted, 0.0)


class Differentiable(ABC):
    """A way to combine neighbors whose bets have slopes, and so has what they cost."""

    @abstractmethod
    def linearize(self, neighbors: IntArray, trust: FloatArray) -> tuple[FloatArray, Back]:
        """Bets, and the function from slopes in the bets (n, K) to slopes in the trust (n, k)."""

    def cost(self, neighbors: IntArray, trust: FloatArray, loss: Loss) -> tuple[float, FloatArray]:
        """Mean cost of the bets, and its slopes (n, k) in the trust."""
        bets, back = self.linearize(neighbors, trust)
        cost, slopes = loss(bets)
        return cost, back(slopes)
