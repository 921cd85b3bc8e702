"""Experiments of the papers, and of real sets: every figure and table at one command.

``plausible reproduce come_2008`` runs one, prints what the paper says beside what we found, and
writes JSON and a picture; `reproduce` does the same from Python. `overview` and `listing` read what
full runs gave: their results are part of the package.

Each experiment is a module with ``run(quick, seed, progress)``, which returns results ready for
JSON, ``tables(results)`` and ``draw(results, path)``. `CATALOGUE` says which figures it reproduces
and which data it needs.

Examples
--------
>>> from plausible import experiments
>>> [row.verdict for row in experiments.listing("lu-2020-table-1")][0]
'holds'
"""

from plausible.experiments.catalogue import CATALOGUE, EXPERIMENTS, PAPERS, Experiment, select
from plausible.experiments.comparison import Row, Table, format_rows, format_table
from plausible.experiments.reproduction import (
    Line,
    Outcome,
    format_outcome,
    format_overview,
    listing,
    overview,
    reproduce,
)

__all__ = [
    "CATALOGUE",
    "EXPERIMENTS",
    "PAPERS",
    "Experiment",
    "Line",
    "Outcome",
    "Row",
    "Table",
    "format_outcome",
    "format_overview",
    "format_rows",
    "format_table",
    "listing",
    "overview",
    "reproduce",
    "select",
]
