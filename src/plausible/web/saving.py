"""What a page sends: an answer, "later", undo. Each has a token, by which it is kept once."""

import re
import time
from collections.abc import Mapping
from typing import Any

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


def insert_once(connection: sa.Connection, values: Mapping[str, Any]) -> tuple[int, bool]:
    """The number of an answer, and whether it is new; a token that is known adds nothing."""
    table = schema.answer
    insert: Any = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    made = connection.execute(
        insert(table).on_conflict_do_nothing(index_elements=["token"]).returning(table.c.id),
        values,
    ).scalar()
    if made is not None:
        return int(made), True
    kept = connection.execute(
        sa.select(table.c.id, table.c.person).where(table.c.token == values["token"])
    ).one()
    if kept.person != values["person"]:
        raise ForbiddenError("This token is somebody else's.")
    return int(kept.id), False


def save(room: Room, person: Person, body: Mapping[str, Any]) -> Any:
    """Keep an answer and show what comes next; a future of the reply."""
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
        values["saw_suggestion"] or arm == "before"
    )
    room.asking.release(person.id, place)
    offers = next_offers(room, person, body, place)

    def work(connection: sa.Connection) -> Any:
        number, is_new = insert_once(connection, values)
        kept = [keep_shown(connection, room, person, one) for one in offers]
        return number, is_new, kept, told_after(room, arm, place)

    def after(result: Any) -> None:
        number, is_new, kept, _ = result
        if is_new:
            row = as_row(values, number)
            saw, seconds = values["saw_suggestion"], values["seconds"]
            room.live.add(Answer(row, seconds, saw, reason, values["at"]))
        for one in kept:
            room.asking.hold(person.id, one)

    return room.store.keep(work, after)


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


def keep_shown(connection: sa.Connection, room: Room, person: Person, offer: Offer) -> Offer:
    """Store that an item is shown, unless it is known already."""
    if offer.shown is not None:
        return offer
    now = time.time()
    idea = room.suggestions.get(offer.item)
    made = connection.execute(
        schema.shown.insert().returning(schema.shown.c.id),
        {
            "item": room.live.items[offer.item].id,
            "person": person.id,
            "reason": offer.reason,
            "value": offer.value,
            "suggestion": idea.id if idea is not None and offer.arm else None,
            "arm": offer.arm,
            "at": now,
        },
    ).scalar_one()
    return offer._replace(shown=int(made), until=now + LEASE)


def undo(room: Room, person: Person, body: Mapping[str, Any]) -> Any:
    """Take back an answer by a new row; a future of the reply."""
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
        number, is_new = insert_once(connection, values)
        place = room.live.place[target.item]
        offer = keep_shown(connection, room, person, Offer(place, "chosen", 0.0))
        return number, is_new, [offer], as_row(values, number)

    def after(result: Any) -> None:
        _, is_new, (offer,), row = result
        if is_new:
            room.live.add(Answer(row, None, False, None, now))
        room.asking.hold(person.id, offer)

    return room.store.keep(work, after)


def payload(room: Room, offer: Offer) -> dict[str, Any]:
    """What a page is told of an item; nothing of why it is shown."""
    one = room.live.items[offer.item]
    told = item_payload(one) | {"shown": offer.shown}
    if offer.arm == "before":
        told["suggested"] = list(room.suggestions[offer.item].classes)
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
