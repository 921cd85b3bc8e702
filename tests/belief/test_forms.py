import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.belief import (
    SparseMasses,
    TotalConflictError,
    bayesian,
    categorical,
    consonant,
    contour,
    implicability,
    is_at_least_as_committed,
    masses_from_dicts,
    normalize,
    pignistic,
    to_dense,
    to_sparse,
    vacuous,
)
from plausible.checks import name_rows
from support.strategies import frames, mass_functions


@given(frames.flatmap(mass_functions))
def test_dense_and_sparse_are_the_same_masses(masses):
    sparse = to_sparse(masses)
    np.testing.assert_array_equal(sparse.to_dense(), masses)
    np.testing.assert_array_equal(to_dense(sparse), masses)
    assert (sparse.values > 0).any(axis=0).all(), "a column without mass was kept"
    assert (np.diff(sparse.focal_sets) > 0).all()


def test_rows_of_sparse_masses_can_be_selected():
    masses = SparseMasses(np.eye(3), focal_sets=[1, 2, 7], n_classes=3)
    np.testing.assert_array_equal(masses[1].to_dense(), np.eye(8)[2])
    np.testing.assert_array_equal(masses[[2, 0]].to_dense(), np.eye(8)[[7, 1]])
    np.testing.assert_array_equal(masses[masses.values[:, 0] > 0].to_dense(), np.eye(8)[[1]])
    assert len(masses) == 3
    again = pickle.loads(pickle.dumps(masses))
    np.testing.assert_array_equal(again.values, masses.values)


def test_the_caller_keeps_his_array():
    masses = np.array([[0.5, 0.5, 0.0, 0.0]])
    before = masses.copy()
    normalize(masses)[...] = 7.0
    to_sparse(masses).values[...] = 7.0
    np.testing.assert_array_equal(masses, before)


def test_dictionaries_of_names():
    masses = masses_from_dicts(
        [{("a",): 0.7, frozenset("ab"): 0.3}, {(): 0.1, ("c", "a"): 0.9}], classes=["a", "b", "c"]
    )
    expected = np.zeros((2, 8))
    expected[0, [0b001, 0b011]] = 0.7, 0.3
    expected[1, [0b000, 0b101]] = 0.1, 0.9
    np.testing.assert_array_equal(masses.to_dense(), expected)


def test_a_set_written_twice_in_a_dictionary_adds_up():
    masses = masses_from_dicts([{("a", "b"): 0.5, ("b", "a"): 0.5}], classes=["a", "b"])
    np.testing.assert_array_equal(masses.to_dense(), [[0, 0, 0, 1]])


def test_certain_and_vacuous_and_bayesian_masses():
    np.testing.assert_array_equal(categorical(0b101, 3).to_dense(), np.eye(8)[5])
    np.testing.assert_array_equal(categorical([5, 0, 5], 3).to_dense(), np.eye(8)[[5, 0, 5]])
    np.testing.assert_array_equal(vacuous(62).focal_sets, [2**62 - 1])
    np.testing.assert_allclose(pignistic(bayesian([[0.2, 0.3, 0.5]])), [[0.2, 0.3, 0.5]])


@given(
    st.integers(1, 8).flatmap(
        lambda k: st.lists(
            st.lists(st.floats(0, 1), min_size=k, max_size=k), min_size=1, max_size=4
        )
    )
)
def test_consonant_masses_keep_the_contour_and_are_nested(rows):
    masses = consonant(rows)
    np.testing.assert_allclose(contour(masses), rows, atol=1e-15)
    for row in masses.values:
        chain = sorted(masses.focal_sets[row > 0].tolist(), key=int.bit_count)
        assert all(a & ~b == 0 for a, b in pairwise(chain))


@given(st.integers(1, 4).flatmap(lambda k: mass_functions(k, empty=False)))
def test_consonant_masses_are_least_committed_among_those_with_the_contour(masses):
    # q(A) <= min of the contour over A, with equality for consonant masses.
    approximation = to_dense(consonant(np.clip(contour(masses), 0, 1)))
    assert is_at_least_as_committed(masses, approximation, order="commonality").all()


@given(frames.flatmap(mass_functions))
def test_normalizing_removes_the_empty_set_and_keeps_proportions(masses):
    if (masses[:, 1:].sum(axis=1) == 0).any():
        with pytest.raises(TotalConflictError):
            normalize(masses)
        return
    result = normalize(masses)
    np.testing.assert_array_equal(result[:, 0], 0)
    np.testing.assert_allclose(result.sum(axis=1), 1)
    np.testing.assert_allclose(
        result * masses[:, 1:].sum(axis=1, keepdims=True), masses * (np.arange(masses.shape[1]) > 0)
    )
    np.testing.assert_allclose(normalize(to_sparse(masses)).to_dense(), result)


def test_fallbacks_for_rows_in_total_conflict():
    masses = np.array([[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]])
    np.testing.assert_array_equal(
        normalize(masses, on_conflict="vacuous"), [[0, 0, 0, 1], [0, 1, 0, 0]]
    )
    np.testing.assert_array_equal(
        normalize(masses, on_conflict="empty"), [[1, 0, 0, 0], [0, 1, 0, 0]]
    )
    for fallback in ("vacuous", "empty"):
        sparse = normalize(to_sparse(masses), on_conflict=fallback)
        np.testing.assert_array_equal(sparse.to_dense(), normalize(masses, on_conflict=fallback))


def test_no_rows_are_fine():
    nothing = np.empty((0, 8))
    assert normalize(nothing).shape == (0, 8)
    assert contour(nothing).shape == (0, 3)
    assert implicability(to_sparse(nothing)).shape == (0, 8)


def test_rows_are_named_briefly():
    assert name_rows(np.array([False, True])) == "1 row (row 1)"
    assert name_rows(np.array([[False, True], [True, False]])) == "2 rows (rows (0, 1), (1, 0))"
    assert name_rows(np.arange(10) > 2) == "7 rows (rows 3, 4, 5, 6, 7, ...)"
    assert name_rows(np.array(True)) == "the only row"
