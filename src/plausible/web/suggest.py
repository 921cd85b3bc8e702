r"""What a model suggests, to whom it is shown, and how far that pulls them.

By a coin, each question shows the model's opinion before the answer, after it, or not at all. With
:math:`p_b` and :math:`p_h` the shares of answers that begin with what was suggested, where it was
shown before and where it was hidden, the pull is :math:`p_b - p_h`. Answers that saw a suggestion
are discounted by it wherever they are pooled together with the model.
"""

import hashlib
import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from plausible.errors import InputError
from plausible.web import schema
from plausible.web.schema import as_json
from plausible.web.store import Store
from plausible.web.study import load_items, load_study

ARMS = ("hidden", "after", "before")
POSSIBLE = 0.5  # plausibility from which a class is suggested
ENOUGH = 10  # answers in each arm, from which a pull is told
USUAL_PULL = 0.3  # before it is known
USUAL_DOUBT = 0.5  # in the model, before items with known classes show it


class Suggestion(NamedTuple):
    """What a model says of an item."""

    id: int
    classes: tuple[str, ...]
    contour: tuple[float, ...]


def digest_of(path: str | Path) -> str:
    """The hash of a model's file."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def save_suggestions(
    store: Store, names: Sequence[Any], contour: NDArray[Any], classes: Sequence[Any], digest: str
) -> int:
    """Keep what a model says of items; the number of these that are asked about."""
    study = load_study(store)
    assert study is not None
    strange = [str(name) for name in classes if str(name) not in study.classes]
    if strange:
        raise InputError(
            "The model should know the classes that are asked", f"{strange[0]!r} is none of them",
            "fit it on answers of this study", parameter="model",
        )  # fmt: skip
    place = {one.name: one.id for one in load_items(store)}
    column = [study.classes.index(str(name)) for name in classes]
    scaled = np.zeros((len(names), study.n_classes))
    scaled[:, column] = contour / np.maximum(contour.max(axis=1, keepdims=True), 1e-300)
    rows = []
    for name, row in zip(names, scaled, strict=True):
        if str(name) not in place:
            continue
        chosen = [study.classes[k] for k in np.argsort(-row, kind="stable") if row[k] > POSSIBLE]
        rows.append({"item": place[str(name)], "contour": as_json(row.round(6).tolist()),
                     "classes": as_json(chosen), "refused": len(chosen) != 1})  # fmt: skip

    def work(connection: sa.Connection) -> int:
        upto = connection.execute(sa.select(sa.func.max(schema.answer.c.id))).scalar() or 0
        table = schema.model_run
        row = {"digest": digest, "kind": "plausibility", "upto": upto, "at": time.time()}
        run = connection.execute(table.insert().returning(table.c.id), row).scalar_one()
        for one in rows:
            one["model_run"] = run
        if rows:
            connection.execute(schema.suggestion.insert(), rows)
        return len(rows)

    return int(store.write(work).result())


def load_suggestions(store: Store, place: dict[int, int]) -> dict[int, Suggestion]:
    """The suggestions of the last model, by the places of items."""
    table = schema.suggestion
    with store.read() as connection:
        run = connection.execute(sa.select(sa.func.max(schema.model_run.c.id))).scalar()
        if run is None:
            return {}
        rows = connection.execute(sa.select(table).where(table.c.model_run == run))
        return {
            place[row.item]: Suggestion(
                row.id, tuple(json.loads(row.classes)), tuple(json.loads(row.contour))
            )
            for row in rows
        }


def load_seen(store: Store) -> list[tuple[int, int]]:
    """People and items of which they were told what a model says: before, after, or when asked."""
    seen, table = schema.shown, schema.answer
    queries = (
        sa.select(seen.c.person, seen.c.item).where(
            (seen.c.arm == "before") | (seen.c.reason == "model")
        ),
        sa.select(table.c.person, table.c.item)
        .join(seen, seen.c.id == table.c.shown)
        .where(seen.c.arm == "after"),
    )
    with store.read() as connection:
        return [(person, item) for query in queries for person, item in connection.execute(query)]


def doubt_in_model(suggestions: dict[int, Suggestion], gold: NDArray[Any]) -> float:
    """Doubt in the model: what its first class lacks of being right beyond luck, on known items."""
    known = [row for row in suggestions if gold[row] >= 0]
    if len(known) < ENOUGH:
        return USUAL_DOUBT
    hits = sum(int(np.argmax(suggestions[row].contour)) == gold[row] for row in known)
    n_classes = len(suggestions[known[0]].contour)
    share = (hits + 2.0) / (len(known) + 4.0)
    return float(np.clip(1 - (share - 1 / n_classes) / (1 - 1 / n_classes), 0.05, 1.0))


class Pull(NamedTuple):
    """How far suggestions pull: a difference of shares, with a 95 % interval."""

    value: float
    low: float
    high: float


def pull_from(before: tuple[int, int], hidden: tuple[int, int]) -> Pull | None:
    """The pull, from followed suggestions and answers in both arms; None where they are few.

    Examples
    --------
    >>> pull_from((40, 50), (30, 50)).value
    0.2
    >>> pull_from((4, 5), (30, 50))
    """
    if min(before[1], hidden[1]) < ENOUGH:
        return None
    value = before[0] / before[1] - hidden[0] / hidden[1]
    spread = 0.0
    for hits, count in (before, hidden):
        share = (hits + 1) / (count + 2)
        spread += share * (1 - share) / (count + 2)
    half = 1.96 * math.sqrt(spread)
    return Pull(round(value, 12), value - half, value + half)


def count_arms(store: Store) -> dict[int, dict[str, tuple[int, int]]]:
    """Followed suggestions and answers, by person and arm; each question counts once."""
    table, seen, idea = schema.answer, schema.shown, schema.suggestion
    query = (
        sa.select(table.c.person, seen.c.arm, table.c.picks, idea.c.classes, seen.c.id)
        .join(seen, seen.c.id == table.c.shown)
        .join(idea, idea.c.id == seen.c.suggestion)
        .where(table.c.kind == "said", seen.c.arm.is_not(None))
        .order_by(table.c.id)
    )
    found: dict[int, dict[str, tuple[int, int]]] = {}
    counted: set[int] = set()
    with store.read() as connection:
        for person, arm, picks, classes, shown in connection.execute(query):
            if shown in counted or not json.loads(classes):
                continue
            counted.add(shown)
            hits, count = found.setdefault(person, {}).get(arm, (0, 0))
            followed = json.loads(picks)[0] == json.loads(classes)[0]
            found[person][arm] = hits + followed, count + 1
    return found


def pulls(store: Store) -> tuple[dict[int, Pull | None], float]:
    """The pull on each person, and on all of them together."""
    arms = count_arms(store)
    none = (0, 0)
    by_person = {
        person: pull_from(one.get("before", none), one.get("hidden", none))
        for person, one in arms.items()
    }
    total = [
        tuple(np.sum([one.get(arm, none) for one in arms.values()] or [none], axis=0).tolist())
        for arm in ("before", "hidden")
    ]
    overall = pull_from(*total)
    return by_person, USUAL_PULL if overall is None else float(np.clip(overall.value, 0.0, 0.95))
