r"""How sure the parameters of a Gaussian mixture are: the observed information.

By Fisher's identity the slope of the log likelihood is that of the expected complete one, which the
moments :math:`(n_k, m_k, S_k)` of the E step give in closed form,

.. math:: \frac{\partial L}{\partial \mu_k} = n_k \Sigma_k^{-1} (m_k - \mu_k), \qquad
   \frac{\partial L}{\partial \Sigma_k} = \tfrac12 \Sigma_k^{-1} (W_k - n_k \Sigma_k) \Sigma_k^{-1},
   \quad W_k = S_k + n_k (m_k - \mu_k)(m_k - \mu_k)'

and its differences, extrapolated, give the information. Weights are free but for the last.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.models.gaussian import (
    FloatArray,
    Gaussians,
    Moments,
    SoftMixture,
    cholesky,
    precisions,
)

STEP = 1e-3  # of a difference, in units of the parameters' own


def slope(moments: Moments, parameters: Gaussians, kind: str) -> FloatArray:
    """Derivatives of the log likelihood by the free parameters, in the order of `packed`."""
    counts, mean, scatter = moments
    weights, means, covariances = parameters
    precision = precisions(cholesky(covariances, kind), kind)
    gap = mean - means
    by_weight = counts[:-1] / weights[:-1] - counts[-1] / weights[-1]
    if kind in ("full", "tied"):
        moved = counts[:, None, None] * gap[:, :, None] * gap[:, None, :]
        second = scatter + (moved.sum(axis=0) if kind == "tied" else moved)
        total = counts.sum() if kind == "tied" else counts[:, None, None]
        by_matrix = 0.5 * precision @ (second - total * covariances) @ precision
        by_mean = np.einsum("...ij,...j->...i", precision, counts[:, None] * gap)
        rows, columns = np.triu_indices(means.shape[1])
        by_entry = np.where(rows == columns, 1.0, 2.0) * by_matrix[..., rows, columns]
    else:
        moved = counts[:, None] * gap**2
        d = means.shape[1]
        wide = precision if kind == "diag" else precision[:, None]
        by_mean = counts[:, None] * gap * wide
        if kind == "diag":
            by_entry = 0.5 * (scatter + moved - counts[:, None] * covariances) * precision**2
        else:
            by_entry = 0.5 * (scatter + moved.sum(axis=1) - d * counts * covariances) * precision**2
    return np.concatenate([by_weight, by_mean.ravel(), by_entry.ravel()])


def packed(parameters: Gaussians, kind: str) -> FloatArray:
    """Free parameters: all weights but the last, means, and the upper triangles of covariances."""
    weights, means, covariances = parameters
    if kind in ("full", "tied"):
        rows, columns = np.triu_indices(means.shape[1])
        covariances = covariances[..., rows, columns]
    return np.concatenate([weights[:-1], means.ravel(), covariances.ravel()])


def unpacked(vector: FloatArray, like: Gaussians, kind: str) -> Gaussians:
    """The parameters with these free ones."""
    n_components, d = like.means.shape
    weights, means, rest = np.split(vector, [n_components - 1, n_components * (d + 1) - 1])
    weights = np.append(weights, 1 - weights.sum())
    if kind in ("full", "tied"):
        rows, columns = np.triu_indices(d)
        matrices = np.empty(like.covariances.shape)
        entries = rest.reshape(*like.covariances.shape[:-2], len(rows))
        matrices[..., rows, columns] = matrices[..., columns, rows] = entries
        rest = matrices
    return Gaussians(weights, means.reshape(n_components, d), rest.reshape(like.covariances.shape))


def mixture_information(problem: SoftMixture, parameters: Gaussians) -> FloatArray:
    """Observed information (p, p) of the free parameters."""
    kind, here = problem.kind, packed(parameters, problem.kind)

    def slope_at(vector: FloatArray) -> FloatArray:
        there = unpacked(vector, parameters, kind)
        return slope(problem.summarize([there])[0].moments, there, kind)

    made = []
    for place, size in enumerate(steps(parameters, kind)):
        move = np.zeros_like(here)
        move[place] = size
        wide = (slope_at(here + move) - slope_at(here - move)) / 2
        near = slope_at(here + move / 2) - slope_at(here - move / 2)
        made.append((4 * near - wide) / (3 * size))
    bend = np.array(made)
    return -0.5 * (bend + bend.T)


def steps(parameters: Gaussians, kind: str) -> FloatArray:
    """Steps of differences, in the units of each free parameter and within its bounds."""
    weights, means, covariances = parameters
    d = means.shape[1]
    if kind in ("full", "tied"):
        variances = np.diagonal(covariances, axis1=-2, axis2=-1)
        eigenvalues = np.linalg.eigvalsh(covariances)
        rows, columns = np.triu_indices(d)
        size = np.sqrt(variances[..., rows] * variances[..., columns])
        thin = eigenvalues[..., :1] / eigenvalues[..., -1:]
        of_covariances = size * np.minimum(1.0, 20 * thin)
    else:
        variances = of_covariances = covariances
    wide = variances[:, None] if kind == "spherical" else variances
    spread = np.sqrt(np.broadcast_to(wide, means.shape))
    least = np.minimum(weights[:-1], weights[-1])
    return STEP * np.concatenate([least, spread.ravel(), of_covariances.ravel()])


def _shaped_like(
    values: FloatArray, last_weight: float, parameters: Gaussians, kind: str
) -> dict[str, Any]:
    """Values of the free parameters by name, in the shapes of the parameters."""
    made = unpacked(values, parameters, kind)
    weights = np.append(values[: len(parameters.weights) - 1], last_weight)
    return {"weights": weights, "means": made.means, "covariances": made.covariances}


def errors_of(covariance: FloatArray, parameters: Gaussians, kind: str) -> dict[str, Any]:
    """Standard errors by name, from the covariance (p, p) of the free parameters."""
    n_free = len(parameters.weights) - 1
    last = float(np.sqrt(max(covariance[:n_free, :n_free].sum(), 0.0)))
    return _shaped_like(np.sqrt(np.diagonal(covariance)), last, parameters, kind)


def limits_of(parameters: Gaussians, kind: str) -> NDArray[np.float64]:
    """Bounds of the weights, means and covariances: (.., 2) by name, flat, all weights."""
    weights, means, covariances = parameters
    d = means.shape[1]
    inside = np.tile([0.0, 1.0], (len(weights), 1))
    free = np.tile([-np.inf, np.inf], (means.size, 1))
    of_covariances = np.tile([0.0, np.inf], (covariances.size, 1))
    if kind in ("full", "tied"):
        off = np.broadcast_to(~np.eye(d, dtype=bool), covariances.shape).ravel()
        of_covariances[off, 0] = -np.inf
    return np.concatenate([inside, free, of_covariances])
