"""What comes first on the page: the right numbers, and advice only where there is a reason."""

import html
import re

import numpy as np
import pytest

from plausible.experts import Annotations
from plausible.labels import Labels
from plausible.report import render, summarize
from plausible.report.opening import advice, at_a_glance


class Parrot:
    """A classifier that believes a class as far as X says so."""

    classes_ = np.array(["a", "b"])

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def told(summary):
    """Advice by section, as plain text."""
    return {
        piece.section: html.unescape(re.sub("<[^>]*>", "", piece.deed + piece.why))
        for piece in advice(summary)
    }


def crowd(*skills, n_items=300, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_items)
    guess = rng.integers(2, size=(n_items, len(skills)))
    said = np.where(rng.uniform(size=guess.shape) < skills, truth[:, None], guess)
    people = [f"person {k}" for k in range(len(skills))]
    return Annotations.from_answers(np.array(["a", "b"])[said], annotators=people)


def test_where_all_is_well_there_is_nothing_to_do():
    calm = summarize(Labels.from_crisp(list("aabb")))
    assert told(calm) == {}
    page = render(calm)
    assert "Nothing in what was given calls for action." in page
    assert "What to do first" not in page
    assert at_a_glance(summarize()) == []


def test_empty_labels_should_be_filled():
    labels = Labels.from_doubt(list("aabb"), [0, 0, 1, 0.2])
    assert told(summarize(labels)) == {
        "labels": "Label 1 item (25 %) about which nothing is known."
    }


def test_clashes_should_be_settled():
    ones = np.ones((4, 2))
    labels = Labels(ones, ["a", "b"], conflict=[0.5, 0.9, 0.6, 0.0])
    said = told(summarize(labels, items=["p", "<q>", "r", "s"]))
    assert said["clash"] == "Settle 2 items (50 %) on which experts clash. The worst is <q>."


def test_who_guesses_should_be_checked_and_nobody_else():
    said = told(summarize(annotations=crowd(0.95, 0.9, 0.9, 0.0)))
    assert said["reliability"] == ("Check 1 annotator who may be no better than chance: person 3.")
    assert "reliability" not in told(summarize(annotations=crowd(0.95, 0.9, 0.9)))


def test_of_many_who_guess_only_some_are_counted():
    said = told(summarize(annotations=crowd(*[0.9] * 30, *[0.0] * 60, n_items=100)))
    assert said["reliability"].startswith("Check 25 annotators or more who")
    assert said["reliability"].endswith(" and more.")


def test_only_urgent_items_are_asked_again():
    lone = summarize(annotations=Annotations.from_answers([["a"], ["b"]]))
    assert told(lone)["questions"] == "Ask again where another answer is worth most: 0, 1."
    many = Annotations.from_answers([["a"] * 9, ["b"] * 9])
    assert "questions" not in told(summarize(annotations=many))


def test_suspicious_labels_should_be_looked_at():
    X = np.array([[0.01], [0.02], [0.99], [0.975], [0.03], [0.04]])
    said = told(summarize(list("abaabb"), model=Parrot(), X=X))
    assert said["belief"] == (
        "Look at 5 labels that the model finds implausible: row 2, row 1, row 3 and more."
    )
    assert "belief" not in told(summarize(list("aabbaa"), model=Parrot(), X=X))


@pytest.mark.parametrize(("right", "how"), [(0.6, "too sure, by 0.30"), (1.0, None)])
def test_overconfidence_is_told(right, how):
    X = np.full((500, 1), 0.9)
    y = np.where(np.arange(500) < 500 * right, "b", "a")
    said = told(summarize(model=Parrot(), X_test=X, y_test=Labels.from_crisp(y, ["a", "b"])))
    expected = f"Do not take its probabilities at their word: the model is {how} on average."
    if how is None:
        expected = expected.replace("None", "not sure enough, by 0.10")
    assert said["scores"] == expected


def test_a_model_that_knows_how_sure_it_is_may_be_trusted():
    X = np.full((500, 1), 0.9)
    y = np.where(np.arange(500) < 450, "b", "a")
    assert "scores" not in told(summarize(model=Parrot(), X_test=X, y_test=y))


def test_the_glance_has_the_numbers_of_the_sections():
    answers = crowd(0.9, 0.6)
    X = np.full((300, 1), 0.9)
    summary = summarize(annotations=answers, model=Parrot(), X=X, X_test=X, y_test=["b"] * 300)
    glance = {what: (value, note) for what, value, note in at_a_glance(summary)}
    labels = answers.pool()
    conflict = labels.conflict
    assert glance["items"] == ("300", "in 2 classes")
    assert glance["answers"] == ("600", "by 2 people")
    assert glance["mean conflict"] == (
        f"{conflict.mean():.2f}", f"{(conflict > 0.5).sum()} above 0.5",
    )  # fmt: skip
    assert glance["suspicious"][0] == str(summary["belief"]["suspicious"]["count"])
    assert glance["soft accuracy"] == ("1.00", "1.00 to 1.00")
    says_nothing = (labels.informativeness == 0).mean()  # two people who clash, equally trusted
    assert glance["empty labels"][0] == f"{says_nothing:.0%}".replace("%", " %")
