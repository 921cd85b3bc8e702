"""Progress of a loop in words."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from plausible.engine.loop import Callback, Progress

INTERVAL = 1.0  # seconds between two lines


def reporter(
    verbose: int, name: str, callback: Callback | None = None
) -> Callable[[Progress], Any] | None:
    """A callback that prints as `verbose` asks (1: now and then, 2: always), then calls another.

    Examples
    --------
    >>> say = reporter(2, "Model")
    >>> say(Progress(3, -12.5, 0.25, 1.0, 4.0, 1))
    Model: iteration 3, criterion -12.5, gain 0.25 a row, 1.0 s, about 4 s left
    """
    if not verbose:
        return callback
    last = -np.inf

    def say(progress: Progress) -> Any:
        nonlocal last
        ended = progress.n_starts == 0
        if verbose > 1 or ended or time.perf_counter() - last > INTERVAL:
            print(line(name, progress), flush=True)
            last = time.perf_counter()
        return callback(progress) if callback is not None else None

    return say


def line(name: str, progress: Progress) -> str:
    """One line about where a loop stands."""
    words = [
        f"{name}: iteration {progress.iteration}",
        f"criterion {progress.criterion:.10g}",
        f"gain {progress.gain:.3g} a row",
        f"{progress.seconds:.1f} s",
    ]
    if progress.n_starts > 1:
        words.append(f"{progress.n_starts} starts")
    if progress.n_starts and np.isfinite(progress.seconds_left):
        words.append(f"about {progress.seconds_left:.0f} s left")
    return ", ".join(words)
