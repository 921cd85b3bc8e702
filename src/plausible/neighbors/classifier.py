r"""The evidential k-nearest-neighbor rule, for labels of every kind.

Each of the k nearest training items is a piece of evidence: its label m_j, discounted by distance,

.. math:: m'_j(A) = \varphi_j m_j(A) \text{ for } A \ne \Omega, \qquad
          \varphi_j = \varphi_0 \exp(-\gamma_j d_j^2),

the rest on the whole frame; all k are combined by Dempster's rule.

References
----------
T. Denoeux, A k-nearest neighbor classification rule based on Dempster-Shafer theory, IEEE
Transactions on Systems, Man and Cybernetics 25 (1995) 804-813.
T. Denoeux, L. Zouhal, Handling possibilistic labels in pattern classification using evidential
reasoning, Fuzzy Sets and Systems 122 (2001) 47-62.
P. Vannoorenberghe, Reasoning with unlabeled samples and belief functions.
"""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.base import warn_of_sharpening
from plausible.belief import MAX_CLASSES
from plausible.checks import check_number, check_option
from plausible.errors import InputError
from plausible.labels import ApproximationWarning
from plausible.neighbors.beliefs import Answering
from plausible.neighbors.closures import SparseCombiner
from plausible.neighbors.contours import ContourCombiner
from plausible.neighbors.dense import DenseCombiner
from plausible.neighbors.evidence import LabelEvidence
from plausible.neighbors.losses import LOSSES, Loss
from plausible.neighbors.nearest import NearestItems
from plausible.neighbors.rates import (
    Cost,
    Learned,
    fit_each,
    fit_one,
    heuristic_gamma,
    trust_in,
)
from plausible.neighbors.search import Lists
from plausible.neighbors.singles import SingleCombiner

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

COMBINATIONS = ("exact", "contours")


def make_combiner(evidence: LabelEvidence, combination: str) -> Answering:
    """The quickest way to combine these labels exactly, or by plausibilities if asked."""
    if combination == "contours":
        return ContourCombiner(evidence)
    if evidence.is_single:
        return SingleCombiner(evidence)
    if evidence.masses is None:
        return ContourCombiner(evidence)
    return DenseCombiner(evidence) if DenseCombiner.fits(evidence) else SparseCombiner(evidence)


class EvidentialNeighborsClassifier(NearestItems):
    """Evidential k-nearest neighbors: near items are evidence, doubted by distance.

    Parameters
    ----------
    n_neighbors : int, "cv" or list of int
        How many neighbors (all, where there are fewer). "cv" chooses from 1 to 30, a list from its
        numbers, by the leave-one-out cost; one search serves all.
    gamma : "fit", "heuristic", float, dict of classes, or array-like (K,)
        How fast trust falls with the squared distance: learned, one over a typical squared
        distance, given, or given for each class in sorted order. Labels between classes have the
        mean of their gammas, by pignistic probability.
    loss : {"squared", "c1"}
        What is learned by: the squared error of bets with a gamma for each class, or the linear
        cost C1 with one for all, within a factor of 10,000 of the heuristic.
    max_mass : float in (0, 1]
        Trust in a neighbor at distance zero. With 1, items at one point that contradict each other
        are in total conflict; the limit of nearly full trust is then taken.
    unknown : {"count", "skip"}
        Whether unlabeled neighbors fill places among the k, or are passed over.
    combination : {"exact", "contours"}
        Dempster's rule on mass functions; or on plausibilities of classes alone, which is quicker
        for sets and plausibilities on large frames, and the only way for these beyond 62 classes.
    metric : str or function
        As in scikit-learn's `NearestNeighbors`; "precomputed" for a table of distances.
    p : float
        Power of the Minkowski metric.
    metric_params : dict, optional
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "hnsw"}
        Search; "hnsw" is approximate, for large data, and needs the package hnswlib.
    ann_options : dict, optional
        Of "hnsw": ``M``, ``ef_construction`` and ``ef``, which trade speed for recall, and
        ``build_threads``, 1 unless told: with more the index is built sooner, but a little
        different each time.
    n_jobs : int, optional
        Of the search, as in scikit-learn. "hnsw" takes as many threads as numpy if nothing is said.

    Attributes
    ----------
    classes_ : array (K,)
    gamma_ : array (K,)
    n_neighbors_ : int
    objective_ : float
        Leave-one-out cost of `gamma_`; computed when it is asked for if gamma was given.
    cv_costs_ : dict
        Cost for each number of neighbors that was tried.
    loo_masses_ : SparseMasses (n, F)
        Beliefs about each training item from the others; computed when asked for.
    focal_sets_ : int array
        Sets that can have mass. (With sets or plausibilities on more than 10 classes: those of the
        labels, whose intersections come in as they are met.)

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> X = [[0.0], [0.5], [2.0], [3.0]]
    >>> y = Labels.from_crisp(["a", None, "b", "b"], missing=None)
    >>> model = EvidentialNeighborsClassifier(4, gamma=1.0, max_mass=1.0).fit(X, y)
    >>> model.predict_mass([[0.5]]).values.round(4)
    array([[0.7587, 0.0259, 0.2155]])
    >>> model.score_novelty([[0.5], [9.0]]).round(2)
    array([0.22, 1.  ])
    """

    def __init__(
        self,
        n_neighbors: Any = 5,
        gamma: Any = "fit",
        loss: str = "squared",
        max_mass: float = 0.95,
        unknown: str = "count",
        metric: Any = "minkowski",
        algorithm: str = "auto",
        n_jobs: int | None = None,
        *,
        combination: str = "exact",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        ann_options: dict[str, Any] | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.loss = loss
        self.max_mass = max_mass
        self.unknown = unknown
        self.metric = metric
        self.algorithm = algorithm
        self.n_jobs = n_jobs
        self.combination = combination
        self.p = p
        self.metric_params = metric_params
        self.ann_options = ann_options

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Store the items, and learn gamma and the number of neighbors as asked.

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
        check_option(self.loss, LOSSES, "loss")
        check_option(self.combination, COMBINATIONS, "combination")
        check_max_mass(self.max_mass)
        self._remember(X, y)
        if self.loss == "c1" and self._labels.is_probability.any():
            warn_of_sharpening(self)
        self._warn_of_contours()
        given = self._given_gamma()
        candidates = self._candidates()
        if given is not None and len(candidates) == 1:
            self.n_neighbors_, self.gamma_ = candidates[0], given
        else:
            self.gamma_ = self._choose(candidates, lambda k: self._learn(k, given)).gamma
        return self

    def _make_combiner(self, evidence: LabelEvidence) -> Answering:
        return make_combiner(evidence, self.combination)

    def _trust(self, lists: Lists) -> FloatArray:
        return trust_in(lists, self._told.bets @ self.gamma_, self.max_mass)

    def _cost(self, k: int) -> Cost:
        """The leave-one-out cost on the items whose labels say something."""
        evidence = self._told
        rows = np.flatnonzero(~evidence.is_unknown)
        lists = self._others(k)
        says = Lists(lists.neighbors[rows], lists.squares[rows])
        loss = Loss(self.loss, LabelEvidence(self._labels[rows]))
        return Cost(self._combine, evidence.bets, says, loss, self.max_mass)  # type: ignore[arg-type]

    def _learn(self, k: int, given: FloatArray | None) -> Learned:
        """Gamma for k neighbors, with its cost."""
        cost = self._cost(k)
        if given is not None:
            return Learned(given, cost.value(given))
        rows = np.flatnonzero(~self._told.is_unknown)
        start = heuristic_gamma(cost.lists, self._told, rows, each=self.loss == "squared")
        if self.gamma == "heuristic":
            return Learned(start, cost.value(start))
        return fit_each(cost, start) if self.loss == "squared" else fit_one(cost, float(start[0]))

    def _cost_of_fit(self) -> float:
        return self._cost(self.n_neighbors_).value(self.gamma_)

    def _warn_of_contours(self) -> None:
        evidence = self._told
        if evidence.masses is None and not evidence.is_single and self.combination == "exact":
            warnings.warn(
                f"Masses of sets are only known up to {MAX_CLASSES} classes, so labels of "
                f"{evidence.n_classes} are combined by their plausibilities; say "
                "combination='contours' to have it so.",
                ApproximationWarning,
                stacklevel=4,
            )


def check_max_mass(value: Any) -> None:
    """Refuse what is no degree of trust."""
    if check_number(value, "max_mass", 0.0, 1.0) == 0.0:
        raise InputError(
            "max_mass should be above 0", "0 was given", "0.95 is common", parameter="max_mass"
        )
