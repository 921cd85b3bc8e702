"""Abilities of people and difficulties of items."""

import numpy as np
import pytest
from scipy.special import expit

from plausible.errors import InputError
from plausible.experts import Annotations, fit_reliability
from plausible.experts.difficulty import DifficultyModel, Point

CLASSES = ["m", "z", "b"]


def crowd(n_items=120, n_people=9, spread=2.0, seed=0, plain=False):
    """Truth, difficulties and answers: hard ones, and (unless plain) sets and doubts."""
    rng = np.random.default_rng(seed)
    y, hard = rng.integers(3, size=n_items), spread * rng.normal(size=n_items)
    able = np.linspace(0.0, 3.0, n_people)
    items, people, said = [], [], []
    for i in range(n_items):
        for r in range(n_people):
            rate = 1 / 3 + 2 / 3 * expit(able[r] - hard[i])
            own = y[i] if rng.random() < rate else (y[i] + rng.integers(1, 3)) % 3
            more = set() if plain or rng.random() < 0.8 else {CLASSES[rng.integers(3)]}
            items.append(i)
            people.append(r)
            said.append({CLASSES[own]} | more)
    doubt = None if plain else np.where(rng.random(len(said)) < 0.6, 0, rng.random(len(said)) / 2)
    return y, hard, Annotations.from_long(items, people, said, classes=CLASSES, doubt=doubt)


def by_definition(answers, point, n_people):
    """Log likelihood of all answers by plain loops, and posteriors (n, K)."""
    total, posteriors = 0.0, []
    contours = answers.contours[answers.statement]
    for item in range(len(answers.items)):
        likelihood = np.array(point.prior)
        for a in np.flatnonzero(answers.item == item):
            gap = point.ability[answers.annotator[a]] - point.difficulty[item]
            c = 1 / 3 + 2 / 3 * expit(gap)
            d = 0.0 if answers.doubt is None else answers.doubt[a]
            said = np.where(np.eye(3) == 1, c, (1 - c) / 2) @ contours[a]
            likelihood = likelihood * (d + (1 - d) * said)
        total += np.log(likelihood.sum())
        posteriors.append(likelihood / likelihood.sum())
    return total, np.array(posteriors)


def test_the_likelihood_is_that_of_plain_loops():
    _, _, answers = crowd(15, 4)
    rng = np.random.default_rng(1)
    point = Point(np.array([0.5, 0.3, 0.2]), rng.normal(size=4), rng.normal(size=15))
    problem = DifficultyModel(answers, 1.0, None, None)
    posterior, _, log_likelihood = problem.expect(point)
    expected, posteriors = by_definition(answers, point, 4)
    assert log_likelihood == pytest.approx(expected, abs=1e-9)
    np.testing.assert_allclose(posterior, posteriors, atol=1e-10)


def test_the_criterion_never_falls_and_ends_where_it_is_flat():
    _, _, answers = crowd(25, 5)
    problem = DifficultyModel(answers, 1.0, None, None)
    point = problem.start()
    path = []
    for _ in range(300):
        summary = problem.summarize([point])[0]
        path.append(summary.criterion)
        point = problem.solve(summary)
    assert np.diff(path).min() > -1e-9
    for what, number in (("ability", 0), ("ability", 3), ("difficulty", 2), ("difficulty", 20)):
        shift = np.zeros(len(getattr(point, what)))
        shift[number] = 1e-4
        up, down = (
            problem.summarize([point._replace(**{what: getattr(point, what) + s})])[0].criterion
            for s in (shift, -shift)
        )
        assert abs(up - down) / 2e-4 < 1e-3


def test_abilities_and_difficulties_are_recovered():
    y, hard, answers = crowd(400, 12, spread=1.5)
    found = answers.reliability("difficulty")
    assert np.corrcoef(found.difficulty, hard)[0, 1] > 0.5
    assert np.corrcoef(found.accuracy, np.arange(12))[0, 1] > 0.9
    plain = answers.reliability("one_coin")
    for one in (found, plain):
        assert (one.posterior.argmax(axis=1) == y).mean() > 0.7
    truth_of = [one.posterior[np.arange(400), y] for one in (found, plain)]
    losses = [-np.log(np.maximum(one, 1e-6)).mean() for one in truth_of]
    assert losses[0] < losses[1]  # easy items make the others look surer than they are


def test_items_alike_in_difficulty_leave_one_rate_for_each_person():
    _, _, answers = crowd(60, 5, spread=0.0, plain=True)
    problem = DifficultyModel(answers, 1e-9, None, np.full(3, 1 / 3))
    rates = np.array([0.9, 0.8, 0.5, 0.7, 0.6])
    ability = np.log((rates - 1 / 3) / (1 - rates))
    posterior, right, _ = problem.expect(Point(np.full(3, 1 / 3), ability, np.zeros(60)))
    likelihood = np.ones((60, 3))
    said = answers.facts.chosen[answers.statement]
    for a in range(len(answers)):
        c = rates[answers.annotator[a]]
        likelihood[answers.item[a]] *= np.where(np.arange(3) == said[a], c, (1 - c) / 2)
    expected = likelihood / likelihood.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(posterior, expected, atol=1e-9)
    np.testing.assert_allclose(right, expected[answers.item, said], atol=1e-9)


def test_known_classes_count_and_labels_follow():
    y, _, answers = crowd(80, 5)
    gold = {i: CLASSES[y[i]] for i in range(20)}
    found = fit_reliability(answers, "difficulty", gold=gold)
    np.testing.assert_allclose(found.posterior[np.arange(20), y[:20]], 1.0)
    labels = answers.pool(doubt="fit", model="difficulty", gold=gold)
    np.testing.assert_allclose(labels.scaled(), found.evidence, atol=1e-12)
    assert (found.low <= found.accuracy).all()
    assert (found.accuracy <= found.high).all()
    with pytest.raises(InputError, match="n_bootstrap should be 0"):
        fit_reliability(answers, "difficulty", n_bootstrap=5)
