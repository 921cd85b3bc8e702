"""Errors of the library, and the words that error messages share.

A message is one sentence in three parts: what was expected, what came (with row numbers, counted
from 0), and what to do.
"""

import math
import os
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.errors import InputError

MAX_SEED = (1 << 32) - 1
MOST = (1 << 63) - 1  # the largest whole number of numpy


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
    return f"values such as {example(values, bad):.6g} were found in {name_rows(rows)}"


def example(values: NDArray[Any], bad: NDArray[np.bool_] | np.bool_) -> Any:
    """The first bad value."""
    return np.asarray(values)[np.asarray(bad)].flat[0]


def counted(count: int, thing: str, things: str = "") -> str:
    """A number of things, one or several.

    Examples
    --------
    >>> counted(1, "row"), counted(3, "row"), counted(2, "class", "classes")
    ('1 row', '3 rows', '2 classes')
    """
    return f"{count} {thing}" if count == 1 else f"{count} {things or thing + 's'}"


def name_options(options: Sequence[str]) -> str:
    """Write options as ``"'a', 'b' or 'c'"``."""
    quoted = [repr(option) for option in options]
    if not quoted:
        return ""
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def shown(value: Any, most: int = 80) -> str:
    """A value in few words for a message: as it is written, or its kind where that is long.

    Examples
    --------
    >>> shown(0.5), shown("a")
    ('0.5', "'a'")
    >>> shown(np.zeros((50, 2)))
    'an array (50, 2) of float64'
    >>> shown(list(range(1000)))
    'a list of 1000'
    """
    if isinstance(value, np.ndarray) and (value.ndim != 1 or value.size > 5):
        return f"an array {value.shape} of {value.dtype}"
    try:
        text = repr(value)
        if len(text) <= most and "\n" not in text:
            return text
        if isinstance(value, str | bytes):
            return f"{text[: most // 2]}..."
        return f"a {type(value).__name__} of {len(value)}"
    except Exception:  # what has no length, or cannot even be shown
        return f"a {type(value).__name__}"


def check_option(value: Any, options: Sequence[str], name: str) -> None:
    """Refuse a value that is not among the options."""
    if not isinstance(value, str) or value not in options:
        expected = f"{name} should be {name_options(options)}"
        raise _refused(expected, name, value, guess(value, options).removeprefix("; "))


def guess(value: object, options: Sequence[object]) -> str:
    """Ask whether a misspelled option was meant: ``"; did you mean 'cat'?"``, or nothing."""
    if not isinstance(value, str):
        return ""
    close = get_close_matches(value.lower(), [str(option) for option in options], n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def check_number(value: Any, name: str, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a finite number that lies in [low, high], refusing all else."""
    if not _is_finite(value) or not low <= value <= high:
        limits = f" in [{low:g}, {high:g}]"
        if math.isinf(high):
            limits = "" if math.isinf(low) else f" of at least {low:g}"
        raise _refused(f"{name} should be a finite number{limits}", name, value)
    return float(value)


def _is_finite(value: Any) -> bool:
    is_duration = isinstance(value, np.timedelta64)  # which numpy counts among the integers
    if is_duration or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, and neither a truth value nor a duration of numpy."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def check_whole(value: Any, name: str, low: int, high: int = MOST) -> int:
    """Return a whole number from `low` to `high`, refusing all else."""
    if not is_whole(value) or not low <= value <= high:
        limits = f"of at least {low}" if high == MOST else f"from {low} to {high}"
        raise _refused(f"{name} should be a whole number {limits}", name, value)
    return int(value)


def check_flag(value: Any, name: str) -> bool:
    """Return a truth value, refusing what is neither true nor false."""
    if not isinstance(value, bool | np.bool_ | int):
        raise _refused(f"{name} should be True or False", name, value)
    return bool(value)


def check_verbose(value: Any) -> None:
    """Refuse what does not say how much to report."""
    check_whole(int(value) if isinstance(value, bool | np.bool_) else value, "verbose", 0)


def check_n_jobs(value: Any) -> None:
    """Refuse what is no number of processes."""
    if value is not None and (not is_whole(value) or value == 0):
        expected = "n_jobs should be a number of processes, -1 for all cores, or None for one"
        raise _refused(expected, "n_jobs", value)


def random_from(random_state: Any) -> np.random.RandomState:
    """Return the source of random numbers that a seed, or None, stands for."""
    from sklearn.utils import check_random_state  # heavy, and the algebra does without

    if is_whole(random_state) and not 0 <= random_state <= MAX_SEED:
        expected = (
            f"random_state should be a whole number from 0 to {MAX_SEED}, a RandomState or None"
        )
        raise _refused(expected, "random_state", random_state, "choose another")
    if isinstance(random_state, np.timedelta64):
        random_state = str(random_state)  # no seed, though numpy counts it among the integers
    return check_random_state(random_state)


def check_callable(value: Any, name: str, takes: str) -> None:
    """Refuse what cannot be called; `takes` says with what it would be."""
    if not callable(value):
        remedy = "give a function, or leave it out where that is allowed"
        raise _refused(f"{name} should be a function of {takes}", name, value, remedy)


def check_path(path: Any, name: str = "path") -> Path:
    """Return a path, refusing what names no file."""
    text = os.fspath(path) if isinstance(path, os.PathLike) else path
    if isinstance(text, str) and text and "\0" not in text:
        try:
            os.fsencode(text)
            return Path(text)
        except UnicodeError:
            pass
    expected = f"{name} should be the path of a file, text or a pathlib.Path"
    raise _refused(expected, name, path, "write it as text")


def as_list(values: Any, name: str, of: str = "values") -> list[Any]:
    """Return the entries of a collection, refusing text and what has no entries."""
    if not isinstance(values, str | bytes):
        try:
            return list(values)
        except Exception:  # whatever the caller's own class makes of it
            pass
    raise _refused(f"{name} should be a list of {of}", name, values)


def check_texts(values: Any, name: str, of: str = "names of columns") -> list[str]:
    """Return a list of text; a single text is a list of one."""
    texts = [values] if isinstance(values, str) else as_list(values, name, of)
    for text in texts:
        if not isinstance(text, str):
            raise InputError(
                f"{name} should be a list of {of}",
                f"it holds {shown(text)}",
                "give text",
                parameter=name,
                value=text,
            )
    return [str(text) for text in texts]


def check_text(value: Any, name: str, of: str = "the name of a column") -> str:
    """Return text, refusing all else."""
    if not isinstance(value, str):
        raise _refused(f"{name} should be {of}", name, value, "give text")
    return str(value)


def check_kind(value: Any, kind: type | tuple[type, ...], name: str, remedy: str) -> None:
    """Refuse an object of another class than is needed."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        raise TypeError(
            f"{name} should be {' or '.join(one.__name__ for one in kinds)}, but "
            f"{shown(value)} was given; {remedy}."
        )


def check_ordered(classes: Any) -> None:
    """Refuse a set of classes: its order, which is that of columns, differs from run to run."""
    if isinstance(classes, set | frozenset):
        raise InputError(
            "classes should be a list, in the order of the columns",
            "a set came, which has no order",
            "write sorted(classes), or list them",
            parameter="classes",
            value=classes,
        )


def check_dense(values: Any, name: str) -> None:
    """Refuse a sparse matrix of scipy, of which numpy would make a single object."""
    if hasattr(values, "toarray"):
        raise InputError(
            f"{name} should be a dense array",
            f"a sparse matrix came ({type(values).__name__})",
            "write .toarray() behind it",
            parameter=name,
        )


def as_array(values: Any, name: str) -> NDArray[Any]:
    """Return values as an array of whatever type, refusing ragged ones; what is masked is None."""
    check_dense(values, name)
    if np.ma.isMaskedArray(values):  # whose mask numpy would forget
        hidden = np.ma.getmaskarray(values)
        given: NDArray[Any] = values.data
        if hidden.any():
            given = given.astype(object)
            given[hidden] = None
        return given
    try:
        return np.asarray(values)
    except Exception as error:  # whatever the caller's own class makes of it
        raise InputError(
            f"{name} should be an array with rows of equal length",
            f"{shown(values)} could not be read as one ({_reason(error)})",
            "check for unequal rows",
            parameter=name,
            value=values,
        ) from None


def as_floats(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return values as a float array, refusing what is not an array of numbers; masked is NaN."""
    check_dense(values, name)
    try:
        given = as_array(values, name) if np.ma.isMaskedArray(values) else np.asarray(values)
        if given.dtype.kind not in "biufO":
            raise TypeError(f"they came as {given.dtype}")
        return given.astype(np.float64, copy=False)
    except Exception as error:  # also those of the caller's own classes
        raise InputError(
            f"{name} should be an array of numbers with rows of equal length",
            f"could not be read as one ({_reason(error)})",
            "check for text, missing entries and unequal rows",
            parameter=name,
            value=values,
        ) from None


def row_numbers(rows: Any, n_rows: int, name: str) -> Any:
    """Rows by their numbers, a mask or a slice, refusing those that are not there."""
    if isinstance(rows, slice):
        return rows
    chosen = as_array(rows, name)
    if chosen.size == 0 and chosen.ndim == 1:
        return chosen.astype(np.int64)
    if chosen.dtype == bool and chosen.shape == (n_rows,):
        return chosen
    is_number = chosen.dtype.kind in "iu" and chosen.ndim <= 1
    if not is_number or not ((chosen >= -n_rows) & (chosen < n_rows)).all():
        expected = (
            f"{name} should be numbers of rows below {n_rows}, or {n_rows} times True or False"
        )
        raise _refused(expected, name, rows)
    return chosen


def _refused(expected: str, name: str, value: Any, remedy: str = "") -> InputError:
    return InputError(expected, f"{shown(value)} was given", remedy, parameter=name, value=value)


def _reason(error: Exception) -> str:
    """What went wrong, for brackets."""
    return str(error).split("\n")[0].rstrip(".")[:200] or type(error).__name__


def _name_one(row: list[int]) -> str:
    return str(row[0]) if len(row) == 1 else str(tuple(row))


def existing_folder(path: str | Path) -> Path:
    """The path of a folder, or what there is instead."""
    path = check_path(path)
    if not path.is_dir():
        there = "is a file" if path.exists() else "is not there"
        raise NotADirectoryError(
            f"{str(path)!r} should be a folder, but {there}; make it, or give another."
        )
    return path


def existing_file(path: str | Path) -> Path:
    """The path of a file, or what there is instead."""
    given, path = str(path), check_path(path)
    if "://" in given and not path.is_file():
        what = "write answers to one first: plausible annotate --db ADDRESS --export FILE --full"
        raise FileNotFoundError(
            f"{given.rpartition('@')[2]!r} should be a file, but is an address; "
            + (what if given.startswith("postgresql") else "fetch it first")
            + "."
        )
    if not path.is_file():
        here = sorted(entry.name for entry in path.parent.iterdir()) if path.parent.is_dir() else []
        listed = ", ".join(here[:10]) + (", ..." if len(here) > 10 else "")
        raise FileNotFoundError(
            f"{str(path)!r} should be a file, but is not; its folder "
            + (f"holds {listed}." if here else "is empty or does not exist.")
        )
    return path
