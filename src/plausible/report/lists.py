"""Lists to take away: small tables that the page carries as CSV.

A cell that a spreadsheet would take for a formula gets an apostrophe in front, so that names that
people gave stay names.
"""

import base64
import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any

from plausible.report.words import name_of, plain

MOST_LETTERS = 16_000  # of a list, so that a page stays small
MOST_ROWS = 1000
LONGEST = 200  # letters of a name
_FORMULA = re.compile(r"^[=+@\t\r]|^-(?!\d+(\.\d+)?$)")


def take_away(
    title: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]], n_rows: int | None = None
) -> dict[str, Any]:
    """The first rows of a table as far as there is room, and how many there are in all.

    `n_rows` says how many there are where `rows` are made one by one, or are not all of them.
    """
    kept: list[list[Any]] = []
    letters = 0
    n_all = len(rows) if n_rows is None and isinstance(rows, Sized) else n_rows
    for row in rows:
        if letters > MOST_LETTERS or len(kept) == MOST_ROWS:
            break
        cells = [cell(row[column]) for column in columns]
        kept.append(cells)
        letters += sum(len(str(value)) + 1 for value in cells)
    return {"title": title, "columns": list(columns), "rows": kept, "n_rows": n_all}


def cell(value: Any) -> Any:
    """A number with few digits, or a name; nothing where a number is not defined."""
    value = plain(value)
    if isinstance(value, float):
        return float(f"{value:.6g}")
    return value if value is None or isinstance(value, int) else name_of(value, LONGEST)


def as_csv(found: Mapping[str, Any]) -> str:
    r"""A list as CSV.

    Examples
    --------
    >>> found = take_away("items", ["item", "conflict"], [{"item": "=1+1", "conflict": 0.5}])
    >>> as_csv(found)
    "item,conflict\r\n'=1+1,0.5\r\n"
    """
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(found["columns"])
    for row in found["rows"]:
        writer.writerow([harmless(value) for value in row])
    return file.getvalue()


def harmless(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula.

    Examples
    --------
    >>> harmless("-x"), harmless("-5"), harmless(-0.5), harmless("a")
    ("'-x", '-5', '-0.5', 'a')
    """
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:g}"
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def address(found: Mapping[str, Any]) -> str:
    """A list as an address that holds all of it."""
    content = base64.b64encode(as_csv(found).encode("utf-8")).decode("ascii")
    return f"data:text/csv;charset=utf-8;base64,{content}"


def file_name(found: Mapping[str, Any]) -> str:
    """What the file is called that a list becomes.

    Examples
    --------
    >>> file_name({"title": "items to ask again"})
    'items_to_ask_again.csv'
    """
    return re.sub(r"\W+", "_", str(found["title"])) + ".csv"
