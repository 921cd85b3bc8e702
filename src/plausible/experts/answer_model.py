r"""What annotators say of items of each class: the likelihood of answers, and its EM map.

The class y of an item is latent; annotator r says l with probability :math:`\theta_{r y l}`. A
statement with plausibilities s, a set among them, is evidence about what would have been said,

.. math:: P(s \mid y = k, r) = \sum_l \theta_{r k l} \, s_l, \qquad
   L = \sum_i \log \sum_k \pi_k \prod_{a \in i} P(s_a \mid k, r_a)

(a generalised likelihood, maximised by the E2M algorithm). With hard answers this is the model of
Dawid and Skene (1979). An abstention has P = 1 whatever the class, and changes nothing.

"full"       any :math:`\theta_r`
"class"      a probability of being right for each class, errors spread evenly
"one_coin"   one probability of being right: Shafer's discounting (`equivalent_doubt`)

`smoothing` adds that many imagined answers (for each class, or for all with "one_coin"), half of
them right and half spread evenly: a Dirichlet prior, whose log density is part of the criterion.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.experts.annotations import Annotations
from plausible.experts.answer_sums import answer_sums

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MODELS = ("one_coin", "class", "full")
FLOOR = 1e-10  # least number of times that an annotator is expected to have said something
TINY = 1e-300  # keeps logarithms finite


class Parameters(NamedTuple):
    """Shares (K,) of the classes, and what annotators say in each, (R, K, K)."""

    prior: FloatArray
    confusion: FloatArray


class Summary(NamedTuple):
    """Expected answers (R, K, K), expected shares (K,) of the classes, and the criterion."""

    counts: FloatArray
    shares: FloatArray
    criterion: float


class Expectation(NamedTuple):
    """The E step at a point: posterior (n, K), expected answers (R, K, K), log likelihood."""

    point: Parameters
    posterior: FloatArray
    counts: FloatArray
    log_likelihood: float


class RateChart:
    """Log shares of classes and log odds of being right, in which steps may be extrapolated."""

    def __init__(self, model: str) -> None:
        self.model = model

    def flatten(self, parameters: Parameters) -> FloatArray:
        """Logs of the shares, and log odds of one annotator after the other."""
        rate = np.diagonal(parameters.confusion, axis1=1, axis2=2)
        rate = np.clip(rate[:, :1] if self.model == "one_coin" else rate, FLOOR, 1 - FLOOR)
        logs = np.log(np.maximum(parameters.prior, TINY))
        return np.concatenate([logs, np.log(rate / (1 - rate)).ravel()])

    def restore(self, vector: FloatArray, like: Parameters) -> Parameters:
        """The shares and confusions with these coordinates."""
        n_annotators, n_classes = like.confusion.shape[:2]
        prior = np.exp(vector[:n_classes] - vector[:n_classes].max())
        rate = 1 / (1 + np.exp(-np.clip(vector[n_classes:], -30, 30)))
        shape = n_annotators, n_classes
        rate = np.broadcast_to(rate.reshape(n_annotators, -1), shape)
        return Parameters(prior / prior.sum(), from_rates(rate))


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


class AnswerModel:
    """The EM problem: answers as sums over kinds (annotator, statement)."""

    def __init__(
        self,
        annotations: Annotations,
        model: str,
        smoothing: float,
        gold: FloatArray | None,
        prior: FloatArray | None = None,
    ) -> None:
        statement, contours = doubted(annotations)
        says = contours.min(axis=1) < contours.max(axis=1)
        item, annotator = annotations.item, annotations.annotator
        if not says.all():
            informative = says[statement]
            item, annotator = item[informative], annotator[informative]
            statement = statement[informative]
        key = annotator * len(contours) + statement
        kinds, place = different(key)
        self.model, self.gold, self.prior = model, gold, prior
        self.last: Expectation | None = None
        self.annotator, said = kinds // len(contours), contours[kinds % len(contours)]
        self.n_classes, self.n_annotators = annotations.n_classes, len(annotations.annotators)
        self.n_items = len(annotations.items)
        self.sums = answer_sums(item, place, self.n_items, len(kinds), self.n_classes)
        self.answer = said.argmax(axis=1)
        self.soft = np.flatnonzero((said > 0).sum(axis=1) != 1)
        self.said = said[self.soft]
        eye, even = np.eye(self.n_classes), np.full((self.n_classes,) * 2, 1 / self.n_classes)
        self.imagined = smoothing * (eye + even) / 2
        if model == "one_coin":
            self.imagined = self.imagined / self.n_classes
        self.used = np.zeros((self.n_annotators, self.n_classes), dtype=bool)
        self.used[self.annotator, self.answer] = True
        self.used[self.annotator[self.soft]] = True
        self.used[~self.used.any(axis=1)] = True  # of annotators who have said nothing

    def likelihoods(self, confusion: FloatArray) -> FloatArray:
        """P(s | k, r) of each kind: (U, K)."""
        found = confusion[self.annotator, :, self.answer]
        if len(self.soft):
            theirs = confusion[self.annotator[self.soft]]
            found[self.soft] = np.einsum("ukl,ul->uk", theirs, self.said)
        return np.maximum(found, TINY)

    def evidence(self, confusion: FloatArray) -> FloatArray:
        """Log likelihood (n, K) of the answers about each item, by class."""
        return self.sums.of_items(np.log(self.likelihoods(confusion)))

    def summarise(self, points: list[Parameters]) -> list[Summary]:
        """The E step for each point."""
        return [self._summary(point) for point in points]

    def _summary(self, point: Parameters) -> Summary:
        logs = np.log(self.likelihoods(point.confusion))
        sums = self.sums.expect(logs, np.log(point.prior), self.gold)
        counts, criterion = self.spread(sums.by_kind, point.confusion), sums.log_likelihood
        self.last = Expectation(point, sums.posterior, counts, criterion)
        if self.imagined.any():
            criterion += float((self.imagined * np.log(np.maximum(point.confusion, TINY))).sum())
        return Summary(counts, sums.in_all / self.n_items, criterion)

    def expect(self, point: Parameters) -> Expectation:
        """The E step at a point, which most often was the last one."""
        if self.last is None or self.last.point is not point:
            self._summary(point)
        assert self.last is not None
        return self.last

    def expected(self, posterior: FloatArray, confusion: FloatArray) -> FloatArray:
        """Expected number (R, K, K) of times that an annotator said l in class k."""
        return self.spread(self.sums.of_kinds(posterior), confusion)

    def spread(self, held: FloatArray, confusion: FloatArray) -> FloatArray:
        """Expected answers (R, K, K) from the probabilities (U, K) summed by kind."""
        counts = np.zeros((self.n_annotators, self.n_classes, self.n_classes))
        hard = np.ones(len(held), dtype=bool)
        hard[self.soft] = False
        counts[self.annotator[hard], :, self.answer[hard]] = held[hard]
        if len(self.soft):
            who = self.annotator[self.soft]
            share = confusion[who] * self.said[:, None, :]
            share /= np.maximum(share.sum(axis=2, keepdims=True), FLOOR)
            np.add.at(counts, who, held[self.soft][:, :, None] * share)
        return counts

    def solve(self, summary: Summary) -> Parameters:
        """The M step."""
        counts = summary.counts + self.imagined
        counts = np.maximum(counts, np.where(self.used, FLOOR, 0.0)[:, None, :])
        if self.model == "full":
            confusion = counts / counts.sum(axis=2, keepdims=True)
        else:
            right = np.diagonal(counts, axis1=1, axis2=2)
            total = counts.sum(axis=2)
            if self.model == "one_coin":
                right, total = (x.sum(axis=1, keepdims=True) for x in (right, total))
            rate = np.broadcast_to(right / total, (self.n_annotators, self.n_classes))
            confusion = from_rates(rate)
        prior = np.maximum(summary.shares, FLOOR) if self.prior is None else self.prior
        return Parameters(prior, confusion)

    def start(self) -> Parameters:
        """The M step on shares of the votes, as a majority vote has them, or on what is known."""
        even = np.full((self.n_annotators, self.n_classes, self.n_classes), 1 / self.n_classes)
        kinds = np.eye(self.n_classes)[self.answer]
        kinds[self.soft] = self.said / np.maximum(self.said.sum(axis=1, keepdims=True), FLOOR)
        posterior = self.sums.of_items(kinds)
        total = posterior.sum(axis=1, keepdims=True)
        posterior /= np.maximum(total, FLOOR)
        posterior[total[:, 0] <= 0] = 1 / self.n_classes
        diagonal = (np.eye(self.n_classes) + even) / 2
        if self.gold is None:
            counts = self.expected(posterior, diagonal)
            return self.solve(Summary(counts, posterior.mean(axis=0), np.nan))
        # What is known speaks first, against any majority; people it does not reach are believed.
        known = np.exp(self.gold)
        known /= known.sum(axis=1, keepdims=True)
        known[known.min(axis=1) == known.max(axis=1)] = 0.0
        counts = self.expected(known, diagonal)
        reached = counts.sum(axis=(1, 2)) > 0
        counts[~reached] = diagonal[~reached]
        return self.solve(Summary(counts, posterior.mean(axis=0), np.nan))


def different(key: IntArray) -> tuple[IntArray, IntArray]:
    """Different numbers from 0, sorted, and the place of each: without sorting if they are few."""
    if not len(key) or key.max() > 10 * len(key):
        numbers, place = np.unique(key, return_inverse=True)
        return numbers, place.ravel()
    there = np.bincount(key) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[key]


def from_rates(rate: FloatArray) -> FloatArray:
    """Confusions (R, K, K) from probabilities (R, K) of being right, errors spread evenly."""
    n_classes = rate.shape[1]
    wrong = (1 - rate) / max(n_classes - 1, 1)
    confusion = np.repeat(wrong[:, :, None], n_classes, axis=2)
    every = np.arange(n_classes)
    confusion[:, every, every] = rate
    return np.maximum(confusion, FLOOR)


def doubted(annotations: Annotations) -> tuple[IntArray, FloatArray]:
    """Statements discounted by the doubts of those who made them: codes (A,), contours (S, K)."""
    if annotations.doubt is None:
        return annotations.statement, annotations.contours
    levels, level = np.unique(annotations.doubt, return_inverse=True)
    key = annotations.statement * len(levels) + level.ravel()
    kinds, codes = np.unique(key, return_inverse=True)
    doubt = levels[kinds % len(levels)][:, None]
    return codes.ravel(), doubt + (1 - doubt) * annotations.contours[kinds // len(levels)]
