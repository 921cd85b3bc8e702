"""Answers of a crowd with features: what classifiers learn from each form of the answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from plausible.datasets import CrowdData, majority_vote
from plausible.experiments.common import Progress, bootstrap, seed_of
from plausible.experiments.crowd_pools import CONSTANT, said
from plausible.experiments.kept import NOTHING, Kept
from plausible.experts import Annotations, JointAnnotatorClassifier, fit_reliability
from plausible.labels import Labels
from plausible.metrics import soft_accuracy
from plausible.models import (
    DiscriminantClassifier,
    GaussianMixtureClassifier,
    PartialLogisticRegression,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

POOLS = ("pool, doubt 0.3", "pool, fitted", "pool, full")
JOINT = {"joint, one coin": "one_coin", "joint, full": "full"}
FORMS = ("majority", *POOLS, "fitted, hard", "Dawid-Skene", *JOINT, "truth")
HARDENED = {
    "pool, doubt 0.3": "majority",
    "pool, fitted": "fitted, hard",
    "pool, full": "Dawid-Skene",
}
CHOICES = ("likelihood", "accuracy")
N_FOLDS, N_DRAWS = 3, 3


@dataclass(frozen=True)
class Task:
    """Standardized features, labels of the training rows in each form, classes of the test rows."""

    data: CrowdData
    X: FloatArray
    X_test: FloatArray
    labels: dict[str, list[Labels]]
    seed: int

    @property
    def right(self) -> NDArray[Any]:
        """Names of the true classes of the test rows."""
        return self.data.annotations.classes[self.data.y_test]


def prepare(data: CrowdData, seed: int) -> Task:
    """Standardize features and make labels of all forms."""
    assert data.X is not None
    scale = StandardScaler().fit(data.X)
    X, X_test = scale.transform(data.X), scale.transform(data.X_test)
    return Task(data, X, X_test, label_sets(data, seed), seed)


def label_sets(data: CrowdData, seed: int) -> dict[str, list[Labels]]:
    """Labels of the training rows in each form that is not joint; several draws of ties."""
    answers = data.annotations
    classes = answers.classes.tolist()
    votes = answers.votes()
    named = np.append(answers.classes, "")  # -1, the last one, is "nobody answered"

    def crisp(scores: FloatArray, draw: int = 0) -> Labels:
        chosen = majority_vote(scores * votes.any(axis=1, keepdims=True), seed_of(seed, draw))
        return Labels.from_crisp(named[chosen], classes, missing="")

    fitted = answers.pool(doubt="fit")
    return {
        "majority": [crisp(votes, draw) for draw in range(N_DRAWS)],
        "pool, doubt 0.3": [answers.pool(doubt=CONSTANT)],
        "pool, fitted": [fitted],
        "pool, full": [answers.pool(doubt="fit", model="full")],
        "fitted, hard": [crisp(fitted.scaled())],
        "Dawid-Skene": [crisp(fit_reliability(answers, "full").posterior)],
        "truth": [Labels.from_crisp(named[data.y], classes)],
    }


# Logistic regression, and the joint classifier around it.


def logistic(ridge: float) -> PartialLogisticRegression:
    """The learner; its accuracy has settled long before the last digits of its criterion."""
    return PartialLogisticRegression(alpha=ridge, tol=1e-3, random_state=0)


def fit_joint(X: NDArray[Any], answers: Annotations, form: str, ridge: float) -> Any:
    """Classifier and annotators together."""
    return JointAnnotatorClassifier(logistic(ridge), JOINT[form], tol=1e-3).fit(X, answers)


def evidence_of(answers: Annotations, confusion: FloatArray) -> FloatArray:
    """Log likelihood (n, K) of hard answers about each item, by class."""
    logs = np.log(np.maximum(confusion, 1e-300))[answers.annotator, :, said(answers)]
    found = np.zeros((len(answers.items), answers.n_classes))
    np.add.at(found, answers.item, logs)
    return found


def held_out_scores(
    X: NDArray[Any], given: Labels | Annotations, form: str, ridge: float, fold: IntArray
) -> FloatArray:
    """Log-likelihood and soft accuracy (choices,) of what is held out; they never see the truth."""
    scores = np.zeros(len(CHOICES))
    for number in range(N_FOLDS):
        out = fold == number
        if isinstance(given, Annotations):
            model = fit_joint(X, given.select(~out[given.item]), form, ridge)
            logs = evidence_of(given, model.reliability_.confusion)[out]
        else:
            model = logistic(ridge).fit(X[~out], given[~out])
            with np.errstate(divide="ignore"):
                logs = np.log(given[out].scaled())
        order = np.argsort(np.argsort(given.classes))  # models sort their classes
        chances = np.maximum(model.predict_proba(X[out])[:, order], 1e-15)
        top = logs.max(axis=1, keepdims=True)
        contour = np.exp(logs - top)
        held = Labels(contour, given.classes.tolist())
        scores[0] += float((np.log((contour * chances).sum(axis=1)) + top[:, 0]).sum())
        scores[1] += out.sum() * soft_accuracy(held, given.classes[chances.argmax(axis=1)])
    return scores / len(X)


def learn_logistic(
    X: NDArray[Any],
    X_test: NDArray[Any],
    given: Labels | Annotations,
    form: str,
    ridges: Sequence[float],
    fold: IntArray,
) -> tuple[list[NDArray[Any]], IntArray]:
    """Answers for the test rows at each ridge, and the best ridges in the folds (choices,)."""
    found, scores = [], []
    for ridge in ridges:
        if isinstance(given, Annotations):
            model = fit_joint(X, given, form, ridge)
        else:
            model = logistic(ridge).fit(X, given)
        found.append(model.predict(X_test))
        scores.append(held_out_scores(X, given, form, ridge, fold))
    return found, len(ridges) - 1 - np.argmax(scores[::-1], axis=0)


def learn_form(
    task: Task, form: str, ridges: Sequence[float], X: NDArray[Any], X_test: NDArray[Any]
) -> dict[str, Any]:
    """Which answers (draws, ridges, rows) of a form are right; best ridges (draws, choices)."""
    fold = np.random.default_rng(task.seed).permutation(np.arange(len(X)) % N_FOLDS)
    draws = task.labels.get(form, [task.data.annotations])
    runs = [learn_logistic(X, X_test, given, form, ridges, fold) for given in draws]
    hits = [[(found == task.right).astype(int).tolist() for found in each] for each, _ in runs]
    return {"hits": hits, "best": [best.tolist() for _, best in runs]}


def compare_logistic(
    task: Task, ridges: Sequence[float], progress: Progress, kept: Kept = NOTHING
) -> list[dict[str, Any]]:
    """Accuracy of logistic regression from every form, by each choice of the ridge."""
    name = task.data.name
    X, X_test = task.X.astype(np.float32), task.X_test.astype(np.float32)
    cells: list[dict[str, Any]] = [{} for _ in CHOICES]
    correct: list[dict[str, FloatArray]] = [{} for _ in CHOICES]
    for form in FORMS:
        learn = partial(learn_form, task, form, ridges, X, X_test)
        found = kept.once(f"{name}, logistic, {form}", learn)
        hits = np.array(found["hits"], dtype=bool)
        for choice in range(len(CHOICES)):
            best = [chosen[choice] for chosen in found["best"]]
            correct[choice][form] = hits[np.arange(len(hits)), best].mean(axis=0)
            cells[choice][form] = {
                "by_ridge": hits.mean(axis=(0, 2)).tolist(),
                "ridges": [ridges[place] for place in best],
            }
        shown = ", ".join(f"{value:.4f}" for value in hits.mean(axis=(0, 2)))
        progress(f"{name}, logistic, {form}: {shown}; {[one[form]['ridges'] for one in cells]}")
    return [
        row_of(name, f"logistic, by {choice}", correct[number], task.seed, cells[number])
        for number, choice in enumerate(CHOICES)
    ]


# Gaussian classifiers, without any setting that is chosen by the data.


def rows_bear(n_rows: int, rarest: int) -> int:
    """Features that a common covariance can have: one for every ten rows."""
    return n_rows // 10


def rarest_class_bears(n_rows: int, rarest: int) -> int:
    """Features that a covariance of each class can have: one for five rows of the rarest."""
    return max(2, rarest // 5)


MOST_STEPS = 10_000
GAUSSIAN: dict[str, tuple[Callable[[int, int], int], ClassifierMixin]] = {
    "discriminant": (rows_bear, DiscriminantClassifier(max_iter=MOST_STEPS, unlabeled_weight=1)),
    "mixture, tied": (
        rows_bear,
        GaussianMixtureClassifier(
            "tied", n_components=2, max_iter=MOST_STEPS, random_state=0, unlabeled_weight=1
        ),
    ),
    "mixture, full": (
        rarest_class_bears,
        GaussianMixtureClassifier(  # to 1e-6 it takes twice as long, for the third digit
            "full",
            prior="weak",
            tol=1e-4,
            max_iter=MOST_STEPS,
            random_state=0,
            unlabeled_weight=1,
        ),
    ),
}


def compare_gaussian(
    task: Task, model: str, progress: Progress, kept: Kept = NOTHING
) -> dict[str, Any]:
    """Accuracy of a Gaussian classifier from every form that is not joint."""
    n_features, classifier = GAUSSIAN[model]
    n_rows, most = task.X.shape
    votes = task.data.annotations.votes()
    counts = np.bincount(votes[votes.any(axis=1)].argmax(axis=1))
    n_kept = min(most, n_features(n_rows, int(counts[counts > 0].min())))
    reduce = PCA(n_kept, random_state=0)
    Z, Z_test = reduce.fit_transform(task.X), reduce.transform(task.X_test)
    correct = {}

    def learn(draws: list[Labels]) -> list[float]:
        fits = (clone(classifier).fit(Z, given) for given in draws)
        right: list[float] = np.mean([f.predict(Z_test) == task.right for f in fits], 0).tolist()
        return right

    for form, draws in task.labels.items():
        found = kept.once(f"{task.data.name}, {model}, {form}", partial(learn, draws))
        correct[form] = np.array(found)
        progress(f"{task.data.name}, {model}, {form}: {correct[form].mean():.4f}")
    return row_of(task.data.name, model, correct, task.seed)


# All of them.


def row_of(
    name: str,
    model: str,
    correct: dict[str, FloatArray],
    seed: int,
    ridges: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Accuracies, gains over the majority vote, and over the pool hardened, ready for JSON."""
    base = correct["majority"]
    return {
        "set": name,
        "model": model,
        "accuracy": {form: float(one.mean()) for form, one in correct.items()},
        "gain": {
            form: bootstrap(one - base, seed) for form, one in correct.items() if form != "majority"
        },
        "softness": {
            soft: bootstrap(correct[soft] - correct[hard], seed) for soft, hard in HARDENED.items()
        },
        "ridges": ridges or {},
    }


def compare_learners(
    data: CrowdData, ridges: Sequence[float], seed: int, progress: Progress, kept: Kept = NOTHING
) -> list[dict[str, Any]]:
    """Every classifier on one set."""
    task = prepare(data, seed)
    rows = compare_logistic(task, ridges, progress, kept)
    return rows + [compare_gaussian(task, model, progress, kept) for model in GAUSSIAN]
