import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from plausible.belief import (
    TotalConflictError,
    bayesian,
    belief,
    categorical,
    conflict,
    confusion,
    conjunctive,
    deng_entropy,
    discord,
    dissonance,
    interval_width,
    jousselme_distance,
    nonspecificity,
    normalize,
    pignistic_entropy,
    plausibility,
    plausibility_entropy,
    strife,
    to_sparse,
    vacuous,
)
from support.reference import subsets, to_dict
from support.strategies import frames, mass_functions, sources


def by_definition(row, degree):
    """-sum m(A) log2 degree(A, m) over focal sets."""
    masses = to_dict(row)
    return -sum(m * np.log2(degree(a, masses)) for a, m in masses.items())


TORN = {
    dissonance: lambda a, m: sum(v for b, v in m.items() if a & b),
    confusion: lambda a, m: sum(v for b, v in m.items() if b <= a),
    discord: lambda a, m: sum(v * len(a & b) / len(b) for b, v in m.items()),
    strife: lambda a, m: sum(v * len(a & b) / len(a) for b, v in m.items()),
    deng_entropy: lambda a, m: m[a] / (2 ** len(a) - 1),
}


@pytest.mark.parametrize("measure", TORN)
@given(masses=st.integers(1, 5).flatmap(lambda k: mass_functions(k, empty=False)))
def test_measures_follow_their_definitions_in_both_forms(measure, masses):
    expected = [by_definition(row, TORN[measure]) for row in masses]
    np.testing.assert_allclose(measure(masses), expected, atol=1e-10)
    np.testing.assert_allclose(measure(to_sparse(masses)), expected, atol=1e-10)


@given(frames.flatmap(lambda k: mass_functions(k, whole=True)))
def test_entropies_look_at_normalized_masses(masses):
    for measure in (*TORN, pignistic_entropy, plausibility_entropy):
        np.testing.assert_allclose(measure(masses), measure(normalize(masses)), atol=1e-10)


@given(st.integers(1, 6), st.integers(0, 99))
def test_entropies_of_probabilities_are_shannons(n_classes, seed):
    p = np.random.default_rng(seed).dirichlet(np.ones(n_classes), size=4)
    shannon = entropy(p, base=2, axis=1)
    masses = bayesian(p)
    for measure in (*TORN, pignistic_entropy, plausibility_entropy):
        np.testing.assert_allclose(measure(masses), shannon, atol=1e-10)
    np.testing.assert_allclose(nonspecificity(masses), 0, atol=1e-12)


def test_a_vacuous_mass_function_is_vague_but_not_torn():
    nothing = vacuous(4)
    assert nonspecificity(nothing) == pytest.approx(2)
    assert plausibility_entropy(nothing) == pytest.approx(4)
    assert deng_entropy(nothing) == pytest.approx(np.log2(15))
    for measure in (dissonance, confusion, discord, strife):
        assert measure(nothing) == 0


@given(frames.flatmap(mass_functions))
def test_nonspecificity_by_definition(masses):
    for row, value in zip(masses, nonspecificity(masses), strict=True):
        expected = sum(m * np.log2(len(a)) for a, m in to_dict(row).items() if a)
        assert value == pytest.approx(expected, abs=1e-12)
    np.testing.assert_allclose(nonspecificity(to_sparse(masses)), nonspecificity(masses))


@given(frames.flatmap(mass_functions))
def test_interval_width_is_plausibility_minus_belief(masses):
    n_classes = masses.shape[1].bit_length() - 1
    singletons = 1 << np.arange(n_classes)
    widths = plausibility(masses) - belief(masses)
    np.testing.assert_allclose(interval_width(masses), widths[:, singletons], atol=1e-10)
    every = np.arange(1 << n_classes)
    np.testing.assert_allclose(interval_width(to_sparse(masses), every), widths, atol=1e-10)


@given(sources(2))
def test_conflict_is_what_the_conjunctive_rule_leaves_on_the_empty_set(masses):
    expected = conjunctive(*masses)[:, 0]
    np.testing.assert_allclose(conflict(*masses), expected, atol=1e-12)
    np.testing.assert_allclose(conflict(*(to_sparse(m) for m in masses)), expected, atol=1e-12)
    np.testing.assert_allclose(conflict(masses[0]), masses[0][:, 0], atol=1e-12)


@given(sources(3, max_classes=6))
def test_jousselme_distance_is_a_distance(masses):
    a, b, c = masses
    ab = jousselme_distance(a, b)
    np.testing.assert_allclose(ab, jousselme_distance(b, a), atol=1e-12)
    np.testing.assert_allclose(jousselme_distance(a, a), 0, atol=1e-12)
    assert (ab <= jousselme_distance(a, c) + jousselme_distance(c, b) + 1e-10).all()
    assert (ab <= 1 + 1e-12).all()
    np.testing.assert_allclose(jousselme_distance(to_sparse(a), to_sparse(b)), ab, atol=1e-10)


@given(sources(2, max_classes=4))
def test_jousselme_distance_by_definition(masses):
    n_classes = masses[0].shape[1].bit_length() - 1
    every = sorted(subsets(n_classes), key=lambda a: sum(1 << k for k in a))
    jaccard = np.array([[len(a & b) / len(a | b) if a | b else 1 for a in every] for b in every])
    for a, b, distance in zip(*masses, jousselme_distance(*masses), strict=True):
        assert distance**2 == pytest.approx((a - b) @ jaccard @ (a - b) / 2, abs=1e-12)


def test_known_distances():
    assert jousselme_distance(categorical(1, 3), vacuous(3)) == pytest.approx(0.8165, abs=5e-5)
    assert jousselme_distance(categorical(1, 62), categorical(2, 62)) == pytest.approx(1)
    assert jousselme_distance(categorical(0, 3), vacuous(3)) == pytest.approx(1)
    assert jousselme_distance(categorical(0, 3), categorical(0, 3)) == 0


def test_all_pairs_of_distances():
    masses = np.random.default_rng(0).dirichlet(np.ones(8), size=4)
    table = jousselme_distance(masses[:, None], masses)
    assert table.shape == (4, 4)
    assert table[1, 3] == pytest.approx(jousselme_distance(masses[1], masses[3]))


def test_rows_without_any_class_have_no_entropy():
    with pytest.raises(TotalConflictError, match=r"none in 1 row \(row 1\); replace"):
        dissonance([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
