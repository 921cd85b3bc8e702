"""Whole numbers as codes, and how many letters it takes to write them.

Text with a sign, blanks or zeros in front is longer than the number that it writes. So all numbers
are written in the usual way if they have as many letters as their digits, which costs less than to
look at each of them: ``"7"`` and ``"007"`` are two names, ``"7"`` and 7 are one.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.tables.errors import arrow

LOOK = 4096  # rows among which few numbers are all found
ROOM = 4  # places of a table of numbers for each row
IntArray = NDArray[np.int64]


def n_letters(values: IntArray) -> int | None:
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


def encode_numbers(values: IntArray) -> tuple[IntArray, IntArray] | None:
    """Codes of numbers from 0 on, and the first rows of different ones; None if some are too large.

    Examples
    --------
    >>> encode_numbers(np.array([3, 1, 3, 0]))
    (array([0, 1, 0, 2]), array([0, 1, 3]))
    """
    low, high = int(values.min()), int(values.max())
    if low < 0 or high >= ROOM * len(values):
        return None
    first = np.sort(np.unique(values[:LOOK], return_index=True)[1])
    if len(first) < int(np.count_nonzero(np.bincount(values))):
        first = _first_rows(values, high)
    rank = np.empty(high + 1, np.int64)
    rank[values[first]] = np.arange(len(first))
    return rank.take(values), first


def _first_rows(values: IntArray, high: int) -> IntArray:
    """First rows of different numbers, in rising order."""
    rows: NDArray[Any] = np.arange(len(values), dtype=np.int32 if len(values) < 2**31 else np.int64)
    table: NDArray[Any] = np.full(high + 1, -1, rows.dtype)
    table[values[::-1]] = rows[::-1]  # the first row is written last
    return np.sort(table[table >= 0]).astype(np.int64)


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
    return numbers if n_letters(numbers.to_numpy()) == text_size(column) else None


def text_size(column: Any) -> int:
    """Bytes of all text of a column."""
    total = 0
    for chunk in column.chunks if hasattr(column, "chunks") else [column]:
        _, offsets, _ = chunk.buffers()
        if offsets is not None and len(chunk):
            places = np.frombuffer(offsets, np.int32)
            total += int(places[chunk.offset + len(chunk)] - places[chunk.offset])
    return total
