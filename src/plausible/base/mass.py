"""Classifiers that give masses to sets of classes."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plausible.base.beliefs import Beliefs
from plausible.base.classifier import BeliefClassifier, refuse_contradiction
from plausible.belief import SparseMasses, TotalConflictError, dempster
from plausible.labels import ApproximationWarning, Labels

IntArray = NDArray[np.int64]


class MassClassifier(BeliefClassifier):
    """Base of classifiers with a method `_masses`.

    It gives mass functions (n, F) on `focal_sets_`. Bets are pignistic probabilities.

    Attributes
    ----------
    focal_sets_ : int array (F,)
        Sets of classes, as bit masks, of the columns of `predict_mass`.

    Examples
    --------
    >>> class Shy(MassClassifier):
    ...     def fit(self, X, y):
    ...         self.classes_, self.focal_sets_ = np.array(["a", "b"]), np.array([1, 3])
    ...         self.n_features_in_ = 1
    ...         return self
    ...     def _masses(self, X):
    ...         return SparseMasses(np.hstack([X, 1 - X]), self.focal_sets_, 2)
    >>> Shy().fit(None, None).predict_proba([[0.5]])
    array([[0.75, 0.25]])
    """

    focal_sets_: IntArray

    def _masses(self, X: Any) -> SparseMasses:
        raise NotImplementedError

    def _beliefs(self, X: Any, labels: Labels | None) -> Beliefs:
        masses = self._masses(X)
        if labels is not None:
            masses = combined(masses, labels)
        return Beliefs.from_masses(masses, self.classes_)


def combined(masses: SparseMasses, labels: Labels) -> SparseMasses:
    """Masses together with those of labels, by Dempster's rule."""
    with warnings.catch_warnings():
        # Of a contour, the least committed masses are meant here.
        warnings.simplefilter("ignore", ApproximationWarning)
        known = labels.masses()
    try:
        return dempster(masses, known)
    except TotalConflictError as error:
        lost = np.zeros(len(masses), dtype=bool)
        lost[error.rows[:, 0]] = True
        refuse_contradiction(lost)
        raise
