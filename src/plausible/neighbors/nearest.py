"""What classifiers by neighbors share: items, labels, lists of neighbors, answers."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from plausible.base import (
    Beliefs,
    MassClassifier,
    are_elsewhere,
    by_class,
    check_features,
    check_labels_and_weights,
    combined,
    gather,
)
from plausible.belief import MAX_CLASSES, SparseMasses
from plausible.checks import (
    as_floats,
    as_list,
    check_option,
    check_whole,
    is_whole,
    shown,
)
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.neighbors.beliefs import Answering, Found, ManyClassBeliefs, NeighborBeliefs
from plausible.neighbors.evidence import LabelEvidence
from plausible.neighbors.search import Lists, Search, check_measure, check_search

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LEARNED = ("fit", "heuristic")
UNKNOWN = ("count", "skip")
CANDIDATES = (1, 2, 3, 4, 5, 7, 9, 11, 13, 15, 20, 25, 30)
MADE = ("_combiner", "_evidence", "_loo")  # what can be made again, and is not stored


class WithCost(Protocol):
    """Anything that was learned, with its leave-one-out cost."""

    @property
    def cost(self) -> float:
        """Lower is better."""


LearnedT = TypeVar("LearnedT", bound=WithCost)


class NearestItems(MassClassifier):
    """Base of classifiers by neighbors: `_make_combiner` and `_trust` say how they count."""

    n_neighbors: Any
    gamma: Any
    unknown: str
    metric: Any
    p: float
    metric_params: dict[str, Any] | None
    algorithm: str
    ann_options: dict[str, Any] | None
    n_jobs: int | None
    n_neighbors_: int

    def _make_combiner(self, evidence: LabelEvidence) -> Answering:
        """How neighbors with these labels are combined."""
        raise NotImplementedError

    def _trust(self, lists: Lists) -> FloatArray:
        """Trust in each neighbor."""
        raise NotImplementedError

    # -- Fitting -----------------------------------------------------------------------------------

    def _remember(self, X: ArrayLike, y: Any) -> None:
        """What fit does first: items and labels are checked and stored."""
        self._check_search()
        if are_elsewhere(X):
            self._refuse_distances_elsewhere()
            X, y, weight = gather(self, X, y)
            _refuse_weights(self, weight)
        data: FloatArray = check_features(self, X, dtype=(np.float64, np.float32))
        if self.metric == "precomputed" and data.shape[0] != data.shape[1]:
            raise InputError(
                "X should be a square table of distances where metric='precomputed'",
                f"it has shape {data.shape}",
                "give the distances between all training items",
                parameter="X",
            )
        labels, _ = check_labels_and_weights(self, y, None, len(data), X)
        if labels.is_unknown.all():
            raise InputError(
                "At least one row should favor a class",
                "all labels are unknown",
                "label some items",
            )
        self.__dict__.update(dict.fromkeys(MADE))
        self._objective: float | None = None
        self.cv_costs_: dict[int, float] = {}
        self.classes_ = labels.classes
        says = ~labels.is_unknown
        kept = says if self.unknown == "skip" else np.ones(len(data), dtype=bool)
        self._rows: IntArray = np.flatnonzero(kept)
        self._labels = labels[self._rows]
        self._left_out = data[~kept] if not kept.all() else None
        self._search = Search(self._among(data)[kept], self._options(), self.ann_options or {})
        self.focal_sets_ = self._combine.focal_sets

    def _refuse_distances_elsewhere(self) -> None:
        if self.metric == "precomputed":
            raise InputError(
                "Distances between items should be in memory where metric='precomputed'",
                "they are in a stream or on Dask",
                "give features, or an array of distances",
                parameter="X",
            )

    def _check_search(self) -> None:
        check_option(self.unknown, UNKNOWN, "unknown")
        check_search(self.algorithm, self.ann_options, self.n_jobs)
        check_measure(self.metric, self.p)

    def _options(self) -> dict[str, Any]:
        return {
            "algorithm": self.algorithm,
            "metric": self.metric,
            "p": self.p,
            "metric_params": self.metric_params,
            "n_jobs": self.n_jobs,
        }

    def _among(self, X: FloatArray) -> FloatArray:
        """Distances to the items that are asked, where distances are given."""
        return X[:, self._rows] if self.metric == "precomputed" else X

    def _candidates(self) -> list[int]:
        """Numbers of neighbors to choose from; one if there is no choice."""
        most = len(self._search)
        if is_whole(self.n_neighbors):
            return [min(check_whole(self.n_neighbors, "n_neighbors", 1), most)]
        if isinstance(self.n_neighbors, str) and self.n_neighbors == "cv":
            given: list[Any] = list(CANDIDATES)
        elif isinstance(self.n_neighbors, str | float) or self.n_neighbors is None:
            raise InputError(
                "n_neighbors should be a whole number of at least 1, 'cv', or a list of numbers to "
                "choose from",
                f"{shown(self.n_neighbors)} was given",
                parameter="n_neighbors",
                value=self.n_neighbors,
            )
        else:
            given = as_list(self.n_neighbors, "n_neighbors", "whole numbers")
        numbers = [check_whole(k, "n_neighbors", 1) for k in given]
        if not numbers:
            raise InputError(
                "n_neighbors should be numbers to choose from", "there are none", "name some"
            )
        return sorted({min(k, max(most - 1, 1)) for k in numbers})

    def _given_gamma(self) -> FloatArray | None:
        """Gamma (K,) as given; None if it is to be learned."""
        n_classes = len(self.classes_)
        if isinstance(self.gamma, str):
            check_option(self.gamma, LEARNED, "gamma")
            return None
        values = as_floats(by_class(self, self.gamma, "gamma", self.classes_), "gamma")
        good = values.shape in ((), (n_classes,)) and bool(
            np.isfinite(values).all() and (values >= 0.0).all()
        )
        if not good:
            raise InputError(
                f"gamma should be 'fit', 'heuristic', a number, or one for each of the {n_classes} "
                "classes, not negative",
                f"{shown(self.gamma)} was given",
                "correct it",
                parameter="gamma",
                value=self.gamma,
            )
        return np.broadcast_to(values, n_classes).copy()

    def _choose(self, candidates: list[int], learn: Callable[[int], LearnedT]) -> LearnedT:
        """What is learned with the number of neighbors that costs least."""
        self._check_two()
        learned = {k: learn(k) for k in reversed(candidates)}  # the longest lists first
        self.cv_costs_ = {k: learned[k].cost for k in candidates}
        self.n_neighbors_ = min(candidates, key=self.cv_costs_.__getitem__)
        self._objective = self.cv_costs_[self.n_neighbors_]
        return learned[self.n_neighbors_]

    def _check_two(self) -> None:
        if len(self._search) < 2:
            raise InputError(
                "What is left out at a time should leave another item, so that gamma and numbers "
                "of neighbors are learned from 2 samples or more",
                f"there is only 1 sample{' with a label' if self.unknown == 'skip' else ''}",
                "give more, or numbers for them",
                parameter="gamma",
            )

    def _cost_of_fit(self) -> float:
        """Leave-one-out cost of what was fitted or given."""
        raise NotImplementedError

    @property
    def objective_(self) -> float:
        """Leave-one-out cost of what was fitted or given."""
        check_is_fitted(self)
        if self._objective is None:
            self._check_two()
            self._objective = self._cost_of_fit()
        return self._objective

    def _others(self, k: int) -> Lists:
        """The k nearest other items of each item that is asked, from one search for the most."""
        k = min(k, len(self._search) - 1)
        if self._loo is None or self._loo.neighbors.shape[1] < k:
            self._loo = self._search.others(k)
        return self._loo.first(k)

    # -- What can be made again --------------------------------------------------------------------

    _combiner: Answering | None
    _evidence: LabelEvidence | None
    _loo: Lists | None

    @property
    def _told(self) -> LabelEvidence:
        if self._evidence is None:
            self._evidence = LabelEvidence(self._labels)
        return self._evidence

    @property
    def _combine(self) -> Answering:
        if self._combiner is None:
            self._combiner = self._make_combiner(self._told)
        return self._combiner

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        return state | dict.fromkeys(name for name in MADE if name in state)

    # -- Answers -----------------------------------------------------------------------------------

    def _found(self, X: FloatArray) -> Found:
        lists = self._search.nearest(self._among(X), self.n_neighbors_)
        return Found(lists.neighbors, self._trust(lists))

    def _masses(self, X: Any) -> SparseMasses:
        """Masses of items, or of those whose neighbors were found."""
        return self._combine.masses(*(X if isinstance(X, Found) else self._found(X)))

    def _beliefs(self, X: Any, labels: Labels | None) -> Beliefs:
        return self._beliefs_of(self._found(X), labels)

    def _beliefs_of(self, found: Found, labels: Labels | None) -> Beliefs:
        if len(self.classes_) > MAX_CLASSES:
            return self._many_class_beliefs(found, labels)
        if labels is not None:
            masses = combined(self._masses(found), labels)
            return Beliefs.from_masses(masses, self.classes_)
        return NeighborBeliefs(self.classes_, self._combine, found, self._masses)

    def _many_class_beliefs(self, found: Found, labels: Labels | None) -> Beliefs:
        """Bets and plausibilities; with what is known of items, in proportion to plausibility."""
        contour = self._combine.contour(*found)
        if labels is None:
            return ManyClassBeliefs(self.classes_, self._combine.bets(*found), contour)
        product = contour * labels.scaled()
        total = product.sum(axis=1, keepdims=True)
        return ManyClassBeliefs(self.classes_, product / total, product)

    def score_novelty(self, X: ArrayLike) -> FloatArray:
        """How little the neighbors say about each row: the mass of the whole frame, in [0, 1].

        Near one far from all training items, or where all neighbors are unlabeled.

        Parameters
        ----------
        X : array-like (n, d)

        Returns
        -------
        array (n,)
        """
        return self._combine.ignorance(*self._found(self._read(X)))

    def kneighbors(
        self,
        X: ArrayLike | None = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
    ) -> Any:
        """Nearest training items, as in scikit-learn.

        Parameters
        ----------
        X : array-like (n, d), optional
            By default the training items that are asked, none of which is its own neighbor.
        n_neighbors : int, optional
            By default `n_neighbors_`.
        return_distance : bool

        Returns
        -------
        distances : array (n, k), if asked for
        indices : array (n, k)
            Rows of the training data.
        """
        check_is_fitted(self)
        most = len(self._search) - (X is None)
        k = min(self.n_neighbors_, most)
        if n_neighbors is not None:
            k = check_whole(n_neighbors, "n_neighbors", 1, most)
        if X is None:
            lists = self._search.others(k)
        else:
            lists = self._search.nearest(self._among(self._read(X)), k)
        numbers = self._rows[lists.neighbors]
        return (np.sqrt(lists.squares), numbers) if return_distance else numbers

    @property
    def loo_masses_(self) -> SparseMasses:
        """Masses (n, F) of the training items, each from its neighbors among the others."""
        check_is_fitted(self)
        return self._masses(self._loo_found())

    def _loo_found(self) -> Found:
        """Neighbors of all training items among the others, in the order of the training data."""
        self._check_two()
        lists = self._others(self.n_neighbors_)
        n = len(self._search) + (0 if self._left_out is None else len(self._left_out))
        if self._left_out is None:
            return Found(lists.neighbors, self._trust(lists))
        more = self._search.nearest(self._among(self._left_out), lists.neighbors.shape[1])
        is_kept = np.zeros(n, dtype=bool)
        is_kept[self._rows] = True
        order = np.argsort(np.concatenate([self._rows, np.flatnonzero(~is_kept)]))
        joined = Lists(
            np.concatenate([lists.neighbors, more.neighbors])[order],
            np.concatenate([lists.squares, more.squares])[order],
        )
        return Found(joined.neighbors, self._trust(joined))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


def _refuse_weights(estimator: Any, weight: FloatArray | None) -> None:
    """Neighbors do not count by weights, and rows that have some expect it."""
    if weight is not None and not (weight == 1.0).all():
        raise InputError(
            f"{type(estimator).__name__} takes no weights of rows",
            "the rows hold some",
            "leave out the third column",
        )
