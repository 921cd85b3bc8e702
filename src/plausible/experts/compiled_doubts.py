r"""The E step for answers whose doubts are all different, compiled, on all cores.

A pair is an annotator with one of their statements, of likelihood :math:`P_{vk}` in class k. An
answer with doubt d and power g has likelihood :math:`(d + (1 - d) P_{vk})^g`, so that nothing can
be computed once for several answers, and the work is answers times classes. It is done twice:

- item by item, for the posterior: likelihoods are multiplied, and one logarithm is taken for each
  item where sums would take one for each answer and class; these are for powers, and for the few
  items whose products get too small;
- pair by pair, for the sums over answers: what belongs to a pair stays in the cache, and threads,
  which have pairs of their own, need no tables of their own.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numba
import numpy as np

from plausible.engine import in_order, one_blas_thread
from plausible.experts.answer_sums import DoubtedSums, FloatArray, IntArray, normalize
from plausible.experts.compiled_answers import TILE, order_of

N_BLOCKS = 8  # of items or pairs; must not depend on the machine, nor so the rounding


class Grouped(NamedTuple):
    """Answers in the order of items, or of pairs.

    first (G + 1,) : where those of each item or pair begin
    other (A,) : the pair of each answer about an item, or the item of each answer of a pair
    doubt (A,), power (A,) : of the answers; power is empty where there is none
    blocks : items or pairs that are gone through by one thread
    """

    first: IntArray
    other: IntArray
    doubt: FloatArray
    power: FloatArray
    blocks: list[slice]


def _grouped(
    place: IntArray, other: IntArray, doubt: FloatArray, power: FloatArray | None, n_places: int
) -> Grouped:
    """Answers ordered by place, in blocks with about as many answers each."""
    first, order = order_of(place, n_places)
    power = np.zeros(0) if power is None else power[order]
    marks = np.searchsorted(first, np.linspace(0, len(place), N_BLOCKS + 1))
    marks[0], marks[-1] = 0, n_places
    blocks = [slice(*pair) for pair in pairwise(marks.tolist()) if pair[0] < pair[1]]
    return Grouped(first, other[order].astype(np.int32), doubt[order], power, blocks)


class DoubtedAnswers:
    """Answers (A,) with a doubt each, as the E step goes through them.

    item, pair (A,) : what each answer is about, and which annotator says what
    """

    def __init__(
        self,
        item: IntArray,
        pair: IntArray,
        doubt: FloatArray,
        power: FloatArray | None,
        n_items: int,
        n_pairs: int,
    ) -> None:
        self.n_items = n_items
        self.by_item = _grouped(item, pair, doubt, power, n_items)
        self.by_pair = _grouped(pair, item, doubt, power, n_pairs)

    def expect(self, whole: FloatArray, prior: FloatArray, known: FloatArray | None) -> DoubtedSums:
        """The E step at likelihoods (V, K) of pairs; see `AnswerSums.expect`."""
        whole, n_classes = np.ascontiguousarray(whole), len(prior)
        posterior, n_rows = np.empty((self.n_items, n_classes)), max(TILE // n_classes, 1)

        def one(rows: slice) -> tuple[FloatArray, float]:
            in_all, log_likelihood = np.zeros(n_classes), 0.0
            for start in range(rows.start, rows.stop, n_rows):
                tile = slice(start, min(start + n_rows, rows.stop))
                plus = None if known is None else known[tile]
                log_likelihood += self._fill(tile, whole, prior, plus, posterior[tile], in_all)
            return in_all, log_likelihood

        found = _each(one, self.by_item.blocks)
        meant, anything = self.counts(posterior, whole)
        in_all, log_likelihood = (sum(parts) for parts in zip(*found, strict=True))
        return DoubtedSums(posterior, meant, anything, in_all, log_likelihood)

    def _fill(
        self,
        rows: slice,
        whole: FloatArray,
        prior: FloatArray,
        known: FloatArray | None,
        posterior: FloatArray,
        in_all: FloatArray,
    ) -> float:
        """Fill rows of the posterior, and add them to `in_all`; gives their log likelihood."""
        first, pair, doubt, power, _ = self.by_item
        totals = np.full(len(posterior), -np.inf)
        if not len(power):
            begin = np.exp(prior)[None] if known is None else np.exp(prior) * np.exp(known)
            answers = first[rows.start : rows.stop + 1], pair, doubt
            _multiply(*answers, whole, begin, posterior, totals, in_all)
        lost = np.flatnonzero(totals == -np.inf)  # too small for products: by logarithms
        if len(lost):
            logs = np.zeros((len(lost), len(prior)))
            _add_logs(first, pair, doubt, power, rows.start + lost, whole, logs)
            plus = None if known is None else known[lost]
            posterior[lost], totals[lost] = normalize(logs, prior, plus)
            in_all += posterior[lost].sum(axis=0)
        return float(totals.sum())

    def evidence(self, whole: FloatArray) -> FloatArray:
        """Log likelihoods (n, K) of the answers about each item, by class."""
        whole, answers = np.ascontiguousarray(whole), self.by_item[:4]
        found = np.zeros((self.n_items, whole.shape[1]))

        def one(rows: slice) -> None:
            _add_logs(*answers, np.arange(rows.start, rows.stop), whole, found[rows])

        _each(one, self.by_item.blocks)
        return found

    def counts(self, posterior: FloatArray, whole: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sums (V, K) by pair of (weighted) probabilities (n, K) of classes.

        They are those of people who meant what they said, and, for each unit of probability, of
        those who may have meant anything.
        """
        whole, posterior = np.ascontiguousarray(whole), np.ascontiguousarray(posterior)
        meant, anything = np.zeros_like(whole), np.zeros_like(whole)
        given = *self.by_pair[:4], whole, posterior, meant, anything
        _each(lambda rows: _add(rows.start, rows.stop, *given), self.by_pair.blocks)
        return meant, anything


def _each(function: Callable[[slice], Any], blocks: list[slice]) -> list[Any]:
    with one_blas_thread() as n_threads:
        return list(in_order(function, blocks, n_threads))


def confused(
    annotator: IntArray,
    answer: IntArray,
    meant: FloatArray,
    anything: FloatArray,
    confusion: FloatArray,
) -> FloatArray:
    """Expected answers (R, K, K) from sums (V, K) by pair, all of which name one class.

    Pairs are ordered by annotator; `answer` (V,) are the classes that they name.
    """
    edges = np.searchsorted(annotator, np.arange(len(confusion) + 1))
    counts, confusion = np.zeros(confusion.shape), np.ascontiguousarray(confusion)
    marks = np.linspace(0, len(confusion), N_BLOCKS + 1).astype(np.int64).tolist()
    blocks = [slice(*pair) for pair in pairwise(marks) if pair[0] < pair[1]]
    given = edges, answer, meant, anything, confusion, counts
    n_classes = confusion.shape[1]
    _each(lambda rows: _confuse(rows.start, rows.stop, *given, np.zeros(n_classes)), blocks)
    return counts


# Kernels. Divisions follow numpy, which lets them be done several at a time. What compiles slowly
# is left out: they make no arrays, and call no functions, neither of arrays nor of their own.


# Only Python and compiled code call them: without a way in for C they compile faster.
_options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


@numba.njit(cache=True, **_options)
def _confuse(start, stop, edges, answer, meant, anything, confusion, counts, other):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Expected answers of some annotators, added to counts; `other` is zero before and after."""
    n_classes = len(other)
    for r in range(start, stop):
        for p in range(edges[r], edges[r + 1]):
            for k in range(n_classes):
                counts[r, k, answer[p]] += meant[p, k]
                other[k] += anything[p, k]
        for k in range(n_classes):
            for m in range(n_classes):
                counts[r, k, m] += confusion[r, k, m] * other[k]
            other[k] = 0.0


@numba.njit(cache=True, **_options)
def _multiply(first, pair, doubt, whole, begin, posterior, totals, in_all):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Multiply rows by the likelihoods of answers, divide them by their sums, and add them up.

    Totals are the logs of those, and remain as they are where a product gets too small.
    """
    for i in range(len(posterior)):
        row, start, top, last = posterior[i], begin[i if len(begin) > 1 else 0], 0.0, first[i + 1]
        for k in range(len(row)):
            row[k] = start[k]
        for a in range(first[i], last + 1):
            if a < last:
                d, chance = doubt[a], whole[pair[a]]
                for k in range(len(row)):
                    row[k] *= d + (1 - d) * chance[k]
            if a == last or a % 4 == 3:
                total = 0.0
                for k in range(len(row)):
                    total += row[k]
                if not total > 1e-250:
                    break
                if a == last or total < 1e-100:
                    top += math.log(total)
                    ended = 1.0 if a == last else 0.0
                    for k in range(len(row)):
                        row[k] /= total
                        in_all[k] += ended * row[k]
                if a == last:
                    totals[i] = top


@numba.njit(cache=True, **_options)
def _add_logs(first, pair, doubt, power, items, whole, found):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add log likelihoods of the answers about some items."""
    for n in range(len(items)):
        row = found[n]
        for a in range(first[items[n]], first[items[n] + 1]):
            d, chance, g = doubt[a], whole[pair[a]], 1.0 if len(power) == 0 else power[a]
            for k in range(len(row)):
                row[k] += g * math.log(d + (1 - d) * chance[k])


@numba.njit(cache=True, **_options)
def _add(start, stop, first, item, doubt, power, whole, posterior, said, other):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add up the probabilities of the items that each pair speaks of."""
    for p in range(start, stop):
        chance, own, any_other = whole[p], said[p], other[p]
        for a in range(first[p], first[p + 1]):
            d, held, g = doubt[a], posterior[item[a]], 1.0 if len(power) == 0 else power[a]
            for k in range(len(chance)):
                sure = (1 - d) * chance[k]
                share = g * held[k] / (d + sure)
                own[k] += sure * share
                any_other[k] += d * share
