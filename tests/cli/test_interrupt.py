"""Ctrl-C in the midst of a fit, and the bar that shows how far it is."""

import os
import pty
import re
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
        """What was written, without colours and movements."""
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
    y = np.arange(4000) % 2
    X = random.normal(size=(4000, 3)) + 0.7 * y[:, None]
    columns = {f"x{j}": X[:, j] for j in range(3)}
    write_table({"item": np.arange(4000), **columns}, folder / "features.parquet")
    rows = np.arange(40)
    answers = {"item": np.tile(rows, 2), "annotator": np.repeat(["ann", "bob"], 40)}
    said = np.where(random.random(80) < 0.2, 1 - np.tile(y[rows], 2), np.tile(y[rows], 2))
    write_table(answers | {"label": said}, folder / "answers.csv")
    return folder


@pytest.fixture
def begin(server, large, tmp_path, terminal):
    """Start a fit whose messages go to a terminal."""

    def start(*words, stdout="/dev/null"):
        out = tmp_path / "out.skops"
        files = large / "answers.csv", large / "features.parquet"
        return server.start("fit", *files, "-o", out, *words, folder=tmp_path, stdout=stdout,
                            stderr=terminal.name)  # fmt: skip

    return start


MIXTURE = ["--model", "mixture", "--set", "covariance=diag", *ENDLESS]
SLOW = ["--set", "accelerate=false"]
LOGISTIC = ["--model", "logistic", "--set", "criterion=maximum_entropy", *ENDLESS]


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


@pytest.fixture
def plausible_in(server, large, tmp_path):
    def run(*words):
        files = large / "answers.csv", large / "features.parquet"
        return server.run("fit", *files, "-o", "out.skops", *words, folder=tmp_path)

    return run


def test_resuming_needs_the_same_problem(begin, terminal, tmp_path, plausible_in):
    assert interrupted_after(begin, terminal, 2, [*MIXTURE, *SLOW]) == 130
    before = (tmp_path / "out.skops").read_bytes()
    other = plausible_in("--model", "mixture", "--set", "covariance=full", "--resume")
    assert other.code == 1
    assert "checkpoint" in other.lines[-1]
    assert (tmp_path / "out.skops").read_bytes() == before
    assert "out.skops.checkpoint" in names(tmp_path)
    anew = plausible_in("--model", "mixture", "--set", "covariance=diag", "--set", "tol=1e-3")
    assert anew.code == 0
    assert any("old checkpoint" in line for line in anew.lines)
    assert names(tmp_path) == ["out.skops"]
