"""What was said stays, is kept once, and is written by one thread in groups."""

import asyncio
import sqlite3
import threading
import time
from contextlib import closing, nullcontext
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from plausible.errors import InputError
from plausible.web import Room, Store, schema
from plausible.web.asking import Offer
from plausible.web.people import event_hash
from plausible.web.protocol import Joined
from plausible.web.saving import ForbiddenError, keep_shown, save
from plausible.web.store import AwayError
from support.studies import Visitor, invitation, new_token, open_room

ANSWERS = "SELECT id, token, item, kind, picks, word FROM answer"
FIRST_VERSION = Path(__file__).parent / "first_version.sql"


@pytest.mark.parametrize("table", schema.APPEND_ONLY)
@pytest.mark.parametrize(
    "words",
    [
        "UPDATE {} SET id = id + 100",
        "DELETE FROM {}",
        "INSERT OR REPLACE INTO {0} SELECT * FROM {0}",
        "REPLACE INTO {0} SELECT * FROM {0}",
    ],
)
def test_rows_never_change(room, table, words):
    ann = Visitor(room, "ann", "manager")
    item = ann.state()["items"][0]["id"]
    ann.say(item, ["elm"])
    settle = {"item": str(item), "label": "elm", "why": "slip"}
    with room.store.read() as connection:
        upto = connection.execute(sa.select(sa.func.max(schema.answer.c.id))).scalar()
    row = {"item": item, "person": ann.person.id, "label": '["elm"]', "why": settle["why"],
           "upto": upto, "comment": None, "at": 1.0}  # fmt: skip
    room.store.write(lambda c: c.execute(schema.settlement.insert(), row) and None).result()
    before = room.store.ask(f"SELECT * FROM {table} ORDER BY id")
    assert before
    known = "REPLACE" in words and table == "answer"  # a token that is known adds nothing
    with nullcontext() if known else pytest.raises(sa.exc.IntegrityError, match="never changed"):
        room.store.write(lambda c: c.exec_driver_sql(words.format(table)) and None).result()
    assert room.store.ask(f"SELECT * FROM {table} ORDER BY id") == before


def test_jobs_of_many_threads_are_kept_once_each_in_order(tmp_path):
    store = Store(str(tmp_path / "s.db"))
    after, failed = [], []

    def insert(number):
        if number % 7 == 3:
            raise ValueError(number)

        def work(connection):
            if number % 7 == 5:
                raise ValueError(number)
            row = {"name": f"{number}", "value": "x"}
            connection.execute(schema.meta.insert(), row)
            return number

        return work

    def run(start):
        for number in range(start, 200, 4):
            if number % 7 == 3:
                continue
            future = store.write(insert(number), after.append)
            if number % 7 == 5:
                failed.append(future)

    threads = [threading.Thread(target=run, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    with closing(sqlite3.connect(tmp_path / "s.db")) as database:
        kept = {n for (n,) in database.execute("SELECT name FROM meta WHERE value = 'x'")}
    wanted = {number for number in range(200) if number % 7 not in (3, 5)}
    assert kept == {str(number) for number in wanted}
    assert sorted(after) == sorted(wanted)  # nobody was told before it was kept
    assert len(failed) == sum(number % 7 == 5 for number in range(200))
    assert all(isinstance(one.exception(), ValueError) for one in failed)


def test_durable_settings(room):
    pragma = {name: room.store.ask(f"PRAGMA {name}")[0][0] for name in ("journal_mode",
              "synchronous", "foreign_keys")}  # fmt: skip
    assert pragma == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_one_file_is_left(tmp_path):
    room = open_room(tmp_path / "t.db", 3)
    ann = Visitor(room, "ann")
    ann.say(ann.state()["items"][0]["id"], ["elm"])
    assert len(list(tmp_path.iterdir())) > 1
    room.store.close(5.0)
    assert [path.name for path in tmp_path.iterdir()] == ["t.db"]
    room.close()  # again does no harm


def test_a_second_server_is_refused(room):
    with pytest.raises(InputError, match=r"One server should hold trees\.db at a time"):
        Store(room.store.url)


def test_a_newer_database_is_refused_in_one_sentence(tmp_path):
    store = Store(str(tmp_path / "s.db"))
    store.close()
    with closing(sqlite3.connect(tmp_path / "s.db")) as database:
        database.execute("UPDATE meta SET value = '99' WHERE name = 'version'")
        database.commit()
    with pytest.raises(InputError, match="version 2 or older, but it is of version 99; install"):
        Store(str(tmp_path / "s.db"))
    Store(str(tmp_path / "other.db")).close()  # and leaves no lock behind


def test_the_first_version_is_brought_up_to_date(tmp_path):
    path = tmp_path / "old.answers.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(FIRST_VERSION.read_text())
        before = database.execute(
            "SELECT id, token, item, kind, picks, word FROM answer"
        ).fetchall()
    assert len(before) == 3
    room = open_room(path)
    columns = {c["name"] for c in sa.inspect(room.store.engine).get_columns("shown")}
    assert {"suggestion", "arm"} <= columns
    assert room.store.ask("SELECT value FROM meta WHERE name = 'version'") == [("2",)]
    assert room.store.ask(ANSWERS) == before
    assert room.live.count.sum() == 2  # the third is a "later"
    with pytest.raises(sa.exc.IntegrityError, match="never changed"):
        room.store.write(lambda c: c.exec_driver_sql("DELETE FROM answer") and None).result()
    ann = Visitor(room, "ann")
    assert ann.say(ann.state()["items"][0]["id"], ["oak"]).status_code == 200
    room.close()


def test_events_are_a_chain(room):
    Visitor(room, "ann")
    Visitor(room, "bob", "reviewer")
    invitation(room)
    with room.store.read() as connection:
        rows = connection.execute(sa.select(schema.event).order_by(schema.event.c.id)).mappings()
        rows = list(rows)
    assert [row["kind"] for row in rows] == ["person", "person", "invitation"]
    assert [row["previous"] for row in rows] == ["", *(row["hash"] for row in rows[:-1])]
    assert [event_hash(row) for row in rows] == [row["hash"] for row in rows]


def test_a_disk_that_is_full_keeps_the_answer_in_the_browser(room, monkeypatch):
    ann = Visitor(room, "ann")
    item = ann.state()["items"][0]["id"]
    token = new_token()
    body = {"token": token, "item": item, "kind": "said", "picks": ["elm"], "word": "sure"}
    full = sa.exc.OperationalError("INSERT", {}, sqlite3.OperationalError("disk is full"))
    with monkeypatch.context() as patch:
        patch.setattr("plausible.web.saving.insert_once", lambda *_: (_ for _ in ()).throw(full))
        reply = ann.post("/answer", body)
        assert reply.status_code == 503
        assert ann.get("/healthz").status_code == 503
    assert ann.post("/answer", body).status_code == 200  # the same token, later
    assert ann.get("/healthz").json() == {"ok": True}
    assert room.live.count.sum() == 1


def test_answers_that_wait_together_are_kept_like_one_after_the_other(tmp_path):
    """In two statements, once each, while a strange one among them is refused alone."""
    rooms = [open_room(tmp_path / f"{name}.db", 8, answers=5) for name in "ab"]
    bodies = [
        (who, {"token": f"token-{who}-{k}-000000", "item": 1 + k, "kind": "said", "word": "sure",
               "picks": [["oak"], ["elm", "ash"], ["birch"]][(k + who) % 3]})
        for k in range(8) for who in range(3)
    ]  # fmt: skip
    again = (0, bodies[0][1])
    stolen = (1, bodies[3][1] | {"token": bodies[0][1]["token"]})
    changed = (2, bodies[5][1] | {"token": "token-2-1-changed", "picks": ["oak"], "item": 1})
    bodies = [*bodies[:4], again, stolen, *bodies[4:], changed]

    async def together(room, people):
        go = threading.Event()
        first = room.store.keep(lambda connection: go.wait(60))
        tasks = [asyncio.ensure_future(save(room, people[who], body)) for who, body in bodies]
        await asyncio.sleep(0)  # all stand in the line by now
        go.set()
        await first
        return await asyncio.gather(*tasks, return_exceptions=True)

    async def apart(room, people):
        return [
            (await asyncio.gather(save(room, people[who], body), return_exceptions=True))[0]
            for who, body in bodies
        ]

    found = []
    for room, way in zip(rooms, (together, apart), strict=True):
        people = [Visitor(room, f"person {who}").person for who in range(3)]
        shown = [(one.id, Offer(row, "chosen", 0.0)) for one in people for row in range(8)]
        room.store.write(lambda c, r=room, s=shown: keep_shown(c, r, s)).result()
        replies = asyncio.run(way(room, people))
        refused = [k for k, one in enumerate(replies) if isinstance(one, Exception)]
        assert refused == [5]
        assert isinstance(replies[5], ForbiddenError)
        assert replies[4].answer == replies[0].answer
        stored = room.store.ask("SELECT token, item, person, picks FROM answer ORDER BY token")
        assert len(stored) == 25
        again = Room(room.store, room.settings)
        np.testing.assert_allclose(again.live.logs, room.live.logs, atol=1e-12)
        assert (again.live.ended == room.live.ended).all()
        found.append((stored, room.live.logs, room.live.count))
        room.close()
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-12)
    assert found[0][2].tolist() == found[1][2].tolist()


class Pieces:
    """A transport that notes what it is told."""

    def __init__(self):
        self.told = []

    def write(self, data):
        self.told.append(data)

    def close(self):
        self.told.append("closed")

    def is_closing(self):
        return "closed" in self.told


def test_what_is_written_in_one_turn_is_sent_as_one_piece():
    async def turns():
        plain = Pieces()
        joined = Joined(plain, asyncio.get_running_loop())
        joined.write(b"head, ")
        joined.write(b"body")
        assert plain.told == []
        await asyncio.sleep(0)
        assert plain.told == [b"head, body"]
        joined.write(b"last ")
        joined.write(b"words")
        joined.close()
        assert joined.is_closing()
        await asyncio.sleep(0)
        return plain.told

    assert asyncio.run(turns()) == [b"head, body", b"last words", "closed"]


def test_a_token_is_never_taken_over(room):
    ann = Visitor(room, "ann")
    item = ann.state()["items"][0]["id"]
    ann.say(item, ["elm"])
    before = room.store.ask("SELECT * FROM answer")
    columns = [one.name for one in schema.answer.columns if one.name != "id"]
    new = ", ".join("'[]'" if name == "picks" else name for name in columns)
    words = f"INSERT OR REPLACE INTO answer ({', '.join(columns)}) SELECT {new} FROM answer"
    room.store.write(lambda c: c.exec_driver_sql(words) and None).result()
    assert room.store.ask("SELECT * FROM answer") == before


def test_a_closed_database_is_not_opened_again_by_those_who_read(tmp_path):
    room = open_room(tmp_path / "trees.db")
    room.close()
    for use in (lambda: room.store.ask("SELECT 1"), lambda: room.store.write(lambda c: 1)):
        with pytest.raises(AwayError):
            use()
    assert [path.name for path in tmp_path.iterdir()] == ["trees.db"]
    room.close()  # once more is nothing


def test_who_reads_is_waited_for(tmp_path):
    room = open_room(tmp_path / "trees.db")
    reading, ended = threading.Event(), []

    def read():
        with room.store.read() as connection:
            reading.set()
            while not room.store.is_closed:
                time.sleep(0.001)
            ended.append(connection.exec_driver_sql("SELECT count(*) FROM item").scalar())

    thread = threading.Thread(target=read)
    thread.start()
    reading.wait()
    room.close()
    thread.join()
    assert ended == [len(room.live.items)]
    assert [path.name for path in tmp_path.iterdir()] == ["trees.db"]
