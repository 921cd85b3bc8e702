r"""How much a mass function says, and how far two of them are apart.

A mass function can be vague (large sets: `nonspecificity`, `interval_width`), torn (sets that
disagree: `dissonance`, `discord`, `strife`, `confusion`), or both (the entropies). All logarithms
are to base 2. Conflict, nonspecificity, widths and distances take masses as they are, with the
empty set; the others normalise them first.

References
----------
D. Dubois, H. Prade, A note on measures of specificity for fuzzy sets, International Journal of
General Systems 10 (1985) 279-283 (nonspecificity).
G. Klir, M. Wierman, Uncertainty-Based Information, Physica 1999 (dissonance, confusion, discord,
strife).
A.-L. Jousselme, D. Grenier, E. Bosse, A new distance between two bodies of evidence, Information
Fusion 2 (2001) 91-101.
R. Jirousek, P. Shenoy, A new definition of entropy of belief functions in the Dempster-Shafer
theory, International Journal of Approximate Reasoning 92 (2018) 49-65.
Y. Deng, Deng entropy, Chaos, Solitons and Fractals 91 (2016) 549-553.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from plausible.belief.forms import MassesT, SparseMasses, to_sparse, unpack
from plausible.belief.masses import normalize
from plausible.belief.rules import conform, conjunctive
from plausible.belief.sets import FloatArray, IntArray, cardinality, check_sets, membership
from plausible.belief.transforms import (
    belief,
    contour,
    pignistic,
    plausibility,
    plausibility_probability,
)

_PAIRS_AT_ONCE = 1 << 22


def conflict(*sources: MassesT) -> FloatArray:
    """Mass on the empty set after combining the sources conjunctively, in [0, 1].

    For one source this is simply its own mass on the empty set.

    Examples
    --------
    >>> conflict([0.0, 0.6, 0.0, 0.4], [0.0, 0.0, 0.5, 0.5])
    np.float64(0.3)
    """
    values, sets, _ = unpack(conjunctive(*sources))
    return values[..., sets == 0].sum(axis=-1)


def nonspecificity(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Vagueness in bits: sum of m(A) log2 |A| over non-empty sets; 0 for probabilities.

    Examples
    --------
    >>> nonspecificity([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    array([0., 1.])
    """
    values, sets, _ = unpack(masses)
    return values @ np.log2(np.maximum(cardinality(sets), 1))


def interval_width(masses: ArrayLike | SparseMasses, sets: ArrayLike | None = None) -> FloatArray:
    """Width pl - bel of the belief interval, for each class or for the sets asked for.

    Examples
    --------
    >>> interval_width([0.0, 0.7, 0.0, 0.3])
    array([0.3, 0.3])
    """
    values, focal, n_classes = unpack(masses)
    singletons = np.int64(1) << np.arange(n_classes, dtype=np.int64)
    asked = singletons if sets is None else np.atleast_1d(check_sets(sets, n_classes))
    # Focal sets that meet the set without lying in it: no subtraction of nearly equal numbers.
    straddles = (focal[:, None] & asked != 0) & (focal[:, None] & ~asked != 0)
    return values @ straddles.astype(np.float64)


def jousselme_distance(first: MassesT, second: MassesT) -> FloatArray:
    """Distance of two mass functions in [0, 1], aware of how far their focal sets overlap.

    The Euclidean distance with the inner product |A & B| / |A | B|, divided by sqrt(2). Rows
    broadcast: masses (n, 1, 2^K) and (m, 2^K) give all n x m distances.

    Examples
    --------
    >>> from plausible.belief import categorical, vacuous
    >>> jousselme_distance(categorical(0b001, n_classes=3), vacuous(3)).round(4)
    np.float64(0.8165)
    """
    one, other = conform((first, second))
    a, sets_a, _ = unpack(to_sparse(one))
    b, sets_b, _ = unpack(to_sparse(other))
    sets = np.union1d(sets_a, sets_b)
    lead: tuple[int, ...] = np.broadcast_shapes(one.shape[:-1], other.shape[:-1])
    difference = np.zeros((*lead, len(sets)))
    difference[..., np.searchsorted(sets, sets_a)] += a
    difference[..., np.searchsorted(sets, sets_b)] -= b
    squared = np.zeros(difference.shape[:-1])
    at_once = max(1, _PAIRS_AT_ONCE // max(1, len(sets)))
    for start in range(0, len(sets), at_once):
        block = slice(start, start + at_once)
        overlap = difference @ _jaccard(sets, sets[block])
        squared += np.einsum("...f,...f->...", overlap, difference[..., block])
    return np.sqrt(np.maximum(0.5 * squared, 0.0))


def dissonance(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Disagreement within a mass function: -sum m(A) log2 pl(A) (Yager).

    Examples
    --------
    >>> dissonance([0.0, 0.5, 0.5, 0.0])
    np.float64(1.0)
    """
    m = _normal(masses)
    return _mean_surprise(m, plausibility(m, m.focal_sets))


def confusion(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Lack of support within a mass function: -sum m(A) log2 bel(A) (Hoehle).

    Examples
    --------
    >>> confusion([0.0, 0.5, 0.5, 0.0])
    np.float64(1.0)
    """
    m = _normal(masses)
    return _mean_surprise(m, belief(m, m.focal_sets))


def discord(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Disagreement within a mass function: -sum m(A) log2 BetP(A) (Klir and Ramer).

    Examples
    --------
    >>> discord([0.0, 0.5, 0.5, 0.0])
    np.float64(1.0)
    """
    m = _normal(masses)
    # Summing m(B) |A & B| / |B| over B is the pignistic probability of A.
    return _mean_surprise(m, pignistic(m) @ membership(m.focal_sets, m.n_classes).T)


def strife(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Disagreement within a mass function: -sum m(A) log2 (mean contour in A) (Klir and Parviz).

    Examples
    --------
    >>> strife([0.0, 0.5, 0.5, 0.0])
    np.float64(1.0)
    """
    m = _normal(masses)
    # Summing m(B) |A & B| / |A| over B is the mean plausibility of the classes of A.
    inside = membership(m.focal_sets, m.n_classes)
    return _mean_surprise(m, contour(m) @ (inside / inside.sum(axis=1, keepdims=True)).T)


def pignistic_entropy(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Shannon entropy of the pignistic probabilities, in bits.

    Examples
    --------
    >>> pignistic_entropy([0.0, 0.0, 0.0, 1.0])
    np.float64(1.0)
    """
    return _entropy(pignistic(masses))


def plausibility_entropy(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Entropy of the plausibility probabilities plus nonspecificity (Jirousek and Shenoy).

    Examples
    --------
    >>> plausibility_entropy([0.0, 0.0, 0.0, 1.0])
    np.float64(2.0)
    """
    m = _normal(masses)
    return _entropy(plausibility_probability(m)) + nonspecificity(m)


def deng_entropy(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Entropy -sum m(A) log2 (m(A) / (2^|A| - 1)) (Deng); Shannon's for probabilities.

    Examples
    --------
    >>> deng_entropy([0.0, 0.0, 0.0, 1.0]).round(4)
    np.float64(1.585)
    """
    m = _normal(masses)
    return _entropy(m.values) + m.values @ np.log2(2.0 ** cardinality(m.focal_sets) - 1.0)


def _normal(masses: ArrayLike | SparseMasses) -> SparseMasses:
    """Normalised sparse form, in which the empty set has no column."""
    return to_sparse(normalize(to_sparse(masses)))


def _mean_surprise(m: SparseMasses, degree: FloatArray) -> FloatArray:
    """Return -sum m(A) log2 degree(A) over the focal sets of each row."""
    logs = np.log2(degree, where=m.values > 0.0, out=np.zeros(degree.shape))
    return np.maximum(-np.einsum("...f,...f->...", m.values, logs), 0.0)


def _entropy(probabilities: FloatArray) -> FloatArray:
    return entr(probabilities).sum(axis=-1) / np.log(2.0)


def _jaccard(sets: IntArray, others: IntArray) -> FloatArray:
    """|A & B| / |A | B|, one for two empty sets."""
    common = cardinality(sets[:, None] & others)
    union = cardinality(sets[:, None] | others)
    return np.where(union == 0, 1.0, common / np.maximum(union, 1))
