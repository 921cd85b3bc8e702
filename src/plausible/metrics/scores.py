r"""Scores of classes and of probabilities.

With scaled plausibilities s, credits c and weights w of `plausible.metrics.truth`, and predicted
probabilities p:

============================  ==================================================================
soft accuracy                 mean credit of the answer
soft log-loss                 :math:`\sum_i -\log \sum_k s_{ik} p_{ik} / \sum_i w_i`
soft Brier score              mean squared error when the truth is drawn by credit
expected calibration error    mean gap between confidence and credit
C1                            :math:`1 - \frac{1}{n} \sum_i \sum_k p_{ik} pl_{ik}`
============================  ==================================================================

References
----------
P. Vannoorenberghe, Reasoning with unlabeled samples and belief functions (equations 10-14: C1).
E. Come, L. Oukhellou, T. Denoeux, P. Aknin, Mixture model estimation with soft labels, 2008
(the generalized likelihood).
"""

import numpy as np
from numpy.typing import ArrayLike

from plausible.belief import Decision
from plausible.checks import check_whole
from plausible.errors import InputError
from plausible.metrics.confidence import MAX_BINS, read_confidence
from plausible.metrics.truth import (
    BoolArray,
    Classes,
    Credits,
    FloatArray,
    Prediction,
    Truth,
    classes_of,
    classes_of_answers,
    read_answers,
    read_probabilities,
    read_truth,
    read_weights,
)
from plausible.short_rows import row_sum

_SMALLEST = np.finfo(np.float64).eps  # as in scikit-learn's log_loss


def soft_accuracy(
    y_true: Truth,
    y_pred: ArrayLike | Decision,
    sample_weight: ArrayLike | None = None,
    classes: Classes = None,
) -> float:
    """Share of right answers, where each row counts as much as its label says.

    Parameters
    ----------
    y_true : Labels, or all that `as_labels` takes
    y_pred : array-like (n,) of classes, bool array (n, K) of sets, or Decision
        An answer that is a set gets the mean credit of its classes, a refusal none.
    sample_weight : array-like (n,), optional
    classes : sequence, optional
        What the columns of sets are; needed where the classes of `y_true` are not sorted.

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> truth = Labels.from_doubt(["a", "b", "a"], doubt=[0.0, 0.0, 1.0])
    >>> soft_accuracy(truth, ["a", "a", "b"])  # the last label says nothing
    0.5
    """
    truth = read_truth(y_true, sample_weight, classes_of_answers(y_pred, classes))
    return truth.mean(accuracies(truth, read_answers(y_pred, truth.labels, classes)))


def accuracies(truth: Credits, inside: BoolArray) -> FloatArray:
    """Mean credit (n,) of the classes of each answer."""
    return row_sum(truth.credit * inside) / np.maximum(row_sum(inside), 1)


def soft_log_loss(
    y_true: Truth,
    prediction: Prediction,
    sample_weight: ArrayLike | None = None,
    classes: Classes = None,
) -> float:
    """Log-loss of probabilities against imprecise truth: scikit-learn's on hard labels.

    Parameters
    ----------
    y_true : Labels, or all that `as_labels` takes
    prediction : Beliefs, Labels, data frame or array-like (n, K) of probabilities, SparseMasses
        Of masses BetP is scored. `model.believe(X)` knows its classes; an array does not.
    sample_weight : array-like (n,), optional
    classes : sequence, optional
        What the columns of an array are, for example ``model.classes_``; needed where the classes
        of `y_true` are not sorted, since estimators sort theirs.

    Examples
    --------
    >>> p = [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    >>> round(soft_log_loss([{"a"}, {"a", "b"}, {"c"}], p), 4)
    0.231
    """
    truth = read_truth(y_true, sample_weight, classes_of(prediction, classes))
    return truth.ratio(log_losses(truth, read_probabilities(prediction, truth.labels, classes)))


def log_losses(truth: Credits, p: FloatArray) -> FloatArray:
    """Log-loss (n,) of each row, zero where nothing is known."""
    likelihood = row_sum(truth.labels.scaled() * p)
    return -np.log(np.clip(likelihood, _SMALLEST, 1.0))


def generalized_log_likelihood(
    y_true: Truth, prediction: Prediction, classes: Classes = None
) -> float:
    """Sum over rows of log sum_k pl_ik p_ik, the criterion that estimators maximize.

    Examples
    --------
    >>> round(generalized_log_likelihood([{"a"}, {"a", "b"}], [[0.5, 0.5], [0.5, 0.5]]), 4)
    -0.6931
    """
    truth = read_truth(y_true, None, classes_of(prediction, classes))
    p = read_probabilities(prediction, truth.labels, classes)
    return float(np.log(row_sum(truth.labels.contour * p)).sum())


def soft_brier_score(
    y_true: Truth,
    prediction: Prediction,
    sample_weight: ArrayLike | None = None,
    classes: Classes = None,
) -> float:
    """Mean squared error of probabilities, sum over classes, the truth drawn by its credit.

    For two classes this is twice the default of scikit-learn's `brier_score_loss`. Parameters as
    for `soft_log_loss`.

    Examples
    --------
    >>> soft_brier_score(["a", "b"], [[1.0, 0.0], [0.5, 0.5]])
    0.25
    """
    truth = read_truth(y_true, sample_weight, classes_of(prediction, classes))
    return truth.mean(brier_scores(truth, read_probabilities(prediction, truth.labels, classes)))


def brier_scores(truth: Credits, p: FloatArray) -> FloatArray:
    """Squared error (n,) of each row, the truth drawn by its credit."""
    total = row_sum(truth.credit)[:, None]
    drawn = truth.credit / np.where(total > 0.0, total, 1.0)
    # sum_k t_k |p - e_k|^2 = |p|^2 - 2 p.t + 1
    return row_sum(p * p) - 2.0 * row_sum(p * drawn) + 1.0


def expected_calibration_error(
    y_true: Truth,
    prediction: Prediction,
    n_bins: int = 10,
    sample_weight: ArrayLike | None = None,
    classes: Classes = None,
) -> float:
    """Gap between the confidence in the most probable class and how often it is right.

    Rows are grouped by confidence into `n_bins` bins of equal width; the gaps between mean
    confidence and mean credit are averaged over the bins by weight. Other parameters as for
    `soft_log_loss`.

    Examples
    --------
    >>> expected_calibration_error(["a", "b"], [[0.75, 0.25], [0.75, 0.25]])
    0.25
    """
    check_whole(n_bins, "n_bins", 1, MAX_BINS)
    rows = read_confidence(y_true, prediction, sample_weight, classes)
    if rows.weight.sum() == 0.0:
        truth = read_truth(y_true, sample_weight, classes_of(prediction, classes))
        return truth.mean(rows.confidence)  # undefined, with a warning
    return float(np.abs(rows.gaps(n_bins)).sum() / rows.weight.sum())


def c1_losses(y_true: Truth, prediction: Prediction, classes: Classes = None) -> FloatArray:
    """Loss 1 - sum_k p_k pl_k of each item (Vannoorenberghe, equation 13); 0 for unknown truth.

    Examples
    --------
    >>> c1_losses([{"a"}, {"a", "b"}], [[0.75, 0.25], [0.75, 0.25]])
    array([0.25, 0.  ])
    """
    truth = read_truth(y_true, None, classes_of(prediction, classes))
    p = read_probabilities(prediction, truth.labels, classes)
    return 1.0 - row_sum(truth.labels.contour * p)


def c1_loss(
    y_true: Truth,
    prediction: Prediction,
    sample_weight: ArrayLike | None = None,
    classes: Classes = None,
) -> float:
    """C1: mean of `c1_losses`.

    Linear in the probabilities and so no proper score: use it to compare, leave-one-out, as its
    author did, and not to calibrate. Parameters as for `soft_log_loss`.

    Examples
    --------
    >>> c1_loss([{"a"}, {"a", "b"}], [[0.75, 0.25], [0.75, 0.25]])
    0.125
    """
    losses = c1_losses(y_true, prediction, classes)
    weights = read_weights(sample_weight, len(losses))
    if not weights.any():
        raise InputError(
            "C1 needs some sample weight",
            "all weights are zero",
            "drop the argument",
        )
    return float(np.average(losses, weights=weights))
