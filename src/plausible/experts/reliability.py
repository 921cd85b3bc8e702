r"""How far annotators can be trusted, learnt from their agreement.

The class y of an item is latent; annotator r says l with probability :math:`\theta_{r y l}`. A
statement with plausibilities s, a set among them, is evidence about what would have been said,

.. math:: P(s \mid y = k, r) = \sum_l \theta_{r k l} \, s_l, \qquad
   L = \sum_i \log \sum_k \pi_k \prod_{a \in i} P(s_a \mid k, r_a)

(a generalised likelihood, maximised by the E2M algorithm). With hard answers this is the model of
Dawid and Skene (1979). An abstention has P = 1 whatever the class, and changes nothing.

"full"       any :math:`\theta_r`
"class"      a probability of being right for each class, errors spread evenly
"one_coin"   one probability of being right: Shafer's discounting, see `equivalent_doubt`

`smoothing` adds that many imagined answers (for each class, or for all with "one_coin"), half of
them right and half spread evenly: a Dirichlet prior, whose log density is part of the criterion.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta as beta_distribution

from plausible.belief.errors import check_number, check_option, check_whole
from plausible.engine import maximise
from plausible.experts.annotations import Annotations
from plausible.labels import Labels, as_labels

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MODELS = ("one_coin", "class", "full")
FLOOR = 1e-10  # least number of times that an annotator is expected to have said something
TINY = 1e-300  # keeps logarithms finite
LEAST_DOUBT = 1e-3  # nobody is beyond doubt


class Parameters(NamedTuple):
    """Shares (K,) of the classes, and what annotators say in each, (R, K, K)."""

    prior: FloatArray
    confusion: FloatArray


class Summary(NamedTuple):
    """Expected answers (R, K, K), expected shares (K,) of the classes, and the criterion."""

    counts: FloatArray
    shares: FloatArray
    criterion: float


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
        self, annotations: Annotations, model: str, smoothing: float, gold: FloatArray | None
    ) -> None:
        statement, contours = doubted(annotations)
        informative = (contours.min(axis=1) < contours.max(axis=1))[statement]
        told = annotations.select(informative)
        key = told.annotator * len(contours) + statement[informative]
        kinds, place = different(key)
        self.model, self.gold = model, gold
        self.annotator, said = kinds // len(contours), contours[kinds % len(contours)]
        self.table = told.incidence(place, len(kinds))
        self.across = self.table.T.tocsr()
        self.n_classes, self.n_annotators = annotations.n_classes, len(annotations.annotators)
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
        return np.asarray(self.table @ np.log(self.likelihoods(confusion)))

    def posterior(self, parameters: Parameters) -> tuple[FloatArray, FloatArray]:
        """Probabilities (n, K) of the classes, and log likelihoods (n,) of the items."""
        scores = self.evidence(parameters.confusion)
        scores += np.log(parameters.prior)
        if self.gold is not None:
            scores += self.gold
        top = scores.max(axis=1, keepdims=True)
        scores -= top
        posterior = np.exp(scores, out=scores)
        total = posterior.sum(axis=1, keepdims=True)
        posterior /= total
        return posterior, (top + np.log(total))[:, 0]

    def summarise(self, points: list[Parameters]) -> list[Summary]:
        """The E step for each point."""
        return [self._summary(point) for point in points]

    def _summary(self, point: Parameters) -> Summary:
        posterior, logs = self.posterior(point)
        penalty = float((self.imagined * np.log(np.maximum(point.confusion, TINY))).sum())
        counts = self.expected(posterior, point.confusion)
        return Summary(counts, posterior.mean(axis=0), float(logs.sum()) + penalty)

    def expected(self, posterior: FloatArray, confusion: FloatArray) -> FloatArray:
        """Expected number (R, K, K) of times that an annotator said l in class k."""
        held = np.asarray(self.across @ posterior)
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
        return Parameters(np.maximum(summary.shares, FLOOR), confusion)

    def start(self) -> Parameters:
        """The M step on shares of the votes, as a majority vote has them, or on what is known."""
        even = np.full((self.n_annotators, self.n_classes, self.n_classes), 1 / self.n_classes)
        kinds = np.eye(self.n_classes)[self.answer]
        kinds[self.soft] = self.said / np.maximum(self.said.sum(axis=1, keepdims=True), FLOOR)
        shares = np.asarray(self.table @ kinds)
        total = shares.sum(axis=1, keepdims=True)
        posterior = np.where(total > 0, shares / np.maximum(total, FLOOR), 1 / self.n_classes)
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
    confusion : array (R, K, K)
        Probability of saying l (last axis) when k is true.
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
    confusion: FloatArray
    prior: FloatArray
    posterior: FloatArray
    evidence: FloatArray
    log_likelihood: float
    history: FloatArray
    n_iter: int
    converged: bool

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
        What is learnt of an annotator; see `plausible.experts.reliability`. "full" needs many
        answers of each annotator in each class.
    gold : Labels or dict of items, optional
        Classes that are known, of some items (Labels: of all items in order, unknown ones vacuous).
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
    check_option(model, MODELS, "model")
    check_number(smoothing, "smoothing", 0.0)
    check_number(tol, "tol", 0.0)
    check_whole(max_iter, "max_iter", 1)
    if not len(annotations):
        raise ValueError("Annotations should hold answers, but there are none; give some.")
    known = gold_logs(annotations, gold)
    problem = AnswerModel(annotations, model, smoothing, known)
    chart = LogChart() if model == "full" else RateChart(model)
    result = maximise(
        problem.summarise,
        problem.solve,
        [problem.start()],
        n_rows=len(annotations.items),
        tol=tol,
        max_iter=max_iter,
        chart=chart if accelerate else None,
        callback=callback,
    )
    return conclude(annotations, problem, result)


def conclude(
    annotations: Annotations,
    problem: AnswerModel,
    result: Any,
    posterior: FloatArray | None = None,
) -> Reliability:
    """What was learnt, with intervals; `posterior` if more than answers speaks for the classes."""
    point: Parameters = result.parameters
    if posterior is None:
        posterior, logs = problem.posterior(point)
        log_likelihood = float(logs.sum())
    else:
        log_likelihood = float(result.history[-1])
    counts = problem.expected(posterior, point.confusion)
    right = np.diagonal(counts, axis1=1, axis2=2).sum(axis=1)
    total = counts.sum(axis=(1, 2))
    share = problem.imagined.sum()
    sure = problem.imagined.trace()
    n_answers, total = total, total + share
    right = right + sure  # with the imagined answers, as in the estimate
    wrong = np.maximum(total - right, 0.0)
    accuracy = np.where(total > 0, right / np.maximum(total, FLOOR), 1 / problem.n_classes)
    evidence = problem.evidence(point.confusion)
    return Reliability(
        annotators=annotations.annotators,
        classes=annotations.classes,
        n_answers=n_answers,
        accuracy=accuracy,
        low=np.where(right < 1e-9, 0.0, beta_distribution.ppf(0.025, right + 0.5, wrong + 0.5)),
        high=np.where(wrong < 1e-9, 1.0, beta_distribution.ppf(0.975, right + 0.5, wrong + 0.5)),
        doubt=equivalent_doubt(1 - accuracy, problem.n_classes),
        confusion=point.confusion,
        prior=point.prior,
        posterior=posterior,
        evidence=np.exp(evidence - evidence.max(axis=1, keepdims=True)),
        log_likelihood=log_likelihood,
        history=result.history,
        n_iter=result.n_iter,
        converged=result.converged,
    )


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
            raise ValueError(
                f"Gold items should be among the items, but {strange[0]!r} is not; check the names."
            )
        contour = np.ones((len(place), len(classes)))
        rows = [place[name] for name in gold]
        contour[rows] = as_labels(list(gold.values()), classes).contour
    else:
        labels = as_labels(gold, classes)
        if len(labels) != len(annotations.items):
            raise ValueError(
                f"gold should have a label for each of the {len(annotations.items)} items, but has "
                f"{len(labels)}; give a dict for some items only."
            )
        contour = labels.contour
    if (contour == contour[:, :1]).all():
        return None
    with np.errstate(divide="ignore"):
        return np.log(contour)
