import numpy as np
import pytest
from hypothesis import given

from plausible.belief import (
    TotalConflictError,
    all_sets,
    belief,
    cardinality,
    commonality,
    contour,
    implicability,
    masses_from_belief,
    masses_from_commonality,
    masses_from_implicability,
    masses_from_plausibility,
    normalize,
    pignistic,
    plausibility,
    plausibility_probability,
    to_sparse,
)
from support.reference import set_function, subsets, to_mask
from support.strategies import frames, mass_functions

DEFINITIONS = {
    belief: lambda b, a: b and b <= a,
    implicability: lambda b, a: b <= a,
    plausibility: lambda b, a: b & a,
    commonality: lambda b, a: b >= a,
}
INVERSES = {
    belief: masses_from_belief,
    implicability: masses_from_implicability,
    plausibility: masses_from_plausibility,
    commonality: masses_from_commonality,
}


@pytest.mark.parametrize("function", DEFINITIONS)
@given(masses=frames.flatmap(mass_functions))
def test_set_functions_follow_their_definitions_in_both_forms(function, masses):
    expected = [set_function(row, DEFINITIONS[function]) for row in masses]
    np.testing.assert_allclose(function(masses), expected, atol=1e-12)
    np.testing.assert_allclose(function(to_sparse(masses)), expected, atol=1e-12)
    sets = np.arange(masses.shape[1])[::-3]
    for form in (masses, to_sparse(masses)):
        np.testing.assert_allclose(function(form, sets), np.array(expected)[:, sets], atol=1e-12)


@pytest.mark.parametrize("function", INVERSES)
@given(masses=frames.flatmap(mass_functions))
def test_each_set_function_determines_the_masses(function, masses):
    np.testing.assert_allclose(INVERSES[function](function(masses)), masses, atol=1e-10)


@given(frames.flatmap(mass_functions))
def test_the_set_functions_are_tied_by_complements(masses):
    b, pl = implicability(masses), plausibility(masses)
    np.testing.assert_allclose(pl, 1 - b[:, ::-1], atol=1e-10)
    np.testing.assert_allclose(belief(masses), b - masses[:, :1], atol=1e-10)
    assert (belief(masses) <= pl + 1e-10).all()
    assert (commonality(masses)[:, 1:] <= pl[:, 1:] + 1e-10).all()


@given(frames.flatmap(lambda k: mass_functions(k, empty=False)))
def test_probabilities_lie_between_belief_and_plausibility(masses):
    n_classes = masses.shape[1].bit_length() - 1
    inside = np.array(
        [[to_mask([k]) & s != 0 for s in all_sets(n_classes)] for k in range(n_classes)]
    )
    betting = pignistic(masses) @ inside
    assert (belief(masses) <= betting + 1e-10).all()
    assert (betting <= plausibility(masses) + 1e-10).all()
    np.testing.assert_allclose(plausibility_probability(masses).sum(axis=1), 1)


@given(frames.flatmap(mass_functions))
def test_pignistic_and_contour_follow_their_definitions(masses):
    masses = masses + 1e-3  # every row keeps some mass outside the empty set
    masses /= masses.sum(axis=1, keepdims=True)
    n_classes = masses.shape[1].bit_length() - 1
    for row, betting, outline in zip(masses, pignistic(masses), contour(masses), strict=True):
        for k in range(n_classes):
            holding = [a for a in subsets(n_classes) if k in a]
            share = sum(row[to_mask(a)] / len(a) for a in holding) / (1 - row[0])
            assert betting[k] == pytest.approx(share, abs=1e-12)
            assert outline[k] == pytest.approx(sum(row[to_mask(a)] for a in holding), abs=1e-12)
    np.testing.assert_allclose(pignistic(to_sparse(masses)), pignistic(masses), atol=1e-14)
    np.testing.assert_allclose(pignistic(masses), pignistic(normalize(masses)), atol=1e-14)


def test_the_possibilistic_label_of_vannoorenberghe():
    # Reasoning with unlabeled samples and belief functions, table I, column PoL.
    masses = np.zeros(8)
    masses[[0b100, 0b101, 0b111]] = 0.7, 0.2, 0.1
    np.testing.assert_allclose(contour(masses), [0.3, 0.1, 1.0])
    np.testing.assert_allclose(pignistic(masses), [0.1333, 0.0333, 0.8333], atol=5e-5)


def test_small_beliefs_survive_a_large_mass_on_the_empty_set():
    masses = np.array([1 - 1e-14, 4e-15, 0.0, 6e-15])
    masses[0] = 1 - masses[1:].sum()
    np.testing.assert_allclose(belief(masses), [0, 4e-15, 0, 1e-14], rtol=1e-12)
    np.testing.assert_allclose(plausibility(masses), [0, 1e-14, 6e-15, 1e-14], rtol=1e-12)
    np.testing.assert_allclose(pignistic(masses), [0.7, 0.3], rtol=1e-12)


def test_rows_without_any_class_have_no_probabilities():
    masses = [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    for function in (pignistic, plausibility_probability):
        with pytest.raises(TotalConflictError, match=r"none in 1 row \(row 0\); replace"):
            function(masses)


def test_leading_axes_are_kept():
    masses = np.random.default_rng(0).dirichlet(np.ones(16), size=(2, 3))
    assert plausibility(masses).shape == (2, 3, 16)
    np.testing.assert_allclose(plausibility(masses)[1, 2], plausibility(masses[1, 2]))
    np.testing.assert_allclose(contour(to_sparse(masses))[1, 2], contour(masses[1, 2]))


def test_large_frames_answer_for_chosen_sets():
    n_classes = 62
    masses = to_sparse(np.array([0.2, 0.5, 0.0, 0.3]))
    large = type(masses)(masses.values, [0, 1 << 61, (1 << 62) - 1], n_classes)
    sets = [1, 1 << 61, (1 << 62) - 1]
    np.testing.assert_allclose(belief(large, sets), [0.0, 0.5, 0.8])
    np.testing.assert_allclose(plausibility(large, sets), [0.3, 0.8, 0.8])
    np.testing.assert_allclose(commonality(large, sets), [0.3, 0.8, 0.3])
    assert pignistic(large)[61] == pytest.approx((0.5 + 0.3 / 62) / 0.8)
    with pytest.raises(ValueError, match="at most K = 20 classes, but the frame has 62"):
        belief(large)


def test_values_that_are_no_set_function_are_refused():
    with pytest.raises(ValueError, match=r"masses behind this commonality .* negative.*row 1"):
        masses_from_commonality([[1.0, 1.0, 1.0, 1.0], [1.0, 0.2, 0.3, 0.5]])
    with pytest.raises(ValueError, match="masses behind this implicability should sum to one"):
        masses_from_implicability([0.0, 0.2, 0.2, 0.5])
    with pytest.raises(ValueError, match=r"2\^K columns.*shape is \(3,\)"):
        masses_from_belief([0.0, 0.5, 1.0])
    assert cardinality(all_sets(3)).sum() == 12
