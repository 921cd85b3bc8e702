"""Errors carry what they know, and say it in one sentence."""

import pickle

import numpy as np
import pytest

from plausible.errors import InputError

ERROR = InputError(
    "Counts should be whole numbers",
    "0.5 was found in 2 rows (rows 1, 3)",
    "say {kind} for shares",
    parameter="table",
    value=0.5,
    rows=np.array([False, True, False, True]),
    settings={"kind": "probability"},
)


def test_the_sentence_has_its_parts():
    assert str(ERROR) == (
        "Counts should be whole numbers, but 0.5 was found in 2 rows (rows 1, 3); "
        "say kind='probability' for shares."
    )
    assert (ERROR.parameter, ERROR.value) == ("table", 0.5)
    assert ERROR.rows.tolist() == [1, 3]
    assert isinstance(ERROR, ValueError)


def test_settings_can_be_said_in_other_words():
    told = ERROR.in_words(lambda name, value: f"--{name} {value}")
    assert told.endswith("; say --kind probability for shares.")
    bare = InputError("An id is needed", remedy="name one with {id}", settings={"id": None})
    assert str(bare) == "An id is needed; name one with id=."


def test_parts_may_be_missing_and_questions_stay_questions():
    assert str(InputError("y should not be None")) == "y should not be None."
    assert str(InputError("a", "b", "did you mean 'c'?")) == "a, but b; did you mean 'c'?"


def test_braces_of_values_are_left_alone():
    error = InputError("Sets should hold classes", "row 1 is {'a': 1}", "write {'a'}")
    assert str(error).endswith("but row 1 is {'a': 1}; write {'a'}.")


def test_rows_of_several_axes_keep_their_places():
    error = InputError("a", "b", rows=np.array([[False, True], [True, False]]))
    assert error.rows.tolist() == [[0, 1], [1, 0]]
    assert InputError("a", rows=np.array([4, 2])).rows.tolist() == [4, 2]


def test_errors_survive_pickling():
    again = pickle.loads(pickle.dumps(ERROR))
    assert str(again) == str(ERROR)
    assert again.rows.tolist() == [1, 3]
    assert again.settings == {"kind": "probability"}


def test_a_subclass_keeps_its_own_type_when_pickled():
    class SpecialError(InputError):
        pass

    globals()["SpecialError"] = SpecialError
    SpecialError.__qualname__ = "SpecialError"
    assert type(pickle.loads(pickle.dumps(SpecialError("a", "b", "c")))) is SpecialError


@pytest.mark.parametrize("remedy", ["", "do this"])
def test_one_full_stop(remedy):
    assert str(InputError("a", "b", remedy)).count(".") == 1
