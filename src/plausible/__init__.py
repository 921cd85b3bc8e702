"""Learning from labels that people only half believe.

What is used most is here, `Labels`, `Annotations`, `decide`, `load` and `save`; the rooms of the
library are subpackages. All are loaded when they are first used:

base
    What every estimator shares, for those who write one.
belief
    The algebra of mass functions: transforms, combination rules, measures, decisions.
cli
    The command ``plausible``.
cluster
    Credal partitions: clusters of items, with doubt and outliers.
datasets
    Generators of the papers' data, and loaders of real sets with human doubt.
engine
    The rows that an estimator learns from, and the loop that runs over them.
experiments
    One file for each table or figure of the papers.
experts
    Answers of people, with their doubts, and what they are worth.
io
    Files: tables, features, labels and models.
labels
    `Labels`: what is known about the class of each item.
metrics
    Scores against imprecise truth, and scorers for model selection.
models
    Estimators.
neighbors
    Estimators by evidence from near items, and labels for unlabeled ones.
plots
    Pictures as Display objects.
report
    One HTML page about labels, experts and a model.
tables
    Any table, opened once, typed, read in chunks.
testing
    Whether an estimator of anybody keeps the promises that all of these make.
web
    The annotation page, where people may doubt.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_ROOMS = (
    "base",
    "belief",
    "cli",
    "cluster",
    "datasets",
    "engine",
    "experiments",
    "experts",
    "io",
    "labels",
    "metrics",
    "models",
    "neighbors",
    "plots",
    "report",
    "tables",
    "testing",
    "web",
)
_NAMES = {
    "Annotations": "experts",
    "Labels": "labels",
    "decide": "belief",
    "load": "io",
    "save": "io",
}

__all__ = ["__version__", *_NAMES, *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"plausible.{name}")
    if name in _NAMES:
        return getattr(import_module(f"plausible.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'plausible' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
