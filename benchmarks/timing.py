"""Fair timing: contestants take turns in one process, and the fastest of their runs counts."""

import time
from collections.abc import Callable
from typing import Any


def interleave(
    contestants: dict[str, Callable[[], Any]],
    repeats: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Seconds of the fastest run of each contestant; every round runs each of them once.

    The clock may be `time.process_time`, which others on the machine disturb less; it counts the
    seconds of all threads, so that contestants should have one each.
    """
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(repeats):
        for name, run in contestants.items():
            start = clock()
            run()
            best[name] = min(best[name], clock() - start)
    return best


def show(claim: str, value: float, wanted: str, holds: bool) -> bool:
    """Print one measured ratio beside the one that is wanted."""
    print(f"{'ok  ' if holds else 'FAIL'}  {claim:<70} {value:8.2f}  (wanted: {wanted})")
    return holds
