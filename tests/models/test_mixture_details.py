"""Details of Gaussian classes that only unequal, unsorted and soft data show."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from plausible.engine import StreamRows
from plausible.labels import Labels
from plausible.models import DiscriminantClassifier, GaussianMixtureClassifier

CLASSES = ["m", "z", "b"]


@pytest.fixture(scope="module")
def soft():
    """Features, and plausibilities of m, z and b: hard, sets, doubted and unknown."""
    rng = np.random.default_rng(0)
    truth = rng.choice(3, p=[0.5, 0.3, 0.2], size=90)
    X = rng.normal(size=(90, 2)) + 3.0 * np.array([[0, 0], [1, 0], [0, 1]])[truth]
    contour = np.eye(3)[truth]
    contour[::4, :] = np.maximum(contour[::4, :], 0.3)
    contour[1::4, 0] = 1.0
    contour[2::9] = 1.0
    return X, contour


def test_a_class_of_several_components_has_the_sum_of_their_densities(soft):
    X, contour = soft
    sizes = dict(zip(sorted(CLASSES), [2, 1, 3], strict=True))
    model = GaussianMixtureClassifier(n_components=sizes, prior="weak", random_state=0)
    model.fit(X, Labels.from_plausibility(contour, CLASSES))
    density = np.zeros((len(X), 3))
    parts = zip(
        model.component_classes_, model.weights_, model.means_, model.covariances_, strict=True
    )
    for name, weight, mean, covariance in parts:
        place = model.classes_.tolist().index(name)
        density[:, place] += weight * multivariate_normal(mean, covariance).pdf(X)
    expected = density / density.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-10)
    np.testing.assert_allclose(model.score_samples(X), np.log(density.sum(axis=1)))


@pytest.mark.parametrize("classes", [["m", "z", "b"], ["z", "b", "m"]])
def test_a_stream_may_have_its_classes_in_any_order(soft, classes):
    X, contour = soft
    expected = DiscriminantClassifier().fit(X, Labels.from_plausibility(contour, classes))

    class Source(list):
        pass

    source = Source([(X[:50], contour[:50]), (X[50:], contour[50:])])
    source.classes = classes
    found = DiscriminantClassifier().fit(StreamRows(source))
    assert found.classes_.tolist() == expected.classes_.tolist() == sorted(classes)
    np.testing.assert_allclose(found.means_, expected.means_, atol=1e-8)


@pytest.mark.parametrize("n_components", [1, 4])
def test_the_weak_prior_is_narrower_for_more_components(soft, n_components):
    # Fraley and Raftery: variances divided by the number of components to the power 2 / d.
    X, contour = soft
    labels = Labels.from_plausibility(contour, CLASSES)
    scale = X.var(axis=0) / (3 * n_components) ** (2 / 2)
    said = {"mean_precision": 0.01, "degrees_of_freedom": 4.0, "scale": scale}
    weak, spelled = (
        GaussianMixtureClassifier(n_components=n_components, prior=prior, random_state=0).fit(
            X, labels
        )
        for prior in ("weak", said | {"mean": X.mean(axis=0), "weights": 1.0})
    )
    np.testing.assert_allclose(weak.covariances_, spelled.covariances_, rtol=1e-6)
    assert weak.history_[0] == pytest.approx(spelled.history_[0])


def test_covariances_are_shrunk_by_rows_as_far_as_they_favor_a_class(soft):
    # The strength is what rows favor: a vacuous row counts for the weight only.
    X, contour = soft
    scaled = contour / contour.max(axis=1, keepdims=True)
    favor = scaled - scaled.min(axis=1, keepdims=True)
    means = favor.T @ X / favor.sum(axis=0)[:, None]
    scatter = sum(
        (favor[:, [k]] * (X - means[k])).T @ (X - means[k]) for k in range(3)
    ) / favor.sum()  # fmt: skip
    target = np.trace(scatter) / 2 * np.eye(2)
    labels = Labels.from_plausibility(contour, CLASSES)
    model = DiscriminantClassifier(shrinkage=1.0).fit(X, labels)
    np.testing.assert_allclose(model.covariances_, target, rtol=1e-4, atol=1e-4)


def test_axes_weigh_classes_by_how_frequent_they_are():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2, 3], [60, 25, 10, 5])
    X = rng.normal(size=(100, 4)) + 2.0 * rng.normal(size=(4, 4))[y]
    model = DiscriminantClassifier(n_components=2).fit(X, np.array(["m", "z", "b", "k"])[y])
    peer = LinearDiscriminantAnalysis(solver="eigen", n_components=2).fit(X, y)
    np.testing.assert_allclose(
        model.explained_variance_ratio_, peer.explained_variance_ratio_, rtol=1e-6
    )
    found, expected = model.transform(X), peer.transform(X)
    for axis in range(2):
        assert abs(np.corrcoef(found[:, axis], expected[:, axis])[0, 1]) == pytest.approx(1)
