"""What comes next for a person: mostly what their answer would teach in a second, some of it else.

A few questions are about items whose class is known, a few come again, and a tenth is drawn at
random among all items that are still open: chosen items are harder than others, so that only these
tell how far people agree. Items that were shown to others are left to them for a while.
"""

import heapq
import math
import time
from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.web.ledger import CANNOT, SAID
from plausible.web.live import Live
from plausible.web.suggest import ARMS

LEASE = 15 * 60.0  # seconds for which an item is left to the person who was shown it
AHEAD = 3  # items that a page holds
FIRST_REPEAT = 10  # answers of a person before anything comes again
BEST, ENOUGH = 1024, 8  # items that are looked at closely, and of which so many are left at least
SLOWEST = 0.7  # log of how far the time that an item takes counts
FRESH = 5.0  # seconds after which all items are looked at again
STRIDE = 7919  # a prime: from where somebody begins to where the next one does
TRIES = 30  # to find an item at random, before all are looked through
Values = NDArray[np.float64]
Heap = list[tuple[float, int]]  # what items were worth, negative, and their places


class Offer(NamedTuple):
    """An item for a person.

    item : its place
    reason : "value", "gold", "repeat", "random" or "chosen"
    value : bits for each second
    shown : number of the row that says so, once it is kept
    """

    item: int
    reason: str
    value: float
    shown: int | None = None
    until: float = 0.0
    arm: str | None = None


class Asking:
    """Who is shown what."""

    def __init__(
        self, live: Live, seed: int | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.live, self.clock = live, clock
        self.random = np.random.default_rng(seed)
        n_items = len(live.items)
        self.until = np.zeros(n_items)
        self.holder = np.zeros(n_items, dtype=np.int32)
        self.open: dict[int, dict[int, Offer]] = {}
        # Items that are equally worth asking come in an order that is random, but stays. Everybody
        # begins elsewhere in it, or all would want the same item.
        order = np.random.default_rng(live.study.options["seed"])
        self.jitter = 1e-9 * order.random(n_items)
        self.best: dict[int, tuple[Heap, float]] = {}
        self.counted: dict[int, tuple[int, int, float]] = {}
        self.arms: dict[int, str] = {}  # how suggestions are shown, for items that have some

    # -- Leases ------------------------------------------------------------------------------------

    def hold(self, person: int, offer: Offer) -> None:
        """Leave an item to a person for a while."""
        until = offer.until or self.clock() + LEASE
        self.until[offer.item], self.holder[offer.item] = until, person
        self.open.setdefault(person, {})[offer.item] = offer._replace(until=until)

    def held(self, person: int) -> list[Offer]:
        """What a person was shown and has not answered yet, in that order."""
        now = self.clock()
        mine = self.open.get(person, {})
        for item in [item for item, offer in mine.items() if offer.until <= now]:
            del mine[item]
        return list(mine.values())

    def release(self, person: int, item: int) -> Offer | None:
        """An item was answered, or put off."""
        offer = self.open.get(person, {}).pop(item, None)
        if self.holder[item] == person:
            self.until[item] = 0.0
        return offer

    def is_held(self, person: int, item: int) -> bool:
        """Whether an item was shown to a person, or they have answered about it."""
        return item in self.open.get(person, {}) or bool(self.live.done_by(person)[item])

    # -- Choice ------------------------------------------------------------------------------------

    def candidates(self, person: int) -> NDArray[np.bool_]:
        """Items (n,) that may be asked of a person by their worth or at random."""
        others = (self.until > self.clock()) & (self.holder != person)
        return self._mine(person) & ~others

    def left(self, person: int) -> int:
        """How many items there are for a person; counted anew now and then."""
        done = self.live.n_done.get(person, 0)
        count, then, at = self.counted.get(person, (0, 0, -np.inf))
        if self.clock() - at > FRESH:
            count, then = int(self._mine(person).sum()), done
            self.counted[person] = count, then, self.clock()
        return max(count - (done - then), 0)

    def _mine(self, person: int) -> NDArray[np.bool_]:
        """Items (n,) about which a person has not answered, and may."""
        live = self.live
        told = live.done_by(person) | live.seen_by(person)
        return np.asarray(~(live.ended | told | live.practice | (live.gold >= 0)))

    def value(self, person: int) -> Values:
        """Bits for each second (n,), in the pace of an average item."""
        live = self.live
        slow, count = live.slow
        slower = np.clip(slow / (count + 4.0), -SLOWEST, SLOWEST)
        jitter = np.roll(self.jitter, -person * STRIDE)
        return np.asarray(live.gain(live.accuracy(person)) * np.exp(-slower) + jitter)

    def value_of(self, person: int, row: int) -> float:
        """The same of one item."""
        live = self.live
        slower = live.slow[0, row] / (live.slow[1, row] + 4.0)
        pace = math.exp(-min(max(slower, -SLOWEST), SLOWEST))
        jitter = self.jitter[(row + person * STRIDE) % len(self.jitter)]
        return float(live.gain(live.accuracy(person))[row] * pace + jitter)

    def next(self, person: int, count: int = AHEAD, without: Collection[int] = ()) -> list[Offer]:
        """The next items for a person, each held for them; those that they hold come first."""
        with self.live.lock:
            found = [offer for offer in self.held(person) if offer.item not in without]
            while len(found) < count:
                taken = {*without, *(offer.item for offer in found)}
                offer = self._draw(person, taken)
                if offer is None:
                    break
                self.hold(person, offer._replace(arm=self._arm(offer.item)))
                found.append(self.open[person][offer.item])
            return found[:count]

    def _draw(self, person: int, without: Collection[int]) -> Offer | None:
        """One more item."""
        options, dice = self.live.study.options, self.random.random()
        best = self._best(person, without)
        if best is None:
            return self._put_off(person, without)
        other = None
        for name, draw in (("gold", self._gold), ("repeat", self._repeat),
                           ("random", self._random)):  # fmt: skip
            dice -= options[name]
            if dice < 0:
                other = draw(person, without)
                break
        if other is None:
            return best
        heapq.heappush(self.best[person][0], (-best.value, best.item))
        return other

    def _best(self, person: int, without: Collection[int]) -> Offer | None:
        """The item that is most worth asking.

        All items are looked at only now and then. In between, the best of those that were best then
        is taken if it is still worth more than the next one was, and is put back if it is not.
        """
        heap, at = self.best.get(person, ([], -math.inf))
        offer = self._pop(person, heap, without)
        if offer is None or len(heap) < ENOUGH or self.clock() - at > FRESH:
            heap = self._look(person)
            offer = self._pop(person, heap, without)
        return offer

    def _pop(self, person: int, heap: Heap, without: Collection[int]) -> Offer | None:
        """The best item of a heap that may be asked; those that may not are left out of it."""
        while heap:
            row = heap[0][1]
            if not self._is_free(person, row, without):
                heapq.heappop(heap)
                continue
            now = self.value_of(person, row)
            if len(heap) == 1 or now >= -min(heap[1:3])[0]:
                heapq.heappop(heap)
                return Offer(row, "value", now)
            heapq.heapreplace(heap, (-now, row))
        return None

    def _look(self, person: int) -> Heap:
        """Look at all items for those that are most worth asking."""
        worth = np.where(self.candidates(person), self.value(person), -1.0)
        rows = np.argpartition(-worth, min(BEST, len(worth) - 1))[:BEST]
        rows = rows[worth[rows] >= 0]
        rows = rows[np.argsort(-worth[rows], kind="stable")]
        heap = list(zip((-worth[rows]).tolist(), rows.tolist(), strict=True))
        self.best[person] = heap, self.clock()
        return heap

    def _is_free(self, person: int, row: int, without: Collection[int]) -> bool:
        """Whether an item may be asked of a person by its worth, or at random."""
        live = self.live
        return not (
            row in without
            or live.ended[row]
            or live.done_by(person)[row]
            or live.seen_by(person)[row]
            or live.practice[row]
            or live.gold[row] >= 0
            or (self.holder[row] != person and self.until[row] > self.clock())
            or row in live.later.get(person, ())
        )

    def _random(self, person: int, without: Collection[int]) -> Offer | None:
        """Any item that may be asked, each with the same chance."""
        for _ in range(TRIES):
            row = int(self.random.integers(len(self.live.items)))
            if self._is_free(person, row, without):
                return Offer(row, "random", self.value_of(person, row))
        rows = np.flatnonzero(self.candidates(person)).tolist()
        rows = [row for row in rows if self._is_free(person, row, without)]
        if not rows:
            return None
        row = int(self.random.choice(rows))
        return Offer(row, "random", self.value_of(person, row))

    def _arm(self, item: int) -> str | None:
        """Whether what a model says of an item is shown before the answer, after it, or never."""
        how = self.arms.get(item)
        return str(self.random.choice(ARMS)) if how == "coin" else how

    def _gold(self, person: int, without: Collection[int]) -> Offer | None:
        """An item whose class is known, and about which the person was not asked yet."""
        live = self.live
        rows = live.gold_rows
        told = live.done_by(person)[rows] | live.seen_by(person)[rows]
        taken = live.practice[rows] | live.broken[rows] | told
        aside = {*without, *self.open.get(person, {})}
        free = [row for row in rows[~taken].tolist() if row not in aside]
        return Offer(int(self.random.choice(free)), "gold", 0.0) if free else None

    def _repeat(self, person: int, without: Collection[int]) -> Offer | None:
        """An item about which the person has answered some time ago."""
        live = self.live
        rows = np.flatnonzero(live.done_by(person) & (live.gold < 0) & ~live.broken)
        if len(rows) < FIRST_REPEAT:
            return None
        tops = np.array([live.top[int(item) << 20 | person] for item in rows])
        old = rows[(tops < np.sort(tops)[-FIRST_REPEAT // 2])
                   & np.isin(live.answers["kind"][tops], (SAID, CANNOT))]  # fmt: skip
        old = [int(i) for i in old if i not in without and i not in self.open.get(person, {})]
        return Offer(int(self.random.choice(old)), "repeat", 0.0) if old else None

    def _put_off(self, person: int, without: Collection[int]) -> Offer | None:
        """What was put off comes back when nothing else is left."""
        live = self.live
        for item in live.later.get(person, {}):
            if item not in without and item not in self.open.get(person, {}):
                return Offer(item, "chosen", 0.0)
        return None
