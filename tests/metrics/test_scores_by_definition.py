"""Every score against plain loops over its definition, with all that can go wrong at once.

Four unsorted classes, labels that are hard, sets, doubted, graded or unknown, rows not scaled to
one, unequal weights of which some are zero, and predictions with their columns in another order.
"""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.belief import SparseMasses, decide
from plausible.labels import Labels
from plausible.metrics import (
    c1_loss,
    c1_losses,
    expected_calibration_error,
    generalized_log_likelihood,
    get_scorer,
    rejection_curve,
    set_coverage,
    set_imprecision,
    soft_accuracy,
    soft_brier_score,
    soft_log_loss,
    utility_discounted_accuracy,
)

CLASSES = ["m", "z", "b", "k"]
COLUMNS = ["k", "m", "b", "z"]  # neither sorted, nor as above, nor the inverse of it


@st.composite
def cases(draw):
    """Plausibilities as dictionaries, probabilities as dictionaries, sets, and weights."""
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    truth, bets, sets = [], [], []
    for i in range(draw(st.integers(6, 14))):
        kind = i % 6
        named = set(rng.permutation(CLASSES)[: 1 if kind in (0, 2) else int(rng.integers(2, 4))])
        rest = rng.uniform(0.05, 0.6) if kind in (2, 3) else 0.0
        pl = {k: 1.0 if k in named else rest for k in CLASSES}
        if kind == 4:
            pl = dict(zip(CLASSES, rng.uniform(0.1, 0.9, 4), strict=True))
        if kind == 5:
            pl = dict.fromkeys(CLASSES, 0.7)
        truth.append(pl)
        # Tenths, so that confidences tie and lie on the edges of bins.
        parts = rng.multinomial(10, rng.dirichlet(np.ones(4))) / 10
        bets.append(dict(zip(CLASSES, parts.tolist(), strict=True)))
        sets.append(set(rng.permutation(CLASSES)[: rng.integers(0, 5)].tolist()))
    weights = rng.uniform(0.2, 3.0, len(truth))
    weights[1] = 0.0
    return truth, bets, sets, weights.tolist()


def labels_of(truth):
    return Labels.from_plausibility([[row[k] for k in CLASSES] for row in truth], CLASSES)


def table_of(rows, dtype=float):
    if dtype is bool:
        return np.array([[k in row for k in COLUMNS] for row in rows])
    return np.array([[row[k] for k in COLUMNS] for row in rows])


def counts_for(pl):
    """Weight 1 - min of the scaled plausibilities, and the credit of each class."""
    top = max(pl.values())
    scaled = {k: value / top for k, value in pl.items()}
    least = min(scaled.values())
    weight = 1 - least
    return weight, {k: (s - least) / weight if weight else 0.0 for k, s in scaled.items()}


def mean_over(truth, weights, value):
    """Mean of ``value(i, credit)`` by the weights of labels and of samples."""
    above = below = 0.0
    for i, (pl, v) in enumerate(zip(truth, weights, strict=True)):
        weight, credit = counts_for(pl)
        above += v * weight * value(i, credit)
        below += v * weight
    return above / below


def first_best(bet):
    """Most probable class, the first in the order of the labels' classes if several are."""
    return max(CLASSES, key=lambda k: (bet[k], -CLASSES.index(k)))


@given(cases())
def test_soft_accuracy(case):
    truth, bets, sets, weights = case
    labels = labels_of(truth)
    answers = [first_best(bet) for bet in bets]
    expected = mean_over(truth, weights, lambda i, credit: credit[answers[i]])
    assert soft_accuracy(labels, answers, weights) == pytest.approx(expected)
    expected = mean_over(
        truth, weights, lambda i, credit: sum(credit[k] for k in sets[i]) / max(len(sets[i]), 1)
    )
    given_sets = table_of(sets, bool)
    assert soft_accuracy(labels, given_sets, weights, COLUMNS) == pytest.approx(expected)


@given(cases())
def test_sets_earn_the_credit_of_their_best_class(case):
    truth, _, sets, weights = case
    labels, answers = labels_of(truth), table_of(sets, bool)

    def best(i, credit):
        return max((credit[k] for k in sets[i]), default=0.0)

    coverage = mean_over(truth, weights, best)
    assert set_coverage(labels, answers, weights, COLUMNS) == pytest.approx(coverage)
    # The parabola through u(0) = 0, u(1/2) = value of a pair and u(1) = 1.
    for value in (0.5, 0.65, 0.8):
        parabola = np.polyfit([0, 0.5, 1], [0, value, 1], 2)
        expected = mean_over(
            truth,
            weights,
            lambda i, credit, u=parabola: (
                best(i, credit) * np.polyval(u, 1 / len(sets[i])) if sets[i] else 0.0
            ),
        )
        got = utility_discounted_accuracy(labels, answers, value, weights, COLUMNS)
        assert got == pytest.approx(expected)


@given(cases())
def test_imprecision_of_sets(case):
    _, _, sets, weights = case
    above = sum(v * (len(s) - 1) / 3 for s, v in zip(sets, weights, strict=True) if s)
    below = sum(v for s, v in zip(sets, weights, strict=True) if s)
    expected = above / below if below else 0.0
    assert set_imprecision(table_of(sets, bool), weights) == pytest.approx(expected)


@given(cases())
def test_soft_log_loss_and_likelihood(case):
    truth, bets, _, weights = case
    bets = [{k: 0.9 * p + 0.025 for k, p in bet.items()} for bet in bets]
    losses, likelihood, total = 0.0, 0.0, 0.0
    for pl, bet, v in zip(truth, bets, weights, strict=True):
        known = sum(pl[k] * bet[k] for k in CLASSES)
        likelihood += log(known)
        losses -= v * log(known / max(pl.values()))  # once: a doubted label costs little as it is
        total += v * counts_for(pl)[0]
    labels, p = labels_of(truth), table_of(bets)
    assert soft_log_loss(labels, p, weights, COLUMNS) == pytest.approx(losses / total)
    assert generalized_log_likelihood(labels, p, COLUMNS) == pytest.approx(likelihood)


@given(cases())
def test_soft_brier_score(case):
    truth, bets, _, weights = case

    def drawn_by_credit(i, credit):
        total = sum(credit.values())
        return sum(
            credit[true] / total * sum((bets[i][k] - (k == true)) ** 2 for k in CLASSES)
            for true in CLASSES
            if total
        )

    expected = mean_over(truth, weights, drawn_by_credit)
    got = soft_brier_score(labels_of(truth), table_of(bets), weights, COLUMNS)
    assert got == pytest.approx(expected)


@given(cases())
def test_c1_losses(case):
    truth, bets, _, weights = case
    labels, p = labels_of(truth), table_of(bets)
    expected = [
        1 - sum(pl[k] * bet[k] for k in CLASSES) for pl, bet in zip(truth, bets, strict=True)
    ]
    np.testing.assert_allclose(c1_losses(labels, p, COLUMNS), expected, atol=1e-12)
    mean = sum(v * x for v, x in zip(weights, expected, strict=True)) / sum(weights)
    assert c1_loss(labels, p, weights, COLUMNS) == pytest.approx(mean)


@given(cases(), st.integers(1, 7))
def test_calibration_error(case, n_bins):
    truth, bets, _, weights = case
    # Off the edges, where rounding would choose the bin; and without ties, where order would.
    bets = [
        {k: 0.9 * p + [0.031, 0.024, 0.022, 0.023][CLASSES.index(k)] for k, p in bet.items()}
        for bet in bets
    ]
    gaps, total = [0.0] * n_bins, 0.0
    for pl, bet, v in zip(truth, bets, weights, strict=True):
        weight, credit = counts_for(pl)
        answer = first_best(bet)
        inside = next(b for b in range(n_bins) if bet[answer] <= (b + 1) / n_bins)
        gaps[inside] += v * weight * (bet[answer] - credit[answer])
        total += v * weight
    expected = sum(abs(gap) for gap in gaps) / total
    got = expected_calibration_error(labels_of(truth), table_of(bets), n_bins, weights, COLUMNS)
    assert got == pytest.approx(expected)


def test_confidence_on_the_edge_of_a_bin_belongs_to_the_lower_bin():
    # Bins (0, 1/2] and (1/2, 1]: both rows in the lower one, where the gaps cancel.
    p = [[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]]
    assert expected_calibration_error([0, 1], p, n_bins=2, classes=[0, 1, 2]) == 0
    mixed = [[0.5, 0.25, 0.25], [0.75, 0.25, 0.0]]  # in one bin, the gaps would be 0.125
    expected = (0.5 + 0.75) / 2
    assert expected_calibration_error([0, 1], mixed, 2, classes=[0, 1, 2]) == expected


@given(cases())
def test_rejection_curve(case):
    truth, bets, _, weights = case
    labels = labels_of(truth)
    curve = rejection_curve(labels, table_of(bets), weights, COLUMNS)
    rows = []
    for pl, bet, v in zip(truth, bets, weights, strict=True):
        weight, credit = counts_for(pl)
        answer = first_best(bet)
        rows.append((bet[answer], v * weight, credit[answer]))
    total = sum(w for _, w, _ in rows)
    area, thresholds = 0.0, sorted({confidence for confidence, w, _ in rows if w > 1e-15})
    np.testing.assert_allclose(curve.threshold, thresholds)
    for place, threshold in enumerate(thresholds):
        kept = [(w, credit) for confidence, w, credit in rows if confidence >= threshold]
        weight = sum(w for w, _ in kept)
        assert curve.rejected[place] == pytest.approx(1 - weight / total, abs=1e-12)
        accuracy = sum(w * credit for w, credit in kept) / weight
        assert curve.accuracy[place] == pytest.approx(accuracy)
        left = sum(w for confidence, w, _ in rows if confidence == threshold)
        area += accuracy * left / total
    assert curve.area == pytest.approx(area)


@given(cases())
def test_masses_and_decisions_over_other_columns(case):
    truth, bets, sets, weights = case
    labels = labels_of(truth)
    # Mass 0.6 on a set of classes, 0.4 on the bets: BetP shares the former evenly.
    sets = [s or {"z"} for s in sets]
    focal = [sum(1 << COLUMNS.index(k) for k in s) for s in sets]
    values = np.zeros((len(sets), 16))
    values[np.arange(len(sets)), focal] += 0.6
    values[:, [1, 2, 4, 8]] += 0.4 * table_of(bets)
    masses = SparseMasses(values, np.arange(16), 4)
    betting = [
        {k: 0.4 * bet[k] + 0.6 * (k in s) / len(s) for k in CLASSES}
        for bet, s in zip(bets, sets, strict=True)
    ]
    for score in (soft_brier_score, c1_loss):
        got = score(labels, masses, sample_weight=weights, classes=COLUMNS)
        expected = score(labels, table_of(betting), sample_weight=weights, classes=COLUMNS)
        assert got == pytest.approx(expected)
    refusing = decide(table_of(bets), kind="probability", reject=0.45)
    answered = [
        {k for k in COLUMNS if bet[k] == max(bet.values())} if max(bet.values()) >= 0.55 else set()
        for bet in bets
    ]
    expected = soft_accuracy(labels, table_of(answered, bool), weights, COLUMNS)
    assert soft_accuracy(labels, refusing, weights, COLUMNS) == pytest.approx(expected)
    if any(answered):
        assert set_imprecision(refusing, weights) == 0.0


class Answering:
    """An estimator that knows its answers by heart, with its classes in its own order."""

    classes_ = COLUMNS

    def __init__(self, bets, sets):
        self.proba, self.sets = table_of(bets), table_of(sets, bool)

    def predict_proba(self, X):
        return self.proba[X]

    def predict_set(self, X):
        return self.sets[X]


@given(cases())
def test_scorers_hand_on_weights_and_classes(case):
    truth, bets, sets, weights = case
    labels, X = labels_of(truth), list(range(len(truth)))
    model, p, chosen = Answering(bets, sets), table_of(bets), table_of(sets, bool)
    expected = {
        "neg_soft_log_loss": -soft_log_loss(labels, p, weights, COLUMNS),
        "neg_soft_brier_score": -soft_brier_score(labels, p, weights, COLUMNS),
        "neg_c1_loss": -c1_loss(labels, p, weights, COLUMNS),
        "neg_calibration_error": -expected_calibration_error(labels, p, 10, weights, COLUMNS),
        "rejection_area": rejection_curve(labels, p, weights, COLUMNS).area,
        "set_coverage": set_coverage(labels, chosen, weights, COLUMNS),
        "neg_set_imprecision": -set_imprecision(chosen, weights),
        "u50": utility_discounted_accuracy(labels, chosen, 0.5, weights, COLUMNS),
        "u65": utility_discounted_accuracy(labels, chosen, 0.65, weights, COLUMNS),
        "u80": utility_discounted_accuracy(labels, chosen, 0.8, weights, COLUMNS),
    }
    for name, value in expected.items():
        assert get_scorer(name)(model, X, labels, sample_weight=weights) == pytest.approx(value)
