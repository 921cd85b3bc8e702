"""Tables that platforms of crowds export, known by how their columns are called.

============  ===================================================================================
Toloka        ``INPUT:image``, ``OUTPUT:result``, ``ASSIGNMENT:worker_id``, ``ASSIGNMENT:status``
Figure Eight  ``_unit_id``, ``_golden``, ``_worker_id``, ``_tainted``; a question ``animal`` has
(Appen)       ``animal_gold`` or ``animal:confidence`` beside it
Zooniverse    ``classification_id``, ``user_name``, ``annotations`` in JSON, ``subject_ids``
============  ===================================================================================
"""

import re
from collections.abc import Mapping, Sequence

from plausible.errors import Note
from plausible.io.answer_columns import check_names, look_at
from plausible.io.answer_plans import Export
from plausible.tables import Source, TableError, choose

COMMENTS = re.compile(r"comment|feedback|time|email|browser|note", re.IGNORECASE)
UNUSED = ("REJECTED", "SKIPPED", "EXPIRED")  # assignments that Toloka does not count
TRUE = (True, "true", "TRUE")  # of judgments by people who were found to be careless
ZOONIVERSE = {"classification_id", "user_name", "annotations", "subject_ids"}
WORKER, TASK, STATUS = (f"ASSIGNMENT:{name}" for name in ("worker_id", "task_id", "status"))


def find_crowd_export(
    table: Source, names: Mapping[str, str], ignore: Sequence[str]
) -> Export | None:
    """The columns of an export of Toloka, Figure Eight or Zooniverse, or None."""
    free = [name for name in choose(table, None) if name not in ignore]
    inputs = [name for name in free if name.startswith("INPUT:")]
    asked = [name for name in free if name.startswith("OUTPUT:")]
    if inputs and asked:
        things = inputs if len(inputs) == 1 or TASK not in free else [TASK, *inputs]
        columns = _columns(table, names, asked, things, WORKER)
        told = _told(table, "Toloka", columns["item"], things)
        return Export(columns, (STATUS, UNUSED) if STATUS in free else None, told)
    every = set(table.names)
    asked = [name for name in free if {f"{name}_gold", f"{name}:confidence"} & every]
    if {"_unit_id", "_golden"} <= every and asked:
        columns = _columns(table, names, asked, ["_unit_id"], "_worker_id")
        told = _told(table, "Figure Eight (Appen)", columns["item"], [])
        return Export(columns, ("_tainted", TRUE) if "_tainted" in free else None, told)
    if set(free) >= ZOONIVERSE:
        columns = _columns(table, names, ["annotations"], ["subject_ids"], "user_name")
        return Export(columns, None, _told(table, "Zooniverse", columns["item"], []))
    return None


def _columns(
    table: Source, names: Mapping[str, str], asked: list[str], things: list[str], worker: str
) -> dict[str, str]:
    """Columns by what they mean: those that are named, or that the platform has."""
    found = check_names(table, names)
    if "label" not in found:
        likely = [name for name in asked if not COMMENTS.search(name)] or asked
        if len(likely) > 1:
            looks = look_at(table, likely)
            likely.sort(key=lambda name: len(looks[name].values))
            raise TableError(
                f"One column of {table.name} should hold what people answered",
                f"there are {', '.join(map(repr, asked))}",
                "say which one is meant, as in {names}",
                settings={"names": {"label": likely[0]}},
            )
        found["label"] = likely[0]
    found.setdefault("item", things[0])
    if worker in table.names:
        found.setdefault("annotator", worker)
    return found


def _told(table: Source, tool: str, item: str, things: list[str]) -> list[Note]:
    """What is told of an export."""
    notes = [Note(f"{table.name} was read as an export of {tool}")]
    others = [name for name in things if name != item]
    more = f"; {{names}} takes one of {', '.join(map(repr, others))}" if others else ""
    told = f"items are those of the column {item!r}{more}"
    return [*notes, Note(told, names={"item": others[0]}) if others else Note(told)]
