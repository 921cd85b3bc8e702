"""Evidential calibration of rows that are not in memory.

Few rows are brought into memory. Of many, each fold is learned from in passes of its own, folds
are known from what a row holds, and calibrations are sums over scores (see `panels`).
"""

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from plausible.base import order_of_labels, takes_labels, training_rows, with_names
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
from plausible.short_rows import row_max, row_min, row_sum

IntArray = NDArray[np.int64]


# What is made of a chunk.


def _weighted(columns: Columns) -> Columns:
    """Features, contours scaled to one, and weights, of which there are some."""
    X, contour, weight, *_ = (*columns, None)
    assert X is not None
    assert contour is not None
    weight = np.ones(len(X)) if weight is None else weight
    return X, contour / row_max(contour)[:, None], weight


def _hashed(columns: Columns) -> Columns:
    """The same with a fourth column, by which rows are dealt out."""
    X, contour, weight = _weighted(columns)
    assert X is not None
    return X, contour, weight, hash_rows(X)


def _counts(columns: Columns) -> IntArray:
    """Zero for rows with a weight; others are left out."""
    assert columns[2] is not None
    return np.where(columns[2] > 0.0, 0, -1)


def _sums(columns: Columns) -> tuple[int, int, float, int]:
    """Rows, those that count, their weight, and those that say something."""
    _, contour, weight = _weighted(columns)
    assert contour is not None
    assert weight is not None
    says = (row_min(contour) < 1.0) & (weight > 0.0)
    return len(weight), int((weight > 0.0).sum()), float(weight.sum()), int(says.sum())


def _of_pair(columns: Columns, pair: IntArray) -> Columns:
    """What rows say about a pair of classes, as in `about_pair`; others have no weight."""
    first, contour, weight, *more = columns
    assert contour is not None
    assert weight is not None
    inside = contour[:, pair]
    share = weight * (inside[:, 0] + inside[:, 1]) / row_sum(contour)
    best = np.maximum(np.maximum(inside[:, 0], inside[:, 1]), 1e-300)
    inside /= best[:, None]
    inside[share == 0.0] = 1.0
    return first, inside, share, *more


def _as_given(columns: Columns, pair: IntArray | None) -> Columns:
    """What rows say about a pair of classes, or about all."""
    return columns if pair is None else _of_pair(columns, pair)


def _rarest_by_pair(columns: Columns, pairs: list[IntArray | None]) -> list[Rarest]:
    """Least hashes of rows that favor each class, for each of several pairs."""
    given = [_as_given(columns, pair) for pair in pairs]
    return [rarest_of(hashes, contour, weight) for _, contour, weight, hashes in given]  # type: ignore[arg-type]


def _code_of_fold(columns: Columns, dealt: Dealt, fold: int) -> IntArray:
    """Zero for rows of other folds, -1 for those of this one."""
    return np.where(dealt.of(columns[3]) != fold, 0, -1)  # type: ignore[arg-type]


def _without_hashes(columns: Columns) -> Columns:
    return columns[:3]


def _scored(columns: Columns, models: list[Any], dealt: Dealt | None, classes: Any) -> Columns:
    """Scores (n, K) by the model that has not seen the row, contours and weights."""
    X, contour, weight, *hashes = columns
    assert X is not None
    assert contour is not None
    fold = np.zeros(len(X), dtype=np.int64) if dealt is None else dealt.of(hashes[0])  # type: ignore[arg-type]
    scores = np.full((len(X), len(classes)), np.nan)
    for number, model in enumerate(models):
        rows = np.flatnonzero(fold == number)
        if model is not None and len(rows):
            scores[rows] = class_scores(model, take((X,), rows)[0], classes)
    return scores, contour, weight


def _scored_pair(columns: Columns, models: list[Any], dealt: Dealt, classes: Any) -> Columns:
    """The score of the second of two classes against the first, contours and weights."""
    scores, contour, weight = _scored(columns, models, dealt, classes)
    return difference(scores, 0, 1), contour, weight  # type: ignore[arg-type]


def _pair_of_joint(columns: Columns, pair: IntArray) -> Columns:
    """Scores, contours and weights of a pair, from scores of all classes."""
    scores, contour, share = _of_pair(columns, pair)
    return difference(scores, *pair), contour, share  # type: ignore[arg-type]


# Fits.


class Folds(NamedTuple):
    """How rows are dealt out, and whether those of each fold favor each class (n_folds, K)."""

    dealt: Dealt
    favored: NDArray[np.bool_]


def _deal_all(rows: Rows, pairs: list[IntArray | None], n_folds: int) -> list[Folds]:
    """Folds for each of several pairs of classes (None for all classes), in one pass for all."""
    return [_folds_by(one, n_folds) for one in rows.reduce(_rarest_by_pair, pairs)]


def _folds_by(rarest: Rarest, n_folds: int) -> Folds:
    """Folds by least hashes, which are in all folds where a class is not rare."""
    dealt = dealt_by(rarest, n_folds)
    favored = [np.bincount(dealt.of(one), minlength=dealt.n_folds) > 0 for one in rarest.least]
    return Folds(dealt, np.array(favored).T)


def fit_rows(estimator: Any, rows: Rows, classes: NDArray[Any], favored: Any) -> Any:
    """A copy of the estimator fitted to rows; None where less than two classes are favored."""
    if favored.sum() < 2:
        return None
    plain = rows.map(_without_hashes)
    plain.classes, plain.has_shares = classes.tolist(), False
    return clone(estimator).fit(plain)


def _fit_folds(
    estimator: Any, rows: Rows, classes: NDArray[Any], folds: Folds
) -> tuple[Any, list[Any]]:
    """A model of all rows, and for each fold one of all others."""
    dealt, favored = folds
    models = []
    for fold in range(dealt.n_folds):
        train = rows.arrange(partial(_code_of_fold, dealt=dealt, fold=fold))
        others = np.delete(favored, fold, axis=0).any(axis=0)
        models.append(fit_rows(estimator, train, classes, others))
    return fit_rows(estimator, rows, classes, favored.any(axis=0)), models


def learn_elsewhere(model: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Fit a calibrated classifier to rows or Dask collections."""
    training = training_rows(model, X, y, sample_weight)
    rows, classes = training
    n_rows, count, weight, said = rows.reduce(_sums)
    if count <= MANY_ROWS:
        everything = rows.counted(n_rows).sample(n_rows, np.random.RandomState(0))
        data, contour, given = _weighted(everything)
        assert contour is not None
        labels = Labels(contour, classes)
        ordered = labels.reorder(order_of_labels(model) or classes.tolist())
        model._learn(with_names(model, data), ordered, given)
        return
    model._check_sums(weight, said)
    estimator = DiscriminantClassifier() if model.estimator is None else model.estimator
    frozen = isinstance(estimator, FrozenEstimator)
    if not frozen:
        _refuse_in_memory(estimator, model.cv)
    rows = rows.map(_weighted if frozen else _hashed).arrange(_counts).kept()
    rows, classes = _known_rows(estimator, rows, classes) if frozen else (rows, classes)
    model._set_classes(classes)
    _fit_all(model, estimator, rows, frozen)


def _fit_all(model: Any, estimator: Any, rows: Rows, frozen: bool) -> None:
    """The classifiers, and a calibration for each pair."""
    if frozen:
        model.estimators_ = [estimator]
        joint = partial(_scored, models=[estimator], dealt=None, classes=model.classes_)
        scored = _by_pair(rows.map(joint).kept(), model.pairs_)
    elif model.scores == "classes":
        (folds,) = _deal_all(rows, [None], model.cv)
        whole, others = _fit_folds(estimator, rows, model.classes_, folds)
        model.estimators_ = [whole]
        joint = partial(_scored, models=others, dealt=folds.dealt, classes=model.classes_)
        scored = _by_pair(rows.map(joint).kept(), model.pairs_)
    else:
        model.estimators_ = []
        scored = _scored_by_pair(model, estimator, rows)
    model.calibrations_ = calibrate_rows(scored, model.smoothing)


def _by_pair(joint: Rows, pairs: IntArray) -> Iterator[Rows]:
    """Scores of each pair of classes, from scores of all classes."""
    for pair in pairs:
        yield joint.map(partial(_pair_of_joint, pair=pair)).arrange(_counts)


def _scored_by_pair(model: Any, estimator: Any, rows: Rows) -> Iterator[Rows]:
    """Scores of each pair of classes, by classifiers of its own that are fitted to other folds."""
    pairs = list(model.pairs_)
    dealt = _deal_all(rows, pairs, model.cv) if pairs else []
    for pair, folds in zip(pairs, dealt, strict=True):
        own = rows.map(partial(_of_pair, pair=pair)).arrange(_counts).made()
        classes = model.classes_[pair]
        whole, others = _fit_folds(estimator, own, classes, folds)
        model.estimators_.append(whole)
        scored = partial(_scored_pair, models=others, dealt=folds.dealt, classes=classes)
        yield own.map(scored).kept()


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
