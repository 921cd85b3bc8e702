"""Control characters of files, names and words are shown, never sent to a terminal or a page."""

import json

import pytest

from support.outcomes import controls
from support.refusals import snapshot

HOSTILE = ["\x1b[31mred", "c\x9b1m", "turn\u202eed", "\x1b]0;title\x07"]
SHOWN = [r"\x1b[31mred", r"c\x9b1m", r"turn\u202eed", r"\x1b]0;title\x07"]


@pytest.fixture
def answers(folder):
    """Answers in which items, people and classes are hostile."""
    rows = [f"{item},{who},{said}" for item, said in zip(HOSTILE, HOSTILE[::-1], strict=True)
            for who in HOSTILE[:3]]  # fmt: skip
    name = "\x1b[2Janswers\x9b.csv"
    (folder / name).write_text("\n".join(["item,annotator,label", *rows]) + "\n")
    return name


def test_streams(plausible, answers):
    done = plausible("pool", answers, "-o", "out\x1b[0m.csv")
    assert done.code == 0
    assert not controls(done.out + done.stderr)
    assert all(shown in done.stderr for shown in SHOWN)
    assert r"out\x1b[0m.csv" in done.out


def test_json_means_the_same(plausible, answers):
    done = plausible("pool", answers, "-o", "out.csv", "--json")
    assert not controls(done.out)
    assert sorted(json.loads(done.out)["classes"]) == sorted(HOSTILE)


def test_names_of_columns(plausible, folder):
    (folder / "odd.jsonl").write_text(json.dumps({"a\nrows: 9": 1, "\x9b": 2}) + "\n")
    done = plausible("info", "odd.jsonl")
    assert done.out.splitlines()[1:] == ["rows: 1", r"columns: a\nrows: 9 int64, \x9b int64"]


def test_wrong_words(plausible, folder):
    before = snapshot(folder)
    done = plausible("pool", "answers.csv", "-o", "x.csv", "--nonsense\x1b[31m")
    assert (done.code, len(done.lines)) == (2, 1)
    assert r"--nonsense\x1b[31m" in done.stderr
    assert not controls(done.stderr)
    assert snapshot(folder) == before


def test_pages(plausible, folder, answers):
    done = plausible("report", answers, "-o", "out.html", "--title", "\x1b[31m\u202e", "--json")
    page = (folder / "out.html").read_text(encoding="utf-8")
    assert done.code == 0
    assert not controls(page + done.out)
    assert all(shown in page for shown in SHOWN)
