"""Answers about new items from their features, and from what an expert says of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from plausible.base import Beliefs, EvidenceClassifier, align_loss, by_class, refuse_order
from plausible.labels import Labels, as_labels
from plausible.metrics import soft_accuracy
from plausible.models.gaussian.parameters import FloatArray
from plausible.models.supervision.assessments import Reader, check_rows, jacobian, log_probabilities
from plausible.models.supervision.class_weights import best_class_weights, check_class_weight
from plausible.models.supervision.parameters import Supervision, joint_scores


class Assessed(NamedTuple):
    """New items with their assessments."""

    X: Any
    assessments: Any


class AssessedClassifier(EvidenceClassifier):
    """Base of classifiers of features and assessments.

    Every answer takes `assessments=` as well: what the expert says of the new items, as in `fit`,
    NaN where nothing. A subclass has `_parameters`, `_owner` (the class of each component),
    `_names` (the classes in the order in which they were assessed), and says how assessments are
    read (`_reader`).
    """

    n_features_in_: int
    n_parameters_: int
    bic_: float
    aic_: float
    _parameters: Supervision
    _owner: NDArray[np.int64]
    _names: list[Any]

    def _reader(self, names: list[Any]) -> Reader:
        raise NotImplementedError

    def _known(self, labels: Any, n_rows: int) -> Labels | None:
        # Columns of an array are in the order of those of the assessments, as in `fit`.
        known = None if labels is None else as_labels(labels, classes=self._names)
        return super()._known(known, n_rows)

    def _log_evidence(self, X: FloatArray) -> FloatArray:
        return _class_evidence(X, self._parameters, self._owner, len(self.classes_))

    def _finite_evidence(self, X: Any) -> FloatArray:
        if not isinstance(X, Assessed):
            return super()._finite_evidence(X)
        joint, possible, _ = self._reader(self._names)((X.X, X.assessments))
        evidence = super()._finite_evidence(joint)
        if possible is not None:
            with np.errstate(divide="ignore"):
                evidence += np.log(possible)
        return evidence

    def _read_both(self, X: ArrayLike, assessments: Any) -> Any:
        """Features of new items, checked, together with assessments if there are any."""
        data = self._read(X)
        if assessments is None:
            return data
        check_rows(len(data), assessments, "assessments")
        return Assessed(data, assessments)

    def believe(self, X: ArrayLike, labels: Any = None, *, assessments: Any = None) -> Beliefs:
        """What the model believes about items: every kind of answer, computed once.

        Parameters
        ----------
        X : array-like (n, d)
        labels : Labels, or all that `as_labels` takes, optional
            What is known about the class of each row already.
        assessments : as y in `fit`, optional
            What the expert says; NaN where nothing.

        Returns
        -------
        Beliefs
        """
        if assessments is None:
            return super().believe(X, labels)
        data = self._read_both(X, assessments)
        return self._beliefs(data, self._known(labels, np.shape(X)[0]))

    def predict(
        self,
        X: ArrayLike,
        labels: Any = None,
        *,
        class_weight: Any = None,
        **further: Any,
    ) -> NDArray[Any]:
        """Class of each row with the best bet.

        Parameters
        ----------
        X, labels : as for `believe`, and further keywords : its `assessments`
        class_weight : dict of classes, or array-like (J,) in the order of `classes_`, optional
            Multiplies the probabilities of the classes, see `learn_class_weights`. An array is
            refused where assessments had their classes in another order.
        """
        beliefs = self.believe(X, labels, **further)
        if class_weight is None:
            return beliefs.predicted
        given = by_class(self, class_weight, "class_weight", self.classes_)
        weights = check_class_weight(given, self.classes_.tolist())
        assert beliefs.log_probability is not None
        return self.classes_[(beliefs.log_probability + np.log(weights)).argmax(axis=1)]

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        **further: Any,
    ) -> float:
        """Soft accuracy against classes or labels; rows that say nothing do not count."""
        chosen = self.predict(X, **further)
        return soft_accuracy(y, chosen, sample_weight, self.classes_)

    def score_samples(self, X: ArrayLike, assessments: Any = None) -> FloatArray:
        """Log density (n,) of features, and of the log odds of assessments where given.

        That of Beta assessments is turned into one of log odds, so that models can be compared.
        """
        density = logsumexp(self._finite_evidence(self._read_both(X, assessments)), axis=1)
        reader = self._reader(self._names)
        if assessments is None or reader.family != "beta":
            return density
        joint, _, _ = replace(reader, family="gaussian")((self._read(X), assessments))
        return density + jacobian(joint[:, self.n_features_in_ :])

    def bic(self, X: ArrayLike | None = None, assessments: Any = None) -> float:
        """Bayesian information criterion on the training rows, or on others; lower is better.

        On the scale of log odds, so that all models can be compared.
        """
        check_is_fitted(self)
        if X is None:
            return self.bic_
        density = self.score_samples(X, assessments)
        return float(self.n_parameters_ * np.log(len(density)) - 2 * density.sum())

    def aic(self, X: ArrayLike | None = None, assessments: Any = None) -> float:
        """Akaike's information criterion on the training rows, or on others; lower is better."""
        check_is_fitted(self)
        if X is None:
            return self.aic_
        return float(2 * (self.n_parameters_ - self.score_samples(X, assessments).sum()))

    def learn_class_weights(
        self, X: ArrayLike, assessments: Any = None, cost: ArrayLike | None = None
    ) -> dict[Any, float]:
        """Weights of the classes with which decisions cost least, as the model expects.

        With two classes they are a threshold on the odds. The expert alone decides by the largest
        ``weight * probability``, at what expected cost under this model?

        Parameters
        ----------
        X : array-like (n, d)
        assessments : as y in `fit`
            The probabilities that are to be weighted; by default those of the model from X.
        cost : dict {true class: {decision: cost}}, or array-like (J, J), optional
            Cost of deciding for the class of a column when that of a row is true, rows and columns
            in the order of `classes_` (which is sorted), or by name; by default 1 for every error.
            An array is refused where assessments had their classes in another order.

        Returns
        -------
        dict of classes
            As `predict` takes it; the weight of the last class is 1.
        """
        truth = self.predict_proba(X, assessments=assessments)
        names = self.classes_.tolist()
        if cost is not None and not isinstance(cost, Mapping):
            refuse_order(self, "cost", "write a dict {true class: {decision: cost}}", names)
        cost = align_loss(None, cost, self.classes_)
        if assessments is None:
            found = best_class_weights(self.predict_log_proba(X), truth, cost)
            return dict(zip(names, found.tolist(), strict=True))
        reader = replace(self._reader(self._names), family="gaussian")
        joint, _, _ = reader((self._read(X), assessments))
        log_odds = joint[:, self.n_features_in_ :]
        known = ~np.isnan(log_odds[:, 0])
        found = best_class_weights(log_probabilities(log_odds[known]), truth[known], cost)
        return dict(zip(names, found.tolist(), strict=True))


def _class_evidence(
    A: FloatArray, p: Supervision, owner: NDArray[np.int64], n_classes: int
) -> FloatArray:
    """Log of weight times density (n, J) of features, and of assessments where they are known."""
    d = p.means.shape[1]
    scores = joint_scores(A[:, :d], p, owner)
    if A.shape[1] > d:
        known = ~np.isnan(A[:, d])
        scores[:, known] = joint_scores(A[known], p, owner)
    evidence = np.full((len(A), n_classes), -np.inf)
    for j in range(n_classes):
        evidence[:, j] = logsumexp(scores[owner == j], axis=0)
    return evidence
