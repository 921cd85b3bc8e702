"""Whatever is given to a public call: a result, or an error in words of ours.

A few hundred calls by default, always the same; 12,000 with HYPOTHESIS_PROFILE=long, others at each
run. A failure names the call and what was replaced, for `attempt`.
"""

import os
import secrets

import numpy as np
import pytest
from sklearn.utils import check_array

from fuzz.calls import RECORDS, ROOMS, every_call, write_files
from fuzz.fuzzing import attempt, findings, quiet
from fuzz.hostile import TWISTS, VALUES
from fuzz.judging import complaint, raised_at
from plausible.checks import as_list, check_number
from plausible.datasets import MissingDataError
from plausible.engine import ArrayRows

IS_LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"


@pytest.fixture(scope="module")
def calls():
    with quiet():
        return every_call()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with quiet():
        write_files()
    return tmp_path


def test_nothing_raw_leaves_a_public_call(folder, calls):
    seed, count = (secrets.randbits(32), 12_000) if IS_LONG else (0, 600)
    chosen = [call for call in calls if IS_LONG or not call.slow]
    found = list(findings(chosen, seed, count))
    told = "\n".join(map(str, found[:20]))
    assert not found, f"{len(found)} of {count} calls with seed {seed}:\n{told}"


LET_OUT = [
    ("io.read_training", ("id", "dict")),
    ("io.read_training", ("id", "with None")),
    ("io.read_new", ("id", "with an object")),
    ("io.read_annotations", ("names", "infinities")),
    ("io.stream_predictions", ("piece_rows", "lambda of anything")),
    ("experts.Annotations.from_answers", ("answers", "with a huge int")),
    ("neighbors.EvidentialNeighborsClassifier.fit", ("p", "masked")),
    ("neighbors.EvidentialNeighborsClassifier.fit", ("p", "frame of number names")),
    ("neighbors.ContextualNeighborsClassifier.fit", ("metric", "no columns")),
    ("neighbors.ContextualNeighborsClassifier.fit", ("metric", "zeros")),
    ("engine.StreamRows of chunks, learned", ("*1", "with a set")),
    ("engine.StreamRows of chunks, learned", ("*1", "as nullable")),
    ("engine.StreamRows of chunks, learned", ("*1", "sparse")),
    ("models.GeneralizedBayesClassifier.fit", ("unseen", "nullable frame")),
    ("models.believe", ("model", "class of ours")),
]


@pytest.mark.parametrize(("name", "replaced"), LET_OUT)
def test_what_long_runs_found(folder, calls, name, replaced):
    (call,) = [call for call in calls if call.name == name]
    assert replaced[1] in TWISTS | VALUES
    assert attempt(call, (replaced,)) is None


def test_the_calls_are_valid(folder, calls):
    with quiet():
        for call in calls:
            if call.name.endswith("unfitted") or call.name.startswith("datasets.load"):
                with pytest.raises((ValueError, MissingDataError)):
                    call()
            else:
                call()


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_called(room, calls):
    public = {
        name
        for name in ROOMS[room].__all__
        if callable(made := getattr(ROOMS[room], name))
        and not (isinstance(made, type) and issubclass(made, BaseException))
    }
    called = {call.name.split(".")[1].split(",")[0].split(" ")[0] for call in calls
              if call.name.startswith(f"{room}.")}  # fmt: skip
    assert public - RECORDS.get(room, set()) == called - RECORDS.get(room, set())


def caught(function, *given, **named):
    with pytest.raises(Exception) as error:  # noqa: PT011
        function(*given, **named)
    return error.value


def test_what_is_complained_about():
    assert complaint(caught(check_number, "text", "value")) is None
    assert complaint(caught(as_list, "text", "values")) is None
    assert complaint(caught(open, "missing.csv")) is None
    assert complaint(caught(lambda: check_number(nothing=1))) is None
    assert complaint(caught(np.asarray([1.0]).reshape, 3)) == "raw ValueError"
    assert complaint(caught({}.__getitem__, 1)) == "KeyError is no error of ours"
    assert complaint(caught(check_array, [["text"]], dtype=float)).startswith("raw")
    assert complaint(caught(check_array, [1.0])) is None


def test_what_the_callers_own_code_raises_may_pass():
    def summary(columns):
        return {}["missing"]

    assert complaint(caught(ArrayRows(np.ones(3)).reduce, summary)) is None


def test_an_error_while_a_message_is_written_is_no_message():
    def say(value):
        raise ValueError(f"a number should be given, but {value:.3g} came; correct it")

    assert raised_at(caught(say, 0.5))[1] == "RAISE_VARARGS"
    assert raised_at(caught(say, "text"))[1] != "RAISE_VARARGS"
