r"""Scores of answers that are sets of classes, and of answers that may be refused.

An answer S that holds the truth earns the utility u(1 / |S|), with u(0) = 0, u(1) = 1 and u(1/2)
the value of a correct pair of classes: 0.5 for those who would as soon guess, 0.65 and 0.8 for
those who value caution.

References
----------
M. Zaffalon, G. Corani, D. Maua, Evaluating credal classifiers by utility-discounted predictive
accuracy, International Journal of Approximate Reasoning 53 (2012) 1282-1301.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.belief import Decision
from plausible.checks import as_array, check_number
from plausible.errors import InputError
from plausible.metrics.confidence import read_confidence
from plausible.metrics.truth import (
    BoolArray,
    Classes,
    Credits,
    FloatArray,
    Prediction,
    Truth,
    classes_of_answers,
    read_answers,
    read_truth,
    read_weights,
)
from plausible.short_rows import row_any, row_max, row_sum


def utility_discounted_accuracy(
    y_true: Truth,
    y_pred: ArrayLike | Decision,
    value_of_pair: float = 0.65,
    sample_weight: ArrayLike | None = None,
    classes: Classes = None,
) -> float:
    """Mean utility of answers that are sets; a refusal, the empty set, earns nothing.

    Parameters
    ----------
    y_true : Labels, or all that `as_labels` takes
    y_pred : bool array (n, K) of sets, array-like (n,) of classes, or Decision
    value_of_pair : float in [0.5, 1]
        Utility of two classes of which one is right: 0.5, 0.65 and 0.8 give u50 (discounted
        accuracy), u65 and u80.
    sample_weight : array-like (n,), optional
    classes : sequence, optional
        What the columns of sets are; needed where the classes of `y_true` are not sorted.

    Examples
    --------
    >>> utility_discounted_accuracy(["a"], [[True, True]], classes=["a", "b"])
    0.65
    """
    v = check_number(value_of_pair, "value_of_pair", 0.5, 1.0)
    truth, inside = _read(y_true, y_pred, sample_weight, classes)
    return truth.mean(utilities(truth, inside, v))


def utilities(truth: Credits, inside: BoolArray, v: float) -> FloatArray:
    """Utility (n,) of each answer, v that of a right pair."""
    return credit_of_sets(truth, inside) * worths(inside, v)


def worths(inside: BoolArray, v: float) -> FloatArray:
    """Utility (n,) of each answer if it is right: one for a class, v for a pair."""
    x = 1.0 / np.maximum(row_sum(inside), 1)
    return (4 * v - 1) * x - (4 * v - 2) * x * x


def set_coverage(
    y_true: Truth,
    y_pred: ArrayLike | Decision,
    sample_weight: ArrayLike | None = None,
    classes: Classes = None,
) -> float:
    """Share of answers that hold the truth. Parameters as for `utility_discounted_accuracy`.

    Examples
    --------
    >>> set_coverage(["a", "b"], [[True, True], [True, False]])
    0.5
    """
    truth, inside = _read(y_true, y_pred, sample_weight, classes)
    return truth.mean(credit_of_sets(truth, inside))


@dataclass(frozen=True, eq=False)
class SetSizes:
    """Answers that are sets, by their size, and how many of them hold the truth.

    Attributes
    ----------
    size : array (K + 1,), from 0 (refusals) to K (all classes)
    share : array (K + 1,), of the answers, by sample weight
    coverage : array (K + 1,)
        Share of the answers of this size that hold the truth, by the weight of the truth; NaN
        where there are none whose truth says something.
    overall : float
        `set_coverage` of all answers.

    Examples
    --------
    >>> found = set_sizes(["a", "b"], [[True, True], [True, False]])
    >>> found.share, found.mean_size, found.overall
    (array([0. , 0.5, 0.5]), 1.5, 0.5)
    """

    size: NDArray[np.int64]
    share: FloatArray
    coverage: FloatArray
    overall: float

    @property
    def mean_size(self) -> float:
        """Mean size of the answers; refusals are left out."""
        answered = self.share[1:].sum()
        return float(self.size @ self.share / answered) if answered > 0 else 0.0


def set_sizes(
    y_true: Truth,
    y_pred: ArrayLike | Decision,
    sample_weight: ArrayLike | None = None,
    classes: Classes = None,
) -> SetSizes:
    """How large answers are, and how many of each size hold the truth.

    Parameters as for `utility_discounted_accuracy`.

    Examples
    --------
    >>> sets = [[True, False, False], [True, True, False], [False, True, True]]
    >>> found = set_sizes(["a", "b", "a"], sets, classes=["a", "b", "c"])
    >>> found.share.round(2), found.coverage
    (array([0.  , 0.33, 0.67, 0.  ]), array([nan, 1. , 0.5, nan]))
    """
    truth, inside = _read(y_true, y_pred, sample_weight, classes)
    size = row_sum(inside)
    n_sizes = inside.shape[1] + 1
    weight = truth.weight * truth.sample_weight
    held = np.bincount(size, weight * credit_of_sets(truth, inside), minlength=n_sizes)
    total = np.bincount(size, weight, minlength=n_sizes)
    share = np.bincount(size, truth.sample_weight, minlength=n_sizes)
    return SetSizes(
        size=np.arange(n_sizes),
        share=share / max(share.sum(), np.finfo(np.float64).tiny),
        coverage=np.divide(held, total, out=np.full(n_sizes, np.nan), where=total > 0),
        overall=truth.mean(credit_of_sets(truth, inside)),
    )


def set_imprecision(y_pred: ArrayLike | Decision, sample_weight: ArrayLike | None = None) -> float:
    """Mean size of answers that are sets (n, K), scaled: 0 for one class, 1 for all classes.

    Refusals (empty sets) are left out.

    Examples
    --------
    >>> set_imprecision([[True, True, False], [True, False, False]])
    0.25
    """
    chosen = as_array(y_pred.chosen if isinstance(y_pred, Decision) else y_pred, "Sets")
    if isinstance(y_pred, Decision) and y_pred.offers_refusal:
        chosen = chosen[..., :-1] & ~chosen[..., -1:]
    if chosen.ndim != 2 or chosen.dtype != bool:
        raise InputError(
            "Sets should be a bool array (n, K)",
            f"came as {chosen.dtype} of shape {chosen.shape}",
            "use predict_set or decide",
            value=chosen.shape,
        )
    weights = read_weights(sample_weight, len(chosen)) * row_any(chosen)
    return float(np.average(sizes(chosen), weights=weights)) if weights.sum() > 0.0 else 0.0


def sizes(inside: BoolArray) -> FloatArray:
    """Size (n,) of each set, scaled: 0 for one class, 1 for all classes."""
    return (row_sum(inside) - 1) / max(inside.shape[1] - 1, 1)


@dataclass(frozen=True, eq=False)
class RejectionCurve:
    """Accuracy among the most confident answers, as more are refused.

    Attributes
    ----------
    rejected : array, share of the weight refused, from 0 on
    accuracy : array, soft accuracy of the rest
    threshold : array, smallest confidence that is still answered

    Examples
    --------
    >>> curve = rejection_curve(["a", "b"], [[0.9, 0.1], [0.6, 0.4]])
    >>> curve.area
    0.75
    """

    rejected: FloatArray
    accuracy: FloatArray
    threshold: FloatArray

    @property
    def area(self) -> float:
        """Mean accuracy over all shares of refusals: the higher, the better it knows its limits."""
        steps = np.diff(np.append(self.rejected, 1.0))
        return float(steps @ self.accuracy)


def rejection_curve(
    y_true: Truth,
    prediction: Prediction,
    sample_weight: ArrayLike | None = None,
    classes: Classes = None,
) -> RejectionCurve:
    """Accuracy against the share of refused answers, the least confident refused first.

    Parameters
    ----------
    y_true : Labels, or all that `as_labels` takes
    prediction : as for `soft_log_loss`
    sample_weight, classes
        As for `soft_log_loss`. Rows that say nothing are left out.

    Examples
    --------
    >>> curve = rejection_curve(["a", "b"], [[0.9, 0.1], [0.6, 0.4]])
    >>> curve.rejected, curve.accuracy
    (array([0. , 0.5]), array([0.5, 1. ]))
    """
    rows = read_confidence(y_true, prediction, sample_weight, classes)
    if rows.weight.sum() == 0.0:
        raise InputError(
            "A rejection curve needs labels that say something",
            "none does",
            "label some items",
        )
    confidence, right, weight = rows.take(np.flatnonzero(rows.weight))
    order = np.argsort(confidence, kind="stable")
    # Ties in confidence are refused together.
    first = np.flatnonzero(np.diff(confidence[order], prepend=-1.0))
    kept = weight[order][::-1].cumsum()[::-1]
    good = (weight * right)[order][::-1].cumsum()[::-1]
    return RejectionCurve(
        rejected=1.0 - kept[first] / kept[0],
        accuracy=good[first] / kept[first],
        threshold=confidence[order][first],
    )


def _read(
    y_true: Truth,
    y_pred: ArrayLike | Decision,
    sample_weight: ArrayLike | None,
    classes: Classes,
) -> tuple[Credits, BoolArray]:
    truth = read_truth(y_true, sample_weight, classes_of_answers(y_pred, classes))
    return truth, read_answers(y_pred, truth.labels, classes)


def credit_of_sets(truth: Credits, inside: BoolArray) -> FloatArray:
    """Credit of the best class in each set: how far the set is known to hold the truth."""
    return row_max(np.where(inside, truth.credit, 0.0))
