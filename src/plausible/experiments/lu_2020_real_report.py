"""What figure 6 and table 1 of Lu et al. (2020) become: verdicts, tables and picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plausible.experiments.common import open_figure, save_figure, summary, with_interval
from plausible.experiments.comparison import Claim, Results, Table, claim, printed

MODELS = {
    "titterington": "Titterington",
    "g2": "generalization 2",
    "g3": "generalization 3",
    "g4": "generalization 4",
    "g34": "3 and 4 together",
    "g4 once": "generalization 4, one step",
}
SOURCES = ("x", "x and w")
N_COMPONENTS = 20


@dataclass(frozen=True)
class Published:
    """What the paper says of a set; its medians were read off figure 6, where they can be."""

    medians: dict[str, float]
    order: tuple[tuple[str, str], ...]  # which model is above which
    r2: tuple[float, ...] = ()


PAPER = {
    "mnist_3_5": Published(
        {"titterington": 0.925, "g3": 0.95}, (("g3", "titterington"),), (0.9585, 0.9801)
    ),
    "cifar10": Published({"titterington": 0.72, "g4": 0.83}, (("g4", "titterington"),)),
    "emnist": Published(
        {"titterington": 0.28, "g4": 0.52},
        (("g3", "titterington"), ("g4", "titterington"), ("g4", "g3"), ("g34", "g4")),
        (0.6021, 0.5585, 0.6050),
    ),
}


def median(values: Sequence[float]) -> float:
    """The line within a box."""
    return float(np.median(values))


def ahead(better: Sequence[float], worse: Sequence[float]) -> tuple[bool | None, str]:
    """Whether one is above the other over the same tests, None if too close; and by how much."""
    gap = summary(np.subtract(better, worse))
    sure = gap["low"] > 0.0 or gap["high"] < 0.0
    return gap["mean"] > 0.0 if sure else None, with_interval(gap, 3, "+")


def judge(row: dict[str, Any]) -> list[Claim]:
    """What the paper says of a set, and what it does not ask."""
    name, scores = row["set"], row["accuracy"]
    verdicts = []
    for source in SOURCES:
        for better, worse in PAPER[name].order:
            holds, ours = ahead(scores[better][source], scores[worse][source])
            text = f"{name}, from {source}: {MODELS[better]} above {MODELS[worse]}"
            verdicts.append(claim(text, holds, ours, asked=better == "g34"))
    for model, paper in PAPER[name].medians.items():
        what = f"{name}, from x: median accuracy of {MODELS[model]}, about"
        verdicts.append(printed(what, paper, median(scores[model]["x"]), 0.01, 3))
    every = [(model, source) for model in MODELS for source in SOURCES]
    model, source = max(every, key=lambda pair: median(scores[pair[0]][pair[1]]))
    for rival, what in (("expert", "the expert alone"), ("largest", "the largest class")):
        holds, ours = ahead(scores[model][source], row[rival])
        text = f"{name}: the best model ({MODELS[model]}, from {source}) above {what}"
        verdicts.append(claim(text, holds, ours, asked=True))
    ours = row["components"][str(N_COMPONENTS)]["adjusted_r2"]
    for j, paper in enumerate(PAPER[name].r2):
        what = f"{name}, {row['classes'][j]}: adjusted R2"
        verdicts.append(printed(what, paper, ours[j], 0.05, 4, figure="lu-2020-table-1"))
    return verdicts


def tables(results: Results) -> dict[str, Table]:
    """Medians beside the paper's, numbers of components, and table 1."""
    rows, rounds = results["sets"], results["settings"]["rounds"]
    medians = f"Median accuracy of {rounds} tests; the paper's read off its figure, about."
    by_size = "Accuracy by number of principal components, all tests of the first round."
    shares = "Adjusted R2 of log odds on features within the true classes."
    return {
        "accuracy": Table(medians, *accuracy_table(rows)),
        "components": Table(by_size, *component_table(rows)),
        "adjusted_r2": Table(shares, *r2_table(rows)),
    }


def accuracy_table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Head and rows: paper, ours and difference."""
    head = ["set", "model", "paper", "ours, from x", "difference", "ours, from x and w"]
    head += ["difference", "fits with a warning"]
    lines = []
    for row in rows:
        for rival, what in (("largest", "always the largest class"), ("expert", "expert alone")):
            lines.append([row["set"], what, "", f"{median(row[rival]):.3f}", "", "", "", ""])
        for name, text in MODELS.items():
            paper = PAPER[row["set"]].medians.get(name)
            line = [row["set"], text, "" if paper is None else f"{paper:g}"]
            for source in SOURCES:
                ours = median(row["accuracy"][name][source])
                line += [f"{ours:.3f}", "" if paper is None else f"{ours - paper:+.3f}"]
            lines.append([*line, f"{row['warned'][name]} of {row['fits']}"])
    return head, lines


def component_table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Head and rows: from x / from x and w, marked where the fit warned."""
    lines = []
    for row in rows:
        for k in sorted(row["components"], key=int):
            one = row["components"][k]
            cells = []
            for name in MODELS:
                both = one["accuracy"][name]
                mark = " !" if name in one["warned"] else ""
                cells.append(f"{both['x']:.3f} / {both['x and w']:.3f}{mark}")
            lines.append([row["set"], k, *cells])
    return ["set", "components", *MODELS.values()], lines


def r2_table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Head and rows: table 1 of the paper."""
    lines = []
    for row in rows:
        ours = row["components"][str(N_COMPONENTS)]["adjusted_r2"]
        paper = PAPER[row["set"]].r2 or (None,) * len(ours)
        for j, (theirs, value) in enumerate(zip(paper, ours, strict=True)):
            shown = ["", ""] if theirs is None else [f"{theirs:.4f}", f"{value - theirs:+.4f}"]
            lines.append([row["set"], row["classes"][j], shown[0], f"{value:.4f}", shown[1]])
    return ["set", "class", "paper", "ours", "difference"], lines


def draw(results: Results, path: Path) -> None:
    """Box plots, one panel for each set."""
    figure, panels = open_figure(1, len(results["sets"]), size=(11.0, 4.0), share=False)
    short = ["T", "G2", "G3", "G4", "G3+4", "G4\nonce"]
    for axes, row in zip(panels[0], results["sets"], strict=True):
        for shift, color, source in ((-0.17, "C0", "x"), (0.17, "C1", "x and w")):
            boxes = [row["accuracy"][name][source] for name in MODELS]
            places = np.arange(len(MODELS)) + shift
            style = {"color": color, "facecolor": "none"}
            axes.boxplot(
                boxes,
                positions=places,
                widths=0.28,
                patch_artist=True,
                boxprops=style,
                medianprops={"color": color},
                flierprops={"markersize": 3},
            )
            axes.plot([], [], color=color, label=f"from {source}")
        axes.axhline(median(row["expert"]), color="k", linewidth=1, label="expert alone")
        lowest = min(median(one["x"]) for one in row["accuracy"].values())
        if (share := median(row["largest"])) > lowest - 0.2:  # else the boxes would be too small
            axes.axhline(share, color="0.5", linewidth=1, linestyle=":", label="largest class")
        paper = PAPER[row["set"]].medians
        at = [list(MODELS).index(name) for name in paper]
        axes.plot(at, list(paper.values()), "r_", markersize=22, label="paper, about")
        axes.set_xticks(range(len(MODELS)), labels=short)
        axes.set_title(row["set"], fontsize=11)
    panels[0][0].set_ylabel("accuracy")
    panels[0][-1].legend(frameon=False, fontsize=8, loc="lower right")
    save_figure(figure, path)
