"""Sheets of Excel workbooks (.xlsx), read by python-calamine.

The first row that is not empty names the columns; empty rows are passed over. Cells keep the types
that Excel gave them, so that a cell that shows 45 % is 0.45; a column of text is typed like that of
a CSV file, and one of several types becomes text. Cells with an error are missing. In errors, the
line of a row is its number in the sheet.
"""

import datetime
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from plausible.checks import guess, shown
from plausible.tables.content import EXCEL, Content
from plausible.tables.csv_header import TOLD_UNNAMED, UNNAMED, check_names, has_row_names
from plausible.tables.errors import TableError, arrow, listed, needed, reading
from plausible.tables.excel_cells import MERGED, check_formulas, fill_merged
from plausible.tables.kinds import (
    BOOL,
    FLOAT,
    INT,
    MISSING,
    NULL,
    TEXT,
    Typing,
    as_kind,
)
from plausible.tables.source import CHUNK_ROWS, Source

EXACT = 2**53  # up to here, floats are exact whole numbers


def _is_wide(rows: list[list[Any]]) -> bool:
    """Whether a sheet has more than one column that holds something."""
    return sum(any(map(is_given, column)) for column in zip(*rows, strict=True)) > 1


class ExcelSource(Source):
    """The rows of one sheet."""

    format = EXCEL

    def __init__(self, content: Content) -> None:
        super().__init__()
        self.name = content.name
        calamine = needed("python_calamine", "Reading Excel files", "excel")
        with reading(self.name, "an Excel workbook"), content.open_file() as file:
            book = calamine.CalamineWorkbook.from_filelike(file)
            sheet, rows = self._choose(book, content.sheet)
            header = next((k for k, row in enumerate(rows) if any(map(is_given, row))), 0)
            merged = getattr(book.get_sheet_by_name(sheet), "merged_cell_ranges", None)
            if fill_merged(rows, merged, header):
                self.notes.append(f"{self.name}: {MERGED}")
        if not all(is_given(value) for row in rows for value in row):
            with reading(self.name, "an Excel workbook"), content.open_file() as file:
                check_formulas(file, sheet, self.name)
        self.rows = [(line, row) for line, row in enumerate(rows, 1) if any(map(is_given, row))]
        if not self.rows:
            raise TableError(
                f"{self.name} should begin with the names of its columns, but it is empty; write a "
                "header and one row for each item."
            )
        self._read_header()
        self._columns: dict[str, Any] = {}
        self._values: dict[str, Any] = {}
        self._kinds: dict[str, str] = {}  # of columns of text

    def _choose(self, book: Any, wanted: str | None) -> tuple[str, list[list[Any]]]:
        """The name of a sheet, and its rows."""
        names = list(book.sheet_names)
        if wanted is not None:
            if wanted not in names:
                raise TableError(
                    f"{self.name} should have a sheet {shown(wanted)}, but has "
                    f"{listed([repr(name) for name in names])}{guess(wanted, names) or '.'}"
                )
            self.name = f"{self.name}, sheet {wanted!r}"
            return wanted, list(book.get_sheet_by_name(wanted).to_python(skip_empty_area=False))
        sheets = {
            name: book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in names
        }
        full = [name for name, rows in sheets.items() if rows]
        if len(full) < 2:
            return (full or names)[0], list(sheets[full[0]]) if full else []
        # A page of notes has one column, and is no table where another sheet is.
        wide = [name for name in full if len(sheets[name]) > 1 and _is_wide(sheets[name])]
        chosen = (wide or full)[0]
        longest = max(wide, key=lambda name: len(sheets[name]), default=chosen)
        if len(sheets[longest]) > len(sheets[chosen]):
            raise TableError(
                f"{self.name} should hold one table, but has several sheets "
                f"({listed([repr(name) for name in full])}), and the first one is not the longest; "
                "write the name of that which is meant behind the file, as in "
                f"{self._sheet_in(longest)}."
            )
        self._check_alike(sheets, wide)
        other = next(name for name in full if name != chosen)
        self.notes.append(
            f"{self.name} has several sheets ({listed([repr(name) for name in full])}); "
            f"{chosen!r} was read. For another, write its name behind the file, as in "
            f"{self._sheet_in(other)}"
        )
        self.name = f"{self.name}, sheet {chosen!r}"
        return chosen, list(sheets[chosen])

    def _sheet_in(self, sheet: str) -> str:
        """A sheet behind its file, in quotes where a shell needs them."""
        return shlex.quote(f"{self.name.strip(chr(39))}#{sheet}")

    def _check_alike(self, sheets: dict[str, list[list[Any]]], names: list[str]) -> None:
        """Refuse sheets with the same columns, as there are where each person, or year, has one."""
        heads = {name: [str(cell) for cell in sheets[name][0] if is_given(cell)] for name in names}
        same = [name for name in names if heads[name] and heads[name] == heads[names[0]]]
        if len(same) > 1:
            raise TableError(
                f"{self.name} should hold one table, but its sheets "
                f"{listed([repr(name) for name in same])} have the same columns; write them into "
                "one sheet, with a column that says which is which, or write the name of that "
                f"which is meant behind the file, as in {self._sheet_in(same[0])}."
            )

    def _read_header(self) -> None:
        (line, header), rows = self.rows[0], self.rows[1:]
        used = [k for k in range(len(header)) if any(is_given(row[k]) for _, row in self.rows)]
        given = [k for k in used if is_given(header[k])]
        if len(given) == 1 and len(used) > 1:
            raise TableError(
                f"{self.name} should begin with the names of its columns, but its first row (row "
                f"{line} of the sheet) says only {as_text(header[given[0]])[:60]!r}, and the rows "
                f"below have {len(used)} cells; if that is a title, delete it."
            )
        self.names = [as_text(header[k]) if is_given(header[k]) else "" for k in used]
        if has_row_names(self.names, not rows):
            self.names[0] = UNNAMED
            self.notes.append(f"{self.name}: {TOLD_UNNAMED}")
        if len(given) < len(used) and rows and self._is_header(rows[0][1], used):
            raise TableError(
                f"{self.name} should begin with the names of its columns, but its first row (row "
                f"{line} of the sheet) leaves some out, and the next one has text alone; if what "
                "stands above the names is a title, delete it."
            )
        check_names(self.name, self.names)
        self.places_of = dict(zip(self.names, used, strict=True))
        self.rows = rows

    def _is_header(self, row: list[Any], used: list[int]) -> bool:
        """Whether a row is all text, and no other one is like it."""
        cells = [row[k] for k in used]
        return all(isinstance(value, str) and is_given(value) for value in cells) and (
            len(set(cells)) == len(cells) and self.names[0] != UNNAMED
        )

    def schema(self, columns: Sequence[str]) -> Any:
        """Names and types of some columns."""
        return arrow().schema([(name, self.column(name).type) for name in columns])

    def batches(
        self,
        columns: Sequence[str],
        typed: bool = True,
        rows: int | None = None,
        gaps: bool = True,
    ) -> Iterator[Any]:
        """Record batches of some columns."""
        yield from self.whole(columns, typed).to_batches(max_chunksize=rows or CHUNK_ROWS)

    def whole(self, columns: Sequence[str], typed: bool = True) -> Any:
        """All rows of some columns."""
        return arrow().table([self.column(name, typed) for name in columns], names=list(columns))

    def column(self, name: str, typed: bool = True) -> Any:
        """One column, whole."""
        if name not in self._columns:
            self._columns[name] = column = self._read(name)
            self._values[name] = self._type(name, column)
        return arrow().chunked_array([(self._values if typed else self._columns)[name]])

    def named(self, name: str) -> Any:
        """A column of names: numbers and truth values as such, all else as it is written."""
        return self.column(name, typed=self.is_valued(name))

    def is_valued(self, name: str) -> bool:
        """Whether names are numbers or truth values."""
        self.column(name)
        return self._kinds.get(name, TEXT) in (INT, FLOAT, BOOL, NULL)

    def keep_written(self, names: Sequence[str]) -> None:
        """Give columns of names from now on as they are written."""
        for name in names:
            if not self.is_valued(name):
                self._values[name] = self._columns[name]

    def lines(self, rows: Sequence[int]) -> list[int]:
        """Numbers of some rows in the sheet."""
        return [self.rows[row - 1][0] for row in rows]

    def _read(self, name: str) -> Any:
        """The cells of a column: of one type, or as text."""
        pa, place = arrow(), self.places_of[name]
        cells = [row[place] if is_given(row[place]) else None for _, row in self.rows]
        there = [value for value in cells if value is not None]
        kinds = {type(value) for value in there}
        if kinds <= {float, int}:
            if all(abs(value) <= EXACT and value == int(value) for value in there):
                return pa.array([None if value is None else int(value) for value in cells],
                                pa.int64() if there else pa.null())  # fmt: skip
            return pa.array(cells, pa.float64())
        if kinds == {bool} or kinds == {datetime.date}:
            return pa.array(cells)
        if kinds <= {datetime.date, datetime.datetime}:
            midnight = datetime.time()
            moments = [
                value
                if value is None or isinstance(value, datetime.datetime)
                else datetime.datetime.combine(value, midnight)
                for value in cells
            ]
            return pa.array(moments, pa.timestamp("us"))
        if str in kinds and kinds & {datetime.date, datetime.datetime}:
            day = next(value for value in there if isinstance(value, datetime.date))
            self.notes.append(
                f"{self.name}: column {name!r} has dates among text, such as {as_text(day)!r}, "
                "which Excel may have made of text such as 1-2; write it as text there if so"
            )
        return pa.array([None if value is None else as_text(value) for value in cells], pa.string())

    def _type(self, name: str, column: Any) -> Any:
        if not arrow().types.is_string(column.type):
            return column
        typing = Typing()
        typing.add(column)
        kind, assumed = typing.resolve(",", lambda: False)
        self._kinds[name] = kind
        self._tell(name, assumed, kind == TEXT)
        return as_kind(column, kind)


def is_given(value: Any) -> bool:
    """Whether a cell holds something: neither blank nor a word for missing ones."""
    return not isinstance(value, str) or value.strip() not in MISSING


def as_text(value: Any) -> str:
    """A cell as text."""
    if isinstance(value, float) and abs(value) <= EXACT and value == int(value):
        return str(int(value))
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).strip() if isinstance(value, str) else str(value)
