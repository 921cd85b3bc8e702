"""The evidential network after the slides of Denoeux (2015): vowels, and a sensor that fails.

Vowels: eleven of them, 528 training rows and 462 of other speakers, features as they are. Networks
with 33, 44 and 55 prototypes start amid the rows of each class and stop after 100 iterations; the
error is the mean over starts. The slides print the errors of one network each.

Sensors: two classes, 60 training items, x in five and x' in three dimensions, Gaussian and
independent given the class; in the test, noise of standard deviation sigma is added to x. The
slides do not print the means: here they differ by one in every feature, so that x alone is better
than x'. A network for each sensor, joined by Dempster's rule, stands beside products of linear and
of quadratic discriminant analysis, which is what Bayes' rule makes of independent sensors.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier

from plausible.datasets import SplitData, load_split
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
from plausible.experts import EvidentialFusionClassifier
from plausible.models import EvidentialNetworkClassifier

VOWELS, SENSORS = "denoeux-2015-vowel", "denoeux-2015-sensors"
PEERS = {"1-NN": 0.44, "LDA": 0.56, "QDA": 0.53}  # with the errors that the slides print
NETWORKS = {33: (0.38, 0.45), 44: (0.37, 0.43), 55: (0.37, 0.41)}  # printed; what we ask for
SIGMAS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
METHODS = {
    "fused": "networks, by Dempster's rule",
    "clean": "network of x' alone",
    "noisy": "network of x alone",
    "lda": "LDA, product",
    "qda": "QDA, product",
}
N_ITEMS, N_TEST, N_PROTOTYPES, MAX_ITER = 60, 2000, 6, 100


def fitted(count: int, X: NDArray[Any], y: NDArray[Any], seed: int) -> EvidentialNetworkClassifier:
    """A network that stops early, as it is meant to here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network = EvidentialNetworkClassifier(count, max_iter=MAX_ITER, random_state=seed)
        return network.fit(X, y)


def error_of(model: Any, data: SplitData) -> float:
    """Error on the test rows."""
    return float((model.predict(data.X_test) != data.y_test).mean())


def vowel_errors(
    data: SplitData, counts: Sequence[int], n_starts: int, seed: int, progress: Progress
) -> Results:
    """Errors of other classifiers, and of networks over starts."""
    peers = {
        "1-NN": KNeighborsClassifier(1),
        "LDA": LinearDiscriminantAnalysis(),
        "QDA": QuadraticDiscriminantAnalysis(),
    }
    found: Results = {name: error_of(one.fit(data.X, data.y), data) for name, one in peers.items()}
    found["networks"] = []
    for count in counts:
        errors = [
            error_of(fitted(count, data.X, data.y, seed_of(seed, number)), data)
            for number in range(n_starts)
        ]
        error = summary(errors)
        row = {"prototypes": count, "error": error, "least": min(errors), "largest": max(errors)}
        found["networks"].append(row)
        progress(f"{count} prototypes: {with_interval(error, 3)}")
    return found


def draw_sensors(n: int, random: np.random.RandomState) -> tuple[NDArray[Any], ...]:
    """Items of two classes as both sensors see them, and their classes."""
    y = np.arange(n) % 2
    return (random.normal(size=(n, 5)) + y[:, None], random.normal(size=(n, 3)) + y[:, None], y)


def product_error(kind: Any, train: Any, test: Any) -> float:
    """Error of the product of two classifiers' probabilities; the classes are equally frequent."""
    logs = [
        kind().fit(train[part], train[2]).predict_log_proba(test[part]).clip(-1e300)
        for part in (0, 1)
    ]
    return float(((logs[0] + logs[1]).argmax(axis=1) != test[2]).mean())


def fused_sensors(train: Any, seed: int) -> EvidentialFusionClassifier:
    """A network for each sensor, taken at its word and joined by Dempster's rule."""
    network = EvidentialNetworkClassifier(N_PROTOTYPES, max_iter=MAX_ITER, random_state=seed)
    sensors = [("x", network, slice(0, 5)), ("x'", network, slice(5, 8))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fused = EvidentialFusionClassifier(sensors, rule="dempster", discount=None)
        return fused.fit(np.hstack(train[:2]), train[2])


def sensor_errors(sigmas: Sequence[float], seed: int) -> dict[str, list[float]]:
    """Errors of one draw by sigma, and the mean mass on both classes from the noisy sensor."""
    random = np.random.RandomState(seed)
    train, (x, other, y) = draw_sensors(N_ITEMS, random), draw_sensors(N_TEST, random)
    noise = random.normal(size=x.shape)
    fused = fused_sensors(train, seed)
    sensor, clear = fused.estimators_
    clean = clear.predict(other)
    found: dict[str, list[float]] = {name: [] for name in (*METHODS, "ignorance")}
    for sigma in sigmas:
        test = x + sigma * noise, other, y
        together = fused.predict(np.hstack(test[:2]))
        answers = {"fused": together, "clean": clean, "noisy": sensor.predict(test[0])}
        for name, answer in answers.items():
            found[name].append(float((answer != y).mean()))
        found["lda"].append(product_error(LinearDiscriminantAnalysis, train, test))
        found["qda"].append(product_error(QuadraticDiscriminantAnalysis, train, test))
        found["ignorance"].append(float(sensor.score_novelty(test[0]).mean()))
    return found


def run(
    quick: bool = False,
    seed: int = 0,
    progress: Progress = silent,
    *,
    n_starts: int | None = None,
    n_draws: int | None = None,
    counts: Sequence[int] = tuple(NETWORKS),
) -> Results:
    """Errors on the vowels, and of two sensors by the noise of one.

    Parameters
    ----------
    quick : bool
        2 starts and 5 draws instead of 10 and 50.
    seed : int
    progress : function of a message
    n_starts, n_draws, counts
        Other numbers of starts of each network, of draws of the sensors, and of prototypes.
    """
    n_starts, n_draws = n_starts or (2 if quick else 10), n_draws or (5 if quick else 50)
    settings = {"starts": n_starts, "draws": n_draws, "items": N_ITEMS, "test items": N_TEST}
    results = describe("denoeux_2015_classification", seed, quick, settings)
    results["vowels"] = vowel_errors(load_split("vowel"), counts, n_starts, seed, progress)
    draws = [sensor_errors(SIGMAS, seed_of(seed, 1000 + number)) for number in range(n_draws)]
    results["sensors"] = [
        {"sigma": sigma} | {name: summary([one[name][place] for one in draws]) for name in draws[0]}
        for place, sigma in enumerate(SIGMAS)
    ]
    last = results["sensors"][-1]
    progress(f"sigma = {SIGMAS[-1]:g}: fused {with_interval(last['fused'], 3)}")
    results["claims"] = judge(results["vowels"], results["sensors"])
    return results


def judge(vowels: Results, sensors: list[Results]) -> list[Claim]:
    """Printed errors, what we ask of the networks, and what noise does."""
    found = [
        printed(f"{name}: test error", value, vowels[name], 0.01, 3, True, VOWELS)
        for name, value in PEERS.items()
    ]
    for row in vowels["networks"]:
        value, most = NETWORKS[row["prototypes"]]
        mean, name = row["error"]["mean"], f"network, {row['prototypes']} prototypes"
        found.append(printed(f"{name}: test error", value, mean, 0.01, 3, figure=VOWELS))
        text = f"{name}: mean error at most {most}"
        found.append(claim(text, mean <= most, f"{mean:.3f}", True, VOWELS, asked=True))
    last = sensors[-1]
    apart = last["fused"]["mean"] - last["clean"]["mean"]
    text = "one sensor useless: fused networks as good as the other alone (within 0.01)"
    found.append(claim(text, apart <= 0.01, f"{apart:+.4f}", True, SENSORS))
    products = last["lda"]["mean"], last["qda"]["mean"]
    text = "one sensor useless: products of LDA and of QDA near 0.5 (within 0.05)"
    ours = f"{products[0]:.3f}, {products[1]:.3f}"
    found.append(claim(text, min(products) >= 0.45, ours, True, SENSORS))
    masses = [row["ignorance"]["mean"] for row in sensors]
    text = "mass on both classes from the noisy sensor rises with sigma"
    ours = f"{masses[0]:.2f} to {masses[-1]:.2f}"
    found.append(claim(text, bool((np.diff(masses) > 0).all()), ours, True, SENSORS))
    gain = sensors[0]["clean"]["mean"] - sensors[0]["fused"]["mean"]
    text = "without noise, both sensors better than x' alone"
    return [*found, claim(text, gain > 0, f"by {gain:.3f}", figure=SENSORS, asked=True)]


def tables(results: Results) -> dict[str, Table]:
    """Errors of networks on the vowels, and of the sensors by sigma."""
    networks = [
        [
            str(row["prototypes"]),
            with_interval(row["error"], 3),
            f"{row['least']:.3f} to {row['largest']:.3f}",
        ]
        for row in results["vowels"]["networks"]
    ]
    sensors = [
        [
            f"{row['sigma']:g}",
            *(f"{row[name]['mean']:.3f}" for name in METHODS),
            f"{row['ignorance']['mean']:.3f}",
        ]
        for row in results["sensors"]
    ]
    starts, draws = results["settings"]["starts"], results["settings"]["draws"]
    caption = f"Test errors on the vowels, mean of {starts} starts with 95 % interval."
    head = ["sigma", *METHODS.values(), "mass on both classes from x"]
    return {
        "vowels": Table(caption, ["prototypes", "test error", "starts"], networks),
        "sensors": Table(f"Test errors with two sensors, mean of {draws} draws.", head, sensors),
    }


def draw(results: Results, path: Path) -> None:
    """Errors by the noise of one sensor, and how much it says."""
    figure, panels = open_figure(1, 2, size=(9.5, 3.8), share=False)
    errors, mass = panels[0]
    rows = results["sensors"]
    places = np.arange(len(rows))
    for name, words in METHODS.items():
        style = "--" if name in ("clean", "noisy") else "o-"
        errors.plot(places, [row[name]["mean"] for row in rows], style, label=words, ms=4)
    mass.plot(places, [row["ignorance"]["mean"] for row in rows], "ko-", ms=4)
    for axes in (errors, mass):
        axes.set_xticks(places, labels=[f"{row['sigma']:g}" for row in rows])
        axes.set_xlabel("sigma of the noise in x")
    errors.set_ylabel("test error")
    errors.set_ylim(0.0, 0.6)
    errors.legend(frameon=False, fontsize=8)
    mass.set_ylabel("mean mass on both classes, from x")
    mass.set_ylim(0.0, 1.02)
    save_figure(figure, path)
