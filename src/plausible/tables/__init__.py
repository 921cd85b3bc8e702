"""Any table, opened once: bytes and their kind, columns and their types, rows in chunks.

Rows of a file are counted from 1 in errors, without the header; of a text file, the line is named
as well.
"""

from plausible.tables.arrow_files import MemorySource
from plausible.tables.codes import Encoded
from plausible.tables.columns import (
    floats,
    in_seconds,
    is_number,
    names_of,
    plain,
    repeated,
    show,
    values_of,
)
from plausible.tables.content import ARROW, CSV, DATABASE, EXCEL, JSON, JSON_LINES, KINDS, PARQUET
from plausible.tables.errors import MOST, TableError, arrow, counted, first_line, listed, needed
from plausible.tables.kinds import MISSING, without_nan
from plausible.tables.reading import (
    TableStream,
    add_reader,
    choose,
    open_table,
    read_table,
    stream_table,
)
from plausible.tables.source import Source

__all__ = [
    "ARROW",
    "CSV",
    "DATABASE",
    "EXCEL",
    "JSON",
    "JSON_LINES",
    "KINDS",
    "MISSING",
    "MOST",
    "PARQUET",
    "Encoded",
    "MemorySource",
    "Source",
    "TableError",
    "TableStream",
    "add_reader",
    "arrow",
    "choose",
    "counted",
    "first_line",
    "floats",
    "in_seconds",
    "is_number",
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
    "without_nan",
]
