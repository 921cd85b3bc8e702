"""The visits of EK-NNclus for many items, compiled; numba is imported here only.

A vector with a place for each label is touched at the labels of the neighbors alone, so that a
visit takes a time in proportion to their number, however many labels there are.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(nogil=True, cache=True)
def visit_items(
    starts: NDArray[Any],
    neighbors: NDArray[Any],
    weights: NDArray[Any],
    labels: NDArray[Any],
    order: NDArray[Any],
    waiting: NDArray[Any],
) -> tuple[int, float]:
    """One round of visits, as `eknnclus_visits.visit_items`: the same sums in the same order."""
    support = np.zeros(max(labels.max() + 1, 1))
    moves, gain = 0, 0.0
    for i in order:
        if not waiting[i]:
            continue
        waiting[i] = False
        first, end = starts[i], starts[i + 1]
        for place in range(first, end):
            support[labels[neighbors[place]]] += weights[place]
        own = labels[i]
        best, most = own, support[own]
        for place in range(first, end):
            label = labels[neighbors[place]]
            given = support[label]
            if given > most or (given == most and best != own and label < best):
                best, most = label, given
        has = support[own]
        for place in range(first, end):
            support[labels[neighbors[place]]] = 0.0
        if best != own:
            labels[i] = best
            moves += 1
            gain += most - has
            for place in range(first, end):
                waiting[neighbors[place]] = True
    return moves, gain


@numba.njit(nogil=True, cache=True)
def connected_parts(
    starts: NDArray[Any], neighbors: NDArray[Any], labels: NDArray[Any]
) -> NDArray[Any]:
    """Labels of the connected parts of clusters, as `eknnclus_graph.connected_parts`."""
    n = len(labels)
    parts = np.full(n, -1, np.int64)
    stack = np.empty(n, np.int64)
    count = 0
    for first in range(n):
        if parts[first] >= 0:
            continue
        parts[first], stack[0], size = count, first, 1
        while size > 0:
            size -= 1
            i = stack[size]
            for place in range(starts[i], starts[i + 1]):
                j = neighbors[place]
                if parts[j] < 0 and labels[j] == labels[i]:
                    parts[j], stack[size] = count, j
                    size += 1
        count += 1
    return parts


@numba.njit(nogil=True, cache=True)
def energy(
    starts: NDArray[Any], neighbors: NDArray[Any], weights: NDArray[Any], labels: NDArray[Any]
) -> float:
    """Energy of a partition, as `eknnclus_graph.energy`."""
    total = 0.0
    for i in range(len(labels)):
        for place in range(starts[i], starts[i + 1]):
            if labels[neighbors[place]] == labels[i]:
                total += weights[place]
    return -0.5 * total
