"""Answers that go out: as tables of our own, to Label Studio, to doccano."""

import datetime
import json
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from plausible.experts import CANNOT_TELL, NONE_OF_THESE
from plausible.io import (
    annotations_of,
    new_file,
    places_of,
    standing,
    statement_of,
    worth_in,
    write_annotations,
    write_table,
)
from plausible.web import schema
from plausible.web.room import told
from plausible.web.store import Store
from plausible.web.study import load_items

FORMULA = ("=", "+", "-", "@", "\t", "\r")
HEADS = ("item", "annotator", "label", "doubt", "word", "equally", "odds", "comment", "seconds",
         "reason", "at", "answer")  # fmt: skip
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
    return {head: [line[k] for line in lines] for k, head in enumerate(HEADS)}


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
