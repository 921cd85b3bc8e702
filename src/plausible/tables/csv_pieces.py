"""Long plain text, parsed in pieces that threads take turns at.

Text without quotes can be cut at any line end. Each piece is surveyed and parsed, and the names of
columns that will be wanted as codes are read, while it is in the cache. Codes are then given to one
piece after the other, in the order of the rows, by whichever thread is free.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from plausible.tables.coders import Coder, choose_coder
from plausible.tables.errors import arrow
from plausible.tables.number_codes import letters_of
from plausible.tables.threads import at_once

PIECE = 1 << 21  # bytes
LOOK = 1 << 17  # bytes that tell which columns can be coded
LONGEST = 1 << 16  # bytes of a line, or else text is not cut
BLOCK = 1 << 17  # bytes that are looked at at a time, so that they stay in the cache
QUOTE = 34
Columns = dict[str, Any]


class Pieces:
    """Columns of plain text.

    Parameters
    ----------
    whole : buffer of text with a header on its first line
    parse : what turns a part of it, without the header, into a table in one chunk
    wanted : names of columns that will be asked for as codes

    Attributes
    ----------
    coders : dict
        What gave codes to columns, as far as that was possible.
    is_plain : bool
        Whether all text that was looked at is UTF-8 without quotes.
    """

    def __init__(self, whole: Any, parse: Callable[[Any], Any], wanted: Sequence[str]) -> None:
        self.whole, self.parse, self.wanted = whole, parse, wanted
        self.coders: dict[str, Coder] = {}
        self.is_plain = True
        self._is_given_up = False
        self._waiting: dict[int, Columns] = {}
        self._next, self._turn = 0, Lock()

    def read(self) -> Columns | None:
        """All columns; None if the text is not so plain that it can be cut."""
        cuts = cut(self.whole)
        if cuts is None:
            return None
        if self.wanted:
            self._choose_coders(cuts[0])
        tasks = [
            partial(self._read_piece, place, part) for place, part in enumerate(pairwise(cuts))
        ]
        tables = at_once(tasks, len(self.whole))
        if self._is_given_up:
            return None
        return {
            name: arrow().chunked_array([table[name].chunk(0) for table in tables])
            for name in tables[0].column_names
        }

    def _choose_coders(self, begin: int) -> None:
        """Look at the first rows to see how columns can be coded."""
        end = bytes(memoryview(self.whole)[begin : begin + LOOK]).rfind(b"\n") + 1
        table = self.parse(self.whole.slice(begin, end))
        n_rows = 2 * (len(self.whole) // (end // table.num_rows)) if table.num_rows else 0
        for name in self.wanted:
            coder = choose_coder(table[name].combine_chunks(), n_rows)
            if coder is not None:
                self.coders[name] = coder

    def _read_piece(self, place: int, part: tuple[int, int]) -> Any:
        """One piece as a table; None after one could not be read."""
        piece = self.whole.slice(part[0], part[1] - part[0])
        if self._is_given_up:
            return None
        try:
            table = self._parsed(piece)
        except BaseException:
            self._is_given_up = True  # others need not begin
            raise
        if table is None:
            self._is_given_up = True
            return None
        coders = list(self.coders.items())
        self._waiting[place] = {name: coder.read(table[name].chunk(0)) for name, coder in coders}
        self._give_codes()
        return table

    def _parsed(self, piece: Any) -> Any:
        """A piece as a table; None unless it is plain, and its whole numbers are written so."""
        if not is_plain(piece):
            self.is_plain = False
            return None
        table = self.parse(piece)
        return table if is_written_so(piece, table) else None

    def _give_codes(self) -> None:
        """Give codes to all pieces whose turn it is, unless another thread does so."""
        while self._next in self._waiting and self._turn.acquire(blocking=False):
            try:
                while self._next in self._waiting:
                    found = self._waiting.pop(self._next)
                    for name in list(self.coders):
                        if found.get(name) is None or not self.coders[name].add(found[name]):
                            del self.coders[name]
                    self._next += 1
            finally:
                self._turn.release()


def parse_pieces(
    whole: Any,
    parse: Callable[[Collection[str], Any], Any],
    counts: Collection[str],
    wanted: Sequence[str],
) -> tuple[Columns, dict[str, Coder]] | None:
    """All columns of plain text, and what gave codes to those that are wanted; None for other text.

    `counts` are columns that begin with whole numbers; where one of them does not go on so, they
    are all parsed as text.
    """
    for numbers in [counts, ()] if counts else [()]:
        pieces = Pieces(whole, partial(parse, numbers), wanted)
        with suppress(arrow().ArrowInvalid):
            columns = pieces.read()
            if columns is not None:
                return columns, pieces.coders
        if not pieces.is_plain:
            return None
    return None


def cut(whole: Any) -> list[int] | None:
    """Where pieces begin and end, after the header; None if some lines are too long."""
    letters = memoryview(whole)
    head = bytes(letters[:LONGEST])
    begin = head.find(b"\n") + 1
    if not head[:begin].strip() or b"\r" in head[:begin].removesuffix(b"\r\n"):
        return None
    cuts = [begin]
    while cuts[-1] + PIECE < len(letters):
        end = cuts[-1] + PIECE
        length = bytes(letters[end : end + LONGEST]).find(b"\n") + 1
        if not length and end + LONGEST < len(letters):
            return None
        cuts.append(end + length if length else len(letters))
    if cuts[-1] < len(letters):
        cuts.append(len(letters))
    return cuts if len(cuts) > 1 else None


def is_plain(piece: Any) -> bool:
    """Whether a piece of text is UTF-8 without quotes."""
    values = np.frombuffer(piece, np.uint8)
    parts = [values[start : start + BLOCK] for start in range(0, len(values), BLOCK)]
    if any((part == QUOTE).any() for part in parts):
        return False
    if values.max(initial=0) < 128:
        return True
    try:
        bytes(piece).decode()
    except UnicodeDecodeError:
        return False
    return True


def is_written_so(piece: Any, table: Any) -> bool:
    """Whether whole numbers that were parsed are written in the usual way."""
    if all(arrow().types.is_string(column.type) for column in table.columns):
        return True
    size = letters_of(dict(zip(table.column_names, table.columns, strict=True)))
    n_cells = table.num_rows * table.num_columns
    ending = bytes(memoryview(piece)[-1:])
    return size is not None and size + n_cells - (ending != b"\n") == len(piece)
