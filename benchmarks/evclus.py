"""Speed of EVCLUS: row by row against gradient descent (L-BFGS), and many items.

Run with ``make bench``. k-EVCLUS with 2000 items, 4 clusters, 100 dissimilarities for each; then
100,000 items with 50 (``--long``). Both solvers start at the same masses.
"""

import sys
import warnings
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from timing import show

from plausible.cluster import EVCLUS


def draw(n: int) -> tuple[Any, Any]:
    """Four overlapping clusters of points, heavy-tailed."""
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=n)
    centers = np.array([[0.0, 0.0], [0.0, 4.0], [4.0, 0.0], [4.0, 4.0]])
    return centers[y] + rng.standard_t(5, size=(n, 2)), y


def timed(model: EVCLUS, X: Any) -> float:
    """Seconds of a fit."""
    start = perf_counter()
    model.fit(X)
    return perf_counter() - start


def row_against_gradient() -> bool:
    """Stress and time of both solvers, from the same start."""
    X, y = draw(2000)
    common: Any = {"n_dissimilarities": 100, "n_init": 1, "random_state": 0}
    EVCLUS(4, tol=1.0, **common).fit(X)  # compiles, or reads what was compiled
    verdicts = []
    for sets in ("singletons", "pairs"):
        row = EVCLUS(4, sets, tol=1e-4, **common)
        slow = EVCLUS(4, sets, solver="gradient", tol=1e-4, max_iter=500, **common)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # 500 steps are enough for L-BFGS
            seconds = timed(row, X), timed(slow, X)
        scores = [adjusted_rand_score(y, one.labels_) for one in (row, slow)]
        print(
            f"      {sets}: stress {row.stress_:.6f} in {seconds[0]:.2f} s (ARI {scores[0]:.3f}), "
            f"L-BFGS {slow.stress_:.6f} in {seconds[1]:.2f} s (ARI {scores[1]:.3f})"
        )
        ratio = row.stress_ / slow.stress_
        words = f"{sets}: stress, in times of that of L-BFGS"
        verdicts.append(show(words, ratio, "at most 1", ratio <= 1.0))
        ratio = seconds[1] / seconds[0]
        verdicts.append(show(f"{sets}: times as quick", ratio, "at least 10", ratio >= 10.0))
    return all(verdicts)


def many_items() -> bool:
    """100,000 items, 50 dissimilarities for each."""
    X, y = draw(100_000)
    model = EVCLUS(4, "singletons", 50, n_init=1, tol=1e-3, random_state=0)
    minutes = timed(model, X) / 60
    print(f"      stress {model.stress_:.4f}, ARI {adjusted_rand_score(y, model.labels_):.3f}")
    return show("100,000 items: minutes", minutes, "at most 10", minutes <= 10.0)


if __name__ == "__main__":
    verdicts = [row_against_gradient()]
    verdicts += [many_items()] if "--long" in sys.argv else []
    sys.exit(not all(verdicts))
