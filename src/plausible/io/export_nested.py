"""Answers that are nested: lists of them within records of JSON, or within cells of a table.

JSON whose records hold their answers as a list of objects, ``{"id": 7, "said": [{"annotator":
"ann", "label": "cat"}, ...]}``, becomes a table with a row for each answer. Tables of Argilla have
lists in their cells, which become the records that it writes as JSON.
"""

import ast
import csv
import io
import json
import re
from typing import Any

from plausible.io.answer_columns import ALIASES, plainly
from plausible.tables import TableError

NESTED = "nested"
ADJACENT = re.compile(r"""['"]\s+['"]""")  # texts without a comma, which Python would join
LABELS = {plainly(name) for name in ALIASES["label"]}
PEOPLE = {plainly(name) for name in ALIASES["annotator"]} - {"user"}  # which doccano writes

PARTS = (  # of a text, or of a picture
    {"start", "end"}, {"start_offset", "end_offset"}, {"begin", "end"}, {"x", "y"}, {"bbox"},
    {"points"},
)  # fmt: skip


def inner_field(record: dict[str, Any]) -> str | None:
    """The only field that is a list of objects with a label; None if there is none such."""
    lists = [name for name, value in record.items() if isinstance(value, list | dict) and value]
    if len(lists) != 1 or not isinstance(record[lists[0]], list):
        return None
    entries = record[lists[0]]
    if not all(isinstance(entry, dict) and LABELS & _keys(entry) for entry in entries):
        return None
    is_flat = not any(isinstance(v, list | dict) for entry in entries for v in entry.values())
    return lists[0] if is_flat else None


def names_people(record: dict[str, Any]) -> bool:
    """Whether the answers within a record say by whom they are, in other words than doccano's."""
    inner = inner_field(record)
    return inner is not None and any(PEOPLE & _keys(entry) for entry in record[inner])


def _keys(entry: dict[str, Any]) -> set[str]:
    return {plainly(str(name)) for name in entry}


def unnested(records: list[tuple[str, Any]], source: str) -> tuple[dict[str, list[Any]], str]:
    """Columns with a row for each answer, and the field that held these."""
    inner = next(
        name for _, record in records if isinstance(record, dict) and (name := inner_field(record))
    )
    rows: list[dict[str, Any]] = []
    for place, record in records:
        entries = record.get(inner) if isinstance(record, dict) else None
        if not isinstance(entries or [], list) or not isinstance(record, dict):
            raise TableError(
                f"{place} of {source} should hold a list of answers in {inner!r}, but does not; "
                "write it as the other ones."
            )
        outer = {name: value for name, value in record.items() if name != inner}
        for entry in entries or ():
            if not isinstance(entry, dict) or any(isinstance(v, dict) for v in entry.values()):
                raise TableError(
                    f"Answers in {inner!r} of {source} should be objects such as "
                    f'{{"annotator": ..., "label": ...}}, but in {place.lower()} one is not; '
                    "correct it."
                )
            _check_whole(entry, inner, source)
            clash = {n: f"{inner}.{n}" if n in outer else n for n in entry}
            rows.append(outer | {clash[n]: value for n, value in entry.items()})
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: [row.get(name) for row in rows] for name in names}, inner


def _check_whole(entry: dict[str, Any], inner: str, source: str) -> None:
    """Refuse marks on parts of a text or picture, by nobody in particular."""
    marks = next((marks for marks in PARTS if marks <= set(entry)), None)
    if marks is not None and not {plainly(name) for name in entry} & PEOPLE:
        raise TableError(
            f"Answers in {inner!r} of {source} should be classes of whole items, but they mark "
            f"parts of these ({', '.join(sorted(marks))}); write one class for each item, and who "
            "gave it."
        )


# -- Tables of Argilla -----------------------------------------------------------------------------


def is_argilla_table(head: bytes) -> bool:
    """Whether the first lines of a CSV file have lists of responses in their cells."""
    if b".responses" not in head and b"user_id" not in head:
        return False
    rows = _rows_of(head.decode("utf-8", errors="replace"))
    names = rows[0] if rows else []
    if any(f"{name}.users" in names for name in names if name.endswith(".responses")):
        return True
    return any(_are_objects(cell) for cell in (rows[1] if len(rows) > 1 else ()))


def _rows_of(text: str) -> list[list[str]]:
    first = text.partition("\n")[0]
    mark = max(",;\t", key=first.count)
    try:
        return [row for row in csv.reader(io.StringIO(text), delimiter=mark) if row]
    except csv.Error:
        return []


def _are_objects(cell: str) -> bool:
    """Whether a cell is a list of responses, each by somebody."""
    return cell.startswith("[{") and all(key in cell for key in ("user_id", "value", "status"))


def argilla_records(text: str, source: str) -> list[tuple[str, Any]]:
    """Records of a table of Argilla, with the lists that its cells write."""
    names, *rows = _rows_of(text)
    records = []
    for number, row in enumerate(rows, 1):
        record: dict[str, Any] = {}
        for name, cell in zip(names, row, strict=False):
            is_list = ".responses" in name or _are_objects(cell)
            record[name] = _list_in(cell, name, number, source) if is_list else cell or None
        records.append((f"Row {number}", record))
    return records


def _list_in(cell: str, name: str, number: int, source: str) -> Any:
    """The list that a cell writes, in JSON or as Python shows it."""
    if not cell.strip():
        return None
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        pass
    try:
        if not ADJACENT.search(cell):
            return ast.literal_eval(cell)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        pass
    raise TableError(
        f"Column {name!r} of {source} should hold lists of responses, but the cell in row {number} "
        "cannot be read as one; export the records as JSON, which is read as it is: "
        "dataset.records.to_json('file.json')."
    )
