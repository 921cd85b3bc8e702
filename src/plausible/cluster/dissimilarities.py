"""Tables of dissimilarities: what they should be, and what is made of features.

A dissimilarity is zero for an item with itself, not negative, and the same both ways. It need not
be a metric: the way over a third item may be shorter.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.checks import counted, found, name_rows, shown
from plausible.errors import InputError

FloatArray = NDArray[np.float64]

ROUNDING = 1e-6  # of the largest dissimilarity; what both ways may differ by


def check_square(D: FloatArray) -> FloatArray:
    """Dissimilarities (n, n) between all items, exactly symmetric, or why they are none."""
    if D.shape[0] != D.shape[1]:
        raise InputError(
            "X should be a square table of dissimilarities where metric='precomputed'",
            f"it has shape {D.shape}",
            "give the dissimilarities between all items, or choose another metric for features",
            parameter="X",
        )
    check_not_negative(D)
    slack = ROUNDING * float(D.max(initial=0.0))
    own = np.diagonal(D) > slack
    if own.any():
        raise InputError(
            "The dissimilarity of an item with itself should be 0",
            found(np.diagonal(D), own, own),
            "turn similarities into dissimilarities first, such as 1 - X",
            parameter="X",
            rows=own,
        )
    uneven = np.abs(D - D.T) > slack
    if uneven.any():
        i, j = (int(k) for k in np.argwhere(uneven)[0])
        raise InputError(
            "Dissimilarities should be the same both ways",
            f"that from item {i} to {j} is {D[i, j]:.6g} and back {D[j, i]:.6g} "
            f"({counted(int(uneven.sum()) // 2, 'uneven pair')})",
            "take the mean of both ways, (X + X.T) / 2",
            parameter="X",
            rows=uneven.any(axis=1),
        )
    even = 0.5 * (D + D.T)
    np.fill_diagonal(even, 0.0)
    return even


def check_not_negative(D: FloatArray) -> None:
    """Refuse negative dissimilarities."""
    negative = D < 0.0
    if negative.any():
        rows = negative.any(axis=1)
        raise InputError(
            "Dissimilarities should not be negative",
            f"values such as {D[negative][0]:.6g} were found in {name_rows(rows)}",
            "add a constant to all but the diagonal, or check that they are no similarities",
            parameter="X",
            rows=rows,
        )


def is_given(metric: Any) -> bool:
    """Whether dissimilarities are given instead of features."""
    return isinstance(metric, str) and metric == "precomputed"


def check_metric(metric: Any, metric_params: Any) -> None:
    """Refuse what no dissimilarity can be computed with; scikit-learn knows the names."""
    if not (isinstance(metric, str) or callable(metric)):
        raise InputError(
            "metric should be the name of a metric, a function of two rows, or 'precomputed'",
            f"{shown(metric)} was given",
            "use 'euclidean'",
            parameter="metric",
            value=metric,
        )
    if not (metric_params is None or isinstance(metric_params, dict)):
        raise InputError(
            "metric_params should be a dictionary of parameters of the metric, or None",
            f"{shown(metric_params)} was given",
            "leave it out",
            parameter="metric_params",
            value=metric_params,
        )
