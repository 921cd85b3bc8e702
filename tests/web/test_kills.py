"""A server that is killed under load loses nothing that it acknowledged, and doubles nothing."""

import json
import signal
import sqlite3
from contextlib import closing

import pytest

from support.command import Server
from support.served import Client, Forked, wait_for_answers, write_items

KILLS = 20
LOOPS = "uvloop", "asyncio"


@pytest.fixture
def start(tmp_path_factory):
    """Starts the command in a folder, without the seconds that imports take."""
    streams = tmp_path_factory.mktemp("streams")
    server = Server(tmp_path_factory.mktemp("files"))
    yield lambda folder, number: Forked(server, folder, streams, LOOPS[number % 2]).wait()
    server.close()


@pytest.mark.long
def test_nothing_that_was_acknowledged_is_lost(tmp_path, start):
    write_items(tmp_path)
    acknowledged, unsure = {}, []
    for number in range(KILLS):
        served = start(tmp_path, number)
        clients = [Client(served, k, acknowledged) for k in range(3)]
        for client in clients:
            client.start()
        wait_for_answers(clients, acknowledged, 20)
        served.send(signal.SIGKILL)
        assert served.end()[0] == -signal.SIGKILL
        for client in clients:
            client.going = False
            client.join()
            unsure += [client.unsure] if client.unsure else []
    assert len(acknowledged) > 10 * KILLS
    served = start(tmp_path, 0)
    again = Client(served, 0, acknowledged)
    again.request(f"/?token={served.token}")
    for body in unsure:  # as a browser does when the server is back
        reply = json.loads(again.request("/answer", body))
        acknowledged[body["token"]] = reply["answer"]
    served.send(signal.SIGINT)
    assert served.end()[0] == 130
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["items.answers.db", "items.csv"]  # all in one file, if it may say goodbye
    with closing(sqlite3.connect(tmp_path / "items.answers.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        stored = dict(database.execute("SELECT token, id FROM answer").fetchall())
        count = database.execute("SELECT count(*) FROM answer").fetchone()[0]
    assert stored == acknowledged
    assert count == len(acknowledged)
