r"""Counts, and what is known of them: the Poisson family.

A count within bounds has closed moments, since x p(x; rate) = rate p(x - 1; rate):

.. math:: E[X \mid a \le X \le b] = \lambda \, \frac{P(a - 1 \le X \le b - 1)}{P(a \le X \le b)}

Fuzzy counts and labels are sums over the counts that are plausible.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, pdtr, pdtrc, xlogy

from plausible.checks import name_rows, shown
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models.e2m.classes import read_labels
from plausible.models.e2m.coordinates import Params
from plausible.models.e2m.family import Curvature, ExponentialFamily, Total
from plausible.models.e2m.points import (
    Points,
    check_column,
    check_support,
    points_of_values,
    row_log_sums,
)
from plausible.models.e2m.points import row_sums as sums_by_row
from plausible.models.e2m.values import UncertainValues, as_values

FloatArray = NDArray[np.float64]


class CountData(NamedTuple):
    """Counts: bounds (n,) of rows that are intervals, and points of the others."""

    low: FloatArray
    high: FloatArray
    between: NDArray[np.int64]
    fuzzy: NDArray[np.int64]
    points: Points | None


class Poisson(ExponentialFamily):
    """Counts 0, 1, ..., with parameter ``rate``, their mean.

    Data are `UncertainValues` or numbers (an interval holds the whole numbers within it, and
    ``high=np.inf`` is "so many or more"), or `Labels` whose classes are counts; counts that are no
    class are then excluded.

    Examples
    --------
    >>> from plausible.models import E2M, UncertainValues
    >>> calls = UncertainValues.from_intervals([0, 2, 3, 5], [0, 2, 3, np.inf])   # "five or more"
    >>> round(E2M(Poisson()).fit(calls).params_["rate"], 3)
    2.654
    """

    bounds: ClassVar[dict[str, tuple[float, float]]] = {"rate": (0.0, np.inf)}
    support: ClassVar[tuple[float, float]] = (0.0, np.inf)
    discrete: ClassVar[bool] = True

    def read(self, data: Any, weight: FloatArray) -> tuple[Any, FloatArray]:
        """Bounds of the counts, and points of those with other contours."""
        if isinstance(data, Labels):
            return _read_count_labels(data, weight)
        values = check_column(as_values(data))
        _refuse_fractions(values)
        check_support(values, self.support, whole=True)
        low, high = np.ceil(np.maximum(values.low, 0.0)), np.floor(values.high)
        fuzzy = np.flatnonzero(values.is_fuzzy)
        points = points_of_values(values[fuzzy], self.support, True) if len(fuzzy) else None
        return CountData(low, high, np.flatnonzero(~values.is_fuzzy), fuzzy, points), weight

    def start_by(self, total: Total) -> Params:
        """The mean of rough counts."""
        weight, rough = total(_rough_counts)
        return {"rate": max(float(rough / max(weight, 1e-300)), 1e-3)}

    def log_density(self, x: FloatArray, params: Params) -> FloatArray:
        """Log probability of counts."""
        return log_probability(x, params["rate"])

    def e_step(self, data: CountData, params: Params) -> tuple[FloatArray, FloatArray]:
        """Expected counts."""
        logs, mean, _ = self._moments(data, params)
        return logs, mean[:, None]

    def _moments(
        self, data: CountData, params: Params
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        n_rows = len(data.between) + len(data.fuzzy)
        found = np.empty((3, n_rows))
        rows = data.between
        found[:, rows] = _counts_between(data.low[rows], data.high[rows], params["rate"])
        if data.points is not None:
            points = data.points
            logs = self.log_density(points.x, params) + points.log_weight
            total, share = row_log_sums(points, logs)
            mean = sums_by_row(points, share * points.x)
            sizes = np.diff(points.starts, append=len(logs))
            gap = points.x - np.repeat(mean, sizes)
            found[:, data.fuzzy] = total, mean, sums_by_row(points, share * gap**2)
        return found[0], found[1], found[2]

    def m_step(self, statistics: FloatArray, params: Params) -> Params:
        """The mean count."""
        return {"rate": float(statistics[0])}

    def covariances(self, data: CountData, params: Params) -> FloatArray:
        """Of the counts."""
        return self._moments(data, params)[2][:, None, None]

    def curvature(self, params: Params) -> Curvature:
        """Of the log rate."""
        rate = params["rate"]
        with np.errstate(divide="ignore"):
            slope = np.float64(1) / rate
        return Curvature(np.full((1, 1), slope), np.full((1, 1, 1), -(slope**2)), np.zeros((1, 1)))


def _rough_counts(data: CountData, weight: FloatArray) -> FloatArray:
    """Weight of rows that say something, and weighted sum of what they say roughly."""
    rough = np.where(np.isfinite(data.high), 0.5 * (data.low + data.high), data.low + 1.0)
    vacuous = np.isinf(data.high) & (data.low == 0)
    if data.points is not None:
        shares = row_log_sums(data.points, data.points.log_weight)[1]
        rough[data.fuzzy] = sums_by_row(data.points, shares * data.points.x)
        vacuous[data.fuzzy] = False
    kept = weight * ~vacuous
    return np.array([kept.sum(), kept @ rough])


def _read_count_labels(labels: Labels, weight: FloatArray) -> tuple[CountData, FloatArray]:
    """Labels whose classes are counts."""
    contours, weight = read_labels(labels, weight)
    names = contours.classes
    if names.dtype.kind not in "biuf" or (names < 0).any() or (names % 1 != 0).any():
        raise InputError(
            "Classes of counts should be whole numbers of 0 or more",
            f"they are {shown(names.tolist())}",
            "rename them, or use Categorical",
        )
    rows, columns = np.nonzero(contours.table > 0)
    points = Points(
        names.astype(np.float64)[columns],
        np.log(contours.table[rows, columns]),
        np.searchsorted(rows, np.arange(len(contours.table))),
    )
    everything = np.zeros(len(weight)), np.full(len(weight), np.inf)
    none = np.zeros(0, dtype=np.int64)
    return CountData(*everything, none, np.arange(len(weight)), points), weight


def _refuse_fractions(values: UncertainValues) -> None:
    """Refuse precise values that are no counts."""
    bad = values.is_precise & (values.mean % 1 != 0)
    if bad.any():
        raise InputError(
            "Counts should be whole numbers",
            f"values such as {values.mean[bad][0]:g} were found in {name_rows(bad)}",
            "round them, or give intervals",
            rows=bad,
        )


def _counts_between(
    low: FloatArray, high: FloatArray, rate: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log probability, mean and variance of counts within whole bounds."""
    log_mass = np.array([_log_between(low - k, high - k, rate) for k in range(3)])
    with np.errstate(invalid="ignore", over="ignore"):
        mean = rate * np.exp(log_mass[1] - log_mass[0])
        twice = rate**2 * np.exp(log_mass[2] - log_mass[0])
    single = low == high
    mean = np.where(single, low, mean)
    variance = np.where(single, 0.0, np.maximum(twice + mean - mean**2, 0.0))
    return log_mass[0], mean, variance


def _log_between(low: FloatArray, high: FloatArray, rate: float) -> FloatArray:
    """Log probability that a count lies within whole bounds, in the tail where it is exact."""
    with np.errstate(divide="ignore", invalid="ignore"):
        upper = low > rate
        large = np.where(upper, _log_above(low - 1, rate), _log_up_to(high, rate))
        small = np.where(upper, _log_above(high, rate), _log_up_to(low - 1, rate))
        gap = np.where(np.isneginf(small), -np.inf, small - large)
        found = large + np.log1p(-np.exp(np.minimum(gap, 0.0)))
        near = np.where(upper, low, high)  # so far out, the nearest counts are all there is
        ratio = np.where(upper, rate / (low + 1), high / rate)
        edge = log_probability(near, rate) - np.log1p(-np.minimum(ratio, 1 - 1e-9))
        found = np.where(np.isneginf(found), edge, found)
    return np.where(low == high, log_probability(low, rate), np.where(high < 0, -np.inf, found))


def log_probability(x: FloatArray, rate: float) -> FloatArray:
    """Log probability of counts; that of a count below 0 is minus infinity."""
    there = np.maximum(x, 0.0)
    return np.where(x < 0, -np.inf, xlogy(there, rate) - rate - gammaln(there + 1))


def _log_up_to(x: FloatArray, rate: float) -> FloatArray:
    """Log probability of counts up to x, which may be below 0 or infinite."""
    inside = (x >= 0) & np.isfinite(x)
    logs = np.log(pdtr(np.where(inside, x, 0.0), rate))
    return np.where(inside, logs, np.where(x < 0, -np.inf, 0.0))


def _log_above(x: FloatArray, rate: float) -> FloatArray:
    """Log probability of counts above x, which may be below 0 or infinite."""
    inside = (x >= 0) & np.isfinite(x)
    logs = np.log(pdtrc(np.where(inside, x, 0.0), rate))
    return np.where(inside, logs, np.where(x < 0, 0.0, -np.inf))
