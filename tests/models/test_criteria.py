"""Criteria under partial labels: formulas, identities, derivatives, extremes."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import softmax

from plausible.labels import Labels
from plausible.models import partial_label_loss
from plausible.models.logistic.criteria import CRITERIA, curvature, curvature_along

RNG = np.random.default_rng(0)
LOGITS = RNG.normal(scale=2.0, size=(7, 4))
DEGREES = np.maximum(RNG.uniform(-0.5, 1.0, size=(7, 4)), 0.0)
DEGREES[np.arange(7), RNG.integers(4, size=7)] = 1.0
SETS = (DEGREES > 0).astype(float)
WEIGHTS = RNG.uniform(0.5, 3.0, size=7)


def value(criterion, logits, plausibility, weights=None):
    return -partial_label_loss(criterion)(logits, plausibility, weights)[0]


def by_hand(criterion, logits, plausibility):
    """Row by row, class by class, from the equations of the paper."""
    total = 0.0
    for eta, pl in zip(logits, plausibility, strict=True):
        f = np.exp(eta) / np.exp(eta).sum()
        g = pl * f / (pl * f).sum()
        some = pl > 0
        total += {
            "minimum_commitment": np.log((pl * f).sum()),
            "maximum_entropy": (pl / pl.sum() * np.log(f)).sum(),
            "self_consistent": (g * np.log(f)).sum(),
            "minimum_entropy": (g[some] * np.log(pl[some] * f[some])).sum(),
        }[criterion]
    return total


@pytest.mark.parametrize("labels", [SETS, DEGREES], ids=["sets", "degrees"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_values_are_those_of_the_formulas(criterion, labels):
    found = value(criterion, LOGITS, labels)
    assert found == pytest.approx(by_hand(criterion, LOGITS, labels), rel=1e-12)


@pytest.mark.parametrize("labels", [SETS, DEGREES], ids=["sets", "degrees"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_gradients_are_those_of_finite_differences(criterion, labels):
    loss = partial_label_loss(criterion)
    gradient = loss(LOGITS, labels, WEIGHTS)[1]
    numeric = approx_fprime(
        LOGITS.ravel(), lambda x: loss(x.reshape(LOGITS.shape), labels, WEIGHTS)[0], 1e-7
    )
    np.testing.assert_allclose(gradient.ravel(), numeric, atol=2e-5)
    assert np.abs(gradient.sum(axis=1)).max() < 1e-12  # a shift of all logits changes nothing


@pytest.mark.parametrize("labels", [SETS, DEGREES], ids=["sets", "degrees"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_second_derivatives_are_those_of_finite_differences(criterion, labels):
    loss = partial_label_loss(criterion)
    bends = curvature(criterion, LOGITS.T.copy(), labels.T)
    step = 1e-6
    for k, way in enumerate(np.eye(4)):
        up, down = (loss(LOGITS + sign * step * way, labels)[1] for sign in (1, -1))
        np.testing.assert_allclose(bends[k], -(up - down).T / (2 * step), atol=1e-7)
    way = RNG.normal(size=(4, 7))
    along = curvature_along(criterion, LOGITS.T.copy(), labels.T, way)
    np.testing.assert_allclose(along, np.einsum("kln,ln->kn", bends, way), atol=1e-12)


def entropy_left(logits, plausibility):
    g = plausibility * softmax(logits, axis=1)
    g /= g.sum(axis=1, keepdims=True)
    return -sum((row[row > 0] * np.log(row[row > 0])).sum() for row in g)


def test_for_sets_self_consistency_is_minimum_commitment_less_entropy():
    less = value("minimum_commitment", LOGITS, SETS) - entropy_left(LOGITS, SETS)
    assert value("self_consistent", LOGITS, SETS) == pytest.approx(less, rel=1e-12)
    assert value("minimum_entropy", LOGITS, SETS) == pytest.approx(less, rel=1e-12)


def test_for_degrees_minimum_entropy_is_minimum_commitment_less_entropy():
    less = value("minimum_commitment", LOGITS, DEGREES) - entropy_left(LOGITS, DEGREES)
    assert value("minimum_entropy", LOGITS, DEGREES) == pytest.approx(less, rel=1e-12)
    # Self-consistency as printed has no memory of degrees where the model is sure.
    sure = np.full((7, 4), -50.0)
    sure[:, 2] = 50.0
    possible = np.maximum(DEGREES, 0.01)
    assert value("self_consistent", sure, possible) == pytest.approx(0.0, abs=1e-12)
    expected = np.log(possible[:, 2]).sum()
    assert value("minimum_entropy", sure, possible) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_hard_labels_give_the_log_likelihood(criterion):
    classes = RNG.integers(4, size=7)
    expected = np.log(softmax(LOGITS, axis=1)[np.arange(7), classes]).sum()
    assert value(criterion, LOGITS, np.eye(4)[classes]) == pytest.approx(expected, rel=1e-12)


def test_labels_that_say_nothing_add_nothing_to_minimum_commitment():
    found, gradient = partial_label_loss()(LOGITS, Labels.unknown(7, range(4)))
    assert found == pytest.approx(0.0, abs=1e-12)
    assert np.abs(gradient).max() < 1e-12


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_label_that_the_model_all_but_excludes_gives_numbers(criterion):
    logits = np.array([[2000.0, 0.0, -300.0], [0.0, 0.0, 1e6]])
    labels = np.array([[0.0, 1.0, 1.0], [0.5, 1.0, 0.0]])
    found, gradient = partial_label_loss(criterion)(logits, labels)
    assert np.isfinite(found)
    assert np.isfinite(gradient).all()
    if criterion == "minimum_commitment":
        assert found == pytest.approx(2000.0 + 1e6 - np.log(1.5), rel=1e-12)
        np.testing.assert_allclose(gradient[0], [1.0, -1.0, 0.0], atol=1e-12)
        np.testing.assert_allclose(gradient[1], [-1 / 3, -2 / 3, 1.0], atol=1e-12)


def test_weights_count_rows():
    twice = np.repeat(LOGITS, 2, axis=0), np.repeat(DEGREES, 2, axis=0)
    assert value("self_consistent", LOGITS, DEGREES, np.full(7, 2.0)) == pytest.approx(
        value("self_consistent", *twice)
    )


def test_bad_input_is_refused():
    loss = partial_label_loss()
    with pytest.raises(ValueError, match="criterion should be .* did you mean 'minimum_entropy'"):
        partial_label_loss("minimum_entropi")
    with pytest.raises(ValueError, match="infinite or missing in 1 row \\(row 3\\)"):
        loss(np.where(np.arange(7)[:, None] == 3, np.nan, LOGITS), DEGREES)
    with pytest.raises(ValueError, match="one row for each of the 7 labels"):
        loss(LOGITS[:5], DEGREES)
    with pytest.raises(ValueError, match=r"should be \(n, K\), but have shape \(7,\)"):
        loss(LOGITS[:, 0], DEGREES)
