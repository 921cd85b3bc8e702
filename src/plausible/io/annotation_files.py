"""Answers of people in tables.

A long table has a row for each answer, with the columns ``item``, ``annotator`` and ``label`` (or
``task``, ``worker``, ``label``), and if you like ``doubt`` or ``confidence``, and ``plausibility``,
``probability`` or ``mass``. A wide one has a column for each annotator, or for each class.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.checks import as_list, check_option, check_texts, counted, name_rows
from plausible.errors import InputError, Note, in_context
from plausible.experts import (
    ABSTAIN,
    CANNOT_TELL,
    NONE,
    Annotations,
    Codes,
    Search,
    StrangeAnswersError,
    is_free_text,
    read_doubts,
)
from plausible.io.answer_checks import check_one_item
from plausible.io.answer_columns import ALIASES, NUMBERS, SURENESS
from plausible.io.answer_databases import classes_in
from plausible.io.answer_degrees import MOST_COUNTED, from_classes
from plausible.io.answer_layouts import plan_reading
from plausible.io.answer_plans import Plan
from plausible.io.answer_states import ON_REJECTED, check_numbers, find_rejected, settle_rejected
from plausible.io.export_tables import read_choices
from plausible.io.exports import flattened, read_export
from plausible.io.features import check_rows
from plausible.io.item_columns import turned
from plausible.io.label_files import read_unit
from plausible.io.last_rows import check_first_answer, check_last_answer
from plausible.io.wide_sureness import doubts_beside
from plausible.tables import Source, TableError, floats, open_table

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
CODED = ("item", "annotator", "label")
__all__ = ["ALIASES", "NUMBERS", "read_annotations"]


def read_annotations(
    source: Any,
    layout: str | None = None,
    *,
    names: Mapping[str, str] | None = None,
    kind: str | None = None,
    columns: Sequence[str] | None = None,
    classes: Sequence[Hashable] | None = None,
    separator: str = "|",
    abstain: Sequence[Any] = ABSTAIN,
    none: Sequence[Any] = NONE,
    map: Mapping[Any, Any] | None = None,  # noqa: A002
    words: Mapping[Any, float] | None = None,
    repeats: str = "all",
    ignore: Sequence[str] = (),
    on_rejected: str | None = None,
) -> Annotations:
    r"""Answers from a table, or from the export of an annotation tool.

    Parameters
    ----------
    source
        As for `read_table`; also JSON of Label Studio, doccano, Prodigy and Argilla. Tables of
        Mechanical Turk and of Label Studio are known by their columns.
    layout : {"long", "annotators", "items", "classes"}, optional
        A row for each answer, a column for each annotator, a column for each item (and a row for
        each annotator, as forms have), or a column for each class. By default
        "long" if the table has such columns, "classes" if a kind is given, else "annotators", if
        the columns share their values.
    names : dict, optional
        Which columns are meant, where they have other names: keys are "item", "annotator", "label",
        "doubt", "confidence", "count", "plausibility", "probability" and "mass".
    kind : {"plausibility", "probability", "count", "mass", "set"}
        What the numbers mean in a table with a column for each class.
    columns : list of names, optional
        Columns of the annotators or classes, if not all others.
    classes : sequence, optional
    separator, abstain, none, map, words, repeats
        As in `Annotations.from_long`.
    ignore : list of names, optional
        Columns that are not to be used.
    on_rejected : {"drop", "unknown", "keep"}, optional
        Answers that the file says were rejected, canceled, skipped or discarded: left out, read as
        "cannot tell", or counted as any other. By default what the tool that wrote the file does
        not count is left out (Mechanical Turk, Prolific), what was skipped is "cannot tell" (JSON
        of annotation tools), and what any other column says is told in the notes alone.

    Returns
    -------
    Annotations
        Their `notes` tell what was assumed, and which columns are not used.

    Examples
    --------
    >>> import io
    >>> table = io.StringIO("task,worker,label\n1,ann,cat\n1,bob,cat|dog\n2,ann,\n")
    >>> read_annotations(table)
    <Annotations: 3 answers about 2 items by 2 annotators; classes cat, dog; 1 note, see .notes>
    >>> votes = io.StringIO("item,cat,dog\n1,7,3\n2,0,10\n")
    >>> read_annotations(votes, kind="count").votes()
    array([[ 7.,  3.],
           [ 0., 10.]])
    """
    abstain, none = as_list(abstain, "abstain", "cells"), as_list(none, "none", "cells")
    if on_rejected is not None:
        check_option(on_rejected, ON_REJECTED, "on_rejected")
    given = {
        "classes": classes, "separator": separator, "abstain": abstain, "none": none, "map": map,
        "repeats": repeats,
    }  # fmt: skip
    export = read_export(
        source, names=names, given=given | {"on_rejected": on_rejected, "words": words}
    )
    if export is not None:
        return export
    table = open_table(flattened(source), whole=True)
    given["classes"] = classes = classes_in(table, classes)
    ignore = check_texts(ignore, "ignore")
    plan = plan_reading(table, layout, names, kind, columns, ignore, on_rejected)
    if plan.layout == "long":
        return _read_long(table, plan, given, words, on_rejected)
    if plan.layout == "classes":
        with_table = in_words_of(table, None)
        with with_table:
            return from_classes(table, plan, classes).with_notes(*notes_of(table, plan))
    if plan.layout == "items":
        return _read_items(table, plan, given)
    return _read_wide(table, plan, given, words)


def notes_of(table: Source, plan: Plan) -> list[str]:
    """What was assumed when a table was opened and its columns found."""
    return [*plan.notes, *table.notes]


class in_words_of:  # noqa: N801
    """Turn errors about answers into ones about a table, with its rows and lines.

    `rows` are the rows of the table, from 0, in which the answers stand; None if they are the same.
    """

    def __init__(self, table: Source, rows: IntArray | None) -> None:
        self.table, self.rows = table, rows

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if not isinstance(error, ValueError) or isinstance(error, TableError):
            return
        name = self.table.name
        if not isinstance(error, InputError):
            words = f"{name} should hold answers, but (rows counted from 0, without the header): "
            raise in_context(error, words, TableError) from error
        came = f"in {name}, {error.came}"
        if isinstance(error, StrangeAnswersError):
            found = [f"{cell} in {self.where(np.flatnonzero(bad))}" for cell, bad in error.places]
            came = f"{', '.join(found)}{error.more} of {name}"
        elif error.rows is not None and len(error.rows):
            bad = np.zeros(int(error.rows.max()) + 1, dtype=bool)
            bad[error.rows] = True
            came = error.came.replace(name_rows(bad), f"{self.where(error.rows)} of {name}")
        raise TableError(
            error.expected, came, error.remedies,
            parameter=error.parameter, value=error.value, settings=error.settings,
        ) from error  # fmt: skip

    def where(self, answers: IntArray) -> str:
        """Rows and lines of some answers."""
        rows = answers if self.rows is None else np.unique(self.rows[answers])
        return self.table.where((rows + 1).tolist())


def coded(table: Source, name: str, gaps: bool = False) -> Codes:
    """A column of names; gaps are refused, or None."""
    codes, names = table.encoded(name)
    has_gaps = bool(codes.min(initial=0) < 0)
    blank = codes < 0 if has_gaps else codes
    if has_gaps and not gaps:
        raise TableError(
            f"Column {name!r} of {table.name} should have an entry in every row, but is empty in "
            f"{table.where((np.flatnonzero(blank) + 1).tolist())}; fill it, or drop these rows."
        )
    if has_gaps:
        codes = np.where(blank, len(names), codes)
        cells = np.empty(len(names) + 1, dtype=object)
        cells[:-1], cells[-1] = names.tolist(), None
        names = cells
    return Codes(codes, names)


def measured(table: Source, name: str, gaps: bool) -> Codes:
    """A column of numbers that are not counted; gaps, which are allowed, are NaN."""
    numbers = floats(table.column(name))[0]
    return Codes(np.arange(len(numbers)), numbers)


# -- A row for each answer -------------------------------------------------------------------------


def _read_long(
    table: Source,
    plan: Plan,
    given: dict[str, Any],
    words: Mapping[Any, float] | None,
    on_rejected: str | None,
) -> Annotations:
    """Answers that have a row each."""
    found = plan.found
    rows, silent, told = _rows_that_count(table, plan, on_rejected)
    sure = [meaning for meaning in SURENESS if meaning in found]
    numbers = [meaning for meaning in sure if table.is_measured(found[meaning])]
    search = _begin_search(table, found, rows)
    table.encoded_all([found[m] for m in (*CODED, *sure) if m in found and m not in numbers])
    search = search or _begin_search(table, found, rows)
    spoken = [found[meaning] for meaning in CODED[1:] if meaning in found]
    spoken_of = table.encoded(found["item"])
    check_last_answer(table, found["item"], spoken_of, [table.encoded(n) for n in spoken])
    if not plan.choices:
        said = [spoken_of, *(table.encoded(name) for name in spoken)]
        check_first_answer(table, said, given["classes"] is not None)
    item = coded(table, found["item"])._replace(search=search)
    check_rows(table, len(item.codes))
    annotator = coded(table, found["annotator"]) if "annotator" in found else None
    if len(item.names) == 1 and annotator is not None and not plan.is_named:
        check_one_item(table, found)
    if plan.choices:
        label, counts = chosen_cells(table, plan.choices, rows)
        told += tell_choices(*counts)
    else:
        label = coded(table, found["label"], gaps=True)
    label = label if silent is None else _silenced(label, silent)
    more: dict[str, Any] = {}
    for meaning in NUMBERS:
        if meaning in found:
            more[meaning] = read_unit(table, [found[meaning]], meaning.capitalize())[:, 0]
    with in_words_of(table, rows):
        for meaning in sure:
            column = (measured if meaning in numbers else coded)(table, found[meaning], True)
            read = read_doubts(column, meaning, words, found[meaning])
            more["doubt"] = read.values
            told += read.notes
        if rows is not None:
            item, label = _only_used(item.taken(rows)), _only_used(label.taken(rows))
            annotator = None if annotator is None else _only_used(annotator.taken(rows))
            more = {meaning: values[rows] for meaning, values in more.items()}
        _check_probability(table, found, item, annotator)
        made = Annotations.from_long(item, annotator, label, **more, **given)
        check_free_text(len(made.classes), len(made), found["label"], given)
    of_sure = tuple(f"{table.name}: column {found[meaning]!r}" for meaning in sure)
    notes = [note for note in notes_of(table, plan) if not note.startswith(of_sure or ("\0",))]
    return made.with_notes(*notes, *told)  # which tells what was made of these


def _begin_search(table: Source, found: Mapping[str, str], rows: IntArray | None) -> Search | None:
    """Look for people who answered again meanwhile, if all rows are answers, with known codes."""
    if rows is not None or "annotator" not in found or any(number in found for number in NUMBERS):
        return None
    codes = table.known_codes([found["item"], found["annotator"]])
    return None if codes is None else Search(*codes)


def chosen_cells(
    table: Source, choices: Mapping[str, str], counted_rows: IntArray | None = None
) -> tuple[Codes, tuple[int, int]]:
    """Answers from columns that say of each class whether it was chosen.

    Also how many have several classes, and how many none.
    """
    truth = read_choices(table, list(choices))
    assert truth is not None
    classes = list(choices.values())
    rows, codes = np.unique(truth, axis=0, return_inverse=True)
    cells = np.empty(len(rows), dtype=object)
    for place, row in enumerate(rows):
        names = [classes[k] for k in np.flatnonzero(row)]
        cells[place] = frozenset(names) if len(names) > 1 else names[0] if names else None
    told = truth if counted_rows is None else truth[counted_rows]
    found = int((told.sum(axis=1) > 1).sum()), int((~told.any(axis=1)).sum())
    return Codes(codes.ravel(), cells), found


def tell_choices(n_several: int, n_none: int) -> list[Note]:
    """Notes on answers in which several classes were chosen, or none."""
    return [
        Note(f"{counted(count, 'answer')} {what}")
        for count, what in (
            (n_several, "with several classes, read as one of these"),
            (n_none, "in which nothing is chosen, read as cannot tell"),
        )
        if count
    ]


def _rows_that_count(
    table: Source, plan: Plan, on_rejected: str | None
) -> tuple[IntArray | None, BoolArray | None, list[Note]]:
    """Rows that count, as often as they do, if these are not all; which ones say nothing; notes."""
    check_numbers(plan.found, on_rejected, table.name)
    said = find_rejected(table, plan.states, plan.left_out)
    dropped, silent, notes = settle_rejected(said, plan.left_out, on_rejected, table.name)
    rows: IntArray | None = None if dropped is None else np.flatnonzero(~dropped)
    if "count" in plan.found:
        rows, told = _repeated_rows(table, plan.found["count"], rows)
        notes = [*notes, *told]
    return rows, silent, notes


def _silenced(label: Codes, silent: BoolArray) -> Codes:
    """Answers of which some say nothing; classes that only these named are gone."""
    cells = np.empty(len(label.names) + 1, dtype=object)
    cells[:-1], cells[-1] = label.names.tolist(), CANNOT_TELL
    return _only_used(Codes(np.where(silent, len(label.names), label.codes), cells))


def _only_used(column: Codes) -> Codes:
    """The same column without names that do not occur, in the order in which they first do."""
    used, first, codes = np.unique(column.codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(used), dtype=np.int64)
    place[order] = np.arange(len(used))
    return Codes(place[codes.ravel()], column.names[used[order]])


def _repeated_rows(table: Source, name: str, kept: IntArray | None) -> tuple[IntArray, list[Note]]:
    """Each row, or each that is kept, as often as a column counts it."""
    counts = floats(table.column(name))[0]
    bad = ~((counts >= 0) & (counts == np.round(counts)) & (counts <= MOST_COUNTED))
    if bad.any() or counts.sum() > MOST_COUNTED:
        where = f" in {table.where((np.flatnonzero(bad) + 1).tolist())}" * bool(bad.any())
        raise TableError(
            f"Column {name!r} of {table.name} should count answers, {MOST_COUNTED:,} at most",
            f"it does not{where}",
            "correct it, or leave it out with {ignore}",
            settings={"ignore": [name]},
        )
    kept = np.arange(len(counts)) if kept is None else kept
    rows = np.repeat(kept, counts[kept].astype(np.int64))
    return rows, [Note(f"{name!r} was read as how often each answer was given")]


def _check_probability(
    table: Source, found: Mapping[str, str], item: Codes, annotator: Codes | None
) -> None:
    """Refuse one probability for each answer: that is how sure somebody is."""
    if "probability" not in found or annotator is None:
        return
    pair = item.codes * len(annotator.names) + annotator.codes
    if len(np.unique(pair)) == len(pair):
        raise TableError(
            f"Column {found['probability']!r} of {table.name} should give every class of an answer "
            "a probability, in a row for each class",
            "there is one row for each answer",
            "say {names} if it is how sure people are",
            settings={"names": {"confidence": found["probability"]}},
        )


def check_free_text(n_classes: int, n_answers: int, name: str, given: Mapping[str, Any]) -> None:
    """Refuse a column in which nearly every answer is a class of its own."""
    if given["classes"] is None and is_free_text(n_classes, n_answers):
        raise InputError(
            f"Column {name!r} should name the same few classes again and again",
            f"it has {n_classes:,} different ones in {n_answers:,} answers, as free text, "
            "ids and measurements have",
            ("name the column of the answers, as in {names}", "list the {classes}"),
            settings={"names": {"label": "column"}, "classes": None},
        )


# -- A column for each item, or person -------------------------------------------------------------


def _read_items(table: Source, plan: Plan, given: dict[str, Any]) -> Annotations:
    """Answers with a row for each person and a column for each item."""
    columns = {name: coded(table, name, gaps=True) for name in plan.columns}
    who = coded(table, plan.found["annotator"]) if "annotator" in plan.found else None
    found = turned(columns, who)
    with in_words_of(table, found.rows):
        made = Annotations.from_long(found.items, found.annotators, found.labels, **given)
        check_free_text(len(made.classes), len(made), plan.columns[0], given)
    return made.with_notes(*notes_of(table, plan))


def _read_wide(
    table: Source, plan: Plan, given: dict[str, Any], words: Mapping[Any, float] | None
) -> Annotations:
    """Answers with a column for each annotator; an empty cell is no answer."""
    parts = [coded(table, name, gaps=True) for name in plan.columns]
    n_rows = len(parts[0].codes)
    check_rows(table, n_rows)
    every = np.arange(n_rows)
    item = coded(table, plan.found["item"]) if "item" in plan.found else Codes(every, every)
    places: dict[Any, int] = {}
    said = []
    for part in parts:
        cells = part.names.tolist()
        place = [-1 if cell is None else places.setdefault(cell, len(places)) for cell in cells]
        said.append(np.array(place, dtype=np.int64)[part.codes])
    rows = np.concatenate([np.flatnonzero(codes >= 0) for codes in said])
    who = np.repeat(np.arange(len(parts)), [int((codes >= 0).sum()) for codes in said])
    cells = np.empty(len(places), dtype=object)
    cells[:] = list(places)
    label = Codes(np.concatenate([codes[codes >= 0] for codes in said]), cells)
    more: dict[str, Any] = {}
    told: list[Any] = []
    with in_words_of(table, rows):
        if plan.sure:
            there = [codes >= 0 for codes in said]
            more["doubt"], told = doubts_beside(table, plan.columns, plan.sure, there, words)
        made = Annotations.from_long(
            item.taken(rows), Codes(who, np.array(plan.columns)), label, **more, **given
        )
        check_free_text(len(made.classes), len(made), plan.columns[0], given)
    return made.with_notes(*notes_of(table, plan), *told)
