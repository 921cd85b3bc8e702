"""Answers into tables that `read_annotations` reads as the same answers.

Sets of classes named by text are written as people would: item, annotator, label. All else has a
column for each class or set, whose names say what the numbers mean, as in `write_labels`.
"""

import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible import belief
from plausible.errors import InputError
from plausible.experts import (
    ABSTAIN,
    ANYONE,
    CANNOT_TELL,
    NONE,
    NONE_OF_THESE,
    Annotations,
    manner,
    sort_key,
    understand,
)
from plausible.io.label_names import write_name, write_set
from plausible.io.writing import write_table


def write_annotations(annotations: Annotations, path: str | os.PathLike[str]) -> None:
    """Write answers so that `read_annotations` reads the same ones.

    Parameters
    ----------
    annotations : Annotations
        Items and people without any answer are not written.
    path : path
        Its end says how it is written, as for `write_table`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from plausible.experts import Annotations
    >>> from plausible.io import read_annotations, write_annotations
    >>> answers = Annotations.from_long(
    ...     [1, 1, 2], ["ann", "bob", "ann"], ["cat", "cat|dog", None], doubt=[0.1, 0, 0]
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "answers.csv"
    ...     write_annotations(answers, path)
    ...     print(path.read_text())
    ...     bool((read_annotations(path).pool().contour == answers.pool().contour).all())
    "item","annotator","label","doubt"
    1,"ann","cat",0.1
    1,"bob","cat|dog",0
    2,"ann","cat|dog",0
    <BLANKLINE>
    True
    """
    if not isinstance(annotations, Annotations):
        raise TypeError(
            f"annotations should be Annotations, but a {type(annotations).__name__} came; make "
            "them with Annotations.from_long."
        )
    order = np.arange(len(annotations))
    if not _is_in_order(annotations.item):  # items are read in the order of their first rows
        order = np.argsort(annotations.item, kind="stable")
    columns: dict[str, Any] = {"item": annotations.items[annotations.item[order]]}
    if annotations.annotators.tolist() != [ANYONE]:
        columns["annotator"] = annotations.annotators[annotations.annotator[order]]
    statement = annotations.statement[order]
    names = cells_of(annotations) if _are_sets(annotations) else None
    if names is not None:
        columns["label"] = names[statement]
    else:
        columns |= {name: values[statement] for name, values in degrees(annotations).items()}
    if annotations.doubt is not None:
        columns["doubt"] = annotations.doubt[order]
    write_table({name: plain(values) for name, values in columns.items()}, path)


def plain(values: NDArray[Any]) -> Any:
    """A column as pyarrow takes it."""
    return values.tolist() if values.dtype.kind in "OUS" else values


def _is_in_order(item: NDArray[np.int64]) -> bool:
    """Whether items first come in the order of their numbers."""
    first = np.unique(item, return_index=True)[1]
    return bool((np.diff(first) > 0).all())


def _are_sets(annotations: Annotations) -> bool:
    """Whether every statement is a set of classes."""
    return annotations.given_masses is None and bool((annotations.facts.rows.data == 1).all())


def cells_of(annotations: Annotations) -> NDArray[Any] | None:
    """The statements in words, if these would be read as the same classes in the same order."""
    names = annotations.classes.tolist()
    used = np.unique(annotations.statement)
    rows = annotations.facts.rows
    cells: list[str] = [""] * rows.shape[0]
    quoted = _in_quotes(names)
    if quoted is None:
        return None
    silent, empty = annotations.facts.is_unknown, annotations.facts.is_empty
    named: set[int] = set()
    for k in used.tolist():
        members = rows.indices[rows.indptr[k] : rows.indptr[k + 1]].tolist()
        if silent[k] and len(names) > 1:
            cells[k] = CANNOT_TELL
        elif empty[k]:
            cells[k] = NONE_OF_THESE
        else:
            cells[k] = "|".join(quoted[member] for member in members)
            named |= set(members)
    if len(named) < len(names):  # a class that nobody named would be lost
        silent_used = [k for k in used.tolist() if silent[k]]
        if not silent_used:
            return None
        for k in silent_used:
            cells[k] = "|".join(quoted)
    return np.array(cells, dtype=object)


def _in_quotes(names: list[Any]) -> list[str] | None:
    """Names as cells, in JSON's quotes where they would be read as something else."""
    if not all(isinstance(name, str) for name in names) or sorted(names, key=sort_key) != names:
        return None
    how = manner(None, "|", list(ABSTAIN), list(NONE), None)
    try:
        said, notes = understand(names, [1] * len(names), how)
    except InputError:
        said, notes = [], []
    is_safe = said == [(name,) for name in names] and not how.fixed and not notes
    is_safe = is_safe and all(write_name(name) == name for name in names)
    return names if is_safe else [json.dumps(name, ensure_ascii=False) for name in names]


def degrees(annotations: Annotations) -> dict[str, NDArray[Any]]:
    """A column of numbers (S,) for each class, or for each set of classes."""
    names, facts = annotations.classes.tolist(), annotations.facts
    contours = annotations.contours
    is_precise = annotations.is_bayesian | facts.is_hard
    if annotations.given_masses is None and not facts.is_empty.any():
        if _are_sets(annotations):
            return wide("possible", names, contours.astype(np.int8))
        if not annotations.is_bayesian.any():
            return wide("plausibility", names, contours)
        if is_precise.all():
            return wide("probability", names, contours)
    elif _are_sets(annotations):
        return wide("possible", names, contours.astype(np.int8))
    masses = annotations.masses()
    sets = belief.decode_sets(masses.focal_sets, names)
    columns = wide("plausibility", names, contours)
    return columns | {f"mass:{write_set(s)}": masses.values[:, f] for f, s in enumerate(sets)}


def wide(prefix: str, names: list[Any], values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Columns of numbers whose names say what they mean."""
    return {f"{prefix}:{write_name(name)}": values[:, k] for k, name in enumerate(names)}
