"""Evidential c-means: its criterion, its limits, and the figures of the slides."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from cluster.data import BUTTERFLY, blobs, criterion
from plausible.cluster import CECM, ECM, RECM, SECM, focal_sets_of
from plausible.cluster.kernels import Prototypes, lifted, make_focal, masses_of, summarize
from plausible.engine import ArrayRows, InterruptedFitWarning


def matched(centers, others):
    """The largest distance of two lists of centers, whatever their order."""
    apart = np.linalg.norm(centers[:, None] - others, axis=-1)
    return max(apart.min(axis=0).max(), apart.min(axis=1).max())


# -- Figures ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("squared", "J"), [(10, 23.4129), (25, 35.1600)])
def test_butterfly(squared, J):
    model = ECM(2, outlier_distance=np.sqrt(squared), random_state=0).fit(BUTTERFLY)
    assert model.objective_ == pytest.approx(J, abs=1e-4)
    largest = model.partition_.credal()
    assert largest[5] == 3  # object 6 is between the wings
    assert np.flatnonzero(model.partition_.outliers()).tolist() == [11]
    assert np.linalg.norm(model.cluster_centers_[0] + model.cluster_centers_[1]) < 1.0


# -- The criterion ---------------------------------------------------------------------------------


@pytest.mark.parametrize("fuzzifier", [2.0, 1.5, 1.3, 3.0, 1.02])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.5])
def test_the_objective_is_the_criterion_and_never_rises(fuzzifier, alpha):
    X, _ = blobs()
    model = ECM(3, alpha, fuzzifier, outlier_distance=6.0, n_init=3, random_state=0).fit(X)
    assert model.objective_ == pytest.approx(criterion(model, X), rel=1e-9)
    assert (np.diff(model.history_) <= 0).all()
    assert model.history_[-1] == model.objective_
    np.testing.assert_allclose(model.masses_.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert model.masses_.min() >= 0.0


def test_neither_masses_nor_centers_can_be_bettered():
    X, _ = blobs(40)
    model = ECM(3, 1.3, 2.0, outlier_distance=5.0, tol=1e-13, n_init=4, random_state=1).fit(X)
    best = model.objective_

    def value(flat):
        other = ECM(3, 1.3, 2.0)
        other.outlier_distance_, other.focal_sets_ = 5.0, model.focal_sets_
        other.masses_ = model.masses_
        other.cluster_centers_ = flat.reshape(3, 2)
        return criterion(other, X)

    centers = minimize(value, model.cluster_centers_.ravel())
    assert centers.fun == pytest.approx(best, rel=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(5):
        moved = 0.99 * model.masses_ + 0.01 * rng.dirichlet(np.ones(8), size=len(X))
        old, model.masses_ = model.masses_, moved
        assert criterion(model, X) > best
        model.masses_ = old


@pytest.mark.parametrize("fuzzifier", [2.0, 1.5, 1.7, 1.003])
def test_blocks_give_what_the_definition_gives(fuzzifier):
    """Masses, criterion and sums against the formulas, in a space where blocks are many."""
    rng = np.random.default_rng(4)
    X, centers = rng.normal(size=(700, 3)), rng.normal(size=(7, 3))
    X[5] = centers[[0, 3]].mean(axis=0)  # an item at the middle of two clusters
    X[6] = centers[2]
    focal = make_focal(focal_sets_of("all", 7), 7, 0.7, fuzzifier, 1.7)
    offset = rng.uniform(size=700) if fuzzifier == 1.7 else None
    D = np.empty((700, 128))
    for column, mask in enumerate(focal.sets.tolist()):
        members = [k for k in range(7) if mask >> k & 1]
        if members:
            squared = ((X - centers[members].mean(axis=0)) ** 2).sum(axis=1)
            squared += 0 if offset is None else offset
            D[:, column] = len(members) ** 0.7 * squared
        else:
            D[:, column] = 1.7**2
    logs = -np.log(np.maximum(D, 1e-100)) / (fuzzifier - 1)
    masses = np.exp(logs - logs.max(axis=1, keepdims=True))
    masses /= masses.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(masses_of(X, offset, Prototypes(centers), focal), masses, atol=1e-9)
    sums = summarize(lifted(X, offset, None), offset, Prototypes(centers), focal)
    assert -sums.criterion == pytest.approx((masses**fuzzifier * D).sum(), rel=1e-9)
    weights = np.bitwise_count(focal.sets) ** 0.7 * masses**fuzzifier
    np.testing.assert_allclose(sums.weights, weights.sum(axis=0)[1:], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(sums.points, (weights.T @ X)[1:], rtol=1e-6, atol=1e-9)


def test_items_near_a_center_are_measured_exactly():
    """Tight groups that are far from each other: differences of norms would leave only noise."""
    rng = np.random.default_rng(5)
    centers = np.array([[-1e3, 0.0], [1e3, 5.0], [0.0, 2e3]])
    X = np.repeat(centers, 20, axis=0) + 1e-5 * rng.normal(size=(60, 2))
    focal = make_focal(focal_sets_of("singletons", 3), 3, 1.0, 2.0, 2e-5)
    masses = masses_of(X, None, Prototypes(centers), focal)
    near = ((X - np.repeat(centers, 20, axis=0)) ** 2).sum(axis=1)
    np.testing.assert_allclose(masses[:, 0], near / (near + 4e-10), rtol=1e-6)
    sums = summarize(lifted(X, None, None), None, Prototypes(centers), focal)
    assert -sums.criterion == pytest.approx((1 / (1 / near + 1 / 4e-10)).sum(), rel=1e-6)


def test_far_from_the_origin_nothing_changes():
    X, _ = blobs(60)
    model = ECM(3, outlier_distance=5.0, random_state=0).fit(X)
    moved = ECM(3, outlier_distance=5.0, random_state=0).fit(X + 1e6)
    np.testing.assert_allclose(moved.masses_, model.masses_, atol=1e-6)
    np.testing.assert_allclose(moved.predict_mass(X + 1e6).values, model.masses_, atol=1e-6)


def test_units_do_not_matter():
    X, _ = blobs(60)
    model = ECM(3, random_state=0).fit(X)
    scaled = ECM(3, random_state=0).fit(1e-4 * X)
    np.testing.assert_allclose(scaled.masses_, model.masses_, atol=1e-7)
    assert scaled.objective_ == pytest.approx(1e-8 * model.objective_, rel=1e-7)
    assert scaled.n_iter_ == model.n_iter_


# -- Special cases ---------------------------------------------------------------------------------


def fuzzy_c_means(X, centers, fuzzifier, n_steps=500):
    """Bezdek's algorithm, from its two formulas."""
    for _ in range(n_steps):
        squared = ((X[:, None] - centers) ** 2).sum(axis=2)
        u = squared ** (-1 / (fuzzifier - 1))
        u /= u.sum(axis=1, keepdims=True)
        w = u**fuzzifier
        centers = w.T @ X / w.sum(axis=0)[:, None]
    return u, centers


@pytest.mark.parametrize("fuzzifier", [2.0, 1.6])
def test_costly_sets_and_far_outliers_give_fuzzy_c_means(fuzzifier):
    X, _ = blobs(80, 4)
    model = ECM(4, 40.0, fuzzifier, outlier_distance=1e6, tol=1e-14, random_state=0).fit(X)
    u, centers = fuzzy_c_means(X, model.cluster_centers_ + 0.01, fuzzifier)
    np.testing.assert_allclose(model.cluster_centers_, centers, atol=1e-5)
    np.testing.assert_allclose(model.partition_.fuzzy(), u, atol=1e-5)
    single = np.bitwise_count(model.focal_sets_) == 1
    assert model.masses_[:, ~single].max() < 1e-8


def test_one_cluster_is_the_mean_of_what_is_not_an_outlier():
    X, _ = blobs(50, 1)
    model = ECM(1, outlier_distance=4.0, tol=1e-14, random_state=0).fit(X)
    weights = model.masses_[:, 1] ** 2
    np.testing.assert_allclose(model.cluster_centers_[0], weights @ X / weights.sum(), atol=1e-5)
    assert model.partition_.outliers()[[3, 25]].all()


def test_masses_of_listed_sets_alone():
    X, _ = blobs(60)
    sets = [[0], [1], [2], [0, 2]]
    model = ECM(3, focal_sets=sets, random_state=0).fit(X)
    assert model.focal_sets_.tolist() == [1, 2, 4, 5]
    assert model.objective_ == pytest.approx(criterion(model, X), rel=1e-9)
    assert not model.partition_.outliers().any()
    np.testing.assert_allclose(model.masses_.sum(axis=1), 1.0, atol=1e-12)


# -- Chance and order ------------------------------------------------------------------------------


def test_the_order_of_rows_does_not_matter():
    X, _ = blobs(120, 4)
    order = np.random.default_rng(7).permutation(120)
    model = ECM(4, n_init=2, random_state=3).fit(X)
    other = ECM(4, n_init=2, random_state=3).fit(X[order])
    np.testing.assert_allclose(other.masses_, model.masses_[order], rtol=0, atol=1e-12)
    assert other.objective_ == pytest.approx(model.objective_, rel=1e-12)


def test_clusters_are_numbered_by_size_and_starts_by_hand_are_kept():
    X, owner = blobs(150, 3, seed=2)
    model = ECM(3, random_state=0).fit(X)
    alone = model.masses_[:, [1, 2, 3]].sum(axis=0)
    assert (np.diff(alone) < 0).all()
    for numbers in ([2, 0, 1], [1, 2, 0]):
        again = ECM(3, init=model.cluster_centers_[numbers]).fit(X)
        np.testing.assert_allclose(
            again.cluster_centers_, model.cluster_centers_[numbers], atol=1e-2
        )
    items = [int(np.flatnonzero(owner == k)[0]) for k in (1, 2, 0)]
    by_items, by_centers = (ECM(3, init=start).fit(X) for start in (items, X[items]))
    assert by_items.objective_ == by_centers.objective_


def test_more_starts_are_never_worse():
    X, _ = blobs(60, 4, seed=5)
    one = ECM(4, n_init=1, random_state=0).fit(X)
    many = ECM(4, n_init=8, random_state=0).fit(X)
    assert many.objective_ <= one.objective_ + 1e-6


# -- Hard cases ------------------------------------------------------------------------------------


def test_many_clusters_need_fewer_sets():
    X, _ = blobs(200, 10, spread=0.3)
    pairs = ECM(10, focal_sets="pairs", n_init=1, random_state=0).fit(X)
    assert pairs.masses_.shape == (200, 1 + 10 + 45 + 1)
    singles = ECM(12, focal_sets="singletons", n_init=1, random_state=0).fit(X)
    assert singles.masses_.shape == (200, 1 + 12 + 1)
    for model in (pairs, singles):
        assert model.objective_ == pytest.approx(criterion(model, X), rel=1e-9)
    with pytest.raises(ValueError, match=r"at most 12 clusters.*2\^13 masses.*'pairs'"):
        ECM(13).fit(X)


def test_constant_columns_change_nothing():
    X, _ = blobs(50)
    model = ECM(3, random_state=0).fit(X)
    padded = ECM(3, random_state=0).fit(np.column_stack([np.full(50, 7.0), X]))
    np.testing.assert_allclose(padded.masses_, model.masses_, atol=1e-9)


def test_duplicate_points():
    X = np.repeat([[0.0, 0.0], [5.0, 5.0], [0.0, 9.0]], [7, 5, 3], axis=0)
    model = ECM(3, random_state=0).fit(X)
    assert model.labels_.tolist() == [0] * 7 + [1] * 5 + [2] * 3
    assert model.objective_ == pytest.approx(0.0, abs=1e-12)
    same = ECM(2, random_state=0).fit(np.ones((6, 2)))
    assert np.isfinite(same.masses_).all()
    np.testing.assert_allclose(same.masses_.sum(axis=1), 1.0, atol=1e-12)
    fewer = ECM(4, random_state=0).fit(X)
    assert np.isfinite(fewer.masses_).all()
    assert len(set(zip(map(tuple, X), fewer.masses_.argmax(axis=1), strict=True))) == 3


def test_what_cannot_be_clustered_is_refused():
    X, _ = blobs(30)
    with pytest.raises(ValueError, match="at least n_clusters=5 items, but n_samples=4"):
        ECM(5).fit(X[:4])
    with pytest.raises(ValueError, match="fuzzifier should be greater than 1"):
        ECM(2, fuzzifier=1.0).fit(X)
    with pytest.raises(ValueError, match="outlier_distance should be a positive number or 'auto'"):
        ECM(2, outlier_distance=0).fit(X)
    with pytest.raises(ValueError, match="2 different row numbers, or centers"):
        ECM(2, init=[3, 3]).fit(X)
    with pytest.raises(ValueError, match="cluster 1 is in none"):
        ECM(3, focal_sets=[[0], [2]]).fit(X)
    with pytest.raises(ValueError, match="sets of the clusters 0 to 2, but \\[3\\] was found"):
        ECM(3, focal_sets=[[0], [3]]).fit(X)
    with pytest.warns(ConvergenceWarning, match="ECM should stop by itself"):
        ECM(3, max_iter=2, random_state=0).fit(X)


def test_new_items_are_placed_by_their_distances():
    X, _ = blobs(80)
    model = ECM(3, outlier_distance=4.0, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fresh = model.predict_partition(np.vstack([model.cluster_centers_, [[1e3, -1e3]]]))
    assert fresh.hard().tolist() == [0, 1, 2, -1]
    np.testing.assert_allclose(fresh.masses().values[:3, 1:4], np.eye(3), atol=1e-9)
    np.testing.assert_allclose(model.predict_mass(X).values, model.masses_, atol=1e-12)


# -- Metrics that are learned ----------------------------------------------------------------------


def long_clusters(seed=0):
    """Three long clusters of different directions, far enough to be told apart by their shapes."""
    rng = np.random.default_rng(seed)
    shapes = np.array([[[4.0, 0], [0, 0.3]], [[0.3, 0], [0, 4.0]], [[2.0, 2.0], [0.2, -0.2]]])
    middles = np.array([[0.0, 0.0], [9.0, 3.0], [0.0, 7.0]])
    owner = rng.permutation(np.repeat([0, 1, 2], [40, 50, 60]))
    return middles[owner] + np.einsum("ni,nij->nj", rng.normal(size=(150, 2)), shapes[owner]), owner


def adaptive_criterion(model, X):
    """J under metrics, from its definition."""
    total = 0.0
    for column, mask in zip(model.masses_.T, model.focal_sets_.tolist(), strict=True):
        members = [k for k in range(model.n_clusters) if mask >> k & 1]
        if not members:
            total += (column**model.fuzzifier).sum() * model.outlier_distance_**2
            continue
        apart = X - model.cluster_centers_[members].mean(axis=0)
        squared = np.einsum("ni,ij,nj->n", apart, model.metrics_[members].mean(axis=0), apart)
        cost = len(members) ** model.cardinality_weight
        total += cost * (column**model.fuzzifier * squared).sum()
    return total


@pytest.mark.parametrize("fuzzifier", [2.0, 1.5])
def test_metrics_follow_the_shapes_of_clusters(fuzzifier):
    X, owner = long_clusters()
    model = ECM(3, 2.0, fuzzifier, metric="adaptive", random_state=0).fit(X)
    assert adjusted_rand_score(owner, model.partition_.fuzzy().argmax(axis=1)) > 0.9
    round_ones = ECM(3, 2.0, fuzzifier, random_state=0).fit(X)
    assert adjusted_rand_score(owner, round_ones.partition_.fuzzy().argmax(axis=1)) < 0.9
    np.testing.assert_allclose(np.linalg.det(model.metrics_), 1.0, rtol=1e-8)
    assert (np.diff(model.history_) <= 0).all()
    assert model.objective_ == pytest.approx(adaptive_criterion(model, X), rel=1e-6)


def test_learned_metrics_do_not_depend_on_units_or_rotation():
    """One linear map of determinant one of all items changes nothing but metrics and centers."""
    X, _ = long_clusters(1)
    turn = np.array([[1.5, 0.7], [0.4, (1 + 0.28) / 1.5]])
    assert np.linalg.det(turn) == pytest.approx(1.0)
    start = X[[3, 60, 110]]
    setting = {"metric": "adaptive", "outlier_distance": 6.0, "tol": 1e-12}
    model = ECM(3, 2.0, init=start, **setting).fit(X)
    moved = ECM(3, 2.0, init=model.cluster_centers_ @ turn, **setting).fit(X @ turn)
    back = ECM(3, 2.0, init=model.cluster_centers_, **setting).fit(X)
    assert moved.objective_ == pytest.approx(back.objective_, rel=1e-4)
    np.testing.assert_allclose(moved.masses_, back.masses_, atol=1e-3)


def test_metrics_of_dependent_features_are_refused():
    X, _ = blobs(30)
    with pytest.raises(ValueError, match="3 features that do not follow.*span 2 dimensions"):
        ECM(2, metric="adaptive").fit(np.column_stack([X, X.sum(axis=1)]))


@pytest.mark.parametrize("kind", [ECM, RECM, CECM, SECM])
def test_progress_is_told_and_can_be_stopped(kind, capsys):
    X, _ = blobs(60, 3, seed=4)
    setting = {"metric": "euclidean"} if kind is RECM else {}
    told = []
    whole = kind(3, n_init=1, random_state=0, callback=told.append, verbose=2, **setting).fit(X)
    np.testing.assert_allclose([one.criterion for one in told], whole.history_, rtol=1e-9)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(told)
    assert lines[1].startswith(f"{kind.__name__}: iteration 1, criterion {told[1].criterion:.10g}")
    early = kind(3, n_init=1, random_state=0, callback=lambda p: p.iteration == 2, **setting).fit(X)
    np.testing.assert_allclose(early.history_, whole.history_[:3], rtol=1e-9)
    assert not early.converged_  # without a warning, which would be an error here


@pytest.mark.parametrize("at_call", [3, 8, 12])
def test_ctrl_c_is_told_and_the_objective_is_that_of_the_clusters_kept(at_call, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) + 3 * rng.integers(2, size=(60, 1))
    n_calls, reduce = [], ArrayRows.reduce

    def reduce_until(self, *args):
        n_calls.append(1)
        if len(n_calls) == at_call:
            raise KeyboardInterrupt
        return reduce(self, *args)

    model = ECM(2, random_state=0)
    with monkeypatch.context() as patch:
        patch.setattr(ArrayRows, "reduce", reduce_until)
        with pytest.warns(InterruptedFitWarning, match="interrupted after"):
            model.fit(X)
    assert len(n_calls) <= at_call + 2  # no search for another minimum
    again = ECM(2, init=model.cluster_centers_, n_init=1).fit(X)
    assert again.history_[0] == pytest.approx(model.objective_, rel=1e-9)
