"""EK-NNclus: energy and plausibility, moves that only ever help, as many clusters as there are."""

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.neighbors import NearestNeighbors

from plausible.belief import SparseMasses, dempster
from plausible.cluster import CredalPartition, EKNNClus, SparsePartition
from plausible.cluster.eknnclus_graph import (
    connected_parts,
    energy,
    gamma_of_quantile,
    symmetric_graph,
    weights_of,
)
from plausible.cluster.eknnclus_visits import settle
from plausible.metrics import credal_rand_index
from plausible.neighbors import Lists

SIZES = [40, 25, 55, 30]
CENTERS = [[0.0, 0.0], [7.0, 1.0], [2.0, 8.0], [9.0, 9.0]]


def blobs(seed=3, std=0.9):
    X, y = make_blobs(SIZES, centers=CENTERS, cluster_std=std, random_state=seed)
    return X, y


def graph_of(X, k=12, quantile=0.9):
    distances, neighbors = NearestNeighbors(n_neighbors=k).fit(X).kneighbors()
    squares = distances**2
    return symmetric_graph(Lists(neighbors, squares), gamma_of_quantile(squares, quantile))


def log_plausibility(graph, labels):
    """Of a partition: each pair that it separates costs the weight of the pair."""
    table = graph.toarray()
    n = len(table)
    return -sum(table[i, j] for i in range(n) for j in range(i + 1, n) if labels[i] != labels[j])


def one_round(table, labels, order):
    """A round of visits in the letter of the paper: every item, every cluster."""
    labels = labels.copy()
    for i in order:
        support = np.array([table[i, labels == k].sum() for k in range(labels.max() + 1)])
        if support.max() > support[labels[i]] + 1e-12:
            labels[i] = support.argmax()
    return labels


# -- Laws ------------------------------------------------------------------------------------------


def test_log_plausibility_and_energy_add_up_to_a_constant():
    X, _ = blobs()
    graph = graph_of(X)
    random = np.random.RandomState(0)
    sums = []
    for n_clusters in (1, 2, 5, 30, len(X)):
        labels = random.randint(n_clusters, size=len(X))
        sums.append(log_plausibility(graph, labels) + energy(graph, labels))
        assert energy(graph, labels, compiled=True) == pytest.approx(energy(graph, labels))
    assert np.allclose(sums, -graph.toarray()[np.triu_indices(len(X), 1)].sum())
    assert np.ptp(sums) < 1e-9
    found = EKNNClus(12, random_state=0).fit(X)
    assert found.log_plausibility_ + found.objective_ == pytest.approx(sums[0])
    assert found.log_plausibility_ == pytest.approx(log_plausibility(graph, found.labels_))
    assert found.objective_ == pytest.approx(energy(graph, found.labels_))


@pytest.mark.parametrize("init", ["n", 9, 40])
def test_the_energy_never_rises_and_ends_where_nobody_wants_to_move(init):
    X, _ = blobs(std=2.5)
    found = EKNNClus(10, init=init, random_state=5).fit(X)
    assert len(found.history_) > 2
    assert (np.diff(found.history_) <= 0).all()
    assert (np.diff(found.history_)[:-1] < 0).all()
    table = graph_of(X, 10).toarray()
    support = table @ np.eye(found.n_clusters_)[found.labels_]
    mine = support[np.arange(len(X)), found.labels_]
    assert (mine >= support.max(axis=1) - 1e-9).all()


def test_weights_are_symmetric_means_without_own_neighbors():
    X, _ = blobs()
    k = 7
    distances, neighbors = NearestNeighbors(n_neighbors=k).fit(X).kneighbors()
    gamma = 1 / np.quantile(distances**2, 0.9)
    one_way = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        one_way[i, neighbors[i]] = -np.log(1 - np.exp(-gamma * distances[i] ** 2))
    table = graph_of(X, k).toarray()
    assert np.allclose(table, (one_way + one_way.T) / 2)
    assert not np.diagonal(table).any()
    assert EKNNClus(k).fit(X).gamma_ == pytest.approx(gamma)
    assert EKNNClus(k, quantile=0.5).fit(X).gamma_ == pytest.approx(
        1 / np.quantile(distances**2, 0.5)
    )


@pytest.mark.parametrize("gamma", [1.0, 1e5])
def test_the_compiled_graph_is_the_same(gamma):
    X, _ = blobs()
    distances, neighbors = NearestNeighbors(n_neighbors=9).fit(X).kneighbors()
    lists = Lists(neighbors, distances**2)
    plain, quick = (symmetric_graph(lists, gamma, compiled) for compiled in (False, True))
    assert np.array_equal(plain.toarray(), quick.toarray())
    assert plain.nnz == quick.nnz == np.count_nonzero(plain.toarray())
    assert (quick.nnz == 0) == (gamma > 1e3 / distances.min() ** 2)


@pytest.mark.parametrize("start", ["n", "few"])
def test_a_round_is_that_of_the_paper(start):
    X, _ = blobs(std=2.0)
    graph = graph_of(X)
    random = np.random.RandomState(1)
    labels = np.arange(len(X)) if start == "n" else random.randint(20, size=len(X))
    for seed in range(3):
        order = np.random.RandomState(seed).permutation(len(X))
        ours = settle(graph, labels, np.random.RandomState(seed), max_iter=1).labels
        labels = one_round(graph.toarray(), labels, order)
        assert np.array_equal(ours, labels)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("start", ["n", "few"])
def test_skipping_items_whose_neighbors_stayed_changes_nothing(start, compiled):
    X, _ = make_blobs([90, 150, 120], cluster_std=2.5, random_state=2)
    graph = graph_of(X, 15)
    for seed in range(3):
        labels = (
            np.arange(len(X)) if start == "n" else np.random.RandomState(seed).randint(30, size=360)
        )
        runs = [
            settle(graph, labels, np.random.RandomState(seed), skip=skip, compiled=compiled)
            for skip in (True, False)
        ]
        assert np.array_equal(runs[0].labels, runs[1].labels)
        assert np.array_equal(runs[0].history, runs[1].history)
        assert runs[0].converged


@pytest.mark.parametrize("kind", ["blobs", "grid"])
def test_the_compiled_loop_takes_the_same_way(kind):
    X = blobs(std=2.0)[0] if kind == "blobs" else np.argwhere(np.ones((12, 11))).astype(float)
    graph = graph_of(X, 8)  # on a grid, many clusters are equally good
    for seed in range(4):
        plain, quick = (
            settle(graph, np.arange(len(X)), np.random.RandomState(seed), compiled=compiled)
            for compiled in (False, True)
        )
        assert np.array_equal(plain.labels, quick.labels)
        assert np.allclose(plain.history, quick.history, rtol=1e-14)


def test_masses_are_those_of_dempsters_rule_on_the_neighbors():
    X, _ = blobs(std=2.2)
    found = EKNNClus(20, random_state=0).fit(X)
    n_clusters = found.n_clusters_
    assert 3 <= n_clusters <= 20
    table = graph_of(X, 20).toarray()
    everything = (1 << n_clusters) - 1
    for i in (0, 17, 80, 149):
        combined = SparseMasses([1.0], [everything], n_clusters)
        for j in np.flatnonzero(table[i]):
            mass = -np.expm1(-table[i, j])
            said = SparseMasses(
                [mass, 1 - mass], [1 << int(found.labels_[j]), everything], n_clusters
            )
            combined = dempster(combined, said)
        expected = dict(zip(combined.focal_sets.tolist(), combined.values.tolist(), strict=True))
        ours = found.partition_.masses()[i]
        for mask, mass in zip(ours.focal_sets.tolist(), ours.values.tolist(), strict=True):
            assert mass == pytest.approx(expected.get(mask, 0.0), abs=1e-12)


def test_new_items_are_placed_by_the_evidential_neighbor_rule():
    X, _ = blobs(std=1.5)
    found = EKNNClus(9, random_state=1).fit(X)
    new = np.random.default_rng(0).uniform(-2, 11, (20, 2))
    distances = pairwise_distances(new, X)
    near = np.argsort(distances, axis=1)[:, :9]
    ours = found.predict_partition(new)
    for row, neighbors in enumerate(near):
        support = np.zeros(found.n_clusters_)
        for j in neighbors:
            support[found.labels_[j]] -= np.log(1 - np.exp(-found.gamma_ * distances[row, j] ** 2))
        odds = np.append(np.exp(support) - 1, 1.0)
        assert np.allclose(ours.given.values.toarray()[row], odds / odds.sum(), atol=1e-9)
    assert np.array_equal(found.predict(new), ours.probability.argmax(axis=1))
    far = found.predict_partition([[1e6, 0.0]])
    assert far.given.ignorance[0] == pytest.approx(1.0)
    nearest = found.labels_[pairwise_distances([[1e6, 0.0]], X).argmin()]
    assert far.hard()[0] == nearest != 0


# -- Clusters --------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["n", 30])
def test_it_finds_how_many_clusters_there_are(init):
    X, y = blobs()
    found = EKNNClus(init=init, random_state=0).fit(X)
    assert found.n_neighbors_ == 36
    assert adjusted_rand_score(y, found.labels_) == 1.0
    assert np.array_equal(np.unique(found.labels_, return_index=True)[1].argsort(), range(4))


def test_the_default_neighborhood_is_two_to_three_times_the_root():
    for n in (2, 3, 50, 400):
        X = np.random.default_rng(0).normal(size=(n, 2))
        k = EKNNClus(random_state=0).fit(X).n_neighbors_
        assert k == n - 1 if n < 10 else 2 * np.sqrt(n) <= k <= 3 * np.sqrt(n)


def test_clusters_need_not_be_convex():
    X, y = make_moons(300, noise=0.05, random_state=0)
    found = EKNNClus(20, quantile=0.9, init=y, random_state=0).fit(X)
    assert adjusted_rand_score(y, found.labels_) == 1.0


def test_distant_clusters_with_one_label_are_split():
    X, y = blobs()
    found = EKNNClus(10, init=y % 2, random_state=0).fit(X)
    assert adjusted_rand_score(y, found.labels_) == 1.0
    table = graph_of(X, 10)
    for k in range(found.n_clusters_):
        inside = np.flatnonzero(found.labels_ == k)
        part = table[inside][:, inside]
        assert sparse.csgraph.connected_components(part)[0] == 1


@pytest.mark.parametrize("compiled", [False, True])
def test_parts_are_numbered_as_they_first_appear(compiled):
    X, y = blobs()
    graph = graph_of(X, 10)
    everything = connected_parts(graph, np.zeros(150, dtype=np.int64), compiled)
    assert adjusted_rand_score(y, everything) == 1.0
    mixed = np.random.RandomState(0).randint(3, size=150)
    parts = connected_parts(graph, mixed, compiled)
    assert np.array_equal(np.unique(parts, return_index=True)[1].argsort(), range(parts.max() + 1))
    for k in range(parts.max() + 1):
        inside = np.flatnonzero(parts == k)
        assert len(set(mixed[inside])) == 1
        assert sparse.csgraph.connected_components(graph[inside][:, inside])[0] == 1
    table = graph.toarray()
    split = (parts[:, None] != parts) & (mixed[:, None] == mixed)
    assert not table[split].any()


def test_of_several_runs_the_one_with_the_lowest_energy_is_kept():
    X, _ = make_blobs([60, 90, 80, 70], cluster_std=2.5, random_state=4)
    random = np.random.RandomState(0)
    single = [EKNNClus(15, random_state=random).fit(X).objective_ for _ in range(5)]
    assert len(set(single)) > 1
    together = EKNNClus(15, n_init=5, random_state=np.random.RandomState(0)).fit(X)
    assert together.objective_ == min(single)


def test_dissimilarities_are_as_good_as_features():
    X, _ = blobs(std=1.8)
    from_features = EKNNClus(random_state=0).fit(X)
    D = pairwise_distances(X)
    found = EKNNClus(metric="precomputed", random_state=0).fit(D)
    assert np.array_equal(found.labels_, from_features.labels_)
    assert found.objective_ == pytest.approx(from_features.objective_)
    new = X[:5] + 0.1
    assert np.array_equal(found.predict(pairwise_distances(new, X)), from_features.predict(new))
    assert found.__sklearn_tags__().input_tags.pairwise


def test_dissimilarities_need_not_be_a_metric():
    X, y = blobs()
    D = pairwise_distances(X) ** 3  # the way over a third item is shorter
    found = EKNNClus(metric="precomputed", random_state=0).fit(D)
    assert adjusted_rand_score(y, found.labels_) == 1.0


def test_units_of_the_features_do_not_matter():
    X, _ = blobs(std=2.0)
    found = EKNNClus(random_state=0).fit(X)
    scaled = EKNNClus(random_state=0).fit(1024.0 * X)
    assert np.array_equal(found.labels_, scaled.labels_)
    assert scaled.gamma_ * 1024.0**2 == pytest.approx(found.gamma_)


def test_an_approximate_graph_finds_the_same_clusters():
    pytest.importorskip("hnswlib")
    X, y = make_blobs([80, 120, 100], n_features=12, random_state=1)
    found = EKNNClus(20, algorithm="hnsw", random_state=0).fit(X)
    assert adjusted_rand_score(y, found.labels_) == 1.0
    assert np.array_equal(found.predict(X[:10]), found.labels_[:10])


# -- The partition ---------------------------------------------------------------------------------


def doubtful():
    X, _ = blobs(std=2.2)
    return EKNNClus(5, quantile=0.3, random_state=0).fit(X)


def test_masses_have_few_entries():
    found = doubtful()
    assert sparse.issparse(found.masses_)
    assert found.masses_.shape == (150, found.n_clusters_ + 1)
    assert found.masses_.nnz < 4 * 150
    assert found.masses_.min() >= 0
    assert np.allclose(found.masses_.sum(axis=1), 1.0)


def test_a_sparse_partition_answers_as_any_other():
    partition = doubtful().partition_
    assert isinstance(partition, CredalPartition)
    assert 3 < partition.n_clusters < 62
    other = CredalPartition(partition.masses())
    for name in ("contour", "probability", "outlier_mass", "classes", "focal_sets"):
        assert np.allclose(getattr(partition, name), getattr(other, name), atol=1e-12), name
    for name in ("credal", "fuzzy", "possibilistic", "rough", "nonspecificity", "relations"):
        ours, theirs = getattr(partition, name)(), getattr(other, name)()
        assert np.allclose(ours, theirs, atol=1e-12), name
    assert str(partition.summary()) == str(other.summary())
    assert not partition.outliers().any()
    joined = partition.combine(partition, other, rule="dempster")
    assert np.allclose(joined.contour, other.combine(other, other, rule="dempster").contour)
    assert np.array_equal(partition.hard(), other.hard())
    assert len(partition) == len(other) == 150
    rows = np.array([3, 140, 3])
    assert np.array_equal(partition[rows].hard(), other[rows].hard())
    assert np.allclose(partition[5:9].contour, other[5:9].contour)
    assert np.allclose(partition.labels().contour, other.labels().contour)
    assert partition.labels("class").n_classes == other.labels("class").n_classes
    assert credal_rand_index(partition, other) == 1.0


def test_more_clusters_than_sets_can_be_written_of():
    centers = 10.0 * np.argwhere(np.ones((9, 8)))
    rng = np.random.default_rng(0)
    X = np.repeat(centers, 6, axis=0) + rng.uniform(-0.3, 0.3, size=(432, 2))
    found = EKNNClus(5, gamma=0.1, random_state=0).fit(X)
    partition = found.partition_
    assert found.n_clusters_ == partition.n_clusters == 72
    assert adjusted_rand_score(np.repeat(np.arange(72), 6), partition.hard()) == 1.0
    assert found.masses_.shape == (432, 73)
    assert found.focal_sets_[-1] == 2**72 - 1
    assert found.focal_sets_[70] == 2**70
    assert np.allclose(found.predict_proba(X[:3]).sum(axis=1), 1.0)
    assert partition.rough().upper.sum() >= 432
    assert partition.labels().n_classes == 72
    for ask in (partition.masses, partition.credal, lambda: found.predict_mass(X[:2])):
        with pytest.raises(
            ValueError, match="at most 62 clusters, but there are 72.*given.singles"
        ):
            ask()


def test_names_of_clusters():
    partition = doubtful().partition_
    names = [f"c{k}" for k in range(partition.n_clusters)]
    named = SparsePartition(partition.given, names)
    assert named.labels().classes.tolist() == names
    with pytest.raises(ValueError, match="different names of the clusters"):
        SparsePartition(partition.given, ["a"])


# -- Strange data ----------------------------------------------------------------------------------


def test_items_at_one_point_stay_together():
    X = np.repeat([[0.0, 0.0], [5.0, 5.0], [0.0, 9.0]], [10, 12, 8], axis=0)
    found = EKNNClus(6, random_state=0).fit(X)
    assert np.bincount(found.labels_).tolist() == [10, 12, 8]
    assert np.isfinite(found.objective_)
    assert found.masses_.toarray().min() >= 0
    assert np.array_equal(found.predict([[0.0, 0.0], [0.0, 9.0]]), [0, 2])
    same = EKNNClus(random_state=0).fit(np.ones((15, 2)))
    assert same.n_clusters_ == 1
    assert np.allclose(same.masses_.toarray(), 1.0)
    assert same.partition_.rough().lower.all()
    assert np.isfinite(weights_of(np.zeros(1), 1.0)).all()


def test_items_that_nobody_is_near_are_clusters_of_their_own():
    X = np.concatenate([blobs()[0], [[1e5, 0.0]]])
    found = EKNNClus(40, random_state=0).fit(X)
    assert found.n_clusters_ == 5
    assert (found.labels_ == found.labels_[-1]).sum() == 1
    assert found.partition_.contour[-1].min() == 1.0  # nothing is known about it
    assert found.partition_.rough().upper[-1].all()


@pytest.mark.parametrize("n", [2, 3])
def test_very_few_items(n):
    found = EKNNClus(50, random_state=0).fit(np.arange(n)[:, None])
    assert found.n_neighbors_ == n - 1
    assert found.n_clusters_ == 1


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"n_neighbors": 0}, "n_neighbors should be a whole number of at least 1"),
        ({"quantile": 1.5}, r"quantile should be a finite number in \[0, 1\]"),
        ({"quantile": 0}, "quantile should be positive"),
        ({"gamma": 0.0}, "gamma should be a positive number"),
        ({"gamma": -1.0}, "gamma should be a finite number of at least 0"),
        ({"init": "k-means"}, "init should be 'n'"),
        ({"init": 0}, "init should be a whole number of at least 1"),
        ({"init": [0, 1]}, "labels of the 150 items"),
        ({"n_init": 0}, "n_init should be"),
        ({"max_iter": 0}, "max_iter should be"),
        ({"algorithm": "magic"}, "algorithm should be"),
        ({"ann_options": {"x": 1}, "algorithm": "hnsw"}, "ann_options should be among"),
        ({"ann_options": [1]}, "ann_options should be a dictionary"),
        ({"metric": 3}, "metric should be the name of a metric"),
        ({"metric_params": 3}, "metric_params should be a dictionary"),
        ({"metric": "precomputed"}, "square table of dissimilarities"),
    ],
)
def test_wrong_settings_are_named(setting, words):
    with pytest.raises(ValueError, match=words):
        EKNNClus(**setting).fit(blobs()[0])


def test_wrong_dissimilarities_are_named():
    D = pairwise_distances(blobs()[0])
    for change, words in (
        ((3, 7, -1.0), "should not be negative, but values such as -1 were found in 1 row (row 3)"),
        ((3, 3, 1.0), "with itself should be 0, but values such as 1 were found in 1 row (row 3)"),
        ((3, 7, 99.0), "the same both ways, but that from item 3 to 7 is 99 and back"),
    ):
        wrong = D.copy()
        wrong[change[:2]] = change[2]
        with pytest.raises(ValueError, match=re.escape(words)):
            EKNNClus(metric="precomputed").fit(wrong)
    found = EKNNClus(metric="precomputed", random_state=0).fit(D)
    with pytest.raises(ValueError, match="should not be negative"):
        found.predict(-D[:2])


def test_too_few_rounds_are_told():
    with pytest.warns(ConvergenceWarning, match="EKNNClus should stop by itself"):
        EKNNClus(max_iter=1, random_state=0).fit(blobs()[0])
