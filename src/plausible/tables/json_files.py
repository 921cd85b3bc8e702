"""Files of JSON lines: one object for each row, with the names of the columns as keys.

A key that is not there, null and NaN are missing.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from plausible.tables.columns import BOOL, FLOAT, INT, NULL, TEXT, repeated, type_of, without_nan
from plausible.tables.content import Content
from plausible.tables.csv_files import name_places
from plausible.tables.errors import MOST, TableError, arrow, first_line, listed, reading

CHUNK_ROWS = 16384
KINDS = {type(None): NULL, bool: BOOL, int: INT, float: FLOAT, str: TEXT}
LARGEST = 2**63 - 1


class JsonSource:
    """The rows of a file of JSON lines."""

    def __init__(self, content: Content) -> None:
        self.content, self.name = content, content.name
        self._kinds: dict[str, str] = {}
        with reading(self.name, "a file of JSON lines"):
            self._learn()
        self.names = list(self._kinds)
        if not self.names:
            raise TableError(
                f"{self.name} should hold a JSON object on each line, but it is empty; write one "
                'object for each row, such as {"length": 1.5}.'
            )

    def batches(self, columns: Sequence[str], typed: bool = True) -> Iterator[Any]:
        """Record batches of some columns."""
        pa, schema = arrow(), self.schema(columns)
        rows = (record for _, record in self._records())
        with reading(self.name, "a file of JSON lines"):
            while part := list(islice(rows, CHUNK_ROWS)):
                arrays = [
                    without_nan(pa.array([record.get(f.name) for record in part], f.type))
                    for f in schema
                ]
                yield pa.record_batch(arrays, schema=schema)

    def schema(self, columns: Sequence[str]) -> Any:
        """Names and types of some columns."""
        return arrow().schema([(name, type_of(self._kinds[name])) for name in columns])

    def lines(self, rows: Sequence[int]) -> list[int]:
        """Lines of some rows, in rising order."""
        wanted = set(rows)
        return [line for row, (line, _) in enumerate(self._lines(), 1) if row in wanted]

    def where(self, rows: Sequence[int], count: int | None = None) -> str:
        """Name rows and their lines."""
        return name_places(self, rows, count)

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        with self.content.open() as file:
            for number, line in enumerate(file, 1):
                if line.strip(b" \t\r\n\xef\xbb\xbf"):
                    yield number, line

    def _records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for row, (line, text) in enumerate(self._lines(), 1):
            try:
                record = json.loads(text.decode("utf-8-sig"), object_pairs_hook=_without_repeats)
            except (ValueError, RecursionError) as error:
                raise TableError(
                    f"Each line of {self.name} should be a JSON object in UTF-8, but row {row} on "
                    f"line {line} is not ({first_line(error)}); correct it."
                ) from None
            if not isinstance(record, dict):
                raise TableError(
                    f"Each line of {self.name} should be a JSON object, but row {row} on line "
                    f"{line} is a {type(record).__name__}; write the names of the columns as keys."
                )
            yield row, record

    def _learn(self) -> None:
        """Find the columns and their kinds, refusing cells that do not suit."""
        first: dict[str, int] = {}
        for row, record in self._records():
            for name, value in record.items():
                kind = self._kind(name, value, row)
                before = self._kinds.setdefault(name, NULL)
                if kind in (before, NULL) or (before == FLOAT and kind == INT):
                    continue
                if before not in (NULL, INT) or (before == INT and kind != FLOAT):
                    raise TableError(
                        f"Column {name!r} of {self.name} should hold values of one kind, but holds "
                        f"{before} in row {first[name]} and {kind} in {self.where([row])}; write "
                        "all of them alike."
                    )
                self._kinds[name] = kind
                first.setdefault(name, row)

    def _kind(self, name: str, value: Any, row: int) -> str:
        kind = KINDS.get(type(value))
        if kind is None:
            raise TableError(
                f"Cells of {self.name} should be numbers, text, true, false or null, but column "
                f"{name!r} holds a {type(value).__name__} in {self.where([row])}; write a set as "
                '"a|b", and other structures as columns of their own.'
            )
        if kind == FLOAT and value != value:
            return NULL
        if kind == INT and abs(value) > LARGEST:
            raise TableError(
                f"Whole numbers of {self.name} should have at most 18 digits, but column {name!r} "
                f"has more in {self.where([row])}; write identifiers as text."
            )
        if not name.strip() or not _is_text(name) or (kind == TEXT and not _is_text(value)):
            raise TableError(
                f"Names and cells of {self.name} should be text, but an empty name or half of a "
                f"surrogate pair is in {self.where([row])}; write it again in UTF-8."
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
