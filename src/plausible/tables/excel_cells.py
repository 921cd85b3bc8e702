"""What a sheet does not show in its cells: which were merged, and formulas without a value."""

import re
import zipfile
from typing import Any, BinaryIO
from xml.etree import ElementTree

from plausible.tables.errors import TableError

MERGED = "cells that were merged have the value of the first of them in all their rows"
WITHOUT_VALUE = re.compile(
    rb'<c\b[^>]*?\br="([A-Z]+[0-9]+)"[^>]*>\s*<f\b(?:[^>]*/>|[^>]*>[^<]*</f>)\s*'
    rb"(?:<v\s*/>|<v>\s*</v>)?\s*</c>"
)
RELATIONS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def fill_merged(rows: list[list[Any]], ranges: Any, header: int) -> bool:
    """Give cells below the header that were merged down a column their value; tell if any were.

    `ranges` are ((row, column), (row, column)) from 0, the first cell and the last one.
    """
    found = False
    for (top, column), (bottom, _) in ranges or ():
        if top <= header or bottom == top:
            continue
        found = True
        for row in rows[top + 1 : bottom + 1]:
            row[column] = rows[top][column]
    return found


def check_formulas(file: BinaryIO, sheet: str, name: str) -> None:
    """Refuse a sheet with formulas whose values nobody has saved: its cells would be empty."""
    with zipfile.ZipFile(file) as book:
        part = _part_of(book, sheet)
        found = [] if part is None else WITHOUT_VALUE.findall(book.read(part))
    if found:
        places = ", ".join(place.decode() for place in found[:5])
        more = ", ..." if len(found) > 5 else ""
        raise TableError(
            f"Cells of {name} should have values, but {len(found)} "
            f"{'is a formula' if len(found) == 1 else 'are formulas'} that nobody has computed "
            f"({places}{more}); open the file in Excel or LibreOffice and save it again."
        )


def _part_of(book: zipfile.ZipFile, sheet: str) -> str | None:
    """The file in a workbook that holds a sheet."""
    try:
        pages = ElementTree.fromstring(book.read("xl/workbook.xml"))
        links = ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))
    except (KeyError, ElementTree.ParseError):
        return None
    numbers = {one.get("name"): one.get(RELATIONS) for one in pages.iter() if one.get(RELATIONS)}
    targets = {one.get("Id"): one.get("Target", "") for one in links}
    target = targets.get(numbers.get(sheet), "").removeprefix("/xl/")
    return f"xl/{target}" if f"xl/{target}" in book.namelist() else None
