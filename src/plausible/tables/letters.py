"""What the bytes of a column of text tell, without a look at one cell after the other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 18  # bytes that stay in the cache


def places_of(column: Any) -> tuple[Any, Any]:
    """Where the cells of an array of text begin and end, and its bytes."""
    _, offsets, data = column.buffers()
    if offsets is None or data is None:
        return np.zeros(len(column) + 1, np.int32), np.zeros(0, np.uint8)
    places = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    return places, np.frombuffer(data, np.uint8)


def extent(column: Any) -> tuple[int, int, bool]:
    """The length of all text of a column, how many cells have none, and whether it is ASCII."""
    length, n_empty, is_ascii = 0, 0, True
    for chunk in column.chunks if hasattr(column, "chunks") else [column]:
        places, letters = places_of(chunk)
        if len(places) > 1:
            length += int(places[-1] - places[0])
            n_empty += int(np.count_nonzero(places[1:] == places[:-1]))
            inside = letters[places[0] : places[-1]]
            is_ascii = is_ascii and bool(inside.max(initial=0) < 128)
    return length, n_empty, is_ascii


def may_have_blanks(column: Any) -> bool:
    """Whether some cell is empty, or begins or ends with a blank or a letter that is not ASCII.

    Examples
    --------
    >>> import pyarrow as pa
    >>> may_have_blanks(pa.array(["a b", "c"])), may_have_blanks(pa.array(["a ", "c"]))
    (False, True)
    """
    for chunk in column.chunks if hasattr(column, "chunks") else [column]:
        places, letters = places_of(chunk)
        if (places[1:] == places[:-1]).any():
            return True
        for edge in (letters.take(places[:-1]), letters.take(places[1:] - 1)):
            if len(edge) and (
                edge.min() <= ord(" ") or edge.max() >= 127
            ):  # 127 is a blank to none
                return True
    return False


def rows_of_letters(column: Any, width: int) -> NDArray[np.uint8]:
    """Cells of an array of text, none of them longer than `width`, as rows filled up with zeros.

    Examples
    --------
    >>> import pyarrow as pa
    >>> rows_of_letters(pa.array(["ab", "", "c"]), 2).tolist()
    [[97, 98], [0, 0], [99, 0]]
    """
    places, letters = places_of(column)
    places, letters = places - places[0], letters[places[0] : places[-1]]
    lengths = np.diff(places)
    padded = np.zeros(len(letters) + width, np.uint8)
    padded[: len(letters)] = letters
    # As many letters from each place on, of which those of the next cell are taken out again.
    from_every = np.ndarray((len(letters) + 1,), f"V{width}", padded, 0, (1,))
    rows = from_every[places[:-1]].view(np.uint8).reshape(-1, width)
    for size in np.flatnonzero(np.bincount(lengths, minlength=width)[:width]):
        rows[np.flatnonzero(lengths == size), size:] = 0
    return rows


def are_alike(column: Any, first: str) -> bool:
    """Whether all cells have the same letters at the same places, but for their digits.

    Examples
    --------
    >>> import pyarrow as pa
    >>> are_alike(pa.array(["1999-12-31", None, "2000-01-01"]), "1999-12-31")
    True
    >>> are_alike(pa.array(["1999-12-31", "2000-01-01 "]), "1999-12-31")
    False
    """
    letters = np.frombuffer(first.encode(), np.uint8)
    is_digit = letters - np.uint8(ord("0")) < 10
    least, span = np.where(is_digit, np.uint8(ord("0")), letters), np.where(is_digit, 9, 0)
    width, span = len(letters), span.astype(np.uint8)
    cells = column.drop_null() if column.null_count else column
    for chunk in cells.chunks if hasattr(cells, "chunks") else [cells]:
        places, found = places_of(chunk)
        if (np.diff(places) != width).any():
            return False
        table = found[places[0] : places[-1]].reshape(-1, width)
        step = max(BLOCK // width, 1)
        parts = (table[start : start + step] for start in range(0, len(table), step))
        if not all((part - least <= span).all() for part in parts):
            return False
    return True


def has_leading_zeros(column: Any) -> bool:
    """Whether a cell of text begins with 0 and a digit, or with 0x, perhaps behind a sign."""
    places, letters = places_of(column)
    if not len(letters):
        return False
    start, end = places[:-1], places[1:]
    first = letters.take(start, mode="clip")
    start = start + ((first == ord("+")) | (first == ord("-")))
    is_zero = letters.take(start, mode="clip") == ord("0")
    second = letters[start[is_zero & (start + 1 < end)] + 1]
    is_digit = (second >= ord("0")) & (second <= ord("9"))
    return bool(np.any(is_digit | (second == ord("x")) | (second == ord("X"))))
