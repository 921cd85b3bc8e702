"""Learners that people would take instead of the default: hard labels, and settings tuned in folds.

Labels of the peers are the majority vote, Dawid and Skene's most probable class (crowd-kit) and the
consensus of cleanlab; the last two are made if the packages are installed.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from plausible.datasets import CrowdData, majority_vote
from plausible.experiments import crowd_pools
from plausible.experts import Annotations

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Bets = Callable[[FloatArray], FloatArray]

N_FOLDS = 3
RIDGES = (1.0, 0.1, 0.01, 0.001)  # C of scikit-learn
SHRINKAGES = ("auto", 0.1, 0.5)
N_TREES, N_LEAVES, LEAST_LEAF, RATE = 15, 8, 10, 0.2
LEAST = 1e-6  # bet when settings are compared


def padded(bets: FloatArray, known: IntArray, n_classes: int) -> FloatArray:
    """Bets (n, K) on all classes; zero on those that a learner has not met."""
    full = np.zeros((len(bets), n_classes))
    full[:, known] = bets
    return full


def log_loss(bets: FloatArray, y: IntArray, least: float = LEAST) -> float:
    """Mean of minus the log bet on the true class."""
    return float(-np.log(np.clip(bets[np.arange(len(y)), y], least, 1.0)).mean())


def settings_of(learner: str) -> list[Any]:
    """Learners with each of their settings; for boosting the settings are numbers of trees."""
    if learner == "logistic":
        return [LogisticRegression(C=ridge, max_iter=300, tol=1e-3) for ridge in RIDGES]
    return [LinearDiscriminantAnalysis("lsqr", shrinkage) for shrinkage in SHRINKAGES]


def boosting() -> HistGradientBoostingClassifier:
    """Boosted trees, as many as are ever tried."""
    return HistGradientBoostingClassifier(
        learning_rate=RATE,
        max_iter=N_TREES,
        max_leaf_nodes=N_LEAVES,
        min_samples_leaf=LEAST_LEAF,
        random_state=0,
    )


def parts(y: IntArray, seed: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Rows to train and to test on; of folds that leave one class only, none."""
    for train, test in KFold(N_FOLDS, shuffle=True, random_state=seed).split(y):
        if len(np.unique(y[train])) > 1:
            yield train, test


def tuned(learner: str, X: FloatArray, y: IntArray, n_classes: int, seed: int) -> Bets:
    """Bets of a learner, with the setting that has the lowest log loss in folds."""
    scale = StandardScaler().fit(X)
    Z = scale.transform(X)
    if learner == "boosting":
        model = boosted(Z, y, n_classes, seed)
    else:
        losses = np.zeros(len(settings_of(learner)))
        for train, test in parts(y, seed):
            for place, one in enumerate(settings_of(learner)):
                bets = one.fit(Z[train], y[train]).predict_proba(Z[test])
                losses[place] += log_loss(padded(bets, one.classes_, n_classes), y[test])
        model = settings_of(learner)[int(losses.argmin())].fit(Z, y)
    return lambda new: padded(model.predict_proba(scale.transform(new)), model.classes_, n_classes)


def boosted(Z: FloatArray, y: IntArray, n_classes: int, seed: int) -> Any:
    """Boosted trees, as many as have the lowest log loss in folds."""
    losses = np.zeros(N_TREES)
    for train, test in parts(y, seed):
        model = boosting().fit(Z[train], y[train])
        stages = model.staged_predict_proba(Z[test])
        losses += [log_loss(padded(bets, model.classes_, n_classes), y[test]) for bets in stages]
    return boosting().set_params(max_iter=int(losses.argmin()) + 1).fit(Z, y)


def chosen(scores: FloatArray) -> IntArray:
    """The class (n,) with the highest score; -1 where there is none."""
    return np.where(scores.any(axis=1), scores.argmax(axis=1), -1)


def hard_labels(
    answers: Annotations | None, votes: FloatArray, X: FloatArray, seed: int
) -> dict[str, IntArray]:
    """Class (n,) of each item by each way that can be gone; -1 for items without answers."""
    found = {"majority": majority_vote(votes, seed)}
    if answers is None:
        return found
    there = crowd_pools.installed()
    data = CrowdData("", answers, found["majority"], X)
    if there["crowd-kit"]:
        found["Dawid-Skene"] = chosen(crowd_pools.crowd_kit_scores("DawidSkene", data))
    if there["cleanlab"]:
        found["cleanlab"] = chosen(crowd_pools.cleanlab_scores("consensus", data))
    return found
