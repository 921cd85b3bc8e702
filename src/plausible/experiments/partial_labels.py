"""Logistic regression on real sets of candidates, after Grandvalet (2002).

The paper proposes three criteria for labels that are sets of classes, but for lack of space reports
no experiment with such labels. Here are three sets in which the candidates come from captions, tags
and recordings:

==================  =============================================================================
minimum commitment  the chance of the candidates together
self-consistent     the same less the entropy of the class within the candidates
maximum entropy     each candidate taken to be equally probable
rows                scikit-learn's LogisticRegression on a row for each candidate, of weight one
                    over their number: in theory the same as maximum entropy
truth               the true classes, which nobody has: what better labels could give at most
==================  =============================================================================

Accuracy against the true class in five shuffled folds, features standardized on the training rows.
Each method has the ridge alpha / 2 times the sum of squared slopes, for a short grid of alphas, and
with the alpha that does best in the folds that remain for training, where "best" knows the
candidates only, never the truth: least log-loss of the candidates (`soft_log_loss`) or most answers
among them (`soft_accuracy`). Models that leave out two folds serve both of them for this choice.

Minimum commitment and self-consistency are not concave for sets of candidates. They start where
`PartialLogisticRegression` starts by default, near the solution of maximum entropy.

Folds share training rows, so their intervals are a guide, not a guarantee.
"""

import warnings
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from plausible.datasets import PartialData, load_partial
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
from plausible.experiments.comparison import Results, Table, claim
from plausible.labels import Labels
from plausible.metrics import soft_accuracy, soft_log_loss
from plausible.models import EmptyClassWarning, PartialLogisticRegression

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

METHODS = {
    "minimum_commitment": "minimum commitment",
    "self_consistent": "self-consistent",
    "maximum_entropy": "maximum entropy",
    "rows": "rows, scikit-learn",
    "truth": "truth",
}
FACTS = ("set", "rows", "features", "classes")
CHOICES = ("least log-loss", "most answers inside")
RIDGES = (0.1, 1.0, 10.0)
DEFAULT = 1.0  # the library's own ridge
WANTED = {"lost": 0.74, "msrcv2": 0.46, "birdsong": 0.71}
N_FOLDS = 5
QUICK_ROWS = 300

ask = partial(claim, asked=True)  # the paper reports no experiment with such labels


def fold_numbers(n: int, seed: int) -> IntArray:
    """Fold of each row, at random and of equal sizes; the truth has no say in it."""
    return np.random.default_rng(seed).permutation(np.arange(n) % N_FOLDS)


def probabilities(
    method: str, ridge: float, X: FloatArray, labels: Labels, X_test: FloatArray
) -> FloatArray:
    """Chances (n, K) of the classes in test rows, after learning from standardized rows."""
    scale = StandardScaler().fit(X)
    X, X_test = scale.transform(X), scale.transform(X_test)
    if method == "rows":
        return rows_probabilities(ridge, X, labels, X_test)
    criterion = "minimum_commitment" if method == "truth" else method
    with warnings.catch_warnings():  # some names of "lost" are never the true one
        warnings.simplefilter("ignore", EmptyClassWarning)
        # The accuracy has settled long before the last digits of the criterion.
        model = PartialLogisticRegression(criterion, alpha=ridge, tol=1e-4, random_state=0)
        model.fit(X, labels)
    return np.asarray(model.predict_proba(X_test), dtype=np.float64)


def rows_probabilities(
    ridge: float, X: FloatArray, labels: Labels, X_test: FloatArray
) -> FloatArray:
    """The same from scikit-learn, with a weighted row for each candidate."""
    row, column = np.nonzero(labels.contour)
    weight = 1.0 / labels.contour.sum(axis=1)
    model = LogisticRegression(C=1.0 / ridge, tol=1e-6, max_iter=10_000)
    model.fit(X[row], column, sample_weight=weight[row])
    found = np.zeros((len(X_test), labels.contour.shape[1]))
    found[:, model.classes_] = model.predict_proba(X_test)
    return found


def known_to(method: str, data: PartialData) -> Labels:
    """What a method may learn from, and choose its ridge by."""
    if method == "truth":
        return Labels.from_crisp(data.y, data.labels.classes.tolist())
    return data.labels


def outer_chances(data: PartialData, method: str, ridge: float, fold: IntArray) -> FloatArray:
    """Chances (n, K) of the classes in rows that were held out, fold by fold."""
    labels = known_to(method, data)
    chances = np.zeros(labels.contour.shape)
    for number in range(N_FOLDS):
        out = fold == number
        chances[out] = probabilities(method, ridge, data.X[~out], labels[~out], data.X[out])
    return chances


def inner_scores(data: PartialData, method: str, ridge: float, fold: IntArray) -> FloatArray:
    """Scores (choices, folds), higher is better, of a ridge on the other folds of each fold."""
    labels = known_to(method, data)
    scores = np.zeros((len(CHOICES), N_FOLDS))
    for pair in combinations(range(N_FOLDS), 2):
        out = np.isin(fold, pair)
        chances = probabilities(method, ridge, data.X[~out], labels[~out], data.X[out])
        for tested, spared in (pair, pair[::-1]):
            here = fold[out] == tested
            held, answers = labels[fold == tested], labels.classes[chances[here].argmax(axis=1)]
            scores[0, spared] -= soft_log_loss(held, chances[here])
            scores[1, spared] += soft_accuracy(held, answers)
    return scores / (N_FOLDS - 1)


def fold_accuracy(chances: list[FloatArray], fold: IntArray, y: IntArray) -> FloatArray:
    """Accuracy (ridges, folds) of the most probable class."""
    right = np.array([one.argmax(axis=1) == y for one in chances])
    return np.stack([right[:, fold == k].mean(axis=1) for k in range(N_FOLDS)], axis=1)


def measure(
    data: PartialData, method: str, ridges: Sequence[float], folds: Sequence[IntArray]
) -> dict[str, Any]:
    """Accuracies (ridges, folds of all repeats) of a method, and with chosen ridges."""
    chances = [[outer_chances(data, method, ridge, fold) for ridge in ridges] for fold in folds]
    accuracy = np.hstack(
        [fold_accuracy(one, fold, data.y) for one, fold in zip(chances, folds, strict=True)]
    )
    found: dict[str, Any] = {"chances": chances, "accuracy": accuracy, "chosen": {}}
    if method == "rows":  # maximum entropy's choice holds for its twin
        return found
    scores = np.concatenate(
        [[inner_scores(data, method, ridge, fold) for ridge in ridges] for fold in folds], axis=2
    )
    for number, choice in enumerate(CHOICES):
        best = scores[:, number].argmax(axis=0)
        values = accuracy[best, np.arange(accuracy.shape[1])]
        found["chosen"][choice] = {"accuracy": values, "ridges": [ridges[i] for i in best]}
    return found


def compare(
    data: PartialData, ridges: Sequence[float], repeats: int, seed: int, progress: Progress
) -> dict[str, Any]:
    """All methods on one set."""
    folds = [fold_numbers(len(data.X), seed_of(seed, repeat)) for repeat in range(repeats)]
    found = {}
    for method, name in METHODS.items():
        found[method] = measure(data, method, ridges, folds)
        shown = ", ".join(f"{value:.3f}" for value in found[method]["accuracy"].mean(axis=1))
        progress(f"{data.name}, {name}: {shown}")
    pairs = found["maximum_entropy"]["chances"], found["rows"]["chances"]
    main = found["minimum_commitment"]["accuracy"]
    sizes = data.labels.contour.sum(axis=1)
    return {
        "set": data.name,
        "rows": len(data.X),
        "features": data.X.shape[1],
        "classes": len(data.labels.classes),
        "candidates": float(sizes.mean()),
        "methods": {method: summarize(one, ridges) for method, one in found.items()},
        "lead": {
            method: [summary(gap) for gap in main - one["accuracy"]]
            for method, one in found.items()
            if method != "minimum_commitment"
        },
        "largest_difference_of_twins": float(np.abs(np.subtract(*pairs)).max()),
    }


def summarize(found: dict[str, Any], ridges: Sequence[float]) -> dict[str, Any]:
    """Means with intervals, ready for JSON."""
    by_ridge = [
        {"ridge": ridge, "accuracy": summary(values)}
        for ridge, values in zip(ridges, found["accuracy"], strict=True)
    ]
    by_choice = {
        choice: {"accuracy": summary(one["accuracy"]), "ridges": one["ridges"]}
        for choice, one in found["chosen"].items()
    }
    return {"by_ridge": by_ridge, "by_choice": by_choice}


def run(
    quick: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    *,
    sets: Sequence[str] = tuple(WANTED),
    ridges: Sequence[float] | None = None,
    repeats: int = 1,
) -> Results:
    """Accuracy of five ways to learn from candidates.

    Parameters
    ----------
    quick : bool
        300 rows of each set and two ridges, instead of all rows and three.
    seed : int
    progress : function of a message
    sets : sequence of names that `load_partial` knows
    ridges, repeats
        Other ridges, or another number of divisions into folds.
    """
    loaded = [load_partial(name) for name in sets]  # all, so that a missing set is known at once
    if quick:
        loaded = [shorten(data, seed) for data in loaded]
    ridges = tuple(ridges or ((DEFAULT, 10.0) if quick else RIDGES))
    settings = {"ridges": list(ridges), "folds": N_FOLDS, "repeats": repeats}
    results = describe("partial_labels", seed, quick, settings)
    results["sets"] = [compare(data, ridges, repeats, seed, progress) for data in loaded]
    results["claims"] = [one for row in results["sets"] for one in judge(row, ridges, quick)]
    return results


def shorten(data: PartialData, seed: int) -> PartialData:
    """A random part of the rows."""
    kept = np.random.default_rng(seed).permutation(len(data.X))[:QUICK_ROWS]
    return PartialData(data.name, data.X[kept], data.labels[kept], data.y[kept])


def judge(row: dict[str, Any], ridges: Sequence[float], quick: bool) -> list[dict[str, Any]]:
    """What a set says about the criteria."""
    name, ours = row["set"], row["methods"]["minimum_commitment"]
    at = list(ridges).index(DEFAULT)
    verdicts = []
    if name in WANTED and not quick:
        wanted = WANTED[name]
        best = max(ours["by_ridge"], key=lambda cell: cell["accuracy"]["mean"])
        chosen = ours["by_choice"][CHOICES[0]]["accuracy"]
        text = f"{name}: minimum commitment at least {wanted:g} "
        detail = f"{with_interval(best['accuracy'], 3)} at alpha {best['ridge']:g}"
        reached = best["accuracy"]["mean"] >= wanted
        verdicts.append(ask(text + "at the best alpha", reached, detail, required=True))
        reached = chosen["mean"] >= wanted
        where = "at alphas chosen by the log-loss of candidates"
        verdicts.append(ask(text + where, reached, with_interval(chosen, 3)))
    for rival in ("maximum_entropy", "self_consistent"):
        lead = row["lead"][rival][at]
        sure = lead["low"] > 0.0 or lead["high"] < 0.0
        text = f"{name}: minimum commitment above {METHODS[rival]} at alpha 1"
        above = lead["mean"] > 0.0 if sure else None
        verdicts.append(ask(text, above, with_interval(lead, 3, "+")))
    gap = row["largest_difference_of_twins"]
    text = f"{name}: weighted rows are maximum entropy (chances within 0.01)"
    verdicts.append(ask(text, gap < 0.01, f"largest difference {gap:.1g}"))
    return verdicts


def tables(results: Results) -> dict[str, Table]:
    """The sets, the accuracies, and the ridges that were chosen."""
    rows, chosen = [], []
    for one in results["sets"]:
        for method, name in METHODS.items():
            found = one["methods"][method]
            cells = [with_interval(cell["accuracy"], 3) for cell in found["by_ridge"]]
            rows.append([one["set"], name, *cells])
            if found["by_choice"]:
                by_choice = [found["by_choice"][choice] for choice in CHOICES]
                cells = [with_interval(cell["accuracy"], 3) for cell in by_choice]
                cells += [counted(cell["ridges"]) for cell in by_choice]
                chosen.append([one["set"], name, *cells])
    facts = [
        [*(str(one[key]) for key in FACTS), f"{one['candidates']:.2f}"] for one in results["sets"]
    ]
    head = ["set", "method", *(f"alpha {ridge:g}" for ridge in results["settings"]["ridges"])]
    chosen_head = ["set", "method", *CHOICES, *(f"alphas by {choice}" for choice in CHOICES)]
    caption = "Accuracy against the true class, mean over folds with 95 % interval."
    return {
        "sets": Table("The sets.", [*FACTS, "candidates a row"], facts),
        "accuracy": Table(caption, head, rows),
        "chosen": Table("With the ridge chosen in the training folds.", chosen_head, chosen),
    }


def counted(ridges: Sequence[float]) -> str:
    """How often each ridge was chosen."""
    return ", ".join(f"{ridge:g}: {ridges.count(ridge)}" for ridge in sorted(set(ridges)))


def draw(results: Results, path: Path) -> None:
    """Accuracy against the ridge, one panel for each set."""
    figure, panels = open_figure(1, len(results["sets"]), size=(9.5, 3.6), share=False)
    for axes, one in zip(panels[0], results["sets"], strict=True):
        for number, (method, name) in enumerate(METHODS.items()):
            cells = one["methods"][method]["by_ridge"]
            x = [cell["ridge"] for cell in cells]
            mean, low, high = (
                [100 * cell["accuracy"][key] for cell in cells] for key in ("mean", "low", "high")
            )
            style = {"linestyle": ":" if method == "rows" else "-", "marker": "o", "markersize": 4}
            axes.plot(x, mean, color=f"C{number}", label=name, **style)
            axes.fill_between(x, low, high, color=f"C{number}", alpha=0.15, linewidth=0)
        axes.set_xscale("log")
        axes.set_title(one["set"], fontsize=11)
        axes.set_xlabel("ridge alpha")
    panels[0][0].set_ylabel("accuracy (%)")
    panels[0][0].legend(frameon=False, fontsize=8)
    save_figure(figure, path)
