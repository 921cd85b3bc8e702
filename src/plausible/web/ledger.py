"""Who said what, in memory: which answers stand, what was taken back, put off, and how fast.

An answer is a row of numbers. The rows of an item are linked from the last to the first, and the
one that stands for a person and an item is known by both.
"""

import math
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.experts import Statement
from plausible.io import Row, places_of, statement_of
from plausible.web.columns import Answer, Columns, Rows
from plausible.web.study import Item, Study

SAID, CANNOT, NONE_OF_THEM, BROKEN, LATER, UNDONE = range(6)
KINDS = {"said": SAID, "cannot": CANNOT, "none": NONE_OF_THEM, "broken": BROKEN, "later": LATER,
         "undone": UNDONE}  # fmt: skip
REASONS = ("value", "gold", "repeat", "random", "chosen", "import")
SECONDS = 0.5, 600.0  # of an answer that are believed


class Ledger:
    """All answers of a study, in their order."""

    def __init__(self, study: Study, items: Sequence[Item], people: Mapping[int, str]) -> None:
        self.study, self.items = study, list(items)
        self.people = dict(people)
        self.lock = threading.RLock()
        self.place = {one.id: row for row, one in enumerate(self.items)}
        self.classes = places_of(study.classes, study.options["rename"])
        self.words = list(study.words)
        n_items = len(self.items)
        self.statements: list[Statement] = []
        self.number_of: dict[Statement, int] = {}
        self.read: dict[tuple[Any, ...], tuple[int, int]] = {}  # the same by what is stored
        self.answers = Columns(
            id=np.int64, item=np.int32, person=np.int32, kind=np.int8, statement=np.int32,
            word=np.int8, size=np.int16, seconds=np.float32, saw=np.bool_, reason=np.int8,
            at=np.float64, previous=np.int32, link=np.int32, undone=np.bool_,
        )  # fmt: skip
        self.row_of = Rows()  # of ids
        self.top: dict[int, int] = {}  # the row that stands for a person and an item
        self.head = np.full(n_items, -1, dtype=np.int32)  # the last answer of an item
        self.done: dict[int, NDArray[np.bool_]] = {}
        self.n_done: dict[int, int] = {}
        self.later: dict[int, dict[int, None]] = {}
        self.pace: dict[int, tuple[float, int]] = {}  # sums of log seconds of people
        self.slow = np.zeros((2, n_items))  # of items: sum of log seconds beyond the person's, n
        self.seen: dict[int, NDArray[np.bool_]] = {}  # others' answers, before one's own
        self.upto = 0

    def append(self, answer: Answer) -> int:
        """Keep an answer; the place of its item."""
        row, item = answer.row, self.place[answer.row.item]
        kind = KINDS[row.kind]
        self.upto = max(self.upto, row.id)
        if kind == UNDONE:
            self._undo(row.replaces)
            self.row_of[row.id] = -1
            return item
        pair = item << 20 | row.person
        statement, size = self._said(row, kind)
        seconds = min(max(answer.seconds or 0.0, 0.0), SECONDS[1])
        number = self.answers.append(
            id=row.id, item=item, person=row.person, kind=kind, statement=statement,
            word=self.words.index(row.word) if row.word in self.words else -1,
            size=size, seconds=seconds, saw=answer.saw,
            reason=REASONS.index(answer.reason) if answer.reason in REASONS else -1,
            at=answer.at, previous=self.top.get(pair, -1), link=self.head[item], undone=False,
        )  # fmt: skip
        self.row_of[row.id] = number
        self.head[item] = number
        if kind == LATER:
            self.later.setdefault(row.person, {})[item] = None
            return item
        self.top[pair] = number
        self.later.get(row.person, {}).pop(item, None)
        if not self.done_by(row.person)[item]:
            self.done_by(row.person)[item] = True
            self.n_done[row.person] = self.n_done.get(row.person, 0) + 1
        if SECONDS[0] <= seconds < SECONDS[1]:
            self._time(item, row.person, math.log(seconds))
        return item

    def _undo(self, replaces: int | None) -> None:
        """Take back an answer, or a "later"."""
        number = self.row_of.get(replaces)
        if number < 0:
            return
        one = self.answers
        one["undone"][number] = True
        item, person = int(one["item"][number]), int(one["person"][number])
        if one["kind"][number] == LATER:
            self.later.get(person, {}).pop(item, None)
            return
        pair = item << 20 | person
        if self.top.get(pair) != number:
            return
        before = number
        while before >= 0 and one["undone"][before]:
            before = int(one["previous"][before])
        if before >= 0:
            self.top[pair] = before
        else:
            del self.top[pair]
            self.done_by(person)[item] = False
            self.n_done[person] -= 1

    def _said(self, row: Row, kind: int) -> tuple[int, int]:
        """The number of what an answer states, a new one if need be, and how many it picks."""
        words = (row.kind, row.picks, row.level, row.numbers)
        found = self.read.get(words)
        if found is None:
            said = statement_of(row, self.classes) if kind <= NONE_OF_THEM else Statement(())
            number = self.number_of.setdefault(said, len(self.statements))
            if number == len(self.statements):
                self.statements.append(said)
            found = self.read[words] = number, len(said.picks)
        return found

    def _time(self, item: int, person: int, log_seconds: float) -> None:
        total, n_known = self.pace.get(person, (0.0, 0))
        if n_known:
            self.slow[0, item] += log_seconds - total / n_known
            self.slow[1, item] += 1
        self.pace[person] = total + log_seconds, n_known + 1

    def done_by(self, person: int) -> NDArray[np.bool_]:
        """Which items (n,) a person has answered about."""
        found = self.done.get(person)
        if found is None:
            found = self.done[person] = np.zeros(len(self.items), dtype=bool)
        return found

    def seen_by(self, person: int) -> NDArray[np.bool_]:
        """Items (n,) of which a person has read what others said."""
        found = self.seen.get(person)
        if found is None:
            found = self.seen[person] = np.zeros(len(self.items), dtype=bool)
        return found

    def standing(self, item: int) -> list[int]:
        """The rows that stand about an item, in their order."""
        found, number = [], int(self.head[item])
        people, link = self.answers["person"], self.answers["link"]
        while number >= 0:
            if self.top.get(item << 20 | int(people[number])) == number:
                found.append(number)
            number = int(link[number])
        return found[::-1]
