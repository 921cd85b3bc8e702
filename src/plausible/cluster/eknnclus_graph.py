r"""The graph of EK-NNclus: how strongly two items say that they are in one cluster.

.. math:: \alpha_{ij} = e^{-\gamma d_{ij}^2} \text{ for neighbors}, \qquad
          v_{ij} = -\ln(1 - \alpha_{ij}).

Who is near is not always mutual. The energy, a sum over pairs, only sees the mean of both
directions, :math:`(v_{ij} + v_{ji}) / 2`, and is sure to fall with these weights alone.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from plausible.neighbors import Lists

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MANY_ITEMS = 10_000  # from which compiled loops pay for their start
MAX_MASS = 1.0 - 1e-6  # of items at one point, whose weight would be infinite


def rule_of_thumb(n: int) -> int:
    """Neighbors for n items: three times the square root of n, as the paper goes up to."""
    return max(1, min(int(3.0 * np.sqrt(n)), n - 1))


def gamma_of_quantile(squares: FloatArray, quantile: float) -> float:
    """One over a quantile of squared distances; where that is zero, over the smallest that is not.

    With items at one point only, every gamma does the same.
    """
    typical = float(np.quantile(squares, quantile))
    if typical > 0.0:
        return 1.0 / typical
    positive = squares[squares > 0.0]
    return 1.0 / float(positive.min()) if positive.size else 1.0


def weights_of(squares: FloatArray, gamma: float) -> FloatArray:
    """Weights of squared distances, with a bound for items at one point."""
    with np.errstate(over="ignore"):
        mass = np.multiply(squares, -gamma)  # one large array for all steps
    np.exp(mass, out=mass)
    np.minimum(mass, MAX_MASS, out=mass)
    np.negative(mass, out=mass)
    np.log1p(mass, out=mass)
    return np.negative(mass, out=mass)


def lists_as_table(lists: Lists, gamma: float, n_items: int) -> Any:
    """Weights of the neighbors of each row, csr array (n, items)."""
    n, k = lists.neighbors.shape
    weights = weights_of(lists.squares, gamma)
    return sparse.csr_array(
        (weights.ravel(), lists.neighbors.ravel(), k * np.arange(n + 1)), shape=(n, n_items)
    )


def symmetric_graph(lists: Lists, gamma: float, compiled: bool | None = None) -> Any:
    """Weights between items, symmetric csr array (n, n) without zeros."""
    n = len(lists.neighbors)
    if n >= MANY_ITEMS if compiled is None else compiled:
        from plausible.cluster import eknnclus_compiled as quick

        neighbors = lists.neighbors.astype(np.int32)
        values, items, rows = quick.symmetric_rows(neighbors, weights_of(lists.squares, gamma))
        rows = (
            rows.astype(np.int32) if len(values) < 2**31 else rows
        )  # else a copy of items is made
        return sparse.csr_array((values, items, rows), shape=(n, n))
    one_way = lists_as_table(lists, gamma, n)
    graph = sparse.csr_array(one_way + one_way.T.tocsr())
    graph.data *= 0.5
    graph.eliminate_zeros()
    return graph


def evidence_for_clusters(weights: Any, labels: IntArray, n_clusters: int) -> Any:
    """Sums of weights by the cluster of the neighbor, csr array (n, c) without zeros."""
    n = len(labels)
    members = sparse.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, n_clusters))
    evidence = sparse.csr_array(weights @ members)
    evidence.eliminate_zeros()
    evidence.sort_indices()
    return evidence


def connected_parts(graph: Any, labels: IntArray, compiled: bool | None = None) -> IntArray:
    """Labels of the connected parts of clusters, numbered as they first appear."""
    n = len(labels)
    if n >= MANY_ITEMS if compiled is None else compiled:
        from plausible.cluster import eknnclus_compiled as quick

        return np.asarray(quick.connected_parts(graph.indptr, graph.indices, labels))
    row = np.repeat(np.arange(n), np.diff(graph.indptr))
    within = labels[row] == labels[graph.indices]
    inner = sparse.csr_array((within[within], (row[within], graph.indices[within])), shape=(n, n))
    _, parts = sparse.csgraph.connected_components(inner, directed=False)
    _, first, place = np.unique(parts, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[place].astype(np.int64)


def energy(graph: Any, labels: IntArray, compiled: bool | None = None) -> float:
    """Energy of a partition: minus the weight within clusters, each pair counted once."""
    if len(labels) >= MANY_ITEMS if compiled is None else compiled:
        from plausible.cluster import eknnclus_compiled as quick

        return float(quick.energy(graph.indptr, graph.indices, graph.data, labels))
    row = np.repeat(np.arange(len(labels)), np.diff(graph.indptr))
    return -0.5 * float(graph.data[labels[row] == labels[graph.indices]].sum())
