"""Class names and hard labels as they come: lists, arrays, missing entries, mixed types."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from numbers import Integral, Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.checks import (
    as_array,
    as_list,
    check_dense,
    check_ordered,
    is_whole,
    name_rows,
    shown,
)
from plausible.errors import InputError
from plausible.labels.odd_classes import in_order_of

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MAX_ITEMS = 1 << 40  # beyond the memory of any machine
NO_MARKER: tuple[()] = ()  # no value means "not labeled"


def check_classes(classes: Iterable[Hashable] | NDArray[Any]) -> NDArray[Any]:
    """Class names as an array of numbers or of strings, refusing mixtures and repetitions."""
    if isinstance(classes, np.ndarray):
        names = classes.ravel().tolist()
    else:
        names = list(classes) if isinstance(classes, str) else as_list(classes, "classes", "names")
    if not names:
        raise InputError(
            "Labels need at least one class",
            "none was given",
            "name them",
        )
    are_text = [isinstance(name, str) for name in names]
    are_numbers = not any(are_text) and all(isinstance(name, Number) for name in names)
    array = np.asarray(names if all(are_text) or are_numbers else None)
    if array.dtype.kind not in "biufU":
        first = ", ".join(shown(name) for name in names[:5])
        raise InputError(
            "classes should be all numbers or all strings",
            f"came as {first}{', of which one is too large' if are_numbers else ''}",
            "turn them into strings",
            parameter="classes",
        )
    if any(name == "" or name != name or name in (np.inf, -np.inf) for name in names):
        raise InputError(
            "classes should be names or finite numbers",
            "one is empty, NaN or infinite",
            "give it a name",
            parameter="classes",
        )
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise InputError(
            "classes should be distinct",
            f"{repeated!r} is repeated",
            "name each class once",
            parameter="classes",
            value=repeated,
        )
    return array


def find_missing(y: ArrayLike, missing: Any) -> tuple[NDArray[Any], BoolArray]:
    """Hard labels as an array, and where they are missing.

    Entries that can be no class (None, NaN, "") must be declared in `missing`.
    """
    if np.ma.isMaskedArray(y):
        raise InputError(
            "Labels should be a plain array",
            "a masked array came",
            "fill it with a marker, y.filled(-1), and say missing=-1",
        )
    values = _as_array(y)
    if values.dtype.kind not in "biufUO":
        raise InputError(
            "Hard labels should be names or numbers",
            f"came as {values.dtype}",
            "turn them into strings, with np.asarray(y).astype(str)",
        )
    if values.ndim == 0:
        raise InputError(
            "Hard labels should be a list, with a class for each item",
            f"{shown(y)} came",
            "write them in the order of the items, as in ['cat', 'dog']",
            value=y,
        )
    if values.ndim != 1:
        raise InputError(
            "Hard labels should be one-dimensional",
            f"have shape {values.shape}",
            "use from_plausibility, from_probability or from_sets for one column for each class",
            value=values.shape,
        )
    no_value, no_text = _blanks(values)
    declared = np.zeros(len(values), dtype=bool)
    for marker in _markers(missing):
        if _is_nothing(marker):
            declared |= no_value
        elif isinstance(marker, str) and marker == "":
            declared |= no_text
        else:
            declared |= np.asarray(values == marker)
    undeclared = (no_value | no_text) & ~declared
    if undeclared.any():
        entry = values[undeclared].tolist()[0]
        raise InputError(
            "Labels should be classes",
            f"{entry!r} was found in {name_rows(undeclared)}",
            f"say missing={None if _is_nothing(entry) else entry!r} if that means that the item is "
            "not labeled",
            parameter="y",
            value=entry,
            rows=undeclared,
        )
    return values, declared


def _codes_of(
    values: NDArray[Any], known: BoolArray, classes: Sequence[Hashable] | None
) -> tuple[NDArray[Any], IntArray]:
    """Classes, and the position of each known value among them (0 where it is not known)."""
    present = values[known]
    if values.dtype.kind == "O" and len(present):
        _check_entries(values, known)
        check_classes(set(present.tolist()))
        present = np.asarray(present.tolist())
    codes = np.zeros(len(values), dtype=np.int64)
    if classes is None:
        if len(present) == 0:
            raise InputError(
                "Labels need at least one class",
                "no item is labeled",
                "say which classes there are with {classes}",
                settings={"classes": None},
            )
        names, codes[known] = np.unique(present, return_inverse=True)
        return check_classes(names), codes
    names = check_classes(classes)
    wrong = known.copy()
    if (names.dtype.kind == "U") == (present.dtype.kind == "U"):
        order = np.argsort(names)
        place = order[np.minimum(np.searchsorted(names, present, sorter=order), len(names) - 1)]
        codes[known] = place
        wrong[known] = np.asarray(names[place] != present)
    if wrong.any():
        raise InputError(
            f"Labels should be among the classes {shown(names.tolist(), 500)}",
            f"{shown(values[wrong].tolist()[0])} was found in {name_rows(wrong)}",
            ("correct them", "add the class to {classes}"),
            rows=wrong,
            settings={"classes": None},
        )
    return names, codes


def _check_entries(values: NDArray[Any], known: BoolArray) -> None:
    """Refuse entries of an array of objects that are neither text nor numbers."""
    are_names = [isinstance(item, str | Number) for item in values.tolist()]
    strange = known & ~np.array(are_names, dtype=bool)
    if strange.any():
        first = values[strange].tolist()[0]
        remedy = "turn them into strings with [str(value) for value in y]"
        if isinstance(first, Mapping):
            remedy = (
                "give a table with a column for each class, as pandas.DataFrame(list(y)).fillna(0)"
            )
        elif isinstance(first, Collection):
            remedy = "use from_sets for sets of classes"
        raise InputError(
            "Hard labels should be names or numbers",
            f"{shown(first)} was found in {name_rows(strange)}",
            remedy,
            rows=strange,
        )


def _markers(missing: Any) -> list[Any]:
    """The values that mean "not labeled"."""
    given = missing
    if isinstance(missing, np.ndarray):
        given = missing.ravel().tolist()
    markers = list(given) if isinstance(given, list | tuple | set | frozenset) else [given]
    for marker in markers:
        if not isinstance(marker, str | Number) and not _is_nothing(marker):
            raise InputError(
                "missing should be a value, or a list of values, that means that an item is not "
                "labeled",
                f"{shown(marker)} was given",
                "give None, a name or a number",
                parameter="missing",
                value=marker,
            )
    return markers


def contour_of_hard(
    y: ArrayLike, classes: Sequence[Hashable] | None, missing: Any
) -> tuple[FloatArray, NDArray[Any]]:
    """Contour of hard labels, and the classes; rows of ones where the label is missing."""
    values, is_missing = find_missing(y, missing)
    names, codes = _codes_of(values, ~is_missing, classes)
    if len(names) == 1 and classes is None and is_missing.any():
        raise InputError(
            "A missing label needs at least two classes to choose from",
            f"only {names.tolist()[0]!r} occurs, and labels are missing in {name_rows(is_missing)}",
            "say which classes there are with {classes}",
            rows=is_missing,
            settings={"classes": None},
        )
    contour = np.zeros((len(values), len(names)))
    contour[np.arange(len(values)), codes] = 1.0
    contour[is_missing] = 1.0
    return contour, names


def contour_of_sets(
    sets: Any, classes: Sequence[Hashable] | None
) -> tuple[FloatArray, NDArray[Any]]:
    """Contour of sets of classes, and the classes: a table of true and false, or names."""
    check_dense(sets, "sets")
    table = _bool_table(in_order_of(sets, classes))
    if table is not None:
        return table.astype(np.float64), check_classes(names_or_numbers(classes, sets))
    rows = _check_sets(as_list(sets, "sets", "sets of class names"))
    if classes is None:
        present = dict.fromkeys(name for row in rows if row is not None for name in row)
        classes = sorted(check_classes(list(present)).tolist()) if present else []
    names = check_classes(classes)
    return _contour_of_names(rows, names), names


def _check_sets(rows: list[Any]) -> list[list[Any] | None]:
    """Sets as lists of class names, None for all classes; anything else is refused."""
    for i, row in enumerate(rows):
        if isinstance(row, Mapping):
            raise InputError(
                "Each set should be a collection of class names",
                f"row {i} is a mapping",
                "use from_masses for masses of sets, or from_plausibility for degrees",
            )
        if isinstance(row, str) or not (row is None or isinstance(row, Iterable)):
            raise InputError(
                "Each set should be a collection of class names",
                f"row {i} is {shown(row)}",
                f"write {{{shown(row)}}} for a set of one class, or use from_crisp",
                value=row,
            )
    rows = [row if row is None else as_list(row, f"set {i}") for i, row in enumerate(rows)]
    there = [row for row in rows if row is not None]
    are_bits = all(type(name) is int and name in (0, 1) for row in there for name in row)
    is_table = are_bits and len({*map(len, there)}) == 1
    if is_table and any(len(set(row)) < len(row) for row in there):
        raise InputError(
            "Each set should be a collection of class names",
            "rows repeat 0 and 1, as tables of what is possible do",
            "write np.array(sets, dtype=bool) if 1 means that a class is possible",
        )
    for i, row in enumerate(rows):
        if row is not None and not all(isinstance(name, str | Number) for name in row):
            raise InputError(
                "Each set should be a collection of class names",
                f"row {i} is {shown(row)}",
                "name classes by text or numbers",
                value=row,
            )
    return rows


def _contour_of_names(rows: list[list[Any] | None], names: NDArray[Any]) -> FloatArray:
    """Ones for the classes that each row names, and for all where it is None."""
    position = {name: k for k, name in enumerate(names.tolist())}
    flat_rows: list[int] = []
    flat_columns: list[int] = []
    contour = np.zeros((len(rows), len(names)))
    for i, row in enumerate(rows):
        if row is None:
            contour[i] = 1.0
            continue
        for name in row:
            if name not in position:
                raise InputError(
                    f"Sets should hold classes of {shown(names.tolist(), 500)}",
                    f"row {i} holds {shown(name)}",
                    ("correct it", "add the class to {classes}"),
                    value=name,
                    settings={"classes": None},
                )
            flat_rows.append(i)
            flat_columns.append(position[name])
    contour[flat_rows, flat_columns] = 1.0
    return contour


def _bool_table(sets: Any) -> NDArray[np.bool_] | None:
    """Sets as a table of true and false, if they came as one; other tables are refused."""
    is_table = hasattr(sets, "columns") or (isinstance(sets, np.ndarray) and sets.ndim == 2)
    if not is_table and isinstance(sets, (list, tuple)) and sets:
        is_table = isinstance(sets[0], (list, tuple)) and all(isinstance(v, bool) for v in sets[0])
    if not is_table:
        return None
    table = as_array(sets, "sets")
    if table.dtype != bool:
        raise InputError(
            "A table of sets should hold True and False",
            f"came as {table.dtype}",
            "write table.astype(bool) if that is what the numbers mean, or use from_plausibility",
        )
    return table


def _as_array(y: Any) -> NDArray[Any]:
    """An array that keeps the types of a list: numpy would turn ["a", 1] into ["a", "1"]."""
    if isinstance(y, (list, tuple)):
        kinds = set(map(type, y))
        if str in kinds and len(kinds) > 1:
            return _objects(y)
    array = as_array(y, "labels")
    if array.ndim == 1 and array.dtype.kind == "f" and hasattr(y, "dtype"):
        known = np.flatnonzero(~np.isnan(array))
        if len(known) < len(array) and len(known) and _is_integral(y, known[0]):
            return _objects(
                [None if np.isnan(a) else int(e) for a, e in zip(array, y, strict=True)]
            )
    return array


def _is_integral(y: Any, place: int) -> bool:
    """Whether a column that numpy reads as floats, for its gaps alone, holds whole numbers."""
    return isinstance(getattr(y, "iloc", y)[int(place)], Integral)


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    """An array of the entries as they are, even where these are lists."""
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def _blanks(values: NDArray[Any]) -> tuple[BoolArray, BoolArray]:
    """Where there is no value (None or NaN), and where there is an empty string."""
    nowhere = np.zeros(len(values), dtype=bool)
    if values.dtype.kind == "f":
        return np.isnan(values), nowhere
    if values.dtype.kind == "U":
        return nowhere, np.asarray(values == "")
    if values.dtype.kind == "O":
        items = values.tolist()
        no_value = [_is_nothing(item) for item in items]
        no_text = [isinstance(item, str) and item == "" for item in items]
        return np.array(no_value, dtype=bool), np.array(no_text, dtype=bool)
    return nowhere, nowhere


def _is_nothing(item: Any) -> bool:
    """None, NaN, or the NA of pandas, which cannot be asked whether it equals itself."""
    if item is None or isinstance(item, str):
        return item is None
    if type(item).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(item, Number) and bool(item != item)


def names_or_numbers(classes: Sequence[Hashable] | None, table: ArrayLike) -> Sequence[Hashable]:
    """The class names, or numbers for the columns of a table."""
    if classes is not None:
        check_ordered(classes)
        return classes
    if hasattr(table, "columns"):  # a data frame
        return as_list(table.columns, "columns", "class names")
    shape = as_array(table, "the table").shape
    return list(range(shape[-1])) if len(shape) == 2 and shape[-1] else [0]


def check_same_classes(groups: list[list[Any]]) -> None:
    """Refuse groups of labels whose classes differ by more than their order."""
    for i, classes in enumerate(groups):
        if set(classes) != set(groups[0]):
            raise InputError(
                "All labels should have the same classes",
                f"group 0 has {groups[0]} and group {i} has {classes}",
                "bring them together with reorder(classes)",
            )


def index_of_rows(rows: Any) -> Any:
    """An index that selects rows: a slice, positions or a mask."""
    if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
        rows = rows[0]  # scikit-learn writes y[rows, ...]
    if np.ndim(rows) == 0 and not isinstance(rows, slice) and rows is not None:
        rows = np.atleast_1d(rows)
    if isinstance(rows, tuple) or rows is None or np.ndim(rows) > 1:
        raise IndexError(
            "Labels should be indexed by a position, a slice, a list of positions or a mask, "
            f"but {rows!r} was given."
        )
    return rows


def check_n_items(n: Any) -> int:
    """A number of items that a machine can hold."""
    if not is_whole(n) or not 0 <= n <= MAX_ITEMS:
        raise InputError(
            "n should be a number of items, 0 or more",
            f"{shown(n)} was given",
            "give a whole number",
            parameter="n",
            value=n,
        )
    return int(n)
