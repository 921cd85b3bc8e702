r"""Decisions: a class, a set of classes, or a refusal.

An act a has a loss L(a, k) when class k is true. Belief leaves room for many probabilities, so
that the expected loss of an act is an interval:

.. math:: \underline{E}(a) = \sum_A m(A) \min_{k \in A} L(a, k), \qquad
          \overline{E}(a) = \sum_A m(A) \max_{k \in A} L(a, k).

======================  =====================================================================
"pignistic"             least expected loss under the pignistic probabilities
"plausibility"          most plausible class: least lower loss, for losses of 0 and 1
"belief"                most believed class: least upper loss, for losses of 0 and 1
"lower_loss"            least lower expected loss (optimist)
"upper_loss"            least upper expected loss (pessimist)
"hurwicz"               least mixture, `pessimism` of the upper and the rest of the lower loss
"interval_dominance"    every act whose lower loss is not above the upper loss of another
"maximality"            every act to which no other is better under all probabilities
"e_admissibility"       every act that is best under some probability
======================  =====================================================================

The last three answer with sets of acts; each is contained in the one above it. Mass on the empty
set is normalised away; a row with no other mass is refused.

For losses of 0 and 1 and a cost c of refusing (c = 1 if there is no refusal), class k is
E-admissible if and only if

.. math:: pl(k) \ge \max(1 - c, \max_A bel(A) / |A|),

and refusing if and only if the second maximum does not exceed 1 - c; other losses need one linear
programme for each row and act in question.

References
----------
T. Denoeux, Decision-making with belief functions: a review, International Journal of Approximate
Reasoning 109 (2019) 87-110.
T. Denoeux, Analysis of evidence-theoretic decision rules for pattern classification, Pattern
Recognition 30 (1997) 1095-1107 (refusal and the unknown class).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from plausible.belief.errors import check_option
from plausible.belief.forms import SparseMasses, to_sparse
from plausible.belief.frames import with_unknown
from plausible.belief.masses import bayesian, consonant, normalize
from plausible.belief.moebius import subset_sum
from plausible.belief.sets import (
    MAX_DENSE_CLASSES,
    BoolArray,
    FloatArray,
    IntArray,
    all_sets,
    cardinality,
    membership,
)

SET_RULES = ("interval_dominance", "maximality", "e_admissibility")
RULES = (
    "pignistic",
    "plausibility",
    "belief",
    "lower_loss",
    "upper_loss",
    "hurwicz",
    *SET_RULES,
)
KINDS = ("masses", "plausibility", "probability")

_TIE = 1e-12  # losses that differ by less, relative to the largest loss, are equal


@dataclass(frozen=True, eq=False)
class Decision:
    """What was decided for each row.

    Attributes
    ----------
    chosen : bool array (..., number of acts)
        The acts that were chosen: one, or several for the rules that answer with sets. The acts
        are the classes in order, then "unknown" and "refuse" where they were offered.
    index : int array
        The act, where there is one; -1 where the row was refused or several acts remain.
    refused : bool array
        Where the answer is to refuse, or where nothing at all was known.
    tied : bool array
        Where another act was as good as the one chosen. Ties go to the first act, so to a class
        rather than to a refusal. Rules that answer with sets keep both acts, and never tie.
    offers_refusal : bool
        Whether refusing was the last of the acts.
    """

    chosen: BoolArray
    index: IntArray
    refused: BoolArray
    tied: BoolArray
    offers_refusal: bool = False

    def names(self, classes: Sequence[Hashable]) -> list[Hashable | set[Hashable] | None]:
        """Answers in words: a class name, a set of names, or None for a refusal.

        Parameters
        ----------
        classes : sequence
            Names of the acts, in order (without refusing).

        Examples
        --------
        >>> decide([[0.0, 0.7, 0.1, 0.2], [0.0, 0.1, 0.1, 0.8]], reject=0.3).names(["a", "b"])
        ['a', None]
        """
        acts = self.chosen.shape[-1] - self.offers_refusal
        if len(classes) != acts:
            raise ValueError(
                f"classes should name the {acts} acts, but {len(classes)} names were given; add "
                "one for the unknown class if that was offered."
            )
        kept = self.chosen.reshape(-1, self.chosen.shape[-1])[:, :acts]
        answers: list[Hashable | set[Hashable] | None] = []
        for row, refused in zip(kept, self.refused.ravel(), strict=True):
            names = [name for name, inside in zip(classes, row, strict=True) if inside]
            if refused or not names:
                answers.append(None)
            else:
                answers.append(names[0] if len(names) == 1 else set(names))
        return answers


def decide(
    masses: ArrayLike | SparseMasses,
    rule: str = "pignistic",
    *,
    loss: ArrayLike | None = None,
    reject: float | None = None,
    unknown: bool = False,
    pessimism: float = 0.5,
    kind: str = "masses",
) -> Decision:
    """Choose a class, a set of classes, or a refusal, for each row.

    Parameters
    ----------
    masses : dense array (..., 2^K) or SparseMasses, or see `kind`
    rule : str
        One of `RULES`; see the table above.
    loss : array-like (number of acts, number of classes), optional
        Loss of each act when each class is true; by default 0 for the right class and 1 else.
    reject : float, optional
        Offer one more act, refusing, at this loss.
    unknown : bool
        Whether the truth may be a class that is not in the frame. It is then added to the frame by
        `with_unknown`: as the last class, supported by the mass on the empty set and possible where
        the whole frame is; a `loss` needs a column for it.
    pessimism : float in [0, 1]
        Weight of the upper loss for the rule "hurwicz".
    kind : {"masses", "plausibility", "probability"}
        What the numbers are: masses of sets, or a plausibility or probability (..., K) for each
        class.

    Returns
    -------
    Decision

    Examples
    --------
    >>> m = [[0.0, 0.7, 0.1, 0.2], [0.0, 0.1, 0.1, 0.8]]
    >>> decide(m, reject=0.3).index
    array([ 0, -1])
    >>> decide(m, "interval_dominance").chosen
    array([[ True, False],
           [ True,  True]])
    >>> decide([[0.9, 0.1]], kind="probability", loss=[[0, 10], [1, 0]]).index
    array([1])
    """
    check_option(rule, RULES, "rule")
    if not 0.0 <= pessimism <= 1.0:
        raise ValueError(f"pessimism should lie in [0, 1], but {pessimism!r} was given.")
    if loss is not None and rule in ("plausibility", "belief"):
        raise ValueError(
            f"rule={rule!r} should come without a loss matrix, but one was given; use "
            "'lower_loss' (optimist) or 'upper_loss' (pessimist) with it."
        )
    m = _normal_masses(masses, kind, unknown)
    losses = _loss_matrix(loss, reject, m.n_classes)
    if rule == "interval_dominance":
        chosen = _not_dominated(m, losses)
    elif rule == "maximality":
        chosen = _maximal(m, losses)
    elif rule == "e_admissibility":
        chosen = _admissible_for_error(m, losses) if loss is None else _admissible(m, losses)
    else:
        weight = {"plausibility": 0.0, "lower_loss": 0.0, "belief": 1.0, "upper_loss": 1.0}
        expected = (
            _mean_loss(m, losses)
            if rule == "pignistic"
            else _hurwicz_loss(m, losses, weight.get(rule, pessimism))
        )
        chosen = _near_best(expected, losses)
    return _as_decision(chosen, m, rule in SET_RULES, reject is not None)


def expected_losses(
    masses: ArrayLike | SparseMasses, loss: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper expected loss of each act, (..., number of acts) both.

    Parameters
    ----------
    masses : dense array (..., 2^K) or SparseMasses
        Mass on the empty set is normalised away.
    loss : array-like (number of acts, number of classes)

    Examples
    --------
    >>> lower, upper = expected_losses([0.0, 0.7, 0.1, 0.2], loss=[[0, 1], [1, 0]])
    >>> lower.round(10), upper.round(10)
    (array([0.1, 0.7]), array([0.3, 0.9]))
    """
    m = normalize(to_sparse(masses))
    losses = _loss_matrix(loss, None, m.n_classes)
    return _hurwicz_loss(m, losses, 0.0), _hurwicz_loss(m, losses, 1.0)


# ---------------------------------------------------------------------------------------------
# Kernels: m is normalised, rows without any mass are all zero; losses are (acts, classes).


def _best_and_worst(m: SparseMasses, losses: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Least and largest loss of each act within each focal set, (acts, focal sets)."""
    inside = membership(m.focal_sets, m.n_classes)
    least = [np.where(inside, row, np.inf).min(axis=1) for row in losses]
    most = [np.where(inside, row, -np.inf).max(axis=1) for row in losses]
    return np.stack(least), np.stack(most)


def _hurwicz_loss(m: SparseMasses, losses: FloatArray, pessimism: float) -> FloatArray:
    least, most = _best_and_worst(m, losses)
    return m.values @ ((1.0 - pessimism) * least + pessimism * most).T


def _mean_loss(m: SparseMasses, losses: FloatArray) -> FloatArray:
    inside = membership(m.focal_sets, m.n_classes)
    return m.values @ (inside @ losses.T / inside.sum(axis=1, keepdims=True))


def _slack(losses: FloatArray) -> float:
    return _TIE * max(1.0, float(np.abs(losses).max()))


def _near_best(expected: FloatArray, losses: FloatArray) -> BoolArray:
    return expected <= expected.min(axis=-1, keepdims=True) + _slack(losses)


def _not_dominated(m: SparseMasses, losses: FloatArray) -> BoolArray:
    least, most = _best_and_worst(m, losses)
    lower, upper = m.values @ least.T, m.values @ most.T
    return lower <= upper.min(axis=-1, keepdims=True) + _slack(losses)


def _maximal(m: SparseMasses, losses: FloatArray) -> BoolArray:
    kept = np.ones((*m.shape[:-1], len(losses)), dtype=bool)
    for act, own in enumerate(losses):
        # Excess of this act's loss over each other's, at the least.
        excess = m.values @ _best_and_worst(m, own - losses)[0].T
        kept[..., act] = (excess <= _slack(losses)).all(axis=-1)
    return kept


def _admissible_for_error(m: SparseMasses, losses: FloatArray) -> BoolArray:
    """E-admissible acts for losses of 0 and 1, and refusing; in closed form."""
    if m.n_classes > MAX_DENSE_CLASSES:
        return _admissible(m, losses)
    sizes = cardinality(all_sets(m.n_classes))[1:]
    rows = m.values.reshape(-1, m.shape[-1])
    densest = np.empty(len(rows))
    at_once = max(1, (1 << 22) >> m.n_classes)
    for start in range(0, len(rows), at_once):
        part = rows[start : start + at_once]
        dense = np.zeros((len(part), 1 << m.n_classes))
        dense[:, m.focal_sets] = part
        densest[start : start + at_once] = (subset_sum(dense)[:, 1:] / sizes).max(axis=1)
    bar = densest.reshape(*m.shape[:-1], 1)
    kept = np.empty((*m.shape[:-1], len(losses)), dtype=bool)
    if len(losses) > m.n_classes:
        gain = 1.0 - losses[-1, 0]
        kept[..., -1:] = bar <= gain + _TIE
        bar = np.maximum(bar, gain)
    pl = m.values @ membership(m.focal_sets, m.n_classes)
    kept[..., : m.n_classes] = pl >= bar - _TIE
    return kept


def _admissible(m: SparseMasses, losses: FloatArray) -> BoolArray:
    """E-admissible acts for any losses; linear programmes only where nothing simpler decides."""
    kept = _maximal(m, losses)
    sure = _near_best(_mean_loss(m, losses), losses)  # best under the pignistic probabilities
    for where in np.argwhere(kept & ~sure):
        row, act = tuple(where[:-1]), int(where[-1])
        kept[*row, act] = _least_excess(m[row].values, m, losses, act) <= 1e-9 * max(
            1.0, np.abs(losses).max()
        )
    return kept


def _least_excess(values: FloatArray, m: SparseMasses, losses: FloatArray, act: int) -> float:
    """Least, over the probabilities that fit, of the excess of an act's loss over the best."""
    focal = values > 0.0
    inside = membership(m.focal_sets[focal], m.n_classes)
    owner, state = np.nonzero(inside)
    excess = (losses[act] - losses)[:, state]
    bounds = [(0.0, None)] * len(owner) + [(None, None)]
    result = linprog(
        np.append(np.zeros(len(owner)), 1.0),
        A_ub=np.column_stack([excess, -np.ones(len(losses))]),
        b_ub=np.zeros(len(losses)),
        A_eq=np.column_stack([owner == np.arange(focal.sum())[:, None], np.zeros(focal.sum())]),
        b_eq=values[focal],
        bounds=bounds,
    )
    return float(result.fun)


# ---------------------------------------------------------------------------------------------
# In and out.


def _normal_masses(masses: ArrayLike | SparseMasses, kind: str, unknown: bool) -> SparseMasses:
    check_option(kind, KINDS, "kind")
    if kind == "plausibility":
        masses = consonant(masses)  # type: ignore[arg-type]
    elif kind == "probability":
        masses = bayesian(masses)  # type: ignore[arg-type]
    m = to_sparse(masses)
    m = normalize(with_unknown(m) if unknown else m, on_conflict="empty")
    proper = m.focal_sets != 0
    return SparseMasses(m.values[..., proper], m.focal_sets[proper], m.n_classes)


def _loss_matrix(loss: ArrayLike | None, reject: float | None, n_classes: int) -> FloatArray:
    losses = 1.0 - np.eye(n_classes) if loss is None else np.asarray(loss, dtype=np.float64)
    if losses.ndim != 2 or losses.shape[1] != n_classes or not np.isfinite(losses).all():
        raise ValueError(
            f"loss should be a finite array (number of acts, {n_classes}), one column for each "
            f"class, but has shape {losses.shape}; add a column for the unknown class if "
            "unknown=True."
        )
    if reject is None:
        return losses
    if not np.isfinite(reject):
        raise ValueError(f"reject should be a finite loss, but {reject!r} was given.")
    return np.vstack([losses, np.full(n_classes, float(reject))])


def _as_decision(
    chosen: BoolArray, m: SparseMasses, keeps_sets: bool, offers_refusal: bool
) -> Decision:
    informed: BoolArray = np.asarray(m.values.any(axis=-1))
    chosen = chosen & informed[..., None]
    several = chosen.sum(axis=-1) > 1
    first = chosen.argmax(axis=-1)
    if not keeps_sets:
        chosen = chosen & (np.arange(chosen.shape[-1]) == first[..., None])
    single = chosen.sum(axis=-1) == 1
    refuses = chosen[..., -1] & single if offers_refusal else np.zeros(single.shape, dtype=bool)
    return Decision(
        chosen=chosen,
        index=np.where(single & ~refuses, first, -1),
        refused=refuses | ~informed,
        tied=np.zeros(several.shape, dtype=bool) if keeps_sets else several,
        offers_refusal=offers_refusal,
    )
