r"""How far annotators agree beyond chance, from counts of hard answers.

Krippendorff's alpha for names compares pairs of answers about one item with pairs of any answers,
:math:`\alpha = 1 - D_o / D_e`; Fleiss' kappa does the same with shares, and is generalised here to
items with different numbers of answers.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.checks import as_floats, shown

FloatArray = NDArray[np.float64]


class Agreement(NamedTuple):
    """Agreement beyond chance: 1 is perfect, 0 that of lots drawn.

    Examples
    --------
    >>> agreement(np.array([[3.0, 0.0], [0.0, 3.0]])).alpha
    1.0
    """

    alpha: float
    kappa: float
    observed: float
    n_items: int


def check_votes(votes: ArrayLike) -> FloatArray:
    """Numbers of answers (n, K), none of them negative or missing."""
    counts = as_floats(votes, "votes")
    if counts.ndim != 2 or not np.isfinite(counts).all() or not (counts >= 0).all():
        raise ValueError(
            "votes should be a number of answers from 0 for each item and class, (n, K), but "
            f"{shown(votes)} was given; use Annotations.votes()."
        )
    return counts


def agreement(votes: ArrayLike) -> Agreement:
    """Krippendorff's alpha, Fleiss' kappa and the share of pairs that agree, of votes (n, K).

    Items with fewer than two answers say nothing about agreement; NaN if all are such, or if only
    one class occurs.

    Examples
    --------
    >>> found = agreement(np.array([[2.0, 1.0], [0.0, 3.0], [3.0, 0.0], [1.0, 2.0]]))
    >>> round(found.alpha, 3), round(found.kappa, 3)
    (0.389, 0.333)
    """
    votes = check_votes(votes)
    total = votes.sum(axis=1)
    pairable = votes[total >= 2]
    count = pairable.sum(axis=1)
    if not len(pairable):
        return Agreement(np.nan, np.nan, np.nan, 0)
    same = (pairable * (pairable - 1)).sum(axis=1)
    shares = pairable.sum(axis=0)
    n = shares.sum()
    differ = ((count * (count - 1) - same) / (count - 1)).sum() / n
    expected = 1 - (shares * (shares - 1)).sum() / (n * (n - 1))
    observed = (same / (count * (count - 1))).mean()
    chance = ((shares / n) ** 2).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha = 1 - differ / expected if expected > 0 else np.nan
        kappa = (observed - chance) / (1 - chance) if chance < 1 else np.nan
    return Agreement(float(alpha), float(kappa), float(observed), len(pairable))
