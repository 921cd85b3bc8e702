"""Write ``docs/reproduction.md`` from results: prose from a template, every table from JSON.

A developer's tool, run in the root of the repository. In the template, ``{{ summary }}`` stands for
one line on each figure, ``{{ come_2008.claims }}`` for what the paper says beside what we found,
and ``{{ come_2008.errors }}`` for a table of that name of the experiment, whose caption is at
``{{ come_2008.errors.caption }}``.
"""

import argparse
import re
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from textwrap import fill as wrap
from typing import Any

from plausible.engine import write_atomically
from plausible.experiments.catalogue import CATALOGUE, EXPERIMENTS, select
from plausible.experiments.comparison import HEAD, format_table
from plausible.experiments.reproduction import overview
from plausible.experiments.stored import read_json, read_results

TEMPLATE = Path("docs/reproduction.template.md")
DOCUMENT = Path("docs/reproduction.md")
PICTURES = Path("docs/pictures")
RESULTS = Path("src/plausible/experiments/results")
PLACE = re.compile(r"^\{\{ ([\w.]+) \}\}$", re.MULTILINE)
NOTE = "<!-- Written by make reproduction from reproduction.template.md and stored results. -->\n\n"


def fill(template: str) -> str:
    """The document: every place of the template with its table.

    Examples
    --------
    >>> fill("{{ come_2008.errors }}").splitlines()[2][:13]
    '| N | doubt |'
    """
    return NOTE + PLACE.sub(lambda found: table_at(found[1]), template)


def table_at(place: str) -> str:
    """The table that a place stands for."""
    if place == "summary":
        lines = [[one.title, one.paper, one.ours, one.verdict] for one in overview()]
        return format_table(["figure or table", "paper", "ours", "verdict"], lines, aligned=False)
    name, wanted, part = (*place.split("."), "", "")[:3]
    results = read_results(name) if name in EXPERIMENTS else None
    if results is None:
        raise ValueError(
            f"A place in the template should be 'summary' or an experiment with results and a "
            f"table, but came as {place!r}; run the experiment, or correct the template."
        )
    if wanted == "claims":
        (experiment,) = select(name)
        return narrow(HEAD, [row.cells() for row in experiment.rows(results)])
    module: Any = import_module(f"plausible.experiments.{name}")
    tables = module.tables(results)
    if wanted not in tables:
        raise ValueError(
            f"The template should name a table of {name} ({', '.join(tables)}, claims), but names "
            f"{wanted!r}; correct it."
        )
    table = tables[wanted]
    return wrap(table.caption, 100) if part == "caption" else narrow(table.head, table.rows)


def narrow(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table without columns in which nothing is said.

    Examples
    --------
    >>> print(narrow(["a", "b"], [["1", ""], ["2", ""]]))
    | a |
    | --- |
    | 1 |
    | 2 |
    """
    kept = [j for j in range(len(head)) if any(row[j] for row in rows)]
    return format_table(
        [head[j] for j in kept], [[row[j] for j in kept] for row in rows], aligned=False
    )


def collect(folder: Path) -> list[str]:
    """Take results and pictures of full runs into the package and the documentation."""
    taken = []
    for experiment in CATALOGUE:
        path = folder / f"{experiment.name}.json"
        if not path.is_file():
            continue
        if (run := read_json(path))["quick"] or run["seed"] != 0:
            raise ValueError(
                f"{path} should be a full run with seed 0, but is quick or has seed "
                f"{run['seed']}; run plausible reproduce {experiment.name} without --quick."
            )
        picture = path.with_suffix(".png")
        write_atomically(RESULTS / path.name, path.read_bytes())
        write_atomically(PICTURES / picture.name, picture.read_bytes())
        taken.append(experiment.name)
    return taken


def main(arguments: Sequence[str] | None = None) -> int:
    """Take new results if there are any, and write the document."""
    parser = argparse.ArgumentParser(
        prog="python -m plausible.experiments.document", description=__doc__
    )
    parser.add_argument("--results", type=Path, metavar="FOLDER", help="take full runs from here")
    given = parser.parse_args(arguments)
    if given.results is not None:
        print("Taken:", ", ".join(collect(given.results)))
    write_atomically(DOCUMENT, fill(TEMPLATE.read_text(encoding="utf-8")).encode())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
