r"""Rates of being right by class where doubts are all different: pairs in the place of groups.

`rate_model` computes once what answers of one person, size and doubt have in common. Where every
answer has a doubt of its own that is a row for each answer. A pair, somebody with one of their
statements s, has the likelihood :math:`P_k = w_k \sum_l s_l + (c_k - w_k) s_k` in class k, and an
answer :math:`d + (1 - d) P_k`; `compiled_doubts` goes through the answers. Its author was right
with probability

.. math:: c_k \, (d + (1 - d) s_k) / (d + (1 - d) P_k),

whose sums over answers follow from those by pair.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from plausible.experts.annotations import Annotations
from plausible.experts.answer_problem import TINY
from plausible.experts.kinds import different, doubted_answers
from plausible.experts.statements import expand

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class PairSums(NamedTuple):
    """Posterior (n, K), rights and answers (R, K) of people, shares (K,) in all, log likelihood."""

    posterior: FloatArray
    right: FloatArray
    total: FloatArray
    in_all: FloatArray
    log_likelihood: float


class DoubtedRates:
    """Answers of people with a rate for each class, and doubts that are all different."""

    def __init__(self, answers: Annotations) -> None:
        n_statements = answers.facts.rows.shape[0]
        pairs, place = different(answers.annotator * np.int64(n_statements) + answers.statement)
        self.who, statement = np.divmod(pairs, n_statements)
        self.size = answers.facts.size[statement]
        self.named, entry = expand(statement, answers.facts.rows.indptr)
        self.column = answers.facts.rows.indices[entry].astype(np.int64)
        self.value = answers.facts.rows.data[entry]
        self.answers = doubted_answers(answers, place, len(pairs))
        which = self.who, np.arange(len(pairs))
        self.people = csr_array(
            (np.ones(len(pairs)), which), shape=(len(answers.annotators), len(pairs))
        )

    def _of_pairs(self, sure: FloatArray, wrong: FloatArray) -> FloatArray:
        """Likelihoods (V, K) of what pairs say, as if it were not doubted."""
        whole = wrong[self.who] * self.size[:, None]
        cell = self.who[self.named], self.column
        whole[self.named, self.column] += (sure[cell] - wrong[cell]) * self.value
        return np.maximum(whole, TINY, out=whole)

    def evidence(self, sure: FloatArray, wrong: FloatArray) -> FloatArray:
        """Log likelihood (n, K) of the answers about each item, by class."""
        found: FloatArray = self.answers.evidence(self._of_pairs(sure, wrong))
        return found

    def expected(
        self, posterior: FloatArray, sure: FloatArray, wrong: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """How often (R, K) people are right and answer, at probabilities (n, K) of classes."""
        whole = self._of_pairs(sure, wrong)
        return self._tally(sure, whole, *self.answers.counts(posterior, whole))

    def expect(
        self, sure: FloatArray, wrong: FloatArray, prior: FloatArray, known: FloatArray | None
    ) -> PairSums:
        """The E step; `prior` (K,) and `known` (n, K) are logarithms."""
        whole = self._of_pairs(sure, wrong)
        found = self.answers.expect(whole, prior, known)
        right, total = self._tally(sure, whole, found.meant, found.anything)
        return PairSums(found.posterior, right, total, found.in_all, found.log_likelihood)

    def _tally(
        self, sure: FloatArray, whole: FloatArray, meant: FloatArray, anything: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        total = np.asarray(self.people @ (meant + anything))
        cell = self.named, self.column
        anything[cell] += self.value * meant[cell] / whole[cell]
        return sure * np.asarray(self.people @ anything), total
