"""Labels of a table stay with their rows and classes, whatever is missing beside them."""

import json

import numpy as np
import pytest

from plausible.belief import contour
from plausible.io import read_annotations, read_label_studio, read_labels

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
    beside = {"plausibility:z": [0.7, 0], "plausibility:b": [0.8, 1], "plausibility:m": [0.8, 1]}
    both = read_labels(table | beside, classes=["m", "z", "b"])
    assert both.classes.tolist() == ["m", "z", "b"]
    np.testing.assert_allclose(both.contour, labels.contour)
    np.testing.assert_allclose(contour(both.masses()), labels.contour)


def test_a_label_and_its_doubt_may_be_missing_together():
    labels = read_labels({"label": ["z", GAP, "b", GAP], "doubt": [0.25, GAP, 0.5, 0.0]})
    assert labels.classes.tolist() == ["b", "z"]
    np.testing.assert_allclose(labels.contour, [[0.25, 1], [1, 1], [1, 0.5], [1, 1]])


def test_gaps_in_a_wide_table_move_no_answer():
    table = {
        "item": ["x", "y", "w", "v"],
        "cy": [GAP, "z", "b", "m"],
        "ann": ["m", GAP, GAP, "z"],
        "bob": ["b", "b", "z", GAP],
    }
    answers = read_annotations(table)
    said = {
        (answers.items[item], answers.annotators[who], answers.classes[contour.argmax()])
        for item, who, contour in zip(
            answers.item, answers.annotator, answers.contours[answers.statement], strict=True
        )
    }
    expected = {
        (item, who, table[who][row])
        for row, item in enumerate(table["item"])
        for who in ("cy", "ann", "bob")
        if table[who][row] is not GAP
    }
    assert said == expected


def test_a_task_that_was_skipped_has_no_answer_whatever_was_chosen_before(tmp_path):
    def annotation(person, choice, **more):
        return {"completed_by": person, "result": [{"value": {"choices": [choice]}}], **more}

    tasks = [
        {"id": 7, "annotations": [annotation(1, "z"), annotation(2, "b", was_canceled=True)]},
        {"id": 8, "annotations": [annotation(1, "b"), annotation(2, "m", was_canceled=False)]},
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    answers = read_label_studio(path, classes=["z", "b", "m"])
    np.testing.assert_array_equal(answers.votes(), [[1, 0, 0], [0, 1, 1]])
