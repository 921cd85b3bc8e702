"""The default against what people would do instead, on real sets with human answers.

Each set is split ten times ("sjaffe", with 71 test items a split, thirty times): 300 items to learn
from, with what people said about them, and up to 1000 others with the truth. Of standardized
features the first 40 principal components are kept, and turned at random, so that nobody who
standardizes again blows up the last ones. The default pools the answers (`Annotations.pool()`) and
fits `AutoClassifier()`. Its peers learn from hard labels, made in three ways (majority vote, Dawid
and Skene's model by crowd-kit, cleanlab's consensus), with learners whose settings are tuned in
three folds of the same labels: logistic regression (ridge), linear discriminant analysis
(shrinkage), and boosted trees (their number).

==================  ============================================================================
labelme,            answers of known people; truth of other items
music_genre,
sentiment_polarity
cifar10n            three answers of people who are not known
cifar10h, ferplus   three answers drawn from the counts; the truth of ferplus is what six of ten
                    people say, and other faces are left out
cifar10s            best classes, second ones and impossible ones with degrees (`load_elicited`);
                    peers see the best classes only
sjaffe              mean ratings as plausibilities, and their highest as truth: no answers
==================  ============================================================================

Accuracy, log loss (bets below 1e-6 count as that), expected calibration error, and for the smallest
sets of classes whose bets sum to 0.9: how often they hold the truth, and their utility u65. Sets
that are calibrated on gold stand beside MAPIE's (`default_sets`).
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ortho_group
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from plausible.datasets import load, load_crowd, load_elicited
from plausible.experiments.common import (
    Progress,
    describe,
    open_figure,
    save_figure,
    seed_of,
    silent,
    summary,
    with_interval,
)
from plausible.experiments.comparison import Claim, Results, Table, claim
from plausible.experiments.crowd_pools import installed
from plausible.experiments.default_peers import hard_labels, log_loss, tuned
from plausible.experiments.default_sets import KEYS, gold_scores, judge_sets, sets_table
from plausible.experiments.kept import Kept
from plausible.experts import Annotations
from plausible.labels import Labels
from plausible.metrics import (
    expected_calibration_error,
    set_coverage,
    utility_discounted_accuracy,
)
from plausible.models import AutoClassifier

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Scores = dict[str, dict[str, float]]

N_SPLITS, N_ROWS, N_TEST, N_DRAWN = 10, 300, 1000, 3
N_FEATURES = 40
MORE_SPLITS = {"sjaffe": 30}  # of a set with few items to test on
RESUMES = True  # `run` can go on with splits that an interrupted one has left
ENOUGH_VOTES = 6
SHARE = 0.9  # of the bets, in a set
DEFAULT = "default"
SIDES = (DEFAULT, "peers")  # kept apart: a new ladder leaves the peers as they are
LEARNERS = ("logistic", "LDA", "boosting")
SCORES = ("accuracy", "log loss", "ECE", "coverage", "u65")
WORSE = {"log loss", "ECE"}  # lower is better


@dataclass(frozen=True)
class Task:
    """Items to learn from and to test on.

    labels : what the default learns from
    answers : who said what, where that is known
    votes : counts (n, K) of hard answers
    """

    X: FloatArray
    labels: Labels
    answers: Annotations | None
    votes: FloatArray
    X_test: FloatArray
    y_test: IntArray
    classes: NDArray[Any]


def some(n: int, most: int, random: np.random.Generator) -> IntArray:
    """Numbers of at most so many of n items, at random."""
    return random.permutation(n)[:most]


def crowd_task(name: str, random: np.random.Generator, n_rows: int) -> Task:
    """A set with people and a test part."""
    data = load_crowd(name)
    assert data.X is not None
    assert data.X_test is not None
    assert data.y_test is not None
    rows = some(len(data.y), n_rows, random)
    tests = some(len(data.y_test), N_TEST, random)
    answers = data.annotations[rows]
    classes = data.annotations.classes
    return Task(data.X[rows], answers.pool(), answers, answers.votes(),
                data.X_test[tests], data.y_test[tests], classes)  # fmt: skip


def draw_answers(votes: FloatArray, classes: list[Any], random: np.random.Generator) -> Annotations:
    """A few of the answers that were counted, without saying whose they are."""
    table = np.full((len(votes), N_DRAWN), -1)
    for row, counts in enumerate(votes.astype(np.int64)):
        said = random.permutation(np.repeat(np.arange(len(counts)), counts))[:N_DRAWN]
        table[row, : len(said)] = said
    return Annotations.from_answers(np.append(np.asarray(classes), "")[table], classes)


def counted_task(name: str, random: np.random.Generator, n_rows: int) -> Task:
    """A set with counts of answers, of which a few are drawn."""
    data = load(name)
    y = data.votes.argmax(axis=1) if data.y is None else data.y
    clear = data.votes.max(axis=1) >= (ENOUGH_VOTES if data.y is None else 0)
    order = random.permutation(np.flatnonzero(clear))
    rows, tests = order[:n_rows], order[n_rows : n_rows + N_TEST]
    answers = draw_answers(data.votes[rows], data.classes.tolist(), random)
    return Task(data.X[rows], answers.pool(), answers, answers.votes(),
                data.X[tests], y[tests], data.classes)  # fmt: skip


def labeled_task(name: str, random: np.random.Generator, n_rows: int) -> Task:
    """A set with degrees by items."""
    data = load_elicited(name) if name == "cifar10s" else load(name)
    y = data.votes.argmax(axis=1) if data.y is None else data.y
    order = random.permutation(len(y))
    n_rows = min(n_rows, 2 * len(y) // 3)
    rows, tests = order[:n_rows], order[n_rows : n_rows + N_TEST]
    return Task(data.X[rows], data.labels[rows], None, data.votes[rows],
                data.X[tests], y[tests], data.classes)  # fmt: skip


def reduced(task: Task, seed: int) -> Task:
    """The same with few features."""
    scale = StandardScaler().fit(task.X)
    Z, Z_test = scale.transform(task.X), scale.transform(task.X_test)
    reduce = PCA(min(N_FEATURES, *Z.shape), random_state=0).fit(Z)
    turn = ortho_group.rvs(reduce.n_components_, random_state=seed)
    return replace(task, X=reduce.transform(Z) @ turn, X_test=reduce.transform(Z_test) @ turn)


TASKS: dict[str, Callable[[str, np.random.Generator, int], Task]] = {
    "labelme": crowd_task,
    "music_genre": crowd_task,
    "sentiment_polarity": crowd_task,
    "cifar10n": crowd_task,
    "cifar10h": counted_task,
    "ferplus": counted_task,
    "cifar10s": labeled_task,
    "sjaffe": labeled_task,
}


def default_scores(task: Task, seed: int) -> dict[str, float]:
    """Scores of the default, and those of its gold-calibrated sets."""
    model = AutoClassifier(random_state=seed).fit(task.X, task.labels)
    place = {name: k for k, name in enumerate(model.classes_.tolist())}
    columns = [place[name] for name in task.classes.tolist()]
    bets = np.asarray(model.predict_proba(task.X_test)[:, columns])
    return score(bets, task) | gold_scores(model, task.X_test, task.classes[task.y_test])


def peer_bets(task: Task, seed: int) -> dict[str, FloatArray]:
    """Bets (n, K) of all peers, by name."""
    found = {}
    for way, chosen in hard_labels(task.answers, task.votes, task.X, seed).items():
        told = chosen >= 0
        for learner in LEARNERS:
            bets = tuned(learner, task.X[told], chosen[told], len(task.classes), seed)
            found[f"{way} + {learner}"] = bets(task.X_test)
    return found


def score(bets: FloatArray, task: Task) -> dict[str, float]:
    """All scores of bets against the truth."""
    y, K = task.y_test, bets.shape[1]
    right = bets.argmax(axis=1) == y
    sets = smallest_sets(bets, SHARE)
    truth = Labels.from_crisp(y, classes=range(K))
    columns = list(range(K))
    return {
        "accuracy": float(right.mean()),
        "log loss": log_loss(bets, y),
        "ECE": expected_calibration_error(truth, bets, classes=columns),
        "coverage": set_coverage(truth, sets, classes=columns),
        "u65": utility_discounted_accuracy(truth, sets, value_of_pair=0.65, classes=columns),
    }


def smallest_sets(bets: FloatArray, share: float) -> NDArray[np.bool_]:
    """The fewest classes (n, K) whose bets sum to a share."""
    order = np.argsort(-bets, axis=1, kind="stable")
    before = np.cumsum(np.take_along_axis(bets, order, axis=1), axis=1)
    before -= np.take_along_axis(bets, order, axis=1)
    inside = np.zeros(bets.shape, dtype=bool)
    np.put_along_axis(inside, order, before < share - 1e-12, axis=1)
    return inside


def run(
    quick: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    *,
    sets: Sequence[str] = tuple(TASKS),
    parts: Path | None = None,
) -> Results:
    """Scores of the default and of its peers.

    Parameters
    ----------
    quick : bool
        Two splits of 150 items.
    seed : int
    progress : function of a message
    sets : sequence of keys of `TASKS`
    parts : path, optional
        Folder for the scores of each split, so that an interrupted run can be taken up.
    """
    n_splits, n_rows = (2, 150) if quick else (N_SPLITS, N_ROWS)
    for name in sets:  # so that a missing set is known at once
        TASKS[name](name, np.random.default_rng(seed), 20)
    settings = {
        "splits": n_splits,
        "rows": n_rows,
        "not_installed": [name for name, there in installed().items() if not there],
    }
    results = describe("defaults", seed, quick, settings)
    kept = Kept(parts, settings | {"seed": seed})
    results["sets"] = [
        compare(name, n_splits if quick else MORE_SPLITS.get(name, n_splits), n_rows, seed,
                progress, kept)
        for name in sets
    ]  # fmt: skip
    results["claims"] = judge(results["sets"])
    return results


def score_split(name: str, split: int, n_rows: int, seed: int, side: str) -> Scores:
    """Scores of the default or of its peers on one split of a set."""
    own = seed_of(seed, list(TASKS).index(name), split)
    task = reduced(TASKS[name](name, np.random.default_rng(own), n_rows), split)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of others, about classes of few items
        if side == DEFAULT:
            return {DEFAULT: default_scores(task, 0)}
        return {method: score(one, task) for method, one in peer_bets(task, split).items()}


def gather(name: str, splits: list[Scores]) -> dict[str, Any]:
    """Means and intervals over the splits of a set, of scores and of gains over peers."""
    columns = {
        method: {key: np.array([one[method][key] for one in splits]) for key in SCORES}
        for method in splits[0]
    }
    ours = columns[DEFAULT]
    gold = [key for key in KEYS if key in splits[0][DEFAULT]]
    return {
        "set": name,
        "splits": len(splits),
        "gold": {key: summary(np.array([one[DEFAULT][key] for one in splits])) for key in gold},
        "scores": {m: {s: summary(v) for s, v in one.items()} for m, one in columns.items()},
        "gain": {
            m: {s: summary(ours[s] - v) for s, v in one.items()}
            for m, one in columns.items()
            if m != DEFAULT
        },
    }


def compare(
    name: str,
    n_splits: int,
    n_rows: int,
    seed: int,
    progress: Progress,
    kept: Kept,
) -> dict[str, Any]:
    """All methods on the splits of one set."""
    splits: list[Scores] = []
    for split in range(n_splits):
        splits.append({})
        for side in SIDES:
            scores = kept.find(f"{name}_{split}_{side}")
            if scores is None:
                scores = score_split(name, split, n_rows, seed, side)
                kept.keep(f"{name}_{split}_{side}", scores)
            splits[-1].update(scores)
        told = ", ".join(f"{method} {one['accuracy']:.3f}" for method, one in splits[-1].items())
        progress(f"{name}, split {split + 1} of {n_splits}: {told}")
    return gather(name, splits)


def best_peer(row: dict[str, Any], name: str) -> str:
    """The peer with the best mean of a score."""
    sign = -1.0 if name in WORSE else 1.0
    peers = [method for method in row["scores"] if method != DEFAULT]
    return max(peers, key=lambda method: sign * row["scores"][method][name]["mean"])


def judge(rows: list[dict[str, Any]]) -> list[Claim]:
    """Whether the default is near the best of all peers, chosen with hindsight."""
    verdicts = []
    within = 0
    for row in rows:
        peer = best_peer(row, "accuracy")
        gain = row["gain"][peer]["accuracy"]
        within += gain["high"] >= 0.0
        text = f"{row['set']}: at most 2 points of accuracy behind the best peer ({peer})"
        shown = with_interval(gain, 1, "+", 100.0)
        verdicts.append(claim(text, gain["mean"] >= -0.02, shown, asked=True))
        rival = best_peer(row, "log loss")
        ours, theirs = (row["scores"][m]["log loss"]["mean"] for m in (DEFAULT, rival))
        text = f"{row['set']}: log loss at most 1.2 times that of the best peer ({rival})"
        verdicts.append(claim(text, ours <= 1.2 * theirs, f"{ours / theirs:.2f}", asked=True))
    text = "most sets: the best, or the best peer is within its interval"
    most = within > len(rows) / 2
    first = claim(text, most, f"{within} of {len(rows)}", asked=True)
    return [first, *verdicts, *judge_sets(rows)]


def tables(results: Results) -> dict[str, Table]:
    """One table for each score, and the gains over peers."""
    rows = results["sets"]
    methods = [DEFAULT, *dict.fromkeys(m for row in rows for m in row["gain"])]
    found = {}
    for name in SCORES:
        lines = [
            [method, *(cell(row["scores"].get(method), name) for row in rows)] for method in methods
        ]
        caption = f"{name.capitalize() if name == 'accuracy' else name}: mean and 95 % interval."
        found[name.replace(" ", "_").lower()] = Table(
            caption, ["", *(r["set"] for r in rows)], lines
        )
    lines = [
        [
            row["set"],
            str(row["splits"]),
            *gains_of(row, "accuracy", 100.0, 1),
            *gains_of(row, "log loss", 1.0, 3),
        ]
        for row in rows
    ]
    head = ["set", "splits", "best peer", "accuracy (points)", "best peer", "log loss"]
    found["gains"] = Table(
        "The default minus the best peer, chosen with hindsight (95 % interval over splits).",
        head,
        lines,
    )
    return found | {"sets": sets_table(rows)}


def gains_of(row: dict[str, Any], name: str, scale: float, digits: int) -> list[str]:
    """The best peer, and how the default differs from it."""
    peer = best_peer(row, name)
    return [peer, with_interval(row["gain"][peer][name], digits, "+", scale)]


def cell(scores: dict[str, Any] | None, name: str) -> str:
    """The mean of the splits and half its interval, or nothing."""
    if scores is None:
        return ""
    one = scores[name]
    return f"{one['mean']:.3f} ± {(one['high'] - one['low']) / 2.0:.3f}"


def draw(results: Results, path: Path) -> None:
    """Gains of the default over each peer, by set, in accuracy and in log loss."""
    figure, panels = open_figure(1, 2, size=(11.0, 6.0))
    rows = results["sets"]
    methods = list(dict.fromkeys(m for row in rows for m in row["gain"]))
    for axes, name, scale in zip(panels[0], ("accuracy", "log loss"), (100.0, 1.0), strict=True):
        for step, method in enumerate(methods):
            for place, row in enumerate(rows):
                if method not in row["gain"]:
                    continue
                gain = row["gain"][method][name]
                mean, low, high = (scale * gain[key] for key in ("mean", "low", "high"))
                at = place + 0.08 * (step - (len(methods) - 1) / 2)
                label = method if place == 0 else None
                axes.errorbar(mean, at, xerr=[[mean - low], [high - mean]], fmt="o", ms=3,
                              color=f"C{step}", label=label, linewidth=1)  # fmt: skip
        axes.axvline(0.0, color="k", linewidth=1)
        unit = "points; right is better" if name == "accuracy" else "left is better"
        axes.set_xlabel(f"{name}: default minus peer ({unit})")
    panels[0][0].set_yticks(range(len(rows)), labels=[row["set"] for row in rows])
    panels[0][0].invert_yaxis()
    panels[0][1].legend(frameon=False, fontsize=7)
    save_figure(figure, path)
