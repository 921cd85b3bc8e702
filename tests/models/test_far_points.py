"""Probabilities sum to one wherever a point lies, however sharp or wide the classes are."""

import warnings

import numpy as np
import pytest

from plausible.base.normalization import log_normalized, normalized, within_numbers
from plausible.belief import contour_of_bets
from plausible.labels import Labels
from plausible.models import (
    DiscriminantClassifier,
    FarPointWarning,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
    SingularCovarianceWarning,
    SoftNearestCentroid,
    StochasticSupervisionClassifier,
    SupervisionWarning,
)
from plausible.models.logistic.evidence import contour_of_weights
from plausible.models.supervision.assessments import log_probabilities

NAMES = ["cow", "ant", "bee"]
MODELS = {
    **{
        kind: lambda kind=kind: GaussianMixtureClassifier(kind, random_state=0)
        for kind in ("full", "tied", "diag", "spherical")
    },
    "parts": lambda: GaussianMixtureClassifier(n_components=2, random_state=0),
    "linear": DiscriminantClassifier,
    "quadratic": lambda: DiscriminantClassifier(False),
    "logistic": PartialLogisticRegression,
    "centroid": SoftNearestCentroid,
    "supervision": lambda: StochasticSupervisionClassifier(random_state=0),
    "supervision tied": lambda: StochasticSupervisionClassifier("g1", random_state=0),
}


def data(scale=1.0, d=3):
    rng = np.random.default_rng(4)
    y = rng.integers(3, size=90)
    X = scale * (rng.normal(size=(90, d)) + 2.0 * y[:, None])
    return X, y


def fitted(name, X, y):
    model = MODELS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SingularCovarianceWarning)
        warnings.simplefilter("ignore", SupervisionWarning)
        if name.startswith("supervision"):
            rng = np.random.default_rng(5)
            Z = 0.1 + 0.7 * np.eye(3)[y] + rng.uniform(0, 0.2, (len(y), 3))
            return model.fit(X, Z / Z.sum(axis=1, keepdims=True), classes=NAMES)
        sets = np.eye(3)[y]
        sets[::5, 1] = 0.3
        return model.fit(X, Labels.from_plausibility(sets, NAMES), np.linspace(0.5, 2.0, len(y)))


def assert_probabilities(model, points):
    p = model.predict_proba(points)
    assert np.isfinite(p).all()
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    best = np.searchsorted(model.classes_, model.predict(points))
    np.testing.assert_allclose(p[np.arange(len(p)), best], p.max(axis=1), atol=1e-12)
    if hasattr(model, "predict_log_proba"):
        logs = model.predict_log_proba(points)
        np.testing.assert_allclose(np.exp(logs), p, rtol=1e-12, atol=1e-300)
        contour = model.predict_plausibility(points)
        np.testing.assert_allclose(contour.max(axis=1), 1.0)
        np.testing.assert_allclose(contour, contour_of_bets(p), rtol=1e-9)
        assert model.predict_set(points).any(axis=1).all()


@pytest.mark.filterwarnings("ignore::plausible.models.FarPointWarning")
@pytest.mark.parametrize("scale", [1e-140, 1e-30, 1.0, 1e3])
@pytest.mark.parametrize("name", MODELS)
def test_rows_sum_to_one_at_any_distance(name, scale):
    X, y = data(scale)
    if scale <= 1.0:
        X[:, 2] = 7.0  # constant: all width there is that of reg_covar
    model = fitted(name, X, y)
    directions = np.vstack([np.eye(3), -np.ones((1, 3)), [[1.0, -2.0, 0.0]]])
    for size in (1e8, 1e15, 1e30, 1e100, 1e154, 1e160, 1e250, 1.7e308 / 2):
        assert_probabilities(model, size * directions)
        assert_probabilities(model, size * directions[:1])
    assert_probabilities(model, X)


@pytest.mark.parametrize("name", ["linear", "tied"])
def test_shared_covariances_tell_classes_apart_far_away(name):
    # The log odds of the classes are linear in the features: at ten million times the distance
    # they are ten million times as large, and the quadratic term must not drown them.
    X, y = data()
    model = fitted(name, X, y)
    along = np.array([1.0, -0.5, 0.2])
    near, far = (model.predict_log_proba([size * along])[0] for size in (1e3, 1e12))
    np.testing.assert_allclose((far - far.max()) / 1e12, (near - near.max()) / 1e3, rtol=0.05)


def test_far_points_that_overflow_are_uniform_with_one_warning():
    X, y = data()
    model = fitted("full", X, y)
    with pytest.warns(FarPointWarning, match="row 1., where all classes") as caught:
        p = model.predict_proba(np.array([[0.0] * 3, [1e300] * 3]))
    assert len(caught) == 1
    np.testing.assert_allclose(p[1], 1 / 3)
    with pytest.warns(FarPointWarning):  # labels are then all that is known
        p = model.predict_proba(
            [[1e300] * 3], labels=Labels.from_plausibility([[0, 1, 0.5]], NAMES)
        )
    np.testing.assert_allclose(p[0], [2 / 3, 1 / 3, 0.0])  # ant, bee, cow


def test_classes_that_were_not_learned_stay_impossible_far_away():
    X, y = data()
    labels = Labels.from_crisp(np.array(["ant", "cow"])[y % 2], NAMES)
    with pytest.warns(UserWarning, match="bee"):
        model = GaussianMixtureClassifier().fit(X, labels)
    with pytest.warns(FarPointWarning):
        p = model.predict_proba([[1e300] * 3])
    np.testing.assert_allclose(p, [[0.5, 0.0, 0.5]])


def test_log_density_falls_to_minus_infinity():
    X, y = data()
    for name in ("full", "tied", "diag"):
        model = fitted(name, X, y)
        density = model.score_samples([[0.0] * 3, [1e30] * 3, [1e300] * 3])
        assert density[0] > -100
        assert density[1] < -1e50
        assert density[2] == -np.inf


def test_normalization_of_huge_logs():
    logs = np.array([[-1e30, -1e30, -1e30], [1e200, 1e200, 0.0], [-3.0, -np.inf, -3.0]])
    expected = [[1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]
    np.testing.assert_allclose(normalized(logs), expected)
    np.testing.assert_allclose(np.exp(log_normalized(logs)), expected)
    np.testing.assert_allclose(np.exp(log_probabilities(np.array([[1e25, 1e25]]))), [[0.5, 0.5, 0]])


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([-np.inf, 3.0, -np.inf, 4.0], [0, 1, 0, 0]),
        ([np.inf, 3.0, 5.0, -np.inf], [1, 0, 0, 0]),
    ],
)
def test_one_class_within_numbers_needs_no_warning(row, expected):
    learned = np.array([True, True, True, False])
    found = within_numbers(np.array([row]), learned)
    np.testing.assert_allclose(normalized(found), [expected])


def test_responsibilities_sum_to_one():
    X, y = data(1e-20)
    X[:, 2] = 7.0
    labels = Labels.from_plausibility(0.2 + 0.8 * np.eye(3)[y], NAMES)
    model = GaussianMixtureClassifier(store_responsibilities=True, reg_covar=1e-300, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, labels)
    np.testing.assert_allclose(model.responsibilities_.sum(axis=1), 1.0)


def test_plausibilities_of_huge_weights_of_evidence():
    # Two classes with the same evidence, however much of it, and a third against which all speaks.
    for weight in (40.0, 1e20):
        found = contour_of_weights(np.array([[weight, weight, 0]]), np.array([[0, 0, 2 * weight]]))
        np.testing.assert_allclose(found, [[0.5, 0.5, 0.0]], atol=1e-12)
