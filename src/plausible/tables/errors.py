"""Errors of files, and the words that they share.

Rows of a file are counted from 1, without the header and without empty lines; of a text file, the
line is named as well.
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from plausible.checks import counted as counted
from plausible.errors import InputError

MOST = 5  # places that a message names
DAMAGED = "its bytes are not what they should be"
# What errors say to programmers, in words for people.
REASONS: dict[type[Exception], str] = {
    UnicodeError: "it holds bytes that are not UTF-8",
    RecursionError: "it is nested too deeply",
    **dict.fromkeys(
        (LookupError, TypeError, AttributeError, ArithmeticError, NotImplementedError),
        "its parts do not fit together",
    ),
    zlib.error: DAMAGED,
    EOFError: "it ends too early",
}
INTERNAL = re.compile(r"\w+(Error|Exception)\b|codec can't|Invalid: |\.(cc|h)\b")


class TableError(InputError):
    r"""A table that is not what it should be; the message names the file, the rows and a remedy.

    Examples
    --------
    >>> import io
    >>> from plausible.io import TableError, read_table
    >>> try:
    ...     read_table(io.StringIO("a,b\n1,2\n3\n4,5\n"))
    ... except TableError as error:
    ...     print(error)
    Every row of the file object should have 2 cells, like its header, but 1 row does not (row 2 on
    line 3 has 1 cell); put quotes around cells that contain ',', and fill in what is missing.
    """


def needed(name: str, what: str, extra: str = "io") -> Any:
    """A module of an extra, or how to get it."""
    try:
        module: ModuleType = __import__(name, fromlist=["__name__"])
    except ImportError as error:
        package = name.partition(".")[0].replace("_", "-")
        raise ImportError(
            f'{what} needs {package}, which is not installed; run pip install "plausible[{extra}]".'
        ) from error
    return module


def arrow(module: str = "") -> Any:
    """A module of pyarrow, or how to get it."""
    return needed(f"pyarrow{module}", "Reading and writing tables")


@contextmanager
def reading(name: str, what: str, rows: Sequence[int] = (0,)) -> Iterator[None]:
    """Turn whatever a reader raises into an error that names the file and how far it came.

    `rows` is a list of one number, which the reader raises as it goes.
    """
    try:
        yield
    except (TableError, ImportError):
        raise
    except Exception as error:
        where = f"after row {rows[0]}" if rows[0] else "before its first row ended"
        reason = first_line(error)
        raise TableError(
            f"{name} should be {what}, but cannot be read {where} ({reason}); it may be damaged "
            "or cut off: write or download it again."
        ) from error


def first_line(error: Exception) -> str:
    r"""What an error of another library says to people, in short.

    Examples
    --------
    >>> first_line(ValueError("row 3 has no end.\nat byte 7"))
    'row 3 has no end'
    >>> first_line(KeyError("content")), first_line(RecursionError())
    ('its parts do not fit together', 'it is nested too deeply')
    """
    if not type(error).__module__.startswith("pyarrow"):  # which speaks of tables
        for kind, said in REASONS.items():
            if isinstance(error, kind):
                return said
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = str(error).strip().splitlines()
    if not lines or INTERNAL.search(lines[0]):
        return DAMAGED
    return lines[0].rstrip(".")[:200]


def listed(places: Sequence[str], count: int | None = None) -> str:
    """The first few places, and dots if there are more."""
    shown = ", ".join(places[:MOST])
    return shown + (", ..." if (count or len(places)) > len(places[:MOST]) else "")
