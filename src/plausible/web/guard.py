"""What is refused before anything is done: foreign hosts and origins, long bodies, haste.

A request that changes something comes from our own page: browsers say so in ``Sec-Fetch-Site``, and
where they do not, ``Origin`` must name this host. Every response has the same strict headers.
"""

import time
from collections.abc import Collection, Mapping
from typing import Any

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
LONGEST_BODY = 64 * 1024
LOCAL = ("localhost", "127.0.0.1", "[::1]")
SAFE = ("GET", "HEAD", "OPTIONS")


def host_of(text: str) -> str:
    """A host without its port."""
    return text.rpartition(":")[0] if text.rpartition(":")[2].isdigit() else text


def is_foreign(method: str, headers: Mapping[str, str]) -> bool:
    """Whether a request that changes something may come from another site.

    Examples
    --------
    >>> is_foreign("POST", {"host": "a", "sec-fetch-site": "same-origin"})
    False
    >>> is_foreign("POST", {"host": "a", "origin": "http://b"})
    True
    """
    if method in SAFE:
        return False
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = headers.get("origin")
    if origin is None:
        return False  # no browser leaves both out
    return origin.partition("://")[2] != headers.get("host")


class Bucket:
    """A limit on how often somebody may do something: so many at once, so many in a second."""

    def __init__(self, most: float, rate: float) -> None:
        self.most, self.rate = most, rate
        self.left: dict[Any, tuple[float, float]] = {}

    def take(self, who: Any, now: float | None = None) -> bool:
        """Whether they may once more."""
        now = time.monotonic() if now is None else now
        left, at = self.left.get(who, (self.most, now))
        left = min(self.most, left + (now - at) * self.rate)
        may = left >= 1
        self.left[who] = (left - may, now)
        if len(self.left) > 10_000:
            self.left = dict(list(self.left.items())[-5_000:])
        return may


class Guard:
    """Middleware that refuses, and adds the headers."""

    def __init__(
        self, app: ASGIApp, hosts: Collection[str] | None = None, longest: int = LONGEST_BODY
    ) -> None:
        self.app, self.hosts, self.longest = app, hosts, longest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"], *(one for one in RAW_HEADERS if one[0] not in names)
                ]  # fmt: skip
            await send(message)

        refused = self._refuse(scope)
        if refused is not None:
            await refused(scope, receive, send_with_headers)
            return
        await self.app(scope, self._limited(scope, receive), send_with_headers)

    def _refuse(self, scope: Scope) -> Response | None:
        first = reversed(scope["headers"])  # where a name comes twice, the first one counts
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in first}
        if self.hosts is not None and host_of(headers.get("host", "")) not in self.hosts:
            return PlainTextResponse("This host is not served here.", 421)
        if is_foreign(scope["method"], headers):
            return PlainTextResponse("Requests from other sites are refused.", 403)
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self._longest(scope):
            return PlainTextResponse("This is too long.", 413)
        return None

    def _longest(self, scope: Scope) -> int:
        """Exports of other tools may be longer than answers."""
        return 256 * self.longest if scope["path"] == "/import" else self.longest

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        seen = 0

        async def receive_some() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._longest(scope):
                raise TooLongError
            return message

        return receive_some


class TooLongError(Exception):
    """A body without a length that goes on and on."""
