"""Which acts a decision rule keeps, from masses of sets; `degrees` does without.

Masses m are normalized and have no column for the empty set; losses are (acts, classes).
"""

import numpy as np
from scipy.sparse import csr_array, hstack

from plausible.belief.degrees import admissible_at, near_best, not_dominated, rounding
from plausible.belief.forms import SparseMasses
from plausible.belief.linear import TOLERANCE, incidence, least_value
from plausible.belief.moebius import subset_sum
from plausible.belief.sets import (
    MAX_DENSE_CLASSES,
    BoolArray,
    FloatArray,
    all_sets,
    cardinality,
    membership,
)


def choose(
    m: SparseMasses, losses: FloatArray, rule: str, pessimism: float, error_only: bool
) -> BoolArray:
    """Acts that a rule keeps, or that are tied for the best; `error_only`: losses of 0 and 1."""
    if rule == "interval_dominance":
        return _not_dominated(m, losses)
    if rule == "maximality":
        return _maximal(m, losses)
    if rule == "e_admissibility":
        closed = error_only and m.n_classes <= MAX_DENSE_CLASSES
        return _admissible_for_error(m, losses) if closed else _admissible(m, losses)
    if rule == "pignistic":
        return near_best(_mean_loss(m, losses), rounding(losses))
    weight = {"plausibility": 0.0, "lower_loss": 0.0, "belief": 1.0, "upper_loss": 1.0}
    return near_best(hurwicz_loss(m, losses, weight.get(rule, pessimism)), rounding(losses))


def _best_and_worst(m: SparseMasses, losses: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Least and largest loss of each act within each focal set, (acts, focal sets)."""
    inside = membership(m.focal_sets, m.n_classes)
    least = [np.where(inside, row, np.inf).min(axis=1) for row in losses]
    most = [np.where(inside, row, -np.inf).max(axis=1) for row in losses]
    return np.stack(least), np.stack(most)


def hurwicz_loss(m: SparseMasses, losses: FloatArray, pessimism: float) -> FloatArray:
    """`pessimism` of the upper expected loss of each act, and the rest of the lower."""
    least, most = _best_and_worst(m, losses)
    return m.values @ ((1.0 - pessimism) * least + pessimism * most).T


def _mean_loss(m: SparseMasses, losses: FloatArray) -> FloatArray:
    inside = membership(m.focal_sets, m.n_classes)
    return m.values @ (inside @ losses.T / inside.sum(axis=1, keepdims=True))


def _not_dominated(m: SparseMasses, losses: FloatArray) -> BoolArray:
    least, most = _best_and_worst(m, losses)
    return not_dominated(m.values @ least.T, m.values @ most.T, rounding(losses))


def _maximal(m: SparseMasses, losses: FloatArray) -> BoolArray:
    slack = rounding(losses)
    kept = np.empty((*m.shape[:-1], len(losses)), dtype=bool)
    for act, own in enumerate(losses):
        # Excess of this act's loss over each other's, at the least.
        excess = m.values @ _best_and_worst(m, own - losses)[0].T
        kept[..., act] = (excess <= slack[act] + slack).all(axis=-1)
    return kept


def _admissible_for_error(m: SparseMasses, losses: FloatArray) -> BoolArray:
    """E-admissible acts for losses of 0 and 1, and refusing; in closed form."""
    sizes = cardinality(all_sets(m.n_classes))[1:]
    densest = np.empty(len(m))
    at_once = max(1, (1 << 22) >> m.n_classes)
    for start in range(0, len(m), at_once):
        block = slice(start, start + at_once)
        densest[block] = (subset_sum(m[block].to_dense())[:, 1:] / sizes).max(axis=1)
    contour = m.values @ membership(m.focal_sets, m.n_classes)
    return admissible_at(contour, densest, losses[-1, 0] if len(losses) > m.n_classes else None)


def _admissible(m: SparseMasses, losses: FloatArray) -> BoolArray:
    """E-admissible acts for any losses; linear programs only where nothing simpler decides."""
    kept = _maximal(m, losses)
    # What is best under the pignistic probabilities is best under some.
    sure = near_best(_mean_loss(m, losses), rounding(losses))
    for row, act in np.argwhere(kept & ~sure):
        kept[row, act] = _least_excess(m[row], losses, act) <= TOLERANCE
    return kept


def _least_excess(m: SparseMasses, losses: FloatArray, act: int) -> float:
    """Least excess of an act's loss over the best, over the probabilities that fit one row.

    A probability that fits shares the mass of each focal set among its classes. The excess over
    each other act is taken relative to the largest that it can be.
    """
    focal = m.values > 0.0
    owner, state = np.nonzero(membership(m.focal_sets[focal], m.n_classes))
    excess = losses[act] - losses
    excess = excess[excess.any(axis=1)]
    excess = (excess / np.abs(excess).max(axis=1, keepdims=True))[:, state]
    n_shares, n_others = excess.shape[1], len(excess)
    return least_value(
        np.append(np.zeros(n_shares), 1.0),
        A_ub=np.column_stack([excess, -np.ones(n_others)]),
        b_ub=np.zeros(n_others),
        A_eq=hstack([incidence(owner, focal.sum()), csr_array((focal.sum(), 1))]),
        b_eq=m.values[focal],
        bounds=[(0.0, None)] * n_shares + [(None, None)],
    )
