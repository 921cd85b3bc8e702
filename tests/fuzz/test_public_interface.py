"""Whatever is given to a public call: a result, or an error in words of ours.

A few hundred calls by default, always the same; 12,000 with HYPOTHESIS_PROFILE=long, others at each
run. A failure names the call and what was replaced, for `attempt`.
"""

import os
import secrets
import warnings

import numpy as np
import pytest

from fuzz.calls import RECORDS, ROOMS, every_call, write_files
from fuzz.fuzzing import findings
from fuzz.judging import complaint
from plausible.checks import check_number
from plausible.datasets import MissingDataError

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
CALLS = every_call()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files()
    return tmp_path


def test_nothing_raw_leaves_a_public_call(folder):
    seed, count = (secrets.randbits(32), 12_000) if IS_LONG else (0, 800)
    calls = [call for call in CALLS if IS_LONG or not call.slow]
    found = list(findings(calls, seed, count))
    told = "\n".join(map(str, found[:20]))
    assert not found, f"{len(found)} of {count} calls with seed {seed}:\n{told}"


def test_the_calls_are_valid(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for call in CALLS:
            if call.name.endswith("unfitted") or call.name.startswith("datasets.load"):
                with pytest.raises((ValueError, MissingDataError)):
                    call()
            else:
                call()


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_called(room):
    public = {
        name
        for name in ROOMS[room].__all__
        if callable(made := getattr(ROOMS[room], name))
        and not (isinstance(made, type) and issubclass(made, BaseException))
    }
    called = {call.name.split(".")[1].split(",")[0].split(" ")[0] for call in CALLS
              if call.name.startswith(f"{room}.")}  # fmt: skip
    assert public - RECORDS.get(room, set()) == called - RECORDS.get(room, set())


def _caught(function, *given):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        function(*given)
    return complaint(caught.value)


def test_what_is_complained_about():
    def formatting(value):
        raise ValueError(f"a number should be given, but {value:.3g} came; correct it")

    assert _caught(check_number, "text", "value") is None
    assert _caught(np.asarray([1.0]).reshape, 3) == "raw ValueError"
    assert _caught({}.__getitem__, 1) == "KeyError is no error of ours"
    assert _caught(lambda: len(3)) is None  # code of the caller
    assert formatting is not None
