"""Groups that are most of the people, found where something is known of classes."""

import numpy as np
import pytest

from plausible.errors import InputError
from plausible.experts import Annotations, JointAnnotatorClassifier, find_shared_errors
from plausible.experts.judged_pairs import alone, truth_of
from plausible.labels import Labels
from plausible.models import DiscriminantClassifier

CLASSES = np.array(["m", "a", "z"])


def crowd(n=300, n_group=6, n_others=3, follow=0.8, hard=0.0, seed=0):
    """People who mostly follow one who is right in 6 of 10, and others who err on their own."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    difficult = rng.random(n) < hard

    def answer(rate):
        knows = rng.random(n) < np.where(difficult, 0.4, rate)
        return np.where(knows, y, rng.integers(3, size=n))

    leader = answer(0.5)
    group = [np.where(rng.random(n) < follow, leader, answer(0.5)) for _ in range(n_group)]
    others = [answer(0.65) for _ in range(n_others)]
    said = np.column_stack([*group, *others])
    names = [f"g{k}" for k in range(n_group)] + [f"o{k}" for k in range(n_others)]
    X = rng.normal(size=(n, 2)) + 2.5 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    answers = Annotations.from_answers(CLASSES[said], annotators=names, classes=CLASSES)
    return answers, y, X, {f"g{k}" for k in range(n_group)}


def groups_of(found):
    return [set(group) for group in found]


def test_agreement_alone_does_not_find_it_and_gold_does():
    answers, y, _, group = crowd()
    assert group not in groups_of(find_shared_errors(answers).groups)
    gold = dict(zip(answers.items[:120].tolist(), CLASSES[y[:120]], strict=True))
    found = find_shared_errors(answers, gold=gold)
    assert groups_of(found.groups) == [group]
    assert found.group_shared[0] == pytest.approx(0.8**2, abs=0.12)
    assert groups_of(answers.dependence(gold=gold).groups) == [group]


@pytest.mark.parametrize("hard", [0.0, 0.3])
def test_without_a_group_none_is_found_even_if_items_are_difficult(hard):
    answers, y, X, _ = crowd(400, 0, 8, hard=hard, seed=1)
    gold = dict(zip(answers.items.tolist(), CLASSES[y], strict=True))
    assert find_shared_errors(answers, gold=gold).groups == []
    bets = DiscriminantClassifier().fit(X, CLASSES[y]).predict_proba(X)  # of sorted classes
    bets = bets[:, np.argsort(np.argsort(CLASSES))]
    assert find_shared_errors(answers, probabilities=bets).groups == []


def test_features_find_it_where_there_is_no_gold():
    answers, y, X, group = crowd(500, follow=0.9, seed=2)
    half = np.arange(500) < 250
    bets = np.empty((500, 3))
    for rows in (half, ~half):  # from the votes of the others, which the group rules
        votes = answers.votes()[~rows].argmax(axis=1)
        model = DiscriminantClassifier().fit(X[~rows], CLASSES[votes])
        bets[np.ix_(rows, np.argsort(CLASSES))] = model.predict_proba(X[rows])
    as_labels = Labels.from_probability(bets[:, ::-1], CLASSES[::-1].tolist())
    for given in (bets, as_labels):
        found = find_shared_errors(answers, probabilities=given)
        assert groups_of(found.groups) == [group]
    together = answers.dependence(probabilities=bets)
    assert groups_of(together.groups) == [group]
    assert together.source == "probabilities"
    assert "from given probabilities" in str(together)
    right = {
        name: (answers.pool(dependence=how).crisp() == CLASSES[y]).mean()
        for name, how in (("told", together), ("not told", "fit"))
    }
    assert right["told"] > right["not told"] + 0.02
    joint = JointAnnotatorClassifier(DiscriminantClassifier(), "one_coin", dependence="fit")
    rates = joint.fit(X, answers).reliability_.learned[:, 0]
    assert rates[6:].min() > rates[:6].max()  # who err on their own are the better ones


def test_a_person_alone_is_known_from_their_own_answers():
    """By the mixture of what they say of each class, weighed by its probability."""
    rng = np.random.default_rng(3)
    chances = rng.dirichlet([0.3, 0.3, 0.3], size=4000)
    y = np.array([rng.choice(3, p=row) for row in chances])
    theta = rng.dirichlet([1, 1, 1], size=(2, 3))
    item, who = np.repeat(np.arange(4000), 2), np.tile([0, 1], 4000)
    said = np.array([rng.choice(3, p=theta[r, y[i]]) for i, r in zip(item, who, strict=True)])
    found = alone(item, who, said, chances, 2)
    np.testing.assert_allclose(found, theta, atol=0.06)
    sure = alone(item, who, said, np.eye(3)[y], 2)
    for r in range(2):
        counts = np.zeros((3, 3))
        np.add.at(counts, (y, said[r::2]), 1.0)
        counts += (np.eye(3) + 1 / 3) / 2
        np.testing.assert_allclose(sure[r], counts / counts.sum(axis=1, keepdims=True), atol=1e-9)


def test_few_known_classes_are_not_enough_and_wrong_tables_are_refused():
    answers, y, _, _ = crowd()
    few = {answers.items[0]: CLASSES[y[0]]}
    by_agreement = find_shared_errors(answers)
    assert find_shared_errors(answers, gold=few).pairs == by_agreement.pairs
    assert truth_of(answers, None) is None
    with pytest.raises(InputError, match="probabilities should have a row for each of the 300"):
        find_shared_errors(answers, probabilities=np.ones((300, 2)))
