"""Signals at any time: the right exit code, no traceback, and nothing half-written is left."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import settings

from plausible.cli import pool, signals
from plausible.cli.main import main
from plausible.io import load, write_table
from support.command import be_heard, environment, wait_until

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
LONG = settings().max_examples > 100
# Tells when the command has begun: before it, signals are those of the interpreter.
BEGIN = """
import os, sys
class Tell:
    def find_spec(self, name, *_):
        if name == "plausible.cli.main":
            os.write(1, b"begun")
sys.meta_path.insert(0, Tell())
sys.argv[0] = "plausible"
from plausible.cli import main
sys.exit(main())
"""
ENDLESS = ["--model", "mixture", "--set", "tol=0", "--set", "max_iter=1000000000",
           "--set", "accelerate=false"]  # fmt: skip


def start(*words, folder, prepare=be_heard):
    return subprocess.Popen(
        [sys.executable, "-c", BEGIN, *map(str, words)], cwd=folder, env=environment(),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=prepare,
    )  # fmt: skip


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def parts(folder):
    return [name for name in names(folder) if name.endswith(".part")]


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Tables that take some time to pool, and to fit."""
    folder = tmp_path_factory.mktemp("wide")
    draw = np.random.default_rng(0)
    n = 20_000
    y = np.arange(n) % 3
    X = draw.normal(size=(n, 5)) + 0.3 * y[:, None]
    write_table({"item": np.arange(n)} | {f"x{j}": X[:, j] for j in range(5)},
                folder / "features.parquet")  # fmt: skip
    write_table({"item": np.arange(60), "label": y[:60], "doubt": np.full(60, 0.3)},
                folder / "labels.csv")  # fmt: skip
    answers = {"item": np.tile(np.arange(n), 2), "annotator": np.repeat(["ann", "bob"], n)}
    write_table(answers | {"label": np.tile(y, 2)}, folder / "answers.parquet")
    return folder


def duration(words, folder):
    """Seconds from the beginning of the command to its end."""
    running = start(*words, folder=folder)
    running.stdout.read(5)
    began = time.monotonic()
    running.communicate(timeout=120)
    assert running.returncode == 0
    return time.monotonic() - began


@pytest.mark.parametrize(
    "words",
    [["info"], pytest.param(["pool", "answers.parquet", "-o", "out.csv"], marks=pytest.mark.long)],
)
def test_one_or_two_signals_at_any_time(wide, tmp_path, words):
    words = [str(wide / word) if (wide / word).exists() else word for word in words]
    whole = duration(words, tmp_path)
    draw = random.Random(None if LONG else len(words))
    for case in range(200 if LONG else 6):
        number, second = draw.choice(list(CODES)), draw.choice([None, *CODES])
        running = start(*words, folder=tmp_path)
        assert running.stdout.read(5) == b"begun"
        time.sleep(draw.uniform(0, 1.1 * whole) if case % 3 else 0.0)
        running.send_signal(number)
        if second is not None:
            time.sleep(draw.choice([0.0, 0.001, 0.02]))
            running.send_signal(second)
        _, told = running.communicate(timeout=60)
        # The order of two that come together is not told; one may come after the end.
        assert running.returncode in {CODES[number], CODES[second or number], 0}, told
        assert running.returncode or case % 3
        assert b"Traceback" not in told
        assert b"Exception ignored" not in told
        assert parts(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_fit_saves_the_best_so_far(server, wide, tmp_path, number):
    files = wide / "labels.csv", wide / "features.parquet"
    (tmp_path / "err").touch()
    running = server.start("fit", *files, "-o", "out.skops", *ENDLESS, folder=tmp_path,
                           stderr=tmp_path / "err")  # fmt: skip
    wait_until(lambda: "model: mixture" in (tmp_path / "err").read_text(), "the fit")
    time.sleep(1.0)
    running.interrupt(number)
    assert running.wait() == CODES[number]
    told = (tmp_path / "err").read_text()
    assert "best parameters so far" in told
    assert names(tmp_path) == ["err", "out.skops", "out.skops.checkpoint"]
    assert load(tmp_path / "out.skops").n_iter_ > 0
    again = server.run("fit", *files, "-o", "out.skops", *ENDLESS[:2], "--resume", "--set",
                       "accelerate=false", "--set", "tol=1", folder=tmp_path)  # fmt: skip
    assert again.code == 0, again.stderr


def test_a_second_signal_ends_a_fit_at_once(server, wide, tmp_path):
    draw = random.Random(None if LONG else 3)
    files = wide / "labels.csv", wide / "features.parquet"
    for _ in range(60 if LONG else 4):
        (tmp_path / "err").write_text("")
        first, second = draw.choices(list(CODES), k=2)
        running = server.start("fit", *files, "-o", "out.skops", *ENDLESS, folder=tmp_path,
                               stderr=tmp_path / "err")  # fmt: skip
        wait_until(lambda: "model: mixture" in (tmp_path / "err").read_text(), "the fit")
        time.sleep(draw.uniform(0.0, 0.8))
        running.interrupt(first)
        time.sleep(draw.uniform(0.0, 0.2))
        with suppress(ProcessLookupError):  # it may have ended
            running.interrupt(second)
        assert running.wait() in {CODES[first], CODES[second]}
        told = (tmp_path / "err").read_text()
        assert "Traceback" not in told
        assert "Exception ignored" not in told
        assert parts(tmp_path) == []
        for name in names(tmp_path):
            (tmp_path / name).unlink()


def test_a_signal_while_a_file_is_written(tmp_path):
    code = """
import os, signal, sys, time
from plausible.cli import signals
signals.listen()
from plausible.engine.files import atomic_file
with atomic_file("out.txt") as file:
    file.write(b"half")
    file.flush()
    print(sorted(name.endswith(".part") for name in os.listdir()), flush=True)
    {}
"""
    waits = ["time.sleep(60)", "os.read(os.pipe()[0], 1)", "while True: pass"]
    for number, wait in zip(CODES, waits, strict=True):
        running = subprocess.Popen([sys.executable, "-c", code.replace("{}", wait)], cwd=tmp_path,
                                   env=environment(), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, preexec_fn=be_heard)  # fmt: skip
        assert running.stdout.readline() == b"[True]\n"
        running.send_signal(number)
        assert running.communicate(timeout=60) == (b"", b"")
        assert running.returncode == CODES[number]
        assert names(tmp_path) == []


def ignore_hangups():
    be_heard()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def test_what_the_parent_ignores_stays_ignored(tmp_path):
    running = start("info", folder=tmp_path, prepare=ignore_hangups)
    assert running.stdout.read(5) == b"begun"
    for _ in range(3):
        running.send_signal(signal.SIGHUP)
        time.sleep(0.01)
    _, told = running.communicate(timeout=60)
    assert (running.returncode, told) == (0, b"")


def test_signals_from_the_start_of_the_process(tmp_path):
    """Before the command has begun, the interpreter dies of the signal, as a shell tells alike."""
    draw = random.Random(None if LONG else 1)
    for _ in range(200 if LONG else 4):
        number = draw.choice(list(CODES))
        running = subprocess.Popen(
            [sys.executable, "-m", "plausible.cli", "info"], cwd=tmp_path, env=environment(),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=be_heard,
        )  # fmt: skip
        time.sleep(draw.uniform(0.0, 0.4))
        running.send_signal(number)
        running.communicate(timeout=60)
        assert running.returncode in {CODES[number], -number, 0}


def test_a_program_that_imports_the_command_keeps_its_signals():
    assert not signals.is_command()
    assert signals.state.armed == []
    for number in CODES:
        assert signal.getsignal(number) is not signals._handle


def test_the_demo_ends_what_it_has_started(tmp_path):
    running = start("demo", "here", folder=tmp_path)
    wait_until(lambda: children(running.pid), "a command of the demo")
    child = children(running.pid)[0]
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=60)
    assert running.returncode == 143
    assert not os.path.exists(f"/proc/{child}")
    assert parts(tmp_path / "here") == []


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return file.read().split()
    except FileNotFoundError:
        return []


@pytest.mark.parametrize("was_there", [True, False])
@pytest.mark.parametrize("is_written", [True, False])
def test_whether_the_output_was_written_is_told(
    tmp_path, capsys, monkeypatch, is_written, was_there
):
    def interrupted(given, talk):
        if is_written:
            pooled(given, talk)
        raise KeyboardInterrupt

    pooled = pool.run
    monkeypatch.setattr(pool, "run", interrupted)
    monkeypatch.setattr(signals, "state", signals.State())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.csv").write_text("item,annotator,label\nx,ann,cat\nx,bob,dog\n")
    if was_there:
        (tmp_path / "labels.csv").write_text("of another day")
    assert main(["pool", "answers.csv", "-o", "labels.csv", "--quiet"]) == 130
    told = "but the output was written" if is_written else "nothing was written"
    assert told in capsys.readouterr().err
