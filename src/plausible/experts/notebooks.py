"""Answers and reliabilities as a notebook shows them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from plausible._html import (
    LONGEST,
    Markup,
    degree,
    join,
    left_out,
    name,
    notebook_page,
    number_of,
    rows_of,
    short_name,
    some_names,
    strip,
    tag,
    track,
)
from plausible._visible import name_of
from plausible.labels import statement_in_words

if TYPE_CHECKING:
    from plausible.experts.annotations import Annotations
    from plausible.experts.reliability import Reliability

MOST_ITEMS = 6  # that are shown
MOST_STATEMENTS = 4  # about an item
MOST_PEOPLE = 3  # who are named for a statement
MOST_ANNOTATORS = 10  # in the table of reliabilities
MOST_NAMES = 6
MOST_NOTES = 3


def annotations_page(annotations: "Annotations") -> str:
    """How many answers name one class, and who said what about the first items."""
    facts = join([
        f"{number_of(len(annotations), 'answer')} "
        f"about {number_of(len(annotations.items), 'item')} "
        f"by {number_of(len(annotations.annotators), 'annotator')}; "
        f"{number_of(annotations.n_classes, 'class', 'classes')}: ",
        some_names(annotations.classes.tolist(), MOST_NAMES),
    ])  # fmt: skip
    parts = [_kinds(annotations)] if len(annotations) else []
    shown = np.flatnonzero(annotations.item < MOST_ITEMS)
    names = _Names(annotations)
    rows = [
        (
            short_name(annotations.items[i]),
            _said(annotations, shown[annotations.item[shown] == i], names),
        )
        for i in range(min(MOST_ITEMS, len(annotations.items)))
    ]
    parts += [rows_of(["item", "answers"], rows)] if rows else []
    parts.append(left_out(len(annotations.items) - len(rows), "item"))
    parts += [tag("p", name(name_of(note, 160)), class_="ph-quiet")
              for note in annotations.notes[:MOST_NOTES]]  # fmt: skip
    parts.append(left_out(len(annotations.notes) - MOST_NOTES, "note"))
    return notebook_page("Annotations", facts, *parts)


def _kinds(annotations: "Annotations") -> Markup:
    """How many answers name one class, leave several open, or are doubted."""
    hard = annotations.is_hard[annotations.statement]
    doubted = np.zeros(len(hard), dtype=bool)
    if annotations.doubt is not None:
        doubted = hard & (annotations.doubt > 0)
    return strip([
        ("one class", int((hard & ~doubted).sum())),
        ("one class, doubted", int(doubted.sum())),
        ("other statements", int((~hard).sum())),
    ])  # fmt: skip


class _Names(dict[int, str]):
    """Names of classes as they are shown, made when they are asked for."""

    def __init__(self, annotations: "Annotations") -> None:
        super().__init__()
        self.classes = annotations.classes

    def __len__(self) -> int:
        return len(self.classes)

    def __missing__(self, k: int) -> str:
        return self.setdefault(k, name_of(self.classes[k], LONGEST))


def _said(annotations: "Annotations", answers: Any, names: Any) -> Markup:
    """What was said about an item, most frequent first, and by whom."""
    statements, counts = np.unique(annotations.statement[answers], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    told: list[Any] = []
    for k in order[:MOST_STATEMENTS]:
        mine = answers[annotations.statement[answers] == statements[k]]
        contour = annotations.facts.rows[[statements[k]]].toarray()[0]
        people = annotations.annotators[annotations.annotator[mine]].tolist()
        words = name(statement_in_words(contour, names))
        who = tag("span", " (", some_names(people, MOST_PEOPLE), ")", class_="ph-quiet")
        told += [tag("br")] if told else []
        told.append(join([words, who]))
    left = len(order) - MOST_STATEMENTS
    return join([*told, tag("br"), f"{left:,} other statements"] if left > 0 else told)


def reliability_page(found: "Reliability") -> str:
    """How often annotators are right, best first, with intervals and doubts."""
    order = np.argsort(-found.accuracy, kind="stable")[:MOST_ANNOTATORS]
    rows = [
        (
            short_name(found.annotators[r]),
            f"{found.n_answers[r]:,.0f}",
            degree(float(found.accuracy[r])),
            _interval(*(float(column[r]) for column in (found.low, found.accuracy, found.high))),
            degree(float(found.doubt[r])),
        )
        for r in order
    ]
    facts = (
        f"of {number_of(len(found.annotators), 'annotator')}, "
        f"{number_of(len(found.posterior), 'item')}, "
        f"{number_of(len(found.classes), 'class', 'classes')}"
        + ("" if found.converged else "; the fit was cut short")
    )
    heads = ["annotator", "answers", "right", "95 % interval", "doubt"]
    notes = []
    if np.isfinite(found.consensus_error):
        share = f"{100 * found.consensus_error:.0f} %"
        words = f"Intervals allow for errors that people share on up to {share} of the items."
        notes = [tag("p", words, class_="ph-quiet")]
    return notebook_page(
        "Reliability",
        facts,
        rows_of(heads, rows, numbers=[1, 2, 4]),
        left_out(len(found.annotators) - len(order), "annotator"),
        *notes,
    )


def _interval(low: float, value: float, high: float) -> Markup:
    drawn = track((low, high, "soft"), (value, value, "mark"))
    return join([f"{degree(low)} to {degree(high)}", drawn])
