r"""Groups of people who err together more than the others do, and what their answers are worth.

A pair that agrees more often than `plausible.experts.pairs` expects of people who err on their own
shares something of its own: who was trained together, talks, or looks at the other's answers. With

.. math:: \rho_{ab} = \frac{P(s_a = s_b) - E_{ab}}{1 - E_{ab}}

the share of the items about which one of them follows the other, m answers of a group about one
item are worth :math:`m / (1 + (m - 1) \rho)` answers of independent people, as in `dependence`; so
each of them is raised to the power :math:`1 / (1 + (m - 1) \rho)`.

Where classes of items are known, `plausible.experts.judged_pairs` says what is expected instead.
Without them, a group that is most of the people cannot be found: by agreement it is the others who
seem to err together.

Of all pairs, those are told of which a share `level` at most is expected to be chance (Benjamini
and Hochberg, 1995), and that share at least `LEAST_SHARED`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from plausible.experts.annotations import Annotations
from plausible.experts.answer_problem import speaking
from plausible.experts.pairs import Pairs, agreement_expected, fit_factor

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LEVEL = 0.01  # share of the pairs told that may be chance
LEAST_ITEMS = 10  # that both people of a pair answered
LEAST_SHARED = 0.3  # of the items, by a pair that is told
LEAST_PEOPLE = 4  # or nobody is left to compare a pair with


class Found(NamedTuple):
    """Pairs that agree too often, the clearest first, and the groups that they form.

    pairs : Pairs (P,)
    expected, p_value, shared : arrays (P,)
    members : numbers of the people of each group (G,)
    worth : shares (G,) of what each group has in common
    """

    pairs: Pairs
    expected: FloatArray
    p_value: FloatArray
    shared: FloatArray
    members: list[IntArray]
    worth: FloatArray


def find_groups(
    pairs: Pairs, n_people: int, level: float = LEVEL, expected: FloatArray | None = None
) -> Found:
    """Pairs that agree more often than chance would have it, and groups of them.

    `expected` is how often (P,) they would, where it is known from classes of items.
    """
    often = pairs.both >= LEAST_ITEMS
    if n_people < LEAST_PEOPLE or not often.any():
        often[:] = False
    if expected is None:
        v = fit_factor(pairs, n_people) if often.any() else np.zeros(n_people)
        expected = agreement_expected(pairs, v)
    shared = np.clip((pairs.same / pairs.both - expected) / (1 - expected), 0.0, 1.0)
    rows = np.flatnonzero(often)
    p_value = stats.binom.sf(pairs.same[rows] - 1, pairs.both[rows], expected[rows])
    told = discoveries(p_value, level) & (shared[rows] >= LEAST_SHARED)
    order = np.flatnonzero(told)[np.argsort(p_value[told], kind="stable")]
    p_value, rows = p_value[order], rows[order]
    members = linked(pairs.first[rows], pairs.second[rows], n_people)
    worth = np.array([_in_common(pairs, expected, some, n_people) for some in members])
    chosen = pairs.take(rows)
    return Found(chosen, expected[rows], p_value, shared[rows], members, worth)


def linked(first: IntArray, second: IntArray, n_people: int) -> list[IntArray]:
    """Groups of people whom pairs connect."""
    links = csr_array((np.ones(len(first)), (first, second)), (n_people, n_people))
    group = connected_components(links, directed=False)[1]
    return [np.flatnonzero(group == g) for g in np.flatnonzero(np.bincount(group) > 1)]


def _in_common(pairs: Pairs, expected: FloatArray, members: IntArray, n_people: int) -> float:
    """The share of what moves a group that its members have in common, over all of its pairs."""
    is_member = np.zeros(n_people, dtype=bool)
    is_member[members] = True
    mine = is_member[pairs.first] & is_member[pairs.second]
    some, chance = pairs.take(mine), expected[mine]
    excess = (some.same - some.both * chance).sum()
    return float(np.clip(excess / (some.both * (1 - chance)).sum(), 0.0, 1.0))


def weigh(annotations: Annotations, members: list[IntArray], worth: FloatArray) -> Annotations:
    """The same answers, those of groups raised to powers; see the module."""
    if not members:
        return annotations
    n_people = len(annotations.annotators)
    group = np.full(n_people, -1, dtype=np.int64)
    for number, some in enumerate(members):
        group[some] = number
    mine = group[annotations.annotator]
    rows = np.flatnonzero((mine >= 0) & speaking(annotations))
    key = annotations.item[rows].astype(np.int64) * len(members) + mine[rows]
    _, place, count = np.unique(key, return_inverse=True, return_counts=True)
    power = np.ones(len(annotations))
    power[rows] = 1 / (1 + (count[place.ravel()] - 1) * np.asarray(worth)[mine[rows]])
    return annotations._with(_power=power)


def discoveries(p_value: FloatArray, level: float) -> NDArray[np.bool_]:
    """Which of several tests succeed, with a false discovery rate of at most `level`.

    Examples
    --------
    >>> discoveries(np.array([0.001, 0.2, 0.02, 0.9]), 0.05)
    array([ True, False,  True, False])
    """
    order = np.argsort(p_value, kind="stable")
    limits = level * np.arange(1, len(order) + 1) / max(len(order), 1)
    below = np.flatnonzero(p_value[order] <= limits)
    found = np.zeros(len(order), dtype=bool)
    if len(below):
        found[order[: below[-1] + 1]] = True
    return found
