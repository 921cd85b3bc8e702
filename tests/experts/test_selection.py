"""Annotations as a column of items: some of them, several together, and in cross-validation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
    train_test_split,
)

from plausible.experts import Annotations, JointAnnotatorClassifier
from plausible.labels import Labels

CLASSES = ["c", "a", "b"]


def crowd(n_items=30, seed=0, doubt=True):
    rng = np.random.default_rng(seed)
    item = np.concatenate([np.arange(n_items), rng.integers(n_items, size=2 * n_items)])
    order = rng.permutation(len(item))
    cells = ["c", "a", "b", "a|b", "c|a", None, "none of these"]
    return Annotations.from_long(
        [f"im{k}" for k in item[order]],
        rng.choice(["ann", "bob", "cy"], size=len(item)),
        [cells[k] for k in rng.integers(len(cells), size=len(item))],
        classes=CLASSES,
        doubt=rng.uniform(0.05, 0.9, size=len(item)) if doubt else None,
    )


def pooled(answers):
    return answers.pool(doubt=0.1)


@given(st.lists(st.integers(-30, 29), max_size=40))
def test_items_are_taken_with_all_that_was_said_about_them(rows):
    answers = crowd()
    part = answers[np.array(rows, dtype=np.int64)]
    assert part.shape == (len(rows),)
    assert part.items.tolist() == answers.items[np.array(rows, dtype=np.int64)].tolist()
    if rows:
        whole = pooled(answers)
        np.testing.assert_allclose(pooled(part).contour, whole.contour[rows], atol=1e-12)
        np.testing.assert_allclose(pooled(part).conflict, whole.conflict[rows], atol=1e-12)
    counts = np.bincount(answers.item, minlength=30)
    assert len(part) == counts[np.array(rows, dtype=np.int64)].sum()


def test_ways_to_name_items():
    answers = crowd()
    wanted = [4, 0, 17]
    names = answers.items[wanted].tolist()
    mask = np.zeros(30, dtype=bool)
    mask[wanted] = True
    by_place = answers[wanted]
    for other in (answers[names], answers.about(names), answers[np.array(wanted), ...]):
        assert other.items.tolist() == names
        np.testing.assert_array_equal(pooled(other).contour, pooled(by_place).contour)
    assert answers[mask].items.tolist() == answers.items[sorted(wanted)].tolist()
    assert answers[2:5].items.tolist() == answers.items[2:5].tolist()
    assert answers[3].items.tolist() == [answers.items[3]]
    assert [one.items[0] for one in answers] == answers.items.tolist()
    numbers = Annotations.from_long([7, 8, 7], ["p", "p", "q"], ["a", "b", "b"])
    assert numbers.about([8]).items.tolist() == numbers.about(["8"]).items.tolist() == [8]
    assert numbers[[0]].items.tolist() == [7]  # whole numbers are places
    with pytest.raises(KeyError, match="'im99' is not"):
        answers[["im99"]]
    with pytest.raises(ValueError, match="below 30"):
        answers[[30]]


def test_annotators_and_classes_keep_their_places():
    answers = Annotations.from_long(
        ["x", "y", "z"], ["ann", "bob", "cy"], ["a", "b", "c"], doubt=[0.1, 0.2, 0.3]
    )
    part = answers[[2]]
    assert part.annotators.tolist() == ["ann", "bob", "cy"]
    assert part.classes.tolist() == ["a", "b", "c"]
    assert part.doubt.tolist() == [0.3]


@given(st.integers(0, 1000))
def test_parts_together_are_the_whole(seed):
    answers = crowd(seed=seed % 7, doubt=seed % 2 == 0)
    rows = np.random.default_rng(seed).permutation(30)
    parts = [answers[rows[:11]], answers[rows[11:20]], answers[rows[20:]]]
    together = Annotations.concatenate(parts)
    assert together.items.tolist() == answers.items[rows].tolist()
    assert together.classes.tolist() == CLASSES
    again = together.about(answers.items)
    np.testing.assert_allclose(pooled(again).contour, pooled(answers).contour, atol=1e-12)


def test_answers_about_the_same_item_come_together():
    rng = np.random.default_rng(3)
    said = rng.choice(CLASSES, size=(12, 4))
    whole = Annotations.from_answers(said, annotators=list("pqrs"))
    halves = [
        Annotations.from_answers(said[:, :2], annotators=["p", "q"]),
        Annotations.from_answers(said[:, 2:], annotators=["r", "s"]),
    ]
    together = Annotations.concatenate(halves)
    assert together.annotators.tolist() == list("pqrs")
    np.testing.assert_array_equal(together.votes(), whole.votes())


def test_classes_that_a_part_does_not_know_are_ruled_out_but_by_who_cannot_tell():
    first = Annotations.from_long(["x", "y"], ["p", "p"], ["dog|cat", None])
    second = Annotations.from_long(["z", "w"], ["q", "q"], ["eel", "none of these"])
    both = Annotations.concatenate([first, second])
    assert both.classes.tolist() == ["cat", "dog", "eel"]
    said = both.contours[both.statement].tolist()
    assert said == [[1, 1, 1], [1, 1, 1], [0, 0, 1], [0, 0, 0]]  # cat or dog was all there was
    third = Annotations.from_long(
        ["x", "y"], ["p", "p"], ["dog", "cat"], classes=["dog", "cat", "ox"]
    )
    both = Annotations.concatenate([third, second])
    said = dict(zip(both.items.tolist(), both.contours[both.statement].tolist(), strict=True))
    assert both.classes.tolist() == ["cat", "dog", "eel", "ox"]
    assert said["x"] == [0, 1, 0, 0]
    assert said["w"] == [0, 0, 0, 0]


def test_masses_and_probabilities_come_together():
    masses = Annotations.from_long(
        ["x", "x", "y"], ["p"] * 3, ["c", "a|b", "c|a|b"], mass=[0.3, 0.5, 1.0], classes=CLASSES
    )
    table = [[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]
    shares = Annotations.from_classes(table, "probability", CLASSES, ["y", "z"], ["q", "q"])
    degrees = Annotations.from_classes([[1, 0.5, 0.2]], "plausibility", CLASSES, ["z"], ["p"])
    together = Annotations.concatenate([masses, shares, degrees])
    for rule in ("dempster", "mean", "yager"):
        alone = [part.pool(rule, doubt=0.2) for part in (masses[["x"]], shares[["y"]])]
        both = together.pool(rule, doubt=0.2)
        np.testing.assert_allclose(both.contour[0], alone[0].contour[0], atol=1e-12)
        if rule == "dempster":  # y was said nothing about by p
            np.testing.assert_allclose(both.scaled()[1], alone[1].scaled()[0], atol=1e-12)


def test_parts_with_and_without_doubts_do_not_mix():
    with pytest.raises(ValueError, match="without_doubt"):
        Annotations.concatenate([crowd(), crowd(doubt=False)])
    with pytest.raises(ValueError, match="at least one part"):
        Annotations.concatenate([])
    with pytest.raises(TypeError, match="Each part should be Annotations"):
        Annotations.concatenate([crowd(), "x"])


def features(answers, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(len(answers.items), 2))


def test_scikit_learn_splits_items():
    answers = crowd()
    X = features(answers)
    train, test, _X_train, X_test = train_test_split(answers, X, test_size=10, random_state=0)
    assert train.shape == (20,)
    assert test.shape == (10,)
    assert len(X_test) == 10
    assert not set(train.items) & set(test.items)
    place = {name: k for k, name in enumerate(answers.items.tolist())}
    np.testing.assert_array_equal(X_test, X[[place[name] for name in test.items.tolist()]])
    whole = pooled(answers)
    for _, rows in KFold(5).split(answers):
        np.testing.assert_allclose(pooled(answers[rows]).contour, whole.contour[rows])
    folds = GroupKFold(3).split(answers, groups=np.arange(30) // 5)
    assert sorted(np.concatenate([rows for _, rows in folds]).tolist()) == list(range(30))


def test_numpy_sees_the_class_that_answers_favor():
    table = [["a", "a", "b"], ["b", "c", "c"], [None, None, None], ["a|c", "c|b", "cannot tell"]]
    answers = Annotations.from_answers(np.array(table, dtype=object), classes=CLASSES)
    assert np.asarray(answers).tolist() == ["a", "c", "", "c"]
    numbers = Annotations.from_answers([[2, 2, 0], [None, None, None], [0, 0, 2]])
    assert np.asarray(numbers).tolist() == [2, -1, 0]
    doubted = Annotations.from_long(
        ["x"] * 3, ["p", "q", "r"], ["a", "a", "b"], doubt=[0.9, 0.8, 0.1]
    )
    assert np.asarray(doubted).tolist() == ["b"]


@pytest.fixture(scope="module")
def separable():
    rng = np.random.default_rng(5)
    y = rng.integers(3, size=150)
    X = rng.normal(size=(150, 2)) + 4 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    right = rng.uniform(size=(150, 4)) < [0.95, 0.85, 0.7, 0.4]
    said = np.where(right, y[:, None], rng.integers(3, size=(150, 4)))
    answers = Annotations.from_answers(np.array(CLASSES)[said], annotators=list("pqrs"))
    return X, answers, np.array(CLASSES)[y]


def test_a_joint_classifier_is_cross_validated_by_items(separable):
    X, answers, y = separable
    model = JointAnnotatorClassifier(model="one_coin")
    scores = cross_val_score(model, X, answers, cv=3)
    assert scores.min() > 0.8
    found = GridSearchCV(model, {"model": ["one_coin", "class"]}, cv=3).fit(X, answers)
    assert found.best_estimator_.score(X, y) > 0.9


def test_answers_are_scored_with_the_doubts_that_were_learned(separable):
    X, answers, _ = separable
    train, test = np.arange(100), np.arange(100, 150)
    model = JointAnnotatorClassifier(model="one_coin").fit(X[train], answers[train])
    doubts = dict(zip("pqrs", model.reliability_.doubt, strict=True))
    expected = answers[test].pool(doubt=doubts)
    assert isinstance(expected, Labels)
    assert model.score(X[test], answers[test]) == pytest.approx(model.score(X[test], expected))
    stranger = Annotations.concatenate([
        answers[test],
        Annotations.from_long(answers.items[test], ["zoe"] * 50, ["c"] * 50, classes=list("abc")),
    ])  # fmt: skip
    doubts["zoe"] = model.reliability_.doubt.mean()
    expected = stranger.pool(doubt=doubts)
    assert model.score(X[test], stranger) == pytest.approx(model.score(X[test], expected))
