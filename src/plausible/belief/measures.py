r"""How much a mass function says, and how far two of them are apart.

A mass function can be vague (large sets: `nonspecificity`, `interval_width`), torn (sets that
disagree: `dissonance`, `discord`, `strife`, `confusion`), or both (the entropies). All logarithms
are to base 2. Conflict, nonspecificity, widths and distances take masses as they are, with the
empty set; the others normalize them first.

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
from scipy.special import beta, entr

from plausible.belief.forms import MassesT, SparseMasses, add_up_dense, sparse_form, unpack
from plausible.belief.masses import normal_form
from plausible.belief.moebius import subset_sum
from plausible.belief.rules import conform, conjunctive
from plausible.belief.sets import (
    MAX_DENSE_CLASSES,
    FloatArray,
    IntArray,
    all_sets,
    cardinality,
    membership,
)
from plausible.belief.transforms import (
    belief,
    contour,
    evaluate,
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
    """Vagueness in bits: sum of ``m(A) log2 |A|`` over non-empty sets; 0 for probabilities.

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
    n_classes = unpack(masses)[2]
    singletons = np.int64(1) << np.arange(n_classes, dtype=np.int64)
    # Focal sets that meet the set without lying in it: nothing to subtract for chosen sets.
    return evaluate(
        masses,
        singletons if sets is None else sets,
        lambda m: plausibility(m) - belief(m),
        lambda B, A: (B & A != 0) & (B & ~A != 0),
    )


def jousselme_distance(first: MassesT, second: MassesT) -> FloatArray:
    """Distance of two mass functions in [0, 1], aware of how far their focal sets overlap.

    The Euclidean distance with the inner product ``|A & B| / |A | B|``, divided by sqrt(2). Rows
    broadcast: masses (n, 1, 2^K) and (m, 2^K) give all n x m distances.

    Examples
    --------
    >>> from plausible.belief import categorical, vacuous
    >>> jousselme_distance(categorical(0b001, n_classes=3), vacuous(3)).round(4)
    np.float64(0.8165)
    """
    one, other = (sparse_form(m) for m in conform((first, second)))
    sets = np.union1d(one.focal_sets, other.focal_sets)
    lead: tuple[int, ...] = np.broadcast_shapes(one.shape[:-1], other.shape[:-1])
    difference = np.zeros((*lead, len(sets)))
    difference[..., np.searchsorted(sets, one.focal_sets)] += one.values
    difference[..., np.searchsorted(sets, other.focal_sets)] -= other.values
    n_classes = one.n_classes
    if n_classes <= MAX_DENSE_CLASSES and len(sets) ** 2 > n_classes << n_classes:
        squared = _overlap_norm_of_all(add_up_dense(difference, sets, n_classes))
    else:
        squared = _overlap_norm(difference, sets)
    return np.sqrt(0.5 * np.maximum(squared, 0.0))


def dissonance(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Disagreement within a mass function: -sum m(A) log2 pl(A) (Yager).

    Examples
    --------
    >>> dissonance([0.0, 0.5, 0.5, 0.0])
    np.float64(1.0)
    """
    m = normal_form(masses)
    return _mean_surprise(m, plausibility(m, m.focal_sets))


def confusion(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Lack of support within a mass function: -sum m(A) log2 bel(A) (Hoehle).

    Examples
    --------
    >>> confusion([0.0, 0.5, 0.5, 0.0])
    np.float64(1.0)
    """
    m = normal_form(masses)
    return _mean_surprise(m, belief(m, m.focal_sets))


def discord(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Disagreement within a mass function: -sum m(A) log2 BetP(A) (Klir and Ramer).

    Examples
    --------
    >>> discord([0.0, 0.5, 0.5, 0.0])
    np.float64(1.0)
    """
    m = normal_form(masses)
    # Summing m(B) |A & B| / |B| over B is the pignistic probability of A.
    return _mean_surprise(m, pignistic(m) @ membership(m.focal_sets, m.n_classes).T)


def strife(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Disagreement within a mass function: -sum m(A) log2 (mean contour in A) (Klir and Parviz).

    Examples
    --------
    >>> strife([0.0, 0.5, 0.5, 0.0])
    np.float64(1.0)
    """
    m = normal_form(masses)
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
    m = normal_form(masses)
    return _entropy(plausibility_probability(m)) + nonspecificity(m)


def deng_entropy(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Entropy ``-sum m(A) log2 (m(A) / (2^|A| - 1))`` (Deng); Shannon's for probabilities.

    Examples
    --------
    >>> deng_entropy([0.0, 0.0, 0.0, 1.0]).round(4)
    np.float64(1.585)
    """
    m = normal_form(masses)
    return _entropy(m.values) + m.values @ np.log2(2.0 ** cardinality(m.focal_sets) - 1.0)


def _mean_surprise(m: SparseMasses, degree: FloatArray) -> FloatArray:
    """Return -sum m(A) log2 degree(A) over the focal sets of each row."""
    logs = np.log2(degree, where=m.values > 0.0, out=np.zeros(degree.shape))
    return np.maximum(-np.einsum("...f,...f->...", m.values, logs), 0.0)


def _entropy(probabilities: FloatArray) -> FloatArray:
    return entr(probabilities).sum(axis=-1) / np.log(2.0)


def _overlap_norm(values: FloatArray, sets: IntArray) -> FloatArray:
    """Squared norm with the inner product |A & B| / |A | B| (one for two empty sets)."""
    squared = np.zeros(values.shape[:-1])
    at_once = max(1, _PAIRS_AT_ONCE // len(sets))
    for start in range(0, len(sets), at_once):
        block = slice(start, start + at_once)
        common = cardinality(sets[:, None] & sets[block])
        union = cardinality(sets[:, None] | sets[block])
        overlap = np.where(union == 0, 1.0, common / np.maximum(union, 1))
        squared += np.einsum("...f,...f->...", values @ overlap, values[..., block])
    return squared


def _overlap_norm_of_all(values: FloatArray) -> FloatArray:
    r"""`_overlap_norm` for values of all sets, as a sum of squares in O(K 2^K).

    In :math:`|A \cap B| / |A \cup B| = \int_0^1 |A \cap B| \, t^{|A \cup B| - 1} dt` the integrand
    is a product over classes, and with b, the sum over subsets, the norm becomes

    .. math:: v(\emptyset)^2 + \sum_k \sum_{A \not\ni k} \frac{|A|! \, (K - 1 - |A|)!}{K!}
              \left( b(A \cup \{k\}) - b(A) \right)^2.
    """
    n_classes = values.shape[-1].bit_length() - 1
    sizes = cardinality(all_sets(n_classes))[: 1 << (n_classes - 1)]
    weights = beta(sizes + 1.0, n_classes - sizes)
    b = subset_sum(values)
    squared = values[..., 0] ** 2
    for k in range(n_classes):
        pair = b.reshape(*b.shape[:-1], -1, 2, 1 << k)
        step = (pair[..., 1, :] - pair[..., 0, :]).reshape(*b.shape[:-1], -1)
        squared = squared + step**2 @ weights
    return squared
