"""Parameters as dictionaries, and as vectors with and without constraints.

A family says between which bounds each parameter lies. Positive parameters are logs without
constraints, shares are log odds, and others are in units of the spread of the data.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from plausible.checks import as_floats, name_options, shown
from plausible.errors import InputError

FloatArray = NDArray[np.float64]
Params = dict[str, Any]
Bounds = Mapping[str, tuple[float, float]]

ANYWHERE = (-np.inf, np.inf)


def listed(params: Params) -> FloatArray:
    """All entries of the parameters, in one vector."""
    return np.concatenate([np.ravel(np.asarray(v, dtype=np.float64)) for v in params.values()])


def shaped(vector: FloatArray, like: Params) -> Params:
    """A vector as parameters of the shapes of others: numbers or arrays."""
    made, place = {}, 0
    for name, value in like.items():
        size = int(np.size(value))
        part = vector[place : place + size]
        made[name] = float(part[0]) if np.ndim(value) == 0 else part.reshape(np.shape(value))
        place += size
    return made


def entry_bounds(params: Params, bounds: Bounds) -> FloatArray:
    """Bounds (P, 2) of each entry of the parameters."""
    return np.array(
        [
            bounds.get(name, ANYWHERE)
            for name, value in params.items()
            for _ in range(np.size(value))
        ]
    )


def free(values: FloatArray, limits: FloatArray, scale: float) -> FloatArray:
    """Coordinates without constraints of entries between limits (P, 2)."""
    low, high = limits.T
    made = values / scale
    below, above = np.isfinite(low), np.isfinite(high)
    both, lower, upper = below & above, below & ~above, above & ~below
    with np.errstate(divide="ignore", invalid="ignore"):
        share = ((values - low)[both]) / (high - low)[both]
        made[both] = logit(np.clip(share, 1e-300, 1 - 1e-16))
        made[lower] = np.log(np.maximum((values - low)[lower], 1e-300))
        made[upper] = -np.log(np.maximum((high - values)[upper], 1e-300))
    return made


def bound(coordinates: FloatArray, limits: FloatArray, scale: float) -> FloatArray:
    """Entries between limits with these coordinates."""
    low, high = limits.T
    made = coordinates * scale
    below, above = np.isfinite(low), np.isfinite(high)
    both, lower, upper = below & above, below & ~above, above & ~below
    made[both] = low[both] + (high - low)[both] * expit(coordinates[both])
    made[lower] = low[lower] + np.exp(coordinates[lower])
    made[upper] = high[upper] - np.exp(-coordinates[upper])
    return made


def slopes(values: FloatArray, limits: FloatArray) -> FloatArray:
    """Derivatives (P,) of the coordinates, with scale 1, by the entries."""
    low, high = limits.T
    with np.errstate(divide="ignore", invalid="ignore"):
        from_low = np.where(np.isfinite(low), 1 / (values - low), 0.0)
        from_high = np.where(np.isfinite(high), 1 / (high - values), 0.0)
    total = from_low + from_high
    return np.where(np.isinf(low) & np.isinf(high), 1.0, total)


class BoundedChart:
    """Coordinates in which the engine may extrapolate parameters."""

    def __init__(self, bounds: Bounds, scale: float) -> None:
        self.bounds, self.scale = bounds, scale

    def flatten(self, params: Params) -> FloatArray:
        """Coordinates of the parameters, in one vector."""
        return free(listed(params), entry_bounds(params, self.bounds), self.scale)

    def restore(self, vector: FloatArray, like: Params) -> Params:
        """The parameters with these coordinates; `like` gives the shapes."""
        return shaped(bound(vector, entry_bounds(like, self.bounds), self.scale), like)


def check_init(init: Any, start: Params, bounds: Bounds) -> Params:
    """Parameters to start from: those given, and others as the family starts from the data."""
    if init is None:
        given: dict[str, Any] = {}
    elif isinstance(init, Mapping):
        given = dict(init)
    else:
        raise InputError(
            "init should be a dictionary of parameters",
            f"{shown(init)} was given",
            "name them, or leave it out",
            parameter="init",
            value=init,
        )
    strange = [name for name in given if name not in start]
    if strange and start:
        raise InputError(
            f"init should name parameters of the family, {name_options(list(start))}",
            f"it names {shown(strange[0])}",
            parameter="init",
            value=init,
        )
    params = {**start, **given}
    for name, value in params.items():
        params[name] = _check_entry(name, value, bounds.get(name, ANYWHERE), start.get(name, value))
    return params


def _check_entry(name: str, value: Any, limits: tuple[float, float], like: Any) -> Any:
    """A parameter strictly within its bounds, where EM can move it."""
    low, high = limits
    array = as_floats(value, f"init[{name!r}]")
    inside = bool(np.isfinite(array).all() and ((array > low) & (array < high)).all())
    if array.shape != np.shape(like) or not inside:
        wanted = "finite numbers" if np.ndim(like) else "a finite number"
        between = (
            "" if np.isinf(low) and np.isinf(high) else f" strictly within ({low:g}, {high:g})"
        )
        raise InputError(
            f"{name} should start at {wanted} of shape {np.shape(like)}{between}",
            f"{shown(value)} was found",
            "correct init, or leave it out",
            parameter="init",
            value=value,
        )
    return float(array) if array.ndim == 0 else array.copy()
