"""What a column holds: numbers, dates or categories, or nothing that a model can learn from.

A column of text is a column of categories unless nearly every cell differs: such text (a comment, a
name) would become as many columns as there are rows.
"""

import re
from datetime import UTC, date, datetime
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.models.preparation.dates import AMBIGUOUS, DAY, EPOCH, days_of_array, way_of

NUMBER, CATEGORY, DATE, LEFT_OUT = "number", "category", "date", "left out"
KINDS = (NUMBER, CATEGORY, DATE, LEFT_OUT)
FEW = 20  # categories that may be as many as half of the rows
LEAST_ROWS = 5  # below, whole numbers that differ in each row say nothing about a column
WORDS_OF_IDS = {"id", "ids", "idx", "index", "item", "key", "nr", "row", "task", "uid", "uuid"}
NO_MORE_THAN = 0.05  # share of gaps in a column that says nothing else


class Column(NamedTuple):
    """A column in one of three forms, of which the other two are None.

    Attributes
    ----------
    numbers : float array (n,), NaN in gaps
    days : the same for dates
    text : object array (n,) of text, "" in gaps

    Examples
    --------
    >>> tidy_column(np.array([1, None, 2.5], dtype=object)).numbers
    array([1. , nan, 2.5])
    >>> tidy_column(np.array(["red", None, 7], dtype=object)).text
    array(['red', '', '7'], dtype=object)
    """

    numbers: NDArray[np.float64] | None = None
    days: NDArray[np.float64] | None = None
    text: NDArray[Any] | None = None

    @property
    def n_missing(self) -> int:
        """How many cells hold nothing."""
        if self.text is not None:
            return int(np.count_nonzero(self.text == ""))
        values = self.days if self.numbers is None else self.numbers
        return int(np.isnan(values).sum()) if values is not None else 0


class Kind(NamedTuple):
    """What a column is taken for, how its dates are written, and why it is left out."""

    kind: str
    way: str = ""
    reason: str = ""


def tidy_column(column: NDArray[Any]) -> Column:
    """A column of any make in one of the three forms.

    Examples
    --------
    >>> tidy_column(np.array(["1970-01-02"], dtype="datetime64[D]")).days
    array([1.])
    """
    if column.dtype.kind in "biuf":
        return Column(numbers=column.astype(np.float64))
    if column.dtype.kind == "m":  # durations, which are seconds
        gone = np.isnat(column)
        seconds = column.astype("timedelta64[ns]").astype(np.float64) / 1e9
        return Column(numbers=np.where(gone, np.nan, seconds))
    if column.dtype.kind == "M":
        return Column(days=days_of_array(column))
    cells = column.tolist()
    gaps = np.array([is_gap(cell) for cell in cells], dtype=bool)
    there = [cell for cell, gap in zip(cells, gaps.tolist(), strict=True) if not gap]
    if all(isinstance(cell, Real | np.bool_) for cell in there):
        return Column(numbers=filled(gaps, [float(cell) for cell in there]))
    if all(isinstance(cell, date) for cell in there):
        return Column(days=filled(gaps, [_days_of_day(cell) for cell in there]))
    text = np.full(len(cells), "", dtype=object)
    text[~gaps] = [as_text(cell) for cell in there]
    return Column(text=text)


def is_gap(cell: Any) -> bool:
    """Whether a cell holds nothing: None, NaN, NaT, pandas.NA, or no letters."""
    if cell is None:
        return True
    if isinstance(cell, str):
        return not cell.strip()
    if type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, float | np.floating) and cell != cell


def filled(gaps: NDArray[np.bool_], values: list[float]) -> NDArray[np.float64]:
    """Values where there are no gaps."""
    column = np.full(len(gaps), np.nan)
    column[~gaps] = values
    return column


def _days_of_day(cell: Any) -> float:
    """Days after the first of January 1970."""
    if isinstance(cell, datetime):
        moment = cell if cell.tzinfo else cell.replace(tzinfo=UTC)
        return (moment - EPOCH).total_seconds() / DAY
    return float((cell - EPOCH.date()).days)


def as_text(cell: Any) -> str:
    """A cell as the name of a category: 1, 1.0 and "1" are one."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def find_kind(column: Column, name: str | None = None) -> Kind:
    """What a column is taken for.

    Examples
    --------
    >>> find_kind(tidy_column(np.array(["red", "blue", "red"], dtype=object)))
    Kind(kind='category', way='', reason='')
    >>> find_kind(tidy_column(np.array([3.0, 3.0]))).reason
    'always 3'
    >>> find_kind(tidy_column(np.arange(5)), "photo_id").reason
    'it names the rows'
    """
    if column.text is not None:
        return _kind_of_text(column.text)
    values = column.days if column.numbers is None else column.numbers
    assert values is not None
    there = values[~np.isnan(values)]
    if not len(there):
        return Kind(LEFT_OUT, reason="empty")
    n_gaps = len(values) - len(there)
    if len(values) > 1 and (there == there[0]).all() and n_gaps <= NO_MORE_THAN * len(values):
        reason = f"always {there[0]:g}" if column.days is None else "always the same day"
        return Kind(LEFT_OUT, reason=reason)
    if column.days is not None:
        return Kind(DATE)
    if name is not None and (is_row_name(name) or (says_id(name) and names_rows(values))):
        return Kind(LEFT_OUT, reason="it names the rows")
    return Kind(NUMBER)


def _kind_of_text(text: NDArray[Any]) -> Kind:
    """What a column of text is taken for."""
    names = set(text.tolist())
    there = names - {""}
    n_there = int(np.count_nonzero(text != ""))
    if not there:
        return Kind(LEFT_OUT, reason="empty")
    if len(names) == 1 and len(text) > 1:
        return Kind(LEFT_OUT, reason=f"always {next(iter(there))!r}")
    way = way_of(there)
    if way == AMBIGUOUS:
        return Kind(LEFT_OUT, reason=f"{AMBIGUOUS} ({next(iter(sorted(there)))!r})")
    if way is not None:
        return Kind(DATE, way)
    if len(there) > 2 and (len(there) == n_there or len(there) > max(FEW, n_there / 2)):
        return Kind(
            LEFT_OUT, reason=f"text that differs in nearly every row ({len(there)} of {n_there})"
        )
    return Kind(CATEGORY)


def says_id(name: str) -> bool:
    """Whether the name of a column says that it names the rows: ``id``, ``photo_id``, ``PhotoID``.

    Examples
    --------
    >>> [says_id(name) for name in ("ID", "photo_id", "PhotoId", "Nr.", "width", "acid")]
    [True, True, True, True, False, False]
    """
    apart = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    words = re.findall(r"[^\W_]+", apart.lower())
    if not words:
        return False
    return words[-1] in WORDS_OF_IDS or words[0] in ("id", "nr", "unnamed")


def is_row_name(name: str) -> bool:
    """Whether a column is that of row names, as R and pandas write them without a name.

    Examples
    --------
    >>> [is_row_name(name) for name in ("unnamed", "Unnamed: 0", "Unnamed: 3", "row")]
    [True, True, False, False]
    """
    return name.lower() in ("unnamed", "unnamed: 0")


def names_rows(values: NDArray[np.float64]) -> bool:
    """Whether numbers are whole and differ in each of several rows."""
    is_whole = bool(np.isfinite(values).all() and (values == np.floor(values)).all())
    return is_whole and len(values) >= LEAST_ROWS and len(np.unique(values)) == len(values)
