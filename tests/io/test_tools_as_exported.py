"""Exports of annotation tools with what is rarer in them, as new users tried them."""

import json

import pytest

from plausible.experts import Annotations
from plausible.io import TableError, read_annotations

CLASSES = ("oak", "elm", "ash")
SAID = [(k, who, CLASSES[(k + (who == 3)) % 3]) for k in range(6) for who in (1, 2, 3)]


def written(folder, records, name="export.json"):
    """A file of JSON, in lines if it is called so."""
    lines = "\n".join(map(json.dumps, records))
    (folder / name).write_text(lines if name.endswith("l") else json.dumps(records))
    return folder / name


def studio(folder, results_of):
    """Tasks of Label Studio with the results that a function gives for each answer."""
    tasks = [
        {"id": k, "data": {"text": f"text {k}"}, "annotations": [
            {"completed_by": who, "result": results_of(label)} for i, who, label in SAID if i == k]}
        for k in range(6)
    ]  # fmt: skip
    return written(folder, tasks)


def result(kind, value, control="tree", **more):
    return {"from_name": control, "to_name": "text", "type": kind, "value": {kind: value} | more}


def sets_of(answers):
    rows = answers.contours[answers.statement]
    return [{str(name) for name in answers.classes[row == 1]} for row in rows]


def test_the_way_to_a_class_of_a_taxonomy_is_one_class(tmp_path):
    def way(label):
        return {"oak": ["broad", "oak"], "elm": ["broad", "elm"], "ash": ["broad"]}[label]

    found = read_annotations(studio(tmp_path, lambda c: [result("taxonomy", [way(c)])]))
    assert found.classes.tolist() == ["broad > elm", "broad > oak"]
    assert {"broad > elm", "broad > oak"} in sets_of(found)  # those who stopped above
    assert any(note.startswith("answers above classes") for note in found.notes)
    cell = json.dumps([{"taxonomy": [["broad", "oak"]]}])
    assert Annotations.from_long([1], None, [cell]).classes.tolist() == ["broad > oak"]


def test_choices_about_parts_of_a_task_are_not_about_the_task(tmp_path):
    box = {"x": 1, "y": 2, "width": 3, "height": 4}
    with pytest.raises(TableError, match="'choices' of parts"):
        read_annotations(studio(tmp_path, lambda c: [result("choices", [c], **box)]))
    both = [result("choices", ["wet"], "leaf", **box), result("textarea", ["hm"], "note")]
    found = read_annotations(studio(tmp_path, lambda c: [result("choices", [c]), *both]))
    assert found.classes.tolist() == sorted(CLASSES)
    assert "not used: 'leaf', 'note'" in found.notes


def test_the_better_one_of_a_pair_is_a_class(tmp_path):
    pair = {"from_name": "pair", "type": "pairwise", "value": {"selected": "left"}}
    assert read_annotations(studio(tmp_path, lambda c: [pair])).classes.tolist() == ["left"]


def test_words_in_choices_mean_what_they_mean_in_tables(tmp_path):
    words = iter(["Not sure", "elm", "other", "oak"] * 5)
    path = studio(tmp_path, lambda c: [result("choices", [next(words)])])
    found = read_annotations(path)
    assert found.classes.tolist() == ["elm", "oak", "other"]
    (change,) = [note.settings["map"] for note in found.notes if "read as classes" in note]
    assert change == {"other": "cannot tell"}
    assert read_annotations(path, map=change).classes.tolist() == ["elm", "oak"]
    kept = read_annotations(path, map={"Not sure": "Not sure", "other": "elm|oak"})
    assert kept.classes.tolist() == ["Not sure", "elm", "oak"]
    assert {"elm", "oak"} in sets_of(kept)
    with pytest.raises(TableError, match="but in 'export.json', 'other' was found"):
        read_annotations(path, classes=["elm", "oak"])


def test_a_name_in_a_set_can_be_mapped():
    said = [{"oak", "elm"}, {"ash", "Elm"}, {"oak", "?"}]
    found = Annotations.from_long([1, 2, 3], None, said, map={"elm": "ash", "?": "cannot tell"})
    assert sets_of(found) == [{"oak", "ash"}, {"ash"}, {"oak", "ash"}]


OPTIONS = [{"id": k, "text": name} for k, name in enumerate(CLASSES)]


def test_numbers_of_options_are_called_by_their_text_on_request(tmp_path):
    lines = [{"_input_hash": k, "_session_id": f"s{who}", "answer": "accept", "options": OPTIONS,
              "accept": [CLASSES.index(label)]} for k, who, label in SAID]  # fmt: skip
    path = written(tmp_path, lines, "choice.jsonl")
    found = read_annotations(path)
    assert found.classes.tolist() == [0, 1, 2]
    (change,) = [note.settings["map"] for note in found.notes if "by their text" in note]
    assert read_annotations(path, map=change).classes.tolist() == sorted(CLASSES)


def test_an_option_of_not_knowing_is_no_class(tmp_path):
    offered = [{"id": name} for name in (*CLASSES, "not sure")]
    lines = [{"_input_hash": k, "_session_id": f"s{who}", "answer": "accept", "options": offered,
              "accept": ["not sure" if label == "ash" else label]}
             for k, who, label in SAID]  # fmt: skip
    found = read_annotations(written(tmp_path, lines, "choice.jsonl"))
    assert found.classes.tolist() == sorted(CLASSES)  # of which one was never chosen


def test_what_a_rejected_label_is_taken_for_is_told(tmp_path):
    lines = [{"_input_hash": k, "_session_id": f"s{who}", "label": label,
              "answer": "reject" if who == 3 else "accept"} for k, who, label in SAID]  # fmt: skip
    found = read_annotations(written(tmp_path, lines, "binary.jsonl"))
    assert "answers 'reject' to a label, read as one of the others: 6" in found.notes
    assert set(CLASSES[1:]) in sets_of(found)


def test_predictions_beside_an_old_annotation_of_argilla_are_not_used(tmp_path):
    records = [{"id": k, "inputs": {"text": "x"}, "prediction": [{"label": "fir", "score": 0.9}],
                "annotation": None if k == 5 else CLASSES[k % 3], "annotation_agent": "ann",
                "status": "Discarded" if k == 4 else "Validated"} for k in range(6)]  # fmt: skip
    found = read_annotations(written(tmp_path, records, "old.jsonl"))
    assert found.classes.tolist() == sorted(CLASSES)
    assert len(found) == 5
    assert "suggestions of models, which are not used: 6" in found.notes
    dropped = read_annotations(tmp_path / "old.jsonl", on_rejected="drop")
    assert len(dropped) == 4


def test_ranks_are_no_classes(tmp_path):
    ranks = [{"value": "a", "rank": 1}, {"value": "b", "rank": 2}]
    said = {"rank": [{"user_id": "u", "value": ranks}]}
    records = [{"id": k, "fields": {}, "responses": said} for k in range(6)]
    with pytest.raises(TableError, match="has ranks; export a question of labels"):
        read_annotations(written(tmp_path, records))
    more = {"topic": [{"user_id": "u", "value": "oak"}]}
    records = [record | {"responses": said | more} for record in records]
    found = read_annotations(written(tmp_path, records), names={"label": "topic"})
    assert found.classes.tolist() == ["oak"]


def test_texts_that_people_wrote_in_doccano_are_no_classes(tmp_path):
    lines = [{"id": k, "text": "x", "label": [f"a text about {k}"]} for k in range(30)]
    with pytest.raises(TableError, match="30 different ones in 30 answers"):
        read_annotations(written(tmp_path, lines, "ann.jsonl"))
    cats = [{"id": k, "text": "x", "cats": [CLASSES[k % 3]], "entities": []} for k in range(9)]
    assert len(read_annotations(written(tmp_path, cats, "ann.jsonl")).classes) == 3
