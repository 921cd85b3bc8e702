"""What is asked: the classes, the words, the items, and how they get into the database."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from plausible.errors import InputError
from plausible.experts import SUPPORT
from plausible.web import schema
from plausible.web.schema import as_json
from plausible.web.store import Store

KEYS = "123456789adefghipqrstuvwxyz"  # of classes; the other letters have a meaning of their own
WORD_KEYS = "jkl"
KINDS = ("text", "image", "audio", "row")
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif")
SOUNDS = (".wav", ".mp3", ".ogg", ".oga", ".flac")
TEXT_LIMIT = 20_000  # letters of an item that are shown
MOST_PRACTICE = 10
OPTIONS: dict[str, Any] = {
    "answers": 1,  # people who should answer about an item
    "gold": 0.05,  # shares of the questions
    "repeat": 0.03,
    "random": 0.1,
    "least": 0.02,  # bits that another answer should teach
    "suggest": "never",
    "words": True,
    "names": True,  # of people, where reviewers read what they said
    "rename": {},
    "seed": 0,
}


@dataclass(frozen=True)
class Study:
    """A question about items, in its present version."""

    id: int
    title: str
    question: str
    guide: str
    classes: tuple[str, ...]
    help: tuple[str, ...]
    words: dict[str, float]
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    def key(self, place: int) -> str:
        """The key of a class; nothing beyond those that there are."""
        return KEYS[place] if place < len(KEYS) else ""


@dataclass(frozen=True, slots=True)
class Item:
    """Something to ask about."""

    id: int
    name: str
    kind: str
    content: str
    media: str | None
    gold: str | None
    practice: bool


def check_classes(classes: Sequence[str]) -> list[str]:
    """Two or more different names."""
    names = [str(name).strip() for name in classes]
    if len(set(names)) < max(len(names), 2) or not all(names):
        raise InputError(
            "classes should be two or more different names",
            f"are {', '.join(names) or 'none'}",
            parameter="classes",
        )
    return names


def load_study(store: Store) -> Study | None:
    """The present version of what a database asks; None where it is empty."""
    table = schema.study
    with store.read() as connection:
        row = connection.execute(sa.select(table).order_by(table.c.id.desc()).limit(1)).first()
    if row is None:
        return None
    classes = json.loads(row.classes)
    return Study(
        row.id,
        row.title,
        row.question,
        row.guide,
        tuple(one["name"] for one in classes),
        tuple(one.get("help", "") for one in classes),
        {one["name"]: one["support"] for one in json.loads(row.words)},
        OPTIONS | json.loads(row.options),
    )


def save_study(
    store: Store,
    classes: Sequence[str],
    *,
    title: str = "",
    question: str = "Which is it?",
    guide: str = "",
    help: Mapping[str, str] | None = None,  # noqa: A002
    words: Mapping[str, float] = SUPPORT,
    options: Mapping[str, Any] | None = None,
) -> Study:
    """Keep what is asked; a new version where something differs from the last one."""
    names = check_classes(classes)
    before = load_study(store)
    chosen = (OPTIONS if before is None else before.options) | dict(options or {})
    _check_kept(store, before, names, chosen["rename"])
    row = {
        "title": title,
        "question": question,
        "guide": guide,
        "classes": as_json([{"name": n, "help": (help or {}).get(n, "")} for n in names]),
        "words": as_json([{"name": n, "support": s} for n, s in words.items()]),
        "options": as_json(chosen),
    }
    told = (title, question, guide, tuple(names), dict(words), chosen)
    if before is None or told != (
        before.title, before.question, before.guide, before.classes, before.words, before.options
    ):  # fmt: skip
        kept = store.write(
            lambda connection: (
                connection.execute(schema.study.insert(), row | {"at": time.time()}) and None
            )
        )
        kept.result()
    found = load_study(store)
    assert found is not None
    return found


def _check_kept(
    store: Store, before: Study | None, names: Sequence[str], renamed: Mapping[str, str]
) -> None:
    """Refuse to lose a class that somebody has named."""
    if before is None:
        return
    gone = [name for name in before.classes if name not in (*names, *renamed)]
    if not gone:
        return
    table = schema.answer
    with store.read() as connection:
        picks = connection.execute(sa.select(table.c.picks).distinct()).scalars()
        used = {name for cell in picks for name in json.loads(cell)}
    lost = [name for name in gone if name in used]
    if lost:
        raise InputError(
            "Classes that have answers should stay",
            f"{lost[0]!r} was left out",
            "name it again, or say what it is called now, with rename",
            parameter="classes",
        )


def load_items(store: Store) -> list[Item]:
    """All items, in their order."""
    table = schema.item
    columns = [table.c[name] for name in Item.__dataclass_fields__]
    with store.read() as connection:
        return [Item(*row) for row in connection.execute(sa.select(*columns).order_by(table.c.id))]


def save_items(store: Store, items: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Add items whose names are new; the number of these, and of others that now look different."""
    known = {one.name: one for one in load_items(store)}
    seen = [(known[one["name"]], one) for one in items if one["name"] in known]
    changed = sum(
        (old.kind, old.content, old.media) != (one["kind"], one["content"], one.get("media"))
        for old, one in seen
    )
    blank = {"media": None, "gold": None, "practice": False}
    new = [blank | dict(one) for one in items if one["name"] not in known]

    def work(connection: sa.Connection) -> int:
        for start in range(0, len(new), 1000):
            connection.execute(schema.item.insert(), new[start : start + 1000])
        return len(new)

    return int(store.write(work).result()), changed


def save_gold(store: Store, gold: Mapping[str, str], classes: Sequence[str]) -> int:
    """Keep the classes of items that are known; a few of these are for practice."""
    strange = [name for name in gold.values() if name not in classes]
    if strange:
        raise InputError(
            "Known classes should be among those that are asked",
            f"{strange[0]!r} is not",
            "correct it, or add the class",
            parameter="gold",
        )
    known = {one.name: one for one in load_items(store)}
    found = [name for name in gold if name in known]
    if gold and not found:
        raise InputError(
            "Items with known classes should be among those that are asked",
            f"{next(iter(gold))!r} is not",
            "check the names of the items",
            parameter="gold",
        )
    new = [name for name in found if known[name].gold is None]
    n_practice = min(MOST_PRACTICE, len(found) // 4) - sum(one.practice for one in known.values())

    def work(connection: sa.Connection) -> None:
        for number, name in enumerate(new):
            connection.execute(
                schema.item.update()
                .where(schema.item.c.name == name)
                .values(gold=gold[name], practice=number < n_practice)
            )

    store.write(work).result()
    return len(found)


def items_of_table(
    columns: Mapping[str, Sequence[Any]],
    *,
    name: str | None = None,
    text: str | None = None,
    image: str | None = None,
    audio: str | None = None,
) -> tuple[list[dict[str, Any]], str]:
    """Items of the rows of a table, and a word on how they were read."""
    for asked in (name, text, image, audio):
        if asked is not None and asked not in columns:
            raise InputError(
                f"The table of items should have a column {asked!r}",
                f"it has {', '.join(map(repr, columns))}",
            )
    name = name or _name_column(columns)
    rest = [column for column in columns if column != name]
    if image is None and audio is None and text is None:
        image, audio = (_column_of(files, rest, columns) for files in (PICTURES, SOUNDS))
        audio = None if image else audio
    media = image or audio
    if media is None and text is None:
        texts = [column for column in rest if column.lower() in ("text", "sentence", "content")]
        text = texts[0] if texts else rest[0] if len(rest) == 1 else None
    kind = "image" if image else "audio" if audio else "text" if text else "row"
    n_rows = len(next(iter(columns.values())))
    names = [str(one) for one in columns[name]] if name else [str(k + 1) for k in range(n_rows)]
    if len(set(names)) < n_rows:
        twice = next(one for one in names if names.count(one) > 1)
        raise InputError(
            "Items should have different names",
            f"{twice!r} comes twice in column {name!r}",
            "name another column with --id",
        )
    items = []
    for row in range(n_rows):
        shown = {c: _cell(columns[c][row]) for c in rest if c not in (image, audio)}
        content = shown.get(text, "") if text and kind == "text" else as_json(shown)
        items.append(
            {
                "name": names[row],
                "kind": kind,
                "content": content,
                "media": None if media is None else str(columns[media][row]),
            }
        )
    told = f"items are named by {name!r}" if name else "items are named by their rows"
    what = {"image": image, "audio": audio, "text": text}.get(kind)
    return items, f"{told}, and shown as {kind if what is None else f'{kind} ({what!r})'}"


def _column_of(
    endings: tuple[str, ...], names: Sequence[str], columns: Mapping[str, Sequence[Any]]
) -> str | None:
    """The first column in which all cells are names of files that end so."""
    for name in names:
        cells = columns[name]
        if cells and all(isinstance(c, str) and c.lower().endswith(endings) for c in cells):
            return name
    return None


def items_of_folder(folder: Path) -> tuple[list[dict[str, Any]], str] | None:
    """Items of the pictures and sounds in a folder, and a word on them; None if it has none."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] != ".")
    kinds = {
        path: "image" if path.suffix.lower() in PICTURES else "audio"
        for path in files
        if path.suffix.lower() in PICTURES + SOUNDS
    }
    if not kinds:
        return None
    items = [
        {"name": path.name, "kind": kind, "content": "{}", "media": f"{folder.name}/{path.name}"}
        for path, kind in kinds.items()
    ]
    others = len(files) - len(items)
    left = f"; {others} other files are left out" if others else ""
    return items, f"items are the pictures and sounds of the folder{left}"


def _name_column(columns: Mapping[str, Sequence[Any]]) -> str | None:
    """The column that names items: one called so, if its cells differ."""
    for wanted in ("item", "id", "name", "key"):
        for column, cells in columns.items():
            if column.lower() == wanted and len(set(cells)) == len(cells) and None not in cells:
                return column
    return None


def _cell(value: Any) -> str:
    """A cell as text."""
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
