"""The evidential k-NN rule on the ionosphere data, with the papers' own division (Denoeux 2015).

175 training and 176 test rows, 34 features as they are. Gamma for each class is learned by the
squared leave-one-out error (Zouhal and Denoeux 1998). The printed errors are those of the authors'
own program; they hold if ours differ by one row at most.
"""

from pathlib import Path

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from plausible.belief import pignistic
from plausible.datasets import SplitData, load_split
from plausible.experiments.common import (
    Progress,
    describe,
    open_figure,
    save_figure,
    silent,
)
from plausible.experiments.comparison import Claim, Results, Table, claim, printed
from plausible.neighbors import EvidentialNeighborsClassifier

PRINTED = (
    (5, "leave_one_out", 0.108),
    (5, "test", 0.114),
    (8, "test", 0.091),
)
TRIED = tuple(range(1, 16))
ONE_ROW = 0.007  # 1/175, and the digits that were cut off in print


def errors_of(data: SplitData, k: int, gamma: str) -> dict[str, float]:
    """Errors left out one by one and on the test rows, and the cost."""
    model = EvidentialNeighborsClassifier(k, gamma).fit(data.X, data.y)
    others = model.classes_[pignistic(model.loo_masses_).argmax(axis=1)]
    return {
        "leave_one_out": float((others != data.y).mean()),
        "test": float((model.predict(data.X_test) != data.y_test).mean()),
        "cost": model.objective_,
    }


def run(quick: bool = False, seed: int = 0, progress: Progress = silent) -> Results:
    """Errors with gamma learned, by the heuristic, and of scikit-learn's rule.

    Parameters
    ----------
    quick : bool
        5 and 8 neighbors only.
    seed : int
        Nothing is drawn.
    progress : function of a message
    """
    data = load_split("ionosphere")
    tried = (5, 8) if quick else TRIED
    results = describe("denoeux_2015_neighbors", seed, quick, {"neighbors": tried})
    results["rows"] = []
    for k in tried:
        peer = KNeighborsClassifier(k).fit(data.X, data.y)
        row: Results = {
            "k": k,
            "fit": errors_of(data, k, "fit"),
            "heuristic": errors_of(data, k, "heuristic"),
            "majority": float((peer.predict(data.X_test) != data.y_test).mean()),
        }
        results["rows"].append(row)
        progress(f"k = {k}: {row['fit']['test']:.3f}")
    results["claims"] = judge(results["rows"])
    return results


def judge(rows: list[Results]) -> list[Claim]:
    """Printed errors, and that learning never costs more than the heuristic."""
    by_k = {row["k"]: row for row in rows}
    found = [
        printed(
            f"K = {k}: {which.replace('_', '-')} error",
            value,
            by_k[k]["fit"][which],
            ONE_ROW,
            3,
            required=True,
        )
        for k, which, value in PRINTED
    ]
    excess = max(row["fit"]["cost"] - row["heuristic"]["cost"] for row in rows)
    words = "a learned gamma never costs more than the heuristic"
    found.append(claim(words, excess <= 0.0, f"at most {excess:+.4f}", required=True, asked=True))
    gains = [row["majority"] - row["fit"]["test"] for row in rows]
    text = "learned gamma never above a majority vote of neighbors (test error)"
    ours = f"below by {min(gains):.3f} to {max(gains):.3f}"
    found.append(claim(text, min(gains) >= 0.0, ours, asked=True))
    return found


def tables(results: Results) -> dict[str, Table]:
    """Errors by the number of neighbors."""
    head = ["K", "leave-one-out", "test", "cost", "heuristic: test", "cost ", "majority: test"]
    rows = [
        [
            str(row["k"]),
            f"{row['fit']['leave_one_out']:.3f}",
            f"{row['fit']['test']:.3f}",
            f"{row['fit']['cost']:.4f}",
            f"{row['heuristic']['test']:.3f}",
            f"{row['heuristic']['cost']:.4f}",
            f"{row['majority']:.3f}",
        ]
        for row in results["rows"]
    ]
    return {"errors": Table("Errors and leave-one-out costs.", head, rows)}


def draw(results: Results, path: Path) -> None:
    """Test errors by the number of neighbors."""
    figure, panels = open_figure(1, 1, size=(6.5, 3.4))
    axes = panels[0][0]
    rows = results["rows"]
    numbers = [row["k"] for row in rows]
    lines = {
        "evidential, gamma learned": [row["fit"]["test"] for row in rows],
        "evidential, heuristic": [row["heuristic"]["test"] for row in rows],
        "majority of neighbors": [row["majority"] for row in rows],
    }
    for name, errors in lines.items():
        axes.plot(numbers, errors, "o-", label=name, ms=4)
    axes.plot([5, 8], [0.114, 0.091], "k*", label="printed", ms=9)
    axes.set_xlabel("neighbors")
    axes.set_ylabel("test error")
    axes.set_ylim(0.0, float(np.max(list(lines.values()))) + 0.03)
    axes.legend(frameon=False)
    save_figure(figure, path)
