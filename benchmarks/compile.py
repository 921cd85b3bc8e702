"""What compiling costs the first large fit of each family on a machine.

Run with ``python benchmarks/compile.py [names]``; some seconds for each family. A first fit is in a
process of its own with an empty cache of numba, as on a new machine. Another process then fits with
what is compiled, as after ``plausible compile``: its first fit against its second tells what
loading costs. Seconds are of the processor, which others on the machine disturb little.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

from timing import show

from plausible.cli.compile import FAMILIES

WANTED = 2.0


def mixture_of_one_kind() -> None:
    """One layout and precision of features, as a first fit has."""
    from plausible.cli.compile import draw
    from plausible.models import GaussianMixtureClassifier

    GaussianMixtureClassifier(max_iter=2, accelerate=False).fit(*draw(9000, 50, 10))


FIRST: dict[str, Callable[[], None]] = {**FAMILIES, "mixture": mixture_of_one_kind}


class Recorder:
    """Seconds in numba's compiler, without counting a kernel within another twice."""

    def __init__(self) -> None:
        from numba.core import event as events

        event: Any = events
        self.depth, self.seconds, self.began = 0, 0.0, 0.0
        self.parts: dict[str, float] = {}
        recorder: Any = self

        class Listener(event.Listener):
            def on_start(self, event: Any) -> None:
                if recorder.depth == 0:
                    recorder.began = time.process_time()
                recorder.depth += 1

            def on_end(self, event: Any) -> None:
                recorder.depth -= 1
                if recorder.depth == 0:
                    spent = time.process_time() - recorder.began
                    recorder.seconds += spent
                    name = event.data["dispatcher"].py_func.__name__
                    recorder.parts[name] = round(recorder.parts.get(name, 0.0) + spent, 2)

        event.register("numba:compile", Listener())


def report(name: str) -> None:
    """Fit twice in this process, and print what compiling took as JSON."""
    import sklearn.linear_model  # noqa: F401  what a first fit of any kind would import

    from plausible import cluster, experts, models, neighbors

    for room in (cluster, experts, models, neighbors):
        for public in room.__all__:
            getattr(room, public)
    warnings.simplefilter("ignore")
    recorder, spent = Recorder(), []
    for _ in range(2):
        start = time.process_time()
        FIRST[name]()
        spent.append(time.process_time() - start)
    found = {"compiled": recorder.seconds, "parts": recorder.parts}
    print(json.dumps(found | {"extra": spent[0] - spent[1]}))


def measure(name: str) -> bool:
    """The first fit of one family on a new machine, and on one with compiled loops."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--report", name]
        outside = os.environ | {"NUMBA_CACHE_DIR": folder}
        done = [
            subprocess.run(command, env=outside, check=True, capture_output=True, text=True).stdout
            for _ in range(2)
        ]
    cold, warm = map(json.loads, done)
    most = max(cold["parts"].values(), default=0.0)
    said = f"{name}: s to compile ({most:.1f} s the slowest loop)"
    holds = [show(said, cold["compiled"], f"<= {WANTED:g}", cold["compiled"] <= WANTED)]
    said = f"{name}: s more for a first fit that loads what is compiled"
    holds.append(show(said, warm["extra"], f"<= {WANTED:g}", warm["extra"] <= WANTED))
    print(f"        {cold['parts']}")
    return all(holds)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--report"]:
        report(sys.argv[2])
        sys.exit()
    results = [measure(name) for name in sys.argv[1:] or FIRST]
    sys.exit(not all(results))
