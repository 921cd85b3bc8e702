r"""With which probability the author of each answer was right: an E step, answer by answer.

With one rate c of being right for each person, and :math:`w = (1 - c) / (K - 1)`, the likelihood of
a statement s with doubt d is :math:`P_k = d + (1 - d) (w \sum_l s_l + (c - w) s_k)`; its author,
who meant some class, meant the right one with probability

.. math:: \sum_k p_k \, c \, (d + (1 - d) s_k) / P_k,

where p are the probabilities of the classes after all answers about the item. Classes that no
answer about an item names are alike, so that the work grows with those that are named.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.experts.annotations import Annotations
from plausible.experts.answer_problem import FLOOR, TINY
from plausible.experts.statements import add_up, expand

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Said(NamedTuple):
    """Answers as the kernel needs them.

    item, who, size, doubt (A,); answer, column, value (E,): the classes that answers name
    """

    item: IntArray
    who: IntArray
    size: FloatArray
    doubt: FloatArray
    answer: IntArray
    column: IntArray
    value: FloatArray


def flatten(answers: Annotations) -> Said:
    """Answers that say something, in the order in which they come."""
    rows = answers.facts.rows
    answer, place = expand(answers.statement, rows.indptr)
    doubt = np.zeros(len(answers)) if answers.doubt is None else answers.doubt
    size = answers.facts.size[answers.statement]
    return Said(
        answers.item,
        answers.annotator,
        size,
        doubt,
        answer,
        rows.indices[place].astype(np.int64),
        rows.data[place],
    )


def right_shares(said: Said, rate: FloatArray, n_items: int, n_classes: int) -> FloatArray:
    """With which probability (A,) the author of each answer was right, if classes are alike before.

    `rate` (R,) are the rates of being right; the items of `said` are numbered from 0.
    """
    c = np.maximum(rate[said.who], FLOOR)
    w = np.maximum((1 - rate[said.who]) / max(n_classes - 1, 1), FLOOR)
    base = said.doubt + (1 - said.doubt) * w * said.size
    each = said.answer
    chance = np.maximum(base[each] + ((1 - said.doubt) * (c - w))[each] * said.value, TINY)
    cells, cell = np.unique(said.item[each] * n_classes + said.column, return_inverse=True)
    item = cells // n_classes
    scores = add_up(cell.ravel(), np.log(chance / base[each]), len(cells))
    n_named = np.bincount(item, minlength=n_items)
    top = np.where(n_named < n_classes, 0.0, -np.inf)
    np.maximum.at(top, item, scores)
    top = np.where(np.isfinite(top), top, 0.0)
    powers = np.exp(scores - top[item])
    whole = (n_classes - n_named) * np.exp(-top) + add_up(item, powers, n_items)
    held = (powers / whole[item])[cell.ravel()]
    meant = c[each] * (said.doubt[each] + (1 - said.doubt[each]) * said.value) / chance
    unnamed = c * said.doubt / base
    more = add_up(each, held * (meant - unnamed[each]), len(said.item))
    return np.asarray(unnamed + more)


def joined_said(parts: list[Said]) -> Said:
    """Answers of several parts, one after the other."""
    start = np.cumsum([0, *(len(part.item) for part in parts[:-1])])
    shifted = [p._replace(answer=p.answer + s) for p, s in zip(parts, start, strict=True)]
    return Said(*(np.concatenate(columns) for columns in zip(*shifted, strict=True)))
