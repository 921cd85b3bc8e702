"""CSV files as record batches of text, with the rows and lines of whatever is wrong.

pyarrow parses; what it passes over in silence (a quote that is never closed, a name that comes
twice) is looked for here. Lines are only counted when an error has to name one.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from plausible.tables.columns import (
    MISSING,
    NULL,
    as_kind,
    repeated,
    type_of,
    widen,
    without_blanks,
)
from plausible.tables.content import Content
from plausible.tables.csv_lines import Record, records
from plausible.tables.errors import MOST, TableError, arrow, counted, listed, reading

BLOCKS = (1 << 20, 1 << 24, 1 << 28)  # bytes that are parsed at a time; a row has to fit
DELIMITERS = ",;\t"  # not the bar, which separates the members of sets
LONGEST_HEADER = 1 << 24


class CsvSource:
    """The rows of a CSV file."""

    def __init__(self, content: Content) -> None:
        self.content, self.name = content, content.name
        with reading(self.name, "a CSV file"):
            self.delimiter, self.names = self._read_header()
        self._check_names()
        header = 4 * sum(map(len, self.names)) + 4 * len(self.names)
        self.block = next((size for size in BLOCKS if size > header), BLOCKS[-1])
        self._kinds: dict[str, str] = {}

    def batches(self, columns: Sequence[str], typed: bool = True) -> Iterator[Any]:
        """Record batches of some columns, as text or as whatever kind of value they hold."""
        if not typed:
            yield from self._text(columns)
            return
        kinds = self.kinds(columns)
        schema = arrow().schema([(name, type_of(kinds[name])) for name in columns])
        for batch in self._text(columns):
            arrays = [as_kind(batch.column(i), kinds[name]) for i, name in enumerate(columns)]
            yield arrow().record_batch(arrays, schema=schema)

    def schema(self, columns: Sequence[str]) -> Any:
        """Names and types of some columns."""
        kinds = self.kinds(columns)
        return arrow().schema([(name, type_of(kinds[name])) for name in columns])

    def kinds(self, columns: Sequence[str]) -> dict[str, str]:
        """What kind of values some columns hold, after a pass over the file."""
        unknown = [name for name in columns if name not in self._kinds]
        if unknown:
            found = dict.fromkeys(unknown, NULL)
            for batch in self._text(unknown):
                for i, name in enumerate(unknown):
                    found[name] = widen(found[name], batch.column(i))
            self._kinds |= found
        return self._kinds

    def lines(self, rows: Sequence[int]) -> list[int]:
        """Lines on which some rows, in rising order, begin."""
        wanted = set(rows)
        found = (record.line for row, record in self._records() if row in wanted)
        return list(islice(found, len(wanted)))

    def _records(self) -> Iterator[tuple[int, Record]]:
        """Rows, from 0 for the header, and where they are."""
        with self._open_text() as file:
            yield from enumerate(records(file, self.delimiter))

    def _open_text(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(
            self.content.open(), encoding="utf-8-sig", errors="replace", newline=""
        )

    def _read_header(self) -> tuple[str, list[str]]:
        with self._open_text() as file:
            first = ""
            while not first.strip("\r\n"):
                first = file.readline(LONGEST_HEADER)
                if not first:
                    raise TableError(
                        f"{self.name} should be a CSV file that begins with the names of its "
                        "columns, but it is empty; write a header and one line for each row."
                    )
            delimiter = "\t" if self.content.is_tabbed else _delimiter(first)
            # A quoted name may hold line ends, so lines are read until the record is complete.
            record = next(csv.reader(_lines(first, file), delimiter=delimiter))
        if any("\ufffd" in name for name in record):
            raise TableError(
                f"{self.name} should be text in UTF-8, but its header (line 1) is not; save it as "
                "CSV UTF-8."
            )
        return delimiter, record

    def _check_names(self) -> None:
        unnamed = [str(number) for number, name in enumerate(self.names, 1) if not name.strip()]
        twice = repeated(self.names)
        if unnamed:
            raise TableError(
                f"Every column of {self.name} should have a name in the header (line 1), but "
                f"{counted(len(unnamed), 'column')} {'has' if len(unnamed) == 1 else 'have'} none "
                f"(column {listed(unnamed)}); name them, or write the file without row numbers "
                "(index=False in pandas)."
            )
        if twice:
            raise TableError(
                f"The columns of {self.name} should have different names, but the header (line 1) "
                f"repeats {listed([repr(name) for name in twice])}; rename them."
            )

    def _text(self, columns: Sequence[str]) -> Iterator[Any]:
        """Record batches of text; where a block is too short for a row, longer ones are parsed."""
        rows = [0]
        while True:
            done = rows[0]
            try:
                with reading(self.name, "a CSV file in UTF-8", rows):
                    rows[0] = 0
                    for batch in self._parse(columns):
                        start, rows[0] = rows[0], rows[0] + batch.num_rows
                        if rows[0] > done:
                            yield batch.slice(max(done - start, 0))
                return
            except TableError as error:
                longer = [size for size in BLOCKS if size > self.block]
                if "straddl" not in str(error) or not longer:
                    raise
                self._check_quotes()
                self.block = longer[0]

    def _parse(self, columns: Sequence[str]) -> Iterator[Any]:
        pa = arrow()
        try:
            with self.content.open() as raw:
                file = QuoteCounter(raw)
                reader = self._reader(file, columns)
                if reader is None:
                    return
                with reader:
                    for batch in reader:
                        arrays = [without_blanks(column) for column in batch.columns]
                        yield pa.record_batch(arrays, names=list(columns))
        except pa.ArrowInvalid as error:
            self._explain(str(error))
            raise
        if file.n_quotes % 2:
            self._check_quotes()

    def _reader(self, file: Any, columns: Sequence[str]) -> Any:
        pcsv, pa = arrow(".csv"), arrow()
        try:
            return pcsv.open_csv(
                file,
                read_options=pcsv.ReadOptions(use_threads=False, block_size=self.block),
                parse_options=pcsv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
                convert_options=pcsv.ConvertOptions(
                    column_types=dict.fromkeys(self.names, pa.string()),
                    include_columns=list(columns),
                    null_values=MISSING,
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid as error:
            if "cannot infer number of columns" in str(error) and self._is_header_only():
                return None
            raise

    def _explain(self, reason: str) -> None:
        """Say in which rows lies what pyarrow complains about."""
        if "UTF8" in reason:
            self._explain_encoding()
        elif "Expected" in reason:
            self._check_quotes()
            self._explain_cells()

    def _explain_cells(self) -> None:
        """Say which rows have too few or too many cells."""
        expected = len(self.names)
        wrong = [(row, r) for row, r in self._records() if r.n_cells != expected]
        if not wrong:
            return
        places = [
            f"row {row} on line {record.line}, with {counted(record.n_cells, 'cell')}"
            for row, record in wrong[:MOST]
        ]
        raise TableError(
            f"Every row of {self.name} should have {counted(expected, 'cell')}, as the header "
            f"has, but {counted(len(wrong), 'row')} {'has' if len(wrong) == 1 else 'have'} not "
            f"({listed(places, len(wrong))}); quote cells that hold a {self.delimiter!r}, and "
            "complete the others."
        )

    def _is_header_only(self) -> bool:
        return len(list(islice(self._records(), 2))) < 2

    def _explain_encoding(self) -> None:
        """Say which rows are not UTF-8."""
        bad = [row for row, record in self._records() if not record.is_utf8]
        if bad:
            raise TableError(
                f"{self.name} should be text in UTF-8, but is not in {self.where(bad)}; save it "
                "as CSV UTF-8."
            )

    def _check_quotes(self) -> None:
        """Refuse a file that ends within quotes, which would hide the rows after them."""
        open_rows = [row for row, record in self._records() if not record.is_closed]
        if open_rows:
            raise TableError(
                f"Quotes in {self.name} should be closed, but that of a cell in "
                f"{self.where(open_rows)} is not before the file ends; close it, or double quotes "
                'that belong to the text ("").'
            )

    def where(self, rows: Sequence[int], count: int | None = None) -> str:
        """Name rows and their lines."""
        return name_places(self, rows, count)


class QuoteCounter(io.RawIOBase):
    """A file that counts the quotes that are read from it."""

    def __init__(self, file: Any) -> None:
        self.file, self.n_quotes = file, 0

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read and count."""
        data: bytes = self.file.read(size)
        self.n_quotes += data.count(b'"')
        return data


def name_places(source: Any, rows: Sequence[int], count: int | None = None) -> str:
    """``"2 rows (row 3 on line 4, row 9 on line 10)"``, with rows counted from 1."""
    count = count or len(rows)
    first = list(rows[:MOST])
    lines = source.lines(first)
    places = [f"row {row}" for row in first]
    if len(lines) == len(first):
        places = [f"{place} on line {line}" for place, line in zip(places, lines, strict=True)]
    return f"{counted(count, 'row')} ({listed(places, count)})"


def _delimiter(line: str) -> str:
    """The mark that separates the names of a header: the most frequent one outside quotes."""
    outside = "".join(line.split('"')[::2])
    return max(DELIMITERS, key=outside.count)


def _lines(first: str, file: io.TextIOWrapper) -> Iterator[str]:
    yield first
    size = len(first)
    for line in file:
        size += len(line)
        if size > LONGEST_HEADER:
            raise csv.Error("the header is longer than 16 MB")
        yield line
