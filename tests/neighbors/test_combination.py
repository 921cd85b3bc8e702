"""Neighbors are combined by Dempster's rule, whichever way is the quickest."""

import numpy as np
import pytest

from neighbors.kinds import (
    CLASSES,
    all_kinds,
    assert_same_masses,
    by_name,
    draw_items,
    slow_rule,
)
from plausible.belief import contour, pignistic
from plausible.labels import Labels
from plausible.neighbors import EvidentialNeighborsClassifier, dense, singles
from plausible.neighbors.closures import SparseCombiner
from plausible.neighbors.contours import ContourCombiner
from plausible.neighbors.dense import DenseCombiner
from plausible.neighbors.evidence import LabelEvidence
from plausible.neighbors.losses import Loss
from plausible.neighbors.singles import SingleCombiner

GAMMA = np.array([0.3, 2.0, 0.8, 1.1])  # of the classes in sorted order
X, NEW = draw_items(), draw_items(12, seed=5)


def ordered(labels):
    return labels.reorder(sorted(labels.classes.tolist()))


@pytest.mark.parametrize("kind", all_kinds())
@pytest.mark.parametrize("max_mass", [0.95, 1.0])
def test_masses_are_those_of_dempsters_rule(kind, max_mass):
    labels = ordered(all_kinds()[kind])
    model = EvidentialNeighborsClassifier(6, gamma=by_name(GAMMA), max_mass=max_mass).fit(X, labels)
    found = model.predict_mass(NEW)
    expected = slow_rule(X, labels, NEW, 6, GAMMA, max_mass)
    assert_same_masses(found, expected, labels.classes.tolist(), 1e-10)
    np.testing.assert_allclose(found.values.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    assert found.values.min() >= 0.0
    assert set(model.focal_sets_) >= set(found.focal_sets)


@pytest.mark.parametrize("kind", all_kinds())
def test_answers_without_masses_are_those_of_masses(kind):
    model = EvidentialNeighborsClassifier(6, gamma=by_name(GAMMA)).fit(X, all_kinds()[kind])
    masses = model.predict_mass(NEW)
    np.testing.assert_allclose(model.predict_proba(NEW), pignistic(masses), atol=1e-13)
    np.testing.assert_allclose(model.predict_plausibility(NEW), contour(masses), atol=1e-13)
    frame = masses.values[:, masses.focal_sets == 15].sum(axis=1)
    np.testing.assert_allclose(model.score_novelty(NEW), frame, atol=1e-13)
    beliefs = model.believe(NEW)
    some = beliefs[[3, 1]]
    assert len(some) == 2
    np.testing.assert_allclose(some.probability, beliefs.probability[[3, 1]])
    np.testing.assert_allclose(some.masses().values, masses.values[[3, 1]], atol=1e-15)


def test_closed_form_of_hard_labels():
    """Two near items of one class and one of another, written out (Denoeux 1995)."""
    model = EvidentialNeighborsClassifier(3, gamma=0.5, max_mass=0.9)
    model.fit([[0.0], [1.0], [2.0]], ["b", "a", "b"])
    phi = 0.9 * np.exp(-0.5 * np.array([0.25, 0.25, 2.25]))
    a, b = phi[1], 1.0 - (1.0 - phi[0]) * (1.0 - phi[2])
    parts = np.array([a * (1 - b), b * (1 - a), (1 - a) * (1 - b)])
    np.testing.assert_allclose(
        model.predict_mass([[0.5]]).values[0], parts / parts.sum(), rtol=1e-14
    )


@pytest.mark.parametrize("kind", all_kinds())
def test_all_ways_agree(kind):
    evidence = LabelEvidence(all_kinds()[kind])
    rng = np.random.default_rng(0)
    neighbors, trust = rng.integers(40, size=(9, 5)), rng.uniform(0.0, 0.99, (9, 5))
    ways = [DenseCombiner(evidence), SparseCombiner(evidence)]
    ways += [SingleCombiner(evidence)] if evidence.is_single else []
    first, *others = ways
    for other in others:
        np.testing.assert_allclose(
            other.bets(neighbors, trust), first.bets(neighbors, trust), atol=1e-12
        )
        assert_same_masses(
            other.masses(neighbors, trust), first.masses(neighbors, trust), list(CLASSES), 1e-12
        )
        np.testing.assert_allclose(
            other.ignorance(neighbors, trust), first.ignorance(neighbors, trust), atol=1e-12
        )
        slopes = rng.normal(size=(9, 4))
        np.testing.assert_allclose(
            other.linearize(neighbors, trust)[1](slopes),
            first.linearize(neighbors, trust)[1](slopes),
            atol=1e-10,
        )


@pytest.mark.parametrize("kind", ["hard", "doubted", "probabilities"])
def test_products_and_logarithms_are_the_same_evidence(kind, monkeypatch):
    combiner = SingleCombiner(LabelEvidence(all_kinds()[kind]))
    rng = np.random.default_rng(0)
    neighbors, trust = rng.integers(40, size=(20, 9)), rng.uniform(0.0, 1.0, (20, 9))
    trust[:5] *= 1e-15
    slopes = rng.normal(size=(20, 4))

    def answers():
        bets, back = combiner.linearize(neighbors, trust)
        return bets, combiner.masses(neighbors, trust).values, back(slopes)

    products = answers()
    monkeypatch.setattr(singles, "STRONG", -1.0)
    for one, other in zip(products, answers(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-300)
    many = np.zeros((1, 3000), dtype=np.int64), np.full((1, 3000), 0.999)
    monkeypatch.undo()
    np.testing.assert_allclose(combiner.bets(*many).sum(), 1.0)


@pytest.mark.parametrize("kind", ["sets", "plausibilities", "masses"])
def test_compiled_loops_are_those_of_numpy(kind, monkeypatch):
    labels = all_kinds()[kind]
    combiner = DenseCombiner(LabelEvidence(labels))
    rng = np.random.default_rng(0)
    neighbors, trust = rng.integers(40, size=(40, 19)), rng.uniform(0.0, 1.0, (40, 19))
    trust[10:20] *= rng.choice([1e-4, 1e-9, 1e-17], (10, 1))  # far from all
    trust[20:30, 3] = 1.0 - 2e-8  # where products may vanish
    loss = Loss("squared", LabelEvidence(labels[:40]))

    def answers():
        masses = combiner.masses(neighbors, trust).values
        return combiner.bets(neighbors, trust), masses, *combiner.cost(neighbors, trust, loss)

    plain = answers()
    monkeypatch.setattr(dense, "MUCH_WORK", 0)
    for one, other in zip(plain, answers(), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-13)
    far, degree = slice(10, 20), trust[10:20].max(axis=1, keepdims=True)
    compiled = combiner.masses(neighbors, trust).values
    difference = np.abs(compiled - plain[1])[far, :-1] / degree
    assert difference.max() < 1e-9
    assert (plain[1][far, :-1].max(axis=1) > 0.01 * degree[:, 0]).all()


@pytest.mark.parametrize("kind", all_kinds())
def test_plausibilities_alone_are_known_up_to_a_factor(kind):
    labels = all_kinds()[kind]
    exact = EvidentialNeighborsClassifier(6, gamma=by_name(GAMMA)).fit(X, labels)
    other = EvidentialNeighborsClassifier(6, gamma=by_name(GAMMA), combination="contours").fit(
        X, labels
    )
    expected = exact.predict_plausibility(NEW)
    expected /= expected.max(axis=1, keepdims=True)
    np.testing.assert_allclose(other.predict_plausibility(NEW), expected, atol=1e-12)
    np.testing.assert_allclose(
        other.predict_proba(NEW), pignistic(other.predict_mass(NEW)), atol=1e-12
    )


@pytest.mark.parametrize("n_classes", [12, 40])
def test_sets_on_large_frames(n_classes):
    names = [f"c{number:02d}" for number in range(n_classes)]
    rng = np.random.default_rng(0)
    inside = rng.random((40, n_classes)) < 3 / n_classes
    inside[np.arange(40), rng.integers(n_classes, size=40)] = True
    labels = Labels.from_sets(inside, names).discount(rng.uniform(0.0, 0.3, 40))
    model = EvidentialNeighborsClassifier(5, gamma=0.7).fit(X, labels)
    found = model.predict_mass(NEW)
    assert_same_masses(found, slow_rule(X, labels, NEW, 5, 0.7), names, 1e-10)
    np.testing.assert_allclose(model.predict_proba(NEW), pignistic(found), atol=1e-12)
    np.testing.assert_allclose(model.predict_plausibility(NEW), contour(found), atol=1e-12)
    np.testing.assert_allclose(
        model.score_novelty(NEW), found.values[:, found.focal_sets == (1 << n_classes) - 1][:, 0]
    )


def test_beyond_62_classes_hard_labels_are_exact_and_sets_warn():
    codes = np.random.default_rng(0).integers(70, size=40)
    few = EvidentialNeighborsClassifier(5, gamma=1.0).fit(X, codes)
    many = Labels.from_crisp(codes, classes=range(70))
    model = EvidentialNeighborsClassifier(5, gamma=1.0).fit(X, many)
    np.testing.assert_allclose(
        model.predict_plausibility(NEW)[:, few.classes_], few.predict_plausibility(NEW), atol=1e-12
    )
    np.testing.assert_array_equal(model.predict(NEW), few.predict(NEW))
    np.testing.assert_allclose(model.predict_proba(NEW).sum(axis=1), 1.0)
    known = Labels.from_sets([{1, 2, int(codes[3])}] * 12, range(70))
    told = model.predict_proba(NEW, labels=known)
    assert set(np.flatnonzero(told.any(axis=0))) == {1, 2, int(codes[3])}
    pairs = Labels.from_sets([{int(a), int(a + 1) % 70} for a in codes], range(70))
    with pytest.warns(UserWarning, match="combined by their plausibilities"):
        EvidentialNeighborsClassifier(5, gamma=1.0).fit(X, pairs)
    quiet = EvidentialNeighborsClassifier(5, combination="contours").fit(X, pairs)
    assert quiet.predict_plausibility(NEW).max() == 1.0
    with pytest.raises(ValueError, match="62"):
        quiet.predict_mass(NEW)


def test_far_items_still_tell_classes_apart():
    """Where all trust is next to nothing, the order of bets is that of the trust."""
    labels = Labels.from_sets([{"a", "b"}, {"b", "c"}, {"c"}], classes="abc")
    places = [[0.0], [10.0], [0.5]]
    model = EvidentialNeighborsClassifier(3, gamma=1.0).fit(places, labels)
    bets = model.predict_proba([[15.5]])[0]
    np.testing.assert_allclose(bets, 1 / 3, atol=1e-10)
    assert bets[0] < bets[1]
    assert model.score_novelty([[15.5], [1e300]])[1] == 1.0
    trust = np.full((1, 3), 1e-13)
    dense_way = DenseCombiner(LabelEvidence(labels)).masses(np.array([[0, 1, 2]]), trust)
    sparse_way = SparseCombiner(LabelEvidence(labels)).masses(np.array([[0, 1, 2]]), trust)
    small = sparse_way.values[0] < 1e-3
    sets = sparse_way.focal_sets[small]
    found = dense_way.values[0, np.isin(dense_way.focal_sets, sets)]
    np.testing.assert_allclose(found[1:], sparse_way.values[0, small][1:], rtol=1e-6)


def test_contradictions_at_one_point_have_a_limit():
    model = EvidentialNeighborsClassifier(3, gamma=1.0, max_mass=1.0)
    model.fit([[0.0], [0.0], [0.0]], ["a", "b", "b"])
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[0.0, 1.0]], atol=1e-12)
    model.fit([[0.0], [0.0], [3.0]], ["a", "b", "b"])
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[0.5, 0.5]], atol=1e-3)
    doubted = EvidentialNeighborsClassifier(3, gamma=1.0).fit(
        [[0.0], [0.0], [3.0]], Labels.from_sets([{"a"}, {"b", "c"}, {"c"}])
    )
    assert np.isfinite(doubted.predict_proba([[0.0]])).all()


def test_many_full_contradictions_do_not_vanish():
    """Products of forty factors of 1e-16 are below all numbers; their ratios are not."""
    sets = [{"a"}] * 20 + [{"b", "c"}] * 20
    labels = Labels.from_sets(sets, classes="abc")
    model = EvidentialNeighborsClassifier(40, gamma=1.0, max_mass=1.0)
    model.fit(np.zeros((40, 1)), labels)
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[0.5, 0.25, 0.25]], atol=1e-6)


def test_too_many_intersections_are_refused():
    rng = np.random.default_rng(0)
    labels = Labels.from_plausibility(rng.uniform(0.1, 1.0, (12, 24)))
    items = draw_items(12)
    with pytest.raises(ValueError, match="intersections.*combination='contours'"):
        EvidentialNeighborsClassifier(11).fit(items, labels)
    model = EvidentialNeighborsClassifier(11, combination="contours").fit(items, labels)
    assert model.predict_proba(items).shape == (12, 24)


def test_what_is_known_of_new_items_is_combined():
    labels = all_kinds()["sets"]
    model = EvidentialNeighborsClassifier(4, gamma=0.5).fit(X, labels)
    known = Labels.from_doubt(["fig"] * 12, 0.4, CLASSES)
    expected = model.predict_plausibility(NEW) * known.reorder(sorted(CLASSES)).contour
    told = model.predict_plausibility(NEW, labels=known)
    ratio = told / expected
    np.testing.assert_allclose(ratio, ratio[:, :1] * np.ones(4), rtol=1e-10)


def test_contour_combiner_has_no_sets_of_its_own():
    combiner = ContourCombiner(LabelEvidence(all_kinds()["sets"]))
    assert combiner.focal_sets.tolist() == [15]
