"""From log evidence to probabilities, wherever items lie."""

import warnings

import numpy as np
from numpy.typing import NDArray

from plausible.base.warnings import FarPointWarning
from plausible.checks import name_rows
from plausible.short_rows import row_any, row_max, row_sum

FloatArray = NDArray[np.float64]


def relative(logs: FloatArray) -> FloatArray:
    """Logs (n, K) less the largest of their row: nothing is lost where all are huge and alike.

    Examples
    --------
    >>> relative(np.array([[-1e30, -1e30], [1.0, 3.0]]))
    array([[ 0.,  0.],
           [-2.,  0.]])
    """
    with np.errstate(over="ignore"):
        return logs - row_max(logs)[:, None]


def normalized(logs: FloatArray) -> FloatArray:
    """Probabilities (n, K) whose logs are given up to a constant for each row.

    Examples
    --------
    >>> normalized(np.array([[-1e30, -1e30], [-np.inf, 7.0]]))
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    odds = np.exp(relative(logs))
    return odds / row_sum(odds)[:, None]


def log_normalized(logs: FloatArray) -> FloatArray:
    """Logarithms of `normalized`.

    Examples
    --------
    >>> log_normalized(np.log([[3.0, 1.0]])).round(4)
    array([[-0.2877, -1.3863]])
    """
    gaps = relative(logs)
    return gaps - np.log(row_sum(np.exp(gaps))[:, None])


def within_numbers(evidence: FloatArray, learned: NDArray[np.bool_]) -> FloatArray:
    """Evidence (n, K), finite for the classes that were learned and -inf for the others.

    What overflowed becomes nearly the lowest or highest of numbers, so that rows of which nothing
    else is left find all these classes alike.

    Examples
    --------
    >>> bool(within_numbers(np.array([[-np.inf, 1.0]]), np.array([True, True]))[0, 0] < -1e300)
    True
    """
    if np.isfinite(evidence).all():
        return evidence
    known = evidence[:, learned]
    lost = row_any(np.isnan(known)) | (row_max(known) == -np.inf)
    lost |= row_sum(known == np.inf) > 1
    if lost.any():
        warnings.warn(
            "Items should lie where numbers can tell the classes apart, but evidence overflows in "
            f"{name_rows(lost)}, where all classes count as equally likely; scale the features.",
            FarPointWarning,
            stacklevel=6,
        )
    most = np.finfo(evidence.dtype).max / 16
    finite = np.where(lost[:, None], -most, np.clip(evidence, -most, most))
    return np.where(learned, finite, -np.inf).astype(evidence.dtype, copy=False)
