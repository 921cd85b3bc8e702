"""Covariances that rest on too little: refused before work begins, explained, or warned of."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from plausible.base import EmptyClassWarning
from plausible.engine import Result
from plausible.errors import InputError
from plausible.models.gaussian.census import RowCensus
from plausible.models.gaussian.parameters import FloatArray, SingularCovarianceError, singular
from plausible.models.gaussian.soft_mixture import SoftMixture

MOST_NUMBERS = 1 << 28  # of covariances: 2 GB, and several times as much while they are estimated
MOST_WORK = 2e9  # d^3 for each covariance: seconds for each step
ENOUGH = 1e-3  # reg_covar, relative to the variances, that is meant to make up for few items
REMEDY = (
    "share or simplify the covariances, shrink them or give a prior, raise reg_covar, or take "
    "fewer features"
)


class SingularCovarianceWarning(UserWarning):
    """A covariance would be singular without `reg_covar`.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", SingularCovarianceWarning)
    """


def check_memory(kind: str, n_components: int, d: int) -> None:
    """Refuse covariances that no memory holds, before anything is computed."""
    n_numbers = {"full": n_components * d * d, "tied": d * d}.get(kind, n_components * d)
    if n_numbers > MOST_NUMBERS:
        raise InputError(
            f"Covariances should have at most {MOST_NUMBERS:.0e} entries",
            f"{n_components} components of {d} features have {n_numbers:.1e}",
            (
                "use {covariance_type} or 'diag' (DiscriminantClassifier: shared_covariance=True)",
                "take fewer features",
            ),
            settings={"covariance_type": "tied"},
        )


def check_work(kind: str, n_components: int, census: RowCensus, reg_covar: float) -> None:
    """Refuse work of minutes on covariances that only `reg_covar` would make invertible."""
    d = len(census.center)
    if kind not in ("full", "tied"):
        return
    n_matrices = 1 if kind == "tied" else n_components
    items = census.n_rows if kind == "tied" else min(census.n_rows, float(census.support.max()))
    helped = reg_covar >= ENOUGH * float((census.spread**2).mean())
    if n_matrices * d**3 >= MOST_WORK and items <= d and not helped:
        raise InputError(
            f"A covariance of {d} features should rest on more than {d} items",
            f"there are at most {items:.0f}, and computing with it would take minutes",
            (
                "use {covariance_type}, DiscriminantClassifier(shrinkage='auto'), a prior, a "
                f"reg_covar of at least {ENOUGH:g} of the variances",
                "fewer features",
            ),
            settings={"covariance_type": "diag"},
        )


def explain_singular(
    error: SingularCovarianceError, names: NDArray[Any], problem: SoftMixture
) -> str:
    """Which class has a singular covariance, on how many items it rests, and what to do."""
    d = len(problem.center)
    if not error.components:
        whose, count = "that all classes share", problem.census.weight
    else:
        k = error.components[0]
        whose = f"of class {names.tolist()[k]!r}"
        count = np.nan if error.counts is None else error.counts[k]
    return (
        f"The covariance {whose} should be invertible, but is singular: it rests on {count:.4g} "
        f"effective items for {d} features; {REMEDY}."
    )


def warn_of_weak_points(names: list[Any], result: Result, problem: SoftMixture) -> None:
    """Say which components rest on next to nothing, and whether the start was improved."""
    counts = result.parameters.weights * problem.census.weight
    lost = counts < 1e-3
    if lost.any():
        empty = [name for name, gone in zip(names, lost, strict=True) if gone]
        message = f"Every component should keep some items, but those of {empty} lost theirs; use "
        message += "fewer components, another start, or a prior on the weights."
        warnings.warn(message, EmptyClassWarning, stacklevel=5)
    narrow = _held_up(result.parameters.covariances, problem)
    if narrow.any():
        k = int(np.argmax(narrow))
        shared = problem.kind == "tied"
        whose = "that all classes share" if shared else f"of class {names[k]!r}"
        message = f"The covariance {whose} is singular but for reg_covar: it rests on "
        message += f"{counts.sum() if shared else counts[k]:.4g} effective items for "
        message += f"{len(problem.center)} features; {REMEDY}."
        warnings.warn(message, SingularCovarianceWarning, stacklevel=5)
    rise = result.history[-1] - result.history[0]
    if problem.n_open and result.n_iter and rise <= 1e-12 * abs(result.history[0]):
        message = "An EM step should improve on the start, but none did: it is a maximum already, "
        message += "or a saddle from which equal components cannot part; try another init."
        warnings.warn(message, ConvergenceWarning, stacklevel=5)


def _held_up(covariances: FloatArray, problem: SoftMixture) -> NDArray[np.bool_]:
    """Which covariances have a direction with hardly more variance than `reg_covar`."""
    if problem.kind in ("full", "tied"):  # far quicker than eigenvalues
        rest = covariances - 2 * problem.reg_covar * np.eye(covariances.shape[-1])
        return np.array([singular(one) for one in rest.reshape(-1, *rest.shape[-2:])])
    least = covariances.min(axis=1) if problem.kind == "diag" else covariances
    return np.asarray(least <= 2 * problem.reg_covar)
