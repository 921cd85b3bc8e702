"""Answers of a crowd alone: how often each way to combine them names the true class.

crowd-kit and cleanlab are run beside ours if they are installed; they are no part of this package.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plausible.datasets import CrowdData, majority_vote
from plausible.experiments.common import Progress
from plausible.experts import Annotations, fit_reliability

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CONSTANT = 0.3
OURS = ("majority", "pool, doubt 0.3", "pool, fitted", "class", "full")
PEERS = {
    "crowd-kit": ("MajorityVote", "DawidSkene", "GLAD", "MACE"),
    "cleanlab": ("consensus",),
}
SLOW = ("GLAD", "MACE")  # left out of quick runs
MODULES = {"crowd-kit": "crowdkit", "cleanlab": "cleanlab"}


def credit(scores: FloatArray, y: IntArray) -> float:
    """Share of items whose highest score is that of the true class; ties count their share."""
    top = scores >= scores.max(axis=1, keepdims=True) - 1e-9
    return float((top[np.arange(len(y)), y] / top.sum(axis=1)).mean())


def our_scores(answers: Annotations) -> dict[str, FloatArray]:
    """Scores (n, K) of the classes by each of our ways."""
    return {
        "majority": answers.votes(),
        "pool, doubt 0.3": answers.pool(doubt=CONSTANT).scaled(),
        "pool, fitted": answers.pool(doubt="fit").scaled(),
        "class": fit_reliability(answers, "class").posterior,
        "full": fit_reliability(answers, "full").posterior,
    }


def installed() -> dict[str, bool]:
    """Which of the other packages are there."""
    return {name: find_spec(module) is not None for name, module in MODULES.items()}


def said(answers: Annotations) -> IntArray:
    """Class (A,) of each answer; all answers are hard."""
    return answers.facts.chosen[answers.statement]


def crowd_kit_class(method: str, data: CrowdData) -> IntArray:
    """Class (n,) of each item by crowd-kit; -1 for items without answers."""
    import pandas as pd
    from crowdkit import aggregation

    answers = data.annotations
    table = pd.DataFrame(
        {"task": answers.item, "worker": answers.annotator, "label": said(answers)}
    )
    found = getattr(aggregation, method)().fit_predict(table)
    return found.reindex(range(len(data.y)), fill_value=-1).to_numpy().astype(np.int64)


def cleanlab_class(method: str, data: CrowdData) -> IntArray:
    """Class (n,) of each item by cleanlab; -1 for items without answers."""
    from cleanlab import multiannotator

    answers = data.annotations
    table = np.full((len(data.y), len(answers.annotators)), np.nan)
    table[answers.item, answers.annotator] = said(answers)
    told = ~np.isnan(table).all(axis=1)
    heard = ~np.isnan(table[told]).all(axis=0)
    table = table[told][:, heard]
    chosen = np.full(len(data.y), -1)
    if data.X is None:
        chosen[told] = multiannotator.get_majority_vote_label(table, verbose=False)
        return chosen
    learner = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    votes = majority_vote(answers.votes()[told], 0)
    known = cross_val_predict(learner, data.X[told], votes, cv=5, method="predict_proba")
    chances = np.zeros((len(known), answers.n_classes))
    chances[:, np.unique(votes)] = known
    found = multiannotator.get_label_quality_multiannotator(
        table,
        chances,
        verbose=False,
        return_detailed_quality=False,
        return_annotator_stats=False,
    )
    chosen[told] = found["label_quality"]["consensus_label"]
    return chosen


CHOOSERS: dict[str, Callable[[str, CrowdData], IntArray]] = {
    "crowd-kit": crowd_kit_class,
    "cleanlab": cleanlab_class,
}


def compare_pools(data: CrowdData, progress: Progress, quick: bool = False) -> dict[str, Any]:
    """Accuracy of all methods on the answers of one set."""
    answers = data.annotations
    accuracy = {name: credit(one, data.y) for name, one in our_scores(answers).items()}
    there = installed()
    for package, methods in PEERS.items():
        for method in methods:
            if not there[package] or (quick and method in SLOW):
                continue
            right = CHOOSERS[package](method, data) == data.y
            accuracy[f"{package} {method}"] = float(right.mean())
    shown = ", ".join(f"{name} {value:.3f}" for name, value in accuracy.items())
    progress(f"{data.name}: {shown}")
    return {
        "set": data.name,
        "items": len(data.y),
        "annotators": len(answers.annotators),
        "answers": len(answers),
        "classes": answers.n_classes,
        "right": float((said(answers) == data.y[answers.item]).mean()),
        "accuracy": accuracy,
    }
