"""What is wrong with a CSV file, by row and line; only looked for when it cannot be parsed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plausible.tables.csv_lines import Record
from plausible.tables.errors import MOST, TableError, counted, listed

if TYPE_CHECKING:
    from plausible.tables.csv_files import CsvSource

COMMENTS = ("#", "//", "%")


def explain(table: "CsvSource") -> None:
    """Refuse a file whose quotes or cells are wrong."""
    check_quotes(table)
    check_cells(table)


def check_quotes(table: "CsvSource") -> None:
    """Refuse a file that ends within quotes, which would hide the rows after them."""
    open_rows = [row for row, record in table.records() if not record.is_closed]
    if open_rows:
        raise TableError(
            f"Quotes in {table.name} should be closed, but a quote that opens in "
            f"{table.places(open_rows)[0]} is still open where the file ends; close it, or double "
            'quotes that belong to the text ("").'
        )


def check_cells(table: "CsvSource") -> None:
    """Refuse rows with too few or too many cells."""
    expected = len(table.names) + table.n_blank
    wrong, last = [], 0
    for last, record in table.records():
        if record.n_cells != expected and last:  # the header was read already
            wrong.append((last, record))
    if not wrong:
        return
    _check_comments(table, wrong)
    _check_end(table, wrong, last)
    places = [
        f"row {row} on line {record.line} has {counted(record.n_cells, 'cell')}"
        for row, record in wrong[:MOST]
    ]
    remedy = (
        f"put quotes around cells that contain {table.delimiter!r}, and fill in what is missing"
    )
    if len(wrong) == last and all(record.n_cells == expected + 1 for _, record in wrong):
        remedy = (
            f"put quotes around cells that contain {table.delimiter!r}, or write the file without "
            "row names if the first cells are such (row.names = FALSE in R)"
        )
    raise TableError(
        f"Every row of {table.name} should have {counted(expected, 'cell')}, like its header, but "
        f"{counted(len(wrong), 'row')} {'does' if len(wrong) == 1 else 'do'} not "
        f"({listed(places, len(wrong))}); {remedy}."
    )


def blank_names(count: int) -> list[str]:
    """What columns without a name, behind the others, are called while a file is parsed."""
    return [f"\0{number}" for number in range(count)]


def check_blank_end(table: "CsvSource") -> None:
    """Refuse a file in which something stands where no column has a name."""
    names, start = blank_names(table.n_blank), 0
    for batch in table._stream(names, {}):
        for column in batch.columns:
            if column.null_count == len(column):
                continue
            row = next(row for row, cell in enumerate(column.to_pylist()) if cell is not None)
            place = table.places([start + row + 1])[0]
            raise TableError(
                f"Every row of {table.name} should have {counted(len(table.names), 'cell')}, like "
                f"its header, and nothing behind them, but {place} has "
                f"{_short(column[row].as_py())!r} there; name the column, or put quotes around "
                f"cells that contain {table.delimiter!r}."
            )
        start += batch.num_rows


def _check_comments(table: "CsvSource", wrong: Sequence[tuple[int, Record]]) -> None:
    """Refuse comments among the rows."""
    said = _lines_of(table, [record for _, record in wrong])
    if all(line.startswith(COMMENTS) for line in said):
        places = [f"line {record.line}: {_short(said[k])!r}" for k, (_, record) in enumerate(wrong)]
        them = "it" if len(wrong) == 1 else "them"
        raise TableError(
            f"{table.name} should hold rows alone below its header, but has "
            f"{counted(len(wrong), 'comment')} ({listed(places[:MOST], len(wrong))}); delete "
            f"{them}."
        )


def _check_end(table: "CsvSource", wrong: Sequence[tuple[int, Record]], last: int) -> None:
    """Refuse notes below the last row, and a last row that is cut off."""
    expected, rows = len(table.names), [row for row, _ in wrong]
    if rows != list(range(last - len(rows) + 1, last + 1)) or rows[0] < 2:
        return
    said, first = _lines_of(table, [record for _, record in wrong]), wrong[0][1]
    if all(record.n_cells < expected for _, record in wrong) and (
        first.n_cells == 1 and len(said[0].split()) > 1
    ):
        which, it = f"the last line (line {first.line}) says", "it"
        if len(wrong) > 1:
            which, it = f"the last {len(wrong)} (from line {first.line} on) say", "them"
        raise TableError(
            f"Every row of {table.name} should have {counted(expected, 'cell')}, like its header, "
            f"but {which} only {_short(said[0])!r}, as notes below a table do; delete {it}."
        )
    if len(wrong) == 1 and first.n_cells < expected:
        raise TableError(
            f"Every row of {table.name} should have {counted(expected, 'cell')}, like its header, "
            f"but the last one (row {last} on line {first.line}) ends after "
            f"{counted(first.n_cells, 'cell')} with {_short(said[0])!r}, as if the file was cut "
            "off; write or download it again, or complete this line."
        )


def _lines_of(table: "CsvSource", found: Sequence[Record]) -> list[str]:
    """The first lines of some records, in rising order."""
    wanted = {record.line for record in found}
    with table.text.open_text() as file:
        return [line.strip() for number, line in enumerate(file, 1) if number in wanted]


def _short(line: str) -> str:
    return line if len(line) <= 60 else f"{line[:56]} ..."


def check_encoding(table: "CsvSource") -> None:
    """Refuse rows in no encoding that is known."""
    bad = [row for row, record in table.records() if not record.is_utf8]
    if bad == [0]:
        raise TableError(
            f"{table.name} should be text in UTF-8, but its header (line 1) is not; save it as CSV "
            "UTF-8."
        )
    if bad:
        raise TableError(
            f"{table.name} should be text in UTF-8, but is in another encoding, or damaged, in "
            f"{table.where(bad)}; save it as CSV UTF-8."
        )
