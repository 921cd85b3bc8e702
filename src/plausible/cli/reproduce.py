"""Run the experiments of the papers, or list what they gave.

Example: plausible reproduce come_2008 --quick

Names are papers, figures or experiments, or "all". Without a name nothing is run: what there is is
listed. Real data are not bundled: experiments that need them say which set is missing and where to
put it.
"""

import argparse
import dataclasses
from pathlib import Path
from typing import Any

from plausible.cli.options import add_seed
from plausible.cli.talk import Talk, UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument(
        "names", nargs="*", metavar="NAME",
        help="paper, figure, experiment or all; without a name, there is only a list",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="small runs, of seconds each")
    parser.add_argument("--list", action="store_true", help="what full runs gave; runs nothing")
    parser.add_argument(
        "-o", "--output", metavar="FOLDER",
        help="where JSON and pictures go (default: reproduction); with --list, where they are",
    )  # fmt: skip
    add_seed(parser)


def run(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Run or list experiments."""
    from plausible.experiments import select

    is_bare = not given.names
    given.names = given.names or ["all"]
    try:
        select(given.names)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if not is_bare or given.list:
        return _show_list(given, talk) if given.list else _run_all(given, talk)
    given.output = None
    found = _show_list(given, talk)
    talk.note(
        "Nothing was run. Name a paper, a figure or an experiment, as in plausible reproduce "
        "come_2008 --quick; plausible reproduce all takes about an hour (--quick some minutes)."
    )
    return found


def _show_list(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Every figure and table, with paper, ours and verdict."""
    from plausible.experiments import format_overview, listing, overview

    folder = given.output
    if folder is not None and not Path(folder).is_dir():
        raise ValueError(
            f"--output should be a folder with results, but {folder!r} is none; name another, or "
            "leave it out for those of the package."
        )
    lines = overview(given.names, folder)
    talk.say(format_overview(lines))
    rows = [dataclasses.asdict(row) for row in listing(given.names, folder)]
    return {"figures": [dataclasses.asdict(line) for line in lines], "comparisons": rows}


def _run_all(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Run experiments, one after the other.

    The exit code is 1 if one failed, or was skipped for want of data though it was asked for.
    """
    from plausible.experiments import format_outcome, reproduce

    talk.note(f"seed {given.seed}")
    if "all" in given.names and not given.quick:
        talk.note("all experiments: about an hour; --quick takes some minutes, Ctrl-C stops")
    outcomes = reproduce(
        given.names,
        given.quick,
        given.seed,
        given.output or "reproduction",
        talk.note,
        lambda outcome: talk.say(f"\n{format_outcome(outcome)}"),
    )
    found = [
        {
            "experiment": one.experiment,
            "state": one.state,
            "message": one.message,
            "json": None if one.json is None else str(one.json),
            "picture": None if one.picture is None else str(one.picture),
            "comparisons": [dataclasses.asdict(row) for row in one.rows],
        }
        for one in outcomes
    ]
    bad = ("failed",) if "all" in given.names else ("failed", "skipped")
    code = int(any(one.state in bad for one in outcomes))
    return {"seed": given.seed, "quick": given.quick, "experiments": found, "exit_code": code}
