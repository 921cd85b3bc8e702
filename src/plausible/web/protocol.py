"""Replies leave in one piece: a head and a body that follow each other are sent together.

asyncio sends what is written at once, so that a reply of two parts costs two calls of the system;
uvloop waits until there is nothing else to do, and so does this.
"""

import asyncio
from typing import Any


class Joined:
    """A transport that sends what was written in one turn of the event loop as one piece."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self.transport, self.loop = transport, loop
        self.parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)

    def write(self, data: bytes) -> None:
        """Send soon, with what follows."""
        if not self.parts:
            self.loop.call_soon(self.flush)
        self.parts.append(data)

    def flush(self) -> None:
        """Send what waits."""
        if self.parts:
            self.transport.write(b"".join(self.parts))
            self.parts.clear()

    def close(self) -> None:
        """Send what waits, and close."""
        self.flush()
        self.transport.close()


def joined_protocol(plain: type[Any]) -> type[Any]:
    """A protocol of uvicorn whose replies leave in one piece."""

    class Protocol(plain):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(Joined(transport, self.loop))

    return Protocol
