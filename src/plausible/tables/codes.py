"""A column of names as its distinct names, and which of them is in each row.

Names are found by hashing. Where a column is long, each name is cut into words of eight bytes, of
which one alone often tells all names apart, and numbers are found faster than text: each of them
has a place in a table, in which the first row with it is written. Where several words are mixed
into one number, the names of all rows are checked afterwards, word by word.
"""

import itertools
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.tables.columns import values_of
from plausible.tables.errors import arrow
from plausible.tables.few_names import encode_few
from plausible.tables.kinds import places_of
from plausible.tables.number_codes import encode_numbers, parse_numbers, pieces_of
from plausible.tables.numbered_names import NumberedNames, numbered_names, views_of
from plausible.tables.threads import at_once

Words = list[NDArray[np.uint64]]
WORD = 8  # bytes of a number
MASKS = np.array([(1 << 8 * k) - 1 for k in range(WORD + 1)], np.uint64)
FEW = 50_000  # rows for which it does not matter
LOOK = 4096  # rows that tell whether there are many names; few of them are found fast as text
INLINE = 12  # bytes of a name that a view of Arrow holds beside its length
MOST_WORDS, MOST_EQUAL = 4, 12  # of names of different lengths, and of the same length
ODD = np.uint64(0x9E3779B97F4A7C15)  # spreads what differs in a few bits
HALF = np.uint64(32)
FACTOR = 6364136223846793005  # another such number for each further table
BLOCK = 1 << 15  # rows that are computed with at a time


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


def encode(column: Any) -> Encoded:
    """A column by its distinct values."""
    if not len(column) or column.null_count == len(column):
        return Encoded(np.full(len(column), -1, dtype=np.int64), np.empty(0, dtype=str))
    codes, names = distinct(column)
    return Encoded(codes, values_of(names))


def recode(codes: NDArray[np.int64], cells: Any, read: Any) -> Encoded:
    """Codes of distinct cells that are read as other values, some missing, some perhaps equal."""
    if read is cells:
        return Encoded(codes, values_of(cells))
    found = encode(read)
    if np.array_equal(found.codes, np.arange(len(cells))):
        return Encoded(codes, found.names)
    return Encoded(np.append(found.codes, -1)[codes], found.names)


def distinct(column: Any) -> tuple[NDArray[np.int64], Any]:
    """Codes, and the distinct values of a column as an array of Arrow."""
    if not len(column):
        return np.empty(0, np.int64), arrow().array([], column.type)
    if column.null_count and len(column) >= FEW:
        there = np.asarray(column.is_valid(), dtype=bool)
        codes = np.full(len(column), -1, np.int64)
        codes[there], names = distinct(column.drop_null())
        return codes, names
    numbered = numbered_names(column) if len(column) >= FEW else None
    if numbered is not None:
        at_once(numbered.tasks(), len(column))
        found = _numbered_codes(column, numbered)
        if found is not None:
            return found
    return _by_words(column)


def _numbered_codes(column: Any, numbered: NumberedNames) -> tuple[NDArray[np.int64], Any] | None:
    """Codes of names that differ by numbers, which were read; None if some do not."""
    found = numbered.encoded()
    return None if found is None else (found.codes, _taken(column, found.first))


def _by_words(column: Any) -> tuple[NDArray[np.int64], Any]:
    """Codes of names that are long, or not numbered, without gaps."""
    words = words_of(column)
    if words is None:
        found = encode_few(column) if len(column) >= FEW else None
        return _by_arrow(column) if found is None else found
    first, codes = _ranked(first_rows(mixed(words)))
    if len(words) > 1 and not _agree(words, first, codes):
        return _by_arrow(column)  # different names have the same number
    return codes, _taken(column, first)


def _taken(column: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of a column, in rising order, as one array."""
    if not hasattr(column, "chunks"):
        return column.take(arrow().array(rows))
    ends = np.cumsum([len(chunk) for chunk in column.chunks])
    parts = np.split(rows, np.searchsorted(rows, ends[:-1]))
    taken = [
        chunk.take(arrow().array(part - (end - len(chunk))))
        for chunk, part, end in zip(column.chunks, parts, ends, strict=True)
    ]
    return arrow().concat_arrays(taken)


def whole_numbers(column: Any) -> tuple[Encoded, Any] | None:
    """Codes of text that writes whole numbers in the usual way, and these; None for other text."""
    numbers = parse_numbers(column) if len(column) >= FEW else None
    encoded = None if numbers is None else encoded_numbers(numbers)
    return None if encoded is None else (encoded, numbers)


def encoded_numbers(numbers: Any) -> Encoded | None:
    """A column of whole numbers by its distinct values; None if some are missing, or too large."""
    if numbers.null_count or not len(numbers):
        return None
    found = encode_numbers(np.concatenate(pieces_of(numbers)))
    return None if found is None else Encoded(found.codes, found.numbers)


def distinct_all(columns: Mapping[str, Any]) -> dict[str, tuple[NDArray[np.int64], Any]]:
    """The same for several columns at the same time.

    Threads first take whole columns, of which those of few names are left to Arrow, then parts of
    those of numbered names.
    """
    n_rows = max(map(len, columns.values()), default=0)
    if n_rows < FEW:
        return {name: distinct(column) for name, column in columns.items()}
    numbered = {name: numbered_names(column) for name, column in columns.items()}
    parts = {name: found for name, found in numbered.items() if found is not None}
    rest = [name for name in columns if name not in parts]
    tasks: list[Any] = [partial(distinct, columns[name]) for name in rest]
    tasks += [task for found in parts.values() for task in found.tasks()]
    done = dict(zip(rest, at_once(tasks, n_rows), strict=False))
    last = [partial(_finished, columns[name], found) for name, found in parts.items()]
    done |= zip(parts, at_once(last, n_rows), strict=True)
    return {name: done[name] for name in columns}


def _finished(column: Any, numbered: NumberedNames) -> tuple[NDArray[np.int64], Any]:
    return _numbered_codes(column, numbered) or _by_words(column)


def _by_arrow(column: Any) -> tuple[NDArray[np.int64], Any]:
    """The same by the hash table of Arrow."""
    pool = arrow().system_memory_pool()
    return _codes_in(arrow(".compute").dictionary_encode(column, memory_pool=pool))


def _codes_in(encoded: Any) -> tuple[NDArray[np.int64], Any]:
    """Codes and values of a column that Arrow has encoded."""
    chunks = encoded.chunks if hasattr(encoded, "chunks") else [encoded]
    codes = np.empty(len(encoded), np.int64)
    begin = 0
    for chunk in chunks:  # all of them have the same dictionary
        places = chunk.indices
        codes[begin : begin + len(chunk)] = places.fill_null(-1) if places.null_count else places
        begin += len(chunk)
    return codes, chunks[-1].dictionary


def mixed(words: Words) -> NDArray[np.uint64]:
    """One number for the words of each name; a single word stays as it is."""
    if len(words) == 1:
        return words[0]
    keys = np.empty_like(words[0])
    for part in _blocks(len(keys)):
        key = words[0][part] * ODD
        for word in words[1:]:
            key ^= key >> HALF
            key += word[part]
            key *= ODD
        keys[part] = key
    return keys


def first_rows(keys: NDArray[np.uint64]) -> NDArray[Any]:
    """The first row that has the same key, for each row.

    Of keys that have the same place in a table, all but the first one are looked for in another.

    Examples
    --------
    >>> first_rows(np.array([7, 3, 7, 7, 3], np.uint64)).tolist()
    [0, 1, 0, 0, 1]
    """
    n_rows = len(keys)
    whole: Any = np.int32 if n_rows < 2**31 else np.int64
    rows, found = np.arange(n_rows, dtype=whole), np.empty(n_rows, whole)
    left, factor = keys, int(ODD)
    while len(rows):
        bits = len(rows).bit_length()
        table, again = np.empty(1 << bits, whole), []
        for part in _blocks(len(rows))[::-1]:
            at = _places(left[part], factor, bits)
            table[at[::-1]] = rows[part][::-1]  # of several rows, the first is written last
        for part in _blocks(len(rows)):
            first = table.take(_places(left[part], factor, bits))
            found[part if left is keys else rows[part]] = first
            again.append(np.flatnonzero(keys.take(first) != left[part]) + part.start)
        lost = np.concatenate(again)
        rows, left = rows[lost], left[lost]
        factor = factor * FACTOR % (1 << 64)
    return found


def _blocks(n_rows: int) -> list[slice]:
    """Parts of so many rows that what is computed with them stays in the cache."""
    return [slice(start, min(start + BLOCK, n_rows)) for start in range(0, n_rows, BLOCK)]


def _places(keys: NDArray[np.uint64], factor: int, bits: int) -> NDArray[np.int64]:
    """A place of `bits` bits for each key."""
    place = keys >> HALF
    place ^= keys
    place *= np.uint64(factor)
    place >>= np.uint64(64 - bits)
    return place.view(np.int64)


def _ranked(rows: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First rows in rising order, and the place among these of each row's own."""
    parts = _blocks(len(rows))
    own = np.arange(BLOCK, dtype=rows.dtype)
    new = [np.flatnonzero(rows[part] == own[: len(rows[part])] + part.start) for part in parts]
    first = np.concatenate([found + part.start for found, part in zip(new, parts, strict=True)])
    rank = np.empty(int(first[-1]) + 1, rows.dtype)
    rank[first] = np.arange(len(first))
    codes = np.empty(len(rows), np.int64)
    for part in parts:
        codes[part] = rank.take(rows[part])
    return first, codes


def _agree(words: Words, first: NDArray[np.int64], codes: NDArray[np.int64]) -> bool:
    """Whether all rows of a code have the words of the first."""
    names = [word.take(first) for word in words]
    return not any(
        (name.take(codes[part]) != word[part]).any()
        for part in _blocks(len(codes))
        for name, word in zip(names, words, strict=True)
    )


# -- Words of names --------------------------------------------------------------------------------


def words_of(column: Any) -> Words | None:
    """Numbers of eight bytes that together tell names apart; None where text is found as fast."""
    if len(column) < FEW or not arrow().types.is_string(column.type) or sys.byteorder != "little":
        return None
    if not has_many(column):
        return None
    chunks = [chunk for chunk in getattr(column, "chunks", [column]) if len(chunk)]
    lengths = [_lengths(chunk) for chunk in chunks]
    longest = max(int(part.max()) for part in lengths)
    shortest = min(int(part.min()) for part in lengths)
    found = None
    if longest <= INLINE:
        found = _views(chunks, longest)
    elif shortest == longest <= WORD * MOST_EQUAL:
        found = _equal_words(chunks, longest)
    if found is None and longest <= WORD * MOST_WORDS:
        found = _padded_words(chunks, lengths, -(-longest // WORD))
    return found


def _lengths(chunk: Any) -> NDArray[np.int32]:
    places = places_of(chunk)[0]
    lengths: NDArray[np.int32] = places[1:] - places[:-1]
    return lengths


def has_many(column: Any) -> bool:
    """Whether the first rows of a column have so many values that text would be slower."""
    return len(column.slice(0, LOOK).unique()) > min(LOOK, len(column)) // 4


def _views(chunks: Sequence[Any], longest: int) -> Words | None:
    """Words of names of up to twelve bytes, as views of Arrow hold them.

    A view is the length and the first four bytes, and the eight bytes behind. Where there are no
    zero bytes, the length can be told by the others.
    """
    pairs = [pair for pair in map(views_of, chunks) if pair is not None]
    if len(pairs) < len(chunks):
        return None
    heads = [pair.view(np.uint32)[:, 1] for pair in pairs]
    plain = all(map(_is_plain, chunks))
    if plain and all((head == heads[0][0]).all() for head in heads):
        return [np.concatenate([pair[:, 1] for pair in pairs])]
    if plain and longest <= WORD:
        return [np.concatenate([pair[:, 1] << HALF | pair[:, 0] >> HALF for pair in pairs])]
    return [np.concatenate([pair[:, k] for pair in pairs]) for k in (0, 1)]


def _is_plain(chunk: Any) -> bool:
    """Whether text has no zero bytes."""
    places, letters = places_of(chunk)
    return bool(letters[places[0] : places[-1]].min(initial=1))


def _equal_words(chunks: Sequence[Any], length: int) -> Words:
    """Words of names of one length, which stand behind one another; the last one ends with them."""
    places, letters = places_of(chunks[0])
    sample = letters[places[0] : places[min(LOOK, len(chunks[0]))]].reshape(-1, length)
    varies = np.flatnonzero((sample != sample[0]).any(axis=0))
    low = min(int(varies.min(initial=length)), length - WORD)
    if varies.max(initial=0) < low + WORD and _is_constant_beside(chunks, length, low):
        return [_at(chunks, length, low)]
    return [_at(chunks, length, start) for start in _starts(length)]


def _is_constant_beside(chunks: Sequence[Any], length: int, low: int) -> bool:
    """Whether all bytes of names are the same but for a word from `low` on."""
    constant = np.full(length, 255, np.uint8)
    constant[low : low + WORD] = 0
    starts = [k for k in _starts(length) if constant[k : k + WORD].any()]
    masks = [constant[k : k + WORD].copy().view(np.uint64)[0] for k in starts]
    same = [_at(chunks[:1], length, k)[0] for k in starts]
    for chunk in chunks:
        for start, mask, word in zip(starts, masks, same, strict=True):
            differs = _at([chunk], length, start) ^ word
            differs &= mask
            if differs.any():
                return False
    return True


def _starts(length: int) -> list[int]:
    """Where words of names of one length begin."""
    return [*range(0, length - WORD, WORD), length - WORD]


def _at(chunks: Sequence[Any], length: int, start: int) -> NDArray[np.uint64]:
    """Eight bytes of each of the names of one length."""
    found = np.empty(sum(map(len, chunks)), np.uint64)
    begin = 0
    for chunk in chunks:
        places, letters = places_of(chunk)
        end, at = begin + len(chunk), int(places[0]) + start
        found[begin:end] = np.ndarray((len(chunk),), "<u8", letters, at, (length,))
        begin = end
    return found


def _padded_words(chunks: Sequence[Any], lengths: Sequence[NDArray[np.int32]], count: int) -> Words:
    """Words of names of different lengths, filled up with zeros, and these lengths."""
    words = np.empty((count + 1, sum(map(len, chunks))), np.uint64)
    begin = 0
    for chunk, length in zip(chunks, lengths, strict=True):
        places, letters = places_of(chunk)
        end = begin + len(chunk)
        letters = letters[places[0] : places[-1]]
        for number, word in enumerate(_words(letters, places[:-1] - places[0], count)):
            rest = np.clip(length - np.int32(WORD * number), 0, WORD)
            np.bitwise_and(word, MASKS.take(rest), out=words[number, begin:end])
        words[-1, begin:end] = length
        begin = end
    return list(words)


def _words(letters: NDArray[np.uint8], begin: NDArray[np.int32], count: int) -> Words:
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
