"""People who err together: the exponent of the pool, and people who copy each other."""

import numpy as np
import pytest

from plausible.errors import InputError
from plausible.experts import Annotations, Dependence, fit_reliability

CLASSES = ["oak", "elm", "ash"]


def answers_of(rng, n_items=300, rates=(0.8, 0.7, 0.6, 0.75, 0.65)):
    """True classes, and answers (n, R) of people who err on their own."""
    truth = rng.integers(3, size=n_items)
    wrong = (truth[:, None] + rng.integers(1, 3, size=(n_items, len(rates)))) % 3
    return truth, np.where(rng.uniform(size=wrong.shape) < rates, truth[:, None], wrong)


def fooled(rng, n_items=4000, n_people=6, rate=0.85, together=0.5):
    """Answers where on a share of the items everybody follows one and the same opinion."""
    truth, said = answers_of(rng, n_items, [rate] * n_people)
    follows = rng.uniform(size=n_items) < together
    said[follows] = said[follows, :1]
    return truth, said


def annotate(said, **names):
    return Annotations.from_answers(np.array(CLASSES)[said], classes=CLASSES, **names)


def gold_of(annotations, truth, n):
    return {annotations.items[row].item(): CLASSES[truth[row]] for row in range(n)}


def log_loss(labels, truth):
    shares = labels.contour / labels.contour.sum(axis=1, keepdims=True)
    return float(-np.log(shares[np.arange(len(truth)), truth]).mean())


def test_an_exponent_of_one_is_dempsters_rule():
    _, said = answers_of(np.random.default_rng(0))
    answers = annotate(said)
    plain = answers.pool(doubt=[0.1, 0.2, 0.3, 0.2, 0.4])
    for dependence in ("none", "auto", 1, 1.0, Dependence(0.0)):
        again = answers.pool(doubt=[0.1, 0.2, 0.3, 0.2, 0.4], dependence=dependence)
        np.testing.assert_array_equal(again.contour, plain.contour)
        np.testing.assert_array_equal(again.masses().values, plain.masses().values)


@pytest.mark.parametrize("power", [0.3, 1.7])
def test_a_number_is_the_exponent_of_the_product_of_contours(power):
    answers = Annotations.from_long(
        [0, 0, 0, 1], ["a", "b", "c", "a"], ["oak", {"oak", "elm"}, "ash", "elm"],
        doubt=[0.1, 0.3, 0.5, 0.2], classes=CLASSES,
    )  # fmt: skip
    by_hand = np.array([[1 * 1 * 0.5, 0.1 * 1 * 0.5, 0.1 * 0.3 * 1], [0.2, 1, 0.2]])
    by_hand /= by_hand.max(axis=1, keepdims=True)
    found = answers.pool(doubt=0.0, dependence=power)
    np.testing.assert_allclose(found.scaled(), by_hand**power, atol=1e-12)
    np.testing.assert_allclose(found.conflict, answers.pool(doubt=0.0).conflict)


@pytest.mark.parametrize(("shared", "n", "worth"), [(0.0, 7, 7.0), (1.0, 7, 1.0), (0.5, 3, 1.5)])
def test_what_answers_are_worth(shared, n, worth):
    assert n * Dependence(shared).exponent(n) == pytest.approx(worth)


def test_the_exponent_is_recovered_from_gold():
    """The exponent is the one at which bets of new items are best, found by a search of its own."""
    rng = np.random.default_rng(1)
    truth, said = fooled(rng)
    answers = annotate(said)
    found = answers.dependence(gold=gold_of(answers, truth, 2000))
    assert found.source == "gold"
    assert found.low < found.shared < found.high
    powers = np.linspace(0.05, 1.0, 96)
    rest = answers[np.arange(2000, 4000)]
    losses = [log_loss(rest.pool(dependence=power), truth[2000:]) for power in powers]
    assert found.exponent(6) == pytest.approx(powers[np.argmin(losses)], abs=0.04)


def test_independent_people_are_found_independent_by_gold():
    truth, said = answers_of(np.random.default_rng(2), 2000)
    answers = annotate(said)
    assert answers.dependence(gold=gold_of(answers, truth, 2000)).shared < 0.06


def test_pooled_labels_of_people_who_err_together_are_calibrated():
    """What is said with 0.9 should be right nine times in ten; under Dempster's rule it is not."""
    truth, said = fooled(np.random.default_rng(3), together=0.6)
    answers = annotate(said)

    def gap(labels):
        shares = labels.contour / labels.contour.sum(axis=1, keepdims=True)
        return float(shares.max(axis=1).mean() - (shares.argmax(axis=1) == truth).mean())

    plain = answers.pool(dependence="none")
    learned = answers.pool(gold=gold_of(answers, truth, 400))
    assert gap(plain) > 0.06
    assert abs(gap(learned)) < 0.025
    assert log_loss(answers.pool(), truth) < 0.7 * log_loss(plain, truth)


@pytest.mark.parametrize("n_copies", [2, 4])
def test_copies_pool_like_one(n_copies):
    rng = np.random.default_rng(4)
    _, said = answers_of(rng)
    once = annotate(said)
    names = [*"abcde", *(f"copy {number}" for number in range(n_copies))]
    several = annotate(np.hstack([said, said[:, [2] * n_copies]]), annotators=names)
    found = several.dependence()
    assert found.copies == (("c", *names[5:]),)
    np.testing.assert_allclose(several.pool().contour, once.pool().contour, atol=1e-10)
    assert "count as one person: c, copy 0" in str(found)
    # The order of the people does not matter.
    order = rng.permutation(len(names))
    shuffled = annotate(
        np.hstack([said, said[:, [2] * n_copies]])[:, order], annotators=np.array(names)[order]
    )
    np.testing.assert_allclose(shuffled.pool().contour, once.pool().contour, atol=1e-5)


def some_answers(said, mask, names=None):
    item, who = np.nonzero(mask)
    names = np.arange(said.shape[1]) if names is None else np.array(names)
    return Annotations.from_long(
        item, names[who], np.array(CLASSES)[said[item, who]], classes=CLASSES
    )


@pytest.mark.parametrize(
    ("n_copies", "share"),
    [(2, 1.0), (3, 1.0), (5, 1.0), (10, 1.0), (2, 0.85), (3, 0.85), (5, 0.85)],
)
def test_few_of_many_who_copy_pool_like_one(n_copies, share):
    """Of forty people who answer a fifth of the items; near copies change little, too."""
    rng = np.random.default_rng(n_copies)
    truth, said = answers_of(rng, 1000, rng.uniform(0.55, 0.85, 40))
    mask = rng.random(said.shape) < 0.2
    once = some_answers(said, mask)
    fresh = answers_of(rng, 1000, [0.7] * (n_copies - 1))[1]
    follows = rng.random(fresh.shape) < share
    more = np.where(follows, said[:, [7] * (n_copies - 1)], fresh)
    several = some_answers(
        np.hstack([said, more]), np.hstack([mask, mask[:, [7] * (n_copies - 1)]])
    )
    found = several.dependence()
    alike = {name for group in (*found.copies, *found.groups) for name in group}
    assert alike == {7, *range(40, 39 + n_copies)}
    gap = np.abs(several.pool().scaled() - once.pool().scaled())
    if share == 1.0:
        assert found.groups == ()
        assert gap.max() < 1e-10
    else:
        assert gap.mean() < 0.006
        taken_for_people = several.pool(doubt="fit", model="shrunk", dependence=Dependence(0.5))
        assert gap.mean() < np.abs(taken_for_people.scaled() - once.pool().scaled()).mean() / 3
    assert log_loss(several.pool(), truth) < log_loss(once.pool(), truth) + 0.01


def test_groups_count_less_by_hand():
    """Given doubts, by the definition: powers of answers, then that of the item."""
    rng = np.random.default_rng(11)
    _, said = answers_of(rng, 400, [0.7] * 8)
    follows = rng.random((400, 2)) < 0.6
    said[:, 6:] = np.where(follows, said[:, :1], said[:, 6:])
    mask = rng.random(said.shape) < 0.9
    answers = some_answers(said, mask)
    found = answers.dependence(0.3)
    assert [set(group) for group in found.groups] == [{0, 6, 7}]
    (share,) = found.group_shared
    labels = answers.pool(doubt=0.3, dependence="fit")
    for row in range(0, 400, 37):
        together = [who for who in (0, 6, 7) if mask[row, who]]
        power = {who: 1 / (1 + (len(together) - 1) * share) for who in together}
        logs, count = np.zeros(3), 0.0
        for who in np.flatnonzero(mask[row]):
            logs += power.get(who, 1.0) * np.log(np.where(np.arange(3) == said[row, who], 1, 0.3))
            count += power.get(who, 1.0)
        logs *= 1 / (1 + (count - 1) * found.shared)
        np.testing.assert_allclose(labels.scaled()[row], np.exp(logs - logs.max()), atol=1e-10)
    plain = answers.pool(doubt=0.3)
    np.testing.assert_allclose(labels.conflict, plain.conflict, atol=1e-12)
    np.testing.assert_allclose(
        answers.pool(doubt=0.3, dependence=found).scaled(), labels.scaled(), atol=1e-12
    )
    assert "err together, and count as" in str(found)


@pytest.mark.parametrize("model", ["one_coin", "class", "full", "shrunk", "difficulty"])
def test_an_answer_to_the_power_two_is_one_given_twice(model):
    """Sets and doubts at once; powers are what groups are weighed by."""
    rng = np.random.default_rng(12)
    _, said = answers_of(rng, 120)
    item, who = np.nonzero(rng.random(said.shape) < 0.8)
    sets = [
        {CLASSES[k], CLASSES[(k + 1) % 3]} if rng.random() < 0.3 else CLASSES[k]
        for k in said[item, who]
    ]
    doubt = rng.choice([0.0, 0.1, 0.4], size=len(item))
    answers = Annotations.from_long(item, who, sets, classes=CLASSES, doubt=doubt)
    twice = rng.random(len(item)) < 0.4
    raised = answers._with(_power=np.where(twice, 2.0, 1.0))
    repeated = answers.select(np.concatenate([np.arange(len(item)), np.flatnonzero(twice)]))
    gold = {0: "ash", 5: "oak"}
    one, other = (fit_reliability(x, model, gold=gold, tol=1e-9) for x in (raised, repeated))
    np.testing.assert_allclose(one.evidence, other.evidence, atol=1e-5)
    np.testing.assert_allclose(one.learned, other.learned, atol=1e-5)
    assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-6)


def test_independent_people_form_no_group():
    """Neither by habits, nor by items that are difficult for everybody."""
    rng = np.random.default_rng(13)
    for _ in range(4):
        truth, said = answers_of(rng, 500, rng.uniform(0.4, 0.95, 10))
        hard = rng.random(500) < 0.4
        said[hard] = (truth[hard, None] + (rng.random((hard.sum(), 10)) < 0.6)) % 3
        bold = rng.random((500, 2)) < 0.5
        said[:, :2] = np.where(bold, 1, said[:, :2])
        found = annotate(said).dependence()
        assert (found.copies, found.groups) == ((), ())


def test_people_who_are_always_right_are_no_copies():
    truth, said = answers_of(np.random.default_rng(5), rates=(0.7, 0.6, 0.65))
    sure = annotate(np.hstack([said, truth[:, None], truth[:, None], truth[:, None]]))
    assert sure.dependence().copies == ()


def test_two_people_alone_cannot_be_told_from_copies():
    _, said = answers_of(np.random.default_rng(6))
    assert annotate(said[:, [0, 0]]).dependence().copies == ()
    assert annotate(said[:, [0, 0, 1]]).dependence().copies == ()


def test_who_answers_little_is_not_accused():
    _, said = answers_of(np.random.default_rng(7), n_items=12)
    assert annotate(np.hstack([said, said[:, :1]])).dependence().copies == ()


def test_given_doubts_keep_dempsters_rule_and_learned_ones_do_not():
    _, said = answers_of(np.random.default_rng(8))
    answers = annotate(said)
    own = Annotations.from_answers(np.array(CLASSES)[said], classes=CLASSES, doubt=0.2)
    for given in (answers.pool(doubt=0.2), answers.pool(doubt=[0.2] * 5), own.pool()):
        np.testing.assert_allclose(given.scaled(), answers.pool(doubt=0.2).scaled(), atol=1e-12)
    evidence = fit_reliability(answers, "shrunk").evidence
    third = answers.pool().scaled()
    np.testing.assert_allclose(third, evidence ** (1 / 3), atol=1e-3)  # 5 are worth 5/3
    plain = fit_reliability(answers).evidence
    np.testing.assert_allclose(answers.pool(doubt="fit").scaled(), plain, atol=1e-3)
    rich = answers.pool(model="full", dependence="fit").scaled()
    np.testing.assert_allclose(
        rich, fit_reliability(answers, "full").evidence ** (1 / 3), atol=1e-8
    )


def test_items_by_their_number_of_answers():
    """One answer stays what it is; abstentions do not count as answers."""
    answers = Annotations.from_long(
        [0, 1, 1, 1, 2, 2], ["a", "a", "b", "c", "b", "c"],
        ["oak", "oak", "oak", "cannot tell", "elm", "ash"], classes=CLASSES,
    )  # fmt: skip
    plain, found = answers.pool(dependence="none"), answers.pool(dependence=Dependence(0.5))
    power = np.array([1, 2 / 3, 2 / 3])
    np.testing.assert_allclose(found.scaled(), plain.scaled() ** power[:, None])


def test_other_rules_do_not_mind():
    _, said = answers_of(np.random.default_rng(9), 40)
    answers = annotate(said)
    np.testing.assert_array_equal(
        answers.pool("mean", 0.2).contour, answers.pool("mean", 0.2, dependence="none").contour
    )
    with pytest.raises(InputError, match="dependence should come with Dempster's rule"):
        answers.pool("mean", 0.2, dependence=0.5)


@pytest.mark.parametrize("wrong", ["half", 0.0, -1, np.nan, True, [0.5]])
def test_strange_dependence(wrong):
    answers = Annotations.from_answers([["a", "b"]])
    with pytest.raises(InputError, match="dependence should be 'auto', 'fit', 'none'"):
        answers.pool(doubt=0.1, dependence=wrong)
