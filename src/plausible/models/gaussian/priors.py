"""Conjugate priors of Gaussian components: for small classes, or more features than items."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from plausible.checks import as_floats, check_number, check_option, shown
from plausible.errors import InputError, in_context
from plausible.models.gaussian.census import RowCensus
from plausible.models.gaussian.parameters import FloatArray, Prior

KEYS = ("weights", "mean", "mean_precision", "degrees_of_freedom", "scale")


def make_prior(
    prior: str | Mapping[str, Any] | None, census: RowCensus, kind: str, n_components: int
) -> Prior | None:
    """A Dirichlet prior on weights and a normal-inverse-Wishart one on means and covariances.

    Parameters
    ----------
    prior : None, "weak" or dict
        A dict may have these entries:

        weights : concentration of the Dirichlet prior, at least 1 (1 is flat)
        mean : array (d,), mean of the means; by default that of all rows
        mean_precision : how many items that mean is worth; 0 by default
        degrees_of_freedom : of the inverse Wishart prior; d + 2 by default
        scale : array (d, d), (d,) or number, its scale; by default the variances of all rows,
            divided by the number of components to the power 2 / d

        "weak" is the default of all entries with a mean precision of 0.01: the prior of Fraley and
        Raftery, Bayesian regularization for normal mixture estimation, 2007, with the variances
        instead of the covariance matrix of all rows.
    """
    if prior is None:
        return None
    if not isinstance(prior, Mapping):
        check_option(prior, ("weak",), "prior")
        prior = {"mean_precision": 0.01}
    unknown = set(prior) - set(KEYS)
    if unknown:
        raise InputError(
            f"A prior should have entries among {', '.join(KEYS)}",
            f"has {shown(sorted(unknown, key=str))}",
            "rename or leave them out",
        )
    d = len(census.center)
    concentration = _at_least(prior.get("weights", 1.0), 1.0, "weights")
    precision = _at_least(prior.get("mean_precision", 0.0), 0.0, "mean_precision")
    freedom = _at_least(prior.get("degrees_of_freedom", d + 2.0), 0.0, "degrees_of_freedom")
    mean = as_floats(prior.get("mean", census.center), "prior mean")
    default = census.spread**2 / n_components ** (2 / d)
    scale = matrix(as_floats(prior.get("scale", default), "prior scale"), d)
    if mean.shape != (d,) or not np.isfinite(mean).all():
        raise InputError(
            f"The prior mean should be {d} finite numbers",
            f"is {mean}",
            "give one number for each feature",
        )
    # A mean with a prior brings one more root of the determinant for each component.
    extra = float(precision > 0)
    strength = freedom + d + 1 + extra * (n_components if kind == "tied" else 1)
    shape = () if kind == "tied" else (n_components,)
    return Prior(
        concentration,
        mean,
        precision,
        np.full(shape, strength),
        by_kind(scale, kind, n_components),
    )


def _at_least(value: Any, low: float, name: str) -> float:
    """A number that is not below `low`."""
    try:
        return check_number(value, name, low)
    except ValueError as error:
        raise in_context(error, "In a prior, ", InputError) from None


def matrix(scale: FloatArray, d: int) -> FloatArray:
    """A scale given as matrix, variances or one number, as a positive definite matrix."""
    if scale.shape == (d, d):
        full = scale
    elif scale.shape in ((d,), ()):
        full = np.diag(np.broadcast_to(scale, d))
    else:
        raise InputError(
            f"The prior scale should have shape ({d}, {d}), ({d},) or ()",
            f"has {scale.shape}",
            "give a matrix, variances, or one number",
            value=scale.shape,
        )
    if not np.allclose(full, full.T) or not np.linalg.eigvalsh(full).min() > 0:
        raise InputError(
            "The prior scale should be symmetric and positive definite",
            "is not",
            "give a covariance matrix, or positive variances",
        )
    return full


def by_kind(scale: FloatArray, kind: str, n_components: int) -> FloatArray:
    """A scatter matrix (d, d) in the shape of the scatters of a kind."""
    if kind == "tied":
        return scale
    if kind == "full":
        return np.tile(scale, (n_components, 1, 1))
    variances = np.diagonal(scale)
    if kind == "diag":
        return np.tile(variances, (n_components, 1))
    return np.full(n_components, variances.sum())
