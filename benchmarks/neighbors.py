"""Speed of evidential neighbors: against scikit-learn's rule, the search itself, and pyds.

Run with ``make bench``. 10,000 queries on 100,000 items in 20 dimensions, 15 neighbors. Contestants
take turns in one process, each on one thread, and the turn with the least CPU time counts, so that
others on the machine disturb little. Whole predictions, nearly all of which is the same search, are
compared in pairs, one right after the other, and the median of the ratios counts. Only approximate
search is also timed by the clock on the wall, with the threads that are taken if nothing is said.
The combination, in which the trust in neighbors is counted, is timed on lists of neighbors that
were found before.
"""

import time
import warnings
from functools import partial
from typing import Any

import numpy as np
from pyds import MassFunction
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from threadpoolctl import threadpool_limits
from timing import interleave, median_ratios, show

from plausible.labels import Labels
from plausible.neighbors import EvidentialNeighborsClassifier

N, N_QUERIES, D, K_NEIGHBORS, N_CLASSES = 100_000, 10_000, 20, 15, 8
N_FIT = 20_000
GAMMA = 0.05


def draw(n: int, n_classes: int, seed: int = 0) -> tuple[Any, Any]:
    """Items around class centers, and their classes."""
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(7).normal(size=(n_classes, D))
    y = rng.integers(n_classes, size=n)
    return centers[y] + rng.normal(size=(n, D)), y


def general_labels(y: Any, n_classes: int) -> dict[str, Labels]:
    """Labels of the costliest kinds: any plausibilities, and masses on any four sets.

    The class is in three of the four.
    """
    rng = np.random.default_rng(1)
    contour = rng.uniform(0.0, 0.8, (len(y), n_classes))
    contour[np.arange(len(y)), y] = 1.0
    dense = np.zeros((len(y), 1 << n_classes))
    sets = rng.integers(1, 1 << n_classes, (len(y), 4))
    sets[:, :3] |= 1 << y[:, None]
    np.add.at(dense, (np.arange(len(y))[:, None], sets), rng.dirichlet(np.ones(4), len(y)))
    return {
        "plausibilities": Labels.from_plausibility(contour),
        "masses": Labels.from_masses(dense),
    }


def cpu_seconds(run: Any, repeats: int = 9) -> float:
    """CPU seconds of the fastest of several runs."""
    return interleave({"run": run}, repeats, time.process_time)["run"]


def combine(model: Any, lists: Any) -> Any:
    """Bets of items whose neighbors were found."""
    return model._combine.bets(lists.neighbors, model._trust(lists))


def whole_prediction() -> bool:
    """Prediction from beginning to end, and the share of the combination in it."""
    X, y = draw(N, N_CLASSES)
    new, _ = draw(N_QUERIES, N_CLASSES, seed=3)
    peer = KNeighborsClassifier(K_NEIGHBORS, weights="distance").fit(X, y)
    search = NearestNeighbors(n_neighbors=K_NEIGHBORS).fit(X)
    labels = {"hard labels": Labels.from_crisp(y), **general_labels(y, N_CLASSES)}
    models = {
        name: EvidentialNeighborsClassifier(K_NEIGHBORS, gamma=GAMMA).fit(X, given)
        for name, given in labels.items()
    }
    lists = models["hard labels"]._search.nearest(new, K_NEIGHBORS)
    for model in models.values():  # compile, and fill caches
        combine(model, lists)
    search_seconds = cpu_seconds(lambda: search.kneighbors(new), 3)
    print(f"      search {search_seconds:.2f} s")
    runs: dict[str, Any] = {
        name: partial(model.predict_proba, new) for name, model in models.items()
    }
    ratios = median_ratios(runs, lambda: peer.predict_proba(new))
    verdicts = []
    for name, model in models.items():
        ratio = ratios[name]
        claim = f"{name}: whole prediction against scikit-learn's"
        verdicts.append(show(claim, ratio, "at most 1.05", ratio <= 1.05))
        seconds = cpu_seconds(partial(combine, model, lists))
        share = 100 * seconds / search_seconds
        most = 1.0 if name == "hard labels" else 2.0
        claim = f"{name}: combination in percent of the search"
        verdicts.append(show(claim, share, f"at most {most:g}", share <= most))
    return all(verdicts)


def against_pyds() -> bool:
    """The same masses from PyPI's py_dempster_shafer, query by query."""
    X, y = draw(5_000, 4)
    new, _ = draw(2_000, 4, seed=3)
    model = EvidentialNeighborsClassifier(K_NEIGHBORS, gamma=GAMMA).fit(X, y)
    found = model._found(new)

    def one(row: int) -> Any:
        frame = frozenset(range(4))
        total = None
        for j, trust in zip(found.neighbors[row], found.trust[row], strict=True):
            source = MassFunction({frozenset([int(y[j])]): trust, frame: 1.0 - trust})
            total = source if total is None else total & source
        return total

    masses = model._masses(found)
    for row in range(20):
        other = one(row)
        sets = [frozenset([0]), frozenset([1]), frozenset([2]), frozenset([3]), frozenset(range(4))]
        np.testing.assert_allclose(
            masses.values[row], [other[one_set] for one_set in sets], atol=1e-9
        )
    theirs = cpu_seconds(lambda: [one(row) for row in range(50)], 3) / 50
    ours = cpu_seconds(lambda: model._masses(found), 20) / len(new)
    return show(
        "combination against pyds, per query", theirs / ours, "at least 500", theirs / ours >= 500
    )


def approximate() -> bool:
    """Approximate search: how much quicker, and how many of the true neighbors."""
    X, y = draw(N, N_CLASSES)
    new, _ = draw(N_QUERIES, N_CLASSES, seed=3)
    exact = EvidentialNeighborsClassifier(K_NEIGHBORS, gamma=GAMMA).fit(X, y)
    quick = EvidentialNeighborsClassifier(K_NEIGHBORS, gamma=GAMMA, algorithm="hnsw")
    start = time.process_time()
    quick.fit(X, y)
    print(f"      hnsw: building the index, once {time.process_time() - start:.1f} s")
    right = exact.kneighbors(new, return_distance=False)
    near = quick.kneighbors(new, return_distance=False)
    recall = float(np.mean([np.isin(a, b).mean() for a, b in zip(near, right, strict=True)]))
    runs = {"exact": lambda: exact.predict_proba(new), "hnsw": lambda: quick.predict_proba(new)}
    with threadpool_limits(1):
        best = interleave(runs, 3, time.process_time)
    wall = interleave(runs, 3)
    print(f"      exact {wall['exact']:.2f} s, hnsw {wall['hnsw']:.2f} s on all threads")
    ratio = best["exact"] / best["hnsw"]
    verdicts = [
        show("hnsw: recall", recall, "at least 0.98", recall >= 0.98),
        show("hnsw: prediction, times as quick", ratio, "at least 5", ratio >= 5.0),
    ]
    return all(verdicts)


def fitting() -> bool:
    """Learning gamma, against the search for neighbors that it needs."""
    verdicts = []
    X, y = draw(N_FIT, N_CLASSES)
    kinds = {"hard labels": Labels.from_crisp(y), **general_labels(y, N_CLASSES)}
    for name, labels in kinds.items():
        model = EvidentialNeighborsClassifier(K_NEIGHBORS)
        best = interleave(
            {
                "fit": partial(model.fit, X, labels),
                "search": lambda: NearestNeighbors().fit(X).kneighbors(None, K_NEIGHBORS),
            },
            3,
            time.process_time,
        )
        ratio = best["fit"] / best["search"]
        claim = f"{name}: fit with gamma on {N_FIT} items against the search"
        verdicts.append(show(claim, ratio, "at most 3", ratio <= 3.0))
    return all(verdicts)


def main() -> int:
    """Run all; 1 if a wanted ratio is missed."""
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        verdicts = [whole_prediction(), against_pyds(), fitting()]
    verdicts.append(approximate())
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    raise SystemExit(main())
