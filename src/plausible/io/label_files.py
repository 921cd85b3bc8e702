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
``is_probability``          1 in rows whose plausibilities are probabilities, beside others
==========================  ======================================================================

A row without any entry says nothing: all classes are possible.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible import belief
from plausible.belief import ROUNDING, SUM_TOLERANCE, SparseMasses
from plausible.checks import check_option, check_text
from plausible.errors import InputError, Note, in_context
from plausible.io.features import check_rows, read_numbers
from plausible.io.label_names import named_sets, read_names, read_set, tell_sets
from plausible.io.label_words import Learned, Reading, labels_from_names, learn_names, refuse
from plausible.labels import Labels
from plausible.tables import Source, TableError, choose, listed, open_table

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
ASIDE = ("conflict", "is_probability")  # columns that are of no class
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
    confidence: str | None = None,
    classes: Sequence[Hashable] | None = None,
    map: Mapping[Any, Any] | None = None,  # noqa: A002
    words: Mapping[Any, float] | None = None,
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
    confidence : name of a column, optional
        Instead of doubt: how sure each label is, as a number in [0, 1], in percent, or in `words`.
    classes : sequence, optional
        Order of the classes; by default that of the columns, or those that occur, sorted.
    map, words : dicts, optional
        What cells mean, and the doubt of each word, as in `Annotations.from_long`.

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
    how = Reading(doubt, "doubt", map, words)
    return read_with_notes(source, kind, columns, how, confidence, classes)[0]


def read_with_notes(
    source: Any,
    kind: str | None,
    columns: Sequence[str] | str | None,
    how: Reading,
    confidence: str | None,
    classes: Sequence[Hashable] | None,
) -> tuple[Labels, list[Note]]:
    """Labels from a table, with what was assumed about words."""
    table = open_table(source)
    kind, names, how = _settled(table, kind, columns, how, confidence)
    notes: list[Note] = []
    with _about_labels(table):
        if _is_named(kind, names):
            labels, notes = labels_from_names(table, names[0], kind, how, classes)
        else:
            labels = _read_wide(table, kind, names, classes)
        if "conflict" in table.names and "conflict" not in names:
            labels = _with_conflict(labels, read_unit(table, ["conflict"], "Conflict")[:, 0])
        if "is_probability" in table.names and "is_probability" not in names:
            labels = _with_shares(table, labels)
    return labels, notes


def learn_labels(
    table: Source,
    kind: str | None,
    columns: Sequence[str] | str | None,
    how: Reading,
    confidence: str | None,
    classes: Sequence[Hashable] | None,
) -> Learned:
    """What all rows of one column of names tell, of which only different cells are held."""
    kind, names, how = _settled(table, kind, columns, how, confidence)
    if not _is_named(kind, names):
        return Learned(None, None, None, [])
    with _about_labels(table):
        return learn_names(table, names[0], kind, how, classes)


@contextmanager
def _about_labels(table: Source) -> Iterator[None]:
    """Errors about labels name the table."""
    try:
        yield
    except TableError:
        raise
    except ValueError as error:
        raise in_context(error, f"{table.name} should hold labels, but: ", TableError) from error


def _is_named(kind: str, names: list[str]) -> bool:
    """Whether labels stand in one column of names."""
    return kind in ("crisp", "doubt") or (kind == "sets" and len(names) == 1)


def _settled(
    table: Source,
    kind: str | None,
    columns: Sequence[str] | str | None,
    how: Reading,
    confidence: str | None,
) -> tuple[str, list[str], Reading]:
    """The kind of labels, the columns that hold them, and how words and doubts are read."""
    if confidence is None and how.doubt is None and "confidence" in table.names:
        confidence = None if "doubt" in table.names or kind not in (None, "doubt") else "confidence"
    if confidence is not None:
        if how.doubt is not None:
            raise InputError(
                "Labels should come with doubt or with confidence",
                "both were named",
                "leave one of them out",
                parameter="confidence",
            )
        how = how._replace(doubt=check_text(confidence, "confidence"), meaning="confidence")
    kind, names, doubt = _layout(table, kind, columns, how.doubt)
    return kind, names, how._replace(doubt=doubt)


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
        names = [name for name in choose(table, None) if name not in ASIDE]
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
    numbers = [name for name in ("probability", "plausibility") if name in present]
    if len(numbers) == 2:
        raise TableError(
            f"The columns of {table.name} should say one kind of labels",
            "say probability: and plausibility:, as decisions of a model do",
            ("say {kind} to take the probabilities", "'plausibility'"),
            settings={"kind": "probability"},
        )
    raise TableError(
        f"The columns of {table.name} should say what kind of labels they are ('label', 'set', "
        "or 'plausibility:cat', 'probability:cat', 'possible:cat', 'mass:cat|dog' for each "
        "class)",
        f"are {listed([repr(name) for name in table.names])}",
        ("rename them", "say {kind}", "name them with {columns}"),
        settings={"kind": None, "columns": None},
    )


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
        sets = named_sets(names, True) if bare == names else None
        if sets is not None:
            table.notes += tell_sets(names, sets)
        return _from_masses(table, sets or bare, values, empty, classes)
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
    parts = _as_classes(table, lambda names: [read_set(n) for n in names], bare)
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


def _with_shares(table: Source, labels: Labels) -> Labels:
    """Labels of which a column says which rows are probabilities."""
    flags = read_unit(table, ["is_probability"], "Is_probability")[:, 0]
    refuse(
        table, ~np.isin(flags, (0.0, 1.0)), "Column 'is_probability' should be 0 or 1, but is not",
        "correct it",
    )  # fmt: skip
    masses = labels.masses() if labels.has_masses else None
    return Labels(labels.contour, labels.classes, masses, labels.conflict, flags == 1.0)


def _with_conflict(labels: Labels, conflict: FloatArray) -> Labels:
    labels.conflict = conflict
    return labels
