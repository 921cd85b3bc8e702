"""The site's checker finds what it promises to find, and its parts write what they should."""

import doctest
import importlib
import inspect
import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GALLERY = sorted((ROOT / "examples" / "gallery").glob("*.py"))


@pytest.fixture(scope="module")
def check(tmp_path_factory):
    return runpy.run_path(str(ROOT / "docs" / "check_site.py"))


@pytest.fixture(autouse=True)
def _extension_on_path(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))


def site_of(folder, **texts):
    """A site of a few pages, with a style sheet, and its pages as the checker reads them."""
    folder = folder.resolve()
    for name, text in texts.items():
        path = folder / name.replace("__", "/").replace("_css", ".css")
        path = path if path.suffix else path.with_suffix(".html")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


def pages_of(check, folder):
    return {path: check["read_page"](path) for path in folder.rglob("*.html")}


@pytest.mark.parametrize(
    "loaded",
    [
        '<script src="https://cdn.example.org/mathjax.js"></script>',
        '<img src="//example.org/badge.svg">',
        '<img srcset="small.png 1x, https://example.org/large.png 2x">',
        '<link rel="stylesheet" href="http://example.org/font.css">',
        "<style>@import 'https://example.org/a.css';</style>",
        '<p style="background: url(https://example.org/a.png)">',
        "<script>import('https://example.org/a.js')</script>",
        '<iframe src="https://example.org"></iframe>',
        '<video poster="https://example.org/a.png"></video>',
    ],
)
def test_what_is_loaded_from_another_host_is_found(check, tmp_path, loaded):
    folder = site_of(tmp_path, index=f"<p>good</p>{loaded}", good='<img src="a.png">')
    found = check["loads_elsewhere"](folder, pages_of(check, folder))
    assert len(found) == 1
    assert "index.html" in found[0]
    assert "example.org" in found[0]


def test_style_sheets_are_read_too(check, tmp_path):
    folder = site_of(tmp_path, index="<p>", own_css="@font-face { src: url(//example.org/a.woff) }")
    assert "own.css loads //example.org/a.woff" in check["loads_elsewhere"](folder, {})


def test_links_of_the_text_may_leave_the_site_and_are_counted(check, tmp_path):
    text = '<a href="https://doi.org/1">a paper</a> <a href="https://doi.org/2">another</a>'
    folder = site_of(tmp_path, index=text + '<script>const a = "https://doi.org/3"</script>')
    pages = pages_of(check, folder)
    assert check["loads_elsewhere"](folder, pages) == []
    assert check["broken_links"](folder, pages) == []
    assert check["outward"](pages) == {"doi.org": 2}


def test_links_inside_the_site_lead_to_a_page_and_a_place(check, tmp_path):
    good = '<h1 id="top">x</h1><a href="#top">x</a><a href="more/page.html#the%20place">x</a>'
    good += '<a href="more/">x</a><a href="mailto:a@b.c">x</a><img src="data:image/png;base64,AA">'
    bad = '<a href="#nowhere">x</a><a href="no.html">x</a><a href="more/page.html#no">x</a>'
    bad += '<a href="../outside.html">x</a><img src="no.png">'
    (tmp_path.parent / "outside.html").write_text("not part of the site")
    folder = site_of(
        tmp_path,
        index=good + bad,
        more__index="<p>",
        more__page='<p id="the place"><a href="../index.html#top">x</a>',
    )
    found = check["broken_links"](folder, pages_of(check, folder))
    assert sorted(re.findall(r"links to (\S+),", " ".join(found))) == [
        "#nowhere",
        "../outside.html",
        "more/page.html#no",
        "no.html",
        "no.png",
    ]


def test_every_public_name_has_exactly_one_page(check, tmp_path):
    folder = site_of(
        tmp_path,
        index='<dt id="a.one">',
        more='<dt id="a.two"><dt id="a.none-such">',
        two='<p id="a.two">',
    )
    found = check["wrong_names"](folder, pages_of(check, folder), ["a.one", "a.two", "a.none"])
    assert [line.split()[0] for line in found] == ["a.two", "a.none"]
    assert "has 2: " in found[0]
    assert "has 0: none" in found[1]


def test_examples_need_a_page_a_picture_and_a_sentence(check, tmp_path):
    picture = '<img src="../_images/sphx_glr_{}_001.png">'
    folder = site_of(
        tmp_path,
        gallery__good=picture.format("good") + "<b>What one sees.</b> All.",
        gallery__bare="What one sees. Nothing.",
        gallery__mute=picture.format("mute"),
    )
    scripts = [Path(f"{name}.py") for name in ("good", "bare", "mute", "gone")]
    found = check["wrong_examples"](folder, pages_of(check, folder), scripts)
    assert [line.split()[0] for line in found] == ["bare.py", "mute.py", "gone.py"]


def test_the_reference_has_every_name_of_every_room_once():
    import plausible
    from extension.public_names import home_of, names_of, pages, rooms

    exported = {
        f"plausible.{room}.{name}" for room in rooms() for name in getattr(plausible, room).__all__
    }
    assert exported == {name.path for room in rooms() for name in names_of(room)}
    homes = [name.path for name in pages()]
    assert len(homes) == len(set(homes))
    assert {f"plausible.{home_of(n)}.{n.name}" for room in rooms() for n in names_of(room)} == set(
        homes
    )
    assert "plausible.base.Beliefs" in homes
    assert "plausible.models.Beliefs" not in homes  # defined in base; models leads there
    assert len({name.page.lower() for name in pages()}) == len(homes)  # also where case is ignored


def test_what_classes_hold_is_told_under_a_heading():
    """Lines such as ``name : what it is`` before any heading become one paragraph on the site."""
    from extension.public_names import pages

    heading = r"\n(?:Parameters|Attributes|Returns|Yields|Examples|Notes|See Also|References)\n-+\n"
    plain = [
        name.path
        for name in pages()
        if name.kind == "class"
        and re.search(
            r"^[\w, ]+ : ", re.split(heading, inspect.getdoc(name.value))[0], re.MULTILINE
        )
    ]
    assert plain == []


def test_flowcharts_stand_on_levels():
    from extension.flowchart import as_svg, by_way_points, levels_of, places

    arrows = [
        ("cli", "report"),
        ("report", "io"),
        ("cli", "io"),
        ("io", "tables"),
        ("web", "tables"),
    ]
    assert levels_of(arrows) == [["cli"], ["report"], ["io", "web"], ["tables"]]
    levels, routes = by_way_points(arrows)
    assert routes[2] == ["cli", "cli>io>1", "io"]  # beside report, not through it
    place = places(levels, routes)
    assert all(place[start][1] < place[end][1] for start, end in arrows)
    assert len(set(place.values())) == len(place) == 6  # no two on one spot
    drawn = as_svg("flowchart TD\n" + "\n".join(f"    {a} --> {b}" for a, b in arrows))
    assert drawn.count("<rect") == 5
    assert drawn.count("<path d=") == len(arrows) + 1  # and the tip of the arrows


@pytest.mark.parametrize("name", ["flowchart", "pages", "mathml"])
def test_examples_in_the_parts_of_the_site_run(name):
    if name == "mathml":
        pytest.importorskip("latex2mathml")
        pytest.importorskip("sphinx")
    tried = doctest.testmod(importlib.import_module(f"extension.{name}"))
    assert tried.attempted
    assert not tried.failed


def test_links_of_the_repository_hold_in_the_site():
    from extension.pages import relinked

    assert relinked("[a](../CHANGES.md#x) [b](docs/labels.md) [c](labels.md) `CHANGES.md`") == (
        "[a](changes.md#x) [b](labels.md) [c](labels.md) `CHANGES.md`"
    )


def test_every_page_has_its_place(tmp_path):
    """In a `toctree`; Sphinx would warn of others, so new guides are listed by themselves."""
    from extension.pages import unlisted

    (tmp_path / "index.md").write_text("```{toctree}\n:hidden:\n\nStart here <start>\nguide\n```\n")
    (tmp_path / "guide.md").write_text("[new](new.md)\n\n```{toctree}\nlabels\n```\n")
    for name in ("start", "labels", "new"):
        (tmp_path / f"{name}.md").write_text("# A page\n")
    assert unlisted(tmp_path) == ["new"]
    assert not {"labels", "experts", "changes", "glossary", "index"} & set(unlisted(ROOT / "docs"))
    text = "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))
    blocks = re.findall(r"^```{toctree}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    listed = re.findall(r"^\w+$", "".join(blocks), re.MULTILINE)
    assert sorted(listed) == sorted(set(listed))  # and none twice
    assert "<!-- other pages -->" in (ROOT / "docs" / "guide.md").read_text()


def test_there_are_many_examples():
    assert len(GALLERY) >= 16


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_an_example_ends_in_a_picture_and_a_sentence(path):
    text = path.read_text()
    title, line = text.split("\n")[1:3]
    assert set(line) == {"="}
    assert len(line) == len(title)
    last = text.rindex("plt.show()\n")
    assert text[last:].startswith("plt.show()\n\n# %%\n# **What one sees.** ")
    assert not re.search(r"https?://|open_url|fetch_|PLAUSIBLE_DATA", text)  # nothing is downloaded


@pytest.mark.long
@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_an_example_runs(path, monkeypatch):
    mpl = pytest.importorskip("matplotlib")
    monkeypatch.setattr(sys, "argv", [str(path)])
    with mpl.rc_context():
        mpl.use("Agg")
        mpl.style.use(str(path.parent / "gallery.mplstyle"))
        from matplotlib import pyplot as plt

        plt.close("all")
        runpy.run_path(str(path))
        assert plt.get_fignums()
        plt.close("all")
