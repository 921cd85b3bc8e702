"""A table too long to hold, piece by piece: each is a table that knows which rows it holds."""

import ctypes
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from plausible.tables import Source, arrow, counted

LARGE = 1 << 28  # bytes of a table in memory from which it is read in pieces
MANY_ITEMS = 1 << 21  # whose names and labels take some hundred megabytes
PIECE_ROWS = 1 << 16
TEXT_BYTES = 0.5  # of a text file for a byte in memory: digits take more than the numbers they are
PACKED = 5  # bytes of text for a byte that is compressed


class Piece(Source):
    """Some rows of a table in memory; errors name rows as they are counted in the whole table."""

    def __init__(self, whole: Source, table: Any, start: int) -> None:
        super().__init__()
        self.longer, self.table, self.start = whole, table, start
        self.name, self.names, self.n_rows = whole.name, list(table.schema.names), table.num_rows
        self.notes, self.index = [], set()

    def schema(self, columns: Sequence[str]) -> Any:
        """Names and types of some columns."""
        return self.table.select(list(columns)).schema

    def batches(
        self,
        columns: Sequence[str],
        typed: bool = True,
        rows: int | None = None,
        gaps: bool = True,
    ) -> Iterator[Any]:
        """Record batches of some columns."""
        yield from self.table.select(list(columns)).to_batches(max_chunksize=rows)

    def lines(self, rows: Sequence[int]) -> list[int]:
        """Lines on which some rows, in rising order, begin."""
        return self.longer.lines([row + self.start for row in rows])

    def places(self, rows: Sequence[int]) -> list[str]:
        """``"row 3 on line 4"`` for some rows."""
        return self.longer.places([row + self.start for row in rows])


class Part(Piece):
    """Rows of a table that were dealt out: where they stood is not known any more."""

    def lines(self, rows: Sequence[int]) -> list[int]:
        """None."""
        return []

    def where(self, rows: Sequence[int], count: int | None = None) -> str:
        """``"2 rows"``."""
        return counted(count or len(rows), "row")

    def places(self, rows: Sequence[int]) -> list[str]:
        """``"a row"`` for some rows."""
        return ["a row" for _ in rows]


def pieces(
    table: Source,
    columns: Sequence[str],
    rows: int = PIECE_ROWS,
    first: int = 0,
    gaps: bool = True,
) -> Iterator[Piece]:
    """The rows of a table from one on, some of them at a time; without `gaps`, NaN may stay."""
    pa = arrow()
    schema = table.schema(list(columns))
    held, count = [], 0
    start, batches = table.batches_from(list(columns), first, gaps)
    for batch in batches:
        if start + count + batch.num_rows <= first:
            start += batch.num_rows
            continue
        if start < first:
            batch, start = batch.slice(first - start), first
        while batch.num_rows:
            part = batch.slice(0, rows - count)
            batch = batch.slice(part.num_rows)
            held.append(part)
            count += part.num_rows
            if count == rows:
                yield Piece(table, pa.Table.from_batches(held, schema), start)
                start, held, count = start + count, [], 0
    if held:
        yield Piece(table, pa.Table.from_batches(held, schema), start)


def give_back() -> None:
    """Give memory that pieces took back to the system, which allocators would keep for later."""
    arrow().default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:  # of glibc alone
        trim(0)


def has_many_items(table: Source) -> bool:
    """Whether a table of answers or labels is of so many items that they take much memory."""
    if table.n_rows is not None:
        return table.n_rows > MANY_ITEMS
    return is_large(table)


def is_large(table: Source) -> bool:
    """Whether a table would take much memory: by its rows where their number is known, or bytes."""
    if table.n_rows is not None:
        return table.n_rows * len(table.names) * 8 > LARGE
    path = getattr(getattr(table, "content", None), "path", None)
    if path is None:  # what came by a pipe, and is kept in a temporary file
        return False
    packed = PACKED if table.content.is_compressed else 1.0  # type: ignore[attr-defined]
    return bool(path.stat().st_size * packed * TEXT_BYTES > LARGE)
