r"""Items that hang together by links: where they start, and moves that a group makes as one.

Given prototypes, the criterion of CECM is a sum over groups of items that hang together by links.
Improving one item after the other gets stuck where several would have to change clusters at once:
two that must be together, say, and are together in the wrong cluster. So each group is also tried
with its first item in each of the clusters, and what is lower is kept.
"""

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.cluster.kernels import Focal, Prototypes, lifted, place, weighted_distances
from plausible.cluster.links import Links, Wiring, link_costs, swept

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SWEEPS = 20  # over groups that were assigned anew; some five are enough
GAIN = 1e-9  # part of the criterion that a move should gain, or it is rounding


class Linked(NamedTuple):
    """Items with links, items without, which are lifted, and what violating a link costs."""

    X: FloatArray
    free: FloatArray
    wiring: Wiring
    cost: float
    ridge: float


class Solution(NamedTuple):
    """Prototypes, and masses (k, F) of the linked items."""

    prototypes: Prototypes
    masses: FloatArray


class Groups(NamedTuple):
    """Items that hang together, the most first, from neighbor to neighbor; the links of each."""

    members: list[list[int]]
    neighbors: list[dict[int, bool]]

    def numbers(self) -> IntArray:
        """The group of each item."""
        found = np.empty(len(self.neighbors), dtype=np.int64)
        for number, items in enumerate(self.members):
            found[items] = number
        return found


def all_distances(X: FloatArray, prototypes: Prototypes, focal: Focal) -> FloatArray:
    """Weighted distances (k, F) of items from all sets, the empty one first if it is there."""
    if not len(X):
        return np.empty((0, len(focal.sets)))
    places = place(prototypes, focal)
    D, _ = weighted_distances(lifted(X, None, prototypes.metrics), None, places, focal)
    return np.hstack([np.full((len(X), focal.n_empty), focal.outlier), D])


def swept_at(
    prototypes: Prototypes, masses: FloatArray, linked: Linked, focal: Focal
) -> FloatArray:
    """Masses of linked items, bettered one by one at given prototypes."""
    if not len(masses):
        return masses
    distances = all_distances(linked.X, prototypes, focal)
    return swept(masses, distances, linked.wiring, linked.cost)


def linked_groups(links: Links, n_items: int) -> Groups:
    """Groups of items that hang together by links."""
    neighbors: list[dict[int, bool]] = [{} for _ in range(n_items)]
    for (i, j), must in zip(links.pairs.tolist(), links.must.tolist(), strict=True):
        neighbors[i][j] = neighbors[j][i] = must
    seen: set[int] = set()
    groups = []
    for root in sorted(range(n_items), key=lambda item: -len(neighbors[item])):
        group, queue = [], deque([root])
        while queue:
            item = queue.popleft()
            if item not in seen:
                seen.add(item)
                group.append(item)
                queue.extend(neighbors[item])
        if group:
            groups.append(group)
    return Groups(sorted(groups, key=len, reverse=True), neighbors)


def assign(
    group: list[int], found: IntArray, apart: FloatArray, neighbors: list[dict[int, bool]]
) -> None:
    """A cluster for each item of a group, written into `found`, where -1 is none yet.

    Each item goes to a cluster that violates the fewest links to those before, the nearest of these
    by the distances `apart` (k, c).
    """
    clusters = np.arange(apart.shape[1])
    for item in group:
        broken = np.zeros(len(clusters))
        for other, must in neighbors[item].items():
            if found[other] >= 0:
                is_other = clusters == found[other]
                broken += ~is_other if must else is_other
        best = np.flatnonzero(broken == broken.min())
        found[item] = best[np.argmin(apart[item, best])]


def clusters_by_links(linked: Linked, centers: FloatArray) -> tuple[IntArray, FloatArray]:
    """A cluster (k,) for each linked item that violates few links, and the means of clusters.

    Groups are taken one after the other, the largest first. Centers follow after each: a large one
    tells where the others belong.
    """
    centers = centers.copy()
    found = np.full(len(linked.X), -1)
    groups = linked_groups(linked.wiring.links, len(linked.X))
    for group in groups.members:
        apart = ((linked.X[:, None] - centers) ** 2).sum(axis=2)
        assign(group, found, apart, groups.neighbors)
        for k in range(len(centers)):
            if (found == k).any():
                centers[k] = linked.X[found == k].mean(axis=0)
    return found, centers


def sure_masses(clusters: IntArray, focal: Focal) -> FloatArray:
    """Masses (k, F), all on one cluster; on the last set where it cannot have mass alone."""
    masses = np.zeros((len(clusters), len(focal.sets)))
    column = {int(mask): number for number, mask in enumerate(focal.sets)}
    masses[np.arange(len(clusters)), [column.get(1 << int(k), -1) for k in clusters]] = 1.0
    return masses


def led_by_links(linked: Linked, start: Prototypes, focal: Focal) -> Solution:
    """A start whose centers are the means of linked items, assigned as links say."""
    found, centers = clusters_by_links(linked, start.centers)
    prototypes = Prototypes(centers, start.metrics)
    masses = sure_masses(found, focal)
    return Solution(prototypes, swept_at(prototypes, masses, linked, focal))


def regrouped(solution: Solution, linked: Linked, focal: Focal) -> Solution | None:
    """The same prototypes, with groups of linked items that are better elsewhere; None if none is.

    Each group is assigned anew with its first item in each cluster.
    """
    prototypes, masses = solution
    if not len(masses):
        return None
    groups = linked_groups(linked.wiring.links, len(linked.X))
    number = groups.numbers()
    distances = all_distances(linked.X, prototypes, focal)
    apart = distances_to_clusters(distances, focal)
    lowest = costs_of_groups(masses, distances, linked, number)
    least = GAIN * lowest.sum()
    chosen = masses
    for cluster in range(apart.shape[1]):
        found = np.full(len(masses), -1)
        for group in groups.members:
            found[group[0]] = cluster
            assign(group[1:], found, apart, groups.neighbors)
        tried = sure_masses(found, focal)
        for _ in range(SWEEPS):
            tried = swept(tried, distances, linked.wiring, linked.cost)
        costs = costs_of_groups(tried, distances, linked, number)
        better = costs < lowest - least
        lowest = np.where(better, costs, lowest)
        chosen = np.where(better[number][:, None], tried, chosen)
    return (
        None if chosen is masses or np.array_equal(chosen, masses) else Solution(prototypes, chosen)
    )


def distances_to_clusters(distances: FloatArray, focal: Focal) -> FloatArray:
    """Of the weighted distances (k, F), those to single clusters; infinite where there is none."""
    found = np.full((len(distances), focal.averages.shape[1]), np.inf)
    for column, mask in enumerate(focal.sets.tolist()):
        if mask.bit_count() == 1:
            found[:, mask.bit_length() - 1] = distances[:, column]
    return found


def costs_of_groups(
    masses: FloatArray, distances: FloatArray, linked: Linked, number: IntArray
) -> FloatArray:
    """What each group adds to the criterion."""
    by_item = np.bincount(number, (masses**2 * distances).sum(axis=1))
    pairs = linked.wiring.links.pairs
    by_link = linked.cost * link_costs(masses, linked.wiring)
    return np.asarray(by_item + np.bincount(number[pairs[:, 0]], by_link, len(by_item)))
