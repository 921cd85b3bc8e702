"""A fit that is refused or interrupted leaves the estimator as it was."""

import pickle

import numpy as np
import pandas as pd
import pytest

from plausible.base import EmptyClassWarning
from plausible.cluster import ECM
from plausible.engine import ArrayRows
from plausible.labels import Labels
from plausible.models import (
    AutoClassifier,
    BeliefTreeClassifier,
    DiscriminantClassifier,
    FeaturePreparation,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
    SoftNearestCentroid,
)

CLASSIFIERS = [
    BeliefTreeClassifier(random_state=0),
    DiscriminantClassifier(),
    GaussianMixtureClassifier(random_state=0),
    PartialLogisticRegression(random_state=0),
    SoftNearestCentroid(),
]


def two_features():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    return X, np.where(X["a"] > 0, "yes", "no")


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_after_a_refused_fit_features_have_the_order_of_the_fit_before(model):
    """Or coefficients of one order would be used with features of another, without a word."""
    X, y = two_features()
    model.fit(X, y)
    before, answers = pickle.dumps(vars(model)), model.predict(X)
    with pytest.raises(ValueError, match="row 59"):
        model.fit(X[["b", "a"]], [{"yes"}] * 59 + [{"no", None}])
    with pytest.raises(ValueError, match="names"):
        model.predict(X[["b", "a"]])
    np.testing.assert_array_equal(model.predict(X), answers)
    assert pickle.dumps(vars(model)) == before


@pytest.mark.filterwarnings("ignore:The fit was interrupted")
@pytest.mark.parametrize("at_call", range(1, 6))
@pytest.mark.parametrize("model", [GaussianMixtureClassifier(), PartialLogisticRegression()])
def test_a_fit_that_is_interrupted_for_good_leaves_the_one_before(model, at_call, monkeypatch):
    X, y = two_features()
    model.fit(X, y)
    before, n_calls, reduce = pickle.dumps(vars(model)), [], ArrayRows.reduce

    def reduce_until(self, *args):
        n_calls.append(1)
        if len(n_calls) >= at_call:  # also in what an interrupted fit does last
            raise KeyboardInterrupt
        return reduce(self, *args)

    monkeypatch.setattr(ArrayRows, "reduce", reduce_until)
    try:
        model.fit(np.random.default_rng(1).normal(size=(30, 3)), [{"c", "d"}, {"c"}, {"d"}] * 10)
    except KeyboardInterrupt:
        assert pickle.dumps(vars(model)) == before
    else:
        assert model.classes_.tolist() == ["c", "d"]
        assert model.n_features_in_ == 3


def test_other_estimators_stay_as_they_were_too():
    X, _ = two_features()
    for model, wrong in [(ECM(2), [[1.0, 2.0, np.nan]] * 9), (FeaturePreparation(), X.iloc[:0])]:
        model.fit(X)
        before = pickle.dumps(vars(model))
        with pytest.raises(ValueError, match=r"NaN|row|sample"):
            model.fit(wrong)
        assert pickle.dumps(vars(model)) == before


def test_a_warning_of_a_fit_names_the_line_of_its_caller():
    X, y = two_features()
    labels = np.column_stack([y == "no", y == "yes", np.zeros(60, dtype=bool)])
    with pytest.warns(EmptyClassWarning) as caught:
        PartialLogisticRegression().fit(X, labels)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("at_call", [6, 9, 30])
def test_ctrl_c_in_a_trial_ends_the_search_and_not_only_the_trial(at_call, monkeypatch):
    X, y = two_features()
    labels = Labels.from_doubt(y, doubt=0.4)
    n_calls, reduce = [], ArrayRows.reduce

    def reduce_until(self, *args):
        n_calls.append(1)
        if len(n_calls) == at_call:
            raise KeyboardInterrupt
        return reduce(self, *args)

    monkeypatch.setattr(ArrayRows, "reduce", reduce_until)
    model = AutoClassifier([("mixture", GaussianMixtureClassifier())], cv=3, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, labels)
    assert len(n_calls) <= at_call + 2
    assert not hasattr(model, "classes_")
