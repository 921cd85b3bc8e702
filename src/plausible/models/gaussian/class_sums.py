r"""Sums over rows by the class that each favors, from which EM starts.

A row favors class k with :math:`f_k = (pl_k - \min pl) / \max pl`: one for a hard label, nothing
for a row that says nothing. Moments of the classes are sums of :math:`f_k`, :math:`f_k x` and
:math:`f_k x x'`; of the last, classes that share a covariance need the sum over k alone.
"""

import numpy as np

from plausible.engine import Columns
from plausible.errors import InputError
from plausible.models.gaussian.e_step import (
    BLOCK_DOUBLES,
    as_float64,
    as_numbers,
    centered_sums,
    favor_by_class,
    feature_map,
    n_features_of_map,
)
from plausible.models.gaussian.parameters import FloatArray
from plausible.short_rows import row_max, row_sum


def _check_labeled(plausibility: FloatArray | None) -> FloatArray:
    """Refuse rows without labels."""
    if plausibility is None:
        raise InputError("Rows should have labels to start from", "they have none", "give labels")
    return plausibility


def _favors(plausibility: FloatArray, weight: FloatArray | None) -> tuple[FloatArray, float]:
    """How far each row favors each class (n, K), by its weight, and the sum of log max pl."""
    favor = favor_by_class(plausibility)
    logs = np.log(row_max(plausibility))
    if weight is None:
        return favor, float(logs.sum())
    favor *= weight[:, None]
    return favor, float(weight @ logs)


def given_pass(
    columns: Columns, center: FloatArray, kind: str, fast: bool
) -> tuple[FloatArray, float]:
    """Sums of r phi(x) where r is how far a row favors each class; sum of log plausibility.

    The second sum is that of log max pl: what hard rows add to the criterion.
    """
    X, plausibility, weight = as_numbers(columns) if fast else as_float64(columns)
    favor, constant = _favors(_check_labeled(plausibility), weight)
    if fast:
        from plausible.models.gaussian.e_step_compiled import compiled_sums

        return compiled_sums(X, favor, center, kind), constant
    sums = np.zeros((n_features_of_map(kind, X.shape[1]), favor.shape[1]))
    size = max(BLOCK_DOUBLES // len(sums), 64)
    for start in range(0, len(X), size):
        rows = slice(start, start + size)
        sums += feature_map(X[rows], center, kind) @ favor[rows]
    return sums, constant


def pooled_pass(
    columns: Columns, center: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, float, FloatArray]:
    """Sums of f_k and f_k (x - c) by class, and of (x - c)(x - c)' times the favor of all classes.

    Then the sum of log max pl, as for `given_pass`, and the scatter of the rows about the center.
    """
    X, plausibility, weight = as_numbers(columns)
    favor, constant = _favors(_check_labeled(plausibility), weight)
    (n_rows, d), n_classes = X.shape, favor.shape[1]
    first, second, scatter = np.zeros((d, n_classes)), np.zeros((d, d)), np.zeros((d, d))
    of_all = row_sum(favor)
    size = max(BLOCK_DOUBLES // (2 * d), 64)
    for start in range(0, n_rows, size):
        rows = slice(start, start + size)
        gap = np.empty((d, len(of_all[rows])))
        np.subtract(X[rows].T, center[:, None], out=gap)
        first += gap @ favor[rows]
        second += (gap * of_all[rows]) @ gap.T
        scatter += gap @ gap.T if weight is None else (gap * weight[rows]) @ gap.T
    return np.ones(n_rows) @ favor, first.T, second, constant, scatter


def favor_pass(
    columns: Columns, centers: FloatArray, kind: str
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """As `given_pass`, with the rows of every class about a center of its own."""
    X, plausibility, weight = as_float64(columns)
    favor, _ = _favors(_check_labeled(plausibility), weight)
    return centered_sums(X, favor.T, centers, kind)
