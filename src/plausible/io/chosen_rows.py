"""A table without some of its rows; errors name rows as they are counted in the whole table."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.tables import Source, arrow


class ChosenRows(Source):
    """The rows of a table that are kept.

    Parameters
    ----------
    whole : Source
    kept : bool array (n,)

    Examples
    --------
    >>> from plausible.tables import open_table
    >>> few = ChosenRows(open_table({"who": ["ann", "bob", "cy"]}), np.array([True, False, True]))
    >>> few.column("who").to_pylist(), few.places([2])
    (['ann', 'cy'], ['row 3'])
    """

    def __init__(self, whole: Source, kept: NDArray[np.bool_]) -> None:
        super().__init__()
        self.longer, self.kept = whole, kept
        self.name, self.names, self.format = whole.name, whole.names, whole.format
        self.n_rows = int(kept.sum())
        self.notes, self.index = whole.notes, whole.index

    def schema(self, columns: Sequence[str]) -> Any:
        """Names and types of some columns."""
        return self.longer.schema(columns)

    def batches(
        self,
        columns: Sequence[str],
        typed: bool = True,
        rows: int | None = None,
        gaps: bool = True,
    ) -> Iterator[Any]:
        """Record batches of some columns."""
        start = 0
        for batch in self.longer.batches(columns, typed, rows, gaps):
            stop = start + batch.num_rows
            yield batch.filter(arrow().array(self.kept[start:stop]))
            start = stop

    def named(self, name: str) -> Any:
        """A column of names, as it is written."""
        return self.longer.named(name).filter(arrow().array(self.kept))

    def lines(self, rows: Sequence[int]) -> list[int]:
        """Lines on which some rows, in rising order, begin."""
        return self.longer.lines(self._in_whole(rows))

    def places(self, rows: Sequence[int]) -> list[str]:
        """``"row 3 on line 4"`` for some rows."""
        return self.longer.places(self._in_whole(rows))

    def _in_whole(self, rows: Sequence[int]) -> list[int]:
        """Rows as the whole table counts them, from 1."""
        found: list[int] = (np.flatnonzero(self.kept)[np.asarray(rows, np.int64) - 1] + 1).tolist()
        return found
