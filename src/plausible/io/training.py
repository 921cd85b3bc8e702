"""What is known and the features that go with it, from two files, matched by item."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.errors import InputError
from plausible.experts import canonical
from plausible.io.annotation_files import ALIASES, find_columns
from plausible.io.features import Features, check_usable, column_of, read_features
from plausible.io.known import EXPORTS, Known, read_known
from plausible.labels import Labels
from plausible.tables import (
    Source,
    TableError,
    TableStream,
    counted,
    listed,
    open_table,
    plain,
    stream_table,
)


class Training(NamedTuple):
    """Features and what is known about their rows; what `read_training` returns.

    Attributes
    ----------
    X : float array (n, d)
    labels : Labels (n)
        Rows about which nothing was said are vacuous.
    items : array (n,) of names
    names : list of the d features
    rows : int array
        The row of features of each label of `known`.
    id : name of the column of items in the features, or None
    known : Known
        As it was read, in its own order.
    notes : list of str
        What was assumed, in words.

    Examples
    --------
    >>> read_training({"label": ["cat", "dog"]}, {"length": [1.0, 2.0]}).rows
    array([0, 1])
    """

    X: NDArray[np.float64]
    labels: Labels
    items: NDArray[Any]
    names: list[str]
    rows: NDArray[np.int64]
    id: str | None
    known: Known
    notes: list[str]


def read_training(
    known: Any,
    features: Any,
    *,
    id: str | None = None,  # noqa: A002
    columns: Sequence[str] | None = None,
    n_features: int | None = None,
    **options: Any,
) -> Training:
    r"""Features and labels of the same items, from two tables.

    Parameters
    ----------
    known : Known, or source of one
    features
        As for `read_table`.
    id : name of a column of the features, optional
        It names the items, in the table of what is known as well, unless that has a column of its
        own for them. By default the column named as such (item, task, id, ...), one of text that
        both tables have, or one that holds all items; where there is none, items are numbers of
        rows, counted from 0, or labels are those of the rows in order.
    columns : list of names, optional
        The features; all other columns by default.
    n_features : int, optional
        How many there should be.
    **options
        Of `read_known`.

    Returns
    -------
    Training
        With a row for each row of the features. It is an error if an item has no features.

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
    the table: labels of 2 items; 2 say something; classes cat, dog
    the table: 3 rows of 1 feature (length), matched by 'item'
    1 row has no label: it counts as unknown
    """
    stream = stream_table(features)
    table = open_table(stream)
    if not isinstance(known, Known):
        known, id = read_beside(known, stream, id, options)  # noqa: A001
    if id is None:
        id = find_id(stream, known.items, columns)  # noqa: A001
        check_found(id, known, table)
    read = read_features(stream, id, columns)
    check_usable(read, table, n_features)
    n_rows = len(read.X)
    rows, how = match(known, read, id, table)
    place = np.full(n_rows, len(known.labels))
    place[rows] = np.arange(len(rows))
    unknown = Labels.unknown(1, known.labels.classes.tolist())
    labels = Labels.concatenate([known.labels, unknown])[place]
    names = listed(read.names, len(read.names))
    notes = [
        *known.notes,
        f"{table.name}: {counted(n_rows, 'row')} of {counted(len(read.names), 'feature')} "
        f"({names}), {how}",
    ]
    if n_rows > len(rows):
        left = n_rows - len(rows)
        notes.append(
            f"{counted(left, 'row')} {'has' if left == 1 else 'have'} no label: "
            f"{'it counts' if left == 1 else 'they count'} as unknown"
        )
    items = np.arange(n_rows) if read.ids is None else read.ids
    return Training(read.X, labels, items, read.names, rows, id, known, notes)


def read_beside(
    source: Any,
    features: TableStream,
    id: str | None,  # noqa: A002
    options: dict[str, Any],
) -> tuple[Known, str | None]:
    """What is known about items, and the column that both tables name them by, if there is one."""
    if options.get("form") in EXPORTS:
        return read_known(source, **options), id
    stream = stream_table(source)
    names = dict(options.get("names") or {})
    if "item" not in find_columns(stream.table, names):
        if id is not None and id not in stream.names:
            raise TableError(
                f"{stream.table.name} should have a column of items to be matched by {id!r}",
                f"has {listed([repr(name) for name in stream.names])}",
                ("add it", "say {names}, as in item=photo"),
                settings={"names": None},
            )
        shared = [id] if id is not None else shared_text(stream, features)
        if shared:
            id = names["item"] = shared[0]  # noqa: A001
    try:
        return read_known(stream, **options | ({"names": names} if names else {})), id
    except InputError as error:
        raise error.without("columns") from None  # which are those of the features here


def shared_text(stream: TableStream, features: TableStream) -> list[str]:
    """Columns of text that two tables have both."""
    kinds = {field.name: str(field.type) for field in stream.schema}
    return [
        name
        for name in features.names
        if "string" in kinds.get(name, "")
        and name not in (*ALIASES["label"], *ALIASES["annotator"])
    ]


def find_id(
    stream: TableStream, items: NDArray[Any] | None, columns: Sequence[str] | None = None
) -> str | None:
    """The column that names the items: by its name, or else because it holds all of them."""
    free = [name for name in stream.names if name not in (columns or ())]
    named = [name for name in ALIASES["item"] if name in free]
    if named:
        return named[0]
    wanted = set() if items is None else set(map(canonical, items.tolist()))
    if all(item.isdecimal() for item in wanted):  # a feature may hold all numbers, too
        return None
    for name in free:
        column = plain(column_of(stream.table, name))
        if column is not None and wanted <= set(map(canonical, column.to_pylist())):
            return name
    return None


def check_found(id: str | None, known: Known, table: Source) -> None:  # noqa: A002
    """Refuse features of which no column holds the items, unless these are numbers of rows."""
    names = [] if known.items is None else [canonical(item) for item in known.items.tolist()]
    if id is None and not all(name.isdecimal() for name in names):
        raise TableError(
            f"A column of {table.name} should hold all items ({listed(names)})",
            "none does",
            "name it with {id} to see which are missing, and add these rows",
            settings={"id": None},
        )


def match(known: Known, read: Features, id: str | None, table: Source) -> tuple[Any, str]:  # noqa: A002
    """The row of features of each label, and how it was found."""
    n_rows = len(read.X)
    if known.items is None:
        if len(known.labels) != n_rows:
            raise TableError(
                f"Labels without a column of items should go with the rows of {table.name} in "
                f"order, but there are {len(known.labels)} labels and {n_rows} rows; add a column "
                "'item' to both."
            )
        return np.arange(n_rows), "matched in order"
    names = [canonical(item) for item in known.items.tolist()]
    if id is None:
        place = {str(row): row for row in range(n_rows)}
        how = "whose numbers, from 0, are the items"
        remedy: tuple[str, ...] = ("name the column of items with {id}",)
    else:
        assert read.ids is not None
        place = {canonical(name): row for row, name in enumerate(read.ids.tolist())}
        how, remedy = f"matched by {id!r}", ("add the rows", "leave these items out")
    lost = [name for name in names if name not in place]
    if lost:
        raise TableError(
            f"Every item should have a row in {table.name}, {how}",
            f"{counted(len(lost), 'item')} of {len(names)} "
            f"{'has' if len(lost) == 1 else 'have'} none ({listed(lost)})",
            remedy,
            value=lost[0],
            settings={"id": None},
        )
    return np.array([place[name] for name in names]), how
