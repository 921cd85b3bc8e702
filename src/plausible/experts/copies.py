r"""Annotators who copy each other, found from agreement.

Two people who always agree may both be right, or one may have copied. Others tell which. With
agreement beyond chance :math:`\kappa_{ab}`, people who err on their own have
:math:`\kappa_{ab} = u_a u_b`, where u is how far somebody is right beyond luck. So a group S that
agrees within itself is right by

.. math:: u_S^2 = \kappa_{Sc} \, \kappa_{Sd} / \kappa_{cd}

if c and d are two people outside: if that is less than the agreement inside, the group copies.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from plausible.experts.annotations import Annotations
from plausible.experts.groups import linked
from plausible.experts.pairs import Pairs, hard_answers

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ALIKE = 0.95  # agreement from which people may have copied
LEAST_ITEMS = 20  # that both answered
CLEAR = 3.0  # standard errors by which a group agrees more than it is right
LEAST_EXCESS = 0.05  # and by how much
LEVEL = 0.05  # probability that luck makes any pair of people look like copies


def find_copies(annotations: Annotations, pairs: Pairs | None) -> list[IntArray]:
    """Groups of annotators (their numbers) that give the same answers even where they are wrong."""
    n_people = len(annotations.annotators)
    column = hard_answers(annotations)[2]
    if pairs is None or n_people <= 2 or not len(column):
        return []
    shares = np.bincount(column) / len(column)
    chance = float((shares**2).sum())
    if chance >= 1.0:
        return []
    alike = (pairs.both >= LEAST_ITEMS) & (pairs.same >= ALIKE * pairs.both)
    groups = linked(pairs.first[alike], pairs.second[alike], n_people)
    level = LEVEL / max(int((pairs.both >= LEAST_ITEMS).sum()), 1)
    return [members for members in groups if _copies(members, pairs, chance, n_people, level)]


def _copies(members: IntArray, pairs: Pairs, chance: float, n_people: int, level: float) -> bool:
    """Whether a group agrees within itself more than it can be right, or than luck would."""
    inside = np.zeros(n_people, dtype=bool)
    inside[members] = True
    n_inside = inside[pairs.first].astype(np.int64) + inside[pairs.second]
    across = pairs.take(n_inside == 1)
    other = np.where(inside[across.first], across.second, across.first)
    same, both = (
        np.bincount(other, part, n_people) / len(members) for part in (across.same, across.both)
    )
    reached = both > 0
    among = pairs.take((n_inside == 0) & reached[pairs.first] & reached[pairs.second])
    if both.sum() < LEAST_ITEMS or among.both.sum() < LEAST_ITEMS:
        return False
    with_group = np.zeros(n_people)
    with_group[reached] = _beyond_chance(same[reached] / both[reached], chance)
    products = float((among.both * with_group[among.first] * with_group[among.second]).sum())
    agreed = float((among.same - chance * among.both).sum()) / (1 - chance)
    if products <= 0 or agreed <= 0:
        return False
    right = products / agreed
    variance = 4 * _relative_variance(same.sum(), both.sum(), chance)
    variance += _relative_variance(among.same.sum(), among.both.sum(), chance)
    group = pairs.take(n_inside == 2)
    within = _beyond_chance(group.same.sum() / group.both.sum(), chance)
    same_each, both_each = group.same.mean(), group.both.mean()
    by_luck = stats.binom.sf(
        np.floor(same_each) - 1, np.round(both_each), min(chance + (1 - chance) * right, 1.0)
    )
    is_clear = within - right > max(CLEAR * right * np.sqrt(variance), LEAST_EXCESS)
    return bool(is_clear and by_luck <= level)


def _beyond_chance(rate: Any, chance: float) -> Any:
    return (rate - chance) / (1 - chance)


def _relative_variance(same: float, both: float, chance: float) -> float:
    """Of an agreement beyond chance."""
    rate = same / both
    return rate * (1 - rate) / (both * max(rate - chance, 1e-9) ** 2)


def without_copies(annotations: Annotations, groups: list[IntArray]) -> Annotations:
    """One answer of each group about each item: that of the member whose name comes first.

    So it does not matter in which order answers came. Own doubts are those of that member.
    """
    if not groups:
        return annotations
    group = np.arange(len(annotations.annotators))
    for members in groups:
        group[members] = members[0]
    key = annotations.item.astype(np.int64) * len(group) + group[annotations.annotator]
    is_copy = np.isin(annotations.annotator, np.concatenate(groups))
    rank = np.argsort(np.argsort(annotations.annotators.astype(str)))[annotations.annotator]
    in_order = np.lexsort((rank, key))
    first = in_order[np.unique(key[in_order], return_index=True)[1]]
    keeps: Any = ~is_copy
    keeps[first] = True
    return annotations.select(keeps)
