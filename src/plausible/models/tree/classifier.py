"""A decision tree whose leaves hold mass functions, learned from labels of any kind."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch, Tags
from sklearn.utils.validation import check_is_fitted

from plausible.base import MassClassifier, check_features, check_labels_and_weights
from plausible.belief import SparseMasses
from plausible.checks import random_from
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models.tree.growth import MODULUS, Settings, grow, use_compiled
from plausible.models.tree.parameters import settings_of, within_numbers
from plausible.models.tree.problem import Features, Knowledge, know, rank_features
from plausible.models.tree.pruning import keep_best_leaves, prune, pruning_path
from plausible.models.tree.structure import Tree

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Training(NamedTuple):
    """Rows to learn from, those that have weight, and which of all rows they are."""

    X: FloatArray
    labels: Labels
    weight: FloatArray
    kept: NDArray[np.bool_]


def training_of(model: Any, X: ArrayLike, y: Any, sample_weight: ArrayLike | None) -> Training:
    """Features, perhaps with NaN, labels and weights, checked."""
    data: FloatArray = check_features(model, X, dtype=np.float64, ensure_all_finite="allow-nan")
    labels, weight = check_labels_and_weights(model, y, sample_weight, len(data), X)
    kept = weight > 0.0
    if not kept.any():
        raise InputError(
            "At least one row should have a sample weight above zero",
            f"none of {len(data)} rows has",
            "give some rows a weight",
            parameter="sample_weight",
        )
    return Training(data[kept], labels[kept], np.array(weight[kept]), kept)


def grown_trees(
    model: Any,
    features: Features,
    knowledge: Knowledge,
    weights: FloatArray,
    settings: Settings,
    seeds: Sequence[int],
    fast: bool,
) -> list[Tree]:
    """Trees with the parameters of an estimator, before cost-complexity pruning; see `grow`."""
    scaled, inner, factor = within_numbers(weights, settings)
    trees = grow(features, knowledge, scaled, inner, seeds, fast)
    if factor != 1.0:
        held = [factor * tree.weighted_n_node_samples for tree in trees]
        trees = [
            replace(tree, weighted_n_node_samples=own)
            for tree, own in zip(trees, held, strict=True)
        ]
    if model.max_leaf_nodes is not None:
        trees = [keep_best_leaves(tree, model.max_leaf_nodes) for tree in trees]
    return trees


class TreeBased(MassClassifier):
    """Classifiers that take missing values as they are."""

    def _read(self, X: ArrayLike) -> Any:
        check_is_fitted(self)
        return check_features(self, X, dtype=np.float64, reset=False, ensure_all_finite="allow-nan")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class BeliefTreeClassifier(TreeBased):
    r"""Decision tree from labels of any kind, with a mass function at every leaf.

    A node believes the average of the masses of its items and one vacuous mass, so that a leaf of
    few items says so. A split is chosen for the least impurity (1 - w) nonspecificity + w discord
    of both sides: it should tell classes apart, and sets of classes from single ones.

    Parameters
    ----------
    discord_weight : float in [0, 1]
        The weight w (lambda) of discord, -sum m(A) log2 BetP(A), against nonspecificity,
        sum ``m(A) log2 |A|``. With 1, hard labels and no vacuous mass this is the entropy.
    max_depth : int, optional
    min_samples_split, min_samples_leaf : int, or float as a share of the rows
        Rows that a node needs to be split, and that each side needs.
    min_weight_fraction_leaf : float in [0, 0.5]
        Share of the total weight that each side of a split needs.
    max_features : int, float, {"sqrt", "log2"}, optional
        Features that are looked at in each node, drawn at random; all by default.
    random_state : int or RandomState, optional
        For `max_features`.
    max_leaf_nodes : int, optional
        The best splits first, until there are so many leaves.
    min_impurity_decrease : float
        Least decrease of impurity by a split, weighted by the node's share of the items. The
        vacuous mass makes small nodes less sure, so that a split can also increase impurity: 0 asks
        for a gain. A negative number lets a tree grow through splits that gain nothing at first,
        to be pruned.
    ccp_alpha : float
        Price of a leaf in cost-complexity pruning; see `cost_complexity_pruning_path`.
    vacuous_weight : float
        How many items the vacuous mass of each node counts for. Weights count items: with
        `sample_weight`, items that together weigh 3 are as sure as three items.

    Attributes
    ----------
    classes_ : array (K,)
    focal_sets_ : int array (F,)
        Sets of classes with a mass in some label, and the whole frame, as bit masks.
    tree_ : Tree
        The nodes, as arrays.
    feature_importances_ : array (d,)
    has_missing_ : bool array (d,)
        Features with missing values among those learned from.
    n_features_in_ : int

    Notes
    -----
    Missing values (NaN) go to the side where the split is better; where none were seen, to the
    heavier side. Ties between splits go to the first feature and the lowest threshold, so that the
    order of rows makes no difference.

    References
    ----------
    T. Denoeux, M. S. Bjanger, Induction of decision trees from partially classified data using
    belief functions, SMC 2000, 2923-2928.
    P. Vannoorenberghe, T. Denoeux, Handling uncertain labels in multiclass problems using belief
    decision trees, IPMU 2002, 1919-1926.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]
    >>> y = [{"a"}, {"a"}, {"a", "b"}, {"b"}, {"b"}, {"b", "c"}]
    >>> model = BeliefTreeClassifier().fit(X, y)
    >>> model.predict_mass([[0.0], [8.0]]).to_dicts(model.classes_.tolist())
    [{('a',): 0.5, ('a', 'b'): 0.25, ('a', 'b', 'c'): 0.25},
     {('b',): 0.5, ('b', 'c'): 0.25, ('a', 'b', 'c'): 0.25}]
    """

    def __init__(
        self,
        discord_weight: float = 0.5,
        *,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        vacuous_weight: float = 1.0,
    ) -> None:
        self.discord_weight = discord_weight
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.vacuous_weight = vacuous_weight

    def fit(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree, and prune it if leaves have a price.

        Parameters
        ----------
        X : array-like (n, d)
            NaN where a value is missing.
        y : Labels, or all that `as_labels` takes
            Masses count where they are given; of plausibilities, the least committed masses. Rows
            that say nothing count as vacuous ones.
        sample_weight : array-like (n,), optional
            How often each row counts.

        Returns
        -------
        self
        """
        self.tree_ = prune(self._grow(X, y, sample_weight), self.ccp_alpha)
        return self

    def _grow(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None) -> Tree:
        data, labels, weight, _ = training_of(self, X, y, sample_weight)
        settings = settings_of(self, len(data), data.shape[1], float(weight.sum()))
        features, (knowledge, focal_sets) = rank_features(data), know(labels)
        seed = random_from(self.random_state).randint(1, MODULUS)
        self.classes_, self.focal_sets_ = labels.classes, focal_sets
        self.has_missing_ = features.has_missing
        fast = use_compiled(features, knowledge)
        return grown_trees(self, features, knowledge, weight[None], settings, [seed], fast)[0]

    def cost_complexity_pruning_path(
        self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None = None
    ) -> Bunch:
        """Prices of a leaf at which the tree shrinks, and the impurity that is left.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        Bunch
            `ccp_alphas`, which rise from 0, and `impurities` of the leaves, one for each tree from
            the whole one to its root.

        Examples
        --------
        >>> X, y = [[1], [2], [3], [4], [5], [6], [7]], ["a", "a", "a", "b", "b", "b", "a"]
        >>> path = BeliefTreeClassifier().cost_complexity_pruning_path(X, y)
        >>> path.ccp_alphas.round(3), path.impurities.round(3)
        (array([0.   , 0.11 , 0.164]), array([0.22 , 0.329, 0.494]))
        """
        copy = type(self)(**self.get_params(deep=False))
        path = pruning_path(copy._grow(X, y, sample_weight))
        return Bunch(ccp_alphas=path.alphas, impurities=path.impurities)

    def apply(self, X: ArrayLike) -> IntArray:
        """Number (n,) of the leaf in which each row ends, a node of `tree_`."""
        return self.tree_.apply(self._read(X))

    def get_depth(self) -> int:
        """Depth of the tree; 0 if it is only a root."""
        check_is_fitted(self)
        return int(self.tree_.depth.max())

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> FloatArray:
        """Share (d,) of each feature in the decrease of impurity; zeros where nothing was split."""
        check_is_fitted(self)
        return self.tree_.importances(self.n_features_in_)

    def _masses(self, X: FloatArray) -> SparseMasses:
        masses, place = self.tree_.leaf_masses(X, len(self.focal_sets_))
        return SparseMasses(masses[place], self.focal_sets_, len(self.classes_))
