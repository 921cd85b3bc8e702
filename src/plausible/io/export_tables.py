"""Tables that annotation tools export: results of Mechanical Turk, and Label Studio's CSV.

==================  =============================================================================
Mechanical Turk     ``HITId``, ``WorkerId``, ``AssignmentStatus``, ``Input.*``, ``Answer.*``, or
                    ``Answer.cat.on``, ``Answer.dog.on`` with true and false for each choice
Label Studio (CSV)  ``id``, ``annotator``, ``annotation_id``, ``lead_time``, fields of the data, and
                    a column for each control of the page
==================  =============================================================================
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from plausible.errors import Note
from plausible.io.answer_columns import check_names, look_at, plainly
from plausible.io.answer_plans import Export
from plausible.io.export_crowds import COMMENTS, find_crowd_export
from plausible.tables import Source, TableError, choose

REJECTED = "Rejected"
NOT_APPROVED = ("RETURNED", "TIMED-OUT", "TIMED_OUT", "REJECTED")  # on Prolific
STUDIO = {
    "id", "annotator", "annotationid", "createdat", "updatedat", "leadtime", "agreement",
    "draftid", "unresolvedcommentcount", "project", "predictions",
}  # fmt: skip
CHOSEN, UNCHOSEN = {"true", "on", "1", "yes"}, {"false", "off", "0", "no", ""}
MOST_CHOOSE_ONE = 0.5  # of the answers, or columns are questions of their own


def find_export(
    table: Source, names: Mapping[str, str], ignore: Sequence[str] = ()
) -> Export | None:
    """The columns of an export of a tool that is known by its columns, or None."""
    plain = {plainly(name): name for name in choose(table, None)}
    if {"hitid", "workerid"} <= set(plain) and any(_is_answer(name) for name in table.names):
        return _mechanical_turk(table, check_names(table, names), plain, ignore)
    if any(f"{name}.users" in table.names for name in table.names if _ends_responses(name)):
        raise TableError(
            f"{table.name} should have a row for each answer",
            "has lists of responses and of users, as records of Argilla have",
            "export them as JSON, which is read as it is: dataset.records.to_json('file.json')",
        )
    if {"annotationid", "leadtime", "annotator", "id"} <= set(plain):
        return label_studio(table, check_names(table, names), plain)
    return find_crowd_export(table, names, ignore)


def status_of(table: Source) -> tuple[str, tuple[str, ...]] | None:
    """The column that says which answers on Prolific do not count, and its words for these."""
    plain = {plainly(name): name for name in choose(table, None)}
    if not {"submissionid", "participantid", "status"} <= set(plain):
        return None
    return plain["status"], NOT_APPROVED


def check_header_rows(table: Source) -> None:
    """Refuse exports of surveys, which have more rows of names below the first."""
    plain = {plainly(name): name for name in table.names}
    first = {name: table.column(name).slice(0, 2).to_pylist() for name in table.names}
    if {"responseid", "startdate"} & set(plain) and any(
        str(cell).startswith('{"ImportId"') for cells in first.values() for cell in cells
    ):
        tool, which = "three rows of names of Qualtrics", "second and the third line"
    elif {"respondentid", "collectorid"} <= set(plain) and (
        str(first[plain["respondentid"]][:1]) in ("[None]", "['']", "[nan]")
    ):
        tool, which = "two rows of names of SurveyMonkey", "second line"
    else:
        return
    raise TableError(
        f"{table.name} should have a row for each answer below one row of names",
        f"it has the {tool}, and a row for each person",
        f"delete the {which}, and say {{layout}}",
        settings={"layout": "items"},
    )


def _ends_responses(name: str) -> bool:
    """Whether a column holds the responses to a question of Argilla."""
    return name.endswith(".responses")


def _is_answer(name: str) -> bool:
    """Whether a column holds what was answered on Mechanical Turk."""
    return name.casefold().startswith("answer.")


def _mechanical_turk(
    table: Source, found: dict[str, str], plain: Mapping[str, str], ignore: Sequence[str]
) -> Export:
    """Columns of results of Mechanical Turk."""
    notes = [Note(f"{table.name} was read as results of Mechanical Turk")]
    inputs = [name for name in table.names if name.casefold().startswith("input.")]
    answers = [name for name in table.names if _is_answer(name) and name not in ignore]
    choices: dict[str, str] = {}
    if "label" not in found:
        chosen = [name for name in answers if not COMMENTS.search(name)] or answers
        choices = _find_choices(table, chosen)
        if choices:
            notes.append(Note(f"the classes are those that are chosen or not in "
                              f"{', '.join(map(repr, choices))}"))  # fmt: skip
        elif len(chosen) > 1:
            _check_one_question(table, chosen)
            raise TableError(
                f"One column of {table.name} should hold what people answered",
                f"there are {', '.join(map(repr, answers))}",
                "say which one is meant, as in {names}",
                settings={"names": {"label": chosen[0]}},
            )
        found["label"] = chosen[0]  # the first of the choices, where there are such
    if "item" not in found:
        found["item"] = inputs[0] if len(inputs) == 1 else plain["hitid"]
        others = (
            f"; {{names}} takes one of {', '.join(map(repr, inputs))}" if len(inputs) > 1 else ""
        )
        told = f"items are those of the column {found['item']!r}{others}"
        notes.append(Note(told, names={"item": inputs[0]}) if others else Note(told))
    found.setdefault("annotator", plain["workerid"])
    status = plain.get("assignmentstatus")
    return Export(found, None if status is None else (status, (REJECTED,)), notes, choices)


def _find_choices(table: Source, names: list[str]) -> dict[str, str]:
    """Classes by their columns of true and false, if each answer chooses among them; else none."""
    if len(names) < 2:
        return {}
    parts = [name.split(".")[1:] for name in names]
    firsts, lasts = {part[0] for part in parts}, {part[-1] for part in parts}
    if len(firsts) == len(names) and (len(lasts) == 1 or all(p[0] == p[-1] for p in parts)):
        classes = [part[0] for part in parts]
    elif len(firsts) == 1 and len(lasts) == len(names):
        classes = [part[-1] for part in parts]
    else:
        return {}
    truth = read_choices(table, names)
    if truth is None or (truth.sum(axis=1) == 1).mean() < MOST_CHOOSE_ONE:
        return {}  # other questions, each of which may be answered by yes
    return dict(zip(names, classes, strict=True))


def _check_one_question(table: Source, names: list[str]) -> None:
    """Refuse several questions, each with columns of true and false for its choices."""
    questions: dict[str, list[str]] = {}
    for name in names:
        questions.setdefault(name.rpartition(".")[0], []).append(name)
    first, *others = questions
    if others and all(_find_choices(table, columns) for columns in questions.values()):
        rest = [name for question in others for name in questions[question]]
        raise TableError(
            f"Columns of one question of {table.name} should hold what people answered",
            f"there are {', '.join(map(repr, questions))}",
            f"leave out those of the others, as in {{ignore}} for {first!r}",
            settings={"ignore": rest},
        )


def read_choices(table: Source, names: Sequence[str]) -> NDArray[np.bool_] | None:
    """What columns of true and false say (n, K); None if they hold something else."""
    columns = []
    for name in names:
        codes, cells = table.encoded(name)
        words = [str(cell).strip().casefold() for cell in cells.tolist()]
        if not set(words) <= CHOSEN | UNCHOSEN:
            return None
        columns.append(np.array([*(word in CHOSEN for word in words), False])[codes])
    return np.column_stack(columns)


def label_studio(table: Source, found: dict[str, str], plain: Mapping[str, str]) -> Export:
    """Columns of Label Studio's CSV."""
    notes = [Note(f"{table.name} was read as an export of Label Studio")]
    found.setdefault("annotator", plain["annotator"])
    fields = [n for n in choose(table, None) if plainly(n) not in STUDIO]
    if "label" not in found:
        free = [name for name in fields if name not in found.values()]
        controls = _controls_among(table, free, plain["id"])
        if len(controls) != 1:
            listed = ", ".join(map(repr, controls or free))
            came = f"{listed} could be" if free else "there is none"
            likely = _by_values(table, controls or free) or ["choice"]
            raise TableError(
                f"One column of {table.name} should hold what people chose",
                came,
                "say which one is meant, as in {names}",
                settings={"names": {"label": likely[0]}},
            )
        found["label"] = controls[0]
    if "item" not in found:
        found["item"] = plain["id"]
        others = [name for name in fields if name != found.get("label")]
        if others:
            notes.append(Note("items are the ids of tasks; {names} takes a field of their data",
                              names={"item": others[0]}))  # fmt: skip
    return Export(found, None, notes)


def _by_values(table: Source, fields: list[str]) -> list[str]:
    """Columns by the number of their values: answers have fewer than pictures and texts."""
    looks = look_at(table, fields) if fields else {}
    return sorted(fields, key=lambda name: len(looks[name].values))


def _controls_among(table: Source, fields: list[str], task: str) -> list[str]:
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
