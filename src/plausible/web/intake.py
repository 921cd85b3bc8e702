"""Answers that come in: from a table of our own, any other table, or an export of another tool."""

import csv
import hashlib
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from plausible.errors import InputError
from plausible.experts import CANNOT_TELL, NONE_OF_THESE
from plausible.io import SETTLED, read_annotations, standing
from plausible.web.exchange import HEADS
from plausible.web.people import ROLES, find_or_add
from plausible.web.room import told
from plausible.web.saving import ODDS, insert_once
from plausible.web.schema import as_json
from plausible.web.store import Store
from plausible.web.study import Study, load_items, load_study

Said = dict[str, Any]  # item, person, kind, picks, level, word, numbers, comment, seconds
PART = re.compile(r'"(?:[^"\\]|\\.)*"(?=\||$)|[^|]+')


def take_in(store: Store, source: Any, by: str = "annotator") -> int:
    """Add answers from a table or an export; those that are there already add nothing."""
    assert by in ROLES
    study = load_study(store)
    assert study is not None
    rows = list(own_table(source, study) if is_own(source) else any_table(source, study))
    items = {one.name: one.id for one in load_items(store)}
    unknown = [row["item"] for row in rows if row["item"] not in items]
    if unknown:
        raise InputError(
            "Answers should be about the items of the study", f"{unknown[0]!r} is none of them",
            "correct the names of the items",
        )  # fmt: skip
    people = {name: find_or_add(store, name, by).id for name in {row["person"]: 0 for row in rows}}
    there = {
        (row.item, row.person): (row.kind, json.loads(row.picks), row.word)
        for row in standing(told(store).rows)
    }
    new = [
        _stored(row, items, people, study)
        for row in rows
        if there.get((items[row["item"]], people[row["person"]]))
        != (row["kind"], row["picks"], row["word"])
    ]

    def work(connection: sa.Connection) -> int:
        parts = (new[start : start + 1000] for start in range(0, len(new), 1000))
        kept = (one for part in parts for one in insert_once(connection, part))
        return len({number for number, is_new in kept if is_new})

    return int(store.write(work).result())


def _check_classes(names: Any, study: Study) -> None:
    strange = [name for name in names if name not in study.classes]
    if strange:
        raise InputError(
            "Answers should be about the classes of the study",
            f"{strange[0]!r} is none of them",
            "rename it in the file, or add the class",
        )


def _stored(row: Said, items: dict[str, int], people: dict[str, int], study: Study) -> Said:
    """An answer as it is stored."""
    told_once = json.dumps([row[name] for name in ("item", "person", "kind", "picks", "word")])
    return row | {
        "token": hashlib.sha256(told_once.encode()).hexdigest()[:48], "item": items[row["item"]],
        "person": people[row["person"]], "shown": None, "study": study.id,
        "picks": as_json(row["picks"]), "saw_suggestion": False, "replaces": None,
        "client_at": None, "at": time.time(),
    }  # fmt: skip


# -- Tables of our own -----------------------------------------------------------------------------


def is_own(source: Any) -> bool:
    """Whether a file is a table that this study, or another one, has written."""
    if not isinstance(source, str | Path) or Path(source).suffix.lower() != ".csv":
        return False
    try:
        with open(source, encoding="utf-8", newline="") as file:
            return set(HEADS) <= set(next(csv.reader(file), []))
    except (OSError, ValueError, csv.Error):
        return False


def own_table(source: Any, study: Study) -> Iterator[Said]:
    """Answers of a table of our own, with all that was said."""
    with open(source, encoding="utf-8", newline="") as file:
        for number, cells in enumerate(csv.DictReader(file, restval=""), 1):
            label, word = cells["label"], cells["word"] or None
            if cells["annotator"] == SETTLED:
                continue
            kind = {CANNOT_TELL: "cannot", NONE_OF_THESE: "none"}.get(label, "said")
            picks = names_in(label) if kind == "said" else []
            _check_classes(picks, study)
            if kind == "said" and not picks:
                raise InputError(
                    "A table of answers should have a label in every row",
                    f"it is empty in row {number}", "fill it, or drop the row",
                )  # fmt: skip
            odds = [int(one) for one in cells["odds"].split(" to ") if one.isdecimal()]
            is_fit = len(odds) == len(picks) > 1 and set(odds) <= set(ODDS)
            yield {
                "item": cells["item"], "person": cells["annotator"], "kind": kind, "picks": picks,
                "level": cells["equally"] == "yes", "word": word if word in study.words else None,
                "numbers": as_json(odds) if is_fit else None, "comment": cells["comment"] or None,
                "seconds": _seconds(cells["seconds"]),
            }  # fmt: skip


def _seconds(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if 0 <= found <= 1e6 else None


def names_in(label: str) -> list[str]:
    """The classes of a cell, in their order.

    Examples
    --------
    >>> names_in('oak|"elm|ash"|birch')
    ['oak', 'elm|ash', 'birch']
    """
    return [json.loads(one) if one[0] == '"' and "|" in one else one for one in PART.findall(label)]


# -- Any other -------------------------------------------------------------------------------------


def nearest_word(support: float, study: Study) -> str:
    """The word that is worth about as much as this."""
    return min(study.words, key=lambda name: abs(study.words[name] - support))


def any_table(source: Any, study: Study) -> Iterator[Said]:
    """Answers of any table or export that can be read; doubts become the nearest words."""
    given = read_annotations(source, classes=None)
    names = [str(name) for name in given.classes.tolist()]
    _check_classes(names, study)
    for k in range(len(given)):
        person = str(given.annotators[given.annotator[k]])
        if person == SETTLED:
            continue
        contour = given.contours[given.statement[k]]
        order = np.argsort(-contour, kind="stable")
        picks = [names[c] for c in order if contour[c] > 0]
        kind = "none" if not picks else "cannot" if contour.min() == 1 else "said"
        picks = picks if kind == "said" else []
        word = None
        if given.doubt is not None and kind != "cannot" and study.options["words"]:
            word = nearest_word(1 - float(given.doubt[k]), study)
        yield {
            "item": str(given.items[given.item[k]]), "person": person, "kind": kind,
            "picks": picks, "word": word, "numbers": None, "comment": None, "seconds": None,
            "level": bool(len(picks) > 1 and (contour[contour > 0] == 1).all()),
        }  # fmt: skip
