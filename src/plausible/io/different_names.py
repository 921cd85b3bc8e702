"""Whether names of rows are all different, in a column too long to hold.

A name is a number of 64 bits, as in `lookup`, and those of a share of all names are sorted at a
time, so that memory does not grow with the table. Names with the same number are compared.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.io.compact import Growing
from plausible.io.features import blank_names, find_named_id, repeated_names
from plausible.io.lookup import hash_names
from plausible.io.matching import is_usual
from plausible.io.pieces import Piece
from plausible.tables import Source, TableError, arrow, names_of

MOST_KEYS = 1 << 24  # names that are sorted at a time: 128 megabytes
MOST_SHOWN = 1000  # that are looked up where they come again


def names_in(table: Source, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Names and pieces of columns, as `Source.named` reads them, one after the other."""
    valued = [name for name in names if table.is_valued(name)]
    written = [name for name in names if name not in valued]
    for group, typed in ((valued, True), (written, False)):
        for batch in table.batches(group, typed) if group else ():
            yield from zip(group, batch.columns, strict=True)


def check_different(table: Source, name: str) -> None:
    """Refuse a column that does not name every row, or names some alike, as `read_ids` does."""
    n_shares, share = 1, 0
    while share < n_shares:
        keys = Growing(np.uint64)
        for start, column in _parts(table, name):
            if column.null_count:
                rows = np.flatnonzero(np.asarray(column.is_null(), dtype=bool)) + start + 1
                raise blank_names(table, name, rows.tolist())
            keys.add(_of_share(_keys(column), share, n_shares))
            while keys.count > MOST_KEYS:
                n_shares *= 2
                held, keys = keys.whole(), Growing(np.uint64)
                keys.add(_of_share(held, share, n_shares))
        whole = keys.whole()
        whole.sort()
        twice = whole[1:][whole[1:] == whole[:-1]]
        if len(twice):
            _check_values(table, name, twice[:MOST_SHOWN])
        share += 1


def _of_share(keys: NDArray[np.uint64], share: int, n_shares: int) -> NDArray[np.uint64]:
    return keys if n_shares == 1 else keys[keys % np.uint64(n_shares) == share]


def _parts(table: Source, name: str) -> Iterator[tuple[int, Any]]:
    """Pieces of a column of names, and the row at which each begins."""
    start = 0
    for _, column in names_in(table, [name]):
        yield start, names_of(column, name, table.name)
        start += len(column)


def _keys(column: Any) -> NDArray[np.uint64]:
    """A number for each name: itself if it is a whole one."""
    if arrow().types.is_integer(column.type):
        return np.asarray(column).astype(np.int64).view(np.uint64)
    return hash_names(column)


def _check_values(table: Source, name: str, keys: NDArray[np.uint64]) -> None:
    """Refuse names with some keys if they are the same."""
    rows: dict[Any, list[int]] = defaultdict(list)
    for start, column in _parts(table, name):
        hits = np.flatnonzero(np.isin(_keys(column), keys))
        for row, value in zip(hits.tolist(), column.take(hits).to_pylist(), strict=True):
            rows[value].append(start + row + 1)
    again = {value: places for value, places in rows.items() if len(places) > 1}
    if again:
        every = sorted(row for places in again.values() for row in places)
        first = min(again, key=lambda value: again[value][0])
        raise repeated_names(table, name, first, every)


def find_streamed_id(table: Source, some: Piece, free: Sequence[str]) -> str | None:
    """As `find_named_id`, from some rows of a table, whose names all of them have to differ."""
    left = list(free)
    while (name := find_named_id(some, left)) is not None:
        try:
            check_different(table, name)
        except TableError:
            if is_usual(name):
                raise
            left.remove(name)
        else:
            return name
    return None
