"""Exports that a new user may have: the right meaning, or what mends them."""

import csv
import io
import json

import numpy as np
import pytest

from plausible.cli import main
from plausible.io import TableError, read_annotations, read_known

CLASSES, PEOPLE = ["cat", "dog", "eel"], ["ann", "bob", "cem"]
ITEMS = [f"img{k:02}.jpg" for k in range(12)]
SAID = {
    (item, who): CLASSES[(k + (k * j) % 5 // 4) % 3]
    for k, item in enumerate(ITEMS)
    for j, who in enumerate(PEOPLE)
}


def text_of(header, rows):
    file = io.StringIO(newline="")
    csv.writer(file).writerows([header, *rows])
    return file.getvalue()


def said_in(answers, strip="", people=None):
    """Answers as a dictionary like `SAID`."""
    assert answers.facts.is_hard.all()
    names = zip(answers.items[answers.item], answers.annotators[answers.annotator], strict=True)
    chosen = answers.classes[answers.facts.chosen[answers.statement]]
    told = people or {}
    return {
        (str(item).removeprefix(strip), told.get(who, who.removesuffix("@x.org"))): str(name)
        for (item, who), name in zip(names, chosen, strict=True)
    }


def wide(*columns):
    """A row for each image, with what each of the functions says of it and a person."""
    return [[i, *(column(i, p) for p in PEOPLE for column in columns)] for i in ITEMS]


def test_labelbox():
    def cell(item, who):
        answer = {"featureId": "x", "title": SAID[item, who], "value": SAID[item, who].upper()}
        question = {"featureId": "y", "title": "animal", "value": "animal", "answer": answer}
        return json.dumps({"objects": [], "classifications": [question]})

    header = ["ID", "DataRow ID", "Labeled Data", "Label", "Created By", "Created At", "Agreement"]
    rows = [
        [f"c{n}", item, f"https://x/{item}", cell(item, who), f"{who}@x.org", "2021-02-03", -1]
        for n, (item, who) in enumerate(SAID)
    ]
    text = text_of(header, rows)
    with pytest.raises(TableError) as caught:
        read_known(io.StringIO(text))
    names = caught.value.settings["names"]
    assert names == {"item": "DataRow ID", "annotator": "Created By"}
    assert said_in(read_known(io.StringIO(text), names=names).annotations) == SAID
    several = json.dumps(
        {
            "classifications": [
                {"title": "a", "answer": {"title": "cat"}},
                {"title": "b", "answer": {"title": "dog"}},
            ]
        }
    )
    with pytest.raises(ValueError, match="which classes are meant"):
        read_annotations({"item": [1], "annotator": ["a"], "label": [several]})


def test_a_manifest_of_ground_truth(tmp_path):
    path = tmp_path / "output.manifest"

    def record(k, jobs):
        found = {"source-ref": f"s3://b/{ITEMS[k]}"}
        for job in jobs:
            told = {"class-name": CLASSES[k % 3], "confidence": 0.5 + k / 24, "type": "groundtruth"}
            found |= {job: k % 3, f"{job}-metadata": told}
        return json.dumps(found) + "\n"

    path.write_text("".join(record(k, ["pets"]) for k in range(12)))
    known = read_known(path)
    assert known.items.tolist() == [f"s3://b/{item}" for item in ITEMS]
    assert known.labels.crisp().tolist() == [CLASSES[k % 3] for k in range(12)]
    least = known.labels.contour.min(axis=1)
    np.testing.assert_allclose(least, [0.5 - k / 24 for k in range(12)])
    path.write_text("".join(record(k, ["pets", "again"]) for k in range(12)))
    with pytest.raises(TableError, match="'again', 'pets'; keep one"):
        read_known(path)


def test_files_of_xml_are_told_as_such(tmp_path):
    path = tmp_path / "cvat.xml"
    path.write_text('<?xml version="1.0"?>\n<annotations><image name="a"/></annotations>')
    with pytest.raises(TableError, match="begins like an XML file; give a CSV file"):
        read_known(path)


@pytest.mark.parametrize("end", ["", " rating"])
def test_a_sheet_with_a_column_for_each_rater(end):
    people = [f"Rater {k}{end}" for k in (1, 2, 3)]
    rows = [["5/3/2024", *row, "fine"] for row in wide(lambda i, p: SAID[i, p])]
    answers = read_annotations(io.StringIO(text_of(["When", "Image", *people, "Comment"], rows)))
    assert said_in(answers, people=dict(zip(people, PEOPLE, strict=True))) == SAID
    assert "not used: 'When', 'Comment'" in answers.notes
    stars = [[i, k % 5 + 1, (k + 1) % 5 + 1, "" if k % 4 else 3] for k, i in enumerate(ITEMS)]
    rated = read_annotations(io.StringIO(text_of(["Image", *people], stars)))  # no counts by class
    assert (len(rated), rated.classes.tolist()) == (27, [1, 2, 3, 4, 5])
    assert rated.items.tolist() == ITEMS


def test_row_names_of_r_are_no_items():
    rows = [[n, who, item, said] for n, ((item, who), said) in enumerate(SAID.items(), 1)]
    text = text_of(["", "rater", "stimulus", "response"], rows)
    with pytest.raises(TableError) as caught:
        read_annotations(io.StringIO(text))
    names = caught.value.settings["names"]
    assert names == {"item": "stimulus", "annotator": "rater", "label": "response"}
    assert said_in(read_annotations(io.StringIO(text), names=names)) == SAID
    text = text_of(["", "item", "annotator", "label"], [[n, i, w, s] for n, w, i, s in rows])
    assert said_in(read_annotations(io.StringIO(text))) == SAID


@pytest.mark.parametrize("code", [-99, 99])
def test_codes_of_a_survey(code):
    codes = {item: n for n, item in enumerate(ITEMS, 101)}
    rows = [
        [codes[item], PEOPLE.index(who) + 1, CLASSES.index(said) + 1 if n % 9 else code]
        for n, ((item, who), said) in enumerate(SAID.items())
    ]
    text = text_of(["CASEID", "RATERID", "V12"], rows)
    with pytest.raises(TableError) as caught:
        read_annotations(io.StringIO(text))
    names = caught.value.settings["names"]
    assert names == {"item": "CASEID", "annotator": "RATERID", "label": "V12"}
    read = read_annotations(io.StringIO(text), names=names)
    (note,) = [note for note in read.notes if str(code) in note and "no answer" in note]
    read = read_annotations(io.StringIO(text), names=names, **note.settings)
    assert read.classes.tolist() == [1, 2, 3]
    assert int((~read.is_hard[read.statement]).sum()) == 4


def test_a_survey_of_qualtrics_says_how_to_write_it():
    header = ["StartDate", "ResponseId", *(f"Q{k}" for k in range(12))]
    rows = [["Start Date", "Response ID", *(f"What is in {i}?" for i in ITEMS)],
            [json.dumps({"ImportId": name}, separators=(",", ":")) for name in header],
            *(["2024-01-01", f"R_{p}", *(SAID[i, p] for i in ITEMS)] for p in PEOPLE)]  # fmt: skip
    with pytest.raises(TableError, match="rows of names of Qualtrics.*second and the third line"):
        read_annotations(io.StringIO(text_of(header, rows)))


def test_submissions_on_prolific_that_were_returned_do_not_count():
    status = ["RETURNED", "APPROVED", "AWAITING REVIEW", "TIMED-OUT", "APPROVED", "APPROVED"]
    rows = [
        [f"s{n}", who, status[n % 6], item, said]
        for n, ((item, who), said) in enumerate(SAID.items())
    ]
    text = text_of(["Submission id", "Participant id", "Status", "image", "choice"], rows)
    answers = read_annotations(io.StringIO(text))
    counts = [n % 6 not in (0, 3) for n in range(36)]
    assert said_in(answers) == {key: SAID[key] for n, key in enumerate(SAID) if counts[n]}
    assert any("12 answers left out, since Status is 'RETURNED' or 'TIMED-OUT'" in note
               for note in answers.notes)  # fmt: skip


@pytest.mark.parametrize("form", ["{}_confidence", "conf {}", "Sure ({})"])
def test_confidences_beside_each_person(form):
    sure = {key: (0.5, 0.75, 1.0)[n % 3] for n, key in enumerate(SAID)}
    header = ["image", *(name for p in PEOPLE for name in (p, form.format(p)))]
    rows = wide(lambda i, p: SAID[i, p], lambda i, p: sure[i, p])
    answers = read_annotations(io.StringIO(text_of(header, rows)))
    assert said_in(answers) == SAID
    keys = zip(answers.items[answers.item], answers.annotators[answers.annotator], strict=True)
    assert answers.doubt.tolist() == pytest.approx([1 - sure[key] for key in keys])


def test_words_of_confidence_beside_each_person(tmp_path, capsys):
    header = ["image", *PEOPLE, *(f"conf_{p}" for p in PEOPLE)]
    rows = [[i, *(SAID[i, p] for p in PEOPLE), *("high" if p == "ann" else "low" for p in PEOPLE)]
            for i in ITEMS]  # fmt: skip
    path = tmp_path / "said.csv"
    path.write_text(text_of(header, rows))
    with pytest.raises(TableError, match="'low'") as caught:
        read_annotations(path)
    answers = read_annotations(path, words=caught.value.settings["words"])
    assert said_in(answers) == SAID
    doubts = dict(zip(answers.annotators[answers.annotator], answers.doubt, strict=True))
    assert doubts["ann"] < doubts["bob"] == doubts["cem"]
    assert main(["check", str(path), "--json"]) == 1
    assert "--words" in json.loads(capsys.readouterr().out)["command"]
    other = path.read_text().replace("conf_", "mood_")  # other words than the classes
    with pytest.raises(TableError, match="share their values"):
        read_annotations(io.StringIO(other))


def test_a_long_table_with_times():
    rows = [[f"2024-03-04T05:{n:02}:10Z", who, item, said]
            for n, ((item, who), said) in enumerate(SAID.items())]  # fmt: skip
    text = text_of(["timestamp", "user", "image", "answer"], rows)
    assert said_in(read_annotations(io.StringIO(text))) == SAID
    text = text_of(["created_at", "email", "image_url", "selected_option"], rows)
    with pytest.raises(TableError) as caught:
        read_annotations(io.StringIO(text))
    names = caught.value.settings["names"]
    assert said_in(read_annotations(io.StringIO(text), names=names)) == SAID
