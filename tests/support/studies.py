"""Small studies that are being answered, without a socket."""

import json
import re
from itertools import count

import numpy as np
from starlette.testclient import TestClient

from plausible import web
from plausible.web.guard import Bucket
from plausible.web.people import invite

CLASSES = ["oak", "elm", "ash", "birch"]  # not sorted
TOKEN = "t" * 32
numbers = count()


def new_token():
    return f"token-{next(numbers):012d}"


def open_room(path, n_items=12, *, items=None, seed=0, gold=None, media=None, **options):
    """A room with items, in which people can be signed in."""
    table = items or {
        "item": [f"tree {k}" for k in range(n_items)],
        "text": [f"Leaf number {k} & <b>bark</b>" for k in range(n_items)],
    }
    columns = {name: options.pop(name, None) for name in ("text", "image", "audio")}
    store = web.open_study(
        table, CLASSES, db=str(path), gold=gold, columns=columns,
        options={"gold": 0.0, "repeat": 0.0, "random": 0.0} | options,
    )  # fmt: skip
    settings = web.Settings(local_token=TOKEN, hosts=("testserver",), media=media)
    return generous(web.Room(store, settings, seed))


def generous(room):
    """A room in which nobody is too fast; tests of the limit set one of their own."""
    room.limits.answers = Bucket(1e6, 1.0)
    return room


def with_model(path, how, n_items=60, **options):
    """A study with a model that suggests elm everywhere, and perhaps ash."""
    room = open_room(path, n_items, suggest=how, **options)
    names = [one.name for one in room.live.items]
    contour = np.tile([0.2, 0.8, 0.6, 0.1], (n_items, 1))
    web.save_suggestions(room.store, names, contour, CLASSES, "0" * 64)
    return generous(web.Room(room.store, room.settings, 0))


class Visitor:
    """Somebody in a browser."""

    def __init__(self, room, name=None, role="annotator"):
        self.room = room
        self.client = TestClient(web.make_app(room, lambda line: None), follow_redirects=False)
        self.person = None
        if name is not None:
            self.person = web.find_or_add(room.store, name, role)
            room.meet()
            self.client.cookies.set("plausible_session", room.sessions.sign(self.person))

    def get(self, path, **more):
        return self.client.get(path, **more)

    def post(self, path, body=None, **more):
        return self.client.post(path, json=body or {}, **more)

    def state(self):
        """What the page that asks is told."""
        text = self.get("/").text
        return json.loads(re.search(r'id="state">(.*?)</script>', text, re.DOTALL)[1])

    def say(self, item, picks=(), word="sure", kind="said", **more):
        """Answer about an item; the reply."""
        body = {"token": new_token(), "item": item, "kind": kind, "picks": list(picks)}
        body |= {"word": word if kind == "said" else None, "seconds": 2.0} | more
        return self.post("/answer", body)

    def answer_all(self, choose, most=1000):
        """Answer until nothing is left; `choose` gives picks and word of an item."""
        said = {}
        while (items := self.state()["items"]) and len(said) < most:
            picks, word = choose(items[0])
            reply = self.say(items[0]["id"], picks, word)
            assert reply.status_code == 200, reply.text
            said[items[0]["name"]] = picks, word
        return said


def invitation(room, role="annotator", uses=1, days=1.0):
    """The token of a new invitation."""
    return room.store.write(lambda c: invite(c, role, uses, None, days)).result()
