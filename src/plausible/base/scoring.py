"""Scores of a model on rows that need not be in memory: sums over chunks, where the rows lie."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from plausible.base.beliefs import believe
from plausible.base.elsewhere import check_names_of_rows, with_names
from plausible.base.training import training_rows
from plausible.checks import check_whole
from plausible.engine import Columns
from plausible.labels import Labels
from plausible.metrics import N_GROUPS, Estimate, ScoreSums, estimates, sum_scores


class RowScores(NamedTuple):
    """Scores of a model on some rows; made by `score_rows`.

    Attributes
    ----------
    n_items, n_counted : int
        Rows, and those of them whose labels say something.
    scores : dict from str to Estimate
        Each score with its 95 % interval; NaN where no label says anything.

    Examples
    --------
    >>> RowScores(4, 3, {"soft_accuracy": Estimate(0.5, 0.2, 0.8)}).scores["soft_accuracy"].high
    0.8
    """

    n_items: int
    n_counted: int
    scores: dict[str, Estimate]


def score_rows(
    model: Any,
    X: Any,
    y: Any = None,
    sample_weight: ArrayLike | None = None,
    *,
    n_bootstrap: int = 1000,
    random_state: int = 0,
) -> RowScores:
    """Scores of a fitted classifier in one pass over rows in memory, in a stream or on a cluster.

    The numbers do not depend on the chunks, and memory does not grow with the rows.

    Parameters
    ----------
    model : fitted classifier
        As for `believe`.
    X : array-like (n, d), Rows of the engine, or Dask collection
        `Rows` hold features, labels and, if any, weights.
    y : Labels, or all that `as_labels` takes, or Dask collection, optional
        Left out if X are `Rows`.
    sample_weight : array-like (n,), optional
    n_bootstrap : int
        Resamples of groups of rows, for the intervals.
    random_state : int
        Of the resamples.

    Returns
    -------
    RowScores

    Examples
    --------
    >>> from plausible.engine import StreamRows
    >>> from plausible.models import SoftNearestCentroid
    >>> X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array(["a", "a", "b", "b"])
    >>> model = SoftNearestCentroid().fit(X, y)
    >>> found = score_rows(model, StreamRows([(X[:3], y[:3]), (X[3:], y[3:])]))
    >>> found.n_items, found.scores["soft_accuracy"].estimate
    (4, 1.0)
    """
    check_whole(n_bootstrap, "n_bootstrap", 1)
    check_whole(random_state, "random_state", 0)
    reader = _Reader()
    rows, classes = training_rows(reader, X, y, sample_weight, with_shares=True, once=True)
    check_names_of_rows(model, getattr(reader, "feature_names_in_", None))
    sums = rows.reduce(partial(_score_chunk, model=model, classes=classes.tolist()))
    return RowScores(sums.n_items, sums.n_counted, estimates(sums, n_bootstrap, random_state))


class _Reader(BaseEstimator):
    """Stands for the model while rows are read, which writes down what it finds."""


def _score_chunk(columns: Columns, model: Any, classes: list[Any]) -> ScoreSums:
    """Sums of all scores over the rows of a chunk."""
    X, contour, weight = columns[:3]
    assert contour is not None
    labels = Labels.from_plausibility(contour, classes)
    return sum_scores(labels, believe(model, with_names(model, X)), _groups(X), weight)


def _groups(X: Any) -> NDArray[np.int64]:
    """A group for each row, by its features alone, so that chunks do not matter."""
    values = np.ascontiguousarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    bits = values.view(np.uint64)
    odd = np.random.default_rng(0).integers(1 << 62, size=values.shape[1], dtype=np.uint64) * 2 + 1
    mixed = (bits ^ (bits >> np.uint64(29))) * odd.astype(np.uint64)
    mixed = mixed.sum(axis=1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return ((mixed >> np.uint64(33)) % np.uint64(N_GROUPS)).astype(np.int64)
