"""Whatever files and words come, a command ends with its output or with one message of our own.

Commands are drawn by seed and number: some hundred always the same ones, and 10,000 new ones with
HYPOTHESIS_PROFILE=long. What is good is said in `support.outcomes`.
"""

import os
import random

import pytest

from support.fuzz_folder import make_folder
from support.odd_commands import Command, draw_command
from support.outcomes import try_command

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
SEED = random.SystemRandom().randrange(10**6) if IS_LONG else 0
N_COMMANDS = 10_000 if IS_LONG else 200
N_PARTS = 10
MOST_TOLD = 5


@pytest.fixture(scope="module")
def odd_folder(tmp_path_factory):
    """A folder with good files, in which odd ones come and go, and the good ones by name."""
    folder = tmp_path_factory.mktemp("odd commands")
    return folder, make_folder(folder)


@pytest.mark.parametrize("part", range(N_PARTS))
def test_odd_commands(odd_folder, part):
    folder, small_files = odd_folder
    bad = []
    for number in range(part, N_COMMANDS, N_PARTS):
        command = draw_command(SEED, number, small_files)
        outcome, faults = try_command(command, folder, small_files)
        if faults:
            told = outcome.stderr.decode()[-500:]
            bad.append(f"seed {SEED}, number {number}: {faults}\n{command.words}\n{told}")
    assert not bad, f"{len(bad)} commands\n" + "\n\n".join(bad[:MOST_TOLD])


def test_good_commands_are_good(odd_folder):
    """The judge finds nothing in what should work, and an output each time."""
    folder, small_files = odd_folder
    for words in (
        "check answers.csv features.csv --json",
        "pool answers.csv -o out.csv --json",
        "fit answers.csv features.parquet -o out.skops --model centroid",
        "predict discriminant.skops new.csv -o out.parquet",
        "evaluate mixture.skops truth.csv features.csv --json",
        "report answers.csv features.csv --model logistic.skops -o out.html",
        "info model.skops",
    ):
        outcome, faults = try_command(Command(words.split(), {}), folder, small_files)
        assert (outcome.code, faults) == (0, []), outcome.stderr


FAULTY = [
    (ValueError("x should be 1, but is 2; correct it."), "not on purpose"),
    (KeyError("content"), "raw"),
    (AttributeError("'Decimal' object has no attribute 'item'"), "raw"),
]


@pytest.mark.parametrize(("error", "kind"), FAULTY)
def test_the_judge_notices_errors_that_are_not_ours(odd_folder, monkeypatch, error, kind):
    folder, small_files = odd_folder

    def fail(*_, **__):
        raise error

    monkeypatch.setattr("plausible.io.read_known", fail)
    command = Command(["pool", "answers.csv", "-o", "out.csv"], {})
    _, faults = try_command(command, folder, small_files)
    assert any(fault.startswith(kind) for fault in faults), faults


def test_the_judge_notices_escapes_and_files_that_are_left(odd_folder, monkeypatch):
    folder, small_files = odd_folder
    monkeypatch.setattr("plausible.cli.talk.visible", lambda text, keep="": text)

    def leave(labels, path, **_):
        (folder / ".out.csv.part").write_bytes(b"half")

    monkeypatch.setattr("plausible.io.write_labels", leave)
    command = Command(["pool", "\x1b[31m.csv", "-o", "out.csv"],
                      {"\x1b[31m.csv": "item,label\n\x1b[31m,a\x9b\nt,b\n".encode()})  # fmt: skip
    _, faults = try_command(command, folder, small_files)
    assert any("other files changed: ['.out.csv.part']" in fault for fault in faults)
    assert "no output" in faults
    assert any(fault.startswith("control characters ['0x9b'") for fault in faults), faults
