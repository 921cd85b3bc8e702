"""Columns and tables of answers that do not mean what they seem are refused, told or put right."""

import numpy as np
import pandas as pd
import pytest

from plausible.base import RowOrderWarning
from plausible.experts import Annotations
from plausible.models import SoftNearestCentroid

SAID = Annotations.from_long([1, 1, 2], ["ann", "bob", "ann"], ["c", "d", "c"])


def test_what_is_masked_is_missing():
    labels = np.ma.array([1, 2, 1], mask=[False, True, False])
    found = Annotations.from_long([1, 1, 2], ["a", "b", "a"], labels, classes=[1, 2])
    expected = Annotations.from_long([1, 1, 2], ["a", "b", "a"], [1, None, 1], classes=[1, 2])
    assert found.to_table() == expected.to_table()
    wide = np.ma.array([[1, 2], [2, 2]], mask=[[False, True], [False, False]])
    assert len(Annotations.from_answers(wide)) == 3
    doubts = np.ma.array([0.1, 0.9, 0.3], mask=[False, True, False])
    found = Annotations.from_long([1, 1, 2], ["a", "b", "a"], ["c", "d", "c"], doubt=doubts)
    np.testing.assert_allclose(found.doubt, [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="names are missing in 1 row"):
        Annotations.from_long(labels, ["a", "b", "a"], ["c", "d", "c"])


@pytest.mark.parametrize("called", ["doubt", "confidence", "probability"])
def test_numbers_in_another_order_than_items_are_told(called):
    numbers = pd.Series([0.25, 0.75], index=[1, 0])
    with pytest.warns(RowOrderWarning, match=f"Rows of items and {called} should have the same"):
        Annotations.from_long(pd.Series([1, 1]), ["a", "a"], ["c", "d"], **{called: numbers})


@pytest.mark.parametrize("values", ["ann", 3, iter(["ann", "bob"])])
def test_a_column_that_is_none_is_shown(values):
    with pytest.raises(ValueError, match="annotators should be .*list with a name for each row"):
        Annotations.from_long([1, 2], values, ["c", "d"])


def test_a_column_of_items_is_no_person_and_no_class():
    wide = pd.DataFrame({"item": ["x", "y"], "ann": ["c", "d"], "bob": ["c", "c"]})
    with pytest.raises(ValueError, match="'item' is called as items are; .*items=table"):
        Annotations.from_answers(wide)
    found = Annotations.from_answers(wide.drop(columns="item"), items=wide["item"])
    assert found.items.tolist() == ["x", "y"]
    counts = pd.DataFrame({"ID": [7, 8], "c": [1, 2], "d": [0, 2]})
    with pytest.raises(ValueError, match="Each column should be of one class, but 'ID' is called"):
        Annotations.from_classes(counts, "count")
    assert Annotations.from_classes(counts.set_index("ID"), "count").items.tolist() == [7, 8]


def test_doubts_of_people_are_given_when_answers_are_pooled():
    with pytest.raises(ValueError, match=r"a dict came; give .* to pool\(doubt="):
        Annotations.from_long([1], ["a"], ["c"], doubt={"a": 0.1})


def test_answers_of_several_people_are_no_labels():
    with pytest.raises(ValueError, match=r"y should be labels, .* pool them with y.pool\(\)"):
        SoftNearestCentroid().fit([[0.0], [1.0]], SAID)
    assert SoftNearestCentroid().fit([[0.0], [1.0]], SAID.pool()).classes_.tolist() == ["c", "d"]


def test_doubts_of_people_by_name_go_to_those():
    people = Annotations.from_long([1, 1], ["q", "p"], ["c", "d"])
    expected = people.pool(doubt={"p": 0.1, "q": 0.9})
    for doubt in (pd.Series({"p": 0.1, "q": 0.9}), pd.Series([0.9, 0.1]), [0.9, 0.1]):
        np.testing.assert_array_equal(people.pool(doubt=doubt).contour, expected.contour)
    people = Annotations.from_long([1, 1, 2], [1, 0, 1], ["c", "d", "c"])
    doubts = [0.1, 0.9, 0.5]  # one for each answer
    expected = people.pool(doubt=doubts)
    np.testing.assert_array_equal(people.pool(doubt=pd.Series(doubts)).contour, expected.contour)
