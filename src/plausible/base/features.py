"""The door through which every estimator takes features: scikit-learn's checks, in plain words.

scikit-learn says clearly what is wrong with most features. Where it would let errors of numpy pass
(text, categories, dates, two columns of one name), the columns are named, and what to do.
"""

from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from plausible.base.named import NamedArray
from plausible.checks import as_array, as_list, shown
from plausible.errors import InputError

ENCODE = (
    "encode it as numbers, with plausible.models.FeaturePreparation or "
    "sklearn.preprocessing.OneHotEncoder before the model in a pipeline, or leave it out"
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
    string to float: 'red'); encode it as numbers, with plausible.models.FeaturePreparation or
    sklearn.preprocessing.OneHotEncoder before the model in a pipeline, or leave it out.
    """
    try:
        if not options.get("skip_check_array"):
            X = _plainer(X, bool(options.get("accept_sparse")))
        if isinstance(X, NamedArray) and X.names:
            return _validate_named(estimator, X, **options)
        _check_numbered(estimator, X, options.get("reset", True))
        return validate_data(estimator, X, **options)
    except FeatureNameError:
        raise
    except Exception as error:
        clearer = explained(X, error)
        if clearer is None:
            raise
        raise clearer from None


class FeatureNameError(ValueError):
    """The columns of features are not those that a model has learned, or stand in another order."""


def _validate_named(estimator: Any, X: NamedArray, reset: bool = True, **options: Any) -> Any:
    """The same for an array with names: they are kept in `fit`, and compared afterwards.

    scikit-learn does so for data frames; an array of ours is no more than an array to it.
    """
    if reset:
        data = validate_data(estimator, np.asarray(X), **options)
        estimator.feature_names_in_ = np.array(X.names, dtype=object)
        return data
    learned = getattr(estimator, "feature_names_in_", None)
    if learned is None:
        return validate_data(estimator, np.asarray(X), reset=False, **options)
    check_names(list(learned), X.names, type(estimator).__name__)
    if options.pop("skip_check_array", False):
        return X
    return check_array(np.asarray(X), input_name="X", estimator=estimator, **options)


def _plainer(X: Any, may_be_sparse: bool) -> Any:
    """Features without what numpy would forget, or read in another way than they are meant."""
    if not may_be_sparse and _is_sparse_frame(X):
        X = X.sparse.to_dense()
    if np.ma.isMaskedArray(X):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    _check_no_times(X)
    return X


def _kinds_of_columns(X: Any) -> list[Any]:
    """The types of the columns of a data frame of pandas; none of anything else."""
    kinds: Any = getattr(X, "dtypes", None)
    return list(kinds) if hasattr(X, "columns") and hasattr(kinds, "__len__") else []


def _is_sparse_frame(X: Any) -> bool:
    """Whether all columns of a data frame of pandas are sparse."""
    kinds = _kinds_of_columns(X) if hasattr(X, "sparse") else []
    return bool(kinds) and all(type(kind).__name__ == "SparseDtype" for kind in kinds)


def _check_no_times(X: Any) -> None:
    """Refuse dates and durations, which numpy counts in whatever unit they have."""
    kinds = _kinds_of_columns(X) or [getattr(X, "dtype", None)]
    has_times = any(str(getattr(kind, "kind", "-")) in "mM" for kind in kinds)
    if has_times and hasattr(X, "shape") and len(X.shape) == 2:
        raise TypeError("dates and durations have units")


def _check_numbered(estimator: Any, X: Any, reset: bool) -> None:
    """Remember or compare columns that are named by numbers or tuples, which scikit-learn forgets.

    Those that a data frame has by default are their places.
    """
    names = list(getattr(X, "columns", ())) if hasattr(X, "shape") else []
    is_text = any(isinstance(name, str) for name in names)
    if reset:
        vars(estimator).pop("_columns_in", None)
        if names and not is_text and names != list(range(len(names))):
            estimator._columns_in = [n if isinstance(n, int) else str(n) for n in names]
        return
    learned = getattr(estimator, "_columns_in", list(range(len(names))))
    came = [n if isinstance(n, int) else str(n) for n in names]
    if (
        names
        and not is_text
        and came != learned
        and sorted(map(str, came)) == sorted(map(str, learned))
    ):
        raise FeatureNameError(
            f"X should have its columns in the order in which the {type(estimator).__name__} has "
            f"learned them ({shown(learned, 200)}), but has them in another order "
            f"({shown(came, 200)}); put them into that order."
        )


SELECT = "write X.select(model.feature_names_in_)"


def check_names(learned: list[str], names: list[str], model: str, remedy: str = SELECT) -> None:
    """Refuse features that are not those of a model, or stand in another order."""
    if names == learned:
        return
    lost = [name for name in learned if name not in names]
    more = [name for name in names if name not in learned]
    came = " and ".join(
        f"{verb} {', '.join(map(repr, some[:5]))}{', ...' if len(some) > 5 else ''}"
        for verb, some in (("lacks", lost), ("has also", more))
        if some
    )
    raise FeatureNameError(
        f"X should have the features that the {model} has learned, in their order "
        f"({shown(learned, 200)}), but {came or 'has them in another order'}; "
        f"{'add the columns' if lost else remedy}, or read "
        "them with plausible.io.read_new(source, names)."
    )


def remember_features(estimator: Any, names: Sequence[str] | None, n_features: int) -> None:
    """Keep the number of features that are not in memory, and their names where these are known.

    Examples
    --------
    >>> from plausible.models import SoftNearestCentroid
    >>> model = SoftNearestCentroid()
    >>> remember_features(model, ["length", "width"], 2)
    >>> model.feature_names_in_
    array(['length', 'width'], dtype=object)
    """
    estimator.n_features_in_ = n_features
    vars(estimator).pop("feature_names_in_", None)  # of features that were fitted before
    if names is not None and len(names) == n_features:
        estimator.feature_names_in_ = np.array(names, dtype=object)


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
    fault = _fault_of_names(X) or _fault_of_entries(X)
    if fault is None:
        return None
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"X should {fault[0]} ({reason}); {fault[1]}.")


def _fault_of_names(X: Any) -> tuple[str, str] | None:
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


def _fault_of_entries(X: Any) -> tuple[str, str] | None:
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
    if table.ndim == 2 and table.shape[1] == 0 < len(table):
        return "have columns, but has none", "see which ones were left out, and why"
    if table.dtype.kind in "biuf" or (table.dtype.kind == "c" and table.ndim):
        return None
    if table.ndim != 2 or not table.size:
        return (
            f"be a table (n, d) of numbers, but is {shown(X)}",
            "give an array or a data frame",
        )
    return _fault_of_column(table, X)


def _fault_of_column(table: Any, X: Any) -> tuple[str, str] | None:
    """The first column that holds other things than numbers, and what to do."""
    names = list(X.columns) if hasattr(X, "columns") else range(table.shape[1])
    for name, column in zip(names, table.T, strict=True):
        for entry in column.tolist() if column.dtype.kind in "OSU" else [column[0]]:
            if entry is None or type(entry).__name__ == "NAType":
                return (
                    f"hold numbers, but column {shown(name)} has missing entries",
                    "fill them, with plausible.models.FeaturePreparation or "
                    "sklearn.impute.SimpleImputer, or leave these rows out",
                )
            if hasattr(entry, "total_seconds") or type(entry) is np.timedelta64:
                return (
                    f"hold numbers, but column {shown(name)} holds durations",
                    "turn them into seconds, with column.dt.total_seconds() in pandas, or prepare "
                    "them with plausible.models.FeaturePreparation",
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
