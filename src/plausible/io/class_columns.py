"""Columns that may be classes: marks, ticks and percent in them, also beside a person."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from plausible.io.answer_columns import THINGS, Look, plainly
from plausible.io.likely_columns import likely_names
from plausible.tables import Source, TableError, listed

TICKS = {"x", "\u2713", "\u2714", "\u2611", "*", "yes", "y", "true", "ja", "oui", "si", "s\u00ed",
         "wahr", "vrai", "on", "checked", "ticked"}  # fmt: skip
NOT_TICKED = {"no", "n", "false", "nein", "non", "falsch", "faux", "off", "-", "unchecked", ""}
MOST = 0.5  # of the rows
FEW_ROWS = 3  # whose sums may be alike by chance


def check_beside_people(table: Source, found: Mapping[str, str], looks: Mapping[str, Look]) -> None:
    """Refuse marks and numbers by class in rows each of which names a person."""
    check_marked(table, looks)
    known = TICKS | NOT_TICKED
    ticked = {
        name: look for name, look in looks.items()
        if look.values and {str(value).strip().casefold() for value in look.values} <= known
    }  # fmt: skip
    check_ticks(table, ticked)
    _check_marks(table, found, looks)
    check_percent(table, looks)


def check_marked(table: Source, looks: Mapping[str, Look]) -> None:
    """Refuse choices of one question in a column for each, ``animal___1``, ``animal___2``, ..."""
    stems: dict[str, list[str]] = {}
    for name, look in looks.items():
        stem, mark, _ = name.rpartition("___")
        if mark and look.values and set(look.values) <= {0, 1}:
            stems.setdefault(stem, []).append(name)
    things = {plainly(thing) for thing in THINGS}
    for stem, names in stems.items():
        if len(names) > 1:
            others = [n for n in looks if n not in names and plainly(n) not in things]
            raise TableError(
                f"{table.name} should hold answers",
                f"its columns {listed([repr(name) for name in names])} look like the choices of "
                f"{stem!r}, 1 where one was ticked",
                "say {kind}, and {ignore}, if so" if others else "say {kind} if so",
                settings={"kind": "set"} | ({"ignore": others} if others else {}),
            )


def _check_marks(table: Source, found: Mapping[str, str], looks: Mapping[str, Look]) -> None:
    """Refuse columns of 0 and 1 of which one is 1 in most rows, among others."""
    names = [name for name, look in looks.items() if _are_marks(look)]
    others = [name for name in looks if name not in names]
    has_gaps = any((looks[name].codes < 0).any() for name in names)
    if len(names) < 2 or not (others or has_gaps):
        return
    if (cells_of({name: looks[name] for name in names}).sum(axis=1) == 1).mean() <= MOST:
        return
    settings: dict[str, Any] = {"kind": "set"}
    rest = {name: looks[name] for name in others}
    if "item" not in found and (item := likely_names(table, found, rest).get("item")):
        settings["names"] = {"item": item}
        others = [name for name in others if name != item]
    if others:
        settings["ignore"] = others
    say = ", and ".join(f"{{{name}}}" for name in settings)
    raise TableError(
        f"{table.name} should hold answers",
        f"its columns {listed([repr(name) for name in names])} have a single 1 in most rows, as "
        "if it marked the class",
        f"{'write 0 into their empty cells, and ' * has_gaps}say {say}, if so",
        settings=settings,
    )


def _are_marks(look: Look) -> bool:
    """Whether a column has 1 in some rows, and 0 or nothing in others."""
    values = set(look.values)
    return values == {0, 1} or (values == {1} and bool((look.codes < 0).any()))


def check_ticks(table: Source, looks: Mapping[str, Look]) -> None:
    """Refuse a mark, or a word for yes, in one of the columns, which may be classes."""
    words = [[str(value).strip().casefold() for value in look.values] for look in looks.values()]
    every = {word for column in words for word in column}
    if len(looks) < 2 or not every or not every <= TICKS | NOT_TICKED or not every & TICKS:
        return
    ticks = np.column_stack([
        np.array([*(word in TICKS for word in column), False])[look.codes]
        for column, look in zip(words, looks.values(), strict=True)
    ])  # fmt: skip
    is_one = (ticks.sum(axis=1) == 1).all() and len(looks) > 2 and len(ticks) > 3
    if is_one or (len(every) == 1 and any((look.codes < 0).any() for look in looks.values())):
        cells = [str(value) for look in looks.values() for value in look.values]
        mark = next(cell for cell in cells if cell.strip().casefold() in TICKS)
        raise TableError(
            f"{table.name} should hold answers",
            f"its columns {listed([repr(name) for name in looks])} have {mark!r} in some rows, as "
            "if it ticked the class",
            (
                "write 1 for it and 0 for all else, and say {kind}, if so",
                "{layout} if each column holds the answers of one person",
            ),
            settings={"kind": "set", "layout": "annotators"},
        )


def check_percent(table: Source, looks: Mapping[str, Look]) -> None:
    """Refuse numbers by class that sum to 100 in each row: they are no votes of 100 people."""
    if len(looks) < 2 or not all(look.is_real or look.is_whole for look in looks.values()):
        return
    cells = cells_of(looks)
    if len(cells) < FEW_ROWS or cells.min() < 0 or (np.abs(cells.sum(axis=1) - 100) > 1).any():
        return
    raise TableError(
        f"{table.name} should hold answers or labels",
        f"its columns {listed([repr(name) for name in looks])} sum to 100 in each row, as percent "
        "by class do",
        ("divide them by 100 and say {kind} if so", "'count' if they are votes"),
        settings={"kind": "probability"},
    )


def cells_of(looks: Mapping[str, Look]) -> Any:
    """Numbers of some columns, 0 where they are missing."""
    return np.column_stack([np.array([*look.values, 0])[look.codes] for look in looks.values()])
