"""Labels pass through scikit-learn with their degrees intact."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.feature_selection import SelectKBest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

from plausible.labels import Labels
from plausible.metrics import get_scorer, soft_accuracy
from plausible.models import SoftNearestCentroid

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


class Recorder(ClassifierMixin, BaseEstimator):
    """Refuses y that has lost its degrees: the first column of X is the number of the row."""

    expected: Labels

    def __init__(self, shift=0):
        self.shift = shift

    def fit(self, X, y):
        assert isinstance(y, Labels), f"y came as {type(y)}"
        rows = self.row_numbers(X)
        np.testing.assert_array_equal(y.contour, make_labels().contour[rows])
        self.classes_ = y.classes
        return self

    def predict(self, X):
        return make_labels().crisp()[self.row_numbers(X)]

    @staticmethod
    def row_numbers(X):
        return np.rint(X[:, 0]).astype(int)


def make_labels():
    rng = np.random.default_rng(0)
    return Labels.from_doubt(NAMES, np.where(rng.random(len(Y)) < 0.3, 1.0, rng.random(len(Y))))


NUMBERED = np.column_stack([np.arange(len(Y)), X])


def test_pipeline():
    model = make_pipeline(SelectKBest(k=5), Recorder()).fit(NUMBERED, make_labels())
    np.testing.assert_array_equal(model.predict(NUMBERED), make_labels().crisp())


def test_select_k_best_sees_the_most_plausible_classes():
    labels = Labels.from_doubt(NAMES, 0.3)
    chosen = SelectKBest(k=2).fit(X, labels).get_support()
    np.testing.assert_array_equal(chosen, SelectKBest(k=2).fit(X, NAMES).get_support())


def test_train_test_split_stratifies_and_keeps_degrees():
    labels = make_labels()
    parts = train_test_split(NUMBERED, labels, stratify=labels, test_size=0.4, random_state=0)
    X_train, X_test, y_train, y_test = parts
    for rows, part in ((X_train, y_train), (X_test, y_test)):
        np.testing.assert_array_equal(part.contour, labels.contour[Recorder.row_numbers(rows)])
    _, all_counts = np.unique(labels.crisp(), return_counts=True)
    _, test_counts = np.unique(y_test.crisp(), return_counts=True)
    assert np.abs(test_counts - 0.4 * all_counts).max() <= 1


def test_cross_validation_is_stratified_and_keeps_degrees():
    scores = cross_val_score(Recorder(), NUMBERED, make_labels(), error_score="raise")
    np.testing.assert_allclose(scores, 1.0)
    # Default cross-validation must not fall back to unshuffled folds, as it does for (n, K) arrays.
    folds = list(StratifiedKFold(5).split(X, make_labels()))
    scored = cross_val_score(SoftNearestCentroid(), X, Labels.from_crisp(NAMES))
    assert scored.min() > 0.8
    assert all(len(np.unique(NAMES[test])) == 3 for _, test in folds)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_grid_search_keeps_degrees(n_jobs):
    search = GridSearchCV(Recorder(), {"shift": [0, 1]}, n_jobs=n_jobs, error_score="raise")
    search.fit(NUMBERED, make_labels())
    assert search.best_score_ == 1.0


def test_grid_search_with_our_scorer_and_several_processes():
    model = make_pipeline(StandardScaler(), SoftNearestCentroid())
    search = GridSearchCV(
        model,
        {"standardscaler__with_std": [True, False]},
        scoring=get_scorer("neg_soft_log_loss"),
        n_jobs=2,
        error_score="raise",
    )
    search.fit(X, make_labels())
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_semi_supervised_estimators_take_labels_as_they_are():
    labels = Labels.from_crisp(np.where(np.arange(150) % 3, -1, Y), missing=-1)
    model = LabelSpreading().fit(X, labels)
    assert (model.predict(X) == Y).mean() > 0.9


def test_soft_accuracy_is_honest_where_accuracy_is_not():
    rng = np.random.default_rng(1)
    hidden = rng.random(len(Y)) < 0.6
    labels = Labels.from_crisp(np.where(hidden, "", NAMES), missing="")
    model = SoftNearestCentroid().fit(X, labels)
    true_accuracy = accuracy_score(NAMES, model.predict(X))
    assert abs(soft_accuracy(labels, model.predict(X)) - true_accuracy) < 0.05
    assert model.score(X, labels) == soft_accuracy(labels, model.predict(X))
    assert accuracy_score(labels, model.predict(X)) < true_accuracy - 0.5


def test_numpy_sees_the_most_plausible_classes():
    labels = Labels.from_doubt([3, 5], [0.0, 1.0])
    np.testing.assert_array_equal(np.asarray(labels), [3, -1])
    np.testing.assert_array_equal(np.asarray(labels, dtype=float), [3.0, -1.0])
    assert list(labels) == [3, -1]
    assert (labels.shape, labels.ndim, labels.dtype.kind) == ((2,), 1, "i")
