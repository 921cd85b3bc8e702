r"""Evidential c-means with pairs of items that must, or cannot, be in one cluster.

.. math:: J(M, V) = J_{ECM}(M, V) + \frac{\xi}{1 - \xi} \, \frac{n \sigma^2}{L}
          \Big( \sum_{(i, j) \in must} pl_{ij}(different)
          + \sum_{(i, j) \in cannot} pl_{ij}(same) \Big)

with L links, the total variance :math:`\sigma^2` of the items, fuzzifier 2 and the weight
:math:`\xi` of constraints: up to a factor this is the criterion of Antoine et al., free of units.
It is lowered in turns: masses of items without links as in ECM; those of each linked item at their
exact optimum given the others (see `links`); centers, and metrics if they are learned, as in ECM.
Where that ends, groups of linked items try to move together (see `linked`).

References
----------
V. Antoine, B. Quost, M.-H. Masson, T. Denoeux, CECM: constrained evidential c-means algorithm,
Computational Statistics and Data Analysis 56 (2012) 894-914.
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.base import Clustered
from plausible.cluster.ecm import ECM, Items, ordered_rows, with_ridge
from plausible.cluster.focal_sets import FocalSets
from plausible.cluster.kernels import (
    Focal,
    Prototypes,
    Sums,
    lifted,
    masses_of,
    scatters,
    solve_prototypes,
    summarize,
)
from plausible.cluster.linked import (
    Linked,
    Solution,
    all_distances,
    led_by_links,
    regrouped,
    swept_at,
)
from plausible.cluster.links import LinkedClustering, Links, check_links, link_costs, wire
from plausible.cluster.prototypes import Problem, Spread, largest_first, sparse_masses
from plausible.engine import Callback
from plausible.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class LinkedState(NamedTuple):
    """Criterion and sums of a pass, and the solution that they were made with."""

    criterion: float
    sums: Sums
    solution: Solution


def summarize_linked(solution: Solution, linked: Linked, focal: Focal) -> LinkedState:
    """Criterion and sums over free items and linked ones."""
    prototypes, masses = solution
    free = summarize(linked.free, None, prototypes, focal)
    squared = masses**2
    costs = squared * all_distances(linked.X, prototypes, focal)
    weights = squared[:, focal.n_empty :] * focal.penalty
    squares = free.squares
    if prototypes.metrics is not None:
        squares = squares + scatters(linked.X, weights @ focal.averages)
    broken = linked.cost * float(link_costs(masses, linked.wiring).sum()) if len(masses) else 0.0
    sums = Sums(
        free.criterion - float(costs.sum()) - broken,
        free.weights + weights.sum(axis=0),
        free.points + weights.T @ linked.X,
        squares,
    )
    state = with_ridge(sums, prototypes, linked.ridge)
    return LinkedState(state.criterion, sums, solution)


def solve_linked(state: LinkedState, linked: Linked, focal: Focal) -> Solution:
    """The next prototypes, and masses of linked items that are better at these."""
    metrics = state.solution.prototypes.metrics
    prototypes = solve_prototypes(state.sums, metrics, focal, linked.ridge)
    return Solution(prototypes, swept_at(prototypes, state.solution.masses, linked, focal))


class CECM(LinkedClustering, ECM):
    r"""Evidential c-means under constraints: `ECM` with fuzzifier 2, and links between items.

    Parameters
    ----------
    n_clusters : int
    must_link, cannot_link : array-like (L, 2), optional
        Row numbers of pairs of items that must, or cannot, be in one cluster. `fit` takes them as
        well. Links are wishes: those that cannot all be met are met as well as possible.
    constraint_weight : float in [0, 1)
        Xi: what the links weigh in all, beside the distances; less where some may be wrong.
    cardinality_weight, outlier_distance, focal_sets, n_init, init, tol, max_iter, random_state,
    metric, verbose, callback : as in `ECM`

    Attributes
    ----------
    n_violated_ : int
        Links that the clusters with the best bets violate.
    cluster_centers_, metrics_, partition_, masses_, focal_sets_, labels_, objective_, history_,
    n_iter_, converged_, outlier_distance_ : as in `ECM`

    Notes
    -----
    Half of the starts follow the links: items that hang together by links are assigned one after
    the other, and centers are their means. New items have no links, and are placed as in `ECM`.

    Examples
    --------
    >>> X = [[-3.0, 0], [-1, 0], [1, 0], [3, 0], [-3, 2], [-1, 2], [1, 2], [3, 2]]
    >>> links = {"must_link": [[0, 3], [4, 7], [1, 2]], "cannot_link": [[0, 4], [2, 6], [1, 7]]}
    >>> CECM(2, random_state=0, **links).fit(X).partition_.fuzzy().argmax(axis=1)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
        constraint_weight: float = 0.8,
        cardinality_weight: float = 1.0,
        outlier_distance: float | str = "auto",
        focal_sets: FocalSets = "all",
        n_init: int = 10,
        init: str | ArrayLike = "k-means++",
        tol: float = 1e-8,
        max_iter: int = 1000,
        random_state: Any = None,
        metric: str = "euclidean",
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.must_link = must_link
        self.cannot_link = cannot_link
        self.constraint_weight = constraint_weight
        self.cardinality_weight = cardinality_weight
        self.outlier_distance = outlier_distance
        self.focal_sets = focal_sets
        self.n_init = n_init
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.metric = metric
        self.verbose = verbose
        self.callback = callback

    fuzzifier = 2.0  # with it, masses of linked items have a closed form

    def _fit_rows(self, rows: Any) -> Self:
        raise InputError(
            "CECM should be given items in memory",
            f"{type(rows).__name__} came, and links name rows in memory",
            "give an array, or use ECM",
            parameter="X",
        )

    def _check_options(self) -> None:
        super()._check_options()
        self._check_weight()

    def _problem(
        self, data: Items, focal: Focal, spread: Spread, random: np.random.RandomState
    ) -> Problem:
        links = check_links(*self._given, len(data.X))
        middle = data.X.mean(axis=0)
        rows = ordered_rows(data, middle)
        centered = data.X - middle
        wiring = wire(links, focal.sets)
        alone = np.ones(len(data.X), dtype=bool)
        alone[wiring.items] = False
        weight = self.constraint_weight / (1.0 - self.constraint_weight)
        cost = weight * spread.n_items * spread.variance / max(len(links), 1)
        linked = Linked(
            centered[wiring.items],
            lifted(centered[alone], None, None),
            wiring,
            cost,
            self._ridge(data, spread),
        )
        starts = self._starts(data.X, rows, middle, random)
        return Problem(
            summarize=lambda several: [summarize_linked(one, linked, focal) for one in several],
            solve=partial(solve_linked, linked=linked, focal=focal),
            starts=[self._start(k, one, linked, focal) for k, one in enumerate(starts)],
            conclude=lambda found: self._conclude(centered, middle, found, links, linked, focal),
            escape=partial(regrouped, linked=linked, focal=focal),
        )

    def _start(self, number: int, start: Prototypes, linked: Linked, focal: Focal) -> Solution:
        """Every second start follows the links, the first of them among these."""
        if number % 2 == 0 and len(linked.X) and isinstance(self.init, str):
            return led_by_links(linked, start, focal)
        masses = masses_of(linked.X, None, start, focal)
        return Solution(start, swept_at(start, masses, linked, focal))

    def _conclude(
        self, X: FloatArray, middle: FloatArray, found: Solution, links: Links, linked: Linked,
        focal: Focal,
    ) -> Clustered:  # fmt: skip
        """Masses of all items, those with links as they were found."""
        (centers, metrics), masses = found
        columns = np.arange(len(focal.sets))
        if self._may_reorder:
            sums = summarize_linked(found, linked, focal).sums
            order = largest_first(sums.weights, focal.averages)
            centers, metrics = centers[order], None if metrics is None else metrics[order]
            columns = _renamed_columns(focal.sets, order)
        values = masses_of(X, None, Prototypes(centers, metrics), focal)
        values[linked.wiring.items] = masses[:, columns]
        partition = sparse_masses(values, focal)
        learned = {
            "cluster_centers_": centers + middle,
            "metrics_": metrics,
            "n_violated_": n_violated(values, links, focal),
        }
        return Clustered(partition, 0.0, learned=learned)


def _renamed_columns(sets: IntArray, order: IntArray) -> IntArray:
    """Where the column of each set is when cluster k is called order[k] still."""
    place = {int(mask): number for number, mask in enumerate(sets)}
    return np.array([
        place[sum(1 << int(old) for new, old in enumerate(order) if int(mask) >> new & 1)]
        for mask in sets
    ])  # fmt: skip


def n_violated(values: FloatArray, links: Links, focal: Focal) -> int:
    """Links that the clusters with the best bets violate."""
    bets = values[:, focal.n_empty :] @ focal.averages
    cluster = bets.argmax(axis=1)[links.pairs]
    return int(((cluster[:, 0] == cluster[:, 1]) != links.must).sum())
