"""Generalized Bayes: Bayes' rule with a precise prior, likelihoods without one, bounds between."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity

from plausible.belief import SparseMasses, contour
from plausible.labels import Labels
from plausible.models import GaussianMixtureClassifier, GeneralizedBayesClassifier

NAMES = ["wasp", "ant", "moth"]
ORDER = ["ant", "moth", "wasp"]
PRIOR = {("ant",): 0.2, ("moth", "wasp"): 0.3, ("ant", "moth"): 0.1, ("ant", "moth", "wasp"): 0.4}


def insects(n=90, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    X = rng.normal(size=(n, 2)) + np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.5]])[codes]
    return X, np.array(NAMES)[codes]


def densities(model, X):
    """Relative likelihoods from the densities themselves."""
    f = np.exp(model.estimator_.class_log_density(X))
    return f / f.max(axis=1, keepdims=True)


def test_class_densities_are_those_of_the_gaussians():
    X, y = insects()
    model = GaussianMixtureClassifier("diag", n_components=2, random_state=0).fit(X, y)
    expected = np.zeros((len(X), 3))
    for weight, mean, variance, name in zip(
        model.weights_, model.means_, model.covariances_, model.component_classes_, strict=True
    ):
        k = ORDER.index(name)
        share = model.weights_[model.component_classes_ == name].sum()
        expected[:, k] += weight / share * norm.pdf(X, mean, np.sqrt(variance)).prod(axis=1)
    np.testing.assert_allclose(np.exp(model.class_log_density(X)), expected, rtol=1e-10)


def test_probabilities_as_prior_are_bayes_rule():
    X, y = insects()
    shares = np.array([0.5, 0.1, 0.4])
    for prior in (shares, dict(zip(ORDER, shares, strict=True))):
        model = GeneralizedBayesClassifier(prior=prior).fit(X, y)
        joint = shares * densities(model, X)
        expected = joint / joint.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
        np.testing.assert_allclose(model.predict_plausibility(X), expected, atol=1e-12)


def test_without_a_prior_plausibilities_are_relative_likelihoods():
    X, y = insects()
    model = GeneralizedBayesClassifier().fit(X, y)
    np.testing.assert_allclose(model.predict_plausibility(X), densities(model, X), atol=1e-12)
    masses = model.predict_mass(X[:4]).to_dense()
    for row, likelihood in zip(masses, densities(model, X[:4]), strict=True):
        for A in range(1, 8):
            members = np.array([A >> k & 1 for k in range(3)], dtype=bool)
            expected = np.where(members, likelihood, 1 - likelihood).prod()
            assert row[A] == pytest.approx(expected, abs=1e-12)


def test_the_default_prior_of_a_mixture_is_its_own_posterior():
    X, y = insects(99)
    mixture = GaussianMixtureClassifier().fit(X, y)
    model = GeneralizedBayesClassifier(prior=[1 / 3] * 3).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), mixture.predict_proba(X), atol=1e-9)


def test_bounds_hold_bayes_rule_for_every_prior_that_fits_and_are_reached():
    X, y = insects()
    model = GeneralizedBayesClassifier(prior=PRIOR).fit(X, y)
    lower, upper = model.predict_bounds(X)
    likelihood = densities(model, X)
    posteriors = []
    for winners in product(*PRIOR):  # the corners: each set gives all that it has to one member
        shares = np.zeros(3)
        for winner, mass in zip(winners, PRIOR.values(), strict=True):
            shares[ORDER.index(winner)] += mass
        joint = shares * likelihood
        posteriors.append(joint / joint.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(lower, np.min(posteriors, axis=0), atol=1e-12)
    np.testing.assert_allclose(upper, np.max(posteriors, axis=0), atol=1e-12)


def test_bounds_of_a_precise_prior_meet_at_bayes_rule():
    X, y = insects()
    model = GeneralizedBayesClassifier(prior=[0.2, 0.5, 0.3]).fit(X, y)
    lower, upper = model.predict_bounds(X)
    np.testing.assert_allclose(lower, model.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(upper, lower, atol=1e-12)


def test_a_class_that_was_never_seen_takes_what_is_like_nothing():
    X, y = insects(300)
    model = GeneralizedBayesClassifier(unseen="new", level=0.02).fit(X, y)
    assert model.classes_.tolist() == ["ant", "moth", "new", "wasp"]
    assert model.predict([[30.0, 30.0], [0.0, 0.0]]).tolist() == ["new", "wasp"]
    share = (model.predict(X) == "new").mean()
    assert 0.0 < share < 0.06
    far = model.predict_plausibility([[30.0, 30.0]])[0]
    np.testing.assert_allclose(far, [0.0, 0.0, 1.0, 0.0], atol=1e-6)


@pytest.mark.parametrize("estimator", [KernelDensity(bandwidth=0.7), GaussianMixture(2)])
def test_any_density_estimator(estimator):
    X, y = insects(120)
    model = GeneralizedBayesClassifier(estimator).fit(X, y)
    logs = (
        np.column_stack(
            [
                type(estimator)(**estimator.get_params()).fit(X[y == k]).score_samples(X)
                for k in ORDER
            ]
        )
        if isinstance(estimator, KernelDensity)
        else np.column_stack([one.score_samples(X) for one in model.estimators_])
    )
    expected = np.exp(logs - logs.max(axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_plausibility(X), expected, atol=1e-9)
    assert model.score(X, y) > 0.75


def test_doubted_rows_count_less_in_a_kernel_density():
    X, y = insects(120)
    doubt = np.where(np.arange(120) < 60, 0.0, 0.9)
    labels = Labels.from_doubt(y, doubt)
    model = GeneralizedBayesClassifier(KernelDensity(bandwidth=0.7)).fit(X, labels)
    share = labels.contour / labels.contour.sum(axis=1, keepdims=True)
    said = share[:, 0] > 0
    expected = KernelDensity(bandwidth=0.7).fit(X[said], sample_weight=share[said, 0])
    np.testing.assert_allclose(
        model.estimators_[0].score_samples(X), expected.score_samples(X), atol=1e-9
    )


def test_masses_as_prior_in_every_form():
    X, y = insects()
    sparse = SparseMasses([[0.2, 0.3, 0.1, 0.4]], [1, 6, 3, 7], 3)
    models = [GeneralizedBayesClassifier(prior=prior).fit(X, y) for prior in (PRIOR, sparse)]
    np.testing.assert_allclose(*[model.predict_plausibility(X) for model in models], atol=1e-12)
    np.testing.assert_allclose(contour(models[0].prior_), [[0.7, 0.8, 0.7]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": [0.5, 0.5]}, "3 probabilities"),
        ({"prior": [0.5, -0.5, 1.0]}, "3 probabilities"),
        ({"prior": {("bee",): 1.0}}, "bee"),
        ({"prior": {"ant": 0.5, "moth": 0.2}}, "they sum to 0.7; give what is missing"),
        ({"prior": SparseMasses([[1.0]], [3], 2)}, "on 3 classes"),
        ({"unseen": "ant"}, "labels know 'ant'"),
        ({"estimator": object()}, "neither"),
        ({"level": 2.0}, "level should be"),
    ],
)
def test_bad_options(options, message):
    X, y = insects(30)
    with pytest.raises((ValueError, TypeError), match=message):
        GeneralizedBayesClassifier(**options).fit(X, y)


def test_where_labels_have_an_order_of_their_own_a_prior_names_its_classes():
    X, y = insects()
    labels = Labels.from_crisp(y, NAMES)
    for prior in ([0.2, 0.3, 0.5], SparseMasses([[0.2, 0.8]], [1, 6], 3)):
        with pytest.raises(ValueError, match="prior should say which entry is of which class"):
            GeneralizedBayesClassifier(prior=prior).fit(X, labels)
    named = GeneralizedBayesClassifier(prior=dict(zip(ORDER, [0.2, 0.3, 0.5], strict=True)))
    sorted_ = GeneralizedBayesClassifier(prior=[0.2, 0.3, 0.5]).fit(X, y)
    np.testing.assert_allclose(
        named.fit(X, labels).predict_proba(X), sorted_.predict_proba(X), atol=1e-12
    )


def test_kernel_densities_with_a_class_that_was_never_seen_and_part_of_a_prior():
    X, y = insects(60)
    prior = {("bee",): 0.1, ("ant", "moth"): 0.3, ("ant", "bee", "moth", "wasp"): 0.6}
    model = GeneralizedBayesClassifier(KernelDensity(bandwidth=0.7), prior, unseen="bee").fit(X, y)
    assert model.classes_.tolist() == ["ant", "bee", "moth", "wasp"]
    points = np.vstack([X[:20], [[30.0, 30.0]]])
    logs = np.column_stack(
        [
            KernelDensity(bandwidth=0.7).fit(X[y == name]).score_samples(points)
            if name != "bee"
            else np.full(21, model.unseen_density_)
            for name in model.classes_
        ]
    )
    likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
    total = np.zeros((21, 16))  # masses before normalization, by their definition
    sets = {0b0010: 0.1, 0b0101: 0.3, 0b1111: 0.6}
    for members in range(1, 16):
        inside = np.array([members >> k & 1 for k in range(4)], dtype=bool)
        mass = np.where(inside, likelihood, 1.0 - likelihood).prod(axis=1)
        for event, part in sets.items():
            total[:, members & event] += part * mass
    expected = total[:, 1:] / total[:, 1:].sum(axis=1, keepdims=True)
    found = model.predict_mass(points).to_dense()[:, 1:]
    np.testing.assert_allclose(found, expected, atol=1e-10)
    assert model.predict(points)[-1] == "bee"


def test_too_many_classes():
    with pytest.raises(ValueError, match="at most 12 classes"):
        GeneralizedBayesClassifier().fit(np.arange(26.0)[:, None], np.arange(26) % 13)
