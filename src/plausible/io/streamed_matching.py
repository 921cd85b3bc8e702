"""Which column of a table that is read in pieces names the items, and how loosely.

As `match_items`, but neither the rows nor, of very many, the items are ever held together: one pass
over the columns that may name items counts how often each item is met. Names are compared as they
are written; if no column then holds all items, a further pass is made for each looser way.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.io.compact import Growing
from plausible.io.different_names import names_in
from plausible.io.known import Known
from plausible.io.large_known import LargeKnown
from plausible.io.lookup import Lookup, as_texts, hash_texts, whole_numbers
from plausible.io.matching import WAYS, are_shifted, is_usual, loosened, refuse_shift
from plausible.models import is_row_name, says_id
from plausible.tables import Source, TableError, arrow, counted, listed

Counts = dict[str, NDArray[np.int32]]


class Items(NamedTuple):
    """The known items: how exact names are found, and a way to read all names again."""

    exact: Lookup
    names: Callable[[], Iterator[NDArray[Any]]]

    @classmethod
    def of(cls, known: Any) -> "Items | None":
        """The items of what is known, None if labels go with rows in order."""
        if isinstance(known, LargeKnown):
            return None if known.lookup is None else cls(known.lookup, known.items or _none)
        items = known.items if isinstance(known, Known) else None
        return None if items is None else cls(Lookup(arrow().array(items)), lambda: iter([items]))

    def lookup(self, way: int) -> Lookup:
        """How names are found that are compared in one of the `WAYS`."""
        if not way:
            return self.exact
        hashes = Growing(np.uint64)
        for names in self.names():
            hashes.add(hash_texts(loosened(as_texts(arrow().array(names)), way)))
        return Lookup.of_keys(None, hashes.whole().copy(), way)

    def called(self, places: Sequence[int]) -> list[str]:
        """The names of some items."""
        found: dict[int, str] = {}
        wanted, start = set(places), 0
        for names in self.names():
            inside = [place for place in wanted if start <= place < start + len(names)]
            found |= {place: str(names[place - start]) for place in inside}
            start += len(names)
        return [found.get(place, f"that of row {place + 1}") for place in places]


def _none() -> Iterator[NDArray[Any]]:
    return iter(())


class Tally:
    """How often columns name each of the known items.

    Columns with numbers that are not whole name nothing, and are given up.
    """

    def __init__(self, lookup: Lookup, names: Sequence[str]) -> None:
        self.lookup = lookup
        self.counts: Counts = {name: np.zeros(len(lookup), np.int32) for name in names}

    def add(self, name: str, column: Any) -> None:
        """Count the names of some rows."""
        if name not in self.counts:
            return
        if arrow().types.is_floating(column.type) and not _are_whole(column):
            del self.counts[name]
            return
        places = self.lookup.places(column)
        np.add.at(self.counts[name], places[places >= 0], 1)  # bincount would be as long as all

    def whole(self) -> list[str]:
        """Columns that name every item once."""
        return [name for name, count in self.counts.items() if (count == 1).all()]

    def n_found(self, name: str) -> int:
        """How many items a column names."""
        return int((self.counts[name] > 0).sum()) if name in self.counts else 0


def _are_whole(column: Any) -> bool:
    pc = arrow(".compute")
    whole = pc.all(pc.equal(pc.floor(column), column)).as_py()
    return whole is not False and not pc.any(pc.greater(pc.abs(column), 2.0**53)).as_py()


class Column(NamedTuple):
    """The column that names items; how it is compared, how often it names each, notes."""

    name: str
    lookup: Lookup
    counts: NDArray[np.int32]
    notes: list[str]


def may_name(table: Source, free: Sequence[str]) -> list[str]:
    """Columns that may name items: all but those of truth values and of lists."""
    types = arrow().types
    tests = (
        types.is_integer, types.is_string, types.is_large_string, types.is_dictionary,
        types.is_floating, types.is_date, types.is_timestamp, types.is_decimal,
    )  # fmt: skip
    return [f.name for f in table.schema(list(free)) if any(test(f.type) for test in tests)]


def find_column(table: Source, items: Items, exact: Tally, called: str | None) -> Column:
    """The column that holds every item once; that with most of them if none does."""
    names = list(exact.counts)
    if not names:
        raise TableError(
            f"A column of {table.name} should name the items, but none holds text or whole "
            "numbers; add one."
        )
    tallies, clashing = [exact], None
    while clashing is None and not tallies[-1].whole() and len(tallies) < len(WAYS):
        tally = Tally(items.lookup(len(tallies)), list(exact.counts))
        for name, column in names_in(table, list(exact.counts)):
            tally.add(name, column)
        if len(tally.lookup.repeated()):
            clashing = tally  # in which different items would be one
        else:
            tallies.append(tally)
    whole = tallies[-1].whole()
    name = the_column(table, whole, called) if whole else _most(exact, tallies, called)
    tally = tallies[-1] if whole else max(tallies, key=lambda one: one.n_found(name))
    found = Column(name, tally.lookup, tally.counts[name], [])
    if clashing is not None:
        _check_different(table, found, items, clashing)
    if tally.lookup.way:
        _check_one(table, found, items)
        found.notes.extend(_tell_loose(table, found, items))
    return found


def _most(exact: Tally, tallies: Sequence[Tally], called: str | None) -> str:
    """The column with most items, compared in any way: one that is called so, if it has some."""
    most = {name: max(one.n_found(name) for one in tallies) for name in exact.counts}
    named = [name for name in most if name == called or is_usual(name)]
    named = [name for name in named if most[name]]
    return max(named or list(most), key=lambda name: most[name])


def the_column(table: Source, whole: list[str], called: str | None) -> str:
    """The one of several columns with all items whose name says so."""
    said_so = (
        lambda name: called is not None and name.lower() == called.lower(),
        is_usual,
        lambda name: says_id(name) and not is_row_name(name),
    )
    for says in said_so:
        if said := [name for name in whole if says(name)]:
            whole = said
            break
    if len(whole) > 1:
        raise TableError(
            f"One column of {table.name} should name the items",
            f"{len(whole)} hold all of them ({listed([repr(name) for name in whole])})",
            "say which one with {id}",
            settings={"id": whole[0]},
        )
    return whole[0]


def _check_different(table: Source, found: Column, items: Items, clashing: Tally) -> None:
    """Refuse items that are lost, and would be found if they were not another one then."""
    if found.name not in clashing.counts:
        return
    first, second = clashing.lookup.pairs()
    met = clashing.counts[found.name]
    is_lost = (found.counts[first] == 0) | (found.counts[second] == 0)
    bad = np.flatnonzero(is_lost & ((met[first] > 0) | (met[second] > 0)))
    if len(bad):
        one, other = items.called([int(first[bad[0]]), int(second[bad[0]])])
        raise _would_be_one(table, found.name, f"the items {one!r} and {other!r} would be one")


def _would_be_one(table: Source, name: str, what: str) -> TableError:
    return TableError(
        f"Column {name!r} of {table.name} should name the items as they are written",
        f"only without blanks, leading zeros or capital letters it does, and {what}",
        "write them alike in both files",
    )


def _check_one(table: Source, found: Column, items: Items) -> None:
    """Refuse different names of rows that would be one item."""
    twice = np.flatnonzero(found.counts > 1)
    if not len(twice):
        return
    rows = []
    for _, column in names_in(table, [found.name]):
        places = found.lookup.places(column)
        texts = as_texts(column)
        rows += [texts[int(row)].as_py() for row in np.flatnonzero(places == twice[0])]
    if len(set(rows)) > 1:
        item = items.called([int(twice[0])])[0]
        what = f"the names of rows {rows[0]!r} and {rows[1]!r} would be one, {item!r}"
        raise _would_be_one(table, found.name, what)


def _tell_loose(table: Source, found: Column, items: Items) -> list[str]:
    """What was passed over to match names, with the first of these."""
    first: list[tuple[int, str]] = []
    count = 0
    for _, column in names_in(table, [found.name]):
        places = found.lookup.places(column)
        rows = np.flatnonzero((places >= 0) & (items.exact.places(column) < 0))
        texts = as_texts(column)
        count += len(rows)
        first += [(int(places[row]), texts[int(row)].as_py()) for row in rows[: 3 - len(first)]]
    if not count:
        return []
    theirs = items.called([place for place, _ in first])
    shown = [f"{item!r} with {name!r}" for item, (_, name) in zip(theirs, first, strict=True)]
    way = WAYS[found.lookup.way]
    return [f"{counted(count, 'item')} matched without {way}: {listed(shown, count)}"]


def check_counts(table: Source, found: Column, items: Items, on_unmatched: str) -> list[str]:
    """Items without a row, if they may be left out; items with several rows are refused."""
    twice, lost = (np.flatnonzero(bad) for bad in (found.counts > 1, found.counts == 0))
    if len(twice):
        raise TableError(
            f"Column {found.name!r} of {table.name} should name every row differently",
            f"it repeats {counted(len(twice), 'item')} ({_shown(items, twice)})",
            ("correct it", "name another column with {id}"),
            settings={"id": None},
        )
    if len(lost):
        _check_shift(table, found)  # or some would get the features of others
    if len(lost) and (on_unmatched != "drop" or len(lost) == len(found.counts)):
        all_lost = len(lost) == len(found.counts)
        raise TableError(
            f"Every item should have a row in {table.name}, matched by {found.name!r}",
            f"{counted(len(lost), 'item')} of {len(found.counts)} "
            f"{'has' if len(lost) == 1 else 'have'} none ({_shown(items, lost)})",
            "name the column of items with {id}"
            if all_lost
            else ("add the rows", "leave these items out with {on_unmatched}"),
            settings={"id": None} if all_lost else {"on_unmatched": "drop"},
        )
    return items.called(lost.tolist()) if len(lost) else []


def _check_shift(table: Source, found: Column) -> None:
    """Refuse items that are numbers from 0, where rows are numbered from 1, or the other way."""
    ours = found.lookup.numbers()
    if ours is None or len(ours) < 2:
        return
    ends: list[int] = []
    n_rows = 0
    for _, column in names_in(table, [found.name]):
        theirs, are = whole_numbers(column)
        if not are.all() or not len(theirs):
            return
        ends += [int(theirs.min()), int(theirs.max())]
        n_rows += len(theirs)
    first, last = min(ends), max(ends)
    if last - first + 1 == n_rows and are_shifted(ours, first, last):
        raise refuse_shift(table, found.name, int(ours[0]), first)


def _shown(items: Items, rows: NDArray[np.int64]) -> str:
    """Some items by their names, the first ones of many."""
    return listed(items.called(rows[:5].tolist()), len(rows))
