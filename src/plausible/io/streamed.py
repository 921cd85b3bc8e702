"""What is known and the features that go with it, where the features do not fit into memory.

As `read_training`, but features stay where they are: one pass finds the column of items and draws
a sample, from which kinds of columns and their preparation are learned; then every pass of a fit
reads the table again, piece by piece, here or on the workers of a cluster.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from plausible.base import FeatureTable, NamedArray, bets_of_masses
from plausible.checks import check_option, check_text, check_texts
from plausible.engine import Rows, StreamRows
from plausible.io.features import ROWS, check_id, check_kinds, read_with_id
from plausible.io.first_look import Looked, look_through
from plausible.io.known import Known
from plausible.io.label_features import check_no_labels
from plausible.io.large_known import read_large_known
from plausible.io.last_rows import check_last_row
from plausible.io.lookup import Lookup
from plausible.io.pieces import Piece, give_back, has_many_items, pieces
from plausible.io.training import names_beside, read_beside
from plausible.labels import Labels
from plausible.models import NUMBER
from plausible.tables import (
    Source,
    TableError,
    TableStream,
    arrow,
    choose,
    counted,
    listed,
    open_table,
    stream_table,
    without_nan,
)

MOST_COMPARED = 10_000  # labeled rows that show whether a feature repeats the labels
FAST_ROWS = 1 << 15  # in a piece of which numbers alone are read


class StreamedTraining(NamedTuple):
    """Where features are, and what is known about some of their rows; of `stream_training`.

    Attributes
    ----------
    X : NamedArray or FeatureTable
        A sample of the features: rows at equal distances.
    labels : Labels
        Of the items that are known, in their own order.
    names, kinds, id, known, notes
        As in `Training`.
    n_rows, n_labeled : int
    reader : Reader
        Gives the rows.

    Examples
    --------
    >>> labels = {"item": ["x", "y"], "label": ["cat", "dog"]}
    >>> features = {"item": ["z", "y", "x"], "length": [1.0, 2.0, 3.0]}
    >>> training = stream_training(labels, features)
    >>> training.stream().peek()
    (array([[1.],
           [2.],
           [3.]]), array([[1., 1.],
           [0., 1.],
           [1., 0.]]), None, array([False, False, False]))
    """

    X: Any
    labels: Any
    names: list[str]
    kinds: dict[str, str]
    id: str | None
    known: Any
    notes: list[str]
    n_rows: int
    n_labeled: int
    reader: "Reader"

    def stream(self, preparation: Any = None, client: Any = None, bets: bool = False) -> Rows:
        """Rows for a fit, prepared by a fitted transformer; on a cluster with a client of it.

        Labels are plausibilities; with `bets`, those that hold masses are their bets.
        """
        reader = self.reader.prepared_by(preparation)
        if bets and isinstance(reader.labels, Labels):
            reader = replace(reader, labels=bets_of_masses(reader.labels))
        if client is None:
            return StreamRows(reader)
        from plausible.io.spread import spread_rows

        return spread_rows(reader, client)

    def labeled(self, most: int) -> tuple[Any, Labels]:
        """The first rows, up to a number, whose labels say something, and these."""
        give_back()  # what a fit took
        parts, count = [], 0
        for piece, labels in self.reader.raw_chunks(0, self.n_rows):
            says = np.flatnonzero(labels.informativeness > 0)[: most - count]
            if len(says):
                parts.append((piece[says], labels[says]))
                count += len(says)
            if count >= most:
                break
        if not parts:
            return self.X[:0], Labels.unknown(0, self.labels.classes.tolist())
        X = [part for part, _ in parts]
        return _joined_rows(X), Labels.concatenate([labels for _, labels in parts])


@dataclass(frozen=True)
class Reader:
    """Features and labels of a table, read again at each pass.

    source : what the table is opened from, here or on a worker
    names, kinds, missing : what is read, and how
    id : column of items, None if labels go with rows in order
    lookup, labels : the known items; the last label is that of all other rows
    """

    source: Any
    names: list[str]
    kinds: Mapping[str, str] | None
    missing: Sequence[str]
    id: str | None
    lookup: Lookup | None
    labels: Any
    n_rows: int
    first_row: int = 0
    preparation: Any = None
    opened: list[Source] = field(default_factory=list, compare=False)

    @property
    def classes(self) -> list[Any]:
        """Names of the classes."""
        return self.labels.classes.tolist()

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the features; None of prepared ones, whose columns are others."""
        return self.names if self.preparation is None else None

    def prepared_by(self, preparation: Any) -> "Reader":
        """The same rows, transformed."""
        return Reader(
            self.source, self.names, self.kinds, self.missing, self.id, self.lookup, self.labels,
            self.n_rows, self.first_row, preparation, self.opened,
        )  # fmt: skip

    def table(self) -> Source:
        """The table, opened once."""
        if not self.opened:
            self.opened.append(open_table(self.source))
            if self.id is not None:
                self.opened[0].keep_written([self.id])
        return self.opened[0]

    def __iter__(self) -> Iterator[tuple[Any, Labels, None]]:
        return self.chunks(0, self.n_rows)

    def chunks(self, first: int, stop: int) -> Iterator[tuple[Any, Labels, None]]:
        """Features, prepared, and labels of the rows from one to another."""
        for X, labels in self.raw_chunks(first, stop):
            ready = np.asarray(X) if self.preparation is None else self.preparation.transform(X)
            yield ready, labels, None

    def raw_chunks(self, first: int, stop: int) -> Iterator[tuple[Any, Labels]]:
        """Features with their names, and labels, of the rows from one to another."""
        columns = self.names if self.id is None else [self.id, *self.names]
        gaps = self.id is not None or not self.holds_numbers
        for piece in pieces(self.table(), columns, FAST_ROWS, first, gaps):
            if piece.start >= stop:
                return
            if piece.start + piece.table.num_rows > stop:
                piece = Piece(piece.longer, piece.table.slice(0, stop - piece.start), piece.start)
            yield self.features(piece), self.labels_of(piece)

    @property
    def holds_numbers(self) -> bool:
        """Whether all features are numbers."""
        return set((self.kinds or {}).values()) <= {NUMBER}

    def features(self, piece: Piece) -> Any:
        """The features of some rows."""
        if self.holds_numbers:
            X = _fast_numbers(piece, self.names, self.kinds is None)
            if X is not None:
                return NamedArray(X, self.names)
            columns = [without_nan(column) for column in piece.table.columns]
            table = arrow().table(columns, names=piece.table.schema.names)
            piece = Piece(piece.longer, table, piece.start)
        return read_with_id(piece, None, self.names, self.kinds, self.missing).X

    def labels_of(self, piece: Piece) -> Labels:
        """The labels of some rows."""
        if self.lookup is None:
            return self.labels[piece.start : piece.start + piece.table.num_rows]
        assert self.id is not None
        return self.labels[self.lookup.places(piece.table.column(self.id))]


def _joined_rows(parts: list[Any]) -> Any:
    """Features of some rows after those of others."""
    if isinstance(parts[0], NamedArray):
        return NamedArray(np.concatenate(parts), parts[0].names)
    return FeatureTable(
        {name: np.concatenate([part[name] for part in parts]) for name in parts[0].columns}
    )


def _fast_numbers(piece: Piece, names: Sequence[str], may_be_single: bool) -> Any:
    """A matrix of columns that are plain finite numbers, else None.

    Where they will be prepared, numbers in single precision become double ones, as in memory.
    """
    types = arrow().types
    found = [piece.table.column(name) for name in names]
    if any(column.null_count for column in found):
        return None
    if not all(types.is_floating(one.type) or types.is_integer(one.type) for one in found):
        return None
    single = may_be_single and all(types.is_float32(column.type) for column in found)
    rows = np.empty((len(names), piece.table.num_rows), np.float32 if single else np.float64)
    for row, column in zip(rows, found, strict=True):
        row[:] = column.to_numpy()
    return rows.T if np.isfinite(rows).all() else None


def stream_training(
    known: Any,
    features: Any,
    *,
    id: str | None = None,  # noqa: A002
    columns: Sequence[str] | None = None,
    kinds: str | Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    on_unmatched: str = "raise",
    **options: Any,
) -> StreamedTraining:
    r"""Features and labels of the same items, of which the features are never held together.

    Parameters
    ----------
    known, features, id, columns, kinds, missing, on_unmatched, **options
        As for `read_training`. Items are matched as there, with the same notes and refusals; only
        blanks around names are not told.

    Examples
    --------
    >>> labels = {"item": ["x", "y"], "label": ["cat", "dog"]}
    >>> features = {"item": ["z", "y", "x"], "length": [1.0, 2.0, 3.0]}
    >>> print(*stream_training(labels, features).notes, sep="\n")
    the table: labels of 2 items; 2 say something; classes cat, dog (2 in all)
    the table: 3 rows of 1 feature (length), matched by 'item', read in pieces
    1 row has no label: it counts as unknown
    """
    check_option(on_unmatched, ("raise", "drop"), "on_unmatched")
    wanted, words = check_kinds(kinds), list(check_texts(missing, "missing", "words"))
    stream = stream_table(features)
    table = open_table(stream)
    asked = None if columns is None else choose(table, columns)
    by_row = id is not None and check_text(id, "id") in ROWS and id not in table.names
    if id is not None and not by_row:
        check_id(table, id)
    known, called = _read_what_is_known(known, stream, id, asked, options)
    if by_row and known.items is not None:
        raise TableError(
            f"Items of {table.name} should be named by a column, because it is read in pieces, but "
            f"{id!r} came; add a column of items."
        )
    looked = look_through(table, known, None if by_row else id, asked, on_unmatched, called)
    name, sample = looked.id, Piece(table, looked.sample, 0)
    table.keep_written([] if name is None else [name])
    read = read_with_id(sample, None, without(asked or choose(table, None), name), wanted, words)
    if name is not None:
        check_last_row(looked.last, name)
    is_path = isinstance(features, str | os.PathLike) and features != "-"
    labels = known.labels  # of very many items, the place -1 is that of an unknown one already
    if isinstance(known, Known) and looked.lookup is not None:
        labels = with_unknown(labels)
    reader = Reader(
        source=os.path.abspath(features) if is_path else features,
        names=read.names,
        kinds=None if wanted is None else read.kinds,
        missing=words,
        id=name,
        lookup=looked.lookup,
        labels=labels,
        n_rows=looked.n_rows,
        opened=[table],
    )
    n_labeled = looked.n_rows if looked.lookup is None else looked.n_found
    told = notes_of(table, known, looked, read, name)
    training = StreamedTraining(
        read.X, known.labels, read.names, read.kinds, name, known, told, looked.n_rows, n_labeled,
        reader,
    )  # fmt: skip
    told += check_no_labels(
        labels.classes, read, table, wanted, lambda: training.labeled(MOST_COMPARED)
    )
    return training


def _read_what_is_known(
    known: Any,
    features: TableStream,
    id: str | None,  # noqa: A002
    columns: Sequence[str] | None,
    options: dict[str, Any],
) -> tuple[Any, str | None]:
    """What is known, itself in pieces where it is too much, and what its items are called."""
    if isinstance(known, Known):
        return known, None
    if not isinstance(known, str) or known != "-":
        table = open_table(known)
        if has_many_items(table):
            names, _ = names_beside(table, features.table, id, columns, options)
            give_back()
            large = read_large_known(table, options | ({"names": names} if names else {}))
            if large is not None:
                return large, large.called
        known = table
    return read_beside(known, features, id, columns, options)


def with_unknown(labels: Labels) -> Labels:
    """Labels, and behind them one that says nothing, for the place -1."""
    return Labels.concatenate([labels, Labels.unknown(1, labels.classes.tolist())])


def without(names: Sequence[str], name: str | None) -> list[str]:
    """All names but one."""
    return [one for one in names if one != name]


def notes_of(table: Source, known: Any, looked: Looked, read: Any, name: str | None) -> list[str]:
    """What was assumed, in words."""
    how = f"matched by {name!r}" if looked.lookup is not None else "matched in order"
    notes = [
        *known.notes,
        f"{table.name}: {counted(looked.n_rows, 'row')} of {counted(len(read.names), 'feature')} "
        f"({listed(read.names, len(read.names))}), {how}, read in pieces",
        *looked.notes,
        *read.notes,
    ]
    n_sampled = len(read.X)
    if n_sampled < looked.n_rows:
        notes.append(f"what columns hold was learned from {n_sampled} rows at equal distances")
    left = looked.n_rows - looked.n_found
    if left:
        notes.append(
            f"{counted(left, 'row')} {'has' if left == 1 else 'have'} no label: "
            f"{'it counts' if left == 1 else 'they count'} as unknown"
        )
    if looked.dropped:
        notes.append(
            f"{counted(len(looked.dropped), 'item')} left out without a row of features "
            f"({listed(looked.dropped)})"
        )
    return notes
