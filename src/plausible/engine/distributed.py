"""Rows on a cluster: dask arrays and data frames, summed where they lie.

The rows are kept on the workers in blocks. At each pass

    sum over blocks b of summary(columns of b, parameters)

only the parameters travel to the blocks, and one statistic for each block back. The statistics are
added in the order of the blocks, so that the result does not depend on which worker is quicker. Of
long statistics, each task adds up those of its blocks first: the last digits then depend on where
the blocks lie, and the client has a tenth of the bytes to read. A
worker that dies costs time only: dask computes its blocks again from where they came. A cluster
that does not get on at all is given up after a time (see `plausible.engine.cluster`).
"""

import math
import pickle
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from plausible.checks import check_callable, check_whole
from plausible.engine.alignment import align, import_dask, in_words
from plausible.engine.blocks import Blocks, active_client, pack
from plausible.engine.cluster import TIMEOUT, Watch
from plausible.engine.rows import (
    Array,
    ArrayRows,
    Columns,
    Rows,
    Summarizer,
    draw,
    length,
    take,
)
from plausible.engine.sums import total
from plausible.errors import InputError

Step = tuple[Callable[[Columns, Any], Columns], Callable[[Columns], Any]]

HEAD = 4096  # rows
LONG_SUMS = 16 << 20  # bytes of the statistics of all blocks, from which tasks add theirs first


def _check_timeout(timeout: float | str | None) -> float:
    """Seconds; by default those of dask's settings."""
    dask = import_dask()
    given = dask.config.get("plausible.timeout", TIMEOUT) if timeout is None else timeout
    try:
        seconds = float(dask.utils.parse_timedelta(given))
    except (ValueError, TypeError, KeyError, AttributeError):
        seconds = math.nan
    if not seconds > 0:
        raise InputError(
            "The timeout of a cluster should be a positive number of seconds, or a time like '5 "
            "minutes'",
            f"is {given!r}",
            "set {timeout} or dask's plausible.timeout",
            value=given,
            settings={"timeout": None},
        )
    return seconds


def watched(client: Any, what: str) -> Watch:
    """Whom to ask for the results of tasks, and who gives up a cluster that does not get on.

    Parameters
    ----------
    client : distributed.Client
    what : what the tasks are about, in words
    """
    return Watch(client, _check_timeout(None), what)


# What runs on the workers.


def _as_block(number: int, *columns: Any) -> Columns:
    # What comes through a connection begins anywhere in memory, and is slow to read at each pass.
    block = tuple(None if column is None else np.require(column, None, "A") for column in columns)
    lengths = [len(column) for column in block if column is not None]
    if len(set(lengths)) != 1:
        raise InputError(
            f"Block {number} should have columns of one length",
            f"they have {lengths} rows",
            "rechunk the collections alike, or call compute_chunk_sizes() on them before",
        )
    return block


def _as_part(number: int, n_rows: int, columns: Any) -> Columns:
    block = _as_block(number, *columns)
    if length(block) != n_rows:
        raise InputError(
            f"Part {number} should have the {n_rows} rows that were told",
            f"it has {length(block)}",
            "it must not change while it is being read",
        )
    return block


def _sum(
    columns: Columns,
    steps: tuple[Step, ...],
    summary: Summarizer,
    parameters: tuple[Any, ...],
    factor: int,
) -> Any:
    columns = _all_steps(columns, steps)
    if not length(columns):
        return None
    return ArrayRows(*columns).coarser(factor).reduce(summary, *parameters)


def _map(columns: Columns, function: Callable[[Columns], Columns]) -> Columns:
    return ArrayRows(*columns).map(function).columns if length(columns) else columns


def _arrange(columns: Columns, code: Callable[[Columns], Array]) -> Columns:
    order = ArrayRows(*columns).arrange(code).order
    return columns if order is None else take(columns, order)


def _all_steps(columns: Columns, steps: tuple[Step, ...]) -> Columns:
    for step, function in steps:
        columns = step(columns, function)
    return columns


def _first_rows(columns: Columns, steps: tuple[Step, ...]) -> Columns:
    if all(step is _map for step, _ in steps):  # which need not see the others
        return _all_steps(take(columns, slice(0, HEAD)), steps)
    return take(_all_steps(columns, steps), slice(0, HEAD))


def _n_among(columns: Columns, code: Callable[[Columns], Array]) -> int:
    return sum(int((code(part) >= 0).sum()) for part in ArrayRows(*columns).chunks())


def _take_among(columns: Columns, index: Array, code: Callable[[Columns], Array]) -> Columns:
    if not length(columns):
        return columns
    codes = np.concatenate([code(part) for part in ArrayRows(*columns).chunks()])
    wanted = np.flatnonzero(codes >= 0)
    alike = not len(wanted) or ((codes < 0) | (codes == codes[wanted[0]])).all()
    order = wanted if alike else ArrayRows(*columns).arrange(code).order
    return take(columns, index if order is None else order[index])


class DaskRows(Rows):
    """Rows of dask arrays and data frames, summed where they lie.

    The cluster is that of the active ``distributed.Client``; without one, the threads of dask are
    used.

    Parameters
    ----------
    *collections : dask arrays, data frames, series, arrays in memory, or None
        Columns with the same rows. Their row-chunks are brought to those of the first dask
        collection; the chunks of data frames may be of unknown size.
    persist : bool, default True
        Whether the rows are kept in memory, so that they are not computed again at each pass.
        Where they do not fit, workers write them to disk.
    timeout : float or str, optional
        Seconds, or a time like "5 minutes", after which a cluster that does not get on is given up
        with a `ClusterLostError`: no task has ended, and no worker that computes has sent a
        heartbeat. By default the setting ``plausible.timeout`` of dask, else ten minutes.

    Examples
    --------
    >>> import dask.array
    >>> rows = DaskRows(dask.array.arange(10.0, chunks=4), None)
    >>> rows.reduce(lambda columns, power: (columns[0] ** power).sum(), 2)
    np.float64(285.0)
    """

    def __init__(
        self, *collections: Any, persist: bool = True, timeout: float | str | None = None
    ) -> None:
        make = import_dask().delayed(_as_block, pure=False)
        watch = Watch(active_client(), _check_timeout(timeout))
        arrays = align(collections, watch)
        watch.rows = in_words(arrays)
        columns = [
            None if array is None else array.to_delayed().ravel().tolist() for array in arrays
        ]
        # One tuple of columns for each block; None stands for as many blocks as there are.
        n_blocks = max(len(blocks) for blocks in columns if blocks is not None)
        aligned = zip(*([None] * n_blocks if b is None else b for b in columns), strict=True)
        delayed = [make(number, *block) for number, block in enumerate(aligned)]
        self._set(Blocks(delayed, persist, watch))
        names = list(getattr(collections[0], "columns", ()))  # of a data frame
        if names and all(isinstance(name, str) for name in names):
            self.feature_names = names

    @classmethod
    def from_parts(
        cls,
        parts: Sequence[Any],
        lengths: Sequence[int],
        *,
        persist: bool = True,
        timeout: float | str | None = None,
    ) -> "DaskRows":
        """Rows of delayed tuples of columns, each computed as a whole.

        Parameters
        ----------
        parts : sequence of dask.delayed objects
            Each becomes a tuple of arrays and None, the columns of some rows.
        lengths : sequence of int
            How many rows each of them has.
        persist, timeout
            As for `DaskRows`.

        Examples
        --------
        >>> import dask
        >>> parts = [dask.delayed(lambda n: (np.arange(n), None))(n) for n in (3, 4)]
        >>> DaskRows.from_parts(parts, [3, 4]).reduce(lambda columns: columns[0].sum())
        np.int64(9)
        """
        make = import_dask().delayed(_as_part, pure=False)
        watch = Watch(active_client(), _check_timeout(timeout))
        watch.rows = f"rows in {len(parts)} blocks"
        numbered = enumerate(zip(lengths, parts, strict=True))
        delayed = [make(number, n_rows, part) for number, (n_rows, part) in numbered]
        rows = object.__new__(cls)._set(Blocks(delayed, persist, watch))
        rows._lengths = list(lengths)
        return rows

    def _set(self, source: Blocks, steps: tuple[Step, ...] = ()) -> "DaskRows":
        self._source, self._steps, self._are_long = source, steps, False
        self._first: Columns | None = None
        self._first_of: tuple[Columns, Callable[[Columns], Columns]] | None = None
        self._factor, self._keeps = 1, True
        return self

    def coarser(self, factor: int) -> "DaskRows":
        """The same rows, whose blocks are summed in chunks some times as long."""
        rows = copy(self)
        rows._factor *= check_whole(factor, "factor", 1)
        return rows

    @cached_property
    def _blocks(self) -> Blocks:
        """What the steps make of the source: in one task for each block, when it is needed."""
        return self._source.derive(_all_steps, self._steps) if self._steps else self._source

    def _with(self, step: Step) -> "DaskRows":
        """Rows with one more step, after those that are still to be done."""
        is_made = "_blocks" in self.__dict__
        source, before = (self._blocks, ()) if is_made else (self._source, self._steps)
        return object.__new__(DaskRows)._set(source, (*before, step))

    def made(self) -> "DaskRows":
        """The same rows, made now: what several others begin with."""
        assert self._blocks is not None
        return self

    kept = made

    def unkept(self) -> "DaskRows":
        """The same rows, whose steps are done with each sum: for a single one that is faster."""
        rows = copy(self)
        rows._keeps = False
        return rows

    @cached_property
    def _lengths(self) -> list[int]:
        return self._blocks.each(length)

    @property
    def n_rows(self) -> int:
        """How many rows there are, counted where they lie."""
        return sum(self._lengths)

    def reduce(self, summary: Summarizer, *parameters: Any) -> Any:
        """Sum over blocks of ``summary(columns, *parameters)``."""
        keep = self._keeps or "_blocks" in self.__dict__
        blocks, steps = (self._blocks, ()) if keep else (self._source, self._steps)
        n_blocks = len(blocks.delayed)
        each = [(steps, summary, parameters, self._factor)] * n_blocks
        parts = blocks.each(_sum, each, self._are_long)
        found = total(part for part in parts if part is not None)
        if blocks.client is not None:
            self._are_long = n_blocks * len(pickle.dumps(found, protocol=5)) > LONG_SUMS
        return found

    def chunks(self) -> Iterator[Columns]:
        """The columns of one block after another, brought here."""
        for block in self._blocks.delayed:
            (columns,) = self._blocks.compute([block])
            if length(columns):
                yield columns

    def peek(self) -> Columns:
        """The columns of the first rows, brought here once, however often they are seen."""
        if self._first is None:
            self._first = self._look() if self._first_of is None else _map(*self._first_of)
            self._first_of = None
        return self._first

    def _look(self) -> Columns:
        is_made = "_blocks" in self.__dict__
        blocks, steps = (self._blocks, ()) if is_made else (self._source, self._steps)
        call = pack(_first_rows, [(steps,)])
        for block in blocks.delayed:
            (columns,) = blocks.compute([blocks.delayed_apply()(call, block)])
            if length(columns):
                first: Columns = columns
                return first
        return super().peek()

    def map(self, function: Callable[[Columns], Columns]) -> "DaskRows":
        """Rows whose columns are a function of these, computed where they lie, when needed."""
        check_callable(function, "function", "the columns of some rows")
        rows = self._with((_map, function))
        if self._first is not None:  # no worker is asked what they become
            rows._first_of = self._first, function
        if "_lengths" in self.__dict__:  # or they are counted when they are asked for
            rows._lengths = self._lengths
        return rows

    def arrange(self, code: Callable[[Columns], Array]) -> "DaskRows":
        """The rows of each block in the order of their codes, without those of negative code."""
        check_callable(code, "code", "the columns of some rows")
        return self._with((_arrange, code))

    def sample(self, n_rows: int, random: np.random.RandomState) -> Columns:
        """Columns of rows drawn without replacement, in their order; all if there are fewer."""
        return self._sample(self._lengths, take, (), n_rows, random)

    def sample_among(
        self,
        code: Callable[[Columns], Array],
        count: int,
        n_rows: int,
        random: np.random.RandomState,
    ) -> Columns:
        """A sample of the rows whose code is not negative; where they lie, none is copied."""
        each = [(code,)] * len(self._blocks.delayed)
        return self._sample(self._blocks.each(_n_among, each), _take_among, (code,), n_rows, random)

    def _sample(
        self,
        lengths: list[int],
        taken: Callable[..., Columns],
        further: tuple[Any, ...],
        n_rows: int,
        random: np.random.RandomState,
    ) -> Columns:
        """What `taken` gives of each block, of which each has so many rows to draw from."""
        wanted = draw(sum(lengths), n_rows, random)
        stops = np.cumsum(lengths)
        starts = stops - lengths
        low, high = np.searchsorted(wanted, starts), np.searchsorted(wanted, stops)
        own = [
            (wanted[first:last] - start, *further)
            for first, last, start in zip(low, high, starts, strict=True)
        ]
        parts = self._blocks.each(taken, own)
        # A block without rows may be older than a map, and not have the columns that it makes.
        parts = [part for part, rows in zip(parts, lengths, strict=True) if rows]
        return tuple(
            None if column[0] is None else np.concatenate(column)
            for column in zip(*parts, strict=True)
        )
