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
