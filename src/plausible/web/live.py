r"""What is known of the items while people answer: contours in memory, changed answer by answer.

The log of the pooled contour of an item is the sum of those of its answers,

.. math:: \log pl_i(k) = \sum_a \log ( \delta_a + (1 - \delta_a) c_a(k) ),

with the statement c and the doubt of each answer that stands, which is what `Annotations.pool`
gives. One answer changes one item; a change of what words are worth changes all.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.experts import (
    Annotations,
    Dependence,
    contour_of,
    information,
    learn_shared,
    worth_before,
    worth_learned,
    worth_of_next,
)
from plausible.io import Settled, settled_names
from plausible.web.columns import Answer
from plausible.web.ledger import BROKEN, CANNOT, NONE_OF_THEM, SAID, Ledger
from plausible.web.study import Item, Study

FloatArray = NDArray[np.float64]
Numbers = NDArray[np.int64]

SETTLED_DOUBT = 0.01
USUAL_ACCURACY = 0.75  # of somebody about whom nothing is known
PRIOR = 4.0  # imagined answers of a person, and of an item's time
AT_ONCE = 20_000  # items, or what is reckoned between would need much memory
STEP = 0.05  # between accuracies that are told apart
ENOUGH_GOLD = 30  # items, from which shared errors are learned


class Live(Ledger):
    """All answers in memory, and what they say of each item."""

    def __init__(self, study: Study, items: Sequence[Item], people: Mapping[int, str]) -> None:
        super().__init__(study, items, people)
        n_items = len(self.items)
        self.worth = worth_before(study.words, study.n_classes)
        self.dependence = Dependence(0.0, source="given")
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
        self.gains: dict[float, FloatArray] = {}
        self.accuracies: dict[int, float] = {}
        self.conflict = np.zeros(n_items)
        self.dirty: set[int] = set()  # items whose conflict has to be reckoned anew
        self.news = 0  # answers about known items since all was reckoned anew
        self.model_logs: FloatArray | None = None  # what a model says, where it may be heard
        self.saw_logs = np.zeros((n_items, study.n_classes))  # less, for answers that saw it
        self.pull = 0.0

    # -- What comes in -----------------------------------------------------------------------------

    def load(self, answers: Iterable[Answer], settled: Iterable[Settled]) -> None:
        """Take all that is in the database."""
        with self.lock:
            for answer in answers:
                self.append(answer)
            for one in settled:
                self._settle(one)
            self.refresh()

    def add(self, *answers: Answer) -> None:
        """Take more answers, in their order; those that are there already add nothing."""
        with self.lock:
            new = [one for one in answers if one.row.id not in self.row_of]
            items = {self.append(one): None for one in new}
            for one in new:
                if self.gold[self.place[one.row.item]] >= 0:
                    self.accuracies.pop(one.row.person, None)
            self.news += sum(self.gold[item] >= 0 or item in self.settled for item in items)
            self.update(*items)

    def settle(self, one: Settled) -> None:
        """Take a settlement."""
        with self.lock:
            self._settle(one)
            self.news += 1
            self.update(self.place[one.item])

    def _settle(self, one: Settled) -> None:
        row = self.place[one.item]
        self.settled.pop(row, None)
        if one.label == "again":
            rows = np.array(self.standing(row), dtype=np.int64)
            then = (self.answers["id"][rows] <= one.upto) & (
                self.answers["kind"][rows] <= NONE_OF_THEM
            )
            self.extra[row] = max(self.extra[row], then.sum()) + 1
        else:
            self.settled[row] = one

    # -- What follows from it ----------------------------------------------------------------------

    def update(self, *items: int) -> None:
        """Reckon some items anew."""
        if items:
            self.dirty.update(items)
            found = [(place, row) for place, one in enumerate(items) for row in self.standing(one)]
            place, rows = np.array(found, dtype=np.int64).reshape(-1, 2).T
            self._pool(np.array(items, dtype=np.int64), place, rows)
            self._close(np.array(items, dtype=np.int64))

    def refresh(self) -> None:
        """Reckon all items anew, with what the words are worth by now."""
        with self.lock:
            self.news = 0
            self._learn()
            rows = np.sort(np.fromiter(self.top.values(), np.int64, len(self.top)))
            rows = rows[np.argsort(self.answers["item"][rows], kind="stable")]
            place = self.answers["item"][rows]
            everything = np.arange(len(self.items))
            for start in range(0, len(everything), AT_ONCE):
                low, high = np.searchsorted(place, [start, start + AT_ONCE])
                items = everything[start : start + AT_ONCE]
                self._pool(items, place[low:high] - start, rows[low:high])
            self._share_errors()
            self.dirty = set(np.flatnonzero(self.count > 1).tolist())
            self.gains.clear()
            self._close(everything)

    def _pool(self, items: Numbers, place: NDArray[Any], rows: Numbers) -> None:
        """Sum up what stands about some items: rows of answers, each with the place of its item."""
        n_items, kinds = len(items), self.answers["kind"][rows]
        self.broken[items] = False
        self.broken[items[place[kinds == BROKEN]]] = True
        speaks = kinds <= NONE_OF_THEM
        place, rows = place[speaks], rows[speaks]
        self.count[items] = np.bincount(place, minlength=n_items)
        logs = self._said_logs(rows)
        differs = (logs < 0).any(axis=1)
        self.speaking[items] = np.bincount(place[differs], minlength=n_items)
        seen = None if self.model_logs is None else self._seen_logs(rows, logs)
        for k in range(self.study.n_classes):
            self.logs[items, k] = np.bincount(place, logs[:, k], minlength=n_items)
            if seen is not None:
                self.saw_logs[items, k] = np.bincount(place, seen[:, k], minlength=n_items)
        for one in self.settled.keys() & set(items.tolist()) if self.settled else ():
            self.logs[one] += self._settled_logs(one)

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
        """What (A, K) is taken from answers that saw a suggestion, where the model is heard too."""
        less = np.log(self.pull + (1 - self.pull) * np.exp(logs)) - logs
        return np.where(self.answers["saw"][rows][:, None], less, 0.0)

    def hear(self, model_logs: FloatArray | None, pull: float) -> None:
        """Take what a model says (n, K) into account where questions are chosen."""
        with self.lock:
            self.model_logs, self.pull = model_logs, pull
            self.saw_logs[:] = 0.0
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
        """How often somebody is right, from gold, shrunk to what people usually are."""
        found = self.accuracies.get(person)
        if found is None:
            done = self.gold_rows[self.done_by(person)[self.gold_rows]]
            rows = [self.top[int(item) << 20 | person] for item in done]
            said = [self.statements[k].picks for k in self.answers["statement"][rows].tolist()]
            truth = self.gold[done].tolist()
            hits = sum(
                (true in picks) / max(len(picks), 1)
                for picks, true in zip(said, truth, strict=True)
            )
            usual = max(USUAL_ACCURACY, 1.2 / self.study.n_classes)
            found = self.accuracies[person] = (hits + PRIOR * usual) / (len(truth) + PRIOR)
        return found

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
