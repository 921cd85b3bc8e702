"""Suggestions: who sees them when, how far they pull, and that they are not counted twice."""

import numpy as np
import pytest

from plausible.web import Room
from plausible.web.figures import of_people
from plausible.web.suggest import USUAL_PULL, count_arms, pull_from, pulls, save_suggestions
from support.studies import Visitor, generous, new_token, with_model

ARMS = ("hidden", "after", "before")


@pytest.mark.parametrize("how", ["never", "after", "before"])
def test_suggestions_are_shown_when_they_should_be(tmp_path, how):
    room = with_model(tmp_path / "t.db", how)
    ann = Visitor(room, "ann")
    item = ann.state()["items"][0]
    assert item.get("suggested") == (["elm", "ash"] if how == "before" else None)
    assert item.get("after") == (True if how == "after" else None)
    reply = ann.say(item["id"], ["oak"]).json()
    assert reply["after"] == (["elm", "ash"] if how == "after" else None)
    saw = room.store.ask("SELECT saw_suggestion FROM answer")[0][0]
    assert bool(saw) == (how == "before")
    if how == "after":  # the first answer stays, and the second one says that it saw
        ann.say(item["id"], ["elm"], saw=True)
        rows = room.store.ask("SELECT picks, saw_suggestion, replaces FROM answer ORDER BY id")
        assert [(p, bool(s), r) for p, s, r in rows] == [
            ('["oak"]', False, None), ('["elm"]', True, 1)
        ]  # fmt: skip
    room.close()


def test_coins_are_thrown_stored_and_hidden_until_answered(tmp_path):
    room = with_model(tmp_path / "t.db", "coin", 90)
    ann = Visitor(room, "ann")
    seen = {}
    while items := ann.state()["items"]:
        item = items[0]
        assert item.get("suggested") in (None, ["elm", "ash"])
        reply = ann.say(item["id"], ["elm"]).json()
        arm = "before" if item.get("suggested") else "after" if item.get("after") else "hidden"
        assert bool(reply["after"]) == (arm == "after")
        seen[item["id"]] = arm
    stored = dict(room.store.ask("SELECT item, arm FROM shown"))
    assert stored == seen
    counts = [list(seen.values()).count(arm) for arm in ARMS]
    assert sum(counts) == 90
    assert min(counts) > 15
    room.close()


def test_the_pull_is_the_difference_between_the_arms(tmp_path):
    random = np.random.default_rng(0)
    room = with_model(tmp_path / "t.db", "coin", 120)
    ann = Visitor(room, "ann")
    follow = {"hidden": 0.4, "after": 0.4, "before": 0.9}
    hits = {arm: [0, 0] for arm in ARMS}
    while items := ann.state()["items"]:
        item = items[0]
        arm = "before" if item.get("suggested") else "after" if item.get("after") else "hidden"
        follows = random.random() < follow[arm]
        ann.say(item["id"], ["elm" if follows else "birch"])
        hits[arm][0] += follows
        hits[arm][1] += 1
    assert {a: list(c) for a, c in count_arms(room.store)[ann.person.id].items()} == hits
    by_person, overall = pulls(room.store)
    expected = hits["before"][0] / hits["before"][1] - hits["hidden"][0] / hits["hidden"][1]
    found = by_person[ann.person.id]
    assert found.value == pytest.approx(expected)
    assert found.low < 0.5 < found.high
    assert overall == pytest.approx(expected)
    room.look_again(force=True)
    assert of_people(room)[0]["pull"] == found
    room.close()


def test_few_answers_show_no_pull():
    assert pull_from((9, 9), (50, 90)) is None
    low, high = pull_from((50, 100), (50, 100))[1:]
    assert low < 0 < high


def test_answers_that_saw_the_model_are_not_counted_twice(tmp_path):
    """With a pull of 1 they add nothing to what the model says; without the model, they stay."""
    room = with_model(tmp_path / "t.db", "before", 3)
    live = room.live
    assert live.pull == USUAL_PULL
    ann = Visitor(room, "ann")
    item = ann.state()["items"][0]["id"]
    row = live.place[item]
    before = live.chances()[row].copy()
    ann.say(item, ["birch"])
    after = live.chances()[row]
    alone = np.exp(live.logs[row])
    assert alone[3] == alone.max() == 1  # as the pool has it, without the model
    weaker = live.pull + (1 - live.pull) * alone
    expected = np.exp(live.model_logs[row]) * weaker
    np.testing.assert_allclose(after, expected / expected.sum())
    for pull, wanted in ((1.0, before), (0.0, np.exp(live.model_logs[row]) * alone)):
        live.pull = pull
        live.refresh()
        np.testing.assert_allclose(live.chances()[row], wanted / wanted.sum())
    room.close()


def test_a_model_of_other_classes_is_refused(room):
    with pytest.raises(ValueError, match="'fig' is none of them"):
        save_suggestions(room.store, ["tree 0"], np.ones((1, 2)), ["elm", "fig"], "0")


def seen(room):
    rows = room.store.ask("SELECT item, saw_suggestion FROM answer ORDER BY id")
    return [(item, bool(saw)) for item, saw in rows]


def test_who_asks_for_the_model_is_noted_by_the_server(tmp_path):
    room = with_model(tmp_path / "t.db", "asked")
    ann, bob = Visitor(room, "ann"), Visitor(room, "bob")
    first, second, third = ann.state()["items"]
    assert first["asked"] is True  # and nothing of what it says
    assert not {"suggested", "after"} & first.keys()
    assert ann.say(first["id"], ["oak"]).json()["after"] is None
    for _ in range(2):  # asked twice, it is kept once
        assert ann.post("/look", {"item": second["id"]}).json() == {"suggested": ["elm", "ash"]}
    rows = room.store.ask("SELECT item, person, reason, arm FROM shown WHERE reason = 'model'")
    assert rows == [(second["id"], ann.person.id, "model", "asked")]
    # A page that is loaded anew does not know what was seen, but is told again.
    again = {one["id"]: one for one in ann.state()["items"]}
    assert again[second["id"]]["suggested"] == ["elm", "ash"]
    assert "suggested" not in again[third["id"]]
    ann.say(second["id"], ["oak"], saw=False)
    assert ann.post("/look", {"item": third["id"]}).status_code == 200
    room = generous(Room(room.store, room.settings, 0))  # as after a new start
    ann = Visitor(room, "ann")
    assert third["id"] in [one["id"] for one in ann.state()["items"]]
    ann.say(third["id"], ["oak"], saw=False)
    assert seen(room) == [(first["id"], False), (second["id"], True), (third["id"], True)]
    assert bob.post("/look", {"item": third["id"]}).status_code == 403  # it was not shown to them
    assert ann.post("/look", {"item": 10**9}).status_code == 404
    room.close()


@pytest.mark.parametrize("how", ["never", "after", "before"])
def test_nobody_is_told_on_request_where_that_is_not_allowed(tmp_path, how):
    room = with_model(tmp_path / "t.db", how)
    ann = Visitor(room, "ann")
    item = ann.state()["items"][0]["id"]
    assert ann.post("/look", {"item": item}).status_code == 404
    room.close()


@pytest.mark.parametrize("how", ["after", "before"])
def test_who_has_seen_a_suggestion_cannot_unsee_it(tmp_path, how):
    """Also not by undo, by a change from the list of one's answers, or by a new start."""
    room = with_model(tmp_path / "t.db", how)
    ann = Visitor(room, "ann")
    item = ann.state()["items"][0]["id"]
    token = new_token()
    ann.say(item, ["oak"], token=token)
    ann.post("/undo", {"token": new_token(), "undoes": token})
    ann.say(item, ["elm"], saw=False)
    room = generous(Room(room.store, room.settings, 0))
    ann = Visitor(room, "ann")
    ann.get(f"/?item={item}")
    ann.say(item, ["ash"], saw=False)
    expected = [how == "before", False, True, True]  # the second row takes the first one back
    assert seen(room) == [(item, saw) for saw in expected]
    room.close()
