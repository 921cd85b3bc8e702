"""Answers in the JSON that annotation tools export, which is known by what it holds.

============  ===================================================================================
Label Studio  tasks with ``data`` and ``annotations``, each with ``completed_by`` and ``result``
doccano       lines with ``id``, ``text`` and ``label``, a file for each annotator
Prodigy       lines with ``answer`` (accept, reject, ignore), ``options`` and ``accept``, or
              ``label``; ``_annotator_id`` or ``_session_id``
Argilla       records with ``fields``, ``responses`` by question, ``suggestions``
============  ===================================================================================
"""

import gzip
import json
import os
import sys
import zlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plausible.checks import as_list, check_kind, check_option, check_path, shown
from plausible.errors import InputError, Note, in_context
from plausible.experts import Annotations
from plausible.io.answer_states import KEEP, ON_REJECTED
from plausible.io.export_answers import Collected, a_name
from plausible.io.export_nested import (
    NESTED,
    argilla_records,
    inner_field,
    is_argilla_table,
    names_people,
    unnested,
)
from plausible.io.export_spread import COCO, COLUMNS, DATUMARO, SPREAD, VIA, depth_of, in_table
from plausible.io.export_tools import FLAT, MANIFEST, TOOLS, of_manifest, tool_of
from plausible.tables import TableError, first_line, stream_table

HEAD = 1 << 16  # bytes in which a first record should end
LONGEST_OBJECT = 1 << 27  # bytes of a file that is one object
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
    return _of_files({_file_stem(source): source}, tool, names, given)


def _of_files(
    files: Mapping[Any, Any],
    tool: str,
    names: Mapping[str, str] | None,
    given: Mapping[str, Any] | None,
) -> Annotations:
    """Answers of exports of one tool, in files that are named after annotators or not."""
    options = dict(given or {})
    on_rejected = options.pop("on_rejected", None)
    if on_rejected is not None:
        check_option(on_rejected, ON_REJECTED, "on_rejected")
    found = Collected(dict(names or {}), on_rejected)
    gather: Callable[..., None] = TOOLS[tool]
    told = ", ".join(shown_name(file) for file in list(files.values())[:3])
    for who, file in files.items():
        gather(found, _load_records(file), shown_name(file), who)
    if not found.items:
        _refuse_empty(told, found)
    chosen = {name for said in found.said if isinstance(said, set) for name in said}
    if options.get("classes") is None and found.frame and chosen <= set(found.frame):
        options["classes"] = sorted(found.frame, key=lambda name: (isinstance(name, str), name))
    anonymous = all(who is None for who in found.annotators)
    people = None if anonymous else ["?" if who is None else who for who in found.annotators]
    try:
        made = Annotations.from_long(
            objects(found.items), None if people is None else objects(people), found.said, **options
        )
    except InputError as error:
        raise TableError(
            error.expected, f"in {told}, {error.came}", error.remedies, settings=error.settings
        ) from error
    except (ValueError, TypeError) as error:
        raise in_context(error, f"{told} should hold answers, but: ", TableError) from None
    n_sets = sum(isinstance(said, set) and len(said) > 1 for said in found.said)
    if n_sets:
        found.counts["answers with several classes, which are read as one of these"] += n_sets
    notes = [Note(f"{told} was read as an export of {NAMES[tool]}"), *found.told()]
    if anonymous:
        notes.append(Note("nobody knows who gave which answer: they share one doubt"))
    return made.with_notes(*notes)


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
    records, name, notes = _load_records(source), shown_name(source), []
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


# -- What a source holds ---------------------------------------------------------------------------


def tool_in(source: Any) -> str | None:
    """The tool that wrote a source, as far as its first record tells."""
    if isinstance(source, str | os.PathLike) and Path(source).is_dir():
        files = sorted(Path(source).glob("*.jsonl"))
        return "doccano" if files and tool_in(files[0]) == "doccano" else None
    head = _head_of(source).lstrip(b"\xef\xbb\xbf \t\r\n")
    if head[:1] not in (b"[", b"{"):
        _check_via(head, source)
        return "argilla" if is_argilla_table(head) else None
    record = _first_record(head)
    if record == {}:
        record = _whole_object(source)
    if record is None:
        return None
    if "imagePath" in record and isinstance(record.get("shapes"), list):
        raise TableError(
            f"{shown_name(source)} should hold answers about whole items",
            "it is a file of LabelMe, of the outlines in one image",
            "write a table with a row for each image, and the columns item and label",
        )
    tool = tool_of(record)
    is_nested = tool is None and inner_field(record) is not None
    if is_nested or (tool == "doccano" and names_people(record)):
        return NESTED
    return depth_of(record) if tool is None else tool


def _check_via(head: bytes, source: Any) -> None:
    """Refuse CSV of the VGG Image Annotator, whose cells hold JSON."""
    first = head.partition(b"\n")[0]
    if b"file_attributes" in first and b"region_shape_attributes" in first:
        raise TableError(
            f"{shown_name(source)} should be a table of answers about whole items",
            "it is CSV of the VGG Image Annotator, whose cells hold attributes and outlines",
            "export its annotations as JSON, whose attributes of files are read",
        )


def _head_of(source: Any) -> bytes:
    """The first bytes of a source, which stays as it is; none if they cannot be had."""
    try:
        if isinstance(source, str) and source == "-":
            peek = getattr(getattr(sys.stdin, "buffer", None), "peek", None)
            return bytes(peek(HEAD)) if peek is not None else b""
        if isinstance(source, str | os.PathLike):
            with open(source, "rb") as file:
                head = file.read(HEAD)
            if not head.startswith(b"\x1f\x8b"):
                return head
            with gzip.open(source) as packed:
                return bytes(packed.read(HEAD))
        if hasattr(source, "read") and hasattr(source, "seekable") and source.seekable():
            at = source.tell()
            piece = source.read(HEAD)
            source.seek(at)
            return piece.encode() if isinstance(piece, str) else bytes(piece)
    except (OSError, ValueError, EOFError, AttributeError, zlib.error):
        pass  # whoever reads it says what is wrong
    return b""


def _first_record(head: bytes) -> dict[str, Any] | None:
    """The first object of a list or of lines of JSON; None if it does not end in these bytes."""
    text = head.decode("utf-8", errors="replace").lstrip("[ \t\r\n")
    try:
        found, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return keys_of(text)
    return found if isinstance(found, dict) else None


def _whole_object(source: Any) -> dict[str, Any] | None:
    """The only object of a file, longer than its first bytes; None if it is none, or too long."""
    if not isinstance(source, str | os.PathLike) or Path(source).stat().st_size > LONGEST_OBJECT:
        return None
    try:
        found = json.loads(read_text(source))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def keys_of(text: str) -> dict[str, Any] | None:
    """What a cut off record tells by its keys."""
    found: dict[str, Any] = {
        key: [] for key in ("annotations", "completed_by", "was_cancelled", "data", "responses",
                            "fields")
        if f'"{key}"' in text
    }  # fmt: skip
    return found if text.startswith("{") else None


def shown_name(source: Any) -> str:
    """How errors call a source."""
    if isinstance(source, str) and source == "-":
        return "standard input"
    if isinstance(source, str | os.PathLike):
        return repr(Path(source).name)
    given = getattr(source, "name", None)
    return repr(Path(given).name) if isinstance(given, str) else "the file object"


def _file_stem(source: Any) -> str | None:
    """The name of a file without its ending; None where it has none."""
    if isinstance(source, str | os.PathLike) and str(source) != "-":
        return Path(source).name.split(".")[0]
    return None


def read_text(source: Any) -> str:
    """The text of a file in UTF-8; "-" is standard input."""
    try:
        if hasattr(source, "read"):
            content = source.read()
            return content if isinstance(content, str) else content.decode("utf-8-sig")
        if isinstance(source, str) and source == "-":
            return sys.stdin.buffer.read().decode("utf-8-sig")
        data = check_path(source).read_bytes()
        data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        return data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, EOFError, zlib.error) as error:
        raise TableError(
            f"{shown(str(source))} should be a readable file in UTF-8, but is not "
            f"({first_line(error)[:200]}); check its name and encoding."
        ) from None


def _load_records(source: Any) -> list[tuple[str, Any]]:
    """Objects of a list or of lines of JSON, and how errors call the place of each."""
    text, name = read_text(source), shown_name(source)
    if text.lstrip()[:1] not in ("", "[", "{"):
        return argilla_records(text, name)
    if text.lstrip()[:1] != "[":
        try:
            return [("Its object", json.loads(text))]  # one, which may fill many lines
        except (ValueError, RecursionError):
            return list(_load_lines(text, name))
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TableError(
            f"{name} should be JSON, but is not ({first_line(error)}); export it again."
        ) from None
    return [(f"Task {number}", record) for number, record in enumerate(found, 1)]


def _load_lines(text: str, name: str) -> list[tuple[str, Any]]:
    """Objects of lines of JSON; one object over several lines is the only one."""
    records = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            records.append((f"Line {number}", json.loads(line)))
        except (ValueError, RecursionError) as error:
            raise TableError(
                f"Line {number} of {name} should be a JSON object, but is not "
                f"({first_line(error)}); export it again."
            ) from None
    return records


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
        task; ``{"label": "animal"}`` says which control of the page is meant, if there are several.
    **options
        Of `Annotations.from_long`, such as `map`, and `on_rejected` of `read_annotations`.

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
    return _of_files({_file_stem(source): source}, "label-studio", names, given)


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
        ``{"item": "text"}`` names items by another field than their id.
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
