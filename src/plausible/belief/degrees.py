r"""Decisions from one degree for each class, plausibility or probability, in frames of any size.

The least committed mass functions with a contour pl (scaled to a maximum of one) have nested focal
sets, the classes in order of plausibility. For losses of 0 and 1 all that the rules need follows
without them: with :math:`pl_{(1)} \ge pl_{(2)} \ge \dots` and :math:`pl_{(K + 1)} = 0`,

.. math:: bel(k) = 1 - \max_{l \ne k} pl(l), \qquad
          BetP((r)) = \sum_{j \ge r} (pl_{(j)} - pl_{(j + 1)}) / j, \qquad
          \max_A \frac{bel(A)}{|A|} = \max_j \frac{1 - pl_{(j + 1)}}{j}

and the least of E[L(k, .) - L(l, .)] is bel(l) - pl(k), so that maximality is interval dominance.
For other losses, least, largest and mean losses within the nested sets are running ones.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from plausible.belief.forms import are_degrees, check_unit_interval
from plausible.belief.masses import check_probabilities
from plausible.belief.sets import MAX_CLASSES, BoolArray, FloatArray, IntArray
from plausible.checks import as_floats, check_number, example, found
from plausible.errors import InputError

ENTRIES_AT_ONCE = 1 << 22  # of a block of rows
MANY_ROWS, FEW_CLASSES = 4096, 8  # from and up to which whole columns are faster than rows
TIE = 1e-12  # expected losses that differ by less, relative to the acts' losses, are equal


class Losses(NamedTuple):
    """Lower, upper and pignistic expected losses (n, acts), and their rounding (acts,)."""

    lower: FloatArray
    upper: FloatArray
    mean: FloatArray
    slack: FloatArray


def rounding(losses: FloatArray) -> FloatArray:
    """How far rounding may have moved the expected loss of each act, from losses (acts, K)."""
    return TIE * np.abs(losses).max(axis=1)


def near_best(expected: FloatArray, slack: FloatArray) -> BoolArray:
    """Acts whose expected loss is the least, or as good as that."""
    return expected - slack <= (expected + slack).min(axis=-1, keepdims=True)


def not_dominated(lower: FloatArray, upper: FloatArray, slack: FloatArray) -> BoolArray:
    """Acts whose lower loss is not above the upper loss of another."""
    return lower - slack <= (upper + slack).min(axis=-1, keepdims=True)


def scaled(contour: FloatArray) -> FloatArray:
    """The contour with maximum one in each row; rows of zeros become ones."""
    top = contour.max(axis=1, keepdims=True)
    return np.where(top > 0.0, contour / np.where(top > 0.0, top, 1.0), 1.0)


def second_best(values: FloatArray) -> FloatArray:
    """The second largest value (n,) of each row; 0 if there is but one."""
    first, second = values[:, 0].copy(), np.zeros(len(values))
    for column in values.T[1:]:
        np.maximum(second, np.minimum(first, column), out=second)
        np.maximum(first, column, out=first)
    return second


def not_ruled_out(contour: FloatArray) -> BoolArray:
    """Classes (n, K) that interval dominance keeps at losses of 0 and 1, of a contour up to one.

    Examples
    --------
    >>> not_ruled_out(np.array([[1.0, 0.3, 0.2], [1.0, 0.8, 0.3]]))
    array([[ True, False, False],
           [ True,  True,  True]])
    """
    limit = 1.0 - second_best(contour)
    slack = 2 * _error_rounding(contour.shape[1])
    kept = np.empty(contour.shape[::-1], dtype=np.bool_)
    for k, column in enumerate(contour.T):  # columns are long, rows are short
        np.greater_equal(column, limit - slack[k], out=kept[k])
    return kept.T


def belief_of_contour(contour: FloatArray) -> FloatArray:
    """Belief (n, K) in each class, of a contour up to one: what no other takes from the best.

    Examples
    --------
    >>> belief_of_contour(np.array([[1.0, 0.3, 0.2]]))
    array([[0.7, 0. , 0. ]])
    """
    belief = np.zeros_like(contour)
    first = contour.argmax(axis=1)[:, None]
    others = contour.copy()
    np.put_along_axis(others, first, 0.0, axis=1)
    np.put_along_axis(belief, first, 1.0 - others.max(axis=1, keepdims=True), axis=1)
    return belief


def nested(contour: FloatArray) -> tuple[IntArray, FloatArray]:
    """Classes in order of plausibility, and masses of the first, of the first two, ..., (n, K)."""
    order = np.argsort(-contour, axis=1, kind="stable")
    ranked = np.take_along_axis(contour, order, axis=1)
    return order, -np.diff(ranked, axis=1, append=0.0)


def pignistic_of(contour: FloatArray) -> FloatArray:
    """Pignistic probabilities (n, K)."""
    n_rows, n_classes = contour.shape
    result = np.empty_like(contour)
    if n_rows >= MANY_ROWS and n_classes <= FEW_CLASSES:
        for start in range(0, n_rows, MANY_ROWS):
            part = slice(start, start + MANY_ROWS)
            result[part] = _bets_by_levels(contour[part].T).T
        return result
    order, masses = nested(contour)
    share = masses / np.arange(1.0, n_classes + 1.0)
    np.put_along_axis(result, order, np.cumsum(share[:, ::-1], axis=1)[:, ::-1], axis=1)
    return result


def _bets_by_levels(columns: FloatArray) -> FloatArray:
    """Pignistic probabilities (K, n) by the same sums, without gathering a number for each row.

    From one plausibility of a row to the next higher one, all classes that reach it share the step.
    """
    columns = columns.copy()  # each in one piece
    levels = columns.copy()
    for last in range(len(levels) - 1, 0, -1):  # in order, smallest first
        for k in range(last):
            low, high = levels[k : k + 2]
            levels[k], levels[k + 1] = np.minimum(low, high), np.maximum(low, high)
    bets, below, here, step = np.zeros((4, *columns.shape))
    for k, level in enumerate(levels):
        np.minimum(columns, level, out=here)
        np.subtract(here, below, out=step)
        step /= len(levels) - k
        bets += step
        here, below = below, here
    return bets


def _error_losses(contour: FloatArray, reject: float | None) -> Losses:
    """Expected losses of the classes at losses of 0 and 1, and of refusing, from a contour."""
    lower, upper = 1.0 - contour, 1.0 - belief_of_contour(contour)
    mean = 1.0 - pignistic_of(contour)
    return _with_refusal(Losses(lower, upper, mean, _error_rounding(contour.shape[1])), reject)


def _error_rounding(n_classes: int) -> FloatArray:
    """Rounding of losses of 0 and 1; with one class there is no loss."""
    return np.full(n_classes, TIE if n_classes > 1 else 0.0)


def _with_refusal(given: Losses, reject: float | None) -> Losses:
    """The same with refusing as the last act, if it is offered."""
    if reject is None:
        return given
    edge = np.full((len(given.lower), 1), reject)
    lower, upper, mean = (np.hstack([part, edge]) for part in given[:3])
    return Losses(lower, upper, mean, np.append(given.slack, TIE * abs(reject)))


def _nested_losses(contour: FloatArray, losses: FloatArray) -> Losses:
    """Expected losses of acts with losses (acts, K), from a contour."""
    order, masses = nested(contour)
    found = np.empty((3, len(contour), len(losses)))
    size = np.arange(1.0, contour.shape[1] + 1.0)
    for act, row in enumerate(losses):
        inside = row[order]
        running = np.minimum.accumulate(inside, axis=1), np.maximum.accumulate(inside, axis=1)
        for place, part in enumerate((*running, np.cumsum(inside, axis=1) / size)):
            found[place, :, act] = np.einsum("ij,ij->i", masses, part)
    return Losses(found[0], found[1], found[2], rounding(losses))


def _sure_losses(
    probability: FloatArray, losses: FloatArray | None, reject: float | None
) -> Losses:
    """Expected losses under probabilities, with no room between lower and upper ones."""
    if losses is None:
        expected = 1.0 - probability
        slack = _error_rounding(probability.shape[1])
        return _with_refusal(Losses(expected, expected, expected, slack), reject)
    expected = probability @ losses.T
    return Losses(expected, expected, expected, rounding(losses))


def choose(given: Losses, rule: str, pessimism: float) -> BoolArray:
    """Acts that a rule keeps, or that are tied for the best.

    Maximality is interval dominance, as it is for losses of 0 and 1, and for probabilities.
    """
    lower, upper, mean, slack = given
    if rule in ("interval_dominance", "maximality"):
        return not_dominated(lower, upper, slack)
    if rule in ("pignistic", "e_admissibility"):  # the latter for probabilities
        return near_best(mean, slack)
    weight = {"plausibility": 0.0, "lower_loss": 0.0, "belief": 1.0, "upper_loss": 1.0}
    upper_share = weight.get(rule, pessimism)
    return near_best((1.0 - upper_share) * lower + upper_share * upper, slack)


def admissible(contour: FloatArray, reject: float | None) -> BoolArray:
    """E-admissible classes at losses of 0 and 1, and refusing."""
    _, masses = nested(contour)
    densest = (np.cumsum(masses, axis=1) / np.arange(1.0, contour.shape[1] + 1.0)).max(axis=1)
    return admissible_at(contour, densest, reject)


def admissible_at(contour: FloatArray, densest: FloatArray, reject: float | None) -> BoolArray:
    """The same from the largest bel(A) / |A| of each row."""
    gain = -np.inf if reject is None else 1.0 - reject
    kept = contour >= np.maximum(densest, gain)[:, None] - TIE
    return kept if reject is None else np.column_stack([kept, densest <= gain + TIE])


# ---------------------------------------------------------------------------------------------
# In and out.


def needs_no_sets(masses: Any, kind: str, has_loss: bool, unknown: bool) -> bool:
    """Whether degrees of the classes are enough, or, in a large frame, have to be."""
    if kind == "masses" or not np.shape(masses) or not np.shape(masses)[-1]:
        return False
    n_classes = np.shape(masses)[-1]
    if n_classes + unknown <= MAX_CLASSES:
        return not has_loss and not unknown
    if unknown:
        raise InputError(
            f"unknown=True should come with at most {MAX_CLASSES - 1} classes",
            f"there are {n_classes}",
            "group classes, or leave it out and use reject",
        )
    return True


def choose_by_degrees(
    degrees: ArrayLike,
    rule: str,
    loss: ArrayLike | None,
    reject: float | None,
    pessimism: float,
    kind: str,
) -> tuple[BoolArray, BoolArray]:
    """Acts that remain (rows, acts), and which rows say something, from degrees of the classes."""
    sure = kind == "probability"
    values = check_probabilities(degrees) if sure else check_contour(degrees)
    values = values.reshape(-1, values.shape[-1])
    losses = None if loss is None else loss_matrix(loss, reject, values.shape[1], unknown=False)
    reject = None if reject is None else check_number(reject, "reject")
    if losses is not None and not sure and rule in ("maximality", "e_admissibility"):
        raise InputError(
            f"rule={rule!r} should have at most {MAX_CLASSES} classes where a loss matrix is given",
            f"there are {values.shape[1]}",
            "use 'interval_dominance', or leave it out",
        )
    at_once = max(1, ENTRIES_AT_ONCE // values.shape[1])
    kept = []
    for start in range(0, max(1, len(values)), at_once):
        block = values[start : start + at_once]
        if sure:
            expected = _sure_losses(block, losses, reject)
        elif rule == "e_admissibility":
            kept.append(admissible(scaled(block), reject))
            continue
        elif losses is None and reject is None and rule in ("interval_dominance", "maximality"):
            kept.append(not_ruled_out(scaled(block)))
            continue
        elif losses is None:
            expected = _error_losses(scaled(block), reject)
        else:
            expected = _nested_losses(scaled(block), losses)
        kept.append(choose(expected, rule, pessimism))
    return np.concatenate(kept), np.asarray(values.any(axis=1))


def check_contour(values: ArrayLike) -> FloatArray:
    """Plausibilities (..., K) as an array."""
    remedy = "divide each row by its maximum"
    return np.atleast_1d(check_unit_interval(values, "plausibility", remedy))


def loss_matrix(
    loss: ArrayLike | None, reject: float | None, n_classes: int, unknown: bool
) -> FloatArray:
    """Losses (acts, classes), 0 and 1 by default, with refusing as the last act if offered."""
    losses = 1.0 - np.eye(n_classes) if loss is None else as_floats(loss, "loss")
    n_columns = losses.shape[-1] if losses.ndim else 0
    if losses.ndim != 2 or losses.shape[1] != n_classes or len(losses) == 0:
        raise InputError(
            f"loss should be an array (number of acts, {n_classes}), one column for each class"
            + (" and a last one for the unknown class" if unknown else ""),
            f"has shape {losses.shape}",
            are_degrees(1 << n_classes, n_columns) or "rows are acts, columns are what is true",
            parameter="loss",
            value=losses.shape,
        )
    bad = ~np.isfinite(losses)
    if bad.any():
        raise InputError(
            "loss should be finite",
            f"{found(losses, bad, bad.any(axis=1))}",
            "use a large number for what must not happen",
            parameter="loss",
            value=example(losses, bad),
            rows=bad.any(axis=1),
        )
    if reject is None:
        return losses
    return np.vstack([losses, np.full(n_classes, check_number(reject, "reject"))])
