"""One pass over a table that does not fit into memory: its column of items, and a sample of it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from plausible.io.different_names import check_different, find_streamed_id, names_in
from plausible.io.features import id_columns
from plausible.io.lookup import Lookup
from plausible.io.matching import is_usual
from plausible.io.pieces import Piece, give_back, pieces
from plausible.io.streamed_matching import (
    Items,
    Tally,
    check_counts,
    find_column,
    may_name,
)
from plausible.tables import Source, TableError, arrow, choose

SAMPLE_ROWS = 100_000  # from which kinds and preparation of columns are learned
N_LAST = 100  # rows that are looked at to see whether the last one is no item


class Looked(NamedTuple):
    """What one pass over the features has found."""

    id: str | None
    lookup: Lookup | None
    sample: Any
    n_rows: int
    n_found: int
    dropped: list[str]
    last: Piece
    notes: list[str]


def look_through(
    table: Source,
    known: Any,
    id: str | None,  # noqa: A002
    columns: Sequence[str] | None,
    on_unmatched: str,
    called: str | None,
) -> Looked:
    """One pass: which column holds the items, how many rows there are, and a sample of them."""
    free = id_columns(table, columns)
    items = Items.of(known)
    wanted = list(dict.fromkeys([*(columns or choose(table, None)), *free]))
    names = [] if items is None else may_name(table, free if id is None else [id])
    exact = None if items is None else Tally(items.exact, names)
    valued = [name for name in names if table.is_valued(name)]
    sample, n_rows = Sample(SAMPLE_ROWS), 0
    for piece in pieces(table, wanted):
        for name in valued:
            exact.add(name, piece.table.column(name))  # type: ignore[union-attr]
        sample.add(piece.table, piece.start)
        n_rows += piece.table.num_rows
        last = _last_rows(piece)
    give_back()
    if not n_rows:
        raise TableError(
            f"{table.name} should have at least one row, but has only the names of its columns; "
            "add the data."
        )
    if items is None or exact is None:
        named = _in_order(table, known, free, sample.table(), n_rows)
        return Looked(named, None, sample.table(), n_rows, n_rows, [], last, [])
    if not any(name == called or is_usual(name) for name in exact.whole()):
        for name, column in names_in(table, [name for name in names if name not in valued]):
            exact.add(name, column)
    found = find_column(table, items, exact, called)
    lost = check_counts(table, found, items, on_unmatched)
    n_found = int((found.counts > 0).sum())
    if n_found < n_rows:  # others may be called alike
        check_different(table, found.name)
    return Looked(
        found.name, found.lookup, sample.table(), n_rows, n_found, lost, last, found.notes
    )


def _in_order(
    table: Source, known: Any, free: Sequence[str], sample: Any, n_rows: int
) -> str | None:
    """The column that names rows, where labels without items go with them in order."""
    if len(known.labels) != n_rows:
        raise TableError(
            f"Labels without a column of items should go with the rows of {table.name} in "
            f"order, but there are {len(known.labels)} labels and {n_rows} rows; add a column "
            "'item' to both."
        )
    return find_streamed_id(table, Piece(table, sample, 0), may_name(table, free))


def _last_rows(piece: Piece) -> Piece:
    """The last rows of a piece."""
    n_rows = piece.table.num_rows
    first = max(n_rows - N_LAST, 0)
    return Piece(piece.longer, piece.table.slice(first), piece.start + first)


class Sample:
    """Rows of a stream at equal distances, about as many as asked for; all if they are fewer."""

    def __init__(self, n_rows: int) -> None:
        self.most, self.step = 2 * n_rows, 1
        self.parts: list[tuple[Any, Any]] = []
        self.count = 0

    def add(self, table: Any, start: int) -> None:
        """Take some of the rows that follow row number `start`."""
        rows = np.arange(-start % self.step, table.num_rows, self.step)
        self.parts.append((table.take(rows), rows + start))
        self.count += len(rows)
        while self.count > self.most:
            self.step *= 2
            self.parts = [
                (part.filter(arrow().array(rows % self.step == 0)), rows[rows % self.step == 0])
                for part, rows in self.parts
            ]
            self.count = sum(len(rows) for _, rows in self.parts)

    def table(self) -> Any:
        """The rows so far."""
        return arrow().concat_tables([part for part, _ in self.parts])
