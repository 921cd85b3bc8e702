"""What experiments share: seeds, intervals and pictures."""

import io
import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from plausible.engine import write_atomically
from plausible.experiments.comparison import Results

Progress = Callable[[str], None]

N_RESAMPLES = 2000


def silent(message: str) -> None:
    """Progress that nobody sees."""


def describe(experiment: str, seed: int, quick: bool, settings: dict[str, Any]) -> Results:
    """What identifies a run: name, seed, settings and versions."""
    packages = ("plausible", "numpy", "scipy", "scikit-learn")
    versions = {name: version(name) for name in packages}
    versions["python"] = platform.python_version()
    return {
        "experiment": experiment,
        "seed": seed,
        "quick": quick,
        "settings": settings,
        "versions": versions,
    }


def seed_of(*parts: int) -> int:
    """A seed of its own for each part of an experiment, whatever order parts run in."""
    return int(np.random.SeedSequence(parts).generate_state(1)[0])


def summary(values: ArrayLike) -> dict[str, float]:
    """Mean of independent results, with the 95 % interval of Student's t."""
    given = np.asarray(values, dtype=np.float64)
    mean = float(given.mean())
    if len(given) < 2:
        return {"mean": mean, "low": mean, "high": mean}
    half = float(stats.t.ppf(0.975, len(given) - 1) * given.std(ddof=1) / np.sqrt(len(given)))
    return {"mean": mean, "low": mean - half, "high": mean + half}


def summary_of_strata(values: ArrayLike) -> dict[str, float]:
    """Mean of results (strata, draws), with the 95 % interval over draws in these very strata."""
    given = np.asarray(values, dtype=np.float64)
    n_strata, n_draws = given.shape
    mean, half = float(given.mean()), 0.0
    if n_draws > 1:
        error = np.sqrt(given.var(axis=1, ddof=1).mean() / given.size)
        half = float(stats.t.ppf(0.975, n_strata * (n_draws - 1)) * error)
    return {"mean": mean, "low": mean - half, "high": mean + half}


def bootstrap(differences: NDArray[np.float64], seed: int) -> dict[str, float]:
    """Mean of paired differences, with the percentile interval over resampled items."""
    random = np.random.default_rng(seed)
    n = len(differences)
    means = [differences[random.integers(n, size=n)].mean() for _ in range(N_RESAMPLES)]
    low, high = np.quantile(means, [0.025, 0.975])
    return {"mean": float(differences.mean()), "low": float(low), "high": float(high)}


def with_interval(
    value: dict[str, float], digits: int = 4, sign: str = "", scale: float = 1.0
) -> str:
    """Write a summary as ``"0.1663 (0.1651 to 0.1675)"``; sign "+" for differences."""
    mean, low, high = (f"{scale * value[key]:{sign}.{digits}f}" for key in ("mean", "low", "high"))
    return f"{mean} ({low} to {high})"


def open_figure(*shape: int, size: tuple[float, float], share: bool = True) -> tuple[Any, Any]:
    """A figure without a window, and its axes; ImportError where matplotlib is not installed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(*shape, sharey=share, squeeze=False)
    for axes in panels.flat:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
        axes.set_axisbelow(True)
    return figure, panels


def save_figure(figure: Any, path: Path) -> None:
    """Save few colors and no date or version: small files, and equal ones for equal results."""
    from PIL import Image  # matplotlib needs it, too

    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=110, format="png")
    colors = Image.open(drawn).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small = io.BytesIO()
    colors.save(small, format="png", optimize=True)
    write_atomically(path, small.getvalue())
