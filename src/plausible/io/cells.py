"""Different cells of columns that come in parts, since they may be too long to hold."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.io.features import check_rows
from plausible.tables import Source, names_of


class Cells:
    """Different cells of a column that comes in parts.

    places : dict of the cells, in the order in which they are met
    counts, first : in how many rows each stands, and the first of these
    """

    def __init__(self) -> None:
        self.places: dict[Any, int] = {}
        self.counts: list[int] = []
        self.first: list[int] = []
        self.n_rows = 0

    def add_all(self, table: Source, name: str) -> Iterator[NDArray[np.int64]]:
        """Take all rows of a column, and tell which cell each holds."""
        yield np.empty(0, np.int64)
        for batch in table.batches([name], typed=False):
            yield self.add(names_of(batch.column(0), name, table.name))
        check_rows(table, self.n_rows)

    def add(self, part: Any) -> NDArray[np.int64]:
        """Take further rows."""
        encoded = part.dictionary_encode()
        cells = [*encoded.dictionary.to_pylist(), None]  # the last one is that of missing cells
        if not part.null_count:
            cells.pop()
        codes = encoded.indices.fill_null(len(cells) - 1).to_numpy()
        counts = np.bincount(codes, minlength=len(cells)).tolist()
        first = np.unique(codes, return_index=True)[1] + self.n_rows
        for cell, count, row in zip(cells, counts, first.tolist(), strict=True):
            place = self.places.setdefault(cell, len(self.places))
            if place == len(self.counts):
                self.counts.append(0)
                self.first.append(row)
            self.counts[place] += count
        self.n_rows += len(part)
        return np.array([self.places[cell] for cell in cells], np.int64)[codes]


class Different:
    """Different values of a column, of which nothing else is asked.

    Examples
    --------
    >>> column = Different()
    >>> column.add(np.array([0.5, 0.25]))
    >>> column.add(np.array([0.5, 1.0]))
    >>> column.cells()
    array([0.25, 0.5 , 1.  ])
    """

    def __init__(self) -> None:
        self.numbers = np.zeros(0)
        self.others: dict[Any, None] = {}

    def add(self, names: NDArray[Any]) -> None:
        """Take the values of further rows."""
        if names.dtype.kind == "f":
            self.numbers = np.union1d(self.numbers, names)
        else:
            self.others |= dict.fromkeys(names.tolist())

    def cells(self) -> NDArray[Any]:
        """All of them: numbers in order, others as they were met."""
        if not self.others:
            return self.numbers
        found = np.empty(len(self.numbers) + len(self.others), dtype=object)
        found[:] = [*self.numbers.tolist(), *self.others]
        return found
