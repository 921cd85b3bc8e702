r"""From the score of a binary classifier to a mass function about the class.

Log odds of the second class are a + b s at score s. With the likelihood L of calibration data, the
contour of the probability tau at score s, and with it the predictive belief function, are

.. math:: pl(\tau) = \sup_{a + b s = \mathrm{logit}\, \tau} L(a, b) / L(\hat a, \hat b), \quad
          Bel(\{1\}) = \hat\tau - \int_0^{\hat\tau} pl(u) du, \quad
          Pl(\{1\}) = \hat\tau + \int_{\hat\tau}^1 pl(u) du.

Labels may be doubtful: a row counts by log(pl_0 (1 - p) + pl_1 p), the generalized likelihood. It
is concave in (a, b) where labels are hard, and need not be else.

References
----------
P. Xu, F. Davoine, H. Zha, T. Denoeux, Evidential calibration of binary SVM classifiers,
International Journal of Approximate Reasoning 72 (2016) 55-70.
O. Kanjanatarakul, S. Sriboonchitta, T. Denoeux, Forecasting using belief functions, International
Journal of Approximate Reasoning 55 (2014) 1113-1128.
J. Platt, Probabilistic outputs for support vector machines, Advances in Large Margin Classifiers
(1999) 61-74 (smoothing).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline, PPoly
from scipy.special import expit

from plausible.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

TABLE_TOLERANCE = 1e-6  # largest error of a mass that is read from the table, as found when made
DOUBTFUL_TOLERANCE = 1e-5  # the same with doubtful labels, where masses may have kinks
_FIRST_NODES = 25
_ROUNDS = 7
_MANY_STEPS = 200
PANEL_NODES = 20
_FEW_RECORDS = 300


class Items(NamedTuple):
    """Items row by row: by how much each counts for both classes, and what was said of it.

    n0 and n1 count for the first and the second class, v as doubtful, with log odds rho.
    """

    n0: FloatArray
    n1: FloatArray
    v: FloatArray
    rho: FloatArray


class Favors(NamedTuple):
    """Contours scaled to one, whether a row favors the second class, and by how much it counts."""

    first: FloatArray
    second: FloatArray
    for_second: NDArray[np.bool_]
    favor: FloatArray


def favors(contour: FloatArray, weight: FloatArray) -> Favors:
    """Which class each row favors."""
    first, second = contour[:, 0], contour[:, 1]
    peak = np.maximum(first, second)
    first, second = first / peak, second / peak
    return Favors(first, second, second > first, weight * (1.0 - np.minimum(first, second)))


def favored_items(given: Favors) -> FloatArray:
    """How many items (2,) favor each class."""
    return np.array([given.favor[~given.for_second].sum(), given.favor[given.for_second].sum()])


def items_of(given: Favors, weight: FloatArray, total: FloatArray | None) -> Items:
    """Items by row.

    Smoothing is Platt's: of every item that favors a class, of which there are N, a share of
    1 / (N + 2) counts for the other one; without it, `total` is None. A doubtful label favors its
    class by 1 - doubt.
    """
    first, second, for_second, favor = given
    other = np.zeros(len(weight))
    if total is not None:
        favored = for_second.astype(np.intp)
        other = favor / (total[favored] + 2.0)
    rest = weight - other
    low = np.minimum(first, second)
    hard = low == 0.0
    sure = np.where(hard, rest, 0.0)
    soft = np.where(hard | (favor == 0.0), 0.0, rest)
    log_odds = np.log(np.where(soft > 0.0, low, 1.0))  # the other one is one
    return Items(
        np.where(for_second, other, 0.0) + sure * first,
        np.where(for_second, 0.0, other) + sure * second,
        soft,
        np.where(for_second, -log_odds, log_odds),
    )


def make_records(score: FloatArray, items: Items) -> FloatArray:
    """Records (5, R) of z, n0, n1, v, rho: see `profile_compiled`.

    What was scored and said alike is counted together.
    """
    keys, place = np.unique(score + 1j * items.rho, return_inverse=True)
    sums = [np.bincount(place, column, len(keys)) for column in items[:3]]
    records = np.array([keys.real, *sums, keys.imag])
    return np.ascontiguousarray(records[:, records[1:4].any(axis=0)])


def _value_and_slopes(
    theta: FloatArray, records: FloatArray
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """Log-likelihood, gradient, curvature (2, 2), and the curvature that EM has instead."""
    z, n0, n1, v, rho = records
    t = theta[0] + theta[1] * z
    p, q = expit(t), expit(t + rho)
    value = n1 @ t - (n0 + n1 + v) @ np.logaddexp(0.0, t) + v @ np.logaddexp(0.0, t + rho)
    design = np.column_stack([np.ones(len(z)), z])
    rise = n1 - (n0 + n1) * p + v * (q - p)
    spread = (n0 + n1 + v) * p * (1.0 - p)
    bend = spread - v * q * (1.0 - q)
    complete = design.T @ (design * spread[:, None])
    return value, design.T @ rise, design.T @ (design * bend[:, None]), complete


def _ascend(
    theta: FloatArray, records: FloatArray, tolerance: float = 1e-14
) -> tuple[FloatArray, float]:
    """Local maximum (a, b) and its value: Newton's method where the likelihood is concave."""
    value, slope, bend, complete = _value_and_slopes(theta, records)
    unit = min(1.0, float(records[1:4].sum()))  # items of little weight gain little
    for _ in range(_MANY_STEPS):
        concave = np.linalg.eigvalsh(bend - 1e-3 * complete)[0] > 0.0
        used = bend if concave else complete
        step = np.linalg.solve(used + (1e-12 * np.trace(used) + 1e-300) * np.eye(2), slope)
        gain = float(step @ slope)
        if gain < tolerance * (unit + abs(value)):
            break
        for _ in range(40):
            following = _value_and_slopes(theta + step, records)
            if following[0] >= value + 1e-4 * gain:
                break
            step, gain = 0.5 * step, 0.5 * gain
        else:
            break
        theta = theta + step
        value, slope, bend, complete = following
    return theta, value


def maximize(
    records: FloatArray, thorough: bool | None = None, tolerance: float = 1e-14
) -> tuple[FloatArray, float]:
    """Maximum (a, b) of the likelihood and its value.

    Doubtful labels may give several local ones: we start from the maximum of the hardened labels,
    each with the weight by which it favors its class, from no slope, and if there are few of them
    from steep slopes, too (`thorough` says if they are).
    """
    z, n0, n1, v, rho = records
    favor = v * -np.expm1(-np.abs(rho))
    more = np.where(rho > 0.0, favor, 0.0), np.where(rho < 0.0, favor, 0.0)
    some = 1e-3 * (n0 + n1 + v)  # hardened labels may be separable
    hard = np.array([z, n0 + more[1] + some, n1 + more[0] + some, 0.0 * v, rho])
    flat = np.array([np.log(hard[2].sum() / hard[1].sum()), 0.0])
    if not v.any():
        return _ascend(flat, records, tolerance)
    starts = [_ascend(flat, hard, tolerance)[0], flat]
    if len(z) <= _FEW_RECORDS if thorough is None else thorough:
        starts += [np.array([level * b, b]) for b in (-6.0, -2.0, 2.0, 6.0) for level in (-1, 0, 1)]
    return max((_ascend(start, records, tolerance) for start in starts), key=lambda found: found[1])


def condense(records: FloatArray, slope: float) -> FloatArray:
    """Few records with the likelihood of many, to about twelve digits.

    Over a panel of scores in which log odds change by two, the likelihood of an item is a
    polynomial of degree 19 to that accuracy: the items are shared out among the Chebyshev nodes of
    the panel, by the values of Lagrange's polynomials at their scores (which may be negative).
    """
    half = min(1.0 / max(abs(slope), 1e-300), 0.5)
    panel = np.floor(records[0] / (2.0 * half))
    groups, place, counts = np.unique(
        panel + 1j * records[4], return_inverse=True, return_counts=True
    )
    crowded = counts > 2 * PANEL_NODES
    if not crowded.any():
        return records
    angle = (np.arange(PANEL_NODES) + 0.5) * np.pi / PANEL_NODES
    parts = [records[:, ~crowded[place]]]
    order = np.argsort(place, kind="stable")
    ends = np.cumsum(counts)
    for group in np.flatnonzero(crowded):
        inside = records[:, order[ends[group] - counts[group] : ends[group]]]
        middle = half * (2.0 * groups[group].real + 1.0)
        shares = lagrange(np.clip((inside[0] - middle) / half, -1.0, 1.0), angle)
        nodes = middle + half * np.cos(angle)
        same = np.full(PANEL_NODES, groups[group].imag)
        parts.append(np.vstack([nodes, inside[1:4] @ shares, same]))
    return np.ascontiguousarray(np.hstack(parts))


def lagrange(x: FloatArray, angle: FloatArray) -> FloatArray:
    """Lagrange's polynomials of Chebyshev nodes cos(angle) at points x in [-1, 1]: (n, nodes)."""
    degree = np.arange(len(angle))
    factor = np.where(degree == 0, 1.0, 2.0) / len(angle)
    at_nodes = factor[:, None] * np.cos(degree[:, None] * angle)
    return np.cos(np.arccos(x)[:, None] * degree) @ at_nodes


def _has_maximum(records: FloatArray, theta: FloatArray) -> bool:
    """Whether the likelihood has a maximum, which it lacks where scores separate the classes."""
    z, n0, n1, v, _ = records
    if v.any():
        return bool(np.abs(theta[0] + theta[1] * z).max() < 30.0)
    first, second = z[n0 > 0], z[n1 > 0]
    if len(first) == 0 or len(second) == 0:
        return False
    apart = first.max() <= second.min() or second.max() <= first.min()
    return not apart or np.ptp(z) == 0.0


def inverse_curvature(theta: FloatArray, records: FloatArray) -> FloatArray:
    """Covariance (2, 2) of the estimate; zero for a slope that nothing is known about."""
    _, _, bend, complete = _value_and_slopes(theta, records)
    if np.ptp(records[0]) == 0.0:
        return np.array([[1.0 / complete[0, 0], 0.0], [0.0, 0.0]])
    concave = np.linalg.eigvalsh(bend - 1e-3 * complete)[0] > 0.0
    return np.asarray(np.linalg.inv(bend if concave else complete), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Calibration:
    """A fitted calibration: from scores to masses of the first class, of the second and of both.

    Masses are read from a table over the angle phi in (-pi/2, pi/2), with
    score = center + scale tan(phi), that covers scores of any size.
    """

    intercept: float
    slope: float
    center: float
    scale: float
    table: PPoly | None
    at_center: FloatArray

    def probability(self, score: FloatArray) -> FloatArray:
        """Most likely probability (n,) of the second class."""
        return np.asarray(expit(self.intercept + self.slope * score))

    def masses(self, score: FloatArray) -> FloatArray:
        """Masses (n, 3) of the first class, the second one, and of both."""
        if self.table is None:
            known = np.abs(score - self.center) <= 1e-9 * max(1.0, abs(self.center))
            return np.where(known[:, None], self.at_center, [0.0, 0.0, 1.0])
        angle = np.arctan((score - self.center) / self.scale)
        read = np.clip(self.table(angle), 0.0, 1.0)
        return read / read.sum(axis=1, keepdims=True)

    def __getstate__(self) -> dict[str, Any]:
        """Arrays and numbers only: scipy's splines have no state that files could hold."""
        table = None if self.table is None else (self.table.c, self.table.x)
        return self.__dict__ | {"table": table}

    def __setstate__(self, state: dict[str, Any]) -> None:
        table = None if state["table"] is None else PPoly(*state["table"])
        self.__dict__.update(state | {"table": table})


def calibrate(
    score: FloatArray, contour: FloatArray, weight: FloatArray, smoothing: bool = True
) -> Calibration:
    """Fit a calibration to scores (n,), plausibilities (n, 2) of the two classes, and weights."""
    mean, spread = standard(score, weight)
    given = favors(contour, weight)
    total = favored_items(given) if smoothing else None
    records = make_records((score - mean) / spread, items_of(given, weight, total))
    if records.shape[1] == 0:
        return nothing_known(mean)
    theta, _ = maximize(records)
    if not smoothing and not _has_maximum(records, theta):
        refuse_separable()
    few = condense(records, theta[1])
    return concluded(theta, inverse_curvature(theta, records), few, mean, spread)


def nothing_known(mean: float) -> Calibration:
    """The calibration of a pair of classes that no row tells apart."""
    return Calibration(0.0, 0.0, mean, 1.0, None, np.array([0.0, 0.0, 1.0]))


def refuse_separable() -> None:
    """Refuse scores that separate the classes, which smoothing would make up for."""
    raise InputError(
        "Without smoothing, calibration scores of the two classes should overlap",
        "they are separable and the likelihood has no maximum",
        "use smoothing=True, or more data",
    )


def concluded(
    theta: FloatArray, covariance: FloatArray, few: FloatArray, mean: float, spread: float
) -> Calibration:
    """The calibration with a maximum, its covariance, and few records with the likelihood."""
    exact = Exact(theta, covariance, _value_and_slopes(theta, few)[0], few)
    raw_slope = theta[1] / spread
    raw_intercept = theta[0] - raw_slope * mean
    if covariance[1, 1] == 0.0:
        return Calibration(raw_intercept, 0.0, mean, 1.0, None, exact(np.zeros(1))[0])
    center = -covariance[0, 1] / covariance[1, 1]
    scale = np.sqrt(np.linalg.det(covariance)) / covariance[1, 1]
    table = tabulate(exact, center, scale)
    return Calibration(
        raw_intercept, raw_slope, mean + spread * center, spread * scale, table, table(0.0)
    )


def standard(score: FloatArray, weight: FloatArray) -> tuple[float, float]:
    """Mean and deviation to standardize scores by; a deviation of one where all are equal."""
    counted = score[weight > 0.0]
    if len(counted) == 0:
        return 0.0, 1.0
    mean, spread = float(counted.mean()), float(counted.std())
    return mean, spread if spread > 1e-12 * max(1.0, abs(mean)) else 1.0


@dataclass(frozen=True, eq=False)
class Exact:
    """Predictive masses without a table."""

    theta: FloatArray
    covariance: FloatArray
    top: float
    records: FloatArray

    def __call__(self, points: FloatArray) -> FloatArray:
        """Masses (n, 3) at standardized scores."""
        from plausible.models.calibration.profile_compiled import predictive_masses

        said = np.vstack([self.records[:4], np.exp(np.clip(self.records[4:], -600.0, 600.0))])
        given: Any = predictive_masses(points, self.theta, self.covariance, self.top, said)
        return given

    def far_away(self) -> FloatArray:
        """Masses (2, 3) of scores that are infinitely low and high.

        There every probability needs a slope of next to none, and is as plausible as no slope.
        """
        level = np.append(self.records[:1] * 0.0, self.records[1:], axis=0)
        start = np.array([self.theta[0], 0.0])
        flat = min(np.exp(_ascend(start, level)[1] - self.top), 1.0)
        masses = np.array([[1.0 - flat, 0.0, flat], [0.0, 1.0 - flat, flat]])
        return masses if self.theta[1] >= 0.0 else masses[::-1]


def tabulate(exact: Exact, center: float, scale: float) -> CubicSpline:
    """Spline of the masses over the angle, with nodes where they are needed."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, _FIRST_NODES)
    low, high = exact.far_away()
    inner = exact(center + scale * np.tan(angle[1:-1]))
    masses = np.vstack([low, inner, high])
    left, right = angle[:-1], angle[1:]
    tolerance = DOUBTFUL_TOLERANCE if exact.records[3].any() else TABLE_TOLERANCE
    for _ in range(_ROUNDS):
        middle = 0.5 * (left + right)
        found = exact(center + scale * np.tan(middle))
        error = np.abs(CubicSpline(angle, masses)(middle) - found).max(axis=1)
        order = np.argsort(np.append(angle, middle))
        angle = np.append(angle, middle)[order]
        masses = np.vstack([masses, found])[order]
        rough = error > tolerance
        if not rough.any():
            break
        left, right = (
            np.concatenate([left[rough], middle[rough]]),
            np.concatenate([middle[rough], right[rough]]),
        )
    return CubicSpline(angle, masses)
