"""Several answers in one cell: whose they are is never lost, and they are never made a set."""

import csv
import io
import json

import pytest

from plausible.io import TableError, read_annotations, read_known

CLASSES = ("oak", "elm", "ash")
PEOPLE = ("ann", "bob", "cy")
SAID = {f"i{k}": {who: CLASSES[(k + (who == "cy")) % 3] for who in PEOPLE} for k in range(9)}


def text(head, rows, mark=","):
    out = io.StringIO()
    csv.writer(out, delimiter=mark).writerows([head, *rows])
    return io.StringIO(out.getvalue())


@pytest.mark.parametrize("who", ["worker", "user_name", "Rater ID", "by"])
def test_answers_of_several_people_in_json_are_no_set(who):
    cells = {i: json.dumps([{who: w, "label": c} for w, c in said.items()])
             for i, said in SAID.items()}  # fmt: skip
    with pytest.raises(TableError, match="has answers of several people; write a row for each"):
        read_known(text(("item", "label"), cells.items()))


@pytest.mark.parametrize("mark", [";", "|", ","])
@pytest.mark.parametrize("who", ["annotators", "annotator", "workers"])
def test_lists_of_people_beside_lists_of_answers_are_refused(mark, who):
    rows = [(i, mark.join(said), mark.join(said.values())) for i, said in SAID.items()]
    rows.append(("i9", "ann", "oak"))
    with pytest.raises(TableError, match=f"'{who}' lists several people in one cell, such as 'ann"):
        read_known(text(("item", who, "label"), rows))


def test_people_with_a_mark_in_their_names_are_people():
    names = {"ann": "Ash, Ann", "bob": "Oak, Bob", "cy": "Elm, Cy"}
    rows = [(i, names[w], "oak|elm" if i == "i0" else c)
            for i, said in SAID.items() for w, c in said.items()]  # fmt: skip
    answers = read_annotations(text(("item", "annotator", "label"), rows))
    assert sorted(answers.annotators) == sorted(names.values())


def zooniverse(value):
    head = ("classification_id", "user_name", "user_id", "created_at", "expert", "annotations",
            "subject_data", "subject_ids")  # fmt: skip
    said = [(i, w, c) for i, answers in SAID.items() for w, c in answers.items()]
    return text(head, [
        (900 + k, w, PEOPLE.index(w), "2024-01-01 10:00:00 UTC", "", json.dumps(value(c)),
         json.dumps({i[1:]: {"Filename": f"{i}.jpg"}}), i[1:])
        for k, (i, w, c) in enumerate(said)
    ])  # fmt: skip


def test_classifications_of_zooniverse_are_known_by_their_columns():
    answers = read_annotations(zooniverse(lambda c: [{"task": "T0", "value": c}]))
    assert sorted(answers.annotators) == sorted(PEOPLE)
    assert len(answers.items) == len(SAID)
    assert sorted(answers.classes) == sorted(CLASSES)
    assert answers.notes[0].endswith("was read as an export of Zooniverse")
    assert any("not used: 'classification_id', 'user_id'" in note for note in answers.notes)


def test_a_question_of_zooniverse_that_was_passed_over_says_nothing():
    value = {"oak": None, "elm": "elm", "ash": "ash"}
    answers = read_annotations(zooniverse(lambda c: [{"task": "T0", "value": value[c]}]))
    assert sorted(answers.classes) == ["ash", "elm"]
    assert len(answers) == 27


def test_several_questions_of_zooniverse_are_no_set():
    several = [{"task": "T1", "value": "Yes"}]
    with pytest.raises(TableError, match="has answers to several questions"):
        read_annotations(zooniverse(lambda c: [{"task": "T0", "value": c}, *several]))
