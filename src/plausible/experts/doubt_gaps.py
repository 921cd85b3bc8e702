"""Doubts that are missing: the mean of those that the same person gave, or else that all gave.

An answer of unknown doubt is worth what such answers are worth on average: contours are linear in
the doubt. Sums of doubts can be added, so that the means are those of all answers, also of answers
that come in parts.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.errors import Note

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ALL_NOTHING = "every answer has the doubt 1: none of them says anything"


class Gaps(NamedTuple):
    """What stands for doubts that are missing: means of people, and of everyone for the others."""

    people: dict[Any, float]
    everyone: float

    def filled(self, doubts: FloatArray, annotator: IntArray, names: Sequence[Any]) -> FloatArray:
        """Doubts of answers, by numbers of annotators and their names, without gaps."""
        gone = np.isnan(doubts)
        if not gone.any():
            return doubts
        means = np.array([self.people.get(_bare(name), self.everyone) for name in names])
        return np.where(gone, means[annotator], doubts)


class DoubtSums:
    """Sums over answers, of which the means are made."""

    def __init__(self) -> None:
        self.people: dict[Any, FloatArray] = {}  # sum and number of doubts of each
        self.every = np.zeros(2)  # of all answers, whether they say something or not
        self.n_rows = self.n_gone = self.n_told = self.n_nothing = 0

    def add(
        self,
        doubts: FloatArray,
        annotator: IntArray,
        names: Sequence[Any],
        says_something: NDArray[np.bool_],
    ) -> "DoubtSums":
        """Take further answers, by numbers of annotators and their names."""
        gone = np.isnan(doubts)
        known = ~gone & says_something
        total = np.bincount(annotator[known], doubts[known], len(names))
        count = np.bincount(annotator[known], minlength=len(names))
        for name, pair in zip(names, np.column_stack([total, count]), strict=True):
            self._add_person(_bare(name), pair)
        self.every += np.array([np.nansum(doubts), np.sum(~gone)])
        self.n_rows += len(doubts)
        self.n_gone += int(gone.sum())
        self.n_told += int((gone & says_something).sum())
        self.n_nothing += int((doubts == 1).sum())
        return self

    def join(self, other: "DoubtSums") -> "DoubtSums":
        """Take the sums of other answers."""
        for name, pair in other.people.items():
            self._add_person(name, pair)
        self.every += other.every
        for name in ("n_rows", "n_gone", "n_told", "n_nothing"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    def _add_person(self, name: Any, pair: FloatArray) -> None:
        self.people[name] = self.people.get(name, np.zeros(2)) + pair

    def learned(self) -> tuple[Gaps | None, list[Note]]:
        """What fills gaps, None where no answer has a doubt of its own; and what to tell."""
        if self.n_rows > 1 and self.n_nothing == self.n_rows:
            return Gaps({}, np.nan), [Note(ALL_NOTHING)]
        if not self.n_gone:
            return Gaps({}, np.nan), []
        if self.n_gone == self.n_rows:
            return None, [Note("no answer has a doubt of its own: the column is empty")]
        some = sum(self.people.values(), np.zeros(2))
        total, count = (some if some[1] else self.every).tolist()
        people = {name: float(one[0] / one[1]) for name, one in self.people.items() if one[1]}
        gaps = Gaps(people, total / count)
        if not self.n_told:
            return gaps, []
        told = f"{self.n_told} {'answer has' if self.n_told == 1 else 'answers have'}"
        return gaps, [
            Note(
                f"{told} no doubt of their own: that of the same person's other answers was taken "
                f"on average, or else {gaps.everyone:.2g}"
            )
        ]


def _bare(name: Any) -> Any:
    """A name without blanks around it."""
    return name.strip() if isinstance(name, str) else name
