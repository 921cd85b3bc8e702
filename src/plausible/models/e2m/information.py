"""How sure an estimate is: covariances, standard errors and intervals.

The covariance of the estimate is the inverse of the observed information. Intervals are symmetric
in coordinates without constraints (logs of positive parameters, log odds of shares), so that they
stay where the parameters do, and cover better in small samples.
"""

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from plausible.models.e2m.coordinates import bound, free, slopes

FloatArray = NDArray[np.float64]

EDGE = 1e-9  # distance from a bound, relative to that of both, at which an estimate lies on it


class InformationWarning(UserWarning):
    """The observed information does not say how sure an estimate is.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", InformationWarning)
    """


def covariance_of(
    information: FloatArray, expand: FloatArray, entries: FloatArray, limits: FloatArray
) -> FloatArray:
    """Covariance (P, P) of entries that move with the free parameters as `expand` (P, p) says."""
    unknown = np.full((len(entries), len(entries)), np.nan)
    low, high = limits.T
    near = np.where(np.isfinite(high - low), EDGE * (high - low), 0.0)
    on_edge = (entries - low <= near) | (high - entries <= near)
    if on_edge.any():
        warn(
            f"the estimate {entries[on_edge][0]:.3g} lies on the edge of what is possible, where "
            "information tells nothing"
        )
        return unknown
    return expand @ inverse_of(information) @ expand.T


def inverse_of(information: FloatArray) -> FloatArray:
    """The covariance of an estimate, or NaN with a warning where its information is singular."""
    bad = not np.isfinite(information).all()
    if bad or not (np.linalg.eigvalsh(information) > 0).all():
        warn("it is not positive definite: the data do not determine all parameters")
        return np.full_like(information, np.nan)
    return np.asarray(np.linalg.inv(information))


def warn(reason: str) -> None:
    """Say why there are no standard errors."""
    warnings.warn(
        f"The observed information should say how sure the estimate is, but {reason}; standard "
        "errors are NaN, and resampling (method='bootstrap') may tell.",
        InformationWarning,
        stacklevel=5,
    )


def wald_limits(
    entries: FloatArray, errors: FloatArray, limits: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Ends (P,) of intervals that are symmetric in coordinates without constraints."""
    reach = float(ndtri(0.5 + 0.5 * level)) * errors * slopes(entries, limits)
    center = free(entries, limits, 1.0)
    return bound(center - reach, limits, 1.0), bound(center + reach, limits, 1.0)


def resampled_limits(draws: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Ends (P,) of intervals between quantiles of estimates (B, P) from resampled rows."""
    low, high = np.quantile(draws, [0.5 - 0.5 * level, 0.5 + 0.5 * level], axis=0)
    return low, high
