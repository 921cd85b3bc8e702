"""A column of names as its distinct names, and which of them is in each row.

Names are found by hashing. Where all of them are equal but for eight letters at their end (photo_1,
photo_2, ...), these letters are one number of 64 bits, which is found faster than text.
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
    encoded = encoded.combine_chunks() if hasattr(encoded, "combine_chunks") else encoded
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return codes.astype(np.int64), encoded.dictionary


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
