"""Columns of names as whole numbers."""

from collections.abc import Sized
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.checks import as_array, as_floats, name_rows, shown
from plausible.errors import InputError, Note
from plausible.experts.name_letters import (
    Letters,
    letters_of,
    may_differ_by_case,
    may_have_blanks,
)

MOST_NAMES = 100_000  # whose names are compared
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Codes(NamedTuple):
    """A column (n,) of places in `names`.

    search : for people who answered again about these items, if one was begun, see `repeats`
    """

    codes: IntArray
    names: NDArray[Any]
    search: Any = None

    def taken(self, rows: IntArray) -> "Codes":
        """Some of the rows, with all names."""
        return Codes(self.codes[rows], self.names)


def factorize(values: ArrayLike | Codes, what: str) -> Codes:
    """Names in the order in which they first occur, and the place of each row among them.

    Examples
    --------
    >>> factorize(["b", "a", "b"], "items")
    Codes(codes=array([0, 1, 0]), names=array(['b', 'a'], dtype='<U1'), search=None)
    """
    if isinstance(values, Codes):
        return values
    column = as_array(values, what)
    if column.ndim != 1:
        came = f"have shape {column.shape}" if column.ndim else f"{shown(values)} came"
        raise InputError(
            f"{what} should be one column of names",
            came,
            "give a list with a name for each row",
            value=column.shape,
        )
    if column.dtype.kind not in "biufUSOM":
        raise InputError(
            f"{what} should be one column of names",
            f"came as {column.dtype}",
            "turn them into text",
        )
    if column.dtype.kind in "iub" and len(column):
        return _factorize_numbers(column)
    places: dict[Any, int] = {}
    cells = column.tolist()
    missing = np.array([is_gone(cell) for cell in cells], dtype=bool)
    if missing.any():
        raise InputError(
            f"Every row should name one of the {what}",
            f"names are missing in {name_rows(missing)}",
            "fill them in or leave the rows out",
            rows=missing,
        )
    if len({isinstance(cell, str) for cell in cells}) > 1:  # 1 and "1" are one name
        cells = list(map(canonical, cells))
    try:
        coded = np.fromiter(
            (places.setdefault(cell, len(places)) for cell in cells), np.int64, len(cells)
        )
    except TypeError:  # what has no hash
        raise InputError(
            f"{what} should be one column of names",
            "some are lists or sets",
            "turn them into text",
        ) from None
    return Codes(coded, np.array(list(places)))


def factorize_cells(values: Any, what: str) -> Codes:
    """Different cells of a column of any kind, of which some may be missing."""
    if isinstance(values, Codes):
        return values
    column = as_array(values, what)
    if column.ndim != 1 or column.dtype.kind not in "biufUSO":
        raise InputError(
            f"{what} should be one column of numbers or words",
            f"has shape {column.shape}",
            "give one for each answer",
            parameter=what,
        )
    if column.dtype.kind in "biuf":
        names, codes = np.unique(column, return_inverse=True)
        return Codes(codes, names)
    places: dict[Any, int] = {}
    cells = [None if is_gone(cell) else cell for cell in column.tolist()]
    if not all(cell is None or isinstance(cell, str | Number) for cell in cells):
        raise InputError(
            f"{what} should be one column of numbers or words",
            "some are lists or other things",
            "turn them into numbers",
            parameter=what,
        )
    # True and 1 are the same to a dictionary, but not the same cell.
    keys = [(type(cell) is bool, cell) for cell in cells]
    codes = np.fromiter((places.setdefault(key, len(places)) for key in keys), np.int64, len(keys))
    different = np.empty(len(places), dtype=object)
    different[:] = [cell for _, cell in places]
    return Codes(codes, different)


def tidy_names(column: Codes, what: str) -> tuple[Codes, list[Note]]:
    """Names without blanks around them, and a note where that, or case, makes them equal."""
    names = column.names
    if names.dtype.kind not in "UO":
        return column, []
    letters = letters_of(names)
    if not may_have_blanks(letters):
        return column, _tell_alike(names, letters, what)
    texts = names.tolist()
    bare = [name.strip() if isinstance(name, str) else name for name in texts]
    notes = []
    if bare != texts:
        places: dict[Any, int] = {}
        change = np.array([places.setdefault(name, len(places)) for name in bare], dtype=np.int64)
        n_merged = len(bare) - len(places)
        if n_merged:
            twice = [text for text, name in zip(texts, bare, strict=True) if text != name]
            notes.append(tell_blanks(what, n_merged, twice[0]))
        column = Codes(change[column.codes], np.array(list(places)))
    return column, [*notes, *_tell_alike(column.names, letters_of(column.names), what)]


def tell_blanks(what: str, n_merged: int, example: str) -> Note:
    """A note on names that are one without blanks around them."""
    return Note(
        f"{what} that differ by blanks alone are one: {n_merged} "
        f"{'name' if n_merged == 1 else 'names'}, such as {example!r}"
    )


def _tell_alike(given: NDArray[Any], letters: Letters | None, what: str) -> list[Note]:
    """A note on people or items whose names differ by case alone: they stay two."""
    if len(given) > MOST_NAMES or not may_differ_by_case(letters):
        return []
    texts = [name for name in given.tolist() if isinstance(name, str)]
    if len(set(map(str.casefold, texts))) == len(texts):
        return []
    spelled: dict[str, list[str]] = {}
    for name in texts:
        spelled.setdefault(name.casefold(), []).append(name)
    several = [names for names in spelled.values() if len(names) > 1]
    listed = ", ".join(map(repr, several[0]))
    more = f", and {len(several) - 1} more such groups" if len(several) > 1 else ""
    return [
        Note(
            f"{what} whose names differ by case were read as different ones: {listed}{more}; "
            "write a name alike if it is one"
        )
    ]


def is_gone(cell: Any) -> bool:
    """Whether a cell holds nothing: None, NaN, pandas.NA or an empty string."""
    if cell is None or isinstance(cell, str):
        return not cell
    if isinstance(cell, Number):
        return bool(cell != cell)
    return type(cell).__name__ in ("NAType", "NaTType")


def canonical(name: Any) -> str:
    """A name as text, whole numbers without a fraction."""
    if isinstance(name, float) and name.is_integer():
        return str(int(name))
    return str(name).strip()


def _factorize_numbers(column: NDArray[Any]) -> Codes:
    """The same for whole numbers: by a table where they lie close together, else by sorting."""
    low, high = int(column.min()), int(column.max())
    if high - low > 10 * len(column):
        names, first, codes = np.unique(column, return_index=True, return_inverse=True)
    else:
        wide = column if column.dtype == np.uint64 else column.astype(np.int64)
        shifted = (wide - wide.min()).astype(np.int64)
        first = np.full(high - low + 1, -1)
        first[shifted[::-1]] = np.arange(len(column))[::-1]  # the first one is written last
        there = first >= 0
        codes = (np.cumsum(there) - 1)[shifted]
        names, first = np.flatnonzero(there).astype(wide.dtype) + wide.min(), first[there]
        names = names.astype(column.dtype)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Codes(rank[codes], names[order])


def check_lengths(**columns: Any) -> int:
    """The common length of columns; None is no column."""
    lengths = {}
    for name, values in columns.items():
        column = values.codes if isinstance(values, Codes) else values
        shape = getattr(column, "shape", None)
        if isinstance(shape, tuple) and shape:
            lengths[name] = int(shape[0])
        elif isinstance(column, Sized) and not isinstance(column, str | np.ndarray):
            lengths[name] = len(column)
    if not lengths:
        raise InputError(
            "Columns of answers should be sequences",
            "single values were given",
            "write [value]",
        )
    if len(set(lengths.values())) > 1:
        raise InputError(
            "Columns of answers should have the same length",
            f"have {lengths}",
            "check for missing rows",
        )
    return next(iter(lengths.values()))


def check_doubt(doubt: ArrayLike | None, n_rows: int) -> FloatArray | None:
    """Doubts (n,) in [0, 1]."""
    if doubt is None:
        return None
    values = as_floats(doubt, "doubt")
    if values.shape not in ((), (1,), (n_rows,)):
        raise InputError(
            f"doubt should be one number, or one for each of the {n_rows} rows",
            f"has shape {values.shape}",
            f"give an array ({n_rows},)",
            parameter="doubt",
            value=values.shape,
        )
    values = np.broadcast_to(values, n_rows)
    bad = ~((values >= 0) & (values <= 1))
    if bad.any():
        raise InputError(
            "doubt should be in [0, 1]",
            f"is not in {name_rows(bad)}",
            "write 0 for a sure answer and 1 for one that says nothing",
            parameter="doubt",
            rows=bad,
        )
    return values
