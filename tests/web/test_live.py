"""The state in memory is what `Annotations.pool` makes of the database, after any history."""

import json
from dataclasses import replace

import numpy as np
import pytest

from plausible.cli import main
from plausible.experts import next_items
from plausible.io import annotations_of, read_annotations, read_known
from plausible.web.room import Room, read_answers, told
from support.studies import CLASSES, Visitor, open_room

WORDS = ["sure", "rather", "a guess"]


def chat(room, n_answers=60, seed=0, n_people=4):
    """People who say all kinds of things about all items, and change their minds."""
    random = np.random.default_rng(seed)
    people = [Visitor(room, f"person {k}") for k in range(n_people)]
    for _ in range(n_answers):
        who = people[random.integers(n_people)]
        items = who.state()["items"]
        if not items:
            continue
        item = items[0]["id"]
        kind = random.choice(["said", "said", "said", "said", "cannot", "none", "later", "broken"],
                             p=[0.2, 0.2, 0.2, 0.2, 0.08, 0.05, 0.05, 0.02])  # fmt: skip
        picks = random.permutation(CLASSES)[: random.integers(1, 4)].tolist()
        more = {"level": True} if random.random() < 0.2 else {}
        if random.random() < 0.2:
            more = {"numbers": random.choice([1, 2, 5, 10, 20], size=len(picks)).tolist()}
        if kind == "later":
            body = {"token": f"later-{random.integers(1 << 40):020d}", "item": item}
            assert who.post("/later", body).status_code == 200
            continue
        if kind != "said":
            picks, more = [], {}
        reply = who.say(item, picks, str(random.choice(WORDS)), str(kind), **more)
        assert reply.status_code == 200, reply.text
        if random.random() < 0.15:
            last = who.state()["last"][0]["token"]
            body = {"token": f"undo-{random.integers(1 << 40):020d}", "undoes": last}
            assert who.post("/undo", body).status_code == 200
    return people


def check_equal(room):
    """Live contours are those of the pool, to 1e-12."""
    answers = annotations_of(told(room.store))
    pooled = answers.pool(on_conflict="unknown")
    places = {one.name: row for row, one in enumerate(room.live.items)}
    rows = np.array([places[name] for name in answers.items.tolist()])
    raw = np.exp(room.live.logs[rows] - room.live.logs[rows].max(axis=1, keepdims=True))
    np.testing.assert_allclose(raw, pooled.scaled(), atol=1e-12)
    others = np.setdiff1d(np.arange(len(room.live.items)), rows)
    assert (room.live.logs[others] == 0).all()
    return answers


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 4))]
)
def test_contours_are_those_of_the_pool(tmp_path, seed):
    room = open_room(tmp_path / "t.db", answers=4, seed=seed)
    chat(room, seed=seed)
    check_equal(room)
    before = room.live.logs.copy(), room.live.count.copy(), room.live.ended.copy()
    room.live.refresh()
    for one, two in zip(before, (room.live.logs, room.live.count, room.live.ended), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-12)
    again = Room(room.store, room.settings)  # as after a restart
    np.testing.assert_allclose(again.live.logs, room.live.logs, atol=1e-12)
    assert again.live.later == room.live.later
    assert (again.live.ended == room.live.ended).all()
    assert {k: v.tolist() for k, v in again.live.done.items() if v.any()} == {
        k: v.tolist() for k, v in room.live.done.items() if v.any()
    }
    room.close()


def test_calibrated_words_are_the_same_in_memory_and_in_the_file(tmp_path):
    random = np.random.default_rng(0)
    truth = {f"tree {k}": CLASSES[random.integers(4)] for k in range(60)}
    room = open_room(tmp_path / "t.db", 80, gold=truth, answers=3)
    room.study.options["gold"] = 0.6

    def choose(item):
        right = truth.get(item["name"], "oak")
        word = WORDS[random.integers(3)]
        if random.random() < {"sure": 0.95, "rather": 0.6, "a guess": 0.3}[word]:
            picks = [right]
        else:
            picks = [CLASSES[random.integers(4)]]
        other = CLASSES[random.integers(4)]
        return (picks if other in picks or random.random() < 0.6 else [*picks, other]), word

    for name in ("ann", "bob"):
        Visitor(room, name).answer_all(choose, 55)
    room.live.refresh()
    assert room.live.worth.calibration is not None
    check_equal(room)
    doubts = [room.live.worth.share(k) for k in range(3)]
    assert doubts[0] > doubts[1] > doubts[2]
    room.close()


def test_the_database_is_an_answers_file(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    room = open_room(tmp_path / "t.answers.db", answers=3)
    chat(room, 50)
    expected = check_equal(room)
    n_answers = int(room.live.count.sum())
    room.close()
    read = read_annotations("t.answers.db")
    assert read.classes.tolist() == CLASSES  # in their order, named or not
    assert len(read) == len(expected) == n_answers
    np.testing.assert_allclose(
        read.pool(on_conflict="unknown").contour, expected.pool(on_conflict="unknown").contour
    )
    known = read_known("t.answers.db")
    assert any("with the doubts of the answers themselves" in note for note in known.notes)
    for words in (["pool", "t.answers.db", "-o", "labels.csv"],
                  ["report", "t.answers.db", "-o", "report.html"],
                  ["check", "t.answers.db"]):  # fmt: skip
        assert main([*words, "--json", "--quiet"]) == 0, capsys.readouterr().err
        found = json.loads(capsys.readouterr().out)
        if words[0] == "pool":
            assert found["classes"] == CLASSES


def test_other_databases_are_refused(tmp_path, capsys, monkeypatch):
    import sqlite3
    from contextlib import closing

    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("other.db")) as database:
        database.execute("CREATE TABLE t (x)")
    assert main(["pool", "other.db", "-o", "labels.csv"]) == 1
    told_ = capsys.readouterr().err
    assert "'other.db' should be a database of plausible annotate, but it is another one" in told_
    assert "export the table of answers from it as CSV" in told_


def test_the_past_can_be_had_again(room):
    ann = Visitor(room, "ann")
    first = ann.state()["items"][0]["id"]
    ann.say(first, ["elm"])
    upto = room.live.upto
    then = annotations_of(told(room.store)).pool().contour
    token = ann.state()["last"][0]["token"]
    ann.post("/undo", {"token": "undo-000000000001", "undoes": token})
    ann.say(first, ["oak", "birch"], "a guess")
    now = annotations_of(told(room.store)).pool().contour
    assert np.abs(now - then).max() > 0.1
    np.testing.assert_array_equal(annotations_of(told(room.store, upto)).pool().contour, then)
    assert len(read_answers(room.store)) == 3  # nothing was lost on the way


def test_what_is_asked_next_is_that_of_next_items(tmp_path):
    """By the same doubts, accuracy and items, in the same order."""
    room = open_room(tmp_path / "t.db", answers=5)
    chat(room, 40, n_people=3)
    live, asking = room.live, room.asking
    ann = Visitor(room, "ann")
    asking.until[:] = 0
    live.slow[:] = 0
    free = asking.candidates(ann.person.id)
    rows = np.flatnonzero(free & (live.count > 0))
    answers = live.annotations(rows.tolist())
    accuracy = round(round(live.accuracy(ann.person.id) / 0.05) * 0.05, 4)
    reliability = replace(
        answers.reliability(), accuracy=np.full(len(answers.annotators), accuracy)
    )
    questions = next_items(
        answers, len(rows), by="information", annotator="ann", reliability=reliability,
        on_conflict="unknown",
    )  # fmt: skip
    gains = {live.items[row].name: live.gain(accuracy)[row] for row in rows}
    for question in questions:
        assert question.priority == pytest.approx(gains[question.item], abs=1e-9)
    room.close()


def test_words_are_calibrated_while_nobody_looks_at_the_overview(tmp_path):
    truth = {f"tree {k}": CLASSES[k % 4] for k in range(70)}
    room = open_room(tmp_path / "t.db", 80, gold=truth, answers=3)
    room.study.options["gold"] = 1.0
    ann = Visitor(room, "ann")
    ann.answer_all(lambda item: ([truth.get(item["name"], "oak")], "a guess"), 50)
    assert room.live.news > 30
    room.patience = 0.0
    ann.answer_all(lambda item: ([truth.get(item["name"], "oak")], "a guess"), 1)
    assert room.live.news <= 1  # the one that may have come after the look
    assert room.live.worth.calibration is not None
    assert room.live.worth.share(2) > 0.8  # "a guess" of hers is nearly always right
    room.close()


def test_all_items_are_reckoned_alike_in_pieces(tmp_path, monkeypatch):
    room = open_room(tmp_path / "t.db", 11, answers=3)
    draw = np.random.default_rng(0)
    for name in ("ann", "bob", "zoe"):
        Visitor(room, name).answer_all(
            lambda item: (draw.permutation(CLASSES)[: draw.integers(1, 4)].tolist(), "rather"), 7
        )
    live = room.live
    live.refresh()
    whole = [np.copy(one) for one in (live.logs, live.count, live.speaking, live.ended)]
    assert len(set(whole[1].tolist())) > 1
    for size in (1, 3, 11):
        monkeypatch.setattr("plausible.web.live.AT_ONCE", size)
        live.logs[:] = live.count[:] = live.speaking[:] = 7
        live.refresh()
        for one, other in zip(
            whole, (live.logs, live.count, live.speaking, live.ended), strict=True
        ):
            assert np.array_equal(one, other)
    room.close()
