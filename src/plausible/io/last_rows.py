"""Rows of tables that are about no item: sums, means and notes below them, names of columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.tables import Source, TableError, arrow, choose

SUMS = {"total", "totals", "grand total", "sum", "sums", "mean", "average", "summe", "gesamt",
        "total general", "totale", "somme", "suma", "mittelwert", "durchschnitt", "moyenne",
        "median"}  # fmt: skip
MARKS = ("#", "*", "//")  # with which notes begin
TYPES = {"string", "str", "text", "int", "integer", "float", "double", "number", "numeric", "char",
         "varchar", "category", "categorical", "factor", "bool", "boolean", "object", "date",
         "datetime", "int64", "float64"}  # fmt: skip
LEAST_ROWS = 6  # from which a row can be unlike all others
SOON = 10_000
N_OTHERS = 100  # names that tell whether items are called by several words


def check_last_row(table: Source, name: str) -> None:
    """Refuse a last row that is called a sum of all others, or holds nothing but some words."""
    names = table.named(name)
    if not arrow().types.is_string(names.type) or len(names) < 2 or not names[-1].is_valid:
        return
    for again in (name, f"\ufeff{name}"):  # a file that was put below another keeps its mark
        check_names_again(table, name, arrow(".compute").index(names, again).as_py())
    last = names[-1].as_py()
    if last.strip(" :").casefold() in SUMS:
        raise TableError(
            f"Each row of {table.name} should be about an item",
            f"the last one ({table.places([len(names)])[0]}) is called {last!r}, as if it summed "
            "up the others",
            "delete it",
        )
    others = names.slice(0, min(N_OTHERS, len(names) - 1)).drop_null().to_pylist()
    if is_note(last) and not any(map(is_note, others)) and _is_alone(table, name):
        refuse_note(table, len(names), last)


def check_names_again(table: Source, name: str, row: int) -> None:
    """Refuse a row, from 0, that names the columns again, as files do that were put together."""
    if row < 0:
        return
    others = [column for column in choose(table, None) if column != name]
    if any(str(table.column(column)[row]) == column for column in others):
        raise TableError(
            f"Each row of {table.name} should be about an item",
            f"{table.places([row + 1])[0]} has the names of the columns again, as if files were "
            "put together",
            "delete it",
        )


def is_note(name: str) -> bool:
    """Whether a name is of several words, or begins like a note.

    Examples
    --------
    >>> is_note("Source: own survey"), is_note("photo 7"), is_note("* preliminary")
    (True, True, True)
    >>> is_note("photo_7.png")
    False
    """
    return len(name.split()) > 1 or name.strip().startswith(MARKS)


def _is_alone(table: Source, name: str) -> bool:
    """Whether all other cells of the last row are empty, and not those of the row before it."""
    others = [column for column in choose(table, None) if column != name]
    columns = [table.column(column) for column in others]
    alone = [column for column in columns if not column[len(column) - 1].is_valid]
    above = [column for column in columns if not column[len(column) - 2].is_valid]
    return bool(columns) and len(alone) == len(columns) > len(above)


def refuse_note(table: Source, row: int, said: str) -> None:
    """Refuse a row, from 1, that holds nothing but a note."""
    shown = said if len(said) <= 60 else f"{said[:56]} ..."
    raise TableError(
        f"Each row of {table.name} should be about an item",
        f"the last one ({table.places([row])[0]}) says only {shown!r}, as notes below a table do",
        "delete it",
    )


def check_last_answer(table: Source, called: str, item: Any, others: Sequence[Any]) -> None:
    """Refuse a last row of answers that holds nothing but the name of an item, as notes do.

    `item`, whose column is `called` so, and `others` are codes and names of columns, as
    `Source.encoded` gives them. Names of columns that come again are refused as well.
    """
    codes, names = item
    again = [place for name in (called, f"\ufeff{called}") for place in _places(names, name)]
    if again:
        check_names_again(table, called, int(np.argmax(codes == min(again))))
    if len(codes) < 2 or codes[-1] < 0 or any(other[0][-1] >= 0 for other in others):
        return
    last = str(names[codes[-1]])
    rest = [name for name in map(str, names[:N_OTHERS].tolist()) if name != last]
    if is_note(last) and not any(map(is_note, rest)):
        refuse_note(table, len(codes), last)


def _places(names: NDArray[Any], name: str) -> list[int]:
    """Where a name is; its last letter tells nearly all others.

    Examples
    --------
    >>> _places(np.array(["item", "im1", "items"]), "item"), _places(np.array([7]), "item")
    ([0], [])
    """
    width = names.dtype.itemsize // 4
    if names.dtype.kind == "U" and 0 < len(name) <= width:
        letters = np.ascontiguousarray(names).view(np.uint32).reshape(len(names), width)
        rows = np.flatnonzero(letters[:, len(name) - 1] == ord(name[-1]))
    else:
        rows = np.arange(len(names) if names.dtype.kind == "O" else 0)
    return rows[names[rows] == name].tolist()


def check_first_answer(table: Source, columns: Sequence[Any], is_told: bool) -> None:
    """Refuse a first row of answers that is a second line of names: units, types or questions.

    `columns` are codes and names of items, people and labels. All that such a row holds comes
    nowhere else, while people and labels come again in all other rows; or it names types.
    """
    n_rows = len(columns[0][0])
    if is_told or n_rows < LEAST_ROWS or any(codes[0] < 0 for codes, _ in columns):
        return
    for rows in (slice(1, SOON), slice(SOON, None)):  # most come again soon
        if any((codes[rows] == codes[0]).any() for codes, _ in reversed(columns)):
            return
    said = [str(names[codes[0]]) for codes, names in columns]
    counts = [np.bincount(codes[1:][codes[1:] >= 0]) for codes, _ in columns[1:]]
    comes_again = len(columns) == 3 and all((count != 1).all() for count in counts)
    if comes_again or all(map(is_type, said)):
        raise TableError(
            f"{table.name} should have one line of names, and below it a row for each answer",
            f"the first row ({table.places([1])[0]}) says {', '.join(map(repr, said))}, which "
            "comes nowhere else, as a second line of names or units does",
            ("delete it", "list the {classes} if it is an answer"),
            settings={"classes": None},
        )


def is_type(cell: str) -> bool:
    """Whether a cell names a type, or stands in brackets, as units do.

    Examples
    --------
    >>> is_type("string"), is_type("(mm)"), is_type("oak")
    (True, True, False)
    """
    word = cell.strip().casefold()
    return word in TYPES or (word[:1] + word[-1:] in ("()", "[]", "{}", "<>") and len(word) > 2)
