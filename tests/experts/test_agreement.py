"""Agreement where there is little to agree on, and what is shown of it."""

from itertools import combinations

import numpy as np
import pytest

from plausible.experts import Agreement, Annotations, agreement
from plausible.report.expert_sections import show_clash
from plausible.report.of_experts import summarize_clash
from plausible.report.words import plain

# Votes (n, K) of every degenerate kind, with unequal numbers of answers and empty classes.
DEGENERATE = {
    "no items, one class": np.zeros((0, 1)),
    "no items, three classes": np.zeros((0, 3)),
    "no items, no classes": np.zeros((0, 0)),
    "items without classes": np.zeros((3, 0)),
    "an item without answers": [[0, 0, 0]],
    "items without answers": np.zeros((4, 3)),
    "items without answers, one class": np.zeros((4, 1)),
    "one answer": [[0, 1, 0]],
    "one answer in one class": [[1]],
    "one answer each": np.eye(3),
    "one answer each, all the same": [[1, 0], [1, 0], [1, 0]],
    "one answer each, some none": [[0, 0], [0, 1], [1, 0]],
    "two that agree": [[0, 2, 0]],
    "two that agree in the only class": [[2]],
    "two that differ": [[1, 0, 1]],
    "three that agree": [[0, 0, 3]],
    "three that differ": [[1, 1, 1]],
    "two against one": [[2, 1, 0]],
    "two against one in one item of three": [[0, 0], [2, 1], [1, 0]],
    "all different in all items": [[1, 1, 1], [1, 1, 1]],
    "all different, more classes": [[1, 1, 0, 0], [0, 0, 1, 1]],
    "one class only": [[3, 0], [2, 0], [4, 0]],
    "one class only, the last": [[0, 0, 2], [0, 0, 5]],
    "the only class": [[3], [2], [7]],
    "one class only, single answers of another": [[3, 0], [0, 1]],
    "one class only, items without answers": [[2, 0], [0, 0]],
    "perfect, two classes": [[2, 0], [0, 2]],
    "perfect, three classes": [[2, 0, 0], [0, 5, 0], [0, 0, 3]],
    "perfect, single answers beside": [[2, 0], [0, 2], [0, 1]],
    "perfect, a class that never occurs": [[2, 0, 0], [0, 3, 0]],
    "one pair in all": [[1, 1], [1, 0], [0, 1]],
    "one pair that agrees in all": [[0, 2], [1, 0], [0, 1]],
    "always even": [[2, 2], [2, 2]],
    "always one against one": [[1, 1], [1, 1], [1, 1]],
    "one item of many answers": [[500, 300, 200]],
    "one item of very many answers": [[1_000_000, 1]],
    "very many answers, one class": [[10_000_000, 0], [3, 0]],
    "many classes, one answer": [np.eye(1, 200)[0]],
    "many classes, one pair": [np.eye(1, 200)[0] * 2],
    "many classes, all different": [np.ones(200)],
    "unequal numbers": [[1, 0, 0], [1, 1, 0], [2, 0, 3], [0, 0, 0]],
    "an outvoted class": [[9, 1], [9, 1], [9, 1]],
    "one dissenter ever": [[3, 0], [3, 0], [2, 1]],
}

# Answers of people 0, 1, ..., one row for an item, among the classes c, a, b.
ANSWERS = {
    "nobody asked": [[None], [None]],
    "all abstain": [["cannot tell"] * 3, ["?"] * 3],
    "all refuse": [["none of these"] * 2],
    "only sets": [["a|b", "b|c"], ["a|c", "a|b"]],
    "one hard answer beside sets": [["a", "a|b"], ["b|c", "cannot tell"]],
    "one annotator": [["a"], ["c"], ["a"]],
    "one annotator, one item": [["b"]],
    "one item": [["a", "b", "b", "none of these"]],
    "hard and empty": [["a", "none of these"], ["a", "a"]],
}


def slow(votes):
    """Alpha, kappa, observed, pairs by going through the answers one by one, NaN where 0 / 0."""
    units = [[k for k, count in enumerate(row) for _ in range(int(count))] for row in votes]
    units = [unit for unit in units if len(unit) > 1]
    said = [k for unit in units for k in unit]
    if not units:
        return Agreement(np.nan, np.nan, np.nan, 0, np.nan)
    pairs = [[a == b for a, b in combinations(unit, 2)] for unit in units]
    every = [same for mine in pairs for same in mine]
    observed = np.mean([np.mean(mine) for mine in pairs])
    disagree = sum((1 - np.mean(p)) * len(u) for p, u in zip(pairs, units, strict=True)) / len(said)
    chance = sum((said.count(k) / len(said)) ** 2 for k in set(said))
    one = len(set(said)) == 1
    expected = np.mean([a != b for a, b in combinations(said, 2)])
    alpha = np.nan if one else 1 - disagree / expected
    kappa = np.nan if one else (observed - chance) / (1 - chance)
    return Agreement(alpha, kappa, observed, len(units), np.mean(every))


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_votes_are_told_without_warnings(name):
    votes = np.asarray(DEGENERATE[name], dtype=np.float64)
    with np.errstate(all="raise"):
        found = agreement(votes)
    if votes.sum() <= 1000:
        np.testing.assert_allclose(found, slow(votes), atol=1e-12)
    has_pair = votes.size > 0 and votes.sum(axis=1).max(initial=0) >= 2
    assert np.isfinite(found.observed) == np.isfinite(found.pairs) == has_pair
    # Beyond chance is defined as soon as two classes were named where two people answered.
    named = votes[votes.sum(axis=1) >= 2].sum(axis=0) > 0
    assert np.isfinite(found.alpha) == np.isfinite(found.kappa) == (named.sum() >= 2)
    assert found.n_items == (votes.sum(axis=1) >= 2).sum()


@pytest.mark.parametrize("name", ANSWERS)
def test_degenerate_answers_are_told_without_warnings(name):
    cells = np.array(ANSWERS[name], dtype=object)
    answers = Annotations.from_answers(cells, classes=["c", "a", "b"])
    votes = [[sum(cell == k for cell in row) for k in "cab"] for row in cells]
    with np.errstate(all="raise"):
        found = answers.agreement()
    np.testing.assert_allclose(found, slow(votes), atol=1e-12)
    names = list(map(str, range(len(cells))))
    text = " ".join(
        map(str, show_clash(plain(summarize_clash(answers, np.zeros(len(names)), names, 3))))
    )
    assert ("Krippendorff" in text) == np.isfinite(found.alpha)
    assert ("of all pairs" in text) == np.isfinite(found.pairs)


def test_a_random_table_is_as_counted_by_hand():
    votes = np.random.default_rng(3).integers(0, 4, size=(15, 4))
    np.testing.assert_allclose(agreement(votes), slow(votes), atol=1e-12)


def test_the_share_of_all_pairs_is_not_the_mean_over_items():
    # 10 of 10 pairs about the first item, 0 of 1 about the second.
    found = agreement([[5, 0, 0], [0, 1, 1]])
    assert found.observed == 0.5
    assert found.pairs == pytest.approx(10 / 11)


def test_the_report_tells_the_share_of_all_pairs():
    rows = [["a"] * 5, ["b", "c", None, None, None]]
    answers = Annotations.from_answers(np.array(rows, dtype=object), classes=["c", "a", "b"])
    part = plain(summarize_clash(answers, np.array([0.0, 0.5]), ["x", "y"], 2))
    assert part["agreement"]["observed"] == 0.5
    assert part["agreement"]["pairs"] == pytest.approx(10 / 11)
    text = " ".join(map(str, show_clash(part)))
    assert "are the same in 91 % of all pairs" in text


@pytest.mark.parametrize(
    ("votes", "words"),
    [
        ([1, 2], r"shape \(2,\)"),
        ([[1, -1]], "row 0"),
        ([[1, 1], [np.nan, 2]], "row 1"),
        ([[1, 1], [np.inf, 2]], "row 1"),
        ([[0.5, 2]], "row 0"),
        ([["a", "b"]], "votes"),
    ],
)
def test_votes_that_are_no_counts_are_refused(votes, words):
    with pytest.raises(ValueError, match=words):
        agreement(votes)
