"""Ctrl-C and SIGTERM at any moment: one exit code, one file, no answer that was kept is lost."""

import random
import signal
import sqlite3
import time
from contextlib import closing, suppress

import pytest

from support.served import Client, Forked, Served, wait_for_answers, write_items

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
MOMENTS = "start", "ready", "load", "twice", "closing"
ROUNDS = 60  # of each loop, in long tests


def one_round(start, folder, moment, draw, acknowledged, unsure):
    """A server that is stopped at some moment."""
    first, second = draw.choices(list(CODES), k=2)
    served, clients = start(), []
    if moment == "start":
        time.sleep(draw.uniform(0.0, 3.0))  # whatever it does then
    else:
        served.wait()
    if moment in ("load", "twice", "closing"):
        clients = [Client(served, k, acknowledged) for k in range(2)]
        for client in clients:
            client.start()
        wait_for_answers(clients, acknowledged, draw.randint(0, 20))
    served.send(first)
    if moment in ("twice", "closing"):
        time.sleep(0.0 if moment == "twice" else draw.uniform(0.0, 0.3))
        with suppress(ProcessLookupError):  # it may have ended
            served.send(second)
    code, told = served.end()
    for client in clients:
        client.going = False
        client.join()
        unsure |= {client.unsure["token"]} if client.unsure else set()
    is_alone = moment not in ("twice", "closing")
    # The order of two that come together is not told.
    assert code in ({CODES[first]} if is_alone else {CODES[first], CODES[second]}), told
    assert told.splitlines()[-1].startswith(("plausible annotate: ", "plausible: "))
    assert not any(word in told for word in ("Traceback", "Exception ignored")), told
    left = {path.name for path in folder.iterdir()}
    allowed = [{"items.csv", "items.answers.db"}]
    if moment == "start":
        allowed.append({"items.csv"})
    assert left in allowed, (moment, left)


def check_answers(folder, acknowledged, unsure):
    """All that was acknowledged is there, once, and nothing that nobody said."""
    with closing(sqlite3.connect(folder / "items.answers.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = database.execute("SELECT token, id FROM answer").fetchall()
    stored = dict(rows)
    assert len(rows) == len(stored)
    assert acknowledged.items() <= stored.items()
    assert stored.keys() <= acknowledged.keys() | unsure


def try_moments(start, folder, moments, seed=None):
    write_items(folder, 2000)
    draw, acknowledged, unsure = random.Random(seed), {}, set()
    for moment in moments:
        one_round(start, folder, moment, draw, acknowledged, unsure)
    check_answers(folder, acknowledged, unsure)


@pytest.fixture(params=["asyncio", "uvloop"])
def loop(request):
    if request.param == "uvloop":
        pytest.importorskip("uvloop")
    return request.param


def test_a_signal_at_some_moments(server, tmp_path, loop):
    streams = tmp_path / "streams"
    streams.mkdir()
    (tmp_path / "here").mkdir()
    try_moments(lambda: Forked(server, tmp_path / "here", streams, loop), tmp_path / "here",
                MOMENTS[1:], seed=loop)  # fmt: skip


@pytest.mark.long
def test_a_signal_at_any_moment(tmp_path, loop):
    moments = [MOMENTS[k % len(MOMENTS)] for k in range(ROUNDS)]
    try_moments(lambda: Served(tmp_path, loop=loop), tmp_path, moments)
