"""Where the records of a CSV file begin and end; only looked at when an error has to name a line.

A cell is quoted if it begins with a quote; it ends with a quote that is not doubled, and may hold
line ends. Empty lines are no records.
"""

from collections.abc import Iterator
from typing import NamedTuple, TextIO


class Record(NamedTuple):
    """Where a record begins, how many cells it has, and whether it is whole.

    line : on which it begins
    n_cells : number of cells
    is_utf8 : whether all of it could be decoded
    is_closed : whether its quotes are closed
    """

    line: int
    n_cells: int
    is_utf8: bool
    is_closed: bool


def records(file: TextIO, delimiter: str) -> Iterator[Record]:
    """The records of a text that was decoded with errors="replace", the header first."""
    begin, n_cells, good, inside = 0, 1, True, False
    for number, line in enumerate(file, 1):
        if not inside:
            begin, n_cells, good = number, 1, True
        inside, n_more = _scan(line, inside, delimiter)
        n_cells += n_more
        good = good and "\ufffd" not in line
        if not inside and (begin < number or line.strip("\r\n")):
            yield Record(begin, n_cells, good, True)
    if inside:
        yield Record(begin, n_cells, good, False)


def _scan(line: str, inside: bool, delimiter: str) -> tuple[bool, int]:
    """Whether a line ends within quotes, and how many delimiters it has outside of them.

    `inside` says whether it begins within quotes, or else at the start of a cell.
    """
    at, at_start, n_delimiters = 0, not inside, 0
    while True:
        if inside:
            at = line.find('"', at) + 1
            if not at:
                return True, n_delimiters
            if line.startswith('"', at):
                at += 1
            else:
                inside = at_start = False
        elif at_start and line.startswith('"', at):
            inside, at = True, at + 1
        else:
            at = line.find(delimiter, at) + 1
            if not at:
                return False, n_delimiters
            at_start = True
            n_delimiters += 1
