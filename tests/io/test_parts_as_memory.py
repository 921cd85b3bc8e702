"""What is understood of answers in parts is what is understood of them in memory."""

import numpy as np
import pytest

from plausible.io import read_known
from plausible.io.large_answers import pool_in_parts
from plausible.io.pieces import pieces
from plausible.tables import TableError, open_table

N = 24  # items, each of which two people judge
OAK, ELM = ["oak"] * N, ["elm"] * N
HALF = [*["oak"] * 12, *["elm"] * 12]
CASES = {  # what both people say, how sure they are, and options
    "capitals": ([*["oak", "elm"] * 11, "Oak", "elm"], None, {}),
    "letters": ([*["y", "n"] * 11, "Y", "n"], None, {}),
    "words of not knowing": ([*["oak", "elm"] * 11, "not sure", "elm"], None, {}),
    "empty": ([*["oak", "elm"] * 11, "", "elm"], None, {}),
    "one of two": ([*HALF[1:], "oak/elm"], None, {}),
    "two of two": ([*HALF[1:], "oak & elm"], None, {}),
    "a slip": ([*["oak", "elm"] * 11, "oka", "elm"], None, {}),
    "numbers": (["1", "2"] * 12, None, {}),
    "-1": ([*["1", "2", "3"] * 7, "1", "-1", "2"], None, {}),
    "numbers and a word": ([*["1", "2"] * 11, "1", "other"], None, {}),
    "a map": ([*["oak", "elm"] * 11, "eIm", "elm"], None, {"map": {"eIm": "elm"}}),
    "a map of nothing": (["oak", "elm"] * 12, None, {"map": {"x": "elm"}}),
    "classes": ([*["oak", "elm"] * 11, "Oak", "elm"], None, {"classes": ["oak", "elm", "Oak"]}),
    "another class": ([*["oak", "elm"] * 11, "ash", "elm"], None, {"classes": ["oak", "elm"]}),
    "free text": ([f"it is tree {k}" for k in range(N)], None, {}),
    "percent": (HALF, [*range(60, 80), 1, 2, 3, 4], {}),
    "two scales": (HALF, [*[80] * 20, 0.5, 0.6, 0.7, 0.8], {}),
    "ratings": (HALF, [*[5] * 20, 1, 2, 3, 4], {}),
    "from 0 to 1": (HALF, [*[0.5] * 12, *[1] * 12], {}),
    "words": (HALF, [*["high"] * 23, "low"], {}),
    "given words": (HALF, [*["high"] * 23, "low"], {"words": {"high": 0.1, "low": 0.5}}),
    "gaps": (HALF, [*[0.5, 0.9, 0.8] * 7, "", "", ""], {}),
    "nothing but gaps": (HALF, [""] * N, {}),
    "no confidence": (HALF, ["0%"] * N, {}),
}


@pytest.fixture
def in_parts(monkeypatch):
    monkeypatch.setattr("plausible.io.large_answers.PART_BYTES", 150)
    monkeypatch.setattr("plausible.io.large_answers.pieces", lambda *a: pieces(*a, rows=7))


def outcome(read):
    """Classes, labels by item, and what was noted; or the first words of the error."""
    try:
        classes, labels, notes = read()
    except TableError as error:
        return str(error).split(" in ")[0][:60]
    return classes, {item: np.round(row, 9).tolist() for item, row in labels.items()}, notes


def in_memory(path, **options):
    known = read_known(path, **options)
    labels = dict(zip(known.items.tolist(), known.labels.contour, strict=True))
    return known.labels.classes.tolist(), labels, {str(note) for note in known.notes[1:]}


def pooled_in_parts(path, **options):
    with pool_in_parts(open_table(path), **options) as pool:
        labels = {}
        n_parts = 0
        for part in pool.parts:
            labels |= dict(zip(part.items.tolist(), part.labels.contour, strict=True))
            n_parts += 1
        notes = {str(note) for note in pool.notes[1:]}
    assert n_parts > 3
    return pool.classes, labels, {note for note in notes if "looked for on" not in note}


def write(path, labels, sure, more=""):
    rows = [
        f"i{k},{who},{label}" + ("" if sure is None else f",{sure[k]}")
        for k, label in enumerate(labels)
        for who in ("ann", "bob")
    ]
    head = "item,annotator,label" + ("" if sure is None else ",confidence")
    path.write_text("\n".join([head, *rows, *([more] if more else [])]) + "\n")


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_cells_and_doubts_are_judged_over_all_parts(tmp_path, in_parts, case):
    labels, sure, options = case
    path = tmp_path / "answers.csv"
    write(path, labels, sure)
    options = options | {"doubt": 0.1 if sure is None else None}
    here = outcome(lambda: in_memory(path, **options))
    assert outcome(lambda: pooled_in_parts(path, **options)) == here


@pytest.mark.parametrize(
    "more",
    ["i3,ann,elm,0.5", "i3,ann,oak,0.9", "i3 ,cat,oak,0.9", "i7,ann ,elm,0.5", "i9,ANN,elm,0.9"],
)
@pytest.mark.parametrize("repeats", ["all", "last"])
def test_names_and_repeats_are_judged_over_all_parts(tmp_path, in_parts, more, repeats):
    path = tmp_path / "answers.csv"
    write(path, HALF, [0.9] * N, more)
    here = outcome(lambda: in_memory(path, repeats=repeats))
    assert len(here[1]) == N
    assert outcome(lambda: pooled_in_parts(path, repeats=repeats)) == here
