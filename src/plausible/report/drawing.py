"""Pictures as SVG: bars for cells of tables, a histogram, and curves.

Colors are those of the page, by the classes of the shapes; no letters but numbers and axes.
"""

from collections.abc import Sequence

from plausible.report.tags import Markup, join, tag

WIDTH, HEIGHT = 360, 220  # about the width of a telephone, so that letters keep their size
LEFT, RIGHT, TOP, BOTTOM = 54, 14, 14, 44  # margins around the data
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)

Points = Sequence[tuple[float, float]]


def bar(share: float, kind: str = "fill") -> Markup:
    """A bar for a cell, `share` of its width; the number stands beside it."""
    return _cell(_box(0, 1, 100, 8, "track"), _box(0, 1, 100 * _unit(share), 8, kind))


def interval(low: float, value: float, high: float, mark: float | None = None) -> Markup:
    """An interval in [0, 1] for a cell, with the value in it, and perhaps a mark beside it."""
    start, end = 100 * _unit(low), 100 * _unit(high)
    shapes = [_box(0, 4.5, 100, 1, "track"), _box(start, 3, max(end - start, 0.5), 4, "soft")]
    if mark is not None:
        shapes.append(_box(100 * _unit(mark) - 0.25, 0, 0.5, 10, "mark"))
    return _cell(*shapes, _box(min(100 * _unit(value), 99) - 0.5, 0.5, 1.5, 9, "fill"))


def spark(counts: Sequence[int]) -> Markup:
    """A small histogram for a cell; the range stands beside it."""
    top, width = max(max(counts, default=0), 1), 100 / max(len(counts), 1)
    bars = [
        _box(k * width, 10 - 10 * n / top, width - 0.8, 10 * n / top, "fill")
        for k, n in enumerate(counts)
        if n
    ]
    return _cell(_box(0, 9.6, 100, 0.4, "track"), *bars, kind="bar spark")


def histogram(
    key: str, title: str, edges: Sequence[float], counts: Sequence[int], x: str
) -> Markup:
    """Bars over equal bins of [0, 1]."""
    top = _nice_top(max(counts, default=0))
    bars = [
        tag("rect", tag("title", f"{low:.2f} to {high:.2f}: {count:,}"), class_="fill",
            x=_round(_x(low) + 0.75), y=_round(_y(count / top)),
            width=_round(_x(high) - _x(low) - 1.5), height=_round(_y(0) - _y(count / top)))
        for low, high, count in zip(edges, edges[1:], counts, strict=False)
    ]  # fmt: skip
    heights = [(share, short(round(share * top))) for share in (0.0, 0.5, 1.0)]
    return _chart(key, title, x, "items", heights, [*bars])


def curve(
    key: str,
    title: str,
    points: Points,
    x: str,
    y: str,
    *,
    dots: Sequence[float] = (),
    diagonal: bool = False,
    base: float = 0.0,
    chosen: tuple[float, float] | None = None,
) -> Markup:
    """A line through points of [0, 1] x [base, 1], with dots of some areas, and a chosen point."""
    places = [(_round(_x(a)), _round(_y((b - base) / (1 - base)))) for a, b in points]
    shapes = []
    if diagonal:
        shapes.append(_line(_x(0), _y(0), _x(1), _y(1), "mark"))
    shapes.append(tag("polyline", class_="line", points=" ".join(f"{a},{b}" for a, b in places)))
    for (a, b), share in zip(places, dots, strict=False):
        shapes.append(tag("circle", class_="dot", cx=a, cy=b, r=_round(2 + 6 * share**0.5)))
    if chosen is not None:
        x_of, y_of = _x(chosen[0]), _y((max(chosen[1], base) - base) / (1 - base))
        shapes.append(_line(x_of, _y(0), x_of, _y(1), "mark"))
        shapes.append(tag("circle", class_="dot chosen", cx=_round(x_of), cy=_round(y_of), r=5.5))
    heights = [(share, f"{base + share * (1 - base):.3g}") for share in TICKS]
    return _chart(key, title, x, y, heights, shapes)


def _nice_top(most: float) -> int:
    """The least 1, 2, 4 or 6 times a power of ten that is not below a count, and even.

    Examples
    --------
    >>> _nice_top(3), _nice_top(57), _nice_top(1234)
    (4, 60, 2000)
    """
    scale = 1
    while True:
        for step in (2, 4, 6, 10):
            if step * scale >= most:
                return step * scale
        scale *= 10


def short(count: int) -> str:
    """A round count in few letters.

    Examples
    --------
    >>> short(500), short(3000), short(200_000), short(10_000_000)
    ('500', '3,000', '200k', '10M')
    """
    if count >= 1_000_000:
        return f"{count / 1_000_000:g}M"
    return f"{count / 1000:g}k" if count >= 10_000 else f"{count:,}"


def _chart(
    key: str, title: str, x: str, y: str, heights: list[tuple[float, str]], shapes: list[Markup]
) -> Markup:
    """Axes around shapes; screen readers have the title."""
    grid = [_line(_x(0), _y(share), _x(1), _y(share), "grid") for share, _ in heights]
    left = [_text(LEFT - 8, _y(share) + 4, words, "end") for share, words in heights]
    below = [_text(_x(share), HEIGHT - BOTTOM + 17, f"{share:g}", "middle") for share in TICKS]
    middle = (TOP + HEIGHT - BOTTOM) / 2
    names = [
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x, "middle"),
        tag("text", y, transform=f"translate(13 {middle:g}) rotate(-90)", text_anchor="middle"),
    ]
    return tag(
        "svg",
        tag("title", title, id=f"{key}-title"),
        join([*grid, *shapes, *left, *below, *names]),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_labelledby=f"{key}-title",
        class_="chart",
    )


def _cell(*shapes: Markup, kind: str = "bar") -> Markup:
    return tag(
        "svg", *shapes, viewBox="0 0 100 10", preserveAspectRatio="none", class_=kind,
        aria_hidden="true",
    )  # fmt: skip


def _box(x: float, y: float, width: float, height: float, kind: str) -> Markup:
    size = {"x": _round(x), "y": _round(y), "width": _round(width), "height": _round(height)}
    return tag("rect", class_=kind, **size)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return tag("line", class_=kind, x1=_round(x1), y1=_round(y1), x2=_round(x2), y2=_round(y2))


def _text(x: float, y: float, words: str, anchor: str) -> Markup:
    return tag("text", words, x=_round(x), y=_round(y), text_anchor=anchor)


def _x(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _unit(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _round(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
