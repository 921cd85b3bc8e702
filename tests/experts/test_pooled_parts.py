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
