"""Advice from the limits on that the documentation names, and intervals by weight."""

import math

import numpy as np
import pytest

from plausible.experts import Annotations
from plausible.labels import Labels
from plausible.report import summarize
from plausible.report.opening import advice


def sections(summary):
    return {piece.section for piece in advice(summary)}


@pytest.fixture(scope="module")
def calm():
    """A report on people who agree, with a doubt and a priority to be set."""
    said = np.tile(np.array(["a", "b", "c"]), 20)[:, None].repeat(4, axis=1)
    return summarize(annotations=Annotations.from_answers(said))


@pytest.mark.parametrize(("doubt", "told"), [(0.49, False), (0.5, True)])
def test_annotators_of_half_a_doubt_should_be_checked(calm, doubt, told):
    row = calm["reliability"]["annotators"][0]
    people = [row | {"doubt": doubt, "low": 0.5}, *calm["reliability"]["annotators"][1:]]
    summary = calm | {"reliability": calm["reliability"] | {"annotators": people}}
    assert ("reliability" in sections(summary)) == told
    assert "reliability" not in sections(calm)


@pytest.mark.parametrize(("priority", "told"), [(0.24, False), (0.25, True)])
def test_items_of_a_quarter_of_priority_should_be_asked_again(calm, priority, told):
    items = [row | {"priority": priority} for row in calm["questions"]["items"]]
    summary = calm | {"questions": calm["questions"] | {"items": items}}
    assert ("questions" in sections(summary)) == told


class Parrot:
    """A classifier that believes the second class as far as X says so."""

    classes_ = np.array(["a", "b"])

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


@pytest.mark.parametrize(("wrong", "told"), [(0.14, False), (0.17, True)])
def test_probabilities_off_by_a_twentieth_for_sure_are_not_taken_at_their_word(wrong, told):
    # Confidence 0.9; so many items that the interval is 0.01 wide: 0.04 and 0.07 too sure.
    n = 40_000
    y = np.where(np.arange(n) < wrong * n, "a", "b")
    summary = summarize(model=Parrot(), X_test=np.full((n, 1), 0.9), y_test=y)
    assert ("scores" in sections(summary)) == told


def test_intervals_are_those_of_weighted_rows():
    # Half of the labels are doubted by 0.9: their rows count a tenth, and vary the score less.
    n = 200
    rng = np.random.default_rng(0)
    right, doubt = rng.uniform(size=n) < 0.7, np.where(np.arange(n) % 2, 0.9, 0.0)
    labels = Labels.from_doubt(np.where(right, "b", "a"), doubt, ["a", "b"])
    found = summarize(
        model=Parrot(), X_test=np.full((n, 1), 0.9), y_test=labels, n_bootstrap=20_000
    )["scores"]["scores"][0]
    weight = 1 - doubt
    mean = (weight @ right) / weight.sum()
    error = math.sqrt(((weight * (right - mean)) ** 2).sum()) / weight.sum()
    assert found["score"] == "soft_accuracy"
    assert found["estimate"] == pytest.approx(mean)
    assert found["high"] - found["low"] == pytest.approx(2 * 1.96 * error, rel=0.06)
