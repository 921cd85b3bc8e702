r"""What annotators say of items of each class: the likelihood of answers, and its EM map.

The class y of an item is latent; annotator r says l with probability :math:`\theta_{r y l}`. A
statement with plausibilities s, a set among them, is evidence about what would have been said,

.. math:: P(s \mid y = k, r) = \sum_l \theta_{r k l} \, s_l, \qquad
   L = \sum_i w_i \log \sum_k \pi_k \prod_{a \in i} P(s_a \mid k, r_a)

(a generalized likelihood, maximized by the E2M algorithm; the weights w are ones unless given).
With hard answers this is the model of Dawid and Skene (1979). An abstention has P = 1 whatever the
class, and changes nothing.

"full"       any :math:`\theta_r`: `answer_model`
"class"      a probability of being right for each class, errors spread evenly: `rate_model`
"one_coin"   one probability of being right: Shafer's discounting (`equivalent_doubt`)
"shrunk"     any :math:`\theta_r`, drawn towards the one probability that "one_coin" learns

`smoothing` adds that many imagined answers (for each class, or for all with "one_coin"), half of
them right and half spread evenly, or, with "shrunk", right as often as "one_coin" says of their
author: a Dirichlet prior, whose log density is part of the criterion. Without any, "shrunk" is
"full"; with ever more, it is "one_coin".
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.experts.annotations import Annotations

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MODELS = ("one_coin", "class", "full", "shrunk")
SMOOTHING = {"shrunk": 10.0}  # imagined answers, if nothing else is said; 1 for the others
FLOOR = 1e-10  # least number of times that an annotator is expected to have said something
TINY = 1e-300  # keeps logarithms finite


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


def speaking(annotations: Annotations) -> NDArray[np.bool_]:
    """Which answers (A,) say something, in spite of their doubts."""
    says = annotations.facts.says_something[annotations.statement]
    return says if annotations.doubt is None else says & (annotations.doubt < 1)
