"""Confusions that are drawn towards one rate of being right."""

import numpy as np
import pytest

from plausible.errors import InputError
from plausible.experts import Annotations, fit_reliability
from plausible.experts.rate_model import confusions

CLASSES = np.array(["m", "z", "b"])


def crowd(n_items=200, n_people=6, seed=0):
    """Hard answers, sets and doubts about three unsorted classes that are confused unevenly."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, size=n_items, p=[0.5, 0.3, 0.2])
    table = np.array([[0.8, 0.15, 0.05], [0.1, 0.6, 0.3], [0.05, 0.05, 0.9]])
    items, people, said = [], [], []
    for item in range(n_items):
        for person in range(n_people):
            own = rng.choice(3, p=table[y[item]])
            answer = {CLASSES[own]} | ({CLASSES[rng.integers(3)]} if rng.random() < 0.2 else set())
            items.append(item)
            people.append(person)
            said.append(answer)
    doubt = np.where(rng.random(len(said)) < 0.5, 0.0, rng.random(len(said)) * 0.5)
    return y, Annotations.from_long(items, people, said, classes=CLASSES.tolist(), doubt=doubt)


def test_without_imagined_answers_it_is_the_full_model():
    _, answers = crowd()
    one, other = (fit_reliability(answers, m, smoothing=0.0) for m in ("shrunk", "full"))
    np.testing.assert_allclose(one.confusion, other.confusion, atol=1e-9)
    np.testing.assert_allclose(one.posterior, other.posterior, atol=1e-9)


def test_with_very_many_it_is_one_rate_for_each_person():
    _, answers = crowd()
    plain = fit_reliability(answers, "one_coin", tol=1e-10)
    firm = fit_reliability(answers, "shrunk", smoothing=1e10)
    np.testing.assert_allclose(firm.confusion, confusions(plain.learned, 3), atol=1e-3)
    np.testing.assert_allclose(firm.evidence, plain.evidence, atol=1e-2)
    np.testing.assert_allclose(firm.accuracy, plain.learned[:, 0], atol=1e-3)


def test_the_criterion_is_the_likelihood_and_the_density_of_imagined_answers():
    _, answers = crowd(60)
    found = fit_reliability(answers, "shrunk", tol=1e-9)
    assert np.diff(found.history).min() >= -1e-9 * abs(found.history[-1])
    center = confusions(fit_reliability(answers, "one_coin").learned, 3)
    prior = 10 * float((center * np.log(found.confusion)).sum())
    assert found.history[-1] == pytest.approx(found.log_likelihood + prior, rel=1e-4)


def test_confusions_of_few_answers_lie_between_those_of_both_models():
    _, answers = crowd(40)
    full, plain, between = (
        fit_reliability(answers, m).confusion for m in ("full", "one_coin", "shrunk")
    )
    to_plain, to_full = np.abs(between - plain).sum(), np.abs(between - full).sum()
    apart = np.abs(full - plain).sum()
    assert to_plain < 0.9 * apart
    assert to_full < 0.9 * apart


def test_labels_that_nobody_asked_more_about_come_from_it():
    y, _ = crowd()
    rng = np.random.default_rng(1)
    # Everybody takes half of the third class for the second: one rate says nothing of that.
    wrong = np.where((y == 2) & (rng.random((8, len(y))) < 0.55), 1, y)
    said = np.where(rng.random((8, len(y))) < 0.15, rng.integers(3, size=(8, len(y))), wrong).T
    answers = Annotations.from_answers(CLASSES[said], CLASSES.tolist())
    labels = answers.pool()
    from_model = answers.pool(doubt="fit", model="shrunk", dependence=answers.dependence())
    np.testing.assert_allclose(labels.scaled(), from_model.scaled(), atol=1e-12)
    votes = answers.votes().argmax(axis=1)
    assert (labels.contour.argmax(axis=1) == y).mean() > (votes == y).mean() + 0.05


def test_tables_of_confusions_that_no_memory_holds_are_refused_and_not_the_default():
    n_classes = 3000
    answers = Annotations.from_answers(np.arange(n_classes)[:, None] + np.zeros((1, 6), int))
    with pytest.raises(InputError, match="Confusions should be at most"):
        answers.reliability("shrunk")
    short = answers[:5]
    assert short.pool().contour.shape == (5, n_classes)


@pytest.mark.parametrize("model", ["one_coin", "class", "full", "shrunk"])
def test_what_was_learned_of_people_pools_other_answers_of_theirs(model):
    _, answers = crowd()
    found = answers.reliability(model)
    pooled = answers.pool(doubt="fit", model=model)
    again = answers.pool(doubt=found)
    np.testing.assert_allclose(again.scaled(), pooled.scaled(), atol=1e-9)
    np.testing.assert_allclose(again.conflict, pooled.conflict, atol=1e-9)
    some = [30, 2, 7]
    np.testing.assert_allclose(answers[some].pool(doubt=found).contour, again.contour[some])


def test_somebody_who_is_not_known_counts_as_others_do_on_average():
    _, answers = crowd()
    found = answers.reliability("full")
    stranger = Annotations.from_long(["x"], ["nobody"], ["z"], classes=CLASSES.tolist())
    expected = np.average(found.confusion, axis=0, weights=found.n_answers)[:, 1]
    pooled = stranger.pool(doubt=found).scaled()[0]
    np.testing.assert_allclose(pooled, expected / expected.max(), atol=1e-9)
    other = Annotations.from_long(["x"], ["nobody"], ["q"])
    with pytest.raises(InputError, match="about the classes of which people are known"):
        other.pool(doubt=found)
