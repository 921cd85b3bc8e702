"""The door through which every estimator takes features: scikit-learn's checks, in plain words.

scikit-learn says clearly what is wrong with most features. Where it would let errors of numpy pass
(text, categories, dates, two columns of one name), the columns are named, and what to do.
"""

from numbers import Number
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from plausible.checks import as_array, as_list, shown
from plausible.errors import InputError

ENCODE = (
    "encode it as numbers, with sklearn.preprocessing.OneHotEncoder for categories, or leave it out"
)


def check_features(estimator: Any, X: Any, **options: Any) -> Any:
    """Features as `sklearn.utils.validation.validate_data` gives them, or why they cannot be used.

    Examples
    --------
    >>> from plausible.models import SoftNearestCentroid
    >>> check_features(SoftNearestCentroid(), [[1, 2], [3, 4]], dtype=float)
    array([[1., 2.],
           [3., 4.]])
    >>> check_features(SoftNearestCentroid(), [[1, "red"], [3, "blue"]], dtype=float)
    Traceback (most recent call last):
    ValueError: X should hold numbers, but column 1 holds text such as 'red' (could not convert
    string to float: 'red'); encode it as numbers, with sklearn.preprocessing.OneHotEncoder for
    categories, or leave it out.
    """
    try:
        return validate_data(estimator, X, **options)
    except Exception as error:
        clearer = explained(X, error)
        if clearer is None:
            raise
        raise clearer from None


def count_rows(X: Any) -> int:
    """Number of rows of features of any kind, before they are checked.

    Examples
    --------
    >>> count_rows([[1.0], [2.0]])
    2
    """
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple):
        shape = as_array(X, "X").shape
    if not shape:
        raise InputError(
            "X should be a table (n, d) of numbers",
            f"is {shown(X)}",
            "give an array or a data frame",
            parameter="X",
            value=X,
        )
    return int(shape[0])


def explained(X: Any, error: Exception) -> Exception | None:
    """An error that says why features cannot be used; None if scikit-learn said it well."""
    reason = str(error).split("\n")[0].rstrip(".")[:200]
    fault = fault_of_names(X) or fault_of_entries(X)
    if fault is None:
        return None
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"X should {fault[0]} ({reason}); {fault[1]}.")


def fault_of_names(X: Any) -> tuple[str, str] | None:
    """What is wrong with the names of the columns of a data frame, and what to do."""
    if not hasattr(X, "columns"):
        return None
    if not hasattr(X, "shape"):
        return f"be a table in memory, but is a {type(X).__name__}", "collect it first"
    names = as_list(X.columns, "columns", "names")
    repeated = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if repeated is None:
        return None
    return (
        f"have columns of different names, but {shown(repeated)} is repeated",
        "rename one of them",
    )


def fault_of_entries(X: Any) -> tuple[str, str] | None:
    """What is wrong with the entries, and what to do; None if they are numbers, as they should."""
    if hasattr(X, "tocsr"):
        return None
    if hasattr(X, "columns") and 0 in X.shape:
        return "have rows and columns, but is an empty data frame", "check how it was read"
    try:
        table = np.asarray(X)
    except Exception:
        return (
            f"be a table (n, d) of numbers with rows of equal length, but is {shown(X)}",
            "give an array or a data frame",
        )
    if table.dtype.kind in "biuf" or (table.dtype.kind == "c" and table.ndim):
        return None
    if table.ndim != 2 or not table.size:
        return (
            f"be a table (n, d) of numbers, but is {shown(X)}",
            "give an array or a data frame",
        )
    return fault_of_column(table, X)


def fault_of_column(table: Any, X: Any) -> tuple[str, str] | None:
    """The first column that holds other things than numbers, and what to do."""
    names = list(X.columns) if hasattr(X, "columns") else range(table.shape[1])
    for name, column in zip(names, table.T, strict=True):
        for entry in column.tolist() if column.dtype.kind in "OSUmM" else [column[0]]:
            if entry is None or type(entry).__name__ == "NAType":
                return (
                    f"hold numbers, but column {shown(name)} has missing entries",
                    "fill them, with sklearn.impute.SimpleImputer, or leave these rows out",
                )
            if not is_number(entry):
                what = "text such as " if isinstance(entry, str) else ""
                return f"hold numbers, but column {shown(name)} holds {what}{shown(entry)}", ENCODE
    return None


def is_number(entry: Any) -> bool:
    """Whether an entry is a number, or text of one, as numpy would read it."""
    try:
        float(entry)
    except Exception:  # also a whole number beyond all floats
        return False
    return isinstance(entry, Number | str | bytes)
