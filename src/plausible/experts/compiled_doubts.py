r"""The E step for answers whose doubts are all different, compiled, on all cores.

A pair is an annotator with one of their statements, of likelihood :math:`P_{vk}` in class k. An
answer with doubt d and power g has likelihood :math:`(d + (1 - d) P_{vk})^g`, so that nothing can
be computed once for several answers, and the work is answers times classes. It is done twice:

- item by item, for the posterior: likelihoods are multiplied, and one logarithm is taken for each
  item where sums would take one for each answer and class;
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
from plausible.experts.answer_sums import DoubtedSums, FloatArray, IntArray
from plausible.experts.compiled_answers import order_of

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
        known = np.zeros((0, n_classes)) if known is None else np.ascontiguousarray(known)
        posterior = np.empty((self.n_items, n_classes))

        def one(rows: slice) -> tuple[float, FloatArray]:
            in_all, space = np.zeros(n_classes), np.empty(n_classes)
            given = whole, prior, np.exp(prior), known, space, posterior, in_all
            return _run(_posteriors, self.by_item, rows, given), in_all

        found = _each(one, self.by_item.blocks)
        meant, anything = self.counts(posterior, whole)
        in_all = np.sum([part for _, part in found], axis=0)
        return DoubtedSums(posterior, meant, anything, in_all, float(sum(one for one, _ in found)))

    def evidence(self, whole: FloatArray) -> FloatArray:
        """Log likelihoods (n, K) of the answers about each item, by class."""
        whole = np.ascontiguousarray(whole)
        found = np.zeros((self.n_items, whole.shape[1]))
        answers = self.by_item
        _each(lambda rows: _run(_logs, answers, rows, (whole, found)), answers.blocks)
        return found

    def counts(self, posterior: FloatArray, whole: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sums (V, K) by pair of (weighted) probabilities (n, K) of classes.

        They are those of people who meant what they said, and, for each unit of probability, of
        those who may have meant anything.
        """
        whole, posterior = np.ascontiguousarray(whole), np.ascontiguousarray(posterior)
        meant, anything = np.empty_like(whole), np.empty_like(whole)
        answers, given = self.by_pair, (whole, posterior, meant, anything)

        def one(rows: slice) -> None:
            _run(_add, answers, rows, (*given, np.empty((2, whole.shape[1]))))

        _each(one, answers.blocks)
        return meant, anything


def _run(kernel: Any, answers: Grouped, rows: slice, given: tuple[Any, ...]) -> Any:
    """A kernel over some items or pairs."""
    first, other, doubt, power, _ = answers
    return kernel(first, other, doubt, power, rows.start, rows.stop, *given)


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
    counts, confusion = np.empty(confusion.shape), np.ascontiguousarray(confusion)
    marks = np.linspace(0, len(confusion), N_BLOCKS + 1).astype(np.int64).tolist()
    blocks = [slice(*pair) for pair in pairwise(marks) if pair[0] < pair[1]]
    given = edges, answer, meant, anything, confusion, counts
    n_classes = confusion.shape[1]

    def one(rows: slice) -> None:
        space = np.empty(n_classes), np.empty((n_classes, n_classes))
        _confuse(rows.start, rows.stop, *given, *space)

    _each(one, blocks)
    return counts


# Kernels. Divisions follow numpy, which lets them be done several at a time. What compiles slowly
# is left out: they make no arrays, and call no functions of arrays.


_options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
# Parts that only compiled code calls: without ways in for others they compile faster.
_inner: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_part = numba.njit(**_inner, **_options)


@numba.njit(cache=True, **_options)
def _confuse(  # type: ignore[no-untyped-def]  # pragma: no cover
    start, stop, edges, answer, meant, anything, confusion, counts, other, said
):
    """Expected answers of some annotators."""
    n_classes = confusion.shape[1]
    for r in range(start, stop):
        for k in range(n_classes):
            other[k] = 0.0
            for m in range(n_classes):
                said[k, m] = 0.0
        for p in range(edges[r], edges[r + 1]):
            for k in range(n_classes):
                said[answer[p], k] += meant[p, k]
                other[k] += anything[p, k]
        for k in range(n_classes):
            for m in range(n_classes):
                counts[r, k, m] = confusion[r, k, m] * other[k] + said[m, k]


@_part
def _multiply(row, chance, d, power):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Multiply a row by the likelihoods of an answer."""
    if power == 1.0:
        for k in range(len(row)):
            row[k] *= d + (1 - d) * chance[k]
    else:
        for k in range(len(row)):
            row[k] *= (d + (1 - d) * chance[k]) ** power


@_part
def _largest(row):  # type: ignore[no-untyped-def]  # pragma: no cover
    largest = row[0]
    for k in range(1, len(row)):
        largest = row[k] if row[k] > largest else largest
    return largest


@_part
def _lift(row):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Bring a row that gets small near one; gives the logarithm of the factor."""
    largest = _largest(row)
    if not 0.0 < largest < 1e-100:
        return 0.0
    for k in range(len(row)):
        row[k] /= largest
    return math.log(largest)


@_part
def _total(row):  # type: ignore[no-untyped-def]  # pragma: no cover
    total = 0.0
    for k in range(len(row)):
        total += row[k]
    return total


@numba.njit(cache=True, **_options)
def _posteriors(  # type: ignore[no-untyped-def]  # pragma: no cover
    first, pair, doubt, power, start, stop, whole, prior, shares, known, row, posterior, in_all
):
    """Fill rows of `posterior`, and add them to `in_all`; gives their log likelihood."""
    n_classes, log_likelihood = len(prior), 0.0
    for i in range(start, stop):
        top = 0.0
        for k in range(n_classes):
            row[k] = shares[k] if len(known) == 0 else shares[k] * math.exp(known[i, k])
        for a in range(first[i], first[i + 1]):
            _multiply(row, whole[pair[a]], doubt[a], 1.0 if len(power) == 0 else power[a])
            if a % 4 == 3:
                top += _lift(row)
        total = _total(row)
        if not total > 1e-250:  # too small for products: by logarithms
            for k in range(n_classes):
                row[k] = prior[k] if len(known) == 0 else prior[k] + known[i, k]
            _add_logs(row, first[i], first[i + 1], pair, doubt, power, whole)
            top = _largest(row)
            for k in range(n_classes):
                row[k] = math.exp(row[k] - top)
            total = _total(row)
        log_likelihood += top + math.log(total)
        for k in range(n_classes):
            row[k] /= total
            posterior[i, k] = row[k]
            in_all[k] += row[k]
    return log_likelihood


@_part
def _add_logs(row, start, stop, pair, doubt, power, whole):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add the log likelihoods of some answers to a row."""
    for a in range(start, stop):
        d, chance, g = doubt[a], whole[pair[a]], 1.0 if len(power) == 0 else power[a]
        for k in range(len(row)):
            row[k] += g * math.log(d + (1 - d) * chance[k])


@numba.njit(cache=True, **_options)
def _logs(first, pair, doubt, power, start, stop, whole, found):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Log likelihoods of the answers about some items."""
    for i in range(start, stop):
        _add_logs(found[i], first[i], first[i + 1], pair, doubt, power, whole)


@numba.njit(cache=True, **_options)
def _add(  # type: ignore[no-untyped-def]  # pragma: no cover
    first, item, doubt, power, start, stop, whole, posterior, meant, anything, space
):
    """Add up the probabilities of the items that each pair speaks of."""
    n_classes = whole.shape[1]
    said, other = space[0], space[1]
    for p in range(start, stop):
        chance = whole[p]
        for k in range(n_classes):
            said[k] = other[k] = 0.0
        for a in range(first[p], first[p + 1]):
            d, held = doubt[a], posterior[item[a]]
            g = 1.0 if len(power) == 0 else power[a]
            sure, unsure = g * (1 - d), g * d
            for k in range(n_classes):
                share = held[k] / (d + (1 - d) * chance[k])
                said[k] += sure * share
                other[k] += unsure * share
        for k in range(n_classes):
            meant[p, k] = chance[k] * said[k]
            anything[p, k] = other[k]
