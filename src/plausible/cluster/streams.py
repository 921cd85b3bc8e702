"""ECM of rows that are not in memory: its updates are sums over items, chunk by chunk."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.base import is_dask, names_of_columns
from plausible.checks import as_floats
from plausible.cluster.kernels import Focal, Prototypes, Sums, lifted, summarize
from plausible.engine import Columns, DaskRows, Rows
from plausible.errors import InputError

FloatArray = NDArray[np.float64]

SAMPLE = 10_000  # rows among which starts are drawn


def is_stream(X: Any) -> bool:
    """Whether items come as rows of the engine or as a Dask collection."""
    return isinstance(X, Rows) or is_dask(X)


def as_rows(X: Any) -> Rows:
    """Rows of the engine, whose first column is features."""
    if isinstance(X, Rows):
        return X
    rows = DaskRows(X)
    rows.feature_names = names_of_columns(X)
    return rows


class Moments(NamedTuple):
    """Number of items, sums of features and of their squares."""

    n_items: int
    sums: FloatArray
    squares: FloatArray


def features_of(columns: Columns) -> FloatArray:
    """Features of a chunk, refused if numbers are missing."""
    X = as_floats(columns[0], "features")  # type: ignore[arg-type]
    if X.ndim != 2 or not np.isfinite(X).all():
        raise InputError(
            "The first column of the rows should be features (n, d) without missing entries",
            f"a chunk has shape {X.shape}" if X.ndim != 2 else "NaN or infinity was found",
            "fill missing entries, or leave these rows out",
            parameter="X",
        )
    return X


def moments_of(columns: Columns, near: FloatArray) -> Moments:
    """Moments of a chunk around a point near to the items."""
    X = features_of(columns) - near
    return Moments(len(X), X.sum(axis=0), (X**2).sum(axis=0))


def summarize_stream(
    columns: Columns, starts: list[Prototypes], focal: Focal, middle: FloatArray
) -> list[Sums]:
    """Sums of a chunk for each start."""
    rows = lifted(features_of(columns) - middle, None, None)
    return [summarize(rows, None, prototypes, focal) for prototypes in starts]


class Overview(NamedTuple):
    """What one pass tells about rows: their number, mean and total variance."""

    n_items: int
    middle: FloatArray
    variance: float


def look_over(rows: Rows) -> Overview:
    """Number, mean and variance of the items."""
    near = features_of(rows.peek())[0]
    count, sums, squares = rows.reduce(partial(moments_of, near=near))
    mean = sums / count
    return Overview(int(count), near + mean, float(np.maximum(squares / count - mean**2, 0).sum()))
