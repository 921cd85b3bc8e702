"""Labels in tables: one column for each class or set, or one column of names.

==========================  ======================================================================
columns                     kind of label
==========================  ======================================================================
``label``                   "crisp": the class; nothing where it is not known
``label``, ``doubt``        "doubt": the class, and the doubt in it
``set``                     "sets": the possible classes, as in ``cat|dog``
``possible:cat``, ...       "sets": 1 for a possible class, 0 for another
``plausibility:cat``, ...   "plausibility"
``probability:cat``, ...    "probability"
``mass:cat|dog``, ...       "masses", with the plausibilities beside them if you like
``conflict``                conflict of the sources, beside any of these
==========================  ======================================================================

A row without any entry says nothing: all classes are possible.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible import belief
from plausible.belief import ROUNDING, SUM_TOLERANCE, SparseMasses, class_names
from plausible.checks import check_option, check_text, shown
from plausible.errors import InputError, in_context
from plausible.io.features import check_rows, read_numbers
from plausible.io.label_names import read_name, read_names, split_set, write_name
from plausible.labels import Labels
from plausible.tables import Source, TableError, choose, first_line, listed, names_of, open_table

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
PREFIXES = {
    "possible": "sets",
    "plausibility": "plausibility",
    "probability": "probability",
    "mass": "masses",
}
KINDS = ("crisp", "doubt", "sets", "plausibility", "probability", "masses")


def read_labels(
    source: Any,
    kind: str | None = None,
    columns: Sequence[str] | str | None = None,
    *,
    doubt: str | None = None,
    classes: Sequence[Hashable] | None = None,
) -> Labels:
    r"""Labels from a table.

    Parameters
    ----------
    source
        As for `read_table`.
    kind : {"crisp", "doubt", "sets", "plausibility", "probability", "masses"}, optional
        What the table says, if the names of its columns do not: those that `write_labels` gives.
    columns : list of names, or one name, optional
        Columns of the labels. By default those named after the kind, or else all columns, one for
        each class (or set of classes, as in ``cat|dog``, for masses).
    doubt : name of a column, optional
        Doubt in [0, 1] in the class of each row: 0 sure, 1 says nothing.
    classes : sequence, optional
        Order of the classes; by default that of the columns, or those that occur, sorted.

    Examples
    --------
    >>> import io
    >>> read_labels(io.StringIO("item,set\n1,cat\n2,cat|dog\n3,\n")).contour
    array([[1., 0.],
           [1., 1.],
           [1., 1.]])
    >>> answers = io.StringIO("species,unsure\noak,0.1\nelm,0.5\n")
    >>> read_labels(answers, "doubt", "species", doubt="unsure").contour
    array([[0.1, 1. ],
           [1. , 0.5]])
    >>> votes = io.StringIO("oak,elm\n0.2,0.8\n1,0\n")
    >>> read_labels(votes, "probability").classes
    array(['oak', 'elm'], dtype='<U3')
    """
    table = open_table(source)
    kind, names, doubt = _layout(table, kind, columns, doubt)
    try:
        if kind in ("crisp", "doubt") or (kind == "sets" and len(names) == 1):
            labels = _read_names(table, names[0], kind, doubt, classes)
        else:
            labels = _read_wide(table, kind, names, classes)
        if "conflict" in table.names and "conflict" not in names:
            labels = _with_conflict(labels, read_unit(table, ["conflict"], "Conflict")[:, 0])
    except TableError:
        raise
    except ValueError as error:
        raise in_context(error, f"{table.name} should hold labels, but: ", TableError) from error
    return labels


def _layout(
    table: Source, kind: str | None, columns: Sequence[str] | str | None, doubt: str | None
) -> tuple[str, list[str], str | None]:
    """The kind of labels, the columns that hold them, and the column of doubt."""
    if kind is not None:
        check_option(kind, KINDS, "kind")
    doubt = doubt if doubt is None else check_text(doubt, "doubt")
    prefixed = {name: [c for c in table.names if c.startswith(f"{name}:")] for name in PREFIXES}
    present = [name for name in PREFIXES if prefixed[name]]
    if kind is None:
        kind = _kind_by_name(table, present, doubt)
    if doubt is not None and kind != "doubt":
        raise InputError(
            "A column of doubt should come with the class of each row",
            f"the kind is {kind!r}",
            ("say {kind}", "leave {doubt} out"),
            value=kind,
            settings={"kind": "doubt", "doubt": None},
        )
    if kind == "doubt":
        doubt = choose(table, doubt or "doubt")[0]
    if columns is not None:
        names = choose(table, columns)
    elif found := [c for name in present if PREFIXES[name] == kind for c in prefixed[name]]:
        names = found
    elif kind in ("crisp", "doubt", "sets"):
        names = choose(table, "set" if kind == "sets" else "label")
    else:
        names = [name for name in choose(table, None) if name != "conflict"]
    return kind, names, doubt


def _kind_by_name(table: Source, present: list[str], doubt: str | None) -> str:
    if present == ["plausibility", "mass"]:
        return "masses"
    if len(present) == 1:
        return PREFIXES[present[0]]
    if "set" in table.names and not present:
        return "sets"
    if "label" in table.names and not present:
        return "doubt" if doubt or "doubt" in table.names else "crisp"
    raise TableError(
        f"The columns of {table.name} should say what kind of labels they are ('label', 'set', "
        "or 'plausibility:cat', 'probability:cat', 'possible:cat', 'mass:cat|dog' for each "
        "class)",
        f"are {listed([repr(name) for name in table.names])}",
        ("rename them", "say {kind}", "name them with {columns}"),
        settings={"kind": None, "columns": None},
    )


# -- One column of names ---------------------------------------------------------------------------


def _read_names(
    table: Source, name: str, kind: str, doubt: str | None, classes: Sequence[Hashable] | None
) -> Labels:
    parts = [
        names_of(batch.column(0), name, table.name) for batch in table.batches([name], typed=False)
    ]
    cells = [cell for part in parts for cell in part.to_pylist()]
    check_rows(table, len(cells))
    sets = _parse(table, name, cells, single=kind != "sets")
    names = _frame(table, name, sets, classes)
    place = {written: k for k, written in enumerate(names)}
    inside = np.zeros((len(sets), len(names)), dtype=bool)
    for row, members in enumerate(sets):
        inside[row, [place[member] for member in members] if members else slice(None)] = True
    labels = Labels.from_sets(inside, names)
    if kind != "doubt":
        return labels
    assert doubt is not None
    return labels.discount(_read_doubt(table, doubt, [bool(members) for members in sets]))


def _parse(table: Source, name: str, cells: list[Any], single: bool) -> list[list[Any]]:
    """The members of each cell's set, none for a missing cell."""
    texts: list[list[str]] = []
    for row, cell in enumerate(cells, 1):
        if not isinstance(cell, str):
            texts.append([] if cell is None else [write_name(cell)])
            continue
        try:
            parts = [cell] if single and not cell.startswith('"') else split_set(cell)
            if "" in parts or (single and len(parts) > 1):
                raise ValueError("a name is empty" if "" in parts else "there are several names")
            for part in parts:
                read_name(part)
        except ValueError as error:
            what = "one class" if single else "a set of classes such as cat|dog"
            raise TableError(
                f"Column {name!r} of {table.name} should hold {what}, but holds {cell[:40]!r} in "
                f"{table.where([row])} ({first_line(error)}); correct it, and write names that "
                'hold | or " in JSON quotes.'
            ) from None
        texts.append(parts)
    flat = read_names([part for parts in texts for part in parts])
    members = iter(flat)
    return [[next(members) for _ in parts] for parts in texts]


def _frame(
    table: Source, name: str, sets: list[list[Any]], classes: Sequence[Hashable] | None
) -> list[Any]:
    """The classes: those that are given, or those that occur, sorted."""
    found = {member for members in sets for member in members}
    if classes is None:
        if len(found) < 1 + any(not members for members in sets):
            raise TableError(
                f"Column {name!r} of {table.name} should name at least two classes where some "
                "rows are empty",
                f"names {sorted(found)}",
                "say which classes there are with {classes}",
                settings={"classes": None},
            )
        return sorted(found)
    given = [item.item() if isinstance(item, np.generic) else item for item in class_names(classes)]
    strange = found - set(given)
    if strange:
        rows = [row for row, members in enumerate(sets, 1) if strange & set(members)]
        raise TableError(
            f"Column {name!r} of {table.name} should hold the classes {shown(given, 500)}",
            f"holds {sorted(strange, key=str)[0]!r} in {table.where(rows)}",
            ("correct it", "add it to {classes}"),
            settings={"classes": None},
        )
    return given


def _read_doubt(table: Source, name: str, labeled: list[bool]) -> FloatArray:
    """Doubt in [0, 1]; it may be missing where the label is."""
    doubt = read_unit(table, [name], "Doubt", gaps=True)[:, 0]
    nothing = np.isnan(doubt) & np.array(labeled)
    refuse(
        table, nothing, f"Column {name!r} should say how far each label is doubted, but is empty",
        "write 0 for a sure label and 1 for one that says nothing",
    )  # fmt: skip
    return np.where(np.isnan(doubt), 1.0, doubt)


# -- A column for each class or set ----------------------------------------------------------------


def _read_wide(
    table: Source, kind: str, names: list[str], classes: Sequence[Hashable] | None
) -> Labels:
    prefix = {target: name for name, target in PREFIXES.items()}[kind]
    bare = [name.removeprefix(f"{prefix}:") for name in names]
    values = read_unit(table, names, kind.capitalize(), gaps=True)
    check_rows(table, len(values))
    empty: BoolArray = np.asarray(np.isnan(values).all(axis=1))
    refuse(
        table, np.isnan(values).any(axis=1) & ~empty, "Rows should be full, but cells are empty",
        "write 0 for what is excluded, and leave the whole row empty if nothing is known",
    )  # fmt: skip
    if kind == "masses":
        return _from_masses(table, bare, values, empty, classes)
    values[empty] = 1.0
    check_possible(table, values)
    made = _from_wide(table, kind, _as_classes(table, read_names, bare), values, empty)
    return made if classes is None else made.reorder(list(classes))


def _as_classes(table: Source, read: Callable[[list[str]], list[Any]], texts: list[str]) -> Any:
    """Names of columns as classes, or as sets of them."""
    try:
        return read(texts)
    except ValueError as error:
        raise TableError(
            f"The columns of {table.name} should be named after classes, but {error}; rename them."
        ) from None


def _from_wide(
    table: Source, kind: str, names: list[Any], values: FloatArray, empty: BoolArray
) -> Labels:
    if kind == "plausibility":
        return Labels.from_plausibility(values, names)
    if kind == "sets":
        refuse(
            table, ~np.isin(values, (0.0, 1.0)).all(axis=1),
            "Possible classes should be 1 and others 0, but other numbers are",
            "say {kind} if these are degrees", kind="plausibility",
        )  # fmt: skip
        return Labels.from_sets(values == 1.0, names)
    _check_sums(table, values, empty, "probabilities")
    if not empty.any():
        return Labels.from_probability(values, names)
    known = Labels.from_probability(values[~empty], names)
    order = np.argsort(np.concatenate([np.flatnonzero(~empty), np.flatnonzero(empty)]))
    return Labels.concatenate([known, Labels.unknown(int(empty.sum()), names)])[order]


def _from_masses(
    table: Source,
    bare: list[str],
    values: FloatArray,
    empty: BoolArray,
    classes: Sequence[Hashable] | None,
) -> Labels:
    _check_sums(table, values, empty, "masses")
    beside = [name for name in table.names if name.startswith("plausibility:")]
    frame = [name.removeprefix("plausibility:") for name in beside]
    parts = _as_classes(table, lambda names: [split_set(n) if n else [] for n in names], bare)
    texts = [part for members in parts for part in members]
    names = _as_classes(table, read_names, [*frame, *texts])
    members = iter(names[len(frame) :])
    sets = [[next(members) for _ in part] for part in parts]
    known = names[: len(frame)] or sorted({member for part in sets for member in part})
    known = list(classes) if classes is not None and not frame else known
    masks = belief.encode_sets(sets, known)
    full = belief.full_set(len(known))
    if empty.any():
        if full not in masks:
            masks, values = np.append(masks, full), np.column_stack([values, np.zeros(len(values))])
        values[empty] = masks == full
    masses = SparseMasses(values, masks, len(known))
    expected = values @ belief.membership(masks, len(known)).astype(np.float64)
    check_possible(table, expected)
    if not frame:
        return Labels.from_masses(masses, known)
    contour = read_unit(table, beside, "Plausibility", gaps=True)
    contour[empty] = 1.0
    refuse(
        table, ~(np.abs(expected - contour) <= SUM_TOLERANCE).all(axis=1),
        "Plausibilities should be those of the masses beside them, but are not",
        "leave out the columns of one or of the other",
    )  # fmt: skip
    made = Labels(contour, known, masses)
    return made if classes is None else made.reorder(list(classes))


def _check_sums(table: Source, values: FloatArray, empty: BoolArray, what: str) -> None:
    sums = values.sum(axis=1)
    refuse(
        table, ~empty & ~(np.abs(sums - 1.0) <= SUM_TOLERANCE),
        f"Each row of {what} should sum to one, but does not",
        "divide each row by its sum (by 100 if these are percentages)",
    )  # fmt: skip


def read_unit(table: Source, names: list[str], what: str, gaps: bool = False) -> FloatArray:
    """Numbers in [0, 1], with NaN in gaps if these are allowed."""
    values = read_numbers(table, names, what, gaps)
    outside = ((values < -ROUNDING) | (values > 1.0 + ROUNDING)).any(axis=1)
    refuse(
        table, outside, f"{what} should lie in [0, 1], but does not",
        "correct it, or divide percentages by 100",
    )  # fmt: skip
    return np.clip(values, 0.0, 1.0)


def check_possible(table: Source, values: FloatArray) -> None:
    """Refuse rows in which no class is possible."""
    refuse(
        table, ~values.any(axis=1), "Labels should leave each item a possible class, but none is",
        "give at least one class a positive number, or leave the whole row empty",
    )  # fmt: skip


def refuse(
    table: Source, bad: BoolArray | np.bool_, what: str, remedy: str, **settings: Any
) -> None:
    """Refuse rows of a table, if there are any."""
    if bad.any():
        where = table.where((np.flatnonzero(bad) + 1).tolist())
        raise TableError(
            f"{what} in {where} of {table.name}", remedy=remedy, rows=bad, settings=settings
        )


def _with_conflict(labels: Labels, conflict: FloatArray) -> Labels:
    labels.conflict = conflict
    return labels
