"""Answers in tables, and how they become labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plausible.belief import TotalConflictError, combine, discount, masses_from_dicts
from plausible.errors import InputError
from plausible.experts import Annotations, agreement, next_items
from plausible.experts.name_letters import letters_of, may_differ_by_case, may_have_blanks
from plausible.experts.tables import factorize
from plausible.labels import Labels

CLASSES = ["a", "b", "c"]


def ask(cells, **options):
    """Answers of people 0, 1, ... about items 0, 1, ..., one row for an item."""
    return Annotations.from_answers(np.array(cells, dtype=object), classes=CLASSES, **options)


def test_one_annotator_without_doubt_gives_hard_labels():
    labels = ask([["a"], ["c"], ["b"]]).pool(doubt=0.0)
    np.testing.assert_array_equal(labels.contour, Labels.from_crisp(["a", "c", "b"]).contour)
    np.testing.assert_array_equal(labels.conflict, 0.0)


def test_identical_sure_annotators_are_one():
    one, three = ask([["a"], ["b|c"]]), ask([["a"] * 3, ["b|c"] * 3])
    np.testing.assert_array_equal(one.pool(doubt=0.0).contour, three.pool(doubt=0.0).contour)


def test_sure_annotators_who_contradict_each_other_are_reported():
    answers = ask([["a", "a"], ["a", "b"], ["c", "c"]], items=["x", "y", "z"])
    with pytest.raises(TotalConflictError, match=r"1 item \('y'\).*doubt"):
        answers.pool(doubt=0.0)
    labels = answers.pool(doubt=0.0, on_conflict="unknown")
    np.testing.assert_array_equal(labels.conflict, [0, 1, 0])
    np.testing.assert_array_equal(labels.is_unknown, [False, True, False])
    sets = ask([["a|b", "c"]])
    with pytest.raises(TotalConflictError):
        sets.pool(doubt=0.0)
    assert sets.pool(doubt=0.0, on_conflict="unknown").conflict == 1.0


@pytest.mark.parametrize("model", ["one_coin", "class", "full"])
def test_abstentions_change_nothing(model):
    rng = np.random.default_rng(0)
    cells = rng.choice(CLASSES, size=(40, 4)).astype(object)
    longer = np.hstack([cells, np.full((40, 1), "cannot tell", dtype=object)])
    few, more = ask(cells), ask(longer)
    np.testing.assert_array_equal(few.pool(doubt=0.2).contour, more.pool(doubt=0.2).contour)
    one, other = few.reliability(model), more.reliability(model)
    np.testing.assert_allclose(one.posterior, other.posterior, atol=1e-12)
    np.testing.assert_allclose(one.accuracy, other.accuracy[:4], atol=1e-12)
    assert other.n_answers[4] == 0


def test_none_of_these_is_conflict_and_no_opinion():
    answers = ask([["a", "none of these"]])
    np.testing.assert_allclose(answers.pool(doubt=0.5).scaled(), [[1, 0.5, 0.5]])
    np.testing.assert_allclose(answers.pool(doubt=0.5).conflict, 0.5)
    with pytest.raises(TotalConflictError):
        answers.pool(doubt=0.0)


cells = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "a|b", "b|c", "cannot tell"]), min_size=2, max_size=2),
    min_size=1,
    max_size=4,
)


@settings(deadline=None)
@given(cells, st.lists(st.floats(0.01, 1.0), min_size=2, max_size=2))
def test_dempster_pooling_is_that_of_belief_functions(table, doubts):
    labels = ask(table).pool(doubt=doubts)
    sources = []
    for column, doubt in zip(zip(*table, strict=True), doubts, strict=True):
        sets = [tuple(CLASSES) if c == "cannot tell" else tuple(c.split("|")) for c in column]
        masses = masses_from_dicts([{names: 1.0} for names in sets], CLASSES)
        sources.append(discount(masses, doubt))
    expected = Labels.from_masses(combine(sources, "dempster"), CLASSES)
    np.testing.assert_allclose(labels.contour, expected.contour, atol=1e-10)
    unnormalized = combine(sources, "conjunctive")
    empty = unnormalized.values[..., unnormalized.focal_sets == 0].sum(axis=-1)
    np.testing.assert_allclose(labels.conflict, empty, atol=1e-10)


@pytest.mark.parametrize("rule", ["mean", "yager", "disjunctive", "cautious", "pcr6"])
def test_other_rules_are_those_of_belief_functions(rule):
    table = [["a", "b", None], ["a|b", "b", "c"], [None, "c", None]]
    labels = ask(table).pool(rule, doubt=0.3)
    for row, cells_of in enumerate(table):
        sets = [tuple(c.split("|")) for c in cells_of if c]
        sources = [discount(masses_from_dicts([{s: 1.0}], CLASSES), 0.3) for s in sets]
        alone = combine(sources, rule) if len(sources) > 1 else sources[0]
        expected = Labels.from_masses(alone, CLASSES)
        np.testing.assert_allclose(labels[[row]].contour, expected.contour, atol=1e-10)


@pytest.mark.parametrize("rule", ["yager", "mean", "disjunctive", "conjunctive", "cautious"])
def test_a_rule_holds_for_one_answer_as_well(rule):
    answers = Annotations.from_long(
        ["x"] * 4 + ["y"],
        ["ann"] * 4 + ["bob"],
        ["c", "a", "c|a|b", "none of these", "b"],
        mass=[0.45, 0.2, 0.05, 0.3, 1.0],
        classes=["c", "a", "b"],
    )
    labels = answers.pool(rule, doubt={"ann": 0.1, "bob": 0.25})
    # Discounting by 0.1: 0.9 of each mass, and 0.1 more to all classes.
    discounted = {"c": 0.405, "a": 0.18, "all": 0.145, "empty": 0.27}
    singles = np.array([discounted["c"], discounted["a"], 0.0]) + discounted["all"]
    wanted = singles + (discounted["empty"] if rule == "yager" else 0.0)  # left to all classes
    np.testing.assert_allclose(labels.contour[0], wanted, atol=1e-12)
    np.testing.assert_allclose(labels.contour[1], [0.25, 0.25, 1], atol=1e-12)


def test_many_classes_have_the_same_contour_without_masses():
    rng = np.random.default_rng(0)
    names = [f"k{i:02d}" for i in range(12)]
    cells_of = [
        ["|".join(rng.choice(names, size=rng.integers(1, 4), replace=False)) for _ in range(3)]
        for _ in range(5)
    ]
    table = np.array(cells_of, dtype=object)
    labels = Annotations.from_answers(table, classes=names).pool(doubt=0.2)
    expected = np.ones((5, 12))
    for i, row in enumerate(cells_of):
        for cell in row:
            inside = np.isin(names, cell.split("|"))
            expected[i] *= np.where(inside, 1.0, 0.2)
    np.testing.assert_allclose(labels.scaled(), expected / expected.max(axis=1, keepdims=True))


def test_all_shapes_of_tables_say_the_same():
    items, people = ["x", "x", "y", "y"], ["p", "q", "p", "q"]
    said = ["a", "b", "a", "a|c"]
    long = Annotations.from_long(items, people, said, classes=CLASSES)
    wide = Annotations.from_answers(
        np.array([["a", "b"], ["a", "a|c"]], dtype=object),
        classes=CLASSES,
        items=["x", "y"],
        annotators=["p", "q"],
    )
    contour = [[1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]]
    by_class = Annotations.from_classes(contour, "plausibility", CLASSES, items, people)
    rows = np.nonzero(contour)
    single = Annotations.from_long(
        np.array(items)[rows[0]],
        np.array(people)[rows[0]],
        np.array(CLASSES)[rows[1]],
        plausibility=np.ones(len(rows[0])),
        classes=CLASSES,
    )
    masses = Annotations.from_long(items, people, said, mass=np.ones(4), classes=CLASSES)
    expected = long.pool(doubt=0.1)
    for other in (wide, by_class, single, masses):
        assert other.items.tolist() == ["x", "y"]
        assert other.annotators.tolist() == ["p", "q"]
        np.testing.assert_allclose(other.pool(doubt=0.1).contour, expected.contour)


def test_numbers_in_long_tables_are_plausibilities_probabilities_or_masses():
    long = {"items": [1, 1, 1], "annotators": ["p"] * 3}
    pl = Annotations.from_long(labels=["a", "b", "c"], plausibility=[0.5, 1, 0], **long)
    np.testing.assert_allclose(pl.contours, [[0.5, 1, 0]])
    p = Annotations.from_long(labels=["a", "b", "c"], probability=[0.5, 0.25, 0.25], **long)
    np.testing.assert_allclose(p.contours, [[0.5, 0.25, 0.25]])
    np.testing.assert_allclose(p.pool(doubt=0.0).contour, [[0.5, 0.25, 0.25]])
    m = Annotations.from_long(labels=["a", "a|b", "a|b|c"], mass=[0.5, 0.3, 0.2], **long)
    np.testing.assert_allclose(m.contours, [[1.0, 0.5, 0.2]])
    part = Annotations.from_classes([[0.5, 0.3]], "mass", ["a", "b"])
    np.testing.assert_allclose(part.contours, [[0.7, 0.5]])


def test_counts_are_answers_of_people_unknown():
    counted = Annotations.from_classes([[3, 1, 0], [0, 0, 0]], "count", CLASSES)
    np.testing.assert_array_equal(counted.votes(), [[3, 1, 0], [0, 0, 0]])
    labels = counted.pool(doubt=0.5)
    np.testing.assert_allclose(labels.scaled(), [[1, 0.25, 0.125], [1, 1, 1]])


def test_doubts_of_answers_and_of_annotators_are_both_discounts():
    answers = ask([["a", "b"]], doubt=[[0.5, 0.0]])
    labels = answers.pool(doubt={0: 0.2, 1: 0.4})
    np.testing.assert_allclose(labels.scaled(), [[0.4, 0.6, 0.24]] / np.float64(0.6))
    with pytest.raises(ValueError, match="entry for each annotator"):
        answers.pool(doubt={0: 0.2})
    own = answers.pool()  # a doubt of zero is not taken at its word by default
    np.testing.assert_allclose(own.scaled()[0], [0.01, 0.5, 0.005] / np.float64(0.5))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Annotations.from_long([1, 2], ["p"], ["a", "b"]), "same length"),
        (lambda: Annotations.from_long([1, 2], ["p", None], ["a", "b"]), r"annotators.*row 1"),
        (lambda: Annotations.from_long([1], ["p"], ["ab"], classes=["a", "abb"]), "row 0.*'abb'"),
        (lambda: Annotations.from_long([1], ["p"], ["a"], doubt=[1.5]), r"\[0, 1\].*row 0"),
        (lambda: Annotations.from_long([1], ["p"], [None]), "at least one class"),
        (lambda: Annotations.from_long([1], ["p"], ["a"], mass=[1], plausibility=[1]), "one kind"),
        (lambda: Annotations.from_long([1, 1], ["p", "p"], ["a", "a|b"], mass=[0.9, 0.3]), "row 0"),
        (
            lambda: Annotations.from_long([1], ["p"], ["a|b"], plausibility=[1], classes=CLASSES),
            "one class.*row 0",
        ),
        (lambda: Annotations.from_classes([[0.5, 0.2]], "probability"), "sum to one.*row 0"),
        (lambda: Annotations.from_classes([[0.5, 0.2]], "count"), "whole numbers.*row 0"),
        (lambda: Annotations.from_classes([[0.5, 0.2]], "votes"), "kind should be"),
        (lambda: Annotations.from_answers(["a", "b"]), "column for each annotator"),
        (lambda: ask([["a", "b"]]).pool(doubt="guess"), "'fit'"),
        (lambda: ask([["a", "b"]]).pool(doubt=[0.1, 0.2, 0.3]), "2 annotators"),
        (lambda: ask([["a", "b"]]).pool(doubt=0.1, gold={0: "a"}), "doubt='fit'"),
        (lambda: ask([["a", "b"]]).pool(gold={7: "a"}), "7 is not"),
        (lambda: ask([["a", "b"]]).pool("mean", model="full"), "'dempster' only"),
    ],
)
def test_bad_tables_and_options_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def alpha_by_pairs(votes):
    """Krippendorff's alpha by its definition, pair by pair."""
    units = [np.repeat(np.arange(len(row)), row.astype(int)) for row in votes]
    units = [u for u in units if len(u) > 1]
    everyone = np.concatenate(units)
    differ = [(u[:, None] != u).sum() / (len(u) - 1) for u in units]
    observed = sum(differ) / len(everyone)
    n = len(everyone)
    expected = (everyone[:, None] != everyone).sum() / (n * (n - 1))
    return 1 - observed / expected


def test_agreement_is_that_of_its_definitions():
    rng = np.random.default_rng(0)
    votes = rng.integers(0, 4, size=(12, 3)).astype(float)
    found = agreement(votes)
    assert found.alpha == pytest.approx(alpha_by_pairs(votes))
    # Fleiss (1971), table 1 of many textbooks: 10 items, 14 raters, kappa 0.210.
    table = np.array(
        [
            [0, 0, 0, 0, 14],
            [0, 2, 6, 4, 2],
            [0, 0, 3, 5, 6],
            [0, 3, 9, 2, 0],
            [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0],
            [3, 2, 6, 3, 0],
            [2, 5, 3, 2, 2],
            [6, 5, 2, 1, 0],
            [0, 2, 2, 3, 7],
        ],
        dtype=float,
    )
    assert agreement(table).kappa == pytest.approx(0.210, abs=5e-4)
    assert np.isnan(agreement(np.eye(3)).alpha)


def test_next_items_have_few_answers_clash_or_stay_open():
    answers = ask([["a", "a", "a"], ["a", "b", "c"], ["a", None, None]])
    names = [question.item for question in answers.next_items(3, doubt=0.1)]
    assert names == [1, 2, 0]
    unsure = next_items(answers, 1, doubt=0.1, imprecision=[1.0, 0, 0], weights=(0, 0, 1))
    assert unsure[0].item == 0
    with pytest.raises(ValueError, match="3 items"):
        next_items(answers, 1, doubt=0.1, imprecision=[1.0])


@given(st.lists(st.integers(-(2**62), 2**62) | st.integers(-5, 5), min_size=1, max_size=30))
def test_numbers_are_coded_like_text(values):
    numbers, names = (
        factorize(np.array(values), "items"),
        factorize(list(map(str, values)), "items"),
    )
    np.testing.assert_array_equal(numbers.codes, names.codes)
    assert [str(name) for name in numbers.names.tolist()] == names.names.tolist()


def test_numbers_and_text_that_look_alike_are_one_name():
    mixed = Annotations.from_long(
        np.array([1, "1", 2], dtype=object), ["p"] * 3, [1, "1", "2|1"], doubt=0.1
    )
    assert mixed.classes.tolist() == ["1", "2"]
    assert mixed.items.tolist() == ["1", "2"]
    given_numbers = Annotations.from_long([1, 2, 3], ["p"] * 3, ["1", 2.0, "1|2"], classes=[1, 2])
    np.testing.assert_array_equal(given_numbers.contours, [[1, 0], [0, 1], [1, 1]])
    with pytest.raises(ValueError, match="should be different"):
        Annotations.from_long([1], ["p"], ["x"], classes=["x", "x"])


def test_cells_without_a_class_mean_the_same_beside_numbers():
    long = {"items": [1, 1, 2], "annotators": ["p", "p", "q"]}
    masses = Annotations.from_long(labels=["a", "cannot tell", "b"], mass=[0.5, 0.5, 1.0], **long)
    np.testing.assert_allclose(sorted(masses.contours.tolist()), [[0, 1], [1, 0.5]])
    empty = Annotations.from_long(labels=["a", "none of these", "b"], mass=[0.5, 0.5, 1], **long)
    np.testing.assert_allclose(sorted(empty.contours.tolist()), [[0, 1], [0.5, 0]])
    degrees = Annotations.from_long(labels=["a", "b", "?"], plausibility=[0.5, 1, 1], **long)
    np.testing.assert_allclose(sorted(degrees.contours.tolist()), [[0.5, 1], [1, 1]])
    with pytest.raises(ValueError, match=r"repeats one in 1 row \(row 1\)"):
        Annotations.from_long(labels=["a", "a", "b"], plausibility=[0.5, 1, 1], **long)


def test_hard_answers_have_exact_conflict_whatever_else_was_said():
    for n_classes in (8, 9, 12):
        names = [f"c{k:02d}" for k in range(n_classes)]
        answers = Annotations.from_long(
            [0, 0, 1, 1], [0, 1, 0, 1], ["c00", "c01", "c00", "c01|c02"], classes=names
        )
        labels = answers.pool(doubt=0.3)
        assert labels.conflict[0] == pytest.approx(0.49)
        assert labels.conflict[1] >= 0.49 - 1e-12


def test_many_answers_do_not_overflow():
    said = ["a|c"] * 400 + ["b"] * 400
    labels = Annotations.from_long([0] * 800, range(800), said).pool(doubt=0.1)
    assert labels.conflict[0] == pytest.approx(1.0)
    np.testing.assert_allclose(labels.scaled(), [[1, 1, 1]])


def test_one_class_is_certain():
    labels = Annotations.from_answers([["x", "x"], ["x", None]]).pool()
    np.testing.assert_allclose(labels.contour, 1.0)
    np.testing.assert_allclose(labels.conflict, 0.0, atol=1e-12)


def test_options_are_not_passed_over():
    answers = ask([["a", "b"]], doubt=0.1)
    with pytest.raises(TypeError, match="modle"):
        answers.pool(modle="full")
    with pytest.raises(ValueError, match="is not"):
        answers.pool(gold={"nonsense": "a"})


def test_tables_are_taken_back_as_the_same_answers():
    answers = Annotations.from_long(
        ["x", "x", "y", "y", "z"],
        ["ann", "bob", "ann", "cy", "cy"],
        ["m", "m|b", "cannot tell", "none of these", "b"],
        classes=["m", "b", "k"],
        doubt=[0.1, 0.0, 0.3, 0.2, 0.4],
    )
    table = answers.to_table()
    assert table["label"] == ["m", "m|b", "cannot tell", "none of these", "b"]
    again = Annotations.from_long(
        table["item"], table["annotator"], table["label"], doubt=table["doubt"],
        classes=["m", "b", "k"],
    )  # fmt: skip
    np.testing.assert_array_equal(
        again.contours[again.statement], answers.contours[answers.statement]
    )
    np.testing.assert_array_equal(again.doubt, answers.doubt)
    degrees = Annotations.from_long(
        [1, 1, 1], ["ann", "ann", "bob"], ["k", "m", "m"], plausibility=[1.0, 0.3, 1.0]
    )
    table = degrees.to_table()
    again = Annotations.from_long(
        table["item"], table["annotator"], table["label"], plausibility=table["plausibility"]
    )
    np.testing.assert_array_equal(again.contours, degrees.contours)


def test_appended_answers_are_those_of_both():
    first = Annotations.from_long(["x", "y"], ["ann", "bob"], ["m", "b"])
    second = Annotations.from_long(["y", "z"], ["ann", "cy"], ["k", "m"])
    both = first.append(second)
    assert len(both) == 4
    expected = Annotations.concatenate([first, second])
    np.testing.assert_array_equal(both.votes(), expected.votes())
    assert both.append().items.tolist() == both.items.tolist()


def test_words_count_by_their_order_and_by_what_gold_shows():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=600)
    word = rng.integers(3, size=600)
    right = rng.random(600) < np.array([0.9, 0.6, 0.4])[word]
    said = np.where(right, truth, (truth + rng.integers(1, 3, size=600)) % 3)
    words = np.array(["sure", "rather", "guess"])
    columns = np.arange(600), ["ann"] * 600, said, words[word]
    order = ["sure", "rather", "guess"]
    plain = Annotations.from_words(*columns, order=order)
    np.testing.assert_allclose(plain.doubt, np.array([0.2, 0.4, 0.7])[word])
    gold = dict(enumerate(truth.tolist()))
    taught = Annotations.from_words(*columns, order=order, gold=gold)
    beyond_luck = (np.array([right[word == k].mean() for k in range(3)]) - 1 / 3) * 3 / 2
    np.testing.assert_allclose(1 - taught.doubt, beyond_luck[word], atol=0.03)
    with pytest.raises(ValueError, match="different words of certainty"):
        Annotations.from_words(*columns, order=["sure", "Sure"])
    with pytest.raises(ValueError, match="guess"):
        Annotations.from_words(*columns, order=["sure", "rather"])


@pytest.mark.parametrize("repeats", ["all", "once", "first", "last"])
def test_repeated_answers_are_the_same_when_they_are_looked_for_meanwhile(repeats, monkeypatch):
    rng = np.random.default_rng(5)
    items, people = (
        rng.integers(0, 30, 200),
        np.array(["bob", "ann", "cy"])[rng.integers(0, 3, 200)],
    )
    said = np.array(["dog", "cat", "eel|cat"])[rng.integers(0, 3, 200)]
    doubt = rng.integers(0, 3, 200) / 4

    def read():
        made = Annotations.from_long(items, people, said, doubt=doubt, repeats=repeats)
        return made.notes, made.item.tolist(), made.annotator.tolist(), made.doubt.tolist()

    expected = read()
    monkeypatch.setattr("plausible.experts.repeats.MANY", 0)
    assert read() == expected
    pairs = list(zip(items.tolist(), people.tolist(), strict=True))
    if repeats in ("first", "last"):
        assert len(expected[1]) == len(set(pairs)) < len(pairs)


def test_places_of_answers_beyond_their_names_are_refused():
    for item in ([0, 2], [0, -1], np.array([0, -1], np.int32), np.array([2, 0], ">i8")):
        with pytest.raises(InputError, match="from 0 to 1"):
            Annotations(["x", "y"], ["a"], ["k"], np.array(item), [0, 0], [0, 0], [[1.0]])
    with pytest.raises(InputError, match="from 0 to -1"):
        Annotations([], ["a"], ["k"], [0], [0], [0], [[1.0]])


@given(st.lists(st.text(st.sampled_from("aAbB7 \t"), max_size=18), min_size=1), st.booleans())
def test_quick_looks_at_many_names_tell_what_a_look_at_each_does(names, is_foreign):
    names = [*dict.fromkeys(names), *["\u00e9"] * is_foreign]
    letters = letters_of(np.array(names))
    has_blanks = names != [name.strip() for name in names]
    assert may_have_blanks(letters) == (has_blanks or is_foreign)
    is_alike = len({name.casefold() for name in names}) < len(names)
    assert may_differ_by_case(letters) == (is_alike or is_foreign)
