"""Many classes, or many more features than items: answers in seconds, or a word on what to do."""

import time
import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from plausible.labels import Labels
from plausible.models import (
    DiscriminantClassifier,
    EvidentialCalibratedClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
    StochasticSupervisionClassifier,
)
from plausible.models.gaussian.parameters import LARGE, inverse_factor

RNG = np.random.default_rng(0)
WIDE = RNG.normal(size=(50, 2000))
FEW = np.arange(50) % 3
MANY = np.repeat(np.arange(2000), 2)


def assert_refused_at_once(fit, message):
    began = time.process_time()
    with pytest.raises(ValueError, match=message):
        fit()
    assert time.process_time() - began < 5.0


@pytest.mark.parametrize(
    "model",
    [
        GaussianMixtureClassifier(),
        GaussianMixtureClassifier("tied"),
        DiscriminantClassifier(),
        DiscriminantClassifier(False),
        EvidentialCalibratedClassifier(),
    ],
)
def test_far_fewer_items_than_features_need_simpler_covariances(model):
    labels = Labels.from_doubt(FEW, 0.1)
    message = "covariance of 2000 features should rest on more .* at most .* covariance_type='diag'"
    assert_refused_at_once(lambda: model.fit(WIDE, FEW), message)
    assert_refused_at_once(lambda: model.fit(WIDE, labels), message)


def test_far_fewer_items_than_features_work_with_variances_alone():
    model = GaussianMixtureClassifier("diag", random_state=0).fit(WIDE, FEW)
    np.testing.assert_allclose(model.predict_proba(WIDE).sum(axis=1), 1.0)


def test_stochastic_supervision_refuses_what_takes_minutes():
    Z = np.full((50, 3), 0.2)
    Z[np.arange(50), FEW] = 0.6
    model = StochasticSupervisionClassifier()
    assert_refused_at_once(lambda: model.fit(WIDE, Z), "more items than features .* there are 50")
    Z = np.full((2200, 1100), 1 / 1100)
    assert_refused_at_once(lambda: model.fit(RNG.normal(size=(2200, 2)), Z), "1099 log odds")


@pytest.mark.parametrize("scores", ["pairs", "classes"])
def test_calibration_refuses_millions_of_pairs(scores):
    X = RNG.normal(size=(4000, 2))
    model = EvidentialCalibratedClassifier(scores=scores)
    assert_refused_at_once(lambda: model.fit(X, MANY), "at most 200, .* 2000, with 1999000 pairs")


def test_memory_of_covariances():
    X = RNG.normal(size=(1200, 700))
    model = GaussianMixtureClassifier()
    message = "at most 3e.08 entries, but 600 components of 700 features have 2.9e.08"
    assert_refused_at_once(lambda: model.fit(X, np.arange(1200) % 600), message)


def test_sets_of_many_classes():
    y = np.arange(400) % 100
    X = y[:, None] + RNG.normal(size=(400, 1))
    for model in (DiscriminantClassifier(), PartialLogisticRegression(tol=1e-2)):
        model.fit(X, y)
        kept = model.predict_set(X)
        contour = model.predict_plausibility(X)
        second = np.sort(contour, axis=1)[:, -2]
        np.testing.assert_array_equal(kept, contour >= 1.0 - second[:, None] - 1e-9)


def test_axes_are_those_of_scikit_learn():
    y = np.arange(90) % 4
    X = RNG.normal(size=(90, 6)) @ RNG.normal(size=(6, 6)) + y[:, None] * np.arange(6)
    ours = DiscriminantClassifier(reg_covar=0.0).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    np.testing.assert_allclose(
        ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-8
    )
    axes = ours.scalings_ / np.linalg.norm(ours.scalings_, axis=0)
    others = theirs.scalings_[:, :3] / np.linalg.norm(theirs.scalings_[:, :3], axis=0)
    np.testing.assert_allclose(np.abs((axes * others).sum(axis=0)), 1.0, rtol=1e-8)
    within = ours.scalings_.T @ ours.covariances_ @ ours.scalings_
    np.testing.assert_allclose(within, np.eye(3), atol=1e-9)


def test_triangular_inverses_of_any_size():
    for d in (3, LARGE):
        factor = np.tril(RNG.normal(size=(2, d, d))) / d + np.eye(d)
        np.testing.assert_allclose(inverse_factor(factor) @ factor, [np.eye(d)] * 2, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "order"),
    [
        (GaussianMixtureClassifier("diag"), "F"),
        (DiscriminantClassifier(), "C"),
        pytest.param(GaussianMixtureClassifier(), "C", marks=pytest.mark.long),  # compiled
        pytest.param(GaussianMixtureClassifier(), "F", marks=pytest.mark.long),
    ],
)
def test_features_in_single_precision_are_not_copied(model, order):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.normal(size=(80_000, 50)), np.float32, order)
    labels = Labels.from_plausibility(rng.uniform(0.1, 1.0, (len(X), 3)))
    model = clone(model).set_params(max_iter=2, tol=1e9).fit(X, labels)
    for use in (lambda: model.fit(X, labels), lambda: model.predict(X)):
        tracemalloc.start()
        use()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 0.8 * X.nbytes
