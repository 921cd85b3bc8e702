"""Exports and tables unlike those of the other tests: the remedies are typed, and must be right.

All files hold the same answers, `SAID`, or those of one person, `ANN`. Where a file is refused, the
settings of the error are given as they stand, up to three times, as somebody would who types them.
"""

import csv
import io
import json
import shlex

import numpy as np
import pytest

from plausible.base import RowOrderWarning
from plausible.cli import main
from plausible.experts import Annotations
from plausible.io import (
    TableError,
    read_annotations,
    read_features,
    read_known,
    read_training,
)
from plausible.labels import as_labels

CLASSES, PEOPLE = ["cat", "dog", "eel"], ["ann", "bob", "cem"]
ITEMS = [f"img{k:02}" for k in range(12)]
SAID = {
    (item, who): CLASSES[(k + (k * j) % 5 // 4) % 3]
    for k, item in enumerate(ITEMS)
    for j, who in enumerate(PEOPLE)
}
ANN = {item: SAID[item, "ann"] for item in ITEMS}
ROWS = [(n, item, who, said) for n, ((item, who), said) in enumerate(SAID.items())]


def text_of(header, rows, separator=","):
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=separator).writerows([header, *rows] if header else rows)
    return file.getvalue()


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def read_mended(path, wanted=("names", "kind", "columns", "map", "words", "count")):
    """What a file means once the remedies of its refusals were typed, and the refusals."""
    options, told = {}, []
    for _ in range(4):
        try:
            return read_known(path, **options), told
        except TableError as error:
            told.append(str(error))
            given = {key: error.settings.get(key) for key in wanted}
            given = {key: value for key, value in given.items() if value is not None}
            assert given, told
            names = {**options.get("names", {}), **given.get("names", {})}
            options |= given | ({"names": names} if names else {})
    raise AssertionError(told)


def bare(name):
    """An item or a person without what a tool writes around it."""
    name = str(name).rpartition("/")[2].removesuffix(".jpg").removesuffix("@x.org")
    return name.removeprefix("private.")


def meaning(known):
    """Answers as in `SAID`, or labels as in `ANN`."""
    answers = known.annotations
    if answers is None:
        return dict(zip(map(bare, known.items), known.labels.crisp().tolist(), strict=True))
    assert answers.is_hard[answers.statement].all()
    names = zip(answers.items[answers.item], answers.annotators[answers.annotator], strict=True)
    said = answers.classes[answers.facts.chosen[answers.statement]].tolist()
    return {(bare(i), bare(who)): name for (i, who), name in zip(names, said, strict=True)}


def ground_truth(item):
    def answer(who):
        content = json.dumps({"crowd-image-classifier": {"label": SAID[item, who]}})
        return {"workerId": f"private.{who}", "annotationData": {"content": content}}

    of_people = [answer(who) for who in PEOPLE]
    return {"dataObject": {"s3Uri": f"s3://b/{item}.jpg"}, "annotations": of_people}


def labelbox(item):
    def label(who):
        chosen = {"name": SAID[item, who], "value": SAID[item, who]}
        question = {"name": "animal", "value": "animal", "radio_answer": chosen}
        said = {"objects": [], "classifications": [question], "relationships": []}
        by = {"created_at": "2024", "created_by": f"{who}@x.org"}
        return {"label_kind": "Default", "label_details": by, "annotations": said}

    project = {"name": "Pets", "labels": [label(who) for who in PEOPLE]}
    return {"data_row": {"id": item, "row_data": "x"}, "projects": {"p1": project}}


TOLOKA = [
    "INPUT:image", "OUTPUT:result", "GOLDEN:result", "HINT:text", "ASSIGNMENT:link",
    "ASSIGNMENT:task_id", "ASSIGNMENT:task_suite_id", "ASSIGNMENT:worker_id", "ASSIGNMENT:status",
    "ASSIGNMENT:started", "ASSIGNMENT:reward",
]  # fmt: skip
APPEN = ["_unit_id", "_created_at", "_id", "_tainted", "_channel", "_trust", "_worker_id", "_city",
         "animal", "animal_gold"]  # fmt: skip
OF_MANY = {
    "worker answers of Ground Truth": ("w.json", json.dumps(list(map(ground_truth, ITEMS)))),
    "rows of Labelbox": ("l.ndjson", lines(map(labelbox, ITEMS))),
    "classifications of LightTag": (
        "t.json",
        json.dumps({"examples": [
            {"example_id": i, "content": "x", "annotations": [],
             "classifications": [{"classname": SAID[i, p], "annotators": [p]} for p in PEOPLE]}
            for i in ITEMS
        ]}, indent=1),
    ),
    "all columns of Toloka": (
        "t.tsv",
        text_of(TOLOKA, [
            [f"https://x/{i}.jpg", s, "", "", f"https://t/{n}", f"t{n}", f"s{n // 3}", w,
             "APPROVED" if n % 9 else "SUBMITTED", "2020-01-01T00:00:00", 0.01]
            for n, i, w, s in ROWS
        ], "\t"),
    ),
    "all columns of Appen": (
        "a.csv",
        text_of(APPEN, [
            [i, "1/1/2020", n, "true" if n % 12 == 0 else "false", "neodev",
             0.8 + PEOPLE.index(w) / 20, w, "Austin", s, ""]
            for n, i, w, s in ROWS
        ]),
    ),
    "columns that R has named": ("v.csv", text_of(["V1", "V2", "V3"], [row[1:] for row in ROWS])),
    "columns in another order": ("v.csv", text_of("abc", [(s, i, w) for _, i, w, s in ROWS])),
    "items and people by other names": (
        "n.csv", text_of(["photo_nr", "name", "label"], [row[1:] for row in ROWS])
    ),
    "pandas writes columns": (
        "p.json",
        json.dumps({
            name: {str(row[0]): row[k] for row in ROWS}
            for k, name in ((1, "item"), (2, "annotator"), (3, "label"))
        }),
    ),
    "columns as lists": (
        "p.json",
        json.dumps({"item": [r[1] for r in ROWS], "annotator": [r[2] for r in ROWS],
                    "label": [r[3] for r in ROWS]}),
    ),
    "people by item": (
        "p.json", json.dumps({i: {p: SAID[i, p] for p in PEOPLE} for i in ITEMS}, indent=2)
    ),
    "people in an object of each line": (
        "p.jsonl", lines({"item": i, "said": {p: SAID[i, p] for p in PEOPLE}} for i in ITEMS)
    ),
    "people and labels in lists": (
        "h.jsonl",
        lines({"id": 90 + k, "text": i, "annotators": PEOPLE,
               "labels": [SAID[i, p] for p in PEOPLE]} for k, i in enumerate(ITEMS)),
    ),
    "a long object": (
        "p.json",
        json.dumps({"items": [
            {"image": i, "remark": "x" * 9000, "by": {"user": {"name": w}}, "label": s}
            for _, i, w, s in ROWS
        ]}),
    ),
}  # fmt: skip
OF_ANN = {
    "Datumaro": (
        "d.json",
        json.dumps({
            "info": {}, "categories": {"label": {"labels": [{"name": c} for c in CLASSES]}},
            "items": [{"id": i, "annotations": [{"type": "label", "label_id": CLASSES.index(c)}]}
                      for i, c in ANN.items()],
        }, indent=2),
    ),
    "COCO": (
        "c.json",
        json.dumps({
            "images": [{"id": 7 + k, "file_name": f"{i}.jpg"} for k, i in enumerate(ITEMS)],
            "categories": [{"id": 5 - k, "name": c} for k, c in enumerate(CLASSES)],
            "annotations": [{"id": k, "image_id": 7 + k, "category_id": 5 - CLASSES.index(ANN[i])}
                            for k, i in enumerate(ITEMS)],
        }),
    ),
    "categories of Scale": (
        "s.json",
        json.dumps([{"task_id": i, "status": "completed", "params": {"attachment": f"http://{i}"},
                     "response": {"category": c}} for i, c in ANN.items()]),
    ),
    "answers of Scale, in lists": (
        "s.json",
        json.dumps([
            {"task_id": i, "response": {"annotations": {"animal": {"response": [[c]]}}}}
            for i, c in ANN.items()
        ]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", [*OF_MANY, *OF_ANN])
def test_answers_come_out_however_deep_they_are(name, tmp_path):
    file, text = (OF_MANY | OF_ANN)[name]
    path = tmp_path / file
    path.write_text(text)
    known, told = read_mended(path)
    assert meaning(known) == (SAID if name in OF_MANY else ANN)
    assert len(told) <= 1, told


def test_several_lists_in_an_object_are_refused():
    record = {"id": 1, "a": {"said": [{"label": "cat"}]}, "b": [{"label": "dog"}]}
    with pytest.raises(TableError, match="one list of answers, but holds several, 'a' and 'b'"):
        read_known(io.StringIO(lines([record, record])))
    boxes = {"images": [{"id": 1}], "categories": [{"id": 1, "name": "cat"}],
             "annotations": [{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}]}  # fmt: skip
    with pytest.raises(TableError, match="classes of whole images"):
        read_known(io.StringIO(json.dumps(boxes)))
    del boxes["annotations"][0]["bbox"], boxes["images"][0]["id"]
    with pytest.raises(TableError, match=r"export of COCO, but a part of it is missing \('id'\)"):
        read_known(io.StringIO(json.dumps(boxes)))


# -- Refusals that have no option, or must not be read ---------------------------------------------

NO_OPTION = {
    "no header": (text_of(None, [row[1:] for row in ROWS]), "stand in the rows below as well"),
    "labels without a header": (text_of(None, ANN.items()), "'cat' stand in the rows below"),
    "one object of items": (json.dumps(ANN), "one row, and 'img00', .* may be items or people"),
    "YAML": ("- item: a\n  label: cat\n", "one column only, '- item: a'; write a table"),
    "a web page": ("<table><tr><th>item</th></tr></table>", "begins like a web page"),
    "SurveyMonkey": (
        "Respondent ID,Collector ID,Start Date,What is in x?,What is in y?,What is in z?\n"
        ",,,Response,Response,Response\n1,7,1/2/24,cat,dog,dog\n2,7,1/2/24,cat,eel,dog\n",
        "two rows of names of SurveyMonkey.*delete the second line",
    ),
    "a row for each person, with an id": (
        text_of(["ID", "Start", "Email", "Name", *(f"Picture {i}" for i in ITEMS)],
                [[k, "1/1/24", f"{p}@x.org", p, *(SAID[i, p] for i in ITEMS)]
                 for k, p in enumerate(PEOPLE)]),
        r"each row is of another person \('Email'\), and 'Picture img00', .* look like items",
    ),
    "a row for each person, without a name": (
        text_of(["id. Response", "token. Token", *(f"Q1[{i}]" for i in ITEMS)],
                [[k, f"t{p}", *(SAID[i, p] for i in ITEMS)] for k, p in enumerate(PEOPLE)]),
        r"3 rows, fewer than columns with the same answers, and 'Q1\[img00\]', .* look like items",
    ),
    "boxes of Label Studio": (
        json.dumps([{"id": 1, "data": {"image": "a"}, "annotations": [
            {"completed_by": 1, "result": [{"type": "rectanglelabels", "value": {"x": 1}}]}
        ]}]),
        "choices or ratings of whole tasks, but there are 'rectanglelabels'",
    ),
    "files that were put together": (
        2 * text_of(["item", "annotator", "label"], [row[1:] for row in ROWS]),
        "row 37 on line 38 has the names of the columns again.*delete it",
    ),
    "labels that were put together": (
        2 * text_of(["item", "label"], ANN.items()), "the names of the columns again"
    ),
    "answers side by side that were put together": (
        2 * text_of(["photo", *PEOPLE], [[i, *(SAID[i, p] for p in PEOPLE)] for i in ITEMS]),
        "the names of the columns again",
    ),
    "a list of classes": ("code,label\n1,cat\n2,dog\n3,eel\n", "a list of classes"),
    "another list of classes": ("value;label\n1;never\n2;often\n", "a list of classes"),
    "two scales of confidence": (
        text_of(["item", "annotator", "label", "confidence"],
                [[*row[1:], 90 if row[0] % 2 else 0.9] for row in ROWS]),
        "on one scale, but .* 0.9, as from 0 to 1, beside 90, as in percent",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_OPTION)
def test_what_cannot_be_read_says_why(name, tmp_path):
    text, words = NO_OPTION[name]
    path = tmp_path / ("file.json" if text[:1] in "{[" else "file.csv")
    path.write_text(text)
    with pytest.raises(TableError, match=words):
        read_known(path)


def test_questions_that_are_not_used_are_listed(tmp_path):
    def result(name, kind, value):
        return {"from_name": name, "type": kind, "value": {kind: value}}

    tasks = [
        {"id": n, "data": {"image": i}, "annotations": [
            {"completed_by": w, "result": [result("animal", "choices", [s]),
                                           result("sure", "rating", 4)]}
        ]}
        for n, i, w, s in ROWS
    ]  # fmt: skip
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(tasks))
    known, (told,) = read_mended(path)
    assert "there are 'animal', 'sure'" in told
    (note,) = [note for note in known.notes if note.startswith("not used: 'sure'")]
    names = {"label": "animal", "confidence": "sure"}
    assert note.settings["names"] == names
    doubted = read_annotations(path, names=names, words={4: 0.3})
    assert set(doubted.doubt) == {0.3}
    with pytest.raises(TableError, match="the ratings 4") as caught:
        read_annotations(path, names=names)
    assert read_annotations(path, names=names, **caught.value.settings).doubt.min() > 0


# -- Degrees, counts and choices -------------------------------------------------------------------


def test_masses_of_r_are_masses_of_sets():
    header = ["item", "Ø", "{cat}", "{dog, eel}", "{cat,dog,eel}"]
    rows = [[item, 0, 0.5, 0.3, 0.2] for item in ITEMS]
    with pytest.raises(TableError, match="sum to 1") as caught:
        read_known(io.StringIO(text_of(header, rows)))
    assert caught.value.settings["kind"] == "mass"
    labels = read_known(io.StringIO(text_of(header, rows)), kind="mass").labels
    assert labels.classes.tolist() == CLASSES
    np.testing.assert_allclose(labels.contour[0], [0.7, 0.5, 0.5])
    people = [[i, w, 0.0, 0.5, 0.3, 0.2] for _, i, w, _ in ROWS]
    answers = read_annotations(
        io.StringIO(text_of(["item", "annotator", *header[1:]], people)), kind="mass"
    )
    np.testing.assert_allclose(answers.contours[0], [0.7, 0.5, 0.5])


@pytest.mark.parametrize("column", ["count", "n", "Votes", "num_votes"])
def test_counts_of_answers_are_no_people(column, tmp_path):
    rows = [[i, c, (k + j) % 4] for k, i in enumerate(ITEMS) for j, c in enumerate(CLASSES)]
    path = tmp_path / "counts.csv"
    path.write_text(text_of(["item", "label", column], rows))
    known, told = read_mended(path)
    assert len(told) == 1
    assert "looks like a count of equal answers" in told[0]
    votes = known.annotations.votes()
    expected = [[(k + j) % 4 for j in range(3)] for k in range(12)]
    np.testing.assert_array_equal(votes, [row for row in expected if any(row)])
    for bad in (-1, 0.5, ""):
        rows[4][2] = bad
        with pytest.raises(TableError, match=r"should count answers.*row 5 on line 6"):
            read_known(
                io.StringIO(text_of(["item", "label", column], rows)), names={"count": column}
            )


def test_boxes_that_were_ticked_in_redcap(tmp_path):
    path = tmp_path / "redcap.csv"
    header = ["record_id", "event", "rater", *(f"animal___{k}" for k in (1, 2, 3)), "complete"]
    ticked = [[i, "first", w, *(int(s == c) for c in CLASSES), 2] for _, i, w, s in ROWS]
    path.write_text(text_of(header, ticked))
    known, (told,) = read_mended(path, ("kind", "ignore"))
    assert "look like the choices of 'animal'" in told
    codes = {f"animal___{k}": c for k, c in enumerate(CLASSES, 1)}
    assert {key: codes[name] for key, name in meaning(known).items()} == SAID
    ticked[0][4] = 1  # cat and dog
    path.write_text(text_of(header, ticked))
    answers = read_mended(path, ("kind", "ignore"))[0].annotations
    assert answers.contours[answers.statement[0]].tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    "name", ["Confidence (1-5)", "How confident are you?", "annotator_certainty", "prob"]
)
def test_what_may_say_how_sure_people_are_is_not_passed_over(name, tmp_path):
    rows = [[*row[1:], 1 + row[0] % 5] for row in ROWS]
    path = tmp_path / "sure.csv"
    path.write_text(text_of(["item", "annotator", "label", name], rows))
    known, told = read_mended(path, ("names", "words"))
    assert "could be either" in told[0]
    by_rating = {rating: known.annotations.doubt[k] for k, (*_, rating) in enumerate(rows)}
    assert sorted(by_rating, key=by_rating.get) == [5, 4, 3, 2, 1]


# -- Words -----------------------------------------------------------------------------------------


def read_words(name, words, options=("words",)):
    cells = [words[row[0] % len(words)] for row in ROWS]
    table = {"item": [r[1] for r in ROWS], "annotator": [r[2] for r in ROWS],
             "label": [r[3] for r in ROWS], name: cells}  # fmt: skip
    known, _ = read_mended(table, options)
    return {cell: float(known.annotations.doubt[k]) for k, cell in enumerate(cells)}


@pytest.mark.parametrize(
    "surest_first",
    [
        ["very confident", "fairly confident", "not confident at all"],
        ["4 - high", "3 - medium", "2 - low"],
        ["5/5", "3/5", "1/5"],
        ["Very high", "medium", "very low"],
        ["quite sure", "slightly unsure"],
        ["level 3", "level 2", "level 1"],
    ],
)
@pytest.mark.parametrize("name", ["confidence", "doubt"])
def test_the_doubts_that_are_suggested_follow_the_words(surest_first, name):
    found = read_words(name, surest_first)
    order = sorted(found, key=found.get)
    assert order == (surest_first if name == "confidence" else surest_first[::-1])
    assert len(set(found.values())) == len(found)


def test_no_doubt_is_little_doubt():
    found = read_words("doubt", ["yes", "no"])
    assert found["no"] < 0.1 < found["yes"]


def notes_on(change):
    """Answers of which every fifth is changed, and notes on them."""
    cells = [change(s) if n % 5 == 0 else s for n, _, _, s in ROWS]
    table = {"item": [r[1] for r in ROWS], "annotator": [r[2] for r in ROWS], "label": cells}
    return table, read_annotations(table)


@pytest.mark.parametrize(
    "form", ["{}?", "{} (?)", "probably {}", "Maybe {}", "{} (80%)", "{} 60 %", "I think {}"]
)
def test_a_class_with_a_word_on_how_sure_somebody_is(form):
    table, answers = notes_on(form.format)
    (note,) = [note for note in answers.notes if "read as classes of their own" in note]
    again = read_annotations(table, **note.settings)
    assert again.classes.tolist() == CLASSES
    assert meaning(read_known(table, **note.settings)) == SAID


def test_a_class_that_is_denied():
    table, answers = notes_on("not {}".format)
    (note,) = [note for note in answers.notes if "read as classes of their own" in note]
    again = read_annotations(table, **note.settings)
    assert again.classes.tolist() == CLASSES
    assert again.contours[again.statement[0]].tolist() == [0, 1, 1]  # not cat
    two = {"item": [1, 2, 3], "annotator": ["a"] * 3, "label": ["spam", "not spam", "spam"]}
    assert not any("classes of their own" in note for note in read_annotations(two).notes)


def test_yes_beside_y_and_1():
    cells = [["yes", "no", "1", "0", "y", "N"][n % 6] for n, *_ in ROWS]
    table = {"item": [r[1] for r in ROWS], "annotator": [r[2] for r in ROWS], "label": cells}
    (note,) = [note for note in read_annotations(table).notes if "if they are two" in note]
    assert sorted(read_annotations(table, **note.settings).classes) == ["no", "yes"]
    letters = table | {"label": [["t", "n", "f"][n % 3] for n, *_ in ROWS]}
    assert not any("if they are two" in note for note in read_annotations(letters).notes)


@pytest.mark.parametrize(
    "word", ["weiß nicht", "Je ne sais pas", "no sé", "Non so", "não sei", "Keine Ahnung!"]
)
def test_words_of_not_knowing_in_other_languages(word):
    _, answers = notes_on(lambda said: word)
    assert answers.classes.tolist() == CLASSES
    assert any(f"read as 'cannot tell': {word!r}" in note for note in answers.notes)


@pytest.mark.parametrize("word", [".", "(blank)", "No response", "unklar"])
def test_words_that_may_say_nothing_are_told(word):
    table, answers = notes_on(lambda said: word)
    (note,) = [note for note in answers.notes if "if that says nothing" in note]
    assert read_annotations(table, **note.settings).classes.tolist() == CLASSES


def test_items_that_come_again_are_items(tmp_path):
    path = tmp_path / "said.csv"
    path.write_text(text_of(["image", "label"], [(i, s) for _, i, _, s in ROWS]))
    known, (told,) = read_mended(path)
    assert "'image' looks like items that come again" in told
    assert known.items.tolist() == ITEMS
    assert len(known.annotations) == 36
    assert len(read_known(path, "labels").labels) == 36


@pytest.mark.parametrize("who", [True, False])
def test_classes_that_doccano_joins(who):
    rows = [
        [i, *([w] * who), f"{s}#eel" if n == 0 else s] for n, i, w, s in ROWS if who or w == "ann"
    ]
    table = dict(zip(["item", *["annotator"] * who, "label"], zip(*rows, strict=True), strict=True))
    with pytest.raises(TableError, match="'cat#eel'") as caught:
        read_known(table)
    known = read_known(table, map=caught.value.settings["map"])
    assert known.labels.classes.tolist() == CLASSES
    assert known.labels.contour[0, 2] > known.labels.contour[0, 1]


def test_scores_are_told_to_be_no_classes():
    scores = {"item": [r[1] for r in ROWS], "annotator": [r[2] for r in ROWS],
              "label": [r[0] % 13 / 4 for r in ROWS]}  # fmt: skip
    notes = read_annotations(scores).notes
    assert any("9 classes are numbers such as 0.25: is this a score?" in note for note in notes)


def test_answers_that_all_say_nothing_are_told():
    table = {"item": [1, 1, 2], "annotator": ["a", "b", "a"], "label": ["x", "y", "x"]}
    known = read_known(table | {"doubt": [1, 1, 1]})
    assert any("every answer has the doubt 1" in note for note in known.notes)


# -- Items -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("cafe\u0301 {}", "café {}"),
        ("my photo {}", "my  photo {}"),
        ("a\u00a0{}", "a {}"),
        ("\uff49{}", "i{}"),
    ],
)
def test_items_match_however_letters_and_blanks_are_written(ours, theirs):
    known = {"item": [ours.format(k) for k in range(4)], "label": ["x", "y", "x", "y"]}
    features = {"item": [theirs.format(k) for k in (2, 0, 3, 1)], "size": [2.0, 0.0, 3.0, 1.0]}
    training = read_training(known, features)
    assert training.rows.tolist() == [1, 3, 0, 2]
    assert any("matched without blanks and how accents are written" in n for n in training.notes)
    features["item"][1] = ours.format(0)  # both are there, and would be one
    known["item"][1] = theirs.format(0)
    with pytest.raises(TableError, match="would be one|have none|repeats"):
        read_training(known, features)


NUMBERED = {"item": [k for k in range(12) for _ in PEOPLE], "annotator": PEOPLE * 12,
            "label": list(SAID.values())}  # fmt: skip


@pytest.mark.parametrize(
    "gold",
    [
        {"item": np.arange(12.0), "label": list(ANN.values())},
        {"Item": range(12), "Truth": list(ANN.values())},
        {"photo": range(12), "label": list(ANN.values())},
        {"photo": range(12), "true class": list(ANN.values()), "by": ["eve"] * 12},
        {"item": range(12), "label": [name.upper() for name in ANN.values()]},
        dict(enumerate(ANN.values())),
    ],
)
def test_known_classes_are_those_of_the_answers(gold):
    right = {"item": range(12), "label": list(ANN.values())}
    assert read_known(NUMBERED, gold=gold).labels == read_known(NUMBERED, gold=right).labels


def test_known_classes_that_cannot_be_told_are_shown():
    with pytest.raises(TableError, match="they are 'x', and answers are about 0, 1"):
        read_known(NUMBERED, gold={"x": "cat"})
    with pytest.raises(TableError, match="'cat', 'dog', 'eel', but there is 'fox'"):
        read_known(NUMBERED, gold={3: "fox"})


def test_frames_of_pandas_however_they_are_indexed():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([row[1:] for row in ROWS], columns=["item", "annotator", "label"])
    for table in (
        frame.set_index(["item", "annotator"]),
        frame.set_index("item"),
        frame.pivot(index="item", columns="annotator", values="label"),
        frame.astype("category"),
    ):
        assert meaning(read_known(table)) == SAID
    counts = frame.groupby(["item", "label"]).size().reset_index(name="size")
    known, (told,) = read_mended(counts)
    assert "looks like a count" in told
    assert known.annotations.votes().sum() == 36
    with pytest.raises(TableError, match=r"single column; give \.reset_index\(\)"):
        read_known(frame.set_index("item")["label"])
    with pytest.warns(RowOrderWarning, match=r"labels\.loc\[items\.index\]"):
        Annotations.from_long(frame["item"], frame["annotator"], frame["label"][::-1])


@pytest.mark.parametrize("name", ["item", "photo", None])
def test_the_index_of_a_frame_of_features_names_the_items(name, tmp_path):
    pandas = pytest.importorskip("pandas")
    answers = pandas.DataFrame([row[1:] for row in ROWS], columns=["item", "annotator", "label"])
    features = pandas.DataFrame({"size": np.arange(12.0)}, index=pandas.Index(ITEMS, name=name))
    features.sample(frac=1, random_state=0).to_parquet(tmp_path / "features.parquet")
    right = read_training(answers, features.reset_index(names="item"))
    for table in (features, tmp_path / "features.parquet"):
        found = read_training(answers, table)
        assert found.names == ["size"]
        order = np.argsort(found.X[:, 0])
        np.testing.assert_array_equal(found.labels[order].contour, right.labels.contour)
        assert read_features(table).ids[order].tolist() == ITEMS
    numbered = read_features(features.set_axis(np.arange(12)[::-1]))
    assert numbered.ids is None  # numbers without a name tell nothing
    with pytest.raises(ValueError, match=r"holds names such as .*read_known\(y\)"):
        as_labels(answers)


@pytest.mark.parametrize("table", [ANN, {i: {p: SAID[i, p] for p in PEOPLE} for i in ITEMS}])
def test_values_of_a_mapping_are_not_taken_apart(table):
    with pytest.raises(TableError, match="'img00' is a (str|dict); write a row for each"):
        read_known(table)


COMMANDS = {
    "depths": ("w.json", OF_MANY["worker answers of Ground Truth"][1], 36),
    "counts": (
        "c.csv",
        text_of(["item", "label", "votes"], [[i, c, (k + j) % 4] for k, i in enumerate(ITEMS)
                                             for j, c in enumerate(CLASSES)]),
        54,
    ),
    "boxes": (
        "b.csv",
        text_of(["record_id", "event", "rater", *(f"a___{c}" for c in CLASSES)],
                [[i, "first", w, *(int(s == c) for c in CLASSES)] for _, i, w, s in ROWS]),
        36,
    ),
    "sureness": (
        "s.csv",
        text_of(["item", "annotator", "label", "Confidence (1-5)"],
                [[*row[1:], 1 + row[0] % 5] for row in ROWS]),
        36,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_that_check_prints_works(name, tmp_path, capsys):
    file, text, n_answers = COMMANDS[name]
    path = tmp_path / file
    path.write_text(text)
    assert main(["check", str(path), "--json"]) == 1
    printed = shlex.split(json.loads(capsys.readouterr().out)["command"])
    options = printed[printed.index(str(path)) + 1 : printed.index("-o")]
    assert main(["check", str(path), *options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["answers"]
    assert (found["n_answers"], found["n_items"]) == (n_answers, 12)
    assert main(["pool", str(path), *options, "-o", str(tmp_path / "labels.csv")]) == 0


# -- Features --------------------------------------------------------------------------------------

FEATURES = {"item": ITEMS[::-1], "size": np.linspace(20.0, 49.0, 12)}
LABELED = {"item": ITEMS, "label": list(ANN.values())}


@pytest.mark.parametrize("name", ["target", "class", "y", "Ground truth"])
def test_numbers_of_classes_are_no_feature(name):
    numbers = [7 - CLASSES.index(ANN[item]) for item in FEATURES["item"]]
    with pytest.raises(TableError, match="holds the classes") as caught:
        read_training(LABELED, FEATURES | {name: numbers}, kinds="any")
    kinds = caught.value.settings["kinds"]
    read = read_training(LABELED, FEATURES | {name: numbers}, kinds=kinds)
    assert read.names == ["size"]
    others = [0, 0, 1, 1, 2, 2] * 2  # as many numbers, of something else
    read = read_training(LABELED, FEATURES | {name: others}, kinds="any")
    assert name in read.names


@pytest.mark.parametrize("kinds", [None, "any"])
@pytest.mark.parametrize("code", [-999, 9999])
def test_numbers_that_stand_for_nothing_are_told(kinds, code):
    sizes = np.where(np.arange(12) % 5 == 0, code, FEATURES["size"])
    table = FEATURES | {"size": sizes, "age": np.arange(12.0) ** 3}
    read = read_training(LABELED, table, kinds=kinds)
    (note,) = [note for note in read.notes if "if that is an empty cell" in note]
    assert f"'size' is {code} in 3 rows" in note
    again = read_training(LABELED, table, **({"kinds": kinds} | note.settings))
    assert int(np.isnan(np.asarray(again.X["size"], dtype=float)).sum()) == 3
    assert not any("empty cell" in str(note) for note in again.notes)
