"""JSON of any depth as a table: a column for each field, a row for each entry of its lists.

``{"id": 7, "task": {"by": "ann"}, "said": [{"label": "cat"}, {"label": "dog"}]}`` becomes two rows
with the columns id, by and label. A field is called by the last part of its path, or by more of it
where two would have one name. Lists of names stay lists; texts that hold objects are read as these.
An object of columns, as pandas writes it, is a table, and one of objects a row for each of these.
Files of COCO and Datumaro, whose labels are numbers of a list beside them, and of the VGG Image
Annotator are told by their keys.
"""

import json
from collections import Counter
from typing import Any

from plausible.io.answer_columns import ALIASES, plainly
from plausible.tables import TableError

SPREAD, COLUMNS, COCO, DATUMARO = "spread", "columns", "COCO", "Datumaro"
VIA = "VGG Image Annotator"
VIA_KEYS = {"filename", "regions", "file_attributes"}
PEOPLE = {plainly(name) for name in ALIASES["annotator"]}
Records = list[tuple[str, Any]]
Row = dict[tuple[str, ...], Any]


def depth_of(record: dict[str, Any]) -> str | None:
    """How a record that holds others is read; None if it holds none."""
    if isinstance(record.get("categories"), list) and {"images", "annotations"} <= set(record):
        return COCO
    if isinstance(record.get("categories"), dict) and isinstance(record.get("items"), list):
        return DATUMARO
    if "_via_img_metadata" in record or (record and all(map(_is_via, record.values()))):
        return VIA
    if len(record) > 1 and _columns_in(record) is not None:
        return COLUMNS
    is_deep = any(_is_deep(value) for value in record.values())
    return SPREAD if is_deep or beside_people(record) else None


def beside_people(record: dict[str, Any]) -> list[str]:
    """Lists of names that belong together: of people, and as long ones beside it, as of labels."""
    lists = {
        name: value for name, value in record.items()
        if isinstance(value, list) and len(value) > 1
        and not any(isinstance(cell, dict | list) for cell in value)
    }  # fmt: skip
    people = [name for name in lists if plainly(name).removesuffix("s") in PEOPLE]
    if len(people) != 1:
        return []
    beside = [name for name in lists if len(lists[name]) == len(lists[people[0]])]
    return beside if len(beside) > 1 else []


def _columns_in(record: dict[str, Any]) -> dict[str, list[Any]] | None:
    """Columns of an object of lists, or of objects with the same keys; None if it is none."""
    values = list(record.values())
    if all(isinstance(value, list) for value in values):
        are_cells = not any(isinstance(cell, dict | list) for cell in values[0])
        same = len({len(value) for value in values}) == 1 and len(values[0]) > 1
        return record if are_cells and same else None
    if not all(isinstance(value, dict) and value for value in values):
        return None
    if any(isinstance(cell, dict | list) for value in values for cell in value.values()):
        return None
    keys = list(values[0])
    if keys[:2] == ["0", "1"] and all(list(value) == keys for value in values):
        return {name: list(value.values()) for name, value in record.items()}
    inner = list(dict.fromkeys(key for value in values for key in value))
    if "item" in inner or 2 * len(inner) > sum(map(len, values)):
        return None
    rows = {key: [value.get(key) for value in values] for key in inner}
    return {"item": list(record), **rows}


def _is_deep(value: Any) -> bool:
    """Whether a value is an object, or a list of them."""
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)
    )


def spread(records: Records, source: str) -> dict[str, list[Any]]:
    """Columns of records of any depth."""
    rows: list[Row] = []
    for place, record in records:
        try:
            rows += _rows_of((), record)
        except ValueError as error:
            raise TableError(
                f"{place} of {source} should hold one list of answers", f"holds {error}",
                "write a row for each answer, with the columns item, annotator and label",
            ) from None  # fmt: skip
    paths = list(dict.fromkeys(path for row in rows for path in row))
    ends = Counter(".".join(path[-n:]) for path in paths for n in range(1, len(path) + 1))
    names = [
        next((end for n in range(1, len(path) + 1) if ends[end := ".".join(path[-n:])] == 1),
             ".".join(path))
        for path in paths
    ]  # fmt: skip
    return {name: [row.get(path) for row in rows] for name, path in zip(names, paths, strict=True)}


def _rows_of(path: tuple[str, ...], value: Any) -> list[Row]:
    """Rows of a value at a path: one, or one for each entry of the only list of objects in it."""
    value = _unpacked(value)
    if isinstance(value, list) and _is_deep(value):
        return [row for one in value for row in _rows_of(path, one)]
    if not isinstance(value, dict):
        is_empty = value is None or value == []
        return [{} if is_empty else {path: value[0] if _is_single(value) else value}]
    rows: list[Row] = [{}]
    several: list[str] = []
    if together := beside_people(value):
        cells = zip(*(value[key] for key in together), strict=True)
        rows = [
            {(*path, key): cell for key, cell in zip(together, row, strict=True)} for row in cells
        ]
        several.append(together[0])
        value = {key: inner for key, inner in value.items() if key not in together}
    for key, inner in value.items():
        found = _rows_of((*path, str(key)), inner)
        several += [str(key)] if _holds_list(inner) else []
        if len(several) > 1:
            raise ValueError(f"several, {several[0]!r} and {several[1]!r}")
        rows = [row | one for row in rows for one in found]
    return rows


def _holds_list(value: Any) -> bool:
    """Whether a value is a list of objects, or an object that holds such a list at any depth."""
    if isinstance(value, dict):
        return any(_holds_list(inner) for inner in value.values())
    return isinstance(value, list) and _is_deep(value)


def _is_single(value: Any) -> bool:
    """Whether a value is a list of one name."""
    return isinstance(value, list) and len(value) == 1 and not isinstance(value[0], list)


def _unpacked(value: Any) -> Any:
    """An object that was written as text."""
    if not (isinstance(value, str) and value.startswith("{") and value.endswith("}")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def of_coco(record: Any, source: str) -> dict[str, list[Any]]:
    """Labels of whole images in COCO's JSON."""
    classes = {one["id"]: one["name"] for one in record["categories"]}
    files = {one["id"]: one.get("file_name", one["id"]) for one in record["images"]}
    said = record["annotations"]
    _check_whole(any(one.get("bbox") or one.get("segmentation") for one in said), source)
    return {
        "item": [files[one["image_id"]] for one in said],
        "label": [classes[one["category_id"]] for one in said],
    }


def of_datumaro(record: Any, source: str) -> dict[str, list[Any]]:
    """Labels of whole items in Datumaro's JSON."""
    classes = [one["name"] for one in record["categories"]["label"]["labels"]]
    said = [(item["id"], one) for item in record["items"] for one in item.get("annotations", ())]
    _check_whole(any(one.get("type", "label") != "label" for _, one in said), source)
    return {
        "item": [item for item, _ in said],
        "label": [classes[one["label_id"]] for _, one in said],
    }


def _is_via(value: Any) -> bool:
    return isinstance(value, dict) and set(value) >= VIA_KEYS


def _via_files(record: Any) -> list[Any]:
    return list(record.get("_via_img_metadata", record).values())


def of_via(record: Any, source: str) -> dict[str, list[Any]]:
    """Attributes of whole files in JSON of the VGG Image Annotator, which names no people."""
    files = _via_files(record)
    said = [{name: _via_cell(cell) for name, cell in f["file_attributes"].items()} for f in files]
    names = [
        name for name in dict.fromkeys(name for one in said for name in one)
        if any(one.get(name) is not None for one in said)
    ]  # fmt: skip
    _check_whole(not names and any(one["regions"] for one in files), source)
    if not names:
        raise TableError(
            f"{source} should hold classes of whole images", "no file has an attribute",
            "give files an attribute in the VGG Image Annotator, and export JSON again",
        )  # fmt: skip
    called = ["label"] if len(names) == 1 else names
    columns = {
        new: [one.get(name) for one in said] for new, name in zip(called, names, strict=True)
    }
    return {"item": [one["filename"] for one in files], **columns}


def _via_cell(cell: Any) -> str | None:
    """An attribute as a cell: boxes that are ticked are a set."""
    if isinstance(cell, dict):
        return "|".join(name for name, is_ticked in cell.items() if is_ticked) or None
    return str(cell).strip() or None


def _check_whole(has_parts: bool, source: str) -> None:
    """Refuse boxes and outlines."""
    if has_parts:
        raise TableError(
            f"Labels of {source} should be classes of whole images", "there are parts of images",
            "export a project of classification",
        )  # fmt: skip


def in_table(kind: str, records: Records, source: str) -> tuple[dict[str, list[Any]], list[str]]:
    """Columns of records that hold others, and notes on how they were read."""
    if kind == COLUMNS:
        return _columns_in(records[0][1]) or {}, []
    if kind == SPREAD:
        return spread(records, source), [f"{source}: a row for each entry of its lists"]
    read = {COCO: of_coco, DATUMARO: of_datumaro, VIA: of_via}[kind]
    try:
        columns = read(records[0][1], source)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise TableError(
            f"{source} should be an export of {kind}", f"a part of it is missing ({error})",
            "export it again",
        ) from None  # fmt: skip
    notes = [f"{source} was read as an export of {kind}"]
    if kind == VIA and any(one["regions"] for one in _via_files(records[0][1])):
        notes.append("not used: regions of images")
    return columns, notes
