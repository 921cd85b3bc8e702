"""Run experiments without the command line's own dependencies: ``python -m plausible.experiments``.

``plausible reproduce`` does the same.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from plausible.experiments.comparison import format_rows, format_table
from plausible.experiments.reproduction import Outcome, overview, reproduce


def to_stderr(message: str) -> None:
    """Progress on the terminal, apart from the tables."""
    print(message, file=sys.stderr, flush=True)


def show(outcome: Outcome) -> None:
    """Tables, comparison and files of one experiment."""
    print(f"\n{outcome.experiment}: {outcome.state}. {outcome.message}")
    for table in outcome.tables.values():
        print(f"\n{table.caption}\n\n{format_table(table.head, table.rows)}")
    if outcome.rows:
        print(f"\n{format_rows(outcome.rows)}\n\n{outcome.seconds} seconds.")
    for path in (outcome.json, outcome.picture):
        if path is not None:
            print(path)


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
            lines = [
                [one.figure, one.paper, one.ours, one.verdict] for one in overview(given.names)
            ]
            print(format_table(["figure or table", "paper", "ours", "verdict"], lines))
            return 0
        run = reproduce(given.names, given.quick, given.seed, given.output, to_stderr, show)
    except ValueError as error:
        to_stderr(str(error))
        return 2
    states = {outcome.state for outcome in run}
    return int("failed" in states or "run" not in states)


if __name__ == "__main__":
    raise SystemExit(main())
