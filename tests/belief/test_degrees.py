"""Decisions from plausibilities or probabilities alone are those of the masses they stand for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.belief import bayesian, consonant, decide, pignistic
from plausible.belief.decisions import RULES, SET_RULES
from plausible.belief.degrees import MANY_ROWS, pignistic_of

COSTS = st.none() | st.sampled_from([0.0, 0.2, 0.5, 0.9])


@st.composite
def contours(draw):
    """Plausibilities with ties, zeros, rows without a one, and rows of zeros."""
    n_classes = draw(st.integers(1, 8))
    degree = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]) | st.floats(0.0, 1.0)
    row = st.lists(degree, min_size=n_classes, max_size=n_classes)
    return np.array(draw(st.lists(row, min_size=1, max_size=4)))


def assert_same_decision(one, other):
    for name in ("chosen", "index", "refused", "tied", "best"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@given(contours(), st.sampled_from(RULES), COSTS, st.sampled_from([0.0, 0.3, 1.0]))
def test_a_contour_decides_as_its_masses(contour, rule, reject, pessimism):
    contour[contour < 1e-9] = 0.0  # below, masses and degrees round differently
    options = {"reject": reject, "pessimism": pessimism}
    found = decide(contour, rule, kind="plausibility", **options)
    assert_same_decision(found, decide(consonant(contour), rule, **options))


@pytest.mark.parametrize("n_classes", [1, 2, 5, 8])
def test_bets_of_many_rows_are_those_of_their_masses(n_classes):
    random = np.random.default_rng(n_classes)
    contour = random.choice([0.0, 0.25, 0.3, 1.0], size=(MANY_ROWS + 7, n_classes))
    contour[::3] = random.uniform(size=contour[::3].shape)
    contour[np.arange(len(contour)), random.integers(n_classes, size=len(contour))] = 1.0
    np.testing.assert_allclose(pignistic_of(contour), pignistic(consonant(contour)), atol=1e-15)


def test_refusals_by_bets_from_a_contour_are_those_of_its_masses():
    contour = np.random.default_rng(2).uniform(size=(30, 5))
    for reject in np.linspace(0.05, 0.8, 16):
        found = decide(contour, "pignistic", kind="plausibility", reject=reject)
        assert_same_decision(found, decide(consonant(contour), "pignistic", reject=reject))


@pytest.mark.parametrize("rule", RULES)
def test_probabilities_decide_as_their_masses(rule):
    rng = np.random.default_rng(1)
    p = np.vstack([rng.dirichlet(np.ones(5), 20), np.full((1, 5), 0.2), [[0.4, 0.1, 0.4, 0.1, 0]]])
    for reject in (None, 0.6):
        found = decide(p, rule, kind="probability", reject=reject)
        assert_same_decision(found, decide(bayesian(p), rule, reject=reject))


def with_padding(values, n_classes):
    """The same among many more classes, that are impossible."""
    return np.hstack([values, np.zeros((len(values), n_classes - values.shape[1]))])


@pytest.mark.parametrize("n_classes", [62, 63, 300])
@pytest.mark.parametrize("rule", RULES)
def test_impossible_classes_change_nothing(rule, n_classes):
    rng = np.random.default_rng(3)
    contour = rng.choice([0.0, 0.2, 0.5, 0.8, 1.0], size=(30, 6)) * rng.uniform(0.4, 1, (30, 1))
    contour[0] = 0.0
    for kind, few in (("plausibility", contour), ("probability", rng.dirichlet(np.ones(6), 30))):
        found = decide(with_padding(few, n_classes), rule, kind=kind, reject=0.45)
        expected = decide(few, rule, kind=kind, reject=0.45)
        kept = found.chosen[:, [*range(6), n_classes]]
        np.testing.assert_array_equal(kept, expected.chosen)
        np.testing.assert_array_equal(found.refused, expected.refused)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in ("plausibility", "belief")])
def test_loss_matrices_in_large_frames(rule):
    rng = np.random.default_rng(5)
    loss = rng.integers(0, 6, size=(4, 6)).astype(float)
    contour = rng.choice([0.1, 0.2, 0.5, 0.8, 1.0], size=(30, 6))
    large_loss = np.hstack([loss, np.full((4, 64), 3.0)])
    large = with_padding(contour, 70)
    p = rng.dirichlet(np.ones(6), 30)
    found = decide(with_padding(p, 70), rule, kind="probability", loss=large_loss, reject=2.0)
    expected = decide(p, rule, kind="probability", loss=loss, reject=2.0)
    np.testing.assert_array_equal(found.chosen, expected.chosen)
    if rule in SET_RULES[1:]:
        with pytest.raises(ValueError, match="at most 62 classes where .* 70; use 'interval_dom"):
            decide(large, rule, kind="plausibility", loss=large_loss)
        return
    found = decide(large, rule, kind="plausibility", loss=large_loss, reject=2.0)
    expected = decide(contour, rule, kind="plausibility", loss=loss, reject=2.0)
    np.testing.assert_array_equal(found.chosen, expected.chosen)


def test_the_unknown_class_needs_a_small_frame():
    with pytest.raises(ValueError, match="at most 61 classes, but there are 62; group"):
        decide(np.ones((1, 62)), kind="plausibility", unknown=True)
    with pytest.raises(ValueError, match="1 to 62 classes"):
        decide(np.ones((1, 0)), kind="plausibility")


def test_two_thousand_classes_take_no_time():
    contour = np.random.default_rng(0).uniform(size=(500, 2000))
    kept = decide(contour, "interval_dominance", kind="plausibility").chosen
    gap = 1.0 - np.sort(contour, axis=1)[:, -2:] / contour.max(axis=1, keepdims=True)
    expected = contour / contour.max(axis=1, keepdims=True) >= gap[:, :1] - 1e-9
    np.testing.assert_array_equal(kept, expected)
