"""Evidential calibration: pairs combined, and the classifiers that give the scores."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_blobs
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from plausible.base import takes_labels
from plausible.belief import (
    belief,
    contour,
    decide,
    pignistic,
    plausibility,
)
from plausible.labels import Labels
from plausible.models import (
    EvidentialCalibratedClassifier,
    SoftNearestCentroid,
    cross_calibrated,
)
from plausible.models.calibration.classifier import about_pair, combine_pairs, log_plausibilities
from plausible.models.calibration.predictive import calibrate
from plausible.models.calibration.scores import class_scores
from plausible.models.folds import content_folds

IRIS = load_iris(return_X_y=True)


# -- Pairs combined --------------------------------------------------------------------------------


def combination_by_enumeration(masses, pairs, n_classes):
    """All tuples of what the pairs say: first, second, or both; each excludes a class or none."""
    total = np.zeros(2**n_classes)
    for said in product(range(3), repeat=len(pairs)):
        left = set(range(n_classes))
        for (i, j), what in zip(pairs, said, strict=True):
            left -= ({j}, {i}, set())[what]
        column = sum(1 << k for k in left)
        total[column] += np.prod([masses[p][what] for p, what in enumerate(said)])
    return total[1:] / total[1:].sum()


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("scores", ["pairs", "classes"])
def test_masses_of_pairs_are_combined_by_dempsters_rule(n_classes, scores):
    X, y = make_blobs(60, centers=n_classes, cluster_std=4.0, random_state=1)
    model = EvidentialCalibratedClassifier(GaussianNB(), cv=3, scores=scores).fit(X, y)
    pairs = list(combinations(range(n_classes), 2))
    assert model.pairs_.tolist() == [list(pair) for pair in pairs]
    masses = model.predict_mass(X[:4])
    assert masses.focal_sets.tolist() == model.focal_sets_.tolist()
    for i, row in enumerate(masses.values):
        of_pairs = []
        for p, pair in enumerate(pairs):
            base = model.estimators_[p if scores == "pairs" else 0]
            columns = (0, 1) if scores == "pairs" else pair
            logs = np.log(np.maximum(base.predict_proba(X[[i]]), 1e-6))[0]
            difference = logs[[columns[1]]] - logs[[columns[0]]]
            of_pairs.append(model.calibrations_[p].masses(difference)[0])
        expected = combination_by_enumeration(of_pairs, pairs, n_classes)
        np.testing.assert_allclose(row, expected, atol=1e-12)
    np.testing.assert_allclose(model.predict_plausibility(X[:4]), contour(masses))
    np.testing.assert_allclose(model.predict_proba(X[:4]), pignistic(masses))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_a_row_is_shared_out_among_the_pairs(n_classes):
    # Every class is in K - 1 pairs, and so is a row, whatever it says; a hard one in whole.
    rng = np.random.default_rng(n_classes)
    contour = rng.uniform(0.1, 1.0, (12, n_classes)) * rng.choice([0.3, 1.0], (12, 1))
    contour[:4] = np.eye(n_classes)[np.arange(4) % n_classes]
    contour[4:8, 0], contour[8] = 0.0, 1.0
    weight = rng.uniform(0.5, 2.0, 12)
    shares = np.zeros((len(contour), n_classes, n_classes))
    for i, j in combinations(range(n_classes), 2):
        rows, inside, share = about_pair(contour, weight, np.array([i, j]))
        assert rows.tolist() == np.flatnonzero(contour[:, [i, j]].any(axis=1)).tolist()
        np.testing.assert_allclose(inside.max(axis=1), 1.0)
        np.testing.assert_allclose(
            inside[:, 0] * contour[rows, j], inside[:, 1] * contour[rows, i], rtol=1e-12
        )
        shares[rows, i, j] = share
    np.testing.assert_allclose(shares.sum(axis=(1, 2)), weight * (n_classes - 1))
    if n_classes > 2:  # what is said of the other classes takes away from a pair
        np.testing.assert_allclose(shares[8, 0, 1], weight[8] * 2 / n_classes)
    hard = shares[:4].max(axis=(1, 2))
    np.testing.assert_allclose(hard, weight[:4])


def test_two_classes_are_one_calibration():
    X, y = IRIS[0][50:], IRIS[1][50:]
    model = EvidentialCalibratedClassifier(LinearSVC(), cv=4).fit(X, y)
    dense = model.predict_mass(X).to_dense()
    (calibration,), (base,) = model.calibrations_, model.estimators_
    np.testing.assert_allclose(
        dense[:, [1, 2, 3]], calibration.masses(base.decision_function(X)), atol=1e-12
    )
    tau = calibration.probability(base.decision_function(X))
    assert (belief(dense, sets=[2])[:, 0] <= tau + 1e-6).all()
    assert (plausibility(dense, sets=[2])[:, 0] >= tau - 1e-6).all()


def test_one_class_and_a_class_that_no_row_favors():
    X = np.arange(6.0)[:, None]
    model = EvidentialCalibratedClassifier().fit(X, ["a"] * 6)
    assert model.predict_mass(X).values.tolist() == [[1.0]] * 6
    labels = Labels.from_crisp(["a"] * 6, classes=["a", "b"])
    model = EvidentialCalibratedClassifier().fit(X, labels)
    assert set(model.predict(X)) == {"a"}
    masses = model.predict_mass(X).to_dense()
    # Laplace's rule: a has the most likely probability 7/8, and six items leave doubt.
    assert (masses[:, 1] < 7 / 8).all()
    assert (masses[:, 1] + masses[:, 3] > 7 / 8).all()


def test_renamed_classes_are_the_same_model():
    X, y = make_blobs(60, centers=3, cluster_std=3.0, random_state=0)
    for scores in ("pairs", "classes"):
        model = EvidentialCalibratedClassifier(GaussianNB(), scores=scores).fit(X, y)
        other = EvidentialCalibratedClassifier(GaussianNB(), scores=scores).fit(X, 2 - y)
        np.testing.assert_allclose(
            other.predict_plausibility(X), model.predict_plausibility(X)[:, ::-1], atol=1e-5
        )


def test_many_classes_have_probabilities_but_no_masses():
    pairs = np.array(list(combinations(range(21), 2)))
    masses = np.random.default_rng(0).dirichlet([1.0, 1.0, 1.0], (2, len(pairs)))
    found = np.exp(log_plausibilities(masses, pairs, 21))
    for k in range(21):
        factors = [m[:, pair.index(k)] + m[:, 2] for m, pair in by_pair(masses, pairs) if k in pair]
        np.testing.assert_allclose(found[:, k], np.prod(factors, axis=0))
    with pytest.raises(ValueError, match="at most K = 20 classes"):
        combine_pairs(masses, pairs, 21)


def by_pair(masses, pairs):
    return zip(masses.swapaxes(0, 1), pairs.tolist(), strict=True)


def test_fewer_rows_leave_more_doubt():
    X, y = make_blobs(400, centers=3, cluster_std=3.0, random_state=0)
    fresh = X[200:]
    on_all = []
    for n in (12, 60, 200):
        model = EvidentialCalibratedClassifier(GaussianNB(), scores="classes").fit(X[:n], y[:n])
        singletons = model.predict_mass(fresh).values[:, [0, 1, 3]]
        on_all.append(1.0 - singletons.sum(axis=1).mean())
    assert on_all[0] > 2 * on_all[1] > 2 * on_all[2]


# -- Classifiers and rows --------------------------------------------------------------------------


def test_a_frozen_classifier_is_calibrated_on_all_rows():
    X, y = IRIS[0][50:], IRIS[1][50:]
    base = make_pipeline(StandardScaler(), LinearSVC()).fit(X[::2], y[::2])
    model = EvidentialCalibratedClassifier(FrozenEstimator(base), cv="nonsense")
    model.fit(X[1::2], y[1::2])
    rest = base.decision_function(X[1::2]), np.eye(2)[y[1::2] - 1], np.ones(50)
    expected = calibrate(*rest).masses(base.decision_function(X))
    np.testing.assert_allclose(model.predict_mass(X).values, expected, atol=1e-12)
    with pytest.raises(ValueError, match="possible in 1 row"):
        model.fit(X[:3], [0, 1, 2])


def test_scores_for_calibration_come_from_classifiers_that_did_not_see_the_row():
    y = np.arange(40) % 2
    X = np.random.default_rng(0).normal(1.5 * y)[:, None]
    folds = KFold(4, shuffle=True, random_state=0)
    model = EvidentialCalibratedClassifier(KNeighborsClassifier(3), cv=folds).fit(X, y)
    expected = calibrate(*scored_by(folds, X, y))
    assert np.isclose(model.calibrations_[0].slope, expected.slope)
    half = PredefinedSplit(np.where(np.arange(40) < 20, -1, np.arange(40) % 4 // 2))
    model = EvidentialCalibratedClassifier(KNeighborsClassifier(3), cv=half).fit(X, y)
    seen = calibrate(*scored_by(half, X, y)).slope
    assert np.isclose(model.calibrations_[0].slope, seen)
    with pytest.raises(ValueError, match="tested twice"):
        EvidentialCalibratedClassifier(cv=ShuffleSplit(5, random_state=0)).fit(X, y)
    with pytest.raises(ValueError, match="cv should be a whole number of at least 2"):
        EvidentialCalibratedClassifier(cv=1).fit(X, y)


def scored_by(folds, X, y):
    """Scores, contours and weights of the rows that are tested, written out."""
    score, tested = [], []
    for train, test in folds.split(X):
        probability = KNeighborsClassifier(3).fit(X[train], y[train]).predict_proba(X[test])
        score.append(np.diff(np.log(np.maximum(probability, 1e-6)))[:, 0])
        tested.append(test)
    tested = np.concatenate(tested)
    return np.concatenate(score), np.eye(2)[y[tested]], np.ones(len(tested))


def test_folds_depend_on_what_rows_hold_only():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)).round(1), np.arange(50) % 3
    known, weight = np.eye(3)[y], np.ones(50)
    folds = content_folds(X, known, weight, 5)
    order = rng.permutation(50)
    np.testing.assert_array_equal(content_folds(X[order], known[order], weight, 5), folds[order])
    twice = np.repeat(np.arange(50), 2)
    again = content_folds(X[twice], known[twice], np.ones(100), 5)
    np.testing.assert_array_equal(again, folds[twice])
    sizes = [np.bincount(folds[y == k], minlength=5) for k in range(3)]
    assert np.ptp(sizes, axis=1).max() <= 3  # equal rows stay together
    assert content_folds(X[:7], known[:7], weight[:7], 5).max() == 1  # two rows of some class


def test_sparse_rows_are_passed_on():
    X, y = IRIS
    model = EvidentialCalibratedClassifier(LinearSVC(random_state=0), scores="classes").fit(X, y)
    other = EvidentialCalibratedClassifier(LinearSVC(random_state=0), scores="classes")
    other.fit(csr_array(X), y)
    # Sparse rows are dealt out to folds in another order.
    np.testing.assert_allclose(other.predict_proba(csr_array(X)), model.predict_proba(X), atol=0.1)
    with pytest.raises(TypeError, match="[Ss]parse"):
        EvidentialCalibratedClassifier().fit(csr_array(X), y)


def test_a_classifier_that_ignores_features_leaves_only_frequencies():
    X, y = np.arange(30.0)[:, None], np.repeat([0, 0, 1], 10)
    model = EvidentialCalibratedClassifier(DummyClassifier(), cv=5).fit(X, y)
    masses = model.predict_mass(X).to_dense()
    np.testing.assert_allclose(masses, np.tile(masses[:1], (30, 1)))
    assert masses[0, 1] < 2 / 3 < masses[0, 1] + masses[0, 3]


def test_estimators_of_ours_learn_from_degrees_and_others_from_their_margin():
    X, y = make_blobs(40, centers=2, cluster_std=4.0, random_state=0)
    doubt = np.linspace(0.0, 0.9, 40)
    labels = Labels.from_doubt(y, doubt)
    ours = EvidentialCalibratedClassifier(SoftNearestCentroid()).fit(X, labels)
    np.testing.assert_allclose(
        ours.estimators_[0].means_, SoftNearestCentroid().fit(X, labels).means_
    )
    peer = EvidentialCalibratedClassifier(GaussianNB()).fit(X, labels)
    weighted = GaussianNB().fit(X, y, sample_weight=1.0 - doubt)
    np.testing.assert_allclose(peer.estimators_[0].theta_, weighted.theta_)
    piped = make_pipeline(StandardScaler(), GaussianNB())
    piped = EvidentialCalibratedClassifier(piped).fit(X, labels)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(
        piped.estimators_[0][-1].theta_,
        GaussianNB().fit(scaled, y, sample_weight=1.0 - doubt).theta_,
    )
    assert takes_labels(make_pipeline(StandardScaler(), SoftNearestCentroid()))
    assert not takes_labels(make_pipeline(StandardScaler(), GaussianNB()))


def test_sets_and_unknown_rows_count_only_where_they_say_something():
    X, y = make_blobs(45, centers=3, cluster_std=3.0, random_state=0)
    model = EvidentialCalibratedClassifier(GaussianNB()).fit(X, y)
    more = np.vstack([X, X[:5] + 1.0])
    labels = Labels.concatenate([Labels.from_crisp(y), Labels.unknown(5, range(3))])
    other = EvidentialCalibratedClassifier(GaussianNB()).fit(more, labels)
    for one, two in zip(model.estimators_, other.estimators_, strict=True):
        np.testing.assert_array_equal(one.theta_, two.theta_)
    np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X), atol=1e-5)


def test_classifiers_without_weights_do_not_see_unknown_rows():
    X, y = make_blobs(30, centers=2, cluster_std=3.0, random_state=0)
    model = EvidentialCalibratedClassifier(KNeighborsClassifier(1)).fit(X, y)
    labels = Labels.concatenate([Labels.from_crisp(y), Labels.unknown(30, range(2))])
    other = EvidentialCalibratedClassifier(KNeighborsClassifier(1))
    other.fit(np.vstack([X, X + 0.01]), labels)
    assert other.estimators_[0].n_samples_fit_ == model.estimators_[0].n_samples_fit_ == 30


def test_sets_and_refusals():
    X, y = make_blobs(60, centers=3, cluster_std=3.0, random_state=0)
    model = EvidentialCalibratedClassifier(GaussianNB()).fit(X, y)
    masses = model.predict_mass(X)
    kept = model.predict_set(X)
    np.testing.assert_array_equal(kept, decide(masses, "interval_dominance").chosen)
    assert {1, 2, 3} >= set(kept.sum(axis=1)) > {1}
    refused = ~model.predict_set(X, rule="pignistic", reject=0.4).any(axis=1)
    np.testing.assert_array_equal(refused, decide(masses, reject=0.4).refused)
    right = model.predict(X) == y
    assert 0 < refused.sum() < 60
    assert right[~refused].mean() > right.mean()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": "both"}, "scores should be 'pairs' or 'classes', but 'both'"),
        (
            {"estimator": SVC(decision_function_shape="ovo"), "scores": "classes"},
            "one column for each of the 3 classes, but those of SVC are for pairs",
        ),
        ({"estimator": LinearSVC(C=100.0), "smoothing": False}, "no maximum; use smoothing"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        EvidentialCalibratedClassifier(**options).fit(*IRIS)


def test_scores_are_finite_and_unknown_classes_have_none():
    class Extreme:
        classes_ = np.array(["a", "b"])

        def predict_proba(self, X):
            return np.array([[1.0, 0.0], [0.25, 0.75]])

    scores = class_scores(Extreme(), np.zeros((2, 1)), np.array(["a", "b", "c"]))
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], [np.log(1e-6), np.log(3)])
    assert np.isnan(scores[:, 2]).all()


def test_data_frames_reach_the_estimator_with_their_names():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 40)
    frame = pd.DataFrame({"x": rng.normal(size=80) + 2 * (y == "b"), "kind": list("uv") * 40})
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), (StandardScaler(), ["x"]))
    inner = make_pipeline(columns, LogisticRegression())
    model = EvidentialCalibratedClassifier(inner).fit(frame, y)
    assert model.score(frame, y) > 0.7
    with pytest.raises(ValueError, match="should be a classifier"):
        EvidentialCalibratedClassifier(StandardScaler()).fit(frame, y)


def test_beliefs_for_a_fusion_are_out_of_fold():
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=150)
    X, y = rng.normal(size=(150, 2)) + 1.5 * np.eye(3, 2)[codes], np.array(["b", "c", "a"])[codes]
    folds = np.arange(150) % 5
    labels = Labels.from_crisp(y, ["a", "b", "c"])
    tree = DecisionTreeClassifier(random_state=0)
    model, beliefs = cross_calibrated(tree, X, labels, np.ones(150), folds)
    assert (model.predict(X) == y).mean() > 0.95  # a tree knows what it has seen
    assert (beliefs.predicted == y).mean() < 0.8
    expected = np.concatenate(
        [tree.fit(X[folds != k], y[folds != k]).predict(X[folds == k]) for k in range(5)]
    )
    order = np.argsort(np.concatenate([np.flatnonzero(folds == k) for k in range(5)]))
    assert (beliefs.predicted == expected[order]).mean() > 0.95
