import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from plausible import belief
from plausible.labels import ApproximationWarning, Labels, MinusOneWarning, as_labels

CLASSES = ["a", "b", "c"]
# Vannoorenberghe, table I: hard, imprecise, probabilistic and possibilistic label.
TABLE_I = {
    "hard": ({("b",): 1.0}, [0, 1, 0]),
    "imprecise": ({("a", "b"): 1.0}, [1, 1, 0]),
    "probabilistic": ({("a",): 0.2, ("b",): 0.6, ("c",): 0.2}, [0.2, 0.6, 0.2]),
    "possibilistic": ({("c",): 0.7, ("a", "c"): 0.2, ("a", "b", "c"): 0.1}, [0.3, 0.1, 1]),
}

contours = st.lists(
    st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(any), min_size=1, max_size=6
).map(np.array)


@pytest.mark.parametrize("kind", TABLE_I)
def test_table_1(kind):
    masses, contour = TABLE_I[kind]
    labels = Labels.from_masses([masses], CLASSES)
    np.testing.assert_allclose(labels.contour, [contour])
    direct = {
        "hard": lambda: Labels.from_crisp(["b"], CLASSES),
        "imprecise": lambda: Labels.from_sets([{"a", "b"}], CLASSES),
        "probabilistic": lambda: Labels.from_probability([contour], CLASSES),
        "possibilistic": lambda: Labels.from_masses(belief.consonant([contour]), CLASSES),
    }[kind]()
    np.testing.assert_allclose(direct.contour, labels.contour)
    assert (direct == labels) == (kind != "probabilistic")  # the one is a share, the other evidence
    assert direct.masses().to_dicts(CLASSES)[0] == pytest.approx(masses)


def test_hard_labels_and_what_is_missing():
    labels = Labels.from_crisp(["b", None, "a", "b"], missing=None)
    np.testing.assert_array_equal(labels.contour, [[0, 1], [1, 1], [1, 0], [0, 1]])
    np.testing.assert_array_equal(labels.crisp(), ["b", "", "a", "b"])
    for y, missing in (
        ([1.0, np.nan, 0.0], np.nan),
        ([1, -1, 0], -1),
        (["1", "", "0"], ""),
        ([1, None, 0], [None, -1]),
    ):
        labels = Labels.from_crisp(y, missing=missing)
        np.testing.assert_array_equal(labels.is_unknown, [False, True, False])
        np.testing.assert_array_equal(labels.contour, [[0, 1], [1, 1], [1, 0]])


def test_unknown_rows_differ_from_a_class_minus_one():
    labels = Labels.from_sets([{-1}, {1}, {-1, 1}])
    np.testing.assert_array_equal(labels.crisp(), [-1, 1, -2])


def test_columns_of_data_frames():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    for column in (
        pandas.Series(["a", None, "b"]),
        pandas.Series(["a", pandas.NA, "b"], dtype="string"),
        polars.Series(["a", None, "b"]),
        pandas.Series([{"a"}, {"a", "b"}, {"b"}]),
    ):
        np.testing.assert_array_equal(as_labels(column).contour, [[1, 0], [1, 1], [0, 1]])
    table = pandas.DataFrame({"x": [1.0, 0.2], "y": [0.5, 1.0]})
    assert as_labels(table).classes.tolist() == ["x", "y"]
    again = pandas.DataFrame(as_labels(table).to_dict())
    pandas.testing.assert_frame_equal(again, table)
    assert polars.DataFrame({str(k): v for k, v in as_labels(table).to_dict().items()}).shape == (
        2,
        2,
    )


def test_minus_one_is_a_class_unless_it_is_said_to_be_missing():
    np.testing.assert_array_equal(Labels.from_crisp([-1, 1]).classes, [-1, 1])
    np.testing.assert_array_equal(Labels.from_crisp([-1, 1, 2], missing=-1).classes, [1, 2])


@given(st.lists(st.sampled_from(CLASSES), min_size=1), st.floats(0, 1))
def test_one_knowledge_in_many_kinds(y, doubt):
    labels = Labels.from_doubt(y, doubt, CLASSES)
    table = np.full((len(y), 3), doubt)
    table[np.arange(len(y)), [CLASSES.index(name) for name in y]] = 1.0
    assert labels == Labels.from_plausibility(table, CLASSES)
    masses = [{(name,): 1 - doubt, ("a", "b", "c"): doubt} for name in y]
    assert labels == Labels.from_masses(masses, CLASSES)
    assert labels == Labels.from_masses(labels.masses().to_dense(), CLASSES)
    if doubt == 0:
        assert labels == Labels.from_sets([{name} for name in y], CLASSES)


@given(contours)
def test_contours_survive_masses(contour):
    labels = Labels.from_plausibility(contour, CLASSES)
    with pytest.warns(ApproximationWarning, match="least committed"):
        masses = labels.masses()
    assert not labels.has_masses
    np.testing.assert_allclose(belief.contour(masses), contour, atol=1e-12)
    np.testing.assert_allclose(Labels.from_masses(masses).contour, contour, atol=1e-12)


@given(contours, st.data())
def test_indexing_agrees_with_numpy(contour, data):
    labels = Labels.from_plausibility(contour, CLASSES)
    n = len(contour)
    rows = data.draw(st.lists(st.integers(-n, n - 1)))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    for key in (rows, mask, slice(1, None, 2), np.array(rows, dtype=int)):
        np.testing.assert_array_equal(labels[key].contour, contour[key])
    np.testing.assert_array_equal(labels[mask, ...].contour, contour[mask])
    np.testing.assert_array_equal(labels[0].contour, contour[:1])
    assert labels[:] == labels


@given(contours, contours)
def test_concatenating_and_pickling(first, second):
    a, b = (Labels.from_plausibility(table, CLASSES) for table in (first, second))
    both = Labels.concatenate([a, b.reorder(["c", "a", "b"])])
    np.testing.assert_array_equal(both.contour, np.concatenate([first, second]))
    assert both[: len(a)] == a
    assert pickle.loads(pickle.dumps(both)) == both
    assert not pickle.loads(pickle.dumps(both)).contour.flags.writeable


def test_masses_follow_every_operation():
    dicts = [TABLE_I[kind][0] for kind in TABLE_I]
    labels = Labels.from_masses(dicts, CLASSES)
    dense = labels.masses().to_dense()
    picked = labels[[3, 1]]
    np.testing.assert_array_equal(picked.masses().to_dense(), dense[[3, 1]])
    doubted = labels.discount([0.1, 0.2, 0.3, 0.4])
    expected = belief.discount(dense, [0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(doubted.masses().to_dense(), expected)
    np.testing.assert_allclose(doubted.contour, belief.contour(expected))
    turned = labels.reorder(["c", "b", "a"])
    assert turned.masses().to_dicts(["c", "b", "a"])[3] == pytest.approx(
        {("c",): 0.7, ("c", "a"): 0.2, ("c", "b", "a"): 0.1}
    )
    np.testing.assert_allclose(turned.contour, belief.contour(turned.masses()))
    both = Labels.concatenate([labels, Labels.from_crisp(["a"], CLASSES)])
    assert both.has_masses
    np.testing.assert_allclose(belief.contour(both.masses()), both.contour)
    assert labels.rename({"a": "x"}).masses().to_dicts(["x", "b", "c"])[0] == {("b",): 1.0}
    known = labels[3:].condition(["a", "b"])
    np.testing.assert_allclose(known.contour, [[0.3, 0.1, 0]])
    np.testing.assert_allclose(belief.contour(known.masses()), known.contour)


def test_equality_sees_classes_contours_and_masses():
    y = Labels.from_crisp(["a", "b"])
    assert y == Labels.from_crisp(["a", "b"])
    assert y != Labels.from_crisp(["b", "a"])
    assert y != Labels.from_crisp(["a", "b"]).rename(["a", "c"])
    assert y != y[:1]
    assert y != "ab"
    # The same contour (1, 1) from nothing known and from a torn mass function.
    torn = Labels.from_masses([{("a",): 0.0, ("a", "b"): 1.0}], "ab")
    assert torn == Labels.unknown(1, ["a", "b"])
    probable = Labels.from_probability([[0.5, 0.5]])
    assert probable != Labels.from_masses(belief.consonant([[0.5, 0.5]]))
    assert probable != Labels.from_plausibility([[0.5, 0.5]])  # a share, and a likelihood
    assert Labels.from_masses(belief.consonant([[0.5, 0.5]])) == Labels.from_plausibility(
        [[0.5, 0.5]]
    )  # which knows no masses


def test_degrees_in_words():
    labels = Labels.from_plausibility([[1, 0, 0], [1, 1, 0], [1, 0.4, 0.4], [0.5, 0.5, 0.5]])
    np.testing.assert_allclose(labels.informativeness, [1, 1, 0.6, 0])
    np.testing.assert_allclose(labels.imprecision, [0, 0.5, 0.4, 1])
    np.testing.assert_array_equal(labels.is_unknown, [False, False, False, True])
    np.testing.assert_array_equal(labels.crisp(), [0, 0, 0, -1])
    assert repr(labels) == "<Labels: 4 items, classes [0, 1, 2]; 1 hard, 1 unknown>"


def test_of_very_many_classes_the_first_are_shown():
    labels = Labels.unknown(3, [f"c{k:05}" for k in range(20_000)])
    assert "'c00009', ...] (20000 in all)" in repr(labels)
    assert len(repr(labels)) < 300
    page = labels._repr_html_()
    assert "c00000" in page
    assert "c00010" not in page
    assert "20,000 classes" in page
    assert len(page) < 10_000
    assert "['c0', 'c1', 'c2']" in repr(Labels.unknown(1, ["c0", "c1", "c2"]))


def test_reordering_adds_and_drops_classes():
    labels = Labels.from_doubt(["a", "b", None], [0, 0.2, 0], missing=None)
    wider = labels.reorder(["b", "a", "z"])
    np.testing.assert_allclose(wider.contour, [[0, 1, 0], [1, 0.2, 0.2], [1, 1, 1]])
    assert wider[:1].reorder(["a", "b"]) == labels[:1]
    with pytest.raises(ValueError, match=r"one of \['z'\] is possible in 2 rows \(rows 1, 2\)"):
        wider.reorder(["a", "b"])


def test_only_sensible_keys():
    labels = Labels.from_crisp(["a", "b"])
    assert labels[np.array(1)] == labels[1:]
    for key in (None, (0, 1), [[0, 1]], ()):
        with pytest.raises(IndexError, match="indexed by a position, a slice"):
            labels[key]


def test_nobody_else_can_write_into_labels():
    table = np.array([[0.2, 0.8], [0.5, 0.5]])
    labels = Labels.from_probability(table)
    sparse = belief.bayesian(table)
    from_masses = Labels.from_masses(sparse)
    table[:] = sparse.values[:] = [1, 0]
    for one in (labels, from_masses):
        np.testing.assert_array_equal(one.contour, [[0.2, 0.8], [0.5, 0.5]])
        np.testing.assert_array_equal(one.masses().values, one.contour)
        with pytest.raises(ValueError, match="read-only"):
            one.masses().values[0] = 1


def test_tables_of_sets_and_names_of_columns():
    expected = Labels.from_sets([{0}, {0, 1}])
    assert Labels.from_sets([[True, False], [True, True]]) == expected
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [True, True], "y": [False, True]})
    assert Labels.from_sets(frame) == expected.rename(["x", "y"])
    assert Labels.from_plausibility(frame.astype(float)).classes.tolist() == ["x", "y"]
    column = pandas.DataFrame({"target": ["a", "b"]})
    with pytest.warns(DataConversionWarning):
        assert as_labels(column) == Labels.from_crisp(["a", "b"])


def test_to_dict_has_a_column_for_each_class():
    assert {k: v.tolist() for k, v in Labels.from_crisp([2, 1]).to_dict().items()} == {
        1: [0.0, 1.0],
        2: [1.0, 0.0],
    }


def test_the_door_takes_all_kinds():
    expected = Labels.from_crisp(["a", "b", "a"])
    table = expected.contour
    for y in (
        ["a", "b", "a"],
        np.array(["a", "b", "a"]),
        np.array(["a", "b", "a"], dtype=object),
        [{"a"}, {"b"}, {"a"}],
        np.array([{"a"}, frozenset("b"), {"a"}], dtype=object),
        expected,
    ):
        assert as_labels(y) == expected
    for y in (table, table.tolist(), table == 1):
        assert as_labels(y, classes=["a", "b"]) == expected
    assert as_labels(["a", None, "b"]).is_unknown.tolist() == [False, True, False]
    assert as_labels([0.0, np.nan, 1.0]).is_unknown.tolist() == [False, True, False]
    assert as_labels(["a", "", "b"]).is_unknown.tolist() == [False, True, False]
    assert as_labels(expected, classes=["b", "a"]) == expected.reorder(["b", "a"])


def test_more_classes_than_a_mass_function_can_have():
    labels = Labels.from_crisp(np.arange(100))
    assert labels.n_classes == 100
    assert Labels.from_probability(np.full((2, 100), 0.01)).is_unknown.all()


BAD = {
    "nan": (lambda: Labels.from_plausibility([[1, 0], [np.nan, 1]]), r"nan .* 1 row \(row 1\)"),
    "negative": (lambda: Labels.from_plausibility([[1, 0], [-0.1, 1]]), r"-0.1 .* \(row 1\)"),
    "above one": (lambda: Labels.from_plausibility([[1, 30]]), "divide each row by its maximum"),
    "impossible": (
        lambda: Labels.from_plausibility([[1, 0], [0, 0], [0, 0]]),
        r"a possible class, but there is none in 2 rows \(rows 1, 2\); give at least one class",
    ),
    "empty set": (lambda: Labels.from_sets([{"a"}, set()]), r"none in 1 row \(row 1\)"),
    "no class": (lambda: Labels.from_sets([]), "at least one class"),
    "string": (lambda: Labels.from_sets(["a", "b"]), "row 0 is 'a'; write {'a'}"),
    "number": (lambda: Labels.from_sets([1, 2]), "row 0 is 1; write {1}"),
    "unknown class": (lambda: Labels.from_sets([{"a"}, {"z"}], ["a"]), "row 1 holds 'z'"),
    "unknown label": (
        lambda: Labels.from_crisp(["a", "z", "z"], classes=["a", "b"]),
        r"\['a', 'b'\], but 'z' was found in 2 rows \(rows 1, 2\); correct them, or add",
    ),
    "mixed": (lambda: Labels.from_crisp(["a", 1]), "all numbers or all strings, but came as"),
    "mixed classes": (lambda: Labels.unknown(1, ["a", 1]), "all numbers or all strings"),
    "repeated": (lambda: Labels.unknown(1, ["a", "a"]), "'a' is repeated"),
    "undeclared None": (
        lambda: Labels.from_crisp(["a", None]),
        r"None was found in 1 row \(row 1\); say missing=None if",
    ),
    "undeclared nan": (lambda: Labels.from_crisp([1.0, np.nan]), "say missing=None"),
    "undeclared empty": (lambda: Labels.from_crisp(["a", ""]), "say missing=''"),
    "one class and missing": (
        lambda: as_labels(["a", None]),
        r"two classes to choose from, but only 'a' occurs, .* in 1 row \(row 1\)",
    ),
    "masked": (lambda: Labels.from_crisp(np.ma.array([1, 2], mask=[0, 1])), "a masked array came"),
    "numbers for sets": (lambda: Labels.from_sets(np.eye(2)), "should hold True and False"),
    "mapping for a set": (lambda: Labels.from_sets([{"a": 0.9}]), "is a mapping; use from_masses"),
    "empty name": (lambda: Labels.unknown(1, ["", "a"]), "one is empty, NaN or infinite"),
    "n classes": (lambda: Labels.unknown(1, 3), "a list of names, but 3 was given"),
    "negative n": (lambda: Labels.unknown(-1, ["a"]), "0 or more, but -1"),
    "a string": (lambda: as_labels("abc"), "but str was given; make a list"),
    "condition on strangers": (
        lambda: Labels.from_crisp(["a", "b"]).condition(["a", "z"]),
        r"among \['a', 'b'\], but 'z' is not",
    ),
    "concatenate one": (lambda: Labels.concatenate(Labels.unknown(1, "ab")), "write Labels.conc"),
    "masses of others": (
        lambda: Labels([[1, 0]], "ab", belief.categorical([1, 2], 3)),
        r"1 items on a frame of 2 classes, but have shape \(2, 2\) on 3",
    ),
    "all missing": (lambda: Labels.from_crisp([-1, -1], missing=-1), "say which classes"),
    "two-dimensional": (lambda: Labels.from_crisp([[1, 2]]), r"one-dimensional, but .*\(1, 2\)"),
    "wrong width": (
        lambda: Labels.from_plausibility([[1, 0]], classes=["a"]),
        r"each of the 1 classes, but have shape \(1, 2\)",
    ),
    "probabilities": (
        lambda: Labels.from_probability([[0.5, 0.5], [0.5, 0.4]]),
        r"probabilities should sum to one, .* 0.9 .* \(row 1\); divide",
    ),
    "doubt": (lambda: Labels.from_doubt(["a", "b"], 1.5), r"doubt should lie in \[0, 1\], .* 1.5"),
    "doubt length": (
        lambda: Labels.from_doubt(["a", "b"], [0.1] * 3),
        r"each of the 2 items, but has shape \(3,\)",
    ),
    "one mass function": (lambda: Labels.from_masses([0, 0.5, 0, 0.5]), "write .masses. for a"),
    "condition": (
        lambda: Labels.from_crisp(["a", "b"]).condition(["b"]),
        r"none is in 1 row \(row 0\); discount",
    ),
    "rename": (lambda: Labels.from_crisp(["a"]).rename({"z": "y"}), "but names 'z'"),
    "concatenate": (
        lambda: Labels.concatenate([Labels.unknown(1, ["a"]), Labels.unknown(1, ["b"])]),
        r"group 0 has \['a'\] and group 1 has \['b'\]; bring them",
    ),
    "nothing to concatenate": (lambda: Labels.concatenate([]), "at least one group"),
    "y is None": (lambda: as_labels(None), "y is None; give Labels.unknown"),
    "ragged": (lambda: as_labels([["a"], ["a", "b"]]), "curly brackets"),
    "names in a table": (lambda: as_labels([["a", "b"], ["b", "a"]]), "curly brackets"),
    "infinite": (lambda: as_labels([1.0, np.inf]), "infinity"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence_with_rows_and_remedy(case):
    call, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        call()


def test_no_rows():
    labels = Labels.from_plausibility(np.empty((0, 2)))
    assert len(labels) == 0
    assert labels.crisp().shape == (0,)
    assert len(Labels.concatenate([labels, Labels.unknown(2, [0, 1])])) == 2


def test_conflict_stays_with_its_rows():
    masses = belief.categorical([1, 2, 3], 2)
    labels = Labels.from_masses(masses, conflict=[0.1, 0.2, 0.3])
    np.testing.assert_array_equal(labels[[2, 0]].conflict, [0.3, 0.1])
    both = Labels.concatenate([labels[:1], labels[1:]])
    np.testing.assert_array_equal(both.conflict, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(labels.discount(0.5).conflict, labels.conflict)
    assert Labels.concatenate([labels, Labels.unknown(1, [0, 1])]).conflict is None
    with pytest.raises(ValueError, match=r"each of the 3 items, but has shape \(2,\)"):
        Labels.from_masses(masses, conflict=[0.1, 0.2])


def test_one_class_is_always_known():
    labels = Labels.from_crisp(["a", "a"])
    assert not labels.is_unknown.any()
    np.testing.assert_array_equal(labels.informativeness, [1, 1])
    np.testing.assert_array_equal(labels.imprecision, [0, 0])
    np.testing.assert_array_equal(labels.crisp(), ["a", "a"])


def test_labels_cannot_be_an_array_without_a_copy():
    with pytest.raises(ValueError, match="without copying"):
        np.array(Labels.from_crisp([1, 2]), copy=False)


def test_sparse_matrices_are_refused():
    from scipy.sparse import csr_array

    with pytest.raises(ValueError, match="a sparse matrix was given; use y.toarray"):
        as_labels(csr_array(np.eye(2)))


def test_labels_pickled_when_they_were_five_classes_still_load():
    saved = (Path(__file__).parent / "saved" / "labels.pickle").read_bytes()
    masses, degrees = pickle.loads(saved)
    given = [{("b",): 0.5, ("a", "c"): 0.3, ("a", "b", "c"): 0.2}, {("c",): 1.0}]
    assert masses == Labels.from_masses(given, classes=["c", "a", "b"])
    assert masses.has_masses
    np.testing.assert_array_equal(masses.conflict, [0.25, 0.0])
    assert degrees == Labels.from_plausibility([[1, 0.4, 0.2], [1, 1, 1]], classes=[3, 1, 2])
    assert not degrees.has_masses
    assert not degrees.contour.flags.writeable
    np.testing.assert_array_equal(degrees.crisp(), [3, -1])


@pytest.mark.parametrize(
    "y", [[0, 1, 2, -1], [1, 2, -1, 2], [0.0, -1.0, 1.0], np.array([-1, 1, 2])]
)
def test_minus_one_beside_classes_is_told(y):
    with pytest.warns(MinusOneWarning, match="say missing=-1") as caught:
        labels = Labels.from_crisp(y)
    assert -1 in labels.classes.tolist()
    assert len(caught) == 1
    with pytest.warns(MinusOneWarning):
        as_labels(y)
    assert -1 not in Labels.from_crisp(y, missing=-1).classes.tolist()  # which says what is meant


@pytest.mark.parametrize(
    "y", [[-1, 1, 1], [-1, -1], ["-1", "0", "1"], [-2, -1, 0, 1], [-1, 0.5, 2]]
)
def test_minus_one_that_can_be_a_class_is_none_of_our_business(y):
    Labels.from_crisp(y)  # warnings are errors
    Labels.from_crisp([-1, 0, 1], classes=[-1, 0, 1])


@pytest.mark.parametrize("mark", ["nan", "None", "<NA>", "?", "not sure"])
def test_what_becomes_of_missing_values_as_text_is_told(mark):
    names = ["cat", "dog", mark, "eel"]
    with pytest.warns(MinusOneWarning, match=re.escape(f"say missing={mark!r}")):
        assert Labels.from_crisp(names).n_classes == 4
    assert Labels.from_crisp(names, missing=mark).classes.tolist() == ["cat", "dog", "eel"]
    assert Labels.from_crisp(names, classes=names).n_classes == 4
    assert Labels.from_crisp(["cat", mark]).n_classes == 2  # one of two may be a class


def test_counts_are_told_apart_from_plausibilities():
    counts = np.array([[3, 2], [0, 5]])
    with pytest.raises(ValueError, match=r"Labels.from_probability\(y / y.sum") as caught:
        as_labels(counts)
    assert "counts or percentages" in str(caught.value)
    labels = Labels.from_probability(counts / counts.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(labels.contour, [[0.6, 0.4], [0.0, 1.0]])
    with pytest.raises(ValueError, match="correct them"):
        as_labels(np.array([[-0.5, 1.0], [0.5, 1.0]]))
