"""Columns of a text file that is kept whole: text or codes, and values when these are asked for.

What the cells leave open is the same for all of them and for each distinct one, so that a column in
codes is typed, cleaned and converted by its distinct cells.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from plausible.tables.codes import Coded, Encoded, distinct, encode, recode
from plausible.tables.errors import arrow
from plausible.tables.kinds import (
    DATES,
    FLOAT,
    INT,
    TEXT,
    Typing,
    as_kind,
    type_of,
    without_blanks,
    without_nan,
)

LOOK = 4096  # rows that tell whether cells are mostly different
SHORT = 50_000  # rows for which it does not matter


class Typed(NamedTuple):
    """What the cells of a column leave open, and the numbers or dates that they are, or None."""

    typing: Typing
    numbers: Any


def _typed(cells: Any) -> Typed:
    typing = Typing()
    numbers = typing.add(cells)
    return Typed(typing, None if numbers is None else without_nan(numbers))


class TextColumn:
    """A column as text."""

    def __init__(self, cells: Any) -> None:
        self._cells = cells
        self._values: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self._cells)

    @cached_property
    def coded(self) -> Coded:
        """Its distinct cells, and which of them is in each row."""
        return distinct(self._cells)

    def count(self) -> None:
        """Find its distinct cells, by which it is typed then."""
        assert self.coded is not None

    @cached_property
    def typed(self) -> Typed:
        """What its cells leave open; of their distinct ones, where these are known."""
        return _typed(self.coded.cells if "coded" in self.__dict__ else self._cells)

    @cached_property
    def text(self) -> Any:
        """Text, in which blank cells are missing."""
        self._cells = without_blanks(self._cells)
        return self._cells

    def values(self, kind: str) -> Any:
        """Values of a kind."""
        if kind == TEXT:
            return self.text
        if kind not in self._values:
            numbers = self._numbers(kind, len(self))
            self._values[kind] = self._converted(kind) if numbers is None else numbers
        return self._values[kind]

    def _converted(self, kind: str) -> Any:
        chunks = [as_kind(chunk, kind) for chunk in self.text.chunks]
        return arrow().chunked_array(chunks, type_of(kind))

    def _numbers(self, kind: str, count: int) -> Any:
        """Numbers or dates that were found when so many cells were typed, or else None."""
        numbers = self.typed.numbers if kind in (INT, FLOAT, *DATES) else None
        return numbers if numbers is not None and len(numbers) == count else None

    def encoded(self, kind: str) -> Encoded:
        """Distinct values of a kind, and which of them is in each row."""
        return recode(self.coded, self._read_cells(kind))

    def _read_cells(self, kind: str) -> Any:
        """Distinct cells as values of a kind."""
        cells = self.coded.cells
        numbers = self._numbers(kind, len(cells))
        return as_kind(without_blanks(cells), kind) if numbers is None else numbers

    def is_varied(self) -> bool:
        """Whether its first cells are so different that codes would be no use."""
        few = self._cells.slice(0, LOOK)
        return len(self) >= SHORT and len(few.unique()) > len(few) // 4


class CodedColumn(TextColumn):
    """A column in codes, which is text only when that is asked for."""

    def __init__(self, coded: Coded) -> None:
        super().__init__(None)
        self.coded = coded

    def __len__(self) -> int:
        return len(self.coded.codes)

    @cached_property
    def text(self) -> Any:
        """Text, in which blank cells are missing."""
        return self._spread(without_blanks(self.coded.cells))

    def _converted(self, kind: str) -> Any:
        return self._spread(self._read_cells(kind))

    def _spread(self, values: Any) -> Any:
        """What each row has, given what each distinct cell is."""
        codes = self.coded.codes
        places = arrow().array(codes, mask=codes < 0 if np.any(codes < 0) else None)
        return arrow().chunked_array([values.take(places)])

    def is_varied(self) -> bool:
        """Never: it would not be in codes."""
        return False


class NumberColumn(TextColumn):
    """A column of numbers, whose text is read when that is asked for."""

    def __init__(self, typed: Typed, read: Callable[[], Any]) -> None:
        super().__init__(None)
        self.typed, self._read = typed, read

    def __len__(self) -> int:
        return len(self.typed.numbers)

    @cached_property
    def text(self) -> Any:
        """Text, in which blank cells are missing."""
        return without_blanks(self._read())

    def count(self) -> None:
        """Nothing: it is typed already."""

    def encoded(self, kind: str) -> Encoded:
        """Distinct values of a kind, and which of them is in each row."""
        return encode(self.values(kind))

    def is_varied(self) -> bool:
        """Always: it would be in codes."""
        return True
