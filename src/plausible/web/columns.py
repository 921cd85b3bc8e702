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


class Answer(NamedTuple):
    """An answer as it comes from the database, with the reason why the item was shown."""

    row: Row
    seconds: float | None
    saw: bool
    reason: str | None
    at: float
