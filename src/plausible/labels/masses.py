"""Mass functions behind labels: the forms in which they come, their contour, another order."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible import belief
from plausible.belief import SparseMasses, check_masses, sparse_form
from plausible.checks import as_list, check_kind
from plausible.errors import InputError
from plausible.labels.parsing import check_classes

FloatArray = NDArray[np.float64]


def sparse_masses(
    masses: ArrayLike | SparseMasses | Sequence[Mapping[Any, float]],
    classes: Sequence[Hashable] | None,
) -> tuple[SparseMasses, NDArray[Any]]:
    """Masses (n, F) from any form, and the classes of their frame."""
    if isinstance(masses, Sequence) and len(masses) and isinstance(masses[0], Mapping):
        if classes is None:
            classes = sorted(check_classes(_names_in(masses)).tolist())
        sparse = belief.masses_from_dicts(masses, check_classes(classes).tolist())  # type: ignore[arg-type]
    else:
        checked = check_masses(masses)  # type: ignore[arg-type]
        sparse = _own_copy(checked) if isinstance(checked, SparseMasses) else sparse_form(checked)
    if sparse.values.ndim != 2:
        raise InputError(
            "masses should be two-dimensional, one row for each item",
            f"have shape {sparse.shape}",
            "write [masses] for a single item",
            parameter="masses",
            value=sparse.shape,
        )
    return sparse, check_classes(range(sparse.n_classes) if classes is None else classes)


def check_fit(masses: SparseMasses, shape: tuple[int, ...]) -> None:
    """Refuse masses that are not those of a contour of this shape."""
    check_kind(masses, SparseMasses, "masses", "use Labels.from_masses for other forms")
    n_items, n_classes = shape
    if (*masses.shape[:-1], masses.n_classes) != shape:
        raise InputError(
            f"masses should have a row for each of the {n_items} items on a frame of {n_classes} "
            "classes",
            f"have shape {masses.shape} on {masses.n_classes} classes",
            "make them of the same items and classes",
            parameter="masses",
            value=masses.shape,
        )


def contour_of_masses(masses: SparseMasses) -> FloatArray:
    """Plausibility (n, K) of each class: the masses of all sets that hold it."""
    inside = belief.membership(masses.focal_sets, masses.n_classes)
    contour = masses.values @ inside.astype(np.float64)
    return np.minimum(contour, 1.0, out=contour)  # sums of masses may exceed one by rounding


def masses_on_classes(probability: FloatArray) -> SparseMasses:
    """Probabilities (n, K) as masses on single classes."""
    n_classes = probability.shape[1]
    return SparseMasses(probability, 1 << np.arange(n_classes, dtype=np.int64), n_classes)


def reordered_masses(masses: SparseMasses, place: list[int]) -> SparseMasses:
    """The same masses, with class `place[k]` at k."""
    inside = belief.membership(masses.focal_sets, masses.n_classes)[:, place]
    return SparseMasses(masses.values, belief.sets_from_membership(inside), masses.n_classes)


def _own_copy(masses: SparseMasses) -> SparseMasses:
    """Masses that nobody else can write to."""
    values = masses.values.copy()
    values.flags.writeable = False
    return SparseMasses(values, masses.focal_sets, masses.n_classes)


def _names_in(rows: Sequence[Any]) -> set[Any]:
    """The classes in the sets of mass functions that are written as mappings."""
    sets = [key for row in rows if isinstance(row, Mapping) for key in row]
    return {name for key in sets for name in as_list(key, "A set", "class names")}


def masses_with_unknown(masses: SparseMasses, unknown: NDArray[np.bool_]) -> SparseMasses:
    """Masses on single classes, with all on the whole frame in rows of which nothing is known."""
    values = np.where(unknown[:, None], 0.0, masses.values)
    whole = (1 << masses.n_classes) - 1
    sets = np.append(masses.focal_sets, np.int64(whole))
    return SparseMasses(np.column_stack([values, unknown.astype(float)]), sets, masses.n_classes)
