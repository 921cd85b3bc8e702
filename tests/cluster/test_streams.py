"""ECM of rows that are not in memory, and the number of clusters."""

import dask.array
import numpy as np
import pytest

from cluster.data import blobs
from plausible.cluster import CECM, ECM, RECM, SECM, select_n_clusters
from plausible.engine import ArrayRows, StreamRows


def sources(X):
    chunks = [X[:37], X[37:38], X[38:200], X[200:]]
    return {
        "stream": StreamRows(lambda: ((chunk,) for chunk in chunks)),
        "memory": ArrayRows(X, chunk_rows=50),
        "dask": dask.array.from_array(X, chunks=(64, 3)),
    }


@pytest.mark.parametrize("kind", ["stream", "memory", "dask"])
@pytest.mark.parametrize("metric", ["euclidean", "adaptive"])
def test_rows_give_what_items_in_memory_give(kind, metric):
    X, _ = blobs(300, 3, n_features=3, seed=1)
    X += 100.0
    setting = {"fuzzifier": 1.7, "metric": metric, "n_init": 3, "random_state": 0}
    rows = ECM(3, **setting).fit(sources(X)[kind])
    model = ECM(3, **setting).fit(X)
    np.testing.assert_allclose(rows.cluster_centers_, model.cluster_centers_, atol=1e-7)
    assert rows.objective_ == pytest.approx(model.objective_, rel=1e-9)
    np.testing.assert_allclose(rows.predict_mass(X).values, model.masses_, atol=1e-7)
    assert (np.diff(rows.history_) <= 0).all()
    assert not hasattr(rows, "masses_")
    assert rows.n_features_in_ == 3


def test_rows_that_cannot_be_clustered_are_refused():
    X, _ = blobs(50)
    holes = X.copy()
    holes[40, 1] = np.nan
    with pytest.raises(ValueError, match="without missing entries, but NaN or infinity"):
        ECM(2).fit(ArrayRows(holes))
    with pytest.raises(ValueError, match="at least n_clusters=3 items"):
        ECM(3).fit(ArrayRows(X[:2]))
    for kind in (CECM, SECM):
        with pytest.raises(ValueError, match="should be given items in memory"):
            kind(2).fit(ArrayRows(X))


@pytest.mark.parametrize("n_clusters", [2, 3, 5])
def test_nonspecificity_finds_the_number_of_clusters(n_clusters):
    rng = np.random.default_rng(n_clusters)
    turns = 2 * np.pi * np.arange(n_clusters) / n_clusters
    middles = 12.0 * np.column_stack([np.cos(turns), np.sin(turns)])
    X = np.repeat(middles, 25, axis=0) + rng.normal(size=(25 * n_clusters, 2))
    found = select_n_clusters(X, range(2, 7), ECM(n_init=4, random_state=0))
    assert found.best == n_clusters
    assert found.best_model.n_clusters == n_clusters
    assert found.nonspecificity[n_clusters - 2] == found.best_model.partition_.nonspecificity()
    assert f"{n_clusters}  " in str(found)
    assert str(found).count("<- lowest") == 1


def test_numbers_of_clusters_of_dissimilarities():
    X, _ = blobs(60, 3, seed=4, spread=0.4)
    D = ((X[:, None] - X) ** 2).sum(axis=-1)
    of_points = select_n_clusters(X, [2, 3, 4], ECM(n_init=2, random_state=0))
    of_relations = select_n_clusters(D, [2, 3, 4], RECM(n_init=2, random_state=0))
    np.testing.assert_allclose(of_relations.nonspecificity, of_points.nonspecificity, atol=1e-7)
    with pytest.raises(ValueError, match="candidates"):
        select_n_clusters(X, [1, 2])
    with pytest.raises(ValueError, match="one or more numbers"):
        select_n_clusters(X, [])
