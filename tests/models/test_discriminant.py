"""Partially supervised discriminant analysis against scikit-learn's supervised one."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.preprocessing import StandardScaler

from plausible.labels import Labels
from plausible.models import DiscriminantClassifier, GaussianMixtureClassifier

DATA = {
    "three classes": load_iris(return_X_y=True),
    "two classes": tuple(part[:100] for part in load_iris(return_X_y=True)),
}


@pytest.mark.parametrize("data", DATA)
def test_hard_labels_give_linear_discriminant_analysis(data):
    X, y = DATA[data]
    model = DiscriminantClassifier(reg_covar=0.0).fit(X, y)
    peer = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    np.testing.assert_allclose(model.means_, peer.means_, atol=1e-10)
    np.testing.assert_allclose(model.covariances_, peer.covariance_, atol=1e-10)
    np.testing.assert_allclose(model.weights_, peer.priors_, atol=1e-10)
    np.testing.assert_allclose(model.xbar_, peer.xbar_, atol=1e-10)
    np.testing.assert_allclose(
        model.explained_variance_ratio_, peer.explained_variance_ratio_, atol=1e-8
    )
    ours, theirs = model.transform(X), peer.transform(X)
    # Releases of scikit-learn differ in the divisor of the variance within classes.
    theirs = theirs * np.sign((ours * theirs).sum(axis=0)) * ours.std() / theirs.std()
    np.testing.assert_allclose(ours, theirs, atol=1e-8)


@pytest.mark.parametrize("data", DATA)
def test_the_decision_function_is_linear_and_gives_the_probabilities(data):
    X, y = DATA[data]
    model = DiscriminantClassifier().fit(X, Labels.from_doubt(y, 0.3))
    linear = X @ model.coef_.T + model.intercept_
    decision = model.decision_function(X)
    if data == "two classes":
        np.testing.assert_allclose(decision, linear[:, 0], rtol=1e-6)
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-decision)))
    else:
        apart = decision - linear
        np.testing.assert_allclose(apart - apart[:, :1], 0.0, atol=1e-5)
        assert (decision.argmax(axis=1) == model.predict_proba(X).argmax(axis=1)).all()


def test_hard_labels_give_quadratic_discriminant_analysis():
    X, y = DATA["three classes"]
    model = DiscriminantClassifier(shared_covariance=False, reg_covar=0.0).fit(X, y)
    peer = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    np.testing.assert_allclose(model.covariances_, peer.covariance_, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("shrinkage", [0.1, 0.7])
def test_shrinkage_of_hard_labels_is_that_of_scikit_learn(shrinkage):
    X, y = load_wine(return_X_y=True)
    model = DiscriminantClassifier(shrinkage=shrinkage, reg_covar=0.0).fit(X, y)
    peer = LinearDiscriminantAnalysis("lsqr", shrinkage=shrinkage, store_covariance=True).fit(X, y)
    np.testing.assert_allclose(model.covariances_, peer.covariance_, rtol=1e-9)
    model = DiscriminantClassifier(False, shrinkage=shrinkage, reg_covar=0.0).fit(X, y)
    for k in range(3):
        own = np.cov(X[y == k].T, bias=True)
        target = np.eye(13) * np.trace(own) / 13
        np.testing.assert_allclose(
            model.covariances_[k], (1 - shrinkage) * own + shrinkage * target, rtol=1e-9
        )


def test_automatic_shrinkage_is_that_of_ledoit_and_wolf_on_standardized_classes():
    X, y = load_wine(return_X_y=True)
    model = DiscriminantClassifier(False, shrinkage="auto", reg_covar=0.0).fit(X, y)
    for k in range(3):
        scaler = StandardScaler().fit(X[y == k])
        correlation, _ = ledoit_wolf(scaler.transform(X[y == k]))
        expected = correlation * np.outer(scaler.scale_, scaler.scale_)
        np.testing.assert_allclose(model.covariances_[k], expected, rtol=1e-6)


def test_shrinkage_helps_with_more_features_than_items():
    rng = np.random.default_rng(0)
    means = np.repeat([[0.0], [0.7]], [30, 30], axis=0)
    X, fresh = (rng.normal(size=(60, 80)) + means for _ in range(2))
    y = np.repeat([0, 1], 30)
    labels = Labels.from_doubt(y, 0.2)
    scores = {
        shrinkage: DiscriminantClassifier(shrinkage=shrinkage).fit(X, labels).score(fresh, y)
        for shrinkage in (0.5, "auto")
    }
    assert min(scores.values()) > 0.95


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("shrinkage", [None, 0.2, "auto"])
def test_soft_labels_raise_the_criterion_to_a_maximum(shared, shrinkage):
    X, y = DATA["three classes"]
    rng = np.random.default_rng(0)
    labels = Labels.from_doubt(y, rng.uniform(size=len(y)))
    model = DiscriminantClassifier(shared, shrinkage, tol=1e-10).fit(X, labels)
    assert model.converged_
    assert (np.diff(model.history_) >= 0).all()


@pytest.mark.parametrize("shared", [True, False])
def test_it_is_the_mixture_with_one_component_for_each_class(shared):
    X, y = DATA["three classes"]
    labels = Labels.from_doubt(y, 0.4)
    model = DiscriminantClassifier(shared, reg_covar=1e-6).fit(X, labels)
    peer = GaussianMixtureClassifier("tied" if shared else "full").fit(X, labels)
    np.testing.assert_array_equal(model.means_, peer.means_)
    np.testing.assert_array_equal(model.predict_proba(X), peer.predict_proba(X))


def test_axes_have_unit_variance_within_soft_classes():
    X, y = DATA["three classes"]
    model = DiscriminantClassifier(n_components=1).fit(X, Labels.from_doubt(y, 0.3))
    assert model.transform(X).shape == (150, 1)
    assert list(model.get_feature_names_out()) == ["discriminantclassifier0"]
    within = model.scalings_.T @ model.covariances_ @ model.scalings_
    np.testing.assert_allclose(within, [[1.0]], rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shrinkage": "much"}, "shrinkage"),
        ({"shrinkage": 1.5}, r"shrinkage should be a finite number in \[0, 1\]"),
        ({"n_components": 3}, "from 0 to 2 for 3 classes and 4 features, but 3"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        DiscriminantClassifier(**options).fit(*DATA["three classes"])
