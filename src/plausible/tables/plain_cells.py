"""Long CSV of one line for each row, read in compiled loops: most columns straight into codes.

Who answered what is in few distinct cells: to find these while the text is cut costs less than to
write every cell as text first. Columns whose cells are mostly different are left to Arrow as
numbers, or become text. It takes numba, whose import costs more than a million rows gain, so that a
first file is left to Arrow unless numba is there already. So is what is not plain: quotes or line
ends within quotes, lines of different lengths, empty lines.
"""

import mmap
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.tables.codes import Coded, distinct
from plausible.tables.errors import arrow
from plausible.tables.far_numbers import are_far
from plausible.tables.kinds import (
    FLOAT,
    FRACTIONS,
    INT,
    MISSING,
    WHOLE_KINDS,
    Typing,
    without_nan,
)
from plausible.tables.text_columns import Typed
from plausible.tables.threads import N_THREADS, at_once

LOOK = 4  # times the square root of how many there are: rows that tell which cells come again
FEW = 4  # of these whose cells come again, where most cells come once
HEAD = 1 << 20  # bytes in which a header ends
AT_ONCE = 64  # bytes
BEHIND = 15  # bytes that are read behind text, sixteen at a time
BEYOND = 64  # ends that may be written too many where lines are not alike
NEW_LINE, RETURN, QUOTE = b"\n", b"\r", b'"'
BOM = b"\xef\xbb\xbf"
LONGEST_MISSING = max(map(len, MISSING))
N_PLACES = 1 << 12  # of a table of cells, in the beginning
WIDTH = 4  # numbers of each
IntArray = NDArray[np.int64]
Rows = IntArray | slice
ALL = slice(None)
Parse = Callable[[Mapping[int, str]], Sequence[Any]]


class Lines(NamedTuple):
    """Text that was cut.

    text : its bytes, which stay where they are
    ends : of all cells, after one place more in front of the first
    n_columns : cells of a line
    n_returns : bytes that end a line beside its last one
    is_ascii : whether all letters are
    has_quotes : whether there are quotes, which enclose cells
    """

    text: NDArray[np.uint8]
    ends: NDArray[np.int32]
    n_columns: int
    n_returns: int
    is_ascii: bool
    has_quotes: bool

    @property
    def n_rows(self) -> int:
        """Lines."""
        return (len(self.ends) - 1) // self.n_columns

    def column(self, number: int) -> tuple[int, int, int, int]:
        """What compiled loops are told about a column; last, how many bytes end its cells."""
        cut = self.n_returns if number == self.n_columns - 1 else 0
        return _at(self.text), _at(self.ends[number:]), 4 * self.n_columns, cut

    def begins(self, number: int, rows: Rows) -> NDArray[np.int32]:
        """Where the cells of a column begin in some rows."""
        begins: NDArray[np.int32] = self.ends[number : -1 : self.n_columns][rows] + 1
        return begins

    def sizes(self, number: int, rows: Rows) -> NDArray[np.int32]:
        """Bytes of the cells of a column in some rows."""
        ends, cut = self.ends[number + 1 :: self.n_columns][rows], self.column(number)[-1]
        sizes: NDArray[np.int32] = ends - self.begins(number, rows) - cut
        return sizes


def _at(array: NDArray[Any]) -> int:
    """Where an array lies, which has to be kept as long as that is used."""
    return array.ctypes.data


_n_files = 0


def is_worth_compiling() -> bool:
    """Whether compiled loops pay: numba is there already, or long files come again and again."""
    global _n_files
    _n_files += 1
    return sys.byteorder == "little" and ("numba" in sys.modules or _n_files > 1)


def read_plain(
    whole: Any, n_before: int, delimiter: str, n_columns: int, parse: Parse
) -> list[Any] | None:
    """The columns of plain text, which has `n_before` lines above its header; None for other text.

    They are `Coded` or, where cells are mostly different, `Typed` numbers or text of Arrow. `parse`
    gives columns of numbers, whose places and kinds it is told.
    """
    start = _first_row(whole, n_before)
    if start is None or start == len(whole) or n_columns < 2:
        return None
    lines = _cut(whole, start, delimiter, n_columns)
    if lines is None:
        return None
    try:
        return _read_columns(lines, parse)
    except arrow().ArrowInvalid:  # letters that are not UTF-8
        return None


def _read_columns(lines: Lines, parse: Parse) -> list[Any]:
    """All columns, each in the way that suits it."""
    n_sampled = int(LOOK * lines.n_rows**0.5) + 1
    rows = np.unique(np.random.default_rng(0).integers(0, lines.n_rows, n_sampled))
    tasks: list[Any] = [partial(_look, lines, number, rows) for number in range(lines.n_columns)]
    looks = dict(enumerate(at_once(tasks, lines.n_rows)))
    varied = {number: typing for number, typing in looks.items() if typing is not None}
    kinds = {} if lines.has_quotes else _number_kinds(varied)
    again = [number for number in looks if number not in varied]
    texts = [number for number in varied if number not in kinds]
    tasks = [partial(_numbers, lines, kinds, varied, parse)]
    tasks += [partial(_text, lines, number) for number in texts]
    tasks += [partial(_coded, lines, number) for number in again]
    numbers, *made = at_once(tasks, lines.n_rows)
    late = [number for number in kinds if number not in numbers]  # which are not, after all
    made += at_once([partial(_text, lines, number) for number in late], lines.n_rows)
    found = numbers | dict(zip([*texts, *again, *late], made, strict=True))
    return [found[number] for number in looks]


def _first_row(whole: Any, n_before: int) -> int | None:
    """Where the line behind the header begins, if that is a plain line."""
    head = bytes(memoryview(whole)[:HEAD])
    at = len(BOM) if head.startswith(BOM) else 0
    for _ in range(n_before + 1):
        end = head.find(NEW_LINE, at)
        if end < 0 or not head[at:end].strip(RETURN):
            return None
        at = end + 1
    is_plain = head.count(QUOTE, 0, at) % 2 == 0 and RETURN not in head[: at - 2]
    return at if is_plain else None


def _cut(whole: Any, start: int, delimiter: str, n_columns: int) -> Lines | None:
    """Where all cells end; None if lines are not alike."""
    from plausible.tables.cells_compiled import HAS_QUOTES, HAS_RETURNS, IS_FOREIGN, split

    text = _readable(whole)
    parts = list(pairwise(_part_starts(text, start)))
    tails = [_tail(text, *part) for part in parts]
    counts = _count(text, parts, tails, NEW_LINE)
    places = np.cumsum([0, *counts]) * n_columns
    ends = np.empty(places[-1] + 1 + BEYOND, np.int32)
    ends[0] = start - 1
    mark = ord(delimiter)
    tasks = [
        partial(split, _at(text), _at(tail), *part, mark, n_columns, _at(ends[place + 1 :]))
        for part, tail, place in zip(parts, tails, places, strict=False)
    ]
    found = at_once(tasks, len(text))
    if [n_cells for n_cells, _ in found] != np.diff(places).tolist():
        return None
    ends, seen = ends[: places[-1] + 1], 0
    for _, part in found:
        seen |= part
    has_returns = bool(seen & HAS_RETURNS)
    if has_returns:  # all lines, and nothing else, should have one before their end
        before = text[ends[n_columns::n_columns] - 1]
        if _count(text, parts, tails, RETURN) != counts or not (before == ord(RETURN)).all():
            return None
    is_ascii, has_quotes = not seen & IS_FOREIGN, bool(seen & HAS_QUOTES)
    return Lines(text, ends, n_columns, int(has_returns), is_ascii, has_quotes)


def _tail(text: NDArray[np.uint8], start: int, stop: int) -> NDArray[np.uint8]:
    """The last bytes of a part, which are too few to be read at once, and zeros."""
    tail, n_left = np.zeros(AT_ONCE, np.uint8), (stop - start) % AT_ONCE
    tail[:n_left] = text[stop - n_left : stop]
    return tail


def _readable(whole: Any) -> NDArray[np.uint8]:
    """Text that ends with a line end, behind which some bytes more may be read.

    What is on the same page of memory may be read; else the text is copied.
    """
    text = np.frombuffer(whole, np.uint8)
    room = -(text.ctypes.data + len(text)) % mmap.PAGESIZE
    if text[-1] == ord(NEW_LINE) and room >= BEHIND:
        return text
    is_open = text[-1] != ord(NEW_LINE)
    copy = np.zeros(len(text) + is_open + BEHIND, np.uint8)
    copy[: len(text)] = text
    if is_open:
        copy[len(text)] = ord(NEW_LINE)
    return copy[:-BEHIND]


def _part_starts(text: NDArray[np.uint8], start: int) -> list[int]:
    """Where parts for threads begin, at starts of lines, and the end."""
    starts = [start]
    for number in range(1, N_THREADS):
        at = start + (len(text) - start) * number // N_THREADS
        end = text[at : at + HEAD].tobytes().find(NEW_LINE)
        if end >= 0 and at + end + 1 > starts[-1]:
            starts.append(at + end + 1)
    return [*starts, len(text)]


def _count(
    text: NDArray[np.uint8],
    parts: list[tuple[int, int]],
    tails: list[NDArray[np.uint8]],
    letter: bytes,
) -> list[int]:
    """How often a letter comes in each part."""
    from plausible.tables.cells_compiled import count

    tasks = [
        partial(count, _at(text), _at(tail), *part, ord(letter))
        for part, tail in zip(parts, tails, strict=True)
    ]
    return at_once(tasks, len(text))


def _coded(lines: Lines, number: int) -> Coded:
    """A column by its distinct cells."""
    codes, first = _codes(lines, number)
    cells, is_quoted, is_missing = _cells(lines, number, first)
    is_mixed = is_quoted.any() and not is_quoted.all()
    if not (is_mixed or is_missing.any()):
        return Coded(codes, cells)
    places = np.where(is_missing, -1, np.cumsum(~is_missing) - 1)
    cells = cells.filter(arrow().array(~is_missing))
    if is_mixed:  # "a" and a are one
        again, cells = distinct(cells)
        places = np.append(again, -1)[places]
    return Coded(places[codes], cells)


def _codes(lines: Lines, number: int) -> tuple[IntArray, IntArray]:
    """The code of each cell of a column, and the first row of each code."""
    codes, first = np.empty(lines.n_rows, np.int64), np.empty(0, np.int64)
    n_places, n_codes, row = N_PLACES, 0, 0
    while row < lines.n_rows:
        table = np.zeros(n_places * WIDTH, np.uint64)
        if n_codes:  # which are written into a larger table
            ends = lines.ends[first[:n_codes, None] * lines.n_columns + (number, number + 1)]
            known = np.empty((2, n_codes), np.int64)
            where = _at(lines.text), _at(ends), 4 * 2, lines.column(number)[-1]
            _encode(where, 0, known[0], table, known[1], 0)
        first = np.concatenate([first[:n_codes], np.empty(n_places // 2 - n_codes, np.int64)])
        row, n_codes = _encode(lines.column(number), row, codes, table, first, n_codes)
        n_places *= 4
    return codes, first[:n_codes]


def _encode(
    where: tuple[int, int, int, int],
    row: int,
    codes: IntArray,
    table: NDArray[np.uint64],
    first: IntArray,
    n_codes: int,
) -> tuple[int, int]:
    """Write codes of cells from a row on, as far as a table allows."""
    from plausible.tables.cells_compiled import BATCH, ROOM, encode

    last, room = len(table) // WIDTH - 1, np.empty(BATCH * ROOM, np.uint8)
    rest = _at(codes), _at(table), last, _at(first), n_codes, _at(room)
    return encode(*where, row, len(codes), *rest)


def _look(lines: Lines, number: int, rows: IntArray) -> Typing | None:
    """What some cells of a column leave open, if they are mostly different; else None."""
    cells = _text(lines, number, rows)
    n_cells = len(cells) - cells.null_count
    n_again = n_cells - arrow(".compute").count_distinct(cells).as_py()
    if 4 * n_again >= 3 * n_cells:
        return None
    typing = Typing()
    typing.add(cells)
    return typing if n_again <= FEW or typing.possible == FRACTIONS else None


def _number_kinds(varied: Mapping[int, Typing]) -> dict[int, str]:
    """Columns that may be plain numbers, by some of their cells, and of which kind."""
    whole = {k: INT for k, typing in varied.items() if typing.possible == WHOLE_KINDS}
    return whole | {
        number: FLOAT
        for number, typing in varied.items()
        if typing.possible == FRACTIONS and not typing.is_code
    }


def _numbers(
    lines: Lines, kinds: Mapping[int, str], varied: Mapping[int, Typing], parse: Parse
) -> dict[int, Typed]:
    """Those of some columns that are plain numbers, if all of them are."""
    from plausible.tables.cells_compiled import are_simple

    simple = at_once(
        [partial(are_simple, *lines.column(k), lines.n_rows) for k in kinds], lines.n_rows
    )
    kinds = {k: kind for (k, kind), is_so in zip(kinds.items(), simple, strict=True) if is_so}
    try:
        columns = parse(kinds) if kinds else []
    except arrow().ArrowInvalid:
        return {}
    found = {}
    for (number, kind), column in zip(kinds.items(), columns, strict=True):
        if kind == INT or not are_far(column):
            varied[number].n_cells = len(column) - column.null_count
            found[number] = Typed(varied[number], without_nan(column))
    return found


def _text(lines: Lines, number: int, rows: Rows = ALL) -> Any:
    """A column, or some of its rows, as text, in which some cells may be missing."""
    cells, _, is_missing = _cells(lines, number, rows)
    if is_missing.any():
        gap = arrow().scalar(None, arrow().string())
        cells = arrow(".compute").if_else(arrow().array(is_missing), gap, cells)
    return arrow().chunked_array([cells])


def _cells(
    lines: Lines, number: int, rows: Rows
) -> tuple[Any, NDArray[np.bool_], NDArray[np.bool_]]:
    """Cells of a column as an array of Arrow, and which of them are in quotes, and missing."""
    from plausible.tables.cells_compiled import gather

    sizes = lines.sizes(number, rows)
    which = np.arange(len(sizes)) if isinstance(rows, slice) else rows
    letters = np.empty(int(sizes.sum()) + 1 + BEHIND, np.uint8)
    places = np.empty(len(sizes) + 1, np.int32)
    gather(*lines.column(number), _at(which), len(which), _at(places), _at(letters))
    buffers = map(arrow().py_buffer, (places, letters))
    cells = arrow().StringArray.from_buffers(len(sizes), *buffers)
    if not lines.is_ascii:
        cells.validate(full=True)
    is_quoted = np.zeros(len(sizes), bool)
    if lines.has_quotes:
        is_quoted = lines.text[lines.begins(number, rows)] == ord(QUOTE)
    is_missing = (sizes <= LONGEST_MISSING) & ~is_quoted
    short = cells.filter(arrow().array(is_missing))
    is_missing[is_missing] = arrow(".compute").is_in(short, arrow().array(MISSING))
    return cells, is_quoted, is_missing
