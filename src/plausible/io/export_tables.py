"""Tables that annotation tools export: results of Mechanical Turk, and Label Studio's CSV.

==================  =============================================================================
Mechanical Turk     ``HITId``, ``WorkerId``, ``AssignmentStatus``, ``Input.*``, ``Answer.*``
Label Studio (CSV)  ``id``, ``annotator``, ``annotation_id``, ``lead_time``, fields of the data, and
                    a column for each control of the page
==================  =============================================================================
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from plausible.errors import Note
from plausible.io.answer_columns import check_names, look_at, plainly
from plausible.tables import Source, TableError, choose

REJECTED = "Rejected"
STUDIO = {
    "id", "annotator", "annotationid", "createdat", "updatedat", "leadtime", "agreement",
    "draftid", "unresolvedcommentcount", "project", "predictions",
}  # fmt: skip
COMMENTS = re.compile(r"comment|feedback|time|email|browser|note", re.IGNORECASE)


class Export(NamedTuple):
    """Columns of an export by what they mean, rows that do not count, and notes."""

    columns: dict[str, str]
    left_out: tuple[str, str] | None
    notes: list[Note]


def find_export(table: Source, names: Mapping[str, str]) -> Export | None:
    """The columns of an export of a tool that is known by its columns, or None."""
    plain = {plainly(name): name for name in choose(table, None)}
    if {"hitid", "workerid"} <= set(plain) and any(is_answer(name) for name in table.names):
        return mechanical_turk(table, check_names(table, names), plain)
    if {"annotationid", "leadtime", "annotator", "id"} <= set(plain):
        return label_studio(table, check_names(table, names), plain)
    return None


def is_answer(name: str) -> bool:
    """Whether a column holds what was answered on Mechanical Turk."""
    return name.casefold().startswith("answer.")


def mechanical_turk(table: Source, found: dict[str, str], plain: Mapping[str, str]) -> Export:
    """Columns of results of Mechanical Turk."""
    notes = [Note(f"{table.name} was read as results of Mechanical Turk")]
    inputs = [name for name in table.names if name.casefold().startswith("input.")]
    answers = [name for name in table.names if is_answer(name)]
    if "label" not in found:
        chosen = [name for name in answers if not COMMENTS.search(name)] or answers
        if len(chosen) > 1:
            raise TableError(
                f"One column of {table.name} should hold what people answered",
                f"there are {', '.join(map(repr, answers))}",
                "say which one is meant, as in {names}",
                settings={"names": {"label": chosen[0]}},
            )
        found["label"] = chosen[0]
    if "item" not in found:
        found["item"] = inputs[0] if len(inputs) == 1 else plain["hitid"]
        others = (
            f"; {{names}} takes one of {', '.join(map(repr, inputs))}" if len(inputs) > 1 else ""
        )
        told = f"items are those of the column {found['item']!r}{others}"
        notes.append(Note(told, names={"item": inputs[0]}) if others else Note(told))
    found.setdefault("annotator", plain["workerid"])
    status = plain.get("assignmentstatus")
    return Export(found, None if status is None else (status, REJECTED), notes)


def label_studio(table: Source, found: dict[str, str], plain: Mapping[str, str]) -> Export:
    """Columns of Label Studio's CSV."""
    notes = [Note(f"{table.name} was read as an export of Label Studio")]
    found.setdefault("annotator", plain["annotator"])
    fields = [n for n in choose(table, None) if plainly(n) not in STUDIO]
    if "label" not in found:
        free = [name for name in fields if name not in found.values()]
        controls = controls_among(table, free, plain["id"])
        if len(controls) != 1:
            listed = ", ".join(map(repr, controls or free))
            came = f"{listed} could be" if free else "there is none"
            raise TableError(
                f"One column of {table.name} should hold what people chose",
                came,
                "say which one is meant, as in {names}",
                settings={"names": {"label": (controls or free or ["choice"])[0]}},
            )
        found["label"] = controls[0]
    if "item" not in found:
        found["item"] = plain["id"]
        others = [name for name in fields if name != found.get("label")]
        if others:
            notes.append(Note("items are the ids of tasks; {names} takes a field of their data",
                              names={"item": others[0]}))  # fmt: skip
    return Export(found, None, notes)


def controls_among(table: Source, fields: list[str], task: str) -> list[str]:
    """Columns of answers: those of data are the same whenever a task comes again."""
    if len(fields) < 2:
        return fields
    looks = look_at(table, [task, *fields])
    tasks = looks.pop(task)
    sure = [
        name for name, look in looks.items()
        if any(str(value).startswith(('{"choices"', '[{"rating"', '{"rating"'))
               for value in look.values)
    ]  # fmt: skip
    if sure:
        return sure
    changing = []
    for name, look in looks.items():
        pairs = set(zip(tasks.codes.tolist(), look.codes.tolist(), strict=True))
        if len(pairs) > len(tasks.values):
            changing.append(name)
    if changing:
        return changing
    return [n for n, look in looks.items() if len(look.values) <= max(2, 0.5 * len(tasks.values))]
