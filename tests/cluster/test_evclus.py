"""EVCLUS: conflicts that follow dissimilarities, rows at their exact minimum, new items."""

import re

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, pairwise_distances

from plausible.belief import conflict
from plausible.cluster import EVCLUS, CredalPartition, focal_sets_of
from plausible.cluster.evclus import disjoint
from plausible.cluster.evclus_gradient import slope_in_masses
from plausible.cluster.evclus_pairs import (
    Proximity,
    draw_others,
    wanted_conflict,
    wanted_of_all,
    wanted_of_some,
)
from plausible.cluster.evclus_rows import Links, criterion, fit_rows, no_links, simplex_minimum

# Eleven points in the shape of a butterfly, and an outlier.
BUTTERFLY = np.array([
    [-5, 0], [-3.34, 1.67], [-3.34, 0], [-3.34, -1.67], [-1.67, 0], [0, 0], [1.67, 0],
    [3.34, -1.67], [3.34, 0], [3.34, 1.67], [5, 0], [10, 10],
])  # fmt: skip


def blobs(seed=0, sizes=(12, 18, 15), std=1.0):
    centers = [[0.0, 0.0], [8.0, 1.0], [2.0, 9.0]]
    return make_blobs(sizes, centers=centers, cluster_std=std, random_state=seed)


def slow_stress(masses, D, scale, pairs):
    """By the definition, with degrees of conflict from the algebra of mass functions."""
    m = masses.to_dense()
    apart = wanted = 0.0
    for i, j in pairs:
        target = 1 - 0.05 ** ((D[i, j] / scale) ** 2)
        kappa = conflict(m[i], m[j])
        apart += (kappa - target) ** 2
        wanted += target**2
    return apart / wanted


def some_problem(seed=1, n=20, n_clusters=3, k=None, focal="pairs"):
    rng = np.random.RandomState(seed)
    sets = focal_sets_of(focal, n_clusters)
    X = rng.normal(size=(n, 2)) + 4 * rng.randint(2, size=(n, 1))
    D = pairwise_distances(X)
    scale = np.quantile(D, 0.9)
    if k is None:
        wanted = wanted_of_all(wanted_conflict(D, scale))
    else:
        drawn = draw_others(n, k, rng)
        near = np.take_along_axis(D, drawn, axis=1)
        wanted = wanted_of_some(wanted_conflict(near, scale), drawn)
    masses = rng.dirichlet(np.ones(len(sets)), size=n)
    return masses, disjoint(sets), wanted, rng


# -- The criterion ---------------------------------------------------------------------------------


def test_the_stress_is_that_of_the_definition():
    X, _ = blobs(std=3.0)
    found = EVCLUS(3, n_init=1, tol=1e-3, random_state=0).fit(X)
    D = pairwise_distances(X)
    n = len(X)
    assert found.scale_ == pytest.approx(np.quantile(D[~np.eye(n, dtype=bool)], 0.9))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    expected = slow_stress(found.partition_.masses(), D, found.scale_, pairs)
    assert found.stress_ == pytest.approx(expected)
    assert found.objective_ == found.history_[-1] == pytest.approx(expected)


def test_the_stress_of_some_pairs_is_that_of_the_definition():
    X, _ = blobs(std=3.0)
    n, k = len(X), 9
    found = EVCLUS(3, n_dissimilarities=k, n_init=1, tol=1e-3, random_state=0).fit(X)
    drawn = draw_others(n, k, np.random.RandomState(0))
    D = pairwise_distances(X)
    pairs = [(i, j) for i in range(n) for j in drawn[i]]
    assert found.scale_ == pytest.approx(np.quantile([D[p] for p in pairs], 0.9))
    expected = slow_stress(found.partition_.masses(), D, found.scale_, pairs)
    assert found.objective_ == pytest.approx(expected)


def test_two_items_at_the_scale_should_conflict_by_95_percent():
    assert wanted_conflict(np.array([0.0, 2.0, 1e9]), 2.0) == pytest.approx([0.0, 0.95, 1.0])


def test_everybody_draws_others_and_nobody_twice():
    for n, k in ((6, 5), (40, 7), (40, 38)):
        drawn = draw_others(n, k, np.random.RandomState(0))
        assert drawn.shape == (n, k)
        assert all(len(set(row)) == k and i not in row for i, row in enumerate(drawn.tolist()))
        assert drawn.min() == 0
        assert drawn.max() == n - 1


@pytest.mark.parametrize("k", [None, 6])
def test_the_slope_is_that_of_the_criterion(k):
    masses, C, wanted, rng = some_problem(k=k)
    n, n_sets = masses.shape
    links = Links(
        np.concatenate([[0, 1, 2], np.full(n - 2, 2)]),
        np.array([1, 0]),
        np.array([0.7, 0.7]),
        (lambda Q: Q + Q.T)(rng.normal(size=(n_sets, n_sets))),
    )
    value, slope = slope_in_masses(masses, C, wanted, links)
    assert value == pytest.approx(criterion(masses, C, wanted, links))
    for i, f in ((0, 0), (1, 3), (7, 5)):
        step = np.zeros_like(masses)
        step[i, f] = 1e-6
        numeric = (
            criterion(masses + step, C, wanted, links) - criterion(masses - step, C, wanted, links)
        ) / 2e-6
        assert slope[i, f] == pytest.approx(numeric, abs=1e-6)


# -- Row by row ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_sets", [2, 4, 12])
@pytest.mark.parametrize("rank", ["full", "low"])
def test_a_row_comes_to_its_exact_minimum_on_the_simplex(n_sets, rank):
    rng = np.random.default_rng(n_sets)
    for draw in range(8):
        A = rng.uniform(size=(3 if rank == "low" else 30, n_sets))
        b = rng.uniform(-0.5, 1.5, size=len(A))
        G, h = A.T @ A, A.T @ b
        corner = np.eye(n_sets)[draw % n_sets]  # from which all other sets have to come in
        ours = simplex_minimum(G, h, corner if draw % 2 else rng.dirichlet(np.ones(n_sets)))
        assert ours.min() >= 0
        assert ours.sum() == pytest.approx(1.0, abs=1e-12)
        slope = G @ ours - h  # at the minimum: equal where there is mass, not lower elsewhere
        assert slope[ours > 0].max() - slope.min() < 1e-7
        rival = minimize(
            lambda m, G=G, h=h: m @ G @ m - 2 * h @ m,
            np.full(n_sets, 1 / n_sets),
            bounds=[(0, 1)] * n_sets,
            constraints={"type": "eq", "fun": lambda m: m.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 500},
        )
        assert ours @ G @ ours - 2 * h @ ours <= rival.fun + 1e-8


@pytest.mark.parametrize("k", [None, 5])
@pytest.mark.parametrize("compiled", [False, True])
def test_the_criterion_never_rises(k, compiled):
    masses, C, wanted, rng = some_problem(k=k)
    links = no_links(*masses.shape)
    found = fit_rows(masses, C, wanted, links, rng, 1e-7, 60, compiled)
    assert (np.diff(found.history) <= 0).all()
    assert found.history[0] == pytest.approx(criterion(masses, C, wanted, links))
    assert found.history[-1] == pytest.approx(criterion(found.masses, C, wanted, links))
    assert found.history[-1] < 0.5 * found.history[0]
    assert found.masses.min() >= 0
    assert np.abs(found.masses.sum(axis=1) - 1).max() < 1e-12


@pytest.mark.parametrize("is_linked", [False, True])
@pytest.mark.parametrize("k", [None, 6])
def test_the_compiled_loop_takes_the_same_way(k, is_linked):
    masses, C, wanted, rng = some_problem(k=k, focal="all")
    n, n_sets = masses.shape
    Q = rng.normal(size=(n_sets, n_sets))
    ring = np.sort([(np.arange(n) + 1) % n, (np.arange(n) - 1) % n], axis=0).T.ravel()
    linked = Links(2 * np.arange(n + 1), ring, np.full(2 * n, 0.3), Q + Q.T)
    links = linked if is_linked else no_links(n, n_sets)
    plain, quick = (
        fit_rows(masses, C, wanted, links, np.random.RandomState(3), 0.0, 5, compiled)
        for compiled in (False, True)
    )
    assert np.allclose(plain.history, quick.history, rtol=1e-8)
    assert np.allclose(plain.masses, quick.masses, atol=1e-5)


def test_many_passes_over_few_items_go_on_in_the_compiled_loop(monkeypatch):
    masses, C, wanted, _ = some_problem()
    links = no_links(*masses.shape)
    monkeypatch.setattr("plausible.cluster.evclus_rows.MANY_VISITS", 2 * len(masses))
    passes = []
    monkeypatch.setattr(
        "plausible.cluster.evclus_rows.compiled_visits",
        lambda *_: lambda *_: passes.append(1) or 1.0,
    )
    fit_rows(masses, C, wanted, links, np.random.RandomState(3), 0.0, 5)
    assert len(passes) == 3  # two plain passes come before


def test_all_dissimilarities_and_as_many_as_there_are_others_are_the_same_problem():
    X, _ = blobs()
    every, many = (
        EVCLUS(3, n_dissimilarities=k, n_init=1, tol=1e-3, random_state=0).fit(X)
        for k in ("all", 500)
    )
    assert np.array_equal(every.masses_, many.masses_)


def test_the_butterfly_is_as_low_as_was_ever_reported():
    found = EVCLUS(2, "singletons", n_init=2, random_state=0).fit(BUTTERFLY)
    assert found.stress_ <= 0.00372055
    lowest = EVCLUS(2, "singletons", n_init=1, tol=1e-12, random_state=1).fit(BUTTERFLY)
    assert lowest.stress_ <= 0.00372053
    partition = found.partition_
    masses = dict(zip(found.focal_sets_.tolist(), found.masses_.T, strict=True))
    assert partition.outliers().tolist() == [False] * 11 + [True]
    assert masses[3].argmax() == 5  # the point in the middle may be of either wing
    assert len(set(partition.hard()[:5])) == len(set(partition.hard()[6:11])) == 1
    assert partition.hard()[0] != partition.hard()[10]


def test_gradient_descent_finds_the_same_partition_but_no_lower_stress():
    X, y = blobs(std=1.5)
    row = EVCLUS(3, n_init=1, random_state=0).fit(X)
    gradient = EVCLUS(3, n_init=1, solver="gradient", random_state=0).fit(X)
    assert (np.diff(gradient.history_) <= 1e-12).all()
    assert gradient.stress_ == pytest.approx(gradient.history_[-1])
    assert row.stress_ <= gradient.stress_ + 1e-5
    assert adjusted_rand_score(y, gradient.labels_) == adjusted_rand_score(y, row.labels_) == 1.0


def test_gradient_descent_with_some_dissimilarities():
    X, y = blobs()
    found = EVCLUS(3, n_dissimilarities=12, n_init=1, solver="gradient", random_state=0).fit(X)
    assert adjusted_rand_score(y, found.labels_) == 1.0
    assert found.masses_.min() >= 0


def test_of_several_starts_the_one_with_the_lowest_stress_is_kept():
    X, _ = blobs(std=3.0)
    seeds = np.random.RandomState(0)
    single = [EVCLUS(3, n_init=1, tol=1e-3, random_state=seeds).fit(X).objective_ for _ in range(3)]
    together = EVCLUS(3, n_init=3, tol=1e-3, random_state=np.random.RandomState(0)).fit(X)
    assert together.objective_ == min(single)


# -- Data ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", ["all", 15])
def test_blobs_are_found(k):
    X, y = blobs()
    found = EVCLUS(3, n_dissimilarities=k, n_init=1, tol=1e-3, random_state=0).fit(X)
    assert adjusted_rand_score(y, found.labels_) == 1.0
    assert isinstance(found.partition_, CredalPartition)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "own"])
@pytest.mark.parametrize("k", ["all", 10])
def test_tables_of_dissimilarities_are_as_good_as_features(metric, k):
    X, _ = blobs(std=2.0)
    given = (lambda a, b: np.abs(a - b).max()) if metric == "own" else metric
    settings = {"n_dissimilarities": k, "n_init": 1, "tol": 1e-2, "random_state": 0}
    features = EVCLUS(3, metric=given, **settings).fit(X)
    table = EVCLUS(3, metric="precomputed", **settings).fit(pairwise_distances(X, metric=given))
    assert features.scale_ == pytest.approx(table.scale_)
    assert features.objective_ == pytest.approx(table.objective_, rel=1e-6)


def test_dissimilarities_need_not_be_a_metric():
    X, y = blobs()
    D = pairwise_distances(X) ** 3
    found = EVCLUS(3, metric="precomputed", n_init=1, random_state=0).fit(D)
    assert adjusted_rand_score(y, found.labels_) == 1.0


def test_the_unit_of_dissimilarities_does_not_matter():
    X, _ = blobs(std=2.0)
    settings = {"n_init": 1, "max_iter": 10, "tol": 0.0, "random_state": 0}
    with pytest.warns(ConvergenceWarning):
        one, other = (EVCLUS(3, **settings).fit(scale * X) for scale in (1.0, 1024.0))
    assert np.allclose(one.masses_, other.masses_, atol=1e-6)
    with pytest.warns(ConvergenceWarning):
        fixed = EVCLUS(3, scale=one.scale_, **settings).fit(X)
    assert np.allclose(one.masses_, fixed.masses_, atol=1e-6)


def test_masses_at_the_start_can_be_given():
    X, y = blobs()
    start = np.full((45, 8), 0.05)
    start[np.arange(45), 1 + y] += 0.6
    found = EVCLUS(3, init=start, random_state=0).fit(X)
    assert np.array_equal(found.labels_, y)


def test_a_shepard_diagram_shows_conflicts_by_dissimilarity():
    X, _ = blobs()
    D = pairwise_distances(X)
    for k, n_pairs in (("all", 45 * 44 // 2), (8, None)):
        found = EVCLUS(3, n_dissimilarities=k, n_init=1, tol=1e-3, random_state=0).fit(X)
        apart, target, kappa = found.shepard_.T
        assert n_pairs is None or len(apart) == n_pairs
        assert np.isin(apart.round(6), D.round(6)).all()
        assert (np.diff(apart) >= 0).all()
        assert np.allclose(target, wanted_conflict(apart, found.scale_))
        if k == "all":
            assert np.square(kappa - target).sum() / np.square(target).sum() == pytest.approx(
                found.stress_
            )


# -- New items -------------------------------------------------------------------------------------


def test_new_items_have_the_masses_that_fit_best_to_the_old():
    X, _ = blobs(std=2.5)
    found = EVCLUS(3, n_init=1, random_state=0).fit(X)
    new = np.array([[4.0, 0.0], [2.0, 5.0], [30.0, 30.0], [1.0, 1.0]])
    masses = found.predict_mass(new).values
    C = disjoint(found.focal_sets_)
    target = 1 - 0.05 ** ((pairwise_distances(new, X) / found.scale_) ** 2)
    for row, wanted in zip(masses, target, strict=True):
        best = np.square(row @ C @ found.masses_.T - wanted).sum()
        rival = minimize(
            lambda m, wanted=wanted: np.square(m @ C @ found.masses_.T - wanted).sum(),
            np.full(8, 1 / 8),
            bounds=[(0, 1)] * 8,
            constraints={"type": "eq", "fun": lambda m: m.sum() - 1},
            method="SLSQP",
        )
        assert best <= rival.fun + 1e-7
    assert found.predict(new)[2] == -1  # far from everything
    from_table = EVCLUS(3, n_init=1, metric="precomputed", random_state=0).fit(
        pairwise_distances(X)
    )
    again = from_table.predict_mass(pairwise_distances(new, X)).values
    assert np.allclose(again, masses, atol=1e-3)


def test_old_items_are_placed_where_they_were():
    X, _ = blobs(std=2.5)
    X = np.concatenate([X, X[:2]])  # some at one place
    found = EVCLUS(3, n_init=1, tol=1e-7, random_state=0).fit(X)
    assert np.abs(found.predict_mass(X).values - found.masses_).max() < 1e-3


# -- Strange data ----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", ["all", 3])
def test_items_at_one_point_and_nothing_but_them(k):
    X = np.repeat([[0.0], [5.0], [9.0]], [4, 5, 3], axis=0)
    found = EVCLUS(3, n_dissimilarities=k, n_init=2, random_state=0).fit(X)
    assert found.masses_.min() >= 0
    same = EVCLUS(2, n_dissimilarities=k, n_init=1, random_state=0).fit(np.ones((8, 2)))
    assert same.objective_ == pytest.approx(0.0, abs=1e-6)


def test_one_cluster_and_as_many_clusters_as_items():
    X, _ = blobs()
    one = EVCLUS(1, n_init=1, random_state=0).fit(X)
    assert set(one.labels_.tolist()) <= {-1, 0}
    all_of_them = EVCLUS(4, n_init=1, random_state=0).fit(10.0 * np.eye(4))
    assert np.isfinite(all_of_them.objective_)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"n_clusters": 46}, "at least n_clusters=46 items, but n_samples=45"),
        ({"n_clusters": 0}, "n_clusters should be a whole number of at least 1"),
        ({"focal_sets": "triples"}, "focal_sets should be"),
        ({"n_dissimilarities": 0}, "n_dissimilarities should be"),
        ({"n_dissimilarities": "some"}, "n_dissimilarities should be 'all', or a whole number"),
        ({"scale": 0.0}, "scale should be positive"),
        ({"scale": np.nan}, "scale should be a finite number"),
        ({"quantile": 1.5}, "quantile should be a finite number in"),
        ({"init": "k-means"}, "init should be 'random'"),
        ({"init": np.ones((45, 8))}, "init should be 'random', or masses \\(45, 8\\)"),
        ({"solver": "newton"}, "solver should be 'row' or 'gradient'"),
        ({"tol": -1.0}, "tol should be"),
        ({"max_iter": 0}, "max_iter should be"),
        ({"metric": lambda a, b: -1.0}, "should give dissimilarities that are not negative"),
        ({"metric": "precomputed"}, "square table of dissimilarities"),
    ],
)
def test_wrong_settings_are_named(setting, words):
    with pytest.raises(ValueError, match=words):
        EVCLUS(**({"n_clusters": 3, "n_init": 1} | setting)).fit(blobs()[0])


def test_wrong_dissimilarities_are_named():
    D = pairwise_distances(blobs()[0])
    for (i, j, value), words in (
        ((3, 7, -1.0), "should not be negative, but values such as -1 were found in 1 row (row 3)"),
        ((3, 7, 99.0), "the same both ways, but that from item 3 to 7 is 99 and back"),
    ):
        wrong = D.copy()
        wrong[i, j] = value
        with pytest.raises(ValueError, match=re.escape(words)):
            EVCLUS(3, metric="precomputed").fit(wrong)


def test_distances_to_some_are_those_of_the_table():
    X = blobs()[0]
    drawn = draw_others(45, 6, np.random.RandomState(0))
    for metric in ("euclidean", "cosine"):
        items = Proximity(X, metric, None)
        expected = np.take_along_axis(items.all(), drawn, axis=1)
        assert np.allclose(items.some(drawn), expected)
        assert np.allclose(items.to(4), items.all()[:, 4], atol=1e-7)
