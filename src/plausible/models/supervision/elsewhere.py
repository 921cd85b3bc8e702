"""Features, assessments and labels of Dask as rows: arrays, in the order of the classes."""

from collections.abc import Sequence
from typing import Any

from plausible.base import names_of_columns
from plausible.engine import DaskRows
from plausible.errors import InputError
from plausible.labels import Labels, as_labels
from plausible.models.supervision.assessments import names_of, probabilities_of


def rows_of_dask(
    X: Any, Z: Any, labels: Any, weight: Any, classes: Sequence[Any] | None, scale: str
) -> DaskRows:
    """Rows of a Dask collection; assessments and labels that know their classes may be in memory.

    Columns of what has names are put into the order of `classes`, or of the assessments.
    """
    told = names_of(Z) if scale == "probability" else None
    known = next((given for given in (Z, labels) if isinstance(given, Labels)), None)
    if classes is None:
        classes = told if known is None else known.classes.tolist()
    if isinstance(Z, Labels):
        Z = probabilities_of(as_labels(Z, classes=classes))
    elif told is not None:
        Z = _in_order(Z, classes, "assessments")
    if names_of(labels) is not None and classes is not None and hasattr(labels, "dask"):
        labels = _in_order(labels, classes, "labels")
    elif labels is not None and classes is not None and not hasattr(labels, "dask"):
        labels = as_labels(labels, classes=list(classes)).contour
    rows = DaskRows(X, Z, weight, labels)
    rows.classes, rows.feature_names = classes, names_of_columns(X)
    return rows


def _in_order(table: Any, classes: Any, what: str) -> Any:
    """The columns of a data frame in the order of the classes."""
    names = list(classes)
    if set(table.columns) != set(names):
        raise InputError(
            f"Columns of {what} should be the classes {names}",
            f"are {list(table.columns)}",
            "rename them, or give an array",
        )
    return table[names]
