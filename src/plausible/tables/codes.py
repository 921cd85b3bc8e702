"""A column of names as its distinct names, and which of them is in each row."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.tables.columns import values_of
from plausible.tables.errors import arrow


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
    """A column by its distinct cells, by the hash table of Arrow."""
    if not len(column):
        return Coded(np.empty(0, np.int64), arrow().array([], column.type))
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
