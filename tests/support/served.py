"""The real server of `plausible annotate` in a process of its own, and people who answer."""

import http.client
import json
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request

from support.command import be_heard, environment, wait_until
from support.studies import CLASSES

# Tells when the command listens to signals; "asyncio" as its first word leaves out other loops.
BEGIN = """
import sys
if sys.argv.pop(1) == "asyncio":
    sys.modules["uvloop"] = None
sys.argv[0] = "plausible"
from plausible.cli import signals
signals.listen()
print("begun", flush=True)
from plausible.cli import main
sys.exit(main())
"""
ADDRESS = re.compile(r"(http://[\d.:]+)/\?token=(\S+)\n")


def write_items(folder, count=4000):
    """A table of items in a folder."""
    rows = "".join(f"i{k},text {k}\n" for k in range(count))
    (folder / "items.csv").write_text(f"item,text\n{rows}")


def words_for(*more):
    """The words of the command."""
    return ["annotate", "items.csv", "--classes", ",".join(CLASSES), "--no-browser", "--name",
            "ann", "--answers", "3", *more]  # fmt: skip


class Served:
    """The command; `base` and `token` are its address, once `wait` has returned."""

    def __init__(self, folder, *words, loop="uvloop"):
        self.process = subprocess.Popen(
            [sys.executable, "-c", BEGIN, loop, *words_for(*words)],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=environment(PYTHONUNBUFFERED="1"), preexec_fn=be_heard,
        )  # fmt: skip
        assert self.process.stdout.readline() == "begun\n"

    def wait(self):
        """Until the server listens."""
        for line in self.process.stdout:
            found = ADDRESS.search(line)
            if found:
                self.base, self.token = found[1], found[2]
                return self
        raise AssertionError(self.end())

    def send(self, *numbers):
        """Signals, one after the other."""
        for number in numbers:
            self.process.send_signal(number)

    def end(self):
        """The exit code, and what was said on standard error, once it has ended."""
        _, told = self.process.communicate(timeout=120)
        return self.process.returncode, told


class Forked:
    """The same from a server of commands, which has everything imported."""

    def __init__(self, server, folder, streams, loop):
        self.told = {name: streams / name for name in ("stdout", "stderr")}
        for path in self.told.values():
            path.write_text("")
        without = ["uvloop"] if loop == "asyncio" else []
        self.running = server.start(*words_for(), folder=folder, without=without, **self.told)

    def wait(self):
        """Until the server listens."""
        found = wait_until(lambda: ADDRESS.search(self.told["stdout"].read_text()), "the server")
        self.base, self.token = found[1], found[2]
        return self

    def send(self, *numbers):
        """Signals, one after the other."""
        for number in numbers:
            self.running.interrupt(number)

    def end(self):
        """The exit code, and what was said on standard error, once it has ended."""
        return self.running.wait(), self.told["stderr"].read_text()


class Client(threading.Thread):
    """Somebody who answers as fast as the server lets them, with tokens that are sent again."""

    def __init__(self, served, number, acknowledged):
        super().__init__(daemon=True)
        self.base, self.token = served.base, served.token
        self.number, self.acknowledged = number, acknowledged
        self.unsure, self.going = None, True
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        self.open = opener.open

    def request(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data)
        while True:
            try:
                with self.open(request, timeout=60) as reply:
                    return reply.read().decode()
            except urllib.error.HTTPError as error:
                error.close()
                if error.code != 429:
                    raise
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
        except (OSError, http.client.HTTPException, ValueError, TypeError):
            pass  # killed, perhaps in the midst of a reply


def wait_for_answers(clients, acknowledged, wanted):
    """Until so many more answers are acknowledged, or nobody answers any more."""
    before = len(acknowledged)
    while len(acknowledged) < before + wanted and any(one.is_alive() for one in clients):
        threading.Event().wait(0.01)
