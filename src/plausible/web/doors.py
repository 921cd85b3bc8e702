"""How a request reaches a page: who asks, whether they may, and what they are told if not."""

import asyncio
import functools
import json
from collections.abc import Awaitable, Callable
from typing import Any

import jinja2
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from plausible.errors import InputError
from plausible.web.guard import TooLongError
from plausible.web.people import COOKIE, SESSION_DAYS, Person, find_or_add
from plausible.web.room import Room
from plausible.web.saving import ForbiddenError, GoneError
from plausible.web.store import AwayError

Page = Callable[[Request, Room, Person], Any]
NAV = (
    ("/", "Ask", "annotator"),
    ("/mine", "My answers", "annotator"),
    ("/guide", "Guide", "annotator"),
    ("/overview", "Overview", "reviewer"),
    ("/clashes", "Clashes", "reviewer"),
    ("/items", "Items", "reviewer"),
    ("/people", "People", "manager"),
    ("/exchange", "In and out", "manager"),
    ("/report", "Report", "reviewer"),
)
templates = jinja2.Environment(
    loader=jinja2.PackageLoader("plausible.web"), autoescape=True, trim_blocks=True,
    lstrip_blocks=True, undefined=jinja2.StrictUndefined,
)  # fmt: skip


def _cells(content: str) -> dict[str, str]:
    """The cells of a row of a table."""
    try:
        found = json.loads(content or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


templates.filters["cells"] = _cells


def page(name: str, request: Request, person: Person | None = None, **values: Any) -> HTMLResponse:
    """A page of a template."""
    room: Room = request.app.state.room
    nav = [(path, text) for path, text, role in NAV if person is not None and person.may(role)]
    status = values.pop("status", 200)
    html = templates.get_template(name).render(
        study=room.study, person=person, nav=nav, path=request.url.path, **values
    )
    return HTMLResponse(html, status)


def message(request: Request, title: str, text: str, status: int) -> Response:
    """A page for those who look at one, or JSON, that says one thing."""
    title = title.rstrip(".")
    is_page = request.method == "GET" or "text/html" in request.headers.get("accept", "")
    if not is_page or request.url.path.endswith(".json"):
        return JSONResponse({"error": f"{title}. {text}".strip()}, status)
    person = request.app.state.room.person_of(request.cookies.get(COOKIE))
    return page("message.html", request, person, title=title, text=text, status=status)


def who_asks(request: Request) -> Person | None:
    """The person of a request."""
    room: Room = request.app.state.room
    settings = room.settings
    if settings.trust_header is not None and request.client is not None:
        name = request.headers.get(settings.trust_header, "").strip()
        if name and request.client.host == settings.trusted_proxy:
            found = next((one for one in room.people.values() if one.name == name), None)
            if found is None:
                found = find_or_add(room.store, name, "annotator")
                room.meet()
            return found
    return room.person_of(request.cookies.get(COOKIE))


def for_role(role: str) -> Callable[[Page], Callable[[Request], Awaitable[Response]]]:
    """A page for people of a role; others are refused, and errors become words."""

    def decorate(function: Page) -> Callable[[Request], Awaitable[Response]]:
        waits = asyncio.iscoroutinefunction(function)

        @functools.wraps(function)
        async def endpoint(request: Request) -> Response:
            try:
                person = await run_in_threadpool(who_asks, request) if _asks_proxy(
                    request) else who_asks(request)  # fmt: skip
                if person is None:
                    return message(
                        request, "You are not signed in",
                        "Open the link that you were given once more.", 401,
                    )  # fmt: skip
                if not person.may(role):
                    return message(request, "This page is not for you", f"It is for {role}s.", 403)
                room: Room = request.app.state.room
                if waits:
                    found = await function(request, room, person)
                else:
                    found = await run_in_threadpool(function, request, room, person)
                assert isinstance(found, Response)
                return found
            except Exception as error:
                return in_words(request, error)

        endpoint.role = role  # type: ignore[attr-defined]
        return endpoint

    return decorate


def _asks_proxy(request: Request) -> bool:
    return request.app.state.room.settings.trust_header is not None


def in_words(request: Request, error: Exception) -> Response:
    """What went wrong, and the status that says so."""
    if isinstance(error, ForbiddenError):
        return message(request, str(error), "", 403)
    if isinstance(error, GoneError):
        return message(request, str(error), "", 404)
    if isinstance(error, InputError):
        return message(request, str(error), "", 400)
    if isinstance(error, TooLongError):
        return message(request, "This is too long", "", 413)
    if isinstance(error, AwayError):
        request.app.state.tell(f"The database cannot be written to: {error}")
        return message(request, "The database is away", "Your answer stays in the browser.", 503)
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)
    raise error


async def json_of(request: Request) -> dict[str, Any]:
    """The object of JSON that a request brings."""
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise InputError("A request should bring JSON", "it does not") from None
    if not isinstance(found, dict):
        raise InputError("A request should bring an object of JSON", "it does not")
    return found


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form."""
    from urllib.parse import parse_qsl

    body = (await request.body()).decode("utf-8", "replace")
    return dict(parse_qsl(body, keep_blank_values=True, max_num_fields=100))


def sign_in(room: Room, person: Person, response: Response) -> Response:
    """Give somebody a cookie."""
    response.set_cookie(
        COOKIE, room.sessions.sign(person), max_age=SESSION_DAYS * 86400, httponly=True,
        samesite="lax", secure=room.settings.secure, path="/",
    )  # fmt: skip
    return response
