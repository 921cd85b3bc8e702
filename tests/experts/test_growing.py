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


@pytest.mark.parametrize(
    ("model", "with_doubts"),
    [("class", True), ("class", False), ("full", True), ("full", False), ("shrunk", True),
     ("shrunk", False), ("auto", True), ("auto", False)],
)  # fmt: skip
def test_every_model_grows_to_where_a_fit_to_all_ends(model, with_doubts):
    items, people, said, doubt = columns(60)
    n, first = len(items), len(items) - 25

    def part(rows):
        return answers_of(
            items[rows], people[rows], said[rows], doubt[rows] if with_doubts else None
        )

    pool = AnswerPool(part(slice(0, first)), model)
    for k in range(first, n):
        pool.add(part(slice(k, k + 1)))
    before = pool.labels().contour
    at_once = AnswerPool(part(slice(0, n)), model, tol=1e-13)
    wanted = at_once.labels().contour
    assert np.abs(before - wanted).mean() < 0.03  # already close
    pool.settle(tol=1e-13)
    assert pool.is_settled
    np.testing.assert_allclose(pool.learned, at_once.learned, atol=1e-8)
    np.testing.assert_allclose(pool.rate, at_once.rate, atol=1e-8)
    np.testing.assert_allclose(pool.labels().contour, wanted, atol=1e-8)
    np.testing.assert_allclose(pool.reliability().low, at_once.reliability().low, atol=1e-6)
    if model != "auto":
        fitted = fit_reliability(part(slice(0, n)), model, tol=1e-12, max_iter=5000)
        np.testing.assert_allclose(pool.learned, fitted.learned, atol=2e-4)
        np.testing.assert_allclose(pool.rate, fitted.accuracy, atol=2e-4)


@pytest.mark.parametrize("model", ["class", "full", "shrunk"])
def test_what_is_added_up_of_some_items_is_what_all_add_up_to(model):
    """Sums of hard answers follow from the class probabilities of items, however they came."""
    rng = np.random.default_rng(1)
    y = rng.integers(4, size=50)
    item, who = np.divmod(rng.permutation(300), 6)
    said = np.where(rng.random(300) < 0.6, y[item], rng.integers(4, size=300))
    given = [item, who, np.array(CLASSES)[said]]
    pool = AnswerPool(
        Annotations.from_long(*(one[:200] for one in given), classes=CLASSES), model, tol=1e-12
    )
    for rows in (slice(200, 201), slice(201, 240), slice(240, 300)):
        pool.add(Annotations.from_long(*(one[rows] for one in given), classes=CLASSES))
        state, answers = pool._state, pool.annotations
        problem = state.problem(answers, slice(None), state.prior)
        counts = problem.expected(state.posterior[: state.n_items], state.learned)
        np.testing.assert_allclose(state.counts, counts, atol=1e-9)
        np.testing.assert_allclose(
            state.in_all, state.posterior[: state.n_items].sum(axis=0), atol=1e-9
        )
        np.testing.assert_allclose(state.learned, problem._learn(state.counts), atol=1e-9)
        right, total = problem.tally(state.counts)
        sure, imagined = problem.imagined()
        np.testing.assert_allclose(pool.rate, (right + sure) / (total + imagined), atol=1e-12)


def test_auto_is_what_pool_does_without_settings():
    items, people, said, doubt = columns(60)
    answers = answers_of(items, people, said, doubt)
    grown = AnswerPool(answers, "auto")
    np.testing.assert_allclose(grown.labels().contour, answers.pool().contour, atol=1e-12)
    assert np.isnan(grown.rate).all()
    assert grown.reliability().accuracy.shape == (5,)
    plain = answers_of(items, people, said, None)
    grown = AnswerPool(plain, "auto", tol=1e-9)
    np.testing.assert_allclose(grown.labels().contour, plain.pool().contour, atol=5e-3)


def test_people_who_copy_count_once_also_while_answers_arrive():
    rng = np.random.default_rng(5)
    y = rng.integers(3, size=150)
    skill = [0.75, 0.7, 0.65, 0.6, 0.7]
    said = np.column_stack(
        [np.where(rng.random(150) < p, y, rng.integers(3, size=150)) for p in skill]
    )
    said = np.column_stack([said, said[:, 4], said[:, 4]])  # two who copy the last one
    item, who = np.divmod(np.arange(said.size), 7)
    order = rng.permutation(said.size)
    columns = [one[order] for one in (item, who, np.array(["u", "b", "m"])[said.ravel()])]
    pool = AnswerPool(Annotations.from_long(*(one[:900] for one in columns)), "auto")
    assert [set(group) for group in pool._people.copies] == [{4, 5, 6}]
    for start in range(900, len(order), 50):
        late = Annotations.from_long(*(one[start : start + 50] for one in columns))
        pool.add(late)
    touched = np.unique(columns[0][1000:]).tolist()
    whole = Annotations.from_long(*columns)
    rows = [whole.items.tolist().index(name) for name in touched]
    near = np.abs(pool.labels(touched).contour - whole.pool().contour[rows])
    assert near.max() < 0.2
    pool.settle(tol=1e-12)
    at_once = AnswerPool(whole, "auto", tol=1e-12)
    some = pool.labels(at_once.items.tolist()).contour
    np.testing.assert_allclose(some, at_once.labels().contour, atol=1e-8)


def test_without_a_restart_a_pool_goes_on_from_where_it_is():
    """To a maximum, which with confusions need not be that of a new fit."""
    items, people, said, _ = columns(60)
    pool = AnswerPool(answers_of(items[:275], people[:275], said[:275], None), "full")
    pool.add(answers_of(items[275:], people[275:], said[275:], None))
    pool.settle(tol=1e-13, restart=False)
    ended = pool.learned.copy()
    pool.settle(tol=1e-13, restart=False)
    np.testing.assert_allclose(pool.learned, ended, atol=1e-8)  # it stays
    pool.settle(tol=1e-13)
    assert np.abs(pool.learned - ended).max() > 0.01


def test_given_copies_count_once_with_one_rate_as_well():
    items, people, said, doubt = columns(50)
    told = Dependence(0.3, copies=(("p1", "p3"),), groups=(("p0", "p2"),), group_shared=(0.5,))
    pool = AnswerPool(answers_of(items[:200], people[:200], said[:200], doubt[:200]),
                      dependence=told)  # fmt: skip
    pool.add(answers_of(items[200:], people[200:], said[200:], doubt[200:]))
    pool.settle(tol=1e-13)
    whole = answers_of(items, people, said, doubt)
    pooled = whole.pool(doubt="fit", dependence=told, tol=1e-13, max_iter=5000)
    rows = [pool.items.tolist().index(name) for name in whole.items.tolist()]
    np.testing.assert_allclose(pool.labels().contour[rows], pooled.contour, atol=1e-5)


def test_many_single_answers_are_kept_in_few_parts():
    items, people, said, doubt = columns(80)
    pool = AnswerPool(answers_of(items[:300], people[:300], said[:300], doubt[:300]), "class")
    for k in range(300, 325):
        pool.add(answers_of(items[k : k + 1], people[k : k + 1], said[k : k + 1], doubt[k : k + 1]))
        assert len(pool._store._parts) <= 17
    whole = answers_of(items[:325], people[:325], said[:325], doubt[:325])
    assert sorted(zip(*pool.annotations.to_table().values(), strict=True)) == sorted(
        zip(*whole.to_table().values(), strict=True)
    )
    assert pool.annotations.facts.rows.shape[0] <= 16


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
