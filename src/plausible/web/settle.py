"""Items about which people clash, or of which nobody can tell; and settling them."""

import time
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import sqlalchemy as sa
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from plausible.errors import InputError
from plausible.io import Settled
from plausible.web import schema
from plausible.web.doors import for_role, page
from plausible.web.figures import STATES, conflicts, states
from plausible.web.people import Person, log
from plausible.web.room import Room, nameless
from plausible.web.saving import GoneError, item_payload
from plausible.web.schema import as_json

WHY = ("a slip", "the guide is unclear", "the item is unclear", "truly open")
MOST = 100  # items in a list
SAYS = {"cannot": "cannot tell", "none": "none of these", "broken": "broken"}


@for_role("reviewer")
def clashes(request: Request, room: Room, person: Person) -> Response:
    """Items in conflict, and apart from them those that stay open."""
    room.look_again()
    live = room.live
    with live.lock:
        state, conflict = states(live), conflicts(live)
        clash = np.flatnonzero(state == STATES.index("clash"))
        clash = clash[np.argsort(-conflict[clash], kind="stable")]
        unknown = np.flatnonzero(state == STATES.index("unknown"))
        lists = {
            name: [line(room, int(row), float(conflict[row])) for row in rows[:MOST]]
            for name, rows in (("clash", clash), ("unknown", unknown))
        }
    return page("clashes.html", request, person, n_clash=len(clash), n_unknown=len(unknown),
                **lists)  # fmt: skip


def line(room: Room, row: int, conflict: float) -> dict[str, Any]:
    """An item in a list."""
    live, one = room.live, room.live.items[row]
    contour = live.contours(np.array([row]))[0]
    order = np.argsort(-contour, kind="stable")
    best = [room.study.classes[k] for k in order if contour[k] > 0.5]
    return {
        "id": one.id, "name": one.name, "content": one.content[:120] if one.kind == "text" else "",
        "count": int(live.count[row]), "conflict": conflict, "possible": best[:4],
        "n_possible": len(best), "settled": row in live.settled,
    }  # fmt: skip


@for_role("reviewer")
def clash(request: Request, room: Room, person: Person) -> Response:
    """One item: who said what, what follows, and how to settle it."""
    place = room.live.place.get(request.path_params["item"])
    if place is None:
        raise GoneError("There is no such item.")
    look(room, person, place)
    live = room.live
    with live.lock:
        told = [_said(room, row) for row in live.standing(place)]
        numbers = [int(live.answers["id"][row]) for row in live.standing(place)]
        contour = live.contours(np.array([place]))[0].tolist()
        values = line(room, place, float(conflicts(live)[place]))
        settled = live.settled.get(place)
        conflict = conflicts(live)
        alike = [line(room, row, float(conflict[row])) for row in room.similar.to(place)]
    comments = comments_on(room, live.items[place].id)
    for one, number in zip(told, numbers, strict=True):
        one["comment"] = comments.get(number, "")
    bars = sorted(zip(room.study.classes, contour, strict=True), key=lambda one: -one[1])
    return page(
        "clash.html", request, person, item=item_payload(live.items[place]), said=told, bars=bars,
        values=values, why=WHY, settled=settled, gold=live.items[place].gold, alike=alike,
    )  # fmt: skip


def look(room: Room, person: Person, place: int) -> None:
    """Who reads what others said about an item is not asked about it any more."""
    if room.live.done_by(person.id)[place] or room.live.seen_by(person.id)[place]:
        return
    row = {"item": room.live.items[place].id, "person": person.id, "reason": "review",
           "value": None, "suggestion": None, "arm": None, "at": time.time()}  # fmt: skip
    room.store.write(lambda c: c.execute(schema.shown.insert(), row) and None).result()
    room.live.seen_by(person.id)[place] = True
    room.asking.release(person.id, place)


def comments_on(room: Room, item: int) -> dict[int, str]:
    """What people remarked on an item, by the numbers of their answers."""
    table = schema.answer
    query = sa.select(table.c.id, table.c.comment).where(
        (table.c.item == item) & table.c.comment.is_not(None)
    )
    with room.store.read() as connection:
        return {int(row.id): str(row.comment) for row in connection.execute(query)}


def _said(room: Room, row: int) -> dict[str, Any]:
    """An answer in words."""
    live = room.live
    kind = ("said", "cannot", "none", "broken")[int(live.answers["kind"][row])]
    said = live.statements[int(live.answers["statement"][row])]
    names = [room.study.classes[k] for k in said.picks]
    word = int(live.answers["word"][row])
    number = int(live.answers["person"][row])
    who = live.people.get(number, "?") if room.study.options["names"] else nameless(number)
    return {
        "who": who, "names": names if kind == "said" else [], "kind": SAYS.get(kind, ""),
        "level": said.level, "word": live.words[word] if word >= 0 else "",
        "seconds": float(live.answers["seconds"][row]),
    }  # fmt: skip


@for_role("reviewer")
async def settle(request: Request, room: Room, person: Person) -> Response:
    """Keep what was settled: a class, a set, "truly open", or that another answer is wanted."""
    fields = parse_qsl((await request.body()).decode("utf-8", "replace"), max_num_fields=200)
    given = dict(fields)
    place = room.live.place.get(int(given["item"]) if given.get("item", "").isdigit() else -1)
    if place is None:
        raise GoneError("There is no such item.")
    what, names = given.get("what"), [value for name, value in fields if name == "label"]
    if what == "settle":
        if not names or not set(names) <= set(room.study.classes):
            came = "others came" if names else "none came"
            raise InputError("What is settled should be some of the classes", came, "choose some")
        label = as_json([name for name in room.study.classes if name in names])
    elif what in ("open", "again"):
        label = what
    else:
        raise InputError("what should be settle, open or again", f"is {what!r}")
    why = "truly open" if label == "open" else given.get("why", "")
    if label != "again" and why not in WHY:
        raise InputError(f"why should be one of {', '.join(WHY)}", f"is {why!r}")
    upto = room.live.upto
    row = {"item": room.live.items[place].id, "person": person.id, "label": label, "why": why,
           "upto": upto, "comment": given.get("comment", "")[:2000] or None,
           "at": time.time()}  # fmt: skip
    kept = Settled(room.live.items[place].id, label, upto)

    def work(connection: sa.Connection) -> None:
        connection.execute(schema.settlement.insert(), row)
        log(connection, person.id, "settle", {"item": row["item"], "label": label, "why": why})

    await room.store.keep(work, lambda _: room.live.settle(kept))
    return RedirectResponse("/clashes", 303)
