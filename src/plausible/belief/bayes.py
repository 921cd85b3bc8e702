r"""From what is plausible under each class to what is plausible about the class, and back.

The Generalized Bayesian Theorem turns the plausibilities pl(x | k) of an observation x under each
class k into a mass function on the classes, without any prior:

.. math:: pl(A \mid x) = 1 - \prod_{k \in A} (1 - pl(x \mid k)), \qquad
          m(A \mid x) = \prod_{k \in A} pl(x \mid k) \prod_{k \notin A} (1 - pl(x \mid k)).

A prior is combined conjunctively; with a Bayesian prior and after normalization this is Bayes'
theorem. The other way, the total plausibility theorem averages over what is believed of the class:

.. math:: pl(x) = \sum_{A} m(A)\, pl(x \mid A).

References
----------
P. Smets, Belief functions: the disjunctive rule of combination and the generalized Bayesian
theorem, International Journal of Approximate Reasoning 9 (1993) 1-35.
E. Come, L. Oukhellou, T. Denoeux, P. Aknin, Mixture model estimation with soft labels, Soft
Methods in Probability and Statistics 2008, 165-174 (equations 1.4 and 1.5).
"""

from math import prod
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from plausible.belief.forms import (
    SparseMasses,
    add_up,
    add_up_dense,
    check_masses,
    check_unit_interval,
    sparse_form,
    unpack,
)
from plausible.belief.masses import normalize_columns
from plausible.belief.products import intersect_dense
from plausible.belief.sets import (
    FloatArray,
    IntArray,
    all_sets,
    cardinality,
    check_dense,
    check_n_classes,
    check_set_list,
    full_set,
    membership,
)
from plausible.checks import check_flag
from plausible.errors import InputError

MAX_TERMS = 1 << 28


@overload
def generalized_bayes(
    likelihoods: ArrayLike, prior: None = None, normalize: bool = False
) -> FloatArray: ...
@overload
def generalized_bayes(
    likelihoods: ArrayLike, prior: FloatArray, normalize: bool = False
) -> FloatArray: ...
@overload
def generalized_bayes(
    likelihoods: ArrayLike, prior: SparseMasses, normalize: bool = False
) -> SparseMasses: ...
def generalized_bayes(
    likelihoods: ArrayLike,
    prior: FloatArray | SparseMasses | None = None,
    normalize: bool = False,
) -> FloatArray | SparseMasses:
    """Masses on the classes after an observation, by the Generalized Bayesian Theorem.

    Parameters
    ----------
    likelihoods : array-like (..., K)
        Plausibility of the observation under each class, in [0, 1]. Densities may be divided by
        any upper bound that is the same for all classes.
    prior : dense array (..., 2^K) or SparseMasses, optional
        Masses on the classes beforehand; by default nothing is known. The answer has its form.
    normalize : bool
        Whether to remove the mass that falls on the empty set.

    Returns
    -------
    dense array (..., 2^K), or SparseMasses if the prior is

    Examples
    --------
    >>> generalized_bayes([0.8, 0.5])
    array([0.1, 0.4, 0.1, 0.4])
    >>> from plausible.belief import bayesian, contour
    >>> contour(generalized_bayes([0.8, 0.2], prior=bayesian([0.5, 0.5]), normalize=True))
    array([0.8, 0.2])
    """
    remedy = "divide all densities by one upper bound"
    plausible_under = np.atleast_1d(check_unit_interval(likelihoods, "likelihoods", remedy))
    n_classes = check_n_classes(plausible_under.shape[-1])
    if isinstance(prior, SparseMasses):
        before = sparse_form(check_masses(prior, "prior"))
        _check_fit(plausible_under, before.shape, before.n_classes)
        values, sets = _share_among_subsets(plausible_under, before.values, before.focal_sets)
    else:
        whole = np.array([full_set(check_dense(n_classes))])
        values, sets = _share_among_subsets(plausible_under, np.ones(1), whole)
        if prior is not None:
            dense, _, size = unpack(prior, "prior")
            _check_fit(plausible_under, dense.shape, size)
            values = intersect_dense(add_up_dense(values, sets, n_classes), dense)
            sets = all_sets(n_classes)
    if check_flag(normalize, "normalize"):
        values, sets = normalize_columns(
            values,
            sets,
            n_classes,
            need="Normalization needs a possible class under which the observation is plausible",
            remedy="check the likelihoods, or keep the conflict with normalize=False",
        )
    if isinstance(prior, SparseMasses):
        return add_up(values, sets, n_classes)
    return add_up_dense(values, sets, n_classes)


def plausibility_given_sets(conditional: ArrayLike, sets: ArrayLike | None = None) -> FloatArray:
    """Plausibilities under sets of classes from those under each class: 1 - prod(1 - pl).

    Parameters
    ----------
    conditional : array-like (K, T)
        Plausibility of T events under each of the K classes.
    sets : array-like of bit masks, optional
        Sets of classes; by default all 2^K.

    Returns
    -------
    array (number of sets, T)

    Examples
    --------
    >>> plausibility_given_sets([[0.5], [0.2]]).round(10)
    array([[0. ],
           [0.5],
           [0.2],
           [0.6]])
    """
    by_class = check_unit_interval(conditional, "conditional")
    if by_class.ndim != 2:
        raise InputError(
            "conditional should be an array (K, T), one row for each class",
            f"has shape {by_class.shape}",
            "write [[p], [q]] for one event under two classes",
            parameter="conditional",
            value=by_class.shape,
        )
    n_classes = len(by_class)
    asked = all_sets(n_classes) if sets is None else check_set_list(sets, n_classes)
    with np.errstate(divide="ignore"):
        misses = np.log1p(-by_class)  # in logarithms, small plausibilities keep their digits
    inside = membership(asked, n_classes)[:, :, None]
    return 0.0 - np.expm1(np.where(inside, misses, 0.0).sum(axis=1))


def total_plausibility(masses: ArrayLike | SparseMasses, conditional: ArrayLike) -> FloatArray:
    """Plausibilities of events, averaged over what is believed of the class.

    Parameters
    ----------
    masses : dense array (..., 2^K) or SparseMasses with F focal sets
    conditional : array-like (2^K, T) or (F, T)
        Plausibility of T events under each focal set, in the order of the columns of `masses`.
        `plausibility_given_sets` makes it from the plausibilities under each class.

    Returns
    -------
    array (..., T)

    Examples
    --------
    >>> total_plausibility([0.0, 0.5, 0.0, 0.5], plausibility_given_sets([[0.5], [0.2]]))
    array([0.55])
    """
    values, sets, _ = unpack(masses)
    given = check_unit_interval(conditional, "conditional")
    if given.ndim != 2 or len(given) != len(sets):
        raise InputError(
            f"conditional should have one row for each of the {len(sets)} sets",
            f"has shape {given.shape}",
            "plausibility_given_sets() fills in sets from single classes",
            parameter="conditional",
            value=given.shape,
        )
    return values @ given


def _check_fit(likelihoods: FloatArray, prior_shape: tuple[int, ...], n_classes: int) -> None:
    if likelihoods.shape[-1] != n_classes:
        raise InputError(
            "likelihoods and prior should speak of one frame",
            f"have {likelihoods.shape[-1]} and {n_classes} classes",
            "give one likelihood for each class of the prior",
        )
    try:
        np.broadcast_shapes(likelihoods.shape[:-1], prior_shape[:-1])
    except ValueError:
        raise InputError(
            "likelihoods and prior should have the same rows (or one row)",
            f"have {likelihoods.shape[:-1]} and {prior_shape[:-1]}",
            "give one prior, or one for each row",
        ) from None


def _share_among_subsets(
    plausible_under: FloatArray, before: FloatArray, focal: IntArray
) -> tuple[FloatArray, IntArray]:
    """Share the prior mass of each focal set among its subsets."""
    lead = np.broadcast_shapes(plausible_under.shape[:-1], before.shape[:-1])
    n_terms = prod(lead) * sum(1 << size for size in cardinality(focal).tolist())
    if n_terms > MAX_TERMS:
        raise InputError(
            f"The focal sets of the prior should have at most {MAX_TERMS:.0e} subsets in all rows",
            f"have {n_terms:.1e}",
            "use a prior on smaller sets, or fewer rows at a time",
        )
    values: list[FloatArray] = []
    sets: list[IntArray] = []
    for column, focal_set in enumerate(focal.tolist()):
        part = np.broadcast_to(before[..., column : column + 1], (*lead, 1))
        subsets = np.zeros(1, dtype=np.int64)
        for k in range(plausible_under.shape[-1]):
            if focal_set >> k & 1:
                likelihood = plausible_under[..., k : k + 1]
                part = np.concatenate([part * (1.0 - likelihood), part * likelihood], axis=-1)
                subsets = np.concatenate([subsets, subsets | (1 << k)])
        values.append(part)
        sets.append(subsets)
    return np.concatenate(values, axis=-1), np.concatenate(sets)
