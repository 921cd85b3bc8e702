"""Answers about new items from their features, and from what an expert says of them."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from plausible.base.evidence import EvidenceClassifier
from plausible.belief import SparseMasses, consonant, decide
from plausible.labels import as_labels
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

    A subclass has `_parameters`, `_owner` (the class of each component), `_names` (the classes in
    the order in which they were assessed), and says how assessments are read (`_reader`).
    """

    n_features_in_: int
    _parameters: Supervision
    _owner: NDArray[np.int64]
    _names: list[Any]

    def _reader(self, names: list[Any]) -> Reader:
        raise NotImplementedError

    def _evidence(self, X: Any, labels: Any) -> FloatArray:
        if not isinstance(X, Assessed):
            return super()._evidence(X, labels)
        data = self._read(X.X)
        check_rows(len(data), X.assessments, "assessments")
        joint, possible, _ = self._reader(self._names)((data, X.assessments))
        evidence = class_evidence(joint, self._parameters, self._owner, len(self.classes_))
        if possible is not None:
            with np.errstate(divide="ignore"):
                evidence += np.log(possible)
        return self._with_labels(evidence, labels)

    def _with_labels(self, evidence: FloatArray, labels: Any) -> FloatArray:
        # Columns are in the order of those of the assessments, as in `fit`.
        known = None if labels is None else as_labels(labels, classes=self._names)
        return super()._with_labels(evidence, known)

    def _log_evidence(self, X: FloatArray) -> FloatArray:
        return class_evidence(X, self._parameters, self._owner, len(self.classes_))

    def predict(
        self,
        X: ArrayLike,
        labels: Any = None,
        assessments: Any = None,
        class_weight: Any = None,
    ) -> NDArray[Any]:
        """Most probable class of each row.

        Parameters
        ----------
        X : array-like (n, d)
        labels : Labels, or all that `as_labels` takes, optional
            What is known about the class of each row already.
        assessments : as Z in `fit`, optional
            What the expert says; NaN where nothing.
        class_weight : array-like (J,) in the order of `classes_`, or dict of classes, optional
            Multiplies the probabilities of the classes, see `learn_class_weights`.
        """
        evidence = self._evidence(with_assessments(X, assessments), labels)
        if class_weight is not None:
            evidence = evidence + np.log(check_class_weight(class_weight, self.classes_.tolist()))
        return self.classes_[evidence.argmax(axis=1)]

    def predict_log_proba(
        self, X: ArrayLike, labels: Any = None, assessments: Any = None
    ) -> FloatArray:
        """Logarithms of `predict_proba`."""
        return super().predict_log_proba(with_assessments(X, assessments), labels)

    def predict_proba(
        self, X: ArrayLike, labels: Any = None, assessments: Any = None
    ) -> FloatArray:
        """Probability (n, J) of each class given the features, and the assessments where given."""
        return np.exp(self.predict_log_proba(X, labels, assessments))

    def predict_plausibility(
        self, X: ArrayLike, labels: Any = None, assessments: Any = None
    ) -> FloatArray:
        """Plausibility (n, J) of each class: its probability relative to the most probable one."""
        return super().predict_plausibility(with_assessments(X, assessments), labels)

    def predict_mass(
        self, X: ArrayLike, labels: Any = None, assessments: Any = None
    ) -> SparseMasses:
        """Least committed mass functions with these plausibilities; their focal sets are nested."""
        return consonant(self.predict_plausibility(X, labels, assessments))

    def predict_set(
        self,
        X: ArrayLike,
        labels: Any = None,
        rule: str = "interval_dominance",
        assessments: Any = None,
    ) -> NDArray[np.bool_]:
        """Classes (n, J) that cannot be ruled out, by a set-valued rule of `belief.decide`."""
        contour = self.predict_plausibility(X, labels, assessments)
        return decide(contour, rule, kind="plausibility").chosen

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        assessments: Any = None,
    ) -> float:
        """Soft accuracy against classes or labels; rows that say nothing do not count."""
        chosen = self.predict(X, assessments=assessments)
        return soft_accuracy(y, chosen, sample_weight, self.classes_)

    def score_samples(self, X: ArrayLike, assessments: Any = None) -> FloatArray:
        """Log density (n,) of features, and of the log odds of assessments where given.

        That of Beta assessments is turned into one of log odds, so that models can be compared.
        """
        density = logsumexp(self._evidence(with_assessments(X, assessments), None), axis=1)
        reader = self._reader(self._names)
        if assessments is None or reader.family != "beta":
            return density
        joint, _, _ = replace(reader, family="gaussian")((self._read(X), assessments))
        return density + jacobian(joint[:, self.n_features_in_ :])

    def learn_class_weights(
        self, X: ArrayLike, assessments: Any = None, cost: ArrayLike | None = None
    ) -> FloatArray:
        """Weights (J,) of the classes with which decisions cost least, as the model expects.

        With two classes they are a threshold on the odds. The expert alone decides by the largest
        ``weight * probability``, at what expected cost under this model?

        Parameters
        ----------
        X : array-like (n, d)
        assessments : as Z in `fit`
            The probabilities that are to be weighted; by default those of the model from X.
        cost : array-like (J, J), optional
            Cost of deciding for the class of a column when that of a row is true, rows and columns
            in the order of `classes_` (which is sorted); by default 1 for every error.

        Returns
        -------
        array (J,)
            In the order of `classes_`; the weight of the last class is 1.
        """
        truth = self.predict_proba(X, assessments=assessments)
        if assessments is None:
            return best_class_weights(self.predict_log_proba(X), truth, cost)
        reader = replace(self._reader(self._names), family="gaussian")
        joint, _, _ = reader((self._read(X), assessments))
        log_odds = joint[:, self.n_features_in_ :]
        known = ~np.isnan(log_odds[:, 0])
        return best_class_weights(log_probabilities(log_odds[known]), truth[known], cost)


def with_assessments(X: Any, assessments: Any) -> Any:
    """Features, together with assessments if there are any."""
    return X if assessments is None else Assessed(X, assessments)


def class_evidence(
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
