r"""Pairs of items that must, or cannot, be in one cluster, and what it costs to violate them.

For masses :math:`m_i, m_j` of two items, the plausibilities that they are in one cluster, and that
they are not, are bilinear:

.. math:: pl(same) = \sum_{A \cap B \neq \emptyset} m_{iA} m_{jB}, \qquad
          pl(different) = \sum_{A, B \neq \emptyset} m_{iA} m_{jB} - \sum_k m_{i\{k\}} m_{j\{k\}}.

Given all other items, the criterion of CECM for one item is a sum of :math:`D_A m_A^2 + b_A m_A`,
which has its least value on the simplex where :math:`m_A = \max(0, (\mu - b_A) / 2 D_A)`.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.base import CredalClustering
from plausible.checks import as_array, check_number, shown
from plausible.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


class Links(NamedTuple):
    """Pairs of items: (L, 2) row numbers, and whether each must be together."""

    pairs: IntArray
    must: BoolArray

    def __len__(self) -> int:
        return len(self.pairs)


def check_links(must_link: Any, cannot_link: Any, n_items: int) -> Links:
    """All links, each once; refuses those that contradict each other."""
    parts = [
        _pairs(given, name, n_items)
        for given, name in ((must_link, "must_link"), (cannot_link, "cannot_link"))
    ]
    must, cannot = parts
    both = {tuple(pair) for pair in must.tolist()} & {tuple(pair) for pair in cannot.tolist()}
    if both:
        i, j = min(both)
        raise InputError(
            "A pair of items should be in must_link or in cannot_link",
            f"items {i} and {j} are in both",
            "leave one of them out",
            parameter="must_link",
            value=(i, j),
        )
    is_must = np.repeat([True, False], [len(must), len(cannot)])
    return Links(np.concatenate(parts), is_must)


def _pairs(given: Any, name: str, n_items: int) -> IntArray:
    """Pairs (L, 2) of row numbers, the smaller first, each once."""
    pairs = as_array([] if given is None else given, name)
    if pairs.shape in ((0,), (0, 2)):
        return np.empty((0, 2), dtype=np.int64)
    fits = pairs.ndim == 2 and pairs.shape[1] == 2 and pairs.dtype.kind in "iu"
    if not fits or pairs.min() < 0 or pairs.max() >= n_items:
        raise InputError(
            f"{name} should be pairs (L, 2) of row numbers from 0 to {n_items - 1}",
            f"is {shown(given)}",
            "give an array of two columns",
            parameter=name,
            value=given,
        )
    own = pairs[:, 0] == pairs[:, 1]
    if own.any():
        raise InputError(
            f"{name} should link different items",
            f"pair {int(np.argmax(own))} links item {int(pairs[own][0, 0])} with itself",
            "leave it out",
            parameter=name,
        )
    return np.unique(np.sort(pairs.astype(np.int64), axis=1), axis=0)


def relation_tables(sets: IntArray) -> tuple[FloatArray, FloatArray]:
    """Which pairs of sets (F, F) allow two items to be in different clusters, and in the same."""
    first, second = sets[:, None], sets[None, :]
    some = (first != 0) & (second != 0)
    alone = (first == second) & (np.bitwise_count(first) == 1)
    return (some & ~alone).astype(np.float64), ((first & second) != 0).astype(np.float64)


class Wiring(NamedTuple):
    """Links among the items that have any, numbered from 0.

    items : (k,) row numbers; links : pairs of numbers of these; colors : groups of items without a
    link among them, whose masses can be found at once; ends : for each group, the links at its
    items as (item in the group, other item, whether they must be together)
    """

    items: IntArray
    links: Links
    colors: list[IntArray]
    ends: list[tuple[IntArray, IntArray, BoolArray]]
    different: FloatArray
    same: FloatArray


def wire(links: Links, sets: IntArray) -> Wiring:
    """What a step over linked items needs."""
    items, flat = np.unique(links.pairs, return_inverse=True)
    local = Links(flat.reshape(-1, 2).astype(np.int64), links.must)
    color = _colored(local.pairs, len(items))
    here = np.concatenate([local.pairs[:, 0], local.pairs[:, 1]])
    there = np.concatenate([local.pairs[:, 1], local.pairs[:, 0]])
    must = np.tile(links.must, 2)
    colors, ends = [], []
    for number in range(int(color.max(initial=-1)) + 1):
        group = np.flatnonzero(color == number)
        chosen = color[here] == number
        colors.append(group)
        ends.append((np.searchsorted(group, here[chosen]), there[chosen], must[chosen]))
    return Wiring(items, local, colors, ends, *relation_tables(sets))


def _colored(pairs: IntArray, n_items: int) -> IntArray:
    """A color for each item, different from those of linked ones; the most linked first."""
    neighbors: list[list[int]] = [[] for _ in range(n_items)]
    for i, j in pairs.tolist():
        neighbors[i].append(j)
        neighbors[j].append(i)
    color = np.full(n_items, -1)
    for item in sorted(range(n_items), key=lambda one: -len(neighbors[one])):
        taken = {int(color[other]) for other in neighbors[item]}
        color[item] = next(c for c in range(len(taken) + 1) if c not in taken)
    return color


def link_costs(masses: FloatArray, wiring: Wiring) -> FloatArray:
    """For each link (L,), the plausibility that it is violated."""
    pairs, must = wiring.links
    first, second = masses[pairs[:, 0]], masses[pairs[:, 1]]
    against = np.where(must[:, None], first @ wiring.different, first @ wiring.same)
    return np.asarray(np.einsum("ij,ij->i", against, second))


def swept(
    masses: FloatArray, distances: FloatArray, wiring: Wiring, link_cost: float
) -> FloatArray:
    """Masses (k, F) of linked items, each the best there is given the others, one group at a time.

    `distances` (k, F) are weighted ones, that of the empty set included.
    """
    masses = masses.copy()
    for group, (here, there, must) in zip(wiring.colors, wiring.ends, strict=True):
        other = masses[there]
        pull = np.where(must[:, None], other @ wiring.different, other @ wiring.same)
        linear = np.zeros((len(group), masses.shape[1]))
        np.add.at(linear, here, link_cost * pull)
        masses[group] = least_on_simplex(distances[group], linear)
    return masses


def least_on_simplex(square: FloatArray, linear: FloatArray) -> FloatArray:
    """Rows m >= 0 that sum to one with the least sum of square * m^2 + linear * m."""
    order = np.argsort(linear, axis=1)
    b = np.take_along_axis(linear, order, axis=1)
    half = 0.5 / np.take_along_axis(square, order, axis=1)
    level = (1.0 + np.cumsum(half * b, axis=1)) / np.cumsum(half, axis=1)
    # The level falls below the next b where sets beyond it get nothing.
    last = np.maximum((level > b).sum(axis=1) - 1, 0)
    chosen = np.take_along_axis(level, last[:, None], axis=1)
    masses = np.maximum(chosen - linear, 0.0) * (0.5 / square)
    return np.asarray(masses / masses.sum(axis=1, keepdims=True))


class LinkedClustering(CredalClustering):
    """What clusterings of linked items share: links may be given to the estimator, or to `fit`."""

    must_link: ArrayLike | None
    cannot_link: ArrayLike | None
    constraint_weight: float

    def fit(
        self,
        X: ArrayLike,
        y: Any = None,
        *,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
    ) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like (n, d), or dissimilarities (n, n) where the estimator takes them
        y : ignored
        must_link, cannot_link : array-like (L, 2), optional
            In the place of those of the estimator.

        Returns
        -------
        self
        """
        self._given = (
            self.must_link if must_link is None else must_link,
            self.cannot_link if cannot_link is None else cannot_link,
        )
        try:
            return super().fit(X, y)
        finally:
            del self._given

    def _check_weight(self) -> None:
        """Refuse a weight of links that leaves nothing for the items."""
        if not 0.0 <= check_number(self.constraint_weight, "constraint_weight") < 1.0:
            raise InputError(
                "constraint_weight should be at least 0 and less than 1",
                f"is {self.constraint_weight}",
                "leave the default, or use less where links may be wrong",
                parameter="constraint_weight",
                value=self.constraint_weight,
            )
