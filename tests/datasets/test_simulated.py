import numpy as np
import pytest
from scipy.stats import norm

from plausible.datasets import make_annotators, make_doubtful_expert, make_missing_labels

MANY = 40_000


@pytest.mark.parametrize("doubt", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_doubtful_expert_is_as_described(doubt, n_classes):
    data = make_doubtful_expert(MANY, doubt, n_classes=n_classes, random_state=0)
    assert data.doubt.mean() == pytest.approx(doubt, abs=0.005)
    assert data.doubt.std() == pytest.approx(0.2, abs=0.005)
    wrong = data.expert != data.y
    share = (n_classes - 1) / n_classes
    assert wrong.mean() == pytest.approx(doubt * share, abs=0.01)
    for low in (0.0, 0.25, 0.5, 0.75):  # and the more he doubts, the more often he is wrong
        here = (data.doubt >= low) & (data.doubt < low + 0.25)
        expected = data.doubt[here].mean() * share
        assert wrong[here].mean() == pytest.approx(expected, abs=2.0 / np.sqrt(here.sum()))
    np.testing.assert_allclose(np.bincount(data.y) / MANY, 1 / n_classes, atol=0.01)


def test_the_classes_are_gaussians_at_distance_two():
    data = make_doubtful_expert(MANY, 0.3, random_state=1)
    gap = data.X[data.y == 0].mean(axis=0) - data.X[data.y == 1].mean(axis=0)
    assert np.linalg.norm(gap) == pytest.approx(2.0, abs=0.05)
    within = np.cov((data.X - data.means[data.y]).T)
    np.testing.assert_allclose(within, np.eye(10), atol=0.03)


def test_the_labels_say_what_the_expert_says():
    data = make_doubtful_expert(50, 0.4, n_classes=3, random_state=2)
    rows = np.arange(50)
    np.testing.assert_array_equal(data.labels.contour[rows, data.expert], 1.0)
    others = data.labels.contour[rows, (data.expert + 1) % 3]
    np.testing.assert_allclose(others, data.doubt)


def test_equal_doubts():
    data = make_doubtful_expert(10, 0.0, doubt_std=0.0, random_state=0)
    np.testing.assert_array_equal(data.expert, data.y)
    assert (make_doubtful_expert(10, 1.0, doubt_std=0.0).doubt == 1.0).all()


@pytest.mark.parametrize("make", [make_doubtful_expert, make_annotators, make_missing_labels])
def test_a_seed_fixes_everything(make):
    first, again, other = (make(60, random_state=seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.labels.contour, again.labels.contour)
    assert not np.array_equal(first.X, other.X)


def test_annotators_differ_in_skill_and_pooling_beats_the_vote():
    data = make_annotators(6000, random_state=0)
    wrong = (data.answers != data.y).mean(axis=1)
    assert (np.diff(wrong) > 0.03).all()
    majority = (data.majority != data.y).mean()
    pooled = (data.labels.contour.argmax(axis=1) != data.y).mean()
    assert pooled < majority - 0.03 < wrong[0]
    assert (np.bincount(data.y) == 1000).all()


def test_annotators_confuse_neighbors_first():
    data = make_annotators(6000, random_state=1)
    steps = np.abs(data.answers[2] - data.y)
    ring = np.minimum(steps, 6 - steps)
    counts = np.bincount(ring, minlength=4)
    assert counts[1] > 3 * counts[2] > 3 * counts[3]


def test_plausibilities_are_tenths_with_a_full_one():
    given = make_annotators(random_state=2).plausibilities
    assert given.max(axis=2).min() == 1.0
    np.testing.assert_allclose(given * 10, (given * 10).round())


def test_pooled_labels_follow_from_what_is_returned():
    doubt = [0.1, 0.2, 0.3, 0.4, 0.5]
    data = make_annotators(doubt=doubt, random_state=3)
    np.testing.assert_array_equal(data.doubt, doubt)
    d = data.doubt[:, None, None]
    product = ((1 - d) * data.plausibilities + d).prod(axis=0)
    scaled = product / product.max(axis=1, keepdims=True)
    np.testing.assert_allclose(data.labels.scaled(), scaled)


@pytest.mark.parametrize("bayes_error", [0.025, 0.4])
def test_the_best_rule_for_missing_labels_has_the_bayes_error(bayes_error):
    data = make_missing_labels(MANY, 20, bayes_error=bayes_error, missing=0.75, random_state=0)
    assert data.means[0].tolist() == [0.0] * 20
    distance = np.linalg.norm(data.means[1])
    assert norm.cdf(-distance / 2) == pytest.approx(bayes_error)
    answers = (data.X - data.means[1] / 2) @ data.means[1] > 0.0
    assert (answers != data.y).mean() == pytest.approx(bayes_error, abs=0.01)
    known = ~data.labels.is_unknown
    assert known.sum() == MANY // 4
    np.testing.assert_array_equal(data.labels.crisp()[known], data.y[known])


@pytest.mark.parametrize("seed", range(20))
def test_both_classes_have_a_label_even_if_two_are_all(seed):
    data = make_missing_labels(2, missing=1.0, random_state=seed)
    assert sorted(data.y.tolist()) == [0, 1]
    assert not data.labels.is_unknown.any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_doubtful_expert(0), "n should be a whole number from 1, but 0"),
        (lambda: make_doubtful_expert(2.5), "n should be a whole number"),
        (lambda: make_doubtful_expert(doubt=1.2), "doubt should be a finite number in"),
        (lambda: make_doubtful_expert(doubt=0.02), "doubt_std should be below 0.14"),
        (lambda: make_doubtful_expert(n_classes=12), "n_features should be a whole number from 12"),
        (lambda: make_annotators(3), "n should be a whole number from 6"),
        (lambda: make_annotators(noise=()), "noise should be positive"),
        (lambda: make_annotators(noise=(0.5, -1.0)), "noise should be positive"),
        (lambda: make_annotators(confidence=0.0), "confidence should be positive"),
        (lambda: make_annotators(ambiguity=2.0), "ambiguity should be a finite number in"),
        (lambda: make_annotators(doubt=0.0), "doubt should be a finite number in"),
        (lambda: make_missing_labels(1), "n should be a whole number from 2"),
        (lambda: make_missing_labels(bayes_error=0.6), "bayes_error should be a finite number in"),
        (lambda: make_missing_labels(missing=1.1), "missing should be a finite number in"),
        (lambda: make_annotators(n_features=5), "n_features should be a whole number from 10"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
