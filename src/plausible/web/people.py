"""Who is who: roles, sessions, invitations.

Only the hash of an invitation is stored. A session is a signed cookie with the person's session
number, which changes when somebody is to be signed out everywhere.
"""

import hashlib
import hmac
import json
import secrets
import time
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from itsdangerous import BadSignature, URLSafeTimedSerializer

from plausible.errors import InputError
from plausible.io import SETTLED
from plausible.web import schema
from plausible.web.store import Store

ROLES = ("annotator", "reviewer", "manager")  # each may do what those before it may
COOKIE = "plausible_session"
SESSION_DAYS = 90
INVITATION_DAYS = 14
LONGEST_NAME = 60
MOST_KNOWN = 10_000  # cookies whose signature need not be looked at again


@dataclass(frozen=True)
class Person:
    """Somebody who may answer."""

    id: int
    name: str
    role: str
    session: int

    def may(self, role: str) -> bool:
        """Whether they may do what a role may."""
        return ROLES.index(self.role) >= ROLES.index(role)


def secret_of(store: Store) -> str:
    """The secret by which cookies are signed."""
    with store.read() as connection:
        chosen = sa.select(schema.meta.c.value).where(schema.meta.c.name == "secret")
        return str(connection.execute(chosen).scalar_one())


class Sessions:
    """Signed cookies."""

    def __init__(self, secret: str) -> None:
        self.signer = URLSafeTimedSerializer(secret, salt="session")
        self.known: dict[str, tuple[tuple[int, int], float]] = {}

    def sign(self, person: Person) -> str:
        """The content of a cookie."""
        return str(self.signer.dumps([person.id, person.session]))

    def read(self, cookie: str) -> tuple[int, int] | None:
        """Person and session number; None if the cookie is not ours, or too old."""
        found, until = self.known.get(cookie, ((0, 0), 0.0))
        if time.monotonic() < until:
            return found
        try:
            person, session = self.signer.loads(cookie, max_age=SESSION_DAYS * 86400)
        except (BadSignature, ValueError, TypeError):
            return None
        if len(self.known) > MOST_KNOWN:
            self.known.clear()
        self.known[cookie] = (int(person), int(session)), time.monotonic() + 600
        return int(person), int(session)


def people_of(store: Store) -> dict[int, Person]:
    """Everybody who has not left."""
    table = schema.person
    with store.read() as connection:
        rows = connection.execute(
            sa.select(table.c.id, table.c.name, table.c.role, table.c.session).where(
                table.c.left_at.is_(None)
            )
        )
        return {row.id: Person(*row) for row in rows}


def check_name(name: str) -> str:
    """A name that can be shown."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable() or name == SETTLED:
        raise InputError(
            f"A name should have 1 to {LONGEST_NAME} letters, and not be {SETTLED!r}",
            f"is {name!r}",
            "choose another",
            parameter="name",
        )
    return name


def add_person(connection: sa.Connection, name: str, role: str) -> Person:
    """Somebody new; refused if the name is taken."""
    table = schema.person
    taken = connection.execute(sa.select(table.c.id).where(table.c.name == name)).first()
    if taken is not None:
        raise InputError(
            "People should have different names", f"{name!r} is taken", "add a letter to it",
            parameter="name",
        )  # fmt: skip
    row = {"name": name, "role": role, "session": 1, "left_at": None, "at": time.time()}
    made = connection.execute(table.insert().returning(table.c.id), row).scalar_one()
    log(connection, made, "person", {"name": name, "role": role})
    return Person(made, name, role, 1)


def find_or_add(store: Store, name: str, role: str) -> Person:
    """The person of a name, who is added if need be; the role is raised, never lowered."""
    name = check_name(name)
    found = next((one for one in people_of(store).values() if one.name == name), None)
    if found is None:
        made: Person = store.write(lambda connection: add_person(connection, name, role)).result()
        return made
    if not found.may(role):
        store.write(lambda connection: set_role(connection, found.id, role, found.id)).result()
        return Person(found.id, name, role, found.session)
    return found


def set_role(connection: sa.Connection, person: int, role: str, by: int) -> None:
    """Give somebody another role."""
    table = schema.person
    connection.execute(table.update().where(table.c.id == person).values(role=role))
    log(connection, by, "role", {"person": person, "role": role})


def sign_out(connection: sa.Connection, person: int, by: int) -> None:
    """End all sessions of somebody."""
    table = schema.person
    connection.execute(
        table.update().where(table.c.id == person).values(session=table.c.session + 1)
    )
    log(connection, by, "sign out", {"person": person})


def digest(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def invite(
    connection: sa.Connection,
    role: str,
    uses: int,
    by: int | None,
    days: float = INVITATION_DAYS,
) -> str:
    """A new invitation; its token, which nobody can read again."""
    token = secrets.token_urlsafe(32)
    connection.execute(
        schema.invitation.insert(),
        {
            "token_hash": digest(token), "role": role, "uses_left": uses, "made_by": by,
            "expires_at": time.time() + days * 86400,
        },
    )  # fmt: skip
    log(connection, by, "invitation", {"role": role, "uses": uses, "days": days})
    return token


def find_invitation(connection: sa.Connection, token: str) -> Any:
    """The invitation of a token that can be used; None if there is none, or it is used up."""
    table = schema.invitation
    row = connection.execute(sa.select(table).where(table.c.token_hash == digest(token))).first()
    return row if row is not None and row.uses_left > 0 and row.expires_at > time.time() else None


def join(connection: sa.Connection, token: str, name: str) -> Person | None:
    """Use an invitation; None if it cannot be."""
    found = find_invitation(connection, token)
    if found is None:
        return None
    table = schema.invitation
    person = add_person(connection, check_name(name), found.role)
    connection.execute(
        table.update().where(table.c.id == found.id).values(uses_left=table.c.uses_left - 1)
    )
    return person


def log(connection: sa.Connection, person: int | None, kind: str, body: Any) -> None:
    """Add to the chain of events, each of which holds the hash of the one before it."""
    table = schema.event
    last = connection.execute(sa.select(table.c.hash).order_by(table.c.id.desc()).limit(1)).scalar()
    row = {"person": person, "kind": kind, "body": json.dumps(body), "at": time.time()}
    row["previous"] = last or ""
    row["hash"] = event_hash(row)
    connection.execute(table.insert(), row)


def event_hash(row: Any) -> str:
    """The hash of an event."""
    words = [row["previous"], row["person"], row["kind"], row["body"], repr(row["at"])]
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()


def same(one: str, other: str) -> bool:
    """Whether two secrets are equal, in a time that tells nothing."""
    return hmac.compare_digest(one.encode(), other.encode())
