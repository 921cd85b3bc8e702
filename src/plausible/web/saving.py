"""What a page sends: an answer, "later", undo. Each has a token, by which it is kept once."""

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from plausible.errors import InputError
from plausible.web import schema
from plausible.web.asking import AHEAD, LEASE, Offer
from plausible.web.columns import Answer
from plausible.web.people import Person
from plausible.web.room import Room, as_row
from plausible.web.schema import as_json
from plausible.web.study import TEXT_LIMIT, Item

TOKEN = re.compile(r"[A-Za-z0-9_-]{16,64}")
LONGEST_COMMENT = 2000
ODDS = (1, 2, 5, 10, 20)
KINDS = ("said", "cannot", "none", "broken", "later")


class ForbiddenError(Exception):
    """Somebody may not do this."""


class GoneError(Exception):
    """What is spoken of is not there."""


class Reply(NamedTuple):
    """The number of an answer, what comes next, and what a model says if that is told now."""

    answer: int
    offers: list[Offer]
    after: list[str] | None


def check_said(room: Room, body: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of an answer, refused where they are not what they should be."""
    study = room.study
    token, kind = body.get("token"), body.get("kind")
    if not isinstance(token, str) or not TOKEN.fullmatch(token):
        raise InputError("token should be 16 to 64 letters or digits", f"is {token!r}")
    if kind not in KINDS:
        raise InputError(f"kind should be one of {', '.join(KINDS)}", f"is {kind!r}")
    item = body.get("item")
    if isinstance(item, bool) or not isinstance(item, int) or item not in room.live.place:
        raise GoneError("There is no such item.")
    picks = _check_picks(body.get("picks", []), kind, study.classes)
    word = body.get("word")
    needs_word = kind == "said" and study.options["words"]
    if word not in study.words if needs_word else word is not None:
        raise InputError("word should be one of those on the buttons", f"is {word!r}")
    comment = body.get("comment") or None
    if comment is not None and (not isinstance(comment, str) or len(comment) > LONGEST_COMMENT):
        raise InputError(f"comment should be a text of up to {LONGEST_COMMENT} letters")
    return {
        "token": token,
        "item": item,
        "kind": kind,
        "picks": as_json(picks),
        "level": bool(body.get("level")) and len(picks) > 1,
        "word": word,
        "numbers": _check_numbers(body.get("numbers"), picks),
        "comment": comment,
        "seconds": _number(body.get("seconds"), 0.0, 1e6),
        "saw_suggestion": bool(body.get("saw")),
        "client_at": _number(body.get("client_at"), 0.0, 1e12),
        "shown": None,
        "replaces": None,
        "study": study.id,
    }


def _check_picks(picks: Any, kind: str, classes: tuple[str, ...]) -> list[str]:
    if not isinstance(picks, list) or not all(isinstance(one, str) for one in picks):
        raise InputError("picks should be a list of classes", f"is {picks!r}")
    strange = [name for name in picks if name not in classes]
    if strange or len(set(picks)) < len(picks):
        raise InputError("picks should be different classes", f"{(strange or picks)[0]!r} is not")
    if (kind == "said") != bool(picks):
        raise InputError("picks should come with an answer that names classes, and only with one")
    return picks


def _check_numbers(numbers: Any, picks: list[str]) -> str | None:
    if not numbers:
        return None
    if not isinstance(numbers, list) or len(numbers) != len(picks) or not set(numbers) <= set(ODDS):
        raise InputError(f"numbers should be odds among {ODDS}, one for each pick")
    return as_json(numbers)


def _number(value: Any, low: float, high: float) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and low <= value <= high else None


ON_SQLITE, ON_POSTGRES = (
    insert(schema.answer)
    .on_conflict_do_nothing(index_elements=["token"])
    .returning(schema.answer.c.token, schema.answer.c.id, schema.answer.c.person)
    for insert in (sqlite.insert, postgresql.insert)
)
SHOWN = schema.shown.insert().returning(
    schema.shown.c.person, schema.shown.c.item, schema.shown.c.id
)  # in any order, or SQLite is asked for one row after the other


def insert_once(
    connection: sa.Connection, rows: Sequence[Mapping[str, Any]]
) -> list[tuple[int, bool]]:
    """The numbers of answers, and whether they are new; a token that is known adds nothing."""
    statement = ON_SQLITE if connection.dialect.name == "sqlite" else ON_POSTGRES
    made = {token: (number, by) for token, number, by in connection.execute(statement, rows)}
    lost = [row["token"] for row in rows if row["token"] not in made]
    kept = {}
    if lost:
        table = schema.answer
        found = sa.select(table.c.token, table.c.id, table.c.person).where(table.c.token.in_(lost))
        kept = {token: (number, by) for token, number, by in connection.execute(found)}
    numbers = []
    for row in rows:
        number, by = (made | kept)[row["token"]] if lost else made[row["token"]]
        if by != row["person"]:
            raise ForbiddenError("This token is somebody else's.")
        numbers.append((number, row["token"] in made))
    return numbers


class Said(NamedTuple):
    """An answer on its way into the database, and what its person is shown next."""

    values: dict[str, Any]
    offers: list[Offer]
    reason: str | None
    after: list[str] | None  # what a model says, for somebody who has answered


class Keeping(NamedTuple):
    """How the answers of a room are kept: all that wait, in two statements."""

    room: Room

    def work(self, connection: sa.Connection, tasks: Sequence[Said]) -> list[Any]:
        """Write answers, and what is shown next."""
        numbers = insert_once(connection, [task.values for task in tasks])
        shown = [(task.values["person"], one) for task in tasks for one in task.offers]
        offers = iter(keep_shown(connection, self.room, shown))
        return [
            (number, is_new, [next(offers) for _ in task.offers])
            for (number, is_new), task in zip(numbers, tasks, strict=True)
        ]

    def after(self, tasks: Sequence[Said], results: Sequence[Any]) -> None:
        """Take the answers into memory, and leave what is shown to those who are shown it."""
        new = []
        for task, (number, is_new, offers) in zip(tasks, results, strict=True):
            values = task.values
            if is_new:
                saw, seconds = values["saw_suggestion"], values["seconds"]
                row = as_row(values, number)
                new.append(Answer(row, seconds, saw, task.reason, values["at"]))
            for one in offers:
                self.room.show(values["person"], one)
            if task.after is not None:
                self.room.told.add((values["person"], self.room.live.place[values["item"]]))
        self.room.live.add(*sorted(new, key=lambda answer: answer.row.id))


async def save(room: Room, person: Person, body: Mapping[str, Any]) -> Reply:
    """Keep an answer and show what comes next."""
    values = check_said(room, body)
    place = room.live.place[values["item"]]
    check_shown(room, person, place, values)
    with room.live.lock:
        offer = room.asking.open.get(person.id, {}).get(place)
        top = room.live.top.get(place << 20 | person.id)
        if top is not None and (offer is None or offer.reason != "repeat"):
            values["replaces"] = int(room.live.answers["id"][top])
        if values["kind"] == "later":
            values["replaces"] = None
        values["shown"] = offer.shown if offer is not None else None
    values |= {"person": person.id, "at": time.time()}
    reason, arm = (None, None) if offer is None else (offer.reason, offer.arm)
    values["saw_suggestion"] = place in room.suggestions and (
        values["saw_suggestion"] or arm == "before" or (person.id, place) in room.told
    )
    room.asking.release(person.id, place)
    task = Said(values, next_offers(room, person, body, place), reason,
                told_after(room, arm, place))  # fmt: skip
    number, _, offers = await room.store.keep_with(Keeping(room), task)
    return Reply(number, offers, task.after)


def check_shown(room: Room, person: Person, place: int, values: dict[str, Any]) -> None:
    """Refuse answers about items that a person was never shown."""
    if room.asking.is_held(person.id, place):
        return
    table = schema.shown
    mine = (table.c.person == person.id) & (table.c.item == values["item"])
    with room.store.read() as connection:
        found = connection.execute(sa.select(table.c.id).where(mine).limit(1)).scalar()
        kept = (
            found is None
            and connection.execute(
                sa.select(schema.answer.c.id).where(schema.answer.c.token == values["token"])
            ).scalar()
        )
    if found is None and not kept:
        raise ForbiddenError("This item was not shown to you.")


def next_offers(
    room: Room, person: Person, body: Mapping[str, Any], place: int | None
) -> list[Offer]:
    """What comes next, without what the page has already or has just answered."""
    have = body.get("have")
    have = have if isinstance(have, list) and len(have) <= 20 else []
    places = {room.live.place[i] for i in have if isinstance(i, int) and i in room.live.place}
    wanted = max(AHEAD - len(places), 0)
    without = places | ({place} if place is not None else set())
    return room.asking.next(person.id, wanted, without) if wanted else []


def keep_shown(
    connection: sa.Connection, room: Room, shown: Sequence[tuple[int, Offer]]
) -> list[Offer]:
    """Store that items are shown to people, unless it is known already."""
    now, rows = time.time(), []
    for person, offer in shown:
        if offer.shown is None:
            idea = room.suggestions.get(offer.item)
            rows.append({
                "item": room.live.items[offer.item].id,
                "person": person,
                "reason": offer.reason,
                "value": offer.value,
                "suggestion": idea.id if idea is not None and offer.arm else None,
                "arm": offer.arm,
                "at": now,
            })  # fmt: skip
    numbers: dict[tuple[int, int], list[int]] = {}
    for person, item, number in connection.execute(SHOWN, rows) if rows else ():
        numbers.setdefault((person, item), []).append(number)
    return [
        offer if offer.shown is not None
        else offer._replace(
            shown=numbers[person, room.live.items[offer.item].id].pop(), until=now + LEASE
        )
        for person, offer in shown
    ]  # fmt: skip


async def undo(room: Room, person: Person, body: Mapping[str, Any]) -> Reply:
    """Take back an answer by a new row."""
    token, undoes = body.get("token"), body.get("undoes")
    for one in (token, undoes):
        if not isinstance(one, str) or not TOKEN.fullmatch(one):
            raise InputError("token and undoes should be tokens", f"{one!r} came")
    table = schema.answer
    blank = {"picks": "[]", "level": False, "word": None, "numbers": None, "comment": None}
    now = time.time()

    def work(connection: sa.Connection) -> Any:
        target = connection.execute(
            sa.select(table.c.id, table.c.item, table.c.kind).where(
                (table.c.token == undoes) & (table.c.person == person.id)
            )
        ).first()
        if target is None or target.kind == "undone":
            raise GoneError("There is nothing to undo.")
        values = blank | {
            "token": token, "item": target.item, "person": person.id, "kind": "undone",
            "replaces": target.id, "study": room.study.id, "at": now, "shown": None,
            "seconds": None, "saw_suggestion": False, "client_at": None,
        }  # fmt: skip
        ((number, is_new),) = insert_once(connection, [values])
        place = room.live.place[target.item]
        (offer,) = keep_shown(connection, room, [(person.id, Offer(place, "chosen", 0.0))])
        return is_new, offer, as_row(values, number)

    def after(result: Any) -> None:
        is_new, offer, row = result
        if is_new:
            room.live.add(Answer(row, None, False, None, now))
        room.show(person.id, offer)

    _, offer, row = await room.store.keep(work, after)
    return Reply(row.id, [offer], None)


async def look(room: Room, person: Person, item: Any) -> list[str]:
    """What the model says, for somebody who asks; that they were told is kept first."""
    place = room.live.place.get(item) if isinstance(item, int) else None
    allowed = room.study.options["suggest"] == "asked"
    if place is None or not allowed or place not in room.suggestions:
        raise GoneError("What a model says is not shown here.")
    check_shown(room, person, place, {"item": item, "token": ""})
    idea = room.suggestions[place]
    row = {"item": item, "person": person.id, "reason": "model", "value": None,
           "suggestion": idea.id, "arm": "asked", "at": time.time()}  # fmt: skip
    if (person.id, place) not in room.told:
        await room.store.keep(
            lambda connection: connection.execute(schema.shown.insert(), [row]) and None,
            lambda _: room.told.add((person.id, place)),
        )
    return list(idea.classes)


def payload(room: Room, offer: Offer, person: Person) -> dict[str, Any]:
    """What a page is told of an item; nothing of why it is shown."""
    one = room.live.items[offer.item]
    told = item_payload(one) | {"shown": offer.shown}
    has_asked = offer.arm == "asked" and (person.id, offer.item) in room.told
    if offer.arm == "before" or has_asked:
        told["suggested"] = list(room.suggestions[offer.item].classes)
    elif offer.arm == "asked":
        told["asked"] = True  # what it is, is told to whoever asks
    elif offer.arm == "after":
        told["after"] = True  # what it is, the reply to the answer tells
    return told


def told_after(room: Room, arm: str | None, place: int) -> list[str] | None:
    """What the model says, for somebody who has answered; None where it stays hidden."""
    return list(room.suggestions[place].classes) if arm == "after" else None


def item_payload(one: Item) -> dict[str, Any]:
    """What a page shows of an item."""
    content = one.content[:TEXT_LIMIT]
    return {
        "id": one.id,
        "name": one.name,
        "kind": one.kind,
        "content": content,
        "media": None if one.media is None else f"/media/{one.id}",
    }


def progress(room: Room, person: Person) -> dict[str, int]:
    """How far somebody has come."""
    with room.live.lock:
        done = room.live.n_done.get(person.id, 0)
        return {"done": done, "left": room.asking.left(person.id)}
