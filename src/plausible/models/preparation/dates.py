"""Dates in text: which way they are written, and how many days they are after 1970.

Dates with slashes may have the day or the month first. They are read where some cell leaves only
one way (13/02/2024), and not at all where no cell does.
"""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime

import numpy as np

ISO, DAY_FIRST, MONTH_FIRST = "year first", "day first", "month first"
WRITTEN = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?")
DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 86400.0
AMBIGUOUS = "dates whose day or month may be first; write them as 2024-12-31"


def way_of(cells: Iterable[str]) -> str | None:
    """The way in which all cells are dates; None if they are not, `AMBIGUOUS` if it is not clear.

    Examples
    --------
    >>> way_of(["2024-12-31", "2024-01-02 10:30"]), way_of(["31.12.2024"]), way_of(["red"])
    ('year first', 'day first', None)
    >>> way_of(["12/31/2024", "01/02/2024"]), way_of(["01/02/2024"]) == AMBIGUOUS
    ('month first', True)
    """
    given = [cell.strip() for cell in cells]
    if not given:
        return None
    ways = [ISO] if WRITTEN.fullmatch(given[0]) else [DAY_FIRST]
    if SLASHED.fullmatch(given[0]):
        ways = [DAY_FIRST, MONTH_FIRST]
    fitting = [way for way in ways if all(days_of(cell, way) is not None for cell in given)]
    if len(fitting) == 2:
        swapped = all(days_of(cell, ways[0]) == days_of(cell, ways[1]) for cell in given)
        return DAY_FIRST if swapped else AMBIGUOUS
    return fitting[0] if fitting else None


def days_of(cell: str, way: str) -> float | None:
    """Days after the first of January 1970; None if the cell is no date in this way.

    Examples
    --------
    >>> days_of("1970-01-03 12:00", ISO), days_of("2/1/1970", MONTH_FIRST)
    (2.5, 31.0)
    """
    try:
        if way == ISO:
            if not WRITTEN.fullmatch(cell.strip()):
                return None
            moment = datetime.fromisoformat(cell.strip().replace(",", "."))
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return (moment - EPOCH).total_seconds() / DAY
        parts = DOTTED.fullmatch(cell.strip()) if way == DAY_FIRST else None
        parts = parts or SLASHED.fullmatch(cell.strip())
        if parts is None:
            return None
        first, second, year = map(int, parts.groups())
        day, month = (first, second) if way == DAY_FIRST else (second, first)
        return float((date(year, month, day) - EPOCH.date()).days)
    except (ValueError, OverflowError):  # in no calendar
        return None


def days_of_array(column: np.ndarray) -> np.ndarray:
    """Days of a column of numpy's dates, NaN where there is none.

    Examples
    --------
    >>> days_of_array(np.array(["1970-01-02", "NaT"], dtype="datetime64[D]"))
    array([ 1., nan])
    """
    seconds = column.astype("datetime64[ms]")
    days = seconds.astype(np.int64) / (DAY * 1000)
    return np.where(np.isnat(seconds), np.nan, days)
