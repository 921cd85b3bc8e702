"""Options in the words of the command line, where the library names parameters."""

import json
import shlex
from typing import Any


def worded(note: str) -> str:
    """A note of the library, with options in the place of parameters.

    Examples
    --------
    >>> from plausible.errors import Note
    >>> worded(Note("read as one class; {repeats}", repeats="once"))
    'read as one class; --repeats once'
    """
    return str(note.in_words(as_option)) if hasattr(note, "in_words") else note


def as_option(name: str, value: Any) -> str:
    """How the command line names a setting: ``--kind count``, or ``--kind`` without a value.

    Examples
    --------
    >>> as_option("map", {"not sure": "cannot tell"})
    '--map "not sure=cannot tell"'
    >>> as_option("words", {"high": 0.05, "low": 0.5})
    '--words high=0.05,low=0.5'
    >>> as_option("kinds", {"zip": "category", "row": "left out"})
    '--categories zip --leave-out row'
    """
    if name == "kinds":
        return _name_kinds(value)
    option = f"--{name.replace('_', '-')}"
    if value is None:
        return option
    if name == "map" and isinstance(value, dict):
        pairs = [
            f"{cell}={meant}" if "=" not in str(cell) else json.dumps({cell: meant})
            for cell, meant in value.items()
        ]
        return " ".join(f"{option}{_in_shell(pair)}" for pair in pairs)
    if isinstance(value, dict):
        value = ",".join(f"{key}={one}" for key, one in value.items())
    elif isinstance(value, (list, tuple)):
        value = ",".join(map(str, value))
    return f"{option}{_in_shell(str(value))}"


def _name_kinds(kinds: Any) -> str:
    """What kinds of columns are called here."""
    if not isinstance(kinds, dict):
        return "--prepare auto"
    options = {"category": "--categories", "left out": "--leave-out"}
    named = {
        option: ",".join(name for name, one in kinds.items() if one == kind)
        for kind, option in options.items()
        if kind in kinds.values()
    }
    return " ".join(f"{option}{_in_shell(names)}" for option, names in named.items())


def _in_shell(word: str) -> str:
    """A word behind an option as a shell takes it, in double quotes where that is enough."""
    quoted = word
    if shlex.quote(word) != word:
        quoted = shlex.quote(word) if set(word) & set('"$`\\!') else f'"{word}"'
    return f"={quoted}" if word.startswith("-") else f" {quoted}"
