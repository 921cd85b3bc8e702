"""Conformal sets hold what was asked, of what they were calibrated on."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plausible.base import HeldOut
from plausible.base.refusals import least_confidence
from plausible.io import load, save
from plausible.labels import Labels
from plausible.metrics import set_coverage
from plausible.models import (
    ConformalClassifier,
    CoverageWarning,
    PartialLogisticRegression,
    SoftNearestCentroid,
)

NAMES = np.array(["cow", "ant", "bee"])  # not sorted
SORTED = np.argsort(np.argsort(NAMES))  # column of each name in sorted classes


def draw(n, seed, spread=1.3):
    """Items of three classes of unequal size that overlap, and answers that err together."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    X = np.array([[0.0, 0], [2, 0], [0, 2]])[y] + spread * rng.normal(size=(n, 2))
    said = np.where((y == 0) & (X[:, 0] > 0.5), 1, y)  # everybody takes these cows for ants
    return X, y, said


X, Y, SAID = draw(150, 0)
MODEL = GaussianNB().fit(X, NAMES[SAID])  # learned from what people said


def coverage_of(model, items, y):
    return model.predict_set(items)[np.arange(len(y)), SORTED[y]].mean()


@pytest.mark.parametrize(("n_gold", "asked"), [(30, 0.8), (100, 0.9), (200, 0.95)])
def test_gold_classes_keep_coverage_of_the_truth(n_gold, asked):
    model = ConformalClassifier(FrozenEstimator(MODEL), coverage=asked)
    n_draws, n_new = 150, 100
    held = 0
    for seed in range(n_draws):
        items, y, said = draw(n_gold, 1000 + seed)
        model.fit(items, NAMES[said], gold=NAMES[y])
        new, truth, _ = draw(n_new, 9000 + seed)
        held += coverage_of(model, new, truth) * n_new
    exact = np.ceil((n_gold + 1) * asked) / (n_gold + 1)
    # Draws of items share a calibration: the mean of their coverages is what is bounded.
    spread = np.sqrt(exact * (1 - exact) * (1 / (n_draws * n_new) + 1 / (n_draws * (n_gold + 2))))
    assert abs(held / (n_draws * n_new) - exact) < 3.5 * spread
    assert abs(held / (n_draws * n_new) - asked) < 0.02


def test_labels_that_err_together_keep_coverage_of_labels_only():
    items, y, said = draw(3000, 5)
    model = ConformalClassifier(FrozenEstimator(MODEL), 0.9).fit(items, NAMES[said])
    new, truth, answers = draw(3000, 6)
    assert abs(coverage_of(model, new, answers) - 0.9) < 0.02
    assert coverage_of(model, new, truth) < 0.85
    model.fit(items, NAMES[said], gold=NAMES[y])
    assert abs(coverage_of(model, new, truth) - 0.9) < 0.02


def by_hand(model, calibration, new, asked, by_class, score):
    """Sets of new items, one comparison after the other; calibration: (bets of a row, class)."""

    def badness(bets, k):
        if score == "probability":
            return 1.0 - bets[k]
        return sum(p for p in bets if p > bets[k]) + bets[k]

    sets = np.zeros((len(new), 3), dtype=bool)
    for i, bets in enumerate(new):
        for k in range(3):
            own = [(b, c) for b, c in calibration if not by_class or c == k]
            below = sum(badness(b, c) < badness(bets, k) for b, c in own)
            sets[i, k] = below < asked * (len(own) + 1)
    return sets


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("score", ["probability", "cumulative"])
def test_split_sets_are_those_of_the_definition(by_class, score):
    items, y, _ = draw(40, 3)
    model = ConformalClassifier(FrozenEstimator(MODEL), 0.7, by_class=by_class, nonconformity=score)
    model.fit(items, NAMES[y])
    new = draw(25, 4)[0]
    calibration = list(zip(MODEL.predict_proba(items), SORTED[y], strict=True))
    expected = by_hand(model, calibration, MODEL.predict_proba(new), 0.7, by_class, score)
    np.testing.assert_array_equal(model.predict_set(new), expected)
    np.testing.assert_allclose(model.predict_proba(new), MODEL.predict_proba(new))


def test_cross_sets_compare_each_fold_with_its_own_classifier():
    items, y, _ = draw(45, 8)
    folds = KFold(3, shuffle=True, random_state=1)
    model = ConformalClassifier(GaussianNB(), 0.8, "cross", cv=folds).fit(items, NAMES[y])
    new = draw(20, 9)[0]
    below = np.zeros((20, 3))
    for train, test in folds.split(items, NAMES[y]):
        part = GaussianNB().fit(items[train], NAMES[y[train]])
        own = 1.0 - part.predict_proba(items[test])[np.arange(len(test)), SORTED[y[test]]]
        below += (own[:, None, None] < 1.0 - part.predict_proba(new)).sum(axis=0)
    np.testing.assert_array_equal(model.predict_set(new), below < 0.8 * 46)
    alone = GaussianNB().fit(items, NAMES[y])
    np.testing.assert_allclose(model.predict_proba(new), alone.predict_proba(new))


def test_every_class_is_covered_on_request():
    items, y, _ = draw(1500, 10)
    new, truth, _ = draw(6000, 11)
    whole = ConformalClassifier(FrozenEstimator(MODEL), 0.85).fit(items, NAMES[y])
    each = ConformalClassifier(FrozenEstimator(MODEL), 0.85, by_class=True).fit(items, NAMES[y])
    of_class = [coverage_of(each, new[truth == k], truth[truth == k]) for k in range(3)]
    assert np.abs(np.array(of_class) - 0.85).max() < 0.05
    uneven = [coverage_of(whole, new[truth == k], truth[truth == k]) for k in range(3)]
    assert max(uneven) - min(uneven) > 0.15


def test_labels_that_hold_the_truth_keep_its_coverage_by_their_worst_class():
    items, y, _ = draw(400, 12)
    rng = np.random.default_rng(13)
    contour = np.eye(3)[y]
    contour[np.arange(400), rng.integers(0, 3, 400)] = 1.0
    labels = Labels.from_plausibility(contour, NAMES)
    new, truth, _ = draw(3000, 14)
    fitted = {
        partial: ConformalClassifier(FrozenEstimator(MODEL), 0.8, partial=partial).fit(
            items, labels
        )
        for partial in ("weighted", "worst")
    }
    covered = {name: coverage_of(model, new, truth) for name, model in fitted.items()}
    sizes = {name: model.predict_set(new).sum() for name, model in fitted.items()}
    assert binom.cdf(covered["worst"] * 3000, 3000, 0.77) > 0.01
    assert sizes["worst"] > sizes["weighted"]
    hard = Labels.from_crisp(NAMES[y], NAMES)
    one = ConformalClassifier(FrozenEstimator(MODEL), 0.8).fit(items, hard).predict_set(new)
    other = ConformalClassifier(FrozenEstimator(MODEL), 0.8, partial="worst").fit(items, hard)
    np.testing.assert_array_equal(one, other.predict_set(new))


def test_probabilities_count_by_their_shares():
    items, y, _ = draw(60, 15)
    share = np.array([0.6, 0.3, 0.1])
    labels = Labels.from_probability(share[(np.arange(3) - y[:, None]) % 3], NAMES)
    model = ConformalClassifier(FrozenEstimator(MODEL), 0.75).fit(items, labels)
    new = draw(30, 16)[0]
    bets, own = MODEL.predict_proba(items), MODEL.predict_proba(new)
    contour = labels.reorder(sorted(NAMES)).contour
    below = np.zeros((30, 3))
    for i in range(60):
        for k in range(3):
            below += contour[i, k] * (1 - bets[i, k] < 1 - own)
    np.testing.assert_array_equal(model.predict_set(new), below < 0.75 * 61)


def test_coverage_may_be_changed_after_fit_and_sets_grow_with_it():
    items, y, _ = draw(200, 17)
    model = ConformalClassifier(SoftNearestCentroid(), random_state=0).fit(items, NAMES[y])
    new = draw(100, 18)[0]
    sets = [model.set_params(coverage=c).predict_set(new) for c in (0.5, 0.7, 0.9, 0.95)]
    assert all((small <= large).all() for small, large in pairwise(sets))
    assert sets[0].sum() < sets[-1].sum()
    np.testing.assert_array_equal(model.believe(new).sets, sets[-1])
    np.testing.assert_array_equal(model.believe(new)[3:5].sets, sets[-1][3:5])
    known = Labels.from_sets([{"ant", "bee"}] * 100, classes=NAMES)
    np.testing.assert_array_equal(
        model.predict_set(new, known), sets[-1] & np.array([True, True, False])
    )
    by_rule = model.predict_set(new, rule="interval_dominance")
    np.testing.assert_array_equal(by_rule, model.estimator_.predict_set(new))
    assert model.n_calibration_ == 40  # one fold of five


def test_gold_items_are_held_out_of_training_by_split():
    items, y, said = draw(120, 19)
    gold = np.array([NAMES[k] if i % 3 == 0 else None for i, k in enumerate(y)], dtype=object)
    model = ConformalClassifier(GaussianNB(), random_state=0).fit(items, NAMES[said], gold=gold)
    rest = np.arange(120) % 3 > 0
    alone = GaussianNB().fit(items[rest], NAMES[said[rest]])
    np.testing.assert_allclose(model.predict_proba(items), alone.predict_proba(items))
    assert model.n_calibration_ == 40
    crossed = ConformalClassifier(GaussianNB(), method="cross", random_state=0)
    assert crossed.fit(items, NAMES[said], gold=gold).n_calibration_ == 40
    assert len(crossed.estimators_) == 5


def test_too_few_items_are_told_and_hold_every_class():
    items, y, _ = draw(8, 20)
    with pytest.warns(CoverageWarning, match="coverage=0.9 should have 9 items"):
        model = ConformalClassifier(FrozenEstimator(MODEL), 0.9).fit(items, NAMES[y])
    assert model.predict_set(items).all()
    items, y, _ = draw(60, 21)
    y = np.where(y == 1, 0, y)
    y[0] = 1
    model = ConformalClassifier(FrozenEstimator(MODEL), 0.75, by_class=True)
    with pytest.warns(CoverageWarning, match=r"\['ant'\]"):
        model.fit(items, NAMES[y])
    assert model.predict_set(items)[:, 0].all()


# -- Refusals --------------------------------------------------------------------------------------


def test_errors_among_answers_are_kept():
    wrong, accepted = [], []
    for seed in range(60):
        items, y, said = draw(200, 100 + seed)
        model = ConformalClassifier(FrozenEstimator(MODEL)).fit(items, NAMES[said], gold=NAMES[y])
        new, truth, _ = draw(300, 500 + seed)
        decision = model.decide(new, max_error=0.3)
        answered = ~decision.refused
        accepted.append(answered.mean())
        if answered.any():
            wrong.append((decision.index[answered] != SORTED[truth[answered]]).mean())
    assert 0.25 < np.mean(wrong) < 0.31
    assert 0.4 < np.mean(accepted) < 0.9


def test_the_threshold_is_the_lowest_that_keeps_the_share():
    confidence = np.array([0.95, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5])
    error = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0])
    held_out = HeldOut(confidence, error, np.ones(8))
    assert least_confidence(held_out, 0.25) == 0.8  # (1 + 0) / 4
    assert least_confidence(held_out, 0.3) == 0.6  # (1 + 1) / 7
    assert least_confidence(held_out, 0.34) == 0.6
    assert least_confidence(held_out, 0.4) == 0.5  # (1 + 2) / 8
    assert least_confidence(held_out, 0.2) == np.inf
    twice = HeldOut(confidence, error, np.full(8, 2.0))
    assert least_confidence(twice, 0.2) == 0.8  # (1 + 0) / 8; (1 + 2) / 14 is more


def test_an_estimator_that_was_never_tried_says_what_is_needed():
    items, y, _ = draw(60, 22)
    plain = PartialLogisticRegression(random_state=0).fit(items, NAMES[y])
    with pytest.raises(ValueError, match="ConformalClassifier"):
        plain.decide(items, max_error=0.1)
    model = ConformalClassifier(FrozenEstimator(MODEL)).fit(items, NAMES[y])
    with pytest.raises(ValueError, match="1 / 0.01 items"):
        model.decide(items, max_error=0.01)
    with pytest.raises(ValueError, match="alone"):
        model.decide(items, max_error=0.1, reject=0.2)
    y = (y + 1) % 3  # always wrong
    model.fit(items, NAMES[y])
    assert model.decide(items, max_error=0.05).refused.all()


# -- The house -------------------------------------------------------------------------------------


def test_what_makes_no_sense_is_refused():
    items, y, _ = draw(60, 23)
    for wrong, words in [
        ({"coverage": 1.5}, "coverage"),
        ({"method": "full"}, "split"),
        ({"nonconformity": "margin"}, "cumulative"),
        ({"partial": "best"}, "worst"),
        ({"partial": "worst", "by_class": True}, "weighted"),
        ({"cv": 1}, "cv"),
        ({"estimator": 3}, "classifiers"),
    ]:
        with pytest.raises(ValueError, match=words):
            ConformalClassifier(**({"estimator": GaussianNB()} | wrong)).fit(items, NAMES[y])
    model = ConformalClassifier(GaussianNB())
    with pytest.raises(ValueError, match="one entry for each of the 60"):
        model.fit(items, NAMES[y], gold=["ant"])
    with pytest.raises(ValueError, match="known for sure"):
        model.fit(items, NAMES[y], gold=[{"ant", "bee"}] * 60)
    with pytest.raises(ValueError, match="left to learn from"):
        model.fit(items, NAMES[y], gold=NAMES[y])
    with pytest.raises(ValueError, match="for calibration"):
        model.fit(items, NAMES[y], gold=Labels.unknown(60, NAMES))


def test_a_fitted_classifier_may_know_classes_that_calibration_lacks():
    items, y, _ = draw(90, 7)
    items, y = items[y != 2], y[y != 2]  # no bee
    few = ConformalClassifier(FrozenEstimator(MODEL), 0.8).fit(items, NAMES[y])
    named = ConformalClassifier(FrozenEstimator(MODEL), 0.8)
    named.fit(items, Labels.from_crisp(NAMES[y], classes=NAMES.tolist()))
    assert few.classes_.tolist() == ["ant", "bee", "cow"]
    new = draw(60, 8)[0]
    np.testing.assert_array_equal(few.predict_set(new), named.predict_set(new))
    assert few.predict_set(new)[:, 1].any()


def test_it_is_saved_with_its_calibration(tmp_path):
    items, y, _ = draw(100, 24)
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    model = ConformalClassifier(pipe, method="cross", cv=3, random_state=0).fit(items, NAMES[y])
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict_set(items), model.predict_set(items))
    ours, theirs = (one.decide(items, max_error=0.3).index for one in (model, again))
    np.testing.assert_array_equal(ours, theirs)
    assert 0.8 < set_coverage(NAMES[y], model.predict_set(items), classes=model.classes_) < 1.0
