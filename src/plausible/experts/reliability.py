"""How far annotators can be trusted: what was learned of them; see `reliability_fit`."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.errors import InputError
from plausible.experts.answer_model import MOST_PROBABILITIES
from plausible.experts.answer_problem import FLOOR, AnswerProblem
from plausible.experts.intervals import Interval
from plausible.experts.notebooks import reliability_page
from plausible.experts.rate_model import confusions
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
    >>> from plausible.experts import Annotations
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


def accuracies(problem: AnswerProblem, counts: Any) -> tuple[FloatArray, FloatArray]:
    """How often each annotator (R,) is right, as a rate, and how often they answered."""
    right, n_answers = problem.tally(counts)
    sure, share = problem.imagined()
    total = n_answers + share  # as in the estimate
    rate = np.where(total > 0, (right + sure) / np.maximum(total, FLOOR), 1 / problem.n_classes)
    return rate, n_answers


def as_reliability(
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
    """What was learned, put together."""
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
