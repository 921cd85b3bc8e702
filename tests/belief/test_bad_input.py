"""Every function that takes masses refuses the same bad ones, with row numbers and a remedy."""

from functools import partial

import numpy as np
import pytest

import plausible.belief as b
from plausible.belief import SparseMasses
from plausible.labels import Labels

GOOD = [0.0, 0.5, 0.2, 0.3]

FUNCTIONS = {
    "belief": b.belief,
    "implicability": b.implicability,
    "plausibility": b.plausibility,
    "commonality": b.commonality,
    "contour": b.contour,
    "pignistic": b.pignistic,
    "plausibility_probability": b.plausibility_probability,
    "conjunctive_weights": b.conjunctive_weights,
    "disjunctive_weights": b.disjunctive_weights,
    "normalize": b.normalize,
    "to_sparse": b.to_sparse,
    "to_dense": b.to_dense,
    "conjunctive": lambda m: b.conjunctive(m, m),
    "dempster": lambda m: b.dempster(m, m),
    "disjunctive": lambda m: b.disjunctive(m, m),
    "cautious": lambda m: b.cautious(m, m),
    "bold": lambda m: b.bold(m, m),
    "yager": lambda m: b.yager(m, m),
    "dubois_prade": lambda m: b.dubois_prade(m, m),
    "pcr6": lambda m: b.pcr6(m, m),
    "mean": lambda m: b.mean(m, m),
    "discount": lambda m: b.discount(m, 0.1),
    "contextual_discount": lambda m: b.contextual_discount(m, [0.1, 0.2]),
    "condition": lambda m: b.condition(m, 1),
    "negate": b.negate,
    "refine": lambda m: b.refine(m, [1, 6], 3),
    "coarsen": lambda m: b.coarsen(m, [1, 2]),
    "vacuous_extension": lambda m: b.vacuous_extension(m, (2, 2)),
    "marginalize": lambda m: b.marginalize(m, (2, 1)),
    "with_unknown": b.with_unknown,
    "generalized_bayes": lambda m: b.generalized_bayes([0.5, 0.5], prior=m),
    "total_plausibility": lambda m: b.total_plausibility(m, np.ones((4, 1))),
    "conflict": b.conflict,
    "nonspecificity": b.nonspecificity,
    "interval_width": b.interval_width,
    "jousselme_distance": lambda m: b.jousselme_distance(m, m),
    "dissonance": b.dissonance,
    "confusion": b.confusion,
    "discord": b.discord,
    "strife": b.strife,
    "pignistic_entropy": b.pignistic_entropy,
    "plausibility_entropy": b.plausibility_entropy,
    "deng_entropy": b.deng_entropy,
    "is_at_least_as_committed": lambda m: b.is_at_least_as_committed(m, m),
    "decide": partial(b.decide, kind="masses"),
    "expected_losses": lambda m: b.expected_losses(m, np.eye(2)),
}

BAD = {
    "nan": ([0.0, np.nan, 0.5, 0.5], r"finite, but .* nan were found in 2 rows \(rows 1, 3\); wh"),
    "infinite": ([0.0, np.inf, 0.5, 0.5], r"finite, but .* inf were found in 2 rows \(rows 1, 3\)"),
    "negative": (
        [0.0, -0.1, 0.6, 0.5],
        r"negative, but .* -0.1 were found in 2 rows \(rows 1, 3\)",
    ),
    "sum": ([0.0, 0.2, 0.2, 0.5], r"sum to one, but .* 0.9 were found in 2 rows \(rows 1, 3\); d"),
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_bad_masses_are_refused_with_row_numbers(name, form, kind):
    row, message = BAD[kind]
    masses = np.array([GOOD, row, GOOD, row])
    given = masses if form == "dense" else SparseMasses(masses, [0, 1, 2, 3], 2)
    with pytest.raises(ValueError, match=message):
        FUNCTIONS[name](given)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_takes_mass_on_the_empty_set_in_both_forms(name):
    masses = np.array([[0.1, 0.4, 0.2, 0.3], [0.5, 0.2, 0.2, 0.1]])
    dense = FUNCTIONS[name](masses)
    sparse = FUNCTIONS[name](SparseMasses(masses, [0, 1, 2, 3], 2))
    for one, other in zip(_numbers(dense), _numbers(sparse), strict=True):
        assert np.isfinite(one).all()
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_takes_no_rows_in_both_forms(name):
    nothing = np.empty((0, 4))
    for given in (nothing, SparseMasses(nothing, [0, 1, 2, 3], 2)):
        result = FUNCTIONS[name](given)
        assert all(len(numbers) == 0 for numbers in _numbers(result))


def _numbers(result):
    if isinstance(result, b.Decision):
        return [result.chosen, result.index]
    if isinstance(result, tuple):
        return list(result)
    return [result.to_dense() if isinstance(result, SparseMasses) else result]


def test_every_function_of_masses_is_in_the_list():
    makers = {"bayesian", "categorical", "consonant", "vacuous", "masses_from_dicts"}
    makers |= {"contour_of_bets"}
    sets = {"all_sets", "cardinality", "decode_sets", "encode_sets", "full_set", "membership"}
    others = {
        "concatenate",
        "sets_from_membership",
        "cylinders",
        "plausibility_given_sets",
        "combine",
    }
    functions = {n for n in b.__all__ if n.islower() and not n.startswith("masses_from")}
    assert functions - makers - sets - others == set(FUNCTIONS)


def test_shapes_that_cannot_be_masses():
    with pytest.raises(ValueError, match=r"2\^K columns.*shape is \(3,\); use bayesian\(\) for"):
        b.contour([0.2, 0.3, 0.5])
    with pytest.raises(ValueError, match=r"shape is \(\)"):
        b.contour(1.0)
    with pytest.raises(ValueError, match=r"shape is \(2, 1\)"):
        b.contour([[1.0], [1.0]])
    with pytest.raises(ValueError, match="at most K = 20 classes, but the frame has 21"):
        b.contour(np.eye(1, 1 << 21)[0])


def test_sparse_masses_that_do_not_fit_together():
    with pytest.raises(ValueError, match=r"one column for each focal set.*\(2,\) and .*\(3,\)"):
        SparseMasses([0.5, 0.5], [1, 2, 3], 2)
    with pytest.raises(ValueError, match="distinct, but a set is listed twice; add up"):
        SparseMasses([0.5, 0.5], [1, 1], 2)
    with pytest.raises(ValueError, match="from 0 to 3 on a frame of 2 classes, but 4 was given"):
        SparseMasses([0.5, 0.5], [1, 4], 2)
    with pytest.raises(ValueError, match="at most K = 20 classes, but the frame has 40"):
        b.vacuous(40).to_dense()


def test_bad_dictionaries_probabilities_and_contours():
    with pytest.raises(ValueError, match=r"\['a', 'b'\], but row 0 holds 'z'"):
        b.masses_from_dicts([{("z",): 1.0}], ["a", "b"])
    with pytest.raises(ValueError, match=r"write \[mapping\]"):
        b.masses_from_dicts({("a",): 1.0}, ["a", "b"])
    with pytest.raises(ValueError, match=r"masses should sum .* 0.4 were found in 1 row \(row 1\)"):
        b.masses_from_dicts([{("a",): 1.0}, {("a",): 0.4}], ["a", "b"])
    with pytest.raises(ValueError, match=r"probabilities .* 1.1 were found in 1 row \(row 1\)"):
        b.bayesian([[0.5, 0.5], [0.5, 0.6]])
    with pytest.raises(
        ValueError, match=r"contour should lie in .* 1.5 .* 1 row \(row 0\); divide"
    ):
        b.consonant([[0.5, 1.5], [0.5, 1.0]])


def test_rounding_is_not_an_error():
    typed = [0.0, 0.333333, 0.333333, 0.333333]  # six decimals
    np.testing.assert_allclose(b.pignistic(typed), [0.5, 0.5])
    rounded = [-1e-17, 0.5, 0.5, 0.0]
    assert (b.conjunctive(rounded, rounded) >= 0).all()
    single = np.random.default_rng(0).dirichlet(np.ones(256), size=9).astype(np.float32)
    assert b.contour(single).dtype == np.float64


def test_input_may_be_read_only_and_lists():
    masses = np.array([GOOD, GOOD])
    masses.flags.writeable = False
    for function in FUNCTIONS.values():
        if function not in (b.disjunctive_weights, FUNCTIONS["bold"]):
            for one, other in zip(
                _numbers(function(masses)), _numbers(function(masses.tolist())), strict=True
            ):
                np.testing.assert_array_equal(one, other)


PROBABILITIES = np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.1, 0.1, 0.4]])


@pytest.mark.parametrize(
    "call",
    [
        lambda p: b.dempster(p, b.bayesian(p)),
        lambda p: b.conflict(b.bayesian(p), p),
        lambda p: b.expected_losses(p, 1 - np.eye(4)),
        lambda p: b.decide(p, kind="masses", loss=1 - np.eye(4)),
    ],
)
def test_probabilities_that_show_as_such_are_not_read_as_masses(call):
    with pytest.raises(ValueError, match=r"bayesian\(array\) if these are prob.* of 4 classes"):
        call(PROBABILITIES)


def test_other_arrays_that_are_no_masses_are_refused_with_the_right_call():
    with pytest.raises(ValueError, match="say kind='probability' or kind='plausibility' if"):
        b.decide(PROBABILITIES, kind="masses", classes="abcd")
    with pytest.raises(ValueError, match=r"consonant\(\) if these are plausibilities"):
        b.pignistic([[1.0, 0.2, 0.3, 0.4]])
    with pytest.raises(ValueError, match="a Decision was given, which is decided already"):
        b.contour(b.decide(PROBABILITIES, kind="probability"))
    for kind in ("probability", "plausibility"):
        with pytest.raises(ValueError, match=f"kind='{kind}'\\)? for predict_"):
            b.decide(PROBABILITIES)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_what_knows_its_kind_is_taken_as_it_is(n_classes):
    p = PROBABILITIES[:, -n_classes:] / PROBABILITIES[:, -n_classes:].sum(axis=1, keepdims=True)
    labels = Labels.from_probability(p)
    np.testing.assert_allclose(b.contour(labels), p)
    np.testing.assert_allclose(b.pignistic(b.dempster(labels, b.vacuous(n_classes))), p)
    assert b.decide(labels).index.tolist() == p.argmax(axis=1).tolist()
