"""Answers of every kind from what a classifier believes.

A classifier writes one method, `_log_evidence` (see `EvidenceClassifier`) or `_masses` (see
`MassClassifier`). All answers are read off one `Beliefs` object, with the same signatures in every
estimator.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from plausible.base.beliefs import Beliefs
from plausible.base.class_order import align_loss, refuse_order
from plausible.base.elsewhere import are_elsewhere, believe_elsewhere, lazy_on_dask
from plausible.base.features import check_features
from plausible.base.refusals import HeldOut, refuse_other_rules, reject_for
from plausible.base.tags import with_labels
from plausible.base.whole import WholeFit
from plausible.belief import Decision, SparseMasses
from plausible.checks import name_rows
from plausible.errors import InputError
from plausible.labels import Labels, as_labels, holds_sets
from plausible.metrics import soft_accuracy

FloatArray = NDArray[np.float64]


class BeliefClassifier(WholeFit, ClassifierMixin, BaseEstimator):
    """Base of classifiers that say what they believe, and so answer in every kind.

    What is known about the class of a new item can be given as `labels`; it is combined with what
    the features say by Dempster's rule, as two independent pieces of evidence are.

    Examples
    --------
    >>> from plausible.models import SoftNearestCentroid
    >>> model = SoftNearestCentroid().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    >>> isinstance(model, BeliefClassifier)
    True
    >>> model.decide([[0.0], [2.5]], reject=0.3).names()
    ['a', None]
    """

    classes_: NDArray[Any]

    def _beliefs(self, X: Any, labels: Labels | None) -> Beliefs:
        """What is believed about checked items; `labels` have the classes and rows to fit."""
        raise NotImplementedError

    def _read(self, X: ArrayLike) -> Any:
        """Features of new items, checked."""
        check_is_fitted(self)
        return check_features(self, X, dtype=np.float64, reset=False)

    def believe(self, X: ArrayLike, labels: Any = None) -> Beliefs:
        """What the model believes about items: every kind of answer, computed once.

        Parameters
        ----------
        X : array-like (n, d), Rows of the engine, or Dask collection
            Beliefs about rows that are not in memory are computed where they lie, and brought here;
            of `Rows` the first column is taken. Answers that are arrays, such as
            `predict_proba`, are Dask arrays for a Dask collection.
        labels : Labels, or all that `as_labels` takes, optional
            What is known about the class of each row already.

        Returns
        -------
        Beliefs
        """
        if are_elsewhere(X):
            check_is_fitted(self)
            return believe_elsewhere(self, X, labels)
        data = self._read(X)
        return self._beliefs(data, self._known(labels, data.shape[0]))

    @lazy_on_dask
    def predict(self, X: ArrayLike, labels: Any = None, **further: Any) -> NDArray[Any]:
        """Class of each row with the best bet. Parameters as for `believe`."""
        return self.believe(X, labels, **further).predicted

    @lazy_on_dask
    def predict_proba(self, X: ArrayLike, labels: Any = None, **further: Any) -> FloatArray:
        """Bets (n, K), which sum to one. Parameters as for `believe`."""
        return self.believe(X, labels, **further).probability

    @lazy_on_dask
    def predict_log_proba(self, X: ArrayLike, labels: Any = None, **further: Any) -> FloatArray:
        """Logarithms of `predict_proba`."""
        beliefs = self.believe(X, labels, **further)
        if beliefs.log_probability is not None:
            return beliefs.log_probability
        with np.errstate(divide="ignore"):
            return np.log(beliefs.probability)

    @lazy_on_dask
    def predict_plausibility(self, X: ArrayLike, labels: Any = None, **further: Any) -> FloatArray:
        """Plausibility (n, K) of each class. Parameters as for `believe`."""
        return self.believe(X, labels, **further).contour

    def predict_mass(self, X: ArrayLike, labels: Any = None, **further: Any) -> SparseMasses:
        """Mass functions (n, F), with their focal sets. Parameters as for `believe`."""
        return self.believe(X, labels, **further).masses()

    @lazy_on_dask
    def predict_set(
        self,
        X: ArrayLike,
        labels: Any = None,
        *,
        rule: str = "interval_dominance",
        reject: float | None = None,
        loss: ArrayLike | None = None,
        **further: Any,
    ) -> NDArray[np.bool_]:
        """Classes (n, K) that a rule keeps, by default those that cannot be ruled out.

        A row without any is a refusal. Parameters as for `decide`.
        """
        decision = self.decide(X, labels, rule=rule, reject=reject, loss=loss, **further)
        return decision.chosen[:, : len(self.classes_)]

    def decide(
        self,
        X: ArrayLike,
        labels: Any = None,
        *,
        rule: str = "pignistic",
        reject: float | None = None,
        loss: ArrayLike | None = None,
        max_error: float | None = None,
        **further: Any,
    ) -> Decision:
        """A class, a set of classes, or a refusal, for each row.

        Parameters
        ----------
        X : array-like (n, d)
        labels : Labels, or all that `as_labels` takes, optional
            What is known about the class of each row already.
        rule : str
            See `plausible.belief.decide`.
        reject : float, optional
            Loss of refusing to answer, where a wrong answer costs 1.
        loss : dict {act: {class: loss}}, data frame, or array-like (number of acts, K), optional
            Loss of each act when each class is true; a data frame has classes as columns. The
            columns of an array are in the order of `classes_`, and it is refused where labels had
            their classes in another one.
        max_error : float, optional
            Share of errors that is allowed among the items that are answered: instead of `reject`,
            which is chosen so that it is kept among items that the classifier had not seen. For
            classifiers that know some, such as `ConformalClassifier`.
        **further : of `believe`

        Returns
        -------
        Decision
            Which knows the names of the classes.
        """
        check_is_fitted(self)
        loss = align_loss(self, loss, self.classes_)
        if max_error is not None:
            refuse_other_rules(rule, reject, loss)
            reject = reject_for(max_error, self._held_out(), type(self).__name__)
        beliefs = self.believe(X, labels, **further)
        return beliefs.decide(rule, reject=reject, loss=loss)

    def _held_out(self) -> HeldOut | None:
        """How sure and how right it was of items that it had not seen, where that is known."""
        return None

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Soft accuracy; rows that say nothing do not count."""
        return soft_accuracy(y, self.predict(X), sample_weight, self.classes_)

    def _known(self, labels: Any, n_rows: int) -> Labels | None:
        """What is known of new items, on the classes of the model."""
        if labels is None:
            return None
        if not hasattr(labels, "contour") and not hasattr(labels, "columns") and is_table(labels):
            remedy = "give Labels, which know their classes"
            refuse_order(self, "labels of new items", remedy, self.classes_.tolist())
        known = as_labels(labels, classes=self.classes_.tolist())
        if len(known) != n_rows:
            raise InputError(
                f"labels should have one row for each of the {n_rows} rows of X",
                f"have {len(known)}",
                "give Labels.unknown for items about which nothing is known",
                parameter="labels",
            )
        return known

    def __sklearn_tags__(self) -> Tags:
        return with_labels(super().__sklearn_tags__())


def is_table(labels: Any) -> bool:
    """Whether labels came as numbers with a column for each class."""
    if holds_sets(labels):
        return False
    try:
        shape = np.shape(labels)
    except (ValueError, TypeError):  # rows of unequal length and worse, which as_labels refuses
        return False
    return isinstance(shape, tuple) and len(shape) == 2 and shape[1] > 1


def refuse_contradiction(lost: NDArray[np.bool_]) -> None:
    """Refuse labels that leave no class that the model finds possible."""
    if lost.any():
        raise InputError(
            "Labels should leave a class that the model knows",
            f"contradict it in {name_rows(lost)}",
            "discount them, or fit with items of their classes",
            rows=lost,
        )
