"""The database of `plausible annotate`, read as a table of answers.

A row of it is a set of classes with its mass by the statement of one answer (see
`plausible.experts.saying`), beside the doubt of that answer. What was taken back or said anew does
not count, and words have the doubts that items with known classes give them.
"""

import json
import sqlite3
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plausible.experts import (
    CANNOT_TELL,
    NONE_OF_THESE,
    Annotations,
    Statement,
    Worth,
    masses_of,
    worth_before,
    worth_learned,
)
from plausible.io.label_names import write_name
from plausible.tables import DATABASE, MemorySource, TableError, add_reader

SETTLED = "settled"  # who says what was settled
SETTLED_DOUBT = 0.01
OPEN = "open"  # what is settled as truly open
NEWEST = 2  # version of the tables that is known here
GOES_ON = ("said", "cannot", "none")


class Row(NamedTuple):
    """An answer as it is stored."""

    id: int
    item: int
    person: int
    kind: str
    picks: str
    level: bool
    word: str | None
    numbers: str | None
    replaces: int | None


class Settled(NamedTuple):
    """What was settled about an item, with the last answer that was there."""

    item: int
    label: str
    upto: int


class Told(NamedTuple):
    """All that is needed to make annotations of a database."""

    classes: list[str]
    words: dict[str, float]
    items: dict[int, str]
    people: dict[int, str]
    gold: dict[int, str]
    rows: list[Row]
    settled: list[Settled]
    renamed: dict[str, str] = {}  # noqa: RUF012


def standing(rows: Iterable[Row]) -> list[Row]:
    """The last answer of each person about each item that was not taken back, if it is one.

    Examples
    --------
    >>> one = Row(1, 7, 1, "said", '["a"]', False, "sure", None, None)
    >>> two = one._replace(id=2, picks='["b"]', replaces=1)
    >>> back = one._replace(id=3, kind="undone", replaces=2)
    >>> [row.id for row in standing([one, two])], [row.id for row in standing([one, two, back])]
    ([2], [1])
    """
    rows = list(rows)
    gone = {row.replaces for row in rows if row.kind == "undone"}
    last: dict[tuple[int, int], Row] = {}
    for row in rows:
        if row.kind in (*GOES_ON, "broken") and row.id not in gone:
            last[row.item, row.person] = row
    kept = [row for row in last.values() if row.kind in GOES_ON]
    return sorted(kept, key=lambda row: row.id)


def statement_of(row: Row, places: Mapping[str, int]) -> Statement:
    """What a stored answer says, by the places of the classes (of old names as well)."""
    if row.kind == "cannot":
        return Statement(tuple(range(len(set(places.values())))), level=True)
    if row.kind == "none":
        return Statement(())
    odds = tuple(map(float, json.loads(row.numbers))) if row.numbers else ()
    picks = tuple(dict.fromkeys(places[name] for name in json.loads(row.picks)))
    return Statement(picks, bool(row.level), odds if len(odds) == len(picks) else ())


def places_of(classes: Sequence[str], renamed: Mapping[str, str]) -> dict[str, int]:
    """Where the classes stand, those with an old name included."""
    found = {name: place for place, name in enumerate(classes)}
    return found | {old: found[new] for old, new in renamed.items() if new in found}


def worth_in(told: Told, rows: Sequence[Row], statements: Sequence[Statement]) -> Worth:
    """What the words of a study are worth, from items whose class is known.

    A settled item shows it only by answers that came later than those the settler could read.
    """
    before = worth_before(told.words, len(told.classes))
    place = places_of(told.classes, told.renamed)
    known = {item: (place[name], 0) for item, name in told.gold.items() if name in place}
    for one in told.settled:
        names = settled_names(one.label)
        if len(names) == 1 and one.item not in told.gold and names[0] in place:
            known[one.item] = place[names[0]], one.upto
    chosen = [k for k, row in enumerate(rows) if row.item in known and row.id > known[row.item][1]]
    return worth_learned(
        before,
        word_numbers(told, [rows[k] for k in chosen]),
        [statements[k] for k in chosen],
        [told.people[rows[k].person] for k in chosen],
        np.array([known[rows[k].item][0] for k in chosen], dtype=np.int64),
    )


def settled_names(label: str) -> list[str]:
    """The classes that a settlement leaves; none where it is open, or was opened again."""
    return [str(name) for name in json.loads(label)] if label.startswith("[") else []


def word_numbers(told: Told, rows: Sequence[Row]) -> Any:
    """Places of words, -1 for none."""
    words = list(told.words)
    return np.array([words.index(r.word) if r.word in words else -1 for r in rows], dtype=np.int64)


def last_settled(told: Told) -> dict[int, Settled]:
    """What was settled last about each item."""
    return {one.item: one for one in told.settled}


def answer_columns(told: Told) -> dict[str, list[Any]]:
    """Columns item, annotator, label, mass and doubt; without masses where all are sets."""
    rows = standing(told.rows)
    n_classes = len(told.classes)
    places = places_of(told.classes, told.renamed)
    statements = [statement_of(row, places) for row in rows]
    worth = worth_in(told, rows, statements)
    size = np.array([len(said.picks) for said in statements], dtype=np.int64)
    people = [told.people[row.person] for row in rows]
    doubts = worth.doubts(word_numbers(told, rows), size, people)
    names = [write_name(name) for name in told.classes]
    found: list[tuple[str, str, str, float, float]] = []
    for row, said, doubt in zip(rows, statements, doubts.tolist(), strict=True):
        of = told.items[row.item], told.people[row.person]
        if row.kind == "cannot":
            found.append((*of, CANNOT_TELL, 1.0, 0.0))
            continue
        for members, mass in masses_of(said, n_classes, worth.lead_of(len(said.picks))).items():
            label = "|".join(names[k] for k in members) or NONE_OF_THESE
            found.append((*of, label, mass, doubt))
    for one in last_settled(told).values():
        label = "|".join(map(write_name, settled_names(one.label)))
        if label:
            found.append((told.items[one.item], SETTLED, label, 1.0, SETTLED_DOUBT))
    heads = ("item", "annotator", "label", "mass", "doubt")
    columns: dict[str, list[Any]] = {
        head: [line[k] for line in found] for k, head in enumerate(heads)
    }
    if all(mass == 1.0 for mass in columns["mass"]):
        del columns["mass"]
    return columns


def annotations_of(told: Told) -> Annotations:
    """The answers that stand, with the doubts that their words are worth."""
    columns = answer_columns(told)
    return Annotations.from_long(
        columns["item"],
        columns["annotator"],
        columns["label"],
        doubt=columns["doubt"],
        mass=columns.get("mass"),
        classes=told.classes,
    )


class DatabaseSource(MemorySource):
    """The answers of a database, as a table that knows its classes."""

    def __init__(self, content: Any) -> None:
        if content.path is not None:
            told = read_told(content.path, content.name)
        else:
            with tempfile.TemporaryDirectory(prefix="plausible-") as folder:
                path = Path(folder) / "answers.db"
                with content.open() as file:
                    path.write_bytes(file.read())
                told = read_told(path, content.name)
        columns = answer_columns(told)
        if not columns["item"]:
            raise TableError(
                f"{content.name} should hold answers", "there are none yet", "run plausible "
                "annotate, and answer some questions",
            )  # fmt: skip
        super().__init__(columns)
        self.name, self.classes = content.name, list(told.classes)


def read_told(path: Path, name: str, as_of: int | None = None) -> Told:
    """What a file of SQLite holds; refused if it is none of `plausible annotate`."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            return told_by(lambda words: database.execute(words).fetchall(), name, as_of)
    except sqlite3.Error as error:
        raise TableError(
            f"{name} should be a database of plausible annotate",
            f"it is another one, or damaged ({error})",
            "export the table of answers from it as CSV",
        ) from None


def told_by(ask: Any, name: str, as_of: int | None = None) -> Told:
    """What a database tells, by a function that runs a query of SQL."""
    version = int(ask("SELECT value FROM meta WHERE name = 'version'")[0][0])
    if version > NEWEST:
        raise TableError(
            f"{name} should be of version {NEWEST} or older",
            f"it is of version {version}",
            "install a newer plausible",
        )
    ((classes, words, options),) = ask(
        "SELECT classes, words, options FROM study ORDER BY id DESC LIMIT 1"
    )
    until = "" if as_of is None else f" WHERE {{}} <= {int(as_of)}"
    return Told(
        [one["name"] for one in json.loads(classes)],
        {one["name"]: float(one["support"]) for one in json.loads(words)},
        dict(ask("SELECT id, name FROM item")),
        dict(ask("SELECT id, name FROM person")),
        dict(ask("SELECT id, gold FROM item WHERE gold IS NOT NULL")),
        [Row(*row) for row in ask(
            "SELECT id, item, person, kind, picks, level, word, numbers, replaces FROM answer"
            f"{until.format('id')} ORDER BY id")],
        [Settled(*row) for row in ask(
            f"SELECT item, label, upto FROM settlement{until.format('upto')} ORDER BY id")],
        json.loads(options).get("rename", {}),
    )  # fmt: skip


def classes_in(table: Any, classes: Any) -> Any:
    """The classes that were asked for, or those that a table knows by itself."""
    return getattr(table, "classes", None) if classes is None else classes


add_reader(DATABASE, DatabaseSource)
