"""Draw the picture of the README from the data of ``examples/two_experts.py``.

Run with ``make pictures``; writes ``two_experts.png`` beside this file.
"""

import runpy
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from plausible.belief import SparseMasses, belief, conflict, contour, decide, dempster, pignistic

HERE = Path(__file__).parent
EXAMPLE = runpy.run_path(str(HERE.parents[1] / "examples" / "two_experts.py"))
SPECIES = EXAMPLE["SPECIES"]
SHOWN = {0: "they agree", 3: "they clash", 4: "they say little"}
INK, INTERVAL, MARK = "#222222", "#9ecae1", "#08519c"


def draw_belief(axes: Axes, pooled: SparseMasses) -> None:
    """Belief interval of each species as a bar, its pignistic probability as a mark."""
    singletons = [1 << k for k in range(len(SPECIES))]
    lower, upper, betting = belief(pooled, singletons), contour(pooled), pignistic(pooled)
    for place, (low, high, bet) in enumerate(zip(lower, upper, betting, strict=True)):
        axes.barh(place, high - low, left=low, height=0.5, color=INTERVAL)
        axes.plot([bet, bet], [place - 0.32, place + 0.32], color=MARK, linewidth=3)
    axes.set_xlim(0, 1.01)
    axes.set_ylim(len(SPECIES) - 0.4, -0.6)
    axes.set_xticks([0, 0.5, 1], labels=["0", "0.5", "1"])
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)


def main() -> None:
    """Draw one panel for each kind of evidence."""
    opinions = EXAMPLE["doubted_opinions"]()
    pooled = dempster(*opinions)
    answers = decide(pooled, reject=0.3).names(SPECIES)
    plt.rcParams.update({"font.size": 11, "text.color": INK, "axes.labelcolor": INK})
    figure, panels = plt.subplots(1, len(SHOWN), figsize=(11, 3.1), sharey=True)
    for axes, (row, title) in zip(panels, SHOWN.items(), strict=True):
        draw_belief(axes, pooled[row])
        clash = conflict(*(opinion[row] for opinion in opinions))
        answer = answers[row] or "refuse to answer"
        axes.set_title(f"Photograph {row + 1}: {title}", fontsize=11, fontweight="bold")
        axes.set_xlabel(f"conflict {clash:.2f}\ndecision: {answer}")
    panels[0].set_yticks(range(len(SPECIES)), labels=SPECIES)
    figure.suptitle(
        "Two experts on three species: from belief to plausibility (bar), and the betting"
        " probability (mark)",
        fontsize=11,
    )
    figure.tight_layout()
    figure.savefig(HERE / "two_experts.png", dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    main()
