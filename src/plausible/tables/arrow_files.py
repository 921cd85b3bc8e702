"""Parquet and Arrow files, data frames and other tables in memory, as record batches."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from plausible.tables.columns import repeated, tidy, tidy_type
from plausible.tables.content import ARROW, PARQUET, Content
from plausible.tables.errors import TableError, arrow, first_line, listed, reading
from plausible.tables.source import CHUNK_ROWS, Source

TOGETHER = 4  # short row groups are read at once up to this part of a group's most rows
BUFFER_BYTES = 1 << 13  # of each column of a Parquet file, instead of all that a row group holds


class ArrowSource(Source):
    """The rows of a table with types of its own: a file, or a table in memory."""

    what = "a table"

    def __init__(self, name: str) -> None:
        super().__init__()
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

    def _batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:
        raise NotImplementedError

    def schema(self, columns: Sequence[str]) -> Any:
        """Names and types of some columns."""
        return arrow().schema([(name, tidy_type(self.given.field(name).type)) for name in columns])

    def batches(
        self,
        columns: Sequence[str],
        typed: bool = True,
        rows: int | None = None,
        gaps: bool = True,
    ) -> Iterator[Any]:
        """Record batches of some columns."""
        return self._tidied(self._batches(columns, rows or CHUNK_ROWS), columns, gaps)

    def _tidied(
        self, batches: Iterator[Any], columns: Sequence[str], gaps: bool = True, first: int = 0
    ) -> Iterator[Any]:
        """Batches as all tables have them, of rows from one on."""
        pa, done, schema = arrow(), [first], self.schema(columns)
        ready = {f.name for f in schema if not gaps and f.type == self.given.field(f.name).type}
        with reading(self.name, self.what, done):
            for batch in batches:
                n_rows = batch.num_rows
                arrays = [
                    batch.column(name) if name in ready else tidy(batch.column(name))
                    for name in columns
                ]
                del batch  # or it would still be held while the next one is read
                yield pa.record_batch(arrays, schema=schema)
                del arrays
                done[0] += n_rows

    def named_all(self, names: Sequence[str]) -> list[Any]:
        """Several columns of names, in one pass."""
        return list(self.whole(names).columns)


class ParquetSource(ArrowSource):
    """The rows of a Parquet file."""

    format = PARQUET
    what = "a Parquet file"

    def __init__(self, content: Content) -> None:
        self.content = content
        super().__init__(content.name)

    def _open(self, metadata: Any = None) -> Any:
        # Without a buffer size, and with pre_buffer, whole row groups would be held in memory;
        # with a memory map, the whole file would come to count as memory of this process.
        return arrow(".parquet").ParquetFile(
            self.content.open_random(),
            metadata=metadata,
            pre_buffer=False,
            buffer_size=BUFFER_BYTES,
        )

    def _schema(self) -> Any:
        with self._open() as file:
            self.n_rows = file.metadata.num_rows
            self.group_rows = _group_rows(file)
            return file.schema_arrow

    def batches_from(
        self, columns: Sequence[str], first: int, gaps: bool = True
    ) -> tuple[int, Iterator[Any]]:
        """Typed batches from the beginning of a row's group on, and the row where that is."""
        start, group = 0, 0
        while group < len(self.group_rows) and start + self.group_rows[group] <= first:
            start, group = start + self.group_rows[group], group + 1
        batches = self._batches(columns, CHUNK_ROWS, group)
        return start, self._tidied(batches, columns, gaps, first=start)

    def groups(
        self, columns: Sequence[str], most_rows: int
    ) -> list[tuple[int, Callable[[], Any]]] | None:
        """Rows of each row group, or of several short ones, and what reads them."""
        if not self.content.is_plain_file:  # of which each thread has a handle of its own
            return None
        with reading(self.name, self.what), self._open() as file:
            metadata, lengths = file.metadata, _group_rows(file)
        if max(lengths, default=0) > most_rows:
            return None
        found: list[tuple[int, Callable[[], Any]]] = []
        start = 0
        for numbers in _together(lengths, most_rows // TOGETHER):
            n_rows = sum(lengths[number] for number in numbers)
            found.append((n_rows, partial(self._groups, metadata, list(columns), numbers, start)))
            start += n_rows
        return found

    def _groups(self, metadata: Any, columns: list[str], numbers: list[int], start: int) -> Any:
        def batches() -> Iterator[Any]:
            with self._open(metadata) as file:
                yield from file.read_row_groups(numbers, columns, use_threads=False).to_batches()

        schema = self.schema(columns)
        found = list(self._tidied(_validated(batches()), columns, gaps=False, first=start))
        return arrow().Table.from_batches(found, schema)

    def _batches(self, columns: Sequence[str], size: int, group: int = 0) -> Iterator[Any]:
        pa = arrow()
        # On two cores, which are busy with sums, threads would only add to the work.
        use_threads = pa.cpu_count() > 2
        with self._open() as file:
            groups = range(group, file.num_row_groups)
            if not groups:  # pyarrow 18 and 19 look for the last one
                return
            size = _evenly(size, _group_rows(file)[group])
            yield from _validated(
                file.iter_batches(
                    size, list(groups), columns=list(columns), use_threads=use_threads
                )
            )
        pa.default_memory_pool().release_unused()  # or the next pass comes on top of it


def _group_rows(file: Any) -> list[int]:
    return [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]


def _together(lengths: list[int], most_rows: int) -> list[list[int]]:
    """Numbers of groups that are read at once: as many as have so few rows, or one."""
    runs: list[list[int]] = []
    count = 0
    for number, n_rows in enumerate(lengths):
        if runs and (count + n_rows <= most_rows or not n_rows):
            runs[-1].append(number)
            count += n_rows
        else:
            runs.append([number])
            count = n_rows
    return runs


def _validated(batches: Iterator[Any]) -> Iterator[Any]:
    """The same batches, looked at before anything follows an offset that leads nowhere."""
    for batch in batches:
        batch.validate(full=True)
        yield batch
        del batch  # or it would still be held while the next one is read


def _evenly(size: int, group_rows: int) -> int:
    """Rows of batches that do not reach from a long group into the next, which takes a copy."""
    return size if group_rows < size else -(-group_rows // -(-group_rows // size))


class IpcSource(ArrowSource):
    """The rows of an Arrow file (or stream), also called Feather."""

    format = ARROW
    what = "an Arrow file"

    def __init__(self, content: Content) -> None:
        self.content = content
        super().__init__(content.name)

    def _open(self) -> Any:
        """A file at any place of which batches stand, or a stream of them."""
        if not self.content.head().startswith(b"ARROW1"):
            return arrow().input_stream(self.content.open())
        place = self.content.open_random()
        return arrow().memory_map(place) if isinstance(place, str) else arrow().PythonFile(place)

    def _reader(self, file: Any, columns: Sequence[str] | None = None) -> Any:
        ipc = arrow(".ipc")
        is_file = self.content.head().startswith(b"ARROW1")
        names = None if columns is None else [self.names.index(name) for name in columns]
        options = ipc.IpcReadOptions(included_fields=names)
        return (ipc.open_file if is_file else ipc.open_stream)(file, options=options)

    def _schema(self) -> Any:
        with self._open() as file:
            return self._reader(file).schema

    def _whole_batches(self, columns: Sequence[str]) -> Iterator[Any]:
        if not self.content.head().startswith(b"ARROW1"):
            with self._open() as file:
                yield from self._reader(file, columns)
            return
        number, n_batches = 0, 1
        while number < n_batches:
            # Mapped again for each batch: what is mapped and was read counts as memory.
            with self._open() as file:
                reader = self._reader(file, columns)
                n_batches = reader.num_record_batches
                if n_batches:
                    yield reader.get_batch(number)
                del reader
            number += 1

    def _batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:
        for batch in self._whole_batches(columns):
            batch.validate(full=True)  # before anything follows an offset that leads nowhere
            for start in range(0, batch.num_rows, size):
                yield batch.slice(start, size)
            del batch


class MemorySource(ArrowSource):
    """The rows of a data frame, of a table of Arrow, or of a mapping from names to columns."""

    what = "a table with columns of one type each"

    def __init__(self, table: Any) -> None:
        self.reader: Any = None
        self.table: Any = None
        name = "the table" if isinstance(table, Mapping) else f"the {type(table).__name__}"
        _check_columns(table, name)
        try:
            self._take(table)
        except ImportError:
            raise
        except Exception as error:
            raise TableError(
                f"{name} should have columns of one type and length each, but does not "
                f"({first_line(error)}); bring each column to one type, and name columns by text."
            ) from error
        super().__init__(name)

    def _take(self, table: Any) -> None:
        pa = arrow()
        if isinstance(table, Mapping):
            self.table = pa.table({name: _column(table[name]) for name in table})
        elif isinstance(table, pa.RecordBatchReader):
            self.reader = table
        elif any(type(kind).__name__ == "SparseDtype" for kind in getattr(table, "dtypes", ())):
            self.table = pa.Table.from_pandas(_densified(table))
        elif hasattr(table, "__arrow_c_stream__"):
            self.table = pa.RecordBatchReader.from_stream(table).read_all()
        elif hasattr(table, "__arrow_c_array__"):
            self.table = pa.table(table)
        else:
            self.table = arrow(".interchange").from_dataframe(table)

    def _schema(self) -> Any:
        return self.table.schema if self.table is not None else self.reader.schema

    def _batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:
        if self.table is not None:
            yield from self.table.select(list(columns)).to_batches(max_chunksize=size)
            return
        if self.reader is None:
            raise TableError(
                f"{self.name} should be read once only, but is read again; read it into a table "
                "first, with read_table."
            )
        reader, self.reader = self.reader, None
        for batch in reader:
            yield batch.select(list(columns))


def _check_columns(table: Any, name: str) -> None:
    """Refuse a column alone, and values of a mapping that would be taken apart as columns."""
    if hasattr(table, "name") and not (hasattr(table, "columns") or hasattr(table, "schema")):
        rows = "reset_index" if hasattr(table, "reset_index") else "to_frame"
        raise TableError(
            f"{name} should be a table, but is a single column; give .{rows}() of it, which is one."
        )
    names = list(getattr(table, "columns", ())) if hasattr(table, "dtypes") else []
    if twice := repeated(list(map(str, names))):
        raise TableError(
            f"The columns of {name} should have different names, but "
            f"{listed([repr(column) for column in twice])} come twice; rename them."
        )
    if isinstance(table, Mapping):
        for column, values in table.items():
            if isinstance(values, str | bytes | Mapping):
                raise TableError(
                    f"Columns of {name} should be lists or arrays, but {column!r} is a "
                    f"{type(values).__name__}; write a row for each, as in {{'item': [...], "
                    "'label': [...]}."
                )


def _densified(frame: Any) -> Any:
    """A data frame of pandas without sparse columns, of which Arrow knows nothing."""
    kinds = {
        name: kind.subtype
        for name, kind in frame.dtypes.items()
        if type(kind).__name__ == "SparseDtype"
    }
    return frame.astype(kinds)


def _column(values: Any) -> Any:
    """A column that pyarrow takes: arrays of objects and lists keep the types of their items."""
    if hasattr(values, "tolist") and str(getattr(values, "dtype", "")) == "object":
        return values.tolist()
    return values if hasattr(values, "dtype") or hasattr(values, "type") else list(values)


def _index_columns(schema: Any) -> set[str]:
    """Columns that are the index of a data frame of pandas, which is left out unless asked for."""
    try:
        named = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
        return {name for name in named if isinstance(name, str) and name in schema.names}
    except (ValueError, AttributeError, TypeError):
        return set()
