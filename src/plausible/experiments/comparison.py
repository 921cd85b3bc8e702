"""What a paper says beside what we found: claims, rows and tables, in plain text.

Nothing here computes, and nothing beyond the standard library is imported, so that results can be
listed at once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Results = dict[str, Any]
Claim = dict[str, Any]

VERDICTS = {True: "holds", False: "DOES NOT HOLD", None: "open: intervals reach 0"}
ASKED = "asked: "
HEAD = ["quantity", "paper", "ours", "difference", "verdict"]


def claim(
    text: str,
    holds: bool | None,
    ours: str,
    required: bool = False,
    figure: str = "",
    asked: bool = False,
) -> Claim:
    """One claim in words and whether it held in this run; None where the run cannot tell.

    Parameters
    ----------
    text : str
        What is said, after ``"where: "`` if it is about a part only.
    holds : bool or None
    ours : str
        What we found.
    required : bool
        Whether we hold ourselves to it.
    figure : str
        Id in the catalogue; by default the first one of the experiment.
    asked : bool
        Whether no paper says so, and we only ask.

    Examples
    --------
    >>> claim("N = 2000: soft labels win", True, "by 0.012")["quantity"]
    'N = 2000'
    """
    where, colon, words = text.partition(": ")
    said = words if colon else text
    return {
        "figure": figure,
        "quantity": where if colon else "",
        "paper": f"{ASKED}{said}" if asked else said,
        "ours": ours,
        "difference": "",
        "holds": None if holds is None else bool(holds),
        "required": required,
    }


def printed(
    quantity: str,
    paper: float,
    ours: float,
    within: float,
    digits: int,
    required: bool = False,
    figure: str = "",
) -> Claim:
    """One number that a paper prints, beside ours; it holds if they differ by `within` at most.

    Examples
    --------
    >>> row = printed("correlation", 0.8378, 0.8321, within=0.03, digits=4)
    >>> row["quantity"], row["difference"], row["holds"]
    ('correlation (within 0.03)', '-0.0057', True)
    """
    shown = round(ours - paper, digits) + 0.0  # no negative zero
    return {
        "figure": figure,
        "quantity": f"{quantity} (within {within:g})",
        "paper": f"{paper:.{digits}f}",
        "ours": f"{ours:.{digits}f}",
        "difference": f"{shown:+.{digits}f}",
        "holds": bool(abs(ours - paper) <= within),
        "required": required,
    }


@dataclass(frozen=True)
class Row:
    """One comparison of a run, ready to be printed.

    Attributes
    ----------
    figure : str
        Id in the catalogue.
    quantity, paper, ours, difference : str
        The paper's part is a number if it prints one, else what it claims in words.
    holds : bool or None
    required : bool
        Whether we hold ourselves to it.

    Examples
    --------
    >>> Row("f", "error", "0.1", "0.12", "+0.02", False).holds
    False
    """

    figure: str
    quantity: str
    paper: str
    ours: str
    difference: str
    holds: bool | None
    required: bool = False

    @property
    def verdict(self) -> str:
        """In words."""
        return VERDICTS[self.holds] + (" (required)" if self.required else "")

    @property
    def statement(self) -> str:
        """Quantity and what the paper says of it, in one.

        Examples
        --------
        >>> Row("f", "lost", "asked: at least 0.74", "0.758", "", True).statement
        'asked: lost: at least 0.74'
        """
        if not self.quantity:
            return self.paper
        mark = ASKED if self.paper.startswith(ASKED) else ""
        return f"{mark}{self.quantity}: {self.paper.removeprefix(ASKED)}"

    def cells(self) -> list[str]:
        """Cells of a table under `HEAD`."""
        return [self.quantity, self.paper, self.ours, self.difference, self.verdict]


class Table(NamedTuple):
    """A caption, the names of the columns, and rows of cells.

    Examples
    --------
    >>> Table("errors", ["n", "error"], [["10", "0.5"]]).head
    ['n', 'error']
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


def format_table(head: Sequence[str], rows: Iterable[Sequence[str]], aligned: bool = True) -> str:
    """A table in Markdown, with aligned columns for the terminal.

    Examples
    --------
    >>> print(format_table(["a", "b"], [["1", "long"]]))
    | a | b    |
    | - | ---- |
    | 1 | long |
    """
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[j]) for line in lines) if aligned else 0 for j in range(len(head))]
    lines.insert(1, ["-" * (width or 3) for width in widths])
    texts = [
        "".join(f"| {cell.ljust(width)} " for cell, width in zip(line, widths, strict=True)) + "|"
        for line in lines
    ]
    return "\n".join(text if aligned else text.replace("  ", " ") for text in texts)


def format_rows(rows: Iterable[Row], aligned: bool = True) -> str:
    """A table of quantity, paper, ours, difference and verdict.

    Examples
    --------
    >>> print(format_rows([Row("figure-1", "error", "0.10", "0.11", "+0.01", True)]))
    | quantity | paper | ours | difference | verdict |
    | -------- | ----- | ---- | ---------- | ------- |
    | error    | 0.10  | 0.11 | +0.01      | holds   |
    """
    return format_table(HEAD, [row.cells() for row in rows], aligned)


def count_verdicts(rows: Sequence[Row]) -> str:
    """How many of the comparisons hold.

    Examples
    --------
    >>> count_verdicts([Row("f", "", "", "", "", holds) for holds in (True, False, None)])
    '1 of 3 hold, 1 does not, 1 open'
    """
    found = [row.holds for row in rows]
    parts = [f"{found.count(True)} of {len(found)} hold"]
    if n_wrong := found.count(False):
        parts.append(f"{n_wrong} {'does' if n_wrong == 1 else 'do'} not")
    if n_open := found.count(None):
        parts.append(f"{n_open} open")
    return ", ".join(parts)
