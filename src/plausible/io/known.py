"""What is known about items, from a table of answers or labels, or from an annotation tool."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.checks import check_option, check_path
from plausible.errors import InputError
from plausible.experts import Annotations
from plausible.io.annotation_files import (
    find_columns,
    read_annotations,
    read_doccano,
    read_label_studio,
)
from plausible.io.features import read_ids
from plausible.io.label_files import PREFIXES, read_labels
from plausible.labels import Labels
from plausible.tables import (
    Source,
    TableError,
    TableStream,
    choose,
    counted,
    floats,
    listed,
    open_table,
    stream_table,
)

EXPORTS = ("label-studio", "doccano")
FORMS = ("answers", "labels", *EXPORTS)
HIGH_CONFLICT = 0.3  # on average, from which somebody may be surer than right
REAL = ("halffloat", "float", "double")


class Known(NamedTuple):
    """What is known about items; what `read_known` returns.

    Attributes
    ----------
    labels : Labels
    items : array (n,) of names, or None where labels have none
    annotations : Annotations, or None
    notes : list of str
        What was assumed, in words.

    Examples
    --------
    >>> read_known({"item": ["x", "y"], "label": ["cat", "dog"]}).items.tolist()
    ['x', 'y']
    """

    labels: Labels
    items: NDArray[Any] | None
    annotations: Annotations | None
    notes: list[str]


def read_known(
    source: Any,
    form: str | None = None,
    *,
    rule: str = "dempster",
    doubt: str | float | Mapping[Any, float] | None = None,
    on_conflict: str = "raise",
    **options: Any,
) -> Known:
    r"""Labels from a table of answers, which are pooled, or of labels.

    Parameters
    ----------
    source
        As for `read_table`.
    form : {"answers", "labels", "label-studio", "doccano"}, optional
        By default a table with a column of annotators, or one that has no columns of labels, holds
        answers.
    rule, doubt, on_conflict
        How answers are pooled, as in `Annotations.pool`.
    **options
        Further ones of `read_annotations` or `read_labels`.

    Examples
    --------
    >>> import io
    >>> answers = "item,annotator,label,doubt\n1,ann,cat,0.1\n1,bob,dog,0.5\n2,ann,dog,0.2\n"
    >>> known = read_known(io.StringIO(answers))
    >>> known.labels.contour.round(2)
    array([[0.91, 0.18],
           [0.2 , 1.  ]])
    >>> print(*known.notes, sep="\n")
    the file object: 3 answers of 2 people about 2 items; classes cat, dog
    pooled by Dempster's rule with the doubts of the answers themselves (0.01 at least)
    """
    if form is not None:
        check_option(form, FORMS, "form")
    how: dict[str, Any] = {"rule": rule, "doubt": doubt, "on_conflict": on_conflict}
    if form in EXPORTS:
        return read_export(source, form, options, how)
    stream = stream_table(source)
    table = open_table(stream)
    found = find_columns(table, options["names"] if options.get("names") is not None else {})
    if form is None:
        form = "labels" if holds_labels(table, found, options) else "answers"
    if form == "answers":
        if is_guessed(found, options):
            check_answers(table, found)
        annotations = read_annotations(stream, **options)
        is_wide = "annotator" not in found and options.get("kind") is None
        answered = pooled(annotations, table.name, is_wide, **how)
        return answered._replace(notes=[*table.notes, *answered.notes])
    if rule != "dempster" or doubt is not None:
        raise ValueError(
            f"Answers of several people should be pooled, but {table.name} holds labels, one for "
            "each item; leave rule and doubt out."
        )
    labels = read_named_labels(stream, found, options)
    items = read_ids(table, found["item"]) if "item" in found else None
    said = int((labels.informativeness > 0).sum())
    names = listed([str(name) for name in labels.classes], len(labels.classes))
    notes = [
        *table.notes,
        f"{table.name}: labels of {counted(len(labels), 'item')}; {said} say something; classes "
        f"{names}",
    ]
    return Known(labels, items, None, notes)


def read_export(source: Any, form: str, options: dict[str, Any], how: dict[str, Any]) -> Known:
    """Pooled answers of an annotation tool; of doccano also a folder, with a file for each one."""
    strange = sorted(set(options) - {"classes"})
    if strange:
        raise ValueError(
            f"An export in the form {form!r} should need no other option than classes, but "
            f"{strange[0]} came; leave it out."
        )
    is_input = isinstance(source, str) and source == "-"
    name = "standard input" if is_input else repr(check_path(source, "An export").name)
    if form == "label-studio":
        return pooled(read_label_studio(source, **options), name, False, **how)
    files = sorted(Path(source).glob("*.jsonl")) if Path(source).is_dir() else [source]
    return pooled(read_doccano(files, **options), name, False, **how)


def holds_labels(table: Source, found: dict[str, str], options: Mapping[str, Any]) -> bool:
    """Whether a table has columns of labels, and none of annotators."""
    if "annotator" in found or "layout" in options:
        return False
    if options.get("kind") in ("plausibility", "probability", "mass"):
        return True
    return bool(prefixed(table)) or "set" in table.names or "label" in found


def prefixed(table: Source) -> list[str]:
    """Columns that say what they are, such as ``probability:cat``."""
    return [name for name in table.names if ":" in name and name.partition(":")[0] in PREFIXES]


def is_guessed(found: dict[str, str], options: Mapping[str, Any]) -> bool:
    """Whether columns would be people only because nothing says what they are."""
    return not (set(found) - {"item"}) and not {"layout", "kind", "columns"} & set(options)


def check_answers(table: Source, found: dict[str, str]) -> None:
    """Refuse a table whose columns hold fractions: these are measurements, not answers."""
    names = [name for name in choose(table, None) if name != found.get("item")]
    is_real = [str(table.schema([name]).field(0).type) in REAL for name in names]
    suspects = [name for name, real in zip(names, is_real, strict=True) if real]
    odd = [
        name
        for name in suspects
        if any(has_fractions(floats(batch.column(0))[0]) for batch in table.batches([name]))
    ]
    if odd:
        raise TableError(
            f"{table.name} should hold answers or labels",
            f"has no such columns, and its column{'s' if len(odd) > 1 else ''} "
            f"{listed([repr(name) for name in odd])} {'hold' if len(odd) > 1 else 'holds'} "
            "fractions",
            (
                "is this a table of features? Name the columns with {names}",
                "say {kind} if these are degrees by class",
                "{layout} if they are answers by annotator",
            ),
            settings={"names": None, "kind": None, "layout": "annotators"},
        )


def has_fractions(values: NDArray[np.float64]) -> bool:
    """Whether some numbers are not whole."""
    finite = values[np.isfinite(values)]
    return bool(np.any(finite != np.floor(finite)))


def read_named_labels(
    stream: TableStream, found: dict[str, str], options: Mapping[str, Any]
) -> Labels:
    """Labels, whose columns may have other names."""
    table = stream.table
    given = {name: value for name, value in options.items() if name not in ("names", "layout")}
    if given.get("kind") == "mass":
        given["kind"] = "masses"
    if "columns" in given or prefixed(table):
        return read_labels(stream, **given)
    if "kind" in given:
        aside = {found.get("item"), "conflict"}
        return read_labels(stream, columns=[n for n in table.names if n not in aside], **given)
    if "set" not in table.names and "label" in found:
        given |= {"columns": found["label"], "kind": "doubt" if "doubt" in found else "crisp"}
        given |= {"doubt": found["doubt"]} if "doubt" in found else {}
    return read_labels(stream, **given)


def pooled(
    annotations: Annotations, name: str, is_wide: bool, rule: str, doubt: Any, on_conflict: str
) -> Known:
    """Pooled answers, with a word on how."""
    try:
        labels = annotations.pool(rule, doubt, on_conflict=on_conflict)
    except InputError as error:
        raise error.prefixed(f"{name}: ", TableError) from error
    classes = listed([str(name) for name in annotations.classes], len(annotations.classes))
    n_people = len(annotations.annotators)
    how = "Dempster's rule" if rule == "dempster" else f"the rule {rule!r}"
    if doubt is None and annotations.doubt is not None:
        doubts = "the doubts of the answers themselves (0.01 at least)"
    elif doubt is None or isinstance(doubt, str):
        doubts = "doubts learned from the agreement of people"
    else:
        doubts = f"doubt {doubt}" if np.ndim(doubt) == 0 else "the given doubts"
        doubts += "" if annotations.doubt is None else " on top of that of the answers"
    notes = [
        f"{name}: {counted(len(annotations), 'answer')} of {n_people} "
        f"{'person' if n_people == 1 else 'people'} about "
        f"{counted(len(annotations.items), 'item')}; classes {classes}",
        f"pooled by {how} with {doubts}",
    ]
    conflict = 0.0 if labels.conflict is None else float(labels.conflict.mean())
    if conflict > HIGH_CONFLICT and not isinstance(doubt, str) and annotations.doubt is not None:
        notes.append(
            f"conflict is {conflict:.2f} on average: somebody may be surer than right; the doubt "
            "'fit' learns from agreement whom to trust"
        )
    if is_wide:
        people = [str(name) for name in annotations.annotators]
        notes.insert(1, f"each of these columns was read as a person: {listed(people)}")
    return Known(labels, annotations.items, annotations, notes)
