"""Scores of answers: classes, sets of classes, probabilities."""

import numpy as np
from numpy.typing import ArrayLike

from plausible.belief import Decision
from plausible.labels import Labels
from plausible.metrics.truth import BoolArray, read_truth


def soft_accuracy(
    y_true: Labels | ArrayLike,
    y_pred: ArrayLike | Decision,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of right answers, where each row counts as much as its label says.

    Examples
    --------
    >>> truth = Labels.from_doubt(["a", "b", "a"], doubt=[0.0, 0.0, 1.0])
    >>> soft_accuracy(truth, ["a", "a", "b"])  # the last label says nothing
    0.5
    """
    answered = None if isinstance(y_pred, Decision) else np.asarray(y_pred)
    classes = np.unique(answered) if answered is not None and answered.ndim == 1 else None
    truth = read_truth(y_true, sample_weight, classes)
    inside = answered_sets(y_pred, truth.labels)
    size = np.maximum(inside.sum(axis=1), 1)
    return truth.mean((truth.credit * inside).sum(axis=1) / size)


def answered_sets(y_pred: ArrayLike | Decision, labels: Labels) -> BoolArray:
    """Answers as sets of classes (n, K): one class, several, or none for a refusal."""
    if isinstance(y_pred, Decision):
        answered: BoolArray = y_pred.chosen
        if y_pred.offers_refusal:
            answered = answered[..., :-1] & ~answered[..., -1:]
    else:
        given = np.asarray(y_pred)
        answered = (
            given if given.dtype == bool and given.ndim == 2 else (given[:, None] == labels.classes)
        )
    if answered.shape != labels.contour.shape:
        raise ValueError(
            f"Answers should be one for each of the {len(labels)} items, over {labels.n_classes} "
            f"classes, but have shape {answered.shape}; give classes (n,), a bool array (n, K), or "
            "a Decision."
        )
    return answered
