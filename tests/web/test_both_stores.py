"""Any history of answers, on SQLite and on PostgreSQL: both say the same, and so does a model."""

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from plausible.errors import InputError
from plausible.io import annotations_of
from plausible.web import schema
from plausible.web.asking import Offer
from plausible.web.room import told
from support.studies import CLASSES, Visitor, open_room

WORDS = ["sure", "rather", "a guess"]
NAMES = ("ann", "bob")
LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"


class History(RuleBasedStateMachine):
    """Two people answer, take back, put off and settle, while servers start again.

    The model is a list of what each person said about each item, of which the last counts.
    """

    addresses = staticmethod(lambda folder: [str(Path(folder) / "a.db")])

    @initialize()
    def start(self):
        self.folder = tempfile.mkdtemp(prefix="plausible-")
        self.urls = self.addresses(self.folder)
        self.rooms = [open_room(url, 4, answers=3) for url in self.urls]
        self.said = {name: [] for name in NAMES}  # token, item, what; in the order of time
        self.settled = {}
        self.count = 0
        self.meet()

    def meet(self):
        self.visitors = [{name: Visitor(room, name) for name in NAMES} for room in self.rooms]
        self.bosses = [Visitor(room, "boss", "reviewer") for room in self.rooms]

    def teardown(self):
        for room in getattr(self, "rooms", ()):
            room.close()
        shutil.rmtree(getattr(self, "folder", ""), ignore_errors=True)

    def do(self, name, path, body):
        """The same request to all servers, twice, as a browser may; all say the same."""
        self.count += 1
        body = body | {"token": f"token-{name}-{self.count:08d}"}
        for visitors in self.visitors:  # numbers may differ: PostgreSQL leaves some out
            replies = [visitors[name].post(path, body) for _ in range(2)]
            assert [reply.status_code for reply in replies] == [200, 200], replies[0].text
            assert len({reply.json()["answer"] for reply in replies}) == 1
        return body["token"]

    def show(self, name, item):
        """Have an item shown to somebody, whatever is worth asking."""
        for room, visitors in zip(self.rooms, self.visitors, strict=True):
            person = visitors[name].person.id
            if not room.asking.is_held(person, item - 1):
                room.asking.hold(person, Offer(item - 1, "chosen", 0.0))

    @rule(
        name=st.sampled_from(NAMES), item=st.integers(1, 4), word=st.sampled_from(WORDS),
        picks=st.lists(st.sampled_from(CLASSES), min_size=1, max_size=3, unique=True),
        level=st.booleans(),
    )  # fmt: skip
    def answer(self, name, item, word, picks, level):
        self.show(name, item)
        body = {"item": item, "kind": "said", "picks": picks, "word": word, "level": level}
        token = self.do(name, "/answer", body)
        self.said[name].append((token, item, ("said", tuple(picks), word)))

    @rule(
        name=st.sampled_from(NAMES), item=st.integers(1, 4),
        kind=st.sampled_from(["cannot", "none", "broken"]),
    )  # fmt: skip
    def other(self, name, item, kind):
        self.show(name, item)
        token = self.do(name, "/answer", {"item": item, "kind": kind, "picks": []})
        self.said[name].append((token, item, (kind,)))

    @rule(name=st.sampled_from(NAMES), item=st.integers(1, 4))
    def later(self, name, item):
        self.show(name, item)
        token = self.do(name, "/later", {"item": item})
        self.said[name].append((token, item, ("later",)))

    @precondition(lambda self: any(self.said.values()))
    @rule(data=st.data())
    def undo(self, data):
        name = data.draw(st.sampled_from([name for name in NAMES if self.said[name]]))
        place = data.draw(st.integers(0, len(self.said[name]) - 1))
        token, _, _ = self.said[name][place]
        self.do(name, "/undo", {"undoes": token})
        del self.said[name][place]

    @rule(
        item=st.integers(1, 4),
        names=st.lists(st.sampled_from(CLASSES), min_size=1, max_size=2, unique=True),
        what=st.sampled_from(["settle", "open", "again"]),
    )
    def settle(self, item, names, what):
        for boss in self.bosses:
            data = {"item": item, "what": what, "why": "a slip", "label": names}
            assert boss.client.post("/settle", data=data).status_code == 303
        self.settled[item] = names if what == "settle" else []

    @rule()
    def restart(self):
        for room in self.rooms:
            room.close()
        self.rooms = [open_room(url, 4, answers=3) for url in self.urls]
        self.meet()

    @invariant()
    def all_say_the_same(self):
        if not hasattr(self, "rooms"):
            return
        expected = set()
        for name in NAMES:
            last = {item: what for _, item, what in self.said[name] if what[0] != "later"}
            expected |= {(f"tree {i - 1}", name, what) for i, what in last.items()}
        speaking = {one for one in expected if one[2][0] != "broken"}
        for room in self.rooms:
            live = room.live
            found = set()
            for item in range(4):
                for row in live.standing(item):
                    kind = ("said", "cannot", "none", "broken")[live.answers["kind"][row]]
                    said = live.statements[live.answers["statement"][row]]
                    names = tuple(CLASSES[k] for k in said.picks)
                    word = live.words[live.answers["word"][row]]
                    what = (kind, names, word) if kind == "said" else (kind,)
                    who = live.people[int(live.answers["person"][row])]
                    found.add((live.items[item].name, who, what))
            assert found == expected
            assert live.count.sum() == len(speaking)
        first = self.rooms[0].live
        for room in self.rooms[1:]:
            np.testing.assert_allclose(room.live.logs, first.logs, atol=1e-12)
            assert (room.live.ended == first.ended).all()
        for item, names in self.settled.items():
            if names and first.count[item - 1] == 0:
                best = {CLASSES[k] for k in np.flatnonzero(first.contours()[item - 1] == 1)}
                assert best == set(names)


def test_any_history_on_sqlite():
    some = settings(max_examples=200 if LONG else 3, stateful_step_count=14, deadline=None)
    run_state_machine_as_test(History, settings=some)


def test_any_history_on_both(postgres):
    class Both(History):
        addresses = staticmethod(lambda folder: [str(Path(folder) / "a.db"), postgres()])

    some = settings(max_examples=50 if LONG else 2, stateful_step_count=10, deadline=None)
    run_state_machine_as_test(Both, settings=some)


def test_postgres_refuses_changes_and_reads_as_annotations(postgres, tmp_path):
    rooms = [open_room(url, 6) for url in (postgres(), str(tmp_path / "a.db"))]
    found = []
    for room in rooms:
        ann = Visitor(room, "ann")
        said = ann.answer_all(lambda one: (CLASSES[int(one["name"][-1]) % 4 :][:2], "rather"))
        assert len(said) == 6
        for table in schema.APPEND_ONLY:
            if not room.store.ask(f"SELECT 1 FROM {table}"):
                continue
            for words in ("UPDATE {} SET id = id + 100", "DELETE FROM {}"):
                with pytest.raises(sa.exc.DBAPIError, match="never changed"):
                    room.store.write(
                        lambda c, w=words, t=table: c.exec_driver_sql(w.format(t)) and None
                    ).result()
        answers = annotations_of(told(room.store))
        order = np.argsort(answers.items)
        found.append(answers.pool().contour[order])
    with pytest.raises(sa.exc.DBAPIError, match="never changed"):
        rooms[0].store.write(
            lambda c: c.exec_driver_sql("TRUNCATE answer CASCADE") and None
        ).result()
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)
    for room in rooms:
        room.close()


def test_a_second_server_on_postgres_is_refused_and_a_lost_connection_comes_back(postgres):
    url = postgres()
    room = open_room(url, 6)
    with pytest.raises(InputError, match="One server should hold this database at a time, but an"):
        open_room(url, 6)
    ann = Visitor(room, "ann")
    first = ann.state()["items"]
    end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> {}"
    engine = sa.create_engine(url)
    with engine.connect() as other:
        own = other.exec_driver_sql("SELECT pg_backend_pid()").scalar()
        other.exec_driver_sql(end.format(own)).scalar()
    engine.dispose()
    room.store.used = 0.0  # nobody has written for a while
    assert ann.say(first[0]["id"], ["elm"]).status_code == 200
    with pytest.raises(InputError, match="another one is running"):
        open_room(url, 6)
    room.close()
    again = open_room(url, 6)
    assert again.live.count.sum() == 1
    again.close()
