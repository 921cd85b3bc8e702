import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.belief import (
    TotalConflictError,
    bayesian,
    categorical,
    condition,
    conjunctive,
    contextual_discount,
    contour,
    dempster,
    discount,
    disjunctive,
    negate,
    to_dense,
    to_sparse,
)
from support.strategies import ROWS, frames, mass_functions

doubts = st.floats(0, 1)


@given(frames.flatmap(mass_functions), doubts)
def test_discounting_moves_a_part_to_the_frame(masses, doubt):
    expected = (1 - doubt) * masses
    expected[:, -1] += doubt
    np.testing.assert_allclose(discount(masses, doubt), expected, atol=1e-12)
    sparse = discount(to_sparse(masses), doubt)
    np.testing.assert_allclose(sparse.to_dense(), expected, atol=1e-12)
    # The contour is drawn towards one.
    np.testing.assert_allclose(
        contour(discount(masses, doubt)), doubt + (1 - doubt) * contour(masses), atol=1e-12
    )


@given(frames.flatmap(mass_functions), doubts, doubts)
def test_doubts_add_up_as_trust_multiplies(masses, first, second):
    np.testing.assert_allclose(
        discount(discount(masses, first), second),
        discount(masses, 1 - (1 - first) * (1 - second)),
        atol=1e-12,
    )


def test_doubt_for_each_row_and_for_each_source():
    rng = np.random.default_rng(0)
    masses = rng.dirichlet(np.ones(8), size=(2, 3))
    by_row, by_source = [0.1, 0.5, 1.0], np.array([[0.2], [0.7]])
    for s in range(2):
        for i in range(3):
            np.testing.assert_allclose(
                discount(masses, by_row)[s, i], discount(masses[s, i], by_row[i])
            )
            np.testing.assert_allclose(
                discount(masses, by_source)[s, i], discount(masses[s, i], by_source[s, 0])
            )


@given(frames.flatmap(mass_functions), doubts)
def test_one_context_is_plain_discounting(masses, doubt):
    frame = masses.shape[1] - 1
    np.testing.assert_allclose(
        contextual_discount(masses, [doubt], contexts=[frame]), discount(masses, doubt), atol=1e-12
    )


@given(
    st.integers(1, 6).flatmap(
        lambda k: st.tuples(mass_functions(k), st.lists(doubts, min_size=k, max_size=k))
    )
)
def test_contextual_discounting_is_a_disjunction(case):
    masses, doubt = case
    n_classes = len(doubt)
    # Mercier, Quost and Denoeux 2008: m joined with {empty: 1 - d_k, {k}: d_k} for each class.
    pieces = []
    for k, d in enumerate(doubt):
        piece = np.zeros(1 << n_classes)
        piece[[0, 1 << k]] = 1 - d, d
        pieces.append(piece)
    expected = disjunctive(masses, *pieces)
    np.testing.assert_allclose(contextual_discount(masses, doubt), expected, atol=1e-10)
    sparse = contextual_discount(to_sparse(masses), doubt)
    np.testing.assert_allclose(sparse.to_dense(), expected, atol=1e-10)
    np.testing.assert_allclose(
        contour(expected), 1 - (1 - contour(masses)) * (1 - np.array(doubt)), atol=1e-10
    )


def test_contextual_doubt_for_each_row():
    masses = np.tile([0.0, 1.0, 0.0, 0.0], (2, 1))
    result = contextual_discount(masses, [[0.0, 0.3], [0.0, 0.6]])
    np.testing.assert_allclose(result, [[0, 0.7, 0, 0.3], [0, 0.4, 0, 0.6]])


@given(st.integers(1, 8).flatmap(lambda k: st.tuples(mass_functions(k), st.integers(0, 2**k - 1))))
def test_conditioning_is_combining_with_certainty(case):
    masses, event = case
    n_classes = masses.shape[1].bit_length() - 1
    certain = categorical(event, n_classes)
    np.testing.assert_allclose(condition(masses, event), conjunctive(masses, certain), atol=1e-12)
    np.testing.assert_allclose(
        condition(to_sparse(masses), event).to_dense(), condition(masses, event), atol=1e-12
    )
    np.testing.assert_allclose(
        condition(masses, [event] * ROWS), condition(masses, event), atol=1e-12
    )
    try:
        expected = dempster(masses, certain)
    except TotalConflictError:
        with pytest.raises(TotalConflictError, match="Normalized conditioning needs mass"):
            condition(masses, event, normalize=True)
    else:
        np.testing.assert_allclose(condition(masses, event, normalize=True), expected, atol=1e-12)


def test_conditioning_probabilities_is_what_it_always_was():
    posterior = condition(bayesian([0.5, 0.3, 0.2]), 0b110, normalize=True)
    np.testing.assert_allclose(contour(posterior), [0, 0.6, 0.4])


def test_an_event_for_each_row():
    masses = np.array([0.0, 0.5, 0.2, 0.3])
    for form in (to_dense, to_sparse):
        result = to_dense(condition(form(masses), [0b01, 0b10]))
        np.testing.assert_allclose(result, [[0.2, 0.8, 0, 0], [0.5, 0, 0.5, 0]])


@given(frames.flatmap(mass_functions))
def test_negation_reverses_the_columns_and_itself(masses):
    np.testing.assert_array_equal(negate(masses), masses[:, ::-1])
    np.testing.assert_array_equal(negate(to_sparse(masses)).to_dense(), masses[:, ::-1])
    np.testing.assert_array_equal(negate(negate(masses)), masses)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: discount(m, 1.2), r"doubt should lie in \[0, 1\], but .*1.2"),
        (lambda m: discount(m, [0.1, np.nan, 0.3]), r"doubt should lie in .* nan"),
        (lambda m: discount(m, [0.1, 0.2]), r"fit the rows \(3,\), but has shape \(2,\)"),
        (lambda m: contextual_discount(m, [0.1]), "one value for each of the 2 contexts"),
        (lambda m: contextual_discount(m, [0.1, 0.2], [1, 3]), r"\[1, 3\] share classes; give"),
        (lambda m: condition(m, 4), "event should be bit masks from 0 to 3 .* but 4 was given"),
        (lambda m: condition(m, "a"), "turn class names into bit masks with encode_sets"),
    ],
)
def test_bad_arguments_are_refused_with_a_remedy(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.tile([0.0, 0.5, 0.2, 0.3], (3, 1)))
