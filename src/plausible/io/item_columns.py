"""Answers with a row for each person and a column for each item, as forms and surveys have them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.errors import Note
from plausible.experts import Codes
from plausible.io.answer_columns import look_at, plainly
from plausible.io.answer_plans import Plan, unused
from plausible.io.export_tables import check_header_rows
from plausible.io.likely_columns import columns_alike, refuse_turned
from plausible.io.wide_columns import SIGNED
from plausible.tables import Source, choose, listed

QUESTION = re.compile(r"(.*)\[(.+)\]\s*")  # of a form: "What is it? [photo 1]"


def _find_columns(
    table: Source,
    found: Mapping[str, str],
    columns: Sequence[str] | None,
    ignore: Sequence[str],
) -> tuple[str | None, list[str]]:
    """The column that names people, if there is one, and those of the items."""
    free = [name for name in choose(table, None) if name not in ignore]
    signed = [name for name in free if plainly(name) in SIGNED]
    who = found.get("annotator", signed[0] if signed else found.get("item"))
    if columns is not None:
        return who, list(columns)
    free = [name for name in free if name != who]
    alike = columns_alike(look_at(table, free)) if not ignore else free
    if len(alike) > 1 and alike != free:
        raise refuse_turned(table, alike, "each row is to be of another person", who)
    return who, free


def items_in(columns: Sequence[str]) -> list[str]:
    """Names of items from those of their columns, without a question that all of them ask.

    Examples
    --------
    >>> items_in(["What is it? [photo 1]", "What is it? [photo 2]"])
    ['photo 1', 'photo 2']
    """
    found = [QUESTION.fullmatch(name) for name in columns]
    asked = {one[1] for one in found if one is not None}
    if len(asked) != 1 or None in found:
        return list(columns)
    inner = [one[2] for one in found if one is not None]
    return inner if len(set(inner)) == len(inner) else list(columns)


def plan_items(
    table: Source, found: dict[str, str], columns: Sequence[str] | None, ignore: Sequence[str]
) -> Plan:
    """How a table with a row for each person and a column for each item is read."""
    check_header_rows(table)
    who, chosen = _find_columns(table, found, columns, ignore)
    rest = [name for name in choose(table, None) if name not in (*chosen, *ignore, who)]
    people = "its number" if who is None else repr(who)
    notes = [
        Note(f"each of these columns was read as an item: {listed(chosen, len(chosen))}"),
        Note(f"each row was read as a person, called by {people}"),
        *unused(rest),
    ]
    return Plan("items", {} if who is None else {"annotator": who}, chosen, None, None, notes)


class Turned(NamedTuple):
    """Answers of people in rows about items in columns, and the row of each."""

    items: Codes
    annotators: Codes
    labels: Codes
    rows: NDArray[np.int64]


def turned(columns: Mapping[str, Codes], who: Codes | None) -> Turned:
    """Answers that stand in columns of items; an empty cell is no answer."""
    places: dict[Any, int] = {}
    said, rows = [], []
    for part in columns.values():
        cells = part.names.tolist()
        place = [-1 if cell is None else places.setdefault(cell, len(places)) for cell in cells]
        codes = np.array(place, dtype=np.int64)[part.codes]
        rows.append(np.flatnonzero(codes >= 0))
        said.append(codes[codes >= 0])
    cells = np.empty(len(places), dtype=object)
    cells[:] = list(places)
    if who is None:
        every = np.arange(len(next(iter(columns.values())).codes))
        who = Codes(every, np.array([f"row {k + 1}" for k in every]))
    each = np.repeat(np.arange(len(columns)), [len(some) for some in rows])
    row = np.concatenate(rows)
    items = Codes(each, np.array(items_in(list(columns))))
    return Turned(items, who.taken(row), Codes(np.concatenate(said), cells), row)
