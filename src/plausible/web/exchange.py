"""Answers in and out: tables of our own, Label Studio, doccano."""

import datetime
import hashlib
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from plausible.errors import InputError
from plausible.experts import CANNOT_TELL, NONE_OF_THESE
from plausible.io import (
    SETTLED,
    annotations_of,
    new_file,
    places_of,
    read_annotations,
    standing,
    statement_of,
    worth_in,
    write_annotations,
    write_table,
)
from plausible.web import schema
from plausible.web.people import ROLES, find_or_add
from plausible.web.room import told
from plausible.web.saving import insert_once
from plausible.web.schema import as_json
from plausible.web.store import Store
from plausible.web.study import load_items, load_study

FORMULA = ("=", "+", "-", "@", "\t", "\r")
CONTROL, SHOWN = "label", "item"  # what Label Studio calls the question and what it is about


def safe_cell(value: Any) -> Any:
    """A cell that a spreadsheet does not take for a formula.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("oak"), safe_cell(-1)
    ("'=1+1", 'oak', -1)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def table_of(store: Store, as_of: int | None = None) -> dict[str, list[Any]]:
    """A row for each answer that stands: who said what of which item, with which doubt."""
    found = told(store, as_of)
    rows = standing(found.rows)
    places = places_of(found.classes, found.renamed)
    statements = [statement_of(row, places) for row in rows]
    worth = worth_in(found, rows, statements)
    words = list(found.words)
    doubts = worth.doubts(
        np.array([words.index(r.word) if r.word in words else -1 for r in rows], dtype=np.int64),
        np.array([len(said.picks) for said in statements], dtype=np.int64),
        [found.people[row.person] for row in rows],
    )
    more = _more(store)
    lines: list[tuple[Any, ...]] = []
    for row, said, doubt in zip(rows, statements, doubts.tolist(), strict=True):
        comment, seconds, at, reason = more[row.id]
        label = _label(row.kind, [found.classes[k] for k in said.picks])
        lines.append((found.items[row.item], found.people[row.person], label,
                      0.0 if row.kind == "cannot" else doubt, row.word or "",
                      "yes" if row.level else "", _odds(row.numbers), comment or "",
                      seconds, reason or "", _moment(at), row.id))  # fmt: skip
    heads = ("item", "annotator", "label", "doubt", "word", "equally", "odds", "comment", "seconds",
             "reason", "at", "answer")  # fmt: skip
    return {head: [line[k] for line in lines] for k, head in enumerate(heads)}


def _label(kind: str, names: list[str]) -> str:
    """An answer in the words of a table."""
    if kind != "said":
        return CANNOT_TELL if kind == "cannot" else NONE_OF_THESE
    return "|".join(json.dumps(n, ensure_ascii=False) if "|" in n else n for n in names)


def _odds(numbers: str | None) -> str:
    """How likely the classes of an answer are to each other, if that was said: "5 to 2 to 1"."""
    return " to ".join(map(str, json.loads(numbers))) if numbers else ""


def _moment(at: float) -> str:
    return datetime.datetime.fromtimestamp(at, datetime.UTC).isoformat(timespec="seconds")


def _more(store: Store) -> dict[int, tuple[Any, ...]]:
    """What else is stored of answers."""
    table, seen = schema.answer, schema.shown
    query = sa.select(
        table.c.id, table.c.comment, table.c.seconds, table.c.at, seen.c.reason
    ).outerjoin(seen, seen.c.id == table.c.shown)
    with store.read() as connection:
        return {row[0]: tuple(row[1:]) for row in connection.execute(query)}


def label_studio(store: Store, as_of: int | None = None) -> list[dict[str, Any]]:
    """Tasks as Label Studio exports and imports them."""
    found, items = told(store, as_of), load_items(store)
    places = places_of(found.classes, found.renamed)
    by_item: dict[int, list[Any]] = {}
    for row in standing(found.rows):
        names = [found.classes[k] for k in statement_of(row, places).picks]
        chosen = [NONE_OF_THESE] if row.kind == "none" else names
        value = {"from_name": CONTROL, "to_name": SHOWN, "type": "choices",
                 "value": {"choices": chosen}}  # fmt: skip
        by_item.setdefault(row.item, []).append(
            {
                "id": row.id,
                "completed_by": {"id": row.person, "email": found.people[row.person]},
                "was_cancelled": row.kind == "cannot",
                "result": [] if row.kind == "cannot" else [value],
                "meta": {"word": row.word, "first": names[:1] if row.kind == "said" else []},
            }
        )
    return [
        {
            "id": int(one.name) if one.name.isdecimal() and str(int(one.name)) == one.name
            else one.name,
            "data": {SHOWN: one.media or one.content, "kind": one.kind},
            "annotations": by_item[one.id],
        }
        for one in items
        if one.id in by_item
    ]  # fmt: skip


def doccano(store: Store, as_of: int | None = None) -> dict[str, list[dict[str, Any]]]:
    """Lines of doccano, by person."""
    found = told(store, as_of)
    contents = {one.id: one for one in load_items(store)}
    places = places_of(found.classes, found.renamed)
    files: dict[str, list[dict[str, Any]]] = {}
    for row in standing(found.rows):
        names = [found.classes[k] for k in statement_of(row, places).picks]
        names = [] if row.kind == "cannot" else names or [NONE_OF_THESE]
        one = contents[row.item]
        files.setdefault(found.people[row.person], []).append(
            {"id": one.name, "text": one.media or one.content, "label": names}
        )
    return files


def write_out(
    store: Store,
    target: str,
    *,
    as_of: int | None = None,
    spreadsheet: bool = False,
    full: bool = False,
    beside: str | None = None,
) -> str:
    """Write answers as a table, or for a tool; where they were written.

    A full table has a mass for each set of classes, as answers are pooled; the other one has what
    people read: the classes in their order, and the word.
    """
    stem = Path(beside or "answers").name.partition(".")[0] if "://" not in (beside or "") else (
        "answers")  # fmt: skip
    folder = Path(beside).parent if beside and "://" not in beside else Path()
    if target == "label-studio":
        path = folder / f"{stem}.label-studio.json"
        with new_file(path) as file:
            text = json.dumps(label_studio(store, as_of), ensure_ascii=False, indent=1)
            file.write(text.encode())
        return str(path)
    if target == "doccano":
        path = folder / f"{stem}.doccano"
        path.mkdir(exist_ok=True)
        for person, lines in doccano(store, as_of).items():
            with new_file(path / f"{file_name(person)}.jsonl") as file:
                file.writelines(
                    f"{json.dumps(line, ensure_ascii=False)}\n".encode() for line in lines
                )
        return str(path)
    if full:
        write_annotations(annotations_of(told(store, as_of)), target)
        return target
    columns = table_of(store, as_of)
    if spreadsheet:
        columns = {name: [safe_cell(cell) for cell in cells] for name, cells in columns.items()}
    write_table(columns, target)
    return target


def file_name(person: str) -> str:
    """A name as that of a file."""
    return "".join(c if c.isalnum() or c in " ._-@" else "_" for c in person).strip(". ") or "_"


def take_in(store: Store, source: Any, by: str = "annotator") -> int:
    """Add answers from a table or an export; those that are there already add nothing."""
    assert by in ROLES
    study = load_study(store)
    assert study is not None
    given = read_annotations(source, classes=None)
    items = {one.name: one.id for one in load_items(store)}
    names = [str(name) for name in given.classes.tolist()]
    strange = [name for name in names if name not in study.classes]
    if strange:
        raise InputError(
            "Answers should be about the classes of the study",
            f"{strange[0]!r} is none of them",
            "rename it in the file, or add the class",
        )
    unknown = [str(name) for name in given.items.tolist() if str(name) not in items]
    if unknown:
        raise InputError(
            "Answers should be about the items of the study", f"{unknown[0]!r} is none of them",
            "correct the names of the items",
        )  # fmt: skip
    people = {
        str(name): find_or_add(store, str(name), by).id
        for name in given.annotators.tolist()
        if str(name) != SETTLED
    }
    rows = [
        row
        for k in range(len(given))
        if (row := _row(given, k, names, items, people, study)) is not None
    ]

    def work(connection: sa.Connection) -> int:
        parts = (rows[start : start + 1000] for start in range(0, len(rows), 1000))
        kept = (one for part in parts for one in insert_once(connection, part))
        return len({number for number, is_new in kept if is_new})

    return int(store.write(work).result())


def _row(
    given: Any, k: int, names: list[str], items: Any, people: Any, study: Any
) -> dict[str, Any] | None:
    """One answer as it is stored."""
    person = str(given.annotators[given.annotator[k]])
    if person == SETTLED:
        return None
    contour = given.contours[given.statement[k]]
    order = np.argsort(-contour, kind="stable")
    picks = [names[c] for c in order if contour[c] > 0]
    kind = "none" if not picks else "cannot" if contour.min() == 1 else "said"
    picks = picks if kind == "said" else []
    word = None
    if given.doubt is not None and kind != "cannot" and study.options["words"]:
        support = 1 - float(given.doubt[k])
        word = min(study.words, key=lambda name: abs(study.words[name] - support))
    item = str(given.items[given.item[k]])
    told_once = json.dumps([item, person, kind, picks, word])
    token = hashlib.sha256(told_once.encode()).hexdigest()[:48]
    return {
        "token": token, "item": items[item], "person": people[person], "shown": None,
        "study": study.id, "kind": kind, "picks": as_json(picks),
        "level": bool(len(picks) > 1 and (contour[contour > 0] == 1).all()), "word": word,
        "numbers": None, "comment": None, "seconds": None, "saw_suggestion": False,
        "replaces": None, "client_at": None, "at": time.time(),
    }  # fmt: skip
