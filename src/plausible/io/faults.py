"""Cells that are not what they should be: how many, where, and in which columns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.tables import MOST, Source, counted, listed, show

MANY = 20  # columns that a message names


class Faults:
    """Bad cells of a table, with the first ones of every column."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.first: dict[str, list[tuple[int, str]]] = {}

    @property
    def count(self) -> int:
        """How many cells are bad."""
        return sum(self.counts.values())

    def add(self, bad: NDArray[np.bool_], start: int, name: str, column: Any = None) -> None:
        """Note the bad cells of a column in rows that follow row number `start`."""
        if not bad.any():
            return
        self.counts[name] = self.counts.get(name, 0) + int(bad.sum())
        noted = self.first.setdefault(name, [])
        for row in np.flatnonzero(bad)[: MOST - len(noted)].tolist():
            held = "" if column is None else f" holds {show(column, row)}"
            noted.append((start + row + 1, f"column {name!r}{held}"))

    def places(self, source: Source, what: str = "") -> str:
        """``"2 cells are empty (row 3 on line 4, column 'b', ...)"``, one of each column first."""
        cells = [cell for noted in self.first.values() for cell in noted[:1]][:MOST]
        rest = sorted(cell for noted in self.first.values() for cell in noted[1:])
        cells = sorted(cells + rest[: MOST - len(cells)])
        rows = sorted({row for row, _ in cells})
        lines = dict(zip(rows, source.lines(rows), strict=False))
        named = [
            f"row {row}{f' on line {lines[row]}' if row in lines else ''}, {cell}"
            for row, cell in cells
        ]
        said = f" {'is' if self.count == 1 else 'are'} {what}" if what else ""
        told = f"{counted(self.count, 'cell')}{said} ({listed(named, self.count)})"
        if len(self.counts) == 1 or self.count <= MOST:
            return told
        columns = [f"{name!r} ({count})" for name, count in self.counts.items()]
        more = f" and {len(columns) - MANY} more" if len(columns) > MANY else ""
        return f"{told} of the columns {', '.join(columns[:MANY])}{more}"
