"""Codes of a column of names that comes in parts, in the order of its rows.

A part is first read, in any order and by any thread, and then added, one after the other: a table
holds the code of each name that was met, and only rows with new ones need more than a look.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from plausible.tables.errors import arrow
from plausible.tables.few_names import MOST, Known
from plausible.tables.kinds import places_of
from plausible.tables.number_codes import ROOM, n_letters
from plausible.tables.numbered_names import INLINE, Form, form_of, read_numbers, views_of

LOOK = 4096  # rows that tell whether there are many names
IntArray = NDArray[np.int64]


class Coder(Protocol):
    """What gives codes to the names of one column."""

    def read(self, chunk: Any) -> Any:
        """What is needed of a part; None if it cannot be coded."""

    def add(self, part: Any) -> bool:
        """Give codes to the next part; False if it cannot be coded."""

    def finish(self) -> tuple[IntArray, Any]:
        """Codes of all rows, and the different names in the order of their first rows."""


def choose_coder(sample: Any, n_rows: int) -> Coder | None:
    """What can give codes to a column that begins so; None if nothing can."""
    if sample.null_count or not len(sample):
        return None
    if not arrow().types.is_string(sample.type):
        return WholeNumbers(n_rows)
    look = sample.slice(0, LOOK)
    names = look.unique()
    are_few = len(names) <= min(len(look) // 4, MOST)
    if are_few and views_of(names) is not None and np.diff(places_of(names)[0]).max() <= INLINE:
        return FewNames(n_rows)
    form = form_of(sample)
    found = np.empty(len(sample), np.int64)
    if form is not None and read_numbers(sample, form, found) and found.max() < ROOM * n_rows / 2:
        return NumberedNames(form, n_rows)
    return LongNames(n_rows) if are_few else None


class CodeTable:
    """Codes of numbers from 0 on, in the order in which they come.

    Examples
    --------
    >>> table = CodeTable(10)
    >>> table.add(np.array([3, 1, 3])), table.add(np.array([0, 1]))
    (array([0, 1]), array([0]))
    >>> table.codes[: table.end]
    array([0, 1, 0, 2, 1])
    """

    def __init__(self, n_rows: int) -> None:
        self.codes = np.empty(n_rows, np.int64)
        self.end = self.n_names = 0
        self._table = np.full(1024, -1, np.int32)

    def add(self, values: IntArray) -> IntArray | None:
        """Give codes to more numbers; rows that are the first of theirs, None if one is too large.

        There is room for so many rows as were said at first.
        """
        begin, end = self.end, self.end + len(values)
        high = int(values.view(np.uint64).max(initial=0))  # negative ones are the largest
        if end > len(self.codes) or high >= ROOM * len(self.codes):
            return None
        if high >= len(self._table):
            table = np.full(max(high + 1, 2 * len(self._table)), -1, np.int32)
            table[: len(self._table)] = self._table
            self._table = table
        codes = self._table.take(values)
        new = np.flatnonzero(codes < 0)
        first = new
        if len(new):
            names = values.take(new)
            self._table[names[::-1]] = np.arange(len(new) - 1, -1, -1)  # the first is written last
            is_first = self._table.take(names) == np.arange(len(new))
            first = new[is_first]
            n_names = self.n_names + len(first)
            self._table[names[is_first]] = np.arange(self.n_names, n_names)
            codes[new] = self._table.take(names)
            self.n_names = n_names
        self.codes[begin:end] = codes
        self.end = end
        return first


class WholeNumbers:
    """Whole numbers from 0 on."""

    def __init__(self, n_rows: int) -> None:
        self.table, self.names = CodeTable(n_rows), [np.empty(0, np.int64)]

    def read(self, chunk: Any) -> Any:
        """The numbers of a part."""
        return None if chunk.null_count else chunk.to_numpy()

    def add(self, part: Any) -> bool:
        """Give codes to the next part."""
        first = self.table.add(part)
        if first is None:
            return False
        self.names.append(part.take(first))
        return True

    def finish(self) -> tuple[IntArray, Any]:
        """Codes, and different numbers."""
        return self.table.codes[: self.table.end], np.concatenate(self.names)


class NumberedNames:
    """Names that differ by a number alone."""

    def __init__(self, form: Form, n_rows: int) -> None:
        self.form, self.table = form, CodeTable(n_rows)
        self.names: list[Any] = []

    def read(self, chunk: Any) -> Any:
        """The numbers of a part, and its names."""
        numbers = np.empty(len(chunk), np.int64)
        if chunk.null_count or not read_numbers(chunk, self.form, numbers):
            return None
        if not self.form.is_even:
            places = places_of(chunk)[0]
            size = int(places[-1] - places[0]) - self.form.begin * len(chunk)
            if n_letters(numbers) != size:  # zeros in front: two names could have one number
                return None
        return numbers, chunk

    def add(self, part: Any) -> bool:
        """Give codes to the next part."""
        first = self.table.add(part[0])
        if first is None:
            return False
        if len(first):
            self.names.append(part[1].take(arrow().array(first)))
        return True

    def finish(self) -> tuple[IntArray, Any]:
        """Codes, and different names."""
        return self.table.codes[: self.table.end], arrow().concat_arrays(self.names)


class FewNames:
    """A few short names."""

    def __init__(self, n_rows: int) -> None:
        self.known, self.codes, self.end = Known(), np.empty(n_rows, np.int64), 0

    def read(self, chunk: Any) -> Any:
        """Words of a part, and its names."""
        places = places_of(chunk)[0]
        longest = int((places[1:] - places[:-1]).max(initial=0))
        views = views_of(chunk) if longest <= INLINE and not chunk.null_count else None
        if views is None or not len(chunk):
            return None
        return views, longest, chunk

    def add(self, part: Any) -> bool:
        """Give codes to the next part."""
        views, longest, chunk = part
        codes = self.known.codes_of(views, longest, chunk)
        end = self.end + len(chunk)
        if codes is None or end > len(self.codes):
            return False
        self.codes[self.end : end] = codes
        self.end = end
        return True

    def finish(self) -> tuple[IntArray, Any]:
        """Codes, and different names."""
        return self.codes[: self.end], arrow().concat_arrays(self.known.names)


class LongNames:
    """A few names of any length, which Arrow finds."""

    def __init__(self, n_rows: int) -> None:
        self.places: dict[str, int] = {}
        self.codes, self.end = np.empty(n_rows, np.int64), 0

    def read(self, chunk: Any) -> Any:
        """Codes of a part, and its different names."""
        if chunk.null_count or not len(chunk):
            return None
        pool = arrow().system_memory_pool()
        found = arrow(".compute").dictionary_encode(chunk, memory_pool=pool)
        names = found.dictionary
        return (found.indices.to_numpy(), names.to_pylist()) if len(names) <= LOOK else None

    def add(self, part: Any) -> bool:
        """Give codes to the next part."""
        codes, names = part
        end = self.end + len(codes)
        if end > len(self.codes):
            return False
        places = [self.places.setdefault(name, len(self.places)) for name in names]
        np.take(np.array(places), codes, out=self.codes[self.end : end], mode="clip")
        self.end = end
        return True

    def finish(self) -> tuple[IntArray, Any]:
        """Codes, and different names."""
        return self.codes[: self.end], arrow().array(list(self.places), arrow().string())
