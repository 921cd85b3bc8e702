r"""Canonical weights: a mass function as a combination of elementary pieces of evidence.

A mass function with m(frame) > 0 is the conjunctive combination of (generalized) simple ones,
each of which puts 1 - w(A) on the set A and w(A) on the frame:

.. math:: \ln w(A) = -\sum_{B \supseteq A} (-1)^{|B| - |A|} \ln q(B), \qquad
          q(A) = \prod_{B \not\supseteq A} w(B).

Dually, one with m(empty) > 0 is a disjunctive combination with weights v, and v of a mass function
is w of its negation. On large frames w differs from one only on intersections of focal sets, so
that the sums run over the lattice that these form.

References
----------
T. Denoeux, Conjunctive and disjunctive combination of belief functions induced by nondistinct
bodies of evidence, Artificial Intelligence 172 (2008) 234-264.
"""

import numpy as np
from numpy.typing import ArrayLike

from plausible.belief.forms import SparseMasses, check_every_set, check_values, unpack
from plausible.belief.moebius import superset_difference, superset_sum
from plausible.belief.sets import (
    MAX_DENSE_CLASSES,
    FloatArray,
    IntArray,
    all_sets,
    cardinality,
    check_set_list,
    full_set,
)
from plausible.checks import as_floats, example, found, name_rows
from plausible.errors import InputError

MAX_LATTICE = 4096


def conjunctive_weights(
    masses: ArrayLike | SparseMasses, sets: ArrayLike | None = None
) -> FloatArray:
    """Weights w of the conjunctive canonical decomposition.

    Parameters
    ----------
    masses : dense array (..., 2^K) or SparseMasses
        Each row needs some mass on the whole frame.
    sets : array-like of bit masks, optional
        Sets to answer for; by default every set of the frame.

    Returns
    -------
    array (..., number of sets)
        A weight below one is evidence for the set, above one a debt of evidence. The frame itself
        has weight one.

    Examples
    --------
    >>> conjunctive_weights([0.0, 0.7, 0.0, 0.3])
    array([1. , 0.3, 1. , 1. ])
    """
    values, focal, n_classes = unpack(masses)
    asked = all_sets(n_classes) if sets is None else check_set_list(sets, n_classes)
    check_not_dogmatic(values, focal, n_classes)
    lattice = closure(focal, n_classes)
    weights = np.exp(log_weights(values, focal, lattice))
    place = np.minimum(np.searchsorted(lattice, asked), len(lattice) - 1)
    return np.where(lattice[place] == asked, weights[..., place], 1.0)


def disjunctive_weights(
    masses: ArrayLike | SparseMasses, sets: ArrayLike | None = None
) -> FloatArray:
    """Weights v of the disjunctive canonical decomposition.

    Each row needs some mass on the empty set, which itself has weight one. Parameters and result
    as for `conjunctive_weights`.

    Examples
    --------
    >>> disjunctive_weights([0.3, 0.7, 0.0, 0.0])
    array([1. , 0.3, 1. , 1. ])
    """
    values, focal, n_classes = unpack(masses)
    check_subnormal(values, focal)
    asked = all_sets(n_classes) if sets is None else check_set_list(sets, n_classes)
    frame = full_set(n_classes)
    return conjunctive_weights(SparseMasses(values, frame ^ focal, n_classes), frame ^ asked)


def masses_from_conjunctive_weights(weights: ArrayLike) -> FloatArray:
    """Masses with the given weights w (..., 2^K); the weight of the whole frame is not read.

    Examples
    --------
    >>> masses_from_conjunctive_weights([1.0, 0.3, 1.0, 1.0]).round(10)
    array([0. , 0.7, 0. , 0.3])
    """
    logs = np.log(_check_weights(weights, unread=-1))
    log_q = logs.sum(axis=-1, keepdims=True) - superset_sum(logs)
    masses = superset_difference(np.exp(log_q))
    return check_values(masses, "masses behind these weights", "check the weights")


def masses_from_disjunctive_weights(weights: ArrayLike) -> FloatArray:
    """Masses with the given weights v (..., 2^K); the weight of the empty set is not read.

    Examples
    --------
    >>> masses_from_disjunctive_weights([1.0, 0.3, 1.0, 1.0]).round(10)
    array([0.3, 0.7, 0. , 0. ])
    """
    given = _check_weights(weights, unread=0)
    return masses_from_conjunctive_weights(given[..., ::-1])[..., ::-1]


def log_weights(values: FloatArray, focal: IntArray, lattice: IntArray) -> FloatArray:
    """Ln w on a lattice of sets that contains the focal sets and is closed under intersection."""
    if _is_every_set(lattice):
        dense = np.zeros((*values.shape[:-1], len(lattice)))
        dense[..., focal] = values
        logs = -superset_difference(np.log(superset_sum(dense)))
    else:
        inside = (lattice[:, None] & ~focal) == 0
        logs = -_lattice_difference(np.log(values @ inside.T.astype(np.float64)), lattice)
    logs[..., -1] = 0.0
    return logs


def masses_after_change(
    values: FloatArray, focal: IntArray, lattice: IntArray, change: FloatArray
) -> FloatArray:
    """Masses on the lattice after ln w was changed by `change` (zero for the frame).

    Starting from the old commonalities, and not from the new weights, loses less. What comes out
    below the rounding error of the commonality of its set is no mass.
    """
    if _is_every_set(lattice):
        dense = np.zeros((*values.shape[:-1], len(lattice)))
        dense[..., focal] = values
        above = superset_sum(change)
        q = superset_sum(dense) * np.exp(change.sum(axis=-1, keepdims=True) - above)
        masses = superset_difference(q)
    else:
        contains = (lattice[:, None] & ~lattice == 0).astype(np.float64)
        inside = (lattice[:, None] & ~focal == 0).astype(np.float64)
        above = change @ contains.T
        q = (values @ inside.T) * np.exp(change.sum(axis=-1, keepdims=True) - above)
        masses = _lattice_difference(q, lattice)
    noise = np.finfo(float).eps * max(64, len(lattice))
    return np.where(np.abs(masses) <= noise * q, 0.0, masses)


def closure(focal: IntArray, n_classes: int) -> IntArray:
    """Sets closed under intersection: the focal sets, the frame, and all that they have in common.

    Sorted, so that the frame comes last. Where there are too many, all sets of the frame.
    """
    if len(focal) == 1 << n_classes:
        return all_sets(n_classes)
    lattice = np.array([full_set(n_classes)], dtype=np.int64)
    for members in focal:
        lattice = np.union1d(lattice, lattice & members)
        if len(lattice) > MAX_LATTICE:
            if n_classes <= MAX_DENSE_CLASSES:
                return all_sets(n_classes)
            raise InputError(
                f"On more than {MAX_DENSE_CLASSES} classes, weights and comparisons should "
                f"involve at most {MAX_LATTICE} sets",
                f"the {len(focal)} focal sets (or their complements) have more intersections",
                "use a coarser frame or fewer focal sets",
            )
    return lattice


def check_not_dogmatic(values: FloatArray, focal: IntArray, n_classes: int) -> None:
    """Refuse rows that give no mass to the whole frame."""
    bad = ~(values[..., focal == full_set(n_classes)] > 0.0).any(axis=-1)
    if bad.any():
        raise InputError(
            "Conjunctive weights and the cautious rule need some mass on the whole frame",
            f"there is none in {name_rows(bad)}",
            "discount the masses by a small doubt first, such as discount(masses, 1e-6)",
            rows=bad,
        )


def check_subnormal(values: FloatArray, focal: IntArray) -> None:
    """Refuse rows that give no mass to the empty set."""
    bad = ~(values[..., focal == 0] > 0.0).any(axis=-1)
    if bad.any():
        raise InputError(
            "Disjunctive weights and the bold rule need some mass on the empty set",
            f"there is none in {name_rows(bad)}",
            "move a small part of the mass to it first, such as mean(masses, categorical(0, "
            "n_classes), weights=[1, 1e-6])",
            rows=bad,
        )


def _check_weights(weights: ArrayLike, unread: int) -> FloatArray:
    given = as_floats(weights, "weights").copy()
    check_every_set(given, "weights", "give one weight for every set, the empty set first")
    given[..., unread] = 1.0
    bad = ~((given > 0.0) & np.isfinite(given))
    if bad.any():
        raise InputError(
            "weights should be positive and finite",
            f"{found(given, bad, bad.any(axis=-1))}",
            "correct the values",
            parameter="weights",
            value=example(given, bad),
            rows=bad.any(axis=-1),
        )
    return given


def _is_every_set(lattice: IntArray) -> bool:
    return len(lattice) == lattice[-1] + 1


def _lattice_difference(values: FloatArray, lattice: IntArray) -> FloatArray:
    """Solve ``values(A) = sum over B in the lattice, B containing A, of x(B)`` for x."""
    out = values.copy()
    for i in np.argsort(-cardinality(lattice), kind="stable"):  # largest sets first
        below = (lattice & ~lattice[i] == 0) & (lattice != lattice[i])
        out[..., below] -= out[..., i : i + 1]
    return out
