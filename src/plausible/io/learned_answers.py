"""What all answers of a table tell together, before they are read in parts.

What a cell means may depend on others: names that differ by case are one class, "oak/elm" is a set
if both are classes, confidences are percentages if some exceed 1. So different cells are gathered
while answers are dealt out; parts are then read by what these mean, and notes are those of the
whole table.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.checks import as_list
from plausible.errors import Note
from plausible.experts import (
    ABSTAIN,
    NONE,
    Codes,
    DoubtSums,
    Gaps,
    Scale,
    read_doubts,
    scale_of,
    tidy_names,
    understand_cells,
)
from plausible.io.annotation_files import (
    check_free_text,
    chosen_cells,
    coded,
    in_words_of,
    tell_choices,
)
from plausible.io.answer_columns import NUMBERS, SURENESS
from plausible.io.answer_plans import Plan
from plausible.io.cells import Different
from plausible.io.last_rows import check_first_answer
from plausible.io.pieces import Piece
from plausible.tables import Source, arrow, floats

FloatArray = NDArray[np.float64]


class Counted:
    """Different cells of a column, and how many answers have each."""

    def __init__(self) -> None:
        self.counts: dict[Any, int] = {}

    def add(self, column: Codes, weights: FloatArray | None = None) -> None:
        """Take further rows, each of which counts once or by its weight."""
        found = np.bincount(column.codes, weights, len(column.names))
        for cell, count in zip(column.names.tolist(), found.tolist(), strict=True):
            self.counts[cell] = self.counts.get(cell, 0) + int(count)


class Sureness(NamedTuple):
    """How doubts are read: by which column, what it means, its scale, and what fills gaps."""

    column: str
    meaning: str
    scale: Scale
    gaps: Gaps | None = None


class LearnedAnswers(NamedTuple):
    """By which options parts are read, and notes on all answers.

    says : for each cell of the labels whether it says something
    """

    options: dict[str, Any]
    sure: Sureness | None
    classes: list[Any]
    says: dict[Any, bool]
    notes: list[Note]


class Gathered:
    """What is gathered of answers while they are dealt out."""

    def __init__(self, table: Source, plan: Plan) -> None:
        self.table, self.plan = table, plan
        self.labels, self.people, self.doubts = Counted(), Counted(), Different()
        self.has_gaps = False
        self.n_first, self.n_rows = 0, 0
        self.first_item: Any = None  # as Arrow has it
        self.sure = next((m for m in SURENESS if m in plan.found), None)

    def add_doubts(self, piece: Piece) -> None:
        """Take the doubts of all rows, whether they count or not."""
        if self.sure is not None:
            found = piece.encoded(self.plan.found[self.sure])
            self.doubts.add(found.names)
            self.has_gaps |= bool((found.codes < 0).any())

    def add(self, answers: Any, n_silenced: int) -> None:
        """Take answers that count, of which some are empty because they were silenced."""
        if not answers.num_rows:
            return
        found, piece = self.plan.found, Piece(self.table, answers, 0)
        weights = None
        if "count" in found:
            weights = np.nan_to_num(floats(answers.column(found["count"]))[0])
        self.labels.add(labels_of(piece, self.plan), weights)
        if n_silenced:
            self.labels.counts[None] -= n_silenced
        self.people.add(coded(piece, found["annotator"]))
        items = answers.column(found["item"])
        self.first_item = items[0] if self.first_item is None else self.first_item
        if self.n_first < 2:  # it does not matter how often it comes again
            same = arrow(".compute").equal(items, self.first_item)
            self.n_first += arrow(".compute").sum(same).as_py() or 0
        self.n_rows += answers.num_rows

    @property
    def may_fill(self) -> bool:
        """Whether doubts may be missing, or all be 1."""
        return self.sure is not None and (self.has_gaps or len(self.doubts.cells()) < 2)

    def learned(self, options: Mapping[str, Any]) -> LearnedAnswers:
        """What all answers tell together."""
        cells, counts = list(self.labels.counts), list(self.labels.counts.values())
        classes = options.get("classes")
        if not self.plan.choices:
            self._check_first(classes is not None)
        abstain = as_list(options.get("abstain", ABSTAIN), "abstain", "cells")
        none = as_list(options.get("none", NONE), "none", "cells")
        with in_words_of(self.table, None):
            names, said, told = understand_cells(
                cells, counts, classes, options.get("separator", "|"), abstain, none,
                options.get("map"),
            )  # fmt: skip
            label = self.plan.found["label"]
            check_free_text(len(names), sum(counts), label, {"classes": classes})
            sure, told_doubts = self._sureness(options)
        meant = dict(zip(cells, said, strict=True))
        changes = {cell: meant[cell] for cell in cells if isinstance(cell, str | int | float)}
        how = dict(options) | {"classes": names, "map": changes}
        says = {c: one is not None and len(set(one)) < len(names) for c, one in meant.items()}
        people = np.array(list(self.people.counts))
        alike = tidy_names(Codes(np.arange(len(people)), people), "annotators")[1]
        chosen = tell_choices(*self._choices()) if self.plan.choices else []
        notes = [*alike, *told, *self.plan.notes, *chosen, *told_doubts]
        return LearnedAnswers(how, sure, names, says, notes)

    def _sureness(self, options: Mapping[str, Any]) -> tuple[Sureness | None, list[Note]]:
        if self.sure is None:
            return None, []
        name = self.plan.found[self.sure]
        scale = scale_of(self.doubts.cells(), self.sure, options.get("words"), name)
        return Sureness(name, self.sure, scale), scale.notes

    def _choices(self) -> tuple[int, int]:
        several = sum(n for cell, n in self.labels.counts.items() if isinstance(cell, frozenset))
        return several, self.labels.counts.get(None, 0)

    def _check_first(self, is_told: bool) -> None:
        """Refuse a first row that is a second line of names, as it is refused in memory.

        It does not matter how often what comes more than once comes.
        """
        found = [np.array([0] * min(self.n_first, 2) + [1] * min(self.n_rows, 6))]
        names = [np.array([str(self.first_item), None], dtype=object)]
        for column in (self.people, self.labels):
            cells = np.empty(len(column.counts), dtype=object)
            cells[:] = list(column.counts)
            codes = np.repeat(np.arange(len(cells)), np.minimum(list(column.counts.values()), 2))
            gone = [k for k, cell in enumerate(cells) if cell is None]
            found.append(np.where(np.isin(codes, gone), -1, codes))
            names.append(cells)
        if all(map(len, found)):
            check_first_answer(self.table, list(zip(found, names, strict=True)), is_told)


def labels_of(piece: Piece, plan: Plan) -> Codes:
    """The labels of some answers."""
    if plan.choices:
        return chosen_cells(piece, plan.choices)[0]
    return coded(piece, plan.found["label"], gaps=True)


def doubts_of_part(part: Source, sure: Sureness, words: Any) -> FloatArray:
    """Doubts of the answers of a part, NaN where these have none."""
    with in_words_of(part, None):
        column = coded(part, sure.column, gaps=True)
        return read_doubts(column, sure.meaning, words, sure.column, sure.scale).values


def learn_gaps(
    parts: Iterable[Piece], plan: Plan, learned: LearnedAnswers
) -> tuple[Sureness | None, list[Note]]:
    """What stands for doubts that are missing, as `Annotations.from_long` finds it in memory.

    None if no answer has a doubt of its own.
    """
    sure, sums = learned.sure, DoubtSums()
    assert sure is not None
    for part in parts:
        doubts = doubts_of_part(part, sure, learned.options.get("words"))
        label = labels_of(part, plan)
        says = np.array([learned.says[cell] for cell in label.names.tolist()])[label.codes]
        who = coded(part, plan.found["annotator"])
        sums.add(doubts, who.codes, who.names.tolist(), says)
    gaps, told = sums.learned()
    return None if gaps is None else sure._replace(gaps=gaps), told


def with_doubts(part: Any, table: Any, learned: LearnedAnswers, plan: Plan) -> Any:
    """A part as a table of Arrow, with doubts from 0 to 1 in place of those that came."""
    sure = learned.sure
    assert sure is not None
    doubts = doubts_of_part(part, sure, learned.options.get("words"))
    has_gaps = np.isnan(doubts).any() and not any(m in plan.found for m in NUMBERS)
    if has_gaps and sure.gaps is not None:
        who = coded(part, plan.found["annotator"])
        doubts = sure.gaps.filled(doubts, who.codes, who.names.tolist())
    place = table.schema.get_field_index(sure.column)
    column = arrow().array(doubts, from_pandas=True)
    return table.set_column(place, sure.column, column)


def without_doubts(learned: LearnedAnswers) -> LearnedAnswers:
    """The same where no doubts are read."""
    if learned.sure is None:
        return learned
    column, options = learned.sure.column, learned.options
    names = {m: name for m, name in (options.get("names") or {}).items() if name != column}
    ignore = [*options.get("ignore", ()), column]
    return learned._replace(sure=None, options=options | {"names": names, "ignore": ignore})


def options_of_parts(learned: LearnedAnswers) -> dict[str, Any]:
    """Options with which parts are read whose doubts `with_doubts` has made."""
    options = {name: value for name, value in learned.options.items() if name != "words"}
    if learned.sure is None:
        return options
    names = {m: column for m, column in (options.get("names") or {}).items() if m not in SURENESS}
    return options | {"names": names | {"doubt": learned.sure.column}}
