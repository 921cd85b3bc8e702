"""Partially supervised discriminant analysis, after the face experiment of Denoeux's slides (2015).

There, 216 pictures of six expressions, 36 of each, were halved into a training and a test set and
reduced by principal components; five people gave each training picture degrees of plausibility,
which were discounted, pooled by Dempster's rule and given to linear discriminant analysis under
soft labels. Pictures and degrees are not public and the slides print no number, so the annotators
are simulated here (`plausible.datasets.make_annotators` says how), and the table gives our errors.

The design was fixed before the errors were seen: expressions on a circle, so that each resembles
two others; annotators of differing sharpness, who alone are wrong on a quarter to three fifths of
the items; an item's own deviation half visible to them, so that what is ambiguous is so for all;
degrees in tenths, too sure of themselves by half; one discount of 0.1 for all. The second table
varies one part of it at a time.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from plausible.datasets import Annotators, make_annotators
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
from plausible.labels import Labels
from plausible.models import GaussianMixtureClassifier

METHODS = {
    "truth": "true labels",
    "soft": "soft labels of five, pooled",
    "majority": "majority vote of five",
    "single soft": "soft labels of the middle annotator",
    "single": "answers of the middle annotator",
    "unsupervised": "unsupervised, clusters named by truth",
}
DESIGNS: dict[str, dict[str, Any]] = {
    "as described": {},
    "annotators well calibrated": {"confidence": 1.0},
    "annotators twice too sure": {"confidence": 2.0},
    "annotators three times too sure": {"confidence": 3.0},
    "annotators equally sharp": {"noise": (0.66,) * 5},
    "annotators sharper": {"noise": (0.2, 0.25, 0.3, 0.4, 0.5)},
    "items look the same to all": {"ambiguity": 1.0},
    "errors independent given the class": {"ambiguity": 0.0},
    "discount 0.01": {"doubt": 0.01},
    "discount 0.3": {"doubt": 0.3},
    "expressions further apart": {"separation": 4.0},
}
N_COMPONENTS = 10
MARGIN = 0.025

ask = partial(claim, asked=True)  # the slides show a picture without numbers


def labels_for(method: str, data: Annotators, rows: NDArray[Any]) -> Labels:
    """What a method learns about the training items."""
    middle = len(data.answers) // 2
    classes = data.labels.classes.tolist()
    if method == "soft":
        return data.labels[rows]
    if method == "single soft":
        one = Labels.from_plausibility(data.plausibilities[middle][rows], classes)
        return one.discount(float(data.doubt[middle]))
    if method == "unsupervised":
        return Labels.unknown(len(rows), classes)
    hard = {"truth": data.y, "majority": data.majority, "single": data.answers[middle]}
    return Labels.from_crisp(hard[method][rows], classes)


def errors_of(data: Annotators, methods: Sequence[str], seed: int) -> dict[str, float]:
    """Test error of each method on one division into halves."""
    rows = np.arange(len(data.y))
    train, test = train_test_split(rows, test_size=0.5, stratify=data.y, random_state=seed)
    reduce = PCA(N_COMPONENTS, random_state=seed).fit(data.X[train])
    X, X_test = reduce.transform(data.X[train]), reduce.transform(data.X[test])
    errors = {}
    for method in methods:
        model = GaussianMixtureClassifier(
            "tied", tol=1e-7, max_iter=10_000, random_state=seed, unlabeled_weight=1
        )
        if method == "unsupervised":
            model.set_params(init="kmeans", n_init=10)
        model.fit(X, labels_for(method, data, train))
        answers = model.predict(X_test)
        if method == "unsupervised":
            answers = name_clusters(model.predict(X), data.y[train])[answers]
        errors[method] = float((answers != data.y[test]).mean())
    return errors


def name_clusters(clusters: NDArray[Any], y: NDArray[Any]) -> NDArray[np.int64]:
    """Class of each cluster, one to one, that fits the true classes best."""
    n_classes = int(max(clusters.max(), y.max())) + 1
    table = np.zeros((n_classes, n_classes))
    np.add.at(table, (clusters, y), 1.0)
    return np.asarray(linear_sum_assignment(table, maximize=True)[1], dtype=np.int64)


def run(
    quick: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    *,
    n_draws: int | None = None,
    designs: dict[str, dict[str, Any]] | None = None,
) -> Results:
    """Errors of six methods, and the gain of soft labels over a majority vote in each design.

    Parameters
    ----------
    quick : bool
        8 draws and the main design only, instead of 40 draws and all designs.
    seed : int
    progress : function of a message
    n_draws, designs
        Another number of draws; other designs, as arguments of `make_annotators`, main one first.
    """
    chosen = designs or ({"as described": {}} if quick else DESIGNS)
    n_draws = n_draws or (8 if quick else 40)
    settings = {"draws": n_draws, "components": N_COMPONENTS, "designs": chosen}
    results = describe("denoeux_2015_lda", seed, quick, settings)
    results["designs"] = []
    for number, (name, design) in enumerate(chosen.items()):
        methods = tuple(METHODS) if number == 0 else ("soft", "majority")
        row = errors_in_design(design, methods, n_draws, seed)
        results["designs"].append({"design": name, **row})
        gain = with_interval(row["gain"], 3)
        progress(f"{name}: majority vote less soft labels {gain}")
    results["claims"] = judge(results["designs"])
    return results


def errors_in_design(
    design: dict[str, Any], methods: Sequence[str], n_draws: int, seed: int
) -> dict[str, Any]:
    """Errors over draws of annotators, items and halves, all again in each draw."""
    errors: dict[str, list[float]] = {method: [] for method in methods}
    wrong: list[NDArray[np.float64]] = []
    for draw_number in range(n_draws):
        source = seed_of(seed, draw_number)
        data = make_annotators(random_state=source, **design)
        for method, error in errors_of(data, methods, seed_of(source, 1)).items():
            errors[method].append(error)
        named = [*data.answers, data.majority, data.labels.contour.argmax(axis=1)]
        wrong.append((np.array(named) != data.y).mean(axis=1))
    mean_wrong = np.mean(wrong, axis=0).tolist()
    return {
        "error": {method: summary(values) for method, values in errors.items()},
        "gain": summary(np.subtract(errors["majority"], errors["soft"])),
        "wrong_answers": mean_wrong[:-2],
        "wrong_majority": mean_wrong[-2],
        "wrong_pooled": mean_wrong[-1],
    }


def judge(rows: list[dict[str, Any]]) -> list[Claim]:
    """The claims, each with a verdict."""
    main, gain = rows[0], rows[0]["gain"]
    error = {method: value["mean"] for method, value in main["error"].items()}
    verdicts = [
        ask(
            f"soft labels at least {MARGIN} below a majority vote",
            gain["mean"] >= MARGIN,
            f"gain {with_interval(gain, 3)}",
            required=True,
        ),
        ask(
            "soft labels between true labels and one annotator",
            error["truth"] <= error["soft"] <= error["single"],
            f"{error['truth']:.3f}, {error['soft']:.3f}, {error['single']:.3f}",
        ),
        ask(
            "soft labels below unsupervised learning",
            error["soft"] < error["unsupervised"],
            f"{error['soft']:.3f}, {error['unsupervised']:.3f}",
        ),
    ]
    if len(rows) > 1:
        least = min(rows, key=lambda row: float(row["gain"]["mean"]))
        text = "soft labels below a majority vote in every design"
        detail = f"least gain {with_interval(least['gain'], 3)}: {least['design']}"
        sure = True if least["gain"]["low"] > 0.0 else None
        verdicts.append(ask(text, sure if least["gain"]["mean"] > 0.0 else False, detail))
    return verdicts


def tables(results: Results) -> dict[str, Table]:
    """Errors of the methods, and gains in the designs."""
    main = results["designs"][0]
    errors = [[METHODS[m], with_interval(value, 3)] for m, value in main["error"].items()]
    alone = ", ".join(f"{share:.2f}" for share in main["wrong_answers"])
    rows = [
        [
            row["design"],
            f"{min(row['wrong_answers']):.2f} to {max(row['wrong_answers']):.2f}",
            f"{row['wrong_majority']:.3f}",
            f"{row['wrong_pooled']:.3f}",
            f"{row['error']['majority']['mean']:.3f}",
            f"{row['error']['soft']['mean']:.3f}",
            with_interval(row["gain"], 3),
        ]
        for row in results["designs"]
    ]
    head = ["design", "wrong alone", "wrong majority", "wrong pooled"]
    head += ["error, majority", "error, soft", "gain"]
    caption = (
        f"Test error, mean of {results['settings']['draws']} draws with 95 % interval; alone, the "
        f"annotators are wrong on {alone} of the items. The slides print no number."
    )
    return {
        "errors": Table(caption, ["learned from", "test error"], errors),
        "designs": Table("One part of the design changed at a time.", head, rows),
    }


def draw(results: Results, path: Path) -> None:
    """Errors of the methods, and gains in the designs."""
    designs = results["designs"]
    figure, panels = open_figure(1, 1, size=(7.5, 3.2))
    if len(designs) > 1:
        figure, panels = open_figure(2, 1, size=(7.5, 6.4), share=False)
        gains = {row["design"]: row["gain"] for row in designs}
        draw_bars(panels[1][0], gains, "C2")
        panels[1][0].axvline(MARGIN, color="k", linestyle=":", linewidth=1)
        panels[1][0].set_xlabel("error of majority vote less error of soft labels (dots: 0.025)")
    errors = {METHODS[m]: value for m, value in designs[0]["error"].items()}
    draw_bars(panels[0][0], errors, "C0")
    panels[0][0].set_xlabel("test error")
    save_figure(figure, path)


def draw_bars(axes: Any, values: dict[str, dict[str, float]], color: str) -> None:
    """A bar with its interval for each name, the first on top."""
    mean = np.array([value["mean"] for value in values.values()])
    low = np.array([value["low"] for value in values.values()])
    high = np.array([value["high"] for value in values.values()])
    places = np.arange(len(values))
    axes.barh(places, mean, color=color, alpha=0.6, height=0.7)
    axes.errorbar(mean, places, xerr=[mean - low, high - mean], fmt="none", ecolor="k", capsize=2)
    axes.set_yticks(places, labels=list(values), fontsize=9)
    axes.invert_yaxis()
