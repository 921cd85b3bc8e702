r"""Voting of classifiers that learn from labels with their degrees.

.. math:: p_k(x) = \sum_m w_m p_{mk}(x) / \sum_m w_m

is the weighted mean of the bets of all members.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.parallel import Parallel, delayed

from plausible.checks import as_floats
from plausible.errors import InputError
from plausible.models.ensemble.members import Named, NamedEnsemble, bets_of
from plausible.models.learners import fit_learner

FloatArray = NDArray[np.float64]


def check_votes(weights: ArrayLike | None, n_members: int) -> FloatArray:
    """Weights of the members, which sum to one."""
    votes = np.ones(n_members) if weights is None else as_floats(weights, "weights")
    good = votes.shape == (n_members,) and bool(np.isfinite(votes).all() and (votes >= 0).all())
    if not good or votes.sum() <= 0.0:
        raise InputError(
            f"weights should be one non-negative number for each of the {n_members} estimators, "
            "not all zero",
            f"{weights!r} was given",
            "leave them out for equal votes",
            parameter="weights",
            value=weights,
        )
    return votes / votes.sum()


class SoftVotingClassifier(NamedEnsemble):
    """Average the bets of several classifiers that learn from labels with their degrees.

    Parameters
    ----------
    estimators : list of (name, classifier), optional
        Discriminant analysis and logistic regression of this library by default. Estimators that
        take `Labels` learn from them as they are, any other from the most plausible class of each
        row, weighted (if it takes sample weights) by how far it is more plausible than the next.
    weights : sequence of numbers, optional
        Of the classifiers; equal by default.
    n_jobs : int, optional
        How many classifiers are fitted at the same time.

    Attributes
    ----------
    classes_ : array (K,)
    estimators_ : list of fitted classifiers
    named_estimators_ : dict
        The same, by name.
    votes_ : array
        Weights that sum to one.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from plausible.labels import Labels
    >>> from plausible.models import PartialLogisticRegression
    >>> X = [[0.0], [1.0], [2.0], [4.0], [5.0], [6.0]]
    >>> y = Labels.from_doubt(["a", "a", "b", "b", "b", "b"], doubt=[0, 0, 0.9, 0, 0, 0])
    >>> members = [("bayes", GaussianNB()), ("logistic", PartialLogisticRegression())]
    >>> model = SoftVotingClassifier(members, weights=[1, 3]).fit(X, y)
    >>> model.predict([[0.5], [2.0], [5.5]]).tolist()
    ['a', 'a', 'b']
    """

    def __init__(
        self,
        estimators: Named | None = None,
        weights: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit all classifiers.

        Parameters
        ----------
        X : array-like (n, d)
        y : Labels, or all that `as_labels` takes
        sample_weight : array-like (n,), optional
            For classifiers that take it.

        Returns
        -------
        self
        """
        rows = self._training(X, y, sample_weight)
        named = self._named()
        self.votes_ = check_votes(self.weights, len(named))
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_learner)(member, *rows) for _, member in named
        )
        names = [name for name, _ in named]
        self.named_estimators_ = dict(zip(names, self.estimators_, strict=True))
        return self

    def _bets(self, X: Any) -> FloatArray:
        bets = [bets_of(model, X, self.classes_) for model in self.estimators_]
        return np.tensordot(self.votes_, bets, axes=1)
