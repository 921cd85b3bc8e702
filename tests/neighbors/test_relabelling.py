"""Unlabeled items are labeled with degrees, and a final rule learns from all."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from neighbors.kinds import all_kinds, draw_items
from plausible.belief import to_sparse
from plausible.labels import Labels
from plausible.models import GaussianMixtureClassifier, PartialLogisticRegression
from plausible.neighbors import EvidentialNeighborsClassifier, Relabeller, RelabellingClassifier

# Figure 1 of Vannoorenberghe: four items on a line, the second one unlabeled.
PLACES = np.array([[0.0], [0.5], [2.0], [3.0]])
SOME = Labels.from_crisp(["w1", None, "w2", "w2"], missing=None)
RULE = EvidentialNeighborsClassifier(4, gamma=1.0, max_mass=1.0)


def test_the_relabeled_item_of_figure_1():
    done = Relabeller(RULE).fit(PLACES, SOME)
    masses = to_sparse(done.labels_.masses()[1])
    np.testing.assert_allclose(masses.values, [0.7587, 0.0259, 0.2155], atol=5e-5)
    np.testing.assert_array_equal(masses.focal_sets, [1, 2, 3])
    assert done.is_relabeled_.tolist() == [False, True, False, False]


def test_the_relabeled_curve_is_between_the_others_everywhere():
    grid = np.linspace(-3.0, 6.0, 901)[:, None]
    kept = RULE.fit(PLACES, SOME).predict_proba(grid)[:, 0]
    true = RULE.fit(PLACES, ["w1", "w1", "w2", "w2"]).predict_proba(grid)[:, 0]
    done = RelabellingClassifier(RULE, RULE).fit(PLACES, SOME).predict_proba(grid)[:, 0]
    assert (done >= kept - 1e-12).all()
    assert (done <= true + 1e-12).all()
    assert (true - kept).max() > 0.2
    assert np.median((done - kept)[true - kept > 0.01] / (true - kept)[true - kept > 0.01]) > 0.5


@pytest.mark.parametrize("kind", ["missing", "plausibilities"])
def test_given_labels_stay_and_others_are_what_the_first_rule_believes(kind):
    X, labels = draw_items(), all_kinds()[kind].reorder(sorted(all_kinds()[kind].classes.tolist()))
    rule = EvidentialNeighborsClassifier(5)
    done = Relabeller(rule).fit(X, labels)
    known = ~labels.is_unknown
    np.testing.assert_allclose(done.labels_[known].scaled(), labels[known].scaled())
    first = rule.fit(X[known], labels[known])
    np.testing.assert_allclose(
        done.labels_[~known].contour, first.predict_plausibility(X[~known]), atol=1e-12
    )
    found = done.labels_[~known].masses().to_dense()
    np.testing.assert_allclose(found, first.predict_mass(X[~known]).to_dense(), atol=1e-12)


def test_three_ways_with_unlabeled_items():
    X, labels = draw_items(), all_kinds()["missing"]
    known, new = ~labels.is_unknown, draw_items(9, seed=8)
    rule = EvidentialNeighborsClassifier(5)
    dropped = RelabellingClassifier(rule, rule, unknown="drop").fit(X, labels)
    np.testing.assert_allclose(
        dropped.predict_proba(new), rule.fit(X[known], labels[known]).predict_proba(new)
    )
    counted = RelabellingClassifier(rule, rule, unknown="count").fit(X, labels)
    np.testing.assert_allclose(counted.predict_proba(new), rule.fit(X, labels).predict_proba(new))
    done = RelabellingClassifier(rule, rule).fit(X, labels)
    again = rule.fit(X, Relabeller(rule).fit(X, labels).labels_)
    np.testing.assert_allclose(done.predict_proba(new), again.predict_proba(new))
    assert dropped.first_ is None
    assert len(dropped.labels_) == known.sum()
    assert len(done.labels_) == 40


@pytest.mark.parametrize(
    "first", [PartialLogisticRegression(), GaussianMixtureClassifier(), LogisticRegression()]
)
def test_any_classifier_may_be_first(first):
    X, labels = draw_items(), all_kinds()["missing"]
    done = Relabeller(first).fit(X, labels)
    known = ~labels.is_unknown
    model = done.estimator_
    expected = model.predict_proba(X[~known])[:, np.argsort(model.classes_)]
    order = np.argsort(done.labels_.classes)
    np.testing.assert_allclose(done.labels_[~known].contour[:, order], expected, atol=1e-9)


def test_scikit_learn_last_is_told_that_degrees_are_lost():
    X, labels = draw_items(), all_kinds()["missing"]
    model = RelabellingClassifier(EvidentialNeighborsClassifier(5, 1.0), KNeighborsClassifier(3))
    with pytest.warns(UserWarning, match="degrees"):
        model.fit(X, labels)
    assert set(model.predict(X)) <= set(labels.classes)


def test_nothing_to_relabel_and_nothing_known():
    X, labels = draw_items(), all_kinds()["hard"]
    done = Relabeller().fit(X, labels)
    assert done.estimator_ is None
    assert not done.is_relabeled_.any()
    np.testing.assert_array_equal(done.labels_.crisp(), labels.crisp())
    unknown = Labels.unknown(40, labels.classes)
    for unknown_way in ("relabel", "drop", "count"):
        with pytest.raises(ValueError, match="all labels are unknown; label some items"):
            RelabellingClassifier(unknown=unknown_way).fit(X, unknown)
    for name in ("first", "final"):
        for odd in (3, "k-NN", EvidentialNeighborsClassifier):
            with pytest.raises(ValueError, match=f"{name} should be a classifier"):
                RelabellingClassifier(**{name: odd}).fit(X, labels)
    with pytest.raises(ValueError, match="'relabel', 'drop' or 'count'"):
        RelabellingClassifier(unknown="guess").fit(X, labels)


def test_a_class_that_no_label_is_sure_of_stays_possible():
    X = draw_items(30)
    sets = [{"a"} if i % 3 == 0 else ({"b", "c"} if i % 3 == 1 else None) for i in range(30)]
    labels = Labels.from_sets(sets, classes="abc")
    model = RelabellingClassifier().fit(X, labels)
    assert model.classes_.tolist() == ["a", "b", "c"]
    bets = model.predict_proba(X)
    np.testing.assert_allclose(bets[:, 1], bets[:, 2], atol=1e-12)


def test_many_classes_are_relabeled_by_plausibilities():
    codes = np.random.default_rng(0).integers(70, size=40)
    shown = [None if i % 4 == 0 else int(code) for i, code in enumerate(codes)]
    labels = Labels.from_crisp(shown, classes=range(70), missing=None)
    done = Relabeller(EvidentialNeighborsClassifier(5)).fit(draw_items(), labels)
    assert done.labels_.contour.shape == (40, 70)
    assert not done.labels_.is_unknown.any()
