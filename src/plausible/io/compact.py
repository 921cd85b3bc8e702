"""Labels of very many items: each different label once, and which one every item has."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.io.lookup import Lookup, hash_names, whole_numbers
from plausible.labels import Labels
from plausible.tables import arrow


class CompactLabels:
    """Labels of n items, 4 bytes each beside those that differ; what `Reader` needs of `Labels`.

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
        codes: list[NDArray[np.int32]] = []
        for part in parts:
            self.classes = part.classes
            table = np.column_stack([part.contour, part.is_probability])
            distinct, place = np.unique(table, axis=0, return_inverse=True)
            numbers = []
            for row in distinct:
                numbers.append(known.setdefault(row.tobytes(), len(known)))
                if len(known) > len(rows):
                    rows.append(row)
            codes.append(np.array(numbers, dtype=np.int32)[place.ravel()])
        self.codes = np.concatenate(codes)
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

    def __getitem__(self, places: Any) -> Labels:
        """The labels at some places; -1 is that of an item about which nothing is known."""
        rows = np.asarray(places)
        return self.distinct[np.where(rows < 0, len(self.distinct) - 1, self.codes[rows])]


class Keys:
    """Names of very many items as numbers of 64 bits: themselves if they are, else hashes."""

    def __init__(self) -> None:
        self.numbers: list[NDArray[np.int64]] | None = []
        self.hashes: list[NDArray[np.uint64]] = []

    def add(self, items: NDArray[Any]) -> None:
        """Take further names."""
        column = arrow().array(items)
        if self.numbers is not None:
            numbers, are = whole_numbers(column)
            if are.all():
                self.numbers.append(numbers)
                return
            before = self.numbers
            self.numbers = None
            self.hashes += [hash_names(arrow().array(one)) for one in before]
        self.hashes.append(hash_names(column))

    def lookup(self) -> Lookup:
        """The items, to be found."""
        parts: list[Any] = self.hashes if self.numbers is None else self.numbers
        keys = np.concatenate(parts)
        parts.clear()
        if self.numbers is not None:
            return Lookup.of_keys(keys, None)
        return Lookup.of_keys(None, keys)
