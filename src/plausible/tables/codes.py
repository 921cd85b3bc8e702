"""A column of names as its distinct names, and which of them is in each row."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.tables.columns import SLICE, values_of
from plausible.tables.errors import arrow
from plausible.tables.letters import places_of, rows_of_letters
from plausible.tables.threads import MANY, at_once

LOOK = 4096  # cells that tell whether most come once
LONGEST = 64  # bytes of cells that are told by numbers
N_ENDS = 1 << 20  # of these numbers
MIX, HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


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


class Coded(NamedTuple):
    """The same for cells that are not read as values yet.

    codes (n,) : places among the cells, -1 where one is missing
    cells : those that are there, each once, as an array of Arrow
    """

    codes: NDArray[np.int64]
    cells: Any


def encode(column: Any) -> Encoded:
    """A column by its distinct values."""
    if not len(column) or column.null_count == len(column):
        return Encoded(np.full(len(column), -1, dtype=np.int64), np.empty(0, dtype=str))
    codes, cells = distinct(column)
    return Encoded(codes, values_of(cells))


def recode(coded: Coded, read: Any) -> Encoded:
    """Codes of distinct cells that are read as other values, some missing, some perhaps equal."""
    if read is coded.cells and len(read):
        return Encoded(coded.codes, values_of(read))
    types = arrow().types
    is_number = types.is_integer(read.type) or types.is_floating(read.type)
    if is_number and len(read) and not read.null_count:
        names = values_of(read)
        in_order = np.sort(names)  # which costs less than a hash table
        if (in_order[1:] != in_order[:-1]).all():
            return Encoded(coded.codes, names)
    found = encode(read)
    if np.array_equal(found.codes, np.arange(len(coded.cells))):
        return Encoded(coded.codes, found.names)
    return Encoded(np.append(found.codes, -1)[coded.codes], found.names)


def distinct(column: Any) -> Coded:
    """A column by its distinct cells."""
    if not len(column):
        return Coded(np.empty(0, np.int64), arrow().array([], column.type))
    found = _mostly_once(column) if len(column) >= MANY and not column.null_count else None
    return by_hash_table(column) if found is None else found


def by_hash_table(column: Any) -> Coded:
    """A column by its distinct cells, by the hash table of Arrow."""
    pool = arrow().system_memory_pool()  # which gives memory back later than others
    encoded = arrow(".compute").dictionary_encode(column, memory_pool=pool)
    chunks = encoded.chunks if hasattr(encoded, "chunks") else [encoded]
    codes = np.empty(len(encoded), np.int64)
    begin = 0
    for chunk in chunks:  # all of them have the same dictionary
        places = chunk.indices
        codes[begin : begin + len(chunk)] = places.fill_null(-1) if places.null_count else places
        begin += len(chunk)
    return Coded(codes, chunks[-1].dictionary)


def _mostly_once(column: Any) -> Coded | None:
    """The same where most cells come once, by sorting a number of each; None where they do not.

    Only cells whose numbers come again are compared.
    """
    few = column.slice(0, LOOK)
    if arrow(".compute").count_distinct(few).as_py() < 0.9 * len(few):
        return None
    cells = column.combine_chunks() if hasattr(column, "chunks") else column
    numbers = None if hasattr(cells, "chunks") else _numbers_of(cells)  # too long for one
    if numbers is None:
        return None
    in_order = np.sort(numbers)
    twice = in_order[1:][in_order[1:] == in_order[:-1]]
    if 8 * len(twice) > len(cells):
        return None
    may_repeat = np.zeros(N_ENDS, bool)  # by the last bits
    may_repeat[twice & (N_ENDS - 1)] = True
    rows = np.flatnonzero(may_repeat[numbers & (N_ENDS - 1)]) if len(twice) else twice
    again = by_hash_table(cells.take(arrow().array(rows)))
    first = np.empty(len(again.cells), np.int64)
    first[again.codes[::-1]] = rows[::-1]  # the first one is written last
    is_new = np.ones(len(cells), bool)
    is_new[rows] = False
    is_new[first] = True
    codes = np.cumsum(is_new) - 1
    codes[rows] = codes[first[again.codes]]
    return Coded(codes, cells if is_new.all() else cells.filter(arrow().array(is_new)))


def _numbers_of(cells: Any) -> NDArray[np.int64] | None:
    """A number for each cell, seldom the same for two; None for cells of other kinds, or long."""
    if arrow().types.is_int64(cells.type):
        return np.asarray(cells)
    if not arrow().types.is_string(cells.type):
        return None
    longest = int(np.diff(places_of(cells)[0]).max())
    n_words = max(-(-longest // 8), 1)
    if longest > LONGEST:
        return None
    found = np.empty(len(cells), np.uint64)

    def write(start: int) -> None:
        part = cells.slice(start, SLICE)
        words = rows_of_letters(part, 8 * n_words).view(np.uint64)
        mixed = words[:, 0] * MIX
        for k in range(1, n_words):
            mixed = ((mixed ^ (mixed >> HALF)) + words[:, k]) * MIX
        found[start : start + len(part)] = mixed ^ (mixed >> HALF)

    at_once([partial(write, start) for start in range(0, len(cells), SLICE)], len(cells))
    return found.view(np.int64)
