"""A study on a real socket, in a thread."""

import threading
from contextlib import contextmanager

import uvicorn

from plausible import web
from plausible.web.guard import LOCAL
from plausible.web.server import listen


class Served:
    """A room that can go away and come back at the same port."""

    def __init__(self, room, port=0):
        self.room, self.port = room, port
        room.settings.hosts = (*LOCAL, "testserver")
        self.start()

    def start(self):
        """Serve."""
        self.socket = listen("127.0.0.1", self.port)
        self.port = self.socket.getsockname()[1]
        self.base = f"http://127.0.0.1:{self.port}"
        config = uvicorn.Config(
            web.make_app(self.room, lambda line: None), log_level="critical", lifespan="off",
            timeout_graceful_shutdown=1,
        )  # fmt: skip
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(
            target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True
        )
        self.thread.start()

    def stop(self):
        """Go away; the room stays."""
        self.server.should_exit = True
        self.thread.join(20)
        self.socket.close()

    def link(self, name, role="annotator"):
        """An address that signs somebody in."""
        person = web.find_or_add(self.room.store, name, role)
        self.room.meet()
        self.room.settings.local_token = "t" * 32
        self.room.settings.local_person = person.id
        return f"{self.base}/?token={'t' * 32}"


@contextmanager
def serving(room):
    """A room on a socket, for as long as the block lasts."""
    served = Served(room)
    try:
        yield served
    finally:
        served.stop()
        room.close()
