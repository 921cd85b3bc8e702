r"""Uncertain values as points with weights, for families that state only a density.

.. math:: E_\theta[pl(X)] = \int pl(x) \, f(x; \theta) \, dx \approx \sum_j w_j \, f(x_j; \theta)

The points stay where they are while parameters change, so that the sum is itself a likelihood, and
EM climbs it without fail. Intervals are divided where the data lie, and every part has
Gauss-Legendre points; a part that ends where the support does is graded towards that end, where
densities may have poles; what reaches to infinity is mapped to a bounded interval. Counts are
summed one by one.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.checks import as_floats, name_rows
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models.e2m.values import UncertainValues

FloatArray = NDArray[np.float64]

NODES, WEIGHTS = (
    0.5 * (array + shift)
    for array, shift in zip(np.polynomial.legendre.leggauss(24), (1.0, 0.0), strict=True)
)  # on [0, 1]
TAIL_NODES, TAIL_WEIGHTS = (
    0.5 * (array + shift)
    for array, shift in zip(np.polynomial.legendre.leggauss(64), (1.0, 0.0), strict=True)
)
GRADE = 4  # power by which points crowd at the end of the support
FUZZY_REACH = 9.0  # deviations of a fuzzy value beyond which it is not plausible
MOST_COUNTS = 100_000


class Points(NamedTuple):
    """Points x (N,) with log weights (N,), row after row; `starts` (n,) says where rows begin."""

    x: FloatArray
    log_weight: FloatArray
    starts: NDArray[np.int64]


def points_of_labels(labels: Labels) -> Points:
    """The classes, which must be numbers, with their plausibilities."""
    x = as_floats(labels.classes, "classes")
    rows, columns = np.nonzero(labels.contour > 0)
    log_weight = np.log(labels.contour[rows, columns])
    return Points(x[columns], log_weight, np.searchsorted(rows, np.arange(len(labels))))


def points_of_values(
    values: UncertainValues, support: tuple[float, float], discrete: bool
) -> Points:
    """Points of each value; a value outside the support is refused, a missing one has none."""
    low, high = np.maximum(values.low, support[0]), np.minimum(values.high, support[1])
    check_support(values, support, discrete)
    anchors, scale = landmarks(values, support)
    known = ~values.is_missing
    table = np.stack([values.mean, values.sd, low, high], axis=1)
    kinds, which = np.unique(table[known], axis=0, return_inverse=True)
    make = _counts_of if discrete else _nodes_of
    made = [make(tuple(kind), anchors, scale, support) for kind in kinds.tolist()]
    sizes = np.array([len(x) for x, _ in made], dtype=np.int64)[which.ravel()]
    x, log_weight = (np.concatenate([made[k][part] for k in which.ravel()]) for part in (0, 1))
    return Points(x, log_weight, np.concatenate([[0], np.cumsum(sizes)[:-1]]))


def landmarks(values: UncertainValues, support: tuple[float, float]) -> tuple[FloatArray, float]:
    """Where the data lie (up to nine numbers), and their spread."""
    middle = values.midpoints()
    middle = np.clip(middle[np.isfinite(middle)], *support)
    ends = np.concatenate([middle, values.low[values.is_interval], values.high[values.is_interval]])
    ends = np.unique(ends[np.isfinite(ends)])
    scale = float(np.ptp(ends)) / 4 or max(abs(float(ends[0])), 1.0)
    return np.unique(np.quantile(ends, np.linspace(0, 1, 9))), scale


def _nodes_of(
    value: tuple[float, ...], anchors: FloatArray, scale: float, support: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Points and log weights of one value."""
    mean, sd, low, high = value
    if sd == 0:
        return np.array([mean]), np.zeros(1)
    fuzzy = np.isfinite(sd)
    if fuzzy:
        low, high = max(low, mean - FUZZY_REACH * sd), min(high, mean + FUZZY_REACH * sd)
        anchors = np.union1d(anchors, mean + sd * np.array([-4.0, -2, -1, 0, 1, 2, 4]))
    inner = anchors[(anchors > low) & (anchors < high)]
    first = low if np.isfinite(low) else min([*inner[:1], high])
    last = high if np.isfinite(high) else max([*inner[-1:], low])
    edges = np.unique([first, *inner, last])
    parts = [panel(a, b, support) for a, b in pairwise(edges)]
    parts += [tail(last, scale)] if np.isinf(high) else []
    parts += [tail(first, -scale)] if np.isinf(low) else []
    x, weight = (np.concatenate(some) for some in zip(*parts, strict=True))
    log_weight = np.log(weight)
    return x, log_weight - 0.5 * ((x - mean) / sd) ** 2 if fuzzy else log_weight


def panel(a: float, b: float, support: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """Points and weights between a and b."""
    power = GRADE if a == support[0] or b == support[1] else 1
    grade, weight = NODES**power, power * NODES ** (power - 1) * WEIGHTS * (b - a)
    if b == support[1] and a != support[0]:
        return b - (b - a) * grade, weight
    return a + (b - a) * grade, weight


def tail(end: float, scale: float) -> tuple[FloatArray, FloatArray]:
    """Points and weights from a finite end to infinity, up or down by the sign of the scale."""
    rest = 1 - TAIL_NODES
    return end + scale * TAIL_NODES / rest, abs(scale) * TAIL_WEIGHTS / rest**2


def _counts_of(
    value: tuple[float, ...], anchors: FloatArray, scale: float, support: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Whole numbers and log weights of one value; an open end stops far beyond the data."""
    mean, sd, low, high = value
    if np.isfinite(sd) and sd > 0:
        low, high = max(low, mean - 12 * sd), min(high, mean + 12 * sd)
    far = 40 * scale + 100
    low = low if np.isfinite(low) else float(anchors[0]) - far
    high = high if np.isfinite(high) else max(float(anchors[-1]), low) + far
    x = np.arange(np.ceil(low), min(np.floor(high), np.ceil(low) + MOST_COUNTS) + 1)
    fuzzy = np.isfinite(sd) and sd > 0
    return x, -0.5 * ((x - mean) / sd) ** 2 if fuzzy else np.zeros(len(x))


def check_support(
    values: UncertainValues, support: tuple[float, float], whole: bool = False
) -> None:
    """Refuse values that a family finds impossible."""
    low, high = np.maximum(values.low, support[0]), np.minimum(values.high, support[1])
    low, high = (np.ceil(low), np.floor(high)) if whole else (low, high)
    bad = low > high
    if bad.any():
        kind = "whole numbers" if whole else "numbers"
        raise InputError(
            f"Values should leave {kind} in [{support[0]:g}, {support[1]:g}], where this family "
            "lives",
            f"values such as [{values.low[bad][0]:g}, {values.high[bad][0]:g}] in "
            f"{name_rows(bad)} leave none",
            "correct them, or choose another family",
            rows=bad,
        )


def refuse_all_missing(n_missing: int, n_rows: int) -> None:
    """Refuse data that say nothing at all."""
    if n_missing == n_rows:
        raise InputError(
            "At least one value should be known in part",
            f"all {n_rows} are missing",
            "give data",
        )


def check_column(values: UncertainValues) -> UncertainValues:
    """Refuse tables: the families here are laws of one number."""
    if values.ndim != 1:
        raise InputError(
            "Values should be one for each row, (n,)",
            f"have shape {values.shape}",
            "fit the columns one by one, or use UncertainGaussianMixture",
        )
    return values


def row_sums(points: Points, values: FloatArray) -> FloatArray:
    """Sums of values (N,) by row."""
    return np.add.reduceat(values, points.starts)


def row_log_sums(points: Points, logs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Log of the sum of exp(logs) by row (n,), and shares (N,) of each point in its row."""
    sizes = np.diff(points.starts, append=len(logs))
    peak = np.maximum.reduceat(logs, points.starts)
    safe = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mass = np.exp(logs - np.repeat(safe, sizes))
        total = row_sums(points, mass)
        return np.log(total) + safe, mass / np.repeat(total, sizes)
