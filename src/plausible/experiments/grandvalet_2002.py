"""The semi-supervised benchmark of Grandvalet, Logistic regression for partial labels, 2002.

Two Gaussian classes with identity covariance and means 0 and (a, ..., a): dimension 10 to 50, Bayes
error 2.5 to 40 %, 200 to 1700 rows, 0 to 95 % of the labels missing. Methods: logistic regression
on the labeled rows (to which minimum commitment comes down here), self-consistent logistic
regression, and EM for two Gaussians with one full covariance. All three end in a linear rule, so
recognition rates are exact, in closed form, instead of shares of 5000 test rows.

The paper says neither how the logistic models were regularized nor whether they had an intercept.
Both move the results, so every method is run with each of several ridges, alpha / 2 times the sum
of squared slopes of both classes, and with each of three intercepts. Fits are by L-BFGS, and
self-consistent ones start at the logistic solution, as in the paper:

=========  ==========================================================================
free       an intercept without penalty (the library's default)
penalized  an intercept under the same ridge as the slopes
centered    no intercept; features less their mean over all rows, labeled or not
=========  ==========================================================================

Without centering, a rule without intercept goes through the mean of the first class and recognizes
at most half of it: its rate cannot exceed 75 %, so the paper must have had one of the three.

The paper counts 750 setups, but its lists give 5 x 5 x 5 x 5 = 625. By default 125 of them are run,
those whose four levels (0 to 4) sum to a multiple of 5: each combination of any three factors
occurs once. The 50 setups of figure 2 are added for that figure only. A quick run has 25 setups in
which each combination of any two factors occurs once.

`plausible.datasets.make_missing_labels` draws the samples: exactly n times (1 - missing rate) rows
have labels, and in the rare case that these are all of one class, the sample is drawn again. EM
starts from the labeled rows; from the true parameters, where the paper cannot have started, it
shows what its local maxima cost.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from plausible.datasets import make_missing_labels
from plausible.experiments.common import (
    Progress,
    describe,
    seed_of,
    silent,
    summary_of_strata,
)
from plausible.experiments.comparison import Results
from plausible.experiments.grandvalet_2002_report import (
    BAYES_ERRORS,
    CROSSINGS,
    FIGURE_2_MISSING,
    INTERCEPTS,
    MISSING,
    PAPER,
    RIDGES,
    SHOWN,
    Totals,
    draw,
    judge,
    judge_figures,
    keys_of,
    name_of,
    tables,
)
from plausible.labels import Labels
from plausible.models import DiscriminantClassifier, PartialLogisticRegression

__all__ = ["draw", "run", "tables"]

FloatArray = NDArray[np.float64]

DIMENSIONS = (10, 20, 30, 40, 50)
SIZES = (200, 300, 500, 800, 1700)
CRITERIA = {"logistic": "minimum_commitment", "self-consistent": "self_consistent"}


class Setup(NamedTuple):
    """One of the 625 problems."""

    d: int
    bayes_error: float
    n: int
    missing: float


def choose(quick: bool, everything: bool) -> tuple[list[Setup], list[Setup]]:
    """Setups for all averages, and more for figure 2 only."""
    every = list(product(range(5), repeat=4))
    if everything:
        return setups_of(every), []
    if quick:
        pairs = product(range(5), repeat=2)
        return setups_of((i, j, (i + j) % 5, (i + 2 * j) % 5) for i, j in pairs), []
    main = setups_of(levels for levels in every if sum(levels) % 5 == 0)
    shown = [
        one
        for one in setups_of(every)
        if one.missing == FIGURE_2_MISSING and one.bayes_error in CROSSINGS
    ]
    return main, [one for one in shown if one not in main]


def setups_of(levels: Iterable[tuple[int, ...]]) -> list[Setup]:
    """Setups from the numbers of their levels."""
    return [Setup(DIMENSIONS[i], BAYES_ERRORS[j], SIZES[k], MISSING[m]) for i, j, k, m in levels]


def recognition_rate(slope: FloatArray, intercept: float, mean: FloatArray) -> float:
    """Chance that sign(slope . x + intercept) is right, classes N(0, I) and N(mean, I) equal."""
    length = float(np.linalg.norm(slope))
    if length == 0.0:
        return 0.5
    first = norm.cdf(-intercept / length)
    second = norm.cdf((slope @ mean + intercept) / length)
    return float(0.5 * (first + second))


def logistic_rule(
    criterion: str, intercept: str, ridge: float, X: FloatArray, labels: Labels
) -> tuple[FloatArray, float]:
    """Slope and intercept of the log odds of the second class."""
    center = X.mean(axis=0) if intercept == "centered" else np.zeros(X.shape[1])
    model = PartialLogisticRegression(
        criterion,
        alpha=ridge,
        fit_intercept=intercept != "centered",
        penalize_intercept=intercept == "penalized",
        solver="lbfgs",
        tol=1e-5,
        max_iter=5000,
    ).fit(X - center, labels)
    slope = model.coef_[0]
    return slope, float(model.intercept_[0] - slope @ center)


def em_rule(
    X: FloatArray, labels: Labels, truth: FloatArray | None = None
) -> tuple[FloatArray, float]:
    """Slope and intercept of two Gaussians with one covariance, from the labels or the truth."""
    model = DiscriminantClassifier(max_iter=10_000, random_state=0, unlabeled_weight=1)
    if truth is not None:
        start = {"weights": [0.5, 0.5], "covariances": np.eye(len(truth))}
        model.set_params(init={**start, "means": np.array([np.zeros_like(truth), truth])})
    model.fit(X, labels)
    return model.coef_[0], float(model.intercept_[0])


def rates_on(setup: Setup, seed: int) -> dict[str, float]:
    """Recognition rates of all methods, learned from one training sample."""
    n, d = setup.n, setup.d
    error, missing = setup.bayes_error, setup.missing
    data = make_missing_labels(n, d, bayes_error=error, missing=missing, random_state=seed)
    X, labels, mean = data.X, data.labels, data.means[1]
    rates = {
        "Bayes": 1.0 - setup.bayes_error,
        "EM": recognition_rate(*em_rule(X, labels), mean),
        "EM from the truth": recognition_rate(*em_rule(X, labels, mean), mean),
    }
    for method, intercept, ridge in product(CRITERIA, INTERCEPTS, RIDGES):
        rule = logistic_rule(CRITERIA[method], intercept, ridge, X, labels)
        rates[name_of(method, intercept, ridge)] = recognition_rate(*rule, mean)
    return rates


def run(
    quick: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    *,
    all_setups: bool = False,
    setups: Sequence[Setup] | None = None,
    n_draws: int | None = None,
) -> Results:
    """Recognition rates by setup, overall, and as the figures show them.

    Parameters
    ----------
    quick : bool
        25 setups with 2 training samples each, instead of 125 (and 50 of figure 2) with 3.
    seed : int
    progress : function of a message
    all_setups : bool
        All 625 setups with 10 training samples each.
    setups, n_draws
        Other setups, or another number of training samples.
    """
    main, extra = choose(quick, all_setups) if setups is None else (list(setups), [])
    n_draws = n_draws or (10 if all_setups else 2 if quick else 3)
    settings = {
        "setups": len(main),
        "setups_of_figure_2_only": len(extra),
        "training_samples": n_draws,
        "ridges": list(RIDGES),
        "paper": PAPER,
    }
    results = describe("grandvalet_2002", seed, quick, settings)
    rates: dict[Setup, list[dict[str, float]]] = {}
    for number, setup in enumerate([*main, *extra], start=1):
        key = [round(1000 * value) for value in setup]
        rates[setup] = [rates_on(setup, seed_of(seed, *key, i)) for i in range(n_draws)]
        if number % 25 == 0:
            progress(f"{number} of {len(main) + len(extra)} setups")
    cells = [cell_of(setup, rates[setup], setup in set(main)) for setup in rates]
    results["overall"] = overall([rates[setup] for setup in main])
    results["cells"] = cells
    results["claims"] = judge_figures(results["overall"])
    for shown in SHOWN:
        results["claims"] += judge(results["overall"], cells, *shown)
    return results


def cell_of(setup: Setup, rates: list[dict[str, float]], main: bool) -> dict[str, Any]:
    """Mean rates of one setup, of the methods that are shown, ready for JSON."""
    names = ["Bayes", *(key for where in SHOWN for key in keys_of(*where).values())]
    means = {name: float(np.mean([one[name] for one in rates])) for name in names}
    return {**setup._asdict(), "main": main, "rate": means}


def overall(rates: list[list[dict[str, float]]]) -> Totals:
    """Mean over setups of each method, and differences between them."""
    table = {name: np.array([[one[name] for one in row] for row in rates]) for name in rates[0][0]}
    found = {name: summary_of_strata(values) for name, values in table.items()}
    for intercept, ridge in product(INTERCEPTS, RIDGES):
        keys = keys_of(intercept, ridge)
        for first, second in combinations(keys, 2):
            gap = table[keys[first]] - table[keys[second]]
            found[f"{first} - {second}, {intercept}, {ridge:g}"] = summary_of_strata(gap)
    return found
