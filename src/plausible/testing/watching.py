"""A wrapper that proves that labels reach `fit` with their degrees and beside their own rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from plausible.labels import Labels
from plausible.testing.samples import assert_same, differ
from plausible.testing.subject import Fit, Subject


def assert_rows_of(X: Any, y: Any, sample_X: NDArray[Any], sample_labels: Labels) -> None:
    """Labels `y` are rows of the sample, each beside its own row of X.

    A row is recognized by its contour. A step before the model may have rescaled or dropped
    columns of X, so these are compared by correlation.
    """
    assert isinstance(y, Labels), f"fit should receive Labels, but got {type(y).__name__}"
    distance = np.abs(y.contour[:, None] - sample_labels.contour).max(axis=2)
    rows = distance.argmin(axis=1)
    assert distance.min(axis=1).max() == 0.0, "labels arrived with other degrees than they left"
    assert len(set(rows.tolist())) == len(rows), "labels arrived twice"
    for column in np.asarray(X).T:
        fits = [abs(np.corrcoef(column, origin)[0, 1]) for origin in sample_X[rows].T]
        assert max(fits) > 1.0 - 1e-9, "labels arrived beside rows of X that are not theirs"


def assert_learned_degrees(
    subject: Subject, model: Any, X: NDArray[Any], labels: Labels, points: NDArray[Any]
) -> None:
    """The fitted model is the one that the degrees give, and not the one of hard labels."""
    degrees = Labels.from_plausibility(labels.contour, labels.classes.tolist())
    assert_same(model, subject.fit(X, degrees), points, "degrees on the way to fit")
    hardened = subject.fit(X, labels.crisp())
    assert differ(model, hardened, points), "the model is that of hard labels: degrees are lost"


class Watched(ClassifierMixin, BaseEstimator):
    """Passes everything on to an estimator, after a look at what `fit` is given.

    The sample is a parameter, so that copies in other processes look, too; what they find comes
    back as an AssertionError.
    """

    def __init__(
        self, estimator: Any, X: NDArray[Any], labels: Labels, own_fit: Fit | None = None
    ) -> None:
        self.estimator = estimator
        self.X = X
        self.labels = labels
        self.own_fit = own_fit

    def fit(self, X: Any, y: Any) -> "Watched":
        """Look, and fit a copy of the estimator."""
        assert_rows_of(X, y, self.X, self.labels)
        self.estimator_ = Subject(clone(self.estimator), self.own_fit).fit(X, y)
        self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Classes by the estimator."""
        return self.estimator_.predict(X)

    def score(self, X: Any, y: Any) -> float:
        """Score by the estimator."""
        return self.estimator_.score(X, y)


def watched(subject: Subject, X: NDArray[Any], labels: Labels) -> Watched:
    """The estimator of a subject, watched."""
    return Watched(subject.make(), X, labels, subject.own_fit)
