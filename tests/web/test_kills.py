"""A server that is killed under load loses nothing that it acknowledged, and doubles nothing."""

import json
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from contextlib import closing

import pytest

from support.command import environment
from support.studies import CLASSES

KILLS = 20


def start(folder, port=0):
    """The real command; its process and address."""
    words = [sys.executable, "-m", "plausible.cli", "annotate", "items.csv", "--classes",
             ",".join(CLASSES), "--no-browser", "--name", "ann", "--port", str(port),
             "--answers", "3"]  # fmt: skip
    process = subprocess.Popen(
        words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=environment(PYTHONUNBUFFERED="1"),
    )  # fmt: skip
    for line in process.stdout:
        found = re.search(r"(http://[\d.:]+)/\?token=(\S+)", line)
        if found:
            return process, found[1], found[2]
    raise AssertionError(process.wait())


class Client(threading.Thread):
    """Somebody who answers as fast as the server lets them, with tokens that are sent again."""

    def __init__(self, base, token, number, acknowledged):
        super().__init__()
        self.base, self.number, self.acknowledged = base, number, acknowledged
        self.unsure, self.going = None, True
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        self.open = opener.open
        self.token = token

    def request(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data)
        while True:
            try:
                with self.open(request, timeout=60) as reply:
                    return reply.read().decode()
            except urllib.error.HTTPError as error:
                if error.code != 429:
                    raise
                error.close()
                threading.Event().wait(0.2)  # too fast: again, as a browser does

    def run(self):
        count = 0
        try:
            text = self.request(f"/?token={self.token}")
            state = json.loads(re.search(r'id="state">(.*?)</script>', text, re.DOTALL)[1])
            items = state["items"]
            while self.going and items:
                item = items.pop(0)
                count += 1
                body = {"token": f"{self.base[-5:]}-{self.number}-{self.token[:8]}-{count:06d}",
                        "item": item["id"], "kind": "said", "picks": [CLASSES[count % 4]],
                        "word": "sure", "have": [one["id"] for one in items]}  # fmt: skip
                self.unsure = body
                reply = json.loads(self.request("/answer", body))
                self.acknowledged[body["token"]] = reply["answer"]
                self.unsure = None
                items += reply["next"]
        except (OSError, urllib.error.URLError, ValueError, TypeError):
            pass  # killed


@pytest.mark.long
def test_nothing_that_was_acknowledged_is_lost(tmp_path):
    n_items = 4000
    rows = "".join(f"i{k},text {k}\n" for k in range(n_items))
    (tmp_path / "items.csv").write_text(f"item,text\n{rows}")
    acknowledged, unsure = {}, []
    for _ in range(KILLS):
        process, base, token = start(tmp_path)
        clients = [Client(base, token, k, acknowledged) for k in range(3)]
        for client in clients:
            client.start()
        before, patience = len(acknowledged), 0
        while len(acknowledged) < before + 20 and patience < 3000:
            threading.Event().wait(0.02)
            patience += 1
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        for client in clients:
            client.going = False
            client.join()
            unsure += [client.unsure] if client.unsure else []
    assert len(acknowledged) > 10 * KILLS
    process, base, token = start(tmp_path)
    again = Client(base, token, 0, acknowledged)
    again.request(f"/?token={token}")
    for body in unsure:  # as a browser does when the server is back
        reply = json.loads(again.request("/answer", body))
        acknowledged[body["token"]] = reply["answer"]
    process.send_signal(signal.SIGINT)
    process.wait()
    process.stdout.close()
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["items.answers.db", "items.csv"]  # all in one file, if it may say goodbye
    with closing(sqlite3.connect(tmp_path / "items.answers.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        stored = dict(database.execute("SELECT token, id FROM answer").fetchall())
        count = database.execute("SELECT count(*) FROM answer").fetchone()[0]
    assert stored == acknowledged
    assert count == len(acknowledged)
