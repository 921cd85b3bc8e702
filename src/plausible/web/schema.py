"""Tables of the database, triggers that keep what was said, and steps from older versions.

Rows of `answer`, `shown`, `settlement` and `event` never change: triggers refuse UPDATE and DELETE.
What is taken back or changed is a new row, so that any past state can be had again.
"""

import json
import secrets
from typing import Any

import sqlalchemy as sa

from plausible.errors import InputError

VERSION = 2
APPEND_ONLY = ("answer", "shown", "settlement", "event")

metadata = sa.MetaData()
number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _key() -> sa.Column[Any]:
    return sa.Column("id", number, primary_key=True, autoincrement=True)


def _of(table: str) -> sa.Column[Any]:
    return sa.Column(table, number, sa.ForeignKey(f"{table}.id"), nullable=False)


def _at() -> sa.Column[Any]:
    return sa.Column("at", sa.Float(53), nullable=False)  # seconds since 1970, by the server


meta = sa.Table(
    "meta",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
study = sa.Table(
    "study",
    metadata,
    _key(),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("guide", sa.Text, nullable=False),
    sa.Column("classes", sa.Text, nullable=False),
    sa.Column("words", sa.Text, nullable=False),
    sa.Column("options", sa.Text, nullable=False),
    _at(),
)
item = sa.Table(
    "item",
    metadata,
    _key(),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("media", sa.Text),
    sa.Column("gold", sa.Text),
    sa.Column("practice", sa.Boolean, nullable=False, default=False),
)
person = sa.Table(
    "person",
    metadata,
    _key(),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("session", sa.Integer, nullable=False, default=0),
    sa.Column("left_at", sa.Float(53)),
    _at(),
)
invitation = sa.Table(
    "invitation",
    metadata,
    _key(),
    sa.Column("token_hash", sa.Text, nullable=False, unique=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("uses_left", sa.Integer, nullable=False),
    sa.Column("expires_at", sa.Float(53), nullable=False),
    sa.Column("made_by", number),
)
shown = sa.Table(
    "shown",
    metadata,
    _key(),
    _of("item"),
    _of("person"),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("value", sa.Float(53)),
    sa.Column("suggestion", number),
    sa.Column("arm", sa.Text),
    _at(),
)
answer = sa.Table(
    "answer",
    metadata,
    _key(),
    sa.Column("token", sa.Text, nullable=False, unique=True),
    _of("item"),
    _of("person"),
    sa.Column("shown", number),
    sa.Column("study", number, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("picks", sa.Text, nullable=False),
    sa.Column("level", sa.Boolean, nullable=False),
    sa.Column("word", sa.Text),
    sa.Column("numbers", sa.Text),
    sa.Column("comment", sa.Text),
    sa.Column("seconds", sa.Float(53)),
    sa.Column("saw_suggestion", sa.Boolean, nullable=False, default=False),
    sa.Column("replaces", number),
    sa.Column("client_at", sa.Float(53)),
    _at(),
)
settlement = sa.Table(
    "settlement",
    metadata,
    _key(),
    _of("item"),
    _of("person"),
    sa.Column("label", sa.Text, nullable=False),  # JSON list of classes, "open" or "again"
    sa.Column("why", sa.Text, nullable=False),
    sa.Column("upto", number, nullable=False),
    sa.Column("comment", sa.Text),
    _at(),
)
model_run = sa.Table(
    "model_run",
    metadata,
    _key(),
    sa.Column("digest", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("upto", number, nullable=False),
    _at(),
)
suggestion = sa.Table(
    "suggestion",
    metadata,
    _key(),
    sa.Column("model_run", number, sa.ForeignKey("model_run.id"), nullable=False),
    _of("item"),
    sa.Column("contour", sa.Text, nullable=False),
    sa.Column("classes", sa.Text, nullable=False),  # JSON list: those that are not ruled out
    sa.Column("refused", sa.Boolean, nullable=False),
)
event = sa.Table(
    "event",
    metadata,
    _key(),
    sa.Column("person", number),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("previous", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    _at(),
)
sa.Index("answer_by_person", answer.c.person, answer.c.id)
sa.Index("shown_by_person", shown.c.person, shown.c.id)

REFUSE = "rows of {table} are never changed"
POSTGRES_FUNCTION = """
CREATE OR REPLACE FUNCTION plausible_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING MESSAGE = 'rows of ' || TG_TABLE_NAME || ' are never changed';
END $$"""


def triggers(dialect: str) -> list[str]:
    """Statements that make the triggers."""
    if dialect == "sqlite":
        made = [
            f"CREATE TRIGGER IF NOT EXISTS {table}_no_{name} BEFORE {when} "
            f"BEGIN SELECT RAISE(ABORT, '{REFUSE.format(table=table)}'); END"
            for table in APPEND_ONLY
            for name, when in (
                ("update", f"UPDATE ON {table}"),
                ("delete", f"DELETE ON {table}"),
                # INSERT OR REPLACE deletes rows of which no trigger hears.
                ("replace", f"INSERT ON {table} WHEN EXISTS (SELECT 1 FROM {table} "
                            "WHERE id = NEW.id)"),
            )
        ]  # fmt: skip
        made.append(
            "CREATE TRIGGER IF NOT EXISTS answer_once BEFORE INSERT ON answer WHEN EXISTS "
            "(SELECT 1 FROM answer WHERE token = NEW.token) BEGIN SELECT RAISE(IGNORE); END"
        )
        return made
    made = [POSTGRES_FUNCTION]
    for table in APPEND_ONLY:
        for name, when, each in (
            ("rows", "UPDATE OR DELETE", "ROW"),
            ("table", "TRUNCATE", "STATEMENT"),
        ):
            made.append(
                f"CREATE OR REPLACE TRIGGER {table}_append_only_{name} BEFORE {when} ON {table} "
                f"FOR EACH {each} EXECUTE FUNCTION plausible_append_only()"
            )
    return made


def version_of(connection: sa.Connection) -> int | None:
    """The version of the tables; None where there are none."""
    if not sa.inspect(connection).has_table("meta"):
        return None
    found = connection.execute(sa.select(meta.c.value).where(meta.c.name == "version")).scalar()
    return None if found is None else int(found)


def prepare(connection: sa.Connection) -> None:
    """Make the tables, or bring those of an older version up to date."""
    version = version_of(connection)
    if version is not None and version > VERSION:
        raise InputError(
            f"The database should be of version {VERSION} or older",
            f"it is of version {version}",
            "install a newer plausible",
        )
    for step in range(version or VERSION, VERSION):
        STEPS[step](connection)
    metadata.create_all(connection)
    for statement in triggers(connection.dialect.name):
        connection.exec_driver_sql(statement)
    if version is None:
        keep = [("version", str(VERSION)), ("secret", secrets.token_hex(32))]
        connection.execute(meta.insert(), [{"name": n, "value": v} for n, v in keep])
    elif version < VERSION:
        connection.execute(meta.update().where(meta.c.name == "version").values(value=str(VERSION)))


def _with_suggestions(connection: sa.Connection) -> None:
    """Version 1 had no suggestions of a model."""
    for words in (
        "ALTER TABLE shown ADD COLUMN suggestion BIGINT",
        "ALTER TABLE shown ADD COLUMN arm TEXT",
        "ALTER TABLE answer ADD COLUMN saw_suggestion BOOLEAN NOT NULL DEFAULT FALSE",
    ):
        connection.exec_driver_sql(words)


STEPS = {1: _with_suggestions}


def as_json(value: Any) -> str:
    """JSON for a column of text."""
    return json.dumps(value, ensure_ascii=False)
