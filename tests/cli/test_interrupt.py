"""Ctrl-C in the midst of a fit, and the bar that shows how far it is."""

import fcntl
import json
import os
import pty
import re
import sys
import termios
import threading

import numpy as np
import pytest

from plausible.io import load, read_features, write_table
from support.command import wait_until

ENDLESS = ["--set", "tol=0", "--set", "max_iter=1000000000"]


class Terminal:
    """A terminal of 80 columns, and all that was written to it."""

    def __init__(self):
        self.handle, self.slave = pty.openpty()
        self.name = os.ttyname(self.slave)
        self.seen = b""
        self.reader = threading.Thread(target=self.listen, daemon=True)
        self.reader.start()

    def listen(self):
        while True:
            try:
                self.seen += os.read(self.handle, 65536)
            except OSError:
                return

    @property
    def text(self):
        """What was written, without colors and movements."""
        plain = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", self.seen)
        return plain.decode(errors="replace")

    def iterations(self):
        return [int(number) for number in re.findall(r"iteration (\d+)", self.text)]

    def close(self):
        os.close(self.slave)
        os.close(self.handle)


@pytest.fixture
def terminal():
    terminal = Terminal()
    yield terminal
    terminal.close()


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Files whose fits take many iterations: overlapping classes, few labels."""
    folder = tmp_path_factory.mktemp("large")
    random = np.random.default_rng(0)
    y = np.arange(40000) % 2
    X = random.normal(size=(40000, 6)) + 0.2 * y[:, None]
    columns = {f"x{j}": X[:, j] for j in range(6)}
    write_table({"item": np.arange(40000), **columns}, folder / "features.parquet")
    rows = np.arange(40)
    answers = {"item": np.tile(rows, 2), "annotator": np.repeat(["ann", "bob"], 40)}
    said = np.where(random.random(80) < 0.2, 1 - np.tile(y[rows], 2), np.tile(y[rows], 2))
    write_table(answers | {"label": said}, folder / "answers.csv")
    kinds = np.arange(60000) % 5
    X = random.normal(size=(60000, 10))
    X[:, :2] += 0.5 * np.stack([kinds, kinds**2], axis=1)
    write_table({"label": kinds, "doubt": np.full(60000, 0.6)}, folder / "doubtful.parquet")
    write_table({f"x{j}": X[:, j] for j in range(10)}, folder / "wide.parquet")
    rows, people = np.tile(np.arange(1500), 3), np.repeat(["ann", "bob", "cy"], 1500)
    said = np.where(random.random(4500) < 0.8, random.integers(2, size=4500), y[rows])
    write_table({"item": rows, "annotator": people, "label": said}, folder / "crowd.parquet")
    return folder


@pytest.fixture
def begin(server, large, tmp_path, terminal):
    """Start a fit whose messages go to a terminal."""

    def start(*words, stdout="/dev/null", files=("answers.csv", "features.parquet")):
        out = tmp_path / "out.skops"
        files = [large / name for name in files]
        return server.start("fit", *files, "-o", out, *words, folder=tmp_path, stdout=stdout,
                            stderr=terminal.name)  # fmt: skip

    return start


@pytest.fixture
def plausible_in(server, large, tmp_path):
    def run(*words, files=("answers.csv", "features.parquet")):
        files = [large / name for name in files]
        return server.run("fit", *files, "-o", "out.skops", *words, folder=tmp_path)

    return run


MIXTURE = ["--model", "mixture", "--set", "covariance_type=diag", *ENDLESS]
SLOW = ["--set", "accelerate=false"]
LOGISTIC = ["--model", "logistic", "--set", "solver=lbfgs", "--set", "n_init=1",
            "--set", "alpha=0.001", *ENDLESS]  # fmt: skip


def interrupted_after(begin, terminal, count, words, **streams):
    running = begin(*words, **streams)
    wait_until(lambda: max(terminal.iterations(), default=0) >= count, "iterations")
    running.interrupt()
    return running.wait()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_an_interrupted_mixture_goes_on(begin, terminal, tmp_path, large, plausible_in):
    words = [*MIXTURE, *SLOW]
    found = tmp_path / "found.json"
    found.touch()
    code = interrupted_after(begin, terminal, 3, [*words, "--json"], stdout=found)
    assert code == 130
    told = terminal.text
    assert "best parameters so far" in told
    assert "--resume" in told
    assert "Traceback" not in told
    assert names(tmp_path) == ["found.json", "out.skops", "out.skops.checkpoint"]
    assert '"interrupted": true' in found.read_text()
    first = load(tmp_path / "out.skops")
    X = read_features(large / "features.parquet", "item").X
    assert np.isfinite(first.predict_proba(X)).all()
    rest = [word if not word.startswith("max_iter") else f"max_iter={first.n_iter_ + 5}"
            for word in words]  # fmt: skip
    done = plausible_in(*rest, "--resume", "--json")
    assert done.code == 0
    assert names(tmp_path) == ["found.json", "out.skops"]
    second = load(tmp_path / "out.skops")
    assert second.n_iter_ == first.n_iter_ + 5
    assert done.json["n_iter"] == second.n_iter_
    assert np.array_equal(second.history_[: len(first.history_)], first.history_)
    assert second.log_likelihood_ >= first.log_likelihood_


def test_resuming_needs_the_same_problem(begin, terminal, tmp_path, plausible_in):
    assert interrupted_after(begin, terminal, 2, [*MIXTURE, *SLOW]) == 130
    before = (tmp_path / "out.skops").read_bytes()
    other = plausible_in("--model", "mixture", "--set", "covariance_type=full", "--resume")
    assert other.code == 1
    assert "checkpoint" in other.lines[-1]
    assert (tmp_path / "out.skops").read_bytes() == before
    assert "out.skops.checkpoint" in names(tmp_path)
    again = plausible_in("--model", "mixture", "--set", "covariance_type=diag", "--set", "tol=1e-3")
    assert again.code == 0
    assert any("old checkpoint" in line for line in again.lines)
    assert names(tmp_path) == ["out.skops"]


def test_an_interrupted_logistic_regression_goes_on(begin, terminal, tmp_path, large, plausible_in):
    files = "doubtful.parquet", "wide.parquet"
    assert interrupted_after(begin, terminal, 3, LOGISTIC, files=files) == 130
    assert "--resume" in terminal.text
    assert names(tmp_path) == ["out.skops"]
    first = load(tmp_path / "out.skops")
    X = read_features(large / "wide.parquet").X
    assert np.isfinite(first.predict_proba(X)).all()
    rest = [word if not word.startswith("max_iter") else "max_iter=5" for word in LOGISTIC]
    done = plausible_in(*rest, "--resume", files=files)
    assert done.code == 0, done
    second = load(tmp_path / "out.skops")
    # It begins where the first was stopped, not at the start.
    assert second[-1].history_[0] == pytest.approx(first[-1].objective_, rel=1e-9)
    assert second[-1].objective_ > first[-1].objective_
    assert second[-1].n_iter_ == 5
    assert second[-1].warm_start is False


def test_an_interrupted_joint_fit_keeps_the_best(begin, terminal, tmp_path, large):
    words = ["--model", "joint", "--set", "tol=0", "--set", "max_iter=1000000000"]
    files = "crowd.parquet", "features.parquet"
    assert interrupted_after(begin, terminal, 2, words, files=files) == 130
    assert names(tmp_path) == ["out.skops"]
    assert "--resume" not in terminal.text
    model = load(tmp_path / "out.skops")
    assert model[-1].n_iter_ >= 2
    assert len(model[-1].history_) == model[-1].n_iter_
    assert np.isfinite(
        model.predict_proba(read_features(large / "features.parquet", "item").X)
    ).all()


@pytest.mark.parametrize("words", [
    "pool - -o out.csv", "fit - features.csv -o out.skops --model mixture",
    "predict model.skops - -o out.csv", "evaluate model.skops - features.csv",
    "report - -o out.html", "info -",
])  # fmt: skip
def test_nothing_is_left_before_there_is_anything(server, folder, tmp_path_factory, words):
    streams = tmp_path_factory.mktemp("streams")
    os.mkfifo(streams / "in")
    writer = os.open(streams / "in", os.O_RDWR)
    (streams / "out").touch()
    (streams / "err").touch()
    before = names(folder)
    running = server.start(*words.split(), "--json", folder=folder, stdin=streams / "in",
                           stdout=streams / "out", stderr=streams / "err")  # fmt: skip
    os.write(writer, b"item,label")
    wait_until(lambda: unread(writer) == 0, "a reader")
    running.interrupt()
    assert running.wait() == 130
    os.close(writer)
    told = (streams / "err").read_text().splitlines()
    assert told[-1] == f"plausible {words.split()[0]}: Interrupted; nothing was written."
    assert json.loads((streams / "out").read_text()) == {"error": told[-1].partition(": ")[2]}
    assert names(folder) == before


def unread(handle):
    """How many bytes nobody has read yet."""
    return int.from_bytes(fcntl.ioctl(handle, termios.FIONREAD, b"    "), sys.byteorder)


def test_the_bar_shows_iteration_criterion_and_time(begin, terminal):
    running = begin(*MIXTURE, *SLOW)
    wait_until(lambda: "left" in terminal.text, "the time that is left")
    wait_until(lambda: len(set(terminal.iterations())) > 1, "a bar that moves")
    running.interrupt()
    assert running.wait() == 130
    shown = [line for line in re.split(r"[\r\n]", terminal.text) if "iteration" in line]
    bars = [
        line
        for line in shown
        if re.search(r"Fitting mixture .*iteration \d+, criterion -?\d", line)
    ]
    assert bars
    assert max(map(len, bars)) <= 80 - len("^C")  # which the terminal may add
    assert any(re.search(r" \d+ (s|min|h) left", line) for line in bars)


def test_no_bar_where_nobody_looks(begin, terminal, plausible_in):
    words = "--model", "mixture", "--set", "tol=0.01"
    assert begin(*words, "--quiet").wait() == 0
    assert terminal.seen == b""
    done = plausible_in(*words)
    assert done.code == 0
    assert re.search(r"[^\n -~]", done.stderr) is None
    assert "iteration " not in done.stderr
