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

BLOCK = 40_000  # weighted distances in a block: two blocks share a second-level cache
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
    squares : (c, p, p), sums of x x' with the weights of sets shared by their clusters; (0, p, p)
    where metrics are not learned
    """

    criterion: float
    weights: FloatArray
    points: FloatArray
    squares: FloatArray


def blocks(n_rows: int, n_sets: int) -> Iterator[slice]:
    """Rows to work on at once."""
    size = max(BLOCK // n_sets, 16)
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


class Prototypes(NamedTuple):
    """Centers (c, p), and a metric (c, p, p) of each cluster unless it is the Euclidean one.

    The metric of a set is the mean of those of its clusters.
    """

    centers: FloatArray
    metrics: FloatArray | None = None


class Places(NamedTuple):
    """Means of the sets and what is computed from them once for all blocks.

    linear : (1 + p + q, G), functions of lifted items that are their weighted distances
    largest : squared norm of a mean
    """

    means: FloatArray
    linear: FloatArray
    largest: float
    metrics: FloatArray | None


def lifted(X: FloatArray, offset: FloatArray | None, metrics: FloatArray | None) -> FloatArray:
    """Items as rows (1, x, squared norms + offset), in which weighted distances are linear."""
    n_rows, n_features = X.shape
    n_norms = 1 if metrics is None else len(metrics)
    rows = np.empty((n_rows, 1 + n_features + n_norms))
    rows[:, 0] = 1.0
    rows[:, 1 : n_features + 1] = X
    if metrics is None:
        np.einsum("ij,ij->i", X, X, out=rows[:, -1])
    else:
        for k, metric in enumerate(metrics):
            np.einsum("ij,ij->i", X @ metric, X, out=rows[:, n_features + 1 + k])
    if offset is not None:
        rows[:, n_features + 1 :] += offset[:, None]
    return rows


def place(prototypes: Prototypes, focal: Focal) -> Places:
    """Means of all sets of clusters, and their weighted distances as functions of lifted items."""
    centers, metrics = prototypes
    means = focal.averages @ centers
    n_sets, n_features = means.shape
    if metrics is None:
        scaled, norms = means, np.ones((1, n_sets))
    else:
        of_sets = np.tensordot(focal.averages, metrics, axes=1)
        scaled, norms = np.einsum("gij,gj->gi", of_sets, means), focal.averages.T
    own = np.einsum("ij,ij->i", scaled, means)
    linear = np.empty((1 + n_features + len(norms), n_sets))
    linear[0] = own
    linear[1 : n_features + 1] = -2.0 * scaled.T
    linear[n_features + 1 :] = norms
    return Places(means, linear * focal.penalty, float(own.max()), metrics)


def exact_distances(
    apart: FloatArray, which: IntArray, metrics: FloatArray | None, averages: FloatArray
) -> FloatArray:
    """Squared norms of differences from the means of some sets."""
    if metrics is None:
        return np.asarray(np.einsum("ij,ij->i", apart, apart))
    of_clusters = np.einsum("ij,kjl,il->ik", apart, metrics, apart, optimize=True)
    return np.asarray(np.einsum("ik,ik->i", of_clusters, averages[which]))


class Powers(NamedTuple):
    """D^(-1/(beta-1)) of sets and of the empty set, times exp(shift / (beta-1))."""

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
    n_features = places.means.shape[1]
    doubtful = NEAR * (float(rows[:, n_features + 1 :].max()) + places.largest)
    least = float(D.min())
    if least <= doubtful * float(focal.penalty.max()):
        near, which = np.nonzero(doubtful * focal.penalty >= D)
        apart = rows[near, 1 : n_features + 1] - places.means[which]
        exact = exact_distances(apart, which, places.metrics, focal.averages)
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
    norms = rows[:, places.means.shape[1] + 1 :]
    most = 2.0 * (float(norms.max()) + places.largest) * float(focal.penalty.max())
    return with_totals(D, powers(D, least, most, focal), focal)


def memberships_from(D: FloatArray, focal: Focal) -> Memberships:
    """The same from weighted distances, all positive."""
    return with_totals(D, powers(D, float(D.min()), float(D.max()), focal), focal)


def with_totals(D: FloatArray, found: Powers, focal: Focal) -> Memberships:
    """Sums of rows, and the criterion that follows from them."""
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


def summarize(
    rows: FloatArray, offset: FloatArray | None, prototypes: Prototypes, focal: Focal
) -> Sums:
    """Criterion and sums over items that were lifted without metrics, block by block."""
    n_sets, n_features = len(focal.penalty), rows.shape[1] - 2
    places = place(prototypes, focal)
    cost, sums = 0.0, np.zeros((n_sets, n_features + 1))
    n_metrics = 0 if places.metrics is None else len(places.metrics)
    squares = np.zeros((n_metrics, n_features, n_features))
    for block in blocks(len(rows), n_sets):
        part = None if offset is None else offset[block]
        one, X = rows[block], rows[block, 1 : n_features + 1]
        found = memberships(
            one if not n_metrics else lifted(X, part, places.metrics), part, places, focal
        )
        cost += float(found.costs.sum())
        scale = found.costs / found.totals
        weights = spent_weights(found, focal)
        sums += weights.T @ (one[:, : n_features + 1] * scale[:, None])
        if n_metrics:
            shares = scale[:, None] * (weights @ (focal.penalty[:, None] * focal.averages))
            squares += scatters(X, shares)
    sums *= focal.penalty[:, None]
    return Sums(-cost, sums[:, 0], sums[:, 1:], squares)


def scatters(X: FloatArray, shares: FloatArray) -> FloatArray:
    """Sums (c, p, p) of x x', weighted by the shares (n, c) of items in clusters."""
    return np.stack([(X * share[:, None]).T @ X for share in shares.T])


def masses_of(
    X: FloatArray,
    offset: FloatArray | None,
    prototypes: Prototypes,
    focal: Focal,
    middle: FloatArray | float = 0.0,
) -> FloatArray:
    """Masses (n, F) of the items on the sets, in the order of `focal.sets`.

    Items are those of X less `middle`, around which centers are given.
    """
    places = place(prototypes, focal)
    out = np.empty((len(X), len(focal.sets)))
    for block in blocks(len(X), len(focal.penalty)):
        part = None if offset is None else offset[block]
        rows = lifted(X[block] - middle, part, places.metrics)
        masses_from(memberships(rows, part, places, focal), focal, out[block])
    return out


def masses_from(found: Memberships, focal: Focal, out: FloatArray) -> None:
    """Write the masses of a block."""
    np.divide(found.powers.values, found.totals[:, None], out=out[:, focal.n_empty :])
    if focal.n_empty:
        np.divide(found.powers.empty, found.totals, out=out[:, 0])


def gram_of(weights: FloatArray, averages: FloatArray) -> FloatArray:
    """Matrix (c, c) of the equations for centers, from the weights of sets."""
    return averages.T @ (weights[:, None] * averages)


def solve_prototypes(
    sums: Sums, metrics: FloatArray | None, focal: Focal, ridge: float
) -> Prototypes:
    """Centers, and then metrics, at which the criterion is lowest for given masses."""
    if metrics is None:
        left, right = gram_of(sums.weights, focal.averages), focal.averages.T @ sums.points
        return Prototypes(solve_symmetric(left, right))
    centers = solve_under_metrics(sums, metrics, focal.averages)
    return Prototypes(centers, solve_metrics(sums, centers, focal.averages, ridge))


def solve_under_metrics(sums: Sums, metrics: FloatArray, averages: FloatArray) -> FloatArray:
    """Centers (c, p), each in its own metric: one system of equations for all."""
    n_clusters, n_features = averages.shape[1], metrics.shape[-1]
    of_sets = np.tensordot(averages, metrics, axes=1)
    left = np.einsum("g,gk,gl,gij->kilj", sums.weights, averages, averages, of_sets, optimize=True)
    right = np.einsum("gk,gij,gj->ki", averages, of_sets, sums.points, optimize=True)
    size = n_clusters * n_features
    return solve_symmetric(left.reshape(size, size), right.ravel()).reshape(right.shape)


def solve_metrics(
    sums: Sums, centers: FloatArray, averages: FloatArray, ridge: float
) -> FloatArray:
    """Metrics (c, p, p) of determinant one with the least weighted distances, and ridge * trace."""
    means = averages @ centers
    cross = np.einsum("gk,gi,gj->kij", averages, sums.points, means, optimize=True)
    own = np.einsum("g,gk,gi,gj->kij", sums.weights, averages, means, means, optimize=True)
    scatter = sums.squares - cross - cross.transpose(0, 2, 1) + own
    scatter += ridge * np.eye(means.shape[1])
    logs = np.linalg.slogdet(scatter)[1]
    return np.exp(logs / means.shape[1])[:, None, None] * np.linalg.inv(scatter)


def solve_symmetric(left: FloatArray, right: FloatArray) -> FloatArray:
    """Solution of symmetric equations, the one nearest to zero if there are several."""
    try:
        return np.asarray(solve(left, right, assume_a="pos"))
    except LinAlgError:  # sets that do not tell two clusters apart
        return np.asarray(lstsq(left, right)[0])
