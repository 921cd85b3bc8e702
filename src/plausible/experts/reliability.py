"""How far annotators can be trusted, learned from their agreement; see `answer_problem`."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
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
from plausible.engine import maximize
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.answer_model import MOST_PROBABILITIES, AnswerModel, check_confusions
from plausible.experts.answer_problem import FLOOR, MODELS, SMOOTHING, AnswerProblem, Parameters
from plausible.experts.charts import LogChart, RateChart
from plausible.experts.intervals import (
    SHARED_ERRORS,
    Interval,
    Tally,
    confirmed_items,
    errors_on_gold,
    gold_items,
    intervals,
    resample_items,
)
from plausible.experts.known_classes import given_prior, gold_logs
from plausible.experts.notebooks import reliability_page
from plausible.experts.parted_reliability import (
    PartedProblem,
    chart_of,
    own_rates,
    refuse_what_needs_all,
)
from plausible.experts.parts import AnnotationParts
from plausible.experts.rate_model import RateModel, confusions
from plausible.labels import Labels

FloatArray = NDArray[np.float64]

LEAST_DOUBT = 1e-3  # nobody is beyond doubt


@dataclass(frozen=True)
class Reliability:
    """What agreement says about annotators and items.

    Attributes
    ----------
    annotators, classes : arrays of names
    n_answers : array (R,)
        Answers that say something.
    accuracy, low, high : arrays (R,)
        Probability of being right, and an interval for it. It allows for few answers, at 95 %,
        and for errors that people share, which agreement cannot show; see
        `plausible.experts.intervals`.
    doubt : array (R,)
        Shafer's discount with which Dempster's rule weighs hard answers as this model does.
    learned : array (R, 1), (R, K) or (R, K, K)
        What the model learned: a probability of being right ("one_coin"), one for each class
        ("class"), or all confusions ("full" and "shrunk").
    confusion : array (R, K, K)
        Probability of saying l (last axis) when k is true; made when it is asked for.
    prior : array (K,)
    posterior : array (n, K)
        Probability of each class of each item.
    evidence : array (n, K)
        The same without the prior, relative to the likeliest class: a contour.
    log_likelihood : float
    history, n_iter, converged : of the EM algorithm
    consensus_error : float
        Share of items on which the interval allows everybody together to be wrong.
    agreement_low, agreement_high : arrays (R,)
        95 % limits of how often an annotator agrees with the consensus: as `low` and `high`, if the
        consensus were always right. Compare people with one another by these.
    difficulty : array (n,) or None
        With the model "difficulty": how much more difficult than others each item is, in log odds.
        `learned` is how often people are right about an item of difficulty 0.

    Examples
    --------
    >>> answers = Annotations.from_answers(
    ...     [["a", "a", "b"], ["b", "b", "a"], ["a", "a", "a"], ["b", "b", "a"]],
    ...     annotators=["ann", "bob", "cy"],
    ... )
    >>> found = answers.reliability()
    >>> found.accuracy.round(1).tolist()
    [0.9, 0.9, 0.3]
    >>> print(found)
    annotator          answers  right  (95 % interval)  doubt
    ann                      4   0.95   (0.12 to 1.00)   0.05
    bob                      4   0.95   (0.12 to 1.00)   0.05
    cy                       4   0.35   (0.00 to 0.88)   1.00
    Intervals allow for errors that people share on up to 38 % of the items.
    """

    annotators: NDArray[Any]
    classes: NDArray[Any]
    n_answers: FloatArray
    accuracy: FloatArray
    low: FloatArray
    high: FloatArray
    doubt: FloatArray
    learned: FloatArray
    prior: FloatArray
    posterior: FloatArray
    evidence: FloatArray
    log_likelihood: float
    history: FloatArray
    n_iter: int
    converged: bool
    # Fits that were saved before there were such do not have them.
    consensus_error: float = np.nan
    agreement_low: FloatArray | None = None
    agreement_high: FloatArray | None = None
    difficulty: FloatArray | None = None

    @property
    def confusion(self) -> FloatArray:
        """Probability (R, K, K) of saying l (last axis) when k is true."""
        if self.learned.ndim == 3:
            return self.learned
        n_numbers = len(self.annotators) * len(self.classes) ** 2
        if n_numbers > MOST_PROBABILITIES:
            raise InputError(
                f"Confusions should be at most {MOST_PROBABILITIES:,} probabilities",
                f"would be {n_numbers:,}, or {8 * n_numbers / 1e9:,.1f} GB",
                "use `learned`, the rates of being right of which they are made",
            )
        return confusions(self.learned, len(self.classes))

    @property
    def at_luck(self) -> NDArray[np.bool_]:
        """Who (R,) cannot be told from somebody who draws lots.

        Their agreement with the consensus may be that of luck, as far as their answers show.
        """
        low = self.low if self.agreement_low is None else self.agreement_low
        return np.asarray(low <= 1 / max(len(self.classes), 1))

    @property
    def guessed(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Shares (R,) of answers that are as good as lots drawn, and limits of their intervals."""
        beyond = 1 - 1 / max(len(self.classes), 2)
        share, high, low = (
            np.clip((1 - rate) / beyond, 0.0, 1.0) for rate in (self.accuracy, self.low, self.high)
        )
        return share, low, high

    def labels(self) -> Labels:
        """The posterior probabilities as labels."""
        return Labels.from_probability(self.posterior, self.classes.tolist())

    def _repr_html_(self) -> str:
        return reliability_page(self)

    def __str__(self) -> str:
        lines = [f"{'annotator':<17}{'answers':>9}  right  (95 % interval)  doubt"]
        for row in np.argsort(-self.accuracy, kind="stable")[:20]:
            lines.append(
                f"{self.annotators[row]!s:<17.17}{self.n_answers[row]:>9.0f}"
                f"{self.accuracy[row]:>7.2f}   ({self.low[row]:.2f} to {self.high[row]:.2f})"
                f"{self.doubt[row]:>7.2f}"
            )
        if len(self.annotators) > 20:
            lines.append(f"... and {len(self.annotators) - 20} more")
        if np.isfinite(self.consensus_error):
            lines.append(
                "Intervals allow for errors that people share on up to "
                f"{self.consensus_error:.0%} of the items.".replace("%", " %")
            )
        return "\n".join(lines)


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
    accuracy, n_answers = _accuracies(problem.light, counts)
    nothing = np.zeros((0, parts.n_classes))
    found = intervals(tally, accuracy, shared_errors, known)
    return _as_reliability(parts, problem.light, result, accuracy, n_answers, nothing, nothing,
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
    return maximize(problem.summarize, problem.solve, [start], n_rows=problem.n_items, **settings)


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
    accuracy, n_answers = _accuracies(problem, counts)
    evidence = relative(problem.evidence(point))
    tally = _confirmed(annotations, problem, point, posterior, weight, counts)
    known = errors_on_gold(evidence, point.prior, problem.gold)
    found = intervals(tally, accuracy, shared_errors, known, resampled)
    return _as_reliability(annotations, problem, result, accuracy, n_answers, posterior, evidence,
                           log_likelihood, found)  # fmt: skip


def _accuracies(problem: AnswerProblem, counts: Any) -> tuple[FloatArray, FloatArray]:
    """How often each annotator (R,) is right, as a rate, and how often they answered."""
    right, n_answers = problem.tally(counts)
    sure, share = problem.imagined()
    total = n_answers + share  # as in the estimate
    rate = np.where(total > 0, (right + sure) / np.maximum(total, FLOOR), 1 / problem.n_classes)
    return rate, n_answers


def _as_reliability(
    answers: Any,
    problem: AnswerProblem,
    result: Any,
    accuracy: FloatArray,
    n_answers: FloatArray,
    posterior: FloatArray,
    evidence: FloatArray,
    log_likelihood: float,
    limits: Interval,
) -> Reliability:
    return Reliability(
        annotators=answers.annotators,
        classes=answers.classes,
        n_answers=n_answers,
        accuracy=accuracy,
        doubt=equivalent_doubt(1 - accuracy, problem.n_classes),
        learned=result.parameters.learned,
        prior=result.parameters.prior,
        posterior=posterior,
        evidence=evidence,
        log_likelihood=log_likelihood,
        history=result.history,
        n_iter=result.n_iter,
        converged=result.converged,
        **limits._asdict(),
    )


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


def relative(logs: FloatArray) -> FloatArray:
    """Contours (n, K) with these logarithms up to a constant for each row."""
    logs -= logs.max(axis=1, keepdims=True)
    return np.exp(logs, out=logs)


def equivalent_doubt(
    error: FloatArray, n_classes: int, size: Any = 1.0, own: Any = 0.0
) -> FloatArray:
    r"""Shafer's discount that equals a probability of error, for statements of some size.

    With errors spread evenly a statement s has likelihood
    :math:`(1 - e - e') s_k + e' \sum_l s_l`, :math:`e' = e / (K - 1)`, in class k: a discounted s.
    If it was discounted by a doubt of its `own` before, so is this likelihood. Who errs more often
    than by chance is not believed; the model would believe the contrary.

    Examples
    --------
    >>> equivalent_doubt(np.array([0.0, 0.2, 0.5]), 2)
    array([0.001, 0.25 , 1.   ])
    """
    each = error / max(n_classes - 1, 1)
    said = np.maximum(1 - error - each, 0.0)
    spread = each * size
    low, high = own + (1 - own) * spread, own + (1 - own) * (said + spread)
    return np.clip(low / np.maximum(high, FLOOR), LEAST_DOUBT, 1.0)
