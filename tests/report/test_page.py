"""The page: valid, self-contained, small, and safe whatever names people give."""

import html
import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

from plausible.experts import Annotations
from plausible.labels import Labels
from plausible.models import SoftNearestCentroid
from plausible.report import label_report, render, summarize
from plausible.report.page import SECTIONS
from plausible.report.style import STYLE
from support.reports import HOSTILE


class Reader(HTMLParser):
    """Checks that tags close in order, and gathers what a page holds."""

    def __init__(self, page):
        super().__init__()
        self.open, self.ids, self.tags, self.attributes, self.text = [], [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def hostile_report(**more):
    names = np.array(HOSTILE, dtype=object)
    rng = np.random.default_rng(0)
    said = rng.integers(len(names), size=(40, 3))
    table = [(item, who, names[k]) for item, row in enumerate(said) for who, k in enumerate(row)]
    answers = Annotations.from_long(
        [f"{HOSTILE[item % len(HOSTILE)]}{item}" for item, _, _ in table],
        [f"{HOSTILE[who]}" for _, who, _ in table],
        [{label} for _, _, label in table],
        doubt=[0.2] * len(table),
    )
    X = rng.normal(size=(40, 2))
    labels = answers.pool()
    model = SoftNearestCentroid().fit(X, labels)
    return summarize(
        labels, answers, model, X, labels, X, title=HOSTILE[0], date=HOSTILE[1],
        command=HOSTILE[2], **more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def hostile():
    return hostile_report()


def test_tags_are_balanced_and_ids_unique(hostile):
    for summary in (hostile, summarize(), summarize(Labels.from_crisp(["a", "b"]))):
        read = Reader(render(summary))
        assert len(read.ids) == len(set(read.ids))
        links = [value[1:] for name, value in read.attributes if name == "href" and value[0] == "#"]
        assert set(links) == set(SECTIONS) <= set(read.ids)
        named = {value for name, value in read.attributes if name == "aria-labelledby"}
        assert named <= set(read.ids)


def test_a_page_tells_what_there_is():
    contour = [[1.0, 0.5], [0.5, 1.0]]
    clash = render(summarize(Labels(contour, ["a", "b"], conflict=[0.25, 0.75])))
    assert "The 2 items with the most conflict<" in clash
    harmony = render(summarize(Labels(contour, ["a", "b"], conflict=[0.0, 0.0])))
    assert "No item is in conflict." in harmony
    crowd = Annotations.from_answers(np.random.default_rng(0).integers(2, size=(40, 120)))
    assert "Of 120 annotators the worst is right" in render(summarize(annotations=crowd))
    lonely = Annotations.from_answers([["a"], ["b"]])
    assert "2 answers of 1 annotator, 1 for each item. <" in render(summarize(annotations=lonely))
    many = render(summarize(Labels.from_crisp(np.arange(300))))
    assert "100 rarer classes are not listed." in many
    for page in (clash, harmony, many):
        Reader(page)


def test_an_estimate_that_has_not_settled_says_so(hostile):
    unsettled = hostile | {"reliability": hostile["reliability"] | {"converged": False}}
    assert "had not settled" in render(unsettled)
    assert "had not settled" not in render(hostile)


def test_names_stay_names(hostile):
    page = render(hostile)
    read = Reader(page)
    assert not {"script", "img", "iframe", "object", "base", "form"} & set(read.tags)
    assert not [name for name, _ in read.attributes if name.startswith("on")]
    assert read.tags.count("style") == read.tags.count("h1") == 1
    assert HOSTILE[0] in "".join(read.text)
    assert "\x00" not in page
    page.encode("utf-8")


def test_names_do_not_turn_the_text_around_them(hostile):
    page = render(hostile)
    assert re.findall(r"<bdi>[^<]*\\u202e", page)
    assert "\u202e" not in page


def test_nothing_comes_from_the_network(hostile):
    read = Reader(render(hostile))
    addresses = ("href", "src", "srcset", "action", "data", "poster", "xlink:href")
    told = [value for name, value in read.attributes if name in addresses]
    inside = re.compile(r"#|data:,$|data:text/csv;charset=utf-8;base64,[\w+/=]*$")
    assert all(inside.match(value) for value in told)
    assert not re.search(r"https?:|//|url\(|@import", STYLE)
    assert any("default-src 'none'" in (value or "") for _, value in read.attributes)


def test_everything_in_the_summary_is_on_the_page(hostile):
    text = "".join(Reader(render(hostile)).text)
    for row in hostile["labels"]["classes"]:
        assert row["class"] in text
    for row in hostile["clash"]["worst"]:
        assert row["item"] in text
        assert all(line["said"] in text for line in row["answers"])
    for row in hostile["reliability"]["annotators"]:
        assert row["annotator"] in text
    for row in hostile["questions"]["items"] + hostile["belief"]["shown"]:
        assert row["item"] in text
    for row in hostile["scores"]["scores"]:
        assert f"{row['estimate']:.3f}" in text
    for part in hostile["confusion"].values():
        assert all(name in text for name in part["classes"])
    assert all(name in text for name in hostile["reliability"]["peers"]["annotators"])
    for row in hostile["features"]["features"]:
        assert row["feature"] in text


def test_the_page_is_the_same_after_json(hostile):
    assert render(json.loads(json.dumps(hostile))) == render(hostile)


def test_questions_come_in_order():
    page = render(summarize())
    places = [page.index(html.escape(f'id="{key}"', quote=False)) for key in SECTIONS]
    assert places == sorted(places)
    assert page.count('class="missing"') == 8


def test_pictures_and_tables_have_words(hostile):
    page = render(hostile)
    for svg in re.findall("<svg [^>]*>", page):
        assert 'aria-hidden="true"' in svg or 'role="img" aria-labelledby=' in svg
    tables = re.findall("<table>.{20}", page)
    assert tables
    assert all(table.startswith("<table><caption>") for table in tables)
    headings = [int(level) for level in re.findall(r"<h(\d)", page)]
    assert headings[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))


def luminance(color):
    parts = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_letters_can_be_read_in_light_in_dark_and_on_paper():
    palettes = [
        dict(re.findall(r"--(\w+): (#\w{6})", block))
        for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    ]
    assert len(palettes) == 3
    for colors in palettes:
        for ground in (colors["page"], colors["panel"]):
            for ink in ("text", "quiet", "fill", "warn"):
                light, dark = sorted([luminance(colors[ink]), luminance(ground)], reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, ground)


def test_one_file_under_a_megabyte_for_many_items(tmp_path):
    rng = np.random.default_rng(0)
    n = 100_000
    truth = rng.integers(3, size=n)
    said = np.where(rng.uniform(size=(n, 3)) < 0.8, truth[:, None], rng.integers(3, size=(n, 3)))
    answers = Annotations.from_answers(np.array(["ash", "elm", "oak"])[said])
    labels = answers.pool(doubt=0.1)
    X = rng.normal(size=(n, 2)) + 2 * np.eye(3, 2)[truth]
    model = SoftNearestCentroid().fit(X, labels)
    path = tmp_path / "report.html"
    found = label_report(path, labels, answers, model=model, X=X, X_test=X, y_test=labels)
    assert path.stat().st_size < 200_000
    assert path.read_text(encoding="utf-8") == render(found)
    assert sum(found["labels"]["kinds"].values()) == n


def test_many_names_of_many_letters_stay_under_a_megabyte():
    names = [f"{k} " + '"' * 1000 for k in range(60)]
    item, who = np.divmod(np.arange(2400), 60)
    said = np.random.default_rng(0).integers(60, size=(300, 3))[np.arange(2400) // 8]
    answers = Annotations.from_long(
        [names[i] for i in item],
        [names[i] for i in who],
        [{names[k] for k in row} for row in said],
        doubt=np.full(2400, 0.5),
    )
    summary = summarize(annotations=answers, reliability={"tol": 1.0})
    assert len(render(summary).encode()) < 700_000


def test_a_report_that_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")
    with pytest.raises(ValueError, match="n_worst"):
        label_report(path, ["a", "b"], n_worst=0)
    assert path.read_text() == "before"
    with pytest.raises(FileNotFoundError, match="create the folder"):
        label_report(tmp_path / "nowhere" / "report.html", ["a", "b"])


@pytest.mark.parametrize("strange", [{}, [], {"title": "x"}])
def test_only_a_summary_can_be_rendered(strange):
    with pytest.raises(ValueError, match="call summarize first"):
        render(strange)
