"""What is known about items, from a table of answers or labels, or from an annotation tool."""

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.checks import check_option, check_path, check_texts, guess
from plausible.errors import InputError
from plausible.experts import (
    ANYONE,
    Annotations,
    Dependence,
    calibrate_words,
    fold,
    pool_and_tell,
)
from plausible.io.annotation_files import read_annotations
from plausible.io.answer_checks import (
    check_hidden,
)
from plausible.io.answer_columns import find_columns, look_at, plainly
from plausible.io.answer_layouts import find_meanings, prefixed
from plausible.io.export_sources import shown_name, tool_in
from plausible.io.export_tools import TOOLS
from plausible.io.exports import flattened, read_export
from plausible.io.features import column_of
from plausible.io.label_tables import in_classes, read_label_table
from plausible.io.matching import written
from plausible.io.wide_columns import RESULTS
from plausible.labels import Labels
from plausible.tables import (
    Source,
    TableError,
    arrow,
    choose,
    counted,
    listed,
    open_table,
    stream_table,
)

EXPORTS = tuple(TOOLS)
FORMS = ("answers", "labels", *EXPORTS)
HIGH_CONFLICT = 0.3  # on average, from which somebody may be surer than right


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
    dependence: Any = "auto",
    gold: Any = None,
    keep_gold: bool = False,
    **options: Any,
) -> Known:
    r"""Labels from a table of answers, which are pooled, or of labels.

    Parameters
    ----------
    source
        As for `read_table`.
    form : {"answers", "labels", "label-studio", "doccano", "prodigy", "argilla"}, optional
        By default a table with a column of annotators, one that has several rows for an item, or
        one that has no columns of labels, holds answers; exports are known by what they hold.
    rule, doubt, on_conflict, dependence
        How answers are pooled, as in `Annotations.pool`.
    gold : table of items and their classes, or dict of them, optional
        Classes that are known for sure. Where answers come with doubts or words of certainty, these
        are calibrated on them (see `calibrate_words`); else reliabilities and how far people err
        together are learned with them.
    keep_gold : bool
        Whether gold may come beside labels as well, which it leaves as they are: for those who
        calibrate with it later.
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
    the file object: 3 answers of 2 people about 2 items; classes cat, dog (2 in all)
    pooled by Dempster's rule with the doubts of the answers themselves (0.01 at least)
    """
    if form is not None:
        check_option(form, FORMS, "form")
    if "ignore" in options:
        options["ignore"] = check_texts(options["ignore"], "ignore")
    how: dict[str, Any] = {
        "rule": rule,
        "doubt": doubt,
        "on_conflict": on_conflict,
        "dependence": dependence,
        "gold": gold,
    }
    tool = form if form in EXPORTS else tool_in(source) if form != "labels" else None
    if tool in EXPORTS:
        return _read_tool(source, str(tool), options, how)
    stream = stream_table(flattened(source))
    table = open_table(stream)
    names = options["names"] if options.get("names") is not None else {}
    found = find_meanings(table, names, options.get("ignore", ()), options)
    if form is None:
        form = "labels" if _holds_labels(table, found, options) else "answers"
    if form == "answers":
        return pooled(read_annotations(stream, **options), table.name, **how)
    check_options(options)
    check_unpooled(table.name, keep_gold=keep_gold, **how)
    read = read_label_table(table, found, options)
    return Known(read.labels, read.items, None, read.notes)


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse options of labels that nobody knows."""
    known = inspect.signature(read_annotations).parameters
    strange = [name for name in options if name not in known]
    if strange:
        raise InputError(
            "Options should be those of read_annotations or read_labels",
            f"{strange[0]} came{guess(strange[0], list(known)).removesuffix('?')}",
            "correct its name, or leave it out",
            parameter=strange[0],
        )


def check_unpooled(
    name: str,
    rule: str = "dempster",
    doubt: Any = None,
    dependence: Any = "auto",
    gold: Any = None,
    keep_gold: bool = False,
    **_others: Any,
) -> None:
    """Refuse to pool labels, of which there is one for each item."""
    is_gold_idle = gold is not None and not keep_gold
    if rule != "dempster" or doubt is not None or dependence != "auto" or is_gold_idle:
        raise ValueError(
            f"Answers of several people should be pooled, but {name} holds labels, one for "
            "each item; leave rule, doubt, dependence and gold out."
        )


def _read_tool(source: Any, tool: str, options: dict[str, Any], how: dict[str, Any]) -> Known:
    """Pooled answers of an annotation tool; of doccano also a folder, with a file for each one."""
    allowed = {"classes", "names", "map", "words", "repeats", "separator", "on_rejected"}
    strange = sorted(set(options) - allowed)
    if strange:
        raise InputError(
            f"An export in the form {tool!r} should need no other option than classes",
            f"{strange[0]} came",
            "leave it out (names, map, words, repeats and on_rejected may be given as well)",
            parameter=strange[0],
        )
    if not hasattr(source, "read") and source != "-":
        check_path(source, "An export")
    given = {name: value for name, value in options.items() if name != "names"}
    answers = read_export(source, tool=tool, names=options.get("names"), given=given)
    assert answers is not None
    return pooled(answers, shown_name(source), **how)


def _holds_labels(table: Source, found: dict[str, str], options: Mapping[str, Any]) -> bool:
    """Whether a table has columns of labels, none of annotators, and a row for each item."""
    if {"annotator", "count"} & set(found) or "layout" in options:
        return False
    if options.get("kind") in ("plausibility", "probability", "mass", "set"):
        return True
    is_marked = bool(prefixed(table)) or "set" in table.names
    if not is_marked and ("label" not in found or "kind" in options):
        return False
    if not is_marked and "item" not in (options.get("names") or {}):
        check_hidden(table, found, options.get("ignore", ()))
    if "item" not in found:
        return True
    items = column_of(table, found["item"])
    if arrow().types.is_nested(items.type):
        return False  # whoever reads it says what is wrong
    return bool(len(items.unique()) == len(items)) or bool(items.null_count)


def pooled(
    annotations: Annotations,
    name: str,
    rule: str,
    doubt: Any,
    on_conflict: str,
    dependence: Any,
    gold: Any,
) -> Known:
    """Pooled answers, with a word on how."""
    learned: list[str] = []
    try:
        truth = None if gold is None else _read_gold(gold, annotations, learned)
        if truth and doubt is None and annotations.doubt is not None:
            found = calibrate_words(annotations, truth)
            annotations, truth = found.apply(annotations), None
            learned += ["share of right answers by stated doubt:", *str(found).splitlines()]
        labels, together = pool_and_tell(
            annotations, rule, doubt, truth, on_conflict, dependence, {}
        )
    except InputError as error:
        raise error.prefixed(f"{name}: ", TableError) from error
    n_people = len(annotations.annotators)
    people = f"{n_people} {'person' if n_people == 1 else 'people'}"
    if annotations.annotators.tolist() == [ANYONE]:
        people = "people unknown"
    how = "Dempster's rule" if rule == "dempster" else f"the rule {rule!r}"
    if doubt is None and annotations.doubt is not None:
        doubts = "the doubts of the answers themselves "
        doubts += "(0.01 at least)" if not learned else "(calibrated on items with known class)"
    elif doubt is None or isinstance(doubt, str):
        doubts = "doubts learned from the agreement of people"
    else:
        doubts = f"doubt {doubt}" if np.ndim(doubt) == 0 else "the given doubts"
        doubts += "" if annotations.doubt is None else " on top of that of the answers"
    notes = [
        f"{name}: {counted(len(annotations), 'answer')} of {people} about "
        f"{counted(len(annotations.items), 'item')}; {in_classes(annotations.classes)}",
        *annotations.notes,
        f"pooled by {how} with {doubts}",
        *learned,
        *([] if together is None else told_dependence(together)),
    ]
    conflict = 0.0 if labels.conflict is None else float(labels.conflict.mean())
    if conflict > HIGH_CONFLICT and not isinstance(doubt, str) and annotations.doubt is not None:
        notes.append(
            f"conflict is {conflict:.2f} on average: somebody may be surer than right; the doubt "
            "'fit' learns from agreement whom to trust"
        )
    return Known(labels, annotations.items, annotations, notes)


def _read_gold(gold: Any, annotations: Annotations, notes: list[str]) -> dict[Any, Any]:
    """Classes of items that are known for sure; notes on them are added."""
    if isinstance(gold, Mapping) and not all(np.ndim(value) for value in gold.values()):
        known = dict(gold)
    else:
        found = _read_gold_table(gold, annotations.items)
        if found.items is None:
            raise TableError(
                "The table of known classes should have a column of items, but has none; add one "
                "called item."
            )
        rows = np.flatnonzero(found.labels.is_hard)
        names = found.labels.classes[found.labels.contour[rows].argmax(axis=1)].tolist()
        known = dict(zip(found.items[rows].tolist(), names, strict=True))
    place = {written(item): item for item in annotations.items.tolist()}
    frame = annotations.classes.tolist()
    alike = {fold(str(name)): name for name in frame}
    kept = {
        place[written(item)]: truth if truth in frame else alike.get(fold(str(truth)), truth)
        for item, truth in known.items() if written(item) in place
    }  # fmt: skip
    n_left = len(known) - len(kept)
    left = f"; {counted(n_left, 'other')} without answers" if n_left else ""
    notes.append(f"classes of {counted(len(kept), 'item')} are known{left}")
    if not kept:
        raise TableError(
            "Items with known classes should be among those with answers",
            f"none is: they are {listed([repr(item) for item in known])}, and answers are about "
            f"{listed([repr(item) for item in annotations.items.tolist()])}",
            "write their names alike",
        )
    strange = [truth for truth in kept.values() if truth not in frame]
    if strange:
        raise TableError(
            f"Known classes should be among those of the answers, {listed(list(map(repr, frame)))}",
            f"there is {strange[0]!r}",
            "correct it, or add the class to {classes}",
            settings={"classes": None},
        )
    return kept


def _read_gold_table(gold: Any, items: NDArray[Any]) -> Known:
    """A table of known classes: its column of items is the one that names some of the answers'.

    Labels have a column that says so, that is called truth or the like, or that is the only other.
    """
    stream = stream_table(flattened(gold))
    table, found = stream.table, find_columns(stream.table, {})
    names = {}
    if "item" not in found:
        wanted = {written(item) for item in items.tolist()}
        looks = look_at(table, choose(table, None))
        held = [name for name, look in looks.items() if wanted & set(map(written, look.values))]
        names = {"item": held[0]} if len(held) == 1 else {}
    free = [n for n in choose(table, None) if n not in (found.get("item"), names.get("item"))]
    called = [name for name in free if plainly(name) in RESULTS]
    likely = called if len(called) == 1 else free
    if "label" not in found and (found | names).get("item") and len(likely) == 1:
        names |= {} if prefixed(table) else {"label": likely[0]}
    return read_known(stream, "labels", names=names or None)


def told_dependence(together: Dependence) -> list[str]:
    """Notes on people who err together."""
    first, *copies = str(together).splitlines()
    return [f"people err together: {first}", *copies]
