"""Items by name, many of them: where each row of a long table is among known items.

A dictionary of ten million names takes gigabytes. Here a name is a number of 64 bits, the hash

    h(text) = mix(sum over bytes b at place i of (b + 1) p^i  mod 2^64),

computed for whole columns at once, and the known ones are kept sorted: 12 bytes for each. Two
different names have the same number with a probability of about 2^-64; known items whose numbers
coincide are refused as repeated.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.io.matching import loosened
from plausible.tables import arrow

Keys = NDArray[np.uint64]

PRIME = 0x9E3779B97F4A7C15  # odd, so that no power of it vanishes
MIX = np.uint64(0xD6E8FEB86659FD93)
SHORT = np.iinfo(np.int32)


def hash_names(column: Any) -> Keys:
    """Numbers (n,) for a column of Arrow; equal for names that are equal as text.

    Whole numbers are their digits, blanks around a name do not count. A missing name is empty.

    Examples
    --------
    >>> import pyarrow as pa
    >>> numbers, texts = hash_names(pa.array([7, 12])), hash_names(pa.array(["12", " 7"]))
    >>> (numbers == texts[::-1]).tolist()
    [True, True]
    """
    return hash_texts(as_texts(column))


def hash_texts(texts: Any) -> Keys:
    """The same for an array of large strings."""
    offsets = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset :][: len(texts) + 1]
    if not len(texts):
        return np.empty(0, np.uint64)
    start, stop = int(offsets[0]), int(offsets[-1])
    data = texts.buffers()[2]
    found = np.frombuffer(data, np.uint8)[start:stop] if data is not None else np.empty(0, np.uint8)
    lengths = np.diff(offsets)
    places = np.arange(stop - start) - np.repeat(offsets[:-1] - start, lengths)
    terms = (found.astype(np.uint64) + np.uint64(1)) * powers(int(lengths.max(initial=0)))[places]
    sums = np.zeros(len(texts), np.uint64)
    there = lengths > 0
    if there.any():
        sums[there] = np.add.reduceat(terms, (offsets[:-1] - start)[there])
    sums ^= sums >> np.uint64(32)
    sums *= MIX
    return sums ^ (sums >> np.uint64(29))


def powers(count: int) -> Keys:
    """The first powers of the prime, modulo 2^64."""
    table = np.full(count, PRIME, np.uint64)
    return np.cumprod(table, dtype=np.uint64)


def as_texts(column: Any) -> Any:
    """A column as one array of large strings, without blanks around them and without gaps."""
    pa, compute = arrow(), arrow(".compute")
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # as some versions answer
        column = pa.concat_arrays(column.chunks)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    texts = column.cast(pa.large_string())
    if pa.types.is_floating(column.type):  # 7.0 is the item 7
        is_whole = compute.and_(
            compute.equal(compute.floor(column), column), compute.less(compute.abs(column), 2.0**53)
        )
        digits = compute.if_else(is_whole, column, None).cast(pa.int64()).cast(pa.large_string())
        texts = compute.coalesce(digits, texts)
    return compute.fill_null(compute.utf8_trim_whitespace(texts), "")


class Lookup:
    """Known items, and where rows of other tables are among them.

    Parameters
    ----------
    names : column of Arrow

    Examples
    --------
    >>> import pyarrow as pa
    >>> lookup = Lookup(pa.array(["x", "y", "12"]))
    >>> lookup.places(pa.array(["y", "new", "x"])), lookup.places(pa.array([12, 13]))
    (array([ 1, -1,  0]), array([ 2, -1]))
    """

    def __init__(self, names: Any) -> None:
        numbers, is_number = whole_numbers(names)
        self.by_number: Sorted | None = Sorted(numbers[is_number], np.flatnonzero(is_number))
        self.by_text: Sorted | None = None if is_number.all() else Sorted(hash_names(names))
        self.count, self.way = len(names), 0

    @classmethod
    def of_keys(
        cls, numbers: NDArray[np.int64] | None, hashes: Keys | None, way: int = 0
    ) -> "Lookup":
        """A lookup of items that are whole numbers, or of the hashes of others.

        These may be of names that are `loosened` in a way, so that those of rows are as well.
        """
        made = object.__new__(cls)
        made.by_number = None if numbers is None else Sorted(numbers)
        made.by_text = None if hashes is None else Sorted(hashes)
        made.way = way
        made.count = len(numbers if numbers is not None else hashes)  # type: ignore[arg-type]
        return made

    def __len__(self) -> int:
        return self.count

    def repeated(self) -> NDArray[np.int64]:
        """Rows of known items that come again."""
        kept = self.by_text if self.by_text is not None else self.by_number
        assert kept is not None
        return kept.repeated()

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows of known items with the same key, and the next one that has it."""
        kept = self.by_text if self.by_text is not None else self.by_number
        assert kept is not None
        same = np.flatnonzero(kept.keys[1:] == kept.keys[:-1])
        return kept.rows_at(same), kept.rows_at(same + 1)

    def numbers(self) -> NDArray[Any] | None:
        """The known items in their order, if all of them are whole numbers."""
        return None if self.by_text is not None or self.by_number is None else self.by_number.keys

    def places(self, column: Any) -> NDArray[np.int64]:
        """The row (n,) of each item among the known ones; -1 where it is not among them."""
        if self.way:
            assert self.by_text is not None
            return self.by_text.places(hash_texts(loosened(as_texts(column), self.way)))
        is_whole = arrow().types.is_integer(column.type) and not column.null_count
        if self.by_number is not None and (is_whole or self.by_text is None):
            numbers, are = whole_numbers(column)
            return np.where(are, self.by_number.places(numbers), -1)
        assert self.by_text is not None
        return self.by_text.places(hash_names(column))


class Sorted:
    """Keys in their order, and the row of each; the array of keys is sorted in place."""

    rows: NDArray[Any] | None  # None if keys were in order: of very many, no array is kept

    def __init__(self, keys: NDArray[Any], rows: NDArray[np.int64] | None = None) -> None:
        if (keys[1:] >= keys[:-1]).all():  # in order already, as long tables often are
            self.keys = shortened(keys)
            self.rows = rows
            return
        order = np.argsort(keys, kind="stable")
        found = order if rows is None else rows[order]
        self.rows = found.astype(np.int32) if len(keys) < 2**31 else found
        del order, found  # of very many items each copy counts
        keys.sort()
        self.keys = shortened(keys)

    def rows_at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of keys that are at some places."""
        return places if self.rows is None else self.rows[places].astype(np.int64)

    def repeated(self) -> NDArray[np.int64]:
        """Rows of keys that come again."""
        same = np.flatnonzero(self.keys[1:] == self.keys[:-1])
        return np.sort(self.rows_at(same + 1))

    def places(self, keys: NDArray[Any]) -> NDArray[np.int64]:
        """The row of each key, -1 where there is none."""
        if not len(self.keys):
            return np.full(len(keys), -1)
        asked = keys
        if self.keys.dtype == np.int32:  # or all of them would be copied to be compared
            asked = np.clip(keys, SHORT.min, SHORT.max).astype(np.int32)
        at = np.minimum(np.searchsorted(self.keys, asked), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, self.rows_at(at), -1)


def shortened(keys: NDArray[Any]) -> NDArray[Any]:
    """Sorted numbers in half the memory, if they are short."""
    is_short = keys.dtype == np.int64 and len(keys) and SHORT.min <= keys[0] <= keys[-1] < SHORT.max
    return keys.astype(np.int32) if is_short else keys


def whole_numbers(column: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The names that are whole numbers as one writes them, and which ones are."""
    pa, compute = arrow(), arrow(".compute")
    if pa.types.is_integer(column.type) and not column.null_count:
        values = column.to_numpy(zero_copy_only=False) if hasattr(column, "offset") else column
        numbers = np.asarray(values, dtype=np.int64)
        return numbers, np.ones(len(numbers), dtype=bool)
    texts = as_texts(column)
    is_number = compute.match_substring_regex(texts, r"^(0|-?[1-9][0-9]{0,17})$")
    numbers = compute.if_else(is_number, texts, "0").cast(pa.int64())
    return np.asarray(numbers, dtype=np.int64), np.asarray(is_number, dtype=bool)
