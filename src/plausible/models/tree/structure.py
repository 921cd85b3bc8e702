"""A grown tree as plain arrays, one entry for each node, in the order of a walk left to right."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from plausible.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LEAF = -1
NODE_ARRAYS = (
    "children_left", "children_right", "feature", "threshold", "missing_go_to_left", "impurity",
    "n_node_samples", "weighted_n_node_samples",
)  # fmt: skip
WHOLE_OF_NODES = ("children_left", "children_right", "feature")


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes of a tree; 0 is the root, and children come after their parents.

    Attributes
    ----------
    children_left, children_right : int (N,)
        Numbers of the children, -1 at a leaf.
    feature : int (N,)
        Number of the feature that is asked about, -1 at a leaf.
    threshold : float (N,)
        Items with a value up to this go left; NaN at a leaf. Infinity: all that have a value do.
    missing_go_to_left : bool (N,)
        Where items go whose value is missing.
    impurity : float (N,)
        In bits.
    n_node_samples : int (N,)
    weighted_n_node_samples : float (N,)
    mass_start, mass_column, mass_value : int (N + 1,), int (M,), float (M,)
        Mass functions of the nodes, without zeros: that of node t has the columns of `focal_sets_`
        and the values from mass_start[t] up to mass_start[t + 1]. `masses` writes them out.
    """

    children_left: IntArray
    children_right: IntArray
    feature: IntArray
    threshold: FloatArray
    missing_go_to_left: NDArray[np.bool_]
    impurity: FloatArray
    n_node_samples: IntArray
    weighted_n_node_samples: FloatArray
    mass_start: IntArray
    mass_column: IntArray
    mass_value: FloatArray

    @property
    def node_count(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.feature)

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether each node is a leaf."""
        return np.asarray(self.children_left == LEAF)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    @property
    def depth(self) -> IntArray:
        """Depth (N,) of each node, 0 for the root."""
        depth = np.zeros(self.node_count, dtype=np.int64)
        for node in np.flatnonzero(~self.is_leaf):  # parents come first
            depth[[self.children_left[node], self.children_right[node]]] = depth[node] + 1
        return depth

    def check(self, n_features: int) -> None:
        """Refuse nodes that lead nowhere, or around: files can be forged."""
        n_nodes = np.size(self.feature)
        shapes = {np.shape(getattr(self, name)) for name in NODE_ARRAYS}
        if n_nodes == 0 or shapes != {(n_nodes,)} or not self._are_whole(WHOLE_OF_NODES):
            raise _forged_nodes(n_features)
        inner = np.flatnonzero(self.feature != LEAF)
        children = np.stack([self.children_left[inner], self.children_right[inner]])
        ahead = (children > inner).all() and (children < self.node_count).all()
        asked = self.feature[inner]
        if not ahead or (asked < 0).any() or (asked >= n_features).any():
            raise _forged_nodes(n_features)

    def check_masses(self, n_sets: int) -> None:
        """Refuse masses of other sets: scipy would write them beyond the end of a table."""
        start, column = np.asarray(self.mass_start), np.asarray(self.mass_column)
        is_good = (
            self._are_whole(("mass_start", "mass_column"))
            and start.shape == (self.node_count + 1,)
            and column.shape == np.shape(self.mass_value) == (start[-1],)
            and start[0] == 0
            and bool((np.diff(start) >= 0).all())
            and bool(((column >= 0) & (column < n_sets)).all())
        )
        if not is_good:
            raise InputError(
                f"Each node of a tree should have masses of some of {n_sets} focal sets",
                "some nodes do not",
                "fit the tree again",
            )

    def _are_whole(self, names: Iterable[str]) -> bool:
        """Whether some arrays hold whole numbers."""
        return all(np.asarray(getattr(self, name)).dtype.kind == "i" for name in names)

    def apply(self, X: FloatArray, fast: bool = False) -> IntArray:
        """Leaf (n,) in which each row of features ends."""
        self.check(X.shape[1])
        if fast:
            from plausible.models.tree.walk_compiled import apply_compiled

            return apply_compiled(self, X)
        node = np.zeros(len(X), dtype=np.int64)
        moving = np.arange(len(X)) if self.node_count > 1 else np.arange(0)
        while len(moving):
            at = node[moving]
            value = X[moving, self.feature[at]]
            left = np.where(
                np.isnan(value), self.missing_go_to_left[at], value <= self.threshold[at]
            )
            following = np.where(left, self.children_left[at], self.children_right[at])
            node[moving] = following
            moving = moving[self.feature[following] != LEAF]
        return node

    def masses(self, nodes: IntArray, n_sets: int) -> FloatArray:
        """Mass functions (len(nodes), F) of some nodes."""
        self.check_masses(n_sets)
        shape = (self.node_count, n_sets)
        table = sparse.csr_array((self.mass_value, self.mass_column, self.mass_start), shape=shape)
        return table[nodes].toarray()

    def leaf_masses(
        self, X: FloatArray, n_sets: int, fast: bool = False
    ) -> tuple[FloatArray, IntArray]:
        """Mass functions (L, F) of the leaves in which rows end, and which (n,) is whose."""
        at = self.apply(X, fast)
        leaves = np.flatnonzero(np.bincount(at, minlength=self.node_count))
        place = np.empty(self.node_count, dtype=np.int64)
        place[leaves] = np.arange(len(leaves))
        return self.masses(leaves, n_sets), place[at]

    def importances(self, n_features: int) -> FloatArray:
        """Decrease of impurity (d,) by splits on each feature, as a share of all; zeros if none."""
        split = np.flatnonzero(~self.is_leaf)
        left, right = self.children_left[split], self.children_right[split]
        total = self.weighted_n_node_samples / self.weighted_n_node_samples[0]
        cost = self.impurity * total
        gain = cost[split] - cost[left] - cost[right]
        found = np.bincount(self.feature[split], gain, n_features).astype(np.float64)
        return found / found.sum() if found.sum() > 0.0 else np.zeros(n_features)

    def cut(self, is_leaf: NDArray[np.bool_]) -> "Tree":
        """The tree in which some inner nodes are leaves, renumbered."""
        kept = np.ones(self.node_count, dtype=bool)
        ends = is_leaf | self.is_leaf
        for node in np.flatnonzero(~self.is_leaf):
            stays = kept[node] and not ends[node]
            kept[[self.children_left[node], self.children_right[node]]] = stays
        number = np.cumsum(kept) - 1
        inner = ~ends[kept]
        arrays: dict[str, Any] = {name: getattr(self, name)[kept] for name in NODE_ARRAYS}
        for name in ("children_left", "children_right"):
            arrays[name] = np.where(inner, number[arrays[name]], LEAF)
        arrays["feature"] = np.where(inner, arrays["feature"], LEAF)
        arrays["threshold"] = np.where(inner, arrays["threshold"], np.nan)
        arrays["missing_go_to_left"] = arrays["missing_go_to_left"] & inner
        entries = np.repeat(kept, np.diff(self.mass_start))
        lengths = np.diff(self.mass_start)[kept]
        arrays["mass_start"] = np.concatenate([[0], np.cumsum(lengths)])
        arrays["mass_column"] = self.mass_column[entries]
        arrays["mass_value"] = self.mass_value[entries]
        return Tree(**arrays)


def _forged_nodes(n_features: int) -> InputError:
    return InputError(
        "The nodes of a tree should lead from parents to children that come later, and ask "
        f"about one of {n_features} features",
        "some do not",
        "fit the tree again",
    )
