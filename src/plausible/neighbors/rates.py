r"""How fast a neighbor loses weight with its distance: gamma, given or learned.

Neighbor j at distance d is trusted to the degree

.. math:: \varphi = \varphi_0 \exp(-\gamma_j d^2), \qquad \gamma_j = \sum_k p_{jk} \gamma_k,

with the pignistic probabilities p of its label: for a hard label, the gamma of its class (Zouhal
and Denoeux 1998). The heuristic gamma of a class is one over the mean squared distance between its
items and their neighbors of the same class, so that the trust in a typical neighbor falls to
:math:`\varphi_0 / e` (Denoeux 1995 has the mean over all pairs of items, which loses touch with the
distances that matter as items grow more). Learning minimizes the leave-one-out cost over the
logarithms of gamma, within a factor of `BOUND` of the heuristic, from where it starts.

References
----------
L. Zouhal, T. Denoeux, An evidence-theoretic k-NN rule with parameter optimization, IEEE
Transactions on Systems, Man and Cybernetics C 28 (1998) 263-271.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar

from plausible.neighbors.evidence import LabelEvidence
from plausible.neighbors.losses import Loss
from plausible.neighbors.search import Lists

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LARGEST = 1.0 - np.finfo(np.float64).eps  # trust that still leaves a doubt: a limit exists
BOUND = 1e4
GRID = 25  # values of one gamma that are tried before the best is refined
OPTIONS = {"maxiter": 200, "ftol": 1e-8, "gtol": 1e-7}  # of L-BFGS
MANY, LOOSE = 10_000, {"ftol": 1e-6}  # chance moves the cost on so many items by far more


class Combiner(Protocol):
    """How neighbors are combined: what all ways can do."""

    def bets(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Pignistic probabilities (n, K)."""

    def cost(self, neighbors: IntArray, trust: FloatArray, loss: Loss) -> tuple[float, FloatArray]:
        """Mean cost of the bets, and its slopes (n, k) in the trust."""


class Learned(NamedTuple):
    """Gamma (K,), and its leave-one-out cost."""

    gamma: FloatArray
    cost: float


def trust_in(lists: Lists, rates: FloatArray, max_mass: float) -> FloatArray:
    """Trust (n, k) in neighbors, from the rate of each training item."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        exponent = rates[lists.neighbors] * lists.squares
        exponent[np.isnan(exponent)] = np.inf  # an infinite distance with rate zero
        return np.minimum(max_mass * np.exp(-exponent), LARGEST)


def heuristic_gamma(
    lists: Lists, evidence: LabelEvidence, rows: IntArray, each: bool
) -> FloatArray:
    """One over the mean squared distance of neighbors of a class, (K,).

    The lists belong to some rows of the evidence. A class whose items have no neighbors of their
    own class has the rate of all; all have it unless `each` has its own.
    """
    near = evidence.bets * (1.0 - evidence.whole[:, None])
    own = near[rows]
    squares = np.where(np.isfinite(lists.squares), lists.squares, 0.0)
    total, weight = np.zeros(evidence.n_classes), np.zeros(evidence.n_classes)
    for j in range(squares.shape[1]):
        both = own * near[lists.neighbors[:, j]]
        total += both.T @ squares[:, j]
        weight += both.sum(axis=0)
    means = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0.0)
    overall = total.sum() / weight.sum() if total.sum() > 0.0 else float(squares.mean())
    overall = overall if 0.0 < overall < np.inf else 1.0
    is_known = (means > 1e-6 * overall) & np.isfinite(means) & each
    return 1.0 / np.where(is_known, means, overall)


class Cost:
    """Leave-one-out cost of gamma on training items, and its exact gradient.

    Parameters
    ----------
    combiner : how neighbors are combined
    bets : array (number of training items, K)
        Of their labels.
    lists : neighbors of the items that count
    loss : Loss
    max_mass : float
    """

    def __init__(
        self, combiner: Combiner, bets: FloatArray, lists: Lists, loss: Loss, max_mass: float
    ) -> None:
        self.combiner, self.bets, self.lists = combiner, bets, lists
        self.loss, self.max_mass = loss, max_mass

    def value(self, gamma: FloatArray) -> float:
        """The cost of one gamma for each class."""
        trust = trust_in(self.lists, self.bets @ gamma, self.max_mass)
        return self.loss(self.combiner.bets(self.lists.neighbors, trust))[0]

    def with_gradient(self, log_gamma: FloatArray) -> tuple[float, FloatArray]:
        """The cost, and its gradient (K,) in the logarithms."""
        gamma = np.exp(log_gamma)
        trust = trust_in(self.lists, self.bets @ gamma, self.max_mass)
        cost, slopes = self.combiner.cost(self.lists.neighbors, trust, self.loss)
        squares = np.where(trust > 0.0, self.lists.squares, 0.0)
        change = -slopes * trust * squares
        change[trust >= LARGEST] = 0.0
        per_item = np.bincount(
            self.lists.neighbors.ravel(), weights=change.ravel(), minlength=len(self.bets)
        )
        return cost, gamma * (per_item @ self.bets)


def fit_each(cost: Cost, start: FloatArray) -> Learned:
    """One gamma for each class, by L-BFGS from the start; never worse than it."""
    center = np.log(start)
    reach = np.log(BOUND)
    best = Learned(start, np.inf)

    def value(point: FloatArray) -> tuple[float, FloatArray]:
        nonlocal best
        found, gradient = cost.with_gradient(point)
        if found < best.cost:
            best = Learned(np.exp(point), found)
        return found, gradient

    minimize(
        value,
        center,
        jac=True,
        method="L-BFGS-B",
        bounds=[(middle - reach, middle + reach) for middle in center],
        options=OPTIONS | LOOSE if len(cost.lists.neighbors) > MANY else OPTIONS,
    )
    return best


def fit_one(cost: Cost, start: float) -> Learned:
    """One gamma for all classes, the best of a grid, refined between its neighbors."""
    ones = np.ones(cost.bets.shape[1])
    grid = np.log(start) + np.linspace(-np.log(BOUND), np.log(BOUND), GRID)
    costs = [cost.value(ones * np.exp(point)) for point in grid]
    best = int(np.argmin(costs))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, GRID - 1)]
    refined = minimize_scalar(
        lambda point: cost.value(ones * np.exp(point)),
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-4},
    )
    candidates = {float(refined.fun): float(refined.x), costs[best]: float(grid[best])}
    candidates[cost.value(ones * start)] = float(np.log(start))
    least = min(candidates)
    return Learned(ones * np.exp(candidates[least]), least)
