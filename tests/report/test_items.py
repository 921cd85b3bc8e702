"""Texts and pictures of items: embedded, small, harmless, and never fetched."""

import base64
import io
import re
import struct
import sys
import zlib

import numpy as np
import pytest
from PIL import Image

from plausible.experts import Annotations
from plausible.report import label_report, render, summarize
from support.reports import HOSTILE


@pytest.fixture
def answers():
    said = np.tile(np.array([["a", "b", "a"], ["b", "b", "c"], ["c", "a", "b"]]), (5, 1))
    return Annotations.from_answers(said, items=[f"item {k}" for k in range(15)])


def picture(path, size=(640, 480), kind=None, **options):
    colors = np.random.default_rng(0).integers(255, size=(6, 8, 3), dtype=np.uint8)
    Image.fromarray(colors).resize(size, Image.Resampling.BICUBIC).save(path, kind, **options)
    return str(path)


def pictures_on(page):
    sources = re.findall(r'<img src="data:image/(\w+);base64,([^"]*)" alt=""', page)
    return [(kind, base64.b64decode(content)) for kind, content in sources]


def test_texts_stand_beside_the_items(answers):
    texts = [f"text of number {k}" for k in range(15)]
    summary = summarize(annotations=answers, texts=texts)
    page = render(summary)
    for row in summary["clash"]["worst"]:
        number = row["item"].split()[1]
        assert (
            f'<bdi>{row["item"]}</bdi><span class="item-text"><bdi>text of number {number}<' in page
        )
    listed = summary["clash"]["worst"] + summary["questions"]["items"]
    assert set(summary["contents"]) == {row["item"] for row in listed}


def test_pictures_are_small_copies(answers, tmp_path):
    paths = [picture(tmp_path / "one.png", (450, 300))] * 15
    page = render(summarize(annotations=answers, pictures=paths))
    found = pictures_on(page)
    assert len(found) >= 15
    for kind, content in found:
        assert kind == "jpeg"
        assert Image.open(io.BytesIO(content)).size == (160, 107)
    assert str(tmp_path) not in page
    assert "//" not in re.sub('src="[^"]*"|href="data:[^"]*"', "", page)


@pytest.mark.parametrize("mode", ["RGBA", "P", "L", "CMYK", "1"])
def test_pictures_of_every_kind_are_shown(answers, tmp_path, mode):
    path = tmp_path / ("a.jpg" if mode == "CMYK" else "a.png")
    Image.new("RGB", (50, 30), "teal").convert(mode).save(path)
    page = render(summarize(annotations=answers, pictures=[path] * 15))
    assert pictures_on(page)


def test_a_photograph_stands_upright(answers, tmp_path):
    path = tmp_path / "turned.jpg"
    turned = Image.Exif()
    turned[0x0112] = 6  # a camera that was held sideways
    Image.new("RGB", (120, 60), "teal").save(path, exif=turned)
    page = render(summarize(annotations=answers, pictures=[path] * 15))
    assert Image.open(io.BytesIO(pictures_on(page)[0][1])).size == (60, 120)


def test_what_is_no_picture_is_told(answers, tmp_path):
    odd = {
        "missing.png": None,
        "letter.png": b"Dear all",
        "drawing.svg": b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        "cut.png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    }
    for name, content in odd.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
    paths = [tmp_path / name for name in odd] * 4
    page = render(summarize(annotations=answers, pictures=paths[:15]))
    assert pictures_on(page) == []
    for name in odd:
        assert re.search(f"no picture: [^<]*{name}", page)
    assert str(tmp_path) not in page


def test_a_picture_that_unfolds_to_very_many_pixels_is_refused(answers, tmp_path):
    head = b"IHDR" + struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    content = struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))
    (tmp_path / "bomb.png").write_bytes(b"\x89PNG\r\n\x1a\n" + content)
    page = render(summarize(annotations=answers, pictures=[tmp_path / "bomb.png"] * 15))
    assert pictures_on(page) == []
    assert "bomb.png could not be read" in page


def test_addresses_are_links_and_nothing_else(answers):
    addresses = [f"https://example.org/{k}.png" for k in range(12)]
    bad = [
        "javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        'https://x" onclick="a',
    ]
    page = render(summarize(annotations=answers, pictures=[*bad, *addresses]))
    links = re.findall(r'href="((?!#|data:,|data:text/csv)[^"]*)"', page)
    assert links
    assert set(links) <= set(addresses)
    assert page.count('rel="noopener noreferrer"') == len(links)
    assert "<img" not in page


def test_without_pillow_small_files_are_taken_as_they_are(answers, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    small, large = b"\x89PNG\r\n\x1a\n" + bytes(100), b"\xff\xd8\xff" + bytes(100_000)
    (tmp_path / "small.png").write_bytes(small)
    (tmp_path / "large.jpg").write_bytes(large)
    (tmp_path / "page.png").write_bytes(b"<html><script>")
    names = ["small.png", "large.jpg", "page.png"]
    paths = [tmp_path / names[k % 3] for k in range(15)]
    page = render(summarize(annotations=answers, pictures=paths))
    assert set(pictures_on(page)) == {("png", small)}


def test_the_page_stays_small(tmp_path):
    rng = np.random.default_rng(0)
    said = np.array(["a", "b", "c"])[rng.integers(3, size=(80, 3))]
    paths = []
    for k in range(80):
        noise = rng.integers(255, size=(160, 160, 3), dtype=np.uint8)
        paths.append(tmp_path / f"{k}.png")
        Image.fromarray(noise).save(paths[-1], compress_level=0)
    report = label_report(
        tmp_path / "r.html", annotations=Annotations.from_answers(said), pictures=paths, n_worst=60
    )
    assert len(report.html) < 700_000
    assert 10 < len(pictures_on(report.html)) < 60
    assert "the page has no room left for" in report.html


def test_hostile_texts_stay_texts(answers):
    page = render(summarize(annotations=answers, texts=(HOSTILE * 2)[:15]))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "\u202e" not in page


def test_names_that_look_the_same_have_no_contents():
    long = "x" * 200
    answers = Annotations.from_answers([["a", "b"], ["b", "a"]], items=[f"{long}1", f"{long}2"])
    assert summarize(annotations=answers, texts=["one", "two"])["contents"] == {}


def test_contents_are_one_for_each_item(answers):
    with pytest.raises(ValueError, match="texts should be one for each of the 15 items, but there"):
        summarize(annotations=answers, texts=["one"])
    with pytest.raises(ValueError, match="pictures should be"):
        summarize(annotations=answers, pictures="folder")
