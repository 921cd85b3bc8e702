"""The application: its routes, and the guard in front of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from plausible.web import ask, pages
from plausible.web.doors import form_of, message, page, sign_in
from plausible.web.guard import Guard
from plausible.web.people import COOKIE, find_invitation, join
from plausible.web.room import Room

STATIC = Path(__file__).parent / "static"
FILES = {
    "ask.js": "text/javascript",
    "pages.js": "text/javascript",
    "style.css": "text/css",
    "icon.png": "image/png",
}


async def static(request: Request) -> Response:
    """A script, the style, the icon."""
    name = request.path_params["name"]
    if name not in FILES:
        return message(request, "There is no such file", "", 404)
    headers = {"cache-control": "no-cache"}
    return FileResponse(STATIC / name, media_type=FILES[name], headers=headers)


async def health(request: Request) -> Response:
    """Whether answers can be kept."""
    trouble = request.app.state.room.store.trouble
    return JSONResponse({"ok": trouble is None}, 200 if trouble is None else 503)


async def invited(request: Request) -> Response:
    """A page with a button: link previews must not use an invitation up."""
    room: Room = request.app.state.room
    token = request.path_params["token"]
    if not room.limits.joins.take(request.client.host if request.client else ""):
        return message(request, "This is too fast", "Wait a minute.", 429)
    with room.store.read() as connection:
        found = find_invitation(connection, token)
    if found is None:
        return message(request, "This invitation cannot be used",
                       "It is used up or too old; ask for another one.", 404)  # fmt: skip
    if request.method == "GET":
        return page("join.html", request, role=found.role, problem="")
    name = (await form_of(request)).get("name", "")
    try:
        person = await room.store.keep(lambda connection: join(connection, token, name))
    except ValueError as error:
        return page("join.html", request, role=found.role, problem=str(error), status=400)
    if person is None:
        return message(request, "This invitation cannot be used", "It is used up.", 404)
    room.meet()
    return sign_in(room, person, RedirectResponse("/", 303))


async def leave(request: Request) -> Response:
    """Sign out of this browser."""
    response = RedirectResponse("/", 303)
    response.delete_cookie(COOKIE, path="/")
    return response


async def missing(request: Request, error: Exception) -> Response:
    """What is not there."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    words = {404: "There is no such page", 405: "This cannot be done here"}
    return message(request, words.get(status, "This did not work"), "", status)


async def failed(request: Request, error: Exception) -> Response:
    """A fault of ours: one line on the terminal, and one in the browser."""
    request.app.state.tell(f"{type(error).__name__} on {request.url.path}: {error}")
    return message(request, "Something went wrong here", "The answer stays in the browser.", 500)


def routes() -> list[Route]:
    """All routes."""
    return [
        Route("/answer", ask.post_answer, methods=["POST"]),  # first, as it is asked for most
        Route("/", ask.enter),
        Route("/later", ask.post_answer, methods=["POST"]),
        Route("/undo", ask.post_undo, methods=["POST"]),
        Route("/look", ask.post_look, methods=["POST"]),
        Route("/next", ask.next_page),
        Route("/media/{item:int}", ask.media),
        Route("/static/{name}", static),
        Route("/healthz", health),
        Route("/join/{token}", invited, methods=["GET", "POST"]),
        Route("/leave", leave, methods=["POST"]),
        *pages.routes(),
    ]


def make_app(room: Room, tell: Callable[[str], Any] = print) -> Starlette:
    """The application of a room, for a server of your own.

    Parameters
    ----------
    room : Room
    tell : function
        Takes lines for the terminal.

    Examples
    --------
    >>> import tempfile
    >>> from plausible.web import Room, make_app, open_study
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     room = Room(open_study({"text": ["a"]}, ["oak", "elm"], db=f"{folder}/t.db"))
    ...     app = make_app(room)
    ...     room.close()
    >>> [route.path for route in app.routes][:2]
    ['/answer', '/']
    """
    app = Starlette(
        routes=routes(),
        middleware=[Middleware(Guard, hosts=room.settings.hosts)],
        exception_handlers={HTTPException: missing, Exception: failed},
    )
    app.state.room, app.state.tell = room, tell
    return app
