"""Columns of names as whole numbers."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.checks import as_floats, name_rows

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Codes(NamedTuple):
    """A column (n,) of places in `names`."""

    codes: IntArray
    names: NDArray[Any]


def factorise(values: ArrayLike | Codes, what: str) -> Codes:
    """Names in the order in which they first occur, and the place of each row among them.

    Examples
    --------
    >>> factorise(["b", "a", "b"], "items")
    Codes(codes=array([0, 1, 0]), names=array(['b', 'a'], dtype='<U1'))
    """
    if isinstance(values, Codes):
        return values
    column = np.asarray(values)
    if column.ndim != 1:
        raise ValueError(f"{what} should be one column of names, but have shape {column.shape}.")
    if column.dtype.kind in "iub" and len(column):
        return factorise_numbers(column)
    places: dict[Any, int] = {}
    cells = column.tolist()
    missing = np.array([is_gone(cell) for cell in cells], dtype=bool)
    if missing.any():
        raise ValueError(
            f"Every row should name one of the {what}, but names are missing in "
            f"{name_rows(missing)}; fill them in or leave the rows out."
        )
    if len({isinstance(cell, str) for cell in cells}) > 1:  # 1 and "1" are one name
        cells = list(map(canonical, cells))
    coded = np.fromiter(
        (places.setdefault(cell, len(places)) for cell in cells), np.int64, len(cells)
    )
    return Codes(coded, np.array(list(places)))


def is_gone(cell: Any) -> bool:
    """Whether a cell holds nothing: None, NaN, pandas.NA or an empty string."""
    if cell is None or (isinstance(cell, str) and cell == ""):
        return True
    try:
        return bool(cell != cell)
    except TypeError:  # pandas.NA, which is neither equal nor unequal
        return True


def canonical(name: Any) -> str:
    """A name as text, whole numbers without a fraction."""
    if isinstance(name, float) and name.is_integer():
        return str(int(name))
    return str(name).strip()


def factorise_numbers(column: NDArray[Any]) -> Codes:
    """The same for whole numbers: by a table where they lie close together, else by sorting."""
    low, high = int(column.min()), int(column.max())
    if high - low > 10 * len(column):
        names, first, codes = np.unique(column, return_index=True, return_inverse=True)
    else:
        shifted = column.astype(np.int64) - low
        first = np.full(high - low + 1, -1)
        first[shifted[::-1]] = np.arange(len(column))[::-1]  # the first one is written last
        there = first >= 0
        codes = (np.cumsum(there) - 1)[shifted]
        names, first = np.flatnonzero(there) + low, first[there]
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
        if column is not None and hasattr(column, "__len__") and not isinstance(column, str):
            lengths[name] = len(column)
    if not lengths:
        raise ValueError(
            "Columns of answers should be sequences, but single values were given; write [value]."
        )
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"Columns of answers should have the same length, but have {lengths}; check for "
            "missing rows."
        )
    return next(iter(lengths.values()))


def check_doubt(doubt: ArrayLike | None, n_rows: int) -> FloatArray | None:
    """Doubts (n,) in [0, 1]."""
    if doubt is None:
        return None
    values = np.broadcast_to(as_floats(doubt, "doubt"), n_rows)
    bad = ~((values >= 0) & (values <= 1))
    if bad.any():
        raise ValueError(
            f"doubt should be in [0, 1], but is not in {name_rows(bad)}; write 0 for a sure answer "
            "and 1 for one that says nothing."
        )
    return values
