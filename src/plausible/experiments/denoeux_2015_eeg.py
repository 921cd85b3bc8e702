"""Uncertain against crisp labels in k-NN rules, after the EEG table of Denoeux's slides (2015).

There, 500 EEG waves of 64 samples were called K-complexes or delta waves by five experts, and mass
functions made of their opinions taught the rule better than the most frequent answer (Denoeux and
Zouhal 2001). The waves are not public, so a stand-in is simulated, fixed before errors were seen: a
wave has a degree t, N(1, 1) for one class and N(-1, 1) for the other, by which its shape (a pulse
of 64 samples in colored noise) is the one or the other; each expert sees t with noise of standard
deviation 1.5 and answers with its sign. So what is ambiguous is so for all, and experts disagree
where the shape says little. The mass function of a wave is that of its five answers, each doubted
as `estimate_doubt` finds it from their agreement, and combined by Dempster's rule.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from plausible.datasets import estimate_doubt, pool_votes
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
from plausible.experiments.comparison import Claim, Results, Table, claim
from plausible.neighbors import EvidentialNeighborsClassifier

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

N_TRAIN, N_TEST, LENGTH, N_EXPERTS = 200, 300, 64, 5
NEIGHBORS = (9, 11, 13)
METHODS = ("k-NN", "weighted k-NN", "evidential, crisp", "evidential, uncertain")
SLIDES = {9: (0.30, 0.30, 0.31, 0.27), 11: (0.29, 0.30, 0.29, 0.26), 13: (0.31, 0.30, 0.31, 0.26)}
SLOWNESS, LOUDNESS, EXPERT_NOISE = 0.8, 1.5, 1.5


def draw_waves(n: int, random: np.random.Generator) -> tuple[FloatArray, IntArray, FloatArray]:
    """Waves (n, 64), their classes, and votes (n, 2) of the experts."""
    y = random.integers(2, size=n)
    degree = np.where(y == 1, 1.0, -1.0) + random.normal(size=n)
    time = np.linspace(-1.0, 1.0, LENGTH)
    pulse = np.exp(-np.square(4.0 * time)) * np.cos(6.0 * time)
    noise = random.normal(size=(n, LENGTH))
    for place in range(1, LENGTH):
        noise[:, place] += SLOWNESS * noise[:, place - 1]
    X = degree[:, None] * pulse + LOUDNESS * np.sqrt(1.0 - SLOWNESS**2) * noise
    seen = degree[:, None] + EXPERT_NOISE * random.normal(size=(n, N_EXPERTS))
    ones = (seen > 0.0).sum(axis=1)
    return X, y, np.stack([N_EXPERTS - ones, ones], axis=1).astype(np.float64)


def errors_of(seed: int) -> dict[str, list[float]]:
    """Test errors of each method by the number of neighbors, on one draw."""
    random = np.random.default_rng(seed)
    X, _, votes = draw_waves(N_TRAIN, random)
    X_test, y_test, _ = draw_waves(N_TEST, random)
    crisp = votes.argmax(axis=1)
    uncertain = pool_votes(votes, estimate_doubt(votes), [0, 1])
    found: dict[str, list[float]] = {method: [] for method in METHODS}
    for k in NEIGHBORS:
        fitted: tuple[Any, ...] = (
            KNeighborsClassifier(k).fit(X, crisp),
            KNeighborsClassifier(k, weights="distance").fit(X, crisp),
            EvidentialNeighborsClassifier(k).fit(X, crisp),
            EvidentialNeighborsClassifier(k).fit(X, uncertain),
        )
        for method, model in zip(METHODS, fitted, strict=True):
            found[method].append(float((model.predict(X_test) != y_test).mean()))
    return found


def run(
    quick: bool = False, seed: int = 0, progress: Progress = silent, *, n_draws: int | None = None
) -> Results:
    """Errors over draws of waves and experts.

    Parameters
    ----------
    quick : bool
        10 draws instead of 100.
    seed : int
    progress : function of a message
    n_draws : int, optional
        Another number of draws.
    """
    n_draws = n_draws or (10 if quick else 100)
    settings = {"draws": n_draws, "noise": LOUDNESS, "expert_noise": EXPERT_NOISE}
    results = describe("denoeux_2015_eeg", seed, quick, settings)
    draws = []
    for number in range(n_draws):
        draws.append(errors_of(seed_of(seed, number)))
        progress(f"draw {number + 1} of {n_draws}")
    results["rows"] = [
        {
            "k": k,
            "errors": {
                method: summary([one[method][place] for one in draws]) for method in METHODS
            },
            "gain": summary([one[METHODS[2]][place] - one[METHODS[3]][place] for one in draws]),
        }
        for place, k in enumerate(NEIGHBORS)
    ]
    results["claims"] = [judge(row) for row in results["rows"]]
    return results


def judge(row: Results) -> Claim:
    """Whether uncertain labels beat crisp ones."""
    gain, crisp, uncertain = row["gain"], *SLIDES[row["k"]][2:]
    holds = None if gain["low"] <= 0.0 <= gain["high"] else gain["low"] > 0.0
    words = f"uncertain labels below crisp ones ({uncertain:.2f} against {crisp:.2f} on real waves)"
    text = f"k = {row['k']}: {words}"
    return claim(text, holds, f"by {with_interval(gain, 3)}", required=True)


def tables(results: Results) -> dict[str, Table]:
    """Errors by method and number of neighbors, beside those of the slides."""
    rows = []
    for row in results["rows"]:
        ours = [with_interval(row["errors"][method], 3) for method in METHODS]
        rows.append([str(row["k"]), "ours", *ours])
        rows.append(["", "slides", *(f"{value:.2f}" for value in SLIDES[row["k"]])])
    return {"errors": Table("Test errors, 95 % intervals.", ["k", "", *METHODS], rows)}


def draw(results: Results, path: Path) -> None:
    """Errors by method and number of neighbors."""
    figure, panels = open_figure(1, 1, size=(6.5, 3.4))
    axes = panels[0][0]
    for number, method in enumerate(METHODS):
        cells = [row["errors"][method] for row in results["rows"]]
        mean = np.array([cell["mean"] for cell in cells])
        limits = [mean - [c["low"] for c in cells], [c["high"] for c in cells] - mean]
        places = np.array([row["k"] for row in results["rows"]]) + 0.2 * (number - 1.5)
        axes.errorbar(places, mean, yerr=limits, fmt="o", capsize=2, label=method)
    axes.set_xticks([row["k"] for row in results["rows"]])
    axes.set_xlabel("neighbors")
    axes.set_ylabel("test error")
    axes.legend(frameon=False, fontsize="small")
    save_figure(figure, path)
