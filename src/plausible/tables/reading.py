"""Tables of any make: read whole, in chunks, or written.

Whatever a table comes as, a cell is missing or has the type of its column. Types are those of the
whole column: a stream has the same types as the table that is read at once.
"""

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from plausible.checks import check_path, check_texts, check_whole, guess, shown
from plausible.tables.arrow_files import IpcSource, MemorySource, ParquetSource
from plausible.tables.columns import repeated
from plausible.tables.content import ARROW, CSV, EXCEL, JSON, JSON_LINES, PARQUET, Content
from plausible.tables.csv_files import CsvSource
from plausible.tables.errors import TableError, arrow, listed
from plausible.tables.excel_files import ExcelSource
from plausible.tables.json_files import JsonSource
from plausible.tables.parquet_folders import ParquetFolder
from plausible.tables.source import CHUNK_ROWS, Source

READERS: dict[str, Callable[[Content], Source]] = {
    CSV: CsvSource,
    JSON_LINES: JsonSource,
    JSON: JsonSource,
    EXCEL: ExcelSource,
    PARQUET: ParquetSource,
    ARROW: IpcSource,
}
PROTOCOLS = "__arrow_c_stream__", "__arrow_c_array__", "__dataframe__"


def open_table(source: Any, whole: bool = False) -> Source:
    r"""A table, whatever it comes as: opened once, with its columns typed when asked for.

    Whoever will have all rows in memory at the same time says `whole`: text that is kept takes no
    more memory then.

    Examples
    --------
    >>> import io
    >>> from plausible.tables import open_table
    >>> table = open_table(io.StringIO("item;size\nx;1,5\ny;2,25\n"))
    >>> table.names, table.column("size").to_pylist()
    (['item', 'size'], [1.5, 2.25])
    >>> print(*table.notes, sep="\n")
    the file object: semicolons separate its cells
    the file object: column 'size' has decimal commas: '1,5' was read as 1.5
    """
    arrow()
    if isinstance(source, Source):
        return source
    if isinstance(source, TableStream):
        return source.table
    if isinstance(source, Mapping) or any(hasattr(source, name) for name in PROTOCOLS):
        return MemorySource(source)
    if not isinstance(source, str | os.PathLike) and not hasattr(source, "read"):
        what = type(source).__name__
        is_bare = what in ("list", "tuple", "ndarray")  # rows or columns without names
        raise TypeError(
            "A table should be a path, '-' for standard input, a file object, a data frame or a "
            f"mapping from names to columns, but a {what} came; "
            f"{'name its columns, as in {name: [...]}' if is_bare else 'give one of these'}."
        )
    if not hasattr(source, "read") and source != "-" and check_path(source, "A table").is_dir():
        return ParquetFolder(Path(source))
    content = Content(source, is_needed_whole=whole)
    if content.kind not in READERS:
        raise TableError(
            f"{content.name} should be a table", "it is a database", "read it with plausible.io"
        )
    return READERS[content.kind](content)


def add_reader(kind: str, reader: Callable[[Content], Source]) -> None:
    """Let a room above say how a kind of file is read that holds more than one table."""
    READERS[kind] = reader


def choose(table: Source, columns: Sequence[str] | str | None) -> list[str]:
    """The names of the columns that are asked for, all but an index of pandas by default."""
    if columns is None:
        return [name for name in table.names if name not in table.index]
    names = check_texts(columns, "columns")
    unknown = [name for name in names if name not in table.names]
    twice = repeated(names)
    have = f"its columns are {listed([repr(name) for name in table.names])}"
    if unknown:
        meant = guess(unknown[0], table.names)
        raise TableError(
            f"{table.name} should have a column {shown(unknown[0])}, but does not{meant or ';'} "
            f"{have}."
        )
    if twice or not names:
        asked = f"{twice[0]!r} was asked for twice" if twice else "none was asked for"
        raise TableError(f"Each column of {table.name} can be asked for once, but {asked}; {have}.")
    return names


class TableStream:
    """A table in chunks, read again at each pass; what `stream_table` returns.

    Attributes
    ----------
    schema : pyarrow.Schema
        Names and types of the columns.

    Examples
    --------
    >>> from plausible.io import stream_table
    >>> stream = stream_table({"a": [1, 2, 3], "b": ["x", None, "z"]}, chunk_rows=2)
    >>> stream.schema.names
    ['a', 'b']
    >>> [len(chunk) for chunk in stream]
    [2, 1]
    """

    def __init__(self, source: Any, chunk_rows: int, columns: Sequence[str] | str | None) -> None:
        self.chunk_rows = check_whole(chunk_rows, "chunk_rows", 1)
        self.table = open_table(source)
        self.names = choose(self.table, columns)

    @functools.cached_property
    def schema(self) -> Any:
        """Names and types of the columns, which are looked at when they are asked for."""
        return self.table.schema(self.names)

    def __iter__(self) -> Iterator[Any]:
        pa = arrow()
        held: list[Any] = []
        n_held = 0
        for batch in self.table.batches(self.names, rows=min(self.chunk_rows, CHUNK_ROWS)):
            while batch.num_rows:
                part = batch.slice(0, self.chunk_rows - n_held)
                batch = batch.slice(len(part))
                held.append(part)
                n_held += len(part)
                if n_held == self.chunk_rows:
                    yield pa.Table.from_batches(held, self.schema)
                    held, n_held = [], 0
        if held:
            yield pa.Table.from_batches(held, self.schema)


def stream_table(
    source: Any, chunk_rows: int = 65536, columns: Sequence[str] | str | None = None
) -> TableStream:
    r"""Chunks of a table that may be larger than memory.

    A text file of up to 128 MB is parsed once and kept. A longer one is read once before the first
    chunk, to learn the types of its columns; what comes from standard input or a file object is
    kept in a temporary file.

    Parameters
    ----------
    source, columns
        As for `read_table`.
    chunk_rows : int
        Rows in a chunk; the last one may have fewer.

    Returns
    -------
    stream : iterable of `pyarrow.Table`, as often as you like

    Examples
    --------
    >>> import io
    >>> for chunk in stream_table(io.StringIO("a,b\n1,x\n2,\n2.5,z\n"), chunk_rows=2):
    ...     print(chunk.to_pydict())
    {'a': [1.0, 2.0], 'b': ['x', None]}
    {'a': [2.5], 'b': ['z']}
    """
    return TableStream(source, chunk_rows, columns)


def read_table(source: Any, columns: Sequence[str] | str | None = None) -> Any:
    r"""A table from a file, from standard input, or from a data frame.

    Parameters
    ----------
    source : path, "-" for standard input, file object, data frame or mapping
        CSV with a header (also with tabs, semicolons, or compressed by gzip), JSON lines and lists
        of JSON objects, Excel ("book.xlsx" or "book.xlsx#Sheet"), Parquet and folders of Parquet
        files, Arrow and Feather; data frames of pandas, polars and others; {name: column}.
    columns : list of names, or one name, optional
        Columns to read, in this order; all by default.

    Returns
    -------
    table : pyarrow.Table
        Empty cells, NA, N/A, NaN and null are missing. Text in quotes is never NA.

    Examples
    --------
    >>> import io
    >>> table = read_table(io.StringIO("item,length,sure\n007,1.5,true\n008,NA,false\n"))
    >>> table.to_pydict()
    {'item': ['007', '008'], 'length': [1.5, None], 'sure': [True, False]}
    """
    table = open_table(source)
    names = choose(table, columns)
    return table.whole(names)
