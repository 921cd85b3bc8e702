r"""Labels that are probabilities, in the criterion of a Gaussian mixture.

Such a label is a share of each class, and adds

.. math:: w_i \sum_k p_{ik} \log \pi_k f_k(x_i)

to the criterion, what rows of each class with the weights :math:`w_i p_{ik}` would. So every sum
over rows is taken over them: no kernel needs to know.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from plausible.engine import Columns, length, take, total
from plausible.short_rows import row_sum


def split_shares(columns: Columns) -> Iterator[Columns]:
    """Features, plausibilities and weights: first of rows with other labels, then class by class.

    The fourth column says which labels are probabilities; without one, the columns are as they
    were.
    """
    marks = None if len(columns) < 4 else columns[3]
    if marks is None or not marks.any():
        yield columns[:3]
        return
    if not marks.all():
        yield take(columns[:3], np.flatnonzero(~marks))
    X, table, weight = take(columns[:3], np.flatnonzero(marks))
    assert X is not None
    assert table is not None
    p = np.asarray(table, dtype=np.float64)
    p = p / row_sum(p)[:, None]
    p = p if weight is None else p * weight[:, None]
    hard = np.eye(p.shape[1])
    for k in range(p.shape[1]):
        rows = np.flatnonzero(p[:, k] > 0)
        if len(rows):
            label = np.broadcast_to(hard[k], (len(rows), len(hard)))
            yield X[rows], np.ascontiguousarray(label), p[rows, k]


def sum_over_shares(columns: Columns, summary: Callable[..., Any], *parameters: Any) -> Any:
    """An additive summary of rows, of which some have labels that are probabilities."""
    if not length(columns):
        return summary(columns[:3], *parameters)
    return total(summary(part, *parameters) for part in split_shares(columns))
