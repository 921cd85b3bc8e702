"""A column of names as its distinct names, and which of them is in each row.

Names are found by hashing. Where all of them are equal but for eight letters at their end (photo_a,
photo_b, ...), these letters are one number of 64 bits, which is found faster than text; where these
letters are digits (photo_1, photo_2, ...), the number that they write is a place in a table, which
is faster still.
"""

import itertools
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.tables.columns import values_of
from plausible.tables.errors import arrow
from plausible.tables.kinds import places_of

WORD = 8  # bytes of a number
MASKS = np.array([(1 << 8 * k) - 1 for k in range(WORD + 1)], np.uint64)
ASCII = 127
FEW = 50_000  # rows for which it does not matter
LOOK = 4096  # rows that tell whether there are many names; few of them are found fast as text
ROOM = 4  # places of a table of numbers for each row
EACH = np.uint64(0x0101010101010101)  # one in every byte


class Encoded(NamedTuple):
    """A column of names: each of them once, and which of them is in each row.

    Attributes
    ----------
    codes : int array (n,)
        Places among the names; -1 where a cell is missing.
    names : array of text, numbers or truth values
        In the order of their first rows.
    """

    codes: NDArray[np.int64]
    names: NDArray[Any]


def encode(column: Any, clean: Callable[[Any], Any] | None = None) -> Encoded:
    """A column by its distinct values, of which those are missing that `clean` makes so."""
    if not len(column) or column.null_count == len(column):
        return Encoded(np.full(len(column), -1, dtype=np.int64), np.empty(0, dtype=str))
    counted = by_counting(column)
    if counted is not None:  # digits and numbers are never missing
        codes, first = counted
        return Encoded(codes, values_of(column.take(arrow().array(first))))
    start, keys = short_keys(column) if _has_many_names(column) else (b"", None)
    codes, names = distinct(column if keys is None else keys)
    if keys is not None:
        names = spelled(start, names.to_numpy())
    cleaned = names if clean is None else clean(names)
    if cleaned.null_count:
        there = np.asarray(cleaned.is_valid(), dtype=bool)
        place = np.append(np.where(there, np.cumsum(there) - 1, -1), -1)
        codes, cleaned = place[codes], cleaned.drop_null()
    return Encoded(codes, values_of(cleaned))


def distinct(column: Any) -> tuple[NDArray[np.int64], Any]:
    """Codes, and the distinct values of a column as an array of Arrow."""
    encoded = column.dictionary_encode()
    chunks = encoded.chunks if hasattr(encoded, "chunks") else [encoded]
    codes = np.empty(len(column), np.int64)
    begin = 0
    for chunk in chunks:  # all of them have the same dictionary
        codes[begin : begin + len(chunk)] = chunk.indices.fill_null(-1)
        begin += len(chunk)
    return codes, chunks[-1].dictionary


def by_counting(column: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Codes and the first row of each value, where values are numbers or differ by digits alone.

    None if there are others, gaps, or so few that it does not matter.
    """
    if len(column) < FEW or column.null_count:
        return None
    if arrow().types.is_string(column.type):
        numbers = _ends(column) if _has_many_names(column) else None
    elif arrow().types.is_signed_integer(column.type):
        numbers = column.to_numpy().astype(np.int64)
        low, high = int(numbers.min()), int(numbers.max())
        numbers = numbers - low if high - low < ROOM * len(numbers) else None
    else:
        return None
    if numbers is None or int(numbers.max()) >= ROOM * len(numbers):
        return None
    return _counted(numbers)


def _ends(column: Any) -> NDArray[np.int64] | None:
    """Numbers at the end of names that are equal but for these; None if there are others."""
    start = _shared(column.slice(0, LOOK).to_pylist()).rstrip(b"0123456789")
    numbers = np.empty(len(column), np.int64)
    lengths: set[int] = set()
    begin, has_zeros = 0, False
    for chunk in column.chunks if hasattr(column, "chunks") else [column]:
        keys = _keys_of(chunk, start) if len(chunk) else np.empty(0, np.uint64)
        found = None if keys is None else digits(keys)
        if found is None:
            return None
        numbers[begin : begin + len(chunk)] = found.numbers
        lengths |= found.lengths
        has_zeros, begin = has_zeros or found.has_zeros, begin + len(chunk)
    return None if has_zeros and len(lengths) > 1 else numbers  # 1 and 01 are two names


def _counted(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Codes in the order of first rows, and these rows, of small numbers."""
    whole: Any = np.int32 if len(numbers) < 2**31 else np.int64
    rows: NDArray[Any] = np.arange(len(numbers), dtype=whole)
    first: NDArray[Any] = np.full(int(numbers.max()) + 1, -1, rows.dtype)
    first[numbers[::-1]] = rows[::-1]  # of several rows, the first is written last
    begin = np.sort(first[first >= 0]).astype(np.int64)
    rank = np.empty(len(first), np.int64)
    rank[numbers[begin]] = np.arange(len(begin))
    return rank[numbers], begin


class Digits(NamedTuple):
    """Numbers that keys write, how many digits they have, and whether some begin with 0."""

    numbers: NDArray[np.uint64]
    lengths: set[int]
    has_zeros: bool


def digits(keys: NDArray[np.uint64]) -> Digits | None:
    r"""What keys of up to eight letters write, if all of these are digits; None otherwise.

    Eight bytes are added up in three steps: to numbers of two digits, of four, and of eight.

    Examples
    --------
    >>> keys = np.frombuffer(b"12345\0\0\0" b"07\0\0\0\0\0\0", np.uint64)
    >>> digits(keys)
    Digits(numbers=array([12345,     7], dtype=uint64), lengths={2, 5}, has_zeros=True)
    """
    there = (keys & (EACH << np.uint64(4))) >> np.uint64(4)  # digits are bytes from 48 to 57
    values = keys ^ (there * np.uint64(48))
    if ((values + EACH * np.uint64(118)) & (EACH << np.uint64(7))).any():
        return None  # a byte is 10 or more
    lengths = (there * EACH) >> np.uint64(56)
    different = set(np.flatnonzero(np.bincount(lengths.view(np.int64))).tolist())
    if 0 in different:
        return None
    is_zero = (keys & np.uint64(255)) == np.uint64(48)
    has_zeros = bool((is_zero & (lengths > np.uint64(1))).any())
    values <<= (np.uint64(WORD) - lengths) << np.uint64(3)
    for mask, factor, shift in (
        (0x00FF00FF00FF00FF, 10 * 2**8 + 1, 8),
        (0x0000FFFF0000FFFF, 100 * 2**16 + 1, 16),
        (0x00000000FFFFFFFF, 10_000 * 2**32 + 1, 32),
    ):
        values *= np.uint64(factor)
        values >>= np.uint64(shift)
        values &= np.uint64(mask)
    return Digits(values, different, has_zeros)


def _has_many_names(column: Any) -> bool:
    """Whether the first rows of a long column have so many names that numbers would be faster."""
    return len(column) >= FEW and len(column.slice(0, LOOK).unique()) > min(LOOK, FEW) // 4


def spelled(start: bytes, keys: NDArray[np.uint64]) -> Any:
    """The names behind numbers, as text of Arrow."""
    letters = np.empty((len(keys), len(start) + WORD), np.uint8)
    letters[:, : len(start)] = np.frombuffer(start, np.uint8)
    letters[:, len(start) :] = keys.view(np.uint8).reshape(-1, WORD)
    lengths = len(start) + np.searchsorted(MASKS, keys)  # zeros fill short names up
    places = np.append(0, np.cumsum(lengths)).astype(np.int32)
    buffers = [arrow().py_buffer(places), arrow().py_buffer(letters[letters != 0])]
    return arrow().StringArray.from_buffers(len(keys), *buffers)


def short_keys(column: Any) -> tuple[bytes, Any]:
    """What all names begin with, and the rest of them as numbers; None if that is too long."""
    pa = arrow()
    if len(column) < FEW or not pa.types.is_string(column.type) or sys.byteorder != "little":
        return b"", None
    start = _shared(column.slice(0, 64).drop_null().to_pylist())
    keys = []
    for chunk in column.chunks if hasattr(column, "chunks") else [column]:
        if len(chunk):
            found = _keys_of(chunk, start)
            if found is None:
                return start, None
            gaps = np.asarray(chunk.is_null()) if chunk.null_count else None
            keys.append(pa.array(found, mask=gaps))
    return start, pa.chunked_array(keys, pa.uint64())


def _shared(names: list[str]) -> bytes:
    """What all names begin with."""
    first, last = min(names, default=""), max(names, default="")
    n_equal = next((k for k, (a, b) in enumerate(zip(first, last)) if a != b), len(first))  # noqa: B905
    return first[:n_equal].encode()


def _keys_of(chunk: Any, start: bytes) -> NDArray[np.uint64] | None:
    """The letters behind a common beginning as numbers."""
    places, letters = places_of(chunk)
    letters = letters[places[0] : places[-1]]
    if not letters.min(initial=1) or letters.max(initial=0) > ASCII:
        return None
    gaps = np.asarray(chunk.is_null()) if chunk.null_count else None
    lengths = places[1:] - places[:-1] - np.int32(len(start))
    if gaps is not None:
        lengths[gaps] = 0
    if lengths.min() < 0 or lengths.max() > WORD:
        return None
    words = _words(letters, places[:-1] - places[0], len(start) // WORD + 2)
    for number, at in enumerate(range(0, len(start), WORD)):
        part = start[at : at + WORD]
        differs = words[number] ^ np.uint64(int.from_bytes(part, "little"))
        differs &= MASKS[len(part)]
        if gaps is not None:
            differs[gaps] = 0
        if differs.max():
            return None
    number, n_before = divmod(len(start), WORD)
    keys = _joined(words[number], words[number + 1], np.uint64(8 * n_before))
    keys &= MASKS.take(lengths)
    return keys


def _words(
    letters: NDArray[np.uint8], begin: NDArray[np.int32], count: int
) -> list[NDArray[np.uint64]]:
    """Eight bytes from each place on, the eight behind them, and so on; at the end are zeros."""
    padded = np.zeros(len(letters) // WORD + count + 2, np.uint64)
    padded.view(np.uint8)[: len(letters)] = letters
    at, shift = begin >> 3, ((begin & 7) << 3).astype(np.uint64)
    whole = [padded.take(at + np.int32(k), mode="clip") for k in range(count + 1)]
    return [_joined(one, other, shift) for one, other in itertools.pairwise(whole)]


def _joined(one: NDArray[np.uint64], other: NDArray[np.uint64], shift: Any) -> NDArray[np.uint64]:
    """Eight bytes that begin `shift` bits within one number and end in the other."""
    low = one >> shift
    low |= other << (np.uint64(8 * WORD) - shift)  # nothing is left of it where the shift is 0
    return low
