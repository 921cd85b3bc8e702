"""Mermaid's ``flowchart TD`` with plain arrows, drawn as SVG when the site is built.

The drawings of `docs/draw_imports.py` need no more than ``a --> b``; a page that shows them needs
no script then. Nodes stand on levels (a node is above all that it points to), and the order within
a level follows the middle of a node's neighbors.
"""

import re
from itertools import pairwise
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


def by_way_points(arrows: Arrows) -> tuple[list[list[str]], list[list[str]]]:
    """Levels with a point on each level that an arrow passes, and the points of each arrow."""
    levels = levels_of(arrows)
    depth = {name: k for k, level in enumerate(levels) for name in level}
    routes = []
    for start, end in arrows:
        passed = range(depth[start] + 1, depth[end])
        points = [f"{start}>{end}>{k}" for k in passed]
        for k, point in zip(passed, points, strict=True):
            levels[k].append(point)
        routes.append([start, *points, end])
    return levels, routes


def width_of(name: str) -> int:
    """Room that a box needs, or a point that an arrow passes."""
    return GAP if ">" in name else WIDTH + GAP


def places(levels: list[list[str]], routes: list[list[str]]) -> dict[str, tuple[float, float]]:
    """Middle of each node: levels centered, each in the order of its neighbors above."""
    above: dict[str, list[str]] = {}
    for route in routes:
        for upper, lower in pairwise(route):
            above.setdefault(lower, []).append(upper)
    place: dict[str, tuple[float, float]] = {}
    for depth, level in enumerate(levels):
        wish = {
            name: (sum(place[up][0] for up in ups) / len(ups) if (ups := above.get(name)) else 0.0)
            for name in level
        }
        x = -sum(map(width_of, level)) / 2
        for name in sorted(level, key=lambda name: (wish[name], name)):
            x += width_of(name)
            place[name] = (x - width_of(name) / 2, depth * (HEIGHT + RISE) + HEIGHT / 2 + 2)
    return place


def curve(points: list[tuple[float, float]]) -> str:
    """A path from the edge of the first box, through points, to the edge of the last."""
    (x, y), *passed, (x_end, y_end) = points
    path, y = f"M{x:.0f} {y + HEIGHT / 2:.0f}", y + HEIGHT / 2
    stops = [(at, top, HEIGHT) for at, top in passed] + [(x_end, y_end - 5, 0)]
    for at, middle, straight in stops:
        top = middle - HEIGHT / 2
        bend = (top - y) / 2
        path += f"C{x:.0f} {y + bend:.0f} {at:.0f} {top - bend:.0f} {at:.0f} {top:.0f}"
        path += f"v{straight}" if straight else ""
        x, y = at, top + straight
    return path


def as_svg(text: str) -> str:
    """The flowchart as an SVG element that follows the colors of the page."""
    arrows = arrows_of(text)
    levels, routes = by_way_points(arrows)
    place = places(levels, routes)
    half = max(abs(x) + width_of(name) / 2 for name, (x, _) in place.items())
    bottom = max(y for _, y in place.values()) + HEIGHT / 2 + 4
    lines = [
        f'<path d="{curve([place[name] for name in route])}" marker-end="url(#tip)"/>'
        for route in routes
    ]
    boxes = [
        f'<rect x="{x - WIDTH / 2:.0f}" y="{y - HEIGHT / 2:.0f}" width="{WIDTH}" height="{HEIGHT}"'
        f' rx="7"/><text x="{x:.0f}" y="{y + 5:.0f}">{name}</text>'
        for name, (x, y) in place.items()
        if ">" not in name
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
