"""Rows with uncertain features as part of the EM problem of a Gaussian mixture."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.checks import name_rows
from plausible.engine import Columns, take
from plausible.errors import InputError
from plausible.models.e2m.rectangles import within
from plausible.models.e2m.truncated import truncated_normal
from plausible.models.e2m.values import UncertainValues
from plausible.models.gaussian import (
    Conditional,
    FloatArray,
    Gaussians,
    Part,
    ScatteredPart,
    parts_of,
    without_shares,
)

LEAST_SHARE = 1e-13  # of a variance that is left whatever the other features say: rounding
EXACT_INTERVALS = 2  # in one row, of features that are correlated


class Imputed(NamedTuple):
    """Expected features (n, d) of rows, and their variances.

    Examples
    --------
    >>> Imputed(np.array([[1.0]]), np.array([[0.25]])).deviation
    array([[0.5]])
    """

    mean: FloatArray
    variance: FloatArray

    @property
    def deviation(self) -> FloatArray:
        """Standard deviations (n, d)."""
        return np.sqrt(self.variance)


class UncertainPart(ScatteredPart):
    """Rows of features that are precise, fuzzy, intervals or missing."""

    def __init__(
        self,
        values: UncertainValues,
        table: FloatArray | None,
        weight: FloatArray | None,
        kind: str,
        owner: NDArray[np.int64],
        n_lattice: int = 0,
    ) -> None:
        super().__init__(values.mean, values.sd**2, table, weight, kind, owner)
        self.low, self.high, self.n_lattice = values.low, values.high, n_lattice
        self.cut = bounded(values)

    def conditional(self, rows: slice, mean: FloatArray, covariance: FloatArray) -> Conditional:
        """One component, given what is known of some rows."""
        found = super().conditional(rows, mean, covariance)
        cut = self.cut[rows]
        if not cut.any():
            return found
        low, high = self.low[rows], self.high[rows]
        if self.kind in ("full", "tied"):
            return self._within_rectangles(found, cut, low, high, np.diagonal(covariance))
        logs, center, variance = (part.copy() for part in found)
        inner = truncated_normal(center[cut], np.sqrt(variance[cut]), low[cut], high[cut])
        mass = np.zeros(cut.shape)
        mass[cut], center[cut], variance[cut] = inner
        return Conditional(logs + mass.sum(axis=1), center, variance)

    def _within_rectangles(
        self,
        found: Conditional,
        cut: NDArray[np.bool_],
        low: FloatArray,
        high: FloatArray,
        scale: FloatArray,
    ) -> Conditional:
        """Correlated features: what bounds tell of some features tells of the others, too."""
        logs, center, covariance = (part.copy() for part in found)
        counts = cut.sum(axis=1)
        for q in np.unique(counts[counts > 0]).tolist():
            rows = np.flatnonzero(counts == q)
            columns = np.nonzero(cut[rows])[1].reshape(-1, q)
            at = rows[:, None], columns
            across = covariance[rows[:, None], columns]  # (n, q, d)
            own = np.take_along_axis(across, columns[:, None, :], axis=2)
            own[:, np.arange(q), np.arange(q)] += LEAST_SHARE * scale[columns]
            inner = within(center[at], own, low[at], high[at], self.n_lattice)
            pull = np.linalg.solve(own, across)
            logs[rows] += inner.log_mass
            center[rows] += np.einsum("nqd,nq->nd", pull, inner.mean - center[at])
            change = np.swapaxes(pull, 1, 2) @ (inner.covariance - own) @ pull
            covariance[rows] += change
        return Conditional(logs, center, covariance)

    def impute(self, parameters: Gaussians) -> Imputed:
        """Expected features, with labels as a table of plausibilities where there is one."""
        logs = self.log_joint(parameters)
        if self.table is not None:
            with np.errstate(divide="ignore"):
                logs = logs + np.log(self.table[:, self.owner])
        share = np.exp(logs - logs.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        mean, variance = np.zeros_like(self.y), np.zeros_like(self.y)
        for rows in self.blocks(len(parameters.weights)):
            given = self.conditionals(rows, parameters)
            r = share[rows].T[:, :, None]
            centers = np.stack([one.mean for one in given])
            mean[rows] = (r * centers).sum(axis=0)
            spread = np.stack([variances(one.covariance) for one in given])
            variance[rows] = (r * (spread + (centers - mean[rows]) ** 2)).sum(axis=0)
        return Imputed(mean, np.maximum(variance, 0.0))


def variances(covariance: FloatArray) -> FloatArray:
    """Diagonals (n, d) of covariances (n, d, d), or (n, d) as they are."""
    return covariance if covariance.ndim == 2 else np.diagonal(covariance, axis1=1, axis2=2)


def bounded(values: UncertainValues) -> NDArray[np.bool_]:
    """Features with a bound, and not precise."""
    return ~values.is_precise & (np.isfinite(values.low) | np.isfinite(values.high))


def check_intervals(values: UncertainValues, kind: str, n_lattice: int) -> None:
    """Refuse rows with more bounded features than can be integrated exactly."""
    if kind not in ("full", "tied") or n_lattice:
        return
    counts = bounded(values).sum(axis=1)
    bad = counts > EXACT_INTERVALS
    if bad.any():
        raise InputError(
            f"Rows should have at most {EXACT_INTERVALS} intervals where features are correlated",
            f"there are {counts.max()} in {name_rows(bad)}",
            (
                "use {covariance_type}, with which any number is exact",
                "{n_lattice}, which integrates to about three digits",
            ),
            rows=bad,
            settings={"covariance_type": "diag", "n_lattice": 1000},
        )


def parts_of_values(
    values: UncertainValues, columns: Columns, kind: str, owner: NDArray[np.int64], n_lattice: int
) -> list[Part]:
    """Parts of an EM problem: rows that only lack features by pattern, and the others."""
    strange = (values.is_fuzzy | values.is_interval).any(axis=1)
    if columns[2] is not None:
        strange &= np.asarray(columns[2]) > 0
    plain = np.where(values.is_precise, values.mean, np.nan)
    parts: list[Part] = []
    rows = np.flatnonzero(~strange)
    if len(rows):
        parts += parts_of(take((plain, *columns[1:]), rows), kind, owner)
    rows = np.flatnonzero(strange)
    if len(rows):
        number, table, weight = without_shares(
            (rows[:, None].astype(np.float64), *take(columns, rows)[1:])
        )
        some = values[number[:, 0].astype(np.int64)]
        parts.append(UncertainPart(some, table, weight, kind, owner, n_lattice))
    return parts
