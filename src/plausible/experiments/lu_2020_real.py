"""Stochastic supervision by other classifiers: figure 6 of Lu et al. (2020).

A classifier that was trained on true labels plays the expert: it gives log odds, and models learn
the classes from features and log odds alone.

=========  =======================  ====================================  ======================
set        classes                  expert                                tests
=========  =======================  ====================================  ======================
mnist_3_5  digits 3 and 5           logistic regression on 784 pixels     20 splits, 70 % of each
                                                                          class for training
cifar10    6 kinds of animals and   logistic regression on 16 x 16 grays  20 draws of 1000 of the
           4 of transport                                                 official test images
emnist     10 digits, 26 capitals,  Gaussian naive Bayes on 784 pixels    20 draws of 1000 of 3760
           11 lower case letters    with white noise                      images set aside
=========  =======================  ====================================  ======================

As in the paper, the last two have one training set, so that their boxes show the variation of test
items only. What the paper leaves open, and how it is here: experts assess training items by
five-fold cross-validation within the training part, and test items after learning from all of it;
log odds are not clipped; features are the first 20 principal components of the pixels, found on the
training part; classes are found from features alone, and from features and log odds; EM runs until
a step gains less than 1e-5 for each item, and for generalization 4 also for a single step;
Titterington's model takes three classes one against the others.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

from plausible.datasets import IMAGE_NAMES, ImageData, load_images
from plausible.experiments.common import Progress, describe, seed_of, silent
from plausible.experiments.comparison import Results
from plausible.experiments.lu_2020_real_report import (
    MODELS,
    N_COMPONENTS,
    SOURCES,
    draw,
    judge,
    tables,
)
from plausible.models import (
    EmptyClassWarning,
    StochasticSupervisionClassifier,
    SupervisionWarning,
)

__all__ = ["draw", "run", "tables"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Answers = dict[str, IntArray]
Learned = tuple[Answers, bool]

RIDGE = 0.01  # C of the logistic regression on grays from 0 to 1
NOISE = 0.1  # of the pixels of "emnist"
PER_KIND = 1200
N_TEST = 1000
QUICK_ROWS = 3000


@dataclass(frozen=True)
class Task:
    """How a set is used."""

    bayes: bool
    splits: bool
    counts: tuple[int, ...]
    other_components: tuple[int, ...] = (10, 50)


TASKS = {
    "mnist_3_5": Task(bayes=False, splits=True, counts=(2, 2)),
    "cifar10": Task(bayes=False, splits=False, counts=(6, 4)),
    "emnist": Task(bayes=True, splits=False, counts=(10, 26, 11), other_components=(10, 30)),
}


@dataclass(frozen=True)
class Assessed:
    """Features, the expert's log-probabilities (n, J) up to a constant, and classes."""

    X: FloatArray
    logs: FloatArray
    y: IntArray

    @property
    def log_odds(self) -> FloatArray:
        """Against the last class."""
        return self.logs[:, :-1] - self.logs[:, -1:]


def assess(
    data: ImageData, pixels: NDArray[np.float32], train: IntArray, test: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Log-probabilities up to a constant for training and test items."""
    expert: Any = LogisticRegression(C=RIDGE, max_iter=1000)
    method = "decision_function"
    if TASKS[data.name].bayes:
        expert, method = GaussianNB(), "predict_log_proba"
    crossed = cross_val_predict(expert, pixels[train], data.y[train], cv=5, method=method)
    learned = getattr(expert.fit(pixels[train], data.y[train]), method)(pixels[test])
    if not TASKS[data.name].bayes:  # positive for the second class
        crossed, learned = (
            np.column_stack([-one, np.zeros_like(one)]) for one in (crossed, learned)
        )
    return crossed.astype(np.float64), learned.astype(np.float64)


def prepare(
    data: ImageData, train: IntArray, test: IntArray, sizes: Sequence[int], seed: int
) -> dict[int, tuple[Assessed, Assessed]]:
    """Training and test items for each number of principal components."""
    pixels = data.X
    if TASKS[data.name].bayes:  # margins are the same in all images
        noise = np.random.default_rng(seed).standard_normal(pixels.shape, dtype=np.float32)
        pixels = pixels + NOISE * noise
    logs, test_logs = assess(data, pixels, train, test)
    reduce = PCA(max(sizes), random_state=seed).fit(pixels[train])
    X, X_test = (reduce.transform(pixels[rows]).astype(np.float64) for rows in (train, test))
    return {
        k: (
            Assessed(X[:, :k], logs, data.y[train]),
            Assessed(X_test[:, :k], test_logs, data.y[test]),
        )
        for k in sizes
    }


def fit_quietly(
    model: StochasticSupervisionClassifier, X: FloatArray, log_odds: FloatArray
) -> tuple[StochasticSupervisionClassifier, bool]:
    """A fitted model, and whether it warned that its groups may not be the classes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, log_odds)
    kinds = (SupervisionWarning, EmptyClassWarning)
    return model, any(issubclass(one.category, kinds) for one in caught)


def answers_of(
    name: str, counts: Sequence[int], train: Assessed, test: Assessed, seed: int
) -> Learned:
    """Classes of test items by source, and whether the fit warned."""
    options: dict[str, Any] = {"scale": "log_odds", "tol": 1e-5, "random_state": seed}
    n_classes = train.logs.shape[1]
    if name == "titterington" and n_classes > 2:
        return one_against_others(train, test, options)
    if name == "g4 once":
        options |= {"max_iter": 1, "accelerate": False}
    model_name = name.removesuffix(" once")
    n_components: Any = list(counts) if model_name in ("g4", "g34") else 1
    made = StochasticSupervisionClassifier(model_name, n_components=n_components, **options)
    model, warned = fit_quietly(made, train.X, train.log_odds)
    found = {
        "x": model.predict(test.X),
        "x and w": model.predict(test.X, assessments=test.log_odds),
    }
    return found, warned


def one_against_others(train: Assessed, test: Assessed, options: dict[str, Any]) -> Learned:
    """Titterington's model for each class against all others; the most probable one wins."""
    odds: dict[str, list[FloatArray]] = {source: [] for source in SOURCES}
    any_warned = False
    for j in range(train.logs.shape[1]):
        w, w_test = (against_others(one.logs, j) for one in (train, test))
        made = StochasticSupervisionClassifier("titterington", **options)
        model, warned = fit_quietly(made, train.X, w)
        any_warned |= warned
        for source, given in (("x", None), ("x and w", w_test)):
            logs = model.predict_log_proba(test.X, assessments=given)
            odds[source].append(logs[:, 0] - logs[:, 1])  # chances would round to ties at 1
    return {source: np.argmax(one, axis=0) for source, one in odds.items()}, any_warned


def against_others(logs: FloatArray, j: int) -> FloatArray:
    """Log odds (n,) of a class against all others together."""
    return np.asarray(logs[:, j] - logsumexp(np.delete(logs, j, axis=1), axis=1))


def rounds_of(
    data: ImageData, n_rounds: int, quick: bool, seed: int
) -> list[tuple[IntArray, list[IntArray]]]:
    """Training rows, and for each test its rows."""
    random = np.random.default_rng(seed)
    if TASKS[data.name].splits:
        rounds = []
        for _ in range(n_rounds):
            order = random.permutation(len(data.y))[: QUICK_ROWS if quick else None]
            rows = [order[data.y[order] == j] for j in range(len(data.classes))]
            train = np.concatenate([one[: round(0.7 * len(one))] for one in rows])
            test = np.concatenate([one[round(0.7 * len(one)) :] for one in rows])
            rounds.append((train, [test]))
        return rounds
    train = random.permutation(np.flatnonzero(~data.is_test))
    if data.name == "emnist":
        kinds = np.unique(data.kinds)
        train = np.concatenate([train[data.kinds[train] == one][:PER_KIND] for one in kinds])
    if quick:
        train = random.permutation(train)[:QUICK_ROWS]
    rest = np.flatnonzero(data.is_test)
    tests = [random.permutation(rest)[:N_TEST] for _ in range(n_rounds)]
    return [(train, tests)]


def compare(
    data: ImageData, n_rounds: int, quick: bool, seed: int, progress: Progress
) -> dict[str, Any]:
    """Accuracies of all models and of the expert, and by the number of components in round one."""
    row: dict[str, Any] = {"set": data.name, "classes": list(data.classes)}
    scores: list[dict[str, Any]] = []
    warned = dict.fromkeys(MODELS, 0)
    rounds = rounds_of(data, n_rounds, quick, seed)
    for number, (train_rows, tests) in enumerate(rounds):
        sizes = (N_COMPONENTS, *(TASKS[data.name].other_components if number == 0 else ()))
        test_rows = np.unique(np.concatenate(tests))
        own_seed = seed_of(seed, number)
        made = prepare(data, train_rows, test_rows, sizes, own_seed)
        learned = {k: learn_all(data.name, *both, own_seed) for k, both in made.items()}
        if number == 0:
            row["components"] = {str(k): by_components(learned[k], *made[k]) for k in sizes}
        train, test = made[N_COMPONENTS]
        common = int(np.bincount(train.y).argmax())
        places = [np.searchsorted(test_rows, rows) for rows in tests]
        scores += [accuracies(learned[N_COMPONENTS], test, one, common) for one in places]
        for name in MODELS:
            warned[name] += learned[N_COMPONENTS][name][1]
        shown = ", ".join(f"{name} {scores[-1][name]['x']:.3f}" for name in MODELS)
        progress(f"{data.name}, round {number + 1} of {len(rounds)}: {shown}")
    row |= {"train": len(train.y), "test": len(tests[0]), "fits": len(rounds), "warned": warned}
    row["accuracy"] = {
        name: {source: [one[name][source] for one in scores] for source in SOURCES}
        for name in MODELS
    }
    return row | {rival: [one[rival] for one in scores] for rival in ("expert", "largest")}


def accuracies(
    answers: dict[str, Learned], test: Assessed, places: IntArray, common: int
) -> dict[str, Any]:
    """Accuracy on some test items: of each model, of the expert, and of the commonest class."""
    y = test.y[places]
    found: dict[str, Any] = {
        name: {source: float((one[source][places] == y).mean()) for source in SOURCES}
        for name, (one, _) in answers.items()
    }
    found["expert"] = float((test.logs[places].argmax(axis=1) == y).mean())
    found["largest"] = float((y == common).mean())
    return found


def learn_all(name: str, train: Assessed, test: Assessed, seed: int) -> dict[str, Learned]:
    """Answers of every model."""
    counts = TASKS[name].counts
    return {model: answers_of(model, counts, train, test, seed) for model in MODELS}


def by_components(answers: dict[str, Learned], train: Assessed, test: Assessed) -> dict[str, Any]:
    """Accuracy on all test items of the first round, warnings, and adjusted R2 of each class."""
    return {
        "accuracy": {
            name: {source: float((found[source] == test.y).mean()) for source in SOURCES}
            for name, (found, _) in answers.items()
        },
        "warned": [name for name, (_, warned) in answers.items() if warned],
        "adjusted_r2": [
            adjusted_r2(train.X[train.y == j], train.log_odds[train.y == j])
            for j in range(train.logs.shape[1])
        ],
    }


def adjusted_r2(X: FloatArray, log_odds: FloatArray) -> float:
    """Share of the variance of log odds that features explain, mean over log odds."""
    n, d = X.shape
    centered, target = X - X.mean(axis=0), log_odds - log_odds.mean(axis=0)
    left = target - centered @ np.linalg.lstsq(centered, target, rcond=None)[0]
    share = (left**2).sum(axis=0) / (target**2).sum(axis=0)
    return float(1.0 - share.mean() * (n - 1) / (n - d - 1))


def run(
    quick: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    *,
    sets: Sequence[str] = IMAGE_NAMES,
    rounds: int | None = None,
) -> Results:
    """Accuracies on three sets of images whose labels nobody tells.

    Parameters
    ----------
    quick : bool
        3000 images for training and 3 tests, instead of all and 20.
    seed : int
    progress : function of a message
    sets : sequence of names that `load_images` knows
    rounds : int
        Another number of tests.
    """
    loaded = [load_images(name) for name in sets]  # all, so that a missing set is known at once
    rounds = rounds or (3 if quick else 20)
    settings = {"rounds": rounds, "components": N_COMPONENTS, "ridge": RIDGE, "noise": NOISE}
    results = describe("lu_2020_real", seed, quick, settings)
    results["sets"] = [compare(data, rounds, quick, seed, progress) for data in loaded]
    results["claims"] = [one for row in results["sets"] for one in judge(row)]
    return results
