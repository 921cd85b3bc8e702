"""Scores for calibration: of any classifier of scikit-learn, on rows that it has not seen."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models.learners import fit_learner, margin, take_rows

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LEAST_PROBABILITY = 1e-6  # below which probabilities count as this in log odds
LARGEST_SCORE = 1e6


def fit_scorer(
    estimator: Any, X: Any, contour: FloatArray, classes: NDArray[Any], weight: FloatArray
) -> Any:
    """Fit a copy of the estimator; None where less than two classes are favored by any row."""
    favored = weight * margin(contour) > 0.0
    if len(np.unique(contour[favored].argmax(axis=1))) < 2:
        return None
    labels = Labels.from_plausibility(contour, classes=classes.tolist())
    return fit_learner(estimator, X, labels, weight)


def class_scores(model: Any, X: Any, classes: NDArray[Any]) -> FloatArray:
    """A score (n, K) for each class, of which differences count; NaN for classes unknown to it.

    The decision function, or the logarithm of the probability.
    """
    n_rows, known = X.shape[0], np.asarray(model.classes_)
    if hasattr(model, "decision_function"):
        given = np.asarray(model.decision_function(X), dtype=np.float64)
        if given.ndim == 1:
            given = np.column_stack([np.zeros(n_rows), given])
    else:
        given = np.asarray(model.predict_proba(X), dtype=np.float64)
        given = np.log(np.maximum(given, LEAST_PROBABILITY))
    one_each = getattr(model, "decision_function_shape", "ovr") != "ovo" or len(known) == 2
    if given.shape != (n_rows, len(known)) or not one_each:
        raise InputError(
            f"Scores should have one column for each of the {len(known)} classes",
            f"those of {type(model).__name__} are for pairs or have shape {given.shape}",
            ("use {scores}", "decision_function_shape='ovr' of that classifier"),
            value=given.shape,
            settings={"scores": "pairs"},
        )
    scores = np.full((n_rows, len(classes)), np.nan)
    place = {name: k for k, name in enumerate(known.tolist())}
    for k, name in enumerate(classes.tolist()):
        if name in place:
            scores[:, k] = np.clip(given[:, place[name]], -LARGEST_SCORE, LARGEST_SCORE)
    return scores


def difference(scores: FloatArray, first: int, second: int) -> FloatArray:
    """Score (n,) of the second class against the first; zero where one is unknown."""
    return np.nan_to_num(scores[:, second] - scores[:, first], nan=0.0)


def out_of_fold(
    estimator: Any,
    X: Any,
    contour: FloatArray,
    classes: NDArray[Any],
    weight: FloatArray,
    folds: IntArray,
) -> FloatArray:
    """Scores (n, K) of each row by a classifier that has not seen its fold; NaN for fold -1."""
    scores = np.full(contour.shape, np.nan)
    for fold in np.unique(folds[folds >= 0]):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        part = take_rows(X, train)
        model = fit_scorer(estimator, part, contour[train], classes, weight[train])
        if model is not None:
            scores[test] = class_scores(model, take_rows(X, test), classes)
    return scores
