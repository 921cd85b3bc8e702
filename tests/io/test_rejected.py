"""Answers that somebody rejected, canceled, skipped or discarded: left out, silent, or counted."""

import csv
import io
import json
from functools import partial

import numpy as np
import pytest

from plausible.io import TableError, read_annotations, read_known, read_label_studio
from plausible.io.large_answers import pool_in_parts
from plausible.io.pieces import pieces
from plausible.tables import open_table

HEAD = ["item", "annotator", "label", "doubt"]
ROWS = [
    # who says what, and what a reviewer says of it; "spam" and dan are only in rejected rows
    ("x", "ann", "dog", "0.1", "ok"), ("x", "bob", "cat", "0.2", "Rejected"),
    ("y", "bob", "owl|dog", "0.3", "ok"), ("y", "ann", "owl", "0.2", "ok"),
    ("z", "dan", "spam", "0.1", "rejected"), ("z", "cy", "cat", "0.4", "ok"),
    ("w", "dan", "spam", "0.1", "skipped"), ("w", "cy", "", "0.2", "ok"),
]  # fmt: skip
GOOD = [row for row in ROWS if row[-1] == "ok"]
SILENT = [row if row[-1] == "ok" else (*row[:2], "", *row[3:]) for row in ROWS]


def table(rows, state="status", columns=HEAD):
    text = io.StringIO()
    places = [*(HEAD.index(name) for name in columns), -1]
    csv.writer(text).writerows([[*columns, state], *([row[k] for k in places] for row in rows)])
    return text.getvalue()


def content(answers):
    """All that a set of answers says."""
    return (
        answers.items.tolist(), answers.annotators.tolist(), answers.classes.tolist(),
        answers.item.tolist(), answers.annotator.tolist(),
        answers.contours[answers.statement].tolist(),
        None if answers.doubt is None else answers.doubt.tolist(),
    )  # fmt: skip


@pytest.mark.parametrize("columns", [HEAD, HEAD[:3]])
def test_left_out_is_as_if_the_rows_were_not_in_the_file(columns):
    def read(rows, asked=None):
        return read_annotations(io.StringIO(table(rows, columns=columns)), on_rejected=asked)

    assert content(read(ROWS, "drop")) == content(read(GOOD))
    assert content(read(ROWS, "unknown")) == content(read(SILENT))
    assert content(read(ROWS, "keep")) == content(read(ROWS)) != content(read(GOOD))
    assert read(ROWS, "drop").notes[0] == (
        "3 answers left out, since status is 'Rejected' or 'rejected' or 'skipped'"
    )
    assert any("3 answers were read as cannot tell" in note for note in read(ROWS, "unknown").notes)
    assert any("on_rejected='drop'" in note for note in read(ROWS).notes)
    assert not any("on_rejected" in note for note in read(ROWS, "keep").notes)


@pytest.mark.parametrize("asked", [None, "keep", "drop", "unknown"])
def test_answers_in_parts_are_those_in_memory(asked, monkeypatch, tmp_path):
    """Some parts hold nothing but rejected answers; counts are those of the whole file."""
    monkeypatch.setattr("plausible.io.large_answers.PART_BYTES", 200)
    monkeypatch.setattr("plausible.io.large_answers.pieces", partial(pieces, rows=4))
    options = {} if asked is None else {"on_rejected": asked}
    path = tmp_path / "answers.csv"
    path.write_text(table([*ROWS, *((f"v{k}", "ann", "dog", "0.1", "bad") for k in range(9))]))
    known = read_known(path, **options)
    with pool_in_parts(open_table(path), **options) as pool:
        parts, classes = list(pool.parts), pool.classes
        notes = [str(note) for note in pool.notes]
    assert len(parts) > 1
    assert classes == known.labels.classes.tolist()
    labels = {}
    for part in parts:
        labels |= dict(zip(part.items.tolist(), part.labels.contour, strict=True))
    assert set(labels) == set(known.items.tolist())
    for item, row in zip(known.items.tolist(), known.labels.contour, strict=True):
        np.testing.assert_allclose(labels[item], row, atol=1e-12)
    told = [note for note in known.notes if "status" in note]
    assert told
    assert set(told) <= set(notes)


def test_words_of_a_tool_are_left_out_unless_they_are_asked_for():
    turk = "HITId,WorkerId,AssignmentStatus,Input.url,Answer.label\n" + "".join(
        f"h,{who},{'Approved' if state == 'ok' else 'Rejected'},{item},{label or 'cat'}\n"
        for item, who, label, _, state in ROWS
    )
    usual = read_annotations(io.StringIO(turk))
    assert len(usual) == 5
    assert any("; on_rejected='keep' keeps them" in note for note in usual.notes)
    assert content(usual) == content(read_annotations(io.StringIO(turk), on_rejected="drop"))
    assert len(read_annotations(io.StringIO(turk), on_rejected="keep")) == 8
    silent = read_annotations(io.StringIO(turk), on_rejected="unknown")
    assert len(silent) == 8
    assert silent.classes.tolist() == usual.classes.tolist()
    aside = read_annotations(io.StringIO(turk), ignore=["AssignmentStatus"])
    assert len(aside) == 8


@pytest.mark.parametrize(
    ("state", "good", "bad"),
    [
        ("is_valid", "true", "false"), ("was_cancelled", "0", "1"), ("Approved", "ja", "nein"),
        ("QA status", "passed", "FAILED"), ("rejected", "faux", "vrai"), ("deleted", "", "x"),
    ],
)  # fmt: skip
def test_flags_of_many_kinds(state, good, bad):
    rows = [(*row[:-1], good if row[-1] == "ok" else bad) for row in ROWS]
    assert content(read_annotations(io.StringIO(table(rows, state)), on_rejected="drop")) == (
        content(read_annotations(io.StringIO(table(GOOD))))
    )


def test_what_cannot_be_left_out_is_refused_with_the_remedy():
    with pytest.raises(TableError, match="all are rejected.*'status' says; say on_rejected='keep'"):
        read_annotations(io.StringIO(table([r for r in ROWS if r[-1] != "ok"])), on_rejected="drop")
    with pytest.raises(ValueError, match="on_rejected should be"):
        read_annotations(io.StringIO(table(ROWS)), on_rejected="leave")
    degrees = "item,annotator,label,plausibility,status\n1,a,x,1,ok\n1,a,y,0.5,ok\n2,a,x,1,bad\n"
    with pytest.raises(TableError, match="'plausibility'.*say on_rejected='drop'"):
        read_annotations(io.StringIO(degrees), on_rejected="unknown")
    assert len(read_annotations(io.StringIO(degrees), on_rejected="drop")) == 1
    told = read_annotations(io.StringIO(table(GOOD)), on_rejected="drop").notes
    assert "no answer of the file object is said to be rejected or skipped" in told


def test_counts_of_rejected_answers_are_left_out():
    votes = "item,label,count,status\n1,a,3,ok\n1,b,2,rejected\n2,b,1,ok\n"
    names = {"count": "count"}
    found = read_annotations(io.StringIO(votes), names=names, on_rejected="drop")
    assert found.votes().tolist() == [[3, 0], [0, 1]]


def test_labels_of_items():
    text = "item,label,status\n1,cat,ok\n2,dog,bad\n03,spam,Rejected\n4,cat,ok\n5,owl,ok\n"
    without = "item,label,status\n1,cat,ok\n4,cat,ok\n5,owl,ok\n"
    dropped = read_known(io.StringIO(text), on_rejected="drop")
    plain = read_known(io.StringIO(without))
    assert dropped.items.tolist() == ["1", "4", "5"]  # as text: one of the items is 03
    assert dropped.labels.classes.tolist() == plain.labels.classes.tolist()
    np.testing.assert_array_equal(dropped.labels.contour, plain.labels.contour)
    silent = read_known(io.StringIO(text), on_rejected="unknown").labels
    assert (silent.informativeness == 0).tolist() == [False, True, True, False, False]
    assert any("2 labels were kept" in note for note in read_known(io.StringIO(text)).notes)
    in_order = read_known(io.StringIO("label,valid\ncat,1\ndog,0\nowl,1\n"), on_rejected="drop")
    assert (in_order.labels.informativeness == 0).tolist() == [False, True, False]


# -- JSON of annotation tools ----------------------------------------------------------------------


def studio(who, choice, **more):
    result = [{"type": "choices", "from_name": "c", "value": {"choices": [choice]}}]
    return {"completed_by": who, "result": result, **more}


def task(number, *annotations):
    return {"id": number, "data": {"text": f"t{number}"}, "annotations": list(annotations)}


STUDIO = json.dumps([
    task(1, studio(7, "b"), studio(8, "c", was_cancelled=True)),
    task(2, studio(8, "a", reviews=[{"accepted": True}, {"accepted": False}]), studio(7, "a")),
])  # fmt: skip
PRODIGY = "\n".join(
    json.dumps({"_input_hash": k, "_annotator_id": who, "answer": answer, "accept": accept,
                "options": [{"id": "b"}, {"id": "a"}]})
    for k, who, answer, accept in
    [(1, "u", "accept", ["b"]), (1, "v", "ignore", ["a"]), (2, "u", "reject", []),
     (2, "v", "accept", ["a"])]
)  # fmt: skip
ARGILLA = json.dumps([
    {"id": f"r{k}", "fields": {"text": "t"},
     "responses": {"q": [{"user_id": who, "value": value, "status": status}]}}
    for k, who, value, status in
    [(1, "u", "b", "submitted"), (1, "v", "a", "discarded"), (2, "u", "c", "draft"),
     (2, "v", "a", "submitted")]
])  # fmt: skip
DOCCANO = "\n".join(
    json.dumps({"id": k, "text": "t", "label": [label], "meta": meta})
    for k, label, meta in [(1, "b", {}), (2, "c", {"status": "skipped"}), (3, "a", {})]
)


@pytest.mark.parametrize(
    ("export", "n_usual", "n_kept", "n_left"),
    [(STUDIO, 4, 4, 2), (PRODIGY, 4, 4, 2), (ARGILLA, 3, 4, 2), (DOCCANO, 3, 3, 2)],
    ids=["Label Studio", "Prodigy", "Argilla", "doccano"],
)
def test_exports_of_tools(export, n_usual, n_kept, n_left, tmp_path):
    path = tmp_path / "export.json"
    path.write_text(export)
    usual = read_annotations(path)
    assert len(usual) == n_usual
    assert any("; on_rejected='" in note for note in usual.notes)
    for asked, count in (("drop", n_left), ("unknown", n_kept), ("keep", n_kept)):
        found = read_annotations(path, on_rejected=asked)
        assert len(found) == count
        assert not any("; on_rejected='" in note for note in found.notes)
        if asked != "keep":
            assert found.classes.tolist() == ["a", "b"]
            assert (found.contours[found.statement].min(axis=1) < 1).sum() == n_left
    assert len(read_known(path, on_rejected="drop").annotations) == n_left


def test_what_was_skipped_counts_by_its_choice_if_it_is_kept(tmp_path):
    path = tmp_path / "export.json"
    path.write_text(STUDIO)
    kept = read_label_studio(path, on_rejected="keep")
    assert kept.classes.tolist() == ["a", "b", "c"]
    assert kept.contours[kept.statement].tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0], [1, 0, 0]]
    path.write_text(json.dumps([task(1, studio(8, "c", was_cancelled=True))]))
    with pytest.raises(TableError, match="all are rejected or skipped; say on_rejected='keep'"):
        read_label_studio(path, on_rejected="drop")
