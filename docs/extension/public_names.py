"""Every public name once: which room it belongs to, from each room's ``__all__``.

A name that two rooms export, such as `plausible.models.Beliefs`, has its page in the room that
defines it; the other room's list leads there.
"""

import importlib
import inspect
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import plausible

# Rooms in the order in which data flows, as on the page of the reference.
ROOMS = {
    "labels": "what is known about the class of each item",
    "experts": "answers of people and of classifiers",
    "models": "estimators, in families",
    "neighbors": "estimators by evidence from near items",
    "cluster": "clusters with doubt",
    "belief": "the algebra of belief functions",
    "metrics": "scores against imprecise truth",
    "plots": "pictures",
    "report": "one page about labels, experts and a model",
    "web": "pages on which people answer",
    "io": "files: tables, answers, labels, models",
    "datasets": "simulated and real data",
    "experiments": "the papers, run again",
    "base": "for those who write an estimator",
    "testing": "checks of an estimator of one's own",
    "engine": "rows, and the loop that runs over them",
    "tables": "any table, opened once",
    "cli": "the command line",
}


@dataclass(frozen=True)
class PublicName:
    """A name of a room, and where it is documented."""

    room: str
    name: str
    value: Any

    @property
    def path(self) -> str:
        """Such as ``plausible.belief.dempster``."""
        return f"plausible.{self.room}.{self.name}"

    @cached_property
    def kind(self) -> str:
        """One of class, function, warning, data."""
        if inspect.isclass(self.value):
            return "warning" if issubclass(self.value, Exception) else "class"
        return "function" if callable(self.value) else "data"

    @property
    def page(self) -> str:
        """Name of its page, without folder; classes and functions may differ only in case."""
        return f"{self.path}-function" if self.kind == "function" else self.path

    @property
    def summary(self) -> str:
        """First line of its docstring."""
        text = inspect.getdoc(self.value) if self.kind != "data" else None
        return (text or "").split("\n\n")[0].replace("\n", " ")


def rooms() -> list[str]:
    """Names of the rooms that exist, in the order of the reference."""
    existing = [name for name in plausible.__all__ if inspect.ismodule(getattr(plausible, name))]
    missing = sorted(set(existing) - set(ROOMS))
    if missing:
        raise ValueError(
            f"Every room needs a line in ROOMS of docs/extension/public_names.py; not so {missing}."
        )
    return [name for name in ROOMS if name in existing]


def names_of(room: str) -> list[PublicName]:
    """What a room exports."""
    module = importlib.import_module(f"plausible.{room}")
    return [PublicName(room, name, getattr(module, name)) for name in module.__all__]


def home_of(found: PublicName) -> str:
    """The room that defines it, if that room exports it, else the room that does."""
    if found.kind == "data":
        return found.room
    _, room, *_ = f"{found.value.__module__}..".split(".")
    module = importlib.import_module(f"plausible.{room}")
    exported = getattr(module, "__all__", ())
    is_same = found.name in exported and getattr(module, found.name) is found.value
    return room if is_same else found.room


def pages() -> list[PublicName]:
    """Every public name with a page of its own, or a place on its room's page if it is data."""
    return [found for room in rooms() for found in names_of(room) if home_of(found) == room]
