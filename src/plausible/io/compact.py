"""Labels of very many items: each different label once, and which one every item has."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.io.lookup import Lookup, hash_names, whole_numbers
from plausible.io.pieces import PIECE_ROWS
from plausible.labels import Labels
from plausible.tables import arrow

FIRST = 1 << 22  # values for which a column has room at first


class Growing:
    """A column that grows, in one array: memory of many small ones would not be given back.

    Examples
    --------
    >>> column = Growing(np.int32)
    >>> column.add(np.array([3, 1]))
    >>> column.add(np.array([2]))
    >>> column.whole()
    array([3, 1, 2], dtype=int32)
    """

    def __init__(self, kind: Any) -> None:
        self.values, self.count = np.empty(FIRST, kind), 0  # unused pages take no memory

    def add(self, part: NDArray[Any]) -> None:
        """Take further values."""
        needed = self.count + len(part)
        if needed > len(self.values):
            longer = np.empty(max(needed, 2 * len(self.values)), self.values.dtype)
            longer[: self.count] = self.whole()
            self.values = longer
        self.values[self.count : needed] = part
        self.count = needed

    def whole(self) -> NDArray[Any]:
        """All values."""
        return self.values[: self.count]


def different_rows(table: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Different rows of a table, and which of them each row is.

    Rows are sorted by one number each, which is far quicker than to compare all of theirs.

    Examples
    --------
    >>> rows, place = different_rows(np.array([[1.0, 0.5], [0.0, 1.0], [1.0, 0.5]]))
    >>> rows[place]
    array([[1. , 0.5],
           [0. , 1. ],
           [1. , 0.5]])
    >>> len(rows)
    2
    """
    bits = np.ascontiguousarray(table).view(np.uint64)
    factors = np.random.default_rng(0).integers(1 << 63, size=table.shape[1], dtype=np.uint64)
    keys = ((bits ^ bits >> np.uint64(29)) * (2 * factors + 1)).sum(axis=1, dtype=np.uint64)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    if not np.array_equal(table[first][place], table):  # different rows have the same number
        rows, place = np.unique(table, axis=0, return_inverse=True)
        return rows, place.ravel()
    return table[first], place


class CompactLabels:
    """Labels of n items, 1 or 4 bytes each beside different ones; what `Reader` needs of `Labels`.

    Parameters
    ----------
    parts : iterable of Labels, all of the same classes

    Examples
    --------
    >>> parts = [["b", "a", "b"], ["c", "a"]]
    >>> labels = CompactLabels(Labels.from_crisp(part, classes="abc") for part in parts)
    >>> len(labels), len(labels.distinct)
    (5, 4)
    >>> labels[[3, 0, -1]].contour  # the last one says nothing
    array([[0., 0., 1.],
           [0., 1., 0.],
           [1., 1., 1.]])
    """

    def __init__(self, parts: Iterable[Labels]) -> None:
        known: dict[bytes, int] = {}
        rows: list[NDArray[np.float64]] = []
        codes = Growing(np.int32)
        for part in parts:
            self.classes = part.classes
            table = np.column_stack([part.contour, part.is_probability])
            distinct, place = different_rows(table)
            numbers = []
            for row in distinct:
                numbers.append(known.setdefault(row.tobytes(), len(known)))
                if len(known) > len(rows):
                    rows.append(row)
            codes.add(np.array(numbers, dtype=np.int32)[place])
        self.codes = codes.whole()
        if len(rows) < 128:
            self.codes = self.codes.astype(np.int8)
        rows.append(np.append(np.ones(len(self.classes)), 0.0))  # the last one says nothing
        table = np.array(rows)
        self.distinct = Labels(
            table[:, :-1], self.classes.tolist(), is_probability=table[:, -1] == 1.0
        )

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def informativeness(self) -> NDArray[np.float64]:
        """How much the labels say that occur; one number for each different one."""
        return self.distinct.informativeness[:-1]

    @property
    def n_said(self) -> int:
        """How many labels say something."""
        return int((self.informativeness > 0)[self.codes].sum())

    def __getitem__(self, places: Any) -> Labels:
        """The labels at some places; -1 is that of an item about which nothing is known."""
        if isinstance(places, slice):
            return self.distinct[self.codes[places]]
        rows = np.asarray(places)
        return self.distinct[np.where(rows < 0, len(self.distinct) - 1, self.codes[rows])]


class Keys:
    """Names of very many items as numbers of 64 bits: themselves if they are, else hashes."""

    def __init__(self) -> None:
        self.numbers: Growing | None = Growing(np.int64)
        self.hashes = Growing(np.uint64)

    def add(self, items: NDArray[Any]) -> None:
        """Take further names."""
        column = arrow().array(items)
        if self.numbers is not None:
            numbers, are = whole_numbers(column)
            if are.all():
                self.numbers.add(numbers)
                return
            before, self.numbers = self.numbers.whole(), None
            for start in range(0, len(before), PIECE_ROWS):
                self.hashes.add(hash_names(arrow().array(before[start : start + PIECE_ROWS])))
        self.hashes.add(hash_names(column))

    def lookup(self) -> Lookup:
        """The items, to be found."""
        if self.numbers is not None:
            return Lookup.of_keys(self.numbers.whole(), None)
        return Lookup.of_keys(None, self.hashes.whole())
