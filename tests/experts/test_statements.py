"""Equal statements are one, however they are written, and no answer is lost if they are not."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

from plausible.experts import Annotations, JointAnnotatorClassifier
from plausible.models import PartialLogisticRegression

CLASSES = ["c", "a", "b"]
MODELS = ["one_coin", "class", "full"]


def written_in_two_ways(seed=0, n=60):
    """Cells of 4 people about n items, hard answers and sets, and the same written otherwise."""
    random = np.random.default_rng(seed)
    y = random.choice(3, size=n, p=[0.5, 0.3, 0.2])
    plain, other = [], []
    for k in y:
        for skill in (0.9, 0.8, 0.7, 0.5):
            said = CLASSES[k if random.random() < skill else random.integers(3)]
            also = CLASSES[random.integers(3)]
            cell = f"{said}|{also}" if random.random() < 0.2 and also != said else said
            plain.append(cell)
            names = cell.split("|")
            ways = [cell, f" {cell} ", set(names), "|".join(reversed(names)), f"{cell}|{names[0]}"]
            other.append(ways[random.integers(len(ways))])
    items, people = np.repeat(np.arange(n), 4), np.tile(np.arange(4), n)
    return items, people, plain, other


def by_hand(answers, seed=0):
    """The same answers, whose statements stand in several rows of the contours each."""
    copies = np.random.default_rng(seed).integers(3, size=len(answers))
    return Annotations(
        items=answers.items,
        annotators=answers.annotators,
        classes=answers.classes,
        item=answers.item,
        annotator=answers.annotator,
        statement=answers.statement + copies * len(answers.contours),
        contours=np.vstack([answers.contours] * 3),
        doubt=answers.doubt,
    )


def test_the_answers_of_the_defect_are_counted():
    answers = Annotations.from_long([0, 1, 2, 3], ["p"] * 4, ["a", {"a"}, "b", {"b"}])
    np.testing.assert_array_equal(answers.contours, [[1, 0], [0, 1]])
    assert answers.reliability().n_answers.tolist() == [4.0]


@pytest.mark.parametrize(
    "cells", [["a", "a ", " b", "b"], ["a", {"a"}, "b", {"b"}], [1, "1", "2", 2.0]]
)
@pytest.mark.parametrize("model", MODELS)
def test_one_class_in_two_ways_of_writing_is_one_statement(cells, model):
    long = Annotations.from_long([0, 1, 2, 3], ["p"] * 4, cells)
    wide = Annotations.from_answers(np.array([[cell] for cell in cells], dtype=object))
    for answers in (long, wide):
        assert answers.contours.shape == (2, 2)
        assert answers.reliability(model).n_answers[0] == pytest.approx(4.0)


def test_all_classes_are_one_statement_with_cannot_tell():
    answers = Annotations.from_long(
        range(6), ["p"] * 6, ["c|a|b", "cannot tell", None, {"a", "b", "c"}, "a", "none of these"]
    )
    assert len(answers.contours) == 3
    assert len(np.unique(answers.contours, axis=0)) == 3


@pytest.mark.parametrize("kind", ["plausibility", "probability", "mass", "count"])
def test_tables_have_each_statement_once(kind):
    table = np.array([[0.5, 0.5, 0], [0.2, 0.3, 0.5], [0.5, 0.5, -0.0], [0.2, 0.3, 0.5]])
    table = np.ceil(table) if kind == "count" else table
    answers = Annotations.from_classes(table, kind, CLASSES)
    rows = answers.contours if answers.given_masses is None else answers.given_masses.values
    assert len(rows) == len(np.unique(rows, axis=0)) == (3 if kind == "count" else 2)


@pytest.mark.parametrize("kind", ["plausibility", "probability", "mass"])
def test_long_tables_of_numbers_have_each_statement_once(kind):
    numbers = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    answers = Annotations.from_long(
        [0, 0, 1, 1, 2, 2],
        ["p"] * 6,
        ["a", "b", "b", {"a"}, " a", "b"],
        classes=CLASSES,
        **{kind: numbers},
    )
    assert len(answers.contours) == 1
    assert len(answers) == 3


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("doubted", [False, True])
def test_reliabilities_and_labels_do_not_depend_on_the_way_of_writing(model, doubted):
    items, people, plain, other = written_in_two_ways()
    doubt = np.tile([0.0, 0.2, 0.2, 0.5, 0.0, 0.1], len(items) // 6) if doubted else None
    options = {"doubt": doubt, "classes": CLASSES}
    once = Annotations.from_long(items, people, plain, **options)
    twice = Annotations.from_long(items, people, other, **options)
    spread_out = by_hand(once)
    expected = once.reliability(model, smoothing=0.5)
    for answers in (twice, spread_out):
        found = answers.reliability(model, smoothing=0.5)
        np.testing.assert_allclose(found.n_answers, np.full(4, 60), atol=1e-9)
        np.testing.assert_allclose(found.n_answers, expected.n_answers, atol=1e-9)
        np.testing.assert_allclose(found.confusion, expected.confusion, atol=1e-8)
        np.testing.assert_allclose(found.posterior, expected.posterior, atol=1e-8)
        pooled, wanted = (a.pool(doubt="fit", model=model) for a in (answers, once))
        np.testing.assert_allclose(pooled.contour, wanted.contour, atol=1e-8)
        np.testing.assert_allclose(pooled.conflict, wanted.conflict, atol=1e-8)
        np.testing.assert_array_equal(answers.votes(), once.votes())
    assert len(spread_out.contours) == 3 * len(once.contours)


@pytest.mark.parametrize("model", MODELS)
def test_doubts_that_make_two_statements_equal_lose_no_answer(model):
    """(1, 0, 0) doubted by a half says what (1, 0.5, 0.5) does."""
    random = np.random.default_rng(1)
    y, n = random.integers(3, size=40), 40
    said = np.where(random.random((n, 3)) < 0.8, y[:, None], random.integers(3, size=(n, 3)))
    items, people = np.repeat(np.arange(n), 3), np.tile(np.arange(3), n)
    hard, soft = np.eye(3)[said.ravel()], 0.5 + 0.5 * np.eye(3)[said.ravel()]
    in_doubt = random.random(3 * n) < 0.5
    mixed = np.where(in_doubt[:, None], hard, soft)
    one = Annotations.from_classes(soft, "plausibility", CLASSES, items, people)
    other = Annotations.from_classes(
        mixed, "plausibility", CLASSES, items, people, doubt=np.where(in_doubt, 0.5, 0.0)
    )
    expected, found = one.reliability(model), other.reliability(model)
    np.testing.assert_allclose(found.n_answers, [n, n, n], atol=1e-9)
    np.testing.assert_allclose(found.confusion, expected.confusion, atol=1e-8)
    np.testing.assert_allclose(found.posterior, expected.posterior, atol=1e-8)


def test_the_joint_classifier_does_not_depend_on_the_way_of_writing():
    items, people, plain, other = written_in_two_ways(3)
    X = np.random.default_rng(0).normal(size=(60, 2))
    X += [[len(cell) + 2 * ("a" in cell)] * 2 for cell in plain[::4]]
    once = Annotations.from_long(items, people, plain, classes=CLASSES)
    inner = PartialLogisticRegression(random_state=0)
    for answers in (Annotations.from_long(items, people, other, classes=CLASSES), by_hand(once)):
        found, expected = (
            JointAnnotatorClassifier(inner).fit(X, given) for given in (answers, once)
        )
        np.testing.assert_allclose(found.history_, expected.history_, rtol=1e-9)
        np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-7)


def test_contours_are_given_dense_or_sparse_and_shown_dense():
    answers = Annotations.from_long([0, 0, 1], ["p", "q", "p"], ["b", "c|a", "?"], classes=CLASSES)
    shown = answers.contours
    assert isinstance(shown, np.ndarray)
    sparse = Annotations(
        answers.items,
        answers.annotators,
        answers.classes,
        answers.item,
        answers.annotator,
        answers.statement,
        csr_array(shown),
    )
    for other in (sparse, pickle.loads(pickle.dumps(answers)), answers.select([0, 1, 2])):
        np.testing.assert_array_equal(other.contours, shown)
        np.testing.assert_array_equal(other.is_hard, answers.is_hard)
        np.testing.assert_array_equal(
            other.pool(doubt=0.1).contour, answers.pool(doubt=0.1).contour
        )
