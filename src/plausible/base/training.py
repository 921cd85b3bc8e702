"""What every `fit` does first: from whatever came to rows with plausibilities and weights."""

from collections import Counter
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from plausible.checks import as_floats
from plausible.engine.rows import ArrayRows, Columns, Rows, is_sparse
from plausible.labels import Labels, as_labels


class Training(NamedTuple):
    """Rows of (features, plausibilities or None, weights or None), and the classes."""

    rows: Rows
    classes: NDArray[Any]


def check_labels_and_weights(
    estimator: Any, y: Labels | ArrayLike | None, sample_weight: ArrayLike | None, n_rows: int
) -> tuple[Labels, NDArray[np.float64]]:
    """Labels with sorted classes, and sample weights; what does not fit `n_rows` is refused."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None; give "
            "labels, or Labels.unknown(n, classes) for items without."
        )
    labels = as_labels(y)
    # scikit-learn's scorers take the columns of predict_proba for those of sorted classes.
    labels = as_labels(labels, classes=sorted(labels.classes.tolist()))
    if len(labels) != n_rows:
        raise ValueError(
            f"X and y should have the same length, but X has {n_rows} rows and y has "
            f"{len(labels)} labels; check the order of the arguments and missing rows."
        )
    return labels, check_weights(sample_weight, n_rows)


def check_weights(sample_weight: ArrayLike | None, n_rows: int) -> NDArray[np.float64]:
    """Sample weights, one for each row; ones that take no memory by default."""
    if sample_weight is None:
        return np.broadcast_to(np.float64(1.0), n_rows)
    weights = as_floats(sample_weight, "sample_weight")
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    good = weights.shape == (n_rows,) and bool((weights >= 0).all() and np.isfinite(weights).all())
    if not good:
        raise ValueError(
            f"sample_weight should be one non-negative number for each of the {n_rows} rows, but "
            f"has shape {weights.shape} or holds negative, infinite or missing values."
        )
    return weights


def gather(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    n_classes: int | None = None,
    accept_sparse: bool = False,
) -> Training:
    """Rows to learn from, wherever they are: arrays, `Rows` of the engine, Dask collections.

    `n_classes` allows y=None: a clustering, with classes 0, 1, ...; `accept_sparse` leaves sparse
    matrices as they are, in rows.
    """
    if isinstance(X, Rows):
        if y is not None or sample_weight is not None:
            raise ValueError(
                "Rows should hold labels and weights as their second and third column, but y or "
                "sample_weight came beside them; put them into the rows."
            )
        return from_rows(estimator, X, n_classes)
    if is_dask(X):
        from plausible.engine.distributed import DaskRows

        rows = DaskRows(X, y, sample_weight)
        rows.classes = list(getattr(y, "columns", ())) or None
        return from_rows(estimator, rows, n_classes)
    sparse = "csr" if accept_sparse else False
    data = validate_data(estimator, X, dtype=(np.float64, np.float32), accept_sparse=sparse)
    weights = None if sample_weight is None else check_weights(sample_weight, data.shape[0])
    if y is None and n_classes is not None:
        return Training(ArrayRows(data, None, weights), np.arange(n_classes))
    labels, _ = check_labels_and_weights(estimator, y, None, data.shape[0])
    if n_classes is not None and n_classes != labels.n_classes:
        raise ValueError(
            f"n_classes={n_classes} should be left out where labels are given, but they have "
            f"{labels.n_classes} classes; name more classes with Labels(..., classes=...)."
        )
    return Training(ArrayRows(data, labels.contour, weights), labels.classes)


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection, found out without importing Dask."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "dask")


def from_rows(estimator: Any, rows: Rows, n_classes: int | None) -> Training:
    """Rows of raw features, labels and weights, checked and converted whenever they are read."""
    X: Any
    y: Any
    X, y, _ = padded(rows.peek())
    if np.ndim(X) != 2:
        raise ValueError(
            "The first column of the rows should be features (n, d), but has shape "
            f"{np.shape(X)}; give tuples of features, labels and weights."
        )
    estimator.n_features_in_ = X.shape[1]
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_  # of a data frame that was fitted before
    if y is not None and n_classes is not None:
        raise ValueError(
            f"n_classes={n_classes} should be left out where rows hold labels; leave it out."
        )
    if y is None:
        if n_classes is None:
            check_labels_and_weights(estimator, None, None, 0)
        classes = np.arange(n_classes or 0)
    elif np.ndim(y) == 2 and np.shape(y)[1] > 1:
        classes = Labels.unknown(1, rows.classes or range(y.shape[1])).classes
    else:
        names = set(rows.reduce(distinct_labels))
        classes = Labels.from_crisp(list(names)).classes
    ordered = np.sort(classes)
    return Training(rows.map(partial(convert, classes=classes, ordered=ordered)), ordered)


def padded(columns: Columns) -> Columns:
    """Features, labels and weights, None for what is not there."""
    if len(columns) > 3:
        raise ValueError(
            "Rows should have at most three columns, features, labels and weights, but have "
            f"{len(columns)}; leave out the others."
        )
    return (*columns, None, None)[:3]


def distinct_labels(columns: Columns) -> "Counter[Any]":
    """The classes that occur in a chunk of hard labels, with their numbers of rows."""
    y: Any = padded(columns)[1]
    labels = as_labels(np.ravel(y))
    return Counter(labels.crisp()[~labels.is_unknown].tolist())


def convert(columns: Columns, classes: NDArray[Any], ordered: NDArray[Any]) -> Columns:
    """Raw columns of a chunk as features, plausibilities of the ordered classes, and weights."""
    X: Any
    y: Any
    X, y, weight = padded(columns)
    if not is_sparse(X):
        X = np.asarray(X)
        X = X if X.dtype in (np.float32, np.float64) else as_floats(X, "features")
    if y is not None:
        y = as_labels(np.ravel(y) if np.ndim(y) == 2 and y.shape[1] == 1 else y, classes.tolist())
        y = as_labels(y, ordered.tolist()).contour
    return X, y, None if weight is None else check_weights(np.ravel(weight), X.shape[0])
