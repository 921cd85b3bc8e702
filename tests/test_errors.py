"""Errors carry what they know, and say it in one sentence."""

import pickle

import numpy as np
import pytest

from plausible.errors import InputError, in_context

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


CHOICE = InputError(
    "Columns should say what they hold",
    "they are {'a': 1}",
    ("rename {'a'}", "say {kind}", "name them with {columns}"),
    settings={"kind": None, "columns": ["a", "b"]},
)


def test_of_several_remedies_only_those_are_said_that_the_caller_can_take():
    assert CHOICE.remedy == "rename {'a'}, say kind=, or name them with columns=['a', 'b']"
    assert str(CHOICE).endswith(f"; {CHOICE.remedy}.")
    told = CHOICE.in_words(lambda name, value: f"--{name}" if name == "kind" else None)
    assert told.endswith("{'a': 1}; rename {'a'}, or say --kind.")
    nothing = InputError("a", "b", "say {kind}", settings={"kind": None})
    assert nothing.in_words(lambda name, value: None) == "a, but b."


def test_an_error_in_a_context_keeps_what_it_knows():
    class OtherError(InputError):
        pass

    told = ERROR.prefixed("answers.csv: ", OtherError)
    assert type(told) is OtherError
    assert str(told) == f"answers.csv: {ERROR}"
    assert told.rows.tolist() == [1, 3]
    assert told.in_words(lambda name, value: f"--{name}").startswith("answers.csv: Counts")
    assert str(in_context(KeyError("x"), "In a file: ", OtherError)) == "In a file: 'x'."
    assert str(in_context(ERROR, "In a file: ", OtherError)) == f"In a file: {ERROR}"


def test_settings_of_another_function_are_taken_away():
    error = pickle.loads(pickle.dumps(CHOICE)).without("columns")
    assert str(error).endswith("; rename {'a'}, or say kind=.")
    assert error.settings == {"kind": None}
