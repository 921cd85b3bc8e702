r"""Normal variables within rectangles: their probability, mean and covariance.

One bounded feature has closed moments (`truncated`). Two are integrated over the first, with the
second in closed form given it,

.. math:: P = \int_{a_1}^{b_1} N(x_1) \, P(a_2 \le x_2 \le b_2 \mid x_1) \, dx_1

by Gauss-Legendre points in panels that end where the inner probability rises and falls: exact to
about ten digits, also far from the mean and for strong correlations. For more than two there is no
such rule: `_by_lattice` takes a fixed set of points (Genz 1992), with an error of about 1 / their
number, and only on request.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from plausible.models.e2m.truncated import LOG_2PI, NEGLIGIBLE, standard_truncated, truncated_normal

FloatArray = NDArray[np.float64]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)
RISE = 6.0  # deviations around an end of the second interval within which its probability rises
BLOCK = 1 << 21  # numbers that are computed with at once


class Rectangles(NamedTuple):
    """Log probability (n,), mean (n, q) and covariance (n, q, q) within rectangles."""

    log_mass: FloatArray
    mean: FloatArray
    covariance: FloatArray


def within(
    mean: FloatArray, covariance: FloatArray, low: FloatArray, high: FloatArray, n_lattice: int
) -> Rectangles:
    """Normal variables (n, q) with covariances (n, q, q), between bounds (n, q)."""
    q = mean.shape[1]
    if q == 1:
        sd = np.sqrt(covariance[:, 0, 0])
        found = truncated_normal(mean[:, 0], sd, low[:, 0], high[:, 0])
        return Rectangles(found.log_mass, found.mean[:, None], found.variance[:, None, None])
    points = lattice(n_lattice, q - 1) if q > 2 else None
    size = max(BLOCK // (400 if points is None else points.size * 4), 1)
    parts = []
    for start in range(0, len(mean), size):
        some = slice(start, start + size)
        given = mean[some], covariance[some], low[some], high[some]
        parts.append(two(*given) if points is None else _by_lattice(*given, points))
    return Rectangles(*(np.concatenate(one) for one in zip(*parts, strict=True)))


def two(mean: FloatArray, covariance: FloatArray, low: FloatArray, high: FloatArray) -> Rectangles:
    """Two bounded features."""
    s1 = np.sqrt(covariance[:, 0, 0])
    slope = covariance[:, 0, 1] / s1  # of the second feature by the standardized first
    s2 = np.sqrt(np.maximum(covariance[:, 1, 1] - slope**2, 1e-14 * covariance[:, 1, 1]))
    a, b = (low[:, 0] - mean[:, 0]) / s1, (high[:, 0] - mean[:, 0]) / s1
    gap_low, gap_high = low[:, 1] - mean[:, 1], high[:, 1] - mean[:, 1]
    z, weight = panels(a, b, gap_low, gap_high, slope, s2)
    inner = slope[:, None] * z
    second = standard_truncated(
        ((gap_low[:, None] - inner) / s2[:, None]).ravel(),
        ((gap_high[:, None] - inner) / s2[:, None]).ravel(),
    )
    log_inner, there, spread = (part.reshape(z.shape) for part in second)
    with np.errstate(divide="ignore"):
        logs = np.log(weight) - 0.5 * (z**2 + LOG_2PI) + log_inner
    peak = logs.max(axis=1, keepdims=True)
    mass = np.exp(logs - peak)
    total = mass.sum(axis=1)
    share = mass / total[:, None]
    first, then = s1[:, None] * z, inner + s2[:, None] * there
    shift = np.stack([(share * first).sum(axis=1), (share * then).sum(axis=1)], axis=1)
    gaps = np.stack([first, then]) - shift.T[:, :, None]
    made = np.einsum("nj,inj,lnj->nil", share, gaps, gaps)
    made[:, 1, 1] += (share * spread).sum(axis=1) * s2**2
    return Rectangles(np.log(total) + peak[:, 0], mean + shift, made)


def panels(
    a: FloatArray,
    b: FloatArray,
    low: FloatArray,
    high: FloatArray,
    slope: FloatArray,
    sd: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Points z (n, J) of the first feature in [a, b], and their weights."""
    mode = np.clip(0.0, a, b)
    there = slope * mode
    end = np.clip(there, low, high)  # of the second interval, which pulls
    pulled = np.clip(slope * end / (slope**2 + sd**2), a, b)
    mode = np.where(end == there, mode, pulled)
    miss = np.clip(slope * mode, low, high) - slope * mode
    steep = np.abs(mode - slope * miss / sd**2)
    steep = np.where((mode > a) & (mode < b), 0.0, steep)
    reach = 2 * NEGLIGIBLE / (steep + np.sqrt(steep**2 + 2 * NEGLIGIBLE))
    start, stop = np.maximum(a, mode - reach), np.minimum(b, mode + reach)
    safe = np.where(np.abs(slope) > 1e-12 * sd, slope, np.inf)
    edges = [start, stop]
    for bound in (low, high):
        finite = np.where(np.isfinite(bound), bound, 0.0)
        for side in (-RISE, 0.0, RISE):
            cut = (finite + side * sd) / safe
            edges.append(np.clip(np.where(np.isfinite(bound), cut, start), start, stop))
    ends = np.sort(np.stack(edges, axis=1), axis=1)
    half = 0.5 * np.diff(ends, axis=1)
    middle = ends[:, :-1] + half
    z = (middle[:, :, None] + half[:, :, None] * NODES).reshape(len(a), -1)
    weight = (half[:, :, None] * WEIGHTS).reshape(len(a), -1)
    return z, weight


def lattice(n_points: int, dimensions: int) -> FloatArray:
    """Points (S, dimensions) that fill the unit cube evenly, always the same."""
    steps = np.sqrt(_primes(dimensions))
    shifted = np.arange(1, n_points + 1)[:, None] * steps % 1.0
    return np.clip(1 - np.abs(2 * shifted - 1), 1e-12, 1 - 1e-12)  # periodized


def _primes(count: int) -> FloatArray:
    """The first primes."""
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % p for p in found):
            found.append(number)
        number += 1
    return np.array(found, dtype=np.float64)


def _by_lattice(
    mean: FloatArray, covariance: FloatArray, low: FloatArray, high: FloatArray, points: FloatArray
) -> Rectangles:
    """Several bounded features, one after the other at fixed points; the last in closed form."""
    n_rows, q = mean.shape
    factor = np.linalg.cholesky(covariance)
    z = np.zeros((n_rows, len(points), q))
    logs = np.zeros((n_rows, len(points)))
    spread = np.zeros_like(logs)
    for j in range(q):
        before = np.einsum("nsl,nl->ns", z[:, :, :j], factor[:, j, :j])
        sd = factor[:, j, j][:, None]
        a = ((low[:, j] - mean[:, j])[:, None] - before) / sd
        b = ((high[:, j] - mean[:, j])[:, None] - before) / sd
        found = standard_truncated(a.ravel(), b.ravel())
        logs += found.log_mass.reshape(logs.shape)
        if j == q - 1:
            z[:, :, j] = found.mean.reshape(logs.shape)
            spread = found.variance.reshape(logs.shape)
        else:
            z[:, :, j] = inside(a, b, points[:, j])
    peak = logs.max(axis=1, keepdims=True)
    mass = np.exp(logs - peak)
    share = mass / mass.sum(axis=1, keepdims=True)
    x = np.einsum("nij,nsj->nsi", factor, z)
    shift = np.einsum("ns,nsi->ni", share, x)
    gap = x - shift[:, None, :]
    made = np.einsum("ns,nsi,nsl->nil", share, gap, gap)
    made[:, -1, -1] += (share * spread).sum(axis=1) * factor[:, -1, -1] ** 2
    return Rectangles(np.log(mass.mean(axis=1)) + peak[:, 0], mean + shift, made)


def inside(a: FloatArray, b: FloatArray, u: FloatArray) -> FloatArray:
    """The quantile u of a standard normal variable within [a, b], from the tail that is exact."""
    flip = a > 0
    left, right = np.where(flip, -b, a), np.where(flip, -a, b)
    below = ndtr(left)
    z = ndtri(below + np.where(flip, 1 - u, u) * (ndtr(right) - below))
    z = np.where(np.isfinite(z), z, np.where(np.isfinite(right), right, left))
    return np.clip(np.where(flip, -z, z), a, b)
