r"""The visits of EK-NNclus: item after item moves to the cluster that its neighbors speak for.

A move from cluster a to b changes the energy by :math:`u_a - u_b < 0`, so that it always falls. An
item none of whose neighbors moved since its last visit would stay: it is passed over, and the way
of the labels is the same as if it were not.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.cluster.eknnclus_graph import MANY_ITEMS, energy

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Settled(NamedTuple):
    """Labels at which visits ended, the energy at the start and after each round, and whether no
    item wanted to move any more.
    """  # noqa: D205

    labels: IntArray
    history: FloatArray
    converged: bool


def settle(
    graph: Any,
    labels: IntArray,
    random: np.random.RandomState,
    max_iter: int = 500,
    skip: bool = True,
    compiled: bool | None = None,
) -> Settled:
    """Visit all items in random order, again and again until none moves."""
    n = len(labels)
    labels, waiting = labels.astype(np.int64), np.ones(n, dtype=bool)
    visit = visit_items
    if n >= MANY_ITEMS if compiled is None else compiled:
        from plausible.cluster.eknnclus_compiled import visit_items as visit

        labels = labels.astype(np.int32)  # half of the cache
    names = np.arange(int(labels.max()) + 1)
    history = [energy(graph, labels, compiled)]
    for _ in range(max_iter):
        if not skip:
            waiting[:] = True
        kept, labels = _renumbered(labels)
        names = names[kept]
        order = random.permutation(n)
        moves, gain = visit(graph.indptr, graph.indices, graph.data, labels, order, waiting)
        history.append(history[-1] - gain)
        if moves == 0:
            break
    return Settled(names[labels], np.array(history), moves == 0)


def _renumbered(labels: Any) -> tuple[IntArray, Any]:
    """Labels that somebody has, and these in the same order without gaps: shorter tables."""
    is_there = np.zeros(int(labels.max()) + 1, dtype=bool)
    is_there[labels] = True
    return np.flatnonzero(is_there), (np.cumsum(is_there, dtype=labels.dtype) - 1)[labels]


def visit_items(
    starts: IntArray,
    neighbors: IntArray,
    weights: FloatArray,
    labels: IntArray,
    order: IntArray,
    waiting: BoolArray,
) -> tuple[int, float]:
    """One round of visits to items that wait; labels and waiting are changed in place.

    Who is content stays; otherwise the lowest of equal labels is taken. Gives the number of moves,
    and by how much the energy fell.
    """
    moves, gain = 0, 0.0
    for i in order.tolist():
        if not waiting[i]:
            continue
        waiting[i] = False
        near = neighbors[starts[i] : starts[i + 1]]
        if len(near) == 0:
            continue
        support = np.bincount(labels[near], weights[starts[i] : starts[i + 1]])
        best, own = int(support.argmax()), int(labels[i])
        has = float(support[own]) if own < len(support) else 0.0
        if support[best] > has:
            labels[i] = best
            waiting[near] = True
            moves += 1
            gain += float(support[best]) - has
    return moves, gain
