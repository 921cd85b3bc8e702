"""Belief labels of real people against hardened ones, for rules that learn from mass functions.

=========  ========================================================================================
belief     what people said, each answer doubted as `estimate_doubt` finds it from their agreement,
           combined by Dempster's rule ("cifar10s": with the degrees that people gave)
hardened   the most frequent answer, ties broken at random, for the same rule
peer       the same hardened labels for scikit-learn's rule of the same kind
truth      the true classes for the same rule, where they are known
=========  ========================================================================================

Each set is divided anew at random, 70 % for training; "ferplus" into 3000 and 2000 rows at most.
Tests are against the truth, or, in "ferplus", the expression with at least 5 of 10 votes. Intervals
of gains are over the divisions, with the variance that Nadeau and Bengio (2003) correct for
training sets that overlap.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from plausible.datasets import RealData, load, load_elicited, majority_vote
from plausible.experiments.common import (
    Progress,
    describe,
    open_figure,
    save_figure,
    seed_of,
    silent,
    with_interval,
)
from plausible.experiments.comparison import Claim, Results, Table, claim
from plausible.labels import Labels
from plausible.models import BeliefForestClassifier, BeliefTreeClassifier
from plausible.neighbors import EvidentialNeighborsClassifier

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SETS = ("cifar10s", "labelme", "music_genre", "ferplus")
FORMS = ("belief", "hardened", "peer", "truth")
N_NEIGHBORS, N_TREES = 15, 50
TRAIN_SHARE, MOST_TRAIN, MOST_TEST = 0.7, 3000, 2000


class Learner(NamedTuple):
    """A rule that learns from belief labels, and scikit-learn's of the same kind."""

    make: Callable[[], Any]
    peer: Callable[[], Any]


LEARNERS = {
    "neighbors": Learner(
        lambda: EvidentialNeighborsClassifier(N_NEIGHBORS),
        lambda: KNeighborsClassifier(N_NEIGHBORS, weights="distance"),
    ),
    "tree": Learner(
        lambda: BeliefTreeClassifier(min_samples_leaf=5, random_state=0),
        lambda: DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    ),
    "forest": Learner(
        lambda: BeliefForestClassifier(N_TREES, min_samples_leaf=5, random_state=0),
        lambda: RandomForestClassifier(N_TREES, min_samples_leaf=5, random_state=0),
    ),
}


def load_set(name: str) -> RealData:
    """A set by name."""
    return load_elicited(name) if name == "cifar10s" else load(name)


def reference_of(data: RealData) -> IntArray:
    """Class that counts as right for each row; -1 where none does."""
    if data.y is not None:
        return data.y
    return np.where(data.votes.max(axis=1) >= 5.0, data.votes.argmax(axis=1), -1)


def divide(
    data: RealData, reference: IntArray, random: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Training and test rows, among those about which somebody was asked."""
    asked = random.permutation(np.flatnonzero(data.votes.sum(axis=1) > 0.0))
    n_train = min(int(TRAIN_SHARE * len(asked)), MOST_TRAIN)
    rest = asked[n_train:]
    return asked[:n_train], rest[reference[rest] >= 0][:MOST_TEST]


def accuracies(
    data: RealData, learner: Learner, train: IntArray, test: IntArray, seed: int
) -> dict[str, float]:
    """Test accuracy with each form of label."""
    reference = reference_of(data)
    named = np.append(data.classes, "")
    hard = named[majority_vote(data.votes[train], seed)]
    given: dict[str, tuple[Callable[[], Any], Any]] = {
        "belief": (learner.make, data.labels[train]),
        "hardened": (learner.make, Labels.from_crisp(hard, data.classes.tolist())),
        "peer": (learner.peer, hard),
    }
    if data.y is not None:
        true = data.classes[data.y[train]]
        given["truth"] = learner.make, Labels.from_crisp(true, data.classes.tolist())
    found = {}
    for form, (make, y) in given.items():
        model = make_pipeline(StandardScaler(), make()).fit(data.X[train], y)
        right = model.predict(data.X[test]) == data.classes[reference[test]]
        found[form] = float(right.mean())
    return found


def resampled(values: Sequence[float], ratio: float) -> dict[str, float]:
    """Mean over divisions that overlap, with a 95 % interval; ratio is test rows to training."""
    given = np.asarray(values, dtype=np.float64)
    mean, n = float(given.mean()), len(given)
    if n < 2:
        return {"mean": mean, "low": mean, "high": mean}
    error = np.sqrt((1.0 / n + ratio) * given.var(ddof=1))
    half = float(stats.t.ppf(0.975, n - 1) * error)
    return {"mean": mean, "low": mean - half, "high": mean + half}


def compare(
    data: RealData, name: str, learner: Learner, n_splits: int, seed: int
) -> dict[str, Any]:
    """Accuracies over divisions, and gains of belief labels over hardened ones and the peer."""
    reference = reference_of(data)
    found: list[dict[str, float]] = []
    ratio = 0.0
    for number in range(n_splits):
        random = np.random.default_rng(seed_of(seed, number))
        train, test = divide(data, reference, random)
        ratio = len(test) / len(train)
        found.append(accuracies(data, learner, train, test, seed_of(seed, number)))
    row: dict[str, Any] = {"set": data.name, "rule": name, "train": len(train), "test": len(test)}
    row["accuracy"] = {form: float(np.mean([one[form] for one in found])) for form in found[0]}
    for other in ("hardened", "peer"):
        row[f"over_{other}"] = resampled([one["belief"] - one[other] for one in found], ratio)
    return row


def run(
    quick: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    *,
    sets: Sequence[str] = SETS,
    rules: Sequence[str] = tuple(LEARNERS),
) -> Results:
    """Accuracies on each set, for each rule and form of label.

    Parameters
    ----------
    quick : bool
        2 divisions instead of 10.
    seed : int
    progress : function of a message
    sets : sequence of str
        Which sets, by default all four.
    rules : sequence of str
        Which rules, by default all of `LEARNERS`.
    """
    n_splits = 2 if quick else 10
    loaded = [load_set(name) for name in sets]
    settings = {
        "splits": n_splits,
        "rules": list(rules),
        "neighbors": N_NEIGHBORS,
        "trees": N_TREES,
        "train_share": TRAIN_SHARE,
    }
    results = describe("real_belief_labels", seed, quick, settings)
    results["rows"] = []
    for data in loaded:
        for name in rules:
            row = compare(data, name, LEARNERS[name], n_splits, seed)
            results["rows"].append(row)
            shown = ", ".join(f"{form} {value:.4f}" for form, value in row["accuracy"].items())
            progress(f"{data.name}, {name}: {shown}")
    results["claims"] = [judge(row, other) for row in results["rows"] for other in OTHERS]
    return results


OTHERS = {"hardened": "the same rule on hardened labels", "peer": "scikit-learn's on hardened ones"}


def judge(row: Results, other: str) -> Claim:
    """Whether belief labels teach better."""
    gain = row[f"over_{other}"]
    holds = None if gain["low"] <= 0.0 <= gain["high"] else gain["low"] > 0.0
    text = f"{row['set']}, {row['rule']}: belief labels above {OTHERS[other]} (accuracy)"
    return claim(text, holds, with_interval(gain, 3, "+"), asked=True)


def tables(results: Results) -> dict[str, Table]:
    """Accuracies of all forms."""
    head = ["set", "rule", *FORMS, "belief over hardened", "over peer"]
    rows = [
        [
            row["set"],
            row["rule"],
            *(f"{row['accuracy'][f]:.3f}" if f in row["accuracy"] else "" for f in FORMS),
            with_interval(row["over_hardened"], 3, "+"),
            with_interval(row["over_peer"], 3, "+"),
        ]
        for row in results["rows"]
    ]
    caption = "Test accuracy; gains with 95 % intervals over divisions."
    return {"accuracy": Table(caption, head, rows)}


def draw(results: Results, path: Path) -> None:
    """Gains of belief labels."""
    rows = results["rows"]
    figure, panels = open_figure(1, 1, size=(7.5, 0.45 * len(rows) + 1.4))
    axes = panels[0][0]
    for number, other in enumerate(OTHERS):
        gains = [row[f"over_{other}"] for row in rows]
        mean, low, high = (
            100 * np.array([gain[key] for gain in gains]) for key in ("mean", "low", "high")
        )
        places = np.arange(len(rows)) + 0.2 * (number - 0.5)
        limits = [mean - low, high - mean]
        axes.errorbar(mean, places, xerr=limits, fmt="o", label=f"over {OTHERS[other]}", capsize=2)
    axes.axvline(0.0, color="k", linewidth=1)
    axes.set_yticks(range(len(rows)), labels=[f"{row['set']}, {row['rule']}" for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("gain in accuracy of belief labels (percent points)")
    axes.legend(
        frameon=False, fontsize="small", ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0)
    )
    save_figure(figure, path)
