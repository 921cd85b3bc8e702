import numpy as np
import pytest

from plausible import belief
from plausible.datasets import estimate_doubt, majority_vote, pool_plausibilities, pool_votes
from plausible.labels import Labels

VOTES = np.array([[3, 1, 0], [0, 0, 5], [2, 2, 2], [0, 0, 0], [1, 0, 0]])


@pytest.mark.parametrize("doubt", [0.02, 0.3, 0.9, 1.0])
def test_pooled_votes_are_dempsters_combination_of_doubted_answers(doubt):
    pooled = pool_votes(VOTES, doubt)
    for row, counts in enumerate(VOTES):
        answers = np.repeat(np.arange(3), counts)
        simple = Labels.from_doubt(answers, doubt, classes=range(3)).masses().to_dense()
        vacuous = np.eye(8)[7]
        combined, clash = vacuous, 0.0
        for one in simple:
            clash = 1.0 - (1.0 - clash) * (1.0 - belief.conflict(combined, one))
            combined = belief.dempster(combined, one)
        np.testing.assert_allclose(pooled.masses().to_dense()[row], combined, atol=1e-12)
        assert pooled.conflict[row] == pytest.approx(clash, abs=1e-12)


def test_pooled_votes_survive_crowds_and_many_classes():
    many = pool_votes(np.full((1, 70), 40), 1e-6)
    np.testing.assert_allclose(many.scaled(), 1.0)
    crowd = pool_votes([[500, 499]], 0.2)
    np.testing.assert_allclose(crowd.scaled(), [[1.0, 0.2]])


def test_pooled_plausibilities_are_the_product_of_discounted_contours():
    random = np.random.default_rng(0)
    given = random.uniform(size=(4, 6, 3))
    doubt = np.array([0.1, 0.2, 0.5, 1.0])
    product = np.prod([(1 - d) * pl + d for d, pl in zip(doubt, given, strict=True)], axis=0)
    pooled = pool_plausibilities(given, doubt, "abc")
    np.testing.assert_allclose(pooled.contour, product / product.max(axis=1, keepdims=True))


def test_doubt_is_recovered_from_agreement():
    random = np.random.default_rng(1)
    n, n_classes, doubt = 20_000, 4, 0.35
    y = random.integers(n_classes, size=(n, 1))
    guess = random.integers(n_classes, size=(n, 5))
    answers = np.where(random.random((n, 5)) < doubt, guess, y)
    votes = (answers[:, :, None] == np.arange(n_classes)).sum(axis=1)
    assert estimate_doubt(votes) == pytest.approx(doubt, abs=0.01)
    assert estimate_doubt([[5, 0], [0, 5]]) == 0.01
    assert estimate_doubt([[1, 1], [1, 1]]) == 1.0


def test_majority_breaks_ties_evenly():
    winners = majority_vote(np.tile([2, 2, 1], (3000, 1)), random_state=0)
    share = np.bincount(winners, minlength=3) / 3000
    np.testing.assert_allclose(share, [0.5, 0.5, 0.0], atol=0.04)
    assert majority_vote([[0, 0]])[0] == -1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pool_votes(VOTES, 0.0), "doubt should be a finite number in"),
        (lambda: pool_votes([1, 2], 0.5), "votes should be a table"),
        (lambda: pool_votes([[1, -1]], 0.5), "votes should be counts from 0"),
        (lambda: pool_votes([[1, np.nan]], 0.5), "votes should be counts from 0"),
        (lambda: pool_plausibilities([[1.0, 0.5]], 0.1), "three axes"),
        (lambda: pool_plausibilities([[[1.0, 0.5]]], 0.0), "doubt should be a finite number in"),
        (lambda: pool_plausibilities([[[1.0, 0.5]]], [0.1, 0.2]), "each of the 1 people"),
        (lambda: estimate_doubt([[1, 0]]), "at least two votes"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
