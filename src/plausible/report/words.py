"""Names, sets and statements in words, and numbers that JSON can hold."""

import math
import re
import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible._visible import visible
from plausible.checks import as_list
from plausible.labels import CERTAIN

LONGEST = 80  # letters of a name that are kept
MOST_CLASSES = 4  # classes of a statement that are named
LEAST = 0.005  # degrees below are not told

_FOLDERS = re.compile(r"^(file:)?([A-Za-z]:)?([/\\][^/\\]*)*[/\\](?=[^/\\]*$)|^~[/\\](.*[/\\])?")


def name_of(value: Any, longest: int = LONGEST) -> str:
    r"""A name as text: one line, not too long, without letters that no page may hold.

    Examples
    --------
    >>> print(name_of("two\nlines"), len(name_of("x" * 1000)))
    two\nlines 80
    """
    text = visible(str(value))
    return text if len(text) <= longest else text[: longest - 1] + "…"


def names_of(values: NDArray[Any]) -> list[str]:
    """Names as text."""
    return [name_of(value) for value in values.tolist()]


def set_in_words(names: Sequence[str]) -> str:
    """Classes as "a", "a or b", "a, b or c".

    Examples
    --------
    >>> set_in_words(["a", "b", "c"])
    'a, b or c'
    """
    if len(names) > 2 * MOST_CLASSES:
        rest = len(names) - 2 * MOST_CLASSES + 1
        names = [*names[: 2 * MOST_CLASSES - 1], f"{rest} others"]
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} or {names[-1]}"


def statement_in_words(contour: NDArray[np.float64], names: Sequence[str]) -> str:
    """What plausibilities (K,) say: a class, a set, degrees, or nothing.

    Examples
    --------
    >>> statement_in_words(np.array([1.0, 0.4, 0.0]), ["cat", "dog", "eel"])
    'cat 1, dog 0.4'
    >>> statement_in_words(np.array([1.0, 0.001, 0.0]), ["cat", "dog", "eel"])
    'almost surely cat'
    >>> statement_in_words(np.array([1.0, 1.0, 0.0]), ["cat", "dog", "eel"])
    'cat or dog'
    >>> statement_in_words(np.ones(3), ["cat", "dog", "eel"])
    'cannot tell'
    """
    top = contour.max()
    if top <= 0:
        return "none of these"
    if contour.min() == top and len(names) > 1:
        return "cannot tell"
    is_crisp = ((contour <= CERTAIN) | (contour >= 1 - CERTAIN)).all()
    if is_crisp:
        possible = np.flatnonzero(contour > 0.5).tolist()
        return name_of(set_in_words([names[k] for k in possible]), 2 * LONGEST)
    order = np.argsort(-contour, kind="stable")
    worth = [int(k) for k in order if contour[k] >= LEAST]
    if len(worth) == 1 and contour[worth[0]] > 1 - LEAST:
        return f"almost surely {names[worth[0]]}"
    words = ", ".join(f"{names[k]} {round(contour[k], 2):g}" for k in worth[:MOST_CLASSES])
    more = ", ..." if len(worth) > MOST_CLASSES else ""
    return name_of(words + more, 2 * LONGEST)


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
