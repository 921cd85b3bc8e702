"""What is known about very many items: labels read in pieces, or answers pooled in parts."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from plausible.io.answer_layouts import find_meanings
from plausible.io.compact import CompactLabels, Keys
from plausible.io.known import Known, in_classes, read_known
from plausible.io.large_answers import (
    all_classes,
    is_long,
    items_in_parts,
    pool_in_parts,
)
from plausible.io.lookup import Lookup
from plausible.io.pieces import give_back, pieces
from plausible.labels import Labels
from plausible.tables import Source, TableError, counted

PIECE_ROWS = 1 << 14  # names and labels of a row take more memory than its numbers


class LargeKnown(NamedTuple):
    """As `Known`, of so many items that their names are kept as numbers.

    `items` reads the names again, some at a time.
    """

    labels: Any
    lookup: Lookup | None
    notes: list[str]
    called: str | None
    items: Callable[[], Iterator[Any]] | None = None


def read_large_known(table: Source, options: Mapping[str, Any]) -> LargeKnown | None:
    """Labels of the items of a long table, never held together; None if it cannot be read so."""
    found = find_meanings(table, options.get("names") or {}, options.get("ignore", ()), options)
    if "item" not in found:
        return _in_order(table, options) if options.get("form") == "labels" else None
    if options.get("form") not in (None, "labels", "answers"):
        return None
    if options.get("form") != "labels" and is_long(table, options):
        given = {name: value for name, value in options.items() if name != "form"}
        with pool_in_parts(table, **given) as pool:
            parts = ((part.items, part.labels) for part in pool.parts)
            known = collected(parts, found["item"], pool.notes, table)
        return known._replace(items=lambda: items_in_parts(table, given))
    table.keep_written([found[meaning] for meaning in ("item", "label") if meaning in found])
    how = dict(options) | {"form": "labels"}
    if how.get("classes") is None:
        how["classes"] = all_classes(known.labels for known in _label_pieces(table, how))
    parts = ((known.items, known.labels) for known in _label_pieces(table, how))
    known = collected(parts, found["item"], [], table)
    return known._replace(items=lambda: (one.items for one in _label_pieces(table, how)))


def _in_order(table: Source, options: Mapping[str, Any]) -> LargeKnown:
    """Labels without items, which go with the rows of features in their order."""
    how = dict(options)
    if how.get("classes") is None:
        how["classes"] = all_classes(known.labels for known in _label_pieces(table, how))
    labels = CompactLabels(known.labels for known in _label_pieces(table, how))
    give_back()
    note = f"{table.name}: labels of {len(labels)} items; {in_classes(labels.classes)}"
    return LargeKnown(labels, None, [note], None)


def _label_pieces(table: Source, options: dict[str, Any]) -> Iterator[Known]:
    """What is known, from one piece of a table of labels after another."""
    for piece in pieces(table, table.names, PIECE_ROWS):
        yield read_known(piece, **options)


def collected(
    parts: Iterator[tuple[Any, Labels]], called: str, notes: list[str], table: Source
) -> LargeKnown:
    """Labels and keys of the items of all parts."""
    keys = Keys()

    def kept() -> Iterator[Labels]:
        for items, labels in parts:
            keys.add(items)
            yield labels

    labels = CompactLabels(kept())
    give_back()
    lookup = keys.lookup()
    if len(twice := lookup.repeated()):
        raise TableError(
            f"Column {called!r} of {table.name} should name every row differently, but "
            f"{counted(len(twice), 'row')} repeat an item (such as row {twice[0] + 1}); correct it."
        )
    if not notes:
        notes = [f"{table.name}: labels of {len(labels)} items; {in_classes(labels.classes)}"]
    return LargeKnown(labels, lookup, notes, called)
