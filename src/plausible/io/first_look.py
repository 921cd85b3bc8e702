"""One pass over a table that does not fit into memory: its column of items, and a sample of it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.io.features import find_named_id
from plausible.io.known import Known
from plausible.io.large_known import LargeKnown
from plausible.io.lookup import Lookup
from plausible.io.matching import is_usual
from plausible.io.pieces import Piece, give_back, pieces
from plausible.io.training import free_of
from plausible.models import is_row_name, says_id
from plausible.tables import Source, TableError, arrow, choose, counted, listed

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


def look_through(
    table: Source,
    known: Any,
    id: str | None,  # noqa: A002
    columns: Sequence[str] | None,
    on_unmatched: str,
    called: str | None,
) -> Looked:
    """One pass: which column holds the items, how many rows there are, and a sample of them."""
    free = [id] if id is not None else _names_of_rows(table, free_of(table, columns))
    lookup = known.lookup if isinstance(known, LargeKnown) else None
    if isinstance(known, Known) and known.items is not None:
        lookup = Lookup(arrow().array(known.items))
    counts = {name: np.zeros(len(known.labels), np.int32) for name in free if lookup is not None}
    sample = Sample(SAMPLE_ROWS)
    wanted = list(dict.fromkeys([*(columns or choose(table, None)), *free]))
    n_rows = 0
    for piece in pieces(table, wanted):
        for name, count in counts.items():
            places = lookup.places(piece.table.column(name))  # type: ignore[union-attr]
            np.add.at(count, places[places >= 0], 1)  # bincount would be as long as all items
        sample.add(piece.table, piece.start)
        n_rows += piece.table.num_rows
        last = _last_rows(piece)
    give_back()
    if not n_rows:
        raise TableError(
            f"{table.name} should have at least one row, but has only the names of its columns; "
            "add the data."
        )
    if lookup is None:
        if len(known.labels) != n_rows:
            raise TableError(
                f"Labels without a column of items should go with the rows of {table.name} in "
                f"order, but there are {len(known.labels)} labels and {n_rows} rows; add a column "
                "'item' to both."
            )
        named = find_named_id(Piece(table, sample.table(), 0), free)
        return Looked(named, None, sample.table(), n_rows, n_rows, [], last)
    name = _the_column(table, counts, called)
    items = None if isinstance(known, LargeKnown) else known.items
    lost = _check_counts(table, name, counts[name], items, on_unmatched)
    n_found = int((counts[name] > 0).sum())
    return Looked(name, lookup, sample.table(), n_rows, n_found, lost, last)


def _last_rows(piece: Piece) -> Piece:
    """The last rows of a piece."""
    n_rows = piece.table.num_rows
    first = max(n_rows - N_LAST, 0)
    return Piece(piece.longer, piece.table.slice(first), piece.start + first)


def _names_of_rows(table: Source, free: Sequence[str]) -> list[str]:
    """Columns that may name items: of whole numbers or text."""
    types = arrow().types
    schema = table.schema(list(free))
    return [
        field.name
        for field in schema
        if types.is_integer(field.type)
        or types.is_string(field.type)
        or types.is_large_string(field.type)
        or types.is_dictionary(field.type)
    ]


def _the_column(table: Source, counts: dict[str, NDArray[np.int32]], called: str | None) -> str:
    """The column that holds every item once; that with most of them if none does."""
    if not counts:
        raise TableError(
            f"A column of {table.name} should name the items, but none holds text or whole "
            "numbers; add one."
        )
    whole = [name for name, count in counts.items() if (count == 1).all()]
    if not whole:
        return max(counts, key=lambda name: int((counts[name] > 0).sum()))
    said_so = (
        lambda name: name == called,
        is_usual,
        lambda name: says_id(name) and not is_row_name(name),
    )
    for says in said_so:
        if said := [name for name in whole if says(name)]:
            whole = said
            break
    if len(whole) > 1:
        raise TableError(
            f"One column of {table.name} should name the items, but {len(whole)} hold all of them "
            f"({listed([repr(name) for name in whole])}); say which with id=."
        )
    return whole[0]


def _check_counts(
    table: Source,
    name: str,
    count: NDArray[np.int32],
    items: NDArray[Any] | None,
    on_unmatched: str,
) -> list[str]:
    """Items without a row, if they may be left out; items with several rows are refused."""
    twice, lost = (_called_by(items, np.flatnonzero(bad)) for bad in (count > 1, count == 0))
    if twice:
        raise TableError(
            f"Column {name!r} of {table.name} should name every row differently, but repeats "
            f"{counted(len(twice), 'item')} ({listed(twice)}); correct it, or name another column "
            "with id=."
        )
    if lost and (on_unmatched != "drop" or len(lost) == len(count)):
        raise TableError(
            f"Every item should have a row in {table.name}, matched by {name!r}, but "
            f"{counted(len(lost), 'item')} of {len(count)} {'has' if len(lost) == 1 else 'have'} "
            f"none ({listed(lost)}); add the rows, leave these items out with "
            "on_unmatched='drop', or name another column with id=."
        )
    return lost


def _called_by(items: NDArray[Any] | None, rows: NDArray[np.int64]) -> list[str]:
    """Items by their names, or by the rows of the table that they come from."""
    if items is None:
        return [f"that of row {row + 1}" for row in rows.tolist()]
    return [str(item) for item in items[rows].tolist()]


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
