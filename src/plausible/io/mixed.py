"""Columns of any kind from a table: numbers with gaps, dates, categories; and what is left out."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.errors import Note
from plausible.io.faults import Faults
from plausible.models import (
    CATEGORY,
    LEFT_OUT,
    NUMBER,
    Kind,
    find_kind,
    tidy_column,
)
from plausible.tables import Source, TableError, arrow, counted, floats, in_seconds, plain

CODES = {-9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0, 99999.0}  # for "no value"
FEW_NUMBERS = 10  # in which one may be far from the others by chance
FIRST_CELLS, FEW_UNITS = 1000, 3  # cells that tell of units, and how many must be different
WITH_UNIT = re.compile(  # 5.2 mm, $1,200.50, 12 €
    r"(?i)[$€£¥]\s*[+\u2212-]?\d[\d.,' ]*[km]?|[+\u2212-]?\d[\d.,']*\s*"
    r"([$€£¥]|[nµmckMG]?m[²³23]?|[nµmk]?g|[mcd]?l|[nµm]?s|sec|min|h|hrs?|[kMG]?hz|[kmM]?w|[kmM]?v|"
    r"°\s*[cf]?|px|inch|ft|lbs?|oz|kb|mb|gb|usd|eur|gbp|chf|years?|yrs?|days?|months?|weeks?|"
    r"km/h|mph|mmhg|bpm|kcal)\.?"
)
ONE = r"[+\u2212-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
SEVERAL = re.compile(rf"[\[({{]?\s*{ONE}(?:(?:\s*[,;|]\s*|\s+){ONE})+\s*[\])}}]?")  # [0.5, 2]
MOSTLY = 0.5  # share of numbers from which other cells of a column are faults


class MixedColumns(NamedTuple):
    """Columns that a model can learn from, and why others are left out."""

    data: dict[str, NDArray[Any]]
    left_out: dict[str, str]


def read_mixed(
    table: Source, loaded: Any, kinds: Mapping[str, str], asked: Sequence[str], missing: Any
) -> MixedColumns:
    """Columns of a table of Arrow, by what they hold; those asked for by name are kept if possible.

    Cells of text among numbers are refused: they might be gaps, faults or names.
    """
    faults, infinite = Faults(), Faults()
    data: dict[str, NDArray[Any]] = {}
    left_out: dict[str, str] = {}
    for name in loaded.column_names:
        column = _without_words(loaded.column(name), missing)
        values = _values_of_column(column, kinds.get(name), name, faults)
        if values is None:
            left_out[name] = why_left_out(column.type)
            continue
        if values.dtype.kind == "f":
            infinite.add(np.isinf(values), 0, name, column)
        if values.dtype.kind == "O" and kinds.get(name) is None:
            _check_cells(table, name, values)
        found = _kind_of_column(values, name, kinds.get(name), name in asked)
        if found.kind == LEFT_OUT:
            left_out[name] = found.reason
        else:
            data[name] = values
    if faults.count:
        raise TableError(
            f"A column of {table.name} should hold numbers, dates or names",
            f"some hold numbers and something else in {faults.places(table)}",
            (
                "correct these cells",
                "say {missing} for words that mean an empty cell",
                "{kinds} if these are names",
            ),
            settings={
                "missing": _first_words(loaded, faults),
                "kinds": dict.fromkeys(faults.counts, CATEGORY),
            },
        )
    if infinite.count:
        raise TableError(
            f"Features in {table.name} should be finite, but "
            f"{infinite.places(table, 'infinite')}; correct them, or leave the cells empty."
        )
    return MixedColumns(data, left_out)


def _check_cells(table: Source, name: str, values: NDArray[Any]) -> None:
    """Refuse numbers that stand beside their unit, or currency, in every cell, or beside others."""
    cells = list(dict.fromkeys(cell for cell in values[:FIRST_CELLS].tolist() if cell is not None))
    if len(cells) < FEW_UNITS:
        return
    if all(map(WITH_UNIT.fullmatch, cells)):
        raise TableError(
            f"Column {name!r} of {table.name} should hold numbers, dates or names",
            f"it holds numbers with a unit, such as {cells[0]!r}",
            ("write the numbers alone, all in one unit", "say {kinds} if these are names"),
            settings={"kinds": {name: CATEGORY}},
        )
    if all(SEVERAL.fullmatch(cell) and ("." in cell or cell[0] in "[({") for cell in cells):
        raise TableError(
            f"Column {name!r} of {table.name} should hold numbers, dates or names",
            f"it holds several numbers in a cell, such as {cells[0][:40]!r}",
            ("write a column for each of them", "leave it out with {kinds}"),
            settings={"kinds": {name: LEFT_OUT}},
        )


def _kind_of_column(values: NDArray[Any], name: str, given: str | None, asked: bool) -> Kind:
    """What a column is taken for: as it was said, or by what it holds."""
    if given is not None:
        return Kind(given, reason="as asked for" if given == LEFT_OUT else "")
    found = find_kind(tidy_column(values), name)
    if asked and found.kind == LEFT_OUT and values.dtype.kind == "f":
        return Kind(NUMBER)
    return found


def _values_of_column(
    column: Any, kind: str | None, name: str, faults: Faults
) -> NDArray[Any] | None:
    """Numbers, dates, or text with None in gaps; None if the type holds none of these."""
    types, column = arrow().types, in_seconds(column)
    if types.is_date(column.type) or types.is_timestamp(column.type):
        return _as_dates(column) if kind != CATEGORY else as_texts(plain(column))
    numbers, gaps, wrong = floats(column)
    if not types.is_string(column.type):
        if plain(column) is None:
            return None
        if kind == CATEGORY and types.is_boolean(column.type):
            return as_texts(column)
        return numbers if not wrong.any() else as_texts(plain(column))
    if kind == NUMBER or (kind is None and _is_mostly_numbers(gaps, wrong)):
        faults.add(wrong, 0, name, column)
        return numbers
    return as_texts(column)


def _is_mostly_numbers(gaps: NDArray[np.bool_], wrong: NDArray[np.bool_]) -> bool:
    """Whether a column of text would be one of numbers but for some cells."""
    n_there = int((~gaps).sum())
    return bool(wrong.any()) and int(wrong.sum()) <= (1 - MOSTLY) * n_there


def as_texts(column: Any) -> NDArray[Any]:
    """Text, with None in gaps."""
    pc = arrow(".compute")
    text = column if arrow().types.is_string(column.type) else column.cast(arrow().string())
    cells = np.empty(len(text), dtype=object)
    cells[:] = pc.utf8_trim_whitespace(text).to_pylist()
    return cells


def _as_dates(column: Any) -> NDArray[Any]:
    """Dates as numpy has them."""
    pa = arrow()
    zone = getattr(column.type, "tz", None)
    stamps = column.cast(pa.timestamp("ms", zone), safe=False)
    whole = stamps.combine_chunks() if hasattr(stamps, "combine_chunks") else stamps
    return np.asarray(whole.to_numpy(zero_copy_only=False), dtype="datetime64[ms]")


def _without_words(column: Any, missing: Sequence[str]) -> Any:
    """A column in which some words mean an empty cell."""
    pa, pc = arrow(), arrow(".compute")
    if not missing:
        return column
    if pa.types.is_string(column.type):
        gone = pc.is_in(pc.utf8_trim_whitespace(column), pa.array(missing, pa.string()))
        column = pc.if_else(gone, pa.scalar(None, pa.string()), column)
        return _as_numbers_again(column)
    numbers = [float(word) for word in missing if is_number(word)]
    if not numbers or not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return column
    gone = pc.is_in(column.cast(pa.float64(), safe=False), pa.array(numbers, pa.float64()))
    return pc.if_else(gone, pa.scalar(None, column.type), column)


def _as_numbers_again(column: Any) -> Any:
    """A column of text whose remaining cells are all numbers, as numbers."""
    values, gaps, wrong = floats(column)
    if wrong.any() or gaps.all():
        return column
    return arrow().chunked_array([arrow().array(values, mask=gaps)])


def is_number(word: str) -> bool:
    """Whether a word is a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def _first_words(loaded: Any, faults: Faults) -> list[str]:
    """Some words that stand among numbers."""
    words: list[str] = []
    for name in faults.counts:
        column = loaded.column(name)
        _, _, wrong = floats(column)
        for row in np.flatnonzero(wrong)[:100].tolist():
            word = str(column[row].as_py()).strip()
            if word not in words:
                words.append(word)
    return words[:3]


def told_codes(name: str, columns: Mapping[str, Any], beside: Mapping[str, Any]) -> list[Note]:
    """Notes on numbers such as -999, far from all others of a column, which often mean a gap."""
    notes = []
    told = " and ".join(f"{{{setting}}}" for setting in ("missing", *beside))
    for column, values in columns.items():
        if values.dtype.kind != "f" or len(values) < FEW_NUMBERS:
            continue
        for code in {float(np.nanmin(values)), float(np.nanmax(values))} & CODES:
            others = values[(values != code) & ~np.isnan(values)]
            count = int((values == code).sum())
            if count < 2 or len(others) < FEW_NUMBERS // 2:
                continue
            low, high = float(others.min()), float(others.max())
            if min(abs(code - low), abs(code - high)) > max(2 * (high - low), 10.0):
                notes.append(
                    Note(
                        f"{name}: {column!r} is {code:g} in {counted(count, 'row')}, and from "
                        f"{low:g} to {high:g} in the others; {told} if that is an empty cell",
                        missing=[f"{code:g}"], **beside,
                    )
                )  # fmt: skip
    return notes


def why_left_out(given: Any) -> str:
    """Why a column of a type is not used, and what would mend it."""
    types = arrow().types
    if types.is_struct(given) or types.is_map(given):
        return "it holds records: write a column for each of their fields"
    if types.is_nested(given):
        return "it holds lists: write a column for each of their entries"
    return f"it holds {str(given)[:40]}: write numbers or text"


def told_left_out(left_out: Mapping[str, str], name: str) -> list[str]:
    """Which columns are not used, and why."""
    if not left_out:
        return []
    told = [f"{column} ({why})" for column, why in left_out.items()]
    return [
        f"{name}: {counted(len(told), 'column')} left out: "
        + ", ".join(told[:10])
        + ("" if len(told) <= 10 else f", and {len(told) - 10} more")
    ]


def as_kinds(data: Mapping[str, NDArray[Any]], kinds: Mapping[str, str]) -> dict[str, str]:
    """The kind of every column, for a preparation."""
    found = {name: find_kind(tidy_column(values), name).kind for name, values in data.items()}
    numbers = {name: NUMBER for name, kind in found.items() if kind == LEFT_OUT}
    return found | numbers | {name: kind for name, kind in kinds.items() if name in data}
