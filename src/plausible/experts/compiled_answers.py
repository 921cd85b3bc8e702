"""The sums of `answer_sums` compiled, on all cores.

An E step goes through some thousand items at a time, whose probabilities then are still in the
cache when their answers take a share of them; exponentials are numpy's, which are faster. numba is
imported only where there is enough work; the first use on a machine compiles for some seconds.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numba
import numpy as np
from scipy.sparse import csr_array

from plausible.engine import in_order, one_blas_thread
from plausible.experts.answer_sums import FloatArray, IntArray, Sums

TILE = 40_000  # probabilities at a time
MOST_BLOCKS = 8  # of items; their number must not depend on the machine, nor so the rounding
ANSWERS_FOR_KIND = 16  # in a block, at least: each block has a table of all kinds


class CompiledSums:
    """By loops over the answers, which are ordered by item."""

    def __init__(self, item: IntArray, kind: IntArray, n_items: int, n_kinds: int) -> None:
        self.first, order = order_of(item, n_items)
        self.kind = kind[order].astype(np.int32)
        self.n_items, self.n_kinds = n_items, n_kinds
        n_blocks = min(MOST_BLOCKS, max(len(item) // (ANSWERS_FOR_KIND * n_kinds), 1))
        edges = np.linspace(0, n_items, n_blocks + 1).astype(np.int64).tolist()
        self.blocks = [slice(*pair) for pair in pairwise(edges)]

    def of_items(self, values: FloatArray) -> FloatArray:
        """Sum (n, K) of the values (U, K) of the kinds of answers about each item."""
        values = np.ascontiguousarray(values)
        sums = np.zeros((self.n_items, values.shape[1]))
        self._each(lambda rows: _gather(self._first(rows), self.kind, values, sums[rows], False))
        return sums

    def of_kinds(self, values: FloatArray) -> FloatArray:
        """Sum (U, K) of the values (n, K) of the items with each kind of answer."""
        values = np.ascontiguousarray(values)

        def one(rows: slice) -> FloatArray:
            sums = np.zeros((self.n_kinds, values.shape[1]))
            _scatter(self._first(rows), self.kind, values[rows], sums, np.zeros(0))
            return sums

        return np.asarray(_total(self._each(one)))

    def expect(self, logs: FloatArray, prior: FloatArray, known: FloatArray | None) -> Sums:
        """See `AnswerSums.expect`."""
        logs = np.ascontiguousarray(logs)
        n_classes = len(prior)
        n_rows = max(TILE // n_classes, 1)
        posterior = np.empty((self.n_items, n_classes))

        def one(rows: slice) -> tuple[FloatArray, FloatArray, float]:
            held, shares = np.zeros((self.n_kinds, n_classes)), np.zeros(n_classes)
            criterion = 0.0
            for start in range(rows.start, rows.stop, n_rows):
                tile = slice(start, min(start + n_rows, rows.stop))
                scores, first = posterior[tile], self._first(tile)
                scores[:] = prior if known is None else prior + known[tile]
                criterion += _gather(first, self.kind, logs, scores, True)
                np.exp(scores, out=scores)
                criterion += _scatter(first, self.kind, scores, held, shares)
            return held, shares, criterion

        sums = (_total(parts) for parts in zip(*self._each(one), strict=True))
        return Sums(posterior, *sums)

    def _first(self, rows: slice) -> IntArray:
        """Where the answers about these items begin, and the last of them end."""
        return self.first[rows.start : rows.stop + 1]

    def _each(self, function: Callable[[slice], Any]) -> list[Any]:
        with one_blas_thread() as n_threads:
            return list(in_order(function, self.blocks, n_threads))


def _total(parts: Sequence[Any]) -> Any:
    """Their sum, without a copy of a single one."""
    return sum(parts[1:], start=parts[0])


def order_of(place: IntArray, n_places: int) -> tuple[IntArray, IntArray]:
    """Where each place begins (n_places + 1,), and the answers in the order of places.

    Sparse tables turn from rows to columns by counting, which is faster than sorting.
    """
    n_answers = len(place)
    there = np.ones(n_answers, dtype=np.int8), place, np.arange(n_answers + 1)
    table = csr_array(there, shape=(n_answers, n_places)).tocsc()
    return table.indptr.astype(np.int64), table.indices


# Kernels. What compiles slowly is left out: they make no arrays. And they are few, as each costs a
# tenth of a second at least; loops of their own leave more of the memory's time to sums.


# Only Python calls them: without a way in for C they compile faster.
_options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


@numba.njit(cache=True, **_options)
def _gather(first, kind, values, sums, lowered):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add the values of its answers to each item.

    If they are to be lowered, each row then loses its largest value; gives the sum of those.
    """
    sum_of_tops = 0.0
    for i in range(len(sums)):
        total = sums[i]
        for a in range(first[i], first[i + 1]):
            value = values[kind[a]]
            for k in range(len(total)):
                total[k] += value[k]
    if lowered:
        for i in range(len(sums)):
            total = sums[i]
            top = total[0]
            for k in range(1, len(total)):
                top = total[k] if total[k] > top else top
            for k in range(len(total)):
                total[k] -= top
            sum_of_tops += top
    return sum_of_tops


@numba.njit(cache=True, **_options)
def _scatter(first, kind, values, sums, shares):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add the values of each item to its answers' kinds.

    If there are shares, rows are divided by their sums before, and added to shares; gives the sum
    of the sums' logs.
    """
    sum_of_logs = 0.0
    if len(shares):
        for i in range(len(values)):
            value, whole = values[i], 0.0
            for k in range(len(value)):
                whole += value[k]
            for k in range(len(value)):
                value[k] /= whole
                shares[k] += value[k]
            sum_of_logs += math.log(whole)
    for i in range(len(values)):
        value = values[i]
        for a in range(first[i], first[i + 1]):
            total = sums[kind[a]]
            for k in range(len(value)):
                total[k] += value[k]
    return sum_of_logs
