"""Speed of EK-NNclus: against the graph of neighbors that it needs, exact and approximate.

Run with ``make bench``. 100,000 points in 100 clusters, 50 neighbors. Labels are all that follows
the search for neighbors: weights, visits, connected parts, masses. Contestants take turns in one
process on one thread each, and the turn with the least CPU time counts. Only approximate search,
with ``--long``, is timed by the clock on the wall, on all threads.

The authors' R package (evclust, on CRAN) is not measured here: R is no part of this project.
"""

import sys
import time
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits
from timing import interleave, show

from plausible.cluster import EKNNClus
from plausible.cluster.eknnclus_graph import gamma_of_quantile, symmetric_graph
from plausible.cluster.eknnclus_visits import settle
from plausible.neighbors import Lists

N, K = 100_000, 50


def draw(d: int, n: int = N) -> tuple[Any, Any]:
    """Points around 100 centers."""
    rng = np.random.default_rng(0)
    side = 10 if d == 2 else 6
    centers = np.argwhere(np.ones((10, 10))) if d == 2 else rng.uniform(0, side, (100, d))
    y = rng.integers(100, size=n)
    return 6.0 * centers[y] + rng.normal(size=(n, d)), y


def labels_against_graph(d: int) -> bool:
    """What follows the search, in shares of the search."""
    X, y = draw(d)
    search = NearestNeighbors(n_neighbors=K).fit(X)
    distances, neighbors = search.kneighbors()
    lists = Lists(neighbors, distances**2)
    model = EKNNClus(K, random_state=0)

    def label() -> Any:
        model.gamma_ = gamma_of_quantile(lists.squares, 0.9)
        graph = symmetric_graph(lists, model.gamma_)
        return model._cluster(graph, np.random.RandomState(0))

    run = label()  # compiles, or reads what was compiled
    with threadpool_limits(1):
        best = interleave({"graph": search.kneighbors, "labels": label}, 3, time.process_time)
    ratio = best["labels"] / best["graph"]
    score = adjusted_rand_score(y, run.masses.best)
    print(
        f"      {d} dimensions: graph {best['graph']:.1f} s, labels {best['labels']:.1f} s, "
        f"{run.learned['n_clusters_']} clusters of 100, ARI {score:.3f}"
    )
    good = show(f"{d} dimensions: labels, in times of the graph", ratio, "at most 1", ratio <= 1.0)
    masses = run.masses.values
    share = masses.nnz / len(y)
    words = f"{d} dimensions: masses that are not zero, per item"
    return (
        show(words, share, "sparse, at most 10", sparse.issparse(masses) and share <= 10) and good
    )


def skipping() -> bool:
    """Passing over items whose neighbors stayed: the same labels, sooner."""
    X, _ = draw(2, 30_000)
    distances, neighbors = NearestNeighbors(n_neighbors=K).fit(X).kneighbors()
    graph = symmetric_graph(Lists(neighbors, distances**2), gamma_of_quantile(distances**2, 0.9))
    start = np.arange(len(X))

    def visits(skip: bool) -> Any:
        return settle(graph, start, np.random.RandomState(0), skip=skip)

    same = np.array_equal(visits(True).labels, visits(False).labels)
    runs = {"skip": lambda: visits(True), "all": lambda: visits(False)}
    best = interleave(runs, 3, time.process_time)
    ratio = best["all"] / best["skip"]
    words = "visits of all items, in times of those that may move; same labels"
    return show(words, ratio, "at least 1.5", same and ratio >= 1.5)


def approximate() -> bool:
    """An approximate graph in 20 dimensions: how much quicker, and the same clusters."""
    X, y = draw(20)
    fits = {
        name: EKNNClus(K, algorithm=name, n_jobs=-1, random_state=0) for name in ("auto", "hnsw")
    }
    best = interleave({name: lambda fit=fit: fit.fit(X) for name, fit in fits.items()}, 1)  # type: ignore[misc]
    scores = {name: adjusted_rand_score(y, fit.labels_) for name, fit in fits.items()}
    print(f"      fit: exact {best['auto']:.1f} s, hnsw {best['hnsw']:.1f} s")
    gap = abs(scores["auto"] - scores["hnsw"])
    words = "hnsw: difference of the adjusted Rand index"
    return show(words, gap, "at most 0.02", gap <= 0.02)


if __name__ == "__main__":
    verdicts = [labels_against_graph(2), labels_against_graph(10), skipping()]
    verdicts += [approximate()] if "--long" in sys.argv else []
    sys.exit(not all(verdicts))
