"""How a table of answers is laid out: a row for each, or a column for each person or class."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from plausible.checks import check_kind, check_option
from plausible.errors import Note
from plausible.io.answer_columns import (
    COUNTS,
    SCORES,
    SURENESS,
    THINGS,
    Look,
    all_of,
    find_columns,
    look_at,
    plainly,
)
from plausible.io.export_tables import check_header_rows, find_export, status_of
from plausible.io.label_files import PREFIXES
from plausible.io.likely_columns import HINTS, refuse_unknown
from plausible.io.wide_columns import (
    check_marked,
    check_shares,
    check_turned,
    check_wide,
    find_wide_item,
)
from plausible.io.wide_sureness import named_raters, sureness_beside
from plausible.tables import Source, TableError, choose, listed

LAYOUTS = ("long", "annotators", "classes")
KIND_OF = {"possible": "set", "plausibility": "plausibility", "probability": "probability",
           "mass": "mass"}  # fmt: skip
CODES = ("code", "codes", "value", "values", "key", "level", "number", "classid", "labelid")
NEARLY_ALL = 0.95  # of the rows
SIGNS = ("annot", "worker", "user", "assign", "rater", "coder", "review", "email", "labeler", "who",
         "completedby", "createdby", "labeledby", "person", "expert")  # fmt: skip


class Plan(NamedTuple):
    """How a table is read.

    layout : one of `LAYOUTS`
    found : columns by what they mean
    columns : those of the people or classes
    kind : what numbers by class mean
    left_out : column and values of rows that do not count, as those that were rejected
    notes : what was assumed
    choices : classes by columns that say whether they were chosen, in place of the label
    is_named : whether the caller named the column of items
    sure : columns that say how sure people are, by the columns of these, and what they mean
    """

    layout: str
    found: dict[str, str]
    columns: list[str]
    kind: str | None
    left_out: tuple[str, tuple[str, ...]] | None
    notes: list[Note]
    choices: dict[str, str] = {}  # noqa: RUF012
    is_named: bool = False
    sure: dict[str, tuple[str, str]] = {}  # noqa: RUF012


def names_given(names: Mapping[str, str] | None) -> Mapping[str, str]:
    """Which columns are meant, by the wish of the caller."""
    if names is None:
        return {}
    check_kind(names, Mapping, "names", "write {'item': 'photo'} for a column photo of items")
    return names


def prefixed(table: Source) -> list[str]:
    """Columns that say what they are, such as ``probability:cat``."""
    return [name for name in table.names if ":" in name and name.partition(":")[0] in PREFIXES]


def plan_reading(
    table: Source,
    layout: str | None,
    names: Mapping[str, str] | None,
    kind: str | None,
    columns: Sequence[str] | None,
    ignore: Sequence[str],
) -> Plan:
    """How a table is to be read; tables that could mean several things are refused."""
    if layout is not None:
        check_option(layout, LAYOUTS, "layout")
    names = names_given(names)
    for name in ignore:
        if name not in table.names:
            raise TableError(
                f"ignore should name columns of {table.name}",
                f"{name!r} is not among {listed([repr(name) for name in table.names])}",
                "correct {ignore}",
                parameter="ignore",
                value=name,
                settings={"ignore": None},
            )
    is_open = layout in (None, "long") and kind is None
    export = find_export(table, names, ignore) if is_open else None
    found = find_columns(table, names, ignore) if export is None else export.columns
    notes = [] if export is None else list(export.notes)
    sure: dict[str, tuple[str, str]] = {}
    if layout in (None, "annotators") and kind is None and "label" not in found:
        check_header_rows(table)
        free = [name for name in choose(table, None) if name not in (*found.values(), *ignore)]
        sure = sureness_beside(free if columns is None else columns)
        if columns is None and layout is None and (raters := named_raters(free)):
            layout, columns = "annotators", raters
        if columns is not None:
            sure = sure | sureness_beside([*columns, *free])
            sure = {person: pair for person, pair in sure.items() if person in columns}
        ignore = [*ignore, *(column for column, _ in sure.values())]
        columns = None if columns is None else [name for name in columns if name not in ignore]
    if layout != "long" and "label" not in found:
        item = find_wide_item(table, found, kind, [*ignore, *(columns or ())])
        if item is not None:
            found["item"] = item
            notes.append(Note(f"items are those of the column {item!r}"))
    aside = [*ignore, *_not_among(table, columns, found)]
    layout = layout or _find_layout(table, found, names, kind, aside)
    if layout == "long":
        left_out = status_of(table) if export is None else export.left_out
        found, told = _check_long(table, found, names, ignore)
        choices = {} if export is None else export.choices
        used = {*found.values(), *choices, *ignore}
        rest = [name for name in choose(table, None) if name not in used]
        if left_out is not None:
            rest = [name for name in rest if name != left_out[0]]
        told = [*notes, *told, *unused(rest)]
        return Plan(layout, found, [], None, left_out, told, choices, "item" in names)
    if layout == "classes" and "annotator" in found and "item" not in found:
        found, told = _find_things(
            table, found, [*ignore, *(columns or ())]
        )  # people speak of items, not of rows
        notes += told
    chosen = _chosen_columns(table, found, columns, layout, ignore)
    if layout == "classes" and kind is None:
        kind = kind_of(table, chosen)
    beside = prefixed(table) if kind == "mass" else []
    used = {*chosen, *beside, *(found.get(m, "") for m in _meant_beside(layout)), *ignore}
    rest = [name for name in choose(table, None) if name not in used]
    if layout == "annotators":
        people = listed([str(name) for name in chosen], len(chosen))
        notes.append(Note(f"each of these columns was read as a person: {people}"))
    sure = {person: pair for person, pair in sure.items() if person in chosen}
    return Plan(layout, found, chosen, kind, None, [*notes, *unused(rest)], sure=sure)


def _not_among(table: Source, columns: Sequence[str] | None, found: Mapping[str, str]) -> list[str]:
    """Columns that were not named, where columns of people or classes were."""
    if columns is None:
        return []
    kept = {*([columns] if isinstance(columns, str) else columns), *found.values()}
    return [name for name in choose(table, None) if name not in kept]


def unused(names: Sequence[str]) -> list[Note]:
    """A note on columns that are not used."""
    if not names:
        return []
    return [Note(f"not used: {', '.join(map(repr, names[:20]))}{', ...' * (len(names) > 20)}")]


def _meant_beside(layout: str) -> tuple[str, ...]:
    """What columns may mean beside those of people or classes."""
    return ("item", "annotator", "doubt") if layout == "classes" else ("item",)


def _find_layout(
    table: Source,
    found: Mapping[str, str],
    names: Mapping[str, str] | None,
    kind: str | None,
    ignore: Sequence[str],
) -> str:
    """The layout that columns tell by their names, or else by what they hold."""
    if kind is not None or (prefixed(table) and "label" not in found):
        return "classes"
    if "label" in found and ("item" in found or "annotator" in found):
        return "long"
    check_turned(table, found, ignore)
    if set(found) - {"item"}:
        if "annotator" in found and "label" not in found:
            aside = {*found.values(), *ignore}
            looks = look_at(table, [name for name in choose(table, None) if name not in aside])
            check_shares(table, looks)
            check_marked(table, looks)
        raise refuse_unknown(table, found)
    check_wide(table, found, ignore)
    return "annotators"


# -- A row for each answer -------------------------------------------------------------------------


def _check_long(
    table: Source, found: dict[str, str], names: Mapping[str, str], ignore: Sequence[str]
) -> tuple[dict[str, str], list[Note]]:
    """Columns of a long table, refused where one may mean something else than it seems to."""
    notes: list[Note] = []
    if "label" in found:
        check_one_label(table, found, names, ignore)
    check_sureness(table, found, names, ignore)
    if "item" not in found and "label" in found:
        found, told = _find_things(table, found, ignore)
        notes += told
    for meaning in ("item", "label"):
        if meaning not in found:
            free = [name for name in table.names if name not in found.values()]
            likely = (free or table.names)[0]
            raise TableError(
                f"{table.name} should have a column {meaning!r}",
                f"has {listed([repr(name) for name in table.names])}",
                "say which one is meant with {names}",
                settings={"names": {meaning: likely}},
            )
    if "annotator" not in found:
        _check_anonymous(table, found, ignore)
        words = "no column names the annotators: answers are anonymous, and share one doubt"
        notes.append(Note(words))
    elif plainly(found["item"]) == "id" and "item" not in names:
        check_id(table, found, ignore)
    return found, notes


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
    codes = [name for name in choose(table, None) if plainly(name) in CODES]
    if not codes or "item" in found or len(table.names) > 3:
        return
    looks = look_at(table, [codes[0], found["label"]])
    if all(len(look.values) == len(look.codes) > 1 for look in looks.values()):
        raise TableError(
            f"{table.name} should hold labels of items",
            f"it looks like a list of classes, each of which comes once, with its code "
            f"({codes[0]!r})",
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
        unclear = bare in scores or any(part in bare for part in ("confiden", "certain"))
        if unclear and name not in found.values() and name not in ignore and not both:
            meaning = "doubt" if "uncertain" in bare else "confidence"
            raise TableError(
                f"Column {name!r} of {table.name} should be known to say how sure people are, or "
                "not",
                "could be either",
                (f"say {{names}} if it is their {meaning}", "{ignore} if not"),
                settings={"names": {meaning: name}, "ignore": [name]},
            )


def find_meanings(
    table: Source,
    names: Mapping[str, str] | None,
    ignore: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Columns by what they mean, also those of exports, and of items that are called otherwise."""
    asked, names = options or {}, names_given(names)
    if asked.get("layout") in (None, "long") and asked.get("kind") is None:
        export = find_export(table, names, ignore)
        if export is not None:
            return export.columns
    found = find_columns(table, names, ignore)
    if "item" not in found and {"annotator", "label"} <= set(found):
        things = _things_in(table, found, ignore)
        found |= {"item": things[0]} if len(things) == 1 else {}
    elif "item" not in found and "label" not in found and asked.get("layout") != "long":
        aside = [*ignore, *(asked.get("columns") or ())]
        item = find_wide_item(table, found, asked.get("kind"), aside)
        found |= {} if item is None else {"item": item}
    return found


def _things_in(table: Source, found: Mapping[str, str], ignore: Sequence[str]) -> list[str]:
    """Columns that are called as items often are."""
    wanted = {plainly(thing) for thing in THINGS}
    free = [n for n in choose(table, None) if n not in found.values() and n not in ignore]
    return [name for name in free if plainly(name) in wanted]


def _find_things(
    table: Source, found: dict[str, str], ignore: Sequence[str]
) -> tuple[dict[str, str], list[Note]]:
    """The column of items, where people and labels have columns of their own."""
    things = _things_in(table, found, ignore)
    if len(things) == 1:
        return found | {"item": things[0]}, [Note(f"items are those of the column {things[0]!r}")]
    raise refuse_unknown(
        table, found, f", of which {' and '.join(map(repr, things))} could be items" * bool(things)
    )


def _check_anonymous(table: Source, found: Mapping[str, str], ignore: Sequence[str]) -> None:
    """Refuse a table without annotators if another column looks as if it named them."""
    rest = [n for n in choose(table, None) if n not in found.values() and n not in ignore]
    looks = look_at(table, [found["item"], *rest])
    item = looks.pop(found["item"])
    if len(item.values) == len(item.codes):
        return  # one answer for each item
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


# -- A column for each person or class -------------------------------------------------------------


def _chosen_columns(
    table: Source,
    found: Mapping[str, str],
    columns: Sequence[str] | None,
    layout: str,
    ignore: Sequence[str],
) -> list[str]:
    """Columns of the annotators or classes."""
    if columns is not None:
        strange = [name for name in columns if name not in table.names]
        if strange:
            raise TableError(
                f"{table.name} should have the columns {list(columns)}",
                f"has no {strange[0]!r}",
                "correct {columns}",
                parameter="columns",
                value=strange[0],
                settings={"columns": None},
            )
        return list(columns)
    aside = {found.get(one) for one in _meant_beside(layout)} | set(ignore)
    rest = [name for name in choose(table, None) if name not in aside]
    marked = [name for name in prefixed(table) if name in rest]
    if layout == "classes" and marked:
        prefixes = [name.partition(":")[0] for name in marked]
        prefix = "mass" if set(prefixes) == {"plausibility", "mass"} else prefixes[0]
        if len(set(prefixes)) > 1 and prefix != "mass":
            raise TableError(
                f"The columns of {table.name} should all say one kind of number",
                f"say {' and '.join(dict.fromkeys(prefixes))}",
                "leave one kind out with {ignore}",
                settings={"ignore": None},
            )
        return [name for name in marked if name.startswith(f"{prefix}:")]
    if not rest:
        raise TableError(
            f"{table.name} should have a column for each of the {layout}",
            f"has {table.names}",
            "name them with {columns}",
            settings={"columns": None},
        )
    return rest


def kind_of(table: Source, columns: Sequence[str]) -> str:
    """What numbers by class mean, as the columns say."""
    kinds = {KIND_OF.get(name.partition(":")[0]) for name in columns if ":" in name}
    if len(kinds) == 1 and None not in kinds:
        return str(kinds.pop())
    raise TableError(
        f"The numbers in {table.name} should have a meaning",
        "none was given",
        "say {kind}, 'probability', 'count' or 'mass'",
        settings={"kind": "plausibility"},
    )
