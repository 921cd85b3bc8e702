import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.belief import (
    SparseMasses,
    TotalConflictError,
    bayesian,
    condition,
    conjunctive,
    contour,
    disjunctive,
    generalized_bayes,
    marginalize,
    plausibility,
    plausibility_given_sets,
    to_dense,
    to_sparse,
    total_plausibility,
    vacuous,
    vacuous_extension,
)
from support.strategies import mass_functions


def tables(n_classes, rows=3):
    row = st.lists(st.floats(0, 1), min_size=n_classes, max_size=n_classes)
    return st.lists(row, min_size=rows, max_size=rows).map(np.array)


@given(st.integers(1, 8).flatmap(tables))
def test_the_theorem_gives_equation_1_5(likelihoods):
    n_classes = likelihoods.shape[1]
    masses = generalized_bayes(likelihoods)
    sets = np.arange(1 << n_classes)
    for i, row in enumerate(likelihoods):
        expected = [1 - np.prod([1 - row[k] for k in range(n_classes) if s >> k & 1]) for s in sets]
        np.testing.assert_allclose(plausibility(masses)[i], expected, atol=1e-10)
    np.testing.assert_allclose(masses.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(contour(masses), likelihoods, atol=1e-12)


@given(st.integers(1, 6).flatmap(lambda k: st.tuples(tables(k), mass_functions(k))))
def test_a_prior_is_combined_conjunctively(case):
    likelihoods, prior = case
    expected = conjunctive(generalized_bayes(likelihoods), prior)
    np.testing.assert_allclose(generalized_bayes(likelihoods, prior), expected, atol=1e-10)
    sparse = generalized_bayes(likelihoods, to_sparse(prior))
    np.testing.assert_allclose(sparse.to_dense(), expected, atol=1e-10)


@given(st.integers(1, 8).flatmap(lambda k: st.tuples(tables(k), st.integers(0, 99))))
def test_a_bayesian_prior_gives_bayes_theorem(case):
    likelihoods, seed = case
    likelihoods = 0.01 + 0.99 * likelihoods
    prior = np.random.default_rng(seed).dirichlet(np.ones(likelihoods.shape[1]))
    joint = prior * likelihoods
    for form in (to_dense, to_sparse):
        posterior = generalized_bayes(likelihoods, form(bayesian(prior)), normalize=True)
        np.testing.assert_allclose(
            contour(posterior), joint / joint.sum(axis=1, keepdims=True), atol=1e-10
        )


def test_a_bayesian_prior_on_a_large_frame():
    likelihoods = np.linspace(0.1, 1, 50)
    posterior = generalized_bayes(likelihoods, bayesian(np.full(50, 0.02)), normalize=True)
    np.testing.assert_allclose(contour(posterior), likelihoods / likelihoods.sum())


def test_the_theorem_is_ballooning_and_conditioning():
    # Smets 1993: extend each conditional to the joint frame with the largest set that fits it,
    # combine, condition on what was observed, and look at the class.
    rng = np.random.default_rng(5)
    shape = (2, 3)  # class, observation
    conditional = rng.dirichlet(np.ones(8), size=2)
    conditional[:, 0] = 0
    conditional /= conditional.sum(axis=1, keepdims=True)
    joint = None
    for k in range(2):
        elsewhere = sum(1 << (3 * i + j) for i in range(2) for j in range(3) if i != k)
        sets = (np.arange(8) << (3 * k)) | elsewhere
        balloon = SparseMasses(conditional[k], sets, 6)
        joint = balloon if joint is None else conjunctive(joint, balloon)
    observed = 0b110
    event = to_sparse(vacuous_extension(np.eye(8)[observed], shape, axis=1)).focal_sets[0]
    by_hand = marginalize(condition(joint, event), shape, axis=0)
    likelihoods = plausibility(conditional)[:, observed]
    np.testing.assert_allclose(by_hand.to_dense(), generalized_bayes(likelihoods), atol=1e-12)


@given(st.integers(1, 4).flatmap(lambda k: st.tuples(mass_functions(k), tables(4, rows=k))))
def test_total_plausibility_by_definition_in_both_forms(case):
    masses, conditional = case
    n_classes = len(conditional)
    sets = np.arange(1 << n_classes)
    expected = np.zeros((len(masses), 4))
    for s in sets:
        inside = [k for k in range(n_classes) if s >> k & 1]
        expected += masses[:, [s]] * (1 - np.prod(1 - conditional[inside], axis=0))
    given_sets = plausibility_given_sets(conditional)
    np.testing.assert_allclose(total_plausibility(masses, given_sets), expected, atol=1e-12)
    sparse = to_sparse(masses)
    np.testing.assert_allclose(
        total_plausibility(sparse, plausibility_given_sets(conditional, sparse.focal_sets)),
        expected,
        atol=1e-12,
    )


def test_total_plausibility_is_total_probability_for_probabilities():
    prior, conditional = np.array([0.2, 0.8]), np.array([[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]])
    np.testing.assert_allclose(
        total_plausibility(bayesian(prior), conditional), prior @ conditional
    )


def test_plausibility_given_a_set_is_that_of_the_disjunction():
    rng = np.random.default_rng(6)
    conditional = rng.dirichlet(np.ones(8), size=2)  # masses on 3 events, given each of 2 classes
    given_both = plausibility(disjunctive(*conditional))
    filled_in = plausibility_given_sets(plausibility(conditional), [0b11])
    np.testing.assert_allclose(filled_in[0], given_both, atol=1e-12)


def test_bad_likelihoods_are_refused():
    calls = [
        (lambda: generalized_bayes([[0.5, 1.5]]), r"likelihoods .* 1.5 .* 1 row \(row 0\); divide"),
        (
            lambda: generalized_bayes([0.5, np.nan]),
            "likelihoods .* nan .* in the only row",
        ),
        (lambda: generalized_bayes([0.5, 0.2], bayesian([0.5, 0.3, 0.2])), "have 2 and 3 classes"),
        (lambda: generalized_bayes(np.ones(21)), "at most K = 20 classes"),
        (lambda: generalized_bayes(np.ones(40), vacuous(40)), "should have at most 3e.08 subsets"),
        (lambda: total_plausibility([0, 0.5, 0, 0.5], [[0.1]]), "one row for each of the 4 sets"),
    ]
    for call, message in calls:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TotalConflictError, match=r"Normalization needs .* none in 1 row \(row 1\)"):
        generalized_bayes([[0.5, 0.5], [0.0, 0.0]], normalize=True)
