"""Unlabeled items in the evidential k-NN rule: figure 1, table II and figure 2 of Vannoorenberghe.

Four ways with items that have no label, under one rule:

=========  =====================================================================================
labeled    all labels are there: what better labels could give at most
count      unlabeled neighbors fill places among the k, as in the paper's middle column
relabeled  a first rule of the labeled items labels the others; a final rule learns from all
dropped    unlabeled items are left out, with which the paper does not compare
=========  =====================================================================================

The paper states neither k nor gamma. Figure 1: k = 4, gamma = 1, full trust at distance zero. Table
II: the same k and gamma, trust 0.95. Figure 2: gamma by the criterion C1 and k by leave-one-out, as
the text has it; the two Gaussian classes, which it does not give, have unit covariance and means
(0, 0) and (2, 0).
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from plausible.experiments.comparison import Claim, Results, Table, claim, printed
from plausible.labels import Labels
from plausible.models import BeliefTreeClassifier
from plausible.neighbors import EvidentialNeighborsClassifier, Relabeller, RelabellingClassifier

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

K, GAMMA = 4, 1.0
FIGURE_1, TABLE_2, FIGURE_2 = (
    "vannoorenberghe-figure-1",
    "vannoorenberghe-table-2",
    "vannoorenberghe-figure-2",
)
PLACES = np.array([[0.0], [0.5], [2.0], [3.0]])
MEANS = np.array([[-1.0, -1.0], [1.0, 2.0], [-1.5, 2.0]])
ANGLES = (np.pi / 3, np.pi / 2, -np.pi / 3)
AXES = np.sqrt(np.array([np.sqrt(3.0), np.sqrt(3.0) / 3.0]))
PAPER = {"labeled": 0.112, "count": 0.279, "relabeled": 0.146}
WAYS = ("labeled", "count", "relabeled", "dropped")
MISSING = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

neighbors = partial(EvidentialNeighborsClassifier, K, gamma=GAMMA)
tuned = partial(EvidentialNeighborsClassifier, "cv", loss="c1")


FINALS = {  # one entry for each final rule
    "k-NN": neighbors,
    "belief tree": partial(BeliefTreeClassifier, min_samples_leaf=5, random_state=0),
}


# -- Data ------------------------------------------------------------------------------------------


def draw_three(n: int, random: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """The paper's three classes, n items of each: exp(0.3 z) with Gaussian z."""
    parts = []
    for mean, angle in zip(MEANS, ANGLES, strict=True):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        parts.append(mean + (random.normal(size=(n, 2)) * AXES) @ turn.T)
    return np.exp(0.3 * np.concatenate(parts)), np.repeat(np.arange(3), n)


def draw_two(n: int, random: np.random.Generator) -> tuple[FloatArray, IntArray]:
    """Two Gaussian classes, n items of each."""
    means = np.repeat([[0.0, 0.0], [2.0, 0.0]], n, axis=0)
    return means + random.normal(size=(2 * n, 2)), np.repeat([0, 1], n)


def hide(y: IntArray, n_hidden: int, random: np.random.Generator) -> Labels:
    """Labels of which some, chosen at random, are unknown."""
    shown: list[Any] = y.tolist()
    for row in random.choice(len(y), n_hidden, replace=False):
        shown[row] = None
    return Labels.from_crisp(shown, classes=range(int(y.max()) + 1), missing=None)


# -- Figure 1 --------------------------------------------------------------------------------------


def curves() -> dict[str, Any]:
    """Bets on the first class along the line, and the relabeled item."""
    rule = EvidentialNeighborsClassifier(K, gamma=GAMMA, max_mass=1.0)
    shown: list[Any] = ["w1", None, "w2", "w2"]
    some = Labels.from_crisp(shown, missing=None)
    true = Labels.from_crisp(["w1", "w1", "w2", "w2"])
    done = Relabeller(rule).fit(PLACES, some).labels_
    grid = np.linspace(-2.0, 5.0, 141)[:, None]
    bets = {
        name: rule.fit(PLACES, labels).predict_proba(grid)[:, 0].tolist()
        for name, labels in (("count", some), ("relabeled", done), ("labeled", true))
    }
    masses = done[1].masses()
    return {"x": grid[:, 0].tolist(), "bets": bets, "relabeled": masses.values[0].tolist()}


# -- Table II --------------------------------------------------------------------------------------


def errors_of_ways(
    X: FloatArray, y: IntArray, some: Labels, X_test: FloatArray, y_test: IntArray, rule: Any
) -> dict[str, float]:
    """Test errors of one rule in the four ways."""
    fitted = {
        "labeled": rule().fit(X, y),
        "count": rule().fit(X, some),
        "relabeled": RelabellingClassifier(rule(), rule()).fit(X, some),
        "dropped": RelabellingClassifier(rule(), rule(), unknown="drop").fit(X, some),
    }
    return {way: float((one.predict(X_test) != y_test).mean()) for way, one in fitted.items()}


def errors_of_finals(
    X: FloatArray, some: Labels, X_test: FloatArray, y_test: IntArray
) -> dict[str, dict[str, float]]:
    """Test errors of each final rule after the k-NN rule, and without the unlabeled items."""
    return {
        name: {
            way: float(
                (
                    RelabellingClassifier(neighbors(), rule(), unknown=unknown)
                    .fit(X, some)
                    .predict(X_test)
                    != y_test
                ).mean()
            )
            for way, unknown in (("relabeled", "relabel"), ("dropped", "drop"))
        }
        for name, rule in FINALS.items()
    }


def table_two(n_draws: int, n_test: int, seed: int, progress: Progress) -> dict[str, Any]:
    """Errors over draws of 150 items, of which 100 are unlabeled."""
    ways: dict[str, list[float]] = {way: [] for way in WAYS}
    learned: dict[str, list[float]] = {way: [] for way in WAYS}
    finals: dict[str, dict[str, list[float]]] = {}
    for number in range(n_draws):
        random = np.random.default_rng(seed_of(seed, 2, number))
        X, y = draw_three(50, random)
        X_test, y_test = draw_three(n_test // 3, random)
        some = hide(y, 100, random)
        for rule, kept in ((neighbors, ways), (tuned, learned)):
            for way, error in errors_of_ways(X, y, some, X_test, y_test, rule).items():
                kept[way].append(error)
        for name, errors in errors_of_finals(X, some, X_test, y_test).items():
            for way, error in errors.items():
                finals.setdefault(name, {}).setdefault(way, []).append(error)
        progress(f"table II, draw {number + 1} of {n_draws}")
    return {"given": ways, "learned": learned, "finals": finals}


# -- Figure 2 --------------------------------------------------------------------------------------


def figure_two(n_draws: int, n_test: int, seed: int, progress: Progress) -> list[dict[str, Any]]:
    """Errors against the rate of missing labels."""
    rows = []
    for rate in MISSING:
        found: dict[str, list[float]] = {way: [] for way in WAYS}
        for number in range(n_draws):
            random = np.random.default_rng(seed_of(seed, 3, number))
            X, y = draw_two(100, random)
            X_test, y_test = draw_two(n_test // 2, random)
            some = hide(y, round(rate * len(y)), random)
            for way, error in errors_of_ways(X, y, some, X_test, y_test, tuned).items():
                found[way].append(error)
        rows.append({"missing": rate, "errors": found})
        progress(f"figure 2, {rate:.0%} missing")
    return rows


# -- Run -------------------------------------------------------------------------------------------


def run(quick: bool = False, seed: int = 0, progress: Progress = silent) -> Results:
    """Both figures and the table.

    Parameters
    ----------
    quick : bool
        4 and 2 draws with 3000 test items instead of 30 and 10 with 15 000 and 5000.
    seed : int
    progress : function of a message
    """
    draws, n_test = ((4, 2), (3000, 2000)) if quick else ((30, 10), (15_000, 5000))
    settings = {"k": K, "gamma": GAMMA, "max_mass": 0.95, "draws": draws, "test": n_test}
    results = describe("vannoorenberghe", seed, quick, settings)
    results["figure_1"] = curves()
    results["table_2"] = table_two(draws[0], n_test[0], seed, progress)
    results["figure_2"] = figure_two(draws[1], n_test[1], seed, progress)
    results["claims"] = judge(results)
    return results


def judge(results: Results) -> list[Claim]:
    """What the paper says beside what was found."""
    return [*judge_figure_1(results), *judge_table_2(results), *judge_figure_2(results)]


def judge_figure_1(results: Results) -> list[Claim]:
    """The relabeled curve lies between the others."""
    bets = {name: np.array(values) for name, values in results["figure_1"]["bets"].items()}
    between = (bets["relabeled"] >= bets["count"] - 1e-12) & (
        bets["relabeled"] <= bets["labeled"] + 1e-12
    )
    masses = ", ".join(f"{value:.4f}" for value in results["figure_1"]["relabeled"])
    return [
        claim(
            "relabeled bets tend to those of the true label, between the two others at every x",
            bool(between.all()),
            f"at {between.sum()} of {len(between)} places; relabeled m2 = ({masses})",
            required=True,
            figure=FIGURE_1,
        )
    ]


def judge_table_2(results: Results) -> list[Claim]:
    """Printed means, and what relabeling gains over dropping."""
    given = results["table_2"]["given"]
    rows = [
        printed(f"mean error, {way}", value, float(np.mean(given[way])), 0.03, 3, figure=TABLE_2)
        for way, value in PAPER.items()
    ]
    gain = summary(np.subtract(given["count"], given["relabeled"]))
    rows.append(
        claim(
            "relabeled below count",
            gain["low"] > 0.0,
            f"by {with_interval(gain, 3)}",
            required=True,
            figure=TABLE_2,
        )
    )
    for name, errors in results["table_2"]["finals"].items():
        gain = summary(np.subtract(errors["dropped"], errors["relabeled"]))
        holds = None if gain["low"] <= 0.0 <= gain["high"] else gain["low"] > 0.0
        text = f"{name} last: relabeled below dropped"
        rows.append(claim(text, holds, f"by {with_interval(gain, 3)}", figure=TABLE_2, asked=True))
    return rows


def judge_figure_2(results: Results) -> list[Claim]:
    """Relabeled items keep the error stable, where uncounted ones do not."""
    high = [row for row in results["figure_2"] if 0.5 <= row["missing"] <= 0.9]
    rows = []
    for way in ("count", "dropped"):
        gains = [np.subtract(row["errors"][way], row["errors"]["relabeled"]) for row in high]
        gain = summary(np.mean(gains, axis=0))
        holds = None if gain["low"] <= 0.0 <= gain["high"] else gain["low"] > 0.0
        text = f"half and more labels missing: relabeled below {way}"
        rows.append(
            claim(
                text,
                holds,
                f"by {with_interval(gain, 3)}",
                figure=FIGURE_2,
                asked=way == "dropped",
            )
        )
    return rows


def tables(results: Results) -> dict[str, Table]:
    """Table II in the four ways, the final rules, and figure 2 in numbers."""
    lines = []
    for name, key in ((f"k = {K}, gamma = {GAMMA:g}", "given"), ("k and gamma learned", "learned")):
        errors = results["table_2"][key]
        cells = [f"{np.mean(errors[way]):.3f} ({np.std(errors[way]):.3f})" for way in WAYS]
        lines.append([name, *cells])
    lines.append(["paper", *(f"{PAPER[way]:.3f}" for way in WAYS[:3]), ""])
    finals = [
        [name, *(with_interval(summary(errors[way]), 3) for way in ("relabeled", "dropped"))]
        for name, errors in results["table_2"]["finals"].items()
    ]
    rates = [
        [f"{row['missing']:.0%}", *(f"{np.mean(row['errors'][way]):.3f}" for way in WAYS)]
        for row in results["figure_2"]
    ]
    return {
        "table_2": Table("Mean test errors (standard deviations).", ["rule", *WAYS], lines),
        "finals": Table(
            "Final rules after the k-NN rule.", ["final rule", "relabeled", "dropped"], finals
        ),
        "figure_2": Table("Errors by missing labels.", ["missing", *WAYS], rates),
    }


def draw(results: Results, path: Path) -> None:
    """Both figures side by side."""
    figure, panels = open_figure(1, 2, size=(10.0, 3.8), share=False)
    left, right = panels[0]
    for way, style in (("labeled", "-"), ("relabeled", "--"), ("count", ":")):
        bets = np.array(results["figure_1"]["bets"][way])
        left.plot(results["figure_1"]["x"], bets, style, color="C0", label=way)
        left.plot(results["figure_1"]["x"], 1.0 - bets, style, color="C1")
    left.plot(PLACES[:, 0], np.zeros(4), "k*", clip_on=False)
    left.set_xlabel("x (stars: items)")
    left.set_ylabel("bets on the classes")
    left.legend(frameon=False, loc="center", bbox_to_anchor=(0.7, 0.5))
    for number, way in enumerate(WAYS):
        means = [np.mean(row["errors"][way]) for row in results["figure_2"]]
        right.plot([row["missing"] for row in results["figure_2"]], means, "o-", label=way, ms=4)
        right.lines[number].set_color(f"C{number}")
    right.set_xlabel("rate of missing labels")
    right.set_ylabel("test error")
    right.legend(frameon=False)
    save_figure(figure, path)
