"""What others find in the same points: clusterings of scikit-learn that need no number of clusters.

Each is given what it needs in the usual way: HDBSCAN clusters of at least 20 points and cores of 5
neighbors, which suited it best of some that we tried on a1, a3, s2, r15 and d31; Gaussian mixtures
a number of components by the Bayesian information criterion, from half to one and a half times the
true one; mean shift a bandwidth from the distances to the nearest five percent.
"""

import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, MeanShift, estimate_bandwidth
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from plausible.cluster import EKNNClus
from plausible.datasets import ClusterData
from plausible.experiments.comparison import Results

Labels = NDArray[Any]


def hdbscan(data: ClusterData, k: int, seed: int) -> Labels:
    """HDBSCAN; noise is -1."""
    return HDBSCAN(min_cluster_size=20, min_samples=5, copy=True).fit_predict(data.X)


def mixture(data: ClusterData, k: int, seed: int) -> Labels:
    """Gaussian mixtures, from half to one and a half times the true number of components."""
    true = data.n_clusters
    tried = sorted({round(share * true) for share in (0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.5)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits = [GaussianMixture(c, random_state=seed).fit(data.X) for c in tried]
    return min(fits, key=lambda fit: fit.bic(data.X)).predict(data.X)


def mean_shift(data: ClusterData, k: int, seed: int) -> Labels:
    """Mean shift from the points of a grid."""
    width = estimate_bandwidth(data.X, quantile=0.05, n_samples=2000, random_state=seed)
    return MeanShift(bandwidth=width, bin_seeding=True).fit_predict(data.X)


def eknnclus(data: ClusterData, k: int, seed: int) -> Labels:
    """Ours."""
    return EKNNClus(k, random_state=seed).fit_predict(data.X)


CONTESTANTS: dict[str, Callable[[ClusterData, int, int], Labels]] = {
    "EK-NNclus": eknnclus,
    "HDBSCAN": hdbscan,
    "GaussianMixture, BIC": mixture,
    "MeanShift": mean_shift,
}


def scored(data: ClusterData, labels: Labels, seconds: float) -> Results:
    """Clusters that were found, agreement with the true ones, and time."""
    return {
        "clusters": len(np.unique(labels[labels >= 0])),
        "ari": float(adjusted_rand_score(data.y, labels)),
        "seconds": seconds,
    }


def contest(data: ClusterData, k: int, seed: int, names: tuple[str, ...]) -> dict[str, Results]:
    """All that were asked, on one set."""
    found = {}
    for name in names:
        start = perf_counter()
        labels = CONTESTANTS[name](data, k, seed)
        found[name] = scored(data, labels, perf_counter() - start)
    return found
