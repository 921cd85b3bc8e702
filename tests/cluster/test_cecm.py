"""Constrained evidential c-means: its criterion is really minimized, and links are met."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics import adjusted_rand_score

from cluster.data import blobs, criterion
from plausible.cluster import CECM, ECM, focal_sets_of
from plausible.cluster.cecm import summarize_linked
from plausible.cluster.kernels import Prototypes, lifted, make_focal
from plausible.cluster.linked import Linked, Solution, regrouped, sure_masses, swept_at
from plausible.cluster.links import check_links, least_on_simplex, wire


def strips(seed, n_links):
    """Two parallel strips, in no order, and random pairs with what is true of them."""
    rng = np.random.default_rng(seed)
    owner = rng.permutation(np.repeat([0, 1], 75))
    y = np.where(owner, 1.5, -1.5) + 0.5 * rng.normal(size=150)
    X = np.column_stack([rng.uniform(-3, 3, 150), y])
    pairs = np.array([rng.choice(150, 2, replace=False) for _ in range(n_links)])
    same = owner[pairs[:, 0]] == owner[pairs[:, 1]]
    return X, owner, pairs[same], pairs[~same]


def random_links(owner, n_links, seed, wrong=0):
    rng = np.random.default_rng(seed)
    pairs = np.array([rng.choice(len(owner), 2, replace=False) for _ in range(n_links)])
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    same = owner[pairs[:, 0]] == owner[pairs[:, 1]]
    same[:wrong] = ~same[:wrong]
    return pairs[same], pairs[~same]


def documented(model, X, must, cannot):
    """The criterion from its definition: sets as Python sets, pair by pair."""
    sets = [frozenset(k for k in range(model.n_clusters) if m >> k & 1) for m in model.focal_sets_]

    def plausibility(i, j, counts):
        return sum(
            a * b
            for a, A in zip(model.masses_[i], sets, strict=True)
            for b, B in zip(model.masses_[j], sets, strict=True)
            if A and B and counts(A, B)
        )

    broken = sum(plausibility(i, j, lambda A, B: not (A == B and len(A) == 1)) for i, j in must)
    broken += sum(plausibility(i, j, lambda A, B: bool(A & B)) for i, j in cannot)
    xi = model.constraint_weight
    scale = len(X) * X.var(axis=0).sum() / (len(must) + len(cannot))
    return criterion(model, X) + xi / (1 - xi) * scale * broken


@pytest.mark.parametrize("weight", [0.2, 0.8])
@pytest.mark.parametrize("sets", ["all", "singletons"])
def test_the_objective_is_the_documented_criterion_and_never_rises(weight, sets):
    X, owner = blobs(60, 3, seed=1)
    must, cannot = random_links(owner, 40, 0, wrong=4)
    model = CECM(3, must, cannot, weight, 1.2, 6.0, sets, n_init=4, random_state=0).fit(X)
    assert model.objective_ == pytest.approx(documented(model, X, must, cannot), rel=1e-9)
    assert (np.diff(model.history_) <= 0).all()
    assert len(model.history_) > 3
    np.testing.assert_allclose(model.masses_.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert model.masses_.min() >= 0.0


def test_no_item_can_better_its_masses_alone():
    X, owner = blobs(40, 3, seed=2)
    must, cannot = random_links(owner, 25, 3, wrong=3)
    model = CECM(3, must, cannot, 0.6, tol=1e-13, n_init=2, random_state=0).fit(X)
    best = documented(model, X, must, cannot)
    rng = np.random.default_rng(0)
    kept = model.masses_
    for item in range(40):
        for other in (rng.dirichlet(np.ones(8)), np.eye(8)[rng.integers(8)]):
            model.masses_ = kept.copy()
            model.masses_[item] = 0.98 * kept[item] + 0.02 * other
            assert documented(model, X, must, cannot) >= best - 1e-7 * best


def test_masses_of_one_item_are_the_least_there_is():
    rng = np.random.default_rng(3)
    square, linear = rng.uniform(0.1, 9.0, size=(20, 5)), 6.0 * rng.normal(size=(20, 5))
    found = least_on_simplex(square, linear)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-14)
    for s, b, m in zip(square, linear, found, strict=True):
        by_scipy = minimize(
            lambda x, s=s, b=b: s @ x**2 + b @ x, np.full(5, 0.2), method="SLSQP",
            bounds=[(0, 1)] * 5, constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
            options={"ftol": 1e-14},
        )  # fmt: skip
        assert s @ m**2 + b @ m <= by_scipy.fun + 1e-9
    assert (found == 0).any()  # some sets get nothing, so that this is not ECM's formula
    np.testing.assert_allclose(
        least_on_simplex(square, 0 * linear), (1 / square) / (1 / square).sum(axis=1)[:, None]
    )


@pytest.mark.parametrize("metric", ["euclidean", "adaptive"])
def test_without_links_it_is_ecm(metric):
    X, _ = blobs(70, 3, seed=5)
    plain = ECM(3, 1.3, n_init=3, random_state=1, metric=metric).fit(X)
    for links in ({}, {"must_link": [], "cannot_link": np.empty((0, 2), dtype=int)}):
        model = CECM(3, cardinality_weight=1.3, n_init=3, random_state=1, metric=metric, **links)
        model.fit(X)
        np.testing.assert_allclose(model.masses_, plain.masses_, atol=1e-9)
        np.testing.assert_allclose(model.history_, plain.history_, rtol=1e-9)
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-12)
    weightless = CECM(3, [[0, 1]], [[2, 5]], 0.0, 1.3, n_init=3, init=plain.cluster_centers_)
    assert weightless.set_params(metric=metric).fit(X).objective_ == pytest.approx(
        plain.objective_, rel=1e-4
    )


@pytest.mark.parametrize("n_links", [100, 200])
def test_links_part_two_strips(n_links):
    plain, linked = [], []
    for seed in range(4):
        X, owner, must, cannot = strips(seed, n_links)
        plain.append(adjusted_rand_score(owner, ECM(2, n_init=3, random_state=0).fit(X).labels_))
        model = CECM(2, must, cannot, n_init=2, random_state=0).fit(X)
        linked.append(adjusted_rand_score(owner, model.labels_))
        assert model.n_violated_ <= 1
        assert (np.diff(model.history_) <= 0).all()
    assert np.mean(plain) < 0.6
    assert min(linked) >= 0.97


def test_an_adaptive_metric_follows_the_strips():
    X, owner, must, cannot = strips(1, 60)
    model = CECM(2, must, cannot, metric="adaptive", n_init=2, random_state=0).fit(X)
    assert adjusted_rand_score(owner, model.labels_) >= 0.97
    assert (np.diff(model.history_) <= 0).all()
    np.testing.assert_allclose(np.linalg.det(model.metrics_), 1.0, rtol=1e-8)
    long, across = np.linalg.eigh(model.metrics_)[1][:, :, 0].T
    assert (np.abs(long) > 0.95).all()  # the cheap direction is that of the strips
    assert (np.abs(across) < 0.3).all()


def test_links_of_fit_take_the_place_of_those_of_the_estimator():
    X, _, must, cannot = strips(2, 100)
    one = CECM(2, must, cannot, n_init=1, random_state=0).fit(X)
    two = CECM(2, cannot[:3], must[:3], n_init=1, random_state=0)
    two.fit(X, must_link=must, cannot_link=cannot)
    np.testing.assert_array_equal(one.masses_, two.masses_)


def test_doubled_and_turned_links_are_one():
    X, owner = blobs(40, 3, seed=7)
    must, cannot = random_links(owner, 20, 1)
    one = CECM(3, must, cannot, n_init=2, random_state=0).fit(X)
    two = CECM(3, np.vstack([must, must[:, ::-1]]), cannot[:, ::-1], n_init=2, random_state=0)
    np.testing.assert_array_equal(one.masses_, two.fit(X).masses_)


def test_links_that_cannot_be_met_are_met_as_well_as_can_be():
    X, _ = blobs(30, 2, seed=3)
    model = CECM(2, [[0, 1], [1, 2]], [[0, 2]], random_state=0).fit(X)
    assert model.n_violated_ == 1
    assert np.isfinite(model.masses_).all()


def test_links_that_are_none_are_refused():
    X, _ = blobs(20)
    with pytest.raises(ValueError, match="items 3 and 7 are in both"):
        CECM(2, [[7, 3]], [[3, 7]]).fit(X)
    with pytest.raises(ValueError, match="pair 1 links item 5 with itself"):
        CECM(2, cannot_link=[[0, 1], [5, 5]]).fit(X)
    with pytest.raises(ValueError, match=r"must_link should be pairs \(L, 2\).* 0 to 19"):
        CECM(2, must_link=[[0, 20]]).fit(X)
    with pytest.raises(ValueError, match="cannot_link should be pairs"):
        CECM(2, cannot_link=[0, 1, 2]).fit(X)
    with pytest.raises(ValueError, match="constraint_weight should be at least 0 and less than 1"):
        CECM(2, constraint_weight=1.0).fit(X)


def test_groups_of_linked_items_move_together():
    """Item by item, two of one cluster that must be together would stay in the wrong one."""
    X, owner, must, cannot = strips(30, 100)
    means = [X[owner == k].mean(axis=0) for k in (0, 1)]
    best = CECM(2, must, cannot, init=means).fit(X)
    model = CECM(2, must, cannot, n_init=10, random_state=0).fit(X)
    assert model.objective_ == pytest.approx(best.objective_, rel=1e-6)
    assert (np.diff(model.history_) <= 0).all()
    assert model.n_iter_ == len(model.history_) - 1


def test_groups_move_to_the_best_of_all_assignments():
    """From a start in the wrong clusters, as good as the best that all hard assignments lead to."""
    centers = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 5.0]])
    items = np.array([[5.2, 0.4], [6.1, 0.9], [0.3, 4.4], [0.5, -0.3], [5.0, 1.0]])
    links = check_links([[0, 1], [3, 4]], [[1, 2]], len(items))
    focal = make_focal(focal_sets_of("all", 3), 3, 1.0, 2.0, 20.0)
    wiring = wire(links, focal.sets)
    linked = Linked(items, lifted(np.empty((0, 2)), None, None), wiring, 300.0, 0.0)

    def settled(clusters):
        masses = sure_masses(np.array(clusters), focal)
        for _ in range(12):
            masses = swept_at(Prototypes(centers), masses, linked, focal)
        return Solution(Prototypes(centers), masses)

    def cost(solution):
        return -summarize_linked(solution, linked, focal).criterion

    best = min(cost(settled(clusters)) for clusters in product(range(3), repeat=len(items)))
    stuck = settled([0, 0, 1, 2, 2])  # no item leaves alone
    assert cost(stuck) > 1.5 * best
    assert cost(regrouped(stuck, linked, focal)) == pytest.approx(best, rel=1e-6)
    assert regrouped(settled([1, 1, 2, 0, 0]), linked, focal) is None
