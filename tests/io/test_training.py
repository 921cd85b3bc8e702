"""Features and what is known about their rows: matched by item, in any order and type."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.io import (
    Features,
    TableError,
    read_features,
    read_known,
    read_new,
    read_training,
    stream_training,
)
from plausible.labels import Labels


@given(st.permutations(range(6)), st.permutations(range(6)), st.integers(1, 6))
def test_rows_go_with_their_items(order, said, n_said):
    features = {"item": [f"i{k}" for k in order], "value": [float(k) for k in order]}
    labeled = list(said)[:n_said]
    known = {"item": [f"i{k}" for k in labeled], "label": [f"c{k % 2}" for k in labeled]}
    found = read_training(known, features, classes=["c0", "c1"])
    assert found.X[found.rows, 0].tolist() == labeled
    expected = Labels.from_crisp([f"c{k % 2}" for k in labeled], classes=["c0", "c1"])
    assert found.labels[found.rows] == expected
    rest = np.setdiff1d(np.arange(6), found.rows)
    assert (found.labels.informativeness[rest] == 0).all()
    assert found.items.tolist() == features["item"]
    assert found.known.items.tolist() == known["item"]
    assert any("no label" in note for note in found.notes) == (n_said < 6)


@pytest.mark.parametrize("known", [[1, 2], ["1", "2"], [1.0, 2.0]])
@pytest.mark.parametrize("features", [[2, 1], ["2", "1"], [2.0, 1.0]])
def test_numbers_and_their_text_are_one_item(known, features):
    labels = {"item": known, "label": ["a", "b"]}
    found = read_training(labels, {"item": features, "x": [0.5, 1.5]})
    assert found.rows.tolist() == [1, 0]


def test_how_items_are_found():
    labels = {"item": ["p", "q"], "label": ["a", "b"]}
    by_content = {"x": [1.0, 2.0], "photo": ["q", "p"]}
    found = read_training(labels, by_content)
    assert (found.names, found.rows.tolist()) == (["x"], [1, 0])
    found = read_training({"item": [1, 0], "label": ["a", "b"]}, {"x": [1.0, 2.0, 3.0]}, id="row")
    assert (found.rows.tolist(), found.items.tolist()) == ([1, 0], [0, 1, 2])
    in_order = read_training({"label": ["a", "b"]}, {"item": ["p", "q"], "x": [1.0, 2.0]})
    assert (in_order.names, in_order.items.tolist()) == (["x"], ["p", "q"])


def test_errors_of_matching():
    labels = {"item": ["p", "q"], "label": ["a", "b"]}
    for known, features, options, words in [
        (labels, {"item": ["p"], "x": [1.0]}, {}, "1 item of 2 has none (q)"),
        (labels, {"photo": ["p"], "x": [1.0]}, {}, "should hold all items (p, q), but none does"),
        (labels, {"x": [1.0]}, {}, "add a column with the items"),
        ({"item": [0, 5], "label": ["a", "b"]}, {"x": [1.0, 2.0]}, {}, "say id='row' if"),
        (
            {"item": [0, 5], "label": ["a", "b"]},
            {"x": [1.0, 2.0]},
            {"id": "row0"},
            "1 item of 2 has none (5)",
        ),
        ({"label": ["a", "b"]}, {"x": [1.0]}, {}, "there are 2 labels and 1 rows"),
        (labels, {"item": ["p", "q"], "x": [1.0, None]}, {}, "(row 2, column 'x')"),
        (labels, {"item": ["p", "q"], "x": [1.0, 2.0]}, {"columns": ["y"]}, "have a column 'y'"),
        (labels, {"item": ["p", "p"], "x": [1.0, 2.0]}, {}, "repeats 'p'"),
    ]:
        with pytest.raises(TableError, match=re.escape(words)):
            read_training(known, features, **options)


def test_features_of_items():
    features = read_features({"item": [3, 1, 2], "x": [30.0, 10.0, 20.0]}, id="item")
    assert features.of(["1", 2, 3.0, "1"]).tolist() == [[10.0], [20.0], [30.0], [10.0]]
    assert features.of([]).shape == (0, 1)
    with pytest.raises(ValueError, match=r"1 item has none \(4\)"):
        features.of([1, 4])
    with pytest.raises(ValueError, match=r"name the column with read_features\(\.\.\., id=\)"):
        Features(features.X, features.names, None).of([1])


def test_new_items_in_the_order_of_the_model():
    table = {"b": [2.0], "note": ["?"], "item": ["i"], "a": [1.0]}
    new = read_new(table, ["a", "b"])
    assert (new.X.tolist(), new.names, new.ids.tolist()) == ([[1.0, 2.0]], ["a", "b"], ["i"])
    assert read_new({"a": [1.0], "b": [2.0]}, None, 2).ids is None
    assert read_new({"a": [1.0], "who": ["i"]}, ["a"], id="who").ids.tolist() == ["i"]
    assert read_new({"id": [5.0], "x": [1.0]}, ["id", "x"]).X.tolist() == [[5.0, 1.0]]
    for source, names, count, words in [
        ({"a": [1.0]}, ["a", "b"], 2, "lacks 'b'; its columns are 'a'"),
        ({"a": [1.0], "b": [1.0]}, None, 3, "the 3 features that the model has learned, but has 2"),
    ]:
        with pytest.raises(TableError, match=words):
            read_new(source, names, count)


LABELS = {"Bild": ["c", "a", "b"], "label": ["cat", "dog", "dog"]}
FEATURES = {"Bild": ["a", "b", "c"], "length": [1.0, 2.0, 3.0]}


@pytest.mark.parametrize("given", [{}, {"id": "Bild"}, {"names": {"item": "Bild"}}])
def test_a_column_of_text_that_both_tables_have_names_the_items(given):
    found = read_training(LABELS, FEATURES, **given)
    assert found.id == "Bild"
    assert found.labels.crisp().tolist() == ["dog", "dog", "cat"]
    assert "matched by 'Bild'" in found.notes[-1]


def test_numbers_that_both_tables_have_are_no_names():
    both = {"length": [1.0, 2.0], "label": ["cat", "dog"]}
    found = read_training(both, both, columns=["length"])
    assert found.id is None
    assert found.labels.crisp().tolist() == ["cat", "dog"]


def test_an_id_that_what_is_known_does_not_have_is_refused():
    labels = {"label": ["cat", "dog", "dog"]}
    with pytest.raises(TableError, match=r"should have a column of items to be matched by 'Bild'"):
        read_training(labels, FEATURES, id="Bild")


def test_who_is_surer_than_right_is_hinted_at():
    rows = [(item, who, "ab"[who == "liar"], 0.05) for item in range(4) for who in ("x", "liar")]
    item, who, said, doubt = map(list, zip(*rows, strict=True))
    answers = {"item": item, "annotator": who, "label": said, "doubt": doubt}
    hint = "somebody may be surer than right"
    assert any(hint in note for note in read_known(answers).notes)
    assert not any(hint in note for note in read_known(answers, doubt="fit").notes)


def test_numbers_that_are_none_are_missing_in_pieces_too():
    labels = {"label": ["wren", "finch", "wren", "robin"]}
    features = {"length": [1.0, np.nan, 3.0, 4.0], "width": [2.5, 1.0, 0.5, 7.0]}
    pieces = stream_training(labels, features, kinds="any", form="labels").reader.raw_chunks(0, 4)
    (X, found), *rest = pieces
    whole = read_training(labels, features, kinds="any", form="labels")
    assert not rest
    for name in features:
        np.testing.assert_array_equal(X[name], whole.X[name])
    np.testing.assert_array_equal(found.contour, whole.labels.contour)
    with pytest.raises(TableError, match="row 2"):
        list(stream_training(labels, features, form="labels").reader.raw_chunks(0, 4))
