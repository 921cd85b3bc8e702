"""Answers pool alike in memory, in parts and on Dask, in whatever order they came."""

import dask.dataframe
import numpy as np
import pandas as pd
import pytest

from plausible.experts import AnnotationParts, Annotations

RNG = np.random.default_rng(0)
N = 150
CLASSES = np.array(["zoe", "amy", "bob"])
TRUTH = RNG.integers(3, size=N)


def table():
    """Four people of different worth, and one who copies the first of them."""
    rows = []
    for item, truth in enumerate(TRUTH):
        for person in range(4):
            right = RNG.random() < 0.55 + 0.1 * person
            said = CLASSES[truth if right else RNG.integers(3)]
            rows.append((f"i{item}", f"p{person}", said))
            rows += [(f"i{item}", "copy", said)] * (person == 0)
    return pd.DataFrame(rows, columns=["item", "annotator", "label"])


TABLE = table()
PART = TABLE["item"].str[1:].astype(int) % 4


def answers(frame):
    return Annotations.from_long(*(frame[name].to_numpy() for name in frame.columns))


WHOLE = answers(TABLE)
SOURCES = {
    "parts": lambda: AnnotationParts([answers(TABLE[part == PART]) for part in range(4)]),
    "dask": lambda: AnnotationParts.from_dask(
        dask.dataframe.from_pandas(TABLE.sample(frac=1.0, random_state=1), npartitions=3)
    ),
}
CASES = [
    {},
    {"dependence": "none"},
    {"dependence": 0.3},
    {"doubt": "fit"},
    {"doubt": "fit", "dependence": "fit"},
    {"model": "class", "dependence": "fit"},
    {"doubt": 0.2, "dependence": "fit"},
    {"doubt": np.array([0.1, 0.5, 0.2, 0.4, 0.3]), "dependence": "fit"},  # of each person
    {"rule": "yager", "doubt": 0.2},
]


def by_item(items, labels):
    contour = labels.reorder(sorted(CLASSES)).contour
    return dict(zip(items.tolist(), contour, strict=True))


def assert_alike(found, expected):
    assert found.keys() == expected.keys()
    for item, contour in expected.items():
        np.testing.assert_allclose(found[item], contour, atol=1e-9)


@pytest.mark.parametrize(
    ("source", "options"), [*(("parts", one) for one in CASES), ("dask", CASES[0])]
)
def test_parts_pool_as_answers_in_memory_do(source, options):
    assert WHOLE.dependence().copies == (("p0", "copy"),)
    expected = by_item(WHOLE.items, WHOLE.pool(**options))
    found = {}
    for part in SOURCES[source]().pool(**options):
        found |= by_item(part.items, part.labels)
    assert_alike(found, expected)


def test_the_order_of_answers_does_not_matter_where_people_copy():
    turned = answers(TABLE.sample(frac=1.0, random_state=2))
    assert_alike(by_item(turned.items, turned.pool()), by_item(WHOLE.items, WHOLE.pool()))


def test_options_of_reliability_beside_a_given_doubt_are_refused():
    with pytest.raises(ValueError, match="should come with doubt='fit'"):
        next(SOURCES["parts"]().pool(doubt=0.2, model="full"))


def test_doubts_in_parts_are_named_as_in_memory():
    parts = SOURCES["parts"]()
    for pooled in (lambda: WHOLE.pool(doubt="class"), lambda: parts.pool(doubt="class")):
        with pytest.raises(ValueError, match="write doubt='fit', model='class'"):
            pooled()


ALONE = Annotations.from_long(["x", "y"], ["ann", "bob"], ["oak", "elm"])


@pytest.mark.parametrize("other", ["Oak", "ELM ", "oak/elm", "elm or oak"])
@pytest.mark.parametrize("join", [AnnotationParts, Annotations.concatenate])
def test_classes_of_parts_are_called_alike(other, join):
    part = Annotations.from_long(["u", "v"], ["ann", "bob"], [other, "ash"])
    with pytest.raises(ValueError, match="Parts should call classes alike, but one has"):
        join([ALONE, part])
    told = Annotations.from_long(["u"], ["ann"], [other], classes=["elm", "oak", other.strip()])
    assert len(join([ALONE, told]).classes) == 3


def test_cells_of_a_dask_frame_are_judged_over_all_partitions():
    said = [*["oak", "elm"] * 6, "Oak", "not sure", "oak/elm", "oak"]
    frame = pd.DataFrame({"item": np.arange(16), "annotator": ["ann", "bob"] * 8, "label": said})
    here = Annotations.from_long(*(frame[name] for name in frame.columns))
    parts = AnnotationParts.from_dask(dask.dataframe.from_pandas(frame, npartitions=4))
    assert parts.classes.tolist() == here.classes.tolist() == ["elm", "oak"]
    assert set(map(str, parts.notes)) == set(map(str, here.notes))
    pooled = {}
    for part in parts.pool(doubt=0.1):
        pooled |= dict(zip(part.items.tolist(), part.labels.contour.tolist(), strict=True))
    expected = here.pool(doubt=0.1)
    assert pooled == dict(zip(here.items.tolist(), expected.contour.tolist(), strict=True))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_missing_doubts_of_a_dask_frame_are_filled_from_all_partitions(order):
    rng = np.random.default_rng(0)
    who = rng.choice(["ann", "bob ", "cy", "dee"], 60)
    said = rng.choice(["oak", "elm", "ash", "cannot tell"], 60)
    doubt = np.where(said == "cannot tell", 0.9, rng.uniform(0.05, 0.5, 60))
    doubt[(who == "dee") | (rng.random(60) < 0.4)] = np.nan  # dee gives none
    doubt[:10] = np.nan  # all of one partition
    frame = pd.DataFrame({"item": np.arange(60) // 2, "annotator": who, "label": said})
    frame = frame.assign(doubt=doubt).drop_duplicates(["item", "annotator"])
    here = Annotations.from_long(*(frame[name] for name in frame.columns[:3]), doubt=frame["doubt"])
    turned = frame if not order else frame.sample(frac=1.0, random_state=order)
    lazy = dask.dataframe.from_pandas(turned, npartitions=6, sort=False)
    parts = AnnotationParts.from_dask(lazy, doubt="doubt")
    assert any("no doubt of their own" in note for note in here.notes)
    assert sorted(map(str, parts.notes)) == sorted(map(str, here.notes))
    found = {}
    for part in parts.pool(doubt=0.0):
        found |= dict(zip(part.items.tolist(), part.labels.contour, strict=True))
    assert_alike(found, dict(zip(here.items.tolist(), here.pool(doubt=0.0).contour, strict=True)))


def test_a_column_of_doubts_that_is_empty_in_all_partitions_is_told():
    frame = pd.DataFrame({"item": range(8), "annotator": ["ann", "bob"] * 4})
    frame = frame.assign(label=["oak", "elm", "elm", "oak"] * 2, doubt=np.nan)
    parts = AnnotationParts.from_dask(
        dask.dataframe.from_pandas(frame, npartitions=3), doubt="doubt"
    )
    assert [str(note) for note in parts.notes if "doubt" in note] == [
        "no answer has a doubt of its own: the column is empty"
    ]


def test_answers_that_say_nothing_beside_a_single_class_are_told():
    answers = Annotations.from_long(["x", "y"], ["ann", "bob"], ["oak", "cannot tell"])
    assert "list all classes=" in str(answers.notes[-1])
    assert not ALONE.notes
