"""How a table of answers is read, once that is known, and what is told of columns that are not."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from plausible.errors import Note

LAYOUTS = ("long", "annotators", "items", "classes")
ASKED = (
    "answer.",
    "input.",
    "output:",
    "input:",
    "golden:",
)  # what people saw and said, in exports
MOST = 60  # columns that a note names


class Export(NamedTuple):
    """Columns of an export by what they mean, rows that do not count, notes.

    choices : classes by the columns that say whether they were chosen, if answers are so laid out
    """

    columns: dict[str, str]
    left_out: tuple[str, tuple[Any, ...]] | None
    notes: list[Note]
    choices: dict[str, str] = {}  # noqa: RUF012


class Plan(NamedTuple):
    """How a table is read.

    layout : one of `LAYOUTS`
    found : columns by what they mean
    columns : those of the people or classes
    kind : what numbers by class mean
    left_out : column and values of rows that a tool does not count, as those that were rejected
    notes : what was assumed
    choices : classes by columns that say whether they were chosen, in place of the label
    is_named : whether the caller named the column of items
    sure : columns that say how sure people are, by the columns of these, and what they mean
    states : further columns that say whether answers were accepted
    """

    layout: str
    found: dict[str, str]
    columns: list[str]
    kind: str | None
    left_out: tuple[str, tuple[Any, ...]] | None
    notes: list[Note]
    choices: dict[str, str] = {}  # noqa: RUF012
    is_named: bool = False
    sure: dict[str, tuple[str, str]] = {}  # noqa: RUF012
    states: Sequence[str] = ()


def unused(names: Sequence[str]) -> list[Note]:
    """A note on columns that are not used."""
    if not names:
        return []
    first = sorted(names, key=lambda name: not name.casefold().startswith(ASKED))
    more = f", and {len(first) - MOST} more" if len(first) > MOST else ""
    return [Note(f"not used: {', '.join(map(repr, first[:MOST]))}{more}")]
