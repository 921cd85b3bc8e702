"""The conformance suite as others use it: on toys, on other people's estimators, with reasons."""

import unittest
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from base.toys import SomebodyElses, ToyClusters, ToyMasses
from plausible.labels import Labels
from plausible.models import SoftNearestCentroid
from plausible.testing import Checked, check_estimator, checks_for
from plausible.testing.promises import CLASSIFIER_CHECKS, CLUSTERING_CHECKS
from plausible.testing.subject import Subject

BEYOND_SCIKIT_LEARN = {
    "log_probabilities", "masses", "plausibilities_of_masses", "believe", "one_pass", "refusals",
    "bets_between_belief_and_plausibility", "predict_is_in_its_set", "sets_by_interval_dominance",
    "losses", "signatures", "labels_of_new_items",
}  # fmt: skip


@pytest.mark.parametrize(
    ("estimator", "skipped"),
    [
        (ToyMasses(), set()),
        (ToyClusters(random_state=0), set()),
        (SomebodyElses(), BEYOND_SCIKIT_LEARN),
    ],
)
def test_toys_and_strangers_are_one_of_us(estimator, skipped):
    done = check_estimator(estimator)
    assert set(done.skipped) == skipped
    checks = CLUSTERING_CHECKS if isinstance(estimator, ToyClusters) else CLASSIFIER_CHECKS
    assert set(done.passed) == set(checks) - skipped


class Swapped(ToyClusters):
    """Two faults: labels_ are not those of the partition, and new items are placed otherwise."""

    def fit(self, X, y=None):
        super().fit(X, y)
        self.labels_ = 1 - self.labels_
        return self


def test_all_broken_promises_are_listed_with_what_was_found():
    with pytest.raises(AssertionError) as raised:
        check_estimator(Swapped(random_state=0))
    first, *others = str(raised.value).splitlines()
    assert first == "Swapped breaks 2 promises and keeps 12:"
    assert others == [
        "clustering_partition: labels_ are not those of partition_",
        "clustering_new_items: predict moves 54 of 54 items that were there",
    ]


def test_what_is_left_out_is_told_with_its_reason():
    left = {"clustering_partition": "numbers of clusters are swapped", "clustering_new_items": "so"}
    done = check_estimator(Swapped(random_state=0), leave_out=left)
    assert done.skipped == left
    assert "  clustering_partition: numbers of clusters are swapped" in repr(done)
    assert repr(Checked(("a", "b"), {})) == "2 checks passed, and nothing was left out"


class WantsDistances(KMeans):
    """A clustering that takes distances to three places, and not features."""

    def fit(self, X, y=None):
        if X.shape[1] != 3:
            raise ValueError("X should be distances to three places, but has other columns.")
        return super().fit(X)


def test_a_clustering_may_be_fitted_in_its_own_way():
    def fit(estimator, X, labels, sample_weight):
        assert labels is None
        assert sample_weight is None
        return estimator.fit(cdist(np.asarray(X)[:, :2], [[0.0, 0.0], [9.0, 9.0], [-5.0, 5.0]]))

    estimator = WantsDistances(2, n_init=3, random_state=0)
    done = check_estimator(estimator, fit=fit)
    assert {"clustering_labels", "clustering_sample_order"} < set(done.passed)
    assert {"scikit_learn", "clustering_fit_predict", "clustering_masses"} < set(done.skipped)
    with pytest.raises(AssertionError, match="three places"):
        check_estimator(estimator)


def test_weights_and_habits_are_found_out_or_held_against():
    assert Subject(SoftNearestCentroid()).weights
    assert not Subject(make_pipeline(StandardScaler(), SoftNearestCentroid())).weights
    assert Subject(make_pipeline(StandardScaler(), SoftNearestCentroid()), weighted=True).weights
    checks = dict(checks_for(SoftNearestCentroid(), unknown="works"))
    with pytest.raises(AssertionError, match="such labels should work, but are refused"):
        checks["unknown_labels"]()
    dict(checks_for(SoftNearestCentroid()))["unknown_labels"]()


def test_a_check_that_does_not_look_is_a_skipped_test():
    checks = dict(checks_for(SomebodyElses()))
    with pytest.raises(unittest.SkipTest, match="has no predict_mass"):
        checks["masses"]()


def test_its_own_way_of_fitting_is_given_labels():
    seen = []

    def fit(estimator, X, labels, sample_weight):
        seen.append(labels)
        return estimator.fit(X, labels, sample_weight)

    for name, check in checks_for(SoftNearestCentroid(), fit=fit):
        if name in ("class_order", "degrees_matter", "zero_weight_is_absence", "lists"):
            check()
    assert len(seen) > 8
    assert all(isinstance(labels, Labels) for labels in seen)


@pytest.mark.parametrize(
    ("estimator", "given", "words"),
    [
        (SoftNearestCentroid, {}, "unfitted instance with a method fit.*MyClassifier()"),
        (np.ones(3), {}, "unfitted instance with a method fit"),
        (LinearRegression(), {}, "classifier or a clustering.*LinearRegression is neither"),
        (GaussianNB(), {"leave_out": {"mases": "so"}}, "did you mean 'masses'"),
        (GaussianNB(), {"unknown": "perhaps"}, "unknown should be 'works' or 'refuses'"),
    ],
)
def test_what_cannot_be_checked_is_refused(estimator, given, words):
    with pytest.raises(ValueError, match=words):
        list(checks_for(estimator, **given))


def test_the_guide_has_every_promise():
    guide = Path(__file__).parents[2] / "docs" / "testing.md"
    text = " ".join(guide.read_text().split())
    for checks in (CLASSIFIER_CHECKS, CLUSTERING_CHECKS):
        for name, check in checks.items():
            assert f"| `{name}` | {check.__doc__.strip()} |" in text
