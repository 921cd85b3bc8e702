"""Tables into files, by the end of the file's name; whole or not at all."""

import gzip
import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plausible.checks import check_path, guess
from plausible.engine import atomic_file
from plausible.tables import (
    ARROW,
    CSV,
    EXCEL,
    JSON,
    JSON_LINES,
    KINDS,
    PARQUET,
    TableError,
    TableStream,
    arrow,
)


@contextmanager
def new_file(path: Any) -> Iterator[Any]:
    """A file that takes its name in the end, in a folder that must exist; "-" is standard output.

    Standard output, too, gets the whole file or nothing.
    """
    if isinstance(path, str) and path == "-":
        content = io.BytesIO()
        yield content
        sys.stdout.buffer.write(content.getbuffer())
        sys.stdout.buffer.flush()
        return
    path = check_path(path)
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise FileNotFoundError(
            f"{str(path)!r} should be a file in a folder that exists, but "
            f"{'is a folder' if path.is_dir() else 'its folder does not'}; "
            f"{'name a file in it' if path.is_dir() else 'create the folder'}, or choose another."
        )
    with atomic_file(path) as file:
        yield file


def write_table(table: Any, path: str | os.PathLike[str]) -> None:
    """Write a table as CSV, JSON, Parquet or Arrow, by the end of the name.

    The file is there in whole or not at all: an exception or Ctrl-C leaves what was there.

    Parameters
    ----------
    table : mapping from names to columns, data frame, table of Arrow, `TableStream`, or path
        Streams and files are copied in chunks, so that they may be larger than memory.
    path : path ending in .csv, .tsv, .jsonl, .ndjson, .json, .parquet, .arrow or .feather
        With .gz behind for compressed text. "-" is CSV on standard output.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from plausible.io import read_table, write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "data.csv"
    ...     write_table({"item": ["a", "b"], "length": [1.5, None]}, path)
    ...     print(path.read_text())
    ...     read_table(path).to_pydict()
    "item","length"
    "a",1.5
    "b",
    <BLANKLINE>
    {'item': ['a', 'b'], 'length': [1.5, None]}
    """
    kind, is_tabbed, is_compressed = kind_of_name(path)
    stream = table if isinstance(table, TableStream) else TableStream(table, 65536, None)
    with new_file(path) as file:
        try:
            if not is_compressed:
                _write(stream, file, kind, is_tabbed)
            else:
                # Without a name and a time, equal tables give equal files.
                with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                    _write(stream, packed, kind, is_tabbed)
        except arrow().ArrowException as error:
            raise TableError(
                f"The columns of a {kind} file should hold numbers, text, dates or truth values, "
                f"but {_nested(stream)}; leave it out or turn it into text."
            ) from error


def _nested(stream: TableStream) -> str:
    """Which column has cells that hold several values."""
    types = arrow().types
    names = [field.name for field in stream.schema if types.is_nested(field.type)]
    return f"{names[0]!r} has several values in a cell" if names else "a column cannot be written"


def kind_of_name(path: str | os.PathLike[str]) -> tuple[str, bool, bool]:
    """The kind of file that a name asks for, whether with tabs, and whether compressed."""
    if isinstance(path, str) and path == "-":
        return CSV, False, False
    name = check_path(path).name.lower()
    is_compressed = name.endswith(".gz")
    ending = Path(name.removesuffix(".gz")).suffix
    known = [known for known, kind in KINDS.items() if known != ".txt" and kind != EXCEL]
    kind = KINDS.get(ending) if ending in known else None
    if kind is None or (is_compressed and kind in (PARQUET, ARROW)):
        raise TableError(
            f"The name of a table should end in {', '.join(known)} (and .gz for text), but "
            f"{Path(path).name!r} came{guess(ending, known) or '; choose one of these.'}"
        )
    return kind, ending == ".tsv", is_compressed


def _write(stream: TableStream, file: Any, kind: str, is_tabbed: bool) -> None:
    if kind == CSV:
        _write_csv(stream, file, "\t" if is_tabbed else ",")
    elif kind in (JSON_LINES, JSON):
        _write_json(stream, file, kind == JSON)
    elif kind == PARQUET:
        with arrow(".parquet").ParquetWriter(file, stream.schema) as writer:
            for chunk in stream:
                writer.write_table(chunk)
    else:
        options = arrow(".ipc").IpcWriteOptions(compression="lz4")
        with arrow(".ipc").new_file(file, stream.schema, options=options) as writer:
            for chunk in stream:
                writer.write_table(chunk)


def _write_json(stream: TableStream, file: Any, is_list: bool) -> None:
    """Objects on lines, or in a list."""
    between = b"[\n" if is_list else b""
    for chunk in stream:
        for row in chunk.to_pylist():
            file.write(between + json.dumps(row, ensure_ascii=False, default=str).encode())
            between = b",\n" if is_list else b"\n"
    end = b"\n" if between in (b"\n", b",\n") else b""
    file.write(end + (b"]\n" if between == b",\n" else b"[]\n" if is_list else b""))


def _write_csv(stream: TableStream, file: Any, delimiter: str) -> None:
    pcsv, pa = arrow(".csv"), arrow()
    schema, alone = stream.schema, len(stream.schema) == 1
    if alone:  # an empty line would be no row, so that a missing cell is written as ""
        schema = pa.schema([(schema.names[0], pa.string())])
    options = pcsv.WriteOptions(delimiter=delimiter, quoting_style="all_valid" if alone else None)
    with pcsv.CSVWriter(file, schema, write_options=options) as writer:
        for chunk in stream:
            if alone:
                text = chunk.column(0).cast(pa.string())
                chunk = pa.table([arrow(".compute").fill_null(text, "")], schema=schema)
            writer.write_table(chunk)
