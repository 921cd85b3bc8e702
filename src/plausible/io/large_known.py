"""What is known about very many items: labels read in pieces, or answers pooled in parts."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from plausible.errors import Note
from plausible.io.answer_layouts import find_meanings
from plausible.io.compact import CompactLabels, Keys
from plausible.io.known import Known, read_known
from plausible.io.label_tables import classes_of_table, told_labels
from plausible.io.large_answers import is_long, items_in_parts, pool_in_parts
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
        return _in_order(table, found, options) if options.get("form") == "labels" else None
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
    told = _learn_classes(table, found, how)
    parts = ((known.items, known.labels) for known in _label_pieces(table, how))
    known = collected(parts, found["item"], [], table)
    return known._replace(
        items=lambda: (one.items for one in _label_pieces(table, how)),
        notes=[*known.notes, *told, *table.notes],
    )


def _in_order(table: Source, found: dict[str, str], options: Mapping[str, Any]) -> LargeKnown:
    """Labels without items, which go with the rows of features in their order."""
    how = dict(options)
    told = _learn_classes(table, found, how)
    labels = CompactLabels(known.labels for known in _label_pieces(table, how))
    give_back()
    return LargeKnown(labels, None, [_told(table, labels), *told, *table.notes], None)


def _learn_classes(table: Source, found: dict[str, str], options: dict[str, Any]) -> list[Note]:
    """Say in the options which classes there are, as all rows together tell; notes on these."""
    classes, told = classes_of_table(table, found, options)
    if options.get("classes") is None:
        first = None if classes is not None else next(_label_pieces(table, options))
        options["classes"] = classes if first is None else first.labels.classes.tolist()
    return told


def _told(table: Source, labels: CompactLabels) -> str:
    return told_labels(table, len(labels), labels.n_said, labels.classes)


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
        notes = [_told(table, labels)]
    return LargeKnown(labels, lookup, notes, called)
