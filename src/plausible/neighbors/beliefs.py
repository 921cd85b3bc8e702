"""What neighbors say about items, computed when it is asked for.

Bets and plausibilities need not wait for masses of all sets; each is computed once.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from plausible.base import Beliefs
from plausible.belief import SparseMasses
from plausible.belief import contour as contour_of_masses

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Found(NamedTuple):
    """Neighbors (n, k) of items, and the trust in each, (n, k) or (n, k, K)."""

    neighbors: IntArray
    trust: FloatArray

    def some(self, rows: Any) -> "Found":
        """Those of some items."""
        return Found(self.neighbors[rows], self.trust[rows])


class Answering(Protocol):
    """How neighbors are combined: the answers."""

    @property
    def focal_sets(self) -> IntArray:
        """Sets that can have mass, where they are known before items are."""

    def masses(self, neighbors: IntArray, trust: FloatArray) -> SparseMasses:
        """Masses (n, F)."""

    def contour(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Plausibilities (n, K)."""

    def bets(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Pignistic probabilities (n, K)."""

    def ignorance(self, neighbors: IntArray, trust: FloatArray) -> FloatArray:
        """Mass (n,) of the frame."""


class NeighborBeliefs(Beliefs):
    """Beliefs of which each kind is computed when it is first asked for.

    Parameters
    ----------
    classes : array (K,)
    combiner : how neighbors are combined
    found : Found
    make_masses : function of Found
    """

    def __init__(
        self,
        classes: NDArray[Any],
        combiner: Answering,
        found: Found,
        make_masses: Callable[[Found], SparseMasses],
    ) -> None:
        self.__dict__.update(
            classes=classes, combiner=combiner, found=found, make_masses=make_masses
        )

    combiner: Answering
    found: Found
    make_masses: Callable[[Found], SparseMasses]

    def __len__(self) -> int:
        return len(self.found.neighbors)

    def __getitem__(self, rows: Any) -> Beliefs:
        return NeighborBeliefs(self.classes, self.combiner, self.found.some(rows), self.make_masses)

    @cached_property
    def given_masses(self) -> SparseMasses:
        """Normalized masses."""
        return self.make_masses(self.found)

    @cached_property
    def probability(self) -> FloatArray:
        """Bets (n, K)."""
        return self.combiner.bets(*self.found)

    @cached_property
    def contour(self) -> FloatArray:
        """Plausibilities (n, K) of the classes."""
        if "given_masses" in self.__dict__:
            return contour_of_masses(self.given_masses)
        return self.combiner.contour(*self.found)


class ManyClassBeliefs(Beliefs):
    """Beliefs on more classes than sets can be written of: bets and plausibilities."""

    def __init__(self, classes: NDArray[Any], bets: FloatArray, contour: FloatArray) -> None:
        with np.errstate(divide="ignore"):
            logs = np.log(bets)
        self.__dict__.update(classes=classes, log_probability=logs, contour=contour)

    def __getitem__(self, rows: Any) -> Beliefs:
        assert self.log_probability is not None
        bets = np.exp(self.log_probability[rows])
        return ManyClassBeliefs(self.classes, bets, self.contour[rows])
