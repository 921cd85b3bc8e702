"""Valid calls of clusterings, of their partitions and of what is drawn of them."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from fuzz.calls import FRESH, SPARSE, Call, X
from plausible import cluster

D = ((X[:, None] - X) ** 2).sum(axis=-1)
SHARED = {
    "n_clusters": 2, "cardinality_weight": 1.0, "outlier_distance": 4.0, "focal_sets": "pairs",
    "n_init": 1, "init": "k-means++", "tol": 1e-3, "max_iter": 50, "random_state": 0,
}  # fmt: skip
CONFLICTS = {
    "n_clusters": 2, "focal_sets": "pairs", "n_dissimilarities": 6, "scale": 3.0, "quantile": 0.9,
    "metric": "euclidean", "metric_params": None, "init": "random", "n_init": 1, "solver": "row",
    "tol": 1e-2, "max_iter": 50, "random_state": 0,
}  # fmt: skip
LINKS = {"must_link": [[0, 3], [1, 4]], "cannot_link": [[0, 1], [2, 5]]}
CLUSTERINGS: dict[str, tuple[type, dict[str, Any], np.ndarray]] = {
    "ECM": (cluster.ECM, {**SHARED, "fuzzifier": 1.5, "metric": "adaptive"}, X),
    "RECM": (
        cluster.RECM, {**SHARED, "fuzzifier": 1.5, "metric": "precomputed", "squared": False}, D,
    ),
    "SECM": (
        cluster.SECM, {**SHARED, "fuzzifier": 1.5, "weights": (4, 6), "average": "distances"}, X,
    ),
    "CECM": (
        cluster.CECM, {**SHARED, **LINKS, "constraint_weight": 0.5, "metric": "euclidean"}, X,
    ),
    "EVCLUS": (cluster.EVCLUS, CONFLICTS, X),
    "CEVCLUS": (
        cluster.CEVCLUS,
        {
            **CONFLICTS, **LINKS, "constraint_weight": 0.5, "closure": True, "outliers": None,
            "metric": "precomputed", "scale": None,
        },
        D,
    ),
    "EKNNClus": (
        cluster.EKNNClus,
        {
            "n_neighbors": 5, "quantile": 0.9, "gamma": None, "init": "n", "n_init": 1,
            "metric": "euclidean", "metric_params": None, "algorithm": "auto",
            "ann_options": None, "n_jobs": None, "max_iter": 50, "random_state": 0,
        },
        X,
    ),
}  # fmt: skip


@cache
def fitted(name: str) -> Any:
    """A fitted clustering."""
    kind, parameters, data = CLUSTERINGS[name]
    return kind(**parameters).fit(data)


def cluster_calls() -> Iterator[Call]:
    """All of the room of clusterings."""
    for name, (kind, parameters, data) in CLUSTERINGS.items():

        def fit(X: Any, kind: type = kind, **given: Any) -> Any:
            return kind(**given).fit(X)

        yield Call(f"cluster.{name}.fit", fit, {"X": data, **parameters})
    yield Call("cluster.ECM.predict_partition", fitted("ECM").predict_partition, {"X": FRESH})
    yield Call("cluster.RECM.predict_mass", fitted("RECM").predict_mass, {"X": D[:3] + 0.1})
    yield Call("cluster.EVCLUS.predict_mass", fitted("EVCLUS").predict_mass, {"X": FRESH})
    yield Call("cluster.CEVCLUS.predict", fitted("CEVCLUS").predict, {"X": D[:3] + 0.1})
    yield Call("cluster.EKNNClus.predict_mass", fitted("EKNNClus").predict_mass, {"X": FRESH})
    yield Call("cluster.focal_sets_of", cluster.focal_sets_of, {"given": "all", "n_clusters": 3})
    image = {"shape": (2, 3), "radius": 1, "sigma": 1.0}
    yield Call("cluster.image_weights", cluster.image_weights, image)
    chosen = {"X": X, "candidates": [2, 3], "estimator": cluster.ECM(n_init=1, random_state=0)}
    yield Call("cluster.select_n_clusters", cluster.select_n_clusters, chosen)
    given = {"given": SPARSE, "names": ["x", "y", "z"]}
    yield Call("cluster.CredalPartition", cluster.CredalPartition, given)
    partition = fitted("ECM").partition_
    yield Call("cluster.CredalPartition.labels", partition.labels, {"outliers": "class"})
    combined = {"*0": partition, "rule": "mean", "match": True}
    yield Call("cluster.CredalPartition.combine", partition.combine, combined)
