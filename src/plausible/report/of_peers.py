r"""Annotator against annotator, in numbers.

Of the pairs of hard answers that two annotators gave about one item, the share :math:`p_o` is the
same. If each drew lots with the shares of classes found in these pairs, that would be
:math:`p_e = \sum_k a_k b_k`; beyond chance they agree by Cohen's
:math:`\kappa = (p_o - p_e) / (1 - p_e)`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from plausible.experts import Annotations
from plausible.report.lists import take_away
from plausible.report.words import names_of

FloatArray = NDArray[np.float64]

MOST_COMPARED = 30  # annotators, the most active, whose pairs are looked at
MOST_IN_MATRIX = 10  # of these in the matrix
MOST_PAIRS = 5  # that agree least, and most
LEAST_COMMON = 10  # pairs of answers from which two annotators can be compared


def summarize_peers(annotations: Annotations) -> dict[str, Any] | None:
    """Who agrees with whom, among the most active annotators; None if no two can be compared."""
    hard = annotations.is_hard[annotations.statement]
    count = np.bincount(annotations.annotator[hard], minlength=len(annotations.annotators))
    active = np.argsort(-count, kind="stable")[:MOST_COMPARED]
    active = active[count[active] > 0]
    common, same, chance = compare(annotations, active)
    if not common.any():
        return None
    agree = np.divide(same, common, out=np.full(common.shape, np.nan), where=common > 0)
    kappa = beyond_chance(agree, chance)
    shown = _side_by_side(agree[:MOST_IN_MATRIX, :MOST_IN_MATRIX])
    names = names_of(annotations.annotators[active])
    rows = _pairs(names, common, agree, kappa)
    enough = [row for row in rows if row["common"] >= LEAST_COMMON]
    columns = ("first", "second", "common", "agree", "kappa")
    return {
        "n_annotators": len(annotations.annotators),
        "n_compared": len(active),
        "least_common": LEAST_COMMON,
        "annotators": [names[r] for r in shown],
        "agree": agree[np.ix_(shown, shown)],
        "common": common[np.ix_(shown, shown)].astype(np.int64),
        "least": enough[:MOST_PAIRS],
        "most": enough[MOST_PAIRS:][-MOST_PAIRS:][::-1],
        "list": take_away("annotator against annotator", columns, rows),
    }


def compare(
    annotations: Annotations, people: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Common pairs of hard answers (R, R), those that are the same, and their share by chance."""
    n_people, n_classes = len(people), annotations.n_classes
    place = np.full(len(annotations.annotators), -1)
    place[people] = np.arange(n_people)
    mine = annotations.is_hard[annotations.statement] & (place[annotations.annotator] >= 0)
    said = annotations.facts.chosen[annotations.statement[mine]]
    column = place[annotations.annotator[mine]] * n_classes + said
    shape = len(annotations.items), n_people * n_classes
    table = csr_array((np.ones(int(mine.sum())), (annotations.item[mine], column)), shape=shape)
    pairs = (table.T @ table).tocoo()
    (r, k), (s, m) = np.divmod(pairs.row, n_classes), np.divmod(pairs.col, n_classes)
    other = r != s
    r, k, s, m, n = (values[other] for values in (r, k, s, m, pairs.data))
    size = n_people, n_people
    common, same, first = np.zeros(size), np.zeros(size), np.zeros((*size, n_classes))
    np.add.at(common, (r, s), n)
    np.add.at(same, (r, s), np.where(k == m, n, 0.0))
    np.add.at(first, (r, s, k), n)
    chance = np.einsum("rsk,srk->rs", first, first) / np.maximum(common, 1) ** 2
    return common, same, chance


def beyond_chance(agree: FloatArray, chance: FloatArray) -> FloatArray:
    """Cohen's kappa; NaN where chance alone would agree always."""
    rest = 1 - chance
    return np.divide(agree - chance, rest, out=np.full_like(agree, np.nan), where=rest > 1e-12)


def _side_by_side(agree: FloatArray) -> NDArray[np.int64]:
    """An order in which annotators who agree stand side by side."""
    if len(agree) < 3:
        return np.arange(len(agree))
    from scipy.cluster.hierarchy import average, leaves_list, optimal_leaf_ordering

    apart = 1 - np.where(np.isnan(agree), np.nanmean(agree), agree)
    distances = apart[np.triu_indices(len(apart), 1)]
    return np.asarray(leaves_list(optimal_leaf_ordering(average(distances), distances)))


def _pairs(
    names: list[str], common: FloatArray, agree: FloatArray, kappa: FloatArray
) -> list[dict[str, Any]]:
    """Pairs of annotators who can be compared, those who agree least first."""
    first, second = np.nonzero(np.triu(common, 1))
    order = np.lexsort((agree[first, second], kappa[first, second]))  # NaN last
    return [
        {
            "first": names[r],
            "second": names[s],
            "common": round(common[r, s]),
            "agree": agree[r, s],
            "kappa": kappa[r, s],
        }
        for r, s in zip(first[order], second[order], strict=True)
    ]
