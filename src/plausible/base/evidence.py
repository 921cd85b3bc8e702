"""Answers of a classifier that knows, up to a constant, the log probability of each class."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from plausible.belief import SparseMasses, consonant, decide
from plausible.checks import name_rows
from plausible.labels import as_labels
from plausible.metrics import soft_accuracy

FloatArray = NDArray[np.float64]


class EvidenceClassifier(ClassifierMixin, BaseEstimator):
    """Base of classifiers with a method `_log_evidence`, (n, K).

    It gives log probabilities of the classes up to a constant for each row: the log of weight times
    density, or logits.

    What is known about the class of a new item can be given as `labels`, and multiplies what the
    features say, as two independent pieces of evidence do under Dempster's rule.
    """

    classes_: NDArray[Any]

    def _log_evidence(self, X: Any) -> FloatArray:
        raise NotImplementedError

    def _read(self, X: ArrayLike) -> Any:
        """Features of new items, checked."""
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)

    def predict(self, X: ArrayLike, labels: Any = None) -> NDArray[Any]:
        """Most probable class of each row.

        Parameters
        ----------
        X : array-like (n, d)
        labels : Labels, or all that `as_labels` takes, optional
            What is known about the class of each row already.
        """
        best = self._evidence(X, labels).argmax(axis=1)
        return self.classes_[best]

    def predict_log_proba(self, X: ArrayLike, labels: Any = None) -> FloatArray:
        """Logarithms of `predict_proba`."""
        evidence = self._evidence(X, labels)
        return evidence - logsumexp(evidence, axis=1, keepdims=True)

    def predict_proba(self, X: ArrayLike, labels: Any = None) -> FloatArray:
        """Probability (n, K) of each class given the features, and the labels where given."""
        return np.exp(self.predict_log_proba(X, labels))

    def predict_plausibility(self, X: ArrayLike, labels: Any = None) -> FloatArray:
        """Plausibility (n, K) of each class: its probability relative to the most probable one."""
        evidence = self._evidence(X, labels)
        return np.exp(evidence - evidence.max(axis=1, keepdims=True))

    def predict_mass(self, X: ArrayLike, labels: Any = None) -> SparseMasses:
        """Least committed mass functions with these plausibilities; their focal sets are nested."""
        return consonant(self.predict_plausibility(X, labels))

    def predict_set(
        self, X: ArrayLike, labels: Any = None, rule: str = "interval_dominance"
    ) -> NDArray[np.bool_]:
        """Classes (n, K) that cannot be ruled out, by a set-valued rule of `belief.decide`."""
        contour = self.predict_plausibility(X, labels)
        return decide(contour, rule, kind="plausibility").chosen

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Soft accuracy; rows that say nothing do not count."""
        return soft_accuracy(y, self.predict(X), sample_weight, self.classes_)

    def _evidence(self, X: ArrayLike, labels: Any) -> FloatArray:
        """Log evidence of the features, and of the labels where given, (n, K)."""
        return self._with_labels(self._log_evidence(self._read(X)), labels)

    def _with_labels(self, evidence: FloatArray, labels: Any) -> FloatArray:
        """The evidence together with that of labels, where given."""
        if labels is None:
            return evidence
        known = as_labels(labels, classes=self.classes_.tolist())
        if len(known) != len(evidence):
            raise ValueError(
                f"labels should have one row for each of the {len(evidence)} rows of X, but have "
                f"{len(known)}; give Labels.unknown for items about which nothing is known."
            )
        with np.errstate(divide="ignore"):
            evidence = evidence + np.log(known.contour)
        lost = evidence.max(axis=1) == -np.inf
        if lost.any():
            raise ValueError(
                "Labels should leave a class that the model knows, but contradict it in "
                f"{name_rows(lost)}; discount them, or fit with items of their classes."
            )
        return evidence
