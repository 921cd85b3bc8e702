"""Classes that may not be what they seem: marks, names spelled in two ways, columns in an order."""

from collections.abc import Hashable, Sequence
from typing import Any

from numpy.typing import NDArray

from plausible.checks import as_array, shown
from plausible.errors import InputError

MARKS = frozenset(
    {
        "nan", "NaN", "None", "<NA>", "NaT", "NA", "N/A", "n/a", "null", "NULL", "?", "unlabeled",
        "unlabelled", "not sure", "cannot tell",
    }
)  # fmt: skip


def in_order_of(table: Any, classes: Sequence[Hashable] | NDArray[Any] | None) -> Any:
    """A data frame whose columns are named after the classes, in the order of these."""
    columns = list(getattr(table, "columns", ())) if hasattr(table, "shape") else []
    if classes is None or len(columns) < 2:
        return table
    wanted = [str(name) for name in classes]
    place = {str(name): k for k, name in enumerate(columns)}
    if wanted == list(place) or len(place) < len(columns):
        return table
    if sorted(place) != sorted(wanted):
        _refuse_other_places(place, wanted)
        return table
    return as_array(table, "the table")[:, [place[name] for name in wanted]]


def _refuse_other_places(place: dict[str, int], wanted: list[str]) -> None:
    """Refuse columns of which some are named after a class that is to be read elsewhere."""
    moved = [name for k, name in enumerate(wanted) if place.get(name, k) != k]
    if moved:
        raise InputError(
            "Columns should be named after the classes, or not after any of them",
            f"the columns are {shown(list(place))} and the classes {shown(wanted)}, so that "
            f"{moved[0]!r} would be read from another column",
            "list the classes as the columns are named, or give table.to_numpy() if these are in "
            "the order of the classes",
            parameter="classes",
        )


def alike_names(names: NDArray[Any]) -> tuple[str, str, str] | None:
    """Two classes that may be one, or of which one is a set with the other, and why; None if none.

    Single letters may differ by case.

    Examples
    --------
    >>> import numpy as np
    >>> alike_names(np.array(["cat", "cat ", "dog"])), alike_names(np.array(["a", "A", "b"]))
    (('cat', 'cat ', 'differ by case or blanks alone'), None)
    """
    if names.dtype.kind != "U":
        return None
    known: dict[str, str] = {}
    texts = names.tolist()
    for name in texts:
        bare = " ".join(name.split())
        other = known.setdefault(bare.casefold() if len(bare) > 1 else bare, name)
        if other != name:
            return other, name, "differ by case or blanks alone"
    for name in texts:
        parts = [part.strip() for part in name.split("|")]
        if len(parts) > 1 and all(part in known.values() for part in parts):
            return parts[0], name, "may be a class and a set with it (see Labels.from_sets)"
    return None


def unlabeled_mark(names: NDArray[Any]) -> Any:
    """A class that may be a mark for "not labeled" beside two others or more; None if none is.

    -1 beside classes that count from 0 or 1 on, or what becomes of missing values as text.

    Examples
    --------
    >>> import numpy as np
    >>> unlabeled_mark(np.array([-1, 0, 1])), unlabeled_mark(np.array(["cat", "dog", "nan"]))
    (-1, 'nan')
    """
    if len(names) < 3:
        return None
    if names.dtype.kind == "U":
        return next((name for name in names.tolist() if name in MARKS), None)
    if names.dtype.kind not in "if" or names.min() != -1:
        return None
    others = names[names >= 0]
    counts = len(others) == len(names) - 1 and others.min() in (0, 1) and others.max() <= 1000
    return -1 if counts else None
