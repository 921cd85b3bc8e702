"""Belief forests are what their trees say together, whatever the order of rows and of work."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from plausible.belief import dempster, discount, mean
from plausible.io import load, save
from plausible.labels import Labels
from plausible.metrics import soft_accuracy
from plausible.models import (
    BeliefForestClassifier,
    BeliefTreeClassifier,
    OutOfBagWarning,
    export_svg,
    export_text,
)
from plausible.models.tree import bags, classifier, forest
from plausible.models.tree.growth import MODULUS
from plausible.models.tree.problem import know, rank_features

NAMES = ["cow", "ant", "bee"]  # not sorted


def draw(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    codes = np.where(X[:, 0] > 0.3, 2, (X[:, 1] > 0).astype(int))
    contour = np.eye(3)[codes]
    contour[::4] = np.maximum(contour[::4], rng.uniform(0.1, 0.7, (len(contour[::4]), 3)))
    rows = np.arange(1, n, 4)
    contour[rows, (codes[rows] + 1) % 3] = 1.0
    contour[2::16] = 1.0
    return X, Labels.from_plausibility(contour, NAMES), codes


X, LABELS, CODES = draw()
FRESH, _, TRUTH = draw(400, seed=1)


@pytest.mark.parametrize("combination", ["mean", "dempster"])
def test_a_forest_is_its_trees_combined(combination):
    model = BeliefForestClassifier(6, combination=combination, doubt=0.4, random_state=0)
    model.fit(X, LABELS)
    trees = [tree.predict_mass(FRESH) for tree in model.estimators_]
    if combination == "mean":
        expected = mean(*trees).to_dense()
    else:
        expected = dempster(*(discount(masses, 0.4) for masses in trees)).to_dense()
    found = model.predict_mass(FRESH)
    assert np.allclose(found.to_dense(), expected, atol=1e-12)
    assert found.focal_sets.tolist() == model.focal_sets_.tolist()


def test_rows_out_of_the_bag_are_judged_by_trees_that_have_not_seen_them():
    model = BeliefForestClassifier(40, oob_score=True, random_state=3).fit(X, LABELS)
    with_sums = np.zeros((len(X), 8))
    judges = np.zeros(len(X))
    rows = np.arange(len(X))
    for number, tree in enumerate(model.estimators_):
        seeds = np.random.RandomState(3).randint(1, MODULUS, (40, 2))
        assert tree.random_state == seeds[number, 1]
        drawn = drawn_rows(seeds[number, 0])
        unseen = rows[drawn == 0]
        with_sums[unseen] += tree.predict_mass(X[unseen]).to_dense()
        judges[unseen] += 1
        assert np.isclose(tree.tree_.weighted_n_node_samples[0], drawn.sum())
        assert tree.tree_.n_node_samples[0] == (drawn > 0).sum()
    assert judges.min() > 0
    assert np.allclose(model.oob_masses_.to_dense(), with_sums / judges[:, None])
    predicted = model.classes_[
        Labels.from_masses(model.oob_masses_, model.classes_.tolist()).contour.argmax(axis=1)
    ]
    assert abs(model.oob_score_ - soft_accuracy(LABELS, predicted)) < 0.05
    fresh = (model.predict(FRESH) == np.array(NAMES)[TRUTH]).mean()
    assert abs(model.oob_score_ - fresh) < 0.1


def drawn_rows(seed):
    """How often each row is in a bag, by the kinds of rows, which all differ here."""
    features, (knowledge, _) = rank_features(X), know(LABELS.reorder(sorted(NAMES)))
    kinds = bags.kinds_of_rows(features, knowledge, np.ones(len(X)))
    assert len(kinds.first) == len(X)
    return bags.draw_bag(kinds, len(X), seed)[kinds.kind]


def test_bags_are_samples_with_replacement():
    drawn = np.array([drawn_rows(seed) for seed in range(1, 200)])
    assert (drawn.sum(axis=1) == len(X)).all()
    assert abs((drawn == 0).mean() - np.exp(-1)) < 0.01
    assert abs(drawn.mean(axis=0) - 1).max() < 0.35


def test_neither_threads_nor_the_form_of_growth_change_the_result(monkeypatch):
    options = {"n_estimators": 16, "random_state": 5, "max_samples": 0.5, "oob_score": True}
    model = BeliefForestClassifier(**options).fit(X, LABELS)
    threads = BeliefForestClassifier(n_jobs=2, **options).fit(X, LABELS)
    assert np.array_equal(model.predict_proba(FRESH), threads.predict_proba(FRESH))
    assert np.array_equal(model.oob_masses_.values, threads.oob_masses_.values)
    monkeypatch.setattr(forest, "use_compiled", lambda *sizes: True)
    monkeypatch.setattr(forest, "MANY_STEPS", 0)
    compiled = BeliefForestClassifier(n_jobs=2, **options).fit(X, LABELS)
    assert np.allclose(model.predict_proba(FRESH), compiled.predict_proba(FRESH))
    assert (model.apply(FRESH) == compiled.apply(FRESH)).all()
    assert model.apply(FRESH).shape == (400, 16)


GROWTHS = [
    {},
    {"max_features": None, "vacuous_weight": 0.0},
    {"max_features": 1, "min_samples_leaf": 3, "min_weight_fraction_leaf": 0.02},
    {"max_samples": 0.3, "max_depth": 3, "discord_weight": 0.9},
    {"bootstrap": False, "oob_score": False, "min_impurity_decrease": -1.0, "max_depth": 6},
    {"max_leaf_nodes": 7, "ccp_alpha": 0.01},
]


def parts_of(model):
    """All numbers of the trees of a forest, and what it believes of rows out of the bag."""
    arrays = [array for tree in model.estimators_ for array in vars(tree.tree_).values()]
    return arrays + ([model.oob_masses_.values] if model.oob_score else [])


@pytest.mark.filterwarnings("ignore::plausible.models.OutOfBagWarning")
@pytest.mark.parametrize(("options", "fast"), [({}, False), *product(GROWTHS, [True])])
def test_trees_that_grow_together_are_those_that_grow_alone(monkeypatch, options, fast):
    """To the last bit, with weights, missing values, sets and doubts, in any number of threads."""
    monkeypatch.setattr(forest, "use_compiled", lambda *sizes: fast)
    rng = np.random.default_rng(2)
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X.round(1))
    weight = rng.integers(0, 4, len(X)) + 0.5 * rng.integers(0, 2, len(X))
    given = {"n_estimators": 7, "random_state": 5, "oob_score": True, **options}
    found = []
    for rows, jobs in [(1, None), (1 << 18, None), (1 << 18, 2), (3 * len(X), -1)]:
        monkeypatch.setattr(bags, "ROWS_AT_ONCE", rows)
        model = BeliefForestClassifier(n_jobs=jobs, **given)
        found.append(parts_of(model.fit(holes, LABELS, weight)))
    assert len({tree.tree_.node_count for tree in model.estimators_}) > 1
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            assert one.dtype == other.dtype
            assert np.array_equal(one, other, equal_nan=True)


def test_trees_that_grow_together_are_the_tree_of_their_bag(monkeypatch):
    """Each is a tree of its own: grown alone from the rows of its bag, with its random state."""
    for module in (forest, classifier):
        monkeypatch.setattr(module, "use_compiled", lambda *sizes: True)
    states = lambda state: SimpleNamespace(randint=lambda low, high: state)  # noqa: E731
    model = BeliefForestClassifier(5, random_state=3).fit(X, LABELS)
    monkeypatch.setattr(classifier, "random_from", states)
    seeds = np.random.RandomState(3).randint(1, MODULUS, (5, 2)).tolist()
    for tree, (bag_seed, own_seed) in zip(model.estimators_, seeds, strict=True):
        alone = BeliefTreeClassifier(max_features="sqrt", random_state=own_seed)
        alone.fit(X, LABELS, drawn_rows(bag_seed))
        assert alone.tree_.feature.tolist() == tree.tree_.feature.tolist()
        assert np.array_equal(alone.tree_.threshold, tree.tree_.threshold, equal_nan=True)
        assert np.allclose(alone.predict_mass(FRESH).values, tree.predict_mass(FRESH).values)


def test_loops_of_growth_are_compiled_for_one_kind_of_arrays(monkeypatch):
    """Whatever grows: for arrays with gaps, say, a first fit would wait once more."""
    for module in (forest, classifier):
        monkeypatch.setattr(module, "use_compiled", lambda *sizes: True)
    BeliefForestClassifier(3, random_state=0).fit(X, LABELS)
    BeliefForestClassifier(2, bootstrap=False, max_features=None).fit(X, CODES)
    BeliefTreeClassifier().fit(np.asfortranarray(X), LABELS, np.arange(len(X)) % 3)
    from plausible.models.tree import growth_kernels

    assert len(growth_kernels.scan.signatures) == 1
    assert len(growth_kernels.partition.signatures) == 1


@pytest.mark.parametrize(("n_trees", "n_rows", "jobs", "sizes"), [
    (60, 1_000, None, [60]),
    (60, 1_000, 2, [30, 30]),
    (7, 1_000, 3, [2, 2, 3]),
    (3, 1_000, 8, [1, 1, 1]),
    (100, 20_000, 2, [12, 13, 12, 13, 12, 13, 12, 13]),
    (4, 10**6, None, [1, 1, 1, 1]),
])  # fmt: skip
def test_batches_of_trees(n_trees, n_rows, jobs, sizes):
    batches = bags.batches_of_trees(n_trees, n_rows, jobs)
    assert [batch.stop - batch.start for batch in batches] == sizes
    assert [number for batch in batches for number in range(n_trees)[batch]] == [*range(n_trees)]


def test_order_of_rows_and_repeated_rows_change_nothing():
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    options = {"n_estimators": 8, "random_state": 1}
    model = BeliefForestClassifier(**options).fit(X, LABELS, weight)
    order = np.random.default_rng(1).permutation(len(X))
    other = BeliefForestClassifier(**options).fit(X[order], LABELS[order], weight[order])
    assert np.allclose(model.predict_proba(FRESH), other.predict_proba(FRESH))
    repeated = np.repeat(np.arange(len(X)), weight.astype(int))
    other = BeliefForestClassifier(**options).fit(X[repeated], LABELS[repeated])
    assert np.allclose(model.predict_proba(FRESH), other.predict_proba(FRESH))


def test_copies_of_a_row_are_out_of_the_bag_together():
    twice = np.vstack([X, X])
    labels = Labels.concatenate([LABELS, LABELS])
    model = BeliefForestClassifier(20, max_samples=0.3, oob_score=True, random_state=0)
    model.fit(twice, labels)
    masses = model.oob_masses_.values
    assert np.array_equal(masses[: len(X)], masses[len(X) :])


def test_without_bags_and_choice_of_features_all_trees_are_the_tree():
    model = BeliefForestClassifier(3, bootstrap=False, max_features=None, random_state=0)
    model.fit(X, LABELS)
    tree = BeliefTreeClassifier().fit(X, LABELS)
    assert np.allclose(model.predict_mass(FRESH).values, tree.predict_mass(FRESH).values)
    assert np.allclose(model.feature_importances_, tree.feature_importances_)


def test_many_trees_are_better_than_one_and_near_scikit_learn():
    right = np.array(NAMES)[TRUTH]
    hard = np.array(NAMES)[CODES]
    noisy = hard.copy()
    flipped = np.random.default_rng(0).permutation(len(X))[:40]
    noisy[flipped] = np.array(NAMES)[(CODES[flipped] + 1) % 3]
    scores = {
        name: (model.fit(X, noisy).predict(FRESH) == right).mean()
        for name, model in {
            "tree": BeliefTreeClassifier(),
            "forest": BeliefForestClassifier(30, random_state=0),
            "scikit-learn": RandomForestClassifier(30, random_state=0),
        }.items()
    }
    assert scores["forest"] > scores["tree"] + 0.03
    assert abs(scores["forest"] - scores["scikit-learn"]) < 0.05
    # Doubt where labels are wrong is what plain forests cannot hear.
    doubt = np.where(np.isin(np.arange(len(X)), flipped), 0.8, 0.1)
    doubted = Labels.from_doubt(noisy, doubt)
    heard = BeliefForestClassifier(30, random_state=0).fit(X, doubted)
    assert (heard.predict(FRESH) == right).mean() > scores["forest"] + 0.03


def test_rows_that_every_tree_has_seen_are_vacuous():
    with pytest.warns(OutOfBagWarning, match="left out by some tree, but .* grow more trees"):
        model = BeliefForestClassifier(2, oob_score=True, random_state=0).fit(X, LABELS)
    vacuous = model.oob_masses_.values[:, -1] == 1.0
    assert 0.2 < vacuous.mean() < 0.6


def test_the_intersections_of_sets_are_closed():
    sets = np.array([0b0011, 0b0110, 0b1111, 0b1000])
    assert bags.intersections(sets).tolist() == [0b1111, 0b0011, 0b0110, 0b0010, 0b1000]
    many = (1 << 16) - 1 - (1 << np.arange(16))
    with pytest.raises(ValueError, match="at most 4096 sets .* use combination='mean'"):
        bags.intersections(many)


@pytest.mark.parametrize(("options", "message"), [
    ({"n_estimators": 0}, "n_estimators should be a whole number of at least 1"),
    ({"combination": "vote"}, "combination should be 'mean' or 'dempster'"),
    ({"oob_score": True, "bootstrap": False}, "oob_score=True should come with bootstrap=True"),
    ({"doubt": 0.0, "combination": "dempster"}, "doubt should be"),
    ({"n_jobs": 0}, "n_jobs should be"),
    ({"max_samples": 0}, "max_samples should be a whole number of at least 1"),
    ({"max_samples": 1e9}, "A bag should have at most 1e.08 rows"),
])  # fmt: skip
def test_parameters_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        BeliefForestClassifier(**options).fit(X, LABELS)


# -- To keep and to read ---------------------------------------------------------------------------


def test_trees_and_forests_are_saved_and_loaded(tmp_path):
    holes = X.copy()
    holes[::5, 0] = np.nan
    for model in (
        BeliefTreeClassifier(ccp_alpha=0.01),
        BeliefForestClassifier(9, max_samples=0.4, oob_score=True, random_state=0),
        BeliefForestClassifier(5, combination="dempster", random_state=0),
    ):
        model.fit(holes, LABELS)
        save(model, tmp_path / "model")
        again = load(tmp_path / "model")
        fresh = np.where(FRESH > 2.0, np.nan, FRESH)
        assert np.array_equal(again.predict_mass(fresh).values, model.predict_mass(fresh).values)
        assert np.array_equal(again.apply(fresh), model.apply(fresh))
        assert np.array_equal(again.feature_importances_, model.feature_importances_)
    assert export_text(again.estimators_[0]) == export_text(model.estimators_[0])


def test_text_says_what_the_tree_does():
    model = BeliefTreeClassifier(max_depth=3).fit(X, LABELS)
    text = export_text(model, feature_names=[*"pqrs"], decimals=3)
    tree = model.tree_
    inner = tree.feature >= 0
    for j, cut in zip(tree.feature[inner], tree.threshold[inner], strict=True):
        assert f"{'pqrs'[j]} <= {cut:.3f}" in text
        assert f"{'pqrs'[j]} > {cut:.3f}" in text
    leaves = [line for line in text.splitlines() if "item" in line]
    assert len(leaves) == model.get_n_leaves()
    weights = [float(line.split("(")[1].split()[0]) for line in leaves]
    assert weights == tree.weighted_n_node_samples[tree.is_leaf].tolist()
    short = export_text(model, max_depth=1)
    assert short.count("more below") == 2 - np.sum(tree.is_leaf[[1, tree.children_right[0]]])
    assert "x0" in short


def test_pictures_hold_every_node_and_safe_names():
    model = BeliefTreeClassifier(max_depth=3).fit(X, LABELS.rename(["<cow>", "a&b", "bee"]))
    picture = export_svg(model, feature_names=["<p>", "q", "r", "s"])
    assert picture.count('rx="4"') == model.tree_.node_count
    assert picture.count("<path") == model.tree_.node_count - 1
    assert "&lt;cow&gt;" in picture
    assert "a&amp;b" in picture
    assert "<p>" not in picture
    import xml.etree.ElementTree as ET

    root = ET.fromstring(picture)
    bars = [rect for rect in root.iter() if rect.tag.endswith("rect") and "rx" not in rect.attrib]
    assert len(bars) > model.tree_.node_count
    assert export_svg(model, max_depth=1).count("stroke-dasharray") == 2


def test_only_fitted_trees_can_be_read():
    model = BeliefForestClassifier(2, random_state=0).fit(X, LABELS)
    with pytest.raises(TypeError, match="of a forest, take one of estimators_"):
        export_text(model)
    with pytest.raises(ValueError, match="name each of the 4 features, but 1 came"):
        export_text(model.estimators_[0], feature_names=["p"])
