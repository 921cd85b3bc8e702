"""Answers in the JSON that annotation tools export, which is known by what it holds.

============  ===================================================================================
Label Studio  tasks with ``data`` and ``annotations``, each with ``completed_by`` and ``result``
doccano       lines with ``id``, ``text`` and ``label``, a file for each annotator
Prodigy       lines with ``answer`` (accept, reject, ignore), ``options`` and ``accept``, or
              ``label``; ``_annotator_id`` or ``_session_id``
Argilla       records with ``fields``, ``responses`` by question, ``suggestions``
============  ===================================================================================
"""

import json
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plausible.checks import as_list, check_kind, check_option, check_path
from plausible.errors import InputError, Note, in_context
from plausible.experts import (
    Annotations,
    canonical,
    factorize_cells,
    is_free_text,
    read_doubts,
    says_nothing,
)
from plausible.io.answer_states import KEEP, ON_REJECTED
from plausible.io.export_answers import ITEM_FIELDS, Collected, a_name, field
from plausible.io.export_nested import NESTED, unnested
from plausible.io.export_sources import file_stem, load_records, shown_name, tool_in
from plausible.io.export_spread import COCO, COLUMNS, DATUMARO, SPREAD, VIA, in_table
from plausible.io.export_tools import FLAT, MANIFEST, TOOLS, of_manifest
from plausible.tables import TableError, stream_table

Path_ = str | os.PathLike[str]


def read_export(
    source: Any,
    *,
    tool: str | None = None,
    names: Mapping[str, str] | None = None,
    given: Mapping[str, Any] | None = None,
) -> Annotations | None:
    """Answers of an export, or None if a source is none that is known."""
    tool = tool_in(source) if tool is None else tool
    if tool not in TOOLS:
        return None
    if names is not None:
        check_kind(names, Mapping, "names", "write {'item': 'data.image'} for a field of tasks")
    if tool == "doccano" and not hasattr(source, "read") and source != "-":
        folder = Path(source)
        files = sorted(folder.glob("*.jsonl")) if folder.is_dir() else [folder]
        return _of_files({file.stem: file for file in files}, tool, names, given)
    return _of_files({file_stem(source): source}, tool, names, given)


def _of_files(
    files: Mapping[Any, Any],
    tool: str,
    names: Mapping[str, str] | None,
    given: Mapping[str, Any] | None,
) -> Annotations:
    """Answers of exports of one tool, in files that are named after annotators or not."""
    options = dict(given or {})
    on_rejected, words = options.pop("on_rejected", None), options.pop("words", None)
    if on_rejected is not None:
        check_option(on_rejected, ON_REJECTED, "on_rejected")
    found = Collected(_check_names(names, tool), on_rejected)
    gather: Callable[..., None] = TOOLS[tool]
    told = ", ".join(shown_name(file) for file in list(files.values())[:3])
    for who, file in files.items():
        gather(found, load_records(file), shown_name(file), who)
    if not found.items:
        _refuse_empty(told, found)
    if options.get("classes") is None:
        options["classes"] = _offered(found, options.get("map") or {})
    anonymous = all(who is None for who in found.annotators)
    people = None if anonymous else ["?" if who is None else who for who in found.annotators]
    notes: list[Note] = []
    try:
        if "confidence" in found.names:
            column = factorize_cells(objects(found.sure), "confidence")
            read = read_doubts(column, "confidence", words, found.names["confidence"])
            options["doubt"], notes = read.values, read.notes
        made = Annotations.from_long(
            objects(found.items), None if people is None else objects(people), found.said, **options
        )
    except InputError as error:
        raise TableError(
            error.expected, f"in {told}, {error.came}", error.remedies, settings=error.settings
        ) from error
    except (ValueError, TypeError) as error:
        raise in_context(error, f"{told} should hold answers, but: ", TableError) from None
    if options["classes"] is None and is_free_text(len(made.classes), len(made)):
        _refuse_free_text(told, made)
    return made.with_notes(*_notes_on(files, tool, found, anonymous), *notes)


def field_of_items(source: Any, path: str, item: str | None = None) -> dict[str, Any]:
    r"""A field of the records of an export, by the items that these are about.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ann.jsonl"
    ...     _ = path.write_text('{"id": 1, "text": "hello", "label": ["spam"]}\n')
    ...     field_of_items(path, "text")
    {'1': 'hello'}
    """
    folder = Path(source)
    files = sorted(folder.glob("*.jsonl")) if folder.is_dir() else [source]
    found: dict[str, Any] = {}
    for file in files:
        usual = ITEM_FIELDS[str(tool_in(file))]
        collected = Collected({} if item is None else {"item": item})
        for _, record in load_records(file):
            name = canonical(collected.item_of(record, usual))
            found.setdefault(name, field(record, path))
    return found


def _check_names(names: Mapping[str, str] | None, tool: str) -> dict[str, str]:
    """Which fields are meant, by the wish of the caller."""
    known = ("item", "label", "annotator", *(("confidence",) if tool in WITH_CONFIDENCE else ()))
    for meaning in names or {}:
        check_option(meaning, known, f"Keys of names, for an export of {NAMES[tool]},")
    return dict(names or {})


def _offered(found: Collected, changes: Mapping[Any, Any]) -> list[Any] | None:
    """The classes that people could choose, unless they are called otherwise; None if not known."""
    frame = {name for name in found.frame if not (isinstance(name, str) and says_nothing(name))}
    chosen = {name for said in found.said if isinstance(said, set) for name in said}
    if not frame or not chosen <= set(found.frame) or {*map(canonical, frame)} & set(changes):
        return None
    return sorted(frame, key=lambda name: (isinstance(name, str), name))


def _refuse_free_text(told: str, made: Annotations) -> None:
    """The error of answers of which nearly every one is another class."""
    raise TableError(
        f"Answers of {told} should name the same few classes again and again",
        f"there are {len(made.classes):,} different ones in {len(made):,} answers, as free text "
        "has",
        ("export a project of classification", "list the {classes}"),
        settings={"classes": None},
    )


def _notes_on(files: Mapping[Any, Any], tool: str, found: Collected, anonymous: bool) -> list[Note]:
    """What is told about an export."""
    n_sets = sum(isinstance(said, set) and len(said) > 1 for said in found.said)
    if n_sets:
        found.counts["answers with several classes, which are read as one of these"] += n_sets
    told = [shown_name(file) for file in files.values()]
    told = [*told[:3], f"{len(told) - 3} more"] if len(told) > 3 else told
    was = "was read as an export" if len(told) == 1 else "were read as exports"
    notes = [Note(f"{', '.join(told)} {was} of {NAMES[tool]}"), *found.told()]
    if anonymous:
        notes.append(Note("nobody knows who gave which answer: they share one doubt"))
    return notes


def _refuse_empty(told: str, found: Collected) -> None:
    """The error of exports without answers, or without any that count."""
    if found.rejected:
        raise TableError(
            f"Some answers of {told} should count",
            "all are rejected or skipped",
            "say {on_rejected} to let them count",
            settings={"on_rejected": KEEP},
        )
    raise TableError(
        f"{told or 'The files'} should hold answers", "there are none", "export them again"
    )


NAMES = {"label-studio": "Label Studio", "doccano": "doccano", "prodigy": "Prodigy",
         "argilla": "Argilla"}  # fmt: skip
WITH_CONFIDENCE = ("label-studio", "argilla")  # tools with several questions to an item


def objects(values: list[Any]) -> Any:
    """Names as an array that keeps their types."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def flattened(source: Any) -> Any:
    """A source as it is, or the table of JSON whose records hold objects, or lists of answers."""
    tool = tool_in(source)
    if tool not in (FLAT, NESTED, MANIFEST, SPREAD, COLUMNS, COCO, DATUMARO, VIA):
        return source
    records, name, notes = load_records(source), shown_name(source), []
    if tool == NESTED:
        columns, inner = unnested(records, name)
        notes = [f"{name}: a row for each entry of {inner!r}"]
    elif tool == MANIFEST:
        columns = of_manifest(records, name)
        notes = [f"{name} was read as a manifest of SageMaker Ground Truth"]
    elif tool != FLAT:
        columns, notes = in_table(tool, records, name)
    else:
        keys = list(dict.fromkeys(key for _, record in records for key in record))
        columns = {key: [record.get(key) for _, record in records] for key in keys}
    stream = stream_table({key: _as_cells(values) for key, values in columns.items()})
    stream.table.name = name
    stream.table.notes += notes
    return stream


def _as_cells(values: list[Any]) -> list[Any]:
    """Values of JSON as cells of one type: objects and lists as text."""
    cells = [json.dumps(v, ensure_ascii=False) if isinstance(v, dict | list) else v for v in values]
    kinds = {type(cell) for cell in cells if cell is not None}
    return cells if len(kinds) < 2 else [None if c is None else str(c) for c in cells]


# -- Public --------------------------------------------------------------------------------------


def read_label_studio(
    source: Path_,
    classes: Sequence[Hashable] | None = None,
    *,
    names: Mapping[str, str] | None = None,
    **options: Any,
) -> Annotations:
    """Answers from the JSON that Label Studio exports, of tasks in which classes are chosen.

    Several choices of one annotator are a set; a skipped task is an abstention; ratings are classes
    as well.

    Parameters
    ----------
    source : path
    classes : sequence, optional
    names : dict, optional
        ``{"item": "data.image"}`` names items by a field of their data instead of by the id of the
        task; ``{"label": "animal"}`` says which control of the page is meant, if there are several,
        and ``{"confidence": "sure"}`` which one tells how sure people are.
    **options
        Of `Annotations.from_long`, such as `map`, and `on_rejected` and `words` of
        `read_annotations`.

    Examples
    --------
    >>> import tempfile
    >>> task = {"id": 7, "annotations": [{"completed_by": 1, "result": [
    ...     {"type": "choices", "value": {"choices": ["cat"]}}]}]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "export.json"
    ...     _ = path.write_text(json.dumps([task]))
    ...     read_label_studio(path).classes.tolist()
    ['cat']
    """
    given = {"classes": classes, **options}
    return _of_files({file_stem(source): source}, "label-studio", names, given)


def read_doccano(
    sources: Mapping[Any, Path_] | Sequence[Path_],
    classes: Sequence[Hashable] | None = None,
    *,
    names: Mapping[str, str] | None = None,
    **options: Any,
) -> Annotations:
    r"""Answers from the JSON lines that doccano exports, a file for each annotator.

    Parameters
    ----------
    sources : dict of annotators, or list of paths (then named after their files)
    classes : sequence, optional
    names : dict, optional
        ``{"item": "text"}`` names items by another field than their id, ``{"annotator":
        "username"}`` says which field names who answered.
    **options
        Of `Annotations.from_long`, such as `map`, and `on_rejected` of `read_annotations`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ann.jsonl"
    ...     _ = path.write_text('{"id": 1, "text": "...", "label": ["spam"]}\n')
    ...     read_doccano([path]).annotators.tolist()
    ['ann']
    """
    if not isinstance(sources, Mapping):
        paths = as_list(sources, "sources", "paths, or a dict of annotators and paths")
        sources = {check_path(path).stem: path for path in paths}
    people = {a_name(who): path for who, path in sources.items()}
    return _of_files(people, "doccano", names, {"classes": classes, **options})
