"""Fair timing: contestants take turns in one process."""

import statistics
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


def median_ratios(
    contestants: dict[str, Callable[[], Any]],
    reference: Callable[[], Any],
    repeats: int = 7,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, float]:
    """Time of each contestant over that of a reference that runs right before or after it.

    The median over the rounds: where runs are long and the machine is shared, single runs differ by
    a fifth, and the fastest of each may have met different neighbors.
    """
    found: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(repeats):
        for name, run in contestants.items():
            seconds = {}
            turns = {"run": run, "reference": reference}
            for which in list(turns)[:: 1 if number % 2 else -1]:
                start = clock()
                turns[which]()
                seconds[which] = clock() - start
            found[name].append(seconds["run"] / seconds["reference"])
    return {name: statistics.median(ratios) for name, ratios in found.items()}


def show(claim: str, value: float, wanted: str, holds: bool) -> bool:
    """Print one measured ratio beside the one that is wanted."""
    print(f"{'ok  ' if holds else 'FAIL'}  {claim:<70} {value:8.2f}  (wanted: {wanted})")
    return holds
