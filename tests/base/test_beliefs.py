"""Beliefs: every kind of answer from one computation, of any classifier."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from plausible.base import Beliefs, believe
from plausible.belief import (
    SparseMasses,
    belief,
    contour,
    contour_of_bets,
    decide,
    is_at_least_as_committed,
    pignistic,
)
from plausible.models import GaussianMixtureClassifier, SoftNearestCentroid

RANDOM = np.random.default_rng(0)
Y = np.arange(60) % 3
X = RANDOM.normal(size=(60, 2)) + 2 * np.eye(3, 2)[Y]
NAMES = np.array(["ash", "elm", "oak"])[Y]
CLASSES = ["oak", "ash", "elm", "fir"]


def bets(seed, n=7, n_classes=4):
    return np.random.default_rng(seed).dirichlet(np.full(n_classes, 0.7), n)


def masses(seed, n=7):
    rng = np.random.default_rng(seed)
    focal = rng.permutation(np.arange(1, 16))[:6]
    return SparseMasses(rng.dirichlet(np.ones(6), n), focal, 4)


# -- One story ------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.booleans())
def test_answers_tell_one_story(seed, from_bets):
    if from_bets:
        found = Beliefs.from_probability(bets(seed), CLASSES)
    else:
        found = Beliefs.from_masses(masses(seed), CLASSES)
    m = found.masses()
    np.testing.assert_allclose(m.values.sum(axis=1), 1.0)
    np.testing.assert_allclose(found.contour, contour(m), atol=1e-12)
    np.testing.assert_allclose(found.probability, pignistic(m), atol=1e-12)
    np.testing.assert_allclose(found.belief, belief(m, 1 << np.arange(4)), atol=1e-12)
    assert (found.belief <= found.probability + 1e-12).all()
    assert (found.probability <= found.contour + 1e-12).all()
    chosen = np.array([CLASSES.index(name) for name in found.predicted])
    assert found.sets[np.arange(len(found)), chosen].all()
    np.testing.assert_array_equal(chosen, found.probability.argmax(axis=1))


@given(st.integers(0, 10_000), st.sampled_from([1, 4, 24, 25, 40]))
def test_plausibilities_of_bets_are_sums_of_minima(seed, n_classes):
    p = bets(seed, n_classes=n_classes)
    slow = np.array([[sum(min(a, b) for b in row) for a in row] for row in p.tolist()])
    np.testing.assert_allclose(contour_of_bets(p), slow, atol=1e-12)


def test_no_mass_function_with_these_bets_is_less_committed():
    p = np.array([[0.5, 0.3, 0.2]])
    least = Beliefs.from_probability(p, "abc").masses()
    others = [
        SparseMasses([[0.5, 0.3, 0.2]], [1, 2, 4], 3),  # the bets themselves
        SparseMasses([[0.2, 0.6, 0.2]], [1, 3, 4], 3),  # {a}, {a, b}, {c}
        SparseMasses([[0.3, 0.3, 0.4]], [1, 2, 5], 3),  # {a}, {b}, {a, c}
    ]
    for other in others:
        np.testing.assert_allclose(pignistic(other), p)
        assert is_at_least_as_committed(other, least, order="commonality").all()


@pytest.mark.parametrize("rule", ["pignistic", "interval_dominance", "maximality", "belief"])
@pytest.mark.parametrize("reject", [None, 0.3])
def test_decisions_are_those_of_the_masses_whatever_way_they_are_asked_for(rule, reject):
    found = Beliefs.from_probability(bets(3, 40), CLASSES)
    expected = decide(found.masses(), rule, reject=reject)
    for decision in (
        found.decide(rule, reject=reject),
        decide(found, rule, reject=reject),
        decide(found.contour, rule, kind="plausibility", reject=reject),
    ):
        np.testing.assert_array_equal(decision.chosen, expected.chosen)
    assert found.decide(rule, reject=reject).names() == expected.names(CLASSES)


def test_mass_on_the_empty_set_is_normalized_away():
    given = SparseMasses([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]], [0, 1, 3], 2)
    found = Beliefs.from_masses(given, "ab")
    np.testing.assert_allclose(found.contour, [[1.0, 0.4], [1.0, 1.0]])
    np.testing.assert_allclose(found.probability, [[0.8, 0.2], [0.5, 0.5]])


def test_rows_can_be_selected():
    for found in (
        Beliefs.from_probability(bets(0), CLASSES),
        Beliefs.from_masses(masses(0), CLASSES),
    ):
        few = found[[5, 2]]
        assert len(few) == 2
        np.testing.assert_array_equal(few.contour, found.contour[[5, 2]])
        np.testing.assert_array_equal(few.predicted, found.predicted[[5, 2]])


def test_beliefs_become_labels():
    p, m = bets(1), masses(1)
    labels = Beliefs.from_probability(p, CLASSES).labels()
    np.testing.assert_allclose(labels.contour, p)
    assert labels.classes.tolist() == CLASSES
    again = Beliefs.from_masses(m, CLASSES).labels()
    np.testing.assert_allclose(again.contour, contour(m))
    assert again.has_masses


# -- Of any classifier ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [GaussianMixtureClassifier("tied"), SoftNearestCentroid(), LogisticRegression()]
)
def test_bets_and_plausibilities(model):
    model.fit(X, NAMES)
    found = believe(model, X)
    assert found.classes.tolist() == ["ash", "elm", "oak"]
    np.testing.assert_allclose(found.probability, model.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose(found.contour, contour_of_bets(model.predict_proba(X)), atol=1e-12)
    assert found.predicted.tolist() == model.predict(X).tolist()
    assert len(found) == 60


def test_own_masses_come_first():
    class Shy:
        classes_ = np.array(["ash", "elm"])

        def predict_mass(self, X):
            return SparseMasses(np.tile([0.5, 0.5], (len(X), 1)), [1, 3], 2)

        def predict_proba(self, X):
            raise AssertionError("not to be asked")

    np.testing.assert_allclose(believe(Shy(), X[:1]).probability, [[0.75, 0.25]])


def test_own_plausibilities_come_before_bets():
    class Possible:
        classes_ = np.array(["oak", "ash", "elm"])

        def predict_plausibility(self, X):
            return np.tile([0.2, 1.0, 0.7], (len(X), 1))

        def predict_proba(self, X):
            raise AssertionError("not to be asked")

    found = believe(Possible(), X[:2])
    np.testing.assert_allclose(found.contour, [[0.2, 1.0, 0.7]] * 2)
    np.testing.assert_allclose(found.belief, [[0.0, 0.3, 0.0]] * 2)


def test_a_pipeline_believes_what_its_last_step_does():
    pipeline = make_pipeline(StandardScaler(), GaussianMixtureClassifier("tied")).fit(X, NAMES)
    found, inner = believe(pipeline, X), believe(pipeline[-1], pipeline[:-1].transform(X))
    for name in ("probability", "contour", "sets"):
        assert np.array_equal(getattr(found, name), getattr(inner, name))
    told = believe(pipeline, X, labels=NAMES)
    assert told.predicted.tolist() == NAMES.tolist()


def test_what_cannot_believe_is_refused():
    with pytest.raises(ValueError, match="fitted classifier with predict_proba and classes_"):
        believe(LinearSVC().fit(X, NAMES), X)
    with pytest.raises(ValueError, match="has no method believe; leave them out"):
        believe(LogisticRegression().fit(X, NAMES), X, labels=NAMES)
