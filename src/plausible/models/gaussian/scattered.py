r"""Rows one by one: any features missing, any features measured with errors of a known variance.

With S the features that are there and R their error variances (zero for precise ones), given y_S

.. math:: E[x] = \mu + \Sigma_{\cdot S} V^{-1} (y_S - \mu_S), \quad
   Cov[x] = \Sigma - \Sigma_{\cdot S} V^{-1} \Sigma_{S \cdot}, \quad V = \Sigma_{SS} + R

for all rows of a block at once: features that are not there have a row of the identity in V.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from plausible.engine import Columns
from plausible.models.gaussian.e_step import log_weights, respond
from plausible.models.gaussian.parameters import (
    LOG_2PI,
    FloatArray,
    Gaussians,
    Moments,
    SingularCovarianceError,
    about_mean,
)
from plausible.models.gaussian.shares import split_shares

BLOCK_DOUBLES = 1 << 21  # covariances of one block: 16 MB


class Conditional(NamedTuple):
    """Log density (n,) of what is known, and mean (n, d) and covariance of all features given it.

    The covariance is (n, d, d), or (n, d) where features are independent.
    """

    log_density: FloatArray
    mean: FloatArray
    covariance: FloatArray


def condition(
    y: FloatArray, noise: FloatArray, mean: FloatArray, covariance: FloatArray
) -> Conditional:
    """A normal law with covariance (d, d) given rows y (n, d) with error variances.

    A variance is zero for a precise feature and infinite for one that is missing.
    """
    seen, exact = np.isfinite(noise), noise == 0
    gap = np.where(seen, y - mean, 0.0)
    both = seen[:, :, None] & seen[:, None, :]
    V = np.where(both, covariance, 0.0)
    d = len(mean)
    V[:, np.arange(d), np.arange(d)] += np.where(seen, noise, 1.0)
    across = np.where(seen[:, :, None], covariance, 0.0)
    try:
        factor = np.linalg.cholesky(V)
        solved = np.linalg.solve(V, np.concatenate([across, gap[:, :, None]], axis=2))
    except np.linalg.LinAlgError:
        raise SingularCovarianceError("a covariance is singular", ()) from None
    white = solved[:, :, -1]
    log_det = 2 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    logs = -0.5 * (seen.sum(axis=1) * LOG_2PI + log_det + (gap * white).sum(axis=1))
    center = mean + np.einsum("nij,ni->nj", across, white)
    rest = covariance - np.swapaxes(across, 1, 2) @ solved[:, :, :-1]
    rest = np.where(exact[:, :, None] | exact[:, None, :], 0.0, 0.5 * (rest + rest.swapaxes(1, 2)))
    return Conditional(logs + _peak_constants(noise), np.where(exact, y, center), rest)


def _condition_independent(
    y: FloatArray, noise: FloatArray, mean: FloatArray, variance: FloatArray
) -> Conditional:
    """The same for independent features with variances (d,)."""
    seen = np.isfinite(noise)
    total = np.where(seen, variance + np.where(seen, noise, 0.0), 1.0)
    gap = np.where(seen, y - mean, 0.0)
    logs = -0.5 * np.where(seen, LOG_2PI + np.log(total) + gap**2 / total, 0.0).sum(axis=1)
    share = np.where(seen, variance / total, 0.0)
    rest = variance * (1 - share)
    rest[noise == 0] = 0.0
    center = np.where(noise == 0, y, mean + share * gap)
    return Conditional(logs + _peak_constants(noise), center, rest)


def _peak_constants(noise: FloatArray) -> FloatArray:
    """What a plausibility of one at its peak has more than a density of errors, by row."""
    fuzzy = np.isfinite(noise) & (noise > 0)
    return 0.5 * (LOG_2PI * fuzzy + np.log(np.where(fuzzy, noise, 1.0))).sum(axis=1)


class ScatteredPart:
    """Rows of any patterns.

    Parameters
    ----------
    y : array (n, d)
        Features; anything where they are missing.
    noise : array (n, d)
        Variances of their errors: 0 if precise, infinite if missing.
    table, weight : array (n, K) or None, array (n,) or None
        Plausibilities and weights.
    kind : str
    owner : int array (M,)
    """

    def __init__(
        self,
        y: FloatArray,
        noise: FloatArray,
        table: FloatArray | None,
        weight: FloatArray | None,
        kind: str,
        owner: NDArray[np.int64],
    ) -> None:
        self.y, self.noise = y, noise
        self.table, self.weight = table, weight
        self.kind, self.owner = kind, owner

    @classmethod
    def of_missing(cls, columns: Columns, kind: str, owner: NDArray[np.int64]) -> Self:
        """Rows whose missing features are NaN."""
        X, table, weight = without_shares(columns)
        gone = np.isnan(X)
        noise = np.where(gone, np.inf, 0.0)
        return cls(np.where(gone, 0.0, X), noise, table, weight, kind, owner)

    def conditional(self, rows: slice, mean: FloatArray, covariance: FloatArray) -> Conditional:
        """One component, given what is known of some rows."""
        if self.kind in ("full", "tied"):
            return condition(self.y[rows], self.noise[rows], mean, covariance)
        variance = np.broadcast_to(covariance, mean.shape)
        return _condition_independent(self.y[rows], self.noise[rows], mean, variance)

    def conditionals(self, rows: slice, parameters: Gaussians) -> list[Conditional]:
        """Each component, given what is known of some rows."""
        _, means, covariances = parameters
        return [
            self.conditional(rows, mean, covariances if self.kind == "tied" else covariances[k])
            for k, mean in enumerate(means)
        ]

    def blocks(self, n_components: int) -> list[slice]:
        """Rows whose covariances given what is known fit into memory."""
        n_rows, d = self.y.shape
        size = max(BLOCK_DOUBLES // (n_components * d * (d + 1)), 1)
        return [slice(start, start + size) for start in range(0, n_rows, size)]

    def log_joint(self, parameters: Gaussians) -> FloatArray:
        """log(weight density) (n, M) of what is known."""
        logs = log_weights(parameters.weights)
        parts = [
            np.stack([one.log_density for one in self.conditionals(rows, parameters)], axis=1)
            for rows in self.blocks(len(logs))
        ]
        return np.concatenate([np.zeros((0, len(logs))), *parts]) + logs

    def summarize(self, parameters: Gaussians) -> tuple[Moments, float]:
        """Expected moments of all features, and the log likelihood."""
        weights, means, _ = parameters
        counts, first, criterion = np.zeros(len(weights)), np.zeros_like(means), 0.0
        second: FloatArray | float = 0.0
        for rows in self.blocks(len(weights)):
            given = self.conditionals(rows, parameters)
            scores = np.stack([one.log_density for one in given]) + log_weights(weights)[:, None]
            table = None if self.table is None else self.table[rows]
            weight = None if self.weight is None else self.weight[rows]
            responsibility, gain = respond(scores, table, weight, self.owner)
            criterion += gain
            counts += responsibility.sum(axis=1)
            gaps = np.stack([one.mean for one in given]) - means[:, None, :]
            first += np.einsum("kn,knd->kd", responsibility, gaps)
            second = second + self._second(responsibility, gaps, given)
        return about_mean(counts, first, np.asarray(second), means, self.kind), criterion

    def _second(
        self, responsibility: FloatArray, gaps: FloatArray, given: list[Conditional]
    ) -> FloatArray:
        """Expected squares about the means, in the shape of the kind."""
        made = []
        for r, gap, one in zip(responsibility, gaps, given, strict=True):
            if self.kind in ("full", "tied"):
                made.append(gap.T @ (gap * r[:, None]) + np.einsum("n,nij->ij", r, one.covariance))
            else:
                made.append(r @ (gap**2 + one.covariance))
        squares = np.array(made)
        if self.kind == "tied":
            return np.asarray(squares.sum(axis=0))
        return squares.sum(axis=1) if self.kind == "spherical" else squares


def without_shares(
    columns: Columns,
) -> tuple[FloatArray, FloatArray | None, FloatArray | None]:
    """Features, plausibilities and weights, with probabilities as weighted hard rows."""
    parts = list(split_shares(columns))
    if len(parts) == 1:
        X, table, weight = parts[0]
    else:
        weights = [np.ones(len(np.asarray(p[0]))) if p[2] is None else p[2] for p in parts]
        X, table = (np.concatenate([np.asarray(p[k]) for p in parts]) for k in (0, 1))
        weight = np.concatenate(weights)
    return (
        np.asarray(X, dtype=np.float64),
        None if table is None else np.ascontiguousarray(table, dtype=np.float64),
        None if weight is None else np.asarray(weight, dtype=np.float64),
    )
