from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.belief import (
    TotalConflictError,
    bayesian,
    bold,
    categorical,
    cautious,
    combine,
    commonality,
    conflict,
    conjunctive,
    conjunctive_weights,
    contour,
    dempster,
    discount,
    disjunctive,
    dubois_prade,
    implicability,
    mean,
    negate,
    pcr6,
    plausibility_probability,
    to_dense,
    to_sparse,
    vacuous,
    yager,
)
from support import reference
from support.strategies import mass_functions, sources

EMPTY = frozenset()


def intersection(sets):
    return frozenset.intersection(*sets)


def union(sets):
    return frozenset.union(*sets)


def go_back_in_proportion(sets, masses):
    shares = {}
    for members, mass in zip(sets, masses, strict=True):
        shares[members] = shares.get(members, 0) + mass / sum(masses)
    return shares


def definition(rule, frame):
    """Say where the product of masses on the given sets goes, as {set: share}."""
    return {
        conjunctive: lambda sets, _: {intersection(sets): 1},
        disjunctive: lambda sets, _: {union(sets): 1},
        yager: lambda sets, _: {intersection(sets) or frame: 1},
        dubois_prade: lambda sets, _: {intersection(sets) or union(sets): 1},
        pcr6: lambda sets, masses: (
            {intersection(sets): 1} if intersection(sets) else go_back_in_proportion(sets, masses)
        ),
    }[rule]


@pytest.mark.parametrize("rule", [conjunctive, disjunctive, yager, dubois_prade, pcr6])
@given(masses=sources(2, max_classes=5) | sources(3, max_classes=3))
def test_rules_follow_their_definitions_in_both_forms(rule, masses):
    n_classes = masses[0].shape[1].bit_length() - 1
    target = definition(rule, frozenset(range(n_classes)))
    expected = reference.each_row(lambda *dicts: reference.combine(dicts, target), *masses)
    np.testing.assert_allclose(rule(*masses), expected, atol=1e-12)
    sparse = rule(*(to_sparse(m) for m in masses))
    np.testing.assert_allclose(sparse.to_dense(), expected, atol=1e-12)


@given(sources(2, max_classes=5, whole=True))
def test_dempster_is_the_normalized_conjunctive_rule(masses):
    expected = reference.each_row(
        lambda *dicts: reference.normalize(
            reference.combine(dicts, lambda sets, _: {intersection(sets): 1})
        ),
        *masses,
    )
    np.testing.assert_allclose(dempster(*masses), expected, atol=1e-12)
    np.testing.assert_allclose(
        dempster(*(to_sparse(m) for m in masses)).to_dense(), expected, atol=1e-12
    )


RULES_WITH_INPUT = {
    conjunctive: {},
    dempster: {"whole": True},
    disjunctive: {},
    cautious: {"whole": True},
    bold: {"empty": "always"},
}


@pytest.mark.parametrize("rule", RULES_WITH_INPUT)
@given(data=st.data())
def test_commutative_and_associative(rule, data):
    a, b, c = data.draw(sources(3, **RULES_WITH_INPUT[rule]))
    np.testing.assert_allclose(rule(a, b), rule(b, a), atol=1e-10)
    np.testing.assert_allclose(rule(rule(a, b), c), rule(a, rule(b, c)), atol=1e-10)
    np.testing.assert_allclose(rule(a, b, c), rule(rule(a, b), c), atol=1e-10)


@pytest.mark.parametrize("rule", [yager, dubois_prade, pcr6, mean])
@given(masses=sources(3, max_classes=3))
def test_rules_that_are_not_associative_do_not_depend_on_the_order(rule, masses):
    np.testing.assert_allclose(rule(*masses), rule(*reversed(masses)), atol=1e-10)


@pytest.mark.parametrize("rule", [conjunctive, disjunctive, yager, dubois_prade, pcr6, mean])
@given(masses=sources(3, max_classes=4))
def test_answers_are_mass_functions(rule, masses):
    result = rule(*masses)
    assert (result >= 0).all()
    np.testing.assert_allclose(result.sum(axis=1), 1, atol=1e-10)


@given(sources(1))
def test_neutral_elements(masses):
    (m,) = masses
    n_classes = m.shape[1].bit_length() - 1
    nothing_said, nothing_left = vacuous(n_classes), categorical(0, n_classes)
    np.testing.assert_allclose(conjunctive(m, nothing_said), m, atol=1e-10)
    np.testing.assert_allclose(disjunctive(m, nothing_left), m, atol=1e-10)
    np.testing.assert_allclose(disjunctive(m, nothing_said), to_dense(nothing_said) + 0 * m)
    np.testing.assert_allclose(conjunctive(m, nothing_left), to_dense(nothing_left) + 0 * m)


@given(sources(1, whole=True, empty=False))
def test_vacuous_is_neutral_for_rules_that_normalize(masses):
    (m,) = masses
    nothing_said = vacuous(m.shape[1].bit_length() - 1)
    for rule in (dempster, yager, dubois_prade, pcr6):
        np.testing.assert_allclose(rule(m, nothing_said), m, atol=1e-10)


@given(sources(2))
def test_what_multiplies(masses):
    both = conjunctive(*masses)
    np.testing.assert_allclose(contour(both), contour(masses[0]) * contour(masses[1]), atol=1e-10)
    np.testing.assert_allclose(
        commonality(both), commonality(masses[0]) * commonality(masses[1]), atol=1e-10
    )
    either = disjunctive(*masses)
    np.testing.assert_allclose(
        implicability(either), implicability(masses[0]) * implicability(masses[1]), atol=1e-10
    )


@given(sources(2))
def test_disjunctive_is_dual_to_conjunctive_by_negation(masses):
    np.testing.assert_allclose(
        disjunctive(*masses), negate(conjunctive(*(negate(m) for m in masses))), atol=1e-10
    )


@given(sources(2, empty="always"))
def test_bold_is_dual_to_cautious_by_negation(masses):
    np.testing.assert_allclose(
        bold(*masses), negate(cautious(*(negate(m) for m in masses))), atol=1e-10
    )


@given(sources(2, whole=True))
def test_cautious_is_idempotent_and_takes_the_smallest_weights(masses):
    a, b = masses
    np.testing.assert_allclose(cautious(a, a), a, atol=1e-10)
    np.testing.assert_allclose(
        np.log(conjunctive_weights(cautious(a, b))),
        np.log(np.minimum(conjunctive_weights(a), conjunctive_weights(b))),
        atol=1e-6,
    )


@given(sources(3, max_classes=5, whole=True))
def test_conjunctive_distributes_over_cautious(masses):
    a, b, c = masses
    np.testing.assert_allclose(
        conjunctive(a, cautious(b, c)), cautious(conjunctive(a, b), conjunctive(a, c)), atol=1e-9
    )


@given(sources(2, max_classes=6, whole=True))
def test_cautious_agrees_in_both_forms(masses):
    sparse = cautious(*(to_sparse(m) for m in masses))
    np.testing.assert_allclose(sparse.to_dense(), cautious(*masses), atol=1e-10)
    opposite = [to_sparse(negate(m)) for m in masses]
    np.testing.assert_allclose(
        bold(*opposite).to_dense(), bold(*(negate(m) for m in masses)), atol=1e-10
    )


@given(sources(2, whole=True))
def test_plausibility_probabilities_commute_with_dempster(masses):
    product = plausibility_probability(masses[0]) * plausibility_probability(masses[1])
    np.testing.assert_allclose(
        plausibility_probability(dempster(*masses)),
        product / product.sum(axis=1, keepdims=True),
        atol=1e-10,
    )


def test_zadehs_example():
    # Two doctors on (meningitis, concussion, tumour): Dempster leaves the tumour alone.
    first, second = bayesian([0.99, 0.0, 0.01]), bayesian([0.0, 0.99, 0.01])
    np.testing.assert_allclose(contour(dempster(first, second)), [0, 0, 1])
    assert conflict(first, second) == pytest.approx(0.9999)
    ignorance = yager(first, second).to_dense()
    assert ignorance[0b111] == pytest.approx(0.9999)
    assert ignorance[0b100] == pytest.approx(0.0001)
    hesitation = dubois_prade(first, second).to_dense()
    assert hesitation[0b011] == pytest.approx(0.9801)
    shared = pcr6(first, second).to_dense()
    # By hand: 0.9801 is halved, and of each 0.0099 the larger mass gets 0.99 / 1.00.
    assert shared[0b001] == pytest.approx(0.49005 + 0.0099 * 0.99)
    assert shared[0b010] == pytest.approx(0.49005 + 0.0099 * 0.99)
    assert shared[0b100] == pytest.approx(0.0001 + 2 * 0.0099 * 0.01)


@pytest.mark.parametrize("tiny", [1e-6, 1e-10, 1e-14, 1e-60])
@pytest.mark.parametrize("form", [to_dense, to_sparse])
def test_dempster_is_exact_near_total_conflict(tiny, form):
    # Nearly sure of {a} against nearly sure of {b}, with crumbs on every other set.
    rng = np.random.default_rng(1)
    rows = []
    for winner in (0b001, 0b010):
        row = np.append(0.0, tiny * rng.random(7))
        row[winner] = 0.0
        row[winner] = 1.0 - row.sum()
        rows.append(row)
    exact = reference.normalize(
        reference.combine(
            [reference.to_dict(row, Fraction) for row in rows],
            lambda sets, _: {intersection(sets): 1},
        )
    )
    result = to_dense(dempster(*(form(row) for row in rows)))
    np.testing.assert_allclose(result, reference.to_row(exact, 3), rtol=1e-12)
    if tiny == 1e-14:
        assert conflict(*rows) > 1 - 1e-13


def test_many_sources_do_not_underflow():
    wavering = np.array([0.0, 0.4, 0.3, 0.3])
    result = dempster(*[wavering] * 2000)
    np.testing.assert_allclose(result, [0, 1, 0, 0], atol=1e-12)


def test_total_conflict_names_the_rows_or_falls_back():
    first = categorical([0b01, 0b01, 0b11, 0b10], n_classes=2)
    second = categorical([0b10, 0b01, 0b01, 0b01], n_classes=2)
    for form in (to_sparse, to_dense):
        with pytest.raises(
            TotalConflictError,
            match=r"Dempster's rule needs .* none in 2 rows \(rows 0, 3\); discount",
        ):
            dempster(form(first), form(second))
        vague = to_dense(dempster(form(first), form(second), on_conflict="vacuous"))
        np.testing.assert_array_equal(vague, np.eye(4)[[3, 1, 1, 3]])
        empty = to_dense(dempster(form(first), form(second), on_conflict="empty"))
        np.testing.assert_array_equal(empty, np.eye(4)[[0, 1, 1, 0]])


def test_conflict_among_early_sources_is_not_forgotten():
    says_a, says_b, says_nothing = (categorical(s, 2) for s in (0b01, 0b10, 0b11))
    with pytest.raises(TotalConflictError, match="the only row"):
        dempster(says_a, says_b, says_nothing)
    result = dempster(says_a, says_b, says_nothing, on_conflict="vacuous")
    np.testing.assert_array_equal(result.to_dense(), [0, 0, 0, 1])


def test_rows_broadcast():
    rng = np.random.default_rng(2)
    many, one = rng.dirichlet(np.ones(8), size=(4, 3)), rng.dirichlet(np.ones(8))
    for rule in (conjunctive, dempster, disjunctive, cautious, yager, dubois_prade, pcr6, mean):
        together = rule(many, one)
        assert together.shape == (4, 3, 8)
        np.testing.assert_allclose(together[2, 1], rule(many[2, 1], one), atol=1e-14)


@given(st.integers(1, 8).flatmap(lambda k: mass_functions(k)), st.integers(0, 1000))
def test_the_ways_to_multiply_agree(masses, seed):
    # Few focal sets go by pairs, many by halves, and many rows take another way than few.
    other = np.random.default_rng(seed).dirichlet(np.ones(masses.shape[1]), size=len(masses))
    together = conjunctive(np.repeat(masses, 100, axis=0), np.repeat(other, 100, axis=0))
    np.testing.assert_allclose(together[::100], conjunctive(masses, other), atol=1e-14)
    np.testing.assert_allclose(
        commonality(together[::100]), commonality(masses) * commonality(other), atol=1e-10
    )


def test_no_rows_are_fine():
    nothing = np.empty((0, 8))
    for rule in (conjunctive, dempster, disjunctive, cautious, yager, dubois_prade, pcr6, mean):
        assert rule(nothing, nothing).shape == (0, 8)
        assert rule(to_sparse(nothing), to_sparse(nothing)).to_dense().shape == (0, 8)


def test_large_frames():
    n_classes = 62
    first = discount(categorical(1, n_classes), 0.4)
    second = discount(categorical(1 << 61, n_classes), 0.5)
    frame = (1 << n_classes) - 1
    agreed = {1: 0.3, 1 << 61: 0.2, frame: 0.2}

    def masses(result):
        return dict(zip(result.focal_sets.tolist(), result.values, strict=True))

    assert masses(conjunctive(first, second)) == pytest.approx({0: 0.3, **agreed})
    normalized = {members: mass / 0.7 for members, mass in agreed.items()}
    assert masses(dempster(first, second)) == pytest.approx(normalized)
    assert masses(yager(first, second))[frame] == pytest.approx(0.5)
    assert masses(dubois_prade(first, second))[1 | 1 << 61] == pytest.approx(0.3)
    assert masses(cautious(first, first)) == pytest.approx({1: 0.6, frame: 0.4})
    assert masses(disjunctive(first, second)) == pytest.approx({1 | 1 << 61: 0.3, frame: 0.7})


@given(sources(3, max_classes=4))
def test_mean(masses):
    np.testing.assert_allclose(mean(*masses), sum(masses) / 3, atol=1e-12)
    weighted = mean(*(to_sparse(m) for m in masses), weights=[1, 0, 3])
    np.testing.assert_allclose(weighted.to_dense(), (masses[0] + 3 * masses[2]) / 4, atol=1e-12)
    for m in masses:
        np.testing.assert_allclose(mean(m, m), m, atol=1e-12)


def test_rules_by_name():
    stack = np.random.default_rng(3).dirichlet(np.ones(8), size=(3, 5))
    np.testing.assert_array_equal(combine(stack, "pcr6"), pcr6(*stack))
    np.testing.assert_array_equal(combine(list(stack)), dempster(*stack))
    with pytest.raises(ValueError, match="rule should be 'conjunctive', .* or 'mean', but 'zadeh'"):
        combine(stack, "zadeh")


def test_one_source_alone():
    m = np.array([0.5, 0.2, 0.0, 0.3])
    for rule in (conjunctive, disjunctive, dubois_prade, pcr6, mean):
        np.testing.assert_allclose(rule(m), m)
    np.testing.assert_allclose(dempster(m), [0, 0.4, 0, 0.6])
    np.testing.assert_allclose(yager(m), [0, 0.2, 0, 0.8])


def test_bad_sources_are_refused():
    m = np.array([0.0, 0.5, 0.2, 0.3])
    calls = [
        (lambda: dempster(), "at least one source"),
        (lambda: dempster(m, vacuous(3)), "source 0 has 2 classes and source 1 has 3; bring them"),
        (
            lambda: dempster(np.tile(m, (2, 1)), np.tile(m, (3, 1))),
            r"the same rows.*\(2,\), \(3,\)",
        ),
        (lambda: dempster(m, on_conflict="ignore"), "'raise', 'vacuous' or 'empty', but 'ignore'"),
        (lambda: dempster(m, [0.0, 0.5, 0.2, 0.1]), "Each row of source 1 should sum to one"),
        (lambda: mean(m, m, weights=[1, -1]), "one non-negative number for each of the 2 sources"),
        (lambda: cautious(m, [0.0, 1.0, 0.0, 0.0]), r"none in the only row; discount"),
        (lambda: bold(m, m), "some mass on the empty set, but there is none in the only"),
    ]
    for call, message in calls:
        with pytest.raises(ValueError, match=message):
            call()
    wide = np.full(256, 1 / 256)
    with pytest.raises(ValueError, match=r"PCR6 should meet at most .* 4 sources on 1 rows make"):
        pcr6(wide, wide, wide, wide)


def test_the_reference_itself():
    # A check on the checker: Dempster by hand for {a}: 0.6, frame: 0.4 and {b}: 0.5, frame: 0.5.
    a, b, frame = frozenset([0]), frozenset([1]), frozenset([0, 1])
    both = reference.combine(
        [{a: 0.6, frame: 0.4}, {b: 0.5, frame: 0.5}], lambda sets, _: {intersection(sets): 1}
    )
    assert both == pytest.approx({EMPTY: 0.3, a: 0.3, b: 0.2, frame: 0.2})
    assert reduce(frozenset.union, both) == frame
