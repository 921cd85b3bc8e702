r"""One body of evidence, seen as m, bel, b, pl, q, or as numbers for single classes.

.. math::
    bel(A) = \sum_{\emptyset \ne B \subseteq A} m(B), \quad
    b(A) = \sum_{B \subseteq A} m(B), \quad
    pl(A) = \sum_{B \cap A \ne \emptyset} m(B), \quad
    q(A) = \sum_{B \supseteq A} m(B).

All four determine m. By default they are given for every set of the frame, as an array
(..., 2^K); with ``sets=`` only for the sets that are asked for, which is the way on large frames.

References
----------
G. Shafer, A Mathematical Theory of Evidence, Princeton 1976.
P. Smets, R. Kennes, The transferable belief model, Artificial Intelligence 66 (1994) 191-234.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from plausible.belief.errors import TotalConflictError
from plausible.belief.forms import (
    SUM_TOLERANCE,
    SparseMasses,
    check_every_set,
    check_masses,
    check_values,
    columns,
    unpack,
)
from plausible.belief.masses import REPLACE_REMEDY
from plausible.belief.moebius import (
    meeting_sum,
    subset_difference,
    subset_sum,
    superset_difference,
    superset_sum,
)
from plausible.belief.sets import (
    MAX_DENSE_CLASSES,
    BoolArray,
    FloatArray,
    IntArray,
    cardinality,
    check_set_list,
    check_sets,
    membership,
)
from plausible.checks import as_floats, example, found, name_rows
from plausible.errors import InputError


def belief(masses: ArrayLike | SparseMasses, sets: ArrayLike | None = None) -> FloatArray:
    """Degree to which the evidence implies each set: bel(A).

    Parameters
    ----------
    masses : dense array (..., 2^K) or SparseMasses
    sets : array-like of bit masks, optional
        Sets to answer for; by default every set of the frame, the empty set first.

    Returns
    -------
    array (..., number of sets)

    Examples
    --------
    >>> belief([0.0, 0.7, 0.0, 0.3])
    array([0. , 0.7, 0. , 1. ])
    """
    return evaluate(masses, sets, _belief, lambda B, A: (B != 0) & (B & ~A == 0))


def implicability(masses: ArrayLike | SparseMasses, sets: ArrayLike | None = None) -> FloatArray:
    """Belief with the mass of the empty set added: b(A).

    Parameters and result as for `belief`.

    Examples
    --------
    >>> implicability([0.1, 0.6, 0.0, 0.3])
    array([0.1, 0.7, 0.1, 1. ])
    """
    return evaluate(masses, sets, subset_sum, lambda B, A: B & ~A == 0)


def plausibility(masses: ArrayLike | SparseMasses, sets: ArrayLike | None = None) -> FloatArray:
    """Degree to which the evidence does not contradict each set: pl(A).

    Parameters and result as for `belief`; see `contour` for single classes.

    Examples
    --------
    >>> plausibility([0.0, 0.7, 0.0, 0.3])
    array([0. , 1. , 0.3, 1. ])
    """
    return evaluate(masses, sets, meeting_sum, lambda B, A: B & A != 0)


def commonality(masses: ArrayLike | SparseMasses, sets: ArrayLike | None = None) -> FloatArray:
    """Mass that is free to move to every class of each set: q(A).

    Parameters and result as for `belief`. Commonalities of independent sources multiply under the
    conjunctive rule.

    Examples
    --------
    >>> commonality([0.0, 0.7, 0.0, 0.3])
    array([1. , 1. , 0.3, 0.3])
    """
    return evaluate(masses, sets, superset_sum, lambda B, A: A & ~B == 0)


def masses_from_belief(belief: ArrayLike) -> FloatArray:
    """Masses with the given belief function; what bel(frame) lacks to one is on the empty set.

    Examples
    --------
    >>> masses_from_belief([0.0, 0.7, 0.0, 1.0])
    array([0. , 0.7, 0. , 0.3])
    """
    return _from_belief(_every_set(belief, "belief", at_empty=0.0), "belief")


def masses_from_implicability(implicability: ArrayLike) -> FloatArray:
    """Masses with the given implicability function.

    Examples
    --------
    >>> masses_from_implicability([0.0, 0.7, 0.0, 1.0])
    array([0. , 0.7, 0. , 0.3])
    """
    values = _every_set(implicability, "implicability")
    return _recovered(subset_difference(values), "implicability")


def masses_from_plausibility(plausibility: ArrayLike) -> FloatArray:
    """Masses with the given plausibility function (of all sets; see `consonant` for a contour).

    Examples
    --------
    >>> masses_from_plausibility([0.0, 1.0, 0.3, 1.0])
    array([0. , 0.7, 0. , 0.3])
    """
    values = _every_set(plausibility, "plausibility", at_empty=0.0)
    return _from_belief(values[..., -1:] - values[..., ::-1], "plausibility")


def masses_from_commonality(commonality: ArrayLike) -> FloatArray:
    """Masses with the given commonality function.

    Examples
    --------
    >>> masses_from_commonality([1.0, 1.0, 0.3, 0.3])
    array([0. , 0.7, 0. , 0.3])
    """
    values = _every_set(commonality, "commonality", at_empty=1.0)
    return _recovered(superset_difference(values), "commonality")


def contour(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Plausibility of each single class, (..., K).

    Examples
    --------
    >>> contour([0.0, 0.7, 0.0, 0.3])
    array([1. , 0.3])
    """
    values, sets, n_classes = unpack(masses)
    return values @ membership(sets, n_classes).astype(np.float64)


def pignistic(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Probabilities to bet with, BetP: each mass shared equally among the classes of its set.

    Mass on the empty set is normalized away; a row with no other mass raises
    `TotalConflictError`.

    Examples
    --------
    >>> pignistic([0.0, 0.7, 0.0, 0.3])
    array([0.85, 0.15])
    """
    values, sets, n_classes = unpack(masses)
    share = membership(sets, n_classes) / np.maximum(cardinality(sets), 1)[:, None]
    return _scale_to_one(values @ share, "pignistic probability")


def plausibility_probability(masses: ArrayLike | SparseMasses) -> FloatArray:
    """Probabilities proportional to the contour.

    Unlike the pignistic ones, they commute with Dempster's rule. A row whose whole mass is on the
    empty set raises `TotalConflictError`.

    Examples
    --------
    >>> plausibility_probability([0.0, 0.5, 0.0, 0.5]).round(4)
    array([0.6667, 0.3333])
    """
    return _scale_to_one(contour(masses), "plausibility probability")


def evaluate(
    masses: ArrayLike | SparseMasses,
    sets: ArrayLike | None,
    of_every_set: Callable[[FloatArray], FloatArray],
    counts: Callable[[IntArray, IntArray], BoolArray],
) -> FloatArray:
    """Evaluate a set function; `counts` says whether focal set B adds to the value of set A."""
    checked = check_masses(masses)
    values, focal, n_classes = columns(checked)
    work = len(focal) * (1 << n_classes if sets is None else np.size(check_sets(sets, n_classes)))
    every = n_classes <= MAX_DENSE_CLASSES and work > n_classes << n_classes
    if sets is None or every:
        result = of_every_set(checked.to_dense() if isinstance(checked, SparseMasses) else checked)
        return result if sets is None else result[..., check_set_list(sets, n_classes)]
    return values @ counts(focal[:, None], check_set_list(sets, n_classes)).astype(np.float64)


def _belief(masses: FloatArray) -> FloatArray:
    proper = masses.copy()
    proper[..., 0] = 0.0  # leaving it out keeps small beliefs exact where subtracting would not
    return subset_sum(proper)


def _every_set(values: ArrayLike, name: str, at_empty: float | None = None) -> FloatArray:
    """Values of a set function for every set, and the one that the empty set must have."""
    given = as_floats(values, name)
    check_every_set(given, name, "give its value for every set, the empty set first")
    if at_empty is not None:
        wrong = ~(np.abs(given[..., 0] - at_empty) <= SUM_TOLERANCE)
        if wrong.any():
            raise InputError(
                f"The {name} of the empty set should be {at_empty:g}",
                f"{found(given[..., 0], wrong, wrong)}",
                "column A belongs to the set with bit mask A, the empty set first",
                value=example(given[..., 0], wrong),
                rows=wrong,
            )
    return given


def _from_belief(values: FloatArray, name: str) -> FloatArray:
    masses = subset_difference(values)
    masses[..., 0] = 1.0 - values[..., -1]
    return _recovered(masses, name)


def _recovered(masses: FloatArray, name: str) -> FloatArray:
    remedy = "check the values of the empty set and of the whole frame"
    return check_values(masses, f"masses behind this {name}", remedy)


def _scale_to_one(values: FloatArray, name: str) -> FloatArray:
    total = values.sum(axis=-1, keepdims=True)
    empty = total[..., 0] == 0.0
    if empty.any():
        raise TotalConflictError(
            f"A {name} needs some mass outside the empty set",
            f"there is none in {name_rows(empty)}",
            REPLACE_REMEDY,
            rows=np.argwhere(empty),
        )
    return values / total
