"""Conformal sets around any classifier, calibrated on soft, partial or gold labels.

See `conformal.calibration` for what is compared, and what follows from it.
"""

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MetaEstimatorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from plausible.base import Beliefs, HeldOut, believe, takes_labels
from plausible.checks import check_flag, check_number, check_option, check_whole, random_from
from plausible.errors import InputError
from plausible.labels import Labels, as_labels
from plausible.models.any_learner import left_by_labels
from plausible.models.conformal.calibration import (
    SCORES,
    Entries,
    class_scores,
    entries_of,
    needed_weight,
    too_few,
    totals,
    weight_below,
)
from plausible.models.ensemble.members import Ensemble, MemberRows, bets_of
from plausible.models.folds import given_folds, random_folds
from plausible.models.gaussian import DiscriminantClassifier
from plausible.models.learners import fit_learner, take_rows

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

METHODS = ("split", "cross")
PARTIAL = ("weighted", "worst")
RULE = "conformal"


class CoverageWarning(UserWarning):
    """There are too few items to leave out any class from sets with the coverage that was asked.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", CoverageWarning)
    """


def gold_labels(gold: Any, labels: Labels) -> Labels:
    """Gold classes, one for each row, unknown where there is none."""
    found = as_labels(gold, classes=labels.classes.tolist())
    if len(found) != len(labels):
        raise InputError(
            f"gold should have one entry for each of the {len(labels)} rows of X",
            f"has {len(found)}",
            "write None for items without a gold class",
            parameter="gold",
        )
    bad = ~(found.is_hard | found.is_unknown)
    if bad.any():
        raise InputError(
            "gold should hold classes that are known for sure",
            f"several are possible in row {np.flatnonzero(bad)[0]}",
            "write None where the class is not sure",
            parameter="gold",
            rows=bad,
        )
    return found


def _fit_part(estimator: Any, rows: MemberRows, train: BoolArray) -> Any:
    """A classifier of some rows."""
    return fit_learner(estimator, rows.X, rows.labels, np.where(train, rows.weight, 0.0))


class ConformalClassifier(MetaEstimatorMixin, Ensemble):
    """Sets of classes that hold the class of a new item as often as was asked.

    What the sets hold is what they were calibrated on. With gold classes of some items (30 to 200
    do) they hold the truth with the probability `coverage`, for new items drawn like the gold ones,
    however wrong classifier and labels are. Calibrated on other labels they hold *labels* that
    often: people who err together err in the calibration, too, and the truth may be held less often
    by as much as labels are wrong. An empty set is a refusal: no class fits as well as usual.

    Parameters
    ----------
    estimator : classifier, optional
        `DiscriminantClassifier` by default. One that takes `Labels` learns from them as they are;
        put any other into `SoftLabelClassifier`. A fitted one in scikit-learn's `FrozenEstimator`
        is used as it is, and all rows are for calibration; it should not have seen them.
    coverage : float
        How often sets hold the class. It may be set to another value after `fit`.
    method : "split" or "cross"
        Split: the classifier learns from some rows, and the others (the gold ones, or one of `cv`
        folds) are for calibration. Cross: each fold is compared by a classifier of the others, and
        all rows serve twice; sets need the classifiers of all folds.
    by_class : bool
        Whether coverage is reached in each class, and not only on the whole. Each class needs items
        for calibration then.
    partial : "weighted" or "worst"
        How a label that leaves several classes is compared: with each class by its share, which is
        its plausibility times what the classifier believes; or with the worst of its classes, which
        keeps coverage of the truth wherever labels hold it, with larger sets.
    nonconformity : "probability" or "cumulative"
        How badly a class fits: one less its probability, which gives the smallest sets; or the
        probability of all classes down to it, whose sets grow where the classifier is unsure.
    cv : int or splitter
        Number of folds, drawn at random; one of them is for calibration if `method` is "split".
    n_jobs : int, optional
        How many folds are worked on at the same time.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : array (K,)
    estimator_ : classifier
        Answers but for sets. It learned from all rows, but for those held out by "split".
    estimators_ : list of classifiers
        Of the folds; the same one for "split".
    n_calibration_ : int
        Number of items in the calibration.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import train_test_split
    >>> X, y = load_iris(return_X_y=True)
    >>> X_train, X_new, y_train, y_new = train_test_split(X, y, random_state=0)
    >>> model = ConformalClassifier(coverage=0.95, method="cross", random_state=0)
    >>> sets = model.fit(X_train, y_train).predict_set(X_new)
    >>> float(sets[range(len(y_new)), y_new].mean().round(2))
    0.97
    >>> float(sets.sum(axis=1).mean().round(2))
    1.0
    """

    def __init__(
        self,
        estimator: Any = None,
        coverage: float = 0.9,
        method: str = "split",
        by_class: bool = False,
        partial: str = "weighted",
        nonconformity: str = "probability",
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.coverage = coverage
        self.method = method
        self.by_class = by_class
        self.partial = partial
        self.nonconformity = nonconformity
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, gold: Any = None
    ) -> Self:
        """Fit the classifier, and compare it with items that it has not seen.

        Parameters
        ----------
        X : array-like (n, d), or what the classifier takes
        y : Labels, or all that `as_labels` takes
        sample_weight : array-like (n,), optional
            Numbers of items that rows stand for, in training and in calibration.
        gold : array-like (n,), optional
            Classes that are known for sure, of some items, and None for the others. Only these are
            for calibration then.

        Returns
        -------
        self
        """
        self._check_options()
        rows = self._with_all_classes(self._training(X, y, sample_weight))
        sure = None if gold is None else gold_labels(gold, rows.labels)
        given = None if self._is_frozen else given_folds(self.cv, rows.X, rows.labels)
        counted = rows.weight > 0.0
        rows = rows.counted()
        known = rows.labels if sure is None else sure[counted]
        said = ~known.is_unknown | known.is_hard | known.is_probability
        folds = self._folds(rows, said, None if given is None else given[counted], sure is not None)
        self._fit_models(rows, folds, said)
        self._calibrate(rows, known, folds, said)
        return self

    def _check_options(self) -> None:
        self._check_coverage()
        check_option(self.method, METHODS, "method")
        check_option(self.partial, PARTIAL, "partial")
        check_option(self.nonconformity, SCORES, "nonconformity")
        if check_flag(self.by_class, "by_class") and self.partial == "worst":
            raise InputError(
                "by_class=True should come with partial='weighted'",
                "partial is 'worst', and the worst class of a label is not its class",
                "choose one of them",
                parameter="partial",
            )

    def _check_coverage(self) -> float:
        return check_number(self.coverage, "coverage", 0.0, 1.0)

    def _members(self) -> list[Any]:
        return [DiscriminantClassifier() if self.estimator is None else self.estimator]

    @property
    def _is_frozen(self) -> bool:
        return isinstance(self.estimator, FrozenEstimator)

    def _with_all_classes(self, rows: MemberRows) -> MemberRows:
        """The rows in a frame that has all classes of a fitted classifier, met or not."""
        known = getattr(self.estimator, "classes_", ()) if self._is_frozen else ()
        if set(known).issubset(self.classes_.tolist()):
            return rows
        self.classes_ = np.unique(np.concatenate([self.classes_, known]))
        return rows._replace(labels=rows.labels.reorder(self.classes_.tolist()))

    def _folds(
        self, rows: MemberRows, said: BoolArray, folds: IntArray | None, is_gold: bool
    ) -> IntArray:
        """Number (n,) of the classifier by which a row is compared; -1 for none."""
        if not said.any():
            raise InputError(
                "At least one row should be there for calibration",
                "none has a class and weight",
                "label some items, or give gold classes of some",
            )
        if self._is_frozen:
            return np.where(said, 0, -1)
        if folds is None:
            n_folds = check_whole(self.cv, "cv", 2)
            folds = random_folds(rows.X, n_folds, random_from(self.random_state))
        if self.method == "split":
            return np.where(said & (is_gold | (folds == folds[said].max())), 0, -1)
        used = np.unique(folds[said & (folds >= 0)])
        return np.where(np.isin(folds, used), np.searchsorted(used, folds), -1)

    def _fit_models(self, rows: MemberRows, folds: IntArray, said: BoolArray) -> None:
        """The classifiers of all but each fold, and the one that answers."""
        estimator = self._members()[0]
        if self._is_frozen:
            check_is_fitted(estimator.estimator)
            self.estimator_, self.estimators_ = estimator, [estimator]
            return
        numbers = np.unique(folds[folds >= 0])
        self._check_training(rows, folds, numbers)
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_part)(estimator, rows, folds != number) for number in numbers
        )
        self.estimator_ = self.estimators_[0]
        if self.method == "cross":
            self.estimator_ = _fit_part(estimator, rows, np.ones(len(folds), dtype=bool))

    def _check_training(self, rows: MemberRows, folds: IntArray, numbers: IntArray) -> None:
        """Refuse folds of which nothing is left to learn from."""
        says = (rows.weight > 0.0) & ~(rows.labels.is_unknown & ~rows.labels.is_hard)
        for number in numbers:
            if not (says & (folds != number)).any():
                raise InputError(
                    "Rows should be left to learn from, beside those for calibration",
                    f"all n_samples={int(says.sum())} with a label are for calibration",
                    "give more rows that are different, or a fitted classifier in FrozenEstimator",
                )

    def _calibrate(self, rows: MemberRows, known: Labels, folds: IntArray, said: BoolArray) -> None:
        """Keep the scores of items that were not seen."""
        used = np.flatnonzero(said & (folds >= 0))
        bets = np.empty((len(used), len(self.classes_)))
        for number, model in enumerate(self.estimators_):
            mine = folds[used] == number
            if mine.any():
                items = take_rows(rows.X, used[mine])
                bets[mine] = bets_of(model, items, self.classes_)
        labels = known[used]
        contour = labels.scaled()
        shares, _ = left_by_labels(contour, bets, labels.is_probability)
        weight = rows.weight[used].copy()
        worst = self.partial == "worst"
        scores = class_scores(bets, self.nonconformity)
        entries = entries_of(scores, shares, weight, folds[used], worst)
        self.calibration_ = entries._asdict()
        best = bets.argmax(axis=1)
        right = shares[np.arange(len(used)), best]
        self.held_out_ = {
            "confidence": bets.max(axis=1), "error": 1.0 - right, "weight": weight,
        }  # fmt: skip
        self.n_calibration_ = len(used)
        self._warn_of_few()

    def _held_out(self) -> HeldOut:
        return HeldOut(**self.held_out_)

    def _warn_of_few(self) -> None:
        total = totals(Entries(**self.calibration_), len(self.classes_), bool(self.by_class))
        few = too_few(total, float(self.coverage))
        if few.any():
            of_class = f" of each of {self.classes_[few].tolist()}" if self.by_class else ""
            needed = int(np.ceil(self.coverage / max(1.0 - self.coverage, 1e-9) - 1e-9))
            warnings.warn(
                f"coverage={self.coverage:g} should have {needed} items or more{of_class} for "
                f"calibration, but there are {self.n_calibration_} in all, and sets never leave "
                "these classes out; ask for less, or give more items.",
                CoverageWarning,
                stacklevel=5,
            )

    def _sets(self, X: Any) -> BoolArray:
        """Classes (n, K) that are not unusual for checked items."""
        coverage, by_class = self._check_coverage(), bool(self.by_class)
        entries = Entries(**self.calibration_)
        scores = [
            class_scores(bets_of(model, X, self.classes_), self.nonconformity)
            for model in self.estimators_
        ]
        total = totals(entries, len(self.classes_), by_class)
        return weight_below(entries, scores, by_class) < needed_weight(total, coverage)

    def _beliefs(self, X: Any, labels: Labels | None) -> Beliefs:
        if takes_labels(self.estimator_) and self._knows_all:
            found = believe(self.estimator_, X, labels)
        else:
            found = super()._beliefs(X, labels)  # of its bets
        sets = self._sets(X)
        return replace(found, given_sets=sets if labels is None else sets & (labels.contour > 0.0))

    @property
    def _knows_all(self) -> bool:
        return np.asarray(self.estimator_.classes_).tolist() == self.classes_.tolist()

    def predict_set(
        self,
        X: ArrayLike,
        labels: Any = None,
        *,
        rule: str = RULE,
        reject: float | None = None,
        loss: ArrayLike | None = None,
        **further: Any,
    ) -> BoolArray:
        """Classes (n, K) that a rule keeps, by default those with the coverage that was asked.

        Parameters
        ----------
        X : array-like (n, d)
        labels : Labels, or all that `as_labels` takes, optional
            What is known about each row already; classes that it excludes are left out.
        rule : str
            "conformal", or a rule of `decide`, which promises nothing.
        reject, loss
            As for `decide`, for its rules.
        """
        if (
            isinstance(rule, str)
            and rule == RULE
            and reject is None
            and loss is None
            and not further
        ):
            return self.believe(X, labels).sets
        return super().predict_set(X, labels, rule=rule, reject=reject, loss=loss, **further)

    def _bets(self, X: Any) -> FloatArray:
        return bets_of(self.estimator_, X, self.classes_)
