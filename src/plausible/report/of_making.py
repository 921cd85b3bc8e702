"""How a report was made, and what to give for the parts that it lacks."""

import importlib.metadata
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np

import plausible
from plausible.checks import check_texts
from plausible.report.words import name_of, without_folders

NEEDED = {
    "labels": "Give labels= or annotations= to see what is known about the items.",
    "clash": "Give annotations=, or labels= that were pooled, to see where experts clash.",
    "confusion": "Give annotations= to see which classes people confuse, and model= with X= and "
    "labels=, or with X_test= and y_test=, to see which the model does.",
    "reliability": "Give annotations= to see who is reliable.",
    "questions": "Give annotations= to see which items to ask about again.",
    "features": "Give X= to see what the features look like.",
    "belief": "Give model= and X= (or X_test=) to see what a model believes.",
    "scores": "Give model=, X_test= and y_test= to see how good the model is.",
}
ANSWERS = "Give a table of answers that says who gave them (a column annotator) to see "
NEEDED_BY_THE_COMMAND = {
    "labels": "Give a table of answers or labels to see what is known about the items.",
    "clash": f"{ANSWERS}where experts clash.",
    "confusion": f"{ANSWERS}which classes people confuse, and features with --model, or --test, to "
    "see which the model does.",
    "reliability": f"{ANSWERS}who is reliable.",
    "questions": f"{ANSWERS}which items to ask about again.",
    "features": "Give a table of features to see what they look like.",
    "belief": "Give a table of features and --model to see what a model believes.",
    "scores": "Give --model, and --test with labels and features of other items, to see how good "
    "the model is.",
}


def _is_by_command(command: str | Sequence[str] | None) -> bool:
    """Whether a report was made by the command `plausible`."""
    if command is None:
        return False
    given = command.split() if isinstance(command, str) else command
    words = check_texts(given, "command", "words")
    return bool(words) and words[0].replace("\\", "/").rpartition("/")[2] == "plausible"


def needed(part: str, by_command: bool) -> dict[str, str]:
    """What to give for a part of the report."""
    return {"missing": (NEEDED_BY_THE_COMMAND if by_command else NEEDED)[part]}


def untold(by_command: bool) -> str:
    """What to say of labels whose pooling is not known."""
    said = "How the answers were pooled was not told"
    return f"{said}." if by_command else f"{said}; pooling= says it."


def remedy(by_command: bool) -> str:
    """What to do about an estimate that has not settled."""
    more = "reliability={'max_iter': 5000}"
    if by_command:
        return f"in Python, summarize(..., {more}) gives it more."
    return f"give it more by {more}."


def describe(
    model: Any, seed: int, command: str | Sequence[str] | None, date: str | None
) -> dict[str, Any]:
    """How a report was made: versions, seed, model, command and date."""
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    versions = {name: importlib.metadata.version(name) for name in packages}
    python = {"python": platform.python_version()}
    return {
        "versions": {"plausible": plausible.__version__, **python, **versions},
        "seed": seed,
        "model": None if model is None else type(model).__name__,
        "parameters": {} if model is None else parameters(model),
        "by_command": _is_by_command(command),
        "command": None if command is None else name_of(without_folders(command), 1000),
        "date": None if date is None else name_of(date),
    }


def parameters(model: Any) -> dict[str, str]:
    """Parameters of a model that are numbers or words."""
    if not hasattr(model, "get_params"):
        return {}
    told = (str, int, float, bool, np.generic)
    found = {name: v for name, v in model.get_params().items() if isinstance(v, told)}
    return {name_of(name): name_of(without_folders([str(v)])) for name, v in found.items()}
