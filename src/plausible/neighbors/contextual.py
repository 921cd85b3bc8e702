r"""Evidential neighbors with contextual discounting, learned from partially supervised data.

A neighbor at distance d is trusted to the degree :math:`\beta_k(d) = \varphi_0 \exp(-\gamma_k d^2)`
if the class of the item is k. Its parameters maximize the evidential likelihood, leave-one-out,

.. math:: \frac1n \sum_i \log \sum_k p_{ik} \, pl_{ik}, \qquad
          p_{ik} \propto \prod_{j \in N(i)} \big(1 - \beta_k(d_{ij}) (1 - pl_{jk})\big),

to which labels that say nothing add nothing.

References
----------
T. Denoeux, O. Kanjanatarakul, S. Sriboonchitta, A new evidential K-nearest neighbor rule based on
contextual discounting with partially supervised learning, International Journal of Approximate
Reasoning 113 (2019) 287-302.
D. Mercier, B. Quost, T. Denoeux, Refined modeling of sensor reliability in the belief function
framework using contextual discounting, Information Fusion 9 (2008) 246-258.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, logit

from plausible.base import normalized, warn_of_sharpening
from plausible.checks import check_option
from plausible.neighbors.classifier import check_max_mass
from plausible.neighbors.contextual_masses import ContextualCombiner, log_contours
from plausible.neighbors.evidence import LabelEvidence
from plausible.neighbors.nearest import NearestItems
from plausible.neighbors.rates import BOUND, LARGEST, OPTIONS, heuristic_gamma
from plausible.neighbors.search import Lists

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

START, LEAST, MOST = 0.9, 0.01, 0.9999  # of the trust at distance zero
TINY = 1e-300


class Fitted(NamedTuple):
    """Gamma (K,), trust at distance zero, and the leave-one-out cost."""

    gamma: FloatArray
    max_mass: float
    cost: float


def _contextual_trust(lists: Lists, gamma: FloatArray, max_mass: float) -> FloatArray:
    """Trust (n, k, K) in neighbors if the class is each one."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        exponent = lists.squares[:, :, None] * gamma
        exponent[np.isnan(exponent)] = np.inf
        return np.minimum(max_mass * np.exp(-exponent), LARGEST)


class EvidentialCost:
    """Minus the mean evidential log-likelihood of training items, and its gradient.

    Parameters
    ----------
    excluded : array (number of training items, K)
        1 - pl of their labels.
    lists : neighbors of the items that count
    contour : array (n, K)
        Of the labels of these, largest entry one.
    """

    def __init__(self, excluded: FloatArray, lists: Lists, contour: FloatArray) -> None:
        self.excluded, self.lists, self.contour = excluded, lists, contour

    def __call__(self, gamma: FloatArray, max_mass: float) -> float:
        """The cost alone."""
        trust = _contextual_trust(self.lists, gamma, max_mass)
        shares = normalized(log_contours(self.excluded, self.lists.neighbors, trust))
        return float(-np.log(np.maximum((shares * self.contour).sum(axis=1), TINY)).mean())

    def with_gradient(self, point: FloatArray) -> tuple[float, FloatArray]:
        """The cost at (log gamma, logit of the trust), and its gradient."""
        gamma, max_mass = np.exp(point[:-1]), float(expit(point[-1]))
        trust = _contextual_trust(self.lists, gamma, max_mass)
        shares = normalized(log_contours(self.excluded, self.lists.neighbors, trust))
        agreed = np.maximum((shares * self.contour).sum(axis=1, keepdims=True), TINY)
        slopes = (shares - shares * self.contour / agreed) / len(agreed)
        squares = np.where(np.isfinite(self.lists.squares), self.lists.squares, 0.0)
        by_log_gamma, by_log_trust = np.zeros(len(gamma)), 0.0
        for j in range(trust.shape[1]):
            excluded = self.excluded[self.lists.neighbors[:, j]]
            change = -slopes * trust[:, j] * excluded / (1.0 - trust[:, j] * excluded)
            by_log_gamma -= gamma * (change * squares[:, j, None]).sum(axis=0)
            by_log_trust += float(change.sum())
        cost = float(-np.log(agreed).mean())
        return cost, np.append(by_log_gamma, by_log_trust * (1.0 - max_mass))


def _fit_contextual(cost: EvidentialCost, start: FloatArray, max_mass: float | None) -> Fitted:
    """Gamma for each class, and the trust at distance zero unless it is given."""
    level = START if max_mass is None else min(max_mass, MOST)
    first = cost(start, level)
    point = np.append(np.log(start), logit(level))
    reach = np.log(BOUND)
    bounds = [(middle - reach, middle + reach) for middle in point[:-1]]
    bounds.append((logit(LEAST), logit(MOST)) if max_mass is None else (point[-1], point[-1]))
    found = minimize(
        cost.with_gradient,
        point,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options=OPTIONS,
    )
    gamma, trust = np.exp(found.x[:-1]), float(expit(found.x[-1]))
    last = cost(gamma, trust)
    return Fitted(gamma, trust, last) if last <= first else Fitted(start, level, first)


def _fit_level(cost: EvidentialCost, gamma: FloatArray) -> float:
    """The trust at distance zero alone."""
    found = minimize_scalar(
        lambda point: cost(gamma, float(expit(point))),
        bounds=(float(logit(LEAST)), float(logit(MOST))),
        method="bounded",
    )
    return float(expit(found.x))


class ContextualNeighborsClassifier(NearestItems):
    """Evidential neighbors whose trust depends on the class, learned from labels of every kind.

    Parameters
    ----------
    n_neighbors : int, "cv" or list of int
        As in `EvidentialNeighborsClassifier`.
    gamma : "fit", "heuristic", float, dict of classes, or array-like (K,)
        How fast trust falls with the squared distance if the class is each one.
    max_mass : "fit", or float in (0, 1)
        Trust at distance zero.
    unknown, metric, algorithm, n_jobs, p, metric_params, ann_options
        As in `EvidentialNeighborsClassifier`.

    Attributes
    ----------
    classes_ : array (K,)
    gamma_ : array (K,)
    max_mass_ : float
    n_neighbors_ : int
    objective_ : float
        Minus the mean evidential log-likelihood, leave-one-out.
    cv_costs_ : dict
        That for each number of neighbors that was tried.
    loo_masses_ : SparseMasses (n, F)
    focal_sets_ : int array

    Notes
    -----
    Masses are exact up to 10 classes. Beyond, plausibilities are combined exactly up to a factor,
    and masses are the least committed ones that have them.

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> X = [[0.0], [1.0], [2.0], [6.0], [7.0], [8.0]]
    >>> y = Labels.from_sets([{"a"}, {"a", "b"}, {"a"}, {"b", "c"}, {"c"}, {"c"}], classes="abc")
    >>> ContextualNeighborsClassifier(2).fit(X, y).predict([[0.5], [7.5]])
    array(['a', 'c'], dtype='<U1')
    """

    def __init__(
        self,
        n_neighbors: Any = 5,
        gamma: Any = "fit",
        max_mass: Any = "fit",
        unknown: str = "count",
        metric: Any = "minkowski",
        algorithm: str = "auto",
        n_jobs: int | None = None,
        *,
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        ann_options: dict[str, Any] | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.max_mass = max_mass
        self.unknown = unknown
        self.metric = metric
        self.algorithm = algorithm
        self.n_jobs = n_jobs
        self.p = p
        self.metric_params = metric_params
        self.ann_options = ann_options

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Store the items, and learn what is to be learned.

        Parameters
        ----------
        X : array-like (n, d), or (n, n) distances with metric="precomputed"
            Or rows of features and labels (`plausible.engine.StreamRows`), or a Dask collection:
            items are brought into memory chunk by chunk, float32 as such.
        y : Labels, or all that `as_labels` takes

        Returns
        -------
        self
        """
        if not isinstance(self.max_mass, str):
            check_max_mass(self.max_mass)
        else:
            check_option(self.max_mass, ("fit",), "max_mass")
        self._remember(X, y)
        if self._labels.is_probability.any():
            warn_of_sharpening(self)
        given = self._given_gamma()
        candidates = self._candidates()
        if given is not None and self._given_max_mass is not None and len(candidates) == 1:
            self.n_neighbors_, self.gamma_ = candidates[0], given
            self.max_mass_ = self._given_max_mass
        else:
            found = self._choose(candidates, lambda k: self._learn(k, given))
            self.gamma_, self.max_mass_ = found.gamma, found.max_mass
        return self

    @property
    def _given_max_mass(self) -> float | None:
        return None if isinstance(self.max_mass, str) else float(self.max_mass)

    def _make_combiner(self, evidence: LabelEvidence) -> ContextualCombiner:
        return ContextualCombiner(evidence)

    def _trust(self, lists: Lists) -> FloatArray:
        return _contextual_trust(lists, self.gamma_, self.max_mass_)

    def _cost(self, k: int) -> EvidentialCost:
        """The leave-one-out cost on the items whose labels say something."""
        evidence = self._told
        rows = np.flatnonzero(~evidence.is_unknown)
        lists = self._others(k)
        contour = evidence.contour[rows]
        return EvidentialCost(
            1.0 - evidence.contour,
            Lists(lists.neighbors[rows], lists.squares[rows]),
            contour / contour.max(axis=1, keepdims=True),
        )

    def _learn(self, k: int, given: FloatArray | None) -> Fitted:
        """Parameters for k neighbors, with their cost."""
        cost = self._cost(k)
        rows = np.flatnonzero(~self._told.is_unknown)
        start = given
        if start is None:
            start = heuristic_gamma(cost.lists, self._told, rows, each=True)
        if given is None and self.gamma == "fit":
            return _fit_contextual(cost, start, self._given_max_mass)
        level = self._given_max_mass
        if level is None:
            level = _fit_level(cost, start)
        return Fitted(start, level, cost(start, level))

    def _cost_of_fit(self) -> float:
        return self._cost(self.n_neighbors_)(self.gamma_, self.max_mass_)
