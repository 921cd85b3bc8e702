"""All that a server holds: the database, the state in memory, and who is signed in."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from plausible.errors import InputError
from plausible.io import Row, Settled, Told, told_by
from plausible.web import schema
from plausible.web.asking import LEASE, Asking, Offer
from plausible.web.columns import Answer
from plausible.web.guard import Bucket
from plausible.web.live import Live
from plausible.web.people import Person, Sessions, people_of, secret_of
from plausible.web.similar import Similar
from plausible.web.store import Store
from plausible.web.study import load_items, load_study
from plausible.web.suggest import Suggestion, doubt_in_model, load_seen, load_suggestions, pulls

REFRESH = 5.0  # seconds between looks at all items, while somebody answers
SHARE = 20.0  # so many times as long as a look takes, if that is more


@dataclass
class Settings:
    """How a server is reached.

    Attributes
    ----------
    media : folder of pictures and sounds
    local_token : opens the page on this machine, as `local_person`
    trust_header, trusted_proxy : who is told by a proxy in front
    secure : whether cookies are for https alone
    hosts : names by which the server may be called; any, if None

    Examples
    --------
    >>> Settings(secure=True).trust_header is None
    True
    """

    media: Path | None = None
    local_token: str | None = None
    local_person: int | None = None
    trust_header: str | None = None
    trusted_proxy: str | None = None
    secure: bool = False
    hosts: tuple[str, ...] | None = None


@dataclass
class Limits:
    """What somebody may do how often."""

    answers: Bucket = field(default_factory=lambda: Bucket(40, 20.0))
    joins: Bucket = field(default_factory=lambda: Bucket(10, 10 / 60))


class Room:
    """A study that is being answered: its database, and the state of it in memory.

    Parameters
    ----------
    store : Store
        Of `open_study`.
    settings : Settings, optional
    seed : int, optional
        Of the draws of questions.

    Examples
    --------
    >>> import tempfile
    >>> from plausible.web import Room, open_study
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = open_study({"text": ["tall", "broad"]}, ["oak", "elm"], db=f"{folder}/t.db")
    ...     room = Room(store)
    ...     print(room.study.classes, room.live.count)
    ...     room.close()
    ('oak', 'elm') [0 0]
    """

    def __init__(
        self, store: Store, settings: Settings | None = None, seed: int | None = None
    ) -> None:
        self.store, self.settings, self.limits = store, settings or Settings(), Limits()
        found = load_study(store)
        if found is None:
            raise InputError(
                "The database should hold a study", "it is empty", "name items and --classes"
            )
        self.study = found
        self.people = people_of(store)
        secret = secret_of(store)
        self.sessions = Sessions(secret)
        self.name = hashlib.sha256(secret.encode()).hexdigest()[:12]  # of the study, in browsers
        self.live = Live(found, load_items(store), self._names())
        self.live.load(read_answers(store), told(store).settled)
        self.asking = Asking(self.live, seed)
        self.similar = Similar(self.live)
        self._load_leases()
        self.model_told = ""
        self.pulls: dict[int, Any] = {}
        self.suggestions: dict[int, Suggestion] = {}
        self.told: set[tuple[int, int]] = set()  # people, and items of which they know what it says
        self.hear_model()
        self.fresh, self.patience = (self.live.upto, time.monotonic()), REFRESH

    def _names(self) -> dict[int, str]:
        with self.store.read() as connection:
            rows = connection.execute(sa.select(schema.person.c.id, schema.person.c.name))
            return {row.id: row.name for row in rows}

    def _load_leases(self) -> None:
        """Who was shown what before this server started, and has not answered."""
        table, live = schema.shown, self.live
        with self.store.read() as connection:
            rows = connection.execute(
                sa.select(table).where(table.c.at > time.time() - LEASE).order_by(table.c.id)
            ).all()
            read = connection.execute(
                sa.select(table.c.item, table.c.person).where(table.c.reason == "review")
            ).all()
            said = set(connection.execute(sa.select(schema.answer.c.shown)).scalars())
        for one in read:
            live.seen_by(one.person)[live.place[one.item]] = True
        for row in rows:
            item = live.place.get(row.item)
            if item is None or row.id in said or row.reason in ("review", "model"):
                continue
            if not live.done_by(row.person)[item] or row.reason == "repeat":
                offer = Offer(item, row.reason, row.value or 0.0, row.id, row.at + LEASE, row.arm)
                self.asking.hold(row.person, offer)

    def meet(self) -> None:
        """Look again who is there."""
        self.people = people_of(self.store)
        self.live.people = self._names()

    def person_of(self, cookie: str | None) -> Person | None:
        """Who has a cookie; None if nobody, or their session was ended."""
        found = self.sessions.read(cookie) if cookie else None
        person = self.people.get(found[0]) if found else None
        return person if person is not None and found and person.session == found[1] else None

    def look_again(self, force: bool = False) -> None:
        """Reckon all items anew, if there is something new, and not too often."""
        upto, at = self.fresh
        start = time.monotonic()
        if not force and (self.live.upto == upto or start - at < self.patience):
            return
        self.fresh = self.live.upto, start
        if self.suggestions:
            self.pulls, self.live.pull = pulls(self.store)
        self.live.refresh()
        self.patience = max(REFRESH, SHARE * (time.monotonic() - start))

    def is_stale(self) -> bool:
        """Whether there are answers that tell what words are worth, and it is time to listen."""
        return self.live.news > 0 and time.monotonic() - self.fresh[1] > self.patience

    def hear_model(self) -> None:
        """Take up what the last model said, unless nothing is to be suggested."""
        if self.study.options["suggest"] == "never":
            return
        try:
            self.suggestions = load_suggestions(self.store, self.live.place)
        except (ValueError, KeyError) as error:  # asking goes on without it
            self.model_told = f"The suggestions cannot be read since {time.ctime()}: {error}."
            return
        if not self.suggestions:
            return
        self.told = {(who, self.live.place[item]) for who, item in load_seen(self.store)}
        doubt = doubt_in_model(self.suggestions, self.live.gold)
        logs = np.zeros_like(self.live.logs)
        for row, one in self.suggestions.items():
            logs[row] = np.log(doubt + (1 - doubt) * np.array(one.contour))
        self.pulls, pull = pulls(self.store)
        self.live.hear(logs, pull)
        self.asking.arms = dict.fromkeys(self.suggestions, self.study.options["suggest"])
        self.model_told = (
            f"A model suggests classes of {len(self.suggestions)} items; it is believed with a "
            f"doubt of {doubt:.2f}, and answers that saw it count less by {pull:.2f}."
        )

    def show(self, person: int, offer: Offer) -> None:
        """Leave an item to somebody who is shown it, perhaps with what the model says."""
        self.asking.hold(person, offer)
        if offer.arm == "before":
            self.told.add((person, offer.item))

    def pull_of(self, person: int) -> Any:
        """How far suggestions pull somebody; None where that is not known."""
        return self.pulls.get(person)

    def close(self) -> None:
        """End."""
        self.store.close()


def told(store: Store, as_of: int | None = None) -> Told:
    """All that was said, as a table is made of it."""
    return told_by(store.ask, "The database", as_of)


def nameless(person: int) -> str:
    """Somebody whose name is not told."""
    return f"person {person}"


def read_answers(store: Store, after: int = 0) -> list[Answer]:
    """Answers in their order, with the reasons why items were shown."""
    table, seen = schema.answer, schema.shown
    names = Row._fields
    columns = [table.c[name] for name in names]
    query = (
        sa.select(*columns, table.c.seconds, table.c.saw_suggestion, seen.c.reason, table.c.at)
        .outerjoin(seen, seen.c.id == table.c.shown)
        .where(table.c.id > after)
        .order_by(table.c.id)
    )
    with store.read() as connection:
        return [
            Answer(Row(*row[: len(names)]), *row[len(names) :]) for row in connection.execute(query)
        ]


def as_row(values: Mapping[str, Any], number: int) -> Row:
    """An answer that was just stored."""
    return Row(number, *(values[name] for name in Row._fields[1:]))


__all__ = ["Room", "Settings", "Settled", "as_row", "nameless", "read_answers", "told"]
