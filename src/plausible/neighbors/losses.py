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

import numpy as np
from numpy.typing import NDArray

from plausible.neighbors.evidence import BoolArray, LabelEvidence

FloatArray = NDArray[np.float64]

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
        n_counted = max(1, int(self.counted.sum()))
        cost = float(costs[self.counted].sum() / n_counted)
        return cost, np.where(self.counted[:, None], slopes / n_counted, 0.0)
