r"""What a belief tree learns from, as arrays, and how impure the labels of a node are.

A node with items i of weight w_i and masses m_i has the mass function

.. math:: m = \frac{\sum_i w_i m_i + v \, m_\Omega}{\sum_i w_i + v}

with one vacuous mass, v = 1: the fewer items, the less is known. Its impurity in bits is

.. math:: U(m) = (1 - \lambda) \sum_A m(A) \log_2 |A| - \lambda \sum_A m(A) \log_2 BetP(A),

nonspecificity and discord (Klir and Ramer). Sums of masses and of bets are additive over items, and
BetP(A) is a sum over the classes of A, so that a split is judged in O(F) from sums on both sides.

References
----------
T. Denoeux, M. S. Bjanger, Induction of decision trees from partially classified data using belief
functions, SMC 2000, 2923-2928.
P. Vannoorenberghe, T. Denoeux, Handling uncertain labels in multiclass problems using belief
decision trees, IPMU 2002, 1919-1926.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from plausible.belief import (
    MAX_CLASSES,
    SparseMasses,
    cardinality,
    full_set,
    membership,
    normalize,
)
from plausible.errors import InputError
from plausible.labels import ApproximationWarning, Labels

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Features(NamedTuple):
    """Features by their ranks: numbers in order, whatever their scale.

    codes : int32 (d, n)
        Place of each value among the distinct ones of its feature; behind all of them where it is
        missing.
    levels : float (L,)
        The distinct values, feature by feature.
    start : int (d + 1,)
        Where the levels of each feature begin.
    """

    codes: NDArray[np.int32]
    levels: FloatArray
    start: IntArray

    @property
    def n_levels(self) -> IntArray:
        """Number of distinct values of each feature, which is also the code of missing ones."""
        return np.diff(self.start)

    @property
    def has_missing(self) -> NDArray[np.bool_]:
        """Whether each feature has missing values."""
        return (self.codes == self.n_levels[:, None]).any(axis=1)


class Knowledge(NamedTuple):
    """Labels as masses on the F focal sets that occur, the whole frame the last of them.

    masses : sparse (n, F)
    bets : float (n, K)
        Pignistic probabilities.
    inside : bool (F, K)
        Classes of the sets.
    """

    masses: Any
    bets: FloatArray
    inside: NDArray[np.bool_]

    @property
    def sizes(self) -> IntArray:
        """Number of classes in each focal set."""
        return self.inside.sum(axis=1)


def rank_features(X: FloatArray) -> Features:
    """Features (n, d), perhaps with NaN, as ranks."""
    n, d = X.shape
    codes = np.empty((d, n), dtype=np.int32)
    levels = []
    for j in range(d):
        known = ~np.isnan(X[:, j])
        distinct, place = np.unique(X[known, j], return_inverse=True)
        codes[j] = len(distinct)
        codes[j, known] = place
        levels.append(distinct)
    start = np.concatenate([[0], np.cumsum([len(values) for values in levels])])
    return Features(codes, np.concatenate(levels), start.astype(np.int64))


def masses_of(labels: Labels) -> SparseMasses:
    """Normalized masses of labels: those given, or the least committed ones of plausibilities."""
    if labels.n_classes > MAX_CLASSES:
        raise InputError(
            f"Labels should have at most {MAX_CLASSES} classes for a belief tree, which gives "
            "masses to sets of classes",
            f"they have {labels.n_classes}",
            "group the classes, or use a model of probabilities, such as PartialLogisticRegression",
        )
    with warnings.catch_warnings():
        # Of a contour, the least committed masses are meant here.
        warnings.simplefilter("ignore", ApproximationWarning)
        if labels.has_masses:
            return normalize(labels.masses())
        return normalize(
            Labels.from_plausibility(labels.scaled(), labels.classes.tolist()).masses()
        )


def know(labels: Labels) -> tuple[Knowledge, IntArray]:
    """Labels as `Knowledge`, and the focal sets: those that occur, and the whole frame."""
    masses = masses_of(labels)
    frame = full_set(labels.n_classes)
    values, sets = masses.values, masses.focal_sets
    kept = np.flatnonzero(values.any(axis=0) & (sets != frame) & (sets != 0))
    kept = kept[np.argsort(sets[kept])]
    whole = values[:, sets == frame].sum(axis=1, keepdims=True)
    focal_sets = np.append(sets[kept], frame)
    values = np.hstack([values[:, kept], whole])
    inside = membership(focal_sets, labels.n_classes)
    bets = (values / cardinality(focal_sets)) @ inside
    return Knowledge(sparse.csr_array(values), bets, inside), focal_sets


def impurity_of_sums(
    sums: FloatArray,
    bets: FloatArray,
    inside: NDArray[np.bool_],
    discord_weight: float,
    vacuous_weight: float,
) -> FloatArray:
    """Impurity in bits from weighted sums of masses (..., F) and of bets (..., K)."""
    sizes, n_classes = inside.sum(axis=1), inside.shape[1]
    total = np.maximum(sums.sum(axis=-1), 0.0) + vacuous_weight
    held = np.maximum(sums, 0.0)
    held[..., -1] += vacuous_weight
    # Matrix products of truth values with floats would be made without BLAS.
    betting = (bets + vacuous_weight / n_classes) @ inside.T.astype(np.float64)
    betting = np.maximum(betting, held)  # as it is, but for rounding of small differences
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.minimum(betting / total[..., None], 1.0)
        surprise = np.where(held > 0.0, -np.log2(share), 0.0)
        surprise[..., -1] = 0.0  # the frame is certain
        cost = (1.0 - discord_weight) * np.log2(sizes) + discord_weight * surprise
        return np.where(total > 0.0, (held * cost).sum(axis=-1) / total, 0.0)
