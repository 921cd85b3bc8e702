"""Calibration curves, sizes of sets and confusions against slow definitions."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from plausible.belief import decide
from plausible.labels import Labels
from plausible.metrics import (
    calibration_curve,
    expected_calibration_error,
    set_coverage,
    set_imprecision,
    set_sizes,
    soft_accuracy,
    soft_confusion_matrix,
)

CLASSES = ["wren", "owl", "kite"]


def credits_by_hand(row):
    """Weight and credit of each class of one row of plausibilities."""
    row = np.asarray(row) / max(row)
    weight = 1 - min(row)
    return weight, [(pl - min(row)) / weight if weight else 0.0 for pl in row]


@pytest.fixture
def case():
    """Sets, doubts, probabilities and nothing at all, with unequal weights."""
    rng = np.random.default_rng(5)
    n = 60
    hard = Labels.from_doubt(
        rng.choice(CLASSES, n), rng.choice([0, 0, 0.3, 0.7, 1], n), classes=CLASSES
    )
    sets = Labels.from_sets(rng.uniform(size=(n, 3)) < [0.7, 0.5, 1.1], classes=CLASSES)
    truth = Labels.concatenate([hard, sets])
    p = rng.dirichlet([1.5, 1, 1], 2 * n)
    return truth, p, rng.uniform(0.1, 3, 2 * n)


def points_by_hand(truth, p, weights, bin_of):
    """Sums of weight, confidence and credit by bin."""
    sums = {}
    for contour, bets, w in zip(truth.contour.tolist(), p.tolist(), weights, strict=True):
        own, credit = credits_by_hand(contour)
        answer = bets.index(max(bets))
        one = sums.setdefault(bin_of(max(bets)), [0.0, 0.0, 0.0])
        for k, value in enumerate((1.0, max(bets), credit[answer])):
            one[k] += w * own * value
    found = [sums[key] for key in sorted(sums) if sums[key][0] > 0]
    return np.array([[c / w, r / w, w] for w, c, r in found]).T


def test_calibration_curves_are_means_of_bins(case):
    truth, p, weights = case
    curve = calibration_curve(truth, p, 7, weights, classes=CLASSES)
    by_hand = points_by_hand(truth, p, weights, lambda c: int(np.ceil(7 * c)) - 1)
    np.testing.assert_allclose([curve.confidence, curve.right, curve.weight], by_hand)
    assert (curve.low < curve.confidence).all()
    assert (curve.confidence <= curve.high).all()
    error = expected_calibration_error(truth, p, 7, weights, classes=CLASSES)
    assert curve.error == pytest.approx(error)


def test_bins_of_equal_weight_hold_equal_weights(case):
    truth, p, weights = case
    curve = calibration_curve(truth, p, 5, weights, CLASSES, strategy="quantile")
    assert len(curve.weight) == 5
    assert np.abs(curve.weight - curve.weight.mean()).max() < weights.max()
    edges = curve.high[:-1]
    by_hand = points_by_hand(truth, p, weights, lambda c: int((c > edges).sum()))
    np.testing.assert_allclose([curve.confidence, curve.right, curve.weight], by_hand)
    same = calibration_curve(["a", "b"], [[0.75, 0.25]] * 2, strategy="quantile")
    assert (same.confidence.tolist(), same.right.tolist()) == ([0.75], [0.5])


def test_a_curve_of_nothing_is_refused():
    with pytest.raises(ValueError, match="calibration curve needs labels that say something"):
        calibration_curve(Labels.unknown(2, CLASSES), np.full((2, 3), 1 / 3), classes=CLASSES)
    with pytest.raises(ValueError, match="'uniform' or 'quantile'"):
        calibration_curve(["a", "b"], np.eye(2), strategy="same")


def test_sizes_of_sets_and_their_coverage(case):
    truth, p, weights = case
    sets = p > 0.25
    found = set_sizes(truth, sets, weights, CLASSES)
    for size in range(4):
        rows = [i for i in range(len(sets)) if sum(sets[i]) == size]
        assert found.share[size] == pytest.approx(sum(weights[rows]) / sum(weights))
        held = total = 0.0
        for i in rows:
            own, credit = credits_by_hand(truth.contour[i].tolist())
            total += weights[i] * own
            inside = [c for c, here in zip(credit, sets[i], strict=True) if here]
            held += weights[i] * own * max(inside, default=0.0)
        if total:
            assert found.coverage[size] == pytest.approx(held / total)
        else:
            assert np.isnan(found.coverage[size])
    assert found.overall == set_coverage(truth, sets, weights, CLASSES)
    assert (found.mean_size - 1) / 2 == pytest.approx(set_imprecision(sets, weights))


def test_refusals_are_sets_of_no_class():
    decision = decide([[0.9, 0.1], [0.5, 0.5]], kind="probability", reject=0.3, classes="ab")
    found = set_sizes(["a", "b"], decision)
    assert found.share.tolist() == [0.5, 0.5, 0.0]
    assert found.coverage[:2].tolist() == [0.0, 1.0]
    nobody = set_sizes(["a", "b"], np.zeros((2, 2), dtype=bool))
    assert nobody.mean_size == 0.0


def test_on_hard_labels_the_confusion_is_scikit_learns():
    rng = np.random.default_rng(1)
    truth, answers = rng.choice(CLASSES, (2, 50))
    weights = rng.uniform(size=50)
    for normalize in (None, "true", "pred", "all"):
        counts, names = soft_confusion_matrix(truth, answers, weights, normalize=normalize)
        theirs = confusion_matrix(truth, answers, sample_weight=weights, normalize=normalize)
        np.testing.assert_allclose(counts, theirs)
    assert names.tolist() == sorted(CLASSES)


def test_confusions_divide_sets_and_leave_out_what_says_nothing(case):
    truth, p, weights = case
    sets = p > 0.3
    counts, names = soft_confusion_matrix(truth, sets, weights, CLASSES)
    by_hand = np.zeros((3, 3))
    for contour, answer, w in zip(truth.contour.tolist(), sets, weights, strict=True):
        own, credit = credits_by_hand(contour)
        for k in range(3):
            for m in np.flatnonzero(answer):
                by_hand[k, m] += w * own * credit[k] / max(sum(credit), 1e-300) / sum(answer)
    np.testing.assert_allclose(counts, by_hand)
    assert names.tolist() == CLASSES
    best = np.array(CLASSES)[p.argmax(axis=1)]
    counts, _ = soft_confusion_matrix(truth, best)
    assert np.trace(counts) / counts.sum() <= soft_accuracy(truth, best) + 1e-12
