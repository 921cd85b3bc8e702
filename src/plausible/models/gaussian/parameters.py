r"""Gaussian components: parameters, moments, the M step and its conjugate priors.

A mixture with weights :math:`\pi_k`, means :math:`\mu_k` and covariances :math:`\Sigma_k` is
estimated from weighted moments: the weight :math:`N_k` of the rows given to a component, their mean
and their scatter about it. The M step (1.13) with a conjugate prior is

.. math:: \mu_k = \frac{N_k m_k + \kappa m_0}{N_k + \kappa}, \qquad
   \Sigma_k = \frac{S_k + \Lambda + \frac{\kappa N_k}{\kappa + N_k} (m_k - m_0)(m_k - m_0)'}
                   {N_k + c}

Covariances have scikit-learn's shapes: "full" (M, d, d), "tied" (d, d), "diag" (M, d), "spherical"
(M,), and so have scatters; "diag" holds sums of squares, "spherical" their total over features.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri

FloatArray = NDArray[np.float64]

KINDS = ("full", "tied", "diag", "spherical")
TOO_MUCH_ADDED = (
    "What is added to the estimates (reg_covar) is large for these features: scale them, or lower "
    "it."
)
NARROWEST = 1e-150  # a deviation below which no number holds the precision
LARGE = 100  # features from which a triangular inverse is worth a call for each matrix
LOG_2PI = float(np.log(2 * np.pi))


class Gaussians(NamedTuple):
    """Parameters of M Gaussian components over d features."""

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray


class Moments(NamedTuple):
    """Weight (M,), mean (M, d) and scatter about the mean of the rows given to each component."""

    counts: FloatArray
    mean: FloatArray
    scatter: FloatArray


class Prior(NamedTuple):
    r"""Conjugate prior: Dirichlet weights, normal-inverse-Wishart components.

    The log density is, up to a constant, the sum over k of (concentration - 1) log weight, of
    -strength/2 log det Sigma - tr(scale Sigma^-1)/2, and of
    -mean_precision/2 (mu - mean)' Sigma^-1 (mu - mean); `scale` has the shape of the covariances.
    """

    concentration: float
    mean: FloatArray
    mean_precision: float
    strength: FloatArray
    scale: FloatArray


class SingularCovarianceError(ValueError):
    """A covariance matrix cannot be inverted.

    Attributes
    ----------
    components : tuple of int
        Which; empty if they share it.
    counts : array (M,) or None
        Effective number of items of each component.
    """

    def __init__(
        self, message: str, components: tuple[int, ...], counts: FloatArray | None = None
    ) -> None:
        super().__init__(message)
        self.components = components
        self.counts = counts

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.components, self.counts)


def outer(vectors: FloatArray, kind: str) -> FloatArray:
    """Squares of the rows of `vectors` (M, d), as matrices, entries or totals by kind."""
    if kind in ("full", "tied"):
        return vectors[:, :, None] * vectors[:, None, :]
    squares = vectors**2
    return squares if kind == "diag" else squares.sum(axis=1)


def across(values: FloatArray, like: FloatArray) -> FloatArray:
    """One value for each component, shaped to multiply an array with components first."""
    return values.reshape(values.shape + (1,) * (like.ndim - 1))


def about_mean(
    count: FloatArray, first: FloatArray, second: FloatArray, center: FloatArray, kind: str
) -> Moments:
    """Moments from the sums of r, r (x - center) and r (x - center)(x - center)'."""
    shift = np.divide(first, count[:, None], out=np.zeros_like(first), where=count[:, None] > 0)
    correction = outer(shift, kind)
    correction = correction * across(count, correction)
    scatter = second - (correction.sum(axis=0) if kind == "tied" else correction)
    return Moments(count, center + shift, scatter)


def merge(one: Moments, other: Moments, kind: str) -> Moments:
    """Moments of the union of two sets of rows, without cancellation."""
    count = one.counts + other.counts
    share = np.divide(other.counts, count, out=np.zeros_like(count), where=count > 0)
    gap = other.mean - one.mean
    between = outer(gap, kind)
    between = between * across(one.counts * share, between)
    if kind == "tied":
        between = between.sum(axis=0)
    return Moments(count, one.mean + share[:, None] * gap, one.scatter + other.scatter + between)


def solve(moments: Moments, kind: str, reg_covar: float, prior: Prior | None) -> Gaussians:
    """The M step: parameters that maximize the expected complete-data criterion."""
    count, mean, scatter = moments
    weights = count
    strength: Any = 0.0
    if prior is not None:
        weights = np.maximum(count + (prior.concentration - 1), 0.0)
        pull = prior.mean_precision / np.maximum(count + prior.mean_precision, 1e-300)
        gap = outer(mean - prior.mean, kind)
        gap = gap * across(count * pull, gap)
        scatter = scatter + prior.scale + (gap.sum(axis=0) if kind == "tied" else gap)
        mean = mean + pull[:, None] * (prior.mean - mean)
        strength = prior.strength
    covariances = _regularize(scatter, count, strength, mean.shape[1], kind, reg_covar)
    return Gaussians(weights / weights.sum(), mean, covariances)


def _regularize(
    scatter: FloatArray, count: FloatArray, strength: Any, d: int, kind: str, reg_covar: float
) -> FloatArray:
    """Covariances from scatters; a component without rows gets the average of the others."""
    if kind == "tied":
        return scatter / (count.sum() + np.sum(strength)) + reg_covar * np.eye(d)
    divisor = count + strength
    if not (divisor > 0).all():
        empty = divisor <= 0
        scatter, divisor = scatter.copy(), divisor.copy()
        scatter[empty] = scatter[~empty].sum(axis=0)
        divisor[empty] = divisor[~empty].sum()
    covariances = scatter / across(divisor, scatter)
    if kind == "full":
        return covariances + reg_covar * np.eye(d)
    return (covariances if kind == "diag" else covariances / d) + reg_covar


def cholesky(covariances: FloatArray, kind: str) -> FloatArray:
    """Lower Cholesky factors ("full", "tied") or standard deviations; refuses singular ones."""
    if kind in ("diag", "spherical"):
        positive = covariances > NARROWEST**2
        if not positive.all():
            bad = np.unique(np.nonzero(~positive)[0])
            raise SingularCovarianceError("a variance is not positive", tuple(bad.tolist()))
        return np.sqrt(covariances)
    try:
        if not np.isfinite(covariances).all():
            raise np.linalg.LinAlgError
        factor = np.asarray(np.linalg.cholesky(covariances), dtype=np.float64)
        if (np.diagonal(factor, axis1=-2, axis2=-1) < NARROWEST).any():
            raise np.linalg.LinAlgError
        return factor
    except np.linalg.LinAlgError:
        several = [] if kind == "tied" else [k for k, c in enumerate(covariances) if singular(c)]
        raise SingularCovarianceError("a covariance is singular", tuple(several)) from None


def singular(covariance: FloatArray) -> bool:
    """Whether a matrix has no Cholesky factor."""
    if not np.isfinite(covariance).all():
        return True
    try:
        factor = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        return True
    return bool((factor.diagonal() < NARROWEST).any())


def log_determinants(factor: FloatArray, kind: str, d: int) -> FloatArray:
    """Log determinants of the covariances with this `cholesky` factor: (M,), or () for tied."""
    if kind in ("full", "tied"):
        return 2 * np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
    logs = 2 * np.log(factor)
    return logs.sum(axis=1) if kind == "diag" else d * logs


def inverse_factor(factor: FloatArray) -> FloatArray:
    """Inverses of lower triangular matrices (..., d, d)."""
    if factor.shape[-1] < LARGE:
        return np.asarray(np.linalg.inv(factor), dtype=np.float64)
    stack = factor.reshape(-1, *factor.shape[-2:])
    return np.stack([dtrtri(one, lower=1)[0] for one in stack]).reshape(factor.shape)


def precisions(factor: FloatArray, kind: str) -> FloatArray:
    """Inverse covariances from their `cholesky` factor, in the same shape."""
    if kind in ("full", "tied"):
        inverse = inverse_factor(factor)
        return np.swapaxes(inverse, -1, -2) @ inverse
    return factor**-2.0


def apply(precision: FloatArray, vectors: FloatArray, kind: str) -> FloatArray:
    """Precision of each component times its vector: (M, d)."""
    if kind == "full":
        return np.einsum("kij,kj->ki", precision, vectors)
    if kind == "tied":
        return vectors @ precision
    return vectors * (precision if kind == "diag" else precision[:, None])


def scatter_trace(precision: FloatArray, scatter: FloatArray, kind: str) -> float:
    """Sum over components of tr(precision scatter)."""
    return float((precision * scatter).sum())


def expected_log_density(moments: Moments, parameters: Gaussians, kind: str) -> float:
    """Sum over components and their rows of log(weight density): linear in the moments."""
    present = moments.counts > 0
    if not present.any():
        return 0.0
    d = parameters.means.shape[1]
    factor = cholesky(parameters.covariances, kind)
    precision = precisions(factor, kind)
    gap = moments.mean - parameters.means
    distance = (apply(precision, gap, kind) * gap).sum(axis=1)
    with np.errstate(divide="ignore"):
        logs = 2 * np.log(parameters.weights) - d * LOG_2PI - log_determinants(factor, kind, d)
    logs = np.where(present, moments.counts * (logs - distance), 0.0)
    return 0.5 * (float(logs.sum()) - scatter_trace(precision, moments.scatter, kind))


def log_prior(parameters: Gaussians, prior: Prior, kind: str) -> float:
    """Log density of the prior, without its constant."""
    weights, means, covariances = parameters
    factor = cholesky(covariances, kind)
    precision = precisions(factor, kind)
    gap = means - prior.mean
    distance = float((apply(precision, gap, kind) * gap).sum())
    logdet = prior.strength * log_determinants(factor, kind, means.shape[1])
    penalty = np.sum(logdet) + scatter_trace(precision, prior.scale, kind)
    penalty += prior.mean_precision * distance
    concentration = 0.0
    if prior.concentration != 1:
        with np.errstate(divide="ignore"):
            concentration = float((prior.concentration - 1) * np.log(weights).sum())
    return concentration - 0.5 * float(penalty)


def n_parameters(n_components: int, d: int, kind: str) -> int:
    """Number of free parameters of the mixture."""
    per_matrix = d * (d + 1) // 2
    covariances = {
        "full": n_components * per_matrix,
        "tied": per_matrix,
        "diag": n_components * d,
        "spherical": n_components,
    }[kind]
    return n_components - 1 + n_components * d + covariances


class GaussianChart:
    """Coordinates without constraints: log weights, means and log-Cholesky factors.

    `scale` (d,), the spread of each feature, makes steps independent of the units.
    """

    def __init__(self, kind: str, scale: FloatArray) -> None:
        self.kind = kind
        self.scale = scale
        self.lower = np.tril_indices(len(scale), -1)

    def flatten(self, parameters: Gaussians) -> FloatArray:
        """Coordinates of the parameters, in one vector."""
        weights, means, covariances = parameters
        parts = [np.log(np.maximum(weights, 1e-300)), (means / self.scale).ravel()]
        factor = cholesky(covariances, self.kind)
        if self.kind in ("full", "tied"):
            factor = factor / self.scale[:, None]
            parts.append(np.log(np.diagonal(factor, axis1=-2, axis2=-1)).ravel())
            parts.append(factor[..., self.lower[0], self.lower[1]].ravel())
        else:
            parts.append(np.log(factor).ravel())
        return np.concatenate(parts)

    def restore(self, vector: FloatArray, like: Gaussians) -> Gaussians:
        """The parameters with these coordinates; `like` gives the shapes."""
        n_components, d = like.means.shape
        log_weights, means, rest = np.split(vector, [n_components, n_components * (d + 1)])
        weights = np.exp(log_weights - log_weights.max())
        means = means.reshape(n_components, d) * self.scale
        covariances = self._covariances(rest, like.covariances)
        return Gaussians(weights / weights.sum(), means, covariances)

    def _covariances(self, vector: FloatArray, like: FloatArray) -> FloatArray:
        if self.kind in ("diag", "spherical"):
            return np.exp(2 * vector).reshape(like.shape)
        stack, d = like.shape[:-2], len(self.scale)
        diagonal, below = np.split(vector, [int(np.prod(stack, dtype=int)) * d])
        factor = np.zeros(like.shape)
        factor[..., np.arange(d), np.arange(d)] = np.exp(diagonal).reshape(*stack, d)
        factor[..., self.lower[0], self.lower[1]] = below.reshape(*stack, len(self.lower[0]))
        factor *= self.scale[:, None]
        return factor @ np.swapaxes(factor, -1, -2)
