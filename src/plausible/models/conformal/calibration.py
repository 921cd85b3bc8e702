r"""Scores of items, and the classes whose score is not unusual.

A score s(x, k) says how badly class k fits item x. With scores :math:`s_i` of n items that the
classifier had not seen, class k stays in the set of a new item if

.. math:: \#\{i : s_i < s(x, k)\} < c\,(n + 1).

If the new item is exchangeable with the n items, its class is in the set with probability c at
least, and at most c + 1 / (n + 1) if scores are all different. Several classifiers, each with the
items that it did not see, count together (cross-conformal sets): c is then reached as a rule, and
2c - 1 is what is proved. Items whose label leaves several classes count for each by its share.

References
----------
V. Vovk, A. Gammerman, G. Shafer, Algorithmic learning in a random world, Springer 2005.
Y. Romano, M. Sesia, E. J. Candes, Classification with valid and adaptive coverage, NeurIPS 2020
(cumulative scores; CV+).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

SCORES = ("probability", "cumulative")


class Entries(NamedTuple):
    """Scores for comparison, all (m,): of which class, with which weight, by which classifier."""

    scores: FloatArray
    codes: IntArray
    weights: FloatArray
    models: IntArray


def class_scores(bets: FloatArray, score: str) -> FloatArray:
    """How badly each class (n, K) fits.

    "probability": one less its probability. "cumulative": the probability of all classes that are
    more probable, and its own.
    """
    if score == "probability":
        return 1.0 - bets
    order = np.argsort(-bets, axis=1, kind="stable")
    total = np.cumsum(np.take_along_axis(bets, order, axis=1), axis=1)
    scores = np.empty_like(total)
    np.put_along_axis(scores, order, total, axis=1)
    return scores


def entries_of(
    scores: FloatArray, shares: FloatArray, weight: FloatArray, models: IntArray, worst: bool
) -> Entries:
    """Scores (n, K) of items as entries: one for each class with a share, or the worst of them."""
    if worst:
        top = np.where(shares > 0.0, scores, -np.inf)
        codes = top.argmax(axis=1)
        return Entries(top.max(axis=1), codes, weight, models)
    items, codes = np.nonzero(shares)
    weights = weight[items] * shares[items, codes]
    return Entries(scores[items, codes], codes, weights, models[items])


def weight_below(entries: Entries, scores: list[FloatArray], by_class: bool) -> FloatArray:
    """Weight (n, K) of the entries that are below each score of new items, by each classifier."""
    below = np.zeros(scores[0].shape)
    for number, own in enumerate(scores):
        mine = entries.models == number
        for k in range(own.shape[1]):
            chosen = mine & (entries.codes == k) if by_class else mine
            values, weights = entries.scores[chosen], entries.weights[chosen]
            order = np.argsort(values, kind="stable")
            total = np.append(0.0, np.cumsum(weights[order]))
            below[:, k] += total[np.searchsorted(values[order], own[:, k], side="left")]
    return below


def totals(entries: Entries, n_classes: int, by_class: bool) -> FloatArray:
    """Weight (K,) of the entries with which each class is compared."""
    if by_class:
        return np.bincount(entries.codes, entries.weights, n_classes).astype(np.float64)
    return np.full(n_classes, entries.weights.sum())


def needed_weight(total: FloatArray, coverage: float) -> FloatArray:
    """Weight (K,) of entries below a score, from which on it is unusual."""
    return (coverage - 1e-12) * (total + 1.0)


def too_few(total: FloatArray, coverage: float) -> BoolArray:
    """Classes (K,) that can never be left out, because there are too few items."""
    return np.asarray(total < needed_weight(total, coverage))
