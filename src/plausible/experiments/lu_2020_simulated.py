r"""Stochastic supervision: figures 1 to 5 of Lu, Qiao, Zhu, Wang, Ma and Xue (2020).

One feature x and an expert's log odds w, whose distribution in class j is

.. math:: x \sim \sum_k \phi_{jk} N(\mu_{jk}, \sigma_{jk}^2), \qquad
          w \mid x \sim N(\alpha_j + \beta_j x, \omega_j^2)

The paper draws fits of Titterington's model, which has opposite means and equal variances of w, no
dependence on x and one Gaussian for each class, beside its generalizations 1 (any means and
variances of w), 2 (several classes), 3 (dependence on x) and 4 (several Gaussians for a class). It
prints no parameters but the two correlations of figure 4; those in `CASES` are ours. Instead of
looking at contours, this measures the log-likelihood of new items.

Generalization 4 has two Gaussians for each class, also where one would do; in figure 5 two and
three, as drawn.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import norm

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
from plausible.models import StochasticSupervisionClassifier, SupervisionWarning

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

NAMES = {"titterington": "Titterington", "g1": "1", "g2": "2", "g3": "3", "g4": "4"}
RIVALS = ("g1", "g2", "g3", "g4")
CORRELATIONS = (0.8378, 0.2994)
N_TEST = 10_000
N_CORRELATION = 20_000
MARGIN = 0.01
N_SHOWN, N_GRID = 250, 41


@dataclass(frozen=True)
class Case:
    """One figure: Gaussians of x, and intercepts, slopes and deviations of w, for each class."""

    title: str
    centers: tuple[tuple[float, ...], ...]
    spread: float
    intercepts: tuple[tuple[float, ...], ...]
    deviations: tuple[float, ...]
    slopes: tuple[float, ...] = (0.0, 0.0, 0.0)
    made_for: str = "g1"


def slope_of(correlation: float) -> float:
    """Slope for which x of variance 1 and w with noise of variance 1 have this correlation."""
    return float(correlation / np.sqrt(1.0 - correlation**2))


APART = ((1.0,), (-1.0,))
BLUE, RED = map(slope_of, CORRELATIONS)
CASES = {
    "1a": Case("symmetric", APART, 1.0, ((1.5,), (-1.5,)), (1.0, 1.0)),
    "1b": Case("asymmetric", APART, 1.0, ((3.0,), (-1.0,)), (0.7, 1.5)),
    "2a": Case("variances far apart", APART, 1.0, ((2.0,), (-2.0,)), (0.3, 3.0)),
    "2b": Case("means far from opposite", APART, 1.0, ((5.0,), (-1.0,)), (2.0, 2.0)),
    "2c": Case("both", APART, 1.0, ((5.0,), (-1.0,)), (0.5, 3.0)),
    "3": Case(
        "three classes",
        ((1.0,), (0.0,), (-1.0,)),
        1.0,
        ((3.0, 0.0), (0.0, 3.0), (-2.0, -2.0)),
        (1.0, 1.0, 1.0),
        made_for="g2",
    ),
    "4": Case(
        "w depends on x", APART, 1.0, ((2.0 - BLUE,), (RED - 2.0,)), (1.0, 1.0), (BLUE, RED), "g3"
    ),
    "5": Case(
        "several modes",
        ((-1.5, 1.5), (-3.0, 0.0, 3.0)),
        0.8,
        ((2.0,), (-1.0,)),
        (1.0, 0.6),
        made_for="g4",
    ),
}
FAILING = tuple(name for name in CASES if name not in ("1a", "3"))


def draw_items(case: Case, n: int, seed: int) -> tuple[FloatArray, FloatArray, IntArray]:
    """Features (n, 1), log odds (n, J - 1) and classes of a case; classes are equally probable."""
    random = np.random.default_rng(seed)
    y = random.integers(len(case.centers), size=n)
    sizes = np.array([len(centers) for centers in case.centers])
    place = (np.cumsum(sizes) - sizes)[y] + random.integers(sizes[y])
    x = np.concatenate(case.centers)[place] + case.spread * random.normal(size=n)
    noise = random.normal(size=(n, len(case.intercepts[0])))
    mean = np.array(case.intercepts)[y] + np.array(case.slopes)[y, None] * x[:, None]
    return x[:, None], mean + np.array(case.deviations)[y, None] * noise, y


def true_log_density(case: Case, X: FloatArray, W: FloatArray) -> FloatArray:
    """Log density (n,) of items under the parameters that made them."""
    parts = []
    for j, centers in enumerate(case.centers):
        mean = np.array(case.intercepts[j]) + case.slopes[j] * X
        of_w = norm.logpdf(W, mean, case.deviations[j]).sum(axis=1)
        of_x = logsumexp(norm.logpdf(X, np.array(centers), case.spread), axis=1)
        parts.append(of_x - np.log(len(centers) * len(case.centers)) + of_w)
    return np.asarray(logsumexp(parts, axis=0), dtype=np.float64)


def fit(model: str, case: Case, X: FloatArray, W: FloatArray) -> StochasticSupervisionClassifier:
    """One of the models on the items of a case."""
    many = [max(2, len(centers)) for centers in case.centers]
    counts: Any = many if model == "g4" else 1
    made = StochasticSupervisionClassifier(
        model, n_components=counts, scale="log_odds", max_iter=5000, random_state=0
    )
    with warnings.catch_warnings():  # Titterington's model may leave the classes: that is the point
        warnings.simplefilter("ignore", SupervisionWarning)
        return made.fit(X, W)


def compare(case: Case, n: int, runs: int, seed: int) -> dict[str, Any]:
    """Log-likelihoods of new items less Titterington's (or the truth's, for three classes)."""
    two = len(case.centers) == 2
    models = ("titterington", *RIVALS) if two else ("g2", "g3", "g4")
    scores: dict[str, list[float]] = {name: [] for name in ("truth", *models)}
    accuracy: dict[str, list[float]] = {"x": [], "x and w": []}
    for run_number in range(runs):
        X, W, _ = draw_items(case, n, seed_of(seed, run_number, 0))
        X_test, W_test, y_test = draw_items(case, N_TEST, seed_of(seed, run_number, 1))
        scores["truth"].append(float(true_log_density(case, X_test, W_test).mean()))
        for name in models:
            model = fit(name, case, X, W)
            scores[name].append(float(model.score_samples(X_test, assessments=W_test).mean()))
            if name == case.made_for:
                accuracy["x"].append(model.score(X_test, y_test))
                accuracy["x and w"].append(model.score(X_test, y_test, assessments=W_test))
    base = np.array(scores["titterington" if two else "truth"])
    gains = {name: np.array(one) - base for name, one in scores.items()}
    return {
        "log_likelihood": {name: summary(one) for name, one in scores.items()},
        "gain": {name: summary(one) for name, one in gains.items()},
        "least_gain": {name: float(one.min()) for name, one in gains.items()},
        "wins": {name: int((one > 0).sum()) for name, one in gains.items()},
        "runs": runs,
        "accuracy": {source: summary(one) for source, one in accuracy.items()},
    }


def correlations_of(model: StochasticSupervisionClassifier) -> list[float]:
    """Correlation of x and w in each class, from the parameters of generalization 3."""
    slope = model.assessment_slopes_[:, 0, 0]
    explained = slope**2 * model.covariances_[:, 0, 0]
    share = explained / (explained + model.assessment_covariances_[:, 0, 0])
    return [float(r) for r in np.sign(slope) * np.sqrt(share)]


def correlations(n: int, runs: int, seed: int) -> dict[str, Any]:
    """What generalization 3 finds in figure 4: in many items, and in sets of the usual size."""
    case, found = CASES["4"], []
    for number in range(runs):
        X, W, _ = draw_items(case, n, seed_of(seed, number, 0))
        found.append(correlations_of(fit("g3", case, X, W)))
    X, W, _ = draw_items(case, N_CORRELATION, seed_of(seed, runs, 2))
    return {
        "large": correlations_of(fit("g3", case, X, W)),
        "usual": [summary(one) for one in np.array(found).T],
    }


def portrait(case: Case, n: int, seed: int) -> dict[str, Any]:
    """What a picture needs: some items, and densities of Titterington's model and of its heir."""
    X, W, y = draw_items(case, n, seed_of(seed, 0, 0))
    x, w = X[:, 0], W[:, 0]
    flat = case.made_for == "g1"  # w alone is drawn
    axes = [np.linspace(w.min(), w.max(), 5 * N_GRID)]
    result: dict[str, Any] = {"densities": {}}
    if flat:
        heights, edges = np.histogram(w, 40, density=True)
        result["bars"] = {"heights": heights.round(4).tolist(), "edges": edges.round(3).tolist()}
    else:
        axes = [np.linspace(v.min(), v.max(), N_GRID) for v in (x, w)]
        result["items"] = [v[:N_SHOWN].round(2).tolist() for v in (x, w)]
        result["classes"] = y[:N_SHOWN].tolist()
    result["axes"] = [axis.round(3).tolist() for axis in axes]
    models = (case.made_for,) if len(case.centers) > 2 else ("titterington", case.made_for)
    for name in models:
        model = fit(name, case, X, W)
        if flat:
            density = marginal_of_w(model, axes[0]).round(4)
        else:
            places = (part.ravel() for part in np.meshgrid(*axes))
            density = joint_of_x_and_w(model, *places).reshape(N_GRID, N_GRID).round(5)
        result["densities"][name] = density.tolist()
    return result


def marginal_of_w(model: StochasticSupervisionClassifier, w: FloatArray) -> FloatArray:
    """Density of the first log odds, for assessments that do not depend on the features."""
    mean = model.assessment_means_[:, 0]
    deviation = np.sqrt(model.assessment_covariances_[:, 0, 0])
    return np.asarray(norm.pdf(w[:, None], mean, deviation) @ model.class_priors_)


def joint_of_x_and_w(
    model: StochasticSupervisionClassifier, x: FloatArray, w: FloatArray
) -> FloatArray:
    """Density of the feature and the first log odds."""
    if len(model.classes_) == 2:
        return np.exp(model.score_samples(x[:, None], assessments=w))
    mean = model.assessment_means_[:, 0]
    deviation = np.sqrt(model.assessment_covariances_[:, 0, 0])
    of_x = norm.pdf(x[:, None], model.means_[:, 0], np.sqrt(model.covariances_[:, 0, 0]))
    return np.asarray((of_x * norm.pdf(w[:, None], mean, deviation)) @ model.weights_)


def run(
    quick: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    *,
    n: int = 1000,
    runs: int | None = None,
) -> Results:
    """Log-likelihoods of new items in the cases of figures 1 to 5.

    Parameters
    ----------
    quick : bool
        3 data sets for each case instead of 20.
    seed : int
    progress : function of a message
    n, runs
        Items of a data set, and number of data sets.
    """
    runs = runs or (3 if quick else 20)
    settings = {"n": n, "runs": runs, "test": N_TEST, "correlation": N_CORRELATION}
    results = describe("lu_2020_simulated", seed, quick, settings)
    results["cases"], results["portraits"] = {}, {}
    for number, (name, case) in enumerate(CASES.items()):
        row = compare(case, n, runs, seed_of(seed, number))
        results["cases"][name] = row
        results["portraits"][name] = portrait(case, n, seed_of(seed, number))
        shown = ", ".join(f"{key} {one['mean']:+.4f}" for key, one in row["gain"].items())
        progress(f"figure {name}, {case.title}: {shown}")
    results["correlations"] = correlations(n, runs, seed_of(seed, list(CASES).index("4")))
    results["claims"] = judge(results)
    return results


def judge(results: Results) -> list[Claim]:
    """What the illustrations are to show, and the correlations of figure 4."""
    cases, verdicts = results["cases"], []
    for name in CASES:
        if name != "3":
            verdicts += judge_case(name, cases[name])
        if name in ("3", "5"):
            both = cases[name]["accuracy"]
            ours = f"accuracy {both['x and w']['mean']:.3f} against {both['x']['mean']:.3f}"
            sure = both["x and w"]["low"] > both["x"]["high"]
            text = "classes easier to tell with w than by x alone"
            verdicts.append(claim(text, sure, ours, figure=figure_of(name)))
        if name == "4":
            found = results["correlations"]["large"]
            for color, paper, ours in zip(("blue", "red"), CORRELATIONS, found, strict=True):
                what = f"correlation, {color} class"
                verdicts.append(
                    printed(what, paper, ours, 0.03, 4, required=True, figure=figure_of(name))
                )
    return verdicts


def figure_of(case: str) -> str:
    """Id of the figure in the catalogue."""
    return f"lu-2020-figure-{case[0]}"


def judge_case(name: str, row: dict[str, Any]) -> list[Claim]:
    """The model that the figure is about against Titterington's; then the others, for us."""
    drawn = CASES[name].made_for
    others = [model for model in ("g1", "g3", "g4") if model != drawn]
    verdicts = []
    for models in ([drawn], others):
        said = " and ".join(f"generalization {NAMES[model]}" for model in models)
        if name in FAILING:
            holds = all(row["wins"][model] == row["runs"] for model in models)
            text = f"{name}: {said} above Titterington in every run"
            wins, least = row["wins"], row["least_gain"]
            ours = ", ".join(
                f"{wins[model]} of {row['runs']} (least gain {least[model]:+.4f})"
                for model in models
            )
        else:
            holds = all(row["gain"][model]["mean"] > -MARGIN for model in models)
            text = f"{name}: {said} about as good as Titterington (lost less than {MARGIN:g})"
            ours = ", ".join(
                f"{with_interval(row['gain'][model], 4, '+')}, worst run "
                f"{row['least_gain'][model]:+.4f}"
                for model in models
            )
        asked = models is others
        verdicts.append(claim(text, holds, ours, True, figure_of(name), asked))
    return verdicts


def tables(results: Results) -> dict[str, Table]:
    """Gains over Titterington's model, and correlations."""
    rows = []
    for name, row in results["cases"].items():
        cells = []
        for model in (*RIVALS, "truth"):
            gain = row["gain"].get(model)
            cells.append("" if gain is None else f"{gain['mean']:+.4f} ({row['wins'][model]})")
        base = row["log_likelihood"].get("titterington")
        first = "" if base is None else f"{base['mean']:.4f}"
        rows.append([name, CASES[name].title, first, *cells])
    head = ["figure", "case", "Titterington", *(f"G{NAMES[one]}" for one in RIVALS), "truth"]
    runs = results["settings"]["runs"]
    caption = (
        f"Log-likelihood of a new item: Titterington's, and mean gains over it (in how many of "
        f"{runs} runs above 0); for three classes, over the true density."
    )
    lines = []
    for number, paper in enumerate(CORRELATIONS):
        large = results["correlations"]["large"][number]
        usual = with_interval(results["correlations"]["usual"][number], 3)
        color = ("blue", "red")[number]
        lines.append([color, f"{paper:.4f}", f"{large:.4f}", f"{large - paper:+.4f}", usual])
    few = f"mean of {runs} sets of {results['settings']['n']}"
    correlation_head = ["class", "paper", f"ours, {N_CORRELATION} items", "difference", few]
    about = "Correlation of x and w in figure 4, by generalization 3."
    return {
        "gains": Table(caption, head, rows),
        "correlations": Table(about, correlation_head, lines),
    }


def draw(results: Results, path: Path) -> None:
    """Figures 1 to 5 in eight panels."""
    figure, panels = open_figure(2, 4, size=(12.0, 5.6), share=False)
    for axes, (name, one) in zip(panels.flat, results["portraits"].items(), strict=True):
        case = CASES[name]
        axes.set_title(f"{name}: {case.title}", fontsize=10)
        if case.made_for == "g1":
            bars = one["bars"]
            axes.stairs(bars["heights"], bars["edges"], fill=True, color="0.85")
            for color, (model, density) in zip("rb", one["densities"].items(), strict=True):
                label = f"G{NAMES[model]}" if model in RIVALS else NAMES[model]
                axes.plot(one["axes"][0], density, color, linewidth=1.3, label=label)
            axes.set_xlabel("log odds w")
            continue
        items, classes = np.array(one["items"]), np.array(one["classes"])
        axes.scatter(*items, s=4, c=np.array(["C0", "C3", "C2"])[classes], linewidths=0)
        for model, density in one["densities"].items():
            style = {"linestyles": "dashed" if model == "titterington" else "solid"}
            levels = np.max(density) * np.array([0.05, 0.3, 0.7])
            axes.contour(*one["axes"], density, levels, colors="k", linewidths=0.7, **style)
        axes.set_xlabel("feature x")
        axes.set_ylabel("log odds w")
    panels[0][0].legend(frameon=False, fontsize=8)
    save_figure(figure, path)
