"""Fusion of classifiers: rules of belief, missing sensors, columns, scikit-learn's conventions."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from plausible.base import MassClassifier
from plausible.belief import (
    RULES,
    SparseMasses,
    combine,
    conjunctive,
    contextual_discount,
    contour,
    dempster,
    discount,
    normalize,
    to_dense,
)
from plausible.experts import EvidentialFusionClassifier
from plausible.io import load, save
from plausible.labels import Labels
from plausible.models import (
    EvidentialCalibratedClassifier,
    EvidentialNetworkClassifier,
    SoftNearestCentroid,
)

NAMES = np.array(["plum", "fig", "date"])
SETS = np.arange(1, 8)

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))]


class Told(MassClassifier):
    """A fitted source whose features are its masses."""

    def __init__(self, names=("date", "fig", "plum")):
        self.names = names

    def fit(self, X, y=None):
        self.classes_, self.n_features_in_ = np.array(self.names), np.shape(X)[1]
        self.focal_sets_ = np.arange(1, 1 << len(self.names))
        return self

    def _masses(self, X):
        return SparseMasses(X, self.focal_sets_, len(self.names))


def told(n=40, n_sources=3, seed=0):
    """Masses of sources side by side as features, and labels of all kinds with weights."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=n)
    masses = rng.dirichlet(np.full(7, 0.4), (n_sources, n))
    masses[:2, :, :] *= 0.5
    right = 1 << np.array([2, 1, 0])[codes]  # of sorted classes
    for own in masses[:2]:
        own[np.arange(n), right - 1] += 0.5
    known = np.where(np.eye(3, dtype=bool)[codes], 1.0, rng.uniform(0.0, 0.6, (n, 3)))
    known[::4] = np.where(known[::4] == 1.0, 1.0, [[1.0, 0.0, 0.0]])
    known[::9] = 1.0
    labels = Labels.from_plausibility(known, NAMES.tolist())
    return np.hstack(list(masses)), labels, rng.uniform(0.3, 2.0, n)


def sensors(n_sources=3, width=7):
    source = Told().fit(np.ones((1, width)))
    return [
        (f"s{number}", source, slice(number * width, (number + 1) * width))
        for number in range(n_sources)
    ]


def given(X, number, width=7):
    return SparseMasses(X[:, number * width : (number + 1) * width], SETS, 3)


def items(n=150, seed=0, gap=1.6):
    """Three views of two features, three unsorted classes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=n)
    centers = gap * np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 1.0]])
    views = [rng.normal(size=(n, 2)) + np.roll(centers, v, axis=0)[codes] for v in range(3)]
    return np.hstack(views), NAMES[codes]


VIEWS = [[0, 1], [2, 3], [4, 5]]


def views_of(make):
    return [(f"v{number}", make(), columns) for number, columns in enumerate(VIEWS)]


# --------------------------------------------------------------------------------------- the rules


def test_two_sources_without_doubt_are_dempsters_rule():
    X, labels, _ = told(n_sources=2)
    model = EvidentialFusionClassifier(sensors(2), discount=None, cv="prefit").fit(X, labels)
    expected = to_dense(dempster(given(X, 0), given(X, 1)))
    np.testing.assert_allclose(model.predict_mass(X).to_dense(), expected, atol=1e-12)
    nothing = to_dense(conjunctive(given(X, 0), given(X, 1)))[:, 0]
    np.testing.assert_allclose(model.score_conflict(X), nothing, atol=1e-12)
    assert (nothing > 0.05).any()


@pytest.mark.parametrize("rule", sorted(set(RULES) - {"bold"}))
def test_any_rule_combines_discounted_masses(rule):
    X, labels, _ = told()
    doubts = {"s2": 0.7, "s0": 0.05}  # s1 is not doubted
    X[:, 6] += 0.1  # some mass on all classes, which the cautious rule needs
    X[:, 13] += 0.1
    X /= np.repeat(np.add.reduceat(X, [0, 7, 14], axis=1), 7, axis=1)
    model = EvidentialFusionClassifier(sensors(), rule, doubts, cv="prefit").fit(X, labels)
    parts = [discount(given(X, s), d) for s, d in enumerate((0.05, 0.0, 0.7))]
    expected = to_dense(normalize(combine(parts, rule)))
    np.testing.assert_allclose(model.predict_mass(X).to_dense(), expected, atol=1e-10)


def test_the_bold_rule_of_a_repeated_source_is_the_source():
    X, labels, _ = told()
    again = [("one", *sensors()[0][1:]), ("two", *sensors()[0][1:])]
    model = EvidentialFusionClassifier(again, "bold", 0.1, cv="prefit").fit(X, labels)
    alone = to_dense(discount(given(X, 0), 0.1))
    np.testing.assert_allclose(model.predict_mass(X).to_dense(), alone, atol=1e-4)


@pytest.mark.parametrize("way", ["fit", "class", "contextual"])
def test_under_the_cautious_rule_a_repeated_source_changes_nothing(way):
    X, labels, weight = told(n_sources=2)
    first, second = sensors(2)
    once = EvidentialFusionClassifier([first, second], "cautious", way, cv="prefit")
    twice = EvidentialFusionClassifier(
        [first, ("echo", *first[1:]), second], "cautious", way, cv="prefit"
    )
    expected = once.fit(X, labels, weight).predict_mass(X).to_dense()
    found = twice.fit(X, labels, weight).predict_mass(X).to_dense()
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_source_with_doubt_one_changes_nothing():
    X, labels, _ = told()
    three = EvidentialFusionClassifier(sensors(), discount=[0.2, 1.0, 0.1], cv="prefit")
    two = EvidentialFusionClassifier([sensors()[0], sensors()[2]], discount=[0.2, 0.1], cv="prefit")
    found = three.fit(X, labels).predict_mass(X).to_dense()
    np.testing.assert_allclose(found, two.fit(X, labels).predict_mass(X).to_dense(), atol=1e-12)


@pytest.mark.parametrize("way", ["fit", "class", "contextual"])
@pytest.mark.parametrize("rule", ["dempster", "mean"])
def test_the_order_of_sources_does_not_matter(rule, way):
    X, labels, weight = told()
    forth = EvidentialFusionClassifier(sensors(), rule, way, cv="prefit").fit(X, labels, weight)
    back = EvidentialFusionClassifier(sensors()[::-1], rule, way, cv="prefit")
    back.fit(X, labels, weight)
    np.testing.assert_allclose(back.doubts_[::-1], forth.doubts_, atol=1e-6)
    np.testing.assert_allclose(back.predict_proba(X), forth.predict_proba(X), atol=1e-6)


def test_doubts_of_classes_act_as_the_algebra_says():
    X, labels, weight = told(60, seed=4)
    said = EvidentialFusionClassifier(sensors(1), discount="class", cv="prefit")
    said.fit(X[:, :7], labels, weight)
    best = contour(given(X, 0)).argmax(axis=1)
    expected = to_dense(discount(given(X, 0), said.doubts_[0, best]))
    np.testing.assert_allclose(said.predict_mass(X[:, :7]).to_dense(), expected, atol=1e-12)
    true = EvidentialFusionClassifier(sensors(1), discount="contextual", cv="prefit")
    true.fit(X[:, :7], labels, weight)
    expected = to_dense(contextual_discount(given(X, 0), true.doubts_[0]))
    np.testing.assert_allclose(true.predict_mass(X[:, :7]).to_dense(), expected, atol=1e-12)


def test_sources_in_total_conflict_say_nothing():
    X = np.zeros((1, 14))
    X[0, [0, 8]] = 1.0  # {date} and {fig}, both certain
    labels = Labels.from_crisp(["fig"], sorted(NAMES.tolist()))
    model = EvidentialFusionClassifier(sensors(2), discount=None, cv="prefit").fit(X, labels)
    np.testing.assert_allclose(model.predict_plausibility(X), np.ones((1, 3)))
    assert model.score_conflict(X) == 1.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_networks_on_many_classes_keep_their_masses():
    rng = np.random.default_rng(0)
    y = np.arange(240) % 12
    X = rng.normal(size=(240, 4)) + np.column_stack([y % 4, y // 4, y % 4, y // 4]) * 2.0
    ones, twos = X[:, :2], X[:, 2:]
    fitted = [EvidentialNetworkClassifier(12, max_iter=20).fit(part, y) for part in (ones, twos)]
    pair = [("one", fitted[0], [0, 1]), ("two", fitted[1], [2, 3])]
    model = EvidentialFusionClassifier(pair, discount=None, cv="prefit").fit(X, y)
    expected = dempster(fitted[0].predict_mass(ones), fitted[1].predict_mass(twos))
    np.testing.assert_allclose(model.predict_plausibility(X), contour(expected), atol=1e-10)
    np.testing.assert_array_equal(model.predict_mass(X).focal_sets, model.focal_sets_)


def test_on_many_classes_plausibilities_are_multiplied():
    rng = np.random.default_rng(0)
    y = np.arange(280) % 70
    X = rng.normal(size=(280, 2)) + np.column_stack([y % 10, y // 10]) * 3.0
    pair = [("near", SoftNearestCentroid()), ("bayes", GaussianNB())]
    model = EvidentialFusionClassifier(pair, calibrate="none", discount=0.01).fit(X, y)
    parts = [one.fit(X, y).predict_proba(X) for _, one in pair]
    relaxed = [np.minimum(p[:, :, None], p[:, None, :]).sum(axis=2) for p in parts]
    expected = (relaxed[0] * 0.99 + 0.01) * (relaxed[1] * 0.99 + 0.01)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-10)
    with pytest.raises(ValueError, match="at most 10 classes"):
        model.score_conflict(X)
    with pytest.raises(ValueError, match="rule='dempster'"):
        clone(model).set_params(rule="mean").fit(X, y)


# --------------------------------------------------------------------------------- missing sensors


@pytest.mark.parametrize("rule", ["dempster", "mean", "disjunctive", "cautious"])
def test_a_missing_sensor_is_left_out(rule):
    X, labels, _ = told()
    holes = X.copy()
    holes[::3, 7:14] = np.nan
    holes[1, 7] = np.nan  # one value is enough
    holes[2] = np.nan
    model = EvidentialFusionClassifier(sensors(), rule, [0.1, 0.2, 0.3], cv="prefit")
    model.fit(X, labels)
    without = EvidentialFusionClassifier(
        [sensors()[0], ("s1", "drop"), sensors()[2]], rule, [0.1, 0.2, 0.3], cv="prefit"
    ).fit(X, labels)
    expected = model.predict_mass(X).to_dense()
    lost = np.isnan(holes[:, 7:14]).any(axis=1)
    expected[lost] = without.predict_mass(X).to_dense()[lost]
    expected[2] = np.eye(8)[7]
    np.testing.assert_allclose(model.predict_mass(holes).to_dense(), expected, atol=1e-12)


def test_rows_without_a_sensor_do_not_count_for_its_doubt():
    X, labels, weight = told(60, 1)
    holes = np.vstack([X, np.full((25, 7), np.nan)])
    more = Labels.from_plausibility(
        np.vstack([labels.contour, np.eye(3)[np.arange(25) % 3]]), NAMES.tolist()
    )
    model = EvidentialFusionClassifier(sensors(1), cv="prefit")
    expected = clone(model).set_params(estimators=sensors(1)).fit(X, labels, weight).doubts_
    found = model.fit(holes, more, np.append(weight, np.ones(25))).doubts_
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_sensors_that_fail_in_training_are_learned_from_what_there_is():
    X, y = items(200)
    holes = X.copy()
    holes[::2, 4:] = np.nan
    model = EvidentialFusionClassifier(views_of(GaussianNB), calibrate="none").fit(holes, y)
    half = GaussianNB().fit(X[1::2, 4:], y[1::2])
    np.testing.assert_allclose(model.estimators_[2].theta_, half.theta_)
    assert model.score(X, y) > 0.85


def test_a_classifier_that_knows_missing_values_is_asked_until_all_are_missing():
    X, y = items(60)
    boosted = HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=3, min_samples_leaf=5)
    model = EvidentialFusionClassifier(
        [("boosted", boosted, [0, 1]), ("bayes", GaussianNB(), [2, 3])], discount=0.1, cv=2
    ).fit(X, y)
    some, every = X[:4].copy(), X[:4].copy()
    some[:, 0], every[:, :2] = np.nan, np.nan
    says = model.believe_sources(some)["boosted"].contour
    silent = model.believe_sources(every)["boosted"].contour
    assert (says < 1.0).any()
    np.testing.assert_array_equal(silent, np.ones((4, 3)))


# -------------------------------------------------------------------------------- faults and votes


def swapped(y):
    ordered = np.sort(NAMES)
    return ordered[(np.searchsorted(ordered, y) + 1) % 3]


def product_of(models, X):
    logs = sum(
        np.log(np.maximum(model.predict_proba(X[:, columns]), 1e-300))
        for model, columns in zip(models, VIEWS, strict=True)
    )
    return models[0].classes_[logs.argmax(axis=1)]


def vote_of(models, X):
    said = np.stack([m.predict(X[:, c]) for m, c in zip(models, VIEWS, strict=True)])
    counts = np.stack([(said == name).sum(axis=0) for name in models[0].classes_])
    return models[0].classes_[counts.argmax(axis=0)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("way", ["fit", "contextual"])
def test_a_faulty_view_is_survived(seed, way):
    X, y = items(200, seed)
    fresh, truth = items(1500, 100 + seed)
    seen, known = items(200, 200 + seed)
    models = [GaussianNB().fit(X[:, columns], y) for columns in VIEWS]
    models[1].fit(X[:, VIEWS[1]], swapped(y))
    views = [(f"v{k}", m, c) for k, (m, c) in enumerate(zip(models, VIEWS, strict=True))]
    fused = EvidentialFusionClassifier(views, discount=way, cv="prefit", calibrate="none")
    fused.fit(seen, known)
    accuracy = (fused.predict(fresh) == truth).mean()
    assert accuracy > (product_of(models, fresh) == truth).mean() + 0.05
    assert accuracy > (vote_of(models, fresh) == truth).mean()
    assert fused.doubts_.reshape(3, -1)[1].min() > 0.7
    repaired = EvidentialFusionClassifier(views, discount=way, cv="prefit").fit(seen, known)
    assert repaired.score(fresh, truth) > accuracy - 0.02  # even a liar is learned from


@pytest.mark.parametrize("seed", SEEDS)
def test_sound_views_lose_little_against_the_product(seed):
    X, y = items(200, seed)
    fresh, truth = items(3000, 100 + seed)
    models = [GaussianNB().fit(X[:, columns], y) for columns in VIEWS]
    fused = EvidentialFusionClassifier(views_of(GaussianNB)).fit(X, y)
    product = (product_of(models, fresh) == truth).mean()
    assert (fused.predict(fresh) == truth).mean() > product - 0.015
    assert (fused.predict(fresh) == truth).mean() > (vote_of(models, fresh) == truth).mean()


def test_overfitted_views_are_doubted():
    X, y = items(150)
    X[:, 4:] = np.random.default_rng(1).normal(size=(150, 2))
    trees = EvidentialFusionClassifier(
        views_of(lambda: DecisionTreeClassifier(random_state=0)), calibrate="none"
    ).fit(X, y)
    assert trees.doubts_[2] > 0.8 > trees.doubts_[:2].max()


def test_probabilities_are_calibrated_where_that_helps():
    X, y = items(150)
    often = np.hstack([X[:, :2]] * 8)  # the same features again and again: far too sure
    sources = [("sure", GaussianNB(), slice(2, 18)), ("near", KNeighborsClassifier(), [0, 1])]
    model = EvidentialFusionClassifier(sources, discount=0.1)
    model.fit(np.hstack([X[:, 2:4], often]), y)
    kinds = [type(one) for one in model.estimators_]
    assert kinds == [EvidentialCalibratedClassifier, KNeighborsClassifier]


@pytest.mark.parametrize("calibrate", ["none", "all"])
def test_rows_that_are_never_tested_do_not_count_for_doubts(calibrate):
    X, y = items(90)
    train, test = np.arange(60), np.arange(60, 90)
    views, split = views_of(GaussianNB), [(train, test)]
    model = EvidentialFusionClassifier(views, cv=split, calibrate=calibrate)
    fitted = [(name, GaussianNB().fit(X[train][:, c], y[train]), c) for name, _, c in views_of(int)]
    prefit = EvidentialFusionClassifier(fitted, cv="prefit", calibrate=calibrate)
    expected = prefit.fit(X[test], y[test]).doubts_
    np.testing.assert_allclose(model.fit(X, y).doubts_, expected, atol=1e-6)


def test_a_source_is_not_doubted_for_classes_that_it_has_not_met():
    X, y = items(150, gap=6.0)
    few = GaussianNB().fit(X[y != "plum", :2], y[y != "plum"])
    sources = [("few", few, [0, 1]), ("all", GaussianNB().fit(X[:, 2:4], y), [2, 3])]
    model = EvidentialFusionClassifier(sources, "yager", cv="prefit", calibrate="none").fit(X, y)
    assert model.doubts_.max() < 0.05  # each by itself


# ------------------------------------------------------------------- columns, classes, conventions


@pytest.mark.parametrize(
    "columns",
    [
        ["c", "e"],
        [2, 4],
        [-4, -2],
        slice(2, 5, 2),
        slice("c", "e", 2),
        np.array([False, False, True, False, True, False]),
        lambda X: ["c", "e"],
    ],
    ids=["names", "places", "from the end", "slice", "slice of names", "mask", "function"],
)
def test_columns_are_chosen_as_in_a_column_transformer(columns):
    X, y = items(60)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    chosen = EvidentialFusionClassifier(
        [("one", GaussianNB(), columns)], discount=0.1, calibrate="none"
    )
    whole = EvidentialFusionClassifier([("one", GaussianNB())], discount=0.1, calibrate="none")
    expected = whole.fit(frame[["c", "e"]], y).predict_proba(frame[["c", "e"]])
    chosen.fit(frame, y)
    np.testing.assert_array_equal(chosen.columns_[0], [2, 4])
    np.testing.assert_allclose(chosen.predict_proba(frame), expected, atol=1e-12)
    assert list(chosen.estimators_[0].feature_names_in_) == ["c", "e"]


def test_arrays_sparse_matrices_and_frames_of_any_make_say_the_same():
    X, y = items(60)
    model = EvidentialFusionClassifier(
        [("one", LogisticRegression(), [0, 1]), ("two", LogisticRegression(), [3])],
        calibrate="none",
        cv=KFold(3),
    )
    expected = clone(model).fit(X, y).predict_proba(X)
    for table in (
        csr_array(X),
        pl.DataFrame(X, list("abcdef")),
        pd.DataFrame(X, None, list("abcdef")),
    ):
        found = clone(model).fit(table, y).predict_proba(table)
        np.testing.assert_allclose(found, expected, atol=1e-7)


def test_names_reach_sources_and_their_parameters():
    X, y = items(60)
    model = EvidentialFusionClassifier(views_of(GaussianNB), discount=0.2, cv=2)
    model.set_params(v1__var_smoothing=0.5, v2="drop", rule="mean")
    assert model.get_params()["v1__var_smoothing"] == 0.5
    assert [len(entry) for entry in model.estimators] == [3, 3, 3]
    model.fit(X, y)
    assert model.estimators_[1].estimator.var_smoothing == 0.5
    assert model.named_estimators_["v2"] == "drop"
    assert model.named_estimators_["v0"] is model.estimators_[0]
    assert len(model.estimators_) == 2 == len(model.doubts_)
    search = GridSearchCV(
        EvidentialFusionClassifier(views_of(GaussianNB), discount=0.1, calibrate="none"),
        {"v0": ["drop", GaussianNB()], "rule": ["dempster", "mean"]},
        cv=2,
    ).fit(X, y)
    assert search.best_score_ > 0.6


def test_fitted_sources_stay_as_they_are():
    X, y = items(90)
    fitted = GaussianNB().fit(X[:30, :2], y[:30])
    before = fitted.theta_.copy()
    sources = [("old", FrozenEstimator(fitted), [0, 1]), ("new", GaussianNB(), [2, 3])]
    model = EvidentialFusionClassifier(sources, cv=3).fit(X[30:], y[30:])
    np.testing.assert_array_equal(fitted.theta_, before)
    assert model.estimators_[0].estimator.estimator is fitted
    with pytest.raises(ValueError, match="not fitted"):
        EvidentialFusionClassifier([("raw", GaussianNB())], cv="prefit").fit(X, y)


def test_a_class_that_a_source_has_never_met_stays_possible_to_it():
    X, y = items(120)
    few = GaussianNB().fit(X[y != "plum", :2], y[y != "plum"])
    sources = [("few", few, [0, 1]), ("all", GaussianNB().fit(X[:, 2:4], y), [2, 3])]
    for calibrate in ("none", "auto"):
        model = EvidentialFusionClassifier(sources, cv="prefit", calibrate=calibrate, discount=0.1)
        model.fit(X, y)
        assert model.classes_.tolist() == sorted(NAMES)
        said = model.believe_sources(X)["few"].contour
        np.testing.assert_allclose(said[:, 2], 1.0)
        assert said[:, :2].min() < 0.3
        plums = y == "plum"
        assert (model.predict(X[plums]) == "plum").mean() > 0.6


def test_pipelines_searches_and_scores_are_sources():
    X, y = items(80)
    network = make_pipeline(StandardScaler(), EvidentialNetworkClassifier(3, max_iter=30))
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, cv=2)
    sources = [
        ("network", network, [0, 1]),
        ("search", search, [2, 3]),
        ("svm", LinearSVC(), [4, 5]),
    ]
    with pytest.warns(UserWarning, match="max_iter"):
        model = EvidentialFusionClassifier(sources, cv=2).fit(X, y)
    own = model.estimators_[0].predict_mass if hasattr(network, "predict_mass") else None
    assert own is None  # a pipeline has no masses, but its last step does
    said = EvidentialFusionClassifier(
        [("network", model.estimators_[0], [0, 1])], discount=None, cv="prefit"
    ).fit(X, y)
    last = model.estimators_[0]
    expected = last[-1].predict_plausibility(last[:-1].transform(X[:, :2]))
    np.testing.assert_allclose(said.predict_plausibility(X), expected, atol=1e-12)
    assert model.score(X, y) > 0.75


def test_a_splitter_makes_the_folds():
    X, y = items(90)
    split = KFold(3, shuffle=True, random_state=0)
    model = EvidentialFusionClassifier(views_of(GaussianNB), cv=split, calibrate="none").fit(X, y)
    contours = np.ones((3, 90, 3))
    for train, test in split.split(X):
        for view, columns in enumerate(VIEWS):
            bets = (
                GaussianNB().fit(X[train][:, columns], y[train]).predict_proba(X[test][:, columns])
            )
            contours[view, test] = np.minimum(bets[:, :, None], bets[:, None, :]).sum(axis=2)
    grid = np.linspace(0.001, 0.3, 300)
    at = model.doubts_.copy()
    truth = np.searchsorted(model.classes_, y)
    for view in range(3):
        values = []
        for doubt in grid:
            at[view] = doubt
            pl_ = contours + at[:, None, None] * (1.0 - contours)
            joint = pl_.prod(axis=0)
            share = joint[np.arange(90), truth] / joint.sum(axis=1)
            values.append(np.log(share).sum() + 0.5 * np.log(at * (1 - at)).sum())
        at[view] = model.doubts_[view]
        assert abs(grid[np.argmax(values)] - model.doubts_[view]) < 0.002


def test_saved_and_loaded(tmp_path):
    X, y = items(60)
    X[::5, 2] = np.nan
    model = EvidentialFusionClassifier(
        [("v0", GaussianNB(), slice(0, 2)), ("v1", SoftNearestCentroid(), [2, 3]), ("v2", "drop")],
        discount="class",
        cv=2,
    ).fit(X, y)
    save(model, tmp_path / "fused.model")
    again = load(tmp_path / "fused.model")
    np.testing.assert_array_equal(again.predict_mass(X).values, model.predict_mass(X).values)
    assert again.named_estimators_["v2"] == "drop"


# --------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"estimators": []}, r"estimators should be tuples .* but \[\] came; write"),
        ({"estimators": None}, "estimators should be tuples"),
        ({"estimators": [("a", GaussianNB()), ("a", GaussianNB())]}, "the name 'a' came"),
        ({"estimators": [("rule", GaussianNB())]}, "the name 'rule' came"),
        ({"estimators": [("a__b", GaussianNB())]}, "the name 'a__b' came"),
        ({"estimators": [("a", GaussianNB)]}, "The source 'a' should be a classifier"),
        ({"estimators": [("a", StandardScaler())]}, "The source 'a' should be a classifier"),
        ({"estimators": [("a", "drop")]}, "all of them are 'drop'"),
        ({"estimators": [("a", LinearSVC())], "calibrate": "none"}, "has no predict_proba; leave"),
        ({"estimators": [("a", GaussianNB(), [0, 6])]}, "6 is not: X has 6 columns without names"),
        ({"estimators": [("a", GaussianNB(), ["x"])]}, "'x' is not"),
        ({"estimators": [("a", GaussianNB(), [0, 0])]}, "names one of them twice"),
        ({"estimators": [("a", GaussianNB(), [])]}, "names none"),
        ({"estimators": [("a", GaussianNB(), [True, False])]}, "a mask of 6"),
        ({"rule": "dempstr"}, "did you mean 'dempster'"),
        ({"discount": "fitt"}, "did you mean 'fit'"),
        ({"discount": 1.5}, r"a doubt in \[0, 1\]"),
        ({"discount": [0.1]}, "one for each of the 3 sources"),
        ({"discount": {"v9": 0.1}}, "'v9' is none of them"),
        ({"calibrate": "maybe"}, "calibrate should be"),
        ({"smoothing": -1}, "smoothing should be"),
        ({"cv": 1}, "cv should be"),
    ],
)
def test_bad_options_are_refused_in_words(change, message):
    X, y = items(30)
    model = EvidentialFusionClassifier(views_of(GaussianNB)).set_params(**change)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_a_source_that_fails_is_named():
    X, y = items(30)
    model = EvidentialFusionClassifier([("proud", GaussianNB(priors=[0.5, 0.5]), [0, 1])])
    with pytest.raises(ValueError, match="priors") as caught:
        model.fit(X, y)
    assert "the source 'proud'" in "".join(caught.value.__notes__)
    X[:, 2] = np.nan
    with pytest.raises(ValueError, match="source 'v1' should have some rows"):
        EvidentialFusionClassifier(views_of(GaussianNB)).fit(X, y)


def test_one_source_and_one_class():
    X, y = items(40)
    alone = EvidentialFusionClassifier([("only", GaussianNB())], discount=None, calibrate="none")
    np.testing.assert_allclose(
        alone.fit(X, y).predict_proba(X), GaussianNB().fit(X, y).predict_proba(X), atol=1e-10
    )
    single = EvidentialFusionClassifier(views_of(GaussianNB)).fit(X, ["fig"] * 40)
    assert set(single.predict(X)) == {"fig"}
