"""Features, assessments, weights and labels of a fit as rows, wherever they are."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from plausible.base import check_features, check_weights, is_dask, is_mark, remember_features
from plausible.engine import ArrayRows, Rows
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models.supervision.assessments import (
    Reader,
    check_names,
    check_rows,
    names_of,
    read_assessments,
)

if TYPE_CHECKING:
    from plausible.models.supervision.classifier import StochasticSupervisionClassifier


def assessed_rows(
    model: "StochasticSupervisionClassifier",
    X: Any,
    Z: Any,
    labels: Any,
    sample_weight: ArrayLike | None,
    classes: Sequence[Any] | None,
) -> tuple[Rows, list[Any]]:
    """Rows of (features and assessments, plausibilities, weights), and the names of classes."""
    if is_dask(X):
        from plausible.models.supervision.elsewhere import rows_of_dask

        X = rows_of_dask(X, Z, labels, sample_weight, classes, model.scale)
        Z = labels = sample_weight = None
    if isinstance(X, Rows):
        if not (Z is None and labels is None and sample_weight is None):
            raise InputError(
                "Rows should hold assessments, weights and labels as their further columns",
                "some were given beside them",
                "put them into the rows",
            )
        return _from_rows(model, X, classes)
    if Z is None:
        raise InputError(
            "StochasticSupervisionClassifier requires y to be passed",
            "the target y is None",
            "give an expert's probabilities, (n,) or (n, J)",
        )
    data = check_features(model, X, dtype=np.float64)
    check_rows(len(data), Z, "assessments")
    if labels is not None:
        check_rows(len(data), labels, "labels")
    weight = None if sample_weight is None else check_weights(sample_weight, len(data))
    n_classes = read_assessments(Z, model.scale, model.saturated).n_classes
    if classes is None:
        known = next((given for given in (Z, labels) if isinstance(given, Labels)), None)
        classes = names_of(Z) if known is None else known.classes.tolist()
    names = check_names(classes, n_classes)
    return ArrayRows(*model._reader(names)((data, Z, weight, labels))), names


def _from_rows(
    model: "StochasticSupervisionClassifier", rows: Rows, classes: Sequence[Any] | None
) -> tuple[Rows, list[Any]]:
    """The same of rows of features and assessments, in a stream or on a cluster."""
    first: Any = rows.peek()
    if len(first) < 2 or first[1] is None:
        raise InputError(
            "Rows should hold features and assessments",
            "have no second column",
            "give tuples (features, assessments) or (features, assessments, weights, labels)",
        )
    remember_features(model, rows.feature_names, np.shape(first[0])[1])
    classes = rows.classes if classes is None else classes
    if rows.classes is not None and len(first) == 4 and is_mark(first[3]):
        names = check_names(classes, len(rows.classes))
        read = partial(_read_labeled, names=names, read=model._reader(names))
        return rows.map(read).kept(), names
    names = check_names(classes, read_assessments(first[1], model.scale, model.saturated).n_classes)
    return rows.map(model._reader(names)).kept(), names


def _read_labeled(columns: Any, names: list[Any], read: Reader) -> Any:
    """Rows whose assessments came as Labels, with marks of those that are probabilities."""
    X, contour, weight, marks = columns
    return read((X, Labels(contour, names, is_probability=marks), weight, None))
