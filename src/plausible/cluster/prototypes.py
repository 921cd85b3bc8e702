"""What clusterings around centers share: parameters, starts, the loop, and the order of clusters.

A clustering writes `_problem`, which says how a pass over the items is made and where starts are.
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from plausible.base import Clustered, CredalClustering
from plausible.belief import SparseMasses
from plausible.checks import check_callable, check_number, check_verbose, check_whole, counted
from plausible.cluster.focal_sets import FocalSets, focal_sets_of
from plausible.cluster.kernels import Focal, make_focal
from plausible.engine import Callback, InterruptedFitWarning, Result, maximize, reporter
from plausible.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


ESCAPES = 10  # from minima that single steps do not leave; one or two are usual
FAR = 2.0  # standard deviations; of one round cluster in the plane, 2 % of the items are farther


class Spread(NamedTuple):
    """How far items are from each other: their number, and their total variance."""

    n_items: int
    variance: float


class Problem(NamedTuple):
    """What is minimized, as far as the loop is concerned.

    summarize : from a list of parameters to a list of statistics
    solve : from statistics to the next parameters
    starts : list of parameters
    conclude : from the best parameters to the run
    escape : from the best parameters to better ones that steps do not reach; None if there are none
    """

    summarize: Callable[[list[Any]], list[Any]]
    solve: Callable[[Any], Any]
    starts: list[Any]
    conclude: Callable[[Any], Any]
    escape: Callable[[Any], Any] = lambda _: None


class PrototypeClustering(CredalClustering):
    """Base of clusterings around centers.

    Examples
    --------
    >>> from plausible.cluster import ECM
    >>> isinstance(ECM(2), PrototypeClustering)
    True
    """

    n_clusters: int
    cardinality_weight: float
    fuzzifier: float
    outlier_distance: float | str
    focal_sets: FocalSets
    init: Any
    tol: float
    max_iter: int
    verbose: int
    callback: Callback | None

    def _problem(
        self, data: Any, focal: Focal, spread: Spread, random: np.random.RandomState
    ) -> Problem:
        raise NotImplementedError

    def _spread(self, data: Any) -> Spread:
        raise NotImplementedError

    def _best(self, data: Any, random: np.random.RandomState) -> Clustered:
        self._check_options()
        spread = self._spread(data)
        self._check_count(spread)
        focal = self._focal(spread)
        problem = self._problem(data, focal, spread, random)
        found = self._minimized(problem, spread)
        run = problem.conclude(found.parameters)
        return run._replace(
            objective=-found.criterion,
            history=-found.history,
            converged=found.converged,
            stopped=self._was_stopped(found),
        )

    def _check_count(self, spread: Spread) -> None:
        if spread.n_items < self.n_clusters:
            raise InputError(
                f"There should be at least n_clusters={self.n_clusters} items",
                f"n_samples={spread.n_items}",
                "give more items, or ask for fewer clusters",
                parameter="n_clusters",
                value=self.n_clusters,
            )

    def _minimized(self, problem: Problem, spread: Spread) -> Result:
        """The lowest point that is found; whether it converged is told by the base."""
        found = self._descended(problem, spread)
        for _ in range(ESCAPES):
            done = not found.converged or found.interrupted
            better = None if done else problem.escape(found.parameters)
            if better is None:
                break
            more = self._descended(problem._replace(starts=[better]), spread)
            history = np.append(found.history, more.history)
            found = replace(more, history=history, n_iter=len(history) - 1)
        if found.interrupted:
            warnings.warn(
                f"The fit was interrupted after {counted(found.n_iter, 'iteration')}; the best so "
                "far is kept, and may be far from the end.",
                InterruptedFitWarning,
                stacklevel=5,
            )
        return found

    def _descended(self, problem: Problem, spread: Spread) -> Result:
        """The lowest point that the loop finds."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return maximize(
                problem.summarize,
                problem.solve,
                problem.starts,
                n_rows=spread.n_items * (spread.variance or 1.0),
                tol=self.tol,
                max_iter=self.max_iter,
                callback=self._watch(),
            )

    def _watch(self) -> Callback | None:
        """Who is told of progress, of the objective in the place of what the loop maximizes."""
        say = reporter(self.verbose, type(self).__name__, self.callback)
        if say is None:
            return None
        return lambda progress: say(replace(progress, criterion=-progress.criterion))

    def _was_stopped(self, found: Result) -> bool:
        """Whether it ended because somebody wanted it to."""
        by_callback = self.callback is not None and found.n_iter < self.max_iter
        return found.interrupted or (by_callback and not found.converged)

    def _check_options(self) -> None:
        check_whole(self.n_clusters, "n_clusters", 1)
        check_number(self.cardinality_weight, "cardinality_weight", 0.0)
        check_number(self.tol, "tol", 0.0)
        check_whole(self.max_iter, "max_iter", 1)
        check_verbose(self.verbose)
        if self.callback is not None:
            check_callable(self.callback, "callback", "the progress")
        if not check_number(self.fuzzifier, "fuzzifier") > 1.0:
            raise InputError(
                "fuzzifier should be greater than 1",
                f"is {self.fuzzifier}",
                "use 2, or less for masses nearer to 0 and 1",
                parameter="fuzzifier",
                value=self.fuzzifier,
            )
        distance = self.outlier_distance
        if not (isinstance(distance, str) and distance == "auto") and not (
            _is_number(distance) and float(distance) > 0.0
        ):
            raise InputError(
                "outlier_distance should be a positive number or 'auto'",
                f"is {distance!r}",
                "give the distance from all centers beyond which an item is an outlier",
                parameter="outlier_distance",
                value=distance,
            )

    def _focal(self, spread: Spread) -> Focal:
        """Sets of clusters with their costs; keeps the distance that "auto" stands for."""
        sets = focal_sets_of(self.focal_sets, self.n_clusters)
        if self.outlier_distance == "auto":
            distance = FAR * float(np.sqrt(spread.variance)) or 1.0
        else:
            distance = float(self.outlier_distance)
        self.outlier_distance_ = distance
        return make_focal(sets, self.n_clusters, self.cardinality_weight, self.fuzzifier, distance)

    @property
    def _may_reorder(self) -> bool:
        """Whether the numbers of clusters mean nothing yet."""
        return isinstance(self.init, str) and isinstance(self.focal_sets, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and np.isfinite(value)


def largest_first(weights: FloatArray, averages: FloatArray) -> IntArray:
    """Clusters by what is assigned to them alone, or to sets with them if to none alone."""
    single = (averages == 1.0).any(axis=1)
    used = weights @ averages if not single.any() else (weights * single) @ averages
    return np.argsort(-used, kind="stable")


def sparse_masses(values: ArrayLike, focal: Focal) -> SparseMasses:
    """Masses in the form of the library."""
    return SparseMasses(np.asarray(values), focal.sets, focal.averages.shape[1])
