"""Sums over answers: of kinds of answers for each item, of items for each kind, and the E step.

A kind is an annotator with one of their statements. Sparse products need no compiler and suffice
for most; from `FAST_WORK` on `compiled_answers` does the same in one pass.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

FAST_WORK = 2_000_000  # answers times classes from which compiled passes pay


class Sums(NamedTuple):
    """Posterior (n, K), its sums by kind (U, K) and in all (K,), and the log likelihood."""

    posterior: FloatArray
    by_kind: FloatArray
    in_all: FloatArray
    log_likelihood: float


class DoubtedSums(NamedTuple):
    """Posterior (n, K), its sums by pair and in all (K,), and the log likelihood.

    Sums by pair (V, K) are of those who meant what they said, and, for each unit of probability, of
    those who may have meant anything; see `kinds`.
    """

    posterior: FloatArray
    meant: FloatArray
    anything: FloatArray
    in_all: FloatArray
    log_likelihood: float


class AnswerSums(Protocol):
    """Sums over answers; K columns for the classes."""

    def of_items(self, values: FloatArray) -> FloatArray:
        """Sum (n, K) of the values (U, K) of the kinds of answers about each item."""

    def of_kinds(self, values: FloatArray) -> FloatArray:
        """Sum (U, K) of the values (n, K) of the items with each kind of answer."""

    def expect(self, logs: FloatArray, prior: FloatArray, known: FloatArray | None) -> Sums:
        """Posterior probabilities, their sums, and the log likelihood.

        `logs` (U, K) are log likelihoods of the kinds, `prior` (K,) and `known` (n, K) log
        probabilities and log plausibilities of the classes.
        """


class SparseSums:
    """By sparse products."""

    def __init__(self, item: IntArray, kind: IntArray, n_items: int, n_kinds: int) -> None:
        shape = n_items, n_kinds
        self.by_item = csr_array((np.ones(len(item)), (item, kind)), shape=shape)
        self.by_kind = self.by_item.T.tocsr()

    def of_items(self, values: FloatArray) -> FloatArray:
        """Sum (n, K) of the values (U, K) of the kinds of answers about each item."""
        return np.asarray(self.by_item @ values)

    def of_kinds(self, values: FloatArray) -> FloatArray:
        """Sum (U, K) of the values (n, K) of the items with each kind of answer."""
        return np.asarray(self.by_kind @ values)

    def expect(self, logs: FloatArray, prior: FloatArray, known: FloatArray | None) -> Sums:
        """See `AnswerSums.expect`."""
        posterior, totals = normalize(self.of_items(logs), prior, known)
        held = self.of_kinds(posterior)
        return Sums(posterior, held, posterior.sum(axis=0), float(totals.sum()))


def normalize(
    evidence: FloatArray, prior: FloatArray, known: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Posterior probabilities (n, K), and log likelihoods (n,) of the items.

    Examples
    --------
    >>> normalize(np.log([[0.5, 0.25]]), np.log([0.2, 0.8]), None)[0].round(3)
    array([[0.333, 0.667]])
    """
    scores = evidence + prior
    if known is not None:
        scores += known
    top = scores.max(axis=1, keepdims=True)
    scores -= top
    posterior = np.exp(scores, out=scores)
    total = posterior.sum(axis=1, keepdims=True)
    posterior /= total
    return posterior, (top + np.log(total))[:, 0]


def is_much_work(n_answers: int, n_classes: int) -> bool:
    """Whether compiled passes pay."""
    return n_answers * n_classes >= FAST_WORK


def answer_sums(
    item: IntArray, kind: IntArray, n_items: int, n_kinds: int, n_classes: int
) -> AnswerSums:
    """Sums over answers (A,) by the way that suits their number."""
    if not is_much_work(len(item), n_classes):
        return SparseSums(item, kind, n_items, n_kinds)
    from plausible.experts.compiled_answers import CompiledSums

    return CompiledSums(item, kind, n_items, n_kinds)
