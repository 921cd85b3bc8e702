"""From cells of a table to statements."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from difflib import get_close_matches
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
    name_rows,
    shown,
)
from plausible.errors import InputError, Note
from plausible.experts.manners import manner, single
from plausible.experts.meanings import understand
from plausible.experts.slips import MOST, tell_only_class
from plausible.experts.statements import StatementFacts, as_rows, distinct, rows_of_sets
from plausible.experts.tables import Codes, factorize, is_gone
from plausible.experts.words import CANNOT_TELL

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ABSTAIN = ("", "?", "cannot tell", "unknown")
NONE = ("none of these",)
KINDS = ("plausibility", "probability", "count", "mass", "set")
ROUGH = 1e-6  # by which sums may miss one


class Statements(NamedTuple):
    """Different statements, and which one each answer makes.

    codes (A,), contours (S, K), sparse
    is_bayesian (S,) : probabilities rather than plausibilities
    masses : of the statements, if they were given
    notes : what was assumed about the answers, in words
    """

    codes: IntArray
    contours: csr_array
    classes: NDArray[Any]
    is_bayesian: NDArray[np.bool_]
    masses: SparseMasses | None = None
    notes: tuple[str, ...] = ()


def parse_cells(
    labels: Any,
    classes: Sequence[Hashable] | None,
    separator: str,
    abstain: Sequence[Any],
    none: Sequence[Any],
    changes: Mapping[Any, Any] | None = None,
) -> Statements:
    """Sets of classes from cells such as "a", "a|b", {"a", "b"}, None."""
    codes, cells = different_cells(labels)
    if not check_text(separator, "separator", "the text between the classes of a set"):
        raise InputError(
            "separator should be the text between classes",
            "is empty",
            "give '|'",
            parameter="separator",
        )
    abstain = [abstain] if isinstance(abstain, str) else as_list(abstain, "abstain", "cells")
    none = [none] if isinstance(none, str) else as_list(none, "none", "cells")
    counts = np.bincount(codes, minlength=len(cells)).tolist()
    names, said, notes = understand_cells(cells, counts, classes, separator, abstain, none, changes)
    place = {name: k for k, name in enumerate(names)}
    strange = {name for members in said for name in members or () if name not in place}
    _check_strange(strange, names, cells, said, codes)
    sets, which = _different_sets(said, place)
    contours = rows_of_sets(sets, len(names))
    none_bayesian = np.zeros(len(sets), dtype=bool)
    codes = codes if (which == np.arange(len(which))).all() else which[codes]
    return Statements(codes, contours, as_names(names), none_bayesian, None, tuple(notes))


def understand_cells(
    cells: list[Any],
    counts: list[int],
    classes: Sequence[Hashable] | None,
    separator: str,
    abstain: list[Any],
    none: list[Any],
    changes: Mapping[Any, Any] | None = None,
) -> tuple[list[Any], list[Any], list[Note]]:
    """The classes, and what different cells mean that stand in `counts` answers, with notes."""
    check_cells([*cells, *abstain, *none])
    classes = classes if classes is None else class_names(classes)
    how = manner(classes, separator, abstain, none, changes)
    said, notes = understand(cells, counts, how)
    known = {name for members in said for name in members or ()}
    names = sorted(known, key=sort_key) if classes is None else list(classes)
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
    n_silent = sum(count for count, one in zip(counts, said, strict=True) if one is None)
    if len(names) == 1 and n_silent and classes is None:
        notes = [*notes, tell_only_class(names[0], n_silent)]
    return names, said, notes


def different_cells(labels: Any) -> tuple[IntArray, list[Any]]:
    """Which cell each answer is, and the different cells."""
    check_kind(labels, Iterable, "labels", "give a list of answers")
    labels = as_array(labels, "labels") if np.ma.isMaskedArray(labels) else labels
    if getattr(getattr(labels, "dtype", None), "kind", "O") in "iu" and len(labels):
        labels = factorize(labels, "labels")
    if isinstance(labels, Codes):
        return labels.codes, [hashable(cell) for cell in labels.names.tolist()]
    column = labels if isinstance(labels, list) else as_array(labels, "labels").tolist()
    column = as_list(column, "labels", "answers")
    places: dict[Any, int] = {}
    try:
        codes = np.fromiter(
            (places.setdefault(_cell_of(c), len(places)) for c in column), np.int64, len(column)
        )
    except TypeError:  # what has no hash
        raise InputError(
            "Answers should be classes or sets of classes",
            "some hold lists or mappings",
            "name each class by text or a number",
        ) from None
    return codes, list(places)


def _cell_of(cell: Any) -> Any:
    """A cell that can be looked up; pandas.NA, which is not equal to anything, is None."""
    return None if type(cell).__name__ in ("NAType", "NaTType") else hashable(cell)


class StrangeAnswersError(InputError):
    """Answers that are not among the classes: cells as they are shown, and where each stands."""

    places: list[tuple[str, NDArray[np.bool_]]]
    more: str


def _check_strange(
    strange: set[Any],
    names: list[Any],
    cells: list[Any],
    said: list[tuple[Any, ...] | None],
    codes: IntArray,
) -> None:
    """Refuse answers that are not among the classes, each with the rows in which it stands."""
    bad = [k for k, members in enumerate(said) if strange & set(members or ())]
    if not bad:
        return
    places = [(shown(single(cells[k])), codes == k) for k in bad[:MOST]]
    more = f" and {len(bad) - MOST} others" if len(bad) > MOST else ""
    first = next(name for name in said[bad[0]] or () if name in strange)
    close = get_close_matches(str(first).lower(), [str(name) for name in names], n=1)
    listed = ", ".join(f"{cell} was found in {name_rows(rows)}" for cell, rows in places)
    error = StrangeAnswersError(
        f"Answers should be among the classes {shown(names, 500)}",
        f"{listed}{more}",
        ("correct it", "add the class", "say {map}"),
        parameter="labels",
        value=cells[bad[0]],
        rows=np.isin(codes, bad),
        settings={"map": {first: close[0] if close else CANNOT_TELL}},
    )
    error.places, error.more = places, more
    raise error


def _different_sets(
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
    _check_numbers(numbers, kind)
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
    said, codes = _from_table_rows(csr_array((values, rows), shape=(n_groups, n_classes)), kind)
    bayesian = np.full(said.shape[0], kind == "probability")
    return Statements(codes, said, cells.classes, bayesian, None, cells.notes)


def _check_numbers(numbers: FloatArray, kind: str) -> None:
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


def _from_table_rows(table: FloatArray | csr_array, kind: str) -> tuple[csr_array, IntArray]:
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
    _check_numbers(numbers, "mass")
    check_n_classes(len(cells.classes))
    sets = sets_from_membership(cells.contours.toarray() > 0)
    focal, place = np.unique(sets, return_inverse=True)
    values = csr_array(
        (numbers, (group, place.ravel()[cells.codes])), shape=(n_groups, len(focal))
    ).toarray()
    return from_masses(values, focal, cells.classes)._replace(notes=cells.notes)


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
    _check_numbers(table, kind)
    if kind == "set":
        bad = ((table != 0) & (table != 1)).any(axis=1)
        if bad.any():
            raise InputError(
                "Sets should have 1 for each possible class and 0 for the others",
                f"have other numbers in {name_rows(bad)}",
                "say {kind} if these are degrees",
                rows=bad,
                settings={"kind": "plausibility"},
            )
        said, codes = distinct(as_rows(table))
        return Statements(codes, said, names, np.zeros(said.shape[0], dtype=bool)), rows
    if kind == "mass":
        check_n_classes(len(names))
        focal = 1 << np.arange(len(names), dtype=np.int64)
        return from_masses(table, focal, names), rows
    said, codes = _from_table_rows(table, kind)
    return Statements(codes, said, names, np.full(said.shape[0], kind == "probability")), rows
