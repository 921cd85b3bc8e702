"""Columns of few short names as codes.

Names of up to twelve letters are two words each. Both are hashed into a place of a table, with
factors that give all names that are known places of their own, and every row is compared with the
name that it is taken for. Those that are not known yet are learned as they come, so that names are
in the order of their first rows.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.tables.errors import arrow
from plausible.tables.kinds import places_of
from plausible.tables.numbered_names import HEAD, INLINE, views_of

MOST = 256  # names that are few
BITS = 14  # of a place at most
N_TRIES = 200  # for factors; with so few names, more than one in ten are good
UInts = NDArray[np.uint64]
IntArray = NDArray[np.int64]


class Known:
    """Names that are known, as two words each, and a table in which they are looked up."""

    def __init__(self) -> None:
        self.words = np.empty((2, 0), np.uint64)
        self.names: list[Any] = []
        self._draw = np.random.default_rng(0)  # so that it goes the same way each time

    def learn(self, cells: Any) -> bool:
        """Add different names that are new; False if there are too many for a table."""
        views = views_of(cells)
        if views is None or len(cells) + self.words.shape[1] > MOST:
            return False
        self.words = np.hstack([self.words, views.T])
        self.names.append(cells)
        n_names = self.words.shape[1]
        self.shift = np.uint64(64 - min(2 * n_names.bit_length() + 2, BITS))
        for _ in range(N_TRIES):
            self.factors = self._draw.integers(0, 2**64, 2, np.uint64) | np.uint64(1)
            places = self._places(self.words[0], self.words[1])
            self.table = np.zeros(1 << (64 - int(self.shift)), np.int64)
            self.table[places] = np.arange(n_names)
            if (self.table[places] == np.arange(n_names)).all():
                return True
        return False

    def _places(self, one: UInts, other: UInts | None) -> IntArray:
        places = one * self.factors[0]
        if other is not None:
            places += other * self.factors[1]
        places >>= self.shift
        return places.view(np.int64)

    def look_up(self, one: UInts, other: UInts | None) -> tuple[IntArray, UInts]:
        """Codes of names, and numbers that are 0 where these are right.

        `other` is None if all names are so short that they are in the first word.
        """
        codes = self.table.take(self._places(one, other))
        differs = self.words[0].take(codes)
        differs ^= one
        if other is not None:
            rest = self.words[1].take(codes)
            rest ^= other
            differs |= rest
        return codes, differs


def encode_few(column: Any) -> tuple[IntArray, Any] | None:
    """Codes and names of a column without gaps; None if they are many, or long.

    Examples
    --------
    >>> import pyarrow as pa
    >>> codes, names = encode_few(pa.array(["rock", "jazz", "rock", "blues"]))
    >>> codes, names.to_pylist()
    (array([0, 1, 0, 2]), ['rock', 'jazz', 'blues'])
    """
    if column.null_count or sys.byteorder != "little" or not arrow().types.is_string(column.type):
        return None
    chunks = [chunk for chunk in getattr(column, "chunks", [column]) if len(chunk)]
    if not chunks:
        return None
    known, codes, end = Known(), np.empty(len(column), np.int64), 0
    for chunk in chunks:
        found = _codes(chunk, known)
        if found is None:
            return None
        codes[end : end + len(chunk)] = found
        end += len(chunk)
    return codes, arrow().concat_arrays(known.names)


def _codes(chunk: Any, known: Known) -> IntArray | None:
    """Codes of the names of one array, after new ones were learned."""
    ends = places_of(chunk)[0]
    longest = int((ends[1:] - ends[:-1]).max())
    views = views_of(chunk) if longest <= INLINE else None
    if views is None:
        return None
    one, other = views[:, 0], views[:, 1] if longest > HEAD else None
    if not known.names and not known.learn(chunk.unique()):
        return None
    codes, differs = known.look_up(one, other)
    if int(np.bitwise_or.reduce(differs)):
        if not known.learn(chunk.filter(arrow().array(differs != 0)).unique()):
            return None
        codes, differs = known.look_up(one, other)
    return codes
