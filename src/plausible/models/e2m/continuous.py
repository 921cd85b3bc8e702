r"""Families of continuous laws: exponential and normal, with exact moments of uncertain values.

A normal variable times a Gaussian contour is normal again, with precisions added; between bounds it
is a truncated normal one. An exponential variable times a Gaussian contour (m, s) is normal with
mean m - rate s^2, truncated at zero.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.errors import InputError
from plausible.models.e2m.coordinates import Params
from plausible.models.e2m.family import Curvature, ExponentialFamily, Largest, Total
from plausible.models.e2m.points import check_column, check_support
from plausible.models.e2m.truncated import LOG_2PI, central_moments, truncated_normal
from plausible.models.e2m.values import UncertainValues, as_values

FloatArray = NDArray[np.float64]

SERIES = 0.05  # widths, in units of the mean, below which a series replaces differences


class Given(NamedTuple):
    """Log likelihood (n,) of uncertain values under a law, and their mean and variance."""

    log_likelihood: FloatArray
    mean: FloatArray
    variance: FloatArray


def _normal_given(values: UncertainValues, mean: Any, variance: Any) -> Given:
    """A normal law and what is known of each value; all of one shape, or broadcast to it."""
    shape = values.shape
    mean, variance = (
        np.array(np.broadcast_to(part, shape), dtype=np.float64) for part in (mean, variance)
    )
    logs = np.zeros(shape)
    sure = values.is_precise
    logs[sure] = _log_normal((values.mean - mean)[sure], variance[sure])
    fuzzy = values.is_fuzzy
    if fuzzy.any():
        spread = values.sd[fuzzy] ** 2
        total = variance[fuzzy] + spread
        gap = values.mean[fuzzy] - mean[fuzzy]
        logs[fuzzy] = _log_normal(gap, total) + 0.5 * (LOG_2PI + np.log(spread))
        mean[fuzzy] += gap * variance[fuzzy] / total
        variance[fuzzy] *= spread / total
    cut = ~sure & (np.isfinite(values.low) | np.isfinite(values.high))
    if cut.any():
        found = truncated_normal(
            mean[cut], np.sqrt(variance[cut]), values.low[cut], values.high[cut]
        )
        logs[cut] += found.log_mass
        mean[cut], variance[cut] = found.mean, found.variance
    mean[sure], variance[sure] = values.mean[sure], 0.0
    return Given(logs, mean, variance)


def _log_normal(gap: FloatArray, variance: FloatArray) -> FloatArray:
    """Log density of a normal law at a distance from its mean."""
    return -0.5 * (LOG_2PI + np.log(variance) + gap**2 / variance)


class Normal(ExponentialFamily):
    """Real numbers, with parameters ``mean`` and ``variance``.

    Data are `UncertainValues`, or numbers with NaN for missing.

    Examples
    --------
    Temperatures read in whole degrees: midpoints make them more spread out than they are.

    >>> from plausible.models import E2M, UncertainValues
    >>> x = np.random.default_rng(0).normal(20.0, 0.5, size=2000)
    >>> low = np.floor(x)
    >>> model = E2M(Normal()).fit(UncertainValues.from_intervals(low, low + 1))
    >>> round(model.params_["variance"] ** 0.5, 2), round(float((low + 0.5).std()), 2)
    (0.49, 0.58)
    """

    bounds: ClassVar[dict[str, tuple[float, float]]] = {
        "mean": (-np.inf, np.inf),
        "variance": (0.0, np.inf),
    }

    def read(self, data: Any, weight: FloatArray) -> tuple[Any, FloatArray]:
        """Values, one for each row."""
        values = check_column(as_values(data))
        check_support(values, self.support)
        return values, weight

    def start_by(self, total: Total) -> Params:
        """Moments of midpoints."""
        _refuse_one_cell(total(_cells))
        weight, first = total(_middles)
        center = first / weight
        spread, wide = total(_spread, center)
        spread = float(spread / weight)
        return {"mean": float(center), "variance": spread or wide.value or max(center**2, 1.0)}

    def log_density(self, x: FloatArray, params: Params) -> FloatArray:
        """Of the normal law."""
        return _log_normal(x - params["mean"], np.asarray(params["variance"]))

    def e_step(self, data: UncertainValues, params: Params) -> tuple[FloatArray, FloatArray]:
        """Deviations from the mean and their squares."""
        found = _normal_given(data, params["mean"], params["variance"])
        gap = found.mean - params["mean"]
        return found.log_likelihood, np.stack([gap, gap**2 + found.variance], axis=1)

    def m_step(self, statistics: FloatArray, params: Params) -> Params:
        """Mean and variance of what is expected."""
        gap, square = statistics.tolist()
        variance = square - gap**2
        if not variance > 0:
            raise InputError(
                "Values should differ from each other",
                "their variance is zero",
                "give intervals as wide as the values were rounded",
            )
        return {"mean": params["mean"] + gap, "variance": variance}

    def covariances(self, data: UncertainValues, params: Params) -> FloatArray:
        """Of the deviation from the mean and its square."""
        mean, sd = params["mean"], float(np.sqrt(params["variance"]))
        shape = len(data)
        made = np.zeros((shape, 2, 2))
        open_rows = ~data.is_precise
        part = data[open_rows]
        center, width = np.full(len(part), mean), np.full(len(part), sd)
        fuzzy = part.is_fuzzy
        share = 1 / (1 + (part.sd[fuzzy] / sd) ** 2)
        center[fuzzy] += (part.mean[fuzzy] - mean) * share
        width[fuzzy] = sd * np.sqrt(1 - share)
        a, b = (part.low - center) / width, (part.high - center) / width
        _, inner, (second, third, fourth) = central_moments(a, b, 4)
        shift = center + width * inner - mean  # of the mean of each value from that of the law
        second, third, fourth = second * width**2, third * width**3, fourth * width**4
        made[open_rows, 0, 0] = second
        made[open_rows, 0, 1] = made[open_rows, 1, 0] = third + 2 * shift * second
        made[open_rows, 1, 1] = fourth - second**2 + 4 * shift * third + 4 * shift**2 * second
        return made

    def curvature(self, params: Params) -> Curvature:
        """About the mean of the law, where the natural parameters are (0, -1 / 2 variance)."""
        v = params["variance"]
        slopes = np.diag([1 / v, 0.5 / v**2])
        bends = np.zeros((2, 2, 2))
        bends[0, 0, 1] = bends[0, 1, 0] = -1 / v**2
        bends[1, 1, 1] = -1 / v**3
        return Curvature(slopes, bends, np.diag([1 / v, -0.5 / v**2]))


def _middles(data: UncertainValues, weight: FloatArray) -> FloatArray:
    """Weight and weighted sum of the midpoints of values that have one."""
    middle = data.midpoints()
    here = np.isfinite(middle) & (weight > 0)
    return np.array([weight[here].sum(), weight[here] @ middle[here]])


def _spread(data: UncertainValues, weight: FloatArray, center: float) -> tuple[float, Largest]:
    """Weighted squares of midpoints about the center, and the square of the widest interval."""
    middle = data.midpoints()
    here = np.isfinite(middle) & (weight > 0)
    width = np.where(np.isinf(data.sd), 0.5 * (data.high - data.low), data.sd)[here]
    wide = Largest(np.append(width[np.isfinite(width)] ** 2, 0.0))
    return float(weight[here] @ (middle[here] - center) ** 2), wide


class Cells(NamedTuple):
    """How many values are known, how many by intervals, the largest low and minus high bound."""

    n_known: int
    n_intervals: int
    low: Largest
    minus_high: Largest


def _cells(values: UncertainValues, weight: FloatArray) -> Cells:
    """Of the values that count."""
    known = ~values.is_missing & (weight > 0)
    return Cells(
        int(known.sum()),
        int((known & values.is_interval).sum()),
        Largest(values.low[known]),
        Largest(-values.high[known]),
    )


def _refuse_one_cell(cells: Cells) -> None:
    """Refuse intervals that share a value: they are likeliest if all values are that one."""
    low, high = cells.low.value, -cells.minus_high.value
    if cells.n_known and cells.n_intervals == cells.n_known and low <= high:
        raise InputError(
            "Intervals should not all share a value",
            f"all hold the values from {low:g} to {high:g}, and are likeliest under a "
            "variance of zero",
            "give narrower intervals or more values",
        )


def _times(data: UncertainValues, weight: FloatArray) -> FloatArray:
    """Weight and weighted sum of the midpoints of times of which something is known."""
    nothing = np.isinf(data.sd) & (data.low == 0) & np.isinf(data.high)
    middle = np.where(nothing, 0.0, np.maximum(data.midpoints(), 0.0))
    kept = weight * ~nothing
    return np.array([kept.sum(), kept @ middle])


class Exponential(ExponentialFamily):
    """Waiting times of 0 or more, with parameter ``rate``, one over their mean.

    Data are `UncertainValues` (``high=np.inf`` for a time that has not ended), or numbers.

    Examples
    --------
    Two lamps that failed, and one that still burns after 9 years:

    >>> from plausible.models import E2M, UncertainValues
    >>> years = UncertainValues.from_intervals([4.0, 7.0, 9.0], [4.0, 7.0, np.inf])
    >>> round(E2M(Exponential()).fit(years).params_["rate"], 6)      # 2 failures in 20 years
    0.1
    """

    bounds: ClassVar[dict[str, tuple[float, float]]] = {"rate": (0.0, np.inf)}
    support: ClassVar[tuple[float, float]] = (0.0, np.inf)

    def read(self, data: Any, weight: FloatArray) -> tuple[Any, FloatArray]:
        """Values of 0 or more, one for each row."""
        values = check_column(as_values(data))
        check_support(values, self.support)
        low = np.maximum(values.low, 0.0)
        return UncertainValues._made(values.mean, values.sd, low, values.high), weight

    def start_by(self, total: Total) -> Params:
        """One over the mean of midpoints."""
        weight, time = total(_times)
        if not time > 0:
            raise InputError(
                "Waiting times should not all be zero",
                "they are",
                "give intervals as wide as they were rounded",
            )
        return {"rate": float(weight / time)}

    def log_density(self, x: FloatArray, params: Params) -> FloatArray:
        """Of the exponential law."""
        return np.log(params["rate"]) - params["rate"] * x

    def e_step(self, data: UncertainValues, params: Params) -> tuple[FloatArray, FloatArray]:
        """Expected times."""
        found = _exponential_given(data, params["rate"])
        return found.log_likelihood, found.mean[:, None]

    def m_step(self, statistics: FloatArray, params: Params) -> Params:
        """One over the mean time."""
        return {"rate": 1 / float(statistics[0])}

    def covariances(self, data: UncertainValues, params: Params) -> FloatArray:
        """Of the times."""
        return _exponential_given(data, params["rate"]).variance[:, None, None]

    def curvature(self, params: Params) -> Curvature:
        """Of minus the rate."""
        rate = params["rate"]
        return Curvature(np.full((1, 1), -1.0), np.zeros((1, 1, 1)), np.full((1, 1), rate**-2))


def _exponential_given(values: UncertainValues, rate: float) -> Given:
    """An exponential law and what is known of each value."""
    sure, fuzzy = values.is_precise, values.is_fuzzy
    logs = np.log(rate) - rate * values.mean
    mean, variance = values.mean.copy(), np.zeros(len(values))
    cut = ~sure & ~fuzzy
    if cut.any():
        logs[cut], mean[cut], variance[cut] = _exponential_between(
            values.low[cut], values.high[cut], rate
        )
    if fuzzy.any():
        m, s = values.mean[fuzzy], values.sd[fuzzy]
        found = truncated_normal(m - rate * s**2, s, values.low[fuzzy], values.high[fuzzy])
        constant = np.log(rate * s) + 0.5 * LOG_2PI - rate * m + 0.5 * (rate * s) ** 2
        logs[fuzzy] = constant + found.log_mass
        mean[fuzzy], variance[fuzzy] = found.mean, found.variance
    return Given(logs, mean, variance)


def _exponential_between(low: FloatArray, high: FloatArray, rate: float) -> Given:
    """Log probability, mean and variance of an exponential variable within bounds."""
    u = rate * (high - low)
    small, ended = u < SERIES, np.isinf(u)
    safe = np.where(small | ended, 1.0, u)
    little = np.where(small, u, 0.0)
    share = np.where(
        small, 0.5 - little / 12 + little**3 / 720, 1 / safe - 1 / np.expm1(np.minimum(safe, 700.0))
    )
    spread = 1 / safe**2 - 0.25 / np.sinh(np.minimum(0.5 * safe, 300.0)) ** 2
    series = 1 / 12 - little**2 / 240 + little**4 / 6048
    logs = np.where(ended, 0.0, np.log(-np.expm1(-np.where(ended, 1.0, u))))
    width = np.where(ended, 1 / rate, high - low)
    mean = low + width * np.where(ended, 1.0, share)
    variance = width**2 * np.where(ended, 1.0, np.where(small, series, spread))
    return Given(logs - rate * low, mean, variance)
