r"""Labels as the evidence that neighbors bring.

A label is a mass function m_i. What the rule needs of it:

=========  ========================================================================================
bets       pignistic probabilities (n, K), which say whose gamma discounts the label
contour    plausibilities (n, K)
single     masses (n, K) of single classes
whole      mass (n,) of the whole frame
together   q({k, l}) (n, K, K), the mass that could still be either of two classes
=========  ========================================================================================

Labels that are only known by plausibilities mean their least committed (consonant) mass functions;
mass on the empty set is normalized away.
"""

import warnings
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from plausible.belief import (
    MAX_CLASSES,
    SparseMasses,
    cardinality,
    full_set,
    membership,
    normalize,
    pignistic,
)
from plausible.labels import ApproximationWarning, Labels

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ROUNDING = 1e-12


class LabelEvidence:
    """What the labels of n items say; see the table above.

    Attributes
    ----------
    n_classes : int
    is_unknown : bool array (n,)
    masses : SparseMasses (n, F), or None beyond 62 classes
    contour, single, whole
    is_single : bool
        Whether all mass is on single classes and on the whole frame: hard, doubted, unknown and
        probabilistic labels, and all labels of two classes.
    """

    def __init__(self, labels: Labels) -> None:
        self.n_classes = labels.n_classes
        self.is_unknown = labels.is_unknown
        self.masses = known_masses(labels)
        if self.masses is None:
            self.contour = labels.scaled()
            self.single, self.whole = _single_of_contour(self.contour)
        else:
            self.contour = contour_of(self.masses)
            self.single, self.whole = _single_and_whole(self.masses)
        if self.n_classes == 1:  # the only class is the whole frame
            self.single, self.whole = np.zeros_like(self.single), np.ones_like(self.whole)
        told = self.single.sum(axis=1) + self.whole
        self.is_single = bool((told > 1.0 - ROUNDING).all())

    def __len__(self) -> int:
        return len(self.contour)

    @cached_property
    def bets(self) -> FloatArray:
        """Pignistic probabilities (n, K)."""
        if self.is_single:
            return self.single + self.whole[:, None] / self.n_classes
        return bets_of_contour(self.contour) if self.masses is None else pignistic(self.masses)

    @cached_property
    def together(self) -> FloatArray:
        """q({k, l}) as an array (n, K, K); on the diagonal, plausibilities."""
        K = self.n_classes
        if self.is_single:
            pairs = np.broadcast_to(self.whole[:, None, None], (len(self), K, K)).copy()
            pairs[:, np.arange(K), np.arange(K)] = self.contour
            return pairs
        if self.masses is None:
            return np.minimum(self.contour[:, :, None], self.contour[:, None, :])
        inside = membership(self.masses.focal_sets, K)
        both = (inside[:, :, None] & inside[:, None, :]).reshape(len(inside), -1)
        return (self.masses.values @ both.astype(np.float64)).reshape(-1, K, K)


def known_masses(labels: Labels) -> SparseMasses | None:
    """Normalized masses of labels; None where the frame is too large for them."""
    n_classes = labels.n_classes
    if n_classes > MAX_CLASSES:
        return None
    if labels.is_hard.all():
        singles = 1 << np.arange(n_classes, dtype=np.int64)
        return SparseMasses((labels.contour > 0.0).astype(np.float64), singles, n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)  # the documented meaning
        masses = labels.masses()
    return normalize(masses) if (masses.focal_sets == 0).any() else masses


def contour_of(masses: SparseMasses) -> FloatArray:
    """Plausibilities (n, K)."""
    inside = membership(masses.focal_sets, masses.n_classes).astype(np.float64)
    return np.minimum(masses.values @ inside, 1.0)


def _single_and_whole(masses: SparseMasses) -> tuple[FloatArray, FloatArray]:
    """Masses (n, K) of single classes, and (n,) of the whole frame."""
    values, sets = masses.values, masses.focal_sets
    single = np.zeros((len(values), masses.n_classes))
    for column in np.flatnonzero(cardinality(sets) == 1):
        single[:, int(sets[column]).bit_length() - 1] = values[:, column]
    whole = values[:, sets == full_set(masses.n_classes)].sum(axis=1)
    return single, whole


def _single_of_contour(contour: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same of consonant masses with this contour, whose largest entries are one."""
    ranked = np.sort(contour, axis=1)
    single = np.zeros_like(contour)
    rows, best = np.arange(len(contour)), contour.argmax(axis=1)
    single[rows, best] = 1.0 - ranked[:, -2]
    return single, ranked[:, 0].copy()


def bets_of_contour(contour: FloatArray) -> FloatArray:
    r"""Pignistic probabilities of the consonant masses with a contour whose maximum is one.

    With plausibilities :math:`\pi_1 \ge \pi_2 \ge \ldots` in order,
    :math:`p_i = \sum_{r \ge i} (\pi_r - \pi_{r+1}) / r`.
    """
    order = np.argsort(-contour, axis=1, kind="stable")
    ranked = np.take_along_axis(contour, order, axis=1)
    shares = -np.diff(ranked, axis=1, append=0.0) / np.arange(1, contour.shape[1] + 1)
    sums = np.cumsum(shares[:, ::-1], axis=1)[:, ::-1]
    bets = np.empty_like(contour)
    np.put_along_axis(bets, order, sums, axis=1)
    return bets
