"""What annotations are made of, refused where it does not fit together."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from plausible.belief import can_be_looked_up, check_unit_interval
from plausible.checks import as_array, shown
from plausible.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def check_names(names: Any, what: str) -> NDArray[Any]:
    """A column of names, each of which can be looked up."""
    column = as_array(names, what)
    if column.ndim != 1 or column.dtype.kind not in "biufUSO":
        raise InputError(
            f"{what} should be a list of names",
            f"{shown(names)} was given",
            "name each by text or a number",
            value=names,
        )
    if column.dtype == object and not all(map(can_be_looked_up, column.tolist())):
        raise InputError(
            f"{what} should be a list of names",
            "some are lists or sets",
            "name each by text or a number",
        )
    return column


def check_codes(codes: Any, n_names: int, n_answers: int | None, what: str) -> IntArray:
    """Places of the answers in a list of `n_names`."""
    places = as_array(codes, what)
    if places.size == 0 and places.ndim == 1:
        places = places.astype(np.int64)
    right = places.ndim == 1 and places.dtype.kind in "iu" and n_answers in (None, len(places))
    if not right or not _are_below(places, n_names):
        count = "each answer" if n_answers is None else f"each of the {n_answers} answers"
        raise InputError(
            f"{what} should be a whole number from 0 to {n_names - 1} for {count}",
            f"{shown(codes)} was given",
            "use Annotations.from_long, which counts for you",
            value=codes,
        )
    return places


def _are_below(places: NDArray[Any], n_names: int) -> bool:
    """Whether whole numbers are from 0 to `n_names` - 1; one look at the usual ones tells."""
    if not places.size:
        return True
    if places.dtype == np.int64:
        return bool(places.view(np.uint64).max() < n_names)  # negative ones are the largest
    return bool(places.min() >= 0 and places.max() < n_names)


def check_contours(rows: csr_array, n_classes: int) -> csr_array:
    """Plausibilities (S, K) of the classes by each statement, as sparse rows."""
    if rows.ndim != 2 or rows.shape[1] != n_classes:
        raise InputError(
            "contours should have a row for each statement and a column for each of the "
            f"{n_classes} classes",
            f"have shape {rows.shape}",
            "use Annotations.from_classes",
            parameter="contours",
            value=rows.shape,
        )
    check_unit_interval(rows.data, "contours", last_axis_is_row=False)
    return rows


def check_is_bayesian(is_bayesian: Any, n_statements: int) -> NDArray[np.bool_]:
    """Which statements are probabilities; none if that is left out."""
    given = as_array(is_bayesian, "is_bayesian")
    if given.size == 0:
        return np.zeros(n_statements, dtype=bool)
    if given.shape != (n_statements,) or given.dtype != bool:
        raise InputError(
            f"is_bayesian should be True or False for each of the {n_statements} statements",
            f"{shown(is_bayesian)} was given",
            "leave it out if none are probabilities",
            parameter="is_bayesian",
            value=is_bayesian,
        )
    return given
