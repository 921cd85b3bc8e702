"""Folds of rows: by what they hold, or by a splitter of scikit-learn."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from plausible.checks import as_list, check_whole, row_numbers, shown
from plausible.errors import InputError
from plausible.labels import Labels

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def content_folds(X: Any, contour: FloatArray, weight: FloatArray, most: int) -> IntArray:
    """Folds (n,) that depend on what rows hold, and not on their order or repetition.

    Rows that favor one class are dealt out in the order of their features, so that all folds
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
        X = np.stack([ranks(column) for column in columns], axis=1)
    distinct, rank = np.unique(X + 0.0, axis=0, return_inverse=True)
    return rank.ravel().astype(np.int64), len(distinct)


def ranks(column: NDArray[Any]) -> IntArray:
    """Place (n,) of each entry among the distinct ones; as text where they have no order."""
    try:
        return np.unique(column, return_inverse=True)[1]
    except (TypeError, ValueError):
        return np.unique(list(map(str, column.tolist())), return_inverse=True)[1]


def is_splitter(cv: Any) -> bool:
    """Whether cv makes folds of its own, as those of scikit-learn do; text, too, has a split."""
    return hasattr(cv, "split") and hasattr(cv, "get_n_splits") and not isinstance(cv, type)


def check_splits(cv: Any, n_rows: int) -> list[tuple[Any, Any]]:
    """Splits that are listed as pairs of row numbers to train and to test on."""
    remedy = "a number of folds, a splitter, or pairs of rows to train and to test on"
    pairs = [as_list(pair, "Each split", "two") for pair in as_list(cv, "cv", remedy)]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise InputError(
            f"cv should be {remedy}",
            f"{shown(cv)} was given",
            "give a number",
            parameter="cv",
            value=cv,
        )
    return [tuple(row_numbers(part, n_rows, "Rows of cv") for part in pair) for pair in pairs]


def given_folds(cv: Any, X: Any, labels: Labels) -> IntArray | None:
    """Folds (n,) of a splitter, -1 for rows that are never tested; None for a number of folds."""
    if isinstance(cv, (int, np.integer)):
        check_whole(cv, "cv", 2)
        return None
    if cv is not None and not is_splitter(cv):
        cv = check_splits(cv, len(labels))
    folds = np.full(len(labels), -1)
    splits = check_cv(cv, labels.crisp(), classifier=True).split(X, labels.crisp())
    for fold, (_, test) in enumerate(splits):
        if (folds[test] >= 0).any():
            raise InputError(
                "cv should test every row once",
                f"row {test[folds[test] >= 0][0]} is tested twice",
                "use a splitter without repetitions",
                parameter="cv",
            )
        folds[test] = fold
    return folds


def random_folds(X: Any, n_folds: int, rng: np.random.RandomState) -> IntArray:
    """Folds (n,) drawn at random, of about equal size; equal rows go to one fold.

    With a fixed state, neither the order of rows nor writing a row twice makes a difference.
    """
    rank, n_groups = row_ranks(X)
    return (rng.permutation(n_groups) % n_folds)[rank]
