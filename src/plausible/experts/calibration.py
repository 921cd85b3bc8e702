r"""What words of certainty are worth: from what people said they doubted to masses.

"Sure" is right nine times in ten for one crowd and seven times in ten for another, and numbers at
face value may be worse than none. Items whose class is known show what share :math:`\pi` of the
answers with some stated doubt and some number :math:`|A|` of classes hold the truth. As luck alone
gives :math:`|A| / K`, the mass that the truth is in A is

.. math:: m(A) = \max \Big( 0, \frac{\pi - |A| / K}{1 - |A| / K} \Big), \qquad m(\Omega) = 1 - m(A),

a doubt of 1 - m(A). Shares are shrunk: those of a word and size towards the word's, and these
towards that of all answers, as if `prior` answers had been seen. They do not fall where people are
surer. A person's own share differs from it by an offset of the log odds, with prior N(0, 1).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.isotonic import isotonic_regression

from plausible.checks import check_flag, check_kind, check_number
from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.intervals import gold_items
from plausible.experts.known_classes import gold_logs
from plausible.experts.reliability import LEAST_DOUBT
from plausible.labels import Labels

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOST_LEVELS = 12  # different doubts that are kept apart
BINS = 7  # into which more of them are put
LARGEST = 3  # sets of this size and larger are one
STEPS = 30  # of Newton's method


@dataclass(frozen=True)
class WordCalibration:
    """What stated doubts were worth on items whose class is known; see `calibrate_words`.

    Attributes
    ----------
    levels : array (L,)
        Stated doubts, the surest first (the means of bins, where there are many different ones).
    edges : array (L - 1,)
        Doubts between them.
    n_answers, right, standard_error : arrays (L, 3)
        For answers that name one class, two, and more: how many were seen, the share that hold the
        truth (shrunk and monotone), and its standard error.
    annotators : array (R,)
    offset : array (R,)
        How much surer than others a person may be, in log odds of being right; 0 for everybody
        where persons were not told apart.
    n_classes : int

    Examples
    --------
    >>> answers = Annotations.from_long(
    ...     list(range(8)), ["ann"] * 8, ["a", "b"] * 4, doubt=[0.1, 0.5] * 4
    ... )
    >>> gold = dict(zip(range(8), "abababaa"))
    >>> print(calibrate_words(answers, gold))
    stated doubt    one class   two classes   more
    0.10            0.96 (4)    -             -
    0.50            0.77 (4)    -             -
    """

    levels: FloatArray
    edges: FloatArray
    n_answers: FloatArray
    right: FloatArray
    standard_error: FloatArray
    annotators: NDArray[Any]
    offset: FloatArray
    n_classes: int

    def apply(self, annotations: Annotations) -> Annotations:
        """The same answers, with the doubts that their stated ones are worth.

        Answers that say nothing, or "none of these", stay as they are, and people who gave no
        answer about the known items count as everybody.

        Examples
        --------
        >>> answers = Annotations.from_long(
        ...     list(range(8)), ["ann"] * 8, ["a", "b"] * 4, doubt=[0.1, 0.5] * 4
        ... )
        >>> found = calibrate_words(answers, dict(zip(range(8), "abababaa")), by_person=False)
        >>> found.apply(answers).doubt[:2].round(2)
        array([0.08, 0.46])
        """
        check_kind(annotations, Annotations, "annotations", "make them with Annotations.from_long")
        if annotations.n_classes != self.n_classes:
            raise InputError(
                f"Answers should be about as many classes as those that were calibrated, "
                f"{self.n_classes}",
                f"there are {annotations.n_classes}",
                "name all classes in classes= of both",
            )
        size = annotations.facts.n_possible[annotations.statement].astype(np.float64)
        level, column = np.searchsorted(self.edges, stated(annotations)), sizes(size)
        place = {name: number for number, name in enumerate(self.annotators.tolist())}
        rows = [place.get(name, -1) for name in annotations.annotators.tolist()]
        offset = np.append(self.offset, 0.0)[rows][annotations.annotator]
        share = expit(logit(self.right[level, column]) + offset)
        luck = size / self.n_classes
        support = (share - luck) / np.maximum(1 - luck, np.finfo(float).eps)
        doubt = np.clip(1 - support, LEAST_DOUBT, 1.0)
        speaks = (size > 0) & (size < self.n_classes)
        return annotations._with(doubt=np.where(speaks, doubt, stated(annotations)))

    def __str__(self) -> str:
        lines = ["stated doubt    one class   two classes   more"]
        for level, shares, counts in zip(self.levels, self.right, self.n_answers, strict=True):
            cells = [
                f"{share:.2f} ({count:.0f})" if count else "-"
                for share, count in zip(shares, counts, strict=True)
            ]
            line = f"{level:<16.2f}{cells[0]:<12}{cells[1]:<14}{cells[2]}"
            lines.append(line)
        return "\n".join(lines)


def calibrate_words(
    annotations: Annotations,
    gold: Labels | Mapping[Any, Any],
    *,
    prior: float = 4.0,
    by_person: bool = True,
) -> WordCalibration:
    """Learn from items whose class is known what stated doubts are worth.

    Parameters
    ----------
    annotations : Annotations
        Words of certainty are doubts here: `read_annotations(words={"sure": 0.1, ...})`. Their
        order counts, and which are the same, but not their values.
    gold : dict of items, or Labels of all items
        Classes that are known. 30 items are a start.
    prior : float
        Imagined answers towards which shares are shrunk.
    by_person : bool
        Learn what the words of each person are worth.

    Returns
    -------
    WordCalibration
        `apply` it to the answers, and pool them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(4, size=3000)
    >>> doubt = rng.choice([0.1, 0.6], size=3000)  # at face value, right in 0.9 or 0.4
    >>> right = rng.uniform(size=3000) < np.where(doubt < 0.3, 0.7, 0.55)
    >>> said = np.where(right, truth, (truth + rng.integers(1, 4, size=3000)) % 4)
    >>> answers = Annotations.from_long(np.arange(3000), ["ann"] * 3000, said, doubt=doubt)
    >>> found = calibrate_words(answers, dict(enumerate(truth)))
    >>> found.right[:, 0].round(2)
    array([0.72, 0.53])
    """
    check_kind(annotations, Annotations, "annotations", "make them with Annotations.from_long")
    check_number(prior, "prior", 0.0)
    check_flag(by_person, "by_person")
    size, doubt, hit, who = _seen(annotations, gold)
    levels, edges = _find_levels(stated(annotations))
    level, column = np.searchsorted(edges, doubt), sizes(size)
    cell = level * LARGEST + column
    shape = len(levels), LARGEST
    count = np.bincount(cell, minlength=np.prod(shape)).reshape(shape).astype(np.float64)
    hits = np.bincount(cell, hit, minlength=np.prod(shape)).reshape(shape)
    base = (hits.sum() + 0.5) / (count.sum() + 1.0)
    of_level = (hits.sum(axis=1) + prior * base) / np.maximum(count.sum(axis=1) + prior, 1e-9)
    share = (hits + prior * of_level[:, None]) / np.maximum(count + prior, 1e-9)
    weight = count + max(prior, 1e-9)
    right = np.column_stack(
        [
            isotonic_regression(share[:, k], sample_weight=weight[:, k], increasing=False)
            for k in range(LARGEST)
        ]
    )
    right = np.clip(right, 1e-4, 1 - 1e-4)
    offset = np.zeros(len(annotations.annotators))
    if by_person:
        offset = _offsets(logit(right[level, column]), hit, who, len(offset))
    return WordCalibration(
        levels,
        edges,
        count,
        right,
        np.sqrt(right * (1 - right) / weight),
        annotations.annotators,
        offset,
        annotations.n_classes,
    )


def _seen(
    annotations: Annotations, gold: Any
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Size, stated doubt, whether the truth is held, and who, of answers about known items."""
    known = gold_logs(annotations, gold)
    is_known = gold_items(known, len(annotations.items))
    facts = annotations.facts
    speaks = (facts.n_possible > 0) & (facts.n_possible < annotations.n_classes)
    rows = np.flatnonzero(is_known[annotations.item] & speaks[annotations.statement])
    if known is None or not len(rows):
        raise InputError(
            "gold should name the class of items with answers",
            "it does so of none",
            "check the names of the items, and give 30 of them or more",
            parameter="gold",
        )
    truth = known.argmax(axis=1)[annotations.item[rows]]
    statement = annotations.statement[rows]
    hit = np.asarray(facts.rows[statement, truth]).ravel() / facts.largest[statement]
    return (
        facts.n_possible[statement].astype(np.float64),
        stated(annotations)[rows],
        hit,
        annotations.annotator[rows].astype(np.int64),
    )


def stated(annotations: Annotations) -> FloatArray:
    """The doubts (A,) that came with answers; 0 where there are none."""
    return np.zeros(len(annotations)) if annotations.doubt is None else annotations.doubt


def sizes(n_possible: FloatArray) -> IntArray:
    """Columns for one class, two, and more."""
    return np.clip(n_possible.astype(np.int64), 1, LARGEST) - 1


def _find_levels(doubt: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Levels of doubt, and the edges between them."""
    values = np.unique(doubt)
    if len(values) > MOST_LEVELS:
        edges = np.unique(np.quantile(doubt, np.arange(1, BINS) / BINS))
        place = np.searchsorted(edges, doubt)
        used = np.unique(place)
        return np.array([doubt[place == number].mean() for number in used]), edges[used[:-1]]
    return values, (values[1:] + values[:-1]) / 2


def _offsets(logits: FloatArray, hit: FloatArray, who: IntArray, n_people: int) -> FloatArray:
    """Offsets (R,) of log odds, with prior N(0, 1), by Newton's method."""
    offset = np.zeros(n_people)
    for _ in range(STEPS):
        share = expit(logits + offset[who])
        slope = np.bincount(who, hit - share, minlength=n_people) - offset
        curve = np.bincount(who, share * (1 - share), minlength=n_people) + 1.0
        step = np.clip(slope / curve, -1.0, 1.0)
        offset += step
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
    return offset
