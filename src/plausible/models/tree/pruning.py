r"""Smaller trees from a grown one: minimal cost-complexity pruning, and the best leaves first.

The cost of a tree is the impurity of its leaves, weighted by their items. The weakest inner node t
is that where a leaf would cost least more for each leaf that is saved,

.. math:: \alpha(t) = \frac{R(t) - R(T_t)}{|T_t| - 1},

and it becomes a leaf first (L. Breiman et al., Classification and Regression Trees, 1984).
"""

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.models.tree.structure import LEAF, Tree

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class Path(NamedTuple):
    """How a tree shrinks.

    alphas : float (S,)
        Price of a leaf from which each smaller tree is best, 0 for the whole one.
    impurities : float (S,)
        Of the leaves of each tree, weighted.
    collapse : float (N,)
        Price from which each node is a leaf or gone; infinite for leaves of the whole tree.
    """

    alphas: FloatArray
    impurities: FloatArray
    collapse: FloatArray


def _node_costs(tree: Tree) -> FloatArray:
    """Impurity of each node, weighted by its share of the items."""
    return tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]


def parents(tree: Tree) -> NDArray[np.int64]:
    """Number of the parent of each node, -1 for the root."""
    inner = np.flatnonzero(~tree.is_leaf)
    parent = np.full(tree.node_count, LEAF)
    parent[tree.children_left[inner]] = parent[tree.children_right[inner]] = inner
    return parent


def pruning_path(tree: Tree) -> Path:
    """Turn the weakest node into a leaf, again and again, until the root is one."""
    own, parent = _node_costs(tree).tolist(), parents(tree).tolist()
    below, leaves = list(own), [1] * tree.node_count  # of the leaves under each node
    inner = np.flatnonzero(~tree.is_leaf).tolist()
    for node in reversed(inner):  # children come after their parents
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        below[node] = below[left] + below[right]
        leaves[node] = leaves[left] + leaves[right]

    def price(node: int) -> float:
        return (own[node] - below[node]) / (leaves[node] - 1)

    waiting = [(price(node), node) for node in inner]
    heapq.heapify(waiting)
    alphas, impurities = [0.0], [below[0]]
    collapse = np.full(tree.node_count, np.inf)
    while waiting and leaves[0] > 1:
        alpha, node = heapq.heappop(waiting)
        if leaves[node] == 1 or alpha != price(node):
            continue  # gone, or its price has changed since: another entry has it
        alphas.append(max(alpha, alphas[-1]))
        saved, more = leaves[node] - 1, own[node] - below[node]
        collapse[node] = alphas[-1]
        close(tree, node, leaves)
        while node != LEAF:
            leaves[node], below[node] = leaves[node] - saved, below[node] + more
            if leaves[node] > 1:
                heapq.heappush(waiting, (price(node), node))
            node = parent[node]
        impurities.append(below[0])
    return Path(np.array(alphas), np.array(impurities), collapse)


def close(tree: Tree, node: int, leaves: list[int]) -> None:
    """Mark what is below a node as gone."""
    stack = [int(tree.children_left[node]), int(tree.children_right[node])]
    while stack:
        below = stack.pop()
        if leaves[below] > 1:
            leaves[below] = 1
            stack += [int(tree.children_left[below]), int(tree.children_right[below])]


def prune(tree: Tree, ccp_alpha: float) -> Tree:
    """The tree that is left where a leaf has a price; a price of 0 changes nothing."""
    if ccp_alpha == 0.0 or tree.node_count == 1:
        return tree
    return tree.cut(pruning_path(tree).collapse <= ccp_alpha)


def keep_best_leaves(tree: Tree, max_leaf_nodes: int) -> Tree:
    """The tree grown best split first, until it has so many leaves."""
    if tree.n_leaves <= max_leaf_nodes:
        return tree
    cost = _node_costs(tree)
    is_leaf: BoolArray = np.ones(tree.node_count, dtype=bool)
    waiting = [(0.0, 0)]
    n_leaves = 1
    while n_leaves < max_leaf_nodes:
        _, node = heapq.heappop(waiting)
        is_leaf[node] = False
        n_leaves += 1
        for child in (tree.children_left[node], tree.children_right[node]):
            if not tree.is_leaf[child]:
                after = cost[tree.children_left[child]] + cost[tree.children_right[child]]
                heapq.heappush(waiting, (float(after - cost[child]), int(child)))
    return tree.cut(is_leaf)
