"""Answers of people in tables, and in the files of annotation tools.

A long table has a row for each answer, with the columns ``item``, ``annotator`` and ``label`` (or
``task``, ``worker``, ``label``), and if you like ``doubt``, and ``plausibility``, ``probability``
or ``mass``. A wide one has a column for each annotator, or for each class.
"""

import json
import os
import sys
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plausible.belief import class_names
from plausible.checks import as_list, check_kind, check_option, check_path, check_text, shown
from plausible.errors import in_context
from plausible.experts import ABSTAIN, NONE, Annotations, Codes, canonical
from plausible.io.features import check_rows, read_numbers
from plausible.io.label_files import read_unit
from plausible.tables import Encoded, Source, TableError, first_line, open_table

LAYOUTS = ("long", "annotators", "classes")
MOST_COUNTED = 10**8  # answers, each of which takes memory
NUMBERS = ("plausibility", "probability", "mass")
ALIASES = {
    "item": ("item", "task", "item_id", "task_id", "id"),
    "annotator": ("annotator", "worker", "annotator_id", "worker_id", "expert", "rater"),
    "label": ("label", "answer", "class"),
}


def read_annotations(
    source: Any,
    layout: str | None = None,
    *,
    names: Mapping[str, str] | None = None,
    kind: str | None = None,
    columns: Sequence[str] | None = None,
    classes: Sequence[Hashable] | None = None,
    separator: str = "|",
    abstain: Sequence[Any] = ABSTAIN,
    none: Sequence[Any] = NONE,
) -> Annotations:
    r"""Answers from a table.

    Parameters
    ----------
    source
        As for `read_table`.
    layout : {"long", "annotators", "classes"}, optional
        A row for each answer, a column for each annotator, or a column for each class. By default
        "long" if the table has such columns, "classes" if a kind is given, else "annotators".
    names : dict, optional
        Which columns are meant, where they have other names: keys are "item", "annotator", "label",
        "doubt", "plausibility", "probability" and "mass".
    kind : {"plausibility", "probability", "count", "mass"}
        What the numbers mean in a table with a column for each class.
    columns : list of names, optional
        Columns of the annotators or classes, if not all others.
    classes : sequence, optional
    separator, abstain, none
        As in `Annotations.from_long`.

    Examples
    --------
    >>> import io
    >>> table = io.StringIO("task,worker,label\n1,ann,cat\n1,bob,cat|dog\n2,ann,\n")
    >>> read_annotations(table)
    <Annotations: 3 answers about 2 items by 2 annotators; classes cat, dog>
    >>> votes = io.StringIO("item,cat,dog\n1,7,3\n2,0,10\n")
    >>> read_annotations(votes, kind="count").votes()
    array([[ 7.,  3.],
           [ 0., 10.]])
    """
    table = open_table(source)
    abstain, none = as_list(abstain, "abstain", "cells"), as_list(none, "none", "cells")
    found = find_columns(table, {} if names is None else names)
    if layout is None:
        is_long = {"item", "annotator", "label"} <= set(found) and kind is None
        layout = "long" if is_long else "classes" if kind is not None else "annotators"
        if layout == "annotators" and set(found) - {"item"}:
            raise TableError(
                f"{table.name} should have the columns item, annotator and label of a long "
                "table, or one for each annotator or class",
                f"has {table.names}",
                ("name the columns with {names}", "say {layout}"),
                settings={"layout": None, "names": None},
            )
    check_option(layout, LAYOUTS, "layout")
    given = {"classes": classes, "separator": separator, "abstain": abstain, "none": none}
    try:
        if layout == "long":
            return from_long(table, found, given)
        chosen = chosen_columns(table, found, columns, layout)
        if layout == "classes":
            return from_classes(table, found, chosen, kind, classes)
        return from_annotators(table, found, chosen, given)
    except TableError:
        raise
    except ValueError as error:
        words = f"{table.name} should hold answers, but (rows counted from 0, without the header): "
        raise in_context(error, words, TableError) from error


def find_columns(table: Source, names: Mapping[str, str]) -> dict[str, str]:
    """Columns of the table by what they mean."""
    known = (*ALIASES, "doubt", *NUMBERS)
    check_kind(names, Mapping, "names", "write {'item': 'photo'} for a column photo of items")
    for meaning, column in names.items():
        check_option(meaning, known, "Keys of names")
        check_text(column, f"names[{meaning!r}]")
        if column not in table.names:
            raise TableError(
                f"{table.name} should have a column {column!r} for {meaning!r}",
                f"has {table.names}",
                "correct {names}",
                parameter="names",
                value=column,
                settings={"names": None},
            )
    found = dict(names)
    for meaning in known:
        options = ALIASES.get(meaning, (meaning,))
        place = [name for name in options if name in table.names and name not in found.values()]
        if meaning not in found and place:
            found[meaning] = place[0]
    return found


def coded(table: Source, name: str, gaps: bool = False, encoded: Encoded | None = None) -> Codes:
    """A column of names; gaps are refused, or None."""
    codes, names = table.encoded(name) if encoded is None else encoded
    blank = codes < 0
    if blank.any() and not gaps:
        raise TableError(
            f"Column {name!r} of {table.name} should have an entry in every row, but is empty in "
            f"{table.where((np.flatnonzero(blank) + 1).tolist())}; fill it, or drop these rows."
        )
    if blank.any():
        codes = np.where(blank, len(names), codes)
        cells = np.empty(len(names) + 1, dtype=object)
        cells[:-1], cells[-1] = names, None
        names = cells
    return Codes(codes, names)


def from_long(table: Source, found: dict[str, str], given: dict[str, Any]) -> Annotations:
    """Answers that have a row each."""
    for meaning in ("item", "annotator", "label"):
        if meaning not in found:
            raise TableError(
                f"{table.name} should have a column {meaning!r}",
                f"has {table.names}",
                "say which one is meant with {names}",
                parameter="names",
                settings={"names": {meaning: table.names[0]}},
            )
    codes = table.encoded_all([found[meaning] for meaning in ("item", "annotator", "label")])
    item, annotator = (
        coded(table, found[meaning], encoded=codes[found[meaning]])
        for meaning in ("item", "annotator")
    )
    check_rows(table, len(item.codes))
    label = coded(table, found["label"], gaps=True, encoded=codes[found["label"]])
    check_classes(table, found["label"], label, given)
    numbers: dict[str, Any] = {}
    for meaning in ("doubt", *NUMBERS):
        if meaning in found:
            values = read_unit(
                table, [found[meaning]], meaning.capitalize(), gaps=meaning == "doubt"
            )
            numbers[meaning] = np.nan_to_num(values[:, 0], nan=0.0)
    return Annotations.from_long(item, annotator, label, **numbers, **given)


def check_classes(table: Source, name: str, label: Codes, given: dict[str, Any]) -> None:
    """Refuse answers that are not among the classes, with their rows and lines."""
    if given["classes"] is None:
        return
    check_text(given["separator"], "separator", "the text between the classes of a set")
    known = {canonical(one) for one in class_names(given["classes"])}
    harmless = {canonical(one) for one in (*given["abstain"], *given["none"])}
    strange = [
        cell is not None
        and canonical(cell) not in harmless
        and any(part.strip() not in known for part in canonical(cell).split(given["separator"]))
        for cell in label.names.tolist()
    ]
    bad = np.array(strange, dtype=bool)[label.codes]
    if bad.any():
        example = label.names.tolist()[label.codes[np.argmax(bad)]]
        raise TableError(
            f"Column {name!r} of {table.name} should hold the classes "
            f"{shown(list(given['classes']), 500)}, but {example!r} was found in "
            f"{table.where((np.flatnonzero(bad) + 1).tolist())}; correct it, or add the class."
        )


def chosen_columns(
    table: Source, found: dict[str, str], columns: Sequence[str] | None, layout: str
) -> list[str]:
    """Columns of the annotators or classes."""
    if columns is not None:
        strange = [name for name in columns if name not in table.names]
        if strange:
            raise TableError(
                f"{table.name} should have the columns {list(columns)}",
                f"has no {strange[0]!r}",
                "correct {columns}",
                parameter="columns",
                value=strange[0],
                settings={"columns": None},
            )
        return list(columns)
    meant = ("item", "annotator", "doubt") if layout == "classes" else ("item",)
    rest = [name for name in table.names if name not in {found.get(one) for one in meant}]
    if not rest:
        raise TableError(
            f"{table.name} should have a column for each of the {layout}",
            f"has {table.names}",
            "name them with {columns}",
            settings={"columns": None},
        )
    return rest


def from_classes(
    table: Source,
    found: dict[str, str],
    columns: list[str],
    kind: str | None,
    classes: Sequence[Hashable] | None,
) -> Annotations:
    """Answers with a column for each class."""
    if kind is None:
        raise TableError(
            f"The numbers in {table.name} should have a meaning",
            "none was given",
            "say {kind}, 'probability', 'count' or 'mass'",
            settings={"kind": "plausibility"},
        )
    numbers = read_numbers(table, columns, "Answers", gaps=False)
    check_rows(table, len(numbers))
    if kind == "count" and np.maximum(numbers, 0.0).sum() > MOST_COUNTED:
        raise TableError(
            f"{table.name} should count at most {MOST_COUNTED:,} answers",
            "counts more",
            "are these counts? Say {kind} otherwise",
            settings={"kind": None},
        )
    prefix = f"{kind}:"
    names = [name.removeprefix(prefix) for name in columns] if classes is None else list(classes)
    more: dict[str, Any] = {
        meaning + "s": coded(table, found[meaning])
        for meaning in ("item", "annotator")
        if meaning in found
    }
    if "doubt" in found:
        more["doubt"] = read_unit(table, [found["doubt"]], "Doubt")[:, 0]
    return Annotations.from_classes(numbers, kind, names, **more)


def from_annotators(
    table: Source, found: dict[str, str], columns: list[str], given: dict[str, Any]
) -> Annotations:
    """Answers with a column for each annotator; an empty cell is no answer."""
    parts = [coded(table, name, gaps=True) for name in columns]
    n_rows = len(parts[0].codes)
    check_rows(table, n_rows)
    every = np.arange(n_rows)
    item = coded(table, found["item"]) if "item" in found else Codes(every, every)
    for name, part in zip(columns, parts, strict=True):
        check_classes(table, name, part, given)
    cells = [np.array(part.names.tolist(), dtype=object)[part.codes] for part in parts]
    answered = [np.array([cell is not None for cell in column]) for column in cells]
    rows = np.concatenate([np.flatnonzero(there) for there in answered])
    who = np.repeat(np.arange(len(columns)), [there.sum() for there in answered])
    said = [cell for column in cells for cell in column.tolist() if cell is not None]
    return Annotations.from_long(
        Codes(item.codes[rows], item.names), Codes(who, np.array(columns)), said, **given
    )


def read_label_studio(
    source: str | os.PathLike[str], classes: Sequence[Hashable] | None = None
) -> Annotations:
    """Answers from the JSON that Label Studio exports, of tasks in which classes are chosen.

    Several choices of one annotator are a set; a skipped task is an abstention.

    Parameters
    ----------
    source : path
    classes : sequence, optional

    Examples
    --------
    >>> import tempfile
    >>> task = {"id": 7, "annotations": [{"completed_by": 1, "result": [
    ...     {"type": "choices", "value": {"choices": ["cat"]}}]}]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "export.json"
    ...     _ = path.write_text(json.dumps([task]))
    ...     read_label_studio(path)
    <Annotations: 1 answers about 1 items by 1 annotators; classes cat>
    """
    items, annotators, said = [], [], []
    tasks = load_json(source)
    if not isinstance(tasks, list):
        raise TableError(
            f"{Path(source).name!r} should hold a list of tasks, but holds something else; export "
            "it as JSON again."
        )
    for number, task in enumerate(tasks, 1):
        try:
            for annotation in task["annotations"]:
                chosen: set[Any] = set()
                for one in annotation.get("result", ()):
                    names = one.get("value", {}).get("choices", ())
                    chosen.update(map(a_name, [names] if isinstance(names, str) else names))
                who = annotation["completed_by"]
                who = who.get("email", who.get("id")) if isinstance(who, dict) else who
                items.append(a_name(task["id"]))
                annotators.append(a_name(who))
                said.append(None if annotation.get("was_canceled") or not chosen else chosen)
        except (KeyError, TypeError, AttributeError):
            raise TableError(
                f"Task {number} of {Path(source).name!r} should have an id and annotations with "
                "completed_by and result, but has not; export it as JSON again."
            ) from None
    if not items:
        raise TableError(
            f"{Path(source).name!r} should hold annotated tasks, but has none; export them again."
        )
    return made(Path(source).name, items, annotators, said, classes)


def read_doccano(
    sources: Mapping[Any, str | os.PathLike[str]] | Sequence[str | os.PathLike[str]],
    classes: Sequence[Hashable] | None = None,
) -> Annotations:
    r"""Answers from the JSON lines that doccano exports, a file for each annotator.

    Parameters
    ----------
    sources : dict of annotators, or list of paths (then named after their files)
    classes : sequence, optional

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ann.jsonl"
    ...     _ = path.write_text('{"id": 1, "text": "...", "label": ["spam"]}\n')
    ...     read_doccano([path])
    <Annotations: 1 answers about 1 items by 1 annotators; classes spam>
    """
    if not isinstance(sources, Mapping):
        paths = as_list(sources, "sources", "paths, or a dict of annotators and paths")
        sources = {check_path(path).stem: path for path in paths}
    files = sources
    items, annotators, said = [], [], []
    for annotator, path in files.items():
        for number, line in enumerate(read_text(path).splitlines(), 1):
            if not line.strip():
                continue
            try:
                entry = json.loads(line)
                chosen = entry["label"] if "label" in entry else entry["labels"]
                items.append(a_name(entry["id"]))
                chosen = [chosen] if isinstance(chosen, (str, int)) else chosen
                said.append(set(map(a_name, chosen)) or None)
                annotators.append(annotator)
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise TableError(
                    f"Line {number} of {Path(path).name!r} should be an object with id and label, "
                    f"but is not ({first_line(error)}); export it as JSONL again."
                ) from None
    if not items:
        raise TableError("The files should hold answers, but have none; export them again.")
    return made("The export", items, annotators, said, classes)


def a_name(value: Any) -> Any:
    """A value of JSON that can name something."""
    if not isinstance(value, (str, int, float)) or value != value or value == "":
        raise TypeError("a name should be text or a number")
    return value


def made(
    name: str, items: list[Any], annotators: list[Any], said: list[Any], classes: Any
) -> Annotations:
    """Answers of an export."""
    try:
        item, annotator = (np.array(column, dtype=object) for column in (items, annotators))
        return Annotations.from_long(item, annotator, said, classes=classes)
    except (ValueError, TypeError) as error:
        raise in_context(error, f"{name} should hold answers, but: ", TableError) from None


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file in UTF-8; "-" is standard input."""
    is_input = isinstance(path, str) and path == "-"
    file = Path() if is_input else check_path(path)
    try:
        if is_input:
            return sys.stdin.buffer.read().decode("utf-8-sig")
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(
            f"{shown(str(path))} should be a readable file in UTF-8, but is not "
            f"({first_line(error)[:200]}); check its name and encoding."
        ) from None


def load_json(path: str | os.PathLike[str]) -> Any:
    """What a JSON file holds."""
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TableError(
            f"{Path(path).name!r} should be JSON, but is not ({first_line(error)}); export it "
            "again."
        ) from None
