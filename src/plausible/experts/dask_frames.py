"""Answers of a Dask data frame, a row for each, in parts that hold all about their items.

What a cell means may depend on the cells of other partitions, and so does the mean doubt that
stands for those that are missing. So cells and doubts are counted where they lie, before rows are
dealt out by item.
"""

from collections import Counter
from functools import partial, reduce
from numbers import Number
from typing import Any

import numpy as np

from plausible.errors import InputError, Note
from plausible.experts.annotations import Annotations
from plausible.experts.columns import doubts_of
from plausible.experts.doubt_gaps import DoubtSums, Gaps
from plausible.experts.parsing import ABSTAIN, NONE, different_cells, understand_cells
from plausible.experts.tables import factorize


def read_frame(frame: Any, columns: list[str]) -> tuple[list[Any], list[Note]]:
    """Delayed `Annotations` of the columns item, annotator, label and perhaps doubt, and notes."""
    import dask as library

    dask: Any = library  # which has no types
    rows = frame[columns]
    count = dask.delayed(_count_cells, pure=False)
    found = dask.compute(*(count(part, columns[2]) for part in rows.to_delayed()))
    cells = sum(found, Counter[Any]())
    if not cells:
        raise InputError("Parts should hold answers", "there are none", "give some")
    classes, said, notes = understand_cells(
        list(cells), list(cells.values()), None, "|", list(ABSTAIN), list(NONE)
    )
    meant = dict(zip(cells, said, strict=True))
    changes = {cell: names for cell, names in meant.items() if isinstance(cell, str | Number)}
    gaps, told = None, []
    if len(columns) > 3:
        says = {cell: _is_telling(names, classes) for cell, names in meant.items()}
        tally = dask.delayed(partial(_sum_doubts, says=says), pure=False)
        sums = dask.compute(*(tally(part, columns[1:]) for part in rows.to_delayed()))
        gaps, told = reduce(DoubtSums.join, sums).learned()
        columns = columns if gaps is not None else columns[:3]
    read = partial(_from_frame, columns=columns, classes=classes, changes=changes, gaps=gaps)
    made = dask.delayed(read, pure=False)
    dealt = rows.shuffle(columns[0]).to_delayed()
    return [made(part) for part in dealt], [*notes, *told]


def _count_cells(frame: Any, label: str) -> Counter[Any]:
    """How often each cell of a column comes in a part of a data frame."""
    codes, cells = different_cells(frame[label].to_numpy())
    return Counter(dict(zip(cells, np.bincount(codes).tolist(), strict=True)))


def _is_telling(names: tuple[Any, ...] | None, classes: list[Any]) -> bool:
    """Whether an answer that leaves these classes possible says something."""
    return names is not None and set(names) != set(classes)


def _sum_doubts(frame: Any, columns: list[str], says: dict[Any, bool]) -> DoubtSums:
    """Sums of the doubts of a part of a data frame, of which annotator, label and doubt are told.

    What a cell says is known from all parts.
    """
    annotator, label, doubt = (frame[name].to_numpy() for name in columns)
    if not len(label):
        return DoubtSums()
    codes, cells = different_cells(label)
    people = factorize(annotator, "annotators")
    doubts = doubts_of(doubt, None, None, len(label))[0]
    assert doubts is not None
    telling = np.array([says[cell] for cell in cells])[codes]
    return DoubtSums().add(doubts, people.codes, people.names.tolist(), telling)


def _from_frame(
    frame: Any,
    columns: list[str],
    classes: list[Any],
    changes: dict[Any, Any],
    gaps: Gaps | None,
) -> Annotations:
    """Answers of a part of a data frame, which may be without rows."""
    values = [frame[name].to_numpy() for name in columns]
    doubt = values[3] if len(values) > 3 else None
    if not len(values[0]):
        one = Annotations.from_long(["x"], ["x"], ["x"])
        none = np.zeros(0, dtype=np.int64)
        return one._with(
            items=one.items[:0], annotators=one.annotators[:0], classes=one.classes[:0],
            item=none, annotator=none, statement=none,
        )  # fmt: skip
    if doubt is not None and gaps is not None:
        known = doubts_of(doubt, None, None, len(doubt))[0]
        people = factorize(values[1], "annotators")
        assert known is not None
        doubt = gaps.filled(known, people.codes, people.names.tolist())
    return Annotations.from_long(*values[:3], doubt=doubt, classes=classes, map=changes)
