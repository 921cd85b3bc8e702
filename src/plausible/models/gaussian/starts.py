"""Where the EM algorithm of a soft mixture starts.

The start decides which maximum is found, and which component stands for which class. From labels,
component k starts at the rows that favor class k, so that it is class k; what labels do not say
(several components of a class, classes that no row favors) comes from k-means on a sample.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from plausible.checks import as_floats, shown
from plausible.errors import InputError
from plausible.models.gaussian.e_step import as_float64, centered_sums, favor_by_class
from plausible.models.gaussian.parameters import (
    FloatArray,
    Gaussians,
    Moments,
    about_mean,
    cholesky,
    solve,
)
from plausible.models.gaussian.soft_mixture import SoftMixture

SAMPLE = 20_000  # rows that k-means looks at


def make_starts(
    problem: SoftMixture,
    init: str | Mapping[str, Any],
    n_init: int,
    random: np.random.RandomState,
) -> list[Gaussians]:
    """Parameters to start from, `n_init` of them; the first depends least on chance."""
    if not isinstance(init, str):
        return [given_start(problem, init)]
    if init == "labels":
        starts = [_label_start(problem, random)]
        if n_init > 1:
            starts.append(_cluster_start(problem, random))
        return starts + [_jitter(starts[0], problem, random) for _ in range(n_init - 2)]
    make = {"kmeans": _cluster_start, "random": _random_start}[init]
    return [make(problem, random) for _ in range(n_init)]


def _label_start(problem: SoftMixture, random: np.random.RandomState) -> Gaussians:
    """Components where the labels put their classes."""
    if not problem.labeled:
        return _cluster_start(problem, random)
    moments = problem.class_moments()
    if not moments.counts.any():
        return _cluster_start(problem, random)
    owner, kind = problem.owner, problem.kind
    if len(np.unique(owner)) < len(owner):
        return _nested_start(problem, moments, random)
    moments = Moments(
        moments.counts[owner],
        moments.mean[owner],
        moments.scatter if kind == "tied" else moments.scatter[owner],
    )
    if not problem.n_open and (moments.counts > 0).all():
        return problem.solve_moments(moments)
    start = cautious_solve(problem, moments)
    unseen = moments.counts <= 1e-9 * moments.counts.sum()
    return separate(_fill_unseen(start, unseen, problem, random), problem, random)


def cautious_solve(problem: SoftMixture, moments: Moments) -> Gaussians:
    """An M step with covariances drawn to their average, and that without correlations.

    Few labels in many dimensions would give narrow or badly shaped components, from which EM does
    not find back.
    """
    kind, d = problem.kind, len(problem.center)
    counts, more = moments.counts, float(d + 1)
    pooled = moments.scatter if kind == "tied" else moments.scatter.sum(axis=0)
    pooled = pooled / max(counts.sum(), 1e-300)
    if kind in ("full", "tied"):
        pooled = np.diag(np.diagonal(pooled))
    divisor = (
        np.full(len(counts), more / len(counts)) if kind == "tied" else np.full_like(counts, more)
    )
    moments = Moments(counts + divisor, moments.mean, moments.scatter + more * pooled)
    start = solve(moments, kind, problem.reg_covar, None)
    weights = np.maximum(counts, 0.0) / max(counts.sum(), 1e-300)
    return Gaussians(weights, start.means, widen(start.covariances, problem))


def widen(covariances: FloatArray, problem: SoftMixture) -> FloatArray:
    """Add a little of the overall spread, so that a start is never singular."""
    little = 1e-3 * problem.census.spread**2
    if problem.kind in ("full", "tied"):
        return covariances + np.diag(little)
    return covariances + (little if problem.kind == "diag" else little.mean())


def _fill_unseen(
    start: Gaussians,
    unseen: NDArray[np.bool_],
    problem: SoftMixture,
    random: np.random.RandomState,
) -> Gaussians:
    """Place components that no row favors at sampled rows far from all others."""
    if not unseen.any():
        return start
    X, plausibility, _ = as_float64(problem.rows.sample(SAMPLE, random))
    weights, means = start.weights.copy(), start.means.copy()
    nearest = np.min([_scaled_distance(X, mean, problem) for mean in means[~unseen]], axis=0)
    for k in np.flatnonzero(unseen):
        able = nearest.copy()
        if plausibility is not None:
            able *= plausibility[:, problem.owner[k]] > 0
        if not able.any():
            able[:] = 1.0
        row = random.choice(len(X), p=able / able.sum())
        means[k] = X[row]
        weights[k] = weights[~unseen].mean()
        nearest = np.minimum(nearest, _scaled_distance(X, means[k], problem))
    return Gaussians(weights / weights.sum(), means, start.covariances)


def _scaled_distance(X: FloatArray, mean: FloatArray, problem: SoftMixture) -> FloatArray:
    """Squared distances with every feature in units of its spread."""
    return (((X - mean) / problem.census.spread) ** 2).sum(axis=1)


def separate(start: Gaussians, problem: SoftMixture, random: np.random.RandomState) -> Gaussians:
    """Move components apart that start at one place: EM could never tell them from each other."""
    scaled = start.means / problem.census.spread
    means = start.means.copy()
    for k in range(1, len(means)):
        if (np.abs(scaled[:k] - scaled[k]).max(axis=1) < 1e-6).any():
            means[k] += 0.1 * problem.census.spread * random.normal(size=means.shape[1])
    return start._replace(means=means)


def _jitter(start: Gaussians, problem: SoftMixture, random: np.random.RandomState) -> Gaussians:
    """The start with its means moved at random."""
    noise = random.normal(size=start.means.shape) * problem.census.spread
    return start._replace(means=start.means + 0.3 * noise)


def cluster(X: FloatArray, n_clusters: int, weight: FloatArray | None, seed: int) -> FloatArray:
    """Memberships (n_clusters, n) by k-means on standardized rows."""
    from sklearn.cluster import KMeans  # takes 20 MB, and most fits do without

    n_clusters = min(n_clusters, len(np.unique(X, axis=0)))
    found = KMeans(n_clusters, n_init=1, random_state=seed).fit_predict(X, sample_weight=weight)
    return np.eye(n_clusters)[:, found]


def _steady(spread: FloatArray) -> FloatArray:
    """Without last digits, which depend on chunks, and by which k-means would settle a tie."""
    part, power = np.frexp(spread)
    return np.ldexp(np.round(part * 2.0**30) / 2.0**30, power)


def _cluster_start(problem: SoftMixture, random: np.random.RandomState) -> Gaussians:
    """Components at the clusters of k-means, given to the classes they agree with best."""
    X, plausibility, weight = _sampled(problem, random)
    n_components = len(problem.owner)
    seed = random.randint(2**31 - 1)
    members = cluster(X / _steady(problem.census.spread), n_components, weight, seed)
    if weight is not None:
        members = members * weight
    if len(members) < n_components:  # fewer different rows than components
        copies = members[random.randint(len(members), size=n_components - len(members))]
        members = np.concatenate([members, copies])
    if plausibility is not None and n_components > 1:
        agreement = members @ favor_by_class(plausibility)[:, problem.owner]
        members = members[linear_sum_assignment(-agreement.T)[1]]
    start = cautious_solve(problem, moments_of(X, members, problem.kind))
    return separate(start, problem, random)


def _sampled(
    problem: SoftMixture, random: np.random.RandomState
) -> tuple[FloatArray, FloatArray | None, FloatArray | None]:
    """A sample of rows with some weight."""
    X, plausibility, weight = as_float64(problem.all_rows.sample(SAMPLE, random))
    if weight is None or weight.all():
        return X, plausibility, weight
    keep = weight > 0
    return X[keep], None if plausibility is None else plausibility[keep], weight[keep]


def _random_start(problem: SoftMixture, random: np.random.RandomState) -> Gaussians:
    """Means at random rows where their class is plausible, covariances that of all rows."""
    X, plausibility, weight = _sampled(problem, random)
    n_components = len(problem.owner)
    rows = []
    for k in range(n_components):
        chance = np.ones(len(X)) if plausibility is None else plausibility[:, problem.owner[k]]
        chance = chance if weight is None else chance * weight
        chance = chance / chance.sum() if chance.sum() > 0 else np.full(len(X), 1 / len(X))
        rows.append(random.choice(len(X), p=chance))
    members = np.ones((n_components, len(X))) / n_components
    members = members if weight is None else members * weight
    start = cautious_solve(problem, moments_of(X, members, problem.kind))
    return separate(start._replace(means=X[rows]), problem, random)


def _nested_start(
    problem: SoftMixture, classes: Moments, random: np.random.RandomState
) -> Gaussians:
    """Several components for a class: k-means among the rows that favor it."""
    X, plausibility, weight = _sampled(problem, random)
    assert plausibility is not None
    favor = (
        favor_by_class(plausibility)
        if weight is None
        else favor_by_class(plausibility) * weight[:, None]
    )
    members = np.zeros((len(problem.owner), len(X)))
    unseen = np.zeros(len(problem.owner), dtype=bool)
    for c in np.unique(problem.owner):
        mine = np.flatnonzero(problem.owner == c)
        rows = np.flatnonzero(favor[:, c] > 0)
        if len(rows) < len(mine):
            unseen[mine] = True
            continue
        seed = random.randint(2**31 - 1)
        chance = favor[rows, c]
        parts = cluster(X[rows] / _steady(problem.census.spread), len(mine), chance, seed)
        members[mine[: len(parts), None], rows] = parts * chance
        unseen[mine[len(parts) :]] = True
    if unseen.all():
        return _cluster_start(problem, random)
    start = cautious_solve(problem, moments_of(X, members, problem.kind))
    share = np.maximum(classes.counts, 1e-9)[problem.owner]
    in_class = np.maximum(np.bincount(problem.owner, start.weights), 1e-300)
    within = start.weights / in_class[problem.owner]
    start = start._replace(weights=share * within / (share * within).sum())
    return separate(_fill_unseen(start, unseen, problem, random), problem, random)


def moments_of(X: FloatArray, members: FloatArray, kind: str) -> Moments:
    """Moments of rows with memberships (M, n)."""
    count = np.maximum(members.sum(axis=1), 1e-300)
    centers = (members @ X) / count[:, None]
    return about_mean(*centered_sums(X, members, centers, kind), centers, kind)


def given_start(problem: SoftMixture, init: Mapping[str, Any]) -> Gaussians:
    """A start given as weights, means and covariances; what is left out comes from all rows."""
    unknown = set(init) - {"weights", "means", "covariances"}
    if unknown or "means" not in init:
        raise InputError(
            "init should be a dict with means, and weights and covariances if known",
            f"has the keys {shown(list(init))}",
            "rename or leave out the others",
            parameter="init",
        )
    n_components, d = len(problem.owner), len(problem.center)
    kind = problem.kind
    overall = {
        "full": np.tile(np.diag(problem.census.spread**2), (n_components, 1, 1)),
        "tied": np.diag(problem.census.spread**2),
        "diag": np.tile(problem.census.spread**2, (n_components, 1)),
        "spherical": np.full(n_components, (problem.census.spread**2).mean()),
    }[kind]
    even = np.full(n_components, 1 / n_components)
    weights = shaped(init.get("weights", even), (n_components,), "weights")
    means = shaped(init["means"], (n_components, d), "means")
    covariances = shaped(init.get("covariances", overall), overall.shape, "covariances")
    if not (weights >= 0).all() or not weights.sum() > 0:
        raise InputError(
            "init weights should be positive",
            f"are {weights}",
            "give proportions",
        )
    cholesky(covariances, kind)
    return Gaussians(weights / weights.sum(), means, covariances)


def shaped(values: ArrayLike, shape: tuple[int, ...], name: str) -> FloatArray:
    """Numbers of a given shape, or an error that says which was expected."""
    array = as_floats(values, f"init {name}")
    if array.shape != shape or not np.isfinite(array).all():
        raise InputError(
            f"init {name} should be finite numbers of shape {shape}",
            f"have shape {array.shape} or hold missing values",
            "give one entry for each component, class by class",
            value=array.shape,
        )
    return array
