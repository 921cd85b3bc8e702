r"""Annotators who copy each other, found from agreement.

Two people who always agree may both be right, or one may have copied. Others tell which. With
agreement beyond chance :math:`\kappa_{ab}`, people who err on their own have
:math:`\kappa_{ab} = u_a u_b`, where u is how far somebody is right beyond luck. So a group S that
agrees within itself is right by

.. math:: u_S^2 = \kappa_{Sc} \, \kappa_{Sd} / \kappa_{cd}

if c and d are two people outside: if that is less than the agreement inside, the group copies.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from plausible.experts.annotations import Annotations

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ALIKE = 0.95  # agreement from which people may have copied
LEAST_ITEMS = 20  # that both answered
MOST_PEOPLE = 5000  # whose pairs are looked at
CLEAR = 3.0  # standard errors by which a group agrees more than it is right
LEAST_EXCESS = 0.05  # and by how much


class Pairs(NamedTuple):
    """Items (R, R) about which two people gave the same answer, and that both answered."""

    same: FloatArray
    both: FloatArray


def find_copies(annotations: Annotations) -> list[IntArray]:
    """Groups of annotators (their numbers) that give the same answers even where they are wrong."""
    if not 2 < len(annotations.annotators) <= MOST_PEOPLE:
        return []
    item, who, column = _hard_answers(annotations)
    if not len(item):
        return []
    pairs = _count_pairs(item, who, column, annotations)
    shares = np.bincount(column) / len(column)
    chance = float((shares**2).sum())
    if chance >= 1.0:
        return []
    alike = (pairs.both >= LEAST_ITEMS) & (pairs.same >= ALIKE * pairs.both)
    n_groups, group = connected_components(csr_array(alike), directed=False)
    sizes = np.bincount(group, minlength=n_groups)
    groups = [np.flatnonzero(group == number) for number in np.flatnonzero(sizes > 1)]
    return [members for members in groups if _copies(members, pairs, chance)]


def _hard_answers(annotations: Annotations) -> tuple[IntArray, IntArray, IntArray]:
    """Item, annotator and class of answers that name one class."""
    rows = annotations.facts.rows
    names_one = np.diff(rows.indptr) == 1
    first = np.zeros(rows.shape[0], dtype=np.int64)
    first[names_one] = rows.indices[rows.indptr[:-1][names_one]]
    kept = names_one[annotations.statement]
    return (
        annotations.item[kept].astype(np.int64),
        annotations.annotator[kept].astype(np.int64),
        first[annotations.statement[kept]],
    )


def _count_pairs(
    item: IntArray, who: IntArray, column: IntArray, annotations: Annotations
) -> Pairs:
    """Same answers and common items of all pairs; who answered twice counts once."""
    n_items, n_people, n_classes = (
        len(annotations.items),
        len(annotations.annotators),
        annotations.n_classes,
    )
    ones = np.ones(len(item), dtype=np.float32)
    said = coo_array((ones, (item * n_classes + column, who)), (n_items * n_classes, n_people))
    answered = coo_array((ones, (item, who)), (n_items, n_people))
    tables = []
    for table in (said, answered):
        table = table.tocsr()
        table.data[:] = 1.0
        tables.append(np.asarray((table.T @ table).todense(), dtype=np.float64))
    return Pairs(*tables)


def _copies(members: IntArray, pairs: Pairs, chance: float) -> bool:
    """Whether a group agrees within itself more than it can be right."""
    outside = np.setdiff1d(np.arange(len(pairs.both)), members)
    same, both = (table[np.ix_(members, outside)].sum(axis=0) / len(members) for table in pairs)
    outside, same, both = outside[both > 0], same[both > 0], both[both > 0]
    same_among, both_among = _different(pairs, outside)
    if both.sum() < LEAST_ITEMS or both_among.sum() < 2 * LEAST_ITEMS:
        return False
    with_group = _beyond_chance(same / both, chance)
    products = float((both_among * np.outer(with_group, with_group)).sum())
    among = float((same_among - chance * both_among).sum()) / (1 - chance)
    if products <= 0 or among <= 0:
        return False
    right = products / among
    variance = 4 * _relative_variance(same.sum(), both.sum(), chance)
    variance += _relative_variance(same_among.sum() / 2, both_among.sum() / 2, chance)
    same_within, both_within = (table.sum() for table in _different(pairs, members))
    within = _beyond_chance(same_within / both_within, chance)
    return bool(within - right > max(CLEAR * right * np.sqrt(variance), LEAST_EXCESS))


def _different(pairs: Pairs, people: IntArray) -> Pairs:
    """The pairs of different people in a group."""
    tables = [table[np.ix_(people, people)] for table in pairs]
    for table in tables:
        np.fill_diagonal(table, 0.0)
    return Pairs(*tables)


def _beyond_chance(rate: Any, chance: float) -> Any:
    return (rate - chance) / (1 - chance)


def _relative_variance(same: float, both: float, chance: float) -> float:
    """Of an agreement beyond chance."""
    rate = same / both
    return rate * (1 - rate) / (both * max(rate - chance, 1e-9) ** 2)


def without_copies(annotations: Annotations, groups: list[IntArray]) -> Annotations:
    """One answer of each group about each item; the members' own doubts are those of the first."""
    if not groups:
        return annotations
    group = np.arange(len(annotations.annotators))
    for members in groups:
        group[members] = members[0]
    key = annotations.item.astype(np.int64) * len(group) + group[annotations.annotator]
    is_copy = np.isin(annotations.annotator, np.concatenate(groups))
    first = np.unique(key, return_index=True)[1]
    keeps: Any = ~is_copy
    keeps[first] = True
    return annotations.select(keeps)
