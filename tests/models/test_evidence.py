"""Weights of evidence of logistic models: against Dempster's rule itself, and by their laws."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from plausible.belief import SparseMasses, conjunctive, contour, dempster, to_dense
from plausible.labels import Labels
from plausible.models import DiscriminantClassifier, weights_of_evidence

X, Y = load_iris(return_X_y=True)
PAIR = Y > 0


class Softmax(ClassifierMixin, BaseEstimator):
    """A fitted linear softmax model with given coefficients."""

    def __init__(self, coef, intercept, n_classes=None):
        self.coef_, self.intercept_ = np.array(coef), np.array(intercept)
        self.classes_ = np.arange(n_classes or len(self.coef_))
        self.fitted_ = True

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return X @ self.coef_.T + self.intercept_

    def predict_proba(self, X):
        logits = self.decision_function(X)
        if len(self.classes_) == 2:
            logits = np.hstack([np.zeros((len(X), 1)), logits])
        return softmax(logits, axis=1)


def random_softmax(n_classes, n_features=3, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    n_rows = 1 if n_classes == 2 else n_classes
    model = Softmax(
        rng.normal(0, scale, (n_rows, n_features)), rng.normal(0, scale, n_rows), n_classes
    )
    return model, rng.normal(0.5, 1.0, (6, n_features))


def simple(focal_set, weight, n_classes):
    """The mass function that gives 1 - exp(-weight) to one set."""
    full = (1 << n_classes) - 1
    if focal_set in (0, full):  # K = 1 only
        return SparseMasses([1.0], [full], n_classes)
    return SparseMasses([-np.expm1(-weight), np.exp(-weight)], [focal_set, full], n_classes)


def pieces(weights, n_classes):
    """One simple mass function for each feature and class, of one row of feature weights (d, K)."""
    full = (1 << n_classes) - 1
    for row in weights:
        for k, weight in enumerate(row):
            yield simple(1 << k if weight > 0 else full ^ (1 << k), abs(weight), n_classes)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
def test_mass_plausibility_and_conflict_are_those_of_dempsters_rule(n_classes):
    model, points = random_softmax(n_classes, seed=n_classes)
    evidence = weights_of_evidence(model, points)
    masses = to_dense(evidence.mass())
    for i, weights in enumerate(evidence.feature_weights()):
        sources = list(pieces(weights, n_classes))
        expected = dempster(*sources)
        np.testing.assert_allclose(masses[i], to_dense(expected), atol=1e-12)
        np.testing.assert_allclose(evidence.plausibility()[i], contour(expected), atol=1e-12)
        assert np.isclose(to_dense(conjunctive(*sources))[0], evidence.conflict[i], atol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(max_iter=2000),
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis("lsqr"),
        DiscriminantClassifier(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(LogisticRegression(max_iter=2000)),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("rows", [slice(None), PAIR], ids=["three classes", "two classes"])
def test_plausibilities_scaled_to_one_are_the_probabilities_of_the_model(model, rows):
    model.fit(X[rows], Y[rows])
    evidence = weights_of_evidence(model, X[rows])
    expected = model.predict_proba(X[rows])
    np.testing.assert_allclose(evidence.probability(), expected, rtol=0, atol=1e-10)
    plausibility = evidence.plausibility()
    np.testing.assert_allclose(
        plausibility / plausibility.sum(axis=1, keepdims=True), expected, rtol=0, atol=1e-10
    )
    np.testing.assert_allclose(contour(evidence.mass()), plausibility, atol=1e-10)
    assert evidence.classes.tolist() == model.classes_.tolist()


def test_soft_labels_and_names():
    names = np.array(["setosa", "versicolor", "virginica"])[Y]
    model = DiscriminantClassifier().fit(X, Labels.from_doubt(names, 0.3))
    evidence = weights_of_evidence(model, X)
    np.testing.assert_allclose(evidence.probability(), model.predict_proba(X), atol=1e-10)
    assert set(evidence.mass()[0].to_dicts(evidence.classes.tolist())[0]) >= {("setosa",)}


def test_a_binary_model_has_all_its_log_odds_as_weight_for_one_class_or_the_other():
    model, points = random_softmax(2)
    evidence = weights_of_evidence(model, points)
    # {1} and the complement of {0} are one set: its weight is the sum of both.
    for_second = evidence.weights_for[:, 1] + evidence.weights_against[:, 0]
    for_first = evidence.weights_for[:, 0] + evidence.weights_against[:, 1]
    odds = model.decision_function(points)[:, 0]
    np.testing.assert_allclose(for_second - for_first, odds, atol=1e-12)
    from_each = 2 * evidence.feature_weights()[:, :, 1]
    np.testing.assert_allclose(np.maximum(from_each, 0).sum(axis=1), for_second, atol=1e-12)


def test_no_other_weights_with_these_logits_have_a_smaller_sum_of_squares():
    model, points = random_softmax(3, n_features=2)
    evidence = weights_of_evidence(model, points)
    least = (evidence.feature_weights() ** 2).sum()

    def squares(free):
        shift, shares = free[:2], free[2:8].reshape(2, 3)
        slopes = model.coef_.T + shift[:, None]
        shares = shares + (model.intercept_ + free[-1] - shares.sum(axis=0)) / 2
        return ((points[:, :, None] * slopes + shares) ** 2).sum()

    found = minimize(squares, np.zeros(9), method="BFGS", options={"gtol": 1e-10})
    assert np.isclose(found.fun, least, rtol=1e-8)
    elsewhere = weights_of_evidence(model, points, center=points.mean(axis=0) + 0.1)
    assert (elsewhere.feature_weights() ** 2).sum() > least + 1e-3


def test_weights_depend_on_nothing_that_the_probabilities_do_not():
    model, points = random_softmax(4)
    shifted = Softmax(model.coef_ + np.array([1.0, -2.0, 3.0]), model.intercept_ + 7.0)
    one, other = (weights_of_evidence(m, points).feature_weights() for m in (model, shifted))
    np.testing.assert_allclose(one, other, atol=1e-12)
    moved = Softmax(model.coef_ / 10.0, model.intercept_ - model.coef_ @ [5.0, 5.0, 5.0] / 10.0)
    np.testing.assert_allclose(
        weights_of_evidence(moved, points * 10.0 + 5.0).feature_weights(), one, atol=1e-12
    )


def test_classes_in_another_order():
    model, points = random_softmax(4)
    order = [2, 0, 3, 1]
    one = weights_of_evidence(model, points)
    other = weights_of_evidence(Softmax(model.coef_[order], model.intercept_[order]), points)
    np.testing.assert_allclose(other.plausibility(), one.plausibility()[:, order], atol=1e-13)
    np.testing.assert_allclose(other.conflict, one.conflict, atol=1e-13)


def test_a_model_that_knows_nothing_gives_no_evidence():
    evidence = weights_of_evidence(Softmax(np.ones((3, 2)), np.ones(3)), np.eye(2))
    np.testing.assert_array_equal(evidence.plausibility(), 1.0)
    np.testing.assert_array_equal(evidence.conflict, 0.0)
    assert evidence.mass().focal_sets.tolist() == [7]


def test_a_feature_without_effect_adds_nothing_but_its_share_of_the_intercept():
    model, points = random_softmax(3)
    model.intercept_ = -model.coef_ @ points.mean(axis=0)  # nothing to share at the center
    wide = Softmax(np.hstack([model.coef_, np.zeros((3, 1))]), model.intercept_)
    one = weights_of_evidence(model, points)
    other = weights_of_evidence(wide, np.hstack([points, points[:, :1]]))
    np.testing.assert_allclose(other.feature_weights()[:, 3], 0.0, atol=1e-12)
    np.testing.assert_allclose(other.plausibility(), one.plausibility(), atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_huge_weights_neither_overflow_nor_lose_the_probabilities(n_classes):
    model, points = random_softmax(n_classes, scale=2000.0)
    evidence = weights_of_evidence(model, points)
    assert evidence.weights_for.max() > 800
    assert evidence.weights_against.min(axis=1).max() > 50  # much speaks against every class
    np.testing.assert_allclose(evidence.probability(), model.predict_proba(points), atol=1e-10)
    plausibility = evidence.plausibility()
    assert np.isfinite(plausibility).all()
    np.testing.assert_allclose(plausibility.max(axis=1), 1.0, atol=1e-10)
    np.testing.assert_allclose(contour(evidence.mass()), plausibility, atol=1e-10)
    assert (evidence.conflict > 1 - 1e-12).any()
    assert (evidence.conflict <= 1.0).all()


@pytest.mark.parametrize("against", [0.0, 1e-9, 1.0, 40.0, 800.0])
def test_when_all_classes_are_excluded_alike_they_stay_equally_plausible(against):
    # One feature speaks for class 0, the other against it, and so on around.
    model = Softmax([[1.0, -1.0], [-1.0, 1.0]] * 2, np.zeros(4))
    evidence = weights_of_evidence(model, [[against, against]], center=[0.0, 0.0])
    np.testing.assert_allclose(evidence.weights_against, against)
    plausibility = evidence.plausibility()
    # (e^w - 1) e^-w + ... written out for four classes with w for and w against each
    w = np.float64(min(against, 40.0))
    total = 4 * -np.expm1(-w) + 1 - (-np.expm1(-w)) ** 4
    np.testing.assert_allclose(plausibility, 1 / total, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_impossible_class(n_classes):
    model, points = random_softmax(n_classes)
    model.intercept_[-1] = -np.inf
    evidence = weights_of_evidence(model, points)
    assert (evidence.probability()[:, -1] == 0).all()
    np.testing.assert_allclose(evidence.probability(), model.predict_proba(points), atol=1e-10)
    assert (evidence.plausibility()[:, -1] == 0).all()
    assert not (evidence.mass().focal_sets >> (n_classes - 1)).any()
    assert (evidence.feature_weights()[:, :, -1] == -np.inf).all()
    if n_classes == 3:
        rest = Softmax(model.coef_[1:2] - model.coef_[:1], np.diff(model.intercept_[:2]), 2)
        np.testing.assert_allclose(
            evidence.plausibility()[:, :2],
            weights_of_evidence(rest, points).plausibility(),
            atol=1e-12,
        )


@pytest.mark.filterwarnings("ignore::plausible.models.EmptyClassWarning")
@pytest.mark.parametrize("rows", [Y < 2, Y < 1], ids=["one of three", "one of two"])
def test_a_class_without_items_is_impossible(rows):
    classes = [0, 1, 2] if rows.sum() > 50 else [0, 1]
    model = DiscriminantClassifier().fit(X[rows], Labels.from_crisp(Y[rows], classes=classes))
    evidence = weights_of_evidence(model, X)
    assert (evidence.plausibility()[:, -1] == 0).all()
    np.testing.assert_allclose(evidence.probability(), model.predict_proba(X), atol=1e-10)


def test_single_precision_models_are_read_in_double_precision():
    model = LogisticRegression(max_iter=2000).fit(X.astype(np.float32), Y)
    assert model.coef_.dtype == np.float32
    single = X.astype(np.float32)
    logits = single.astype(float) @ model.coef_.astype(float).T + model.intercept_.astype(float)
    evidence = weights_of_evidence(model, single)
    np.testing.assert_allclose(evidence.probability(), softmax(logits, axis=1), atol=1e-10)


def test_sparse_rows_and_many_of_them_give_the_same(monkeypatch):
    model = make_pipeline(MaxAbsScaler(), LogisticRegression()).fit(X, Y)
    expected = weights_of_evidence(model, X)
    monkeypatch.setattr("plausible.models.logistic.evidence._ENTRIES_AT_ONCE", 100)
    evidence = weights_of_evidence(model, sparse.csr_array(X))
    np.testing.assert_allclose(evidence.weights_for, expected.weights_for, atol=1e-12)
    np.testing.assert_allclose(
        evidence.feature_weights([3, 5]), expected.feature_weights()[[3, 5]], atol=1e-12
    )
    np.testing.assert_array_equal(expected.feature_weights(7), expected.feature_weights()[7:8])


def test_many_classes_have_plausibilities_but_no_dense_masses():
    data, y = make_blobs(300, centers=25, random_state=0)
    model = LinearDiscriminantAnalysis().fit(data, y)
    evidence = weights_of_evidence(model, data)
    np.testing.assert_allclose(evidence.probability(), model.predict_proba(data), atol=1e-10)
    assert evidence.plausibility().max() <= 1.0
    with pytest.raises(ValueError, match="at most K = 20 classes"):
        evidence.mass()


def test_models_that_are_not_logistic_are_refused():
    with pytest.raises(NotFittedError):
        weights_of_evidence(LogisticRegression(), X)
    with pytest.raises(ValueError, match="LinearRegression has no classes_, no predict_proba"):
        weights_of_evidence(LinearRegression().fit(X, Y), X)
    with pytest.raises(ValueError, match="LinearSVC has no predict_proba"):
        weights_of_evidence(LinearSVC().fit(X, Y), X)
    with pytest.raises(ValueError, match="SVC has no coef_"):
        weights_of_evidence(SVC().fit(X, Y), X)
    one_versus_rest = SGDClassifier("log_loss", random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="should be the softmax.*SGDClassifier differ by 0"):
        weights_of_evidence(one_versus_rest, X)
    two = SGDClassifier("log_loss", random_state=0).fit(X[PAIR], Y[PAIR])
    np.testing.assert_allclose(
        weights_of_evidence(two, X).probability(), two.predict_proba(X), atol=1e-10
    )


def test_bad_centers_and_broken_models_are_refused():
    model, points = random_softmax(3)
    with pytest.raises(ValueError, match="center should be one finite number for each of the 3"):
        weights_of_evidence(model, points, center=[0.0, 1.0])
    with pytest.raises(ValueError, match="missing values"):
        weights_of_evidence(model, points, center=[0.0, 1.0, np.nan])
    model.coef_ = model.coef_[:2]
    with pytest.raises(ValueError, match=r"3 rows for 3 classes, but has shape \(2, 3\)"):
        weights_of_evidence(model, points)
    with pytest.raises(ValueError, match="class number 0"):
        weights_of_evidence(NotFinite(), points)


class NotFinite(Softmax):
    def __init__(self):
        super().__init__(np.full((3, 3), np.nan), np.zeros(3))

    def predict_proba(self, X):
        return np.full((len(X), 3), 1 / 3)


def test_the_center_of_a_pipeline_is_transformed_like_a_row():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    given = weights_of_evidence(model, X[[70]], center=X.mean(axis=0)).feature_weights()
    zero = weights_of_evidence(model[-1:], model[0].transform(X[[70]]), center=np.zeros(4))
    np.testing.assert_allclose(given, zero.feature_weights(), atol=1e-12)
