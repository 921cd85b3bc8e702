"""Any table, opened once: bytes and their kind, columns and their types, rows in chunks.

Rows of a file are counted from 1 in errors, without the header; of a text file, the line is named
as well.
"""

from plausible.tables.arrow_files import BUFFER_BYTES
from plausible.tables.columns import MISSING, floats, names_of, plain, repeated, show, values_of
from plausible.tables.content import ARROW, CSV, JSON_LINES, KINDS, PARQUET
from plausible.tables.errors import MOST, TableError, arrow, counted, first_line, listed, needed
from plausible.tables.reading import (
    Source,
    TableStream,
    choose,
    open_table,
    read_table,
    stream_table,
)

__all__ = [
    "ARROW",
    "BUFFER_BYTES",
    "CSV",
    "JSON_LINES",
    "KINDS",
    "MISSING",
    "MOST",
    "PARQUET",
    "Source",
    "TableError",
    "TableStream",
    "arrow",
    "choose",
    "counted",
    "first_line",
    "floats",
    "listed",
    "names_of",
    "needed",
    "open_table",
    "plain",
    "read_table",
    "repeated",
    "show",
    "stream_table",
    "values_of",
]
