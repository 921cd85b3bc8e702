"""From cells of a table to statements."""

from collections.abc import Hashable, Iterable, Sequence
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from plausible.belief import (
    SparseMasses,
    check_n_classes,
    class_names,
    membership,
    sets_from_membership,
)
from plausible.checks import (
    as_array,
    as_list,
    check_kind,
    check_option,
    check_text,
    guess,
    name_rows,
    shown,
)
from plausible.errors import InputError
from plausible.experts.statements import StatementFacts, as_rows, distinct, rows_of_sets
from plausible.experts.tables import Codes, canonical, factorize, is_gone

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ABSTAIN = ("", "?", "cannot tell", "unknown")
NONE = ("none of these",)
KINDS = ("plausibility", "probability", "count", "mass")
ROUGH = 1e-6  # by which sums may miss one


class Statements(NamedTuple):
    """Different statements, and which one each answer makes.

    codes (A,), contours (S, K), sparse
    is_bayesian (S,) : probabilities rather than plausibilities
    masses : of the statements, if they were given
    """

    codes: IntArray
    contours: csr_array
    classes: NDArray[Any]
    is_bayesian: NDArray[np.bool_]
    masses: SparseMasses | None = None


def parse_cells(
    labels: Any,
    classes: Sequence[Hashable] | None,
    separator: str,
    abstain: Sequence[Any],
    none: Sequence[Any],
) -> Statements:
    """Sets of classes from cells such as "a", "a|b", {"a", "b"}, None."""
    check_kind(labels, Iterable, "labels", "give a list of answers")
    if getattr(labels, "dtype", np.dtype(object)).kind in "iu" and len(labels):
        labels = factorize(labels, "labels")
    if isinstance(labels, Codes):
        codes, cells = labels.codes, [hashable(cell) for cell in labels.names.tolist()]
    else:
        column = labels if isinstance(labels, list) else as_array(labels, "labels").tolist()
        column = as_list(column, "labels", "answers")
        places: dict[Any, int] = {}
        try:
            codes = np.fromiter(
                (places.setdefault(hashable(c), len(places)) for c in column), np.int64, len(column)
            )
        except TypeError:  # what has no hash
            raise InputError(
                "Answers should be classes or sets of classes",
                "some hold lists or mappings",
                "name each class by text or a number",
            ) from None
        cells = list(places)
    if not check_text(separator, "separator", "the text between the classes of a set"):
        raise InputError(
            "separator should be the text between classes",
            "is empty",
            "give '|'",
            parameter="separator",
        )
    abstain = [abstain] if isinstance(abstain, str) else as_list(abstain, "abstain", "cells")
    none = [none] if isinstance(none, str) else as_list(none, "none", "cells")
    check_cells([*cells, *abstain, *none])
    classes = classes if classes is None else class_names(classes)
    said = [names_in(cell, separator, abstain, none) for cell in cells]
    said = alike(said, classes)
    known = sorted({name for names in said if names is not None for name in names}, key=sort_key)
    names = known if classes is None else list(classes)
    if len(set(names)) < len(names):
        raise InputError(
            "classes should be different",
            f"are {shown(names)}",
            "name each once",
            parameter="classes",
            value=names,
        )
    if not names:
        raise InputError(
            "Answers should name at least one class",
            "all are empty",
            "give classes",
        )
    place = {name: k for k, name in enumerate(names)}
    strange = [name for name in known if name not in place]
    if strange:
        bad = np.array([bool(set(said[c] or ()) & set(strange)) for c in codes.tolist()])
        raise ValueError(
            f"Answers should be among the classes {shown(names, 500)}, but {shown(strange[0])} was "
            "found in "
            f"{name_rows(bad)}{guess(strange[0], names) or '; correct it or add the class.'}"
        )
    sets, which = different_sets(said, place)
    contours = rows_of_sets(sets, len(names))
    return Statements(which[codes], contours, as_names(names), np.zeros(len(sets), dtype=bool))


def different_sets(
    said: list[tuple[Any, ...] | None], place: dict[Any, int]
) -> tuple[list[Sequence[int]], IntArray]:
    """Places of the classes of each different set, and which of these each cell names."""
    every = tuple(range(len(place)))
    found: dict[Sequence[int], int] = {}
    which = np.empty(len(said), dtype=np.int64)
    for row, names in enumerate(said):
        members = every if names is None else tuple(sorted({place[name] for name in names}))
        which[row] = found.setdefault(members, len(found))
    return list(found), which


def alike(
    said: list[tuple[Any, ...] | None], classes: Sequence[Hashable] | None
) -> list[tuple[Any, ...] | None]:
    """Names as they stand in `classes`, or all of one type: 1 and "1" are one class."""
    found = {name for names in said if names is not None for name in names}
    if classes is not None:
        place = {canonical(name): name for name in classes}
        change = {name: place.get(canonical(name), name) for name in found}
    elif len({isinstance(name, str) for name in found}) > 1:
        change = {name: canonical(name) for name in found}
    else:
        return said
    return [None if names is None else tuple(change[name] for name in names) for names in said]


def check_cells(cells: list[Any]) -> None:
    """Refuse cells that are neither names nor sets of names nor nothing."""
    for cell in cells:
        parts = cell if isinstance(cell, frozenset) else [cell]
        strange = [part for part in parts if not (part is None or isinstance(part, str | Number))]
        if strange:
            raise InputError(
                "Answers should be classes, named by text or numbers, or sets of these",
                f"{shown(strange[0])} was found",
                "write it as text",
                value=strange[0],
            )


def hashable(cell: Any) -> Any:
    """A cell that can be looked up."""
    if isinstance(cell, (set, list, tuple, frozenset)):
        return frozenset(cell)
    return None if cell != "" and is_gone(cell) else cell


def names_in(
    cell: Any, separator: str, abstain: Sequence[Any], none: Sequence[Any]
) -> tuple[Any, ...] | None:
    """Classes that a cell names; None for all of them."""
    if isinstance(cell, frozenset):
        return tuple(cell)
    if cell is None or cell in abstain:
        return None
    if cell in none:
        return ()
    if isinstance(cell, str):
        text = cell.strip()
        if text in none or text in abstain:
            return () if text in none else None
        return tuple(part.strip() for part in text.split(separator) if part.strip())
    return (cell,)


def sort_key(name: Any) -> tuple[str, Any]:
    """Numbers among numbers, names among names."""
    return ("", name) if isinstance(name, (int, float, np.number)) else ("x", str(name))


def as_names(names: Sequence[Any]) -> NDArray[Any]:
    """Names as an array; numbers stay numbers."""
    return as_array(names, "classes")


def from_groups(
    cells: Statements, group: IntArray, n_groups: int, numbers: FloatArray, kind: str
) -> Statements:
    """Contours of answers whose classes stand in rows of their own."""
    facts = StatementFacts(cells.contours)
    nothing = facts.is_unknown[cells.codes] & (len(cells.classes) > 1)
    bad = ~facts.is_hard[cells.codes] & ~nothing
    if bad.any():
        raise InputError(
            f"A row with a {kind} should name one class",
            f"does not in {name_rows(bad)}",
            "write one class in each row",
            rows=bad,
        )
    chosen = facts.chosen[cells.codes]
    check_numbers(numbers, kind)
    n_classes = len(cells.classes)
    pair = group * (n_classes + 1) + np.where(nothing, n_classes, chosen)
    twice = np.ones(len(pair), dtype=bool)
    twice[np.unique(pair, return_index=True)[1]] = False
    if twice.any():
        raise InputError(
            f"An annotator should give an item one {kind} for each class",
            f"repeats one in {name_rows(twice)}",
            "leave one of the rows out",
            rows=twice,
        )
    empty = np.zeros(n_groups, dtype=bool)
    empty[group[nothing]] = True  # "cannot tell", whatever else is said
    there = ~empty[group]
    who, which = np.flatnonzero(empty).repeat(n_classes), np.tile(np.arange(n_classes), empty.sum())
    even = np.full(len(who), 1.0 if kind == "plausibility" else 1.0 / n_classes)
    rows = np.concatenate([group[there], who]), np.concatenate([chosen[there], which])
    values = np.concatenate([numbers[there], even])
    said, codes = from_table_rows(csr_array((values, rows), shape=(n_groups, n_classes)), kind)
    return Statements(codes, said, cells.classes, np.full(said.shape[0], kind == "probability"))


def check_numbers(numbers: FloatArray, kind: str) -> None:
    """Refuse what is not in [0, 1]."""
    bad = ~((numbers >= 0) & (numbers <= 1))
    if bad.any():
        rows = bad if bad.ndim == 1 else bad.any(axis=1)
        raise InputError(
            f"Each {kind} should be in [0, 1]",
            f"is not in {name_rows(rows)}",
            "correct or scale it",
            rows=rows,
        )


def from_table_rows(table: FloatArray | csr_array, kind: str) -> tuple[csr_array, IntArray]:
    """Different contours of rows of plausibilities or probabilities, and which each row has."""
    rows = as_rows(table)
    facts = StatementFacts(rows)
    unit = facts.size if kind == "probability" else facts.largest
    if kind == "probability":
        off = np.abs(unit - 1) > 0.02
        if off.any():
            raise InputError(
                "Probabilities should sum to one over the classes",
                f"do not in {name_rows(off)}",
                "divide them by their sum",
                rows=off,
            )
    elif facts.is_empty.any():
        raise InputError(
            "Some class should be plausible",
            f"none is in {name_rows(facts.is_empty)}",
            "write 'none of these' as an answer of its own if that is meant",
            rows=facts.is_empty,
        )
    scaled = rows.data / np.repeat(unit, facts.n_possible)
    return distinct(csr_array((scaled, rows.indices, rows.indptr), shape=rows.shape))


def from_mass_rows(
    cells: Statements, group: IntArray, n_groups: int, numbers: FloatArray
) -> Statements:
    """Mass functions of answers whose focal sets stand in rows of their own."""
    check_numbers(numbers, "mass")
    check_n_classes(len(cells.classes))
    sets = sets_from_membership(cells.contours.toarray() > 0)
    focal, place = np.unique(sets, return_inverse=True)
    values = csr_array(
        (numbers, (group, place.ravel()[cells.codes])), shape=(n_groups, len(focal))
    ).toarray()
    return from_masses(values, focal, cells.classes)


def from_masses(values: FloatArray, focal: IntArray, classes: NDArray[Any]) -> Statements:
    """Mass functions (A, F), what is missing to one being left to all classes."""
    n_classes = len(classes)
    total = values.sum(axis=1)
    bad = total > 1 + ROUGH
    if bad.any():
        raise InputError(
            "Masses of an answer should sum to at most one",
            f"do not in {name_rows(bad)}",
            "divide them by their sum",
            rows=bad,
        )
    everything = (1 << n_classes) - 1
    if everything not in focal:
        focal = np.append(focal, everything)
        values = np.column_stack([values, np.zeros(len(values))])
    values = values.copy()
    values[:, focal == everything] += np.maximum(1 - total, 0.0)[:, None]
    different, codes = distinct(as_rows(values))
    rows = different.toarray()
    contours = np.minimum(rows @ membership(focal, n_classes).astype(np.float64), 1.0)
    masses = SparseMasses(rows, focal, n_classes)
    return Statements(codes, as_rows(contours), classes, np.zeros(len(rows), dtype=bool), masses)


def from_table(
    table: FloatArray, kind: str, classes: Sequence[Any] | None
) -> tuple[Statements, IntArray]:
    """Statements of a table with a column for each class, and the row of each answer."""
    check_option(kind, KINDS, "kind")
    if table.ndim != 2:
        raise InputError(
            "table should have rows and columns",
            f"has shape {table.shape}",
            parameter="table",
            value=table.shape,
        )
    names = as_names(list(range(table.shape[1])) if classes is None else class_names(classes))
    if names.ndim != 1 or len(set(names.tolist())) < len(names):
        raise InputError(
            "classes should be different names",
            f"are {shown(classes)}",
            "name each once",
            parameter="classes",
            value=classes,
        )
    if len(names) != table.shape[1]:
        raise InputError(
            f"table should have a column for each of the {len(names)} classes",
            f"has {table.shape[1]}",
            "name each column",
            parameter="table",
        )
    rows = np.arange(len(table))
    if kind == "count":
        bad = ~((table >= 0) & (table == np.round(table)) & np.isfinite(table))
        if bad.any():
            raise InputError(
                "Counts should be whole numbers from 0",
                f"are not in {name_rows(bad.any(axis=1))}",
                "say {kind} for shares",
                rows=bad.any(axis=1),
                settings={"kind": "probability"},
            )
        row, column = np.nonzero(table)
        times = table[row, column].astype(np.int64)
        codes = np.repeat(column, times)
        none = np.zeros(len(names), dtype=bool)
        each = rows_of_sets([(k,) for k in range(len(names))], len(names))
        return Statements(codes, each, names, none), np.repeat(row, times)
    check_numbers(table, kind)
    if kind == "mass":
        check_n_classes(len(names))
        focal = 1 << np.arange(len(names), dtype=np.int64)
        return from_masses(table, focal, names), rows
    said, codes = from_table_rows(table, kind)
    return Statements(codes, said, names, np.full(said.shape[0], kind == "probability")), rows
