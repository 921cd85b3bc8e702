"""The report in a real browser: quiet, readable, complete, and the same on paper."""

import csv
import re

import numpy as np
import pytest

from plausible.experts import Annotations
from plausible.report import label_report, render, summarize
from plausible.report.page import SECTIONS
from support.reports import large

REPORTS = ("hostile", "crowd", "no model", "no people", "nothing")
every_report = pytest.mark.parametrize("name", REPORTS)
QUESTIONS = [question for question, _ in SECTIONS.values()]
MILLIMETRE = 96 / 25.4  # in pixels
PAPER_WIDTH, PAPER_HEIGHT = 180 * MILLIMETRE, 265 * MILLIMETRE  # of A4 within its margins


@every_report
def test_letters_are_readable_on_their_ground(visit, reports, name):
    seen = visit(reports[name])
    seen.open_all()
    for scheme in ("light", "dark"):
        seen.page.emulate_media(color_scheme=scheme)
        assert (seen.measure("page_luminance") > 0.5) == (scheme == "light")
        contrasts = seen.measure("contrasts")
        assert len(contrasts) > 20
        assert [row for row in contrasts if row["contrast"] < 4.5] == []
        assert min(seen.measure("shape_contrasts"), default=3) >= 3


@every_report
def test_a_page_asks_for_nothing_and_complains_about_nothing(visit, reports, name):
    seen = visit(reports[name])
    seen.page.mouse.wheel(0, 100_000)
    seen.page.wait_for_timeout(50)
    assert seen.requests == [seen.address]
    assert seen.complaints == []


@every_report
def test_everything_fits_the_window(visit, reports, name):
    seen = visit(reports[name])
    seen.open_all()
    for width in (360, 768, 1280, 1900):
        seen.page.set_viewport_size({"width": width, "height": 900})
        assert seen.measure("sideways") <= 0, width
        assert seen.measure("wide_tables") == [], width
        assert seen.measure("spilt_texts") == [], width
        assert seen.measure("broken_words") == [], width


@pytest.mark.parametrize("name", ["hostile", "crowd"])
def test_nothing_is_cut_or_covered_in_a_figure(visit, reports, name):
    seen = visit(reports[name])
    for width in (360, 1280):
        seen.page.set_viewport_size({"width": width, "height": 900})
        figures = seen.measure("figures")
        assert len(figures) == 3
        for figure in figures:
            assert figure["n_texts"] > 6
            assert (figure["outside"], figure["touching"]) == ([], [])
            assert figure["letters"] >= 10


@every_report
def test_screen_readers_hear_the_questions_in_order(visit, reports, name):
    lines = visit(reports[name]).outline()
    headings = [m[1] for line in lines if (m := re.match(r'heading "(.*)" \[level=2\]', line))]
    assert headings == QUESTIONS
    assert sum("[level=1]" in line for line in lines) == 1
    for landmark in ("banner", "navigation", "main"):
        assert sum(re.match(rf"{landmark}\b", line) is not None for line in lines) == 1
    regions = [m[1] for line in lines if (m := re.match('region "(.*?)"', line))]
    assert [region for region in regions if region in QUESTIONS] == QUESTIONS


@pytest.mark.parametrize(("name", "width"), [("hostile", 360), ("crowd", 1280)])
def test_screen_readers_hear_figures_and_tables(visit, reports, name, width):
    seen = visit(reports[name], width)
    seen.open_all()
    lines = seen.outline()
    assert sum(re.match(r'img "\w.{20,}"', line) is not None for line in lines) == 3
    for role, elements in (
        (r'table "\w', "table"),
        (r"""columnheader ["']""", "thead th:visible"),
        ('rowheader "', "tbody tr"),
    ):
        heard = sum(re.match(role, line) is not None for line in lines)
        assert heard == seen.page.locator(elements).count() > 8, role


@pytest.mark.parametrize("name", ["hostile", "no people"])
def test_a_page_is_whole_without_javascript(visit, browser, reports, name):
    with_scripts = visit(reports[name]).page.locator("body").inner_text()
    page = browser.new_page(java_script_enabled=False, viewport={"width": 1280, "height": 900})
    page.goto(reports[name])
    assert page.locator("body").inner_text() == with_scripts
    assert all(question in with_scripts for question in QUESTIONS)
    for fold in page.locator("details").all():
        assert not fold.locator("table").is_visible()
        fold.locator("summary").click()
        assert fold.locator("table").is_visible()
    page.close()


def test_names_of_people_are_letters_and_nothing_more(visit, reports):
    seen = visit(reports["hostile"])
    assert seen.page.locator("h1").inner_text() == "<script>alert(1)</script>"
    assert seen.page.locator("script, img, iframe").count() == 0
    assert seen.page.locator("tbody th", has_text="onerror='alert(1)'").count() > 0


def test_links_lead_to_the_questions(visit, reports):
    page = visit(reports["crowd"]).page
    for key, (question, _) in SECTIONS.items():
        page.get_by_role("navigation").get_by_role("link", name=question).click()
        assert page.url.endswith(f"#{key}")
        assert page.get_by_role("heading", name=question).is_visible()


def test_lists_are_saved_as_files(visit, reports):
    seen = visit(reports["hostile"])
    links = seen.page.locator("a[download]")
    assert links.count() >= 6
    for link in links.all():
        with seen.page.expect_download() as waiting:
            link.click()
        saved = waiting.value
        assert saved.suggested_filename == link.get_attribute("download")
        with open(saved.path(), encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
        assert rows
        assert {len(row) for row in rows} == {len(head)}
    assert (seen.requests, seen.complaints) == ([seen.address], [])


def test_pictures_are_seen_and_nothing_is_fetched(visit, tmp_path):
    from PIL import Image

    Image.new("RGB", (400, 300), "teal").save(tmp_path / "leaf.png")
    answers = Annotations.from_answers(np.array([["a", "b"], ["b", "a"], ["c", "a"]] * 2))
    pictures = [tmp_path / "leaf.png"] * 4 + ["https://example.org/leaf.png", None]
    summary = summarize(annotations=answers, pictures=pictures, texts=["a leaf " * 60] * 6)
    path = tmp_path / "report.html"
    path.write_text(render(summary), encoding="utf-8")
    seen = visit(path.as_uri(), 360)
    assert seen.measure("sideways") <= 0
    assert seen.measure("wide_tables") == []
    shown = seen.page.locator("img").all()
    assert len(shown) >= 4
    for image in shown:
        assert image.evaluate("image => image.complete && image.naturalWidth") == 160
        assert image.bounding_box()["width"] > 40
    assert seen.page.get_by_role("link", name="picture on the web").first.is_visible()
    assert seen.complaints == []
    assert not [address for address in seen.requests if not address.startswith(("file:", "data:"))]


def test_a_notebook_shows_a_page_whose_links_work(visit, tmp_path):
    answers = Annotations.from_answers(np.array([["a", "b"], ["b", "a"], ["c", "a"]]))
    report = label_report(tmp_path / "report.html", annotations=answers)
    outside = tmp_path / "notebook.html"
    outside.write_text(f"<!doctype html><p>In [1]:</p>{report._repr_html_()}", encoding="utf-8")
    seen = visit(outside.as_uri())
    inside = seen.page.frame_locator("iframe")
    heading = inside.get_by_role("heading", name="Who is reliable?")
    inside.get_by_role("navigation").get_by_role("link", name="Who is reliable?").click()
    box, frame = heading.bounding_box(), seen.page.locator("iframe").bounding_box()
    assert frame["y"] - 1 <= box["y"] < frame["y"] + 200
    assert seen.page.get_by_text("In [1]:").is_visible()
    assert inside.get_by_role("heading", level=2).count() == len(QUESTIONS)
    assert seen.complaints == []


@every_report
def test_nothing_is_cut_on_paper(visit, reports, name):
    seen = visit(reports[name], int(PAPER_WIDTH))
    seen.page.emulate_media(media="print", color_scheme="dark")
    assert seen.measure("page_luminance") == pytest.approx(1.0)
    assert [row for row in seen.measure("contrasts") if row["contrast"] < 4.5] == []
    assert seen.measure("sideways") <= 0
    assert seen.measure("spilt_texts") == []
    assert seen.measure("lonely_heads") == []
    pieces = seen.measure("unbreakable")
    assert [row for row in pieces if not row["kept"] or row["height"] > PAPER_HEIGHT / 2] == []


@pytest.mark.parametrize("name", ["hostile", "nothing"])
def test_paper_is_a4(visit, reports, name):
    pdf = visit(reports[name]).page.pdf(prefer_css_page_size=True)
    sizes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert len(sizes) == len(re.findall(rb"/Type /Page\b", pdf)) > 0
    for width, height in sizes:
        assert float(width) * 25.4 / 72 == pytest.approx(210, abs=0.5)
        assert float(height) * 25.4 / 72 == pytest.approx(297, abs=0.5)


def test_a_hundred_thousand_items_are_one_small_page(visit, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(render(large()), encoding="utf-8")
    assert path.stat().st_size < 1_000_000
    seen = visit(path.as_uri())
    assert (seen.requests, seen.complaints) == ([seen.address], [])
    assert "100,000" in seen.page.locator("header").inner_text()
    assert [figure["outside"] + figure["touching"] for figure in seen.measure("figures")] == [
        []
    ] * 3
