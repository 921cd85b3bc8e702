"""Classifiers that know, up to a constant, the log probability of each class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.base.beliefs import Beliefs
from plausible.base.classifier import BeliefClassifier, refuse_contradiction
from plausible.base.normalization import relative, within_numbers
from plausible.labels import Labels

FloatArray = NDArray[np.float64]


class EvidenceClassifier(BeliefClassifier):
    """Base of classifiers with a method `_log_evidence`.

    It gives log probabilities (n, K) of the classes up to a constant for each row: the log of
    weight times density, or logits. `predict_proba` and every other answer follow.

    Examples
    --------
    >>> class Coin(EvidenceClassifier):
    ...     def fit(self, X, y):
    ...         self.classes_ = np.array(["heads", "tails"])
    ...         self.n_features_in_ = 1
    ...         return self
    ...     def _log_evidence(self, X):
    ...         return np.hstack([X, np.zeros_like(X)])
    >>> Coin().fit(None, None).predict_plausibility([[np.log(3)]])
    array([[1. , 0.5]])
    """

    def _log_evidence(self, X: Any) -> FloatArray:
        raise NotImplementedError

    def _beliefs(self, X: Any, labels: Labels | None) -> Beliefs:
        return Beliefs.from_log_evidence(self._evidence(X, labels), self.classes_)

    def _evidence(self, X: Any, labels: Labels | None) -> FloatArray:
        """Log evidence of checked features, and of the labels where given, (n, K)."""
        evidence = self._finite_evidence(X)
        if labels is None:
            return evidence
        with np.errstate(divide="ignore"):
            evidence = relative(evidence) + np.log(labels.contour)
        refuse_contradiction(evidence.max(axis=1) == -np.inf)
        return evidence

    def _finite_evidence(self, X: Any) -> FloatArray:
        """Log evidence of checked features, wherever they lie."""
        with np.errstate(over="ignore", invalid="ignore"):
            return within_numbers(self._log_evidence(X), self._learned_classes)

    @property
    def _learned_classes(self) -> NDArray[np.bool_]:
        """Classes (K,) that may be answered at all."""
        return np.ones(len(self.classes_), dtype=bool)
