"""Checks that every room shares: what passes, and in which words the rest is refused."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from plausible.checks import (
    as_array,
    as_floats,
    as_list,
    check_callable,
    check_flag,
    check_kind,
    check_number,
    check_option,
    check_path,
    check_texts,
    check_whole,
    random_from,
    row_numbers,
    shown,
)

HOSTILE = [
    None, "", "text", b"bytes", {1}, {"a": 1}, [], [[1], 2], object(), 1j, np.datetime64("2020"),
    np.timedelta64(3, "D"), Decimal("nan"), Fraction(1, 2), np.zeros((9, 9)), pd.NA, pd.NaT,
    pd.DataFrame({"a": ["x"]}), pd.Series([1, None], dtype="Int64"), lambda: 1, int, 10**400,
    float("nan"), -float("inf"),
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: type(value).__name__)
def test_only_numbers_and_options_pass(value):
    with pytest.raises(ValueError, match="rate should be a finite number in .*was given"):
        check_number(value, "rate", 0.0, 1.0)
    with pytest.raises(ValueError, match="n should be a whole number of at least 1, but .*given"):
        check_whole(value, "n", 1)
    with pytest.raises(ValueError, match="rule should be 'yager' or 'mean', but .* was given"):
        check_option(value, ["yager", "mean"], "rule")
    assert len(shown(value)) < 100


def test_numbers_of_any_make_pass():
    for value in (1, 0.5, np.float32(0.5), np.int8(1), np.uint64(1), True):
        assert check_number(value, "rate", 0.0, 1.0) == float(value)
    assert check_whole(np.int8(3), "n", 1) == 3
    assert check_flag(np.bool_(True), "flag") is True
    assert as_floats([Decimal("0.5"), Fraction(1, 2)], "numbers").tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="from 1 to 5, but 6"):
        check_whole(6, "n", 1, 5)
    with pytest.raises(ValueError, match="True or False"):
        check_flag(np.ones(2), "flag")


def test_paths():
    assert check_path("a.csv") == check_path(Path("a.csv")) == Path("a.csv")
    for path in ("", "a\0b", "\ud800", b"a", 1, None, {"a"}, ["a"], pd.DataFrame()):
        with pytest.raises(ValueError, match="should be the path of a file, .*; write it as text"):
            check_path(path)


def test_seeds():
    state = np.random.RandomState(0)
    assert random_from(state) is state
    assert random_from(7).uniform() == np.random.RandomState(7).uniform()
    for seed in (-1, 2**32, 10**30):
        with pytest.raises(ValueError, match="random_state should be a whole number from 0 to"):
            random_from(seed)
    with pytest.raises(ValueError, match="cannot be used to seed"):
        random_from(np.timedelta64(3, "D"))


def test_row_numbers_choose_what_numpy_chooses():
    rows = np.arange(5) * 10
    for chosen in (slice(1, 3), [0, -1], np.array([True, False, True, False, False]), [], 2):
        expected = rows[chosen] if not isinstance(chosen, list) or chosen else rows[:0]
        np.testing.assert_array_equal(rows[row_numbers(chosen, 5, "rows")], expected)
    for chosen in ([5], [-6], [0.5], "a", [[0]], [True], {0}, None, [[1], 2]):
        with pytest.raises(ValueError, match="rows should be"):
            row_numbers(chosen, 5, "rows")


def test_lists_and_kinds():
    assert as_list(iter("ab"), "values") == ["a", "b"]
    assert check_texts("a", "columns") == check_texts(("a",), "columns") == ["a"]
    for values in ("ab", b"ab", 3, np.array(3), int):
        with pytest.raises(ValueError, match="values should be a list of names, but"):
            as_list(values, "values", "names")
    with pytest.raises(ValueError, match="columns should be .* but it holds 3; give text"):
        check_texts(["a", 3], "columns")
    with pytest.raises(ValueError, match=r"rows of equal length, but \[\[1\], 2\] could not"):
        as_array([[1], 2], "values")
    with pytest.raises(ValueError, match="callback should be a function of the progress"):
        check_callable(3, "callback", "the progress")
    with pytest.raises(TypeError, match="y should be list or tuple, but 3 was given; make one"):
        check_kind(3, (list, tuple), "y", "make one")
