"""Tables of crowds' platforms, forms and surveys, and labels whose items are called otherwise."""

import io
import zipfile

import pytest

from plausible.io import TableError, read_annotations, read_known, read_table, read_training

CLASSES = ("oak", "elm", "ash")
PEOPLE = ("ann", "bob", "cy")
SAID = {(f"i{k}", who): CLASSES[(k + (who == "cy")) % 3] for k in range(8) for who in PEOPLE}


def text(head, rows, mark=","):
    return io.StringIO("".join(mark.join(map(str, row)) + "\n" for row in (head, *rows)))


def heard(answers):
    """What each person said of each item."""
    sets = [answers.classes[row == 1] for row in answers.contours]
    whose = zip(answers.item, answers.annotator, answers.statement, strict=True)
    return {(str(answers.items[i]), str(answers.annotators[j])): str(*sets[k]) for i, j, k in whose}


def mended(table, **options):
    """Answers of a table that is read as its refusal says, and the refusal."""
    with pytest.raises(TableError) as caught:
        read_annotations(table, **options)
    table.seek(0)
    return read_annotations(table, **options | caught.value.settings), str(caught.value)


TOLOKA = ("INPUT:image", "OUTPUT:result", "OUTPUT:comment", "GOLDEN:result", "ASSIGNMENT:task_id",
          "ASSIGNMENT:worker_id", "ASSIGNMENT:status", "ASSIGNMENT:reward")  # fmt: skip


def test_assignments_of_toloka_are_known_by_their_columns():
    rows = [(i, said, "", "", f"t{i}", who, "APPROVED", 0.02) for (i, who), said in SAID.items()]
    rows.append(("i0", "fir", "", "", "ti0", "dan", "REJECTED", 0.02))
    found = read_annotations(text(TOLOKA, rows, "\t"))
    assert heard(found) == SAID
    assert any(
        note.startswith("1 answer left out, since ASSIGNMENT:status") for note in found.notes
    )
    assert len(read_annotations(text(TOLOKA, rows, "\t"), on_rejected="keep").classes) == 4
    other = ("INPUT:image", "INPUT:name", *TOLOKA[1:])  # so that the task tells items apart
    found = read_annotations(text(other, [(row[0], "x", *row[1:]) for row in rows], "\t"))
    assert {item for item, _ in heard(found)} == {f"ti{k}" for k in range(8)}


def test_labels_that_toloka_made_have_items_and_confidence():
    rows = [(f"i{k}", CLASSES[k % 3], f"{90 - k}.5%") for k in range(8)]
    table = text(("INPUT:image", "OUTPUT:result", "CONFIDENCE:result"), rows, "\t")
    with pytest.raises(TableError, match="'CONFIDENCE:result' .* could be either") as caught:
        read_known(table)
    table.seek(0)
    found = read_known(table, names=caught.value.settings["names"])
    assert found.items.tolist() == [f"i{k}" for k in range(8)]
    assert found.labels.contour[0].tolist() == pytest.approx([0.095, 0.095, 1.0])


def test_judgments_of_figure_eight_are_known_by_their_columns():
    head = ("_unit_id", "_golden", "_tainted", "_trust", "_worker_id", "tree", "url", "tree_gold")
    rows = [(i, "false", "false", 0.9, who, said, f"x/{i}.jpg", "")
            for (i, who), said in SAID.items()]  # fmt: skip
    rows.append(("i0", "false", "true", 0.1, "dan", "fir", "x/i0.jpg", ""))
    found = read_annotations(text(head, rows))
    assert heard(found) == SAID
    assert any(note.startswith("1 answer left out, since _tainted") for note in found.notes)
    head = ("_unit_id", "_golden", "_unit_state", "tree", "tree:confidence", "url")
    rows = [(f"i{k}", "false", "finalized", CLASSES[k % 3], 0.875, f"{k}.jpg") for k in range(8)]
    for options in ({"names": {"confidence": "tree:confidence"}}, {"ignore": ["tree:confidence"]}):
        known = read_known(text(head, rows), **options)
        assert known.items.tolist() == [f"i{k}" for k in range(8)]
        assert known.labels.contour[0].max() == 1
        assert known.labels.contour[0].min() == (0.125 if "names" in options else 0)


@pytest.mark.parametrize(
    ("head", "before"),
    [(("Timestamp", "Email Address"), lambda k, who: (f"3/{k + 14}/2024 10:00", who)),
     (("ResponseId", "StartDate", "Finished"), lambda k, who: (who, "2024-03-01", "True"))],
    ids=["Google", "Qualtrics"],
)  # fmt: skip
@pytest.mark.parametrize("question", ["Which tree? [{}]", "{}"])
def test_a_form_is_read_with_a_column_for_each_item(head, before, question):
    items = [f"i{k}" for k in range(8)]
    rows = [(*before(k, who), *(SAID[item, who] for item in items))
            for k, who in enumerate(PEOPLE)]  # fmt: skip
    found, told = mended(text((*head, *map(question.format, items)), rows))
    assert "look like items" in told
    assert heard(found) == SAID


def test_a_form_that_nobody_signed_has_numbered_people():
    rows = [(f"3/{k + 14}/2024 10:0{k}", *(SAID[f"i{n}", who] for n in range(8)))
            for k, who in enumerate(PEOPLE)]  # fmt: skip
    found, _ = mended(text(("Timestamp", *(f"i{k}" for k in range(8))), rows))
    numbered = {(i, PEOPLE[int(who.removeprefix("row ")) - 1]): c
                for (i, who), c in heard(found).items()}  # fmt: skip
    assert numbered == SAID


def test_gaps_and_strange_answers_in_a_form_keep_their_places():
    rows = [("ann", "oak", ""), ("bob", "", "elm"), ("cy", "oak", "elmm")]
    form = text(("name", "photo 1", "photo 2"), rows)
    options = {"layout": "items", "names": {"annotator": "name"}}
    found = heard(read_annotations(form, **options))
    assert found == {("photo 1", "ann"): "oak", ("photo 1", "cy"): "oak",
                     ("photo 2", "bob"): "elm", ("photo 2", "cy"): "elmm"}  # fmt: skip
    form.seek(0)
    with pytest.raises(TableError, match=r"'elmm' in 1 row \(row 3 on line 4\)"):
        read_annotations(form, classes=["oak", "elm"], **options)
    rows = [(who, *(SAID[f"i{k}", who] for k in range(8)), "Kiel") for who in PEOPLE]
    found, told = mended(text(("name", *(f"i{k}" for k in range(8)), "where"), rows), **options)
    assert "ignore=['where']" in told
    assert heard(found) == SAID


def test_how_far_a_form_was_filled_in_is_nobody():
    rows = [(k, k % 3 + 1, (k + k // 4) % 3 + 1, 2, 2) for k in range(8)]
    head = ("record_id", "dx_rater1", "dx_rater2", "rater1_complete", "rater2_complete")
    found = read_annotations(text(head, rows))
    assert found.annotators.tolist() == ["dx_rater1", "dx_rater2"]
    assert "not used: 'rater1_complete', 'rater2_complete'" in found.notes


def test_the_remedy_for_remarks_beside_people_keeps_the_items():
    rows = [(f"i{k}", *(SAID[f"i{k}", who] for who in PEOPLE), "blurred" * (k == 3))
            for k in range(8)]  # fmt: skip
    found, told = mended(text(("Image", *PEOPLE, "Remarks"), rows))
    assert "ignore=['Remarks']" in told
    assert heard(found) == SAID


TURK = ("HITId", *(f"Column{k}" for k in range(30)), "WorkerId", "Input.image", "Answer.tree",
        "Answer.sure", "Answer.comments")  # fmt: skip


def test_what_people_said_beside_their_answer_is_asked_for_or_told_first():
    rows = [(f"H{i}", *range(30), who, i, said, 3, "") for (i, who), said in SAID.items()]
    with pytest.raises(TableError, match="'Answer.sure' .* should be known to say how sure"):
        read_annotations(text(TURK, rows), names={"label": "Answer.tree"})
    found = read_annotations(text(TURK, rows), names={"label": "Answer.tree"},
                             ignore=["Answer.sure"])  # fmt: skip
    (told,) = [note for note in found.notes if note.startswith("not used")]
    assert told.startswith("not used: 'Answer.comments', 'HITId'")
    assert told.count("Column") == 30


def test_labels_are_matched_by_names_whatever_both_columns_are_called():
    names = [f"{k}.jpg" for k in range(8)]
    features = text(
        ("filename", "size"), [(name, k) for k, name in reversed(list(enumerate(names)))]
    )
    for called in ("photo", "bild"):
        labels = text((called, "class"), [(n, CLASSES[k % 3]) for k, n in enumerate(names)])
        features.seek(0)
        found = read_training(labels, features)
        assert found.rows.tolist() == [7, 6, 5, 4, 3, 2, 1, 0]
    measured = text(("size",), [(k,) for k in range(8)])
    labels = text(("photo", "class"), [(n, CLASSES[k % 3]) for k, n in enumerate(names)])
    with pytest.raises(TableError, match="or leave them out with ignore=.*in order") as caught:
        read_training(labels, measured)
    labels.seek(0)
    measured.seek(0)
    assert read_training(labels, measured, **caught.value.settings).X.ravel().tolist() == [
        *range(8)
    ]


def test_boxes_in_images_are_no_answers():
    rows = [(f"i{k % 4}.jpg", CLASSES[k % 3], k, k, k + 9, k + 5 + k % 2) for k in range(12)]
    with pytest.raises(TableError, match="'xmin', 'ymin', 'xmax', 'ymax' mark parts of images"):
        read_known(text(("filename", "class", "xmin", "ymin", "xmax", "ymax"), rows))


def test_items_without_answers_are_no_table_of_answers():
    with pytest.raises(TableError, match="none of which names the same.*give the table of answers"):
        read_known(text(("id", "text"), [(k, f"text {k}") for k in range(12)]))


def test_what_is_packed_is_to_be_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "answers.zip", "w") as packed:
        packed.writestr("answers.csv", "item,label\n1,oak\n")
    with pytest.raises(TableError, match="begins like a zip file; unpack it"):
        read_table(tmp_path / "answers.zip")
