r"""Moments of a normal variable that is known to lie between two bounds.

For a standard normal z in [a, b], with :math:`Z = \Phi(b) - \Phi(a)`,

.. math:: E z = \frac{\varphi(a) - \varphi(b)}{Z}, \qquad
   Var\, z = 1 + \frac{a \varphi(a) - b \varphi(b)}{Z} - (E z)^2

These cancel in the tails and for narrow intervals. There, and for higher moments, the integrals are
computed by Gauss-Legendre quadrature over the part of [a, b] that holds all of the mass but
exp(-45): the integrand is entire and nearly a polynomial there, so that nothing is lost either.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

FloatArray = NDArray[np.float64]

LOG_2PI = float(np.log(2 * np.pi))
NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)
NEGLIGIBLE = 45.0  # log of the density below its mode that is left out
CALM_MODE = 4.0  # closed forms lose few digits if the mode is at most this far from the mean
CALM_WIDTH = 1.0  # and the interval at least this wide
BLOCK = 1 << 15  # intervals of which the quadrature is done at once


class Truncated(NamedTuple):
    """Log mass of intervals under a normal law, and mean and variance within them."""

    log_mass: FloatArray
    mean: FloatArray
    variance: FloatArray


def truncated_normal(
    mean: FloatArray, sd: FloatArray, low: FloatArray, high: FloatArray
) -> Truncated:
    """Moments of normal variables (m,) within bounds, elementwise."""
    log_mass, center, variance = standard_truncated((low - mean) / sd, (high - mean) / sd)
    return Truncated(log_mass, mean + sd * center, sd**2 * variance)


def standard_truncated(a: FloatArray, b: FloatArray) -> Truncated:
    """Moments of a standard normal variable within bounds a < b (m,)."""
    found = Truncated(np.zeros_like(a), np.zeros_like(a), np.ones_like(a))
    mode = np.clip(0.0, a, b)
    calm = (np.abs(mode) <= CALM_MODE) & (b - a >= CALM_WIDTH)
    free = np.isinf(a) & np.isinf(b)
    for part, method in ((calm & ~free, _by_formula), (~calm, _by_quadrature)):
        rows = np.flatnonzero(part)
        if len(rows):
            for whole, some in zip(found, method(a[rows], b[rows]), strict=True):
                whole[rows] = some
    return found


def _by_formula(a: FloatArray, b: FloatArray) -> Truncated:
    """The closed forms, with the interval turned to the lower tail, where logs are exact."""
    flip = a + b > 0
    left, right = np.where(flip, -b, a), np.where(flip, -a, b)
    upper, lower = log_ndtr(right), log_ndtr(left)
    log_mass = upper + np.log1p(-np.exp(lower - upper))
    at_left, at_right = (np.exp(-0.5 * (z**2 + LOG_2PI) - log_mass) for z in (left, right))
    mean = at_left - at_right
    slopes = [np.where(np.isinf(z), 0.0, z) * at for z, at in ((left, at_left), (right, at_right))]
    variance = 1.0 + slopes[0] - slopes[1] - mean**2
    return Truncated(log_mass, np.where(flip, -mean, mean), variance)


def _by_quadrature(a: FloatArray, b: FloatArray) -> Truncated:
    """The same by quadrature."""
    log_mass, mean, central = central_moments(a, b, 2)
    return Truncated(log_mass, mean, central[0])


def central_moments(
    a: FloatArray, b: FloatArray, order: int
) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
    """Log mass and mean within [a, b] (m,), and central moments from the second up to `order`."""
    parts = [
        _quadrature_moments(a[rows], b[rows], order)
        for rows in (slice(s, s + BLOCK) for s in range(0, max(len(a), 1), BLOCK))
    ]
    log_mass, mean = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    return (
        log_mass,
        mean,
        [np.concatenate(some) for some in zip(*(p[2] for p in parts), strict=True)],
    )


def _quadrature_moments(
    a: FloatArray, b: FloatArray, order: int
) -> tuple[FloatArray, FloatArray, list[FloatArray]]:
    """`central_moments` of one block, about the mode so that no digits are lost."""
    mode = np.clip(0.0, a, b)
    # z^2 - mode^2 = t (t + 2 mode) for z = mode + t: up to the t at which it is 2 NEGLIGIBLE.
    reach = 2 * NEGLIGIBLE / (np.abs(mode) + np.sqrt(mode**2 + 2 * NEGLIGIBLE))
    start, end = np.maximum(a - mode, -reach), np.minimum(b - mode, reach)
    half = 0.5 * (end - start)
    t = (start + half)[:, None] + half[:, None] * NODES
    mass = np.exp(-0.5 * t * (t + 2 * mode[:, None])) * WEIGHTS
    total = mass.sum(axis=1)
    log_mass = np.log(total * half) - 0.5 * (mode**2 + LOG_2PI)
    share = mass / total[:, None]
    shift = (share * t).sum(axis=1)
    gap = t - shift[:, None]
    return log_mass, mode + shift, [(share * gap**k).sum(axis=1) for k in range(2, order + 1)]
