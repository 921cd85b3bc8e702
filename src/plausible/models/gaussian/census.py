"""First look at the rows of a Gaussian mixture: how many of which kind, and where they lie."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.checks import name_rows
from plausible.engine import Columns, Rows, is_sparse
from plausible.errors import InputError
from plausible.models.gaussian import e_step
from plausible.models.gaussian.parameters import FloatArray
from plausible.short_rows import row_all, row_any, row_sum, rows_alike

LEFT_OUT = -1


class RowCensus(NamedTuple):
    """What the first look finds: how many rows, how many settled, their weight, center and spread.

    `support` is the weight of the rows for which each class is plausible; `kinds` are the weights
    of rows with and without a label, and the numbers of both that have some weight.
    """

    n_rows: int
    n_settled: int
    support: FloatArray
    weight: float
    center: FloatArray
    spread: FloatArray
    kinds: FloatArray


def unlabeled(columns: Columns) -> NDArray[np.bool_]:
    """Rows whose labels say nothing."""
    nothing = rows_alike(np.asarray(columns[1]))
    if len(columns) > 3 and columns[3] is not None:
        nothing &= ~columns[3]
    return nothing


def _weigh_kinds(columns: Columns) -> FloatArray:
    """Weights, and numbers of some weight, of the rows with and without a label."""
    nothing, weight = unlabeled(columns), columns[2]
    if weight is None:
        numbers = np.array([(~nothing).sum(), nothing.sum()], dtype=np.float64)
        return np.concatenate([numbers, numbers])
    known, idle = weight[~nothing], weight[nothing]
    return np.array([known.sum(), idle.sum(), (known > 0).sum(), (idle > 0).sum()])


def _settled_rows(columns: Columns, single: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows have one plausible class, and that class one component (`single`).

    Or probabilities of such classes.
    """
    possible = np.asarray(columns[1]) > 0
    settled = np.asarray(row_sum(possible) == 1)
    if settled.any():
        settled &= single[possible.argmax(axis=1)]
    if len(columns) > 3 and columns[3] is not None:
        settled |= columns[3] & ~row_any(possible & ~single)
    return settled


def census_pass(
    columns: Columns, origin: FloatArray, single: NDArray[np.bool_]
) -> tuple[int, int, FloatArray, FloatArray, float, FloatArray, FloatArray]:
    """Rows, settled rows, support, kinds, weight, and sums of x and x^2 about an origin."""
    X, plausibility, weight = e_step.as_numbers(columns)
    counts = np.ones(len(X)) if weight is None else weight
    with np.errstate(over="ignore", invalid="ignore"):  # `take_census` looks at the sums
        sums = float(counts.sum()), *_sums_about(X, origin, counts)
        if not np.isfinite(sums[1]).all():
            check_finite(X)
    if plausibility is None:
        return len(X), 0, np.full(len(single), sums[0]), np.zeros(4), *sums
    possible = plausibility > 0
    support = np.full(len(single), sums[0]) if possible.all() else counts @ possible
    n_settled = int((_settled_rows(columns, single) & (counts > 0)).sum())
    return int((counts > 0).sum()), n_settled, support, _weigh_kinds(columns), *sums


def _sums_about(
    X: NDArray[Any], origin: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Sums of x - origin and of its squares, by features, of blocks that fit the cache."""
    once, twice = np.zeros(len(origin)), np.zeros(len(origin))
    size = max(e_step.BLOCK_DOUBLES // (2 * len(origin)), 64)
    for start in range(0, len(X), size):
        rows = slice(start, start + size)
        gap = np.empty((len(origin), len(weight[rows])))
        np.subtract(X[rows].T, origin[:, None], out=gap)
        once += gap @ weight[rows]
        twice += np.square(gap, out=gap) @ weight[rows]
    return once, twice


def check_finite(X: NDArray[Any]) -> None:
    """Refuse missing and infinite features; arrays in memory have been checked before."""
    bad = ~row_all(np.isfinite(X))
    if bad.any():
        raise InputError(
            "Features should be finite numbers",
            f"NaN or infinity was found in {name_rows(bad)} of a chunk",
            "fill in or leave out missing values",
            rows=bad,
        )


def _check_range(weight: float, squares: FloatArray) -> None:
    """Refuse weights and features whose sums, or sums of squares, no number holds."""
    if not np.isfinite(weight):
        raise InputError(
            "Sample weights should have a finite sum",
            "it is beyond 1e308",
            "divide them all by a large number",
        )
    if not np.isfinite(squares).all():
        raise InputError(
            "Features should be finite numbers whose squares are finite",
            "some lie beyond 1e150 from the others",
            "scale them",
        )


def take_census(rows: Rows, single: NDArray[np.bool_]) -> RowCensus:
    """Count the rows and locate them; `single` says which classes have one component."""
    first = rows.peek()[0]
    assert first is not None
    if is_sparse(first):
        raise TypeError(
            "Features of a Gaussian model should be dense arrays, but sparse matrices were given; "
            "yield X.toarray(), chunk by chunk."
        )
    head = np.asarray(first[:1000], dtype=np.float64)
    check_finite(head)
    with np.errstate(over="ignore"):
        origin = head.mean(axis=0)
    n_rows, n_settled, support, kinds, weight, once, twice = rows.reduce(
        census_pass, origin, single
    )
    if not weight > 0:
        raise InputError(
            "At least one row should have a positive sample weight",
            "all weights are zero",
            "give weights above zero to the rows that should count",
        )
    _check_range(weight, twice)
    shift = once / weight
    spread = np.sqrt(np.maximum(twice / weight - shift**2, 0.0))
    spread = np.where(spread > 0, spread, 1.0)
    return RowCensus(n_rows, n_settled, support, weight, origin + shift, spread, kinds)


def candidate_codes(
    columns: Columns, single: NDArray[np.bool_], settled: bool, alike: bool = False
) -> NDArray[np.int16]:
    """A number for the set of plausible classes of each row, -1 for rows to leave out.

    `single` says which classes have one component; `settled` whether the settled rows are wanted or
    all others. Beyond 14 classes different sets may share a number; with `alike` all do.
    """
    plausibility = columns[1]
    assert plausibility is not None
    possible = plausibility > 0
    n_classes = possible.shape[1]
    if possible.all() and n_classes > 1 and len(columns) < 4:
        codes = np.full(len(possible), LEFT_OUT if settled else 0, dtype=np.int16)
    else:
        values = np.int64(1) << (np.arange(n_classes) % 14)
        codes = ((possible @ values) % 32749).astype(np.int16)
        codes[_settled_rows(columns, single) != settled] = LEFT_OUT
        if alike:
            codes = np.minimum(codes, 0)
    if columns[2] is not None:
        codes[columns[2] == 0] = LEFT_OUT
    return codes
