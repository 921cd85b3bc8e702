r"""Weights of classes with which decisions cost least.

The class with the largest :math:`v_j z_j` is chosen; two classes have a threshold :math:`v_2 / v_1`
on the odds. The expected cost is a step function of each log weight, so that the best step, the
others fixed, is found by sorting; weights are improved one by one until none changes.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.checks import as_floats
from plausible.errors import InputError

FloatArray = NDArray[np.float64]

ROUNDS = 50


def best_class_weights(
    log_probabilities: FloatArray, truth: FloatArray, cost: ArrayLike | None = None
) -> FloatArray:
    """Weights (J,), the last of them 1, that minimize the expected cost of decisions.

    Parameters
    ----------
    log_probabilities : array (n, J)
        On which decisions are made.
    truth : array (n, J)
        Probabilities of the true class.
    cost : array-like (J, J), optional
        Of deciding for a column when a row is true; 1 for every error by default.

    Examples
    --------
    An expert who is too careful with the second class:

    >>> said = np.log([[0.9, 0.1], [0.7, 0.3], [0.6, 0.4], [0.2, 0.8]])
    >>> truth = np.array([[1.0, 0.0], [0.9, 0.1], [0.2, 0.8], [0.0, 1.0]])
    >>> best_class_weights(said, truth).round(2)
    array([0.53, 1.  ])
    """
    n_classes = truth.shape[1]
    losses = truth @ check_cost(cost, n_classes)
    scores = log_probabilities - log_probabilities[:, -1:]
    shift = np.zeros(n_classes)
    for _ in range(ROUNDS):
        before = shift.copy()
        for j in range(n_classes - 1):
            shift[j] = _best_shift(scores + shift, losses, j) + shift[j]
        if np.allclose(before, shift):
            break
    return np.exp(shift)


def _best_shift(scores: FloatArray, losses: FloatArray, j: int) -> float:
    """What to add to the scores of class j so that the decisions cost least."""
    rows = np.arange(len(scores))
    others = scores.copy()
    others[:, j] = -np.inf
    rival = others.argmax(axis=1)
    turning = others.max(axis=1) - scores[:, j]  # above, the row is decided for j
    order = np.argsort(turning)
    points = turning[order]
    gain = (losses[:, j] - losses[rows, rival])[order]
    totals = np.concatenate([[0.0], np.cumsum(gain)])
    apart = np.concatenate([[True], points[1:] > points[:-1], [True]])
    best = totals[apart].min()
    good = np.flatnonzero(apart & (totals <= best + 1e-12 * np.abs(losses).sum()))
    padded = np.concatenate([[points[0] - 2.0], points, [points[-1] + 2.0]])
    middles = 0.5 * (padded[good] + padded[good + 1])
    return float(middles[np.abs(middles).argmin()])  # no further from the present than need be


def check_cost(cost: ArrayLike | None, n_classes: int) -> FloatArray:
    """Costs (J, J) of decisions."""
    if cost is None:
        return 1.0 - np.eye(n_classes)
    table = as_floats(cost, "cost")
    if table.shape != (n_classes, n_classes) or not np.isfinite(table).all():
        raise InputError(
            f"cost should be finite numbers of shape {(n_classes, n_classes)}, a row for each "
            "true class and a column for each decision",
            f"has shape {table.shape}",
            parameter="cost",
            value=table.shape,
        )
    return table


def check_class_weight(class_weight: Any, classes: list[Any]) -> FloatArray:
    """Positive weights, one for each class in their order."""
    n_classes = len(classes)
    weights = as_floats(class_weight, "class_weight")
    if weights.shape != (n_classes,) or not (weights > 0).all() or not np.isfinite(weights).all():
        raise InputError(
            f"class_weight should be {n_classes} positive numbers, one for each class",
            f"{np.asarray(class_weight).tolist()} was given",
            f"write a dict, class_weight={dict.fromkeys(classes[:2], 1.0)}",
            parameter="class_weight",
        )
    return weights
