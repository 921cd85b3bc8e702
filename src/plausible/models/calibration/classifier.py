r"""Evidential calibration: mass functions from the scores of any classifier.

For each pair of classes, scores are calibrated to a mass function on the pair, as in
`calibration.predictive`. What is said about a pair (i, j) leaves all other classes possible:

.. math:: m_{ij}(\{i\}) \to \Omega \setminus \{j\}, \qquad m_{ij}(\{j\}) \to \Omega \setminus \{i\},
          \qquad m_{ij}(\{i, j\}) \to \Omega,

and Dempster's rule combines the pairs, so that the plausibility of class i is proportional to
:math:`\prod_j pl_{ij}(i)`.

References
----------
P. Xu, F. Davoine, H. Zha, T. Denoeux, Evidential calibration of binary SVM classifiers,
International Journal of Approximate Reasoning 72 (2016) 55-70.
B. Quost, T. Denoeux, M.-H. Masson, Pairwise classifier combination using belief functions, Pattern
Recognition Letters 28 (2007) 644-653.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import PredefinedSplit
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from plausible.base import (
    Beliefs,
    MassClassifier,
    are_elsewhere,
    check_labels_and_weights,
    count_rows,
    warn_of_sharpening,
)
from plausible.belief import SparseMasses, all_sets, dempster, full_set
from plausible.checks import check_flag, check_option, name_rows, shown
from plausible.engine import ArrayRows
from plausible.errors import InputError
from plausible.labels import Labels, as_labels
from plausible.models.calibration.predictive import Calibration, calibrate
from plausible.models.calibration.scores import class_scores, difference, fit_scorer, out_of_fold
from plausible.models.calibration.streams import learn_elsewhere, pairs_of
from plausible.models.dealing import MANY_ROWS, deal
from plausible.models.folds import content_folds, given_folds
from plausible.models.gaussian import DiscriminantClassifier
from plausible.models.learners import read_features, take_rows

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ALL_SETS = 14  # classes up to which masses of all sets are computed
LEAST_WEIGHT = 1e-100
MOST_CLASSES = 200  # with 19,900 pairs
ENTRIES_AT_ONCE = 1 << 22  # masses of pairs in memory


def about_pair(
    plausibility: FloatArray, weight: FloatArray, pair: IntArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Rows that speak of a pair of classes, with their plausibilities (n, 2) and weights.

    A row counts by the probability that its class is in the pair, when its plausibilities are
    scaled to sum to one: fully with a hard label in the pair, not at all with one outside.
    """
    inside = plausibility[:, pair]
    share = weight * inside.sum(axis=1) / plausibility.sum(axis=1)
    rows = np.flatnonzero(share > 0.0)
    best = inside[rows].max(axis=1, keepdims=True)
    return rows, inside[rows] / best, share[rows]


def log_plausibilities(masses: FloatArray, pairs: IntArray, n_classes: int) -> FloatArray:
    """Logarithms (n, K) of the combined plausibilities, up to a constant for each row."""
    total = np.zeros((len(masses), n_classes))
    both = masses[:, :, 2]
    for p, (i, j) in enumerate(pairs):
        for side, k in enumerate((i, j)):
            total[:, k] += np.log(np.maximum(masses[:, p, side] + both[:, p], 1e-300))
    return total


def combine_pairs(masses: FloatArray, pairs: IntArray, n_classes: int) -> SparseMasses:
    """Dempster's rule on masses (n, P, 3) of each pair's first class, second class, and both."""
    sets = all_sets(n_classes)[1:]
    if n_classes == 1:
        return SparseMasses(np.ones((len(masses), 1)), sets, 1)
    full = full_set(n_classes)
    sources = [
        SparseMasses(masses[:, p], np.array([full ^ 1 << j, full ^ 1 << i, full]), n_classes)
        for p, (i, j) in enumerate(pairs.tolist())
    ]
    combined = dempster(*sources, on_conflict="vacuous")
    return SparseMasses(combined.to_dense()[:, 1:], sets, n_classes)


def blocks(n_rows: int, n_pairs: int) -> Iterator[IntArray]:
    """Numbers of rows, as many at a time as memory holds masses of all pairs."""
    at_once = max(1, ENTRIES_AT_ONCE // max(1, n_pairs))
    for start in range(0, n_rows, at_once):
        yield np.arange(start, min(start + at_once, n_rows))


def cross_calibrated(
    estimator: Any, X: Any, labels: Labels, weight: FloatArray, folds: IntArray | None
) -> "tuple[EvidentialCalibratedClassifier, Beliefs]":
    """A calibrated classifier, and what it believes of rows of which classifiers saw no fold.

    The few numbers of the calibrations are learned from all folds. Without folds the estimator is
    a fitted one in a `FrozenEstimator`.
    """
    cv = 5 if folds is None else PredefinedSplit(folds)
    model = EvidentialCalibratedClassifier(estimator, cv=cv, scores="classes")
    joint = model._learn(X, labels, weight)
    model.cv = 5  # folds of these rows mean nothing to others
    return model, model.believe(X) if joint is None else model._believed_scores(joint)


def _folds(X: Any, contour: FloatArray, weight: FloatArray, most: int, many: bool) -> IntArray:
    """Folds (n,) by content; of many rows by hashes, as they are for rows out of memory."""
    if many:
        return deal(ArrayRows(X, contour, weight), most)(X)
    return content_folds(X, contour, weight, most)


def check_classifier(estimator: Any) -> None:
    """Refuse what is not a classifier; None is the default one."""
    is_one = hasattr(estimator, "fit") and not isinstance(estimator, type)
    if estimator is not None and not (is_one and is_classifier(estimator)):
        raise InputError(
            "estimator should be a classifier",
            f"{shown(estimator)} was given",
            "give one with decision_function or predict_proba",
            parameter="estimator",
            value=estimator,
        )


def _check_number_of_classes(n_classes: int) -> None:
    """Refuse so many classes that their pairs would take hours."""
    n_pairs = n_classes * (n_classes - 1) // 2
    if n_classes > MOST_CLASSES:
        raise InputError(
            "EvidentialCalibratedClassifier calibrates each pair of classes and should have at "
            f"most {MOST_CLASSES}",
            f"there are {n_classes}, with {n_pairs} pairs",
            "group classes, or use PartialLogisticRegression, whose probabilities need no "
            "calibration",
        )


def _check_total(total: float) -> None:
    """Refuse weights that are no numbers of items: what is known of a slope depends on them."""
    if not LEAST_WEIGHT <= total <= 1 / LEAST_WEIGHT:
        raise InputError(
            f"Sample weights should have a sum between {LEAST_WEIGHT:g} and {1 / LEAST_WEIGHT:g}, "
            "as numbers of items",
            f"it is {total:.3g}",
            "multiply them by a number",
        )


def _known_classes(frozen: Any, labels: Labels) -> list[Any]:
    """Classes of a fitted classifier, which those of the labels must be among."""
    check_is_fitted(frozen.estimator)
    names = np.sort(frozen.classes_).tolist()
    unknown = ~np.isin(labels.classes, names)
    bad = (labels.contour[:, unknown] > 0).any(axis=1)
    if bad.any():
        raise InputError(
            f"Labels should be of the classes {names} that the fitted estimator knows",
            f"{labels.classes[unknown].tolist()} are possible in {name_rows(bad)}",
            "rename them, or fit it on the classes of the labels",
            rows=bad,
        )
    return names


class EvidentialCalibratedClassifier(MassClassifier):
    """Turn the scores of a classifier into mass functions that show how well they are known.

    Where calibration data are few or scores are unlike them, mass goes to sets of classes; with
    many data the mass functions become the probabilities of Platt's calibration. Beyond 14 classes
    masses of all sets are out of reach: plausibilities scaled to sum to one are the bets then.

    Parameters
    ----------
    estimator : classifier, optional
        With `decision_function` or `predict_proba`; `DiscriminantClassifier` by default. One of
        this library learns from labels as they are, any other from the most plausible class of
        each row, weighted (if it takes sample weights) by how far it is more plausible than the
        next. A fitted one in scikit-learn's `FrozenEstimator` is used as it is, and all rows are
        for calibration; it should not have seen them.
    cv : int or splitter
        Scores for calibration come from classifiers that did not see the row. A number of folds
        is reached by dealing out the rows of each class in the order of their features, so that
        neither chance nor the order of rows matters; for chance, give a splitter.
    smoothing : bool
        Whether a part 1 / (N + 2) of each of the N items of a class counts for the other class of
        a pair, as Platt proposed. Without it, classes that scores separate are refused.
    scores : {"pairs", "classes"}
        A classifier for each pair of classes, or one classifier for all, of whose scores
        differences are taken (always so for a fitted one).

    Attributes
    ----------
    classes_ : array (K,)
    pairs_ : int array (P, 2)
        The pairs of classes, by their numbers.
    calibrations_ : list of P calibrations
        With the `intercept` and `slope` of the most likely log odds of the second class.
    estimators_ : list
        Classifiers fitted to all rows, for each pair, or one for all. None for a pair about which
        labels say too little; its scores are zero.
    focal_sets_ : int array
        Sets of classes, as bit masks, of the columns of `predict_mass`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = EvidentialCalibratedClassifier(LinearSVC()).fit(X, y)
    >>> model.predict_plausibility(X[[0, 70]]).round(2)
    array([[1.  , 0.04, 0.  ],
           [0.  , 0.6 , 0.64]])
    >>> model.predict_set(X[[0, 70]])
    array([[ True, False, False],
           [False,  True,  True]])
    """

    def __init__(
        self,
        estimator: Any = None,
        cv: Any = 5,
        smoothing: bool = True,
        scores: Literal["pairs", "classes"] = "pairs",
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.smoothing = smoothing
        self.scores = scores

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifiers and calibrate their scores.

        Parameters
        ----------
        X : array-like (n, d)
            Or rows of features, labels and weights (`plausible.engine.StreamRows`), or a Dask
            collection; more than 20,000 rows of them need an estimator that learns from rows, too,
            or a fitted one.
        y : Labels, or all that `as_labels` takes
        sample_weight : array-like (n,), optional
            Always used for calibration, and by estimators that take it.

        Returns
        -------
        self
        """
        check_option(self.scores, ("pairs", "classes"), "scores")
        check_flag(self.smoothing, "smoothing")
        check_classifier(self.estimator)
        if are_elsewhere(X):
            learn_elsewhere(self, X, y, sample_weight)
        else:
            self._learn(X, y, sample_weight)
        return self

    def _learn(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> FloatArray | None:
        """What `fit` does; it answers scores out of fold, where one classifier is for all."""
        data = read_features(self, X)
        labels, weight = check_labels_and_weights(self, y, sample_weight, count_rows(data), X)
        if labels.is_probability.any():
            warn_of_sharpening(self)
        if isinstance(self.estimator, FrozenEstimator):
            labels = as_labels(labels, classes=_known_classes(self.estimator, labels))
        counted = weight > 0.0
        with np.errstate(over="ignore"):
            self._check_sums(float(weight.sum()), int((~labels[counted].is_unknown).sum()))
        self._set_classes(labels.classes)
        frozen = isinstance(self.estimator, FrozenEstimator)
        folds = None if frozen else given_folds(self.cv, data, labels)
        folds = folds if folds is None else folds[counted]
        return self._fit_all(take_rows(data, counted), labels[counted], weight[counted], folds)

    def _check_sums(self, weight: float, said: int) -> None:
        """Refuse rows of such a weight, or of which so many say something."""
        if not said:
            raise InputError(
                "At least one row should favor a class",
                "all labels are unknown or have zero sample weight",
                "label some items",
            )
        _check_total(weight)

    def _set_classes(self, classes: NDArray[Any]) -> None:
        _check_number_of_classes(len(classes))
        self.classes_ = classes
        self.pairs_ = pairs_of(len(classes))

    def _fit_all(
        self, X: Any, labels: Labels, weight: FloatArray, folds: IntArray | None
    ) -> FloatArray | None:
        estimator = DiscriminantClassifier() if self.estimator is None else self.estimator
        frozen = isinstance(estimator, FrozenEstimator)
        known, classes = labels.scaled(), self.classes_
        joint: FloatArray | None = None
        many = len(weight) > MANY_ROWS and isinstance(X, np.ndarray)
        if frozen:
            self.estimators_ = [estimator]
            joint = class_scores(estimator, X, classes)
        elif self.scores == "classes" and len(classes) > 1:
            dealt = _folds(X, known, weight, self.cv, many) if folds is None else folds
            self.estimators_ = [fit_scorer(estimator, X, known, classes, weight)]
            joint = out_of_fold(estimator, X, known, classes, weight, dealt)
        else:
            self.estimators_ = []
        self.calibrations_: list[Calibration] = []
        for pair in self.pairs_:
            rows, inside, share = about_pair(known, weight, pair)
            if joint is None:
                own = classes[pair]
                task = estimator, take_rows(X, rows), inside, own, share
                given = (*task[1:3], share, self.cv, many)
                dealt = _folds(*given) if folds is None else folds[rows]
                score = difference(out_of_fold(*task, dealt), 0, 1)
                self.estimators_.append(fit_scorer(*task))
            else:
                score = difference(joint[rows], *pair)
            if folds is not None:
                share = np.where(folds[rows] >= 0, share, 0.0)
            self.calibrations_.append(calibrate(score, inside, share, self.smoothing))
        return joint

    @property
    def focal_sets_(self) -> IntArray:  # type: ignore[override]
        """All sets of classes but the empty one."""
        return all_sets(len(self.classes_))[1:]

    def _masses(self, X: Any) -> SparseMasses:
        return combine_pairs(self._calibrated(self._scores(X)), self.pairs_, len(self.classes_))

    def _beliefs(self, X: Any, labels: Labels | None) -> Beliefs:
        if len(self.classes_) <= ALL_SETS:
            return super()._beliefs(X, labels)
        rows = blocks(X.shape[0], len(self.pairs_))
        evidence = self._log_evidence(self._scores(take_rows(X, part)) for part in rows)
        if labels is not None:
            with np.errstate(divide="ignore"):
                evidence += np.log(labels.contour)
        return Beliefs.from_log_evidence(evidence, self.classes_)

    def _log_evidence(self, scores: Iterable[FloatArray]) -> FloatArray:
        """Log plausibilities (n, K), of some rows after the others, as many as memory holds."""
        masses = map(self._calibrated, scores)
        n_classes = len(self.classes_)
        return np.concatenate([log_plausibilities(part, self.pairs_, n_classes) for part in masses])

    def _believed_scores(self, joint: FloatArray) -> Beliefs:
        """What is believed of items with scores (n, K) of the classes."""
        n_classes = len(self.classes_)
        rows = blocks(len(joint), len(self.pairs_))
        scores = (np.stack([difference(joint[r], *p) for p in self.pairs_], 1) for r in rows)
        if n_classes > ALL_SETS:
            return Beliefs.from_log_evidence(self._log_evidence(scores), self.classes_)
        masses = np.concatenate([self._calibrated(part) for part in scores])
        return Beliefs.from_masses(combine_pairs(masses, self.pairs_, n_classes), self.classes_)

    def _scores(self, data: Any) -> FloatArray:
        """Score (n, P) of the second class of each pair against the first."""
        scores = np.zeros((data.shape[0], len(self.pairs_)))
        if len(self.estimators_) == 1 and self.estimators_[0] is not None:
            joint = class_scores(self.estimators_[0], data, self.classes_)
            for p, pair in enumerate(self.pairs_):
                scores[:, p] = difference(joint, *pair)
        else:
            for p, model in enumerate(self.estimators_):
                if model is not None:
                    own = self.classes_[self.pairs_[p]]
                    scores[:, p] = difference(class_scores(model, data, own), 0, 1)
        return scores

    def _calibrated(self, scores: FloatArray) -> FloatArray:
        """Masses (n, P, 3) of each pair's first class, second class, and both, from its score."""
        masses = np.empty((*scores.shape, 3))
        for p, calibration in enumerate(self.calibrations_):
            masses[:, p] = calibration.masses(scores[:, p])
        return masses

    def _read(self, X: Any) -> Any:
        check_is_fitted(self)
        return read_features(self, X, reset=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        base = get_tags(DiscriminantClassifier() if self.estimator is None else self.estimator)
        tags.input_tags.sparse = base.input_tags.sparse
        tags.input_tags.allow_nan = base.input_tags.allow_nan
        return tags
