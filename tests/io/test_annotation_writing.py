"""Answers that are written and read again are the same answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible.experts import Annotations
from plausible.io import read_annotations, read_known, write_annotations

ITEMS, PEOPLE = ["x", "x", "y", "z"], ["p", "q", "p", "q"]
DOUBT = [0.1, 0.2, 0.3, 0.0]


def long(labels, **options):
    return Annotations.from_long(ITEMS, PEOPLE, labels, **options)


def by_class(table, kind, **options):
    return Annotations.from_classes(table, kind, ["c", "a", "b"], ITEMS, PEOPLE, **options)


PLAUSIBLE = [[1, 0.3, 0], [0.5, 1, 0.25], [1, 1, 1], [0, 0, 1]]
PROBABLE = [[0.5, 0.3, 0.2], [0.5, 0.5, 0], [1, 0, 0], [0.2, 0.2, 0.6]]
ODD = ["A", "A & B", "A, or so", "a|b", "not sure", " x ", '"quoted"', "1", "[1]", "é"]
CASES = {
    "sets": lambda: long(["c", "a|b", None, "none of these"], doubt=DOUBT),
    "hard": lambda: long(["c", "a", "b", "a"]),
    "classes in another order": lambda: long(["c", "a|b", None, "a"], classes=["c", "b", "a"]),
    "classes that nobody named": lambda: long(["c", "a", None, "b"], classes=["a", "b", "c", "d"]),
    "numbers": lambda: long([3, 1, None, 3], classes=[1, 2, 3]),
    "truth values": lambda: long([True, False, None, True], doubt=DOUBT),
    "letters in both cases": lambda: long(["a", "A", "b", "a"], classes=["A", "a", "b"]),
    "odd names": lambda: Annotations.from_long(range(10), ["p"] * 10, [[n] for n in ODD],
                                               classes=sorted(ODD)),
    "plausibilities": lambda: by_class(PLAUSIBLE, "plausibility", doubt=DOUBT),
    "probabilities": lambda: by_class(PROBABLE, "probability"),
    "masses": lambda: long(["c", "a|b", "a|b|c", "none of these"], mass=[0.4, 0.5, 1.0, 1.0]),
    "counts": lambda: Annotations.from_classes([[3, 0, 1], [1, 2, 0]], "count", ["c", "a", "b"]),
    "all kinds": lambda: Annotations.concatenate(
        [by_class(PLAUSIBLE, "plausibility"), by_class(PROBABLE, "probability"),
         long(["none of these", "c|a", None, "b"], classes=["c", "a", "b"])]
    ),
    "items in another order": lambda: long(["c", "a|b", None, "a"])[[2, 0, 1]],
}  # fmt: skip


def facts(answers):
    """Every answer by what it says, whatever the order of rows."""
    contours = answers.contours[answers.statement].round(12).tolist()
    doubts = [None] * len(answers) if answers.doubt is None else answers.doubt.round(12).tolist()
    items, people = answers.items[answers.item], answers.annotators[answers.annotator]
    cells = zip(items.tolist(), people.tolist(), contours, doubts, strict=True)
    return sorted(map(str, cells))


def check_same(one, other):
    assert one.classes.tolist() == other.classes.tolist()
    assert one.items.tolist() == other.items.tolist()
    assert facts(one) == facts(other)
    for rule in ("dempster", "mean", "yager"):
        pooled = (part.pool(rule, doubt=0.1, on_conflict="unknown") for part in (one, other))
        first, second = (labels.contour for labels in pooled)
        np.testing.assert_allclose(first, second, atol=1e-12)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "parquet", "arrow", "jsonl"])
@pytest.mark.parametrize("kind", CASES)
def test_written_answers_are_read_again(tmp_path, kind, suffix):
    answers = CASES[kind]()
    path = tmp_path / f"answers.{suffix}"
    write_annotations(answers, path)
    read = read_annotations(path)
    check_same(answers, read)
    assert not [note for note in read.notes if "read as" in note]


WINDS = ["north", "south", "east", "north|east", None, "none of these"]
answers_about_winds = st.tuples(st.integers(0, 4), st.integers(0, 3), st.sampled_from(WINDS))


@given(st.lists(answers_about_winds, min_size=1, max_size=25))
def test_any_sets_are_read_again(tmp_path_factory, said):
    items, people, labels = zip(*said, strict=True)
    answers = Annotations.from_long(
        [f"i{k}" for k in items], [f"p{k}" for k in people], list(labels),
        classes=["east", "north", "south"],
    )  # fmt: skip
    path = tmp_path_factory.mktemp("answers") / "answers.csv"
    write_annotations(answers, path)
    check_same(answers, read_annotations(path))


def test_answers_are_written_as_people_would(tmp_path):
    write_annotations(CASES["sets"](), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().splitlines()[:3] == [
        '"item","annotator","label","doubt"',
        '"x","p","c",0.1',
        '"x","q","a|b",0.2',
    ]
    known = read_known(tmp_path / "a.csv")
    np.testing.assert_allclose(known.labels.contour, CASES["sets"]().pool().contour)


def test_only_annotations_are_written(tmp_path):
    with pytest.raises(TypeError, match="should be Annotations"):
        write_annotations({"item": ["x"]}, tmp_path / "a.csv")
    with pytest.raises(ValueError, match=r"should end in \.csv"):
        write_annotations(CASES["hard"](), tmp_path / "a.docx")
