r"""Several answers about one item, pooled by Dempster's rule after discounting.

.. math:: pl_{ik} \propto \prod_a \big( (1 - \delta_a) \, pl_{aik} + \delta_a \big)

The contour of Dempster's combination is the product of the contours. For n_k hard answers "k", each
with doubt :math:`\delta`, this is :math:`\delta^{-n_k}` up to a factor. A doubt of zero is refused:
two people who disagree would be in total conflict.
"""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.belief import MAX_CLASSES, SparseMasses
from plausible.checks import as_floats, check_number, random_from
from plausible.experts import simple_masses
from plausible.labels import Labels, check_classes

FloatArray = NDArray[np.float64]
LEAST_DOUBT = 1e-6


def pool_votes(
    votes: ArrayLike, doubt: float, classes: Sequence[Hashable] | NDArray[Any] | None = None
) -> Labels:
    """Pool hard answers, each with the same doubt, by Dempster's rule.

    Parameters
    ----------
    votes : array-like (n, K)
        How many people chose each class; a row of zeros says nothing.
    doubt : float in [0.000001, 1]
        Part of each answer that says nothing.
    classes : sequence, optional

    Returns
    -------
    Labels
        With masses (up to 62 classes) and the conflict among the votes.

    Examples
    --------
    >>> labels = pool_votes([[3, 1], [2, 2], [0, 0]], doubt=0.5, classes=["cat", "dog"])
    >>> labels.scaled()
    array([[1.  , 0.25],
           [1.  , 1.  ],
           [1.  , 1.  ]])
    >>> labels.conflict.round(2)
    array([0.44, 0.56, 0.  ])
    """
    counts = check_votes(votes)
    check_number(doubt, "doubt", LEAST_DOUBT, 1.0)
    n_classes = counts.shape[1]
    names = check_classes(range(n_classes) if classes is None else classes).tolist()
    # Log weights of simple mass functions on each class.
    values, agreed = simple_masses(counts * np.log(doubt), np.zeros(len(counts), dtype=bool))
    conflict = np.clip(-np.expm1(agreed), 0.0, 1.0) + 0.0  # no negative zeros
    if n_classes > MAX_CLASSES:
        return Labels(values[:, :-1] + values[:, -1:], names, conflict=conflict)
    sets = np.append(1 << np.arange(n_classes, dtype=np.int64), (1 << n_classes) - 1)
    return Labels.from_masses(SparseMasses(values, sets, n_classes), names, conflict)


def pool_plausibilities(
    plausibilities: ArrayLike,
    doubt: ArrayLike,
    classes: Sequence[Hashable] | NDArray[Any] | None = None,
) -> Labels:
    """Pool the plausibilities that several people gave by Dempster's rule.

    Parameters
    ----------
    plausibilities : array-like (A, n, K)
        What each of A people said about n items.
    doubt : float or array-like (A,) in [0.000001, 1]
        How far each person is mistrusted.
    classes : sequence, optional

    Examples
    --------
    >>> first, second = [[1.0, 0.4], [0.0, 1.0]], [[1.0, 0.2], [1.0, 0.0]]
    >>> pool_plausibilities([first, second], doubt=0.1, classes=["a", "b"]).contour.round(3)
    array([[1.   , 0.129],
           [1.   , 1.   ]])
    """
    given = as_floats(plausibilities, "plausibilities")
    if given.ndim != 3:
        raise ValueError(
            f"plausibilities should have three axes (people, items, classes), but have shape "
            f"{given.shape}; write [plausibilities] for one person."
        )
    doubts = as_floats(doubt, "doubt")
    if doubts.shape not in ((), (len(given),)):
        raise ValueError(
            f"doubt should be one number or one for each of the {len(given)} people, but has shape "
            f"{doubts.shape}; give an array ({len(given)},)."
        )
    for value in doubts.ravel():
        check_number(value, "doubt", LEAST_DOUBT, 1.0)
    names = check_classes(range(given.shape[2]) if classes is None else classes).tolist()
    column = np.broadcast_to(doubts, len(given))
    opinions = [
        Labels.from_plausibility(one, names).discount(float(d))
        for one, d in zip(given, column, strict=True)
    ]
    logs = sum(np.log(opinion.contour) for opinion in opinions)
    return Labels.from_plausibility(np.exp(logs - np.max(logs, axis=1, keepdims=True)), names)


def majority_vote(votes: ArrayLike, random_state: Any = None) -> NDArray[np.int64]:
    """Column with most votes in each row, ties broken at random; -1 where nobody voted.

    Examples
    --------
    >>> majority_vote([[3, 1], [0, 2], [0, 0]])
    array([ 0,  1, -1])
    """
    counts = check_votes(votes)
    lots = random_from(random_state).uniform(0.0, 1e-9, counts.shape)
    return np.where(counts.any(axis=1), (counts + lots).argmax(axis=1), -1)


def estimate_doubt(votes: ArrayLike) -> float:
    """Doubt of single votes, from how often two votes on the same item agree.

    A vote that is drawn from all K classes with probability `doubt`, and is right else, agrees with
    another one with probability a = q + (1 - q) / K, where q = (1 - doubt)^2. Rows weigh by their
    number of pairs of votes. The answer is at least 0.01, for votes are never beyond doubt.

    Examples
    --------
    >>> round(estimate_doubt([[3, 0], [0, 2], [2, 1]]), 3)     # 5 pairs of 7 agree
    0.345
    """
    counts = check_votes(votes)
    total = counts.sum(axis=1)
    pairs = float((total * (total - 1.0)).sum())
    n_classes = counts.shape[1]
    if pairs <= 0.0 or n_classes < 2:
        raise ValueError(
            "votes should hold at least two classes and an item with at least two votes to "
            "estimate their doubt, but do not; give the doubt yourself."
        )
    agreement = float((counts * (counts - 1.0)).sum()) / pairs
    beyond_chance = (agreement - 1.0 / n_classes) / (1.0 - 1.0 / n_classes)
    return max(0.01, 1.0 - float(np.sqrt(max(beyond_chance, 0.0))))


def check_votes(votes: ArrayLike) -> FloatArray:
    """Counts (n, K), refusing other shapes and negative numbers."""
    counts = as_floats(votes, "votes")
    if counts.ndim != 2 or not counts.shape[1]:
        raise ValueError(
            f"votes should be a table (items, classes) of counts, but have shape {counts.shape}; "
            "count the answers of each item."
        )
    if not (np.isfinite(counts) & (counts >= 0.0)).all():
        raise ValueError(
            "votes should be counts from 0, but negative or missing ones were found; write 0 where "
            "nobody chose a class."
        )
    return counts
