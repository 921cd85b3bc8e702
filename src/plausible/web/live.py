r"""What is known of the items while people answer: contours in memory, changed answer by answer.

The log of the pooled contour of an item is the sum of those of its answers,

.. math:: \log pl_i(k) = \sum_a \log ( \delta_a + (1 - \delta_a) c_a(k) ),

with the statement c and the doubt of each answer that stands, which is what `Annotations.pool`
gives. One answer changes one item; a change of what words are worth changes all.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.experts import (
    Annotations,
    Dependence,
    Statement,
    contour_of,
    information,
    learn_shared,
    worth_before,
    worth_learned,
    worth_of_next,
)
from plausible.io import Settled, places_of, settled_names, statement_of
from plausible.web.columns import Answer, Columns
from plausible.web.study import Item, Study

FloatArray = NDArray[np.float64]

SAID, CANNOT, NONE_OF_THEM, BROKEN, LATER, UNDONE = range(6)
KINDS = {"said": SAID, "cannot": CANNOT, "none": NONE_OF_THEM, "broken": BROKEN, "later": LATER,
         "undone": UNDONE}  # fmt: skip
REASONS = ("value", "gold", "repeat", "random", "chosen", "import")
SETTLED_DOUBT = 0.01
USUAL_ACCURACY = 0.75  # of somebody about whom nothing is known
PRIOR = 4.0  # imagined answers of a person, and of an item's time
STEP = 0.05  # between accuracies that are told apart
ENOUGH_GOLD = 30  # items, from which shared errors are learned
SECONDS = 0.5, 600.0  # of an answer that are believed


class Live:
    """All answers in memory, and what they say of each item."""

    def __init__(self, study: Study, items: Sequence[Item], people: Mapping[int, str]) -> None:
        self.study, self.items = study, list(items)
        self.people = dict(people)
        self.lock = threading.RLock()
        self.place = {one.id: row for row, one in enumerate(self.items)}
        self.classes = places_of(study.classes, study.options["rename"])
        n_items = len(self.items)
        self.statements: list[Statement] = []
        self.number_of: dict[Statement, int] = {}
        self.words = list(study.words)
        self.worth = worth_before(study.words, study.n_classes)
        self.dependence = Dependence(0.0, source="given")
        self.answers = Columns(
            id=np.int64, item=np.int32, person=np.int32, kind=np.int8, statement=np.int32,
            word=np.int8, size=np.int16, seconds=np.float32, saw=np.bool_, reason=np.int8,
            at=np.float64, previous=np.int32, link=np.int32, undone=np.bool_,
        )  # fmt: skip
        self.row_of: dict[int, int] = {}  # of ids
        self.top: dict[int, int] = {}  # the row that stands for a person and an item
        self.head = np.full(n_items, -1, dtype=np.int32)  # the last answer of an item
        self.logs = np.zeros((n_items, study.n_classes))
        self.count = np.zeros(n_items, dtype=np.int32)  # answers that stand
        self.speaking = np.zeros(n_items)
        self.broken = np.zeros(n_items, dtype=bool)
        self.settled: dict[int, Settled] = {}
        self.extra = np.zeros(n_items, dtype=np.int32)  # answers that were asked for on top
        self.ended = np.zeros(n_items, dtype=bool)
        place = {name: k for k, name in enumerate(study.classes)}
        self.gold = np.array([place.get(one.gold or "", -1) for one in self.items], dtype=np.int64)
        self.gold_rows = np.flatnonzero(self.gold >= 0)
        self.practice = np.array([one.practice for one in self.items], dtype=bool)
        self.done: dict[int, NDArray[np.bool_]] = {}
        self.n_done: dict[int, int] = {}
        self.later: dict[int, dict[int, None]] = {}
        self.pace: dict[int, tuple[float, int]] = {}  # sums of log seconds of people
        self.slow = np.zeros((2, n_items))  # of items: sum of log seconds beyond the person's, n
        self.gains: dict[float, FloatArray] = {}
        self.seen: dict[int, NDArray[np.bool_]] = {}  # others' answers, before one's own
        self.conflict = np.zeros(n_items)
        self.dirty: set[int] = set()  # items whose conflict has to be reckoned anew
        self.upto = 0
        self.model_logs: FloatArray | None = None  # what a model says, where it may be heard
        self.saw_logs = np.zeros((n_items, study.n_classes))  # less, for answers that saw it
        self.pull = 0.0

    # -- What comes in -----------------------------------------------------------------------------

    def load(self, answers: Iterable[Answer], settled: Iterable[Settled]) -> None:
        """Take all that is in the database."""
        with self.lock:
            for answer in answers:
                self._append(answer)
            for one in settled:
                self._settle(one)
            self.refresh()

    def add(self, answer: Answer) -> None:
        """Take one more answer."""
        with self.lock:
            if answer.row.id in self.row_of:
                return
            self.update(self._append(answer))

    def settle(self, one: Settled) -> None:
        """Take a settlement."""
        with self.lock:
            self._settle(one)
            self.update(self.place[one.item])

    def _settle(self, one: Settled) -> None:
        row = self.place[one.item]
        self.settled.pop(row, None)
        if one.label == "again":
            self.extra[row] = max(self.extra[row], self.count[row]) + 1
        else:
            self.settled[row] = one

    def _append(self, answer: Answer) -> int:
        """Keep an answer; the place of its item."""
        row, item = answer.row, self.place[answer.row.item]
        kind = KINDS[row.kind]
        self.upto = max(self.upto, row.id)
        if kind == UNDONE:
            self._undo(row.replaces)
            self.row_of[row.id] = -1
            return item
        pair = item << 20 | row.person
        said = statement_of(row, self.classes) if kind <= NONE_OF_THEM else Statement(())
        seconds = np.clip(answer.seconds or 0.0, 0.0, SECONDS[1])
        number = self.answers.append(
            id=row.id, item=item, person=row.person, kind=kind, statement=self._number(said),
            word=self.words.index(row.word) if row.word in self.words else -1,
            size=len(said.picks), seconds=seconds, saw=answer.saw,
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
            self._time(item, row.person, float(np.log(seconds)))
        return item

    def _undo(self, replaces: int | None) -> None:
        """Take back an answer, or a "later"."""
        number = self.row_of.get(replaces or 0, -1)
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

    def _number(self, said: Statement) -> int:
        """The number of a statement, a new one if need be."""
        found = self.number_of.get(said)
        if found is None:
            found = self.number_of[said] = len(self.statements)
            self.statements.append(said)
        return found

    def _time(self, item: int, person: int, log_seconds: float) -> None:
        total, n_known = self.pace.get(person, (0.0, 0))
        if n_known:
            self.slow[:, item] += log_seconds - total / n_known, 1
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

    # -- What follows from it ----------------------------------------------------------------------

    def standing(self, item: int) -> list[int]:
        """The rows that stand about an item, in their order."""
        found, number = [], int(self.head[item])
        people, link = self.answers["person"], self.answers["link"]
        while number >= 0:
            if self.top.get(item << 20 | int(people[number])) == number:
                found.append(number)
            number = int(link[number])
        return found[::-1]

    def update(self, item: int) -> None:
        """Reckon one item anew."""
        self.dirty.add(item)
        rows = np.array(self.standing(item), dtype=np.int64)
        kinds = self.answers["kind"][rows]
        self.broken[item] = bool((kinds == BROKEN).any())
        rows = rows[kinds <= NONE_OF_THEM]
        self.count[item] = len(rows)
        self.logs[item] = 0.0
        self.speaking[item] = 0
        if len(rows):
            logs = self._said_logs(rows)
            self.logs[item] = logs.sum(axis=0)
            self.saw_logs[item] = self._seen_logs(rows, logs).sum(axis=0)
            self.speaking[item] = (logs < 0).any(axis=1).sum()
        if item in self.settled:
            self.logs[item] += self._settled_logs(item)
        self._close(np.array([item]))

    def refresh(self) -> None:
        """Reckon all items anew, with what the words are worth by now."""
        with self.lock:
            self._learn()
            rows = np.fromiter(self.top.values(), np.int64, len(self.top))
            kinds = self.answers["kind"][rows]
            self.broken[:] = False
            self.broken[self.answers["item"][rows[kinds == BROKEN]]] = True
            rows = np.sort(rows[kinds <= NONE_OF_THEM])
            item = self.answers["item"][rows]
            n_items = len(self.items)
            self.count = np.bincount(item, minlength=n_items).astype(np.int32)
            logs = self._said_logs(rows)
            for k in range(self.study.n_classes):
                self.logs[:, k] = np.bincount(item, logs[:, k], minlength=n_items)
            self.saw_logs[:] = 0.0
            if self.model_logs is not None:
                np.add.at(self.saw_logs, item, self._seen_logs(rows, logs))
            speaks = (logs < 0).any(axis=1)
            self.speaking = np.bincount(item[speaks], minlength=n_items).astype(np.float64)
            for one in self.settled:
                self.logs[one] += self._settled_logs(one)
            self._share_errors()
            self.dirty = set(np.flatnonzero(self.count > 1).tolist())
            self.gains.clear()
            self._close(np.arange(n_items))

    def doubts(self, rows: NDArray[Any]) -> FloatArray:
        """Doubts of answers, by number."""
        one = self.answers
        people = [self.people.get(who, "") for who in one["person"][rows].tolist()]
        word, size = one["word"][rows].astype(np.int64), one["size"][rows].astype(np.int64)
        return self.worth.doubts(word, size, people)

    def _said_logs(self, rows: NDArray[Any]) -> FloatArray:
        """Log contours (A, K) of answers, with their doubts."""
        number = self.answers["statement"][rows]
        used, place = np.unique(number, return_inverse=True)
        n_classes = self.study.n_classes
        contours = np.zeros((len(used), n_classes))
        for row, k in enumerate(used.tolist()):
            said = self.statements[k]
            contours[row] = contour_of(said, n_classes, self.worth.lead_of(len(said.picks)))
        doubt = np.where(self.answers["kind"][rows] == CANNOT, 0.0, self.doubts(rows))[:, None]
        with np.errstate(divide="ignore"):
            return np.log(doubt + (1 - doubt) * contours[place])

    def _seen_logs(self, rows: NDArray[Any], logs: FloatArray) -> FloatArray:
        """What (A, K) is taken from answers that saw a suggestion, if the model is heard too."""
        if self.model_logs is None:
            return np.zeros_like(logs)
        less = np.log(self.pull + (1 - self.pull) * np.exp(logs)) - logs
        return np.where(self.answers["saw"][rows][:, None], less, 0.0)

    def hear(self, model_logs: FloatArray | None, pull: float) -> None:
        """Take what a model says (n, K) into account where questions are chosen."""
        with self.lock:
            self.model_logs, self.pull = model_logs, pull
            self.refresh()

    def _settled_logs(self, item: int) -> FloatArray:
        """Log contour (K,) of what was settled."""
        names = settled_names(self.settled[item].label)
        if not names:
            return np.zeros(self.study.n_classes)
        contour = np.zeros(self.study.n_classes)
        contour[[self.classes[name] for name in names if name in self.classes]] = 1.0
        return np.log(SETTLED_DOUBT + (1 - SETTLED_DOUBT) * contour)

    def known(self) -> dict[int, tuple[int, int]]:
        """Items whose class is known, each with the last answer that shows nothing."""
        found = {int(row): (int(self.gold[row]), 0) for row in np.flatnonzero(self.gold >= 0)}
        for row, one in self.settled.items():
            names = settled_names(one.label)
            if len(names) == 1 and row not in found:
                found[row] = self.classes[names[0]], one.upto
        return found

    def known_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Standing answers about known items, and their classes."""
        known, rows, truth = self.known(), [], []
        for item, (true, upto) in known.items():
            for number in self.standing(item):
                is_shown = self.answers["id"][number] > upto
                if self.answers["kind"][number] == SAID and is_shown:
                    rows.append(number)
                    truth.append(true)
        order = np.argsort(rows)
        return np.array(rows, dtype=np.int64)[order], np.array(truth, dtype=np.int64)[order]

    def _learn(self) -> None:
        rows, truth = self.known_rows()
        self.worth = worth_learned(
            worth_before(self.study.words, self.study.n_classes),
            self.answers["word"][rows].astype(np.int64),
            [self.statements[k] for k in self.answers["statement"][rows].tolist()],
            [self.people.get(who, "") for who in self.answers["person"][rows].tolist()],
            truth,
        )

    def _share_errors(self) -> None:
        """Learn from gold how far people err together."""
        rows = np.flatnonzero((self.gold >= 0) & (self.speaking > 1))
        self.dependence = Dependence(0.0, source="given")
        if len(rows) >= ENOUGH_GOLD:
            self.dependence = learned_dependence(
                self.logs[rows], self.speaking[rows], self.gold[rows]
            )

    def chances(self, rows: NDArray[Any] | slice = slice(None)) -> FloatArray:
        """Probabilities (n, K) of the classes, by the pooled evidence."""
        logs = self.logs[rows] + self.saw_logs[rows]
        logs = logs * self.dependence.exponent(self.speaking[rows])[:, None]
        if self.model_logs is not None:
            logs = logs + self.model_logs[rows]
        logs = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(logs / logs.sum(axis=1, keepdims=True))

    def contours(self, rows: NDArray[Any] | slice = slice(None)) -> FloatArray:
        """Plausibilities (n, K), the highest of each item being 1."""
        logs = self.logs[rows] * self.dependence.exponent(self.speaking[rows])[:, None]
        return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))

    def accuracy(self, person: int) -> float:
        """How often somebody is right, from known items, shrunk to what people usually are."""
        rows, truth = self._of_person(person)
        hits = [
            (true in said.picks) / max(len(said.picks), 1)
            for said, true in zip(rows, truth, strict=True)
        ]
        usual = max(USUAL_ACCURACY, 1.2 / self.study.n_classes)
        return float((sum(hits) + PRIOR * usual) / (len(hits) + PRIOR))

    def _of_person(self, person: int) -> tuple[list[Statement], list[int]]:
        """Answers of a person about gold items, and the truth."""
        done = self.gold_rows[self.done_by(person)[self.gold_rows]]
        rows = [self.top[int(item) << 20 | person] for item in done]
        said = [self.statements[k] for k in self.answers["statement"][rows].tolist()]
        return said, self.gold[done].tolist()

    def gain(self, accuracy: float) -> FloatArray:
        """Bits (n,) that an answer of somebody as accurate as this is expected to teach."""
        step = round(round(accuracy / STEP) * STEP, 4)
        found = self.gains.get(step)
        if found is None:
            found = self.gains[step] = self._gain(slice(None), step)
        return found

    def _gain(self, rows: NDArray[Any] | slice, step: float) -> FloatArray:
        worth = worth_of_next(self.speaking[rows], self.dependence.shared)
        return information(self.chances(rows), min(step, 0.95)) * worth

    def _close(self, rows: NDArray[Any]) -> None:
        """Say which items need no further answer, and what one would teach."""
        for step, gains in self.gains.items():
            gains[rows] = self._gain(rows, step)
        options = self.study.options
        gain = self.gain(USUAL_ACCURACY)[rows]
        most = np.maximum(2 * options["answers"], self.extra[rows])
        is_settled = np.isin(rows, list(self.settled)) if self.settled else False
        little = (self.count[rows] >= 1) & (gain < options["least"])
        wanted = self.extra[rows] > self.count[rows]
        full = (self.count[rows] >= most) | little
        self.ended[rows] = self.broken[rows] | is_settled | (full & ~wanted)

    def annotations(self, items: Sequence[int]) -> Annotations:
        """The answers that stand about some items, as `Annotations` with their doubts."""
        rows = np.array([row for item in items for row in self.standing(item)], dtype=np.int64)
        rows = rows[self.answers["kind"][rows] <= NONE_OF_THEM] if len(rows) else rows
        place = {item: k for k, item in enumerate(items)}
        people = sorted({int(who) for who in self.answers["person"][rows]})
        n_classes = self.study.n_classes
        contours = np.array([
            contour_of(said, n_classes, self.worth.lead_of(len(said.picks)))
            for said in self.statements
        ]).reshape(-1, n_classes)  # fmt: skip
        doubt = np.where(self.answers["kind"][rows] == CANNOT, 0.0, self.doubts(rows))
        return Annotations(
            np.array([self.items[item].name for item in items], dtype=object),
            np.array([self.people.get(who, str(who)) for who in people] or ["nobody"]),
            np.array(self.study.classes),
            np.array([place[i] for i in self.answers["item"][rows].tolist()], dtype=np.int64),
            np.searchsorted(people, self.answers["person"][rows]).astype(np.int64),
            self.answers["statement"][rows].astype(np.int64),
            contours if len(contours) else np.ones((1, n_classes)),
            doubt,
            np.zeros(max(len(contours), 1), dtype=bool),
        )


def learned_dependence(logs: FloatArray, count: FloatArray, truth: NDArray[Any]) -> Dependence:
    """How far people err together, from log contours (n, K) of items whose class is known."""
    known = np.full_like(logs, -np.inf)
    known[np.arange(len(truth)), truth] = 0.0
    shared, low, high, source = learn_shared(logs, count, known)
    return Dependence(shared, low, high, source)
