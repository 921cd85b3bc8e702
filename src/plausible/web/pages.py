"""Pages beside the one that asks."""

import csv
import io
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from plausible.errors import InputError
from plausible.io import annotations_of
from plausible.report import render, summarize
from plausible.web import schema, settle
from plausible.web.doors import for_role, form_of, page
from plausible.web.exchange import (
    doccano,
    file_name,
    label_studio,
    safe_cell,
    table_of,
    write_out,
)
from plausible.web.figures import STATES, conflicts, elicited, of_people, overview, states
from plausible.web.intake import take_in
from plausible.web.markdown import to_html
from plausible.web.people import ROLES, Person, invite, set_role, sign_out
from plausible.web.room import Room, nameless, read_answers, told
from plausible.web.saving import GoneError, item_payload

MOST = 200  # rows of a list
REPORT_CSP = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "frame-ancestors 'none'; sandbox"
)


@for_role("annotator")
def guide(request: Request, room: Room, person: Person) -> Response:
    """What is asked, and how to answer."""
    has_practice = bool(room.live.practice.any())
    return page("guide.html", request, person, guide=to_html(room.study.guide),
                has_practice=has_practice)  # fmt: skip


@for_role("annotator")
async def practice(request: Request, room: Room, person: Person) -> Response:
    """Items whose truth is shown after the answer, which is not kept."""
    rows = np.flatnonzero(room.live.practice)
    asked = request.query_params.get("n", "0")
    number = int(asked) if asked.isdecimal() and len(asked) < 9 else 0
    if number >= len(rows):
        return page("practice.html", request, person, item=None, number=number, total=len(rows),
                    said=None, truth=None)  # fmt: skip
    said, truth = None, None
    one = room.live.items[int(rows[number])]
    if request.method == "POST":
        said, truth = (await form_of(request)).get("class", ""), one.gold
    return page("practice.html", request, person, item=item_payload(one), number=number,
                total=len(rows), said=said, truth=truth)  # fmt: skip


@for_role("annotator")
def mine(request: Request, room: Room, person: Person) -> Response:
    """What somebody said, the latest first."""
    wanted = request.query_params.get("q", "").strip().lower()
    table, live = schema.answer, room.live
    with live.lock:
        rows = [row for pair, row in live.top.items() if pair & 0xFFFFF == person.id]
        ids = sorted((int(live.answers["id"][row]) for row in rows), reverse=True)
    lines = []
    with room.store.read() as connection:
        for start in range(0, len(ids), 500):
            found = connection.execute(
                sa.select(table).where(table.c.id.in_(ids[start : start + 500]))
                .order_by(table.c.id.desc())
            )  # fmt: skip
            lines += [_my_line(room, row) for row in found]
            lines = [one for one in lines if wanted in one["all"].lower()]
            if len(lines) >= MOST:
                break
    return page("mine.html", request, person, lines=lines[:MOST], total=len(ids), wanted=wanted)


def _my_line(room: Room, row: Any) -> dict[str, Any]:
    one = room.live.items[room.live.place[row.item]]
    label = " or ".join(json.loads(row.picks)) or settle.SAYS.get(row.kind, row.kind)
    content = one.content[:160] if one.kind == "text" else ""
    return {
        "item": one.id, "name": one.name, "content": content, "label": label,
        "word": row.word or "", "comment": row.comment or "",
        "all": f"{one.name} {content} {label} {row.word} {row.comment or ''}",
    }  # fmt: skip


@for_role("reviewer")
def show_overview(request: Request, room: Room, person: Person) -> Response:
    """Where the study stands."""
    now = overview(room)
    return page("overview.html", request, person, now=now, elicited=elicited(room.live))


@for_role("reviewer")
def overview_json(request: Request, room: Room, person: Person) -> Response:
    """The same in numbers, with a tag: nothing is sent again that is known."""
    tag = f'"{room.live.upto}-{len(room.live.settled)}-{int(room.live.extra.sum())}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"etag": tag})
    return JSONResponse(overview(room), headers={"etag": tag, "cache-control": "no-cache"})


@for_role("reviewer")
def items(request: Request, room: Room, person: Person) -> Response:
    """All items, by words in them and by their state."""
    wanted = request.query_params.get("q", "").strip().lower()
    state = request.query_params.get("state", "")
    live = room.live
    with live.lock:
        found, conflict = states(live), conflicts(live)
        rows = [
            row for row, one in enumerate(live.items)
            if (not state or STATES[found[row]] == state)
            and (not wanted or wanted in one.name.lower() or wanted in one.content.lower())
        ]  # fmt: skip
        lines = [
            settle.line(room, row, float(conflict[row])) | {"state": STATES[found[row]]}
            for row in rows[:MOST]
        ]
    return page("items.html", request, person, lines=lines, total=len(rows), wanted=wanted,
                state=state, states=STATES)  # fmt: skip


@for_role("manager")
def people(request: Request, room: Room, person: Person, link: str = "") -> Response:
    """Who answers, how well, and how to invite others."""
    return page("people.html", request, person, people=of_people(room), roles=ROLES, link=link)


@for_role("manager")
async def change_people(request: Request, room: Room, person: Person) -> Response:
    """Invite, give a role, end sessions."""
    given, what = await form_of(request), request.path_params["what"]
    link = ""
    if what == "invite":
        role, uses = given.get("role", ""), given.get("uses", "")
        if role not in ROLES or not uses.isdigit() or not 0 < int(uses) <= 1000:
            raise InputError("An invitation should have a role, and 1 to 1000 uses")
        token = room.store.write(lambda c: invite(c, role, int(uses), person.id)).result()
        link = f"{request.url.scheme}://{request.headers['host']}/join/{token}"
    elif what in ("role", "out"):
        number = int(given["person"]) if given.get("person", "").isdigit() else -1
        if number not in room.people:
            raise GoneError("There is no such person.")
        if what == "out":
            room.store.write(lambda c: sign_out(c, number, person.id)).result()
        elif given.get("role") not in ROLES or number == person.id:
            raise InputError("A role should be one of these, and of somebody else",
                             f"is {given.get('role')!r}")  # fmt: skip
        else:
            room.store.write(lambda c: set_role(c, number, given["role"], person.id)).result()
        room.meet()
    else:
        raise GoneError("There is no such page.")
    return page("people.html", request, person, people=of_people(room), roles=ROLES, link=link)


@for_role("manager")
def exchange(request: Request, room: Room, person: Person) -> Response:
    """In and out."""
    return page("exchange.html", request, person, upto=room.live.upto)


@for_role("manager")
def export(request: Request, room: Room, person: Person) -> Response:
    """The answers as a file."""
    form, as_of = request.query_params.get("as", "csv"), request.query_params.get("as_of", "")
    upto = int(as_of) if as_of.isdigit() else None
    if form == "csv":
        safe = request.query_params.get("spreadsheet") == "on"
        return _download(_csv(table_of(room.store, upto), safe), "text/csv", "answers.csv")
    if form == "masses":
        with tempfile.TemporaryDirectory(prefix="plausible-") as folder:
            path = write_out(room.store, f"{folder}/answers.csv", as_of=upto, full=True)
            return _download(Path(path).read_bytes(), "text/csv", "answers.csv")
    if form == "label-studio":
        text = json.dumps(label_studio(room.store, upto), ensure_ascii=False)
        return _download(text, "application/json", "answers.label-studio.json")
    if form == "doccano":
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
            for who, lines in doccano(room.store, upto).items():
                text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
                file.writestr(f"{file_name(who)}.jsonl", text)
        return _download(packed.getvalue(), "application/zip", "answers.doccano.zip")
    raise InputError("as should be csv, masses, label-studio or doccano", f"is {form!r}")


def _csv(columns: dict[str, list[Any]], safe: bool) -> str:
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(columns)
    for cells in zip(*columns.values(), strict=True):
        writer.writerow(["" if c is None else safe_cell(c) if safe else c for c in cells])
    return text.getvalue()


def _download(text: str | bytes, kind: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=kind, headers=headers)


@for_role("manager")
async def take(request: Request, room: Room, person: Person) -> Response:
    """Add answers from a file."""
    body = await request.body()
    name = Path(request.headers.get("x-file-name", "answers.csv")).name

    def work() -> int:
        with tempfile.TemporaryDirectory(prefix="plausible-") as folder:
            path = Path(folder) / (name or "answers.csv")
            path.write_bytes(body)
            return take_in(room.store, path)

    count = await run_in_threadpool(work)
    room.meet()
    for answer in read_answers(room.store, room.live.upto):
        room.live.add(answer)
    return JSONResponse({"taken": count})


@for_role("reviewer")
def report(request: Request, room: Room, person: Person) -> Response:
    """The report as it stands now."""
    found = told(room.store)
    if not room.study.options["names"]:
        found = found._replace(people={number: nameless(number) for number in found.people})
    answers = annotations_of(found)
    contents = {one.name: one.content for one in room.live.items if one.kind == "text"}
    names = answers.items.tolist()
    summary = summarize(
        annotations=answers,
        title=room.study.title or room.study.question,
        texts=[contents.get(name) for name in names] if contents else None,
    )
    return HTMLResponse(render(summary), headers={"content-security-policy": REPORT_CSP})


def routes() -> list[Route]:
    """Routes of these pages."""
    return [
        Route("/guide", guide),
        Route("/practice", practice, methods=["GET", "POST"]),
        Route("/mine", mine),
        Route("/overview", show_overview),
        Route("/overview.json", overview_json),
        Route("/clashes", settle.clashes),
        Route("/clashes/{item:int}", settle.clash),
        Route("/settle", settle.settle, methods=["POST"]),
        Route("/items", items),
        Route("/people", people),
        Route("/people/{what}", change_people, methods=["POST"]),
        Route("/exchange", exchange),
        Route("/export", export),
        Route("/import", take, methods=["POST"]),
        Route("/report", report),
    ]
