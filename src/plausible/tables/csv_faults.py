"""What is wrong with a CSV file, by row and line; only looked for when it cannot be parsed."""

from typing import TYPE_CHECKING

from plausible.tables.errors import MOST, TableError, counted, listed

if TYPE_CHECKING:
    from plausible.tables.csv_files import CsvSource


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
    expected = len(table.names)
    wrong = [(row, record) for row, record in table.records() if record.n_cells != expected]
    if not wrong:
        return
    places = [
        f"row {row} on line {record.line} has {counted(record.n_cells, 'cell')}"
        for row, record in wrong[:MOST]
    ]
    raise TableError(
        f"Every row of {table.name} should have {counted(expected, 'cell')}, like its header, but "
        f"{counted(len(wrong), 'row')} {'does' if len(wrong) == 1 else 'do'} not "
        f"({listed(places, len(wrong))}); put quotes around cells that contain "
        f"{table.delimiter!r}, and fill in what is missing."
    )


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
