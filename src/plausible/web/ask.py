"""The page that asks, and what it sends back."""

import asyncio
import json
from typing import Any

import sqlalchemy as sa
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response

from plausible.web import schema
from plausible.web.asking import Offer
from plausible.web.doors import for_role, json_of, page, sign_in
from plausible.web.ledger import SAID
from plausible.web.media import find_media
from plausible.web.people import Person, same
from plausible.web.room import Room
from plausible.web.saving import (
    GoneError,
    item_payload,
    keep_shown,
    look,
    next_offers,
    payload,
    progress,
    save,
    undo,
)
from plausible.web.study import WORD_KEYS

TELL_WORDS = 10  # answers of a person, after which the buttons are written anew
ENOUGH_OWN = 20  # answers about known items with a word, from which a person's own share is shown


async def enter(request: Request) -> Response:
    """The page that asks; the token of this machine's link is turned into a cookie."""
    room: Room = request.app.state.room
    token, settings = request.query_params.get("token"), room.settings
    if token is not None and settings.local_token is not None and settings.local_person is not None:
        if not same(token, settings.local_token):
            return page("message.html", request, title="This link is not valid",
                        text="Use the one that the command has printed.", status=401)  # fmt: skip
        person = room.people[settings.local_person]
        return sign_in(room, person, RedirectResponse("/", 303))
    return await ask(request)


@for_role("annotator")
async def ask(request: Request, room: Room, person: Person) -> Response:
    """The page that asks, with the first items."""
    hold_again(room, person, request.query_params.get("item", ""))
    offers = await show(room, person)
    study = room.study
    state = {
        "study": f"{room.name}#{person.id}",
        "person": person.id,
        "classes": [
            {"name": name, "key": study.key(k), "help": study.help[k]}
            for k, name in enumerate(study.classes)
        ],
        "words": words_for(room, person),
        "use_words": bool(study.options["words"]),
        "items": [payload(room, one, person) for one in offers],
        "progress": progress(room, person),
        "last": last_actions(room, person),
    }
    return page("ask.html", request, person, state=as_data(state), words=state["words"],
                classes=state["classes"])  # fmt: skip


def hold_again(room: Room, person: Person, item: str) -> None:
    """Put an item first that somebody has answered about and wants to change."""
    place = room.live.place.get(int(item)) if item.isdigit() else None
    if place is not None and room.live.done_by(person.id)[place]:
        held = room.asking.open.pop(person.id, {})
        room.asking.hold(person.id, Offer(place, "chosen", 0.0))
        room.asking.open[person.id] |= {k: one for k, one in held.items() if k != place}


async def show(room: Room, person: Person) -> list[Offer]:
    """Items for a page that has none, kept as shown."""
    offers = next_offers(room, person, {}, None)

    def after(kept: list[Offer]) -> None:
        for one in kept:
            room.show(person.id, one)

    shown = [(person.id, one) for one in offers]
    kept: list[Offer] = await room.store.keep(lambda c: keep_shown(c, room, shown), after)
    return kept


def as_data(value: Any) -> str:
    """JSON that can stand inside a page."""
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def words_for(room: Room, person: Person) -> list[dict[str, str]]:
    """The words on the buttons, with what they are worth."""
    live = room.live
    own = own_shares(room, person)
    found = []
    for place, word in enumerate(live.words):
        hits, count = own[place]
        share = live.worth.share(place)
        told = in_ten(share)
        if live.worth.calibration is None and place == len(live.words) - 1:
            told = "little better than luck"
        if count >= ENOUGH_OWN:
            told = f"yours: {hits} of {count}"
        key = WORD_KEYS[place] if place < len(WORD_KEYS) else ""
        found.append({"name": word, "key": key, "told": told})
    return found


def in_ten(share: float) -> str:
    """How often a word is right, as it stands on its button.

    Examples
    --------
    >>> in_ten(0.68), in_ten(0.1), in_ten(0.97), in_ten(0.01)
    ('right 7 times in 10', 'right 1 time in 10', 'nearly always right', 'hardly ever right')
    """
    count = round(10 * share)
    if count in (0, 10):
        return "nearly always right" if count else "hardly ever right"
    return f"right {count} time{'s' if count > 1 else ''} in 10"


def own_shares(room: Room, person: Person) -> list[tuple[int, int]]:
    """How often the words of a person were right, about items whose class is known."""
    live, found = room.live, [[0, 0] for _ in room.live.words]
    with live.lock:
        for item, (true, upto) in live.known().items():
            row = live.top.get(item << 20 | person.id, -1)
            if row < 0 or live.answers["id"][row] <= upto or live.answers["kind"][row] != SAID:
                continue
            word = int(live.answers["word"][row])
            if word >= 0:
                said = live.statements[int(live.answers["statement"][row])]
                found[word][0] += true in said.picks
                found[word][1] += 1
    return [(hits, count) for hits, count in found]


def last_actions(room: Room, person: Person, count: int = 20) -> list[dict[str, Any]]:
    """What somebody did last and did not take back, the latest first."""
    table = schema.answer
    with room.store.read() as connection:
        rows = connection.execute(
            sa.select(table).where(table.c.person == person.id).order_by(table.c.id.desc()).limit(
                4 * count)
        ).all()  # fmt: skip
    gone = {row.replaces for row in rows if row.kind == "undone"}
    kept = [row for row in rows if row.kind != "undone" and row.id not in gone][:count]
    return [
        {
            "token": row.token,
            "item": item_payload(room.live.items[room.live.place[row.item]]) | {"shown": None},
            "picks": json.loads(row.picks),
            "level": bool(row.level),
            "comment": row.comment or "",
        }
        for row in kept
    ]


@for_role("annotator")
async def post_answer(request: Request, room: Room, person: Person) -> Response:
    """Keep an answer; the reply has what comes next."""
    if not room.limits.answers.take(person.id):
        return JSONResponse({"error": "This is too fast."}, 429)
    body = await json_of(request)
    if request.scope["path"] == "/later":
        body["kind"] = "later"
    reply = await save(room, person, body)
    if room.is_stale():
        asyncio.get_running_loop().run_in_executor(None, room.look_again)
    done = progress(room, person)
    return JSONResponse(
        {
            "answer": reply.answer,
            "next": [payload(room, one, person) for one in reply.offers],
            "progress": done,
            "words": words_for(room, person) if done["done"] % TELL_WORDS == 0 else None,
            "after": reply.after,
        }
    )


@for_role("annotator")
async def post_undo(request: Request, room: Room, person: Person) -> Response:
    """Take back what was said last."""
    if not room.limits.answers.take(person.id):
        return JSONResponse({"error": "This is too fast."}, 429)
    reply = await undo(room, person, await json_of(request))
    return JSONResponse(
        {"answer": reply.answer, "next": [], "progress": progress(room, person),
         "item": payload(room, reply.offers[0], person)}
    )  # fmt: skip


@for_role("annotator")
async def post_look(request: Request, room: Room, person: Person) -> Response:
    """Tell what the model says of an item, to somebody who asks for it."""
    if not room.limits.answers.take(person.id):
        return JSONResponse({"error": "This is too fast."}, 429)
    found = await look(room, person, (await json_of(request)).get("item"))
    return JSONResponse({"suggested": found})


@for_role("annotator")
async def next_page(request: Request, room: Room, person: Person) -> Response:
    """More items for a page that has run out, as leases of others have ended."""
    offers = await show(room, person)
    return JSONResponse(
        {"next": [payload(room, one, person) for one in offers], "progress": progress(room, person)}
    )


@for_role("annotator")
def media(request: Request, room: Room, person: Person) -> Response:
    """The picture or sound of an item that somebody was shown."""
    number = request.path_params["item"]
    place = room.live.place.get(number)
    if place is None or not (
        person.may("reviewer")
        or room.asking.is_held(person.id, place)
        or room.live.practice[place]
        or was_shown(room, person, number)
    ):
        raise GoneError("There is no such item.")
    found = find_media(room.settings.media, room.live.items[place].media)
    if found is None:
        raise GoneError("There is no such picture or sound.")
    path, kind = found
    headers = {
        "content-security-policy": "default-src 'none'; sandbox",
        "cache-control": "private, max-age=3600",
    }
    return FileResponse(path, media_type=kind, headers=headers)


def was_shown(room: Room, person: Person, item: int) -> bool:
    """Whether somebody was ever shown an item."""
    table = schema.shown
    with room.store.read() as connection:
        mine = (table.c.person == person.id) & (table.c.item == item)
        return connection.execute(sa.select(table.c.id).where(mine).limit(1)).first() is not None
