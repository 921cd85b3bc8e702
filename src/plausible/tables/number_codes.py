"""Whole numbers as codes, and how many letters it takes to write them.

Text with a sign, blanks or zeros in front is longer than the number that it writes. So all numbers
are written in the usual way if they have as many letters as their digits, which costs less than to
look at each of them: ``"7"`` and ``"007"`` are two names, ``"7"`` and 7 are one.

Numbers come in pieces, one for each chunk of a column, which stay in the cache while they are
computed with.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.tables.errors import arrow

LOOK = 4096  # rows that tell whether text writes numbers
ROOM = 4  # places of a table of numbers for each row
IntArray = NDArray[np.int64]
Ints = NDArray[Any]  # of any size


class NumberCodes(NamedTuple):
    """Whole numbers by their distinct values.

    codes (n,) : places among the numbers
    first : rows in which each comes first, in rising order
    numbers : different ones, in this order
    """

    codes: IntArray
    first: IntArray
    numbers: IntArray


def n_letters(values: Ints) -> int | None:
    """Letters of all numbers as they are usually written; None if that is not worth a look.

    Examples
    --------
    >>> n_letters(np.array([0, 7, 10, -5, 999]))
    9
    """
    if not len(values):
        return 0
    low, high = int(values.min()), int(values.max())
    if low <= -(2**62) or high >= 10**18:
        return None
    sizes = np.abs(values) if low < 0 else values
    n_signs = int(np.count_nonzero(values < 0)) if low < 0 else 0
    n_digits = len(str(max(-low, high)))
    return (
        len(values) + n_signs
        + sum(int(np.count_nonzero(sizes >= 10**k)) for k in range(1, n_digits))
    )  # fmt: skip


def n_letters_in(pieces: Sequence[Ints]) -> int | None:
    """The same for a column in pieces."""
    total = 0
    for piece in pieces:
        count = n_letters(piece)
        if count is None:
            return None
        total += count
    return total


def encode_numbers(pieces: Sequence[Ints]) -> NumberCodes | None:
    """Codes of numbers from 0 on; None if there are none, or some are too large.

    Examples
    --------
    >>> found = encode_numbers([np.array([3, 1]), np.array([3, 0])])
    >>> found.codes, found.first, found.numbers
    (array([0, 1, 0, 2]), array([0, 1, 3]), array([3, 1, 0]))
    """
    pieces = [piece for piece in pieces if len(piece)]
    n_rows = sum(map(len, pieces))
    if not pieces or min(int(piece.min()) for piece in pieces) < 0:
        return None
    high = max(int(piece.max()) for piece in pieces)
    if high >= ROOM * n_rows:
        return None
    first = _first_rows(pieces, n_rows, high)
    numbers = np.flatnonzero(first >= 0)
    order = np.argsort(first[numbers])
    numbers = numbers[order]
    rank = np.zeros(high + 1, np.int64)
    rank[numbers] = np.arange(len(numbers))
    codes = np.empty(n_rows, np.int64)
    begin = 0
    for piece in pieces:
        end = begin + len(piece)
        rank.take(piece, out=codes[begin:end], mode="clip")  # which needs no buffer
        begin = end
    return NumberCodes(codes, first[numbers].astype(np.int64), numbers)


def _first_rows(pieces: Sequence[Ints], n_rows: int, high: int) -> Ints:
    """The first row of each number from 0 to `high`, -1 where there is none."""
    whole: Any = np.int32 if n_rows < 2**31 else np.int64
    table: Ints = np.full(high + 1, -1, whole)
    end = n_rows
    for piece in reversed(pieces):  # the first row is written last
        rows = np.arange(end - 1, end - len(piece) - 1, -1, dtype=whole)
        table[piece[::-1].astype(np.intp, copy=False)] = rows
        end -= len(piece)
    return table


def pieces_of(column: Any) -> list[Ints]:
    """The numbers of a column without gaps, one array for each chunk."""
    return [chunk.to_numpy() for chunk in getattr(column, "chunks", [column])]


def parse_numbers(column: Any) -> Any:
    """Text that writes whole numbers in the usual way as such; None for other text."""
    pa, pc = arrow(), arrow(".compute")
    if column.null_count or not len(column) or not column[0].as_py().isdigit():
        return None
    try:
        pc.cast(column.slice(0, LOOK), pa.int64())
        numbers = pc.cast(column, pa.int64())
    except pa.ArrowInvalid:
        return None
    return numbers if n_letters_in(pieces_of(numbers)) == text_size(column) else None


def text_size(column: Any) -> int:
    """Bytes of all text of a column."""
    total = 0
    for chunk in column.chunks if hasattr(column, "chunks") else [column]:
        _, offsets, _ = chunk.buffers()
        if offsets is not None and len(chunk):
            places = np.frombuffer(offsets, np.int32)
            total += int(places[chunk.offset + len(chunk)] - places[chunk.offset])
    return total


def is_written_so(whole: Any, columns: Mapping[str, Any]) -> bool:
    """Whether a file is what parsed columns would be written as, by its length.

    A number that is written in another way (with a sign, blanks or zeros in front), NA, empty lines
    and ends of lines of two letters only make it longer.
    """
    letters = memoryview(whole)
    head = bytes(letters[: 1 << 16]).find(b"\n") + 1
    n_rows = len(next(iter(columns.values())))
    size = head + n_rows * len(columns) - (bytes(letters[-1:]) != b"\n")
    for column in columns.values():
        if arrow().types.is_string(column.type):
            size += text_size(column)
        else:
            count = n_letters_in(pieces_of(column.drop_null()))
            if count is None:
                return False
            size += count
    return bool(head) and size == len(whole)
