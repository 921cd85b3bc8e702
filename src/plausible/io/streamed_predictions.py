"""Decisions about more new items than fit into memory: read, decided and written in pieces."""

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from plausible.checks import check_whole
from plausible.engine import watched
from plausible.io.different_names import check_different, find_streamed_id
from plausible.io.features import ROWS, Features, id_columns
from plausible.io.last_rows import check_last_row
from plausible.io.pieces import PIECE_ROWS, Piece, pieces
from plausible.io.predictions import decisions_of, id_of_new, read_new
from plausible.io.spread import sent
from plausible.io.writing import write_table
from plausible.tables import Source, arrow, open_table

IN_FLIGHT = 2  # pieces for each worker of a cluster that are under way at a time


@dataclass
class Decided:
    """How many items were decided and refused, and what the first of them were.

    notes : what was assumed when the table was read
    """

    n_items: int = 0
    n_refused: int = 0
    first: Features | None = None
    notes: list[str] = field(default_factory=list)


def stream_predictions(
    model: Any,
    source: Any,
    path: str | os.PathLike[str],
    *,
    reject: float | None = None,
    client: Any = None,
    piece_rows: int = PIECE_ROWS,
    **options: Any,
) -> Decided:
    r"""Decide about the rows of a table piece by piece; the file is that of `write_predictions`.

    Parameters
    ----------
    model : fitted classifier
    source
        Of features, as for `read_table`.
    path, reject
        As for `write_predictions`.
    client : distributed.Client, optional
        Of a cluster whose workers decide about the pieces.
    piece_rows : int
    **options
        Of `read_new`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from plausible.models import SoftNearestCentroid
    >>> model = SoftNearestCentroid().fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    >>> new = {"item": ["x", "y", "z"], "size": [0.5, 2.9, 6.0]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "decisions.csv"
    ...     decided = stream_predictions(model, new, path, piece_rows=2)
    ...     print(*[line.split(",")[:2] for line in path.read_text().splitlines()], sep="\n")
    ['"item"', '"answer"']
    ['"x"', '"a"']
    ['"y"', '"b"']
    ['"z"', '"b"']
    >>> decided.n_items
    3
    """
    check_whole(piece_rows, "piece_rows", 1)
    table = open_table(source)
    told = Decided()
    name = _named_by(table, piece_rows, options)
    by_number = next(way for way in ROWS if way not in table.names)
    options = options | {"id": by_number if name is None else name}
    decide = partial(_decide_piece, model=model, reject=reject, options=options)
    parts = with_last_checked(pieces(table, table.names, piece_rows), name)
    found = _decided_pieces(decide, parts, client)
    tables = _counted_tables(found, told)
    first = next(tables)
    schema = arrow().schema([_with_text(field) for field in first.schema])

    def batches() -> Iterator[Any]:
        yield from first.cast(schema).to_batches()
        for one in tables:
            yield from one.cast(schema).to_batches()

    write_table(arrow().RecordBatchReader.from_batches(schema, batches()), path)
    told.notes = [str(note) for note in table.notes]  # complete after the last row
    return told


def _named_by(table: Source, piece_rows: int, options: dict[str, Any]) -> str | None:
    """The column that names all items differently; it is given as it is written from now on."""
    first = next(pieces(table, table.names, piece_rows), None)
    if first is None:
        return None
    names, asked, usual = (options.get(what) for what in ("names", "id", "usual"))
    name = id_of_new(first, names, asked, usual)
    if name is None or name in (asked, usual):
        if name is not None:
            check_different(table, name)
    else:
        name = find_streamed_id(table, first, id_columns(table, names))
    table.keep_written([] if name is None else [name])
    return name


def with_last_checked(parts: Iterator[Piece], name: str | None) -> Iterator[Piece]:
    """Pieces of a table, of which the last one may not end with a sum or a note."""
    held: Piece | None = None
    for piece in parts:
        if held is not None:
            yield held
        held = piece
    if held is not None:
        if name is not None:
            check_last_row(held, name)
        yield held


def _decided_pieces(decide: Any, parts: Iterator[Piece], client: Any) -> Iterator[Any]:
    """What is decided about pieces, in their order, here or on a cluster."""
    if client is None:
        yield from map(decide, parts)
        return
    shared = sent(client, decide)
    n_workers = max(len(client.scheduler_info(n_workers=-1)["workers"]), 1)
    watch = watched(client, "pieces of a table")
    under_way: deque[Any] = deque()
    for piece in parts:
        light = _replace_source(piece)
        under_way.append(client.submit(call, shared, light, pure=False))
        if len(under_way) >= IN_FLIGHT * n_workers:
            yield watch.gather([under_way.popleft()])[0]
    while under_way:
        yield watch.gather([under_way.popleft()])[0]


def call(function: Any, piece: Piece) -> Any:
    """What runs on a worker."""
    return function(piece)


def _replace_source(piece: Piece) -> Piece:
    """A piece that can travel: without the table that it is of."""
    return Piece(Named(piece.name), piece.table, piece.start)


class Named(Source):
    """A table of which only the name is known."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.names = name, []


def _decide_piece(
    piece: Piece, model: Any, reject: float | None, options: dict[str, Any]
) -> tuple[Any, int, Features | None]:
    """A table of decisions, how many are refusals, and the features if they are the first."""
    new = read_new(piece, **options)
    columns, decision = decisions_of(model, new, reject, new.names)
    if new.ids is None:
        columns["item"] = np.arange(piece.start, piece.start + len(new.X))
    return (
        arrow().table(columns),
        int(decision.refused.sum()),
        replace(new, ids=None if new.ids is None else new.ids[:1]) if piece.start == 0 else None,
    )


def _counted_tables(found: Iterator[Any], told: Decided) -> Iterator[Any]:
    """Tables, while what they hold is counted."""
    for table, n_refused, first in found:
        told.n_items += table.num_rows
        told.n_refused += n_refused
        told.first = told.first or first
        yield table


def _with_text(field: Any) -> Any:
    """A field of the table; a column that is empty in the first piece may hold text later."""
    pa = arrow()
    return pa.field(field.name, pa.string()) if pa.types.is_null(field.type) else field
