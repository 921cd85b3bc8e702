"""The visits of EK-NNclus for many items, compiled; numba is imported here only.

A vector with a place for each label is touched at the labels of the neighbors alone, so that a
visit takes a time in proportion to their number, however many labels there are. What compiles
slowly is left out: kernels make no arrays.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

_compile = numba.njit(nogil=True, cache=True)


def visit_items(
    starts: NDArray[Any],
    neighbors: NDArray[Any],
    weights: NDArray[Any],
    labels: NDArray[Any],
    order: NDArray[Any],
    waiting: NDArray[Any],
) -> tuple[int, float]:
    """One round of visits, as `eknnclus_visits.visit_items`: the same sums in the same order."""
    n_labels = max(int(labels.max(initial=0)) + 1, 1)
    support, met = np.zeros(n_labels), np.empty(n_labels, labels.dtype)
    found: tuple[int, float] = _visit(
        starts, neighbors, weights, labels, order, waiting, support, met
    )
    return found


@_compile
def _visit(starts, neighbors, weights, labels, order, waiting, support, met):  # type: ignore[no-untyped-def]  # pragma: no cover
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


def symmetric_rows(
    neighbors: NDArray[Any], weights: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Values, items and starts of `eknnclus_graph.symmetric_graph`, the items of a row unsorted."""
    n, k = neighbors.shape
    starts, items, turned = (
        np.zeros(n + 1, np.int64),
        np.empty(n * k, neighbors.dtype),
        np.empty(n * k),
    )
    _turn_lists(neighbors, weights, starts, np.empty(n, np.int64), items, turned)
    values, others = np.empty(2 * n * k), np.empty(2 * n * k, neighbors.dtype)
    rows, owner, where = np.zeros(n + 1, np.int64), np.full(n, -1), np.empty(n, np.int64)
    lists, places = (starts, items, turned), (owner, where)
    end = _join_lists(neighbors, weights, lists, places, values, others, rows)
    return values[:end].copy(), others[:end].copy(), rows


@_compile
def _turn_lists(neighbors, weights, starts, ends, items, turned):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Who has each item among their neighbors: where each list starts, its items, and weights."""
    n, k = neighbors.shape
    for i in range(n):
        for place in range(k):
            starts[neighbors[i, place] + 1] += 1
    for i in range(n):
        ends[i] = starts[i]
        starts[i + 1] += starts[i]
    for i in range(n):
        for place in range(k):
            j = neighbors[i, place]
            items[ends[j]], turned[ends[j]] = i, weights[i, place]
            ends[j] += 1


@_compile
def _join_lists(neighbors, weights, lists, places, values, others, rows):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Rows of half of each weight, and of half of each that comes back; where they end."""
    n, k = neighbors.shape
    starts, items, turned = lists
    owner, where = places
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
    return end


def connected_parts(
    starts: NDArray[Any], neighbors: NDArray[Any], labels: NDArray[Any]
) -> NDArray[Any]:
    """Labels of the connected parts of clusters, as `eknnclus_graph.connected_parts`."""
    parts = np.full(len(labels), -1)
    _number_parts(starts, neighbors, labels, parts, np.empty(len(labels), np.int64))
    return parts


@_compile
def _number_parts(starts, neighbors, labels, parts, stack):  # type: ignore[no-untyped-def]  # pragma: no cover
    count = 0
    for first in range(len(labels)):
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


@_compile
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
