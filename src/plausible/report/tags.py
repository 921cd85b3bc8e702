"""HTML from Python: whatever is not markup already is escaped, so that names stay names."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

VOID = ("meta", "link", "br")


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def safe(child: Any) -> Markup:
    """Markup as it is, everything else escaped.

    Examples
    --------
    >>> str(safe("<b>"))
    '&lt;b&gt;'
    """
    return child if isinstance(child, Markup) else Markup(escape(str(child)))


def tag(element: str, *children: Any, **attributes: Any) -> Markup:
    """An element; ``aria_label`` is the attribute aria-label, ``class_`` is class.

    Examples
    --------
    >>> print(tag("p", "a < b", class_="note"))
    <p class="note">a &lt; b</p>
    """
    names = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    said = "".join(f' {name}="{escape(str(value))}"' for name, value in names.items())
    if element in VOID:
        return Markup(f"<{element}{said}>")
    return Markup(f"<{element}{said}>{join(children)}</{element}>")


def join(children: Iterable[Any]) -> Markup:
    """Children one after the other, escaped where need be."""
    return Markup("".join(map(safe, children)))


def name(text: str) -> Markup:
    """A name that people gave, kept from turning the letters around it."""
    return tag("bdi", text)


def number(value: float | None, digits: int = 2) -> str:
    """A number in words; a dash where it is not defined.

    Examples
    --------
    >>> number(0.456), number(12345), number(None)
    ('0.46', '12,345', '-')
    """
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.{digits}f}"


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


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> Markup:
    """A table whose first column names the rows; heads that end in "|" are of wide cells."""
    head = tag("tr", *map(_head, heads))
    body = [
        tag(
            "tr",
            tag("th", row[0], scope="row"),
            *(tag("td", cell, **_cell(cell)) for cell in row[1:]),
        )
        for row in rows
    ]
    whole = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *body))
    return tag("div", whole, class_="scroll", role="region", aria_label=caption, tabindex="0")


def _head(text: str) -> Markup:
    wide = {"class_": "wide"} if text.endswith("|") else {}
    words = text.rstrip("|")
    return tag("th", words, scope="col", **wide) if words else tag("td", **wide)


def _cell(cell: Any) -> dict[str, str]:
    """Numbers stay on one line, with digits of equal width."""
    text = str(cell)
    is_number = not isinstance(cell, Markup) and text[:1] in "0123456789-<>"
    return {"class_": "number"} if is_number and text[:1] else {}


def folded(summary: str, content: Markup) -> Markup:
    """Content that opens at a click, without scripts."""
    return tag("details", tag("summary", summary), content)
