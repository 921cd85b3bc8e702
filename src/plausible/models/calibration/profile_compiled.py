"""Profile likelihoods of a calibration and their integrals, compiled.

A record at score z holds n0 and n1 items of the first and of the second class, and v items whose
odds of the second class were said to be r: with t = a + b z its log-likelihood is

    n1 t - (n0 + n1) log(1 + e^t) + v (log(1 + r e^t) - log(1 + e^t)).

Imported only when a calibration is fitted: the first use on a machine compiles for some seconds.
What compiles slowly is left out: kernels make no arrays. Records are a tuple of z, n0, n1, v and r.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from plausible.engine import in_order, one_blas_thread

Function = TypeVar("Function", bound=Callable[..., Any])
FloatArray = NDArray[np.float64]
Records = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]

FARTHEST = 25.0  # log odds beyond which less than 2e-11 of probability is left
NEGLIGIBLE = -25.0  # logarithm of what may be left out of an integral
N_NODES = 24
FEW_RECORDS = 300  # up to which doubtful labels can give a profile with several peaks that count
MUCH_WORK = 10_000  # points times records from which threads share it
PARTS_OF_THREAD = 4  # since some points take longer than others
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(N_NODES)

# Only Python and compiled code call them: without a way in for C they compile faster.
_options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
# Parts that only compiled code calls need none for Python, either.
_inner: dict[str, Any] = {"no_cpython_wrapper": True}
_jit: Any = numba.njit


def _part(function: Function) -> Function:
    """A part of the loop, compiled when the loop is."""
    part: Function = _jit(**_inner, **_options)(function)
    return part


def predictive_masses(
    points: FloatArray, theta: FloatArray, covariance: FloatArray, top: float, records: FloatArray
) -> FloatArray:
    """Masses (n, 3) of the first class, the second one and of both, at each of the points.

    theta is the maximum (a, b) of the likelihood, top its value, covariance (2, 2) the inverse of
    its curvature there; records are (5, R).
    """
    said = tuple(np.ascontiguousarray(row) for row in records)
    masses, at = np.empty((len(points), 3)), np.ascontiguousarray(points, dtype=np.float64)
    doubtful = bool(len(said[0]) <= FEW_RECORDS and said[3].any())
    curve = (float(covariance[0, 0]), float(covariance[0, 1]), float(covariance[1, 1]))
    line = (float(theta[0]), float(theta[1]))

    def predict(rows: slice) -> None:
        space = np.empty(2 * N_NODES), np.empty(2 * N_NODES)
        _predict(at[rows], line, curve, float(top), said, doubtful, space, masses[rows])

    with one_blas_thread() as n_threads:
        n_parts = PARTS_OF_THREAD * n_threads if len(at) * len(said[0]) >= MUCH_WORK else 1
        size = max(-(-len(at) // n_parts), 1)
        parts = (slice(start, start + size) for start in range(0, len(at), size))
        for _ in in_order(predict, parts, n_threads):
            pass
    return masses


@_part
def _sigmoid(t: float) -> float:
    """Probability with log odds t."""
    e = math.exp(-abs(t))
    return 1.0 / (1.0 + e) if t >= 0.0 else e / (1.0 + e)


@_part
def log_likelihood(eta: float, b: float, z0: float, records: Records) -> float:
    """Log-likelihood of the line with log odds eta at z0 and slope b."""
    z, n0, n1, v, r = records
    total = 0.0
    for i in range(len(z)):
        t = eta + b * (z[i] - z0)
        e = math.exp(-abs(t))
        total -= (n0[i] * t if t >= 0.0 else -n1[i] * t) + (n0[i] + n1[i]) * math.log1p(e)
        if v[i] != 0.0:
            total += v[i] * math.log((e + r[i] if t >= 0.0 else 1.0 + r[i] * e) / (1.0 + e))
    return total


@_part
def derivatives(
    eta: float, b: float, z0: float, records: Records
) -> tuple[float, float, float, float]:
    """First and second derivative in b, the mixed one in b and eta, and EM's curvature in b."""
    z, n0, n1, v, r = records
    slope = curve = mixed = complete = 0.0
    for i in range(len(z)):
        x = z[i] - z0
        t = eta + b * x
        e = math.exp(-abs(t))
        p = (1.0 if t >= 0.0 else e) / (1.0 + e)
        spread = (n0[i] + n1[i] + v[i]) * p * (1.0 - p)
        rise = n1[i] - (n0[i] + n1[i]) * p
        bend = -spread
        if v[i] != 0.0:
            q = r[i] / (e + r[i]) if t >= 0.0 else r[i] * e / (1.0 + r[i] * e)
            rise += v[i] * (q - p)
            bend += v[i] * q * (1.0 - q)
        slope += rise * x
        curve += bend * x * x
        mixed += bend * x
        complete -= spread * x * x
    return slope, curve, mixed, complete


@_part
def climb(eta: float, b: float, z0: float, records: Records, reach: float) -> tuple[float, float]:
    """Slope that maximizes the likelihood at fixed eta, from b on, and its change with eta.

    Newton's method on the derivative, between slopes where the likelihood is known to rise and to
    fall. Where it is not concave (only with doubtful labels), EM's curvature takes over.
    """
    low, high = -np.inf, np.inf
    change = 0.0
    for _ in range(100):
        slope, curve, mixed, complete = derivatives(eta, b, z0, records)
        if slope == 0.0 or complete == 0.0:
            break
        bend = curve if curve < 1e-3 * complete else complete
        change = -mixed / bend
        step = -slope / bend
        if slope > 0.0:
            low = b
        else:
            high = b
        if slope * step < 1e-12:
            break
        step = reach if step > reach else step
        following = b + (-reach if step < -reach else step)
        if not low < following < high:
            following = 0.5 * (low + high)
        if following == b:
            break
        b = following
    return b, change


@_part
def _other_peak(eta: float, b: float, z0: float, records: Records, reach: float) -> float:
    """A slope with a higher likelihood than b, if a look around finds one, else b."""
    best, highest = b, log_likelihood(eta, b, z0, records) + 1e-9
    for level in (-8.0, -3.0, -1.0, 0.0, 1.0, 3.0, 8.0):
        # Lines through a level of log odds at z = 0, or steep ones where that is too near.
        trial = (eta - level) / z0 if abs(z0) > 1.0 else level
        value = log_likelihood(eta, trial, z0, records)
        if value > highest:
            best, highest = trial, value
    return climb(eta, best, z0, records, reach)[0] if best != b else b


@_part
def _side_integral(
    start: float,
    side: float,
    top: float,
    b: float,
    change: float,
    spread: float,
    z0: float,
    records: Records,
    reach: float,
    doubtful: bool,
    space: tuple[FloatArray, FloatArray],
) -> float:
    """Integral of the contour of the probability over all log odds on one side of `start`."""
    limit = side * FARTHEST
    if side * (limit - start) <= 0.0:
        return 0.0
    far, height, eta, rise, at = start, 0.0, start, change, b
    width = 3.0 * spread
    while side * (limit - far) > 0.0 and height + math.log(_sigmoid(-side * far)) > NEGLIGIBLE:
        far = far + side * width
        if side * (far - limit) > 0.0:
            far = limit
        at, rise = climb(far, at + rise * (far - eta), z0, records, reach)
        height = log_likelihood(far, at, z0, records) - top
        eta = far
        width = 1.5 * width
    # Two panels where the probability changes most in between.
    middle = 0.0 if side * start < -3.0 and side * far > 3.0 else far
    heights, shares = space
    count, begin, eta = 0, start, start
    for panel in range(2):
        end = middle if panel == 0 else far
        if end == begin:
            continue
        half = 0.5 * (end - begin)
        for node in range(N_NODES):
            following = begin + half * (1.0 + NODES[node])
            b, change = climb(following, b + change * (following - eta), z0, records, reach)
            eta = following
            if doubtful and node % 4 == 0:
                b = _other_peak(eta, b, z0, records, reach)
            heights[count] = log_likelihood(eta, b, z0, records) - top
            p = _sigmoid(eta)
            shares[count] = abs(half) * NODE_WEIGHTS[node] * p * (1.0 - p)
            count += 1
        begin = end
    # A cut of the contour is the interval that it spans, should the contour have several peaks.
    total, highest = 0.0, -np.inf
    for node in range(count - 1, -1, -1):
        height = heights[node] if heights[node] < 0.0 else 0.0
        highest = height if height > highest else highest
        total += shares[node] * math.exp(highest)
    return total


@numba.njit(cache=True, **_options)
def _predict(points, theta, covariance, top, records, doubtful, space, masses):  # type: ignore[no-untyped-def]  # pragma: no cover
    for i in range(len(points)):
        z0 = points[i]
        best = theta[0] + theta[1] * z0
        shared = covariance[1] + z0 * covariance[2]
        variance = covariance[0] + z0 * covariance[1] + z0 * shared
        change = shared / variance
        widest = 0.0
        for z in records[0]:
            widest = abs(z - z0) if abs(z - z0) > widest else widest
        reach = 30.0 / widest if widest > 0.0 else 0.0
        masses[i, 2] = 0.0
        for k in range(2):  # below the best, which is sure of the second class, and above
            side = 2.0 * k - 1.0
            start = best if side * best > -FARTHEST else -side * FARTHEST
            b = theta[1] + change * (start - best)
            unsure = _side_integral(
                start,
                side,
                top,
                b,
                change,
                math.sqrt(variance),
                z0,
                records,
                reach,
                doubtful,
                space,
            )
            sure = _sigmoid(-side * best) - unsure
            masses[i, 1 - k] = sure if sure > 0.0 else 0.0
            masses[i, 2] += unsure
