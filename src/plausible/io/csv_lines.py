"""Where the records of a CSV file begin and end; only looked at when an error has to name a line.

A cell is quoted if it begins with a quote; it ends with a quote that is not doubled, and may hold
line ends. Empty lines are no records.
"""

from collections.abc import Iterator
from typing import NamedTuple, TextIO


class Record(NamedTuple):
    """The line on which a record begins, whether it is UTF-8, and whether its quotes are closed."""

    line: int
    is_utf8: bool
    is_closed: bool


def records(file: TextIO, delimiter: str) -> Iterator[Record]:
    """The records of a text that was decoded with errors="replace", the header first."""
    begin, good, inside = 0, True, False
    for number, line in enumerate(file, 1):
        if not inside:
            begin, good = number, True
        inside = ends_inside(line, inside, delimiter)
        good = good and "\ufffd" not in line
        if not inside and (begin < number or line.strip("\r\n")):
            yield Record(begin, good, True)
    if inside:
        yield Record(begin, good, False)


def ends_inside(line: str, inside: bool, delimiter: str) -> bool:
    """Whether a line ends within quotes, if it began within them or at the start of a cell."""
    at, at_start = 0, not inside
    while True:
        if inside:
            at = line.find('"', at) + 1
            if not at:
                return True
            if line.startswith('"', at):
                at += 1
            else:
                inside = at_start = False
        elif at_start and line.startswith('"', at):
            inside, at = True, at + 1
        else:
            at = line.find(delimiter, at) + 1
            if not at:
                return False
            at_start = True
