import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.belief import (
    SparseMasses,
    bold,
    cautious,
    commonality,
    conjunctive,
    conjunctive_weights,
    discount,
    disjunctive,
    disjunctive_weights,
    is_at_least_as_committed,
    plausibility,
    to_sparse,
    vacuous,
)
from plausible.belief.comparisons import ORDERS
from support.strategies import frames, mass_functions, sources


@given(sources(2, max_classes=3))
def test_orders_follow_their_definitions(masses):
    a, b = masses
    np.testing.assert_array_equal(
        is_at_least_as_committed(a, b),
        (plausibility(a) <= plausibility(b) + 1e-9).all(axis=1),
    )
    np.testing.assert_array_equal(
        is_at_least_as_committed(a, b, order="commonality"),
        (commonality(a) <= commonality(b) + 1e-9).all(axis=1),
    )


@given(sources(2, max_classes=3, whole=True, empty="always"))
def test_orders_by_weights_follow_their_definitions(masses):
    a, b = masses
    b = cautious(a, b)  # often comparable
    np.testing.assert_array_equal(
        is_at_least_as_committed(b, a, order="conjunctive_weights"),
        (conjunctive_weights(b) <= conjunctive_weights(a) + 1e-9).all(axis=1),
    )
    np.testing.assert_array_equal(
        is_at_least_as_committed(a, b, order="disjunctive_weights"),
        (disjunctive_weights(a) >= disjunctive_weights(b) - 1e-9).all(axis=1),
    )


@given(sources(2, max_classes=4))
def test_combining_commits(masses):
    a, b = masses
    for order in ("plausibility", "commonality", "specialization"):
        assert is_at_least_as_committed(conjunctive(a, b), a, order=order).all()
        assert is_at_least_as_committed(a, disjunctive(a, b), order=order).all()


@given(sources(2, max_classes=4, whole=True, empty="always"))
def test_stronger_orders_imply_weaker_ones(masses):
    a, b = masses
    pairs = [
        (cautious(a, b), a, "conjunctive_weights"),
        (a, bold(a, b), "disjunctive_weights"),
    ]
    for first, second, strong in pairs:
        for order in (strong, "specialization", "commonality", "plausibility"):
            assert is_at_least_as_committed(first, second, order=order, tol=1e-7).all()


@given(st.integers(1, 5).flatmap(lambda k: mass_functions(k, empty=False)), st.floats(0.01, 1))
def test_doubt_loosens_and_nothing_is_looser_than_vacuous(masses, doubt):
    n_classes = masses.shape[1].bit_length() - 1
    loose = discount(masses, doubt)
    for order in ("plausibility", "commonality", "specialization"):
        assert is_at_least_as_committed(masses, loose, order=order).all()
        assert is_at_least_as_committed(masses, vacuous(n_classes), order=order).all()
        assert is_at_least_as_committed(masses, masses, order=order).all()
    moved = np.abs(loose - masses).max(axis=1) > 1e-6
    assert not is_at_least_as_committed(loose, masses)[moved].any()


def test_plausibility_and_commonality_do_not_imply_specialization():
    # Both {a} and {b, c} of the first could flow from {a, b, c} of the second only.
    first, second = np.zeros(16), np.zeros(16)
    first[[0b0001, 0b0100, 0b0110, 0b1000]] = 0.25
    second[[0b0100, 0b0111, 0b1010, 0b1100]] = 0.25
    assert is_at_least_as_committed(first, second, order="plausibility")
    assert is_at_least_as_committed(first, second, order="commonality")
    assert not is_at_least_as_committed(first, second, order="specialization")
    assert not is_at_least_as_committed(second, first)


@given(frames.flatmap(lambda k: st.tuples(*[mass_functions(k)] * 2)))
def test_both_forms_agree(pair):
    a, b = pair
    loose = 0.5 * a + 0.5 * disjunctive(a, b)
    for order in ("plausibility", "commonality"):
        np.testing.assert_array_equal(
            is_at_least_as_committed(to_sparse(a), to_sparse(loose), order=order),
            is_at_least_as_committed(a, loose, order=order),
        )


def test_large_frames():
    precise = SparseMasses([0.5, 0.5], [1, 1 << 61], 62)
    vague = SparseMasses([0.5, 0.5], [3, 3 << 60], 62)
    for order in ("plausibility", "commonality", "specialization"):
        assert is_at_least_as_committed(precise, vague, order=order)
        assert not is_at_least_as_committed(vague, precise, order=order)


def test_unknown_orders_are_refused():
    with pytest.raises(ValueError, match="order should be 'plausibility', .* but 'pl' was given"):
        is_at_least_as_committed(vacuous(2), vacuous(2), order="pl")
    assert len(ORDERS) == 5
