"""What a source of answers holds: the tool that wrote it, and its records."""

import gzip
import json
import os
import sys
import zlib
from pathlib import Path
from typing import Any

from plausible.checks import check_path, shown
from plausible.io.export_answers import Records
from plausible.io.export_nested import (
    NESTED,
    argilla_records,
    inner_field,
    is_argilla_table,
    names_people,
)
from plausible.io.export_spread import depth_of
from plausible.io.export_tools import tool_of
from plausible.tables import TableError, first_line

HEAD = 1 << 16  # bytes in which a first record should end
LONGEST_OBJECT = 1 << 27  # bytes of a file that is one object


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


def file_stem(source: Any) -> str | None:
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


def load_records(source: Any) -> Records:
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


def _load_lines(text: str, name: str) -> Records:
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
