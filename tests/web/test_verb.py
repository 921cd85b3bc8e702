"""The verb `annotate`: what it says, what it refuses, and what goes in and out without a server."""

import csv
import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from plausible import web
from plausible.cli import main
from plausible.io import read_annotations
from plausible.web.server import called, database_of
from support.studies import CLASSES, Visitor, open_room


@pytest.fixture
def answered(tmp_path, monkeypatch):
    """A database with answers, in the working folder."""
    monkeypatch.chdir(tmp_path)
    room = open_room(tmp_path / "trees.answers.db", 6)
    ann = Visitor(room, "ann")
    ann.answer_all(lambda item: (CLASSES[int(item["name"][-1]) % 4 :][:2], "rather"))
    room.close()
    return tmp_path


def test_out_and_in_again(answered, capsys):
    for target, there in (("said.csv", "said.csv"), ("label-studio", "trees.label-studio.json"),
                          ("doccano", "trees.doccano")):  # fmt: skip
        assert main(["annotate", "trees.answers.db", "--export", target, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["output"] == there
        read = read_annotations(there, classes=CLASSES)
        assert len(read) == 6
        assert set(map(str, read.annotators.tolist())) == {"ann"}
    assert main(["annotate", "trees.answers.db", "--export", "full.csv", "--full"]) == 0
    found, expected = (read_annotations(name) for name in ("full.csv", "trees.answers.db"))
    assert found.classes.tolist() == expected.classes.tolist() == CLASSES
    assert np.array_equal(found.pool().contour, expected.pool().contour)
    assert 0.4 in found.contours  # who comes first is not lost
    assert main(["annotate", "trees.answers.db", "--export", "p.csv", "--as-of", "2"]) == 0
    with open("p.csv") as file:
        assert [row["answer"] for row in csv.DictReader(file)] == ["1", "2"]
    with open("more.csv", "w") as file:
        file.write("item,annotator,label\ntree 1,bob,ash\n")
    capsys.readouterr()
    for added in (1, 0):
        assert main(["annotate", "trees.answers.db", "--import", "more.csv", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["taken"] == added
    assert len(read_annotations("trees.answers.db")) == 7


def test_what_comes_back_is_what_went_out(tmp_path, monkeypatch, capsys):
    """Order, ties, odds, words and comments, through our own table; and nothing twice."""
    monkeypatch.chdir(tmp_path)
    room = open_room(tmp_path / "one.db", 6)
    ann = Visitor(room, "ann, the first")
    for kind, picks, more in (
        ("said", ["ash", "oak"], {"comment": 'so, "so"'}),
        ("said", ["ash", "oak"], {"level": True}),
        ("said", ["elm", "oak", "ash"], {"numbers": [20, 5, 1]}), ("cannot", [], {}),
        ("none", [], {"comment": "a fig"}),
    ):  # fmt: skip
        item = ann.state()["items"][0]["id"]
        assert ann.say(item, picks, "rather", kind, **more).status_code == 200
    room.close()
    open_room(tmp_path / "two.db", 6).close()
    assert main(["annotate", "one.db", "--export", "out.csv", "--quiet"]) == 0
    for place, added in (("two.db", 5), ("two.db", 0), ("one.db", 0)):
        capsys.readouterr()
        assert main(["annotate", place, "--import", "out.csv", "--json", "--quiet"]) == 0
        assert json.loads(capsys.readouterr().out)["taken"] == added
    columns = "item.name, kind, picks, level, word, numbers, comment, seconds"
    words = f"SELECT {columns} FROM answer JOIN item ON item.id = answer.item ORDER BY answer.id"
    words = words.replace(" kind", " answer.kind")
    found = []
    for place in ("one.db", "two.db"):
        with closing(sqlite3.connect(place)) as database:
            found.append(database.execute(words).fetchall())
    assert found[0] == found[1]
    assert len(found[0]) == 5
    one, two = (read_annotations(place) for place in ("one.db", "two.db"))
    assert np.array_equal(one.pool().contour, two.pool().contour)
    lines = (tmp_path / "out.csv").read_text().splitlines()
    for bad, says in (('"tree 0","bob",""', "empty in row 1"), ('"tree 0","bob","fig"', "'fig'")):
        (tmp_path / "bad.csv").write_text(f"{lines[0]}\n{bad}\n")
        assert main(["annotate", "two.db", "--import", "bad.csv", "--quiet"]) == 1
        assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ([], 2, "should be given items or a database"),
        (["trees.csv"], 1, "name them with --classes"),
        (["trees.csv", "--classes", "oak"], 1, "two or more different names"),
        (["trees.csv", "--classes", "oak,oak"], 2, "different names"),
        (["none.csv", "--classes", "oak,elm"], 1, "none.csv"),
        (["none.answers.db"], 1, "none.answers.db"),
        (["trees.csv", "--classes", "oak,elm", "--image", "photo"], 1, "column 'photo'"),
        (["trees.csv", "--classes", "oak,elm", "--as-of", "3"], 2, "--as-of should come with"),
        (["trees.answers.db", "--full"], 2, "--full should come with --export"),
        (["trees.answers.db", "--export", "doccano", "--full"], 2, "and a file"),
        (["trees.csv", "--classes", "oak,elm", "--trust-header", "X"], 2, "--trusted-proxy"),
        (["trees.csv", "--classes", "oak,elm", "--model", "m.skops"], 2, "--features"),
        (["trees.csv", "--classes", "oak,elm", "--db", "mysql://x/y", "--export", "a.csv"], 1, ""),
        (["trees.answers.db", "--classes", "oak,fig", "--export", "a.csv"], 1, "was left out"),
        (["trees.answers.db", "--rename", "oak", "--export", "a.csv"], 2, "old=new"),
    ],
)
def test_what_is_refused(answered, capsys, words, code, says):
    with open("trees.csv", "w") as file:
        file.write("item,text\ntree 0,a\n")
    if "trees.csv" in words:
        words = [*words, "--db", "new.db"] if "--db" not in words else words
    assert main(["annotate", *words, "--quiet"]) == code
    told = capsys.readouterr().err
    assert says in told
    assert len(told.strip().splitlines()) == 1
    left = {path.name for path in answered.iterdir()}
    assert left == {"trees.csv", "trees.answers.db"}  # nothing half made


def test_answers_in_a_server_are_written_to_a_file_first(capsys):
    address = "postgresql+psycopg://ann:secret@host/trees"
    assert main(["pool", address, "-o", "x.csv", "--quiet"]) == 1
    told = capsys.readouterr().err
    assert "'host/trees' should be a file, but is an address" in told
    assert "--export FILE --full" in told
    assert "secret" not in told


def test_a_class_gets_a_new_name(answered, capsys):
    words = ["annotate", "trees.answers.db", "--classes", "quercus,elm,ash,birch"]
    assert main([*words, "--rename", "oak=quercus", "--export", "a.csv", "--quiet"]) == 0
    read = read_annotations("trees.answers.db")
    assert read.classes.tolist() == ["quercus", "elm", "ash", "birch"]
    assert len(read) == 6


def test_links_name_a_host_that_others_can_call():
    assert called("ask.example.org") == "ask.example.org"
    for anywhere in ("0.0.0.0", "::"):
        assert called(anywhere) not in ("0.0.0.0", "::", "")


def test_the_database_stands_beside_the_items(tmp_path):
    assert database_of(str(tmp_path / "items.csv.gz")) == str(tmp_path / "items.answers.db")


def test_a_folder_of_pictures_is_asked_about(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "photos"
    folder.mkdir()
    for name in ("b.PNG", "a.jpg", "c.wav"):
        (folder / name).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(20))
    (folder / "notes.txt").write_text("x")
    (folder / ".hidden.png").write_bytes(b"")
    assert database_of("photos/") == "photos.answers.db"
    notes = []
    store = web.open_study("photos", ["oak", "elm"], notes=notes)
    rows = store.ask("SELECT name, kind, media FROM item ORDER BY id")
    assert rows == [
        ("a.jpg", "image", "photos/a.jpg"), ("b.PNG", "image", "photos/b.PNG"),
        ("c.wav", "audio", "photos/c.wav"),
    ]  # fmt: skip
    assert notes[0].endswith("of the folder; 1 other files are left out")
    store.close()
    (tmp_path / "empty").mkdir()
    with pytest.raises((ValueError, OSError), match="empty"):
        web.open_study("empty", ["oak", "elm"])
    assert not (tmp_path / "empty.answers.db").exists()


def test_columns_of_files_are_shown_as_such_and_changes_are_told(tmp_path):
    table = {"item": ["a", "b"], "photo": ["x.JPG", "y.png"], "place": ["wood", "park"]}
    notes = []
    web.open_study(table, ["oak", "elm"], db=str(tmp_path / "t.db"), notes=notes).close()
    assert "shown as image ('photo')" in notes[0]
    del notes[:]
    changed = table | {"place": ["wood", "hill"]}
    web.open_study(changed, ["oak", "elm"], db=str(tmp_path / "t.db"), notes=notes).close()
    assert notes[1] == "0 new items of 2"
    assert notes[2].startswith("1 items look different now, but stay as they were asked about")
