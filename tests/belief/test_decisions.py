import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from plausible.belief import (
    Decision,
    all_sets,
    bayesian,
    belief,
    categorical,
    conjunctive,
    contour,
    discount,
    expected_losses,
    membership,
    normalize,
    pignistic,
    to_dense,
    to_sparse,
    vacuous,
)
from plausible.belief import decide as decide_any
from plausible.belief.decisions import RULES, SET_RULES
from support.reference import to_dict
from support.strategies import mass_functions

small = st.integers(1, 4).flatmap(lambda k: mass_functions(k, whole=True))
costs = st.none() | st.sampled_from([0.0, 0.2, 0.5, 0.9])


def decide(numbers, rule="pignistic", kind="masses", **options):
    """Of masses, unless another kind is said."""
    return decide_any(numbers, rule, kind=kind, **options)


def random_loss(n_acts, n_classes, seed):
    return np.random.default_rng(seed).integers(0, 6, size=(n_acts, n_classes)).astype(float)


def least_over_core(row, objective, a_ub=None):
    """Minimum of a linear function over the probabilities p with p(A) >= bel(A) for all A."""
    n_classes = len(row).bit_length() - 1
    inside = membership(all_sets(n_classes), n_classes).astype(float)
    constraints, limits = -inside, -belief(row)
    if a_ub is not None:
        constraints, limits = np.vstack([constraints, a_ub]), np.append(limits, np.zeros(len(a_ub)))
    result = linprog(
        objective, A_ub=constraints, b_ub=limits + 1e-9, A_eq=np.ones((1, n_classes)), b_eq=[1]
    )
    return result.fun if result.status == 0 else np.inf


@given(small)
def test_single_answers_maximize_what_they_are_named_after(masses):
    masses = normalize(masses)
    n_classes = masses.shape[1].bit_length() - 1
    degrees = {
        "plausibility": contour(masses),
        "belief": belief(masses, 1 << np.arange(n_classes)),
        "pignistic": pignistic(masses),
    }
    for rule, degree in degrees.items():
        decision = decide(masses, rule)
        best = degree.max(axis=1, keepdims=True)
        chosen = np.take_along_axis(degree, decision.index[:, None], axis=1)
        np.testing.assert_allclose(chosen, best, atol=1e-10)
        np.testing.assert_array_equal(
            decision.tied, (degree >= best - 1e-12).sum(axis=1) > 1, err_msg=rule
        )


@given(small, st.integers(1, 4), st.integers(0, 999))
def test_expected_losses_by_definition_and_over_the_core(masses, n_acts, seed):
    masses = normalize(masses)
    n_classes = masses.shape[1].bit_length() - 1
    loss = random_loss(n_acts, n_classes, seed)
    lower, upper = expected_losses(masses, loss)
    for i, row in enumerate(masses):
        for a in range(n_acts):
            focal = to_dict(row).items()
            least = sum(m * min(loss[a, k] for k in members) for members, m in focal)
            assert lower[i, a] == pytest.approx(least, abs=1e-10)
            assert lower[i, a] == pytest.approx(least_over_core(row, loss[a]), abs=1e-6)
            assert upper[i, a] == pytest.approx(-least_over_core(row, -loss[a]), abs=1e-6)


@given(small, st.integers(0, 999), st.floats(0, 1))
def test_hurwicz_lies_between_the_optimist_and_the_pessimist(masses, seed, pessimism):
    n_classes = masses.shape[1].bit_length() - 1
    loss = random_loss(3, n_classes, seed)
    lower, upper = expected_losses(masses, loss)
    mixture = (1 - pessimism) * lower + pessimism * upper
    decision = decide(masses, "hurwicz", loss=loss, pessimism=pessimism)
    chosen = np.take_along_axis(mixture, decision.index[:, None], axis=1)[:, 0]
    np.testing.assert_allclose(chosen, mixture.min(axis=1), atol=1e-10)
    for rule, extreme in (("lower_loss", 0.0), ("upper_loss", 1.0)):
        np.testing.assert_array_equal(
            decide(masses, rule, loss=loss).index,
            decide(masses, "hurwicz", loss=loss, pessimism=extreme).index,
        )


@given(small, st.none() | st.integers(0, 999), costs)
def test_sets_of_acts_are_nested(masses, seed, reject):
    n_classes = masses.shape[1].bit_length() - 1
    loss = None if seed is None else random_loss(4, n_classes, seed)
    widest, middle, narrowest = (
        decide(masses, rule, loss=loss, reject=reject).chosen for rule in SET_RULES
    )
    assert (narrowest <= middle).all()
    assert (middle <= widest).all()
    assert narrowest.any(axis=1).all()
    betting = decide(masses, "pignistic", loss=loss, reject=reject).chosen
    assert (betting <= narrowest).all()


@given(small, st.none() | st.integers(0, 999), costs)
def test_e_admissible_acts_are_best_under_some_probability(masses, seed, reject):
    masses = normalize(masses)
    n_classes = masses.shape[1].bit_length() - 1
    loss = None if seed is None else random_loss(3, n_classes, seed)
    full = 1 - np.eye(n_classes) if loss is None else loss
    if reject is not None:
        full = np.vstack([full, np.full(n_classes, reject)])
    decision = decide(masses, "e_admissibility", loss=loss, reject=reject)
    sparse = decide(to_sparse(masses), "e_admissibility", loss=loss, reject=reject)
    np.testing.assert_array_equal(sparse.chosen, decision.chosen)
    for row, chosen in zip(masses, decision.chosen, strict=True):
        for act, kept in enumerate(chosen):
            possible = least_over_core(row, np.zeros(n_classes), full[act] - full) == 0
            # Within the solver's tolerance of the boundary either answer is right.
            clearly = least_over_core(row, np.zeros(n_classes), full[act] - full + 1e-6) == 0
            assert kept in (possible, clearly)


@given(small, st.integers(0, 999))
def test_maximal_acts_are_beaten_by_no_other_under_all_probabilities(masses, seed):
    masses = normalize(masses)
    n_classes = masses.shape[1].bit_length() - 1
    loss = random_loss(4, n_classes, seed)
    for row, chosen in zip(masses, decide(masses, "maximality", loss=loss).chosen, strict=True):
        for act, kept in enumerate(chosen):
            worst = max(least_over_core(row, loss[act] - other) for other in loss)
            assert kept == (worst <= 1e-9) or abs(worst) < 1e-6


@given(st.integers(1, 5), st.integers(0, 99))
def test_all_rules_agree_on_probabilities(n_classes, seed):
    p = np.random.default_rng(seed).dirichlet(np.ones(n_classes), size=5)
    loss = random_loss(3, n_classes, seed)
    for rule in RULES:
        np.testing.assert_array_equal(decide(bayesian(p), rule).index, p.argmax(axis=1))
        if rule not in ("plausibility", "belief"):
            best = (p @ loss.T).min(axis=1)
            decision = decide(p, rule, kind="probability", loss=loss)
            picked = np.where(decision.chosen, p @ loss.T, best[:, None])
            np.testing.assert_allclose(picked, np.tile(best[:, None], 3), atol=1e-8)


def test_nothing_known_keeps_every_class():
    for rule in SET_RULES:
        decision = decide(vacuous(3), rule)
        np.testing.assert_array_equal(decision.chosen, [True, True, True])
        assert decision.index == -1
        assert not decision.refused
        assert decision.names("abc") == {"a", "b", "c"}


def test_e_admissibility_can_be_narrower_than_maximality():
    # Betting on b costs 0.55 whatever is true: never best, yet worse than neither a nor c always.
    loss = [[0.0, 1.0], [0.55, 0.55], [1.0, 0.0]]
    np.testing.assert_array_equal(decide(vacuous(2), "maximality", loss=loss).chosen, [True] * 3)
    np.testing.assert_array_equal(
        decide(vacuous(2), "e_admissibility", loss=loss).chosen, [True, False, True]
    )


def test_maximality_can_be_narrower_than_interval_dominance():
    loss = [[0.0, 1.0], [0.1, 1.1]]
    np.testing.assert_array_equal(
        decide(vacuous(2), "interval_dominance", loss=loss).chosen, [True, True]
    )
    np.testing.assert_array_equal(decide(vacuous(2), "maximality", loss=loss).chosen, [True, False])


def test_large_frames_decide_in_sparse_form():
    masses = discount(categorical([1 << 40, 3 << 40], 62), 0.1)
    for rule in ("pignistic", "plausibility", "belief"):
        assert decide(masses, rule).index[0] == 40
    expected = np.zeros((2, 62), dtype=bool)
    expected[0, 40] = expected[1, 40:42] = True
    np.testing.assert_array_equal(decide(masses, "e_admissibility").chosen, expected)
    # Neither class of the pair is believed, so no interval lies above another.
    expected[1] = True
    for rule in ("interval_dominance", "maximality"):
        np.testing.assert_array_equal(decide(masses, rule).chosen, expected)


def test_refusal_by_cost():
    masses = np.array([[0.0, 0.7, 0.1, 0.2], [0.0, 0.1, 0.1, 0.8]])
    # Losses of betting on a: 0.2 and 0.5 (pignistic), 0.3 and 0.9 (upper), 0.1 and 0.1 (lower).
    for rule, cost, expected in [
        ("pignistic", 0.3, [0, -1]),
        ("pignistic", 0.1, [-1, -1]),
        ("pignistic", 0.6, [0, 0]),
        ("upper_loss", 0.29, [-1, -1]),
        ("upper_loss", 0.31, [0, -1]),
        ("belief", 0.31, [0, -1]),
        ("lower_loss", 0.15, [0, 0]),
        ("plausibility", 0.05, [-1, -1]),
    ]:
        decision = decide(masses, rule, reject=cost)
        np.testing.assert_array_equal(decision.index, expected, err_msg=f"{rule} {cost}")
        np.testing.assert_array_equal(decision.refused, np.equal(expected, -1))
        assert decision.chosen.shape == (2, 3)


def test_chows_rule():
    p = np.random.default_rng(0).dirichlet(np.ones(3), size=50)
    decision = decide(p, kind="probability", reject=0.4)
    np.testing.assert_array_equal(decision.refused, p.max(axis=1) < 0.6)


def test_the_unknown_class():
    # Mass on the empty set speaks for it, mass on the frame leaves it possible.
    masses = np.array([[0.6, 0.3, 0.0, 0.1], [0.0, 0.3, 0.0, 0.7], [0.0, 0.8, 0.0, 0.2]])
    assert decide(masses, unknown=True).index.tolist() == [2, 0, 0]
    assert decide(masses, "plausibility").index.tolist() == [0, 0, 0]
    assert decide(masses, "plausibility", unknown=True).index.tolist() == [2, 0, 0]
    # Denoeux 1997: with losses it is an act like the others; here a mistake there is cheap.
    loss = 1 - np.eye(3)
    loss[2] *= 0.2
    decision = decide(masses, loss=loss, unknown=True, reject=0.5)
    assert decision.index.tolist() == [2, 2, 0]
    assert decide(masses, loss=loss + 1, unknown=True, reject=0.5).refused.all()


def test_ties_go_to_the_first_act_and_are_reported():
    even, odd = np.array([0.0, 0.4, 0.4, 0.2]), np.array([0.0, 0.4, 0.2, 0.4])
    decision = decide(np.stack([even, odd]))
    np.testing.assert_array_equal(decision.index, [0, 0])
    np.testing.assert_array_equal(decision.tied, [True, False])
    # Rounding does not decide: 0.1 + 0.2 against 0.3.
    decision = decide([0.3, 0.1 + 0.2, 0.4], kind="plausibility", rule="plausibility")
    assert decision.index == 2
    nearly = decide([[0.3, 0.1 + 0.2, 0.4]], kind="probability", loss=[[0, 1, 1], [1, 0, 1]])
    assert nearly.tied.all()
    assert nearly.index == 0
    # A class is preferred to a refusal that costs the same.
    assert decide(even, reject=0.5).index == 0


def test_a_row_without_any_possible_class_is_refused():
    masses = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    for rule in RULES:
        decision = decide(masses, rule)
        np.testing.assert_array_equal(decision.refused, [True, False])
        np.testing.assert_array_equal(decision.index, [-1, 0])
        assert decision.names(["a", "b"]) == [None, "a"]
    assert decide(masses, unknown=True).index.tolist() == [2, 0]


@given(small, costs)
def test_both_forms_and_any_mass_on_the_empty_set_decide_alike(masses, reject):
    for rule in RULES:
        plain = decide(normalize(masses), rule, reject=reject)
        for other in (masses, to_sparse(masses)):
            np.testing.assert_array_equal(decide(other, rule, reject=reject).chosen, plain.chosen)


@pytest.mark.parametrize("rule", RULES)
def test_no_rows_need_no_decision(rule):
    for kind, width in (("masses", 4), ("plausibility", 3), ("probability", 3)):
        assert decide(np.empty((0, width)), rule, kind=kind, reject=0.1).index.shape == (0,)
    assert categorical([], 2).shape == (0, 1)


def test_plausibilities_as_input():
    decision = decide(
        [[1.0, 0.3, 0.2], [0.9, 1.0, 0.05]], "interval_dominance", kind="plausibility"
    )
    np.testing.assert_array_equal(decision.chosen, [[True, False, False], [True, True, False]])


def test_names_and_shapes():
    masses = np.random.default_rng(0).dirichlet(np.ones(8), size=(2, 3))
    decision = decide(masses, "interval_dominance", reject=0.5)
    assert decision.chosen.shape == (2, 3, 4)
    assert decision.index.shape == decision.refused.shape == decision.tied.shape == (2, 3)
    one = decide([0.0, 0.9, 0.0, 0.1])
    assert isinstance(one, Decision)
    assert one.names(["yes", "no"]) == "yes"
    with pytest.raises(ValueError, match="name the 2 acts, but 3 names were given"):
        one.names("abc")


def test_bad_arguments_are_refused():
    m = np.array([0.0, 0.5, 0.2, 0.3])
    calls = [
        (lambda: decide(m, "best"), "rule should be 'pignistic', .* but 'best' was given"),
        (lambda: decide(m, kind="votes"), "kind should be 'masses', 'plausibility' or 'prob"),
        (lambda: decide(m, loss=np.eye(3)), r"\(number of acts, 2\), .* shape \(3, 3\)"),
        (lambda: decide(m, loss=[[0, np.inf]]), r"loss should be finite, .* inf .* \(row 0\)"),
        (lambda: decide(m, "belief", loss=np.eye(2)), "without a loss matrix.*'upper_loss'"),
        (lambda: decide(m, pessimism=2), r"pessimism should be a finite number in \[0, 1\], but 2"),
        (lambda: decide(m, reject=np.nan), "reject should be a finite number, but nan"),
        (lambda: decide([0.5, 0.6], kind="probability"), "probabilities should sum to one"),
        (lambda: decide([0.5, 1.6], kind="plausibility"), r"should lie in \[0, 1\]"),
    ]
    for call, message in calls:
        with pytest.raises(ValueError, match=message):
            call()


def test_combining_then_deciding():
    # The whole way once, by hand: pool, then bet.
    first = discount(bayesian([[0.8, 0.2]]), 0.5)  # {a}: 0.4, {b}: 0.1, frame: 0.5
    second = discount(categorical([0b10], 2), 0.4)  # {b}: 0.6, frame: 0.4
    both = to_dense(conjunctive(first, second))  # {a}: 0.16, {b}: 0.4, frame: 0.2, empty: 0.24
    np.testing.assert_allclose(both, [[0.24, 0.16, 0.4, 0.2]])
    assert decide(both).names("ab") == ["b"]
    np.testing.assert_allclose(pignistic(both), [[0.26 / 0.76, 0.5 / 0.76]])


def test_an_array_has_to_come_with_its_kind():
    p = np.array([[0.6, 0.4], [0.2, 0.8]])
    with pytest.raises(ValueError, match=r"\(2, 2\) .* without its kind; .*kind='probability'"):
        decide_any(p)
    assert decide_any(p, kind="probability").index.tolist() == [0, 1]
    assert decide_any(bayesian(p)).index.tolist() == [0, 1]
    with pytest.raises(ValueError, match="SparseMasses says what its numbers are"):
        decide_any(bayesian(p), kind="plausibility")
    with pytest.raises(ValueError, match="decided already"):
        decide_any(decide_any(p, kind="probability"))


def test_a_decision_knows_its_classes_where_it_was_told():
    p = [[0.1, 0.7, 0.2], [0.3, 0.3, 0.4]]
    found = decide_any(p, kind="probability", reject=0.5, classes=["oak", "ash", "elm"])
    assert found.names() == ["ash", None]
    assert found.classes.tolist() == ["oak", "ash", "elm"]
    assert len(found) == 2
    with pytest.raises(ValueError, match="does not know the classes"):
        decide_any(p, kind="probability").names()
    with pytest.raises(ValueError, match="one name for each of the 3 classes"):
        decide_any(p, kind="probability", classes="ab")


@pytest.mark.parametrize("percent", [10, 30, 34, 41, 44, 45, 50, 66, 68, 70, 93])
def test_refusing_stays_admissible_where_it_costs_as_much_as_the_best_class(percent):
    # The best class c and refusing have the same loss, up to rounding: both are best.
    best = percent / 100
    masses = np.zeros((3, 8))
    masses[:, 0b100] = best
    masses[0, [0b001, 0b010]] = (1 - best) / 2  # a probability
    masses[1, 0b011] = 1 - best  # some doubt among the others
    masses[2, 0b111] = 1 - best  # only bel(c) is known
    for cost in (1 - best, round(1 - best, 2)):
        chosen = decide(masses, "e_admissibility", reject=cost).chosen
        general = decide(masses, "e_admissibility", loss=1 - np.eye(3), reject=cost).chosen
        np.testing.assert_array_equal(chosen, general)
        # Some class has a probability of a third at least, and then is better than refusing.
        np.testing.assert_array_equal(chosen[:, -1], best >= 1 / 3)
        np.testing.assert_array_equal(chosen[:, 2], [best >= 1 / 3, best >= 1 / 3, True])
