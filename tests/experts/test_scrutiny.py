"""People who err together, who change with time, and who answer at luck."""

import numpy as np
import pytest

from plausible.errors import InputError
from plausible.experts import Annotations, find_drift, find_shared_errors
from plausible.experts.pairs import agreement_expected, count_pairs, fit_factor

CLASSES = np.array(["m", "z", "b", "k"])


def answers_of(said):
    return Annotations.from_answers(CLASSES[said], CLASSES.tolist())


def crowd(n_items=400, n_people=10, rate=0.7, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=n_items)
    wrong = (y[:, None] + rng.integers(1, 4, size=(n_items, n_people))) % 4
    return y, np.where(rng.random((n_items, n_people)) < rate, y[:, None], wrong), rng


def test_pairs_that_look_at_each_other_are_found_and_no_others():
    y, said, rng = crowd()
    for one, other in ((7, 2), (2, 5)):
        copied = rng.random(len(y)) < 0.5
        said[copied, one] = said[copied, other]
    found = find_shared_errors(answers_of(said))
    names = {frozenset(pair) for pair in found.pairs}
    assert {frozenset((7, 2)), frozenset((2, 5))} <= names
    assert found.groups == [(2, 5, 7)]
    assert (found.observed > found.expected).all()
    assert (np.diff(found.p_value) >= 0).all()


def test_people_who_err_on_their_own_are_hardly_ever_told():
    told = [len(find_shared_errors(answers_of(crowd(seed=k)[1])).pairs) for k in range(8)]
    assert np.mean(np.array(told) > 0) <= 0.25


def test_observed_and_expected_follow_from_their_definition():
    """Same answers are counted one by one; expected ones are luck and a product of two numbers."""
    _, said, rng = crowd(80, 4)
    said[:40, 1] = said[:40, 3]
    answers = answers_of(said).select(rng.random(said.size) < 0.8)
    pairs = count_pairs(answers)
    given = {
        (int(i), int(a)): int(k)
        for i, a, k in zip(
            answers.item, answers.annotator, answers.facts.chosen[answers.statement], strict=True
        )
    }
    for one, other, both, same, luck in zip(*pairs, strict=True):
        common = [i for i in range(80) if (i, one) in given and (i, other) in given]
        assert both == len(common)
        assert same == sum(given[i, one] == given[i, other] for i in common)
        shares = [
            (np.bincount([k for (_, a), k in given.items() if a == who], minlength=4)
             + 2 * np.bincount(list(given.values()), minlength=4) / len(given))
            / (sum(a == who for _, a in given) + 2)
            for who in (one, other)
        ]  # fmt: skip
        assert luck == pytest.approx(shares[0] @ shares[1])
    v = fit_factor(pairs, 4)
    beyond = agreement_expected(pairs, v) - pairs.luck
    table = dict(
        zip(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True), beyond, strict=True)
    )
    assert table[0, 1] * table[2, 3] == pytest.approx(table[0, 2] * table[1, 3], abs=1e-9)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_agreement_of_independent_people_is_a_product(n_classes):
    """For two classes also of people with habits: as often as their answers say, and no more."""
    rng = np.random.default_rng(n_classes)
    shares = np.arange(1.0, n_classes + 1)
    y = rng.choice(n_classes, size=40_000, p=shares / shares.sum())
    rates = rng.uniform(0.5, 0.95, (6, n_classes if n_classes == 2 else 1))
    right = rng.random((len(y), 6)) < np.broadcast_to(rates, (6, n_classes)).T[y]
    said = np.where(
        right, y[:, None], (y[:, None] + rng.integers(1, n_classes, right.shape)) % n_classes
    )
    pairs = count_pairs(answers_of(said))
    expected = agreement_expected(pairs, fit_factor(pairs, 6))
    np.testing.assert_allclose(pairs.same / pairs.both, expected, atol=0.012)


def test_shares_of_pairs_and_groups_are_recovered():
    y, said, rng = crowd(3000, 12)
    for follower, share in ((3, 0.4), (8, 0.8)):
        follows = rng.random(len(y)) < share
        said[follows, follower] = said[follows, 5]
    found = find_shared_errors(answers_of(said))
    shared = dict(zip(map(frozenset, found.pairs), found.shared, strict=True))
    assert shared[frozenset((5, 3))] == pytest.approx(0.4, abs=0.06)
    assert shared[frozenset((5, 8))] == pytest.approx(0.8, abs=0.06)
    assert found.groups == [(3, 5, 8)]
    # Of the two followers, both follow about 0.32 of the items.
    assert found.group_shared[0] == pytest.approx((0.4 + 0.8 + 0.32) / 3, abs=0.05)


def test_too_many_pairs_are_refused(monkeypatch):
    monkeypatch.setattr("plausible.experts.pairs.MOST_MEETINGS", 100)
    answers = answers_of(crowd(50)[1])
    with pytest.raises(InputError, match="should meet at most"):
        find_shared_errors(answers)
    assert "were not looked for" in str(answers.dependence())


def test_time_is_what_is_given_or_else_the_order_of_answers():
    _, said, rng = crowd(600, 6, rate=0.85)
    worse = rng.random(600) < np.linspace(0.0, 0.8, 600)
    said[worse, 4] = rng.integers(4, size=worse.sum())
    answers = answers_of(said)
    found = find_drift(answers)
    assert np.flatnonzero(found.changed).tolist() == [4]
    assert found.change[4] < -0.25
    mixed = rng.permutation(len(answers))
    again = find_drift(answers.select(mixed), mixed)
    np.testing.assert_allclose(again.change, found.change, atol=1e-4)
    backwards = find_drift(answers, -np.arange(len(answers)))
    np.testing.assert_allclose(backwards.change, -found.change, atol=1e-9)
    same_time = find_drift(answers, np.zeros(len(answers)))
    assert np.isnan(same_time.change).all()
    with pytest.raises(InputError, match="a number for each of the 3600 answers"):
        find_drift(answers, [1, 2])
    with pytest.raises(InputError, match="should be of these"):
        find_drift(answers, reliability=answers[:5].reliability())


def test_a_change_is_the_slope_of_least_squares():
    _, said, _ = crowd(50, 5)
    answers = answers_of(said)
    fitted = answers.reliability()
    found = find_drift(answers, reliability=fitted)
    right = fitted.posterior[np.arange(50), said[:, 2]]
    slope = np.polyfit(np.linspace(0, 1, 50), right, 1)[0]
    assert found.change[2] == pytest.approx(slope)


def test_those_at_luck_are_told():
    _, said, rng = crowd(300, 8, rate=0.8)
    said[:, 3] = rng.integers(4, size=300)
    said[:, 6] = 1  # always the same answer
    found = answers_of(said).reliability()
    assert np.flatnonzero(found.at_luck).tolist() == [3, 6]
    share, low, high = found.guessed
    assert (low <= share).all()
    assert (share <= high).all()
    assert share[3] > 0.85
    np.testing.assert_allclose(share, np.clip((1 - found.accuracy) / 0.75, 0, 1))
