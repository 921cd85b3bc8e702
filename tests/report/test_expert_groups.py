"""Annotators who copy, or err together, in the report."""

import numpy as np

from plausible.experts import Annotations
from plausible.report import render, summarize


def crowd(n_items=300):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n_items)
    said = np.where(rng.random((n_items, 8)) < 0.7, y[:, None], rng.integers(3, size=(n_items, 8)))
    return rng, said


def answers_of(said):
    names = ["<ann>", *"bcdefgh"]
    return Annotations.from_answers(np.array(["oak", "elm", "ash"])[said], annotators=names)


def test_groups_are_named_with_what_they_count_for():
    rng, said = crowd()
    said[:, 5] = said[:, 0]
    follows = rng.random(len(said)) < 0.6
    said[follows, 6] = said[follows, 2]
    answers = answers_of(said)
    copies, group = summarize(annotations=answers)["reliability"]["together"]["groups"]
    assert (copies["annotators"], copies["is_copies"], copies["worth"]) == (["<ann>", "f"], True, 1)
    assert (group["annotators"], group["is_copies"]) == (["c", "g"], False)
    (shared,) = answers.dependence().group_shared
    assert group["worth"] == 2 / (1 + shared)
    page = render(summarize(annotations=answers))
    assert "Annotators who err together" in page
    assert "<bdi>&lt;ann&gt;</bdi>, <bdi>f</bdi>" in page


def test_people_who_err_on_their_own_are_not_mentioned(monkeypatch):
    answers = answers_of(crowd()[1])
    assert "err together</h3>" not in render(summarize(annotations=answers))
    monkeypatch.setattr("plausible.experts.pairs.MOST_MEETINGS", 10)
    assert "copy each other was not looked at" in render(summarize(annotations=answers))
