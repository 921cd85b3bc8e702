"""Which row of features an item has: by a column that holds all items, or by numbers of rows.

A column names the items if its names are all different and every item is among them, whatever it is
called. Names are compared as they are written; if that finds no column, without blanks around them
and with blanks and accents written alike, then without leading zeros, then without regard to
capital letters, and a note says so. What would
make two different names one is refused.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.io.features import ITEMS, ROWS
from plausible.models import is_row_name, says_id
from plausible.tables import Source, TableError, arrow, counted, listed, plain

IntArray = NDArray[np.int64]
# What does not count; accents are written in two ways.
WAYS = (
    "", "blanks and how accents are written", "leading zeros or apostrophes", "capital letters",
)  # fmt: skip


class Match(NamedTuple):
    """The row of each item, -1 where it has none; how it was found; what was assumed."""

    rows: IntArray
    id: str | None
    how: str
    notes: list[str]


class Candidate(NamedTuple):
    """A column that could name the items: how loosely, and which rows they have (-1: none)."""

    name: str
    way: int
    rows: IntArray

    @property
    def n_found(self) -> int:
        """How many items it holds."""
        return int((self.rows >= 0).sum())


def match_items(
    table: Source,
    loaded: Any,
    items: NDArray[Any],
    id: str | None,  # noqa: A002
    called: str | None,
) -> Match:
    """The rows of items, by the column `id`, or by the one that is found.

    Parameters
    ----------
    table : where the features come from
    loaded : table of Arrow with the columns that may name items
    items : array of names, all different
    id : name of a column, one of `ROWS`, or None
    called : what the column of items is called where the items come from, if that is known
    """
    if id in ROWS and id not in loaded.column_names:
        return by_number(table, loaded.num_rows, items, str(id))
    texts = as_names(arrow().array([written(item) for item in items.tolist()]))
    if id is not None:
        found = _look_closely(table, id, texts, loaded.column(id))
        if found is None:
            found = Candidate(id, 0, np.full(len(items), -1))
    else:
        found = _choose_candidate(table, loaded, texts, called)
    return Match(
        found.rows, found.name, f"matched by {found.name!r}", notes_of(found, texts, loaded)
    )


def written(item: Any) -> str:
    """An item as a table would hold it: 3.0 as 3."""
    return str(int(item)) if isinstance(item, float) and item.is_integer() else str(item)


def as_names(column: Any) -> Any:
    """A column as text in one piece, whole numbers without a fraction; None if it names nothing."""
    pa, pc = arrow(), arrow(".compute")
    types, column = pa.types, plain(column)
    if column is None or types.is_boolean(column.type) or types.is_null(column.type):
        return None
    if types.is_floating(column.type):
        whole = pc.all(pc.equal(pc.floor(column), column)).as_py()
        large = pc.any(pc.greater(pc.abs(column), 2.0**53)).as_py()
        if not whole or large:
            return None
        column = column.cast(pa.int64())
    text = column.cast(pa.string())
    return text.combine_chunks() if hasattr(text, "combine_chunks") else text


def loosened(text: Any, way: int) -> Any:
    """Names without what does not count: see `WAYS`."""
    pc = arrow(".compute")
    if way >= 1:
        text = pc.utf8_trim_whitespace(pc.utf8_normalize(text, "NFKC"))
        text = pc.replace_substring_regex(text, r"\s+", " ")
    if way >= 2:
        text = pc.replace_substring_regex(text, r"^'?([+-]?)0*([0-9]+)(\.0*)?$", r"\1\2")
    return pc.utf8_lower(text) if way >= 3 else text


def are_different(text: Any) -> bool:
    """Whether no name comes twice, and none is missing."""
    return not text.null_count and arrow(".compute").count_distinct(text).as_py() == len(text)


def _rows_in(items: Any, text: Any) -> IntArray:
    """The first row of each item, -1 where there is none."""
    found = arrow(".compute").index_in(items, value_set=text)
    return np.asarray(found.fill_null(-1), dtype=np.int64)


def _choose_candidate(table: Source, loaded: Any, items: Any, called: str | None) -> Candidate:
    """The column that holds all items; a refusal where there is none, or where several could be."""
    texts = {name: as_names(loaded.column(name)) for name in loaded.column_names}
    texts = {name: text for name, text in texts.items() if text is not None and len(text)}
    for way in range(len(WAYS)):
        wanted = loosened(items, way)
        if not are_different(wanted):
            break
        loose = {name: loosened(text, way) for name, text in texts.items()}
        found = [
            Candidate(name, way, rows)
            for name, text in loose.items()
            if (rows := _rows_in(wanted, text)).min(initial=0) >= 0 and are_different(text)
        ]
        if found:
            return _the_one(table, found, called)
    return best_of(table, texts, items, called, loaded.num_rows)


def _the_one(table: Source, found: list[Candidate], called: str | None) -> Candidate:
    """The candidate whose name says so, or any if all name the same rows."""
    same = [one for one in found if called is not None and one.name.lower() == called.lower()]
    usual = [one for one in found if is_usual(one.name)]
    said = [one for one in found if says_id(one.name) and not is_row_name(one.name)]
    found = next((some for some in (same, usual, said) if some), found)
    if len(found) == 1:
        return found[0]
    if all(np.array_equal(one.rows, found[0].rows) for one in found):
        return found[0]
    names = [one.name for one in found]
    raise TableError(
        f"One column of {table.name} should name the items",
        f"{len(names)} hold all of them, in different rows ({listed(list(map(repr, names)))})",
        "say which one with {id}",
        settings={"id": names[0]},
    )


def is_usual(name: str) -> bool:
    """Whether a column is called item, task or id."""
    return name.lower() in ITEMS


def best_of(
    table: Source, texts: dict[str, Any], items: Any, called: str | None, n_rows: int
) -> Candidate:
    """The column that names items by its name or holds most of them, though not all; or why not."""
    tried = [look(name, items, text) for name, text in texts.items()]
    named = [one for one in tried if one.name == called or is_usual(one.name)]
    named = [one for one in named if one.n_found] or named
    likely = sorted(named or tried, key=lambda one: -one.n_found)
    if likely and (named or 2 * likely[0].n_found > len(items)) and likely[0].n_found:
        best = likely[0]
        found = _look_closely(table, best.name, items, texts[best.name])
        if found is not None:
            return found
    first = items.slice(0, 5).to_pylist()
    shown = listed([item if item == item.strip() else repr(item) for item in first], len(items))
    held = [
        f"{name!r} holds {text[0].as_py()!r}"
        for name, text in texts.items()
        if is_usual(name) or says_id(name) or name == called
    ]
    beside = f" ({listed(held)})" if held else ""
    _check_paths(table, texts, items)
    texts_of_items = items.to_pylist()
    are_numbers = all(item.isdecimal() for item in texts_of_items)
    if are_numbers and n_rows:
        n_within = sum(int(item) <= n_rows for item in texts_of_items)
        are_numbers = 2 * n_within >= len(texts_of_items)
    raise TableError(
        f"A column of {table.name} should hold all items ({shown})",
        f"none does{beside}",
        ("say {id} if the items are numbers of rows", "add a column with the items")
        if are_numbers
        else "name it with {id} to see which are missing, and add these rows"
        if held or any(one.n_found for one in tried)
        else "add a column with the items",
        settings={"id": "row" if are_numbers else None},
    )


def _check_paths(table: Source, texts: dict[str, Any], items: Any) -> None:
    """Refuse names of files that differ by their folders or endings alone, showing both."""
    wanted = _bare_names(items)
    if not are_different(wanted):
        return
    for name, text in texts.items():
        bare = _bare_names(text)
        rows = _rows_in(wanted, bare)
        if rows.min(initial=0) >= 0 and are_different(bare):
            theirs = text[int(rows[0])].as_py()
            raise TableError(
                f"A column of {table.name} should name the items as they are written",
                f"{name!r} has {theirs!r} where the item is {items[0].as_py()!r}: folders and "
                "endings of files differ",
                "write them alike in both files",
            )


def _bare_names(text: Any) -> Any:
    """Names of files without folders and endings."""
    pc = arrow(".compute")
    bare = pc.replace_substring_regex(text, r"^.*[/\\]", "")
    return pc.utf8_lower(pc.replace_substring_regex(bare, r"\.[A-Za-z][A-Za-z0-9]{1,4}$", ""))


def look(name: str, items: Any, text: Any) -> Candidate:
    """How many items a column holds, compared no more loosely than helps."""
    tried = [
        Candidate(name, way, _rows_in(loosened(items, way), loosened(text, way)))
        for way in range(len(WAYS))
    ]
    return max(tried, key=lambda one: one.n_found)  # the first of equal ones


def _look_closely(table: Source, name: str, items: Any, column: Any) -> Candidate | None:
    """The rows of items by a column, of which each name must be there once."""
    text = as_names(column)
    if text is None:
        return None
    one = look(name, items, text)
    if one.way:
        wanted, loose = loosened(items, one.way), loosened(text, one.way)
        check_clash(table, name, items, wanted, "items")
        is_hit = arrow(".compute").is_in(loose, value_set=wanted)
        check_clash(table, name, text.filter(is_hit), loose.filter(is_hit), "names of rows")
    return one


def check_clash(table: Source, name: str, text: Any, loose: Any, what: str) -> None:
    """Refuse different names that would become one."""
    if are_different(loose) or not are_different(text):
        return
    first: dict[str, str] = {}
    for before, after in zip(text.to_pylist(), loose.to_pylist(), strict=True):
        other = first.setdefault(after, before)
        if other != before:
            raise TableError(
                f"Column {name!r} of {table.name} should name the items as they are written",
                f"only without blanks, leading zeros or capital letters it does, and the {what} "
                f"{other!r} and {before!r} would be one",
                "write them alike in both files",
            )


def by_number(table: Source, n_rows: int, items: NDArray[Any], id: str) -> Match:  # noqa: A002
    """Rows by their numbers, counted from 0 or from 1 as asked, or as the items tell."""
    try:
        numbers = np.array([int(written(item)) for item in items.tolist()], dtype=np.int64)
    except (ValueError, OverflowError):
        raise TableError(
            f"Items should be whole numbers to be numbers of rows of {table.name}",
            f"{items.tolist()[0]!r} is none",
            "name the column of items with {id}",
            settings={"id": None},
        ) from None
    start = ROWS[id]
    if start is None:
        start = _first_number(table, n_rows, numbers)
    rows = numbers - start
    rows = np.where((rows < 0) | (rows >= n_rows), -1, rows)
    return Match(rows, None, f"whose numbers, from {start}, are the items", [])


def _first_number(table: Source, n_rows: int, numbers: IntArray) -> int:
    """Whether rows are counted from 0 or 1: only one of these lets all items be rows."""
    can = [start for start in (0, 1) if ((numbers >= start) & (numbers < start + n_rows)).all()]
    if len(can) == 1:
        return can[0]
    reason = "both would do" if can else "neither counts all items"
    raise TableError(
        f"Items should tell whether rows of {table.name} are counted from 0 or from 1",
        f"{reason} (items from {numbers.min()} to {numbers.max()}, {counted(n_rows, 'row')})",
        ("say {id} if the first row is 1", "row0 if it is 0")
        if can
        else "name the column of items with {id}",
        settings={"id": "row1" if can else None},
    )


def notes_of(found: Candidate, items: Any, loaded: Any) -> list[str]:
    """What was passed over to match names."""
    if not found.way:
        return []
    text = as_names(loaded.column(found.name))
    pairs = [
        (item, text[int(row)].as_py())
        for item, row in zip(items.to_pylist(), found.rows.tolist(), strict=True)
        if row >= 0 and item != text[int(row)].as_py()
    ]
    if not pairs:
        return []
    shown = listed([f"{item!r} with {name!r}" for item, name in pairs[:3]], len(pairs))
    return [f"{counted(len(pairs), 'item')} matched without {WAYS[found.way]}: {shown}"]


def check_lost(
    match: Match, items: NDArray[Any], table: Source, on_unmatched: str, loaded: Any
) -> None:
    """Refuse items without features, unless they may be left out."""
    lost = [written(item) for item, row in zip(items.tolist(), match.rows, strict=True) if row < 0]
    if lost and match.id is not None:
        _check_shift(match, items, table, loaded)  # or some would get the features of others
    if not lost or (on_unmatched == "drop" and len(lost) < len(items)):
        return
    beside = ""
    if len(lost) == len(items) and match.id is not None:
        beside = f"; {match.id!r} holds {listed(held(loaded.column(match.id)))}"
    raise TableError(
        f"Every item should have a row in {table.name}, {match.how}",
        f"{counted(len(lost), 'item')} of {len(items)} {'has' if len(lost) == 1 else 'have'} none "
        f"({listed(lost)}{beside})",
        ("add the rows", "leave these items out with {on_unmatched}")
        if len(lost) < len(items)
        else "name the column of items with {id}",
        settings={"on_unmatched": "drop"} if len(lost) < len(items) else {"id": None},
    )


def _check_shift(match: Match, items: NDArray[Any], table: Source, loaded: Any) -> None:
    """Refuse items that are numbers from 0, where rows are numbered from 1, or the other way."""
    texts = as_names(loaded.column(match.id))
    names = [] if texts is None else texts.to_pylist()
    ours = {written(item) for item in items.tolist()}
    if not names or not all(one is not None and one.isdecimal() for one in (*names, *ours)):
        return
    numbers, theirs = sorted(map(int, ours)), sorted(map(int, names))
    if theirs != list(range(theirs[0], theirs[0] + len(theirs))) or len(numbers) < 2:
        return
    if are_shifted(numbers, theirs[0], theirs[-1]):
        raise refuse_shift(table, str(match.id), numbers[0], theirs[0], "row")


def are_shifted(numbers: Any, first: int, last: int) -> bool:
    """Whether sorted numbers begin one off the first of some, and would all be among them then."""
    shift = first - int(numbers[0])
    return abs(shift) == 1 and int(numbers[-1]) + shift <= last


def refuse_shift(
    table: Source,
    name: str,
    ours: int,
    theirs: int,
    id: str | None = None,  # noqa: A002
) -> TableError:
    """The error of items that are counted from another number than rows are."""
    return TableError(
        f"Items should be those of {name!r} of {table.name}",
        f"they begin at {ours}, and {name!r} at {theirs}, as if one of them were counted from 0 "
        "and the other from 1",
        (*(["say {id} if items are numbers of rows"] if id else []), "number both alike"),
        settings={"id": id} if id else {},
    )


def held(column: Any) -> list[str]:
    """Some of what a column holds."""
    return [repr(cell) for cell in column.slice(0, 3).to_pylist()]
