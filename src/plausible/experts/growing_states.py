r"""What is known of people and items while answers arrive, for each model.

A step of EM adds up what every answer says of its author, given the class probabilities of the item
that it is about. When answers arrive, the sums over all answers about the items they speak of are
taken out, computed anew, and put back (R. Neal and G. Hinton, A view of the EM algorithm that
justifies incremental, sparse, and other variants, 1998). Everything else stays as it is.

"one_coin" keeps with which probability each answer was right, a number for each answer, so that
classes may be many. The other models keep class probabilities of items, from which the sums follow;
those of sets and of doubted answers depend on confusions as well, and those of today are taken.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.experts.annotations import Annotations
from plausible.experts.answer_model import AnswerModel
from plausible.experts.answer_problem import (
    FLOOR,
    SMOOTHING,
    AnswerProblem,
    Parameters,
    speaking,
)
from plausible.experts.charts import LogChart, RateChart
from plausible.experts.known_classes import given_prior
from plausible.experts.rate_model import RateModel
from plausible.experts.reliability_fit import climb, own_confusions
from plausible.experts.right_shares import flatten, right_shares
from plausible.experts.statements import add_up

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SHARP = 1e-9  # tolerance below which confusions are followed until they stay where they are
LOCAL_STEPS = 3  # over the items that were spoken of


def state_of(
    model: str, smoothing: float | None, n_classes: int, all_alike: bool
) -> "GrowingState":
    """What is kept for a model; `all_alike` if no answer counts less than others."""
    if smoothing is None:
        smoothing = SMOOTHING.get(model, 1.0)
    kind = CoinState if model == "one_coin" and all_alike else CountState
    return kind(model, smoothing, n_classes)


class GrowingState(ABC):
    """What is known of people and items.

    learned : what `Reliability.learned` has, of the people so far
    prior : shares (K,) of the classes
    """

    learned: FloatArray
    prior: FloatArray
    result: Any

    def __init__(self, model: str, smoothing: float, n_classes: int) -> None:
        self.model, self.smoothing, self.n_classes = model, smoothing, n_classes

    @abstractmethod
    def keep(
        self, answers: Annotations, number: IntArray, problem: AnswerProblem, point: Parameters
    ) -> None:
        """Take over what a fit to all answers, which have these numbers, has found."""

    @abstractmethod
    def grow(self, n_items: int, n_people: int, n_answers: int) -> None:
        """Make room for what is new."""

    @abstractmethod
    def update(
        self, items: IntArray, people: IntArray, before: Annotations, after: Annotations,
        number: IntArray,
    ) -> None:  # fmt: skip
        """Some steps of EM over these items alone, and what was said about them by these people.

        `before` are the answers that were counted already, `after` are all, with these numbers.
        """

    @property
    @abstractmethod
    def rate(self) -> FloatArray:
        """How often (R,) people are right in all."""

    def problem(
        self, answers: Annotations, people: IntArray | slice, prior: FloatArray | None
    ) -> AnswerProblem:
        """The EM problem of answers by some people."""
        return RateModel(answers, self.model, self.smoothing, None, prior)

    def fit(
        self, answers: Annotations, number: IntArray, start: bool, tol: float, max_iter: int
    ) -> None:
        """Climb to a maximum for all answers, from where we are or from a new start."""
        prior = given_prior("auto", self.model, self.n_classes)
        problem = self.whole_problem(answers, prior)
        point = problem.start() if start else Parameters(self.prior, self.learned)
        chart: Any = RateChart()
        if isinstance(problem, AnswerModel):
            chart = LogChart(problem.logs)
        result = climb(problem, point, tol=tol, max_iter=max_iter, chart=chart)
        point = result.parameters
        steps = max_iter if tol < SHARP or isinstance(self, CoinState) else 0
        for _ in range(steps):
            last, point = point, problem.solve(problem.summarize([point])[0])
            gap = max(np.abs(a - b).max() for a, b in zip(point, last, strict=True))
            if gap <= tol / 10:
                break
        self.result = replace(result, parameters=point)
        self.prior, self.learned = point.prior.copy(), point.learned.copy()
        self.keep(answers, number, problem, point)

    def whole_problem(self, answers: Annotations, prior: FloatArray | None) -> AnswerProblem:
        """The EM problem of all answers."""
        return self.problem(answers, slice(None), prior)


class CoinState(GrowingState):
    """One rate for each person.

    shares : with which probability each answer was right, by its number; longer than need be
    right, total (R, 1) : how often people were right, and how often they answered
    """

    def keep(
        self, answers: Annotations, number: IntArray, problem: AnswerProblem, point: Parameters
    ) -> None:
        """See `GrowingState.keep`."""
        rows = np.flatnonzero(speaking(answers))
        said = flatten(answers.select(rows))
        shares = right_shares(said, self.learned[:, 0], len(answers.items), self.n_classes)
        self.shares = np.zeros(_with_room(number.max(initial=0) + 1))
        self.shares[number[rows]] = shares
        n_people = len(answers.annotators)
        self.right = add_up(said.who, shares, n_people)
        self.total = np.bincount(said.who, minlength=n_people).astype(np.float64)

    def grow(self, n_items: int, n_people: int, n_answers: int) -> None:
        """See `GrowingState.grow`."""
        if n_answers > len(self.shares):
            more = _with_room(n_answers) - len(self.shares)
            self.shares = np.append(self.shares, np.zeros(more))
        n_new = n_people - len(self.right)
        half_right = np.full((n_new, 1), (1 + 1 / self.n_classes) / 2)
        self.learned = np.concatenate([self.learned, half_right])
        self.right, self.total = (
            np.append(one, np.zeros(n_new)) for one in (self.right, self.total)
        )

    def update(
        self, items: IntArray, people: IntArray, before: Annotations, after: Annotations,
        number: IntArray,
    ) -> None:  # fmt: skip
        """See `GrowingState.update`."""
        spoke = np.bincount(before.annotator[speaking(before)], minlength=len(people))
        rows = np.flatnonzero(speaking(after))
        said, number = flatten(after.select(rows)), number[rows]
        self.total[people] += np.bincount(said.who, minlength=len(people)) - spoke
        old, rate = self.shares[number], self.learned[people, 0]
        for _ in range(LOCAL_STEPS):
            shares = right_shares(said, rate, len(items), self.n_classes)
            self.right[people] += add_up(said.who, shares - old, len(people))
            old, rate = shares, self._rates(people)
        self.shares[number] = old
        self.learned[people, 0] = rate

    def _rates(self, people: IntArray) -> FloatArray:
        sure = self.smoothing * (1 + 1 / self.n_classes) / 2
        total = self.total[people] + self.smoothing
        rate = np.full(len(total), 1 / self.n_classes)
        np.divide(self.right[people] + sure, total, out=rate, where=total > 0)
        return np.clip(rate, 0.0, 1.0)

    @property
    def rate(self) -> FloatArray:
        """How often (R,) people are right."""
        return self.learned[:, 0]


class CountState(GrowingState):
    """Rates by class, or confusions.

    counts : expected answers of all people, as the model counts them
    posterior : class probabilities (n, K) of the items with which they were counted; longer than
        need be
    center (R, K, K) : confusions to which those of people are drawn, with "shrunk"
    used (R, K) : classes that people may have meant, with confusions
    """

    center: FloatArray | None = None
    used: NDArray[np.bool_] | None = None

    def whole_problem(self, answers: Annotations, prior: FloatArray | None) -> AnswerProblem:
        """The EM problem of all answers; what confusions are drawn to is learned anew."""
        self.used = None
        if self.model == "shrunk":
            self.center = own_confusions(answers, None)
        return self.problem(answers, slice(None), prior)

    def problem(
        self, answers: Annotations, people: IntArray | slice, prior: FloatArray | None
    ) -> AnswerProblem:
        """The EM problem of answers by some people."""
        if self.model not in ("full", "shrunk"):
            return super().problem(answers, people, prior)
        center = None if self.center is None else self.center[people]
        problem = AnswerModel(answers, self.smoothing, None, prior, center)
        if self.used is not None:
            problem.used = problem.meant_classes() | self.used[people]
            problem.used[~problem.used.any(axis=1)] = True
        return problem

    def keep(
        self, answers: Annotations, number: IntArray, problem: AnswerProblem, point: Parameters
    ) -> None:
        """See `GrowingState.keep`."""
        _, posterior, self.counts, _ = problem.expect(point)
        self.n_items, self.in_all = len(posterior), posterior.sum(axis=0)
        self.posterior = np.zeros((_with_room(self.n_items), self.n_classes))
        self.posterior[: self.n_items] = posterior
        self.used = problem.meant_classes() if isinstance(problem, AnswerModel) else None

    def grow(self, n_items: int, n_people: int, n_answers: int) -> None:
        """See `GrowingState.grow`."""
        if n_items > len(self.posterior):
            more = _with_room(n_items) - len(self.posterior)
            self.posterior = np.concatenate([self.posterior, np.zeros((more, self.n_classes))])
        self.n_items = n_items
        n_new = n_people - len(self.learned)
        if not n_new:
            return
        if self.center is not None:
            usual = np.broadcast_to(self.center.mean(axis=0), (n_new, *self.center.shape[1:]))
            self.center = np.concatenate([self.center, usual])
        if self.used is not None:
            self.used = np.concatenate([self.used, np.zeros((n_new, self.n_classes), dtype=bool)])
        columns = [np.concatenate([one, np.zeros((n_new, *one.shape[1:]))])
                   for one in _columns(self.counts)]  # fmt: skip
        self.counts = _like(self.counts, columns)
        half_right: Any = (1 + 1 / self.n_classes) / 2
        if self.learned.ndim == 3:
            half_right = (np.eye(self.n_classes) + 1 / self.n_classes) / 2
        usual = np.broadcast_to(half_right, (n_new, *self.learned.shape[1:]))
        self.learned = np.concatenate([self.learned, usual])

    def update(
        self, items: IntArray, people: IntArray, before: Annotations, after: Annotations,
        number: IntArray,
    ) -> None:  # fmt: skip
        """See `GrowingState.update`; numbers are not needed."""
        learned, held = self.learned[people], self.posterior[items]
        out = _columns(self.problem(before, people, self.prior).expected(held, learned))
        mine = [one[people] for one in _columns(self.counts)]
        others = [np.maximum(a - b, 0.0) for a, b in zip(mine, out, strict=True)]
        problem = self.problem(after, people, self.prior)
        for _ in range(LOCAL_STEPS):
            found, shares = problem._expect(Parameters(self.prior, learned))
            columns = [a + b for a, b in zip(others, _columns(found.counts), strict=True)]
            learned = problem._learn(_like(found.counts, columns))
        for one, some in zip(_columns(self.counts), columns, strict=True):
            one[people] = some
        if self.used is not None and isinstance(problem, AnswerModel):
            self.used[people] |= problem.meant_classes()
        self.learned[people], self.posterior[items] = learned, found.posterior
        self.in_all += shares - held.sum(axis=0)
        if given_prior("auto", self.model, self.n_classes) is None:
            self.prior = np.maximum(self.in_all / self.n_items, FLOOR)

    @property
    def rate(self) -> FloatArray:
        """How often (R,) people are right in all classes together."""
        if isinstance(self.counts, np.ndarray):
            right, total = np.trace(self.counts, axis1=1, axis2=2), self.counts.sum(axis=(1, 2))
        else:
            right, total = (one.sum(axis=1) for one in self.counts)
        imagined = self.smoothing * self.learned.shape[1]
        sure: Any = imagined * (1 + 1 / self.n_classes) / 2
        if self.center is not None:
            sure = self.smoothing * np.trace(self.center, axis1=1, axis2=2)
        rate = np.full(len(total), 1 / self.n_classes)
        np.divide(right + sure, total + imagined, out=rate, where=total + imagined > 0)
        return rate


def _with_room(n: int) -> int:
    """Length of an array for so many, and for some that are still to come."""
    return n + n // 8 + 8


def _columns(counts: Any) -> tuple[FloatArray, ...]:
    """Tables of expected answers."""
    return (counts,) if isinstance(counts, np.ndarray) else tuple(counts)


def _like(counts: Any, columns: list[FloatArray]) -> Any:
    """Expected answers in the form of others."""
    return columns[0] if isinstance(counts, np.ndarray) else type(counts)(*columns)
