"""Ids as people write them: a file read in pieces gives what it gives in memory, or is refused too.

Every case is read in memory, and then with features in pieces, or with answers in parts as well.
"""

import csv

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plausible.io import (
    read_known,
    read_new,
    read_training,
    stream_predictions,
    stream_training,
    write_predictions,
)
from plausible.io.large_answers import pool_in_parts
from plausible.models import SoftNearestCentroid
from plausible.tables import open_table

CLASSES = ("dog", "ant", "cat")
MATCHED = {  # items of answers, names of rows of features, part of the note
    "numbers": (["1", "2", "3"], ["3", "1", "2", "4"], None),
    "codes with an e": (["12e3", "13e3", "14e4"], ["14e4", "12e3", "13e3", "15e1"], None),
    "another capital E": (["1E5", "2E5", "3E5"], ["3e5", "1e5", "2e5", "4e5"], "capital letters"),
    "zeros": (["00012", "00013", "00014"], ["00014", "00012", "00013", "00015"], None),
    "zeros in answers": (["00012", "00013", "00014"], ["14", "12", "13", "15"], "leading zeros"),
    "zeros in features": (["12", "13", "14"], ["00014", "00012", "00013", "15"], "leading zeros"),
    "1 beside 001": (["1", "001", "3"], ["3", "1", "001", "4"], None),
    "capitals": (["A1", "B2", "C3"], ["c3", "a1", "b2", "d4"], "capital letters"),
    "accents": (["caf\u00e9", "b", "c"], ["cafe\u0301", "b", "c", "d"], "how accents are written"),
    "full-width digits": (["\uff11", "\uff12", "\uff13"], ["1", "2", "3", "4"], "accents"),
    "dates": (["31.12.2024", "30.12.2024", "13.1.2024"],
              ["13.1.2024", "31.12.2024", "30.12.2024", "28.12.2024"], None),
    "percent": (["10%", "20%", "30%"], ["30%", "10%", "20%", "40%"], None),
    "more digits than 64 bits": (["12345678901234567890", "12345678901234567891", "3"],
                                 ["3", "12345678901234567891", "12345678901234567890", "4"], None),
    "negative, with a zero": (["-01", "2", "3"], ["-1", "2", "3", "4"], "leading zeros"),
}  # fmt: skip
REFUSED = {  # the same, and what both refusals show
    "items would be one": (["01", "1", "3"], ["3", "1", "2", "4"], ["'01'", "'1'"]),
    "rows would be one": (["A1", "B2", "C3"], ["c3", "a1", "\uff211", "b2"], ["'a1'", "'\uff211'"]),
    "from 0 and from 1": (["0", "1", "2", "3"], ["1", "2", "3", "4"], ["begin at 0", "at 1"]),
    "an item without a row": (["1", "2", "9"], ["3", "1", "2", "4"], ["1 item of 3", "(9)"]),
    "a zero, and no row": (["01", "02", "09"], ["3", "1", "2", "4"], ["1 item of 3", "(09)"]),
    "a row that comes twice": (["1", "2", "3"], ["1", "2", "2", "3"], ["repeats", "2"]),
    "other rows called alike": (
        ["1", "2", "3"],
        ["1", "2", "3", "8", "8"],
        ["repeats 8 ", "row 5"],
    ),
    "a row without a name": (["p", "q", "r"], ["q", "", "r", "p"], ["is empty in 1 row", "row 2"]),
    "fractions": (["1.5", "2.5", "3.5"], ["3.5", "1.5", "2.5", "4.5"], ["should"]),
}
ONLY_TEXT = {"1.0 as text": (["1", "2", "3"], ["3.0", "1.0", "2.0", "4.0"], "leading zeros")}
ONLY_CSV = {
    "1.0 in features": (["1", "2", "3"], ["3.0", "1.0", "2.0", "4.0"], None),
    "1.0 in answers": (["1.0", "2.0", "3.0"], ["3", "1", "2", "4"], None),
}
PARTS = "pieces and parts"


def written(columns, path):
    if path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            rows = zip(*columns.values(), strict=True)
            csv.writer(file).writerows([list(columns), *rows])
    return path


@pytest.fixture
def in_pieces(monkeypatch):
    """Lets text be parsed again at each pass, and answers be dealt out into parts."""

    def patch(way):
        monkeypatch.setattr("plausible.tables.text.KEPT", 0)
        if way == PARTS:
            monkeypatch.setattr("plausible.io.pieces.MANY_ITEMS", 0)
            monkeypatch.setattr("plausible.io.pieces.LARGE", 0)

    return patch


def files(items, names, folder, kind):
    people = [(item, who) for item in items for who in ("ann", "bob")]
    answers = {
        "item": [item for item, _ in people],
        "annotator": [who for _, who in people],
        "label": [CLASSES[items.index(item) % 3] for item, _ in people],
        "doubt": [0.2] * len(people),
    }
    features = {
        "size": [0.25 + k for k in range(len(names))],
        "item": names,
        "depth": [k * k % 5 + 0.5 for k in range(len(names))],
    }
    return (
        written(answers, folder / f"answers.{kind}"),
        written(features, folder / f"features.{kind}"),
    )


def contours(X, labels):
    return dict(zip(np.asarray(X)[:, 0].tolist(), labels.contour.round(9).tolist(), strict=True))


def streamed(paths, **options):
    """Labels by the first feature, and notes on how items were matched."""
    training = stream_training(*paths, **options)
    found = {}
    for X, labels, _ in training.reader:
        found |= contours(X, labels)
    return found, [note for note in training.notes if " matched without " in note]


EVERY = [("csv", PARTS, *case) for case in [*MATCHED.items(), *ONLY_CSV.items()]]
EVERY += [("parquet", "pieces", *case) for case in [*MATCHED.items(), *ONLY_TEXT.items()]]
EVERY += [("parquet", PARTS, name, MATCHED[name]) for name in ("zeros in answers", "capitals")]


@pytest.mark.parametrize(("kind", "way", "called", "case"), EVERY)
def test_ids_are_matched_in_pieces_as_in_memory(kind, way, called, case, tmp_path, in_pieces):
    items, names, told = case
    paths = files(items, names, tmp_path, kind)
    training = read_training(*paths)
    here = [note for note in training.notes if " matched without " in note]
    in_pieces(way)
    found, there = streamed(paths)
    assert found == contours(training.X, training.labels)
    assert len({tuple(row) for row in found.values()}) == 4, called  # each item, and unknown
    assert [note.partition(":")[0] for note in there] == [note.partition(":")[0] for note in here]
    assert len(there) == (told is not None)
    assert told is None or told in there[0]


@pytest.mark.parametrize(("drop", "way"), [(False, PARTS), (True, "pieces")])
@pytest.mark.parametrize(("called", "case"), REFUSED.items())
def test_ids_that_could_mean_another_are_refused_both_ways(
    called, case, way, drop, tmp_path, in_pieces
):
    items, names, shown = case
    paths = files(items, names, tmp_path, "csv")
    options = {"on_unmatched": "drop"} if drop else {}

    def read(call):
        try:
            return call()
        except ValueError as error:
            return str(error)

    def in_memory():
        training = read_training(*paths, **options)
        return contours(training.X, training.labels)

    here = read(in_memory)
    in_pieces(way)
    there = read(lambda: streamed(paths, **options)[0])
    if not isinstance(here, str):
        assert drop, called
        assert there == here  # what has no row is left out
        return
    assert isinstance(there, str), called
    for words in shown:
        assert words in here
        assert words in there


@pytest.mark.parametrize("ids", [case[1] for case in MATCHED.values()], ids=list(MATCHED))
def test_ids_leave_as_they_came(ids, tmp_path, in_pieces, monkeypatch):
    """Pooled in parts and decided in pieces, names are those that are found in memory."""
    answers, features = files(list(ids), list(ids), tmp_path, "csv")
    monkeypatch.setattr("os.fsync", lambda file: None)  # which may take long on a busy disk
    model = SoftNearestCentroid().fit([[0.25, 0.5], [1.25, 1.5], [3.25, 4.5]], ["a", "a", "b"])
    names = ["size", "depth"]
    here, there = tmp_path / "here.csv", tmp_path / "there.csv"
    write_predictions(model, read_new(features, names), here, names=names)
    known = read_known(answers)
    in_pieces(PARTS)
    monkeypatch.setattr("plausible.io.large_answers.PART_BYTES", 80)
    stream_predictions(model, features, there, piece_rows=3, names=names)
    assert there.read_text().split() == here.read_text().split()
    with pool_in_parts(open_table(answers)) as pool:
        parts = {}
        for part in pool.parts:
            parts |= dict(zip(part.items.tolist(), part.labels.contour.tolist(), strict=True))
    assert parts == dict(zip(known.items.tolist(), known.labels.contour.tolist(), strict=True))
