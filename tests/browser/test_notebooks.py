"""What notebooks show, in a real browser: quiet, readable in light and dark, and in one column."""

import pytest

from support.pages import hostile_objects

# As JupyterLab styles the tables of others.
JUPYTER = """
.jp-RenderedHTMLCommon tbody tr:nth-child(odd) { background: white; }
.jp-RenderedHTMLCommon :is(td, th) { text-align: right; white-space: nowrap; max-width: none; }
"""


@pytest.fixture
def cells(tmp_path):
    body = "".join(thing._repr_html_() for thing in hostile_objects().values())
    path = tmp_path / "cells.html"
    path.write_text(
        "<!doctype html><html lang=en><meta charset=utf-8><title>cells</title>"
        f"<style>:root{{color-scheme: light dark}} {JUPYTER}</style>"
        f'<body class="jp-RenderedHTMLCommon">{body}',
        encoding="utf-8",
    )
    return path.as_uri()


def test_cells_are_quiet_and_readable_in_light_and_dark(visit, cells):
    seen = visit(cells)
    assert seen.requests == [seen.address]
    assert seen.complaints == []
    assert seen.page.title() == "cells"
    assert seen.page.locator(".plausible-html").count() == 6
    for scheme, ink in (("light", "rgb(0, 0, 0)"), ("dark", "rgb(255, 255, 255)")):
        seen.page.emulate_media(color_scheme=scheme)
        cell = "document.querySelector('.plausible-html tbody td')"
        assert seen.page.evaluate(f"getComputedStyle({cell}).color") == ink
        row = seen.page.evaluate(f"getComputedStyle({cell}.parentElement).backgroundColor")
        assert row == "rgba(0, 0, 0, 0)"
    for width in (390, 1280):
        seen.page.set_viewport_size({"width": width, "height": 900})
        assert seen.measure("sideways") <= 0, width
