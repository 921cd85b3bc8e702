"""Where a network starts: prototypes amid the rows, by k-means.

Rows are merged where they are equal and sorted before anything is drawn, so that a start depends
on what the rows are, not on their order, nor on whether a row comes twice or with twice the weight.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from plausible.checks import as_floats
from plausible.models.network.evidence import FloatArray, Network, squared_distances

STRENGTH = 0.5  # alpha at the start
LEAST_SHARE = 0.02  # of the membership of a class at the start, so that it can still grow
ROUNDING = 1e-13  # part of squared distances that may be left of rows at one place


def merged(
    X: FloatArray, targets: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Different rows in one order, with the weighted mean of their targets and their weight."""
    there = weight > 0
    rows, place = np.unique(X[there], axis=0, return_inverse=True)
    total = np.bincount(place.ravel(), weight[there], len(rows)).astype(np.float64)
    sums = np.column_stack(
        [
            np.bincount(place.ravel(), weight[there] * column[there], len(rows))
            for column in targets.T
        ]
    )
    return rows, sums / total[:, None], total


def centers(X: FloatArray, weight: FloatArray, count: int, seed: int) -> FloatArray:
    """Centers of k-means; all rows where there are no more."""
    if len(X) <= count:
        return X
    found = KMeans(count, n_init=1, random_state=seed).fit(X, sample_weight=weight)
    return found.cluster_centers_


def _by_kmeans(
    X: FloatArray, targets: FloatArray, weight: FloatArray, count: int, seed: int
) -> FloatArray:
    """Prototypes wherever rows are dense, whatever their class."""
    return centers(X, weight, count, seed)


def _by_classes(
    X: FloatArray, targets: FloatArray, weight: FloatArray, count: int, seed: int
) -> FloatArray:
    """About as many prototypes for each class, where its rows are dense."""
    n_classes = targets.shape[1]
    most = targets == targets.max(axis=1, keepdims=True)
    # Larger classes get what is left over; which class comes first must not matter.
    size = (weight[:, None] * most).sum(axis=0)
    counts = np.full(n_classes, count // n_classes)
    counts[np.argsort(-size, kind="stable")[: count % n_classes]] += 1
    parts = [
        centers(X[mine], (weight * targets[:, k])[mine], counts[k], seed)
        for k in range(n_classes)
        if counts[k] and (mine := most[:, k] & (targets[:, k] > 0)).any()
    ]
    return np.concatenate(parts)


WAYS = {"kmeans": _by_kmeans, "classes": _by_classes}


def start(
    way: str, X: FloatArray, targets: FloatArray, weight: FloatArray, count: int, seed: int
) -> Network:
    """A network at the centers of rows, as wide as the rows around each are spread."""
    rows, means, total = merged(X, targets, weight)
    prototypes = np.unique(WAYS[way](rows, means, total, count, seed), axis=0)
    squared = squared_distances(rows, prototypes)
    nearest = squared.argmin(axis=0)
    own = np.arange(len(prototypes))[:, None] == nearest
    mass = np.maximum((own * total).sum(axis=1), np.finfo(float).tiny)
    spread = (own * total * squared).sum(axis=1) / mass
    typical = float((total * squared.min(axis=0)).sum() / total.sum())
    usual = float(np.average(squared.mean(axis=0), weights=total))
    if not typical > ROUNDING * usual:  # every row is a prototype
        typical = usual or 1.0
    memberships = (own * total) @ means / mass[:, None]
    memberships = memberships * (1.0 - LEAST_SHARE) + LEAST_SHARE / targets.shape[1]
    gamma = 1.0 / (2.0 * np.maximum(spread, 0.1 * typical))
    return Network(prototypes, memberships, np.full(len(prototypes), STRENGTH), gamma)


def given_start(init: Mapping[str, Any], n_features: int, n_classes: int) -> Network:
    """A network from a dictionary; what is not in it takes its usual value."""
    known = ("prototypes", "memberships", "alpha", "gamma")
    strange = sorted(set(init) - set(known))
    if strange or "prototypes" not in init:
        raise ValueError(
            f"init should be a dictionary with prototypes and, if you like, {', '.join(known[1:])},"
            f" but {f'has {strange[0]!r}' if strange else 'has no prototypes'}; correct its keys."
        )
    prototypes = np.atleast_2d(as_floats(init["prototypes"], "init['prototypes']"))
    count = len(prototypes)
    typical = float(squared_distances(prototypes, prototypes).mean()) or 1.0
    usual = {
        "memberships": np.full((count, n_classes), 1.0 / n_classes),
        "alpha": np.full(count, STRENGTH),
        "gamma": np.full(count, 1.0 / typical),
    }
    parts: dict[str, NDArray[Any]] = {"prototypes": prototypes}
    shapes = {"prototypes": (count, n_features)} | {k: v.shape for k, v in usual.items()}
    for name in known:
        value = as_floats(init.get(name, usual.get(name)), f"init[{name!r}]")
        parts[name] = np.broadcast_to(value, shapes[name]) if value.ndim == 0 else value
        if parts[name].shape != shapes[name] or not np.isfinite(parts[name]).all():
            raise ValueError(
                f"init[{name!r}] should be finite numbers of shape {shapes[name]}, but has shape "
                f"{parts[name].shape} or others; give one row for each prototype."
            )
    alpha, gamma, shares = parts["alpha"], parts["gamma"], parts["memberships"]
    if not ((alpha > 0) & (alpha < 1)).all() or not (gamma > 0).all():
        raise ValueError(
            "init['alpha'] should be between 0 and 1 and init['gamma'] positive, but some are not; "
            "leave them out for the usual start."
        )
    if (shares < 0).any() or not (shares.sum(axis=1) > 0).all():
        raise ValueError(
            "init['memberships'] should be shares of the classes for each prototype, but some are "
            "negative or all zero; give probabilities."
        )
    return Network(prototypes, shares / shares.sum(axis=1, keepdims=True), alpha, gamma)
