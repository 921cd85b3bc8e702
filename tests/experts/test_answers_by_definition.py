"""Answers that are sets and degrees, known classes, and priorities, against plain loops."""

from math import log, prod

import numpy as np
import pytest

from plausible.belief import conjunctive, consonant, contour, discount, normalize
from plausible.experts import Annotations, fit_reliability, next_items
from plausible.labels import Labels

CLASSES = ["m", "z", "b"]


def answers_of(n_items=25, doubt=False):
    """Hard answers, sets and abstentions of three people, on unsorted classes."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=n_items)
    items, people, said = [], [], []
    for item in range(n_items):
        for person, skill in (("ann", 0.9), ("bob", 0.7), ("cy", 0.6)):
            own = truth[item] if rng.uniform() < skill else (truth[item] + 1) % 3
            answer = {CLASSES[own]}
            if rng.uniform() < 0.4:
                answer.add(CLASSES[rng.integers(3)])
            if rng.uniform() < 0.9:
                items.append(f"item {item}")
                people.append(person)
                said.append(answer)
    doubts = rng.uniform(0, 0.5, len(said)) if doubt else None
    return Annotations.from_long(items, people, said, classes=CLASSES, doubt=doubts)


def each_answer(answers):
    """(item, annotator, plausibility of each class) of one answer after another."""
    for number in range(len(answers)):
        said = answers.contours[answers.statement[number]]
        if answers.doubt is not None:
            said = answers.doubt[number] + (1 - answers.doubt[number]) * said
        yield int(answers.item[number]), int(answers.annotator[number]), said.tolist()


@pytest.mark.parametrize("doubt", [False, True])
@pytest.mark.parametrize("model", ["full", "class"])
def test_the_likelihood_of_a_set_sums_over_what_its_author_may_have_meant(model, doubt):
    answers = answers_of(doubt=doubt)
    found = fit_reliability(answers, model, tol=1e-4)
    for item in range(len(answers.items)):
        likelihood = [
            prod(
                sum(found.confusion[who, k, meant] * s[meant] for meant in range(3))
                for own, who, s in each_answer(answers)
                if own == item
            )
            for k in range(3)
        ]
        joint = [p * x for p, x in zip(found.prior, likelihood, strict=True)]
        expected = [x / sum(joint) for x in joint]
        np.testing.assert_allclose(found.posterior[item], expected, atol=1e-8)
        relative = [x / max(likelihood) for x in likelihood]
        np.testing.assert_allclose(found.evidence[item], relative, atol=1e-8)


@pytest.mark.parametrize("model", ["one_coin", "class", "full"])
def test_doubted_degrees_are_degrees_that_were_discounted_before(model):
    rng = np.random.default_rng(1)
    item, who, label = (part.ravel() for part in np.meshgrid(range(20), range(3), CLASSES))
    best = np.array(CLASSES)[(item + (rng.uniform(size=(20, 3)) < 0.3)[item, who]) % 3]
    degree = np.where(label == best, 1.0, rng.uniform(size=len(item)))
    doubt = rng.choice([0.0, 0.2, 0.6], size=(20, 3))[item, who]
    answers = Annotations.from_long(
        item, who, label, plausibility=degree, doubt=doubt, classes=CLASSES
    )
    before = Annotations.from_long(
        item, who, label, plausibility=doubt + (1 - doubt) * degree, classes=CLASSES
    )
    found, expected = (fit_reliability(each, model, tol=1e-4) for each in (answers, before))
    np.testing.assert_allclose(found.confusion, expected.confusion, atol=1e-7)
    np.testing.assert_allclose(found.posterior, expected.posterior, atol=1e-7)
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, abs=1e-7)


def test_known_classes_belong_to_the_items_that_are_named():
    answers = answers_of()
    names = answers.items.tolist()
    some = {names[17]: "z", names[3]: "b", names[9]: "m"}
    known_rows = np.ones((len(names), 3))
    for name, known in some.items():
        known_rows[names.index(name)] = [known == k for k in CLASSES]
    by_name = fit_reliability(answers, gold=some)
    by_row = fit_reliability(answers, gold=Labels.from_plausibility(known_rows, CLASSES))
    np.testing.assert_allclose(by_name.posterior, by_row.posterior)
    for name, known in some.items():
        best = by_name.posterior[names.index(name)].argmax()
        assert by_name.classes.tolist()[best] == known


def test_doubts_below_a_hundredth_are_raised_to_it_unless_doubt_is_given():
    said = Annotations.from_long(
        ["x", "y", "y"], ["ann", "ann", "bob"], ["m", "z", "z"], classes=CLASSES,
        doubt=[0.0, 0.004, 0.02],
    )  # fmt: skip
    np.testing.assert_allclose(said.pool().contour[0], [1, 0.01, 0.01])
    np.testing.assert_allclose(said.pool().contour[1], [0.01 * 0.02, 1, 0.01 * 0.02])
    np.testing.assert_allclose(said.pool(doubt=0).contour[0], [1, 0, 0])


@pytest.mark.parametrize("weights", [(1, 1, 1), (1, 2, 5), (0, 3, 1)])
def test_priorities_are_means_of_three_reasons(weights):
    answers = answers_of()
    labels = answers.pool(doubt=0.2)
    found = next_items(answers, len(answers.items), labels=labels, weights=weights)
    assert sorted(question.item for question in found) == sorted(answers.items.tolist())
    for question in found:
        row = answers.items.tolist().index(question.item)
        count = sum(own == row for own, _, _ in each_answer(answers))
        shares = [pl / labels.contour[row].sum() for pl in labels.contour[row]]
        entropy = -sum(p * log(p) for p in shares if p > 0) / log(3)
        reasons = 1 / (1 + count), float(labels.conflict[row]), entropy
        assert tuple(question[2:]) == pytest.approx(reasons)
        mean = sum(w * r for w, r in zip(weights, reasons, strict=True)) / sum(weights)
        assert question.priority == pytest.approx(mean)
    assert [q.priority for q in found] == sorted((q.priority for q in found), reverse=True)


def test_degrees_are_discounted_and_combined_as_mass_functions():
    rng = np.random.default_rng(2)
    degrees = rng.uniform(0.05, 0.9, size=(8, 3))
    degrees[np.arange(8), rng.integers(3, size=8)] = 1.0
    items, people = ["x", "y", "x", "x", "y", "w", "w", "w"], list("abcabcab")
    answers = Annotations.from_classes(degrees, "plausibility", CLASSES, items, people)
    doubts = {"a": 0.1, "b": 0.35, "c": 0.6}
    pooled = answers.pool(doubt=doubts)
    for row, name in enumerate(answers.items.tolist()):
        mine = [k for k in range(8) if items[k] == name]
        sources = [discount(consonant(degrees[k]), doubts[people[k]]) for k in mine]
        together = conjunctive(*sources).to_dense()
        assert pooled.conflict[row] == pytest.approx(together[0])
        expected = normalize(together)
        np.testing.assert_allclose(pooled.contour[row], contour(expected), atol=1e-12)
        np.testing.assert_allclose(pooled.masses().to_dense()[row], expected, atol=1e-12)
        product = [prod(doubts[people[k]] + (1 - doubts[people[k]]) * degrees[k, c] for k in mine)
                   for c in range(3)]  # fmt: skip
        np.testing.assert_allclose(
            pooled.contour[row] / pooled.contour[row].max(), np.array(product) / max(product)
        )
