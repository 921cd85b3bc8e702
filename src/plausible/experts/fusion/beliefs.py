"""What the sources of a fusion believe, about rows that they have not seen and about new ones.

A source that has never met a class says nothing about it: the class stays possible, whatever the
source says of the others.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from plausible.base import Beliefs, believe, takes_labels
from plausible.belief import SparseMasses, membership, sets_from_membership
from plausible.errors import InputError
from plausible.experts.fusion.doubts import ROUNDING, Said, criterion, learn_doubts
from plausible.experts.fusion.sources import Source, gives_masses, lacking, take_columns
from plausible.labels import Labels
from plausible.models import cross_calibrated, fit_learner, take_rows

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class FusionRows(NamedTuple):
    """Rows to learn from, all of which have weight; folds are -1 for rows that are not tested."""

    X: Any
    labels: Labels
    weight: FloatArray
    folds: IntArray

    def rows(self, kept: IntArray) -> "FusionRows":
        """Some of the rows."""
        columns = self.labels[kept], self.weight[kept], self.folds[kept]
        return FusionRows(take_rows(self.X, kept), *columns)


class Learned(NamedTuple):
    """A fitted source, and plausibilities (n, K) out of fold: NaN of classes it has not met."""

    model: Any
    contour: FloatArray


def fit_source(
    source: Source, rows: FusionRows, columns: IntArray, calibrate: str, tested: bool
) -> Learned:
    """Fit a source to the rows that it has and, if they are `tested`, ask it out of fold.

    `calibrate` is "yes", "no", or "compare" for whichever makes the labels more likely.
    """
    part = take_columns(rows.X, columns)
    present = np.flatnonzero(~lacking(source.estimator, part))
    if not len(present):
        raise InputError(
            f"The source {source.name!r} should have some rows to learn from",
            "values are missing in all of them",
            "leave it out, or give others",
            parameter="estimators",
        )
    own = rows._replace(X=part).rows(present)
    try:
        if calibrate == "yes":
            model, found = _fit_calibrated(source.estimator, own)
        elif calibrate == "no":
            model, found = _fit_plain(source.estimator, own, tested)
        else:
            model, found = _fit_better(source.estimator, own)
    except Exception as error:
        error.add_note(f"This came from the source {source.name!r}.")
        raise
    contour = np.ones(rows.labels.contour.shape)
    contour[present] = found
    contour[rows.folds < 0] = 1.0
    return Learned(model, contour)


def _fit_calibrated(estimator: Any, rows: FusionRows) -> Learned:
    """A source with calibrated scores."""
    X, labels, weight, folds = rows
    frozen = isinstance(estimator, FrozenEstimator)
    if frozen:
        labels, weight = known_to(estimator, labels, weight)
    counted = np.flatnonzero(weight > 0.0)
    given = take_rows(X, counted), labels[counted], weight[counted]
    model, beliefs = cross_calibrated(estimator, *given, None if frozen else folds[counted])
    if len(counted) < len(weight):
        beliefs = asked(model, X)
    return Learned(model, contour_on(beliefs, rows.labels.classes))


def _fit_better(estimator: Any, rows: FusionRows) -> Learned:
    """A source at its word, or calibrated if that makes labels more likely out of fold."""
    plain, calibrated = _fit_plain(estimator, rows, True), _fit_calibrated(estimator, rows)
    first, second = (worth(one.contour, rows) for one in (plain, calibrated))
    return calibrated if second > first + ROUNDING * max(1.0, abs(first)) else plain


def worth(contour: FloatArray, rows: FusionRows) -> float:
    """Log likelihood of the labels by one source, with the doubt that suits it best."""
    found = np.where(np.isnan(contour) | (rows.folds < 0)[:, None], 1.0, contour)
    said = Said(found[None], rows.labels.scaled(), rows.labels.is_probability, rows.weight)
    return criterion(learn_doubts(said, "fit", 1.0, True), said, "fit", 1.0)


def known_to(frozen: Any, labels: Labels, weight: FloatArray) -> tuple[Labels, FloatArray]:
    """Labels on the classes of a fitted classifier; rows count by how far they speak of these."""
    known = np.isin(labels.classes, frozen.classes_)
    inside = labels.contour[:, known]
    share = inside.sum(axis=1) / labels.contour.sum(axis=1)
    inside = np.where(share[:, None] > 0.0, inside, 1.0)
    return Labels.from_plausibility(inside, labels.classes[known].tolist()), weight * share


def _fit_plain(estimator: Any, rows: FusionRows, tested: bool) -> Learned:
    """A source that is taken at its word."""
    X, labels, weight, folds = rows
    if isinstance(estimator, FrozenEstimator):
        return Learned(estimator, contour_on(asked(estimator, X), labels.classes))
    model = fit_learner(estimator, X, labels, weight)
    contour = np.ones(labels.contour.shape)
    for fold in np.unique(folds[folds >= 0]) if tested else ():
        test, train = np.flatnonzero(folds == fold), rows.rows(np.flatnonzero(folds != fold))
        if _can_learn(train):
            found = fit_learner(estimator, train.X, train.labels, train.weight)
            contour[test] = contour_on(asked(found, take_rows(X, test)), labels.classes)
    return Learned(model, contour)


def _can_learn(rows: FusionRows) -> bool:
    """Whether rows favor two classes at least, or there is but one."""
    contour, shares = rows.labels.contour, rows.labels.is_probability
    if not len(contour) or contour.shape[1] == 1:
        return len(contour) > 0
    best = contour == contour.max(axis=1, keepdims=True)
    favored = best[best.sum(axis=1) == 1].any(axis=0) | (contour[shares] > 0.0).any(axis=0)
    return int(favored.sum()) > 1


def asked(model: Any, X: Any) -> Beliefs:
    """What a source believes; where it has no numbers, all classes are alike to it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        if not takes_labels(model):
            warnings.simplefilter("ignore", RuntimeWarning)  # of others' arithmetic
        if gives_masses(model):
            return believe(heart(model), X)
        if callable(getattr(model, "believe", None)):
            return model.believe(X)
        bets = np.asarray(model.predict_proba(X), dtype=np.float64)
    lost = np.asarray(~np.isfinite(bets).all(axis=1))
    bets = np.where(lost[:, None], 1.0 / bets.shape[1], bets)
    return Beliefs.from_probability(bets, model.classes_)


def heart(model: Any) -> Any:
    """The classifier that answers, inside a search or a frozen one."""
    if hasattr(model, "best_estimator_"):
        return heart(model.best_estimator_)
    return heart(model.estimator) if isinstance(model, FrozenEstimator) else model


def classes_of(model: Any) -> list[Any]:
    """Classes that a fitted classifier has met."""
    check_is_fitted(model)
    return np.asarray(model.classes_).tolist()


def places_of(own: NDArray[Any], classes: NDArray[Any]) -> IntArray:
    """Where the classes of a source are among all classes."""
    place = {name: k for k, name in enumerate(classes.tolist())}
    return np.array([place[name] for name in np.asarray(own).tolist()], dtype=np.int64)


def contour_on(beliefs: Beliefs, classes: NDArray[Any]) -> FloatArray:
    """Plausibilities (n, K) of all classes; NaN of those that a source has not met."""
    contour = np.full((len(beliefs), len(classes)), np.nan)
    contour[:, places_of(beliefs.classes, classes)] = beliefs.contour
    return contour


def masses_on(beliefs: Beliefs, classes: NDArray[Any], met: BoolArray) -> SparseMasses:
    """Masses on sets of all classes; those that others have `met`, and it has not, stay open."""
    masses, places = beliefs.masses(), places_of(beliefs.classes, classes)
    inside = np.tile(met, (len(masses.focal_sets), 1))
    inside[:, places] = membership(masses.focal_sets, masses.n_classes).astype(bool)
    return SparseMasses(masses.values, sets_from_membership(inside), len(classes))


def own_sets(model: Any, classes: NDArray[Any]) -> set[int]:
    """Focal sets of a source on all classes, where it lists them; else the empty one."""
    inner = heart(model)
    inner = inner[-1] if isinstance(inner, Pipeline) else inner
    if "focal_sets_" not in vars(inner) or len(inner.classes_) < len(classes):
        return {0}
    return set(inner.focal_sets_.tolist())
