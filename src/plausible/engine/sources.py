"""Sources of a stream: files that are read chunk by chunk, again at each pass.

Each source yields tuples (X, y or None, weight or None) of arrays for some thousand rows. Only the
columns that are asked for are read, and each is copied once, into its row of a matrix of which X
is the transpose.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from plausible.checks import check_text, check_texts, check_whole, existing_file, shown
from plausible.engine.rows import Array
from plausible.errors import InputError
from plausible.tables import BUFFER_BYTES

CHUNK_BYTES = 15 << 17

PathLike = str | Path
Names = Sequence[str]


def _import(name: str) -> Any:
    """A module of pyarrow, or how to get it."""
    try:
        module: ModuleType = __import__(name, fromlist=["__name__"])
    except ImportError as error:
        raise ImportError(
            "Reading Parquet, Arrow and CSV files needs pyarrow, which is not installed; run "
            'pip install "plausible[stream]".'
        ) from error
    return module


def rows_in_chunk(chunk_rows: int | None, row_bytes: int) -> int:
    """Rows in a chunk: as asked, or some megabytes."""
    if chunk_rows is None:
        return int(np.clip(CHUNK_BYTES // max(row_bytes, 1), 2048, 65536))
    return check_whole(chunk_rows, "chunk_rows", 1)


def _as_numbers(column: Any) -> Array:
    """A numeric column of a record batch, with NaN for nulls."""
    return column.to_numpy(zero_copy_only=False)


def _as_labels(column: Any) -> Array:
    """A column of labels of any type; strings become objects, with None for nulls."""
    if hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    return np.array(column.to_numpy(zero_copy_only=False))  # not a view of what was read


class TableSource(ABC):
    """A file with named columns, some of which are the features, the labels and the weight."""

    def __init__(
        self,
        path: PathLike,
        features: Names | None,
        labels: Names | str | None,
        weight: str | None,
        chunk_rows: int | None,
    ) -> None:
        _import("pyarrow")
        self.path = existing_file(path)
        self.n_rows: int | None = None
        try:
            schema = self._schema()
        except _import("pyarrow").ArrowException as error:
            raise InputError(
                f"{self.path.name} should be a file of the kind that is asked for",
                f"cannot be read as one ({str(error).splitlines()[0][:200]})",
                "choose the function by the kind of file, or write it again",
            ) from None
        is_one = labels is None or isinstance(labels, str)
        plausibilities = [] if is_one else check_texts(labels, "labels")
        self.labels = labels if is_one else plausibilities
        self.weight = weight if weight is None else check_text(weight, "weight")
        self.classes = plausibilities or None
        others = [*([labels] if isinstance(labels, str) else plausibilities)]
        others += [] if weight is None else [weight]
        if features is None:
            features = [name for name in schema.names if name not in others]
        self.features = check_texts(features, "features")
        self._check_names(schema.names, others)
        numeric = [*self.features, *plausibilities, *([] if weight is None else [weight])]
        self.columns = list(dict.fromkeys([*self.features, *others]))
        self.types = {name: schema.field(name).type for name in numeric}
        self._check_types(self.types)
        single = all(str(self.types[name]) == "float" for name in self.features)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        row_bytes = len(self.features) * self.dtype.itemsize + 8 * len(others)
        self.chunk_rows = rows_in_chunk(chunk_rows, row_bytes)

    @abstractmethod
    def _schema(self) -> Any:
        """Names and types of the columns of the file."""

    @abstractmethod
    def _batches(self) -> Generator[Any, None, None]:
        """Record batches with the columns that are needed."""

    def __iter__(self) -> Iterator[tuple[Array, Array | None, Array | None]]:
        for batch in self._batches():
            for start in range(0, batch.num_rows, self.chunk_rows):
                yield self._chunk(batch.slice(start, self.chunk_rows))
            del batch  # or it would still be held while the next one is read

    def _chunk(self, batch: Any) -> tuple[Array, Array | None, Array | None]:
        X = self._matrix(batch, self.features, self.dtype)
        y = None
        if isinstance(self.labels, str):
            y = _as_labels(batch.column(self.labels))
        elif self.labels is not None:
            y = self._matrix(batch, self.labels, np.dtype(np.float64))
        if self.weight is None:
            return X, y, None
        return X, y, _as_numbers(batch.column(self.weight)).astype(np.float64)

    def _matrix(self, batch: Any, names: Names, dtype: "np.dtype[Any]") -> Array:
        rows = np.empty((len(names), batch.num_rows), dtype)
        for row, name in zip(rows, names, strict=True):
            row[:] = _as_numbers(batch.column(name))
        return rows.T

    def _check_names(self, existing: list[str], others: list[str]) -> None:
        asked = [*self.features, *others]
        for name in asked:
            if existing.count(name) != 1:
                raise InputError(
                    f"Column {shown(name)} should be once in {self.path.name}",
                    f"is there {existing.count(name)} times",
                    f"its columns are {', '.join(existing)}",
                )
        twice = sorted({name for name in asked if asked.count(name) > 1})
        if twice or not self.features:
            raise InputError(
                "Features should be one or more columns that are neither labels nor weight nor "
                "named twice",
                f"{f'{twice} are' if twice else 'there are none'}",
                f"the columns of {self.path.name} are {', '.join(existing)}",
            )

    def _check_types(self, types: dict[str, Any]) -> None:
        check = _import("pyarrow.types")
        for name, kind in types.items():
            good = check.is_integer, check.is_floating, check.is_boolean, check.is_decimal
            if not (any(test(kind) for test in good) or check.is_null(kind)):
                numeric = [other for other in types if other != name]
                raise InputError(
                    f"Column {name!r} of {self.path.name} should be numeric",
                    f"holds {kind}",
                    ("encode it", "name the columns to use, such as {features}"),
                    parameter="features",
                    settings={"features": numeric[:3]},
                )


class ParquetSource(TableSource):
    """What `read_parquet` returns."""

    def _open(self) -> Any:
        # Without a buffer size, and with pre_buffer, whole row groups would be held in memory; with
        # a memory map, the whole file would come to count as memory of this process.
        return _import("pyarrow.parquet").ParquetFile(
            self.path, pre_buffer=False, buffer_size=BUFFER_BYTES
        )

    def _schema(self) -> Any:
        with self._open() as file:
            self.n_rows = file.metadata.num_rows
            return file.schema_arrow

    def _batches(self) -> Generator[Any, None, None]:
        # On two cores, which are busy with sums, threads would only add to the work.
        arrow = _import("pyarrow")
        use_threads = arrow.cpu_count() > 2
        with self._open() as file:
            yield from file.iter_batches(
                self.chunk_rows, columns=self.columns, use_threads=use_threads
            )
        arrow.default_memory_pool().release_unused()  # or the next pass comes on top of it


class ArrowSource(TableSource):
    """What `read_arrow` returns."""

    def _schema(self) -> Any:
        with _import("pyarrow").memory_map(str(self.path)) as file:
            return _import("pyarrow.ipc").open_file(file).schema

    def _batches(self) -> Generator[Any, None, None]:
        arrow, ipc = _import("pyarrow"), _import("pyarrow.ipc")
        names = self._schema().names
        options = ipc.IpcReadOptions(included_fields=[names.index(name) for name in self.columns])
        number, n_batches = 0, 1
        while number < n_batches:
            # Mapped again for each batch: what is mapped and was read counts as memory.
            with arrow.memory_map(str(self.path)) as file:
                reader = ipc.open_file(file, options=options)
                n_batches = reader.num_record_batches
                if n_batches:
                    yield reader.get_batch(number)
            number += 1


class CsvSource(TableSource):
    """What `read_csv` returns."""

    def _open(self, **convert: Any) -> Any:
        csv = _import("pyarrow.csv")
        return csv.open_csv(
            self.path,
            read_options=csv.ReadOptions(block_size=CHUNK_BYTES // 2),
            convert_options=csv.ConvertOptions(**convert),
        )

    def _schema(self) -> Any:
        with self._open() as reader:
            return reader.schema

    def _batches(self) -> Generator[Any, None, None]:
        arrow = _import("pyarrow")
        # The first block may hold whole numbers where a later one has fractions.
        types = {
            name: kind if kind == arrow.bool_() else arrow.float64()
            for name, kind in self.types.items()
        }
        try:
            with self._open(include_columns=self.columns, column_types=types) as reader:
                yield from reader
        except arrow.ArrowInvalid as error:
            raise ValueError(
                f"The columns of {self.path.name} should hold values of one type throughout, "
                f"numbers in features, plausibilities and weight, but: {error}; correct the file "
                "or name other columns."
            ) from error


def read_parquet(
    path: PathLike,
    features: Names | None = None,
    labels: Names | str | None = None,
    weight: str | None = None,
    *,
    chunk_rows: int | None = None,
) -> ParquetSource:
    """Rows of a Parquet file as a source for `StreamRows`.

    Parameters
    ----------
    path : path of the file
    features : list of column names, optional
        Columns of X, all but those of labels and weight by default. X is float32 if all of them
        are, else float64; nulls are NaN.
    labels : list of column names, or one name, optional
        Several columns are the plausibilities of the classes, y of shape (n, K); one column holds
        labels, y of shape (n,).
    weight : name of a column, optional
    chunk_rows : int, optional
        Rows in a chunk; by default some megabytes, at most 65536 rows.

    Examples
    --------
    >>> import tempfile, pathlib, pyarrow, pyarrow.parquet
    >>> table = pyarrow.table({"a": [1.0, 2.0], "b": [3.0, None], "y": ["yes", "no"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "data.parquet"
    ...     pyarrow.parquet.write_table(table, path)
    ...     for X, y, weight in read_parquet(path, labels="y"):
    ...         print(X, y, weight)
    [[ 1.  3.]
     [ 2. nan]] ['yes' 'no'] None
    """
    return ParquetSource(path, features, labels, weight, chunk_rows)


def read_arrow(
    path: PathLike,
    features: Names | None = None,
    labels: Names | str | None = None,
    weight: str | None = None,
    *,
    chunk_rows: int | None = None,
) -> ArrowSource:
    """Rows of an Arrow file (IPC file format, Feather) as a source for `StreamRows`.

    The parameters are those of `read_parquet`.

    Examples
    --------
    >>> import tempfile, pathlib, pyarrow, pyarrow.feather
    >>> table = pyarrow.table({"a": [1, 2], "no": [1.0, 0.5], "yes": [0.2, 1.0]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "data.feather"
    ...     pyarrow.feather.write_feather(table, path)
    ...     for X, y, weight in read_arrow(path, labels=["no", "yes"]):
    ...         print(X, y)
    [[1.]
     [2.]] [[1.  0.2]
     [0.5 1. ]]
    """
    return ArrowSource(path, features, labels, weight, chunk_rows)


def read_csv(
    path: PathLike,
    features: Names | None = None,
    labels: Names | str | None = None,
    weight: str | None = None,
    *,
    chunk_rows: int | None = None,
) -> CsvSource:
    r"""Rows of a CSV file with a header line as a source for `StreamRows`.

    The parameters are those of `read_parquet`; X is float64. The file is parsed again at each
    pass: where there are many, it pays to write it as Parquet once.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "data.csv"
    ...     _ = path.write_text("a,b,w,y\n1,2.5,1,3\n4,,0.5,6\n")
    ...     for X, y, weight in read_csv(path, labels="y", weight="w"):
    ...         print(X, y, weight)
    [[1.  2.5]
     [4.  nan]] [3 6] [1.  0.5]
    """
    return CsvSource(path, features, labels, weight, chunk_rows)
