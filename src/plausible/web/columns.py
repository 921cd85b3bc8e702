"""Columns of numbers that grow, for what is held of answers in memory."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.io import Row


class Columns:
    """Columns of numbers that grow by rows.

    Examples
    --------
    >>> table = Columns(size=np.int16)
    >>> table.append(size=3), table.append(size=5)
    (0, 1)
    >>> table["size"]
    array([3, 5], dtype=int16)
    """

    def __init__(self, **kinds: Any) -> None:
        self.size = 0
        self.arrays = {name: np.zeros(1024, dtype=kind) for name, kind in kinds.items()}

    def append(self, **values: Any) -> int:
        """Add a row; its number."""
        row = self.size
        for name, value in values.items():
            array = self.arrays[name]
            if row == len(array):
                self.arrays[name] = array = np.concatenate([array, np.zeros_like(array)])
            array[row] = value
        self.size += 1
        return row

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.arrays[name][: self.size]


class Rows:
    """Rows by the numbers of answers, which have few gaps; a tenth of the memory of a dict.

    Examples
    --------
    >>> rows = Rows()
    >>> rows[7] = 3
    >>> 7 in rows, 8 in rows, rows.get(7), rows.get(8), rows.get(None)
    (True, False, 3, -1, -1)
    """

    NOTHING = -2  # -1 is an answer that has no row

    def __init__(self) -> None:
        self.rows = np.full(1024, self.NOTHING, dtype=np.int32)

    def __setitem__(self, number: int, row: int) -> None:
        if number >= len(self.rows):
            longer = np.full(max(number + 1, 2 * len(self.rows)), self.NOTHING, dtype=np.int32)
            longer[: len(self.rows)] = self.rows
            self.rows = longer
        self.rows[number] = row

    def __contains__(self, number: int) -> bool:
        return number < len(self.rows) and bool(self.rows[number] != self.NOTHING)

    def get(self, number: int | None) -> int:
        """The row of an answer, or -1."""
        return int(self.rows[number]) if number is not None and number in self else -1


class Answer(NamedTuple):
    """An answer as it comes from the database, with the reason why the item was shown."""

    row: Row
    seconds: float | None
    saw: bool
    reason: str | None
    at: float
