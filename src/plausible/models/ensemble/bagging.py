"""Bagging: one classifier, fitted to samples of the rows, each row with all that its label says.

A bag is a sample with replacement of as many rows as there are, counted by their weights. Rows that
are the same are one row with a larger weight, and rows are drawn in the order of their features, so
that with a fixed random state neither their order nor writing a row twice makes a difference.

References
----------
L. Breiman, Bagging predictors, Machine Learning 24 (1996) 123-140.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from plausible.checks import check_number, check_whole
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models.ensemble.members import Ensemble, bets_of
from plausible.models.folds import row_ranks
from plausible.models.learners import fit_learner, margin, take_rows
from plausible.models.logistic import PartialLogisticRegression

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOST_DRAWS = 100  # of one bag, until it favors two classes
LARGEST_BAG = 1e8
LARGEST_SEED = np.iinfo(np.int32).max


def distinct_rows(X: Any, labels: Labels, weight: FloatArray) -> tuple[IntArray, FloatArray]:
    """One row of each kind, in an order of their contents, and the weight of the kind."""
    known = labels.scaled().round(9)  # the same also where rows were scaled
    kinds = np.column_stack([row_ranks(X)[0], known])
    _, first, kind = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    return first.astype(np.int64), np.bincount(kind.ravel(), weight).astype(np.float64)


def draw_bag(
    share: FloatArray, n_draws: int, favored: IntArray, rng: np.random.RandomState
) -> IntArray:
    """Numbers of rows, each as often as it was drawn.

    A bag in which less than two classes are favored, -1 standing for none, is drawn again, if there
    are two.
    """
    enough = min(2, len(np.unique(favored[favored >= 0])))
    for _ in range(MOST_DRAWS):
        times = rng.multinomial(n_draws, share)
        here = favored[times > 0]
        if len(np.unique(here[here >= 0])) >= enough:
            break
    return np.repeat(np.arange(len(share)), times)


def seeded(estimator: Any, rng: np.random.RandomState) -> Any:
    """A copy of the estimator whose random states, where it has some, are drawn."""
    copy = clone(estimator)
    keys = sorted(key for key in copy.get_params() if key.split("__")[-1] == "random_state")
    return copy.set_params(**{key: int(rng.randint(LARGEST_SEED)) for key in keys})


class SoftBaggingClassifier(Ensemble):
    """Average the bets of copies of a classifier, each fitted to a sample of rows and labels.

    Parameters
    ----------
    estimator : classifier, optional
        `PartialLogisticRegression` by default. One that takes `Labels` learns from them as they
        are, any other from the most plausible class of each row, weighted (if it takes sample
        weights) by how far it is more plausible than the next.
    n_estimators : int
    max_samples : float or int
        Rows in each bag: a share of all, counted by their weights, or a number.
    random_state : int or RandomState, optional
    n_jobs : int, optional
        How many copies are fitted at the same time.

    Attributes
    ----------
    classes_ : array (K,)
    estimators_ : list of fitted classifiers
    estimators_samples_ : list of int arrays
        Rows of each bag, as often as they were drawn, among those with weight. Of rows that are the
        same, the first stands for all.

    Examples
    --------
    >>> from plausible.labels import Labels
    >>> X = [[0.0], [1.0], [2.0], [4.0], [5.0], [6.0]]
    >>> y = Labels.from_doubt(["a", "a", "b", "b", "b", "b"], doubt=[0, 0, 0.9, 0, 0, 0])
    >>> model = SoftBaggingClassifier(n_estimators=5, random_state=0).fit(X, y)
    >>> model.predict([[0.5], [5.5]]).tolist()
    ['a', 'b']
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        max_samples: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _members(self) -> list[Any]:
        return [PartialLogisticRegression() if self.estimator is None else self.estimator]

    def fit(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Draw the bags, and fit a copy of the classifier to each.

        Parameters
        ----------
        X : array-like (n, d)
        y : Labels, or all that `as_labels` takes
        sample_weight : array-like (n,), optional
            How often each row counts: a row of weight two is drawn like two rows.

        Returns
        -------
        self
        """
        check_whole(self.n_estimators, "n_estimators", 1)
        rows = self._training(X, y, sample_weight).counted()
        kinds, weight = distinct_rows(*rows)
        n_draws, share = self._n_draws(weight.sum()), weight / weight.sum()
        contour = rows.labels.contour[kinds]
        favored = np.where(margin(contour) > 0.0, contour.argmax(axis=1), -1)
        rng = check_random_state(self.random_state)
        (inner,) = self._members()
        tasks = []
        for _ in range(self.n_estimators):
            bag = kinds[draw_bag(share, n_draws, favored, rng)]
            tasks.append((seeded(inner, rng), bag))
        self.estimators_samples_ = [bag for _, bag in tasks]
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_learner)(copy, take_rows(rows.X, bag), rows.labels[bag], np.ones(len(bag)))
            for copy, bag in tasks
        )
        return self

    def _n_draws(self, total: float) -> int:
        """Size of a bag."""
        if isinstance(self.max_samples, (int, np.integer)):
            return check_whole(int(self.max_samples), "max_samples", 1)
        share = check_number(self.max_samples, "max_samples", 0.0)
        if share * total > LARGEST_BAG:
            raise InputError(
                f"A bag should have at most {LARGEST_BAG:.0e} rows",
                f"max_samples={share:g} of a total weight of {total:.3g} is more",
                "weights count repeated rows here, so divide them, or give max_samples as a "
                "number of rows",
            )
        return max(1, round(share * total))

    def _bets(self, X: Any) -> FloatArray:
        return np.mean([bets_of(model, X, self.classes_) for model in self.estimators_], axis=0)
