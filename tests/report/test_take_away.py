"""Lists to take away: what they hold, that they are harmless, and that the page stays small."""

import base64
import csv
import io
import re

import numpy as np
import pytest

from plausible.experts import Annotations
from plausible.labels import Labels
from plausible.report import render, summarize
from plausible.report.lists import as_csv, harmless, take_away
from support.reports import HOSTILE


class Parrot:
    """A classifier that believes the second class as far as X says so."""

    classes_ = np.array(["a", "b"])

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def saved(page):
    """Tables that the links of a page save, by the name of the file."""
    links = re.findall(
        r'<a href="data:text/csv;charset=utf-8;base64,([^"]*)" download="(.*?)">', page
    )
    assert len({name for _, name in links}) == len(links)
    return {
        name: list(csv.DictReader(io.StringIO(base64.b64decode(content).decode("utf-8"))))
        for content, name in links
    }


@pytest.fixture(scope="module")
def inputs():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=60)
    said = np.where(rng.uniform(size=(60, 3)) < 0.8, truth[:, None], rng.integers(2, size=(60, 3)))
    words = np.array(["a", "b"], dtype=object)[said]
    words[5:9] = None
    items = [f"part {i}" for i in range(60)]
    answers = Annotations.from_answers(words, items=items, annotators=["ann", "bob", "cy"])
    X = np.where(truth == 1, 0.9, 0.1) + rng.uniform(-0.09, 0.09, size=60)
    X[10:20] = rng.uniform(0.35, 0.65, size=10)
    X[30:33] = 1 - X[30:33]
    return {"annotations": answers, "model": Parrot(), "X": X[:, None]}


def test_lists_hold_everything_in_order(inputs):
    answers = inputs["annotations"]
    labels = answers.pool(on_conflict="unknown")
    found = saved(render(summarize(**inputs)))
    conflict = dict(zip(answers.items.tolist(), labels.conflict, strict=True))
    clashing = sorted((-c, item) for item, c in conflict.items() if c > 0)
    rows = found["items_in_conflict.csv"]
    assert [float(row["conflict"]) for row in rows] == pytest.approx(
        [-c for c, _ in clashing], rel=1e-4
    )
    assert {row["item"] for row in rows} == {item for _, item in clashing}
    empty = [row["item"] for row in found["items_without_a_label.csv"]]
    assert empty == answers.items[labels.is_unknown].tolist()
    asked = answers.next_items(60, labels=labels)
    assert [row["item"] for row in found["items_to_ask_again.csv"]] == [q.item for q in asked]
    trusted = answers.reliability()
    rows = {row["annotator"]: float(row["right"]) for row in found["annotators.csv"]}
    assert rows == pytest.approx(
        dict(zip(trusted.annotators, trusted.accuracy, strict=True)), rel=1e-4
    )


def test_refusals_are_those_of_the_decision(inputs):
    p = Parrot().predict_proba(inputs["X"]).max(axis=1)
    for reject in (0.1, 0.3):
        found = saved(render(summarize(**inputs, reject=reject)))
        names = inputs["annotations"].items.tolist()
        refused = sorted((value, names[row]) for row, value in enumerate(p) if value < 1 - reject)
        rows = found["refusals.csv"]
        assert [row["item"] for row in rows] == [item for _, item in refused]
        assert {row["best_class"] for row in rows} <= {"a", "b"}


def test_where_there_is_nothing_there_is_no_link():
    page = render(summarize(Labels.from_crisp(list("aabb"))))
    assert saved(page) == {}


def test_long_lists_are_cut_and_say_so():
    n = 20_000
    labels = Labels(np.ones((n, 2)), ["a", "b"], conflict=np.linspace(0, 1, n))
    page = render(summarize(labels))
    rows = saved(page)["items_in_conflict.csv"]
    assert rows[0]["item"] == f"row {n - 1}"
    assert 500 < len(rows) <= 1000
    assert f"Save the first {len(rows)} of 19,999 items in conflict as CSV" in page
    assert len(page.encode()) < 120_000


def test_many_long_names_take_little_room():
    n = 2000
    labels = Labels(np.ones((n, 2)), ["a", "b"], conflict=np.full(n, 0.5))
    summary = summarize(labels, items=[f"{i} " + "x" * 500 for i in range(n)])
    assert len(as_csv(summary["clash"]["list"])) < 20_000


@pytest.mark.parametrize(
    "name",
    ["=1+1", "+1", "@you", "-x", "-1+1", "-5.5.5", "\t=1", "\r=1", "=", "-", '"=1', "a,=1\n=2"],
)
def test_no_cell_is_a_formula(name):
    text = as_csv(take_away("t", ["name", "n"], [{"name": name, "n": 1}]))
    (row,) = list(csv.reader(io.StringIO(text)))[1:]
    assert len(row) == 2
    assert not re.match(r"[=+@\t\r]|-(?!\d+$)", row[0])


@pytest.mark.parametrize("name", ["-5", "-0.25", "a-b", "5", "'quoted'"])
def test_plain_names_stay_as_they_are(name):
    assert harmless(name) == name


def test_hostile_names_stay_names():
    answers = Annotations.from_long(
        [f"={name}" for name in HOSTILE for _ in range(2)],
        ["+cmd|' /C calc'!A0", "@you"] * len(HOSTILE),
        [["<b>", "<i>"][k % 2] for k in range(2 * len(HOSTILE))],
    )
    for rows in saved(render(summarize(annotations=answers))).values():
        for row in rows:
            assert all(not cell.startswith(("=", "+", "@")) for cell in row.values())
