"""Learning from uncertain data, after Denoeux's slides (2015): the evidential EM algorithm.

The slides print one table: six patients, of whom three surely have a disease, two surely have not,
and of one nothing is known (pl(0) = pl(1) = 0.5); likelihoods are in units of 1e-3. What the
algorithm is for, the slides say in words, and the rest of this experiment asks: whether rounded
values keep their spread, whether missing features are best left missing, and whether intervals
cover what they say they do. `uncertain_data` says how data are drawn.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

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
from plausible.experiments.uncertain_data import (
    LAWS,
    N_VALUES,
    covered,
    deviations_of_rounded,
    errors_with_missing,
    gaussian_classes,
)
from plausible.labels import Labels
from plausible.models import E2M, Bernoulli

THETA = (0.3000, 0.5500, 0.5917, 0.5986, 0.5998, 0.6000)
LIKELIHOOD = (6.6150, 16.8455, 17.2676, 17.2797, 17.2800, 17.2800)
CELL = 2.0  # width of cells, in deviations
MOST_BIAS = 0.03
COVERAGE = (0.92, 0.97)
METHODS = {
    "complete": "complete data",
    "integrated": "missing, integrated",
    "IterativeImputer": "missing, IterativeImputer",
    "mean": "missing, filled with means",
}
FIGURES = {"table": "denoeux-2015-bernoulli", "more": "denoeux-2015-uncertain-data"}

ask = partial(claim, asked=True, figure=FIGURES["more"])


def patients(alpha: float) -> Labels:
    """Three sure ones, two sure zeros, and one with pl(0) = alpha, pl(1) = 1 - alpha."""
    table = [[0.0, 1.0]] * 3 + [[1.0, 0.0]] * 2 + [[alpha, 1.0 - alpha]]
    return Labels.from_plausibility(table, classes=[0, 1])


def bernoulli() -> dict[str, Any]:
    """The table of the slides, and curves of the likelihood for three kinds of last patient."""
    model = E2M(Bernoulli(), init={"theta": THETA[0]}).fit(patients(0.5))
    grid = np.linspace(0.0, 1.0, 101)
    curves = {}
    for alpha in (0.0, 0.5, 1.0):
        table = patients(alpha).contour
        rows = table[:, 0] * (1 - grid[:, None]) + table[:, 1] * grid[:, None]
        curves[str(alpha)] = (1e3 * rows.prod(axis=1)).tolist()
    return {
        "theta": model.path_["theta"][: len(THETA)].tolist(),
        "likelihood": (1e3 * np.exp(model.history_[: len(THETA)])).tolist(),
        "curves": curves,
    }


def real_sets() -> dict[str, tuple[Any, Any]]:
    """Sets on which features are made missing."""
    loaders = {"wine": load_wine, "breast cancer": load_breast_cancer}
    return {name: load(return_X_y=True) for name, load in loaders.items()}


def run(
    quick: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    *,
    n_fits: int | None = None,
    n_draws: int | None = None,
) -> Results:
    """The table of the slides, rounded values, missing features, and coverage of intervals.

    Parameters
    ----------
    quick : bool
        50 fits for each family and 4 draws, instead of 1000 and 40.
    seed : int
    progress : function of a message
    n_fits, n_draws
        Other numbers.
    """
    n_fits, n_draws = n_fits or (50 if quick else 1000), n_draws or (4 if quick else 40)
    settings = {"fits": n_fits, "draws": n_draws, "values": N_VALUES, "cell": CELL}
    results = describe("denoeux_2015_e2m", seed, quick, settings)
    results["bernoulli"] = bernoulli()
    random = np.random.default_rng(seed_of(seed, 1))
    rounded = [deviations_of_rounded(random, 1000, CELL) for _ in range(5 * n_draws)]
    results["rounded"] = {name: summary([one[name] for one in rounded]) for name in rounded[0]}
    progress(f"rounded: {results['rounded']['E2M']['mean']:.3f}, true 1")
    results["missing"] = missing_features(n_draws, seed, progress)
    results["coverage"] = {}
    for place, (name, law) in enumerate(LAWS.items()):
        source = np.random.default_rng(seed_of(seed, 3, place))
        results["coverage"][name] = covered(law, n_fits, source)
        progress(f"{name}: intervals cover {results['coverage'][name]}")
    results["claims"] = judge(results)
    return results


def missing_features(n_draws: int, seed: int, progress: Progress) -> dict[str, Any]:
    """Test errors with a fifth of the features missing: simulated classes and two real sets."""
    random = np.random.default_rng(seed_of(seed, 2))
    draws: dict[str, list[dict[str, float]]] = {"simulated": []}
    for _ in range(n_draws):
        data = gaussian_classes(random, 300)
        draws["simulated"].append(errors_with_missing(random, data, "full"))
    for name, (X, y) in real_sets().items():
        draws[name] = []
        for _ in range(max(n_draws // 2, 2)):
            parts = train_test_split(
                X, y, test_size=0.5, stratify=y, random_state=random.integers(1 << 31)
            )
            scaler = StandardScaler().fit(parts[0])
            data = scaler.transform(parts[0]), parts[2], scaler.transform(parts[1]), parts[3]
            draws[name].append(errors_with_missing(random, data, "tied", "weak"))
    found = {}
    for name, errors in draws.items():
        found[name] = {
            "error": {m: summary([one[m] for one in errors]) for m in METHODS},
            "gain": {
                m: summary([one[m] - one["integrated"] for one in errors])
                for m in ("mean", "IterativeImputer")
            },
        }
        progress(f"missing, {name}: gain {with_interval(found[name]['gain']['mean'], 3)}")
    return found


def judge(results: Results) -> list[Claim]:
    """Numbers of the slides beside ours, and what we ask."""
    table = results["bernoulli"]
    rows = [
        printed(f"{what}, step {q}", paper, ours, 5.1e-5, 4, True, FIGURES["table"])
        for what, papers, found in (
            ("theta", THETA, table["theta"]),
            ("likelihood", LIKELIHOOD, table["likelihood"]),
        )
        for q, (paper, ours) in enumerate(zip(papers, found, strict=True))
    ]
    rounded = results["rounded"]
    bias = rounded["E2M"]["mean"] - 1
    rough = rounded["midpoints"]["mean"]
    rows.append(
        ask(
            f"rounded values: deviation within {MOST_BIAS} of the true one",
            abs(bias) <= MOST_BIAS,
            f"{bias:+.4f}; midpoints {rough - 1:+.3f}, their variance {rough**2 - 1:+.3f}",
            required=True,
        )
    )
    for name, found in results["missing"].items():
        for method, gain in found["gain"].items():
            sure = gain["low"] > 0 or (None if gain["high"] > 0 else False)
            text = f"{name}: integrating better than {METHODS[method].removeprefix('missing, ')}"
            said = f"by {with_interval(gain, 3)}"
            rows.append(ask(text, sure, said, required=name == "simulated"))
    shares = {
        f"{family}, {name}": share
        for family, by_name in results["coverage"].items()
        for name, share in by_name.items()
    }
    low, high = COVERAGE
    inside = all(low <= share <= high for share in shares.values())
    text = f"intervals of 95 % cover between {low:.0%} and {high:.0%}"
    spread = f"{min(shares.values()):.3f} to {max(shares.values()):.3f}"
    rows.append(ask(text, inside, spread, required=True))
    return rows


def tables(results: Results) -> dict[str, Table]:
    """Errors with missing features, and coverage."""
    settings = results["settings"]
    errors = [
        [name, *(with_interval(found["error"][method], 3) for method in METHODS)]
        for name, found in results["missing"].items()
    ]
    coverage = [
        [family, name, f"{share:.3f}"]
        for family, by_name in results["coverage"].items()
        for name, share in by_name.items()
    ]
    return {
        "missing": Table(
            f"Test error with a fifth of the features missing, mean of {settings['draws']} draws "
            "(real sets: half as many) with 95 % interval.",
            ["data", *METHODS.values()],
            errors,
        ),
        "coverage": Table(
            f"Share of {settings['fits']} fits to {settings['values']} uncertain values whose 95 % "
            "interval holds the true parameter.",
            ["family", "parameter", "covered"],
            coverage,
        ),
    }


def draw(results: Results, path: Path) -> None:
    """The likelihood curve of the slides, errors with missing features, and coverage."""
    figure, panels = open_figure(1, 3, size=(10.5, 3.4), share=False)
    curve, errors, coverage = panels[0]
    grid = np.linspace(0.0, 1.0, 101)
    for alpha, style in (("0.0", ":"), ("0.5", "-"), ("1.0", "--")):
        curve.plot(grid, results["bernoulli"]["curves"][alpha], style, label=f"pl(0) = {alpha}")
    table = results["bernoulli"]
    curve.plot(
        table["theta"], table["likelihood"], "o", color="C1", markersize=4, label="E2M steps"
    )
    curve.set(xlabel="theta", ylabel="likelihood (1e-3)", title="six patients")
    curve.legend(fontsize=7)
    for place, found in enumerate(results["missing"].values()):
        for k, (method, label) in enumerate(METHODS.items()):
            value = found["error"][method]
            at = place + 0.2 * (k - 1.5)
            spread = [[value["mean"] - value["low"]], [value["high"] - value["mean"]]]
            errors.errorbar(
                [at], [value["mean"]], yerr=spread, fmt="o", color=f"C{k}", markersize=4, capsize=2,
                label=label if place == 0 else None,
            )  # fmt: skip
    errors.set_xticks(range(len(results["missing"])), labels=list(results["missing"]), fontsize=8)
    errors.set(title="test error, 20 % missing", ylim=(0, None))
    errors.legend(fontsize=7)
    rows = [(f"{f}, {n}", s) for f, by in results["coverage"].items() for n, s in by.items()]
    coverage.axvspan(*COVERAGE, color="C2", alpha=0.15)
    coverage.axvline(0.95, color="k", linewidth=0.8)
    coverage.plot([share for _, share in rows], range(len(rows)), "o", color="C0", markersize=4)
    coverage.set_yticks(range(len(rows)), labels=[name for name, _ in rows], fontsize=8)
    coverage.invert_yaxis()
    coverage.set(title="coverage of 95 % intervals", xlim=(0.9, 1.0))
    save_figure(figure, path)
