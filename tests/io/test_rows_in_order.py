"""Labels of a table stay with their rows and classes, whatever is missing beside them."""

import numpy as np
import pytest

from plausible.io import read_labels

GAP = None


def test_empty_rows_among_probabilities_move_no_other():
    table = {
        "probability:z": [0.2, GAP, 0.5, 0.1, GAP, 0.3],
        "probability:b": [0.3, GAP, 0.5, 0.2, GAP, 0.1],
        "probability:m": [0.5, GAP, 0.0, 0.7, GAP, 0.6],
    }
    labels = read_labels(table)
    ones = [1.0, 1.0, 1.0]
    expected = [[0.2, 0.3, 0.5], ones, [0.5, 0.5, 0.0], [0.1, 0.2, 0.7], ones, [0.3, 0.1, 0.6]]
    assert labels.classes.tolist() == ["z", "b", "m"]
    np.testing.assert_allclose(labels.contour, expected)


@pytest.mark.parametrize("prefix", ["probability", "plausibility"])
def test_columns_go_where_their_classes_are_asked_for(prefix):
    table = {f"{prefix}:z": [0.2, 1.0], f"{prefix}:b": [0.3, 0.0], f"{prefix}:m": [0.5, 0.0]}
    labels = read_labels(table, classes=["m", "z", "b"])
    assert labels.classes.tolist() == ["m", "z", "b"]
    np.testing.assert_allclose(labels.contour, [[0.5, 0.2, 0.3], [0.0, 1.0, 0.0]])


def test_masses_go_where_their_classes_are_asked_for():
    table = {"mass:z": [0.2, 0.0], "mass:b|m": [0.3, 1.0], "mass:z|b|m": [0.5, 0.0]}
    labels = read_labels(table, classes=["m", "z", "b"])
    np.testing.assert_allclose(labels.contour, [[0.8, 0.7, 0.8], [1.0, 0.0, 1.0]])


def test_a_label_and_its_doubt_may_be_missing_together():
    labels = read_labels({"label": ["z", GAP, "b", GAP], "doubt": [0.25, GAP, 0.5, 0.0]})
    assert labels.classes.tolist() == ["b", "z"]
    np.testing.assert_allclose(labels.contour, [[0.25, 1], [1, 1], [1, 0.5], [1, 1]])
