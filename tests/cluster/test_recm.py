"""Relational evidential c-means: ECM without coordinates."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from cluster.data import BUTTERFLY, blobs
from plausible.cluster import ECM, RECM


def squares(X, Y=None):
    return cdist(X, X if Y is None else Y, "sqeuclidean")


@pytest.mark.parametrize("fuzzifier", [2.0, 1.5, 1.2])
@pytest.mark.parametrize(("sets", "n_clusters"), [("all", 4), ("pairs", 5), ([[], [0], [1]], 2)])
def test_squared_euclidean_distances_give_ecm(fuzzifier, sets, n_clusters):
    X, _ = blobs(70, n_clusters, n_features=3, seed=1)
    setting = {"fuzzifier": fuzzifier, "focal_sets": sets, "n_init": 3, "random_state": 2}
    points = ECM(n_clusters, 0.8, **setting).fit(X)
    relations = RECM(n_clusters, 0.8, **setting).fit(squares(X))
    np.testing.assert_allclose(relations.masses_, points.masses_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(relations.history_, points.history_, rtol=1e-8)
    assert relations.outlier_distance_ == pytest.approx(points.outlier_distance_)
    assert relations.shift_ == 0.0
    np.testing.assert_allclose(relations.center_weights_ @ X, points.cluster_centers_, atol=1e-8)
    fresh = np.random.default_rng(0).normal(size=(9, 3)) * 4
    placed = relations.predict_mass(squares(fresh, X)).values
    np.testing.assert_allclose(placed, points.predict_mass(fresh).values, atol=1e-8)
    features = RECM(n_clusters, 0.8, metric="euclidean", **setting).fit(X)
    np.testing.assert_array_equal(features.masses_, relations.masses_)
    np.testing.assert_array_equal(features.predict_mass(fresh).values, placed)
    distances = RECM(n_clusters, 0.8, squared=False, **setting).fit(cdist(X, X))
    np.testing.assert_allclose(distances.masses_, relations.masses_, atol=1e-8)


def test_the_same_items_start_points_and_relations():
    model = RECM(2, outlier_distance=np.sqrt(10), init=[0, 10]).fit(squares(BUTTERFLY))
    points = ECM(2, outlier_distance=np.sqrt(10), init=[0, 10]).fit(BUTTERFLY)
    np.testing.assert_allclose(model.masses_, points.masses_, atol=1e-8)
    assert model.objective_ == pytest.approx(23.4129, abs=1e-3)


def embedded(D, shift):
    """Points with the dissimilarities, after a shift, by classical scaling."""
    raised = D + shift * (1 - np.eye(len(D)))
    middle = np.eye(len(D)) - 1.0 / len(D)
    values, vectors = np.linalg.eigh(-0.5 * middle @ raised @ middle)
    assert values.min() > -1e-8 * values.max()
    return vectors * np.sqrt(np.maximum(values, 0.0))


def test_relations_of_no_points_are_those_of_raised_ones():
    """Not even a metric: the way over a third item is often shorter."""
    X, _ = blobs(60, 3, seed=3)
    rng = np.random.default_rng(1)
    noise = rng.uniform(0.2, 3.0, size=(60, 60))
    D = squares(X) * np.triu(noise, 1)
    D += D.T
    model = RECM(3, outlier_distance=9.0, random_state=0).fit(D)
    assert model.shift_ > 0
    assert (np.diff(model.history_) <= 0).all()
    np.testing.assert_allclose(model.masses_.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    points = embedded(D, model.shift_)
    again = ECM(3, outlier_distance=9.0, random_state=0).fit(points)
    assert again.objective_ == pytest.approx(model.objective_, rel=1e-4)
    smaller = embedded_least(D, 0.95 * model.shift_)
    assert smaller < 0  # no smaller shift would do
    np.testing.assert_allclose(model.predict_mass(D).values, model.masses_, atol=1e-9)


def embedded_least(D, shift):
    """The lowest eigenvalue of inner products."""
    raised = D + shift * (1 - np.eye(len(D)))
    middle = np.eye(len(D)) - 1.0 / len(D)
    return np.linalg.eigvalsh(-0.5 * middle @ raised @ middle)[0]


def test_the_order_of_items_does_not_matter():
    X, _ = blobs(80, 3, seed=6)
    order = np.random.default_rng(2).permutation(80)
    model = RECM(3, n_init=2, random_state=1).fit(squares(X))
    other = RECM(3, n_init=2, random_state=1).fit(squares(X[order]))
    np.testing.assert_allclose(other.masses_, model.masses_[order], rtol=0, atol=1e-9)


def test_it_does_not_stop_sooner_for_more_items():
    """Ten copies of all items: the same steps, the same masses."""
    X, _ = blobs(40, 3, seed=8)
    model = RECM(3, init=[0, 10, 20], outlier_distance=5.0).fit(squares(X))
    tenfold = np.repeat(X, 10, axis=0)
    copies = RECM(3, init=[0, 100, 200], outlier_distance=5.0).fit(squares(tenfold))
    assert copies.n_iter_ == model.n_iter_
    np.testing.assert_allclose(copies.masses_[::10], model.masses_, atol=1e-8)


def test_what_are_no_dissimilarities_is_refused():
    D = squares(blobs(12)[0])
    uneven = D.copy()
    uneven[2, 7] += 1.0
    with pytest.raises(ValueError, match=r"the same both ways.*item 2 to 7.*\(X \+ X.T\) / 2"):
        RECM(2).fit(uneven)
    with pytest.raises(ValueError, match="should not be negative"):
        RECM(2).fit(D - 1.0)
    with pytest.raises(ValueError, match="with itself should be 0"):
        RECM(2).fit(D + 1.0)
    with pytest.raises(ValueError, match="square table of dissimilarities"):
        RECM(2).fit(D[:, :5])
    with pytest.raises(ValueError, match="at least n_clusters=5 items"):
        RECM(5).fit(D[:4, :4])
    with pytest.raises(ValueError, match="2 different row numbers"):
        RECM(2, init=[[0.0, 1.0], [1.0, 2.0]]).fit(D)
    model = RECM(2, random_state=0).fit(D)
    with pytest.raises(ValueError, match="should not be negative"):
        model.predict(D[:2] - 100.0)
    same = RECM(2, random_state=0).fit(np.zeros((5, 5)))
    np.testing.assert_allclose(same.masses_.sum(axis=1), 1.0, atol=1e-12)
