"""What is known and the features that go with it, from two files, matched by item."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.belief.errors import check_option
from plausible.experts import Annotations
from plausible.experts.tables import canonical
from plausible.io.annotation_files import (
    ALIASES,
    find_columns,
    read_annotations,
    read_doccano,
    read_label_studio,
)
from plausible.io.errors import TableError, counted, listed
from plausible.io.features import Features, read_features, read_ids
from plausible.io.label_files import PREFIXES, read_labels
from plausible.io.tables import Source, TableStream, open_table, read_table, stream_table
from plausible.labels import Labels

FORMS = ("answers", "labels", "label-studio", "doccano")


class Known(NamedTuple):
    """What is known about items; what `read_known` returns.

    Attributes
    ----------
    labels : Labels
    items : array (n,) of names, or None where labels have none
    annotations : Annotations, or None
    notes : list of str
        What was assumed, in words.

    Examples
    --------
    >>> read_known({"item": ["x", "y"], "label": ["cat", "dog"]}).items.tolist()
    ['x', 'y']
    """

    labels: Labels
    items: NDArray[Any] | None
    annotations: Annotations | None
    notes: list[str]


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
    known: Known
    notes: list[str]


def read_known(
    source: Any,
    form: str | None = None,
    *,
    rule: str = "dempster",
    doubt: str | float | Mapping[Any, float] | None = None,
    on_conflict: str = "raise",
    **options: Any,
) -> Known:
    r"""Labels from a table of answers, which are pooled, or of labels.

    Parameters
    ----------
    source
        As for `read_table`.
    form : {"answers", "labels", "label-studio", "doccano"}, optional
        By default a table with a column of annotators, or one that has no columns of labels, holds
        answers.
    rule, doubt, on_conflict
        How answers are pooled, as in `Annotations.pool`.
    **options
        Further ones of `read_annotations` or `read_labels`.

    Examples
    --------
    >>> import io
    >>> answers = "item,annotator,label,doubt\n1,ann,cat,0.1\n1,bob,dog,0.5\n2,ann,dog,0.2\n"
    >>> known = read_known(io.StringIO(answers))
    >>> known.labels.contour.round(2)
    array([[0.91, 0.18],
           [0.2 , 1.  ]])
    >>> print(*known.notes, sep="\n")
    the file object: 3 answers of 2 people about 2 items; classes cat, dog
    pooled by Dempster's rule with the doubts of the answers themselves (0.01 at least)
    """
    if form is not None:
        check_option(form, FORMS, "form")
    if form in ("label-studio", "doccano"):
        reader = read_label_studio if form == "label-studio" else read_doccano
        return pooled(reader(source, **options), repr(str(source)), rule, doubt, on_conflict)
    stream = stream_table(source)
    table = open_table(stream)
    if form is None:
        form = "labels" if holds_labels(table, options) else "answers"
    if form == "answers":
        return pooled(read_annotations(stream, **options), table.name, rule, doubt, on_conflict)
    if rule != "dempster" or doubt is not None:
        raise ValueError(
            f"Answers of several people should be pooled, but {table.name} holds labels, one for "
            "each item; leave rule and doubt out."
        )
    labels = read_labels(stream, **options)
    item = find_columns(table, {}).get("item")
    items = None if item is None else read_ids(table, item)
    said = int((labels.informativeness > 0).sum())
    notes = [f"{table.name}: labels of {counted(len(labels), 'item')}; {said} say something"]
    return Known(labels, items, None, notes)


def holds_labels(table: Source, options: Mapping[str, Any]) -> bool:
    """Whether a table has columns of labels, and none of annotators."""
    found = find_columns(table, options.get("names") or {})
    if "annotator" in found or "layout" in options:
        return False
    prefixed = any(name.partition(":")[0] in PREFIXES for name in table.names if ":" in name)
    return prefixed or "set" in table.names or "label" in found


def pooled(annotations: Annotations, name: str, rule: str, doubt: Any, on_conflict: str) -> Known:
    """Pooled answers, with a word on how."""
    labels = annotations.pool(rule, doubt, on_conflict=on_conflict)
    classes = listed([str(name) for name in annotations.classes], len(annotations.classes))
    how = "Dempster's rule" if rule == "dempster" else f"the rule {rule!r}"
    if doubt is None and annotations.doubt is not None:
        doubts = "the doubts of the answers themselves (0.01 at least)"
    elif doubt is None or isinstance(doubt, str):
        doubts = "doubts learnt from the agreement of people"
    else:
        doubts = f"doubt {doubt}" if np.ndim(doubt) == 0 else "the given doubts"
        doubts += "" if annotations.doubt is None else " on top of that of the answers"
    notes = [
        f"{name}: {len(annotations)} answers of {len(annotations.annotators)} people about "
        f"{counted(len(annotations.items), 'item')}; classes {classes}",
        f"pooled by {how} with {doubts}",
    ]
    return Known(labels, annotations.items, annotations, notes)


def read_training(
    known: Any,
    features: Any,
    *,
    id: str | None = None,  # noqa: A002
    columns: Sequence[str] | None = None,
    **options: Any,
) -> Training:
    r"""Features and labels of the same items, from two tables.

    Parameters
    ----------
    known : Known, or source of one
    features
        As for `read_table`.
    id : name of a column of the features, optional
        It names the items. By default the column named as such (item, task, id, ...), or one that
        holds all items; where there is none, items are numbers of rows, counted from 0, or labels
        are those of the rows in order.
    columns : list of names, optional
        The features; all other columns by default.
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
    the table: labels of 2 items; 2 say something
    the table: 3 rows of 1 feature (length), matched by 'item'
    1 row has no label: it counts as unknown
    """
    known = known if isinstance(known, Known) else read_known(known, **options)
    stream = stream_table(features)
    table = open_table(stream)
    if id is None and known.items is not None:
        id = find_id(stream, known.items, columns)  # noqa: A001
    read = read_features(stream, id, columns)
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
    return Training(read.X, labels, items, read.names, rows, known, notes)


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
        if wanted <= set(map(canonical, read_table(stream, name).column(0).to_pylist())):
            return name
    return None


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
        remedy = "name the column of items with id="
    else:
        assert read.ids is not None
        place = {canonical(name): row for row, name in enumerate(read.ids.tolist())}
        how, remedy = f"matched by {id!r}", "add the rows, or leave these items out"
    lost = [name for name in names if name not in place]
    if lost:
        raise TableError(
            f"Every item should have a row in {table.name}, {how}, but "
            f"{counted(len(lost), 'item')} of {len(names)} "
            f"{'has' if len(lost) == 1 else 'have'} none ({listed(lost)}); {remedy}."
        )
    return np.array([place[name] for name in names]), how
