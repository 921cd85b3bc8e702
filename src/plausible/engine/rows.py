"""Rows: one interface over whatever the data come as.

The columns of some rows (features, plausibilities, weights) are a tuple of arrays of the same
length, with None for a column that is not there. A summary is a function of such columns and of
parameters; what it returns is additive, so that

    rows.reduce(summary, parameters) = sum over chunks of summary(columns of the chunk, parameters)

is the same whether the rows lie in memory, on disk or on a cluster.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.checks import (
    as_array,
    check_callable,
    check_kind,
    check_whole,
    row_numbers,
    shown,
)
from plausible.engine.allocation import reuse_memory
from plausible.engine.sums import total
from plausible.engine.threads import one_blas_thread, working_threads
from plausible.errors import InputError

Array = NDArray[Any]
Columns = tuple[Array | None, ...]
Summarizer = Callable[..., Any]

CHUNK_BYTES = 3 << 19  # a chunk and the work on it share a core's second-level cache
ORDER_BYTES = 3 << 23  # rows among which like is put beside like: the last-level cache
MANY_ROWS = 1_000_000  # from which a sample is drawn without a random order of all


def length(columns: Columns) -> int:
    """Number of rows of columns that are not all None."""
    return next(column.shape[0] for column in columns if column is not None)


def as_column(column: Any, number: int) -> Any:
    """A column as an array or a sparse matrix in rows; refuses what has no rows."""
    if is_sparse(column) and getattr(column, "ndim", 2) == 2:
        return column.tocsr()
    if is_sparse(column):
        column = column.toarray()
    if hasattr(column, "contour"):
        raise TypeError(
            f"Rows should hold arrays, but column {number} holds Labels, whose degrees would be "
            "lost; give labels.contour."
        )
    array = as_array(column, f"Column {number}")
    if array.ndim == 0:
        raise InputError(
            "Rows should hold arrays",
            f"column {number} is {shown(column)}",
            "give one value for each row",
            value=column,
        )
    return array


def draw(count: int, n_rows: int, random: np.random.RandomState | np.random.Generator) -> Array:
    """Numbers of `n_rows` of `count` rows drawn without replacement, in their order; all if fewer.

    Examples
    --------
    >>> draw(3, 5, np.random.RandomState(0))
    array([0, 1, 2])
    """
    check_whole(n_rows, "n_rows", 0)
    kinds = np.random.RandomState, np.random.Generator
    check_kind(random, kinds, "random", "give numpy.random.RandomState(0)")
    if n_rows >= count:
        return np.arange(count)
    if not n_rows or count <= max(MANY_ROWS, 10 * n_rows):
        return np.sort(random.choice(count, n_rows, replace=False))
    # `choice` would put all rows in a random order. Drawn twice as often as needed, numbers that
    # are different are enough, and any of them are as likely as any others.
    within = random.integers if isinstance(random, np.random.Generator) else random.randint
    found = np.unique(within(0, count, 2 * n_rows))
    return found[np.sort(random.choice(len(found), n_rows, replace=False))]


def is_sparse(column: Any) -> bool:
    """Whether a column is a sparse matrix of scipy, found out without importing scipy."""
    return hasattr(column, "tocsr") and not isinstance(column, type)


def n_bytes(column: Any) -> int:
    """Memory that a column takes."""
    if is_sparse(column):
        return int(column.data.nbytes + column.indices.nbytes + column.indptr.nbytes)
    return int(column.nbytes)


def _rows_worth_a_sum(column: Any) -> int:
    """Rows with as many entries as there are features: a sum for each feature then costs no more.

    Only sparse columns have fewer entries in a row than features.
    """
    if not is_sparse(column):
        return 1
    n_rows, n_features = column.shape
    return int(n_features * n_rows // max(column.nnz, 1)) + 1


def stack(parts: Sequence[Any]) -> Any:
    """Parts of a column, one below the other; None if the column is not there."""
    if parts[0] is None:
        return None
    if is_sparse(parts[0]):
        from scipy.sparse import vstack

        return vstack(parts, format="csr")
    return np.concatenate(parts)


def take(columns: Columns, index: Any) -> Columns:
    """The columns at some rows: a view for a slice, a copy for an array of row numbers."""
    if isinstance(index, slice):
        return tuple(None if column is None else column[index] for column in columns)
    return tuple(None if column is None else _take(column, index) for column in columns)


def _take(column: Any, index: Any) -> Any:
    if is_sparse(column):
        return column[index]
    if column.ndim == 2 and column.strides[0] < column.strides[1]:
        return np.take(column.T, index, axis=1).T  # or it would first be copied, all of it
    return np.take(column, index, axis=0)  # twice as fast as column[index] for rows of numbers


def order_by(codes: Array) -> Array | None:
    """Row numbers in the order of their codes, negative codes left out; None if nothing changes."""
    if _are_alike(codes):
        return None
    index = np.argsort(codes, kind="stable")
    return index[np.searchsorted(codes, 0, sorter=index) :]


def _as_slice(index: Array) -> Any:
    """Row numbers that follow each other as a slice, which needs no copy; others as they are."""
    if not len(index) or index[-1] - index[0] != len(index) - 1 or (np.diff(index) != 1).any():
        return index
    return slice(int(index[0]), int(index[-1]) + 1)


def _are_alike(codes: Array) -> bool:
    """Whether there is nothing to reorder or to leave out."""
    return not len(codes) or bool(codes[0] >= 0 and (codes == codes[0]).all())


def _order_in_parts(codes: Array, size: int) -> Array:
    """Row numbers in the order of their codes within each part of `size` rows."""
    parts = []
    for start in range(0, len(codes), size):
        part = codes[start : start + size]
        index = order_by(part)
        parts.append(start + (np.arange(len(part)) if index is None else index))
    whole = np.concatenate(parts)
    return whole.astype(np.int32) if len(codes) < 2**31 else whole


def _same_columns(given: Columns, found: Columns) -> set[tuple[int, int]]:
    """Pairs of a column that was found and the one that it is."""
    return {
        (k, j)
        for k, column in enumerate(found)
        for j, other in enumerate(given)
        if column is not None and (column is other or _is_view_of_all(column, other))
    }


def _is_view_of_all(column: Any, other: Any) -> bool:
    """Whether an array is another in all but name.

    ``np.asarray(array, dtype)`` gives a new array where that dtype came through a connection.
    """
    if not (isinstance(column, np.ndarray) and isinstance(other, np.ndarray)):
        return False
    alike = column.shape == other.shape and column.strides == other.strides
    at = column.__array_interface__["data"][0], other.__array_interface__["data"][0]
    return alike and column.dtype == other.dtype and at[0] == at[1]


class Rows(ABC):
    """What a loop needs of its data.

    Attributes
    ----------
    classes : names of the classes, if the rows hold a column of plausibilities and know its names
    has_shares : whether some of these are probabilities; None if that is not known
    feature_names : names of the features, if the rows know them

    Examples
    --------
    >>> import numpy as np
    >>> isinstance(ArrayRows(np.zeros((3, 2)), None, None), Rows)
    True
    """

    classes: Sequence[Any] | None = None
    has_shares: bool | None = None
    feature_names: Sequence[str] | None = None

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """How many rows there are; a stream may have to count them."""

    @abstractmethod
    def reduce(self, summary: Summarizer, *parameters: Any) -> Any:
        """Sum over chunks of ``summary(columns, *parameters)``."""

    @abstractmethod
    def chunks(self) -> Iterator[Columns]:
        """The columns of one chunk after another."""

    @abstractmethod
    def map(self, function: Callable[[Columns], Columns]) -> "Rows":
        """Rows whose columns are a function of these, computed chunk by chunk when needed.

        Each row stays one row; `arrange` leaves rows out.
        """

    @abstractmethod
    def arrange(self, code: Callable[[Columns], Array]) -> "Rows":
        """The same rows in an order that puts like beside like.

        `code` gives a whole number for each row: rows with a negative one are left out, rows with
        equal ones come together as far as the source allows.
        """

    def coarser(self, factor: int) -> "Rows":
        """The same rows in chunks some times as long, where the source has a choice.

        For summaries of many short steps, of which threads take turns to begin each.
        """
        return self

    def kept(self) -> "Rows":
        """The same rows, of which what was made so far is kept for many passes."""
        return self

    def unkept(self) -> "Rows":
        """The same rows for a single pass: nothing is made for further ones."""
        return self

    def survey(
        self,
        summary: Summarizer,
        code: Callable[[Columns], Array],
        leaves_out: Callable[[Any], bool],
    ) -> tuple[Any, "Rows"]:
        """A sum over all rows, and the rows whose code is not negative, kept for many passes.

        `leaves_out` tells from the sum whether there are others.
        """
        rows = self.kept()
        found = rows.reduce(summary)
        return found, rows.arrange(code).kept() if leaves_out(found) else rows

    def made(self) -> "Rows":
        """The same rows, which several others begin with: made once, if they are in some memory."""
        return self

    def peek(self) -> Columns:
        """The columns of the first chunk."""
        chunks = self.chunks()
        try:
            return next(chunks)
        except StopIteration:
            raise InputError(
                "There should be at least one row",
                "the rows are empty",
                "check the source",
            ) from None
        finally:
            if hasattr(chunks, "close"):
                chunks.close()

    def counted(self, n_rows: int) -> "Rows":
        """The same rows, whose number is known from a pass over others: it need not be found."""
        return self

    def sample(self, n_rows: int, random: np.random.RandomState) -> Columns:
        """Columns of `n_rows` rows drawn without replacement, in their order; all if fewer."""
        wanted = self._draw(n_rows, random)
        parts: list[Columns] = []
        start = 0
        for columns in self.chunks():
            stop = start + length(columns)
            low, high = np.searchsorted(wanted, (start, stop))
            if high > low or not parts:
                parts.append(take(columns, wanted[low:high] - start))
            start = stop
        return tuple(map(stack, zip(*parts, strict=True)))

    def sample_among(
        self,
        code: Callable[[Columns], Array],
        count: int,
        n_rows: int,
        random: np.random.RandomState,
    ) -> Columns:
        """A sample of the rows whose code is not negative, as `arrange` would put them.

        There are `count` of them. The others need not be gathered, nor these kept.
        """
        return self.arrange(code).counted(count).sample(n_rows, random)

    def _draw(self, n_rows: int, random: np.random.RandomState) -> Array:
        """Numbers of `n_rows` rows drawn without replacement, in their order; all if fewer."""
        return draw(self.n_rows, n_rows, random)


class ArrayRows(Rows):
    """Rows in memory (or memory-mapped), summed on all cores in chunks that fit the cache.

    Parameters
    ----------
    *columns : arrays or sparse matrices (CSR) of one length, or None
    order : array of row numbers, optional
        Which rows to take, and in which order; all by default.
    chunk_rows : int, optional
        Rows in a chunk; by default what fits the cache. The chunks, and so the rounding of sums, do
        not depend on the number of threads, which is the one that BLAS is set to (see
        ``threadpoolctl.threadpool_limits``).

    Examples
    --------
    >>> import numpy as np
    >>> rows = ArrayRows(np.arange(10.0), None)
    >>> rows.reduce(lambda columns, power: (columns[0] ** power).sum(), 2)
    np.float64(285.0)
    """

    def __init__(
        self, *columns: Array | None, order: Array | None = None, chunk_rows: int | None = None
    ) -> None:
        columns = tuple(None if c is None else as_column(c, k) for k, c in enumerate(columns))
        given = [column for column in columns if column is not None]
        lengths = [column.shape[0] for column in given]
        if len(set(lengths)) != 1:
            raise InputError(
                "Columns should have one length",
                f"have {lengths} rows",
                "give one value for each row",
            )
        self.columns = columns
        self.order = order if order is None else row_numbers(order, lengths[0], "order")
        row_bytes = sum(map(n_bytes, given)) // max(lengths[0], 1)
        size = min(max(CHUNK_BYTES // max(row_bytes, 1), 256), 65536)
        self.chunk_rows = self._evenly(max([size, *map(_rows_worth_a_sum, given)]))
        if chunk_rows is not None:
            self.chunk_rows = check_whole(chunk_rows, "chunk_rows", 1)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return length(self.columns) if self.order is None else len(self.order)

    def reduce(self, summary: Summarizer, *parameters: Any) -> Any:
        """Sum over chunks of ``summary(columns, *parameters)``."""
        check_callable(summary, "summary", "the columns of some rows")
        if self.n_rows <= self.chunk_rows:
            return total(summary(columns, *parameters) for columns in self.chunks())

        reuse_memory()

        # Each thread computes on its own core; BLAS must not start threads of its own.
        def work(start: int) -> Any:
            return summary(self._chunk(start), *parameters)

        with one_blas_thread() as n_threads:
            if n_threads == 1:
                return total(map(work, self._starts()))
            with working_threads(n_threads) as threads:
                return total(threads.map(work, self._starts()))

    def chunks(self) -> Iterator[Columns]:
        """The columns of one chunk after another."""
        return map(self._chunk, self._starts())

    def map(self, function: Callable[[Columns], Columns]) -> "ArrayRows":
        """Rows whose columns are a function of these, computed now, chunk by chunk."""
        check_callable(function, "function", "the columns of some rows")
        parts = []
        # A column that is given back for all chunks needs no copy, unless its order is another one.
        same: set[tuple[int, int]] | None = None if self.order is None else set()
        for start in self._starts() or [0]:
            columns = self._chunk(start)
            found = function(columns)
            check_kind(found, tuple, "What function returns", "return a tuple of columns")
            here = _same_columns(columns, found)
            same = here if same is None else same & here
            parts.append(found)
        source = dict(same or ())
        stacked = enumerate(zip(*parts, strict=True))
        return ArrayRows(
            *(self.columns[source[k]] if k in source else stack(part) for k, part in stacked)
        )

    def arrange(self, code: Callable[[Columns], Array]) -> "ArrayRows":
        """The rows in the order of their codes, without those of negative code; no copy.

        Large data are ordered in parts, each of which fits a cache: rows gathered from all over the
        memory would cost more than they save.
        """
        if not self.n_rows:
            return self
        check_callable(code, "code", "the columns of some rows")
        codes = np.concatenate([code(columns) for columns in self.chunks()])
        if _are_alike(codes):
            index = self.order
        else:
            size = self.chunk_rows * (ORDER_BYTES // CHUNK_BYTES)
            index = _order_in_parts(codes, size)
            index = index if self.order is None else self.order[index]
        return ArrayRows(*self.columns, order=index, chunk_rows=self.chunk_rows)

    def coarser(self, factor: int) -> "ArrayRows":
        """The same rows in chunks some times as long."""
        size = self._evenly(check_whole(factor, "factor", 1) * self.chunk_rows)
        return ArrayRows(*self.columns, order=self.order, chunk_rows=size)

    def sample(self, n_rows: int, random: np.random.RandomState) -> Columns:
        """Columns of rows drawn without replacement, in their order; all if there are fewer."""
        wanted = self._draw(n_rows, random)
        if len(wanted) == self.n_rows:
            return self._chunk(0, self.n_rows)
        return take(self.columns, wanted if self.order is None else self.order[wanted])

    def _evenly(self, size: int) -> int:
        """Rows of chunks that are about as long, all alike, and as many as threads can share."""
        n_chunks = -(-self.n_rows // size)
        if n_chunks > 1:
            n_chunks += -n_chunks % (2 if n_chunks <= 4 else 4)
            size = -(-self.n_rows // n_chunks)
        return size

    def _starts(self) -> range:
        return range(0, self.n_rows, self.chunk_rows)

    def _chunk(self, start: int, size: int | None = None) -> Columns:
        rows = slice(start, min(start + (size or self.chunk_rows), self.n_rows))
        return take(self.columns, rows if self.order is None else _as_slice(self.order[rows]))
