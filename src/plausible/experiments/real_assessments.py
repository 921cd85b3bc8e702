"""What an expert's grades teach: stochastic supervision on two real sets.

============  ===================================================================================
mammographic  a radiologist's BI-RADS grade of 830 masses, and the truth from biopsies
elpv          an expert's grade of 2624 solar cells: functional or defective, sure or not; there is
              no other truth, so that answers are tested on cells of which the expert was sure
============  ===================================================================================

Grades become probabilities by what they mean, not by what was found. BI-RADS 2 to 5 mean a chance
of malignancy of 0, up to 2 %, 2 to 95 %, and 95 % or more; taken are the middles, 0 as 0.5 %. Grade
6 counts as 5, and 0 ("incomplete") as no assessment. Solar cells have 0, 1/3, 2/3 and 1 as given; 0
and 1 are read as 0.5 and 99.5 %, the library's default, or as certain labels ("certain").

Four or five different values are far from a Gaussian, and where classes have variances of their own
one class can shrink onto a single grade; with "floor" no variance may be less than a tenth of that
of all items.

Models learn from features and grades, and answer from features (x) or from both (x and z). Rivals:
the grade against a threshold of 1/2; logistic regression that learns the thresholded grade, or the
grade as a weight of both classes; and, as a ceiling that nobody has, logistic regression that
learns the truth. Ten times five folds; each item's share of right answers is averaged over the ten,
and intervals are over items: they do not contain the variation of the training set.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plausible.datasets import GRADED_NAMES, GradedData, load_graded
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
from plausible.models import (
    EmptyClassWarning,
    SingularCovarianceWarning,
    StochasticSupervisionClassifier,
    SupervisionWarning,
)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

MODELS = {
    "krishnan_nandy": "Krishnan and Nandy",
    "titterington": "Titterington",
    "g1": "generalization 1",
    "g2": "generalization 2",
    "g3": "generalization 3",
    "g4": "generalization 4",
    "g34": "3 and 4 together",
}
FLOORED = ("g1", "g2", "g3", "g4", "g34")
CERTAIN = ("titterington", "g1", "g2", "g3")
BIRADS = {0: np.nan, 2: 0.005, 3: 0.01, 4: 0.485, 5: 0.975, 6: 0.975}
SURE = 0.005
FLOOR = 0.1
SHRUNK = 1e-3  # variance of log odds in a class that has shrunk onto one grade
MOST_FEATURES = 20
N_FOLDS = 5
QUICK_ROWS = 400


def probabilities_of(data: GradedData) -> FloatArray:
    """The expert's probability (n,) of what is looked for; NaN where there is none."""
    if data.name == "elpv":
        return np.clip(data.grades, SURE, 1.0 - SURE)
    return np.array([BIRADS[int(grade)] for grade in data.grades])


def reference_of(data: GradedData, probability: FloatArray) -> tuple[IntArray, BoolArray]:
    """What counts as right, and which items are tested."""
    if data.y is not None:
        return data.y, np.ones(len(data.y), dtype=bool)
    sure = (data.grades == 0.0) | (data.grades == 1.0)
    return (probability > 0.5).astype(np.int64), sure


def log_odds_of(probability: FloatArray) -> FloatArray:
    """Log odds of what is looked for."""
    return np.log(probability) - np.log1p(-probability)


def standardized(X: FloatArray, train: IntArray) -> FloatArray:
    """Features of variance one; principal components of them where there are many."""
    steps: list[Any] = [StandardScaler()]
    if X.shape[1] > MOST_FEATURES:
        steps.append(PCA(MOST_FEATURES, random_state=0))
    pipeline = make_pipeline(*steps).fit(X[train])
    return np.asarray(pipeline.transform(X), dtype=np.float64)


def supervised(
    X: FloatArray, y: IntArray, weight: FloatArray | None, test: FloatArray
) -> BoolArray:
    """Answers of logistic regression."""
    model = LogisticRegression(max_iter=1000).fit(X, y, sample_weight=weight)
    return np.asarray(model.predict(test) == 1)


def rivals(
    data: GradedData, X: FloatArray, probability: FloatArray, train: IntArray, test: IntArray
) -> dict[str, BoolArray]:
    """Answers for test items without stochastic supervision."""
    known = train[~np.isnan(probability[train])]
    hard = (probability[known] > 0.5).astype(np.int64)
    twice = np.concatenate([X[known], X[known]])
    both = np.repeat([1, 0], len(known))
    share = np.concatenate([probability[known], 1.0 - probability[known]])
    found = {
        "logistic, thresholded grade | x": supervised(X[known], hard, None, X[test]),
        "logistic, weighted grade | x": supervised(twice, both, share, X[test]),
    }
    if data.y is None:
        sure = known[np.isin(data.grades[known], (0.0, 1.0))]
        hard = (probability[sure] > 0.5).astype(np.int64)
        found["logistic, sure grades only | x"] = supervised(X[sure], hard, None, X[test])
        return found
    filled = np.nan_to_num(log_odds_of(probability))
    joint = np.column_stack([X, filled])
    found["threshold of the grade | z"] = np.nan_to_num(probability[test]) > 0.5
    found["truth, logistic | x"] = supervised(X[train], data.y[train], None, X[test])
    found["truth, logistic | x and z"] = supervised(joint[train], data.y[train], None, joint[test])
    return found


def forms_of(data: GradedData) -> dict[str, tuple[str, dict[str, Any]]]:
    """Models and their options, by name."""
    forms: dict[str, tuple[str, dict[str, Any]]] = {name: (name, {}) for name in MODELS}
    forms |= {f"{name}, floor": (name, {"reg_covar": FLOOR}) for name in FLOORED}
    if data.name == "elpv":
        forms |= {f"{name}, certain": (name, {"saturated": "certain"}) for name in CERTAIN}
    return forms


def stochastic(
    data: GradedData, X: FloatArray, probability: FloatArray, train: IntArray, test: IntArray
) -> tuple[dict[str, BoolArray], dict[str, bool]]:
    """Answers for test items by each model, and whether a class has shrunk onto one grade."""
    found, shrunk = {}, {}
    for form, (name, options) in forms_of(data).items():
        Z = data.grades if "saturated" in options else probability
        counts = 2 if name in ("g4", "g34") else 1
        model = StochasticSupervisionClassifier(
            name, n_components=counts, random_state=0, **options
        )
        with warnings.catch_warnings():  # shrunk classes are counted below
            for kind in (SupervisionWarning, EmptyClassWarning, SingularCovarianceWarning):
                warnings.simplefilter("ignore", kind)
            model.fit(X[train], Z[train], classes=["found", "not"])
        if name != "krishnan_nandy":
            shrunk[form] = bool(model.assessment_covariances_.min() < SHRUNK)
        found[f"{form} | x"] = model.predict(X[test]) == "found"
        if data.y is not None:
            answers = model.predict(X[test], assessments=Z[test])
            found[f"{form} | x and z"] = answers == "found"
    return found, shrunk


def compare(data: GradedData, repeats: int, seed: int, progress: Progress) -> dict[str, Any]:
    """Accuracy of everything on one set, and gains over learning from the thresholded grade."""
    probability = probabilities_of(data)
    reference, tested = reference_of(data, probability)
    right: dict[str, FloatArray] = {}
    shrunk: dict[str, int] = {}
    for repeat in range(repeats):
        folds = KFold(N_FOLDS, shuffle=True, random_state=seed_of(seed, repeat))
        for train, test in folds.split(data.X):
            X = standardized(data.X, train)
            answers = rivals(data, X, probability, train, test)
            more, seen = stochastic(data, X, probability, train, test)
            for name, found in (answers | more).items():
                total = right.setdefault(name, np.zeros(len(X)))
                total[test] += (found == (reference[test] == 1)) / repeats
            for name, one in seen.items():
                shrunk[name] = shrunk.get(name, 0) + one
        progress(f"{data.name}: division {repeat + 1} of {repeats}")
    base = {"x": "logistic, thresholded grade | x", "x and z": "threshold of the grade | z"}
    rows = []
    for name, total in right.items():
        method, source = name.split(" | ")
        row: dict[str, Any] = {"method": method, "source": source}
        row["accuracy"] = summary(total[tested])
        rival = base.get(source)
        if rival is not None and rival != name:
            row["gain"] = summary(total[tested] - right[rival][tested])
        if method in shrunk:
            row["shrunk"] = shrunk[method] / (repeats * N_FOLDS)
        rows.append(row)
    return {
        "set": data.name,
        "rows": len(data.X),
        "tested": int(tested.sum()),
        "share": float(reference[tested].mean()),
        "methods": rows,
    }


def run(
    quick: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    *,
    sets: Sequence[str] = GRADED_NAMES,
    repeats: int | None = None,
) -> Results:
    """Accuracy from an expert's grades.

    Parameters
    ----------
    quick : bool
        400 rows of each set and one division into folds instead of ten.
    seed : int
    progress : function of a message
    sets : sequence of names that `load_graded` knows
    repeats : int
        Another number of divisions into folds.
    """
    loaded = [load_graded(name) for name in sets]  # all, so that a missing set is known at once
    if quick:
        loaded = [shorten(data, seed) for data in loaded]
    repeats = repeats or (1 if quick else 10)
    settings = {"repeats": repeats, "folds": N_FOLDS, "floor": FLOOR}
    results = describe("real_assessments", seed, quick, settings)
    results["sets"] = [compare(data, repeats, seed, progress) for data in loaded]
    results["claims"] = [one for row in results["sets"] for one in judge(row)]
    return results


def shorten(data: GradedData, seed: int) -> GradedData:
    """A random part of the rows."""
    kept = np.random.default_rng(seed).permutation(len(data.X))[:QUICK_ROWS]
    y = None if data.y is None else data.y[kept]
    return GradedData(data.name, data.X[kept], data.grades[kept], y)


def named(row: dict[str, Any]) -> str:
    """A method in words."""
    model, _, form = row["method"].partition(",")
    return MODELS[model] + ("," + form if form else "") if model in MODELS else row["method"]


def judge(one: dict[str, Any]) -> list[Claim]:
    """Whether it pays to model the expert, rather than to take his grades for labels."""
    verdicts = []
    for row in one["methods"]:
        if row["method"] not in MODELS:
            continue
        gain = row["gain"]
        holds = True if gain["low"] > 0.0 else False if gain["high"] < 0.0 else None
        rival = "logistic regression on the thresholded grade"
        if row["source"] == "x and z":
            rival = "the threshold of the grade"
        text = f"{one['set']}, from {row['source']}: {named(row)} above {rival}"
        verdicts.append(claim(text, holds, with_interval(gain, 3, "+"), asked=True))
    return verdicts


def verdict(gain: dict[str, float]) -> str:
    """Whether a difference can be told from none."""
    if gain["low"] > 0.0:
        return "gains"
    return "loses" if gain["high"] < 0.0 else "no difference seen"


def tables(results: Results) -> dict[str, Table]:
    """One table for each set."""
    head = ["learned from grades", "answers from", "accuracy", "gain", "verdict", "shrunk"]
    found = {}
    for one in results["sets"]:
        larger = max(one["share"], 1.0 - one["share"])
        caption = (
            f"{one['set']}: {one['rows']} items, {one['tested']} tested, always the more frequent "
            f"answer {larger:.3f}. Gains from x are over logistic regression on the thresholded "
            "grade, from x and z over the threshold itself. Shrunk: fits in which a class kept one "
            "grade only."
        )
        lines = []
        for source in ("z", "x", "x and z"):
            for row in one["methods"]:
                if row["source"] != source:
                    continue
                gain = row.get("gain")
                cells = ["", ""] if gain is None else [with_interval(gain, 3, "+"), verdict(gain)]
                seen = f"{row['shrunk']:.0%}" if "shrunk" in row else ""
                accuracy = with_interval(row["accuracy"], 3)
                lines.append([named(row), source, accuracy, *cells, seen])
        found[one["set"]] = Table(caption, head, lines)
    return found


def draw(results: Results, path: Path) -> None:
    """Accuracy with intervals, one panel for each set."""
    figure, panels = open_figure(1, len(results["sets"]), size=(12.0, 6.2), share=False)
    colors = {"z": "k", "x": "C0", "x and z": "C1"}
    for axes, one in zip(panels[0], results["sets"], strict=True):
        names = list(dict.fromkeys(named(row) for row in one["methods"]))
        for source, color in colors.items():
            rows = [row for row in one["methods"] if row["source"] == source]
            if not rows:
                continue
            mean, low, high = (
                100 * np.array([row["accuracy"][key] for row in rows])
                for key in ("mean", "low", "high")
            )
            shift = 0.15 if source == "x and z" else -0.15
            places = [names.index(named(row)) + shift for row in rows]
            limits = [mean - low, high - mean]
            label = f"from {source}"
            axes.errorbar(mean, places, xerr=limits, fmt="o", color=color, capsize=2, label=label)
        axes.set_yticks(range(len(names)), labels=names, fontsize=8)
        axes.invert_yaxis()
        axes.set_title(one["set"], fontsize=11)
        axes.set_xlabel("accuracy (%)")
        axes.legend(frameon=False, fontsize=8)
    save_figure(figure, path)
