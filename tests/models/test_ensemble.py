"""Ensembles keep the degrees of labels: they are what their definitions say, member by member."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_blobs
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from plausible.base import takes_labels
from plausible.labels import Labels
from plausible.models import (
    DiscriminantClassifier,
    EvidentialCalibratedClassifier,
    PartialLogisticRegression,
    SoftBaggingClassifier,
    SoftNearestCentroid,
    SoftStackingClassifier,
    SoftVotingClassifier,
    cross_val_beliefs,
)
from plausible.models.ensemble.bagging import distinct_rows

NAMES = ["cow", "ant", "bee"]  # not sorted
ORDER = [1, 2, 0]  # of their columns, when sorted
X, CODES = make_blobs(90, centers=[[0, 0], [3, 0], [0, 3]], random_state=0)
WEIGHT = np.random.default_rng(2).uniform(0.2, 2.0, 90)


def make_labels():
    """Hard labels, doubts, sets, and unknown rows."""
    contour = np.eye(3)[CODES]
    contour[1::4] = np.maximum(contour[1::4], np.linspace(0.1, 0.8, 23)[:, None])
    rows = np.arange(2, 90, 4)
    contour[rows, (CODES[rows] + 1) % 3] = 1.0
    contour[3::12] = 1.0
    return Labels.from_plausibility(contour, NAMES)


LABELS = make_labels()


def hard_rows():
    """What a learner that knows no degrees is given, written out row by row."""
    rows, names, weights = [], [], []
    for i, row in enumerate(LABELS.contour):
        second, first = sorted(row)[-2:]
        if first > second:
            rows.append(i)
            names.append(NAMES[int(row.argmax())])
            weights.append(WEIGHT[i] * (1 - second / first))
    return rows, names, np.array(weights)


def test_a_vote_is_the_weighted_mean_of_bets_of_members_that_keep_degrees():
    members = [("near", SoftNearestCentroid()), ("bayes", GaussianNB())]
    model = SoftVotingClassifier(members, weights=[1, 3]).fit(X, LABELS, WEIGHT)
    rows, names, weights = hard_rows()
    near = SoftNearestCentroid().fit(X, LABELS, WEIGHT)
    bayes = GaussianNB().fit(X[rows], names, sample_weight=weights)
    expected = 0.25 * near.predict_proba(X) + 0.75 * bayes.predict_proba(X)
    assert model.classes_.tolist() == sorted(NAMES)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), np.sort(NAMES)[expected.argmax(axis=1)])
    np.testing.assert_array_equal(model.named_estimators_["near"].means_, near.means_)
    np.testing.assert_array_equal(model.named_estimators_["bayes"].theta_, bayes.theta_)
    hardened = SoftVotingClassifier(members).fit(X, LABELS.crisp())  # "" is not labeled
    assert np.abs(hardened.estimators_[0].means_ - near.means_).max() > 1e-3


def test_what_is_known_of_new_items_counts_in_every_kind_of_answer():
    model = SoftVotingClassifier().fit(X, LABELS)
    known = Labels.from_sets([{"cow", "bee"}] * 90, NAMES)
    bets, given = model.predict_proba(X), model.predict_proba(X, known)
    allowed = bets * known.contour[:, ORDER]
    np.testing.assert_allclose(given, allowed / allowed.sum(axis=1, keepdims=True), atol=1e-12)
    certain = SoftVotingClassifier([("tree", DecisionTreeClassifier(random_state=0))])
    certain.fit(X, LABELS)
    assert np.isneginf(certain.predict_log_proba(X)).any()
    np.testing.assert_allclose(certain.predict_plausibility(X).max(axis=1), 1.0)


def test_classes_that_a_member_has_not_met_get_no_bets_from_it():
    wider = LABELS.reorder([*NAMES, "yak"])
    model = SoftVotingClassifier([("bayes", GaussianNB()), ("near", SoftNearestCentroid())])
    bets = model.fit(X, wider).predict_proba(X)
    assert model.classes_.tolist() == ["ant", "bee", "cow", "yak"]
    np.testing.assert_array_equal(bets[:, 3], 0.0)
    np.testing.assert_allclose(bets.sum(axis=1), 1.0)


def test_bags_are_samples_of_rows_with_their_labels():
    inner = SoftNearestCentroid()
    model = SoftBaggingClassifier(inner, n_estimators=7, random_state=3).fit(X, LABELS)
    assert [len(bag) for bag in model.estimators_samples_] == [90] * 7
    by_hand = [clone(inner).fit(X[bag], LABELS[bag]) for bag in model.estimators_samples_]
    expected = np.mean([one.predict_proba(X) for one in by_hand], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    hardened = np.mean(
        [
            clone(inner).fit(X[bag], LABELS.crisp()[bag]).predict_proba(X)
            for bag in model.estimators_samples_
        ],
        axis=0,
    )
    assert np.abs(hardened - expected).max() > 1e-3


def test_rows_are_drawn_as_often_as_their_weights_say():
    weight = np.where(np.arange(90) < 45, 0.0, np.where(np.arange(90) % 2, 3.0, 1.0))
    model = SoftBaggingClassifier(SoftNearestCentroid(), n_estimators=200, random_state=0)
    bags = np.concatenate(model.fit(X, LABELS, weight).estimators_samples_)
    assert len(bags) == 200 * weight.sum()
    times = np.bincount(bags, minlength=45) / 200  # of rows 45, 46, ...
    assert abs(times[0::2].mean() - 3.0) < 0.1
    assert abs(times[1::2].mean() - 1.0) < 0.1
    few = clone(model).set_params(max_samples=0.25, n_estimators=2).fit(X, LABELS)
    assert [len(bag) for bag in few.estimators_samples_] == [22, 22]
    few = clone(model).set_params(max_samples=40, n_estimators=2).fit(X, LABELS)
    assert [len(bag) for bag in few.estimators_samples_] == [40, 40]


def test_rows_are_the_same_when_features_and_labels_are():
    points = np.array([[1.0], [0.0], [1.0], [1.0], [0.0]])
    labels = Labels.from_plausibility([[1, 0.5], [1, 0], [1, 1], [0.5, 0.25], [1, 0]])
    first, weight = distinct_rows(points, labels, np.array([1.0, 2.0, 4.0, 8.0, 16.0]))
    assert dict(zip(first.tolist(), weight.tolist(), strict=True)) == {1: 18.0, 0: 9.0, 2: 4.0}


def test_bags_without_two_classes_are_drawn_again():
    few = Labels.from_crisp(["b", "c", "a", "a", "a", "a", "a", "a", "a", "a"])
    points = np.arange(10.0)[:, None]
    model = SoftBaggingClassifier(LogisticRegression(), n_estimators=20, random_state=0)
    model.fit(points, few)  # which refuses a single class
    assert {len(one.classes_) for one in model.estimators_} == {2, 3}
    np.testing.assert_allclose(model.predict_proba(points).sum(axis=1), 1.0)


def test_members_of_a_bag_have_random_states_of_their_own():
    tree = make_pipeline(SelectKBest(k=1), DecisionTreeClassifier(splitter="random"))
    model = SoftBaggingClassifier(tree, n_estimators=3, random_state=0).fit(X, LABELS)
    seeds = [one[-1].random_state for one in model.estimators_]
    assert len(set(seeds)) == 3
    again = clone(model).fit(X, LABELS)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_stacking_learns_from_bets_out_of_fold_with_degrees():
    folds = KFold(3, shuffle=True, random_state=0)
    members = [("near", SoftNearestCentroid()), ("bayes", GaussianNB())]
    final = PartialLogisticRegression(random_state=0)
    model = SoftStackingClassifier(members, final, cv=folds).fit(X, LABELS, WEIGHT)
    rows, names, weights = (np.array(part) for part in hard_rows())
    features = np.empty((90, 6))
    for train, test in folds.split(X):
        near = SoftNearestCentroid().fit(X[train], LABELS[train], WEIGHT[train])
        inside = np.isin(rows, train)
        bayes = GaussianNB().fit(X[rows[inside]], names[inside], weights[inside])
        features[test] = np.hstack([one.predict_proba(X[test]) for one in (near, bayes)])
    expected = clone(final).fit(features, LABELS, WEIGHT)
    np.testing.assert_allclose(model.final_estimator_.coef_, expected.coef_, atol=1e-8)
    all_rows = np.hstack([one.predict_proba(X) for one in model.estimators_])
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(all_rows), atol=1e-8)
    hardened = clone(final).fit(features, LABELS.crisp(), WEIGHT)
    assert np.abs(hardened.coef_ - expected.coef_).max() > 1e-3


def test_stacking_needs_two_folds():
    with pytest.raises(ValueError, match="two folds"):
        SoftStackingClassifier([("near", SoftNearestCentroid())]).fit(X[[0, 0]], ["a", "a"])
    with pytest.raises(ValueError, match="tested twice"):
        SoftStackingClassifier(cv=ShuffleSplit(5, random_state=0)).fit(X, LABELS)


# -- Beliefs out of fold ---------------------------------------------------------------------------


def test_beliefs_about_rows_come_from_models_of_other_rows_with_degrees():
    splitter = GroupKFold(3)
    groups = np.arange(90) % 10
    beliefs = cross_val_beliefs(
        DiscriminantClassifier(), X, LABELS, cv=splitter, groups=groups, sample_weight=WEIGHT
    )
    expected = np.empty((90, 3))
    for train, test in splitter.split(X, groups=groups):
        model = DiscriminantClassifier().fit(X[train], LABELS[train], WEIGHT[train])
        expected[test] = model.predict_proba(X[test])
    assert beliefs.classes.tolist() == sorted(NAMES)
    np.testing.assert_allclose(beliefs.probability, expected, atol=1e-12)
    hardened = cross_val_beliefs(DiscriminantClassifier(), X, LABELS.crisp(), cv=splitter,
                                 groups=groups)  # fmt: skip
    assert np.abs(hardened.probability - expected).max() > 1e-3


def test_masses_are_kept_where_the_classifier_gives_them():
    inner = EvidentialCalibratedClassifier(SoftNearestCentroid(), cv=2)
    folds = KFold(2, shuffle=True, random_state=1)
    beliefs = cross_val_beliefs(inner, X, LABELS, cv=folds)
    train, test = next(folds.split(X))
    expected = clone(inner).fit(X[train], LABELS[train]).predict_mass(X[test])
    np.testing.assert_allclose(
        beliefs[test].masses().to_dense(), expected.to_dense(), rtol=0, atol=1e-12
    )


def test_learners_of_scikit_learn_never_meet_unknown_rows():
    beliefs = cross_val_beliefs(KNeighborsClassifier(1), X.tolist(), LABELS, cv=2)
    assert beliefs.classes.tolist() == sorted(NAMES)
    sparse = cross_val_beliefs(LogisticRegression(), csr_array(X), LABELS)
    dense = cross_val_beliefs(LogisticRegression(), X, LABELS)
    np.testing.assert_allclose(sparse.probability, dense.probability, atol=1e-4)


def test_each_row_is_asked_about_once():
    with pytest.raises(ValueError, match="each of the 90 rows once, but tests 45 rows"):
        cross_val_beliefs(SoftNearestCentroid(), X, LABELS, cv=ShuffleSplit(5, random_state=0))


# -- Citizens of scikit-learn ----------------------------------------------------------------------

ENSEMBLES = [
    SoftVotingClassifier([("near", SoftNearestCentroid()), ("tree", DecisionTreeClassifier())]),
    SoftStackingClassifier([("near", SoftNearestCentroid()), ("tree", DecisionTreeClassifier())]),
]


@pytest.mark.parametrize("model", ENSEMBLES)
def test_members_and_their_parameters_are_reached_by_name(model):
    model = clone(model).set_params(tree__max_depth=2, n_jobs=1)
    assert model.get_params()["tree__max_depth"] == 2
    assert "tree" not in model.get_params(deep=False)
    bayes = GaussianNB()
    before = model.estimators
    model.set_params(tree=bayes, near=model.get_params()["near"])
    assert [name for name, _ in model.estimators] == ["near", "tree"]
    assert model.get_params()["tree"] is bayes
    assert before[1][1] is not bayes, "the list that was given is changed"
    with pytest.raises(ValueError, match="Invalid parameter 'bush'"):
        model.set_params(bush=1)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ([], "write"),
        (3, "write"),
        ([("near", SoftNearestCentroid())] * 2, "'near'"),
        ([("n_jobs", SoftNearestCentroid())], "'n_jobs'"),
        ([("a__b", SoftNearestCentroid())], "'a__b'"),
        ([("scores", LinearSVC())], "LinearSVC has no predict_proba; wrap"),
        ([("scale", SelectKBest())], "classifiers"),
    ],
)
@pytest.mark.parametrize("model", ENSEMBLES)
def test_bad_members_are_refused(model, members, words):
    with pytest.raises(ValueError, match=words):
        clone(model).set_params(estimators=members).fit(X, LABELS)


@pytest.mark.parametrize("weights", [[1], [1, -1], [0, 0], [np.nan, 1]])
def test_bad_votes_are_refused(weights):
    with pytest.raises(ValueError, match="weights should be .* each of the 2 estimators"):
        SoftVotingClassifier(weights=weights).fit(X, LABELS)


class Plain(ClassifierMixin, BaseEstimator):
    """Takes no weights, and says nothing about labels."""

    def fit(self, X, y):
        self.classes_, self.seen_ = np.unique(y), len(y)
        return self

    def predict_proba(self, X):
        return np.full((X.shape[0], len(self.classes_)), 1 / len(self.classes_))


def test_ensembles_take_labels_and_their_members_what_they_can():
    models = [*ENSEMBLES, SoftBaggingClassifier(Plain(), n_estimators=2, random_state=0)]
    assert all(takes_labels(model) for model in models)
    bag = models[-1].fit(X, LABELS)
    sure = [sum(np.sort(LABELS.contour[rows])[:, 1] < 1.0) for rows in bag.estimators_samples_]
    assert [one.seen_ for one in bag.estimators_] == sure


def test_all_unknown_rows_are_refused():
    nothing = Labels.unknown(90, NAMES)
    for model in (SoftBaggingClassifier(GaussianNB()), SoftVotingClassifier([("b", GaussianNB())])):
        with pytest.raises(ValueError, match="At least one row should favor a class"):
            model.fit(X, nothing)
    with pytest.raises(ValueError, match="zero sample weight"):
        SoftVotingClassifier().fit(X, LABELS, np.zeros(90))


def test_two_processes_give_the_same():
    for model in (
        SoftBaggingClassifier(SoftNearestCentroid(), n_estimators=3, random_state=0),
        SoftVotingClassifier([("near", SoftNearestCentroid()), ("bayes", GaussianNB())]),
    ):
        one, two = (clone(model).set_params(n_jobs=jobs).fit(X, LABELS) for jobs in (1, 2))
        np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
