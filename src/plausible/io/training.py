"""What is known and the features that go with it, from two files, matched by item."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.base import warn_of_order
from plausible.checks import check_option, check_text, check_texts
from plausible.errors import InputError, Note
from plausible.io.answer_layouts import find_meanings, names_given
from plausible.io.export_sources import tool_in
from plausible.io.exports import flattened
from plausible.io.features import (
    ROWS,
    Features,
    check_id,
    check_kinds,
    check_rows,
    check_usable,
    find_named_id,
    id_columns,
    read_ids,
    read_with_id,
)
from plausible.io.known import EXPORTS, Known, read_known
from plausible.io.label_features import check_no_labels
from plausible.io.last_rows import check_last_row
from plausible.io.matching import Match, check_lost, is_usual, match_items
from plausible.io.shared_names import check_order, shared_names
from plausible.labels import Labels
from plausible.tables import (
    Source,
    TableError,
    TableStream,
    arrow,
    choose,
    counted,
    listed,
    open_table,
    stream_table,
)


class Training(NamedTuple):
    """Features and what is known about their rows; what `read_training` returns.

    Attributes
    ----------
    X : NamedArray (n, d), or FeatureTable where columns are not all numbers
        Both know the names of their columns, and so does a model of this library that is fitted to
        them.
    labels : Labels (n)
        Rows about which nothing was said are unknown.
    items : array (n,) of names
    names : list of the d features
    rows : int array
        The row of features of each label of `known`.
    id : name of the column of items in the features, or None
    known : Known
        As it was read, in its own order, without items that have no features.
    notes : list of str
        What was assumed, in words.
    kinds : dict of what the columns of X hold: "number", "category" or "date"

    Examples
    --------
    >>> read_training({"label": ["cat", "dog"]}, {"length": [1.0, 2.0]}).rows
    array([0, 1])
    """

    X: Any
    labels: Labels
    items: NDArray[Any]
    names: list[str]
    rows: NDArray[np.int64]
    id: str | None
    known: Known
    notes: list[str]
    kinds: dict[str, str]


def read_training(
    known: Any,
    features: Any,
    *,
    id: str | None = None,  # noqa: A002
    columns: Sequence[str] | None = None,
    n_features: int | None = None,
    kinds: str | Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    on_unmatched: str = "raise",
    **options: Any,
) -> Training:
    r"""Features and labels of the same items, from two tables.

    Parameters
    ----------
    known : Known, or source of one
    features
        As for `read_table`.
    id : name of a column of the features, or "row", "row0" or "row1", optional
        It names the items, in the table of what is known as well, unless that has a column of its
        own for them. By default the column whose names are all different and hold all items,
        whatever it is called. "row0" and "row1" say that items are numbers of rows, counted from 0
        or 1, and "row" that they tell which. Labels without items are those of the rows in order.
    columns : list of names, optional
        The features; all other columns by default.
    n_features : int, optional
        How many there should be.
    kinds, missing
        What columns hold, as in `read_features`: numbers by default.
    on_unmatched : {"raise", "drop"}
        Items without features are an error, or are left out.
    **options
        Of `read_known`.

    Returns
    -------
    Training
        With a row for each row of the features.

    Examples
    --------
    >>> labels = {"item": ["x", "y"], "label": ["cat", "dog"]}
    >>> features = {"item": ["z", "y", "x"], "length": [1.0, 2.0, 3.0]}
    >>> found = read_training(labels, features)
    >>> found.labels.contour
    array([[1., 1.],
           [0., 1.],
           [1., 0.]])
    >>> print(*found.notes, sep="\n")
    the table: labels of 2 items; 2 say something; classes cat, dog (2 in all)
    the table: 3 rows of 1 feature (length), matched by 'item'
    1 row has no label: it counts as unknown (z)
    """
    check_option(on_unmatched, ("raise", "drop"), "on_unmatched")
    wanted, words = check_kinds(kinds), check_texts(missing, "missing", "words")
    stream = stream_table(features)
    table = open_table(stream)
    asked = None if columns is None else choose(table, columns)
    if id is not None and check_text(id, "id") not in ROWS:
        check_id(table, id)
    called: str | None = None
    source = known
    if not isinstance(known, Known):
        known, called = read_beside(known, stream, id, asked, options)
    dropped: list[str] = []
    try:
        found = match(known, table, id, asked, called, on_unmatched)
    except InputError as error:
        raise _with_fields(_with_order(error, known, called), known) from None
    if found is not None:
        known, dropped = _without_lost(known, found)
        found = found._replace(rows=found.rows[found.rows >= 0])
    name = find_named_id(table, id_columns(table, asked)) if found is None else found.id
    read = read_with_id(table, name, asked, wanted, words)
    check_usable(read, table, n_features)
    if name is not None:
        check_last_row(table, name)
    if found is None:
        warn_of_order(features, source, ("features", "labels"))
        found = in_order(known, table, len(read.X))
    rows, labels = found.rows, known.labels
    told = check_no_labels(labels.classes, read, table, wanted, lambda: (read.X[rows], labels))
    read = replace(read, notes=[*read.notes, *told])
    return joined(known, read, found, dropped, table)


def _with_order(error: InputError, known: Known, called: str | None) -> InputError:
    """An error about items that are not found; those of labels may not be meant to be."""
    if known.annotations is not None or called is None or is_usual(called):
        return error
    order = "leave them out with {ignore} if labels go with rows in order"
    remedies = (*error.remedies, order)
    settings = {**error.settings, "ignore": [called]}
    return TableError(error.expected, error.came, remedies, settings=settings)


def _with_fields(error: InputError, known: Known) -> InputError:
    """An error about items that are not found; those of an export may have other names as well."""
    fields = [
        note.settings["names"]
        for note in known.notes
        if isinstance(note, Note) and "item" in (note.settings.get("names") or {})
    ]
    if not fields:
        return error
    remedies = ("name items by another field of the export, as in {names}", *error.remedies)
    settings = {"names": fields[0], **error.settings}
    return TableError(error.expected, error.came, remedies, settings=settings)


def joined(
    known: Known, read: Features, found: Match, dropped: list[str], table: Source
) -> Training:
    """Features and labels side by side, with a word on how."""
    n_rows, rows = len(read.X), found.rows
    place = np.full(n_rows, len(known.labels))
    place[rows] = np.arange(len(rows))
    unknown = Labels.unknown(1, known.labels.classes.tolist())
    labels = Labels.concatenate([known.labels, unknown])[place]
    names = listed(read.names, len(read.names))
    notes = [
        *known.notes,
        f"{table.name}: {counted(n_rows, 'row')} of {counted(len(read.names), 'feature')} "
        f"({names}), {found.how}",
        *found.notes,
        *table.notes,
        *read.notes,
    ]
    items = np.arange(n_rows) if read.ids is None else read.ids
    if n_rows > len(rows):
        bare = np.setdiff1d(np.arange(n_rows), rows)
        notes.append(
            f"{counted(len(bare), 'row')} {'has' if len(bare) == 1 else 'have'} no label: "
            f"{'it counts' if len(bare) == 1 else 'they count'} as unknown "
            f"({listed([str(item) for item in items[bare[:5]]], len(bare))})"
        )
    if dropped:
        notes.append(
            f"{counted(len(dropped), 'item')} left out without a row of features "
            f"({listed(dropped)})"
        )
    return Training(read.X, labels, items, read.names, rows, read.id, known, notes, read.kinds)


def read_beside(
    source: Any,
    features: TableStream,
    id: str | None,  # noqa: A002
    columns: Sequence[str] | None,
    options: dict[str, Any],
) -> tuple[Known, str | None]:
    """What is known about items, and what their column is called; no items if there is none."""
    if options.get("form") in EXPORTS or tool_in(source) in EXPORTS:
        return read_known(source, **options), None
    stream = stream_table(flattened(source))
    names, called = names_beside(stream.table, features.table, id, columns, options)
    try:
        known = read_known(stream, **options | ({"names": names} if names else {}))
    except InputError as error:
        raise error.without("columns") from None  # which are those of the features here
    return (known if called is not None else known._replace(items=None)), called


def names_beside(
    known: Source,
    features: Source,
    id: str | None,  # noqa: A002
    columns: Sequence[str] | None,
    options: Mapping[str, Any],
) -> tuple[dict[str, str], str | None]:
    """Names of columns as given, with that of items if features tell it; and what it is called."""
    names = dict(names_given(options.get("names")))
    found = find_meanings(known, names, options.get("ignore", ()), options)
    if "item" in found:
        return names, names.get("item", found["item"])
    by_row = id in ROWS and id not in features.names
    if id is not None and id not in known.names and not by_row:
        raise TableError(
            f"{known.name} should have a column of items to be matched by {id!r}",
            f"has {listed([repr(name) for name in known.names])}",
            ("add it", "say {names}, as in item=photo"),
            settings={"names": None},
        )
    if id in known.names:
        names["item"] = str(id)
    elif not by_row and (shared := shared_names(known, features, columns)):
        names["item"] = shared[0]
    elif not by_row:
        check_order(known, features)
    return names, names.get("item")


def match(
    known: Known,
    table: Source,
    id: str | None,  # noqa: A002
    columns: Sequence[str] | None,
    called: str | None,
    on_unmatched: str,
) -> Match | None:
    """The row of features of each item; None if labels have no items, and go with rows in order."""
    if known.items is None:
        return None
    by_row = id in ROWS and id not in table.names
    names = id_columns(table, columns) if id is None else table.names[:1] if by_row else [id]
    loaded = _as_written(table, names)
    check_rows(table, loaded.num_rows)
    found = match_items(table, loaded, known.items, id, called)
    if found.id is not None:
        read_ids(table, found.id)  # which is refused if it repeats names
    check_lost(found, known.items, table, on_unmatched, loaded)
    return found


def _as_written(table: Source, names: Sequence[str]) -> Any:
    """Columns that may name items; dates, and codes such as 12e3, as they are written."""
    types, loaded = arrow().types, table.whole(names)
    tests = types.is_date, types.is_timestamp, types.is_floating
    for place, field in enumerate(loaded.schema):
        if any(test(field.type) for test in tests):
            loaded = loaded.set_column(place, field.name, table.named(field.name))
    return loaded


def _without_lost(known: Known, found: Match) -> tuple[Known, list[str]]:
    """What is known about the items that have features, and the items that have none."""
    keep = found.rows >= 0
    if keep.all() or known.items is None:
        return known, []
    lost = [str(item) for item in known.items[~keep].tolist()]
    annotations = known.annotations
    return known._replace(
        labels=known.labels[keep],
        items=known.items[keep],
        annotations=None if annotations is None else annotations[keep],
    ), lost


def in_order(known: Known, table: Source, n_rows: int) -> Match:
    """Labels without items, one for each row."""
    if len(known.labels) != n_rows:
        raise TableError(
            f"Labels without a column of items should go with the rows of {table.name} in "
            f"order, but there are {len(known.labels)} labels and {n_rows} rows; add a column "
            "'item' to both."
        )
    return Match(np.arange(n_rows), None, "matched in order", [])
