"""Mermaid's ``flowchart TD`` with plain arrows, drawn as SVG when the site is built.

The drawings of `docs/draw_imports.py` need no more than ``a --> b``; a page that shows them needs
no script then. Nodes stand on levels (a node is above all that it points to), and the order within
a level follows the middle of a node's neighbors.
"""

import re
from typing import Any

Arrows = list[tuple[str, str]]
WIDTH, HEIGHT, GAP, RISE = 108, 34, 16, 40


def arrows_of(text: str) -> Arrows:
    r"""Arrows of a flowchart, in order.

    >>> arrows_of("flowchart TD\n    a --> b\n    b --> c")
    [('a', 'b'), ('b', 'c')]
    """
    return re.findall(r"^\s*(\w+) --> (\w+)\s*$", text, re.MULTILINE)


def levels_of(arrows: Arrows) -> list[list[str]]:
    """Names by level, from the top; those that nothing points to at the top.

    >>> levels_of([("a", "b"), ("b", "c"), ("a", "c"), ("d", "c")])
    [['a'], ['b', 'd'], ['c']]
    """
    below: dict[str, set[str]] = {}
    for start, end in arrows:
        below.setdefault(start, set()).add(end)
        below.setdefault(end, set())
    height: dict[str, int] = {}

    def height_of(name: str) -> int:
        if name not in height:
            height[name] = 1 + max(map(height_of, below[name]), default=-1)
        return height[name]

    top = max(map(height_of, below), default=-1)
    return [sorted(name for name in below if height[name] == top - k) for k in range(top + 1)]


def places(arrows: Arrows) -> dict[str, tuple[float, float]]:
    """Middle of each node: levels centered, each in the order of its neighbors above."""
    levels = levels_of(arrows)
    x: dict[str, float] = {}
    place = {}
    for depth, level in enumerate(levels):
        wish = {}
        for position, name in enumerate(level):
            above = [x[start] for start, end in arrows if end == name and start in x]
            wish[name] = (sum(above) / len(above) if above else float(position), position)
        width = len(level) * (WIDTH + GAP)
        for position, name in enumerate(sorted(level, key=lambda name: wish[name])):
            x[name] = (position + 0.5) * (WIDTH + GAP) - width / 2
            place[name] = (x[name], depth * (HEIGHT + RISE) + HEIGHT / 2 + 2)
    return place


def as_svg(text: str) -> str:
    """The flowchart as an SVG element that follows the colors of the page."""
    arrows = arrows_of(text)
    place = places(arrows)
    half = max(abs(x) for x, _ in place.values()) + WIDTH / 2 + 4
    bottom = max(y for _, y in place.values()) + HEIGHT / 2 + 4
    lines = []
    for start, end in arrows:
        (x0, y0), (x1, y1) = place[start], place[end]
        y0, y1 = y0 + HEIGHT / 2, y1 - HEIGHT / 2 - 5
        bend = (y1 - y0) / 2
        lines.append(
            f'<path d="M{x0:.0f} {y0:.0f}C{x0:.0f} {y0 + bend:.0f} {x1:.0f} {y1 - bend:.0f}'
            f' {x1:.0f} {y1:.0f}" marker-end="url(#tip)"/>'
        )
    boxes = [
        f'<rect x="{x - WIDTH / 2:.0f}" y="{y - HEIGHT / 2:.0f}" width="{WIDTH}" height="{HEIGHT}"'
        f' rx="7"/><text x="{x:.0f}" y="{y + 5:.0f}">{name}</text>'
        for name, (x, y) in place.items()
    ]
    said = "; ".join(f"{start} imports {end}" for start, end in arrows)
    return (
        f'<svg class="flowchart" role="img" aria-label="{said}"'
        f' viewBox="{-half:.0f} 0 {2 * half:.0f} {bottom:.0f}" style="max-width:{2 * half:.0f}px">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7"'
        ' markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>'
        f"{''.join(lines)}{''.join(boxes)}</svg>"
    )


def draw(app: Any, document: Any) -> None:
    """Put drawings in the place of Mermaid's blocks."""
    from docutils import nodes

    for block in list(document.findall(nodes.literal_block)):
        if block.get("language") == "mermaid":
            block.replace_self(nodes.raw("", as_svg(block.astext()), format="html"))


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("doctree-read", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
