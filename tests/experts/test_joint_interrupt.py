"""Ctrl-C during a joint fit leaves the best so far, wherever it comes."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from plausible.experts import Annotations, JointAnnotatorClassifier
from plausible.models import PartialLogisticRegression

RANDOM = np.random.default_rng(0)
Y = np.arange(90) % 2
X = RANDOM.normal(size=(90, 2)) + Y[:, None]
SAID = np.where(RANDOM.random((90, 3)) < [0.1, 0.3, 0.4], 1 - Y[:, None], Y[:, None])
ANSWERS = Annotations.from_answers(SAID)


class Pressed(PartialLogisticRegression):
    """Ctrl-C comes while it is fitted for the fourth time: before its first iteration, or after."""

    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        Pressed.fits += 1
        if Pressed.fits == 4 and self.alpha == 1.0:
            raise KeyboardInterrupt
        self.callback = press if Pressed.fits == 4 else None
        return super().fit(X, y, sample_weight)


def press(progress):
    raise KeyboardInterrupt


@pytest.mark.parametrize("alpha", [1.0, 1.5])
def test_in_the_midst_of_the_classifier(alpha):
    Pressed.fits = 0
    inner = Pressed(alpha=alpha, random_state=0)
    with pytest.warns(ConvergenceWarning, match="interrupted after 3 iterations"):
        model = JointAnnotatorClassifier(inner, tol=0.0).fit(X, ANSWERS)
    check_like_three_iterations(model, alpha)


def test_between_iterations():
    def stop(progress):
        if progress.iteration == 3:
            raise KeyboardInterrupt

    inner = PartialLogisticRegression(random_state=0)
    with pytest.warns(ConvergenceWarning, match="interrupted after 3 iterations"):
        model = JointAnnotatorClassifier(inner, tol=0.0, callback=stop).fit(X, ANSWERS)
    check_like_three_iterations(model, 1.0)


def check_like_three_iterations(model, alpha):
    inner = PartialLogisticRegression(alpha=alpha, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        short = JointAnnotatorClassifier(inner, tol=0.0, max_iter=3).fit(X, ANSWERS)
    assert np.array_equal(model.predict_proba(X), short.predict_proba(X))
    assert np.array_equal(model.history_, short.history_)
    assert np.array_equal(model.reliability_.accuracy, short.reliability_.accuracy)
    assert (model.n_iter_, model.converged_) == (3, False)


def test_before_there_is_anything():
    class Early(PartialLogisticRegression):
        def fit(self, X, y=None, sample_weight=None):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        JointAnnotatorClassifier(Early()).fit(X, ANSWERS)


def test_progress_is_the_history():
    seen = []
    model = JointAnnotatorClassifier(callback=seen.append).fit(X, ANSWERS)
    assert [progress.criterion for progress in seen] == model.history_.tolist()
    assert [progress.iteration for progress in seen] == list(range(1, model.n_iter_ + 1))
    assert np.allclose([p.gain for p in seen[1:]], np.diff(model.history_) / 90)
