r"""Refusals that keep a promise: at most a share of the answers is wrong.

Of items that a classifier had not seen, let A(t) be how many it is sure of by at least t, and E(t)
how many of these it gets wrong. The lowest t with

.. math:: (1 + E(t)) / A(t) \le \alpha

accepts as many items as it can with an expected share of errors of about :math:`\alpha` among them.
The one more error is for the item to come: without it, few items would promise too much.

References
----------
R. F. Barber, E. J. Candes, Controlling the false discovery rate via knockoffs, Annals of Statistics
43 (2015) 2055-2085.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.checks import check_number
from plausible.errors import InputError

FloatArray = NDArray[np.float64]


class HeldOut(NamedTuple):
    """What a classifier said about items that it had not seen, each (n,).

    Attributes
    ----------
    confidence : probability of its answer
    error : how far the answer is wrong, in [0, 1]
    weight : number of items that it stands for

    Examples
    --------
    >>> held_out = HeldOut(np.array([0.9, 0.6]), np.array([0.0, 1.0]), np.ones(2))
    >>> reject_for(0.5, held_out, "Mine")
    -1.0
    """

    confidence: FloatArray
    error: FloatArray
    weight: FloatArray


def least_confidence(held_out: HeldOut, max_error: float) -> float:
    """The lowest confidence with which answers keep the share of errors; infinity for none."""
    order = np.argsort(-held_out.confidence, kind="stable")
    confidence = held_out.confidence[order]
    weight = held_out.weight[order]
    accepted, wrong = np.cumsum(weight), np.cumsum(weight * held_out.error[order])
    kept = 1.0 + wrong <= max_error * accepted * (1.0 + 1e-12)
    last = np.append(confidence[1:] < confidence[:-1], True)  # ties are accepted together
    good = np.flatnonzero(kept & last)
    return float(confidence[good[-1]]) if len(good) else np.inf


def reject_for(max_error: Any, held_out: HeldOut | None, name: str) -> float:
    """The loss of refusing by which a share of errors is kept; -1 refuses all."""
    allowed = check_number(max_error, "max_error", 0.0, 1.0)
    if held_out is None:
        raise InputError(
            "max_error should be asked of a classifier that was tried on items it had not seen",
            f"{name} was not",
            "fit ConformalClassifier(estimator) of plausible.models, best with gold classes, and "
            "ask that",
            parameter="max_error",
            value=max_error,
        )
    if allowed * held_out.weight.sum() < 1.0:
        needed = f"1 / {allowed:g}" if allowed > 0.0 else "infinitely many"
        raise InputError(
            f"max_error={allowed:g} needs {needed} items or more that were not seen in training",
            f"there are {held_out.weight.sum():g}",
            "allow more errors, or give more items for calibration",
            parameter="max_error",
            value=max_error,
        )
    least = least_confidence(held_out, allowed)
    return 1.0 - least if np.isfinite(least) else -1.0


def refuse_other_rules(rule: str, reject: Any, loss: Any) -> None:
    """Refuse what would decide beside a share of errors."""
    if rule != "pignistic" or reject is not None or loss is not None:
        raise InputError(
            "max_error should come alone, with the rule 'pignistic'",
            "another rule, reject or loss was given beside it",
            "leave them out",
            parameter="max_error",
        )
