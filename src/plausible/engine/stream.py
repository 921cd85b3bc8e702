"""Rows that are read again at each pass: data larger than memory.

A source yields chunks. One thread reads the next ones while the others sum,

    sum over chunks c of sum over pieces p of c of summary(columns of p, parameters),

where a piece fits the cache. Few chunks are in memory at a time, and their sums are added in the
order of the source, so that the result does not depend on the number of threads.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from plausible.checks import as_array, check_callable, check_kind, check_whole, is_whole, shown
from plausible.engine.rows import (
    Array,
    ArrayRows,
    Columns,
    Rows,
    Summarizer,
    is_sparse,
    length,
    n_bytes,
    stack,
    take,
)
from plausible.engine.sums import add, own, total
from plausible.engine.threads import in_order, one_blas_thread, read_ahead
from plausible.errors import InputError

Chunk = Any  # a tuple of columns, or one array
Source = Iterable[Chunk] | Callable[[], Iterable[Chunk]]
Step = tuple[str, Callable[[Columns], Any]]

READ_AHEAD = 3
TASK_BYTES = 8 << 20  # what one thread takes at a time: rows enough to put like beside like
PIECE_BYTES = 3 << 20  # of a summary: threads that read and sum take turns to begin each step
LEAST_ROWS = 2048  # below, a summary costs more for its call than for its rows


def split(columns: Columns, n_bytes: int) -> Iterator[Columns]:
    """The columns in parts of about equal length and at most `n_bytes`, or of few rows."""
    n_rows, size = length(columns), _part_rows(columns, n_bytes)
    for start in range(0, n_rows, size):
        yield take(columns, slice(start, start + size))


def _part_rows(columns: Columns, most_bytes: int) -> int:
    """Rows in each part when the columns are cut in parts of about equal length."""
    n_rows = length(columns)
    all_bytes = sum(n_bytes(column) for column in columns if column is not None)
    n_parts = max(1, min(-(-all_bytes // most_bytes), n_rows // LEAST_ROWS))
    return max(1, -(-n_rows // n_parts))


def as_column(column: Any, where: str) -> Any:
    """A column as an array; numpy would turn a missing entry among words into the word "nan"."""
    if column is None:
        return None
    if is_sparse(column):
        return column.tocsr()
    if isinstance(column, list) and len(kinds := set(map(type, column))) > 1 and str in kinds:
        return np.array(column, dtype=object)
    return as_array(column, f"A column of {where}")


def _as_columns(chunk: Chunk, where: str) -> Columns:
    """A chunk as a tuple of arrays of one length and None; anything else is refused."""
    given = chunk if isinstance(chunk, tuple | list) else (chunk,)
    columns = tuple(as_column(column, where) for column in given)
    for number, column in enumerate(columns):
        if column is not None and column.ndim == 0:
            raise InputError(
                f"{where} should be an array or a tuple of arrays and None",
                f"its column {number} is a {type(given[number]).__name__}",
                "yield one array for each column",
            )
    lengths = [column.shape[0] for column in columns if column is not None]
    if len(set(lengths)) != 1:
        raise InputError(
            f"{where} should have columns of one length",
            f"they have {lengths} rows",
            "yield one value for each row",
        )
    return columns


def layout(columns: Columns) -> str:
    """What all chunks must have in common, in words."""
    return ", ".join(
        "None" if column is None else f"({', '.join(['n', *map(str, column.shape[1:])])})"
        for column in columns
    )


class CheckedSource:
    """A source that can be read again, and of which every pass must be like the first."""

    def __init__(self, source: Source) -> None:
        if isinstance(source, Iterator):
            raise TypeError(
                "A source should give its chunks again at each pass, but a "
                f"{type(source).__name__} can be read only once; give a list, an object with "
                "__iter__, or the function that makes the iterator."
            )
        if isinstance(source, np.ndarray | str | bytes | dict | type) or not (
            isinstance(source, Iterable) or callable(source)
        ):
            raise TypeError(
                "A source should be a list, an object with __iter__ or a function without "
                f"arguments that yields chunks, but is a {type(source).__name__}; give [X] for "
                "one array X."
            )
        self.source = source
        known: Any = getattr(source, "n_rows", None)
        self.n_rows = int(known) if is_whole(known) else None
        names = getattr(source, "classes", None)
        self.classes: Sequence[Any] | None = None if names is None else list(names)
        self.layout: str | None = None

    def __iter__(self) -> Iterator[Columns]:
        start = 0
        chunks = self.source if isinstance(self.source, Iterable) else self.source()
        if not isinstance(chunks, Iterable):
            raise TypeError(
                "A function that is a source should return an iterator of chunks, but returned "
                f"{shown(chunks)}; write it with yield."
            )
        for number, chunk in enumerate(chunks):
            where = f"Chunk {number} (from row {start})"
            columns = _as_columns(self._open_labels(chunk), where)
            self._check_layout(columns, where)
            start += length(columns)
            yield columns
        self._check_length(start)

    def _open_labels(self, chunk: Chunk) -> Chunk:
        """The chunk with plausibilities for Labels, all in the order of the first ones.

        A fourth column says which of them are probabilities.
        """
        if hasattr(chunk, "contour") or hasattr(chunk, "as_rows"):
            chunk = (chunk,)
        if not isinstance(chunk, tuple | list):
            return chunk
        chunk = [c.as_rows() if hasattr(c, "as_rows") else c for c in chunk]
        if not any(hasattr(c, "contour") for c in chunk):
            return tuple(chunk)
        opened = []
        shares = None
        for column in chunk:
            if hasattr(column, "contour"):
                names = column.classes.tolist()
                self.classes = self.classes or names
                if set(names) != set(self.classes):
                    raise InputError(
                        f"Labels should have the classes {self.classes} in every chunk",
                        f"have {names} in one",
                        "make them with {classes}",
                        settings={"classes": None},
                    )
                shares = column.is_probability
                column = column.reorder(self.classes).contour
            opened.append(column)
        if shares is not None and len(opened) <= 3:
            opened += [None] * (3 - len(opened)) + [shares]
        return tuple(opened)

    def _check_layout(self, columns: Columns, where: str) -> None:
        found = layout(columns)
        if self.layout is None:
            self.layout = found
        if found != self.layout:
            raise InputError(
                f"{where} should have columns of shapes {self.layout}, as the first chunk has",
                f"they are {found}",
                "yield the same columns in every chunk",
            )

    def _check_length(self, n_rows: int) -> None:
        if self.n_rows is None:
            self.n_rows = n_rows
        if n_rows == self.n_rows:
            return
        if not n_rows:
            raise InputError(
                f"The source should yield its {self.n_rows} rows at each pass",
                "yielded none at a later one",
                "a function must return a fresh iterator at each call",
            )
        raise InputError(
            f"The source should yield the same {self.n_rows} rows at each pass",
            f"yielded {n_rows} this time",
            "it must not change while it is being read",
        )


class StreamRows(Rows):
    """Rows that are read chunk by chunk, again at each pass, and never held in memory together.

    The next chunks are read by a thread of their own while chunks are being summed, on as many
    cores as BLAS is set to (see ``threadpoolctl.threadpool_limits``).

    Parameters
    ----------
    source : iterable or callable
        What yields the chunks, again at each pass: a list, an object with ``__iter__`` or a
        function without arguments that returns an iterator. A chunk is a tuple of columns, that is
        arrays or Labels of one length or None, or it is one array. If the source has an attribute
        `n_rows`, the rows need not be counted; an attribute `classes` names the columns of
        plausibilities.

    See Also
    --------
    read_parquet, read_arrow, read_csv, read_npy : sources that read files.

    Examples
    --------
    >>> import numpy as np
    >>> def source():
    ...     for start in range(0, 10, 4):
    ...         yield np.arange(start, min(start + 4, 10.0)), None
    >>> rows = StreamRows(source)
    >>> rows.reduce(lambda columns, power: (columns[0] ** power).sum(), 2)
    np.float64(285.0)
    >>> rows.n_rows
    10
    """

    def __init__(self, source: Source) -> None:
        self._source = CheckedSource(source)
        self._steps: tuple[Step, ...] = ()
        self._n_rows: int | None = None
        self._classes: Sequence[Any] | None = None

    @property
    def classes(self) -> Sequence[Any] | None:
        """Names of the columns of plausibilities; those of Labels are known from the first pass."""
        return self._source.classes if self._classes is None else self._classes

    @classes.setter
    def classes(self, names: Sequence[Any] | None) -> None:
        self._classes = names  # of these rows, and not of those that they were made of

    @property
    def n_rows(self) -> int:
        """How many rows there are; counted by any pass, or by one of its own."""
        if self._n_rows is None and not self._steps:
            if self._source.n_rows is None:
                for _ in self._source:
                    pass
            self._n_rows = self._source.n_rows
        if self._n_rows is None:
            self._n_rows = self._count(lambda columns: 0, sum)[0]
        return self._n_rows

    def reduce(self, summary: Summarizer, *parameters: Any) -> Any:
        """Sum over pieces of chunks of ``summary(columns, *parameters)``."""
        check_callable(summary, "summary", "the columns of some rows")
        _, result = self._count(lambda columns: summary(columns, *parameters), total)
        return result

    def chunks(self) -> Iterator[Columns]:
        """The columns of one piece after another; close it when it is not run to its end."""
        n_rows = 0
        with closing(self._read()) as parts:
            for part in parts:
                for columns in self._pieces(part):
                    n_rows += length(columns)
                    yield columns
        self._n_rows = n_rows

    def map(self, function: Callable[[Columns], Columns]) -> "StreamRows":
        """Rows whose columns are a function of these, computed at each pass."""
        return self._with(("map", function))

    def arrange(self, code: Callable[[Columns], Array]) -> "StreamRows":
        """The rows of each chunk in the order of their codes, without those of negative code."""
        return self._with(("arrange", code))

    def counted(self, n_rows: int) -> "StreamRows":
        """The same rows, whose number is known from a pass over others."""
        rows = self._with()
        rows._n_rows = check_whole(n_rows, "n_rows", 0)
        return rows

    def _with(self, *steps: Step) -> "StreamRows":
        for name, function in steps:
            check_callable(function, f"What is given to {name}", "the columns of some rows")
        rows = object.__new__(StreamRows)
        rows._source = self._source
        rows._steps = (*self._steps, *steps)
        rows._n_rows = None
        rows._classes = self._classes
        return rows

    def _read(self) -> Generator[Columns, None, None]:
        with closing(read_ahead(self._source, READ_AHEAD)) as chunks:
            for columns in chunks:
                yield from split(columns, TASK_BYTES)

    def _early(self, columns: Columns) -> tuple[ArrayRows | None, tuple[Step, ...]]:
        """What the steps make of a part of a chunk, and the maps that come last, not yet done."""
        n_early = len(self._steps)
        while n_early and self._steps[n_early - 1][0] == "map":
            n_early -= 1
        rows = _as_rows(columns)
        for name, function in self._steps[:n_early]:
            if not rows.n_rows:
                return None, ()
            rows = _mapped(rows, function) if name == "map" else rows.arrange(function)
        return _as_rows(rows.columns, rows.order), self._steps[n_early:]

    def _pieces(self, columns: Columns) -> Iterator[Columns]:
        """What the steps make of a part of a chunk, in pieces that fit the cache."""
        rows, late = self._early(columns)
        # Maps that come last need not hold more than a piece.
        for piece in () if rows is None else rows.chunks():
            for _, function in late:
                piece = function(piece)
            if length(piece):
                yield piece

    def sample(self, n_rows: int, random: np.random.RandomState) -> Columns:
        """Columns of rows drawn without replacement, in their order; all if there are fewer.

        No other rows are gathered, nor seen by the maps that come last.
        """
        wanted = self._draw(n_rows, random)
        parts: list[Columns] = []
        start = 0
        with closing(self._read()) as read:
            for part in read:
                rows, late = self._early(part)
                if rows is None or not rows.n_rows:
                    continue
                low, high = np.searchsorted(wanted, (start, start + rows.n_rows))
                here, start = wanted[low:high] - start, start + rows.n_rows
                if high == low and parts:
                    continue
                columns = take(rows.columns, here if rows.order is None else rows.order[here])
                for _, function in late:
                    columns = function(columns)
                parts.append(columns)
        return tuple(map(stack, zip(*parts, strict=True)))

    def _count(
        self, function: Callable[[Columns], Any], gather: Callable[[Iterable[Any]], Any]
    ) -> tuple[int, Any]:
        """One pass: number of rows, and what `gather` makes of the sums of the chunks."""
        n_rows = 0

        def work(part: Columns) -> tuple[int, Any]:
            count, result = 0, None
            for columns in self._pieces(part):
                found = function(columns)
                result = add(result, found) if count else own(found)
                count += length(columns)
            return count, result

        def counted(results: Iterable[tuple[int, Any]]) -> Iterator[Any]:
            nonlocal n_rows
            for count, result in results:
                n_rows += count
                if count:
                    yield result

        with (
            one_blas_thread() as n_threads,
            closing(self._read()) as parts,
            closing(in_order(work, parts, n_threads)) as results,
        ):
            gathered = gather(counted(results))
        self._n_rows = n_rows
        return n_rows, gathered


def _mapped(rows: ArrayRows, function: Callable[[Columns], Columns]) -> ArrayRows:
    """Rows whose columns are a function of these, all at once: a column it keeps is not copied."""
    columns = function(take(rows.columns, slice(None) if rows.order is None else rows.order))
    check_kind(columns, tuple, "What function returns", "return a tuple of columns")
    return _as_rows(columns)


def _as_rows(columns: Columns, order: Array | None = None) -> ArrayRows:
    """A part of a chunk as rows in memory, in pieces of about equal length."""
    return ArrayRows(*columns, order=order, chunk_rows=_part_rows(columns, PIECE_BYTES))
