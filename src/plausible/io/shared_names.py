"""Columns by which what is known and features name the same items, though nothing says so."""

from collections.abc import Container, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from plausible.io.answer_columns import ALIASES
from plausible.io.matching import are_different, as_names, loosened
from plausible.models import is_row_name, says_id
from plausible.tables import Source, TableError, arrow, listed

ZEROS = 2  # the way of `loosened` in which zeros before and behind a number do not count
HEAD = 1000  # rows that tell most columns which repeat themselves


class Pair(NamedTuple):
    """A column of what is known, and one of features that differs in every row."""

    own: str
    other: str
    is_text: bool
    known: Any  # their names as Arrow has them, as text or as whole numbers
    features: Any

    @property
    def is_alike(self) -> bool:
        """Whether both are called the same."""
        return _folded(self.own) == _folded(self.other)

    @property
    def in_order(self) -> bool:
        """Whether both hold the same in each row."""
        return bool(self.known.equals(self.features))

    def share(self) -> float:
        """How many of the names that are known are names of features."""
        if self.in_order:
            return 1.0
        pc = arrow(".compute")
        are_in = pc.is_in(self.known.drop_null(), value_set=self.features)
        return float(pc.mean(are_in).as_py() or 0.0) if len(are_in) else 0.0

    def places(self) -> Any:
        """The row of features of each name, -1 where there is none."""
        found = arrow(".compute").index_in(self.known, value_set=self.features)
        return np.asarray(found.fill_null(-1))

    def counts_rows(self) -> bool:
        """Whether the names are whole numbers that leave out none between the first and last."""
        least, most = arrow(".compute").min_max(self.features).as_py().values()
        return bool(most - least == len(self.features) - 1)


def shared_names(known: Source, features: Source, columns: Sequence[str] | None) -> list[str]:
    """Columns of what is known that name the items of features, the best first.

    Those in both tables: of text, of numbers whose name says so, or of other numbers that can be
    nothing else. Then others of text. `columns` are features in any case. Refused where numbers of
    columns that are called otherwise may name items, and rows in order would be others.
    """
    pairs = _pairs(known, features, columns)
    alike = [pair for pair in pairs if pair.is_alike]
    said = [pair for pair in alike if pair.is_text or says_id(pair.own)]
    if found := [pair.own for pair in said if _holds_items(pair)]:
        return found
    sure = [pair for pair in pairs if pair.is_alike or pair.is_text]
    sure = [pair for pair in sure if pair not in said and _name_items(pair)]
    telling = [pair for pair in sure if not pair.in_order]
    _check_agree(known, telling)
    if telling:
        return [pair.own for pair in telling]
    if not sure:
        for pair in pairs:
            if not pair.is_alike and not pair.is_text and _name_items(pair) and not pair.in_order:
                raise _may_be_items(known, features, pair)
    return [pair.own for pair in sure if pair.is_alike]


def check_order(known: Source, features: Source) -> None:
    """Refuse rows that would go together in order where a column of both says that they should not.

    It is called the same in both tables and holds the same values, in other rows.
    """
    theirs = {_folded(name): name for name in features.names if name not in features.index}
    both = {name: theirs[_folded(name)] for name in known.names if _folded(name) in theirs}
    both = {own: other for own, other in both.items() if own not in known.index}
    heads: list[Any] = [
        next(iter(table.batches(list(names), rows=HEAD)), None) if both else None
        for table, names in ((known, both), (features, both.values()))
    ]
    if heads[0] is None or heads[1] is None:
        return
    n_rows = min(HEAD, heads[0].num_rows, heads[1].num_rows)
    for own, other in both.items():
        one, another = (
            _written(head.slice(0, n_rows).column(name))
            for head, name in zip(heads, (own, other), strict=True)
        )
        if one is None or another is None or one.equals(another):
            continue
        whole = _written(known.column(own)), _written(features.column(other))
        if whole[0] is not None and whole[1] is not None and _hold_the_same(*whole):
            raise _in_other_order(known, features, own, whole)


def _written(column: Any) -> Any:
    """A column as text in one piece, without what does not count; None if it cannot be written."""
    text = as_names(column)
    if text is None:
        column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        try:
            text = column.cast("string")
        except arrow().ArrowException:  # of lists, records or durations
            return None
    return loosened(text, ZEROS)


def _hold_the_same(one: Any, other: Any) -> bool:
    """Whether two columns have the same values, as often, but not in the same rows."""
    if len(one) != len(other) or one.equals(other):
        return False
    return bool(one.sort().equals(other.sort()))


def _in_other_order(known: Source, features: Source, name: str, whole: Any) -> TableError:
    row = next(k for k, (a, b) in enumerate(zip(*whole, strict=True)) if a != b)
    remedies = ["put them into the same order", "say {id} if they go together all the same"]
    settings: dict[str, Any] = {"id": "row"}
    if are_different(whole[0]):
        remedies.insert(0, "say {names} if it names the items")
        settings["names"] = {"item": name}
    else:
        remedies.insert(0, "add a column of items to both")
    return TableError(
        f"Labels of {known.name} should be in the order of the rows of {features.name}, for want "
        "of a column of items",
        f"{name!r} holds the same values there in another order ({whole[0][row]} and "
        f"{whole[1][row]} in row {row + 1})",
        tuple(remedies),
        settings=settings,
    )


def _pairs(known: Source, features: Source, columns: Sequence[str] | None) -> list[Pair]:
    """Columns of both tables that may name items: of the same kind, and different in all rows."""
    taken = {*ALIASES["label"], *ALIASES["annotator"], *(columns or ())}
    taken |= {name for table in (known, features) for name in table.index if _is_plain(name)}
    theirs = {name: _names(features, name) for name in _likely(features, taken)}
    theirs = {name: names for name, names in theirs.items() if _differ(names)}
    called = {_folded(name) for name in theirs}
    likely = {*_likely(known, taken)} if theirs else set()
    ours = [
        name
        for name in known.names
        if name not in taken
        and _kind(known, name) is not None
        and (_folded(name) in called or name in likely)
    ]
    held = {name: _names(known, name) for name in ours}
    return [
        Pair(own, other, bool(_kind(known, own)), held[own], theirs[other])
        for own, other in product(ours, theirs)
        if _kind(known, own) == _kind(features, other) and held[own] is not None
    ]


def _likely(table: Source, taken: Container[str]) -> list[str]:
    """Columns of text and of whole numbers that differ in the first rows."""
    names = [name for name in table.names if name not in taken and _kind(table, name) is not None]
    head = next(iter(table.batches(names, rows=HEAD)), None) if names else None
    if head is None:
        return []
    first = head.slice(0, HEAD)
    return [name for name in names if are_different(first.column(name))]


def _names(table: Source, name: str) -> Any:
    """A column of names, of whole numbers as they lie; None if it names nothing."""
    column = table.named(name)
    return column.cast("int64") if arrow().types.is_integer(column.type) else as_names(column)


def _differ(names: Any) -> bool:
    """Whether no name comes twice, and none is missing."""
    if names is None or not len(names) or names.null_count:
        return False
    return _rises(names) or are_different(names)


def _rises(names: Any) -> bool:
    """Whether names are numbers of which each is larger than the last one: seen without a copy."""
    if not arrow().types.is_integer(names.type):
        return False
    last = None
    for part in getattr(names, "chunks", [names]):
        values = np.asarray(part)
        if len(values):
            if (last is not None and values[0] <= last) or not (values[1:] > values[:-1]).all():
                return False
            last = values[-1]
    return True


def _kind(table: Source, name: str) -> bool | None:
    """True for text, False for whole numbers, None for what names nothing."""
    types, kind = arrow().types, table.schema([name]).field(0).type
    if types.is_string(kind) or types.is_large_string(kind):
        return True
    return False if types.is_integer(kind) else None


def _holds_items(pair: Pair) -> bool:
    """Whether a column whose kind or name says that it names rows holds some items.

    Numbers of rows that R or pandas added may be of other rows: both have to hold the same.
    """
    if is_row_name(pair.own):
        return len(pair.known) == len(pair.features) and pair.share() == 1.0
    return pair.share() > 0.0


def _name_items(pair: Pair) -> bool:
    """Whether columns hold mostly the same names, all different.

    Where they are also in the same order, rows go together anyway, and numbers may be a feature
    like any other: then they name the rows if they count them.
    """
    if len(pair.features) < 2 or not _differ(pair.known):
        return False
    if pair.in_order:
        return pair.is_text or pair.counts_rows()
    return pair.share() > 0.5


def _check_agree(known: Source, pairs: Sequence[Pair]) -> None:
    """Refuse columns that tell different rows."""
    places = [pair.places() for pair in pairs]
    if any(not np.array_equal(one, places[0]) for one in places):
        names = list(dict.fromkeys(pair.own for pair in pairs))
        raise TableError(
            f"One column of {known.name} should name the items",
            f"{len(names)} may, and tell different rows ({listed(list(map(repr, names)))})",
            "say which one with {names}",
            settings={"names": {"item": names[0]}},
        )


def _may_be_items(known: Source, features: Source, pair: Pair) -> TableError:
    return TableError(
        f"It should be clear whether {pair.own!r} of {known.name} names the rows of "
        f"{features.name}",
        f"{pair.other!r} there holds the same numbers in another order",
        ("say {names} if it does", "say {id} if labels and rows are in the same order"),
        settings={"names": {"item": pair.own}, "id": "row"},
    )


def _is_plain(name: str) -> bool:
    """Whether an index of pandas has no name: it may count the rows of another table."""
    return name.startswith("__index_level_")


def _folded(name: str) -> str:
    return name.strip().lower()
