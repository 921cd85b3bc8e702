"""Fields of exports that name who answered are used, and told where they may mean another."""

import io
import json

import pytest

from plausible.io import read_annotations, read_known

SAID = {("x", "ann"): "cat", ("x", "bob"): "dog", ("y", "ann"): "cat"}


def export(tool, field):
    """Lines of an export in which a field names who answered."""
    rows = []
    for (item, who), label in SAID.items():
        if tool == "doccano":
            inner = {"meta": {field: who}} if field == "annotator" else {field: who}
            rows.append({"id": item, "text": f"text {item}", "label": [label], **inner})
        elif tool == "prodigy":
            options = [{"id": "cat"}, {"id": "dog"}]
            rows.append({"_input_hash": item, "answer": "accept", "accept": [label],
                         "options": options, field: who})  # fmt: skip
        else:
            result = [{"value": {"choices": [label]}}]
            one = {"result": result, field: who}
            rows.append({"id": item, "data": {"text": "t"}, "annotations": [one]})
    return rows


def read(rows, **options):
    return read_annotations(io.StringIO("\n".join(map(json.dumps, rows))), **options)


def who_said(answers):
    people = answers.annotators[answers.annotator].tolist()
    return sorted(zip(answers.items[answers.item].tolist(), people, strict=True))


@pytest.mark.parametrize(
    ("tool", "field"),
    [
        ("doccano", "username"), ("doccano", "annotator"), ("doccano", "completed_by"),
        ("doccano", "user_id"), ("prodigy", "_annotator_id"), ("prodigy", "_session_id"),
        ("prodigy", "annotator"), ("prodigy", "username"), ("label-studio", "completed_by"),
    ],
)  # fmt: skip
def test_who_answered_is_read(tool, field):
    found = read(export(tool, field))
    assert who_said(found) == sorted(SAID)
    told = any(f"{field!r} was read as who answered" in note for note in found.notes)
    assert told == (tool != "label-studio" and not field.startswith("_"))


@pytest.mark.parametrize("tool", ["doccano", "prodigy"])
def test_a_user_of_each_item_is_told_and_not_used(tool):
    rows = export(tool, "username")[1:]
    found = read(rows)
    assert found.annotators.tolist() == ["anyone"]
    assert any(
        "not used: 'username'; say names={'annotator': 'username'}" in n for n in found.notes
    )
    assert who_said(read(rows, names={"annotator": "username"})) == sorted(SAID)[1:]


@pytest.mark.parametrize("tool", ["doccano", "prodigy", "label-studio"])
def test_another_field_may_be_named(tool):
    rows = export(tool, "by")
    assert who_said(read(rows, names={"annotator": "by"})) == sorted(SAID)
    with pytest.raises(ValueError, match=r"should have a field 'of', .*names=\{'annotator'"):
        read(rows, names={"annotator": "of"})


def test_who_approved_is_nobody_who_answered():
    rows = [row | {"annotation_approver": "boss"} for row in export("doccano", "username")]
    found = read_known(io.StringIO("\n".join(map(json.dumps, rows))), doubt=0.1)
    assert found.annotations.annotators.tolist() == ["ann", "bob"]
    assert any("not used: 'annotation_approver'" in str(note) for note in found.notes)
