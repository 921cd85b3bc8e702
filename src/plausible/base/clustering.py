"""Clusterings whose result is a credal partition.

A clustering writes `_cluster`, one run from one start, and `_masses` if it can place new items.
Several starts, the best of them, and every kind of answer are here.
"""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from plausible.base.features import check_features
from plausible.base.partition import CredalPartition
from plausible.base.whole import WholeFit
from plausible.belief import SparseMasses
from plausible.checks import check_whole, random_from
from plausible.errors import InputError

FloatArray = NDArray[np.float64]
NEAREST, FARTHEST = 1e-70, 1e70  # distances whose fourth powers are numbers
Method = TypeVar("Method", bound=Callable[..., Any])


class Clustered(NamedTuple):
    """One run of a clustering.

    Attributes
    ----------
    masses : SparseMasses (n, F), on the clusters
    objective : what is minimized; the run with the lowest is kept
    history : the objective at the start and after each iteration
    converged : whether it ended by itself
    learned : what else to keep, by the names of the attributes (``{"centers_": ...}``)
    stopped : whether somebody stopped it before its end, who need not be warned of that

    Examples
    --------
    >>> masses = SparseMasses([[1.0]], focal_sets=[1], n_classes=2)
    >>> Clustered(masses, 0.5).objective
    0.5
    """

    masses: SparseMasses
    objective: float
    history: Any = ()
    converged: bool = True
    learned: Mapping[str, Any] = {}
    stopped: bool = False


def _places_new_items(self: Any) -> bool:
    return hasattr(self, "_masses")


def _if_new_items(method: Method) -> Method:
    """A method that is there if the clustering can place new items."""
    made: Method = available_if(_places_new_items)(method)
    return made


def check_reach(X: NDArray[Any]) -> None:
    """Refuse items so far from each other, or so close, that powers of distances leave all numbers.

    Examples
    --------
    >>> import numpy as np
    >>> check_reach(np.array([[0.0], [1e200]]))
    Traceback (most recent call last):
    plausible.errors.InputError: Items should lie between 1e-70 and 1e+70 apart to compute with
    distances, but they lie up to 1e+200 apart; scale the features.
    """
    with np.errstate(over="ignore"):
        reach = float(np.abs(X - X[:1]).max(initial=0.0))
    if reach and not NEAREST <= reach <= FARTHEST:
        raise InputError(
            f"Items should lie between {NEAREST:g} and {FARTHEST:g} apart to compute with "
            "distances",
            f"they lie up to {reach:.3g} apart",
            "scale the features",
            parameter="X",
        )


class CredalClustering(WholeFit, ClusterMixin, BaseEstimator):
    """Base of clusterings with a method `_cluster`.

    ``_cluster(X, random)`` makes one run and gives a `Clustered`; ``_masses(X)``, if there is one,
    gives the masses of new items. A parameter `n_init` asks for several runs, `random_state` draws
    their starts.

    Attributes
    ----------
    partition_ : CredalPartition
    masses_ : array (n, F), and focal_sets_ : int array (F,)
        Masses of the items on sets of clusters, as bit masks.
    labels_ : int array (n,)
        Cluster with the best bet; -1 for outliers.
    objective_ : float, history_ : array, n_iter_ : int, converged_ : bool
        Of the best run.

    Examples
    --------
    >>> class Halves(CredalClustering):
    ...     def _cluster(self, X, random):
    ...         return Clustered(self._masses(X), 0.0, learned={"middle_": X.mean()})
    ...     def _masses(self, X):
    ...         right = (X[:, :1] > X.mean()).astype(float)
    ...         return SparseMasses(np.hstack([1 - right, right]), [1, 2], 2)
    >>> Halves().fit_predict([[0.0], [1.0], [8.0]])
    array([0, 0, 1])
    """

    n_init: int = 1
    random_state: Any = None

    def _cluster(self, X: Any, random: np.random.RandomState) -> Clustered:
        raise NotImplementedError

    def _read(self, X: ArrayLike, reset: bool) -> Any:
        """What is clustered, checked; dissimilarities, for instance, are read otherwise."""
        least = 2 if reset else 1
        data = check_features(self, X, dtype=np.float64, reset=reset, ensure_min_samples=least)
        if reset:
            check_reach(data)
        return data

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like (n, d)
        y : ignored

        Returns
        -------
        self
        """
        check_whole(self.n_init, "n_init", 1)
        data = self._read(X, reset=True)
        self._keep(self._best(data, random_from(self.random_state)))
        return self

    def _best(self, data: Any, random: np.random.RandomState) -> Clustered:
        """The best of `n_init` runs; whoever runs them side by side writes this instead."""
        runs = [self._cluster(data, random) for _ in range(self.n_init)]
        return min(runs, key=lambda run: run.objective)

    def _partition(self, masses: Any) -> CredalPartition:
        """The partition that masses stand for; masses of another kind have one of their own."""
        return CredalPartition(masses)

    def _keep_masses(self, masses: Any) -> None:
        self.masses_, self.focal_sets_ = masses.values, masses.focal_sets

    def _warn_if_unfinished(self, converged: bool) -> None:
        if not converged:
            warnings.warn(
                f"{type(self).__name__} should stop by itself, but reached its last iteration; "
                "raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _keep(self, run: Clustered) -> None:
        self._warn_if_unfinished(run.converged or run.stopped)
        self.partition_ = self._partition(run.masses)
        self._keep_masses(run.masses)
        self.labels_ = self.partition_.hard()
        self.objective_, self.history_ = run.objective, np.asarray(run.history)
        self.n_iter_, self.converged_ = max(len(self.history_) - 1, 0), run.converged
        for name, value in run.learned.items():
            setattr(self, name, value)

    @_if_new_items
    def predict_partition(self, X: ArrayLike) -> CredalPartition:
        """Credal partition of new items, with every kind of answer.

        Parameters
        ----------
        X : array-like (n, d)
        """
        check_is_fitted(self)
        return self._partition(self._masses(self._read(X, reset=False)))

    @_if_new_items
    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Cluster (n,) of new items with the best bet; -1 for outliers."""
        return self.predict_partition(X).hard()

    @_if_new_items
    def predict_mass(self, X: ArrayLike) -> SparseMasses:
        """Mass functions (n, F) of new items on sets of clusters."""
        return self.predict_partition(X).masses()

    @_if_new_items
    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Bets (n, c) on the clusters of new items, given that they are in one."""
        return self.predict_partition(X).probability

    @_if_new_items
    def predict_plausibility(self, X: ArrayLike) -> FloatArray:
        """Plausibility (n, c) of each cluster for new items."""
        return self.predict_partition(X).contour
