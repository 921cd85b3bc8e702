"""What is known about items, from tables of any kind: the same labels, and honest notes."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.experts import Annotations, calibrate_words
from plausible.io import TableError, read_known, read_labels, write_labels
from plausible.labels import Labels

LONG = {
    "item": ["x", "x", "y", "z"],
    "annotator": ["ann", "bob", "ann", "bob"],
    "label": ["cat", "dog", "dog", "cat|dog"],
    "doubt": [0.1, 0.4, 0.2, 0.5],
}


def text(*lines: str) -> io.StringIO:
    return io.StringIO("\n".join(lines) + "\n")


def test_answers_are_pooled():
    answers = Annotations.from_long(
        LONG["item"], LONG["annotator"], LONG["label"], doubt=LONG["doubt"]
    )
    for options in ({}, {"doubt": 0.3}, {"rule": "yager"}, {"doubt": {"ann": 0.1, "bob": 0.6}}):
        known = read_known(LONG, **options)
        assert known.labels == answers.pool(**options)
        assert known.items.tolist() == ["x", "y", "z"]
        assert known.annotations.annotators.tolist() == ["ann", "bob"]
        assert len(known.annotations) == 4


def test_ignored_columns_are_a_list_of_names():
    with pytest.raises(ValueError, match="ignore should be a list of names"):
        read_known(LONG, ignore=Path("doubt"))


def test_notes_say_how_doubts_were_found():
    bare = {name: LONG[name] for name in ("item", "annotator", "label")}
    for table, options, words in [
        (LONG, {}, "the doubts of the answers themselves"),
        (LONG, {"doubt": 0.2}, "doubt 0.2 on top of that of the answers"),
        (bare, {}, "doubts learned from the agreement of people"),
        (bare, {"doubt": 0.2}, "with doubt 0.2"),
        (bare, {"rule": "mean"}, "the rule 'mean'"),
    ]:
        notes = read_known(table, **options).notes
        assert any(words in note for note in notes)
        assert notes[-1].startswith("people err together") == ("learned" in words)


@given(st.integers(1, 6), st.integers(2, 4), st.randoms(use_true_random=False))
def test_written_labels_are_known_again(tmp_path_factory, n, n_classes, random):
    contour = np.array([[random.choice([0.0, 0.25, 1.0]) for _ in range(n_classes)]
                        for _ in range(n)])  # fmt: skip
    contour[:, 0] = 1.0
    labels = Labels.from_plausibility(contour, [f"c{k}" for k in range(n_classes)])
    items = [f"item {k}" for k in range(n)]
    path = tmp_path_factory.mktemp("labels") / "labels.csv"
    write_labels(labels, path, items=items)
    known = read_known(path)
    assert known.labels == labels
    assert known.items.tolist() == items
    assert known.annotations is None


def test_items_are_a_first_column_of_written_labels(tmp_path):
    labels = Labels.from_crisp(["a", "b"])
    write_labels(labels, tmp_path / "l.csv", items=[7, 8])
    assert (tmp_path / "l.csv").read_text().splitlines()[0].startswith('"item",')
    assert read_known(tmp_path / "l.csv").items.tolist() == [7, 8]
    assert read_labels(tmp_path / "l.csv") == labels
    with pytest.raises(ValueError, match="one name for each of the 2 labels, but there are 3"):
        write_labels(labels, tmp_path / "l.csv", items=[1, 2, 3])


def test_other_names_of_columns():
    table = {"photo": ["p", "q"], "species": ["oak", "elm"], "unsure": [0.25, 0.0]}
    names = {"item": "photo", "label": "species", "doubt": "unsure"}
    known = read_known(table, names=names)
    assert known.items.tolist() == ["p", "q"]
    assert known.labels == Labels.from_doubt(["oak", "elm"], [0.25, 0.0])
    known = read_known({"id": [1, 2], "class": ["oak", "elm"]})
    assert known.labels.crisp().tolist() == ["oak", "elm"]
    with pytest.raises(TableError, match="'nothere' for 'item'"):
        read_known(table, names={"item": "nothere"})


def test_degrees_by_class_are_labels_and_counts_are_answers():
    table = {"item": ["p", "q"], "oak": [0.25, 1.0], "elm": [0.75, 0.0]}
    known = read_known(table, kind="probability")
    assert known.labels == Labels.from_probability([[0.25, 0.75], [1, 0]], ["oak", "elm"])
    assert known.annotations is None
    masses = read_known({"item": ["p"], "oak": [0.25], "oak|elm": [0.75]}, kind="mass").labels
    assert dict(zip(masses.classes.tolist(), masses.contour[0], strict=True)) == {
        "oak": 1.0, "elm": 0.75}  # fmt: skip
    votes = read_known({"item": ["p"], "oak": [3], "elm": [1]}, kind="count", doubt=0.2)
    assert len(votes.annotations) == 4


@pytest.mark.parametrize("column", [[0.5, 1.0], [0.5, None]])
def test_fractions_are_no_answers(column):
    features = {"item": ["x", "y"], "length": column, "count": [1, 2]}
    for table in (features, text("item,length,count", "x,0.5,1", "y,1.25,2")):
        with pytest.raises(TableError, match=r"column 'length' holds fractions.*names=.*kind="):
            read_known(table)
    assert len(read_known(features, layout="annotators").annotations.annotators) == 2


def test_whole_numbers_and_words_may_be_answers_by_person():
    for cells in ([1, 2], [1.0, 2.0], ["a", "b"], [True, False]):
        known = read_known({"item": ["x", "y"], "ann": cells, "bob": cells})
        assert known.annotations.annotators.tolist() == ["ann", "bob"]
        assert known.notes[1] == "each of these columns was read as a person: ann, bob"


def test_exports(tmp_path):
    for name in ("ann", "bob"):
        (tmp_path / f"{name}.jsonl").write_text('{"id": 1, "label": ["cat"]}\n')
    known = read_known(tmp_path, "doccano", doubt=0.1)
    assert known.annotations.annotators.tolist() == ["ann", "bob"]
    assert read_known(tmp_path / "ann.jsonl", "doccano").annotations.annotators.tolist() == ["ann"]
    task = {"id": 7, "annotations": [{"completed_by": 1, "result": [
        {"value": {"choices": ["cat"]}}]}]}  # fmt: skip
    (tmp_path / "export.json").write_text(json.dumps([task]))
    assert read_known(tmp_path / "export.json", "label-studio").items.tolist() == [7]
    with pytest.raises(ValueError, match="no other option than classes, but kind came"):
        read_known(tmp_path / "export.json", "label-studio", kind="count")


def test_errors_name_the_file_and_the_rows():
    for source, options, words in [
        (text("item,label", "x,cat", "x,dog"), {"form": "labels"},
         "others in 2 rows (row 1 on line 2"),
        (text("item,label", "x,cat", ",dog"), {}, "is empty in 1 row (row 2 on line 3)"),
        (text("item,annotator,label", "x,a,cat", "x,b,dog"), {"doubt": 0},
         "the file object: Sure answers should not contradict"),
        (text("item,label", "x,cat"), {"doubt": 0.5}, "the file object holds labels"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=re.escape(words)):
            read_known(source, **options)
    with pytest.raises(ValueError, match="form should be 'answers', 'labels'"):
        read_known(LONG, "table")


@pytest.mark.parametrize(("doubt", "is_told"), [(0.37, True), (0.43, False)])
def test_conflict_above_three_tenths_on_average_is_told(doubt, is_told):
    # Two people who contradict each other about every item clash by (1 - 0.5) (1 - doubt).
    table = {
        "item": ["x", "x", "y", "y", "z", "z"],
        "annotator": ["ann", "bob"] * 3,
        "label": ["cat", "dog", "ibis", "cat", "dog", "ibis"],
        "doubt": [0.5, doubt - 0.1, 0.5, doubt, 0.5, doubt + 0.1],
    }
    known = read_known(table)
    assert known.labels.conflict.mean() == pytest.approx(0.5 * (1 - doubt))
    assert any("surer than right" in note for note in known.notes) == is_told
    assert not any("surer" in note for note in read_known(table, doubt="fit").notes)
    bare = {name: values for name, values in table.items() if name != "doubt"}
    assert not any("surer" in note for note in read_known(bare, doubt=0.1).notes)


def test_known_classes_calibrate_doubts_or_reliabilities():
    rng = np.random.default_rng(0)
    truth, names = rng.integers(3, size=60), np.array(["oak", "elm", "ash"])
    right = rng.uniform(size=(60, 3)) < [0.9, 0.7, 0.5]
    said = names[np.where(right, truth[:, None], (truth[:, None] + 1) % 3)]
    table = {
        "item": np.repeat(np.arange(60), 3).tolist(),
        "annotator": ["ann", "bob", "cy"] * 60,
        "label": said.ravel().tolist(),
        "doubt": rng.choice([0.1, 0.5], size=180).tolist(),
    }
    gold = {"item": [*range(30), 99], "label": [*names[truth[:30]].tolist(), "oak"]}
    truths = dict(enumerate(names[truth[:30]].tolist()))

    stated = read_known(table, gold=gold)
    answers = Annotations.from_long(*(table[name] for name in ("item", "annotator", "label")),
                                    doubt=table["doubt"])  # fmt: skip
    assert stated.labels == calibrate_words(answers, truths).apply(answers).pool()
    assert "classes of 30 items are known; 1 other without answers" in stated.notes
    assert any("calibrated on items with known class" in note for note in stated.notes)

    as_text = {str(item): label for item, label in truths.items()}  # "7" is the item 7
    assert read_known(table, gold=as_text).labels == stated.labels
    assert "classes of 30 items are known" in read_known(table, gold=as_text).notes

    bare = {name: table[name] for name in ("item", "annotator", "label")}
    learned = read_known(bare, gold=gold)
    assert learned.labels == answers.without_doubt().pool(gold=truths)
    assert "from items with known class" in learned.notes[-1]

    with pytest.raises(TableError, match="none is: they are 'p', and answers are about"):
        read_known(bare, gold={"item": ["p"], "label": ["oak"]})
    with pytest.raises(TableError, match="should have a column of items"):
        read_known(bare, gold={"label": ["oak"]})
    with pytest.raises(ValueError, match="leave rule, doubt, dependence and gold out"):
        read_known(gold, gold=gold)
