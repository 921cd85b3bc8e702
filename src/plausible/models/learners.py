"""Any classifier of scikit-learn, fitted to labels.

An estimator of this library learns from labels as they are. Any other learns from the most
plausible class of each row, with the weight by which it is more plausible than the next one; rows
in which several classes are most plausible are left out.
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
    y: Any = labels
    if takes_labels(estimator):
        kept, given = weight > 0.0, weight
    else:
        given = weight * margin(labels.contour)
        y, kept = labels.classes[labels.contour.argmax(axis=1)], given > 0.0
        if not kept.any():
            raise InputError(
                "At least one row should favor a class",
                "all labels are unknown or have zero sample weight",
                "label some items",
            )
    weights = weighting(estimator, given[kept])
    return clone(estimator).fit(take_rows(X, kept), y[kept], **weights)


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
