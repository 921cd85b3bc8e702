"""HTML from Python: whatever is not markup already is escaped, so that names stay names.

And the small pages that notebooks show of our objects. They take the colors of the text around
them, so that they are light or dark as the notebook is; where a notebook leaves out styles, they
are plain tables. There are no scripts, and nothing is loaded.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from plausible._visible import name_of

VOID = ("meta", "link", "br", "img")
LONGEST = 40  # letters of a name in a notebook
COLORS = ("#2b7fc4", "#d9691e", "#12976f", "#b86a97")  # on white and on black
GRAY = "#8c8c8c80"

STYLE = """
.plausible-html.plausible-html{color:inherit;font:inherit;line-height:1.45;max-width:56rem;
margin:.3em 0}
.plausible-html.plausible-html p{margin:.25em 0;font-size:.95em}
.plausible-html.plausible-html .ph-quiet{opacity:.72}
.plausible-html.plausible-html .ph-scroll{overflow-x:auto;max-width:100%}
.plausible-html.plausible-html table{border-collapse:collapse;border:0;margin:.4em 0;
font-size:.9em;color:inherit;background:none;table-layout:auto;width:auto}
.plausible-html.plausible-html tr:nth-child(n){background:none}
.plausible-html.plausible-html :is(th,td){border:0;border-bottom:1px solid #8885;
padding:.28em 1em .28em 0;text-align:left;vertical-align:top;white-space:normal;max-width:34em;
background:none;color:inherit}
.plausible-html.plausible-html th{max-width:18em}
.plausible-html.plausible-html thead th{font-weight:600;opacity:.72;vertical-align:bottom}
.plausible-html.plausible-html tbody th{font-weight:500}
.plausible-html.plausible-html .ph-number{text-align:right;font-variant-numeric:tabular-nums;
white-space:nowrap}
.plausible-html.plausible-html bdi{overflow-wrap:anywhere}
.plausible-html.plausible-html .ph-track{display:block;position:relative;height:.36em;
min-width:4.5em;margin:.28em 0 .1em;border-radius:.18em;background:#8883}
.plausible-html.plausible-html .ph-track i{position:absolute;top:0;bottom:0;border-radius:.18em;
background:#2b7fc4}
.plausible-html.plausible-html .ph-track i.ph-soft{background:#2b7fc480}
.plausible-html.plausible-html .ph-track i.ph-mark{top:-.14em;bottom:-.14em;border-radius:0;
background:currentColor}
.plausible-html.plausible-html .ph-strip{display:flex;height:.6em;max-width:30em;margin:.35em 0;
border-radius:.2em;overflow:hidden;background:#8883}
.plausible-html.plausible-html .ph-key{display:inline-block;width:.7em;height:.7em;
margin:0 .35em 0 0;border-radius:.15em}
.plausible-html.plausible-html .ph-keys span{margin-right:1.1em;white-space:nowrap}
"""


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


def commas(parts: Iterable[Any]) -> Markup:
    """Parts with commas between them.

    Examples
    --------
    >>> str(commas([name("ann"), "bob"]))
    '<bdi>ann</bdi>, bob'
    """
    return Markup(", ".join(map(safe, parts)))


def name(text: str) -> Markup:
    """A name that people gave, kept from turning the letters around it."""
    return tag("bdi", text)


# What notebooks show.


def short_name(value: Any) -> Markup:
    """A name that people gave, with hidden letters written out, and cut."""
    return name(name_of(value, LONGEST))


def some_names(values: Sequence[Any], most: int) -> Markup:
    """The first names, and how many there are beside them.

    Examples
    --------
    >>> str(some_names(["a", "b", "c"], 2))
    '<bdi>a</bdi>, <bdi>b</bdi>, and 1 more'
    """
    left = len(values) - most
    shown = [short_name(value) for value in values[:most]]
    return commas([*shown, f"and {left:,} more"] if left > 0 else shown)


def number_of(count: int, thing: str, things: str = "") -> str:
    """So many of something.

    Examples
    --------
    >>> number_of(1, "item"), number_of(3000, "class", "classes")
    ('1 item', '3,000 classes')
    """
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def degree(value: float) -> str:
    """A degree in [0, 1] in few letters.

    Examples
    --------
    >>> degree(0.25), degree(1.0), degree(0.0004), degree(float("nan"))
    ('0.25', '1', '<0.01', '-')
    """
    if value != value:
        return "-"
    if 0 < value < 0.005:
        return "<0.01"
    return f"{value:.2f}".rstrip("0").rstrip(".")


def track(*parts: tuple[float, float, str]) -> Markup:
    """A bar from 0 to 1 with parts of it filled: where they begin and end, and of which kind."""
    drawn = []
    for start, end, kind in parts:
        low, high = (100 * min(max(float(end_), 0.0), 1.0) for end_ in (start, end))
        if kind == "mark":
            low, high = min(low, 99.0), min(low, 99.0) + 1.0
        style = f"left:{low:.4g}%;width:{max(high - low, 0.0):.4g}%"
        drawn.append(tag("i", style=style, **({"class_": f"ph-{kind}"} if kind else {})))
    return tag("span", *drawn, class_="ph-track", aria_hidden="true")


def meter(value: float, words: str | None = None) -> Markup:
    """A degree with its bar under it."""
    return join([degree(value) if words is None else words, track((0.0, value, ""))])


def strip(counts: Sequence[tuple[str, float]]) -> Markup:
    """Parts of a whole side by side, with their names and numbers under them; the last is gray."""
    total = sum(count for _, count in counts) or 1.0
    colors = [*COLORS[: len(counts) - 1], GRAY]
    every = [(*one, color) for one, color in zip(counts, colors, strict=True)]
    here = [one for one in every if one[1] > 0]
    drawn = [
        tag("i", style=f"width:{100 * count / total:.4g}%;background:{color}")
        for _, count, color in here
    ]
    keys = [
        tag("span", tag("i", class_="ph-key", style=f"background:{color}"), f"{count:,.6g} {words}")
        for words, count, color in here
    ]
    bar = tag("div", *drawn, class_="ph-strip", aria_hidden="true")
    return join([bar, tag("p", *keys, class_="ph-keys")])


def rows_of(
    heads: Sequence[Any], rows: Iterable[Sequence[Any]], numbers: Sequence[int] = ()
) -> Markup:
    """A table whose first column names the rows; some columns hold numbers."""

    def shape(place: int) -> dict[str, str]:
        return {"class_": "ph-number"} if place in numbers else {}

    head = [tag("th", text, scope="col", **shape(k)) for k, text in enumerate(heads)]
    body = [
        tag(
            "tr",
            tag("th", row[0], scope="row"),
            *(tag("td", cell, **shape(k)) for k, cell in enumerate(row[1:], 1)),
        )
        for row in rows
    ]
    table = tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body))
    return tag("div", table, class_="ph-scroll")


def left_out(count: int, thing: str, things: str = "") -> Markup:
    """How many more there are; nothing if all are shown."""
    if count <= 0:
        return Markup("")
    words = thing if count == 1 else things or f"{thing}s"
    return tag("p", f"{count:,} more {words}", class_="ph-quiet")


def notebook_page(kind: str, facts: Any, *body: Markup) -> str:
    """What a notebook shows: a title with facts, and parts under it."""
    title = tag("p", tag("b", kind), " ", tag("span", facts, class_="ph-quiet"))
    style = Markup(f"<style>{STYLE}</style>")
    return str(tag("div", style, title, *body, class_="plausible-html"))
