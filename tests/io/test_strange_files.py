"""Further files as strangers have them: the right meaning, or a refusal with what mends it."""

import io
import json

import pytest
from tests.support.workbooks import workbook

from plausible.io import (
    TableError,
    read_annotations,
    read_known,
    read_new,
    read_table,
    read_training,
)

CLASSES = ("oak", "elm", "ash")
SAID = [(f"i{k}", who, CLASSES[(k + (who == "cy")) % 3]) for k in range(6)
        for who in ("ann", "bob", "cy")]  # fmt: skip
HEAD = ("item", "annotator", "label")


def text(rows, head=HEAD, mark=","):
    return "".join(mark.join(map(str, row)) + "\n" for row in (head, *rows))


def heard(answers):
    """Who said what about which item."""
    names = zip(answers.item, answers.annotator, answers.statement, strict=True)
    return [
        (str(answers.items[i]), str(answers.annotators[j]),
         [str(name) for name in answers.classes[answers.contours[k] == 1]])
        for i, j, k in names
    ]  # fmt: skip


MEANT = [(item, who, [label]) for item, who, label in SAID]


def changed(change):
    """The answers of Ann in another spelling."""
    return text([(i, w, change(c) if w == "ann" else c) for i, w, c in SAID])


RIGHT = {
    "write.table of R": '"item","annotator","label"\n'
    + "".join(f'"{k}","{i}","{w}","{c}"\n' for k, (i, w, c) in enumerate(SAID, 1)),
    "write.table of R with tabs": '"item"\t"annotator"\t"label"\n'
    + "".join(f'"{k}"\t"{i}"\t"{w}"\t"{c}"\n' for k, (i, w, c) in enumerate(SAID, 1)),
    "two marks of byte order": "\ufeff\ufeff" + text(SAID),
    "blanks without width in the header": text(SAID, ("\u200bitem", "annotator\u200b", "label")),
    "blanks without width": changed("\u200b{}".format),
    "curly quotes": changed("\u201c{}\u201d".format),
    "German quotes": changed("\u201e{}\u201c".format),
    "single quotes": changed("'{}'".format),
    "soft hyphens": changed(lambda c: f"{c[0]}\u00ad{c[1:]}"),
    "letters of full width": changed(lambda c: "".join(chr(ord(x) + 0xFEE0) for x in c)),
    "line ends of three kinds": text(SAID[:6]).replace("\n", "\r\n")
    + text(SAID[7:12], SAID[6])
    + text(SAID[13:], SAID[12]).replace("\n", "\r"),
    "UTF-16": text(SAID).encode("utf-16"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_answers_come_out_as_they_are_meant(name, tmp_path):
    path = tmp_path / "answers.csv"
    content = RIGHT[name]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert heard(read_annotations(path)) == MEANT


def test_signs_that_are_drawn_in_two_ways_are_one_class():
    cat, drawn = "\U0001f431", "\U0001f431\ufe0f"
    rows = [("x", "ann", cat), ("x", "bob", drawn), ("y", "ann", "\U0001f436"), ("y", "bob", cat)]
    found = read_annotations(io.StringIO(text(rows)))
    assert found.classes.tolist() == ["\U0001f431", "\U0001f436"]
    assert any("read as one class" in note for note in found.notes)
    family = "\U0001f468\u200d\U0001f469", "\U0001f468\U0001f469"  # joined: another sign
    rows = [("x", "ann", family[0]), ("x", "bob", family[1])]
    assert len(read_annotations(io.StringIO(text(rows))).classes) == 2


@pytest.mark.parametrize(
    ("pairs", "change"),
    [
        ((("ja", "nein"), ("yes", "no")), {"yes": "ja", "no": "nein"}),
        ((("WAHR", "FALSCH"), ("TRUE", "FALSE")), {"TRUE": "WAHR", "FALSE": "FALSCH"}),
        ((("oui", "non"), ("1", "0")), {"1": "oui", "0": "non"}),
        ((("one", "two"), ("1", "2")), {"one": "1", "two": "2"}),
    ],
)
def test_truth_in_two_languages_is_told_with_what_makes_it_one(pairs, change):
    rows = [(k, w, pairs[w == "bob"][k % 2]) for k in range(6) for w in ("ann", "bob")]
    found = read_annotations(io.StringIO(text(rows)))
    assert len(found.classes) == 4
    assert [note.settings["map"] for note in found.notes if "map=" in note] == [change]
    mended = read_annotations(io.StringIO(text(rows)), map=change)
    assert len(mended.classes) == 2
    one = [(k, w, pairs[0][k % 2]) for k, w, _ in rows]
    assert not read_annotations(io.StringIO(text(one))).notes


FORM = "Timestamp,Email Address,Which tree? [photo 1],Which tree? [photo 2],Which tree? [photo 3]\n"
NO_FORM = text([("ann", *CLASSES), ("bob", *CLASSES[::-1]), ("cy", "elm", "oak", "oak")],
               ("item", "photo 1", "photo 2", "photo 3"))  # fmt: skip
LABELME = {"version": "5.2", "flags": {}, "imagePath": "a.jpg",
           "shapes": [{"label": "oak", "points": [[1, 2], [3, 4]]}]}  # fmt: skip
VOTES = text([(f"i{k}", f"oak:{3 - k % 3};elm:{k % 3}") for k in range(6)], ("item", "label"))
REFUSED = {
    "a second line with types": (text([("string", "string", "category"), *SAID]),
                                 r"first row \(row 1 on line 2\) says 'string'.*delete it"),
    "a second line with questions": (text([("which photo?", "who?", "which tree?"), *SAID]),
                                     "as a second line of names.*delete it"),
    "a form of Google": (FORM + "".join(
        f"3/{k}/2024 10:00,p{k}@x.org,oak,{'elm' if k else 'ash'},ash\n" for k in range(5)),
        "melt in pandas"),
    "a form without times": (FORM.partition(",")[2] + "".join(
        f"p{k}@x.org,oak,{CLASSES[k % 3]},ash\n" for k in range(5)), "melt in pandas"),
    "items in columns": (NO_FORM, "'photo 3' are called as items.*say layout='annotators'"),
    "a file of LabelMe": (json.dumps(LABELME), "a file of LabelMe.*a row for each image"),
    "votes in a cell": (VOTES, "'oak:3;elm:0' was found.*column for each class"),
    "votes before classes": (VOTES.replace("oak:", "4x oak").replace("elm:", "1x elm"),
                             "column for each class"),
    "shares in a cell": (VOTES.replace("oak:", "oak = 2").replace("elm:", "elm = 8"),
                         "votes or shares of several classes"),
    "files put together, with their marks": (text(SAID[:9]) + "\ufeff" + text(SAID[9:]),
                                             "row 10 on line 11 has the names of the columns"),
    "a list of classes": ("class,name\n1,oak\n0,elm\n2,ash\n", "each of which comes once"),
    "lists of people": ('item,annotators,labels\n' + "".join(
        f'i{k},"[""ann"",""bob""]","[""oak"",""elm""]"\n' for k in range(6)),
        "'annotators' lists several people.*explode in pandas"),
    "nothing but blanks": ("\n  \n \n", "nothing but blanks"),
    "row names that are not quoted": ("item,annotator,label\n" + "".join(
        f"{k},{i},{w},{c}\n" for k, (i, w, c) in enumerate(SAID)),
        "has 4 cells.*row.names = FALSE in R"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_mean_something_else_is_refused_with_the_remedy(name, tmp_path):
    content, words = REFUSED[name]
    path = tmp_path / ("file.json" if content[0] == "{" else "file.csv")
    path.write_text(content)
    with pytest.raises(TableError, match=words):
        read_known(path)


def test_answers_side_by_side_among_other_columns_are_no_people_and_items():
    """As LimeSurvey writes them: nobody can tell whether rows are items or people."""
    names = [f"photo[SQ{k}]" for k in range(1, 5)]
    rows = [(k, "2024-01-01", 3, "en", *(CLASSES[(k * j) % 3] for j in range(1, 5)))
            for k in range(1, 13)]  # fmt: skip
    survey = text(rows, ("id", "submitdate", "lastpage", "startlanguage", *names))
    with pytest.raises(TableError, match="hold the same answers.*melt in pandas") as caught:
        read_annotations(io.StringIO(survey))
    found = read_annotations(io.StringIO(survey), **caught.value.settings)
    assert found.annotators.tolist() == names
    assert found.items.tolist() == list(range(1, 13))


def test_row_names_beside_a_column_for_each_person_are_nobody():
    rows = [(k, f"i{k}", CLASSES[k % 3], CLASSES[k % 2]) for k in range(6)]
    found = read_annotations(io.StringIO(text(rows, ("", "item", "ann", "bob"))))
    assert found.annotators.tolist() == ["ann", "bob"]
    assert any("not used: 'unnamed'" in note for note in found.notes)


def test_sums_below_columns_of_people_are_told():
    rows = [(f"i{k}", *(CLASSES[(k + j) % 3] for j in range(3))) for k in range(12)]
    wide = text([*rows, ("n_answered", 12, 12, 11)], ("item", "ann", "bob", "cy"))
    found = read_annotations(io.StringIO(wide))
    told = [note for note in found.notes if "though others are words" in note]
    assert told[0].settings["map"] == {"11": "cannot tell", "12": "cannot tell"}
    mended = read_annotations(io.StringIO(wide), map=told[0].settings["map"])
    assert mended.classes.tolist() == sorted(CLASSES)


def test_a_first_row_that_is_like_others_or_is_asked_for_is_an_answer():
    alone = [("new", "dan", "fir"), *SAID]
    with pytest.raises(TableError, match="list the classes="):
        read_annotations(io.StringIO(text(alone)))
    found = read_annotations(io.StringIO(text(alone)), classes=["oak", "elm", "ash", "fir"])
    assert heard(found) == [("new", "dan", ["fir"]), *MEANT]
    again = [("new", "ann", "fir"), *SAID]  # somebody who speaks of others as well
    assert len(read_annotations(io.StringIO(text(again)))) == len(SAID) + 1
    asked = read_annotations(io.StringIO(NO_FORM), layout="annotators")
    assert asked.annotators.tolist() == ["photo 1", "photo 2", "photo 3"]
    times = text([("a", "ann", "10:30"), ("b", "ann", "11:00"), ("b", "bob", "10:30")])
    assert len(read_annotations(io.StringIO(times)).classes) == 2


def test_a_workbook_with_a_second_row_of_units():
    book = workbook({"Data": [list(HEAD), ["[id]", "[name]", "[tree]"], *map(list, SAID)]}, ())
    with pytest.raises(TableError, match=r"says '\[id\]', '\[name\]', '\[tree\]'"):
        read_annotations(io.BytesIO(book))


def test_units_below_the_names_of_features_are_shown():
    rows = [f"i{k},{5 + 4 * (k % 3)}.{k},{k}.5\n" for k in range(6)]
    features = "".join(["item,length,mass\n", "-,mm,g\n", *rows])
    with pytest.raises(TableError, match="column 'length' holds 'mm'"):
        read_training(io.StringIO(text(SAID)), io.StringIO(features), kinds="any")


def test_ids_with_the_apostrophe_of_excel_match_with_a_note():
    rows = [(f"'00{k}", w, CLASSES[k % 3]) for k in range(1, 6) for w in ("ann", "bob")]
    for names in ("00{}", "{}"):
        ids = [names.format(k) for k in range(5, 0, -1)]
        features = {"item": ids, "size": [k + 0.5 for k in range(5, 0, -1)]}
        found = read_training(io.StringIO(text(rows)), features)
        assert found.rows.tolist() == [4, 3, 2, 1, 0]
        assert any("matched without leading zeros" in note for note in found.notes)


def test_row_names_of_r_that_are_no_item_and_a_name_too_few_in_a_long_file():
    rows = "".join(f'"{k}","{i}","{w}","{c}"\n' for k, (i, w, c) in enumerate(SAID * 3, 1))
    table = read_table(io.StringIO('"item","annotator","label"\n' + rows))
    assert table.column_names == ["unnamed", *HEAD]
    assert table.num_rows == 3 * len(SAID)
    cut = '"item","annotator","label"\n' + rows + '"99","i1","ann"\n'
    with pytest.raises(TableError, match="should have 4 cells"):
        read_table(io.StringIO(cut))


@pytest.mark.parametrize(
    "change",
    [lambda k, c: f"{k}: {c}", lambda k, c: f"{c} ({k})", lambda k, c: f"{c}.",
     lambda k, c: f"{c}&nbsp;", lambda k, c: c.replace("a", "\u0430").replace("e", "\u0435"),
     lambda k, c: c.replace("a", "\u00c3\u00a9").replace("e", "\u00c3\u00a9")],
    ids=["code before", "code behind", "end mark", "entity", "look-alike letters", "mojibake"],
)  # fmt: skip
def test_classes_with_a_code_or_a_mark_are_told_with_what_makes_them_one(change):
    plain = [c.replace("a", "\u00e9").replace("e", "\u00e9") for c in CLASSES]
    names = plain if "\u00c3" in change(1, "ae") else CLASSES
    rows = [(k, w, change(k % 3, CLASSES[k % 3]) if w == "ann" else names[k % 3])
            for k in range(6) for w in ("ann", "bob")]  # fmt: skip
    found = read_annotations(io.StringIO(text(rows)))
    assert len(found.classes) == 6
    told = [note for note in found.notes if "with a code or mark" in note]
    assert told[0].settings["map"] == {change(k, CLASSES[k]): names[k] for k in range(3)}
    mended = read_annotations(io.StringIO(text(rows)), map=told[0].settings["map"])
    assert sorted(mended.classes) == sorted(names)


def test_codes_of_classes_that_have_no_other_name_are_not_told():
    rows = [(k, w, f"{k % 3}: {CLASSES[k % 3]}") for k in range(6) for w in ("ann", "bob")]
    assert not read_annotations(io.StringIO(text(rows))).notes
    levels = [(k, w, f"type {k % 3}") for k in range(6) for w in ("ann", "bob")]
    assert not read_annotations(io.StringIO(text(levels))).notes


def test_an_object_of_items_and_lists_is_not_taken_for_people(tmp_path):
    path = tmp_path / "said.json"
    path.write_text(json.dumps({f"a{k:02d}": [CLASSES[k % 3]] * 2 for k in range(12)}))
    with pytest.raises(TableError, match="are 12, for 2 rows.*say layout='annotators'"):
        read_annotations(path)
    assert len(read_annotations(path, layout="annotators").annotators) == 12


def test_features_whose_names_are_written_otherwise_are_named():
    with pytest.raises(TableError, match=r"Rename 'Size ' to 'size', 'DEPTH' to 'depth'\."):
        read_new({"item": ["x"], "Size ": [1.0], "DEPTH": [2.0]}, ["size", "depth"])
    with pytest.raises(TableError, match=r"lacks 'size'; .* Add them\."):
        read_new({"item": ["x"], "depth": [2.0]}, ["size", "depth"])


@pytest.mark.parametrize(
    ("tick", "none"), [("x", ""), ("\u2713", ""), ("ja", "nein"), ("TRUE", "FALSE")]
)
def test_ticks_are_no_answers_of_people(tick, none):
    rows = [(f"i{k}", *(tick if k % 3 == c else none for c in range(3))) for k in range(6)]
    table = text(rows, ("photo", *CLASSES))
    with pytest.raises(TableError, match=r"as if it ticked the class; write 1 .* say kind='set'"):
        read_annotations(io.StringIO(table))
    ones = [(f"i{k}", *(int(k % 3 == c) for c in range(3))) for k in range(6)]
    mended = text(ones, ("photo", *CLASSES))
    assert read_known(io.StringIO(mended), kind="set").labels.crisp().tolist() == list(CLASSES) * 2
    asked = read_annotations(io.StringIO(table), layout="annotators")
    assert asked.annotators.tolist() == list(CLASSES)


def test_people_who_say_yes_or_no_are_people():
    rows = [(f"i{k}", *("yes" if (k >> c) % 2 else "no" for c in range(3))) for k in range(8)]
    found = read_annotations(io.StringIO(text(rows, ("photo", "ann", "bob", "cy"))))
    assert found.annotators.tolist() == ["ann", "bob", "cy"]
    assert found.classes.tolist() == ["no", "yes"]


def test_people_beside_what_they_said_in_one_row_are_refused():
    rows = [(f"i{k}", "ann", CLASSES[k % 3], "bob", CLASSES[k % 2]) for k in range(6)]
    head = ("item", "annotator1", "label1", "annotator2", "label2")
    with pytest.raises(TableError, match="several in a row.*wide_to_long in pandas"):
        read_annotations(io.StringIO(text(rows, head)))


def of_items(column, name="size"):
    """Features of all items, in text, with one more column."""
    rows = [(f"i{k}", f"{k % 3 + 0.1 * k:.2f}", cell) for k, cell in enumerate(column)]
    return io.StringIO(text(rows, ("item", "depth", name)))


@pytest.mark.parametrize("unit", ["{} mm", "${}", "{} \u20ac", "{}kg", "{} years", "{} \u00b0C"])
def test_numbers_with_a_unit_are_neither_categories_nor_left_out(unit):
    features = of_items([unit.format(k % 4 + 0.5) for k in range(6)])
    with pytest.raises(
        TableError, match="'size' .* numbers with a unit, such as .* alone"
    ) as caught:
        read_training(io.StringIO(text(SAID)), features, kinds="any")
    features.seek(0)
    found = read_training(io.StringIO(text(SAID)), features, kinds=caught.value.settings["kinds"])
    assert found.kinds["size"] == "category"
    codes = of_items([f"{k % 3}b" for k in range(6)])  # which are no units
    assert read_training(io.StringIO(text(SAID)), codes, kinds="any").kinds["size"] == "category"


@pytest.mark.parametrize("form", ["[{}.5, {}, 3]", "({}.5 {}.25)", "{}.5,{}", "{}.25;1.5;-{}e-3"])
def test_several_numbers_in_a_cell_are_neither_categories_nor_left_out(form):
    cells = [f'"{form.format(k, k * k)}"' for k in range(6)]
    with pytest.raises(TableError, match="several numbers in a cell.*a column for each") as caught:
        read_training(io.StringIO(text(SAID)), of_items(cells), kinds="any")
    found = read_training(io.StringIO(text(SAID)), of_items(cells),
                          kinds=caught.value.settings["kinds"])  # fmt: skip
    assert found.names == ["depth"]


def test_numbers_that_may_mean_two_things_say_so_where_nothing_else_is_left():
    cells = "item,size\n" + "".join(f'i{k},"{k + 1},{k}45"\n' for k in range(6))
    with pytest.raises(TableError, match="the comma may be decimal or separate thousands"):
        read_training(io.StringIO(text(SAID)), io.StringIO(cells), kinds="any")


@pytest.mark.parametrize("name", ["class_id", "Label code", "target_encoded", "y_true"])
def test_numbers_of_classes_are_known_by_more_names(name):
    said = [(f"i{k}", CLASSES[k % 3]) for k in range(15)]
    labels = text(said, ("item", "label"))
    codes = [str(2 - k % 3) for k in range(15)]
    with pytest.raises(TableError, match=f"'{name}' holds the classes themselves"):
        read_training(io.StringIO(labels), of_items(codes, name), kinds="any")
    others = [str(k % 2) for k in range(15)]
    assert name in read_training(io.StringIO(labels), of_items(others, name), kinds="any").names


def test_features_without_any_names_of_items_need_them():
    features = io.StringIO("length,width\n" + "".join(f"{k}.5,{k * k}.25\n" for k in range(6)))
    with pytest.raises(TableError, match="none does; add a column with the items"):
        read_training(io.StringIO(text(SAID)), features)


def test_a_feature_that_repeats_the_labels_is_refused():
    said = [(f"i{k}", CLASSES[k % 3]) for k in range(15)]
    labels = text(said, ("item", "label"))
    with pytest.raises(TableError, match="'tree' holds the classes themselves") as caught:
        read_training(io.StringIO(labels), of_items([c for _, c in said], "tree"), kinds="any")
    found = read_training(io.StringIO(labels), of_items([c for _, c in said], "tree"),
                          kinds=caught.value.settings["kinds"])  # fmt: skip
    assert found.names == ["depth"]
    near = [CLASSES[(k + (k % 4 == 0)) % 3] for k in range(15)]  # such as what stands beside it
    assert "tree" in read_training(io.StringIO(labels), of_items(near, "tree"), kinds="any").names


@pytest.mark.parametrize("form", ["\"{{'{}', '{}'}}\"", "\"('{}', '{}')\"", "\"['{}', '{}']\""])
def test_sets_as_python_prints_them_are_sets(form):
    rows = [(f"i{k}", w, form.format(*CLASSES[:2]) if k == 2 else CLASSES[k % 3])
            for k in range(6) for w in ("ann", "bob")]  # fmt: skip
    found = read_annotations(io.StringIO(text(rows)))
    assert found.classes.tolist() == sorted(CLASSES)
    assert any("read as one of several classes" in note for note in found.notes)


@pytest.mark.parametrize("joint", [">", " -> ", " vs. ", "\\"])
def test_classes_that_are_set_against_each_other_are_no_class(joint):
    one, other = CLASSES[:2]
    rows = [(f"i{k}", w, f"{one}{joint}{other}" if k == 2 else CLASSES[k % 3])
            for k in range(6) for w in ("ann", "bob")]  # fmt: skip
    with pytest.raises(ValueError, match="joins other classes") as caught:
        read_annotations(io.StringIO(text(rows)))
    change = caught.value.settings["map"]
    assert len(read_annotations(io.StringIO(text(rows)), map=change).classes) == 3


def test_items_that_differ_by_case_are_told():
    rows = [(f"{'IMG' if w == 'bob' else 'img'}{k}", w, CLASSES[k % 3])
            for k in range(6) for w in ("ann", "bob")]  # fmt: skip
    found = read_annotations(io.StringIO(text(rows)))
    assert len(found.items) == 12
    assert sum("items whose names differ by case" in note for note in found.notes) == 1


def test_tasks_of_single_answers_are_no_items():
    rows = [(f"t{k}{w}", f"i{k}.jpg", w, CLASSES[k % 3]) for k in range(6) for w in ("ann", "bob")]
    tasks = text(rows, ("task_id", "file", "worker_id", "label"))
    with pytest.raises(TableError, match="'task_id' is another one in every row") as caught:
        read_annotations(io.StringIO(tasks))
    found = read_annotations(io.StringIO(tasks), **caught.value.settings)
    assert len(found.items) == 6
    batches = tasks.replace("file", "batch")  # which may be anything
    assert len(read_annotations(io.StringIO(batches)).items) == 12


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"spans": [{"start": 0, "end": 3, "label": "oak"}]}, "mark parts of these .end, start"),
        ({"boxes": [{"x": 1, "y": 3, "label": "oak"}]}, "mark parts of these .x, y"),
        ({"soft_label": [0.25, 0.75]}, "a column for each of its numbers, as probability:CLASS"),
    ],
)
def test_records_that_hold_no_class_of_the_item(record, words, tmp_path):
    lines = [json.dumps({"item": f"i{k}"} | record) for k in range(6)]
    (tmp_path / "said.jsonl").write_text("\n".join(lines))
    with pytest.raises(TableError, match=words):
        read_known(tmp_path / "said.jsonl")


def test_scores_by_people_are_to_be_cut_into_classes():
    rows = [(f"i{k}", w, k / 7) for k in range(6) for w in ("ann", "bob")]
    with pytest.raises(TableError, match="'mark' holds fractions; cut these into classes"):
        read_annotations(io.StringIO(text(rows, ("item", "rater", "mark"))))


def test_the_other_item_of_a_pair_is_not_proposed_as_the_label():
    rows = [(f"i{k}", f"i{(k + j) % 6}", w, "ab"[(k * j) % 2])
            for k in range(6) for j, w in ((1, "ann"), (2, "bob"))]  # fmt: skip
    with pytest.raises(TableError) as caught:
        read_annotations(io.StringIO(text(rows, ("item_a", "item_b", "worker", "better"))))
    assert caught.value.settings["names"]["label"] == "better"
