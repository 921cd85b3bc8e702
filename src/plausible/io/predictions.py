"""What a model says about new items, as a table."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from plausible.base import FeatureTable, NamedArray
from plausible.belief import Decision
from plausible.checks import check_kind, check_text, check_texts, check_whole, shown
from plausible.io.answer_columns import plainly
from plausible.io.features import (
    ROWS,
    Features,
    check_id,
    check_kinds,
    check_usable,
    find_named_id,
    id_columns,
    read_with_id,
)
from plausible.io.label_names import write_name, write_set
from plausible.io.last_rows import check_last_row
from plausible.io.pieces import Piece
from plausible.io.writing import write_table
from plausible.models import FeaturePreparation, believe
from plausible.tables import Source, TableError, arrow, choose, listed, stream_table

KEPT = ("all", "none")
GIVEN = "given:"  # before the name of a column whose name the decisions need


def read_new(
    source: Any,
    names: Sequence[str] | None = None,
    n_features: int | None = None,
    id: str | None = None,  # noqa: A002
    usual: str | None = None,
    *,
    kinds: str | Mapping[str, str] | None = None,
    keep: str | Sequence[str] = "all",
    missing: Sequence[str] = (),
) -> Features:
    """Features of new items, in the order in which a model has learned them.

    Parameters
    ----------
    source
        As for `read_table`.
    names : list, optional
        Features of the model, as `inspect_model` gives them.
    n_features : int, optional
        Their number, where their names are not known.
    id : name of a column, optional
        It names the items; by default the `usual` one, or the one called item, task, id, ...
    usual : name of a column, optional
        It named the items when the model was fitted, and need not be there.
    kinds, missing
        What columns hold, as in `read_features`; of a model with a preparation, `kinds_of(model)`.
    keep : {"all", "none"}, or list of names
        Other columns that go with the items, and pass through to the decisions.

    Examples
    --------
    >>> new = {"width": [2.0], "item": ["x"], "length": [1.0], "place": ["pond"]}
    >>> read = read_new(new, ["length", "width"])
    >>> read.X, read.others.column_names
    (array([[1., 2.]]), ['place'])
    """
    names = names if names is None else check_texts(names, "names")
    usual = usual if usual is None else check_text(usual, "usual")
    n_features = n_features if n_features is None else check_whole(n_features, "n_features", 1)
    wanted, words = check_kinds(kinds), check_texts(missing, "missing", "words")
    stream = stream_table(source)
    table = stream.table
    lost = [name for name in names or [] if name not in stream.names]
    if lost:
        raise TableError(
            f"{table.name} should have the features that the model has learned, but lacks "
            f"{listed([shown(name) for name in lost])}; its columns are "
            f"{listed([repr(name) for name in stream.names])}. "
            f"{_said_otherwise(lost, stream.names)}"
        )
    name = id_of_new(table, names, id, usual)
    if name is not None and not isinstance(table, Piece):  # of which the last one is checked
        check_last_row(table, name)
    read = read_with_id(table, name, names, wanted, words)
    check_usable(read, table, n_features)
    others = _kept_columns(table, read, keep)
    return replace(read, others=others, notes=[*table.notes, *read.notes])


def _said_otherwise(lost: Sequence[str], names: Sequence[str]) -> str:
    """What to do about features that are not there, or are written in another way."""
    plain = {plainly(name): name for name in names}
    pairs = [(plain[plainly(name)], name) for name in lost if plainly(name) in plain]
    if len(pairs) < len(lost):
        return "Add them."
    return f"Rename {listed([f'{ours!r} to {theirs!r}' for ours, theirs in pairs])}."


def id_of_new(
    table: Source,
    names: Sequence[str] | None,
    id: str | None,  # noqa: A002
    usual: str | None,
) -> str | None:
    """The column that names new items, if there is one."""
    free = id_columns(table, names)
    if id is not None and (check_text(id, "id") not in ROWS or id in table.names):
        return check_id(table, id)
    if id is not None:
        return None
    return usual if usual in free else find_named_id(table, free)


def _kept_columns(table: Source, read: Features, keep: str | Sequence[str]) -> Any:
    """Columns that pass through to the decisions, as a table of Arrow; None if there are none."""
    if isinstance(keep, str) and keep in KEPT:
        used = {*read.names, read.id}
        names = [name for name in choose(table, None) if name not in used and keep == "all"]
    else:
        names = check_texts(keep, "keep")
        lost = [name for name in names if name not in table.names]
        if lost:
            raise TableError(
                f"keep should be 'all', 'none' or columns of {table.name}, but {shown(lost[0])} is "
                f"not there; its columns are {listed([repr(name) for name in table.names])}."
            )
        names = [name for name in names if name != read.id]
    return table.whole(names) if names else None


def preparation_of(model: Any) -> FeaturePreparation | None:
    """What a pipeline does with columns first, if it does."""
    first = model[0] if hasattr(model, "steps") and len(model) else None
    return first if isinstance(first, FeaturePreparation) else None


def kinds_of(model: Any) -> dict[str, str] | None:
    """What the columns of a model's features hold; None if they are numbers without gaps.

    Examples
    --------
    >>> from plausible.models import SoftNearestCentroid
    >>> kinds_of(SoftNearestCentroid()) is None
    True
    """
    preparation = preparation_of(model)
    if preparation is None:
        return None
    names = getattr(preparation, "feature_names_in_", None)
    return {} if names is None else dict(zip(names.tolist(), preparation.kinds_, strict=True))


def aligned(model: Any, features: Features, names: Sequence[str] | None) -> Any:
    """Features in the order in which a model has learned them, by their names.

    A model that does not know the names of its features cannot be asked about columns by name: that
    is refused, unless `names` tells what it was fitted to.
    """
    learned = getattr(model, "feature_names_in_", None)
    if names is None and learned is not None:
        names = learned.tolist()
    X = features.X
    if not isinstance(X, NamedArray | FeatureTable):
        return X
    if names is None:
        if len(features.names) > 1:
            first = type(model[0] if hasattr(model, "steps") else model).__name__
            raise ValueError(
                f"model should know the names of its features, to be given those of the same "
                f"names, but its {first} was fitted to an array without; give names=, such as "
                "training.names, or fit a model of this library to training.X itself."
            )
        return np.asarray(X)
    lost = [name for name in names if name not in features.names]
    if lost:
        raise ValueError(
            f"features should have those that the model has learned, but lack "
            f"{listed([shown(name) for name in lost])}; they are "
            f"{listed([repr(name) for name in features.names])}. Add them."
        )
    chosen = X.select(list(names))
    return chosen if learned is not None else np.asarray(chosen)


def write_predictions(
    model: Any,
    features: Features,
    path: str | os.PathLike[str],
    *,
    reject: float | None = None,
    names: Sequence[str] | None = None,
) -> Decision:
    r"""Write what a model says: an answer, the classes that remain possible, and degrees.

    Columns of the features go to the model by their names, in whatever order they stand. The table
    has the item, what the features hold beside (`Features.others`), the answer with its probability
    and plausibility (empty where the answer is refused), the set of classes that remain possible,
    and both degrees of each class.

    Parameters
    ----------
    model : fitted classifier
    features : Features
    path : path, or "-"
        As for `write_table`.
    reject : float, optional
        Loss of refusing, where an error is 1: the answer is left empty where every class is less
        probable than 1 - reject.
    names : list, optional
        Names of the columns that the model was fitted to, if it does not know them.

    Returns
    -------
    Decision

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from plausible.io import read_features
    >>> from plausible.models import SoftNearestCentroid
    >>> model = SoftNearestCentroid().fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    >>> new = read_features({"item": ["x", "y"], "size": [0.5, 2.9]}, id="item")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "decisions.csv"
    ...     decision = write_predictions(model, new, path, reject=0.2)
    ...     lines = path.read_text().splitlines()
    >>> lines[0].split(",")[:5]
    ['"item"', '"answer"', '"probability"', '"plausibility"', '"set"']
    >>> lines[1][:13], lines[2][:13]                               # an answer, and a refusal
    ('"x","a",0.999', '"y",,,,"a|b",')
    """
    check_kind(features, Features, "features", "read them with read_new or read_features")
    columns, decision = decisions_of(model, features, reject, names)
    write_table(columns, path)
    return decision


def decisions_of(
    model: Any, features: Features, reject: float | None, names: Sequence[str] | None
) -> tuple[dict[str, Any], Decision]:
    """The columns of a table of decisions, and what was decided."""
    names = names if names is None else check_texts(names, "names", "names of features")
    beliefs = believe(model, aligned(model, features, names))
    classes = beliefs.classes.tolist()
    decision = beliefs.decide(reject=reject)
    words = [write_name(name) for name in classes]
    sets = [
        write_set([classes[k] for k in np.flatnonzero(row)]) if row.any() else None
        for row in beliefs.sets
    ]
    degrees = {"probability": beliefs.probability, "plausibility": beliefs.contour}
    items = np.arange(len(beliefs)) if features.ids is None else features.ids
    columns: dict[str, Any] = {"item": items}
    columns["answer"] = [None if k < 0 else words[k] for k in decision.index.tolist()]
    for what, table in degrees.items():
        columns[what] = of_answers(table, decision.index)
    columns["set"] = sets
    for what, table in degrees.items():
        columns |= {f"{what}:{word}": table[:, k] for k, word in enumerate(words)}
    return _with_others(columns, features.others), decision


def of_answers(degrees: Any, index: Any) -> Any:
    """The degree of each answer, nothing where it is refused."""
    chosen = degrees[np.arange(len(degrees)), np.maximum(index, 0)]
    return arrow().array(chosen, mask=index < 0)


def _with_others(columns: dict[str, Any], others: Any) -> dict[str, Any]:
    """Columns of decisions, with what came with the items after their names."""
    if others is None:
        return columns
    taken = {name.partition(":")[0] for name in columns}
    passed = {
        f"{GIVEN}{name}" if name.partition(":")[0] in taken else name: others.column(name)
        for name in others.column_names
    }
    return {"item": columns["item"]} | passed | columns
