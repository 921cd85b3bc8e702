r"""Annotator against annotator.

Of the pairs of hard answers that two annotators gave about one item, the share :math:`p_o` is the
same. If each drew lots with the shares of classes found in these pairs, that would be
:math:`p_e = \sum_k a_k b_k`; beyond chance they agree by Cohen's
:math:`\kappa = (p_o - p_e) / (1 - p_e)`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from plausible.experts.annotations import Annotations

FloatArray = NDArray[np.float64]


class Peers(NamedTuple):
    """How far annotators agree with one another.

    people : int array (R,), which annotators, the most active first
    common : array (R, R), pairs of hard answers about one item
    agree : array (R, R), share of these that are the same; NaN where there are none
    kappa : array (R, R), Cohen's; NaN where chance alone would agree always
    """

    people: NDArray[np.int64]
    common: FloatArray
    agree: FloatArray
    kappa: FloatArray


def compare_peers(annotations: Annotations, most: int) -> Peers:
    """Agreement of each two of the most active annotators."""
    hard = annotations.is_hard[annotations.statement]
    count = np.bincount(annotations.annotator[hard], minlength=len(annotations.annotators))
    active = np.argsort(-count, kind="stable")[:most]
    active = active[count[active] > 0]
    common, same, chance = compare(annotations, active)
    agree = np.divide(same, common, out=np.full(common.shape, np.nan), where=common > 0)
    return Peers(active, common, agree, beyond_chance(agree, chance))


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


def side_by_side(agree: FloatArray) -> NDArray[np.int64]:
    """An order in which annotators who agree stand side by side."""
    if len(agree) < 3:
        return np.arange(len(agree))
    from scipy.cluster.hierarchy import average, leaves_list, optimal_leaf_ordering

    apart = 1 - np.where(np.isnan(agree), np.nanmean(agree), agree)
    distances = apart[np.triu_indices(len(apart), 1)]
    return np.asarray(leaves_list(optimal_leaf_ordering(average(distances), distances)))
