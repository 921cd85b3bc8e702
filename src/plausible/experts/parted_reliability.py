"""Reliability of answers in parts: the EM algorithm with sums over parts, wherever they lie."""

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from plausible.engine import maximize, passed_on
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.answer_model import AnswerModel
from plausible.experts.answer_problem import (
    FLOOR,
    AnswerProblem,
    AnswerStatistics,
    Parameters,
)
from plausible.experts.charts import LogChart, RateChart
from plausible.experts.intervals import (
    Tally,
    confirmed_items,
    errors_on_gold,
    gold_items,
)
from plausible.experts.known_classes import gold_logs
from plausible.experts.parts import AnnotationParts
from plausible.experts.rate_model import RateModel, confusions

FloatArray = NDArray[np.float64]


def pose(
    annotations: Annotations,
    model: str,
    smoothing: float,
    gold: Mapping[Any, Any] | None,
    prior: FloatArray | None,
    center: FloatArray | None = None,
    prepare: Callable[[Annotations], Annotations] | None = None,
) -> "Part":
    """The EM problem of one part, or of what is made of it first."""
    annotations = annotations if prepare is None else prepare(annotations)
    known = _gold_of(annotations, gold)
    problem: AnswerProblem
    if model in ("full", "shrunk"):
        problem = AnswerModel(annotations, smoothing, known, prior, center)
    else:
        problem = RateModel(annotations, model, smoothing, known, prior)
    return Part(problem, confirmed_items(annotations))


def _gold_of(annotations: Annotations, gold: Mapping[Any, Any] | None) -> FloatArray | None:
    """Log plausibilities of classes that are known; ones where none is, if any is in any part."""
    if gold is None:
        return None
    here = set(annotations.items.tolist())
    mine = {name: said for name, said in gold.items() if name in here}
    known = gold_logs(annotations, mine) if mine else None
    return np.zeros((len(annotations.items), annotations.n_classes)) if known is None else known


class Part:
    """The problem of a part, and which of its items several people speak of."""

    def __init__(self, problem: AnswerProblem, confirmed: NDArray[np.bool_]) -> None:
        self.problem, self.confirmed = problem, confirmed


# Sums over the items of a part.


def _first(part: Part) -> Any:
    problem = part.problem
    posterior = problem.first_posterior()
    shares = posterior.sum(axis=0)
    return shares, problem.first_counts(problem.spoken(posterior))


def _expected(part: Part, points: list[Parameters]) -> Any:
    found = []
    for point in points:
        if isinstance(part.problem, RateModel) and part.problem.cells is not None:
            found.append(part.problem._expect_named(part.problem.cells, point))
        else:
            expectation, shares = part.problem._expect(point)
            found.append((expectation.counts, shares, expectation.log_likelihood))
    return found


def _tallied(part: Part, point: Parameters) -> Any:
    """What intervals need: counts, of items with several answers, of gold ones, and errors."""
    problem = part.problem
    expectation, _ = problem._expect(point)
    gold = gold_items(problem.gold, problem.n_items)
    several = (part.confirmed | gold)[:, None]
    right, total = problem.tally(problem.expected(expectation.posterior * several, point.learned))
    on_gold = np.zeros_like(total)
    if gold.any():
        held = expectation.posterior * gold[:, None]
        on_gold = problem.tally(problem.expected(held, point.learned))[1]
    known = (0, 0)
    if gold.any():
        logs = problem.evidence(point)
        known = errors_on_gold(np.exp(logs - logs.max(axis=1, keepdims=True)), point.prior,
                               problem.gold)  # fmt: skip
    return expectation.counts, expectation.log_likelihood, Tally(right, total, on_gold), known


def _used(part: Part) -> NDArray[np.int64]:
    if isinstance(part.problem, AnswerModel):
        return part.problem.meant_classes().astype(np.int64)
    return np.zeros(0, dtype=np.int64)


class PartedProblem:
    """The EM problem of answers in parts."""

    def __init__(
        self,
        parts: AnnotationParts,
        model: str,
        smoothing: float,
        gold: Mapping[Any, Any] | None,
        prior: FloatArray | None,
        center: FloatArray | None = None,
        prepare: Callable[[Annotations], Annotations] | None = None,
    ) -> None:
        given: dict[str, Any] = {
            "model": model,
            "smoothing": smoothing,
            "prior": prior,
            "center": center,
            "prepare": prepare,
        }
        self.posed = partial(pose, gold=gold, **given)
        self.kept = parts.made(self.posed)
        # Whatever is not a sum over items is the affair of a problem without any.
        self.light = pose(parts.template(), gold=None, **given).problem
        if isinstance(self.light, AnswerModel):
            used = self.kept.sum(_used) > 0
            used[~used.any(axis=1)] = True
            self.light.used = used
        self.n_items, self.prior, self.has_gold = parts.n_items, prior, gold is not None

    def start(self) -> Parameters:
        """The M step on shares of the votes, or on what is known."""
        shares, counts = self.kept.sum(_first)
        prior = np.maximum(shares / self.n_items, FLOOR) if self.prior is None else self.prior
        return Parameters(prior, self.light.begin(counts, self.has_gold))

    def summarize(self, points: list[Parameters]) -> list[AnswerStatistics]:
        """The E step for each point."""
        found = self.kept.sum(_expected, points)
        return [
            AnswerStatistics(
                counts, shares / self.n_items, log_likelihood + self.light.log_prior(point.learned)
            )
            for (counts, shares, log_likelihood), point in zip(found, points, strict=True)
        ]

    def climb(self, **settings: Any) -> Any:
        """The EM algorithm."""
        return maximize(
            self.summarize, self.light.solve, [self.start()], n_rows=self.n_items, **settings
        )

    def tallied(self, point: Parameters) -> Any:
        """Expected answers, log likelihood, what confirms them, and errors on gold."""
        return self.kept.sum(_tallied, point)


def refuse_what_needs_all(model: str, gold: Any, n_bootstrap: int) -> None:
    """Refuse what is known of each item, and not of people."""
    if model == "difficulty":
        raise InputError(
            "Difficulties are learned for each item, of answers in memory",
            "these are in parts",
            "use {model}, or Annotations.concatenate",
            parameter="model",
            value=model,
            settings={"model": "shrunk"},
        )
    if n_bootstrap:
        raise InputError(
            "n_bootstrap should be 0 for answers in parts",
            f"is {n_bootstrap}",
            "leave it out",
            parameter="n_bootstrap",
            value=n_bootstrap,
        )
    if not (gold is None or isinstance(gold, Mapping)):
        raise InputError(
            "gold should be a dict of items for answers in parts",
            f"is a {type(gold).__name__}",
            "write dict(zip(items, classes))",
            parameter="gold",
        )


def own_rates(
    parts: AnnotationParts,
    gold: Mapping[Any, Any] | None,
    prepare: Callable[[Annotations], Annotations] | None = None,
) -> FloatArray:
    """Confusions (R, K, K) of people who err evenly, at the rates that "one_coin" learns."""
    even = np.full(parts.n_classes, 1 / parts.n_classes)
    problem = PartedProblem(parts, "one_coin", 1.0, gold, even, None, prepare)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a center need not be sharp
        with passed_on():
            point = problem.climb(max_iter=200, chart=RateChart()).parameters
    return confusions(point.learned, parts.n_classes)


def chart_of(problem: PartedProblem) -> Any:
    """Coordinates in which steps may be extrapolated."""
    light = problem.light
    return LogChart(light.logs) if isinstance(light, AnswerModel) else RateChart()
