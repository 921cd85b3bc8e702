"""Small data sets that tests of clusterings share."""

import numpy as np

# Diday and Govaert's butterfly with an outlier, as on the slides.
BUTTERFLY = np.array([
    [-5.0, 0.0], [-3.34, 1.67], [-3.34, 0.0], [-3.34, -1.67], [-1.67, 0.0], [0.0, 0.0],
    [1.67, 0.0], [3.34, -1.67], [3.34, 0.0], [3.34, 1.67], [5.0, 0.0], [10.0, 10.0],
])  # fmt: skip


def blobs(n=90, n_clusters=3, n_features=2, seed=0, spread=1.0):
    """Overlapping blobs of unequal sizes, in no order, and two outliers."""
    rng = np.random.default_rng(seed)
    middles = 3.5 * rng.normal(size=(n_clusters, n_features))
    owner = rng.choice(n_clusters, n, p=np.arange(1, n_clusters + 1) / sum(range(n_clusters + 1)))
    X = middles[owner] + spread * rng.normal(size=(n, n_features))
    X[[3, n // 2]] += 25.0
    return X, owner


def criterion(model, X, offset=0.0):
    """J of the masses and centers of a model, from its definition, set by set."""
    total = 0.0
    for column, mask in zip(model.masses_.T, model.focal_sets_.tolist(), strict=True):
        members = [k for k in range(model.n_clusters) if mask >> k & 1]
        if not members:
            total += (column**model.fuzzifier).sum() * model.outlier_distance_**2
            continue
        middle = model.cluster_centers_[members].mean(axis=0)
        squared = ((X - middle) ** 2).sum(axis=1) + offset
        cost = len(members) ** model.cardinality_weight
        total += cost * (column**model.fuzzifier * squared).sum()
    return total
