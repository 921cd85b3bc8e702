r"""How far annotators agree beyond chance, from counts of hard answers.

Krippendorff's alpha for names compares pairs of answers about one item with pairs of any answers,
:math:`\alpha = 1 - D_o / D_e`; Fleiss' kappa does the same with shares, and is generalized here to
items with different numbers of answers.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.checks import as_floats, name_rows
from plausible.errors import InputError

FloatArray = NDArray[np.float64]


class Agreement(NamedTuple):
    """Agreement beyond chance: 1 is perfect, 0 that of lots drawn.

    Attributes
    ----------
    alpha : Krippendorff's alpha
    kappa : Fleiss' kappa
    observed : share of pairs of answers about one item that are the same, as Fleiss has it: the
        mean over items, each of which counts the same whatever its number of answers
    n_items : items with at least two answers, of which all this is told
    pairs : share of all pairs of answers about one item that are the same

    Examples
    --------
    >>> agreement([[3, 0], [0, 3]]).alpha
    1.0
    """

    alpha: float
    kappa: float
    observed: float
    n_items: int
    pairs: float


def agreement(votes: ArrayLike) -> Agreement:
    """Krippendorff's alpha, Fleiss' kappa and shares of pairs that agree, of votes (n, K).

    Items with fewer than two answers say nothing about agreement; where all are such, nothing is
    defined, and NaN. Where all answers about the others name one class, the shares of pairs are 1,
    but nothing tells agreement from chance: alpha and kappa, which are 0 / 0, are NaN.

    Examples
    --------
    >>> found = agreement([[2, 1], [0, 3], [3, 0], [1, 2]])
    >>> round(found.alpha, 3), round(found.kappa, 3)
    (0.389, 0.333)
    >>> agreement([[2, 0], [5, 0]])
    Agreement(alpha=nan, kappa=nan, observed=1.0, n_items=2, pairs=1.0)
    """
    counts = check_votes(votes)
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return Agreement(np.nan, np.nan, np.nan, 0, np.nan)
    size = counts.sum(axis=1)
    same, possible = (counts * (counts - 1)).sum(axis=1), size * (size - 1)
    observed, pairs = float((same / possible).mean()), float(same.sum() / possible.sum())
    alpha = kappa = np.nan
    named = counts.sum(axis=0)
    if (named > 0).sum() > 1:
        n = named.sum()
        differ = ((possible - same) / (size - 1)).sum() / n
        expected = (named * (n - named)).sum() / (n * (n - 1))
        chance = ((named / n) ** 2).sum()
        otherwise = (named * (n - named)).sum() / n**2  # 1 - chance, without cancellation
        alpha = float(1 - differ / expected)
        kappa = float((observed - chance) / otherwise)
    return Agreement(alpha, kappa, observed, len(counts), pairs)


def check_votes(votes: ArrayLike) -> FloatArray:
    """Whole numbers (n, K) of answers, from 0."""
    counts = as_floats(votes, "votes")
    if counts.ndim != 2:
        raise InputError(
            "votes should have a row for each item and a column for each class",
            f"have shape {counts.shape}",
            "count the answers, as Annotations.votes() does",
            parameter="votes",
            value=counts.shape,
        )
    bad = ~((counts >= 0) & np.isfinite(counts) & (counts == np.floor(counts))).all(axis=1)
    if bad.any():
        raise InputError(
            "votes should be whole numbers of answers from 0",
            f"are not in {name_rows(bad)}",
            "count the answers",
            parameter="votes",
            rows=bad,
        )
    return counts
