"""Tables of labels, a row for each item: which columns are used, and how they are read."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.checks import check_option
from plausible.errors import Note
from plausible.io.answer_checks import check_codebook, check_one_label, check_sureness
from plausible.io.answer_columns import ALIASES, plainly
from plausible.io.answer_layouts import prefixed
from plausible.io.answer_plans import unused
from plausible.io.answer_states import (
    DROP,
    KEEP,
    ON_REJECTED,
    UNKNOWN,
    find_rejected,
    settle_rejected,
    state_columns,
    tell_rejected,
)
from plausible.io.chosen_rows import ChosenRows
from plausible.io.features import read_ids
from plausible.io.label_files import learn_labels, read_with_notes
from plausible.io.label_words import Learned, Reading
from plausible.io.last_rows import check_last_row
from plausible.io.pieces import Piece, pieces
from plausible.labels import Labels
from plausible.tables import Source, choose, counted, listed, stream_table

USUAL = {plainly(name) for name in ALIASES["item"]}


class LabelTable(NamedTuple):
    """Labels of the rows of a table, the items that they are of if these are named, and notes."""

    labels: Labels
    items: NDArray[Any] | None
    notes: list[Note | str]


def read_label_table(
    table: Source,
    found: dict[str, str],
    options: Mapping[str, Any],
    learned: Learned | None = None,
) -> LabelTable:
    """Labels of a table, whose columns mean what was `found`, and cells what was `learned`."""
    if "item" in found and not isinstance(table, Piece):
        check_last_row(table, found["item"])
    idle = _idle_columns(table, found, options)
    table, silent, about = _without_rejected(table, found, idle, options.get("on_rejected"))
    kind, columns, how, confidence = _how_to_read(table, found, options)
    classes = options.get("classes")
    if learned is not None:
        how = how._replace(changes=learned.changes or how.changes, scale=learned.scale)
        classes = learned.classes
    labels, told = read_with_notes(stream_table(table), kind, columns, how, confidence, classes)
    if silent is not None:
        unknown = Labels.unknown(1, labels.classes.tolist())
        every = np.where(silent, len(labels), np.arange(len(labels)))
        labels = Labels.concatenate([labels, unknown])[every]
    items = read_ids(table, found["item"]) if "item" in found else None
    if "item" in found and plainly(found["item"]) not in USUAL and "item" not in _named(options):
        about = [Note(f"items are those of the column {found['item']!r}"), *about]
    said = int((labels.informativeness > 0).sum())
    notes = [told_labels(table, len(labels), said, labels.classes), *told, *about, *table.notes]
    return LabelTable(labels, items, notes)


def _named(options: Mapping[str, Any]) -> Mapping[str, str]:
    """Columns that the caller has named."""
    return options.get("names") or {}


def learn_table(table: Source, found: dict[str, str], options: Mapping[str, Any]) -> Learned:
    """What labels of a table too long to hold mean, with the notes of `read_label_table`.

    Its classes are None if each has a column of its own, so that any row tells them.
    """
    how = _how_to_read(table, found, options)
    learned = learn_labels(table, *how, options.get("classes"))
    idle, asked = _idle_columns(table, found, options), options.get("on_rejected")
    states = state_columns(idle)
    words: dict[str, Counter[str]] = {name: Counter() for name in states}
    n_rows = 0
    for piece in pieces(table, states) if states else ():
        n_rows += piece.table.num_rows
        for name, said in find_rejected(piece, states, None).items():
            words[name] += said.words
    if asked in (DROP, UNKNOWN):
        idle = [name for name in idle if name not in states]
    about = [
        tell_rejected(name, said, _done(asked, True) or KEEP, asked is None, "label")
        for name, said in words.items()
        if said and (asked is not None or said.total() < n_rows)
    ]
    return learned._replace(notes=[*learned.notes, *unused(idle), *about])


def told_labels(table: Source, count: int, said: int, classes: NDArray[Any]) -> str:
    """How many labels there are, in words."""
    return (
        f"{table.name}: labels of {counted(count, 'item')}; {said} say something; "
        f"{in_classes(classes)}"
    )


def _idle_columns(table: Source, found: dict[str, str], options: Mapping[str, Any]) -> list[str]:
    """Columns that are not used."""
    return [name for name in choose(table, None) if not _is_used(name, found, options, table)]


def _without_rejected(
    table: Source, found: Mapping[str, str], idle: list[str], on_rejected: str | None
) -> tuple[Source, NDArray[np.bool_] | None, list[Note]]:
    """Labels that count, which of these say nothing, and notes on columns that are not used.

    Where labels go with rows in order, one that is left out is unknown, so that no other moves; so
    is one of a piece of a table, which may have no other.
    """
    states = state_columns(idle)
    if on_rejected is not None:
        check_option(on_rejected, ON_REJECTED, "on_rejected")
    stays = "item" not in found or isinstance(table, Piece)
    done = _done(on_rejected, stays)
    said = find_rejected(table, states, None)
    dropped, silent, notes = settle_rejected(said, None, done, table.name, "label")
    if on_rejected in (DROP, UNKNOWN):
        idle = [name for name in idle if name not in states]
    if dropped is not None:
        table = ChosenRows(table, ~dropped)
    return table, silent, [*unused(idle), *notes]


def _done(on_rejected: str | None, stays: bool) -> str | None:
    """What is done with labels that were rejected, which may have to stay where they are."""
    return UNKNOWN if on_rejected == DROP and stays else on_rejected


def in_classes(classes: NDArray[Any]) -> str:
    """``"classes cat, dog (2 in all)"``."""
    names = listed([str(name) for name in classes], len(classes))
    return f"classes {names} ({len(classes)} in all)"


def _is_used(
    name: str, found: Mapping[str, str], options: Mapping[str, Any], table: Source
) -> bool:
    """Whether a column of a table of labels is used."""
    if name in (*options.get("ignore", ()), "conflict", "is_probability"):
        return True
    if "kind" in options and options.get("columns") is None:
        return True
    if marked := prefixed(table):
        return name in (*marked, found.get("item"), *(options.get("columns") or ()))
    if "set" in table.names:
        return name in ("set", found.get("item"))
    return name in [found.get(m) for m in ("item", "label", "doubt", "confidence")] or (
        name in (options.get("columns") or ())
    )


def _how_to_read(
    table: Source, found: dict[str, str], options: Mapping[str, Any]
) -> tuple[str | None, Any, Reading, str | None]:
    """What `read_with_notes` has to know of labels, whose columns may have other names."""
    kind, columns = options.get("kind"), options.get("columns")
    kind = {"mass": "masses", "set": "sets"}.get(kind, kind) if kind is not None else None
    how = Reading(None, "doubt", options.get("map"), options.get("words"))
    confidence = None
    if columns is None and not prefixed(table):
        if kind is not None:
            aside = {found.get("item"), "conflict", "is_probability", *options.get("ignore", ())}
            columns = [name for name in choose(table, None) if name not in aside]
        elif "set" not in table.names and "label" in found:
            check_one_label(table, found, _named(options), options.get("ignore", ()))
            check_codebook(table, found)
            check_sureness(table, found, _named(options), options.get("ignore", ()))
            columns = found["label"]
            sure = next((found[m] for m in ("doubt", "confidence") if m in found), None)
            kind = "crisp" if sure is None else "doubt"
            confidence = found.get("confidence")
            how = how._replace(doubt=found.get("doubt"))
    return kind, columns, how, confidence
