"""Soft against hardened labels on real sets, in the same Gaussian mixture.

Ways to keep what people said, against its most frequent part:

=========  ======================================================================================
pooled     each vote is a hard answer with a doubt, which `estimate_doubt` finds from how often two
           votes on the same training item agree; combined by Dempster's rule
shares     the shares of the votes relative to the highest, discounted by the same doubt, as
           plausibilities
rows       a row for each class with votes, weighted by its share: the label as a posterior
majority   the most frequent answer, ties broken at random; no label where nobody voted
truth      the true labels, where they exist: what better labels could give at most
=========  ======================================================================================

"sjaffe" has the mean ratings of 60 people instead of votes: "pooled" takes each of them to have
given the mean ratings, relative to the highest and discounted by 0.1.

Tests are the held-out rows: against the truth where it exists ("labelme", "music_genre",
"cifar10h"), against the class with at least 5 of 10 votes ("ferplus"), against the highest rating
("sjaffe"). Sets without a split are cross-validated. Intervals come from a paired bootstrap of test
items; they do not contain the variation of the training set.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plausible.datasets import NAMES, RealData, load, majority_vote, pool_votes
from plausible.experiments.common import (
    N_RESAMPLES,
    Progress,
    bootstrap,
    describe,
    open_figure,
    save_figure,
    seed_of,
    silent,
    with_interval,
)
from plausible.experiments.comparison import Claim, Results, Table, claim
from plausible.labels import Labels
from plausible.models import GaussianMixtureClassifier

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Split = tuple[IntArray, IntArray]
Shape = Literal["full", "tied", "diag"]

SOFT = ("pooled", "shares", "rows")
DOUBTS = (0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
RATERS, RATING_DOUBT = 60, 0.1
QUICK_TRAIN, QUICK_TEST = 2000, 1000


@dataclass(frozen=True)
class Protocol:
    """How a set is used: shapes of covariance, scaling of features, folds if it has no split."""

    shapes: tuple[Shape, ...]
    scale: bool
    folds: int = 0
    repeats: int = 0


PROTOCOLS = {
    "ferplus": Protocol(("tied", "full"), scale=False),
    "cifar10h": Protocol(("tied", "full"), scale=False, folds=2, repeats=2),
    "labelme": Protocol(("tied", "full"), scale=True),
    "music_genre": Protocol(("tied", "full"), scale=True),
    # A class with 8 rows bears no full covariance.
    "sjaffe": Protocol(("tied", "diag"), scale=True, folds=5, repeats=4),
}


def reference_of(data: RealData) -> IntArray:
    """Class (column) that counts as right for each row; -1 where none does."""
    if data.y is not None:
        return data.y
    top = data.votes.argmax(axis=1)
    enough = data.name == "sjaffe" or data.votes.max(axis=1) >= 5.0
    return np.where(enough, top, -1)


def all_labels(data: RealData, random_state: int) -> dict[str, Labels]:
    """Labels of all rows in each form, and pooled with each of several doubts."""
    classes = data.classes.tolist()
    top = data.votes.max(axis=1, keepdims=True)
    relative = np.where(top > 0.0, data.votes / np.where(top > 0.0, top, 1.0), 1.0)
    shares = Labels.from_plausibility(relative, classes)
    if data.doubt is None:
        shares = shares.discount(RATING_DOUBT)
        pooled = Labels.from_plausibility(shares.contour**RATERS, classes)
        made = {"pooled": pooled, "shares": shares}
    else:
        made = {"pooled": data.labels, "shares": shares.discount(data.doubt)}
        for doubt in DOUBTS:
            made[f"doubt {doubt:g}"] = pool_votes(data.votes, doubt, classes)
    named = np.append(data.classes, "")  # -1, the last one, is "nobody voted"
    votes = named[majority_vote(data.votes, random_state)]
    made["majority"] = Labels.from_crisp(votes, classes, missing="")
    if data.y is not None:
        made["truth"] = Labels.from_crisp(data.classes[data.y], classes)
    return made


def splits_of(data: RealData, reference: IntArray, quick: bool, seed: int) -> list[Split]:
    """Training and test rows: the set's own split, or repeated folds."""
    protocol = PROTOCOLS[data.name]
    splits: list[Split] = []
    if data.split is not None:
        test = (data.split == "test") & (reference >= 0)
        splits.append((np.flatnonzero(data.split == "train"), np.flatnonzero(test)))
    for repeat in range(1 if quick and protocol.repeats else protocol.repeats):
        folds = StratifiedKFold(protocol.folds, shuffle=True, random_state=seed_of(seed, repeat))
        splits += list(folds.split(reference, reference))
    if not quick:
        return splits
    random = np.random.default_rng(seed)
    return [
        (random.permutation(train)[:QUICK_TRAIN], random.permutation(test)[:QUICK_TEST])
        for train, test in splits
    ]


def n_components_for(shape: Shape, d: int, majority: IntArray) -> int:
    """Features that the rows can bear: ten rows for each, five of the rarest class if full."""
    if shape != "full":
        return min(d, len(majority) // 10)
    return max(2, min(d, int(np.bincount(majority[majority >= 0]).min()) // 5))


def outcomes(
    data: RealData, labels: dict[str, Labels], split: Split, shape: Shape, reference: IntArray
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """For each form of label: whether each test row is right, and its log-loss."""
    train, test = split
    hard = majority_vote(data.votes[train], 0)
    reduce = PCA(n_components_for(shape, data.X.shape[1], hard), random_state=0)
    steps = make_pipeline(StandardScaler(), reduce) if PROTOCOLS[data.name].scale else reduce
    X, X_test = steps.fit_transform(data.X[train]), steps.transform(data.X[test])
    found = {}
    prior = "weak" if shape == "full" else None  # rare classes
    for form in ("rows", *labels):
        model = GaussianMixtureClassifier(
            shape, max_iter=10_000, random_state=0, prior=prior, unlabeled_weight=1
        )
        if form == "rows":
            row, column = np.nonzero(data.votes[train])
            weight = data.votes[train][row, column] / data.votes[train].sum(axis=1)[row]
            given = Labels.from_crisp(data.classes[column], data.classes.tolist())
            model.fit(X[row], given, sample_weight=weight)
        else:
            model.fit(X, labels[form][train])
        found[form] = score(model, X_test, data.classes[reference[test]])
    return found


def score(
    model: GaussianMixtureClassifier, X: FloatArray, right: NDArray[np.str_]
) -> tuple[FloatArray, FloatArray]:
    """Whether each row is right, and its log-loss."""
    probability = model.predict_proba(X)
    column = np.array([model.classes_.tolist().index(name) for name in right.tolist()])
    chance = probability[np.arange(len(X)), column]
    correct = (model.predict(X) == right).astype(np.float64)
    return correct, -np.log(np.maximum(chance, 1e-15))


def compare(
    data: RealData,
    labels: dict[str, Labels],
    splits: list[Split],
    shape: Shape,
    reference: IntArray,
    seed: int,
) -> dict[str, Any]:
    """Accuracies, and differences to the majority vote with intervals over test items."""
    if shape != "tied":  # the doubts are tried in one model
        labels = {form: given for form, given in labels.items() if not form.startswith("doubt")}
    totals = {form: np.zeros((2, len(data.X))) for form in ("rows", *labels)}
    times = np.zeros(len(data.X))
    for split in splits:
        times[split[1]] += 1.0
        for form, both in outcomes(data, labels, split, shape, reference).items():
            totals[form][:, split[1]] += both
    tested = times > 0.0
    means = {form: total[:, tested] / times[tested] for form, total in totals.items()}
    row: dict[str, Any] = {
        "set": data.name,
        "covariance": shape,
        "accuracy": {form: float(mean[0].mean()) for form, mean in means.items()},
        "log_loss": {form: float(mean[1].mean()) for form, mean in means.items()},
    }
    for form in SOFT:
        gains = means[form] - means["majority"]
        row[form] = {
            "accuracy_gain": bootstrap(gains[0], seed),
            "log_loss_gain": bootstrap(-gains[1], seed),
        }
        row[form]["verdict"] = verdict(row[form]["accuracy_gain"])
    return row


def verdict(gain: dict[str, float]) -> str:
    """Whether soft labels win, lose, or cannot be told from a majority vote."""
    if gain["low"] > 0.0:
        return "soft wins"
    return "soft loses" if gain["high"] < 0.0 else "no difference seen"


def run(
    quick: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    *,
    sets: Sequence[str] = NAMES,
) -> Results:
    """Accuracies of soft and hardened labels on each set.

    Parameters
    ----------
    quick : bool
        At most 2000 training and 1000 test rows, and folds only once.
    seed : int
    progress : function of a message
    sets : sequence of str
        Which sets, by default all five.
    """
    loaded = [load(name) for name in sets]  # all, so that a missing set is known at once
    settings: dict[str, Any] = {"resamples": N_RESAMPLES, "rating_doubt": RATING_DOUBT}
    results = describe("real_soft_labels", seed, quick, settings)
    results["sets"], results["rows"] = [], []
    for data in loaded:
        reference = reference_of(data)
        splits = splits_of(data, reference, quick, seed)
        labels = all_labels(data, seed)
        results["sets"].append(facts_of(data, labels, splits))
        for shape in PROTOCOLS[data.name].shapes:
            row = compare(data, labels, splits, shape, reference, seed)
            results["rows"].append(row)
            shown = ", ".join(f"{form} {value:.4f}" for form, value in row["accuracy"].items())
            progress(f"{data.name}, {shape}: {shown}")
    results["claims"] = [judge(row) for row in results["rows"]]
    return results


def facts_of(data: RealData, labels: dict[str, Labels], splits: list[Split]) -> dict[str, Any]:
    """Sizes of a set, doubt of its votes, and how many majority votes are wrong."""
    train = splits[0][0]
    wrong = None
    if data.y is not None:
        wrong = float((labels["majority"].crisp()[train] != data.classes[data.y[train]]).mean())
    return {
        "set": data.name,
        "train": len(train),
        "test": len(splits[0][1]),
        "fits": len(splits),
        "doubt": data.doubt,
        "votes_per_item": float(data.votes[train].sum(axis=1).mean()),
        "wrong_majority": wrong,
    }


def judge(row: dict[str, Any]) -> Claim:
    """Whether pooled votes teach better than their majority."""
    gain = row["pooled"]["accuracy_gain"]
    holds = {"soft wins": True, "soft loses": False}.get(row["pooled"]["verdict"])
    text = f"{row['set']}, {row['covariance']}: pooled votes above the majority vote (accuracy)"
    return claim(text, holds, with_interval(gain, 3, "+"), asked=True)


def tables(results: Results) -> dict[str, Table]:
    """The sets, the scores, and votes pooled with other doubts."""
    facts = [
        [
            one["set"],
            str(one["train"]),
            str(one["test"]),
            str(one["fits"]),
            f"{one['votes_per_item']:.1f}" if one["doubt"] else "ratings",
            f"{one['doubt']:.2f}" if one["doubt"] else "",
            "" if one["wrong_majority"] is None else f"{one['wrong_majority']:.3f}",
        ]
        for one in results["sets"]
    ]
    head = ["set", "train", "test", "fits", "votes an item", "doubt", "majority wrong"]
    gains = "Test accuracy; gains over the majority vote with 95 % intervals (paired bootstrap)."
    losses = "Log-loss of the same models (lower is better; gains are reductions)."
    doubts = "Accuracy of votes pooled with other doubts, in the tied model."
    return {
        "sets": Table("The sets.", head, facts),
        "accuracy": Table(gains, *accuracy_table(results["rows"], "accuracy", 3)),
        "log_loss": Table(losses, *accuracy_table(results["rows"], "log_loss", 2)),
        "doubts": Table(doubts, *doubt_table(results["rows"])),
    }


def accuracy_table(
    rows: list[dict[str, Any]], score: str, digits: int
) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of one score."""
    head = ["set", "covariance", "truth", "majority"]
    head += [word for form in SOFT for word in (form, "gain")]
    head += ["verdict on pooled"] if score == "accuracy" else []
    lines = []
    for row in rows:
        line = [row["set"], row["covariance"]]
        for form in ("truth", "majority", *SOFT):
            value = row[score].get(form)
            line.append("" if value is None else f"{value:.{digits}f}")
            if form in SOFT:
                line.append(with_interval(row[form][f"{score}_gain"], digits, "+"))
        lines.append(line + ([row["pooled"]["verdict"]] if score == "accuracy" else []))
    return head, lines


def doubt_table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of doubts."""
    forms = ["majority", *(f"doubt {doubt:g}" for doubt in DOUBTS)]
    tried = [row for row in rows if forms[-1] in row["accuracy"]]
    lines = [[row["set"], *(f"{row['accuracy'][form]:.3f}" for form in forms)] for row in tried]
    return ["set", *forms], lines


def draw(results: Results, path: Path) -> None:
    """Gain in accuracy of each form of soft label, for each set and shape."""
    rows = results["rows"]
    figure, panels = open_figure(1, 1, size=(7.5, 0.45 * len(rows) + 1.2))
    axes = panels[0][0]
    for number, form in enumerate(SOFT):
        gains = [row[form]["accuracy_gain"] for row in rows]
        mean = 100 * np.array([gain["mean"] for gain in gains])
        low = 100 * np.array([gain["low"] for gain in gains])
        high = 100 * np.array([gain["high"] for gain in gains])
        places = np.arange(len(rows)) + 0.2 * (number - 1)
        limits = [mean - low, high - mean]
        axes.errorbar(mean, places, xerr=limits, fmt="o", color=f"C{number}", label=form, capsize=2)
    axes.axvline(0.0, color="k", linewidth=1)
    axes.set_yticks(range(len(rows)), labels=[f"{r['set']}, {r['covariance']}" for r in rows])
    axes.invert_yaxis()
    axes.set_xlabel("accuracy of soft labels less that of a majority vote (percent points)")
    axes.legend(frameon=False)
    save_figure(figure, path)
