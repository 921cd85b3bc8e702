"""Sources of a stream: tables that are read chunk by chunk, again at each pass.

Each source yields tuples (X, y or None, weight or None) of arrays for some thousand rows. What a
file means (types, missing cells, encodings) is up to `plausible.tables`, as everywhere. Only the
columns that are asked for are read, and each is copied once, into its row of a matrix of which X
is the transpose.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from plausible.checks import check_text, check_texts, check_whole, guess, shown
from plausible.engine.rows import Array
from plausible.tables import (
    ARROW,
    CSV,
    PARQUET,
    Source,
    floats,
    is_number,
    listed,
    open_table,
    show,
)

CHUNK_BYTES = 5 << 20
GROUP_BYTES = 16 << 20  # of a group of rows that is read at once

PathLike = str | Path
Names = Sequence[str]


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
    return np.array(column.to_numpy(zero_copy_only=False))  # not a view of what was read


class TableSource:
    """A table with named columns, some of which are features, labels and weight.

    Attributes
    ----------
    table : Source
        The opened table; its `notes` tell what was assumed.
    features : list of column names
    classes : list of str or None
        Columns of plausibilities.
    n_rows : int or None
        Where it is known beforehand.
    """

    def __init__(
        self,
        source: Any,
        features: Names | None,
        labels: Names | str | None,
        weight: str | None,
        chunk_rows: int | None,
        wanted: str | None = None,
    ) -> None:
        self.table = _open(source, wanted)
        self.n_rows = self.table.n_rows
        is_one = labels is None or isinstance(labels, str)
        plausibilities = [] if is_one else check_texts(labels, "labels")
        self.labels = labels if is_one else plausibilities
        self.weight = weight if weight is None else check_text(weight, "weight")
        self.classes = plausibilities or None
        others = [*([labels] if isinstance(labels, str) else plausibilities)]
        others += [] if weight is None else [weight]
        if features is None:
            hidden = {*others, *self.table.index}
            features = [name for name in self.table.names if name not in hidden]
        self.features = check_texts(features, "features")
        self._check_names(others)
        numeric = [*self.features, *plausibilities, *([] if weight is None else [weight])]
        self.columns = list(dict.fromkeys([*self.features, *others]))
        types = {field.name: field.type for field in self.table.schema(numeric)}
        self._check_types(types)
        single = all(str(types[name]) == "float" for name in self.features)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        row_bytes = len(self.features) * self.dtype.itemsize + 8 * len(others)
        self.chunk_rows = rows_in_chunk(chunk_rows, row_bytes)
        self._group_rows = GROUP_BYTES // row_bytes if chunk_rows is None else 0

    @property
    def feature_names(self) -> list[str]:
        """The columns of X, as `StreamRows` asks for them."""
        return self.features

    def __iter__(self) -> Iterator[tuple[Array, Array | None, Array | None]]:
        for batch in self.table.batches(self.columns, rows=self.chunk_rows, gaps=False):
            for start in range(0, batch.num_rows, self.chunk_rows):
                yield self._chunk(batch.slice(start, self.chunk_rows))
            del batch  # or it would still be held while the next one is read

    def openers(self) -> list[tuple[int, Callable[[], Any]]] | None:
        """Rows of each chunk and what reads it in any thread, where the table has short groups."""
        groups = self.table.groups(self.columns, self._group_rows)
        if groups is None or len(groups) < 2:
            return None
        return [(n_rows, partial(self._opened, read)) for n_rows, read in groups]

    def _opened(self, read: Callable[[], Any]) -> tuple[Array, Array | None, Array | None]:
        return self._chunk(read())

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

    def _check_names(self, others: list[str]) -> None:
        asked = [*self.features, *others]
        existing = f"its columns are {listed([repr(name) for name in self.table.names])}"
        for name in asked:
            if name not in self.table.names:
                raise ValueError(
                    f"{self.table.name} should have a column {shown(name)}, but does not"
                    f"{guess(name, self.table.names) or ';'} {existing}."
                )
        twice = sorted({name for name in asked if asked.count(name) > 1})
        if twice or not self.features:
            raise ValueError(
                f"Features in {self.table.name} should be columns that are neither labels nor "
                f"weight, each named once, but "
                f"{f'{listed(twice)} came twice' if twice else 'there are none'}; {existing}."
            )

    def _check_types(self, types: dict[str, Any]) -> None:
        good = [name for name, kind in types.items() if is_number(kind)]
        for name, kind in types.items():
            if name not in good:
                raise ValueError(
                    f"Column {name!r} of {self.table.name} should be numeric, but holds "
                    f"{_what_else(self.table, name, kind)}; encode it, or name the columns to use, "
                    f"such as features={good[:3]}."
                )


def _open(source: Any, wanted: str | None) -> Source:
    """A table, which may have to be of one kind."""
    table = open_table(source)
    if wanted is not None and table.format != wanted:
        raise ValueError(
            f"{table.name} should be a file in {wanted}, but is in {table.format}; read it with "
            "read_any, which takes every kind of table."
        )
    return table


def _what_else(table: Source, name: str, kind: Any) -> str:
    """What a column holds that has no numbers only."""
    start = 0
    for batch in table.batches([name], typed=False):
        wrong = floats(batch.column(0))[2]
        if wrong.any():
            row = int(np.argmax(wrong))
            return f"{show(batch.column(0), row)} in {table.places([start + row + 1])[0]}"
        start += batch.num_rows
    return "identifiers with leading zeros" if str(kind) == "string" else str(kind)


def read_any(
    source: Any,
    features: Names | None = None,
    labels: Names | str | None = None,
    weight: str | None = None,
    *,
    chunk_rows: int | None = None,
) -> TableSource:
    r"""Rows of any table as a source for `StreamRows`.

    Parameters
    ----------
    source
        As for `plausible.io.read_table`: CSV, JSON, Excel, Parquet and folders of Parquet files,
        Arrow, a file object, a data frame or a mapping from names to columns.
    features : list of column names, optional
        Columns of X, all but those of labels and weight by default. X is float32 if all of them
        are, else float64; missing cells are NaN.
    labels : list of column names, or one name, optional
        Several columns are the plausibilities of the classes, y of shape (n, K); one column holds
        labels, y of shape (n,).
    weight : name of a column, optional
    chunk_rows : int, optional
        Rows in a chunk; by default some megabytes, at most 65536 rows.

    Returns
    -------
    TableSource
        With `table.notes`, which tell what was assumed about the file.

    Examples
    --------
    >>> import io
    >>> source = read_any(io.StringIO("size;y\n1,5;cat\n2,25;dog\n"), labels="y")
    >>> for X, y, weight in source:
    ...     print(X.ravel(), y)
    [1.5  2.25] ['cat' 'dog']
    >>> print(source.table.notes[1])
    the file object: column 'size' has decimal commas: '1,5' was read as 1.5
    """
    return TableSource(source, features, labels, weight, chunk_rows)


def read_parquet(
    path: PathLike,
    features: Names | None = None,
    labels: Names | str | None = None,
    weight: str | None = None,
    *,
    chunk_rows: int | None = None,
) -> TableSource:
    """Rows of a Parquet file, or of a folder of them, as a source for `StreamRows`.

    Parameters
    ----------
    path : path of the file, or of the folder
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
    return TableSource(path, features, labels, weight, chunk_rows, PARQUET)


def read_arrow(
    path: PathLike,
    features: Names | None = None,
    labels: Names | str | None = None,
    weight: str | None = None,
    *,
    chunk_rows: int | None = None,
) -> TableSource:
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
    return TableSource(path, features, labels, weight, chunk_rows, ARROW)


def read_csv(
    path: PathLike,
    features: Names | None = None,
    labels: Names | str | None = None,
    weight: str | None = None,
    *,
    chunk_rows: int | None = None,
) -> TableSource:
    r"""Rows of a CSV file with a header line as a source for `StreamRows`.

    The parameters are those of `read_parquet`; X is float64. A file of more than 128 MB is parsed
    once to learn the types of its columns, and again by the first pass of a fit.

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
    return TableSource(path, features, labels, weight, chunk_rows, CSV)
