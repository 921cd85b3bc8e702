"""What every `fit` does first: from whatever came to rows with plausibilities and weights."""

import warnings
from collections import Counter
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets

from plausible.base.class_order import remember_order
from plausible.base.features import check_features, remember_features
from plausible.base.named import names_of_columns
from plausible.base.warnings import RowOrderWarning, SharpenedLabelsWarning
from plausible.checks import as_floats, name_rows
from plausible.engine import ArrayRows, Columns, Rows, is_sparse
from plausible.errors import InputError
from plausible.labels import (
    MISSING,
    Labels,
    RowSums,
    as_labels,
    find_missing,
    holds_sets,
    holds_shares,
    let_in,
    row_sums,
)
from plausible.short_rows import row_any, row_sum

LEAST_WEIGHT = 1e-200  # below, products of weights vanish


class TrainingRows(NamedTuple):
    """Rows of (features, plausibilities or None, weights or None), and the classes.

    Where some labels are probabilities, and the estimator asked to be told, a fourth column says
    which.

    Examples
    --------
    >>> from plausible.models import SoftNearestCentroid
    >>> training_rows(SoftNearestCentroid(), [[0.0], [1.0]], ["b", "a"], None).classes
    array(['a', 'b'], dtype='<U1')
    """

    rows: Rows
    classes: NDArray[Any]


def check_labels_and_weights(
    estimator: Any,
    y: Labels | ArrayLike | None,
    sample_weight: ArrayLike | None,
    n_rows: int,
    X: Any = None,
) -> tuple[Labels, NDArray[np.float64]]:
    """Labels with sorted classes, and sample weights; what does not fit `n_rows` is refused.

    A `RowOrderWarning` tells of rows that have the same names in X and y, in another order.

    Examples
    --------
    >>> from plausible.models import SoftNearestCentroid
    >>> labels, weight = check_labels_and_weights(SoftNearestCentroid(), ["b", "a"], None, 2)
    >>> labels.classes, weight
    (array(['a', 'b'], dtype='<U1'), array([1., 1.]))
    """
    if y is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed",
            "the target y is None",
            "give labels, or Labels.unknown(n, classes) for items without",
        )
    warn_of_order(X, y)
    _warn_of_weights(X, y, sample_weight)
    labels = as_labels(y)
    remember_order(estimator, labels.classes.tolist())
    # scikit-learn's scorers take the columns of predict_proba for those of sorted classes.
    labels = as_labels(labels, classes=sorted(labels.classes.tolist()))
    if len(labels) != n_rows:
        raise InputError(
            "X and y should have the same length",
            f"X has {n_rows} rows and y has {len(labels)} labels",
            "check the order of the arguments and missing rows",
        )
    return labels, check_weights(sample_weight, n_rows)


def check_weights(sample_weight: ArrayLike | None, n_rows: int) -> NDArray[np.float64]:
    """Sample weights, one for each row; ones that take no memory by default.

    Examples
    --------
    >>> check_weights([1, 0.5], 2)
    array([1. , 0.5])
    """
    if sample_weight is None:
        return np.broadcast_to(np.float64(1.0), n_rows)
    weights = as_floats(sample_weight, "sample_weight")
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    is_long = weights.shape == (n_rows,)
    bad = ~((weights == 0) | ((weights >= LEAST_WEIGHT) & np.isfinite(weights)))
    if not is_long or bad.any():
        raise InputError(
            f"sample_weight should be one non-negative number for each of the {n_rows} rows",
            f"holds negative, infinite, missing or vanishing values (below {LEAST_WEIGHT:g}) in "
            f"{name_rows(bad)}"
            if is_long
            else f"has shape {weights.shape}",
            "correct them, or write 0" if is_long else "give one for each row",
            parameter="sample_weight",
            value=weights.shape,
        )
    return weights


def training_rows(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    n_classes: int | None = None,
    accept_sparse: bool = False,
    with_shares: bool = False,
    allow_missing: bool = False,
    once: bool = False,
) -> TrainingRows:
    """Rows to learn from, wherever they are: arrays, `Rows` of the engine, Dask collections.

    `n_classes` allows y=None: a clustering, with classes 0, 1, ...; `accept_sparse` leaves sparse
    matrices as they are, in rows. An estimator that knows what to do about probabilities asks for a
    fourth column that marks them (`with_shares`); for others they are likelihoods like any
    plausibility, and a `SharpenedLabelsWarning` says so. `allow_missing` lets NaN pass in arrays.
    Rows elsewhere are kept for further passes, unless they are read but `once`.

    Examples
    --------
    >>> from plausible.models import SoftNearestCentroid
    >>> rows, classes = training_rows(SoftNearestCentroid(), [[0.0], [1.0]], ["b", "a"], None)
    >>> rows.peek()[1]
    array([[0., 1.],
           [1., 0.]])
    """
    if isinstance(X, Rows):
        if y is not None or sample_weight is not None:
            raise InputError(
                "Rows should hold labels and weights as their second and third column",
                "y or sample_weight was given beside them",
                "put them into the rows",
            )
    elif is_dask(X):
        X = _dask_rows(X, y, sample_weight)
    if isinstance(X, Rows):
        rows, classes = _from_rows(estimator, X, n_classes, with_shares)
        return TrainingRows(rows.unkept() if once else rows.kept(), classes)
    data = check_features(
        estimator,
        X,
        dtype=(np.float64, np.float32),
        accept_sparse="csr" if accept_sparse else False,
        ensure_all_finite="allow-nan" if allow_missing else True,
    )
    weights = None if sample_weight is None else check_weights(sample_weight, data.shape[0])
    _warn_of_weights(X, y, sample_weight)
    if y is None and n_classes is not None:
        remember_order(estimator, range(n_classes))
        return TrainingRows(ArrayRows(data, None, weights), np.arange(n_classes))
    labels, _ = check_labels_and_weights(estimator, y, None, data.shape[0], X)
    _check_n_classes(n_classes, labels)
    marks = [labels.is_probability] if labels.is_probability.any() else []
    if marks and not with_shares:
        warn_of_sharpening(estimator)
        marks = []
    return TrainingRows(ArrayRows(data, labels.contour, weights, *marks), labels.classes)


def _dask_rows(X: Any, y: Any, sample_weight: Any) -> Rows:
    """Rows of collections of Dask; labels may be in memory."""
    from plausible.engine import DaskRows

    columns = list(getattr(y, "columns", ()))
    names = columns if len(columns) > 1 else None
    shares: tuple[Any, ...] = ()
    if y is not None and not is_dask(y):  # in memory: its classes are known at once
        labels = as_labels(y)
        y, names, shares = labels.contour, labels.classes.tolist(), (labels.is_probability,)
    rows = DaskRows(X, y, sample_weight, *shares)
    rows.classes, rows.feature_names = names, names_of_columns(X)
    return rows


def _check_n_classes(n_classes: int | None, labels: Labels) -> None:
    """Refuse a number of classes beside labels that have another one."""
    if n_classes is not None and n_classes != labels.n_classes:
        raise InputError(
            f"n_classes={n_classes} should be left out where labels are given",
            f"they have {labels.n_classes} classes",
            "name more classes with Labels(..., classes=...)",
            parameter="n_classes",
            value=n_classes,
        )


def warn_of_order(first: Any, second: Any, called: tuple[str, str] = ("X", "y")) -> None:
    """Warn where rows of two tables of pandas have the same names in another order."""
    names: Any = getattr(first, "index", None)
    others: Any = getattr(second, "index", None)
    if not (hasattr(names, "equals") and hasattr(others, "equals")) or names.equals(others):
        return
    if len(names) == len(others) and names.sort_values().equals(others.sort_values()):
        one, two = called
        warnings.warn(
            f"Rows of {one} and {two} should have the same order, but their indexes hold the same "
            "names in different orders, and rows were matched by position; give "
            f"{two}.loc[{one}.index] if the index names the rows, or {two}.to_numpy() if not.",
            RowOrderWarning,
            stacklevel=3,
        )


def _warn_of_weights(X: Any, y: Any, sample_weight: Any) -> None:
    """Warn where rows of weights are those of X, or of y if X has no names, in another order."""
    called, first = ("X", X) if hasattr(getattr(X, "index", None), "equals") else ("y", y)
    warn_of_order(first, sample_weight, (called, "sample_weight"))


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection, found out without importing Dask.

    Examples
    --------
    >>> is_dask(np.zeros((2, 1)))
    False
    """
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "dask")


def _from_rows(
    estimator: Any, rows: Rows, n_classes: int | None, with_shares: bool = False
) -> TrainingRows:
    """Rows of raw features, labels and weights, checked and converted whenever they are read."""
    X: Any
    y: Any
    X, y, _, marks = padded(rows.peek())
    if np.ndim(X) != 2 or not np.shape(X)[1]:
        raise InputError(
            "The first column of the rows should be features (n, d)",
            f"has shape {np.shape(X)}",
            "give tuples of features, labels and weights",
        )
    remember_features(estimator, rows.feature_names, X.shape[1])
    if y is not None and n_classes is not None:
        raise ValueError(
            f"n_classes={n_classes} should be left out where rows hold labels; leave it out."
        )
    is_table = False
    if y is None:
        if n_classes is None:
            check_labels_and_weights(estimator, None, None, 0)
        classes = np.arange(n_classes or 0)
    elif is_table := np.ndim(y) == 2 and (np.shape(y)[1] > 1 or rows.classes is not None):
        classes = Labels.unknown(1, rows.classes or range(y.shape[1])).classes
    else:
        classes = classes_seen(rows.reduce(see_labels))
    ordered = np.sort(classes)
    remember_order(estimator, classes.tolist())
    shares = is_table and _hold_shares(rows, y, marks)
    if shares and not with_shares:
        warn_of_sharpening(estimator)
    as_numbers = partial(
        convert, classes=classes, ordered=ordered, is_table=is_table, mark=shares and with_shares
    )
    return TrainingRows(rows.map(as_numbers), ordered)


def padded(columns: Columns) -> Columns:
    """Features, labels, weights, and which labels are probabilities; None for what is not there.

    The last column is that of `Labels` in a stream.
    """
    if len(columns) > 4 or (len(columns) == 4 and not is_mark(columns[3])):
        raise InputError(
            "Rows should have at most three columns, features, labels and weights",
            f"have {len(columns)}",
            "leave out the others",
        )
    return (*columns, None, None, None)[:4]


def is_mark(column: Any) -> bool:
    """Whether a column says True or False of each row."""
    return np.ndim(column) == 1 and np.asarray(column).dtype == bool


def _hold_shares(rows: Rows, first: Any, marks: Any) -> bool:
    """Whether some labels of a table are probabilities; all rows are looked at if it may be."""
    if rows.has_shares is not None:
        return rows.has_shares
    if marks is not None:
        return bool(rows.reduce(_count_marks))
    if np.asarray(first).dtype == bool:
        return False
    sums = row_sums(np.asarray(first))
    if sums.otherwise and sums.otherwise >= sums.to_one:
        return False
    return holds_shares(rows.reduce(_sum_labels))


def _count_marks(columns: Columns) -> int:
    """How many rows are marked."""
    return int(np.asarray(columns[3]).sum())


def _sum_labels(columns: Columns) -> RowSums:
    """How many rows of a table of labels sum to one."""
    return row_sums(np.asarray(columns[1]))


def warn_of_sharpening(estimator: Any) -> None:
    """Say that an estimator takes probabilities for likelihoods.

    Examples
    --------
    >>> from plausible.models import SoftNearestCentroid
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_sharpening(SoftNearestCentroid())
    >>> caught[0].category.__name__
    'SharpenedLabelsWarning'
    """
    warnings.warn(
        "Labels that are probabilities should be learned as shares, but "
        f"{type(estimator).__name__} takes them for likelihoods, and will be surer than they are; "
        "give Labels.from_plausibility if that is meant, or use PartialLogisticRegression or a "
        "Gaussian classifier.",
        SharpenedLabelsWarning,
        stacklevel=3,
    )


class Seen(NamedTuple):
    """What labels of some rows name: classes with their numbers, missing labels, and sets."""

    names: "Counter[Any]"
    n_missing: int
    n_sets: int


def see_labels(columns: Columns) -> Seen:
    """Classes that are named in a chunk, which may be none."""
    y = np.ravel(padded(columns)[1])  # type: ignore[arg-type]
    if holds_sets(y):
        sets = [row for row in y if row is not None]
        names = Counter(name for row in sets for name in row)
        return Seen(names, len(y) - len(sets), len(sets))
    values, missing = find_missing(y, MISSING)
    try:
        return Seen(Counter(values[~missing].tolist()), int(missing.sum()), 0)
    except TypeError:  # what has no hash
        raise InputError(
            "Labels of a stream should be classes, sets of classes, or a number for each class",
            "some are lists or other things",
            "name each class by text or a number",
        ) from None


def classes_seen(seen: Seen) -> NDArray[Any]:
    """The classes of all chunks, in order; refused where labels in memory would be."""
    names = list(seen.names)
    if not names or (len(names) == 1 and seen.n_missing and not seen.n_sets):
        return Labels.from_crisp([*names, None], missing=MISSING).classes  # says what is wrong
    classes = np.sort(Labels.unknown(1, names).classes)
    if classes.dtype.kind == "f":
        with warnings.catch_warnings():  # of many classes: the rows of each were counted
            warnings.simplefilter("ignore", UserWarning)
            check_classification_targets(classes)
    return classes


def label_chunk(y: Any, classes: list[Any]) -> Labels:
    """Labels of one chunk, in which some or all classes may be absent."""
    y = np.ravel(y)
    if holds_sets(y):
        return Labels.from_sets(y, classes)
    return Labels.from_crisp(y, classes, missing=MISSING)


def convert(
    columns: Columns,
    classes: NDArray[Any],
    ordered: NDArray[Any],
    is_table: bool,
    mark: bool = False,
) -> Columns:
    """Raw columns of a chunk as features, plausibilities of the ordered classes, and weights.

    With `mark`, a fourth column says which labels are probabilities.
    """
    X: Any
    X, y, weight, shares = padded(columns)
    if not is_sparse(X):
        X = np.asarray(X)
        X = X if X.dtype in (np.float32, np.float64) else as_floats(X, "features")
    if y is not None and is_table:
        y = let_in(np.asarray(y, dtype=np.float64), len(classes))  # at each pass: no copy
        y = y if (classes == ordered).all() else y[:, np.argsort(classes)]
    elif y is not None:
        y = as_labels(label_chunk(y, classes.tolist()), ordered.tolist()).contour
    if weight is not None:
        weight = check_weights(np.ravel(weight), X.shape[0])
    if not mark:
        return X, y, weight
    assert y is not None
    marks = row_any(y < 1.0) if shares is None else shares  # a row of ones is unknown
    return X, y, weight, np.asarray(marks & (row_sum(y > 0) > 1))
