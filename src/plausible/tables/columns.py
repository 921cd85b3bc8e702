"""Columns of any type: what they hold as numbers, names and text."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.tables.errors import TableError, arrow
from plausible.tables.kinds import without_nan
from plausible.tables.letters import places_of, rows_of_letters
from plausible.tables.threads import at_once

SLICE = 1 << 16  # cells whose letters are looked at at a time
LONGEST = 128  # letters of text that is written by many cells at once
NUMBER = r"(?i)^[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf|infinity)$"
TICKS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}  # in a second


def tidy(column: Any) -> Any:
    """A column of a typed table: categories and text of all makes become text, NaN is missing."""
    pa = arrow()
    if isinstance(column, pa.ExtensionArray):
        return tidy(column.storage)
    if pa.types.is_run_end_encoded(column.type):
        return tidy(arrow(".compute").run_end_decode(column))
    if pa.types.is_dictionary(column.type):  # not all kinds of categories can be cast themselves
        return tidy(column.dictionary).take(column.indices)
    wanted = tidy_type(column.type)
    return without_nan(column if wanted == column.type else column.cast(wanted))


def tidy_type(given: Any) -> Any:
    """The type that `tidy` gives to columns of a type."""
    pa = arrow()
    if isinstance(given, pa.BaseExtensionType):
        return tidy_type(given.storage_type)
    if pa.types.is_dictionary(given) or pa.types.is_run_end_encoded(given):
        return tidy_type(given.value_type)
    if pa.types.is_large_string(given) or pa.types.is_string_view(given):
        return pa.string()
    return pa.float32() if given == pa.float16() else given


def is_number(given: Any) -> bool:
    """Whether a type holds numbers, or truth values."""
    types = arrow().types
    tests = types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null
    return any(test(given) for test in tests)


def in_seconds(column: Any) -> Any:
    """Durations as numbers of seconds; any other column as it is."""
    pa = arrow()
    if not pa.types.is_duration(column.type):
        return column
    ticks = column.cast(pa.int64()).cast(pa.float64(), safe=False)
    return arrow(".compute").divide(ticks, TICKS[column.type.unit])


def floats(column: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Numbers of a column, where they are missing, and where there is something else.

    Durations are seconds.
    """
    pa, pc = arrow(), arrow(".compute")
    column = in_seconds(column)
    missing = np.asarray(pc.is_null(column, nan_is_null=True), dtype=bool)
    wrong = np.zeros(len(column), dtype=bool)
    if pa.types.is_string(column.type):
        trimmed = pc.utf8_trim_whitespace(column)
        good = pc.fill_null(pc.match_substring_regex(trimmed, NUMBER), True)
        wrong = ~np.asarray(good, dtype=bool)
        column = pc.if_else(good, trimmed, pa.scalar(None, pa.string()))
    elif not is_number(column.type):
        return np.full(len(column), np.nan), missing, ~missing
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return values.astype(np.float64, copy=False), missing, wrong


def plain(column: Any) -> Any:
    """A column as truth values, numbers or text; None if its type holds none of these.

    Decimals are whole numbers where they have no fraction, or text if they are too long; dates and
    times are text.
    """
    pa, types = arrow(), arrow().types
    given = column.type
    if types.is_decimal(given):
        is_long = given.scale == 0 and given.precision > 18
        return column.cast(
            pa.string() if is_long else pa.float64() if given.scale else pa.int64(), safe=False
        )
    if types.is_date(given) or types.is_time(given) or types.is_timestamp(given):
        try:
            text = column.cast(pa.string())
        except pa.ArrowInvalid:  # a zone that nobody knows
            return None
        if arrow(".compute").any(arrow(".compute").starts_with(text, "<")).as_py():
            return None  # a day that is in no calendar
        return arrow(".compute").replace_substring_regex(text, r"\.0+([Z+-]|$)", r"\1")
    return column if is_number(given) or types.is_string(given) else None


def names_of(column: Any, name: str, place: str) -> Any:
    """The same for a column of names, which is refused if it holds none."""
    found = plain(column)
    if found is None:
        held = str(column.type)
        raise TableError(
            f"Column {name!r} of {place} should hold text or numbers, but holds "
            f"{held if len(held) <= 80 else f'{held[:76]} ...'}; write it as text, sets as in "
            "'cat|dog', and answers of several people in a row for each."
        )
    return found


def values_of(column: Any) -> NDArray[Any]:
    """Values of a column of names that is not missing anywhere, as an array of their own type."""
    pa = arrow()
    if pa.types.is_string(column.type):
        return texts(column)
    if is_number(column.type) and not column.null_count:
        return column.to_numpy(zero_copy_only=False).copy()
    return np.array(column.to_pylist())


def texts(column: Any) -> NDArray[np.str_]:
    """Text that is not missing anywhere, as an array of numpy."""
    if hasattr(column, "chunks"):
        column = column.combine_chunks()
    places, letters = places_of(column)
    letters = letters[places[0] : places[-1]]
    lengths = np.diff(places)
    if not len(column) or letters.max(initial=0) > 127 or lengths.max() > LONGEST:
        return np.array(column.to_pylist(), dtype=str)
    width = max(int(lengths.max()), 1)
    found = np.empty((len(column), width), np.uint32)

    def write(start: int) -> None:
        part = column.slice(start, SLICE)
        found[start : start + len(part)] = rows_of_letters(part, width)

    at_once([partial(write, start) for start in range(0, len(column), SLICE)], len(column))
    return found.view(f"U{width}").ravel()


def show(column: Any, row: int) -> str:
    """A cell as errors show it."""
    cell = plain(column.slice(row, 1))
    shown = f"a {column.type}" if cell is None else repr(cell[0].as_py())
    return shown if len(shown) <= 40 else f"{shown[:36]} ..."


def repeated(names: Sequence[Any]) -> list[Any]:
    """Names that come more than once."""
    seen: set[Any] = set()
    return sorted({name for name in names if name in seen or seen.add(name)})  # type: ignore[func-returns-value]
