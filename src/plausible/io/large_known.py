"""What is known about very many items: labels read in pieces, or answers pooled in parts."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from plausible.io.answer_layouts import find_meanings
from plausible.io.compact import CompactLabels, Keys
from plausible.io.known import check_options, check_unpooled
from plausible.io.label_tables import LabelTable, learn_table, read_label_table, told_labels
from plausible.io.label_words import Learned
from plausible.io.large_answers import is_long, items_in_parts, pool_in_parts
from plausible.io.lookup import Lookup
from plausible.io.pieces import give_back, pieces
from plausible.labels import Labels
from plausible.tables import Source, TableError, counted

HOW = ("form", "rule", "doubt", "on_conflict", "dependence", "gold", "keep_gold", "client")
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
    check_options({name: one for name, one in options.items() if name not in HOW})
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
    check_unpooled(table.name, **options)
    learned = _learn(table, found, options)
    parts = ((one.items, one.labels) for one in _label_pieces(table, found, options, learned))
    known = collected(parts, found["item"], [], table)
    return known._replace(
        items=lambda: (one.items for one in _label_pieces(table, found, options, learned)),
        notes=[*known.notes, *learned.notes, *table.notes],
    )


def _in_order(table: Source, found: dict[str, str], options: Mapping[str, Any]) -> LargeKnown:
    """Labels without items, which go with the rows of features in their order."""
    check_unpooled(table.name, **options)
    learned = _learn(table, found, options)
    pieces_read = _label_pieces(table, found, options, learned)
    labels = CompactLabels(one.labels for one in pieces_read)
    give_back()
    return LargeKnown(labels, None, [_told(table, labels), *learned.notes, *table.notes], None)


def _learn(table: Source, found: dict[str, str], options: Mapping[str, Any]) -> Learned:
    """What all rows together tell of classes, of cells and of doubts."""
    learned = learn_table(table, found, options)
    if learned.classes is not None:
        return learned
    if options.get("classes") is not None:
        return learned._replace(classes=list(options["classes"]))
    first = next(_label_pieces(table, found, options, learned))
    return learned._replace(classes=first.labels.classes.tolist())


def _told(table: Source, labels: CompactLabels) -> str:
    return told_labels(table, len(labels), labels.n_said, labels.classes)


def _label_pieces(
    table: Source, found: dict[str, str], options: Mapping[str, Any], learned: Learned
) -> Iterator[LabelTable]:
    """What is known, from one piece of a table of labels after another."""
    for piece in pieces(table, table.names, PIECE_ROWS):
        yield read_label_table(piece, found, options, learned)


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
