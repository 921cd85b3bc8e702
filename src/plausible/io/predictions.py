"""What a model says about new items, as a table."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from plausible.belief import Decision
from plausible.checks import check_kind, check_text, check_texts, check_whole, shown
from plausible.io.features import Features, check_usable, read_features
from plausible.io.label_names import write_name, write_set
from plausible.io.training import find_id
from plausible.io.writing import write_table
from plausible.models import believe
from plausible.tables import TableError, listed, stream_table


def read_new(
    source: Any,
    names: Sequence[str] | None = None,
    n_features: int | None = None,
    id: str | None = None,  # noqa: A002
    usual: str | None = None,
) -> Features:
    """Features of new items, in the order in which a model has learned them.

    Parameters
    ----------
    source
        As for `read_table`.
    names : list, optional
        Features of the model, as `inspect_model` gives them; other columns are left aside.
    n_features : int, optional
        Their number, where their names are not known.
    id : name of a column, optional
        It names the items; by default the `usual` one, or the one called item, task, id, ...
    usual : name of a column, optional
        It named the items when the model was fitted, and need not be there.

    Examples
    --------
    >>> read_new({"width": [2.0], "item": ["x"], "length": [1.0]}, ["length", "width"]).X
    array([[1., 2.]])
    """
    names = names if names is None else check_texts(names, "names")
    usual = usual if usual is None else check_text(usual, "usual")
    n_features = n_features if n_features is None else check_whole(n_features, "n_features", 1)
    stream = stream_table(source)
    table = stream.table
    lost = [name for name in names or [] if name not in stream.names]
    if lost:
        raise TableError(
            f"{table.name} should have the features that the model has learned, but lacks "
            f"{listed([shown(name) for name in lost])}; its columns are "
            f"{listed([repr(name) for name in stream.names])}. Add them."
        )
    if id is None:
        id = usual if usual in stream.names else find_id(stream, None, names)  # noqa: A001
    read = read_features(stream, id, names)
    check_usable(read, table, n_features)
    return read


def write_predictions(
    model: Any,
    features: Features,
    path: str | os.PathLike[str],
    *,
    reject: float | None = None,
) -> Decision:
    r"""Write what a model says: an answer, the classes that remain possible, and degrees.

    Parameters
    ----------
    model : fitted classifier
    features : Features
    path : path, or "-"
        As for `write_table`.
    reject : float, optional
        Loss of refusing, where an error is 1: the answer is left empty where every class is less
        probable than 1 - reject.

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
    ...     print(*[line.split(",")[:3] for line in path.read_text().splitlines()], sep="\n")
    ['"item"', '"answer"', '"set"']
    ['"x"', '"a"', '"a"']
    ['"y"', '', '"a|b"']
    """
    check_kind(features, Features, "features", "read them with read_new or read_features")
    beliefs = believe(model, features.X)
    classes = beliefs.classes.tolist()
    decision = beliefs.decide(reject=reject)
    words = [write_name(name) for name in classes]
    sets = [
        write_set([classes[k] for k in np.flatnonzero(row)]) if row.any() else None
        for row in beliefs.sets
    ]
    items = np.arange(len(beliefs)) if features.ids is None else features.ids
    answers = [None if index < 0 else words[index] for index in decision.index.tolist()]
    columns: dict[str, Any] = {"item": items, "answer": answers, "set": sets}
    for what, table in (("probability", beliefs.probability), ("plausibility", beliefs.contour)):
        columns |= {f"{what}:{word}": table[:, k] for k, word in enumerate(words)}
    write_table(columns, path)
    return decision
