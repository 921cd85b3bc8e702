"""Rows that are read again at each pass: data larger than memory.

A source yields chunks. One thread reads the next ones while the others sum,

    sum over chunks c of sum over pieces p of c of summary(columns of p, parameters),

where a piece fits the cache. Few chunks are in memory at a time, and their sums are added in the
order of the source, so that the result does not depend on the number of threads. What many passes
need is kept on disk as the first of them made it.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from plausible.checks import (
    check_callable,
    check_flag,
    check_kind,
    check_whole,
    existing_folder,
)
from plausible.engine.allocation import reuse_memory
from plausible.engine.checked_source import CheckedSource, Source
from plausible.engine.kept_parts import KeptParts, Opener, SurveyedParts
from plausible.engine.rows import (
    CHUNK_BYTES,
    Array,
    ArrayRows,
    Columns,
    Rows,
    Summarizer,
    length,
    n_bytes,
    stack,
    take,
)
from plausible.engine.scratch import scratch_folder
from plausible.engine.sums import add, own, total
from plausible.engine.threads import in_order, one_blas_thread, read_ahead

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


class StreamRows(Rows):
    """Rows that are read chunk by chunk, and never held in memory together.

    The next chunks are read by a thread of their own while chunks are being summed, on as many
    cores as BLAS is set to (see ``threadpoolctl.threadpool_limits``).

    Parameters
    ----------
    source : iterable or callable
        What yields the chunks, again at each pass: a list, an object with ``__iter__`` or a
        function without arguments that returns an iterator. A chunk is a tuple of columns, that is
        arrays or Labels of one length or None, or it is one array. If the source has an attribute
        `n_rows`, the rows need not be counted; an attribute `classes` names the columns of
        plausibilities, and `feature_names` those of the features. A method `openers` may give, for
        each chunk, its number of rows and a function that reads it: several threads then read at
        the same time. Where it gives None, chunks are read one after another.
    scratch : bool or path of a folder, default=True
        Whether what several passes need is kept on disk as the first one read it, so that the next
        ones need neither read the source nor decode it: up to half of the free disk, in a file
        without a name that is gone when the rows are. The folder is that of large temporary files
        (``TMPDIR``, else ``/var/tmp``), or the one given. Sources that are lists are kept nowhere.

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

    def __init__(self, source: Source, scratch: bool | str | Path = True) -> None:
        self._source = CheckedSource(source)
        self.feature_names = self._source.feature_names  # not of what maps make of them
        self._kept: KeptParts | SurveyedParts | None = None
        self._steps: tuple[Step, ...] = ()  # since the source, or since what is kept
        self._scratch: Path | None = None
        if isinstance(scratch, str | Path):
            self._scratch = existing_folder(scratch)
        elif check_flag(scratch, "scratch") and not isinstance(source, Sequence):
            self._scratch = scratch_folder()
        self._n_rows: int | None = None
        self._piece_bytes = PIECE_BYTES
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
        if self._n_rows is None and not self._steps and self._kept is None:
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
        with closing(self._opened()) as parts:
            for part in parts:
                for columns in self._pieces(part):
                    n_rows += length(columns)
                    yield columns
        self._n_rows = n_rows

    def peek(self) -> Columns:
        """The columns of the first piece; its chunk is read once, however often it is seen."""
        piece = next(self._pieces(self._head()), None)
        return super().peek() if piece is None else piece

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

    def kept(self) -> "StreamRows":
        """The same rows, which the first pass leaves on disk for the next ones."""
        if self._scratch is None:
            return self
        rows = self._of(KeptParts(self._made, self._first, self._scratch))
        rows._n_rows = self._n_rows
        return rows

    def survey(
        self,
        summary: Summarizer,
        code: Callable[[Columns], Array],
        leaves_out: Callable[[Any], bool],
    ) -> tuple[Any, Rows]:
        """A sum over all rows, in a pass that leaves those of non-negative code on disk."""
        if self._scratch is None:
            return super().survey(summary, code, leaves_out)
        chosen, only = self.arrange(code), self._with()
        only._steps = (("arrange", code),)
        wanted = KeptParts(chosen._made, chosen._first, self._scratch)
        surveyed = SurveyedParts(self._made, self._first, wanted, only._make)
        return self._of(surveyed).reduce(summary), self._of(wanted)

    def coarser(self, factor: int) -> "StreamRows":
        """The same rows in pieces as long as those of rows in memory would be."""
        rows = self._with()
        longer = check_whole(factor, "factor", 1) * CHUNK_BYTES
        rows._n_rows, rows._piece_bytes = self._n_rows, max(longer, self._piece_bytes)
        return rows

    def _with(self, *steps: Step) -> "StreamRows":
        for name, function in steps:
            check_callable(function, f"What is given to {name}", "the columns of some rows")
        rows = object.__new__(StreamRows)
        rows._source, rows._kept, rows._scratch = self._source, self._kept, self._scratch
        rows._steps = (*self._steps, *steps)
        rows._n_rows = None
        rows._classes, rows._piece_bytes = self._classes, self._piece_bytes
        return rows

    def _of(self, parts: KeptParts | SurveyedParts) -> "StreamRows":
        """Rows of parts that were made of these."""
        rows = self._with()
        rows._kept, rows._steps = parts, ()
        return rows

    def _head(self) -> Columns | None:
        """The first part, before the steps; None if it is not at hand."""
        if self._kept is not None:
            return self._kept.head()
        first = self._source.head()
        return None if first is None else next(split(first, TASK_BYTES), None)

    def _read(self) -> Generator[Opener, None, None]:
        """Parts of chunks, each opened by the thread that works on it."""
        if self._kept is not None:
            yield from self._kept.read()
            return
        openers = self._source.openers()
        if openers is not None:
            yield from openers
            return
        with closing(read_ahead(self._source, READ_AHEAD)) as chunks:
            for columns in chunks:
                for part in split(columns, TASK_BYTES):
                    yield partial(_given, part)

    def _opened(self) -> Generator[Columns | None, None, None]:
        """Parts for one who works on them one after another: the next one is opened meanwhile."""
        with closing(self._read()) as parts:
            opened = (part() for part in parts)
            with closing(read_ahead(opened, 1)) as ahead:
                yield from ahead

    def _made(self) -> Generator[Opener, None, None]:
        """What all steps make of each part."""
        with closing(self._read()) as parts:
            for part in parts:
                yield partial(self._make, part)

    def _first(self) -> Columns | None:
        """What all steps make of the first part; None if it has no rows."""
        return self._make(self._head)

    def _make(self, part: Opener) -> Columns | None:
        rows, late = self._early(part())
        if rows is None or not rows.n_rows:
            return None
        columns = rows.columns if rows.order is None else take(rows.columns, rows.order)
        for _, function in late:
            columns = function(columns)
        return columns

    def _early(self, columns: Columns | None) -> tuple[ArrayRows | None, tuple[Step, ...]]:
        """What the steps make of a part of a chunk, and the maps that come last, not yet done."""
        if columns is None:
            return None, ()
        n_early = len(self._steps)
        while n_early and self._steps[n_early - 1][0] == "map":
            n_early -= 1
        rows = self._as_rows(columns)
        for name, function in self._steps[:n_early]:
            if not rows.n_rows:
                return None, ()
            if name == "arrange":
                rows = rows.arrange(function)
            else:
                rows = self._as_rows(_mapped(rows, function))
        if n_early:  # rows of other columns, or fewer of them
            rows = self._as_rows(rows.columns, rows.order)
        return rows, self._steps[n_early:]

    def _as_rows(self, columns: Columns, order: Array | None = None) -> ArrayRows:
        """A part of a chunk as rows in memory, in pieces of about equal length."""
        return ArrayRows(*columns, order=order, chunk_rows=_part_rows(columns, self._piece_bytes))

    def _pieces(self, columns: Columns | None) -> Iterator[Columns]:
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
        with closing(self._opened()) as read:
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
        reuse_memory()

        def work(part: Opener) -> tuple[int, Any]:
            count, result = 0, None
            for columns in self._pieces(part()):
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


def _given(part: Columns) -> Columns:
    return part


def _mapped(rows: ArrayRows, function: Callable[[Columns], Columns]) -> Columns:
    """Columns that are a function of some rows, all at once: one that it keeps is not copied."""
    columns = function(take(rows.columns, slice(None) if rows.order is None else rows.order))
    check_kind(columns, tuple, "What function returns", "return a tuple of columns")
    return columns
