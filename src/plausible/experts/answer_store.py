"""Answers that arrive one after the other, kept so that those about some items are found quickly.

The answers of the beginning are ordered by item; late ones stay in the order in which they came,
until they are so many that all are ordered anew.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.belief import SparseMasses
from plausible.experts.annotations import Annotations
from plausible.experts.selection import joined_parts, on_classes
from plausible.experts.statements import distinct, expand

IntArray = NDArray[np.int64]

FEW = 0.1  # share of late answers from which all are ordered anew
MOST_PARTS = 16  # of late answers, before they are joined


class Part(NamedTuple):
    """Some answers, and their numbers in the order in which they came."""

    answers: Annotations
    number: IntArray


class AnswerStore:
    """Answers on the same classes, to which more can be added.

    Attributes
    ----------
    items, annotators, classes : arrays of names
    """

    def __init__(self, answers: Annotations) -> None:
        self.items, self.annotators = answers.items, answers.annotators
        self.classes = answers.classes
        self._places = {
            what: {name: k for k, name in enumerate(getattr(answers, what).tolist())}
            for what in ("items", "annotators")
        }
        self._order(Part(answers, np.arange(len(answers))))

    def _order(self, part: Part) -> None:
        """Keep answers ordered by item."""
        order = np.argsort(part.answers.item, kind="stable")
        self._parts = [Part(part.answers.select(order), part.number[order])]
        counts = np.bincount(part.answers.item, minlength=len(self.items))
        self._first = np.concatenate([[0], np.cumsum(counts)])

    def __len__(self) -> int:
        return sum(len(part.number) for part in self._parts)

    @property
    def answers(self) -> Annotations:
        """All answers so far, ordered by item."""
        if len(self._parts) > 1:
            self._order(self._joined(self._parts))
        return self._named(self._parts[0].answers)

    @property
    def number(self) -> IntArray:
        """Numbers of all answers, in the order of `answers`."""
        _ = self.answers
        return self._parts[0].number

    def _joined(self, parts: list[Part]) -> Part:
        together = joined_parts([self._named(part.answers) for part in parts])
        return Part(stated_once(together), np.concatenate([part.number for part in parts]))

    def _named(self, part: Annotations) -> Annotations:
        return part._with(items=self.items, annotators=self.annotators)

    def add(self, answers: Annotations) -> IntArray:
        """Take answers on known classes; gives the items that they are about."""
        part = on_classes(answers, self.classes)
        part = part._with(
            item=self._codes("items", answers.items)[answers.item],
            annotator=self._codes("annotators", answers.annotators)[answers.annotator],
        )
        self._parts.append(Part(part, len(self) + np.arange(len(part))))
        if len(self) > (1 + FEW) * len(self._parts[0].number):
            _ = self.answers
        elif len(self._parts) > MOST_PARTS:
            self._parts[1:] = [self._joined(self._parts[1:])]
        return np.unique(part.item)

    def _codes(self, what: str, names: NDArray[Any]) -> IntArray:
        """Places of names among those known; new ones are added."""
        places, listed = self._places[what], names.tolist()
        new = [name for name in listed if name not in places]
        for name in new:
            places[name] = len(places)
        if new:
            setattr(self, what, np.concatenate([getattr(self, what), np.array(new)]))
        return np.array([places[name] for name in listed], dtype=np.int64)

    def place_of(self, item: Any) -> int | None:
        """Number of an item, None if it is not known."""
        try:
            return self._places["items"].get(item)
        except TypeError:  # which cannot be looked up
            return None

    def about(self, items: IntArray) -> tuple[Annotations, IntArray]:
        """What was said about some different items, in their order, and the answers' numbers."""
        place = np.full(len(self.items), -1, dtype=np.int64)
        place[items] = np.arange(len(items))
        rows = [expand(items[items < len(self._first) - 1], self._first)[1]]
        rows += [np.flatnonzero(place[part.answers.item] >= 0) for part in self._parts[1:]]
        found = [
            Part(self._named(part.answers.select(some)), part.number[some])
            for part, some in zip(self._parts, rows, strict=True)
            if len(some)
        ]
        found = found or [Part(self._named(self._parts[0].answers.select([])), np.zeros(0, int))]
        together = found[0] if len(found) == 1 else self._joined(found)
        answers = _stated_here(together.answers)
        return answers._with(items=self.items[items], item=place[answers.item]), together.number


def stated_once(answers: Annotations) -> Annotations:
    """The same answers, with equal statements stored once; where masses were given, as they are."""
    if answers.given_masses is not None:
        return answers
    keys = answers.facts.rows
    rows, place = distinct(keys)
    if rows.shape[0] == keys.shape[0]:
        return answers
    first = np.unique(place, return_index=True)[1]
    if not np.array_equal(answers.is_bayesian, answers.is_bayesian[first][place]):
        return answers  # probabilities and plausibilities that look alike
    return _restated(answers, rows, place[answers.statement], answers.is_bayesian[first], None)


def _stated_here(answers: Annotations) -> Annotations:
    """The same answers, without the statements that nobody of them makes."""
    rows = answers.facts.rows
    if rows.shape[0] <= len(answers):
        return answers
    used, place = np.unique(answers.statement, return_inverse=True)
    masses = answers.given_masses
    if masses is not None:
        masses = SparseMasses(masses.values[used], masses.focal_sets, answers.n_classes)
    return _restated(answers, rows[used], place.ravel(), answers.is_bayesian[used], masses)


def _restated(
    answers: Annotations, rows: Any, statement: IntArray, is_bayesian: Any, masses: Any
) -> Annotations:
    other = answers._with(
        rows=rows, statement=statement, is_bayesian=is_bayesian, given_masses=masses
    )
    other.__dict__.pop("facts", None)
    return other
