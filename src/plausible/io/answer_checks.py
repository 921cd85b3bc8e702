"""Tables of answers and labels whose columns may mean something else than they seem to."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from plausible.io.answer_columns import (
    COUNTS,
    SCORES,
    SURE,
    SURENESS,
    Look,
    all_of,
    look_at,
    plainly,
)
from plausible.io.likely_columns import HINTS
from plausible.tables import Source, TableError, choose

CODES = ("code", "codes", "value", "values", "key", "level", "number", "classid", "labelid")
MEANT = ("name", "classname", "labelname", "meaning", "means", "description", "definition", "title")
BOXES = ({"xmin", "ymin", "xmax", "ymax"}, {"x", "y", "width", "height"}, {"x", "y", "w", "h"},
         {"x1", "y1", "x2", "y2"}, {"bbox"})  # fmt: skip
NEARLY_ALL = 0.95  # of the rows
SIGNS = ("annot", "worker", "user", "assign", "rater", "coder", "review", "email", "labeler", "who",
         "completedby", "createdby", "labeledby", "person", "expert")  # fmt: skip


def check_one_label(
    table: Source, found: Mapping[str, str], names: Mapping[str, str], ignore: Sequence[str]
) -> None:
    """Refuse several columns that could be the label, none of which is called so."""
    labels = [name for name in all_of(table, "label", ignore) if name not in names.values()]
    if "label" in names or len(labels) < 2 or plainly(found["label"]) == "label":
        return
    raise TableError(
        f"One column of {table.name} should be the label",
        f"{', '.join(map(repr, labels))} could be",
        "say which one is meant, as in {names}",
        settings={"names": {"label": labels[0]}},
    )


def check_codebook(table: Source, found: Mapping[str, str]) -> None:
    """Refuse a list of classes with their codes, in which each class comes once."""
    codes = [name for name in choose(table, None) if plainly(name) in (*CODES, *MEANT)]
    if not codes or "item" in found or len(table.names) > 3:
        return
    looks = look_at(table, [codes[0], found["label"]])
    if all(len(look.values) == len(look.codes) > 1 for look in looks.values()):
        raise TableError(
            f"{table.name} should hold labels of items",
            f"it looks like a list of classes, each of which comes once, with what it is called "
            f"or its code ({codes[0]!r})",
            ("give the table of answers", "say {names} if these are items"),
            settings={"names": {"item": codes[0]}},
        )


def check_sureness(
    table: Source, found: Mapping[str, str], names: Mapping[str, str], ignore: Sequence[str]
) -> None:
    """Refuse columns that may or may not say how sure people are."""
    both = [found[meaning] for meaning in SURENESS if meaning in found]
    if len(both) > 1:
        raise TableError(
            f"One column of {table.name} should say how sure people are",
            f"{both[0]!r} and {both[1]!r} do",
            "leave one of them out with {ignore}",
            settings={"ignore": [both[1]]},
        )
    scores = {plainly(score) for score in SCORES}
    for name in choose(table, None):
        bare = plainly(name)
        last = plainly(re.split("[.:]", name)[-1])  # as in Answer.sure
        unclear = bare in scores or last in SURE
        unclear = unclear or any(part in bare for part in ("confiden", "certain"))
        if unclear and name not in found.values() and name not in ignore and not both:
            meaning = "doubt" if "uncertain" in bare else "confidence"
            raise TableError(
                f"Column {name!r} of {table.name} should be known to say how sure people are, or "
                "not",
                "could be either",
                (f"say {{names}} if it is their {meaning}", "{ignore} if not"),
                settings={"names": {meaning: name}, "ignore": [name]},
            )


def _check_boxes(table: Source) -> None:
    """Refuse boxes in images, of which several stand in an image."""
    plain = {plainly(name) for name in table.names}
    marks = next((marks for marks in BOXES if marks <= plain), None)
    if marks is not None:
        raise TableError(
            f"{table.name} should hold classes of whole items",
            f"its columns {', '.join(repr(n) for n in table.names if plainly(n) in marks)} mark "
            "parts of images, several in each",
            "write a row for each image, with the columns item and label",
        )


def check_anonymous(table: Source, found: Mapping[str, str], ignore: Sequence[str]) -> None:
    """Refuse a table without annotators if another column looks as if it named them."""
    rest = [n for n in choose(table, None) if n not in found.values() and n not in ignore]
    looks = look_at(table, [found["item"], *rest])
    item = looks.pop(found["item"])
    if len(item.values) == len(item.codes):
        return  # one answer for each item
    _check_boxes(table)
    counts = {plainly(name) for name in COUNTS}
    for name, look in looks.items():
        if look.is_whole and plainly(name) in counts and "count" not in found:
            raise TableError(
                f"{table.name} should have a row for each answer",
                f"{name!r} looks like a count of equal answers",
                ("say {names} if so", "{ignore} if not"),
                settings={"names": {"count": name}, "ignore": [name]},
            )
        if _names_people(item, look):
            raise TableError(
                f"{table.name} should have a column of annotators, or anonymous answers",
                f"has no such column by name, and {name!r} looks like one",
                ("say {names} if it is", "{ignore} if nobody knows who answered"),
                settings={"names": {"annotator": name}, "ignore": [name]},
            )


def _names_people(item: Look, look: Look) -> bool:
    """Whether a column could name people: it repeats, but not within an item."""
    n_rows, n_values = len(look.codes), len(look.values)
    if look.is_real or not 2 <= n_values <= n_rows / 2 or (look.codes < 0).any():
        return False
    pairs = np.unique(item.codes * (n_values + 1) + look.codes)
    several = n_rows - len(item.values)
    return bool(n_rows - len(pairs) <= (1 - NEARLY_ALL) * max(several, 1))


def check_hidden(table: Source, found: Mapping[str, str], ignore: Sequence[str]) -> None:
    """Refuse a table of labels with columns that look like people, and items they all spoke of."""
    rest = [n for n in choose(table, None) if n not in found.values() and n not in ignore]
    if "item" not in found:
        _check_spoken_of(table, rest)
    signed = [n for n in rest if any(hint in plainly(n) for hint in SIGNS)]
    check_lists_of_people(table, signed, found.get("label"))
    if not signed or len(rest) < 2:
        return
    looks = look_at(table, rest)
    n_rows = len(looks[rest[0]].codes)
    for who, name in ((who, name) for who in signed for name in rest if name != who):
        look = looks[name]
        is_thing = 1 < len(look.values) <= n_rows / 2 and not look.is_real
        if n_rows >= 8 and is_thing and _names_people(look, looks[who]):
            raise TableError(
                f"{table.name} should hold labels, in a row for each item, or answers, with "
                "columns of items and annotators",
                f"{who!r} looks like people who spoke of the same items, {name!r}",
                ("say {names} if so", "{form} if each row is an item of its own"),
                settings={"names": {"item": name, "annotator": who}, "form": "labels"},
            )


def check_lists_of_people(table: Source, signed: Sequence[str], label: str | None) -> None:
    """Refuse a table whose cells list the people who answered, and what each of them said."""
    names = [*signed] if label is None else [label, *(name for name in signed if name != label)]
    looks = look_at(table, names) if signed else {}
    said = None if label is None or not signed else _lengths(looks[label])
    for name in signed:
        lists = [value for value in looks[name].values if isinstance(value, str) and "," in value]
        is_list = lists and all(value.strip()[:1] + value.strip()[-1:] == "[]" for value in lists)
        n_people = _lengths(looks[name])
        if not is_list and (
            said is None or n_people.max(initial=0) < 2 or (said != n_people).any()
        ):
            continue
        shows = lists[0] if is_list else looks[name].values[int(looks[name].codes[n_people > 1][0])]
        raise TableError(
            f"{table.name} should have a row for each answer",
            f"{name!r} lists several people in one cell, such as {str(shows)[:60]!r}",
            "write a row for each of them, with the columns item, annotator and label (explode "
            "in pandas, unnest_longer in R)",
        )


def _lengths(look: Look) -> NDArray[np.int64]:
    """How many entries each cell has, where marks stand between these; 0 if it is empty."""
    counts = [len(re.split(r"[;,|]", str(value).strip(" ;,|"))) for value in look.values]
    return np.array([*counts, 0])[look.codes]


def _check_spoken_of(table: Source, rest: Sequence[str]) -> None:
    """Refuse labels without items where a column is called like items, which come again."""
    called = [n for n in rest if any(hint in plainly(n) for hint in HINTS["item"][1:-1])]
    if not called:
        return
    looks = look_at(table, rest)
    for name in called:
        look = looks[name]
        n_rows = len(look.codes)
        if n_rows < 8 or not 1 < len(look.values) <= n_rows / 2 or look.is_real:
            continue
        _check_boxes(table)
        people = [n for n in rest if n != name and _names_people(look, looks[n])]
        raise TableError(
            f"{table.name} should hold labels, in a row for each item, or answers",
            f"it has no column of items by name, and {name!r} looks like items that come again",
            ("say {names} if so", "{form} if each row is an item of its own"),
            settings={
                "names": {"item": name, **({"annotator": people[0]} if people else {})},
                "form": "labels",
            },
        )


def check_id(table: Source, found: Mapping[str, str], ignore: Sequence[str]) -> None:
    """Refuse ids of answers: each comes once, and another column could hold the items."""
    rest = [n for n in choose(table, None) if n not in found.values() and n not in ignore]
    looks = look_at(table, [found["item"], found["annotator"], *rest])
    n_rows = len(looks[found["item"]].codes)
    if n_rows < 8 or len(looks[found["item"]].values) < n_rows or len(looks) < 3:
        return
    who = looks[found["annotator"]]
    if plainly(found["item"]) != "id":  # which may be anything; a task is rather an item
        rest = [n for n in rest if any(hint in plainly(n) for hint in HINTS["item"][:-1])]
    for name in rest:
        look = looks[name]
        is_thing = n_rows / 20 <= len(look.values) <= 0.7 * n_rows and not look.is_real
        if is_thing and len(who.values) > 1 and _names_people(look, who):
            raise TableError(
                f"Items of {table.name} should have a column",
                f"{found['item']!r} is another one in every row, as if it counted answers, and "
                f"{name!r} looks like items",
                "say {names}, or name the other one",
                settings={"names": {"item": name}},
            )


def check_one_item(table: Source, found: Mapping[str, str]) -> None:
    """Refuse items that are all the same, if another column looks like items."""
    rest = [name for name in choose(table, None) if name not in found.values()]
    looks = look_at(table, [found["annotator"], *rest])
    who = looks.pop(found["annotator"])
    for name, look in looks.items():
        is_thing = 1 < len(look.values) <= len(look.codes) / 2 and not look.is_real
        if len(look.codes) >= 8 and is_thing and _names_people(look, who):
            raise TableError(
                f"Items of {table.name} should have a column",
                f"{found['item']!r} is the same in every row, and {name!r} looks like items",
                "say {names}, or name the other one",
                settings={"names": {"item": name}},
            )
