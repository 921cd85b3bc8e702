r"""What a network's bets P lose against what labels say, and the slopes of it.

===========  ==========================================  ====================================
squared      :math:`\sum_k (P_k - t_k)^2`                Denoeux (2000)
c1           :math:`1 - \sum_k t_k P_k`                  Vannoorenberghe: linear, so not proper
likelihood   :math:`-\log \sum_k pl_k P_k`               generalized likelihood
===========  ==========================================  ====================================

t are the bets of the label itself; of a label that is probabilities p, these. Such a label loses
the cross-entropy :math:`-\sum_k p_k \log P_k` under the likelihood. A label that says nothing
loses nothing under the likelihood; in the other two it would teach ignorance, and is left out.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Loss = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]

LEAST = 1e-300


def _squared_loss(bets: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Losses (n,) and slopes (K, n) of bets (K, n)."""
    apart = bets - targets
    return (apart**2).sum(axis=0), 2.0 * apart


def c1_loss(bets: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Losses (n,) and slopes (K, n) of bets (K, n)."""
    return 1.0 - (bets * targets).sum(axis=0), -targets


def _likelihood_loss(bets: FloatArray, plausibility: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Losses (n,) and slopes (K, n) of bets (K, n)."""
    fit = np.maximum((bets * plausibility).sum(axis=0), LEAST)
    return -np.log(fit), -plausibility / fit


LOSSES: dict[str, Loss] = {"squared": _squared_loss, "c1": c1_loss, "likelihood": _likelihood_loss}


def _cross_entropy(bets: FloatArray, probability: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Losses (n,) and slopes (K, n) of bets (K, n)."""
    bets = np.maximum(bets, LEAST)
    return -(probability * np.log(bets)).sum(axis=0), -probability / bets


def evaluate(
    name: str, bets: FloatArray, targets: FloatArray, is_probability: BoolArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Losses (n,) and slopes (K, n), where some of the targets are probabilities."""
    value, slope = LOSSES[name](bets, targets)
    if name == "likelihood" and is_probability is not None and is_probability.any():
        there = _cross_entropy(bets[:, is_probability], targets[:, is_probability])
        value[is_probability], slope[:, is_probability] = there
    return value, slope
