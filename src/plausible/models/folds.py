"""Folds of rows: by what they hold, or by a splitter of scikit-learn."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from plausible.checks import check_whole
from plausible.labels import Labels

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def content_folds(X: Any, contour: FloatArray, weight: FloatArray, most: int) -> IntArray:
    """Folds (n,) that depend on what rows hold, and not on their order or repetition.

    Rows that favour one class are dealt out in the order of their features, so that all folds
    cover the same range; equal rows go to one fold. There are at most as many folds as distinct
    rows of a class, not counting classes with a single one.
    """
    rank, n_groups = row_ranks(X)
    scaled = contour / contour.max(axis=1, keepdims=True)
    said = weight[:, None] * (scaled - scaled.min(axis=1, keepdims=True))
    total = np.array([np.bincount(rank, column, n_groups) for column in said.T]).T
    best = total >= total.max(axis=1, keepdims=True) * (1.0 - 1e-9)
    strata, stratum = np.unique(best, axis=0, return_inverse=True)
    counts = np.bincount(stratum.ravel())[strata.sum(axis=1) == 1]
    n_folds = min([most, *counts[counts > 1].tolist()])
    order = np.argsort(stratum.ravel(), kind="stable")
    starts = np.cumsum(np.bincount(stratum.ravel())) - np.bincount(stratum.ravel())
    fold = np.empty(n_groups, dtype=np.int64)
    fold[order] = (np.arange(n_groups) - starts[stratum.ravel()[order]]) % n_folds
    return fold[rank]


def row_ranks(X: Any) -> tuple[IntArray, int]:
    """Place (n,) of each row among the distinct rows in a fixed order, and their number."""
    if hasattr(X, "toarray"):
        rows = [X[[i]] for i in range(X.shape[0])]
        keys = [(row.indices.tobytes(), row.data.tobytes()) for row in rows]
        place = {key: number for number, key in enumerate(sorted(set(keys)))}
        return np.array([place[key] for key in keys]), len(place)
    if hasattr(X, "columns"):  # a frame, which may hold names as well as numbers
        columns = [np.asarray(X[name]) for name in X.columns]
        X = np.stack([np.unique(c, return_inverse=True)[1] for c in columns], axis=1)
    distinct, rank = np.unique(X + 0.0, axis=0, return_inverse=True)
    return rank.ravel().astype(np.int64), len(distinct)


def given_folds(cv: Any, X: Any, labels: Labels) -> IntArray | None:
    """Folds (n,) of a splitter, -1 for rows that are never tested; None for a number of folds."""
    if isinstance(cv, (int, np.integer)):
        check_whole(int(cv), "cv", 2)
        return None
    folds = np.full(len(labels), -1)
    splits = check_cv(cv, labels.crisp(), classifier=True).split(X, labels.crisp())
    for fold, (_, test) in enumerate(splits):
        if (folds[test] >= 0).any():
            raise ValueError(
                f"cv should test every row once, but row {test[folds[test] >= 0][0]} is tested "
                "twice; use a splitter without repetitions."
            )
        folds[test] = fold
    return folds
