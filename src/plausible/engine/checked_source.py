"""A source of chunks that can be read again, and of which every pass must be like the first."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from plausible.checks import as_array, is_whole, shown
from plausible.engine.rows import Columns, is_sparse, length
from plausible.errors import InputError

Chunk = Any  # a tuple of columns, or one array
Source = Iterable[Chunk] | Callable[[], Iterable[Chunk]]


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
        named = getattr(source, "feature_names", None)
        self.feature_names: list[str] | None = None if named is None else list(named)
        self.layout: str | None = None
        self._head: Columns | None = None

    def head(self) -> Columns | None:
        """The first chunk, which is remembered until all chunks have been read; None without one.

        Fits look at it several times before they read the rows.
        """
        if self._head is None:
            chunks = iter(self)
            self._head = next(chunks, None)
            if isinstance(chunks, Generator):
                chunks.close()
        return self._head

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
        self._head = None

    def openers(self) -> Iterator[Callable[[], Columns]] | None:
        """Functions that read one chunk each, in any thread; None where the source has none."""
        make = getattr(self.source, "openers", None)
        given = make() if callable(make) else None
        return None if given is None else self._checked(given)

    def _checked(
        self, given: Iterable[tuple[int, Callable[[], Chunk]]]
    ) -> Iterator[Callable[[], Columns]]:
        start = 0
        for number, (n_rows, opener) in enumerate(given):
            yield partial(self._open, opener, n_rows, f"Chunk {number} (from row {start})")
            start += n_rows
        self._check_length(start)
        self._head = None

    def _open(self, opener: Callable[[], Chunk], n_rows: int, where: str) -> Columns:
        columns = _as_columns(self._open_labels(opener()), where)
        self._check_layout(columns, where)
        if length(columns) != n_rows:
            raise InputError(
                f"{where} should have the {n_rows} rows that were told",
                f"it has {length(columns)}",
                "it must not change while it is being read",
            )
        return columns

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
