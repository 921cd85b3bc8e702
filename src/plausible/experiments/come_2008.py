"""Figure 1.1 of Côme, Oukhellou, Denoeux, Aknin, Mixture model estimation with soft labels, 2008.

An expert names the class of each item and says how much he doubts it. What is the test error of a
Gaussian mixture that learns from his labels (supervised), from none (unsupervised), from those that
he doubts at most by half (adaptive semi-supervised), or from labels and doubts (soft)?

Read as the authors must have meant: the doubts have standard deviation 0.2 (a variance of 0.2 is
impossible for means 0.1, 0.2 and 0.8); one full covariance for each class (equation 1.13). EM
starts at the true parameters, so a loose stopping rule would flatter it: all methods go on until a
step gains less than 1e-7 for each item. The figure is printed without numbers; the table therefore
gives ours, and a verdict on each claim of the text.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

from plausible.datasets import DoubtfulExpert, make_doubtful_expert
from plausible.experiments.common import (
    Progress,
    describe,
    open_figure,
    save_figure,
    seed_of,
    silent,
    summary,
)
from plausible.experiments.comparison import Claim, Results, Table, claim
from plausible.labels import Labels
from plausible.models import GaussianMixtureClassifier

METHODS = {
    "supervised": "supervised",
    "unsupervised": "unsupervised",
    "adaptive": "adaptive semi-supervised",
    "soft": "soft labels",
}
COLORS = {"supervised": "C3", "unsupervised": "C7", "adaptive": "C1", "soft": "C0"}
DOUBTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
TOL = 1e-7
N_TEST = 5000
BAYES_ERROR = float(norm.cdf(-1.0))


def labels_for(method: str, data: DoubtfulExpert) -> Labels:
    """What a method learns of the expert's knowledge."""
    if method == "soft":
        return data.labels
    classes = data.labels.classes.tolist()
    if method == "unsupervised":
        return Labels.unknown(len(data.y), classes)
    if method == "supervised":
        return Labels.from_crisp(data.expert, classes)
    kept = np.where(data.doubt <= 0.5, data.expert, -1)
    return Labels.from_crisp(kept, classes, missing=-1)


def error_of(method: str, data: DoubtfulExpert, test: DoubtfulExpert) -> float:
    """Test error after EM from the true parameters."""
    n_classes, d = data.means.shape
    truth = {
        "weights": np.full(n_classes, 1.0 / n_classes),
        "means": data.means,
        "covariances": np.tile(np.eye(d), (n_classes, 1, 1)),
    }
    model = GaussianMixtureClassifier(
        "full", init=truth, tol=TOL, max_iter=100_000, unlabeled_weight=1
    )
    model.fit(data.X, labels_for(method, data))
    return float((model.predict(test.X) != test.y).mean())


def errors_at(n: int, doubt: float, n_draws: int, seed: int) -> dict[str, list[float]]:
    """Errors of all methods on the same training and test sets."""
    errors: dict[str, list[float]] = {method: [] for method in METHODS}
    for draw_number in range(n_draws):
        source = seed_of(seed, n, round(100 * doubt), draw_number)
        data = make_doubtful_expert(n, doubt, random_state=source)
        test = make_doubtful_expert(N_TEST, doubt, random_state=seed_of(source, 1))
        for method in METHODS:
            errors[method].append(error_of(method, data, test))
    return errors


def run(
    quick: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    *,
    sizes: Sequence[int] | None = None,
    doubts: Sequence[float] = DOUBTS,
    n_draws: int | None = None,
) -> Results:
    """Errors of four methods for each size of the training set and each mean doubt.

    Parameters
    ----------
    quick : bool
        5 training sets of 2000 items instead of 100 of 2000 and of 4000.
    seed : int
    progress : function of a message
    sizes, doubts, n_draws
        Other sizes, mean doubts and numbers of training sets.
    """
    sizes = tuple(sizes or ((2000,) if quick else (2000, 4000)))
    n_draws = n_draws or (5 if quick else 100)
    settings = {
        "sizes": list(sizes),
        "doubts": list(doubts),
        "training_sets": n_draws,
        "test_items": N_TEST,
        "tol_per_item": TOL,
        "covariance": "full",
        "bayes_error": BAYES_ERROR,
    }
    results = describe("come_2008", seed, quick, settings)
    results["errors"] = []
    for n in sizes:
        for doubt in doubts:
            errors = errors_at(n, doubt, n_draws, seed)
            means = {method: summary(values) for method, values in errors.items()}
            gains = {
                rival: summary(np.subtract(errors[rival], errors["soft"]))
                for rival in METHODS
                if rival != "soft"
            }
            results["errors"].append({"n": n, "doubt": doubt, "error": means, "gain": gains})
            shown = ", ".join(f"{m} {means[m]['mean']:.4f}" for m in METHODS)
            progress(f"N = {n}, doubt {doubt:.1f}: {shown}")
    results["claims"] = judge(results["errors"])
    return results


def judge(rows: list[dict[str, Any]]) -> list[Claim]:
    """The claims of the text, each with a verdict."""
    verdicts = []
    for n in sorted({row["n"] for row in rows}):
        here = [row for row in rows if row["n"] == n]
        mean = {m: np.array([row["error"][m]["mean"] for row in here]) for m in METHODS}
        doubtful = [row for row in here if row["doubt"] >= 0.295]
        verdicts += [judge_rivals(n, doubtful)] if doubtful else []
        rise = {m: mean[m][-1] - mean[m][0] for m in METHODS}
        if len(here) > 1:
            verdicts += judge_rises(n, mean["supervised"], rise)
        verdicts.append(judge_unsupervised(n, here))
    return verdicts


def judge_rivals(n: int, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Soft labels below supervised and adaptive learning in the mean, from doubt 0.3 on."""
    gains = [row["gain"][rival] for row in rows for rival in ("supervised", "adaptive")]
    least = min(gain["mean"] for gain in gains)
    sure = sum(gain["low"] > 0.0 for gain in gains)
    return claim(
        f"N = {n}: soft labels below supervised and below adaptive, from doubt 0.3 on",
        least > 0.0,
        f"least gain {least:.4f}; interval above 0 in {sure} of {len(gains)} comparisons",
        required=n == 2000,
    )


def judge_unsupervised(n: int, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Soft labels below unsupervised learning, with intervals that say so."""
    gains = [row["gain"]["unsupervised"] for row in rows]
    least = min(gain["mean"] for gain in gains)
    sure = sum(gain["low"] > 0.0 for gain in gains)
    verdict = (True if sure == len(gains) else None) if least > 0.0 else False
    text = f"N = {n}: soft labels clearly outperform unsupervised learning"
    if n > 2000:
        text += " (the paper says so of 2000 only)"
    detail = f"least gain {least:.4f}; interval above 0 in {sure} of {len(gains)} comparisons"
    return claim(text, verdict, detail)


def judge_rises(n: int, supervised: Any, rise: dict[str, float]) -> list[dict[str, Any]]:
    """How the error grows with doubt."""
    grows = f"{supervised[0]:.4f} to {supervised[-1]:.4f}"
    detail = ", ".join(f"{METHODS[m]} {rise[m]:+.4f}" for m in ("supervised", "adaptive", "soft"))
    return [
        claim(
            f"N = {n}: the error of supervised learning grows with doubt",
            bool((np.diff(supervised) > 0.0).all()),
            grows,
        ),
        claim(
            f"N = {n}: soft labels suffer less from label noise than both",
            rise["soft"] < min(rise["supervised"], rise["adaptive"]),
            detail,
        ),
    ]


def tables(results: Results) -> dict[str, Table]:
    """Errors in percent."""
    rows = []
    for row in results["errors"]:
        cells = []
        for method in METHODS:
            error = row["error"][method]
            half = 50.0 * (error["high"] - error["low"])
            cells.append(f"{100.0 * error['mean']:.2f} ± {half:.2f}")
        rows.append([str(row["n"]), f"{row['doubt']:.1f}", *cells])
    caption = (
        f"Test error (%), mean of {results['settings']['training_sets']} training sets with 95 % "
        f"interval; the best possible is {100 * BAYES_ERROR:.2f}. The paper's figure 1.1 has no "
        "numbers in the text."
    )
    return {"errors": Table(caption, ["N", "doubt", *METHODS.values()], rows)}


def draw(results: Results, path: Path) -> None:
    """Figure 1.1: one panel for each size, one line for each method."""
    sizes = results["settings"]["sizes"]
    figure, panels = open_figure(1, len(sizes), size=(4.6 * len(sizes) + 0.4, 3.8))
    for axes, n in zip(panels[0], sizes, strict=True):
        rows = [row for row in results["errors"] if row["n"] == n]
        doubts = [row["doubt"] for row in rows]
        for method, name in METHODS.items():
            errors = [row["error"][method] for row in rows]
            mean = 100 * np.array([error["mean"] for error in errors])
            low = 100 * np.array([error["low"] for error in errors])
            high = 100 * np.array([error["high"] for error in errors])
            axes.plot(doubts, mean, color=COLORS[method], label=name, marker="o", markersize=4)
            axes.fill_between(doubts, low, high, color=COLORS[method], alpha=0.2, linewidth=0)
        axes.axhline(
            100 * BAYES_ERROR, color="k", linestyle=":", linewidth=1, label="best possible"
        )
        axes.set_title(f"N = {n}", fontsize=11)
        axes.set_xlabel("mean doubt of the expert")
    panels[0][0].set_ylabel("test error (%)")
    panels[0][0].legend(frameon=False, fontsize=8)
    save_figure(figure, path)
