"""Further files as people have them: the right meaning, or a refusal with what mends it."""

import csv
import io
import json

import numpy as np
import pytest

from plausible.io import read_annotations, read_known, read_labels
from plausible.tables import TableError, open_table

# -- Tools that mark parts of texts and images -----------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("T1\tPerson 0 5\tAlice\nR1\tLivesIn Arg1:T1 Arg2:T2\n", "brat"),
        ("E1\tBirth:T3 Who:T1\nT1\tPerson 0 5\tAlice\n", "brat"),
        ("#FORMAT=WebAnno TSV 3.2\n\n#Text=Alice\n1-1\t0-5\tAlice\t_\n", "INCEpTION"),
    ],
)
def test_marked_texts_are_told_by_their_tool(text, tool):
    with pytest.raises(TableError, match=f"{tool}.* marks parts of texts; write a CSV file"):
        read_annotations(io.StringIO(text))


def test_a_table_that_begins_a_little_like_marks_is_one():
    said = read_annotations(io.StringIO("T1\tT2\tR1 R2\n" + "a\tb\ta\n" * 3), layout="annotators")
    assert said.annotators.tolist() == ["T1", "T2", "R1 R2"]


def via_file(name, regions=(), **attributes):
    return {"filename": name, "size": 1, "regions": list(regions), "file_attributes": attributes}


REGION = {"shape_attributes": {"name": "rect", "x": 1}, "region_attributes": {"kind": "cat"}}


@pytest.mark.parametrize("is_project", [True, False])
def test_attributes_of_files_in_the_vgg_image_annotator(is_project, tmp_path):
    files = {
        "b1": via_file("b.jpg", kind="dog", note=""),
        "a1": via_file("a.jpg", [REGION], kind="cat"),
        "c1": via_file("c.jpg", kind=""),
        "d1": via_file("d.jpg", kind={"cat": True, "dog": True, "eel": False}),
    }
    path = tmp_path / "via.json"
    project = {"_via_settings": {}, "_via_img_metadata": files}
    path.write_text(json.dumps(project if is_project else files))
    known = read_known(path)
    assert known.items.tolist() == ["b.jpg", "a.jpg", "c.jpg", "d.jpg"]
    assert known.labels.classes.tolist() == ["cat", "dog"]
    np.testing.assert_array_equal(known.labels.contour, [[0, 1], [1, 0], [1, 1], [1, 1]])
    assert any("VGG Image Annotator" in note for note in known.notes)
    assert any("not used: regions of images" in note for note in known.notes)


def test_other_files_of_the_vgg_image_annotator_are_refused(tmp_path):
    path = tmp_path / "via.json"
    path.write_text(json.dumps({"a1": via_file("a.jpg", [REGION]), "b1": via_file("b.jpg")}))
    with pytest.raises(TableError, match="classes of whole images, but there are parts"):
        read_annotations(path)
    path.write_text(json.dumps({"a1": via_file("a.jpg"), "b1": via_file("b.jpg")}))
    with pytest.raises(TableError, match="no file has an attribute"):
        read_annotations(path)
    header = "filename,file_size,file_attributes,region_count,region_id,region_shape_attributes"
    with pytest.raises(TableError, match="export its annotations as JSON"):
        read_annotations(io.StringIO(f"{header},region_attributes\na.jpg,1,{{}},0,0,{{}},{{}}\n"))


# -- Answers that were rejected, and weights -------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "cells", "told"),
    [
        ("status", ["done", "rejected", "done", "Skipped"],
         "2 answers were kept although status is 'rejected' or 'Skipped': take such rows out"),
        ("is_valid", ["true", "false", "true", "true"],
         "1 answer was kept although is_valid is false"),
        ("was_cancelled", ["0", "1", "0", "1"], "2 answers were kept although was_cancelled is 1"),
        ("Approved", ["yes", "no", "yes", "yes"], "1 answer was kept although Approved is 'no'"),
        ("weight", ["1", "0.5", "2", "1"],
         "answers have no weights, so that 'weight' was not used; if it is how sure people are, "
         "say names={'confidence': 'weight'}"),
        ("status", ["done", "done", "done", "new"], None),
        ("is_valid", ["true"] * 4, None),
        ("is_valid", ["false"] * 4, None),  # which tells no answer from another
        ("colour", ["rejected", "red", "red", "red"], None),
    ],
)  # fmt: skip
def test_columns_that_speak_against_answers_are_told(name, cells, told):
    rows = [f"{k % 2},{'ab'[k // 2]},cat,{cell}\n" for k, cell in enumerate(cells)]
    answers = read_annotations(io.StringIO("".join([f"item,annotator,label,{name}\n", *rows])))
    assert len(answers) == 4
    assert f"not used: {name!r}" in answers.notes
    about = [note for note in answers.notes if "kept although" in note or "weights" in note]
    assert len(about) == (told is not None)
    assert not about or about[0].startswith(told)


# -- Masses by the names of columns ----------------------------------------------------------------

MASSES = "1,0.5,0.2,0.3\n2,0.1,0.1,0.8\n3,0,1,0\n"
FORMS = [
    "item,m_cat,m_dog,m_cat_dog\n",
    'item,m({cat}),m({dog}),"m({cat,dog})"\n',
    "item,m(cat),m(dog),m(cat|dog)\n",
    "item,mass_cat,mass_dog,mass_Omega\n",
    "item,m(cat),m(dog),m(\u03a9)\n",
    "item,cat,dog,cat|dog\n",
]


def labels_of(header):
    columns = next(csv.reader([header]))[1:]
    return read_labels(io.StringIO(header + MASSES), kind="masses", columns=columns)


@pytest.mark.parametrize("header", FORMS)
def test_masses_of_sets_that_columns_name(header):
    with pytest.raises(TableError, match="which sum to 1 in most rows; say kind='mass'"):
        read_annotations(io.StringIO(header + MASSES))
    contour = [[0.8, 0.5], [0.9, 0.9], [0.0, 1.0]]
    labels = labels_of(header)
    answers = read_annotations(io.StringIO(header + MASSES), kind="mass")
    for found in (labels.contour, answers.contours):
        np.testing.assert_allclose(found, contour)
    assert labels.classes.tolist() == answers.classes.tolist() == ["cat", "dog"]
    is_told = any("columns were read as masses of sets" in note for note in answers.notes)
    assert is_told == (header != FORMS[-1])


def test_names_that_may_be_classes_are_no_sets():
    header = "item,hot,dog,hot_dog\n"
    with pytest.raises(TableError, match="say kind='probability'"):
        read_annotations(io.StringIO(header + MASSES))
    for more in (header, "item,hot,dog,Theta\n"):
        with pytest.raises(TableError, match="if each is the probability of a class, call columns"):
            read_annotations(io.StringIO(more + MASSES))
    labels = labels_of(header)
    assert labels.classes.tolist() == ["dog", "hot", "hot_dog"]
    # Files of our own say with a colon what they mean, and are not looked at again.
    own = "item,mass:m_a,mass:m_b,mass:m_a_b\n"
    labels = labels_of(own)
    assert labels.classes.tolist() == ["m_a", "m_a_b", "m_b"]


def test_row_numbers_beside_numbers_by_class_are_no_class():
    rows = "".join(f'"{k}",{share},{1 - share}\n' for k, share in enumerate([0.25, 0.5, 1, 0], 1))
    text = '"","oak","elm"\n' + rows  # as write.csv of R has it
    with pytest.raises(TableError, match="sum to 1 in most rows; say kind='probability'") as told:
        read_annotations(io.StringIO(text))
    found = read_annotations(io.StringIO(text), kind=told.value.settings["kind"])
    assert found.classes.tolist() == ["oak", "elm"]
    assert found.items.tolist() == [1, 2, 3, 4]


def test_columns_of_numbers_without_names():
    with pytest.raises(
        TableError, match="say kind='probability', and names=.*'item': 'V1'"
    ) as told:
        read_annotations(io.StringIO("V1,V2,V3,V4\n" + MASSES))
    assert "call columns of masses by their sets, as in cat|dog" in str(told.value)


# -- Ids that are no numbers -----------------------------------------------------------------------


def test_cells_with_which_excel_keeps_zeros():
    text = 'item,annotator,label\n="001",ann,cat\n="002",ann,dog\n"=""001""",bob,cat\n1x,bob,=""\n'
    table = open_table(io.StringIO(text))
    assert table.column("item").to_pylist() == ["001", "002", "001", "1x"]
    assert table.column("label").to_pylist() == ["cat", "dog", "cat", None]
    answers = read_annotations(io.StringIO(text))
    assert answers.items.tolist() == ["001", "002", "1x"]
    assert any("cells such as =\"001\" were read as '001'" in note for note in answers.notes)


def test_the_same_in_a_stream(tmp_path, monkeypatch):
    from plausible.tables import text as text_room

    monkeypatch.setattr(text_room, "KEPT", 10)
    path = tmp_path / "a.csv"
    path.write_text('id,x,y\n="001",="1",1.5\n="02",="2",2.5\n')
    table = open_table(path)
    assert not table.is_kept
    assert table.whole(["id", "x", "y"]).to_pydict() == {
        "id": ["001", "02"], "x": [1, 2], "y": [1.5, 2.5],
    }  # fmt: skip
    assert len([note for note in table.notes if "cells such as" in note]) == 1


@pytest.mark.parametrize("other", ["77", "1a5"])
def test_codes_that_look_like_numbers_with_exponents_are_text(other, tmp_path):
    from plausible.io import read_training

    ids = ["12e3", "1E5", other]
    answers = "".join(f"{one},{who},cat\n" for one in ids for who in ("ann", "bob"))
    said = read_annotations(io.StringIO("item,annotator,label\n" + answers))
    assert said.items.tolist() == ids
    path, features = tmp_path / "labels.csv", tmp_path / "features.csv"
    path.write_text("item,label\n" + "".join(f"{one},{k % 2}\n" for k, one in enumerate(ids)))
    features.write_text("code,x\n" + "".join(f"{one},{k}.5\n" for k, one in enumerate(ids[::-1])))
    training = read_training(path, features)
    np.testing.assert_array_equal(training.X[training.rows], [[2.5], [1.5], [0.5]])


def test_numbers_with_exponents_stay_numbers():
    table = open_table(io.StringIO("a,b,c\n1e-3,1.5e3,2e3\n2e+3,2,30\n"))
    assert table.whole(["a", "b", "c"]).to_pydict() == {
        "a": [0.001, 2000.0], "b": [1500.0, 2.0], "c": [2000.0, 30.0],
    }  # fmt: skip
    assert table.encoded("a").names.tolist() == [0.001, 2000.0]
    assert table.encoded("b").names.tolist() == [1500.0, 2.0]
    assert table.encoded("c").names.tolist() == ["2e3", "30"]  # as names
