"""Stacking: a classifier of the bets of others, all learned from labels with their degrees.

The bets that the last classifier learns from come from members that have not seen the row.

References
----------
D. H. Wolpert, Stacked generalization, Neural Networks 5 (1992) 241-259.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.parallel import Parallel, delayed

from plausible.errors import InputError
from plausible.models.ensemble.cross_fitting import bets_out_of_fold
from plausible.models.ensemble.members import (
    MemberRows,
    Named,
    NamedEnsemble,
    bets_of,
    check_members,
)
from plausible.models.folds import content_folds, given_folds
from plausible.models.learners import fit_learner
from plausible.models.logistic import PartialLogisticRegression

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class SoftStackingClassifier(NamedEnsemble):
    """Learn from the bets of several classifiers, all from labels with their degrees.

    Parameters
    ----------
    estimators : list of (name, classifier), optional
        Discriminant analysis and logistic regression of this library by default. Estimators that
        take `Labels` learn from them as they are, any other from the most plausible class of each
        row, weighted (if it takes sample weights) by how far it is more plausible than the next.
    final_estimator : classifier, optional
        `PartialLogisticRegression` by default. Its features are the bets of all classifiers.
    cv : int or splitter
        Bets to learn from come from classifiers that did not see the row. A number of folds is
        reached by dealing out the rows of each class in the order of their features, so that
        neither chance nor the order of rows matters; for chance, give a splitter.
    n_jobs : int, optional
        How many classifiers are fitted at the same time.

    Attributes
    ----------
    classes_ : array (K,)
    estimators_ : list of classifiers, fitted to all rows
    named_estimators_ : dict
        The same, by name.
    final_estimator_ : fitted classifier

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from plausible.labels import Labels
    >>> from plausible.models import SoftNearestCentroid
    >>> X, y = load_iris(return_X_y=True)
    >>> doubted = Labels.from_doubt(y, doubt=np.where(np.arange(150) % 3, 0.4, 1.0))
    >>> members = [("near", SoftNearestCentroid()), ("bayes", GaussianNB())]
    >>> model = SoftStackingClassifier(members).fit(X, doubted)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        estimators: Named | None = None,
        final_estimator: Any = None,
        cv: Any = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit all classifiers, in folds and to all rows, and the one that learns from their bets.

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
        check_members([self._final()])
        rows = self._training(X, y, sample_weight)
        folds = self._folds(rows)
        rows = rows.counted()
        named = self._named()
        parallel = Parallel(n_jobs=self.n_jobs)
        bets = parallel(delayed(bets_out_of_fold)(member, *rows, folds) for _, member in named)
        self.estimators_ = parallel(delayed(fit_learner)(member, *rows) for _, member in named)
        names = [name for name, _ in named]
        self.named_estimators_ = dict(zip(names, self.estimators_, strict=True))
        features, tested = np.hstack(bets), folds >= 0
        self.final_estimator_ = fit_learner(
            self._final(), features[tested], rows.labels[tested], rows.weight[tested]
        )
        return self

    def _final(self) -> Any:
        given = self.final_estimator
        return PartialLogisticRegression() if given is None else given

    def _folds(self, rows: MemberRows) -> IntArray:
        """Folds of the rows that have weight, of which there must be two."""
        counted = rows.counted()
        given = given_folds(self.cv, rows.X, rows.labels)
        if given is None:
            folds = content_folds(counted.X, counted.labels.scaled(), counted.weight, self.cv)
        else:
            folds = given[rows.weight > 0.0]
        if len(np.unique(folds)) < 2:
            raise InputError(
                "Rows should fall into two folds at least, so that bets are out of fold",
                f"all n_samples={len(folds)} are in one",
                "give more rows that are different",
            )
        return folds

    def _bets(self, X: Any) -> FloatArray:
        features = np.hstack([bets_of(model, X, self.classes_) for model in self.estimators_])
        return bets_of(self.final_estimator_, features, self.classes_)
