"""Items without a label are labeled by a first rule, with degrees, before the final rule learns.

Vannoorenberghe's procedure: a first classifier learns from the labeled items P and gives each of
the others the mass function that it believes; the final classifier learns from all items. Labels
that were given stay as they are. Any classifiers will do; k-NN first and a tree last is the paper's
own suggestion.

References
----------
P. Vannoorenberghe, Reasoning with unlabeled samples and belief functions.
"""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from plausible.base import (
    BeliefClassifier,
    Beliefs,
    WholeFit,
    believe,
    check_features,
    check_labels_and_weights,
    count_rows,
    takes_labels,
    with_labels,
)
from plausible.belief import MAX_CLASSES, concatenate, normalize
from plausible.checks import check_option, shown
from plausible.errors import InputError
from plausible.labels import ApproximationWarning, Labels
from plausible.neighbors.classifier import EvidentialNeighborsClassifier

BoolArray = NDArray[np.bool_]
UNKNOWN = ("relabel", "drop", "count")


def take_rows(X: Any, rows: NDArray[Any]) -> Any:
    """Rows of an array, a sparse matrix, a list or a data frame."""
    numbers = np.flatnonzero(rows) if rows.dtype == bool else rows
    if hasattr(X, "iloc"):
        return X.iloc[numbers]
    return (X if hasattr(X, "shape") else np.asarray(X))[numbers]


def _check_rule(rule: Any, name: str) -> Any:
    """The classifier that was given, or the evidential k-NN rule where none was."""
    if rule is None:
        return EvidentialNeighborsClassifier()
    if isinstance(rule, type) or not hasattr(rule, "__sklearn_tags__") or not is_classifier(rule):
        raise InputError(
            f"{name} should be a classifier",
            f"{shown(rule)} was given",
            "give one with predict_proba or predict_mass",
            parameter=name,
            value=rule,
        )
    return rule


def fit_on(estimator: Any, X: Any, labels: Labels) -> Any:
    """A copy of the estimator, fitted; one that takes no Labels is given hard classes as such."""
    y: Any = labels
    if not takes_labels(estimator) and labels.is_hard.all():
        y = labels.crisp()
    return clone(estimator).fit(X, y)


def joined(labels: Labels, is_unknown: BoolArray, beliefs: Beliefs) -> Labels:
    """Labels in which the unknown rows are what is believed about them."""
    believed = beliefs.labels()
    names = labels.classes.tolist()
    if believed.classes.tolist() != names:
        believed = believed.reorder(names)  # the first rule may not have met all classes
    order = np.argsort(np.concatenate([np.flatnonzero(~is_unknown), np.flatnonzero(is_unknown)]))
    if len(names) > MAX_CLASSES:
        contour = np.concatenate([labels[~is_unknown].scaled(), believed.scaled()])
        return Labels.from_plausibility(contour[order], names)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ApproximationWarning
        )  # the least committed masses are meant
        masses = concatenate([normalize(labels[~is_unknown].masses()), believed.masses()])
    return Labels.from_masses(masses[order], names)


class Relabeller(WholeFit, MetaEstimatorMixin, BaseEstimator):
    """Label the items that have no label, by what a classifier of the others believes.

    Parameters
    ----------
    estimator : classifier, optional
        By default `EvidentialNeighborsClassifier`. Its beliefs are its masses where it has them,
        else its bets.

    Attributes
    ----------
    classes_ : array (K,)
    estimator_ : classifier
        Fitted on the labeled items; None if there was no unlabeled one.
    labels_ : Labels
        Of all items: those that were given, and what is believed about the others.
    is_relabeled_ : bool array (n,)

    Examples
    --------
    >>> X = [[0.0], [0.5], [2.0], [3.0]]
    >>> y = Labels.from_crisp(["a", None, "b", "b"], missing=None)
    >>> first = EvidentialNeighborsClassifier(4, gamma=1.0, max_mass=1.0)
    >>> Relabeller(first).fit(X, y).labels_[1].masses().to_dicts(["a", "b"])[0][("a",)].__round__(4)
    0.7587
    """

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier on the labeled items, and ask it about the others.

        Parameters
        ----------
        X : array-like (n, d), or what the classifier takes
        y : Labels, or all that `as_labels` takes

        Returns
        -------
        self
        """
        labels, _ = check_labels_and_weights(self, y, None, count_rows(X), X)
        is_unknown = labels.is_unknown
        if is_unknown.all():
            raise InputError(
                "At least one row should favor a class",
                "all labels are unknown",
                "label some items",
            )
        self.classes_, self.is_relabeled_ = labels.classes, is_unknown
        self.estimator_: Any = None
        self.labels_ = labels
        if is_unknown.any():
            estimator = _check_rule(self.estimator, "estimator")
            self.estimator_ = fit_on(estimator, take_rows(X, ~is_unknown), labels[~is_unknown])
            beliefs = believe(self.estimator_, take_rows(X, is_unknown))
            self.labels_ = joined(labels, is_unknown, beliefs)
        return self

    def __sklearn_tags__(self) -> Tags:
        return with_labels(super().__sklearn_tags__())


class RelabellingClassifier(MetaEstimatorMixin, BeliefClassifier):
    """Learn from unlabeled items, too: a first rule labels them, a final one learns from all.

    Parameters
    ----------
    first : classifier, optional
        Labels the unlabeled items; by default `EvidentialNeighborsClassifier`.
    final : classifier, optional
        Learns from all items, and answers; by default `EvidentialNeighborsClassifier`.
    unknown : {"relabel", "drop", "count"}
        What becomes of unlabeled items: they are relabeled, left out, or given to the final rule as
        they are (where they may fill places among neighbors). For comparison.

    Attributes
    ----------
    classes_ : array (K,)
    first_ : classifier or None
        None where nothing was relabeled.
    final_ : classifier
    labels_ : Labels
        From which the final rule learned.

    Examples
    --------
    >>> X = [[0.0], [0.5], [1.0], [4.0], [4.5], [5.0]]
    >>> y = Labels.from_crisp(["a", None, None, "b", None, "b"], missing=None)
    >>> rule = EvidentialNeighborsClassifier(2, gamma=1.0)
    >>> model = RelabellingClassifier(rule, rule).fit(X, y)
    >>> model.predict([[1.5], [4.2]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(self, first: Any = None, final: Any = None, *, unknown: str = "relabel") -> None:
        self.first = first
        self.final = final
        self.unknown = unknown

    def fit(self, X: ArrayLike, y: Any) -> Self:
        """Relabel, and fit the final rule.

        Parameters
        ----------
        X : array-like (n, d)
        y : Labels, or all that `as_labels` takes

        Returns
        -------
        self
        """
        check_option(self.unknown, UNKNOWN, "unknown")
        first, final = _check_rule(self.first, "first"), _check_rule(self.final, "final")
        data = self._features(X, reset=True)
        labels, _ = check_labels_and_weights(self, y, None, data.shape[0], X)
        relabeller = Relabeller(first)
        says = np.ones(len(labels), dtype=bool)
        self.first_ = None
        if self.unknown == "relabel":
            relabeller.fit(data, labels)
            self.first_, labels = relabeller.estimator_, relabeller.labels_
        elif labels.is_unknown.all():
            raise InputError(
                "At least one row should favor a class",
                "all labels are unknown",
                "label some items",
            )
        elif self.unknown == "drop":
            says = ~labels.is_unknown
        self.classes_, self.labels_ = labels.classes, labels[says]
        self.final_ = fit_on(final, take_rows(data, says), self.labels_)
        return self

    def _features(self, X: Any, reset: bool) -> Any:
        if hasattr(X, "columns"):  # frames stay frames: a rule may choose columns by name
            check_features(self, X, reset=reset, skip_check_array=True)
            return X
        tags = get_tags(self).input_tags
        return check_features(
            self,
            X,
            reset=reset,
            dtype=np.float64,
            ensure_all_finite="allow-nan" if tags.allow_nan else True,
        )

    def _read(self, X: ArrayLike) -> Any:
        check_is_fitted(self)
        return self._features(X, reset=False)

    def _beliefs(self, X: Any, labels: Labels | None) -> Beliefs:
        return believe(self.final_, X, labels)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        given = (self.first, self.final)
        rules = [rule for rule in given if hasattr(rule, "__sklearn_tags__")]
        tags.input_tags.allow_nan = len(rules) == 2 and all(
            get_tags(rule).input_tags.allow_nan for rule in rules
        )
        return tags
