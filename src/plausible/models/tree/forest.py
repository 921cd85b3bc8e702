"""A forest of belief trees, each grown on a sample of rows and asked about few features a time."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from plausible.belief import SparseMasses, pignistic
from plausible.checks import (
    check_flag,
    check_n_jobs,
    check_number,
    check_option,
    check_whole,
    random_from,
)
from plausible.errors import InputError
from plausible.metrics import soft_accuracy
from plausible.models.tree.bags import (
    Kinds,
    bag_size,
    batches_of_trees,
    draw_bag,
    intersections,
    kinds_of_rows,
    log_commonalities,
    masses_of_commonalities,
)
from plausible.models.tree.classifier import (
    BeliefTreeClassifier,
    Training,
    TreeBased,
    grown_trees,
    training_of,
)
from plausible.models.tree.growth import MODULUS, Settings, use_compiled
from plausible.models.tree.parameters import settings_of
from plausible.models.tree.problem import Features, Knowledge, know, rank_features
from plausible.models.tree.pruning import prune
from plausible.models.tree.structure import Tree

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

COMBINATIONS = ("mean", "dempster")
TREES_AT_ONCE = 8  # whose masses are added up in one task, whatever the number of tasks
MANY_STEPS = 2_000_000  # rows times trees from which compiled walks pay
OF_TREES = (
    "discord_weight", "max_depth", "min_samples_split", "min_samples_leaf",
    "min_weight_fraction_leaf", "max_features", "max_leaf_nodes", "min_impurity_decrease",
    "ccp_alpha", "vacuous_weight",
)  # fmt: skip


class OutOfBagWarning(UserWarning):
    """Some rows are in the bag of every tree, so that no tree can judge them.

    Examples
    --------
    >>> issubclass(OutOfBagWarning, UserWarning)
    True
    """


def _grow_in_bags(
    forest: Any,
    features: Features,
    knowledge: Knowledge,
    kinds: Kinds,
    n_draws: int | None,
    settings: Settings,
    fast: bool,
    seeds: list[tuple[int, int]],
) -> list[tuple[Tree, NDArray[np.bool_]]]:
    """Some trees of a forest, grown together, and which kinds of rows each has not seen."""
    weights = np.array(
        [kinds.weight if n_draws is None else draw_bag(kinds, n_draws, seed) for seed, _ in seeds]
    )
    total = float(weights[0].sum())  # that of each bag
    lightest = settings.min_weight_leaf * total / settings.total
    inner = settings._replace(total=total, min_weight_leaf=lightest)
    own = [seed for _, seed in seeds]
    trees = grown_trees(forest, features, knowledge, weights, inner, own, fast)
    pruned = [prune(tree, forest.ccp_alpha) for tree in trees]
    return list(zip(pruned, weights == 0.0, strict=True))


class BeliefForestClassifier(TreeBased):
    """Belief trees grown on samples of the rows, whose mass functions are combined.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    discord_weight, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf,
    max_features, max_leaf_nodes, min_impurity_decrease, ccp_alpha, vacuous_weight
        Of each tree, as in `BeliefTreeClassifier`; rows that are the same count as one.
    bootstrap : bool
        Whether each tree learns from a sample of the rows, drawn with replacement.
    max_samples : int or float, optional
        Rows in each sample: a number, or a share of all, counted by their weights; all by default.
    oob_score : bool
        Whether to find out what trees believe about the rows that they have not seen.
    combination : {"mean", "dempster"}
        How the masses of the trees become one: their mean, which keeps the doubt of the labels, or
        Dempster's rule on masses that are doubted first, which answers more sharply. Trees learn
        from the same labels and are not independent: the rule is too sure unless doubt is large.
    doubt : float in (0, 1]
        Of each tree, for Dempster's rule.
    random_state : int or RandomState, optional
    n_jobs : int, optional
        Trees that grow at the same time, in threads; it does not change the result.

    Attributes
    ----------
    classes_ : array (K,)
    focal_sets_ : int array (F,)
        Sets of classes, as bit masks, that can have a mass.
    estimators_ : list of BeliefTreeClassifier
    feature_importances_ : array (d,)
        Mean of those of the trees.
    oob_masses_ : SparseMasses (n, F)
        What trees that have not seen a row believe about it, if `oob_score` is true. Rows that no
        tree left out, and rows without weight, have a vacuous mass.
    oob_score_ : float
        Soft accuracy of the bets on such rows.

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> X = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]
    >>> y = Labels.from_doubt(["a", "a", "b", "b", "b", "b"], doubt=[0, 0, 0.8, 0, 0, 0])
    >>> model = BeliefForestClassifier(20, random_state=0).fit(X, y)
    >>> model.predict([[1.5], [8.5]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        n_estimators: int = 100,
        discord_weight: float = 0.5,
        *,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        max_samples: float | None = None,
        oob_score: bool = False,
        combination: str = "mean",
        doubt: float = 0.9,
        n_jobs: int | None = None,
        random_state: Any = None,
        ccp_alpha: float = 0.0,
        vacuous_weight: float = 1.0,
    ) -> None:
        self.n_estimators = n_estimators
        self.discord_weight = discord_weight
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.combination = combination
        self.doubt = doubt
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.ccp_alpha = ccp_alpha
        self.vacuous_weight = vacuous_weight

    def fit(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like (n, d)
            NaN where a value is missing.
        y : Labels, or all that `as_labels` takes
        sample_weight : array-like (n,), optional
            How often each row counts: a row of weight two is drawn like two rows.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows = training_of(self, X, y, sample_weight)
        features, (knowledge, focal_sets) = rank_features(rows.X), know(rows.labels)
        kinds = kinds_of_rows(features, knowledge, rows.weight)
        settings = settings_of(self, len(kinds.first), rows.X.shape[1], float(rows.weight.sum()))
        n_draws = bag_size(self.max_samples, settings.total) if self.bootstrap else None
        self.classes_ = rows.labels.classes
        self.focal_sets_ = focal_sets if self.combination == "mean" else intersections(focal_sets)
        distinct = features._replace(codes=np.ascontiguousarray(features.codes[:, kinds.first]))
        known = knowledge._replace(
            masses=knowledge.masses[kinds.first], bets=knowledge.bets[kinds.first]
        )
        seeds = random_from(self.random_state).randint(1, MODULUS, (self.n_estimators, 2))
        fast = use_compiled(distinct, known, self.n_estimators)
        batches = batches_of_trees(self.n_estimators, len(kinds.first), self.n_jobs)
        parts = self._parallel()(
            delayed(_grow_in_bags)(
                self, distinct, known, kinds, n_draws, settings, fast, seeds[batch].tolist()
            )
            for batch in batches
        )
        grown = [tree for part in parts for tree in part]
        self.estimators_ = [
            self._as_classifier(tree, focal_sets, features.has_missing, pair[1])
            for (tree, _), pair in zip(grown, seeds.tolist(), strict=True)
        ]
        if self.oob_score:
            unseen = [left_out[kinds.kind] for _, left_out in grown]
            self._judge_unseen(rows, unseen)
        return self

    def _check_parameters(self) -> None:
        check_whole(self.n_estimators, "n_estimators", 1)
        check_option(self.combination, COMBINATIONS, "combination")
        check_n_jobs(self.n_jobs)
        check_number(self.doubt, "doubt", 1e-6, 1.0)
        if check_flag(self.oob_score, "oob_score") and not check_flag(self.bootstrap, "bootstrap"):
            raise InputError(
                "oob_score=True should come with bootstrap=True, which leaves rows out",
                "bootstrap is False",
                "set one of them",
                parameter="oob_score",
                value=self.oob_score,
            )

    def _parallel(self) -> Any:
        return Parallel(n_jobs=self.n_jobs, prefer="threads")

    def _as_classifier(
        self, tree: Tree, focal_sets: IntArray, has_missing: NDArray[np.bool_], seed: int
    ) -> BeliefTreeClassifier:
        """A tree as an estimator, without checks of feature names."""
        given = {name: getattr(self, name) for name in OF_TREES}
        model = BeliefTreeClassifier(**given, random_state=seed)
        model.classes_, model.focal_sets_, model.tree_ = self.classes_, focal_sets, tree
        model.n_features_in_, model.has_missing_ = self.n_features_in_, has_missing
        return model

    def _combined(
        self, X: FloatArray, chosen: list[NDArray[np.bool_]] | None = None
    ) -> tuple[FloatArray, IntArray]:
        """Combined masses (n, F), and how many trees each row had, perhaps only some of them."""
        fast = len(X) * len(self.estimators_) >= MANY_STEPS
        add: Callable[..., tuple[FloatArray, IntArray]] = partial(self._sum_of, X, chosen, fast)
        n_trees = len(self.estimators_)
        tasks = [
            range(i, min(i + TREES_AT_ONCE, n_trees)) for i in range(0, n_trees, TREES_AT_ONCE)
        ]
        parts = self._parallel()(delayed(add)(task) for task in tasks)
        total: FloatArray = sum((part for part, _ in parts), np.zeros(()))
        count: IntArray = sum((part for _, part in parts), np.zeros((), dtype=np.int64))
        if self.combination == "dempster":
            return masses_of_commonalities(total, self.focal_sets_), count
        return total / np.maximum(count, 1)[:, None], count

    def _sum_of(
        self, X: FloatArray, chosen: list[NDArray[np.bool_]] | None, fast: bool, trees: range
    ) -> tuple[FloatArray, IntArray]:
        """Masses, or logarithms of commonalities, of some trees, added up."""
        total = np.zeros((len(X), len(self.focal_sets_)))
        count = np.zeros(len(X), dtype=np.int64)
        for number in trees:
            rows = np.arange(len(X)) if chosen is None else np.flatnonzero(chosen[number])
            model = self.estimators_[number]
            sets = model.focal_sets_
            part, place = model.tree_.leaf_masses(X[rows], len(sets), fast)
            if self.combination == "dempster":
                part = log_commonalities(part, sets, self.focal_sets_, self.doubt)
            total[rows] += part[place]
            count[rows] += 1
        return total, count

    def _judge_unseen(self, rows: Training, unseen: list[NDArray[np.bool_]]) -> None:
        """Out-of-bag masses and their score."""
        values, count = self._combined(rows.X, unseen)
        judged, frame = count > 0, self.focal_sets_ == self.focal_sets_.max()
        if not judged.all():
            warnings.warn(
                f"Every row should be left out by some tree, but {int((~judged).sum())} of "
                f"{len(judged)} rows are not; grow more trees.",
                OutOfBagWarning,
                stacklevel=4,
            )
        every = np.tile(frame.astype(np.float64), (len(rows.kept), 1))
        every[np.flatnonzero(rows.kept)[judged]] = values[judged]
        self.oob_masses_ = SparseMasses(every, self.focal_sets_, len(self.classes_))
        self.oob_score_ = float("nan")
        judged &= ~rows.labels.is_unknown  # which no score can count
        if judged.any():
            bets = pignistic(self.oob_masses_)[rows.kept][judged]
            predicted = self.classes_[bets.argmax(axis=1)]
            known, weight = rows.labels[judged], rows.weight[judged]
            self.oob_score_ = soft_accuracy(known, predicted, weight, self.classes_)

    @property
    def feature_importances_(self) -> FloatArray:
        """Share (d,) of each feature in the decrease of impurity, the mean over trees."""
        check_is_fitted(self)
        found = [tree.feature_importances_ for tree in self.estimators_]
        return np.mean(found, axis=0)

    def apply(self, X: ArrayLike) -> IntArray:
        """Leaf (n, n_estimators) in which each row ends, in each tree."""
        data = self._read(X)
        return np.stack([tree.tree_.apply(data) for tree in self.estimators_], axis=1)

    def _masses(self, X: FloatArray) -> SparseMasses:
        return SparseMasses(self._combined(X)[0], self.focal_sets_, len(self.classes_))
