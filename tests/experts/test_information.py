"""What to ask next, by what an answer is expected to teach."""

import itertools

import numpy as np
import pytest

from plausible.errors import InputError
from plausible.experts import Annotations, Reliability, next_items
from plausible.labels import Labels

CLASSES = ["oak", "elm", "ash"]


def entropy(shares):
    shares = shares[shares > 0]
    return float(-(shares * np.log2(shares)).sum())


def enumerated(chance, accuracy):
    """Expected drop of the entropy, over all answers that may come."""
    n_classes = len(chance)
    drop = entropy(chance)
    for answer in range(n_classes):
        likelihood = np.full(n_classes, (1 - accuracy) / (n_classes - 1))
        likelihood[answer] = accuracy
        joint = chance * likelihood
        drop -= joint.sum() * entropy(joint / joint.sum())
    return drop


def crowd(rng, n_items, rates):
    truth = rng.integers(3, size=n_items)
    wrong = (truth[:, None] + rng.integers(1, 3, size=(n_items, len(rates)))) % 3
    return truth, np.where(rng.uniform(size=wrong.shape) < rates, truth[:, None], wrong)


def some_answers(n_items=40):
    """Answers of some people about some items: sets and doubts at once."""
    rng = np.random.default_rng(0)
    _, said = crowd(rng, n_items, [0.9, 0.7, 0.5])
    rows = [(i, r) for i, r in itertools.product(range(n_items), range(3)) if rng.uniform() < 0.6]
    labels = [
        CLASSES[said[row]] if rng.uniform() < 0.8 else {CLASSES[said[row]], "ash"} for row in rows
    ]
    items, people = zip(*rows, strict=True)
    return Annotations.from_long(
        items, [["ann", "bob", "cy"][who] for who in people], labels,
        doubt=rng.uniform(0, 0.5, len(rows)), classes=CLASSES,
    )  # fmt: skip


@pytest.mark.parametrize("annotator", [None, "bob", "somebody new"])
def test_information_is_the_expected_drop_of_entropy(annotator):
    answers = some_answers()
    found = answers.reliability()
    accuracy = found.accuracy @ found.n_answers / found.n_answers.sum()
    if annotator == "bob":
        accuracy = found.accuracy[found.annotators.tolist().index("bob")]
    labels = answers.pool(doubt=0.1)
    asked = next_items(answers, 100, by="information", annotator=annotator, doubt=0.1)
    place = {name: row for row, name in enumerate(answers.items.tolist())}
    chance = labels.contour / labels.contour.sum(axis=1, keepdims=True)
    for question in asked:
        expected = enumerated(chance[place[question.item]], accuracy)
        assert question.priority == pytest.approx(expected, abs=1e-10)
    assert [q.priority for q in asked] == sorted((q.priority for q in asked), reverse=True)


def test_nobody_is_asked_twice_about_an_item():
    answers = some_answers()
    mine = {
        answers.items[i] for i, r in zip(answers.item, answers.annotator, strict=True)
        if answers.annotators[r] == "cy"
    }  # fmt: skip
    asked = [q.item for q in next_items(answers, 1000, by="information", annotator="cy")]
    assert not mine & set(asked)
    assert len(asked) == len(set(asked)) == len(answers.items) - len(mine)


def test_seconds_and_what_a_model_says():
    answers = some_answers()
    n = len(answers.items)
    plain = next_items(answers, n, by="information", doubt=0.2)
    slow = {q.item: 1.0 if q.item % 2 else 10.0 for q in plain}
    timed = next_items(answers, n, by="information", doubt=0.2, seconds=slow)
    gains = {q.item: q.priority for q in plain}
    for question in timed:
        assert question.priority == pytest.approx(gains[question.item] / slow[question.item])
    sure = Labels.from_crisp([CLASSES[i % 3] for i in range(n)], CLASSES)
    known = next_items(answers, n, by="information", doubt=0.2, predicted=sure)
    assert all(q.priority == pytest.approx(0, abs=1e-12) for q in known)
    nothing = next_items(answers, n, by="information", doubt=0.2, predicted=np.ones((n, 3)))
    assert [q.item for q in nothing] == [q.item for q in plain]


def test_shared_errors_make_further_answers_worth_less():
    """Two items as open as each other: the one with more answers has less to gain."""
    answers = Annotations.from_long(
        ["new", "old", "old", "old", "old"], ["a", "a", "b", "c", "d"],
        ["cannot tell", "oak", "elm", "oak", "elm"], classes=["oak", "elm"],
    )  # fmt: skip

    def gains(shared):
        asked = next_items(answers, 2, by="information", shared=shared, doubt=0.3)
        return {question.item: question.priority for question in asked}

    alone, together = gains(0.0), gains(0.5)
    assert alone["new"] == pytest.approx(alone["old"])
    assert together["new"] == pytest.approx(alone["new"])
    # Four answers are worth 1.6, five 5/3.
    assert together["old"] == pytest.approx(alone["old"] * (5 / 3 - 1.6))


def ask(rng, said, rates, choose, n_answers):
    """Ask one person after another, each about one item; what comes out."""
    n_items, n_people = said.shape
    doubt = {who: float(1.5 * (1 - rates[who])) for who in range(n_people)}
    items, people = list(range(n_items)), rng.integers(n_people, size=n_items).tolist()
    while len(items) < n_answers * n_items:
        answers = Annotations.from_long(
            items, people, said[items, people].tolist(), classes=[0, 1, 2]
        )
        given = [doubt[who] for who in answers.annotators.tolist()]
        asked = set(zip(items, people, strict=True))
        for item in choose(answers, answers.pool(doubt=given)):
            free = [who for who in range(n_people) if (item, who) not in asked]
            items.append(int(item))
            people.append(int(rng.choice(free)))
    answers = Annotations.from_long(items, people, said[items, people].tolist(), classes=[0, 1, 2])
    return answers.pool(doubt=[doubt[who] for who in answers.annotators.tolist()])


def test_information_finds_the_items_that_need_answers():
    """At three answers an item, on average, information leaves fewer errors than fewest first."""
    rates = np.tile([0.75, 0.8, 0.85], 4)

    def fewest(answers, labels):
        count = np.bincount(answers.item, minlength=len(answers.items))
        return answers.items[np.argsort(count, kind="stable")[:40]]

    def by_information(answers, labels):
        known = of_rates(answers, rates[answers.annotators.astype(int)])
        asked = next_items(answers, 40, by="information", labels=labels, reliability=known)
        return [question.item for question in asked]

    errors = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        truth, said = crowd(rng, 200, rates)
        for choose in (fewest, by_information):
            found = ask(rng, said, rates, choose, 3)
            errors.append(float((found.contour.argmax(axis=1) != truth).mean()))
    few, informed = np.array(errors).reshape(3, 2).T
    assert (informed < few).all()
    assert informed.mean() < 0.6 * few.mean()


def of_rates(answers, rates):
    """Reliabilities that are known."""
    n = len(rates)
    empty = np.zeros(n)
    return Reliability(
        annotators=answers.annotators, classes=answers.classes, n_answers=np.ones(n),
        accuracy=rates, low=empty, high=empty, doubt=empty, learned=rates[:, None],
        prior=np.full(3, 1 / 3), posterior=np.zeros((0, 3)), evidence=np.zeros((0, 3)),
        log_likelihood=0.0, history=empty, n_iter=1, converged=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"by": "chance"}, "by should be"),
        ({"seconds": {0: 1.0}}, "seconds should have an entry for each item"),
        ({"seconds": -1.0}, "seconds should be positive"),
        ({"shared": 2.0}, r"shared should be a finite number in \[0, 1\]"),
        ({"annotator": ["bob"]}, "annotator should be the name of a person"),
        ({"predicted": np.ones((2, 3))}, "labels should be one for each"),
    ],
)
def test_strange_questions(wrong, words):
    with pytest.raises(InputError, match=words):
        next_items(some_answers(), 3, **({"by": "information"} | wrong))
