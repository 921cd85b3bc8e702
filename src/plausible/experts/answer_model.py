r"""What annotators say of items of each class: the likelihood of answers, and its EM map.

The class y of an item is latent; annotator r says l with probability :math:`\theta_{r y l}`. A
statement with plausibilities s, a set among them, is evidence about what would have been said,

.. math:: P(s \mid y = k, r) = \sum_l \theta_{r k l} \, s_l, \qquad
   L = \sum_i w_i \log \sum_k \pi_k \prod_{a \in i} P(s_a \mid k, r_a)

(a generalized likelihood, maximized by the E2M algorithm; the weights w are ones unless given).
With hard answers this is the model of Dawid and Skene (1979). An abstention has P = 1 whatever the
class, and changes nothing.

"full"       any :math:`\theta_r`: this file
"class"      a probability of being right for each class, errors spread evenly: `rate_model`
"one_coin"   one probability of being right: Shafer's discounting (`equivalent_doubt`)
"shrunk"     any :math:`\theta_r`, drawn towards the one probability that "one_coin" learns

`smoothing` adds that many imagined answers (for each class, or for all with "one_coin"), half of
them right and half spread evenly, or, with "shrunk", right as often as "one_coin" says of their
author: a Dirichlet prior, whose log density is part of the criterion. Without any, "shrunk" is
"full"; with ever more, it is "one_coin".
"""

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.answer_sums import answer_sums

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MODELS = ("one_coin", "class", "full", "shrunk")
SMOOTHING = {"shrunk": 10.0}  # imagined answers, if nothing else is said; 1 for the others
FLOOR = 1e-10  # least number of times that an annotator is expected to have said something
BLOCK = 1 << 16  # probabilities of kinds at a time
TINY = 1e-300  # keeps logarithms finite
MOST_PROBABILITIES = 50_000_000  # of confusions: a table takes 0.4 GB, a fit some ten of them


class Parameters(NamedTuple):
    """Shares (K,) of the classes, and what is known of annotators.

    learned : probabilities (R, 1) of being right, (R, K) in each class, or (R, K, K) of any answer
    """

    prior: FloatArray
    learned: FloatArray


class AnswerStatistics(NamedTuple):
    """Expected answers, as the model counts them, shares (K,) of the classes, the criterion."""

    counts: Any
    shares: FloatArray
    criterion: float


class Expectation(NamedTuple):
    """The E step at a point: posterior (n, K), expected answers, log likelihood."""

    point: Parameters
    posterior: FloatArray
    counts: Any
    log_likelihood: float


class AnswerProblem(ABC):
    """The EM problem; what is counted of answers, and learned from it, is the model's affair.

    gold : log plausibilities (n, K) of classes that are known, or None
    prior : shares (K,) of the classes, or None where they are learned
    """

    n_cells: int  # probabilities of being right of an annotator: one, or one for each class

    def __init__(
        self,
        annotations: Annotations,
        smoothing: float,
        gold: FloatArray | None,
        prior: FloatArray | None,
    ) -> None:
        self.gold, self.prior, self.smoothing = gold, prior, smoothing
        self.n_classes, self.n_annotators = annotations.n_classes, len(annotations.annotators)
        self.n_items = len(annotations.items)
        self.last: Expectation | None = None

    @abstractmethod
    def evidence(self, point: Parameters) -> FloatArray:
        """Log likelihood (n, K) of the answers about each item, by class."""

    @abstractmethod
    def expected(self, posterior: FloatArray, learned: FloatArray) -> Any:
        """Expected answers if the items have these (weighted) probabilities (n, K) of classes."""

    @abstractmethod
    def log_prior(self, learned: FloatArray) -> float:
        """Log density of the imagined answers, up to a constant."""

    @abstractmethod
    def tally(self, counts: Any) -> tuple[FloatArray, FloatArray]:
        """How often each annotator (R,) is expected to be right, and how often they answered."""

    @abstractmethod
    def vote_shares(self) -> FloatArray:
        """Shares (n, K) of the classes among the answers about each item; zeros without any."""

    @abstractmethod
    def _expect(self, point: Parameters) -> tuple[Expectation, FloatArray]:
        """The E step, and expected numbers (K,) of items of each class."""

    @abstractmethod
    def _learn(self, counts: Any) -> FloatArray:
        """What is known of annotators after these answers."""

    @abstractmethod
    def first_counts(self, posterior: FloatArray) -> Any:
        """Expected answers at first, when everybody is half right."""

    @abstractmethod
    def begin(self, counts: Any, believe: bool) -> FloatArray:
        """What is known of annotators at first; `believe` those of whom nothing is known."""

    def imagined(self) -> tuple[Any, float]:
        """How many of the imagined answers of an annotator are right, and how many there are."""
        total = self.smoothing * self.n_cells
        return total * (1 + 1 / self.n_classes) / 2, total

    def summarize(self, points: list[Parameters]) -> list[AnswerStatistics]:
        """The E step for each point."""
        return [self._summary(point) for point in points]

    def _summary(self, point: Parameters) -> AnswerStatistics:
        self.last = None  # before the next one takes as much memory
        self.last, shares = self._expect(point)
        criterion = self.last.log_likelihood + self.log_prior(point.learned)
        return AnswerStatistics(self.last.counts, shares / self.n_items, criterion)

    def expect(self, point: Parameters) -> Expectation:
        """The E step at a point, which most often was the last one."""
        if self.last is None or self.last.point is not point:
            self._summary(point)
        assert self.last is not None
        return self.last

    def solve(self, summary: AnswerStatistics) -> Parameters:
        """The M step."""
        prior = np.maximum(summary.shares, FLOOR) if self.prior is None else self.prior
        return Parameters(prior, self._learn(summary.counts))

    def start(self, weight: FloatArray | None = None) -> Parameters:
        """The M step on shares of the votes, as a majority vote has them, or on what is known."""
        posterior = self.first_posterior()
        shares = np.average(posterior, axis=0, weights=weight)
        posterior = self.spoken(posterior)
        if weight is not None:
            posterior *= weight[:, None]
        prior = np.maximum(shares, FLOOR) if self.prior is None else self.prior
        return Parameters(prior, self.begin(self.first_counts(posterior), self.gold is not None))

    def first_posterior(self) -> FloatArray:
        """Shares (n, K) of the votes about each item, even where there are none."""
        posterior = self.vote_shares()
        posterior[posterior.sum(axis=1) <= 0] = 1 / self.n_classes
        return posterior

    def spoken(self, posterior: FloatArray) -> FloatArray:
        """What is known of classes for sure, which speaks first, against any majority."""
        if self.gold is None:
            return posterior
        posterior = np.exp(self.gold)
        posterior /= posterior.sum(axis=1, keepdims=True)
        posterior[posterior.min(axis=1) == posterior.max(axis=1)] = 0.0
        return posterior


class LogChart:
    """Logarithms, in which steps may be extrapolated."""

    def flatten(self, parameters: Parameters) -> FloatArray:
        """Logs of all probabilities."""
        together = np.concatenate([part.ravel() for part in parameters])
        return np.log(np.maximum(together, TINY))

    def restore(self, vector: FloatArray, like: Parameters) -> Parameters:
        """The probabilities with these logs, up to a factor."""
        parts = np.split(vector, [len(like.prior)])
        tables = [part.reshape(shape.shape) for part, shape in zip(parts, like, strict=True)]
        powers = [np.exp(t - t.max(axis=-1, keepdims=True)) for t in tables]
        return Parameters(*(p / p.sum(axis=-1, keepdims=True) for p in powers))


class Doubted(NamedTuple):
    """Kinds (U,) of answers that differ by doubt: what they say (one of V pairs), and the doubt.

    Kinds are ordered by pair.
    """

    pair: IntArray
    doubt: FloatArray


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
        self.doubted, self.power, kind = _by_doubt(place, answers.doubt, answers._power)
        n_kinds = len(pairs) if self.doubted is None else len(self.doubted.pair)
        self.sums = answer_sums(answers.item, kind, self.n_items, n_kinds, self.n_classes)
        self.answer = contours.argmax(axis=1)[said]
        is_hard = ((contours > 0).sum(axis=1) == 1) & (contours.max(axis=1) == 1)
        self.hard, self.soft = np.flatnonzero(is_hard[said]), np.flatnonzero(~is_hard[said])
        self.said = contours[said[self.soft]]
        eye, even = np.eye(self.n_classes), np.full((self.n_classes,) * 2, 1 / self.n_classes)
        self.imagined_answers = smoothing * ((eye + even) / 2 if center is None else center)
        self.used = self._used()

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
        return self.sums.of_items(self._logs(point.learned))

    def _logs(self, confusion: FloatArray) -> FloatArray:
        """Log likelihoods (U, K) of kinds, times the powers to which these are raised."""
        logs = np.log(self.likelihoods(confusion))
        return logs if self.power is None else logs * self.power[:, None]

    def expected(self, posterior: FloatArray, learned: FloatArray) -> FloatArray:
        """Expected number (R, K, K) of times that an annotator said l in class k."""
        return self.spread(self.sums.of_kinds(posterior), learned)

    def spread(self, held: FloatArray, confusion: FloatArray) -> FloatArray:
        """Expected answers (R, K, K) from the probabilities (U, K) summed by kind."""
        held = held if self.power is None else held * self.power[:, None]
        if self.doubted is None:
            return self._spread_pairs(held, confusion, np.zeros(0))
        whole = self._of_pairs(confusion)
        meant, anything = _divide_by_doubt(self.doubted, held, whole)
        return self._spread_pairs(meant, confusion, anything)

    def _spread_pairs(
        self, held: FloatArray, confusion: FloatArray, anything: FloatArray
    ) -> FloatArray:
        """The same from the probabilities (V, K) of those who meant what they said.

        `anything` (V, K) are, for each unit of probability, those who may have meant any class.
        """
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
        return float((self.imagined_answers * np.log(np.maximum(learned, TINY))).sum())

    def imagined(self) -> tuple[Any, float]:
        """How many of the imagined answers of an annotator are right, and how many there are."""
        right = np.trace(self.imagined_answers, axis1=-2, axis2=-1)
        return right, self.smoothing * self.n_classes

    def tally(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How often each annotator (R,) is expected to be right, and how often they answered."""
        return np.diagonal(counts, axis1=1, axis2=2).sum(axis=1), counts.sum(axis=(1, 2))

    def vote_shares(self) -> FloatArray:
        """Shares (n, K) of the classes among the answers about each item; zeros without any."""
        kinds = np.zeros((len(self.answer), self.n_classes))
        kinds[np.arange(len(kinds)), self.answer] = 1.0
        kinds[self.soft] = self.said
        if self.doubted is not None:
            doubt = self.doubted.doubt[:, None]
            kinds = doubt + (1 - doubt) * kinds[self.doubted.pair]
        kinds /= np.maximum(kinds.sum(axis=1, keepdims=True), FLOOR)
        shares = self.sums.of_items(kinds if self.power is None else kinds * self.power[:, None])
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), FLOOR)
        return shares

    def _expect(self, point: Parameters) -> tuple[Expectation, FloatArray]:
        doubted, prior = getattr(self.sums, "expect_doubted", None), np.maximum(point.prior, TINY)
        if self.doubted is not None and self.power is None and doubted is not None:
            whole = self._of_pairs(point.learned)
            found = doubted(self.doubted, whole, np.log(prior), self.gold)
            counts = self._spread_pairs(found.meant, point.learned, found.anything)
            return Expectation(point, found.posterior, counts, found.log_likelihood), found.in_all
        sums = self.sums.expect(self._logs(point.learned), np.log(prior), self.gold)
        counts = self.spread(sums.by_kind, point.learned)
        return Expectation(point, sums.posterior, counts, sums.log_likelihood), sums.in_all

    def _learn(self, counts: FloatArray) -> FloatArray:
        counts = counts + self.imagined_answers
        counts = np.maximum(counts, np.where(self.used, FLOOR, 0.0)[:, None, :])
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


def different(key: IntArray) -> tuple[IntArray, IntArray]:
    """Different numbers from 0, sorted, and the place of each: without sorting if they are few."""
    if not len(key) or key.max() > 10 * len(key):
        numbers, place = np.unique(key, return_inverse=True)
        return numbers, place.ravel()
    there = np.bincount(key) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[key]


def speaking(annotations: Annotations) -> NDArray[np.bool_]:
    """Which answers (A,) say something, in spite of their doubts."""
    says = annotations.facts.says_something[annotations.statement]
    return says if annotations.doubt is None else says & (annotations.doubt < 1)


def _by_doubt(
    pair: IntArray, doubt: FloatArray | None, power: FloatArray | None
) -> tuple[Doubted | None, FloatArray | None, IntArray]:
    """Kinds of answers by pair, doubt and power, the power of each, and the kind (A,) of answers.

    Without doubts and powers, pairs are kinds.
    """
    if power is None and (doubt is None or not doubt.any()):
        return None, None, pair
    doubt = np.zeros(len(pair)) if doubt is None else doubt
    levels, level = np.unique(doubt, return_inverse=True)
    key = pair * len(levels) + level.ravel()
    if power is None:
        kinds, kind = different(key)
        return Doubted(kinds // len(levels), levels[kinds % len(levels)]), None, kind
    powers, place = np.unique(power, return_inverse=True)
    kinds, kind = different(key * len(powers) + place.ravel())
    rest, of_kind = np.divmod(kinds, len(powers))
    return Doubted(rest // len(levels), levels[rest % len(levels)]), powers[of_kind], kind


def _divide_by_doubt(
    kinds: Doubted, held: FloatArray, whole: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Probabilities (V, K) of those who meant what they said, and of those who meant anything.

    The latter are for each unit of probability. `held` (U, K) are the probabilities of kinds, and
    `whole` (V, K) the likelihoods of pairs.
    """
    meant, anything = np.zeros_like(whole), np.zeros_like(whole)
    step = max(BLOCK // whole.shape[1], 1)
    for start in range(0, len(held), step):  # some at a time, which the cache holds
        rows = slice(start, start + step)
        pair, doubt = kinds.pair[rows], kinds.doubt[rows, None]
        chance = whole[pair]
        chance *= 1 - doubt
        share = held[rows] / (chance + doubt)
        first = np.flatnonzero(np.diff(pair, prepend=-1))
        chance *= share
        share *= doubt
        meant[pair[first]] += np.add.reduceat(chance, first, axis=0)
        anything[pair[first]] += np.add.reduceat(share, first, axis=0)
    return meant, anything
