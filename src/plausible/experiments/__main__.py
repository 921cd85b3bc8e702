"""Run experiments without the command line's own dependencies: ``python -m plausible.experiments``.

``plausible reproduce`` does the same.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from plausible.experiments.reproduction import (
    format_outcome,
    format_overview,
    overview,
    reproduce,
)


def to_stderr(message: str) -> None:
    """Progress on the terminal, apart from the tables."""
    print(message, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run or list experiments; the answer is the exit code."""
    parser = argparse.ArgumentParser(prog="python -m plausible.experiments", description=__doc__)
    parser.add_argument("names", nargs="*", default=["all"], help="paper, figure, experiment, all")
    parser.add_argument("--quick", action="store_true", help="small runs")
    parser.add_argument("--seed", type=int, default=0, help="seed of all draws (default 0)")
    parser.add_argument("--output", type=Path, default=Path("reproduction"), metavar="FOLDER")
    parser.add_argument("--list", action="store_true", help="what full runs gave")
    given = parser.parse_args(arguments)
    try:
        if given.list:
            print(format_overview(overview(given.names)))
            return 0
        run = reproduce(
            given.names,
            given.quick,
            given.seed,
            given.output,
            progress=to_stderr,
            finished=lambda outcome: print(f"\n{format_outcome(outcome)}", flush=True),
        )
    except ValueError as error:
        to_stderr(str(error))
        return 2
    states = {outcome.state for outcome in run}
    return int("failed" in states or "run" not in states)


if __name__ == "__main__":
    raise SystemExit(main())
