"""The annotation page under load: answers a second, the next item, memory, way to the screen.

50 people answer as fast as they can over loopback for some seconds, each answer acknowledged when
it is on disk; the server in a process of its own, the clients in this one. Everything is bounded:
some two minutes in all. SQLite is measured, and PostgreSQL where Debian's is found.
"""

import asyncio
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from timing import show

CLASSES = ["oak", "elm", "ash", "birch", "lime"]
N_CLIENTS, SECONDS = 50, 6.0
WITHOUT = "--without-uvloop"


def serve(url: str, n_items: int) -> None:
    """A study with signed-in people on a free port; tells where."""
    from plausible import web
    from plausible.web.guard import Bucket
    from plausible.web.server import listen, run_app

    store = web.open_study({"text": [f"Leaf {k}" for k in range(n_items)]}, CLASSES, db=url,
                           options={"answers": 3})  # fmt: skip
    room = web.Room(store, web.Settings(), 0)
    room.limits.answers = Bucket(1e9, 1e9)
    people = [web.find_or_add(store, f"person {k}", "annotator") for k in range(N_CLIENTS)]
    room.meet()
    made = listen("127.0.0.1", 0)
    cookies = [room.sessions.sign(one) for one in people]
    told = {"port": made.getsockname()[1], "cookies": cookies, "cpu": time.process_time()}
    print(json.dumps(told), flush=True)
    run_app(web.make_app(room), made)


class Client(asyncio.Protocol):
    """Somebody who answers until the time is up, at as little cost as possible.

    The machine is shared with the server: what is not needed to answer is not read.
    """

    LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)

    def __init__(self, cookie: str, number: int, until: float, times: list[float]) -> None:
        self.cookie, self.number, self.until, self.times = cookie, number, until, times
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.received = b""
        self.items: list[int] = []
        self.count = self.refused = 0
        self.start = 0.0

    def connection_made(self, transport: Any) -> None:
        """Ask for the first items."""
        self.transport = transport
        self.head = f"Host: 127.0.0.1\r\nCookie: plausible_session={self.cookie}\r\n"
        transport.write(f"GET /next HTTP/1.1\r\n{self.head}\r\n".encode())

    def data_received(self, data: bytes) -> None:
        """Part of a reply."""
        self.received += data
        head, gap, body = self.received.partition(b"\r\n\r\n")
        found = self.LENGTH.search(head) if gap else None
        if found is None or len(body) < int(found[1]):
            return
        self.received = b""
        if self.start:
            self.times.append(time.perf_counter() - self.start)
        self.refused += head[9:12] != b"200"
        self.items += [one["id"] for one in json.loads(body).get("next", [])]
        self.answer()

    def answer(self) -> None:
        """The next answer, if there is time."""
        if not self.items or time.perf_counter() > self.until:
            self.transport.close()
            return
        item = self.items.pop(0)
        self.count += 1
        body = (
            f'{{"token":"bench-{self.number:04d}-{self.count:08d}","item":{item},"kind":"said",'
            f'"picks":["{CLASSES[self.count % 5]}"],"word":"sure","seconds":2.0,'
            f'"have":{self.items}}}'
        )
        self.start = time.perf_counter()
        self.transport.write(
            f"POST /answer HTTP/1.1\r\n{self.head}Content-Length: {len(body)}\r\n\r\n"
            f"{body}".encode()
        )

    def connection_lost(self, error: Any) -> None:
        """The end."""
        if not self.done.done():
            self.done.set_result(None)


async def load(port: int, cookies: list[str]) -> tuple[list[float], int]:
    """All clients at once: times of answers, and how many were refused."""
    times: list[float] = []
    until, loop = time.perf_counter() + SECONDS, asyncio.get_running_loop()
    clients = []
    for number, cookie in enumerate(cookies):
        new = partial(Client, cookie, number, until, times)
        _, made = await loop.create_connection(new, "127.0.0.1", port)
        clients.append(made)
    await asyncio.gather(*(one.done for one in clients))
    return times, sum(one.refused for one in clients)


def cpu(who: int) -> float:
    """Seconds of the processor that were used by this process, or by those it has started."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def answers(name: str, url: str, wanted: float, *options: str) -> list[bool]:
    """Acknowledged answers a second, how long people wait, and what that costs."""
    words = [sys.executable, __file__, "--serve", url, *options]
    before = cpu(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        own = cpu(resource.RUSAGE_SELF)
        times, refused = asyncio.run(load(told["port"], told["cookies"]))
        own = cpu(resource.RUSAGE_SELF) - own
        process.terminate()
    served = cpu(resource.RUSAGE_CHILDREN) - before - told["cpu"]
    rate, p50, p95 = len(times) / SECONDS, *(1e3 * np.quantile(times, [0.5, 0.95]))
    print(f"{name}: median {p50:.0f} ms, 95 % within {p95:.0f} ms, {refused} refused; for each "
          f"answer {1e3 * served / len(times):.2f} ms of a processor here, "
          f"{1e3 * own / len(times):.2f} ms of the clients'")  # fmt: skip
    return [
        show(f"{name}: acknowledged answers a second", rate, f">= {wanted:.0f}", rate >= wanted),
        show(f"{name}: ms within which 95 % are kept", p95, "<= 150", p95 <= 150),
    ]


def next_item() -> list[bool]:
    """The next item among 100,000 with 300,000 answers, and the memory of all that."""
    from plausible.io import Row
    from plausible.web.asking import Asking
    from plausible.web.columns import Answer
    from plausible.web.figures import overview
    from plausible.web.live import Live
    from plausible.web.study import OPTIONS, Item, Study

    n_items, n_people = 100_000, 50
    words = {"sure": 0.8, "rather": 0.6, "a guess": 0.3}
    study = Study(1, "", "?", "", tuple(CLASSES), ("",) * 5, words, OPTIONS | {"answers": 5})
    items = [Item(k + 1, f"i{k}", "text", "x", None, None, False) for k in range(n_items)]
    live = Live(study, items, {k: f"person {k}" for k in range(1, n_people + 1)})
    rng = np.random.default_rng(0)
    picks = [json.dumps([name]) for name in CLASSES]
    names = list(words)

    def said() -> Any:
        for number in range(300_000):
            row = Row(number + 1, number % n_items + 1, 1 + int(rng.integers(n_people)), "said",
                      picks[rng.integers(5)], False, names[number % 3], None, None)  # fmt: skip
            yield Answer(row, 2.0, False, "value", 0.0)

    start = time.perf_counter()
    live.load(said(), [])
    print(f"300,000 answers are loaded in {time.perf_counter() - start:.1f} s")
    asking = Asking(live, 0)
    times = []
    for step in range(200):
        person = 1 + step % n_people
        start = time.perf_counter()
        offers = asking.next(person, 1)
        times.append(time.perf_counter() - start)
        asking.release(person, offers[0].item)
        live.update(offers[0].item)
    slow = 1e3 * float(np.quantile(times[n_people:], 0.95))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    class Now:
        """As much of a room as the overview needs."""

        model_told = ""

        def look_again(self) -> None:
            """Nothing new."""

    now: Any = Now()
    now.live = live
    overview(now)
    start = time.perf_counter()
    overview(now)
    again = 1e3 * (time.perf_counter() - start)
    return [
        show("next item among 100,000, ms (95 %)", slow, "<= 20", slow <= 20),
        show("memory with 300,000 answers, MB", memory, "<= 400", memory <= 400),
        show("overview of the same, ms", again, "<= 200", again <= 200),
    ]


def painted() -> list[bool]:
    """From the key to the next item on the screen, in chromium."""
    path = shutil.which("chromium")
    if path is None:
        print("no chromium: the way to the screen is not measured")
        return []
    from playwright.sync_api import sync_playwright

    script = """() => new Promise(done => {
        const start = performance.now();
        document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "1", bubbles: true}));
        document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "j", bubbles: true}));
        requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
    })"""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        words = [sys.executable, __file__, "--serve", f"{folder}/a.db"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
            context = browser.new_context()
            base = f"http://127.0.0.1:{told['port']}"
            context.add_cookies([{"name": "plausible_session", "value": told["cookies"][0],
                                  "url": base}])  # fmt: skip
            page = context.new_page()
            page.goto(base)
            times = []
            for _ in range(20):
                times.append(page.evaluate(script))
                page.wait_for_timeout(150)
            browser.close()
            process.terminate()
    middle = float(np.median(times))
    return [show("key to next item painted, ms", middle, "<= 50", middle <= 50)]


def postgres() -> list[bool]:
    """The same on Debian's PostgreSQL, if it is there."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from support.postgres import find_programs, new_database, running  # type: ignore

    programs = find_programs()
    if programs is None:
        print("no PostgreSQL: it is not measured")
        return []
    with running(programs, ("fsync=on",)) as address:
        return answers("PostgreSQL", new_database(address), 400)


def sqlite() -> list[bool]:
    """Answers a second on SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        return answers("SQLite", f"{folder}/a.db", 800)


def plain() -> list[bool]:
    """The same where uvloop is not installed."""
    with tempfile.TemporaryDirectory() as folder:
        return answers("SQLite, asyncio's loop", f"{folder}/a.db", 800, WITHOUT)


PARTS = {
    "sqlite": sqlite,
    "plain": plain,
    "postgres": postgres,
    "next": next_item,
    "painted": painted,
}


def main() -> None:
    """Measure all of it, or the parts that are named."""
    holds = [one for name in sys.argv[1:] or PARTS for one in PARTS[name]()]
    raise SystemExit(0 if all(holds) else 1)


if __name__ == "__main__":
    if WITHOUT in sys.argv:
        sys.modules["uvloop"] = None  # type: ignore[assignment]
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], 20_000)
    else:
        main()
