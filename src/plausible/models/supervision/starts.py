"""Where the EM algorithm of stochastic supervision starts.

Only the start ties a component to its class, unless labels do. It is the M step on the classes that
the assessments find most probable, with k-means within a class of several components; or that on
responsibilities which are given; or the parameters of a smaller model.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from plausible.base import EmptyClassWarning
from plausible.checks import as_floats, name_rows
from plausible.errors import InputError
from plausible.models.gaussian.e_step import as_float64
from plausible.models.gaussian.parameters import FloatArray
from plausible.models.gaussian.starts import SAMPLE, cluster, moments_of
from plausible.models.supervision.em_problem import SupervisedMixture, SupervisionStatistics
from plausible.models.supervision.parameters import IntArray, Supervision, class_logs

WIDEST = 1e-3  # eigenvalues of a start at least, relative to the spread: it must not be too narrow
FEWER = 0.5  # share of the sample from which starts after the first are made


def make_starts(
    problem: SupervisedMixture, n_init: int, random: np.random.RandomState, names: list[Any]
) -> list[Supervision]:
    """Parameters to start from; those after the first from random halves of the rows."""
    A, plausibility, weight = as_float64(problem.all_rows.sample(SAMPLE, random))
    weight = np.ones(len(A)) if weight is None else weight
    logs = class_logs(A[:, problem.d :], problem.family)
    if plausibility is not None:
        with np.errstate(divide="ignore"):
            logs = logs + np.log(plausibility)
    starts = []
    for number in range(n_init):
        drawn = np.ones(len(A)) if number == 0 else random.uniform(size=len(A)) < FEWER
        used = weight * drawn
        used[logs.max(axis=1) == logs.min(axis=1)] = 0.0  # nothing is known of these
        if number == 0:
            _warn_of_empty(logs, used, names)
        if not used.any():
            raise InputError(
                "Some assessment should favor a class",
                "all give the classes the same probability",
                "give others, or fit a GaussianMixtureClassifier without labels",
            )
        members = memberships(problem, A, logs, used, random)
        starts.append(_solve_given(problem, A, members, max(problem.least, WIDEST)))
    return starts


def _warn_of_empty(logs: FloatArray, weight: FloatArray, names: list[Any]) -> None:
    """Say which classes are the most probable one of no item."""
    counts = np.bincount(logs.argmax(axis=1), weight, minlength=len(names))
    empty = [name for name, count in zip(names, counts, strict=True) if not count]
    if empty:
        warnings.warn(
            f"Every class should be the most probable one of some item, but {empty} never are; "
            "they start from the items for which they are least improbable, and may not stand for "
            "what the expert means by them.",
            EmptyClassWarning,
            stacklevel=4,
        )


def memberships(
    problem: SupervisedMixture,
    A: FloatArray,
    logs: FloatArray,
    weight: FloatArray,
    random: np.random.RandomState,
) -> FloatArray:
    """Responsibilities (M, n) of components for the rows of a sample, times their weights."""
    best = logs.argmax(axis=1)
    members = np.zeros((len(problem.owner), len(A)))
    X = A[:, : problem.d] / problem.spread[: problem.d]
    seed = random.randint(2**31 - 1)  # one for all classes: their order must not matter
    for j in range(problem.n_classes):
        mine = np.flatnonzero(problem.owner == j)
        rows = np.flatnonzero((best == j) & (weight > 0))
        share = weight[rows]
        if not len(rows):  # what the assessments say of this class, however little
            rows = np.flatnonzero(weight > 0)
            top = logs[rows, j].max()
            share = weight[rows] * (np.exp(logs[rows, j] - top) if top > -np.inf else 0.0)
        if not share.any():  # labels exclude it everywhere
            continue
        if len(mine) == 1:
            members[mine[0], rows] = share
            continue
        parts = cluster(X[rows], len(mine), share, seed)
        if len(parts) < len(mine):  # fewer different rows than components
            shape = len(mine) - len(parts), len(rows)
            parts = np.concatenate([parts, np.random.RandomState(seed).uniform(size=shape)])
            parts /= parts.sum(axis=0)
        members[mine[:, None], rows] = parts * share
    return members


def _solve_given(
    problem: SupervisedMixture, A: FloatArray, members: FloatArray, least: float
) -> Supervision:
    """The M step on given responsibilities (M, n), weights included."""
    assessed = ~np.isnan(A[:, problem.d])
    moments = moments_of(A[assessed], members[:, assessed], "full")
    bare = None
    if not assessed.all():
        bare = moments_of(A[~assessed, : problem.d], members[:, ~assessed], "full")
    return problem.solve(SupervisionStatistics(moments, bare, np.nan), least)


def given_start(problem: SupervisedMixture, init: ArrayLike, order: IntArray) -> Supervision:
    """The M step on responsibilities (n, M) that the user gives; `order` is that of components."""
    given = as_floats(init, "init")
    n_rows = problem.all_rows.n_rows
    shape = n_rows, len(problem.owner)
    if given.shape != shape or not np.isfinite(given).all() or (given < 0).any():
        raise InputError(
            "init should be 'assessments', a fitted classifier, or responsibilities of shape "
            f"{shape} without negative or missing numbers",
            f"has shape {given.shape}",
            parameter="init",
            value=given.shape,
        )
    total = given.sum(axis=1)
    if not (np.abs(total - 1) < 1e-6).all():
        raise InputError(
            "Responsibilities in init should sum to one over the components",
            f"do not in {name_rows(np.abs(total - 1) >= 1e-6)}",
            "divide each row by its sum",
            rows=np.abs(total - 1) >= 1e-6,
        )
    A, _, weight = as_float64(problem.all_rows.sample(n_rows, np.random.RandomState()))
    members = given.T[order] if weight is None else given.T[order] * weight
    empty = members.sum(axis=1) == 0
    if empty.any():
        raise InputError(
            "Every component should be responsible for some item",
            f"in init the columns {np.flatnonzero(empty).tolist()} are zero",
            "leave these components out",
        )
    return _solve_given(problem, A, members, problem.least)


def embed(problem: SupervisedMixture, source: Supervision, owner: IntArray) -> Supervision:
    """The parameters of a smaller model as those of this one; extra components share a place."""
    chosen: list[int] = []
    weights: list[float] = []
    for j in range(problem.n_classes):
        theirs = np.flatnonzero(owner == j)
        n_mine = int((problem.owner == j).sum())
        if len(theirs) > n_mine:
            raise InputError(
                f"init should have at most {n_mine} components in each class",
                f"has {len(theirs)} in one",
                "start from a smaller model",
                parameter="init",
            )
        copies = theirs[np.arange(n_mine) % len(theirs)]
        chosen += copies.tolist()
        weights += (source.weights[copies] / np.bincount(copies)[copies]).tolist()
    return source._replace(
        weights=np.array(weights),
        means=source.means[chosen],
        covariances=source.covariances[chosen],
    )
