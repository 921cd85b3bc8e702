"""Any classifier of scikit-learn, fitted to labels.

An estimator of this library learns from labels as they are. Any other learns from the most
plausible class of each row, with the weight by which it is more plausible than the next one; rows
in which several classes are most plausible are left out. Labels that are probabilities become rows
of each class with these weights, if the learner takes weights.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from plausible.base import check_features, takes_labels
from plausible.errors import InputError
from plausible.labels import Labels

FloatArray = NDArray[np.float64]


def weighting(estimator: Any, weight: FloatArray) -> dict[str, FloatArray]:
    """Sample weights as a parameter of fit; none for equal ones or where they are not taken."""
    if (weight == 1.0).all():
        return {}
    if isinstance(estimator, Pipeline):
        inner = weighting(estimator[-1], weight)
        return {f"{estimator.steps[-1][0]}__{name}": given for name, given in inner.items()}
    return {"sample_weight": weight} if has_fit_parameter(estimator, "sample_weight") else {}


def take_rows(X: Any, rows: NDArray[Any]) -> Any:
    """Rows of an array, a sparse matrix or a data frame, by numbers or a mask."""
    numbers = np.flatnonzero(rows) if rows.dtype == bool else rows
    return X.iloc[numbers] if hasattr(X, "iloc") else X[numbers]


def margin(contour: FloatArray) -> FloatArray:
    """By how much the most plausible class of each row exceeds the next one, relative to it."""
    if contour.shape[1] == 1:
        return np.ones(len(contour))
    ranked = np.sort(contour, axis=1)
    return 1.0 - ranked[:, -2] / ranked[:, -1]


def fit_learner(estimator: Any, X: Any, labels: Labels, weight: FloatArray) -> Any:
    """Fit a copy of the estimator to the rows that have weight."""
    if takes_labels(estimator):
        kept = weight > 0.0
        weights = weighting(estimator, weight[kept])
        return clone(estimator).fit(take_rows(X, kept), labels[kept], **weights)
    rows, codes, given = hard_rows(labels, weight, _takes_weights(estimator))
    if not len(rows):
        raise InputError(
            "At least one row should favor a class",
            "all labels are unknown or have zero sample weight",
            "label some items",
        )
    y = labels.classes[codes]
    return clone(estimator).fit(take_rows(X, rows), y, **weighting(estimator, given))


def _takes_weights(estimator: Any) -> bool:
    """Whether sample weights reach the estimator."""
    if isinstance(estimator, Pipeline):
        return _takes_weights(estimator[-1])
    return bool(has_fit_parameter(estimator, "sample_weight"))


def hard_rows(
    labels: Labels, weight: FloatArray, split: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """Which rows, with which class and weight, stand for labels; some of them several times.

    `split` says whether those that are probabilities are split over the classes.
    """
    given = weight * margin(labels.contour)
    shares = labels.is_probability & split
    rows = np.flatnonzero((given > 0.0) & ~shares)
    parts = [(rows, labels.contour[rows].argmax(axis=1), given[rows])]
    if shares.any():
        own = np.flatnonzero(shares)
        p = labels.contour[own] * (weight[own] / labels.contour[own].sum(axis=1))[:, None]
        row, column = np.nonzero(p)
        parts.append((own[row], column, p[row, column]))
    rows, codes, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(rows, kind="stable")
    return rows[order], codes[order], weights[order]


def read_features(estimator: Any, X: Any, reset: bool = True) -> Any:
    """Features, checked as far as the tags of an estimator around others ask for it."""
    if hasattr(X, "columns"):  # frames stay frames: an inner estimator may choose by name
        check_features(estimator, X, reset=reset, skip_check_array=True)
        return X
    tags = get_tags(estimator).input_tags
    return check_features(
        estimator,
        X,
        reset=reset,
        dtype=(np.float64, np.float32),
        accept_sparse="csr" if tags.sparse else False,
        ensure_all_finite="allow-nan" if tags.allow_nan else True,
    )
