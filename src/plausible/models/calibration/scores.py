"""Scores of classifiers for calibration: of any scikit-learn classifier, on rows it has not seen.

An estimator of this library learns from labels as they are. Any other learns from the most
plausible class of each row, with the weight by which it is more plausible than the next one; rows
in which several classes are most plausible are left out.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from plausible.base import takes_labels
from plausible.checks import as_list, check_whole, row_numbers, shown
from plausible.labels import Labels

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LEAST_PROBABILITY = 1e-6  # below which probabilities count as this in log odds
LARGEST_SCORE = 1e6


def weighting(estimator: Any, weight: FloatArray) -> dict[str, FloatArray]:
    """Sample weights as a parameter of fit; none for equal ones or where they are not taken."""
    if (weight == 1.0).all():
        return {}
    if isinstance(estimator, Pipeline):
        inner = weighting(estimator[-1], weight)
        return {f"{estimator.steps[-1][0]}__{name}": given for name, given in inner.items()}
    return {"sample_weight": weight} if has_fit_parameter(estimator, "sample_weight") else {}


def take_rows(X: Any, rows: NDArray[Any]) -> Any:
    """Rows of an array, a sparse matrix or a data frame, by numbers or a mask."""
    numbers = np.flatnonzero(rows) if rows.dtype == bool else rows
    return X.iloc[numbers] if hasattr(X, "iloc") else X[numbers]


def margin(contour: FloatArray) -> FloatArray:
    """By how much the most plausible class of each row exceeds the next one, relative to it."""
    ranked = np.sort(contour, axis=1)
    return 1.0 - ranked[:, -2] / ranked[:, -1]


def fit_scorer(
    estimator: Any, X: Any, contour: FloatArray, classes: NDArray[Any], weight: FloatArray
) -> Any:
    """Fit a copy of the estimator; None where less than two classes are favoured by any row."""
    favour = weight * margin(contour)
    best = contour.argmax(axis=1)
    if len(np.unique(best[favour > 0.0])) < 2:
        return None
    y: Any
    if takes_labels(estimator):
        y = Labels.from_plausibility(contour, classes=classes.tolist())
        kept, given = weight > 0.0, weight
    else:
        y, kept, given = classes[best], favour > 0.0, favour
    weights = weighting(estimator, given[kept])
    return clone(estimator).fit(take_rows(X, kept), y[kept], **weights)


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
        raise ValueError(
            f"Scores should have one column for each of the {len(known)} classes, but those of "
            f"{type(model).__name__} are for pairs or have shape {given.shape}; use "
            "scores='pairs', or decision_function_shape='ovr'."
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


def content_folds(X: Any, contour: FloatArray, weight: FloatArray, most: int) -> IntArray:
    """Folds (n,) that depend on what rows hold, and not on their order or repetition.

    Rows that favour one class are dealt out in the order of their features, so that all folds
    cover the same range; equal rows go to one fold. There are at most as many folds as distinct
    rows of a class, not counting classes with a single one.
    """
    rank, n_groups = row_ranks(X)
    scaled = contour / contour.max(axis=1, keepdims=True)
    said = weight[:, None] * (scaled - scaled.min(axis=1, keepdims=True))
    total = np.array([np.bincount(rank, column, n_groups) for column in said.T]).T
    best = total >= total.max(axis=1, keepdims=True) * (1.0 - 1e-9)
    strata, stratum = np.unique(best, axis=0, return_inverse=True)
    counts = np.bincount(stratum.ravel())[strata.sum(axis=1) == 1]
    n_folds = min([most, *counts[counts > 1].tolist()])
    order = np.argsort(stratum.ravel(), kind="stable")
    starts = np.cumsum(np.bincount(stratum.ravel())) - np.bincount(stratum.ravel())
    fold = np.empty(n_groups, dtype=np.int64)
    fold[order] = (np.arange(n_groups) - starts[stratum.ravel()[order]]) % n_folds
    return fold[rank]


def row_ranks(X: Any) -> tuple[IntArray, int]:
    """Place (n,) of each row among the distinct rows in a fixed order, and their number."""
    if hasattr(X, "toarray"):
        rows = [X[[i]] for i in range(X.shape[0])]
        keys = [(row.indices.tobytes(), row.data.tobytes()) for row in rows]
        place = {key: number for number, key in enumerate(sorted(set(keys)))}
        return np.array([place[key] for key in keys]), len(place)
    if hasattr(X, "columns"):  # a frame, which may hold names as well as numbers
        columns = [np.asarray(X[name]) for name in X.columns]
        X = np.stack([ranks(column) for column in columns], axis=1)
    distinct, rank = np.unique(X + 0.0, axis=0, return_inverse=True)
    return rank.ravel().astype(np.int64), len(distinct)


def ranks(column: NDArray[Any]) -> IntArray:
    """Place (n,) of each entry among the distinct ones; as text where they have no order."""
    try:
        return np.unique(column, return_inverse=True)[1]
    except (TypeError, ValueError):
        return np.unique(list(map(str, column.tolist())), return_inverse=True)[1]


def is_splitter(cv: Any) -> bool:
    """Whether cv makes folds of its own, as those of scikit-learn do; text, too, has a split."""
    return hasattr(cv, "split") and hasattr(cv, "get_n_splits") and not isinstance(cv, type)


def check_splits(cv: Any, n_rows: int) -> list[tuple[Any, Any]]:
    """Splits that are listed as pairs of row numbers to train and to test on."""
    remedy = "a number of folds, a splitter, or pairs of rows to train and to test on"
    pairs = [as_list(pair, "Each split", "two") for pair in as_list(cv, "cv", remedy)]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"cv should be {remedy}, but {shown(cv)} was given; give a number.")
    return [tuple(row_numbers(part, n_rows, "Rows of cv") for part in pair) for pair in pairs]


def given_folds(cv: Any, X: Any, labels: Labels) -> IntArray | None:
    """Folds (n,) of a splitter, -1 for rows that are never tested; None for a number of folds."""
    if isinstance(cv, (int, np.integer)):
        check_whole(cv, "cv", 2)
        return None
    if cv is not None and not is_splitter(cv):
        cv = check_splits(cv, len(labels))
    folds = np.full(len(labels), -1)
    splits = check_cv(cv, labels.crisp(), classifier=True).split(X, labels.crisp())
    for fold, (_, test) in enumerate(splits):
        if (folds[test] >= 0).any():
            raise ValueError(
                f"cv should test every row once, but row {test[folds[test] >= 0][0]} is tested "
                "twice; use a splitter without repetitions."
            )
        folds[test] = fold
    return folds
