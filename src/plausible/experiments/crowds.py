"""Answers of crowds: what becomes of them when they are pooled, and what is learnt from the pool.

First the answers alone, on eight sets. Each method names a class for every item; where it leaves a
tie, each of the tied classes counts its share.

================  ================================================================================
majority          most frequent answer
pool, doubt 0.3   Dempster's rule, everybody doubted alike (names the same class as the majority)
pool, fitted      Dempster's rule, doubts learnt from agreement ("one_coin")
class, full       most probable class in the models "class" and "full" of `fit_reliability`
crowd-kit         its MajorityVote, DawidSkene, GLAD and MACE with their defaults
cleanlab          its consensus of several annotators, helped by the probabilities of a logistic
                  regression on the majority vote in five folds; where there are no features, its
                  majority vote
================  ================================================================================

The last two are run if they are installed; they are no part of this package.

Then four sets with features, which are standardised. Logistic regression and linear discriminant
analysis learn from each form of the same answers, and are tested on the truth of other rows:

================  ================================================================================
majority          hard labels; ties broken at random, mean of several draws
pool              soft labels: doubt 0.3, fitted doubts, or the evidence of the model "full"
Dawid-Skene       most probable class in the model "full", as a hard label
joint             `JointAnnotatorClassifier`, which learns the annotators with the classifier
truth             true labels: what better labels could give at most
================  ================================================================================

The ridge alpha of logistic regression is the one, out of a short grid, that does best in folds of
the training rows by the form's own labels, or by the answers for the joint classifier: highest
log-likelihood of what was held out, or highest `soft_accuracy` (among equals, the largest alpha).
The truth has no say in it. Discriminant analysis (the mixture with a common covariance) has one
feature for every ten rows by principal components, and no other setting. Intervals are paired
bootstraps of test rows; they leave out the variation of the training set.

In "cifar10n" nobody knows who gave an answer: its three columns stand for three annotators.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plausible.datasets import CROWD_NAMES, CrowdData, load_crowd, majority_vote
from plausible.experiments.common import (
    Progress,
    Results,
    bootstrap,
    claim,
    command,
    describe,
    format_claims,
    format_table,
    open_figure,
    save_figure,
    seed_of,
    silent,
    with_interval,
)
from plausible.experts import Annotations, JointAnnotatorClassifier, fit_reliability
from plausible.labels import Labels
from plausible.metrics import soft_accuracy
from plausible.models import DiscriminantClassifier, PartialLogisticRegression

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CONSTANT = 0.3
OURS = ("majority", "pool, doubt 0.3", "pool, fitted", "class", "full")
PEERS = {
    "crowd-kit": ("MajorityVote", "DawidSkene", "GLAD", "MACE"),
    "cleanlab": ("consensus",),
}
MODULES = {"crowd-kit": "crowdkit", "cleanlab": "cleanlab"}
POOLS = ("pool, doubt 0.3", "pool, fitted", "pool, full")
JOINT = {"joint, one coin": "one_coin", "joint, full": "full"}
HARD = ("majority", "Dawid-Skene", "truth")
FORMS = ("majority", *POOLS, "Dawid-Skene", *JOINT, "truth")
CHOICES = ("likelihood", "accuracy")
RIDGES = (1.0, 10.0, 100.0, 1000.0)
N_FOLDS, N_DRAWS = 3, 3
QUICK_ROWS = 300
WANTED = {  # gains over the majority vote
    "labelme": {"pool, fitted": 0.02, "joint, full": 0.03},
    "music_genre": {"pool, fitted": 0.05, "joint, full": 0.05},
}


# The answers alone.


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
    return answers.contours.argmax(axis=1)[answers.statement]


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


def compare_pools(data: CrowdData, progress: Progress) -> dict[str, Any]:
    """Accuracy of all methods on the answers of one set."""
    answers = data.annotations
    accuracy = {name: credit(one, data.y) for name, one in our_scores(answers).items()}
    there = installed()
    for package, methods in PEERS.items():
        for method in methods if there[package] else ():
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


# The answers with features.


def label_sets(data: CrowdData, seed: int) -> dict[str, list[Labels]]:
    """Labels of the training rows in each form that is not joint; several draws of ties."""
    answers = data.annotations
    classes = answers.classes.tolist()
    votes = answers.votes()
    named = np.append(answers.classes, "")  # -1, the last one, is "nobody answered"

    def crisp(codes: IntArray) -> Labels:
        return Labels.from_crisp(named[codes], classes, missing="")

    return {
        "majority": [crisp(majority_vote(votes, seed_of(seed, k))) for k in range(N_DRAWS)],
        "pool, doubt 0.3": [answers.pool(doubt=CONSTANT)],
        "pool, fitted": [answers.pool(doubt="fit")],
        "pool, full": [answers.pool(doubt="fit", model="full")],
        "Dawid-Skene": [crisp(fit_reliability(answers, "full").posterior.argmax(axis=1))],
        "truth": [crisp(data.y)],
    }


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


def compare_logistic(
    data: CrowdData,
    X: NDArray[Any],
    X_test: NDArray[Any],
    labels: dict[str, list[Labels]],
    ridges: Sequence[float],
    seed: int,
    progress: Progress,
) -> list[dict[str, Any]]:
    """Accuracy of logistic regression from every form, by each choice of the ridge."""
    right = data.annotations.classes[data.y_test]
    fold = np.random.default_rng(seed).permutation(np.arange(len(X)) % N_FOLDS)
    cells: list[dict[str, Any]] = [{} for _ in CHOICES]
    correct: list[dict[str, FloatArray]] = [{} for _ in CHOICES]
    for form in FORMS:
        draws = labels.get(form, [data.annotations])
        runs = [learn_logistic(X, X_test, given, form, ridges, fold) for given in draws]
        hits = np.array([[found == right for found in each] for each, _ in runs])
        for choice in range(len(CHOICES)):
            best = [chosen[choice] for _, chosen in runs]
            correct[choice][form] = hits[np.arange(len(runs)), best].mean(axis=0)
            cells[choice][form] = {
                "by_ridge": hits.mean(axis=(0, 2)).tolist(),
                "ridges": [ridges[place] for place in best],
            }
        shown = ", ".join(f"{value:.4f}" for value in hits.mean(axis=(0, 2)))
        progress(
            f"{data.name}, logistic, {form}: {shown}; {[one[form]['ridges'] for one in cells]}"
        )
    return [
        row_of(data.name, f"logistic, by {choice}", correct[number], cells[number], seed)
        for number, choice in enumerate(CHOICES)
    ]


def compare_discriminant(
    data: CrowdData,
    X: NDArray[Any],
    X_test: NDArray[Any],
    labels: dict[str, list[Labels]],
    seed: int,
    progress: Progress,
) -> dict[str, Any]:
    """Accuracy of linear discriminant analysis from every form that is not joint."""
    right = data.annotations.classes[data.y_test]
    reduce = PCA(min(X.shape[1], len(X) // 10), random_state=0)
    Z, Z_test = reduce.fit_transform(X), reduce.transform(X_test)
    correct = {}
    for form, draws in labels.items():
        models = (DiscriminantClassifier(max_iter=10_000).fit(Z, given) for given in draws)
        correct[form] = np.mean([model.predict(Z_test) == right for model in models], axis=0)
        progress(f"{data.name}, discriminant, {form}: {correct[form].mean():.4f}")
    return row_of(data.name, "discriminant", correct, {}, seed)


def row_of(
    name: str, model: str, correct: dict[str, FloatArray], cells: dict[str, Any], seed: int
) -> dict[str, Any]:
    """Accuracies and gains over the majority vote, ready for JSON."""
    base = correct["majority"]
    return {
        "set": name,
        "model": model,
        "accuracy": {form: float(one.mean()) for form, one in correct.items()},
        "gain": {
            form: bootstrap(one - base, seed) for form, one in correct.items() if form != "majority"
        },
        "ridges": cells,
    }


def compare_learners(
    data: CrowdData, ridges: Sequence[float], seed: int, progress: Progress
) -> list[dict[str, Any]]:
    """Both learners on one set."""
    assert data.X is not None
    scale = StandardScaler().fit(data.X)
    X, X_test = scale.transform(data.X), scale.transform(data.X_test)
    labels = label_sets(data, seed)
    narrow = X.astype(np.float32), X_test.astype(np.float32)
    return [
        *compare_logistic(data, *narrow, labels, ridges, seed, progress),
        compare_discriminant(data, X, X_test, labels, seed, progress),
    ]


# Both together.


def run(
    quick: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    *,
    sets: Sequence[str] = CROWD_NAMES,
) -> Results:
    """Accuracy of pooled answers, and of what is learnt from them.

    Parameters
    ----------
    quick : bool
        300 training rows of each set and two ridges.
    seed : int
    progress : function of a message
    sets : sequence of names that `load_crowd` knows
    """
    loaded = [load_crowd(name) for name in sets]  # all, so that a missing set is known at once
    if quick:
        loaded = [shorten(data, seed) for data in loaded]
    ridges = (10.0, 100.0) if quick else RIDGES
    missing = [name for name, there in installed().items() if not there]
    settings = {"ridges": list(ridges), "folds": N_FOLDS, "draws": N_DRAWS, "doubt": CONSTANT}
    results = describe("crowds", seed, quick, settings | {"not_installed": missing})
    results["pools"] = [compare_pools(data, progress) for data in loaded]
    results["learners"] = [
        row
        for data in loaded
        if data.X is not None
        for row in compare_learners(data, ridges, seed, progress)
    ]
    results["claims"] = [one for row in results["learners"] for one in judge(row, quick)]
    return results


def shorten(data: CrowdData, seed: int) -> CrowdData:
    """A random part of the items."""
    kept = np.random.default_rng(seed).permutation(len(data.y))[:QUICK_ROWS]
    place = np.full(len(data.y), -1)
    place[kept] = np.arange(len(kept))
    answers = data.annotations.select(place[data.annotations.item] >= 0)
    answers = replace(answers, items=answers.items[kept], item=place[answers.item])
    X = None if data.X is None else data.X[kept]
    return replace(data, annotations=answers, y=data.y[kept], X=X)


def judge(row: dict[str, Any], quick: bool) -> list[dict[str, Any]]:
    """Whether soft labels gain what we want of them."""
    if row["model"] == "discriminant" or row["set"] not in WANTED:
        return []
    verdicts = []
    for form in (*POOLS, *JOINT):
        wanted = WANTED[row["set"]]
        least = wanted["joint, full" if form in JOINT else "pool, fitted"]
        gain = row["gain"][form]
        text = (
            f"{row['set']}, {row['model']}: {form} at least {100 * least:g} points above majority"
        )
        detail = with_interval(gain, 1, "+", 100.0)
        required = form in wanted and row["model"].endswith(CHOICES[0]) and not quick
        verdicts.append(claim(text, gain["mean"] >= least, detail, required))
    return verdicts


def tables(results: Results) -> str:
    """Pools, learners, ridges and claims."""
    names = list(results["pools"][0]["accuracy"])
    pools = [
        [
            one["set"],
            *(str(one[key]) for key in ("items", "annotators", "answers", "classes")),
            f"{one['right']:.3f}",
            *(f"{one['accuracy'][name]:.3f}" for name in names),
        ]
        for one in results["pools"]
    ]
    facts = ["set", "items", "annotators", "answers", "classes", "answers right"]
    missing = results["settings"]["not_installed"]
    note = f"Not installed, and left out: {', '.join(missing)}.\n" if missing else ""
    rows, gains, by_ridge = [], [], []
    for row in results["learners"]:
        place = [row["set"], row["model"]]
        rows.append([*place, *(number(row["accuracy"].get(form)) for form in FORMS)])
        for form, gain in row["gain"].items():
            gains.append([*place, form, with_interval(gain, 1, "+", 100.0)])
        for form, cell in row["ridges"].items():
            chosen = ", ".join(f"{ridge:g}" for ridge in cell["ridges"])
            by_ridge.append([*place, form, *map(number, cell["by_ridge"]), chosen])
    heads = [f"alpha {ridge:g}" for ridge in results["settings"]["ridges"]]
    return "\n".join(
        [
            "Share of items that are given their true class.\n",
            format_table([*facts, *names], pools),
            f"\n{note}\nTest accuracy of what is learnt from each form of the answers.\n",
            format_table(["set", "model", *FORMS], rows),
            "\nGain over the majority vote (percent points, 95 % interval).\n",
            format_table(["set", "model", "form", "gain"], gains),
            "\nTest accuracy of logistic regression at each ridge, and the ridges chosen.\n",
            format_table(["set", "model", "form", *heads, "chosen"], by_ridge),
            "",
            format_claims(results["claims"]),
        ]
    )


def number(value: float | None) -> str:
    """Three digits, or nothing."""
    return "" if value is None else f"{value:.3f}"


def draw(results: Results, path: Path) -> None:
    """Accuracy of pools by set, and gains of learners over the majority vote."""
    figure, panels = open_figure(1, 2, size=(11.0, 7.0), share=False)
    left, right = panels[0]
    for place, one in enumerate(results["pools"]):
        base = one["accuracy"]["majority"]
        names = [name for name in one["accuracy"] if name not in OURS[:2]]
        for number_, name in enumerate(names):
            marker = "o" if name in OURS else "x"
            gain = 100 * (one["accuracy"][name] - base)
            label = name if place == 0 else None
            at = place + 0.09 * (number_ - (len(names) - 1) / 2)
            left.plot(gain, at, marker, color=f"C{number_}", markersize=4, label=label)
    left.set_yticks(range(len(results["pools"])), labels=[one["set"] for one in results["pools"]])
    left.set_title("answers alone", fontsize=11)
    left.set_xlabel("gain over the majority vote (points)")
    forms = [form for form in FORMS if form not in ("majority", "truth")]
    for number_, form in enumerate(forms):
        for place, row in enumerate(results["learners"]):
            if form not in row["gain"]:
                continue
            mean, low, high = (100 * row["gain"][form][key] for key in ("mean", "low", "high"))
            at = place + 0.12 * (number_ - (len(forms) - 1) / 2)
            label = form if place == 0 else None
            limits = [[mean - low], [high - mean]]
            right.errorbar(mean, at, xerr=limits, fmt="o", color=f"C{number_}", label=label, ms=4)
    names = [f"{row['set']}, {row['model']}" for row in results["learners"]]
    right.set_yticks(range(len(names)), labels=names)
    right.set_title("learnt from answers and features", fontsize=11)
    right.set_xlabel("gain in test accuracy (points)")
    for axes in panels[0]:
        axes.axvline(0.0, color="k", linewidth=1)
        axes.invert_yaxis()
        axes.legend(frameon=False, fontsize=7)
    save_figure(figure, path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as a program."""
    about = "Answers of crowds on eight real sets in the folder that PLAUSIBLE_DATA names."
    return command("crowds", about, run, tables, draw, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
