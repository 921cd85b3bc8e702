"""Evidential calibration of rows that are not in memory.

Few rows are brought into memory. Of many, each fold is learned from in passes of its own, folds
are known from what a row holds, and calibrations are sums over scores (see `panels`).
"""

from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from plausible.base import fill, order_of_labels, takes_labels, training_rows
from plausible.checks import is_whole
from plausible.engine import Columns, Rows, take
from plausible.errors import InputError
from plausible.labels import Labels, as_labels
from plausible.models.calibration.panels import calibrate_rows
from plausible.models.calibration.scores import class_scores, difference
from plausible.models.dealing import (
    MANY_ROWS,
    Dealt,
    Rarest,
    dealt_by,
    hash_rows,
    rarest_of,
)
from plausible.models.gaussian import DiscriminantClassifier
from plausible.models.learners import margin

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


# What is made of a chunk.


def _weighted(columns: Columns) -> Columns:
    """Features, contours scaled to one, and weights, of which there are some."""
    X, contour, weight, *_ = (*columns, None)
    assert X is not None
    assert contour is not None
    weight = np.ones(len(X)) if weight is None else weight
    return X, contour / contour.max(axis=1, keepdims=True), weight


def _counts(columns: Columns) -> IntArray:
    """Zero for rows with a weight; others are left out."""
    assert columns[2] is not None
    return np.where(columns[2] > 0.0, 0, -1)


def _sums(columns: Columns) -> tuple[int, float, int]:
    """Rows that count, their weight, and those that say something."""
    _, contour, weight = columns
    assert contour is not None
    assert weight is not None
    says = (contour.min(axis=1) < 1.0) & (weight > 0.0)
    return int((weight > 0.0).sum()), float(weight.sum()), int(says.sum())


def _of_pair(columns: Columns, pair: IntArray) -> Columns:
    """What rows say about a pair of classes, as in `about_pair`; others have no weight."""
    first, contour, weight = columns[:3]
    assert contour is not None
    assert weight is not None
    inside = contour[:, pair]
    share = weight * inside.sum(axis=1) / contour.sum(axis=1)
    best = np.maximum(inside.max(axis=1, keepdims=True), 1e-300)
    return first, np.where(share[:, None] > 0.0, inside / best, 1.0), share


def _as_given(columns: Columns, pair: IntArray | None) -> Columns:
    """What rows say about a pair of classes, or about all."""
    return columns if pair is None else _of_pair(columns, pair)


def _rarest_by_pair(columns: Columns, pairs: list[IntArray | None]) -> list[Rarest]:
    """Least hashes of rows that favor each class, for each of several pairs."""
    assert columns[0] is not None
    hashes = hash_rows(columns[0])
    given = [_as_given(columns, pair) for pair in pairs]
    return [rarest_of(hashes, contour, weight) for _, contour, weight in given]  # type: ignore[arg-type]


def _favored_by_fold(
    columns: Columns, pairs: list[IntArray | None], dealt: list[Dealt]
) -> list[FloatArray]:
    """How far rows favor each class, by fold (n_folds, K), for each of several pairs."""
    assert columns[0] is not None
    hashes = hash_rows(columns[0])
    return [
        np.stack([_favored(_as_given(take(columns, rows), pair)) for rows in _rows_by(fold)])
        for pair, fold in zip(pairs, ((one.of(hashes), one.n_folds) for one in dealt), strict=True)
    ]


def _rows_by(fold: tuple[IntArray, int]) -> list[IntArray]:
    """Numbers of the rows of each fold."""
    return [np.flatnonzero(fold[0] == number) for number in range(fold[1])]


def _code_of_fold(columns: Columns, dealt: Dealt, fold: int) -> IntArray:
    """Zero for rows of other folds, -1 for those of this one."""
    assert columns[0] is not None
    return np.where(dealt(columns[0]) != fold, 0, -1)


def _favored(columns: Columns) -> FloatArray:
    """How far rows favor each class."""
    _, contour, weight = columns
    assert contour is not None
    assert weight is not None
    given = weight * margin(contour)
    best = contour.argmax(axis=1)
    return np.bincount(best, given, contour.shape[1]).astype(np.float64)


def _scored(columns: Columns, models: list[Any], dealt: Dealt | None, classes: Any) -> Columns:
    """Scores (n, K) by the model that has not seen the row, contours and weights."""
    X, contour, weight = columns
    assert X is not None
    assert contour is not None
    fold = np.zeros(len(X), dtype=np.int64) if dealt is None else dealt(X)
    scores = np.full((len(X), len(classes)), np.nan)
    for number, model in enumerate(models):
        rows = np.flatnonzero(fold == number)
        if model is not None and len(rows):
            scores[rows] = class_scores(model, X[rows], classes)
    return scores, contour, weight


def _difference(columns: Columns, pair: IntArray) -> Columns:
    """The score of the second class of a pair against the first, where rows count."""
    scores, contour, weight = columns
    assert scores is not None
    return difference(scores, *pair), contour, weight


# Fits.


class Folds(NamedTuple):
    """How rows are dealt out, and how far those of each fold favor each class (n_folds, K)."""

    dealt: Dealt
    favored: FloatArray


def _deal_all(rows: Rows, pairs: list[IntArray | None], n_folds: int) -> list[Folds]:
    """Folds for each of several pairs of classes (None for all classes), in two passes for all."""
    rarest: list[Rarest] = rows.reduce(_rarest_by_pair, pairs)
    dealt = [dealt_by(one, n_folds) for one in rarest]
    return list(map(Folds, dealt, rows.reduce(_favored_by_fold, pairs, dealt)))


def fit_rows(estimator: Any, rows: Rows, classes: NDArray[Any], favored: FloatArray) -> Any:
    """A copy of the estimator fitted to rows; None where less than two classes are favored."""
    if (favored > 0.0).sum() < 2:
        return None
    plain = rows.map(_as_they_are)
    plain.classes, plain.has_shares = classes.tolist(), False
    return clone(estimator).fit(plain)


def _as_they_are(columns: Columns) -> Columns:
    return columns


def _fit_folds(estimator: Any, rows: Rows, classes: NDArray[Any], folds: Folds) -> tuple[Any, Rows]:
    """A model of all rows, and rows of scores by models of other folds."""
    dealt, favored = folds
    models = []
    for fold in range(dealt.n_folds):
        train = rows.arrange(partial(_code_of_fold, dealt=dealt, fold=fold))
        others = np.delete(favored, fold, axis=0).sum(axis=0)
        models.append(fit_rows(estimator, train, classes, others))
    whole = fit_rows(estimator, rows, classes, favored.sum(axis=0))
    scored = rows.map(partial(_scored, models=models, dealt=dealt, classes=classes))
    return whole, scored.kept()


def learn_elsewhere(model: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Fit a calibrated classifier to rows or Dask collections."""
    training = training_rows(model, X, y, sample_weight)
    rows, classes = training.rows.map(_weighted), training.classes
    count, weight, said = rows.reduce(_sums)
    if count <= MANY_ROWS:
        data, contour, given = fill(rows)
        assert contour is not None
        labels = Labels(contour, classes)
        model._learn(data, labels.reorder(order_of_labels(model) or classes.tolist()), given)
        return
    model._check_sums(weight, said)
    estimator = DiscriminantClassifier() if model.estimator is None else model.estimator
    frozen = isinstance(estimator, FrozenEstimator)
    if not frozen:
        _refuse_in_memory(estimator, model.cv)
    rows = rows.arrange(_counts).kept()
    rows, classes = _known_rows(estimator, rows, classes) if frozen else (rows, classes)
    model._set_classes(classes)
    _fit_all(model, estimator, rows, frozen)


def _fit_all(model: Any, estimator: Any, rows: Rows, frozen: bool) -> None:
    """The classifiers, and a calibration for each pair."""
    classes, joint = model.classes_, None
    model.estimators_, model.calibrations_ = [], []
    if frozen:
        model.estimators_ = [estimator]
        joint = rows.map(partial(_scored, models=[estimator], dealt=None, classes=classes)).kept()
    elif model.scores == "classes":
        (folds,) = _deal_all(rows, [None], model.cv)
        whole, joint = _fit_folds(estimator, rows, classes, folds)
        model.estimators_ = [whole]
    pairs = list(model.pairs_)
    dealt = _deal_all(rows, pairs, model.cv) if joint is None and pairs else []
    for number, pair in enumerate(pairs):
        if joint is None:
            own = rows.map(partial(_of_pair, pair=pair)).arrange(_counts)
            whole, scored = _fit_folds(estimator, own, classes[pair], dealt[number])
            model.estimators_.append(whole)
            scored = scored.map(partial(_difference, pair=np.array([0, 1])))
        else:
            scored = joint.map(partial(_pair_of_joint, pair=pair)).arrange(_counts)
        model.calibrations_.append(calibrate_rows(scored, model.smoothing))


def _pair_of_joint(columns: Columns, pair: IntArray) -> Columns:
    """Scores, contours and weights of a pair, from scores of all classes."""
    score, _, _ = _difference(columns, pair)
    _, contour, share = _of_pair(columns, pair)
    return score, contour, share


def _known_rows(frozen: Any, rows: Rows, classes: NDArray[Any]) -> tuple[Rows, NDArray[Any]]:
    """Rows with a column for each class that a fitted classifier knows."""
    names = np.sort(frozen.classes_)
    unknown = ~np.isin(classes, names)
    bad = int(rows.reduce(partial(_possible, classes=unknown)))
    if bad:
        raise InputError(
            f"Labels should be of the classes {names.tolist()} that the fitted estimator knows",
            f"{classes[unknown].tolist()} are possible in {bad} rows",
            "rename them, or fit it on the classes of the labels",
        )
    return rows.map(partial(_widened, kept=~unknown, classes=classes[~unknown], names=names)), names


def _possible(columns: Columns, classes: NDArray[np.bool_]) -> int:
    """Rows in which one of some classes is possible."""
    assert columns[1] is not None
    return int((columns[1][:, classes] > 0.0).any(axis=1).sum())


def _widened(columns: Columns, kept: NDArray[np.bool_], classes: Any, names: Any) -> Columns:
    X, contour, weight = columns
    assert contour is not None
    labels = as_labels(Labels(contour[:, kept], classes), classes=names.tolist())
    return X, labels.contour, weight


def _refuse_in_memory(estimator: Any, cv: Any) -> None:
    """Refuse classifiers that need all rows at once, and folds by number of row."""
    if not getattr(estimator, "_learns_from_rows", False) or not takes_labels(estimator):
        raise InputError(
            f"A classifier of more than {MANY_ROWS} rows that are not in memory should learn from "
            "rows",
            f"{type(estimator).__name__} does not",
            "fit it to a sample and give FrozenEstimator(it), or use DiscriminantClassifier, "
            "GaussianMixtureClassifier or PartialLogisticRegression",
            parameter="estimator",
        )
    if not is_whole(cv) or cv < 2:
        raise InputError(
            "cv should be a number of folds of at least 2 for rows that are not in memory",
            f"{cv!r} was given",
            "give 5",
            parameter="cv",
            value=cv,
        )


def pairs_of(n_classes: int) -> IntArray:
    """All pairs of classes, by their numbers."""
    return np.array(list(combinations(range(n_classes), 2)), dtype=np.int64).reshape(-1, 2)
