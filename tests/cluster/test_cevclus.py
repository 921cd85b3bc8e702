"""CEVCLUS: what constraints cost, rows at their minimum, and clusters that obey."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from plausible.cluster import CEVCLUS, EVCLUS, focal_sets_of
from plausible.cluster.cevclus import links_of, together_table
from plausible.cluster.constraints import Constraints, closed, read_constraints
from plausible.cluster.evclus import disjoint
from plausible.cluster.evclus_pairs import wanted_of_all
from plausible.cluster.evclus_rows import criterion, fit_rows
from plausible.metrics import co_membership


def strips(seed, n_constraints=100):
    """Two parallel strips of 75 points, and pairs of items drawn at random."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1], 75)
    X = np.column_stack([rng.uniform(-3, 3, 150), rng.normal(3.0 * truth - 1.5, 0.5)])
    pairs = np.array([rng.choice(150, 2, replace=False) for _ in range(n_constraints)])
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    return X, truth, pairs[same], pairs[~same]


def line(seed=0, n=24):
    return np.sort(np.random.default_rng(seed).uniform(0, 10, size=(n, 1)), axis=0)


def slow_cost(partition, must, cannot, weight):
    """By the definition, with masses about pairs from the algebra of partitions."""
    _, same, different, both = np.moveaxis(co_membership(partition), -1, 0)
    pl_same, pl_different = same + both, different + both
    total = sum(pl_different[i, j] + 1 - pl_same[i, j] for i, j in must)
    total += sum(pl_same[i, j] + 1 - pl_different[i, j] for i, j in cannot)
    return weight / (1 - weight) / (2 * (len(must) + len(cannot))) * total


@pytest.mark.parametrize("focal", ["singletons", "pairs", "all"])
def test_the_cost_of_constraints_is_that_of_the_definition(focal):
    X = line()
    must, cannot = [(0, 20), (3, 4)], [(1, 2), (9, 15), (7, 22)]
    settings = {"focal_sets": focal, "outliers": True, "n_init": 1, "tol": 1e-3, "random_state": 0}
    found = CEVCLUS(3, must, cannot, 0.7, **settings).fit(X)
    expected = slow_cost(found.partition_, must, cannot, 0.7)
    assert found.constraint_cost_ == pytest.approx(expected)
    assert found.objective_ == pytest.approx(found.stress_ + expected)
    assert 0 <= expected <= 0.7 / 0.3


def test_constraints_that_are_violated_are_counted():
    X = line()
    triangle = [(0, 12), (12, 23), (0, 23)]  # of which two clusters can only keep two
    found = CEVCLUS(2, cannot_link=triangle, n_init=1, tol=1e-3, random_state=0).fit(X)
    best = found.partition_.fuzzy().argmax(axis=1)
    assert found.n_violated_ == sum(best[i] == best[j] for i, j in triangle) >= 1
    kept = CEVCLUS(2, [(0, 1)], [(0, 23)], n_init=1, tol=1e-3, random_state=0).fit(X)
    assert kept.n_violated_ == 0


def test_without_constraints_it_is_evclus():
    X = line()
    settings = {"focal_sets": "pairs", "n_init": 2, "tol": 1e-3, "random_state": 3}
    assert np.array_equal(
        CEVCLUS(3, **settings).fit(X).masses_, EVCLUS(3, **settings).fit(X).masses_
    )
    weightless = CEVCLUS(3, [(0, 20)], [(0, 1)], 0.0, outliers=True, **settings).fit(X)
    assert weightless.constraint_cost_ == 0.0


@pytest.mark.parametrize("compiled", [False, True])
def test_the_criterion_never_rises(compiled):
    rng = np.random.RandomState(0)
    sets = focal_sets_of("pairs", 3)
    target = rng.uniform(size=(18, 18))
    wanted = wanted_of_all((target + target.T) / 2)
    constraints = Constraints(np.array([[0, 1], [2, 9]]), np.array([[0, 5], [3, 4], [2, 17]]))
    links = links_of(constraints, 18, 0.3 * wanted.total, together_table(sets))
    masses = rng.dirichlet(np.ones(len(sets)), size=18)
    found = fit_rows(masses, disjoint(sets), wanted, links, rng, 1e-9, 40, compiled)
    assert (np.diff(found.history) <= 0).all()
    assert found.history[-1] == pytest.approx(
        criterion(found.masses, disjoint(sets), wanted, links)
    )
    row = 2  # no other masses of one item are better
    for _ in range(50):
        other = found.masses.copy()
        other[row] = 0.9 * other[row] + 0.1 * rng.dirichlet(np.ones(len(sets)) * 0.3)
        assert criterion(other, disjoint(sets), wanted, links) >= found.history[-1] - 1e-6


@pytest.mark.parametrize("solver", ["row", "gradient"])
def test_constraints_move_items(solver):
    X = np.array([[0.0], [1.0], [2.0], [3.0], [9.0], [9.5], [10.0]])
    settings = {"focal_sets": "singletons", "solver": solver, "n_init": 2, "tol": 1e-4}
    free = CEVCLUS(2, random_state=0, **settings).fit(X)
    assert free.labels_[0] == free.labels_[3] != free.labels_[5]
    apart = CEVCLUS(2, cannot_link=[(0, 3)], random_state=0, **settings).fit(X)
    assert apart.labels_[0] != apart.labels_[3]
    joined = CEVCLUS(2, random_state=0, **settings).fit(X, must_link=[(0, 4)])
    assert joined.labels_[0] == joined.labels_[4]


def test_strips_are_found_with_a_hundred_constraints_in_every_draw():
    scores, free = [], []
    for seed in range(10):
        X, truth, must, cannot = strips(seed)
        found = CEVCLUS(2, must, cannot, tol=1e-4, random_state=0).fit(X)
        scores.append(adjusted_rand_score(truth, found.labels_))
        free.append(
            adjusted_rand_score(truth, EVCLUS(2, tol=1e-4, n_init=1, random_state=0).fit_predict(X))
        )
    assert min(scores) >= 0.97
    assert min(free) < 0.9  # which it is not by itself


def test_strips_are_found_with_some_dissimilarities_only():
    X, truth, must, cannot = strips(0)
    found = CEVCLUS(2, must, cannot, n_dissimilarities=40, tol=1e-4, random_state=0).fit(X)
    assert adjusted_rand_score(truth, found.labels_) >= 0.97
    assert found.predict(X[:5]).tolist() == found.labels_[:5].tolist()


def test_chains_of_constraints_are_closed():
    given = read_constraints([(3, 1), (1, 5), (6, 7)], [(5, 6), (0, 3), (6, 5)], 9)
    assert given.must_link.tolist() == [[1, 3], [1, 5], [6, 7]]
    assert given.cannot_link.tolist() == [[0, 3], [5, 6]]
    full = closed(given, 9)
    assert full.must_link.tolist() == [[1, 3], [1, 5], [3, 5], [6, 7]]
    assert full.cannot_link.tolist() == [
        [0, 1], [0, 3], [0, 5], [1, 6], [1, 7], [3, 6], [3, 7], [5, 6], [5, 7],
    ]  # fmt: skip


def test_the_empty_set_is_left_out_where_there_are_constraints():
    X = line()
    settings = {"n_init": 1, "tol": 1e-2, "random_state": 0}
    assert 0 in CEVCLUS(2, **settings).fit(X).focal_sets_
    assert 0 not in CEVCLUS(2, [(0, 1)], **settings).fit(X).focal_sets_
    assert 0 in CEVCLUS(2, [(0, 1)], outliers=True, **settings).fit(X).focal_sets_
    assert 0 not in CEVCLUS(2, outliers=False, **settings).fit(X).focal_sets_
    assert 0 in CEVCLUS(2, [(0, 1)], focal_sets=[[], [0], [1]], **settings).fit(X).focal_sets_


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (
            {"must_link": [(0, 24)]},
            r"must_link should be pairs \(L, 2\) of row numbers from 0 to 23",
        ),
        ({"must_link": [(-1, 2)]}, "of row numbers from 0 to 23"),
        (
            {"cannot_link": [(4, 4)]},
            "should link different items, but pair 0 links item 4 with its",
        ),
        ({"cannot_link": [0, 1]}, "cannot_link should be pairs"),
        ({"must_link": [(0.5, 1)]}, "must_link should be pairs"),
        ({"must_link": [(0, 1)], "cannot_link": [(1, 0)]}, "items 0 and 1 are in both"),
        (
            {"must_link": [(0, 1), (1, 2)], "cannot_link": [(2, 0)]},
            r"not contradict each other, but \(0, 2\) is in cannot_link, and linked",
        ),
        ({"constraint_weight": -1.0}, "constraint_weight should be at least 0 and less than 1"),
        ({"constraint_weight": 1.0}, "constraint_weight should be at least 0 and less than 1"),
        ({"closure": "yes"}, "closure should be True or False"),
        ({"outliers": "yes"}, "outliers should be True or False"),
    ],
)
def test_wrong_constraints_are_named(setting, words):
    with pytest.raises(ValueError, match=words):
        CEVCLUS(2, **setting).fit(line())
