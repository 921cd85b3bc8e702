"""Answers of a crowd alone: how right, and how rightly sure, each way to combine them is.

crowd-kit and cleanlab are run beside ours if they are installed; they are no part of this package.
"""

import signal
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plausible.datasets import CrowdData, majority_vote
from plausible.experiments.common import Progress, bootstrap
from plausible.experiments.kept import NOTHING, Kept
from plausible.experts import Annotations, fit_reliability

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CONSTANT = 0.3
OURS: dict[str, Callable[[Annotations], FloatArray]] = {
    "majority": lambda answers: answers.votes(),
    "pool": lambda answers: answers.pool().scaled(),
    "pool, doubt 0.3": lambda answers: answers.pool(doubt=CONSTANT).scaled(),
    "pool, fitted": lambda answers: answers.pool(doubt="fit").scaled(),
    "class": lambda answers: fit_reliability(answers, "class").posterior,
    "full": lambda answers: fit_reliability(answers, "full").posterior,
}
PEERS = {
    "crowd-kit": ("DawidSkene", "OneCoinDawidSkene", "GLAD", "Wawa", "MMSR"),
    "cleanlab": ("consensus",),
}
SLOW = ("GLAD", "MMSR")  # left out of quick runs, and stopped after some time in others
SECONDS = 300.0  # of computing that each of them may take on a set
ONLY_CLASSES = ("crowd-kit MMSR", "cleanlab consensus")  # which say no probabilities
MODULES = {"crowd-kit": "crowdkit", "cleanlab": "cleanlab"}
FLOOR = 1e-6  # of probabilities in log loss, or a sure error would be infinite
UNENDED = "did not end in time"
N_BINS = 10  # of confidence, in the calibration error


def credit(scores: FloatArray, y: IntArray) -> FloatArray:
    """Whether (n,) the highest score is that of the true class; ties count their share."""
    top = scores >= scores.max(axis=1, keepdims=True) - 1e-9
    return np.asarray(top[np.arange(len(y)), y] / top.sum(axis=1))


def losses(chances: FloatArray, y: IntArray) -> FloatArray:
    """Log loss (n,) of each item."""
    return np.asarray(-np.log(np.maximum(chances[np.arange(len(y)), y], FLOOR)))


def calibration_error(chances: FloatArray, y: IntArray) -> float:
    """Mean gap between what is said of the first class and how often it is right, by bins."""
    said_of, right = chances.max(axis=1), credit(chances, y)
    place = np.minimum((said_of * N_BINS).astype(np.int64), N_BINS - 1)
    return float(np.abs(np.bincount(place, said_of - right)).sum() / len(y))


def our_scores(method: str, data: CrowdData) -> FloatArray:
    """Probabilities (n, K) of the classes by one of our ways."""
    return OURS[method](data.annotations)


def as_chances(scores: FloatArray) -> FloatArray:
    """Rows (n, K) that sum to one; even where there is nothing."""
    total = scores.sum(axis=1, keepdims=True)
    even = np.full(scores.shape, 1 / scores.shape[1])
    return np.divide(scores, total, out=even, where=total > 0)


def installed() -> dict[str, bool]:
    """Which of the other packages are there."""
    return {name: find_spec(module) is not None for name, module in MODULES.items()}


def said(answers: Annotations) -> IntArray:
    """Class (A,) of each answer; all answers are hard."""
    return answers.facts.chosen[answers.statement]


def crowd_kit_scores(method: str, data: CrowdData) -> FloatArray:
    """Probabilities (n, K) by crowd-kit, or the class that it names; zeros without answers.

    Its Wawa weighs votes by the skills that it fits; the votes are added up here, as its own way
    to do so fails with the newest scikit-learn.
    """
    import pandas as pd
    from crowdkit import aggregation

    answers = data.annotations
    n_items, n_classes = len(data.y), answers.n_classes
    table = pd.DataFrame(
        {"task": answers.item, "worker": answers.annotator, "label": said(answers)}
    )
    model = getattr(aggregation, method)()
    if method == "Wawa":
        skills = model.fit(table).skills_.reindex(range(len(answers.annotators)), fill_value=0)
        weight = skills.to_numpy()[answers.annotator]
        cell = answers.item * n_classes + said(answers)
        votes = np.bincount(cell, weight, n_items * n_classes).astype(np.float64)
        return votes.reshape(n_items, n_classes)
    if method == "MMSR":
        found = model.fit_predict(table).reindex(range(n_items), fill_value=-1).to_numpy()
        return named(found.astype(np.int64), n_classes)
    chances = model.fit_predict_proba(table)
    return np.asarray(chances.reindex(index=range(n_items), columns=range(n_classes)).fillna(0.0))


def named(chosen: IntArray, n_classes: int) -> FloatArray:
    """Ones (n, K) for the classes that are named; zeros for -1."""
    return np.eye(n_classes + 1)[chosen][:, :n_classes]


def cleanlab_scores(method: str, data: CrowdData) -> FloatArray:
    """The class (n, K) that cleanlab names; zeros for items without answers."""
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
        return named(chosen, answers.n_classes)
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
    return named(chosen, answers.n_classes)


SCORERS: dict[str, Callable[[str, CrowdData], FloatArray]] = {
    "crowd-kit": crowd_kit_scores,
    "cleanlab": cleanlab_scores,
}


def all_scores(
    data: CrowdData, quick: bool, seconds: float, kept: Kept = NOTHING
) -> tuple[dict[str, FloatArray], list[str], dict[str, str]]:
    """Probabilities (n, K) by all methods, who did not end within `seconds`, and who failed."""
    found, unended, failed = {}, [], {}
    for name, find in contestants(data, quick, seconds):
        scores = kept.once(f"{data.name}, {name}", partial(_as_list, find, name in OURS))
        if scores == UNENDED:
            unended.append(name)
        elif isinstance(scores, str):
            failed[name] = scores
        else:
            found[name] = as_chances(np.array(scores))
    return found, unended, failed


def contestants(
    data: CrowdData, quick: bool, seconds: float
) -> list[tuple[str, Callable[[], FloatArray | None]]]:
    """Names of methods, and what finds their scores; None if it took too long."""
    there = installed()
    found: list[tuple[str, Callable[[], FloatArray | None]]] = [
        (name, partial(our_scores, name, data)) for name in OURS
    ]
    for package, methods in PEERS.items():
        for method in methods:
            if not there[package] or (quick and method in SLOW):
                continue
            find: Callable[[], FloatArray | None] = partial(SCORERS[package], method, data)
            if method in SLOW:
                alone = method, without_features(data)
                find = partial(ended, SCORERS[package], alone, seconds)
            found.append((f"{package} {method}", find))
    return found


def _as_list(find: Callable[[], FloatArray | None], is_ours: bool) -> Any:
    """Scores as JSON has them; the error of another package, which is a finding as well."""
    try:
        scores = find()
    except Exception as error:
        if is_ours:
            raise
        return f"{type(error).__name__}: {error}"
    return UNENDED if scores is None else scores.tolist()


def without_features(data: CrowdData) -> CrowdData:
    """The answers alone, which are quickly handed over."""
    return replace(data, X=None, X_test=None, y_test=None)


def ended(function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float) -> Any:
    """What a function returns in a process of its own; None if it computes longer than this.

    Time is that of the processor, so that a busy machine does not stop anybody.
    """
    context = get_context("spawn")
    mine, theirs = context.Pipe(duplex=False)
    task = theirs, function, arguments, seconds
    process = context.Process(target=_send, args=task, daemon=True)
    process.start()
    theirs.close()
    try:
        found = mine.recv()
    except EOFError:
        process.join()
        if process.exitcode == -getattr(signal, "SIGXCPU", 0):
            return None
        raise RuntimeError(f"{function} ended without a result") from None
    finally:
        process.kill()
        process.join()
    if isinstance(found, Exception):
        raise found
    return found


def _send(
    pipe: Any, function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float
) -> None:
    try:
        if find_spec("resource") is not None:  # not on Windows, where it may take its time
            import resource

            spent = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
            resource.setrlimit(resource.RLIMIT_CPU, (int(np.ceil(spent + seconds)), -1))
        pipe.send(function(*arguments))
    except Exception as error:  # told to whoever waits
        pipe.send(error)


def coverage(data: CrowdData) -> tuple[int, int]:
    """For how many annotators the 95 % interval holds the share that is right, and of how many."""
    answers = data.annotations
    found = answers.reliability()
    right = said(answers) == data.y[answers.item]
    n_people = len(answers.annotators)
    count = np.bincount(answers.annotator, minlength=n_people)
    share = np.bincount(answers.annotator, right, n_people) / np.maximum(count, 1)
    holds = (found.low <= share + 1e-12) & (share <= found.high + 1e-12) & (count > 0)
    return int(holds.sum()), int((count > 0).sum())


def compare_pools(
    data: CrowdData,
    progress: Progress,
    quick: bool = False,
    seed: int = 0,
    seconds: float = SECONDS,
    kept: Kept = NOTHING,
) -> dict[str, Any]:
    """Accuracy, log loss and calibration error of all methods on the answers of one set."""
    answers, y = data.annotations, data.y
    scores, unended, failed = all_scores(data, quick, seconds, kept)
    accuracy = {name: float(credit(one, y).mean()) for name, one in scores.items()}
    likely = {name: one for name, one in scores.items() if name not in ONLY_CLASSES}
    loss = {name: losses(one, y) for name, one in likely.items()}
    right = credit(scores["pool"], y)
    shown = ", ".join(f"{name} {value:.3f}" for name, value in accuracy.items())
    progress(f"{data.name}: {shown}")
    held, people = coverage(data)
    return {
        "set": data.name,
        "items": len(y),
        "annotators": len(answers.annotators),
        "answers": len(answers),
        "classes": answers.n_classes,
        "right": float((said(answers) == y[answers.item]).mean()),
        "accuracy": accuracy,
        "unended": dict.fromkeys(unended, seconds),
        "failed": failed,
        "log_loss": {name: bootstrap(one, seed) for name, one in loss.items()},
        "ece": {name: calibration_error(one, y) for name, one in likely.items()},
        "gain": {
            name: bootstrap(right - credit(one, y), seed)
            for name, one in scores.items()
            if name != "pool"
        },
        "less_loss": {
            name: bootstrap(one - loss["pool"], seed)
            for name, one in loss.items()
            if name != "pool"
        },
        "intervals_hold": held,
        "intervals": people,
    }
