"""What classifiers believe about rows that they have not seen, with degrees kept in training."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import check_cv
from sklearn.utils.parallel import Parallel, delayed

from plausible.base import Beliefs, believe, check_labels_and_weights, count_rows
from plausible.belief import concatenate
from plausible.checks import as_array, check_n_jobs, check_whole, is_whole
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models.ensemble.members import bets_of, check_members
from plausible.models.folds import check_splits, is_splitter
from plausible.models.learners import fit_learner, take_rows

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def _fit_part(estimator: Any, X: Any, labels: Labels, weight: FloatArray, train: IntArray) -> Any:
    """Fit a copy of the estimator to some of the rows."""
    return fit_learner(estimator, take_rows(X, train), labels[train], weight[train])


def bets_out_of_fold(
    estimator: Any, X: Any, labels: Labels, weight: FloatArray, folds: IntArray
) -> FloatArray:
    """Bets (n, K) on each row by a classifier that has not seen its fold; NaN for fold -1."""
    bets = np.full(labels.contour.shape, np.nan)
    for fold in np.unique(folds[folds >= 0]):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        model = _fit_part(estimator, X, labels, weight, train)
        bets[test] = bets_of(model, take_rows(X, test), labels.classes)
    return bets


def _believed_part(
    estimator: Any,
    X: Any,
    labels: Labels,
    weight: FloatArray,
    train: IntArray,
    test: IntArray,
) -> Beliefs:
    """What a classifier of some rows believes about others, on all classes."""
    model = _fit_part(estimator, X, labels, weight, train)
    items = take_rows(X, test)
    beliefs = believe(model, items)
    if beliefs.classes.tolist() == labels.classes.tolist():
        return beliefs
    return Beliefs.from_probability(bets_of(model, items, labels.classes), labels.classes)


def joined(parts: list[Beliefs]) -> Beliefs:
    """Beliefs about several groups of items, one after the other."""
    masses = [part.given_masses for part in parts if part.given_masses is not None]
    if len(masses) == len(parts):
        return Beliefs(parts[0].classes, given_masses=concatenate(masses))
    return Beliefs.from_probability(
        np.concatenate([part.probability for part in parts]), parts[0].classes
    )


def cross_val_beliefs(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Beliefs:
    """What a classifier believes about each row, when it learns from the rows of other folds.

    The answer of this library to ``cross_val_predict(..., method="predict_proba")``, which learns
    from hard classes, and takes unknown rows for a class.

    Parameters
    ----------
    estimator : classifier
        One that takes `Labels` learns from them as they are, any other from the most plausible
        class of each row, weighted (if it takes sample weights) by how far it is more plausible
        than the next.
    X : array-like (n, d)
    y : Labels, or all that `as_labels` takes
    cv : int or splitter
        Each row must be tested once. A number of folds is stratified by the most plausible classes.
    groups : array-like (n,), optional
        For splitters that keep groups together.
    sample_weight : array-like (n,), optional
        For classifiers that take it.
    n_jobs : int, optional
        How many folds are worked on at the same time.

    Returns
    -------
    Beliefs
        About the rows in their order, on sorted classes: masses where all folds give them, else
        bets.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from plausible.models import SoftNearestCentroid
    >>> X, y = load_iris(return_X_y=True)
    >>> doubted = Labels.from_doubt(y, doubt=np.where(np.arange(150) % 3, 0.4, 1.0))
    >>> beliefs = cross_val_beliefs(SoftNearestCentroid(), X, doubted)
    >>> beliefs.probability[[0, 70]].round(2)
    array([[1.  , 0.  , 0.  ],
           [0.  , 0.54, 0.46]])
    """
    check_members([estimator])
    check_n_jobs(n_jobs)
    X = X if hasattr(X, "shape") else as_array(X, "X")
    labels, weight = check_labels_and_weights(estimator, y, sample_weight, count_rows(X), X)
    shown = labels.crisp()
    if is_whole(cv):
        check_whole(cv, "cv", 2)
    elif cv is not None and not is_splitter(cv):
        cv = check_splits(cv, len(labels))
    splits = list(check_cv(cv, shown, classifier=True).split(X, shown, groups))
    order = np.concatenate([test for _, test in splits])
    if not np.array_equal(np.sort(order), np.arange(len(labels))):
        raise InputError(
            f"cv should test each of the {len(labels)} rows once",
            f"tests {len(order)} rows, of which {len(np.unique(order))} are different",
            "use a splitter such as KFold",
            parameter="cv",
        )
    parts = Parallel(n_jobs=n_jobs)(
        delayed(_believed_part)(estimator, X, labels, weight, train, test) for train, test in splits
    )
    return joined(parts)[np.argsort(order)]
