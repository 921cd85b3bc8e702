"""How far annotators can be trusted, learned from their agreement; see `answer_problem`."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from plausible.checks import (
    check_flag,
    check_kind,
    check_number,
    check_option,
    check_whole,
    random_from,
)
from plausible.engine import maximize, passed_on
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.answer_model import AnswerModel, check_confusions
from plausible.experts.answer_problem import MODELS, SMOOTHING, AnswerProblem, Parameters
from plausible.experts.charts import LogChart, RateChart
from plausible.experts.intervals import (
    SHARED_ERRORS,
    Tally,
    confirmed_items,
    errors_on_gold,
    gold_items,
    intervals,
    resample_items,
)
from plausible.experts.known_classes import given_prior, gold_logs
from plausible.experts.parted_reliability import (
    PartedProblem,
    chart_of,
    own_rates,
    refuse_what_needs_all,
)
from plausible.experts.parts import AnnotationParts
from plausible.experts.rate_model import RateModel, confusions
from plausible.experts.reliability import Reliability, accuracies, as_reliability, relative
from plausible.labels import Labels

FloatArray = NDArray[np.float64]


def fit_reliability(
    annotations: Annotations | AnnotationParts,
    model: str = "one_coin",
    *,
    gold: Labels | Mapping[Any, Any] | None = None,
    prior: str | ArrayLike = "auto",
    smoothing: float | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    accelerate: bool = True,
    callback: Any = None,
    shared_errors: float = SHARED_ERRORS,
    n_bootstrap: int = 0,
    random_state: Any = None,
) -> Reliability:
    """Learn how far annotators can be trusted, and the classes of the items, together.

    Parameters
    ----------
    annotations : Annotations or AnnotationParts
        Of answers in parts, what is learned of people is the same; nothing is kept of items.
    model : {"one_coin", "class", "full", "shrunk", "difficulty"}
        What is learned of an annotator; see `plausible.experts.answer_problem`. "full" needs many
        answers of each annotator in each class; "shrunk" draws the confusions of those who gave few
        towards the rate of "one_coin". Both need memory for a table (R, K, K): what has more than
        50 million entries is refused. "difficulty" learns abilities of people and difficulties of
        items, see `plausible.experts.difficulty`.
    gold : Labels or dict of items, optional
        Classes of some items that are known for sure; Labels are of all items, in order, and
        unknown where they say nothing.
    prior : {"auto", "fit", "uniform"} or array (K,)
        Shares of the classes. "auto" is uniform for "one_coin", whose posterior then is what
        Dempster's rule makes of the answers, and for "difficulty", and fitted for the others.
    smoothing : float, optional
        Imagined answers of each annotator (in each class, but for "one_coin"); 10 for "shrunk", of
        which as many are right as "one_coin" says, and 1 for the others, if not given. With
        "difficulty", the precision of the priors of abilities and difficulties.
    tol : float
        Stop when a step gains less than this for each item.
    max_iter : int
    accelerate : bool
        Extrapolate where EM is slow.
    callback : function of Progress, optional
    shared_errors : float in [0, 1]
        The interval of an annotator holds if at most this share of all errors is made by everybody,
        so that agreement does not show it. 0 is the interval of people who err independently,
        which on eight real crowds held the truth for 0 to 89 % of them; 0.6 held it for 93 to
        100 %. Where `gold` contradicts it, gold has its way.
    n_bootstrap : int
        Number of fits to resampled items, whose spread the interval then holds as well.
    random_state : int, RandomState or None
        Of the resampling.

    Returns
    -------
    Reliability

    Examples
    --------
    >>> answers = Annotations.from_answers([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]])
    >>> fit_reliability(answers).posterior.round(2)[:, 0].tolist()
    [1.0, 0.0, 1.0, 0.0]
    """
    kinds = Annotations, AnnotationParts
    check_kind(annotations, kinds, "annotations", "make them with Annotations.from_answers")
    check_option(model, (*MODELS, "difficulty"), "model")
    check_flag(accelerate, "accelerate")
    smoothing = SMOOTHING.get(model, 1.0) if smoothing is None else smoothing
    check_number(smoothing, "smoothing", 0.0)
    check_number(tol, "tol", 0.0)
    check_whole(max_iter, "max_iter", 1)
    check_whole(n_bootstrap, "n_bootstrap", 0)
    check_number(shared_errors, "shared_errors", 0.0, 1.0)
    if isinstance(annotations, AnnotationParts):
        refuse_what_needs_all(model, gold, n_bootstrap)
        how = {"tol": tol, "max_iter": max_iter, "callback": callback}
        shares = given_prior(prior, model, annotations.n_classes)
        return _fit_parts(annotations, model, gold, shares, smoothing, shared_errors, accelerate,
                          how)  # fmt: skip
    if not len(annotations):
        raise InputError(
            "Annotations should hold answers",
            "there are none",
            "give some",
        )
    known = gold_logs(annotations, gold)
    shares = given_prior(prior, model, annotations.n_classes)
    if model == "difficulty":
        _refuse_bootstrap(n_bootstrap)
        from plausible.experts.difficulty import fit_difficulty

        how = {"tol": tol, "max_iter": max_iter, "accelerate": accelerate, "callback": callback}
        return fit_difficulty(annotations, smoothing, known, shares, shared_errors, how)
    problem = pose(annotations, model, smoothing, known, shares)
    chart: Any = LogChart(problem.logs) if isinstance(problem, AnswerModel) else RateChart()
    settings = {"tol": tol, "max_iter": max_iter, "chart": chart if accelerate else None}
    result = climb(problem, problem.start(), callback=callback, **settings)
    rates = None
    if n_bootstrap:
        random = random_from(random_state)
        rates = np.array(
            [
                _resampled_rates(annotations, model, smoothing, known, shares, random, settings)
                for _ in range(n_bootstrap)
            ]
        )
    return conclude(annotations, problem, result, shared_errors=shared_errors, resampled=rates)


def _fit_parts(
    parts: AnnotationParts,
    model: str,
    gold: Any,
    prior: FloatArray | None,
    smoothing: float,
    shared_errors: float,
    accelerate: bool,
    how: dict[str, Any],
) -> Reliability:
    """The same of answers in parts."""
    center = own_rates(parts, gold) if model == "shrunk" else None
    problem = PartedProblem(parts, model, smoothing, gold, prior, center)
    result = problem.climb(chart=chart_of(problem) if accelerate else None, **how)
    point: Parameters = result.parameters
    counts, log_likelihood, tally, known = problem.tallied(point)
    accuracy, n_answers = accuracies(problem.light, counts)
    nothing = np.zeros((0, parts.n_classes))
    found = intervals(tally, accuracy, shared_errors, known)
    return as_reliability(parts, problem.light, result, accuracy, n_answers, nothing, nothing,
                           log_likelihood, found)  # fmt: skip


def _refuse_bootstrap(n_bootstrap: int) -> None:
    """Items that are drawn twice would have two difficulties."""
    if n_bootstrap:
        raise InputError(
            "n_bootstrap should be 0 with model='difficulty'",
            f"is {n_bootstrap}",
            "leave it out, or use {model}",
            parameter="n_bootstrap",
            value=n_bootstrap,
            settings={"model": "one_coin"},
        )


def climb(problem: AnswerProblem, start: Parameters, **settings: Any) -> Any:
    """The EM algorithm from a start."""
    n_items = problem.n_items
    return maximize(problem.summarize, problem.solve, [start], n_rows=n_items, **settings)


def _resampled_rates(
    annotations: Annotations,
    model: str,
    smoothing: float,
    gold: FloatArray | None,
    prior: FloatArray | None,
    random: np.random.RandomState,
    settings: dict[str, Any],
) -> FloatArray:
    """Rates (R,) of being right in a fit to resampled items; NaN for those without answers."""
    answers, drawn = resample_items(annotations, random)
    known = None if gold is None else gold[drawn]
    problem = pose(answers, model, smoothing, known, prior)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the fit to all items says so
        with passed_on():
            point = climb(problem, problem.start(), **settings).parameters
    right, total = problem.tally(problem.expect(point).counts)
    return np.divide(right, total, out=np.full(len(total), np.nan), where=total > 0)


def pose(
    annotations: Annotations,
    model: str,
    smoothing: float,
    gold: FloatArray | None,
    prior: FloatArray | None = None,
) -> AnswerProblem:
    """The EM problem of a model."""
    if model == "full":
        return AnswerModel(annotations, smoothing, gold, prior)
    if model == "shrunk":
        return AnswerModel(annotations, smoothing, gold, prior, own_confusions(annotations, gold))
    return RateModel(annotations, model, smoothing, gold, prior)


def own_confusions(annotations: Annotations, gold: FloatArray | None) -> FloatArray:
    """Confusions (R, K, K) of people who err evenly, at the rates that "one_coin" learns."""
    check_confusions(len(annotations.annotators), annotations.n_classes)
    even = np.full(annotations.n_classes, 1 / annotations.n_classes)
    problem = RateModel(annotations, "one_coin", 1.0, gold, even)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a center need not be sharp
        with passed_on():
            point = climb(problem, problem.start(), max_iter=200, chart=RateChart()).parameters
    return confusions(point.learned, annotations.n_classes)


def conclude(
    annotations: Annotations,
    problem: AnswerProblem,
    result: Any,
    given: tuple[FloatArray, FloatArray, float] | None = None,
    *,
    shared_errors: float = SHARED_ERRORS,
    resampled: FloatArray | None = None,
) -> Reliability:
    """What was learned, with intervals.

    `given` are posterior, weights of the items and log likelihood where more than answers counts;
    `resampled` are rates (B, R) of fits to resampled items.
    """
    point: Parameters = result.parameters
    if given is None:
        _, posterior, counts, log_likelihood = problem.expect(point)
        problem.last, weight = None, None  # before the evidence takes as much memory
    else:
        posterior, weight, log_likelihood = given
        counts = problem.expected(posterior * weight[:, None], point.learned)
    accuracy, n_answers = accuracies(problem, counts)
    evidence = relative(problem.evidence(point))
    tally = _confirmed(annotations, problem, point, posterior, weight, counts)
    known = errors_on_gold(evidence, point.prior, problem.gold)
    found = intervals(tally, accuracy, shared_errors, known, resampled)
    return as_reliability(annotations, problem, result, accuracy, n_answers, posterior, evidence,
                           log_likelihood, found)  # fmt: skip


def _confirmed(
    annotations: Annotations,
    problem: AnswerProblem,
    point: Parameters,
    posterior: FloatArray,
    weight: FloatArray | None,
    counts: Any,
) -> Tally:
    """Expected right answers, and answers, about items of which something else is known.

    Where weights are given, features tell something of every item.
    """
    gold = gold_items(problem.gold, problem.n_items)
    held = posterior if weight is None else posterior * weight[:, None]
    right, total = problem.tally(counts)
    if weight is None:
        several = confirmed_items(annotations) | gold
        if not several.all():
            counts = problem.expected(held * several[:, None], point.learned)
            right, total = problem.tally(counts)
    on_gold = np.zeros_like(total)
    if gold.any():
        counts = problem.expected(held * gold[:, None], point.learned)
        on_gold = problem.tally(counts)[1]
    return Tally(right, total, on_gold)
