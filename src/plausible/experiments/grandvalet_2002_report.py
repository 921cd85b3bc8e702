"""What the benchmark of Grandvalet (2002) says: verdicts, tables and picture from its results."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from plausible.experiments.common import open_figure, save_figure, with_interval
from plausible.experiments.comparison import Claim, Results, Table, claim, printed

Cells = list[dict[str, Any]]
Totals = dict[str, dict[str, float]]

BAYES_ERRORS = (0.025, 0.05, 0.1, 0.2, 0.4)
MISSING = (0.0, 0.5, 0.75, 0.9, 0.95)
PAPER = {"logistic": 77.1, "self-consistent": 81.2, "EM": 79.5, "Bayes": 84.5}
INTERCEPTS = ("free", "penalized", "centered")
RIDGES = (0.001, 0.1, 1.0, 10.0)
SHOWN = (("centered", 1.0), ("free", 1.0))  # what figures and claims are about
COLORS = {"self-consistent": "C0", "EM": "C1", "logistic": "C3"}
CROSSINGS = {0.1: 20.0, 0.025: 10.0}  # n/d at which mixtures overtake, by Bayes error
FIGURE_2_MISSING = 0.9
RATIOS = (5.0, 10.0, 20.0, 40.0, 80.0, 160.0)  # n/d

points = partial(with_interval, digits=2, sign="+", scale=100.0)  # a difference of rates


def name_of(method: str, intercept: str, ridge: float) -> str:
    """Key of a logistic method in the results."""
    return f"{method}, {intercept}, {ridge:g}"


def keys_of(intercept: str, ridge: float) -> dict[str, str]:
    """Keys of the three methods of the paper under one regularization."""
    names = {method: name_of(method, intercept, ridge) for method in COLORS}
    return names | {"EM": "EM"}


def mean_rate(cells: Iterable[dict[str, Any]], key: str) -> float:
    """Mean recognition rate (%) over setups."""
    return 100.0 * float(np.mean([cell["rate"][key] for cell in cells]))


def judge_figures(totals: Totals) -> list[Claim]:
    """The overall order and figures under any one of the regularizations."""
    ordered, off = [], {}
    for where in product(INTERCEPTS, RIDGES):
        rates = {m: 100 * totals[key]["mean"] for m, key in keys_of(*where).items()}
        name = f"{where[0]} {where[1]:g}"
        off[name] = max(abs(rates[m] - PAPER[m]) for m in rates)
        if rates["self-consistent"] > rates["EM"] > rates["logistic"]:
            ordered.append(name)
    nearest = min(off, key=lambda name: off[name])
    intercept, ridge = nearest.split()
    keys = keys_of(intercept, float(ridge))
    return [
        claim(
            "81.2, 79.5 and 77.1 within 0.5 points under one common regularization",
            off[nearest] < 0.5,
            f"nearest is {nearest}, off by up to {off[nearest]:.1f}",
        ),
        claim(
            "self-consistent > EM > logistic under some common regularization (means)",
            bool(ordered),
            ", ".join(ordered) or "none",
        ),
        *(
            printed(f"{m}, rate (%) under {nearest}", PAPER[m], 100 * totals[key]["mean"], 0.5, 1)
            for m, key in keys.items()
        ),
        printed("Bayes rate (%)", PAPER["Bayes"], 100 * totals["Bayes"]["mean"], 0.05, 1),
    ]


def judge(totals: Totals, cells: Cells, intercept: str, ridge: float) -> list[Claim]:
    """The claims of the text under one regularization."""
    keys = keys_of(intercept, ridge)
    where = f"{intercept}, alpha {ridge:g}"
    return [
        judge_order(totals, intercept, ridge),
        *judge_averages([cell for cell in cells if cell["main"]], keys, where),
        *judge_crossings(cells, keys, where),
    ]


def judge_order(totals: Totals, intercept: str, ridge: float) -> Claim:
    """Self-consistent above EM above logistic, with intervals over training samples."""
    over = totals[f"self-consistent - EM, {intercept}, {ridge:g}"]
    under = totals[f"EM - logistic, {intercept}, {ridge:g}"]
    wrong = over["high"] < 0.0 or under["high"] < 0.0
    sure = over["low"] > 0.0 and under["low"] > 0.0
    return claim(
        f"{intercept}, alpha {ridge:g}: self-consistent > EM > logistic overall",
        False if wrong else True if sure else None,
        f"self-consistent - EM {points(over)}, EM - logistic {points(under)}",
    )


def judge_averages(main: Cells, keys: dict[str, str], where: str) -> list[Claim]:
    """Figure 1: rates by missing labels and by Bayes rate."""

    def gain(method: str, rows: Iterable[dict[str, Any]]) -> float:
        chosen = list(rows)
        return mean_rate(chosen, keys[method]) - mean_rate(chosen, keys["logistic"])

    level = [mean_rate([c for c in main if c["missing"] == 0.0], key) for key in keys.values()]
    scarce = gain("self-consistent", (c for c in main if c["missing"] >= 0.9))
    plenty = gain("self-consistent", (c for c in main if c["missing"] < 0.9))
    learners = ("self-consistent", "EM")
    apart = [gain(m, (c for c in main if c["bayes_error"] <= 0.1)) for m in learners]
    close = [gain(m, (c for c in main if c["bayes_error"] > 0.1)) for m in learners]
    say = partial(claim, figure="grandvalet-2002-figure-1")
    return [
        say(
            f"{where}: about identical without missing labels (within 1 point)",
            max(level) - min(level) < 1.0,
            ", ".join(f"{m} {rate:.1f}" for m, rate in zip(keys, level, strict=True)),
        ),
        say(
            f"{where}: self-consistent gains where labels are few (90 % missing and more)",
            scarce > max(plenty, 0.0),
            f"{scarce:+.1f} over logistic, against {plenty:+.1f} elsewhere",
        ),
        say(
            f"{where}: unlabeled rows help most where the Bayes error is low (10 % and less)",
            all(low > max(high, 0.0) for low, high in zip(apart, close, strict=True)),
            f"self-consistent {apart[0]:+.1f} against {close[0]:+.1f}, "
            f"EM {apart[1]:+.1f} against {close[1]:+.1f}",
        ),
    ]


def cells_of_figure_2(cells: Cells, error: float) -> list[dict[str, Any]]:
    """Setups of one panel of figure 2."""
    return [c for c in cells if c["missing"] == FIGURE_2_MISSING and c["bayes_error"] == error]


def judge_crossings(cells: Cells, keys: dict[str, str], where: str) -> list[Claim]:
    """Figure 2: self-consistent better below a ratio of rows to features, EM above."""
    found = []
    for error, ratio in CROSSINGS.items():
        here = cells_of_figure_2(cells, error)
        low = [c for c in here if c["n"] / c["d"] < ratio]
        high = [c for c in here if c["n"] / c["d"] > ratio]
        if not low or not high:
            continue
        gaps = [
            mean_rate(part, keys["self-consistent"]) - mean_rate(part, "EM") for part in (low, high)
        ]
        text = f"Bayes rate {100 * (1 - error):g} %: self-consistent above EM below n/d = {ratio:g}"
        detail = f"{gaps[0]:+.1f} below, {gaps[1]:+.1f} above"
        text = f"{where}, {text}, EM ahead beyond"
        found.append(
            claim(text, gaps[0] > 0.0 > gaps[1], detail, figure="grandvalet-2002-figure-2")
        )
    return found


def tables(results: Results) -> dict[str, Table]:
    """Overall rates for each regularization, rates by factor."""
    totals, main = results["overall"], [cell for cell in results["cells"] if cell["main"]]
    percent = {name: f"{100 * value['mean']:.1f}" for name, value in totals.items()}
    rows = [["paper", "not stated", *(str(PAPER[m]) for m in COLORS), "+4.1"]]
    for intercept, ridge in product(INTERCEPTS, RIDGES):
        keys = keys_of(intercept, ridge)
        gain = points(totals[f"self-consistent - logistic, {intercept}, {ridge:g}"])
        rows.append([intercept, f"{ridge:g}", *(percent[keys[m]] for m in COLORS), gain])
    head = ["intercept", "alpha", *COLORS, "self-consistent - logistic"]
    settings = results["settings"]
    caption = (
        f"Mean recognition rate (%) over {settings['setups']} setups, "
        f"{settings['training_samples']} training samples each; Bayes {percent['Bayes']} (paper "
        f"{PAPER['Bayes']}), EM from the true parameters {percent['EM from the truth']}."
    )
    return {
        "overall": Table(caption, head, rows),
        "missing": factor_table(main, "missing", MISSING),
        "bayes_error": factor_table(main, "bayes_error", BAYES_ERRORS),
    }


def factor_table(cells: Cells, factor: str, levels: Sequence[float]) -> Table:
    """Rates by the levels of one factor, averaged over the others."""
    parts = [[cell for cell in cells if cell[factor] == level] for level in levels]
    rows = []
    for intercept, ridge in SHOWN:
        for method, key in keys_of(intercept, ridge).items():
            if method == "EM" and (intercept, ridge) != SHOWN[-1]:
                continue
            name = method if method == "EM" else f"{method}, {intercept}, alpha {ridge:g}"
            rows.append([name, *(f"{mean_rate(part, key):.1f}" if part else "" for part in parts)])
    title = {"missing": "missing", "bayes_error": "Bayes error"}[factor]
    head = [f"{title} (%)", *(f"{100 * level:g}" for level in levels)]
    return Table(f"Rates (%) by {title.replace('missing', 'missing labels')}.", head, rows)


def draw(results: Results, path: Path) -> None:
    """Figures 1 and 2: full lines are centered, broken lines have a free intercept."""
    figure, panels = open_figure(2, 2, size=(7.6, 5.8), share=False)
    cells = results["cells"]
    main = [cell for cell in cells if cell["main"]]
    draw_lines(panels[0][0], main, lambda cell: 100 * cell["missing"])
    panels[0][0].set_xlabel("labels missing (%)")
    draw_lines(panels[0][1], main, lambda cell: 100 * (1 - cell["bayes_error"]), below_bayes=True)
    panels[0][1].set_xlabel("Bayes recognition rate (%)")
    panels[0][1].set_ylabel("points below the Bayes rate")
    for axes, error in zip(panels[1], CROSSINGS, strict=True):
        draw_lines(axes, cells_of_figure_2(cells, error), ratio_of)
        axes.set_xscale("log")
        axes.set_xlabel("rows for each feature, n/d")
        axes.set_title(f"Bayes rate {100 * (1 - error):g} %, 90 % missing", fontsize=10)
    for axes in panels[:, 0]:
        axes.set_ylabel("recognition rate (%)")
    panels[0][0].legend(frameon=False, fontsize=7)
    save_figure(figure, path)


def ratio_of(cell: dict[str, Any]) -> float:
    """Rows for each feature, as the nearest of a few places."""
    return min(RATIOS, key=lambda place: abs(np.log(place * cell["d"] / cell["n"])))


def draw_lines(
    axes: Any,
    cells: Cells,
    x_of: Callable[[Any], float],
    below_bayes: bool = False,
) -> None:
    """One line for each method and regularization shown, means at each place."""
    places = sorted({x_of(cell) for cell in cells})
    parts = [[cell for cell in cells if x_of(cell) == x] for x in places]
    for (intercept, ridge), style in zip(SHOWN, ("-", "--"), strict=True):
        for method, key in keys_of(intercept, ridge).items():
            if method == "EM" and style == "--":
                continue
            name = method if method == "EM" else f"{method}, {intercept}"
            means = [mean_rate(part, key) for part in parts]
            if below_bayes:  # rates span 40 points, methods differ by one or two
                means = [y - mean_rate(p, "Bayes") for y, p in zip(means, parts, strict=True)]
            look = {"color": COLORS[method], "linestyle": style, "marker": "o", "markersize": 3}
            axes.plot(places, means, label=name, **look)
