"""Speed of mixtures with missing features: an EM iteration against one on complete rows.

Run with ``make bench``; ``python benchmarks/e2m.py N`` takes N rows. A time is that of one EM
iteration inside a fit, between two calls of a callback, on one thread; contestants take turns, and
the fastest counts. Scattered patterns (every row its own) are measured on fewer rows, for the
record: there is nothing to group.
"""

import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits
from timing import show

from plausible.labels import Labels
from plausible.models import E2M, GaussianMixtureClassifier, Normal, UncertainValues

K, D, N_PATTERNS = 10, 20, 10
REPEATS = 3


def draw(n: int, seed: int = 0) -> tuple[Any, Labels, Any]:
    """Rows, soft labels and means to start from."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(K, size=n)
    means = rng.normal(size=(K, D))
    contour = rng.uniform(0.05, 0.9, (n, K))
    contour[np.arange(n), truth] = 1.0
    X = rng.normal(size=(n, D)) + means[truth]
    return X, Labels.from_plausibility(contour), means + 0.3 * rng.normal(size=(K, D))


def with_patterns(X: Any, n_patterns: int, share: float = 0.2, seed: int = 1) -> Any:
    """The rows with features missing in one of some patterns, the first of which lacks none."""
    rng = np.random.default_rng(seed)
    gone = rng.uniform(size=(n_patterns, X.shape[1])) < share
    gone[0] = False
    return np.where(gone[rng.integers(n_patterns, size=len(X))], np.nan, X)


def iteration(X: Any, y: Labels, means: Any, kind: Any) -> float:
    """Seconds of the fastest iteration of a fit."""
    ticks: list[float] = []
    covariances = {
        "full": np.tile(np.eye(D), (K, 1, 1)),
        "tied": np.eye(D),
        "diag": np.ones((K, D)),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        GaussianMixtureClassifier(
            kind,
            init={"means": means, "covariances": covariances[kind]},
            max_iter=4,
            tol=0.0,
            accelerate=False,
            unlabeled_weight=1,
            missing="integrate",
            callback=lambda progress: ticks.append(time.process_time()),
        ).fit(X, y)
    return float(np.diff(ticks).min())


def ratio(contestants: dict[str, Callable[[], float]]) -> float:
    """Time of the second contestant in times of the first."""
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(REPEATS):
        for name, run in contestants.items():
            best[name] = min(best[name], run())
    first, second = best.values()
    return second / first


def main(n: int) -> bool:
    """Measure all ratios; whether those that have a limit keep it."""
    fine = True
    X, y, means = draw(n)
    missing = with_patterns(X, N_PATTERNS)
    with threadpool_limits(1):
        for kind in ("full", "tied", "diag"):
            found = ratio({
                "complete": partial(iteration, X, y, means, kind),
                "missing": partial(iteration, missing, y, means, kind),
            })  # fmt: skip
            claim = f"{kind}: {N_PATTERNS} missing patterns against complete rows, {n} x {D}"
            fine &= show(claim, found, "at most 3", found <= 3)
        few, few_y = X[: n // 50], y[: n // 50]
        scattered = np.where(np.random.default_rng(2).uniform(size=few.shape) < 0.2, np.nan, few)
        found = ratio({
            "complete": partial(iteration, few, few_y, means, "full"),
            "scattered": partial(iteration, scattered, few_y, means, "full"),
        })  # fmt: skip
        show(f"full: every row its own pattern, {len(few)} x {D}", found, "no limit", True)
        low = np.floor(X[:, 0])
        cells = UncertainValues.from_intervals(low, low + 1)
        began = time.process_time()
        steps = E2M(Normal()).fit(cells).n_iter_
        seconds = (time.process_time() - began) / steps
        show(f"E2M of {n} intervals, seconds of one step", seconds, "no limit", True)
    return fine


if __name__ == "__main__":
    sys.exit(not main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000))
