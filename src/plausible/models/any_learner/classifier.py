r"""Any classifier of scikit-learn, learning from labels of any kind.

.. math:: \max_f \sum_i w_i \log \sum_k pl_{ik} f_k(x_i)

(minimum commitment) by the EM algorithm: the learner is fitted to rows that are repeated for their
candidates, with weights :math:`w_i pl_{ik} f_k(x_i) / \sum_l pl_{il} f_l(x_i)`, and f is what it
believes out of fold. Maximum entropy takes the weights :math:`w_i pl_{ik} / \sum_l pl_{il}` in one
pass. Hard labels and probabilities make both the same, and one fit of the learner itself.

References
----------
Y. Grandvalet, Logistic regression for partial labels, IPMU 2002 (the two criteria).
V. Chernozhukov et al., Double/debiased machine learning for treatment and structural parameters,
The Econometrics Journal 21 (2018) C1-C68 (cross-fitting).
"""

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from plausible.base import EmptyClassWarning, by_class
from plausible.checks import as_floats, check_number, check_option, check_whole, random_from, shown
from plausible.errors import InputError
from plausible.models.any_learner.candidates import normalized_rows
from plausible.models.any_learner.learning import (
    LARGEST_SEED,
    CrossFit,
    InSample,
    Task,
    cooled,
    has_bets,
    repeat,
    scores_of,
)
from plausible.models.ensemble.members import Ensemble, MemberRows, bets_of
from plausible.models.folds import content_folds, given_folds

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CRITERIA = ("minimum_commitment", "maximum_entropy")
IN_SAMPLE = "in_sample"


def seeded(estimator: Any, rng: np.random.RandomState) -> Any:
    """A copy of the estimator whose random states are drawn where none was given."""
    copy = clone(estimator)
    params = copy.get_params()
    keys = sorted(key for key in params if key.split("__")[-1] == "random_state")
    free = [key for key in keys if params[key] is None]
    return copy.set_params(**{key: int(rng.randint(LARGEST_SEED)) for key in free})


def counted_rows(rows: MemberRows, criterion: str) -> BoolArray:
    """Which rows (n,) matter to a criterion: they have weight, and say something.

    To maximum entropy a row that says nothing says that all classes are alike.
    """
    labels = rows.labels
    says = labels.is_hard | labels.is_probability | ~labels.is_unknown
    if not (says & (rows.weight > 0.0)).any():
        raise InputError(
            "At least one row should favor a class",
            "all labels are unknown or have zero sample weight",
            "label some items",
        )
    return (rows.weight > 0.0) & (says | (criterion == "maximum_entropy"))


def _has_decision_function(self: Any) -> bool:
    model = getattr(self, "estimator_", self._members()[0])
    return hasattr(model, "decision_function")


class SoftLabelClassifier(MetaEstimatorMixin, Ensemble):
    """Let any classifier of scikit-learn learn from sets, degrees, doubt, and no labels.

    Rows are repeated for the classes that their labels leave, and weighted. Hard labels give the
    wrapped classifier itself.

    Parameters
    ----------
    estimator : classifier, optional
        scikit-learn's `HistGradientBoostingClassifier` by default. Pipelines, too: their last step
        gets the weights, and transformers that take weights count each item once. One without
        sample weights learns from classes that are drawn by their weights; one without
        probabilities, such as an SVC, gets them from its scores by a factor that is fitted out of
        fold. A search over settings belongs outside: ``GridSearchCV(SoftLabelClassifier(...))``.
    criterion : "minimum_commitment" or "maximum_entropy"
        What a partial label means, as in `PartialLogisticRegression`. Minimum commitment: the true
        class is in the label, which has no preference within it; candidates are weighted again and
        again by what the classifier believes, and unlabeled rows change nothing. Maximum entropy:
        the label spreads over its candidates by their plausibilities, in one pass, and unlabeled
        rows evenly over all classes. Labels that are probabilities spread by them under both.
    cv : int, splitter or "in_sample"
        Folds in which beliefs about rows come from classifiers that did not see them, so that a
        flexible one does not believe itself. A number of folds is reached by dealing out the rows
        in the order of their features. "in_sample" asks the classifier about the rows that it
        learned from (the plain EM algorithm), which suits few parameters only.
    max_iter : int
        Largest number of rounds, each with a fit in every fold.
    tol : float
        Rounds end when the mean share of an item that moves to another class is at most this. Out
        of fold they end also after two rounds without a better criterion, and those shares are kept
        for which it was best.
    class_weight : dict {class: weight} or "balanced", optional
        Factors of the weights, beside those that the classifier may have of its own. "balanced"
        counts classes by the shares of maximum entropy.
    n_jobs : int, optional
        How many folds are worked on at the same time.
    random_state : int, RandomState or None
        Of draws for classifiers without weights, and of the classifier where it has none itself.

    Attributes
    ----------
    classes_ : array (K,)
    estimator_ : classifier
        Fitted to all rows.
    history_ : array
        Mean log probability of the labels in each round, out of fold (or in sample).
    n_iter_ : int
        Rounds; 1 also where one pass was enough, which has no history.
    converged_ : bool
    temperature_ : float or None
        Factor of scores, for a classifier without probabilities.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from plausible.labels import Labels
    >>> X, y = load_iris(return_X_y=True)
    >>> sets = [{0} if k == 0 else {1, 2} if x[0] < 6 else {k} for x, k in zip(X, y)]
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    >>> model = SoftLabelClassifier(tree).fit(X, Labels.from_sets(sets))
    >>> round(float((model.predict(X) == y).mean()), 2)
    0.96
    """

    def __init__(
        self,
        estimator: Any = None,
        criterion: str = "minimum_commitment",
        cv: Any = 5,
        max_iter: int = 10,
        tol: float = 1e-3,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.criterion = criterion
        self.cv = cv
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier to the candidates of all rows, in as many rounds as it takes.

        Parameters
        ----------
        X : array-like (n, d), or what the classifier takes
        y : Labels, or all that `as_labels` takes
        sample_weight : array-like (n,), optional

        Returns
        -------
        self
        """
        self._check_options()
        rows = self._training(X, y, sample_weight)
        task, given = self._task(rows)
        shares, self.history_ = normalized_rows(task.contour), np.empty(0)
        self.temperature_: float | None = None
        self.n_iter_, self.converged_, model = 1, True, None
        way = self._way(task, given)
        if self.criterion == "minimum_commitment" and not task.is_settled:
            found = repeat(task, way, self.max_iter, self.tol)
            shares, self.converged_ = found.shares, found.converged
            self.history_, self.n_iter_ = np.array(found.history), len(found.history)
            self._warn(isinstance(way, InSample))
            model = way.model if isinstance(way, InSample) else None
        if not has_bets(task.estimator):
            way.bets(shares)
            self.temperature_ = way.temperature
        self.estimator_ = cooled(task.fit_all(shares, model), task.estimator)
        return self

    def _check_options(self) -> None:
        check_option(self.criterion, CRITERIA, "criterion")
        check_whole(self.max_iter, "max_iter", low=1)
        check_number(self.tol, "tol", low=0.0)
        if isinstance(self.cv, str):
            check_option(self.cv, (IN_SAMPLE,), "cv")

    @property
    def _in_sample(self) -> bool:
        return isinstance(self.cv, str)

    def _members(self) -> list[Any]:
        if self.estimator is not None:
            return [self.estimator]
        from sklearn.ensemble import HistGradientBoostingClassifier  # heavy

        return [HistGradientBoostingClassifier(random_state=0)]

    def _check_members(self) -> None:
        estimator = self._members()[0]
        is_one = hasattr(estimator, "fit") and not isinstance(estimator, type)
        if not (is_one and is_classifier(estimator)):
            raise InputError(
                "estimator should be a classifier",
                f"{shown(estimator)} was given",
                "give one of scikit-learn, or a pipeline that ends in one",
                parameter="estimator",
                value=estimator,
            )

    def _task(self, rows: MemberRows) -> tuple[Task, IntArray | None]:
        """What is learned from, and its folds where a splitter was given."""
        counted = counted_rows(rows, self.criterion)
        given = None if self._in_sample else given_folds(self.cv, rows.X, rows.labels)
        rng = random_from(self.random_state)
        estimator = self._members()[0]
        estimator = clone(estimator) if self.random_state is None else seeded(estimator, rng)
        kept = MemberRows(rows.X, rows.labels, np.where(counted, rows.weight, 0.0)).counted()
        contour = kept.labels.scaled()
        self._warn_of_absent(contour)
        task = Task(
            estimator,
            kept.X,
            self.classes_,
            contour,
            kept.labels.is_probability,
            kept.weight,
            self._class_weights(contour, kept.weight),
            int(rng.randint(LARGEST_SEED)),
        )
        return task, None if given is None else given[counted]

    def _way(self, task: Task, given: IntArray | None) -> CrossFit | InSample:
        """How items are asked about."""
        if self._in_sample:
            return InSample(task)
        if given is None:
            is_needed = not (task.is_settled or self.criterion == "maximum_entropy")
            if not is_needed and has_bets(task.estimator):
                return InSample(task)  # nobody will be asked
            given = content_folds(task.X, task.contour, task.weight, self.cv)
        if len(np.unique(given[given >= 0])) < 2:
            raise InputError(
                "Rows should fall into two folds at least, so that beliefs are out of fold",
                f"all n_samples={len(given)} are in one",
                f"give more rows that are different, or cv={IN_SAMPLE!r}",
                parameter="cv",
            )
        return CrossFit(task, given, self.n_jobs)

    def _class_weights(self, contour: FloatArray, weight: FloatArray) -> FloatArray | None:
        """Factors (K,) of the classes."""
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str):
            check_option(self.class_weight, ("balanced",), "class_weight")
            count = weight @ normalized_rows(contour)
            present = count > 0.0
            return np.where(
                present, weight.sum() / (present.sum() * np.maximum(count, 1e-300)), 0.0
            )
        if not isinstance(self.class_weight, Mapping):
            raise InputError(
                "class_weight should be 'balanced' or a dict with an entry for each class",
                f"{shown(self.class_weight)} was given",
                "write {class: weight}",
                parameter="class_weight",
                value=self.class_weight,
            )
        found = as_floats(
            by_class(self, self.class_weight, "class_weight", self.classes_), "class_weight"
        )
        if found.ndim != 1 or not (np.isfinite(found).all() and (found > 0.0).all()):
            raise InputError(
                "class_weight should hold positive numbers",
                f"{shown(self.class_weight)} was given",
                "correct them",
                parameter="class_weight",
                value=self.class_weight,
            )
        return found

    def _warn_of_absent(self, contour: FloatArray) -> None:
        absent = ~(contour > 0.0).any(axis=0)
        if absent.any():
            warnings.warn(
                "Every class should be plausible for some item that says something, but "
                f"{self.classes_[absent].tolist()} never are; they get probability 0.",
                EmptyClassWarning,
                stacklevel=5,
            )

    def _warn(self, in_sample: bool) -> None:
        if in_sample and not self.converged_:
            warnings.warn(
                f"Shares of the classes should settle within max_iter={self.max_iter} rounds, but "
                f"still moved by more than tol={self.tol:g}; raise one of them.",
                ConvergenceWarning,
                stacklevel=4,
            )

    @available_if(_has_decision_function)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Scores of the wrapped classifier."""
        data = self._read(X)
        return np.asarray(self.estimator_.decision_function(data))

    def _bets(self, X: Any) -> FloatArray:
        if self.temperature_ is None:
            return bets_of(self.estimator_, X, self.classes_)
        return softmax(self.temperature_ * scores_of(self.estimator_, X, self.classes_), axis=1)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")
