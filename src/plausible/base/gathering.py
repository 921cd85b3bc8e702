"""Rows brought into memory chunk by chunk, for what cannot be learned from sums over rows.

Nothing is held twice: the columns are made once, in the precision of the first chunk, and filled.
How much they will take is known before anything is read, and refused beyond half of the memory.
"""

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.base.class_order import order_of_labels
from plausible.base.elsewhere import with_names
from plausible.base.training import training_rows
from plausible.engine import Columns, Rows, is_sparse
from plausible.errors import InputError
from plausible.labels import Labels

SHARE_OF_MEMORY = 0.5


class Gathered(NamedTuple):
    """Features, labels and weights (or None) in memory, as `fit` takes them."""

    X: Any
    labels: Labels
    weight: NDArray[np.float64] | None


def gather(estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Gathered:
    """What rows or Dask collections hold, in memory; float32 features stay so.

    Examples
    --------
    >>> from plausible.engine import StreamRows
    >>> from plausible.models import SoftNearestCentroid
    >>> rows = StreamRows([([[1.0], [2.0]], ["b", "a"]), ([[3.0]], ["b"])])
    >>> gathered = gather(SoftNearestCentroid(), rows)
    >>> gathered.X.ravel(), gathered.labels.crisp()
    (array([1., 2., 3.]), array(['b', 'a', 'b'], dtype='<U1'))
    """
    rows, classes = training_rows(estimator, X, y, sample_weight, with_shares=True)
    check_room(rows, type(estimator).__name__)
    data, contour, weight, *marks = fill(rows)
    assert contour is not None
    labels = Labels(contour, classes, is_probability=marks[0] if marks else None)
    ordered = labels.reorder(order_of_labels(estimator) or classes.tolist())
    return Gathered(with_names(estimator, data), ordered, weight)


def memory() -> int:
    """Bytes of memory of this machine; where it does not say, 8 GB."""
    try:
        return int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return 1 << 33


def check_room(rows: Rows, name: str) -> None:
    """Refuse rows that would take more than their share of the memory, before they are read."""
    n_rows, first = rows.n_rows, rows.peek()
    known = [column for column in first if column is not None and not is_sparse(column)]
    taken = n_rows * sum(column[:1].nbytes for column in known)
    most = SHARE_OF_MEMORY * memory()
    if taken > most:
        raise InputError(
            f"{name} keeps all of its training items, which should take at most "
            f"{most / 2**30:.1f} GB, half of the memory",
            f"{n_rows} rows take {taken / 2**30:.1f} GB",
            "give a sample of the rows, float32 features, or use PartialLogisticRegression, which "
            "learns from rows of any number",
        )


def fill(rows: Rows) -> Columns:
    """All columns of rows, in memory."""
    if any(is_sparse(column) for column in rows.peek()):
        from scipy.sparse import vstack

        parts = list(zip(*rows.chunks(), strict=True))
        return tuple(
            None
            if part[0] is None
            else vstack(part, format="csr")
            if is_sparse(part[0])
            else np.concatenate(part)
            for part in parts
        )
    n_rows, start = rows.n_rows, 0
    columns: list[Any] = []
    for chunk in rows.chunks():
        columns = columns or [
            None if column is None else np.empty((n_rows, *column.shape[1:]), column.dtype)
            for column in chunk
        ]
        for number, column in enumerate(chunk):
            if column is None:
                continue
            wider = np.result_type(columns[number].dtype, column.dtype)
            if wider != columns[number].dtype:  # a later chunk is of higher precision
                columns[number] = columns[number].astype(wider)
            columns[number][start : start + len(column)] = column
        start += next(len(column) for column in chunk if column is not None)
    return tuple(columns)
