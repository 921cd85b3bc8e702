"""JSON: an object for each row, with the names of the columns as keys, on lines or in a list.

A key that is not there, null and NaN are missing. Text in which every cell is a date as ISO writes
it (2024-12-31) is read as dates; all else is what JSON says it is. Lines are read in chunks if they
are many, a list is read whole.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from plausible.tables.columns import repeated
from plausible.tables.content import JSON, Content
from plausible.tables.errors import MOST, TableError, arrow, first_line, listed, reading
from plausible.tables.kinds import (
    BOOL,
    FLOAT,
    INT,
    NULL,
    TEXT,
    as_kind,
    suits,
    type_of,
    without_nan,
)
from plausible.tables.source import CHUNK_ROWS, Source
from plausible.tables.text import Text, pieces

KINDS = {type(None): NULL, bool: BOOL, int: INT, float: FLOAT, str: TEXT}
DATES = ("date", "moment", "fine moment", "moment in a zone", "fine moment in a zone")
LARGEST = 2**63 - 1
BLANK = re.compile(r"[ \t\r\n]*")
KEPT = 1 << 22  # letters; objects of Python take several times as much


class JsonSource(Source):
    """The rows of a file of JSON."""

    format = JSON

    def __init__(self, content: Content) -> None:
        super().__init__()
        self.text, self.name, self.content = Text(content), content.name, content
        self.text.take()
        self.notes += self.text.notes
        self.is_list = content.kind == JSON
        self.what = "a list of JSON objects" if self.is_list else "a file of JSON lines"
        self._kinds: dict[str, str] = {}
        self._dates: dict[str, set[str]] = {}
        self._kept: list[Any] | None = None
        with reading(self.name, self.what):
            parts = self._learn()
        self.names = list(self._kinds)
        if not self.names:
            where = "in its list" if self.is_list else "on each line"
            raise TableError(
                f"{self.name} should hold a JSON object {where}, but it is empty; write one object "
                'for each row, such as {"length": 1.5}.'
            )
        if parts is not None:
            schema = self.schema(self.names)
            self._kept = [self._batch(part, schema) for part in parts]

    def schema(self, columns: Sequence[str]) -> Any:
        """Names and types of some columns."""
        return arrow().schema([(name, type_of(self._kind_of(name))) for name in columns])

    def batches(
        self,
        columns: Sequence[str],
        typed: bool = True,
        rows: int | None = None,
        gaps: bool = True,
    ) -> Iterator[Any]:
        """Record batches of some columns."""
        schema = self.schema(columns)
        if self._kept is not None:
            yield from (batch.select(list(columns)) for batch in self._kept)
            return
        with reading(self.name, self.what):
            for part in self._parts():
                yield self._batch(part, schema)

    def _batch(self, part: list[dict[str, Any]], schema: Any) -> Any:
        """Records as a batch."""
        arrays = []
        for name in schema.names:
            given = type_of(self._kinds[name])
            column = arrow().array([record.get(name) for record in part], given)
            is_date = self._kind_of(name) != self._kinds[name]
            arrays.append(as_kind(column, self._kind_of(name)) if is_date else without_nan(column))
        return arrow().record_batch(arrays, schema=schema)

    def lines(self, rows: Sequence[int]) -> list[int]:
        """Lines of some rows, in rising order."""
        wanted = set(rows)
        found = (line for row, (line, _) in enumerate(self._values(), 1) if row in wanted)
        return list(islice(found, len(wanted)))

    def _kind_of(self, name: str) -> str:
        dates = self._dates.get(name, set()) if self._kinds[name] == TEXT else set()
        return next((kind for kind in DATES if kind in dates), self._kinds[name])

    # -- Records

    def _values(self) -> Iterator[tuple[int, Any]]:
        """The line and the value of each row."""
        yield from self._list() if self.is_list else self._lines()

    def _lines(self) -> Iterator[tuple[int, Any]]:
        row = 0
        with self.text.open() as file:
            for line, text in enumerate(file, 1):
                if text.strip(b" \t\r\n\xef\xbb\xbf"):
                    row += 1
                    yield line, self._load(text, row, line)

    def _load(self, text: bytes, row: int, line: int) -> Any:
        try:
            return json.loads(text.decode("utf-8-sig"), object_pairs_hook=_without_repeats)
        except (ValueError, RecursionError) as error:
            raise TableError(
                f"Each line of {self.name} should be a JSON object in UTF-8, but row {row} on line "
                f"{line} is not ({first_line(error)}); correct it."
            ) from None

    def _list(self) -> Iterator[tuple[int, Any]]:
        text = b"".join(pieces(self.text.open())).decode("utf-8-sig")
        decoder = json.JSONDecoder(object_pairs_hook=_without_repeats)
        at, line, row = text.index("[") + 1, 1, 0
        line += text.count("\n", 0, at)
        try:
            while True:
                after = BLANK.match(text, at).end()  # type: ignore[union-attr]
                line += text.count("\n", at, after)
                if text.startswith("]", after) and not row:
                    break
                value, end = decoder.raw_decode(text, after)
                row += 1
                yield line, value
                at = BLANK.match(text, end).end()  # type: ignore[union-attr]
                line += text.count("\n", after, at)
                if text[at : at + 1] not in (",", "]"):
                    raise ValueError("neither ',' nor ']' follows")
                at += 1
                if text[at - 1] == "]":
                    after = at - 1
                    break
        except (ValueError, RecursionError) as error:
            raise TableError(
                f"{self.name} should be a list of JSON objects, but row {row + 1} on line {line} "
                f"cannot be read ({first_line(error)}); correct it."
            ) from None
        if text[after + 1 :].strip():
            raise TableError(
                f"{self.name} should end with its list, but more follows; write one list of "
                "objects."
            )

    def _records(self) -> Iterator[dict[str, Any]]:
        for row, (line, record) in enumerate(self._values(), 1):
            if not isinstance(record, dict):
                each = "entry" if self.is_list else "line"
                found = "null" if record is None else f"of type {type(record).__name__}"
                raise TableError(
                    f"Each {each} of {self.name} should be a JSON object, but row {row} on line "
                    f"{line} is {found}; write the names of the columns as keys."
                )
            yield record

    def _parts(self) -> Iterator[list[dict[str, Any]]]:
        records = self._records()
        while part := list(islice(records, CHUNK_ROWS)):
            yield part

    # -- Types

    def _learn(self) -> list[list[dict[str, Any]]] | None:
        """Find the columns and their kinds, refusing cells that do not suit.

        The records are returned if they are few.
        """
        kept: list[list[dict[str, Any]]] | None = []
        first: dict[str, int] = {}
        size, row = 0, 0
        for part in self._parts():
            for record in part:
                row += 1
                for name, value in record.items():
                    self._add(name, value, row, first)
                    size += len(value) + 8 if isinstance(value, str) else 8
            self._learn_dates(part)
            if size > KEPT and not self.is_list:
                kept = None
            if kept is not None:
                kept.append(part)
        return kept

    def _add(self, name: str, value: Any, row: int, first: dict[str, int]) -> None:
        kind = self._kind(name, value, row)
        before = self._kinds.setdefault(name, NULL)
        if kind in (before, NULL) or (before == FLOAT and kind == INT):
            return
        if before not in (NULL, INT) or (before == INT and kind != FLOAT):
            raise TableError(
                f"Column {name!r} of {self.name} should hold values of one kind, but holds "
                f"{before} in row {first[name]} and {kind} in {self.places([row])[0]}; write all "
                "of them alike."
            )
        self._kinds[name] = kind
        first.setdefault(name, row)

    def _learn_dates(self, part: list[dict[str, Any]]) -> None:
        for name, kind in self._kinds.items():
            possible = self._dates.setdefault(name, set(DATES))
            if not possible or kind not in (TEXT, NULL):
                continue
            cells = arrow().array([record.get(name) for record in part], arrow().string())
            cells = cells.drop_null()
            for few in (cells.slice(0, 40), cells):
                possible &= {kind for kind in possible if suits(kind, few)}
            self._dates[name] = possible

    def _kind(self, name: str, value: Any, row: int) -> str:
        kind = KINDS.get(type(value))
        if kind is None:
            has_numbers = isinstance(value, list) and {type(one) for one in value} <= {int, float}
            raise TableError(
                f"Cells of {self.name} should be numbers, text, true, false or null, but column "
                f"{name!r} holds a {type(value).__name__} in {self.places([row])[0]}; "
                + (
                    "write a column for each of its numbers, as probability:CLASS if they are "
                    "degrees of classes."
                    if has_numbers and len(value) > 1
                    else 'write a row for each answer or item, and a set of classes as "a|b".'
                )
            )
        if kind == FLOAT and value != value:
            return NULL
        if kind == INT and abs(value) > LARGEST:
            raise TableError(
                f"Whole numbers of {self.name} should have at most 18 digits, but column {name!r} "
                f"has more in {self.places([row])[0]}; write identifiers as text."
            )
        if not name.strip() or not _is_text(name) or (kind == TEXT and not _is_text(value)):
            raise TableError(
                f"Names and cells of {self.name} should be text, but an empty name or half of a "
                f"surrogate pair is in {self.places([row])[0]}; write it again in UTF-8."
            )
        return kind


def _is_text(value: str) -> bool:
    return value.isascii() or not any(0xD800 <= ord(letter) < 0xE000 for letter in value)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = [repr(name) for name in repeated([name for name, _ in pairs])]
        raise ValueError(f"the key {listed(twice[:MOST])} comes twice")
    return record
