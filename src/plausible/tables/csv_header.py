"""The header of a CSV file: what separates its cells, and the names of its columns."""

import csv
import io
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from plausible.tables.columns import repeated
from plausible.tables.errors import TableError, counted, listed, reading
from plausible.tables.text import Text

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}
BLANKS = re.compile(r'"[^"]+"( "[^"]+")+\s*')  # a header as write.table of R writes it
BAR = "|"  # separates the members of sets, and so no cells
WRITE_WITHOUT = (
    "name them, or write the file without row numbers (index=False in pandas, row.names = FALSE in "
    "R)"
)
WRITE_NAMES = "name each of them there, on one line (cells that were merged leave such gaps)"
UNNAMED = "unnamed"  # the name of row names, which have none
TOLD_UNNAMED = (
    f"its first column has no name, as row names of R and pandas; it is called {UNNAMED!r}"
)
TOLD = re.compile(r"sep=([,;\t])\r?\n?")  # a first line that Excel writes and heeds
INVISIBLE = "\ufeff\u200b\u2060"  # marks of byte order and blanks without width around names
LONGEST = 1 << 24
N_LINES = 20
LONGEST_LINE = 1 << 16


class Header(NamedTuple):
    """What the first lines of a file say.

    delimiter : what separates cells
    names : of the columns
    is_alone : whether no rows follow
    notes : what was assumed
    n_before : lines before the names: one, where Excel was told what separates cells
    is_renamed : whether names are not those of the file
    n_blank : columns without names behind the others, which should be empty
    """

    delimiter: str
    names: list[str]
    is_alone: bool
    notes: list[str]
    n_before: int = 0
    is_renamed: bool = False
    n_blank: int = 0


def read_header(text: Text, is_tabbed: bool) -> Header:
    """The header of a file."""
    with reading(text.name, "a CSV file"), text.open_text() as file:
        first = _first_line(file)
        if first is None:
            raise TableError(
                f"{text.name} should be a CSV file that begins with the names of its columns, but "
                "it is empty; write a header and one line for each row."
            )
        said = TOLD.fullmatch(first)
        first = (_first_line(file) or first) if said else first
        more = list(islice(_short_lines(file), N_LINES))
    delimiter = "\t" if is_tabbed else _find_delimiter(first, more)
    delimiter = said[1] if said else delimiter
    with reading(text.name, "a CSV file"), text.open_text() as file:
        if said:
            file.readline()
        # A quoted name may hold line ends, so lines are read until the record is complete.
        rows = (row for row in csv.reader(_lines(file), delimiter=delimiter) if row)
        names = next(rows)
        is_alone = _next(rows) is None
    if delimiter == ",":
        _check_marks(text.name, first, more)
    _check_title(text.name, names, more, delimiter)
    noted = delimiter != "," and not is_tabbed
    notes = [f"{text.name}: {DELIMITERS[delimiter]} separate its cells"] if noted else []
    if not any(cell.strip() for cell in [*names, *more]):
        raise TableError(
            f"{text.name} should be a CSV file that begins with the names of its columns, but "
            "it holds nothing but blanks; write a header and one line for each row."
        )
    plain = [name.strip(INVISIBLE) for name in names]
    is_plain, names = plain == names, plain
    names, n_blank, is_renamed = _without_end(names, more, delimiter)
    if is_renamed:
        mark = f"{delimiter!r}" if delimiter != "\t" else "tab"
        notes.append(
            f"{text.name}: a {mark} at the end of lines makes no column, since nothing follows it"
        )
    elif _lacks_first(first, names, more, delimiter):
        names, is_renamed = ["", *names], True
    if has_row_names(names, is_alone):
        names[0], is_renamed = UNNAMED, True
        notes.append(f"{text.name}: {TOLD_UNNAMED}")
    is_renamed = is_renamed or not is_plain
    check_names(text.name, names)
    return Header(delimiter, names, is_alone, notes, 1 if said else 0, is_renamed, n_blank)


def _lacks_first(first: str, names: list[str], lines: list[str], delimiter: str) -> bool:
    """Whether rows begin with quoted names of their own, which write.table of R gives no header."""
    if len(names) < 2 or not lines or not all(line.startswith('"') for line in [first, *lines]):
        return False
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:
        return False
    rows = rows[:-1] if len(lines) >= N_LINES and len(rows) > 1 else rows  # which may be cut off
    are_longer = all(len(row) == len(names) + 1 for row in rows)
    return are_longer and len({row[0] for row in rows}) == len(rows) > 1


def _without_end(names: list[str], lines: list[str], delimiter: str) -> tuple[list[str], int, bool]:
    """Names without blank ones at their end, if the rows have nothing there either.

    With them come how many blank cells end each row, and whether the header has as many.
    """
    given = len(names)
    while given and not names[given - 1].strip():
        given -= 1
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:
        return names, 0, False
    rows = rows[:-1] if len(lines) >= N_LINES and len(rows) > 1 else rows  # which may be cut off
    lengths = {len(row) for row in rows} or {given}
    if not given or len(lengths) != 1:
        return names, 0, False
    n_blank = lengths.pop() - given
    if n_blank < 0 or n_blank == len(names) - given == 0:
        return names, 0, False
    if any(cell.strip() for row in rows for cell in row[given:]):
        return names, 0, False
    return names[:given], n_blank, True


def has_row_names(names: list[str], is_alone: bool) -> bool:
    """Whether the first column alone has no name."""
    is_first = not names[0].strip() and all(name.strip() for name in names[1:])
    return is_first and len(names) > 2 and UNNAMED not in names and not is_alone


def _find_delimiter(first: str, more: list[str]) -> str:
    """The most frequent mark of a header, among those that cut the lines below alike."""
    outside = "".join(first.split('"')[::2])
    marks = sorted(DELIMITERS, key=outside.count, reverse=True)
    marks = [mark for mark in marks if mark in outside]
    for mark in marks[: len(marks) if len(marks) > 1 else 0]:
        if len(set(_cells([first, *more], mark))) == 1:
            return mark
    return marks[0] if marks else ","


def _check_marks(name: str, first: str, more: list[str]) -> None:
    """Refuse a file whose cells are separated by bars, or by blanks."""
    if BLANKS.fullmatch(first):
        raise TableError(
            f"Cells of {name} should be separated by commas, semicolons or tabs, but are separated "
            "by blanks; write it with write.csv in R, or with commas."
        )
    count = first.count(BAR)
    if count and "," not in first and all(line.count(BAR) == count for line in more) and more:
        raise TableError(
            f"Cells of {name} should be separated by commas, semicolons or tabs, but seem to be "
            "separated by '|', which stands for 'or' in sets of classes; write it with commas."
        )


def _check_title(name: str, names: list[str], more: list[str], delimiter: str) -> None:
    """Refuse a file that begins with a title, or with remarks."""
    given = [cell for cell in names if cell.strip()]
    if len(given) != 1:
        return
    for mark in [delimiter] if len(names) > 1 else DELIMITERS:
        cells = _cells(more, mark)
        n_lines = next((k for k, count in enumerate(cells) if count > 1), 0)  # after the first
        widths = set(cells[n_lines:])
        wide = min(widths, default=0) if len(widths) == 1 else 0
        if wide > 1 and (len(names) > 2 or len(names) < wide):
            first = "line says" if not n_lines else f"{n_lines + 1} lines say"
            raise TableError(
                f"{name} should begin with the names of its columns, but its first {first} only "
                f"{given[0][:60]!r}{' and the like' * (n_lines > 0)}, and the lines below have "
                f"{wide} cells; if that is a title, delete it."
            )


def check_names(name: str, names: list[str]) -> None:
    """Refuse columns without a name, and names that come twice."""
    unnamed = [str(number) for number, column in enumerate(names, 1) if not column.strip()]
    twice = repeated(names)
    if unnamed:
        raise TableError(
            f"Every column of {name} should have a name in the header (line 1), but "
            f"{counted(len(unnamed), 'column')} {'has' if len(unnamed) == 1 else 'have'} none "
            f"(column {listed(unnamed)}); {WRITE_WITHOUT if unnamed == ['1'] else WRITE_NAMES}."
        )
    if twice:
        raise TableError(
            f"The columns of {name} should have different names, but the header (line 1) repeats "
            f"{listed([repr(column) for column in twice])}; rename them, or write a line of names "
            "above it if it holds none."
        )


def _cells(lines: list[str], mark: str) -> list[int]:
    """How many cells the records of some lines have; the last one may be cut off."""
    try:
        found = [len(row) for row in csv.reader(lines, delimiter=mark) if row]
    except csv.Error:
        return []
    return found[:-1] if len(lines) >= N_LINES and len(found) > 1 else found


def _first_line(file: io.TextIOWrapper) -> str | None:
    while line := file.readline(LONGEST):
        if line.strip("\r\n"):
            return line
    return None


def _short_lines(file: io.TextIOWrapper) -> Iterator[str]:
    while (line := file.readline(LONGEST_LINE)) and len(line) < LONGEST_LINE:
        if line.strip("\r\n"):
            yield line


def _lines(file: io.TextIOWrapper) -> Iterator[str]:
    size = 0
    while line := file.readline(LONGEST):
        size += len(line)
        if size > LONGEST:
            raise csv.Error("the header is longer than 16 MB")
        yield line


def _next(rows: Iterator[list[str]]) -> list[str] | None:
    try:
        return next(rows, None)
    except csv.Error:  # a cell that is longer than Python's reader takes
        return []
