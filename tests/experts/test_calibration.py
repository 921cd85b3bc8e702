"""What words of certainty are worth, from items whose class is known."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from plausible.errors import InputError
from plausible.experts import Annotations, calibrate_words

CLASSES = ["oak", "elm", "ash", "fir", "yew"]
SHARES = {(0.1, 1): 0.7, (0.1, 2): 0.8, (0.4, 1): 0.5, (0.4, 2): 0.65, (0.8, 1): 0.3, (0.8, 2): 0.6}


def said_by(rng, n_items, people=("ann", "bob", "cy"), offsets=(0.0, 0.0, 0.0)):
    """True classes, and answers with words and sets whose shares of right ones are known."""
    truth = rng.integers(5, size=n_items)
    rows = []
    for item, true in enumerate(truth):
        for who, offset in zip(people, offsets, strict=True):
            doubt, size = rng.choice([0.1, 0.4, 0.8]), rng.integers(1, 3)
            odds = SHARES[doubt, size] / (1 - SHARES[doubt, size]) * np.exp(offset)
            others = rng.permutation([k for k in range(5) if k != true])
            right = rng.uniform() < odds / (1 + odds)
            named = [true, *others[: size - 1]] if right else others[:size]
            rows.append((item, who, {CLASSES[k] for k in named}, doubt))
    items, names, labels, doubts = zip(*rows, strict=True)
    answers = Annotations.from_long(items, names, list(labels), doubt=doubts, classes=CLASSES)
    return truth, answers


def gold_of(truth, n):
    return {item: CLASSES[truth[item]] for item in range(n)}


def log_loss(labels, truth):
    shares = labels.contour / labels.contour.sum(axis=1, keepdims=True)
    return float(-np.log(shares[np.arange(len(truth)), truth]).mean())


def test_known_shares_are_recovered():
    truth, answers = said_by(np.random.default_rng(0), 6000)
    found = calibrate_words(answers, gold_of(truth, 6000))
    np.testing.assert_allclose(found.levels, [0.1, 0.4, 0.8])
    for (doubt, size), share in SHARES.items():
        row = found.levels.tolist().index(doubt)
        error = found.standard_error[row, size - 1]
        assert found.right[row, size - 1] == pytest.approx(share, abs=4 * error)
        assert error < 0.012
    assert found.n_answers.sum() == 18000
    assert not found.n_answers[:, 2].any()


def test_masses_are_shares_beyond_luck():
    """m(A) = (share - luck) / (1 - luck), by hand for each answer of everybody alike."""
    truth, answers = said_by(np.random.default_rng(1), 300)
    found = calibrate_words(answers, gold_of(truth, 200), by_person=False)
    worth = found.apply(answers)
    for row in range(0, len(answers), 37):
        size = int((answers.contours[answers.statement[row]] > 0).sum())
        share = found.right[found.levels.tolist().index(answers.doubt[row]), size - 1]
        mass = max(0.0, (share - size / 5) / (1 - size / 5))
        assert worth.doubt[row] == pytest.approx(1 - mass, abs=1e-3)
    assert (worth.item == answers.item).all()
    assert (worth.statement == answers.statement).all()


def test_calibrated_words_pool_better_than_numbers_at_face_value():
    for seed in range(3):
        truth, answers = said_by(np.random.default_rng(seed), 1200, offsets=(1.0, 0.0, -1.0))
        fair = calibrate_words(answers, gold_of(truth, 200)).apply(answers)
        rest = np.arange(200, 1200)
        pools = [each[rest].pool() for each in (answers, fair)]
        losses = [log_loss(labels, truth[rest]) for labels in pools]
        right = [float((labels.contour.argmax(axis=1) == truth[rest]).mean()) for labels in pools]
        assert losses[1] < losses[0]
        assert right[1] > right[0] + 0.05


def test_shares_do_not_fall_where_people_are_surer():
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=60)
    doubt = rng.choice([0.0, 0.2, 0.5, 0.9], size=60)
    said = np.where(rng.uniform(size=60) < 0.6, truth, (truth + 1) % 3)  # whatever the word
    answers = Annotations.from_long(np.arange(60), ["a"] * 60, said, doubt=doubt, classes=[0, 1, 2])
    found = calibrate_words(answers, dict(enumerate(truth.tolist())))
    assert (np.diff(found.right, axis=0) <= 1e-12).all()


def test_persons_differ_by_offsets_that_maximize_their_posterior():
    truth, answers = said_by(np.random.default_rng(4), 150, offsets=(1.5, 0.0, -1.5))
    found = calibrate_words(answers, gold_of(truth, 150))
    assert found.offset[0] > found.offset[1] > found.offset[2]
    for who, offset in enumerate(found.offset):
        mine = np.flatnonzero(answers.annotator == who)
        hit, base = [], []
        for row in mine:
            contour = answers.contours[answers.statement[row]]
            level = found.levels.tolist().index(answers.doubt[row])
            base.append(found.right[level, int((contour > 0).sum()) - 1])
            hit.append(contour[truth[answers.item[row]]])
        hit, odds = np.array(hit), np.log(np.array(base) / (1 - np.array(base)))

        def loss(b, hit=hit, odds=odds):
            share = 1 / (1 + np.exp(-odds - b))
            return b**2 / 2 - (hit * np.log(share) + (1 - hit) * np.log(1 - share)).sum()

        assert offset == pytest.approx(minimize_scalar(loss, tol=1e-12).x, abs=1e-6)


def test_new_people_and_answers_that_say_nothing():
    truth, answers = said_by(np.random.default_rng(5), 100, ("ann",), (2.0,))
    found = calibrate_words(answers, gold_of(truth, 100))
    new = Annotations.from_long(
        ["x", "y", "z", "x"], ["ann", "dee", "dee", "dee"],
        ["oak", "oak", "cannot tell", "none of these"], doubt=[0.1, 0.1, 0.3, 0.2], classes=CLASSES,
    )  # fmt: skip
    doubt = found.apply(new).doubt
    assert doubt[0] < doubt[1]
    np.testing.assert_allclose(doubt[2:], [0.3, 0.2])


def test_many_numbers_are_put_into_bins():
    rng = np.random.default_rng(6)
    doubt, truth = rng.uniform(size=3000), rng.integers(3, size=3000)
    said = np.where(rng.uniform(size=3000) < 1 - 0.5 * doubt, truth, (truth + 1) % 3)
    answers = Annotations.from_long(
        np.arange(3000), ["a"] * 3000, said, doubt=doubt, classes=[0, 1, 2]
    )
    found = calibrate_words(answers, dict(enumerate(truth.tolist())), by_person=False)
    assert len(found.levels) == 7
    np.testing.assert_allclose(found.right[:, 0], 1 - 0.5 * found.levels, atol=0.06)


def test_strange_gold():
    _, answers = said_by(np.random.default_rng(7), 10)
    with pytest.raises(InputError, match="Gold items should be among the items"):
        calibrate_words(answers, {"x": "oak"})
    with pytest.raises(InputError, match="gold should name the class of items with answers"):
        calibrate_words(answers, {})
    found = calibrate_words(answers, {0: "oak"})
    other = Annotations.from_answers([["a", "b"]])
    with pytest.raises(InputError, match="as many classes as those that were calibrated, 5"):
        found.apply(other)
