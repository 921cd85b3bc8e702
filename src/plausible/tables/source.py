"""What every opened table offers, whatever it comes from."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.tables.codes import Encoded, encode
from plausible.tables.columns import names_of
from plausible.tables.errors import MOST, arrow, counted, listed
from plausible.tables.kinds import Assumed

CHUNK_ROWS = 16384


class Source:
    """An opened table.

    Attributes
    ----------
    name : str
        How errors call it.
    names : list of str
        Names of the columns.
    index : set of str
        Columns that are left out unless asked for: the index of a data frame of pandas.
    format : {"CSV", "JSON", "Excel", "Parquet", "Arrow", "memory"}
    n_rows : int or None
        Where it is known beforehand.
    notes : list of str
        What was assumed, in words; columns are looked at when they are first asked for.
    """

    name: str
    names: list[str]
    format: str = "memory"
    n_rows: int | None = None

    def __init__(self) -> None:
        self.index: set[str] = set()
        self._codes: dict[str, Encoded] = {}
        self.notes: list[str] = []
        self._assumed: dict[str, tuple[int, str, list[str]]] = {}

    def _tell(self, name: str, assumed: Assumed | None, is_text: bool) -> None:
        """Note what was assumed of a column, once for all of which it is the same."""
        if assumed is None:
            return
        place, said, names = self._assumed.setdefault(
            assumed.key, (len(self.notes), assumed.said, [])
        )
        names.append(name)
        which, has, it = f"column {name!r}", "has", "It was"
        if len(names) > 1:
            which = f"{len(names)} columns ({listed([repr(each) for each in names])})"
            has, it = "have", "They were"
        end = f". {it} read as text" if is_text else ""
        self.notes[place : place + 1] = [f"{self.name}: {which} {has} {said}{end}"]

    def schema(self, columns: Sequence[str]) -> Any:
        """Names and types of some columns."""
        raise NotImplementedError

    def batches(
        self,
        columns: Sequence[str],
        typed: bool = True,
        rows: int | None = None,
        gaps: bool = True,
    ) -> Iterator[Any]:
        """Record batches of some columns, as text (of a text file) or typed.

        `rows` is how many there should be in a batch at most, if that saves memory. Without `gaps`,
        NaN may stay, which is faster.
        """
        raise NotImplementedError

    def batches_from(
        self, columns: Sequence[str], first: int, gaps: bool = True
    ) -> tuple[int, Iterator[Any]]:
        """Typed batches that begin at or before a row, and the row at which they begin.

        Where rows can be passed over without being read, they are.
        """
        return 0, self.batches(columns, gaps=gaps)

    def groups(
        self, columns: Sequence[str], most_rows: int
    ) -> list[tuple[int, Callable[[], Any]]] | None:
        """Rows of each group of rows, and a function that reads it as a typed table in any thread.

        None where the table is not made of groups of at most so many rows. NaN may stay.
        """
        return None

    def lines(self, rows: Sequence[int]) -> list[int]:
        """Lines on which some rows, in rising order, begin; none if there are no lines."""
        return []

    def whole(self, columns: Sequence[str], typed: bool = True) -> Any:
        """All rows of some columns."""
        batches = list(self.batches(columns, typed))
        schema = batches[0].schema if batches else self.schema(columns)
        return arrow().Table.from_batches(batches, schema)

    def column(self, name: str, typed: bool = True) -> Any:
        """One column, whole."""
        return self.whole([name], typed).column(0)

    def named(self, name: str) -> Any:
        """A column of names: numbers and truth values as such, all else as it is written."""
        return self.column(name)

    def is_valued(self, name: str) -> bool:
        """Whether `named` gives the values of a column, and not what is written."""
        return True

    def keep_written(self, names: Sequence[str]) -> None:
        """Give columns of names from now on as `named` does, also where they come in batches."""

    def encoded(self, name: str) -> Encoded:
        """A column of names, each of them once, and which of them is in each row.

        Examples
        --------
        >>> from plausible.tables import open_table
        >>> open_table({"who": ["bob", None, "ann", "bob"]}).encoded("who")
        Encoded(codes=array([ 0, -1,  1,  0]), names=array(['bob', 'ann'], dtype='<U3'))
        """
        if name not in self._codes:
            self._codes[name] = self._encode(name, self.named(name))
        return self._codes[name]

    def _encode(self, name: str, column: Any) -> Encoded:
        return encode(names_of(column, name, self.name))

    def encoded_all(self, names: Sequence[str]) -> dict[str, Encoded]:
        """The same for several columns at the same time; `encoded` remembers them."""
        lost = [name for name in dict.fromkeys(names) if name not in self._codes]
        columns = self.named_all(lost) if lost else []
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            self._codes |= zip(lost, threads.map(self._encode, lost, columns), strict=True)
        return {name: self._codes[name] for name in names}

    def known_codes(self, names: Sequence[str]) -> list[NDArray[np.int64]] | None:
        """Codes that `encoded` gives, most likely, if they are known without more ado."""
        if any(name not in self._codes for name in names):
            return None
        return [self._codes[name].codes for name in names]

    def is_measured(self, name: str) -> bool:
        """Whether a column holds so many different numbers that its codes would be no use."""
        return False

    def named_all(self, names: Sequence[str]) -> list[Any]:
        """Several columns of names, read at once if that is faster."""
        return [self.named(name) for name in names]

    def where(self, rows: Sequence[int], count: int | None = None) -> str:
        """``"2 rows (row 3 on line 4, row 9 on line 10)"``, with rows counted from 1."""
        count = count or len(rows)
        return f"{counted(count, 'row')} ({listed(self.places(rows[:MOST]), count)})"

    def places(self, rows: Sequence[int]) -> list[str]:
        """``"row 3 on line 4"`` for some rows."""
        lines = self.lines(rows)
        if len(lines) != len(rows):
            return [f"row {row}" for row in rows]
        return [f"row {row} on line {line}" for row, line in zip(rows, lines, strict=True)]
