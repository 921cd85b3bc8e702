"""How far annotators can be trusted, learned from their agreement; see `answer_model`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta as beta_distribution

from plausible.checks import (
    as_floats,
    check_flag,
    check_kind,
    check_number,
    check_option,
    check_whole,
)
from plausible.engine import maximize
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.answer_model import (
    FLOOR,
    MODELS,
    MOST_PROBABILITIES,
    AnswerModel,
    AnswerProblem,
    LogChart,
    Parameters,
)
from plausible.experts.rate_model import RateChart, RateModel, confusions
from plausible.labels import Labels, as_labels

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
        Probability of being right, and an interval that holds it with probability 0.95.
    doubt : array (R,)
        Shafer's discount with which Dempster's rule weighs hard answers as this model does.
    learned : array (R, 1), (R, K) or (R, K, K)
        What the model learned: a probability of being right ("one_coin"), one for each class
        ("class"), or all confusions ("full").
    confusion : array (R, K, K)
        Probability of saying l (last axis) when k is true; made when it is asked for.
    prior : array (K,)
    posterior : array (n, K)
        Probability of each class of each item.
    evidence : array (n, K)
        The same without the prior, relative to the likeliest class: a contour.
    log_likelihood : float
    history, n_iter, converged : of the EM algorithm

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
    ann                      4   0.95   (0.54 to 1.00)   0.05
    bob                      4   0.95   (0.54 to 1.00)   0.05
    cy                       4   0.35   (0.07 to 0.75)   1.00
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

    def labels(self) -> Labels:
        """The posterior probabilities as labels: they act as likelihoods of the classes."""
        return Labels.from_probability(self.posterior, self.classes.tolist())

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
        return "\n".join(lines)


def fit_reliability(
    annotations: Annotations,
    model: str = "one_coin",
    *,
    gold: Labels | Mapping[Any, Any] | None = None,
    prior: str | ArrayLike = "auto",
    smoothing: float = 1.0,
    tol: float = 1e-6,
    max_iter: int = 1000,
    accelerate: bool = True,
    callback: Any = None,
) -> Reliability:
    """Learn how far annotators can be trusted, and the classes of the items, together.

    Parameters
    ----------
    annotations : Annotations
    model : {"one_coin", "class", "full"}
        What is learned of an annotator; see `plausible.experts.answer_model`. "full" needs many
        answers of each annotator in each class, and memory for a table (R, K, K): what has more
        than 50 million entries is refused.
    gold : Labels or dict of items, optional
        Classes of some items that are known for sure; Labels are of all items, in order, and
        unknown where they say nothing.
    prior : {"auto", "fit", "uniform"} or array (K,)
        Shares of the classes. "auto" is uniform for "one_coin", whose posterior then is what
        Dempster's rule makes of the answers, and fitted for the others.
    smoothing : float
        Imagined answers of each annotator (in each class, but for "one_coin").
    tol : float
        Stop when a step gains less than this for each item.
    max_iter : int
    accelerate : bool
        Extrapolate where EM is slow.
    callback : function of Progress, optional

    Returns
    -------
    Reliability

    Examples
    --------
    >>> answers = Annotations.from_answers([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]])
    >>> fit_reliability(answers).posterior.round(2)[:, 0].tolist()
    [1.0, 0.0, 1.0, 0.0]
    """
    check_kind(annotations, Annotations, "annotations", "make them with Annotations.from_answers")
    check_option(model, MODELS, "model")
    check_flag(accelerate, "accelerate")
    check_number(smoothing, "smoothing", 0.0)
    check_number(tol, "tol", 0.0)
    check_whole(max_iter, "max_iter", 1)
    if not len(annotations):
        raise InputError(
            "Annotations should hold answers",
            "there are none",
            "give some",
        )
    known = gold_logs(annotations, gold)
    shares = given_prior(prior, model, annotations.n_classes)
    problem = pose(annotations, model, smoothing, known, shares)
    chart = LogChart() if model == "full" else RateChart()
    result = maximize(
        problem.summarize,
        problem.solve,
        [problem.start()],
        n_rows=len(annotations.items),
        tol=tol,
        max_iter=max_iter,
        chart=chart if accelerate else None,
        callback=callback,
    )
    return conclude(annotations, problem, result)


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
    return RateModel(annotations, model, smoothing, gold, prior)


def conclude(
    annotations: Annotations,
    problem: AnswerProblem,
    result: Any,
    given: tuple[FloatArray, FloatArray, float] | None = None,
) -> Reliability:
    """What was learned, with intervals.

    `given` are posterior, weights of the items and log likelihood where more than answers counts.
    """
    point: Parameters = result.parameters
    if given is None:
        _, posterior, counts, log_likelihood = problem.expect(point)
        problem.last = None  # before the evidence takes as much memory
    else:
        posterior, weight, log_likelihood = given
        counts = problem.expected(posterior * weight[:, None], point.learned)
    right, n_answers = problem.tally(counts)
    sure, share = problem.imagined()
    right, total = right + sure, n_answers + share  # as in the estimate
    wrong = np.maximum(total - right, 0.0)
    accuracy = np.where(total > 0, right / np.maximum(total, FLOOR), 1 / problem.n_classes)
    return Reliability(
        annotators=annotations.annotators,
        classes=annotations.classes,
        n_answers=n_answers,
        accuracy=accuracy,
        low=np.where(right < 1e-9, 0.0, beta_distribution.ppf(0.025, right + 0.5, wrong + 0.5)),
        high=np.where(wrong < 1e-9, 1.0, beta_distribution.ppf(0.975, right + 0.5, wrong + 0.5)),
        doubt=equivalent_doubt(1 - accuracy, problem.n_classes),
        learned=point.learned,
        prior=point.prior,
        posterior=posterior,
        evidence=relative(problem.evidence(point)),
        log_likelihood=log_likelihood,
        history=result.history,
        n_iter=result.n_iter,
        converged=result.converged,
    )


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


def given_prior(prior: str | ArrayLike, model: str, n_classes: int) -> FloatArray | None:
    """Shares (K,) of the classes, or None where they are to be learned."""
    if isinstance(prior, str):
        check_option(prior, ("auto", "fit", "uniform"), "prior")
        if prior == "fit" or (prior == "auto" and model != "one_coin"):
            return None
        return np.full(n_classes, 1 / n_classes)
    shares = as_floats(prior, "prior")
    if shares.shape != (n_classes,) or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-6:
        raise InputError(
            f"prior should be a positive share for each of the {n_classes} classes, and these "
            "sum to one",
            f"is {shares.tolist()}",
            "correct it, or say 'uniform' or 'fit'",
            parameter="prior",
        )
    return shares / shares.sum()


def gold_logs(
    annotations: Annotations, gold: Labels | Mapping[Any, Any] | None
) -> FloatArray | None:
    """Log plausibilities (n, K) of classes that are known."""
    if gold is None:
        return None
    classes = annotations.classes.tolist()
    if isinstance(gold, Mapping):
        place = {name: row for row, name in enumerate(annotations.items.tolist())}
        strange = [name for name in gold if name not in place]
        if strange:
            raise InputError(
                "Gold items should be among the items",
                f"{strange[0]!r} is not",
                "check the names",
            )
        contour = np.ones((len(place), len(classes)))
        rows = [place[name] for name in gold]
        contour[rows] = as_labels(list(gold.values()), classes).contour
    else:
        labels = as_labels(gold, classes)
        if len(labels) != len(annotations.items):
            raise InputError(
                f"gold should have a label for each of the {len(annotations.items)} items",
                f"has {len(labels)}",
                "give a dict for some items only",
                parameter="gold",
            )
        contour = labels.contour
    if (contour == contour[:, :1]).all():
        return None
    with np.errstate(divide="ignore"):
        return np.log(contour)
