"""A column of names as its distinct names, and which of them is in each row.

Names are found by hashing. Where all of them are equal but for eight letters at their end (photo_1,
photo_2, ...), these letters are one number of 64 bits, which is found faster than text.
"""

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
    start, keys = short_keys(column)
    codes, names = distinct(column if keys is None else keys)
    if keys is not None:
        names = arrow().array(spelled(start, names.to_numpy()))
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


def spelled(start: bytes, keys: NDArray[np.uint64]) -> NDArray[np.str_]:
    """The names behind numbers."""
    letters = np.zeros((len(keys), len(start) + WORD), np.uint32)
    letters[:, : len(start)] = np.frombuffer(start, np.uint8)
    letters[:, len(start) :] = keys.view(np.uint8).reshape(-1, WORD)
    return letters.view(f"U{letters.shape[1]}").ravel()


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
    inside = letters[places[0] : places[-1]]
    if len(letters) < WORD or not inside.min(initial=1) or inside.max(initial=0) > ASCII:
        return None
    begin = places[:-1] + np.int32(len(start))
    lengths = places[1:] - begin
    if chunk.null_count:
        lengths = np.where(np.asarray(chunk.is_null()), 0, lengths)
    if lengths.min() < 0 or lengths.max() > WORD:
        return None
    shape, one = (len(letters) - WORD + 1,), letters[:WORD].view(np.uint64)
    words = np.lib.stride_tricks.as_strided(one, shape, (1,), writeable=False)
    for at in range(0, len(start), WORD):
        part = start[at : at + WORD]
        expected = np.uint64(int.from_bytes(part, "little"))
        found = _read(words, places[:-1] + np.int32(at)) & MASKS[len(part)]
        there = found == expected
        if chunk.null_count:
            there |= np.asarray(chunk.is_null())
        if not there.all():
            return None
    return _read(words, begin) & MASKS[lengths]


def _read(words: NDArray[np.uint64], places: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Eight bytes from each place on, or what is left of them at the end."""
    at = np.minimum(places, np.int32(len(words) - 1))
    beyond = np.minimum(places - at, WORD - 1)  # further places are read by nobody
    return words[at] >> (beyond * 8).astype(np.uint64)
