"""Answers that arrive one after the other, against fits to all of them."""

import numpy as np
import pytest

from plausible.errors import InputError
from plausible.experts import Annotations, AnswerPool, Dependence, fit_reliability
from plausible.experts.right_shares import flatten, right_shares

CLASSES = ["m", "z", "b", "k"]


def columns(n_items=40, n_people=5, seed=0):
    """Items, people, sets of unsorted classes and doubts."""
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=n_items)
    items, people, said = [], [], []
    for item in range(n_items):
        for person in range(n_people):
            own = y[item] if rng.random() < 0.55 + 0.08 * person else rng.integers(4)
            more = {CLASSES[rng.integers(4)]} if rng.random() < 0.25 else set()
            items.append(f"i{item}")
            people.append(f"p{person}")
            said.append({CLASSES[own]} | more)
    doubt = np.where(rng.random(len(said)) < 0.4, 0.0, rng.random(len(said)) * 0.6)
    order = rng.permutation(len(said))
    return [items[k] for k in order], [people[k] for k in order], [said[k] for k in order], doubt


def answers_of(items, people, said, doubt):
    return Annotations.from_long(items, people, said, classes=CLASSES, doubt=doubt)


def test_shares_of_being_right_follow_from_their_definition():
    answers = answers_of(*columns(12, 3))
    rate = np.array([0.8, 0.35, 0.6])
    found = right_shares(flatten(answers), rate, len(answers.items), 4)
    contours = answers.contours[answers.statement]
    for item in range(len(answers.items)):
        mine = np.flatnonzero(answers.item == item)
        likelihood, right = np.ones(4), {}
        for a in mine:
            d, s, c = answers.doubt[a], contours[a], rate[answers.annotator[a]]
            said = np.where(np.eye(4) == 1, c, (1 - c) / 3) * (d + (1 - d) * s)  # class, meant
            likelihood *= said.sum(axis=1)
            right[a] = np.diag(said) / said.sum(axis=1)
        posterior = likelihood / likelihood.sum()
        for a in mine:
            assert found[a] == pytest.approx(posterior @ right[a], abs=1e-12)


@pytest.mark.parametrize("with_doubts", [True, False])
def test_adding_answers_one_by_one_equals_fitting_at_once(with_doubts):
    items, people, said, doubt = columns()
    doubt = doubt if with_doubts else None
    n = len(items)
    first = n - 12

    def part(rows):
        given = None if doubt is None else doubt[rows]
        return answers_of(items[rows], people[rows], said[rows], given)

    pool = AnswerPool(part(slice(0, first)))
    for k in range(first, n):
        pool.add(part(slice(k, k + 1)))
    assert not pool.is_settled
    at_once = AnswerPool(part(slice(0, n)), tol=1e-13)
    pool.settle(tol=1e-13)
    assert pool.items.tolist() == at_once.items.tolist()
    assert pool.annotators.tolist() == at_once.annotators.tolist()
    np.testing.assert_allclose(pool.rate, at_once.rate, atol=1e-8)
    np.testing.assert_allclose(pool.labels().contour, at_once.labels().contour, atol=1e-8)
    fitted = fit_reliability(part(slice(0, n)), tol=1e-12)
    np.testing.assert_allclose(pool.rate, fitted.learned[:, 0], atol=1e-4)
    np.testing.assert_allclose(pool.reliability().accuracy, fitted.accuracy, atol=1e-4)


def test_before_it_settles_a_pool_is_already_close():
    items, people, said, doubt = columns(120)
    half = len(items) - 30
    pool = AnswerPool(answers_of(items[:half], people[:half], said[:half], doubt[:half]))
    before = pool.rate.copy()
    pool.add(answers_of(items[half:], people[half:], said[half:], doubt[half:]))
    near = pool.rate.copy()
    pool.settle(tol=1e-10)
    assert np.abs(near - pool.rate).max() < 0.6 * np.abs(before - pool.rate).max()
    assert len(pool) == len(items)


def test_labels_of_some_items_are_those_of_all():
    items, people, said, doubt = columns()
    pool = AnswerPool(answers_of(items[:150], people[:150], said[:150], doubt[:150]))
    pool.add(answers_of(items[150:], people[150:], said[150:], doubt[150:]))
    wanted = ["i7", "i3", "i7"]
    some = pool.labels(wanted)
    everything = pool.labels()
    rows = [pool.items.tolist().index(name) for name in wanted]
    np.testing.assert_allclose(some.contour, everything.contour[rows], atol=1e-12)
    np.testing.assert_allclose(some.conflict, everything.conflict[rows], atol=1e-12)
    with pytest.raises(InputError, match=r"np\.void.* is not"):  # which has no hash
        pool.labels(np.zeros(2, dtype=[("name", float)]))
    with pytest.raises(ValueError, match="'nobody' is not"):
        pool.labels(["nobody"])


@pytest.mark.parametrize(
    ("dependence", "same"),
    [("none", "none"), (0.4, 0.4), ("auto", Dependence(0.5)), (Dependence(0.2), Dependence(0.2))],
)
def test_labels_are_those_of_the_pool_with_fitted_doubts(dependence, same):
    answers = answers_of(*columns())
    grown = AnswerPool(answers, dependence=dependence, tol=1e-12).labels()
    pooled = answers.pool(doubt="fit", dependence=same, tol=1e-13, on_conflict="unknown")
    np.testing.assert_allclose(grown.contour, pooled.contour, atol=1e-4)


def test_new_people_items_and_classes_find_a_place():
    items, people, said, doubt = columns()
    pool = AnswerPool(answers_of(items, people, said, doubt))
    more = Annotations.from_long(["i0", "new", "new"], ["p9", "p0", "p9"], ["eel", "b", "b|eel"])
    pool.add(more)
    assert pool.classes.tolist() == sorted([*CLASSES, "eel"])
    assert pool.items.tolist()[-1] == "new"
    assert pool.labels(["new"]).crisp().tolist() == ["b"]
    fitted = fit_reliability(pool.annotations)
    np.testing.assert_allclose(pool.settle().rate, fitted.learned[:, 0], atol=1e-3)


def test_classes_in_another_order_mean_the_same():
    items, people, said, _ = columns()
    first = Annotations.from_long(items[:100], people[:100], said[:100], classes=CLASSES)
    rest = [items[100:], people[100:], said[100:]]
    one, other = AnswerPool(first), AnswerPool(first)
    one.add(Annotations.from_long(*rest, classes=CLASSES))
    other.add(Annotations.from_long(*rest, classes=CLASSES[::-1]))
    np.testing.assert_allclose(one.labels().contour, other.labels().contour, atol=1e-12)


def test_names_of_another_kind_are_refused():
    pool = AnswerPool(Annotations.from_long([1, 1, 2], ["ann", "bob", "ann"], ["a", "b", "b"]))
    with pytest.raises(InputError, match="items should be named by text or by numbers"):
        pool.add(Annotations.from_long(["x"], ["ann"], ["a"]))
    with pytest.raises(InputError, match="dependence"):
        AnswerPool(pool.annotations, dependence="fit")
    assert "3 answers about 2 items" in repr(pool)
