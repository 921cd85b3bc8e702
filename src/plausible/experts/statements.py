"""Different statements as sparse rows of plausibilities: most name one of many classes.

A thousand classes, each named by somebody, are a thousand numbers then, and not a million.
"""

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from plausible.checks import as_floats
from plausible.errors import InputError

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def as_rows(contours: ArrayLike | csr_array) -> csr_array:
    """Rows (S, K) that are sparse, ordered, and hold no zeros.

    Examples
    --------
    >>> as_rows([[1.0, 0.0], [-0.0, 0.5]]).nnz
    2
    """
    given: Any = contours if issparse(contours) else as_floats(contours, "contours")
    if given.ndim != 2:
        raise InputError(
            "contours should have a row for each statement and a column for each class",
            f"have shape {given.shape}",
            "give a table (statements, classes)",
            parameter="contours",
        )
    rows = csr_array(given, dtype=np.float64)
    if not (rows.has_canonical_format and (rows.data != 0).all()):
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def rows_of_sets(sets: list[Any], n_classes: int) -> csr_array:
    """Rows of sets that are given by the places of their classes."""
    ends = np.cumsum([0, *map(len, sets)])
    places = np.fromiter((k for members in sets for k in members), np.int64, int(ends[-1]))
    return as_rows(csr_array((np.ones(len(places)), places, ends), shape=(len(sets), n_classes)))


def distinct(rows: csr_array) -> tuple[csr_array, IntArray]:
    """Different rows in the order in which they first occur, and which of them each row is.

    Examples
    --------
    >>> different, place = distinct(as_rows([[0.5, 1.0], [1.0, 0.0], [0.5, 1.0]]))
    >>> different.toarray(), place
    (array([[0.5, 1. ],
           [1. , 0. ]]), array([0, 1, 0]))
    """
    places: dict[tuple[bytes, bytes], int] = {}
    columns, values = rows.indices, rows.data
    place = np.fromiter(
        (
            places.setdefault((columns[a:b].tobytes(), values[a:b].tobytes()), len(places))
            for a, b in pairwise(rows.indptr.tolist())
        ),
        np.int64,
        rows.shape[0],
    )
    if len(places) == rows.shape[0]:
        return rows, place
    return rows[np.unique(place, return_index=True)[1]], place


class StatementFacts:
    """What is asked of each of the different statements (S,), from their rows (S, K)."""

    def __init__(self, rows: csr_array) -> None:
        self.rows = rows
        self.n_classes = rows.shape[1]

    @cached_property
    def n_possible(self) -> IntArray:
        """How many classes are possible."""
        return np.diff(self.rows.indptr).astype(np.int64)

    @cached_property
    def size(self) -> FloatArray:
        """Sum of the plausibilities."""
        return np.asarray(self.rows.sum(axis=1), dtype=np.float64)

    @cached_property
    def largest(self) -> FloatArray:
        """Plausibility of the most plausible class."""
        return self._reduced(np.maximum)

    @cached_property
    def smallest(self) -> FloatArray:
        """Plausibility of the least plausible class."""
        return np.where(self.n_possible == self.n_classes, self._reduced(np.minimum), 0.0)

    @cached_property
    def chosen(self) -> IntArray:
        """Place of the most plausible class, the first of several; 0 where none is possible."""
        at_top = self.rows.data == np.repeat(self.largest, self.n_possible)
        found = np.zeros(len(self.n_possible), dtype=np.int64)
        statement = np.repeat(np.arange(len(found)), self.n_possible)
        # Later ones are overwritten by earlier ones.
        found[statement[at_top][::-1]] = self.rows.indices[at_top][::-1]
        return found

    @cached_property
    def is_hard(self) -> BoolArray:
        """Which name one class."""
        return (self.n_possible == 1) & (self.largest == 1)

    @cached_property
    def is_empty(self) -> BoolArray:
        """Which say "none of these"."""
        return self.n_possible == 0

    @cached_property
    def is_unknown(self) -> BoolArray:
        """Which find every class fully plausible: "cannot tell"."""
        return self.smallest == 1

    @cached_property
    def says_something(self) -> BoolArray:
        """Which favor a class over another."""
        return self.smallest < self.largest

    @cached_property
    def is_simple(self) -> BoolArray:
        """Which name one class, all or none."""
        return self.is_hard | self.is_unknown | self.is_empty

    def _reduced(self, function: np.ufunc) -> FloatArray:
        """A function of the positive plausibilities of each row; 0 where there are none."""
        found = np.zeros(len(self.n_possible))
        some = ~self.is_empty
        if some.any():
            found[some] = function.reduceat(self.rows.data, self.rows.indptr[:-1][some])
        return found


def expand(row: IntArray, indptr: IntArray) -> tuple[IntArray, IntArray]:
    """For every entry of every row that is asked for: which question, and the place of the entry.

    `indptr` says where the entries of each row begin, as that of sparse rows does.

    Examples
    --------
    >>> expand(np.array([1, 0, 1]), np.array([0, 1, 3]))
    (array([0, 0, 1, 2, 2]), array([1, 2, 0, 1, 2]))
    """
    first = np.asarray(indptr, dtype=np.int64)
    counts = np.diff(first)[row]
    question = np.repeat(np.arange(len(row)), counts)
    offset = first[row] - (np.cumsum(counts) - counts)
    return question, np.arange(len(question)) + offset[question]


def add_up(place: IntArray, values: NDArray[Any], n_places: int) -> FloatArray:
    """Sums (n_places,) of values; numpy's own are whole numbers where there are no values.

    Examples
    --------
    >>> add_up(np.array([0, 2, 0]), np.array([1.0, 2.0, 3.0]), 3)
    array([4., 0., 2.])
    """
    return np.bincount(place, values, n_places).astype(np.float64, copy=False)
