"""How a table of answers is laid out: a row for each, or a column for each person or class."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from plausible.checks import check_kind, check_option
from plausible.errors import Note
from plausible.io.answer_checks import (
    check_anonymous,
    check_id,
    check_lists_of_people,
    check_one_label,
    check_sureness,
)
from plausible.io.answer_columns import (
    THINGS,
    find_columns,
    look_at,
    plainly,
)
from plausible.io.answer_plans import LAYOUTS, Export, Plan, unused
from plausible.io.answer_states import KEEP, state_columns, tell_weights
from plausible.io.class_columns import check_beside_people
from plausible.io.export_tables import check_header_rows, find_export, status_of
from plausible.io.item_columns import plan_items
from plausible.io.label_files import PREFIXES
from plausible.io.likely_columns import refuse_unknown
from plausible.io.wide_columns import (
    check_numbered,
    check_shares,
    check_turned,
    check_wide,
    find_wide_item,
    form_states,
)
from plausible.io.wide_sureness import named_raters, sureness_beside
from plausible.models import is_row_name
from plausible.tables import Source, TableError, choose, listed

TEXTS = ("text", "sentence")  # which may be items, but rather are what these say
IDS = ("id", "task", "taskid")  # of items, or of single answers
KIND_OF = {"possible": "set", "plausibility": "plausibility", "probability": "probability",
           "mass": "mass"}  # fmt: skip


def names_given(names: Mapping[str, str] | None) -> Mapping[str, str]:
    """Which columns are meant, by the wish of the caller."""
    if names is None:
        return {}
    check_kind(names, Mapping, "names", "write {'item': 'photo'} for a column photo of items")
    return names


def prefixed(table: Source) -> list[str]:
    """Columns that say what they are, such as ``probability:cat``."""
    return [name for name in table.names if ":" in name and name.partition(":")[0] in PREFIXES]


class Wish(NamedTuple):
    """What is wished for, or follows from the names of columns: `sure` as in `Plan`."""

    layout: str | None
    columns: Sequence[str] | None
    ignore: list[str]
    sure: dict[str, tuple[str, str]]


def plan_reading(
    table: Source,
    layout: str | None,
    names: Mapping[str, str] | None,
    kind: str | None,
    columns: Sequence[str] | None,
    ignore: Sequence[str],
    on_rejected: str | None = None,
) -> Plan:
    """How a table is to be read; tables that could mean several things are refused."""
    if layout is not None:
        check_option(layout, LAYOUTS, "layout")
    names = names_given(names)
    _check_ignored(table, ignore)
    is_open = layout in (None, "long") and kind is None
    export = find_export(table, names, ignore) if is_open else None
    found = find_columns(table, names, ignore) if export is None else export.columns
    states = [] if layout is not None else form_states(table, [*found.values(), *(columns or ())])
    wish = Wish(layout, columns, [*ignore, *states], {})
    if layout == "items":
        return plan_items(table, found, columns, ignore)
    if layout in (None, "annotators") and kind is None and "label" not in found:
        check_header_rows(table)
        wish = _with_sureness(table, found, wish)
    notes: list[Note] = []
    if wish.layout != "long" and "label" not in found:
        item = find_wide_item(table, found, kind, [*wish.ignore, *(wish.columns or ())])
        if item is not None:
            found["item"] = item
            notes.append(Note(f"items are those of the column {item!r}"))
    idle = [] if "item" not in found else _row_names(table, [*found.values(), *(columns or ())])
    aside = [*wish.ignore, *idle, *_not_among(table, wish.columns, found)]
    chosen = wish.layout or _find_layout(table, found, names, kind, aside)
    if chosen == "long":
        return _plan_long(table, found, export, names, ignore, on_rejected)
    wish = wish._replace(layout=chosen, ignore=[*wish.ignore, *idle])
    return _plan_wide(table, found, wish, kind, [*notes, *unused([*idle, *states])])


def _row_names(table: Source, taken: Sequence[str]) -> list[str]:
    """Columns of row names, as R and pandas write them, which are nobody's answers."""
    return [name for name in choose(table, None) if is_row_name(name) and name not in taken]


def _check_ignored(table: Source, ignore: Sequence[str]) -> None:
    """Refuse to leave out columns that are not there."""
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


def _with_sureness(table: Source, found: Mapping[str, str], wish: Wish) -> Wish:
    """Columns of people, where names such as ``rater 1`` tell, and how sure each of them is."""
    layout, columns, ignore, _ = wish
    free = [name for name in choose(table, None) if name not in (*found.values(), *ignore)]
    sure = sureness_beside(free if columns is None else columns)
    if columns is None and layout is None and (raters := named_raters(free)):
        check_numbered(table, free, raters)
        layout, columns = "annotators", raters
    if columns is not None:
        sure = sure | sureness_beside([*columns, *free])
        sure = {person: pair for person, pair in sure.items() if person in columns}
    ignore = [*ignore, *(column for column, _ in sure.values())]
    columns = None if columns is None else [name for name in columns if name not in ignore]
    return Wish(layout, columns, ignore, sure)


def _plan_long(
    table: Source,
    found: dict[str, str],
    export: Export | None,
    names: Mapping[str, str],
    ignore: Sequence[str],
    on_rejected: str | None,
) -> Plan:
    """How a table with a row for each answer is read."""
    usual = status_of(table) if export is None else export.left_out
    if usual is not None and usual[0] in ignore:
        usual = None
    found, told = _check_long(table, found, names, ignore)
    choices = {} if export is None else export.choices
    used = {*found.values(), *choices, *ignore, *([] if usual is None else usual[:1])}
    rest = [name for name in choose(table, None) if name not in used]
    states = state_columns(rest)
    idle = rest if on_rejected in (None, KEEP) else [name for name in rest if name not in states]
    notes = [] if export is None else export.notes
    told = [*notes, *told, *unused(idle), *tell_weights(rest)]
    return Plan("long", found, [], None, usual, told, choices, "item" in names, states=states)


def _plan_wide(
    table: Source, found: dict[str, str], wish: Wish, kind: str | None, notes: list[Note]
) -> Plan:
    """How a table with a column for each person or class is read."""
    layout, columns, ignore, sure = wish
    assert layout is not None
    if layout == "classes" and "annotator" in found and "item" not in found:
        found, told = _find_things(
            table, found, [*ignore, *(columns or ())]
        )  # people speak of items, not of rows
        notes = [*notes, *told]
    chosen = _chosen_columns(table, found, columns, layout, ignore)
    if layout == "classes" and kind is None:
        kind = kind_of(table, chosen)
    beside = prefixed(table) if kind == "mass" else []
    used = {*chosen, *beside, *(found.get(m, "") for m in _meant_beside(layout)), *ignore}
    rest = [name for name in choose(table, None) if name not in used]
    if layout == "annotators":
        people = listed([str(name) for name in chosen], len(chosen))
        notes = [*notes, Note(f"each of these columns was read as a person: {people}")]
    sure = {person: pair for person, pair in sure.items() if person in chosen}
    return Plan(layout, found, chosen, kind, None, [*notes, *unused(rest)], sure=sure)


def _not_among(table: Source, columns: Sequence[str] | None, found: Mapping[str, str]) -> list[str]:
    """Columns that were not named, where columns of people or classes were."""
    if columns is None:
        return []
    kept = {*([columns] if isinstance(columns, str) else columns), *found.values()}
    return [name for name in choose(table, None) if name not in kept]


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
            check_beside_people(table, found, looks)
            check_shares(table, looks)
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
        check_anonymous(table, found, ignore)
        words = "no column names the annotators: answers are anonymous, and share one doubt"
        notes.append(Note(words))
        return found, notes
    check_lists_of_people(table, [found["annotator"]], found["label"])
    if plainly(found["item"]) in IDS and "item" not in names:
        check_id(table, found, ignore)
    return found, notes


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
    elif "item" not in found and "label" in found:
        things = [name for name in _things_in(table, found, ignore) if plainly(name) not in TEXTS]
        looks = look_at(table, things) if things else {}
        named = [n for n in things if len(looks[n].values) == len(looks[n].codes)]
        found |= {"item": named[0]} if len(named) == 1 else {}  # of labels, a row for each item
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
