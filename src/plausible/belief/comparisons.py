r"""Which of two mass functions is the more committed.

A mass function is at least as committed as another if it can be obtained by adding evidence. There
are several ways to say so, from the weakest:

========================  ===================================================================
"plausibility"            pl1(A) <= pl2(A) for every set A
"commonality"             q1(A) <= q2(A) for every set A
"specialization"          the mass of each set of the second can flow to subsets of it, and
                          the first results; implies the two above
"conjunctive_weights"     w1(A) <= w2(A): evidence was added conjunctively; implies
                          specialization
"disjunctive_weights"     v1(A) >= v2(A), the dual; implies specialization
========================  ===================================================================

The least commitment principle prefers, among the mass functions that fit what is known, the least
committed one.

References
----------
D. Dubois, H. Prade, A set-theoretic view of belief functions, International Journal of General
Systems 12 (1986) 193-226.
T. Denoeux, Artificial Intelligence 172 (2008) 234-264.
"""

import numpy as np
from scipy.sparse import vstack

from plausible.belief.forms import MassesT, SparseMasses, sparse_form
from plausible.belief.linear import incidence, least_value
from plausible.belief.operations import negate
from plausible.belief.rules import conform
from plausible.belief.sets import BoolArray, FloatArray
from plausible.belief.transforms import commonality
from plausible.belief.weights import (
    check_not_dogmatic,
    check_subnormal,
    closure,
    log_weights,
)
from plausible.checks import check_number, check_option

ORDERS = (
    "plausibility",
    "commonality",
    "specialization",
    "conjunctive_weights",
    "disjunctive_weights",
)


def is_at_least_as_committed(
    first: MassesT,
    second: MassesT,
    order: str = "plausibility",
    tol: float = 1e-9,
) -> BoolArray:
    """Say for each row whether `first` is at least as committed as `second`.

    Parameters
    ----------
    first, second : dense arrays (..., 2^K) or SparseMasses
        Rows broadcast. The orders by weights need mass on the whole frame (w) or on the empty
        set (v).
    order : str
        One of `ORDERS`; see the table above.
    tol : float
        Differences below this count as equal (of logarithms, for weights).

    Returns
    -------
    bool array, one entry per row
        Both directions are true only for equal mass functions, and both may be false: the orders
        are partial.

    Examples
    --------
    >>> from plausible.belief import discount
    >>> m = np.array([0.0, 0.7, 0.0, 0.3])
    >>> bool(is_at_least_as_committed(m, discount(m, 0.1)))
    True
    >>> bool(is_at_least_as_committed(discount(m, 0.1), m))
    False
    """
    check_option(order, ORDERS, "order")
    check_number(tol, "tol", 0.0, 1.0)
    one, two = (sparse_form(m) for m in conform((first, second)))
    if order == "specialization":
        return _can_flow(one, two, tol)
    if order == "disjunctive_weights":
        check_subnormal(one.values, one.focal_sets)
        check_subnormal(two.values, two.focal_sets)
    if order in ("plausibility", "disjunctive_weights"):
        # pl(A) = 1 - q'(complement of A) and v(A) = w'(complement of A), with q' and w' those of
        # the negations; so the roles are exchanged.
        one, two = negate(two), negate(one)
    # On the sets that focal sets have in common, q and w take all values that they take at all.
    lattice = closure(np.union1d(one.focal_sets, two.focal_sets), one.n_classes)
    values = []
    for m in (one, two):
        if order.endswith("weights"):
            check_not_dogmatic(m.values, m.focal_sets, m.n_classes)
            values.append(log_weights(m.values, m.focal_sets, lattice))
        else:
            values.append(commonality(m, lattice))
    return np.asarray((values[0] <= values[1] + tol).all(axis=-1))


def _can_flow(first: SparseMasses, second: SparseMasses, tol: float) -> BoolArray:
    """Whether the masses of `second` can flow to subsets so that `first` results."""
    lead: tuple[int, ...] = np.broadcast_shapes(first.shape[:-1], second.shape[:-1])
    supply = np.broadcast_to(second.values, (*lead, second.shape[-1]))
    demand = np.broadcast_to(first.values, (*lead, first.shape[-1]))
    allowed = first.focal_sets[:, None] & ~second.focal_sets == 0
    out = np.empty(lead, dtype=bool)
    for row in np.ndindex(lead):
        out[row] = _largest_flow(demand[row], supply[row], allowed) >= demand[row].sum() - tol
    return out


def _largest_flow(demand: FloatArray, supply: FloatArray, allowed: BoolArray) -> float:
    """Largest total flow from supplies to demands along the allowed pairs."""
    to, source = np.nonzero(allowed & (demand[:, None] > 0.0) & (supply > 0.0))
    if len(to) == 0:
        return 0.0
    return -least_value(
        -np.ones(len(to)),
        A_ub=vstack([incidence(to, len(demand)), incidence(source, len(supply))]),
        b_ub=np.concatenate([demand, supply]),
    )
