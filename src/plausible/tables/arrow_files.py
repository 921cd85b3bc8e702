"""Parquet and Arrow files, data frames and other tables in memory, as record batches."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plausible.tables.columns import repeated, tidy, tidy_type
from plausible.tables.content import Content
from plausible.tables.csv_files import name_places
from plausible.tables.errors import TableError, arrow, first_line, listed, reading

CHUNK_ROWS = 16384


BUFFER_BYTES = 1 << 13  # of each column of a Parquet file, instead of all that a row group holds


class ArrowSource:
    """The rows of a table with types of its own: a file, or a table in memory."""

    what = "a table"

    def __init__(self, name: str) -> None:
        self.name = name
        with reading(name, self.what):
            self.given = self._schema()
            self.names = list(self.given.names)  # which may not be text, in a damaged file
        twice = repeated(self.names)
        if twice or not all(column.strip() for column in self.names):
            raise TableError(
                f"The columns of {name} should have different names, but "
                f"{listed([repr(column) for column in twice]) if twice else 'an empty one'} "
                f"{'come twice' if twice else 'was found'}; rename them."
            )
        self.index = _index_columns(self.given)

    def _schema(self) -> Any:
        raise NotImplementedError

    def _batches(self, columns: Sequence[str]) -> Iterator[Any]:
        raise NotImplementedError

    def schema(self, columns: Sequence[str]) -> Any:
        """Names and types of some columns."""
        return arrow().schema([(name, tidy_type(self.given.field(name).type)) for name in columns])

    def batches(self, columns: Sequence[str], typed: bool = True) -> Iterator[Any]:
        """Record batches of some columns."""
        rows, schema = [0], self.schema(columns)
        with reading(self.name, self.what, rows):
            for batch in self._batches(columns):
                arrays = [tidy(batch.column(name)) for name in columns]
                yield arrow().record_batch(arrays, schema=schema)
                rows[0] += batch.num_rows

    def lines(self, rows: Sequence[int]) -> list[int]:
        """None: there are no lines."""
        return []

    def where(self, rows: Sequence[int], count: int | None = None) -> str:
        """Name rows."""
        return name_places(self, rows, count)


class ParquetSource(ArrowSource):
    """The rows of a Parquet file."""

    what = "a Parquet file"

    def __init__(self, content: Content) -> None:
        self.content = content
        super().__init__(content.name)

    def _open(self) -> Any:
        # Without a buffer size, and with pre_buffer, whole row groups would be held in memory;
        # with a memory map, the whole file would come to count as memory of this process.
        return arrow(".parquet").ParquetFile(
            self.content.open_random(), pre_buffer=False, buffer_size=BUFFER_BYTES
        )

    def _schema(self) -> Any:
        with self._open() as file:
            return file.schema_arrow

    def _batches(self, columns: Sequence[str]) -> Iterator[Any]:
        with self._open() as file:
            if not file.num_row_groups:  # pyarrow 18 and 19 look for the last one
                return
            for batch in file.iter_batches(CHUNK_ROWS, columns=list(columns), use_threads=False):
                batch.validate(full=True)
                yield batch


class IpcSource(ArrowSource):
    """The rows of an Arrow file (or stream), also called Feather."""

    what = "an Arrow file"

    def __init__(self, content: Content) -> None:
        self.content = content
        super().__init__(content.name)

    def _read(self, columns: Sequence[str] | None) -> Iterator[Any]:
        """The schema, then record batches."""
        ipc = arrow(".ipc")
        is_file = self.content.head().startswith(b"ARROW1")
        with arrow().input_stream(self.content.open()) if not is_file else self._mapped() as file:
            reader = (ipc.open_file if is_file else ipc.open_stream)(file)
            yield reader.schema
            numbers = range(reader.num_record_batches) if is_file else None
            batches = reader if numbers is None else map(reader.get_batch, numbers)
            for batch in batches:
                batch = batch.select(list(columns or ()))
                batch.validate(full=True)  # before anything follows an offset that leads nowhere
                yield batch

    def _mapped(self) -> Any:
        place = self.content.open_random()
        return arrow().OSFile(place) if isinstance(place, str) else arrow().PythonFile(place)

    def _schema(self) -> Any:
        return next(self._read(None))

    def _batches(self, columns: Sequence[str]) -> Iterator[Any]:
        batches = self._read(columns)
        next(batches)
        for batch in batches:
            for start in range(0, batch.num_rows, CHUNK_ROWS):
                yield batch.slice(start, CHUNK_ROWS)


class MemorySource(ArrowSource):
    """The rows of a data frame, of a table of Arrow, or of a mapping from names to columns."""

    what = "a table with columns of one type each"

    def __init__(self, table: Any) -> None:
        self.reader: Any = None
        self.table: Any = None
        name = "the table" if isinstance(table, Mapping) else f"the {type(table).__name__}"
        try:
            self._take(table)
        except ImportError:
            raise
        except Exception as error:
            raise TableError(
                f"{name} should have columns of one type and length each, but has not "
                f"({first_line(error)}); bring each column to one type, and name columns by text."
            ) from error
        super().__init__(name)

    def _take(self, table: Any) -> None:
        pa = arrow()
        if isinstance(table, Mapping):
            self.table = pa.table({name: _column(table[name]) for name in table})
        elif isinstance(table, pa.RecordBatchReader):
            self.reader = table
        elif hasattr(table, "__arrow_c_stream__"):
            self.table = pa.RecordBatchReader.from_stream(table).read_all()
        elif hasattr(table, "__arrow_c_array__"):
            self.table = pa.table(table)
        else:
            self.table = arrow(".interchange").from_dataframe(table)

    def _schema(self) -> Any:
        return self.table.schema if self.table is not None else self.reader.schema

    def _batches(self, columns: Sequence[str]) -> Iterator[Any]:
        if self.table is not None:
            yield from self.table.select(list(columns)).to_batches(max_chunksize=CHUNK_ROWS)
            return
        if self.reader is None:
            raise TableError(
                f"{self.name} should be read once only, but is read again; read it into a table "
                "first, with read_table."
            )
        reader, self.reader = self.reader, None
        for batch in reader:
            yield batch.select(list(columns))


def _column(values: Any) -> Any:
    """A column that pyarrow takes: arrays of objects and lists keep the types of their items."""
    if hasattr(values, "tolist") and str(getattr(values, "dtype", "")) == "object":
        return values.tolist()
    return values if hasattr(values, "dtype") or hasattr(values, "type") else list(values)


def _index_columns(schema: Any) -> set[str]:
    """Columns that are the index of a data frame of pandas, which is left out unless asked for."""
    try:
        named = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
        return {name for name in named if isinstance(name, str)}
    except (ValueError, AttributeError, TypeError):
        return set()
