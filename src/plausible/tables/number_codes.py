"""Whole numbers as codes, and how many letters it takes to write them.

Text with a sign, blanks or zeros in front is longer than the number that it writes. So all numbers
are written in the usual way if they have as many letters as their digits, which costs less than to
look at each of them: ``"7"`` and ``"007"`` are two names, ``"7"`` and 7 are one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.tables.errors import arrow

LOOK = 4096  # rows that tell whether text writes numbers
BLOCK = 1 << 15  # rows that are computed with at a time, so that they stay in the cache
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


def encode_numbers(values: IntArray) -> NumberCodes | None:
    """Codes of numbers from 0 on, which are written in their place; None if some are too large.

    Examples
    --------
    >>> found = encode_numbers(np.array([3, 1, 3, 0]))
    >>> found.codes, found.first, found.numbers
    (array([0, 1, 0, 2]), array([0, 1, 3]), array([3, 1, 0]))
    """
    high = int(values.view(np.uint64).max(initial=0))  # negative ones are the largest
    if not len(values) or high >= ROOM * len(values):
        return None
    first = _first_rows(values, high)
    numbers = values.take(first)
    rank = np.empty(high + 1, np.int64)
    rank[numbers] = np.arange(len(numbers))
    for start in range(0, len(values), BLOCK):
        part = slice(start, start + BLOCK)
        values[part] = rank.take(values[part])
    return NumberCodes(values, first, numbers)


def _first_rows(values: IntArray, high: int) -> IntArray:
    """First rows of different numbers, in rising order."""
    whole: Any = np.int32 if len(values) < 2**31 else np.int64
    table: Ints = np.full(high + 1, -1, whole)
    for start in range((len(values) - 1) // BLOCK * BLOCK, -1, -BLOCK):
        part = values[start : start + BLOCK][::-1].copy()  # the first row is written last
        table[part] = np.arange(start + len(part) - 1, start - 1, -1, dtype=whole)
    return np.sort(table[table >= 0]).astype(np.int64)


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
