"""Row names without a name, answers within records, and lists within cells: read, or refused."""

import io
import json

import numpy as np
import pyarrow as pa
import pytest

from plausible.io import read_annotations, read_features, read_known, read_training
from plausible.tables import TableError, open_table, stream_table

SAID = {
    7: {"ann": "cat", "bob": "dog", "cy": "cat"},
    3: {"bob": "dog"},
    5: {"cy": "eel", "ann": "cat"},
}
ANSWERS = {(str(i), who, label) for i, said in SAID.items() for who, label in said.items()}


def answers_of(made):
    """Who said what about which item."""
    chosen = np.asarray(made.contours).argmax(axis=1)[made.statement]
    return {
        (str(made.items[i]), str(made.annotators[a]), str(made.classes[k]))
        for i, a, k in zip(made.item, made.annotator, chosen, strict=True)
    }


# -- Row names -------------------------------------------------------------------------------------

LONG = '"","item","annotator","label"\n' + "".join(
    f'"{n}",{i},"{who}","{label}"\n' for n, (i, who, label) in enumerate(sorted(ANSWERS), 1)
)


def test_row_numbers_of_answers_are_not_used():
    made = read_annotations(io.StringIO(LONG))
    assert answers_of(made) == ANSWERS
    assert any("its first column has no name" in note for note in made.notes)
    assert "not used: 'unnamed'" in made.notes


def test_a_file_with_row_names_is_the_same_in_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr("plausible.tables.text.KEPT", 10)  # so that it is streamed
    path = tmp_path / "answers.csv"
    path.write_text(LONG)
    whole = {
        name: [cell for chunk in stream_table(path) for cell in chunk[name].to_pylist()]
        for name in ("unnamed", "item", "label")
    }
    assert not open_table(path).is_kept
    assert whole["unnamed"] == list(range(1, 7))
    assert {(str(i), label) for i, label in zip(whole["item"], whole["label"], strict=True)} == {
        (i, label) for i, _, label in ANSWERS
    }


def features(names, photos=()):
    """A table with row names, and perhaps a column of photos."""
    head = ",".join(['""', *(["photo"] if photos else []), "width", "height"])
    cells = [
        [str(name), *([str(photos[k])] if photos else []), f"{k}.5", str(50 + k * k)]
        for k, name in enumerate(names)
    ]
    return io.StringIO("\n".join([head, *map(",".join, cells), ""]))


def test_row_names_that_hold_all_items_are_their_ids_and_no_feature():
    training = read_training(io.StringIO(LONG), features([5, 9, 3, 7]))
    assert training.names == ["width", "height"]
    rows = dict(zip(training.known.items.tolist(), training.rows.tolist(), strict=True))
    assert {str(item): row for item, row in rows.items()} == {"5": 0, "3": 2, "7": 3}


@pytest.mark.parametrize("n_rows", [3, 8])
def test_row_numbers_are_never_a_feature(n_rows):
    rows = [f'"{k}",{k % 2}.5,{k * k}' for k in range(1, n_rows + 1)]
    read = read_features(io.StringIO("\n".join(['"","width","height"', *rows, ""])))
    assert read.names == ["width", "height"]
    text = "\n".join(['"","id","width"', *(f'"{k}",{90 - k},{k % 2}' for k in range(n_rows)), ""])
    for kinds in (None, "any"):
        read = read_features(io.StringIO(text), kinds=kinds)
        assert (read.names, read.id) == (["width"], "id")


def test_row_numbers_that_hold_all_items_beside_another_column_are_refused():
    answers = io.StringIO("item,annotator,label\n0,ann,cat\n1,ann,dog\n2,ann,cat\n")
    with pytest.raises(TableError, match="2 hold all of them, in different rows"):
        read_training(answers, features([0, 1, 2], photos=[2, 0, 1]))


def test_row_names_match_two_files_only_if_they_are_the_same():
    known = '"","label","camera"\n"1","cat",x\n"2","dog",x\n"3","eel",x\n'
    training = read_training(io.StringIO(known), features([3, 1, 2]))
    assert training.id == "unnamed"
    assert training.labels.crisp().tolist() == ["eel", "cat", "dog"]  # in the order of features
    with pytest.raises(TableError, match="3 labels and 4 rows"):
        read_training(io.StringIO(known), features([3, 1, 2, 4]))


def test_other_columns_without_a_name_and_blanks_between_cells_are_refused():
    with pytest.raises(TableError, match="separated by blanks; write it with write.csv"):
        open_table(io.StringIO('"width" "height"\n"a" 1 2\n"b" 3 4\n'))
    for text in (",,a,label\n1,2,3,cat\n", "item,,label\n1,2,cat\n", ",label\n1,cat\n"):
        with pytest.raises(TableError, match="should have a name in the header"):
            open_table(io.StringIO(text))


# -- Answers within records ------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("id", "annotator", "label"), ("task", "worker", "answer")])
@pytest.mark.parametrize("with_text", [False, True])
@pytest.mark.parametrize("as_lines", [False, True])
def test_lists_of_answers_within_records(names, with_text, as_lines):
    item, who, label = names
    records = [
        {item: i, "answers": [{who: w, label: said} for w, said in SAID[i].items()]}
        | ({"text": "a photograph"} if with_text else {})
        for i in SAID
    ]
    records.append({item: 99, "answers": []})
    text = "\n".join(map(json.dumps, records)) if as_lines else json.dumps(records)
    made = read_annotations(io.StringIO(text))
    assert answers_of(made) == ANSWERS
    assert any("a row for each entry of 'answers'" in note for note in made.notes)
    assert read_known(io.StringIO(text)).annotations.annotators.tolist() == made.annotators.tolist()


def test_confidence_within_records_is_heard():
    said = [
        {"id": 8, "annotator": "ann", "label": "cat", "confidence": 0.7},
        {"id": 9, "annotator": "bob", "label": "dog", "confidence": 1},
    ]
    made = read_annotations(io.StringIO(json.dumps([{"id": 1, "annotations": said}])))
    np.testing.assert_allclose(made.doubt, [0.3, 0.0])
    assert made.items.tolist() == [1]
    assert "not used: 'annotations.id'" in made.notes


@pytest.mark.parametrize(
    "record",
    [
        {"item": 1, "answers": {"ann": "cat"}},  # people or classes?
        {"item": 1, "answers": [["ann", "cat"]]},
        {"item": 1, "answers": [{"label": "cat"}], "others": [{"label": "dog"}]},
    ],
)
def test_nests_that_may_mean_something_else_are_refused(record):
    with pytest.raises(TableError, match="a row for each|say which are meant"):
        read_annotations(io.StringIO(json.dumps([record])))


def test_a_record_that_is_unlike_the_others_is_refused():
    first = {"id": 1, "answers": [{"annotator": "ann", "label": "cat"}]}
    for other in ({"id": 2, "answers": "cat"}, {"id": 2, "answers": ["cat"]}, 5):
        with pytest.raises(TableError, match=r"(?i)task 2|record"):
            read_annotations(io.StringIO(json.dumps([first, other])))


# -- Lists within cells ----------------------------------------------------------------------------


def argilla(write, users=True):
    """A table of Argilla, whose lists are written by a function."""
    lines = ["id,text,animal.responses" + ",animal.responses.users" * users]
    for i, said in SAID.items():
        cells = [str(i), "so", write(list(said.values())), *([write(list(said))] if users else [])]
        lines.append(",".join('"' + cell.replace('"', '""') + '"' for cell in cells))
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("write", [json.dumps, str])
def test_lists_of_responses_and_of_users(write):
    made = read_annotations(io.StringIO(argilla(write)))
    assert answers_of(made) == ANSWERS
    assert any("an export of Argilla" in note for note in made.notes)


def test_texts_that_python_would_join_are_refused():
    def as_numpy(values):
        return str(np.array(values))

    assert as_numpy(["cat", "dog"]) == "['cat' 'dog']"
    with pytest.raises(TableError, match="'animal.responses'.* row 1 cannot be read"):
        read_annotations(io.StringIO(argilla(as_numpy)))


@pytest.mark.parametrize("write", [json.dumps, str])
def test_responses_with_their_users_in_one_cell_are_no_sets(write):
    lines = ["id,text,animal"]
    for i, said in SAID.items():
        cell = write([{"user_id": w, "value": v, "status": "submitted"} for w, v in said.items()])
        lines.append(f'{i},so,"' + cell.replace('"', '""') + '"')
    text = "\n".join([*lines, ""])
    assert answers_of(read_annotations(io.StringIO(text))) == ANSWERS
    assert read_known(io.StringIO(text)).annotations is not None


@pytest.mark.parametrize(("first", "is_said"), [(1, True), (0, True), (1001, False)])
def test_numbers_of_rows_are_proposed_only_where_there_are_such_rows(first, is_said):
    lines = [f"{first + k},ann,{'cat' if k % 2 else 'dog'}" for k in range(4)]
    answers = io.StringIO("\n".join(["item,annotator,label", *lines, ""]))
    with pytest.raises(TableError, match="should hold all items") as caught:
        read_training(answers, io.StringIO("width\n0.5\n1.5\n2.5\n3.5\n"))
    assert ("id='row'" in str(caught.value)) == is_said


def test_a_table_without_columns_and_endless_names_are_refused_in_few_words():
    with pytest.raises(ValueError, match="has no columns"):
        read_annotations(pa.table({}))
    columns = {"x" * 3000: ["i1"], "annotator": ["p"], "label": ["a"], "mass": [0.5]}
    with pytest.raises(ValueError, match="should have columns for the item") as refusal:
        read_annotations(pa.table(columns), layout="long")
    assert len(str(refusal.value)) < 600
