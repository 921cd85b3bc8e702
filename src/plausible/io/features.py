"""Features from files: a matrix of numbers, with the names of its columns and of its rows."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.checks import as_list, check_text
from plausible.experts import canonical
from plausible.tables import (
    MOST,
    Source,
    TableError,
    choose,
    counted,
    floats,
    listed,
    names_of,
    open_table,
    repeated,
    show,
    values_of,
)

LARGEST = 1e150  # beyond, squares are too large for a computer's numbers


class Features(NamedTuple):
    """What `read_features` returns.

    Attributes
    ----------
    X : float array (n, d)
    names : list of d column names
    ids : array (n,) of what the id column holds, or None

    Examples
    --------
    >>> from plausible.io import read_features
    >>> read_features({"a": [1, 2], "b": [0.5, 1.5]}).names
    ['a', 'b']
    """

    X: NDArray[np.float64]
    names: list[str]
    ids: NDArray[Any] | None

    def of(self, items: Iterable[Any]) -> NDArray[np.float64]:
        """The rows of these items, in their order: what goes with labels of the items.

        Names are compared as text, so that the number 7 and the text "7" are one item.

        Examples
        --------
        >>> from plausible.io import read_features
        >>> read_features({"item": ["a", "b"], "length": [1.5, 2.5]}, id="item").of(["b", "a"])
        array([[2.5],
               [1.5]])
        """
        if self.ids is None:
            raise ValueError(
                "Features should have ids to be found by item, but were read without; name the "
                "column with read_features(..., id=)."
            )
        place = {canonical(name): row for row, name in enumerate(self.ids.tolist())}
        wanted = [canonical(item) for item in as_list(items, "items", "names of items")]
        lost = [name for name in wanted if name not in place]
        if lost:
            raise ValueError(
                f"Every item should have a row of features, but {counted(len(lost), 'item')} "
                f"{'has' if len(lost) == 1 else 'have'} none ({listed(lost)}); add the rows, or "
                "leave these items out."
            )
        return self.X[[place[name] for name in wanted]]


class Faults:
    """Cells that are not what they should be, and how many there are."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[tuple[int, str]] = []

    def add(self, bad: NDArray[np.bool_], start: int, name: str, column: Any = None) -> None:
        """Note the bad cells of a column in rows that follow row number `start`."""
        self.count += int(bad.sum())
        for row in np.flatnonzero(bad)[: MOST - len(self.first)].tolist():
            held = "" if column is None else f" holds {show(column, row)}"
            self.first.append((start + row + 1, f"column {name!r}{held}"))

    def places(self, source: Source) -> str:
        """``"2 cells (row 3 on line 4, column 'b' holds 'x', ...)"``."""
        self.first.sort()
        rows = sorted({row for row, _ in self.first})
        lines = dict(zip(rows, source.lines(rows), strict=False))
        named = [
            f"row {row}{f' on line {lines[row]}' if row in lines else ''}, {cell}"
            for row, cell in self.first
        ]
        return f"{counted(self.count, 'cell')} ({listed(named, self.count)})"


def read_numbers(table: Source, names: Sequence[str], what: str, gaps: bool) -> NDArray[np.float64]:
    """A matrix of numbers, with NaN in gaps if these are allowed; all else is refused."""
    missing, wrong, infinite = Faults(), Faults(), Faults()
    parts = [np.empty((0, len(names)))]
    start = 0
    for batch in table.batches(names):
        part = np.empty((batch.num_rows, len(names)))
        for i, name in enumerate(names):
            column = batch.column(i)
            part[:, i], is_missing, is_wrong = floats(column)
            missing.add(is_missing & (not gaps), start, name)
            wrong.add(is_wrong, start, name, column)
            infinite.add(np.isinf(part[:, i]), start, name, column)
        parts.append(part)
        start += batch.num_rows
    faulty: tuple[tuple[Faults, str, tuple[str, ...]], ...] = (
        (wrong, "no numbers", ("correct them", "leave these columns out with {columns}")),
        (missing, "nothing", ("fill them", "drop these rows", "leave these columns out")),
        (infinite, "infinite numbers", ("correct them", "drop these rows")),
    )
    for faults, came, remedy in faulty:
        if faults.count:
            raise TableError(
                f"{what} in {table.name} should be numbers",
                f"{came} stand{'s' if came == 'nothing' else ''} in {faults.places(table)}",
                remedy,
                settings={"columns": None},
            )
    return np.concatenate(parts)


def column_of(table: Source, name: str) -> Any:
    """One column of names, as Arrow has it."""
    return table.named(name)


def read_ids(table: Source, name: str) -> NDArray[Any]:
    """The names of rows, of which each must be there once."""
    column = names_of(column_of(table, name), name, table.name)
    blank = np.asarray(column.is_null(), dtype=bool)
    if blank.any():
        raise TableError(
            f"Column {name!r} of {table.name} should name every row, but is empty in "
            f"{table.where((np.flatnonzero(blank) + 1).tolist())}; fill it, or name another column."
        )
    ids = values_of(column)
    twice = set(repeated(ids.tolist()))
    if twice:
        rows = [row for row, value in enumerate(ids.tolist(), 1) if value in twice]
        raise TableError(
            f"Column {name!r} of {table.name} should name every row differently, but repeats "
            f"{ids.tolist()[rows[0] - 1]!r} and perhaps others in {table.where(rows)}; correct it, "
            "or name another column."
        )
    return ids


def check_rows(table: Source, n_rows: int) -> None:
    """Refuse a table without rows."""
    if not n_rows:
        raise TableError(
            f"{table.name} should have at least one row, but has only the names of its columns; "
            "add the data."
        )


def check_usable(read: Features, table: Source, n_features: int | None) -> None:
    """Refuse features that no model can compute with, or other ones than a model has learned."""
    if n_features is not None and len(read.names) != n_features:
        raise TableError(
            f"{table.name} should have the {n_features} features that the model has learned, but "
            f"has {len(read.names)} ({listed(read.names)}); add or leave out columns."
        )
    large = Faults()
    for i, name in enumerate(read.names):
        large.add(np.abs(read.X[:, i]) > LARGEST, 0, name)
    if large.count:
        raise TableError(
            f"Features in {table.name} should be at most {LARGEST:g} in size to compute with, but "
            f"larger numbers stand in {large.places(table)}; scale or correct them."
        )


def read_features(
    source: Any,
    id: str | None = None,  # noqa: A002
    columns: Sequence[str] | None = None,
) -> Features:
    r"""A matrix of numbers from a table.

    Parameters
    ----------
    source
        As for `read_table`.
    id : name of a column, optional
        It names the rows, and is no feature.
    columns : list of names, optional
        The features; all columns but `id` by default.

    Returns
    -------
    features : Features
        With `X` of shape (n, d), `names` and `ids`. Cells that are missing, infinite or no numbers
        are an error.

    Examples
    --------
    >>> import io
    >>> X, names, ids = read_features(io.StringIO("item,a,b\nx1,1,2.5\nx2,3,4\n"), id="item")
    >>> X
    array([[1. , 2.5],
           [3. , 4. ]])
    >>> names, ids.tolist()
    (['a', 'b'], ['x1', 'x2'])
    """
    table = open_table(source)
    ids = None if id is None else read_ids(table, choose(table, check_text(id, "id"))[0])
    names = [name for name in choose(table, columns) if columns is not None or name != id]
    if not names or id in names:
        raise TableError(
            f"Features should be columns of {table.name} beside the id {id!r}",
            f"{'there are none' if not names else 'it is among them'}",
            "name them with {columns}",
            settings={"columns": None},
        )
    X = read_numbers(table, names, "Features", gaps=False)
    check_rows(table, len(X))
    return Features(X, names, ids)
