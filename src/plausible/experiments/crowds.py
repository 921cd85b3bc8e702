"""Answers of crowds: what becomes of them when they are pooled, and what is learned from the pool.

First the answers alone, on eight sets. Each method names a class for every item; where it leaves a
tie, each of the tied classes counts its share. Log loss and calibration error (of the first class,
in ten bins) are those of the probabilities that it gives, or of plausibilities divided by their
sum; intervals resample items.

================  ================================================================================
majority          most frequent answer; shares of the votes
pool              `Annotations.pool()`, without any setting
pool, doubt 0.3   Dempster's rule, everybody doubted alike (names the same class as the majority)
pool, fitted      Dempster's rule, doubts learned from agreement ("one_coin")
class, full       most probable class in the models "class" and "full" of `fit_reliability`
crowd-kit         DawidSkene, OneCoinDawidSkene, GLAD, Wawa and MMSR with their defaults; the tables
                  say where GLAD or MMSR did not end within a given time
cleanlab          its consensus of several annotators, helped by the probabilities of a logistic
                  regression on the majority vote in five folds; where there are no features, its
                  majority vote
================  ================================================================================

The last two are run if they are installed; they are no part of this package.

Then four sets with features, which are standardized. Classifiers learn from each form of the same
answers, and are tested on the truth of other rows:

================  ================================================================================
majority          hard labels; ties broken at random, mean of several draws
pool              soft labels: doubt 0.3, fitted doubts, or the evidence of the model "full"
fitted, hard      most plausible class of the pool with fitted doubts, as a hard label
Dawid-Skene       most probable class in the model "full", as a hard label
joint             `JointAnnotatorClassifier`, which learns the annotators with the classifier
truth             true labels: what better labels could give at most
================  ================================================================================

================  ================================================================================
logistic          ridge alpha out of a short grid, see below
discriminant      one covariance, one feature for every ten rows by principal components
mixture, tied     the same with two components for each class
mixture, full     a covariance for each class, a weak prior, one feature for five rows of the
                  rarest class by principal components
================  ================================================================================

The ridge is the one that does best in folds of the training rows by the form's own labels, or by
the answers for the joint classifier: highest log-likelihood of what was held out, or highest
`soft_accuracy` (among equals, the largest alpha). The truth has no say in it. The Gaussian
classifiers have no other setting. Intervals are paired bootstraps of test rows; they leave out the
variation of the training set.

In "cifar10n" nobody knows who gave an answer: its three columns stand for three annotators.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from plausible.datasets import CROWD_NAMES, CrowdData, load_crowd
from plausible.experiments import crowd_learners, crowd_pools
from plausible.experiments.common import (
    Progress,
    describe,
    open_figure,
    save_figure,
    silent,
    with_interval,
)
from plausible.experiments.comparison import Claim, Results, Table, claim
from plausible.experiments.crowd_learners import CHOICES, FORMS, HARDENED, JOINT, POOLS
from plausible.experiments.kept import Kept

RESUMES = True  # `run` can go on with what an interrupted one has left
RIDGES = (1.0, 10.0, 100.0, 1000.0)
QUICK_ROWS, QUICK_TEST_ROWS, QUICK_FEATURES = 200, 1000, 100
SAME_CLASSES = ("majority", "pool, doubt 0.3")
WANTED = {  # gains over the majority vote, with the ridge that the form's own scores choose
    "labelme": {"pool, doubt 0.3": 0.02, "joint, full": 0.03},
    "music_genre": {"pool, doubt 0.3": 0.05, "joint, full": 0.05},
}


def run(
    quick: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    *,
    sets: Sequence[str] = CROWD_NAMES,
    seconds: float = crowd_pools.SECONDS,
    parts: Path | None = None,
) -> Results:
    """Accuracy of pooled answers, and of what is learned from them.

    Parameters
    ----------
    quick : bool
        200 training rows of each set, 1000 test rows, 100 features and two ridges; without GLAD
        and MMSR.
    seed : int
    progress : function of a message
    sets : sequence of names that `load_crowd` knows
    seconds : float
        After which GLAD and MMSR are stopped on a set; the tables then say so.
    parts : path, optional
        Folder for what each method found on each set, so that an interrupted run can be taken up.
    """
    loaded = [load_crowd(name) for name in sets]  # all, so that a missing set is known at once
    if quick:
        loaded = [shorten(data, seed) for data in loaded]
    ridges = (10.0, 100.0) if quick else RIDGES
    settings = {
        "ridges": list(ridges),
        "folds": crowd_learners.N_FOLDS,
        "draws": crowd_learners.N_DRAWS,
        "doubt": crowd_pools.CONSTANT,
        "seconds": seconds,
        "not_installed": [name for name, there in crowd_pools.installed().items() if not there],
    }
    results = describe("crowds", seed, quick, settings)
    kept = Kept(parts, settings | {"seed": seed, "quick": quick})
    results["pools"] = [
        crowd_pools.compare_pools(data, progress, quick, seed, seconds, kept) for data in loaded
    ]
    results["learners"] = [
        row
        for data in loaded
        if data.X is not None
        for row in crowd_learners.compare_learners(data, ridges, seed, progress, kept)
    ]
    results["claims"] = judge_pools(results["pools"], quick)
    results["claims"] += [one for row in results["learners"] for one in judge(row, quick)]
    if kept.folder is not None:
        results["seconds"] = kept.seconds()
    return results


def shorten(data: CrowdData, seed: int) -> CrowdData:
    """A random part of the items, the first test rows, and the first features."""
    kept = np.random.default_rng(seed).permutation(len(data.y))[:QUICK_ROWS]
    place = np.full(len(data.y), -1)
    place[kept] = np.arange(len(kept))
    answers = data.annotations.select(place[data.annotations.item] >= 0)
    answers = replace(answers, items=answers.items[kept], item=place[answers.item])
    short = replace(data, annotations=answers, y=data.y[kept])
    if data.X is None or data.X_test is None or data.y_test is None:
        return short
    X, X_test = data.X[kept, :QUICK_FEATURES], data.X_test[:QUICK_TEST_ROWS, :QUICK_FEATURES]
    return replace(short, X=X, X_test=X_test, y_test=data.y_test[:QUICK_TEST_ROWS])


def judge_pools(pools: list[dict[str, Any]], quick: bool) -> list[Claim]:
    """Whether the pool without any setting is as good as we want it."""
    behind, near, lowest = [], [], []
    for one in pools:
        accuracy, peers = one["accuracy"], _peers(one)
        behind += [one["set"]] if accuracy["pool"] < accuracy["majority"] - 1e-9 else []
        near.append(accuracy["pool"] >= max((accuracy[name] for name in peers), default=0) - 0.01)
        gaps = [one["less_loss"][name]["high"] for name in peers if name in one["less_loss"]]
        lowest.append(min(gaps, default=0.0) >= 0)
    held, people = (sum(one[key] for one in pools) for key in ("intervals_hold", "intervals"))
    share, most = held / people, len(pools) / 2
    return [
        claim(
            "pool: not behind the majority vote on any set", not behind,
            "behind on " + ", ".join(behind) if behind else "on none", not quick, asked=True,
        ),
        claim(
            "pool: within a point of the best other package on most sets", sum(near) > most,
            f"on {sum(near)} of {len(pools)}", not quick, asked=True,
        ),
        claim(
            "pool: lowest log loss, or within the interval of the difference, on most sets",
            sum(lowest) > most, f"on {sum(lowest)} of {len(pools)}", not quick, asked=True,
        ),
        claim(
            "reliability: 95 % intervals hold for 85 to 99 % of the annotators of all sets",
            0.85 <= share <= 0.99, f"{share:.3f} of {people}", not quick, asked=True,
        ),
    ]  # fmt: skip


def _peers(one: dict[str, Any]) -> list[str]:
    """Methods of other packages that saw only the answers, as the pool does."""
    return [name for name in one["accuracy"] if name.startswith("crowd-kit")]


def judge(row: dict[str, Any], quick: bool) -> list[Claim]:
    """Whether soft labels gain what we want of them."""
    if not row["ridges"] or row["set"] not in WANTED:  # wanted of logistic regression only
        return []
    verdicts = []
    for form in (*POOLS, *JOINT):
        wanted = WANTED[row["set"]]
        least = wanted["joint, full" if form in JOINT else "pool, doubt 0.3"]
        gain = row["gain"][form]
        text = (
            f"{row['set']}, {row['model']}: {form} at least {100 * least:g} points above majority"
        )
        detail = with_interval(gain, 1, "+", 100.0)
        required = form in wanted and row["model"].endswith(CHOICES[1]) and not quick
        verdicts.append(claim(text, gain["mean"] >= least, detail, required, asked=True))
    return verdicts


def tables(results: Results) -> dict[str, Table]:
    """Pools, learners, gains and ridges."""
    learners = results["learners"]
    missing = results["settings"]["not_installed"]
    note = f" Not installed, and left out: {', '.join(missing)}." if missing else ""
    for one in results["pools"]:
        for name, error in one.get("failed", {}).items():
            note += f" On {one['set']}, {name} ended with {error}"
    return {
        "pools": pool_table(results["pools"], note),
        "losses": loss_table(results["pools"]),
        "calibration": calibration_table(results["pools"]),
        "intervals": interval_table(results["pools"]),
        **learner_tables(learners),
        "ridges": ridge_table(learners, results["settings"]["ridges"]),
    }


def pool_table(pools: list[dict[str, Any]], note: str) -> Table:
    """A row for each set, a column for each way to combine answers."""
    names = all_names(pools, "accuracy")
    rows = [
        [
            one["set"],
            *(str(one[key]) for key in ("items", "annotators", "answers", "classes")),
            f"{one['right']:.3f}",
            *(cell(one, name, one["accuracy"].get(name)) for name in names),
        ]
        for one in pools
    ]
    facts = ["set", "items", "annotators", "answers", "classes", "answers right"]
    caption = "Share of items that are given their true class." + note
    return Table(caption, [*facts, *names], rows)


def all_names(pools: list[dict[str, Any]], key: str) -> list[str]:
    """Methods that were run on some set, in their order."""
    longest = max(pools, key=lambda one: len(one[key]))
    return list(longest[key])


def loss_table(pools: list[dict[str, Any]]) -> Table:
    """Log loss of all that give probabilities, and that of the pool with its interval."""
    names = [name for name in all_names(pools, "log_loss") if name != "pool"]
    rows = [
        [
            one["set"],
            with_interval(one["log_loss"]["pool"], 3, ""),
            *(cell(one, name, one["log_loss"].get(name, {}).get("mean")) for name in names),
        ]
        for one in pools
    ]
    caption = "Log loss of what each method says of the true class (95 % interval by items)."
    return Table(caption, ["set", "pool", *names], rows)


def calibration_table(pools: list[dict[str, Any]]) -> Table:
    """Calibration error of all that give probabilities."""
    names = all_names(pools, "ece")
    rows = [
        [one["set"], *(cell(one, name, one["ece"].get(name)) for name in names)] for one in pools
    ]
    return Table("Expected calibration error of the first class.", ["set", *names], rows)


def interval_table(pools: list[dict[str, Any]]) -> Table:
    """For how many annotators the intervals hold."""
    rows = [
        [
            one["set"],
            str(one["intervals"]),
            f"{one['intervals_hold'] / max(one['intervals'], 1):.2f}",
        ]
        for one in pools
    ]
    caption = "Share of annotators whose 95 % interval holds the share of their right answers."
    return Table(caption, ["set", "annotators", "interval holds"], rows)


def learner_tables(learners: list[dict[str, Any]]) -> dict[str, Table]:
    """Accuracies, gains over the majority vote, and what softness alone gains."""
    rows, gains, softness = [], [], []
    for row in learners:
        place = [row["set"], row["model"]]
        rows.append([*place, *(number(row["accuracy"].get(form)) for form in FORMS)])
        for form, gain in row["gain"].items():
            gains.append([*place, form, with_interval(gain, 1, "+", 100.0)])
        shown = (with_interval(row["softness"][form], 1, "+", 100.0) for form in HARDENED)
        softness.append([*place, *shown])
    pairs = [f"{soft} over {hard}" for soft, hard in HARDENED.items()]
    learned = "Test accuracy of what is learned from each form of the answers."
    over = "Gain over the majority vote (percent points, 95 % interval)."
    soft = "Gain of soft labels over the same labels hardened (percent points, 95 % interval)."
    return {
        "learners": Table(learned, ["set", "model", *FORMS], rows),
        "gains": Table(over, ["set", "model", "form", "gain"], gains),
        "softness": Table(soft, ["set", "model", *pairs], softness),
    }


def ridge_table(learners: list[dict[str, Any]], ridges: list[float]) -> Table:
    """Accuracy of logistic regression at each ridge."""
    lines = []
    for row in learners:
        for form, cell in row["ridges"].items():
            chosen = ", ".join(f"{ridge:g}" for ridge in cell["ridges"])
            by_ridge = map(number, cell["by_ridge"])
            lines.append([row["set"], row["model"], form, *by_ridge, chosen])
    head = ["set", "model", "form", *(f"alpha {ridge:g}" for ridge in ridges), "chosen"]
    caption = "Test accuracy of logistic regression at each ridge, and the ridges chosen."
    return Table(caption, head, lines)


def cell(one: dict[str, Any], name: str, value: float | None) -> str:
    """A number of a method on a set, or why there is none."""
    if name in one.get("failed", {}):
        return "failed"
    seconds = one.get("unended", {}).get(name)
    return number(value) if seconds is None else f"did not end within {seconds:g} s"


def number(value: float | None) -> str:
    """Three digits, or nothing."""
    return "" if value is None else f"{value:.3f}"


def draw(results: Results, path: Path) -> None:
    """Accuracy of pools by set, and gains of learners over the majority vote."""
    figure, panels = open_figure(1, 2, size=(11.0, 9.0), share=False)
    draw_pools(panels[0][0], results["pools"])
    draw_learners(panels[0][1], results["learners"])
    for axes in panels[0]:
        axes.axvline(0.0, color="k", linewidth=1)
        axes.invert_yaxis()
    panels[0][0].legend(frameon=False, fontsize=6, loc="lower left")
    panels[0][1].legend(frameon=False, fontsize=7)
    save_figure(figure, path)


def draw_pools(axes: Any, pools: list[dict[str, Any]]) -> None:
    """Gains over the majority vote: ours are dots, those of other packages crosses."""
    names = [name for name in all_names(pools, "accuracy") if name not in SAME_CLASSES]
    for step, name in enumerate(names):
        there = [place for place, one in enumerate(pools) if name in one["accuracy"]]
        gains = [
            100 * (pools[place]["accuracy"][name] - pools[place]["accuracy"]["majority"])
            for place in there
        ]
        marker = "o" if name in crowd_pools.OURS else "x"
        at = np.array(there) + 0.09 * (step - (len(names) - 1) / 2)
        color = "k" if name == "pool" else f"C{step}"
        axes.plot(gains, at, marker, color=color, markersize=4, label=name)
    axes.set_yticks(range(len(pools)), labels=[one["set"] for one in pools])
    axes.set_title("answers alone", fontsize=11)
    axes.set_xlabel("gain over the majority vote (points)")


def draw_learners(axes: Any, learners: list[dict[str, Any]]) -> None:
    """Gains over the majority vote with their intervals; hard labels are crosses."""
    forms = [form for form in FORMS if form not in ("majority", "truth")]
    for step, form in enumerate(forms):
        mark = "x" if form in HARDENED.values() else "o"
        for place, row in enumerate(learners):
            if form not in row["gain"]:
                continue
            mean, low, high = (100 * row["gain"][form][key] for key in ("mean", "low", "high"))
            at = place + 0.12 * (step - (len(forms) - 1) / 2)
            label = form if place == 0 else None
            limits = [[mean - low], [high - mean]]
            axes.errorbar(mean, at, xerr=limits, fmt=mark, color=f"C{step}", label=label, ms=4)
    names = [f"{row['set']}, {row['model']}" for row in learners]
    axes.set_yticks(range(len(names)), labels=names)
    axes.set_title("learned from answers and features", fontsize=11)
    axes.set_xlabel("gain in test accuracy (points)")
