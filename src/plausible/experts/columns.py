"""Columns and tables of answers, as the constructors of `Annotations` take them."""

from collections.abc import Mapping
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.belief import can_be_looked_up
from plausible.checks import as_array, as_floats, name_rows, shown
from plausible.errors import InputError, Note
from plausible.experts.doubts import is_outside, read_doubts
from plausible.experts.parsing import Statements, from_groups, from_mass_rows
from plausible.experts.tables import Codes, check_doubt, factorize_cells, is_gone

ITEMS = {"item", "items", "item_id", "itemid", "id", "task", "task_id"}
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def doubts_of(
    doubt: Any, confidence: Any, words: Mapping[Any, float] | None, n_rows: int
) -> tuple[FloatArray | None, list[Note]]:
    """Doubts (A,) from a column of doubts or of confidences, NaN where they are not known."""
    if doubt is not None and confidence is not None:
        raise InputError(
            "Answers should come with doubts or with confidences",
            "both were given",
            "leave one of them out",
            parameter="confidence",
        )
    if doubt is None and confidence is None:
        return None, []
    if isinstance(doubt, Mapping):
        raise InputError(
            "doubt should be a number for each answer",
            "a dict came",
            "give the doubt in each person to pool(doubt=...)",
            parameter="doubt",
        )
    if (
        confidence is None
        and words is None
        and np.asarray(getattr(doubt, "codes", doubt)).ndim == 0
    ):
        return check_doubt(doubt, n_rows), []
    meaning = "doubt" if confidence is None else "confidence"
    given = doubt if confidence is None else confidence
    given = as_array(given, meaning) if np.ma.isMaskedArray(given) else given
    is_float = isinstance(given, np.ndarray) and given.dtype == np.float64 and given.ndim == 1
    if is_float and not words:  # nothing would be won by counting them
        if meaning == "doubt" and len(given) == n_rows and not is_outside(given).any():
            return given.copy(), []
        column = Codes(np.arange(len(given)), given)
    else:
        column = factorize_cells(given, meaning)
    if len(column.codes) != n_rows:
        return check_doubt(doubt if confidence is None else confidence, n_rows), []
    found = read_doubts(column, meaning, words)
    return found.values, list(found.notes)


def as_table(answers: Any) -> NDArray[Any]:
    """A table of answers; lists keep the types of their cells."""
    if hasattr(answers, "dtype") or hasattr(answers, "columns"):
        return as_array(answers, "answers")
    try:
        return np.asarray(answers, dtype=object)
    except Exception:  # ragged rows, and whatever the caller's own class raises
        raise InputError(
            "answers should have a row for each item and a column for each annotator",
            f"{shown(answers)} does not",
            "fill in None where there is no answer",
            parameter="answers",
            value=answers,
        ) from None


def check_no_items(table: Any, what: str) -> None:
    """Refuse a data frame in which a column that is called as items are would be one of others."""
    names = list(table.columns) if hasattr(table, "columns") and hasattr(table, "shape") else []
    items = [name for name in names if isinstance(name, str) and name.casefold() in ITEMS]
    if items and len(names) > 1:
        raise InputError(
            f"Each column should be of one {what}",
            f"{items[0]!r} is called as items are",
            f"leave it out and give items=table[{items[0]!r}], or read the whole table with "
            "plausible.io.read_annotations",
            value=items[0],
        )


def names_beside(table: Any, axis: str, n_names: int) -> list[Any]:
    """Names of the rows (``"index"``) or columns of a data frame, or else numbers from 0."""
    found = getattr(table, axis, None)
    if found is None or callable(found) or not hasattr(table, "shape"):
        return list(range(n_names))
    names = [", ".join(map(str, n)) if isinstance(n, tuple) else n for n in list(found)]
    is_named = axis == "columns" or len(set(names)) == n_names
    return names if is_named and len(names) == n_names else list(range(n_names))


def differs(table: NDArray[Any], missing: Any) -> NDArray[np.bool_]:
    """Where a table does not hold the value that means no answer; sets and lists never are it."""
    if table.dtype != object:
        return np.broadcast_to(np.asarray(table != missing, dtype=bool), table.shape)
    cells = table.ravel().tolist()
    flat = [not isinstance(cell, str | Number) or bool(cell != missing) for cell in cells]
    return np.array(flat, dtype=bool).reshape(table.shape)


def the_only_one(**columns: ArrayLike | None) -> tuple[str, FloatArray] | None:
    """Name and numbers of the one column that is given, if one is."""
    given = {name: values for name, values in columns.items() if values is not None}
    if len(given) > 1:
        raise InputError(
            "A table of answers should have one kind of numbers",
            f"has {sorted(given)}",
            "leave out all but one",
        )
    for name, values in given.items():
        numbers = as_floats(values, name)
        if numbers.ndim != 1:
            raise InputError(
                f"{name} should be one number for each row",
                f"has shape {numbers.shape}",
                "give a list of numbers",
                parameter=name,
                value=numbers.shape,
            )
        return name, numbers
    return None


def gather_answers(
    cells: Statements, group: Codes, kind: str, numbers: FloatArray
) -> tuple[Statements, IntArray]:
    """Statements of groups of rows, which are one answer each, and the first row of each."""
    if kind == "mass":
        said = from_mass_rows(cells, group.codes, len(group.names), numbers)
    else:
        said = from_groups(cells, group.codes, len(group.names), numbers, kind)
    return said, np.unique(group.codes, return_index=True)[1]


def one_doubt(doubts: FloatArray, group: IntArray, first: IntArray) -> FloatArray:
    """Doubts of groups of rows, whose rows must agree."""
    uneven = doubts != doubts[first][group]
    if uneven.any():
        raise InputError(
            "Rows of one annotator about one item are one answer and should have one doubt",
            f"differ in {name_rows(uneven)}",
            "write the same number",
            rows=uneven,
        )
    return doubts[first]


def is_missing(table: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a table holds None, NaN or an empty string."""
    if table.dtype.kind == "f":
        return np.isnan(table)
    if table.dtype.kind in "iub":
        return np.zeros(table.shape, dtype=bool)
    if table.dtype.kind in "US":
        return np.asarray(np.char.strip(table.astype(str)) == "")
    flat = [is_gone(cell) for cell in table.ravel().tolist()]
    return np.array(flat, dtype=bool).reshape(table.shape)


def check_names(names: NDArray[Any], n_names: int, what: str) -> None:
    """Refuse names that are not as many as there should be, or not different."""
    known = names.tolist() if names.shape == (n_names,) else []
    if all(map(can_be_looked_up, known)) and len(set(known)) == n_names:
        return
    came = f"an array {names.shape} was given"
    if names.shape == (n_names,):
        twice = next((name for k, name in enumerate(known) if name in known[:k]), known[0])
        came = f"{shown(twice)} comes more than once"
    raise InputError(
        f"{what} should be {n_names} different names", came, "name each once", value=names.shape
    )
