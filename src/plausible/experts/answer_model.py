r"""Annotators with any confusions of classes: Dawid and Skene's model for all kinds of answers.

Annotator r says l of an item of class k with probability :math:`\theta_{r k l}`; see
`answer_problem`.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.answer_problem import (
    FLOOR,
    TINY,
    AnswerProblem,
    Expectation,
    Parameters,
    speaking,
)
from plausible.experts.answer_sums import answer_sums
from plausible.experts.charts import RememberedLogs
from plausible.experts.kinds import by_doubt, different, divide_by_doubt, doubted_answers

FloatArray = NDArray[np.float64]

MOST_PROBABILITIES = 50_000_000  # of confusions: a table takes 0.4 GB, a fit some ten of them


class AnswerModel(AnswerProblem):
    r"""Any confusions: answers as sums over kinds.

    A pair is an annotator with one of their statements, a kind a pair with a doubt d. With the
    likelihood :math:`P_v` of a pair, that of a kind is :math:`d + (1 - d) P_v`, so that doubts that
    are all different cost no more than a number for each class.
    """

    def __init__(
        self,
        annotations: Annotations,
        smoothing: float,
        gold: FloatArray | None,
        prior: FloatArray | None = None,
        center: FloatArray | None = None,
    ) -> None:
        super().__init__(annotations, smoothing, gold, prior)
        self.n_cells = self.n_classes
        check_confusions(self.n_annotators, self.n_classes)
        answers = annotations.select(speaking(annotations))
        contours = answers.contours
        pairs, place = different(answers.annotator * len(contours) + answers.statement)
        self.annotator, said = pairs // len(contours), pairs % len(contours)
        self.doubted, self.power, kind = by_doubt(place, answers.doubt, answers._power)
        self.answers: Any = None
        if self.doubted is not None:
            self.answers = doubted_answers(answers, place, len(pairs))
        n_kinds = len(pairs) if self.doubted is None else len(self.doubted.pair)
        self.sums = answer_sums(answers.item, kind, self.n_items, n_kinds, self.n_classes)
        self.answer = contours.argmax(axis=1)[said]
        is_hard = ((contours > 0).sum(axis=1) == 1) & (contours.max(axis=1) == 1)
        self.hard, self.soft = np.flatnonzero(is_hard[said]), np.flatnonzero(~is_hard[said])
        self.said = contours[said[self.soft]]
        eye, even = np.eye(self.n_classes), np.full((self.n_classes,) * 2, 1 / self.n_classes)
        self.imagined_answers = smoothing * ((eye + even) / 2 if center is None else center)
        self.used, self.logs = self._used(), RememberedLogs()

    def _used(self) -> NDArray[np.bool_]:
        """Classes (R, K) that annotators may have meant; all, of those who have said nothing."""
        used = self.meant_classes()
        used[~used.any(axis=1)] = True
        return used

    def meant_classes(self) -> NDArray[np.bool_]:
        """Classes (R, K) that annotators may have meant by what they said."""
        used = np.zeros((self.n_annotators, self.n_classes), dtype=bool)
        used[self.annotator, self.answer] = True
        used[self.annotator[self.soft]] = True
        if self.doubted is not None:
            used[self.annotator[self.doubted.pair[self.doubted.doubt > 0]]] = True
        return used

    def _of_pairs(self, confusion: FloatArray) -> FloatArray:
        """P(s | k, r) of each pair (V, K), as if it were not doubted."""
        found = confusion[self.annotator, :, self.answer]
        for who, mine in self._soft_pairs():
            found[self.soft[mine]] = self.said[mine] @ confusion[who].T
        return np.maximum(found, TINY)

    def likelihoods(self, confusion: FloatArray) -> FloatArray:
        """P(s | k, r) of each kind: (U, K)."""
        found = self._of_pairs(confusion)
        if self.doubted is None:
            return found
        doubt = self.doubted.doubt[:, None]
        found = found[self.doubted.pair]
        found *= 1 - doubt
        found += doubt
        return found

    def evidence(self, point: Parameters) -> FloatArray:
        """Log likelihood (n, K) of the answers about each item, by class."""
        if self.answers is not None:
            return self.answers.evidence(self._of_pairs(point.learned))
        return self.sums.of_items(self._logs(point.learned))

    def _logs(self, confusion: FloatArray) -> FloatArray:
        """Log likelihoods (U, K) of kinds, times the powers to which these are raised."""
        logs = np.log(self.likelihoods(confusion))
        return logs if self.power is None else logs * self.power[:, None]

    def expected(self, posterior: FloatArray, learned: FloatArray) -> FloatArray:
        """Expected number (R, K, K) of times that an annotator said l in class k."""
        if self.answers is not None:
            meant, anything = self.answers.counts(posterior, self._of_pairs(learned))
            return self._spread_pairs(meant, learned, anything)
        return self.spread(self.sums.of_kinds(posterior), learned)

    def spread(self, held: FloatArray, confusion: FloatArray) -> FloatArray:
        """Expected answers (R, K, K) from the probabilities (U, K) summed by kind."""
        held = held if self.power is None else held * self.power[:, None]
        if self.doubted is None:
            return self._spread_pairs(held, confusion, np.zeros(0))
        whole = self._of_pairs(confusion)
        meant, anything = divide_by_doubt(self.doubted, held, whole)
        return self._spread_pairs(meant, confusion, anything)

    def _spread_pairs(
        self, held: FloatArray, confusion: FloatArray, anything: FloatArray
    ) -> FloatArray:
        """The same from the probabilities (V, K) of those who meant what they said.

        `anything` (V, K) are, for each unit of probability, those who may have meant any class.
        """
        if self.answers is not None and not len(self.soft):
            from plausible.experts.compiled_doubts import confused

            return confused(self.annotator, self.answer, held, anything, confusion)
        n, n_hard = self.n_classes, len(self.hard)
        cell = self.annotator[self.hard] * n + self.answer[self.hard]
        which = cell, np.arange(n_hard)
        adder = csr_array((np.ones(n_hard), which), shape=(self.n_annotators * n, n_hard))
        found = np.asarray(adder @ held[self.hard]).reshape(self.n_annotators, n, n)
        counts = np.ascontiguousarray(found.transpose(0, 2, 1))
        for who, mine in self._soft_pairs():
            said = self.said[mine]
            chance = np.maximum(said @ confusion[who].T, FLOOR)
            counts[who] += confusion[who] * ((held[self.soft[mine]] / chance).T @ said)
        if anything.size:
            which = self.annotator, np.arange(len(self.annotator))
            people = csr_array((np.ones(len(which[0])), which), (self.n_annotators, len(which[0])))
            counts += confusion * np.asarray(people @ anything)[:, :, None]
        return counts

    def _soft_pairs(self) -> list[tuple[int, slice]]:
        """Annotators with soft answers, and where theirs are among the soft pairs."""
        who, first = np.unique(self.annotator[self.soft], return_index=True)
        edges = [*first.tolist(), len(self.soft)]
        return [(r, slice(*pair)) for r, pair in zip(who.tolist(), pairwise(edges), strict=True)]

    def log_prior(self, learned: FloatArray) -> float:
        """Log density of the imagined answers, up to a constant."""
        if not self.smoothing:
            return 0.0
        logs = self.logs.of(learned)
        if self.imagined_answers.ndim < logs.ndim:  # the same for all
            logs = logs.sum(axis=0)
        return float(np.vdot(self.imagined_answers, logs))

    def imagined(self) -> tuple[Any, float]:
        """How many of the imagined answers of an annotator are right, and how many there are."""
        right = np.trace(self.imagined_answers, axis1=-2, axis2=-1)
        return right, self.smoothing * self.n_classes

    def tally(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How often each annotator (R,) is expected to be right, and how often they answered."""
        return np.diagonal(counts, axis1=1, axis2=2).sum(axis=1), counts.sum(axis=(1, 2))

    def vote_shares(self) -> FloatArray:
        """Shares (n, K) of the classes among the answers about each item; zeros without any."""
        if self.answers is not None:
            shares = self._doubted_shares()
        else:
            shares = self.sums.of_items(self._said_by_kind())
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), FLOOR)
        return shares

    def _said_by_pair(self) -> FloatArray:
        """Plausibilities (V, K) of what each pair says."""
        said = np.zeros((len(self.answer), self.n_classes))
        said[np.arange(len(said)), self.answer] = 1.0
        said[self.soft] = self.said
        return said

    def _doubted_shares(self) -> FloatArray:
        """Sums (n, K) of the shares of the classes in what each answer says.

        With a doubt d these are a number for all classes, and one times what the pair says.
        """
        first, pair, doubt, power, _ = self.answers.by_item
        said = self._said_by_pair()
        size = doubt * self.n_classes + (1 - doubt) * said.sum(axis=1)[pair]
        weight = (power if len(power) else 1.0) / np.maximum(size, FLOOR)
        shape = self.n_items, len(said)
        of_all = csr_array((weight * doubt, pair, first), shape).sum(axis=1)
        named = csr_array((weight * (1 - doubt), pair, first), shape) @ said
        return np.asarray(of_all)[:, None] + np.asarray(named)

    def _said_by_kind(self) -> FloatArray:
        """Shares (U, K) of the classes in what each kind says, times its power."""
        kinds = self._said_by_pair()
        if self.doubted is not None:
            doubt = self.doubted.doubt[:, None]
            kinds = doubt + (1 - doubt) * kinds[self.doubted.pair]
        kinds /= np.maximum(kinds.sum(axis=1, keepdims=True), FLOOR)
        return kinds if self.power is None else kinds * self.power[:, None]

    def _expect(self, point: Parameters) -> tuple[Expectation, FloatArray]:
        prior = np.log(np.maximum(point.prior, TINY))
        if self.answers is not None:
            found = self.answers.expect(self._of_pairs(point.learned), prior, self.gold)
            counts = self._spread_pairs(found.meant, point.learned, found.anything)
            return Expectation(point, found.posterior, counts, found.log_likelihood), found.in_all
        sums = self.sums.expect(self._logs(point.learned), prior, self.gold)
        counts = self.spread(sums.by_kind, point.learned)
        return Expectation(point, sums.posterior, counts, sums.log_likelihood), sums.in_all

    def _learn(self, counts: FloatArray) -> FloatArray:
        counts = counts + self.imagined_answers
        least = FLOOR if self.used.all() else np.where(self.used, FLOOR, 0.0)[:, None, :]
        np.maximum(counts, least, out=counts)
        counts /= counts.sum(axis=2, keepdims=True)
        return counts

    def first_counts(self, posterior: FloatArray) -> FloatArray:
        """Expected answers (R, K, K) at first, when everybody is half right."""
        half_right = (np.eye(self.n_classes) + 1 / self.n_classes) / 2
        shape = (self.n_annotators, self.n_classes, self.n_classes)
        return self.expected(posterior, np.broadcast_to(half_right, shape))

    def begin(self, counts: FloatArray, believe: bool) -> FloatArray:
        """Confusions (R, K, K) at first."""
        half_right = (np.eye(self.n_classes) + 1 / self.n_classes) / 2
        if believe:
            counts[counts.sum(axis=(1, 2)) <= 0] = half_right
        return self._learn(counts)


def check_confusions(n_annotators: int, n_classes: int) -> None:
    """Refuse tables of confusions that no memory would hold, before they are made."""
    n_numbers = n_annotators * n_classes**2
    if n_numbers > MOST_PROBABILITIES:
        raise InputError(
            f"Confusions should be at most {MOST_PROBABILITIES:,} probabilities",
            f"{n_annotators:,} annotators with {n_classes:,} x {n_classes:,} classes each are "
            f"{n_numbers:,}, or {8 * n_numbers / 1e9:,.1f} GB for one table of several",
            "use {model} or model='class', which need no such table",
            parameter="model",
            value="full",
            settings={"model": "one_coin"},
        )
