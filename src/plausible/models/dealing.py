"""Folds of very many rows, by a hash of what each holds: no row needs to be compared with another.

Equal rows go to one fold, whatever the order of rows, and wherever they lie. Rows of a class that
is rare are dealt out one by one in the order of their hashes, so that every fold has some.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.engine import Columns, Rows
from plausible.short_rows import row_max, row_sum

FloatArray = NDArray[np.float64]
HashArray = NDArray[np.uint64]

MANY_ROWS = 20_000  # from which folds are dealt out by hashes
RARE = 1000  # different rows up to which a class is rare
FEW = 4  # times as many, of which all are looked at


def hash_rows(X: NDArray[Any]) -> HashArray:
    """A hash (n,) of each row of numbers; equal rows have the same."""
    state = np.full(len(X), 0x9E3779B97F4A7C15, dtype=np.uint64)
    bits, high = np.empty(len(X)), np.empty_like(state)
    for column in np.asarray(X).T:
        np.add(column, 0.0, out=bits)  # zero and minus zero are equal
        state ^= bits.view(np.uint64)
        state *= np.uint64(0xD6E8FEB86659FD93)
        state ^= np.right_shift(state, np.uint64(32), out=high)
    return _mixed(state)


def _mixed(state: HashArray) -> HashArray:
    """Numbers in which every bit depends on every bit of those given."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


class Rarest:
    """The least hashes of the rows of each class; all of them where the class is rare."""

    def __init__(self, least: list[HashArray]) -> None:
        self.least = list(map(_least, least))

    def __add__(self, other: "Rarest") -> "Rarest":
        pairs = zip(self.least, other.least, strict=True)
        return Rarest([np.concatenate(pair) for pair in pairs])


def _least(hashes: HashArray) -> HashArray:
    """The least of some hashes that are different, in order."""
    if len(hashes) > FEW * RARE:  # hashes are spread evenly: those below a bound are enough
        bound = np.uint64(2**64 // len(hashes) * (FEW // 2 * RARE))
        low = np.unique(hashes[hashes < bound])
        if len(low) > RARE:
            return low[: RARE + 1]
    return np.unique(hashes)[: RARE + 1]


class Dealt(NamedTuple):
    """Which fold a row belongs to: by its hash, but for those of rare classes."""

    n_folds: int
    hashes: HashArray
    folds: NDArray[np.int64]

    def __call__(self, X: NDArray[Any]) -> NDArray[np.int64]:
        """Folds (n,) of rows."""
        return self.of(hash_rows(X))

    def of(self, hashes: HashArray) -> NDArray[np.int64]:
        """Folds (n,) of rows by their hashes."""
        fold = (hashes % np.uint64(self.n_folds)).astype(np.int64)
        if len(self.hashes):
            place = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
            is_rare = self.hashes[place] == hashes
            fold[is_rare] = self.folds[place[is_rare]]
        return fold


def _rarest(columns: Columns) -> Rarest:
    X, contour, weight, *_ = (*columns, None)
    assert X is not None
    assert contour is not None
    return rarest_of(hash_rows(X), contour, weight)


def rarest_of(hashes: HashArray, contour: FloatArray, weight: FloatArray | None) -> Rarest:
    """The least hashes of rows whose most plausible class is one of its own."""
    best = contour >= row_max(contour)[:, None] * (1.0 - 1e-9)
    counts = row_sum(best) == 1
    if weight is not None:
        counts &= weight > 0.0
    return Rarest([hashes[counts & best[:, k]] for k in range(contour.shape[1])])


def deal(rows: Rows, most: int) -> Dealt:
    """Folds of rows of features, contours and weights; at most as many as a class has rows.

    Classes with a single row do not count for that.
    """
    return dealt_by(rows.reduce(_rarest), most)


def dealt_by(rarest: Rarest, most: int) -> Dealt:
    """Folds of rows by their least hashes."""
    sizes = [len(hashes) for hashes in rarest.least]
    n_folds = min([most, *(size for size in sizes if size > 1)])
    rare = [hashes for hashes in rarest.least if 0 < len(hashes) <= RARE]
    if not rare:
        return Dealt(n_folds, np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64))
    folds = np.concatenate([np.arange(len(hashes)) % n_folds for hashes in rare])
    hashes, first = np.unique(np.concatenate(rare), return_index=True)
    return Dealt(n_folds, hashes, folds[first])
