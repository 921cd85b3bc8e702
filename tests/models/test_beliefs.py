"""Beliefs of any classifier: its own where it has them, and made of its bets where it has not."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from plausible.belief import decide
from plausible.models import GaussianMixtureClassifier, SoftNearestCentroid, believe

RANDOM = np.random.default_rng(0)
Y = np.arange(60) % 3
X = RANDOM.normal(size=(60, 2)) + 2 * np.eye(3, 2)[Y]
NAMES = np.array(["ash", "elm", "oak"])[Y]


@pytest.mark.parametrize(
    "model", [GaussianMixtureClassifier("tied"), SoftNearestCentroid(), LogisticRegression()]
)
def test_bets_and_plausibilities(model):
    model.fit(X, NAMES)
    found = believe(model, X)
    assert found.classes.tolist() == ["ash", "elm", "oak"]
    assert found.probability.tobytes() == model.predict_proba(X).tobytes()
    assert (found.contour.max(axis=1) == 1).all()
    assert len(found) == 60
    assert found.sets.any(axis=1).all()
    assert found.sets[np.arange(60), found.contour.argmax(axis=1)].all()


def test_without_plausibilities_they_are_relative_bets():
    model = LogisticRegression().fit(X, NAMES)
    found = believe(model, X)
    assert np.allclose(found.contour, found.probability / found.probability.max(axis=1)[:, None])
    expected = decide(found.contour, "interval_dominance", kind="plausibility").chosen
    assert np.array_equal(found.sets, expected)


def test_own_plausibilities_and_sets_come_first():
    model = GaussianMixtureClassifier("tied").fit(X, NAMES)
    contour = model.predict_plausibility(X)
    assert np.allclose(believe(model, X).contour, contour / contour.max(axis=1)[:, None])

    class Cautious(SoftNearestCentroid):
        def predict_set(self, X):
            return np.ones((len(X), 3), dtype=bool)

    assert believe(Cautious().fit(X, NAMES), X).sets.all()


def test_a_pipeline_believes_what_its_last_step_does():
    pipeline = make_pipeline(StandardScaler(), GaussianMixtureClassifier("tied")).fit(X, NAMES)
    found, inner = believe(pipeline, X), believe(pipeline[-1], pipeline[:-1].transform(X))
    for name in ("probability", "contour", "sets"):
        assert np.array_equal(getattr(found, name), getattr(inner, name))


def test_what_cannot_believe_is_refused():
    for model in (LinearSVC().fit(X, NAMES), SoftNearestCentroid()):
        with pytest.raises(ValueError, match="fitted classifier with predict_proba and classes_"):
            believe(model, X)
