"""Labels into tables, in the columns that `plausible.io.label_files` describes."""

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible import belief
from plausible.checks import as_array, check_option
from plausible.errors import InputError
from plausible.io.label_names import write_name, write_set
from plausible.io.writing import write_table
from plausible.labels import Labels

KINDS = ("sets", "plausibility", "probability", "masses")
SUM_TOLERANCE = 1e-6


def write_labels(
    labels: Labels,
    path: str | os.PathLike[str],
    kind: str | None = None,
    *,
    items: ArrayLike | None = None,
) -> None:
    """Write labels so that `read_labels` reads the same ones.

    Parameters
    ----------
    labels : Labels
    path : path
        Its end says how it is written, as for `write_table`.
    kind : {"sets", "plausibility", "probability", "masses"}, optional
        By default whatever keeps all that is known: sets if these are sets, probabilities,
        masses with plausibilities beside them, or plausibilities alone.
    items : sequence (n,), optional
        Names of the items, for a first column "item".

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from plausible.labels import Labels
    >>> from plausible.io import read_labels, write_labels
    >>> labels = Labels.from_plausibility([[1.0, 0.3], [0.2, 1.0]], classes=["cat", "dog"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "labels.csv"
    ...     write_labels(labels, path)
    ...     print(path.read_text())
    ...     read_labels(path) == labels
    "plausibility:cat","plausibility:dog"
    1,0.3
    0.2,1
    <BLANKLINE>
    True
    """
    if not isinstance(labels, Labels):
        raise TypeError(
            f"labels should be Labels, but a {type(labels).__name__} came; make Labels of it, for "
            "example with as_labels."
        )
    kind = _simplest(labels) if kind is None else kind
    check_option(kind, KINDS, "kind")
    names = labels.classes.tolist()
    contour = labels.contour
    columns: dict[str, Any] = {} if items is None else {"item": as_array(items, "items")}
    if items is not None and columns["item"].shape != (len(labels),):
        raise ValueError(
            f"items should be one name for each of the {len(labels)} labels, but there are "
            f"{' x '.join(map(str, columns['item'].shape)) or 'no rows'}; give one for each."
        )
    if kind == "sets":
        if not np.isin(contour, (0.0, 1.0)).all():
            raise InputError(
                "Labels should be sets to be written as such",
                "some plausibilities lie between the bounds 0 and 1",
                "say {kind}",
                settings={"kind": "plausibility"},
            )
        columns |= _wide("possible", names, contour.astype(np.int8))
    elif kind == "probability" and not _are_probabilities(labels):
        raise InputError(
            "Labels should be probabilities to be written as such",
            "are not",
            "leave {kind} out",
            settings={"kind": None},
        )
    else:
        prefix = "probability" if kind == "probability" else "plausibility"
        columns |= _wide(prefix, names, contour)
    if kind != "probability" and labels.is_probability.any():
        columns["is_probability"] = labels.is_probability.astype(np.int8)
    if kind == "masses":
        masses = labels.masses()
        sets = belief.decode_sets(masses.focal_sets, names)
        columns |= {f"mass:{write_set(s)}": masses.values[:, f] for f, s in enumerate(sets)}
    if labels.conflict is not None:
        columns["conflict"] = labels.conflict
    write_table(columns, path)


def _wide(prefix: str, names: list[Any], values: NDArray[Any]) -> dict[str, Any]:
    return {f"{prefix}:{write_name(name)}": values[:, k] for k, name in enumerate(names)}


def _simplest(labels: Labels) -> str:
    """The shortest kind that keeps all that is known."""
    if _are_probabilities(labels) and labels.is_probability.any():
        return "probability"
    if not labels.has_masses:
        return "plausibility"
    if np.isin(labels.contour, (0.0, 1.0)).all() and _are_consonant(labels):
        return "sets"
    return "masses"


def _are_consonant(labels: Labels) -> bool:
    """Whether masses are those that the plausibilities alone would give."""
    masses, expected = labels.masses(), belief.consonant(labels.contour)
    return np.array_equal(masses.focal_sets, expected.focal_sets) and np.array_equal(
        masses.values, expected.values
    )


def _are_probabilities(labels: Labels) -> bool:
    """Whether all rows are probabilities (or hard), and so are masses where they are known."""
    if not (labels.is_probability | labels.is_hard).all():
        return False
    if (np.abs(labels.contour.sum(axis=1) - 1.0) > SUM_TOLERANCE).any():
        return False
    if not labels.has_masses:
        return labels.n_classes > belief.MAX_CLASSES
    masses = labels.masses()
    singles = 1 << np.arange(labels.n_classes, dtype=np.int64)
    return np.array_equal(masses.focal_sets, singles) and np.array_equal(
        masses.values, labels.contour
    )
