"""Labels on unsorted classes, against dictionaries from names to plausibilities and masses."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plausible import belief
from plausible.labels import ApproximationWarning, Labels, as_labels

CLASSES = ["m", "z", "b", "k"]
NUMBERS = [30, 10, 40, 20]


@st.composite
def known_masses(draw):
    """One dictionary {frozenset of names: mass} for each of a few items."""
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    rows = []
    for _ in range(draw(st.integers(1, 4))):
        sets = {
            frozenset(rng.permutation(CLASSES)[: rng.integers(1, 5)].tolist()) for _ in range(4)
        }
        shares = rng.dirichlet(np.ones(len(sets)))
        rows.append(dict(zip(sorted(sets, key=sorted), shares.tolist(), strict=True)))
    return rows


def contour_of(row, names):
    return [sum(m for members, m in row.items() if name in members) for name in names]


def dicts_of(labels):
    """Masses of labels by the names of their classes."""
    rows = labels.masses().to_dicts(labels.classes.tolist())
    return [{frozenset(members): m for members, m in row.items() if m > 1e-12} for row in rows]


@pytest.mark.parametrize("classes", [CLASSES, NUMBERS])
@pytest.mark.parametrize("as_array", [False, True])
def test_hard_labels_among_unsorted_classes(classes, as_array):
    for said in permutations(classes, 3):
        y = np.array(said) if as_array else list(said)
        expected = [[float(name == own) for name in classes] for own in said]
        for labels in (Labels.from_crisp(y, classes), as_labels(y, classes)):
            assert labels.classes.tolist() == classes
            assert labels.contour.tolist() == expected
            assert labels.crisp().tolist() == list(said)


def test_missing_and_doubted_labels_among_unsorted_classes():
    said, doubts = ["k", None, "m", "b", "z"], [0.1, 0.2, 0.3, 0.4, 0.5]
    labels = Labels.from_doubt(said, doubts, CLASSES, missing=None)
    expected = [
        [1.0 if own in (None, name) else doubt for name in CLASSES]
        for own, doubt in zip(said, doubts, strict=True)
    ]
    np.testing.assert_allclose(labels.contour, expected)
    with pytest.raises(ValueError, match=r"but 'a' was found in 1 row \(row 1\)"):
        Labels.from_crisp(["z", "a", "k"], CLASSES)
    with pytest.raises(ValueError, match=r"but 99 was found in 1 row \(row 0\)"):
        Labels.from_crisp([99, 10], NUMBERS)


def test_sets_among_unsorted_classes():
    sets = [{"k", "m"}, {"b"}, None, {"z", "b", "k"}]
    labels = Labels.from_sets(sets, CLASSES)
    expected = [[float(row is None or name in row) for name in CLASSES] for row in sets]
    assert labels.contour.tolist() == expected


@given(known_masses(), st.permutations(CLASSES))
def test_masses_follow_their_classes_into_any_order(rows, order):
    labels = Labels.from_masses(rows, CLASSES)
    np.testing.assert_allclose(labels.contour, [contour_of(row, CLASSES) for row in rows])
    turned = labels.reorder(order)
    assert turned.classes.tolist() == order
    np.testing.assert_allclose(turned.contour, [contour_of(row, order) for row in rows])
    assert turned.has_masses
    for got, row in zip(dicts_of(turned), rows, strict=True):
        assert got == pytest.approx({a: m for a, m in row.items() if m > 1e-12})
    np.testing.assert_allclose(belief.contour(turned.masses()), turned.contour, atol=1e-12)


@given(known_masses(), st.floats(0.01, 0.99), st.permutations(CLASSES))
def test_doubt_and_knowledge_by_definition(rows, doubt, order):
    labels = Labels.from_masses(rows, CLASSES)
    doubted = labels.discount(doubt)
    for got, contour, row in zip(dicts_of(doubted), doubted.contour, rows, strict=True):
        expected = {a: (1 - doubt) * m for a, m in row.items() if m * (1 - doubt) > 1e-12}
        expected[frozenset(CLASSES)] = expected.get(frozenset(CLASSES), 0) + doubt
        assert got == pytest.approx(expected)
        np.testing.assert_allclose(contour, contour_of(expected, CLASSES))
    kept = order[:2]  # some class stays possible, thanks to the doubt
    known = doubted.condition(kept)
    for before, got, contour in zip(dicts_of(doubted), dicts_of(known), known.contour, strict=True):
        expected = {}
        for members, m in before.items():
            left = members & set(kept)
            expected[left] = expected.get(left, 0) + m
        assert got == pytest.approx(expected)
        np.testing.assert_allclose(contour, contour_of(expected, CLASSES))


def test_masses_of_several_groups_are_known_only_if_those_of_each_are():
    exact = Labels.from_masses([{("m", "k"): 0.4, ("b",): 0.6}], CLASSES)
    hard = Labels.from_crisp(["z"], CLASSES)
    graded = Labels.from_plausibility([[1.0, 0.3, 0.2, 0.6]], CLASSES)
    assert Labels.concatenate([exact, hard]).has_masses
    assert Labels.concatenate([hard, hard]).has_masses
    for groups in ([exact, graded], [graded, exact], [hard, graded], [graded, hard, exact]):
        both = Labels.concatenate(groups)
        assert not both.has_masses
        assert not both[: len(both)].has_masses
        with pytest.warns(ApproximationWarning, match="least committed"):
            both.masses()


@given(known_masses(), known_masses(), st.permutations(CLASSES))
def test_groups_may_have_their_classes_in_other_orders(first, second, order):
    groups = [Labels.from_masses(first, CLASSES), Labels.from_masses(second, order)]
    both = Labels.concatenate(groups)
    assert both.classes.tolist() == CLASSES
    for got, contour, row in zip(dicts_of(both), both.contour, [*first, *second], strict=True):
        assert got == pytest.approx({a: m for a, m in row.items() if m > 1e-12})
        np.testing.assert_allclose(contour, contour_of(row, CLASSES))


@given(st.integers(0, 9999))
def test_degrees_by_definition(seed):
    rng = np.random.default_rng(seed)
    table = rng.uniform(0.05, 0.8, (4, 4))
    labels = Labels.from_plausibility(table, CLASSES)
    for i, row in enumerate(table.tolist()):
        assert labels.informativeness[i] == pytest.approx(1 - min(row) / max(row))
        others = sum(value / max(row) for value in row) - 1
        assert labels.imprecision[i] == pytest.approx(others / 3)
        assert labels.scaled()[i].tolist() == pytest.approx([value / max(row) for value in row])
        assert labels.crisp()[i] == max(zip(row, CLASSES, strict=True))[1]


def test_a_new_class_is_as_plausible_as_the_least_plausible_one():
    labels = Labels.from_plausibility([[0.5, 1.0, 0.25, 0.75], [0.0, 1.0, 1.0, 0.0]], CLASSES)
    wider = labels.reorder(["b", "new", "z", "k", "m"])
    np.testing.assert_allclose(wider.contour, [[0.25, 0.25, 1, 0.75, 0.5], [1, 0, 1, 0, 0]])
    with pytest.raises(ValueError, match=r"one of \['k'\] is possible in 1 row \(row 0\)"):
        labels.reorder(["m", "z", "b"])
