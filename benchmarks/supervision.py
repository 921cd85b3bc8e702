"""Speed of stochastic supervision: one EM iteration against that of a plain Gaussian mixture.

Run with ``make bench``. The mixture has as many components and as many columns, features and log
odds together, and no labels. A time is that between two calls of a callback inside a fit, on all
cores; contestants take turns, the fastest turn counts.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from timing import show

from plausible.engine import Progress
from plausible.models import GaussianMixtureClassifier, StochasticSupervisionClassifier

REPEATS = 5
ITERATIONS = 6
MOST = 1.5


def draw(n: int, d: int, n_classes: int, seed: int = 0) -> tuple[Any, Any]:
    """Features, and log odds that depend on them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, d)) + rng.normal(scale=0.7, size=(n_classes, d))[y]
    q = n_classes - 1
    slopes = rng.normal(scale=0.3 / np.sqrt(d), size=(d, q))
    return X, 3.0 * np.eye(n_classes, q)[y] - 1.0 + X @ slopes + rng.normal(size=(n, q))


def seconds(model: Any, *data: Any) -> float:
    """The shortest time between two iterations of a fit."""
    times: list[float] = []

    def stop(progress: Progress) -> bool:
        times.append(time.perf_counter())
        return len(times) > ITERATIONS

    model.set_params(callback=stop, accelerate=False, tol=0.0, random_state=0).fit(*data)
    return float(np.diff(times).min())


def compare(n: int, d: int, n_classes: int, n_components: int) -> bool:
    """g3 and g4 against mixtures of the same size."""
    X, W = draw(n, d, n_classes)
    both = np.hstack([X, W])

    def mixture(size: int) -> Any:
        return GaussianMixtureClassifier(n_classes=size, init="random")

    def supervised(name: str, size: int) -> Any:
        return StochasticSupervisionClassifier(name, n_components=size, scale="log_odds")

    many = n_components * n_classes
    runs: dict[str, Callable[[], float]] = {
        "g3": lambda: seconds(supervised("g3", 1), X, W),
        "g4": lambda: seconds(supervised("g4", n_components), X, W),
        "mixture for g3": lambda: seconds(mixture(n_classes), both),
        "mixture for g4": lambda: seconds(mixture(many), both),
    }
    best = dict.fromkeys(runs, np.inf)
    for _ in range(REPEATS):
        for name, run in runs.items():
            time.sleep(0.2)
            best[name] = min(best[name], run())
    verdicts = []
    for name in ("g3", "g4"):
        ratio = best[name] / best[f"mixture for {name}"]
        claim = f"{n} x {d}, {n_classes} classes: {name} against a mixture"
        verdicts.append(show(claim, ratio, f"at most {MOST}", ratio <= MOST))
    return all(verdicts)


def main() -> int:
    """Run all; 1 if a wanted ratio is missed."""
    warnings.simplefilter("ignore")
    sizes = (1_000, 5, 2, 3), (20_000, 10, 2, 3), (100_000, 20, 3, 4), (50_000, 40, 3, 10)
    verdicts = [compare(*size) for size in sizes]
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    raise SystemExit(main())
