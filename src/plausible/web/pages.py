"""Pages beside the one that asks."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plausible.web.doors import for_role, page
from plausible.web.markdown import to_html
from plausible.web.people import Person
from plausible.web.room import Room


@for_role("annotator")
def guide(request: Request, room: Room, person: Person) -> Response:
    """What is asked, and how to answer."""
    has_practice = bool(room.live.practice.any())
    return page("guide.html", request, person, guide=to_html(room.study.guide),
                has_practice=has_practice)  # fmt: skip


def routes() -> list[Route]:
    """Routes of these pages."""
    return [Route("/guide", guide)]
