"""Intervals of rates of being right: what they hold when people err together."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom

from plausible.experts import Annotations, JointAnnotatorClassifier, fit_reliability
from plausible.experts.intervals import binomial_limits, resample_items

RATES = np.array([0.95, 0.9, 0.85, 0.75, 0.9, 0.7, 0.6, 0.35])


def crowd_with_traps(n=800, trapped=0.2, n_classes=4, seed=0, share=0.6):
    """Truth, and answers of people to whom some items look like another class than they are."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    other = (y + rng.integers(1, n_classes, size=n)) % n_classes
    seen = np.where(rng.uniform(size=n) < trapped, other, y)
    wrong = (seen[:, None] + rng.integers(1, n_classes, size=(n, len(RATES)))) % n_classes
    said = np.where(rng.uniform(size=wrong.shape) < RATES, seen[:, None], wrong)
    said[rng.uniform(size=said.shape) >= share] = -1
    return y, said


def rates_of(y, said):
    """How often people are right, among their answers."""
    return np.array([(y == s)[s >= 0].mean() for s in said.T])


def held(found, rates):
    return (found.low <= rates) & (rates <= found.high)


@pytest.mark.parametrize("model", ["one_coin", "class", "full"])
@pytest.mark.parametrize("seed", [0, 1])
def test_intervals_hold_the_truth_when_everybody_makes_the_same_errors(model, seed):
    y, said = crowd_with_traps(seed=seed)
    rates, answers = rates_of(y, said), Annotations.from_answers(said, missing=-1)
    found = answers.reliability(model)
    assert held(found, rates).all()
    assert (found.high - found.low).mean() < 0.5
    naive = answers.reliability(model, shared_errors=0)
    assert held(naive, rates).mean() <= 0.5  # what independent errors would give


def test_nothing_is_claimed_where_nobody_can_confirm_an_answer():
    """Everybody has items of their own: agreement says nothing of anybody."""
    said = np.full((60, 3), -1)
    said[np.arange(60), np.arange(60) % 3] = np.random.default_rng(0).integers(2, size=60)
    found = Annotations.from_answers(said, missing=-1).reliability()
    assert found.low.tolist() == [0, 0, 0]
    assert found.high.tolist() == [1, 1, 1]
    assert found.consensus_error == 1


def test_answers_that_nobody_else_gave_do_not_narrow_an_interval():
    _, said = crowd_with_traps(n=200, trapped=0.0)
    alone = np.full((400, len(RATES)), -1)
    alone[:, 0] = np.random.default_rng(1).integers(4, size=400)
    few = Annotations.from_answers(said, missing=-1).reliability(prior="uniform")
    more = Annotations.from_answers(np.vstack([said, alone]), missing=-1).reliability()
    np.testing.assert_allclose([more.high[0] - more.low[0]], [few.high[0] - few.low[0]], atol=0.02)


def test_gold_narrows_intervals_where_people_err_apart():
    y, said = crowd_with_traps(trapped=0.0)
    answers = Annotations.from_answers(said, missing=-1)
    gold = {i: int(y[i]) for i in range(100)}
    without, found = answers.reliability(), answers.reliability(gold=gold)
    assert found.consensus_error < without.consensus_error / 2
    assert ((found.high - found.low) < (without.high - without.low)).all()
    assert held(found, rates_of(y, said)).all()


def test_gold_widens_intervals_where_it_shows_more_shared_errors_than_assumed():
    y, said = crowd_with_traps(trapped=0.5)
    answers = Annotations.from_answers(said, missing=-1)
    gold = {i: int(y[i]) for i in range(100)}
    strict = answers.reliability(gold=gold, shared_errors=0.1)
    assert strict.consensus_error > 0.3
    assert held(strict, rates_of(y, said)).all()
    assert not held(answers.reliability(shared_errors=0.1), rates_of(y, said)).any()


def test_intervals_grow_with_the_errors_that_may_be_shared_until_they_say_nothing():
    _, said = crowd_with_traps(n=150)
    answers = Annotations.from_answers(said, missing=-1)
    found = [answers.reliability(shared_errors=c) for c in (0.0, 0.3, 0.6, 0.9, 1.0)]
    for one, next_one in pairwise(found):
        assert (next_one.low <= one.low).all()
        assert (next_one.high >= one.high).all()
        np.testing.assert_array_equal(one.accuracy, next_one.accuracy)
    assert found[-1].low.max() == 0
    assert found[-1].high.min() == 1


def test_resampled_items_are_items_with_all_their_answers():
    _, said = crowd_with_traps(n=50)
    answers = Annotations.from_answers(said, missing=-1)
    again, drawn = resample_items(answers, np.random.RandomState(0))
    table = np.full((50, len(RATES)), -1)
    table[again.item, again.annotator] = answers.classes[again.facts.chosen[again.statement]]
    np.testing.assert_array_equal(table, said[drawn])


def test_resampling_holds_the_spread_of_whole_fits():
    """One person decides between two camps: which of them is right hangs on few items."""
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=40)
    rates = np.array([0.7, 0.65, 0.6, 0.55, 0.6])
    said = np.where(rng.uniform(size=(40, 5)) < rates, y[:, None], 1 - y[:, None])
    answers = Annotations.from_answers(said)
    plain = fit_reliability(answers)
    wide = fit_reliability(answers, n_bootstrap=60, random_state=0)
    assert (wide.low <= plain.low).all()
    assert (wide.high >= plain.high).all()
    assert (wide.high - wide.low).max() > (plain.high - plain.low).max()
    same = fit_reliability(answers, n_bootstrap=60, random_state=0)
    np.testing.assert_array_equal(same.low, wide.low)


def test_binomial_limits_hold_every_rate_at_95_percent():
    n = 17
    low, high = binomial_limits(np.arange(n + 1.0), np.full(n + 1, float(n)))
    for rate in np.linspace(0, 1, 101):
        inside = (low <= rate) & (rate <= high)
        assert binom.pmf(np.arange(n + 1), n, rate)[inside].sum() >= 0.95


def test_joint_fits_have_such_intervals_too():
    y, said = crowd_with_traps(n=300, trapped=0.15)
    X = np.random.default_rng(5).normal(size=(300, 2)) + 2 * np.eye(4, 2)[y]
    answers = Annotations.from_answers(said, missing=-1)
    found = JointAnnotatorClassifier(model="one_coin").fit(X, answers).reliability_
    assert held(found, rates_of(y, said)).all()
    assert 0 < found.consensus_error < 1


@pytest.mark.parametrize("bad", [-0.1, 1.5, "half", np.nan])
def test_shares_of_shared_errors_are_checked(bad):
    answers = Annotations.from_answers([[0, 1], [1, 1]])
    with pytest.raises(ValueError, match="shared_errors"):
        answers.reliability(shared_errors=bad)


def test_limits_of_agreement_do_not_move_with_what_is_assumed():
    """They tell people apart, who share the errors that everybody makes."""
    _, said = crowd_with_traps(n=300)
    answers = Annotations.from_answers(said, missing=-1)
    found, naive = answers.reliability(), answers.reliability(shared_errors=0)
    np.testing.assert_array_equal(found.agreement_low, naive.low)
    np.testing.assert_array_equal(found.agreement_high, naive.high)
    assert found.agreement_low[0] > found.agreement_high[-1]
