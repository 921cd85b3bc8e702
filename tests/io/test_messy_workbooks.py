"""Workbooks of Excel as people have them: read rightly, or refused with what mends them."""

import datetime
import io

import pytest

from plausible.io import TableError, read_annotations, read_features, read_known
from support.workbooks import Fault, Formula, Percent, workbook

pytest.importorskip("python_calamine")
HEAD = ["item", "annotator", "label"]
SAID = [
    ["x", "ann", "cat"], ["x", "bob", "dog"], ["y", "ann", "eel"], ["y", "bob", "eel"],
    ["z", "ann", "cat"],
]  # fmt: skip
SIZES = [["item", "a", "b"], ["x", 1, 2.5], ["y", 2, 3.5], ["z", 4, 1.5]]
DAY = datetime.date(2024, 2, 1)


def book(sheets, merged=()):
    return io.BytesIO(workbook(sheets if isinstance(sheets, dict) else {"Data": sheets}, merged))


def said(answers):
    names = zip(answers.item, answers.annotator, answers.statement, strict=True)
    return [
        [answers.items[i], answers.annotators[j], answers.classes[answers.contours[k].argmax()]]
        for i, j, k in names
    ]


RIGHT = {
    "beside and below empty cells": [[None], [None, *HEAD, None], *([None, *r] for r in SAID)],
    "columns and rows that are empty": [
        ["item", None, "annotator", "label"], *([r[0], None, *r[1:]] for r in SAID), [None]
    ],
    "row numbers that pandas added": [[None, *HEAD], *([k, *r] for k, r in enumerate(SAID))],
    "a page of notes": {"Read me": [["Thanks"]], "Said": [HEAD, *SAID]},
    "a codebook behind": {"Said": [HEAD, *SAID], "Codes": [["code", "means"], ["cat", "Felis"]]},
    "an empty column": [[*HEAD, "comment"], *([*r, None] for r in SAID)],
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_workbooks_that_are_read_rightly(name):
    assert said(read_annotations(book(RIGHT[name]))) == SAID


def test_cells_that_were_merged_down_a_column_have_one_value():
    rows = [HEAD, *([r[0] if k in (0, 2, 4) else None, *r[1:]] for k, r in enumerate(SAID))]
    answers = read_annotations(book(rows, ("A2:A3", "A4:A5")))
    assert said(answers) == SAID
    assert any("cells that were merged" in note for note in answers.notes)
    with pytest.raises(TableError, match="'item' of .* is empty in 2 rows"):
        read_annotations(book(rows))  # which nobody merged


def test_percent_and_numbers_stored_as_text():
    shares = [Percent(0.45), Percent(0.5), Percent(1), Percent(0.75), Percent(0.05)]
    rows = [[*HEAD, "confidence"], *([*r, p] for r, p in zip(SAID, shares, strict=True))]
    doubt = read_annotations(book(rows)).doubt
    assert doubt.tolist() == pytest.approx([1 - share for share in shares])
    rows = [["item", "a", "b"], ["x", "1", 2.5], ["y", 2, "3.5"], ["z", "4", Fault("#N/A")]]
    read = read_features(book(rows), kinds="any")
    assert read.X["a"].tolist() == [1, 2, 4]
    assert read.X["b"].tolist()[:2] == [2.5, 3.5]


def test_dates_that_excel_made_of_text_are_told():
    rows = [HEAD, ["x", "ann", DAY], ["x", "bob", "3-4"], ["y", "ann", "3-4"], ["z", "bob", DAY]]
    notes = read_annotations(book(rows)).notes
    assert any("dates among text, such as '2024-02-01'" in note for note in notes)
    when = [["item", "when", "a"], ["x", DAY, 1], ["y", DAY + datetime.timedelta(1), 2]]
    assert read_features(book(when), kinds="any").kinds == {"when": "date", "a": "number"}


REFUSED = {
    "a title": ([["Survey of 2024"], [], HEAD, *SAID], "says only 'Survey of 2024'.*delete it"),
    "a title of two cells": (
        [["Survey", DAY, None], HEAD, *SAID], "row 1 of the sheet.* leaves some out.*delete it"
    ),
    "merged names": (
        [["item", "ann", None], [None, "label", "sure"], ["x", "cat", 1]],
        "column 3.*cells that were merged leave such gaps",
    ),
    "names that come twice": ([[*HEAD, "label"], *([*r, "cat"] for r in SAID)], "repeats 'label'"),
    "a note below": ([HEAD, *SAID, [None], ["Source: own"]], "row 6 on line 8.*as notes below"),
    "a codebook in front": (
        {"Codes": [["code", "means"], ["cat", "Felis"]], "Said": [HEAD, *SAID]},
        r"first one is not the longest; .*as in .*#Said",
    ),
    "formulas without values": (
        [HEAD, *SAID, ["w", "ann", Formula("C2")]], r"1 is a formula .*\(C7\); .*save it again"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_workbooks_that_are_refused_with_what_mends_them(name):
    sheets, words = REFUSED[name]
    with pytest.raises(TableError, match=words):
        read_annotations(book(sheets))


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (["Total", 7, 7.5], "is called 'Total'"),
        (["Source: own", None, None], "says only 'Source: own'"),
        (["w", 3, Formula("SUM(C2:C4)")], r"a formula that nobody has computed \(C5\)"),
    ],
)
def test_rows_of_features_that_are_none(last, words):
    assert read_features(book(SIZES)).X.tolist() == [[1, 2.5], [2, 3.5], [4, 1.5]]
    with pytest.raises(TableError, match=words):
        read_features(book([*SIZES, last]), kinds="any")


def test_a_codebook_of_two_rows_is_not_taken_for_answers_of_two_people():
    with pytest.raises(TableError, match="do not share their values"):
        read_annotations(io.StringIO("code,meaning\n1,cat\n2,dog\n"))


def test_a_sheet_for_each_person_is_not_read_as_one_of_them(tmp_path):
    rows = [["item", "label"], ["x", "oak"], ["y", "elm"]]
    (tmp_path / "by person.xlsx").write_bytes(workbook({"Ann": rows, "Bob": rows[::-1][:2]}))
    assert "as in 'by person.xlsx#Bob'" in read_known(tmp_path / "by person.xlsx").notes[-1]
    (tmp_path / "by person.xlsx").write_bytes(workbook({"Ann": rows, "Bob": rows, "Cy": rows}))
    with pytest.raises(TableError, match="sheets 'Ann', 'Bob', 'Cy' have the same columns"):
        read_known(tmp_path / "by person.xlsx")
    assert len(read_known(f"{tmp_path / 'by person.xlsx'}#Bob").labels) == 2


def test_shares_below_columns_of_people_are_told():
    rows = [[f"i{k}", *(("oak", "elm")[(k + j) % 2] for j in range(3))] for k in range(20)]
    table = [["item", "ann", "bob", "cy"], *rows, ["agreement", "85%", "0.9", "80 %"]]
    found = read_annotations(io.BytesIO(workbook({"S": table})))
    (change,) = [note.settings["map"] for note in found.notes if "others are words" in note]
    assert set(change) == {"85%", "0.9", "80 %"}
