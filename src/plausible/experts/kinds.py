r"""Kinds of answers: what is said by whom (a pair), with which doubt and power.

With the likelihood :math:`P_v` of a pair, that of a kind with doubt d is :math:`d + (1 - d) P_v`.
Answers of one kind share their likelihoods; where doubts are all different every answer is of a
kind of its own, and `compiled_doubts` goes through answers instead.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.experts.annotations import Annotations
from plausible.experts.answer_sums import is_much_work

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

BLOCK = 1 << 16  # probabilities of kinds at a time


class Doubted(NamedTuple):
    """Kinds (U,) of answers that differ by doubt: what they say (one of V pairs), and the doubt.

    Kinds are ordered by pair.
    """

    pair: IntArray
    doubt: FloatArray


def different(key: IntArray) -> tuple[IntArray, IntArray]:
    """Different numbers from 0, sorted, and the place of each: without sorting if they are few."""
    if not len(key) or key.max() > 10 * len(key):
        numbers, place = np.unique(key, return_inverse=True)
        return numbers, place.ravel()
    there = np.bincount(key) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[key]


def doubted_answers(answers: Annotations, pair: IntArray, n_pairs: int) -> Any:
    """Answers with doubts as compiled passes take them; None if these do not pay."""
    if answers.doubt is None or not is_much_work(len(pair), answers.n_classes):
        return None
    from plausible.experts.compiled_doubts import DoubtedAnswers

    return DoubtedAnswers(
        answers.item, pair, answers.doubt, answers._power, len(answers.items), n_pairs
    )


def by_doubt(
    pair: IntArray, doubt: FloatArray | None, power: FloatArray | None
) -> tuple[Doubted | None, FloatArray | None, IntArray]:
    """Kinds of answers by pair, doubt and power, the power of each, and the kind (A,) of answers.

    Without doubts and powers, pairs are kinds.
    """
    if power is None and (doubt is None or not doubt.any()):
        return None, None, pair
    doubt = np.zeros(len(pair)) if doubt is None else doubt
    levels, level = np.unique(doubt, return_inverse=True)
    key = pair * len(levels) + level.ravel()
    if power is None:
        kinds, kind = different(key)
        return Doubted(kinds // len(levels), levels[kinds % len(levels)]), None, kind
    powers, place = np.unique(power, return_inverse=True)
    kinds, kind = different(key * len(powers) + place.ravel())
    rest, of_kind = np.divmod(kinds, len(powers))
    return Doubted(rest // len(levels), levels[rest % len(levels)]), powers[of_kind], kind


def divide_by_doubt(
    kinds: Doubted, held: FloatArray, whole: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Probabilities (V, K) of those who meant what they said, and of those who meant anything.

    The latter are for each unit of probability. `held` (U, K) are the probabilities of kinds, and
    `whole` (V, K) the likelihoods of pairs.
    """
    meant, anything = np.zeros_like(whole), np.zeros_like(whole)
    step = max(BLOCK // whole.shape[1], 1)
    for start in range(0, len(held), step):  # some at a time, which the cache holds
        rows = slice(start, start + step)
        pair, doubt = kinds.pair[rows], kinds.doubt[rows, None]
        chance = whole[pair]
        chance *= 1 - doubt
        share = held[rows] / (chance + doubt)
        first = np.flatnonzero(np.diff(pair, prepend=-1))
        chance *= share
        share *= doubt
        meant[pair[first]] += np.add.reduceat(chance, first, axis=0)
        anything[pair[first]] += np.add.reduceat(share, first, axis=0)
    return meant, anything
