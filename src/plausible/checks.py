"""Errors of the library, and the words that error messages share.

A message is one sentence in three parts: what was expected, what came (with row numbers, counted
from 0), and what to do.
"""

import math
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


class TotalConflictError(ValueError):
    """Sources contradict each other completely, so that no normalised answer exists.

    Attributes
    ----------
    rows : int array (number of rows, number of leading axes)
        All rows in total conflict, as `numpy.argwhere` gives them.

    Examples
    --------
    >>> from plausible.belief import TotalConflictError, dempster
    >>> try:
    ...     dempster([[0.0, 1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0, 0.0]])
    ... except TotalConflictError as error:
    ...     print(error.rows)
    [[0]]
    """

    def __init__(self, message: str, rows: NDArray[np.int64]) -> None:
        super().__init__(message)
        self.rows = rows

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.rows)


def name_rows(bad: NDArray[np.bool_] | np.bool_, most: int = 5) -> str:
    """Count and name the rows where `bad` is true: ``"3 rows (rows 4, 9, 17)"``.

    Parameters
    ----------
    bad : bool array, one entry per row; any shape
    most : int
        How many rows are named before the list is cut.

    Examples
    --------
    >>> name_rows(np.array([False, True, False, True]))
    '2 rows (rows 1, 3)'
    >>> name_rows(np.ones(12, dtype=bool))
    '12 rows (rows 0, 1, 2, 3, 4, ...)'
    """
    where = np.argwhere(bad)
    count = len(where)
    if np.ndim(bad) == 0:
        return "the only row"
    named = ", ".join(_name_one(row.tolist()) for row in where[:most])
    if count > most:
        named += ", ..."
    return f"1 row (row {named})" if count == 1 else f"{count} rows (rows {named})"


def found(
    values: NDArray[Any], bad: NDArray[np.bool_] | np.bool_, rows: NDArray[np.bool_] | np.bool_
) -> str:
    """Name the first bad value and the bad rows: ``"values such as nan were found in ..."``."""
    example = np.asarray(values)[np.asarray(bad)].flat[0]
    return f"values such as {example:.6g} were found in {name_rows(rows)}"


def name_options(options: Sequence[str]) -> str:
    """Write options as ``"'a', 'b' or 'c'"``."""
    quoted = [repr(option) for option in options]
    if not quoted:
        return ""
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def check_option(value: str, options: Sequence[str], name: str) -> None:
    """Refuse a value that is not among the options."""
    if value not in options:
        raise ValueError(
            f"{name} should be {name_options(options)}, but {value!r} was given"
            f"{guess(value, options) or '.'}"
        )


def guess(value: object, options: Sequence[object]) -> str:
    """Ask whether a misspelt option was meant: ``"; did you mean 'cat'?"``, or nothing."""
    close = get_close_matches(str(value).lower(), [str(option) for option in options], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def check_number(value: float, name: str, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a finite number that lies in [low, high], refusing all else."""
    is_number = isinstance(value, (int, float, np.number)) and math.isfinite(value)
    if not is_number or not low <= value <= high:
        limits = f" in [{low:g}, {high:g}]"
        if math.isinf(high):
            limits = "" if math.isinf(low) else f" of at least {low:g}"
        raise ValueError(f"{name} should be a finite number{limits}, but {value!r} was given.")
    return float(value)


def check_whole(value: int, name: str, low: int) -> int:
    """Return a whole number that is not below `low`, refusing all else."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < low:
        raise ValueError(
            f"{name} should be a whole number of at least {low}, but {value!r} was given."
        )
    return int(value)


def as_floats(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return values as a float array, refusing what is not an array of numbers."""
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "biufO":
            raise TypeError(f"they came as {given.dtype}")
        return given.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        reason = str(error).rstrip(".")
        raise ValueError(
            f"{name} should be an array of numbers with rows of equal length, but could not be "
            f"read as one ({reason}); check for text, missing entries and unequal rows."
        ) from None


def _name_one(row: list[int]) -> str:
    return str(row[0]) if len(row) == 1 else str(tuple(row))
