r"""Kernels of evidential c-means: masses, criterion and sums of one pass over the items.

Cluster k has a center :math:`v_k`, a set A of clusters the mean :math:`\bar v_A` of its centers.
With the weighted distances :math:`D_{iA} = |A|^\alpha \, \lVert x_i - \bar v_A \rVert^2`, and
:math:`D_{i\emptyset} = \delta^2`, the criterion and its masses at given centers are

.. math:: J = \sum_{i, A} m_{iA}^\beta D_{iA}, \qquad
          m_{iA} = \frac{D_{iA}^{-1/(\beta-1)}}{\sum_B D_{iB}^{-1/(\beta-1)}}, \qquad
          J_i = \Big( \sum_B D_{iB}^{-1/(\beta-1)} \Big)^{1-\beta}.

All distances of a block of items are one matrix product, :math:`J_i` needs only the sums of rows,
and :math:`m_{iA}^\beta = m_{iA} J_i / D_{iA}` needs no second power. The next centers follow from
:math:`\sum_i m_{iA}^\beta |A|^\alpha (1, x_i)`, a second product, so that masses of all items are
never kept.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, lstsq, solve

from plausible.belief import cardinality, membership

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

BLOCK = 60_000  # weighted distances in a block: two blocks share a second-level cache
TINY = 1e-100  # distance of an item that is a center; its square is still a number
NEAR = 1e-7  # of the norms: nearer, differences of norms are not exact enough
SAFE = 200.0  # decimal places that a power may reach in either direction


class Focal(NamedTuple):
    """Sets of clusters, and what mass on each costs.

    sets : (F,) bit masks, the empty set first if it is one of them
    averages : (G, c), of the G non-empty sets: centers times these are the means of sets
    penalty : (G,), size of each set to the power alpha
    fuzzifier : beta
    outlier : squared distance to the empty set, infinite if it is not one of them
    """

    sets: IntArray
    averages: FloatArray
    penalty: FloatArray
    fuzzifier: float
    outlier: float

    @property
    def n_empty(self) -> int:
        """Columns of the empty set: one or none."""
        return len(self.sets) - len(self.penalty)


def make_focal(
    sets: IntArray,
    n_clusters: int,
    cardinality_weight: float,
    fuzzifier: float,
    outlier_distance: float,
) -> Focal:
    """Sets with their costs, from the parameters of an estimator."""
    some = sets[sets != 0]
    sizes = cardinality(some).astype(np.float64)
    averages = membership(some, n_clusters) / sizes[:, None]
    outlier = float(outlier_distance) ** 2 if len(some) < len(sets) else np.inf
    return Focal(sets, averages, sizes**cardinality_weight, float(fuzzifier), outlier)


class Sums(NamedTuple):
    """What a pass over the items leaves: the criterion with its sign turned, to be maximized.

    weights : (G,), sums of m^beta |A|^alpha, and points : (G, p), sums of these times the items
    """

    criterion: float
    weights: FloatArray
    points: FloatArray


def blocks(n_rows: int, n_sets: int) -> Iterator[slice]:
    """Rows to work on at once."""
    size = max(BLOCK // n_sets, 16)
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def lifted(X: FloatArray, offset: FloatArray | None) -> FloatArray:
    """Items as rows (1, x, x'x + offset), in which weighted distances are linear."""
    n_rows, n_features = X.shape
    rows = np.empty((n_rows, n_features + 2))
    rows[:, 0] = 1.0
    rows[:, 1:-1] = X
    np.einsum("ij,ij->i", X, X, out=rows[:, -1])
    if offset is not None:
        rows[:, -1] += offset
    return rows


def coefficients(means: FloatArray, penalty: FloatArray) -> FloatArray:
    """The linear functions (p + 2, G) of lifted items that are their weighted distances."""
    made = np.empty((means.shape[1] + 2, len(means)))
    made[0] = np.einsum("ij,ij->i", means, means)
    made[1:-1] = -2.0 * means.T
    made[-1] = 1.0
    return made * penalty


class Places(NamedTuple):
    """Means of the sets and what is computed from them once for all blocks."""

    means: FloatArray
    linear: FloatArray
    largest: float  # squared norm


def place(centers: FloatArray, focal: Focal) -> Places:
    """Means of all sets of clusters with these centers."""
    means = focal.averages @ centers
    linear = coefficients(means, focal.penalty)
    return Places(means, linear, float(np.einsum("ij,ij->i", means, means).max()))


class Powers(NamedTuple):
    """D^(-1/(beta-1)) of sets and of the empty set, times exp(shift / (beta-1)) in rows with one."""

    values: FloatArray
    empty: FloatArray
    shift: FloatArray | None


class Memberships(NamedTuple):
    """Of a block of items: weighted distances, their powers, sums of these, and criterion."""

    distances: FloatArray
    powers: Powers
    totals: FloatArray
    costs: FloatArray


def weighted_distances(
    rows: FloatArray, offset: FloatArray | None, places: Places, focal: Focal
) -> tuple[FloatArray, float]:
    """Weighted distances (b, G) of lifted items, and the smallest.

    The few that are small beside the norms are computed again, from differences.
    """
    D = rows @ places.linear
    doubtful = NEAR * (float(rows[:, -1].max()) + places.largest)
    least = float(D.min())
    if least <= doubtful * float(focal.penalty.max()):
        near, which = np.nonzero(doubtful * focal.penalty >= D)
        apart = rows[near, 1:-1] - places.means[which]
        exact = np.einsum("ij,ij->i", apart, apart)
        if offset is not None:
            exact += offset[near]
        D[near, which] = np.maximum(exact * focal.penalty[which], TINY)
        least = float(D.min())
    return D, least


def powers(D: FloatArray, least: float, most: float, focal: Focal) -> Powers:
    """Powers of weighted distances, those of the empty set with them.

    Rows are scaled only where a power might leave the range of numbers.
    """
    exponent = -1.0 / (focal.fuzzifier - 1.0)
    ends = [least, most, focal.outlier] if np.isfinite(focal.outlier) else [least, most]
    reach = float(np.abs(np.log10(np.maximum(ends, TINY))).max())
    if reach * abs(exponent) < SAFE:
        if exponent == -1.0:
            q = np.reciprocal(D)
        elif exponent == -2.0:
            q = np.reciprocal(D)
            q *= q
        else:  # faster than a power
            q = np.log(D)
            q *= exponent
            np.exp(q, out=q)
        return Powers(q, np.full(len(q), focal.outlier**exponent), None)
    logs = np.log(D)
    shift = np.minimum(logs.min(axis=1), np.log(focal.outlier))
    logs -= shift[:, None]
    logs *= exponent
    empty = np.exp(exponent * (np.log(focal.outlier) - shift))
    return Powers(np.exp(logs, out=logs), empty, shift)


def memberships(
    rows: FloatArray, offset: FloatArray | None, places: Places, focal: Focal
) -> Memberships:
    """All about the masses of a block of lifted items."""
    D, least = weighted_distances(rows, offset, places, focal)
    most = 2.0 * (float(rows[:, -1].max()) + places.largest) * float(focal.penalty.max())
    found = powers(D, least, most, focal)
    totals = found.values @ np.ones(D.shape[1]) + found.empty
    costs = totals ** (1.0 - focal.fuzzifier)
    if found.shift is not None:
        costs *= np.exp(found.shift)
    return Memberships(D, found, totals, costs)


def spent_weights(found: Memberships, focal: Focal) -> FloatArray:
    """m^beta up to the factor costs / totals of each row; uses up the powers."""
    q = found.powers.values
    if focal.fuzzifier == 2.0 and found.powers.shift is None:
        return np.multiply(q, q, out=q)
    return np.divide(q, found.distances, out=q)


def summarize(X: FloatArray, offset: FloatArray | None, centers: FloatArray, focal: Focal) -> Sums:
    """Criterion and sums over the items, block by block."""
    n_sets, n_features = len(focal.penalty), X.shape[1]
    places = place(centers, focal)
    cost, sums = 0.0, np.zeros((n_sets, n_features + 1))
    for block in blocks(len(X), n_sets):
        part = None if offset is None else offset[block]
        rows = lifted(X[block], part)
        found = memberships(rows, part, places, focal)
        cost += float(found.costs.sum())
        scale = found.costs / found.totals
        sums += spent_weights(found, focal).T @ (rows[:, :-1] * scale[:, None])
    sums *= focal.penalty[:, None]
    return Sums(-cost, sums[:, 0], sums[:, 1:])


def masses_of(
    X: FloatArray, offset: FloatArray | None, centers: FloatArray, focal: Focal
) -> FloatArray:
    """Masses (n, F) of the items on the sets, in the order of `focal.sets`."""
    places = place(centers, focal)
    out = np.empty((len(X), len(focal.sets)))
    for block in blocks(len(X), len(focal.penalty)):
        part = None if offset is None else offset[block]
        found = memberships(lifted(X[block], part), part, places, focal)
        np.divide(found.powers.values, found.totals[:, None], out=out[block, focal.n_empty :])
        if focal.n_empty:
            out[block, 0] = found.powers.empty / found.totals
    return out


def solve_centers(weights: FloatArray, points: FloatArray, averages: FloatArray) -> FloatArray:
    """Centers (c, p) at which the criterion is lowest for given masses."""
    left = averages.T @ (weights[:, None] * averages)
    right = averages.T @ points
    try:
        return solve(left, right, assume_a="pos")
    except LinAlgError:  # sets that do not tell two clusters apart: the solution nearest to zero
        return lstsq(left, right)[0]
