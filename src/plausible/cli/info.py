"""Tell versions and what is installed, or what a file holds.

Example: plausible info model.skops
"""

import argparse
import importlib.util
import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import plausible
from plausible._visible import visible
from plausible.cli.talk import Talk

CORE = ("numpy", "scipy", "scikit-learn", "numba")
EXTRAS = {
    "io": ("pyarrow", "skops"),
    "cli": ("rich", "shtab"),
    "plots": ("matplotlib",),
    "dask": ("dask", "distributed"),
}
MODEL = b"plausible model"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument("file", nargs="?", help="model or table")


def run(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Versions, or what a file says about itself."""
    found = _of_installation() if given.file is None else _of_file(given.file)
    for name, value in found.items():
        if isinstance(value, dict):
            value = [f"{key} {one}" for key, one in value.items()]
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        talk.say(visible(f"{name.replace('_', ' ')}: {shown}"))
    return found


def _of_installation() -> dict[str, Any]:
    """Versions, extras and cores."""
    extras = {
        name: "yes" if all(map(is_there, packages)) else f'no (pip install "plausible[{name}]")'
        for name, packages in EXTRAS.items()
    }
    return {
        "plausible": plausible.__version__,
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in CORE},
        "extras": extras,
        "cores": os.cpu_count(),
        "seed": "0 by default, in every verb that draws",
    }


def is_there(package: str) -> bool:
    """Whether a package can be imported."""
    return importlib.util.find_spec(package) is not None


def _begins_like_model(path: str) -> bool:
    """Whether a file, or what standard input holds, begins like a model."""
    if path == "-":
        peek = getattr(getattr(sys.stdin, "buffer", None), "peek", None)
        return peek is not None and bool(peek().startswith(MODEL))
    if not Path(path).is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(MODEL)) == MODEL


def _of_file(path: str) -> dict[str, Any]:
    """What a model or a table holds."""
    from plausible.io import inspect_model, stream_table

    if _begins_like_model(path):
        return {"kind": "model", **inspect_model(path)}
    stream = stream_table(path)
    types = {field.name: str(field.type) for field in stream.schema}
    return {"kind": "table", "rows": sum(len(chunk) for chunk in stream), "columns": types}
