"""What answers taught, and which items resemble one another."""

import numpy as np
import pytest

from plausible.web.figures import elicited, taught
from support.studies import CLASSES, Visitor, open_room


def test_bits_that_answers_taught_by_enumeration():
    """Each answer by the share of the others: a sum over what it might have been, by hand."""
    holds = np.array([True, True, False, True, False, True])
    size = np.array([1, 2, 1, 3, 2, 1])
    found = taught(holds, size, 5)
    for k in range(len(holds)):
        others = np.delete(holds, k)
        share = (others.sum() + 1) / (len(others) + 2)
        chances = np.array(
            [share / size[k]] * size[k] + [(1 - share) / (5 - size[k])] * (5 - size[k])
        )
        assert chances.sum() == pytest.approx(1)
        truth = 0 if holds[k] else 4
        assert found[k] == pytest.approx(np.log2(5) + np.log2(chances[truth]))
    assert (taught(holds, np.full(6, 5), 5) == 0).all()  # who names all classes teaches nothing


def test_luck_teaches_nothing_and_knowledge_nearly_all():
    random = np.random.default_rng(0)
    luck = taught(random.random(20_000) < 0.25, np.ones(20_000), 4)
    assert luck.mean() == pytest.approx(0, abs=0.01)
    assert taught(np.ones(20_000, dtype=bool), np.ones(20_000), 4).mean() == pytest.approx(
        2, abs=0.01
    )


def test_words_and_sets_are_told_apart_with_bits_per_minute(tmp_path):
    truth = {f"tree {k}": CLASSES[k % 4] for k in range(60)}
    room = open_room(tmp_path / "t.db", 70, gold=truth, answers=3)
    room.study.options["gold"] = 1.0
    ann = Visitor(room, "ann")
    expected = {}
    for number in range(40):
        item = ann.state()["items"][0]
        right = truth.get(item["name"])
        sure = number % 2 == 0
        wrong = number % 8 == 0
        first = CLASSES[(CLASSES.index(right) + wrong) % 4] if right else "oak"
        other = next(name for name in CLASSES if name not in (first, right))
        picks = [first] if sure else [first, other]
        ann.say(item["id"], picks, "sure" if sure else "rather", seconds=2.0 if sure else 6.0)
        if right:
            kind = "sure, one class" if sure else "rather, a set"
            expected.setdefault(kind, []).append(right in picks)
    found = {one.kind: one for one in elicited(room.live)}
    assert set(found) == {*expected, "all of these"}
    for kind, holds in expected.items():
        one = found[kind]
        assert (one.answers, one.right) == (len(holds), pytest.approx(np.mean(holds)))
        size = np.full(len(holds), 1 if kind.startswith("sure") else 2)
        assert one.bits == pytest.approx(taught(np.array(holds), size, 4).mean())
        assert one.seconds == (2.0 if kind.startswith("sure") else 6.0)
        assert one.bits_per_minute == pytest.approx(one.bits * 60 / one.seconds)
    page = Visitor(room, "boss", "reviewer").get("/overview").text
    assert "Bits per minute" in page
    assert "rather, a set" in page
    room.close()


def test_similar_items_are_those_with_words_in_common(tmp_path):
    texts = ["red round fruit on a twig", "a red round fruit", "long grey bark", "grey bark",
             "leaf with teeth", "12 34"]  # fmt: skip
    items = {"item": list("abcdef"), "text": texts}
    room = open_room(tmp_path / "t.db", items=items)
    names = [room.live.items[k].name for k in room.similar.to(0)]
    assert names[0] == "b"
    assert not {"c", "d", "a"} & set(names)
    assert next(room.live.items[k].name for k in room.similar.to(2)) == "d"
    boss = Visitor(room, "boss", "reviewer")
    text = boss.get("/clashes/1").text
    assert "Similar items" in text
    assert 'href="/clashes/2"' in text
    assert 'href="/clashes/3"' not in text
    room.close()


def test_pictures_are_similar_by_what_is_said_of_them(tmp_path):
    items = {"item": list("abcd"), "photo": [f"{k}.png" for k in range(4)]}
    room = open_room(tmp_path / "t.db", items=items, image="photo", answers=3)
    for who in ("ann", "bob"):
        visitor = Visitor(room, who)
        said = {"a": ["oak"], "b": ["elm"], "c": ["oak"]}
        while found := [one for one in visitor.state()["items"] if one["name"] in said]:
            one = found[0]
            assert visitor.say(one["id"], said.pop(one["name"])).status_code == 200
        room.asking.until[:] = 0
    names = [room.live.items[k].name for k in room.similar.to(0)]
    assert names[0] == "c"
    assert "d" not in names  # nobody has said anything of it
    room.close()


def test_a_form_that_is_refused_says_so_on_a_page(room):
    boss = Visitor(room, "boss", "reviewer")
    data, accept = {"item": 1, "what": "settle", "why": "a slip"}, {"accept": "text/html,*/*"}
    reply = boss.client.post("/settle", data=data, headers=accept)
    assert reply.status_code == 400
    assert "<h1>What is settled should be some of the classes, but none came; choose some</h1>" in (
        reply.text
    )
    told = boss.client.post("/settle", data=data).json()["error"]
    assert told == "What is settled should be some of the classes, but none came; choose some."
