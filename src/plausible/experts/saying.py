r"""What was said on a page that lets people doubt, and what it is worth.

Let b be the first pick, A all picks, K the number of classes and w the word. Of the answers with
this word and size, a share :math:`\pi` holds the truth, where luck alone gives |A| / K. So

.. math:: s = \max \Big( 0, \frac{\pi - |A| / K}{1 - |A| / K} \Big)

is the mass that the truth is among the picks, beyond luck. Where b leads (it is right with
probability r if the truth is in A), :math:`t = (r - 1 / |A|) / (1 - 1 / |A|)` of it is on b alone:

.. math:: m(\{b\}) = s t, \qquad m(A) = s (1 - t), \qquad m(\Omega) = 1 - s.

An answer is stored as its statement, with masses t and 1 - t, and the doubt 1 - s. "Cannot tell"
says nothing, "none of these" is the empty set. Where odds were given, the statement is the
consonant mass function whose plausibilities are the odds over the highest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from plausible.experts.annotations import Annotations
from plausible.experts.calibration import LARGEST, WordCalibration, calibrate_words, sizes

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SUPPORT = {"sure": 0.8, "rather": 0.6, "a guess": 0.3}  # before anything is known; see the guide
NO_WORD = 0.6  # support of answers without a word
LEAD = 0.6  # t, before anything is known
MOST_SUPPORT = 0.99
ENOUGH = 30  # answers about known items, from which words are calibrated
PRIOR = 4.0  # imagined answers for what the first pick is worth
SAID, CANNOT, NONE_OF_THEM, BROKEN = "said", "cannot", "none", "broken"
LATER, UNDONE = "later", "undone"
ANSWERS = (SAID, CANNOT, NONE_OF_THEM)  # kinds that are answers about the class


class Statement(NamedTuple):
    """What an answer says before it is doubted.

    picks : places of classes, the most likely first; () for none of these, all for cannot tell
    level : whether no pick leads
    odds : of the picks, or ()
    """

    picks: tuple[int, ...]
    level: bool = False
    odds: tuple[float, ...] = ()


def contour_of(said: Statement, n_classes: int, lead: float = LEAD) -> FloatArray:
    """Plausibilities (K,) of the classes by a statement, without its doubt.

    Examples
    --------
    >>> contour_of(Statement((2, 0)), 4)
    array([0.4, 0. , 1. , 0. ])
    >>> contour_of(Statement((1, 3), odds=(5, 1)), 4)
    array([0. , 1. , 0. , 0.2])
    """
    contour = np.zeros(n_classes)
    picks = list(said.picks)
    if said.odds:
        contour[picks] = np.asarray(said.odds) / max(said.odds)
    elif picks:
        contour[picks] = 1.0 if said.level or len(picks) == n_classes else 1.0 - lead
        contour[picks[0]] = 1.0
    return contour


def masses_of(said: Statement, n_classes: int, lead: float = LEAD) -> dict[tuple[int, ...], float]:
    """The consonant mass function of a statement, by sets of places.

    Examples
    --------
    >>> masses_of(Statement((2, 0)), 4)
    {(2,): 0.6, (0, 2): 0.4}
    >>> masses_of(Statement(()), 4)
    {(): 1.0}
    """
    if not said.picks:
        return {(): 1.0}
    contour = contour_of(said, n_classes, lead)
    levels = np.unique(contour[contour > 0])[::-1]
    below = np.append(levels[1:], 0.0)
    return {
        tuple(np.flatnonzero(contour >= high).tolist()): float(high - low)
        for high, low in zip(levels, below, strict=True)
    }


@dataclass(frozen=True)
class Worth:
    """What words are worth: supports before anything is known, and shares once they are.

    Attributes
    ----------
    words : tuple of str
        The surest first.
    support : array (W + 1,)
        For each word, and last for answers without one.
    calibration : WordCalibration or None
    lead : array (3,)
        t for two picks, and for three and more; the first entry, for one, is not used.
    n_known : int
        Answers about known items.
    """

    words: tuple[str, ...]
    support: FloatArray
    n_classes: int
    calibration: WordCalibration | None = None
    lead: FloatArray | None = None
    n_known: int = 0

    def lead_of(self, size: int) -> float:
        """How far the first of so many picks leads."""
        return LEAD if self.lead is None else float(self.lead[min(size, LARGEST) - 1])

    def doubts(self, word: IntArray, size: IntArray, person: Sequence[Any]) -> FloatArray:
        """Doubts (A,) of answers; words and sizes by number, -1 for no word."""
        support = self.support[word]
        found = self.calibration
        if found is not None and len(word):
            place = {name: row for row, name in enumerate(found.annotators.tolist())}
            rows = [place.get(who, -1) for who in person]
            offset = np.append(found.offset, 0.0)[rows]
            level = np.searchsorted(found.edges, 1 - support)
            share = expit(logit(found.right[level, sizes(size.astype(np.float64))]) + offset)
            luck = size / self.n_classes
            beyond = (share - luck) / np.maximum(1 - luck, np.finfo(float).eps)
            speaks = (size > 0) & (size < self.n_classes)
            support = np.where(speaks, beyond, support)
        return 1 - np.clip(support, 0.0, MOST_SUPPORT)

    def share(self, word: int, size: int = 1) -> float:
        """How often answers with a word hold the truth, among as many picks."""
        found, luck = self.calibration, size / self.n_classes
        if found is None:
            return float(self.support[word] * (1 - luck) + luck)
        level = int(np.searchsorted(found.edges, 1 - self.support[word]))
        return float(found.right[level, min(size, LARGEST) - 1])


def worth_before(words: Mapping[str, float], n_classes: int) -> Worth:
    """What words are worth before anything is known.

    Examples
    --------
    >>> worth = worth_before(SUPPORT, 4)
    >>> worth.doubts(np.array([0, 2, -1]), np.array([1, 2, 1]), ["ann"] * 3).round(2)
    array([0.2, 0.7, 0.4])
    """
    return Worth(tuple(words), np.array([*words.values(), NO_WORD]), n_classes)


def worth_learned(
    before: Worth,
    word: IntArray,
    statements: Sequence[Statement],
    person: Sequence[Any],
    truth: IntArray,
) -> Worth:
    """What words are worth, from answers (A,) about items whose class is known.

    The same as before where there are fewer than 30 such answers.
    """
    speaks = [0 < len(said.picks) < before.n_classes for said in statements]
    chosen = [row for row, speak in enumerate(speaks) if speak]
    rows = np.array(chosen, dtype=np.int64)
    if len(rows) < ENOUGH:
        return replace(before, n_known=len(rows))
    names = list(range(before.n_classes))
    asked = Annotations.from_long(
        rows,
        [person[row] for row in chosen],
        [frozenset(statements[row].picks) for row in chosen],
        doubt=1 - before.support[word[rows]],
        classes=names,
    )
    known = dict(zip(rows.tolist(), truth[rows].tolist(), strict=True))
    found = calibrate_words(asked, known, prior=PRIOR)
    return replace(
        before,
        calibration=found,
        lead=_leads([statements[row] for row in chosen], truth[rows]),
        n_known=len(rows),
    )


def _leads(statements: Sequence[Statement], truth: IntArray) -> FloatArray:
    """How far the first pick leads, for one, two, and three and more of them."""
    lead = np.full(LARGEST, LEAD)
    for column in range(1, LARGEST):
        held = [
            (len(said.picks), said.picks[0] == true)
            for said, true in zip(statements, truth.tolist(), strict=True)
            if not (said.level or said.odds)
            and min(len(said.picks), LARGEST) == column + 1
            and true in said.picks
        ]
        if not held:
            continue
        luck = float(np.mean([1 / size for size, _ in held]))
        before = luck + LEAD * (1 - luck)
        right = (sum(hit for _, hit in held) + PRIOR * before) / (len(held) + PRIOR)
        lead[column] = np.clip((right - luck) / (1 - luck), 0.0, MOST_SUPPORT)
    return lead
