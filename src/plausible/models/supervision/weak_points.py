"""What to tell users about a fit of stochastic supervision."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from plausible.base import EmptyClassWarning
from plausible.engine import Result
from plausible.models.gaussian.parameters import FloatArray
from plausible.models.supervision.em_problem import SupervisedMixture
from plausible.models.supervision.parameters import Supervision, agreement_pass, pool, regress

LEFT = 0.1  # agreement with assessments beyond chance, below which a component has left its class
NEARLY_LINEAR = 0.99  # adjusted R2 from which assessments add next to nothing to the features


class SupervisionWarning(UserWarning):
    """The fit of a stochastic supervision model may not mean what it seems to.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", SupervisionWarning)
    """


def adjusted_r2(problem: SupervisedMixture, p: Supervision) -> FloatArray:
    """How much of the variance of log odds a regression on the features explains, by class."""
    d = problem.d
    classes = pool(problem.summarize([p])[0].moments, problem.owner, problem.n_classes)
    if problem.family == "beta":  # log odds are log z - log(1 - z)
        turn = np.eye(d + 2)[:, : d + 1]
        turn[-1, -1] = -1.0
        classes = classes._replace(
            mean=classes.mean @ turn, scatter=turn.T @ classes.scatter @ turn
        )
    _, left = regress(classes, d, problem.spread)
    total = np.diagonal(classes.scatter[:, d:, d:], axis1=1, axis2=2)
    rounding = 1e-20 * classes.counts[:, None] * (1 + classes.mean[:, d:] ** 2)
    constant = (total <= rounding).any(axis=1)
    share = np.diagonal(left, axis1=1, axis2=2) / np.maximum(total, 1e-300)
    r2 = 1 - share.mean(axis=1)
    freedom = np.maximum(classes.counts - d - 1, 1.0)
    adjusted = 1 - (1 - r2) * np.maximum(classes.counts - 1, 0) / freedom
    return np.where((classes.counts >= d + 2) & ~constant, adjusted, np.nan)


def warn_of_weak_points(model: Any, problem: SupervisedMixture) -> None:
    """Say which components have left their class, and where assessments repeat the features."""
    p = model._parameters
    held = problem.rows.reduce(agreement_pass, p, problem.owner, problem.family)
    count = held.sum(axis=1)
    base = held.sum(axis=0) / held.sum()
    share = held[np.arange(len(held)), problem.owner] / np.maximum(count, 1e-300)
    chance = base[problem.owner]
    beyond = (share - chance) / np.maximum(1 - chance, 1e-300)
    left = (beyond < LEFT) & (count > 0) & (chance > 0) & (chance < 1)
    names = model.component_classes_.tolist()
    lost = count <= 1e-9 * count.sum()
    if lost.any():
        empty = sorted({name for name, gone in zip(names, lost, strict=True) if gone}, key=str)
        warnings.warn(
            f"Every component should keep some assessed items, but those of {empty} lost theirs; "
            "use fewer components or another start.",
            EmptyClassWarning,
            stacklevel=5,
        )
    if left.any():
        k = int(np.argmax(left))
        warnings.warn(
            f"A component of class {names[k]!r} has left it: {share[k]:.0%} of its items are "
            f"assessed as most probably {names[k]!r}, against {chance[k]:.0%} of all items. The "
            "likelihood prefers another grouping than the classes; use a simpler model, give "
            "labels= for some items, or trust predictions less.",
            SupervisionWarning,
            stacklevel=5,
        )
    linear = model.adjusted_r2_ > NEARLY_LINEAR
    if linear.any():
        j = int(np.argmax(linear))
        warnings.warn(
            f"Assessments are nearly a linear function of the features in class "
            f"{model.classes_.tolist()[j]!r} (adjusted R2 {model.adjusted_r2_[j]:.4f}): they say "
            "little that the features do not, and the likelihood of assessment='linear' would grow "
            "without bound but for reg_covar.",
            SupervisionWarning,
            stacklevel=5,
        )


def warn_of_saddle(result: Result, problem: SupervisedMixture) -> None:
    """Say that a fit could not begin because components of a class start at one place."""
    rise = result.history[-1] - result.history[0]
    if len(problem.owner) == problem.n_classes or not result.n_iter:
        return
    if rise <= 1e-12 * abs(result.history[0]):
        warnings.warn(
            "An EM step should improve on the start, but none did: components of a class that "
            "start at one place cannot part; start from 'assessments', or from responsibilities "
            "that differ.",
            ConvergenceWarning,
            stacklevel=5,
        )
