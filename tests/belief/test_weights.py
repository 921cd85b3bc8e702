import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.belief import (
    SparseMasses,
    commonality,
    conjunctive,
    conjunctive_weights,
    disjunctive_weights,
    implicability,
    masses_from_conjunctive_weights,
    masses_from_disjunctive_weights,
    negate,
    to_sparse,
)
from support.reference import subsets, to_mask
from support.strategies import frames, mass_functions


@given(st.integers(1, 5).flatmap(lambda k: mass_functions(k, whole=True)))
def test_weights_follow_their_definition(masses):
    n_classes = masses.shape[1].bit_length() - 1
    q = commonality(masses)
    for a in subsets(n_classes)[:-1]:
        logs = sum(
            (-1) ** (len(b) - len(a) + 1) * np.log(q[:, to_mask(b)])
            for b in subsets(n_classes)
            if a <= b
        )
        np.testing.assert_allclose(
            np.log(conjunctive_weights(masses)[:, to_mask(a)]), logs, atol=1e-9
        )


@given(frames.flatmap(lambda k: mass_functions(k, whole=True)))
def test_conjunctive_weights_determine_the_masses(masses):
    weights = conjunctive_weights(masses)
    np.testing.assert_allclose(masses_from_conjunctive_weights(weights), masses, atol=1e-10)
    np.testing.assert_allclose(conjunctive_weights(to_sparse(masses)), weights, rtol=1e-8)


@given(frames.flatmap(lambda k: mass_functions(k, empty="always")))
def test_disjunctive_weights_determine_the_masses_and_are_dual(masses):
    weights = disjunctive_weights(masses)
    np.testing.assert_allclose(masses_from_disjunctive_weights(weights), masses, atol=1e-10)
    np.testing.assert_allclose(weights, conjunctive_weights(negate(masses))[:, ::-1], rtol=1e-10)
    np.testing.assert_allclose(disjunctive_weights(to_sparse(masses)), weights, rtol=1e-8)
    # The frame's implicability is one, whatever the weights: b(A) = prod of v over sets not in A.
    assert implicability(masses)[:, -1] == pytest.approx(1.0)


@given(frames.flatmap(lambda k: st.tuples(*[mass_functions(k, whole=True)] * 2)))
def test_weights_multiply_under_the_conjunctive_rule(pair):
    np.testing.assert_allclose(
        np.log(conjunctive_weights(conjunctive(*pair))),
        np.log(conjunctive_weights(pair[0])) + np.log(conjunctive_weights(pair[1])),
        atol=1e-9,
    )


def test_weights_of_elementary_evidence():
    masses = np.zeros(8)
    masses[[0b011, 0b111]] = 0.7, 0.3
    expected = np.ones(8)
    expected[0b011] = 0.3
    np.testing.assert_allclose(conjunctive_weights(masses), expected)


def test_weights_on_a_large_frame():
    masses = SparseMasses([0.5, 0.2, 0.3], [0b1, 0b110, (1 << 62) - 1], 62)
    small = np.zeros(16)
    small[[0b1, 0b110, 0b1111]] = 0.5, 0.2, 0.3
    sets = [0, 0b1, 0b110, 0b10, 0b111]
    np.testing.assert_allclose(
        conjunctive_weights(masses, sets), conjunctive_weights(small, sets), rtol=1e-12
    )


def test_sets_with_very_many_intersections():
    frame = (1 << 13) - 1
    masses = SparseMasses(np.full(14, 1 / 14), [*(frame ^ (1 << np.arange(13))), frame], 13)
    np.testing.assert_allclose(
        conjunctive_weights(masses, [0, 1, frame - 1]),
        conjunctive_weights(masses.to_dense(), [0, 1, frame - 1]),
        rtol=1e-9,
    )


def test_bad_weights_are_refused():
    with pytest.raises(
        ValueError, match=r"on the whole frame, but there is none in 1 row \(row 1\)"
    ):
        conjunctive_weights([[0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]])
    with pytest.raises(ValueError, match=r"on the empty set, but there is none in 1 row \(row 0\)"):
        disjunctive_weights([[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]])
    with pytest.raises(ValueError, match="should be positive and finite, but values such as 0"):
        masses_from_conjunctive_weights([1.0, 0.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="masses behind these weights should not be negative"):
        masses_from_conjunctive_weights([1.0, 3.0, 1.0, 1.0])
    frame = (1 << 21) - 1
    sets = [*(frame ^ (1 << np.arange(13))), frame]
    with pytest.raises(ValueError, match="at most 4096 sets, but the 14 focal sets"):
        conjunctive_weights(SparseMasses(np.full(14, 1 / 14), sets, 21), [1])
