"""What notebooks show of our objects: the right numbers, few of them, and names that stay names."""

import numpy as np
import pytest

from plausible.base import Beliefs, CredalPartition
from plausible.belief import SparseMasses, decide
from plausible.cluster import EKNNClus
from plausible.experts import Annotations
from plausible.labels import Labels
from support.pages import hostile_objects, shown

CLASSES = ["wren", "owl", "kite"]
KINDS = ["Annotations", "Beliefs", "CredalPartition", "Decision", "Labels", "Reliability"]


@pytest.fixture(scope="module")
def hostile():
    return hostile_objects()


@pytest.mark.parametrize("kind", KINDS)
def test_pages_hold_no_script_and_load_nothing(hostile, kind):
    page = shown(hostile[kind])  # which checks that every element is closed
    allowed = {"div", "style", "p", "b", "span", "i", "bdi", "br", "table", "thead", "tbody",
               "tr", "th", "td"}  # fmt: skip
    assert set(page.elements) <= allowed
    assert {name for name, _ in page.attributes} <= {"class", "style", "scope", "aria-hidden"}
    text = hostile[kind]._repr_html_()
    assert "url(" not in text
    assert "@import" not in text
    assert len(text) < 30_000


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_escaped_written_out_and_cut(hostile, kind):
    page = shown(hostile[kind])
    if kind == "Decision":  # the most frequent answers are sets of names
        assert "or" in page.text
    assert "<script>document.title" in page.text or "onerror" in page.text
    assert "\u202e" not in page.text
    assert "long " * 9 not in page.text
    assert kind[0] in page.text[0]


def test_labels_are_counted_by_kind_and_shown_in_rows():
    labels = Labels.concatenate([
        Labels.from_doubt(["wren", "owl"], [0.0, 0.25], classes=CLASSES),
        Labels.from_sets([{"wren", "kite"}, None], classes=CLASSES),
        Labels.from_probability([[0.2, 0.5, 0.3]] * 7, classes=CLASSES),
    ])  # fmt: skip
    page = shown(labels)
    assert page.rows[0] == ["item", *CLASSES]
    assert page.rows[1] == ["0", "1", "0", "0"]
    assert page.rows[2] == ["1", "0.25", "1", "0.25"]
    assert page.rows[3] == ["2", "1", "0", "1"]
    assert len(page.rows) == 9
    for words in ("11 items, 3 classes: wren, owl, kite", "1 one class", "1 a set of classes",
                  "1 degrees", "7 probabilities", "1 nothing", "3 more items"):  # fmt: skip
        assert words in page.text
    widths = [value for key, value in page.attributes if key == "style" and "left" in value]
    assert widths[:3] == ["left:0%;width:100%", "left:0%;width:0%", "left:0%;width:0%"]


def test_of_thousands_of_classes_the_highest_are_named():
    contour = np.zeros((5000, 3000))
    contour[:, 7], contour[:, 2999], contour[:, 12], contour[:, 3] = 1.0, 0.5, 0.25, 0.125
    labels = Labels.from_plausibility(contour[:500], classes=[f"c{k}" for k in range(3000)])
    page = shown(labels)
    assert page.rows[1] == ["0", "c7 (1), c2999 (0.5), c12 (0.25), and 1 more"]
    assert "and 2,994 more" in page.text
    assert "492 more items" in page.text
    assert len(labels._repr_html_()) < 10_000


def test_answers_are_shown_with_those_who_gave_them():
    answers = Annotations.from_long(
        items=["b", "b", "b", "a", *"cdefghi"],
        annotators=["ann", "bob", "cy", "ann", *["bob"] * 7],
        labels=["wren", "wren|owl", "wren", "cannot tell", *["kite"] * 7],
        doubt=[0.0, 0.0, 0.3, 0.0, *[0.0] * 7],
        classes=CLASSES,
    )
    page = shown(answers)
    rows = {row[0]: row[1] for row in page.rows}
    assert rows["b"] == "wren (ann, cy)wren or owl (bob)"
    assert rows["a"] == "cannot tell (ann)"
    for words in ("11 answers about 9 items by 3 annotators", "8 one class",
                  "1 one class, doubted", "2 other statements", "3 more items"):  # fmt: skip
        assert words in page.text


def test_reliabilities_are_shown_from_the_best():
    rng = np.random.default_rng(0)
    code = rng.integers(3, size=80)
    skill = np.linspace(0.95, 0.2, 12)
    said = np.where(
        rng.uniform(size=(80, 12)) < skill, code[:, None], rng.integers(3, size=(80, 12))
    )
    names = [f"p{k}" for k in range(12)]
    found = Annotations.from_answers(
        np.array(CLASSES, dtype=object)[said], annotators=names
    ).reliability()
    page = shown(found)
    order = sorted(range(12), key=lambda r: -found.accuracy[r])
    assert [row[0] for row in page.rows[1:]] == [names[r] for r in order[:10]]
    for row, r in zip(page.rows[1:], order, strict=False):
        assert row[1] == "80"
        assert float(row[2]) == pytest.approx(found.accuracy[r], abs=0.005)
        low, high = (float(end) for end in row[3].split(" to "))
        assert (low, high) == pytest.approx((found.low[r], found.high[r]), abs=0.005)
        assert float(row[4].replace("<0.01", "0")) == pytest.approx(found.doubt[r], abs=0.005)
    assert "2 more annotators" in page.text
    assert f"up to {100 * found.consensus_error:.0f} % of the items" in page.text


def test_decisions_are_counted():
    p = [[0.9, 0.05, 0.05]] * 3 + [[0.4, 0.3, 0.3]] * 2 + [[0.1, 0.1, 0.8]]
    page = shown(decide(p, kind="probability", reject=0.35, classes=CLASSES))
    assert [row[:2] for row in page.rows[1:]] == [["wren", "3"], ["refuse", "2"], ["kite", "1"]]
    assert "4 one answer" in page.text
    assert "2 refused" in page.text
    masses = SparseMasses([[1.0, 0.0], [0.0, 1.0]], [1, 3], 3)
    sets = shown(decide(masses, "e_admissibility"))
    assert sorted(row[0] for row in sets.rows[1:]) == ["act 0", "act 0 or act 1"]
    single = shown(decide([0.1, 0.9], kind="probability", classes="ab"))
    assert single.rows[1][:2] == ["b", "1"]
    unknown = shown(decide(masses, unknown=True, classes=CLASSES))
    assert "1 row" in single.text
    assert unknown.rows[1][0] in (*CLASSES, "unknown")


def test_beliefs_have_an_interval_for_each_class():
    masses = SparseMasses([[0.5, 0.3, 0.2]] * 9, [1, 3, 7], 3)
    page = shown(Beliefs.from_masses(masses, CLASSES))
    assert page.rows[0] == ["item", "answer", "cannot be ruled out", *CLASSES]
    assert page.rows[1] == ["0", "wren", "wren or owl", "0.5 to 1", "0 to 0.5", "0 to 0.2"]
    assert "1 more item" in page.text
    many = np.full((2, 40), 0.5 / 39)
    many[:, 30] = 0.5
    page = shown(Beliefs.from_probability(many, [f"c{k}" for k in range(40)]))
    assert page.rows[1][3].startswith("c30 (0.5), c0 (0.01)")
    empty = shown(Beliefs.from_probability(np.zeros((0, 3)), CLASSES))
    assert "about 0 items" in empty.text


def test_partitions_are_counted_by_set():
    rows = [[0.9, 0, 0.1, 0, 0]] * 4 + [[0.2, 0.1, 0.7, 0, 0]] * 2 + [[0, 0.1, 0, 0.2, 0.7]]
    partition = CredalPartition(SparseMasses(rows, [1, 2, 3, 7, 0], 3), CLASSES)
    page = shown(partition)
    assert [row[:2] for row in page.rows[1:]] == [
        ["wren", "4"], ["wren or owl", "2"], ["none (outliers)", "1"],
    ]  # fmt: skip
    assert float(page.rows[1][2]) == pytest.approx((4 * 0.9 + 2 * 0.2) / 7, abs=0.005)
    for words in ("4 in one cluster", "2 between clusters", "1 outliers",
                  f"nonspecificity {partition.nonspecificity():.2f}"):  # fmt: skip
        assert words in page.text


def test_partitions_of_very_many_clusters_are_counted_by_cluster():
    X = np.repeat(np.arange(70.0)[:, None] * 10, 2, axis=0) + np.tile([0.0, 0.1], 70)[:, None]
    partition = EKNNClus(1, gamma=0.1, random_state=0).fit(X).partition_
    assert partition.n_clusters > 62
    page = shown(partition)
    assert page.rows[1][1] == "2"
    assert f"{partition.n_clusters - 8} more clusters" in page.text


def test_very_many_answers_make_no_longer_page():
    rng = np.random.default_rng(0)
    answers = Annotations.from_long(
        rng.integers(9000, size=30_000),
        rng.integers(900, size=30_000),
        rng.integers(500, size=30_000),
    )
    text = answers._repr_html_()
    assert len(text) < 12_000
    assert "30,000 answers" in text
    assert "500 classes: <bdi>0</bdi>" in text
