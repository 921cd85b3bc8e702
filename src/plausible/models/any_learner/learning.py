"""Fit a learner to candidates, ask it about items it has not seen, and repeat both.

A flexible learner that is asked about its own training rows believes itself: what it learned of a
row is what the row said before. So items are asked about out of fold, unless it is told otherwise.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.parallel import Parallel, delayed

from plausible.errors import InputError
from plausible.models.any_learner.candidates import (
    Candidates,
    candidates_of,
    drawn,
    left_by_labels,
    normalized_rows,
    repeated,
    routed,
    takes_weights,
)
from plausible.models.calibration.scores import class_scores
from plausible.models.ensemble.members import bets_of
from plausible.models.learners import take_rows

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

PATIENCE = 2  # rounds without a better criterion out of fold
LARGEST_TEMPERATURE = 1e4
LARGEST_SEED = np.iinfo(np.int32).max


class Rounds(NamedTuple):
    """What repeating came to: shares of the classes, criterion of each round, whether settled."""

    shares: FloatArray
    history: list[float]
    converged: bool


@dataclass
class Task:
    """What is learned from: items that count, what labels say of them, and how.

    contour : plausibilities (n, K), the largest of each row one; or probabilities (n, K)
    is_share : rows (n,) that are probabilities
    class_weight : (K,) or None
    seed : of draws, where the learner takes no weights
    """

    estimator: Any
    X: Any
    classes: NDArray[Any]
    contour: FloatArray
    is_share: BoolArray
    weight: FloatArray
    class_weight: FloatArray | None
    seed: int
    weighted: bool = field(init=False)

    def __post_init__(self) -> None:
        self.weighted = takes_weights(self.estimator)

    @property
    def is_settled(self) -> bool:
        """Whether labels leave nothing open: they are hard, or probabilities."""
        return bool((self.is_share | ((self.contour > 0.0).sum(axis=1) == 1)).all())

    def candidates(self, shares: FloatArray, rows: IntArray | None = None) -> Candidates:
        """Rows that stand for some of the items, or for all."""
        weight = self.weight
        if rows is not None:
            shares, weight = shares[rows], weight[rows]
        if self.weighted:
            return candidates_of(shares, weight, self.class_weight)
        # The same numbers in every round: only what is believed makes a difference.
        return drawn(shares, weight, self.class_weight, np.random.RandomState(self.seed))

    def fit(self, shares: FloatArray, rows: IntArray | None = None, model: Any = None) -> Any:
        """A fitted copy of the learner; an earlier one goes on from where it is, if it can.

        None where all candidates are of one class, and some of the items are left out.
        """
        found = self.candidates(shares, rows)
        if rows is not None and len(np.unique(found.codes)) == 1:
            return None
        part = self.X if rows is None else take_rows(self.X, rows)
        model = warm(model) if model is not None else None
        model = clone(self.estimator) if model is None else model
        given = routed(model, found.weights, found.shares)
        return model.fit(repeated(part, found.items), self.classes[found.codes], **given)

    def fit_all(self, shares: FloatArray, model: Any = None) -> Any:
        """A learner of all items."""
        present = shares.any(axis=0)
        if present.sum() > 1:
            return self.fit(shares, None, model)
        try:
            return self.fit(shares)
        except ValueError as error:
            raise InputError(
                f"Labels should leave two classes at least for {type(self.estimator).__name__}",
                f"one class, {self.classes[present].tolist()[0]!r}, is all that they leave",
                "add items of other classes",
            ) from error

    def criterion(self, logs: FloatArray) -> float:
        """The mean log probability of labels."""
        return float(self.weight @ logs / self.weight.sum())


def warm(model: Any) -> Any:
    """A fitted model that will go on from its coefficients; None where it cannot.

    Trees and boosting have a parameter of the same name that adds trees instead.
    """
    last = model[-1] if isinstance(model, Pipeline) else model
    has_coefficients = hasattr(last, "coef_") or hasattr(last, "coefs_")
    if not has_coefficients or "warm_start" not in last.get_params():
        return None
    last.set_params(warm_start=True)
    return model


def cooled(model: Any, estimator: Any) -> Any:
    """A fitted model with the parameter of warm starts as it was given."""
    last = model[-1] if isinstance(model, Pipeline) else model
    given = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if "warm_start" in given.get_params():
        last.set_params(warm_start=given.get_params()["warm_start"])
    return model


def has_bets(model: Any) -> bool:
    """Whether a model bets on classes; others have scores only."""
    return any(hasattr(model, name) for name in ("believe", "predict_mass", "predict_proba"))


def scores_of(model: Any, X: Any, classes: NDArray[Any]) -> FloatArray:
    """Scores (n, K) of a model that does not bet; the least of a row for classes unknown to it.

    One that has not even scores says one class.
    """
    if hasattr(model, "decision_function"):
        scores = class_scores(model, X, classes)
        return np.where(np.isnan(scores), np.nanmin(scores, axis=1, keepdims=True), scores)
    said = np.asarray(model.predict(X))
    return np.asarray(said[:, None] == classes[None, :], dtype=np.float64)


def fit_temperature(scores: FloatArray, task: Task, rows: IntArray) -> float:
    """The factor of scores by which their softmax fits the labels best.

    A little doubt about each label, one in n + 2 items, keeps it finite where scores separate.
    """
    doubt = 1.0 / (len(rows) + 2.0)
    contour = task.contour[rows]
    known = np.where(task.is_share[rows, None], contour, np.maximum(contour, doubt))
    weight, is_share = task.weight[rows], task.is_share[rows]

    def loss(log_factor: float) -> float:
        bets = softmax(np.exp(log_factor) * scores, axis=1)
        return -float(weight @ left_by_labels(known, bets, is_share)[1])

    top = np.log(LARGEST_TEMPERATURE / max(1.0, np.abs(scores).max()))
    found = minimize_scalar(loss, bounds=(-10.0, max(top, -9.0)), method="bounded")
    return float(np.exp(found.x))


def asked(task: Task, model: Any, rows: IntArray, shares: FloatArray) -> FloatArray:
    """Bets (n, K), or scores, of a model on some items; of no model, on the only class."""
    if model is None:
        only = np.ones(len(task.contour), dtype=bool)
        only[rows] = False
        return np.tile(shares[only].sum(axis=0) > 0.0, (len(rows), 1)).astype(np.float64)
    X = take_rows(task.X, rows)
    if has_bets(task.estimator):
        return bets_of(model, X, task.classes)
    return scores_of(model, X, task.classes)


def _one_fold(
    task: Task, shares: FloatArray, train: IntArray, test: IntArray, model: Any
) -> tuple[Any, FloatArray]:
    """A model of the other folds, and what it says of this one."""
    fitted = task.fit(shares, train, model)
    return fitted, asked(task, fitted, test, shares)


@dataclass
class CrossFit:
    """Models of all but one fold, each asked about that fold."""

    task: Task
    folds: IntArray
    n_jobs: int | None
    temperature: float | None = None
    models: list[Any] = field(default_factory=list)

    def bets(self, shares: FloatArray) -> FloatArray:
        """Bets (n, K) on items out of fold; on items of no fold, all classes alike."""
        numbers = np.unique(self.folds[self.folds >= 0]).tolist()
        models = self.models or [None] * len(numbers)
        inside = [self.folds == k for k in numbers]
        splits = [(np.flatnonzero(~mask), np.flatnonzero(mask)) for mask in inside]
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(_one_fold)(self.task, shares, *split, model)
            for split, model in zip(splits, models, strict=True)
        )
        self.models = [model for model, _ in found]
        bets = np.ones(shares.shape)
        for (_, test), (_, said) in zip(splits, found, strict=True):
            bets[test] = said
        if not has_bets(self.task.estimator):
            tested = np.flatnonzero(self.folds >= 0)
            self.temperature = fit_temperature(bets[tested], self.task, tested)
            bets[tested] = softmax(self.temperature * bets[tested], axis=1)
        return bets


@dataclass
class InSample:
    """One model of all items, which is asked about them."""

    task: Task
    temperature: float | None = None
    model: Any = None

    def bets(self, shares: FloatArray) -> FloatArray:
        """Bets (n, K) of a model that has seen the items."""
        self.model = self.task.fit(shares, None, self.model)
        rows = np.arange(len(shares))
        bets = asked(self.task, self.model, rows, shares)
        if not has_bets(self.task.estimator):
            self.temperature = fit_temperature(bets, self.task, rows)
            bets = softmax(self.temperature * bets, axis=1)
        return bets


def repeat(task: Task, way: CrossFit | InSample, max_iter: int, tol: float) -> Rounds:
    """From even shares, ask for bets and keep what labels leave of them, until they stay.

    Out of fold, the shares of the round with the best criterion are kept: it tells when a model
    begins to run away from its labels.
    """
    shares = best = normalized_rows(task.contour)
    history: list[float] = []
    for _ in range(max_iter):
        bets = way.bets(shares)
        new, logs = left_by_labels(task.contour, bets, task.is_share)
        history.append(task.criterion(logs))
        moved = 0.5 * float(task.weight @ np.abs(new - shares).sum(axis=1) / task.weight.sum())
        shares = new
        if isinstance(way, InSample) or history[-1] >= max(history):
            best = new
        if moved <= tol:
            return Rounds(best, history, True)
        if isinstance(way, CrossFit) and len(history) - np.argmax(history) > PATIENCE:
            return Rounds(best, history, True)
    return Rounds(best, history, False)
