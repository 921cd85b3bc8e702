"""Labels in one column of names, and how far each is doubted."""

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.belief import class_names
from plausible.checks import shown
from plausible.errors import InputError, Note
from plausible.experts import (
    ABSTAIN,
    Codes,
    Scale,
    is_free_text,
    manner,
    read_doubts,
    scale_of,
    split_quoted,
    understand,
)
from plausible.io.cells import Cells, Different
from plausible.io.label_names import read_name, read_names, split_set, write_name
from plausible.io.pieces import pieces
from plausible.labels import Labels
from plausible.tables import Source, TableError, first_line

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class Reading(NamedTuple):
    """How names and doubts of labels are read: columns, what words mean, and the scale of numbers.

    Without a scale, it is judged from the rows that are read.
    """

    doubt: str | None
    meaning: str
    changes: Mapping[Any, Any] | None
    words: Mapping[Any, float] | None
    scale: Scale | None = None


class Learned(NamedTuple):
    """What all rows of a table of labels tell, so that some of them can be read by themselves.

    classes : None if each class has a column of its own
    changes : what each different cell means
    scale : of doubts or confidences, if there are any
    """

    classes: list[Any] | None
    changes: dict[Any, Any] | None
    scale: Scale | None
    notes: list[Note]


def labels_from_names(
    table: Source, name: str, kind: str, how: Reading, classes: Sequence[Hashable] | None
) -> tuple[Labels, list[Note]]:
    """Labels of a column of names, with what was assumed about words."""
    seen = Cells()
    codes = np.concatenate([*seen.add_all(table, name)])
    sets, notes = _understood(table, name, seen, kind, how, classes)
    names = _frame(table, name, seen, sets, classes)
    is_labeled = np.array([bool(members) for members in sets], dtype=bool)[codes]
    place = {written: k for k, written in enumerate(names)}
    inside = np.zeros((len(sets), len(names)), dtype=bool)
    for row, members in enumerate(sets):
        inside[row, [place[member] for member in members] if members else slice(None)] = True
    labels = Labels.from_sets(inside[codes], names)
    if kind != "doubt":
        return labels, notes
    doubts, told = _read_doubt(table, how, is_labeled)
    return labels.discount(doubts), [*notes, *told]


def learn_names(
    table: Source, name: str, kind: str, how: Reading, classes: Sequence[Hashable] | None
) -> Learned:
    """What a column of names, and one of doubts, mean that may be too long to hold."""
    seen = Cells()
    for _ in seen.add_all(table, name):
        pass
    sets, notes = _understood(table, name, seen, kind, how, classes)
    frame = _frame(table, name, seen, sets, classes)
    changes = {
        cell: tuple(members) or None
        for cell, members in zip(seen.places, sets, strict=True)
        if cell is not None
    }
    if kind != "doubt":
        return Learned(frame, changes, None, notes)
    with _about_doubts(table):
        doubts = Different()
        for piece in pieces(table, [str(how.doubt)]):
            doubts.add(piece.encoded(str(how.doubt)).names)
        scale = scale_of(doubts.cells(), how.meaning, how.words, how.doubt)
    return Learned(frame, changes, scale, [*notes, *scale.notes])


def _check_free_text(name: str, n_classes: int, n_labels: int) -> None:
    """Refuse a column in which nearly every label is a class of its own."""
    if is_free_text(n_classes, n_labels):
        raise TableError(
            f"Column {name!r} should name the same few classes again and again",
            f"it has {n_classes:,} different ones in {n_labels:,} labels, as free text, ids and "
            "measurements have",
            ("name the column of the labels, as in {names}", "list the {classes}"),
            settings={"names": {"label": "column"}, "classes": None},
        )


def _understood(
    table: Source,
    name: str,
    seen: Cells,
    kind: str,
    how: Reading,
    classes: Sequence[Hashable] | None,
) -> tuple[list[list[Any]], list[Note]]:
    """The members of each different cell's set, none for one that says nothing."""
    cells = list(seen.places)
    texts = [cell if cell is None or isinstance(cell, str) else write_name(cell) for cell in cells]
    known = None if classes is None else class_names(classes)
    bar = "|" if kind == "sets" else "\0"  # which is part of a name in a column of single classes
    manners = manner(known, bar, list(ABSTAIN), [], how.changes)
    _check_cells(table, name, texts, seen.first, kind != "sets", manners.changes)
    said, notes = understand(texts, seen.counts, manners)
    for text, members, row, count in zip(texts, said, seen.first, seen.counts, strict=True):
        if members == ():
            raise TableError(
                f"Labels ({text!r}) should name a class, but none is possible in "
                f"{table.where([row + 1], count)} of {table.name}",
                remedy="leave the cell empty if nothing is known",
            )
    if known is None:
        quotes = {part for text in texts if text and '"' in text
                  for part, is_quoted in split_quoted(text, bar) if is_quoted}  # fmt: skip
        every = list(dict.fromkeys(n for members in said for n in members or ()))
        written = [json.dumps(n) if n in quotes else n if isinstance(n, str) else write_name(n)
                   for n in every]  # fmt: skip
        typed = dict(zip(every, read_names(written), strict=True))
        said = [None if members is None else tuple(typed[n] for n in members) for members in said]
    return [list(members or ()) for members in said], list(notes)


def _check_cells(
    table: Source,
    name: str,
    texts: list[Any],
    first: Sequence[int],
    single: bool,
    changes: Mapping[str, Any],
) -> None:
    """Refuse cells whose quotes or bars are not what they should be."""
    for cell, row in zip(texts, first, strict=True):
        if not isinstance(cell, str) or cell.strip() in changes:
            continue
        try:
            parts = [cell] if single and not cell.startswith('"') else split_set(cell)
            if "" in parts or (single and len(parts) > 1):
                raise ValueError("a name is empty" if "" in parts else "there are several names")
            for part in parts:
                read_name(part)
        except ValueError as error:
            what = "one class" if single else "a set of classes such as cat|dog"
            raise TableError(
                f"Column {name!r} of {table.name} should hold {what}, but holds {cell[:40]!r} in "
                f"{table.where([row + 1])} ({first_line(error)}); correct it, and write names that "
                'hold | or " in JSON quotes.'
            ) from None


def _frame(
    table: Source,
    name: str,
    seen: Cells,
    sets: list[list[Any]],
    classes: Sequence[Hashable] | None,
) -> list[Any]:
    """The classes: those that are given, or those that occur, sorted."""
    found = {member for members in sets for member in members}
    if classes is None:
        if len(found) < 1 + any(not members for members in sets):
            raise TableError(
                f"Column {name!r} of {table.name} should name at least two classes where some "
                "rows are empty",
                f"names {sorted(found)}",
                "say which classes there are with {classes}",
                settings={"classes": None},
            )
        n_labels = sum(count for count, members in zip(seen.counts, sets, strict=True) if members)
        _check_free_text(name, len(found), n_labels)
        return sorted(found)
    given = [item.item() if isinstance(item, np.generic) else item for item in class_names(classes)]
    strange = sorted(found - set(given), key=str)
    if strange:
        held = [k for k, members in enumerate(sets) if strange[0] in members]
        where = table.where([seen.first[k] + 1 for k in held], sum(seen.counts[k] for k in held))
        raise TableError(
            f"Column {name!r} of {table.name} should hold the classes {shown(given, 500)}",
            f"holds {strange[0]!r} in {where}",
            ("correct it", "add it to {classes}", "say what it means with {map}"),
            settings={"classes": None, "map": {strange[0]: given[0] if given else strange[0]}},
        )
    return given


def _read_doubt(table: Source, how: Reading, labeled: BoolArray) -> tuple[FloatArray, list[Note]]:
    """Doubt in [0, 1]; it may be missing where the label is."""
    name = str(how.doubt)
    codes, names = table.encoded(name)
    kind = names.dtype if names.dtype.kind == "f" else np.dtype(object)
    cells = np.full(len(names) + 1, np.nan if kind.kind == "f" else None, kind)
    cells[:-1] = names  # the last one is that of missing cells
    column = Codes(codes % len(cells), cells)
    with _about_doubts(table):
        read = read_doubts(column, how.meaning, how.words, name, how.scale)
    doubt = read.values
    refuse(
        table, np.isnan(doubt) & labeled,
        f"Column {name!r} should say how far each label is doubted, but is empty",
        "write 0 for a sure label and 1 for one that says nothing",
    )  # fmt: skip
    return np.where(np.isnan(doubt), 1.0, doubt), list(read.notes)


@contextmanager
def _about_doubts(table: Source) -> Iterator[None]:
    """Errors about doubts name the table and its rows."""
    try:
        yield
    except InputError as error:
        came = f"in {table.name}, {error.came}"
        if error.rows is not None and len(error.rows):
            where = table.where((error.rows + 1).tolist())
            came = f"does not in {where} of {table.name}, with {shown(error.value)}"
        raise TableError(error.expected, came, error.remedies, settings=error.settings) from error


def refuse(
    table: Source, bad: BoolArray | np.bool_, what: str, remedy: str, **settings: Any
) -> None:
    """Refuse rows of a table, if there are any."""
    if bad.any():
        where = table.where((np.flatnonzero(bad) + 1).tolist())
        raise TableError(
            f"{what} in {where} of {table.name}", remedy=remedy, rows=bad, settings=settings
        )
