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
    n_labels = max(labels.max() + 1, 1)
    support, met = np.zeros(n_labels), np.empty(n_labels, labels.dtype)
    moves, gain = 0, 0.0
    for i in order:
        if not waiting[i]:
            continue
        waiting[i] = False
        first, end = starts[i], starts[i + 1]
        n_met = 0
        for place in range(first, end):
            label = labels[neighbors[place]]
            if support[label] == 0.0:
                met[n_met] = label
                n_met += 1
            support[label] += weights[place]
        own = labels[i]
        best, most = own, support[own]
        has = most
        for number in range(n_met):
            label = met[number]
            given = support[label]
            if given > most or (given == most and best != own and label < best):
                best, most = label, given
            support[label] = 0.0
        if best != own:
            labels[i] = best
            moves += 1
            gain += most - has
            for place in range(first, end):
                waiting[neighbors[place]] = True
    return moves, gain


@numba.njit(nogil=True, cache=True)
def _lists_turned(
    neighbors: NDArray[Any], weights: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Who has each item among their neighbors: where each list starts, its items, and weights."""
    n, k = neighbors.shape
    starts = np.zeros(n + 1, np.int64)
    for i in range(n):
        for j in neighbors[i]:
            starts[j + 1] += 1
    for i in range(n):
        starts[i + 1] += starts[i]
    items, turned = np.empty(n * k, neighbors.dtype), np.empty(n * k)
    ends = starts[:-1].copy()
    for i in range(n):
        for place in range(k):
            j = neighbors[i, place]
            items[ends[j]], turned[ends[j]] = i, weights[i, place]
            ends[j] += 1
    return starts, items, turned


@numba.njit(nogil=True, cache=True)
def symmetric_rows(
    neighbors: NDArray[Any], weights: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Values, items and starts of `eknnclus_graph.symmetric_graph`, the items of a row unsorted."""
    n, k = neighbors.shape
    starts, items, turned = _lists_turned(neighbors, weights)
    values, others = np.empty(2 * n * k), np.empty(2 * n * k, neighbors.dtype)
    rows = np.zeros(n + 1, np.int64)
    owner, where = np.full(n, -1, np.int64), np.empty(n, np.int64)
    end = 0
    for i in range(n):
        for place in range(k):
            if weights[i, place] > 0.0:
                j = neighbors[i, place]
                values[end], others[end] = 0.5 * weights[i, place], j
                owner[j], where[j] = i, end
                end += 1
        for place in range(starts[i], starts[i + 1]):
            j = items[place]
            if owner[j] == i:
                values[where[j]] += 0.5 * turned[place]
            elif turned[place] > 0.0:
                values[end], others[end] = 0.5 * turned[place], j
                end += 1
        rows[i + 1] = end
    return values[:end].copy(), others[:end].copy(), rows


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
