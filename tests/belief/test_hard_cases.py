"""Cases at the edge of arithmetic, of memory, or of patience, each of which once went wrong."""

import pickle

import numpy as np
import pytest

import plausible.belief as b
from plausible.belief import SparseMasses

M = [0.0, 0.7, 0.1, 0.2]


def decide(numbers, rule="pignistic", kind="masses", **options):
    """Of masses, unless another kind is said."""
    return b.decide(numbers, rule, kind=kind, **options)


def test_small_plausibilities_keep_their_digits():
    masses = [0.0, 1.0, 1e-20, 0.0]
    np.testing.assert_array_equal(b.plausibility(masses), [0, 1, 1e-20, 1])
    np.testing.assert_array_equal(b.plausibility(masses, [2]), [1e-20])
    assert b.dissonance([0.0, 1.0, 1e-20, 1e-20]) == pytest.approx(6.6e-19, rel=0.02)
    many = b.dempster(*[[0.0, 0.9, 0.05, 0.05]] * 18)
    assert 0 < b.dissonance(many) < 1e-12
    rare = b.plausibility_given_sets([[1e-20], [1e-17]])
    np.testing.assert_allclose(rare[:, 0], [0, 1e-20, 1e-17, 1.001e-17], rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-14, 1e-8, 1e-3, 1.0, 1e9, 1e16])
@pytest.mark.parametrize("offset", [0.0, 10.0])
def test_units_of_loss_do_not_matter(scale, offset):
    loss = np.array([[0.0, 1.0], [1.0, 0.0], [0.6, 0.6]]) + offset
    for rule in b.decisions.RULES:
        if rule in ("plausibility", "belief"):
            continue
        expected = decide(M, rule, loss=loss).chosen
        np.testing.assert_array_equal(decide(M, rule, loss=scale * loss).chosen, expected)
    kept = decide(b.vacuous(2), "e_admissibility", loss=scale * loss).chosen
    np.testing.assert_array_equal(kept, [True, True, False])


def test_a_narrow_miss_is_a_miss():
    for gap in (1e-4, 1e-6, 1e-8):
        loss = [[0.0, 1.0], [1.0, 0.0], [0.5 + gap, 0.5 + gap]]
        kept = decide(b.vacuous(2), "e_admissibility", loss=loss).chosen
        np.testing.assert_array_equal(kept, [True, True, False])
    first, second = [0.0, 0.5, 0.5, 0.0], [0.0, 0.5 + 5e-8, 0.5 - 5e-8, 0.0]
    for order in ("plausibility", "commonality", "specialization"):
        assert not b.is_at_least_as_committed(first, second, order=order)


def test_a_hopeless_act_does_not_blur_the_others():
    decision = decide([0.0, 0.3, 0.6, 0.1], reject=1e13)
    assert decision.index == 1
    assert not decision.tied
    assert decide([0.8, 0.2], loss=[[-3e-12], [-4e-12]]).index == 1


def test_a_refusal_among_other_acts_is_named():
    decision = decide([0.0, 0.6, 0.0, 0.4], "maximality", reject=0.3)
    np.testing.assert_array_equal(decision.chosen, [True, False, True])
    assert decision.names(["a", "b"]) == {"a", None}


def test_answers_keep_the_shape_of_the_rows_and_can_name_ties():
    decision = decide([[M, [0.0, 0.0, 0.0, 1.0]]])
    assert decision.names("ab") == [["a", "a"]]
    assert decision.names("ab", ties=True) == [["a", {"a", "b"}]]
    opened = decide([[0.9, 0.0, 0.0, 0.1]], unknown=True)
    assert opened.names("ab") == ["unknown"]
    assert opened.names(["a", "b", "neither"]) == ["neither"]


def test_total_conflict_tells_all_rows():
    with pytest.raises(b.TotalConflictError) as caught:
        b.normalize(np.tile([1.0, 0.0, 0.0, 0.0], (9, 1)))
    np.testing.assert_array_equal(caught.value.rows[:, 0], np.arange(9))
    traveled = pickle.loads(pickle.dumps(caught.value))
    assert str(traveled) == str(caught.value)


def test_rows_with_few_focal_sets_of_their_own():
    # Together they have many: going through all pairs of columns would take minutes.
    rng = np.random.default_rng(0)
    first, second = (
        b.discount(b.categorical(rng.integers(1, 2**40, size=600), 40), 0.2) for _ in range(2)
    )
    for rule in (b.conjunctive, b.dempster, b.disjunctive, b.yager, b.dubois_prade, b.pcr6):
        together = rule(first, second)
        for row in (0, 99, 599):
            alone = rule(b.to_sparse(first[row]), b.to_sparse(second[row]))
            (expected,) = alone.to_dicts(range(40))
            assert together[row].to_dicts(range(40))[0] == pytest.approx(expected)


def test_groups_of_rows_can_be_put_together():
    parts = [b.bayesian([[0.2, 0.8]]), b.categorical([3, 1], 2)]
    together = b.concatenate(parts)
    np.testing.assert_array_equal(
        together.to_dense(), np.concatenate([part.to_dense() for part in parts])
    )
    names = together.to_dicts("ab")
    assert names == [{("b",): 0.8, ("a",): 0.2}, {("a", "b"): 1.0}, {("a",): 1.0}]
    np.testing.assert_array_equal(b.masses_from_dicts(names, "ab").to_dense(), together.to_dense())
    with pytest.raises(ValueError, match=r"on one frame, but have \[2, 3\] classes"):
        b.concatenate([parts[0], b.categorical([1], 3)])


def test_comparing_large_weights():
    rng = np.random.default_rng(0)
    for _ in range(50):
        m = 10.0 ** rng.uniform(-8, 0, size=8)
        m /= m.sum()
        piece = np.zeros(8)
        piece[[rng.integers(0, 7), 7]] = 0.3, 0.7
        more = b.conjunctive(m, piece)
        assert b.is_at_least_as_committed(more, m, order="conjunctive_weights")


def test_cautious_adds_no_sets():
    rng = np.random.default_rng(1)
    for _ in range(50):
        m = np.append(rng.dirichlet(np.ones(7)) * (rng.random(7) > 0.5), 0.3)
        m /= m.sum()
        again = b.cautious(m, m)
        np.testing.assert_array_equal(again > 0, m > 0)
        np.testing.assert_allclose(again, m, rtol=1e-12)


def test_rounding_of_ones_own_sums_is_accepted():
    contour = b.contour([0.0, 0.4, 0.0, 0.2, 0.0, 0.3, 0.0, 0.1])
    assert contour[0] > 1.0  # by rounding
    assert b.contour(b.consonant(contour))[0] == 1.0
    b.discount(M, 1.0000000000000002)
    typed = [0.0, 0.7, 0.1, 0.200009]
    assert b.conjunctive(typed, typed).sum() == pytest.approx(1.0, abs=1e-12)
    b.pignistic(b.conjunctive(typed, typed, typed, typed))


def test_numpy_integers_count_classes():
    assert b.vacuous(np.uint8(10)).focal_sets == [1023]
    assert b.full_set(np.int32(40)) == 2**40 - 1
    assert SparseMasses([1.0], [1], np.uint8(10)).to_dense().shape == (1024,)
    np.testing.assert_array_equal(
        b.vacuous_extension(M, (2, 2), axis=np.int64(1)), b.vacuous_extension(M, (2, 2), axis=1)
    )


def test_results_never_share_memory_with_the_input():
    given = np.array([M, M])
    for result in (
        b.to_dense(given),
        b.conjunctive(given),
        b.disjunctive(given),
        b.mean(given),
        b.condition(given, 3),
        b.refine(given, [1, 2], 2),
        b.coarsen(given, [1, 2]),
        b.contextual_discount(given, [], contexts=[]),
        b.normalize(given),
        b.negate(given),
    ):
        assert not np.shares_memory(result, given)


def test_one_sparse_mass_function_is_not_a_list():
    one = b.to_sparse(M)
    with pytest.raises(TypeError, match="has no rows"):
        len(one)
    stack = SparseMasses(np.tile(one.values, (3, 2, 1)), one.focal_sets, 2)
    assert [part.shape for part in stack] == [(2, 3)] * 3
    np.testing.assert_allclose(
        b.combine(stack).to_dense(), b.dempster(*[np.tile(M, (2, 1))] * 3), atol=1e-15
    )


def test_many_plausibilities_on_a_large_frame():
    contour = np.random.default_rng(0).random((3000, 30))
    contour[:, 7] = 1.0
    decision = decide(contour, "plausibility", kind="plausibility")
    assert (decision.index == 7).all()


def test_too_many_different_sets_for_all_rows_together(monkeypatch):
    monkeypatch.setattr("plausible.belief.forms.MAX_ENTRIES", 1000)
    with pytest.raises(ValueError, match="100 rows with 100 different focal sets make 1.0e.04"):
        b.categorical(np.arange(1, 101), 40)


def test_many_sets_asked_on_a_frame_too_large_for_dense_form():
    masses = SparseMasses(np.full(7000, 1 / 7000), np.arange(1, 7001), 21)
    assert b.plausibility(masses, np.arange(7000)).shape == (7000,)


def test_dense_masses_on_large_frames():
    masses = np.zeros(1 << 15)
    masses[1:] = np.random.default_rng(0).dirichlet(np.ones((1 << 15) - 1))
    assert b.is_at_least_as_committed(masses, masses)
    np.testing.assert_allclose(b.cautious(masses, masses), masses, atol=1e-10)
    assert b.jousselme_distance(masses, masses[::-1]) > 0  # a thousand million pairs of sets
    product = b.contour(b.conjunctive(masses, masses))
    np.testing.assert_allclose(product, b.contour(masses) ** 2, rtol=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: b.contour(["a", "b"]), "masses should be an array of numbers"),
        (lambda: b.contour([[0.0, 1.0], [1.0]]), "check for text, missing entries and unequal"),
        (lambda: b.contour(None), r"masses in dense form .* shape is \(\)"),
        (lambda: b.contour([1e308] * 4), "such as inf were found in the only row"),
        (lambda: b.belief(M, [[1], [2]]), r"list of bit masks, but has shape \(2, 1\); flatten"),
        (lambda: b.membership([4], 2), "bit masks from 0 to 3"),
        (lambda: b.cardinality(1.5), "bit masks"),
        (lambda: b.vacuous(2.5), "1 to 62 classes, but 2.5 were given"),
        (lambda: b.all_sets(None), "1 to 62 classes, but None"),
        (lambda: b.encode_sets([5], "ab"), r"set 0 is 5; write \{5\}"),
        (lambda: b.decode_sets(np.array([2**63], dtype=np.uint64), "ab"), str(2**63)),
        (lambda: decide(M, loss=np.empty((0, 2))), r"number of acts, 2\).*\(0, 2\)"),
        (lambda: decide(M, reject="a"), "reject should be a finite number, but 'a'"),
        (lambda: decide(M, pessimism=None), "pessimism should be a finite number"),
        (lambda: b.condition([M, M], [1, 2, 3]), r"shape \(3,\) for rows \(2,\)"),
        (lambda: b.cylinders((2, 3), (0, 0)), "axis should name different factors"),
        (lambda: b.marginalize(M, (2, 1), 2), "axis should name different factors"),
        (lambda: b.vacuous_extension(M, (3, 2)), "2 classes, but axis 0 of shape .* has 3"),
        (lambda: b.generalized_bayes(np.ones((3, 2)), [M, M]), r"\(3,\) and \(2,\)"),
        (lambda: b.generalized_bayes([1.0, 1.0], [M, [0, 0, 0, 2]]), "row of prior should sum"),
        (lambda: b.plausibility_given_sets([0.1, 0.2]), r"array \(K, T\)"),
        (lambda: b.masses_from_conjunctive_weights([1.0, 1.0, 1.0]), r"weights .* 2\^K columns"),
        (lambda: b.masses_from_belief([0.2, 0.5, 0.5, 1.0]), "belief of the empty set should be 0"),
        (lambda: b.masses_from_plausibility([0, 0, 0, 1]), "masses behind this plausibility"),
        (lambda: b.masses_from_dicts([{("a",): 1}, {("c",): 1}], "ab"), "row 1 holds 'c'"),
        (lambda: b.masses_from_dicts([{("a",): "x"}], "ab"), "masses of row 0 should be an array"),
        (lambda: b.dempster([b.vacuous(2)] * 2), "pass sources one by one"),
        (lambda: b.categorical([("a",), ("a", "b")], 3), "names into bit masks with encode_sets"),
        (lambda: b.combine([M], "yager", on_conflict="raise"), "takes no option, but 'on_conf"),
        (lambda: b.combine([M], "Dempster"), "did you mean 'dempster'?"),
        (lambda: b.encode_sets([{"cta"}], ["cat", "dog"]), "did you mean 'cat'?"),
        (lambda: b.discount(M, 10), "10 percent is 0.1"),
        (lambda: b.bayesian([[50.0, 50.0]]), "by 100 if these are percentages"),
        (lambda: b.combine(5), "sources should be a list of masses"),
        (lambda: b.dissonance([1.0, 0, 0, 0]), "replace such rows first with normalize"),
        (lambda: b.contextual_discount(M, 0.1), "one value for each of the 2 contexts"),
        (
            lambda: b.is_at_least_as_committed(M, M, order="disjunctive_weights"),
            "Disjunctive weights .* mass on the empty set",
        ),
        (lambda: b.is_at_least_as_committed(M, M, tol=-1), r"tol should be .* in \[0, 1\], but -1"),
        (
            lambda: b.contextual_discount(b.vacuous(40), np.full(40, 0.5), 1 << np.arange(40)),
            None,
        ),
    ],
)
def test_bad_arguments_get_one_clear_sentence(call, message):
    if message is None:
        assert call().shape == (1,)  # everything stays on the frame
        return
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert str(caught.value)[-1] in ".?"


@pytest.mark.long
def test_contextual_discounting_that_would_explode_is_refused():
    with pytest.raises(ValueError, match="at most 1048576 focal sets, but 40 contexts make more"):
        b.contextual_discount(b.categorical(0, 40), np.full(40, 0.5))
