r"""Rows and answers as the joint fit sees them: in memory, or part by part.

What the fit asks for are a classifier that is fitted to the contours of the items, L with one
classifier or another, and expected answers: sums over items, so that parts of whole items give the
same as all items at once.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from plausible.base import count_rows
from plausible.engine import StreamRows, total
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.answer_problem import AnswerProblem, AnswerStatistics, Parameters
from plausible.experts.dependence import Dependence, exponents
from plausible.experts.feature_difficulty import FeatureDifficulty
from plausible.experts.intervals import (
    SHARED_ERRORS,
    Tally,
    errors_on_gold,
    gold_items,
    intervals,
)
from plausible.experts.joint_learning import (
    Learned,
    contour_labels,
    fit_again,
    log_chances,
    log_density,
    penalty,
    weights_for,
)
from plausible.experts.parted_reliability import PartedProblem
from plausible.experts.parts import AnnotationParts, LocalParts
from plausible.experts.pooling import counted_once
from plausible.experts.reliability import (
    Reliability,
    accuracies,
    as_reliability,
    relative,
)
from plausible.experts.reliability_fit import conclude

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Crowd(ABC):
    """Rows with answers; `n_rows` is the sum of their weights."""

    problem: AnswerProblem  # what is not a sum over items
    n_rows: float

    @abstractmethod
    def start(self) -> Parameters:
        """Where the fit begins."""

    @abstractmethod
    def learn(self, inner: Any, last: Learned | None, point: Parameters, sharp: float) -> Learned:
        """The classifier that is fitted to what answers say of the items."""

    @abstractmethod
    def judge(self, found: Learned, last: Learned | None) -> tuple[Learned, float]:
        """The classifier with which L is higher, and the log likelihood."""

    @abstractmethod
    def step(self, point: Parameters) -> Parameters:
        """What is known of people next."""

    @abstractmethod
    def conclude(self, result: Any, log_likelihood: float) -> Reliability:
        """What was learned of people."""

    def log_prior(self, point: Parameters) -> float:
        """Log densities of what is known beside the classifier."""
        return self.problem.log_prior(point.learned)


class CrowdInMemory(Crowd):
    """All rows at once, with difficulties of the items if they are wanted."""

    def __init__(
        self,
        X: Any,
        answers: Annotations,
        pose_them: Callable[[Annotations], AnswerProblem],
        weight: FloatArray,
        power: FloatArray,
        order: IntArray,
        difficulty: FeatureDifficulty | None,
    ) -> None:
        self.X, self.plain, self.answers = X, answers, answers
        self.weight, self.power, self.order = weight, power, order
        self.n_rows = float(weight.sum())
        self.pose_them, self.difficulty = pose_them, difficulty
        self.log_scale = 0.0
        self._pose()
        self.posterior = np.empty((0, 0))

    def _pose(self) -> None:
        """The problem with doubts that follow from the difficulties of today."""
        if self.difficulty is not None:
            self.answers, scale = self.difficulty.doubted(self.plain)
            self.log_scale = float(self.weight * self.power @ scale)
        self.problem = self.pose_them(self.answers)

    def start(self) -> Parameters:
        """See `Crowd.start`."""
        return self.problem.start(self.weight)

    def learn(self, inner: Any, last: Learned | None, point: Parameters, sharp: float) -> Learned:
        """See `Crowd.learn`."""
        self.evidence = self.problem.evidence(point) * self.power[:, None]
        if self.problem.gold is not None:
            self.evidence += self.problem.gold
        labels = contour_labels(self.evidence, self.answers.classes)
        before = None if last is None else last.classifier
        weights = weights_for(inner, self.weight)
        fitted = fit_again(inner, before, self.X, labels, weights, sharp)
        own = penalty(fitted) + log_density(fitted, self.X, self.weight)
        return Learned(fitted, log_chances(fitted, self.X, self.order), own)

    def judge(self, found: Learned, last: Learned | None) -> tuple[Learned, float]:
        """See `Crowd.judge`."""
        best: tuple[Learned, FloatArray, float] | None = None
        for learned in (found, last):
            if learned is None:
                continue
            scores = self.evidence + learned.logs
            logs = logsumexp(scores, axis=1, keepdims=True)
            value = float(self.weight @ logs[:, 0])
            if best is None or value + learned.own > best[2] + best[0].own:
                best = learned, np.exp(scores - logs), value
        assert best is not None
        learned, self.posterior, log_likelihood = best
        return learned, log_likelihood + self.log_scale

    def step(self, point: Parameters) -> Parameters:
        """See `Crowd.step`."""
        weighted = self.posterior * self.weight[:, None]
        counts = self.problem.expected(weighted * self.power[:, None], point.learned)
        shares = weighted.sum(axis=0) / self.n_rows
        point = self.problem.solve(AnswerStatistics(counts, shares, np.nan))
        if self.difficulty is not None:
            held = weighted * self.power[:, None]
            self.difficulty = self.difficulty.improved(self.plain, held, point.learned)
            self._pose()
        return point

    def log_prior(self, point: Parameters) -> float:
        """See `Crowd.log_prior`."""
        more = 0.0 if self.difficulty is None else self.difficulty.log_prior()
        return super().log_prior(point) + more

    def conclude(self, result: Any, log_likelihood: float) -> Reliability:
        """See `Crowd.conclude`."""
        given = self.posterior, self.weight, log_likelihood - self.log_scale
        found: Reliability = conclude(self.answers, self.problem, result, given)
        return found


class Piece(NamedTuple):
    """The problem of a part, and the powers (n,) to which what is said of its items is raised."""

    problem: AnswerProblem
    power: FloatArray


class PieceSums(NamedTuple):
    """With one classifier: log likelihood, expected answers, and items of each class (K,)."""

    log_likelihood: float
    counts: Any
    shares: FloatArray


def _piece(part: Annotations, posed: Callable[[Annotations], Any], dependence: Any) -> Piece:
    return Piece(posed(part).problem, exponents(dependence, once(part, dependence)))


def once(part: Annotations, dependence: Any) -> Annotations:
    """Answers of which those of people who err together count less, if it is known who does."""
    return counted_once(part, dependence) if isinstance(dependence, Dependence) else part


class CrowdInParts(Crowd):
    """Rows and answers that are read part by part, again at each pass."""

    def __init__(
        self,
        X: Iterable[Any] | Callable[[], Iterable[Any]],
        answers: AnnotationParts,
        problem: PartedProblem,
        dependence: Any,
        order: IntArray,
    ) -> None:
        self.source, self.answers, self.order = X, answers, order
        self.n_rows, self.parted, self.problem = float(answers.n_items), problem, problem.light
        self.pieces = answers.made(partial(_piece, posed=problem.posed, dependence=dependence))
        self.point: Parameters | None = None
        self.counts: Any = None

    def _rows(self) -> Iterator[tuple[Any, Piece]]:
        """Features and answers of one part after the other."""
        chunks = iter(self.source() if callable(self.source) else self.source)
        end = object()
        assert isinstance(self.pieces, LocalParts)  # others were refused
        for number, piece in enumerate(self.pieces):
            X = next(chunks, end)
            _check_part(X is end, X, piece.problem.n_items, number)
            yield X.to_numpy() if hasattr(X, "to_numpy") else X, piece
        if next(chunks, end) is not end:
            raise InputError(
                "X should have as many parts as the answers",
                f"has more than {number + 1}",
                "give the features of each part of the answers",
                parameter="X",
            )

    def start(self) -> Parameters:
        """See `Crowd.start`."""
        return self.parted.start()

    def learn(self, inner: Any, last: Learned | None, point: Parameters, sharp: float) -> Learned:
        """See `Crowd.learn`."""
        self.point = point
        rows = StreamRows(partial(self._labeled, point))
        before = None if last is None else last.classifier
        fitted = fit_again(inner, before, rows, None, {}, sharp)
        own = penalty(fitted)
        if hasattr(fitted, "score_samples"):
            own += sum(
                log_density(fitted, X, np.ones(len(piece.power))) for X, piece in self._rows()
            )
        return Learned(fitted, np.empty((0, 0)), own)

    def _labeled(self, point: Parameters) -> Iterator[tuple[Any, Any]]:
        for X, piece in self._rows():
            yield X, contour_labels(_evidence(piece, point), self.answers.classes)

    def judge(self, found: Learned, last: Learned | None) -> tuple[Learned, float]:
        """See `Crowd.judge`."""
        both = [found] if last is None else [found, last]
        sums = total(self._sums(both))
        totals = [one.log_likelihood + it.own for one, it in zip(sums, both, strict=True)]
        best = int(np.argmax(totals))
        self.sums, self.best = sums[best], both[best]
        return both[best], float(sums[best].log_likelihood)

    def _sums(self, both: list[Learned]) -> Iterator[list[PieceSums]]:
        assert self.point is not None
        for X, piece in self._rows():
            evidence, sums = _evidence(piece, self.point), []
            for learned in both:
                posterior, logs = _posterior(evidence, learned.classifier, X, self.order)
                held = posterior * piece.power[:, None]
                counts = piece.problem.expected(held, self.point.learned)
                sums.append(PieceSums(float(logs.sum()), counts, posterior.sum(axis=0)))
            yield sums

    def step(self, point: Parameters) -> Parameters:
        """See `Crowd.step`."""
        shares = self.sums.shares / self.n_rows
        return self.problem.solve(AnswerStatistics(self.sums.counts, shares, np.nan))

    def conclude(self, result: Any, log_likelihood: float) -> Reliability:
        """See `Crowd.conclude`; nothing is kept of items."""
        point = result.parameters
        counts, on_gold, known = total(self._tallied(point))
        accuracy, n_answers = accuracies(self.problem, counts)
        tally = Tally(*self.problem.tally(counts), on_gold)
        limits = intervals(tally, accuracy, SHARED_ERRORS, known)
        nothing = np.zeros((0, self.answers.n_classes))
        return as_reliability(
            self.answers, self.problem, result, accuracy, n_answers, nothing, nothing,
            log_likelihood, limits,
        )  # fmt: skip

    def _tallied(self, point: Parameters) -> Iterator[Any]:
        """Expected answers, those about gold items, and errors on these, part by part."""
        for X, (problem, power) in self._rows():
            evidence = _evidence(Piece(problem, power), point)
            posterior, _ = _posterior(evidence, self.best.classifier, X, self.order)
            gold = gold_items(problem.gold, problem.n_items)
            on_gold = problem.tally(problem.expected(posterior * gold[:, None], point.learned))[1]
            alone = relative(problem.evidence(point))
            known = errors_on_gold(alone, point.prior, problem.gold)
            yield problem.expected(posterior, point.learned), on_gold, known


def _evidence(piece: Piece, point: Parameters) -> FloatArray:
    """Log contours (n, K) of the items of a part."""
    evidence = piece.problem.evidence(point) * piece.power[:, None]
    return evidence if piece.problem.gold is None else evidence + piece.problem.gold


def _posterior(
    evidence: FloatArray, classifier: Any, X: Any, order: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Class probabilities (n, K) after answers and features, and log likelihoods (n, 1)."""
    scores = evidence + log_chances(classifier, X, order)
    logs = logsumexp(scores, axis=1, keepdims=True)
    return np.exp(scores - logs), logs


def _check_part(is_missing: bool, X: Any, n_items: int, number: int) -> None:
    """Refuse features that are not those of a part of the answers."""
    n_rows = None if is_missing else count_rows(X)
    if n_rows != n_items:
        raise InputError(
            f"Part {number} of X should have a row for each of the {n_items} items of that part of "
            "the answers, in the order of their `items`",
            "there is no such part" if n_rows is None else f"has {n_rows}",
            "give the features of each part of the answers",
            parameter="X",
        )
