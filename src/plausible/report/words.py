"""Names, sets and statements in words, and numbers that JSON can hold."""

import math
import re
import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible._visible import name_of as cut_name
from plausible._visible import set_in_words as set_in_words
from plausible.checks import as_list
from plausible.labels import statement_in_words as statement_in_words

LONGEST = 80  # letters of a name that are kept

_FOLDERS = re.compile(r"^(file:)?([A-Za-z]:)?([/\\][^/\\]*)*[/\\](?=[^/\\]*$)|^~[/\\](.*[/\\])?")


def name_of(value: Any, longest: int = LONGEST) -> str:
    r"""A name as text: one line, not too long, without letters that no page may hold.

    Examples
    --------
    >>> print(name_of("two\nlines"), len(name_of("x" * 1000)))
    two\nlines 80
    """
    return cut_name(value, longest)


def names_of(values: NDArray[Any]) -> list[str]:
    """Names as text."""
    return [name_of(value) for value in values.tolist()]


def plain(value: Any) -> Any:
    """The same made of str, int, float, bool, None, list and dict; None for NaN and infinity.

    Examples
    --------
    >>> plain({"a": np.float64("nan"), 2: np.arange(2)})
    {'a': None, '2': [0, 1]}
    """
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def without_folders(command: str | Sequence[str]) -> str:
    """A command without the folders of its files.

    Examples
    --------
    >>> without_folders("plausible report /home/me/answers.csv --output=/data/report.html")
    'plausible report answers.csv --output=report.html'
    """
    parts = _words(command) if isinstance(command, str) else as_texts(command)
    return " ".join(_quoted(_without_folder(part)) for part in parts)


def as_texts(command: Any) -> list[str]:
    """Words of a command that came as a list."""
    return [str(part) for part in as_list(command, "command", "words")]


def _words(command: str) -> list[str]:
    """Words of a command, in which a backslash is one of a path unless a space follows."""
    try:
        return shlex.split(re.sub(r"\\(?! )", r"\\\\", command))
    except ValueError:  # quotes that do not close
        return re.sub("['\"]", "", command).split()


def _without_folder(part: str) -> str:
    option, equals, value = part.partition("=")
    if equals and option.startswith("-"):
        return option + equals + _FOLDERS.sub("", value)
    return _FOLDERS.sub("", part)


def _quoted(part: str) -> str:
    return f'"{part}"' if " " in part or not part else part
