"""Numbers, tables and lists of the page; elements and escaping are those of `plausible._html`."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from plausible._html import Markup as Markup
from plausible._html import commas as commas
from plausible._html import join as join
from plausible._html import name as name
from plausible._html import safe as safe
from plausible._html import tag as tag
from plausible.report.lists import address, file_name

MOST_ON_ONE_SHEET = 15  # rows of a table that is not cut between sheets of paper
_FIGURE = r"-?[\d,.]+(e[+-]\d+)?"
_NUMBER = re.compile(rf"[<>]?{_FIGURE}( %| to {_FIGURE})?|-|")


def number(value: float | None, digits: int = 2) -> str:
    """A number in words; a dash where it is not defined.

    Examples
    --------
    >>> number(0.456), number(12345), number(None)
    ('0.46', '12,345', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{round(value, digits) + 0.0:,.{digits}f}"  # without a sign before zero


def amount(value: float) -> str:
    """An expected count: whole if it is.

    Examples
    --------
    >>> amount(1200.0), amount(3.25)
    ('1,200', '3.2')
    """
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-6 else f"{value:,.1f}"


def rounded(value: float | None) -> str:
    """A measured number with four digits; a dash where it is not defined.

    Examples
    --------
    >>> rounded(0.123456), rounded(-1234567.0), rounded(1250.0), rounded(None)
    ('0.1235', '-1.235e+06', '1,250', '-')
    """
    if value is None:
        return "-"
    return f"{value:,.0f}" if 1000 <= abs(value) < 100_000 else f"{value:.4g}"


def percent(part: float, whole: float) -> str:
    """A share of a whole.

    Examples
    --------
    >>> percent(1, 3), percent(1, 10000)
    ('33 %', '<1 %')
    """
    share = 100 * part / whole if whole else 0.0
    if 0 < share < 1:
        return "<1 %"
    return ">99 %" if 99 < share < 100 else f"{share:.0f} %"


def count(n: int, what: str) -> str:
    """So many of something.

    Examples
    --------
    >>> count(1, "annotator"), count(2000, "annotator"), count(2, "class")
    ('1 annotator', '2,000 annotators', '2 classes')
    """
    ending = "" if n == 1 else "es" if what.endswith("s") else "s"
    return f"{n:,} {what}{ending}"


def table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[Any]],
    note: str = "",
    kind: str = "",
) -> Markup:
    """A table whose first column names the rows; heads that end in "|" are of wide cells.

    On narrow screens, rows of the kind "stack" take two lines, and tables of the kind "broad" lose
    their pictures, whose numbers stand beside them.
    """
    listed = [[*row] for row in rows]
    columns = [[row[place] for row in listed] for place in range(len(heads))]
    kinds = [{}, *(_kind(head, cells) for head, cells in zip(heads[1:], columns[1:], strict=True))]
    head = tag("tr", *(_head(text, shape) for text, shape in zip(heads, kinds, strict=True)))
    body = [
        tag(
            "tr",
            tag("th", row[0], scope="row"),
            *(tag("td", cell, **shape) for cell, shape in zip(row[1:], kinds[1:], strict=True)),
        )
        for row in listed
    ]
    words = [tag("b", caption), *([" ", tag("span", note)] if note else [])]
    whole = tag("table", tag("caption", *words), tag("thead", head), tag("tbody", *body))
    short = "short" if len(listed) <= MOST_ON_ONE_SHEET and "stack" not in kind else ""
    shape = " ".join(filter(None, ("scroll", kind, short)))
    return tag("div", whole, class_=shape, role="region", aria_label=caption, tabindex="0")


def _kind(head: str, cells: list[Any]) -> dict[str, str]:
    """Numbers stand one under the other, on one line, with digits of equal width."""
    if head.endswith("|") and not isinstance(head, Markup):
        return {"class_": "wide"}
    is_number = [not isinstance(cell, Markup) and _NUMBER.fullmatch(str(cell)) for cell in cells]
    return {"class_": "number"} if cells and all(is_number) else {}


def _head(text: str, kind: dict[str, str]) -> Markup:
    words = text if isinstance(text, Markup) else text.rstrip("|")
    return tag("th", words, scope="col", **kind) if words else tag("td", **kind)


def item(row: dict[str, Any]) -> Markup:
    """The name of an item, with its text and its picture where they are known."""
    told = row.get("content")
    if not told:
        return name(row["item"])
    parts = [name(row["item"])]
    if "picture" in told:
        parts.append(tag("img", src=told["picture"], alt="", class_="item-picture"))
    if "text" in told:
        parts.append(tag("span", name(told["text"]), class_="item-text"))
    if "address" in told:
        away = {"href": told["address"], "rel": "noopener noreferrer", "target": "_blank"}
        parts.append(tag("a", "picture on the web", **away, class_="item-text"))
    if "note" in told:
        parts.append(tag("span", name(told["note"]), class_="item-text"))
    return join(parts)


def download(found: dict[str, Any], what: str) -> list[Markup]:
    """A link that saves a list of some things as CSV; nothing if the list is empty."""
    n_here, n_all = len(found["rows"]), found["n_rows"]
    if not n_here:
        return []
    which = (
        f"all {n_all:,} {what}" if n_here == n_all else f"the first {n_here:,} of {n_all:,} {what}"
    )
    which = "this list" if n_all == 1 else which
    link = tag("a", f"Save {which} as CSV", href=address(found), download=file_name(found))
    return [tag("p", link, class_="take")]


def folded(summary: str, content: Markup, kind: str = "") -> Markup:
    """Content that opens at a click, without scripts; of the kind "more", paper has it as well."""
    shape = {"class_": kind} if kind else {}
    return tag("details", tag("summary", summary), content, **shape)
