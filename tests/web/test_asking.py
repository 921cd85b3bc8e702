"""What comes next: worth, shares of other questions, leases, and when an item ends."""

from itertools import product

import numpy as np
import pytest

from plausible.experts import information
from plausible.web.asking import LEASE, Asking
from plausible.web.live import USUAL_ACCURACY
from support.studies import CLASSES, Visitor, open_room


def entropy(p):
    p = p[p > 0]
    return -(p * np.log2(p)).sum()


def test_information_is_the_expected_drop_of_entropy():
    """By enumeration of classes and answers."""
    random = np.random.default_rng(0)
    for n_classes, accuracy in product((2, 3, 5), (0.4, 0.75, 0.95)):
        prior = random.dirichlet(np.ones(n_classes))
        says = np.full((n_classes, n_classes), (1 - accuracy) / (n_classes - 1))
        np.fill_diagonal(says, accuracy)
        after = 0.0
        for answer in range(n_classes):
            joint = prior * says[:, answer]
            after += joint.sum() * entropy(joint / joint.sum())
        found = information(prior[None], accuracy)[0]
        assert found == pytest.approx(entropy(prior) - after, abs=1e-12)


def test_the_most_worth_comes_first_in_bits_for_a_second(tmp_path):
    room = open_room(tmp_path / "t.db", 6, answers=5)
    live, asking = room.live, room.asking
    ann, bob = Visitor(room, "ann"), Visitor(room, "bob")
    items = {one.name: row for row, one in enumerate(live.items)}
    for name, pick, word in (("tree 1", "elm", "sure"), ("tree 2", "elm", "a guess")):
        row = items[name]
        room.asking.hold(bob.person.id, asking.next(bob.person.id, 1)[0]._replace(item=row))
        assert bob.say(live.items[row].id, [pick], word).status_code == 200
    asking.until[:] = 0
    live.slow[:] = 0
    worth = asking.value(ann.person.id)
    assert worth[items["tree 1"]] < worth[items["tree 2"]] < worth[items["tree 0"]]
    best = asking.next(ann.person.id, 1)[0]
    assert worth[best.item] == worth.max()
    assert best.value == pytest.approx(worth.max())
    live.slow[:, best.item] = 4 * np.log(3.0), 4  # it took others three times as long
    slower = asking.value(ann.person.id)
    assert slower[best.item] == pytest.approx(worth[best.item] / np.exp(np.log(3.0) / 2), rel=1e-6)
    room.close()


def test_shares_of_gold_repeats_and_random_questions(tmp_path):
    gold = {f"tree {k}": "elm" for k in range(300)}
    room = open_room(tmp_path / "t.db", 2000, gold=gold)
    room.study.options.update(gold=0.2, repeat=0.1, random=0.3)
    asking, ann = room.asking, Visitor(room, "ann").person.id
    visitor = Visitor(room, "bob")
    visitor.answer_all(lambda item: (["elm"], "sure"), 30)
    reasons = []
    person = visitor.person.id
    for _ in range(600):
        offer = asking.next(person, 4)[-1]
        reasons.append(offer.reason)
        asking.release(person, offer.item)
        live = room.live
        if offer.reason != "repeat":
            assert not live.done_by(person)[offer.item]
        assert not live.practice[offer.item]
        assert (live.gold[offer.item] >= 0) == (offer.reason == "gold")
    share = {reason: reasons.count(reason) / len(reasons) for reason in set(reasons)}
    assert share["gold"] == pytest.approx(0.2, abs=0.06)
    assert share["repeat"] == pytest.approx(0.1, abs=0.05)
    assert share["random"] == pytest.approx(0.3, abs=0.07)
    assert share["value"] == pytest.approx(0.4, abs=0.07)
    first = {asking.next(ann, 1)[0].reason for _ in range(3)}
    assert "repeat" not in first  # nothing was answered yet
    room.close()


def test_items_are_left_to_those_who_were_shown_them(room):
    now = [1000.0]
    asking = Asking(room.live, 0, lambda: now[0])
    ann, bob = (Visitor(room, name).person.id for name in ("ann", "bob"))
    mine = {offer.item for offer in asking.next(ann, 3)}
    theirs = {offer.item for offer in asking.next(bob, 9)}
    assert len(theirs) == 9
    assert mine.isdisjoint(theirs)
    assert [offer.item for offer in asking.next(ann, 3)] == [o.item for o in asking.held(ann)]
    assert not asking.next(bob, 12, theirs)
    now[0] += LEASE + 1
    assert not asking.held(ann)
    assert {offer.item for offer in asking.next(bob, 12)} == set(range(12))


def test_leases_outlive_the_server(tmp_path):
    room = open_room(tmp_path / "t.db")
    ann = Visitor(room, "ann")
    before = ann.state()["items"]
    ann.say(before[0]["id"], ["elm"])
    room.close()
    room = open_room(tmp_path / "t.db", seed=7)
    ann, bob = Visitor(room, "ann"), Visitor(room, "bob")
    assert [one["id"] for one in ann.state()["items"]][:2] == [one["id"] for one in before[1:]]
    assert {one["id"] for one in bob.state()["items"]}.isdisjoint(one["id"] for one in before[1:])
    room.close()


def test_items_end_when_an_answer_is_not_worth_asking(tmp_path):
    room = open_room(tmp_path / "t.db", 1, answers=2)
    live = room.live
    most = 2 * room.study.options["answers"]
    people = [Visitor(room, f"p{k}") for k in range(8)]
    for number, who in enumerate(people):
        items = who.state()["items"]
        ended = bool(live.ended[0])
        assert bool(items) != ended
        if ended:
            break
        who.say(items[0]["id"], [CLASSES[number % 4]], "a guess")
    assert live.count[0] == most
    room.close()
    room = open_room(tmp_path / "u.db", 1, answers=50)
    for number in range(20):
        who = Visitor(room, f"p{number}")
        items = who.state()["items"]
        if not items:
            break
        who.say(items[0]["id"], ["elm"], "sure")
    gain = room.live.gain(USUAL_ACCURACY)[0]
    assert gain < room.study.options["least"]
    assert 2 <= room.live.count[0] < 8
    room.close()


def test_broken_items_are_left(room):
    ann, bob = Visitor(room, "ann"), Visitor(room, "bob")
    first = ann.state()["items"][0]
    item = first["id"]
    assert ann.say(item, kind="broken").status_code == 200
    assert room.live.ended[room.live.place[item]]
    room.asking.until[:] = 0
    said = bob.answer_all(lambda one: (["elm"], "sure"))
    assert len(said) == 11
    assert first["name"] not in said
    token = ann.state()["last"][0]["token"]
    ann.post("/undo", {"token": "undo-broken-000001", "undoes": token})
    assert not room.live.ended[room.live.place[item]]


@pytest.mark.parametrize("size", [1, 3])
def test_undo_goes_back_to_what_was_said_before(room, size):
    ann = Visitor(room, "ann")
    item = ann.state()["items"][0]["id"]
    row = room.live.place[item]
    states = [room.live.logs[row].copy()]
    tokens = []
    for k in range(size):
        token = f"said-{k}-0123456789"
        ann.say(item, [CLASSES[k]], "sure", token=token)
        tokens.append(token)
        states.append(room.live.logs[row].copy())
    for token in reversed(tokens):
        states.pop()
        ann.post("/undo", {"token": f"undo-{token}", "undoes": token})
        np.testing.assert_array_equal(room.live.logs[row], states[-1])
    assert not room.live.done_by(ann.person.id)[row]
