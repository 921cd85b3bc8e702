"""Belief trees: what their definitions say, known trees as special cases, and a slow reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from plausible.belief import SparseMasses, discord, mean, nonspecificity, pignistic, vacuous
from plausible.labels import Labels
from plausible.models import BeliefTreeClassifier
from plausible.models.tree import growth, growth_search
from plausible.models.tree.parameters import settings_of
from plausible.models.tree.problem import know, rank_features
from plausible.models.tree.pruning import keep_best_leaves, pruning_path
from plausible.models.tree.structure import Tree

# Masses of plausibilities, which is what a tree takes them for.
pytestmark = pytest.mark.filterwarnings("ignore::plausible.labels.ApproximationWarning")

NAMES = ["cow", "ant", "bee", "dog"]  # not sorted
ORDER = np.argsort(NAMES)


def draw(n=120, d=3, seed=0, missing=0.0):
    """Rounded features, so that values repeat; hard, doubted, unknown and set labels at once."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(1)
    codes = (X[:, 0] > 0) + 2 * (X[:, 1] + 0.5 * rng.normal(size=n) > 0)
    contour = np.eye(4)[codes]
    rows = np.arange(n)
    contour[rows % 5 == 1] = np.maximum(contour[rows % 5 == 1], rng.uniform(0.1, 0.9))
    pairs = rows % 5 == 2
    contour[rows[pairs], rng.integers(0, 4, pairs.sum())] = 1.0
    contour[rows % 11 == 0] = 1.0
    some = rows % 7 == 3
    contour[some] = np.maximum(contour[some], rng.uniform(0.0, 0.8, (some.sum(), 4)))
    X[rng.uniform(size=X.shape) < missing] = np.nan
    weight = rng.integers(0, 4, n) + rng.integers(0, 2, n) * 0.5
    return X, Labels.from_plausibility(contour, NAMES), weight


def node_impurity(masses, weight, discord_weight, vacuous_weight=1.0):
    """By the algebra of belief functions: the mean of masses, one of them vacuous."""
    total = weight.sum() + vacuous_weight
    dense = masses.to_dense()
    m = (weight @ dense + vacuous_weight * vacuous(masses.n_classes).to_dense()) / total
    return (1 - discord_weight) * nonspecificity(m) + discord_weight * discord(m)


def slow_split(X, masses, weight, w):
    """The best split, every threshold of every feature, both ways for missing values."""
    best = (np.inf, None, None, None)
    for j in range(X.shape[1]):
        values = np.unique(X[~np.isnan(X[:, j]), j])
        for missing_left in (False, True):
            if missing_left and not np.isnan(X[:, j]).any():
                continue
            cuts = [*((values[1:] + values[:-1]) / 2)]
            cuts += [np.inf] * int(np.isnan(X[:, j]).any() and not missing_left)
            for cut in cuts:
                left = np.where(np.isnan(X[:, j]), missing_left, X[:, j] <= cut)
                cost = sum(
                    weight[side].sum() * node_impurity(masses[side], weight[side], w)
                    for side in (np.flatnonzero(left), np.flatnonzero(~left))
                )
                if cost < best[0] - 1e-9:
                    best = (cost, j, cut, missing_left)
    return best


# -- Definitions -----------------------------------------------------------------------------------


def test_three_of_one_class_and_one_of_another():
    model = BeliefTreeClassifier().fit(np.zeros((4, 1)), ["a", "a", "a", "b"])
    assert np.allclose(model.predict_mass([[0.0]]).to_dense(), [[0.0, 0.6, 0.2, 0.2]])
    assert round(model.tree_.impurity[0], 6) == 0.428069
    wide = BeliefTreeClassifier().fit(np.zeros((4, 1)), Labels.from_crisp([*"aaab"], [*"bxa"]))
    assert wide.tree_.impurity[0] > model.tree_.impurity[0]  # a third class was not ruled out


@pytest.mark.parametrize("w", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("vacuous_weight", [0.0, 1.0, 2.5])
def test_nodes_hold_the_mean_of_masses_and_its_impurity(w, vacuous_weight):
    X, labels, weight = draw()
    sorted_labels = labels.reorder(sorted(NAMES))
    model = BeliefTreeClassifier(w, max_depth=3, vacuous_weight=vacuous_weight)
    model.set_params(min_impurity_decrease=-1.0).fit(X, labels, weight)
    masses = sorted_labels.masses()
    assert model.get_n_leaves() >= 4
    leaf = model.apply(X)
    for node in np.unique(leaf):
        rows = np.flatnonzero((leaf == node) & (weight > 0))
        copies = np.repeat(rows, (2 * weight[rows]).astype(int))  # weights are halves
        own = masses[copies].to_dense()
        # Two halves of an item each, and the vacuous one twice as well.
        n_vacuous = int(2 * vacuous_weight)
        own = np.vstack([own, np.tile(vacuous(4).to_dense(), (n_vacuous, 1))])
        expected = mean(*own)
        found = model.predict_mass(X[rows[:1]]).to_dense()[0]
        assert np.allclose(found, expected)
        impurity = node_impurity(masses[rows], weight[rows], w, vacuous_weight)
        assert np.isclose(model.tree_.impurity[node], impurity)


@pytest.mark.parametrize(("seed", "missing"), [(0, 0.0), (1, 0.2), (2, 0.2), (3, 0.5)])
@pytest.mark.parametrize("w", [0.2, 0.8])
def test_the_root_is_split_as_a_slow_search_would(seed, missing, w):
    X, labels, weight = draw(40, 2, seed, missing)
    kept = weight > 0
    cost, feature, cut, missing_left = slow_split(
        X[kept], labels.reorder(sorted(NAMES))[kept].masses(), weight[kept], w
    )
    model = BeliefTreeClassifier(w, max_depth=1, min_impurity_decrease=-1.0).fit(X, labels, weight)
    tree = model.tree_
    assert (tree.feature[0], tree.threshold[0]) == (feature, cut)
    if np.isnan(X[kept, feature]).any():
        assert tree.missing_go_to_left[0] == missing_left
    after = tree.impurity[1:] @ tree.weighted_n_node_samples[1:]
    assert np.isclose(after, cost)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.floats(0.0, 1.0), st.integers(1, 5))
def test_impurity_is_never_negative_nor_above_the_frame(seed, w, n_classes):
    rng = np.random.default_rng(seed)
    sets = np.arange(1, 1 << n_classes)
    values = rng.dirichlet(np.full(len(sets), 0.1), 12)
    labels = Labels.from_masses(SparseMasses(values, sets, n_classes), list(range(n_classes)))
    model = BeliefTreeClassifier(w, min_impurity_decrease=-1.0, max_depth=4)
    impurity = model.fit(rng.normal(size=(12, 2)), labels).tree_.impurity
    assert (impurity >= 0.0).all()
    assert (impurity <= np.log2(n_classes) + 1e-9).all()


# -- Known methods as special cases ----------------------------------------------------------------


@pytest.mark.parametrize("vacuous_weight", [0.0, 1.0])
def test_hard_labels_and_discord_alone_give_the_tree_of_entropy(vacuous_weight):
    # Separated along one feature at a time, with gains that differ clearly.
    rng = np.random.default_rng(0)
    codes = rng.choice(4, 4000, p=[0.5, 0.25, 0.15, 0.1])
    centers = np.array([[0.0, 0, 0], [9, 0, 0], [9, 9, 0], [9, 9, 9]])
    X = centers[codes] + rng.uniform(-1.0, 1.0, (4000, 3)) + np.array([0.0, 0.0, 100.0])
    theirs = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(X, codes).tree_
    model = BeliefTreeClassifier(1.0, vacuous_weight=vacuous_weight)
    ours = model.fit(X, np.array(NAMES)[codes]).tree_
    assert ours.feature[ours.feature >= 0].tolist() == theirs.feature[theirs.feature >= 0].tolist()
    inner = ours.feature >= 0
    assert np.allclose(ours.threshold[inner], theirs.threshold[inner], atol=1e-5)
    assert ours.children_left.tolist() == theirs.children_left.tolist()
    assert np.allclose(ours.impurity, theirs.impurity, atol=0.1 * vacuous_weight + 1e-9)
    assert ours.n_node_samples.tolist() == theirs.n_node_samples.tolist()


def test_without_the_vacuous_mass_hard_labels_give_the_tree_of_scikit_learn():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3)).astype(np.float32)  # as scikit-learn holds them; no ties
    codes = ((X[:, 0] > 0) + 2 * (X[:, 1] + 0.7 * rng.normal(size=400) > 0)).astype(int)
    y, weight = np.array(NAMES)[codes], rng.integers(0, 4, 400).astype(float)
    limits = {"max_depth": 5, "min_samples_leaf": 7, "min_weight_fraction_leaf": 0.02}
    model = BeliefTreeClassifier(1.0, vacuous_weight=0.0, **limits).fit(X, y, weight)
    kept = weight > 0
    theirs = DecisionTreeClassifier(criterion="entropy", random_state=0, **limits)
    theirs.fit(X[kept], y[kept], weight[kept])
    assert model.get_n_leaves() == theirs.get_n_leaves() > 10
    assert model.tree_.feature[model.tree_.feature >= 0].tolist() == [
        feature for feature in theirs.tree_.feature.tolist() if feature >= 0
    ]
    assert np.allclose(model.predict_proba(X), theirs.predict_proba(X))
    assert np.allclose(model.tree_.impurity, theirs.tree_.impurity)
    assert np.allclose(model.feature_importances_, theirs.feature_importances_)
    ours = model.cost_complexity_pruning_path(X, y, weight)
    path = theirs.cost_complexity_pruning_path(X[kept], y[kept], weight[kept])
    assert np.allclose(ours.ccp_alphas, path.ccp_alphas)
    assert np.allclose(ours.impurities, path.impurities)


def test_unknown_rows_count():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    known = BeliefTreeClassifier(max_depth=1).fit(X[:2] * 0, ["a", "b"])
    with_unknown = BeliefTreeClassifier(max_depth=1).fit(X * 0, ["a", "b", None, None])
    assert np.allclose(known.predict_mass([[0.0]]).values, 1 / 3)
    assert np.allclose(with_unknown.predict_mass([[0.0]]).values, [[0.2, 0.2, 0.6]])


def test_only_unknown_rows_give_a_root_that_knows_nothing():
    model = BeliefTreeClassifier().fit(np.arange(9.0)[:, None], Labels.unknown(9, NAMES))
    assert model.get_n_leaves() == 1
    assert np.allclose(model.predict_plausibility([[3.0]]), 1.0)
    assert np.allclose(model.predict_proba([[3.0]]), 0.25)


def test_masses_say_more_than_their_contour():
    """Bayesian masses keep classes apart; the least committed masses of the same contour do not."""
    X = np.arange(6.0)[:, None]
    p = [[0.5, 0.5, 0.0]] * 3 + [[0.0, 0.5, 0.5]] * 3
    torn = BeliefTreeClassifier(max_depth=1).fit(X, Labels.from_probability(p, [*"abc"]))
    vague = BeliefTreeClassifier(max_depth=1).fit(X, Labels.from_plausibility(p, [*"abc"]))
    assert torn.predict_mass([[0.0]]).to_dense()[0, [1, 2]].tolist() == [0.375, 0.375]
    assert vague.predict_mass([[0.0]]).to_dense()[0, 3] == 0.75


# -- Invariances -----------------------------------------------------------------------------------


def same_tree(one, other, sets=True):
    for name in ("children_left", "feature", "threshold", "missing_go_to_left", "impurity"):
        assert np.allclose(getattr(one.tree_, name), getattr(other.tree_, name), equal_nan=True)
    if sets:
        assert one.focal_sets_.tolist() == other.focal_sets_.tolist()
        assert np.allclose(one.tree_.mass_value, other.tree_.mass_value)


@pytest.mark.parametrize("options", [{}, {"max_features": 2, "random_state": 3}])
def test_order_of_rows_and_repeated_rows(options):
    X, labels, weight = draw(missing=0.1)
    weight = np.floor(weight)
    model = BeliefTreeClassifier(**options).fit(X, labels, weight)
    assert model.get_n_leaves() > 10
    order = np.random.default_rng(1).permutation(len(X))
    same_tree(BeliefTreeClassifier(**options).fit(X[order], labels[order], weight[order]), model)
    repeated = np.repeat(np.arange(len(X)), weight.astype(int))
    again = BeliefTreeClassifier(**options).fit(X[repeated], labels[repeated])
    same_tree(again, model)
    assert again.tree_.n_node_samples[0] == weight.sum()


def test_names_of_classes_are_only_names():
    X, labels, weight = draw()
    model = BeliefTreeClassifier().fit(X, labels, weight)
    renamed = labels.rename(["w", "z", "y", "x"])  # in another order, when sorted
    other = BeliefTreeClassifier().fit(X, renamed, weight)
    same_tree(other, model, sets=False)
    columns = np.argsort(["w", "z", "y", "x"])
    back = np.argsort(columns)[ORDER]
    assert np.allclose(other.predict_proba(X)[:, back], model.predict_proba(X))


def test_sets_of_one_class_are_hard_labels_and_monotone_changes_of_features_change_nothing():
    X, labels, _ = draw()
    hard = np.array(NAMES)[labels.contour.argmax(axis=1)]
    model = BeliefTreeClassifier().fit(X, hard)
    same_tree(BeliefTreeClassifier().fit(X, [{name} for name in hard]), model)
    warped = BeliefTreeClassifier().fit(np.exp(X), hard)
    assert (warped.apply(np.exp(X)) == model.apply(X)).all()
    assert warped.tree_.feature.tolist() == model.tree_.feature.tolist()


def test_weights_count_items():
    """Larger weights, all alike, leave bets as they are and make the leaf surer."""
    light = BeliefTreeClassifier().fit([[0.0]] * 3, [*"aab"], [1.0, 1.0, 1.0])
    heavy = BeliefTreeClassifier().fit([[0.0]] * 3, [*"aab"], [10.0, 10.0, 10.0])
    assert light.predict_mass([[0.0]]).values[0, -1] == 1 / 4
    assert heavy.predict_mass([[0.0]]).values[0, -1] == 1 / 31


# -- Both forms of growth --------------------------------------------------------------------------

FORMS = [
    {},
    {"max_features": 2},
    {"min_samples_leaf": 4},
    {"min_samples_split": 15, "discord_weight": 1.0},
    {"vacuous_weight": 0.0},
    {"min_impurity_decrease": -1.0, "max_depth": 6},
    {"min_impurity_decrease": 0.01},
    {"min_weight_fraction_leaf": 0.05, "discord_weight": 0.2},
]


@pytest.mark.parametrize("options", FORMS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_compiled_growth_is_that_of_numpy(options, missing):
    X, labels, weight = draw(300, 4, 5, missing)
    features, (knowledge, _) = rank_features(X), know(labels)
    given = settings_of(BeliefTreeClassifier(**options), 300, 4, weight.sum())
    slow, fast = (
        growth.grow(features, knowledge, weight[None], given, [11], form)[0]
        for form in (False, True)
    )
    assert slow.node_count > 5
    for name, found in vars(slow).items():
        assert np.allclose(found, getattr(fast, name), equal_nan=True), name


@pytest.mark.parametrize("max_features", [None, 1])
@pytest.mark.parametrize("entries", [1, 700])
def test_compiled_growth_sorts_in_portions_and_looks_on_where_features_are_constant(
    monkeypatch, entries, max_features
):
    monkeypatch.setattr(growth_search, "ENTRIES", entries)  # a feature at once, or some nodes
    X, labels, weight = draw(300, 4, 5, 0.2)
    rare = np.random.default_rng(3).random((300, 9)) < 0.01  # constant in most nodes
    X = np.hstack([X[:, :2], rare, X[:, 2:]])
    features, (knowledge, _) = rank_features(X), know(labels)
    model = BeliefTreeClassifier(max_features=max_features)
    given = settings_of(model, 300, X.shape[1], weight.sum())
    slow, fast = (
        growth.grow(features, knowledge, weight[None], given, [11], form)[0]
        for form in (False, True)
    )
    assert slow.node_count > 30
    for name, found in vars(slow).items():
        assert np.allclose(found, getattr(fast, name), equal_nan=True), name


def test_compiled_growth_in_many_levels_and_extreme_numbers():
    rng = np.random.default_rng(0)
    n = 70_000  # more values than two bytes count
    X = np.column_stack([rng.normal(size=n), rng.choice([0.0, 5e-324, 1e308, -1e308], n)])
    y = (X[:, 0] > 0.3).astype(int) + (X[:, 1] > 1.0)
    features, (knowledge, _) = rank_features(X), know(Labels.from_crisp(y))
    given = settings_of(BeliefTreeClassifier(max_depth=3), n, 2, float(n))
    (tree,) = growth.grow(features, knowledge, np.ones((1, n)), given, [1], True)
    walked = [tree.apply(X, fast) for fast in (False, True)]
    assert (walked[0] == walked[1]).all()
    assert (tree.masses(walked[0], 4)[:, :3].argmax(axis=1) == y).all()
    assert np.isfinite(tree.threshold[tree.feature >= 0]).all()


def test_features_are_drawn_evenly():
    first, states = np.zeros(5), [7]
    for i in range(5000):  # the nodes of a full tree
        order = growth.draw_order(5, states[i])
        first[order[0]] += 1
        assert sorted(order) == [0, 1, 2, 3, 4]
        states += growth.child_states(states[i])
    assert (np.abs(first / 1000 - 1) < 0.12).all()
    assert len(set(states)) == len(states)


# -- Stopping and pruning --------------------------------------------------------------------------


def test_limits_are_kept():
    X, labels, weight = draw(200, 4)
    whole = BeliefTreeClassifier().fit(X, labels, weight)
    assert whole.get_depth() > 4
    assert BeliefTreeClassifier(max_depth=2).fit(X, labels).get_depth() == 2
    leaves = BeliefTreeClassifier(min_samples_leaf=0.05).fit(X, labels).tree_
    assert leaves.n_node_samples[leaves.is_leaf].min() >= 10
    split = BeliefTreeClassifier(min_samples_split=30).fit(X, labels).tree_
    assert split.n_node_samples[~split.is_leaf].min() >= 30
    heavy = BeliefTreeClassifier(min_weight_fraction_leaf=0.1).fit(X, labels, weight).tree_
    assert heavy.weighted_n_node_samples[heavy.is_leaf].min() >= 0.1 * weight.sum() * (1 - 1e-9)
    gain = BeliefTreeClassifier(min_impurity_decrease=0.02).fit(X, labels).tree_
    cost = gain.impurity * gain.weighted_n_node_samples / 200
    inner = np.flatnonzero(~gain.is_leaf)
    found = cost[inner] - cost[gain.children_left[inner]] - cost[gain.children_right[inner]]
    assert found.min() >= 0.02
    assert len(found) < whole.get_n_leaves() - 1


def test_a_tree_stops_by_itself_and_can_be_told_to_go_on():
    """No single split of a chessboard gains; through one that does not, the tree is perfect."""
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], 5, axis=0)
    y = np.repeat([*"abba"], 5)
    assert BeliefTreeClassifier().fit(X, y).get_n_leaves() == 1
    through = BeliefTreeClassifier(min_impurity_decrease=-0.1).fit(X, y)
    assert (through.predict(X) == y).all()
    assert through.get_n_leaves() == 4


def test_the_best_leaves_come_first():
    X, labels, weight = draw(200, 4)
    whole = BeliefTreeClassifier().fit(X, labels, weight).tree_
    cost = whole.impurity * whole.weighted_n_node_samples
    for most in (2, 5, 12):
        small = BeliefTreeClassifier(max_leaf_nodes=most).fit(X, labels, weight)
        assert small.get_n_leaves() == most
        frontier = {0}
        while len(frontier) < most:  # by the definition, slowly
            inner = [t for t in frontier if not whole.is_leaf[t]]
            gains = [
                cost[t] - cost[whole.children_left[t]] - cost[whole.children_right[t]]
                for t in inner
            ]
            best = inner[int(np.argmax(gains))]
            frontier -= {best}
            frontier |= {int(whole.children_left[best]), int(whole.children_right[best])}
        found = np.sort(small.tree_.impurity[small.tree_.is_leaf])
        assert np.allclose(found, np.sort(whole.impurity[sorted(frontier)]))
    assert keep_best_leaves(whole, 10**6) is whole


def slow_pruning(tree):
    """Effective prices by looking at all subtrees again after each step."""
    cost = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    closed = set(np.flatnonzero(tree.is_leaf).tolist())

    def leaves(t):
        if t in closed:
            return [t]
        return leaves(int(tree.children_left[t])) + leaves(int(tree.children_right[t]))

    def reached(t):
        yield t
        if t not in closed:
            yield from reached(int(tree.children_left[t]))
            yield from reached(int(tree.children_right[t]))

    alphas, impurities = [0.0], [cost[leaves(0)].sum()]
    while 0 not in closed:
        inner = [t for t in reached(0) if t not in closed]
        prices = [(cost[t] - cost[leaves(t)].sum()) / (len(leaves(t)) - 1) for t in inner]
        closed.add(inner[int(np.argmin(prices))])
        alphas.append(max(min(prices), alphas[-1]))
        impurities.append(cost[leaves(0)].sum())
    return np.array(alphas), np.array(impurities)


@pytest.mark.parametrize("least", [0.0, -0.02])
def test_the_pruning_path_is_that_of_the_definition(least):
    X, labels, weight = draw(80, 3, 2)
    model = BeliefTreeClassifier(min_impurity_decrease=least)
    path = model.cost_complexity_pruning_path(X, labels, weight)
    alphas, impurities = slow_pruning(model.fit(X, labels, weight).tree_)
    assert np.allclose(path.ccp_alphas, alphas)
    assert np.allclose(path.impurities, impurities)
    assert (np.diff(path.ccp_alphas) >= 0.0).all()
    if least == 0.0:
        assert (np.diff(path.impurities) > 0.0).all()
    sizes = []
    for alpha in path.ccp_alphas[[1, 4, 8, -1]] + 1e-12:
        pruned = BeliefTreeClassifier(min_impurity_decrease=least, ccp_alpha=alpha)
        tree = pruned.fit(X, labels, weight).tree_
        sizes.append(tree.n_leaves)
        # Of all trees on the path, it is the best at this price.
        cost = tree.impurity[tree.is_leaf] @ tree.weighted_n_node_samples[tree.is_leaf]
        own = cost / weight.sum() + alpha * tree.n_leaves
        others = [
            BeliefTreeClassifier(min_impurity_decrease=least, ccp_alpha=a).fit(X, labels, weight)
            for a in path.ccp_alphas[1::6]
        ]
        for other in (one.tree_ for one in others):
            rest = other.impurity[other.is_leaf] @ other.weighted_n_node_samples[other.is_leaf]
            assert own <= rest / weight.sum() + alpha * other.n_leaves + 1e-9
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1
    assert np.isinf(pruning_path(model.tree_).collapse[model.tree_.is_leaf]).all()


def test_a_pruned_tree_answers_by_the_nodes_that_are_left():
    X, labels, weight = draw(150, 3, 6)
    whole = BeliefTreeClassifier().fit(X, labels, weight)
    ends = np.zeros(whole.tree_.node_count, dtype=bool)
    ends[[whole.tree_.children_left[0], 5]] = True
    small = whole.tree_.cut(ends)
    depth = whole.tree_.depth
    assert small.node_count < whole.tree_.node_count
    at = small.apply(X)
    inside = np.isin(at, np.flatnonzero(small.is_leaf))
    assert inside.all()
    for leaf in np.unique(at):
        rows = np.flatnonzero((at == leaf) & (weight > 0))
        assert np.isclose(small.weighted_n_node_samples[leaf], weight[rows].sum())
        assert small.n_node_samples[leaf] == len(rows)
    assert small.depth.max() <= depth.max()


# -- Missing values --------------------------------------------------------------------------------


def test_missing_values_go_where_they_belong():
    X = np.array([[1.0], [2.0], [3.0], [7.0], [8.0], [9.0], [np.nan], [np.nan]])
    for name, side in (("a", 1.5), ("b", 8.5)):
        y = [*"aaabbb", name, name]
        model = BeliefTreeClassifier(max_depth=1).fit(X, y)
        assert model.predict([[np.nan]]) == [name]
        assert np.allclose(model.predict_proba([[np.nan]]), model.predict_proba([[side]]))
    alone = BeliefTreeClassifier().fit(X, [*"aaabbbcc"])
    assert alone.predict([[np.nan], [2.0], [8.0]]).tolist() == ["c", "a", "b"]
    assert np.isinf(alone.tree_.threshold).sum() == 1  # missing against known


def test_values_that_were_never_missing_go_to_the_heavier_side():
    X, y = [[1.0], [2.0], [8.0]], ["a", "a", "b"]
    assert BeliefTreeClassifier().fit(X, y).predict([[np.nan]]) == ["a"]
    assert BeliefTreeClassifier().fit(X, y, [1, 1, 5]).predict([[np.nan]]) == ["b"]


# -- Odds and ends ---------------------------------------------------------------------------------


def test_importances_are_shares_of_the_decrease():
    X, labels, weight = draw(200, 3)
    model = BeliefTreeClassifier(max_depth=1).fit(X, labels, weight)
    used = np.eye(3)[model.tree_.feature[0]]
    assert np.allclose(model.feature_importances_, used)
    deep = BeliefTreeClassifier().fit(X, labels, weight).feature_importances_
    assert np.isclose(deep.sum(), 1.0)
    assert deep[2] < deep[:2].min()  # which says nothing about the classes
    assert BeliefTreeClassifier().fit(X, ["a"] * 200).feature_importances_.tolist() == [0, 0, 0]


def test_large_frames_have_only_the_sets_that_occur():
    rng = np.random.default_rng(0)
    names = [f"c{k:02d}" for k in range(62)]
    codes = np.arange(310) % 62
    X = np.column_stack([codes % 8, codes // 8]) + rng.uniform(-0.3, 0.3, (310, 2))
    sets = [{names[k], names[(k + 1) % 62]} if i % 5 == 0 else {names[k]}
            for i, k in enumerate(codes)]  # fmt: skip
    model = BeliefTreeClassifier().fit(X, Labels.from_sets(sets, names))
    assert len(model.focal_sets_) == 62 + 62 + 1
    assert model.score(X, np.array(names)[codes]) > 0.99
    many = [f"c{k}" for k in range(63)]
    with pytest.raises(ValueError, match=r"at most 62 classes .* but they have 63; group"):
        BeliefTreeClassifier().fit(np.eye(63), many)


def test_chained_answers_agree():
    X, labels, _ = draw()
    model = BeliefTreeClassifier().fit(X, labels)
    assert np.allclose(model.predict_proba(X), pignistic(model.predict_mass(X)))


@pytest.mark.parametrize(("options", "message"), [
    ({"discord_weight": 1.5}, r"discord_weight should be .*\[0, 1\].* 1.5"),
    ({"max_depth": 0}, "max_depth should be a whole number of at least 1"),
    ({"min_samples_split": 1}, "min_samples_split should be a whole number of at least 2"),
    ({"min_samples_leaf": 0.0}, "min_samples_leaf should be a number of rows .* share"),
    ({"min_samples_leaf": 1.5}, "min_samples_leaf should be"),
    ({"max_features": "all"}, "max_features should be 'sqrt' or 'log2'"),
    ({"max_features": 0}, "max_features should be a whole number of at least 1"),
    ({"ccp_alpha": -1.0}, "ccp_alpha should be a finite number of at least 0"),
    ({"vacuous_weight": -1.0}, "vacuous_weight should be"),
    ({"max_leaf_nodes": 1}, "max_leaf_nodes should be a whole number of at least 2"),
    ({"min_weight_fraction_leaf": 0.7}, "min_weight_fraction_leaf should be"),
])  # fmt: skip
def test_parameters_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        BeliefTreeClassifier(**options).fit([[0.0], [1.0]], ["a", "b"])


def test_rows_without_weight_are_refused_or_as_if_they_were_not_there():
    X, labels, weight = draw()
    with pytest.raises(
        ValueError, match="sample weight above zero, but none of 120 rows has; give"
    ):
        BeliefTreeClassifier().fit(X, labels, np.zeros(120))
    some = weight > 0
    same_tree(
        BeliefTreeClassifier().fit(X[some], labels[some], weight[some]),
        BeliefTreeClassifier().fit(X, labels, weight),
    )


def test_nodes_that_lead_around_are_refused():
    tree = BeliefTreeClassifier().fit([[0.0], [1.0]] * 3, ["a", "b"] * 3).tree_
    for name, wrong in (("children_left", [0, -1, -1]), ("children_right", [9, -1, -1]),
                        ("feature", [3, -1, -1]), ("threshold", [0.5])):  # fmt: skip
        forged = Tree(**vars(tree) | {name: np.array(wrong)})
        with pytest.raises(ValueError, match="children that come later"):
            forged.apply(np.zeros((1, 1)))


def test_masses_of_sets_that_are_not_there_are_refused():
    """scipy would write them beyond the end of its table, and so into other objects."""
    model = BeliefTreeClassifier().fit([[0.0], [1.0], [2.0]] * 3, ["b", "c", "a"] * 3)
    good, n_sets = model.tree_, len(model.focal_sets_)
    assert good.masses(np.arange(good.node_count), n_sets).shape == (good.node_count, n_sets)
    first, column, value = good.mass_start, good.mass_column, good.mass_value
    wrong = [
        ("mass_column", np.where(column == column.max(), n_sets, column)),
        ("mass_column", np.where(column == column.max(), -1, column)),
        ("mass_column", column.astype(float)),
        ("mass_column", column[:-1]),
        ("mass_value", value[:-1]),
        ("mass_start", np.append(first[:-1], first[-1] + 50)),
        ("mass_start", first[:-1]),
        ("mass_start", first[::-1].copy()),
        ("mass_start", first + 1),
        ("mass_start", first[:, None]),
    ]
    for name, array in wrong:
        forged = Tree(**vars(good) | {name: array})
        with pytest.raises(ValueError, match="masses of some of 4 focal sets, but some nodes do"):
            forged.leaf_masses(np.zeros((5, 1)), n_sets)
    model.focal_sets_ = model.focal_sets_[:0]
    with pytest.raises(ValueError, match="masses of some of 0 focal sets"):
        model.predict(np.zeros((5, 1)))


@pytest.mark.parametrize("fast", [False, True])
def test_trees_without_nodes_are_refused(fast):
    tree = BeliefTreeClassifier().fit([[0.0], [1.0]] * 3, ["a", "b"] * 3).tree_
    names = [name for name in vars(tree) if not name.startswith("mass")]
    empty = {name: getattr(tree, name)[:0] for name in names}
    flat = {name: getattr(tree, name)[:, None] for name in names}
    odd = {"feature": tree.feature.astype(float)}
    for arrays in (empty, flat, odd, {"children_left": tree.children_left / 1.0}):
        with pytest.raises(ValueError, match="children that come later"):
            Tree(**vars(tree) | arrays).apply(np.zeros((2, 1)), fast)
