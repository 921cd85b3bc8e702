"""What comes next for a person: mostly what their answer would teach in a second, some of it else.

A few questions are about items whose class is known, a few come again, and a tenth is drawn at
random among all items that are still open: chosen items are harder than others, so that only these
tell how far people agree. Items that were shown to others are left to them for a while.
"""

import time
from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.web.live import CANNOT, SAID, Live
from plausible.web.suggest import ARMS

LEASE = 15 * 60.0  # seconds for which an item is left to the person who was shown it
AHEAD = 3  # items that a page holds
FIRST_REPEAT = 10  # answers of a person before anything comes again


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
        # Items that are equally worth asking come in an order that is random, but stays.
        order = np.random.default_rng(live.study.options["seed"])
        self.jitter = 1e-9 * order.random(n_items)
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
        """How many items there are for a person."""
        return int(self._mine(person).sum())

    def _mine(self, person: int) -> NDArray[np.bool_]:
        """Items (n,) about which a person has not answered, and may."""
        live = self.live
        told = live.done_by(person) | live.seen_by(person)
        return np.asarray(~(live.ended | told | live.practice | (live.gold >= 0)))

    def value(self, person: int) -> NDArray[np.float64]:
        """Bits for each second (n,), in the pace of an average item."""
        live = self.live
        gain = live.gain(live.accuracy(person))
        slower = np.clip(live.slow[0] / (live.slow[1] + 4.0), -0.7, 0.7)
        return np.asarray(gain * np.exp(-slower) + self.jitter)

    def next(self, person: int, count: int = AHEAD, without: Collection[int] = ()) -> list[Offer]:
        """The next items for a person, each held for them; those that they hold come first."""
        with self.live.lock:
            found = [offer for offer in self.held(person) if offer.item not in without]
            if len(found) >= count:
                return found[:count]
            free = self.candidates(person)
            for item in [*without, *(offer.item for offer in found)]:
                free[item] = False
            put_off = self.live.later.get(person, {})
            free[list(put_off)] = False
            worth = self.value(person) if free.any() else None
            while len(found) < count:
                offer = self._draw(person, free, worth, without)
                if offer is None:
                    break
                free[offer.item] = False
                self.hold(person, offer._replace(arm=self._arm(offer.item)))
                found.append(self.open[person][offer.item])
            return found

    def _draw(
        self,
        person: int,
        free: NDArray[np.bool_],
        worth: NDArray[np.float64] | None,
        without: Collection[int],
    ) -> Offer | None:
        """One more item."""
        options, dice = self.live.study.options, self.random.random()
        is_free = bool(free.any())
        if dice < options["gold"]:
            offer = self._gold(person, without)
            if offer is not None and is_free:
                return offer
        elif dice < options["gold"] + options["repeat"]:
            offer = self._repeat(person, without)
            if offer is not None and is_free:
                return offer
        elif dice < options["gold"] + options["repeat"] + options["random"] and is_free:
            item = int(self.random.choice(np.flatnonzero(free)))
            return Offer(item, "random", float(worth[item]) if worth is not None else 0.0)
        if worth is None or not is_free:
            return self._put_off(person, without)
        item = int(np.where(free, worth, -1.0).argmax())
        return Offer(item, "value", float(worth[item]))

    def _arm(self, item: int) -> str | None:
        """Whether what a model says of an item is shown before the answer, after it, or never."""
        how = self.arms.get(item)
        return str(self.random.choice(ARMS)) if how == "coin" else how

    def _gold(self, person: int, without: Collection[int]) -> Offer | None:
        """An item whose class is known, and about which the person was not asked yet."""
        live = self.live
        free = (live.gold >= 0) & ~live.practice & ~live.done_by(person) & ~live.broken
        free &= ~live.seen_by(person)
        free[[*without, *self.open.get(person, {})]] = False
        rows = np.flatnonzero(free)
        return Offer(int(self.random.choice(rows)), "gold", 0.0) if len(rows) else None

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
