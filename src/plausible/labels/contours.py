"""Contours (n, K), the plausibility of each class for each item: what rows say, and operations.

All are free functions on arrays; `Labels` holds a contour that `check_contour` has let in.
"""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.belief import ROUNDING, check_unit_interval
from plausible.checks import as_array, example, found, name_rows, shown
from plausible.errors import InputError
from plausible.labels.parsing import check_classes
from plausible.short_rows import row_all, row_any, row_max, row_min, row_sum

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]


def check_contour(contour: FloatArray, n_classes: int) -> FloatArray:
    """A copy of the contour, refusing wrong shapes, values outside [0, 1] and rows of zeros."""
    checked = let_in(contour, n_classes)
    return contour.copy() if checked is contour else checked


def let_in(contour: FloatArray, n_classes: int) -> FloatArray:
    """The same without a copy, unless rounding has led beyond 0 or 1."""
    check_width(contour, n_classes)
    low, high = (contour.min(), contour.max()) if contour.size else (0.0, 0.0)
    if not (low >= -ROUNDING and high <= 1.0 + ROUNDING):  # also true for NaN
        bad = ~((contour >= -ROUNDING) & (contour <= 1.0 + ROUNDING))
        remedy = "correct them"
        if low >= 0:
            remedy = "give Labels.from_probability(y / y.sum(axis=1, keepdims=True)) if these are "
            remedy += "counts or percentages"
        raise InputError(
            "Plausibilities should lie in [0, 1]",
            f"{found(contour, bad, bad.any(axis=1))}",
            f"{remedy}, divide each row by its maximum, or mark what is not known with a row of "
            "ones",
            value=example(contour, bad),
            rows=row_any(bad),
        )
    checked = contour if low >= 0.0 and high <= 1.0 else np.clip(contour, 0.0, 1.0)
    if low <= 0.0:
        check_possible(checked)
    return checked


def check_width(contour: NDArray[Any], n_classes: int) -> None:
    """Refuse a table that does not have one column for each class."""
    if contour.ndim == 1 and contour.size:
        raise InputError(
            "Numbers of the classes should be a table, with a row for each item",
            f"there is one row of {contour.size}",
            "write [[...]] for a single item",
            value=contour.shape,
        )
    if contour.ndim != 2 or contour.shape[1] != n_classes:
        raise InputError(
            f"Plausibilities should have one column for each of the {n_classes} classes",
            f"have shape {contour.shape}",
            f"give an array (n, {n_classes}), or other classes",
            value=contour.shape,
        )


def check_possible(contour: NDArray[Any]) -> None:
    """Refuse rows in which no class is possible."""
    impossible = ~row_any(contour)
    if impossible.any():
        raise InputError(
            "Labels should leave each item a possible class",
            f"there is none in {name_rows(impossible)}",
            "give at least one class a positive plausibility, or mark the item as unknown with "
            "a row of ones",
            rows=impossible,
        )


def check_conflict(conflict: ArrayLike | None, n_items: int) -> FloatArray | None:
    """Conflict of each item, if it is known."""
    if conflict is None:
        return None
    checked = check_unit_interval(conflict, "conflict", last_axis_is_row=False).copy()
    if checked.shape != (n_items,):
        raise InputError(
            f"conflict should be one number for each of the {n_items} items",
            f"has shape {checked.shape}",
            f"give an array ({n_items},)",
            parameter="conflict",
            value=checked.shape,
        )
    return checked


def check_shares(is_probability: ArrayLike | None, contour: FloatArray) -> BoolArray | None:
    """Which rows (n,) are probabilities of several classes; None if there are none."""
    if is_probability is None:
        return None
    given = as_array(is_probability, "is_probability")
    if given.shape != (len(contour),) or given.dtype != bool:
        raise InputError(
            f"is_probability should be True or False for each of the {len(contour)} items",
            f"came as {given.dtype} of shape {given.shape}",
            f"give an array ({len(contour)},)",
            parameter="is_probability",
        )
    shares = given & (row_sum(contour > 0) > 1)
    return shares if shares.any() else None


def check_doubt(doubt: ArrayLike, n_items: int) -> FloatArray:
    """Doubt in [0, 1]: one number, or one for each item."""
    checked = check_unit_interval(doubt, "doubt", last_axis_is_row=False)
    if checked.shape not in ((), (n_items,)):
        raise InputError(
            f"doubt should be one number or one for each of the {n_items} items",
            f"has shape {checked.shape}",
            f"give an array ({n_items},)",
            parameter="doubt",
            value=checked.shape,
        )
    return checked


def unknown_rows(contour: FloatArray) -> BoolArray:
    """Rows that favor no class over another; of one class alone, none is unknown."""
    if contour.shape[1] == 1:
        return np.zeros(len(contour), dtype=np.bool_)
    return np.asarray(row_all(contour == contour[:, :1]))


def informativeness(contour: FloatArray) -> FloatArray:
    """1 - min / max of each row."""
    if contour.shape[1] == 1:
        return np.ones(len(contour))
    return 1.0 - row_min(contour) / row_max(contour)


def imprecision(contour: FloatArray) -> FloatArray:
    """How many classes each row leaves, less one, as a share of K - 1."""
    if contour.shape[1] == 1:
        return np.zeros(len(contour))
    left = row_sum(contour) / row_max(contour)
    return (left - 1.0) / (contour.shape[1] - 1)


def discounted(contour: FloatArray, doubt: FloatArray) -> FloatArray:
    """A part `doubt`, () or (n,), of each row becomes "anything is possible"."""
    column = doubt[..., None]
    return (1.0 - column) * contour + column


def conditioned(contour: FloatArray, inside: BoolArray) -> FloatArray:
    """The classes that are not inside, (K,), become impossible."""
    kept = contour * inside
    impossible = ~row_any(kept)
    if impossible.any():
        raise InputError(
            "The labels should leave one of the given classes possible",
            f"none is in {name_rows(impossible)}",
            "discount the labels first, or give more classes",
            rows=impossible,
        )
    return kept


def places(classes: Sequence[Any], wanted: Sequence[Any], contour: FloatArray) -> list[int]:
    """Column of each wanted class, -1 for new ones; those left out should be impossible."""
    old = {name: k for k, name in enumerate(classes)}
    place = [old.pop(name, -1) for name in wanted]
    lost = row_any(contour[:, list(old.values())])
    if lost.any():
        raise InputError(
            "Classes that are left out should be impossible",
            f"one of {list(old)} is possible in {name_rows(lost)}",
            "keep it, or condition the labels first",
            rows=lost,
        )
    return place


def reordered(
    contour: FloatArray, place: list[int], is_probability: BoolArray | None = None
) -> FloatArray:
    """Columns by `place`; a new class (-1) is as plausible as the least plausible of the others.

    The only class of a frame is surely the right one, so that a second one is impossible; and
    probabilities leave nothing to a new class.
    """
    if place == list(range(contour.shape[1])):
        return contour
    least = row_min(contour)[:, None] * (contour.shape[1] > 1)
    if is_probability is not None:
        least[is_probability] = 0.0
    return np.hstack([contour, least])[:, place]


def inside_of(classes: NDArray[Any], kept: Any) -> BoolArray:
    """Which classes, (K,), are among those that are kept, all of which should exist."""
    names = check_classes([kept] if isinstance(kept, str) else kept)
    strange = sorted(set(names.tolist()) - set(classes.tolist()), key=str)
    if strange:
        raise InputError(
            f"The given classes should be among {classes.tolist()}",
            f"{shown(strange[0])} is not",
            "correct it",
            value=strange[0],
        )
    return np.isin(classes, names)


def renamed(classes: NDArray[Any], names: Any) -> Sequence[Hashable]:
    """All classes in order, of which a mapping renames some."""
    strange = [name for name in names if name not in classes.tolist()]
    if strange:
        raise InputError(
            f"The mapping should rename classes of {classes.tolist()}",
            f"names {shown(strange[0])}",
            "correct it",
            value=strange[0],
        )
    return [names.get(name, name) for name in classes.tolist()]
